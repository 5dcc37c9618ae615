/* Methods for least squares: every one of the registry on systems of any shape whose answer is known.
 *
 * A = [I; R], [I R] and [I R; I R] with R random and thin: no singular value that is not 0 is below 1, so
 * that |x - x*| <= |r| where there is a solution and |x - x*| <= |A^H r| where there is none.
 */
#include "solver/precond/setup.h"
#include "tests/calls.h"
#include "tests/conform.h"
#include "tests/numbers.h"
#include "tests/options.h"

typedef struct shape {
  const char *what;
  int64_t rows, cols; /* of [I R] or, when tall, of its adjoint */
  bool tall, twice;   /* twice: the rows again, below */
  bool inconsistent;
} shape;

static const shape shapes[] = {{"tall", 40, 150, true, false, false},
                               {"tall, no solution", 40, 150, true, false, true},
                               {"wide", 40, 150, false, false, false},
                               {"wide, rows twice, no solution", 33, 130, false, true, true},
                               {"square, no solution", 30, 60, false, true, true},
                               {"one column", 1, 70, true, false, true},
                               {"one row", 1, 70, false, false, false}};

/* [I R], R with about 4 entries a row. */
static kcl_csr *thin(kcl_context *ctx, kcl_type t, const shape *s) {
  kcl_csr *A = NULL;
  int64_t m = s->rows, times = s->twice ? 2 : 1, q = 0;
  int64_t step = (s->cols - m) / 4 > 0 ? (s->cols - m) / 4 : 1;
  if (kcl_csr_create(ctx, times * m, s->cols, times * m * (2 + (s->cols - m) / step), t, &A))
    exit(1);
  for (int64_t i = 0; i < times * m; i++) {
    double *val = A->val;
    int w = kcl_type_complex(t) ? 2 : 1;
    if (i < m) {
      val[w * q] = 1, A->col[q++] = (int32_t)i;
      for (int64_t j = m + i % step; j < s->cols; j += step, q++) {
        number a = random_of(t);
        A->col[q] = (int32_t)j, val[w * q] = creal(a);
        if (w == 2) val[2 * q + 1] = cimag(a);
      }
    } else {
      int64_t from = A->row_ptr[i - m], count = A->row_ptr[i - m + 1] - from;
      memcpy(A->col + q, A->col + from, (size_t)count * sizeof *A->col);
      memcpy(val + w * q, val + w * from, (size_t)(w * count) * sizeof *val);
      q += count;
    }
    A->row_ptr[i + 1] = q;
  }
  A->nnz = q;
  return A;
}

/* y = A x, as pairs of double; complex: of A^H. */
static void product(kcl_context *ctx, const kcl_csr *A, bool adjoint, const number *x, number *y) {
  kcl_csr *Z = NULL, *H = NULL;
  if (kcl_csr_convert(ctx, A, KCL_Z, &Z) || (adjoint && kcl_csr_adjoint(ctx, Z, &H))) exit(1);
  kcl_csr_product(adjoint ? H : Z, (const double *)x, NULL, (double *)y);
  kcl_csr_free(&Z), kcl_csr_free(&H);
}

typedef struct system {
  const shape *shape;
  kcl_csr *A;
  number *b, *x; /* the answer of least norm */
} system_;

/* x in the range of A^H, b = A x + r with A^H r = 0. */
static system_ make(kcl_context *ctx, kcl_type t, const shape *s) {
  system_ y = {.shape = s, .A = thin(ctx, t, s)};
  int64_t half = s->rows;
  if (s->tall) {
    kcl_csr *H = NULL;
    if (kcl_csr_adjoint(ctx, y.A, &H)) exit(1);
    kcl_csr_free(&y.A), y.A = H;
  }
  y.x = filled(y.A->cols, 0), y.b = filled(y.A->rows, 0);
  number *w = random_vector(t, y.A->rows), *r = filled(y.A->rows, 0);
  product(ctx, y.A, true, w, y.x);
  product(ctx, y.A, false, y.x, y.b);
  if (s->tall) { /* A = [I; B]: r = [-B^H w; w] = -A A^H [0; w] + [0; w] + [0; B B^H w]: from its rows */
    number *h = filled(y.A->cols, 0);
    for (int64_t i = 0; i < half; i++) w[i] = 0;
    product(ctx, y.A, true, w, h);
    for (int64_t i = 0; i < y.A->rows; i++) r[i] = i < half ? -h[i] : w[i];
    free(h);
  } else { /* A = [B; B]: r = [w; -w] */
    for (int64_t i = 0; i < y.A->rows; i++) r[i] = i < half ? w[i] : -w[i - half];
  }
  for (int64_t i = 0; i < y.A->rows && s->inconsistent; i++) y.b[i] += 0.7 * r[i];
  free(w), free(r);
  return y;
}

static void *typed(const kcl_csr *A, const number *v, int64_t n) {
  void *out = calloc((size_t)n + 1, kcl_type_size(A->type));
  kcl_copy(A->type, out, KCL_Z, v, n, 1);
  return out;
}

/* The claim holds, is of the right kind, and x is near the known answer. */
static void check(const system_ *y, const kcl_options *o, const char *words, const void *b,
                  const void *x, const kcl_report *r) {
  double doubt, gradient, res = residual(y->A, b, x, &doubt), error;
  double normal = normal_residual(y->A, b, x, &gradient), u = tol_u(KCL_D);
  bool known = y->shape->tall || !strcmp(o->precond, "none"); /* else another x of many */
  int64_t n = y->A->cols;
  CHECKF(y->shape->inconsistent ? r->least_squares : r->converged,
         "%s: %s after %lld, %g, normal %g", words, kcl_reason_text(r->reason),
         (long long)r->iterations, r->true_relative_residual, r->normal_residual);
  CHECKF((y->shape->inconsistent ? normal : res) <= o->tol * 1.0001 + doubt,
         "%s: claims %g, has %g and %g", words, o->tol, res, normal);
  CHECKF(fabs(res - r->true_relative_residual) <= tol_certificate(res, doubt),
         "%s: certificate says %g, it is %g", words, r->true_relative_residual, res);
  CHECKF(!y->shape->inconsistent || fabs(normal - r->normal_residual) <= 1e-3 * normal + 1e-14,
         "%s: certificate says %g, it is %g", words, r->normal_residual, normal);
  number *d = filled(n, 0);
  kcl_copy(KCL_Z, d, y->A->type, x, n, 1);
  for (int64_t i = 0; i < n; i++) d[i] -= y->x[i];
  error = y->shape->inconsistent ? gradient : res * norm(y->b, y->A->rows);
  /* b holds r and A x rounded: some n u |b| |A|, and as much of x in another direction than A^H's */
  error += 100 * (double)n * (u + (o->precision % 2 ? 0 : tol_u(KCL_S))) * norm(y->b, y->A->rows);
  CHECKF(!known || norm(d, n) <= error, "%s: x is %g off, at most %g", words, norm(d, n), error);
  free(d);
}

static void solve_least(const place *p, const system_ *y, const kcl_options *o) {
  char words[200];
  kcl_solver *s = NULL;
  kcl_report r, twice;
  void *b = typed(y->A, y->b, y->A->rows), *x = typed(y->A, y->x, y->A->cols), *again;
  memset(x, 0, (size_t)y->A->cols * kcl_type_size(y->A->type));
  again = calloc((size_t)y->A->cols + 1, kcl_type_size(y->A->type));
  snprintf(words, sizeof words, "%s %s %s, %s, %s, type %c", o->solver, o->precond, o->format,
           y->shape->what, p->name, kcl_type_letter(o->precision));
  int rc = kcl_setup(p->ctx, y->A, o, &s);
  if (rc == KCL_REFUSED || rc == KCL_USAGE)
    skip("%s is refused for %s", o->format, y->shape->what);
  else if (CHECKF(!rc && !kcl_solve_one(s, b, x, &r) && !kcl_solve_one(s, b, again, &twice),
                  "%s: %s", words, kcl_error())) {
    check(y, o, words, b, x, &r);
    if (!scatters(p->ctx, o->format) || !p->ctx->opencl)
      CHECKF(!memcmp(x, again, (size_t)y->A->cols * kcl_type_size(y->A->type)),
             "%s: the second solve differs", words);
  }
  kcl_solver_free(&s), free(b), free(x), free(again);
}

static void every_option(const place *p, const system_ *y, kcl_options o, int turn) {
  const kcl_method *m;
  for (int i = 0; i < kcl_list_size(KCL_SOLVERS); i++) {
    o.solver = kcl_list(KCL_SOLVERS, i).name;
    if (kcl_method_find(p->ctx, o.solver, &m) || !m->least_squares) continue;
    for (int q = 0; q < kcl_list_size(KCL_PRECONDS); q++)
      for (int f = kcl_precond_at(q)->least_squares ? -1 : KCL_MOST_FORMATS;
           f < kcl_list_size(KCL_FORMATS); f++) {
        o.precond = kcl_list(KCL_PRECONDS, q).name;
        o.format = f < 0 ? "auto" : kcl_list(KCL_FORMATS, f).name;
        bool all = thorough() > 1 || (!small() && !p->ctx->opencl && !q);
        if (!all && quick(p) && (q != turn / 2 % 2 || (i + turn) % 2 || f != 4 * turn)) continue;
        if (!all && !quick(p) && (f < 0 ? q != turn % 2 : q || (f + i) % 18 != turn % 18)) continue;
        solve_least(p, y, &o);
      }
  }
}

static void test_shapes(const place *p) {
  int turn = 0;
  for (kcl_type t = KCL_S; t <= KCL_Z; t++)
    for (size_t i = 0; can(p, t) && i < (small() ? 2 : sizeof shapes / sizeof *shapes); i++) {
      kcl_options o = cg_options();
      if (p->ctx->opencl && !turn_of(t, (int)i)) continue; /* each is compiled */
      o.precision = t, o.tol = t == KCL_S || t == KCL_C ? 1e-4 : 1e-9;
      system_ y = make(p->ctx, kcl_wide_type(t), &shapes[i]);
      every_option(p, &y, o, turn++);
      kcl_csr_free(&y.A), free(y.b), free(y.x);
    }
}

/* ---------------------------------------------------------------- designs, by hand, refusals */

/* Pairs of points by blocks: A A^T = (c0 - c1 ...) in closed form, of full row rank. */
static void test_design(const place *p, const char *kind, const char *solver) {
  kcl_csr *A = NULL, *T = NULL;
  if (!CHECKF(!kcl_generate(p->ctx, kind, &A, NULL) && !kcl_csr_adjoint(p->ctx, A, &T), "%s",
              kcl_error()))
    return;
  const kcl_csr *both[] = {A, T};
  for (int i = 0; i < 2; i++) {
    kcl_options o = cg_options();
    kcl_solver *s = NULL;
    kcl_report r;
    double *b = calloc((size_t)both[i]->rows, sizeof *b),
           *x = calloc((size_t)both[i]->cols, sizeof *x);
    double doubt, gradient;
    for (int64_t j = 0; j < both[i]->rows; j++) b[j] = random_number();
    o.solver = solver, o.format = quick(p) ? "csr-scalar" : "auto";
    if (CHECKF(!kcl_setup(p->ctx, both[i], &o, &s) && !kcl_solve_one(s, b, x, &r), "%s",
               kcl_error())) {
      double res = residual(both[i], b, x, &doubt),
             normal = normal_residual(both[i], b, x, &gradient);
      CHECKF((i ? r.least_squares : r.converged) && (i ? normal : res) <= 1e-8 * 1.0001,
             "%s %s%s on %s: %s, %g, %g", solver, kind, i ? "^T" : "", p->name,
             kcl_reason_text(r.reason), res, normal);
    }
    kcl_solver_free(&s), free(b), free(x);
  }
  kcl_csr_free(&A), kcl_csr_free(&T);
}

typedef struct hand {
  const char *what;
  double a[6], b[3], x0[2], x[2]; /* three rows */
  int cols;
  bool solved, least_squares;
} hand;

static void test_by_hand(const place *p, const char *solver, const char *precond) {
  static const hand all[] = {
      {"mean of three", {1, 1, 1}, {1, 2, 6}, {0}, {3}, 1, true, true},
      {"mean of three, exact guess", {1, 1, 1}, {1, 2, 6}, {3}, {3}, 1, true, true},
      {"line", {1, 0, 1, 1, 1, 2}, {1, 3, 5}, {0}, {1, 2}, 2, true, false},
      {"line, not through all", {1, 0, 1, 1, 1, 2}, {1, 0, 2}, {9, 9}, {0.5, 0.5}, 2, true, true},
      {"empty column", {2, 0, 0, 0, 1, 0}, {4, 1, 7}, {0}, {3, 0}, 2, true, true},
      {"empty column, guess", {2, 0, 0, 0, 1, 0}, {4, 1, 7}, {9, 9}, {3, 0}, 2, true, true},
      {"empty column, NaN guess", {2, 0, 0, 0, 1, 0}, {4, 1, 7}, {9, NAN}, {3, 0}, 2, true, true},
      {"zero matrix", {0}, {4, 1, 7}, {0}, {0}, 2, true, true},
      {"zero right-hand side", {1, 2, 3, 4, 5, 6}, {0}, {7, 7}, {0, 0}, 2, true, false},
      {"b at right angles to A", {1, 1, 1}, {1, -1, 0}, {0}, {0}, 1, true, true},
      {"tiny", {1e-150, 1e-150, 1e-150}, {1e-200, 2e-200, 6e-200}, {0}, {3e-50}, 1, true, true},
      {"huge", {1e150, 1e150, 1e150}, {1e200, 2e200, 6e200}, {0}, {3e50}, 1, true, true}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    const hand *h = &all[i];
    kcl_csr *A = NULL;
    kcl_solver *s = NULL;
    kcl_report r;
    kcl_options o = cg_options();
    double x[2] = {h->x0[0], h->x0[1]};
    o.solver = solver, o.precond = precond, o.format = "csr-scalar";
    if (kcl_csr_create(p->ctx, 3, h->cols, 3 * h->cols, KCL_D, &A)) exit(1);
    A->nnz = 0;
    for (int q = 0; q < 3 * h->cols; q++) {
      if (h->a[q] != 0) A->col[A->nnz] = q % h->cols, ((double *)A->val)[A->nnz++] = h->a[q];
      A->row_ptr[q / h->cols + 1] = A->nnz;
    }
    if (CHECKF(!kcl_setup(p->ctx, A, &o, &s) && !kcl_solve_one(s, h->b, x, &r), "%s: %s", h->what,
               kcl_error())) {
      CHECKF(r.converged == (h->solved && !h->least_squares) && r.least_squares == h->least_squares,
             "%s, %s %s on %s: %s, least squares %d", h->what, solver, precond, p->name,
             kcl_reason_text(r.reason), r.least_squares);
      for (int j = 0; j < h->cols && h->solved; j++)
        CHECKF(fabs(x[j] - h->x[j]) <= 1e-7 * (fabs(h->x[0]) + fabs(h->x[1])),
               "%s, %s %s on %s: x[%d] = %g", h->what, solver, precond, p->name, j, x[j]);
    }
    kcl_solver_free(&s), kcl_csr_free(&A);
  }
}

/* Methods that cannot take a rectangular matrix name those that can. */
static void test_refusals(const place *p) {
  const kcl_method *m;
  kcl_csr *A = NULL;
  kcl_solver *s = NULL;
  kcl_options o = cg_options();
  if (!CHECK(!kcl_generate(p->ctx, "bibd:5x3", &A, NULL) && A->rows == A->cols) ||
      !CHECK((kcl_csr_free(&A), !kcl_generate(p->ctx, "bibd:6x3", &A, NULL) && A->rows != A->cols)))
    return;
  for (int i = 0; i < kcl_list_size(KCL_SOLVERS); i++) {
    o.solver = kcl_list(KCL_SOLVERS, i).name;
    if (kcl_method_find(p->ctx, o.solver, &m) || m->least_squares) continue;
    const char *text = kcl_setup(p->ctx, A, &o, &s) == KCL_INPUT ? kcl_error() : "";
    CHECKF(!s && strstr(text, o.solver) && strstr(text, "cgls, lsqr"), "%s: %s", o.solver, text);
  }
  kcl_csr_free(&A);
}

/* ---------------------------------------------------------------- direct solutions */

/* The rank is that of I; y is the known solution, of least norm. No singular value that is not 0 is below 1. */
static void test_direct(kcl_context *ctx, kcl_type t, const shape *s) {
  system_ y = make(ctx, t, s);
  kcl_direct_info info;
  void *b = typed(y.A, y.b, y.A->rows), *x = typed(y.A, y.x, y.A->cols);
  int64_t m = y.A->rows, n = y.A->cols;
  double small_ = 100 * (double)(m + n) * tol_u(t), doubt, gradient;
  if (CHECKF(!kcl_direct(ctx, y.A, b, x, &info), "%s: %s", s->what, kcl_error())) {
    double res = residual(y.A, b, x, &doubt), normal = normal_residual(y.A, b, x, &gradient);
    number *d = filled(n, 0);
    CHECKF(info.rank == s->rows, "%s: rank %lld", s->what, (long long)info.rank);
    CHECKF((s->inconsistent ? normal : res) <= small_, "%s: residual %g, normal %g", s->what, res,
           normal);
    kcl_copy(KCL_Z, d, y.A->type, x, n, 1);
    for (int64_t i = 0; i < n; i++) d[i] -= y.x[i];
    CHECKF(info.least_norm && norm(d, n) <= small_ * (norm(y.b, m) + gradient), "%s: x is %g off",
           s->what, norm(d, n));
    double size = 0; /* |A|_F: at least that of I, as the singular values are at least 1 */
    for (int64_t k = 0; k < y.A->nnz; k++) size += pow(kcl_abs(y.A->type, y.A->val, k), 2);
    CHECKF(info.condition >= 0.9 * sqrt((double)s->rows), "%s: condition %g", s->what,
           info.condition);
    CHECKF(info.condition <= sqrt(size) * (1 + small_), "%s: condition %g", s->what,
           info.condition);
    free(d);
  }
  free(b), free(x), kcl_csr_free(&y.A), free(y.b), free(y.x);
}

/* Pairs of v points by blocks of k: A A^T has (v-2 over k-2) on its diagonal, and (v-4 over k-2) is its
 * least eigenvalue. */
static void test_direct_design(kcl_context *ctx, const char *kind, double diagonal, double least) {
  kcl_csr *A = NULL, *T = NULL;
  if (!CHECK(!kcl_generate(ctx, kind, &A, NULL) && !kcl_csr_adjoint(ctx, A, &T))) return;
  double want = sqrt((double)A->rows * diagonal / least);
  const kcl_csr *both[] = {A, T};
  for (int i = 0; i < 2; i++) {
    kcl_direct_info info;
    double *b = calloc((size_t)both[i]->rows, sizeof *b),
           *x = calloc((size_t)both[i]->cols, sizeof *x);
    for (int64_t j = 0; j < both[i]->rows; j++) b[j] = random_number();
    CHECKF(!kcl_direct(ctx, both[i], b, x, &info) && info.rank == A->rows &&
               info.condition > 0.9 * want && info.condition < want * (1 + 1e-10),
           "%s: condition %g, it is %g", kind, info.condition, want);
    free(b), free(x);
  }
  kcl_csr_free(&A), kcl_csr_free(&T);
}

static void test_directs(kcl_context *ctx) {
  if (!kcl_direct_least_squares()) {
    skip("direct least squares: no SuiteSparseQR");
    return;
  }
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    test_direct(ctx, KCL_D, &shapes[i]), test_direct(ctx, KCL_Z, &shapes[i]);
  test_direct_design(ctx, "bibd:9x5", 35, 10);
  test_direct_design(ctx, "bibd:12x3", 10, 8);
}

int main(void) {
  static const char *const solver[] = {"cgls", "lsqr"};
  open_places();
  for (int i = 0; i < place_count; i++) {
    const place *p = &places[i];
    test_shapes(p), test_refusals(p);
    for (int m = 0; m < 2 && !small() && can(p, KCL_D); m++) {
      test_design(p, "bibd:9x5", solver[m]), test_design(p, "bibd:12x3", solver[m]);
      test_by_hand(p, solver[m], "none"), test_by_hand(p, solver[m], "jacobi");
    }
  }
  if (place_count && !small()) test_directs(places[0].ctx);
  close_places();
  return check_report();
}
