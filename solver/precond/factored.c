/* What factors become in a preconditioner: products.
 *
 *   z = (I + U)^-1 D^-1 (I + L)^-1 P r      P: rows exchanged and scaled; the scaling of columns is in D and U
 *
 * (I + N)^-1 is exact, the product with a matrix in the format `triangular`; or, on a GPU where a test at set-up finds them good,
 * a few Jacobi sweeps, each a product with N that fills the device: x <- r - N x.
 */
#include "solver/precond/factored.h"
#include "core/base/context.h"
#include "core/matrix/level_sets.h"
#include <stdio.h>
#include <stdlib.h>

static const double CLOSE = 0.05; /* sweeps are taken if they are so near to the solution */

/* M->data. Matrices: L, U, P if there is one. */
typedef struct factored {
  bool exchanged, hermitian; /* hermitian: U is L^H */
  int sweeps[2];             /* for L, U; 0: exact */
} factored;

/* ---------------------------------------------------------------- what M owns */

static int triangular(kcl_preconditioner *M, kcl_csr *N, kcl_matrix **out) {
  int rc = kcl_matrix_build(M->ctx, kcl_format_triangular(M->type), N, out);
  if (rc)
    kcl_csr_free(&N);
  else
    kcl_matrix_adopt(*out, N);
  return rc;
}

static int64_t longest(const kcl_csr *N) {
  int64_t most = 0;
  for (int64_t i = 0; i < N->rows; i++)
    if (N->row_ptr[i + 1] - N->row_ptr[i] > most) most = N->row_ptr[i + 1] - N->row_ptr[i];
  return most;
}

/* The exact solve with I + *N, and with its adjoint. */
static int add_solve(kcl_preconditioner *M, kcl_csr **N, bool adjoint) {
  kcl_csr *C = NULL, *CH = NULL;
  kcl_matrix *solve = NULL;
  int rc;
  KCL_TRY(kcl_csr_convert(M->ctx, *N, M->type, &C));
  kcl_csr_free(N);
  if (adjoint) KCL_TRY(kcl_csr_adjoint(M->ctx, C, &CH));
  const int64_t row = longest(C);
  rc = triangular(M, C, &solve), C = NULL;
  if (!rc) rc = kcl_precond_adopt(M, solve, row);
  if (!rc && CH) rc = triangular(M, CH, &M->matrix[M->matrices - 1].CH), CH = NULL;
done:
  kcl_csr_free(&C), kcl_csr_free(&CH);
  return rc;
}

static int add_factor(kcl_preconditioner *M, kcl_csr **N, int sweeps, bool adjoint) {
  if (!sweeps) return add_solve(M, N, adjoint);
  kcl_csr *given = *N;
  *N = NULL;
  return kcl_precond_add_matrix(M, given, adjoint);
}

/* P: row i is r times row row[i] of the identity. */
static int add_exchange(kcl_preconditioner *M, const kcl_matching *m, int64_t n) {
  kcl_csr *P;
  int rc = kcl_csr_create(M->ctx, n, n, n, kcl_type_complex(M->type) ? KCL_Z : KCL_D, &P);
  if (rc) return rc;
  for (int64_t i = 0; i < n; i++) {
    P->row_ptr[i + 1] = i + 1, P->col[i] = m->row[i];
    kcl_set_element(P->type, P->val, i, (double[]){m->r[m->row[i]], 0});
  }
  return kcl_precond_add_matrix(M, P, M->adjoint);
}

/* D^-1 becomes C D^-1, U becomes C U C^-1. */
static void scale_columns(kcl_factors *f, const double *c) {
  const kcl_csr *U = f->U;
  const int width = kcl_type_complex(U->type) ? 2 : 1;
  double *u = U->val;
  for (int64_t i = 0; i < U->rows; i++) {
    for (int w = 0; w < width; w++) f->d[width * i + w] *= c[i];
    for (int64_t k = width * U->row_ptr[i]; k < width * U->row_ptr[i + 1]; k++)
      u[k] *= c[i] / c[U->col[k / width]];
  }
}

/* ---------------------------------------------------------------- sweeps or exact */

/* The least number of sweeps that is close for both vectors; 0: none is. */
static int enough(double error[2][KCL_MOST_SWEEPS + 1]) {
  int s = KCL_MOST_SWEEPS + 1;
  while (s > 0 && error[0][s - 1] <= CLOSE && error[1][s - 1] <= CLOSE) s--;
  return s > KCL_MOST_SWEEPS ? 0 : s > 0 ? s : 1;
}

/* v = P A w; w: ones, or signs by a hash. */
static void probe(const kcl_csr *A, const kcl_matching *m, bool ones, double *w, double *v) {
  const int width = kcl_type_complex(A->type) ? 2 : 1;
  for (int64_t i = 0; i < A->rows; i++) {
    const uint64_t hash = (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15);
    w[width * i] = ones || hash >> 63 ? 1 : -1;
    if (width == 2) w[2 * i + 1] = 0;
  }
  kcl_csr_product(A, w, NULL, v + A->rows * (2 - width));
  if (width == 1) /* pairs */
    for (int64_t i = 0; i < A->rows; i++) v[2 * i] = v[A->rows + i], v[2 * i + 1] = 0;
  if (!m) return;
  for (int64_t i = 0; i < 2 * A->rows; i++) w[i] = v[i];
  for (int64_t i = 0; i < A->rows; i++)
    for (int p = 0; p < 2; p++) v[2 * i + p] = w[2 * (int64_t)m->row[i] + p] * m->r[m->row[i]];
}

static void divide(const kcl_factors *f, int64_t n, kcl_type type, double *y) {
  for (int64_t i = 0; i < n; i++) {
    double d[2], a[2] = {y[2 * i], y[2 * i + 1]};
    kcl_element(type, f->d, i, d);
    y[2 * i] = d[0] * a[0] - d[1] * a[1], y[2 * i + 1] = d[0] * a[1] + d[1] * a[0];
  }
}

/* M^-1 A of two vectors, by sweeps and exactly. */
static int choose_sweeps(kcl_preconditioner *M, const kcl_csr *A, const kcl_factors *f,
                         const kcl_matching *m, int sweeps[2]) {
  const int64_t n = A->rows;
  double error[2][2][KCL_MOST_SWEEPS + 1], *w = NULL, *v = NULL;
  int rc;
  KCL_TRY(kcl_alloc(M->ctx, 2 * n, sizeof *w, "a test of sweeps", (void **)&w));
  KCL_TRY(kcl_alloc(M->ctx, 2 * n, sizeof *v, "a test of sweeps", (void **)&v));
  for (int i = 0; i < 2; i++) {
    probe(A, m, i == 0, w, v);
    KCL_TRY(kcl_sweep_errors(M->ctx, f->L, false, v, w, error[0][i]));
    divide(f, n, A->type, w);
    KCL_TRY(kcl_sweep_errors(M->ctx, f->U, true, w, v, error[1][i]));
  }
  sweeps[0] = enough(error[0]), sweeps[1] = enough(error[1]);
done:
  free(w), free(v);
  return rc;
}

/* M = M^H asks for as many with L^H as with L. */
static void make_equal(int sweeps[2]) {
  const int most = sweeps[0] > sweeps[1] ? sweeps[0] : sweeps[1];
  sweeps[0] = sweeps[1] = sweeps[0] && sweeps[1] ? most : 0;
}

static int count_levels(kcl_preconditioner *M, const kcl_csr *N, int64_t *out) {
  kcl_level_sets s;
  int rc = kcl_level_sets_find(M->ctx, N, &s);
  if (!rc) *out = s.count, kcl_level_sets_free(&s);
  return rc;
}

static int refuse_levels(kcl_preconditioner *M, int64_t levels) {
  return kcl_fail(M->ctx, KCL_USAGE,
                  "%s: Jacobi sweeps do not solve with these triangular factors, and %lld levels "
                  "are too many launches of this device (the limit is %d, or %d rows): use "
                  "--device cpu, or --precond spai",
                  M->kind->name, (long long)levels, KCL_MOST_LAUNCHES, KCL_GROUP_ROWS);
}

static void write_note(kcl_preconditioner *M, const factored *F, const int64_t levels[2],
                       const char *what, double fill) {
  size_t n = (size_t)snprintf(M->note, sizeof M->note, "%s, %.1f entries per row", what, fill);
  for (int i = 0; i < 2 && n < sizeof M->note; i++) {
    const char *name = i ? " + " : F->exchanged ? ", rows exchanged, " : ", ";
    n += (size_t)snprintf(M->note + n, sizeof M->note - n,
                          F->sweeps[i] ? "%s%lld sweeps" : "%s%lld levels", name,
                          (long long)(F->sweeps[i] ? F->sweeps[i] : levels[i]));
  }
}

/* ---------------------------------------------------------------- keeping */

static int plan(kcl_preconditioner *M, const kcl_csr *A, const kcl_factors *f,
                const kcl_matching *m, factored *F, int64_t levels[2]) {
  int rc = KCL_OK;
  if (M->ctx->layout == KCL_LAYOUT_GPU) rc = choose_sweeps(M, A, f, m, F->sweeps);
  if (F->hermitian) make_equal(F->sweeps);
  for (int i = 0; i < 2 && !rc; i++) {
    rc = count_levels(M, i ? f->U : f->L, &levels[i]);
    if (!rc && M->ctx->layout == KCL_LAYOUT_GPU && !F->sweeps[i] && A->rows > KCL_GROUP_ROWS &&
        levels[i] > KCL_MOST_LAUNCHES)
      rc = refuse_levels(M, levels[i]);
  }
  return rc;
}

int kcl_factored_keep(kcl_preconditioner *M, const kcl_csr *A, kcl_factors *f,
                      const kcl_matching *m, const char *what) {
  const int64_t n = A->rows;
  int64_t levels[2];
  factored *F;
  int rc;
  KCL_TRY(kcl_alloc(M->ctx, 1, sizeof *F, "a preconditioner", (void **)&F));
  M->data = F, F->exchanged = m, F->hermitian = !f->U;
  if (!f->U) KCL_TRY(kcl_csr_adjoint(M->ctx, f->L, &f->U));
  if (m) scale_columns(f, m->c);
  KCL_TRY(plan(M, A, f, m, F, levels));
  const double nonzeros = (double)(f->L->nnz + f->U->nnz + n);
  write_note(M, F, levels, what, nonzeros / (double)n);
  M->size.nonzeros = nonzeros, M->size.complexity = nonzeros / (double)A->nnz;
  double *d = f->d;
  f->d = NULL;
  KCL_TRY(kcl_precond_add_vector(M, "d", n, kcl_type_complex(A->type) ? KCL_Z : KCL_D, d));
  const bool adjoint = M->adjoint && !F->hermitian;
  KCL_TRY(add_factor(M, &f->L, F->sweeps[0], adjoint));
  KCL_TRY(add_factor(M, &f->U, F->sweeps[1], adjoint));
  if (m) KCL_TRY(add_exchange(M, m, n));
done:
  kcl_factors_free(f);
  return rc;
}

/* ---------------------------------------------------------------- application */

/* y = (I + N)^-1 x, N factor `which`; `other` is overwritten. */
static void solve(kcl_program *k, const kcl_preconditioner *M, int which, bool adjoint,
                  const kcl_vec vec[3]) {
  const factored *F = M->data;
  const int sweeps = F->sweeps[which];
  const kcl_vec y = vec[0], x = vec[1], other = vec[2];
  kcl_matrix *N = kcl_precond_operator(M, which, adjoint);
  kcl_vec from = x;
  if (!sweeps) kcl_apply(k, y, N, x); /* y = (I + N)^-1 x */
  for (int s = sweeps; s > 0; s--) {
    const kcl_vec to = s % 2 ? y : other;
    kcl_apply(k, to, N, from);                     /* to = N from         */
    kcl_lincomb(k, to, KCL_ONE, x, KCL_MINUS, to); /* to = x - N from     */
    from = to;
  }
}

void kcl_factored_apply(kcl_program *k, const kcl_preconditioner *M, kcl_vec z, kcl_vec r,
                        bool adjoint_) {
  const factored *F = M->data;
  const int64_t n = k->vector[r].n;
  const bool adjoint = adjoint_ && !F->hermitian;
  const kcl_vec s = kcl_work(k, n, "s"), t = kcl_work(k, n, "t"), w = kcl_work(k, n, "w"),
                d = kcl_precond_constant(k, 0);
  kcl_vec from = r, to = adjoint && F->exchanged ? s : z;
  if (F->exchanged && !adjoint)
    kcl_apply(k, s, kcl_precond_operator(M, 2, false), r), from = s; /* s = P r             */
  solve(k, M, adjoint, adjoint, (kcl_vec[]){t, from, w});            /* t = (I + L)^-1 s    */
  kcl_times(k, t, d, t, adjoint);                                    /* t = D^-1 t          */
  solve(k, M, !adjoint, adjoint, (kcl_vec[]){to, t, w});             /* z = (I + U)^-1 t    */
  if (to == s) kcl_apply(k, z, kcl_precond_operator(M, 2, true), s); /* z = P^H s           */
}

/* ---------------------------------------------------------------- factoring */

static const double FIRST_SHIFT = 1e-3, LAST_SHIFT = 1;
static const double UNSTABLE = 1e10; /* |B| |M^-1 1|: elimination has run away */

/* Attempts, until there are factors: with A as it is, with rows exchanged, with larger and larger diagonals. */
typedef struct attempt {
  const kcl_csr *A; /* in wide values */
  kcl_factoring *factor;
  bool exchanges;
  kcl_matching m; /* once rows are exchanged */
  double shift;
  kcl_factors f;
  int64_t zero;  /* the row whose pivot vanishes, or -1 */
  double growth; /* |B| |M^-1 1|, of factors */
} attempt;

static int find_exchange(kcl_preconditioner *M, attempt *t) {
  int64_t alone;
  int rc = kcl_sparse_match(M->ctx, t->A, &t->m, &alone);
  if (rc || alone < 0) return rc;
  return kcl_fail(
      M->ctx, KCL_USAGE,
      "%s needs a nonzero for each row in a column of its own, and row %lld finds none: "
      "the matrix is singular",
      M->kind->name, (long long)alone + 1);
}

static int try_factors(kcl_preconditioner *M, attempt *t) {
  kcl_csr *B = NULL;
  int rc;
  kcl_factors_free(&t->f);
  if (t->exchanges && !t->m.row) KCL_TRY(find_exchange(M, t));
  KCL_TRY(kcl_factor_matrix(M->ctx, t->A, t->m.row ? &t->m : NULL, t->shift, &B));
  const double size = kcl_norm_inf(B->type, B->val, B->nnz);
  KCL_TRY(t->factor(M->ctx, B, &t->f, &t->zero));
  if (t->zero >= 0) goto done;
  KCL_TRY(kcl_factors_growth(M->ctx, &t->f, &t->growth));
  t->growth *= size;
done:
  kcl_csr_free(&B);
  return rc;
}

static bool good(const attempt *t) { return t->zero < 0 && t->growth <= UNSTABLE; }

static void prepare_next(attempt *t) {
  if (t->exchanges) t->shift = t->shift > 0 ? 10 * t->shift : FIRST_SHIFT;
  t->exchanges = true;
}

static int refuse(kcl_preconditioner *M, const attempt *t) {
  if (t->zero >= 0)
    return kcl_fail(M->ctx, KCL_USAGE,
                    "%s: the pivot of row %lld vanishes, also with a larger diagonal: use "
                    "--precond spai",
                    M->kind->name, (long long)t->zero + 1);
  return kcl_fail(M->ctx, KCL_USAGE,
                  "%s: elimination is unstable, also with a larger diagonal (M^-1 1 has an element "
                  "of %.1e): use --precond spai",
                  M->kind->name, t->growth);
}

int kcl_factored_setup(kcl_preconditioner *M, const kcl_csr *A, kcl_factoring *factor, double weak,
                       const char *what) {
  attempt t = {.factor = factor};
  kcl_csr *owned = NULL;
  char text[80];
  int rc;
  KCL_TRY(kcl_sparse_wide(M->ctx, A, &owned, &t.A));
  t.exchanges = weak > 0 && kcl_sparse_weak_diagonal(t.A, weak);
  KCL_TRY(try_factors(M, &t));
  while (!good(&t)) {
    if (t.shift >= LAST_SHIFT) KCL_TRY(refuse(M, &t));
    prepare_next(&t);
    KCL_TRY(try_factors(M, &t));
  }
  snprintf(text, sizeof text, t.shift > 0 ? "%s, diagonal + %g" : "%s", what, t.shift);
  rc = kcl_factored_keep(M, t.A, &t.f, t.m.row ? &t.m : NULL, text);
done:
  kcl_csr_free(&owned), kcl_factors_free(&t.f), kcl_matching_free(&t.m);
  return rc;
}
