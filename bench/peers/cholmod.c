/* CHOLMOD: ordering, factors and one solve, b = A 1. usage: cholmod A.mtx; threads of the BLAS by its own variable. */
#include "peer.h"
#include <suitesparse/cholmod.h>

int main(int argc, char **argv) {
  peer_usage(argc == 2, "cholmod A.mtx");
  mtx A = mtx_read(argv[1]);
  double *b = peer_row_sums(&A);
  cholmod_common c;
  cholmod_start(&c);
  size_t most = (size_t)A.nnz, at = 0;
  cholmod_sparse *S = cholmod_allocate_sparse(A.rows, A.rows, most, 1, 1, 1, CHOLMOD_REAL, &c);
  cholmod_dense *f = cholmod_allocate_dense(A.rows, 1, A.rows, CHOLMOD_REAL, &c);
  int *ptr = S->p, *row = S->i;
  for (int j = 0; j < A.rows; j++) { /* the upper triangle by columns */
    for (int k = A.ptr[j]; k < A.ptr[j + 1]; k++)
      if (A.col[k] <= j) row[at] = A.col[k], ((double *)S->x)[at++] = A.val[k];
    ptr[j + 1] = (int)at;
  }
  memcpy(f->x, b, (size_t)A.rows * sizeof *b);
  const double start = peer_now();
  cholmod_factor *L = cholmod_analyze(S, &c);
  if (!L || !cholmod_factorize(S, L, &c) || c.status != CHOLMOD_OK) return 4;
  const double ready = peer_now();
  cholmod_dense *x = cholmod_solve(CHOLMOD_A, L, f, &c);
  const peer_run r = {.setup = ready - start, .solve = peer_now() - ready, .iterations = 1};
  peer_print_run("CHOLMOD", argv[1], &r, peer_residual(&A, b, x->x));
  cholmod_free_dense(&x, &c);
  cholmod_free_dense(&f, &c);
  cholmod_free_factor(&L, &c);
  cholmod_free_sparse(&S, &c);
  cholmod_finish(&c);
  free(b);
  mtx_free(&A);
}
