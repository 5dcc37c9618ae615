/* Stages of the OpenCL executor on several ranks (core/program/ranks.h): launches, and between them the host exchanges what
 * others need. Each exchange waits for the device. A rank whose device fails takes part until the next sum, which tells all. */
#include "core/opencl/executor.h"
#include "core/program/ranks.h"
#include <stdlib.h>

static cl_int read(const run *r, cl_mem buffer, size_t at, size_t bytes, void *host) {
  if (!bytes) return CL_SUCCESS;
  return clEnqueueReadBuffer(queue(r), buffer, CL_TRUE, at, bytes, host, 0, NULL,
                             kcl_profile_event(context(r)->opencl, "read", bytes));
}

/* Does not wait: what is written stays as it is until something is read. */
static cl_int write(const run *r, cl_mem buffer, size_t at, size_t bytes, const void *host) {
  if (!bytes) return CL_SUCCESS;
  return clEnqueueWriteBuffer(queue(r), buffer, CL_FALSE, at, bytes, host, 0, NULL,
                              kcl_profile_event(context(r)->opencl, "write", bytes));
}

static cl_int start(const run *r, cl_kernel kernel, int64_t n) {
  size_t items = kcl_run_groups_for(r, n) * r->group;
  return clEnqueueNDRangeKernel(queue(r), kernel, 1, NULL, &items, &r->group, 0, NULL,
                                kcl_profile_launch(context(r)->opencl, kernel, r->group));
}

/* ---------------------------------------------------------------- halo */

static cl_int begin_halo(run *r, const kcl_halo *h, const kcl_stage *s) {
  cl_int code = CL_SUCCESS;
  if (h->own) {
    code = clSetKernelArg(r->halo.take, 3, sizeof(cl_mem), &r->vec[s->x]);
    if (!code) code = start(r, r->halo.take, h->own);
  }
  if (h->sends && !code) {
    code = clSetKernelArg(r->halo.pack, 3, sizeof(cl_mem), &r->vec[s->x]);
    if (!code) code = start(r, r->halo.pack, h->sends);
    if (!code) code = read(r, r->halo.out, 0, (size_t)h->sends * r->scalar_bytes, h->out);
  } else if (h->boundary && !code) {
    code = clFinish(queue(r)); /* h->in was written to the device */
  }
  h->begin(h);
  return code;
}

static cl_int end_halo(run *r, const kcl_halo *h, const kcl_stage *s) {
  h->end(h);
  if (!h->boundary) return CL_SUCCESS;
  const size_t at = (size_t)h->own * r->scalar_bytes, bytes = (size_t)h->count * r->scalar_bytes;
  cl_int code = write(r, r->halo.in, at, bytes, (const char *)h->in + at);
  code |= clSetKernelArg(r->halo.add, 1, sizeof(cl_mem), &r->vec[s->y]);
  return code ? code : start(r, r->halo.add, h->boundary->rows);
}

/* ---------------------------------------------------------------- sums */

enum { MOST_SUMS = 2 * KCL_MAX_NRHS * KCL_MOST_STAGE_OPS };

/* Partial sums of a stage on the device (kernels/stage.clh), and on the host: [sums, groups_max] scalars. */
typedef struct partials {
  int sums, parts;     /* of the stage; real numbers of each */
  size_t groups, at;   /* of its launch; bytes in r->states */
  size_t bytes, whole; /* of a sum; of all */
} partials;

static partials partials_of(const run *r, const kcl_stage *s, const launch *l) {
  const size_t bytes = (size_t)r->geometry.groups_max * r->scalar_bytes;
  const int sums = kcl_stage_dots(s) * r->width;
  return (partials){.sums = sums,
                    .parts = (int)(r->scalar_bytes / r->real_bytes),
                    .groups = l->groups,
                    .at = kcl_run_state(r) + kcl_poll_bytes(r->k),
                    .bytes = bytes,
                    .whole = (size_t)sums * bytes};
}

/* Real number i of sum d. */
static char *place(const run *r, const partials *p, int d, size_t i) {
  return r->halo.partial + (size_t)d * p->bytes + i * r->real_bytes;
}

/* all [sums, parts]: into the place of the first group, and 0 into those of the others. */
static cl_int keep_sums(run *r, const partials *p, const double *all) {
  for (int d = 0; d < p->sums; d++)
    for (size_t i = 0; i < p->groups * (size_t)p->parts; i++) {
      void *to = place(r, p, d, i);
      const double v = i < (size_t)p->parts ? all[d * p->parts + (int)i] : 0;
      if (r->real_bytes == 4)
        *(float *)to = (float)v;
      else
        *(double *)to = v;
    }
  return write(r, r->states, p->at, p->whole, r->halo.partial);
}

static int sum_groups(run *r, kcl_ranks *ranks, const partials *p, int status, double *all) {
  for (int d = 0; d < p->sums && !status; d++)
    for (size_t i = 0; i < p->groups * (size_t)p->parts; i++)
      all[d * p->parts + (int)i % p->parts] += real_at(r, place(r, p, d, i));
  return ranks->sum(ranks, status, p->sums * p->parts, all);
}

/* The groups are the blocks of all ranks. */
static int sum_blocks(run *r, kcl_ranks *ranks, const partials *p, int status, double *all) {
  double *own = r->halo.block;
  for (int d = 0; d < p->sums; d++)
    for (size_t i = 0; i < p->groups * (size_t)p->parts; i++) {
      const size_t group = i / (size_t)p->parts, n = (size_t)(d * p->parts) + i % (size_t)p->parts;
      own[n * p->groups + group] = real_at(r, place(r, p, d, i));
    }
  return ranks->sum_blocks(ranks, status, p->sums * p->parts, (int64_t)p->groups, own, all);
}

/* The sums of the groups become one of all ranks. */
static int sum_over_ranks(run *r, kcl_ranks *ranks, const partials *p, cl_int code) {
  double all[MOST_SUMS] = {0};
  if (!code) code = read(r, r->states, p->at, p->whole, r->halo.partial);
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
  const kcl_halo *h = kcl_stage_halo(s);
  cl_int code = CL_SUCCESS;
  if (h) code = begin_halo(r, h, s);
  if (!code && !status) code = kcl_run_enqueue(r, l);
  if (!code && h) code = clFlush(queue(r));
  if (h) code |= end_halo(r, h, s);
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

static int set_arguments(run *r, const kcl_halo *h) {
  cl_uint i = 4;
  cl_int code = kcl_run_set_index(r, r->halo.pack, 0, h->sends);
  code |= clSetKernelArg(r->halo.pack, 1, sizeof(cl_mem), &r->halo.out);
  code |= clSetKernelArg(r->halo.pack, 2, sizeof(cl_mem), &r->halo.send);
  code |= kcl_run_set_index(r, r->halo.take, 0, h->own);
  code |= clSetKernelArg(r->halo.take, 1, sizeof(cl_mem), &r->halo.in);
  code |= clSetKernelArg(r->halo.take, 2, sizeof(cl_mem), &r->halo.own);
  if (h->boundary) {
    code |= kcl_run_set_index(r, r->halo.add, 0, h->boundary->rows);
    code |= clSetKernelArg(r->halo.add, 2, sizeof(cl_mem), &r->halo.in);
    code |= clSetKernelArg(r->halo.add, 3, sizeof(cl_mem), &r->halo.row);
    code |= kcl_run_set_matrix(r, r->halo.add, &i, h->boundary); /* row_ptr, col, val */
  }
  return kcl_cl_check(context(r), code, "clSetKernelArg", "halo");
}

int kcl_run_open_halo(run *r) {
  const kcl_halo *h = r->k->A->halo;
  const size_t sums = (size_t)kcl_program_dots(r->k) * (size_t)r->width;
  cl_int code;
  int rc;
  r->halo.pack = clCreateKernel(r->part[0], "halo_pack", &code);
  if (!code) r->halo.take = clCreateKernel(r->part[0], "halo_pack", &code);
  if (!code) r->halo.add = clCreateKernel(r->part[0], "halo_add", &code);
  KCL_TRY(kcl_cl_check(context(r), code, "clCreateKernel", "halo_pack"));
  if (h->boundary) KCL_TRY(kcl_opencl_upload(h->boundary));
  KCL_TRY(buffer_of(r, h->send, h->sends, sizeof *h->send, &r->halo.send));
  KCL_TRY(buffer_of(r, h->take, h->own, sizeof *h->take, &r->halo.own));
  KCL_TRY(buffer_of(r, h->row, h->boundary ? h->boundary->rows : 0, sizeof *h->row, &r->halo.row));
  KCL_TRY(buffer_of(r, NULL, h->sends, r->scalar_bytes, &r->halo.out));
  KCL_TRY(buffer_of(r, NULL, h->own + h->count, r->scalar_bytes, &r->halo.in));
  KCL_TRY(kcl_opencl_pin_host(context(r), sums * (size_t)r->geometry.groups_max * r->scalar_bytes,
                              "partial sums", &r->halo.sums));
  r->halo.partial = r->halo.sums.data;
  if (r->geometry.sum_block)
    KCL_TRY(kcl_alloc(context(r), (int64_t)(sums * (size_t)r->geometry.groups_max),
                      2 * sizeof(double), "partial sums", (void **)&r->halo.block));
  rc = set_arguments(r, h);
done:
  return rc;
}

void kcl_run_close_halo(run *r) {
  cl_mem list[] = {r->halo.send, r->halo.own, r->halo.row, r->halo.out, r->halo.in};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    if (list[i]) clReleaseMemObject(list[i]);
  if (r->halo.pack) clReleaseKernel(r->halo.pack);
  if (r->halo.take) clReleaseKernel(r->halo.take);
  if (r->halo.add) clReleaseKernel(r->halo.add);
  kcl_opencl_unpin_host(context(r), &r->halo.sums);
  free(r->halo.block);
}
