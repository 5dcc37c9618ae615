/* Prints a comparison with a direct solution (kcl_solution_check) and turns its verdict into an exit code. */
#include "cli/problem/problem.h"
#include "cli/ui/terminal.h"
#include "cli/ui/text.h"

kcl_check_plan cli_check_plan(const cli_options *o, double tol) {
  return (kcl_check_plan){.method = o->check, .tol = tol, .atol = o->atol, .error = o->check_tol};
}

static void say_verdict(const cli_options *o, const kcl_solution_error *c) {
  static const char *const word[] = {"passed", "FAILED", "undecided"}, *const colour[] = {
                                                                           CLI_GREEN, CLI_RED,
                                                                           CLI_YELLOW};
  FILE *f = cli_out(o);
  char within[64] = "has itself an unknown error";
  if (c->bound < INFINITY) snprintf(within, sizeof within, "is itself within %.1e", c->bound);
  cli_say(o, "check       %s%s%s: %s%s%s from %s by %.2e, which %s; allowed %.2e\n",
          cli_style(f, colour[c->verdict]), word[c->verdict], cli_style(f, CLI_PLAIN), c->reason,
          c->reason[0] ? "; " : "", c->unique ? "x differs" : "A x differs",
          c->unique ? "the refined direct solution" : "that of the refined direct solution",
          c->difference, within, c->allowed);
}

void cli_compare_say(const cli_options *o, const kcl_solution_error *c) {
  bool least = c->of_y.normal_residual >= 0 && /* and A x = b has no solution */
               c->of_y.normal_residual < c->of_y.relative_residual;
  cli_say(o, "direct      %s in %s, ", c->direct.method, cli_seconds(c->direct.seconds).s);
  if (c->direct.rank >= 0) cli_say(o, "rank %s, ", cli_count(c->direct.rank).s);
  cli_say(o, "%d correction%s, condition about %.1e\n", c->direct.corrections,
          c->direct.corrections == 1 ? "" : "s", c->direct.condition);
  cli_say(o, "            residual %.2e (x %.2e), %s %.1e (x %.1e)\n", c->of_y.relative_residual,
          c->of_x.relative_residual, least ? "normal residual" : "backward error",
          least ? c->of_y.normal_residual : c->of_y.backward_error,
          least ? c->of_x.normal_residual : c->of_x.backward_error);
  if (!c->unique)
    cli_say(o, "            |x| %.6g (direct %.6g): not unique, so the products A x are compared\n",
            c->of_x.norm_x, c->of_y.norm_x);
  say_verdict(o, c);
}

int cli_compare_code(const kcl_solution_error *c) {
  switch (c->verdict) {
  case KCL_PASSED: return 0;
  case KCL_FAILED: return cli_fail(CLI_CHECK_FAILED, "the check failed: %s", c->reason);
  default: return cli_fail(CLI_CHECK_UNDECIDED, "the check is undecided: %s", c->reason);
  }
}
