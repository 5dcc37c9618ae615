/* Is a system scaled, and how (solver/engine/scale.h)?
 *
 * A solve stops at |b - A x| <= tol |b|. A row whose entries are `ratio` times smaller than the largest adds that much less
 * to |b - A x|, so its own relative residual may be as large as ratio * tol. Where that exceeds HIDDEN, rows and columns are
 * equilibrated, and the residual that methods test and stop at is R (b - A x), to which every row adds alike. Convergence
 * is claimed when |b - A x| has reached its own target too (solver/loop/claims.c). Jacobi alone would leave the test as it
 * is.
 *
 * Least squares are not scaled: another x minimises |R (b - A x)|. A row of zeros makes A singular and asks for one. */
#include "core/matrix/structure.h"
#include "solver/solver.h"
#include <stdio.h>

static const double HIDDEN = 0.01; /* relative residual of a small row that a claim may hide */

/* Methods take products of products of A, such as |A A^H r|^2: A is not scaled while their exponents have room. */
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

/* The least and the largest, of all ranks. */
static void range(const kcl_system *s, const int *power, int64_t n, int out[2]) {
  kcl_ranks *ranks = kcl_system_ranks(s);
  out[0] = out[1] = power[0];
  for (int64_t i = 1; i < n; i++) {
    if (power[i] < out[0]) out[0] = power[i];
    if (power[i] > out[1]) out[1] = power[i];
  }
  if (!ranks) return;
  out[0] = -(int)ranks->largest(ranks, -out[0]), out[1] = (int)ranks->largest(ranks, out[1]);
}

static void explain_none(kcl_system *s, double ratio, const char *why) {
  snprintf(s->scale_reason, sizeof s->scale_reason,
           "none, though rows differ by a factor of %s: %s", kcl_factor_text(ratio).s, why);
}

static void explain_scaling(kcl_system *s, double ratio, bool refused) {
  kcl_scaling *c = &s->scaling;
  if (refused) {
    explain_none(s, ratio, "the format would refuse the scaled matrix");
    return;
  }
  range(s, c->row, s->A->rows, c->row_range), range(s, c->col, s->A->cols, c->col_range);
  snprintf(s->scale_reason, sizeof s->scale_reason,
           "rows by 2^%d to 2^%d, columns by 2^%d to 2^%d, since rows differ by a factor of %s",
           c->row_range[0], c->row_range[1], c->col_range[0], c->col_range[1],
           kcl_factor_text(ratio).s);
}

/* The format that was named may live on values that repeat. */
static bool format_refuses(const kcl_system *s, const kcl_stats *scaled) {
  kcl_cost given, now;
  const kcl_options *o = &s->options;
  return !s->undecided.format &&
         !kcl_format_cost(s->ctx, &s->stats, o->precision, o->format, &given) && !given.refusal &&
         !kcl_format_cost(s->ctx, scaled, o->precision, o->format, &now) && now.refusal;
}

static bool is_mirrored(const kcl_system *s) {
  return s->hermitian || s->symmetric || s->stats.shifted_skew || s->stats.hermitian;
}

/* R, C and u of another system of this size, which a preconditioner that is given was set up for. */
static int copy_scaling(kcl_system *s) {
  const kcl_scaling *from = s->scale_as;
  kcl_scaling *to = &s->scaling;
  const int64_t rows = s->A->rows, cols = s->A->cols;
  KCL_CALL(kcl_alloc(s->ctx, rows, sizeof *to->row, "the scaling", (void **)&to->row));
  KCL_CALL(kcl_alloc(s->ctx, cols, sizeof *to->col, "the scaling", (void **)&to->col));
  kcl_copy_bytes(to->row, from->row, rows * (int64_t)sizeof *to->row);
  kcl_copy_bytes(to->col, from->col, cols * (int64_t)sizeof *to->col);
  return KCL_OK;
}

static int equilibrate(kcl_system *s) {
  const bool mirrored = is_mirrored(s);
  kcl_distribution *d = s->distribution;
  kcl_stats scaled = s->stats;
  double start = kcl_now(), ratio = s->stats.row_ratio;
  KCL_CALL(s->scale_as ? copy_scaling(s)
                       : kcl_equilibrate(s->ctx, s->A, mirrored, s->halo, &s->scaling));
  KCL_CALL(kcl_system_convert(s));
  if (!mirrored) s->converted->symmetry = KCL_GENERAL;
  s->seconds_convert += kcl_now() - start, start = kcl_now();
  KCL_CALL(d ? d->count(d, &scaled) : kcl_csr_values(s->ctx, s->converted, NULL, s->runs, &scaled));
  if (!d && !s->repeats_known) KCL_CALL(kcl_compression(s->ctx, s->converted, NULL, &scaled));
  const bool refused =
      !s->scale_as && kcl_ranks_largest(kcl_system_ranks(s), format_refuses(s, &scaled)) > 0;
  if (refused) {
    kcl_scaling_free(&s->scaling);
    kcl_system_forget_converted(s);
  } else {
    s->stats = scaled;
  }
  explain_scaling(s, ratio, refused);
  s->seconds_stats += kcl_now() - start;
  return KCL_OK;
}

static bool is_wanted(kcl_system *s) {
  const char *why_not = obstacle(s);
  if (hides_rows(s) && !why_not) return true;
  if (hides_rows(s)) explain_none(s, s->stats.row_ratio, why_not);
  s->scaling.unit = unit_of(s);
  return false;
}

/* A named method for Hermitian matrices stays one only where R A C is Hermitian too. */
static int scale_as_given(kcl_system *s) {
  s->scaling.unit = s->scale_as->unit;
  int rc = s->scale_as->row ? equilibrate(s) : KCL_OK;
  if (!rc && s->scale_as->row) kcl_apply_symmetry(s);
  return rc;
}

int kcl_system_scale(kcl_system *s) {
  if (s->scale_as) return scale_as_given(s);
  return is_wanted(s) ? equilibrate(s) : KCL_OK;
}

int kcl_system_convert(kcl_system *s) {
  const bool scaled = s->scaling.row || s->scaling.unit;
  const bool there = s->shared[0] || s->A->type == s->options.precision;
  if (s->converted) return KCL_OK;
  if (s->distribution) return s->distribution->convert(s->distribution);
  if (!scaled && there) return KCL_OK;
  int rc = kcl_csr_convert(s->ctx, s->A, s->options.precision, &s->converted);
  if (!rc && scaled) kcl_scale_values(&s->scaling, s->A, s->converted->type, s->converted->val);
  return rc;
}

void kcl_system_forget_converted(kcl_system *s) {
  if (s->distribution) s->converted = NULL; /* not ours */
  kcl_csr_free(&s->converted);
}
