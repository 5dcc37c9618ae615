/* Loaded before libOpenCL, with which it is linked (LD_PRELOAD): the n-th OpenCL call fails, as drivers fail when memory, the
 * compiler or the device gives out. For tests/faults.sh and tests/fallback.sh.
 *
 *   FAULT_AT=n          the call that fails; unset: none       FAULT_LAST=1   and all after it
 *   FAULT_CALL=name     count only calls of this name          FAULT_CODE=c   the code, -5: CL_OUT_OF_RESOURCES
 *   FAULT_COUNT=file    receives the number of calls at the end
 *   FAULT_HANGS=1       a launch, read or write does not fail, but never ends: it waits for an event that nobody sets
 *   FAULT_WAKES=s       but this library, after so many seconds: then the device goes on with all that was enqueued */
#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static atomic_long calls;
static long fail_at;
static cl_int code;
static const char *only;
static bool and_later, hangs;
static double wakes; /* 0: never */

static long number(const char *name, long otherwise) {
  const char *text = getenv(name);
  return text ? atol(text) : otherwise;
}

__attribute__((constructor)) static void begin(void) {
  fail_at = number("FAULT_AT", 0), code = (cl_int)number("FAULT_CODE", CL_OUT_OF_RESOURCES);
  only = getenv("FAULT_CALL"), and_later = getenv("FAULT_LAST") != NULL;
  hangs = getenv("FAULT_HANGS") != NULL;
  wakes = getenv("FAULT_WAKES") ? atof(getenv("FAULT_WAKES")) : 0;
}

__attribute__((destructor)) static void end(void) {
  const char *path = getenv("FAULT_COUNT");
  FILE *f = path ? fopen(path, "w") : NULL;
  if (f) fprintf(f, "%ld\n", (long)calls), fclose(f);
}

static bool fails(const char *name) {
  if (only && strcmp(name, only)) return false;
  long n = ++calls;
  return fail_at && (n == fail_at || (and_later && n > fail_at));
}

#define REAL(f)                                                                                    \
  static __typeof__(f) *real;                                                                      \
  if (!real) real = (__typeof__(f) *)dlsym(RTLD_NEXT, #f)
/* Calls that return a code; calls that return an object and the code through err. */
#define CODE(f, parameters, arguments)                                                             \
  cl_int f parameters {                                                                            \
    REAL(f);                                                                                       \
    return fails(#f) ? code : real arguments;                                                      \
  }
#define OBJECT(type, f, parameters, arguments)                                                     \
  type f parameters {                                                                              \
    REAL(f);                                                                                       \
    if (!fails(#f)) return real arguments;                                                         \
    if (err) *err = code;                                                                          \
    return NULL;                                                                                   \
  }
#define WAIT cl_uint waits, const cl_event *wait, cl_event *event

CODE(clGetPlatformIDs, (cl_uint n, cl_platform_id *p, cl_uint *got), (n, p, got))
CODE(clGetPlatformInfo, (cl_platform_id p, cl_platform_info i, size_t n, void *v, size_t *got),
     (p, i, n, v, got))
CODE(clGetDeviceIDs, (cl_platform_id p, cl_device_type t, cl_uint n, cl_device_id *d, cl_uint *got),
     (p, t, n, d, got))
CODE(clGetDeviceInfo, (cl_device_id d, cl_device_info i, size_t n, void *v, size_t *got),
     (d, i, n, v, got))
OBJECT(cl_context, clCreateContext,
       (const cl_context_properties *p, cl_uint n, const cl_device_id *d,
        void(CL_CALLBACK *f)(const char *, const void *, size_t, void *), void *user, cl_int *err),
       (p, n, d, f, user, err))
OBJECT(cl_command_queue, clCreateCommandQueue,
       (cl_context c, cl_device_id d, cl_command_queue_properties p, cl_int *err), (c, d, p, err))
OBJECT(cl_mem, clCreateBuffer, (cl_context c, cl_mem_flags f, size_t n, void *v, cl_int *err),
       (c, f, n, v, err))
OBJECT(cl_mem, clCreateSubBuffer,
       (cl_mem m, cl_mem_flags f, cl_buffer_create_type t, const void *v, cl_int *err),
       (m, f, t, v, err))
OBJECT(cl_mem, clCreateImage,
       (cl_context c, cl_mem_flags f, const cl_image_format *i, const cl_image_desc *d, void *v,
        cl_int *err),
       (c, f, i, d, v, err))
OBJECT(cl_program, clCreateProgramWithSource,
       (cl_context c, cl_uint n, const char **s, const size_t *l, cl_int *err), (c, n, s, l, err))
OBJECT(cl_program, clCreateProgramWithBinary,
       (cl_context c, cl_uint n, const cl_device_id *d, const size_t *l, const unsigned char **b,
        cl_int *status, cl_int *err),
       (c, n, d, l, b, status, err))
CODE(clBuildProgram,
     (cl_program p, cl_uint n, const cl_device_id *d, const char *o,
      void(CL_CALLBACK *f)(cl_program, void *), void *user),
     (p, n, d, o, f, user))
CODE(clGetProgramInfo, (cl_program p, cl_program_info i, size_t n, void *v, size_t *got),
     (p, i, n, v, got))
CODE(clGetProgramBuildInfo,
     (cl_program p, cl_device_id d, cl_program_build_info i, size_t n, void *v, size_t *got),
     (p, d, i, n, v, got))
OBJECT(cl_kernel, clCreateKernel, (cl_program p, const char *name, cl_int *err), (p, name, err))
CODE(clCreateKernelsInProgram, (cl_program p, cl_uint n, cl_kernel *k, cl_uint *got),
     (p, n, k, got))
CODE(clGetKernelInfo, (cl_kernel k, cl_kernel_info i, size_t n, void *v, size_t *got),
     (k, i, n, v, got))
CODE(clSetKernelArg, (cl_kernel k, cl_uint i, size_t n, const void *v), (k, i, n, v))
CODE(clGetKernelWorkGroupInfo,
     (cl_kernel k, cl_device_id d, cl_kernel_work_group_info i, size_t n, void *v, size_t *got),
     (k, d, i, n, v, got))
static void *wake(void *gate) {
  nanosleep(&(struct timespec){(time_t)wakes, (long)((wakes - (double)(time_t)wakes) * 1e9)}, NULL);
  clSetUserEventStatus(gate, CL_COMPLETE);
  return NULL;
}

/* An event that nobody sets, or late. */
static cl_event hang(cl_command_queue q) {
  cl_context context;
  cl_int err;
  pthread_t thread;
  clGetCommandQueueInfo(q, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
  const cl_event gate = clCreateUserEvent(context, &err);
  if (wakes > 0 && !pthread_create(&thread, NULL, wake, gate)) pthread_detach(thread);
  return gate;
}

/* Commands that may hang: those of blocking calls would not return. */
#define COMMAND(f, parameters, arguments, delayed)                                                 \
  cl_int f parameters {                                                                            \
    REAL(f);                                                                                       \
    if (!fails(#f)) return real arguments;                                                         \
    if (!hangs) return code;                                                                       \
    const cl_event gate = hang(q);                                                                 \
    return real delayed;                                                                           \
  }
COMMAND(clEnqueueNDRangeKernel,
        (cl_command_queue q, cl_kernel k, cl_uint n, const size_t *o, const size_t *g,
         const size_t *l, WAIT),
        (q, k, n, o, g, l, waits, wait, event), (q, k, n, o, g, l, 1, &gate, event))
COMMAND(clEnqueueReadBuffer,
        (cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t n, void *v, WAIT),
        (q, m, b, o, n, v, waits, wait, event), (q, m, b, o, n, v, 1, &gate, event))
COMMAND(clEnqueueWriteBuffer,
        (cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t n, const void *v, WAIT),
        (q, m, b, o, n, v, waits, wait, event), (q, m, b, o, n, v, 1, &gate, event))
CODE(clEnqueueCopyBuffer,
     (cl_command_queue q, cl_mem a, cl_mem b, size_t o, size_t p, size_t n, WAIT),
     (q, a, b, o, p, n, waits, wait, event))
CODE(clEnqueueFillBuffer,
     (cl_command_queue q, cl_mem m, const void *v, size_t k, size_t o, size_t n, WAIT),
     (q, m, v, k, o, n, waits, wait, event))
OBJECT(void *, clEnqueueMapBuffer,
       (cl_command_queue q, cl_mem m, cl_bool b, cl_map_flags f, size_t o, size_t n, WAIT,
        cl_int *err),
       (q, m, b, f, o, n, waits, wait, event, err))
CODE(clEnqueueUnmapMemObject, (cl_command_queue q, cl_mem m, void *v, WAIT),
     (q, m, v, waits, wait, event))
CODE(clFinish, (cl_command_queue q), (q))
CODE(clFlush, (cl_command_queue q), (q))
CODE(clWaitForEvents, (cl_uint n, const cl_event *e), (n, e))
CODE(clGetEventProfilingInfo, (cl_event e, cl_profiling_info i, size_t n, void *v, size_t *got),
     (e, i, n, v, got))
