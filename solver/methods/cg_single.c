/* Conjugate gradients with one reduction per iteration. Chronopoulos & Gear (1989); with M as in
 * Ghysels & Vanroose (2014), algorithm 2. p^H A p and A p come from recurrences, so that all dot
 * products of an iteration are one reduction.
 *
 * Two stages per iteration. x follows one step behind r: its p is then in registers, and a test leaves
 * the x whose residual it saw. The divisors are known one iteration before, and their reciprocals are computed
 * during the product: one division depends on the reduction, not three.
 * Bytes, besides A: 11 n s (u w | x x p p s s w r r), 15 n s with Jacobi.
 */
#include "solver/methods/method.h"

typedef struct vars {
  kcl_vec x, r, u, w, p, s;
  kcl_slot rr, gamma_new, delta, alpha, alpha_new, beta, sigma, per_gamma, per_alpha;
} vars;

/* The product and the only dots of an iteration. */
static void single_product(kcl_program *k, const vars *v) {
  kcl_apply(k, v->w, kcl_A(k), v->u);   /* w = A u                */
  kcl_dot(k, v->delta, v->u, v->w);     /* delta = u^H w          */
  kcl_dot(k, v->rr, v->r, v->r);        /* rr = r^H r             */
  kcl_dot(k, v->gamma_new, v->r, v->u); /* gamma' = r^H u         */
}

static void single_residuals(kcl_program *k, const vars *v) {
  kcl_lincomb(k, v->r, KCL_ONE, v->r, minus(v->alpha_new), v->s); /* r = r - alpha' s       */
  kcl_precondition(k, v->u, v->r, false);                         /* u = M^-1 r             */
}

static void single_record(kcl_program *k) {
  vars v = {.x = kcl_x(k), .r = kcl_vector(k, "r"), .w = kcl_vector(k, "w")};
  v.u = kcl_preconditioned(k, v.r, "u"), v.p = kcl_vector(k, "p"), v.s = kcl_vector(k, "s");
  v.rr = kcl_scalar(k, "rr"), v.gamma_new = kcl_scalar(k, "gamma_new");
  v.delta = kcl_scalar(k, "delta"), v.alpha = kcl_scalar(k, "alpha"),
  v.alpha_new = kcl_scalar(k, "alpha_new");
  v.beta = kcl_scalar(k, "beta"), v.sigma = kcl_scalar(k, "sigma");
  v.per_gamma = kcl_scalar(k, "per_gamma"), v.per_alpha = kcl_scalar(k, "per_alpha");

  kcl_begin(k, KCL_START);
  kcl_residual(k, v.r, v.rr);                                   /* r = b - A x            */
  kcl_precondition(k, v.u, v.r, false);                         /* u = M^-1 r             */
  single_product(k, &v);                                        /* w, delta, gamma'       */
  kcl_need_positive(k, v.delta, KCL_INDEFINITE);                /* delta > 0, or stop     */
  kcl_divide(k, v.alpha_new, plus(v.gamma_new), plus(v.delta)); /* alpha' = gamma' / delta */
  kcl_copy_vector(k, v.p, v.u);                                 /* p = u                  */
  kcl_copy_vector(k, v.s, v.w);                                 /* s = w = A p            */
  single_residuals(k, &v);                                      /* r, u after this step   */

  kcl_begin(k, KCL_LOOP);
  kcl_divide(k, v.per_gamma, KCL_ONE, plus(v.gamma_new)); /* 1 / gamma, gamma = gamma' */
  kcl_divide(k, v.per_alpha, KCL_ONE, plus(v.alpha_new)); /* 1 / alpha, alpha = alpha' */
  kcl_assign(k, v.alpha, plus(v.alpha_new));
  single_product(k, &v);                                         /* w, delta, gamma', rr   */
  kcl_multiply(k, v.beta, plus(v.gamma_new), plus(v.per_gamma)); /* beta = gamma' / gamma  */
  kcl_history_ritz(k, v.alpha, v.beta);                          /* for the condition      */
  kcl_end_iteration(k, v.rr);                                    /* small enough?          */
  kcl_multiply(k, v.sigma, plus(v.beta), plus(v.per_alpha));     /* sigma = beta / alpha   */
  kcl_multiply(k, v.sigma, plus(v.sigma), plus(v.gamma_new));    /*   gamma'               */
  kcl_add(k, v.sigma, plus(v.delta), minus(v.sigma));            /* sigma = delta - sigma  */
  kcl_need_positive(k, v.sigma, KCL_INDEFINITE);                 /* p^H A p > 0, or stop   */
  kcl_divide(k, v.alpha_new, plus(v.gamma_new), plus(v.sigma));  /* alpha' = gamma' / sigma */
  kcl_lincomb(k, v.x, KCL_ONE, v.x, plus(v.alpha), v.p);         /* x = x + alpha p        */
  kcl_lincomb(k, v.p, KCL_ONE, v.u, plus(v.beta), v.p);          /* p = u + beta p         */
  kcl_lincomb(k, v.s, KCL_ONE, v.w, plus(v.beta), v.s);          /* s = w + beta s         */
  single_residuals(k, &v);                                       /* r, u after this step   */
}

const kcl_method kcl_method_cg_single = {.name = "cg-single",
                                         .summary = "CG with one reduction per iteration",
                                         .source = "Chronopoulos & Gear 1989",
                                         .hermitian = true,
                                         .record = single_record};
