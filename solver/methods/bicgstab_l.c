/* BiCGSTAB(l) for general A, with l = 2: after two steps of BiCG the residual is minimised over two
 * powers of A at once, which also meets complex pairs of eigenvalues. Sleijpen & Fokkema (1993),
 * algorithm 3.1, preconditioned from the right: r0 is the true residual b - A x.
 *
 * A pass over the loop is two iterations of two products each: ten stages, and besides A 49 n s, 60 n s with
 * Jacobi.
 */
#include "solver/methods/method.h"

typedef struct vars {
  kcl_vec x, rs, r0, r1, r2, u0, u1, u2, e;
  kcl_vec mu0, mu1, mr0, mr1, me; /* M^-1 u0 and so on */
  kcl_slot rr, rho, rho_new, sigma, alpha, beta;
  kcl_slot s01, s11, s12, s02, s22; /* r1^H r0, r1^H r1, r1^H r2, r2^H r0, r2^H r2 */
  kcl_slot tau, omega, g1, h1;      /* gamma_1, gamma'_1; omega is gamma_2 and gamma'_2 */
} vars;

/* beta = alpha rho' / rho */
static void beta(kcl_program *k, const vars *v) {
  kcl_divide(k, v->beta, plus(v->rho_new), plus(v->rho));
  kcl_multiply(k, v->beta, plus(v->beta), plus(v->alpha));
  kcl_assign(k, v->rho, plus(v->rho_new));
}

/* alpha = rho / sigma */
static void alpha(kcl_program *k, const vars *v) {
  kcl_need_nonzero(k, v->sigma, KCL_BREAKDOWN_SIGMA);
  kcl_divide(k, v->alpha, plus(v->rho), plus(v->sigma));
}

static void bicgstab_l_direction(kcl_program *k, const vars *v) {
  kcl_precondition(k, v->mu0, v->u0, false);
  kcl_apply(k, v->u1, kcl_A(k), v->mu0); /* u1 = A M^-1 u0         */
  kcl_dot(k, v->sigma, v->rs, v->u1);    /* sigma = r*^H u1        */
}

static void bicgstab_l_start(kcl_program *k, const vars *v) {
  kcl_residual(k, v->r0, v->rr);      /* r0 = b - A x           */
  kcl_copy_vector(k, v->rs, v->r0);   /* r* = r0                */
  kcl_copy_vector(k, v->u0, v->r0);   /* u0 = r0                */
  kcl_assign(k, v->rho, plus(v->rr)); /* rho = r*^H r0          */
  bicgstab_l_direction(k, v);         /* u1, sigma              */
}

static void first_step(kcl_program *k, const vars *v) {
  alpha(k, v);                                                   /* alpha = rho / sigma    */
  kcl_lincomb(k, v->r0, KCL_ONE, v->r0, minus(v->alpha), v->u1); /* r0 = r0 - alpha u1     */
  kcl_lincomb(k, v->x, KCL_ONE, v->x, plus(v->alpha), v->mu0);   /* x = x + alpha M^-1 u0  */
  kcl_precondition(k, v->mr0, v->r0, false);
  kcl_dot(k, v->rr, v->r0, v->r0);       /* rr = r0^H r0           */
  kcl_end_iteration(k, v->rr);           /* small enough?          */
  kcl_apply(k, v->r1, kcl_A(k), v->mr0); /* r1 = A M^-1 r0         */
  kcl_dot(k, v->rho_new, v->rs, v->r1);  /* rho' = r*^H r1         */
}

static void second_step(kcl_program *k, const vars *v) {
  kcl_need_nonzero(k, v->rho_new, KCL_BREAKDOWN_RHO);           /* rho' != 0, or stop     */
  beta(k, v);                                                   /* beta = alpha rho' / rho */
  kcl_lincomb(k, v->u0, KCL_ONE, v->r0, minus(v->beta), v->u0); /* u0 = r0 - beta u0      */
  kcl_lincomb(k, v->u1, KCL_ONE, v->r1, minus(v->beta), v->u1); /* u1 = r1 - beta u1      */
  kcl_precondition(k, v->mu1, v->u1, false);
  kcl_apply(k, v->u2, kcl_A(k), v->mu1);                         /* u2 = A M^-1 u1         */
  kcl_dot(k, v->sigma, v->rs, v->u2);                            /* sigma = r*^H u2        */
  alpha(k, v);                                                   /* alpha = rho / sigma    */
  kcl_lincomb(k, v->r0, KCL_ONE, v->r0, minus(v->alpha), v->u1); /* r0 = r0 - alpha u1     */
  kcl_lincomb(k, v->r1, KCL_ONE, v->r1, minus(v->alpha), v->u2); /* r1 = r1 - alpha u2     */
  kcl_precondition(k, v->mr1, v->r1, false);
  kcl_apply(k, v->r2, kcl_A(k), v->mr1); /* r2 = A M^-1 r1         */
  kcl_dot(k, v->s11, v->r1, v->r1);
  kcl_dot(k, v->s01, v->r1, v->r0);
  kcl_dot(k, v->s12, v->r1, v->r2);
}

/* r0 - g1 r1 - g2 r2 is least; r1 and r2 made orthogonal for that. */
static void minimise(kcl_program *k, const vars *v) {
  kcl_divide(k, v->tau, plus(v->s12), plus(v->s11));           /* tau = r1^H r2 / s11    */
  kcl_lincomb(k, v->r2, KCL_ONE, v->r2, minus(v->tau), v->r1); /* r2 = r2 - tau r1       */
  kcl_dot(k, v->s22, v->r2, v->r2);
  kcl_dot(k, v->s02, v->r2, v->r0);
  kcl_divide(k, v->omega, plus(v->s02), plus(v->s22)); /* omega = r2^H r0 / s22  */
  kcl_divide(k, v->h1, plus(v->s01), plus(v->s11));    /* h1 = r1^H r0 / s11     */
  kcl_multiply(k, v->g1, plus(v->tau), plus(v->omega));
  kcl_add(k, v->g1, plus(v->h1), minus(v->g1));                    /* g1 = h1 - tau omega    */
  kcl_lincomb(k, v->e, plus(v->alpha), v->u0, plus(v->g1), v->r0); /* e = alpha u0 + g1 r0   */
  kcl_lincomb(k, v->e, KCL_ONE, v->e, plus(v->omega), v->r1);      /*     + omega r1         */
  kcl_precondition(k, v->me, v->e, false);
  kcl_lincomb(k, v->x, KCL_ONE, v->x, KCL_ONE, v->me);           /* x = x + M^-1 e         */
  kcl_lincomb(k, v->r0, KCL_ONE, v->r0, minus(v->h1), v->r1);    /* r0 = r0 - h1 r1        */
  kcl_lincomb(k, v->r0, KCL_ONE, v->r0, minus(v->omega), v->r2); /*     - omega r2         */
  kcl_lincomb(k, v->u0, KCL_ONE, v->u0, minus(v->g1), v->u1);    /* u0 = u0 - g1 u1        */
  kcl_lincomb(k, v->u0, KCL_ONE, v->u0, minus(v->omega), v->u2); /*     - omega u2         */
  kcl_dot(k, v->rr, v->r0, v->r0);                               /* rr = r0^H r0           */
  kcl_dot(k, v->rho_new, v->rs, v->r0);                          /* rho' = r*^H r0         */
  kcl_end_iteration(k, v->rr);                                   /* small enough?          */
  kcl_need_nonzero(k, v->omega, KCL_BREAKDOWN_OMEGA);            /* omega != 0, or stop    */
  kcl_need_nonzero(k, v->rho_new, KCL_BREAKDOWN_RHO);            /* rho' != 0, or stop     */
  kcl_multiply(k, v->rho, minus(v->omega), plus(v->rho));        /* rho = -omega rho       */
  beta(k, v);                                                    /* beta = alpha rho' / rho */
  kcl_lincomb(k, v->u0, KCL_ONE, v->r0, minus(v->beta), v->u0);  /* u0 = r0 - beta u0      */
  bicgstab_l_direction(k, v);                                    /* u1, sigma              */
}

static void bicgstab_l_record(kcl_program *k) {
  vars v = {.x = kcl_x(k)};
  kcl_vec *vec[] = {&v.rs, &v.r0, &v.r1, &v.r2, &v.u0, &v.u1, &v.u2, &v.e};
  kcl_slot *slot[] = {&v.rr,  &v.rho, &v.rho_new, &v.sigma, &v.alpha, &v.beta, &v.s01, &v.s11,
                      &v.s12, &v.s02, &v.s22,     &v.tau,   &v.omega, &v.g1,   &v.h1};
  kcl_new_vectors(k, "rs r0 r1 r2 u0 u1 u2 e", vec);
  kcl_new_scalars(k, "rr rho rho_new sigma alpha beta s01 s11 s12 s02 s22 tau omega g1 h1", slot);
  v.mu0 = kcl_preconditioned(k, v.u0, "mu0"), v.mu1 = kcl_preconditioned(k, v.u1, "mu1");
  v.mr0 = kcl_preconditioned(k, v.r0, "mr0"), v.mr1 = kcl_preconditioned(k, v.r1, "mr1");
  v.me = kcl_preconditioned(k, v.e, "me");
  kcl_begin(k, KCL_START);
  bicgstab_l_start(k, &v);
  kcl_begin(k, KCL_LOOP);
  first_step(k, &v), second_step(k, &v), minimise(k, &v);
}

const kcl_method kcl_method_bicgstab_l = {.name = "bicgstab-l",
                                          .summary = "BiCGSTAB(2), any square matrix",
                                          .source = "Sleijpen & Fokkema 1993",
                                          .record = bicgstab_l_record};
