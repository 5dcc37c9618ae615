/* See background.h. */
#include "core/base/background.h"
#include <signal.h>
#include <stdlib.h>

struct kcl_background {
  void (*run)(void *self);
  void *self;
  pthread_t thread;
};

static void *run_background(void *arg) {
  const kcl_background *b = arg;
  b->run(b->self);
  return NULL;
}

bool kcl_thread_start(pthread_t *thread, void *(*body)(void *), void *arg) {
  static const int faults[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL};
  sigset_t blocked, before;
  sigfillset(&blocked);
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sigdelset(&blocked, faults[i]);
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  const bool good = pthread_create(thread, NULL, body, arg) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return good;
}

kcl_background *kcl_background_begin(void (*run)(void *self), void *self) {
  kcl_background *b = malloc(sizeof *b);
  if (b) *b = (kcl_background){.run = run, .self = self};
  if (b && kcl_thread_start(&b->thread, run_background, b)) return b;
  free(b);
  run(self);
  return NULL;
}

void kcl_background_await(kcl_background **b) {
  if (*b) pthread_join((*b)->thread, NULL);
  free(*b), *b = NULL;
}
