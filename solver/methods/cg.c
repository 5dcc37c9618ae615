/* Conjugate gradients for Hermitian positive definite A, preconditioned by M.
 * Hestenes & Stiefel (1952); Saad (2003), algorithm 9.1. The Ritz values: ibid., 6.7.3.
 *
 * Three stages per iteration. Bytes, besides A: 10 n s (p q | q r r | x x p p r), 12 n s with Jacobi.
 */
#include "solver/methods/method.h"

static void cg_record(kcl_program *k) {
  kcl_vec x = kcl_x(k), r = kcl_vector(k, "r"), p = kcl_vector(k, "p"), q = kcl_vector(k, "q");
  kcl_vec z = kcl_preconditioned(k, r, "z");
  kcl_slot rr = kcl_scalar(k, "rr"), rho = kcl_scalar(k, "rho"), rho_new = kcl_scalar(k, "rho_new");
  kcl_slot sigma = kcl_scalar(k, "sigma"), alpha = kcl_scalar(k, "alpha"),
           beta = kcl_scalar(k, "beta");

  kcl_begin(k, KCL_START);
  kcl_residual(k, r, rr);           /* r = b - A x            */
  kcl_precondition(k, z, r, false); /* z = M^-1 r             */
  kcl_dot(k, rho, r, z);            /* rho = r^H z            */
  kcl_copy_vector(k, p, z);         /* p = z                  */

  kcl_begin(k, KCL_LOOP);
  kcl_apply(k, q, kcl_A(k), p);                   /* q = A p                */
  kcl_dot(k, sigma, p, q);                        /* sigma = p^H q          */
  kcl_need_positive(k, sigma, KCL_INDEFINITE);    /* sigma > 0, or stop     */
  kcl_divide(k, alpha, plus(rho), plus(sigma));   /* alpha = rho / sigma    */
  kcl_lincomb(k, r, KCL_ONE, r, minus(alpha), q); /* r = r - alpha q        */
  kcl_precondition(k, z, r, false);               /* z = M^-1 r             */
  kcl_dot(k, rr, r, r);                           /* rr = r^H r             */
  kcl_dot(k, rho_new, r, z);                      /* rho' = r^H z           */
  kcl_divide(k, beta, plus(rho_new), plus(rho));  /* beta = rho' / rho      */
  kcl_history_ritz(k, alpha, beta);               /* for the condition      */
  kcl_end_iteration(k, rr);                       /* small enough?          */
  kcl_assign(k, rho, plus(rho_new));              /* rho = rho'             */
  kcl_lincomb(k, x, KCL_ONE, x, plus(alpha), p);  /* x = x + alpha p        */
  kcl_lincomb(k, p, KCL_ONE, z, plus(beta), p);   /* p = z + beta p         */

  if (!kcl_has_resume(k)) return;
  kcl_begin(k, KCL_RESUME);
  kcl_lincomb(k, p, KCL_ONE, p, KCL_MINUS, z); /* p = beta p, as it was  */
  kcl_copy_vector(k, r, kcl_b(k));             /* r = b                  */
  kcl_precondition(k, z, r, false);            /* z = M^-1 r             */
  kcl_dot(k, rr, r, r);                        /* rr = r^H r             */
  kcl_dot(k, rho, r, z);                       /* rho = r^H z            */
  kcl_lincomb(k, p, KCL_ONE, z, KCL_ONE, p);   /* p = z + beta p         */
}

const kcl_method kcl_method_cg = {.name = "cg",
                                  .summary = "conjugate gradients, Hermitian positive definite",
                                  .source = "Hestenes & Stiefel 1952",
                                  .hermitian = true,
                                  .record = cg_record};
