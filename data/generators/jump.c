/* Anisotropic diffusion through random blocks: -div(K grad u) = f, u = 0 on the boundary.
 *
 *   K = k diag(0.1, 1, 100)  (jump2d: without the third)
 *   k = 10^e, e uniform in -2, -1, 0, 1, 2, one per block of 8^3 cells
 *
 * Unit-spaced finite volumes: a face conducts the harmonic mean 2 k1 k2 / (k1 + k2) of its cells, a
 * face of the boundary, half a cell away, 2 k. b = 1. Symmetric positive definite,
 * ill-conditioned: the coefficients span a factor of 10^7. */
#include "data/generators/generate.h"

enum { BLOCK_CELLS = 8 };
static const double stretch[3] = {0.1, 1.0, 100.0};

static double coefficient(int64_t x, int64_t y, int64_t z) {
  static const double power[5] = {0.01, 0.1, 1.0, 10.0, 100.0};
  uint64_t block = (uint64_t)(x / BLOCK_CELLS) + ((uint64_t)(y / BLOCK_CELLS) << 21) +
                   ((uint64_t)(z / BLOCK_CELLS) << 42);
  return power[kcl_splitmix64(block) % 5];
}

static int jump_row(const void *self, int64_t i, int32_t *col, double *val) {
  const kcl_grid *g = self;
  int64_t c[3];
  double w[7] = {0};
  kcl_grid_cell(g, i, c);
  double here = coefficient(c[0], c[1], c[2]);
  for (int d = KCL_DOWN; col && d <= KCL_UP; d++) {
    int64_t j = kcl_grid_neighbour(g, i, c, d), n[3];
    if (d == KCL_CENTRE || (g->dims == 2 && (d == KCL_DOWN || d == KCL_UP))) continue;
    kcl_grid_cell(g, j < 0 ? i : j, n);
    double there = coefficient(n[0], n[1], n[2]);
    double mean = j < 0 ? 2 * here : 2 * here * there / (here + there);
    double face = mean * stretch[d < KCL_CENTRE ? KCL_WEST - d : d - KCL_EAST];
    w[d] = -face, w[KCL_CENTRE] += face;
  }
  return kcl_grid_cross(g, i, 1, w, col, val);
}

const kcl_generator kcl_gen_jump2d = {
    .name = "jump2d",
    .example = "jump2d:200",
    .summary = "diffusion on N x N cells, jumping anisotropic coefficients, SPD",
    .grid_dims = 2,
    .grid_row = jump_row};
const kcl_generator kcl_gen_jump3d = {
    .name = "jump3d",
    .example = "jump3d:40",
    .summary = "diffusion on N x N x N cells, jumping anisotropic coefficients, SPD",
    .grid_dims = 3,
    .grid_row = jump_row};
