/* Vectors of a program to and from the host.
 *
 * Vectors of several right-hand sides are interleaved, [n, width], the width a power of two: what an entry of the matrix
 * meets of all of them lies side by side. Each comes and goes through a buffer of its own. */
#include "core/opencl/run/run.h"
#include <stdlib.h>

typedef struct host_vector {
  kcl_type to, from;
  const char *data;
  double scale;
} host_vector;

static void convert_values(const void *source, int64_t from, int64_t count, void *to) {
  const host_vector *v = source;
  kcl_copy(v->to, to, v->from, v->data + (size_t)from * kcl_type_size(v->from), count, v->scale);
}

static bool interleaved(const kcl_run *r, kcl_vec v) {
  return r->width > 1 && !kcl_vector_shared(r->k, v);
}

static size_t stored_bytes(const kcl_run *r, kcl_vec v) {
  return kcl_type_size(kcl_vector_stored(r->k, v));
}

size_t kcl_run_vector_bytes(const kcl_run *r, kcl_vec v, int64_t n) {
  return (size_t)n * stored_bytes(r, v) * (interleaved(r, v) ? (size_t)r->width : 1);
}

kcl_column kcl_run_column(kcl_executor *ex, kcl_vec v, int rhs) {
  const kcl_run *r = ex->data;
  const bool part = interleaved(r, v);
  return (kcl_column){.buffer = r->vec[v],
                      .first = part ? rhs : 0,
                      .step = part ? r->width : 1,
                      .type = kcl_vector_stored(r->k, v)};
}

int kcl_run_move(kcl_run *r, const kcl_column_move *m) {
  const double zero[2] = {0};
  const double one_wide[2] = {1};
  const float one_narrow[2] = {1};
  const void *one = r->real_bytes == 4 ? (const void *)one_narrow : one_wide;
  const int64_t n = r->k->vector[m->v].n;
  size_t items = kcl_run_groups_for(r, n) * r->group;
  cl_int code = kcl_run_set_index(r, m->kernel, 0, n), c = m->rhs;
  cl_long from = m->from, step = m->step ? m->step : 1;
  code |= clSetKernelArg(m->kernel, 1, sizeof c, &c);
  code |= clSetKernelArg(m->kernel, 2, sizeof(cl_mem), &m->columns);
  code |= clSetKernelArg(m->kernel, 3, sizeof from, &from);
  code |= clSetKernelArg(m->kernel, 4, sizeof step, &step);
  code |= clSetKernelArg(m->kernel, 5, sizeof(cl_mem), &m->vector);
  if (m->kernel == r->column.out) {
    code |= clSetKernelArg(m->kernel, 6, r->scalar_bytes, m->alpha ? m->alpha : one);
    code |= clSetKernelArg(m->kernel, 7, r->scalar_bytes, m->beta ? m->beta : zero);
  }
  if (!code)
    code = clEnqueueNDRangeKernel(run_queue(r), m->kernel, 1, NULL, &items, &r->group, 0, NULL,
                                  kcl_profile_launch(run_context(r)->opencl, m->kernel, r->group));
  return kcl_cl_check(run_context(r), code, "clEnqueueNDRangeKernel", "moving a column");
}

/* Between r->column.values and the part of `vector`, of v's shape, that belongs to one right-hand side. */
static int move_right_hand_side(kcl_run *r, cl_kernel kernel, kcl_vec v, cl_mem vector, int rhs) {
  return kcl_run_move(
      r, &(kcl_column_move){
             .kernel = kernel, .v = v, .vector = vector, .rhs = rhs, .columns = r->column.values});
}

int kcl_run_put(kcl_run *r, kcl_vec v, int rhs, kcl_type type, const void *values, double scale) {
  const kcl_type stored = kcl_vector_stored(r->k, v);
  const host_vector from = {stored, type, values, scale};
  const int64_t n = r->k->vector[v].n;
  const kcl_upload converted = {stored_bytes(r, v), n, convert_values, &from},
                   same = {1, n * (int64_t)stored_bytes(r, v), kcl_fill_bytes, values},
                   u = type == stored && scale == 1 ? same : converted;
  cl_mem to = interleaved(r, v) ? r->column.values : r->vec[v];
  int rc = kcl_opencl_write(run_context(r), to, &u, "uploading a vector");
  return rc || !interleaved(r, v) ? rc : move_right_hand_side(r, r->column.in, v, r->vec[v], rhs);
}

/* Reads one right-hand side of a vector to the host, in the type of the device. */
static int read_out(kcl_run *r, kcl_vec v, int rhs, void *values) {
  const size_t bytes = (size_t)r->k->vector[v].n * stored_bytes(r, v);
  const bool part = interleaved(r, v);
  if (part) KCL_CALL(move_right_hand_side(r, r->column.out, v, r->vec[v], rhs));
  return kcl_opencl_read(run_context(r), part ? r->column.values : r->vec[v], 0, bytes, values,
                         "downloading a vector");
}

int kcl_run_get(kcl_run *r, kcl_vec v, int rhs, kcl_type type, void *values, double scale) {
  int64_t n = r->k->vector[v].n;
  KCL_OWNED void *staged = NULL;
  const kcl_type stored = kcl_vector_stored(r->k, v);
  if (type == stored && scale == 1) return read_out(r, v, rhs, values);
  KCL_CALL(kcl_alloc(run_context(r), n, stored_bytes(r, v), "a vector", &staged));
  KCL_CALL(read_out(r, v, rhs, staged));
  kcl_copy(type, values, stored, staged, n, scale);
  return KCL_OK;
}

/* ---------------------------------------------------------------- copies of x */

int kcl_run_save(kcl_executor *ex, int snapshot) {
  kcl_run *r = ex->data;
  const kcl_vec x = r->k->x;
  const size_t bytes = kcl_run_vector_bytes(r, x, r->k->vector[x].n);
  cl_mem *to = &r->snapshot[snapshot];
  if (!*to) KCL_CALL(kcl_opencl_buffer(run_context(r), bytes, "a copy of x", to));
  cl_int code = clEnqueueCopyBuffer(run_queue(r), r->vec[x], *to, 0, 0, bytes, 0, NULL,
                                    kcl_profile_event(run_context(r)->opencl, "copy", bytes));
  return kcl_cl_check(run_context(r), code, "clEnqueueCopyBuffer", "copying x");
}

int kcl_run_load(kcl_executor *ex, int snapshot, int rhs) {
  kcl_run *r = ex->data;
  const kcl_vec x = r->k->x;
  const size_t bytes = kcl_run_vector_bytes(r, x, r->k->vector[x].n);
  cl_mem from = r->snapshot[snapshot];
  if (interleaved(r, x)) {
    int rc = move_right_hand_side(r, r->column.out, x, from, rhs);
    return rc ? rc : move_right_hand_side(r, r->column.in, x, r->vec[x], rhs);
  }
  cl_int code = clEnqueueCopyBuffer(run_queue(r), from, r->vec[x], 0, 0, bytes, 0, NULL,
                                    kcl_profile_event(run_context(r)->opencl, "copy", bytes));
  return kcl_cl_check(run_context(r), code, "clEnqueueCopyBuffer", "copying x");
}

/* Clears the padding at the end of vectors, which packs reach. It counts in no sum while it is 0, but a solve that met NaN leaves
 * 0 times NaN there. */
cl_int kcl_run_clear_padding(const kcl_run *r) {
  const cl_uint zero = 0;
  cl_int code = CL_SUCCESS;
  for (int v = 0; v < r->k->vectors && !code; v++) {
    int64_t n = r->k->vector[v].n,
            padded = (n + KCL_VECTOR_PAD - 1) / KCL_VECTOR_PAD * KCL_VECTOR_PAD;
    if (padded > n)
      code = clEnqueueFillBuffer(run_queue(r), r->vec[v], &zero, sizeof zero,
                                 kcl_run_vector_bytes(r, v, n),
                                 kcl_run_vector_bytes(r, v, padded - n), 0, NULL,
                                 kcl_profile_event(run_context(r)->opencl, "fill",
                                                   kcl_run_vector_bytes(r, v, padded - n)));
  }
  return code;
}

/* Kernels that interleave and separate the vectors of right-hand sides. Launched once, on zeros: see first_launches. */
int kcl_run_column_kernels(kcl_run *r) {
  const kcl_vec x = r->k->x;
  int64_t most = 0;
  cl_int code;
  for (int v = 0; v < r->k->vectors; v++)
    if (r->k->vector[v].n > most) most = r->k->vector[v].n;
  r->column.in = clCreateKernel(r->part[0], "column_in", &code);
  if (!code) r->column.out = clCreateKernel(r->part[0], "column_out", &code);
  KCL_CALL(kcl_cl_check(run_context(r), code, "clCreateKernel", "column_in"));
  KCL_CALL(kcl_opencl_buffer(run_context(r), (size_t)most * r->scalar_bytes, "a vector",
                             &r->column.values));
  KCL_CALL(move_right_hand_side(r, r->column.in, x, r->vec[x], 0));
  return move_right_hand_side(r, r->column.out, x, r->vec[x], 0);
}

/* ---------------------------------------------------------------- opening and closing */

/* From where it was computed. */
static int copy_constant(kcl_run *r, kcl_vec v) {
  const size_t bytes = kcl_run_vector_bytes(r, v, r->k->vector[v].n);
  cl_int code = clEnqueueCopyBuffer(run_queue(r), r->k->vector[v].device, r->vec[v], 0, 0, bytes, 0,
                                    NULL, kcl_profile_event(run_context(r)->opencl, "copy", bytes));
  return kcl_cl_check(run_context(r), code, "clEnqueueCopyBuffer", "copying a vector");
}

int kcl_run_open_vectors(kcl_run *r) {
  const kcl_program *k = r->k;
  KCL_CALL(kcl_alloc(run_context(r), k->vectors, sizeof *r->vec, "vectors", (void **)&r->vec));
  for (int v = 0; v < k->vectors; v++) {
    int64_t padded = (k->vector[v].n + KCL_VECTOR_PAD - 1) / KCL_VECTOR_PAD * KCL_VECTOR_PAD;
    KCL_CALL(kcl_opencl_vector(run_context(r), kcl_run_vector_bytes(r, v, padded), &r->vec[v]));
    if (k->vector[v].device) KCL_CALL(copy_constant(r, v));
    if (k->vector[v].values)
      KCL_CALL(kcl_run_put(r, v, 0, k->vector[v].type, k->vector[v].values, 1.0));
  }
  return KCL_OK;
}

void kcl_run_close_vectors(kcl_run *r) {
  if (r->column.in) clReleaseKernel(r->column.in);
  if (r->column.out) clReleaseKernel(r->column.out);
  if (r->column.values) clReleaseMemObject(r->column.values);
  for (int i = 0; i < KCL_SNAPSHOTS; i++)
    if (r->snapshot[i]) clReleaseMemObject(r->snapshot[i]);
  for (int v = 0; r->vec && v < r->k->vectors; v++) kcl_pool_give(run_context(r), r->vec[v]);
  kcl_pool_trim(run_context(r));
  free(r->vec);
}
