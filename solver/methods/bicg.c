/* Biconjugate gradients for general A. Fletcher (1976); with complex scalars and M as in
 * Barrett et al., Templates (1994), 2.3.5. The shadow system uses A^H and M^-H.
 *
 * Three stages per iteration. Bytes, besides A and A^H: 18 n s
 * (p q p* | p* q* r r q r* r* | x x p p p* p* r r*), 21 n s with Jacobi.
 */
#include "solver/methods/method.h"

static void bicg_record(kcl_program *k) {
  kcl_vec x = kcl_x(k), r = kcl_vector(k, "r"), p = kcl_vector(k, "p"), q = kcl_vector(k, "q");
  kcl_vec rs = kcl_vector(k, "rs"), ps = kcl_vector(k, "ps"),
          qs = kcl_vector(k, "qs"); /* shadows */
  kcl_vec z = kcl_preconditioned(k, r, "z"), zs = kcl_preconditioned(k, rs, "zs");
  kcl_slot rr = kcl_scalar(k, "rr"), rho = kcl_scalar(k, "rho"), rho_new = kcl_scalar(k, "rho_new");
  kcl_slot sigma = kcl_scalar(k, "sigma"), alpha = kcl_scalar(k, "alpha"),
           beta = kcl_scalar(k, "beta");

  kcl_begin(k, KCL_START);
  kcl_residual(k, r, rr);            /* r = b - A x            */
  kcl_copy_vector(k, rs, r);         /* r* = r                 */
  kcl_precondition(k, z, r, false);  /* z = M^-1 r             */
  kcl_precondition(k, zs, rs, true); /* z* = M^-H r*           */
  kcl_dot(k, rho, rs, z);            /* rho = r*^H z           */
  kcl_copy_vector(k, p, z);          /* p = z                  */
  kcl_copy_vector(k, ps, zs);        /* p* = z*                */

  kcl_begin(k, KCL_LOOP);
  kcl_apply(k, q, kcl_A(k), p);                                 /* q = A p                */
  kcl_dot(k, sigma, ps, q);                                     /* sigma = p*^H q         */
  kcl_apply(k, qs, kcl_AH(k), ps);                              /* q* = A^H p*            */
  kcl_need_nonzero(k, sigma, KCL_BREAKDOWN_SIGMA);              /* sigma != 0, or stop    */
  kcl_divide(k, alpha, plus(rho), plus(sigma));                 /* alpha = rho / sigma    */
  kcl_lincomb(k, r, KCL_ONE, r, minus(alpha), q);               /* r = r - alpha q        */
  kcl_lincomb(k, rs, KCL_ONE, rs, conjugate(minus(alpha)), qs); /* r* = r* - alpha^* q* */
  kcl_precondition(k, z, r, false);                             /* z = M^-1 r             */
  kcl_precondition(k, zs, rs, true);                            /* z* = M^-H r*           */
  kcl_dot(k, rr, r, r);                                         /* rr = r^H r             */
  kcl_dot(k, rho_new, rs, z);                                   /* rho' = r*^H z          */
  kcl_divide(k, beta, plus(rho_new), plus(rho));                /* beta = rho' / rho      */
  kcl_end_iteration(k, rr);                                     /* small enough?          */
  kcl_need_nonzero(k, rho_new, KCL_BREAKDOWN_RHO);              /* rho' != 0, or stop     */
  kcl_assign(k, rho, plus(rho_new));                            /* rho = rho'             */
  kcl_lincomb(k, x, KCL_ONE, x, plus(alpha), p);                /* x = x + alpha p        */
  kcl_lincomb(k, p, KCL_ONE, z, plus(beta), p);                 /* p = z + beta p         */
  kcl_lincomb(k, ps, KCL_ONE, zs, conjugate(plus(beta)), ps);   /* p* = z* + beta^* p* */
}

const kcl_method kcl_method_bicg = {.name = "bicg",
                                    .summary = "biconjugate gradients, any square matrix",
                                    .source = "Fletcher 1976",
                                    .adjoint = true,
                                    .record = bicg_record};
