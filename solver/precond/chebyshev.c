/* A polynomial in D^-1 A: M^-1 = p(D^-1 A) D^-1, Chebyshev's of the fourth kind with optimal weights (Lottes 2023). It
 * needs no products of vectors, and its matrix is A's; on several ranks that of them all. Bytes: degree - 1 products by A per
 * application, 5 n s each besides A.
 */
#include "multigrid/smooth.h"
#include <stdio.h>

enum { DEGREE };
static const kcl_option parameters[] = {
    [DEGREE] = {"chebyshev.degree", "4",
                "degree of the polynomial, 1 to 8: one less is the number of products by A",
                KCL_OPTION_WHOLE, 1, KCL_MOST_DEGREE},
    {0},
};

static int chebyshev_setup(kcl_preconditioner *M, const kcl_precond_request *q) {
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *owned = NULL;
  const kcl_csr *wide;
  double largest;
  KCL_CALL(kcl_sparse_wide(M->ctx, q->A, &owned, &wide));
  KCL_CALL(kcl_add_smoother(M, wide, q->halo, "D", &largest));
  KCL_CALL(kcl_alloc(M->ctx, 1, sizeof(int), "a preconditioner", &M->data));
  int *degree = M->data;
  *degree = (int)kcl_precond_value(q, &parameters[DEGREE], 0);
  snprintf(M->note, sizeof M->note, "degree %d", *degree);
  return KCL_OK;
}

static void chebyshev_apply(kcl_program *k, const kcl_preconditioner *M, kcl_vec z, kcl_vec r,
                            bool adjoint) {
  const int *degree = M->data;
  const kcl_smoothing s = {
      .A = kcl_precond_system(k, M), .d = kcl_precond_constant(k, 0), .degree = *degree};
  (void)adjoint; /* A = A^H */
  kcl_record_smoothing(k, &s, z, r);
}

const kcl_precond_kind kcl_precond_chebyshev = {
    .name = "chebyshev",
    .summary = "a polynomial in A, Hermitian positive definite",
    .source = "Lottes 2023",
    .needs = KCL_NEEDS_HERMITIAN | KCL_NEEDS_POSITIVE,
    .symmetric = true,
    .whole = true,
    .multiplies = true,
    .parameters = parameters,
    .setup = chebyshev_setup,
    .apply = chebyshev_apply};
