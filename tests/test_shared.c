/* A context that several threads use: one at a time is inside, each has its own message, callbacks are refused, a solve is stopped from
 * elsewhere, and a child of fork() uses what it inherited. */
#include "tests/calls.h"
#include "tests/check.h"
#include "tests/filter.h"
#include "tests/options.h"
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, SIDE = 30, ROWS = SIDE * SIDE, ROUNDS = 5, LONG = 200 };

static kcl_context *ctx;
static kcl_csr *A;
static kcl_dense *b;
static kcl_solver *shared;
static double expected[ROWS];

static bool solves_as_expected(kcl_solver *s) {
  double x[ROWS] = {0};
  kcl_report r;
  return !kcl_solve_one(s, b->val, x, &r) && r.converged && !memcmp(x, expected, sizeof x);
}

/* ---------------------------------------------------------------- several threads */

static void *solve_and_set_up(void *user) {
  bool *good = user;
  *good = true;
  for (int i = 0; i < ROUNDS && *good; i++) {
    kcl_options o = cg_options();
    kcl_solver *own = NULL;
    *good = solves_as_expected(shared) && !kcl_setup(ctx, A, &o, &own) && solves_as_expected(own) &&
            !update_hierarchy(own, A) && solves_as_expected(own);
    kcl_solver_free(&own);
  }
  return NULL;
}

static void test_threads(const char *device) {
  pthread_t thread[THREADS];
  bool good[THREADS];
  for (int i = 0; i < THREADS; i++)
    CHECK(!pthread_create(&thread[i], NULL, solve_and_set_up, &good[i]));
  for (int i = 0; i < THREADS; i++) {
    pthread_join(thread[i], NULL);
    CHECKF(good[i], "thread %d on %s: other bits, or a failure", i, device);
  }
}

/* The messages of a thread before and after its failure, joined by a bar. */
static void *fail_alone(void *user) {
  kcl_csr *none;
  char *messages = user;
  const int n = snprintf(messages, 100, "%s|", kcl_error());
  if (kcl_csr_read(ctx, "/there/is/no/such/file.mtx", &none) == KCL_INPUT)
    snprintf(messages + n, (size_t)(100 - n), "%s", kcl_error());
  return NULL;
}

static void test_messages(void) {
  pthread_t other;
  char messages[100] = "";
  kcl_context *second = NULL;
  kcl_csr *none;
  CHECK(kcl_generate(ctx, "nothing:3", &none, NULL) && strstr(kcl_error(), "nothing"));
  CHECK(!pthread_create(&other, NULL, fail_alone, messages));
  pthread_join(other, NULL);
  CHECKF(messages[0] == '|' && strstr(messages, "no/such/file") && strstr(kcl_error(), "nothing"),
         "%s, %s", messages, kcl_error());
  CHECK(!kcl_context_create(NULL, 0, &second) && strstr(kcl_error(), "nothing"));
  kcl_context_free(&second);
}

/* ---------------------------------------------------------------- callbacks */

static int busy;

static int use_in_progress(void *user, const kcl_progress *p) {
  kcl_operator *op = NULL;
  (void)user, (void)p;
  busy += kcl_operator_create(ctx, A, NULL, &op) == KCL_BUSY && !op;
  return 0;
}

static void use_in_watch(void *user, const kcl_activity *a) {
  kcl_solver *s = NULL;
  (void)user, (void)a;
  busy += kcl_setup(ctx, A, NULL, &s) == KCL_BUSY && !s;
}

static void test_callbacks(void) {
  kcl_options o = cg_options();
  kcl_solver *s = NULL;
  o.progress = use_in_progress, o.precond = "amg";
  busy = 0;
  CHECK(!kcl_setup(ctx, A, &o, &s));
  CHECKF(solves_as_expected(s) || busy, "%s", kcl_error());
  CHECKF(busy > 0, "the progress callback: %d refused", busy);
  kcl_solver_free(&s);
}

/* A direct solution is an activity. */
static void test_watch(void) {
  busy = 0;
  if (sanitized() || !kcl_direct_available()) {
    skip("kcl_watch: sanitizers do not know the OpenMP of CHOLMOD, or there is none");
    return;
  }
  kcl_context_watch(ctx, use_in_watch, NULL);
  double x[ROWS];
  kcl_direct_info info;
  CHECK(!kcl_direct(ctx, A, b->val, x, &info));
  kcl_context_watch(ctx, NULL, NULL);
  CHECKF(busy > 0, "the watch: %d refused", busy);
}

/* ---------------------------------------------------------------- stops */

static void *stop_soon(void *user) {
  for (int i = 0; i < 100; i++) usleep(20000), kcl_solver_stop(user);
  return NULL;
}

static void stop_by_signal(int number) {
  (void)number;
  kcl_solver_stop(shared); /* NOLINT(bugprone-signal-handler): it sets one lock-free flag */
}

/* A solve without end and without a callback, stopped by another thread or a signal. */
static void test_stops(void) {
  kcl_csr *L = NULL;
  kcl_dense *c = NULL;
  kcl_solver *s = NULL, *before = shared;
  kcl_report r;
  pthread_t other;
  kcl_options o = cg_options();
  char kind[40];
  snprintf(kind, sizeof kind, "poisson2d:%d", LONG);
  o.solver = "gmres", o.restart = 2, o.precond = "none", o.tol = 1e-15, o.max_iter = INT64_MAX;
  if (!CHECK(!kcl_generate(ctx, kind, &L, &c) && !kcl_setup(ctx, L, &o, &s))) return;
  double *x = calloc((size_t)L->rows, sizeof *x);
  kcl_solver_stop(s); /* none is running: nothing happens */
  CHECK(!pthread_create(&other, NULL, stop_soon, s));
  CHECKF(!kcl_solve_one(s, c->val, x, &r) && r.reason == KCL_INTERRUPTED && r.iterations > 0,
         "%s, %s", kcl_reason_text(r.reason), kcl_error());
  pthread_join(other, NULL);
  shared = s;
  signal(SIGALRM, stop_by_signal), alarm(1);
  CHECKF(!kcl_solve_one(s, c->val, x, &r) && r.reason == KCL_INTERRUPTED, "a signal: %s",
         kcl_reason_text(r.reason));
  signal(SIGALRM, SIG_DFL), shared = before;
  kcl_solver_stop(NULL);
  free(x), kcl_solver_free(&s), kcl_csr_free(&L), kcl_dense_free(&c);
}

/* ---------------------------------------------------------------- fork */

static int fork_while_inside(void *user, const kcl_progress *p) {
  int *status = user;
  (void)p;
  if (*status >= 0) return 0;
  pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(kcl_solve_one(shared, b->val, (double[ROWS]){0}, NULL) == KCL_BUSY ? 0 : 1);
  }
  CHECK(child > 0 && waitpid(child, status, 0) == child);
  return 0;
}

static void *solve_long(void *user) {
  kcl_solver *s = user;
  double x[ROWS] = {0};
  kcl_solve_one(s, b->val, x, NULL);
  return NULL;
}

/* A child made while another thread is inside the context, and one made inside a callback. */
static void test_fork(void) {
  pthread_t other;
  int status = -1;
  kcl_options o = cg_options();
  kcl_solver *s = NULL;
  CHECK(!pthread_create(&other, NULL, solve_long, shared));
  pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(solves_as_expected(shared) || kcl_solve_one(shared, NULL, NULL, NULL) == KCL_BUSY ? 0
                                                                                            : 1);
  }
  CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
  pthread_join(other, NULL);
  status = -1;
  o.progress = fork_while_inside, o.user = &status;
  CHECK(!kcl_setup(ctx, A, &o, &s) && solves_as_expected(s) && status == 0);
  kcl_solver_free(&s);
}

/* A child has no use of OpenCL that its parent has used: it is told so, and may free what it inherited. The native executor is left. */
static int use_after_fork(void) {
  kcl_context *own = NULL;
  kcl_solver *s = shared;
  int good = kcl_solve_one(s, b->val, (double[ROWS]){0}, NULL) == KCL_DEVICE;
  kcl_solver_free(&s), kcl_context_free(&ctx);
  good &=
      kcl_context_create("opencl", 0, &own) == KCL_DEVICE && strstr(kcl_error(), "fork") != NULL;
  kcl_options o = cg_options();
  good &= !kcl_context_create("auto", 0, &own) && !kcl_setup(own, A, &o, &s) &&
          !kcl_solve_one(s, b->val, (double[ROWS]){0}, NULL);
  kcl_solver_free(&s), kcl_context_free(&own);
  return !(good && !s && !ctx);
}

static void test_fork_of_opencl(void) {
  int status = -1;
  pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(use_after_fork());
  }
  CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

/* ---------------------------------------------------------------- the last one frees */

static void *free_solver(void *user) {
  kcl_solver *s = user;
  solves_as_expected(s);
  kcl_solver_free(&s);
  return NULL;
}

static void test_lifetime(const char *device) {
  kcl_context *own = NULL;
  kcl_csr *M = NULL;
  kcl_solver *s[THREADS] = {0};
  pthread_t thread[THREADS];
  kcl_options o = cg_options();
  CHECK(!kcl_context_create(NULL, 0, &own) && !kcl_select(own, device, 2) &&
        !kcl_generate(own, "poisson2d:30", &M, NULL));
  for (int i = 0; i < THREADS; i++) CHECK(!kcl_setup(own, M, &o, &s[i]));
  for (int i = 0; i < THREADS; i++) CHECK(!pthread_create(&thread[i], NULL, free_solver, s[i]));
  kcl_context_free(&own);
  for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
  kcl_csr_free(&M);
}

static void test_device(const char *device) {
  kcl_options o = cg_options();
  kcl_report r;
  if (kcl_context_create(NULL, 0, &ctx) || kcl_select(ctx, device, 2)) {
    skip("%s: %s", device, kcl_error()), kcl_context_free(&ctx);
    return;
  }
  memset(expected, 0, sizeof expected);
  if (CHECK(!kcl_generate(ctx, "poisson2d:30", &A, &b) && !kcl_setup(ctx, A, &o, &shared) &&
            !kcl_solve_one(shared, b->val, expected, &r) && r.converged)) {
    test_threads(device), test_messages(), test_callbacks(), test_watch(), test_stops();
    !strcmp(device, "cpu") ? test_fork() : test_fork_of_opencl();
    test_lifetime(device);
  }
  kcl_solver_free(&shared), kcl_csr_free(&A), kcl_dense_free(&b), kcl_context_free(&ctx);
}

int main(void) {
  test_device("cpu");
  test_device("opencl");
  return check_report();
}
