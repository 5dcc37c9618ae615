/* Inside of the limits of waits (watch.c, watched_calls.c, watched_transfers.c): the functions of the driver itself, behind those of the table. */
#ifndef KCL_WATCH_H
#define KCL_WATCH_H

#include "core/opencl/device/device.h"

/* Here these names are members of tables. */
#undef clEnqueueMapBuffer
#undef clEnqueueMarkerWithWaitList
#undef clEnqueueReadBuffer
#undef clEnqueueUnmapMemObject
#undef clEnqueueWriteBuffer
#undef clFinish
#undef clFlush
#undef clGetCommandQueueInfo
#undef clGetEventInfo
#undef clGetKernelInfo
#undef clGetMemObjectInfo
#undef clGetProgramInfo
#undef clReleaseCommandQueue
#undef clReleaseContext
#undef clReleaseEvent
#undef clReleaseKernel
#undef clReleaseMemObject
#undef clReleaseProgram
#undef clSetEventCallback
#undef clWaitForEvents

/* Memory of a transfer on its way. */
typedef struct kcl_room {
  struct kcl_room *next;
  char bytes[];
} kcl_room;

struct kcl_watched { /* a cl_context */
  cl_context context;
  double given;    /* seconds of the limit, by KRYLOCL_WATCHDOG; negative: it follows from */
  bool calls_back; /* a CPU device */
  _Atomic double expected; /* seconds of what is enqueued */
  _Atomic int users;       /* contexts of ours in it */
  atomic_int on;           /* solves that iterate */
  atomic_bool lost;
  kcl_room *_Atomic room; /* that no transfer uses, or NULL; owned */
  kcl_watched *next;
};

extern struct kcl_cl kcl_cl_driver;  /* the functions themselves */
extern atomic_int kcl_lost_contexts; /* so many */

/* NULL: waits in it have no limit. */
kcl_watched *kcl_watched_context(cl_context context);
kcl_watched *kcl_watched_queue(cl_command_queue queue);
/* Until the driver's own wait for the event would return at once; or KCL_CL_LOST. */
cl_int kcl_watch_event(kcl_watched *w, cl_command_queue queue, cl_event e);
/* Until all that is enqueued has ended; CL_SUCCESS at once where nothing watches the queue: the driver waits. */
cl_int kcl_watch_queue(cl_command_queue queue);

/* ---- watched_transfers.c, of the table */
cl_int CL_API_CALL kcl_watched_read(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                    size_t offset, size_t bytes, void *to, cl_uint count,
                                    const cl_event *list, cl_event *event);
cl_int CL_API_CALL kcl_watched_write(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                     size_t offset, size_t bytes, const void *from, cl_uint count,
                                     const cl_event *list, cl_event *event);
void *CL_API_CALL kcl_watched_map(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                  cl_map_flags flags, size_t offset, size_t bytes, cl_uint count,
                                  const cl_event *list, cl_event *event, cl_int *code);

#endif
