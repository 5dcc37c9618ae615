/* Flexible conjugate gradients for Hermitian positive definite A: M may be another one in each application. Notay (2000), FCG(1):
 * the new direction is made A-orthogonal to the last one by a dot product, tau, where cg relies on an M that stays the same. With one it is
 * cg. In exact arithmetic beta is that of Polak and Ribiere, z^H (r - r_old) / rho.
 *
 * Three stages per iteration. Bytes, besides A: 10 n s, as cg; 12 n s with Jacobi.
 */
#include "solver/methods/method.h"

static void fcg_record(kcl_program *k) {
  kcl_vec x = kcl_x(k), r = kcl_vector(k, "r"), p = kcl_vector(k, "p"), q = kcl_vector(k, "q");
  kcl_vec z = kcl_preconditioned(k, r, "z");
  kcl_slot rr = kcl_scalar(k, "rr"), rho = kcl_scalar(k, "rho"), rho_new = kcl_scalar(k, "rho_new");
  kcl_slot sigma = kcl_scalar(k, "sigma"), tau = kcl_scalar(k, "tau");
  kcl_slot alpha = kcl_scalar(k, "alpha"), beta = kcl_scalar(k, "beta");

  kcl_begin(k, KCL_START);
  kcl_residual(k, r, rr);           /* r = b - A x            */
  kcl_precondition(k, z, r, false); /* z = M^-1 r             */
  kcl_dot(k, rho, z, r);            /* rho = z^H r = p^H r    */
  kcl_copy_vector(k, p, z);         /* p = z                  */

  kcl_begin(k, KCL_LOOP);
  kcl_apply(k, q, kcl_A(k), p);                   /* q = A p                */
  kcl_dot(k, sigma, p, q);                        /* sigma = p^H q          */
  kcl_need_positive(k, sigma, KCL_INDEFINITE);    /* sigma > 0, or stop     */
  kcl_divide(k, alpha, plus(rho), plus(sigma));   /* alpha = rho / sigma    */
  kcl_lincomb(k, r, KCL_ONE, r, minus(alpha), q); /* r = r - alpha q        */
  kcl_precondition(k, z, r, false);               /* z = M^-1 r             */
  kcl_dot(k, tau, q, z);                          /* tau = q^H z            */
  kcl_dot(k, rr, r, r);                           /* rr = r^H r             */
  kcl_dot(k, rho_new, z, r);                      /* rho' = z^H r           */
  kcl_divide(k, beta, plus(tau), plus(sigma));    /* beta = tau / sigma     */
  kcl_end_iteration(k, rr);                       /* small enough?          */
  kcl_assign(k, rho, plus(rho_new));              /* rho = rho'             */
  kcl_lincomb(k, x, KCL_ONE, x, plus(alpha), p);  /* x = x + alpha p        */
  kcl_lincomb(k, p, KCL_ONE, z, minus(beta), p);  /* p = z - beta p         */

  if (!kcl_has_resume(k)) return;
  kcl_begin(k, KCL_RESUME);
  kcl_lincomb(k, p, KCL_ONE, p, KCL_MINUS, z); /* p = -beta p, as it was */
  kcl_copy_vector(k, r, kcl_b(k));             /* r = b                  */
  kcl_precondition(k, z, r, false);            /* z = M^-1 r             */
  kcl_dot(k, rr, r, r);                        /* rr = r^H r             */
  kcl_dot(k, rho, z, r);                       /* rho = z^H r            */
  kcl_lincomb(k, p, KCL_ONE, z, KCL_ONE, p);   /* p = z - beta p         */
}

const kcl_method kcl_method_fcg = {
    .name = "fcg",
    .summary = "flexible conjugate gradients, M may vary, Hermitian positive definite",
    .source = "Notay 2000",
    .hermitian = true,
    .flexible = true,
    .record = fcg_record};
