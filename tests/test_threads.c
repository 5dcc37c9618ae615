/* Several threads open contexts at once, before the drivers are loaded. */
#include "krylocl.h"
#include "tests/check.h"
#include <pthread.h>
#include <string.h>

enum { THREADS = 4 };
typedef struct job {
  char device[128], error[256];
  int selected, listed;
} job;

static void *open_one(void *p) {
  job *j = p;
  kcl *ctx;
  kcl_device device, *list;
  if (kcl_create(&ctx)) return NULL;
  j->selected = !kcl_select(ctx, "opencl", 1) && !kcl_device_current(ctx, &device);
  snprintf(j->device, sizeof j->device, "%s", j->selected ? device.name : "");
  snprintf(j->error, sizeof j->error, "%s", kcl_error(ctx));
  if (!kcl_device_list(ctx, &list, &j->listed)) free(list);
  kcl_destroy(&ctx);
  return NULL;
}

int main(void) {
  pthread_t thread[THREADS];
  job jobs[THREADS] = {0};
  kcl *ctx;
  for (int i = 0; i < THREADS; i++) pthread_create(&thread[i], NULL, open_one, &jobs[i]);
  for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
  CHECK(!kcl_create(&ctx)); /* a fifth, alone, finds what they found */
  bool there = !kcl_select(ctx, "opencl", 1);
  kcl_destroy(&ctx);
  for (int i = 0; i < THREADS; i++)
    CHECKF(jobs[i].selected == there && jobs[i].listed == jobs[0].listed &&
               !strcmp(jobs[i].device, jobs[0].device),
           "thread %d: '%s', %d devices: %s", i, jobs[i].device, jobs[i].listed, jobs[i].error);
  return check_report();
}
