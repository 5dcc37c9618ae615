/* Event times of what is enqueued, summed by name: kernels by their function, writes, reads, copies. Events are kept until
 * there are MOST_WAITING_EVENTS of them; then they are waited for and added up. */
#include "core/opencl/device/device.h"

enum { MOST_WAITING_EVENTS = 4096 };

struct kcl_event_log {
  kcl_profile sum;
  int capacity; /* for sum.entry */
  double last_end;
  int count;
  struct {
    cl_event event;
    int entry;
  } pending[MOST_WAITING_EVENTS];
};

/* ---------------------------------------------------------------- adding up */

static double event_seconds(cl_event e, cl_profiling_info what) {
  cl_ulong ns = 0;
  return clGetEventProfilingInfo(e, what, sizeof ns, &ns, NULL) ? 0 : (double)ns * 1e-9;
}

/* Adds an event to its entry. The queue is in order, so the time since the last command ended is a gap. */
static void add_event(struct kcl_event_log *l, cl_event e, kcl_profile_entry *to) {
  double start = event_seconds(e, CL_PROFILING_COMMAND_START),
         end = event_seconds(e, CL_PROFILING_COMMAND_END);
  if (!(start > 0) || end < start) return;
  to->seconds += end - start;
  if (l->last_end > 0) l->sum.seconds += end > l->last_end ? end - l->last_end : 0;
  if (l->last_end > 0 && start > l->last_end) l->sum.gaps += start - l->last_end;
  if (l->last_end == 0) l->sum.seconds += end - start;
  if (end > l->last_end) l->last_end = end;
}

static void fold(kcl_opencl *o) {
  struct kcl_event_log *l = o->log;
  clFinish(o->queue);
  for (int i = 0; i < l->count; i++) {
    if (!l->pending[i].event) continue; /* its command failed */
    add_event(l, l->pending[i].event, &l->sum.entry[l->pending[i].entry]);
    clReleaseEvent(l->pending[i].event);
  }
  l->count = 0;
}

/* ---------------------------------------------------------------- recording */

/* The index of an entry, which is added if it is new; -1: out of memory. */
static int entry_of(struct kcl_event_log *l, const char *kind, const char *name) {
  kcl_profile_entry *e = l->sum.entry;
  for (int i = 0; i < l->sum.count; i++)
    if (!strcmp(e[i].kind, kind) && !strcmp(e[i].name, name)) return i;
  if (l->sum.count == l->capacity) {
    int capacity = l->capacity ? 2 * l->capacity : 16;
    kcl_profile_entry *more = realloc(e, (size_t)capacity * sizeof *e);
    if (!more) return -1;
    l->sum.entry = more, l->capacity = capacity;
  }
  l->sum.entry[l->sum.count] = (kcl_profile_entry){.kind = kind};
  snprintf(l->sum.entry[l->sum.count].name, sizeof e->name, "%s", name);
  return l->sum.count++;
}

static cl_event *record_event(kcl_opencl *o, int entry, double bytes) {
  struct kcl_event_log *l = o->log;
  if (entry < 0) return NULL;
  if (l->count == MOST_WAITING_EVENTS) fold(o);
  l->sum.entry[entry].count++, l->sum.entry[entry].bytes += bytes;
  l->pending[l->count].event = NULL, l->pending[l->count].entry = entry;
  return &l->pending[l->count++].event;
}

cl_event *kcl_profile_event(kcl_opencl *o, const char *kind, size_t bytes) {
  return o->log ? record_event(o, entry_of(o->log, kind, ""), (double)bytes) : NULL;
}

void kcl_profile_keep(kcl_opencl *o, cl_event event, const char *kind, size_t bytes) {
  cl_event *slot = event ? kcl_profile_event(o, kind, bytes) : NULL;
  if (slot && clRetainEvent(event) == CL_SUCCESS) *slot = event;
}

static void describe_kernel(kcl_opencl *o, cl_kernel k, kcl_profile_entry *e) {
  cl_ulong private_bytes = 0, local_bytes = 0;
  size_t multiple = 0, largest = 0;
  clGetKernelWorkGroupInfo(k, o->device, CL_KERNEL_PRIVATE_MEM_SIZE, sizeof private_bytes,
                           &private_bytes, NULL);
  clGetKernelWorkGroupInfo(k, o->device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local_bytes, &local_bytes,
                           NULL);
  clGetKernelWorkGroupInfo(k, o->device, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
                           sizeof multiple, &multiple, NULL);
  clGetKernelWorkGroupInfo(k, o->device, CL_KERNEL_WORK_GROUP_SIZE, sizeof largest, &largest, NULL);
  e->private_bytes = private_bytes, e->local_bytes = local_bytes;
  e->preferred_multiple = (int)multiple, e->largest_group = (int)largest;
  cl_program p;
  if (!clGetKernelInfo(k, CL_KERNEL_PROGRAM, sizeof p, &p, NULL))
    kcl_opencl_kernel_usage(o, p, e->name, e);
}

cl_event *kcl_profile_launch(kcl_opencl *o, cl_kernel k, size_t group) {
  char name[sizeof o->log->sum.entry->name] = "";
  if (!o->log) return NULL;
  clGetKernelInfo(k, CL_KERNEL_FUNCTION_NAME, sizeof name - 1, name, NULL);
  int i = entry_of(o->log, "kernel", name);
  if (i >= 0 && !o->log->sum.entry[i].count) describe_kernel(o, k, &o->log->sum.entry[i]);
  if (i >= 0) o->log->sum.entry[i].group = (int)group;
  return record_event(o, i, 0);
}

/* ---------------------------------------------------------------- for core/device */

int kcl_opencl_profile_begin(kcl_context *ctx) {
  return kcl_alloc(ctx, 1, sizeof *ctx->opencl->log, "event times", (void **)&ctx->opencl->log);
}

void kcl_opencl_profile_take(kcl_context *ctx, kcl_profile *out) {
  struct kcl_event_log *l = ctx->opencl->log;
  if (!l) return;
  fold(ctx->opencl);
  *out = l->sum;
  l->sum = (kcl_profile){0};
  l->capacity = 0;
  l->last_end = 0;
}

void kcl_opencl_profile_end(kcl_opencl *o) {
  if (!o->log) return;
  fold(o);
  free(o->log->sum.entry), free(o->log);
  o->log = NULL;
}
