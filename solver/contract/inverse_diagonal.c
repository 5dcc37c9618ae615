/* The inverse of A's diagonal, row by row; for runs of equal rows once each; for runs of rows with the same offsets without columns. */
#include "core/matrix/repeats.h"
#include "solver/contract/precond.h"

typedef struct inverting {
  const kcl_csr *A;
  const int64_t *run;             /* the first rows of runs of equal ones, and A's rows; or NULL */
  const kcl_offset_runs *offsets; /* or NULL */
  double *d;
  _Atomic int64_t zero; /* the first row with none or 0 on the diagonal */
} inverting;

static void invert_diagonal(void *arg, int64_t from, int64_t to) {
  inverting *v = arg;
  const kcl_csr *A = v->A;
  for (int64_t i = from; i < to; i++) {
    double a[2];
    int64_t k = A->row_ptr[i];
    const int64_t end = A->row_ptr[i + 1];
    while (k < end && A->col[k] < i) k++;
    const double size = k < end && A->col[k] == i ? kcl_abs(A->type, A->val, k) : 0;
    if (size == 0) {
      kcl_lower(&v->zero, i);
      return;
    }
    kcl_element(A->type, A->val, k, a);
    if (kcl_type_complex(A->type))
      v->d[2 * i] = a[0] / size / size, v->d[2 * i + 1] = -a[1] / size / size;
    else
      v->d[i] = 1 / a[0];
  }
}

/* Rows of a run have the diagonal entry of its first. */
static void invert_runs(void *arg, int64_t from, int64_t to) {
  const inverting *v = arg;
  const int width = kcl_type_complex(v->A->type) ? 2 : 1;
  for (int64_t n = from; n < to; n++) {
    const int64_t first = v->run[n];
    invert_diagonal(arg, first, first + 1);
    for (int64_t i = width * (first + 1); i < width * v->run[n + 1]; i++) v->d[i] = v->d[i - width];
  }
}

/* Rows [from, to), whose diagonal entries are `step` apart from entry k on: false where one is 0. */
static inline bool invert_series_typed(const inverting *v, const kcl_type type, int64_t k,
                                       int64_t step, int64_t from, int64_t to) {
  bool zero = false;
  for (int64_t i = from; i < to; i++, k += step) {
    double a[2];
    kcl_element(type, v->A->val, k, a);
    zero |= a[0] == 0, v->d[i] = 1 / a[0];
  }
  return !zero;
}

/* Rows [from, to) of one run of a real A: false where a row has no diagonal entry or 0. */
static bool invert_series(const inverting *v, int64_t from, int64_t to) {
  const kcl_csr *A = v->A;
  const int64_t end = A->row_ptr[from + 1], step = end - A->row_ptr[from],
                k = kcl_first_from(A->col, A->row_ptr[from], end, from);
  if (k == end || A->col[k] != from) return false;
  return A->type == KCL_S ? invert_series_typed(v, KCL_S, k, step, from, to)
                          : invert_series_typed(v, KCL_D, k, step, from, to);
}

static void invert_by_offsets(void *arg, int64_t from, int64_t to) {
  const inverting *v = arg;
  int64_t n = from < to ? kcl_offset_run_of(v->offsets, from) : 0;
  for (int64_t i = from, end; i < to; i = end, n++) {
    end = v->offsets->first[n + 1] < to ? v->offsets->first[n + 1] : to;
    if (!invert_series(v, i, end)) invert_diagonal(arg, i, end);
  }
}

int kcl_precond_inverse_diagonal(kcl_preconditioner *M, const kcl_csr *A,
                                 const kcl_distinct_rows *distinct, const kcl_offset_runs *offsets,
                                 double **out) {
  const kcl_type type = kcl_wide_type(A->type);
  const bool in_runs = kcl_distinct_rows_listed(distinct, A);
  inverting v = {.A = A,
                 .zero = A->rows,
                 .run = in_runs ? distinct->run : NULL,
                 .offsets = kcl_type_complex(A->type) ? NULL : offsets};
  int rc = kcl_alloc_unset(M->ctx, A->rows, kcl_type_size(type), "the diagonal", (void **)&v.d);
  if ((*out = v.d) == NULL) return rc;
  if (in_runs)
    kcl_for(distinct->found.runs, KCL_FEW_ROWS, invert_runs, &v);
  else if (kcl_offset_runs_listed(v.offsets))
    kcl_for(A->rows, KCL_FEW_ROWS, invert_by_offsets, &v);
  else
    kcl_for(A->rows, KCL_FEW_ROWS, invert_diagonal, &v);
  if (v.zero == A->rows) return KCL_OK;
  free(*out), *out = NULL;
  return kcl_fail(
      M->ctx, KCL_USAGE,
      "%s divides by the diagonal, and row %lld has none or zero there: use --precond none",
      M->kind->name, (long long)v.zero + 1);
}
