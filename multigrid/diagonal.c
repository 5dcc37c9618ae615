/* Diagonals d that smooth by one step, x = x + d r. */
#include "multigrid/coarsen.h"

typedef struct diagonal_sums {
  const kcl_csr *A;
  kcl_smoother kind;
  double *d;
} diagonal_sums;

static void step_rows(void *arg, int64_t from, int64_t to) {
  const diagonal_sums *s = arg;
  const double *a = s->A->val;
  for (int64_t i = from; i < to; i++) {
    double diagonal = 0, moduli = 0, squares = 0;
    for (int64_t k = s->A->row_ptr[i]; k < s->A->row_ptr[i + 1]; k++) {
      moduli += fabs(a[k]), squares += a[k] * a[k];
      if (s->A->col[k] == i) diagonal = a[k];
    }
    if (s->kind == KCL_SPAI0)
      s->d[i] = squares > 0 ? diagonal / squares : 0;
    else
      s->d[i] = diagonal > 0 ? kcl_l1_weight / moduli : 0;
  }
}

int kcl_amg_diagonal(kcl_context *ctx, const kcl_csr *A, kcl_smoother kind, double **d) {
  diagonal_sums s = {.A = A, .kind = kind};
  KCL_CALL(kcl_alloc(ctx, A->rows, sizeof **d, "a smoother", (void **)d));
  s.d = *d;
  kcl_for(A->rows, KCL_FEW_ROWS, step_rows, &s);
  return KCL_OK;
}
