/* Conjugate orthogonal conjugate residuals for A = A^T, complex but not Hermitian: smoother residuals
 * than cocg.c. Sogabe & Zhang (2007); with symmetric M as in Gu et al. (2014). r is b - A x.
 *
 * Three stages per iteration. Bytes, besides A: 14 n s (x x p r r q | r t | p p r q q t), 18 n s with
 * Jacobi.
 */
#include "solver/methods/method.h"

static void cocr_record(kcl_program *k) {
  kcl_vec x = kcl_x(k), r = kcl_vector(k, "r"), p = kcl_vector(k, "p"), q = kcl_vector(k, "q"),
          t = kcl_vector(k, "t");
  kcl_vec z = kcl_preconditioned(k, r, "z"), y = kcl_preconditioned(k, q, "y");
  kcl_slot rr = kcl_scalar(k, "rr"), rho = kcl_scalar(k, "rho"), rho_new = kcl_scalar(k, "rho_new");
  kcl_slot sigma = kcl_scalar(k, "sigma"), alpha = kcl_scalar(k, "alpha"),
           beta = kcl_scalar(k, "beta");

  kcl_begin(k, KCL_START);
  kcl_residual(k, r, rr);           /* r = b - A x            */
  kcl_precondition(k, z, r, false); /* z = M^-1 r             */
  kcl_apply(k, q, kcl_A(k), z);     /* q = A z                */
  kcl_dotu(k, rho, z, q);           /* rho = z^T A z          */
  kcl_copy_vector(k, p, z);         /* p = z                  */
  kcl_precondition(k, y, q, false); /* y = M^-1 q             */
  kcl_dotu(k, sigma, q, y);         /* sigma = q^T y          */

  kcl_begin(k, KCL_LOOP);
  kcl_need_nonzero(k, sigma, KCL_BREAKDOWN_SIGMA); /* sigma != 0, or stop    */
  kcl_divide(k, alpha, plus(rho), plus(sigma));    /* alpha = rho / sigma    */
  kcl_lincomb(k, x, KCL_ONE, x, plus(alpha), p);   /* x = x + alpha p        */
  kcl_lincomb(k, r, KCL_ONE, r, minus(alpha), q);  /* r = r - alpha q        */
  kcl_precondition(k, z, r, false);                /* z = M^-1 r             */
  kcl_dot(k, rr, r, r);                            /* rr = r^H r             */
  kcl_end_iteration(k, rr);                        /* small enough?          */
  kcl_apply(k, t, kcl_A(k), z);                    /* t = A z                */
  kcl_dotu(k, rho_new, z, t);                      /* rho' = z^T t           */
  kcl_need_nonzero(k, rho_new, KCL_BREAKDOWN_RHO); /* rho' != 0, or stop     */
  kcl_divide(k, beta, plus(rho_new), plus(rho));   /* beta = rho' / rho      */
  kcl_assign(k, rho, plus(rho_new));               /* rho = rho'             */
  kcl_lincomb(k, p, KCL_ONE, z, plus(beta), p);    /* p = z + beta p         */
  kcl_lincomb(k, q, KCL_ONE, t, plus(beta), q);    /* q = t + beta q = A p   */
  kcl_precondition(k, y, q, false);                /* y = M^-1 q             */
  kcl_dotu(k, sigma, q, y);                        /* sigma = q^T y          */
}

const kcl_method kcl_method_cocr = {.name = "cocr",
                                    .summary = "conjugate orthogonal conjugate residuals, A = A^T",
                                    .source = "Sogabe & Zhang 2007",
                                    .symmetric = true,
                                    .record = cocr_record};
