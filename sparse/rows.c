/* Matrices made row by row: parts of rows are made side by side, each in a list of its own. A part moves to the matrix when all
 * parts before it have their places there, mostly while it is in the cache, and its list serves another part.
 */
#include "sparse/sparse.h"
#include <pthread.h>

enum { LEAST_SHIFT = 9 /* 2^LEAST_SHIFT rows per part */, PARTS_PER_THREAD = 8 /* per thread */ };
enum { SAMPLE = 128 /* rows, whose entries tell how many there will be */ };

/* Part p makes rows [p << shift, (p + 1) << shift). Until the part has a place, row i ends at C->row_ptr[i + 1] in its list. */
typedef struct row_parts {
  kcl_row_maker *make;
  void *arg;
  int64_t rows, parts;
  int shift, width;    /* numbers per entry */
  kcl_row_list *part;  /* [parts] lists of those that were made */
  bool *made;          /* [parts] */
  kcl_row_list *spare; /* [parts + those made at first] lists for others */
  int64_t spares;
  int64_t placed, count; /* the first parts, which have places in C, and their entries */
  int64_t capacity;      /* entries that C has room for; 0: none yet */
  bool failed;
  int64_t refused;
  kcl_csr *C;
  pthread_t caller;
  pthread_mutex_t lock; /* of all above but `part` of a part that is being made */
} row_parts;

static bool grow_list(kcl_row_list *r, int64_t count) {
  int64_t capacity = r->capacity ? r->capacity : 16 << LEAST_SHIFT;
  while (capacity < count) capacity *= 2;
  if (r->failed) return false;
  int32_t *col = realloc(r->col, (size_t)capacity * sizeof *col);
  if (col) r->col = col;
  double *val = realloc(r->val, (size_t)(capacity * r->width) * sizeof *val);
  if (val) r->val = val;
  r->failed = !col || !val;
  if (!r->failed) r->capacity = capacity;
  return !r->failed;
}

bool kcl_row_list_reserve(kcl_row_list *r, int64_t count) {
  return r->count + count <= r->capacity || grow_list(r, r->count + count);
}

void kcl_row_list_put(kcl_row_list *r, int32_t col, const double *val) {
  if (!kcl_row_list_reserve(r, 1)) return;
  r->col[r->count] = col;
  for (int q = 0; q < r->width; q++) r->val[r->count * r->width + q] = val[q];
  r->count++;
}

/* ---------------------------------------------------------------- a row from its sums */

void kcl_row_put(kcl_row_list *r) {
  kcl_accumulator *s = &r->sums;
  kcl_accumulator_order(s);
  if (kcl_row_list_reserve(r, s->count)) {
    for (int64_t i = 0; i < s->count; i++) r->col[r->count + i] = s->list[i];
    kcl_accumulator_gather(s, r->val + r->count);
    r->count += s->count;
  }
  kcl_accumulator_clear(s);
}

/* The places of the `most` largest moduli among `count` numbers, ascending; among equals the first. */
static void find_largest_moduli(const double *val, int64_t count, int most, int64_t *at) {
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

static double sum_of_values(const double *val, int64_t count) {
  double sum = 0;
  for (int64_t k = 0; k < count; k++) sum += val[k];
  return sum;
}

/* Sums are made by ascending column: the device adds in this order, too. */
void kcl_row_put_largest(kcl_row_list *r, int most) {
  const int64_t first = r->count;
  int64_t at[KCL_MOST_KEPT];
  kcl_row_put(r);
  const int64_t count = r->count - first;
  if (count <= most) return;
  int32_t *col = r->col + first;
  double *val = r->val + first;
  const double all = sum_of_values(val, count);
  find_largest_moduli(val, count, most, at);
  for (int i = 0; i < most; i++) col[i] = col[at[i]], val[i] = val[at[i]];
  const double kept = sum_of_values(val, most), scale = kept != 0 ? all / kept : 1;
  for (int i = 0; i < most; i++) val[i] *= scale;
  r->count = first + most;
}

/* ---------------------------------------------------------------- parts */

/* Lists begin as blocks of the caller's: in glibc they then grow where the caller's memory is, and its pages are used again.
 * Threads have other arenas, which give freed pages back. */
static kcl_row_list take_list(row_parts *P) {
  kcl_row_list list = {.width = P->width};
  pthread_mutex_lock(&P->lock);
  if (P->spares) list = P->spare[--P->spares];
  pthread_mutex_unlock(&P->lock);
  list.refused = -1;
  return list;
}

static void move_made_part(row_parts *P, int64_t p, int64_t at) {
  const kcl_row_list *r = &P->part[p];
  const int64_t from = p << P->shift, to = (p + 1) << P->shift;
  for (int64_t i = from; i < to && i < P->rows; i++) P->C->row_ptr[i + 1] += at;
  if (!r->count) return;
  memcpy(P->C->col + at, r->col, (size_t)r->count * sizeof *r->col);
  memcpy((double *)P->C->val + at * r->width, r->val,
         (size_t)(r->count * r->width) * sizeof *r->val);
}

static void give_list(row_parts *P, int64_t p) {
  kcl_row_list *r = &P->part[p];
  P->spare[P->spares++] =
      (kcl_row_list){.col = r->col, .val = r->val, .capacity = r->capacity, .width = r->width};
  *r = (kcl_row_list){0};
}

/* Makes room for the whole matrix, extrapolated from this part, and a fourth more. */
static void reserve_for_parts(row_parts *P, int64_t count) {
  const int64_t capacity = 1 + count * P->parts * 5 / 4;
  kcl_csr *C = P->C;
  int32_t *col = malloc((size_t)capacity * sizeof *C->col);
  double *val = malloc((size_t)(capacity * P->width) * sizeof(double));
  if (!col || !val) {
    free(col), free(val);
    return;
  }
  free(C->col), free(C->val);
  C->col = col;
  C->val = val;
  P->capacity = capacity;
}

static void note_part(row_parts *P, int64_t p) {
  const kcl_row_list *r = &P->part[p];
  P->made[p] = true, P->failed |= r->failed;
  if (r->refused >= 0 && (P->refused < 0 || r->refused < P->refused)) P->refused = r->refused;
}

/* Gives places to all parts that can have one now; returns where they end. */
static int64_t give_places(row_parts *P) {
  for (; P->placed < P->parts && P->made[P->placed]; P->placed++) {
    const int64_t count = P->count + P->part[P->placed].count;
    if (count > P->capacity) break;
    P->count = count;
  }
  return P->placed;
}

/* Moves part p, which has been made, and the parts that waited for it, to their places. */
static void place_made_part(row_parts *P, int64_t p) {
  pthread_mutex_lock(&P->lock);
  note_part(P, p);
  if (P->parts > 1 && !P->capacity && pthread_equal(P->caller, pthread_self()))
    reserve_for_parts(P, P->part[p].count);
  const int64_t first = P->placed, before = P->count, end = give_places(P);
  pthread_mutex_unlock(&P->lock);
  for (int64_t q = first, at = before; q < end; at += P->part[q].count, q++)
    move_made_part(P, q, at);
  pthread_mutex_lock(&P->lock);
  for (int64_t q = first; q < end; q++) give_list(P, q);
  pthread_mutex_unlock(&P->lock);
}

static void make_part(void *arg, kcl_accumulator *s, int64_t from, int64_t to) {
  row_parts *P = arg;
  kcl_row_list r = take_list(P);
  r.sums = s[0], r.inner = &s[1];
  for (int64_t i = from; i < to && !r.failed; i++) {
    P->make(P->arg, &r, i);
    P->C->row_ptr[i + 1] = r.count;
    if (i - from == SAMPLE) kcl_row_list_reserve(&r, r.count * (to - i) / SAMPLE);
  }
  free(r.scratch), r.scratch = NULL;
  s[0] = r.sums;
  P->part[from >> P->shift] = r;
  place_made_part(P, from >> P->shift);
}

static int shift_for(int64_t rows) {
  int shift = LEAST_SHIFT;
  while (rows >> shift > PARTS_PER_THREAD * kcl_threads()) shift++;
  return shift;
}

int64_t kcl_row_list_grain(int64_t rows) { return (int64_t)1 << shift_for(rows); }

static int begin_parts(kcl_context *ctx, row_parts *P) {
  const char *what = "the parts of a matrix";
  const int64_t grain = kcl_row_list_grain(P->rows), spares = 2 * kcl_threads();
  P->shift = shift_for(P->rows), P->parts = (P->rows + grain - 1) / grain;
  KCL_CALL(kcl_alloc(ctx, P->parts, sizeof *P->part, what, (void **)&P->part));
  KCL_CALL(kcl_alloc(ctx, P->parts, sizeof *P->made, what, (void **)&P->made));
  KCL_CALL(kcl_alloc(ctx, P->parts + spares, sizeof *P->spare, what, (void **)&P->spare));
  for (; P->spares < spares && P->spares < P->parts; P->spares++) {
    P->spare[P->spares].width = P->width;
    kcl_row_list_reserve(&P->spare[P->spares], 1);
  }
  return KCL_OK;
}

static void free_lists(kcl_row_list *list, int64_t count) {
  for (int64_t p = 0; list && p < count; p++) free(list[p].col), free(list[p].val);
  free(list);
}

static void free_row_parts(row_parts *P) {
  free_lists(P->part, P->parts), free_lists(P->spare, P->spares);
  free(P->made);
  kcl_csr_free(&P->C);
  pthread_mutex_destroy(&P->lock);
}

/* ---------------------------------------------------------------- joined */

int kcl_sparse_shape(kcl_context *ctx, kcl_csr *C) {
  for (int64_t i = 0; i < C->rows; i++) C->row_ptr[i + 1] += C->row_ptr[i];
  return kcl_sparse_entries(ctx, C, C->row_ptr[C->rows]);
}

int kcl_sparse_entries(kcl_context *ctx, kcl_csr *C, int64_t count) {
  C->nnz = C->stored = count;
  free(C->col);
  free(C->val);
  C->val = NULL;
  KCL_CALL(kcl_alloc_unset(ctx, C->nnz, sizeof *C->col, "column indices", (void **)&C->col));
  return kcl_alloc_unset(ctx, C->nnz, kcl_type_size(C->type), "matrix values", &C->val);
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
  enum { MOST_WAITING = 8 };
  return kcl_threads() < MOST_WAITING ? kcl_threads() : MOST_WAITING;
}

/* Room for exactly as many entries as there are, of which the first have been stored. */
static int fit_entries(kcl_context *ctx, row_parts *P) {
  kcl_csr *C = P->C;
  int64_t count = P->count;
  for (int64_t p = P->placed; p < P->parts; p++) count += P->part[p].count;
  if (!P->capacity || !count) return kcl_sparse_entries(ctx, C, count);
  int32_t *col = realloc(C->col, (size_t)count * sizeof *C->col);
  if (col) C->col = col;
  double *val = realloc(C->val, (size_t)(count * P->width) * sizeof(double));
  if (val) C->val = val;
  C->nnz = C->stored = count;
  return (col && val) || count <= P->capacity
             ? KCL_OK
             : kcl_fail(ctx, KCL_MEMORY, "out of memory: matrix entries");
}

static void move_parts(void *arg, int64_t from, int64_t to) {
  row_parts *P = arg;
  int64_t at = P->count;
  for (int64_t p = P->placed; p < P->placed + to; at += P->part[p].count, p++)
    if (p >= P->placed + from) move_made_part(P, p, at);
}

/* Joins all parts to the matrix, also the ones that found no room before. */
static int join_parts(kcl_context *ctx, row_parts *P) {
  int rc = fit_entries(ctx, P);
  if (!rc) kcl_for_each(P->parts - P->placed, 1, move_parts, P);
  return rc;
}

/* Makes all rows in parallel: the common part of kcl_row_list_make and kcl_row_list_make_through. */
static int make_all_rows(kcl_context *ctx, int64_t rows, const int64_t cols[2], kcl_type type,
                         kcl_row_maker *make, void *arg, int64_t *refused, kcl_csr **out) {
  KCL_OWNED_BY(free_row_parts)
  row_parts P = {.make = make,
                 .arg = arg,
                 .rows = rows,
                 .width = kcl_type_complex(type) ? 2 : 1,
                 .refused = -1,
                 .caller = pthread_self()};
  *out = NULL;
  pthread_mutex_init(&P.lock, NULL);
  KCL_CALL(kcl_csr_create(ctx, rows, cols[0], 0, type, &P.C));
  KCL_CALL(begin_parts(ctx, &P));
  if (!kcl_accumulator_for_each(rows, kcl_row_list_grain(rows), cols, make_part, &P) || P.failed)
    return kcl_fail(ctx, KCL_MEMORY, "out of memory: rows of a matrix");
  if (refused) *refused = P.refused;
  KCL_CALL(join_parts(ctx, &P));
  *out = P.C, P.C = NULL;
  return KCL_OK;
}

int kcl_row_list_make(kcl_context *ctx, int64_t rows, int64_t cols, kcl_type type,
                      kcl_row_maker *make, void *arg, int64_t *refused, kcl_csr **out) {
  return make_all_rows(ctx, rows, (const int64_t[]){cols, 0}, type, make, arg, refused, out);
}

int kcl_row_list_make_through(kcl_context *ctx, int64_t rows, int64_t inner, int64_t cols,
                              kcl_row_maker *make, void *arg, kcl_csr **out) {
  return make_all_rows(ctx, rows, (const int64_t[]){cols, inner}, KCL_D, make, arg, NULL, out);
}

int kcl_sparse_wide(kcl_context *ctx, const kcl_csr *A, kcl_csr **owned, const kcl_csr **out) {
  const kcl_type type = kcl_wide_type(A->type);
  *owned = NULL, *out = A;
  if (A->type == type) return KCL_OK;
  int rc = kcl_csr_convert(ctx, A, type, owned);
  if (!rc) *out = *owned;
  return rc;
}
