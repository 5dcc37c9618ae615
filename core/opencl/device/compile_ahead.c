/* Programs that a later set-up, or this solve once they are there, will want: texts of those that are not kept, which wait until their
 * compilation pays (core/device/later.c). Then they are compiled by a thread beside the iterations, one after another, and go to the cache
 * folder as soon as each is there. The thread uses nothing of the context's list of programs; the thread that uses the context adds what
 * was compiled to it.
 *
 * The end of a context waits for the program that is being compiled, since no driver can be interrupted in that, and for those that
 * begin within LATE seconds. A process that is killed leaves whole entries: they are renamed into place. */
#include "core/base/sum64.h"
#include "core/opencl/device/device.h"

static const double LATE = 3;

typedef struct ahead_job {
  kcl_build build; /* its texts are owned */
  char *key;       /* owned */
  bool kept;       /* by now: it is not compiled */
  bool built;
} ahead_job;

struct kcl_ahead {
  kcl_context *ctx;
  pthread_t thread;
  atomic_bool ended;
  _Atomic double until; /* no program is begun later */
  int count;
  ahead_job job[KCL_MOST_BUILDS];
};

static void compile_one_ahead(kcl_context *ctx, ahead_job *j) {
  kcl_opencl *o = ctx->opencl;
  const char *source = j->build.source;
  cl_int code;
  char *all = kcl_opencl_all_options(o, "-w ", j->build.options);
  cl_program p = all ? clCreateProgramWithSource(o->context, 1, &source, NULL, &code) : NULL;
  j->build.program = p;
  if (p && !code) j->built = !clBuildProgram(p, 1, &o->device, all, NULL, NULL);
  if (j->built) kcl_opencl_store(o, j->key, p);
  free(all);
}

static void *compile_ahead(void *arg) {
  kcl_ahead *a = arg;
  for (int i = 0; i < a->count && kcl_now() < a->until; i++)
    if (!a->job[i].kept) compile_one_ahead(a->ctx, &a->job[i]);
  a->ended = true;
  return NULL;
}

void kcl_ahead_free(kcl_ahead *a) {
  if (!a) return;
  for (int i = 0; i < a->count; i++) {
    kcl_build *b = &a->job[i].build;
    if (b->program) clReleaseProgram(b->program);
    free(a->job[i].key);
    kcl_free_owned(&b->source), kcl_free_owned(&b->options);
  }
  free(a);
}

/* Adds a program unless it is kept. False: out of memory. */
static bool add_ahead(kcl_ahead *a, const kcl_build *b) {
  ahead_job *j = &a->job[a->count];
  if (kcl_opencl_keeps(a->ctx, b)) return true;
  a->count++;
  *j = (ahead_job){.build = {.source = strdup(b->source), .options = strdup(b->options)}};
  j->key = kcl_opencl_key(a->ctx, b);
  return j->build.source && j->build.options && j->key;
}

kcl_ahead *kcl_ahead_create(kcl_context *ctx, const kcl_build *list, int count) {
  kcl_ahead *a = ctx->opencl->compiles_alone ? NULL : calloc(1, sizeof *a);
  if (!a) return NULL;
  a->ctx = ctx, a->until = INFINITY;
  bool good = true;
  for (int i = 0; i < count && good; i++) good = add_ahead(a, &list[i]);
  if (good && a->count) return a;
  kcl_ahead_free(a);
  return NULL;
}

uint64_t kcl_ahead_sum(const kcl_ahead *a) {
  uint64_t h = 0;
  for (int i = 0; i < a->count; i++) h = kcl_sum64(a->job[i].key, strlen(a->job[i].key), h);
  return h;
}

bool kcl_ahead_begin(kcl_ahead *a) {
  kcl_opencl *o = a->ctx->opencl;
  if (!kcl_compile_ahead_ended(a->ctx)) return false;
  for (int i = 0; i < a->count; i++) a->job[i].kept = kcl_opencl_keeps(a->ctx, &a->job[i].build);
  if (kcl_thread_start(&a->thread, compile_ahead, a))
    o->ahead = a;
  else
    kcl_ahead_free(a);
  return true;
}

/* Waits for the thread; what it compiled is the context's. */
static void adopt_ahead(kcl_opencl *o) {
  kcl_ahead *a = o->ahead;
  o->ahead = NULL;
  pthread_join(a->thread, NULL);
  for (int i = 0; i < a->count; i++) {
    ahead_job *j = &a->job[i];
    if (!j->built) continue;
    o->compiled++;
    kcl_opencl_remember(o, j->key, j->build.program);
    j->key = NULL;
  }
  kcl_ahead_free(a);
}

bool kcl_compile_ahead_ended(kcl_context *ctx) {
  kcl_opencl *o = ctx->opencl;
  if (o->ahead && o->ahead->ended) adopt_ahead(o);
  return !o->ahead;
}

void kcl_compile_ahead_await(kcl_opencl *o, const char *key) {
  bool wanted = false;
  for (int i = 0; o->ahead && i < o->ahead->count && !wanted; i++)
    wanted = !o->ahead->job[i].kept && !strcmp(o->ahead->job[i].key, key);
  if (wanted) adopt_ahead(o);
}

void kcl_compile_ahead_end(kcl_opencl *o) {
  if (!o->ahead) return;
  o->ahead->until = kcl_now() + LATE;
  adopt_ahead(o);
}
