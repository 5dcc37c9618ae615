/* Calls of other libraries that take seconds and cannot be stopped (a compiler, a factorisation): they run in a thread of
 * their own while this one asks the caller whether to go on. What is stopped is abandoned: its thread ends with the call and
 * owns all that it uses. exit() waits for such threads, for it destroys what their libraries use; _exit() does not. */
#include "core/base/background.h"
#include "core/base/context.h"
#include <time.h>

enum { EVERY = 50000000 }; /* ns between two questions */

typedef struct stoppable_job {
  void (*run)(void *self), (*release)(void *self);
  void *self;
  pthread_mutex_t lock;
  pthread_cond_t ended;
  bool done, abandoned; /* the second of both parties frees */
} stoppable_job;

static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t one_ended = PTHREAD_COND_INITIALIZER;
static int left; /* that still run */

static void wait_for_all(void) {
  pthread_mutex_lock(&counting);
  while (left > 0) pthread_cond_wait(&one_ended, &counting);
  pthread_mutex_unlock(&counting);
}

/* Registers wait_for_all at each call: exit() runs handlers in reverse order, and a library loaded since the last call must not be
 * unloaded first. */
static void count_running(int change) {
  pthread_mutex_lock(&counting);
  if (change > 0) (void)atexit(wait_for_all);
  left += change;
  pthread_cond_broadcast(&one_ended);
  pthread_mutex_unlock(&counting);
}

static void free_job(stoppable_job *j) {
  pthread_mutex_destroy(&j->lock), pthread_cond_destroy(&j->ended);
  free(j);
}

static void *run_job(void *arg) {
  stoppable_job *j = arg;
  j->run(j->self);
  pthread_mutex_lock(&j->lock);
  const bool abandoned = j->abandoned;
  j->done = true;
  pthread_cond_signal(&j->ended);
  pthread_mutex_unlock(&j->lock);
  if (abandoned) {
    j->release(j->self);
    free_job(j);
    count_running(-1);
  }
  return NULL;
}

static void wait_a_little(stoppable_job *j) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  t.tv_nsec += EVERY;
  if (t.tv_nsec >= 1000000000) t.tv_sec++, t.tv_nsec -= 1000000000;
  pthread_cond_timedwait(&j->ended, &j->lock, &t);
}

bool kcl_stopped(kcl_context *ctx) {
  if (ctx->ask && !ctx->stopped && pthread_equal(pthread_self(), ctx->asks))
    ctx->stopped = ctx->stop || ctx->ask(ctx->asker) != 0;
  return ctx->stopped;
}

/* Waits for the job to end or the solve to stop. j->lock is held on entry and return. */
static void wait_or_stop(kcl_context *ctx, stoppable_job *j) {
  while (!j->done && !ctx->stopped) {
    wait_a_little(j);
    if (j->done) break;
    pthread_mutex_unlock(&j->lock);
    kcl_stopped(ctx);
    pthread_mutex_lock(&j->lock);
  }
}

bool kcl_run_stoppable(kcl_context *ctx, void (*run)(void *), void (*release)(void *), void *self) {
  pthread_t thread;
  if (ctx->stopped) {
    release(self);
    return false;
  }
  stoppable_job *j = ctx->ask ? malloc(sizeof *j) : NULL;
  if (j) {
    *j = (stoppable_job){.run = run, .release = release, .self = self};
    pthread_mutex_init(&j->lock, NULL), pthread_cond_init(&j->ended, NULL);
  }
  if (!j || !kcl_thread_start(&thread, run_job, j)) {
    if (j) free_job(j);
    run(self);
    return true;
  }
  pthread_mutex_lock(&j->lock);
  wait_or_stop(ctx, j);
  const bool done = j->done;
  j->abandoned = !done;
  if (!done) count_running(1);
  pthread_mutex_unlock(&j->lock);
  if (!done) {
    pthread_detach(thread);
    return false;
  }
  pthread_join(thread, NULL);
  free_job(j);
  return true;
}
