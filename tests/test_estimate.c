/* The remaining time that a solve shows, from residuals on a clock of the test: histories of real solves and of formulas, 50
 * seconds long. While the residual falls, nothing says that it does not; what is shown is near the truth. */
#include "check.h"
#include "tests/calls.h"
#include "cli/solve/estimate.c" /* the program's, which no library has NOLINT(bugprone-suspicious-include) */
#include <string.h>

static const double SECONDS = 50, TARGET = 1e-8;

typedef struct seen {            /* in the calls of a solve */
  int calls, shown, near, stuck; /* near: within a factor of 2 of the truth */
  double first;                  /* seconds when something was shown first */
  double worst;                  /* largest ratio to the truth, either way */
  int digits;                    /* most digits other than trailing zeros in what was shown */
} seen;

static int digits_of(const char *words) {
  const char *first = words + strcspn(words, "123456789");
  size_t n = strspn(first, "0123456789");
  while (n > 1 && first[n - 1] == '0') n--;
  return *first ? (int)n : 0;
}

static void look(const cli_estimate *e, double seconds, seen *s) {
  const double left = cli_estimate_left(e, TARGET), truth = SECONDS - seconds;
  const cli_text words = cli_estimate_words(e, TARGET);
  s->calls++;
  s->stuck += !strcmp(words.s, "not falling");
  if (!strstr(words.s, " left")) return;
  if (!s->shown++) s->first = seconds;
  if (digits_of(words.s) > s->digits) s->digits = digits_of(words.s);
  if (truth < 2) return s->near++, (void)0; /* the last seconds are rounding */
  const double ratio = fmax(left / truth, truth / left);
  s->near += ratio <= 2, s->worst = fmax(s->worst, ratio);
}

/* The residuals of a solve that takes SECONDS, a call every `every` iterations. */
static seen show(const double *residual, int n, int every) {
  cli_estimate e = {.count = 0};
  seen s = {.first = SECONDS};
  for (int i = every; i < n; i += every) {
    cli_estimate_add(&e, SECONDS * i / n, residual[i]);
    look(&e, SECONDS * i / n, &s);
  }
  return s;
}

enum { MOST = 20000 };
static double history[MOST];

/* ---------------------------------------------------------------- formulas */

/* From 1e3 down to the target, as fast from the first second to the last, with noise of a factor of 3 up and down. */
static void test_steady(void) {
  const int n = 5000;
  for (int i = 0; i < n; i++)
    history[i] = 1e3 * pow(TARGET / 1e3, (double)i / n) * pow(3, random_number() / 2);
  const seen s = show(history, n, 10);
  CHECKF(s.stuck == 0, "said %d times that a falling residual is not falling", s.stuck);
  CHECKF(s.first < 0.3 * SECONDS, "nothing was shown before %.0f s", s.first);
  CHECKF(s.near == s.shown && s.shown > s.calls / 2, "%d of %d near, of %d calls", s.near, s.shown,
         s.calls);
  CHECKF(s.digits == 1, "%d digits", s.digits);
}

static void test_plateau(void) {
  const int n = 5000;
  for (int i = 0; i < n; i++) history[i] = 0.3 * (1 + 1e-3 * random_number()) * exp(1e-5 * i);
  const seen s = show(history, n, 10);
  CHECKF(s.shown == 0, "%d times a time for a residual that stays", s.shown);
  CHECKF(s.stuck > s.calls * 9 / 10, "said %d times of %d that it is not falling", s.stuck,
         s.calls);
}

/* Slow, then by another method a hundred times as fast: nothing old is told for long. */
static void test_switch(void) {
  const int n = 5000, at = 4000;
  for (int i = 0; i < n; i++)
    history[i] = i < at ? pow(10, -1e-4 * i) : pow(10, -1e-4 * at - 7.6 * (i - at) / (n - at));
  const seen s = show(history, n, 10);
  CHECKF(s.stuck == 0 && s.worst < 4, "stuck %d, off by %.1f", s.stuck, s.worst);
}

/* The words for a solve of 200 iterations. */
static void test_words(void) {
  static const struct {
    double each;
    int done;
    const char *words;
  } of[] = {{0.1, 199, "less than 1 s left"}, {0.1, 110, "about 9 s left"},
            {0.2, 110, "about 20 s left"},    {1, 110, "about 2 min left"},
            {30, 110, "about 50 min left"},   {300, 110, "about 8 h left"}};
  for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
    cli_estimate e = {.count = 0};
    for (int i = 1; i <= of[k].done; i++) cli_estimate_add(&e, of[k].each * i, pow(10, -0.04 * i));
    const cli_text words = cli_estimate_words(&e, TARGET);
    CHECKF(!strcmp(words.s, of[k].words), "%s, not %s", words.s, of[k].words);
  }
  cli_estimate e = {.count = 0};
  cli_estimate_add(&e, 0, 1), cli_estimate_add(&e, 1, NAN), cli_estimate_add(&e, 2, 0),
      cli_estimate_add(&e, 3, INFINITY);
  CHECK(e.count == 1 && !*cli_estimate_words(&e, TARGET).s);
  for (int i = 0; i < 100000; i++) cli_estimate_add(&e, i, 1.0 / (i + 1));
  CHECK(e.count <= CLI_POINTS && e.point[e.count - 1].seconds > 99000);
  cli_estimate_add(&e, 0.5, 1);
  CHECK(e.count == 1);
}

/* ---------------------------------------------------------------- solves */

static void test_solve(kcl_context *ctx, const char *system, const char *method, double near) {
  kcl_csr *A = NULL;
  kcl_dense *b = NULL;
  kcl_solver *solver = NULL;
  kcl_report r;
  kcl_options o = kcl_defaults;
  o.solver = method, o.precond = "none", o.format = "csr-scalar", o.tol = TARGET;
  if (!CHECK(!kcl_generate(ctx, system, &A, &b))) return;
  double *x = calloc((size_t)A->cols, sizeof *x);
  if (CHECK(x && !kcl_setup(ctx, A, &o, &solver) && !kcl_solve_one(solver, b->val, x, &r) &&
            r.converged)) {
    const int n = r.history_size < MOST ? (int)r.history_size : MOST;
    memcpy(history, r.history, (size_t)n * sizeof *history);
    const seen s = show(history, n, n > 1000 ? n / 1000 : 1);
    CHECKF(s.near >= near * s.shown, "%s by %s: %d of %d near the truth, the worst off by %.1f",
           system, method, s.near, s.shown, s.worst);
    CHECKF(s.shown > s.calls / 10, "%s by %s: shown %d times of %d", system, method, s.shown,
           s.calls);
    CHECKF(s.stuck < s.calls / 10, "%s by %s: stuck %d times of %d", system, method, s.stuck,
           s.calls);
  }
  free(x);
  kcl_solver_free(&solver), kcl_csr_free(&A), kcl_dense_free(&b);
}

int main(void) {
  kcl_context *ctx = NULL;
  test_steady(), test_plateau(), test_switch(), test_words();
  if (CHECK(!kcl_context_create(NULL, 0, &ctx)) && CHECK(!kcl_select(ctx, "cpu", 1))) {
    test_solve(ctx, "poisson2d:100", "cg", 0.8);
    test_solve(ctx, "jump2d:60", "cg", 0.8);
    test_solve(ctx, "aniso2d:80", "cg", 0.8);
    test_solve(ctx, "heatsink:40", "minres", 0.8);
    test_solve(ctx, "convection:60", "bicgstab", 0.7);
  }
  kcl_context_free(&ctx);
  return check_report();
}
