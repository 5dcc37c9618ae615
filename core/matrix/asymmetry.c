/* kcl_stats.asymmetry: how far A is from A^H, up to rounding. The order of the comparisons is that of symmetry.c. */
#include "core/matrix/structure.h"
#include <float.h>

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
  KCL_OWNED double *largest = NULL;
  KCL_OWNED int64_t *next = NULL;
  KCL_CALL(kcl_alloc_unset(ctx, A->rows, sizeof *largest, "row maxima", (void **)&largest));
  KCL_CALL(kcl_alloc_unset(ctx, A->rows, sizeof *next, "places in rows", (void **)&next));
  rounding r = {A, largest, next, 1e6 * unit};
  kcl_for(A->rows, KCL_FEW_ROWS, row_maxima, &r);
  *out = kcl_largest(A->rows, KCL_FEW_ROWS, difference, &r) / unit;
  return KCL_OK;
}
