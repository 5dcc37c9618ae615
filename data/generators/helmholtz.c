/* Sound of a point source in a square room with absorbing walls: -div grad u - k^2 u = source,
 * du/dn = i k u on the walls (first-order absorbing condition: Engquist & Majda 1977).
 *
 *   a_ii = (inner faces) - (kh)^2 - (walls) i kh / (1 - i kh / 2),  a_ij = -1     kh = 2 pi / 12
 *
 * Cell-centred finite volumes, 12 cells per wavelength at any SIZE (N/12 wavelengths); a wall is half a
 * cell away. Complex symmetric, NOT Hermitian. b: 1 in the middle cell. */
#include "data/generators/generate.h"
#include <complex.h>

static int helmholtz_row(const void *self, int64_t i, int32_t *col, double *val) {
  const kcl_grid *g = self;
  const double kh = 6.283185307179586 / 12;
  const double complex wall = -I * kh / (1 - I * (kh / 2));
  double complex centre = -kh * kh;
  double w[14];
  int64_t c[3];
  kcl_grid_cell(g, i, c);
  for (int d = KCL_SOUTH; d <= KCL_NORTH; d++) {
    w[2 * d] = -1, w[2 * d + 1] = 0;
    if (d != KCL_CENTRE) centre += kcl_grid_neighbour(g, i, c, d) < 0 ? wall : 1;
  }
  w[2 * KCL_CENTRE] = creal(centre), w[2 * KCL_CENTRE + 1] = cimag(centre);
  return kcl_grid_cross(g, i, 2, w, col, val);
}

static void put_source(const void *self, int64_t i, double *b) {
  const kcl_grid *g = self;
  b[0] = i == g->n[0] / 2 + g->n[0] * (g->n[1] / 2), b[1] = 0;
}

static int helmholtz_describe(kcl_context *ctx, const int64_t *size, int n_sizes,
                              kcl_formula *out) {
  int rc = kcl_grid_formula(ctx, "helmholtz", 2, size, n_sizes, helmholtz_row, out);
  out->rows.type = KCL_Z, out->rows.field = KCL_COMPLEX;
  out->rhs = put_source;
  return rc;
}

const kcl_generator kcl_gen_helmholtz = {
    .name = "helmholtz",
    .example = "helmholtz:200",
    .summary = "2D Helmholtz with absorbing walls, complex symmetric (not Hermitian)",
    .describe = helmholtz_describe};
