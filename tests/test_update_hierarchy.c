/* update_hierarchy: the same values give what a set-up gives, other values nearly so, whatever the preconditioner; what does not fit
 * is refused, and a solver that could not be updated is as it was.
 */
#include "solver/engine/engine.h"
#include "solver/precond/setup.h"
#include "solver/solver.h"
#include "tests/calls.h"
#include "tests/check.h"
#include "tests/filter.h"
#include "tests/options.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct problem {
  kcl_context *ctx;
  const char *where;
  kcl_csr *A;
  double *b, *x;
} problem;

static bool open_problem(kcl_context *ctx, const char *where, const char *system, problem *p) {
  *p = (problem){.ctx = ctx, .where = where};
  if (!CHECKF(!kcl_generate(ctx, system, &p->A, NULL), "%s", kcl_error())) return false;
  p->b = malloc((size_t)p->A->rows * sizeof *p->b),
  p->x = malloc((size_t)p->A->rows * sizeof *p->x);
  for (int64_t i = 0; i < p->A->rows; i++) p->b[i] = 1 + (double)(i % 3);
  return true;
}

static void close_problem(problem *p) { free(p->b), free(p->x), kcl_csr_free(&p->A); }

/* D A D with D between 1 and 1.2, and more on the diagonal: another matrix of the same kind. */
static kcl_csr *others(const problem *p) {
  kcl_csr *B = NULL;
  if (kcl_csr_convert(p->ctx, p->A, KCL_D, &B)) exit(1);
  double *v = B->val;
  for (int64_t i = 0; i < B->rows; i++)
    for (int64_t k = B->row_ptr[i]; k < B->row_ptr[i + 1]; k++) {
      v[k] *= (1 + 0.02 * (double)(i % 10)) * (1 + 0.02 * (double)(B->col[k] % 10));
      if (B->col[k] == i) v[k] *= 1.001;
    }
  return B;
}

static int64_t solve_problem(const problem *p, kcl_solver *s, const char *what) {
  kcl_report r = {0};
  for (int64_t i = 0; i < p->A->rows; i++) p->x[i] = 0;
  const int rc = kcl_solve_one(s, p->b, p->x, &r);
  CHECKF(!rc && r.converged, "%s on %s: %d, %s, %g, %s", what, p->where, rc,
         kcl_reason_text(r.reason), r.relative_residual, kcl_error());
  return r.iterations;
}

static double difference(const double *x, const double *y, int64_t n) {
  double off = 0, size = 0;
  for (int64_t i = 0; i < n; i++) off = fmax(off, fabs(x[i] - y[i])), size = fmax(size, fabs(y[i]));
  return off / size;
}

/* Refreshed, its interpolation with it: of multigrid, P and R of each level are those that were there. */
static void update_and_check(const problem *p, kcl_solver *s, const char *precond) {
  const kcl_preconditioner *M = s->selection.engine->M;
  const bool multigrid = M && M->kind->update;
  const int count = multigrid ? M->matrices : 0;
  const kcl_stored **then = calloc((size_t)count + 1, sizeof *then);
  int kept = 0;
  for (int i = 0; i < count; i++) then[i] = M->matrix[i].C;
  CHECKF(!update_hierarchy(s, p->A), "%s on %s: %s", precond, p->where, kcl_error());
  M = s->selection.engine->M;
  for (int i = 0; i < count && M->matrices == count; i++) kept += M->matrix[i].C == then[i];
  CHECKF(!multigrid || kept >= 2 * ((count - 1) / 3), "%s on %s: %d of %d matrices were kept",
         precond, p->where, kept, count);
  free(then);
}

/* s: set up for other values and not used before it is updated; t: set up for those of A, used, and updated with the same. */
static void test_values(const problem *p, const char *precond, bool exact) {
  const int64_t n = p->A->rows;
  kcl_csr *B = others(p);
  double *x = malloc((size_t)n * sizeof *x);
  kcl_solver *s = NULL, *t = NULL;
  kcl_options o = cg_options();
  o.precond = precond, o.tol = 1e-10;
  if (!CHECKF(!kcl_setup(p->ctx, B, &o, &s) && !kcl_setup(p->ctx, p->A, &o, &t), "%s: %s", precond,
              kcl_error()))
    goto done;
  const int64_t then = solve_problem(p, t, precond);
  memcpy(x, p->x, (size_t)n * sizeof *x);
  update_and_check(p, s, precond);
  int64_t now = solve_problem(p, s, precond);
  CHECKF(now <= then + then / 4 + 1 && difference(p->x, x, n) < 1e-7,
         "%s on %s: %lld iterations updated, %lld set up; x differs by %g", precond, p->where,
         (long long)now, (long long)then, difference(p->x, x, n));
  for (int again = 0; again < 2; again++) update_and_check(p, t, precond);
  now = solve_problem(p, t, precond);
  CHECKF(now <= then + 1 && difference(p->x, x, n) <= (exact ? 0 : 1e-9),
         "%s on %s: the same values took %lld iterations, %lld before, x differs by %g", precond,
         p->where, (long long)now, (long long)then, difference(p->x, x, n));
done:
  kcl_solver_free(&s), kcl_solver_free(&t), kcl_csr_free(&B), free(x);
}

/* Written in place; then refused until it is updated. */
static void test_in_place(const problem *p) {
  kcl_csr *B = others(p);
  kcl_solver *s = NULL;
  kcl_setup_info before, after;
  if (!CHECK(!kcl_setup(p->ctx, B, NULL, &s))) goto done;
  solve_problem(p, s, "auto");
  kcl_solver_info(s, &before);
  for (int64_t k = 0; k < B->nnz; k++) ((double *)B->val)[k] *= 2;
  CHECK(kcl_solve_one(s, p->b, p->x, NULL) == KCL_CHANGED);
  CHECKF(!update_hierarchy(s, B), "%s", kcl_error());
  solve_problem(p, s, "auto, updated");
  kcl_solver_info(s, &after);
  CHECKF(!strcmp(before.solver, after.solver) && !strcmp(before.precond, after.precond) &&
             after.programs_compiled == 0,
         "%s: %s + %s, updated %s + %s, %d programs compiled", p->where, before.solver,
         before.precond, after.solver, after.precond, after.programs_compiled);
done:
  kcl_solver_free(&s), kcl_csr_free(&B);
}

/* No longer Hermitian: "auto" takes another method, a method that was named is refused, and s is as it was. */
static void test_unsymmetric(const problem *p) {
  kcl_csr *B = others(p);
  kcl_solver *s = NULL;
  kcl_setup_info u;
  kcl_stats t;
  kcl_options o = cg_options();
  o.precond = "sa"; /* 17 iterations; without 11,000 */
  ((double *)B->val)[1] *= 3, B->symmetry = KCL_GENERAL;
  if (!CHECK(!kcl_setup(p->ctx, p->A, NULL, &s))) goto done;
  CHECKF(!update_hierarchy(s, B), "%s", kcl_error());
  kcl_solver_info(s, &u);
  CHECKF(strncmp(u.solver, "cg", 2), "%s of an unsymmetric matrix", u.solver);
  CHECKF(!kcl_csr_stats(p->ctx, B, &t) && s->system.stats.row_patterns == t.row_patterns,
         "%s: a format was chosen by the distinct rows of earlier values", p->where);
  solve_problem(p, s, "auto");
  kcl_solver_free(&s);
  if (!CHECK(!kcl_setup(p->ctx, p->A, &o, &s))) goto done;
  CHECK(update_hierarchy(s, B) == KCL_USAGE && strstr(kcl_error(), "cg"));
  solve_problem(p, s, "cg, not updated");
done:
  kcl_solver_free(&s), kcl_csr_free(&B);
}

/* ---------------------------------------------------------------- what is not done again */

static void change_upper(kcl_csr *B, double factor) {
  for (int64_t i = 0; i < B->rows; i++)
    for (int64_t k = B->row_ptr[i]; k < B->row_ptr[i + 1]; k++)
      if (B->col[k] > i) ((double *)B->val)[k] *= factor;
}

/* Rows that were equal and are so again: distinct rows alone are counted, and a symmetry that is lost is still seen. */
static void test_repeating_rows(const problem *p) {
  kcl_csr *B = NULL;
  kcl_solver *s = NULL;
  kcl_setup_info u;
  if (!CHECK(!kcl_csr_convert(p->ctx, p->A, KCL_D, &B) && !kcl_setup(p->ctx, B, NULL, &s)))
    goto done;
  CHECKF(s->system.repeated.run, "%s: runs of rows were not kept", p->where);
  for (int64_t k = 0; k < B->nnz; k++) ((double *)B->val)[k] *= 3;
  CHECKF(!update_hierarchy(s, B), "%s", kcl_error());
  CHECKF(s->system.repeated.run && s->system.repeated.found.A == s->system.A &&
             s->system.stats.norm_inf == 24 && s->system.stats.symmetric,
         "%s: rows were compared with all others again", p->where);
  solve_problem(p, s, "rows that repeat");
  change_upper(B, 0.9);
  CHECK(update_hierarchy(s, B) == KCL_USAGE && strstr(kcl_error(), "declared symmetric"));
  B->symmetry = KCL_GENERAL;
  CHECKF(!update_hierarchy(s, B) && s->system.repeated.run, "%s", kcl_error());
  kcl_solver_info(s, &u);
  CHECKF(strncmp(u.solver, "cg", 2), "%s of an unsymmetric matrix", u.solver);
  solve_problem(p, s, "rows that repeat, not symmetric");
done:
  kcl_solver_free(&s), kcl_csr_free(&B);
}

/* Values that repeat are counted again for a format that stores each once, and for no other. A format that new values do not suit
 * is replaced. */
static void test_repeats(const problem *p) {
  kcl_csr *B = others(p);
  kcl_solver *s = NULL;
  kcl_options o = cg_options();
  if (!CHECK(!kcl_setup(p->ctx, p->A, NULL, &s))) goto done;
  const kcl_format *f = s->selection.engine->operators[0]->format;
  const int64_t few = s->system.stats.row_patterns;
  CHECKF(f->counts_repeats, "%s: %s was chosen, which has no use for rows that repeat", p->where,
         f->name);
  CHECKF(!update_hierarchy(s, B) && s->system.stats.row_patterns > few, "%s", kcl_error());
  solve_problem(p, s, "rows that do not repeat");
  kcl_solver_free(&s);
  o.format = "csr-scalar";
  if (!CHECK(!kcl_setup(p->ctx, B, &o, &s))) goto done;
  const int64_t many = s->system.stats.row_patterns;
  CHECKF(!update_hierarchy(s, p->A) && s->system.stats.row_patterns == many,
         "%s: distinct rows were counted for %s", p->where, o.format);
  solve_problem(p, s, "values that repeat");
done:
  kcl_solver_free(&s), kcl_csr_free(&B);
}

/* A's values as the solver has stored them. */
static const kcl_array *stored_values(const kcl_solver *s) {
  const kcl_stored *m = s->selection.engine->operators[0];
  for (int i = 0; i < m->arrays; i++)
    if (!strcmp(m->array[i].name, "val")) return &m->array[i];
  return NULL;
}

static bool same_values(const kcl_solver *s, const kcl_solver *t) {
  const kcl_array *a = stored_values(s), *b = stored_values(t);
  return a->count == b->count && !memcmp(a->data, b->data, (size_t)a->count * sizeof(double));
}

/* Leaves a third of the couplings out, so that rows are at other offsets than those before them. */
static void thin_out(kcl_csr *A) {
  int64_t kept = 0;
  for (int64_t i = 0, k = 0; i < A->rows; i++) {
    for (const int64_t end = A->row_ptr[i + 1]; k < end; k++)
      if (i == A->col[k] || (i + A->col[k]) % 3)
        A->col[kept] = A->col[k], ((double *)A->val)[kept++] = ((double *)A->val)[k];
    A->row_ptr[i + 1] = kept;
  }
  A->nnz = kept;
}

/* Natively values go into the arrays that are there, whether rows form runs or not, and are those of a set-up; values that are refused
 * do not get there. */
static void test_refill(const problem *p, bool thin) {
  kcl_csr *A[3] = {others(p), others(p), others(p)}; /* earlier values, others, not finite */
  kcl_solver *s = NULL, *t = NULL;
  kcl_options o = cg_options();
  o.format = "cds", o.precond = "jacobi";
  for (int i = 0; i < 3 && thin; i++) thin_out(A[i]);
  for (int64_t k = 0; k < A[0]->nnz; k++) ((double *)A[0]->val)[k] *= 3;
  ((double *)A[2]->val)[A[2]->nnz / 2] = NAN;
  if (!CHECKF(!kcl_setup(p->ctx, A[0], &o, &s) && !kcl_setup(p->ctx, A[1], &o, &t), "%s",
              kcl_error()))
    goto done;
  const void *at = stored_values(s)->data;
  CHECK(update_hierarchy(s, A[2]) == KCL_INPUT && stored_values(s)->data == at &&
        !same_values(s, t));
  solve_problem(p, s, "after values that are not finite");
  for (int again = 0; again < 2; again++)
    CHECKF(!update_hierarchy(s, A[1]) && stored_values(s)->data == at && same_values(s, t),
           "%s: other values than a set-up stores, or elsewhere", p->where);
  CHECK(kcl_offset_runs_listed(s->system.runs) != thin);
  solve_problem(p, s, "after a refill");
done:
  kcl_solver_free(&s), kcl_solver_free(&t);
  for (int i = 0; i < 3; i++) kcl_csr_free(&A[i]);
}

/* An updated engine has the vectors of the one before, dirty as they are, and the bits of a new one. */
static void test_vectors(const problem *p, const char *method) {
  const size_t size = (size_t)p->A->rows * sizeof *p->x;
  kcl_options o = kcl_defaults;
  kcl_solver *s = NULL;
  kcl_report first = {0}, then = {0};
  double *x = calloc((size_t)p->A->rows, sizeof *x);
  o.solver = method, o.precond = "none", o.max_iter = 60;
  if (!CHECKF(!kcl_setup(p->ctx, p->A, &o, &s), "%s: %s", method, kcl_error())) goto done;
  kcl_engine *e = s->selection.engine;
  const void *b = e->executor.memory(&e->executor, e->program->b);
  memset(p->x, 0, size);
  CHECK(!kcl_solve_one(s, p->b, x, &first) && !update_hierarchy(s, p->A));
  e = s->selection.engine;
  CHECKF(e->executor.memory(&e->executor, e->program->b) == b, "%s: other vectors", method);
  CHECK(!kcl_solve_one(s, p->b, p->x, &then));
  CHECKF(first.iterations == then.iterations && !memcmp(x, p->x, size),
         "%s: other bits after an update, %lld and %lld iterations", method,
         (long long)first.iterations, (long long)then.iterations);
done:
  kcl_solver_free(&s), free(x);
}

/* Where another method is chosen, so is a format, by the values that there are now. */
static void test_choice_anew(const problem *p) {
  kcl_csr *B = NULL, *C = NULL;
  kcl_solver *s = NULL;
  kcl_stats t;
  if (!CHECK(!kcl_csr_convert(p->ctx, p->A, KCL_D, &B) &&
             !kcl_csr_convert(p->ctx, p->A, KCL_D, &C)))
    goto done;
  for (int64_t i = 0; i < B->rows; i++)
    for (int64_t k = B->row_ptr[i]; k < B->row_ptr[i + 1]; k++)
      ((double *)B->val)[k] *= (1 + 1e-5 * (double)i) * (1 + 1e-5 * (double)B->col[k]);
  change_upper(C, 0.9), C->symmetry = KCL_GENERAL;
  if (!CHECKF(!kcl_setup(p->ctx, B, NULL, &s), "%s", kcl_error())) goto done;
  CHECKF(!update_hierarchy(s, C) && !kcl_csr_stats(p->ctx, C, &t), "%s", kcl_error());
  CHECKF(s->system.stats.row_patterns == t.row_patterns, "%s: %lld distinct rows instead of %lld",
         p->where, (long long)s->system.stats.row_patterns, (long long)t.row_patterns);
done:
  kcl_solver_free(&s), kcl_csr_free(&B), kcl_csr_free(&C);
}

static void test_work(kcl_context *ctx, const char *where) {
  problem p;
  if (!open_problem(ctx, where, "poisson2d:130", &p)) return;
  test_repeating_rows(&p), test_repeats(&p), test_choice_anew(&p);
  for (int i = 0; i < kcl_method_count && !strcmp(where, "cpu"); i++)
    test_vectors(&p, kcl_method_at(i)->name);
  close_problem(&p);
}

static void refused(kcl_solver *s, const kcl_csr *B, const char *word) {
  CHECKF(update_hierarchy(s, B) == KCL_USAGE && strstr(kcl_error(), word), "%s: %s", word,
         kcl_error());
}

static void test_refusals(const problem *p) {
  kcl_csr *B = NULL, *small = NULL, *single = NULL;
  kcl_solver *s = NULL;
  kcl_operator *op = NULL;
  CHECK(!kcl_setup(p->ctx, p->A, NULL, &s) && !kcl_csr_convert(p->ctx, p->A, KCL_D, &B) &&
        !kcl_csr_convert(p->ctx, p->A, KCL_S, &single) &&
        !kcl_generate(p->ctx, "poisson2d:4", &small, NULL));
  refused(s, small, "16 x 16");
  refused(s, single, "type d");
  B->col[0]++, B->col[1]++; /* row 0: columns 1 and 2 */
  refused(s, B, "column indices");
  CHECK(update_hierarchy(NULL, B) == KCL_USAGE && update_hierarchy(s, NULL) != KCL_OK);
  solve_problem(p, s, "after refusals");
  kcl_solver_free(&s);
  CHECK(!kcl_operator_create(p->ctx, p->A, NULL, &op) && !kcl_operator_setup(op, NULL, &s));
  refused(s, p->A, "operator");
  kcl_solver_free(&s), kcl_operator_free(&op);
  kcl_csr_free(&B), kcl_csr_free(&small), kcl_csr_free(&single);
}

/* On devices, where kernels are compiled, those that keep something: by default one of two in each layout. */
static void test_place(kcl_context *ctx, const char *where, bool gpu_layout) {
  static const char *const preconds[] = {
      "amg", "sa", "amg-aggressive", "fsai", "none", "block-jacobi", "chebyshev", "jacobi", "ic"};
  const bool native = !strcmp(where, "cpu");
  const size_t count = sizeof preconds / sizeof *preconds;
  problem p;
  if (!open_problem(ctx, where, "jump2d:70", &p)) return;
  const bool fewer = !native && !thorough();
  for (size_t i = 0; i < (native ? count : 2); i++)
    if (!fewer || i == gpu_layout) test_values(&p, preconds[i], native);
  if (!fewer || !gpu_layout) test_in_place(&p), test_unsymmetric(&p), test_refusals(&p);
  for (int thin = 0; native && thin < 2; thin++) test_refill(&p, thin);
  close_problem(&p);
}

/* P of sa has entries that cancel, which a format with padding leaves out when it is read. Only of a system this large, half a
 * minute on a CPU device: with KRYLOCL_THOROUGH=2. */
static void test_zeros(kcl_context *ctx, const char *where) {
  problem p;
  if (thorough() < 2) {
    skip("an update of P with entries that cancel: with KRYLOCL_THOROUGH=2");
    return;
  }
  if (!open_problem(ctx, where, "jump3d:40", &p)) return;
  test_values(&p, "sa", false);
  close_problem(&p);
}

int main(void) {
  static const char *const devices[] = {"cpu", "opencl", "opencl"};
  for (int i = 0; i < 3; i++) {
    kcl_context *ctx;
    if (i == 2) setenv("KRYLOCL_LAYOUT", "gpu", 1);
    if (!CHECK(!kcl_context_create(NULL, 0, &ctx))) return check_report();
    if (kcl_select(ctx, devices[i], 0))
      skip("%s: %s", devices[i], kcl_error());
    else if (i < 2)
      test_place(ctx, devices[i], false), test_work(ctx, devices[i]);
    else
      test_place(ctx, "opencl, as a GPU", true), test_zeros(ctx, "opencl, as a GPU");
    kcl_context_free(&ctx);
  }
  return check_report();
}
