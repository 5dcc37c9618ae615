/* Claims of a scaled system, checked for the system as given: |R (b - A x)| may be small and |b - A x| not, where R makes
 * large rows small. Such a right-hand side continues towards a lower target, until both hold. Cost: x from the device and
 * one product on the host, per claim. */
#include "solver/engine/given.h"
#include "solver/loop/loop.h"

double kcl_loop_target(const kcl_rhs *v) { return 0.999 * v->allowed * v->b_norm.norm; }

/* Half of what the residual as given is above its own target. */
static int set_target(kcl_loop *l, int i, void *x, bool *lowered) {
  kcl_rhs *v = &l->rhs[i];
  double relative = INFINITY;
  int rc = kcl_take_x(l->system, l->engine, i, x, v->b_norm.shift);
  if (!rc) rc = kcl_residual_of(l->system, v->b, x, &relative, NULL);
  if (rc || !(relative < INFINITY)) return rc;
  v->target = kcl_loop_target(v);
  if (relative <= v->allowed) return KCL_OK;
  v->target = sqrt(l->rr[i]) * (0.5 * v->allowed / relative);
  v->claim = INFINITY;
  *lowered = true;
  return KCL_OK;
}

int kcl_loop_set_targets(kcl_loop *l, bool *lowered) {
  const kcl_csr *A = l->system->A;
  KCL_OWNED void *x = NULL;
  int rc = KCL_OK;
  *lowered = false;
  if (!l->system->scaling.row || l->interrupted) return KCL_OK;
  for (int i = 0; i < l->nrhs; i++) {
    const double target = kcl_loop_target(&l->rhs[i]);
    if (!l->rhs[i].active || !(l->rr[i] <= target * target)) continue;
    if (!x) rc = kcl_alloc(l->system->ctx, A->cols, kcl_type_size(A->type), "x", &x);
    KCL_CALL(kcl_ranks_agree(kcl_system_ranks(l->system), rc));
    KCL_CALL(set_target(l, i, x, lowered));
  }
  return KCL_OK;
}
