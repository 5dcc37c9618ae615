/* The functions of the table (cl.h) that wait, and those that release, as the library calls them: see watch.c; transfers:
 * watched_transfers.c. */
#include "core/opencl/device/watch.h"

static cl_int CL_API_CALL watched_finish(cl_command_queue queue) {
  const cl_int code = kcl_watch_queue(queue);
  return code ? code : kcl_cl_driver.clFinish(queue);
}

static cl_int CL_API_CALL watched_wait(cl_uint count, const cl_event *list) {
  cl_int code = CL_SUCCESS;
  for (cl_uint i = 0; i < count && !code; i++) {
    cl_command_queue queue = NULL;
    kcl_cl_driver.clGetEventInfo(list[i], CL_EVENT_COMMAND_QUEUE, sizeof(cl_command_queue), &queue,
                                 NULL);
    kcl_watched *w = queue ? kcl_watched_queue(queue) : NULL;
    if (w && w->lost) return KCL_CL_LOST;
    if (w && w->on) code = kcl_watch_event(w, queue, list[i]);
  }
  return code ? code : kcl_cl_driver.clWaitForEvents(count, list);
}

static bool context_is_lost(cl_context context) {
  const kcl_watched *w = kcl_watched_context(context);
  return w && w->lost;
}

static cl_int CL_API_CALL release_buffer(cl_mem buffer) {
  cl_context of = NULL;
  if (kcl_lost_contexts)
    kcl_cl_driver.clGetMemObjectInfo(buffer, CL_MEM_CONTEXT, sizeof of, &of, NULL);
  return of && context_is_lost(of) ? CL_SUCCESS : kcl_cl_driver.clReleaseMemObject(buffer);
}

static cl_int CL_API_CALL release_kernel(cl_kernel kernel) {
  cl_context of = NULL;
  if (kcl_lost_contexts)
    kcl_cl_driver.clGetKernelInfo(kernel, CL_KERNEL_CONTEXT, sizeof of, &of, NULL);
  return of && context_is_lost(of) ? CL_SUCCESS : kcl_cl_driver.clReleaseKernel(kernel);
}

static cl_int CL_API_CALL release_program(cl_program program) {
  cl_context of = NULL;
  if (kcl_lost_contexts)
    kcl_cl_driver.clGetProgramInfo(program, CL_PROGRAM_CONTEXT, sizeof of, &of, NULL);
  return of && context_is_lost(of) ? CL_SUCCESS : kcl_cl_driver.clReleaseProgram(program);
}

static cl_int CL_API_CALL release_event(cl_event event) {
  cl_context of = NULL;
  if (kcl_lost_contexts)
    kcl_cl_driver.clGetEventInfo(event, CL_EVENT_CONTEXT, sizeof of, &of, NULL);
  return of && context_is_lost(of) ? CL_SUCCESS : kcl_cl_driver.clReleaseEvent(event);
}

static cl_int CL_API_CALL release_queue(cl_command_queue queue) {
  const kcl_watched *w = kcl_lost_contexts ? kcl_watched_queue(queue) : NULL;
  return w && w->lost ? CL_SUCCESS : kcl_cl_driver.clReleaseCommandQueue(queue);
}

static cl_int CL_API_CALL release_context(cl_context context) {
  return kcl_lost_contexts && context_is_lost(context) ? CL_SUCCESS
                                                       : kcl_cl_driver.clReleaseContext(context);
}

static cl_int CL_API_CALL unmap_buffer(cl_command_queue queue, cl_mem buffer, void *mapped,
                                       cl_uint count, const cl_event *list, cl_event *event) {
  const kcl_watched *w = kcl_lost_contexts ? kcl_watched_queue(queue) : NULL;
  return w && w->lost
             ? KCL_CL_LOST
             : kcl_cl_driver.clEnqueueUnmapMemObject(queue, buffer, mapped, count, list, event);
}

void kcl_watch_install(struct kcl_cl *table) {
  kcl_cl_driver = *table;
  table->clFinish = watched_finish, table->clWaitForEvents = watched_wait;
  table->clEnqueueReadBuffer = kcl_watched_read, table->clEnqueueWriteBuffer = kcl_watched_write;
  table->clEnqueueMapBuffer = kcl_watched_map, table->clEnqueueUnmapMemObject = unmap_buffer;
  table->clReleaseMemObject = release_buffer, table->clReleaseKernel = release_kernel;
  table->clReleaseProgram = release_program, table->clReleaseEvent = release_event;
  table->clReleaseCommandQueue = release_queue, table->clReleaseContext = release_context;
}
