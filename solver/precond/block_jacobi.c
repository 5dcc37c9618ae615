/* Block Jacobi: M is the blocks of b x b entries on A's diagonal, inverted (Saad 2003, 12.2). b is the size of A's natural
 * blocks, such as the unknowns of one grid point, where 2, 3, 4, 6 or 8 rows mostly share their columns; else 4; or as the caller says.
 * Bytes: one product with n b entries per application.
 */
#include "core/matrix/structure.h"
#include "solver/contract/precond.h"
#include <complex.h>
#include <stdio.h>

enum { MOST = 8, USUAL = 4 };

enum { BLOCK };
static const kcl_option parameters[] = {
    [BLOCK] = {"block-jacobi.block", "natural blocks, else 4", "rows per block, 1 to 8",
               KCL_OPTION_WHOLE, 1, MOST},
    {0},
};

/* B = B^-1, n x n in rows of MOST, by Gauss and Jordan with row exchanges. False: it has none. */
static bool block_jacobi_invert(double complex *B, int n) {
  int from[MOST];
  for (int k = 0; k < n; k++) {
    int p = k;
    for (int i = k; i < n; i++)
      if (cabs(B[i * MOST + k]) > cabs(B[p * MOST + k])) p = i;
    if (!(cabs(B[p * MOST + k]) > 0)) return false;
    from[k] = p;
    for (int j = 0; j < n; j++) {
      double complex t = B[k * MOST + j];
      B[k * MOST + j] = B[p * MOST + j], B[p * MOST + j] = t;
    }
    double complex pivot = 1 / B[k * MOST + k];
    B[k * MOST + k] = 1;
    for (int j = 0; j < n; j++) B[k * MOST + j] *= pivot;
    for (int i = 0; i < n; i++) {
      double complex f = B[i * MOST + k];
      if (i == k) continue;
      B[i * MOST + k] = 0;
      for (int j = 0; j < n; j++) B[i * MOST + j] -= f * B[k * MOST + j];
    }
  }
  for (int k = n - 1; k >= 0; k--) /* the exchanges, undone in the columns */
    for (int i = 0; i < n; i++) {
      double complex t = B[i * MOST + k];
      B[i * MOST + k] = B[i * MOST + from[k]], B[i * MOST + from[k]] = t;
    }
  return true;
}

typedef struct inverting {
  const kcl_csr *A;
  kcl_csr *C; /* the inverse of the blocks */
  int b;
  _Atomic int64_t singular; /* the first such block */
} inverting;

static void invert_block(inverting *v, int64_t block) {
  const kcl_csr *A = v->A;
  const int64_t lo = block * v->b;
  const int n = (int)(A->rows - lo < v->b ? A->rows - lo : v->b);
  double complex B[MOST * MOST] = {0};
  for (int i = 0; i < n; i++)
    for (int64_t k = A->row_ptr[lo + i]; k < A->row_ptr[lo + i + 1]; k++) {
      double a[2];
      if (A->col[k] < lo || A->col[k] >= lo + n) continue;
      kcl_element(A->type, A->val, k, a);
      B[i * MOST + (A->col[k] - lo)] = a[0] + a[1] * I;
    }
  if (!block_jacobi_invert(B, n)) kcl_lower(&v->singular, block);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      const int64_t at = lo * v->b + (int64_t)i * n + j;
      v->C->col[at] = (int32_t)(lo + j);
      kcl_set_element(v->C->type, v->C->val, at,
                      (double[]){creal(B[i * MOST + j]), cimag(B[i * MOST + j])});
    }
  for (int i = 0; i < n; i++) v->C->row_ptr[lo + i + 1] = lo * v->b + (int64_t)(i + 1) * n;
}

static void invert_blocks(void *arg, int64_t from, int64_t to) {
  for (int64_t block = from; block < to; block++) invert_block(arg, block);
}

static int block_jacobi_setup(kcl_preconditioner *M, const kcl_precond_request *q) {
  const kcl_csr *A = q->A;
  const int natural = kcl_natural_block(q->stats),
            b = (int)kcl_precond_value(q, &parameters[BLOCK], natural > 1 ? natural : USUAL);
  const int64_t blocks = (A->rows + b - 1) / b, last = A->rows - (blocks - 1) * b;
  inverting v = {.A = A, .b = b, .singular = blocks};
  KCL_CALL(
      kcl_csr_create(M->ctx, A->rows, A->rows, (blocks - 1) * b * b + last * last, M->type, &v.C));
  kcl_for(blocks, KCL_FEW_ROWS / b, invert_blocks, &v);
  snprintf(M->note, sizeof M->note, "blocks of %d rows", b);
  if (v.singular == blocks) return kcl_precond_add_matrix(M, v.C, M->adjoint);
  kcl_csr_free(&v.C);
  return kcl_fail(
      M->ctx, KCL_USAGE,
      "block-jacobi inverts blocks of %d rows, and the one from row %lld on is singular", b,
      (long long)v.singular * b + 1);
}

static void block_jacobi_apply(kcl_program *k, const kcl_preconditioner *M, kcl_vec z, kcl_vec r,
                               bool adjoint) {
  kcl_apply(k, z, kcl_precond_operator(M, 0, adjoint), r); /* z = M^-1 r, or M^-H r  */
}

static double block_jacobi_bytes(const kcl_precond_request *q) {
  return (double)q->stats->rows * (MOST * (4.0 + (double)kcl_type_size(q->A->type)) + 8);
}

const kcl_precond_kind kcl_precond_block_jacobi = {.name = "block-jacobi",
                                                   .summary = "the diagonal blocks of A, inverted",
                                                   .source = "Saad 2003",
                                                   .symmetric = true,
                                                   .parameters = parameters,
                                                   .bytes = block_jacobi_bytes,
                                                   .setup = block_jacobi_setup,
                                                   .apply = block_jacobi_apply};
