/* A format that a matrix or a device refuses is not chosen, though it has the least bytes. */
#include "solver/solver.h"
#include "tests/calls.h"
#include "tests/conform.h"
#include "tests/options.h"

enum { N = 70000 };

/* 4 + i / n on the diagonal and the cyclic shift: columns of the last rows are too far apart for 16 bits. */
static kcl_csr *wide(kcl_context *ctx) {
  kcl_csr *A = NULL;
  if (kcl_csr_create(ctx, N, N, 2 * N, KCL_D, &A)) return NULL;
  double *val = A->val;
  for (int32_t i = 0; i < N; i++) {
    const int d = i == N - 1; /* where the diagonal stands: in the last row second */
    A->row_ptr[i + 1] = 2 * (i + 1);
    A->col[2 * i + d] = i, val[2 * i + d] = 4 + (double)i / N;
    A->col[2 * i + 1 - d] = (i + 1) % N, val[2 * i + 1 - d] = 1;
  }
  return A;
}

/* sell16, of fewer bytes, refuses the matrix (as pattern does): another format is chosen, and solves. */
static void test_matrix(const place *p, const kcl_csr *A, const kcl_options *o) {
  static double b[N], x[N];
  kcl_solver *s = NULL;
  kcl_stats stats;
  kcl_cost refused, chosen;
  kcl_report r;
  double doubt;
  if (!CHECKF(!kcl_setup(p->ctx, A, o, &s), "%s: %s", p->name, kcl_error())) return;
  const char *name = kcl_engine_format(s->selection.engine);
  CHECK(!kcl_csr_stats(p->ctx, A, &stats));
  CHECK(!kcl_format_cost(p->ctx, &stats, KCL_D, "sell16", &refused) && refused.refusal);
  CHECK(!kcl_format_cost(p->ctx, &stats, KCL_D, name, &chosen) && !chosen.refusal);
  CHECKF(refused.bytes_stored < chosen.bytes_stored, "%s: %s", p->name, name);
  for (int i = 0; i < N; i++) b[i] = random_number(), x[i] = 0;
  CHECK(!kcl_solve_one(s, b, x, &r) && r.converged && residual(A, b, x, &doubt) <= 1e-8);
  kcl_solver_free(&s);
}

/* A device that has room for no format. */
static void test_device(const place *p, const kcl_csr *A, const kcl_options *o) {
  kcl_device *d = &p->ctx->device;
  const uint64_t memory = d->memory;
  kcl_solver *s = NULL;
  d->memory = 1000000;
  CHECKF(kcl_setup(p->ctx, A, o, &s) == KCL_REFUSED && !s &&
             strstr(kcl_error(), "CSR needs 0.00672 GB, the device has 0.001 GB"),
         "%s: %s", p->name, kcl_error());
  d->memory = memory;
  kcl_solver_free(&s);
}

int main(void) {
  kcl_options o = cg_options();
  o.format = "model", o.solver = "bicgstab";
  open_places();
  for (int i = 0; i < place_count; i++) {
    const place *p = &places[i];
    kcl_csr *A = wide(p->ctx);
    if (CHECK(A != NULL) && can(p, KCL_D)) test_matrix(p, A, &o), test_device(p, A, &o);
    kcl_csr_free(&A);
  }
  close_places();
  return check_report();
}
