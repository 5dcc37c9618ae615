/* Compares x with a direct solution y that was refined. With d their relative difference and e a bound of the
 * error of y (solver/direct/refine.c), the error of x is between d - e and d + e.
 *
 *   allowed    the error that was asked for; else the least of 0.1, below which one digit is right, and
 *              10 max(tol, condition * backward error of x), what the residual of x allows (Higham 2002, section 7.1)
 *   failed     x is not solved to tol, or d - e > allowed
 *   passed     d + e <= the error that was asked for; else d <= allowed, and d + e <= 0.1
 *   undecided  otherwise: e is not small against d
 *
 * Least squares: all x that minimise |b - A x| share A x = P b, P onto A's range. Of r = b - A x,
 * |P r| = |A x - P b| is at most |r|, and at most |A^H r| / s, s the smallest non-zero singular
 * value. As |A^H b| <= |A|_F |P b| and condition = |A|_F / s, with 2-norms and normal residuals n,
 *
 *   d = |A (x - y)| / |A y|,  error of x at most f = min(|r| / |A y|, condition n)
 *
 * and if A has full column rank, the solution is unique and its error is at most |P r| / s:
 *
 *   d = |x - y| / |y|,  error of x at most |A y| / (s |y|) f */
#include "solver/solver.h"
#include <stdio.h>

static const double ONE_DIGIT = 0.1; /* the largest relative error that leaves a right digit */

typedef struct pair {
  const kcl_csr *A;
  const double *b, *x, *y;
} pair;

/* out = x - y */
static void subtract_vectors(const pair *p, double *out) {
  const int64_t reals = p->A->cols * (kcl_type_complex(p->A->type) ? 2 : 1);
  for (int64_t i = 0; i < reals; i++) out[i] = p->x[i] - p->y[i];
}

/* *error: what the residual of x allows it to be off by. */
static int compare_square(kcl_context *ctx, const pair *p, double *apart, kcl_solution_error *out,
                          double *error) {
  const kcl_type t = p->A->type;
  KCL_CALL(kcl_certify(ctx, p->A, p->b, p->x, &out->of_x));
  KCL_CALL(kcl_certify(ctx, p->A, p->b, p->y, &out->of_y));
  subtract_vectors(p, apart);
  out->difference =
      kcl_ratio(kcl_norm_inf(t, apart, p->A->cols), kcl_norm_inf(t, p->y, p->A->cols));
  out->bound = out->direct.error;
  *error = out->direct.condition * out->of_x.backward_error;
  return KCL_OK;
}

/* Bound of |A x - P b| relative to |A y|; r is rounded before A^H r is computed. */
static double misfit(const kcl_certificate *c, double condition, double fit) {
  const double residual = kcl_ratio(c->relative_residual * c->norm_b, fit);
  return fmin(residual, condition * (c->normal_residual + DBL_EPSILON / 2 * residual));
}

/* fit [rows] and apart [cols] are scratch. */
static void compare_fits(const pair *p, double *fit, double *apart, kcl_solution_error *out,
                         double *error) {
  const kcl_csr *A = p->A;
  const kcl_type t = A->type;
  const double K = out->direct.condition, norm_y = kcl_norm2(t, p->y, A->cols);
  subtract_vectors(p, apart);
  kcl_csr_product(A, p->y, NULL, fit);
  double size = kcl_norm2(t, fit, A->rows), stretch = 1;
  if (out->unique) {
    stretch = K * size / (kcl_norm2(t, A->val, A->nnz) * norm_y);
    out->difference = kcl_norm2(t, apart, A->cols) / norm_y;
  } else {
    kcl_csr_product(A, apart, NULL, fit);
    out->difference = kcl_norm2(t, fit, A->rows) / size;
  }
  *error = stretch * misfit(&out->of_x, K, size);
  out->bound = stretch * misfit(&out->of_y, K, size);
  if (size == 0) /* y = 0 */
    out->difference = kcl_norm2(t, p->x, A->cols), *error = out->bound = 0;
}

static int compare_least(kcl_context *ctx, const pair *p, double *apart, kcl_solution_error *out,
                         double *error) {
  KCL_OWNED double *fit = NULL;
  KCL_CALL(kcl_alloc(ctx, p->A->rows, kcl_type_size(p->A->type), "A x", (void **)&fit));
  KCL_CALL(kcl_certify_least_squares(ctx, p->A, p->b, p->x, &out->of_x));
  KCL_CALL(kcl_certify_least_squares(ctx, p->A, p->b, p->y, &out->of_y));
  compare_fits(p, fit, apart, out, error);
  out->direct.error = out->bound;
  return KCL_OK;
}

static bool solved(const kcl_check_plan *plan, const kcl_certificate *c) {
  return c->relative_residual <= plan->tol || c->relative_residual * c->norm_b <= plan->atol ||
         (c->normal_residual >= 0 && c->normal_residual <= plan->tol);
}

static kcl_verdict judge_difference(const kcl_check_plan *plan, const kcl_solution_error *c) {
  const double d = c->difference, e = c->bound;
  if (!solved(plan, &c->of_x) || isnan(d) || d - e > c->allowed) return KCL_FAILED;
  const bool within = d <= c->allowed && d + e <= (plan->error > 0 ? plan->error : ONE_DIGIT);
  return within ? KCL_PASSED : KCL_UNDECIDED;
}

/* Why it did not pass, and what would help. error: what the residual of x allows. */
static void explain_verdict(const kcl_check_plan *plan, double error, kcl_solution_error *c) {
  const double least = c->difference - c->bound, most = c->difference + c->bound,
               tol = c->of_x.relative_residual * ONE_DIGIT / 2 / fmax(error, c->difference);
  const bool reachable = tol > 100 * fmax(c->of_y.relative_residual, 1e-16);
  char *text = c->reason;
  const size_t size = sizeof c->reason;
  if (c->verdict == KCL_PASSED) return;
  if (!solved(plan, &c->of_x))
    snprintf(text, size, "x did not converge");
  else if (c->verdict == KCL_FAILED && !(least <= ONE_DIGIT) && reachable)
    snprintf(text, size, "x has no correct digit; a tolerance of %.0e would give one", tol);
  else if (c->verdict == KCL_FAILED && !(least <= ONE_DIGIT))
    snprintf(text, size, "x has no correct digit");
  else if (c->verdict == KCL_FAILED)
    snprintf(text, size, "the error of x is at least %.1e", least);
  else if (most < ONE_DIGIT)
    snprintf(text, size, "the error of x is at most %.1e", most);
  else
    snprintf(text, size, "the direct solution itself is not certain enough");
}

/* The largest difference that passes. */
static double allowed_difference(const kcl_check_plan *plan, double error) {
  return plan->error > 0 ? plan->error : fmin(10 * fmax(plan->tol, error), ONE_DIGIT);
}

int kcl_solution_check(kcl_context *ctx, const kcl_csr *A, const double *b, const double *x,
                       const kcl_check_plan *plan, double *y, kcl_solution_error *out) {
  const pair p = {A, b, x, y};
  KCL_OWNED double *apart = NULL;
  double error = NAN;
  KCL_CALL(kcl_need(ctx, "out", out));
  *out = (kcl_solution_error){.verdict = KCL_FAILED};
  KCL_CALL(kcl_csr_need(ctx, A));
  KCL_CALL(kcl_need(ctx, "b", b));
  KCL_CALL(kcl_need(ctx, "x", x));
  KCL_CALL(kcl_need(ctx, "plan", plan));
  KCL_CALL(kcl_need(ctx, "y", y));
  const kcl_direct_task t = {
      .k = 1, .b = &p.b, .x = &y, .flops = INFINITY, .method = plan->method, .refine = true};
  KCL_CALL(kcl_direct_many(ctx, A, &t, &out->direct));
  KCL_CALL(kcl_alloc(ctx, A->cols, kcl_type_size(A->type), "a difference", (void **)&apart));
  out->unique = out->direct.rank < 0 || out->direct.rank == A->cols;
  KCL_CALL((out->direct.rank < 0 ? compare_square : compare_least)(ctx, &p, apart, out, &error));
  out->allowed = allowed_difference(plan, error);
  out->verdict = judge_difference(plan, out);
  explain_verdict(plan, error, out);
  return KCL_OK;
}

const char *kcl_verdict_name(kcl_verdict v) {
  static const char *const names[] = {"passed", "failed", "undecided"};
  return (unsigned)v < sizeof names / sizeof *names ? names[v] : "unknown";
}
