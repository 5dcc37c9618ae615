/* The matrix of the HPCG benchmark (Dongarra, Heroux & Luszczek 2016): all 26 neighbours of a cell.
 *
 *   a_ii = 26,  a_ij = -1 for every other cell of the 3 x 3 x 3 cube around i inside the grid
 *
 * nnz = (3 N - 2)^3. Symmetric positive definite. b = A 1, so that the exact solution is 1. */
#include "data/generators/generate.h"

static int hpcg_row(const void *self, int64_t i, int32_t *col, double *val) {
  const kcl_grid *g = self;
  int64_t c[3], lo[3], hi[3];
  int k = 0;
  kcl_grid_cell(g, i, c);
  for (int a = 0; a < 3; a++) {
    lo[a] = c[a] > 0 ? c[a] - 1 : 0;
    hi[a] = c[a] + 1 < g->n[a] ? c[a] + 1 : c[a];
  }
  if (!col) return (int)((hi[0] - lo[0] + 1) * (hi[1] - lo[1] + 1) * (hi[2] - lo[2] + 1));
  for (int64_t z = lo[2]; z <= hi[2]; z++)
    for (int64_t y = lo[1]; y <= hi[1]; y++)
      for (int64_t x = lo[0]; x <= hi[0]; x++, k++) {
        col[k] = (int32_t)(x + g->n[0] * (y + g->n[1] * z));
        val[k] = col[k] == i ? 26 : -1;
      }
  return k;
}

static int hpcg_describe(kcl_context *ctx, const int64_t *size, int n_sizes, kcl_formula *out) {
  int rc = kcl_grid_formula(ctx, "hpcg", 3, size, n_sizes, hpcg_row, out);
  out->rhs = NULL;
  return rc;
}

const kcl_generator kcl_gen_hpcg = {.name = "hpcg",
                                    .example = "hpcg:40",
                                    .summary = "27-point matrix of the HPCG benchmark, SPD",
                                    .describe = hpcg_describe};
