/* The program's own OpenCL context, queue and buffers: a solve takes b from the middle of a larger buffer and leaves x on the
 * device. A queue out of order is refused. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "poisson.h"
#include <math.h>

enum { M = 100, N = M * M, BEFORE = 512 };

static void solve_buffers(kcl_context *c, cl_mem data, cl_mem solution) {
  static int32_t start[N + 1], col[5 * N];
  static double val[5 * N];
  const kcl_entries entries = poisson_entries(M, start, col, val);
  const kcl_vectors b = {.size = sizeof b, .data = data, .offset = BEFORE, .place = KCL_OPENCL};
  kcl_vectors x = {.size = sizeof x, .data = solution, .place = KCL_OPENCL};
  const kcl_call call = {.size = sizeof call, .zero_guess = 1};
  kcl_matrix *A = NULL;
  kcl_solver *s = NULL;
  kcl_result r = {.size = sizeof r};
  must(kcl_matrix_create(c, &entries, &A));
  must(kcl_solver_create(A, NULL, NULL, &s));
  must(kcl_solve(s, &b, &x, &call, &r)); /* no vector comes to the host */
  printf("%s, %d iterations, residual on the device %.1e\n", kcl_reason_text(r.reason),
         (int)r.iterations, r.relative_residual);
  expect(r.converged, "converged");
  kcl_solver_free(&s), kcl_matrix_free(&A);
}

int main(void) {
  static double numbers[BEFORE + N], x[N];
  cl_platform_id platform;
  cl_device_id device;
  if (clGetPlatformIDs(1, &platform, NULL) ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)) {
    puts("skipped: no OpenCL device");
    return 0;
  }
  for (int i = 0; i < N; i++) numbers[BEFORE + i] = 1;
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
  cl_command_queue unordered =
      clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, NULL);
  cl_mem data = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof numbers,
                               numbers, NULL);
  cl_mem solution = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof x, NULL, NULL);
  kcl_context *c = NULL, *none = NULL;
  must(kcl_context_create_opencl(context, device, queue, &c));
  solve_buffers(c, data, solution);
  if (unordered) {
    expect(kcl_context_create_opencl(context, device, unordered, &none) == KCL_USAGE,
           "a queue out of order is refused");
    puts(kcl_error());
    clReleaseCommandQueue(unordered);
  }
  kcl_context_free(&c);
  clEnqueueReadBuffer(queue, solution, CL_TRUE, 0, sizeof x, x, 0, NULL, NULL);
  double worst = 0; /* of b - A x, by its definition */
  for (int i = 0; i < N; i++)
    worst = fmax(worst, fabs(1 - 4 * x[i] + (i >= M ? x[i - M] : 0) + (i % M ? x[i - 1] : 0) +
                             (i % M < M - 1 ? x[i + 1] : 0) + (i < N - M ? x[i + M] : 0)));
  expect(worst < 1e-5, "x solves the system");
  clReleaseMemObject(data), clReleaseMemObject(solution), clReleaseCommandQueue(queue),
      clReleaseContext(context);
  return 0;
}
