/* Stopping a solve where another library computes: the call is abandoned at the first question, what was computed is handed out,
 * and the report says interrupted. The functions of other libraries are this program's: they do not return before the solve has.
 */
#include "core/base/context.h"
#include "core/opencl/device/cl.h"
#include "tests/calls.h"
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
  kcl_context ctx = {.ask = yes, .asks = pthread_self()};
  CHECK(!kcl_run_stoppable(&ctx, until_told, release, &result) && ctx.stopped && asked == 1);
  CHECK(!released && result == 0);
  may_end = true;
  for (int i = 0; i < 1000 * HANG && !released; i++) pause_ms(1);
  CHECK(released && result == 7);
  released = false;
  result = 0; /* stopped already: not even begun */
  CHECK(!kcl_run_stoppable(&ctx, until_told, release, &result) && released && asked == 1);
  CHECK(result == 0);

  released = false;
  may_end = false;
  asked = 0;
  result = 0;
  kcl_context patient = {.ask = not_yet, .asks = pthread_self()};
  CHECK(kcl_run_stoppable(&patient, until_told, release, &result) && asked == 3);
  CHECK(result == 7 && !released && !patient.stopped);
  kcl_context plain = {.ask = NULL};
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
  kcl_context ctx = {.ask = yes, .asks = pthread_self()};
  CHECK(!atexit(take_down));
  CHECK(!kcl_run_stoppable(&ctx, end_late, nothing, NULL) && !late_ended);
}

/* ---------------------------------------------------------------- other libraries */

static atomic_bool held, may_return, returned;

/* Until the solve has ended, which never comes if the call is waited for. */
static void hold(void) {
  for (int i = 0; i < 1000 * HANG && !may_return; i++) pause_ms(1);
  returned = true;
}

#ifndef KCL_NO_OPENCL
static __typeof__(clBuildProgram) driver_build;
static cl_int hold_build(cl_program p, cl_uint count, const cl_device_id *devices,
                         const char *options, void (*notify)(cl_program, void *), void *user) {
  if (held) hold();
  return held ? CL_OUT_OF_HOST_MEMORY : driver_build(p, count, devices, options, notify, user);
}
#endif

static void replace_build(void) {
#ifndef KCL_NO_OPENCL
  kcl_cl_load(), driver_build = clBuildProgram, clBuildProgram = hold_build;
#endif
}

#ifdef HAVE_CHOLMOD
int64_t umfpack_dl_symbolic(int64_t rows, int64_t cols, const int64_t *p, const int64_t *i,
                            const double *val, void **symbolic, const double *control,
                            double *info) {
  (void)rows, (void)cols, (void)p, (void)i, (void)val, (void)symbolic, (void)control, (void)info;
  if (held) hold();
  return -1; /* out of memory */
}
#endif

/* ---------------------------------------------------------------- in a solve */

enum { SIDE = 20, GRID = SIDE * SIDE * SIDE, CHAIN = 200, SIZE = GRID + CHAIN };

/* A grid, whose factors fill, beside a chain of 1 and 2 that no method solves. */
static kcl_csr *hard(kcl_context *ctx) {
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
  bool wanted;
  int polls; /* since then */
} stop;

static void watch(void *user, const kcl_activity *a) {
  stop *s = user;
  if (a->what && !strcmp(a->what, s->at)) s->wanted = true, held = true;
}

static int progress(void *user, const kcl_progress *p) {
  stop *s = user;
  (void)p;
  s->polls += s->wanted;
  return s->wanted;
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

static void test_solve(const char *device, const char *at, const char *solver_name) {
  const bool direct = !strcmp(solver_name, "direct");
  kcl_context *ctx = NULL;
  kcl_solver *solver = NULL;
  kcl_report r;
  kcl_options o = kcl_defaults;
  static double b[SIZE], x[SIZE];
  if (kcl_context_create(NULL, 0, &ctx)) exit(1);
  if (kcl_select(ctx, device, 0)) {
    skip("stopped while %s on %s: %s", at, device, kcl_error());
    kcl_context_free(&ctx);
    return;
  }
  kcl_csr *A = hard(ctx);
  for (int i = 0; i < SIZE; i++) b[i] = 1 + i % 3, x[i] = 0;
  stop s = {.at = at};
  held = may_return = returned = false;
  o.solver = solver_name, o.format = direct ? "auto" : "csr-scalar", o.progress = progress,
  o.user = &s;
  CHECKF(!kcl_setup(ctx, A, &o, &solver), "%s", kcl_error());
  kcl_context_watch(ctx, watch, &s);
  CHECKF(!kcl_solve_one(solver, b, x, &r), "%s", kcl_error());
  CHECKF(s.wanted && !returned && s.polls == 1, "%s, %s: %d polls, %s", device, at, s.polls,
         returned ? "the call was waited for" : "abandoned");
  may_return = true;
  while (s.wanted && !returned) pause_ms(1); /* what it waits for is about to change */
  CHECKF(r.reason == KCL_INTERRUPTED && !r.converged && (direct || r.iterations > 100),
         "%s, %s: %s", device, at, kcl_reason_text(r.reason));
  check_x(A, b, x, &r);
  kcl_solver_free(&solver), kcl_csr_free(&A), kcl_context_free(&ctx);
}

int main(void) {
  test_call();
  if (kcl_direct_available())
    test_solve("cpu", "factorising", "direct");
  else
    skip("factorising: built without SuiteSparse");
  setenv("KRYLOCL_CACHE", "", 1); /* otherwise nothing is compiled */
  replace_build();
  test_solve("opencl", "compiling kernels", "auto");
  test_exit();
  return check_report();
}
