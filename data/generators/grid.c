/* Regular grids of cells in 2D and 3D, and rows of the 5- and 7-point stencils on them.
 *
 *            UP   NORTH
 *              | /                    index = x + n[0] (y + n[1] z)
 *   WEST -- CENTRE -- EAST            ascending: down south west centre east north up
 *            / |
 *       SOUTH  DOWN
 */
#include "data/generators/generate.h"

int kcl_grid_set(kcl_context *ctx, const char *kind, int dims, const int64_t *size, int n_sizes,
                 kcl_grid *g) {
  if (n_sizes != 1 && n_sizes != dims)
    return kcl_fail(ctx, KCL_USAGE,
                    "%s takes one number for all axes, such as %s:100, or %d joined by x; found %d",
                    kind, kind, dims, n_sizes);
  int64_t cells = 1;
  g->dims = dims;
  for (int a = 0; a < 3; a++) {
    g->n[a] = a >= dims ? 1 : size[n_sizes == 1 ? 0 : a];
    if (cells <= INT32_MAX) cells *= g->n[a];
  }
  if (cells > INT32_MAX)
    return kcl_fail(
        ctx, KCL_USAGE,
        "%s: the grid has more than 2147483647 cells, which column indices of 32 bits allow", kind);
  return KCL_OK;
}

int64_t kcl_grid_cells(const kcl_grid *g) { return g->n[0] * g->n[1] * g->n[2]; }

/* Indices are below 2^31, and 32-bit division is several times faster. */
void kcl_grid_cell(const kcl_grid *g, int64_t i, int64_t c[3]) {
  uint32_t nx = (uint32_t)g->n[0], ny = (uint32_t)g->n[1], line = (uint32_t)i / nx,
           plane = line / ny;
  c[0] = (uint32_t)i - line * nx;
  c[1] = line - plane * ny;
  c[2] = plane;
}

int64_t kcl_grid_neighbour(const kcl_grid *g, int64_t i, const int64_t c[3], int d) {
  const int64_t stride[3] = {1, g->n[0], g->n[0] * g->n[1]};
  if (d == KCL_CENTRE) return i;
  int up = d > KCL_CENTRE, axis = up ? d - KCL_EAST : KCL_WEST - d;
  if (up) return c[axis] + 1 < g->n[axis] ? i + stride[axis] : -1;
  return c[axis] > 0 ? i - stride[axis] : -1;
}

int kcl_grid_cross(const kcl_grid *g, int64_t i, int parts, const double *w, int32_t *col,
                   double *val) {
  int64_t c[3];
  int k = 0;
  kcl_grid_cell(g, i, c);
  for (int d = KCL_DOWN; d <= KCL_UP; d++) {
    int64_t j = kcl_grid_neighbour(g, i, c, d);
    if (j < 0) continue;
    if (col) {
      col[k] = (int32_t)j;
      for (int p = 0; p < parts; p++) val[parts * k + p] = w[parts * d + p];
    }
    k++;
  }
  return k;
}

int kcl_grid_formula(kcl_context *ctx, const char *kind, int dims, const int64_t *size, int n_sizes,
                     kcl_row *row, kcl_formula *out) {
  kcl_grid g;
  KCL_CALL(kcl_grid_set(ctx, kind, dims, size, n_sizes, &g));
  out->rows = (kcl_rows){kcl_grid_cells(&g), KCL_D, KCL_SYMMETRIC, KCL_REAL, row, NULL};
  out->rhs = kcl_rhs_one;
  return kcl_formula_self(ctx, &g, sizeof g, out);
}
