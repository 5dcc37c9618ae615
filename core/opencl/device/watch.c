/* Waits for a device have a limit, and a device that does not answer within it is lost.
 *
 * The functions of the table (cl.h) that wait are replaced by functions that poll an event, which a driver answers while its device
 * hangs, and then call the driver's own, which has nothing left to wait for. The limit is 100 times the predicted seconds of what is
 * enqueued, and at least 30 s; or KRYLOCL_WATCHDOG seconds, 0: no limit. It holds while a solve iterates; compilers and set-ups may
 * take minutes.
 *
 * After it the OpenCL context is lost: waits return KCL_CL_LOST at once, and its objects are abandoned, since their release would
 * wait for the device. The memory stays the process's until it ends.
 *
 * Cost: a marker per blocking transfer and clFinish; none per launch. */
#include "core/opencl/device/device.h"
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

/* Here these names are members of tables. */
#undef clEnqueueMapBuffer
#undef clEnqueueMarkerWithWaitList
#undef clEnqueueReadBuffer
#undef clEnqueueUnmapMemObject
#undef clEnqueueWriteBuffer
#undef clFinish
#undef clFlush
#undef clGetCommandQueueInfo
#undef clGetEventInfo
#undef clGetKernelInfo
#undef clGetMemObjectInfo
#undef clGetProgramInfo
#undef clReleaseCommandQueue
#undef clReleaseContext
#undef clReleaseEvent
#undef clReleaseKernel
#undef clReleaseMemObject
#undef clReleaseProgram
#undef clWaitForEvents

static const double TIMES = 100; /* the predicted seconds */
static const double LEAST = 30;  /* seconds of a limit */
static const double SLICE = 1;   /* a process that was suspended has not waited longer */
static const double SPIN_CPU = 1e-4; /* seconds of polling without sleep, while a CPU device needs the cores, */
static const double SPIN_GPU = 5e-3; /* and where drivers spin, too */

struct kcl_watched {
  cl_context context;
  double given; /* seconds of the limit, by KRYLOCL_WATCHDOG; negative: it follows from */
  double spin;
  _Atomic double expected; /* seconds of what is enqueued */
  atomic_bool on, lost;
  kcl_watched *next;
};

static struct kcl_cl driver; /* the functions themselves */
static pthread_mutex_t listing = PTHREAD_MUTEX_INITIALIZER;
static kcl_watched *all_watched;
static atomic_int lost_contexts;

/* ---------------------------------------------------------------- contexts */

static kcl_watched *find_watched(cl_context context) {
  pthread_mutex_lock(&listing);
  kcl_watched *w = all_watched;
  while (w && w->context != context) w = w->next;
  pthread_mutex_unlock(&listing);
  return w;
}

static kcl_watched *find_watched_of_queue(cl_command_queue queue) {
  cl_context context = NULL;
  driver.clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
  return find_watched(context);
}

/* Oclgrind runs what is enqueued only while somebody waits, so its events cannot be polled. */
int kcl_watch_begin(kcl_context *ctx) {
  kcl_opencl *o = ctx->opencl;
  const char *text = getenv("KRYLOCL_WATCHDOG");
  const double given = text && *text ? strtod(text, NULL) : -1;
  if (given == 0 || o->compiles_alone) return KCL_OK;
  int rc = kcl_alloc(ctx, 1, sizeof *o->watched, "a watch", (void **)&o->watched);
  if (rc) return rc;
  o->watched->context = o->context, o->watched->given = given;
  o->watched->spin = o->is_cpu ? SPIN_CPU : SPIN_GPU;
  pthread_mutex_lock(&listing);
  o->watched->next = all_watched, all_watched = o->watched;
  pthread_mutex_unlock(&listing);
  return KCL_OK;
}

/* A context that is lost stays in the list. */
void kcl_watch_end(kcl_opencl *o) {
  if (!o->watched || o->watched->lost) return;
  pthread_mutex_lock(&listing);
  kcl_watched **at = &all_watched;
  while (*at != o->watched) at = &(*at)->next;
  *at = o->watched->next;
  pthread_mutex_unlock(&listing);
  free(o->watched), o->watched = NULL;
}

void kcl_opencl_watch(kcl_context *ctx, bool on) {
  if (ctx->opencl->watched) ctx->opencl->watched->on = on;
}

void kcl_watch_expect(const kcl_opencl *o, double seconds) {
  if (o->watched) o->watched->expected = seconds;
}

bool kcl_watch_lost(const kcl_opencl *o) { return o->watched && o->watched->lost; }

static double limit_of_watched(const kcl_watched *w) {
  if (!w->on) return INFINITY;
  return w->given > 0 ? w->given : fmax(LEAST, TIMES * w->expected);
}

double kcl_watch_limit(const kcl_opencl *o) {
  return o->watched ? limit_of_watched(o->watched) : INFINITY;
}

static void lose_context(kcl_watched *w) {
  if (!atomic_exchange(&w->lost, true)) lost_contexts++;
}

/* ---------------------------------------------------------------- waits */

/* Adds the seconds since the last call; false: the limit has passed, and the context is lost. */
static bool wait_goes_on(kcl_watched *w, kcl_wait *wait) {
  const double now = kcl_now();
  if (w->lost) return false;
  if (wait->last > 0) wait->seconds += fmin(now - wait->last, SLICE);
  wait->last = now;
  if (wait->seconds <= limit_of_watched(w)) return true;
  lose_context(w);
  return false;
}

bool kcl_wait_goes_on(const kcl_opencl *o, kcl_wait *wait) {
  return !o->watched || wait_goes_on(o->watched, wait);
}

/* A hundredth of what was waited so far, at most 10 ms. */
static void pause_between_polls(const kcl_watched *w, const kcl_wait *wait) {
  if (wait->seconds < w->spin) {
    sched_yield();
    return;
  }
  const double pause = fmin(0.01, fmax(2e-5, wait->seconds / 100));
  nanosleep(&(struct timespec){.tv_nsec = (long)(pause * 1e9)}, NULL);
}

static bool event_is_pending(cl_event e) {
  cl_int state = CL_COMPLETE;
  const cl_int code =
      driver.clGetEventInfo(e, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
  return !code && state > CL_COMPLETE;
}

/* Until the driver's own wait for the event would return at once. */
static cl_int await_event(kcl_watched *w, cl_command_queue queue, cl_event e) {
  kcl_wait wait = {0};
  cl_int code = CL_SUCCESS;
  if (!event_is_pending(e)) return CL_SUCCESS;
  code = driver.clFlush(queue);
  while (!code && event_is_pending(e)) {
    if (!wait_goes_on(w, &wait)) return KCL_CL_LOST;
    pause_between_polls(w, &wait);
  }
  return code;
}

/* All that is enqueued; CL_SUCCESS where nothing watches it: the driver waits. */
static cl_int await_queue(cl_command_queue queue) {
  kcl_watched *w = find_watched_of_queue(queue);
  cl_event marker;
  if (w && w->lost) return KCL_CL_LOST;
  if (!w || !w->on) return CL_SUCCESS;
  cl_int code = driver.clEnqueueMarkerWithWaitList(queue, 0, NULL, &marker);
  if (code) return code;
  code = await_event(w, queue, marker);
  if (code != KCL_CL_LOST) driver.clReleaseEvent(marker);
  return code;
}

/* ---------------------------------------------------------------- functions of the table */

static cl_int CL_API_CALL watched_finish(cl_command_queue queue) {
  const cl_int code = await_queue(queue);
  return code ? code : driver.clFinish(queue);
}

static cl_int CL_API_CALL watched_wait(cl_uint count, const cl_event *list) {
  cl_int code = CL_SUCCESS;
  for (cl_uint i = 0; i < count && !code; i++) {
    cl_command_queue queue = NULL;
    driver.clGetEventInfo(list[i], CL_EVENT_COMMAND_QUEUE, sizeof(cl_command_queue), &queue, NULL);
    kcl_watched *w = queue ? find_watched_of_queue(queue) : NULL;
    if (w && w->lost) return KCL_CL_LOST;
    if (w && w->on) code = await_event(w, queue, list[i]);
  }
  return code ? code : driver.clWaitForEvents(count, list);
}

static cl_int CL_API_CALL watched_read(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                       size_t offset, size_t bytes, void *to, cl_uint count,
                                       const cl_event *list, cl_event *event) {
  const cl_int code = blocking ? await_queue(queue) : CL_SUCCESS;
  return code ? code
              : driver.clEnqueueReadBuffer(queue, buffer, blocking, offset, bytes, to, count, list,
                                           event);
}

static cl_int CL_API_CALL watched_write(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                        size_t offset, size_t bytes, const void *from,
                                        cl_uint count, const cl_event *list, cl_event *event) {
  const cl_int code = blocking ? await_queue(queue) : CL_SUCCESS;
  return code ? code
              : driver.clEnqueueWriteBuffer(queue, buffer, blocking, offset, bytes, from, count,
                                            list, event);
}

static void *CL_API_CALL watched_map(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                     cl_map_flags flags, size_t offset, size_t bytes, cl_uint count,
                                     const cl_event *list, cl_event *event, cl_int *code) {
  const cl_int waited = blocking ? await_queue(queue) : CL_SUCCESS;
  if (!waited)
    return driver.clEnqueueMapBuffer(queue, buffer, blocking, flags, offset, bytes, count, list,
                                     event, code);
  if (code) *code = waited;
  return NULL;
}

/* ---------------------------------------------------------------- what a lost context leaves behind */

static bool context_is_lost(cl_context context) {
  const kcl_watched *w = find_watched(context);
  return w && w->lost;
}

static cl_int CL_API_CALL release_buffer(cl_mem buffer) {
  cl_context of = NULL;
  if (lost_contexts) driver.clGetMemObjectInfo(buffer, CL_MEM_CONTEXT, sizeof of, &of, NULL);
  return of && context_is_lost(of) ? CL_SUCCESS : driver.clReleaseMemObject(buffer);
}

static cl_int CL_API_CALL release_kernel(cl_kernel kernel) {
  cl_context of = NULL;
  if (lost_contexts) driver.clGetKernelInfo(kernel, CL_KERNEL_CONTEXT, sizeof of, &of, NULL);
  return of && context_is_lost(of) ? CL_SUCCESS : driver.clReleaseKernel(kernel);
}

static cl_int CL_API_CALL release_program(cl_program program) {
  cl_context of = NULL;
  if (lost_contexts) driver.clGetProgramInfo(program, CL_PROGRAM_CONTEXT, sizeof of, &of, NULL);
  return of && context_is_lost(of) ? CL_SUCCESS : driver.clReleaseProgram(program);
}

static cl_int CL_API_CALL release_event(cl_event event) {
  cl_context of = NULL;
  if (lost_contexts) driver.clGetEventInfo(event, CL_EVENT_CONTEXT, sizeof of, &of, NULL);
  return of && context_is_lost(of) ? CL_SUCCESS : driver.clReleaseEvent(event);
}

static cl_int CL_API_CALL release_queue(cl_command_queue queue) {
  const kcl_watched *w = lost_contexts ? find_watched_of_queue(queue) : NULL;
  return w && w->lost ? CL_SUCCESS : driver.clReleaseCommandQueue(queue);
}

static cl_int CL_API_CALL release_context(cl_context context) {
  return lost_contexts && context_is_lost(context) ? CL_SUCCESS : driver.clReleaseContext(context);
}

static cl_int CL_API_CALL unmap_buffer(cl_command_queue queue, cl_mem buffer, void *mapped,
                                       cl_uint count, const cl_event *list, cl_event *event) {
  const kcl_watched *w = lost_contexts ? find_watched_of_queue(queue) : NULL;
  return w && w->lost
             ? KCL_CL_LOST
             : driver.clEnqueueUnmapMemObject(queue, buffer, mapped, count, list, event);
}

void kcl_watch_install(void) {
  driver = kcl_cl;
  kcl_cl.clFinish = watched_finish, kcl_cl.clWaitForEvents = watched_wait;
  kcl_cl.clEnqueueReadBuffer = watched_read, kcl_cl.clEnqueueWriteBuffer = watched_write;
  kcl_cl.clEnqueueMapBuffer = watched_map, kcl_cl.clEnqueueUnmapMemObject = unmap_buffer;
  kcl_cl.clReleaseMemObject = release_buffer, kcl_cl.clReleaseKernel = release_kernel;
  kcl_cl.clReleaseProgram = release_program, kcl_cl.clReleaseEvent = release_event;
  kcl_cl.clReleaseCommandQueue = release_queue, kcl_cl.clReleaseContext = release_context;
}
