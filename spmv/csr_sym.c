/* Half of a symmetric or Hermitian matrix: the lower triangle by rows, and for the upper part of each row the positions of
 * its values in the lower triangle.
 *
 *     | a . b |   first    0 1 2 4      lower triangle and diagonal, as CSR
 *     | . c . |   col      0 1 0 2      val   a c b d
 *     | b . d |   up_first 0 1 1 1      up    (2, 0): row 2 of the lower triangle, its entry 0
 *
 * The product gathers: row i adds up val[k] x[col[k]] over its lower part, then val[first[j] + r] x[j] (conjugated, if
 * Hermitian) for every pair (j, r) of up. There are no races and no atomics, the bits are the same each time, and the row
 * is complete for the rest of the stage. Scattering the upper half instead (RACE, Alappat et al. 2020; CSB, Buluc et al.
 * 2011) needs colours or buffers and further passes. A pair is one 32-bit word, j in the high bits; a value is used a
 * second time by a row |i - j| before its own, from a cache if the band of the matrix fits.
 * Bytes: L s + 4 nnz + 8 (rows + 1), L = (nnz + diagonal entries) / 2; 2 flops per entry. For long rows and a band that
 * fits the cache, the ratio to CSR's nnz (4 + s): float 0.75, double and complex float 0.67, complex double 0.6. It is
 * slower than CSR for bands that exceed the cache (half of all values are then random accesses), for rows so short that
 * the second row pointer counts, and on CPUs, which are latency-bound by chains of three loads.
 */
#include "core/matrix/stored.h"
#include "core/matrix/structure.h"
#include "core/base/scalar.h"
#include "spmv/bounds.h"

/* The arrays and the integers by number, in the order in which they are built. */
enum { FIRST, UP_FIRST, COL, UP, VAL };
enum { SHIFT, HERMITIAN };

/* The number of bits of 0 .. n - 1. */
static int bits(int64_t n) {
  int b = 0;
  while (b < 62 && ((int64_t)1 << b) < n) b++;
  return b;
}

static const char *csr_sym_refuses(const kcl_stats *s, kcl_type type) {
  (void)type;
  if (!s->symmetric && !s->hermitian)
    return "it stores half of a symmetric or Hermitian matrix, and this one is neither";
  if (bits(s->rows) + bits(s->row_max) > 32 || s->nnz + s->rows > 2 * (int64_t)INT32_MAX)
    return "rows times longest row, or entries, exceed 2^32, the room for a pair of indices";
  return NULL;
}

static kcl_size csr_sym_size(const kcl_stats *s, kcl_type type) {
  double val = (double)(s->nnz + s->diagonal_entries) / 2 * (double)kcl_type_size(type);
  return (kcl_size){.total = val + 4.0 * (double)s->nnz + 8.0 * ((double)s->rows + 1),
                    .largest = val};
}

typedef struct half {
  int32_t *first, *col, *up_first, *up; /* [rows + 1] [lower] [rows + 1] [nnz - lower] */
  scalar *val;                          /* [lower] */
} half;

/* Row pointers of both parts; returns the entries of the lower triangle. */
static int64_t csr_sym_count(const kcl_csr *A, int32_t *first, int32_t *up_first) {
  int64_t lower = 0;
  for (int64_t i = 0, k; i < A->rows; i++) {
    for (k = A->row_ptr[i]; k < A->row_ptr[i + 1] && A->col[k] <= i;) k++, lower++;
    first[i + 1] = (int32_t)lower, up_first[i + 1] = (int32_t)(A->row_ptr[i + 1] - lower);
  }
  return lower;
}

/* In the order of the rows j, entry (j, i) of the lower triangle is the next entry beyond the diagonal of row i: next[i]. */
static void csr_sym_fill(const kcl_csr *A, const half *h, int32_t *next, int shift) {
  const scalar *from = A->val;
  for (int64_t j = 0; j < A->rows; j++)
    for (int32_t k = h->first[j]; k < h->first[j + 1]; k++) {
      int64_t at = A->row_ptr[j] + (k - h->first[j]);
      int32_t i = A->col[at];
      h->col[k] = i, h->val[k] = from[at];
      if (i < j) h->up[next[i]++] = (int32_t)((uint32_t)j << shift | (uint32_t)(k - h->first[j]));
    }
}

/* Lanes per row: a power of two, for four entries of the mean row each. */
static void csr_sym_choose_lanes(kcl_stored *m) {
  double part = m->rows ? 0.25 * (double)m->nnz / (double)m->rows : 0;
  for (m->kernel.lanes = 1; m->kernel.lanes < 32 && m->kernel.lanes < part; m->kernel.lanes *= 2) {}
}

static int csr_sym_build(kcl_stored *m, const kcl_csr *A) {
  kcl_mirror mirror;
  half h;
  KCL_OWNED int32_t *next = NULL; /* [rows] */
  int64_t row_max = 0, lower;
  KCL_CALL(kcl_mirrored(m->ctx, A, &mirror));
  for (int64_t i = 0; i < A->rows; i++)
    if (kcl_row_length(A, i) > row_max) row_max = kcl_row_length(A, i);
  kcl_stats s = {.rows = A->rows,
                 .nnz = A->nnz,
                 .row_max = row_max,
                 .symmetric = mirror.symmetric,
                 .hermitian = mirror.hermitian};
  if (csr_sym_refuses(&s, m->type)) KCL_CALL(kcl_stored_refused(m, csr_sym_refuses(&s, m->type)));
  KCL_CALL(kcl_stored_array(m, "first", KCL_INT32, A->rows + 1, (void **)&h.first));
  KCL_CALL(kcl_stored_array(m, "up_first", KCL_INT32, A->rows + 1, (void **)&h.up_first));
  lower = csr_sym_count(A, h.first, h.up_first);
  KCL_CALL(kcl_stored_array(m, "col", KCL_INT32, lower, (void **)&h.col));
  KCL_CALL(kcl_stored_array(m, "up", KCL_INT32, A->nnz - lower, (void **)&h.up));
  KCL_CALL(kcl_stored_array(m, "val", KCL_SCALAR, lower, (void **)&h.val));
  KCL_CALL(kcl_alloc(m->ctx, A->rows, sizeof *next, "a copy of up_first", (void **)&next));
  for (int64_t i = 0; i < A->rows; i++) next[i] = h.up_first[i];
  csr_sym_fill(A, &h, next, bits(row_max));
  kcl_stored_param(m, "shift", bits(row_max));
  kcl_stored_param(m, "hermitian", !mirror.symmetric);
  csr_sym_choose_lanes(m);
  return KCL_OK;
}

static void csr_sym_rows(const kcl_stored *m, const void *x_, void *y_, int64_t lo, int64_t hi) {
  const int32_t *first = m->array[FIRST].data, *up_first = m->array[UP_FIRST].data,
                *col = m->array[COL].data;
  const uint32_t *up = m->array[UP].data;
  const scalar *val = m->array[VAL].data, *x = x_;
  scalar *y = y_;
  const int shift = (int)m->param[SHIFT].value;
  const uint32_t mask = ((uint32_t)1 << shift) - 1;
  const bool hermitian = m->param[HERMITIAN].value;
  for (int64_t i = lo; i < hi; i++) {
    scalar sum = s_make(0);
    for (int32_t k = first[i]; k < first[i + 1]; k++) sum = s_fma(val[k], x[col[k]], sum);
    for (int32_t k = up_first[i]; k < up_first[i + 1]; k++) {
      uint32_t j = up[k] >> shift;
      scalar a = val[first[j] + (int32_t)(up[k] & mask)];
      sum = s_fma(hermitian ? s_conj(a) : a, x[j], sum);
    }
    y[i] = sum;
  }
}

/* Have the words of the upper part, `count` from k on, rows and values that exist? */
static bool upper_exists(const kcl_stored *m, int64_t k, int64_t count) {
  const int32_t *first = m->array[FIRST].data;
  const uint32_t *up = (const uint32_t *)m->array[UP].data + k;
  const int shift = (int)m->param[SHIFT].value;
  const uint32_t mask = ((uint32_t)1 << shift) - 1;
  bool exist = true;
  for (int64_t n = 0; n < count && exist; n++) {
    const uint32_t j = up[n] >> shift;
    exist =
        j < m->cols && first[j] >= 0 && first[j] + (int64_t)(up[n] & mask) < m->array[VAL].count;
  }
  return exist;
}

static bool csr_sym_bounded(const kcl_stored *m, int64_t lo, int64_t hi) {
  const int32_t *first = m->array[FIRST].data, *up_first = m->array[UP_FIRST].data;
  return kcl_short_starts_ascend(first, lo, hi, m->array[VAL].count) &&
         kcl_short_starts_ascend(up_first, lo, hi, m->array[UP].count) &&
         kcl_indices_within((const int32_t *)m->array[COL].data + first[lo], first[hi] - first[lo],
                            m->cols) &&
         upper_exists(m, up_first[lo], up_first[hi] - up_first[lo]);
}

/* Three dependent loads where CSR has two: 1.4 to 1.8 on meshes (NVIDIA H200). A band beyond the cache costs a cache line
 * per value (estimated). */
static double csr_sym_slowdown(const kcl_stats *s, const kcl_device *d) {
  bool gpu = kcl_is_gpu(d);
  double band = (double)s->bandwidth * s->row_mean * 8;
  return (gpu ? 1.8 : 2) + (band > (gpu ? 2e7 : 1e6) ? 2 : 0);
}

static void csr_sym_outline(kcl_stored *m, const kcl_stats *s) {
  csr_sym_choose_lanes(m);
  m->cost.chain = (double)s->row_max / m->kernel.lanes,
  m->cost.mean = s->row_mean / m->kernel.lanes;
}

const kcl_format KCL_TYPED(kcl_format_csr_sym) = {
    .name = "csr-sym",
    .summary = "half of a symmetric or Hermitian matrix, compressed rows",
    .source = "Saad 2003, 3.4; gathered form ours",
    .kernel = "spmv_csr_sym",
    .multi_rhs = true,
    .size = csr_sym_size,
    .refuses = csr_sym_refuses,
    .slowdown = csr_sym_slowdown,
    .outline = csr_sym_outline,
    .build = csr_sym_build,
    .rows = csr_sym_rows,
    .bounded = csr_sym_bounded};
