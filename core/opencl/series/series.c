/* Series on the host: consecutive small stages in one launch. A level of multigrid takes four launches, six where polynomials
 * smooth, each longer than its work where the level is small; within one launch a grid barrier stands between stages
 * (kernels/series.clh).
 *
 * Its kernel is given a table: for each stage the numbers of its product and its operations, its elements, the work-groups that have
 * some, and its arguments, buffers by their addresses (core/opencl/run/addresses.c).
 */
#include "core/opencl/series/series.h"

enum { SERIES_GROUP = 1024 /* work-items per work-group */ };

void kcl_series_plan(kcl_run *r) {
  const kcl_program *k = r->k;
  kcl_geometry g = r->geometry;
  g.series = false;
  g.cached_x = true;
  g.registers = 0;
  g.groups_max = r->geometry.groups_max;
  if (!run_context(r)->opencl->small_groups) g.group = SERIES_GROUP;
  for (int phase = 0; phase < KCL_PHASES; phase++)
    for (int i = 0; i < k->stages[phase]; i++)
      g.series = g.series || kcl_stage_in_series(k, &g, phase, i);
  r->series.geometry = g;
}

/* The device addresses of all buffers; out [kcl_addresses]. */
static int read_addresses(kcl_run *r, cl_ulong *out) {
  cl_mem list = NULL;
  int rc = kcl_run_find_addresses(r, r->series.program, &list);
  if (!rc)
    rc = kcl_opencl_read_bytes(run_context(r), list, 0, (size_t)kcl_addresses(r->k) * sizeof *out,
                               out);
  if (list) clReleaseMemObject(list);
  return rc;
}

/* Work-groups that have elements of a stage, with the most work-items per row (EACH and EACH_TEAM of kernels/rows.clh). */
static cl_ulong groups_of(const kcl_run *r, const kcl_stage *s) {
  const int64_t group = r->series.geometry.group, items = s->n * kcl_series_lanes(r->k, s->A),
                groups = (items + group - 1) / group, most = r->geometry.series_groups;
  return (cl_ulong)(groups < 1 ? 1 : groups < most ? groups : most);
}

static void put_matrix_sizes(const kcl_stored *A, cl_ulong *w) {
  w[0] = (cl_ulong)A->rows, w[1] = (cl_ulong)A->cols;
  for (int a = 0; a < A->arrays; a++) w[2 + a] = (cl_ulong)A->array[a].count;
}

static void put_words(const kcl_run *r, const kcl_series_parts *parts, const kcl_stage *s,
                      const cl_ulong *address, cl_ulong *w) {
  kcl_vec used[KCL_MOST_STAGE_VECTORS];
  const int count = kcl_stage_vectors(s, used, KCL_MOST_STAGE_VECTORS);
  w[KCL_WORD_PRODUCT] = (cl_ulong)kcl_series_product(r->k, parts, s);
  w[KCL_WORD_OPERATIONS] = (cl_ulong)kcl_series_operations(r->k, parts, s);
  w[KCL_WORD_ELEMENTS] = (cl_ulong)s->n, w[KCL_WORD_GROUPS] = groups_of(r, s);
  w[KCL_WORD_X] = address[kcl_address_of_vector(s->x)];
  w[KCL_WORD_LANES] = (cl_ulong)kcl_series_lanes(r->k, s->A);
  for (int a = 0; a < s->A->arrays; a++)
    w[KCL_WORD_MATRIX + a] = address[kcl_address_of_matrix(r->k, s->A) + a];
  for (int p = 0; p < s->A->params; p++)
    w[KCL_WORD_MATRIX + s->A->arrays + p] = (cl_ulong)s->A->param[p].value;
  for (int v = 0; v < count; v++) w[KCL_WORD_VECTOR + v] = address[kcl_address_of_vector(used[v])];
  if (r->k->guarded) put_matrix_sizes(s->A, w + KCL_WORD_SIZES);
}

/* Stages of series before stage `number` of `phase`; with phase KCL_PHASES, all of them. */
static int stages_before(const kcl_run *r, int phase, int number) {
  int before = 0;
  for (int p = 0, i = -1; kcl_series_next(r->k, &r->geometry, &p, &i);)
    before += p < phase || (p == phase && i < number);
  return before;
}

static int write_table(kcl_run *r, const cl_ulong *address) {
  const kcl_program *k = r->k;
  const int words = kcl_series_words(k);
  const int64_t all = (int64_t)words * stages_before(r, KCL_PHASES, 0),
                bytes = all * (int64_t)sizeof(cl_ulong);
  KCL_OWNED cl_ulong *table = NULL;
  KCL_OWNED_BY(kcl_series_parts_free) kcl_series_parts parts = {.products = 0};
  KCL_CALL(kcl_series_parts_find(k, &r->geometry, &parts));
  KCL_CALL(kcl_alloc(k->ctx, all, sizeof *table, "a table", (void **)&table));
  cl_ulong *w = table;
  for (int phase = 0, i = -1; kcl_series_next(k, &r->geometry, &phase, &i); w += words)
    put_words(r, &parts, &k->stage[phase][i], address, w);
  KCL_CALL(kcl_opencl_buffer(k->ctx, (size_t)bytes, "a table", &r->series.table));
  const kcl_upload u = {1, bytes, kcl_fill_bytes, table};
  return kcl_opencl_write(k->ctx, r->series.table, &u, "a table");
}

int kcl_series_open(kcl_run *r) {
  KCL_OWNED cl_ulong *address = NULL;
  if (!r->series.geometry.series) return KCL_OK;
  KCL_CALL(kcl_alloc(run_context(r), kcl_addresses(r->k), sizeof *address, "addresses",
                     (void **)&address));
  KCL_CALL(read_addresses(r, address));
  KCL_CALL(write_table(r, address));
  return kcl_opencl_buffer(run_context(r), (size_t)r->geometry.series_groups * sizeof(cl_uint),
                           "flags", &r->series.flags);
}

int kcl_series_launch(kcl_run *r, kcl_phase phase, int number, kcl_launch *l) {
  const cl_int first = stages_before(r, phase, number), stages = l->stages;
  cl_uint i = 6;
  cl_int code;
  l->kernel = clCreateKernel(r->series.program, "series", &code);
  l->groups = (size_t)r->geometry.series_groups, l->group = (size_t)r->series.geometry.group;
  if (!code) code = clSetKernelArg(l->kernel, 0, sizeof(cl_mem), &r->states);
  if (!code) code = clSetKernelArg(l->kernel, 2, sizeof(cl_mem), &r->series.table);
  if (!code) code = clSetKernelArg(l->kernel, 3, sizeof(cl_mem), &r->series.flags);
  if (!code) code = clSetKernelArg(l->kernel, 4, sizeof first, &first);
  if (!code) code = clSetKernelArg(l->kernel, 5, sizeof stages, &stages);
  if (!code) code = kcl_run_set_state_sizes(r, l->kernel, &i);
  return kcl_cl_check(run_context(r), code, "clCreateKernel", "series");
}

void kcl_series_close(kcl_run *r) {
  kcl_series *s = &r->series;
  if (s->program) clReleaseProgram(s->program);
  if (s->table) clReleaseMemObject(s->table);
  if (s->flags) clReleaseMemObject(s->flags);
  *s = (kcl_series){.program = NULL};
}
