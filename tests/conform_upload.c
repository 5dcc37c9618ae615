/* The three ways of uploading, at lengths around their limits: in place, in one transfer, and through chunks of
 * pinned memory, of a size for tests and of the size for GPUs. What arrives is read back, by the driver and in the ways of downloading. Then solves whose arrays are uploaded
 * in chunks: the residual is recomputed on the host. */
#include "tests/calls.h"
#include "tests/conform.h"
#include "core/opencl/device/device.h"
#include "tests/options.h"

#ifdef KCL_NO_OPENCL
int main(void) {
  skip("uploads: this build is without OpenCL");
  return check_report();
}
#else

/* Byte i of a source that starts with this number. */
static char byte_at(char start, int64_t i) { return (char)(start + i % 251 + i / 4096); }

typedef struct pattern {
  size_t element;
  char start;
} pattern;

static void fill(const void *source, int64_t from, int64_t count, void *to) {
  const pattern *p = source;
  int64_t first = from * (int64_t)p->element;
  for (int64_t i = 0; i < count * (int64_t)p->element; i++)
    ((char *)to)[i] = byte_at(p->start, first + i);
}

/* From byte `skip` on, at an odd address; the byte after the last one stays. */
static void test_read(kcl_context *ctx, cl_mem from, char start, size_t bytes, size_t skip,
                      const char *way) {
  const size_t count = bytes - skip;
  char *got = malloc(count + 2);
  int64_t bad = -1;
  got[count + 1] = 99;
  CHECKF(!kcl_opencl_read(ctx, from, skip, count, got + 1, "reading"), "%s", kcl_error());
  for (int64_t k = 0; k < (int64_t)count && bad < 0; k++)
    if (got[k + 1] != byte_at(start, k + (int64_t)skip)) bad = k;
  CHECKF(bad < 0 && got[count + 1] == 99, "%s, %zu bytes read from %zu on: byte %lld", way, count,
         skip, (long long)bad);
  free(got);
}

/* Two buffers, one right after the other, read back only then. */
static void test_length(kcl_context *ctx, size_t element, int64_t count, const char *way) {
  cl_mem to[2] = {0};
  size_t bytes = element * (size_t)count;
  char *got = malloc(bytes + 1);
  for (int i = 0; i < 2; i++) {
    pattern p = {element, (char)(17 * i)};
    kcl_upload u = {element, count, fill, &p};
    CHECK(kcl_opencl_buffer(ctx, bytes, "a buffer", &to[i]) == KCL_OK);
    CHECKF(kcl_opencl_write(ctx, to[i], &u, "writing") == KCL_OK, "%s", kcl_error());
  }
  for (int i = 0; i < 2; i++) {
    int64_t bad = -1;
    if (bytes)
      CHECK(clEnqueueReadBuffer(ctx->opencl->queue, to[i], CL_TRUE, 0, bytes, got, 0, NULL, NULL) ==
            CL_SUCCESS);
    for (int64_t k = 0; k < (int64_t)bytes && bad < 0; k++)
      if (got[k] != byte_at((char)(17 * i), k)) bad = k;
    CHECKF(bad < 0, "%s, %lld elements of %zu bytes: byte %lld of buffer %d", way, (long long)count,
           element, (long long)bad, i);
    if (bytes) test_read(ctx, to[i], (char)(17 * i), bytes, 0, way);
    if (bytes > 40) test_read(ctx, to[i], (char)(17 * i), bytes, 40, way);
    clReleaseMemObject(to[i]);
  }
  free(got);
}

static void test_lengths(kcl_context *ctx, int64_t piece, const char *way) {
  const int64_t lengths[] = {0,
                             1,
                             1000,
                             piece / 2 - 16,
                             piece - 16,
                             piece,
                             2 * piece,
                             3 * piece,
                             4 * piece - 16,
                             16 * piece - 16,
                             16 * piece,
                             17 * piece + 48,
                             40 * piece + 16};
  for (int i = 0; i < (int)(sizeof lengths / sizeof *lengths); i++)
    for (size_t element = 1; element <= 16; element *= 4)
      test_length(ctx, element, lengths[i] / (int64_t)element, way);
}

/* Inside a parallel region there are no other threads: who sends fills as well. */
static void test_alone(void *ctx, const kcl_member *me) {
  (void)me;
  test_lengths(ctx, 4096, "by small pieces, alone");
}

/* A matrix as it is, in single precision, and a complex one. */
static void test_solves(kcl_context *ctx) {
  static const char *const kind[] = {"poisson2d:60", "poisson2d:60", "magnetic:30"};
  static const kcl_type type[] = {KCL_D, KCL_S, KCL_C};
  for (int i = 0; i < 3; i++) {
    kcl_csr *A = NULL;
    kcl_dense *b = NULL;
    kcl_solver *s = NULL;
    kcl_report r = {0};
    kcl_options o = cg_options();
    o.format = "csr-scalar", o.precision = type[i], o.tol = 1e-4;
    if (type[i] == KCL_D && !ctx->device.has_double) continue;
    int rc = kcl_generate(ctx, kind[i], &A, &b);
    double *x = rc ? NULL : calloc((size_t)A->cols, kcl_type_size(A->type));
    if (!rc) rc = kcl_setup(ctx, A, &o, &s);
    if (!rc) rc = kcl_solve_one(s, b->val, x, &r);
    CHECKF(!rc && r.converged && r.iterations > 10, "%s, type %c: %s, %g", kind[i],
           kcl_type_letter(type[i]), rc ? kcl_error() : kcl_reason_text(r.reason),
           r.true_relative_residual);
    kcl_solver_free(&s), kcl_csr_free(&A), kcl_dense_free(&b), free(x);
  }
}

/* cpu and small: what the executor believes of its device. */
static void test_way(bool cpu, bool small_pieces, const char *way) {
  kcl_context *ctx = NULL;
  setenv("KRYLOCL_LAYOUT", cpu ? "cpu" : "gpu", 1);
  if (kcl_context_create(NULL, 0, &ctx) || kcl_select(ctx, "opencl", 0)) {
    skip("uploads %s: %s", way, kcl_error());
  } else {
    ctx->opencl->small_groups = cpu || small_pieces;
    if (small_pieces) ctx->opencl->chunk_bytes = 4096;
    test_lengths(ctx, small_pieces ? 4096 : 512 << 10, way);
    if (small_pieces && !cpu) kcl_parallel(1, test_alone, ctx);
    if (small_pieces) test_solves(ctx);
  }
  kcl_context_free(&ctx);
}

int main(void) {
  test_way(true, true, "in place");
  test_way(false, true, "by small pieces");
  test_way(false, false, "by pieces");
  return check_report();
}
#endif
