/* Where b and x of a right-hand side are: in the caller's arrays, or in OpenCL buffers. From those they pass to the engine and
 * back on the device; their numbers come to the host when something there needs them, and from then on x is the one on the
 * host, until it is returned. */
#include "solver/engine/given.h"
#include "solver/loop/loop.h"

int kcl_loop_put_b(kcl_loop *l, int rhs) {
  const kcl_rhs *v = &l->rhs[rhs];
  return v->b ? kcl_give_b(l->system, l->engine, rhs, v->b, v->b_norm.shift)
              : kcl_give_b_column(l->system, l->engine, rhs, &v->b_column, v->b_norm.shift);
}

int kcl_loop_put_x(kcl_loop *l, int rhs) {
  const kcl_rhs *v = &l->rhs[rhs];
  return v->x ? kcl_give_x(l->system, l->engine, rhs, v->x, v->b_norm.shift)
              : kcl_give_x_column(l->system, l->engine, rhs, &v->x_column, v->b_norm.shift);
}

int kcl_loop_fetch(kcl_loop *l, int rhs) {
  const kcl_csr *A = l->system->A;
  kcl_rhs *v = &l->rhs[rhs];
  void *b = NULL;
  if (v->b) return KCL_OK;
  int rc = kcl_fetch_column(l->system, &v->b_column, A->rows, &b);
  if (!rc) rc = kcl_fetch_column(l->system, &v->x_column, A->cols, &v->x);
  if (rc)
    free(b);
  else
    v->b = b;
  return rc;
}

int kcl_loop_return(kcl_loop *l, int rc) {
  for (int i = 0; i < l->nrhs; i++) {
    kcl_rhs *v = &l->rhs[i];
    if (!v->b_column.buffer || !v->b) continue;
    if (!rc) rc = kcl_return_column(l->system, &v->x_column, l->system->A->cols, v->x);
    free((void *)(uintptr_t)v->b), free(v->x); /* they are ours */
    v->b = v->x = NULL;
  }
  return rc;
}
