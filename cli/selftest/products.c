/* Products of the self-test. */
#include "cli/selftest/selftest.h"
#include "cli/ui/terminal.h"
#include "krylocl/bench.h"
#include <math.h>

enum { COLUMNS = 3 };

typedef struct product_test {
  cli_battery *t;
  const char *system, *format;
  const kcl_csr *A, *AH;
  kcl_operator *op;
} product_test;

/* x and y as the product has them, and as the check wants them. */
typedef struct product_vectors {
  void *x, *y; /* of the precision */
  double *x_double, *y_double;
  int64_t x_parts, y_parts; /* of one column: numbers, two of a complex one */
} product_vectors;

static bool in_floats(kcl_type t) { return t == KCL_S || t == KCL_C; }

static void put_part(kcl_type t, void *v, int64_t i, double value) {
  if (in_floats(t))
    ((float *)v)[i] = (float)value;
  else
    ((double *)v)[i] = value;
}

static double get_part(kcl_type t, const void *v, int64_t i) {
  return in_floats(t) ? (double)((const float *)v)[i] : ((const double *)v)[i];
}

static void free_vectors(product_vectors *v) {
  free(v->x), free(v->y), free(v->x_double), free(v->y_double);
}

/* x: multiples of 2^-10 in [-1, 1), which are exact in every type. y: NaN, so that an element that is not written shows. */
static int make_vectors(const product_test *p, const kcl_csr *A, product_vectors *v) {
  const kcl_type t = p->t->precision;
  const int64_t each = kcl_type_complex(t) ? 2 : 1;
  v->x_parts = A->cols * each, v->y_parts = A->rows * each;
  v->x = calloc((size_t)(v->x_parts * COLUMNS), sizeof(double));
  v->y = calloc((size_t)(v->y_parts * COLUMNS), sizeof(double));
  v->x_double = calloc((size_t)(v->x_parts * COLUMNS), sizeof(double));
  v->y_double = calloc((size_t)(v->y_parts * COLUMNS), sizeof(double));
  if (!v->x || !v->y || !v->x_double || !v->y_double)
    return cli_fail(KCL_MEMORY, "out of memory: vectors of the self-test");
  uint32_t state = 1;
  for (int64_t i = 0; i < v->x_parts * COLUMNS; i++) {
    state = state * 1664525u + 1013904223u;
    v->x_double[i] = (double)(state >> 21) / 1024 - 1;
    put_part(t, v->x, i, v->x_double[i]);
  }
  for (int64_t i = 0; i < v->y_parts * COLUMNS; i++) put_part(t, v->y, i, (double)NAN);
  return 0;
}

static int check_columns(const product_test *p, const kcl_csr *A, product_vectors *v, int columns,
                         cli_selftest_result *r) {
  const kcl_type t = p->t->precision;
  for (int64_t i = 0; i < v->y_parts * columns; i++) v->y_double[i] = get_part(t, v->y, i);
  for (int j = 0; j < columns; j++) {
    kcl_product_error e;
    const int rc = kcl_product_check(p->t->ctx, A, t, v->x_double + j * v->x_parts,
                                     v->y_double + j * v->y_parts, &e);
    if (rc) return cli_lib(rc);
    if (e.ratio <= 1) continue;
    snprintf(r->reason, sizeof r->reason,
             "row %lld of column %d is off by %.3g times what rounding explains",
             (long long)e.row + 1, j + 1, e.ratio);
    return 0;
  }
  return 0;
}

static int test_product(const product_test *p, bool adjoint, int columns) {
  char test[160];
  cli_selftest_result r = {.refused = false};
  const kcl_csr *A = adjoint ? p->AH : p->A;
  CLI_OWNED_BY(free_vectors) product_vectors v = {.x = NULL};
  snprintf(test, sizeof test, "%s on %s, y = %s x, %d column%s", p->format, p->system,
           adjoint ? "A^H" : "A", columns, columns == 1 ? "" : "s");
  cli_busy(p->t->o, "%s", test);
  CLI_CALL(make_vectors(p, A, &v));
  const kcl_product product = {.x = v.x, .y = v.y, .cols = columns, .adjoint = adjoint};
  if (kcl_operator_apply(p->op, &product))
    snprintf(r.reason, sizeof r.reason, "%s", kcl_error());
  else
    CLI_CALL(check_columns(p, A, &v, columns, &r));
  cli_selftest_count(p->t, test, &r);
  return 0;
}

/* A format with one column per pass, and with several. */
static int test_format(product_test *p, int columns) {
  char test[160];
  const kcl_operator_options o = {.format = p->format,
                                  .precision = p->t->precision,
                                  .products = KCL_PRODUCTS_BOTH,
                                  .nrhs = columns};
  const int created = kcl_operator_create(p->t->ctx, p->A, &o, &p->op);
  int rc = 0;
  if (created) {
    cli_selftest_result r = {.refused = created == KCL_REFUSED};
    snprintf(r.reason, sizeof r.reason, "%s", kcl_error());
    snprintf(test, sizeof test, "%s on %s", p->format, p->system);
    cli_selftest_count(p->t, test, &r);
    return 0;
  }
  CLI_TRY(test_product(p, false, columns));
  CLI_TRY(test_product(p, true, columns));
done:
  kcl_operator_free(&p->op);
  return rc;
}

static int test_system(cli_battery *t, const char *name) {
  CLI_OWNED_BY(kcl_csr_free) kcl_csr *A = NULL, *AH = NULL;
  CLI_CALL(cli_selftest_system(t, name, &A, NULL));
  CLI_CALL(cli_lib(kcl_csr_adjoint(t->ctx, A, &AH)));
  for (int i = 0; i < kcl_list_size(KCL_FORMATS); i++) {
    product_test p = {
        .t = t, .system = name, .format = kcl_list(KCL_FORMATS, i).name, .A = A, .AH = AH};
    CLI_CALL(test_format(&p, 1));
    CLI_CALL(test_format(&p, COLUMNS));
  }
  return 0;
}

/* Few diagonals and patterns; dense blocks; rows of very different lengths, unsymmetric; complex numbers. */
int cli_selftest_products(cli_battery *t) {
  static const char *const systems[] = {"poisson2d:20", "elasticity:4x3x2",
                                        "random-lognormal:300x12x20", "magnetic:15"};
  int rc = 0;
  t->group = "products";
  for (int i = 0; i < 4 && !rc; i++)
    if (i < 3 || kcl_type_complex(t->precision)) rc = test_system(t, systems[i]);
  return rc;
}
