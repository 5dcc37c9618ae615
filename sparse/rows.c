/* Matrices made row by row: parts of rows are made side by side, each into a list of its own, then joined if need be. */
#include "sparse/sparse.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 9 /* 2^LEAST rows per part */, PARTS = 8 /* per thread */ };
enum { SAMPLE = 128 /* rows, whose entries tell how many there will be */ };

/* Rows as they were made: of part p, rows [p << shift, (p + 1) << shift). C: the matrix they become; until then row i ends at
 * C->row_ptr[i + 1] in the list of its part. */
typedef struct row_parts {
  int64_t rows, parts;
  int shift;
  kcl_rows *part; /* [parts] */
  int64_t *first; /* [parts] entries before the part */
  kcl_csr *C;
} row_parts;

typedef struct making {
  kcl_row_maker *make;
  void *arg;
  row_parts *P;
} making;

static bool grow(kcl_rows *r, int64_t count) {
  int64_t room = r->room ? r->room : 16 << LEAST;
  while (room < count) room *= 2;
  if (r->failed) return false;
  int32_t *col = realloc(r->col, (size_t)room * sizeof *col);
  if (col) r->col = col;
  double *val = realloc(r->val, (size_t)(room * r->width) * sizeof *val);
  if (val) r->val = val;
  r->failed = !col || !val;
  if (!r->failed) r->room = room;
  return !r->failed;
}

bool kcl_rows_reserve(kcl_rows *r, int64_t count) {
  return r->count + count <= r->room || grow(r, r->count + count);
}

void kcl_rows_put(kcl_rows *r, int32_t col, const double *val) {
  if (!kcl_rows_reserve(r, 1)) return;
  r->col[r->count] = col;
  for (int q = 0; q < r->width; q++) r->val[r->count * r->width + q] = val[q];
  r->count++;
}

/* ---------------------------------------------------------------- a row from its sums */

void kcl_row_put(kcl_rows *r) {
  kcl_sums *s = &r->sums;
  kcl_sums_order(s);
  if (kcl_rows_reserve(r, s->count)) {
    for (int64_t i = 0; i < s->count; i++) r->col[r->count + i] = s->list[i];
    kcl_sums_gather(s, r->val + r->count);
    r->count += s->count;
  }
  kcl_sums_clear(s);
}

/* The places of the `most` largest moduli among `count` numbers, ascending; among equals the first. */
static void find_largest(const double *val, int64_t count, int most, int64_t *at) {
  double size[KCL_MOST_KEPT] = {0};
  int kept = 0;
  for (int64_t k = 0; k < count; k++) {
    const double now = kcl_rounded(fabs(val[k]));
    if (kept == most && !(now > size[most - 1])) continue;
    int to = kept < most ? kept++ : most - 1;
    for (; to && size[to - 1] < now; to--) size[to] = size[to - 1], at[to] = at[to - 1];
    size[to] = now, at[to] = k;
  }
  for (int i = 1; i < most; i++) {
    const int64_t k = at[i];
    int to = i;
    for (; to && at[to - 1] > k; to--) at[to] = at[to - 1];
    at[to] = k;
  }
}

static double sum_of(const double *val, int64_t count) {
  double sum = 0;
  for (int64_t k = 0; k < count; k++) sum += val[k];
  return sum;
}

/* Sums are made by ascending column: the device adds in this order, too. */
void kcl_row_put_largest(kcl_rows *r, int most) {
  const int64_t first = r->count;
  int64_t at[KCL_MOST_KEPT];
  kcl_row_put(r);
  const int64_t count = r->count - first;
  if (count <= most) return;
  int32_t *col = r->col + first;
  double *val = r->val + first;
  const double all = sum_of(val, count);
  find_largest(val, count, most, at);
  for (int i = 0; i < most; i++) col[i] = col[at[i]], val[i] = val[at[i]];
  const double kept = sum_of(val, most), scale = kept != 0 ? all / kept : 1;
  for (int i = 0; i < most; i++) val[i] *= scale;
  r->count = first + most;
}

/* ---------------------------------------------------------------- parts */

static void make_part(void *arg, kcl_sums *s, int64_t from, int64_t to) {
  making *m = arg;
  kcl_rows *r = &m->P->part[from >> m->P->shift];
  r->sums = s[0], r->inner = &s[1];
  for (int64_t i = from; i < to && !r->failed; i++) {
    m->make(m->arg, r, i);
    m->P->C->row_ptr[i + 1] = r->count;
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

/* A list begins as a block of the caller's: in glibc it then grows where the caller's memory is, and its pages are used again.
 * Threads have other arenas, which give freed pages back. */
static void begin_lists(row_parts *P, int width) {
  for (int64_t p = 0; p < P->parts; p++) {
    P->part[p] = (kcl_rows){.width = width, .refused = -1};
    kcl_rows_reserve(&P->part[p], 1);
  }
}

/* P, zero but for C, is to be freed also after a failure. width: numbers per entry. */
static int make_parts(kcl *ctx, const int64_t cols[2], int width, kcl_row_maker *make, void *arg,
                      row_parts *P) {
  making m = {.make = make, .arg = arg, .P = P};
  int rc;
  P->rows = P->C->rows, P->shift = shift_for(P->rows);
  const int64_t grain = (int64_t)1 << P->shift;
  P->parts = (P->rows + grain - 1) / grain;
  KCL_TRY(kcl_alloc(ctx, P->parts, sizeof *P->part, "the parts of a matrix", (void **)&P->part));
  KCL_TRY(kcl_alloc(ctx, P->parts, sizeof *P->first, "the parts of a matrix", (void **)&P->first));
  begin_lists(P, width);
  if (!kcl_sums_for_each(P->rows, grain, cols, make_part, &m) || failed(P))
    rc = kcl_fail(ctx, KCL_MEMORY, "out of memory: rows of a matrix");
done:
  return rc;
}

static void free_parts(row_parts *P) {
  for (int64_t p = 0; P->part && p < P->parts; p++) free(P->part[p].col), free(P->part[p].val);
  free(P->part), free(P->first), kcl_csr_free(&P->C);
}

/* ---------------------------------------------------------------- joined */

int kcl_sparse_room(kcl *ctx, kcl_csr *C) {
  for (int64_t i = 0; i < C->rows; i++) C->row_ptr[i + 1] += C->row_ptr[i];
  return kcl_sparse_entries(ctx, C, C->row_ptr[C->rows]);
}

int kcl_sparse_entries(kcl *ctx, kcl_csr *C, int64_t count) {
  C->nnz = C->stored = count;
  free(C->col), free(C->val), C->col = NULL, C->val = NULL;
  int rc = kcl_alloc_unset(ctx, C->nnz, sizeof *C->col, "column indices", (void **)&C->col);
  return rc ? rc : kcl_alloc_unset(ctx, C->nnz, kcl_type_size(C->type), "matrix values", &C->val);
}

void kcl_sparse_members(int64_t n, const int32_t *group, int64_t groups, int64_t *start,
                        int32_t *member) {
  for (int64_t i = 0; i < n; i++)
    if (group[i] >= 0) start[group[i] + 1]++;
  for (int64_t g = 0; g < groups; g++) start[g + 1] += start[g];
  for (int64_t i = 0; i < n; i++)
    if (group[i] >= 0) member[start[group[i]]++] = (int32_t)i;
  for (int64_t g = groups; g > 0; g--) start[g] = start[g - 1];
  start[0] = 0;
}

int kcl_sparse_blocks(void) {
  enum { MOST = 8 };
  return kcl_threads() < MOST ? kcl_threads() : MOST;
}

static void join_part(void *arg, int64_t from, int64_t to) {
  const row_parts *P = arg;
  const kcl_rows *r = &P->part[from >> P->shift];
  const int64_t at = P->first[from >> P->shift];
  for (int64_t i = from; i < to; i++) P->C->row_ptr[i + 1] += at;
  if (!r->count) return;
  memcpy(P->C->col + at, r->col, (size_t)r->count * sizeof *r->col);
  memcpy((double *)P->C->val + at * r->width, r->val,
         (size_t)(r->count * r->width) * sizeof *r->val);
}

static int join(kcl *ctx, row_parts *P) {
  int64_t count = 0;
  for (int64_t p = 0; p < P->parts; p++) P->first[p] = count, count += P->part[p].count;
  int rc = kcl_sparse_entries(ctx, P->C, count);
  if (!rc) kcl_for_each(P->rows, (int64_t)1 << P->shift, join_part, P);
  return rc;
}

/* What all makers of rows do. */
static int make_rows(kcl *ctx, int64_t rows, const int64_t cols[2], kcl_type type,
                     kcl_row_maker *make, void *arg, int64_t *refused, kcl_csr **out) {
  row_parts P = {0};
  int rc;
  *out = NULL;
  KCL_TRY(kcl_csr_create(ctx, rows, cols[0], 0, type, &P.C));
  KCL_TRY(make_parts(ctx, cols, kcl_type_complex(type) ? 2 : 1, make, arg, &P));
  if (refused) *refused = first_refused(&P);
  KCL_TRY(join(ctx, &P));
  *out = P.C, P.C = NULL;
done:
  free_parts(&P);
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
