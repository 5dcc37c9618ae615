/* Anisotropic diffusion: -e_x u_xx - e_y u_yy (- e_z u_zz) = f on unit cells, u = 0 on the boundary.
 *
 *   aniso2d  e = (1, 0.001)         a_ii = 2 sum of e,  a_ij = -e_axis          b = 1
 *   aniso3d  e = (1, 0.01, 100)
 *
 * The coupling is strong along one axis only: point relaxation is slow, line relaxation is not. SPD. */
#include "data/generators/generate.h"

static int aniso_row(const void *self, int64_t i, int32_t *col, double *val) {
  static const double plane[] = {0, -0.001, -1, 2.002, -1, -0.001, 0},
                      space[] = {-100, -0.01, -1, 202.02, -1, -0.01, -100};
  const kcl_grid *g = self;
  return kcl_grid_cross(g, i, 1, g->dims == 2 ? plane : space, col, val);
}

const kcl_generator kcl_gen_aniso2d = {.name = "aniso2d",
                                       .example = "aniso2d:200",
                                       .summary = "diffusion 1 : 0.001 on N x N cells, SPD",
                                       .grid_dims = 2,
                                       .grid_row = aniso_row};
const kcl_generator kcl_gen_aniso3d = {.name = "aniso3d",
                                       .example = "aniso3d:40",
                                       .summary =
                                           "diffusion 1 : 0.01 : 100 on N x N x N cells, SPD",
                                       .grid_dims = 3,
                                       .grid_row = aniso_row};
