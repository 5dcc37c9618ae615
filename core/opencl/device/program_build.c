/* Programs that a set-up needs: from the context or the folder (program_cache.c), else from the thread that compiles ahead, else
 * compiled. Those are compiled at once: drivers compile in the calling thread; where they cannot (PoCL), one program after
 * another. */
#include "core/opencl/device/device.h"
#include <time.h>

/* Appends text to the file KRYLOCL_DUMP, which receives composed sources and compiler logs for kernel authors. */
static void dump(kcl_opencl *o, const char *text) {
  const char *path = getenv("KRYLOCL_DUMP");
  FILE *f = path ? fopen(path, o->dumped ? "a" : "w") : NULL;
  if (f) fputs(text, f), fclose(f);
  o->dumped = true;
}

typedef struct build_job {
  kcl_build *of;
  char *key;
  const char *call; /* that gave the code */
  cl_int code;
  bool stopped; /* by the user of the solve */
  double seconds;
} build_job;

typedef struct build_batch {
  kcl_context *ctx;
  build_job job[KCL_MOST_BUILDS];
  int count;
  atomic_int begun, ended;
} build_batch;

static void compile(kcl_context *ctx, build_job *j) {
  kcl_opencl *o = ctx->opencl;
  const char *source = j->of->source;
  cl_program *p = &j->of->program;
  j->call = "clCreateProgramWithSource";
  *p = clCreateProgramWithSource(o->context, 1, &source, NULL, &j->code);
  if (j->code) return;
  j->call = "clBuildProgram";
  const double begin = kcl_now();
  j->code = kcl_opencl_compile(ctx, *p, j->of->options, &j->stopped);
  j->seconds = kcl_now() - begin;
  if (!j->code && !j->stopped) kcl_opencl_store(o, j->key, *p);
}

/* Reports progress, by the thread that uses the context alone: kcl_context_watch promises that. */
static void show_build(const build_batch *b) {
  int part = b->ended + 1;
  if (part <= b->count)
    kcl_activity_begin(b->ctx, (kcl_activity){"compiling kernels", part, b->count, 0});
}

static void compile_some(void *arg, const kcl_member *me) {
  build_batch *b = arg;
  for (int i; (i = b->begun++) < b->count; b->ended++) {
    if (me->number == 0) show_build(b);
    compile(b->ctx, &b->job[i]);
  }
  if (me->number != 0) return;
  show_build(b);
  while (b->ctx->ask && b->ended < b->count && !kcl_stopped(b->ctx)) /* the others do not ask */
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
}

static int check_build(kcl_context *ctx, const build_job *j) {
  cl_program p = j->of->program;
  if (j->stopped) return kcl_fail(ctx, KCL_DEVICE, "stopped while kernels were compiled");
  char *log = p ? kcl_opencl_log(ctx->opencl, p) : NULL;
  if (log && log[strspn(log, " \n")]) {
    dump(ctx->opencl, "/* the compiler's log:\n");
    dump(ctx->opencl, log);
    dump(ctx->opencl, "\n*/\n");
  }
  char compiled[80];
  snprintf(compiled, sizeof compiled, "/* %zu characters were compiled in %.2f s */\n",
           strlen(j->of->source), j->seconds);
  dump(ctx->opencl, compiled);
  int rc = j->code != CL_BUILD_PROGRAM_FAILURE
               ? kcl_cl_check(ctx, j->code, j->call, "compiling kernels")
               : kcl_fail(ctx, KCL_DEVICE, "the driver of %s cannot compile the kernels:\n%.3000s",
                          ctx->device.name, log ? log : "");
  free(log);
  return rc;
}

static int compile_all(build_batch *b) {
  int rc = KCL_OK;
  b->ctx->opencl->compiled += b->count;
  int most = b->ctx->opencl->compiles_alone ? 1 : kcl_cpus();
  kcl_parallel(b->count < most ? b->count : most, compile_some, b);
  kcl_activity_end(b->ctx);
  for (int i = 0; i < b->count && !rc; i++) {
    rc = check_build(b->ctx, &b->job[i]);
    if (!rc)
      kcl_opencl_remember(b->ctx->opencl, b->job[i].key, b->job[i].of->program),
          b->job[i].key = NULL;
  }
  return rc;
}

/* Finds a program in this context or in the folder; otherwise adds it to the batch. */
static int find_program(build_batch *b, kcl_build *of) {
  kcl_opencl *o = b->ctx->opencl;
  char *key = kcl_opencl_key(b->ctx, of);
  if (!key) return kcl_fail(b->ctx, KCL_MEMORY, "out of memory: kernels");
  dump(o, of->source);
  kcl_compile_ahead_await(o, key);
  of->program = kcl_opencl_obtain(o, key, of->options);
  of->compiled = !of->program;
  if (!of->program) b->job[b->count++] = (build_job){.of = of, .key = key};
  return KCL_OK;
}

int kcl_opencl_build(kcl_context *ctx, kcl_build *list, int count) {
  build_batch b = {.ctx = ctx};
  int rc;
  kcl_opencl_end_loading(ctx->opencl);
  for (int i = 0; i < count; i++) KCL_TRY(find_program(&b, &list[i]));
  if (b.count) KCL_TRY(compile_all(&b));
done:
  for (int i = 0; i < b.count; i++) free(b.job[i].key);
  for (int i = 0; i < count && rc; i++) {
    if (list[i].program) clReleaseProgram(list[i].program);
    list[i].program = NULL;
  }
  return rc;
}
