/* Programs, memory and launches of set-ups on a device. Programs are loaded ahead of time, while the host is at work. Buffers are the
 * context's (core/opencl/device/pool.c), which keeps the programs, too, for the next set-up. */
#include "kernels/kernels.h"
#include "multigrid/opencl/launch.h"

enum { COMMON = 3, PROGRAMS = 5, LEAST_ROWS = 4096, NOTES_ROOM = 1 << 14 };
enum { MOST_EXPECTED = 64 /* two per level */ };

struct kcl_device_setup {
  kcl_context *ctx;
  kcl_type type;
  cl_program program[PROGRAMS];      /* those whose kernels are here */
  bool aggregation;                  /* of this set-up */
  bool built;                        /* its programs are here */
  cl_kernel kernel[KCL_AMG_KERNELS]; /* of these programs; else NULL */
  void **buffer;                     /* [buffers] of the context's pool, in use */
  int buffers;
  void *message; /* cl_mem: ulong [messages] */
  int64_t messages;
  void *notes;     /* cl_mem: int [NOTES_ROOM] */
  int taken, read; /* of them; read: these have been */
  cl_int seen[NOTES_ROOM];
  int expected[MOST_EXPECTED]; /* notes that are to stay 0 */
  int expectations;
};

kcl_context *kcl_amg_device_context(const kcl_device_setup *s) { return s->ctx; }
bool kcl_amg_device_single(const kcl_device_setup *s) { return s->type == KCL_S; }

bool kcl_amg_device_possible(const kcl_context *ctx, const kcl_csr *A) {
  return ctx->opencl && ctx->layout == KCL_LAYOUT_GPU && ctx->device.has_double &&
         !kcl_type_complex(A->type) && A->rows >= LEAST_ROWS && A->nnz < INT32_MAX;
}

/* ---------------------------------------------------------------- kernels */

static const char *const kernel_name[KCL_AMG_KERNELS] = {
#define KCL_AMG_KERNEL(name) #name,
#include "multigrid/opencl/kernels.def"
#undef KCL_AMG_KERNEL
};

/* Stores a kernel under its number. Releases one that set-ups do not launch, or that an attempt before has stored. */
static cl_int store_kernel(kcl_device_setup *s, cl_kernel k) {
  char name[32] = "";
  const cl_int code = clGetKernelInfo(k, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL);
  for (int i = 0; i < KCL_AMG_KERNELS; i++)
    if (!s->kernel[i] && !strcmp(name, kernel_name[i])) {
      s->kernel[i] = k;
      return code;
    }
  clReleaseKernel(k);
  return code;
}

static int take_kernels(kcl_device_setup *s, cl_program p) {
  cl_kernel list[KCL_AMG_KERNELS];
  cl_uint count = 0;
  cl_int code = clCreateKernelsInProgram(p, KCL_AMG_KERNELS, list, &count);
  for (cl_uint i = 0; i < count; i++) {
    const cl_int stored = store_kernel(s, list[i]);
    if (!code) code = stored;
  }
  return kcl_cl_check(s->ctx, code, "clCreateKernelsInProgram", "setting up a preconditioner");
}

static const char *const file[PROGRAMS] = {"sparse_rows.cl", "sparse_product.cl",
                                           "sparse_smooth.cl", "sparse_coarsen.cl",
                                           "sparse_tentative.cl"};

static kcl_build program(kcl_type type, int i) {
  return (kcl_build){.source = kcl_kernel_text(file[i]),
                     .options = type == KCL_S ? "-DVALUE=float" : ""};
}

static bool needs(bool aggregation, int i) { return i < COMMON || i == COMMON + aggregation; }

/* Lists the programs that are needed and not loaded yet, with their places in s->program; returns their number. */
static int list_programs(const kcl_device_setup *s, kcl_build *list, int *place) {
  int count = 0;
  for (int i = 0; i < PROGRAMS; i++)
    if (needs(s->aggregation, i) && !s->program[i])
      place[count] = i, list[count++] = program(s->type, i);
  return count;
}

bool kcl_amg_device_compiled(kcl_context *ctx, kcl_type type, bool aggregation) {
  bool all = true;
  for (int i = 0; i < PROGRAMS && all; i++) {
    const kcl_build b = program(type, i);
    if (needs(aggregation, i)) all = kcl_opencl_have(ctx, &b);
  }
  return all;
}

static int build_kernels(kcl_device_setup *s) {
  kcl_build list[PROGRAMS];
  int place[PROGRAMS], count = list_programs(s, list, place);
  int rc = kcl_opencl_build(s->ctx, list, count);
  for (int i = 0; i < count && list[i].program; i++) {
    if (!rc) rc = take_kernels(s, list[i].program);
    if (rc)
      clReleaseProgram(list[i].program);
    else
      s->program[place[i]] = list[i].program;
  }
  s->built = !rc;
  return rc;
}

int kcl_amg_device_launch(kcl_device_setup *s, kcl_amg_kernel kernel, int64_t items, size_t group,
                          const kcl_arg *arg, int args) {
  const size_t global = ((size_t)(items ? items : 1) + group - 1) / group * group;
  cl_int code = CL_SUCCESS;
  KCL_CALL(s->built ? KCL_OK : build_kernels(s));
  const cl_kernel k = s->kernel[kernel];
  for (int i = 0; i < args && !code; i++)
    code = clSetKernelArg(k, (cl_uint)i, arg[i].size, arg[i].value);
  if (!code)
    code = clEnqueueNDRangeKernel(s->ctx->opencl->queue, k, 1, NULL, &global, &group, 0, NULL,
                                  kcl_profile_launch(s->ctx->opencl, k, group));
  return kcl_cl_check(s->ctx, code, "clEnqueueNDRangeKernel", kernel_name[kernel]);
}

/* ---------------------------------------------------------------- memory */

int kcl_amg_device_memory(kcl_device_setup *s, int64_t count, size_t element, void **out) {
  void **more = realloc(s->buffer, (size_t)(s->buffers + 1) * sizeof *more);
  *out = NULL;
  if (!more) return kcl_fail(s->ctx, KCL_MEMORY, "out of memory: setting up a preconditioner");
  s->buffer = more;
  int rc = kcl_pool_take(s->ctx, ((size_t)count + 1) * element, true, out);
  if (!rc) s->buffer[s->buffers++] = *out;
  return rc;
}

void kcl_amg_device_drop(kcl_device_setup *s, const void *buffer) {
  int i = 0;
  while (i < s->buffers && s->buffer[i] != buffer) i++;
  if (i == s->buffers) return;
  kcl_pool_give(s->ctx, buffer);
  s->buffer[i] = s->buffer[--s->buffers];
}

void kcl_amg_device_drop_matrix(kcl_device_setup *s, const kcl_device_csr *A) {
  kcl_amg_device_drop(s, A->ptr);
  kcl_amg_device_drop(s, A->col);
  kcl_amg_device_drop(s, A->val);
  kcl_amg_device_drop(s, A->end), kcl_amg_device_drop(s, A->slice);
}

static int fill_memory(kcl_device_setup *s, int64_t count, const void *element, size_t size,
                       void **out) {
  KCL_CALL(kcl_amg_device_memory(s, count, size, out));
  return kcl_cl_check(
      s->ctx,
      clEnqueueFillBuffer(s->ctx->opencl->queue, *out, element, size, 0, ((size_t)count + 1) * size,
                          0, NULL, kcl_profile_event(s->ctx->opencl, "fill", (size_t)count * size)),
      "clEnqueueFillBuffer", "setting up a preconditioner");
}

int kcl_amg_device_zeros(kcl_device_setup *s, int64_t count, void **out) {
  return fill_memory(s, count, &(cl_int){0}, sizeof(cl_int), out);
}

int kcl_amg_device_ones(kcl_device_setup *s, int64_t count, void **out) {
  return fill_memory(s, count, &(cl_double){1}, sizeof(cl_double), out);
}

int kcl_amg_device_messages(kcl_device_setup *s, int64_t count, const void **out) {
  int rc = KCL_OK;
  if (count > s->messages) {
    kcl_amg_device_drop(s, s->message);
    rc = kcl_amg_device_zeros(s, 2 * count, &s->message);
    s->messages = rc ? 0 : count;
  }
  *out = s->message;
  return rc;
}

int64_t kcl_amg_device_loose_most(const kcl_device_setup *s) {
  return (int64_t)(s->ctx->device.memory / 16 / (sizeof(cl_int) + sizeof(cl_double)));
}

int kcl_amg_device_read(kcl_device_setup *s, const void *from, size_t at, size_t bytes, void *to) {
  cl_mem buffer = (cl_mem)(uintptr_t)from;
  return kcl_cl_check(s->ctx,
                      clEnqueueReadBuffer(s->ctx->opencl->queue, buffer, CL_TRUE, at, bytes, to, 0,
                                          NULL, kcl_profile_event(s->ctx->opencl, "read", bytes)),
                      "clEnqueueReadBuffer", "setting up a preconditioner");
}

/* ---------------------------------------------------------------- notes */

const void *kcl_amg_device_notebook(const kcl_device_setup *s) { return &s->notes; }

int kcl_amg_device_notes(kcl_device_setup *s, int count, int *first) {
  if (s->taken + count > NOTES_ROOM) return KCL_UNSUITED;
  *first = s->taken, s->taken += count;
  return KCL_OK;
}

int kcl_amg_device_read_notes(kcl_device_setup *s, int first, int count, cl_int *to) {
  const size_t size = sizeof *s->seen;
  int rc = KCL_OK;
  if (first + count > s->read) {
    rc = kcl_amg_device_read(s, s->notes, (size_t)s->read * size,
                             (size_t)(s->taken - s->read) * size, s->seen + s->read);
    s->read = s->taken;
  }
  memcpy(to, s->seen + first, (size_t)count * size);
  return rc;
}

int kcl_amg_device_expect_none(kcl_device_setup *s, int doubt) {
  if (!doubt) return KCL_OK;
  if (s->expectations == MOST_EXPECTED) return KCL_UNSUITED;
  s->expected[s->expectations++] = doubt;
  return KCL_OK;
}

int kcl_amg_device_as_expected(kcl_device_setup *s, bool *out) {
  int rc = KCL_OK;
  *out = true;
  for (int i = 0; i < s->expectations && !rc; i++) {
    cl_int found = 0;
    rc = kcl_amg_device_read_notes(s, s->expected[i], 1, &found);
    if (found) *out = false;
  }
  return rc;
}

int kcl_amg_device_measure(kcl_device_setup *s, kcl_device_csr *C) {
  cl_int found[2];
  if (!C->note) return KCL_OK;
  int rc = kcl_amg_device_read_notes(s, C->note, 2, found);
  C->nnz = found[0];
  C->longest = found[1];
  C->note = 0;
  return rc ? rc : C->nnz < INT32_MAX ? KCL_OK : KCL_UNSUITED;
}

/* ---------------------------------------------------------------- opening and closing */

static void end_setup(void *idle) {
  kcl_device_setup *s = idle;
  for (int i = 0; i < KCL_AMG_KERNELS; i++)
    if (s->kernel[i]) clReleaseKernel(s->kernel[i]);
  for (int i = 0; i < PROGRAMS; i++)
    if (s->program[i]) clReleaseProgram(s->program[i]);
  free(s->buffer), free(s);
}

static kcl_device_setup *take_idle_setup(kcl_opencl *o, kcl_type type) {
  kcl_device_setup *s = o->idle_setup;
  if (!s || s->type != type) return NULL;
  o->idle_setup = NULL;
  return s;
}

static int create_setup(kcl_context *ctx, kcl_type type, kcl_device_setup **out) {
  int rc = kcl_alloc(ctx, 1, sizeof **out, "a set-up", (void **)out);
  if (!rc) (*out)->ctx = ctx, (*out)->type = type;
  return rc;
}

static void begin_ahead_of_use(kcl_device_setup *s, bool aggregation) {
  kcl_build list[PROGRAMS];
  int place[PROGRAMS];
  s->aggregation = aggregation, s->built = false;
  s->taken = 1, s->read = 0; /* note 0 is none */
  s->message = NULL;
  s->messages = 0;
  s->expectations = 0;
  const int count = list_programs(s, list, place);
  if (count) kcl_opencl_load_ahead(s->ctx, list, count);
}

int kcl_amg_device_open(kcl_context *ctx, kcl_type type, bool aggregation, kcl_device_setup **out) {
  *out = take_idle_setup(ctx->opencl, type);
  KCL_CALL(*out ? KCL_OK : create_setup(ctx, type, out));
  begin_ahead_of_use(*out, aggregation);
  return kcl_amg_device_zeros(*out, NOTES_ROOM, &(*out)->notes);
}

void kcl_amg_device_close(kcl_device_setup **given) {
  kcl_device_setup *s = *given;
  *given = NULL;
  if (!s) return;
  kcl_opencl *o = s->ctx->opencl;
  while (s->buffers) kcl_pool_give(s->ctx, s->buffer[--s->buffers]);
  kcl_pool_trim(s->ctx);
  if (o->idle_setup) end_setup(o->idle_setup);
  o->idle_setup = s, o->free_idle_setup = end_setup;
}

void kcl_amg_device_ahead(kcl_context *ctx, const kcl_csr *A, kcl_type type, bool aggregation) {
  kcl_device_setup *s = NULL;
  if (kcl_amg_device_possible(ctx, A)) (void)kcl_amg_device_open(ctx, type, aggregation, &s);
  kcl_amg_device_close(&s);
}
