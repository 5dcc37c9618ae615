/* Devices that are lost during a solve. The functions of the driver are this program's: the k-th launch, wait or read fails, all calls
 * fail from then on, the queue gets a command that never ends, or a read takes too long. With the option fallback the solve converges on the CPU, and its
 * residual, recomputed here, is below the tolerance; without it the solve ends with the best x that had been read back. */
#include "core/base/context.h"
#ifndef KCL_NO_OPENCL
#include "core/opencl/device/watch.h"
#define CL(f) /* their names are those of the table again */
#include "core/opencl/device/functions.def"
#undef CL
#endif
#include "solver/solver.h"
#include "tests/calls.h"
#include "tests/check.h"
#include "tests/conform.h"
#include "tests/options.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef KCL_NO_OPENCL
int main(void) {
  skip("this build has no OpenCL");
  return check_report();
}
#else

/* ---------------------------------------------------------------- faults */

typedef enum fault {
  NO_FAULT,
  LAUNCH,
  FINISH,
  WAIT,
  READ,
  LOST,
  HANGS,
  SLOW_READ,
  FAULTS,
  SLOW_VECTOR /* one of at least `vector_bytes`, or a mapping */
} fault;
static const char *const fault_name[] = {
    "no fault", "launch", "finish",    "wait",     "read",
    "lost",     "hang",   "slow read", "no fault", "slow read of a vector"};
static size_t vector_bytes;
static fault armed;
static long left; /* calls until it strikes */
static bool gone; /* LOST, and it has struck */

static __typeof__(clEnqueueNDRangeKernel) driver_launch;
static __typeof__(clFinish) driver_finish;
static __typeof__(clWaitForEvents) driver_wait;
static __typeof__(clEnqueueReadBuffer) driver_read;
static __typeof__(clEnqueueMapBuffer) driver_map;
static cl_event(CL_API_CALL *create_gate)(cl_context, cl_int *);
static cl_int(CL_API_CALL *set_gate)(cl_event, cl_int);
static cl_int(CL_API_CALL *finish_gate)(cl_command_queue); /* waits for a lost queue, too */
static cl_event gate; /* of the latest hang; NULL: there was none */
static cl_command_queue gated;

static bool strikes(fault which) {
  if (gone) return true;
  if (armed != which && !(armed == LOST && which == LAUNCH)) return false;
  if (--left > 0) return false;
  gone = armed == LOST;
  if (!gone) armed = NO_FAULT; /* once */
  return true;
}

/* An event that nobody sets before the device is lost: what is enqueued later waits behind it. No wait before had so short a limit. */
static const cl_event *close_gate(cl_command_queue queue) {
  cl_context context;
  cl_int code;
  clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
  gate = create_gate(context, &code), gated = queue;
  kcl_watched_queue(queue)->given = 1;
  return &gate;
}

/* The device goes on with all that was enqueued, late. */
static void open_gate(void) {
  if (!gate) return;
  CHECK(!set_gate(gate, CL_COMPLETE) && !finish_gate(gated));
  gate = NULL;
}

static cl_int CL_API_CALL launch_or_fail(cl_command_queue queue, cl_kernel kernel, cl_uint dims,
                                         const size_t *offset, const size_t *global,
                                         const size_t *group, cl_uint count, const cl_event *list,
                                         cl_event *event) {
  if (strikes(LAUNCH)) return CL_OUT_OF_RESOURCES;
  if (!strikes(HANGS))
    return driver_launch(queue, kernel, dims, offset, global, group, count, list, event);
  return driver_launch(queue, kernel, dims, offset, global, group, 1, close_gate(queue), event);
}

static cl_int CL_API_CALL finish_or_fail(cl_command_queue queue) {
  return strikes(FINISH) ? CL_OUT_OF_RESOURCES : driver_finish(queue);
}

static cl_int CL_API_CALL wait_or_fail(cl_uint count, const cl_event *list) {
  return strikes(WAIT) ? CL_DEVICE_NOT_AVAILABLE : driver_wait(count, list);
}

static cl_int CL_API_CALL read_or_fail(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                       size_t offset, size_t bytes, void *to, cl_uint count,
                                       const cl_event *list, cl_event *event) {
  if (strikes(READ)) return CL_OUT_OF_RESOURCES;
  if ((blocking && strikes(SLOW_READ)) || (bytes >= vector_bytes && strikes(SLOW_VECTOR)))
    count = 1, list = close_gate(queue);
  return driver_read(queue, buffer, blocking, offset, bytes, to, count, list, event);
}

static void *CL_API_CALL map_or_wait(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                     cl_map_flags flags, size_t offset, size_t bytes, cl_uint count,
                                     const cl_event *list, cl_event *event, cl_int *code) {
  if (strikes(SLOW_VECTOR)) count = 1, list = close_gate(queue);
  return driver_map(queue, buffer, blocking, flags, offset, bytes, count, list, event, code);
}

static void replace_calls(void) {
  kcl_cl_load();
  driver_launch = clEnqueueNDRangeKernel, clEnqueueNDRangeKernel = launch_or_fail;
  driver_finish = clFinish, clFinish = finish_or_fail;
  driver_wait = clWaitForEvents, clWaitForEvents = wait_or_fail;
  driver_read = clEnqueueReadBuffer, clEnqueueReadBuffer = read_or_fail;
  driver_map = clEnqueueMapBuffer, clEnqueueMapBuffer = map_or_wait;
  *(void **)&create_gate = kcl_cl_find("clCreateUserEvent");
  *(void **)&set_gate = kcl_cl_find("clSetUserEventStatus");
  *(void **)&finish_gate = kcl_cl_find("clFinish");
}

static void arm(fault which, long calls) { armed = which, left = calls, gone = false; }

/* ---------------------------------------------------------------- one solve */

static size_t chunk_bytes; /* of transfers of the next contexts; 0: as usual */

typedef struct trial {
  kcl_context *ctx;
  kcl_csr *A;
  double *b, *x; /* [rows, nrhs] */
  int nrhs;
  kcl_options o;
  kcl_solver *s;
  kcl_report r[KCL_MAX_NRHS];
  char what[100]; /* for messages */
} trial;

static double residual_of(const trial *t, int j) {
  const int64_t n = t->A->rows;
  const double *x = t->x + j * n, *b = t->b + j * n, *val = t->A->val;
  long double rr = 0, bb = 0;
  for (int64_t i = 0; i < n; i++) {
    long double r = b[i];
    for (int64_t k = t->A->row_ptr[i]; k < t->A->row_ptr[i + 1]; k++)
      r -= (long double)val[k] * x[t->A->col[k]];
    rr += r * r, bb += (long double)b[i] * b[i];
  }
  return (double)sqrtl(rr / bb);
}

/* A context of its own: one that a fault has lost stays so. False: there is no device. */
static bool open_trial(const char *system, const kcl_options *o, int nrhs, trial *t) {
  *t = (trial){.o = *o, .nrhs = nrhs};
  if (kcl_context_create("opencl", 0, &t->ctx)) {
    skip("everything: %s", kcl_error());
    return false;
  }
  if (chunk_bytes) t->ctx->opencl->chunk_bytes = chunk_bytes;
  t->o.nrhs = nrhs;
  if (!CHECKF(!kcl_generate(t->ctx, system, &t->A, NULL), "%s", kcl_error())) return false;
  const size_t count = (size_t)(t->A->rows * nrhs);
  t->b = malloc(count * sizeof *t->b), t->x = calloc(count, sizeof *t->x);
  for (size_t i = 0; i < count; i++) t->b[i] = random_number();
  snprintf(t->what, sizeof t->what, "%s with %s", o->solver, o->precond);
  return CHECKF(!kcl_setup(t->ctx, t->A, &t->o, &t->s), "%s: %s", t->what, kcl_error()) &&
         CHECK(!kcl_solver_checkpoint(t->s, NULL, 1e-9)); /* x is read back after each batch */
}

static void close_trial(trial *t) {
  arm(NO_FAULT, 0);
  kcl_solver_free(&t->s);
  kcl_csr_free(&t->A);
  free(t->b), free(t->x);
  kcl_context_free(&t->ctx);
}

/* Which fault comes at which iteration. */
static fault planned;
static int64_t planned_at;

static int arm_in_time(void *user, const kcl_progress *p) {
  (void)user;
  if (planned && p->iteration >= planned_at) arm(planned, 1), planned = NO_FAULT;
  return 0;
}

static int solve_trial(trial *t) {
  const kcl_call call = {.size = sizeof call, .zero_guess = 1, .progress = arm_in_time};
  return kcl_solve_call(t->s, &call, t->nrhs, t->b, t->x, t->r);
}

/* After a part of the iterations that a solve without a fault takes, of few iterations a third: others are enqueued ahead. */
static void plan(trial *t, fault which) {
  CHECKF(!solve_trial(t) && t->r->converged, "%s, no fault: %s", t->what, kcl_error());
  planned = which, planned_at = t->r->iterations / (t->r->iterations < 40 ? 3 : 2);
}

/* ---------------------------------------------------------------- tests */

static void check_continued(trial *t, const char *how) {
  for (int j = 0; j < t->nrhs; j++) {
    const kcl_report *r = &t->r[j];
    const double residual = residual_of(t, j);
    CHECKF(r->converged && r->fell_back && r->lost_why[0] && residual <= 1.01 * t->o.tol,
           "%s, %s: %s, residual %g, lost: %s", t->what, how, kcl_reason_text(r->reason), residual,
           r->lost_why);
    CHECKF(r->lost_at <= r->iterations && r->history_size == r->iterations + 1,
           "%s, %s: %lld of %lld iterations, a history of %lld", t->what, how,
           (long long)r->lost_at, (long long)r->iterations, (long long)r->history_size);
    CHECKF(strstr(r->changes, "the device was lost") != NULL, "changes: %s", r->changes);
  }
}

static void check_ended(trial *t, const char *how) {
  for (int j = 0; j < t->nrhs; j++) {
    const kcl_report *r = &t->r[j];
    const double residual = residual_of(t, j);
    const bool good = r->converged && residual <= t->o.tol; /* lost after the last iteration */
    CHECKF((r->reason == KCL_DEVICE_LOST || good) && !r->fell_back && r->lost_why[0],
           "%s, %s: %s, lost: %s", t->what, how, kcl_reason_text(r->reason), r->lost_why);
    CHECKF(fabs(residual - r->true_relative_residual) <= 1e-10 && residual <= 1,
           "%s, %s: residual %g, reported %g", t->what, how, residual, r->true_relative_residual);
    CHECKF(r->x_iteration == r->lost_at && r->x_iteration <= r->iterations,
           "%s, %s: x of %lld, read back at %lld", t->what, how, (long long)r->x_iteration,
           (long long)r->lost_at);
  }
}

static int64_t most_lost_at(const trial *t) {
  int64_t at = 0;
  for (int j = 0; j < t->nrhs; j++) at = t->r[j].lost_at > at ? t->r[j].lost_at : at;
  return at;
}

/* A device that goes on after it was lost reaches no memory of the caller's. */
static void check_late_end(trial *t, const char *how) {
  const size_t bytes = (size_t)(t->A->rows * t->nrhs) * sizeof *t->x;
  double *x = malloc(bytes);
  memcpy(x, t->x, bytes);
  kcl_solver_free(&t->s);
  open_gate();
  CHECKF(!memcmp(x, t->x, bytes), "%s, %s: x changed afterwards", t->what, how);
  free(x);
}

/* In the middle of a solve, with the option and without it. */
static void test_fault(const char *system, const kcl_options *o, int nrhs, fault which) {
  trial t;
  for (int with = 0; with < 2; with++) {
    kcl_options mine = *o;
    mine.fallback = with ? KCL_FALLBACK_CPU : KCL_FALLBACK_NONE;
    if (!open_trial(system, &mine, nrhs, &t)) return close_trial(&t);
    plan(&t, which);
    CHECKF(!solve_trial(&t), "%s, %s: %s", t.what, fault_name[which], kcl_error());
    (with ? check_continued : check_ended)(&t, fault_name[which]);
    if (which != FINISH && !strcmp(o->precond, "jacobi")) /* others have few batches */
      CHECKF(most_lost_at(&t) > 0, "%s, %s: no x was read back", t.what, fault_name[which]);
    check_late_end(&t, fault_name[which]);
    close_trial(&t);
  }
}

static void test_methods(void) {
  static const char *const precond[] = {"jacobi", "sa"}, *const method[] = {"cg", "bicgstab",
                                                                            "gmres"};
  for (int m = 0; m < 3; m++)
    for (int p = 0; p < 2; p++)
      for (fault f = LAUNCH; f < FAULTS; f++) {
        kcl_options o = cg_options();
        o.solver = method[m], o.precond = precond[p], o.format = "csr-scalar", o.tol = 1e-10;
        o.no_direct = true;
        if (p) o.restart = 3; /* of gmres: a pass over LOOP is a cycle */
        if (f != LOST && f != HANGS && !thorough() && (m + p + (int)f) % 3) continue;
        test_fault("poisson2d:60", &o, 1, f);
      }
}

/* x in chunks: 28,800 bytes in 8, mapped on CPU devices, through pinned memory on GPUs; and above 1 MB in one call. */
static void test_large_reads(kcl_options o) {
  const char *layout = getenv("KRYLOCL_LAYOUT");
  chunk_bytes = 4096, vector_bytes = 4096;
  setenv("KRYLOCL_LAYOUT", "cpu", 1);
  test_fault("poisson2d:60", &o, 1, SLOW_VECTOR);
  setenv("KRYLOCL_LAYOUT", "gpu", 1);
  test_fault("poisson2d:60", &o, 1, SLOW_VECTOR);
  chunk_bytes = 0, vector_bytes = 1 << 20, o.tol = 0.03;
  test_fault("poisson2d:365", &o, 1, SLOW_VECTOR);
  if (layout)
    setenv("KRYLOCL_LAYOUT", layout, 1);
  else
    unsetenv("KRYLOCL_LAYOUT");
}

static kcl_options jacobi_options(void) {
  kcl_options o = cg_options();
  o.precond = "jacobi", o.format = "csr-scalar", o.tol = 1e-10, o.no_direct = true;
  CHECK(!kcl_options_set(&o, "fallback", "cpu"));
  return o;
}

/* Side by side, in mixed precision, and with all left to "auto". */
static void test_settings(void) {
  kcl_options o = jacobi_options();
  test_fault("poisson2d:60", &o, 3, LOST);
  o.mixed = true;
  test_fault("poisson2d:60", &o, 1, LOST);
  o = kcl_defaults, o.no_direct = true, o.tol = 1e-10;
  test_fault("convection:60", &o, 1, LAUNCH);
}

/* Four columns, two at a time: those after the loss begin on the CPU. Then other values, and one more solve. */
static void test_later_solves(void) {
  trial t;
  kcl_options o = jacobi_options();
  if (!open_trial("poisson2d:60", &o, 4, &t)) return;
  kcl_solver *s = NULL;
  o.nrhs = 2;
  CHECKF(!kcl_setup(t.ctx, t.A, &o, &s), "%s", kcl_error());
  kcl_solver_free(&t.s), t.s = s;
  plan(&t, LOST);
  CHECKF(!solve_trial(&t), "%s", kcl_error());
  check_continued(&t, "columns");
  CHECKF(!t.r[3].lost_at && t.r[3].fell_back, "lost at %lld", (long long)t.r[3].lost_at);
  for (int64_t k = 0; k < t.A->nnz; k++) ((double *)t.A->val)[k] *= 2;
  CHECKF(!update_hierarchy(t.s, t.A), "%s", kcl_error());
  CHECKF(!solve_trial(&t) && t.r[0].converged && t.r[0].fell_back, "again: %s", kcl_error());
  CHECKF(residual_of(&t, 0) <= 1e-10, "residual %g", residual_of(&t, 0));
  kcl_setup_info about;
  kcl_solver_info(t.s, &about);
  CHECKF(strstr(about.kernel, "native"), "%s", about.kernel);
  close_trial(&t);
}

static void test_object(void) {
  trial t;
  kcl_options o = jacobi_options();
  kcl_precond *M = NULL;
  if (!open_trial("poisson2d:60", &o, 1, &t)) return;
  kcl_solver_free(&t.s);
  o.precond = "ic";
  CHECKF(!kcl_precond_make(t.ctx, t.A, &o, &M), "%s", kcl_error());
  CHECKF(!kcl_setup_with(t.ctx, t.A, M, &o, &t.s), "%s", kcl_error());
  plan(&t, LOST);
  CHECKF(!solve_trial(&t), "%s", kcl_error());
  check_continued(&t, "object");
  kcl_precond_free(&M);
  close_trial(&t);
}

/* A diagonal matrix of 97 eigenvalues. */
static int scale_rows(void *user, int adjoint, const kcl_vectors *x, kcl_vectors *y, void *queue) {
  (void)user, (void)adjoint, (void)queue;
  for (int64_t i = 0; i < x->rows; i++)
    ((double *)y->data)[i] = (double)(i % 97 + 1) * ((const double *)x->data)[i];
  return 0;
}

/* A function on the host goes on being called. */
static void test_function(void) {
  trial t;
  kcl_options o = cg_options();
  if (!open_trial("poisson2d:60", &o, 1, &t)) return;
  const int64_t n = t.A->rows;
  const kcl_shell shell = {.rows = n,
                           .cols = n,
                           .type = KCL_D,
                           .apply = scale_rows,
                           .place = KCL_HOST,
                           .properties = KCL_SHELL_HERMITIAN};
  kcl_solver_free(&t.s);
  o.fallback = KCL_FALLBACK_CPU;
  CHECKF(!kcl_setup_shell(t.ctx, &shell, NULL, &o, &t.s), "%s", kcl_error());
  plan(&t, LOST);
  CHECKF(!solve_trial(&t) && t.r->converged && t.r->fell_back, "%s", kcl_error());
  for (int64_t i = 0; i < n; i++)
    if (!CHECK(fabs((double)(i % 97 + 1) * t.x[i] - t.b[i]) < 1e-5)) break;
  close_trial(&t);
}

static bool refused(int rc, const char *why) {
  return CHECKF(rc == KCL_USAGE && strstr(kcl_error(), "the option fallback: not ") &&
                    strstr(kcl_error(), why),
                "%s: %d, %s", why, rc, kcl_error());
}

/* Functions and vectors that are on the device are lost with it. */
static void test_refused(void) {
  trial t;
  kcl_options o = jacobi_options();
  kcl_precond *M = NULL;
  kcl_solver *s = NULL;
  cl_int code;
  if (!open_trial("poisson2d:60", &o, 1, &t)) return;
  const int64_t n = t.A->rows;
  const size_t bytes = (size_t)n * sizeof(double);
  void *context;
  CHECK(!kcl_context_opencl(t.ctx, &context, NULL, NULL));
  cl_mem m[2];
  for (int i = 0; i < 2; i++)
    m[i] = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, t.b, &code);
  kcl_vectors b = {.size = sizeof b, .data = m[0], .place = KCL_OPENCL}, x = b;
  x.data = m[1];
  refused(kcl_solve_vectors(t.s, NULL, &b, &x, t.r), "with vectors in OpenCL buffers");
  CHECK(!kcl_precond_create_shell(t.ctx, n, 'd', scale_rows, NULL, KCL_HOST, KCL_PRECOND_HERMITIAN,
                                  &M));
  o.precond = NULL;
  refused(kcl_setup_with(t.ctx, t.A, M, &o, &s), "a preconditioner that is a function");
  o.precond = "none", o.format = "auto";
  const kcl_shell shell = {
      .rows = n, .cols = n, .type = KCL_D, .apply = scale_rows, .place = KCL_OPENCL};
  refused(kcl_setup_shell(t.ctx, &shell, NULL, &o, &s), "a function of OpenCL buffers");
  CHECK(!s);
  for (int i = 0; i < 2; i++) clReleaseMemObject(m[i]);
  kcl_precond_free(&M);
  close_trial(&t);
}

/* A device that hangs is lost for all solvers of its context: each says so at once, or continues. */
static void test_hung_context(bool calls_back) {
  trial t;
  kcl_options o = jacobi_options();
  kcl_solver *other = NULL, *late = NULL;
  if (!open_trial("poisson2d:60", &o, 1, &t)) return;
  t.ctx->opencl->watched->calls_back = calls_back; /* else events are polled, as on a GPU */
  o.fallback = KCL_FALLBACK_NONE;
  CHECK(!kcl_setup(t.ctx, t.A, &o, &other));
  arm(HANGS, 20);
  CHECK(!solve_trial(&t));
  check_continued(&t, "hang");
  memset(t.x, 0, (size_t)t.A->rows * sizeof *t.x);
  CHECK(!kcl_solve_one(other, t.b, t.x, t.r) && t.r->reason == KCL_DEVICE_LOST && !t.r->fell_back);
  CHECKF(kcl_setup(t.ctx, t.A, &o, &late) == KCL_DEVICE && strstr(kcl_error(), "no answer"), "%s",
         kcl_error());
  kcl_solver_free(&other);
  close_trial(&t);
}

typedef struct stopping {
  kcl_solver *s;
  int64_t last;
  bool asked;
} stopping;

/* Iterations go on from those of the device; the stop comes after. */
static int stop_later(void *user, const kcl_progress *p) {
  stopping *q = user;
  CHECKF(p->iteration >= q->last - 64, "iteration %lld after %lld", (long long)p->iteration,
         (long long)q->last);
  q->last = p->iteration;
  if (gone && p->iteration > 100) kcl_solver_stop(q->s), q->asked = true;
  return 0;
}

static void test_stop(void) {
  trial t;
  kcl_options o = jacobi_options();
  stopping q = {0};
  if (!open_trial("poisson2d:150", &o, 1, &t)) return;
  q.s = t.s;
  const kcl_call call = {.size = sizeof call, .zero_guess = 1, .progress = stop_later, .user = &q};
  arm(LOST, 3 * 60);
  CHECKF(!kcl_solve_call(t.s, &call, 1, t.b, t.x, t.r), "%s", kcl_error());
  CHECKF(q.asked && t.r->reason == KCL_INTERRUPTED && t.r->fell_back, "%s",
         kcl_reason_text(t.r->reason));
  close_trial(&t);
}

int main(void) {
  setenv("KRYLOCL_WATCHDOG", "1000", 1);
  setenv("KRYLOCL_PERSISTENT", "0", 1), setenv("KRYLOCL_SERIES", "0", 1); /* a launch per stage */
  replace_calls();
  test_settings();
  test_large_reads(jacobi_options());
  test_later_solves();
  test_object();
  test_function();
  test_refused();
  test_hung_context(true), test_hung_context(false);
  test_stop();
  test_methods();
  return check_report();
}
#endif
