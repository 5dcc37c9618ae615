/* Is a_ij = a_ji, conj(a_ji) or, off a constant diagonal, -conj(a_ji)? In the order of the rows i, the image of entry (i, j)
 * below the diagonal is the next entry beyond the diagonal of row j, so one pass in the order of the entries compares
 * all, and no transposed matrix is needed. Rows are divided among threads; images in rows of another thread are looked up
 * by bisection. */
#include "core/matrix/structure.h"

/* ---------------------------------------------------------------- exactly */

/* One bit for each symmetry that A does not have. */
enum { NOT_SYMMETRIC = 1, NOT_HERMITIAN = 2, NOT_SHIFTED_SKEW = 4, NOT_SKEW = 8, NOTHING = 15 };

typedef struct mirror_comparing {
  const kcl_csr *A;
  int64_t *next; /* [rows] the first entry beyond the diagonal whose image is yet to come */
  double shift;  /* the first element of the diagonal */
  _Atomic int64_t below, above; /* entries beside the diagonal */
  _Atomic unsigned broken;
} mirror_comparing;

static inline unsigned compare_images(const double a[2], const double b[2]) {
  return (a[0] == b[0] && a[1] == b[1] ? 0 : NOT_SYMMETRIC) |
         (a[0] == b[0] && a[1] == -b[1] ? 0 : NOT_HERMITIAN) |
         (a[0] == -b[0] && a[1] == b[1] ? 0 : NOT_SHIFTED_SKEW) |
         (a[0] == -b[0] && a[1] == -b[1] ? 0 : NOT_SKEW);
}

static inline unsigned look_at_diagonal(const double a[2], double shift) {
  return (a[0] == a[0] && a[1] == a[1] ? 0 : NOT_SYMMETRIC) |
         (a[0] == a[0] && a[1] == 0 ? 0 : NOT_HERMITIAN) |
         (a[0] == shift && a[1] == 0 ? 0 : NOT_SHIFTED_SKEW) |
         (a[0] == 0 && a[1] == 0 ? 0 : NOT_SKEW);
}

/* Rows [from, to), which one thread has. type is a constant at each call. */
static inline void compare_typed(mirror_comparing *c, const kcl_type type, int64_t from,
                                 int64_t to) {
  const int64_t *const row_ptr = c->A->row_ptr;
  const int32_t *const col = c->A->col;
  const void *const val = c->A->val;
  int64_t *const next = c->next, below = 0, above = 0;
  const double shift = c->shift;
  unsigned broken = c->broken;
  for (int64_t i = from, k = row_ptr[from]; i < to && broken != NOTHING; i++) {
    const int64_t first = k, end = row_ptr[i + 1];
    double a[2], b[2];
    for (; k < end && col[k] < i; k++) {
      const int64_t j = col[k], last = row_ptr[j + 1],
                    image = j >= from ? next[j]++ : kcl_first_from(col, row_ptr[j], last, i);
      if (image >= last || col[image] != i) {
        broken = NOTHING;
        break;
      }
      kcl_element(type, val, k, a), kcl_element(type, val, image, b);
      broken |= compare_images(a, b);
    }
    below += k - first;
    a[0] = a[1] = 0;
    if (k < end && col[k] == i) kcl_element(type, val, k++, a);
    broken |= look_at_diagonal(a, shift);
    next[i] = k;
    above += end - k;
    k = end;
  }
  c->below += below;
  c->above += above;
  c->broken |= broken;
}

static void compare_rows(void *arg, int64_t from, int64_t to) {
  mirror_comparing *c = arg;
  switch (c->A->type) {
  case KCL_S: compare_typed(c, KCL_S, from, to); break;
  case KCL_D: compare_typed(c, KCL_D, from, to); break;
  case KCL_C: compare_typed(c, KCL_C, from, to); break;
  case KCL_Z: compare_typed(c, KCL_Z, from, to); break;
  }
}

static kcl_mirror mirror_without(unsigned broken) {
  return (kcl_mirror){.symmetric = !(broken & NOT_SYMMETRIC),
                      .hermitian = !(broken & NOT_HERMITIAN),
                      .shifted_skew = !(broken & NOT_SHIFTED_SKEW),
                      .skew = !(broken & NOT_SKEW)};
}

/* The shift of c I + S, if A is that. */
static double first_shift(const kcl_csr *A) {
  double first[2] = {0, 0};
  if (A->rows) kcl_find_entry(A, 0, 0, first);
  return first[0];
}

int kcl_mirrored(kcl_context *ctx, const kcl_csr *A, kcl_mirror *out) {
  KCL_OWNED int64_t *next = NULL;
  *out = (kcl_mirror){0};
  if (A->rows != A->cols) return KCL_OK;
  KCL_CALL(kcl_alloc_unset(ctx, A->rows, sizeof *next, "places in rows", (void **)&next));
  mirror_comparing c = {.A = A, .next = next, .shift = first_shift(A)};
  kcl_for(A->rows, KCL_FEW_ROWS, compare_rows, &c);
  if (c.below == c.above) *out = mirror_without(c.broken); /* those above have images, too */
  return KCL_OK;
}

/* ---------------------------------------------------------------- in runs of equal rows
 * Rows [a, b) of a run have the entry at offset o < 0; its images are in rows [a + o, b + o), at offset -o. Those lie in a few
 * runs, and two distinct rows that were compared at that offset need not be compared again. */

typedef struct met_rows { /* of an entry of a distinct row */
  int64_t run;            /* the images of the last run began in it */
  int32_t code;           /* the distinct row it was compared with last; -1: none */
} met_rows;

typedef struct run_comparing {
  const kcl_csr *A;
  const kcl_repeats *rows;
  const int64_t *run;
  unsigned broken;
} run_comparing;

/* Entry k of a distinct row, at this offset, with its image in row i. */
static void compare_offset(run_comparing *c, int64_t k, int64_t i, int64_t offset) {
  double a[2], b[2];
  kcl_element(c->A->type, c->A->val, k, a);
  c->broken |= kcl_find_entry(c->A, i, i - offset, b) ? compare_images(a, b) : NOTHING;
}

static void compare_entry(run_comparing *c, int64_t n, int64_t k, int64_t offset, met_rows *m) {
  const int64_t *run = c->run, first = run[n] + offset, end = run[n + 1] + offset;
  while (run[m->run + 1] <= first) m->run++;
  for (int64_t q = m->run; run[q] < end; q++) {
    const int32_t code = c->rows->code[run[q]];
    if (code != m->code) compare_offset(c, k, c->rows->row[code], offset);
    m->code = code;
  }
}

/* All runs; met: [entries of distinct rows], those of row p from start[p] on. */
static void compare_all_runs(run_comparing *c, const int64_t *start, met_rows *met) {
  const kcl_csr *A = c->A;
  const double shift = first_shift(A);
  int64_t apart = 0; /* entries below the diagonal, minus those above it */
  for (int64_t n = 0; n < c->rows->runs && c->broken != NOTHING; n++) {
    const int32_t p = c->rows->code[c->run[n]];
    const int64_t i = c->rows->row[p], end = A->row_ptr[i + 1], times = c->run[n + 1] - c->run[n];
    int64_t k = A->row_ptr[i];
    met_rows *m = met + start[p];
    for (; k < end && A->col[k] < i; k++, apart += times)
      compare_entry(c, n, k, A->col[k] - i, m++);
    double a[2] = {0, 0};
    if (k < end && A->col[k] == i) kcl_element(A->type, A->val, k++, a);
    c->broken |= look_at_diagonal(a, shift);
    apart -= times * (end - k);
  }
  if (apart) c->broken = NOTHING;
}

int kcl_mirrored_in_runs(kcl_context *ctx, const kcl_distinct_rows *d, kcl_mirror *out) {
  run_comparing c = {.A = d->A, .rows = &d->found, .run = d->run};
  KCL_OWNED int64_t *start = NULL; /* [distinct rows + 1] */
  KCL_OWNED met_rows *met = NULL;
  *out = (kcl_mirror){0};
  if (d->A->rows != d->A->cols) return KCL_OK;
  KCL_CALL(kcl_alloc(ctx, d->found.count + 1, sizeof *start, "distinct rows", (void **)&start));
  for (int64_t p = 0; p < d->found.count; p++)
    start[p + 1] = start[p] + kcl_row_length(d->A, d->found.row[p]);
  KCL_CALL(kcl_alloc(ctx, start[d->found.count], sizeof *met, "distinct rows", (void **)&met));
  for (int64_t k = 0; k < start[d->found.count]; k++) met[k].code = -1;
  compare_all_runs(&c, start, met);
  *out = mirror_without(c.broken);
  return KCL_OK;
}

/* ---------------------------------------------------------------- in runs of rows with the same offsets
 * The images of one entry of a run lie in a few runs, at equal distances in each. */

/* Entries at a, a + a_step ..., with their images at b, b + b_step ... */
static inline unsigned compare_series_typed(const void *val, const kcl_type type, int64_t a,
                                            int64_t a_step, int64_t b, int64_t b_step,
                                            int64_t count) {
  unsigned broken = 0;
  for (int64_t r = 0; r < count; r++) {
    double entry[2], image[2];
    kcl_element(type, val, a + r * a_step, entry), kcl_element(type, val, b + r * b_step, image);
    broken |= compare_images(entry, image);
  }
  return broken;
}

static unsigned compare_series(const kcl_csr *A, int64_t a, int64_t a_step, int64_t b,
                               int64_t b_step, int64_t count) {
  switch (A->type) {
  case KCL_S: return compare_series_typed(A->val, KCL_S, a, a_step, b, b_step, count);
  case KCL_D: return compare_series_typed(A->val, KCL_D, a, a_step, b, b_step, count);
  case KCL_C: return compare_series_typed(A->val, KCL_C, a, a_step, b, b_step, count);
  default: return compare_series_typed(A->val, KCL_Z, a, a_step, b, b_step, count);
  }
}

/* The entry k of row i, and that of the `count` rows after it in its run, at this offset, with the images in their runs. */
static unsigned compare_with_images(const kcl_mirror_search *c, int64_t k, int64_t i, int64_t count,
                                    int64_t offset) {
  const kcl_csr *A = c->A;
  const int64_t step = kcl_row_length(A, i), end = i + offset + count;
  unsigned broken = 0;
  int64_t n = kcl_offset_run_of(c->runs, i + offset);
  for (int64_t j = i + offset; j < end && broken != NOTHING; n++) {
    const int64_t last = c->runs->first[n + 1] < end ? c->runs->first[n + 1] : end,
                  row_end = A->row_ptr[j + 1],
                  image = kcl_first_from(A->col, A->row_ptr[j], row_end, j - offset);
    if (image == row_end || A->col[image] != j - offset) return NOTHING;
    broken |= compare_series(A, k, step, image, kcl_row_length(A, j), last - j);
    k += (last - j) * step, j = last;
  }
  return broken;
}

/* Rows [i, end) of one run. */
static unsigned compare_run(const kcl_mirror_search *c, int64_t i, int64_t end, int64_t *apart) {
  const kcl_csr *A = c->A;
  const int64_t length = kcl_row_length(A, i), count = end - i;
  unsigned broken = 0;
  bool main = false;
  for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i] + length && broken != NOTHING; k++) {
    const int64_t offset = A->col[k] - i;
    *apart += offset < 0 ? count : offset > 0 ? -count : 0;
    main |= offset == 0;
    if (offset < 0) broken |= compare_with_images(c, k, i, count, offset);
    for (int64_t r = 0; offset == 0 && r < count; r++) {
      double a[2];
      kcl_element(A->type, A->val, k + r * length, a);
      broken |= look_at_diagonal(a, c->shift);
    }
  }
  return main ? broken : broken | look_at_diagonal((double[]){0, 0}, c->shift);
}

kcl_mirror_search kcl_mirror_search_begin(const kcl_csr *A, const kcl_offset_runs *runs) {
  return (kcl_mirror_search){.A = A, .runs = runs, .shift = first_shift(A)};
}

void kcl_mirror_search_rows(kcl_mirror_search *s, int64_t i, int64_t end) {
  if (s->broken != NOTHING) s->broken |= compare_run(s, i, end, &s->apart);
}

kcl_mirror kcl_mirror_search_end(const kcl_mirror_search *s) {
  return mirror_without(s->apart ? NOTHING : s->broken);
}
