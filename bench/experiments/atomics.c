/* Atomic additions on an OpenCL device: 50 and 50,000 work-items, each adding once to one cell or to a cell of its own,
 * natively and by compare-exchange, int and float (Kuresson 2012, ch. 5).
 *
 *   atomics P:D KERNELS.cl     device D of platform P, as krylocl devices lists them; CSV on standard output
 *
 * Times are those of OpenCL events: medians, without the launch. Cells are set to 0 before every launch and compared
 * with the exact sums after it; a wrong sum is a row "wrong sum" and exit code 1. */
#include "core/opencl/device/cl.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 50000, SAMPLES = 11 };
static const double LIMIT = 2; /* seconds of samples per row */

typedef struct gpu {
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
  cl_program program;
  cl_mem cells;
  char name[128];
} gpu;

typedef struct row {
  const char *type, *kind;
  int items, spread;
  double seconds[SAMPLES];
  int samples;
  bool right;
} row;

static void need(cl_int rc, const char *what) {
  if (rc == CL_SUCCESS) return;
  fprintf(stderr, "atomics: %s failed with OpenCL error %d\n", what, rc);
  exit(4);
}

static void choose(const char *place, gpu *g) {
  cl_platform_id platform[16];
  cl_device_id device[16] = {0};
  cl_uint platforms = 0, devices = 0;
  unsigned p, d;
  if (sscanf(place, "%u:%u", &p, &d) != 2)
    fprintf(stderr, "atomics: '%s' is not a place such as 0:0\n", place), exit(2);
  const char *missing = kcl_cl_load();
  if (missing) fprintf(stderr, "atomics: %s\n", missing), exit(4);
  need(clGetPlatformIDs(16, platform, &platforms), "clGetPlatformIDs");
  if (p < platforms && p < 16)
    need(clGetDeviceIDs(platform[p], CL_DEVICE_TYPE_ALL, 16, device, &devices), "clGetDeviceIDs");
  if (d >= devices || d >= 16) fprintf(stderr, "atomics: there is no device %s\n", place), exit(4);
  g->device = device[d];
  need(clGetDeviceInfo(g->device, CL_DEVICE_NAME, sizeof g->name, g->name, NULL), "CL_DEVICE_NAME");
}

static char *file_text(const char *path) {
  FILE *f = fopen(path, "rb");
  char *text = calloc(1, 1 << 16);
  if (!f || !text || !fread(text, 1, (1 << 16) - 1, f))
    fprintf(stderr, "atomics: cannot read %s\n", path), exit(3);
  fclose(f);
  return text;
}

static void open_device(const char *place, const char *path, gpu *g) {
  cl_int rc;
  char vendor[64] = "";
  char *text = file_text(path);
  choose(place, g);
  g->context = clCreateContext(NULL, 1, &g->device, NULL, NULL, &rc), need(rc, "clCreateContext");
  g->queue = clCreateCommandQueue(g->context, g->device, CL_QUEUE_PROFILING_ENABLE, &rc);
  need(rc, "clCreateCommandQueue");
  g->program = clCreateProgramWithSource(g->context, 1, (const char **)&text, NULL, &rc);
  need(rc, "clCreateProgramWithSource");
  clGetDeviceInfo(g->device, CL_DEVICE_VENDOR, sizeof vendor, vendor, NULL);
  const char *options = strstr(vendor, "NVIDIA") ? "-DNVIDIA_PTX" : "";
  need(clBuildProgram(g->program, 1, &g->device, options, NULL, NULL), "clBuildProgram");
  g->cells = clCreateBuffer(g->context, CL_MEM_READ_WRITE, MOST * sizeof(cl_int), NULL, &rc);
  need(rc, "clCreateBuffer");
  free(text);
}

static void close_device(gpu *g) {
  clReleaseMemObject(g->cells), clReleaseProgram(g->program);
  clReleaseCommandQueue(g->queue), clReleaseContext(g->context);
}

/* All sums are whole numbers below 2^24, so exact in float too, in any order. */
static bool sums_right(const gpu *g, const row *r) {
  static cl_int cell[MOST];
  bool right = true;
  cl_int whole = 0;
  need(clEnqueueReadBuffer(g->queue, g->cells, CL_TRUE, 0, sizeof cell, cell, 0, NULL, NULL),
       "read");
  for (int i = 0; i < r->items; i++) whole += 1 + i % 3;
  for (int i = 0; i < MOST; i++) {
    cl_int sum = i >= r->items ? 0 : 1 + i % 3;
    float as_float;
    if (!r->spread) sum = i ? 0 : whole;
    memcpy(&as_float, &cell[i], sizeof as_float);
    right = right && (strcmp(r->type, "float") ? cell[i] == sum : as_float == (float)sum);
  }
  return right;
}

static double launch(const gpu *g, cl_kernel k, const row *r) {
  static const cl_int zero[MOST];
  const size_t items = (size_t)r->items;
  cl_event event;
  cl_ulong begin, end;
  need(clEnqueueWriteBuffer(g->queue, g->cells, CL_TRUE, 0, sizeof zero, zero, 0, NULL, NULL),
       "write");
  need(clEnqueueNDRangeKernel(g->queue, k, 1, NULL, &items, NULL, 0, NULL, &event), "launch");
  need(clWaitForEvents(1, &event), "clWaitForEvents");
  need(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof begin, &begin, NULL),
       "start");
  need(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL), "end");
  clReleaseEvent(event);
  return (double)(end - begin) * 1e-9;
}

static int ascending(const void *a, const void *b) {
  double d = *(const double *)a - *(const double *)b;
  return (d > 0) - (d < 0);
}

/* False if the device has no such kernel. The first launch is not a sample. */
static bool measure(const gpu *g, row *r) {
  char name[32];
  cl_int rc, spread = r->spread;
  double sum = 0;
  snprintf(name, sizeof name, "%s_%s", r->type, r->kind);
  cl_kernel k = clCreateKernel(g->program, name, &rc);
  if (rc == CL_INVALID_KERNEL_NAME) return false;
  need(rc, "clCreateKernel");
  need(clSetKernelArg(k, 0, sizeof g->cells, &g->cells), "argument 0");
  need(clSetKernelArg(k, 1, sizeof spread, &spread), "argument 1");
  launch(g, k, r);
  r->right = sums_right(g, r);
  for (r->samples = 0; r->samples < SAMPLES && sum < LIMIT; r->samples++) {
    sum += r->seconds[r->samples] = launch(g, k, r);
    r->right = sums_right(g, r) && r->right;
  }
  clReleaseKernel(k);
  qsort(r->seconds, (size_t)r->samples, sizeof *r->seconds, ascending);
  return true;
}

static void print(const gpu *g, const row *r, const char *status) {
  printf("\"%s\",%s,%s,%d,%s,%s,", g->name, r->type, r->kind, r->items, r->spread ? "own" : "one",
         status);
  if (!r->samples) {
    puts("0,,,,");
    return;
  }
  const double median = r->seconds[r->samples / 2];
  printf("%d,%.3f,%.3f,%.3f,%.3f\n", r->samples, median * 1e6, r->seconds[0] * 1e6,
         r->seconds[r->samples - 1] * 1e6, median * 1e9 / r->items);
}

int main(int argc, char **argv) {
  static const char *const type[] = {"int", "float"}, *const kind[] = {"native", "exchange"};
  gpu g = {0};
  int wrong = 0;
  if (argc != 3) return fprintf(stderr, "usage: atomics P:D KERNELS.cl\n"), 2;
  open_device(argv[1], argv[2], &g);
  puts("device,type,addition,work_items,cells,status,samples,us_median,us_min,us_max,ns_per_"
       "addition");
  for (int i = 0; i < 16; i++) {
    row r = {type[i / 2 % 2], kind[i % 2], i < 8 ? 50 : MOST, i / 4 % 2, {0}, 0, false};
    const bool is = measure(&g, &r);
    wrong += is && !r.right;
    print(&g, &r, !is ? "none on this device" : r.right ? "ok" : "wrong sum");
    fflush(stdout);
  }
  close_device(&g);
  return wrong != 0;
}
