/* Shared by the conformance programs on several ranks: the systems, which are generated, whole on every rank; answers of one
 * process to compare with; devices.
 * usage of each: PROGRAM [DEVICE]     default cpu; on another device fewer combinations; A,B: one for each rank
 */
#ifndef KCL_SYSTEMS_H
#define KCL_SYSTEMS_H
#include "krylocl_mpi.h"
#include "tests/calls.h"
#include "tests/filter.h"
#include "tests/mpi/totals.h"
#include <math.h>

static int rank, ranks;
static bool few_combinations, mixed_devices;

typedef struct problem {
  const char *kind; /* of kcl_generate */
  bool pairs, spd;  /* complex; for methods for Hermitian matrices */
} problem;
enum { PROBLEMS = 4 };
static const problem large[PROBLEMS] = {{"poisson2d:19", false, true},
                                        {"convection:17", false, false},
                                        {"magnetic:13", true, true},
                                        {"helmholtz:11", true, false}};
/* Ranks wait for each other in every iteration, beside busy programs for a time slice each: half as many by default. No fewer
 * rows than reproducible sums need on four ranks. */
static const problem less[PROBLEMS] = {{"poisson2d:15", false, true},
                                       {"convection:9", false, false},
                                       {"magnetic:7", true, true},
                                       {"helmholtz:7", true, false}};
static const problem *problems = less;

typedef struct host { /* the whole system, on every rank */
  kcl_context *ctx, *alone;
  kcl_csr *A;
  kcl_dense *b;
  int64_t n;
  size_t size;
} host;

static inline const char *words(const kcl_options *o, const char *kind) {
  static char text[160];
  snprintf(text, sizeof text, "%s %s %s %s, type %c, %d ranks", o->solver, o->precond, o->format,
           kind, kcl_type_letter(o->precision), ranks);
  return text;
}

static inline kcl_options options_for(const problem *p, const char *solver, const char *format,
                                      int turn) {
  static const kcl_type real[] = {KCL_D, KCL_S}, pairs[] = {KCL_Z, KCL_C};
  kcl_options o = kcl_defaults;
  o.solver = solver, o.format = format, o.precond = "none", o.no_direct = true;
  o.precision = (p->pairs ? pairs : real)[turn % 2];
  o.tol = turn % 2 ? 1e-4 : 1e-8;
  return o;
}

/* |b - A x| / |b|, of all rows, by plain loops in long double. */
static inline double residual(const host *h, const double *b, const double *x) {
  const int parts = kcl_type_complex(h->A->type) ? 2 : 1;
  const double *a = h->A->val;
  long double rr = 0, bb = 0;
  for (int64_t i = 0; i < h->n; i++) {
    long double r[2] = {b[parts * i], parts == 2 ? b[2 * i + 1] : 0};
    bb += r[0] * r[0] + r[1] * r[1];
    for (int64_t k = h->A->row_ptr[i]; k < h->A->row_ptr[i + 1]; k++) {
      const int64_t j = h->A->col[k];
      const long double are = a[parts * k], aim = parts == 2 ? a[2 * k + 1] : 0, xre = x[parts * j],
                        xim = parts == 2 ? x[2 * j + 1] : 0;
      r[0] -= are * xre - aim * xim, r[1] -= are * xim + aim * xre;
    }
    rr += r[0] * r[0] + r[1] * r[1];
  }
  return (double)sqrtl(rr / bb);
}

/* Rounding moves the step at which a residual passes the target by at most one where it falls smoothly. Recurrences with
 * shadow vectors amplify it: in float it decides after how many steps they claim convergence, and whether that holds. */
static inline bool same_count(const kcl_options *o, int64_t several, int64_t one) {
  static const char *const smooth[] = {"cg", "cg-single", "minres", "gmres"};
  const int64_t apart = several > one ? several - one : one - several;
  for (size_t i = 0; i < sizeof smooth / sizeof *smooth; i++)
    if (!strcmp(o->solver, smooth[i])) return apart <= 1;
  const bool single = o->precision == KCL_S || o->precision == KCL_C;
  return single || apart <= 2 + one / 4;
}

/* Iterations of a solve by one process; -1: it does not converge there, or is refused. */
static inline int64_t alone(const host *h, const kcl_options *o) {
  kcl_solver *s = NULL;
  kcl_report r = {0};
  double *x = calloc((size_t)h->n, h->size);
  int rc = kcl_setup(h->alone, h->A, o, &s);
  if (!rc) rc = kcl_solve_one(s, h->b->val, x, &r);
  kcl_solver_free(&s);
  free(x);
  return !rc && r.converged ? r.iterations : -1;
}

/* This rank's block, of unequal lengths. */
static inline kcl_csr rows_of(const host *h, int64_t *first, int64_t **row_ptr) {
  const int64_t all = (int64_t)ranks * (ranks + 1) / 2, from = h->n * rank * (rank + 1) / 2 / all,
                to = h->n * (rank + 1) * (rank + 2) / 2 / all, at = h->A->row_ptr[from];
  kcl_csr own = *h->A;
  *row_ptr = malloc((size_t)(to - from + 1) * sizeof **row_ptr);
  for (int64_t i = from; i <= to; i++) (*row_ptr)[i - from] = h->A->row_ptr[i] - at;
  own.rows = to - from, own.nnz = h->A->row_ptr[to] - at, own.row_ptr = *row_ptr;
  own.col = h->A->col + at, own.val = (char *)h->A->val + (size_t)at * h->size;
  *first = from;
  return own;
}

/* ---------------------------------------------------------------- the main program of each */

/* A device for all ranks, or one for each, between commas. */
static inline const char *device_of(const char *list, int number) {
  static char word[100];
  for (; number && strchr(list, ','); number--) list = strchr(list, ',') + 1;
  snprintf(word, sizeof word, "%.*s", (int)strcspn(list, ","), list);
  return word;
}

static inline void with_system(kcl_context *ctx, kcl_context *one, const problem *p,
                               void (*test)(const host *, const problem *)) {
  host h = {.ctx = ctx, .alone = one};
  if (!CHECK(!kcl_generate(one, p->kind, &h.A, &h.b))) return;
  h.n = h.A->rows, h.size = kcl_type_size(h.A->type);
  test(&h, p);
  kcl_csr_free(&h.A), kcl_dense_free(&h.b);
}

/* apart, or NULL: once, with a device on each rank; test: with each system. */
static inline int conform(int argc, char **argv, void (*apart)(kcl_context *),
                          void (*test)(const host *, const problem *)) {
  const char *device = argc > 1 ? argv[1] : "cpu";
  kcl_context *ctx, *one;
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (thorough()) problems = large;
  few_combinations = strcmp(device, "cpu") != 0,
  mixed_devices = strchr(device, ',') && strstr(device, "cpu");
  kcl_context_create(NULL, 0, &ctx), kcl_context_create(NULL, 0, &one);
  CHECKF(!kcl_mpi_select(ctx, MPI_COMM_WORLD, device_of(device, rank)), "%s", kcl_error());
  CHECKF(!kcl_select(one, "cpu", 1), "%s", kcl_error());
  if (apart) apart(ctx);
  for (int i = 0; i < PROBLEMS && test && !failed; i++) with_system(ctx, one, &problems[i], test);
  kcl_context_free(&ctx), kcl_context_free(&one);
  return report_of_ranks();
}

#endif
