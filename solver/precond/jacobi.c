/* Jacobi: M = diag(A), z_i = r_i / a_ii (Jacobi 1845; Saad 2003, 10.2). For least squares diag(A^H A),
 * the squares of the norms of A's columns (Bjorck 1996, 7.4.1): columns are scaled to norm 1.
 * Bytes: 2 n s more per application (the inverse diagonal read, z written), z and r being in registers.
 */
#include "solver/methods/method.h"
#include <stdlib.h>

typedef struct inverting {
  const kcl_csr *A;
  double *d;
  _Atomic int64_t zero; /* the first row with none or 0 on the diagonal */
} inverting;

static void invert(void *arg, int64_t from, int64_t to) {
  inverting *v = arg;
  const kcl_csr *A = v->A;
  for (int64_t i = from; i < to; i++) {
    double a[2] = {0, 0};
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1] && A->col[k] <= i; k++)
      if (A->col[k] == i) kcl_element(A->type, A->val, k, a);
    double size = kcl_abs(KCL_Z, a, 0);
    if (size == 0) {
      kcl_lower(&v->zero, i);
      return;
    }
    if (kcl_type_complex(A->type))
      v->d[2 * i] = a[0] / size / size, v->d[2 * i + 1] = -a[1] / size / size;
    else
      v->d[i] = 1 / a[0];
  }
}

/* d_i = 1 / a_ii: one number per row, or a pair when A is complex. */
static int inverse_diagonal(kcl *ctx, const kcl_csr *A, double *d) {
  inverting v = {.A = A, .d = d, .zero = A->rows};
  kcl_for(A->rows, KCL_FEW_ROWS, invert, &v);
  if (v.zero == A->rows) return KCL_OK;
  return kcl_fail(
      ctx, KCL_USAGE,
      "jacobi divides by the diagonal, and row %lld has none or zero there: use --precond none",
      (long long)v.zero + 1);
}

/* d_j = 1 / |a_j|^2, of the scaled A; 1 for a column of zeros, which no x can use. */
static void inverse_squares(const kcl_csr *A, double scale, double *d) {
  int w = kcl_type_complex(A->type) ? 2 : 1;
  for (int64_t k = 0; k < A->nnz; k++) {
    double a = kcl_abs(A->type, A->val, k) * scale;
    d[w * A->col[k]] += a * a;
  }
  for (int64_t j = 0; j < A->cols; j++) d[w * j] = d[w * j] > 0 ? 1 / d[w * j] : 1;
}

static int setup(kcl_program *k, const kcl_csr *A) {
  kcl_type type = kcl_type_complex(A->type) ? KCL_Z : KCL_D;
  bool normal = k->norm_F > 0; /* for A^H A */
  int64_t n = normal ? A->cols : A->rows;
  double *d = NULL; /* [n] */
  int rc;
  KCL_TRY(kcl_alloc(k->ctx, n, kcl_type_size(type), "the diagonal", (void **)&d));
  if (normal)
    inverse_squares(A, kcl_scale_of(k), d);
  else
    KCL_TRY(inverse_diagonal(k->ctx, A, d));
  k->precond_data[0] = kcl_constant(k, n, type, d, "inverse_diagonal");
  rc = k->status;
done:
  free(d);
  return rc;
}

static void apply(kcl_program *k, kcl_vec z, kcl_vec r, bool adjoint) {
  kcl_times(k, z, k->precond_data[0], r, adjoint); /* z = D^-1 r             */
}

const kcl_precond kcl_precond_jacobi = {.name = "jacobi",
                                        .summary = "the diagonal of A; of A^H A for least squares",
                                        .source = "Jacobi 1845",
                                        .setup = setup,
                                        .apply = apply};
