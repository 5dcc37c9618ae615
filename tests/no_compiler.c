/* Loaded before libOpenCL, with which it is linked (LD_PRELOAD): a driver that builds programs without compiling them, and runs
 * no kernel. For tests/nvidia_text.sh, which wants the source that the library generates and compiles it itself. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices,
                      const char *options, void(CL_CALLBACK *notify)(cl_program, void *),
                      void *data) {
  (void)program, (void)count, (void)devices, (void)options, (void)notify, (void)data;
  return CL_SUCCESS;
}

cl_kernel clCreateKernel(cl_program program, const char *name, cl_int *code) {
  (void)name, *code = CL_SUCCESS;
  return (cl_kernel)program; /* never looked into */
}

cl_int clSetKernelArg(cl_kernel kernel, cl_uint i, size_t size, const void *value) {
  (void)kernel, (void)i, (void)size, (void)value;
  return CL_SUCCESS;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                              const size_t *offset, const size_t *global, const size_t *local,
                              cl_uint waits, const cl_event *list, cl_event *event) {
  (void)queue, (void)kernel, (void)dimensions, (void)offset, (void)global, (void)local;
  (void)waits, (void)list;
  if (event) *event = (cl_event)queue; /* never looked into */
  return CL_SUCCESS;
}

/* Nothing is known of kernels and events that do not exist; events of transfers are not released either. */
cl_int clGetKernelInfo(cl_kernel kernel, cl_kernel_info info, size_t size, void *value,
                       size_t *needed) {
  (void)kernel, (void)info, (void)size, (void)value, (void)needed;
  return CL_INVALID_KERNEL;
}

cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
                                cl_kernel_work_group_info info, size_t size, void *value,
                                size_t *needed) {
  (void)kernel, (void)device, (void)info, (void)size, (void)value, (void)needed;
  return CL_INVALID_KERNEL;
}

cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info info, size_t size, void *value,
                               size_t *needed) {
  (void)event, (void)info, (void)size, (void)value, (void)needed;
  return CL_PROFILING_INFO_NOT_AVAILABLE;
}

cl_int clReleaseEvent(cl_event event) { return (void)event, CL_SUCCESS; }

cl_int clReleaseKernel(cl_kernel kernel) { return (void)kernel, CL_SUCCESS; }
