/* Triangular solves as products: y = (I + N)^-1 x for a strictly triangular N, in CSR (Anderson & Saad 1989).
 *
 *   y_i = x_i - sum_k n_ik y_k     in an order in which each y_k is known
 *
 * Not in the list of formats, since no A is multiplied by it: preconditioners build it (kcl_format_triangular). It is carried out
 * in steps (kcl_stored.steps). On the cpu executor a level with much work is a step that is divided among the threads; levels
 * with little are one step together, of one thread, in the order of the rows. On a device `prepare` computes y: a CPU device
 * by one work-item; a GPU by one work-group with barriers between levels, or by a launch per level of large systems.
 * Each row is summed in a fixed order, so the bits are the same for any number of threads.
 * Bytes: nnz (4 + s) + rows (8 + s); 2 flops per entry.
 */
#include "core/base/scalar.h"
#include "core/matrix/level_sets.h"
#include "core/matrix/stored.h"

enum { TRIANGULAR_WIDE = 1 << 14 /* rows and entries of a step that is worth a barrier */ };
enum { ROW_PTR, COL, VAL, ORDER, ROW_ALONE }; /* arrays on the cpu executor, */
enum { UPPER };                               /* and its integer */
enum { ONE_GROUP, LAUNCH_PER_STEP };          /* variants of the kernel */

static kcl_size triangular_size(const kcl_stats *s, kcl_type type) {
  const double bytes = (double)kcl_type_size(type), val = (double)s->nnz * bytes;
  return (kcl_size){.total = val + 4.0 * (double)s->nnz + (8.0 + 4 + bytes) * ((double)s->rows + 1),
                    .largest = val};
}

/* ---------------------------------------------------------------- the steps */

/* Fills step [count], the step of each level, ascending; returns the number of steps. */
static int64_t one_per_level(const kcl_level_sets *s, int64_t *step) {
  for (int64_t l = 0; l < s->count; l++) step[l] = l;
  return s->count;
}

static int64_t all_at_once(const kcl_level_sets *s, int64_t *step) {
  for (int64_t l = 0; l < s->count; l++) step[l] = 0;
  return s->count > 0;
}

/* As one_per_level, but neighbouring narrow levels share a step. */
static int64_t narrow_together(const kcl_level_sets *s, int64_t *step) {
  int64_t last = -1;
  bool narrow = false;
  for (int64_t l = 0; l < s->count; l++) {
    if (s->work[l] >= TRIANGULAR_WIDE || !narrow) last++;
    narrow = s->work[l] < TRIANGULAR_WIDE;
    step[l] = last;
  }
  return last + 1;
}

typedef int64_t triangular_steps_of(const kcl_level_sets *s, int64_t *step);

/* Fills m->step and the order of the rows: by step, within a step in the order of elimination. */
static int triangular_lay_out(kcl_stored *m, const kcl_level_sets *s, triangular_steps_of *choose) {
  KCL_OWNED int64_t *step = NULL, *next = NULL;
  int32_t *order;
  KCL_CALL(kcl_alloc(m->ctx, s->count + 1, sizeof *step, "levels", (void **)&step));
  m->steps = choose(s, step);
  KCL_CALL(kcl_alloc(m->ctx, m->steps + 1, sizeof *next, "levels", (void **)&next));
  KCL_CALL(kcl_alloc(m->ctx, m->steps + 1, sizeof *m->step, "levels", (void **)&m->step));
  KCL_CALL(kcl_stored_array(m, "order", KCL_INT32, m->rows, (void **)&order));
  for (int64_t l = 0; l < s->count; l++) m->step[step[l] + 1] += s->rows[l];
  for (int64_t i = 0; i < m->steps; i++) m->step[i + 1] += m->step[i], next[i] = m->step[i];
  for (int64_t n = 0; n < m->rows; n++) {
    const int64_t i = kcl_eliminated(s, n, m->rows);
    order[next[step[s->level[i]]]++] = (int32_t)i;
  }
  return KCL_OK;
}

/* Marks the steps that are one level, whose rows do not depend on each other. */
static int mark_alone(kcl_stored *m, const kcl_level_sets *s) {
  const int32_t *order = m->array[ORDER].data;
  uint8_t *alone;
  int rc = kcl_stored_array(m, "alone", KCL_UINT8, m->steps, (void **)&alone);
  for (int64_t i = 0; i < m->steps && !rc; i++)
    alone[i] = s->work[s->level[order[m->step[i]]]] < TRIANGULAR_WIDE || m->steps == 1;
  return rc;
}

/* ---------------------------------------------------------------- building */

/* Lays the matrix out for a device; on a GPU for one work-group if the rows are few enough, else for one launch per step. */
static int triangular_on_device(kcl_stored *m, const kcl_level_sets *s) {
  const bool gpu = kcl_stored_gpu_layout(m), group = m->rows <= KCL_GROUP_ROWS;
  int32_t *level;
  KCL_CALL(triangular_lay_out(m, s, gpu ? one_per_level : all_at_once));
  m->kernel.variant = gpu && !group ? LAUNCH_PER_STEP : ONE_GROUP;
  KCL_CALL(kcl_stored_array(m, "level", KCL_INT32, m->steps + 1, (void **)&level));
  for (int64_t i = 0; i <= m->steps; i++) level[i] = (int32_t)m->step[i];
  kcl_stored_prepared(m, "z", KCL_SCALAR, m->rows, m->rows);
  kcl_stored_param(m, "levels", m->steps);
  if (m->kernel.variant == LAUNCH_PER_STEP) return KCL_OK;
  m->kernel.prepare_items = 1, m->steps = 0;
  return KCL_OK;
}

/* The steps and the order of a matrix with this pattern. */
static int copy_lay_out(kcl_stored *m, const kcl_stored *from) {
  int32_t *order;
  uint8_t *alone;
  m->steps = from->steps;
  KCL_CALL(kcl_alloc_unset(m->ctx, m->steps + 1, sizeof *m->step, "levels", (void **)&m->step));
  KCL_CALL(kcl_stored_array(m, "order", KCL_INT32, m->rows, (void **)&order));
  KCL_CALL(kcl_stored_array(m, "alone", KCL_UINT8, m->steps, (void **)&alone));
  memcpy(m->step, from->step, (size_t)(m->steps + 1) * sizeof *m->step);
  memcpy(order, from->array[ORDER].data, (size_t)m->rows * sizeof *order);
  memcpy(alone, from->array[ROW_ALONE].data, (size_t)m->steps);
  return KCL_OK;
}

static int lay_out_anew(kcl_stored *m, const kcl_csr *N) {
  kcl_level_sets s;
  int rc = kcl_level_sets_find(m->ctx, N, &s);
  if (rc) return rc;
  if (kcl_stored_on_device(m)) {
    rc = triangular_on_device(m, &s);
  } else {
    kcl_stored_param(m, "upper", s.upper);
    rc = triangular_lay_out(m, &s, kcl_threads() > 1 ? narrow_together : all_at_once);
    if (!rc) rc = mark_alone(m, &s);
  }
  kcl_level_sets_free(&s);
  return rc;
}

static int triangular_build(kcl_stored *m, const kcl_csr *N) {
  const kcl_stored *before = kcl_stored_on_device(m) ? NULL : m->origin.before;
  kcl_stored_borrow(m, "row_ptr", KCL_INT64, N->rows + 1, N->row_ptr);
  kcl_stored_borrow(m, "col", KCL_INT32, N->nnz, N->col);
  kcl_stored_borrow(m, "val", KCL_SCALAR, N->nnz, N->val);
  if (!before) return lay_out_anew(m, N);
  kcl_stored_param(m, "upper", before->param[UPPER].value);
  return copy_lay_out(m, before);
}

/* ---------------------------------------------------------------- on the cpu executor */

/* The unknown of entry k; guarded: one that exists. It costs next to nothing, since rows wait for their sums and not for addresses. */
static inline int64_t unknown_of(const kcl_stored *m, int64_t k, const bool guarded) {
  const uint32_t *col = m->array[COL].data, last = (uint32_t)m->rows - 1;
  return guarded && col[k] > last ? last : col[k];
}

/* guarded: without rows that are not there. */
static inline void solve_rows(const kcl_stored *m, const scalar *x, scalar *y, int64_t lo,
                              int64_t hi, const bool guarded) {
  const int64_t *row_ptr = m->array[ROW_PTR].data;
  const int32_t *order = m->array[ORDER].data;
  const scalar *val = m->array[VAL].data;
  const bool upper = m->param[UPPER].value;
  for (int64_t n = lo; n < hi; n++) {
    const int64_t i = order[n];
    if (guarded && (i < 0 || i >= m->rows)) continue;
    const int64_t from = row_ptr[i], end = row_ptr[i + 1];
    if (guarded && (from < 0 || from > end || end > m->nnz)) continue;
    scalar sum = x[i];
    if (upper) /* the unknown that was computed last is added last: the sum waits for it alone */
      for (int64_t k = end - 1; k >= from; k--)
        sum = s_fma(s_neg(val[k]), y[unknown_of(m, k, guarded)], sum);
    else
      for (int64_t k = from; k < end; k++)
        sum = s_fma(s_neg(val[k]), y[unknown_of(m, k, guarded)], sum);
    y[i] = sum;
  }
}

static void solve_part(const kcl_stored *m, const scalar *x, scalar *y, int64_t lo, int64_t hi) {
  if (m->guarded)
    solve_rows(m, x, y, lo, hi, true);
  else
    solve_rows(m, x, y, lo, hi, false);
}

static void triangular_step(const kcl_stored *m, const void *x, void *y, int64_t number, int part,
                            int parts) {
  const uint8_t *alone = m->array[ROW_ALONE].data;
  const int64_t lo = m->step[number], end = m->step[number + 1];
  if (m->guarded && (lo < 0 || end < lo || end > m->rows)) return;
  const int64_t rows = end - lo;
  if (!alone[number])
    solve_part(m, x, y, lo + rows * part / parts, lo + rows * (part + 1) / parts);
  else if (part == 0)
    solve_part(m, x, y, lo, lo + rows);
}

const kcl_format KCL_TYPED(kcl_format_triangular) = {.name = "triangular",
                                                     .summary = "solves with I + N by levels",
                                                     .source = "Anderson & Saad 1989",
                                                     .kernel = "spmv_triangular",
                                                     .size = triangular_size,
                                                     .size_is_bound = true,
                                                     .build = triangular_build,
                                                     .step = triangular_step};
