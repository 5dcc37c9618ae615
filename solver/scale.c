/* Is a system scaled, and how (solver/engine/scale.h)?
 *
 * A solve stops at |b - A x| <= tol |b|. A row whose entries are `ratio` times smaller than the largest adds that much less
 * to |b - A x|, so its own relative residual may be as large as ratio * tol. Where that exceeds HIDDEN, rows and columns are
 * equilibrated, and the residual that methods test and stop at is R (b - A x), to which every row adds alike. Convergence
 * is claimed when |b - A x| has reached its own target too (solver/loop/claims.c). Jacobi alone would leave the test as it
 * is.
 *
 * Least squares are not scaled: another x minimises |R (b - A x)|. A row of zeros makes A singular and asks for one. */
#include "solver/solver.h"
#include <math.h>
#include <stdio.h>

static const double HIDDEN = 0.01; /* relative residual of a small row that a claim may hide */

/* Methods take products of products of A, such as |A A^H r|^2: A stays as it is while their exponents have room. */
static int unit_of(const kcl_system *s) {
  const bool single = s->options.precision == KCL_S || s->options.precision == KCL_C;
  const double norm = s->stats.norm_inf;
  int most = single ? 20 : 200, exponent = norm > 0 && norm < INFINITY ? ilogb(norm) : 0;
  if (exponent >= -most && exponent <= most) return 0;
  return exponent > 1000 ? -1000 : exponent < -1000 ? 1000 : -exponent;
}

static bool hides_rows(const kcl_system *s) {
  const kcl_options *o = &s->options;
  return o->scale == KCL_SCALE_AUTO && o->atol == 0 && s->stats.row_ratio < INFINITY &&
         s->stats.row_ratio * kcl_system_tol(s) > HIDDEN;
}

/* Why it is not scaled all the same, or NULL. */
static const char *obstacle(const kcl_system *s) {
  const kcl_method *m;
  if (s->A->rows != s->A->cols) return "least squares would become others";
  if (!s->undecided.method && !kcl_method_find(s->ctx, s->options.solver, &m) && m->least_squares)
    return "least squares would become others";
  return NULL;
}

static void range(const int *power, int64_t n, int out[2]) {
  out[0] = out[1] = power[0];
  for (int64_t i = 1; i < n; i++) {
    if (power[i] < out[0]) out[0] = power[i];
    if (power[i] > out[1]) out[1] = power[i];
  }
}

static void explain(kcl_system *s, double ratio, const char *why_not) {
  kcl_scaling *c = &s->scaling;
  char *text = s->scale_reason;
  const size_t room = sizeof s->scale_reason;
  if (why_not) {
    snprintf(text, room, "none, though rows differ by a factor of %.2g: %s", ratio, why_not);
    return;
  }
  range(c->row, s->A->rows, c->row_range), range(c->col, s->A->cols, c->col_range);
  snprintf(text, room,
           "rows by 2^%d to 2^%d, columns by 2^%d to 2^%d, since rows differ by a factor of %.2g",
           c->row_range[0], c->row_range[1], c->col_range[0], c->col_range[1], ratio);
}

/* The format that was named may live on values that repeat. */
static bool format_refuses(const kcl_system *s, const kcl_stats *scaled) {
  kcl_cost given, now;
  const kcl_options *o = &s->options;
  return !s->undecided.format &&
         !kcl_format_cost(s->ctx, &s->stats, o->precision, o->format, &given) && !given.refusal &&
         !kcl_format_cost(s->ctx, scaled, o->precision, o->format, &now) && now.refusal;
}

static int equilibrate(kcl_system *s) {
  const bool mirrored = s->hermitian || s->symmetric || s->stats.shifted_skew || s->stats.hermitian;
  kcl_stats scaled;
  double start = kcl_now(), ratio = s->stats.row_ratio;
  int rc;
  if ((rc = kcl_equilibrate(s->ctx, s->A, mirrored, &s->scaling))) return rc;
  if ((rc = kcl_system_convert(s))) return rc;
  if (!mirrored) s->converted->symmetry = KCL_GENERAL;
  s->seconds_convert += kcl_now() - start, start = kcl_now();
  if ((rc = kcl_csr_stats(s->ctx, s->converted, &scaled))) return rc;
  const bool refused = format_refuses(s, &scaled);
  if (refused)
    kcl_scaling_free(&s->scaling), kcl_csr_free(&s->converted);
  else
    s->stats = scaled;
  explain(s, ratio, refused ? "the format would refuse the scaled matrix" : NULL);
  s->seconds_stats += kcl_now() - start;
  return KCL_OK;
}

int kcl_system_scale(kcl_system *s) {
  const char *why_not = obstacle(s);
  if (hides_rows(s) && !why_not) return equilibrate(s);
  if (hides_rows(s)) explain(s, s->stats.row_ratio, why_not);
  s->scaling.unit = unit_of(s);
  return KCL_OK;
}

int kcl_system_convert(kcl_system *s) {
  const bool scaled = s->scaling.row || s->scaling.unit;
  const bool there = s->shared[0] || s->A->type == s->options.precision;
  if (s->converted || (!scaled && there)) return KCL_OK;
  int rc = kcl_csr_convert(s->ctx, s->A, s->options.precision, &s->converted);
  if (!rc && scaled) kcl_scale_values(&s->scaling, s->A, s->converted->type, s->converted->val);
  return rc;
}
