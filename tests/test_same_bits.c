/* Reproducible sums (core/base/shape.h): x has the same bits natively on one thread and on two, and on an OpenCL device in both layouts, for
 * every method that is admitted and every type; and natively those of a CG written here. What has other sums is refused. */
#include "core/base/context.h"
#include "core/base/shape.h"
#include "tests/calls.h"
#include "tests/check.h"
#include "tests/options.h"
#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- systems and places */

/* A generated system with values that no compiler rounds: Hermitian, or with other entries above the diagonal than below. */
typedef struct same_system {
  kcl_csr *A;
  double *b; /* [rows], of A's type */
  bool unsymmetric;
} same_system;

static int parts_of(kcl_type t) { return kcl_type_complex(t) ? 2 : 1; }

static double part_of_entry(const same_system *y, int64_t i, int64_t j, int part) {
  const double side = j > i ? 1 : -1;
  if (part) return i == j ? 0 : y->unsymmetric ? 0.25 : 0.25 * side;
  const double size = (double)(y->A->row_ptr[i + 1] - y->A->row_ptr[i]);
  return i == j ? 4 + size + (double)(i % 5) / 8 : y->unsymmetric ? -1 - side / 4 : -1;
}

static bool make_same_system(kcl_context *ctx, const char *name, kcl_type type, bool unsymmetric,
                             same_system *y) {
  kcl_csr *real = NULL;
  const kcl_type wide = kcl_type_complex(type) ? KCL_Z : KCL_D;
  const int parts = parts_of(type);
  *y = (same_system){.unsymmetric = unsymmetric};
  if (!CHECK(!kcl_generate(ctx, name, &real, NULL) && !kcl_csr_convert(ctx, real, wide, &y->A)))
    return false;
  kcl_csr_free(&real);
  y->A->symmetry = KCL_GENERAL;
  y->b = calloc((size_t)(y->A->rows * parts), sizeof *y->b);
  for (int64_t i = 0; i < y->A->rows; i++)
    for (int p = 0; p < parts; p++) {
      y->b[parts * i + p] = 1 + (double)(i % 7 + p) / 8;
      for (int64_t k = y->A->row_ptr[i]; k < y->A->row_ptr[i + 1]; k++)
        ((double *)y->A->val)[parts * k + p] = part_of_entry(y, i, y->A->col[k], p);
    }
  return true;
}

static void free_same_system(same_system *y) { kcl_csr_free(&y->A), free(y->b); }

static const struct {
  const char *name, *device, *layout;
  int threads;
} places[] = {{"native, 1 thread", "cpu", "", 1},
              {"native, 2 threads", "cpu", "", 2},
              {"OpenCL, layout of a CPU", "opencl", "cpu", 0},
              {"OpenCL, layout of a GPU", "opencl", "gpu", 0}};
enum { PLACES = sizeof places / sizeof *places };
static kcl_context *place[PLACES]; /* NULL: there is none */

static void open_places(void) {
  for (int i = 0; i < PLACES; i++) {
    setenv("KRYLOCL_LAYOUT", places[i].layout, 1);
    if (kcl_context_create(places[i].device, places[i].threads, &place[i]))
      skip("%s: %s", places[i].name, kcl_error());
    else if (kcl_context_set_reproducible(place[i], 1))
      skip("%s", kcl_error()), kcl_context_free(&place[i]);
  }
}

/* ---------------------------------------------------------------- the same bits everywhere */

static bool solve_at(kcl_context *ctx, const same_system *y, const kcl_options *o, double *x,
                     kcl_report *r) {
  kcl_solver *s = NULL;
  int rc = kcl_setup(ctx, y->A, o, &s);
  if (!rc) rc = kcl_solve_one(s, y->b, x, r);
  kcl_solver_free(&s);
  return CHECKF(!rc && r->converged, "%s, type %c: %s", o->solver, kcl_type_letter(o->precision),
                rc ? kcl_error() : kcl_reason_text(r->reason));
}

static void compare_places(const char *name, const same_system *y, const kcl_options *o) {
  const size_t bytes = (size_t)(y->A->rows * parts_of(y->A->type)) * sizeof(double);
  kcl_report first, r;
  double *x0 = calloc(1, bytes), *x = calloc(1, bytes);
  if (!solve_at(place[0], y, o, x0, &first)) goto done;
  for (int i = 1; i < PLACES; i++) {
    memset(x, 0, bytes);
    if (!place[i] || !solve_at(place[i], y, o, x, &r)) continue;
    CHECKF(!memcmp(x, x0, bytes) && r.x_sum == first.x_sum && r.iterations == first.iterations,
           "%s with %s on %s, type %c, %s: other bits, %lld iterations and %lld", o->solver,
           o->precond, name, kcl_type_letter(o->precision), places[i].name, (long long)r.iterations,
           (long long)first.iterations);
  }
done:
  free(x0), free(x);
}

/* Methods with dots alone, with products of scalars, with moduli and rotations; rows of up to 27 entries; blocks of fewer and of more
 * rows than lanes. */
static void test_bits_of(kcl_type type) {
  static const struct {
    const char *system, *method, *precond;
    bool unsymmetric;
  } list[] = {{"poisson2d:30", "cg", "jacobi", false},
              {"poisson2d:30", "minres", "none", false},
              {"poisson2d:7x9", "cg-single", "none", false},
              {"poisson2d:30", "bicgstab", "jacobi", true},
              {"hpcg:10", "cg", "none", false},
              {"poisson2d:30", "idr", "none", true},
              {"poisson2d:30", "gmres", "jacobi", true},
              {"poisson2d:300x230", "cg", "none", false},
              {"poisson2d:600x450", "cg", "none", false}};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    same_system y;
    kcl_options o = cg_options();
    o.solver = list[i].method, o.precond = list[i].precond, o.precision = type, o.restart = 5;
    if (make_same_system(place[0], list[i].system, type, list[i].unsymmetric, &y))
      compare_places(list[i].system, &y, &o);
    free_same_system(&y);
  }
}

/* ---------------------------------------------------------------- a CG of this file */

static double shaped_sum(const double *v, const double *w, int64_t n) {
  double lane[KCL_SUM_LANES] = {0};
  for (int64_t i = 0; i < n; i++) {
    double *to = &lane[i % KCL_SUM_LANES];
    *to = w ? fma(v[i], w[i], *to) : *to + v[i];
  }
  for (int reach = KCL_SUM_LANES / 2; reach; reach /= 2)
    for (int l = 0; l < reach; l++) lane[l] += lane[l + reach];
  return lane[0];
}

static double shaped_dot(const double *v, const double *w, int64_t n) {
  const int64_t block = kcl_sum_rows(n);
  double sum[KCL_SUM_BLOCKS];
  int64_t count = 0;
  for (int64_t at = 0; at < n; at += block)
    sum[count++] = shaped_sum(v + at, w + at, n - at < block ? n - at : block);
  return shaped_sum(sum, NULL, count);
}

static double row_of_product(const kcl_csr *A, int64_t i, const double *x) {
  const double *a = A->val;
  double sum = 0;
  int64_t k = A->row_ptr[i];
  for (; k + 4 <= A->row_ptr[i + 1]; k += 4) {
    volatile double first = a[k] * x[A->col[k]], second = a[k + 2] * x[A->col[k + 2]];
    first = fma(a[k + 1], x[A->col[k + 1]], first);
    second = fma(a[k + 3], x[A->col[k + 3]], second);
    sum += first + second;
  }
  for (; k < A->row_ptr[i + 1]; k++) sum = fma(a[k], x[A->col[k]], sum);
  return sum;
}

/* So many iterations from x = 0. */
static void iterate_cg(const kcl_csr *A, const double *b, int64_t iterations, double *x) {
  const int64_t n = A->rows;
  double *r = calloc((size_t)n, 8), *p = calloc((size_t)n, 8), *q = calloc((size_t)n, 8);
  memcpy(r, b, (size_t)n * 8), memcpy(p, b, (size_t)n * 8);
  double rho = shaped_dot(r, r, n);
  for (int64_t k = 0; k < iterations; k++) {
    for (int64_t i = 0; i < n; i++) q[i] = row_of_product(A, i, p);
    const double alpha = rho / shaped_dot(p, q, n);
    for (int64_t i = 0; i < n; i++) r[i] = fma(-alpha, q[i], r[i]);
    const double rr = shaped_dot(r, r, n), beta = rr / rho;
    for (int64_t i = 0; i < n; i++) x[i] = fma(alpha, p[i], x[i]), p[i] = fma(beta, p[i], r[i]);
    rho = rr;
  }
  free(r), free(p), free(q);
}

static void compare_with_own(const char *name) {
  same_system y;
  kcl_report r;
  if (!make_same_system(place[0], name, KCL_D, false, &y)) return;
  const size_t bytes = (size_t)y.A->rows * sizeof(double);
  double *x = calloc(1, bytes), *own = calloc(1, bytes);
  const kcl_options o = cg_options();
  if (solve_at(place[0], &y, &o, x, &r)) {
    iterate_cg(y.A, y.b, r.iterations, own);
    CHECKF(!memcmp(x, own, bytes), "cg on %s: not the bits of the formulas in this order", name);
  }
  free(x), free(own), free_same_system(&y);
}

/* ---------------------------------------------------------------- refusals, and choices of auto */

static void is_refused(const same_system *y, const char *words, const char *why) {
  kcl_options o = cg_options();
  kcl_options *set = &o;
  kcl_solver *s = NULL;
  CHECKF(!kcl_options_parse(set, words), "%s: %s", words, kcl_error());
  const int rc = kcl_setup(place[0], y->A, &o, &s);
  CHECKF(rc == KCL_USAGE && strstr(kcl_error(), why), "%s: %d, %s", words, rc, kcl_error());
  kcl_solver_free(&s);
}

static void test_refusals(void) {
  same_system y;
  kcl_solver *s = NULL;
  kcl_setup_info info;
  if (!make_same_system(place[0], "poisson2d:30", KCL_D, true, &y)) return;
  is_refused(&y, "format=ell", "ell: not with reproducible sums");
  is_refused(&y, "format=measure", "measure: not with reproducible sums");
  is_refused(&y, "solver=lsqr", "lsqr: not with reproducible sums");
  is_refused(&y, "solver=bicgstab precond=ilu", "ilu: not with reproducible sums");
  is_refused(&y, "solver=bicgstab mixed", "mixed precision: not with reproducible sums");
  if (CHECK(!kcl_setup(place[0], y.A, NULL, &s))) {
    kcl_solver_info(s, &info);
    CHECK(!strcmp(info.format, "csr-scalar") && !strcmp(info.solver, "idr"));
  }
  kcl_solver_free(&s), free_same_system(&y);
  kcl_csr *tall = NULL;
  CHECK(!kcl_csr_create(place[0], 3, 2, 3, KCL_D, &tall));
  for (int64_t i = 0; i < 3; i++)
    tall->row_ptr[i + 1] = i + 1, tall->col[i] = (int32_t)(i % 2), ((double *)tall->val)[i] = 1;
  CHECK(kcl_setup(place[0], tall, NULL, &s) == KCL_USAGE && strstr(kcl_error(), "3 by 2"));
  kcl_solver_free(&s), kcl_csr_free(&tall);
}

int main(void) {
  const char *types = getenv("KRYLOCL_TYPES");
  open_places();
  if (!place[0]) return check_report();
  for (kcl_type t = KCL_S; t <= KCL_Z; t++)
    if (!types || strchr(types, kcl_type_letter(t))) test_bits_of(t);
  compare_with_own("poisson2d:30"), compare_with_own("hpcg:10"),
      compare_with_own("poisson2d:600x450");
  test_refusals();
  for (int i = 0; i < PLACES; i++) kcl_context_free(&place[i]);
  return check_report();
}
