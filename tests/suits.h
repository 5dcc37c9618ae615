/* Does a preconditioner suit the matrix and the method? Tests that walk the registries leave out what is refused, after they
 * have seen it refused with a sentence. */
#ifndef KCL_SUITS_H
#define KCL_SUITS_H
#include "solver/precond/setup.h"
#include "tests/check.h"
#include <string.h>

static inline bool precond_suits(kcl_context *ctx, const kcl_csr *A, const kcl_options *o) {
  const kcl_precond_kind *p;
  const kcl_method *m;
  kcl_stats s;
  kcl_csr typed = *A;
  typed.type = o->precision; /* kcl_precond_check reads no values */
  if (kcl_precond_find(ctx, o->precond, &p) || kcl_method_find(ctx, o->solver, &m)) return true;
  if (kcl_csr_stats(ctx, A, &s)) return true;
  const kcl_precond_request q = {
      .ctx = ctx, .A = &typed, .stats = &s, .hermitian = s.hermitian, .symmetric = s.symmetric};
  return kcl_precond_check(&q, p, m) != KCL_USAGE;
}

/* False, and a set-up was refused with a sentence that names the preconditioner. */
static inline bool precond_taken(kcl_context *ctx, const kcl_csr *A, const kcl_options *o) {
  kcl_solver *s = NULL;
  if (precond_suits(ctx, A, o)) return true;
  int rc = kcl_setup(ctx, A, o, &s);
  CHECKF(rc == KCL_USAGE && strstr(kcl_error(), o->precond), "%s with %s: status %d, %s",
         o->precond, o->solver, rc, kcl_error());
  kcl_solver_free(&s);
  return false;
}
#endif
