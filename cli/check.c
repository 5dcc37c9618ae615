/* krylocl check: how good is x? Residual and backward error, the normal residual for least squares,
 * and the difference from a direct solution if the build has direct solvers. Every column of b and
 * x must pass. */
#include "cli/input/input.h"
#include "cli/problem/problem.h"
#include "cli/ui/json.h"
#include "cli/ui/terminal.h"
#include "cli/ui/text.h"

typedef struct judged {
  kcl_certificate c;
  kcl_solution_error direct;
  bool pass, compared;
  kcl_verdict verdict; /* of both */
} judged;

/* Certifies x. It passes if the relative residual or, for a rectangular A, the normal residual is within tol. */
static int check_residual(kcl_context *ctx, const cli_problem *p, const double *b, const double *x,
                          double tol, judged *r) {
  bool least = p->A->rows != p->A->cols;
  int rc = (least ? kcl_certify_least_squares : kcl_certify)(ctx, p->A, b, x, &r->c);
  r->pass = r->c.relative_residual <= tol || (least && r->c.normal_residual <= tol);
  return cli_lib(rc);
}

static int judge_column(kcl_context *ctx, const cli_options *o, const cli_problem *p, int64_t j,
                        double tol, kcl_dense *y, judged *r) {
  const double *b = cli_column(p->b, j), *x = cli_column(p->x, j);
  const kcl_check_plan plan = cli_check_plan(o, tol);
  const bool least = p->A->rows != p->A->cols,
             direct = (least ? kcl_direct_least_squares() : kcl_direct_available()) &&
                      !(o->check && strcmp(o->check, "none") == 0);
  *r = (judged){.compared = false};
  CLI_CALL(check_residual(ctx, p, b, x, tol, r));
  r->verdict = r->pass ? KCL_PASSED : KCL_FAILED;
  if (!direct) return 0;
  r->compared = !cli_lib(kcl_solution_check(ctx, p->A, b, x, &plan, cli_column(y, j),
                                            &r->direct)); /* false: the reason was printed */
  if (r->compared && r->pass) r->verdict = r->direct.verdict;
  return 0;
}

static void say_column_verdict(const cli_options *o, int64_t j, int64_t columns, const judged *r,
                               double tol) {
  if (columns > 1) cli_say(o, "column      %s\n", cli_count(j + 1).s);
  cli_say(o, "residual    |b - A x|/|b| = %.3e, %s %.1e\n", r->c.relative_residual,
          r->c.relative_residual <= tol ? "within" : "NOT within", tol);
  if (r->c.normal_residual >= 0 && !(r->c.relative_residual <= tol))
    cli_say(o, "            normal residual %.3e, %s %.1e%s\n", r->c.normal_residual,
            r->pass ? "within" : "NOT within", tol, r->pass ? ": least-squares solution" : "");
  cli_say(o, "            backward error %.3e, |b| = %.6g, |x| = %.6g\n", r->c.backward_error,
          r->c.norm_b, r->c.norm_x);
  cli_say(o, "            by rows %.3e, by components %.3e\n", r->c.rowwise_error,
          r->c.componentwise_error);
  if (r->compared) cli_compare_say(o, &r->direct);
}

static void verdict_json(cJSON *list, int64_t j, const judged *r, double tol) {
  cJSON *o = cli_json_item(list);
  cli_json_count(o, "column", j + 1);
  cli_json_text(o, "verdict", kcl_verdict_name(r->verdict));
  cli_json_number(o, "tol", tol);
  cli_json_number(o, "relative_residual", r->c.relative_residual);
  cli_json_number(o, "backward_error", r->c.backward_error);
  cli_json_number(o, "rowwise_error", r->c.rowwise_error);
  cli_json_number(o, "componentwise_error", r->c.componentwise_error);
  if (r->c.normal_residual >= 0) cli_json_number(o, "normal_residual", r->c.normal_residual);
  cli_json_number(o, "norm_b", r->c.norm_b);
  cli_json_number(o, "norm_x", r->c.norm_x);
  if (r->compared) cli_json_compare(cJSON_AddObjectToObject(o, "check"), &r->direct);
}

static int verdict_code(const cli_problem *p, const judged *r, double tol) {
  if (r->pass) return r->compared ? cli_compare_code(&r->direct) : 0;
  return cli_fail(CLI_CHECK_FAILED, "the check failed: the relative residual %s %g",
                  p->A->rows != p->A->cols ? "and the normal residual exceed" : "exceeds", tol);
}

/* True if a is worse than b: failed is worse than undecided. */
static bool worse_verdict(const judged *a, const judged *b) {
  return a->verdict == KCL_FAILED ? b->verdict != KCL_FAILED
                                  : a->verdict == KCL_UNDECIDED && b->verdict == KCL_PASSED;
}

/* Writes one object for one column, a list for several. */
static int write_check_json(const cli_options *o, cJSON *list) {
  return cli_json_write(o->json,
                        cJSON_GetArraySize(list) == 1 ? cJSON_GetArrayItem(list, 0) : list);
}

static int run_check(kcl_context *ctx, const cli_options *o) {
  judged r, worst = {.verdict = KCL_PASSED, .pass = true};
  CLI_OWNED_BY(cli_problem_free) cli_problem p = {0};
  CLI_OWNED_BY(kcl_dense_free) kcl_dense *y = NULL;
  double tol = o->tol >= 0 ? o->tol : 1e-8;
  CLI_OWNED_BY(cli_json_free) cJSON *list = cJSON_CreateArray();
  CLI_CALL(cli_problem_load(ctx, o, o->files[0], o->files[1], o->files[2], &p));
  if (p.x_repeated)
    CLI_CALL(cli_fail(KCL_INPUT, "%s has 1 column, the right-hand side %s", o->files[2],
                      cli_count(p.b->cols).s));
  cli_report_matrix(o, o->files[0], p.A, p.seconds_read);
  CLI_CALL(cli_lib(kcl_dense_create(ctx, p.A->cols, p.b->cols, p.A->type, &y)));
  for (int64_t j = 0; j < p.b->cols; j++) {
    cli_busy(o, "checking");
    CLI_CALL(judge_column(ctx, o, &p, j, tol, y, &r));
    say_column_verdict(o, j, p.b->cols, &r, tol);
    if (worse_verdict(&r, &worst)) worst = r;
    verdict_json(list, j, &r, tol);
  }
  CLI_CALL(write_check_json(o, list));
  if (o->check_output && r.compared) CLI_CALL(cli_lib(kcl_dense_write(ctx, o->check_output, y)));
  return verdict_code(&p, &worst, tol);
}

const cli_command cli_check = {
    .name = "check",
    .operands = "A.mtx|poisson2d:300 b.rhs|ones|random x.mtx",
    .summary = "residual and backward error of x, and a direct solution",
    .options = "tol check check-tol check-output json quiet threads cache index-base durable",
    .min = 3,
    .max = 3,
    .reads = true,
    .run = run_check,
    .notes = "Passes if |r|_2 / |b|_2 <= --tol (1e-8), r = b - A x, or if A is rectangular and the "
             "normal residual max(|A^H r| / |A^H b|, |A^H r| / (|A|_F |r|)) <= --tol; else the "
             "exit code is 6. The comparison with a direct solution must not fail (6) or be "
             "undecided (7) either, as for --check of krylocl solve; --check none leaves it out.\n"
             "\n"
             "--json: one object, or a list with one per column of b:\n"
             "  column verdict tol relative_residual backward_error rowwise_error "
             "componentwise_error [normal_residual] norm_b norm_x [check, as of krylocl solve]\n"};
