/* Blocking transfers while waits have a limit: see watch.c. They are enqueued without blocking, and their own events are waited for.
 *
 *   driver  <->  room  <->  the caller's memory
 *
 * A transfer whose wait has failed may still happen, at any later time, in memory that the caller has freed or uses again. So it goes
 * through a room, which is abandoned then: it stays allocated until the process ends. The watch keeps one of 1 MB; a larger transfer has
 * one of its own. Cost: a copy, up to 1 MB in cache. Large vectors have faster ways (download.c, upload.c). Transfers to and from pinned
 * memory (kcl_opencl_read_pinned) need no room. */
#include "core/opencl/device/watch.h"
#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 20 /* bytes */ };

typedef struct transfer {
  cl_command_queue queue;
  cl_mem buffer;
  size_t offset, bytes;
  cl_uint count; /* events before it */
  const cl_event *list;
  cl_event *event; /* where its event goes, or NULL */
} transfer;

/* ---------------------------------------------------------------- rooms */

/* Reachable for those who look for leaks. */
static kcl_room *_Atomic abandoned;

static void abandon_room(kcl_room *room) {
  room->next = atomic_load(&abandoned);
  while (!atomic_compare_exchange_weak(&abandoned, &room->next, room)) continue;
}

static kcl_room *take_room(kcl_watched *w, size_t bytes) {
  kcl_room *room = bytes > ROOM ? NULL : atomic_exchange(&w->room, NULL);
  return room ? room : malloc(sizeof *room + (bytes > ROOM ? bytes : ROOM));
}

static void give_room(kcl_watched *w, kcl_room *room, size_t bytes) {
  free(bytes > ROOM ? room : atomic_exchange(&w->room, room));
}

/* ---------------------------------------------------------------- transfers */

/* Waits for what was enqueued, and hands its event out where that is wanted. A wait that fails is repeated: the caller may be about to free
 * the memory. */
static cl_int await_transfer(kcl_watched *w, const transfer *t, cl_event mine) {
  cl_int code = kcl_watch_event(w, t->queue, mine);
  if (!code) code = kcl_cl_driver.clWaitForEvents(1, &mine);
  if (code && code != KCL_CL_LOST && kcl_watch_event(w, t->queue, mine) == KCL_CL_LOST)
    code = KCL_CL_LOST;
  if (t->event)
    *t->event = mine;
  else if (code != KCL_CL_LOST)
    kcl_cl_driver.clReleaseEvent(mine);
  return code;
}

/* To the host, or, with to NULL, from it. */
static cl_int move_and_await(kcl_watched *w, const transfer *t, void *to, const void *from) {
  cl_event mine;
  const cl_int code =
      to ? kcl_cl_driver.clEnqueueReadBuffer(t->queue, t->buffer, CL_FALSE, t->offset, t->bytes, to,
                                             t->count, t->list, &mine)
         : kcl_cl_driver.clEnqueueWriteBuffer(t->queue, t->buffer, CL_FALSE, t->offset, t->bytes,
                                              from, t->count, t->list, &mine);
  return code ? code : await_transfer(w, t, mine);
}

static cl_int move_through_room(kcl_watched *w, const transfer *t, void *to, const void *from) {
  kcl_room *room = take_room(w, t->bytes);
  if (!room) return CL_OUT_OF_HOST_MEMORY;
  if (!to) memcpy(room->bytes, from, t->bytes);
  const cl_int code = move_and_await(w, t, to ? room->bytes : NULL, room->bytes);
  if (to && !code) memcpy(to, room->bytes, t->bytes);
  if (code)
    abandon_room(room);
  else
    give_room(w, room, t->bytes);
  return code;
}

/* ---------------------------------------------------------------- functions of the table */

cl_int CL_API_CALL kcl_watched_read(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                    size_t offset, size_t bytes, void *to, cl_uint count,
                                    const cl_event *list, cl_event *event) {
  kcl_watched *w = blocking ? kcl_watched_queue(queue) : NULL;
  if (w && w->lost) return KCL_CL_LOST;
  if (!w || !w->on)
    return kcl_cl_driver.clEnqueueReadBuffer(queue, buffer, blocking, offset, bytes, to, count,
                                             list, event);
  return move_through_room(w, &(transfer){queue, buffer, offset, bytes, count, list, event}, to,
                           NULL);
}

cl_int CL_API_CALL kcl_watched_write(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                     size_t offset, size_t bytes, const void *from, cl_uint count,
                                     const cl_event *list, cl_event *event) {
  kcl_watched *w = blocking ? kcl_watched_queue(queue) : NULL;
  if (w && w->lost) return KCL_CL_LOST;
  if (!w || !w->on)
    return kcl_cl_driver.clEnqueueWriteBuffer(queue, buffer, blocking, offset, bytes, from, count,
                                              list, event);
  return move_through_room(w, &(transfer){queue, buffer, offset, bytes, count, list, event}, NULL,
                           from);
}

/* A mapping is the driver's memory, which no caller frees. */
void *CL_API_CALL kcl_watched_map(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                  cl_map_flags flags, size_t offset, size_t bytes, cl_uint count,
                                  const cl_event *list, cl_event *event, cl_int *code) {
  kcl_watched *w = blocking ? kcl_watched_queue(queue) : NULL;
  const transfer t = {.queue = queue, .event = event};
  cl_event mine;
  if (w && w->lost) return *code = KCL_CL_LOST, NULL;
  if (!w || !w->on)
    return kcl_cl_driver.clEnqueueMapBuffer(queue, buffer, blocking, flags, offset, bytes, count,
                                            list, event, code);
  void *mapped = kcl_cl_driver.clEnqueueMapBuffer(queue, buffer, CL_FALSE, flags, offset, bytes,
                                                  count, list, &mine, code);
  if (!*code) *code = await_transfer(w, &t, mine);
  return *code ? NULL : mapped;
}
