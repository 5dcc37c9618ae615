/* Operations shared by the methods for least squares: min |b - A x|_2, A of any shape.
 *
 * A solution x has A^H (b - A x) = 0, whether r = b - A x is zero or not. The quantity tested is
 *
 *   e = min( |r| / |b|,  max( |A^H r| / |A^H b|,  |A^H r| / (|A|_F |r|) ) )
 *
 * The first is small where the system has a solution, otherwise the second becomes small. Its two parts say that the
 * gradient is small, and that x is exact for a matrix that near A (Stewart 1977; Paige & Saunders 1982,
 * rule 2), which also keeps a system with a solution from ending before |r| is small.
 *
 * Products are taken with A times a power of two that brings |A|_F near 1: the squares of these methods
 * neither vanish nor overflow. Cost: nothing, the factor is a coefficient. */
#include "core/program/ranks.h"
#include "solver/methods/method.h"

double kcl_norm_F(const kcl_csr *A) {
  double norm = kcl_norm2(A->type, A->val, A->nnz);
  return norm > 0 && norm < INFINITY ? norm : 1;
}

double kcl_scale_for(double norm_F) { return norm_F > 0 ? ldexp(1, -ilogb(norm_F)) : 1; }

/* A vector of one number: the source of kernels, which is cached, does not depend on it. On several ranks only the first has it,
 * since dots are sums over all. */
static kcl_vec is_single_precision(kcl_program *k, double value, const char *name) {
  const kcl_ranks *ranks = kcl_program_ranks(k);
  if (ranks && ranks->rank) value = 0;
  return kcl_constant(k, 1, KCL_D, &value, "%s", name);
}

kcl_least_squares kcl_least_squares_of(kcl_program *k) {
  const double scale = kcl_scale_for(k->norm_F), norm = k->norm_F * scale;
  kcl_least_squares l = {.one = is_single_precision(k, 1, "one"),
                         .scale_of = is_single_precision(k, scale, "scale_of_A"),
                         .norm2_of = is_single_precision(k, norm * norm, "norm2_of_A")};
  kcl_slot *slot[] = {&l.scale, &l.norm2, &l.e, &l.bb, &l.hh, &l.t};
  kcl_new_scalars(k, "scale norm2 e bb hh t", slot);
  return l;
}

void kcl_apply_scaled(kcl_program *k, const kcl_least_squares *l, kcl_vec y, kcl_stored *A,
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
