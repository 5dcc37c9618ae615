/* kcl_solve_call: settings of one solve, which do not outlast it. */
#include "tests/calls.h"
#include "tests/check.h"
#include "tests/options.h"
#include <math.h>
#include <stddef.h>
#include <string.h>

enum { SIDE = 20, ROWS = SIDE * SIDE };

static kcl_context *ctx;
static kcl_csr *A;
static kcl_dense *b;
static kcl_solver *s;
static double x[ROWS];
static kcl_report r;

static kcl_call new_call(void) { return (kcl_call){.size = sizeof(kcl_call)}; }

static int solve_by(const kcl_call *c) {
  memset(x, 0, sizeof x);
  return kcl_solve_call(s, c, 1, b->val, x, &r);
}

static double norm_of(const double *v) {
  double sum = 0;
  for (int i = 0; i < ROWS; i++) sum += v[i] * v[i];
  return sqrt(sum);
}

static void test_tolerances(void) {
  kcl_call c = new_call();
  CHECK(!solve_by(NULL) && r.converged);
  const int64_t usual = r.iterations;
  c.tol = 1e-3;
  CHECKF(!solve_by(&c) && r.converged && r.iterations < usual && r.true_relative_residual > 1e-8,
         "tol 1e-3: %lld iterations, %lld before", (long long)r.iterations, (long long)usual);
  c.tol = 1e-12;
  CHECKF(!solve_by(&c) && r.true_relative_residual <= 1e-12 && r.iterations > usual, "1e-12: %g",
         r.true_relative_residual);
  c = new_call(), c.atol = 0.01 * norm_of(b->val);
  CHECKF(!solve_by(&c) && r.converged && r.iterations < usual, "atol: %lld iterations",
         (long long)r.iterations);
  c = new_call(), c.max_iter = 3;
  CHECK(!solve_by(&c) && r.reason == KCL_ITERATION_LIMIT && r.iterations == 3);
  CHECKF(!solve_by(NULL) && r.iterations == usual, "afterwards %lld iterations, %lld before",
         (long long)r.iterations, (long long)usual);
}

static void test_guess(void) {
  kcl_call c = new_call();
  double from_zero[ROWS];
  CHECK(!solve_by(NULL));
  memcpy(from_zero, x, sizeof x);
  c.zero_guess = 1;
  for (int i = 0; i < ROWS; i++) x[i] = NAN;
  CHECK(!kcl_solve_call(s, &c, 1, b->val, x, &r) && r.converged && !memcmp(x, from_zero, sizeof x));
  CHECK(!kcl_solve_one(s, b->val, x, &r) && r.iterations == 0); /* from the solution */
}

static bool without_errors(void) {
  return r.true_relative_residual == -1 && r.tested_residual == -1 && r.backward_error == -1 &&
         r.rowwise_error == -1 && r.componentwise_error == -1 && r.x_sum == 0;
}

/* A is changed after the set-up. Checksums notice; a residual is that of the changed A; nothing notices nothing. */
static void test_certificates(void) {
  kcl_call c = new_call();
  double full[ROWS];
  CHECK(!solve_by(&c) && r.converged && r.x_sum);
  memcpy(full, x, sizeof x);
  c.certify = KCL_CERTIFY_RESIDUALS;
  CHECK(!solve_by(&c) && r.converged && !r.x_sum && r.backward_error >= 0 &&
        !memcmp(x, full, sizeof x));
  c.certify = KCL_CERTIFY_NOTHING;
  CHECK(!solve_by(&c) && r.converged && without_errors() && !memcmp(x, full, sizeof x));
  ((double *)A->val)[0] *= 2;
  CHECK(!solve_by(&c) && r.converged && !memcmp(x, full, sizeof x));
  c.certify = KCL_CERTIFY_RESIDUALS;
  CHECKF(!solve_by(&c) && !r.converged && r.true_relative_residual > 1e-8, "%s, %g",
         kcl_reason_text(r.reason), r.true_relative_residual);
  c.certify = KCL_CERTIFY_FULL;
  CHECK(solve_by(&c) == KCL_CHANGED && !r.converged);
  ((double *)A->val)[0] /= 2;
  c.certify = KCL_CERTIFY_NOTHING, c.max_iter = 2;
  CHECK(!solve_by(&c) && !r.converged && r.reason == KCL_ITERATION_LIMIT && without_errors());
}

static int calls;
static int count_call(void *user, const kcl_progress *p) {
  (void)p;
  calls += *(int *)user;
  return 0;
}
static int stop_at_once(void *user, const kcl_progress *p) {
  (void)user, (void)p;
  return 1;
}

static void test_progress(void) {
  kcl_call c = new_call();
  if (!strcmp(kcl_context_text(ctx, "kind"), "gpu")) {
    skip("the progress callback: a GPU ends so small a solve before it asks");
    return;
  }
  int ten = 10;
  calls = 0, c.progress = count_call, c.user = &ten;
  CHECKF(!solve_by(&c) && r.converged && calls >= 10, "%d", calls);
  const int before = calls;
  CHECK(!solve_by(NULL) && calls == before);
  c.progress = stop_at_once;
  CHECK(!solve_by(&c) && r.reason == KCL_INTERRUPTED);
}

typedef struct shown {
  int64_t every, last, calls;
  bool regular,
      near; /* at multiples of every; x has the residual of the recurrence, which drifts by less than 1e-12 |b| here */
} shown;

static int look_at_x(void *user, const kcl_progress *p) {
  shown *w = user;
  const double *seen = p->x;
  double left[ROWS];
  if (!CHECK(seen != NULL)) return 1;
  kcl_csr_product(A, seen, b->val, left);
  w->calls++;
  w->regular = w->regular && (p->iteration == w->last + w->every || !p->running);
  w->near = w->near && fabs(norm_of(left) / norm_of(b->val) - p->relative_residual) < 1e-12;
  w->last = p->iteration;
  return 0;
}

static void test_x_of_progress(void) {
  for (int64_t every = 1; every <= 7; every += 3) {
    shown w = {.every = every, .regular = true, .near = true};
    kcl_call c = new_call();
    c.progress = look_at_x, c.user = &w, c.every = every;
    CHECK(!solve_by(&c) && r.converged);
    CHECKF(w.regular && w.near && w.last == r.iterations &&
               w.calls == (r.iterations + every - 1) / every,
           "every %lld: %lld calls in %lld iterations, the last at %lld, regular %d, near %d",
           (long long)every, (long long)w.calls, (long long)r.iterations, (long long)w.last,
           w.regular, w.near);
  }
}

#define REFUSED(change, word)                                                                      \
  do {                                                                                             \
    kcl_call c = new_call();                                                                       \
    change;                                                                                        \
    CHECKF(solve_by(&c) == KCL_USAGE && strstr(kcl_error(), word), "%s: %s", #change,              \
           kcl_error());                                                                           \
  } while (0)

static void test_refusals(void) {
  struct {
    kcl_call c;
    int64_t newer;
  } longer = {{.size = sizeof longer}, 0};
  REFUSED(c.size = 0, "size is 0");
  REFUSED(c.tol = -1, "tol -1");
  REFUSED(c.tol = NAN, "tol");
  REFUSED(c.atol = -1, "atol -1");
  REFUSED(c.max_iter = -1, "max_iter -1");
  REFUSED(c.certify = 4, "certify 4");
  REFUSED(c.zero_guess = 2, "zero_guess 2");
  REFUSED(c.every = 1, "every 1");
  REFUSED((c.every = -1, c.progress = count_call), "every -1");
  CHECK(!solve_by(&longer.c) && r.converged);
  longer.newer = 1;
  CHECK(solve_by(&longer.c) == KCL_USAGE && strstr(kcl_error(), "newer"));
  kcl_call older = {.size = offsetof(kcl_call, zero_guess), .tol = 1e-3};
  older.zero_guess = 77; /* beyond its size: not read */
  CHECK(!solve_by(&older) && r.converged);
}

static void test_device(const char *device, bool mixed) {
  kcl_options o = cg_options();
  o.mixed = mixed, o.format = "ell"; /* a copy of A */
  if (kcl_context_create(NULL, 0, &ctx) || kcl_select(ctx, device, 2)) {
    skip("%s: %s", device, kcl_error()), kcl_context_free(&ctx);
    return;
  }
  if (CHECK(!kcl_generate(ctx, "poisson2d:20", &A, &b) && !kcl_setup(ctx, A, &o, &s))) {
    test_tolerances(), test_guess(), test_certificates();
    test_progress(), test_refusals();
    if (!mixed) test_x_of_progress();
  }
  kcl_solver_free(&s), kcl_csr_free(&A), kcl_dense_free(&b), kcl_context_free(&ctx);
}

int main(void) {
  test_device("cpu", false), test_device("cpu", true);
  test_device("opencl", false);
  return check_report();
}
