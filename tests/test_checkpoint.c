/* Checkpoints: a solve that was stopped twice and resumed, each time by a new solver, has the bits, the iterations and the history of one
 * that was not, for every method, with preconditioners, right-hand sides at once and complex numbers. With another format or method it
 * continues from x. Files that are cut short, altered, foreign, or of another system are refused; the one before serves instead.
 */
#include "core/base/output.h"
#include "solver/checkpoint/file.h"
#include "tests/calls.h"
#include "tests/conform.h"
#include "tests/options.h"
#include <sys/stat.h>
#include <unistd.h>

static char path[100], before[110];

typedef struct problem {
  const place *p;
  kcl_csr *A;
  int nrhs;
  size_t bytes; /* of x */
  char *b, *x, *want;
} problem;

static bool open_problem(const place *p, const char *name, int nrhs, problem *q) {
  *q = (problem){.p = p, .nrhs = nrhs};
  if (!CHECKF(!kcl_generate(p->ctx, name, &q->A, NULL), "%s", kcl_error())) return false;
  const int parts = kcl_type_complex(q->A->type) ? 2 : 1;
  q->bytes = (size_t)(q->A->rows * nrhs) * kcl_type_size(q->A->type);
  q->b = malloc(q->bytes), q->x = malloc(q->bytes), q->want = malloc(q->bytes);
  for (int64_t i = 0; i < q->A->rows * nrhs * parts; i++) ((double *)q->b)[i] = random_number();
  return true;
}

static void close_problem(problem *q) {
  free(q->b), free(q->x), free(q->want);
  kcl_csr_free(&q->A);
}

/* Stops at iteration *user, or the next one that is seen. */
static int stop_at(void *user, const kcl_progress *p) { return p->iteration >= *(int64_t *)user; }

/* From x = 0; stop 0: to the end; NEVER: too, in batches of one iteration, which on GPUs may be as long as the solve. */
enum { NEVER = 1 << 30 };
static int solve_until(const problem *q, kcl_solver *s, int64_t stop, kcl_report *r) {
  const kcl_call c = {.size = sizeof c,
                      .zero_guess = 1,
                      .progress = stop ? stop_at : NULL,
                      .every = stop && q->nrhs == 1, /* of several at once: not possible */
                      .user = stop ? &stop : NULL};
  return kcl_solve_call(s, &c, q->nrhs, q->b, q->x, r);
}

static kcl_options options_of(const problem *q, const char *solver, const char *precond) {
  kcl_options o = cg_options();
  o.solver = solver, o.precond = precond, o.format = "csr-scalar", o.nrhs = q->nrhs;
  o.precision = q->A->type, o.no_direct = true;
  return o;
}

static kcl_solver *solver_of(const problem *q, const kcl_options *o) {
  kcl_solver *s = NULL;
  CHECKF(!kcl_setup(q->p->ctx, q->A, o, &s), "%s with %s: %s", o->solver, o->precond, kcl_error());
  return s;
}

/* A new solver goes on from the checkpoint, to iteration `stop`. */
static int resume(const problem *q, const kcl_options *o, int64_t stop, kcl_report *r,
                  char changes[2000]) {
  kcl_solver *s = solver_of(q, o);
  int rc = kcl_solver_checkpoint(s, path, 0);
  if (!rc) rc = kcl_solver_resume(s, path);
  if (!rc) rc = solve_until(q, s, stop, r);
  snprintf(changes, 2000, "%s", rc ? kcl_error() : r->changes);
  r->changes = NULL, r->history = NULL;
  kcl_solver_free(&s);
  return rc;
}

static void forget_files(void) { unlink(path), unlink(before); }

/* ---------------------------------------------------------------- the same bits */

static void test_same(const problem *q, const char *solver, const char *precond) {
  const bool fast = !strcmp(precond, "amg") || !strcmp(precond, "sa");
  kcl_options o = options_of(q, solver, precond);
  o.tol = fast ? 1e-13 : 1e-8;
  kcl_report want[KCL_MAX_NRHS], r[KCL_MAX_NRHS];
  char changes[2000];
  forget_files();
  kcl_solver *s = solver_of(q, &o);
  if (!CHECKF(!solve_until(q, s, 0, want) && want->converged && want->iterations > 8,
              "%s with %s: %s after %lld", solver, precond, kcl_reason_text(want->reason),
              (long long)want->iterations))
    return kcl_solver_free(&s);
  double *history = malloc((size_t)want->history_size * sizeof *history);
  memcpy(history, want->history, (size_t)want->history_size * sizeof *history);
  memcpy(q->want, q->x, q->bytes);
  CHECK(!kcl_solver_checkpoint(s, path, 0));
  CHECKF(!solve_until(q, s, 4, r) && r->reason == KCL_INTERRUPTED && r->checkpoints == 1, "%s: %s",
         solver, kcl_reason_text(r->reason));
  kcl_solver_free(&s);
  CHECKF(!resume(q, &o, want->iterations / 2, r, changes) &&
             strstr(changes, "as if it had not been interrupted"),
         "%s: %s", solver, changes);
  s = solver_of(q, &o);
  CHECKF(!kcl_solver_resume(s, path) && !kcl_solve_many(s, q->nrhs, q->b, q->x, r) &&
             r->converged && r->resumed_at > 0,
         "%s with %s: %s", solver, precond, kcl_error());
  CHECKF(!memcmp(q->x, q->want, q->bytes), "%s with %s on %s: resumed at %lld, other bits of x",
         solver, precond, q->p->name, (long long)r->resumed_at);
  CHECKF(r->iterations == want->iterations, "%s: %lld iterations, not %lld", solver,
         (long long)r->iterations, (long long)want->iterations);
  CHECKF(r->history && r->history_size == want->history_size &&
             !memcmp(r->history, history, (size_t)want->history_size * sizeof *history) &&
             r->ritz_max == want->ritz_max,
         "%s: another history", solver);
  free(history), kcl_solver_free(&s);
}

static void test_methods(const place *p) {
  problem q;
  if (!open_problem(p, "poisson2d:40", 1, &q)) return;
  for (int i = 0; i < kcl_names("solver"); i++) {
    const char *name = kcl_name("solver", i);
    if (!strcmp(name, "auto") || !wanted_solver(name) || (quick(p) && i % 4)) continue;
    test_same(&q, name, "none");
    if (strcmp(name, "cgls") && strcmp(name, "lsqr") && !quick(p)) test_same(&q, name, "jacobi");
  }
  test_same(&q, "cg", "ic");
  test_same(&q, "cg", "jacobi");
  test_same(&q, "cg", "amg");
  if (!quick(p)) test_same(&q, "cg", "sa");
  if (!quick(p)) test_same(&q, "bicgstab", "chebyshev"), test_same(&q, "minres", "ic");
  close_problem(&q);
}

static void test_others(const place *p) {
  problem q;
  if (open_problem(p, "poisson2d:30", 3, &q)) test_same(&q, "cg", "none");
  close_problem(&q);
  if (!open_problem(p, "magnetic:24", 1, &q)) return;
  test_same(&q, "cg", "none");
  close_problem(&q);
}

/* ---------------------------------------------------------------- other choices: from x */

static void make_checkpoint(const problem *q, const kcl_options *o, int64_t stop) {
  kcl_report r[KCL_MAX_NRHS];
  kcl_solver *s = solver_of(q, o);
  CHECK(!kcl_solver_checkpoint(s, path, 0) && !solve_until(q, s, stop, r) && r->checkpoints == 1);
  kcl_solver_free(&s);
}

static void test_from_x(const problem *q) {
  kcl_options o = options_of(q, "cg", "none");
  kcl_report r;
  char changes[2000];
  make_checkpoint(q, &o, 40);
  o.format = "ell";
  CHECKF(!resume(q, &o, 0, &r, changes) && r.converged && r.resumed_at >= 40 &&
             r.iterations > r.resumed_at && strstr(changes, "from x alone: the format is ell"),
         "%s", changes);
  o.format = "csr-scalar", o.precond = "jacobi";
  CHECKF(!resume(q, &o, 0, &r, changes) && r.converged && strstr(changes, "preconditioner"), "%s",
         changes);
  o.precond = "none", o.precision = KCL_S, o.tol = 1e-5;
  CHECKF(!resume(q, &o, 0, &r, changes) && r.converged && strstr(changes, "the precision is s"),
         "%s", changes);
  /* what is left open becomes what it was, and a limit or a tolerance may be another */
  o = options_of(q, "auto", "auto"), o.format = "auto", o.tol = 1e-10;
  CHECKF(!resume(q, &o, 0, &r, changes) && r.converged && r.true_relative_residual <= 1e-10 &&
             strstr(changes, "as if it had not been"),
         "%s", changes);
  o.max_iter = 50;
  CHECKF(!resume(q, &o, 0, &r, changes) && r.reason == KCL_ITERATION_LIMIT && r.iterations == 50,
         "%s, %lld iterations", changes, (long long)r.iterations);
  o.max_iter = 10;
  CHECKF(!resume(q, &o, 0, &r, changes) && r.reason == KCL_ITERATION_LIMIT &&
             r.iterations == r.resumed_at,
         "%s, %lld iterations", changes, (long long)r.iterations);
}

/* ---------------------------------------------------------------- files */

static char *read_file(size_t *size) {
  FILE *f = fopen(path, "rb");
  struct stat info;
  if (!f || fstat(fileno(f), &info)) exit(1);
  char *text = malloc((size_t)info.st_size + 1);
  *size = fread(text, 1, (size_t)info.st_size, f);
  fclose(f);
  return text;
}

static void write_file(const char *text, size_t size) {
  if (kcl_file_write(NULL, path, text, size)) exit(1);
}

static bool refused(kcl_solver *s, const char *word) {
  return kcl_solver_resume(s, path) == KCL_INPUT && strstr(kcl_error(), word) &&
         strstr(kcl_error(), path);
}

static void test_damage(const problem *q) {
  const kcl_options o = options_of(q, "cg", "none");
  size_t size;
  make_checkpoint(q, &o, 20);
  unlink(before);
  char *good = read_file(&size), *bad = malloc(size + 1);
  kcl_solver *s = solver_of(q, &o);
  for (int i = 0; i < 400; i++) {
    const size_t at = i < 300 ? (size_t)i : random_bits() % size;
    memcpy(bad, good, size), bad[at] ^= (char)(1 << (random_bits() % 8));
    write_file(bad, size);
    CHECKF(refused(s, "checkpoint"), "byte %zu: %s", at, kcl_error());
    write_file(good, at);
    CHECKF(refused(s, "checkpoint"), "%zu bytes: %s", at, kcl_error());
  }
  write_file(good, size - 1);
  CHECK(refused(s, "cut short"));
  memcpy(bad, good, size), bad[size] = 0;
  write_file(bad, size + 1);
  CHECK(refused(s, "cut short or damaged"));
  static const char foreign[] = "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n";
  write_file(foreign, sizeof foreign - 1);
  CHECK(refused(s, "not a checkpoint of krylocl"));
  unlink(path);
  CHECK(refused(s, "cannot open"));
  CHECK(!mkdir(path, 0700) && refused(s, "regular file") && !rmdir(path));
  write_file(good, size);
  CHECKF(!kcl_solver_resume(s, path), "%s", kcl_error());
  free(good), free(bad), kcl_solver_free(&s);
}

/* The one before serves where the last one is missing or damaged. */
static void test_predecessor(const problem *q) {
  const kcl_options o = options_of(q, "cg", "none");
  kcl_report r;
  char changes[2000];
  make_checkpoint(q, &o, 20);
  CHECK(!resume(q, &o, 40, &r, changes) && !access(before, F_OK));
  write_file("none", 4);
  CHECKF(!resume(q, &o, 40, &r, changes) && strstr(changes, "the checkpoint before it is used") &&
             r.resumed_at >= 20 && r.resumed_at < 40,
         "%s", changes);
  CHECK(!unlink(path) && !resume(q, &o, 0, &r, changes) && r.converged);
}

static void test_another_system(const problem *q) {
  const kcl_options o = options_of(q, "cg", "none");
  kcl_report r;
  char changes[2000];
  forget_files();
  make_checkpoint(q, &o, 20);
  double *a = q->A->val, *b = (double *)(void *)q->b;
  a[0] += 1;
  CHECK(resume(q, &o, 0, &r, changes) == KCL_INPUT &&
        strstr(changes, "another matrix: the values"));
  a[0] -= 1, b[3] += 1;
  CHECK(resume(q, &o, 0, &r, changes) == KCL_INPUT && strstr(changes, "another right-hand side"));
  b[3] -= 1;
  problem small;
  if (open_problem(q->p, "poisson2d:10", 1, &small))
    CHECK(resume(&small, &o, 0, &r, changes) == KCL_INPUT &&
          strstr(changes, "another matrix: 1600 x 1600"));
  close_problem(&small);
}

/* ---------------------------------------------------------------- when; misuse */

static int save_now(void *user, const kcl_progress *p) {
  if (p->iteration >= 8 && p->iteration < 16) kcl_solver_save(user);
  return 0;
}

static void test_when(const problem *q) {
  const kcl_options o = options_of(q, "cg", "none");
  kcl_solver *s = solver_of(q, &o);
  kcl_report r;
  kcl_call c = {.size = sizeof c, .zero_guess = 1, .progress = save_now, .user = s, .every = 4};
  CHECK(!kcl_solver_checkpoint(s, path, 3600));
  CHECK(!solve_until(q, s, 0, &r) && r.converged && r.checkpoints == 0);
  CHECKF(!kcl_solve_call(s, &c, 1, q->b, q->x, &r) && r.converged && r.checkpoints > 0 &&
             r.checkpoints < 5 && r.bytes_checkpoint > (double)q->bytes,
         "%lld checkpoints", (long long)r.checkpoints);
  CHECK(!kcl_solver_checkpoint(s, path, 1e-9) && !solve_until(q, s, NEVER, &r) &&
        r.checkpoints > 5);
  CHECK(!kcl_update(s, q->A, KCL_KEEP_CHOICES) && !solve_until(q, s, NEVER, &r) &&
        r.checkpoints > 5);
  CHECK(!kcl_solver_checkpoint(s, NULL, 0) && !solve_until(q, s, 0, &r) && r.checkpoints == 0);
  kcl_solver_free(&s);
}

/* A folder that goes away ends no solve. */
static void test_no_memory(const problem *q) {
  const kcl_options o = options_of(q, "cg", "none");
  kcl_solver *s = solver_of(q, &o);
  kcl_report r;
  char folder[80] = "/tmp/krylocl-test-XXXXXX", inside[100];
  if (!mkdtemp(folder)) exit(1);
  snprintf(inside, sizeof inside, "%s/c", folder);
  CHECK(!kcl_solver_checkpoint(s, inside, 1e-9) && !rmdir(folder));
  CHECKF(!solve_until(q, s, NEVER, &r) && r.converged && r.checkpoints == 0 &&
             strstr(r.changes, "no checkpoint was written"),
         "%s", r.changes);
  CHECK(kcl_solver_checkpoint(s, inside, 0) == KCL_INPUT && strstr(kcl_error(), inside));
  kcl_solver_free(&s);
}

static void test_misuse(const problem *q) {
  kcl_options o = options_of(q, "cg", "none");
  kcl_solver *s = solver_of(q, &o);
  kcl_report r[2];
  CHECK(kcl_solver_checkpoint(NULL, path, 0) == KCL_USAGE &&
        kcl_solver_resume(s, NULL) == KCL_USAGE);
  CHECK(kcl_solver_checkpoint(s, path, -1) == KCL_USAGE && strstr(kcl_error(), "seconds"));
  CHECK(kcl_solver_checkpoint(s, path, NAN) == KCL_USAGE);
  CHECK(kcl_solver_checkpoint(s, "/dev/null", 0) == KCL_USAGE);
  CHECK(kcl_solver_checkpoint(s, "-", 0) == KCL_USAGE);
  CHECK(kcl_solver_checkpoint(s, "c.gz", 0) == KCL_USAGE && strstr(kcl_error(), "packed"));
  CHECK(kcl_solver_resume(s, "/none/there") == KCL_INPUT);
  kcl_solver_save(NULL), kcl_solver_save(s);
  double *two = calloc(2, 2 * q->bytes);
  CHECK(!kcl_solver_checkpoint(s, path, 0) &&
        kcl_solve_many(s, 2, two, two + q->A->rows * 2, r) == KCL_USAGE &&
        strstr(kcl_error(), "option nrhs"));
  free(two), kcl_solver_free(&s);
}

int main(void) {
  char folder[] = "/tmp/krylocl-checkpoint-XXXXXX";
  if (!mkdtemp(folder)) return 1;
  snprintf(path, sizeof path, "%s/c.kck", folder);
  snprintf(before, sizeof before, "%s.1", path);
  open_places();
  for (int i = 0; i < place_count; i++) {
    problem q;
    if (!can(&places[i], KCL_D)) continue;
    test_methods(&places[i]);
    test_others(&places[i]);
    if (!open_problem(&places[i], "poisson2d:40", 1, &q)) continue;
    test_from_x(&q);
    test_damage(&q);
    test_predecessor(&q);
    test_another_system(&q);
    test_when(&q);
    test_no_memory(&q);
    test_misuse(&q);
    close_problem(&q);
  }
  forget_files();
  rmdir(folder);
  close_places();
  return check_report();
}
