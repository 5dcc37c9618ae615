/* Compiled programs, kept in two places: a context remembers its latest by their text, and the cache folder
 * (core/base/cache.h) stores the driver's binaries for all processes. The key is all that a binary depends on:
 *
 *   platform and its version | device | driver | options | source
 *
 * A binary that the driver does not take is compiled again and replaced. The remaining programs are compiled concurrently:
 * drivers compile in the calling thread; where they cannot (PoCL), one program after another. */
#include "core/base/cache.h"
#include "core/opencl/device/device.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char folder[] = "programs";
static const long long most_kept = 256 << 20; /* bytes */

/* Appends text to the file KRYLOCL_DUMP, which receives composed sources and compiler logs for kernel authors. */
static void dump(kcl_opencl *o, const char *text) {
  const char *path = getenv("KRYLOCL_DUMP");
  FILE *f = path ? fopen(path, o->dumped ? "a" : "w") : NULL;
  if (f) fputs(text, f), fclose(f);
  o->dumped = true;
}

/* ---------------------------------------------------------------- on disk */

static cl_program load_binary(kcl_opencl *o, const char *key, const char *options) {
  size_t size;
  unsigned char *binary = kcl_cache_get(folder, key, &size);
  const unsigned char *bytes = binary;
  cl_int code, status;
  if (!binary) return NULL;
  cl_program p =
      clCreateProgramWithBinary(o->context, 1, &o->device, &size, &bytes, &status, &code);
  free(binary);
  char *all = code ? NULL : kcl_opencl_all_options(o, "", options);
  if (!code) code = all ? clBuildProgram(p, 1, &o->device, all, NULL, NULL) : CL_OUT_OF_HOST_MEMORY;
  free(all);
  if (!code) {
    o->from_cache++;
    return p;
  }
  if (p) clReleaseProgram(p);
  return NULL;
}

void kcl_opencl_store(kcl_opencl *o, const char *key, cl_program p) {
  char path[4096];
  size_t size;
  if (kcl_cache_path(folder, "", path, sizeof path)) return;
  char *binary = kcl_opencl_binary(p, &size);
  if (binary) kcl_cache_put(folder, key, binary, size), o->stored += (long long)size;
  free(binary);
}

/* ---------------------------------------------------------------- in memory */

char *kcl_opencl_key(const kcl_context *ctx, const kcl_build *b) {
  const kcl_device *d = &ctx->device;
  char version[128] = "";
  clGetPlatformInfo(ctx->opencl->platform, CL_PLATFORM_VERSION, sizeof version - 1, version, NULL);
  size_t capacity = strlen(b->options) + strlen(b->source) + sizeof *d + sizeof version;
  char *key = malloc(capacity);
  if (key)
    snprintf(key, capacity, "%s\n%s\n%s\n%s\n%s\n%s\n%s", d->platform_name, version, d->name,
             d->version, d->driver, b->options, b->source);
  return key;
}

/* Its place among the context's latest; -1: it is none of them. */
static int find_built(const kcl_opencl *o, const char *key) {
  for (int i = 0; i < KCL_BUILT; i++)
    if (o->built[i].key && !strcmp(o->built[i].key, key)) return i;
  return -1;
}

static cl_program recall(const kcl_opencl *o, const char *key) {
  const int i = find_built(o, key);
  return i < 0 || clRetainProgram(o->built[i].program) ? NULL : o->built[i].program;
}

static void forget_program(kcl_opencl *o, int i) {
  if (o->built[i].program) clReleaseProgram(o->built[i].program);
  free(o->built[i].key);
  o->built[i].program = NULL, o->built[i].key = NULL;
}

void kcl_opencl_remember(kcl_opencl *o, char *key, cl_program p) {
  int i = o->builds++ % KCL_BUILT;
  forget_program(o, i);
  if (clRetainProgram(p))
    free(key);
  else
    o->built[i].key = key, o->built[i].program = p;
}

/* The program from this context or else from the folder; takes over the key. NULL: there is none, the key stays the caller's. */
static cl_program obtain(kcl_opencl *o, char *key, const char *options) {
  cl_program p = recall(o, key);
  if (p) {
    free(key);
    return p;
  }
  if ((p = load_binary(o, key, options))) kcl_opencl_remember(o, key, p);
  return p;
}

/* ---------------------------------------------------------------- in the background */

typedef struct kcl_loading {
  kcl_context *ctx;
  kcl_background *work;
  int count;
  kcl_build list[];
} kcl_loading;

static bool have(kcl_context *ctx, const kcl_build *b) {
  char *key = kcl_opencl_key(ctx, b);
  cl_program p = key ? obtain(ctx->opencl, key, b->options) : NULL;
  if (p)
    clReleaseProgram(p); /* the context keeps it */
  else
    free(key);
  return p;
}

static void load_all(void *self) {
  const kcl_loading *l = self;
  for (int i = 0; i < l->count; i++) have(l->ctx, &l->list[i]);
}

static void end_loading(kcl_opencl *o) {
  if (o->loading) kcl_background_await(&o->loading->work);
  free(o->loading), o->loading = NULL;
}

bool kcl_opencl_have(kcl_context *ctx, const kcl_build *b) {
  end_loading(ctx->opencl);
  return have(ctx, b);
}

bool kcl_opencl_keeps(kcl_context *ctx, const kcl_build *b) {
  end_loading(ctx->opencl);
  char *key = kcl_opencl_key(ctx, b);
  const bool kept = key && (find_built(ctx->opencl, key) >= 0 || kcl_cache_has(folder, key));
  free(key);
  return kept;
}

void kcl_opencl_load_ahead(kcl_context *ctx, const kcl_build *list, int count) {
  const size_t bytes = (size_t)count * sizeof *list;
  end_loading(ctx->opencl);
  kcl_loading *l = malloc(sizeof *l + bytes);
  if (!l) return;
  *l = (kcl_loading){.ctx = ctx, .count = count};
  memcpy(l->list, list, bytes);
  ctx->opencl->loading = l;
  l->work = kcl_background_begin(load_all, l);
}

void kcl_opencl_forget_programs(kcl_opencl *o) {
  end_loading(o);
  kcl_compile_ahead_end(o);
  for (int i = 0; i < KCL_BUILT; i++) forget_program(o, i);
  if (o->compiled) kcl_cache_trim(folder, most_kept);
}

kcl_program_counts kcl_opencl_count_programs(const kcl_context *ctx) {
  const kcl_opencl *o = ctx->opencl;
  return (kcl_program_counts){o->compiled, o->from_cache, (double)o->stored};
}

/* ---------------------------------------------------------------- compiling */

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
  of->program = obtain(o, key, of->options);
  of->compiled = !of->program;
  if (!of->program) b->job[b->count++] = (build_job){.of = of, .key = key};
  return KCL_OK;
}

int kcl_opencl_build(kcl_context *ctx, kcl_build *list, int count) {
  build_batch b = {.ctx = ctx};
  int rc;
  end_loading(ctx->opencl);
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
