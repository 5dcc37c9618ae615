/* Vectors in OpenCL buffers beside the same in arrays, for tests of both. */
#ifndef KCL_BUFFERS_H
#define KCL_BUFFERS_H
#include "core/opencl/device/cl.h"
#include "core/device/device.h"
#include "tests/calls.h"
#include "tests/check.h"
#include <string.h>

enum { MOST_COLUMNS = 3, GUARD = 5 };

static cl_context context;
static cl_device_id device;
static kcl_context *ctx;

/* ---------------------------------------------------------------- buffers */

/* Columns [cols, rows] of numbers of `size` bytes in a buffer: number i of column j at offset + i inc + j ld. */
typedef struct columns {
  int64_t rows, cols, offset, ld, inc;
  size_t size;
} columns;

static inline size_t bytes_of(const columns *c) {
  const int64_t end = c->offset + (c->rows - 1) * c->inc + (c->cols - 1) * c->ld + 1 + GUARD;
  return (size_t)end * c->size;
}

static inline char *number_at(const columns *c, char *v, int64_t i, int64_t j) {
  return v + (size_t)(c->offset + i * c->inc + j * c->ld) * c->size;
}

/* Bytes 0xff, NaN in every type, but for the numbers. */
static inline char *spread(const columns *c, const char *numbers) {
  char *v = malloc(bytes_of(c));
  memset(v, 0xff, bytes_of(c));
  for (int64_t j = 0; j < c->cols; j++)
    for (int64_t i = 0; i < c->rows; i++)
      memcpy(number_at(c, v, i, j), numbers + (size_t)(j * c->rows + i) * c->size, c->size);
  return v;
}

static inline cl_mem put(const columns *c, const char *numbers) {
  char *v = spread(c, numbers);
  cl_mem m =
      clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes_of(c), v, NULL);
  free(v);
  return m;
}

/* The buffer has these numbers, and 0xff beside them. */
static inline bool holds(const columns *c, const char *numbers, cl_mem m) {
  void *mine, *queue;
  char *want = spread(c, numbers), *got = malloc(bytes_of(c));
  CHECK(!kcl_context_opencl(ctx, &mine, NULL, &queue));
  CHECK(!clEnqueueReadBuffer(queue, m, CL_TRUE, 0, bytes_of(c), got, 0, NULL, NULL));
  const bool same = !memcmp(want, got, bytes_of(c));
  free(want), free(got);
  return same;
}

static inline kcl_vectors vectors(const columns *c, cl_mem m) {
  return (kcl_vectors){.size = sizeof(kcl_vectors),
                       .data = m,
                       .offset = c->offset,
                       .cols = c->cols,
                       .ld = c->ld,
                       .inc = c->inc,
                       .place = KCL_OPENCL};
}

/* A context in an OpenCL context of our own, on the device that "opencl" selects; false: there is none. */
static inline bool open_context(bool profiled) {
  kcl_context *probe = NULL;
  void *theirs, *queue;
  cl_int code;
  if (kcl_context_create(NULL, 0, &probe) || kcl_select(probe, "opencl", 0) ||
      kcl_context_opencl(probe, &theirs, NULL, &queue)) {
    skip("buffers: %s", kcl_error()), kcl_context_free(&probe);
    return false;
  }
  CHECK(!clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL));
  kcl_context_free(&probe);
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  CHECK(!code && !kcl_context_create(NULL, 0, &ctx));
  kcl_profile_enable(ctx, profiled);
  return CHECKF(!kcl_select_opencl(ctx, context, device, NULL), "%s", kcl_error());
}

static inline void close_context(void) {
  kcl_context_free(&ctx);
  clReleaseContext(context);
}

/* ---------------------------------------------------------------- a system */

typedef struct equations {
  kcl_csr *A, *own; /* of the type asked for; what was generated, where that is another */
  kcl_solver *s;
  size_t size;
  char *b, *guess, *x, *got; /* [MOST_COLUMNS, rows] */
} equations;

static inline void close_system(equations *q) {
  kcl_solver_free(&q->s), kcl_csr_free(&q->A), kcl_csr_free(&q->own);
  free(q->b), free(q->guess), free(q->x), free(q->got);
}

static inline char *random_numbers(kcl_type t, int64_t n) {
  const int64_t reals = n * (kcl_type_complex(t) ? 2 : 1);
  char *v = malloc((size_t)n * kcl_type_size(t));
  for (int64_t i = 0; i < reals; i++)
    if (t == KCL_S || t == KCL_C)
      ((float *)v)[i] = (float)random_number();
    else
      ((double *)v)[i] = random_number();
  return v;
}

static inline bool open_system(equations *q, const char *name, kcl_type t, const kcl_options *o) {
  *q = (equations){.size = kcl_type_size(t)};
  if (!CHECKF(!kcl_generate(ctx, name, &q->A, NULL), "%s: %s", name, kcl_error())) return false;
  if (q->A->type != t) {
    q->own = q->A, q->A = NULL;
    CHECK(!kcl_csr_convert(ctx, q->own, t, &q->A));
  }
  const int64_t n = q->A->rows * MOST_COLUMNS;
  q->b = random_numbers(t, n), q->guess = random_numbers(t, n);
  q->x = malloc((size_t)n * q->size), q->got = malloc((size_t)n * q->size);
  return CHECKF(!kcl_setup(ctx, q->A, o, &q->s), "%s: %s", name, kcl_error());
}

/* Solves from arrays into q->x, and from buffers; compares, and returns the status, which is that of both. */
static inline int solve_both(equations *q, const kcl_call *given, const columns *of_b,
                             const columns *of_x, kcl_report *r) {
  const size_t bytes = (size_t)(q->A->rows * of_b->cols) * q->size;
  kcl_report one[MOST_COLUMNS] = {0};
  kcl_call call = given ? *given : (kcl_call){.size = sizeof call};
  const kcl_call device_call = call;
  if (!call.certify) call.certify = KCL_CERTIFY_NOTHING;
  memcpy(q->x, q->guess, bytes);
  const int rc = kcl_solve_call(q->s, &call, of_b->cols, q->b, q->x, one);
  cl_mem b = put(of_b, q->b), x = put(of_x, q->guess);
  const kcl_vectors in = vectors(of_b, b);
  kcl_vectors out = vectors(of_x, x);
  CHECKF(kcl_solve_vectors(q->s, &device_call, &in, &out, r) == rc, "%s", kcl_error());
  CHECK(rc || holds(of_x, q->x, x));
  CHECK(holds(of_b, q->b, b));
  for (int64_t j = 0; j < of_b->cols && !rc; j++)
    CHECKF(one[j].iterations == r[j].iterations && one[j].reason == r[j].reason &&
               one[j].x_iteration == r[j].x_iteration,
           "column %d: %s after %lld, in arrays %s after %lld", (int)j,
           kcl_reason_text(r[j].reason), (long long)r[j].iterations, kcl_reason_text(one[j].reason),
           (long long)one[j].iterations);
  clReleaseMemObject(b), clReleaseMemObject(x);
  return rc;
}

#endif
