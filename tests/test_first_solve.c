/* The engine of a first solve (solver/auto/draft.c): with an empty cache folder one whose kernels compile soon, until what it loses has
 * repaid the compilation of the fastest (core/device/later.c): over processes, over solves, within a solve, and after new values; what was named
 * stays. clBuildProgram is counted here, and may be held up.
 */
#include "core/base/context.h"
#include "core/device/device.h"
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
  if (!rc) t.ctx->opencl->compile_rate = 1e-4; /* in place of the seconds that were measured */
  compiled = 0;
  if (!rc) rc = kcl_setup(t.ctx, t.A, o, &t.s);
  CHECKF(!rc, "%s", kcl_error());
  return t;
}

/* progress: of the call, given the context; or NULL. */
static kcl_report solve_with(trial *t, int (*progress)(void *, const kcl_progress *)) {
  const kcl_call call = {.size = sizeof call, .progress = progress, .user = t->ctx};
  static double b[ROWS], x[ROWS];
  kcl_report r = {0};
  for (int i = 0; i < ROWS; i++) b[i] = 1, x[i] = 0;
  CHECKF(!kcl_solve_call(t->s, &call, 1, b, x, &r) && r.converged &&
             r.true_relative_residual <= 1e-8,
         "|r|/|b| = %g, %s", r.true_relative_residual, kcl_error());
  return r;
}

static kcl_report solve_ones(trial *t) { return solve_with(t, NULL); }

static void end(trial *t) {
  kcl_solver_free(&t->s), kcl_csr_free(&t->A), kcl_context_free(&t->ctx);
}

static bool hurried(const kcl_options *o) {
  trial t = begin(o);
  const bool yes = t.s && t.s->selection.hurried;
  end(&t);
  return yes;
}

static void wait_for_thread(kcl_context *ctx) {
  for (int i = 0; i < 1000 * HANG && !kcl_compile_ahead_ended(ctx); i++)
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* As if solves had lost more than any compilation takes. */
static void lose_much(const trial *t) { kcl_later_lose(t->s->selection.later, 1e6); }

/* Short processes compile what they need, and not the fastest; what they lose is added up, and once that repays the fastest it is compiled
 * beside a process, and the next one has it. */
static void test_processes(void) {
  char fastest[24], format[24];
  empty_cache();
  trial t = begin(&kcl_defaults);
  if (!CHECK(t.s && t.s->selection.hurried)) return end(&t);
  const kcl_selection *c = &t.s->selection;
  snprintf(fastest, sizeof fastest, "%s", c->wants->name);
  snprintf(format, sizeof format, "%s", c->wanted->name);
  CHECKF(!strcmp(c->way.method->name, "cg") && !c->engine->executor.replaces, "begun with %s",
         c->way.method->name);
  CHECK(c->compilation > 0 && c->compilation < 100 && strstr(c->why_format, "to compile"));
  if (t.ctx->opencl->is_nvidia)
    CHECKF(c->engine->program->fusion == KCL_INTERPRETED_STAGES, "%s", c->why_format);
  CHECK(c->gain > 0 && c->later && kcl_later_lost(c->later) == 0);
  const kcl_report first = solve_ones(&t);
  CHECKF(first.iterations > 10 && !first.changes[0], "%s", first.changes);
  const double lost = kcl_later_lost(c->later);
  CHECKF(lost > 0 && lost <= 1.001 * c->gain * first.seconds_solve, "%g s lost of %g s", lost,
         first.seconds_solve);
  const int needed = compiled;
  end(&t);
  CHECKF(compiled == needed, "%d programs were compiled for %g s", compiled - needed, lost);
  t = begin(&kcl_defaults);
  c = &t.s->selection;
  CHECKF(compiled == 0 && c->hurried && !t.ctx->opencl->ahead, "%d compiled", compiled);
  CHECKF(kcl_later_lost(c->later) == lost, "%g s on record, not %g", kcl_later_lost(c->later),
         lost);
  kcl_later_lose(c->later, 1e-9);
  end(&t);
  t = begin(&kcl_defaults);
  CHECKF(kcl_later_lost(t.s->selection.later) == lost + 1e-9, "%g s more on record",
         kcl_later_lost(t.s->selection.later) - lost);
  lose_much(&t);
  end(&t);
  CHECK(compiled == 0);
  t = begin(&kcl_defaults);
  CHECK(t.s->selection.hurried);
  end(&t); /* waits for the thread */
  CHECK(compiled > 0);
  t = begin(&kcl_defaults);
  c = &t.s->selection;
  CHECKF(compiled == 0 && !c->hurried && c->compilation == 0, "%d compiled", compiled);
  CHECKF(!strcmp(c->way.method->name, fastest) && !strcmp(kcl_engine_format(c->engine), format),
         "%s in %s", c->way.method->name, kcl_engine_format(c->engine));
  solve_ones(&t);
  end(&t);
  remove_entries("programs");
  t = begin(&kcl_defaults);
  CHECKF(kcl_later_lost(t.s->selection.later) == 0, "%g s on record after compilation",
         kcl_later_lost(t.s->selection.later));
  end(&t);
}

/* Solves of one solver lose until that repays the fastest; then it compiles beside one of them, and a later one begins with it. */
static void test_solves(void) {
  empty_cache();
  trial t = {.ctx = open_device()};
  t.ctx->opencl->compile_rate = 4e-6; /* seconds per character */
  int solves = 0;
  CHECK(!kcl_generate(t.ctx, "poisson2d:40", &t.A, NULL) &&
        !kcl_setup(t.ctx, t.A, &kcl_defaults, &t.s));
  kcl_selection *c = &t.s->selection;
  if (!CHECK(c->hurried && c->later && !t.ctx->opencl->ahead)) return end(&t);
  const kcl_method *fastest = c->wants;
  held = true;
  const kcl_report slow = solve_ones(&t);
  for (solves = 1; solves < 5000 && !t.ctx->opencl->ahead; solves++) solve_ones(&t);
  CHECKF(t.ctx->opencl->ahead && kcl_later_lost(c->later) > 0.01, "%d solves lost %g s", solves,
         kcl_later_lost(c->later));
  solve_ones(&t);
  CHECK(c->hurried && c->wants == fastest);
  held = false;
  wait_for_thread(t.ctx);
  const int before = compiled;
  const kcl_report fast = solve_ones(&t);
  CHECKF(!c->hurried && !c->later && c->engine->method == fastest &&
             strstr(c->why_format, "compiled since"),
         "%s: %s", c->engine->method->name, c->why_format);
  CHECKF(compiled == before, "%d programs were compiled again", compiled - before);
  CHECKF(llabs(fast.iterations - slow.iterations) <= 3, "%lld iterations, before %lld",
         (long long)fast.iterations, (long long)slow.iterations);
  end(&t);
}

static int wait_between(void *ctx, const kcl_progress *p) {
  (void)p;
  wait_for_thread(ctx);
  return 0;
}

/* Within a long solve the fastest goes on where the first stands: as many iterations, but for rounding. */
static void test_change(void) {
  kcl_options o = two_engines();
  empty_cache();
  trial t = begin(&o);
  if (!CHECK(t.s && t.s->selection.hurried)) return end(&t);
  kcl_selection *c = &t.s->selection;
  const kcl_report plain = solve_ones(&t);
  CHECK(c->hurried && !c->engine->executor.replaces && !t.ctx->opencl->ahead);
  c->gain = 1e12,
  c->predicted = 0; /* so it has not begun before; seconds to save, however short the solve is */
  t.s->system.undecided.precond =
      false; /* else the waits, as time of iterations, make multigrid pay */
  const int before = compiled;
  const kcl_report r = solve_with(&t, wait_between);
  CHECKF(strstr(r.changes, "compiled meanwhile") && c->engine->executor.replaces, "%s", r.changes);
  CHECKF(compiled == before + 2, "%d programs, not START's and the persistent kernel",
         compiled - before);
  CHECKF(llabs(r.iterations - plain.iterations) <= 3, "%lld iterations, without a change %lld",
         (long long)r.iterations, (long long)plain.iterations);
  CHECK(!c->hurried);
  end(&t);
}

/* New values go on with the engine that is there and with what has been lost, and compile nothing. */
static void test_new_values(void) {
  const kcl_options o = two_engines();
  empty_cache();
  trial t = begin(&o);
  if (!CHECK(t.s && t.s->selection.hurried)) return end(&t);
  t.s->selection.gain = 0.5;
  solve_ones(&t);
  const double lost = kcl_later_lost(t.s->selection.later);
  const int before = compiled;
  CHECKF(!kcl_update(t.s, t.A, KCL_KEEP_CHOICES), "%s", kcl_error());
  const kcl_selection *c = &t.s->selection;
  CHECKF(compiled == before, "%d programs compiled for new values", compiled - before);
  CHECK(c->hurried && c->wants && !c->engine->executor.replaces);
  CHECKF(kcl_later_lost(c->later) == lost, "%g s lost, before %g", kcl_later_lost(c->later), lost);
  solve_ones(&t);
  CHECK(kcl_later_lost(c->later) > lost);
  end(&t);
}

/* A benchmark is of the fastest. */
static void test_bench(void) {
  const kcl_options o = two_engines();
  const kcl_bench_plan quick = {.iterations = 1, .samples = 1, .seconds = 1e-3, .noise = -1};
  kcl_bench_row row;
  empty_cache();
  trial t = {.ctx = open_device()};
  CHECK(!kcl_generate(t.ctx, "poisson2d:40", &t.A, NULL));
  CHECKF(!kcl_bench_method(t.ctx, t.A, &o, &quick, &row) && row.validated, "%s", kcl_error());
  kcl_bench_free(&row);
  CHECK(!kcl_setup(t.ctx, t.A, &o, &t.s) && !t.s->selection.hurried);
  end(&t);
}

/* While a thread compiles the memory rate is not measured. */
static void test_rate(void) {
  const kcl_options o = two_engines();
  kcl_stream s;
  empty_cache();
  trial t = begin(&o);
  if (!CHECK(t.s && t.s->selection.hurried)) return end(&t);
  held = true;
  lose_much(&t);
  solve_ones(&t);
  CHECK(t.ctx->opencl->ahead && !kcl_stream_get(t.ctx, &s) && s.rate == 0 && !s.measurements);
  held = false;
  wait_for_thread(t.ctx);
  CHECK(!kcl_stream_get(t.ctx, &s) && s.rate > 0 && s.measurements == 1);
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
  lose_much(&t);
  kcl_draft_begin(&t.s->selection);
  CHECK(t.ctx->opencl->ahead);
  named.format = "csr-scalar";
  CHECKF(!kcl_setup(t.ctx, t.A, &named, &second), "%s", kcl_error());
  const int all = compiled;
  kcl_solver_free(&second);
  CHECKF(all == 1 + 2, "%d programs: of stages; of START and the persistent kernel", all);
  end(&t);
}

/* Where nothing compiles beside others the fastest is not waited for. */
static void test_alone(void) {
  const kcl_options o = two_engines();
  empty_cache();
  trial t = {.ctx = open_device()};
  t.ctx->opencl->compiles_alone = true;
  CHECK(!kcl_generate(t.ctx, "poisson2d:40", &t.A, NULL) && !kcl_setup(t.ctx, t.A, &o, &t.s));
  CHECK(t.s->selection.hurried && !t.s->selection.later);
  solve_ones(&t);
  CHECK(t.s->selection.hurried && !t.ctx->opencl->ahead);
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
  setenv("KRYLOCL_SELFTEST", "0", 1), setenv("KRYLOCL_RATE_ROOM", "20e6", 1);
  if (!mkdtemp(home)) return 1;
  setenv("KRYLOCL_CACHE", home, 1);
  self = pthread_self();
  kcl_context *ctx = open_device();
  compiler = clBuildProgram, clBuildProgram = count_build;
  if (ctx)
    test_cost(), test_processes(), test_solves(), test_change(), test_new_values(), test_rate(),
        test_bench(), test_shared_program(), test_alone(), test_kept();
  else
    skip("first solves: no OpenCL device");
  kcl_context_free(&ctx);
  char command[80];
  snprintf(command, sizeof command, "rm -rf '%s'", home);
  CHECK(system(command) == 0);
  return check_report();
}
#endif
