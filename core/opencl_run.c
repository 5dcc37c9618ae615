/* The OpenCL executor: one kernel a stage, one in-order queue, no wait inside an iteration. Small systems
 * on GPUs: one kernel for many iterations (core/opencl_stay.c).
 *
 * Two copies of the state take turns as input and output (kernels/stage.clh). After every batch
 * the head, the slots and the batch's part of the history are read without blocking into host
 * mirrors; look() waits for the oldest such read, while the next batch already runs.
 *
 * Vectors of several columns are interleaved, [n, width], the width a power of two: what an entry of the matrix
 * meets of all columns lies side by side. Columns that nobody asked for have stopped before they begin.
 */
#include "core/opencl_run.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAD = 64 };

/* ---------------------------------------------------------------- kernels and their arguments */

static size_t at_most(const run *r, int64_t groups) {
  if (groups > r->geometry.groups_max) groups = r->geometry.groups_max;
  return groups < 1 ? 1 : (size_t)groups;
}

static size_t groups_of(const run *r, int64_t items) {
  int64_t per_group = r->group == 1 ? 64 : (int64_t)r->group;
  return at_most(r, (items + per_group - 1) / per_group);
}

size_t kcl_run_groups(const run *r, const kcl_stage *s) {
  const kcl_matrix *A = s->A;
  if (s->n == 0) return 1;
  if (A && A->tasks) return at_most(r, A->tasks);
  return groups_of(r, A && A->format->scatter ? A->items : s->n * (A ? A->lanes : 1));
}

cl_int kcl_run_set_index(const run *r, cl_kernel kernel, cl_uint i, int64_t value) {
  cl_long wide_value = value;
  cl_int narrow_value = (cl_int)value;
  return r->geometry.wide_index ? clSetKernelArg(kernel, i, sizeof wide_value, &wide_value)
                                : clSetKernelArg(kernel, i, sizeof narrow_value, &narrow_value);
}

cl_int kcl_run_set_matrix(const run *r, cl_kernel kernel, cl_uint *i, const kcl_matrix *A) {
  cl_int code = CL_SUCCESS;
  for (int a = 0; a < A->arrays; a++)
    code |= clSetKernelArg(kernel, (*i)++, sizeof(cl_mem), &A->device[a]);
  for (int p = 0; p < A->params; p++)
    code |= kcl_run_set_index(r, kernel, (*i)++, A->param[p].value);
  return code;
}

size_t kcl_run_state(const run *r) { return (r->number & 1) * r->state_bytes; }

cl_int kcl_run_number(run *r, cl_kernel kernel) {
  const cl_uint number = r->number++;
  return clSetKernelArg(kernel, 1, sizeof number, &number);
}

/* All but number 1, the launch's: states, n, groups before, history, matrix, vectors. A buffer costs 0.25 us a
 * launch (NVIDIA H200), so no stage is given the history that does not write it. */
static cl_int set_arguments(run *r, const kcl_stage *s, launch *l, size_t groups_before) {
  cl_int code = CL_SUCCESS, groups = (cl_int)groups_before;
  cl_uint i = 2;
  code |= clSetKernelArg(l->kernel, 0, sizeof(cl_mem), &r->states);
  code |= kcl_run_set_index(r, l->kernel, i++, s->A && s->A->format->scatter ? s->A->items : s->n);
  code |= clSetKernelArg(l->kernel, i++, sizeof groups, &groups);
  if (kcl_stage_notes(s)) code |= clSetKernelArg(l->kernel, i++, sizeof(cl_mem), &r->history);
  if (s->A) code |= kcl_run_set_matrix(r, l->kernel, &i, s->A);
  kcl_vec list[KCL_MOST_STAGE_VECTORS];
  int count = kcl_stage_vectors(s, list, KCL_MOST_STAGE_VECTORS);
  for (int v = 0; v < count; v++)
    code |= clSetKernelArg(l->kernel, i++, sizeof(cl_mem), &r->vec[list[v]]);
  return code;
}

static int make_prepare(run *r, const kcl_stage *s, launch *l, const char *stage_name) {
  char name[40];
  cl_int code;
  cl_uint i = 0;
  snprintf(name, sizeof name, "prepare%s", stage_name + strlen("stage"));
  l->prepare = clCreateKernel(r->program, name, &code);
  int rc = kcl_cl_check(context(r), code, "clCreateKernel", name);
  if (rc) return rc;
  l->prepare_groups = groups_of(r, s->A->prepare);
  code |= kcl_run_set_index(r, l->prepare, i++, s->A->prepare);
  code |= clSetKernelArg(l->prepare, i++, sizeof(cl_mem), &r->vec[s->x]);
  code |= kcl_run_set_matrix(r, l->prepare, &i, s->A);
  return kcl_cl_check(context(r), code, "clSetKernelArg", name);
}

static int make_kernel(run *r, kcl_phase phase, int number) {
  const kcl_stage *s = &r->k->stage[phase][number];
  launch *l = &r->launch[phase][number];
  char name[32];
  cl_int code;
  snprintf(name, sizeof name, "stage_%d_%d", phase, number);
  l->kernel = clCreateKernel(r->program, name, &code);
  int rc = kcl_cl_check(context(r), code, "clCreateKernel", name);
  if (rc) return rc;
  l->groups = kcl_run_groups(r, s);
  if (s->A && s->A->prepare && (rc = make_prepare(r, s, l, name))) return rc;
  if (s->A && s->A->format->scatter)
    l->zeroed = r->vec[s->y], l->zeroed_bytes = (size_t)s->n * r->scalar_bytes;
  const kcl_stage *before = kcl_stage_before(r->k, phase, number);
  size_t groups_before = before ? kcl_run_groups(r, before) : 1;
  return kcl_cl_check(context(r), set_arguments(r, s, l, groups_before), "clSetKernelArg", name);
}

int kcl_run_build(run *r, const kcl_geometry *g, cl_program *out) {
  const char *word = getenv("KRYLOCL_OPTIONS"); /* for kernel authors: -D tunables */
  char options[512], *source = NULL;
  int n = 0, rc;
  if (g->registers) n = sprintf(options, "-cl-nv-maxrregcount=%d ", g->registers);
  snprintf(options + n, sizeof options - (size_t)n, "%s", word ? word : "");
  KCL_TRY(kcl_codegen(r->k, g, &source));
  KCL_TRY(kcl_opencl_build(context(r), source, options, out));
done:
  free(source);
  return rc;
}

/* The kernels of all phases that have none yet, without those of what stays. */
static int compile_stages(run *r, bool stays) {
  int rc;
  r->geometry.without_loop = stays;
  if (r->program) clReleaseProgram(r->program), r->program = NULL;
  KCL_TRY(kcl_run_build(r, &r->geometry, &r->program));
  for (int phase = 0; phase < KCL_PHASES; phase++) {
    if (r->launch[phase] || (kcl_phase_stays(phase) && stays)) continue;
    KCL_TRY(kcl_alloc(context(r), r->k->stages[phase], sizeof(launch), "kernels",
                      (void **)&r->launch[phase]));
    for (int i = 0; i < r->k->stages[phase]; i++) KCL_TRY(make_kernel(r, phase, i));
  }
done:
  return rc;
}

/* What puts and gets one column of interleaved vectors. */
static int make_column_kernels(run *r) {
  int64_t most = 0;
  cl_int code;
  for (int v = 0; v < r->k->vectors; v++)
    if (r->k->vector[v].n > most) most = r->k->vector[v].n;
  r->column.in = clCreateKernel(r->program, "column_in", &code);
  if (!code) r->column.out = clCreateKernel(r->program, "column_out", &code);
  int rc = kcl_cl_check(context(r), code, "clCreateKernel", "column_in");
  return rc ? rc
            : kcl_opencl_buffer(context(r), (size_t)most * r->scalar_bytes, "a vector",
                                &r->column.values);
}

/* ---------------------------------------------------------------- running */

static cl_int enqueue(run *r, const launch *l) {
  const cl_uint zero = 0;
  cl_int code = CL_SUCCESS;
  size_t global = l->groups * r->group;
  if (l->zeroed)
    code = clEnqueueFillBuffer(queue(r), l->zeroed, &zero, sizeof zero, 0, l->zeroed_bytes, 0, NULL,
                               NULL);
  if (l->prepare) {
    size_t items = l->prepare_groups * r->group;
    code |= clEnqueueNDRangeKernel(queue(r), l->prepare, 1, NULL, &items, &r->group, 0, NULL, NULL);
  }
  code |= kcl_run_number(r, l->kernel);
  return code ? code
              : clEnqueueNDRangeKernel(queue(r), l->kernel, 1, NULL, &global, &r->group, 0, NULL,
                                       NULL);
}

/* History entries [from, to) of a column's ring, which may wrap. */
static cl_int read_history(run *r, int column, int64_t from, int64_t to) {
  size_t entry = KCL_LOG * r->real_bytes, ring = (size_t)column * KCL_HISTORY * entry;
  cl_int code = CL_SUCCESS;
  while (from < to && !code) {
    int64_t at = from % KCL_HISTORY, count = to - from;
    if (count > KCL_HISTORY - at) count = KCL_HISTORY - at;
    size_t offset = ring + (size_t)at * entry;
    code = clEnqueueReadBuffer(queue(r), r->history, CL_FALSE, offset, (size_t)count * entry,
                               r->history_mirror + offset, 0, NULL, NULL);
    from += count;
  }
  return code;
}

static cl_int read_histories(run *r, int64_t iterations) {
  cl_int code = CL_SUCCESS;
  for (int c = 0; c < r->width && !code; c++) {
    int64_t from = r->enqueued[c];
    if (r->idle[c]) continue;
    r->enqueued[c] += iterations;
    code = read_history(r, c, from, r->enqueued[c]);
  }
  return code;
}

/* Where a slot of a column is in the state. */
static size_t slot_at(const run *r, kcl_slot slot, int column) {
  return (size_t)r->width * sizeof(kcl_head) + (size_t)(slot * r->width + column) * r->scalar_bytes;
}

static cl_int await(run *r) {
  cl_int code = clWaitForEvents(1, &r->ready[r->first]);
  clReleaseEvent(r->ready[r->first]);
  r->ready[r->first] = NULL;
  return code;
}

static int run_batch(kcl_executor *ex, kcl_phase phase, int64_t times) {
  run *r = ex->data;
  cl_int code = CL_SUCCESS;
  if (r->looks == MOST_LOOKS) { /* nobody looked: the oldest is overwritten */
    code = await(r);
    r->first = (r->first + 1) % MOST_LOOKS, r->looks--;
  }
  bool stays = phase == KCL_LOOP && r->stay.kernel;
  if (phase == KCL_START) r->stay.since = 0;
  if (stays && !code) code = kcl_stay_enqueue(r, times);
  for (int64_t t = 0; t < times && !code && !stays; t++)
    for (int i = 0; i < r->k->stages[phase] && !code; i++) code = enqueue(r, &r->launch[phase][i]);
  if (!code && phase == KCL_LOOP) code = read_histories(r, times * r->k->steps);
  if (phase == KCL_REPLACE)
    return kcl_cl_check(context(r), code, "clEnqueueNDRangeKernel", "iterating");
  int slot = (r->first + r->looks) % MOST_LOOKS;
  if (!code)
    code = clEnqueueReadBuffer(queue(r), r->states, CL_FALSE, kcl_run_state(r),
                               kcl_look_bytes(r->k), r->mirror[slot], 0, NULL, &r->ready[slot]);
  if (!code) r->looks++, code = clFlush(queue(r));
  return kcl_cl_check(context(r), code, "clEnqueueNDRangeKernel", "iterating");
}

static double real_at(const run *r, const void *p) {
  return r->real_bytes == 4 ? (double)*(const float *)p : *(const double *)p;
}

static int finish(kcl_executor *ex) {
  run *r = ex->data;
  cl_int code = clFinish(queue(r));
  while (r->looks) {
    clReleaseEvent(r->ready[r->first]);
    r->ready[r->first] = NULL;
    r->first = (r->first + 1) % MOST_LOOKS, r->looks--;
  }
  int rc = kcl_cl_check(context(r), code, "clFinish", "iterating");
  bool lost = false;
  if (!rc) rc = kcl_stay_check(r, &lost);
  if (rc || !lost) return rc;
  ex->replaces = false;
  return compile_stages(r, false);
}

static int look(kcl_executor *ex, kcl_head *head, double *rr) {
  run *r = ex->data;
  int slot = r->first;
  if (!r->looks) return KCL_OK;
  int rc = kcl_cl_check(context(r), await(r), "clWaitForEvents", "iterating");
  r->first = (r->first + 1) % MOST_LOOKS, r->looks--;
  memcpy(head, r->mirror[slot], (size_t)r->k->columns * sizeof *head);
  for (int c = 0; c < r->k->columns; c++)
    rr[c] = real_at(r, r->mirror[slot] + slot_at(r, r->k->rr, c));
  if (rc || !head->lost) return rc;
  head->lost = 0;
  return finish(ex);
}

static int history(kcl_executor *ex, int column, int64_t from, int64_t to, double *out) {
  run *r = ex->data;
  const char *ring = r->history_mirror + (size_t)column * KCL_HISTORY * KCL_LOG * r->real_bytes;
  for (int64_t i = from; i < to; i++)
    for (int j = 0; j < KCL_LOG; j++)
      *out++ = real_at(r, ring + (size_t)(i % KCL_HISTORY * KCL_LOG + j) * r->real_bytes);
  return KCL_OK;
}

/* ---------------------------------------------------------------- vectors and state */

typedef struct host_vector {
  kcl_type to, from;
  const char *data;
  double scale;
} host_vector;

static void convert(const void *source, int64_t from, int64_t count, void *to) {
  const host_vector *v = source;
  kcl_copy(v->to, to, v->from, v->data + (size_t)from * kcl_type_size(v->from), count, v->scale);
}

static bool interleaved(const run *r, kcl_vec v) {
  return r->width > 1 && !kcl_vector_shared(r->k, v);
}

static size_t vector_bytes(const run *r, kcl_vec v, int64_t n) {
  return (size_t)n * r->scalar_bytes * (interleaved(r, v) ? (size_t)r->width : 1);
}

/* Between r->column.values and one column of v. */
static int move_column(run *r, cl_kernel kernel, kcl_vec v, int column) {
  size_t items = groups_of(r, r->k->vector[v].n) * r->group;
  cl_int code = kcl_run_set_index(r, kernel, 0, r->k->vector[v].n), c = column;
  code |= clSetKernelArg(kernel, 1, sizeof c, &c);
  code |= clSetKernelArg(kernel, 2, sizeof(cl_mem), &r->column.values);
  code |= clSetKernelArg(kernel, 3, sizeof(cl_mem), &r->vec[v]);
  if (!code)
    code = clEnqueueNDRangeKernel(queue(r), kernel, 1, NULL, &items, &r->group, 0, NULL, NULL);
  return kcl_cl_check(context(r), code, "clEnqueueNDRangeKernel", "moving a column");
}

static int put(kcl_executor *ex, kcl_vec v, int column, kcl_type type, const void *values,
               double scale) {
  run *r = ex->data;
  const host_vector from = {r->k->type, type, values, scale};
  const kcl_upload u = {r->scalar_bytes, r->k->vector[v].n, convert, &from};
  cl_mem to = interleaved(r, v) ? r->column.values : r->vec[v];
  int rc = kcl_opencl_write(context(r), to, &u, "uploading a vector");
  return rc || !interleaved(r, v) ? rc : move_column(r, r->column.in, v, column);
}

static int get(kcl_executor *ex, kcl_vec v, int column, kcl_type type, void *values, double scale) {
  run *r = ex->data;
  int64_t n = r->k->vector[v].n;
  void *staged = NULL;
  int rc;
  KCL_TRY(kcl_alloc(context(r), n, r->scalar_bytes, "a vector", &staged));
  if (interleaved(r, v)) KCL_TRY(move_column(r, r->column.out, v, column));
  cl_mem from = interleaved(r, v) ? r->column.values : r->vec[v];
  cl_int code = clEnqueueReadBuffer(queue(r), from, CL_TRUE, 0, (size_t)n * r->scalar_bytes, staged,
                                    0, NULL, NULL);
  KCL_TRY(kcl_cl_check(context(r), code, "clEnqueueReadBuffer", "downloading a vector"));
  kcl_copy(type, values, r->k->type, staged, n, scale);
done:
  free(staged);
  return rc;
}

static void *memory(kcl_executor *ex, kcl_vec v) {
  const run *r = ex->data;
  cl_mem buffer = r->vec[v];
  return buffer;
}

/* Packs reach beyond the end of a vector. What stands there counts in no sum while it is 0, but a solve
 * that met NaN leaves 0 times NaN there. */
static cl_int clear_padding(const run *r) {
  const cl_uint zero = 0;
  cl_int code = CL_SUCCESS;
  for (int v = 0; v < r->k->vectors && !code; v++) {
    int64_t n = r->k->vector[v].n, padded = (n + PAD - 1) / PAD * PAD;
    if (padded > n)
      code = clEnqueueFillBuffer(queue(r), r->vec[v], &zero, sizeof zero, vector_bytes(r, v, n),
                                 vector_bytes(r, v, padded - n), 0, NULL, NULL);
  }
  return code;
}

static int set_state(kcl_executor *ex, const kcl_head *head, const double *target) {
  run *r = ex->data;
  kcl_head all[KCL_MOST_COLUMNS];
  union {
    float single[2 * KCL_MOST_COLUMNS];
    double twice[2 * KCL_MOST_COLUMNS];
  } value = {{0}};
  int parts = kcl_type_complex(r->k->type) ? 2 : 1;
  for (int c = 0; c < r->width; c++) {
    bool asked = c < r->k->columns;
    all[c] = asked ? head[c] : (kcl_head){.stop = 1};
    r->enqueued[c] = all[c].iteration, r->idle[c] = all[c].stop != 0;
    if (r->real_bytes == 4)
      value.single[c * parts] = asked ? (float)target[c] : 0;
    else
      value.twice[c * parts] = asked ? target[c] : 0;
  }
  cl_int code = r->group == 1 ? clear_padding(r) : CL_SUCCESS;
  code |= clEnqueueWriteBuffer(queue(r), r->states, CL_TRUE, kcl_run_state(r),
                               (size_t)r->width * sizeof *all, all, 0, NULL, NULL);
  code |= clEnqueueWriteBuffer(queue(r), r->states, CL_TRUE,
                               kcl_run_state(r) + slot_at(r, r->k->target, 0),
                               (size_t)r->width * r->scalar_bytes, &value, 0, NULL, NULL);
  return kcl_cl_check(context(r), code, "clEnqueueWriteBuffer", "setting the state");
}

/* Partial sums that LOOP begins by folding: how many groups left them, and may leave them, depends on the
 * format, so they become one and zeros. */
static void gather_sums(const run *r, const run *f, const char *old, char *state) {
  const kcl_stage *last = kcl_stage_before(f->k, KCL_LOOP, 0);
  size_t groups = last ? kcl_run_groups(f, last) : 0, parts = r->scalar_bytes / r->real_bytes;
  const char *partial = old + kcl_look_bytes(f->k);
  char *to = state + kcl_look_bytes(r->k);
  int sums = last ? r->width * kcl_stage_dots(last) : 0;
  for (int d = 0; d < sums; d++) {
    double sum[2] = {0, 0};
    for (size_t i = 0; i < groups * parts; i++)
      sum[i % parts] += real_at(r, partial + i * r->real_bytes);
    for (size_t i = 0; i < parts; i++) {
      float narrow = (float)sum[i];
      if (r->real_bytes == 4)
        memcpy(to + 4 * i, &narrow, 4);
      else
        memcpy(to + 8 * i, &sum[i], 8);
    }
    partial += (size_t)f->geometry.groups_max * f->scalar_bytes;
    to += (size_t)r->geometry.groups_max * r->scalar_bytes;
  }
}

static int carry(kcl_executor *to, const kcl_executor *from) {
  run *r = to->data;
  const run *f = from->data;
  cl_int code = CL_SUCCESS;
  char *state = NULL, *old = NULL;
  int rc;
  KCL_TRY(kcl_alloc(context(r), (int64_t)r->state_bytes, 1, "the state", (void **)&state));
  KCL_TRY(kcl_alloc(context(r), (int64_t)f->state_bytes, 1, "the state", (void **)&old));
  for (int v = 0; v < r->k->vectors && !code; v++)
    code = clEnqueueCopyBuffer(queue(r), f->vec[v], r->vec[v], 0, 0,
                               vector_bytes(r, v, r->k->vector[v].n), 0, NULL, NULL);
  if (!code)
    code = clEnqueueReadBuffer(queue(r), f->states, CL_TRUE, kcl_run_state(f), f->state_bytes, old,
                               0, NULL, NULL);
  KCL_TRY(kcl_cl_check(context(r), code, "clEnqueueCopyBuffer", "changing the format"));
  memcpy(state, old, kcl_look_bytes(r->k));
  gather_sums(r, f, old, state);
  memcpy(r->enqueued, f->enqueued, sizeof r->enqueued);
  memcpy(r->idle, f->idle, sizeof r->idle);
  r->stay.since = f->stay.since;
  code = clEnqueueWriteBuffer(queue(r), r->states, CL_TRUE, kcl_run_state(r), r->state_bytes, state,
                              0, NULL, NULL);
  KCL_TRY(kcl_cl_check(context(r), code, "clEnqueueWriteBuffer", "changing the format"));
done:
  free(state), free(old);
  return rc;
}

/* ---------------------------------------------------------------- opening and closing */

static void close_run(kcl_executor *ex) {
  run *r = ex->data;
  if (!r) return;
  clFinish(queue(r));
  while (r->looks)
    clReleaseEvent(r->ready[r->first]), r->first = (r->first + 1) % MOST_LOOKS, r->looks--;
  for (int p = 0; p < KCL_PHASES; p++) {
    for (int i = 0; r->launch[p] && i < r->k->stages[p]; i++) {
      if (r->launch[p][i].kernel) clReleaseKernel(r->launch[p][i].kernel);
      if (r->launch[p][i].prepare) clReleaseKernel(r->launch[p][i].prepare);
    }
    free(r->launch[p]);
  }
  if (r->column.in) clReleaseKernel(r->column.in);
  if (r->column.out) clReleaseKernel(r->column.out);
  if (r->column.values) clReleaseMemObject(r->column.values);
  if (r->program) clReleaseProgram(r->program);
  kcl_stay_close(r);
  for (int v = 0; r->vec && v < r->k->vectors; v++)
    if (r->vec[v]) clReleaseMemObject(r->vec[v]);
  if (r->states) clReleaseMemObject(r->states);
  if (r->history) clReleaseMemObject(r->history);
  if (r->mirror[0])
    clEnqueueUnmapMemObject(queue(r), r->pinned, r->mirror[0], 0, NULL, NULL), clFinish(queue(r));
  if (r->pinned) clReleaseMemObject(r->pinned);
  free(r->vec);
  free(r);
}

/* Reads into pinned memory do not hold up the host; into ordinary memory they do (NVIDIA). */
static int pin_mirrors(run *r) {
  size_t state = (kcl_look_bytes(r->k) + 63) / 64 * 64;
  size_t bytes = MOST_LOOKS * state + (size_t)r->width * KCL_HISTORY * KCL_LOG * r->real_bytes;
  cl_int code;
  r->pinned = clCreateBuffer(context(r)->opencl->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR,
                             bytes, NULL, &code);
  if (code == CL_SUCCESS)
    r->mirror[0] = clEnqueueMapBuffer(queue(r), r->pinned, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                      bytes, 0, NULL, NULL, &code);
  if (code != CL_SUCCESS)
    return kcl_cl_check(context(r), code, "clEnqueueMapBuffer", "pinning memory");
  r->mirror[1] = r->mirror[0] + state;
  r->history_mirror = r->mirror[0] + MOST_LOOKS * state;
  return KCL_OK;
}

static int allocate(run *r, kcl_executor *ex) {
  kcl *ctx = context(r);
  kcl_program *k = r->k;
  const kcl_matrix *both[] = {k->A, k->AH};
  int64_t letters = 0;
  int rc;
  r->state_bytes = kcl_state_bytes(k, &r->geometry);
  for (int m = 0; m < 2; m++)
    if (both[m] && both[m]->letters > letters) letters = both[m]->letters;
  KCL_TRY(kcl_opencl_buffer(ctx, 2 * (r->state_bytes + (size_t)letters * r->scalar_bytes),
                            "the state", &r->states));
  r->number = 2; /* no letter has it yet */
  KCL_TRY(kcl_opencl_buffer(ctx, (size_t)r->width * KCL_HISTORY * KCL_LOG * r->real_bytes,
                            "the history", &r->history));
  KCL_TRY(pin_mirrors(r));
  KCL_TRY(kcl_alloc(ctx, k->vectors, sizeof *r->vec, "vectors", (void **)&r->vec));
  for (int v = 0; v < k->vectors; v++) {
    int64_t padded = (k->vector[v].n + PAD - 1) / PAD * PAD;
    KCL_TRY(kcl_opencl_buffer(ctx, vector_bytes(r, v, padded), "a vector", &r->vec[v]));
    if (k->vector[v].values) KCL_TRY(put(ex, v, 0, k->vector[v].type, k->vector[v].values, 1.0));
  }
done:
  return rc;
}

/* Some drivers finish compiling at the first launch: do that now, with a state that says stop. */
static int first_launches(kcl_executor *ex) {
  kcl_head head[KCL_MOST_COLUMNS];
  const double target[KCL_MOST_COLUMNS] = {0};
  for (int c = 0; c < KCL_MOST_COLUMNS; c++) head[c] = (kcl_head){.stop = 1};
  int rc = set_state(ex, head, target);
  for (int phase = 0; phase < KCL_PHASES && !rc; phase++)
    if (!(phase == KCL_REPLACE && ex->replaces)) rc = run_batch(ex, phase, 1);
  return rc ? rc : finish(ex);
}

int kcl_opencl_open(kcl_program *k, kcl_executor *ex) {
  run *r;
  int rc;
  KCL_TRY(kcl_alloc(k->ctx, 1, sizeof *r, "the executor", &ex->data));
  r = ex->data;
  *ex = (kcl_executor){.data = r,
                       .run = run_batch,
                       .put = put,
                       .get = get,
                       .set_state = set_state,
                       .look = look,
                       .history = history,
                       .finish = finish,
                       .carry = carry,
                       .memory = memory,
                       .close = close_run};
  r->k = k, r->width = kcl_width(k), r->scalar_bytes = kcl_type_size(k->type);
  r->real_bytes = kcl_type_complex(k->type) ? r->scalar_bytes / 2 : r->scalar_bytes;
  r->geometry = kcl_choose_geometry(k), r->group = (size_t)r->geometry.group;
  double t = kcl_now();
  if (k->A) KCL_TRY(kcl_opencl_upload(k->A));
  if (k->AH) KCL_TRY(kcl_opencl_upload(k->AH));
  KCL_TRY(allocate(r, ex));
  KCL_TRY(finish(ex));
  ex->seconds_upload = kcl_now() - t;
  t = kcl_now();
  ex->compiled = -k->ctx->opencl->compiled, ex->from_cache = -k->ctx->opencl->from_cache;
  bool stays = kcl_stay_wanted(r);
  KCL_TRY(compile_stages(r, stays));
  if (r->width > 1) KCL_TRY(make_column_kernels(r));
  if (stays) KCL_TRY(kcl_stay_open(r));
  ex->replaces = r->stay.kernel != NULL;
  KCL_TRY(first_launches(ex));
  ex->compiled += k->ctx->opencl->compiled, ex->from_cache += k->ctx->opencl->from_cache;
  if (r->stay.kernel) ex->least = STAY_LEAST;
  ex->seconds_compile = kcl_now() - t;
done:
  return rc;
}
