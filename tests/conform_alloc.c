/* Running out of memory: the n-th allocation of the library fails, for n = 1, 2, ... until a whole job
 * passes. Every failure must come back as KCL_MEMORY, and leave nothing allocated.
 *
 * malloc and its relatives are defined here, in front of those of the C library (or of the address
 * sanitizer), and fail only for callers in this executable: drivers get what they ask for.
 */
#include "tests/calls.h"
#include "tests/check.h"
#include "solver/solver.h"
#include "tests/options.h"
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined __SANITIZE_ADDRESS__
#define SANITIZED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

#if !defined __GLIBC__
int main(void) {
  skip("failing allocations: they are interposed for glibc only");
  return check_report();
}
#else
#ifdef SANITIZED
#define REAL(name) __interceptor_##name
void *REAL(aligned_alloc)(size_t, size_t);
#else
#define REAL(name) __libc_##name
void *REAL(memalign)(size_t, size_t);
#endif
void *REAL(malloc)(size_t);
void *REAL(calloc)(size_t, size_t);
void *REAL(realloc)(void *, size_t);
void REAL(free)(void *);

/* ---------------------------------------------------------------- what is counted */

enum { MOST_LIVE = 65536 };
static void *live[MOST_LIVE]; /* of this executable's allocations, while counting; a hash table */
static int live_count, calls, fail_at, fail_after;
static bool counting;
static atomic_flag busy = ATOMIC_FLAG_INIT;
extern char __executable_start, etext;

static void enter(void) {
  while (atomic_flag_test_and_set(&busy)) {}
}
static void leave(void) { atomic_flag_clear(&busy); }

static bool ours(const void *caller) {
  return counting && (const char *)caller >= &__executable_start && (const char *)caller < &etext;
}

/* The slot of a pointer, or the one where it would go; freed ones are marked by `live` itself. */
static int slot_of(const void *p, bool free_too) {
  int i = (int)(((uintptr_t)p >> 4) * 2654435761u % MOST_LIVE);
  while (live[i] && live[i] != p && !(free_too && live[i] == (void *)live)) i = (i + 1) % MOST_LIVE;
  return i;
}

static bool denied(const void *caller) {
  if (!ours(caller)) return false;
  enter();
  calls++;
  bool no = fail_at && (calls == fail_at || (fail_after && calls > fail_at));
  leave();
  return no;
}

static void *noted(const void *caller, void *p) {
  if (!p || !ours(caller)) return p;
  enter();
  live[slot_of(p, true)] = p, live_count++;
  leave();
  return p;
}

static void forget(void *p) {
  if (!p || !counting) return;
  enter();
  int i = slot_of(p, false);
  if (live[i] == p) live[i] = (void *)live, live_count--;
  leave();
}

#define CALLER __builtin_extract_return_addr(__builtin_return_address(0))
void *malloc(size_t size) { return denied(CALLER) ? NULL : noted(CALLER, REAL(malloc)(size)); }
void *calloc(size_t n, size_t size) {
  return denied(CALLER) ? NULL : noted(CALLER, REAL(calloc)(n, size));
}
void *aligned_alloc(size_t alignment, size_t size) {
#ifdef SANITIZED
  return denied(CALLER) ? NULL : noted(CALLER, REAL(aligned_alloc)(alignment, size));
#else
  return denied(CALLER) ? NULL : noted(CALLER, REAL(memalign)(alignment, size));
#endif
}
void *realloc(void *p, size_t size) {
  if (denied(CALLER)) return NULL;
  forget(p);
  return noted(CALLER, REAL(realloc)(p, size));
}
char *strdup(const char *s) {
  size_t n = strlen(s) + 1;
  char *p = denied(CALLER) ? NULL : noted(CALLER, REAL(malloc)(n));
  return p ? memcpy(p, s, n) : NULL;
}
void free(void *p) {
  forget(p);
  REAL(free)(p);
}

/* While counting, time passes ten times as fast: "measure" runs what it times for some milliseconds per candidate, which would be most
 * of the time of all jobs together. */
int clock_gettime(clockid_t clock, struct timespec *t) {
  enum { FASTER = 10 };
  const int64_t second = 1000000000;
  if (syscall(SYS_clock_gettime, clock, t)) return -1;
  if (!counting || clock != CLOCK_MONOTONIC) return 0;
  const int64_t now = (t->tv_sec * second + t->tv_nsec) * FASTER;
  t->tv_sec = now / second, t->tv_nsec = now % second;
  return 0;
}

/* ---------------------------------------------------------------- jobs */

static char file[] = "/tmp/krylocl-alloc-XXXXXX.mtx";
static char copy[] = "/tmp/krylocl-alloc-copy-XXXXXX.gz"; /* written packed */

typedef struct job {
  const char *name, *solver, *precond, *format, *kind;
  kcl_type precision;
  int nrhs; /* more than 1: twice as many, at once */
  bool mixed;
  double shift;     /* subtracted from the diagonal of a real matrix */
  int dispensable;  /* most allocations whose failure may be survived; 0: 8 */
  kcl_reason other; /* without memory for another method the solve ends with this reason */
} job;

/* A - shift I. */
static void shift(kcl_csr *A, double by) {
  for (int64_t i = 0; i < A->rows && by != 0; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      if (A->col[k] == i) ((double *)A->val)[k] -= by;
}

/* Formats have been timed, where that was asked for. */
static void check_info(const job *j, const kcl_solver *s) {
  kcl_setup_info info;
  kcl_solver_info(s, &info);
  const bool asked = j->format && !strcmp(j->format, "measure");
  CHECKF(!asked || strstr(info.format_reason, "measured: ") == info.format_reason, "%s: %s",
         j->name, info.format_reason);
}

/* All have converged; by the method that was asked for, or the one after it. */
static void check_reports(const job *j, const kcl_report *r, int k) {
  const bool denied_one = fail_at && calls >= fail_at;
  for (int c = 0; c < k; c++)
    CHECKF(r[c].converged || (denied_one && j->other && r[c].reason == j->other), "%s: %s", j->name,
           kcl_reason_text(r[c].reason));
  CHECKF(!j->other || denied_one || strstr(r[0].changes, "gave up"), "%s: %s", j->name,
         r[0].changes);
}

/* X is row-major: columns of it are copied. */
static int solve_by_rows(kcl_solver *s, int k, double *B, double *x, kcl_report *r) {
  const kcl_vectors b = {.size = sizeof b, .data = B, .cols = k};
  kcl_vectors X = {.size = sizeof X, .data = x, .cols = k, .ld = 1, .inc = k};
  return kcl_solve_vectors(s, NULL, &b, &X, r);
}

static int solve_job(kcl_context *ctx, const job *j) {
  enum { MOST = 4, ROOM = 2 * 256 }; /* right-hand sides, numbers each */
  kcl_csr *A = NULL;
  kcl_dense *b = NULL;
  kcl_solver *s = NULL;
  kcl_report r[MOST] = {{0}};
  static double B[MOST * ROOM], x[MOST * ROOM];
  kcl_options o = cg_options();
  int k = j->nrhs > 1 ? 2 * j->nrhs : 1;
  memset(x, 0, sizeof x);
  o.restart = 4, o.nrhs = j->nrhs, o.mixed = j->mixed;
  o.no_direct = j->other != KCL_CONVERGED; /* which depends on the time taken */
  o.solver = j->solver, o.precond = j->precond, o.format = j->format, o.precision = j->precision;
  int rc = kcl_generate(ctx, j->kind, &A, &b);
  if (!rc) shift(A, j->shift);
  if (!rc) rc = kcl_setup(ctx, A, &o, &s);
  for (int c = 0; c < k && !rc; c++) {
    size_t n = (size_t)A->rows * (kcl_type_complex(A->type) ? 2 : 1);
    memcpy(B + n * (size_t)c, b->val, n * sizeof *B);
  }
  if (!rc) rc = k > 1 ? solve_by_rows(s, k, B, x, r) : kcl_solve_one(s, B, x, r);
  if (!rc) check_reports(j, r, k), check_info(j, s);
  kcl_solver_free(&s), kcl_csr_free(&A), kcl_dense_free(&b);
  return rc;
}

static int time_it(kcl_context *ctx, const job *j) {
  kcl_csr *A = NULL;
  kcl_solver *s = NULL;
  const kcl_bench_plan plan = {.iterations = 3, .samples = 2};
  kcl_bench_row row = {0};
  int rc = kcl_generate(ctx, j->kind, &A, NULL);
  if (!rc) rc = kcl_setup(ctx, A, NULL, &s);
  if (!rc) rc = kcl_bench_solver(s, &plan, &row);
  kcl_bench_free(&row);
  kcl_solver_free(&s), kcl_csr_free(&A);
  return rc;
}

/* Products of columns without gaps allocate nothing, and a solver shares the matrix. */
static int multiply(kcl_context *ctx, const job *j) {
  enum { ROOM = 3 * 64 };
  const kcl_operator_options o = {.format = j->format,
                                  .precision = j->precision,
                                  .products = KCL_PRODUCTS_BOTH,
                                  .nrhs = j->nrhs};
  static float x[ROOM], y[ROOM];
  const float beta = 2;
  double seconds;
  kcl_csr *A = NULL;
  kcl_operator *op = NULL;
  kcl_solver *s = NULL;
  kcl_options so = cg_options();
  so.solver = j->solver, so.precision = j->precision;
  int rc = kcl_generate(ctx, j->kind, &A, NULL);
  if (!rc) rc = kcl_operator_create(ctx, A, &o, &op);
  const int before = calls;
  for (int i = 0; i < 8 && !rc; i++)
    rc = kcl_operator_apply(
        op,
        &(kcl_product){
            .x = x, .y = y, .cols = i % 2 ? 3 : 1, .adjoint = i & 2, .beta = i & 4 ? &beta : NULL});
  CHECKF(rc || calls == before, "products allocated %d times", calls - before);
  const kcl_vectors of_x = {.size = sizeof of_x, .data = x, .inc = 2};
  kcl_vectors of_y = {.size = sizeof of_y, .data = y, .inc = 2};
  if (!rc) rc = kcl_operator_multiply(op, 0, NULL, &of_x, NULL, &of_y);
  if (!rc) rc = kcl_operator_time(op, false, 1, 1, 1, &seconds);
  if (!rc) rc = kcl_operator_setup(op, &so, &s);
  kcl_operator_free(&op), kcl_solver_free(&s), kcl_csr_free(&A);
  return rc;
}

static int apply_diagonal(void *user, int adjoint, const kcl_vectors *x, kcl_vectors *y,
                          void *queue) {
  (void)user, (void)adjoint, (void)queue;
  for (int64_t i = 0; i < y->rows; i++)
    ((double *)y->data)[i] = (double)(i % 7 + 1) * ((const double *)x->data)[i];
  return KCL_OK;
}

static int by_function(kcl_context *ctx, const job *j) {
  enum { N = 36 };
  const kcl_shell A = {N,    N,        j->precision,      apply_diagonal,
                       NULL, KCL_HOST, KCL_SHELL_ADJOINT, false};
  static double b[N], x[N];
  kcl_options o = cg_options();
  kcl_solver *s = NULL;
  kcl_report r;
  o.solver = j->solver;
  for (int i = 0; i < N; i++) b[i] = 1 + i, x[i] = 0;
  int rc = kcl_setup_shell(ctx, &A, NULL, &o, &s);
  if (!rc) rc = kcl_solve_one(s, b, x, &r);
  if (!rc) CHECKF(r.converged, "%s: %s", j->name, kcl_reason_text(r.reason));
  kcl_solver_free(&s);
  return rc;
}

static int bench_rows(kcl_context *ctx, const job *j) {
  kcl_csr *A = NULL;
  kcl_bench_row a, b, c, d;
  kcl_options o = kcl_defaults;
  const kcl_bench_plan plan = {.iterations = 2, .samples = 3, .noise = -1, .transfers = true};
  o.solver = "cg", o.format = "ell", o.precision = KCL_S;
  memset(&a, 0, sizeof a), memset(&b, 0, sizeof b), memset(&c, 0, sizeof c);
  memset(&d, 0, sizeof d);
  int rc = kcl_generate(ctx, j->kind, &A, NULL);
  if (!rc) rc = kcl_bench_method(ctx, A, &o, &plan, &a);
  if (!rc) rc = kcl_bench_product(ctx, A, &o, &plan, &b);
  if (!rc) rc = kcl_bench_sequential(ctx, A, NULL, KCL_S, &plan, &c);
  if (!rc) rc = kcl_bench_sequential(ctx, A, "dense", KCL_S, &plan, &d);
  kcl_bench_free(&a), kcl_bench_free(&b), kcl_bench_free(&c), kcl_bench_free(&d), kcl_csr_free(&A);
  return rc;
}

static int through_files(kcl_context *ctx, const job *j) {
  kcl_csr *A = NULL, *B = NULL;
  kcl_dense *x = NULL, *y = NULL;
  int rc = kcl_generate(ctx, j->kind, &A, &x);
  if (!rc) rc = kcl_csr_write(ctx, file, A);
  if (!rc) rc = kcl_csr_read(ctx, file, &B);
  if (!rc) rc = kcl_dense_write(ctx, copy, x);
  if (!rc) rc = kcl_dense_read(ctx, copy, &y);
  if (!rc) CHECK(B->nnz == A->nnz && y->rows == x->rows);
  kcl_csr_free(&A), kcl_csr_free(&B), kcl_dense_free(&x), kcl_dense_free(&y);
  return rc;
}

/* M for A, updated, applied in columns with gaps, given to a solver. */
static int objects(kcl_context *ctx, const job *j) {
  static double r[1024], z[1024];
  const kcl_vectors from = {.size = sizeof from, .data = r, .inc = 2};
  kcl_vectors to = {.size = sizeof to, .data = z, .inc = 2};
  kcl_csr *A = NULL;
  kcl_precond *M = NULL;
  kcl_solver *s = NULL;
  kcl_options o = cg_options();
  o.precond = j->precond, o.precision = j->precision;
  int rc = kcl_generate(ctx, j->kind, &A, NULL);
  if (!rc) rc = kcl_precond_make(ctx, A, &o, &M);
  if (!rc) rc = kcl_precond_renew(M, A);
  if (!rc) rc = kcl_precond_apply(M, 0, &from, &to);
  if (!rc) rc = kcl_setup_with(ctx, A, M, &o, &s);
  kcl_precond_free(&M), kcl_solver_free(&s), kcl_csr_free(&A);
  return rc;
}

static int keep_z(void *user, int adjoint, const kcl_vectors *r, kcl_vectors *z, void *queue) {
  (void)user, (void)adjoint, (void)queue;
  memcpy(z->data, r->data, (size_t)r->rows * sizeof(double));
  return 0;
}

/* The caller's M, and each kind of update. */
static int updates(kcl_context *ctx, const job *j) {
  kcl_csr *A = NULL;
  kcl_precond *M = NULL;
  kcl_solver *s = NULL, *t = NULL;
  kcl_options o = cg_options();
  o.precond = j->precond;
  int rc = kcl_generate(ctx, j->kind, &A, NULL);
  if (!rc) rc = kcl_setup(ctx, A, &o, &s);
  for (int keep = KCL_KEEP_NOTHING; keep <= KCL_KEEP_PRECOND && !rc; keep++)
    rc = kcl_update(s, A, keep);
  const unsigned properties = KCL_PRECOND_HERMITIAN;
  if (!rc)
    rc = kcl_precond_of_function(ctx, A->rows, KCL_D, keep_z, NULL, KCL_HOST, properties, &M);
  if (!rc) rc = kcl_setup_with(ctx, A, M, &o, &t);
  if (!rc) rc = update_hierarchy(t, A);
  kcl_precond_free(&M), kcl_solver_free(&s), kcl_solver_free(&t), kcl_csr_free(&A);
  return rc;
}

/* From no context to none, on the native executor. */
static int whole(const job *j) {
  kcl_context *ctx = NULL;
  int rc = kcl_context_create(NULL, 0, &ctx);
  if (!rc) rc = kcl_select(ctx, "cpu", 2);
  if (!rc)
    rc = !strcmp(j->name, "bench")      ? time_it(ctx, j)
         : !strcmp(j->name, "rows")     ? bench_rows(ctx, j)
         : !strcmp(j->name, "files")    ? through_files(ctx, j)
         : !strcmp(j->name, "product")  ? multiply(ctx, j)
         : !strcmp(j->name, "function") ? by_function(ctx, j)
         : !strcmp(j->name, "objects")  ? objects(ctx, j)
         : !strcmp(j->name, "updates")  ? updates(ctx, j)
                                        : solve_job(ctx, j);
  if (rc) CHECKF(!ctx || strlen(kcl_error()) > 10, "%s: a failure without a sentence", j->name);
  kcl_context_free(&ctx);
  return rc;
}

static int counted(const job *j, int n, bool and_all_after) {
  memset(live, 0, sizeof live);
  live_count = calls = 0, fail_at = n, fail_after = and_all_after, counting = true;
  int rc = whole(j);
  counting = false;
  return rc;
}

static void test_job(const job *j, bool and_all_after) {
  int n = 0, rc, survived = 0;
  do {
    rc = counted(j, ++n, and_all_after);
    CHECKF(rc == KCL_OK || rc == KCL_MEMORY, "%s: allocation %d fails: status %d", j->name, n, rc);
    CHECKF(live_count == 0, "%s: allocation %d fails: %d blocks are left", j->name, n, live_count);
    survived += rc == KCL_OK && calls >= n;
  } while (n < 2000 && calls >= n);
  printf("%-22s %3d allocations%s, %d dispensable\n", j->name, calls,
         and_all_after ? ", all later ones fail too" : "", survived);
  CHECKF(rc == KCL_OK && n > 10 && n < 2000, "%s: passes at last, after %d", j->name, n);
  CHECKF(survived <= (j->dispensable ? j->dispensable : 8), "%s: %d failures went unnoticed",
         j->name, survived); /* of what is optional */
}

int main(void) {
  static const job jobs[] = {
      {"cg", "cg", "none", "csr-scalar", "poisson2d:6", .precision = KCL_D},
      {"cg, jacobi, single", "cg", "jacobi", "ell", "poisson2d:6", .precision = KCL_S},
      {"bicg", "bicg", "none", "cds", "convection:6", .precision = KCL_D},
      {"bicg, complex", "bicg", "jacobi", "coo", "helmholtz:6", .precision = KCL_Z},
      {"lsqr, rectangular", "lsqr", "jacobi", NULL, "bibd:6x3", .precision = KCL_D},
      {"function", "lsqr", .precision = KCL_D},
      {"gmres", "gmres", "none", "csr-scalar", "convection:6", .precision = KCL_D},
      {"auto", "cg", "none", NULL, "magnetic:5", .precision = KCL_C},
      {"half", "cg", "none", "csr-sym", "magnetic:5", .precision = KCL_Z},
      {"right-hand sides", "bicgstab", "jacobi", "ell", "helmholtz:6", .precision = KCL_Z,
       .nrhs = 2},
      {"mixed", "cg", "jacobi", "cds", "magnetic:5", .precision = KCL_Z, .mixed = true},
      {"amg", "cg", "amg-aggressive", "csr-scalar", "poisson2d:16", .precision = KCL_D},
      {"amg, unsymmetric", "gmres", "amg", "csr-scalar", "convection:13", .precision = KCL_S},
      {"fsai, complex", "cg", "fsai", "csr-scalar", "magnetic:5", .precision = KCL_C},
      {"ilu and its adjoint", "bicg", "ilu", "csr-scalar", "convection:6", .precision = KCL_D},
      {"ilut, rows exchanged", "gmres", "ilut", "csr-scalar", "poisson2d:6", .precision = KCL_D,
       .shift = 4},
      {"ic, complex", "cg", "ic", "csr-scalar", "magnetic:5", .precision = KCL_C},
      {"spai and its adjoint", "bicg", "spai", "ell", "convection:6", .precision = KCL_D},
      {"chebyshev, mixed", "cg", "chebyshev", "ell", "poisson2d:6", .precision = KCL_D,
       .mixed = true},
      {"blocks", "cocg", "block-jacobi", "ell", "helmholtz:6", .precision = KCL_Z},
      {"another method", "auto", "none", "csr-scalar", "poisson2d:6", .precision = KCL_D,
       .shift = 3, .dispensable = 100, .other = KCL_INDEFINITE},
      {"measure", "cg", "none", "measure", "magnetic:5", .precision = KCL_Z, .dispensable = 250},
      {"bench", NULL, NULL, NULL, "poisson2d:6", .precision = KCL_D},
      {"product", "bicg", NULL, "ell", "convection:6", .precision = KCL_S, .nrhs = 2},
      {"objects", NULL, "amg", NULL, "poisson2d:16", .precision = KCL_D},
      {"updates", NULL, "chebyshev", NULL, "poisson2d:6", .precision = KCL_D},
      {"rows", NULL, NULL, NULL, "poisson2d:6", .precision = KCL_D},
      {"files", NULL, NULL, NULL, "poisson2d:6", .precision = KCL_D}};
  setenv("KRYLOCL_CACHE", "", 1); /* nothing is remembered */
  int f = mkstemps(file, 4), g = mkstemps(copy, 3);
  if (f < 0 || g < 0) return 1;
  for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
    CHECKF(whole(&jobs[i]) == KCL_OK, "%s",
           jobs[i].name); /* first touch: threads and the memory of stdio */
    test_job(&jobs[i], false), test_job(&jobs[i], true);
  }
  close(f), close(g), unlink(file), unlink(copy);
  return check_report();
}
#endif
