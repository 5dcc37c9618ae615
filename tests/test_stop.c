/* Stopping a solve where another library computes: the call is abandoned within a second, what was computed is handed out,
 * and the report says interrupted.
 */
#include "core/base/context.h"
#include "tests/check.h"
#include "tests/tol.h"
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void pause_ms(int ms) {
  nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, NULL);
}

/* ---------------------------------------------------------------- one call */

static atomic_bool may_end, released;
static int asked;

static void until_told(void *self) {
  while (!may_end) pause_ms(1);
  *(int *)self = 7;
}
static void release(void *self) { (void)self, released = true; }
static int yes(void *self) { return (void)self, ++asked; }
static int not_yet(void *self) {
  (void)self;
  may_end = ++asked == 3;
  return 0;
}

static void test_call(void) {
  static int result; /* outlives an abandoned call */
  kcl ctx = {.ask = yes, .asks = pthread_self()};
  double begin = kcl_now();
  CHECK(!kcl_run_stoppable(&ctx, until_told, release, &result) && ctx.stopped && asked == 1);
  CHECKF(kcl_now() - begin < 1, "%g s", kcl_now() - begin);
  CHECK(!released && result == 0);
  may_end = true;
  for (int i = 0; i < 5000 && !released; i++) pause_ms(1);
  CHECK(released && result == 7);
  released = false;
  result = 0; /* stopped already: not even begun */
  CHECK(!kcl_run_stoppable(&ctx, until_told, release, &result) && released && asked == 1);
  CHECK(result == 0);

  released = false;
  may_end = false;
  asked = 0;
  result = 0;
  kcl patient = {.ask = not_yet, .asks = pthread_self()};
  CHECK(kcl_run_stoppable(&patient, until_told, release, &result) && asked == 3);
  CHECK(result == 7 && !released && !patient.stopped);
  kcl plain = {.ask = NULL};
  result = 0;
  CHECK(kcl_run_stoppable(&plain, until_told, release, &result) && result == 7);
}

/* ---------------------------------------------------------------- at the end of the process */

static atomic_bool late_ended;
static void end_late(void *self) { (void)self, pause_ms(500), late_ended = true; }
static void nothing(void *self) { (void)self; }

/* As of a library that was loaded after other calls had been abandoned. */
static void take_down(void) {
  if (late_ended) return;
  puts("FAIL a library is taken down while an abandoned call of it runs");
  fflush(stdout), _exit(1);
}

static void test_exit(void) {
  kcl ctx = {.ask = yes, .asks = pthread_self()};
  CHECK(!atexit(take_down));
  CHECK(!kcl_run_stoppable(&ctx, end_late, nothing, NULL) && !late_ended);
}

/* ---------------------------------------------------------------- in a solve */

enum { SIDE = 20, GRID = SIDE * SIDE * SIDE, CHAIN = 200, SIZE = GRID + CHAIN };

/* A grid, whose factors fill, beside a chain of 1 and 2 that no method solves. */
static kcl_csr *hard(kcl *ctx) {
  const int step[] = {-SIDE * SIDE, -SIDE, -1, 0, 1, SIDE, SIDE * SIDE};
  kcl_csr *A = NULL;
  if (kcl_csr_create(ctx, SIZE, SIZE, 7 * SIZE, KCL_D, &A)) exit(1);
  double *val = A->val;
  int64_t k = 0;
  for (int i = 0; i < GRID; i++, A->row_ptr[i] = k)
    for (int d = 0; d < 7; d++) {
      int j = i + step[d];
      if (j < 0 || j >= GRID) continue;
      A->col[k] = j, val[k++] = d == 3 ? 6 : d < 3 ? -1 : -0.9;
    }
  for (int i = GRID; i < SIZE; i++, A->row_ptr[i] = k) {
    A->col[k] = i, val[k++] = 1;
    if (i + 1 < SIZE) A->col[k] = i + 1, val[k++] = 2;
  }
  A->nnz = k;
  return A;
}

typedef struct stop {
  const char *at; /* the activity at which the user stops the solve */
  int after;      /* how many of them */
  double when;    /* 0: not yet */
} stop;

static void watch(void *user, const kcl_activity *a) {
  stop *s = user;
  if (a->what && !strcmp(a->what, s->at) && s->after-- == 0) s->when = kcl_now();
}

static int progress(void *user, const kcl_progress *p) {
  (void)p;
  return ((stop *)user)->when > 0;
}

/* x is finite, what the report says it is, and no worse than 0; or of the last iteration, where a method ran again before the stop
 * was seen. */
static void check_x(const kcl_csr *A, const double *b, const double *x, const kcl_report *r) {
  kcl_certificate c;
  CHECK(!kcl_certify(NULL, A, b, x, &c));
  CHECKF((c.relative_residual <= 1 || r->x_iteration == r->iterations) &&
             c.relative_residual == r->true_relative_residual,
         "%g, %g", c.relative_residual, r->true_relative_residual);
  CHECKF(r->x_iteration <= r->iterations, "%lld", (long long)r->x_iteration);
}

static void test_solve(const char *device, const char *at, const char *format) {
  kcl *ctx = NULL;
  kcl_solver *solver = NULL;
  kcl_report r;
  kcl_options o = kcl_defaults;
  static double b[SIZE], x[SIZE];
  if (kcl_create(&ctx)) exit(1);
  if (kcl_select(ctx, device, 0)) {
    skip("stopped while %s on %s: %s", at, device, kcl_error(ctx));
    kcl_destroy(&ctx);
    return;
  }
  kcl_csr *A = hard(ctx);
  for (int i = 0; i < SIZE; i++) b[i] = 1 + i % 3, x[i] = 0;
  stop s = {.at = at};
  o.format = format, o.progress = progress, o.user = &s;
  CHECKF(!kcl_setup(ctx, A, &o, &solver), "%s", kcl_error(ctx));
  kcl_watch(ctx, watch, &s);
  CHECKF(!kcl_solve(solver, b, x, &r), "%s", kcl_error(ctx));
  CHECKF(s.when > 0 && kcl_now() - s.when < 1, "%s, %s: ended after %g s", device, at,
         kcl_now() - s.when);
  CHECKF(r.reason == KCL_INTERRUPTED && !r.converged && r.iterations > 100, "%s, %s: %s", device,
         at, kcl_reason_text(r.reason));
  check_x(A, b, x, &r);
  kcl_solver_free(&solver), kcl_csr_free(&A), kcl_destroy(&ctx);
}

int main(void) {
  test_call();
  if (kcl_direct_available())
    test_solve("cpu", "factorising", "csr-scalar");
  else
    skip("factorising: built without SuiteSparse");
  char option[64]; /* not compiled before: no cache has it */
  snprintf(option, sizeof option, "-cl-opt-disable -DUNUSED=%lld", (long long)time(NULL));
  setenv("KRYLOCL_OPTIONS", option, 1), setenv("KRYLOCL_CACHE", "", 1);
  test_solve("opencl", "compiling kernels", "csr-scalar");
  test_exit();
  return check_report();
}
