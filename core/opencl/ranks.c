/* Stages of the OpenCL executor on several ranks (core/program/ranks.h): launches, and between them the host exchanges what
 * others need. A rank whose device fails takes part until the next sum, which tells all.
 *
 *   launches    pack | the stage, its product over own columns      | halo_add |
 *   transfers        | read, between ranks, write                   |
 *   host                                                                       | partial sums: read, added over ranks, written
 */
#include "core/opencl/executor.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* *done: the launch's event, to be released; NULL: none is wanted. */
static cl_int start(const run *r, cl_kernel kernel, size_t groups, const cl_event *after,
                    cl_event *done) {
  const size_t items = groups * r->group;
  cl_event *log = kcl_profile_launch(context(r)->opencl, kernel, r->group);
  cl_int code = clEnqueueNDRangeKernel(queue(r), kernel, 1, NULL, &items, &r->group, after != NULL,
                                       after, log ? log : done);
  if (!code && log && done) *done = *log, code = clRetainEvent(*done);
  return code;
}

/* ---------------------------------------------------------------- halo */

static kcl_exchange *exchange_of(const run *r, const kcl_stage *s) {
  return kcl_stage_halo(s) ? &r->ranks.of[kcl_applied_of(r->k, s->A) - r->k->op] : NULL;
}

static size_t halo_groups(const run *r, const kcl_halo *h) {
  const size_t groups = h->boundary ? kcl_run_groups_for(r, h->boundary->rows) : 0;
  return groups < KCL_HALO_GROUPS ? groups : KCL_HALO_GROUPS;
}

/* Elements of x that this rank sends, and its own that rows of the boundary need. */
static cl_int pack(const run *r, const kcl_exchange *e, cl_mem *x, cl_event *packed) {
  const kcl_halo *h = e->halo;
  cl_int code = CL_SUCCESS;
  if (h->own) {
    code = clSetKernelArg(e->take, 3, sizeof(cl_mem), x);
    if (!code) code = start(r, e->take, kcl_run_groups_for(r, h->own), NULL, NULL);
  }
  if (!h->sends || code) return code;
  code = clSetKernelArg(e->pack, 3, sizeof(cl_mem), x);
  return code ? code : start(r, e->pack, kcl_run_groups_for(r, h->sends), NULL, packed);
}

/* What was packed to the host, which then may use h->in: what is read was packed after h->in had been used. */
static cl_int read_halo(const run *r, const kcl_exchange *e, const cl_event *packed) {
  const kcl_halo *h = e->halo;
  const size_t bytes = (size_t)h->sends * r->scalar_bytes;
  if (!h->sends) return h->boundary ? clFinish(queue(r)) : CL_SUCCESS;
  return clEnqueueReadBuffer(r->ranks.transfers, e->out, CL_TRUE, 0, bytes, h->out, 1, packed,
                             kcl_profile_event(context(r)->opencl, "read", bytes));
}

/* *written: of all. */
static cl_int write_halo(const run *r, const kcl_exchange *e, cl_event *written) {
  const kcl_halo *h = e->halo;
  cl_int code = CL_SUCCESS;
  for (int i = 0; i < h->owners && !code; i++) {
    const kcl_received *from = &h->received[i];
    const size_t at = (size_t)(h->own + from->first) * r->scalar_bytes,
                 bytes = (size_t)from->count * r->scalar_bytes;
    if (*written) clReleaseEvent(*written);
    code = clEnqueueWriteBuffer(r->ranks.transfers, e->in, CL_FALSE, at, bytes, from->from, 0, NULL,
                                written);
    if (!code) kcl_profile_keep(context(r)->opencl, *written, "write", bytes);
  }
  return code ? code : clFlush(r->ranks.transfers);
}

/* Which product of y and u is summed: what halo_add calls `dot`. */
static cl_int which_dot(const kcl_op *o, kcl_vec y) {
  return !o ? 0 : o->plain ? 3 : o->x == y ? 2 : 1;
}

/* y is completed, and the dot that it is in. */
static cl_int add(const run *r, const kcl_exchange *e, const kcl_stage *s, const launch *l,
                  const cl_event *written) {
  int number = 0;
  const kcl_op *o = kcl_stage_halo_dot(s, &number);
  const cl_int dot = which_dot(o, s->y);
  const size_t sums = (kcl_run_state(r) + kcl_poll_bytes(r->k)) / r->scalar_bytes;
  const cl_int at = (cl_int)(sums + (size_t)number * (size_t)r->geometry.partials_max + l->groups);
  const kcl_vec u = !o ? s->y : o->x == s->y ? o->y : o->x;
  cl_int code = clSetKernelArg(e->add, 1, sizeof(cl_mem), &r->vec[s->y]);
  code |= clSetKernelArg(e->add, 4, sizeof dot, &dot);
  code |= clSetKernelArg(e->add, 5, sizeof(cl_mem), &r->vec[u]);
  code |= clSetKernelArg(e->add, 7, sizeof at, &at);
  return code ? code : start(r, e->add, halo_groups(r, e->halo), written, NULL);
}

/* A stage with a halo. Ranks meet also where this one fails. */
static cl_int run_with_halo(run *r, const kcl_exchange *e, const kcl_stage *s, const launch *l,
                            bool works) {
  const kcl_halo *h = e->halo;
  cl_event packed = NULL, written = NULL;
  cl_int code = CL_SUCCESS;
  if (works) code = pack(r, e, &r->vec[s->x], &packed);
  if (works && !code) code = kcl_run_enqueue(r, l);
  if (works && !code) code = clFlush(queue(r));
  if (works && !code) code = read_halo(r, e, &packed);
  h->begin(h), h->end(h);
  if (works && h->boundary && !code) code = write_halo(r, e, &written);
  if (works && h->boundary && !code) code = add(r, e, s, l, &written);
  if (packed) clReleaseEvent(packed);
  if (written) clReleaseEvent(written);
  return code;
}

/* ---------------------------------------------------------------- sums */

enum { MOST_SUMS = 2 * KCL_MAX_NRHS * KCL_MOST_STAGE_OPS };

/* Partial sums of a stage on the device (kernels/stage.clh), and on the host: [sums, partials_max] scalars. */
typedef struct partials {
  int sums, parts; /* of the stage; real numbers of each */
  size_t groups;   /* of its launch */
  int halo;        /* the sum to which the halo has added, or -1; and its groups */
  size_t more;
  size_t at, bytes, whole; /* bytes in r->states; of a sum; of all that is in use */
} partials;

static partials partials_of(const run *r, const kcl_stage *s, const launch *l) {
  const size_t bytes = (size_t)r->geometry.partials_max * r->scalar_bytes;
  partials p = {.sums = kcl_stage_dots(s) * r->width,
                .parts = (int)(r->scalar_bytes / r->real_bytes),
                .groups = l->groups,
                .halo = -1,
                .at = kcl_run_state(r) + kcl_poll_bytes(r->k),
                .bytes = bytes};
  int number;
  if (kcl_stage_halo_dot(s, &number)) p.halo = number, p.more = halo_groups(r, s->A->halo);
  p.whole = (size_t)(p.sums - 1) * bytes + (p.groups + p.more) * r->scalar_bytes;
  return p;
}

/* Real number i of sum d. */
static char *place(const run *r, const partials *p, int d, size_t i) {
  return r->ranks.partial + (size_t)d * p->bytes + i * r->real_bytes;
}

/* all [sums, parts]: into the places of the first group, which alone are read (make_kernel in launch.c). */
static cl_int keep_sums(const run *r, const partials *p, const double *all) {
  const size_t used = (size_t)(p->sums - 1) * p->bytes + r->scalar_bytes;
  for (int i = 0; i < p->sums * p->parts; i++) {
    void *to = place(r, p, i / p->parts, (size_t)(i % p->parts));
    if (r->real_bytes == 4)
      *(float *)to = (float)all[i];
    else
      *(double *)to = all[i];
  }
  return clEnqueueWriteBuffer(queue(r), r->states, CL_FALSE, p->at, used, r->ranks.partial, 0, NULL,
                              kcl_profile_event(context(r)->opencl, "write", used));
}

/* Of count reals; parts 2: those with an even number, then the others. Some sums at a time: they do not wait for each other. */
static void add_up(const void *values, size_t real_bytes, size_t count, int parts, double *sum) {
  enum { AT_ONCE = 8 };
  const float *single = values;
  const double *twice = values;
  double some[AT_ONCE] = {0};
  for (size_t i = 0; i < count && real_bytes == 4; i++) some[i % AT_ONCE] += (double)single[i];
  for (size_t i = 0; i < count && real_bytes == 8; i++) some[i % AT_ONCE] += twice[i];
  for (int i = 0; i < AT_ONCE; i++) sum[parts == 2 ? i % 2 : 0] += some[i];
}

static int sum_groups(const run *r, kcl_ranks *ranks, const partials *p, int status, double *all) {
  for (int d = 0; d < p->sums && !status; d++) {
    const size_t count = p->groups + (d == p->halo ? p->more : 0);
    add_up(place(r, p, d, 0), r->real_bytes, count * (size_t)p->parts, p->parts,
           all + d * p->parts);
  }
  return ranks->sum(ranks, status, p->sums * p->parts, all);
}

/* The groups are the blocks of all ranks. */
static int sum_blocks(const run *r, kcl_ranks *ranks, const partials *p, int status, double *all) {
  double *own = r->ranks.block;
  for (int d = 0; d < p->sums; d++)
    for (size_t i = 0; i < p->groups * (size_t)p->parts; i++) {
      const size_t group = i / (size_t)p->parts, n = (size_t)(d * p->parts) + i % (size_t)p->parts;
      own[n * p->groups + group] = real_at(r, place(r, p, d, i));
    }
  return ranks->sum_blocks(ranks, status, p->sums * p->parts, (int64_t)p->groups, own, all);
}

/* The sums of the groups become one of all ranks. */
static int sum_over_ranks(const run *r, kcl_ranks *ranks, const partials *p, cl_int code) {
  double all[MOST_SUMS] = {0};
  if (!code)
    code = clEnqueueReadBuffer(queue(r), r->states, CL_TRUE, p->at, p->whole, r->ranks.partial, 0,
                               NULL, kcl_profile_event(context(r)->opencl, "read", p->whole));
  int status = kcl_cl_check(context(r), code, "clEnqueueReadBuffer", "adding over ranks");
  status = (ranks->block ? sum_blocks : sum_groups)(r, ranks, p, status, all);
  if (status) return status;
  return kcl_cl_check(context(r), keep_sums(r, p, all), "clEnqueueWriteBuffer",
                      "adding over ranks");
}

/* This rank has failed before: the others learn it. */
static int tell_failure(kcl_ranks *ranks, const partials *p, int status) {
  double nothing[MOST_SUMS] = {0};
  const int n = p->sums * p->parts;
  if (ranks->block) return ranks->sum_blocks(ranks, status, n, (int64_t)p->groups, NULL, nothing);
  return ranks->sum(ranks, status, n, nothing);
}

int kcl_run_stage_on_ranks(run *r, const kcl_stage *s, const launch *l, int status) {
  kcl_ranks *ranks = kcl_program_ranks(r->k);
  const kcl_exchange *e = exchange_of(r, s);
  cl_int code = CL_SUCCESS;
  if (e)
    code = run_with_halo(r, e, s, l, !status);
  else if (!status)
    code = kcl_run_enqueue(r, l);
  if (!status) status = kcl_cl_check(context(r), code, "clEnqueueNDRangeKernel", "iterating");
  if (!kcl_stage_dots(s)) return status;
  const partials p = partials_of(r, s, l);
  return status ? tell_failure(ranks, &p, status) : sum_over_ranks(r, ranks, &p, code);
}

/* ---------------------------------------------------------------- opening and closing */

static int buffer_of(run *r, const void *data, int64_t count, size_t size, cl_mem *out) {
  const kcl_upload u = {1, count * (int64_t)size, kcl_fill_bytes, data};
  int rc = kcl_opencl_buffer(context(r), (size_t)(count ? count : 1) * size, "the halo", out);
  return rc || !data || !count ? rc : kcl_opencl_write(context(r), *out, &u, "uploading the halo");
}

static int set_arguments(run *r, kcl_exchange *e) {
  const kcl_halo *h = e->halo;
  cl_uint i = 8;
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
    code |= kcl_run_set_matrix(r, e->add, &i, h->boundary); /* row_ptr, col, val */
  }
  return kcl_cl_check(context(r), code, "clSetKernelArg", "halo");
}

static int open_exchange(run *r, const kcl_halo *h, kcl_exchange *e) {
  cl_int code;
  int rc;
  e->halo = h;
  e->pack = clCreateKernel(r->part[0], "halo_pack", &code);
  if (!code) e->take = clCreateKernel(r->part[0], "halo_pack", &code);
  if (!code) e->add = clCreateKernel(r->part[0], "halo_add", &code);
  KCL_TRY(kcl_cl_check(context(r), code, "clCreateKernel", "halo_pack"));
  if (h->boundary) KCL_TRY(kcl_opencl_upload(h->boundary));
  KCL_TRY(buffer_of(r, h->send, h->sends, sizeof *h->send, &e->send));
  KCL_TRY(buffer_of(r, h->take, h->own, sizeof *h->take, &e->own));
  KCL_TRY(buffer_of(r, h->row, h->boundary ? h->boundary->rows : 0, sizeof *h->row, &e->row));
  KCL_TRY(buffer_of(r, NULL, h->sends, r->scalar_bytes, &e->out));
  KCL_TRY(buffer_of(r, NULL, h->own + h->count, r->scalar_bytes, &e->in));
  rc = set_arguments(r, e);
done:
  return rc;
}

/* A second queue for transfers, with the properties of the first. */
static int open_transfers(run *r) {
  const kcl_opencl *o = context(r)->opencl;
  cl_command_queue_properties like = 0;
  cl_int code = clGetCommandQueueInfo(o->queue, CL_QUEUE_PROPERTIES, sizeof like, &like, NULL);
  like &= ~(cl_command_queue_properties)CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
  if (!code) r->ranks.transfers = clCreateCommandQueue(o->context, o->device, like, &code);
  return kcl_cl_check(context(r), code, "clCreateCommandQueue", "a queue for halos");
}

int kcl_run_open_ranks(run *r) {
  const size_t sums =
      (size_t)kcl_program_dots(r->k) * (size_t)r->width * (size_t)r->geometry.partials_max;
  int rc;
  KCL_TRY(open_transfers(r));
  KCL_TRY(kcl_alloc(context(r), r->k->ops, sizeof *r->ranks.of, "halos", (void **)&r->ranks.of));
  for (int i = 0; i < r->k->ops; i++)
    if (r->k->op[i].matrix->halo)
      KCL_TRY(open_exchange(r, r->k->op[i].matrix->halo, &r->ranks.of[i]));
  KCL_TRY(kcl_opencl_pin_host(context(r), sums * r->scalar_bytes, "partial sums", &r->ranks.sums));
  r->ranks.partial = r->ranks.sums.data;
  if (r->geometry.sum_block)
    KCL_TRY(kcl_alloc(context(r), (int64_t)sums, 2 * sizeof(double), "partial sums",
                      (void **)&r->ranks.block));
done:
  return rc;
}

static void close_exchange(kcl_exchange *e) {
  cl_mem list[] = {e->send, e->own, e->row, e->out, e->in};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    if (list[i]) clReleaseMemObject(list[i]);
  if (e->pack) clReleaseKernel(e->pack);
  if (e->take) clReleaseKernel(e->take);
  if (e->add) clReleaseKernel(e->add);
}

void kcl_run_close_ranks(run *r) {
  for (int i = 0; r->ranks.of && i < r->k->ops; i++) close_exchange(&r->ranks.of[i]);
  free(r->ranks.of);
  if (r->ranks.transfers) clReleaseCommandQueue(r->ranks.transfers);
  kcl_opencl_unpin_host(context(r), &r->ranks.sums);
  free(r->ranks.block);
}
