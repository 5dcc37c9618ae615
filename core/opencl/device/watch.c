/* Waits for a device have a limit, and a device that does not answer within it is lost.
 *
 * The functions of the table (cl.h) that wait are replaced by functions that look at an event, which a driver answers while its device
 * hangs: GPUs are polled, as their drivers do, and CPU devices, which need the cores, call back. Then the driver's own function is
 * called, which has nothing left to wait for. The limit is 100 times the predicted seconds of what is enqueued, and at least 30 s; or
 * KRYLOCL_WATCHDOG seconds, 0: no limit. It holds while a solve iterates; compilers and set-ups may take minutes.
 *
 * After it the OpenCL context is lost: waits return KCL_CL_LOST at once, and its objects are abandoned, since their release would
 * wait for the device. The memory stays the process's until it ends, also that of transfers on the host (watched_transfers.c).
 *
 * Cost: per blocking transfer an event and a copy; a marker per clFinish; none per launch. */
#include "core/opencl/device/watch.h"
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double TIMES = 100; /* the predicted seconds */
static const double LEAST = 30;  /* seconds of a limit */
enum { TICK = 100000000 };       /* ns between two looks at the clock */
static const double SLICE = 1;   /* a process that was suspended has not waited longer */
static const double SPIN = 5e-3; /* seconds of polling without sleep: drivers of GPUs spin, too */

struct kcl_cl kcl_cl_driver;
static pthread_mutex_t listing = PTHREAD_MUTEX_INITIALIZER;
static kcl_watched *all_watched;
atomic_int kcl_lost_contexts;

/* ---------------------------------------------------------------- contexts */

kcl_watched *kcl_watched_context(cl_context context) {
  pthread_mutex_lock(&listing);
  kcl_watched *w = all_watched;
  while (w && w->context != context) w = w->next;
  pthread_mutex_unlock(&listing);
  return w;
}

kcl_watched *kcl_watched_queue(cl_command_queue queue) {
  cl_context context = NULL;
  kcl_cl_driver.clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
  return kcl_watched_context(context);
}

int kcl_watch_begin(kcl_context *ctx) {
  kcl_opencl *o = ctx->opencl;
  const char *text = getenv("KRYLOCL_WATCHDOG");
  const double given = text && *text ? strtod(text, NULL) : -1;
  if (given == 0 || o->runs_in_waits) return KCL_OK;
  if ((o->watched = kcl_watched_context(o->context))) {
    o->watched->users++;
    return KCL_OK;
  }
  int rc = kcl_alloc(ctx, 1, sizeof *o->watched, "a watch", (void **)&o->watched);
  if (rc) return rc;
  o->watched->context = o->context, o->watched->given = given, o->watched->users = 1;
  o->watched->calls_back = !strcmp(ctx->device.kind, "cpu");
  pthread_mutex_lock(&listing);
  o->watched->next = all_watched, all_watched = o->watched;
  pthread_mutex_unlock(&listing);
  return KCL_OK;
}

/* A context that is lost stays in the list. */
void kcl_watch_end(kcl_opencl *o) {
  if (!o->watched || --o->watched->users || o->watched->lost) return;
  pthread_mutex_lock(&listing);
  kcl_watched **at = &all_watched;
  while (*at != o->watched) at = &(*at)->next;
  *at = o->watched->next;
  pthread_mutex_unlock(&listing);
  free(o->watched->room), free(o->watched), o->watched = NULL;
}

void kcl_opencl_watch(kcl_context *ctx, bool on) {
  if (ctx->opencl->watched) ctx->opencl->watched->on += on ? 1 : -1;
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
  if (!atomic_exchange(&w->lost, true)) kcl_lost_contexts++;
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
static void pause_between_polls(const kcl_wait *wait) {
  if (wait->seconds < SPIN) {
    sched_yield();
    return;
  }
  const double pause = fmin(0.01, fmax(2e-5, wait->seconds / 100));
  nanosleep(&(struct timespec){.tv_nsec = (long)(pause * 1e9)}, NULL);
}

static bool event_is_pending(cl_event e) {
  cl_int state = CL_COMPLETE;
  const cl_int code = kcl_cl_driver.clGetEventInfo(e, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                                   sizeof state, &state, NULL);
  return !code && state > CL_COMPLETE;
}

static cl_int poll_event(kcl_watched *w, cl_event e) {
  kcl_wait wait = {0};
  while (event_is_pending(e)) {
    if (!wait_goes_on(w, &wait)) return KCL_CL_LOST;
    pause_between_polls(&wait);
  }
  return CL_SUCCESS;
}

typedef struct call_back {
  pthread_mutex_t lock;
  pthread_cond_t ended;
  bool done;
} call_back;

static void CL_CALLBACK note_end(cl_event e, cl_int state, void *user) {
  (void)e, (void)state;
  call_back *c = user;
  pthread_mutex_lock(&c->lock);
  c->done = true;
  pthread_cond_signal(&c->ended);
  pthread_mutex_unlock(&c->lock);
}

static bool wait_for_call(kcl_watched *w, call_back *c) {
  kcl_wait wait = {0};
  struct timespec t;
  pthread_mutex_lock(&c->lock);
  while (!c->done && wait_goes_on(w, &wait)) {
    clock_gettime(CLOCK_REALTIME, &t);
    if ((t.tv_nsec += TICK) >= 1000000000) t.tv_sec++, t.tv_nsec -= 1000000000;
    pthread_cond_timedwait(&c->ended, &c->lock, &t);
  }
  const bool done = c->done;
  pthread_mutex_unlock(&c->lock);
  return done;
}

/* The driver may call at any time after a loss: c stays then. */
static cl_int await_call(kcl_watched *w, cl_event e) {
  call_back *c = malloc(sizeof *c);
  if (!c) return poll_event(w, e);
  c->done = false;
  pthread_mutex_init(&c->lock, NULL), pthread_cond_init(&c->ended, NULL);
  const cl_int code = kcl_cl_driver.clSetEventCallback(e, CL_COMPLETE, note_end, c);
  if (!code && !wait_for_call(w, c)) return KCL_CL_LOST;
  pthread_mutex_destroy(&c->lock), pthread_cond_destroy(&c->ended);
  free(c);
  return code;
}

cl_int kcl_watch_event(kcl_watched *w, cl_command_queue queue, cl_event e) {
  if (!event_is_pending(e)) return CL_SUCCESS;
  const cl_int code = kcl_cl_driver.clFlush(queue);
  if (code) return code;
  return w->calls_back ? await_call(w, e) : poll_event(w, e);
}

cl_int kcl_watch_queue(cl_command_queue queue) {
  kcl_watched *w = kcl_watched_queue(queue);
  cl_event marker;
  if (w && w->lost) return KCL_CL_LOST;
  if (!w || !w->on) return CL_SUCCESS;
  cl_int code = kcl_cl_driver.clEnqueueMarkerWithWaitList(queue, 0, NULL, &marker);
  if (code) return code;
  code = kcl_watch_event(w, queue, marker);
  if (code != KCL_CL_LOST) kcl_cl_driver.clReleaseEvent(marker);
  return code;
}
