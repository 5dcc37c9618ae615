/* One cycle of multigrid, recorded: smoothing, the residual on the next level, its correction, smoothing; a V-cycle, or a W-cycle
 * where a level is corrected twice.
 */
#include "multigrid/hierarchy.h"
#include "multigrid/smooth.h"

typedef struct cycle {
  kcl_program *k;
  const kcl_preconditioner *M;
  const kcl_hierarchy *h;
} cycle;

static kcl_stored *matrix_of_level(const cycle *c, int number) {
  return number == KCL_NO_MATRIX ? kcl_precond_system(c->k, c->M)
                                 : kcl_precond_operator(c->M, number, false);
}

static kcl_smoothing smooth_level(const cycle *c, const kcl_level *l) {
  return (kcl_smoothing){
      .A = matrix_of_level(c, l->A), .d = kcl_precond_constant(c->k, l->d), .degree = l->degree};
}

/* x = smoothed from 0. */
static void smooth_first(const cycle *c, const kcl_level *l, kcl_vec x, kcl_vec b) {
  const kcl_smoothing s = smooth_level(c, l);
  if (l->degree > 1)
    kcl_record_smoothing(c->k, &s, x, b);
  else
    kcl_times(c->k, x, s.d, b, false);
}

/* x = x + the smoothed correction for its residual r. */
static void smooth_again(const cycle *c, const kcl_level *l, kcl_vec x, kcl_vec r) {
  const kcl_smoothing s = smooth_level(c, l);
  if (l->degree > 1) {
    kcl_record_correction(c->k, &s, x, r);
    return;
  }
  kcl_times(c->k, r, s.d, r, false);
  kcl_lincomb(c->k, x, KCL_ONE, x, KCL_ONE, r);
}

static void record_level(const cycle *c, int number, kcl_vec x, kcl_vec b);

/* x = x + another cycle's correction for b - A x. */
static void correct_from_coarse(const cycle *c, int number, kcl_vec x, kcl_vec b) {
  const kcl_level *l = &c->h->level[number];
  kcl_program *k = c->k;
  kcl_vec v = kcl_work_like(k, x, l->n, "v"), u = kcl_work_like(k, x, l->n, "u");
  kcl_apply(k, v, matrix_of_level(c, l->A), x); /* v = A x                */
  kcl_lincomb(k, v, KCL_ONE, b, KCL_MINUS, v);  /* v = b - v              */
  record_level(c, number, u, v);                /* A u = v, nearly        */
  kcl_lincomb(k, x, KCL_ONE, x, KCL_ONE, u);    /* x = x + u              */
}

static void record_level(const cycle *c, int number, kcl_vec x, kcl_vec b) {
  const kcl_level *l = &c->h->level[number];
  kcl_program *k = c->k;
  if (l->inverse != KCL_NO_MATRIX) {
    kcl_apply(k, x, matrix_of_level(c, l->inverse), b); /* x = A^-1 b             */
    return;
  }
  smooth_first(c, l, x, b);
  if (l->P == KCL_NO_MATRIX) return;
  const int64_t fewer = c->h->level[number + 1].n;
  kcl_vec r = kcl_work_like(k, x, l->n, "r"), q = kcl_work_like(k, x, l->n, "q"),
          e = kcl_work_like(k, x, l->n, "e"), coarse_b = kcl_work_like(k, x, fewer, "b"),
          coarse_x = kcl_work_like(k, x, fewer, "x");
  kcl_apply(k, r, matrix_of_level(c, l->A), x);        /* r = A x                */
  kcl_lincomb(k, r, KCL_ONE, b, KCL_MINUS, r);         /* r = b - r              */
  kcl_apply(k, coarse_b, matrix_of_level(c, l->R), r); /* b' = P^H r             */
  record_level(c, number + 1, coarse_x, coarse_b);     /* A' x' = b', nearly     */
  if (l->twice && c->h->level[number + 1].inverse == KCL_NO_MATRIX)
    correct_from_coarse(c, number + 1, coarse_x, coarse_b);
  kcl_apply(k, e, matrix_of_level(c, l->P), coarse_x); /* e = P x'               */
  kcl_lincomb(k, x, KCL_ONE, x, KCL_ONE, e);           /* x = x + e              */
  kcl_apply(k, q, matrix_of_level(c, l->A), e);        /* q = A e                */
  kcl_lincomb(k, q, KCL_ONE, r, KCL_MINUS, q);         /* q = r - q              */
  smooth_again(c, l, x, q);
}

static bool takes_narrow(const cycle *c) {
  bool all = c->M->narrow && !c->k->recurs_precond &&
             kcl_stored_takes_narrow(kcl_precond_system(c->k, c->M));
  for (int i = 0; i < c->M->matrices && all; i++) all = kcl_stored_takes_narrow(c->M->matrix[i].C);
  return all;
}

void kcl_levels_apply(kcl_program *k, const kcl_preconditioner *M, kcl_vec z, kcl_vec r,
                      bool adjoint) {
  const cycle c = {.k = k, .M = M, .h = M->data};
  (void)adjoint; /* A = A^H, or the method needs none */
  for (int i = 0; i < M->samples; i++) kcl_expect(k, M->sample[i]);
  if (!takes_narrow(&c)) {
    record_level(&c, 0, z, r);
    return;
  }
  const int64_t n = c.h->level[0].n;
  const kcl_vec b = kcl_narrow_work(k, n, "b"), x = kcl_narrow_work(k, n, "x");
  kcl_copy_vector(k, b, r);  /* b = r, in float        */
  record_level(&c, 0, x, b); /* A x = b, nearly        */
  kcl_copy_vector(k, z, x);  /* z = x                  */
}
