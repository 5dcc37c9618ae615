/* Pipelined conjugate gradients: the reduction of an iteration and its product do not depend on
 * each other. Ghysels & Vanroose (2014), algorithm 4. Rounding errors of the longer recurrences grow, so
 * REPLACE recomputes the vectors at intervals (residual replacement: Cools et al. 2018; four products).
 *
 * One stage per iteration, every vector read once; one division depends on the reduction, not three. x follows one
 * step behind r, as in cg_single.c. w and z alternate between two vectors, since other work-items still gather from
 * the old one.
 * Bytes, besides A: 12 n s (w z w' z' x x p p s s r r), 19 n s with Jacobi.
 */
#include "solver/methods/method.h"

typedef struct vars {
  kcl_vec x, r, u, p, s, q, w[2], m[2], z[2];
  kcl_slot rr, seen, gamma_new, delta, alpha[2], behind[2], beta, sigma, per_gamma, per_alpha;
} vars;

/* Everything after p and s are known, into the vectors of number i. */
static void pipelined_residuals(kcl_program *k, const vars *v, int i) {
  kcl_coef step = minus(v->alpha[i]);
  kcl_lincomb(k, v->r, KCL_ONE, v->r, step, v->s);                   /* r = r - alpha s        */
  if (v->u != v->r) kcl_lincomb(k, v->u, KCL_ONE, v->u, step, v->q); /* u = u - alpha q        */
  kcl_lincomb(k, v->w[i], KCL_ONE, v->w[1 - i], step, v->z[i]);      /* w = w - alpha z        */
  kcl_precondition(k, v->m[i], v->w[i], false);                      /* m = M^-1 w             */
  kcl_dot(k, v->delta, v->u, v->w[i]);                               /* delta = u^H w          */
  kcl_dot(k, v->rr, v->r, v->r);                                     /* rr = r^H r             */
  if (v->u != v->r) kcl_dot(k, v->gamma_new, v->r, v->u);            /* gamma' = r^H u, or rr  */
}

static void pipelined_start(kcl_program *k, const vars *v) {
  kcl_residual(k, v->r, v->seen);                                 /* r = b - A x            */
  kcl_precondition(k, v->u, v->r, false);                         /* u = M^-1 r             */
  kcl_apply(k, v->w[0], kcl_A(k), v->u);                          /* w = A u                */
  kcl_precondition(k, v->m[0], v->w[0], false);                   /* m = M^-1 w             */
  kcl_dot(k, v->delta, v->u, v->w[0]);                            /* delta = u^H w          */
  if (v->u != v->r) kcl_dot(k, v->gamma_new, v->r, v->u);         /* gamma' = r^H u         */
  if (v->u == v->r) kcl_assign(k, v->gamma_new, plus(v->seen));   /*   or rr                */
  kcl_need_positive(k, v->delta, KCL_INDEFINITE);                 /* delta > 0, or stop     */
  kcl_divide(k, v->alpha[1], plus(v->gamma_new), plus(v->delta)); /* alpha = gamma' / delta */
  kcl_assign(k, v->behind[1], plus(v->alpha[1]));                 /* x lacks alpha p */
  kcl_divide(k, v->per_gamma, KCL_ONE, plus(v->gamma_new));       /* 1 / gamma' */
  kcl_divide(k, v->per_alpha, KCL_ONE, plus(v->alpha[1]));        /* 1 / alpha */
  kcl_apply(k, v->z[1], kcl_A(k), v->m[0]);                       /* z = A m                */
  kcl_copy_vector(k, v->p, v->u);                                 /* p = u                  */
  kcl_copy_vector(k, v->s, v->w[0]);                              /* s = w                  */
  if (v->u != v->r) kcl_copy_vector(k, v->q, v->m[0]);            /* q = m                  */
  pipelined_residuals(k, v, 1);                                   /* r, u, w, m, dots       */
}

static void pipelined_catch_up(kcl_program *k, const vars *v, int i) {
  kcl_lincomb(k, v->x, KCL_ONE, v->x, plus(v->behind[1 - i]), v->p); /* x = x + alpha p        */
}

/* From the vectors of number 1 - i to those of number i. The stage of the test may end with its
 * product; then x must have caught up before it; else it does so in the same pass. */
static void pipelined_iterate(kcl_program *k, const vars *v, int i) {
  kcl_coef beta = plus(v->beta);
  bool early = kcl_stored_ends_stage(kcl_A(k));
  kcl_multiply(k, v->beta, plus(v->gamma_new), plus(v->per_gamma)); /* beta = gamma' / gamma  */
  kcl_history_ritz(k, v->alpha[1 - i], v->beta);                    /* for the condition      */
  kcl_end_iteration(k, v->rr);                                      /* small enough?          */
  kcl_assign(k, v->seen, plus(v->rr));                              /* of the x of this pass  */
  kcl_multiply(k, v->sigma, beta, plus(v->per_alpha));              /* sigma = beta / alpha   */
  kcl_multiply(k, v->sigma, plus(v->sigma), plus(v->gamma_new));    /*   gamma'               */
  kcl_add(k, v->sigma, plus(v->delta), minus(v->sigma));            /* sigma = delta - sigma  */
  kcl_need_positive(k, v->sigma, KCL_INDEFINITE);                   /* p^H A p > 0, or stop   */
  kcl_divide(k, v->alpha[i], plus(v->gamma_new), plus(v->sigma));   /* alpha' = gamma' / sigma */
  kcl_assign(k, v->behind[i], plus(v->alpha[i]));                   /* what x will lack */
  kcl_divide(k, v->per_gamma, KCL_ONE, plus(v->gamma_new));         /* what the next */
  kcl_divide(k, v->per_alpha, KCL_ONE, plus(v->alpha[i]));          /*   divides by */
  if (early) pipelined_catch_up(k, v, i);
  kcl_apply(k, v->z[i], kcl_A(k), v->m[1 - i]);                 /* n = A m, in z'     */
  kcl_lincomb(k, v->z[i], KCL_ONE, v->z[i], beta, v->z[1 - i]); /* z' = n + beta z    */
  if (!early) pipelined_catch_up(k, v, i);
  kcl_lincomb(k, v->p, KCL_ONE, v->u, beta, v->p);                          /* p = u + beta p     */
  kcl_lincomb(k, v->s, KCL_ONE, v->w[1 - i], beta, v->s);                   /* s = w + beta s     */
  if (v->u != v->r) kcl_lincomb(k, v->q, KCL_ONE, v->m[1 - i], beta, v->q); /* q = m + beta q */
  pipelined_residuals(k, v, i);                                             /* r, u, w, m, dots   */
}

/* Residual replacement: x catches up with r, and what recurrences gave is computed anew. */
static void pipelined_replace(kcl_program *k, const vars *v) {
  kcl_lincomb(k, v->x, KCL_ONE, v->x, plus(v->behind[1]), v->p); /* x = x + alpha p        */
  kcl_residual(k, v->r, v->rr);                                  /* r = b - A x            */
  kcl_precondition(k, v->u, v->r, false);                        /* u = M^-1 r             */
  kcl_apply(k, v->s, kcl_A(k), v->p);                            /* s = A p                */
  kcl_precondition(k, v->q, v->s, false);                        /* q = M^-1 s             */
  kcl_apply(k, v->z[1], kcl_A(k), v->q);                         /* z = A q                */
  kcl_apply(k, v->w[1], kcl_A(k), v->u);                         /* w = A u                */
  kcl_precondition(k, v->m[1], v->w[1], false);                  /* m = M^-1 w             */
  kcl_dot(k, v->delta, v->u, v->w[1]);                           /* delta = u^H w          */
  if (v->u != v->r) kcl_dot(k, v->gamma_new, v->r, v->u);        /* gamma' = r^H u         */
  kcl_assign(k, v->behind[1], KCL_ZERO);                         /* x lacks nothing */
}

static void pipelined_record(kcl_program *k) {
  vars v = {
      .x = kcl_x(k), .r = kcl_vector(k, "r"), .p = kcl_vector(k, "p"), .s = kcl_vector(k, "s")};
  v.u = kcl_preconditioned(k, v.r, "u"), v.q = kcl_preconditioned(k, v.s, "q");
  for (int i = 0; i < 2; i++) {
    v.w[i] = kcl_vector(k, "w%d", i), v.z[i] = kcl_vector(k, "z%d", i);
    v.m[i] = kcl_preconditioned(k, v.w[i], "m%d", i), v.alpha[i] = kcl_scalar(k, "alpha%d", i),
    v.behind[i] = kcl_scalar(k, "behind%d", i);
  }
  v.rr = kcl_scalar(k, "rr"), v.seen = kcl_scalar(k, "seen");
  v.gamma_new = v.u == v.r ? v.rr : kcl_scalar(k, "gamma_new");
  v.delta = kcl_scalar(k, "delta"), v.beta = kcl_scalar(k, "beta"),
  v.sigma = kcl_scalar(k, "sigma");
  v.per_gamma = kcl_scalar(k, "per_gamma"), v.per_alpha = kcl_scalar(k, "per_alpha");
  kcl_begin(k, KCL_START);
  pipelined_start(k, &v);
  kcl_begin(k, KCL_LOOP);
  pipelined_iterate(k, &v, 0);
  pipelined_iterate(k, &v, 1);
  kcl_begin(k, KCL_REPLACE);
  pipelined_replace(k, &v);
  k->rr = v.seen; /* START goes on with r, but its x is the one it was given */
}

const kcl_method kcl_method_cg_pipelined = {.name = "cg-pipelined",
                                            .summary =
                                                "CG with one pass over all vectors per iteration",
                                            .source = "Ghysels & Vanroose 2014",
                                            .hermitian = true,
                                            .recurs_precond = true,
                                            .parts_residual = true,
                                            .record = pipelined_record};
