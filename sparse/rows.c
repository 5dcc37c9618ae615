/* Matrices made row by row: parts of rows are made side by side, each into a list of its own, then joined if need be. */
#include "sparse/sparse.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 9 /* 2^LEAST rows per part */, PARTS = 8 /* per thread */ };
enum { SAMPLE = 128 /* rows, whose entries tell how many there will be */ };

/* Rows as they were made: row i is the entries from start[i + p] up to start[i + p + 1] of part p = i >> shift. */
typedef struct row_parts {
  int64_t rows, parts;
  int shift;
  kcl_rows *part; /* [parts] */
  int64_t *start; /* [rows + parts] */
} row_parts;

typedef struct making {
  kcl_row_maker *make;
  void *arg;
  row_parts *P;
  int width;
} making;

bool kcl_rows_reserve(kcl_rows *r, int64_t count) {
  int64_t room = r->room ? r->room : 16 << LEAST;
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

/* The first `count` of the list; the row ends. */
static void put(kcl_rows *r, int64_t count, double scale) {
  kcl_sums *s = &r->sums;
  if (kcl_rows_reserve(r, count))
    for (int64_t i = 0; i < count; i++) {
      r->col[r->count] = s->list[i];
      r->val[r->count++] = *kcl_sums_of_column(s, s->list[i]) * scale;
    }
  kcl_sums_clear(s);
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
    double largest = kcl_rounded(fabs(*kcl_sums_of_column(s, s->list[k])));
    for (int64_t i = k + 1; i < s->count; i++) {
      const double size = kcl_rounded(fabs(*kcl_sums_of_column(s, s->list[i])));
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
    for (int64_t i = 0; i < count; i++) all += *kcl_sums_of_column(s, s->list[i]);
    select_largest(s, most);
    s->count = most, kcl_sums_order(s), s->count = count;
    for (int i = 0; i < most; i++) kept += *kcl_sums_of_column(s, s->list[i]);
  }
  put(r, count < most ? count : most, kept != 0 ? all / kept : 1);
}

/* ---------------------------------------------------------------- parts */

static void make_part(void *arg, kcl_sums *s, int64_t from, int64_t to) {
  making *m = arg;
  const int64_t part = from >> m->P->shift;
  kcl_rows *r = &m->P->part[part];
  int64_t *start = m->P->start + part;
  *r = (kcl_rows){.width = m->width, .refused = -1, .sums = s[0], .inner = &s[1]};
  start[from] = 0;
  for (int64_t i = from; i < to && !r->failed; i++) {
    m->make(m->arg, r, i);
    start[i + 1] = r->count;
    if (i - from == SAMPLE) kcl_rows_reserve(r, r->count * (to - i) / SAMPLE);
  }
  free(r->scratch), r->scratch = NULL;
  s[0] = r->sums;
}

static bool failed(const row_parts *P) {
  bool any = false;
  for (int64_t p = 0; p < P->parts; p++) any = any || P->part[p].failed;
  return any;
}

static int64_t first_refused(const row_parts *P) {
  for (int64_t p = 0; p < P->parts; p++)
    if (P->part[p].refused >= 0) return P->part[p].refused;
  return -1;
}

static int shift_for(int64_t rows) {
  int shift = LEAST;
  while (rows >> shift > PARTS * kcl_threads()) shift++;
  return shift;
}

int64_t kcl_rows_grain(int64_t rows) { return (int64_t)1 << shift_for(rows); }

/* P is to be freed also after a failure. width: numbers per entry. */
static int make_parts(kcl *ctx, int64_t rows, const int64_t cols[2], int width, kcl_row_maker *make,
                      void *arg, row_parts *P) {
  making m = {.make = make, .arg = arg, .P = P, .width = width};
  int rc;
  *P = (row_parts){.rows = rows, .shift = shift_for(rows)};
  const int64_t grain = (int64_t)1 << P->shift;
  P->parts = (rows + grain - 1) / grain;
  KCL_TRY(kcl_alloc(ctx, P->parts, sizeof *P->part, "the parts of a matrix", (void **)&P->part));
  KCL_TRY(kcl_alloc(ctx, rows + P->parts + 1, sizeof *P->start, "row starts", (void **)&P->start));
  if (!kcl_sums_for_each(rows, grain, cols, make_part, &m) || failed(P))
    rc = kcl_fail(ctx, KCL_MEMORY, "out of memory: rows of a matrix");
done:
  return rc;
}

static void free_parts(row_parts *P) {
  for (int64_t p = 0; P->part && p < P->parts; p++) free(P->part[p].col), free(P->part[p].val);
  free(P->part), free(P->start);
}

/* ---------------------------------------------------------------- joined */

int kcl_sparse_room(kcl *ctx, kcl_csr *C) {
  for (int64_t i = 0; i < C->rows; i++) C->row_ptr[i + 1] += C->row_ptr[i];
  C->nnz = C->stored = C->row_ptr[C->rows];
  free(C->col), free(C->val), C->col = NULL, C->val = NULL;
  int rc = kcl_alloc_unset(ctx, C->nnz, sizeof *C->col, "column indices", (void **)&C->col);
  return rc ? rc : kcl_alloc_unset(ctx, C->nnz, kcl_type_size(C->type), "matrix values", &C->val);
}

typedef struct joining {
  const row_parts *P;
  kcl_csr *C;
} joining;

static void join_part(void *arg, int64_t from, int64_t to) {
  const joining *j = arg;
  const kcl_rows *r = &j->P->part[from >> j->P->shift];
  const int64_t at = j->C->row_ptr[from];
  (void)to;
  if (!r->count) return;
  memcpy(j->C->col + at, r->col, (size_t)r->count * sizeof *r->col);
  memcpy((double *)j->C->val + at * r->width, r->val,
         (size_t)(r->count * r->width) * sizeof *r->val);
}

static int join(kcl *ctx, const row_parts *P, kcl_csr *C) {
  for (int64_t i = 0; i < P->rows; i++) {
    const int64_t *start = P->start + (i >> P->shift);
    C->row_ptr[i + 1] = start[i + 1] - start[i];
  }
  int rc = kcl_sparse_room(ctx, C);
  if (!rc) kcl_for_each(P->rows, (int64_t)1 << P->shift, join_part, &(joining){P, C});
  return rc;
}

/* What all makers of rows do. */
static int make_rows(kcl *ctx, int64_t rows, const int64_t cols[2], kcl_type type,
                     kcl_row_maker *make, void *arg, int64_t *refused, kcl_csr **out) {
  row_parts P;
  kcl_csr *C = NULL;
  int rc;
  *out = NULL;
  KCL_TRY(make_parts(ctx, rows, cols, kcl_type_complex(type) ? 2 : 1, make, arg, &P));
  if (refused) *refused = first_refused(&P);
  KCL_TRY(kcl_csr_create(ctx, rows, cols[0], 0, type, &C));
  KCL_TRY(join(ctx, &P, C));
  *out = C, C = NULL;
done:
  free_parts(&P), kcl_csr_free(&C);
  return rc;
}

int kcl_rows_make(kcl *ctx, int64_t rows, int64_t cols, kcl_type type, kcl_row_maker *make,
                  void *arg, int64_t *refused, kcl_csr **out) {
  return make_rows(ctx, rows, (const int64_t[]){cols, 0}, type, make, arg, refused, out);
}

int kcl_rows_make_through(kcl *ctx, int64_t rows, int64_t inner, int64_t cols, kcl_row_maker *make,
                          void *arg, kcl_csr **out) {
  return make_rows(ctx, rows, (const int64_t[]){cols, inner}, KCL_D, make, arg, NULL, out);
}

int kcl_sparse_wide(kcl *ctx, const kcl_csr *A, kcl_csr **owned, const kcl_csr **out) {
  const kcl_type type = kcl_type_complex(A->type) ? KCL_Z : KCL_D;
  *owned = NULL, *out = A;
  if (A->type == type) return KCL_OK;
  int rc = kcl_csr_convert(ctx, A, type, owned);
  if (!rc) *out = *owned;
  return rc;
}
