/* OpenCL objects of callers: buffers of products and sub-buffers, those that are refused; contexts, devices and queues. */
#ifdef KCL_NO_OPENCL
#include "tests/calls.h"
#include "tests/check.h"
int main(void) {
  skip("OpenCL objects: this build has no OpenCL");
  return check_report();
}
#else
#include "tests/buffers.h"
#include "tests/options.h"
#include <time.h>

enum { ROWS = 64 };

/* ---------------------------------------------------------------- products */

/* y = 3 A x - 2 y and y = A x, in buffers, with the bits of arrays. */
static void test_product(const equations *q, kcl_operator *op, const columns *of_x,
                         const columns *of_y) {
  const double alpha = 3, beta = -2;
  for (int i = 0; i < 2; i++) {
    const kcl_product p = {.x = q->b,
                           .y = q->x,
                           .cols = of_x->cols,
                           .alpha = i ? &alpha : NULL,
                           .beta = i ? &beta : NULL};
    memcpy(q->x, q->guess, (size_t)(ROWS * of_x->cols) * q->size);
    CHECK(!kcl_operator_apply(op, &p));
    cl_mem x = put(of_x, q->b), y = put(of_y, q->guess);
    const kcl_vectors in = vectors(of_x, x);
    kcl_vectors out = vectors(of_y, y);
    CHECKF(!kcl_operator_multiply(op, 0, p.alpha, &in, p.beta, &out) && holds(of_y, q->x, y),
           "%lld columns: %s", (long long)of_x->cols, kcl_error());
    clReleaseMemObject(x), clReleaseMemObject(y);
  }
}

static void test_products(const equations *q) {
  const columns c[] = {{ROWS, 1, 0, ROWS, 1, 8}, {ROWS, 1, 3, ROWS, 1, 8}, {ROWS, 1, 1, 1, 2, 8},
                       {ROWS, 3, 0, ROWS, 1, 8}, {ROWS, 3, 2, 1, 4, 8},    {ROWS, 3, 1, 71, 1, 8}};
  for (int nrhs = 1; nrhs < 3; nrhs++) {
    const kcl_operator_options o = {.format = "ell", .precision = KCL_D, .nrhs = nrhs};
    kcl_operator *op = NULL;
    if (CHECK(!kcl_operator_create(ctx, q->A, &o, &op)))
      for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
          if (c[i].cols == c[j].cols) test_product(q, op, &c[i], &c[j]);
    kcl_operator_free(&op);
  }
}

/* ---------------------------------------------------------------- buffers */

static cl_mem part_of(cl_mem whole, size_t from, size_t bytes) {
  const cl_buffer_region region = {from, bytes};
  cl_int code;
  return clCreateSubBuffer(whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
}

/* b and x are parts of one buffer, of 1,024 numbers. */
static void test_sub_buffers(const equations *q) {
  const columns c = {ROWS, 1, 3, ROWS, 1, 8}, all = {1024 - GUARD, 1, 0, 1024, 1, 8};
  char *zeros = calloc(1024, 8);
  const double *want = (double *)q->x, *got = (double *)q->got;
  void *mine = NULL, *queue = NULL;
  cl_mem whole = put(&all, zeros), b = part_of(whole, 0, 4096), x = part_of(whole, 4096, 4096);
  kcl_vectors in = vectors(&c, b), out = vectors(&c, x);
  free(zeros);
  memset(q->x, 0, ROWS * 8);
  CHECK(!kcl_solve_one(q->s, q->b, q->x, NULL) && !kcl_context_opencl(ctx, &mine, NULL, &queue));
  CHECK(!clEnqueueWriteBuffer(queue, b, CL_TRUE, 24, ROWS * 8, q->b, 0, NULL, NULL));
  CHECKF(!kcl_solve_vectors(q->s, NULL, &in, &out, NULL), "%s", kcl_error());
  CHECK(!clEnqueueReadBuffer(queue, whole, CL_TRUE, 4096 + 24, ROWS * 8, q->got, 0, NULL, NULL));
  CHECK(!memcmp(want, got, ROWS * 8));
  out.data = whole; /* numbers 3 to 66, as b has them */
  CHECK(kcl_solve_vectors(q->s, NULL, &in, &out, NULL) == KCL_USAGE &&
        strstr(kcl_error(), "overlap"));
  out.offset = 512;
  CHECK(!kcl_solve_vectors(q->s, NULL, &in, &out, NULL));
  clReleaseMemObject(b), clReleaseMemObject(x), clReleaseMemObject(whole);
}

static void test_refused_buffers(const equations *q) {
  const columns c = {ROWS, 1, 0, ROWS, 1, 8};
  cl_int code;
  cl_context other = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  cl_mem b = put(&c, q->b), x = put(&c, q->guess),
         small = clCreateBuffer(context, CL_MEM_READ_WRITE, ROWS * 8 - 8, NULL, &code),
         foreign = clCreateBuffer(other, CL_MEM_READ_WRITE, ROWS * 8, NULL, &code);
  const struct {
    kcl_vectors x;
    const char *word;
  } bad[] = {
      {vectors(&c, small), "x.data is a buffer of 504 bytes: 64 by 1 of type d need 512"},
      {vectors(&c, foreign), "x.data is a buffer of another OpenCL context"},
      {vectors(&c, b), "overlap"},
      {{.size = sizeof(kcl_vectors), .data = q->x}, "b.place is 1 and x.place 0"},
      {{.size = sizeof(kcl_vectors), .data = x, .place = KCL_OPENCL, .offset = 6}, "need 560"},
      {{.size = sizeof(kcl_vectors), .data = x, .place = KCL_OPENCL, .type = 'z'},
       "x.type is 122 ('z')"}};
  for (int i = 0; i < 6; i++) {
    const kcl_vectors in = vectors(&c, b);
    kcl_vectors out = bad[i].x;
    CHECKF(kcl_solve_vectors(q->s, NULL, &in, &out, NULL) == KCL_USAGE &&
               strstr(kcl_error(), bad[i].word),
           "%s: %s", bad[i].word, kcl_error());
  }
  clReleaseMemObject(b), clReleaseMemObject(x), clReleaseMemObject(small);
  clReleaseMemObject(foreign), clReleaseContext(other);
}

/* Kernels may not write the one, nor read the other. */
static void test_one_way_buffers(const equations *q) {
  const columns c = {ROWS, 1, 0, ROWS, 1, 8};
  const double one = 1, zero = 0;
  cl_int code;
  cl_mem both = put(&c, q->b),
         to_read = clCreateBuffer(context, CL_MEM_READ_ONLY, ROWS * 8, NULL, &code),
         to_write = clCreateBuffer(context, CL_MEM_WRITE_ONLY, ROWS * 8, NULL, &code);
  const kcl_vectors x = vectors(&c, both), only_read = vectors(&c, to_read),
                    only_written = vectors(&c, to_write);
  const struct {
    kcl_vectors x, y;
    const double *beta;
    const char *word; /* NULL: not refused */
  } t[] = {{x, only_read, NULL, "y.data is a buffer that kernels only read"},
           {only_written, x, NULL, "x.data is a buffer that kernels only write"},
           {x, only_written, &one, "y.data is a buffer that kernels only write"},
           {only_read, only_written, &zero, NULL}};
  kcl_operator *op = NULL;
  CHECK(!kcl_operator_create(ctx, q->A, NULL, &op));
  for (int i = 0; i < 4; i++) {
    kcl_vectors y = t[i].y;
    const int rc = kcl_operator_multiply(op, 0, NULL, &t[i].x, t[i].beta, &y);
    CHECKF(t[i].word ? rc == KCL_USAGE && strstr(kcl_error(), t[i].word) : !rc, "case %d: %d, %s",
           i, rc, kcl_error());
  }
  for (int i = 0; i < 2; i++) {
    kcl_vectors bad = i ? only_written : only_read;
    CHECKF(kcl_solve_vectors(q->s, NULL, &x, &bad, NULL) == KCL_USAGE &&
               strstr(kcl_error(), i ? "x.data is a buffer that kernels only write"
                                     : "x.data is a buffer that kernels only read"),
           "%s", kcl_error());
  }
  kcl_operator_free(&op);
  clReleaseMemObject(both), clReleaseMemObject(to_read), clReleaseMemObject(to_write);
}

/* ---------------------------------------------------------------- contexts */

static void refuse_objects(void *c, void *d, void *q, const char *word) {
  kcl_context *mine = NULL;
  CHECK(!kcl_context_create(NULL, 0, &mine));
  CHECKF(kcl_select_opencl(mine, c, d, q) == KCL_USAGE && strstr(kcl_error(), word), "%s: %s", word,
         kcl_error());
  kcl_context_free(&mine);
}

static cl_uint references(cl_context c) {
  cl_uint count = 0;
  CHECK(!clGetContextInfo(c, CL_CONTEXT_REFERENCE_COUNT, sizeof count, &count, NULL));
  return count;
}

/* Are there so many, once drivers have let go of theirs? */
static bool returns_to(cl_context c, cl_uint expected) {
  for (int i = 0; i < 100 * HANG && references(c) != expected; i++)
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
  return references(c) == expected;
}

static void test_part_of_device(void) {
  const cl_device_partition_property one_unit[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
  cl_device_id parts[64];
  cl_uint count = 0;
  if (clCreateSubDevices(device, one_unit, 64, parts, &count) || !count) {
    skip("a device that is not in the context: the device has no parts");
    return;
  }
  refuse_objects(context, parts[0], NULL, "not one of the context's");
  for (cl_uint i = 0; i < count; i++) clReleaseDevice(parts[i]);
}

static void test_contexts(void) {
  cl_int code;
  cl_context other = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  cl_command_queue queue = clCreateCommandQueue(other, device, 0, &code),
                   unordered = clCreateCommandQueue(other, device,
                                                    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code);
  kcl_context *mine = NULL;
  void *context_back, *queue_back;
  refuse_objects(NULL, device, NULL, "context");
  refuse_objects(other, NULL, NULL, "device");
  refuse_objects(NULL, NULL, NULL, "context");
  refuse_objects(context, device, queue, "another context");
  if (unordered) refuse_objects(other, device, unordered, "out of order");
  test_part_of_device();
  CHECK(kcl_select_opencl(NULL, other, device, queue) == KCL_USAGE);
  const cl_uint before = references(other);
  CHECK(!kcl_context_create(NULL, 0, &mine) && !kcl_select_opencl(mine, other, device, queue));
  CHECK(!kcl_context_opencl(mine, &context_back, NULL, &queue_back) && context_back == other &&
        queue_back == queue && references(other) > before);
  kcl_context_free(&mine);
  CHECK(!kcl_context_create_opencl(NULL, NULL, queue, &mine));
  CHECK(!kcl_context_opencl(mine, &context_back, NULL, &queue_back) && context_back == other &&
        queue_back == queue);
  kcl_context_free(&mine);
  CHECK(!kcl_context_create(NULL, 0, &mine) && !kcl_select_opencl(mine, other, device, NULL));
  CHECK(!kcl_context_opencl(mine, &context_back, NULL, &queue_back) && context_back == other &&
        queue_back != queue);
  kcl_context_free(&mine);
  CHECK(returns_to(other, before));
  if (unordered) clReleaseCommandQueue(unordered);
  clReleaseCommandQueue(queue), clReleaseContext(other);
}

int main(void) {
  const kcl_options o = cg_options();
  equations q;
  if (!open_context(false)) return check_report();
  if (open_system(&q, "poisson2d:8", KCL_D, &o))
    test_products(&q), test_sub_buffers(&q), test_refused_buffers(&q), test_one_way_buffers(&q);
  close_system(&q);
  test_contexts();
  close_context();
  return check_report();
}
#endif
