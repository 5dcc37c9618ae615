/* Several threads open contexts at once, before the drivers are loaded; solve at once on the native executor, with teams of
 * 1 to 8 threads; and a child of fork() solves. All solutions have the same bits. */
#include "krylocl.h"
#include "tests/check.h"
#include "tests/options.h"
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4 };
typedef struct job {
  char device[128], error[256];
  int selected, listed;
} job;

static void *open_one(void *p) {
  job *j = p;
  kcl *ctx;
  kcl_device device, *list;
  if (kcl_create(&ctx)) return NULL;
  j->selected = !kcl_select(ctx, "opencl", 1) && !kcl_device_current(ctx, &device);
  snprintf(j->device, sizeof j->device, "%s", j->selected ? device.name : "");
  snprintf(j->error, sizeof j->error, "%s", kcl_error(ctx));
  if (!kcl_device_list(ctx, &list, &j->listed)) free(list);
  kcl_destroy(&ctx);
  return NULL;
}

/* ---------------------------------------------------------------- solves */

enum { TEAMS = 8, ROWS = 30 * 30 * 30 };
typedef struct solution {
  int threads;
  bool good;
  double x[ROWS];
} solution;
static solution solutions[TEAMS], in_child;

static void *solve_one(void *p) {
  solution *s = p;
  kcl *ctx;
  kcl_csr *A = NULL;
  kcl_dense *b = NULL;
  kcl_solver *solver = NULL;
  kcl_report r;
  kcl_options o = cg_options();
  o.format = "csr-scalar";
  if (kcl_create(&ctx)) return NULL;
  memset(s->x, 0, sizeof s->x);
  s->good = !kcl_select(ctx, "cpu", s->threads) && !kcl_generate(ctx, "poisson3d:30", &A, &b) &&
            A->rows == ROWS && !kcl_setup(ctx, A, &o, &solver) &&
            !kcl_solve(solver, b->val, s->x, &r) && r.converged && r.iterations > 10;
  if (!s->good) printf("%d threads: %s\n", s->threads, kcl_error(ctx));
  kcl_solver_free(&solver), kcl_csr_free(&A), kcl_dense_free(&b), kcl_destroy(&ctx);
  return NULL;
}

static bool same(const solution *s) {
  return s->good && !memcmp(s->x, solutions[0].x, sizeof s->x);
}

static void test_solves(void) {
  pthread_t thread[TEAMS];
  for (int i = 0; i < TEAMS; i++) {
    solutions[i].threads = i + 1;
    pthread_create(&thread[i], NULL, solve_one, &solutions[i]);
  }
  for (int i = 0; i < TEAMS; i++) pthread_join(thread[i], NULL);
  for (int i = 0; i < TEAMS; i++) CHECKF(same(&solutions[i]), "%d threads", i + 1);
}

/* After solves in this process, whose threads the child does not have. */
static void test_fork(void) {
  int status = -1;
  pid_t child = fork();
  if (child == 0) {
    alarm(60);
    in_child.threads = 2, solve_one(&in_child);
    _exit(same(&in_child) ? 0 : 1);
  }
  CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
  in_child.threads = 2, solve_one(&in_child);
  CHECK(same(&in_child));
}

static void test_contexts(void) {
  pthread_t thread[THREADS];
  job jobs[THREADS] = {0};
  kcl *ctx;
  for (int i = 0; i < THREADS; i++) pthread_create(&thread[i], NULL, open_one, &jobs[i]);
  for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
  CHECK(!kcl_create(&ctx)); /* a fifth, alone, finds what they found */
  bool there = !kcl_select(ctx, "opencl", 1);
  kcl_destroy(&ctx);
  for (int i = 0; i < THREADS; i++)
    CHECKF(jobs[i].selected == there && jobs[i].listed == jobs[0].listed &&
               !strcmp(jobs[i].device, jobs[0].device),
           "thread %d: '%s', %d devices: %s", i, jobs[i].device, jobs[i].listed, jobs[i].error);
}

int main(void) {
  test_contexts();
  test_solves();
  test_fork();
  return check_report();
}
