/* Series of stages in one launch (core/opencl/series/series.c): as many iterations as with a launch per stage, in every type and with
 * several right-hand sides, in few launches; with the option guard, too, where levels share functions but have sizes of their own; a
 * group that does not come to a barrier; stages that are too large; programs that systems share; a bit that flips in the table of stages.
 */
#include "solver/solver.h"
#include "tests/calls.h"
#include "tests/conform.h"
#include "tests/options.h"

#ifdef KCL_NO_OPENCL
int main(void) {
  skip("series: this build is without OpenCL");
  return check_report();
}
#else
#include "core/opencl/run/run.h"

typedef struct outcome {
  int64_t iterations;
  int launches, stages; /* of a pass over LOOP */
  double off;           /* of x from 1, at most */
} outcome;

typedef struct job {
  const char *kind, *precond, *method;
  kcl_type precision;
  int nrhs;
  bool guard;
} job;

static const kcl_run *run_of(const kcl_solver *s) { return s->selection.engine->executor.data; }

static void count_launches(const kcl_run *r, outcome *out) {
  const int stages = r->k->stages[KCL_LOOP];
  out->stages = stages, out->launches = 0;
  for (int i = 0; i < stages; i += r->launch[KCL_LOOP][i].stages) out->launches++;
}

/* A x = A 1, up to a factor per right-hand side, in double. series: the variable KRYLOCL_SERIES. */
static outcome solve_job(kcl_context *ctx, const job *j, const char *series) {
  kcl_csr *A = NULL;
  kcl_solver *s = NULL;
  kcl_report r[KCL_MAX_NRHS] = {{0}};
  kcl_options o = cg_options();
  outcome out = {.off = 0};
  o.solver = j->method, o.precond = j->precond, o.format = "csr-scalar", o.nrhs = j->nrhs,
  o.guard = j->guard;
  o.precision = j->precision, o.tol = j->precision == KCL_S || j->precision == KCL_C ? 1e-4 : 1e-9;
  setenv("KRYLOCL_SERIES", series, 1);
  if (!CHECKF(!kcl_generate(ctx, j->kind, &A, NULL), "%s", kcl_error())) return out;
  const int64_t n = A->rows;
  const size_t size = kcl_type_size(A->type);
  char *b = calloc((size_t)(n * j->nrhs), size), *x = calloc((size_t)(n * j->nrhs), size);
  number *one = filled(n, 1), *image = filled(n, 0);
  double *typed = calloc((size_t)n, size);
  kcl_copy(A->type, typed, KCL_Z, one, n, 1);
  for (int c = 0; c < j->nrhs; c++)
    kcl_csr_product(A, typed, NULL, (void *)(b + (size_t)(c * n) * size));
  if (CHECKF(!kcl_setup(ctx, A, &o, &s) && !kcl_solve_many(s, j->nrhs, b, x, r) && r->converged,
             "%s, %s, type %c: %s", j->kind, j->precond, kcl_type_letter(j->precision),
             kcl_error()))
    count_launches(run_of(s), &out), out.iterations = r->iterations;
  CHECKF(!r->guard_errors, "%s, %s: the guard found %lld errors", j->kind, j->precond,
         (long long)r->guard_errors);
  kcl_copy(KCL_Z, image, A->type, x + (size_t)((j->nrhs - 1) * n) * size, n, 1);
  for (int64_t i = 0; i < n; i++) out.off = fmax(out.off, cabs(image[i] - 1));
  free(b), free(x), free(one), free(image), free(typed), kcl_solver_free(&s), kcl_csr_free(&A);
  return out;
}

static void test_job(kcl_context *ctx, const job *j) {
  const bool levels = !strcmp(j->precond, "amg"); /* some of them are small */
  const outcome apart = solve_job(ctx, j, "0"), all = solve_job(ctx, j, "1000000000"),
                some = levels ? solve_job(ctx, j, "60000") : all;
  CHECKF(apart.launches == apart.stages && all.launches < apart.launches,
         "%s: %d stages, %d launches without series, %d with", j->precond, apart.stages,
         apart.launches, all.launches);
  CHECKF(!levels || (3 * all.launches < apart.launches + 6 && some.launches >= all.launches &&
                     some.launches < apart.launches),
         "%s: %d launches, small stages in series %d", j->precond, all.launches, some.launches);
  CHECKF(llabs((long long)(all.iterations - apart.iterations)) <= 1 &&
             llabs((long long)(some.iterations - apart.iterations)) <= 1 && apart.iterations > 2,
         "%s of %s, type %c: %lld iterations, in series %lld, some %lld", j->precond, j->kind,
         kcl_type_letter(j->precision), (long long)apart.iterations, (long long)all.iterations,
         (long long)some.iterations);
  CHECKF(all.off <= 10 * apart.off + 1e-6, "%s: off by %g, in series %g", j->precond, apart.off,
         all.off);
}

static bool reopen(place *p, const char *layout, const char *options) {
  setenv("KRYLOCL_LAYOUT", layout, 1), setenv("KRYLOCL_OPTIONS", options, 1);
  kcl_context_free(&p->ctx);
  return CHECK(!kcl_context_create(NULL, 0, &p->ctx) && !kcl_select(p->ctx, p->name, 0));
}

/* Two groups of which one is waited for in vain: one launch per stage. */
static void test_missing(kcl_context *ctx) {
  const job j = {"poisson2d:24", "amg", "cg", KCL_D, 1, false};
  const outcome o = solve_job(ctx, &j, "1000000000");
  CHECKF(o.launches == o.stages && o.iterations > 2, "%d stages, %d launches, %lld iterations",
         o.stages, o.launches, (long long)o.iterations);
}

/* Another system with levels of the same kinds needs no program that the first did not. */
static void test_second_system(kcl_context *ctx) {
  static const job first = {"poisson2d:40", "amg", "cg", KCL_D, 1, false},
                   second = {"poisson3d:14", "amg", "cg", KCL_D, 1, false},
                   third = {"jump2d:30", "amg", "cg", KCL_D, 1, false};
  const int before = ctx->opencl->builds;
  const outcome a = solve_job(ctx, &first, "1000000000");
  const int needed = ctx->opencl->builds;
  const outcome b = solve_job(ctx, &second, "1000000000"), c = solve_job(ctx, &third, "1000000000");
  CHECKF(needed > before && ctx->opencl->builds == needed, "%d programs, then %d more",
         needed - before, ctx->opencl->builds - needed);
  CHECKF(a.launches < a.stages && b.launches < b.stages && c.launches < c.stages,
         "%d, %d and %d launches", a.launches, b.launches, c.launches);
}

/* The last byte of a table: the size of an array that csr-scalar does not have. */
static void flip_table(const kcl_run *r) {
  kcl_buffer_place where;
  unsigned char byte;
  kcl_describe_buffer(r->k->ctx, r->series.table, &where);
  CHECK(!kcl_read_bytes(r->k->ctx, r->series.table, where.bytes - 1, 1, &byte));
  byte ^= 1;
  CHECK(!kcl_write_bytes(r->k->ctx, r->series.table, where.bytes - 1, 1, &byte));
}

static int flip_table_once(void *user, const kcl_progress *p) {
  kcl_solver **s = user;
  if (*s && p->iteration > 0) flip_table(run_of(*s)), *s = NULL;
  return 0;
}

static void test_damaged_table(kcl_context *ctx) {
  kcl_csr *A = NULL;
  kcl_dense *b = NULL;
  kcl_solver *s = NULL, *flips = NULL;
  kcl_report r;
  kcl_options o = cg_options();
  o.precond = "amg", o.format = "csr-scalar", o.guard = 1;
  setenv("KRYLOCL_SERIES", "1000000000", 1);
  if (!CHECK(!kcl_generate(ctx, "poisson2d:40", &A, &b) && !kcl_setup(ctx, A, &o, &s)) || !s)
    return;
  double *x = calloc((size_t)A->rows, sizeof *x);
  flips = s;
  const kcl_call call = {.size = sizeof call, .progress = flip_table_once, .user = &flips};
  CHECKF(run_of(s)->series.table && !kcl_solve_call(s, &call, 1, b->val, x, &r), "%s", kcl_error());
  CHECKF(!flips && r.converged && r.guard_errors == 1, "%lld errors, %s", (long long)r.guard_errors,
         kcl_reason_text(r.reason));
  free(x), kcl_solver_free(&s), kcl_csr_free(&A), kcl_dense_free(&b);
}

int main(void) {
  static const job jobs[] = {{"poisson2d:40", "amg", "cg", KCL_D, 1, false},
                             {"poisson2d:24", "amg", "cg", KCL_S, 3, false},
                             {"convection:20", "amg", "idr", KCL_D, 1, false},
                             {"poisson2d:40", "amg", "cg", KCL_D, 1, true},
                             {"convection:20", "amg", "bicgstab", KCL_D, 1, true},
                             {"magnetic:20", "chebyshev", "cg", KCL_Z, 1, false},
                             {"magnetic:20", "chebyshev", "cg", KCL_C, 2, false}};
  setenv("KRYLOCL_PERSISTENT", "0", 1); /* it has no launches of stages */
  open_places();
  for (int i = 0; i < place_count; i++) {
    if (!places[i].ctx->opencl || !reopen(&places[i], "gpu", "-cl-opt-disable")) continue;
    for (size_t j = 0; j < sizeof jobs / sizeof *jobs; j++)
      if (can(&places[i], jobs[j].precision)) test_job(places[i].ctx, &jobs[j]);
    if (can(&places[i], KCL_D) && reopen(&places[i], "gpu", "-cl-opt-disable"))
      test_second_system(places[i].ctx), test_damaged_table(places[i].ctx);
    if (can(&places[i], KCL_D) && reopen(&places[i], "gpu:2", "-cl-opt-disable -DPATIENCE=0"))
      test_missing(places[i].ctx);
  }
  close_places();
  return check_report();
}
#endif
