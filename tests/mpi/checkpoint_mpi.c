/* Checkpoints on several ranks: a solve that was stopped and resumed on the same ranks has the bits, the iterations and the history of one that
 * was not; on another number of ranks, or in one process, it continues from x, and so does a solve of one process on ranks. One
 * rank's wish is enough. What is refused, is refused on all ranks. */
#include "krylocl/device.h"
#include "krylocl/io.h"
#include "tests/calls.h"
#include "tests/mpi/systems.h"
#include <sys/stat.h>
#include <unistd.h>

static char path[4096], before[4100];

enum { AT_ONCE = 2 };

typedef struct system_of_ranks {
  const host *h;
  MPI_Comm comm; /* MPI_COMM_NULL: this rank has no part */
  kcl_options o;
  const double *b; /* [n, nrhs], of A's type */
} system_of_ranks;

static bool has_vectors(const system_of_ranks *q) {
  int me;
  MPI_Comm_rank(q->comm, &me);
  return me == 0;
}

static kcl_solver *solver_on(const system_of_ranks *q) {
  kcl_solver *s = NULL;
  int rc =
      kcl_mpi_setup(q->h->ctx, q->comm, has_vectors(q) ? q->h->A : NULL, KCL_MPI_ROOT, &q->o, &s);
  CHECKF(!rc, "%s: %s", words(&q->o, "set-up"), kcl_error());
  return s;
}

typedef struct stopping {
  kcl_solver *saves; /* asked for a checkpoint once, at iteration 2 */
  int64_t at;        /* 0: never */
} stopping;

static int stop_at(void *user, const kcl_progress *p) {
  stopping *t = user;
  if (t->saves && p->iteration >= 2) kcl_solver_save(t->saves), t->saves = NULL;
  return t->at && p->iteration >= t->at;
}

static int solve_on(const system_of_ranks *q, kcl_solver *s, stopping t, double *x, kcl_report *r) {
  const kcl_call c = {.size = sizeof c, .zero_guess = 1, .progress = stop_at, .user = &t};
  const bool here = has_vectors(q);
  return kcl_solve_call(s, &c, q->o.nrhs, here ? q->b : NULL, here ? x : NULL, r);
}

/* A new solver on q goes on from the file and writes to it. */
static int resume_on(const system_of_ranks *q, int64_t stop, double *x, kcl_report *r,
                     char changes[2000]) {
  kcl_solver *s = solver_on(q);
  int rc = kcl_solver_checkpoint(s, path, 0);
  if (!rc) rc = kcl_solver_resume(s, path);
  if (!rc) rc = solve_on(q, s, (stopping){.at = stop}, x, r);
  snprintf(changes, 2000, "%d, %s", rc, rc ? kcl_error() : r->changes);
  kcl_solver_free(&s);
  return rc;
}

static void forget_files(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (!rank) unlink(path), unlink(before);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* ---------------------------------------------------------------- the same ranks */

static void compare_history(const char *name, const kcl_report *r, const double *history,
                            int64_t size) {
  CHECKF(r->history_size == size && !memcmp(r->history, history, (size_t)size * sizeof *history),
         "%s: another history", name);
}

static void test_same_ranks(const system_of_ranks *q) {
  const size_t bytes = (size_t)q->h->n * (size_t)q->o.nrhs * q->h->size;
  const char *name = q->o.solver;
  double *want = calloc(1, bytes), *x = calloc(1, bytes), *history = NULL;
  kcl_report full[AT_ONCE], r[AT_ONCE];
  char changes[2000];
  forget_files();
  kcl_solver *s = solver_on(q);
  if (!CHECKF(!solve_on(q, s, (stopping){0}, want, full) && full->converged, "%s: %s", name,
              kcl_error()))
    goto done;
  history = malloc((size_t)full->history_size * sizeof *history);
  memcpy(history, full->history, (size_t)full->history_size * sizeof *history);
  const int64_t size = full->history_size;
  CHECK(!kcl_solver_checkpoint(s, path, 0));
  CHECKF(!solve_on(q, s, (stopping){.at = rank == ranks - 1 ? 4 : 0}, x, r) &&
             r->reason == KCL_INTERRUPTED && r->checkpoints == 1,
         "%s: %s, %d checkpoints, %s", name, kcl_reason_text(r->reason), (int)r->checkpoints,
         r->changes);
  CHECKF(!resume_on(q, full->iterations / 2, x, r, changes) &&
             strstr(changes, "as if it had not been interrupted"),
         "%s: %s", name, changes);
  kcl_solver_free(&s), s = solver_on(q);
  CHECKF(!kcl_solver_resume(s, path) && !solve_on(q, s, (stopping){0}, x, r) && r->converged &&
             r->resumed_at >= full->iterations / 2,
         "%s: %s", name, kcl_error());
  CHECKF(!memcmp(x, want, bytes), "%s on %d ranks: other bits of x", words(&q->o, ""), ranks);
  CHECKF(r->iterations == full->iterations, "%s: %lld iterations, not %lld", name,
         (long long)r->iterations, (long long)full->iterations);
  compare_history(name, r, history, size);
done:
  kcl_solver_free(&s);
  free(want), free(x), free(history);
}

/* ---------------------------------------------------------------- other ranks */

/* A checkpoint of `from` at iteration 4 is resumed on `to`. */
static void test_other_ranks(const system_of_ranks *from, const system_of_ranks *to,
                             const char *what) {
  double *x = calloc((size_t)from->h->n, from->h->size);
  kcl_report r;
  char changes[2000];
  forget_files();
  if (from->comm != MPI_COMM_NULL) {
    kcl_solver *s = solver_on(from);
    CHECK(!kcl_solver_checkpoint(s, path, 0) && !solve_on(from, s, (stopping){.at = 4}, x, &r));
    kcl_solver_free(&s);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (to->comm != MPI_COMM_NULL) {
    CHECKF(!resume_on(to, 0, x, &r, changes) && r.converged && r.resumed_at >= 4 &&
               strstr(changes, "from x alone: the number of ranks is"),
           "%s: %s", what, changes);
    if (has_vectors(to)) {
      const double left = residual(to->h, to->b, x);
      CHECKF(left <= 1e-7, "%s: residual %g", what, left);
    }
  }
  free(x);
}

static void test_numbers_of_ranks(const system_of_ranks *q) {
  system_of_ranks one = *q, fewer = *q;
  if (ranks == 1) return;
  one.comm = rank ? MPI_COMM_NULL : MPI_COMM_SELF;
  test_other_ranks(q, &one, "ranks to one process");
  test_other_ranks(&one, q, "one process to ranks");
  if (ranks == 2) return;
  MPI_Comm_split(MPI_COMM_WORLD, rank < ranks - 1 ? 1 : MPI_UNDEFINED, rank, &fewer.comm);
  test_other_ranks(q, &fewer, "fewer ranks");
  test_other_ranks(&fewer, q, "more ranks");
  if (fewer.comm != MPI_COMM_NULL) MPI_Comm_free(&fewer.comm);
}

/* ---------------------------------------------------------------- what one rank wishes; refusals */

static void test_save(const system_of_ranks *q) {
  double *x = calloc((size_t)q->h->n, q->h->size);
  kcl_report r;
  kcl_solver *s = solver_on(q);
  forget_files();
  CHECK(!kcl_solver_checkpoint(s, path, 3600));
  CHECKF(!solve_on(q, s, (stopping){.saves = rank == ranks - 1 ? s : NULL}, x, &r) && r.converged &&
             r.checkpoints == 1,
         "%s, %d checkpoints", kcl_error(), (int)r.checkpoints);
  struct stat info;
  CHECKF(rank || (!stat(path, &info) && (double)info.st_size == r.bytes_checkpoint &&
                  (double)info.st_size > (double)q->h->n * (double)q->h->size),
         "%.0f bytes", r.bytes_checkpoint);
  kcl_solver_free(&s);
  free(x);
}

static void expect_input(int rc, const char *what) {
  CHECKF(rc == KCL_INPUT && strstr(kcl_error(), what), "%s: %d, %s", what, rc, kcl_error());
}

/* Rank 0's file gets another byte. */
static void damage(const char *file) {
  FILE *f = rank ? NULL : fopen(file, "r+b");
  unsigned char byte = 0;
  if (f) {
    CHECK(!fseek(f, 1500, SEEK_SET) && fread(&byte, 1, 1, f) == 1 && !fseek(f, 1500, SEEK_SET));
    byte = (unsigned char)~byte;
    CHECK(fwrite(&byte, 1, 1, f) == 1 && !fclose(f));
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void test_refusals(const system_of_ranks *q) {
  double *x = calloc((size_t)q->h->n, q->h->size), *other = calloc((size_t)q->h->n, q->h->size);
  const kcl_csr *A = q->h->A;
  system_of_ranks changed = *q;
  kcl_report r;
  kcl_solver *s = solver_on(q);
  forget_files();
  expect_input(kcl_solver_checkpoint(s, "no-folder/here", 0), "cannot write");
  expect_input(kcl_solver_resume(s, path), "cannot open");
  CHECK(ranks == 1 || kcl_solver_checkpoint(s, rank ? NULL : path, 0) == KCL_USAGE);
  CHECK(!kcl_solver_checkpoint(s, path, 1e-9) && !solve_on(q, s, (stopping){0}, x, &r) &&
        r.checkpoints > 2);
  memcpy(other, q->b, (size_t)q->h->n * q->h->size), other[q->h->n - 1] += 1;
  changed.b = other;
  CHECK(!kcl_solver_resume(s, path));
  expect_input(solve_on(&changed, s, (stopping){0}, x, &r), "another right-hand side");
  damage(path);
  CHECKF(!kcl_solver_resume(s, path) && !solve_on(q, s, (stopping){0}, x, &r) && r.converged &&
             strstr(r.changes, "the checkpoint before it is used"),
         "%s", kcl_error());
  kcl_solver_free(&s);
  double *a = A->val;
  a[0] += 1, s = solver_on(q), expect_input(kcl_solver_resume(s, path), "the values differ");
  a[0] -= 1;
  kcl_solver_free(&s);
  s = solver_on(q);
  damage(before);
  expect_input(kcl_solver_resume(s, before), "damaged");
  kcl_solver_free(&s);
  free(x), free(other);
}

/* A file that cannot be written ends no solve. */
static void test_lost_folder(const system_of_ranks *q) {
  char folder[4200], file[4300];
  double *x = calloc((size_t)q->h->n, q->h->size);
  kcl_report r;
  kcl_solver *s = solver_on(q);
  snprintf(folder, sizeof folder, "%s.folder", path);
  snprintf(file, sizeof file, "%s/x", folder);
  if (!rank) mkdir(folder, 0700);
  CHECKF(!kcl_solver_checkpoint(s, file, 1e-9), "%s", kcl_error());
  if (!rank) rmdir(folder);
  CHECKF(!solve_on(q, s, (stopping){0}, x, &r) && r.converged && !r.checkpoints &&
             strstr(r.changes, "no checkpoint was written"),
         "%s", r.changes);
  kcl_solver_free(&s);
  free(x);
}

static void test_system(const host *h, const problem *p) {
  const bool first = p == problems, hermitian = p->spd;
  static const char *const solvers[] = {"cg", "cg-pipelined", "minres", "bicgstab", "idr", "gmres"};
  kcl_options o = options_for(p, "cg", "csr-scalar", 0);
  double *two = malloc(AT_ONCE * (size_t)h->n * h->size);
  for (int i = 0; i < AT_ONCE; i++)
    memcpy((char *)two + (size_t)i * (size_t)h->n * h->size, h->b->val, (size_t)h->n * h->size);
  o.nrhs = 1, o.restart = 8;
  system_of_ranks q = {.h = h, .comm = MPI_COMM_WORLD, .o = o, .b = h->b->val};
  for (int i = 0; i < 6; i++) {
    if ((i < 3 && !hermitian) || (few_combinations && i % 3)) continue;
    q.o.solver = solvers[i], q.o.precond = i % 2 ? "jacobi" : "none";
    test_same_ranks(&q);
  }
  q.o.solver = hermitian ? "cg" : "bicgstab", q.o.precond = "none";
  q.o.nrhs = AT_ONCE, q.b = two;
  if (!mixed_devices) test_same_ranks(&q);
  q.o.nrhs = 1;
  test_numbers_of_ranks(&q);
  if (first) test_save(&q), test_refusals(&q), test_lost_folder(&q);
  free(two);
}

/* Enough iterations to be stopped twice. */
static const problem long_ones[PROBLEMS] = {{"poisson2d:24", false, true},
                                            {"convection:20", false, false},
                                            {"magnetic:14", true, true},
                                            {"helmholtz:11", true, false}};

int main(int argc, char **argv) {
  problems = long_ones;
  const char *folder = getenv("TMPDIR");
  snprintf(path, sizeof path - 100, "%s/krylocl-%d.kck", folder ? folder : "/tmp", (int)getppid());
  snprintf(before, sizeof before, "%s.1", path);
  const int status = conform(argc, argv, NULL, test_system);
  unlink(path), unlink(before);
  return status;
}
