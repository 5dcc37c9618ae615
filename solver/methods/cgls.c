/* Conjugate gradients for least squares, min |b - A x|, A of any shape: CG on A^H A x = A^H b without
 * forming A^H A, from the true residual r. Hestenes & Stiefel (1952), section 10; Bjorck (1996), algorithm
 * 7.4.1. Preconditioned by M for A^H A. From x = 0, without M, to the x of least norm.
 *
 * A is m by n. Four stages per iteration, one product with A and one with A^H. Elements moved besides those:
 * 5 m + 7 n (p q | q r r | r s | x x p p s), with Jacobi 2 n more.
 */
#include "solver/methods/method.h"

static void cgls_record(kcl_program *k) {
  kcl_vec x = kcl_x(k), r = kcl_vector(k, "r"), q = kcl_vector(k, "q");
  kcl_vec p = kcl_vector_like(k, x, "p"), s = kcl_vector_like(k, x, "s"),
          z = kcl_preconditioned(k, s, "z");
  kcl_slot rr = kcl_scalar(k, "rr"), ss = kcl_scalar(k, "ss"), gamma = kcl_scalar(k, "gamma"),
           gamma_new = kcl_scalar(k, "gamma_new");
  kcl_slot delta = kcl_scalar(k, "delta"), alpha = kcl_scalar(k, "alpha"),
           beta = kcl_scalar(k, "beta"), by_x = kcl_scalar(k, "by_x");
  kcl_least_squares l = kcl_least_squares_of(k);

  kcl_begin(k, KCL_START);
  kcl_references(k, &l, p);                 /* |A^H b|, |b|           */
  kcl_residual(k, r, rr);                   /* r = b - A x            */
  kcl_apply_scaled(k, &l, s, kcl_AH(k), r); /* s = A^H r              */
  kcl_precondition(k, z, s, false);         /* z = M^-1 s             */
  kcl_dot(k, ss, s, s);                     /* ss = s^H s             */
  kcl_dot(k, gamma, s, z);                  /* gamma = s^H z          */
  kcl_copy_vector(k, p, z);                 /* p = z                  */
  kcl_measure(k, &l, rr, ss);               /* e of r and s           */

  kcl_begin(k, KCL_LOOP);
  kcl_apply_scaled(k, &l, q, kcl_A(k), p);           /* q = A p                */
  kcl_dot(k, delta, q, q);                           /* delta = q^H q          */
  kcl_divide(k, alpha, plus(gamma), plus(delta));    /* alpha = gamma / delta  */
  kcl_lincomb(k, r, KCL_ONE, r, minus(alpha), q);    /* r = r - alpha q        */
  kcl_dot(k, rr, r, r);                              /* rr = r^H r             */
  kcl_apply_scaled(k, &l, s, kcl_AH(k), r);          /* s = A^H r              */
  kcl_precondition(k, z, s, false);                  /* z = M^-1 s             */
  kcl_dot(k, ss, s, s);                              /* ss = s^H s             */
  kcl_dot(k, gamma_new, s, z);                       /* gamma' = s^H z         */
  kcl_measure(k, &l, rr, ss);                        /* e of r and s           */
  kcl_end_iteration(k, l.e);                         /* small enough?          */
  kcl_divide(k, beta, plus(gamma_new), plus(gamma)); /* beta = gamma' / gamma  */
  kcl_assign(k, gamma, plus(gamma_new));             /* gamma = gamma'         */
  kcl_multiply(k, by_x, plus(alpha), plus(l.scale)); /* A was scaled, x is not */
  kcl_lincomb(k, x, KCL_ONE, x, plus(by_x), p);      /* x = x + alpha p        */
  kcl_lincomb(k, p, KCL_ONE, z, plus(beta), p);      /* p = z + beta p         */
}

const kcl_method kcl_method_cgls = {.name = "cgls",
                                    .summary = "CG for least squares, any matrix, also rectangular",
                                    .source = "Hestenes & Stiefel 1952",
                                    .adjoint = true,
                                    .least_squares = true,
                                    .record = cgls_record};
