/* Matrices made row by row: parts of rows are made side by side, each into a list of its own, then joined. */
#include "sparse/sparse.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 512 /* rows per part */, PARTS = 4 /* per thread */ };

typedef struct making {
  kcl_row_maker *make;
  void *arg;
  kcl_rows *part; /* [parts] of `grain` rows each */
  kcl_csr *C;     /* while rows are made, row_ptr[i + 1] counts row i */
  int64_t parts, grain;
  int width;
} making;

bool kcl_rows_reserve(kcl_rows *r, int64_t count) {
  int64_t room = r->room ? r->room : 16 * LEAST;
  while (room < r->count + count) room *= 2;
  if (room == r->room || r->failed) return !r->failed;
  int32_t *col = realloc(r->col, (size_t)room * sizeof *col);
  if (col) r->col = col;
  double *val = realloc(r->val, (size_t)(room * r->width) * sizeof *val);
  if (val) r->val = val;
  r->failed = !col || !val;
  if (!r->failed) r->room = room;
  return !r->failed;
}

void kcl_rows_put(kcl_rows *r, int32_t col, const double *val) {
  if (!kcl_rows_reserve(r, 1)) return;
  r->col[r->count] = col;
  for (int q = 0; q < r->width; q++) r->val[r->count * r->width + q] = val[q];
  r->count++;
}

/* ---------------------------------------------------------------- a row from its sums */

static void put(kcl_rows *r, int64_t count, double scale) {
  kcl_sums *s = &r->sums;
  if (kcl_rows_reserve(r, count))
    for (int64_t i = 0; i < count; i++) {
      r->col[r->count] = s->list[i];
      r->val[r->count++] = s->sum[s->list[i]] * scale;
    }
  for (int64_t i = 0; i < s->count; i++) s->sum[s->list[i]] = 0;
  kcl_sums_next(s);
}

void kcl_row_put(kcl_rows *r) {
  kcl_sums_order(&r->sums);
  put(r, r->sums.count, 1);
}

static void swap(int32_t *a, int32_t *b) {
  const int32_t t = *a;
  *a = *b, *b = t;
}

/* The first `most` of the list become the largest; among equals the first columns. */
static void select_largest(kcl_sums *s, int most) {
  for (int k = 0; k < most; k++) {
    int64_t best = k;
    double largest = kcl_rounded(fabs(s->sum[s->list[k]]));
    for (int64_t i = k + 1; i < s->count; i++) {
      const double size = kcl_rounded(fabs(s->sum[s->list[i]]));
      if (size > largest || (size == largest && s->list[i] < s->list[best]))
        best = i, largest = size;
    }
    swap(&s->list[k], &s->list[best]);
  }
}

void kcl_row_put_largest(kcl_rows *r, int most) {
  kcl_sums *s = &r->sums;
  const int64_t count = s->count;
  double all = 0, kept = 0;
  kcl_sums_order(s); /* the device adds in this order, too */
  if (count > most) {
    for (int64_t i = 0; i < count; i++) all += s->sum[s->list[i]];
    select_largest(s, most);
    s->count = most, kcl_sums_order(s), s->count = count;
    for (int i = 0; i < most; i++) kept += s->sum[s->list[i]];
  }
  put(r, count < most ? count : most, kept != 0 ? all / kept : 1);
}

/* ---------------------------------------------------------------- parts */

static void make_part(void *arg, kcl_sums *s, int64_t from, int64_t to) {
  making *m = arg;
  kcl_rows *r = &m->part[from / m->grain];
  *r = (kcl_rows){.width = m->width, .refused = -1, .sums = *s};
  kcl_sums_next(&r->sums);
  for (int64_t i = from; i < to && !r->failed; i++) {
    const int64_t before = r->count;
    m->make(m->arg, r, i);
    m->C->row_ptr[i + 1] = r->count - before;
  }
  free(r->scratch), r->scratch = NULL;
  *s = r->sums;
}

static void join_part(void *arg, int64_t from, int64_t to) {
  const making *m = arg;
  const kcl_rows *r = &m->part[from / m->grain];
  const int64_t at = m->C->row_ptr[from];
  (void)to;
  if (!r->count) return;
  memcpy(m->C->col + at, r->col, (size_t)r->count * sizeof *r->col);
  memcpy((double *)m->C->val + at * r->width, r->val,
         (size_t)(r->count * r->width) * sizeof *r->val);
}

int kcl_sparse_room(kcl *ctx, kcl_csr *C) {
  for (int64_t i = 0; i < C->rows; i++) C->row_ptr[i + 1] += C->row_ptr[i];
  C->nnz = C->stored = C->row_ptr[C->rows];
  free(C->col), free(C->val), C->col = NULL, C->val = NULL;
  int rc = kcl_alloc_unset(ctx, C->nnz, sizeof *C->col, "column indices", (void **)&C->col);
  return rc ? rc : kcl_alloc_unset(ctx, C->nnz, kcl_type_size(C->type), "matrix values", &C->val);
}

static bool failed(const making *m) {
  bool any = false;
  for (int64_t p = 0; p < m->parts; p++) any = any || m->part[p].failed;
  return any;
}

static int64_t first_refused(const making *m) {
  for (int64_t p = 0; p < m->parts; p++)
    if (m->part[p].refused >= 0) return m->part[p].refused;
  return -1;
}

int64_t kcl_rows_grain(int64_t rows) {
  const int64_t even = rows / (PARTS * kcl_threads()) + 1;
  return even > LEAST ? even : LEAST;
}

int kcl_rows_make(kcl *ctx, int64_t rows, int64_t cols, kcl_type type, kcl_row_maker *make,
                  void *arg, int64_t *refused, kcl_csr **out) {
  const int64_t grain = kcl_rows_grain(rows);
  making m = {.make = make, .arg = arg, .width = kcl_type_complex(type) ? 2 : 1, .grain = grain};
  int rc;
  *out = NULL, m.parts = (rows + grain - 1) / grain;
  KCL_TRY(kcl_csr_create(ctx, rows, cols, 0, type, &m.C));
  KCL_TRY(kcl_alloc(ctx, m.parts, sizeof *m.part, "the parts of a matrix", (void **)&m.part));
  if (!kcl_sums_for_each(rows, grain, cols, make_part, &m) || failed(&m))
    KCL_TRY(kcl_fail(ctx, KCL_MEMORY, "out of memory: rows of a matrix"));
  if (refused) *refused = first_refused(&m);
  KCL_TRY(kcl_sparse_room(ctx, m.C));
  kcl_for_each(rows, grain, join_part, &m);
  *out = m.C, m.C = NULL;
done:
  for (int64_t p = 0; m.part && p < m.parts; p++) free(m.part[p].col), free(m.part[p].val);
  free(m.part), kcl_csr_free(&m.C);
  return rc;
}

int kcl_sparse_wide(kcl *ctx, const kcl_csr *A, kcl_csr **owned, const kcl_csr **out) {
  const kcl_type type = kcl_type_complex(A->type) ? KCL_Z : KCL_D;
  *owned = NULL, *out = A;
  if (A->type == type) return KCL_OK;
  int rc = kcl_csr_convert(ctx, A, type, owned);
  if (!rc) *out = *owned;
  return rc;
}
