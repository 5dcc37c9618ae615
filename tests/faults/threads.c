/* Threads that cannot be created: see fault.h. For tests/faults.sh. */
#include "fault.h"
#include <pthread.h>

int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *), void *arg) {
  static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  if (fails(CALLER)) return EAGAIN;
  if (!real)
    real = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(
        RTLD_NEXT, "pthread_create");
  return real(thread, how, run, arg);
}
