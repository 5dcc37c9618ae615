/* Programs of one set-up are compiled at once, each by its own thread, and a single one by the caller. clBuildProgram is
 * replaced here: it notes who calls, waits for the others that should be there, and fails when told to.
 */
#include "core/base/team.h"
#include "tests/calls.h"
#include "tests/check.h"
#include "tests/options.h"
#include <pthread.h>
#include <string.h>
#include <time.h>
#ifdef KCL_NO_OPENCL
int main(void) {
  skip("compiling: built without OpenCL");
  return check_report();
}
#else
#include "core/opencl/device/cl.h"

/* ---------------------------------------------------------------- the replaced call */

static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  pthread_t user;
  int calls, by_others, inside, most_inside;
  int together;    /* calls wait until so many are inside */
  int failing;     /* the number of the call that fails, 0: none */
  int shown, last; /* calls of the watcher, parts */
  bool by_user;    /* each of them */
} seen = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* True: this one fails. */
static bool enter(void) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += HANG;
  pthread_mutex_lock(&seen.lock);
  bool fails = ++seen.calls == seen.failing;
  seen.by_others += !pthread_equal(pthread_self(), seen.user);
  if (++seen.inside > seen.most_inside) seen.most_inside = seen.inside;
  pthread_cond_broadcast(&seen.changed);
  while (seen.most_inside < seen.together &&
         !pthread_cond_timedwait(&seen.changed, &seen.lock, &until))
    continue;
  pthread_mutex_unlock(&seen.lock);
  return fails;
}

static void leave(void) {
  pthread_mutex_lock(&seen.lock);
  seen.inside--;
  pthread_mutex_unlock(&seen.lock);
}

static __typeof__(clBuildProgram) driver_build;
static cl_int watch_build(cl_program p, cl_uint n, const cl_device_id *d, const char *options,
                          void(CL_CALLBACK *f)(cl_program, void *), void *user) {
  cl_int code = enter() ? CL_OUT_OF_RESOURCES : driver_build(p, n, d, options, f, user);
  leave();
  return code;
}

static void watch(void *unused, const kcl_activity *a) {
  (void)unused;
  if (!a->what || strcmp(a->what, "compiling kernels")) return;
  seen.shown++;
  seen.by_user &= pthread_equal(pthread_self(), seen.user) != 0;
  CHECKF(a->part > seen.last && a->part <= a->parts, "part %d of %d", a->part, a->parts);
  seen.last = a->part;
}

/* ---------------------------------------------------------------- set-ups */

/* Two programs where the persistent kernel is possible. A relative residual, or -1 if the set-up fails. */
static double solve_together(kcl_context *ctx, int together, int failing) {
  static double b[400], x[400];
  kcl_csr *A = NULL;
  kcl_solver *s = NULL;
  kcl_report r = {0};
  kcl_options o = cg_options();
  for (int i = 0; i < 400; i++) b[i] = 1;
  o.format = "csr-scalar";
  seen.calls = seen.by_others = seen.inside = seen.most_inside = seen.shown = seen.last = 0;
  seen.together = together, seen.failing = failing, seen.by_user = true;
  int rc = kcl_generate(ctx, "poisson2d:20", &A, NULL);
  if (!rc) rc = kcl_setup(ctx, A, &o, &s);
  if (!rc) rc = kcl_solve_one(s, b, x, &r);
  kcl_solver_free(&s), kcl_csr_free(&A);
  return rc ? -1 : r.true_relative_residual;
}

static kcl_context *open_context(void) {
  kcl_context *ctx = NULL;
  if (kcl_context_create(NULL, 0, &ctx)) return NULL;
  kcl_context_watch(ctx, watch, NULL);
  if (kcl_select(ctx, "opencl", 0)) kcl_context_free(&ctx);
  return ctx;
}

static void test_two(void) {
  kcl_context *ctx = open_context();
  const bool many = kcl_cpus() > 1;
  double residual = solve_together(ctx, many ? 2 : 1, 0);
  CHECKF(residual >= 0 && residual <= 1e-8, "|r|/|b| = %g, %s", residual, kcl_error());
  CHECKF(seen.calls == 2 && seen.by_others == many && seen.most_inside == 1 + many,
         "%d calls, %d by others, %d at once", seen.calls, seen.by_others, seen.most_inside);
  CHECKF(seen.shown > 0 && seen.by_user, "the watcher is called by the caller's thread");
  CHECK(solve_together(ctx, 1, 0) >= 0 && seen.calls == 0); /* the context remembers them */
  kcl_context_free(&ctx);
}

static void test_one(void) {
  setenv("KRYLOCL_PERSISTENT", "0", 1);
  kcl_context *ctx = open_context();
  CHECK(solve_together(ctx, 1, 0) >= 0 && seen.calls == 1 && seen.by_others == 0);
  kcl_context_free(&ctx);
  setenv("KRYLOCL_PERSISTENT", "1", 1);
}

/* Either of two fails: an error, and the next set-up compiles what is missing. */
static void test_failures(void) {
  for (int failing = 1; failing <= 2; failing++) {
    kcl_context *ctx = open_context();
    CHECK(solve_together(ctx, 1, failing) < 0 &&
          strstr(kcl_error(), "clBuildProgram failed with -5"));
    CHECK(solve_together(ctx, 1, 0) >= 0 && seen.calls >= 1 && seen.calls <= 2);
    kcl_context_free(&ctx);
  }
}

/* From the folder, by the caller. */
static void test_cached(void) {
  char folder[] = "/tmp/krylocl-compile-XXXXXX", command[64];
  if (!CHECK(mkdtemp(folder))) return;
  setenv("KRYLOCL_CACHE", folder, 1);
  for (int round = 0; round < 2; round++) {
    kcl_context *ctx = open_context();
    CHECK(solve_together(ctx, 1, 0) >= 0 && seen.calls == 2);
    CHECKF(round == 0 || (seen.by_others == 0 && seen.shown == 0),
           "round %d: %d calls by others, %d compilations shown", round, seen.by_others,
           seen.shown);
    kcl_context_free(&ctx);
  }
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  CHECK(system(command) == 0);
}

int main(void) {
  setenv("KRYLOCL_CACHE", "", 1), setenv("KRYLOCL_LAYOUT", "gpu", 1);
  setenv("KRYLOCL_PERSISTENT", "1", 1), setenv("KRYLOCL_SELFTEST", "0", 1);
  seen.user = pthread_self();
  kcl_context *ctx = open_context();
  driver_build = clBuildProgram, clBuildProgram = watch_build;
  if (ctx)
    test_two(), test_one(), test_failures(), test_cached();
  else
    skip("compiling: no OpenCL device");
  kcl_context_free(&ctx);
  return check_report();
}
#endif
