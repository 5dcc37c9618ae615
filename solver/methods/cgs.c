/* Conjugate gradients squared for general A: the residual polynomial of BiCG, applied twice, without
 * A^H. Sonneveld (1989), preconditioned from the right: r is the true residual b - A x.
 *
 * Four stages per iteration, two of them products with A. Bytes, besides A twice: 19 n s
 * (p v r* | x x u v q g | g h r r r* | p p r q u), 23 n s with Jacobi.
 */
#include "solver/methods/method.h"

static void cgs_record(kcl_program *k) {
  kcl_vec x = kcl_x(k), r = kcl_vector(k, "r"), rs = kcl_vector(k, "rs"), p = kcl_vector(k, "p");
  kcl_vec u = kcl_vector(k, "u"), q = kcl_vector(k, "q"), v = kcl_vector(k, "v"),
          g = kcl_vector(k, "g");
  kcl_vec h = kcl_vector(k, "h"), y = kcl_preconditioned(k, p, "y"),
          z = kcl_preconditioned(k, g, "z");
  kcl_slot rr = kcl_scalar(k, "rr"), rho = kcl_scalar(k, "rho"), rho_new = kcl_scalar(k, "rho_new");
  kcl_slot sigma = kcl_scalar(k, "sigma"), alpha = kcl_scalar(k, "alpha"),
           beta = kcl_scalar(k, "beta");

  kcl_begin(k, KCL_START);
  kcl_residual(k, r, rr);           /* r = b - A x            */
  kcl_copy_vector(k, rs, r);        /* r* = r                 */
  kcl_assign(k, rho, plus(rr));     /* rho = r*^H r           */
  kcl_copy_vector(k, u, r);         /* u = r                  */
  kcl_copy_vector(k, p, r);         /* p = r                  */
  kcl_precondition(k, y, p, false); /* y = M^-1 p             */

  kcl_begin(k, KCL_LOOP);
  kcl_apply(k, v, kcl_A(k), y);                    /* v = A y                */
  kcl_dot(k, sigma, rs, v);                        /* sigma = r*^H v         */
  kcl_need_nonzero(k, sigma, KCL_BREAKDOWN_SIGMA); /* sigma != 0, or stop    */
  kcl_divide(k, alpha, plus(rho), plus(sigma));    /* alpha = rho / sigma    */
  kcl_lincomb(k, q, KCL_ONE, u, minus(alpha), v);  /* q = u - alpha v        */
  kcl_lincomb(k, g, KCL_ONE, u, KCL_ONE, q);       /* g = u + q              */
  kcl_precondition(k, z, g, false);                /* z = M^-1 g             */
  kcl_lincomb(k, x, KCL_ONE, x, plus(alpha), z);   /* x = x + alpha z        */
  kcl_apply(k, h, kcl_A(k), z);                    /* h = A z                */
  kcl_lincomb(k, r, KCL_ONE, r, minus(alpha), h);  /* r = r - alpha h        */
  kcl_dot(k, rr, r, r);                            /* rr = r^H r             */
  kcl_dot(k, rho_new, rs, r);                      /* rho' = r*^H r          */
  kcl_end_iteration(k, rr);                        /* small enough?          */
  kcl_need_nonzero(k, rho_new, KCL_BREAKDOWN_RHO); /* rho' != 0, or stop     */
  kcl_divide(k, beta, plus(rho_new), plus(rho));   /* beta = rho' / rho      */
  kcl_assign(k, rho, plus(rho_new));               /* rho = rho'             */
  kcl_lincomb(k, u, KCL_ONE, r, plus(beta), q);    /* u = r + beta q         */
  kcl_lincomb(k, p, KCL_ONE, q, plus(beta), p);    /* p = q + beta p         */
  kcl_lincomb(k, p, KCL_ONE, u, plus(beta), p);    /* p = u + beta p         */
  kcl_precondition(k, y, p, false);                /* y = M^-1 p             */
}

const kcl_method kcl_method_cgs = {.name = "cgs",
                                   .summary = "conjugate gradients squared, any square matrix",
                                   .source = "Sonneveld 1989",
                                   .record = cgs_record};
