/* Statistics of a host matrix. */
#include "core/matrix/structure.h"
#include <float.h>

typedef struct stats_counting {
  const kcl_csr *A;
  double row_mean;
  _Atomic unsigned char *seen; /* [rows + cols - 1]: diagonals with an entry */
  _Atomic int64_t least, most, empty, bandwidth, diagonal_entries;
} stats_counting;

static double measure_lengths(const void *arg, int64_t from, int64_t to) {
  stats_counting *c = (stats_counting *)arg;
  int64_t least = INT64_MAX, most = 0, empty = 0;
  double deviation = 0;
  for (int64_t i = from; i < to; i++) {
    int64_t k = kcl_row_length(c->A, i);
    if (k < least) least = k;
    if (k > most) most = k;
    empty += k == 0;
    deviation += fabs((double)k - c->row_mean);
  }
  kcl_lower(&c->least, least), kcl_raise(&c->most, most);
  c->empty += empty;
  return deviation;
}

static void count_row_lengths(stats_counting *c, kcl_stats *s) {
  const kcl_csr *A = c->A;
  c->least = A->rows ? INT64_MAX : 0;
  c->row_mean = s->row_mean = A->rows ? (double)A->nnz / (double)A->rows : 0;
  double deviation = kcl_sum(A->rows, KCL_FEW_ROWS, measure_lengths, c);
  s->row_min = c->least;
  s->row_max = c->most;
  s->empty_rows = c->empty;
  if (A->nnz) s->row_deviation = 100 * deviation / (double)A->rows / s->row_mean;
}

/* Marks the diagonals of rows [from, to). Columns ascend, so the first or last of a row is the farthest from the diagonal. A row
 * like the one before has the same diagonals. */
static void mark_diagonals(void *arg, int64_t from, int64_t to) {
  stats_counting *c = arg;
  const kcl_csr *A = c->A;
  int64_t bandwidth = 0, diagonal_entries = 0;
  bool main = false; /* has the row an entry on the main diagonal? */
  for (int64_t i = from; i < to; i++, diagonal_entries += main) {
    const int64_t first = A->row_ptr[i], end = A->row_ptr[i + 1];
    _Atomic unsigned char *seen = c->seen + (A->rows - 1 - i);
    if (i > from && kcl_rows_moved(A, 1, i, 1)) continue;
    main = false;
    if (first == end) continue;
    if (i - A->col[first] > bandwidth) bandwidth = i - A->col[first];
    if (A->col[end - 1] - i > bandwidth) bandwidth = A->col[end - 1] - i;
    for (int64_t k = first; k < end; k++) {
      main |= A->col[k] == i;
      if (!atomic_load_explicit(&seen[A->col[k]], memory_order_relaxed))
        atomic_store_explicit(&seen[A->col[k]], 1, memory_order_relaxed);
    }
  }
  kcl_raise(&c->bandwidth, bandwidth);
  c->diagonal_entries += diagonal_entries;
}

static double count_marks(const void *arg, int64_t from, int64_t to) {
  const stats_counting *c = arg;
  int64_t count = 0;
  for (int64_t d = from; d < to; d++)
    count += atomic_load_explicit(&c->seen[d], memory_order_relaxed);
  return (double)count;
}

/* Bandwidth, number of diagonals, entries of the main one. */
static void count_diagonals(stats_counting *c, kcl_stats *s) {
  const kcl_csr *A = c->A;
  kcl_for(A->rows, KCL_FEW_ROWS, mark_diagonals, c);
  s->diagonals = (int64_t)kcl_sum(A->rows + A->cols, KCL_FEW, count_marks, c);
  s->bandwidth = c->bandwidth, s->diagonal_entries = c->diagonal_entries;
}

int kcl_check_declared(kcl_context *ctx, const kcl_csr *A, const kcl_stats *s) {
  const bool skew = A->symmetry == KCL_SKEW;
  const char *mirror = skew ? "-a_ji" : A->symmetry == KCL_HERMITIAN ? "conj(a_ji)" : "a_ji";
  const bool exact = skew ? s->shifted_skew : A->symmetry == KCL_SYMMETRIC && s->symmetric;
  if (exact || (!skew && s->asymmetry <= KCL_MAX_ASYMMETRY)) return KCL_OK;
  return kcl_fail(ctx, KCL_USAGE,
                  "A is declared %s and is not: it must hold both triangles, with a_ij = %s for "
                  "every entry; declare KCL_GENERAL where that is not known",
                  kcl_symmetry_name(A->symmetry), mirror);
}

/* Is A exactly what A->symmetry declares? */
static bool has_declared(const kcl_csr *A, const kcl_mirror *m) {
  switch (A->symmetry) {
  case KCL_SYMMETRIC: return m->symmetric;
  case KCL_HERMITIAN: return m->hermitian;
  case KCL_SKEW: return m->skew;
  default: return true;
  }
}

/* A real matrix that is what it is declared is nothing else. m: found. */
static int report_symmetry(kcl_context *ctx, const kcl_csr *A, const kcl_mirror *m, kcl_stats *s) {
  const bool skew = A->symmetry == KCL_SKEW, holds = has_declared(A, m);
  const bool settled = holds && A->symmetry != KCL_GENERAL && !kcl_type_complex(A->type);
  int rc = KCL_OK;
  s->hermitian = settled ? !skew : m->hermitian;
  s->symmetric = settled ? !skew : m->symmetric;
  s->shifted_skew = settled ? skew : m->shifted_skew;
  if (s->hermitian) s->asymmetry = 0;
  if (!s->hermitian && !settled) rc = kcl_asymmetry(ctx, A, &s->asymmetry);
  return rc || holds ? rc : kcl_check_declared(ctx, A, s);
}

int kcl_csr_structure(kcl_context *ctx, const kcl_csr *A, kcl_stats *out) {
  KCL_OWNED _Atomic unsigned char *seen = NULL;
  *out = (kcl_stats){.rows = A->rows, .cols = A->cols, .nnz = A->nnz, .stored = A->stored};
  out->zero_cols = -1; /* not counted */
  KCL_CALL(kcl_alloc(ctx, A->rows + A->cols, 1, "the map of diagonals", (void **)&seen));
  stats_counting c = {.A = A, .seen = seen};
  count_row_lengths(&c, out);
  count_diagonals(&c, out);
  KCL_CALL(kcl_structure(ctx, A, out));
  out->slice_span = kcl_slice_span(A);
  return KCL_OK;
}

int kcl_csr_values(kcl_context *ctx, const kcl_csr *A, const kcl_distinct_rows *distinct,
                   const kcl_offset_runs *runs, kcl_stats *out) {
  kcl_mirror m = {0};
  if (!kcl_distinct_rows_listed(distinct, A) || A->rows != A->cols) distinct = NULL;
  int rc = kcl_count_values(ctx, A, distinct, runs, out, &m);
  out->asymmetry = INFINITY;
  if (rc) return rc;
  if (A->rows != A->cols) return A->symmetry ? kcl_check_declared(ctx, A, out) : KCL_OK;
  if (distinct)
    rc = kcl_mirrored_in_runs(ctx, distinct, &m);
  else if (!kcl_offset_runs_listed(runs))
    rc = kcl_mirrored(ctx, A, &m);
  return rc ? rc : report_symmetry(ctx, A, &m, out);
}

int kcl_csr_stats(kcl_context *ctx, const kcl_csr *A, kcl_stats *out) {
  KCL_CALL(kcl_need(ctx, "out", out));
  KCL_CALL(kcl_csr_need(ctx, A));
  KCL_CALL(kcl_csr_structure(ctx, A, out));
  KCL_CALL(kcl_csr_values(ctx, A, NULL, NULL, out));
  return kcl_compression(ctx, A, NULL, out);
}
