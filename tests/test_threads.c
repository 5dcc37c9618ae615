/* Several threads open contexts at once, before the drivers are loaded; solve at once on the native executor, with teams of
 * 1 to 8 threads; and a child of fork() solves. All solutions have the same bits. No more threads are created than asked
 * for, from the reader to the certificate. */
#include "core/base/team.h"
#include "tests/calls.h"
#include "tests/check.h"
#include "tests/options.h"
#include <dirent.h>
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
  kcl_context *ctx;
  kcl_device device, *list;
  if (kcl_context_create(NULL, 0, &ctx)) return NULL;
  j->selected = !kcl_select(ctx, "opencl", 1) && !kcl_device_current(ctx, &device);
  snprintf(j->device, sizeof j->device, "%s", j->selected ? device.name : "");
  snprintf(j->error, sizeof j->error, "%s", kcl_error());
  if (!kcl_device_list(ctx, &list, &j->listed)) free(list);
  kcl_context_free(&ctx);
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
  kcl_context *ctx;
  kcl_csr *A = NULL;
  kcl_dense *b = NULL;
  kcl_solver *solver = NULL;
  kcl_report r;
  kcl_options o = cg_options();
  o.format = "csr-scalar";
  if (kcl_context_create(NULL, 0, &ctx)) return NULL;
  memset(s->x, 0, sizeof s->x);
  s->good = !kcl_select(ctx, "cpu", s->threads) && !kcl_generate(ctx, "poisson3d:30", &A, &b) &&
            A->rows == ROWS && !kcl_setup(ctx, A, &o, &solver) &&
            !kcl_solve_one(solver, b->val, s->x, &r) && r.converged && r.iterations > 10;
  if (!s->good) printf("%d threads: %s\n", s->threads, kcl_error());
  kcl_solver_free(&solver), kcl_csr_free(&A), kcl_dense_free(&b), kcl_context_free(&ctx);
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
    alarm(HANG);
    in_child.threads = 2, solve_one(&in_child);
    _exit(same(&in_child) ? 0 : 1);
  }
  CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
  in_child.threads = 2, solve_one(&in_child);
  CHECK(same(&in_child));
}

/* ---------------------------------------------------------------- the number of threads */

static int tasks(void) {
  int count = 0;
  DIR *folder = opendir("/proc/self/task");
  for (struct dirent *d; folder && (d = readdir(folder));) count += d->d_name[0] != '.';
  if (folder) closedir(folder);
  return count;
}

/* Generates, writes, reads, converts, chooses a format, solves and certifies. */
static int all_steps(kcl_context *ctx, const char *kind, const char *path) {
  kcl_csr *A = NULL, *B = NULL;
  kcl_dense *b = NULL;
  kcl_solver *solver = NULL;
  kcl_report r;
  kcl_options o = cg_options();
  o.format = "sell";
  int rc = kcl_generate(ctx, kind, &A, &b);
  if (!rc) rc = kcl_csr_write(ctx, path, A);
  kcl_csr_free(&A);
  if (!rc) rc = kcl_csr_read(ctx, path, &A);
  if (!rc) rc = kcl_csr_convert(ctx, A, KCL_Z, &B);
  double *x = calloc((size_t)(rc ? 1 : A->rows), sizeof *x);
  if (!rc) rc = kcl_setup(ctx, A, &o, &solver);
  if (!rc) rc = kcl_solve_one(solver, b->val, x, &r) || !r.converged;
  if (rc) printf("%s\n", kcl_error());
  free(x), kcl_solver_free(&solver), kcl_csr_free(&A), kcl_csr_free(&B), kcl_dense_free(&b);
  return rc;
}

/* In a child, whose pool is empty: threads that were created stay. The exit status is their number. */
static int threads_of(int wanted, bool by_select, const char *kind) {
  int status = -1;
  pid_t child = fork();
  if (child == 0) {
    kcl_context *ctx;
    char path[] = "/tmp/krylocl-threads-XXXXXX.mtx";
    alarm(HANG);
    close(mkstemps(path, 4));
    int rc = kcl_context_create(NULL, 0, &ctx) ||
             (by_select ? kcl_select(ctx, "cpu", wanted)
                        : kcl_set_threads(wanted) || kcl_select(ctx, "cpu", 0));
    int before = tasks();
    if (!rc) rc = kcl_threads() != wanted || all_steps(ctx, kind, path);
    unlink(path);
    _exit(rc ? 100 : tasks() - before + 1);
  }
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_number(void) {
  for (int n = 1; n <= 3; n += 2)
    for (int by_select = 0; by_select < 2; by_select++) {
      int found = threads_of(n, by_select, "poisson3d:40");
      CHECKF(found == n, "%d threads of %d", found, n);
    }
  CHECK(threads_of(2, true, "poisson2d:22") == 1); /* which is faster */
  CHECK(kcl_set_threads(-1) == KCL_USAGE && kcl_set_threads(KCL_MAX_THREADS + 1) == KCL_USAGE);
  CHECK(!kcl_set_threads(5) && kcl_threads() == 5 && !kcl_set_threads(0) && kcl_threads() >= 1);
}

static void test_contexts(void) {
  pthread_t thread[THREADS];
  job jobs[THREADS] = {0};
  kcl_context *ctx;
  for (int i = 0; i < THREADS; i++) pthread_create(&thread[i], NULL, open_one, &jobs[i]);
  for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
  CHECK(!kcl_context_create(NULL, 0, &ctx)); /* a fifth, alone, finds what they found */
  bool there = !kcl_select(ctx, "opencl", 1);
  kcl_context_free(&ctx);
  for (int i = 0; i < THREADS; i++)
    CHECKF(jobs[i].selected == there && jobs[i].listed == jobs[0].listed &&
               !strcmp(jobs[i].device, jobs[0].device),
           "thread %d: '%s', %d devices: %s", i, jobs[i].device, jobs[i].listed, jobs[i].error);
}

int main(void) {
  test_contexts();
  test_solves();
  test_fork();
  if (access("/proc/self/task", R_OK))
    skip("the number of threads: no /proc/self/task");
  else if (KCL_ALL_THREADS)
    skip("the number of threads: small loops have all of them in this build");
  else
    test_number();
  return check_report();
}
