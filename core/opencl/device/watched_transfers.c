/* Blocking transfers while waits have a limit: see watch.c. They are enqueued without blocking, and their own events are waited for.
 *
 *   driver  <->  room, 4 MB, of the watch  <->  the caller's memory
 *
 * A transfer whose wait has failed may still happen, at any later time. So the driver is never given memory that the caller may free or
 * use again: its room is given up then, and stays allocated until the process ends. Cost: a copy of what is transferred, which is in
 * cache. Transfers to and from pinned memory (kcl_opencl_read_pinned) do without. */
#include "core/opencl/device/watch.h"
#include <stdlib.h>
#include <string.h>

enum { ROOM = 4 << 20 /* bytes */ };

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

/* A transfer with an event for the caller is one command; others go in pieces. */
static size_t room_bytes(const transfer *t) {
  return t->event && t->bytes > ROOM ? t->bytes : ROOM;
}

static kcl_room *take_room(kcl_watched *w, size_t bytes) {
  kcl_room *room = bytes == ROOM ? atomic_exchange(&w->room, NULL) : NULL;
  return room ? room : malloc(sizeof *room + bytes);
}

static void give_room(kcl_watched *w, kcl_room *room, size_t bytes) {
  free(bytes == ROOM ? atomic_exchange(&w->room, room) : room);
}

/* ---------------------------------------------------------------- transfers */

/* Waits for what was enqueued, and hands its event out where that is wanted. */
static cl_int await_transfer(kcl_watched *w, const transfer *t, cl_event mine, bool last) {
  cl_int code = kcl_watch_event(w, t->queue, mine);
  if (!code) code = kcl_cl_driver.clWaitForEvents(1, &mine);
  if (last && t->event)
    *t->event = mine;
  else if (code != KCL_CL_LOST)
    kcl_cl_driver.clReleaseEvent(mine);
  return code;
}

/* Enqueues the piece of `bytes` from byte `at` on. */
static cl_int enqueue_piece(const transfer *t, size_t at, size_t bytes, void *to, const void *from,
                            cl_event *mine) {
  const size_t offset = t->offset + at;
  const cl_uint count = at ? 0 : t->count;
  const cl_event *list = at ? NULL : t->list;
  return to ? kcl_cl_driver.clEnqueueReadBuffer(t->queue, t->buffer, CL_FALSE, offset, bytes, to,
                                                count, list, mine)
            : kcl_cl_driver.clEnqueueWriteBuffer(t->queue, t->buffer, CL_FALSE, offset, bytes, from,
                                                 count, list, mine);
}

/* To the host, or, to NULL, from it. */
static cl_int move_through_room(kcl_watched *w, const transfer *t, char *to, const char *from) {
  const size_t size = room_bytes(t);
  kcl_room *room = take_room(w, size);
  cl_int code = room ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
  bool gone = false; /* the driver may still use it */
  for (size_t at = 0, bytes; at < t->bytes && !code; at += bytes) {
    cl_event mine;
    bytes = t->bytes - at < size ? t->bytes - at : size;
    if (!to) memcpy(room->bytes, from + at, bytes);
    code = enqueue_piece(t, at, bytes, to ? room->bytes : NULL, room->bytes, &mine);
    if (code) break;
    code = await_transfer(w, t, mine, at + bytes == t->bytes), gone = code != CL_SUCCESS;
    if (to && !code) memcpy(to + at, room->bytes, bytes);
  }
  if (gone)
    abandon_room(room);
  else if (room)
    give_room(w, room, size);
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

/* What is mapped is the driver's memory. */
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
  if (!*code) *code = await_transfer(w, &t, mine, true);
  return *code ? NULL : mapped;
}
