/* Addresses of a program's buffers on the device, for kernels that find their arguments in tables: a buffer argument costs 0.25 us per
 * launch (NVIDIA H200), and some kernels would have a hundred. OpenCL 1.2 does not promise that addresses stay what they are:
 * kcl_addresses_stay. */
#include "core/opencl/run/run.h"

enum { AT_A_TIME = 8 }; /* arguments of kernels/addresses.cl */

int kcl_address_of_vector(kcl_vec v) { return v; }

int kcl_address_of_matrix(const kcl_program *k, const kcl_stored *A) {
  return k->vectors + KCL_MOST_ARRAYS * (int)(kcl_applied_of(k, A) - k->op);
}

int kcl_addresses(const kcl_program *k) {
  return (k->vectors + KCL_MOST_ARRAYS * k->ops + AT_A_TIME - 1) / AT_A_TIME * AT_A_TIME;
}

static void list_buffers(const kcl_run *r, cl_mem *list) {
  const kcl_program *k = r->k;
  for (kcl_vec v = 0; v < k->vectors; v++) list[kcl_address_of_vector(v)] = r->vec[v];
  for (int i = 0; i < k->ops; i++) {
    const kcl_stored *A = k->op[i].matrix;
    for (int a = 0; a < A->arrays; a++) list[kcl_address_of_matrix(k, A) + a] = A->device[a];
  }
}

/* Places without a buffer get the address of the list itself. */
static cl_int ask_device(kcl_run *r, cl_kernel kernel, const cl_mem *list, cl_mem to) {
  const size_t one = 1;
  cl_int code = clSetKernelArg(kernel, 0, sizeof to, &to);
  for (cl_int first = 0; first < kcl_addresses(r->k) && !code; first += AT_A_TIME) {
    code = clSetKernelArg(kernel, 1, sizeof first, &first);
    for (cl_uint i = 0; i < AT_A_TIME; i++)
      code |= clSetKernelArg(kernel, 2 + i, sizeof *list,
                             list[first + (int)i] ? &list[first + (int)i] : &to);
    if (!code)
      code = clEnqueueNDRangeKernel(run_queue(r), kernel, 1, NULL, &one, &one, 0, NULL,
                                    kcl_profile_launch(run_context(r)->opencl, kernel, 1));
  }
  return code;
}

int kcl_run_find_addresses(kcl_run *r, cl_program of, cl_mem *out) {
  kcl_context *ctx = run_context(r);
  KCL_OWNED cl_mem *list = NULL;
  const int count = kcl_addresses(r->k);
  cl_int code;
  KCL_CALL(kcl_alloc(ctx, count, sizeof *list, "buffers", (void **)&list));
  list_buffers(r, list);
  KCL_CALL(kcl_opencl_buffer(ctx, (size_t)count * sizeof(cl_ulong), "addresses", out));
  cl_kernel kernel = clCreateKernel(of, "addresses", &code);
  if (!code) code = ask_device(r, kernel, list, *out);
  if (kernel) clReleaseKernel(kernel);
  return kcl_cl_check(ctx, code, "clEnqueueNDRangeKernel", "addresses");
}
