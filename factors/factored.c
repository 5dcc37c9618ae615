/* Factors as products of a preconditioner.
 *
 *   z = (I + U)^-1 D^-1 (I + L)^-1 P r      P: rows exchanged and scaled; the scaling of columns is in D and U
 *
 * (I + N)^-1 is exact, the product with a matrix in the format `triangular`; or, on a GPU where a test at set-up finds them good,
 * a few Jacobi sweeps, each a product with N that fills the device: x <- r - N x.
 */
#include "factors/factored.h"
#include <stdio.h>

/* The product by (I + *N)^-1, which takes *N over. before: that of a matrix with its pattern, or NULL. */
static int triangular_operation(kcl_preconditioner *M, kcl_csr **N, const kcl_stored *before,
                                kcl_stored **out) {
  KCL_CALL(kcl_stored_build_again(M->ctx, kcl_format_triangular(M->type), *N, before, out));
  kcl_stored_adopt(*out, *N), *N = NULL;
  return KCL_OK;
}

/* The exact solve with I + *N, and with its adjoint. before: those of the same pattern, or NULL. */
static int add_solve(kcl_preconditioner *M, kcl_csr **N, bool adjoint,
                     const kcl_precond_matrix *before) {
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *C = NULL, *CH = NULL;
  kcl_stored *solve = NULL;
  if ((*N)->type == M->type)
    C = *N, *N = NULL;
  else
    KCL_CALL(kcl_csr_convert(M->ctx, *N, M->type, &C));
  kcl_csr_free(N);
  if (adjoint) KCL_CALL(kcl_csr_adjoint(M->ctx, C, &CH));
  const int64_t row = kcl_csr_longest_row(C);
  KCL_CALL(triangular_operation(M, &C, before ? before->C : NULL, &solve));
  KCL_CALL(kcl_precond_adopt(M, solve, row));
  if (!CH) return KCL_OK;
  return triangular_operation(M, &CH, before ? before->CH : NULL, &M->matrix[M->matrices - 1].CH);
}

/* Factor `which`. */
static int add_factor(kcl_preconditioner *M, kcl_csr **N, int which, bool adjoint,
                      const kcl_preconditioner *before) {
  const kcl_factored *F = M->data, *then = before ? before->data : NULL;
  const bool again = then && !then->sweeps[which];
  if (!F->sweeps[which]) return add_solve(M, N, adjoint, again ? &before->matrix[which] : NULL);
  kcl_csr *given = *N;
  *N = NULL;
  return kcl_precond_add_matrix(M, given, adjoint);
}

/* P: row i is r times row row[i] of the identity. */
static int add_exchange(kcl_preconditioner *M, const kcl_matching *m, int64_t n) {
  kcl_csr *P;
  KCL_CALL(kcl_csr_create(M->ctx, n, n, n, kcl_wide_type(M->type), &P));
  for (int64_t i = 0; i < n; i++) {
    P->row_ptr[i + 1] = i + 1, P->col[i] = m->row[i];
    kcl_set_element(P->type, P->val, i, (double[]){m->r[m->row[i]], 0});
  }
  return kcl_precond_add_matrix(M, P, M->adjoint);
}

/* D^-1 becomes C D^-1, U becomes C U C^-1. */
static void scale_columns(kcl_factors *f, const double *c) {
  const kcl_csr *U = f->U;
  const int width = kcl_type_complex(U->type) ? 2 : 1;
  double *u = U->val;
  for (int64_t i = 0; i < U->rows; i++) {
    for (int w = 0; w < width; w++) f->d[width * i + w] *= c[i];
    for (int64_t k = width * U->row_ptr[i]; k < width * U->row_ptr[i + 1]; k++)
      u[k] *= c[i] / c[U->col[k / width]];
  }
}

static void write_note(kcl_preconditioner *M, const kcl_factored *F, const char *what,
                       double fill) {
  size_t n = (size_t)snprintf(M->note, sizeof M->note, "%s, %.1f entries per row", what, fill);
  for (int i = 0; i < 2 && n < sizeof M->note; i++) {
    const char *name = i ? " + " : F->exchanged ? ", rows exchanged, " : ", ";
    n += (size_t)snprintf(M->note + n, sizeof M->note - n,
                          F->sweeps[i] ? "%s%lld sweeps" : "%s%lld levels", name,
                          (long long)(F->sweeps[i] ? F->sweeps[i] : F->levels[i]));
  }
}

int kcl_factored_keep(kcl_preconditioner *M, const kcl_csr *A, kcl_factors *f,
                      const kcl_matching *m, double close, const char *what,
                      const kcl_preconditioner *before) {
  const int64_t n = A->rows;
  kcl_factored *F;
  KCL_CALL(kcl_alloc(M->ctx, 1, sizeof *F, "a preconditioner", (void **)&F));
  M->data = F, F->exchanged = m, F->hermitian = !f->U;
  if (!f->U) KCL_CALL(kcl_csr_adjoint(M->ctx, f->L, &f->U));
  if (m) scale_columns(f, m->c);
  KCL_CALL(kcl_choose_solves(M, &(kcl_choosing){A, f, m, close, before ? before->data : NULL}, F));
  const double nonzeros = (double)(f->L->nnz + f->U->nnz + n);
  write_note(M, F, what, nonzeros / (double)n);
  M->size.nonzeros = nonzeros, M->size.complexity = nonzeros / (double)A->nnz;
  double *d = f->d;
  f->d = NULL;
  KCL_CALL(kcl_precond_add_vector(M, "d", n, kcl_wide_type(A->type), d));
  const bool adjoint = M->adjoint && !F->hermitian;
  KCL_CALL(add_factor(M, &f->L, 0, adjoint, before));
  KCL_CALL(add_factor(M, &f->U, 1, adjoint, before));
  if (m) KCL_CALL(add_exchange(M, m, n));
  return KCL_OK;
}

/* y = (I + N)^-1 x, N factor `which`; `other` is overwritten. */
static void solve_factored(kcl_program *k, const kcl_preconditioner *M, int which, bool adjoint,
                           const kcl_vec vec[3]) {
  const kcl_factored *F = M->data;
  const int sweeps = F->sweeps[which];
  const kcl_vec y = vec[0], x = vec[1], other = vec[2];
  kcl_stored *N = kcl_precond_operator(M, which, adjoint);
  kcl_vec from = x;
  if (!sweeps) kcl_apply(k, y, N, x); /* y = (I + N)^-1 x */
  for (int s = sweeps; s > 0; s--) {
    const kcl_vec to = s % 2 ? y : other;
    kcl_apply(k, to, N, from);                     /* to = N from         */
    kcl_lincomb(k, to, KCL_ONE, x, KCL_MINUS, to); /* to = x - N from     */
    from = to;
  }
}

void kcl_factored_apply(kcl_program *k, const kcl_preconditioner *M, kcl_vec z, kcl_vec r,
                        bool adjoint_) {
  const kcl_factored *F = M->data;
  const int64_t n = k->vector[r].n;
  const bool adjoint = adjoint_ && !F->hermitian;
  const kcl_vec s = kcl_work(k, n, "s"), t = kcl_work(k, n, "t"), w = kcl_work(k, n, "w"),
                d = kcl_precond_constant(k, 0);
  const bool before = F->exchanged && !adjoint, after = F->exchanged && adjoint;
  const kcl_vec from = before ? s : r, to = after ? s : z;
  if (before) kcl_apply(k, s, kcl_precond_operator(M, 2, false), r); /* s = P r             */
  solve_factored(k, M, adjoint, adjoint, (kcl_vec[]){t, from, w});   /* t = (I + L)^-1 s    */
  kcl_times(k, t, d, t, adjoint);                                    /* t = D^-1 t          */
  solve_factored(k, M, !adjoint, adjoint, (kcl_vec[]){to, t, w});    /* z = (I + U)^-1 t    */
  if (after) kcl_apply(k, z, kcl_precond_operator(M, 2, true), s);   /* z = P^H s           */
}
