/* The sizes of compressed formats: distinct rows, pairs and values, values that float represents; the span of
 * slices. */
#include "core/base/context.h"
#include "core/matrix/structure.h"
#include <float.h>

/* Is it exactly representable as a normal float? Devices may flush subnormal ones to 0. */
static bool is_single(double v) { return v == 0 || ((double)(float)v == v && fabs(v) >= FLT_MIN); }

static bool entry_is_single(const kcl_csr *A, int64_t k) {
  double z[2];
  kcl_element(A->type, A->val, k, z);
  return is_single(z[0]) && is_single(z[1]);
}

typedef struct question {
  const kcl_csr *A;
  atomic_bool all;
} question;

static void singles(void *arg, int64_t first, int64_t end) {
  question *q = arg;
  for (int64_t k = first; k < end; k++)
    if (!entry_is_single(q->A, k)) {
      q->all = false;
      return;
    }
}

bool kcl_all_single(const kcl_csr *A) {
  question q = {.A = A, .all = true};
  kcl_for(A->nnz, KCL_FEW, singles, &q);
  return q.all;
}

/* Checks the distinct values where they are known. */
static bool all_single(const kcl_csr *A, const kcl_repeats *values) {
  bool all = true;
  if (!kcl_repeats_fit(values)) return kcl_all_single(A);
  for (int64_t n = 0; n < values->count; n++) all = all && entry_is_single(A, values->entry[n]);
  return all;
}

int32_t kcl_slice_least(const kcl_csr *A, int64_t slice) {
  int32_t least = INT32_MAX;
  for (int64_t i = slice * KCL_SLICE; i < (slice + 1) * KCL_SLICE && i < A->rows; i++) {
    int32_t first = kcl_row_length(A, i) ? A->col[A->row_ptr[i]] : kcl_padding_column(A, i);
    if (first < least) least = first;
  }
  return least;
}

static double largest_span(const void *arg, int64_t first, int64_t end) {
  const kcl_csr *A = arg;
  int64_t span = 0;
  for (int64_t s = first; s < end; s++) {
    int32_t least = kcl_slice_least(A, s), most = 0;
    for (int64_t i = s * KCL_SLICE; i < (s + 1) * KCL_SLICE && i < A->rows; i++)
      if (kcl_padding_column(A, i) > most) most = kcl_padding_column(A, i);
    if (most - (int64_t)least > span) span = most - (int64_t)least;
  }
  return (double)span;
}

int64_t kcl_slice_span(const kcl_csr *A) {
  const int64_t slices = kcl_slice_count(A->rows);
  return (int64_t)kcl_largest(slices, KCL_FEW_ROWS / KCL_SLICE, largest_span, A);
}

int kcl_compression(kcl_context *ctx, const kcl_csr *A, kcl_distinct_rows *distinct, kcl_stats *s) {
  KCL_OWNED_BY(kcl_repeats_free) kcl_repeats rows = {0}, pairs = {0}, values = {0};
  KCL_CALL(kcl_repeats_find_rows(ctx, A, distinct, false, &rows));
  KCL_CALL(kcl_repeats_find(ctx, A, KCL_PAIRS, &rows, &pairs));
  KCL_CALL(kcl_repeats_find(ctx, A, KCL_VALUES, kcl_repeats_fit(&rows) ? &rows : &pairs, &values));
  s->row_patterns = rows.count, s->pattern_runs = rows.runs;
  s->pattern_entries = kcl_repeats_fit(&rows) ? kcl_repeats_entries(&rows) : 0;
  s->distinct_pairs = pairs.count, s->distinct_values = values.count;
  s->values_fit_float = all_single(A, &values);
  return KCL_OK;
}
