/* Products that are functions of the caller's (core/matrix/shell.h), between two launches.
 *
 * A function on OpenCL buffers is given those of x and y and the queue, to which it enqueues: no wait, no copy. One on the host is
 * given arrays: x is read, with the control block, which tells whether there is still something to do; y is written. */
#include "core/opencl/run/run.h"

enum { HEAD = 64 /* bytes in front of x: the control block, and alignment */ };

static size_t aligned_bytes(const kcl_run *r, int64_t n) {
  return ((size_t)n * r->scalar_bytes + HEAD - 1) / HEAD * HEAD;
}

int kcl_run_open_calls(kcl_run *r) {
  size_t bytes = 0;
  for (int i = 0; i < r->k->ops; i++) {
    const kcl_stored *A = r->k->op[i].matrix;
    const size_t both = aligned_bytes(r, A->cols) + aligned_bytes(r, A->rows);
    if (A->shell.apply && A->shell.place == KCL_HOST && both > bytes) bytes = both;
  }
  if (!bytes) return KCL_OK;
  return kcl_opencl_pin_host(run_context(r), HEAD + bytes, "memory for a function's vectors",
                             &r->called);
}

/* rc: of what came before. On ranks a function is called after a failure, too: it may exchange elements with those of others. */
static int call_after(int rc, const kcl_stored *A, void *x, void *y) {
  const int own = kcl_shell_apply(A, x, y, NULL);
  return rc ? rc : own;
}

/* s: has its right-hand side stopped? Then there is nothing to do. NULL: there is. */
static int call_on_host(kcl_run *r, const kcl_stage *s, const kcl_stored *A, cl_mem x, cl_mem y) {
  char *host = r->called.data, *host_x = host + HEAD, *host_y = host_x + aligned_bytes(r, A->cols);
  const size_t bytes = (size_t)A->rows * r->scalar_bytes;
  const kcl_control *control = r->called.data;
  cl_int code = clEnqueueReadBuffer(
      run_queue(r), r->states, CL_FALSE, kcl_run_state(r), sizeof *control, host, 0, NULL,
      kcl_profile_event(run_context(r)->opencl, "read", sizeof *control));
  if (!code)
    code = kcl_opencl_read_pinned(run_context(r), x, 0, (size_t)A->cols * r->scalar_bytes, host_x);
  int rc = kcl_cl_check(run_context(r), code, "clEnqueueReadBuffer", "reading x for a function");
  if (!rc && s && control->stop && !(control->cycle_open && s->cycle_end)) return KCL_OK;
  if (!rc || kcl_program_ranks(r->k)) rc = call_after(rc, A, host_x, host_y);
  if (rc) return rc;
  code = clEnqueueWriteBuffer(run_queue(r), y, CL_FALSE, 0, bytes, host_y, 0, NULL,
                              kcl_profile_event(run_context(r)->opencl, "write", bytes));
  return kcl_cl_check(run_context(r), code, "clEnqueueWriteBuffer", "writing y of a function");
}

static int call_in_place(kcl_run *r, const kcl_stage *s, const kcl_stored *A, cl_mem x, cl_mem y) {
  if (A->shell.place == KCL_HOST) return call_on_host(r, s, A, x, y);
  return kcl_shell_apply(A, x, y, run_queue(r));
}

int kcl_run_call(kcl_run *r, const kcl_stored *A, cl_mem x, cl_mem y) {
  return call_in_place(r, NULL, A, x, y);
}

int kcl_run_call_stage(kcl_run *r, const kcl_stage *s) {
  if (r->idle[0]) return KCL_OK; /* these programs have one right-hand side */
  return call_in_place(r, s, s->called, r->vec[s->x], r->vec[s->y]);
}
