/* Convection and diffusion in a double-glazed window (Elman, Silvester & Wathen 2005, example
 * 3.1.4): -div grad u + P w . grad u = 0 with a recirculating wind, u = 1 on the east wall and 0 on
 * the other walls.
 *
 *   w = (2 y (1 - x^2), -2 x (1 - y^2), 1/2) at cell centres of (-1, 1)^2, the last in 3D only
 *   a_ii = 4 or 6,  a_ij = -(1 + p w_d) upwind and -(1 - p w_d) downwind of each axis d
 *
 * Central differences; p, half the cell Peclet number, is 0.2 at any SIZE: |p w_d| < 1, an M-matrix.
 * Unsymmetric. SIZE: N or NxM for 2D, NxMxK for 3D. b: the east wall. */
#include "data/generators/generate.h"

static const double half_peclet = 0.2;

static void weights(const kcl_grid *g, const int64_t c[3], double w[7]) {
  double x = (2 * (double)c[0] + 1) / (double)g->n[0] - 1,
         y = (2 * (double)c[1] + 1) / (double)g->n[1] - 1;
  const double wind[3] = {2 * y * (1 - x * x), -2 * x * (1 - y * y), 0.5};
  for (int a = 0; a < 3; a++) {
    w[KCL_WEST - a] = -(1 + half_peclet * wind[a]);
    w[KCL_EAST + a] = -(1 - half_peclet * wind[a]);
  }
  w[KCL_CENTRE] = 2 * g->dims;
}

static int convection_row(const void *self, int64_t i, int32_t *col, double *val) {
  const kcl_grid *g = self;
  int64_t c[3];
  double w[7];
  kcl_grid_cell(g, i, c);
  weights(g, c, w);
  return kcl_grid_cross(g, i, 1, w, col, val);
}

static void east_wall(const void *self, int64_t i, double *b) {
  const kcl_grid *g = self;
  int64_t c[3];
  double w[7];
  kcl_grid_cell(g, i, c);
  weights(g, c, w);
  *b = c[0] + 1 == g->n[0] ? -w[KCL_EAST] : 0;
}

static int convection_describe(kcl_context *ctx, const int64_t *size, int n_sizes,
                               kcl_formula *out) {
  int rc =
      kcl_grid_formula(ctx, "convection", n_sizes == 3 ? 3 : 2, size, n_sizes, convection_row, out);
  out->rows.symmetry = KCL_GENERAL;
  out->rhs = east_wall;
  return rc;
}

const kcl_generator kcl_gen_convection = {
    .name = "convection",
    .example = "convection:200",
    .summary = "convection-diffusion, recirculating wind, N x M (x K) cells, unsymmetric",
    .describe = convection_describe};
