/* The persistent kernel on the host: when it is used, how rows are shared out among its work-groups, its arguments, and
 * the fallback when its groups are not resident together. docs/persistent.md; the source: persistent_source.c. */
#include "core/matrix/row_blocks.h"
#include "core/opencl/persistent/persistent.h"

/* It pays where launch overhead exceeds the cost of exchanging messages: when an iteration moves less than MAX_BYTES and
 * its vectors are in registers, or a row block of one is below MAX_BLOCK. Measured on an NVIDIA H200; other vendors promise
 * no progress to groups that wait for each other. */
enum {
  MAX_BYTES = 48000000, /* per iteration */
  MAX_BLOCK = 20000,    /* bytes of a vector per work-group */
  CACHED_ENTRIES = 12,  /* per row: from so many on x is read through the L1 cache */
  MAX_RENUMBERED =
      2000000,            /* entries of a matrix whose columns are renumbered, a pass on the host */
  REGISTER_BYTES = 256,   /* per work-item, of vectors in registers */
  OVERLAP_BYTES = 128,    /* per work-item, of row sums that wait for a reduction */
  PERSISTENT_GROUP = 512, /* work-items per work-group */
  LEAST_ITERATIONS = 96   /* per launch, which costs as much as four iterations of CG */
};

/* KRYLOCL_PERSISTENT: 0 never; 1 always where possible; for tests 2 is 1 without halo in local memory, 3 with columns
 * renumbered wherever that is possible. */
static char asked(void) {
  const char *word = getenv("KRYLOCL_PERSISTENT");
  return word ? *word : 0;
}

/* ---------------------------------------------------------------- geometry */

/* Scalars of x that fit in a group's local memory beside the rest. */
static int64_t halo_capacity(const kcl_run *r, const kcl_geometry *g) {
  return (int64_t)(run_context(r)->opencl->local_bytes / r->scalar_bytes) -
         g->group * kcl_at_once(kcl_program_dots(r->k)) - r->k->slots - 64;
}

/* One group per compute unit, so that all are resident together. Each has a row block, except one that only reduces. */
static void share_rows(kcl_run *r, kcl_geometry *g) {
  const kcl_program *k = r->k;
  const kcl_opencl *o = run_context(r)->opencl;
  kcl_persistent *p = &r->persistent;
  int64_t rows = g->group / k->A->kernel.lanes, most = o->concurrent - g->reducing_group;
  int64_t groups = (k->n * k->A->kernel.lanes + 63) / 64; /* at least two warps of work each */
  if (groups > most) groups = most;
  if (groups < 1) groups = 1;
  p->block_rows = (k->n + groups - 1) / groups;
  if (p->block_rows > rows) p->block_rows = (p->block_rows + 31) / 32 * 32; /* whole warps */
  p->groups = (size_t)((k->n + p->block_rows - 1) / p->block_rows + g->reducing_group);
  g->rows_per_item = (int)((p->block_rows + rows - 1) / rows);
}

static int64_t widest_halo(const kcl_program *k) {
  int64_t most = 0;
  for (int i = 0; i < k->ops; i++) {
    const kcl_stored *m = k->op[i].matrix;
    int64_t width = m->origin.source.row_ptr ? kcl_bandwidth(&m->origin.source) : m->cost.bandwidth;
    if (width > most) most = width;
  }
  return most;
}

static kcl_geometry choose_geometry(kcl_run *r) {
  const kcl_program *k = r->k;
  const kcl_opencl *o = run_context(r)->opencl;
  kcl_persistent *p = &r->persistent;
  kcl_geometry g = r->geometry;
  int vectors = 0;
  g.persistent = true, g.group = o->small_groups ? g.group : PERSISTENT_GROUP;
  g.overlaps = kcl_loop_can_overlap(k), g.reducing_group = g.overlaps && o->is_nvidia;
  share_rows(r, &g);
  if (g.rows_per_item * (int)r->scalar_bytes > OVERLAP_BYTES)
    g.overlaps = g.reducing_group = false, share_rows(r, &g);
  p->halo_width = widest_halo(k);
  p->halo = p->block_rows + 2 * p->halo_width;
  g.local_halo = p->halo <= halo_capacity(r, &g) && asked() != '2';
  g.cached_x = k->A->nnz >= CACHED_ENTRIES * k->n;
  for (kcl_vec v = 0; v < k->vectors; v++) vectors += kcl_phase_uses(k, KCL_LOOP, v);
  g.in_registers = g.rows_per_item * vectors * (int)r->scalar_bytes <= REGISTER_BYTES;
  return g;
}

static bool persistent_wanted(kcl_run *r) {
  const kcl_program *k = r->k;
  if (kcl_program_ranks(k) || kcl_program_sum_rows(k) || k->fusion > KCL_FUSED_ITERATIONS)
    return false; /* its groups see no other ranks, and its sums have another shape */
  if (r->group == 1 || k->product || !kcl_persistent_possible(k) || asked() == '0') return false;
  bool small = run_context(r)->opencl->is_nvidia &&
               kcl_program_bytes(k, KCL_LOOP, 1) / k->iterations < MAX_BYTES;
  if (!small && !asked()) return false;
  r->persistent.geometry = choose_geometry(r);
  return asked() || r->persistent.geometry.in_registers ||
         (size_t)r->persistent.block_rows * r->scalar_bytes < MAX_BLOCK;
}

/* ---------------------------------------------------------------- predicted time */

/* Seconds per iteration, real double precision, an NVIDIA H200: fitted to 848 measured times, of which two thirds are within
 * 15 % (docs/lab/2026-11-23-model.md). */
static const double STAGE = 0.7e-6;           /* messages with the other groups, per stage */
static const double REDUCTION = 0.87e-6;      /* more, where dots are reduced */
static const double ROW = 0.43e-6;            /* per row of a work-item */
static const double SPILLED_ROW = 0.9e-6;     /* the same, vectors not in registers */
static const double FAR = 33e-9;              /* more per entry where x is not in local memory, */
static const double FAR_OVERLAPPING = 108e-9; /* and while a reduction is in flight */
static const double CACHE_RATE = 5e12, OVERLAPPING_RATE = 7e12; /* bytes per second, of A */

/* Will x be in local memory? With renumbered columns it nearly always is. */
static bool near_x(const kcl_program *k, const kcl_geometry *g) {
  const kcl_stored *A = k->A;
  return g->local_halo || (k->ops == 1 && !k->guarded && A->format->columns_renumberable &&
                           A->nnz <= MAX_RENUMBERED);
}

static double product_seconds(const kcl_run *r, const kcl_stored *A) {
  const kcl_geometry *g = &r->persistent.geometry;
  double far = near_x(r->k, g) ? 0
               : g->overlaps   ? FAR_OVERLAPPING
                               : FAR,
         entries = A->cost.chain + (g->rows_per_item - 1) * A->cost.mean;
  return entries * (A->cost.entry_ns * 1e-9 + far) +
         kcl_stored_bytes(A) / (g->overlaps ? OVERLAPPING_RATE : CACHE_RATE);
}

static double estimate_seconds(const kcl_run *r) {
  const kcl_program *k = r->k;
  const kcl_geometry *g = &r->persistent.geometry;
  double exchange = 0,
         work = k->iterations * g->rows_per_item * (g->in_registers ? ROW : SPILLED_ROW);
  for (int i = 0; i < k->stages[KCL_LOOP]; i++) {
    const kcl_stage *s = &k->stage[KCL_LOOP][i];
    exchange += STAGE + (kcl_stage_dots(s) ? REDUCTION : 0);
    if (s->A) work += product_seconds(r, s->A);
  }
  return exchange * (r->scalar_bytes > 8 ? 1.5 : 1) + work;
}

/* ---------------------------------------------------------------- halo lists */

static int filled_buffer(kcl_run *r, int64_t count, const int32_t *values, cl_mem *out) {
  const kcl_upload u = {1, count * (int64_t)sizeof *values, kcl_fill_bytes, values};
  int rc = kcl_opencl_buffer(run_context(r), (size_t)u.count, "halo lists", out);
  return rc ? rc : kcl_opencl_write(run_context(r), *out, &u, "halo lists");
}

/* Renumbers columns where the range of x that holds a row block's columns is too long or mostly unused. Not in guarded programs: the
 * guard has no checksums of halo lists and of the columns in them. */
static int renumber_columns(kcl_run *r) {
  const kcl_stored *A = r->k->A;
  kcl_persistent *p = &r->persistent;
  kcl_geometry *g = &p->geometry;
  KCL_OWNED_BY(kcl_row_blocks_free) kcl_row_blocks b = {0};
  int64_t capacity = halo_capacity(r, g);
  bool may = A->format->columns_renumberable && r->k->ops == 1 && !r->k->guarded && asked() != '2';
  bool should = A->nnz <= MAX_RENUMBERED && (!g->local_halo || p->halo > 4 * g->group);
  if (!may || !(should || asked() == '3')) return KCL_OK;
  KCL_CALL(kcl_row_blocks_find(run_context(r), &A->origin.source, p->block_rows, capacity, &b));
  if (!b.count || (g->local_halo && 2 * b.most > p->halo && asked() != '3')) return KCL_OK;
  KCL_CALL(kcl_stored_build(run_context(r), A->format, &b.A, &p->renumbered));
  KCL_CALL(kcl_opencl_upload(p->renumbered));
  KCL_CALL(filled_buffer(r, b.count + 1, b.from, &p->from));
  KCL_CALL(filled_buffer(r, b.from[b.count], b.column, &p->list));
  g->local_halo = true;
  g->renumbered = p->renumbered;
  p->halo = b.most;
  return KCL_OK;
}

/* ---------------------------------------------------------------- opening and closing */

enum {
  ARGUMENT_LAUNCH = 1,
  ARGUMENT_NUMBER = 6,
  ARGUMENT_PASSES = 7,
  ARGUMENT_SINCE = 8,
  ARGUMENT_MATRIX = 10
}; /* arguments */

static cl_int set_fixed(kcl_run *r) {
  const kcl_stage *before = kcl_stage_previous(r->k, KCL_LOOP, 0);
  const cl_int groups = before ? (cl_int)kcl_run_groups(r, before) : 1;
  kcl_persistent *p = &r->persistent;
  cl_int code = clSetKernelArg(p->kernel, 0, sizeof(cl_mem), &r->states);
  code |= clSetKernelArg(p->kernel, 2, sizeof(cl_mem), &r->history);
  code |= kcl_run_set_index(r, p->kernel, 3, r->k->n);
  code |= clSetKernelArg(p->kernel, 4, sizeof groups, &groups);
  code |= clSetKernelArg(p->kernel, 5, sizeof(cl_mem), &p->mailbox);
  return code | kcl_run_set_index(r, p->kernel, 9, p->block_rows);
}

/* Sets the arguments in the order of the skeleton kernels/persistent.cl. */
static cl_int set_persistent_arguments(kcl_run *r) {
  const kcl_program *k = r->k;
  kcl_persistent *p = &r->persistent;
  cl_int code = set_fixed(r);
  cl_uint i = ARGUMENT_MATRIX;
  for (int m = 0; m < k->ops; m++) {
    const kcl_stored *A = k->op[m].matrix;
    code |= kcl_run_set_matrix(r, p->kernel, &i, A == k->A && p->renumbered ? p->renumbered : A);
  }
  for (kcl_vec v = 0; v < k->vectors; v++)
    if (kcl_persistent_uses(k, v))
      code |= clSetKernelArg(p->kernel, i++, sizeof(cl_mem), &r->vec[v]);
  for (kcl_vec v = 0; v < k->vectors; v++)
    if (p->copies[v]) code |= clSetKernelArg(p->kernel, i++, sizeof(cl_mem), &p->copies[v]);
  code |= kcl_run_set_index(r, p->kernel, i++, p->halo_width);
  if (p->geometry.local_halo)
    code |= clSetKernelArg(p->kernel, i++, (size_t)p->halo * r->scalar_bytes, NULL);
  if (p->list) code |= clSetKernelArg(p->kernel, i++, sizeof(cl_mem), &p->list);
  if (p->list) code |= clSetKernelArg(p->kernel, i++, sizeof(cl_mem), &p->from);
  return code;
}

/* Two copies of each published vector, as numbers or as messages twice as large. */
static int make_copies(kcl_run *r) {
  const size_t message = r->persistent.geometry.local_halo ? 2 : 1;
  int rc = kcl_alloc(run_context(r), r->k->vectors, sizeof *r->persistent.copies, "vectors",
                     (void **)&r->persistent.copies);
  for (int v = 0; v < r->k->vectors && !rc; v++)
    if (kcl_persistent_gathers(r->k, v))
      rc = kcl_opencl_buffer(run_context(r), 2 * message * r->scalar_bytes * (size_t)r->k->n,
                             "a vector's copies", &r->persistent.copies[v]);
  return rc;
}

static int prepare_persistent(kcl_run *r) {
  kcl_persistent *p = &r->persistent;
  size_t sums = (size_t)kcl_most_dots(r->k) * (p->groups + 1);
  KCL_CALL(renumber_columns(r));
  KCL_CALL(kcl_opencl_buffer(run_context(r),
                             4 * sums * r->scalar_bytes + p->groups * sizeof(cl_uint), "sums",
                             &p->mailbox));
  return make_copies(r);
}

static int open_persistent(kcl_run *r) {
  kcl_persistent *p = &r->persistent;
  cl_int code;
  p->kernel = clCreateKernel(p->program, "persistent", &code);
  int rc = kcl_cl_check(run_context(r), code, "clCreateKernel", "persistent");
  return rc ? rc
            : kcl_cl_check(run_context(r), set_persistent_arguments(r), "clSetKernelArg",
                           "persistent");
}

static void close_persistent(kcl_run *r) {
  kcl_persistent *p = &r->persistent;
  if (p->kernel) clReleaseKernel(p->kernel);
  if (p->program) clReleaseProgram(p->program);
  if (p->mailbox) clReleaseMemObject(p->mailbox);
  if (p->list) clReleaseMemObject(p->list);
  if (p->from) clReleaseMemObject(p->from);
  kcl_stored_free(&p->renumbered);
  for (int v = 0; p->copies && v < r->k->vectors; v++)
    if (p->copies[v]) clReleaseMemObject(p->copies[v]);
  free(p->copies);
  memset(p, 0, sizeof *p);
}

/* ---------------------------------------------------------------- running */

static cl_int enqueue(kcl_run *r, int64_t passes) {
  const kcl_program *k = r->k;
  kcl_persistent *p = &r->persistent;
  const cl_int count = (cl_int)passes;
  const int64_t every = kcl_replacement_interval(k), replaced = (p->since_replace + passes) / every;
  size_t group = (size_t)p->geometry.group, global = p->groups * group;
  cl_int code = kcl_run_number(r, p->kernel);
  code |= clSetKernelArg(p->kernel, ARGUMENT_NUMBER, sizeof p->number, &p->number);
  code |= clSetKernelArg(p->kernel, ARGUMENT_PASSES, sizeof count, &count);
  code |= clSetKernelArg(p->kernel, ARGUMENT_SINCE, sizeof p->since_replace, &p->since_replace);
  p->since_replace = (cl_int)((p->since_replace + passes) % every);
  /* at least as many as the launch uses: two barriers, one known reduction, one per stage */
  p->number +=
      (cl_uint)(3 + passes * k->stages[KCL_LOOP] + replaced * (1 + k->stages[KCL_REPLACE]));
  if (code) return code;
  return clEnqueueNDRangeKernel(run_queue(r), p->kernel, 1, NULL, &global, &group, 0, NULL,
                                kcl_profile_launch(run_context(r)->opencl, p->kernel, group));
}

static int check_persistent(kcl_run *r, bool *missing) {
  kcl_control control;
  if (!r->persistent.kernel) return KCL_OK;
  int rc = kcl_run_control(r, &control);
  if (rc || (!control.group_missing && !control.group_lost)) return rc;
  if (control.group_missing == 2 || control.group_lost)
    return kcl_fail(run_context(r), KCL_DEVICE,
                    "%s: the persistent kernel timed out at a grid barrier; KRYLOCL_PERSISTENT=0 "
                    "uses one launch per stage instead",
                    run_context(r)->device.name);
  close_persistent(r);
  *missing = true;
  control.group_missing = 0, r->enqueued[0] = control.iteration;
  cl_int code = clEnqueueWriteBuffer(
      run_queue(r), r->states, CL_TRUE, kcl_run_state(r), sizeof control, &control, 0, NULL,
      kcl_profile_event(run_context(r)->opencl, "write", sizeof control));
  return kcl_cl_check(run_context(r), code, "clEnqueueWriteBuffer", "iterating");
}

const kcl_persistent_ops kcl_persistent_kernel = {.least_iterations = LEAST_ITERATIONS,
                                                  .wanted = persistent_wanted,
                                                  .estimate = estimate_seconds,
                                                  .prepare = prepare_persistent,
                                                  .open = open_persistent,
                                                  .enqueue = enqueue,
                                                  .check = check_persistent,
                                                  .close = close_persistent};
