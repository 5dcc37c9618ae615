/* The engine of a first solve (solver/auto/draft.c): with an empty cache folder one whose kernels compile soon, with a full one the
 * fastest, whose kernels were compiled beside the first solve; what was named stays; the change between two batches. clBuildProgram is
 * counted here, and may be held up.
 */
#include "core/base/context.h"
#include "solver/solver.h"
#include "tests/calls.h"
#include "tests/check.h"
#include "tests/options.h"
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#ifdef KCL_NO_OPENCL
int main(void) {
  skip("first solves: built without OpenCL");
  return check_report();
}
#else
#include "core/opencl/device/device.h"

enum { SIDE = 40, ROWS = SIDE * SIDE };

static __typeof__(clBuildProgram) compiler;
static atomic_int compiled; /* from source: the driver is given binaries as well */
static atomic_bool held;    /* programs of other threads wait */
static pthread_t self;
static bool reproducible; /* contexts that are opened */

static bool from_source(cl_program p) {
  size_t size = 0;
  return !clGetProgramInfo(p, CL_PROGRAM_SOURCE, 0, NULL, &size) && size > 1;
}

static cl_int count_build(cl_program p, cl_uint n, const cl_device_id *d, const char *options,
                          void(CL_CALLBACK *f)(cl_program, void *), void *user) {
  compiled += from_source(p);
  while (held && !pthread_equal(pthread_self(), self))
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  return compiler(p, n, d, options, f, user);
}

/* One way with two engines: a launch per stage, and the persistent kernel. */
static kcl_options two_engines(void) {
  kcl_options o = kcl_defaults;
  o.solver = "cg", o.format = "csr-scalar"; /* and no preconditioner is chosen */
  return o;
}

static char home[] = "/tmp/krylocl-first-XXXXXX";

static void remove_entries(const char *folder) {
  char command[80];
  snprintf(command, sizeof command, "rm -rf '%s'/%s", home, folder);
  CHECK(system(command) == 0);
}

static void empty_cache(void) { remove_entries("*"); }

static kcl_context *open_device(void) {
  kcl_context *ctx = NULL;
  if (kcl_context_create(NULL, 0, &ctx)) return NULL;
  if (kcl_select(ctx, "opencl", 0)) kcl_context_free(&ctx);
  if (ctx) ctx->reproducible = reproducible;
  return ctx;
}

typedef struct trial {
  kcl_context *ctx;
  kcl_csr *A;
  kcl_solver *s;
} trial;

static trial begin(const kcl_options *o) {
  trial t = {.ctx = open_device()};
  int rc = t.ctx ? kcl_generate(t.ctx, "poisson2d:40", &t.A, NULL) : KCL_DEVICE;
  compiled = 0;
  if (!rc) rc = kcl_setup(t.ctx, t.A, o, &t.s);
  CHECKF(!rc, "%s", kcl_error());
  return t;
}

static kcl_report solve_ones(trial *t) {
  static double b[ROWS], x[ROWS];
  kcl_report r = {0};
  for (int i = 0; i < ROWS; i++) b[i] = 1, x[i] = 0;
  CHECKF(!kcl_solve_one(t->s, b, x, &r) && r.converged && r.true_relative_residual <= 1e-8,
         "|r|/|b| = %g, %s", r.true_relative_residual, kcl_error());
  return r;
}

static void end(trial *t) {
  kcl_solver_free(&t->s), kcl_csr_free(&t->A), kcl_context_free(&t->ctx);
}

static bool hurried(const kcl_options *o) {
  trial t = begin(o);
  const bool yes = t.s && t.s->selection.hurried;
  end(&t);
  return yes;
}

/* The fastest is in the cache after the first process, even if it solved before that was compiled: the second has it, and compiles
 * nothing. */
static void test_twice(void) {
  char fastest[24], format[24];
  empty_cache();
  held = true;
  trial t = begin(&kcl_defaults);
  if (!CHECK(t.s && t.s->selection.hurried)) return end(&t);
  const kcl_selection *c = &t.s->selection;
  snprintf(fastest, sizeof fastest, "%s", c->wants->name);
  snprintf(format, sizeof format, "%s", c->wanted->name);
  CHECKF(!strcmp(c->way.method->name, "cg") && !c->engine->executor.replaces, "begun with %s",
         c->way.method->name);
  CHECK(c->compilation > 0 && c->compilation < 100 && strstr(c->why_format, "to compile"));
  const kcl_report first = solve_ones(&t); /* while the thread waits */
  CHECKF(first.iterations > 10 && !first.changes[0], "%s", first.changes);
  held = false;
  end(&t);
  t = begin(&kcl_defaults);
  CHECKF(compiled == 0 && !t.s->selection.hurried, "%d compiled", compiled);
  CHECKF(!strcmp(t.s->selection.way.method->name, fastest) &&
             !strcmp(kcl_engine_format(t.s->selection.engine), format),
         "%s in %s", t.s->selection.way.method->name, kcl_engine_format(t.s->selection.engine));
  CHECK(t.s->selection.compilation == 0);
  solve_ones(&t);
  end(&t);
}

/* The fastest goes on where the first stands: as many iterations, but for rounding. */
static void test_change(void) {
  const kcl_options o = two_engines();
  empty_cache();
  trial t = begin(&o);
  if (!CHECK(t.s && t.s->selection.hurried)) return end(&t);
  kcl_selection *c = &t.s->selection;
  const kcl_report plain = solve_ones(&t);
  for (int i = 0; i < 1000 * HANG && !kcl_compile_ahead_ended(t.ctx); i++)
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  CHECK(c->hurried && !c->engine->executor.replaces);
  c->gain = 1e9; /* seconds to save, however short the solve is */
  const int before = compiled;
  const kcl_report r = solve_ones(&t);
  CHECKF(strstr(r.changes, "compiled meanwhile") && c->engine->executor.replaces, "%s", r.changes);
  CHECKF(compiled == before, "%d programs were compiled again", compiled - before);
  CHECKF(llabs(r.iterations - plain.iterations) <= 3, "%lld iterations, without a change %lld",
         (long long)r.iterations, (long long)plain.iterations);
  CHECK(!c->hurried);
  end(&t);
}

/* Another set-up waits for a program that is being compiled, and does not compile it once more. */
static void test_shared_program(void) {
  const kcl_options o = two_engines();
  empty_cache();
  trial t = begin(&o);
  if (!CHECK(t.s && t.s->selection.hurried)) return end(&t);
  kcl_options named = cg_options();
  kcl_solver *second = NULL;
  named.format = "csr-scalar";
  CHECKF(!kcl_setup(t.ctx, t.A, &named, &second), "%s", kcl_error());
  const int all = compiled;
  kcl_solver_free(&second);
  CHECKF(all == 1 + 2, "%d programs: of stages; of START and the persistent kernel", all);
  end(&t);
}

/* Where kernels are there and the fastest would save little, nothing compiles. */
static void test_settled(void) {
  kcl_options o = two_engines();
  empty_cache();
  trial t = {.ctx = open_device()};
  t.ctx->opencl->compiles_alone = true; /* no thread: only what is needed is kept */
  CHECK(!kcl_generate(t.ctx, "poisson2d:40", &t.A, NULL) && !kcl_setup(t.ctx, t.A, &o, &t.s));
  CHECK(t.s->selection.hurried && !t.ctx->opencl->ahead);
  end(&t);
  remove_entries("compile"); /* what compiling took: the driver has a cache of its own */
  t = begin(&o);
  CHECKF(compiled == 0 && t.s->selection.hurried && t.s->selection.compilation == 0,
         "%d compiled, %g s expected", compiled, t.s->selection.compilation);
  CHECK(!t.ctx->opencl->ahead && !t.s->selection.later && !t.s->selection.wants);
  solve_ones(&t);
  CHECK(t.s->selection.hurried);
  end(&t);
}

/* Named, reproducible, without a folder, by bytes alone: as if all were compiled. */
static void test_kept(void) {
  kcl_options named = cg_options(), by_bytes = kcl_defaults;
  empty_cache();
  named.format = "csr-scalar";
  CHECK(!hurried(&named));
  by_bytes.format = "model";
  CHECK(!hurried(&by_bytes));
  reproducible = true;
  CHECK(!hurried(&kcl_defaults));
  reproducible = false;
  setenv("KRYLOCL_CACHE", "", 1);
  CHECK(!hurried(&kcl_defaults));
  setenv("KRYLOCL_CACHE", home, 1);
  empty_cache();
  CHECK(hurried(&kcl_defaults));
}

/* Seconds for what is missing, none for what is kept; by what was measured. */
static void test_cost(void) {
  kcl_context *ctx = open_device();
  char text[60000];
  memset(text, ' ', sizeof text - 1), text[sizeof text - 1] = 0;
  memcpy(text, "kernel void k(void) {}", 22);
  kcl_build list[2] = {{.source = text, .options = ""},
                       {.source = "kernel void k(void) {}", .options = ""}};
  empty_cache();
  const double both = kcl_compile_seconds(ctx, list, 2),
               one = kcl_compile_seconds(ctx, list + 1, 1);
  CHECKF(one > 0 && both > 3 * one, "%g and %g s", one, both);
  CHECK(!kcl_opencl_build(ctx, list, 1) && list[0].compiled);
  CHECK(kcl_compile_seconds(ctx, list, 2) == one);
  kcl_compile_note(ctx, list, 1, 1e3 * both);
  const double slower = kcl_compile_seconds(ctx, list, 2);
  CHECKF(slower > 100 * one, "%g s after %g", slower, one);
  clReleaseProgram(list[0].program);
  kcl_context_free(&ctx);
  ctx = open_device(); /* from the folder */
  CHECK(kcl_compile_seconds(ctx, list, 2) == slower);
  kcl_context_free(&ctx);
}

int main(void) {
  setenv("KRYLOCL_LAYOUT", "gpu", 1), setenv("KRYLOCL_PERSISTENT", "1", 1);
  setenv("KRYLOCL_SELFTEST", "0", 1);
  if (!mkdtemp(home)) return 1;
  setenv("KRYLOCL_CACHE", home, 1);
  self = pthread_self();
  kcl_context *ctx = open_device();
  compiler = clBuildProgram, clBuildProgram = count_build;
  if (ctx)
    test_cost(), test_twice(), test_change(), test_shared_program(), test_settled(), test_kept();
  else
    skip("first solves: no OpenCL device");
  kcl_context_free(&ctx);
  char command[80];
  snprintf(command, sizeof command, "rm -rf '%s'", home);
  CHECK(system(command) == 0);
  return check_report();
}
#endif
