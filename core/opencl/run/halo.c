/* The halo of a product on an OpenCL device: while the stage runs, a second queue sends the elements that other ranks need to
 * the host and receives theirs, and a kernel completes y (kernels/halo.cl).
 *
 *   launches    pack | the stage, its product over own columns | halo_add
 *   transfers        | read, between ranks, write              |
 *
 * Elements to be sent are not packed where they form a few runs of consecutive elements, which are read from x.
 */
#include "core/opencl/run/run.h"

/* *done: the launch's event, to be released; NULL: none is wanted. */
static cl_int enqueue_groups(const kcl_run *r, cl_kernel kernel, size_t groups,
                             const cl_event *after, cl_event *done) {
  const size_t items = groups * r->group;
  cl_event *log = kcl_profile_launch(run_context(r)->opencl, kernel, r->group);
  cl_int code = clEnqueueNDRangeKernel(run_queue(r), kernel, 1, NULL, &items, &r->group,
                                       after != NULL, after, log ? log : done);
  if (!code && log && done) *done = *log, code = clRetainEvent(*done);
  return code;
}

size_t kcl_halo_groups(const kcl_run *r, const kcl_halo *h) {
  const size_t groups = h->boundary ? kcl_run_groups_for(r, h->boundary->rows) : 0;
  return groups < KCL_HALO_GROUPS ? groups : KCL_HALO_GROUPS;
}

/* Packs the elements of x that this rank sends, and its own that boundary rows need. *packed: the event after which x, or e->out,
 * can be read. */
static cl_int pack_halo(const kcl_run *r, const kcl_exchange *e, cl_mem *x, cl_event *packed) {
  const kcl_halo *h = e->halo;
  cl_int code = CL_SUCCESS;
  if (h->own) {
    code = clSetKernelArg(e->take, 3, sizeof(cl_mem), x);
    if (!code) code = enqueue_groups(r, e->take, kcl_run_groups_for(r, h->own), NULL, NULL);
  }
  if (!h->sends || code) return code;
  if (e->pieces) return clEnqueueMarkerWithWaitList(run_queue(r), 0, NULL, packed);
  code = clSetKernelArg(e->pack, 3, sizeof(cl_mem), x);
  return code ? code : enqueue_groups(r, e->pack, kcl_run_groups_for(r, h->sends), NULL, packed);
}

/* Reads a run of consecutive elements to its place in the elements sent. */
static cl_int read_piece(const kcl_run *r, cl_mem buffer, const kcl_sent *p, const kcl_halo *h,
                         const cl_event *after) {
  const size_t size = run_element_bytes(r), bytes = (size_t)p->count * size;
  return clEnqueueReadBuffer(r->ranks.transfers, buffer, CL_FALSE, (size_t)p->row * size, bytes,
                             (char *)h->out + (size_t)p->at * size, 1, after,
                             kcl_profile_event(run_context(r)->opencl, "read", bytes));
}

/* Reads the elements that are sent to the host, which may use h->in afterwards: they were complete after h->in had been used. */
static cl_int read_halo(const kcl_run *r, const kcl_exchange *e, cl_mem x, const cl_event *packed) {
  const kcl_halo *h = e->halo;
  const kcl_sent whole = {0, 0, h->sends};
  cl_int code = CL_SUCCESS;
  if (!h->sends) return h->boundary ? clFinish(run_queue(r)) : CL_SUCCESS;
  for (int i = 0; i < e->pieces && !code; i++) code = read_piece(r, x, &e->sent[i], h, packed);
  if (!e->pieces) code = read_piece(r, e->out, &whole, h, packed);
  return code ? code : clFinish(r->ranks.transfers);
}

/* Writes the received elements to the device. *written: the event after which all are there. */
static cl_int write_halo(const kcl_run *r, const kcl_exchange *e, cl_event *written) {
  const kcl_halo *h = e->halo;
  cl_int code = CL_SUCCESS;
  for (int i = 0; i < h->owners && !code; i++) {
    const kcl_received *from = &h->received[i];
    const size_t size = run_element_bytes(r), at = (size_t)(h->own + from->first) * size,
                 bytes = (size_t)from->count * size;
    if (*written) clReleaseEvent(*written);
    code = clEnqueueWriteBuffer(r->ranks.transfers, e->in, CL_FALSE, at, bytes, from->from, 0, NULL,
                                written);
    if (!code) kcl_profile_keep(run_context(r)->opencl, *written, "write", bytes);
  }
  return code ? code : clFlush(r->ranks.transfers);
}

/* Which product of y and u the dot sums: the argument `dot` of halo_add. */
static cl_int which_dot(const kcl_op *o, kcl_vec y) {
  if (!o) return 0;
  if (o->plain) return 3;
  return o->x == y ? 2 : 1;
}

/* Which right-hand sides were active in the state that the stage read. */
static cl_int set_active(const kcl_run *r, cl_kernel kernel, const kcl_stage *s, kcl_vec u) {
  enum { CYCLE_END = 1, SHARED = 2 };
  const cl_uint number = r->number - 1;
  const cl_int flags = (s->cycle_end ? CYCLE_END : 0) + (kcl_vector_shared(r->k, u) ? SHARED : 0);
  return clSetKernelArg(kernel, 8, sizeof number, &number) |
         clSetKernelArg(kernel, 9, sizeof flags, &flags);
}

/* Completes y and its dot with the boundary rows. */
static cl_int add_boundary_rows(const kcl_run *r, const kcl_exchange *e, const kcl_stage *s,
                                const kcl_launch *l, const cl_event *written) {
  int number = 0;
  const kcl_op *o = kcl_stage_halo_dot(s, &number);
  const cl_int dot = which_dot(o, s->y);
  const size_t sum = (size_t)number * (size_t)r->width * (size_t)r->geometry.partials_max;
  const cl_int at = (cl_int)(kcl_run_sums(r) / r->scalar_bytes + sum + l->groups);
  const kcl_vec u = !o ? s->y : o->x == s->y ? o->y : o->x;
  cl_int code = clSetKernelArg(e->add, 1, sizeof(cl_mem), &r->vec[s->y]);
  code |= clSetKernelArg(e->add, 4, sizeof dot, &dot);
  code |= clSetKernelArg(e->add, 5, sizeof(cl_mem), &r->vec[u]);
  code |= clSetKernelArg(e->add, 7, sizeof at, &at);
  if (r->width > 1) code |= set_active(r, e->add, s, u);
  return code ? code : enqueue_groups(r, e->add, kcl_halo_groups(r, e->halo), written, NULL);
}

/* Runs a stage with a halo; after a failure this rank still takes part in the exchange. */
cl_int kcl_halo_run(kcl_run *r, const kcl_exchange *e, const kcl_stage *s, const kcl_launch *l,
                    bool works) {
  const kcl_halo *h = e->halo;
  cl_event packed = NULL, written = NULL;
  cl_int code = CL_SUCCESS;
  if (works) code = pack_halo(r, e, &r->vec[s->x], &packed);
  if (works && !code) code = kcl_run_enqueue(r, l);
  if (works && !code) code = clFlush(run_queue(r));
  if (works && !code) code = read_halo(r, e, r->vec[s->x], &packed);
  h->begin(h), h->end(h);
  if (works && h->boundary && !code) code = write_halo(r, e, &written);
  if (works && h->boundary && !code) code = add_boundary_rows(r, e, s, l, &written);
  if (packed) clReleaseEvent(packed);
  if (written) clReleaseEvent(written);
  return code;
}

/* Finds the runs of consecutive elements to send; a few of them are read from x directly. */
static void find_pieces(kcl_exchange *e) {
  const kcl_halo *h = e->halo;
  int n = 0;
  for (int64_t i = 0; i < h->sends; i++) {
    if (i && h->send[i] == h->send[i - 1] + 1) {
      e->sent[n - 1].count++;
      continue;
    }
    if (n == KCL_MOST_SENT) return;
    e->sent[n++] = (kcl_sent){h->send[i], i, 1};
  }
  e->pieces = n;
}

static int buffer_of(kcl_run *r, const void *data, int64_t count, size_t size, cl_mem *out) {
  const kcl_upload u = {1, count * (int64_t)size, kcl_fill_bytes, data};
  int rc = kcl_opencl_buffer(run_context(r), (size_t)(count ? count : 1) * size, "the halo", out);
  return rc || !data || !count ? rc
                               : kcl_opencl_write(run_context(r), *out, &u, "uploading the halo");
}

static int set_halo_arguments(kcl_run *r, kcl_exchange *e) {
  const kcl_halo *h = e->halo;
  const cl_uint none = 0;
  cl_uint i = 10;
  cl_int code = kcl_run_set_index(r, e->pack, 0, h->sends);
  code |= clSetKernelArg(e->pack, 1, sizeof(cl_mem), &e->out);
  code |= clSetKernelArg(e->pack, 2, sizeof(cl_mem), &e->send);
  code |= kcl_run_set_index(r, e->take, 0, h->own);
  code |= clSetKernelArg(e->take, 1, sizeof(cl_mem), &e->in);
  code |= clSetKernelArg(e->take, 2, sizeof(cl_mem), &e->own);
  if (h->boundary) {
    code |= kcl_run_set_index(r, e->add, 0, h->boundary->rows);
    code |= clSetKernelArg(e->add, 2, sizeof(cl_mem), &e->in);
    code |= clSetKernelArg(e->add, 3, sizeof(cl_mem), &e->row);
    code |= clSetKernelArg(e->add, 6, sizeof(cl_mem), &r->states);
    code |= clSetKernelArg(e->add, 8, sizeof none, &none);
    code |= clSetKernelArg(e->add, 9, sizeof none, &none);
    code |= kcl_run_set_matrix(r, e->add, &i, h->boundary); /* row_ptr, col, val */
  }
  return kcl_cl_check(run_context(r), code, "clSetKernelArg", "halo");
}

int kcl_halo_open(kcl_run *r, const kcl_halo *h, kcl_exchange *e) {
  cl_int code;
  e->halo = h;
  find_pieces(e);
  const int64_t packed = e->pieces ? 0 : h->sends;
  e->pack = clCreateKernel(r->part[0], "halo_pack", &code);
  if (!code) e->take = clCreateKernel(r->part[0], "halo_pack", &code);
  if (!code) e->add = clCreateKernel(r->part[0], "halo_add", &code);
  KCL_CALL(kcl_cl_check(run_context(r), code, "clCreateKernel", "halo_pack"));
  if (h->boundary) KCL_CALL(kcl_opencl_upload(h->boundary));
  KCL_CALL(buffer_of(r, h->send, packed, sizeof *h->send, &e->send));
  KCL_CALL(buffer_of(r, h->take, h->own, sizeof *h->take, &e->own));
  KCL_CALL(buffer_of(r, h->row, h->boundary ? h->boundary->rows : 0, sizeof *h->row, &e->row));
  KCL_CALL(buffer_of(r, NULL, packed, run_element_bytes(r), &e->out));
  KCL_CALL(buffer_of(r, NULL, h->own + h->count, run_element_bytes(r), &e->in));
  return set_halo_arguments(r, e);
}

void kcl_halo_close(kcl_exchange *e) {
  cl_mem list[] = {e->send, e->own, e->row, e->out, e->in};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    if (list[i]) clReleaseMemObject(list[i]);
  if (e->pack) clReleaseKernel(e->pack);
  if (e->take) clReleaseKernel(e->take);
  if (e->add) clReleaseKernel(e->add);
}
