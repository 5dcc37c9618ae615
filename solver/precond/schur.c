/* Block diagonal preconditioner of a saddle point system (Murphy, Golub & Wathen 2000): rows whose diagonal entry is zero are
 * constraints, A = [A11 B^T; B 0],
 *
 *   M = [|D| 0; 0 S]        D = diag(A11), S = B |D|^-1 B^T
 *
 * Where A11 is diagonal and positive M^-1 A has three eigenvalues. S is inverted up to MOST constraints; of more, its diagonal.
 * Bytes: one product by a matrix of n + constraints^2 entries.
 */
#include "multigrid/coarsen.h"
#include "solver/contract/precond.h"
#include <stdio.h>

enum { MOST = 500 };               /* constraints whose S is dense */
static const double SHIFT = 1e-10; /* of S's diagonal: dependent constraints have no inverse */

/* A's rows in two kinds. */
typedef struct saddle {
  const kcl_csr *A;
  double *weight;  /* [rows]: 1 / |a_ii|; 0 of constraints */
  int32_t *number; /* [rows]: of a constraint, or -1 */
  int64_t constraints;
} saddle;

static void saddle_free(saddle *s) { free(s->weight), free(s->number); }

static int find_constraints(kcl_context *ctx, saddle *s) {
  const int64_t n = s->A->rows;
  KCL_CALL(kcl_alloc(ctx, n, sizeof *s->weight, "constraints", (void **)&s->weight));
  KCL_CALL(kcl_alloc(ctx, n, sizeof *s->number, "constraints", (void **)&s->number));
  for (int64_t i = 0; i < n; i++) {
    double d[2] = {0, 0};
    kcl_find_entry(s->A, i, i, d);
    s->weight[i] = d[0] != 0 ? 1 / fabs(d[0]) : 0;
    s->number[i] = d[0] != 0 ? -1 : (int32_t)s->constraints++;
  }
  return KCL_OK;
}

/* Adds the entries of row j of B^T, times w and each other, to S [m, m]; or to its diagonal [m]. */
static void add_outer_product(const saddle *s, int64_t j, bool dense, double *S) {
  const kcl_csr *A = s->A;
  const double *a = A->val, w = s->weight[j];
  for (int64_t k = A->row_ptr[j]; k < A->row_ptr[j + 1]; k++) {
    const int64_t c = s->number[A->col[k]];
    if (c >= 0 && !dense) S[c] += w * a[k] * a[k];
    for (int64_t l = A->row_ptr[j]; c >= 0 && dense && l < A->row_ptr[j + 1]; l++)
      if (s->number[A->col[l]] >= 0)
        S[c * s->constraints + s->number[A->col[l]]] += w * a[k] * a[l];
  }
}

/* The inverse of S, dense, or of its diagonal. A constraint without entries stays as it is. */
static int invert_schur(kcl_context *ctx, const saddle *s, kcl_csr **out) {
  const int64_t m = s->constraints, width = m <= MOST ? m : 1;
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *S = NULL;
  KCL_CALL(kcl_csr_create(ctx, m, m, m * width, KCL_D, &S));
  double *val = S->val;
  for (int64_t k = 0; k < m * width; k++) val[k] = 0, S->col[k] = (int32_t)(width == m ? k % m : k);
  for (int64_t c = 0; c < m; c++) S->row_ptr[c + 1] = (c + 1) * width;
  for (int64_t j = 0; j < s->A->rows; j++)
    if (s->weight[j] > 0) add_outer_product(s, j, width == m, val);
  for (int64_t c = 0; c < m; c++) {
    double *d = &val[width == m ? c * m + c : c];
    *d = *d > 0 ? *d * (1 + SHIFT) : 1;
    if (width < m) *d = 1 / *d;
  }
  if (width == m) return kcl_dense_inverse(ctx, S, true, out);
  *out = S, S = NULL;
  return KCL_OK;
}

/* M^-1: rows of constraints are those of the inverse of S. */
static int join_blocks(kcl_context *ctx, const saddle *s, const kcl_csr *inverse,
                       const int32_t *row, kcl_csr **out) {
  const int64_t n = s->A->rows, m = s->constraints;
  KCL_CALL(kcl_csr_create(ctx, n, n, n - m + inverse->nnz, KCL_D, out));
  kcl_csr *C = *out;
  int64_t at = 0;
  for (int64_t i = 0; i < n; i++) {
    const int32_t c = s->number[i];
    if (c < 0) C->col[at] = (int32_t)i, ((double *)C->val)[at++] = s->weight[i];
    for (int64_t k = c < 0 ? 0 : inverse->row_ptr[c]; c >= 0 && k < inverse->row_ptr[c + 1]; k++)
      C->col[at] = row[inverse->col[k]], ((double *)C->val)[at++] = ((double *)inverse->val)[k];
    C->row_ptr[i + 1] = at;
  }
  return KCL_OK;
}

static int make_inverse(kcl_context *ctx, const saddle *s, kcl_csr **out) {
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *inverse = NULL;
  KCL_OWNED int32_t *row = NULL;
  KCL_CALL(kcl_alloc(ctx, s->constraints + 1, sizeof *row, "constraints", (void **)&row));
  for (int64_t i = 0; i < s->A->rows; i++)
    if (s->number[i] >= 0) row[s->number[i]] = (int32_t)i;
  KCL_CALL(invert_schur(ctx, s, &inverse));
  return join_blocks(ctx, s, inverse, row, out);
}

static int schur_setup(kcl_preconditioner *M, const kcl_precond_request *q) {
  KCL_OWNED_BY(saddle_free) saddle s = {.A = NULL};
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *owned = NULL;
  kcl_csr *C = NULL;
  KCL_CALL(kcl_sparse_wide(M->ctx, q->A, &owned, &s.A));
  KCL_CALL(find_constraints(M->ctx, &s));
  const int rc = make_inverse(M->ctx, &s, &C);
  snprintf(M->note, sizeof M->note, "%lld constraints, %s", (long long)s.constraints,
           s.constraints <= MOST ? "their Schur complement inverted" : "a diagonal for them");
  if (!rc) return kcl_precond_add_matrix(M, C, false);
  kcl_csr_free(&C);
  return rc;
}

static void schur_apply(kcl_program *k, const kcl_preconditioner *M, kcl_vec z, kcl_vec r,
                        bool adjoint) {
  (void)adjoint;                                         /* M = M^H                */
  kcl_apply(k, z, kcl_precond_operator(M, 0, false), r); /* z = M^-1 r             */
}

static double schur_bytes(const kcl_precond_request *q) {
  return ((double)q->stats->rows + MOST * MOST) * (4.0 + (double)kcl_type_size(q->A->type)) +
         8.0 * (double)q->stats->rows;
}

const kcl_precond_kind kcl_precond_schur = {
    .name = "schur",
    .summary = "saddle points: the diagonal, and the Schur complement of constraints",
    .source = "Murphy, Golub & Wathen 2000",
    .needs = KCL_NEEDS_REAL | KCL_NEEDS_HERMITIAN,
    .symmetric = true,
    .bytes = schur_bytes,
    .setup = schur_setup,
    .apply = schur_apply};
