/* kcl_solver_update: each KCL_KEEP_... keeps what it says. Nothing: the bits of a set-up. Choices: those of a set-up by the same choices.
 * The hierarchy: those of update_hierarchy. The preconditioner: M is the old one, also where its matrix is gone, scaled, or no longer
 * Hermitian. After a failure a solver is as it was.
 */
#include "solver/precond_object.h"
#include "tests/calls.h"
#include "tests/conform.h"
#include "tests/options.h"

typedef struct problem {
  const place *p;
  kcl_csr *A, *B; /* B: A's pattern, other values */
  double *b, *x;
} problem;

/* D A D, D between 1 and 1.5, and more on the diagonal. */
static kcl_csr *others(kcl_context *ctx, const kcl_csr *A) {
  kcl_csr *B = NULL;
  if (kcl_csr_convert(ctx, A, KCL_D, &B)) exit(1);
  double *v = B->val;
  for (int64_t i = 0; i < B->rows; i++)
    for (int64_t k = B->row_ptr[i]; k < B->row_ptr[i + 1]; k++) {
      v[k] *= (1 + 0.05 * (double)(i % 10)) * (1 + 0.05 * (double)(B->col[k] % 10));
      if (B->col[k] == i) v[k] *= 1.02;
    }
  return B;
}

static bool open_problem(const place *p, const char *name, problem *q) {
  *q = (problem){.p = p};
  if (!CHECKF(!kcl_generate(p->ctx, name, &q->A, NULL), "%s", kcl_error())) return false;
  q->B = others(p->ctx, q->A);
  q->b = malloc((size_t)q->A->rows * sizeof *q->b),
  q->x = malloc((size_t)q->A->rows * sizeof *q->x);
  for (int64_t i = 0; i < q->A->rows; i++) q->b[i] = 1 + (double)(i % 3);
  return true;
}

static void close_problem(problem *q) {
  free(q->b), free(q->x);
  kcl_csr_free(&q->A), kcl_csr_free(&q->B);
}

static kcl_options options_of(const char *solver, const char *precond) {
  kcl_options o = cg_options();
  o.solver = solver, o.precond = precond, o.format = "csr-scalar";
  return o;
}

static int64_t solve_problem(const problem *q, kcl_solver *s, const char *what) {
  kcl_report r = {0};
  memset(q->x, 0, (size_t)q->A->rows * sizeof *q->x);
  const int rc = kcl_solve_one(s, q->b, q->x, &r);
  CHECKF(!rc && r.converged, "%s on %s: %d, %s, %g, %s", what, q->p->name, rc,
         kcl_reason_text(r.reason), r.relative_residual, kcl_error());
  return r.iterations;
}

/* Two solvers take as many iterations, to the same bits. Both are freed. */
static void compare_solvers(const problem *q, kcl_solver **s, kcl_solver **t, const char *what) {
  const size_t n = (size_t)q->A->rows;
  double *x = malloc(n * sizeof *x);
  if (*s && *t) {
    const int64_t first = solve_problem(q, *s, what);
    memcpy(x, q->x, n * sizeof *x);
    const int64_t second = solve_problem(q, *t, what);
    CHECKF(first == second && !memcmp(x, q->x, n * sizeof *x),
           "%s on %s: %lld iterations, %lld, or other bits", what, q->p->name, (long long)first,
           (long long)second);
  }
  kcl_solver_free(s), kcl_solver_free(t), free(x);
}

static kcl_solver *set_up(const problem *q, const kcl_csr *A, const kcl_options *o) {
  kcl_solver *s = NULL;
  CHECKF(!kcl_setup(q->p->ctx, A, o, &s), "%s on %s: %s", o->precond, q->p->name, kcl_error());
  return s;
}

/* Set up for A, used, updated to B. */
static kcl_solver *updated(const problem *q, const kcl_options *o, int keep) {
  kcl_solver *s = set_up(q, q->A, o);
  if (!s) return NULL;
  solve_problem(q, s, o->precond);
  CHECKF(!kcl_update(s, q->B, keep), "%s on %s, keep %d: %s", o->precond, q->p->name, keep,
         kcl_error());
  return s;
}

static void test_keep(const problem *q, const char *precond) {
  const kcl_options o = options_of("cg", precond);
  kcl_solver *s = updated(q, &o, KCL_KEEP_NOTHING), *t = set_up(q, q->B, &o);
  compare_solvers(q, &s, &t, "keep nothing");
  s = updated(q, &o, KCL_KEEP_CHOICES), t = set_up(q, q->B, &o);
  compare_solvers(q, &s, &t, "keep choices");
  s = updated(q, &o, KCL_KEEP_HIERARCHY), t = set_up(q, q->A, &o);
  if (t) CHECK(!update_hierarchy(t, q->B));
  compare_solvers(q, &s, &t, "keep hierarchy");
}

/* The old M and B, as if M had been given; A is gone. Then updated, with the interpolation. */
static void test_keep_precond(const problem *q, const char *precond) {
  const kcl_options o = options_of("cg", precond);
  kcl_csr *A = NULL;
  kcl_precond *M = NULL;
  kcl_solver *s = NULL, *t = NULL;
  if (kcl_csr_convert(q->p->ctx, q->A, KCL_D, &A)) exit(1);
  if (!(s = set_up(q, A, &o))) goto done;
  solve_problem(q, s, precond);
  const kcl_preconditioner *then = s->selection.engine->M;
  CHECKF(!kcl_update(s, q->B, KCL_KEEP_PRECOND), "%s: %s", precond, kcl_error());
  CHECK(then && s->selection.engine->M == then && s->selection.engine->operators[0] != then->A);
  memset(A->val, 0xff, (size_t)A->nnz * sizeof(double));
  kcl_csr_free(&A);
  if (CHECK(!kcl_precond_make(q->p->ctx, q->A, &o, &M)))
    CHECKF(!kcl_setup_with(q->p->ctx, q->B, M, &o, &t), "%s", kcl_error());
  kcl_precond_free(&M);
  const int64_t old = solve_problem(q, s, precond);
  CHECKF(!kcl_update(s, q->B, KCL_KEEP_PRECOND), "again: %s", kcl_error());
  CHECK(s->selection.engine->M == then);
  CHECKF(solve_problem(q, s, precond) == old, "%s: kept twice", precond);
  const kcl_stored *P = then->kind->hierarchy ? then->matrix[0].C : NULL;
  kcl_solver *u = set_up(q, q->A, &o);
  if (u) CHECK(!kcl_update(u, q->B, KCL_KEEP_PRECOND));
  compare_solvers(q, &u, &t, precond);
  CHECKF(!update_hierarchy(s, q->B), "%s", kcl_error());
  CHECK(s->selection.engine->M != then || !s->selection.engine->M);
  if (P) CHECK(s->selection.engine->M->matrix[0].C == P);
  solve_problem(q, s, "updated");
done:
  kcl_csr_free(&A), kcl_precond_free(&M), kcl_solver_free(&s), kcl_solver_free(&t);
}

/* ---------------------------------------------------------------- where it is hard */

/* Values written over: M that multiplies by them is lost, others are not. Natively: a device has values of its own. */
static void test_in_place(const problem *q) {
  kcl_options o = options_of("cg", "amg");
  kcl_csr *A = NULL;
  kcl_solver *s = NULL;
  if (q->p->ctx->opencl) return;
  if (kcl_csr_convert(q->p->ctx, q->A, KCL_D, &A) || !(s = set_up(q, A, &o))) exit(1);
  const int64_t first = solve_problem(q, s, "amg");
  memcpy(A->val, q->B->val, (size_t)A->nnz * sizeof(double));
  const int rc = kcl_update(s, A, KCL_KEEP_PRECOND);
  CHECKF(rc == KCL_CHANGED && strstr(kcl_error(), "amg"), "%d, %s", rc, kcl_error());
  memcpy(A->val, q->A->val, (size_t)A->nnz * sizeof(double));
  CHECK(solve_problem(q, s, "as it was") == first);
  kcl_solver_free(&s);
  o.precond = "ic";
  if (!(s = set_up(q, A, &o))) exit(1);
  memcpy(A->val, q->B->val, (size_t)A->nnz * sizeof(double));
  CHECKF(!kcl_update(s, A, KCL_KEEP_PRECOND), "%s", kcl_error());
  solve_problem(q, s, "ic, in place");
  kcl_solver_free(&s), kcl_csr_free(&A);
}

/* ic of A serves gmres on a matrix that is not Hermitian, and cannot be set up for it. */
static void test_unsymmetric(const problem *q) {
  const kcl_options o = options_of("gmres", "ic");
  kcl_solver *s = set_up(q, q->A, &o);
  kcl_csr *C = others(q->p->ctx, q->A);
  ((double *)C->val)[1] *= 1.5, C->symmetry = KCL_GENERAL;
  if (!s) goto done;
  const int64_t first = solve_problem(q, s, "ic");
  const int rc = kcl_update(s, C, KCL_KEEP_CHOICES);
  CHECKF(rc == KCL_USAGE && strstr(kcl_error(), "Hermitian"), "%d, %s", rc, kcl_error());
  CHECK(solve_problem(q, s, "as it was") == first);
  CHECKF(!kcl_update(s, C, KCL_KEEP_PRECOND), "%s", kcl_error());
  solve_problem(q, s, "ic of a Hermitian matrix");
done:
  kcl_solver_free(&s), kcl_csr_free(&C);
}

/* Rows that differ by 10^8 are scaled; the new ones as the old ones. */
static void test_scaled(const problem *q) {
  kcl_options o = options_of("cg", "ic");
  kcl_csr *C = others(q->p->ctx, q->A), *D = others(q->p->ctx, q->A);
  double *v = C->val, *w = D->val;
  for (int64_t i = 1; i < C->rows; i += 2) q->b[i] *= 1e8;
  for (int64_t i = 0; i < C->rows; i++)
    for (int64_t k = C->row_ptr[i]; k < C->row_ptr[i + 1]; k++) {
      const double f = (i % 2 ? 1e8 : 1) * (C->col[k] % 2 ? 1e8 : 1);
      v[k] *= f, w[k] *= f * (i % 5 ? 1 : 3) * (C->col[k] % 5 ? 1 : 3);
    }
  kcl_solver *s = set_up(q, C, &o);
  if (!s) goto done;
  if (!CHECK(s->system.scaling.row)) goto done;
  solve_problem(q, s, "scaled");
  const kcl_preconditioner *M = s->selection.engine->M;
  const int power = s->system.scaling.row[1];
  CHECKF(!kcl_update(s, D, KCL_KEEP_PRECOND), "%s", kcl_error());
  CHECK(s->selection.engine->M == M && s->system.scaling.row && s->system.scaling.row[1] == power);
  solve_problem(q, s, "scaled, kept");
  for (int64_t i = 1; i < C->rows; i += 2) q->b[i] *= 1e-8;
  CHECKF(!kcl_update(s, q->B, KCL_KEEP_CHOICES), "%s", kcl_error());
  CHECK(!s->system.scaling.row);
  solve_problem(q, s, "not scaled any more");
done:
  kcl_solver_free(&s), kcl_csr_free(&C), kcl_csr_free(&D);
}

static void test_mixed(const problem *q) {
  kcl_options o = options_of("cg", "amg");
  o.mixed = true;
  kcl_solver *s = set_up(q, q->A, &o);
  if (!s) return;
  solve_problem(q, s, "mixed");
  const kcl_engine *e = s->mixed->selection.engine;
  const kcl_preconditioner *M = e ? e->M : NULL;
  CHECKF(!kcl_update(s, q->B, KCL_KEEP_PRECOND), "%s", kcl_error());
  e = s->mixed->selection.engine;
  CHECK(M && e && e->M == M);
  solve_problem(q, s, "mixed, kept");
  kcl_solver_free(&s);
}

/* By auto alone, with and without a preconditioner; and another matrix for KCL_KEEP_NOTHING alone. */
static void test_auto(const problem *q) {
  kcl_csr *other = NULL;
  kcl_solver *s = NULL;
  if (!CHECK(!kcl_setup(q->p->ctx, q->A, NULL, &s))) return;
  for (int keep = KCL_KEEP_NOTHING; keep <= KCL_KEEP_PRECOND; keep++) {
    CHECKF(!kcl_update(s, keep % 2 ? q->A : q->B, keep), "keep %d: %s", keep, kcl_error());
    solve_problem(q, s, "auto");
  }
  CHECK(kcl_update(s, q->A, -1) == KCL_USAGE && kcl_update(s, q->A, 4) == KCL_USAGE);
  CHECK(kcl_update(s, NULL, KCL_KEEP_NOTHING) == KCL_USAGE);
  CHECK(kcl_update(s, NULL, KCL_KEEP_PRECOND) == KCL_USAGE);
  CHECK(kcl_update(NULL, q->A, KCL_KEEP_NOTHING) == KCL_USAGE);
  if (kcl_generate(q->p->ctx, "poisson2d:10", &other, NULL)) exit(1);
  for (int keep = KCL_KEEP_CHOICES; keep <= KCL_KEEP_PRECOND; keep++)
    CHECK(kcl_update(s, other, keep) == KCL_USAGE && strstr(kcl_error(), "pattern"));
  solve_problem(q, s, "as it was");
  CHECKF(!kcl_update(s, other, KCL_KEEP_NOTHING), "%s", kcl_error());
  CHECK(s->system.A->rows == 100);
  kcl_solver_free(&s), kcl_csr_free(&other);
}

int main(void) {
  static const char *const precond[] = {"jacobi", "amg", "none", "chebyshev", "ic", "sa", "fsai"};
  open_places();
  for (int i = 0; i < place_count; i++) {
    problem q;
    const int kinds = quick(&places[i]) ? 2 : (int)(sizeof precond / sizeof *precond);
    if (!can(&places[i], KCL_D) || !open_problem(&places[i], "poisson2d:40", &q)) continue;
    for (int k = 0; k < kinds; k++) {
      test_keep(&q, precond[k]);
      if (strcmp(precond[k], "none")) test_keep_precond(&q, precond[k]);
    }
    test_in_place(&q);
    test_unsymmetric(&q);
    test_scaled(&q);
    if (!quick(&places[i])) test_mixed(&q);
    test_auto(&q);
    close_problem(&q);
  }
  close_places();
  return check_report();
}
