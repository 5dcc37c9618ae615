/* Is a_ij = a_ji, conj(a_ji) or, off a constant diagonal, -conj(a_ji)? In the order of the rows i, the image of entry (i, j)
 * below the diagonal is the next entry beyond the diagonal of row j, so one pass in the order of the entries compares
 * all, and no transposed matrix is needed. Rows are divided among threads; images in rows of another thread are looked up
 * by bisection. */
#include "core/matrix/structure.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>

bool kcl_find_entry(const kcl_csr *A, int64_t i, int64_t j, double z[2]) {
  const int64_t end = A->row_ptr[i + 1], k = kcl_first_from(A->col, A->row_ptr[i], end, j);
  z[0] = z[1] = 0;
  if (k == end || A->col[k] != j) return false;
  kcl_element(A->type, A->val, k, z);
  return true;
}

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
    next[i] = k, above += end - k, k = end;
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
  mirror_comparing c = {.A = A, .shift = first_shift(A)};
  *out = (kcl_mirror){0};
  if (A->rows != A->cols) return KCL_OK;
  int rc = kcl_alloc_unset(ctx, A->rows, sizeof *c.next, "places in rows", (void **)&c.next);
  if (rc) return rc;
  kcl_for(A->rows, KCL_FEW_ROWS, compare_rows, &c);
  if (c.below == c.above) *out = mirror_without(c.broken); /* those above have images, too */
  free(c.next);
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
  int64_t *start = NULL; /* [distinct rows + 1] */
  met_rows *met = NULL;
  int rc;
  *out = (kcl_mirror){0};
  if (d->A->rows != d->A->cols) return KCL_OK;
  KCL_TRY(kcl_alloc(ctx, d->found.count + 1, sizeof *start, "distinct rows", (void **)&start));
  for (int64_t p = 0; p < d->found.count; p++)
    start[p + 1] = start[p] + kcl_row_length(d->A, d->found.row[p]);
  KCL_TRY(kcl_alloc(ctx, start[d->found.count], sizeof *met, "distinct rows", (void **)&met));
  for (int64_t k = 0; k < start[d->found.count]; k++) met[k].code = -1;
  compare_all_runs(&c, start, met);
  *out = mirror_without(c.broken);
done:
  free(start), free(met);
  return rc;
}

/* ---------------------------------------------------------------- up to rounding */

typedef struct rounding {
  const kcl_csr *A;
  double *largest; /* [rows] modulus of each row */
  int64_t *next;   /* [rows] as in mirror_comparing */
  double enough;   /* certainly not rounding */
} rounding;

static void row_maxima(void *arg, int64_t from, int64_t to) {
  const rounding *r = arg;
  for (int64_t i = from; i < to; i++) {
    double largest = 0;
    for (int64_t k = r->A->row_ptr[i]; k < r->A->row_ptr[i + 1]; k++) {
      const double a = kcl_abs(r->A->type, r->A->val, k);
      if (a > largest) largest = a;
    }
    r->largest[i] = largest;
  }
}

/* |a_ij - conj(a_ji)| relative to the largest modulus of rows i and j; image: the place of a_ji, or -1. */
static inline double apart(const rounding *r, const kcl_type type, int64_t i, int64_t k,
                           int64_t image) {
  const double *largest = r->largest;
  const int64_t j = r->A->col[k];
  double a[2], b[2] = {0, 0};
  kcl_element(type, r->A->val, k, a);
  if (image >= 0) kcl_element(type, r->A->val, image, b);
  if (a[0] == b[0] && a[1] == -b[1]) return 0;
  const double distance =
      kcl_type_complex(type) ? hypot(a[0] - b[0], a[1] + b[1]) : fabs(a[0] - b[0]);
  return distance / (largest[i] > largest[j] ? largest[i] : largest[j]);
}

/* The place of a_ji, or -1. *hint: its number in the row; that of the image before is often right. */
static inline int64_t find_image(const kcl_csr *A, int64_t i, int64_t j, int64_t *hint) {
  const int64_t first = A->row_ptr[j], end = A->row_ptr[j + 1], guess = first + *hint;
  if (guess < end && A->col[guess] == i) return guess;
  const int64_t k = kcl_first_from(A->col, first, end, i);
  *hint = k - first;
  return k < end && A->col[k] == i ? k : -1;
}

/* Compares entries in rows [from, to) with their images. Those below the diagonal meet those beyond it as in compare_typed; entries that were
 * passed over, having no image, and those that are left at the end are looked up. */
static inline double difference_typed(const rounding *r, const kcl_type type, int64_t from,
                                      int64_t to) {
  const int64_t *const row_ptr = r->A->row_ptr;
  const int32_t *const col = r->A->col;
  int64_t *const next = r->next;
  int64_t hint = 0;
  double most = 0, now;
  for (int64_t i = from, k = row_ptr[from]; i < to && most < r->enough; i++) {
    for (; k < row_ptr[i + 1] && col[k] < i; k++) {
      const int64_t j = col[k];
      int64_t image = -1;
      for (; j >= from && next[j] < row_ptr[j + 1] && col[next[j]] < i; next[j]++)
        if ((now = apart(r, type, j, next[j], -1)) > most) most = now;
      if (j < from)
        image = find_image(r->A, i, j, &hint);
      else if (next[j] < row_ptr[j + 1] && col[next[j]] == i)
        image = next[j]++;
      if ((now = apart(r, type, i, k, image)) > most) most = now;
    }
    if (k < row_ptr[i + 1] && col[k] == i) {
      if ((now = apart(r, type, i, k, k)) > most) most = now;
      k++;
    }
    next[i] = k, k = row_ptr[i + 1];
  }
  for (int64_t i = from; i < to && most < r->enough; i++)
    for (int64_t k = next[i]; k < row_ptr[i + 1]; k++)
      if ((now = apart(r, type, i, k, find_image(r->A, i, col[k], &hint))) > most) most = now;
  return most;
}

static double difference(const void *arg, int64_t from, int64_t to) {
  const rounding *r = arg;
  if (from >= to) return 0;
  switch (r->A->type) {
  case KCL_S: return difference_typed(r, KCL_S, from, to);
  case KCL_D: return difference_typed(r, KCL_D, from, to);
  case KCL_C: return difference_typed(r, KCL_C, from, to);
  default: return difference_typed(r, KCL_Z, from, to);
  }
}

int kcl_asymmetry(kcl_context *ctx, const kcl_csr *A, double *out) {
  const double unit = A->type == KCL_S || A->type == KCL_C ? FLT_EPSILON : DBL_EPSILON;
  rounding r = {.A = A, .enough = 1e6 * unit};
  int rc;
  KCL_TRY(kcl_alloc_unset(ctx, A->rows, sizeof *r.largest, "row maxima", (void **)&r.largest));
  KCL_TRY(kcl_alloc_unset(ctx, A->rows, sizeof *r.next, "places in rows", (void **)&r.next));
  kcl_for(A->rows, KCL_FEW_ROWS, row_maxima, &r);
  *out = kcl_largest(A->rows, KCL_FEW_ROWS, difference, &r) / unit;
done:
  free(r.largest), free(r.next);
  return rc;
}
