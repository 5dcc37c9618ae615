/* Is x the solution? Compares it with a direct one. Two vectors with backward errors e1 and e2
 * may lie up to condition * (e1 + e2) apart in relative terms (Higham 2002, section 7.1), so
 *
 *   fails when  |x - y|_inf / |y|_inf > 10 max(tol, condition (e1 + e2))
 *
 * or when a number is not finite. condition is estimated from the direct factor. When the right
 * side reaches 1 the comparison decides nothing, and that is said. */
#include "cli/cli.h"
#include <math.h>
#include <stdlib.h>

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

int cli_compare_direct(kcl *ctx, const kcl_csr *A, const double *b, const double *x, double tol,
                       cli_compare *c) {
  int rc;
  double *y = calloc((size_t)A->cols + 1, kcl_type_size(A->type));
  *c = (cli_compare){.pass = false};
  TRY(y ? 0 : cli_fail(KCL_MEMORY, "out of memory: the direct solution"));
  TRY(cli_lib(ctx, kcl_direct(ctx, A, b, y, &c->direct)));
  TRY(cli_lib(ctx, kcl_certify(ctx, A, b, x, &c->ours)));
  TRY(cli_lib(ctx, kcl_certify(ctx, A, b, y, &c->theirs)));
  c->difference = difference(A, x, y);
  c->allowed =
      10 * fmax(tol, c->direct.condition * (c->ours.backward_error + c->theirs.backward_error));
  c->pass = c->difference <= c->allowed;
done:
  free(y);
  return rc;
}

bool cli_compare_decides(const cli_compare *c) { return c->allowed < 1; }

void cli_compare_say(const cli_options *o, const cli_compare *c) {
  cli_say(o, "direct      %s in %s, condition about %.1e\n", c->direct.method,
          cli_seconds(c->direct.seconds).s, c->direct.condition);
  cli_say(o, "            residual %.2e (ours %.2e), backward error %.1e (ours %.1e)\n",
          c->theirs.relative_residual, c->ours.relative_residual, c->theirs.backward_error,
          c->ours.backward_error);
  cli_say(o, "check       %s: the solutions differ by %.2e, ",
          !c->pass                 ? "FAILED"
          : cli_compare_decides(c) ? "passed"
                                   : "undecided",
          c->difference);
  if (cli_compare_decides(c) || !c->pass)
    cli_say(o, "allowed %.2e\n", c->allowed);
  else
    cli_say(o, "and condition x backward error is %.1e\n", c->allowed / 10);
}
