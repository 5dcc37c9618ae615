/* What the methods for least squares share: min |b - A x|_2, A of any shape.
 *
 * x is one where A^H (b - A x) = 0, whether r = b - A x is zero or not. What is tested is therefore
 *
 *   e = min( |r| / |b|,  max( |A^H r| / |A^H b|,  |A^H r| / (|A|_F |r|) ) )
 *
 * The first is small where the system has a solution; else the second will be. Its two parts say: x has
 * made the gradient small; and x is exact for a matrix that near A (Stewart 1977; Paige & Saunders 1982,
 * rule 2), which also keeps a system with a solution from ending before |r| is small.
 *
 * Products are taken with A times a power of two that brings |A|_F near 1: the squares of these methods
 * neither vanish nor overflow. Cost: nothing, the factor is a coefficient. */
#include "solver/solver.h"
#include <math.h>

double kcl_norm2(kcl_type t, const void *v, int64_t n) {
  double sum = 0, largest = 0;
  for (int64_t i = 0; i < n; i++) {
    double a = kcl_abs(t, v, i);
    if (a > largest || isnan(a)) largest = a;
  }
  if (largest == 0 || !(largest < INFINITY)) return largest;
  for (int64_t i = 0; i < n; i++) {
    double a = kcl_abs(t, v, i) / largest;
    sum += a * a;
  }
  return largest * sqrt(sum);
}

double kcl_scale_of(const kcl_program *k) {
  return k->norm_F > 0 ? ldexp(1, -ilogb(k->norm_F)) : 1;
}

/* A vector of one number: the text of programs, which is compiled and kept, does not depend on it. */
static kcl_vec single(kcl_program *k, double value) { return kcl_constant(k, 1, KCL_D, &value); }

kcl_least_squares kcl_least_squares_of(kcl_program *k) {
  double norm = k->norm_F * kcl_scale_of(k);
  kcl_least_squares l = {.one = single(k, 1),
                         .scale_of = single(k, kcl_scale_of(k)),
                         .norm2_of = single(k, norm * norm)};
  kcl_slot *slot[] = {&l.scale, &l.norm2, &l.e, &l.bb, &l.hh, &l.t};
  for (size_t i = 0; i < sizeof slot / sizeof *slot; i++) *slot[i] = kcl_scalar(k);
  return l;
}

void kcl_apply_scaled(kcl_program *k, const kcl_least_squares *l, kcl_vec y, kcl_matrix *A,
                      kcl_vec x) {
  kcl_apply(k, y, A, x);
  kcl_lincomb(k, y, plus(l->scale), y, KCL_ZERO, y);
}

void kcl_references(kcl_program *k, const kcl_least_squares *l, kcl_vec h) {
  kcl_dot(k, l->scale, l->one, l->scale_of);
  kcl_dot(k, l->norm2, l->one, l->norm2_of);
  kcl_apply_scaled(k, l, h, kcl_AH(k), kcl_b(k)); /* h = A^H b              */
  kcl_dot(k, l->hh, h, h);                        /* hh = h^H h             */
  kcl_dot(k, l->bb, kcl_b(k), kcl_b(k));          /* bb = b^H b             */
}

void kcl_measure(kcl_program *k, const kcl_least_squares *l, kcl_slot rr, kcl_slot ss) {
  kcl_multiply(k, l->t, plus(rr), plus(l->norm2)); /* t = |A|_F^2 rr         */
  kcl_least(k, l->t, plus(l->hh), plus(l->t));     /* t = min(hh, t)         */
  kcl_divide(k, l->t, plus(ss), plus(l->t));       /* t = ss / t             */
  kcl_multiply(k, l->t, plus(l->bb), plus(l->t));  /* t = bb t               */
  kcl_least(k, l->e, plus(rr), plus(l->t));        /* e = min(rr, t)         */
  k->rr = l->e;
}
