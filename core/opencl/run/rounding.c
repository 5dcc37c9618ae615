/* Does a device round as IEEE 754 asks, in what reproducible sums consist of? Products, sums, fused products, quotients and roots of a few
 * numbers are compared with the host's, once per context and precision. */
#include "core/opencl/codegen/source.h"
#include "core/opencl/run/run.h"

enum { TRIPLES = 512, OPERATIONS = 5, INPUTS = 3 };
static const char *const operation_names[OPERATIONS] = {
    "a denormal product is not kept", "a product and a sum are contracted",
    "a fused product is not rounded once", "a quotient is not correctly rounded",
    "a root is not correctly rounded"};

/* Numbers of either precision, by double and float at once. */
typedef struct rounding_test {
  bool single;
  double in[INPUTS][TRIPLES], expected[TRIPLES][OPERATIONS];
  char bytes[TRIPLES * OPERATIONS * sizeof(double)];
} rounding_test;

void kcl_put_rounding_options(const kcl_opencl *o, kcl_type type, char *text, size_t capacity) {
  cl_device_fp_config config = 0;
  clGetDeviceInfo(o->device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof config, &config, NULL);
  const bool single = type == KCL_S || type == KCL_C;
  const size_t used = strlen(text);
  if (single && (config & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT))
    snprintf(text + used, capacity - used, " -cl-fp32-correctly-rounded-divide-sqrt");
}

/* Random bits of both factors; one of four products is denormal, and its addend as small. */
static void make_triples(rounding_test *t) {
  const int tiny = t->single ? -70 : -520;
  uint64_t state = 1;
  for (int i = 0; i < TRIPLES; i++)
    for (int k = 0; k < INPUTS; k++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const double m = 1 + (double)(state >> 12) * 0x1p-52;
      const int e = i % 4 ? (int)(state >> 4 & 3) : k < 2 ? tiny : 2 * tiny;
      const double value = ldexp(k == 2 && i % 2 ? -m : m, e);
      t->in[k][i] = t->single ? (double)(float)value : value;
    }
}

static void compute_expected(rounding_test *t) {
  for (int i = 0; i < TRIPLES; i++) {
    const double a = t->in[0][i], b = t->in[1][i], c = t->in[2][i];
    double *to = t->expected[i];
    if (t->single) {
      const volatile float product = (float)a * (float)b;
      to[0] = product, to[1] = product + (float)c, to[2] = fmaf((float)a, (float)b, (float)c);
      to[3] = (float)a / (float)b, to[4] = sqrtf((float)a);
    } else {
      const volatile double product = a * b;
      to[0] = product, to[1] = product + c, to[2] = fma(a, b, c), to[3] = a / b, to[4] = sqrt(a);
    }
  }
}

static void put_rounding_program(kcl_source *t, const kcl_opencl *o, bool single) {
  kcl_put(t,
          "#define KCL_TYPE %d\n#define KCL_CPU 0\n#define NVIDIA_PTX %d\n#define REGISTERS 0\n"
          "#define WG 1\n#define SUM_BLOCK 64\n#define NRHS 1\n#define REALS 1\n#define IDX int\n",
          single ? KCL_S : KCL_D, o->is_nvidia);
  kcl_put_file(t, "scalar.clh"), kcl_put_file(t, "rounding.cl");
}

static int build_rounding_kernel(kcl_context *ctx, bool single, cl_kernel *out) {
  kcl_source t = {0};
  cl_int code = CL_SUCCESS;
  put_rounding_program(&t, ctx->opencl, single);
  const char *word = getenv("KRYLOCL_OPTIONS");
  char options[512];
  snprintf(options, sizeof options, "%s", word ? word : "");
  kcl_put_rounding_options(ctx->opencl, single ? KCL_S : KCL_D, options, sizeof options);
  kcl_build build = {.source = t.data, .options = options};
  int rc = t.failed ? kcl_fail(ctx, KCL_MEMORY, "out of memory: source") : KCL_OK;
  if (!rc) rc = kcl_opencl_build(ctx, &build, 1);
  free(t.data);
  if (rc) return rc;
  *out = clCreateKernel(build.program, "round_all", &code);
  clReleaseProgram(build.program);
  return kcl_cl_check(ctx, code, "clCreateKernel", "round_all");
}

/* count numbers of the test's precision in a buffer. */
static int send_numbers(kcl_context *ctx, const rounding_test *t, const double *from, int count,
                        cl_mem *out) {
  const kcl_type type = t->single ? KCL_S : KCL_D;
  double copy[TRIPLES];
  KCL_CALL(kcl_opencl_buffer(ctx, sizeof copy, "a test of rounding", out));
  kcl_copy(type, copy, KCL_D, from, count, 1);
  return kcl_opencl_write_bytes(ctx, *out, 0, (size_t)count * kcl_type_size(type), copy);
}

static int run_rounding_kernel(kcl_context *ctx, cl_kernel k, rounding_test *t) {
  cl_mem buffer[INPUTS + 1] = {NULL};
  const cl_int n = TRIPLES;
  const size_t one = TRIPLES, size = TRIPLES * OPERATIONS * (t->single ? 4 : 8);
  int rc = kcl_opencl_buffer(ctx, sizeof t->bytes, "a test of rounding", &buffer[INPUTS]);
  cl_int code = clSetKernelArg(k, 0, sizeof n, &n);
  for (int i = 0; i < INPUTS && !rc; i++) rc = send_numbers(ctx, t, t->in[i], TRIPLES, &buffer[i]);
  for (int i = 0; i <= INPUTS && !rc; i++)
    code |= clSetKernelArg(k, (cl_uint)i + 1, sizeof(cl_mem), &buffer[i]);
  if (!rc && !code)
    code = clEnqueueNDRangeKernel(ctx->opencl->queue, k, 1, NULL, &one, NULL, 0, NULL, NULL);
  if (!rc) rc = kcl_cl_check(ctx, code, "clEnqueueNDRangeKernel", "testing the rounding");
  if (!rc) rc = kcl_opencl_read_bytes(ctx, buffer[INPUTS], 0, size, t->bytes);
  for (int i = 0; i <= INPUTS; i++)
    if (buffer[i]) clReleaseMemObject(buffer[i]);
  return rc;
}

/* The first operation that differs; -1: none. */
static int find_wrong_operation(const rounding_test *t) {
  for (int o = 0; o < OPERATIONS; o++)
    for (int i = 0; i < TRIPLES; i++) {
      double got[2];
      kcl_element(t->single ? KCL_S : KCL_D, t->bytes, (int64_t)i * OPERATIONS + o, got);
      if (memcmp(got, &t->expected[i][o], sizeof *got)) return o;
    }
  return -1;
}

static int test_rounding(kcl_context *ctx, bool single, int *wrong) {
  cl_kernel k = NULL;
  rounding_test *t = NULL;
  int rc;
  KCL_TRY(kcl_alloc(ctx, 1, sizeof *t, "a test of rounding", (void **)&t));
  t->single = single;
  make_triples(t), compute_expected(t);
  KCL_TRY(build_rounding_kernel(ctx, single, &k));
  KCL_TRY(run_rounding_kernel(ctx, k, t));
  *wrong = find_wrong_operation(t);
done:
  if (k) clReleaseKernel(k);
  free(t);
  return rc;
}

int kcl_check_rounding(kcl_context *ctx, kcl_type type) {
  const bool single = type == KCL_S || type == KCL_C;
  int *known = &ctx->opencl->rounding[single], wrong = -1;
  if (!*known) {
    KCL_CALL(test_rounding(ctx, single, &wrong));
    *known = wrong + 2; /* 1: all are right */
  }
  if (*known == 1) return KCL_OK;
  return kcl_fail(ctx, KCL_DEVICE, "reproducible sums: not on %s, in %s precision: %s",
                  ctx->device.name, single ? "single" : "double", operation_names[*known - 2]);
}
