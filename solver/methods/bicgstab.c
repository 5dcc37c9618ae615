/* BiCGSTAB for general A: products of a biconjugate gradient polynomial and of steepest descents.
 * van der Vorst (1992), preconditioned from the right: r is the true residual b - A x.
 *
 * Five stages per iteration, two of them products with A. Bytes, besides A twice: 19 n s
 * (p v r* | r v | r t | x x p r r t r* | p p r v), 25 n s with Jacobi.
 */
#include "solver/methods/method.h"

static void bicgstab_record(kcl_program *k) {
  kcl_vec x = kcl_x(k), r = kcl_vector(k, "r"), rs = kcl_vector(k, "rs"), p = kcl_vector(k, "p");
  kcl_vec v = kcl_vector(k, "v"), t = kcl_vector(k, "t");
  kcl_vec y = kcl_preconditioned(k, p, "y"), z = kcl_preconditioned(k, r, "z");
  kcl_slot rr = kcl_scalar(k, "rr"), rho = kcl_scalar(k, "rho"), rho_new = kcl_scalar(k, "rho_new"),
           sigma = kcl_scalar(k, "sigma");
  kcl_slot alpha = kcl_scalar(k, "alpha"), beta = kcl_scalar(k, "beta"),
           ratio = kcl_scalar(k, "ratio");
  kcl_slot ts = kcl_scalar(k, "ts"), tt = kcl_scalar(k, "tt"), omega = kcl_scalar(k, "omega");

  kcl_begin(k, KCL_START);
  kcl_residual(k, r, rr);           /* r = b - A x            */
  kcl_copy_vector(k, rs, r);        /* r* = r                 */
  kcl_assign(k, rho, plus(rr));     /* rho = r*^H r           */
  kcl_copy_vector(k, p, r);         /* p = r                  */
  kcl_precondition(k, y, p, false); /* y = M^-1 p             */

  kcl_begin(k, KCL_LOOP);
  kcl_apply(k, v, kcl_A(k), y);                      /* v = A y                */
  kcl_dot(k, sigma, rs, v);                          /* sigma = r*^H v         */
  kcl_need_nonzero(k, sigma, KCL_BREAKDOWN_SIGMA);   /* sigma != 0, or stop    */
  kcl_divide(k, alpha, plus(rho), plus(sigma));      /* alpha = rho / sigma    */
  kcl_lincomb(k, r, KCL_ONE, r, minus(alpha), v);    /* s = r - alpha v, in r  */
  kcl_precondition(k, z, r, false);                  /* z = M^-1 s             */
  kcl_apply(k, t, kcl_A(k), z);                      /* t = A z                */
  kcl_dot(k, ts, t, r);                              /* ts = t^H s             */
  kcl_dot(k, tt, t, t);                              /* tt = t^H t             */
  kcl_divide(k, omega, plus(ts), plus(tt));          /* omega = ts / tt        */
  kcl_lincomb(k, x, KCL_ONE, x, plus(alpha), y);     /* x = x + alpha y        */
  kcl_lincomb(k, x, KCL_ONE, x, plus(omega), z);     /* x = x + omega z        */
  kcl_lincomb(k, r, KCL_ONE, r, minus(omega), t);    /* r = s - omega t        */
  kcl_dot(k, rr, r, r);                              /* rr = r^H r             */
  kcl_dot(k, rho_new, rs, r);                        /* rho' = r*^H r          */
  kcl_end_iteration(k, rr);                          /* small enough?          */
  kcl_need_nonzero(k, omega, KCL_BREAKDOWN_OMEGA);   /* omega != 0, or stop    */
  kcl_need_nonzero(k, rho_new, KCL_BREAKDOWN_RHO);   /* rho' != 0, or stop     */
  kcl_divide(k, beta, plus(rho_new), plus(rho));     /* beta = rho' / rho      */
  kcl_divide(k, ratio, plus(alpha), plus(omega));    /*        alpha / omega   */
  kcl_multiply(k, beta, plus(beta), plus(ratio));    /* beta = their product   */
  kcl_multiply(k, omega, plus(beta), plus(omega));   /* beta omega             */
  kcl_assign(k, rho, plus(rho_new));                 /* rho = rho'             */
  kcl_lincomb(k, p, plus(beta), p, minus(omega), v); /* p = beta (p - omega v) */
  kcl_lincomb(k, p, KCL_ONE, r, KCL_ONE, p);         /*     + r                */
  kcl_precondition(k, y, p, false);                  /* y = M^-1 p             */
}

const kcl_method kcl_method_bicgstab = {.name = "bicgstab",
                                        .summary =
                                            "stabilised biconjugate gradients, any square matrix",
                                        .source = "van der Vorst 1992",
                                        .record = bicgstab_record};
