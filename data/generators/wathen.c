/* Wathen's finite element mass matrix (Wathen 1987) on N x M elements of eight nodes (serendipity):
 *
 *   6--5--4      element (x, y) with density 100 u, u uniform in (0, 1]: A += density E, E 8 x 8
 *   7     3      (2 N + 1) (M + 1) + (N + 1) M nodes, numbered line by line: corners and the middles of
 *   0--1--2      horizontal edges, then the middles of vertical ones
 *
 * Symmetric positive definite; scaled by its diagonal its eigenvalues lie in [0.25, 4.5] at any size.
 * GHS_psdef/wathen100 has this structure at 100x100, with densities of another random number
 * generator. SIZE: N or NxM. b = A 1. */
#include "data/generators/generate.h"

/* 45 E; rows and columns in the order of the picture. */
static const int8_t element[8][8] = {
    {6, -6, 2, -8, 3, -8, 2, -6}, {-6, 32, -6, 20, -8, 16, -8, 20},
    {2, -6, 6, -6, 2, -8, 3, -8}, {-8, 20, -6, 32, -6, 20, -8, 16},
    {3, -8, 2, -6, 6, -6, 2, -8}, {-8, 16, -8, 20, -6, 32, -6, 20},
    {2, -8, 3, -8, 2, -6, 6, -6}, {-6, 20, -8, 16, -8, 20, -6, 32}};

typedef struct mesh {
  int64_t nx, ny;
} mesh;

static void nodes_of(const mesh *m, int64_t x, int64_t y, int64_t node[8]) {
  int64_t line = 3 * m->nx + 2, below = y * line + 2 * x, middle = y * line + 2 * m->nx + 1 + x;
  const int64_t above = below + line;
  const int64_t all[8] = {below,     below + 1, below + 2, middle + 1,
                          above + 2, above + 1, above,     middle};
  for (int k = 0; k < 8; k++) node[k] = all[k];
}

/* Elements that contain node i: columns x[0] .. x[1], lines y[0] .. y[1]. */
static void around(const mesh *m, int64_t i, int64_t x[2], int64_t y[2]) {
  int64_t line = 3 * m->nx + 2, j = i / line, k = i % line;
  bool middle = k > 2 * m->nx;
  int64_t c = middle ? 2 * (k - 2 * m->nx - 1) : k;
  x[0] = (c - 1) / 2;
  x[1] = c / 2;
  y[0] = middle ? j : j - 1;
  y[1] = j;
  if (c == 0) x[0] = 0;
  if (x[1] == m->nx) x[1]--;
  if (y[0] < 0) y[0] = 0;
  if (y[1] == m->ny) y[1]--;
}

static int wathen_row(const void *self, int64_t i, int32_t *col, double *val) {
  const mesh *m = self;
  int64_t x[2], y[2], node[8], found[32];
  double sum[32];
  int count = 0;
  around(m, i, x, y);
  for (int64_t ey = y[0]; ey <= y[1]; ey++)
    for (int64_t ex = x[0]; ex <= x[1]; ex++) {
      double density = 100 * (1 - kcl_uniform((uint64_t)(ex + m->nx * ey))) / 45;
      int here = 0;
      nodes_of(m, ex, ey, node);
      while (node[here] != i) here++;
      for (int k = 0; k < 8; k++) {
        int at = count;
        while (at > 0 && found[at - 1] >= node[k]) at--;
        if (at == count || found[at] != node[k]) {
          for (int q = count++; q > at; q--) found[q] = found[q - 1], sum[q] = sum[q - 1];
          found[at] = node[k], sum[at] = 0;
        }
        sum[at] += density * element[here][k];
      }
    }
  for (int k = 0; col && k < count; k++) col[k] = (int32_t)found[k], val[k] = sum[k];
  return count;
}

static int wathen_make(kcl_context *ctx, const int64_t *size, int n_sizes, kcl_csr **A,
                       kcl_dense **b) {
  mesh m = {size[0], size[n_sizes == 1 ? 0 : 1]};
  if (n_sizes == 3 || m.nx > INT32_MAX / 4 / m.ny)
    return kcl_fail(ctx, KCL_USAGE, "wathen takes N or NxM elements, at most 500000000 in all");
  kcl_rows rows = {
      3 * m.nx * m.ny + 2 * m.nx + 2 * m.ny + 1, KCL_D, KCL_SYMMETRIC, KCL_REAL, wathen_row, &m};
  int rc = kcl_rows_matrix(ctx, &rows, A);
  return rc ? rc : kcl_rhs_image(ctx, *A, b);
}

const kcl_generator kcl_gen_wathen = {
    .name = "wathen",
    .example = "wathen:100",
    .summary = "finite element mass matrix of random density, N x M elements, SPD",
    .make = wathen_make};
