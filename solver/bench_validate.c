/* Validation of a product before it is timed (Dongarra & Heroux 2013, HPCG). The bound is kcl_product_bound.
 */
#include "solver/bench.h"

/* x on the device is D^-1 x of the one given, and y D y. */
static void unscale(const kcl_system *s, double *x, double *y) {
  const kcl_csr *A = s->A;
  const kcl_type wide = kcl_wide_type(A->type);
  kcl_scale_vector(wide, x, A->cols, s->scaling.col, 1, 0);
  kcl_scale_vector(wide, y, A->rows, s->scaling.row, -1, -s->scaling.unit);
}

bool kcl_product_row_agrees(const kcl_system *s, int64_t i, const double *x, const double *y,
                            const double *ref) {
  const kcl_csr *A = s->A;
  const kcl_type wide = kcl_wide_type(A->type);
  int w = wide == KCL_Z ? 2 : 1;
  double error =
      w == 2 ? hypot(y[2 * i] - ref[2 * i], y[2 * i + 1] - ref[2 * i + 1]) : fabs(y[i] - ref[i]);
  return error <= kcl_product_bound(A, s->options.precision, x, i);
}

int kcl_product_validate(const kcl_system *s, kcl_engine *e, bool *good) {
  const kcl_csr *A = s->A;
  const kcl_program *k = e->program;
  kcl_executor *ex = &e->executor;
  kcl_type wide = kcl_wide_type(A->type);
  int64_t w = wide == KCL_Z ? 2 : 1;
  KCL_OWNED double *x = NULL, *y = NULL, *ref = NULL;
  KCL_CALL(kcl_alloc(s->ctx, A->cols * w, sizeof *x, "a vector", (void **)&x));
  KCL_CALL(kcl_alloc(s->ctx, A->rows * w, sizeof *y, "a vector", (void **)&y));
  KCL_CALL(kcl_alloc(s->ctx, A->rows * w, sizeof *ref, "a vector", (void **)&ref));
  for (int c = 0; c < k->nrhs; c++) {
    kcl_timing_vector(x, A->cols * w, c);
    KCL_CALL(ex->put(ex, k->x, c, wide, x, 1.0));
  }
  KCL_CALL(kcl_timing_state(ex, KCL_MAX_NRHS));
  KCL_CALL(ex->run(ex, KCL_START, 1));
  *good = true;
  for (int c = 0; c < k->nrhs; c++) {
    kcl_timing_vector(x, A->cols * w, c);
    KCL_CALL(ex->get(ex, k->b, c, wide, y, 1));
    unscale(s, x, y);
    kcl_csr_product(A, x, NULL, ref);
    for (int64_t i = 0; i < A->rows && *good; i++) *good = kcl_product_row_agrees(s, i, x, y, ref);
  }
  return KCL_OK;
}
