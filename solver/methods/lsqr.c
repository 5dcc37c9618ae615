/* LSQR for least squares, min |b - A x|, A of any shape: mathematically CGLS, from the bidiagonalisation of
 * Golub & Kahan (1965), and steadier where A is ill-conditioned. Paige & Saunders (1982). Preconditioned by
 * M for A^H A, whose inner product then makes the v orthonormal (Benbow 1999). From x = 0, without M, to
 * the x of least norm.
 *
 * u and v are not normalised; their norms beta and alpha are in slots. w follows one step behind, so that two
 * stages are enough. A is m by n: one product with A and one with A^H, and besides 4 m + 8 n elements
 * (v t u u | u t v w w x x v), with Jacobi 3 n more.
 */
#include "solver/methods/method.h"

typedef struct vars {
  kcl_least_squares l;
  kcl_vec x, u, au, v, av, z, w;              /* au = A z, av = A^H u, z = M^-1 v      */
  kcl_slot uu, vv, vz, alpha, beta;           /* vz = v^H z                            */
  kcl_slot rho, rho_bar, phi_bar, c, s, over; /* over: theta / rho of the step before */
  kcl_slot rr, ss, by_x, by_w, by_u, by_v, t;
} vars;

/* The next u: beta u = A v - alpha u */
static void lsqr_left(kcl_program *k, const vars *v) {
  kcl_root(k, v->alpha, plus(v->vz)); /* alpha = |v|            */
  kcl_divide(k, v->by_v, plus(v->l.scale), plus(v->alpha));
  kcl_divide(k, v->by_u, plus(v->alpha), plus(v->beta));
  kcl_apply(k, v->au, kcl_A(k), v->z);                              /* u = A v / alpha        */
  kcl_lincomb(k, v->u, plus(v->by_v), v->au, minus(v->by_u), v->u); /*     - alpha u / beta   */
  kcl_dot(k, v->uu, v->u, v->u);
}

/* s = a^2 b */
static void lsqr_square(kcl_program *k, kcl_slot s, kcl_slot a, kcl_coef b) {
  kcl_multiply(k, s, plus(a), b);
  kcl_multiply(k, s, plus(s), plus(a));
}

static void lsqr_start(kcl_program *k, const vars *v) {
  kcl_references(k, &v->l, v->v);    /* |A^H b|, |b|           */
  kcl_residual(k, v->u, v->rr);      /* u = b - A x            */
  kcl_root(k, v->beta, plus(v->rr)); /* beta = |u|             */
  kcl_divide(k, v->by_u, plus(v->l.scale), plus(v->beta));
  kcl_apply(k, v->av, kcl_AH(k), v->u);
  kcl_lincomb(k, v->v, plus(v->by_u), v->av, KCL_ZERO, v->v); /* v = A^H u / beta       */
  kcl_precondition(k, v->z, v->v, false);                     /* z = M^-1 v             */
  kcl_dot(k, v->vz, v->v, v->z), kcl_dot(k, v->vv, v->v, v->v);
  kcl_zero_vector(k, v->w); /* w = 0                  */
  kcl_assign(k, v->over, KCL_ZERO);
  kcl_assign(k, v->phi_bar, plus(v->beta));    /* phi' = beta            */
  kcl_root(k, v->rho_bar, plus(v->vz));        /* rho' = alpha           */
  lsqr_square(k, v->ss, v->beta, plus(v->vv)); /* |A^H r|^2              */
  kcl_measure(k, &v->l, v->rr, v->ss);
  lsqr_left(k, v);
}

/* The rotation that takes (rho', beta) to (rho, 0), and what follows for r and x. */
static void lsqr_rotate(kcl_program *k, const vars *v) {
  kcl_root(k, v->beta, plus(v->uu)); /* beta = |u|             */
  kcl_multiply(k, v->t, plus(v->rho_bar), plus(v->rho_bar));
  kcl_add(k, v->t, plus(v->t), plus(v->uu));
  kcl_root(k, v->rho, plus(v->t));                        /* rho = (rho'^2 + beta^2)^1/2 */
  kcl_divide(k, v->c, plus(v->rho_bar), plus(v->rho));    /* c = rho' / rho         */
  kcl_divide(k, v->s, plus(v->beta), plus(v->rho));       /* s = beta / rho         */
  kcl_multiply(k, v->by_x, plus(v->c), plus(v->phi_bar)); /* phi = c phi'           */
  kcl_divide(k, v->by_x, plus(v->by_x), plus(v->rho));
  kcl_multiply(k, v->by_x, plus(v->by_x), plus(v->l.scale)); /* A was scaled, x is not */
  kcl_multiply(k, v->phi_bar, plus(v->s), plus(v->phi_bar)); /* phi' = s phi' = |r|    */
  kcl_divide(k, v->by_w, KCL_ONE, plus(v->alpha));
  kcl_divide(k, v->by_u, plus(v->l.scale), plus(v->beta));
  kcl_divide(k, v->by_v, plus(v->beta), plus(v->alpha));
}

/* And |A^H r| = phi' alpha |c|, for the test. */
static void lsqr_test(kcl_program *k, const vars *v) {
  kcl_root(k, v->alpha, plus(v->vz));                       /* alpha = |v|            */
  kcl_multiply(k, v->t, plus(v->s), plus(v->alpha));        /* theta = s alpha        */
  kcl_divide(k, v->over, plus(v->t), plus(v->rho));         /* over = theta / rho     */
  kcl_multiply(k, v->rho_bar, minus(v->c), plus(v->alpha)); /* rho' = -c alpha        */
  lsqr_square(k, v->rr, v->phi_bar, KCL_ONE);
  lsqr_square(k, v->ss, v->c, plus(v->vv));
  kcl_multiply(k, v->ss, plus(v->ss), plus(v->rr));
  kcl_measure(k, &v->l, v->rr, v->ss);
  kcl_end_iteration(k, v->l.e); /* small enough?          */
}

static void lsqr_loop(kcl_program *k, const vars *v) {
  lsqr_rotate(k, v);
  kcl_apply(k, v->av, kcl_AH(k), v->u);
  kcl_lincomb(k, v->w, plus(v->by_w), v->z, minus(v->over),
              v->w);                                        /* w = v / alpha - theta w / rho */
  kcl_lincomb(k, v->x, KCL_ONE, v->x, plus(v->by_x), v->w); /* x = x + phi w / rho    */
  kcl_lincomb(k, v->v, plus(v->by_u), v->av, minus(v->by_v),
              v->v);                      /* v = A^H u / beta - beta v / alpha */
  kcl_precondition(k, v->z, v->v, false); /* z = M^-1 v             */
  kcl_dot(k, v->vz, v->v, v->z), kcl_dot(k, v->vv, v->v, v->v);
  lsqr_test(k, v);
  lsqr_left(k, v);
}

static void lsqr_record(kcl_program *k) {
  vars v = {.l = kcl_least_squares_of(k),
            .x = kcl_x(k),
            .u = kcl_vector(k, "u"),
            .au = kcl_vector(k, "au")};
  v.v = kcl_vector_like(k, v.x, "v"), v.av = kcl_vector_like(k, v.x, "av"),
  v.w = kcl_vector_like(k, v.x, "w");
  v.z = kcl_preconditioned(k, v.v, "z");
  kcl_slot *slot[] = {&v.uu,      &v.vv,      &v.vz,   &v.alpha, &v.beta, &v.rho,
                      &v.rho_bar, &v.phi_bar, &v.c,    &v.s,     &v.over, &v.rr,
                      &v.ss,      &v.by_x,    &v.by_w, &v.by_u,  &v.by_v, &v.t};
  kcl_new_scalars(k, "uu vv vz alpha beta rho rho_bar phi_bar c s over rr ss by_x by_w by_u by_v t",
                  slot);
  kcl_begin(k, KCL_START);
  lsqr_start(k, &v);
  kcl_begin(k, KCL_LOOP);
  lsqr_loop(k, &v);
}

const kcl_method kcl_method_lsqr = {.name = "lsqr",
                                    .summary = "LSQR, least squares, any matrix, also rectangular",
                                    .source = "Paige & Saunders 1982",
                                    .adjoint = true,
                                    .least_squares = true,
                                    .parts_residual = true,
                                    .record = lsqr_record};
