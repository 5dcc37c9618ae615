/* mycielskian:K, the graph M_K without triangles that needs K colours (Mycielski 1955).
 *
 *   M_2 is an edge; M_K has the vertices u_1 .. u_n of M_K-1, then v_1 .. v_n, v_i joined to the
 *   neighbours of u_i, then w joined to all v
 *
 * 3 2^(K-2) - 1 rows, all entries 1, symmetric indefinite. Gordon/mycielskianK of the SuiteSparse
 * collection. b = A 1. */
#include "data/generators/generate.h"

static int64_t vertices(int k) { return (INT64_C(3) << (k - 2)) - 1; }

/* Neighbours of i in M_k, ascending. */
static int neighbours(int k, int64_t i, int64_t offset, int32_t *col) {
  if (k == 2) {
    if (col) col[0] = (int32_t)(offset + 1 - i);
    return 1;
  }
  int64_t n = vertices(k - 1);
  if (i == 2 * n) {
    for (int64_t j = 0; col && j < n; j++) col[j] = (int32_t)(offset + n + j);
    return (int)n;
  }
  int count = neighbours(k - 1, i < n ? i : i - n, offset, col);
  if (i >= n) {
    if (col) col[count] = (int32_t)(offset + 2 * n);
    return count + 1;
  }
  for (int q = 0; col && q < count; q++) col[count + q] = col[q] + (int32_t)n;
  return 2 * count;
}

static int mycielskian_row(const void *self, int64_t i, int32_t *col, double *val) {
  int n = neighbours(*(const int *)self, i, 0, col);
  for (int k = 0; col && k < n; k++) val[k] = 1;
  return n;
}

static int mycielskian_make(kcl_context *ctx, const int64_t *size, int n_sizes, kcl_csr **A,
                            kcl_dense **b) {
  int k = (int)size[0];
  if (n_sizes != 1 || size[0] < 2 || size[0] > 20)
    return kcl_fail(ctx, KCL_USAGE,
                    "mycielskian takes one number, the colours, at least 2 and at most 20");
  kcl_rows rows = {vertices(k), KCL_D, KCL_SYMMETRIC, KCL_PATTERN, mycielskian_row, &k};
  int rc = kcl_rows_matrix(ctx, &rows, A);
  return rc ? rc : kcl_rhs_image(ctx, *A, b);
}

const kcl_generator kcl_gen_mycielskian = {
    .name = "mycielskian",
    .example = "mycielskian:8",
    .summary = "Mycielski's graph that needs SIZE colours, pattern, indefinite",
    .make = mycielskian_make};
