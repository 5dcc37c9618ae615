/* Compares x with a direct solution y. Two vectors with backward errors e1 and e2 may differ by up
 * to condition * (e1 + e2) in relative terms (Higham 2002, section 7.1). With the difference d and
 *
 *   allowed = 10 max(tol, condition (e1 + e2))
 *
 *   failed     x did not converge, or d > allowed, or a number is not finite
 *   passed     d <= 10 tol, or d <= allowed < 0.1: at least one digit is right
 *   undecided  otherwise: the system is too ill-conditioned for these residuals
 *
 * An x that is a direct solution itself is no second opinion of y: it passes by its error bound alone, allowed < 0.1.
 *
 * The condition number is estimated from the factors.
 *
 * Least squares: all x that minimise |b - A x| share A x = P b, P onto A's range. Of r = b - A x,
 * |P r| = |A x - P b| is at most |r|, and at most |A^H r| / s, s the smallest non-zero singular
 * value. As |A^H b| <= |A|_F |P b| and condition = |A|_F / s, with 2-norms and normal residuals n,
 *
 *   d = |A (x - y)| / |A y|,  allowed = 10 max(tol, f1 + f2),  f = min(|r| / |A y|, condition n)
 *
 * and if A has full column rank, the solution is unique and its error is at most |P r| / s:
 *
 *   d = |x - y| / |y|,  allowed = 10 max(tol, |A y| / (s |y|) (f1 + f2)) */
#include "cli/cli.h"
#include <math.h>
#include <stdlib.h>

static const double DECISIVE = 0.1; /* largest allowed difference that leaves a right digit */

static double difference(const kcl_csr *A, const double *x, const double *y) {
  double apart = 0, size = 0;
  bool z = kcl_type_complex(A->type);
  for (int64_t i = 0; i < A->cols; i++) {
    double d = z ? hypot(x[2 * i] - y[2 * i], x[2 * i + 1] - y[2 * i + 1]) : fabs(x[i] - y[i]);
    double s = z ? hypot(y[2 * i], y[2 * i + 1]) : fabs(y[i]);
    if (d > apart || isnan(d)) apart = d;
    if (s > size) size = s;
  }
  return size > 0 ? apart / size : apart;
}

static double norm(kcl_type t, const double *v, int64_t n) {
  double sum = 0, m = 0;
  int64_t reals = kcl_type_complex(t) ? 2 * n : n;
  for (int64_t i = 0; i < reals; i++)
    if (fabs(v[i]) > m || isnan(v[i])) m = fabs(v[i]);
  for (int64_t i = 0; i < reals && m > 0; i++) sum += v[i] / m * (v[i] / m);
  return m * sqrt(sum);
}

/* Bound of |A x - P b| relative to |A y|. */
static double misfit(const kcl_certificate *c, double condition, double fit) {
  return fmin(c->relative_residual * c->norm_b / fit, condition * c->normal_residual);
}

/* fit [rows] and apart [cols] are scratch. */
static void compare_fits(const kcl_csr *A, const double *x, const double *y, double *fit,
                         double *apart, cli_compare *c) {
  kcl_type t = A->type;
  int64_t reals = kcl_type_complex(t) ? 2 * A->cols : A->cols;
  double K = c->direct.condition, norm_y = norm(t, y, A->cols);
  for (int64_t i = 0; i < reals; i++) apart[i] = x[i] - y[i];
  kcl_csr_product(A, y, NULL, fit);
  double size = norm(t, fit, A->rows), stretch = 1;
  if (c->unique) {
    stretch = K * size / (norm(t, A->val, A->nnz) * norm_y);
    c->difference = norm(t, apart, A->cols) / norm_y;
  } else {
    kcl_csr_product(A, apart, NULL, fit);
    c->difference = norm(t, fit, A->rows) / size;
  }
  c->error = stretch * misfit(&c->ours, K, size);
  c->direct_error = stretch * misfit(&c->theirs, K, size);
  if (size == 0) c->difference = norm(t, x, A->cols), c->error = c->direct_error = 0; /* y = 0 */
}

static int compare_least(kcl *ctx, const kcl_csr *A, const double *b, const double *x,
                         const double *y, cli_compare *c) {
  int rc;
  double *fit = calloc((size_t)A->rows + 1, kcl_type_size(A->type)),
         *apart = calloc((size_t)A->cols + 1, kcl_type_size(A->type));
  TRY(fit && apart ? 0 : cli_fail(KCL_MEMORY, "out of memory: the direct solution"));
  TRY(cli_lib(ctx, kcl_certify_least_squares(ctx, A, b, x, &c->ours)));
  TRY(cli_lib(ctx, kcl_certify_least_squares(ctx, A, b, y, &c->theirs)));
  compare_fits(A, x, y, fit, apart, c);
done:
  free(fit), free(apart);
  return rc;
}

static int compare_square(kcl *ctx, const kcl_csr *A, const double *b, const double *x,
                          const double *y, cli_compare *c) {
  int rc;
  TRY(cli_lib(ctx, kcl_certify(ctx, A, b, x, &c->ours)));
  TRY(cli_lib(ctx, kcl_certify(ctx, A, b, y, &c->theirs)));
  c->difference = difference(A, x, y);
  c->error = c->direct.condition * c->ours.backward_error;
  c->direct_error = c->direct.condition * c->theirs.backward_error;
done:
  return rc;
}

static void judge(double tol, cli_compare *c) {
  const bool converged = c->origin != CLI_UNCONVERGED, own = c->origin == CLI_FACTORED;
  c->allowed = 10 * fmax(tol, c->error + c->direct_error);
  c->verdict = !converged || !(c->difference <= c->allowed)                   ? CLI_FAILED
               : (!own && c->difference <= 10 * tol) || c->allowed < DECISIVE ? CLI_PASSED
                                                                              : CLI_UNDECIDED;
  /* Half of what may be left for x; residuals far above those of the direct solution can be reached. */
  double would = c->ours.relative_residual * (DECISIVE / 20 - c->direct_error) / c->error;
  if (!converged)
    snprintf(c->reason, sizeof c->reason, "x did not converge");
  else if (c->verdict == CLI_UNDECIDED && own)
    snprintf(c->reason, sizeof c->reason,
             "x is a direct solution itself, and its error bound is %.2g", c->allowed);
  else if (c->verdict == CLI_UNDECIDED && would > 100 * fmax(c->theirs.relative_residual, 1e-16))
    snprintf(c->reason, sizeof c->reason, "--tol %.0e would decide", would);
  else if (c->verdict == CLI_UNDECIDED)
    snprintf(c->reason, sizeof c->reason,
             "no residual in double precision is small enough for this condition");
}

int cli_compare_direct(kcl *ctx, const kcl_csr *A, const double *b, const double *x, double tol,
                       cli_origin origin, double *y, cli_compare *c) {
  int rc;
  *c = (cli_compare){.verdict = CLI_FAILED, .origin = origin};
  TRY(cli_lib(ctx, kcl_direct(ctx, A, b, y, &c->direct)));
  c->unique = c->direct.rank < 0 || c->direct.rank == A->cols;
  TRY((c->direct.rank < 0 ? compare_square : compare_least)(ctx, A, b, x, y, c));
  judge(tol, c);
done:
  return rc;
}

const char *cli_verdict_word(cli_verdict v) {
  return (const char *[]){"passed", "failed", "undecided"}[v];
}

static void say_verdict(const cli_options *o, const cli_compare *c) {
  static const char *const word[] = {"passed", "FAILED", "undecided"}, *const colour[] = {
                                                                           CLI_GREEN, CLI_RED,
                                                                           CLI_YELLOW};
  FILE *f = cli_out(o);
  if (c->origin == CLI_FACTORED && c->verdict != CLI_FAILED) {
    cli_say(o,
            "check       %s%s%s: x is a direct solution itself, so its error bound decides: %.2e, "
            "passed below %g\n",
            cli_style(f, colour[c->verdict]), word[c->verdict], cli_style(f, CLI_PLAIN), c->allowed,
            DECISIVE);
    return;
  }
  cli_say(o, "check       %s%s%s: %s%sthe %s differ by %.2e, allowed %.2e%s%s\n",
          cli_style(f, colour[c->verdict]), word[c->verdict], cli_style(f, CLI_PLAIN),
          c->verdict == CLI_FAILED ? c->reason : "",
          c->verdict == CLI_FAILED && c->reason[0] ? "; " : "",
          c->unique ? "solutions" : "products A x", c->difference, c->allowed,
          c->verdict == CLI_UNDECIDED ? "; " : "", c->verdict == CLI_UNDECIDED ? c->reason : "");
}

void cli_compare_say(const cli_options *o, const cli_compare *c) {
  bool least = c->theirs.normal_residual >= 0 && /* and A x = b has no solution */
               c->theirs.normal_residual < c->theirs.relative_residual;
  cli_say(o, "direct      %s in %s, ", c->direct.method, cli_seconds(c->direct.seconds).s);
  if (c->direct.rank >= 0) cli_say(o, "rank %s, ", cli_count(c->direct.rank).s);
  cli_say(o, "condition about %.1e\n", c->direct.condition);
  const char *x = c->origin == CLI_FACTORED ? "x" : "iterative";
  cli_say(o, "            residual %.2e (%s %.2e), %s %.1e (%s %.1e)\n",
          c->theirs.relative_residual, x, c->ours.relative_residual,
          least ? "normal residual" : "backward error",
          least ? c->theirs.normal_residual : c->theirs.backward_error, x,
          least ? c->ours.normal_residual : c->ours.backward_error);
  if (!c->unique)
    cli_say(o,
            "            |x| %.6g (iterative %.6g): not unique, so the products A x are compared\n",
            c->theirs.norm_x, c->ours.norm_x);
  say_verdict(o, c);
}
