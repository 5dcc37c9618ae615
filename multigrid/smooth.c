/* Chebyshev polynomials of the fourth kind: they need lambda, the largest eigenvalue of D^-1 A, alone. The weights beta
 * minimise the bound for the V-cycle (Lottes 2023, table 1).
 *
 *   d_1 = 4/3 D^-1 r / lambda                x = x + beta_1 d_1
 *   r = r - A d_k                            d_k+1 = (2k - 1)/(2k + 3) d_k + (8k + 4)/(2k + 3) D^-1 r / lambda, ...
 *
 * Coefficients are constants: what depends on A is in the vector D^-1 / lambda.
 */
#include "multigrid/smooth.h"

static const double weight[KCL_MOST_DEGREE][KCL_MOST_DEGREE] = {
    {1.12500000000000},
    {1.02387287570313, 1.26408905371085},
    {1.00842544782028, 1.08867839208730, 1.33753125909618},
    {1.00391310427285, 1.04035811188593, 1.14863498546254, 1.38268869241000},
    {1.00212930146164, 1.02173711549260, 1.07872433192603, 1.19810065292663, 1.41322542791682},
    {1.00128517255940, 1.01304293035233, 1.04678215124113, 1.11616489419675, 1.23829020218444,
     1.43524297106744},
    {1.00083464397912, 1.00843949430122, 1.03008707768713, 1.07408384092003, 1.15036186707366,
     1.27116474046139, 1.45186658649364},
    {1.00057246631197, 1.00577427662415, 1.02050187922941, 1.05019803444565, 1.10115572984941,
     1.18086042806856, 1.29838585382576, 1.46486073151099}};

int kcl_not_definite(const kcl_preconditioner *M, int64_t rows) {
  return kcl_fail(M->ctx, KCL_USAGE,
                  "%s needs a positive definite matrix: a diagonal entry of a system of %lld rows "
                  "is not positive",
                  M->kind->name, (long long)rows);
}

/* Is the diagonal positive, of coarse systems too? d: its inverse, or in place of that. */
static int check_positive(const kcl_preconditioner *M, const double *d, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    if (!(d[i] > 0)) return kcl_not_definite(M, n);
  return KCL_OK;
}

int kcl_add_smoother(kcl_preconditioner *M, const kcl_csr *A, const kcl_halo *halo,
                     const char *name, double *largest) {
  const bool pairs = kcl_type_complex(A->type);
  KCL_OWNED double *d = NULL;
  int rc;
  KCL_CALL(kcl_precond_inverse_diagonal(M, A, NULL, NULL, &d));
  for (int64_t i = 0; pairs && i < A->rows; i++) d[i] = d[2 * i];
  KCL_CALL(check_positive(M, d, A->rows));
  KCL_CALL(halo ? kcl_spread_largest(M->ctx, A, d, halo, largest)
                : kcl_sparse_largest(M->ctx, A, d, largest));
  for (int64_t i = 0; i < A->rows; i++) d[i] /= *largest;
  rc = kcl_precond_add_vector(M, name, A->rows, KCL_D, d);
  d = NULL;
  return rc;
}

int kcl_add_diagonal(kcl_preconditioner *M, const kcl_csr *A, const char *name, kcl_smoother kind) {
  KCL_OWNED double *d = NULL;
  int rc;
  KCL_CALL(kcl_amg_diagonal(M->ctx, A, kind, &d));
  if (kind == KCL_L1_JACOBI) KCL_CALL(check_positive(M, d, A->rows));
  rc = kcl_precond_add_vector(M, name, A->rows, KCL_D, d);
  d = NULL;
  return rc;
}

/* The steps after the first, whose direction is d[0]; b: the residual before it. */
static void steps_of_smoother(kcl_program *k, const kcl_smoothing *s, kcl_vec x, kcl_vec b,
                              kcl_vec d[2]) {
  const int64_t n = k->vector[x].n;
  const kcl_vec r = kcl_work_like(k, x, n, "r"), q = kcl_work_like(k, x, n, "q");
  for (int i = 1; i < s->degree; i++) {
    const kcl_vec from = d[(i - 1) % 2], to = d[i % 2], w = b == r ? q : r;
    const kcl_coef a = constant_coef((2.0 * i - 1) / (2 * i + 3)),
                   c = constant_coef((8.0 * i + 4) / (2 * i + 3));
    kcl_apply(k, w, s->A, from);                 /* w = A d                */
    kcl_lincomb(k, w, KCL_ONE, b, KCL_MINUS, w); /* w = b - w: the residual */
    kcl_times(k, to, s->d, w, false);            /* d' = D^-1 w / lambda   */
    kcl_lincomb(k, to, a, from, c, to);          /* d' = a d + c d'        */
    kcl_lincomb(k, x, KCL_ONE, x, constant_coef(weight[s->degree - 1][i]), to);
    b = w;
  }
}

/* d = 4/3 D^-1 b / lambda */
static kcl_coef first(kcl_program *k, const kcl_smoothing *s, kcl_vec d, kcl_vec b) {
  kcl_times(k, d, s->d, b, false);
  kcl_lincomb(k, d, constant_coef(4.0 / 3), d, KCL_ZERO, d);
  return constant_coef(weight[s->degree - 1][0]);
}

void kcl_record_smoothing(kcl_program *k, const kcl_smoothing *s, kcl_vec x, kcl_vec b) {
  const int64_t n = k->vector[x].n;
  kcl_vec d[] = {kcl_work_like(k, x, n, "d"), kcl_work_like(k, x, n, "e")};
  const kcl_coef w = first(k, s, d[0], b);
  kcl_lincomb(k, x, w, d[0], KCL_ZERO, d[0]); /* x = beta_1 d           */
  steps_of_smoother(k, s, x, b, d);
}

void kcl_record_correction(kcl_program *k, const kcl_smoothing *s, kcl_vec x, kcl_vec r) {
  const int64_t n = k->vector[x].n;
  kcl_vec d[] = {kcl_work_like(k, x, n, "d"), kcl_work_like(k, x, n, "e")};
  const kcl_coef w = first(k, s, d[0], r);
  kcl_lincomb(k, x, KCL_ONE, x, w, d[0]); /* x = x + beta_1 d       */
  steps_of_smoother(k, s, x, r, d);
}
