/* Event times of large transfers: every command that the driver is given counts, under the limits of waits (watch.c) and without, in one
 * command, in chunks, and through a mapping. The functions of the driver are this program's: they keep the events of all commands. */
#include "core/base/context.h"
#include "core/device/device.h"
#ifndef KCL_NO_OPENCL
#include "core/opencl/device/watch.h"
#endif
#include "tests/check.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef KCL_NO_OPENCL
int main(void) {
  skip("this build has no OpenCL");
  return check_report();
}
#else

enum { BYTES = 3500000, OFFSET = 64, MOST = 2000 /* commands */ };

/* ---------------------------------------------------------------- the driver's commands */

static cl_event seen[MOST];
static int count;

static __typeof__(kcl_cl_driver.clEnqueueReadBuffer) driver_read;
static __typeof__(kcl_cl_driver.clEnqueueWriteBuffer) driver_write;

static void keep_event(const cl_event *event) {
  if (event && count < MOST && CHECK(!clRetainEvent(*event))) seen[count++] = *event;
}

static cl_int CL_API_CALL read_seen(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                    size_t offset, size_t bytes, void *to, cl_uint waits,
                                    const cl_event *list, cl_event *event) {
  const cl_int code = driver_read(queue, buffer, blocking, offset, bytes, to, waits, list, event);
  if (!code) keep_event(event);
  return code;
}

static cl_int CL_API_CALL write_seen(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                     size_t offset, size_t bytes, const void *from, cl_uint waits,
                                     const cl_event *list, cl_event *event) {
  const cl_int code =
      driver_write(queue, buffer, blocking, offset, bytes, from, waits, list, event);
  if (!code) keep_event(event);
  return code;
}

static void replace_calls(void) {
  driver_read = kcl_cl_driver.clEnqueueReadBuffer;
  driver_write = kcl_cl_driver.clEnqueueWriteBuffer;
  kcl_cl_driver.clEnqueueReadBuffer = read_seen, kcl_cl_driver.clEnqueueWriteBuffer = write_seen;
}

static double event_time(cl_event e, cl_profiling_info what) {
  cl_ulong ns = 0;
  CHECK(!clGetEventProfilingInfo(e, what, sizeof ns, &ns, NULL));
  return (double)ns * 1e-9;
}

/* Seconds of the commands since the last call. */
static double seconds_seen(void) {
  double sum = 0;
  for (; count; kcl_cl.clReleaseEvent(seen[count]))
    count--, sum += event_time(seen[count], CL_PROFILING_COMMAND_END) -
                    event_time(seen[count], CL_PROFILING_COMMAND_START);
  return sum;
}

/* ---------------------------------------------------------------- transfers */

typedef struct place {
  kcl_context *ctx;
  cl_mem buffer; /* [OFFSET + BYTES] */
  char *data, *got;
  const char *layout;
  bool limited;
} place;

/* The profile since the last call has one kind of transfer, with these bytes and, unless seconds is negative, seconds. */
static void check_profile(const place *p, const char *kind, const char *way, double seconds) {
  kcl_profile all;
  double bytes = 0, sum = 0;
  CHECK(!kcl_profile_take(p->ctx, &all));
  for (int i = 0; i < all.count; i++)
    if (!strcmp(all.entry[i].kind, kind)) bytes += all.entry[i].bytes, sum += all.entry[i].seconds;
  CHECKF(bytes == BYTES && sum > 0, "%s, %s, limited %d: %g bytes in %g s", way, p->layout,
         p->limited, bytes, sum);
  CHECKF(seconds < 0 || fabs(sum - seconds) <= 1e-9 * seconds, "%s, %s, limited %d: %g s of %g",
         way, p->layout, p->limited, sum, seconds);
  free(all.entry);
}

static void check_got(place *p, const char *way) {
  CHECKF(!memcmp(p->got, p->data, BYTES), "%s, %s, limited %d: other bytes", way, p->layout,
         p->limited);
  memset(p->got, 0, BYTES);
}

static void test_transfers(place *p) {
  kcl_opencl *o = p->ctx->opencl;
  const bool mapped = o->is_cpu;
  seconds_seen();
  CHECK(!kcl_write_bytes(p->ctx, p->buffer, OFFSET, BYTES, p->data));
  check_profile(p, "write", "write", seconds_seen());
  CHECK(!kcl_cl.clEnqueueReadBuffer(o->queue, p->buffer, CL_TRUE, OFFSET, BYTES, p->got, 0, NULL,
                                    kcl_profile_event(o, "read", BYTES)));
  check_got(p, "read at once"), check_profile(p, "read", "read at once", seconds_seen());
  CHECK(!kcl_read_bytes(p->ctx, p->buffer, OFFSET, BYTES, p->got));
  check_got(p, mapped ? "mapping" : "chunks");
  const double seconds = seconds_seen();
  check_profile(p, "read", mapped ? "mapping" : "chunks", mapped ? -1 : seconds);
}

static void test_layout(const char *layout) {
  place p = {.layout = layout, .data = malloc(BYTES), .got = calloc(1, BYTES)};
  setenv("KRYLOCL_LAYOUT", layout, 1);
  for (int i = 0; i < BYTES; i++) p.data[i] = (char)random_bits();
  CHECK(!kcl_context_create(NULL, 0, &p.ctx));
  kcl_profile_enable(p.ctx, true);
  if (kcl_select(p.ctx, "opencl", 0))
    skip("a device: %s", kcl_error());
  else if (CHECK(!kcl_opencl_buffer(p.ctx, OFFSET + BYTES, "a buffer", &p.buffer))) {
    p.ctx->opencl->chunk_bytes = 1 << 16;
    test_transfers(&p);
    kcl_opencl_watch(p.ctx, p.limited = true);
    test_transfers(&p);
    kcl_opencl_watch(p.ctx, false);
    kcl_cl.clReleaseMemObject(p.buffer);
  }
  kcl_context_free(&p.ctx);
  free(p.data), free(p.got);
}

int main(void) {
  if (!kcl_cl_load()) replace_calls();
  test_layout("cpu"), test_layout("gpu");
  return check_report();
}
#endif
