/* The largest eigenvalue of D^-1 A where A's rows are spread over ranks: Lanczos's method as on one rank, with the elements of
 * its vectors that others own, and sums over all. */
#include "multigrid/smooth.h"

typedef struct spread {
  kcl_others others; /* the first member */
  const kcl_halo *halo;
  kcl_type type; /* D or Z */
  int64_t rows;
  double *x, *size; /* [rows + halo], [rows] */
} spread;

static void multiply_element(kcl_type type, const double a[2], const double *x, int64_t j,
                             double *q) {
  if (type == KCL_D) {
    *q += a[0] * x[j];
    return;
  }
  q[0] += a[0] * x[2 * j] - a[1] * x[2 * j + 1];
  q[1] += a[0] * x[2 * j + 1] + a[1] * x[2 * j];
}

static void multiply_on_ranks(const kcl_others *o, const double *v, double *q) {
  const spread *s = (const spread *)o;
  const kcl_csr *B = s->halo->outside;
  const int width = s->type == KCL_Z ? 2 : 1;
  kcl_copy(s->type, s->x, s->type, v, s->rows, 1);
  s->halo->exchange(s->halo, kcl_type_size(s->type), s->x);
  for (int64_t i = 0; i < width * s->rows; i++) q[i] = 0;
  for (int64_t i = 0; i < B->rows; i++)
    for (int64_t k = B->row_ptr[i]; k < B->row_ptr[i + 1]; k++) {
      double a[2];
      kcl_element(B->type, B->val, k, a);
      multiply_element(s->type, a, s->x, s->rows + B->col[k], q + width * s->halo->row[i]);
    }
}

static double add_over_ranks(const kcl_others *o, double own) {
  kcl_ranks *r = ((const spread *)o)->halo->ranks;
  r->sum(r, KCL_OK, 1, &own);
  return own;
}

static double largest_of_ranks(const kcl_others *o, double own) {
  kcl_ranks *r = ((const spread *)o)->halo->ranks;
  return r->largest(r, own);
}

static int agree_on_lambda(const kcl_others *o, int status) {
  return kcl_ranks_agree(((const spread *)o)->halo->ranks, status);
}

static void sizes(spread *s) {
  const kcl_csr *B = s->halo->outside;
  for (int64_t i = 0; i < B->rows; i++)
    for (int64_t k = B->row_ptr[i]; k < B->row_ptr[i + 1]; k++)
      s->size[s->halo->row[i]] += kcl_abs(B->type, B->val, k);
}

int kcl_spread_largest(kcl_context *ctx, const kcl_csr *A, const double *d, const kcl_halo *halo,
                       double *out) {
  const kcl_type type = kcl_wide_type(A->type);
  const int64_t elements = A->rows + halo->count;
  KCL_OWNED double *x = NULL, *size = NULL;
  KCL_CALL(kcl_alloc(ctx, elements, kcl_type_size(type), "Lanczos vectors", (void **)&x));
  KCL_CALL(kcl_alloc(ctx, A->rows, sizeof *size, "Lanczos vectors", (void **)&size));
  spread s = {.halo = halo, .type = type, .rows = A->rows, .x = x, .size = size};
  sizes(&s);
  s.others = (kcl_others){.first_row = halo->ranks->first_row,
                          .size = s.size,
                          .multiply = multiply_on_ranks,
                          .sum = add_over_ranks,
                          .largest = largest_of_ranks,
                          .agree = agree_on_lambda};
  return kcl_sparse_largest_of_all(ctx, A, d, &s.others, out);
}
