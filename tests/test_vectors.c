/* Vectors of any layout in arrays, for solves and products: the same bits as those of columns without gaps, and nothing written
 * beside them. Every field that is wrong is refused by name. Buffers: tests/test_buffers.c. */
#include "tests/calls.h"
#include "tests/check.h"
#include "tests/options.h"
#include <math.h>
#include <string.h>

enum { ROWS = 196, COLUMNS = 3, ROOM = 4 * ROWS * COLUMNS };

static kcl_context *ctx;
static kcl_csr *A;
static kcl_solver *s;
static kcl_operator *op;
static double B[COLUMNS * ROWS], guess[COLUMNS * ROWS], X[COLUMNS * ROWS];

typedef struct layout {
  int64_t offset, ld, inc; /* as in kcl_vectors */
} layout;

static const layout layouts[] = {{0, 0, 0},        /* as kcl_solve_many */
                                 {3, ROWS + 7, 1}, /* gaps between columns */
                                 {5, 0, 2},        /* and between numbers */
                                 {0, 1, COLUMNS},  /* row-major */
                                 {1, 2, 2 * COLUMNS}};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

static kcl_vectors vectors(void *data, const layout *l) {
  return (kcl_vectors){.size = sizeof(kcl_vectors),
                       .data = data,
                       .offset = l->offset,
                       .cols = COLUMNS,
                       .ld = l->ld,
                       .inc = l->inc};
}

static int64_t place_in(const layout *l, int64_t i, int64_t j) {
  const int64_t inc = l->inc ? l->inc : 1, ld = l->ld ? l->ld : ROWS * inc;
  return l->offset + i * inc + j * ld;
}

/* NaN but for the numbers [COLUMNS, ROWS]. */
static void spread(const layout *l, const double *numbers, double *out) {
  for (int i = 0; i < ROOM; i++) out[i] = NAN;
  for (int64_t j = 0; j < COLUMNS; j++)
    for (int64_t i = 0; i < ROWS; i++) out[place_in(l, i, j)] = numbers[j * ROWS + i];
}

/* The numbers are these, and all else is NaN. */
static bool holds(const layout *l, const double *numbers, const double *v) {
  double want[ROOM];
  spread(l, numbers, want);
  for (int i = 0; i < ROOM; i++)
    if (isnan(want[i]) ? !isnan(v[i]) : memcmp(&want[i], &v[i], sizeof *v) != 0) return false;
  return true;
}

/* ---------------------------------------------------------------- layouts */

static void test_solves(void) {
  kcl_report one[COLUMNS], other[COLUMNS];
  double b[ROOM], x[ROOM];
  memcpy(X, guess, sizeof X);
  CHECK(!kcl_solve_many(s, COLUMNS, B, X, one));
  for (int p = 0; p < LAYOUTS; p++)
    for (int q = 0; q < LAYOUTS; q++) {
      const kcl_vectors of_b = vectors(b, &layouts[p]);
      kcl_vectors of_x = vectors(x, &layouts[q]);
      spread(&layouts[p], B, b), spread(&layouts[q], guess, x);
      CHECKF(!kcl_solve_vectors(s, NULL, &of_b, &of_x, other) && holds(&layouts[q], X, x) &&
                 holds(&layouts[p], B, b),
             "layouts %d, %d: %s", p, q, kcl_error());
      for (int j = 0; j < COLUMNS; j++)
        CHECK(one[j].converged && other[j].converged && one[j].iterations == other[j].iterations &&
              one[j].true_relative_residual == other[j].true_relative_residual);
    }
}

/* X is not read: it holds NaN. One array holds b and x, number beside number. */
static void test_zero_guess(void) {
  const kcl_call zero = {.size = sizeof zero, .zero_guess = 1};
  const layout even = {0, 0, 2}, odd = {1, 0, 2};
  double both[ROOM];
  CHECK(!kcl_solve_call(s, &zero, COLUMNS, B, X, NULL));
  spread(&even, B, both);
  const kcl_vectors b = vectors(both, &even);
  kcl_vectors x = vectors(both, &odd);
  CHECKF(!kcl_solve_vectors(s, &zero, &b, &x, NULL), "%s", kcl_error());
  for (int64_t j = 0; j < COLUMNS; j++)
    for (int64_t i = 0; i < ROWS; i++)
      CHECK(both[place_in(&even, i, j)] == B[j * ROWS + i] &&
            both[place_in(&odd, i, j)] == X[j * ROWS + i]);
}

/* y = 2 A x - 3 y; y = A^H x into NaN. */
static void test_products(void) {
  const double alpha = 2, beta = -3;
  double x[ROOM], y[ROOM], want[2][COLUMNS * ROWS];
  memcpy(want[0], guess, sizeof want[0]);
  CHECK(!kcl_operator_apply(
      op, &(kcl_product){.x = B, .y = want[0], .cols = COLUMNS, .alpha = &alpha, .beta = &beta}));
  CHECK(!kcl_operator_apply(
      op, &(kcl_product){.x = B, .y = want[1], .cols = COLUMNS, .adjoint = true}));
  for (int p = 0; p < LAYOUTS; p++)
    for (int q = 0; q < LAYOUTS; q++) {
      const kcl_vectors of_x = vectors(x, &layouts[p]);
      kcl_vectors of_y = vectors(y, &layouts[q]);
      spread(&layouts[p], B, x), spread(&layouts[q], guess, y);
      CHECKF(!kcl_operator_multiply(op, 0, &alpha, &of_x, &beta, &of_y) &&
                 holds(&layouts[q], want[0], y),
             "layouts %d, %d: %s", p, q, kcl_error());
      for (int i = 0; i < ROOM; i++) y[i] = NAN;
      CHECKF(!kcl_operator_multiply(op, 1, NULL, &of_x, NULL, &of_y) &&
                 holds(&layouts[q], want[1], y),
             "layouts %d, %d of A^H: %s", p, q, kcl_error());
    }
}

/* ---------------------------------------------------------------- refusals */

#define REFUSED(change, word)                                                                      \
  do {                                                                                             \
    kcl_vectors b = vectors(B, &layouts[0]), x = vectors(X, &layouts[0]);                          \
    kcl_report r[COLUMNS] = {{.converged = true}};                                                 \
    change;                                                                                        \
    CHECKF(kcl_solve_vectors(s, NULL, &b, &x, r) == KCL_USAGE && strstr(kcl_error(), word) &&      \
               !r[0].converged,                                                                    \
           "%s: %s", #change, kcl_error());                                                        \
    CHECKF(kcl_operator_multiply(op, 0, NULL, &b, NULL, &x) == KCL_USAGE, "%s: %s", #change,       \
           kcl_error());                                                                           \
  } while (0)

static void test_missing(void) {
  struct {
    kcl_vectors v;
    int64_t newer;
  } longer = {vectors(B, &layouts[0]), 0};
  kcl_vectors x = vectors(X, &layouts[0]);
  longer.v.size = sizeof longer;
  CHECK(!kcl_solve_vectors(s, NULL, &longer.v, &x, NULL));
  longer.newer = 1;
  CHECK(kcl_solve_vectors(s, NULL, &longer.v, &x, NULL) == KCL_USAGE &&
        strstr(kcl_error(), "newer"));
  CHECK(kcl_solve_vectors(NULL, NULL, &longer.v, &x, NULL) == KCL_USAGE);
  CHECK(kcl_solve_vectors(s, NULL, NULL, &x, NULL) == KCL_USAGE && strstr(kcl_error(), "b"));
  CHECK(kcl_solve_vectors(s, NULL, &x, NULL, NULL) == KCL_USAGE && strstr(kcl_error(), "x"));
  CHECK(kcl_operator_multiply(NULL, 0, NULL, &x, NULL, &x) == KCL_USAGE);
  CHECK(kcl_operator_multiply(op, 0, NULL, NULL, NULL, &x) == KCL_USAGE);
  CHECK(kcl_operator_multiply(op, 0, NULL, &x, NULL, NULL) == KCL_USAGE);
}

static void test_refusals(void) {
  REFUSED(b.size = 8, "b.size is 8");
  REFUSED(b.data = NULL, "b.data is NULL");
  REFUSED(x.data = NULL, "x.data is NULL");
  REFUSED(b.offset = -1, "b.offset is -1");
  REFUSED(x.rows = -1, "x.rows is -1");
  REFUSED(x.rows = ROWS + 1, "x.rows is 197: the matrix needs 196");
  REFUSED(b.rows = 1, "b.rows is 1");
  REFUSED(x.cols = -1, "x.cols is -1");
  REFUSED(x.cols = 2, "b.cols is 3 and x.cols 2");
  REFUSED(b.ld = -1, "b.ld is -1");
  REFUSED(b.ld = ROWS - 1, "b.ld is 195 and inc 1");
  REFUSED(x.ld = 1, "x.ld is 1 and inc 1");
  REFUSED((x.ld = 3, x.inc = 2), "x.ld is 3 and inc 2");
  REFUSED(x.inc = -1, "x.inc is -1");
  REFUSED(x.inc = INT64_MAX, "more than memory can hold");
  REFUSED(x.ld = INT64_MAX / 2, "more than memory can hold");
  REFUSED(b.offset = INT64_MAX, "more than memory can hold");
  REFUSED(b.offset = INT64_MAX / 8, "more than memory can hold");
  REFUSED(b.type = 's', "b.type is 115 ('s'): 'd' or 0");
  REFUSED(x.type = KCL_D, "x.type is 1");
  REFUSED(x.place = 2, "x.place is 2");
  REFUSED((b.data = X, b.offset = 0), "overlap");
  REFUSED((b.data = X, b.cols = x.cols = 2, x.offset = ROWS), "overlap");
  REFUSED((b.data = X, b.cols = x.cols = 1, b.inc = x.inc = 2, x.offset = 2), "overlap");
  kcl_device d;
  CHECK(!kcl_device_current(ctx, &d));
  if (d.platform < 0) REFUSED(b.place = KCL_OPENCL, "native executor");
}

/* ---------------------------------------------------------------- places */

static void test_device(const char *device) {
  kcl_options o = cg_options();
  kcl_operator_options products = {
      .format = "ell", .precision = KCL_D, .products = KCL_PRODUCTS_BOTH};
  o.nrhs = 2, products.nrhs = 2, o.format = "ell";
  if (kcl_context_create(NULL, 0, &ctx) || kcl_select(ctx, device, 2)) {
    skip("%s: %s", device, kcl_error()), kcl_context_free(&ctx);
    return;
  }
  for (int i = 0; i < COLUMNS * ROWS; i++) B[i] = random_number(), guess[i] = random_number();
  if (CHECK(!kcl_generate(ctx, "poisson2d:14", &A, NULL) && !kcl_setup(ctx, A, &o, &s)) &&
      CHECKF(!kcl_operator_create(ctx, A, &products, &op), "%s", kcl_error()))
    test_solves(), test_zero_guess(), test_products(), test_missing(), test_refusals();
  kcl_solver_free(&s), kcl_operator_free(&op), kcl_csr_free(&A), kcl_context_free(&ctx);
}

int main(void) {
  test_device("cpu"), test_device("opencl");
  return check_report();
}
