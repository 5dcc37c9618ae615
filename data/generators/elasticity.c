/* Linear elasticity of a block clamped at its west face and bent by its weight, three unknowns per node:
 *
 *   -div sigma = f,  sigma = lambda tr(e) I + 2 mu e,  e = (grad u + grad u') / 2     lambda = 3, mu = 2
 *
 * (Poisson's ratio 0.3.) Trilinear elements on N x M x K unit cubes (Hughes 1987); nodes of the face
 * x = 0 are fixed. Unknown 3 node + c: displacement along axis c, nodes x fastest. Entries are
 * 1/72 of whole numbers, so that A is exactly symmetric; each pair of neighbours has a full
 * 3 x 3 block with explicit zeros. Symmetric positive definite. b: weight along -z. */
#include "data/generators/generate.h"

typedef struct elastic_block {
  kcl_grid nodes; /* the unknown ones: x = 1 .. N, y = 0 .. M, z = 0 .. K */
} elastic_block;

/* Integral over the unit cube of d_c phi_a d_d phi_b times 72, phi the trilinear function of corner
 * a (bit 0: x = 1 and so on): a product over the axes of the integrals 1/3, 1/6 (neither derived),
 * +-1/2 (one), +-1 (both). */
static int gradient(int a, int c, int b, int d) {
  int v = c == d ? 2 : 3;
  for (int axis = 0; axis < 3; axis++) {
    int p = a >> axis & 1, q = b >> axis & 1, derived = (axis == c) + (axis == d);
    if (derived == 0) v *= p == q ? 2 : 1;
    if (derived == 2) v *= p == q ? 1 : -1;
    if (derived == 1) v *= (axis == c ? p : q) ? 1 : -1;
  }
  return v;
}

static int stiffness(int a, int c, int b, int d) {
  const int lambda = 3, mu = 2;
  int v = lambda * gradient(a, c, b, d) + mu * gradient(a, d, b, c);
  for (int axis = 0; c == d && axis < 3; axis++) v += mu * gradient(a, axis, b, axis);
  return v;
}

/* Sum over the elements that contain both nodes, which differ by step[axis] in -1 .. 1. */
static double coupling(const elastic_block *s, const int64_t n[3], const int step[3], int c,
                       int d) {
  int sum = 0;
  for (int a = 0; a < 8; a++) { /* this node is corner a of an element */
    bool inside = true;
    int b = 0;
    for (int axis = 0; axis < 3; axis++) {
      int p = a >> axis & 1, q = p + step[axis];
      int64_t cell = n[axis] + (axis == 0) - p, cells = s->nodes.n[axis] - (axis != 0);
      inside = inside && q >= 0 && q <= 1 && cell >= 0 && cell < cells;
      b |= (q & 1) << axis;
    }
    if (inside) sum += stiffness(a, c, b, d);
  }
  return sum / 72.0;
}

static int elasticity_row(const void *self, int64_t i, int32_t *col, double *val) {
  const elastic_block *s = self;
  int64_t n[3];
  int k = 0, step[3];
  kcl_grid_cell(&s->nodes, i / 3, n);
  for (step[2] = -1; step[2] <= 1; step[2]++)
    for (step[1] = -1; step[1] <= 1; step[1]++)
      for (step[0] = -1; step[0] <= 1; step[0]++) {
        int64_t at[3];
        bool there = true;
        for (int a = 0; a < 3; a++)
          at[a] = n[a] + step[a], there = there && at[a] >= 0 && at[a] < s->nodes.n[a];
        if (!there) continue;
        int64_t node = at[0] + s->nodes.n[0] * (at[1] + s->nodes.n[1] * at[2]);
        for (int d = 0; d < 3; d++, k++)
          if (col) col[k] = (int32_t)(3 * node + d), val[k] = coupling(s, n, step, (int)(i % 3), d);
      }
  return k;
}

/* An eighth of each element's weight to each of its nodes. */
static void weigh_nodes(const elastic_block *s, double *b) {
  int64_t nodes = kcl_grid_cells(&s->nodes), n[3];
  for (int64_t i = 0; i < nodes; i++) {
    int elements = 1;
    kcl_grid_cell(&s->nodes, i, n);
    for (int a = 0; a < 3; a++)
      elements *= n[a] == s->nodes.n[a] - 1 || (a > 0 && n[a] == 0) ? 1 : 2;
    b[3 * i + 2] = -elements / 8.0;
  }
}

static int elasticity_make(kcl_context *ctx, const int64_t *size, int n_sizes, kcl_csr **A,
                           kcl_dense **b) {
  elastic_block s;
  KCL_CALL(kcl_grid_set(ctx, "elasticity", 3, size, n_sizes, &s.nodes));
  s.nodes.n[1]++, s.nodes.n[2]++;
  if (kcl_grid_cells(&s.nodes) > INT32_MAX / 3)
    return kcl_fail(ctx, KCL_USAGE, "elasticity: more than 2147483647 unknowns, three per node");
  kcl_rows rows = {
      3 * kcl_grid_cells(&s.nodes), KCL_D, KCL_SYMMETRIC, KCL_REAL, elasticity_row, &s};
  int rc = kcl_rows_matrix(ctx, &rows, A);
  if (!rc) rc = kcl_rhs_zero(ctx, *A, b);
  if (!rc && b) weigh_nodes(&s, (*b)->val);
  return rc;
}

const kcl_generator kcl_gen_elasticity = {
    .name = "elasticity",
    .example = "elasticity:20x10x10",
    .summary = "bending of a clamped block, N x M x K elements, three unknowns per node, SPD",
    .make = elasticity_make};
