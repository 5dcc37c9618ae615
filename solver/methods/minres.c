/* Minimal residuals for Hermitian A, definite or not; M, where there is one, must be definite. Paige &
 * Saunders (1975), preconditioned as in Elman, Silvester & Wathen (2014), algorithm 6.1: Lanczos
 * vectors v, z = M^-1 v, and rotations (c, s) that make the projected problem triangular.
 *
 * Without M the residual's norm is |eta|. With M that is its norm in M^-1, so that r is carried along and
 * the true norm tested. Two stages per iteration; v, z, w alternate between two vectors, of which
 * number n is the newer. Bytes, besides A: 12 n s (v' q v x x w w w' | q v v v'), 17 n s with Jacobi.
 */
#include "solver/methods/method.h"

typedef struct vars {
  kcl_vec x, r, q, v[2], z[2], w[2];
  kcl_slot rr, zq, zv;                         /* r^H r, z^H A z, v^H z  */
  kcl_slot delta, gamma, gamma_old, gamma_new; /* of the Lanczos matrix  */
  kcl_slot c, c_old, c_new, s, s_old, s_new, eta;
  kcl_slot rho, t, by_z, by_w, by_w_old, by_x, by_r, by_v; /* rho: on its triangle's diagonal */
} vars;

/* s = a b + c d e. */
static void minres_products(kcl_program *k, kcl_slot s, kcl_slot t, kcl_slot a, kcl_slot b,
                            kcl_coef c, kcl_slot d, kcl_slot e) {
  kcl_multiply(k, t, c, plus(d));
  kcl_multiply(k, t, plus(t), plus(e));
  kcl_multiply(k, s, plus(a), plus(b));
  kcl_add(k, s, plus(s), plus(t));
}

/* The rotation of this step, and what w, x and r are multiplied by. */
static void rotations(kcl_program *k, const vars *v) {
  kcl_root(k, v->gamma_new, plus(v->zv)); /* gamma' = (v'^H z')^1/2 */
  minres_products(k, v->c_new, v->t, v->c, v->delta, minus(v->c_old), v->s,
                  v->gamma); /* a0 = c delta - c_ s gamma */
  minres_products(k, v->by_w, v->t, v->s, v->delta, plus(v->c_old), v->c,
                  v->gamma);                                    /* a2 = s delta + c_ c gamma */
  kcl_multiply(k, v->by_w_old, plus(v->s_old), plus(v->gamma)); /* a3 = s_ gamma         */
  kcl_multiply(k, v->rho, plus(v->c_new), plus(v->c_new));
  kcl_multiply(k, v->t, plus(v->gamma_new), plus(v->gamma_new));
  kcl_add(k, v->rho, plus(v->rho), plus(v->t));
  kcl_root(k, v->rho, plus(v->rho));                         /* rho = (a0^2 + gamma'^2)^1/2 */
  kcl_divide(k, v->c_new, plus(v->c_new), plus(v->rho));     /* c' = a0 / rho          */
  kcl_divide(k, v->s_new, plus(v->gamma_new), plus(v->rho)); /* s' = gamma' / rho      */
  kcl_multiply(k, v->by_z, plus(v->gamma), plus(v->rho));
  kcl_divide(k, v->by_z, KCL_ONE, plus(v->by_z));               /* 1 / (gamma rho)        */
  kcl_divide(k, v->by_w, minus(v->by_w), plus(v->rho));         /* -a2 / rho              */
  kcl_divide(k, v->by_w_old, minus(v->by_w_old), plus(v->rho)); /* -a3 / rho              */
  kcl_multiply(k, v->by_x, plus(v->c_new), plus(v->eta));       /* c' eta                 */
  kcl_multiply(k, v->eta, minus(v->s_new), plus(v->eta));       /* eta' = -s' eta         */
  kcl_multiply(k, v->by_r, plus(v->s_new), plus(v->s_new));     /* s'^2                   */
  kcl_multiply(k, v->by_v, plus(v->eta), plus(v->c_new));
  kcl_divide(k, v->by_v, plus(v->by_v), plus(v->gamma_new)); /* eta' c' / gamma'       */
  kcl_assign(k, v->gamma_old, plus(v->gamma)), kcl_assign(k, v->gamma, plus(v->gamma_new));
  kcl_assign(k, v->c_old, plus(v->c)), kcl_assign(k, v->c, plus(v->c_new));
  kcl_assign(k, v->s_old, plus(v->s)), kcl_assign(k, v->s, plus(v->s_new));
}

/* The next Lanczos vector, from number n and in place of the other. */
static void lanczos(kcl_program *k, const vars *v, int n) {
  kcl_divide(k, v->delta, plus(v->zq), plus(v->gamma));
  kcl_divide(k, v->delta, plus(v->delta), plus(v->gamma));    /* delta = z^H q / gamma^2 */
  kcl_divide(k, v->by_v, plus(v->delta), plus(v->gamma));     /* delta / gamma          */
  kcl_divide(k, v->by_r, plus(v->gamma), plus(v->gamma_old)); /* gamma / gamma_         */
  kcl_divide(k, v->by_z, KCL_ONE, plus(v->gamma));            /* 1 / gamma              */
  kcl_lincomb(k, v->v[1 - n], minus(v->by_r), v->v[1 - n], minus(v->by_v), v->v[n]);
  kcl_lincomb(k, v->v[1 - n], KCL_ONE, v->v[1 - n], plus(v->by_z),
              v->q); /* v' = (q - delta v) / gamma - gamma v_ / gamma_ */
  kcl_precondition(k, v->z[1 - n], v->v[1 - n], false); /* z' = M^-1 v'           */
  kcl_dot(k, v->zv, v->v[1 - n], v->z[1 - n]);          /* zv = v'^H z'           */
}

static void minres_iterate(kcl_program *k, const vars *v, int n) {
  rotations(k, v);
  kcl_apply(k, v->q, kcl_A(k), v->z[n]); /* q = A z'               */
  kcl_lincomb(k, v->w[n], plus(v->by_w_old), v->w[n], plus(v->by_w), v->w[1 - n]);
  kcl_lincomb(k, v->w[n], KCL_ONE, v->w[n], plus(v->by_z),
              v->z[1 - n]); /* w' = (z / gamma - a3 w_ - a2 w) / rho */
  kcl_lincomb(k, v->x, KCL_ONE, v->x, plus(v->by_x), v->w[n]); /* x = x + c' eta w'      */
  kcl_dot(k, v->zq, v->z[n], v->q);                            /* zq = z'^H q            */
  if (v->z[n] != v->v[n]) {
    kcl_lincomb(k, v->r, plus(v->by_r), v->r, plus(v->by_v),
                v->v[n]);          /* r = s'^2 r + eta' c' v' / gamma' */
    kcl_dot(k, v->rr, v->r, v->r); /* rr = r^H r             */
  } else {
    kcl_multiply(k, v->rr, plus(v->eta), plus(v->eta)); /* rr = eta'^2            */
  }
  kcl_end_iteration(k, v->rr);                 /* small enough?          */
  kcl_need_positive(k, v->zv, KCL_INDEFINITE); /* M is, or stop          */
  lanczos(k, v, n);
}

static void minres_start(kcl_program *k, const vars *v) {
  kcl_residual(k, v->r, v->rr);                 /* r = b - A x            */
  kcl_copy_vector(k, v->v[0], v->r);            /* v = r                  */
  kcl_precondition(k, v->z[0], v->v[0], false); /* z = M^-1 v             */
  kcl_zero_vector(k, v->v[1]);                  /* the one before is 0    */
  for (int i = 0; i < 2; i++) kcl_zero_vector(k, v->w[i]);
  kcl_dot(k, v->zv, v->v[0], v->z[0]);                            /* zv = v^H z             */
  kcl_need_positive(k, v->zv, KCL_INDEFINITE);                    /* M is, or stop          */
  kcl_root(k, v->gamma, plus(v->zv));                             /* gamma = zv^1/2         */
  kcl_assign(k, v->eta, plus(v->gamma));                          /* eta = gamma            */
  kcl_assign(k, v->gamma_old, KCL_ZERO);                          /* its quotient is 0      */
  kcl_assign(k, v->c, KCL_ONE), kcl_assign(k, v->c_old, KCL_ONE); /* no rotation yet        */
  kcl_assign(k, v->s, KCL_ZERO), kcl_assign(k, v->s_old, KCL_ZERO);
  kcl_apply(k, v->q, kcl_A(k), v->z[0]); /* q = A z                */
  kcl_dot(k, v->zq, v->z[0], v->q);      /* zq = z^H q             */
  lanczos(k, v, 0);
}

static void minres_record(kcl_program *k) {
  vars v = {.x = kcl_x(k), .r = kcl_vector(k, "r"), .q = kcl_vector(k, "q")};
  for (int i = 0; i < 2; i++)
    v.v[i] = kcl_vector(k, "v%d", i), v.z[i] = kcl_preconditioned(k, v.v[i], "z%d", i),
    v.w[i] = kcl_vector(k, "w%d", i);
  kcl_slot *slot[] = {&v.rr,        &v.zq,   &v.zv,    &v.delta, &v.gamma, &v.gamma_old,
                      &v.gamma_new, &v.c,    &v.c_old, &v.c_new, &v.s,     &v.s_old,
                      &v.s_new,     &v.eta,  &v.rho,   &v.t,     &v.by_z,  &v.by_w,
                      &v.by_w_old,  &v.by_x, &v.by_r,  &v.by_v};
  kcl_new_scalars(
      k,
      "rr zq zv delta gamma gamma_old gamma_new c c_old c_new s s_old s_new eta rho t by_z "
      "by_w by_w_old by_x by_r by_v",
      slot);
  kcl_begin(k, KCL_START);
  minres_start(k, &v);
  kcl_begin(k, KCL_LOOP);
  minres_iterate(k, &v, 1);
  minres_iterate(k, &v, 0);
}

const kcl_method kcl_method_minres = {.name = "minres",
                                      .summary = "minimal residuals, Hermitian, also indefinite",
                                      .source = "Paige & Saunders 1975",
                                      .hermitian = true,
                                      .record = minres_record};
