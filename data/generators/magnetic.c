/* A charged particle on a grid in a magnetic field: the Laplacian with Peierls phases (Peierls 1933,
 * Hofstadter 1976), gauge A = (0, B x), u = 0 on the boundary, plus a small shift.
 *
 *   a_ii = 4 + 0.001,  a_ij = -1 along x,  -exp(-i t x) to the north, -exp(+i t x) to the south
 *
 * t = 2 pi / 400: one flux quantum per 400 cells, so the lowest Landau level is about
 * 2 pi / 400. Complex, Hermitian positive definite. b = A 1. */
#include "data/generators/generate.h"

static int magnetic_row(const void *self, int64_t i, int32_t *col, double *val) {
  const kcl_grid *g = self;
  double phase = 6.283185307179586 / 400 * (double)(i % g->n[0]);
  double c = col ? cos(phase) : 0, s = col ? sin(phase) : 0;
  const double w[14] = {0, 0, -c, -s, -1, 0, 4.001, 0, -1, 0, -c, s, 0, 0};
  return kcl_grid_cross(g, i, 2, w, col, val);
}

static int magnetic_describe(kcl_context *ctx, const int64_t *size, int n_sizes, kcl_formula *out) {
  int rc = kcl_grid_formula(ctx, "magnetic", 2, size, n_sizes, magnetic_row, out);
  out->rows.type = KCL_Z;
  out->rows.symmetry = KCL_HERMITIAN;
  out->rows.field = KCL_COMPLEX;
  out->rhs = NULL;
  return rc;
}

const kcl_generator kcl_gen_magnetic = {
    .name = "magnetic",
    .example = "magnetic:200",
    .summary = "2D Laplacian in a magnetic field (Peierls phases), Hermitian positive definite",
    .describe = magnetic_describe};
