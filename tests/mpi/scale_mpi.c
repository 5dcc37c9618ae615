/* Scaling on several ranks: rows and columns have the exponents of one process, those of the halo too, and solves stop where
 * both |R (b - A x)| and |b - A x| are small, of which both are reported.
 * usage: scale_mpi */
#include "distributed/distributed.h"
#include "tests/calls.h"
#include "tests/mpi/totals.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;
static kcl_context *ctx, *one;

typedef struct system {
  const char *name, *kind; /* of kcl_generate */
  enum { GENERAL, MIRRORED, SKEW } moduli;
  const char *solver; /* NULL: it is not solved */
} system_kind;
static const system_kind systems[] = {{"general", "convection:13", GENERAL, "gmres"},
                                      {"by A^H", "convection:13", GENERAL, "bicg"},
                                      {"symmetric", "poisson2d:13", MIRRORED, "cg"},
                                      {"Hermitian", "magnetic:11", MIRRORED, "cg"},
                                      {"shifted skew", "poisson2d:13", SKEW, NULL}};

/* 10^-most ... 10^most */
static double power_of_ten(int64_t i, int by, int most) {
  return pow(10, (double)(i * by % (2 * most + 1)) - most);
}

/* D A E, E = D where moduli are symmetric, or c I + D S D; A with a diagonal four times as large, so that few iterations are
 * enough. */
static void spoil(kcl_csr *A, int moduli) {
  const int most = moduli == MIRRORED ? 3 : 4, by = moduli == GENERAL ? 5 : 4;
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
      const int64_t j = A->col[k];
      const double factor = i == j                    ? 4
                            : moduli == SKEW && j < i ? -1
                                                      : 1,
                   size = factor * power_of_ten(i, 4, most) * power_of_ten(j, by, most);
      double z[2];
      kcl_element(A->type, A->val, k, z);
      z[0] *= size, z[1] *= size;
      if (moduli == SKEW && i == j) z[0] = 1e-9;
      kcl_set_element(A->type, A->val, k, z);
    }
  A->symmetry = KCL_GENERAL;
}

static void check_powers(const char *name, const kcl_solver *s, const kcl_solver *shared) {
  const kcl_scaling *a = &s->system.scaling;
  const kcl_csr *A = s->system.A;
  const kcl_scaling *b = &shared->system.scaling;
  const kcl_distributed *m = (const kcl_distributed *)shared->system.distribution;
  if (!CHECKF(a->row && b->row, "%s: not scaled: %s", name, shared->system.scale_reason)) return;
  const int64_t first = m ? m->comm->ranks.first_row : 0,
                n = m ? kcl_domain_rows(m->domain) : A->rows;
  CHECKF(!memcmp(a->row + first, b->row, (size_t)n * sizeof *b->row), "%s: rows", name);
  CHECKF(!memcmp(a->col + first, b->col, (size_t)n * sizeof *b->col), "%s: columns", name);
  CHECKF(!memcmp(a->row_range, b->row_range, sizeof a->row_range) &&
             !memcmp(a->col_range, b->col_range, sizeof a->col_range),
         "%s: ranges", name);
  for (int64_t j = 0; m && j < m->domain->halo.count; j++)
    CHECKF(b->col[n + j] == a->col[m->domain->column[j]], "%s: column %lld of the halo", name,
           (long long)j);
}

/* |R (b - A x)| / |R b|, R = diag(2^power), NULL: I. */
static double residual(const kcl_csr *A, const double *b, const double *x, const int *power) {
  const int w = kcl_type_complex(A->type) ? 2 : 1;
  double *r = malloc((size_t)(w * A->rows) * sizeof *r);
  long double rr = 0, bb = 0;
  kcl_csr_product(A, x, b, r);
  for (int64_t i = 0; i < w * A->rows; i++) {
    const long double f = ldexpl(1, power ? power[i / w] : 0);
    rr += r[i] * f * r[i] * f, bb += b[i] * f * b[i] * f;
  }
  free(r);
  return (double)sqrtl(rr / bb);
}

static bool close_to(double a, double b) { return fabs(a - b) <= 1e-3 * b + 1e-15; }

static void check_solve(const system_kind *k, const kcl_solver *s, kcl_solver *m, const double *b) {
  const kcl_csr *A = s->system.A;
  kcl_report r = {0};
  double *x = calloc((size_t)A->cols, kcl_type_size(A->type));
  CHECKF(!kcl_solve_one(m, rank ? NULL : b, rank ? NULL : x, &r), "%s: %s", k->name, kcl_error());
  CHECKF(r.converged, "%s: %s after %lld", k->name, kcl_reason_text(r.reason),
         (long long)r.iterations);
  if (!rank) {
    const double given = residual(A, b, x, NULL), tested = residual(A, b, x, s->system.scaling.row);
    CHECKF(given <= 1e-8 && close_to(r.true_relative_residual, given), "%s: %g, is %g", k->name,
           r.true_relative_residual, given);
    CHECKF(tested <= 1e-8 && close_to(r.tested_residual, tested), "%s: tested %g, is %g", k->name,
           r.tested_residual, tested);
  }
  free(x);
}

/* b = A 1, or a column of ones: then large rows have as much of it as small ones. */
static void check_system(const system_kind *k, bool ones) {
  kcl_csr *A = NULL;
  kcl_solver *s = NULL;
  kcl_solver *m = NULL;
  kcl_options o = kcl_defaults;
  o.solver = k->solver ? k->solver : "gmres", o.precond = "none", o.restart = 50;
  o.format = "csr-scalar";
  CHECKF(!kcl_generate(one, k->kind, &A, NULL), "%s", kcl_error());
  spoil(A, k->moduli), o.precision = A->type;
  double *b = calloc((size_t)A->rows, kcl_type_size(A->type));
  if (ones)
    for (int64_t i = 0; i < A->rows; i++) b[(kcl_type_complex(A->type) ? 2 : 1) * i] = 1;
  else
    kcl_csr_product(A, NULL, NULL, b);
  CHECKF(!kcl_setup(one, A, &o, &s), "%s: %s", k->name, kcl_error());
  if (CHECKF(!kcl_mpi_setup(ctx, MPI_COMM_WORLD, rank ? NULL : A, KCL_MPI_ROOT, &o, &m), "%s: %s",
             k->name, kcl_error())) {
    if (ranks > 1) check_powers(k->name, s, m);
    if (k->solver) check_solve(k, s, m, b);
  }
  kcl_solver_free(&m), kcl_solver_free(&s), kcl_csr_free(&A), free(b);
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  kcl_context_create(NULL, 0, &ctx), kcl_context_create(NULL, 0, &one);
  CHECKF(!kcl_mpi_select(ctx, MPI_COMM_WORLD, "cpu"), "%s", kcl_error());
  CHECKF(!kcl_select(one, "cpu", 1), "%s", kcl_error());
  for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
    check_system(&systems[i], false), check_system(&systems[i], true);
  kcl_context_free(&ctx), kcl_context_free(&one);
  return report_of_ranks();
}
