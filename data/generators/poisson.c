/* Poisson's equation -div grad u = f on a unit-spaced grid, u = 0 on the boundary, second order:
 *
 *   poisson2d       -1            poisson3d: 6 in the middle, -1 to the six neighbours
 *               -1   4  -1        b = 1: a unit source in every cell
 *                   -1
 *
 * nnz = 5 N^2 - 4 N and 7 N^3 - 6 N^2. Symmetric positive definite. */
#include "data/generators/generate.h"

static int poisson_row(const void *self, int64_t i, int32_t *col, double *val) {
  const kcl_grid *g = self;
  return kcl_grid_cross(g, i, 1, (const double[]){-1, -1, -1, 2 * g->dims, -1, -1, -1}, col, val);
}

const kcl_generator kcl_gen_poisson2d = {.name = "poisson2d",
                                         .example = "poisson2d:300",
                                         .summary = "5-point Laplacian on N x N cells, SPD",
                                         .grid_dims = 2,
                                         .grid_row = poisson_row};
const kcl_generator kcl_gen_poisson3d = {.name = "poisson3d",
                                         .example = "poisson3d:60",
                                         .summary = "7-point Laplacian on N x N x N cells, SPD",
                                         .grid_dims = 3,
                                         .grid_row = poisson_row};
