/* A random sparse SPD matrix of known condition number: A = R2 R1 D R1' R2', by plane rotations as MATLAB's
 * sprandsym.
 *
 *   D    10^(-K p(i) / (N - 1)), p a random permutation of 0 .. N - 1: condition number 10^K
 *   R    rotates random pairs of axes by random angles in (0, pi / 2); the pairs of R1 and of R2
 *        differ, so that the graph is connected; at most 6 entries per row
 *
 * SIZE: NxK, K from 1 to 15; N alone is Nx6. Fixed seeds: the same matrix on every machine, up to
 * rounding of sine and cosine. b: uniform in [-1, 1). */
#include "data/generators/generate.h"

typedef struct spd_rotations {
  int64_t n;
  double *eigenvalue;  /* [n] */
  int32_t *partner[2]; /* [n] in R1, in R2; i itself if it has none */
} spd_rotations;

static void free_rotations(spd_rotations *r) {
  free(r->eigenvalue), free(r->partner[0]), free(r->partner[1]);
}

/* Fisher & Yates (1938). */
static void shuffle(int64_t n, uint64_t seed, int32_t *p) {
  for (int64_t i = 0; i < n; i++) p[i] = (int32_t)i;
  for (int64_t i = n - 1; i > 0; i--) {
    int64_t j = (int64_t)(kcl_uniform(seed + (uint64_t)i) * (double)(i + 1));
    int32_t t = p[i];
    p[i] = p[j], p[j] = t;
  }
}

/* R(i, i) and R(i, partner of i). */
static void turn(const spd_rotations *r, int which, int64_t i, double cs[2]) {
  int64_t j = r->partner[which][i], low = i < j ? i : j;
  double angle = 1.5707963267948966 * kcl_uniform(((uint64_t)which + 7) << 40 | (uint64_t)low);
  cs[0] = i == j ? 1 : cos(angle), cs[1] = i == j ? 0 : i == low ? sin(angle) : -sin(angle);
}

/* (R1 D R1')(i, j): i = j, or j the partner of i; exactly symmetric in i and j. */
static double inner_entry(const spd_rotations *r, int64_t i, int64_t j) {
  double a[2], b[2];
  int64_t p = r->partner[0][i];
  if (j != i && j != p) return 0;
  turn(r, 0, i, a), turn(r, 0, j, b);
  double here = a[0] * (j == i ? b[0] : b[1]) * r->eigenvalue[i];
  double there = p == i ? 0 : a[1] * (j == i ? b[1] : b[0]) * r->eigenvalue[p];
  return here + there;
}

static double spd_entry(const spd_rotations *r, int64_t i, int64_t j) {
  int64_t row = i < j ? i : j, col = i < j ? j : i;
  const int64_t u[2] = {row, r->partner[1][row]}, v[2] = {col, r->partner[1][col]};
  double a[2], b[2], sum = 0;
  turn(r, 1, row, a), turn(r, 1, col, b);
  for (int p = 0; p < 2; p++)
    for (int q = 0; q < 2; q++) {
      int64_t low = u[p] < v[q] ? u[p] : v[q], high = u[p] < v[q] ? v[q] : u[p];
      sum += a[p] * b[q] * inner_entry(r, low, high);
    }
  return sum;
}

/* Columns: i and its partner in R2, their partners in R1, and the partners of all these in R2. */
static int spd_row(const void *self, int64_t i, int32_t *col, double *val) {
  const spd_rotations *r = self;
  int32_t found[8] = {0};
  int count = 0;
  for (int k = 0; k < 8; k++) {
    int32_t j = (int32_t)i;
    if (k & 1) j = r->partner[1][j];
    if (k & 2) j = r->partner[0][j];
    if (k & 4) j = r->partner[1][j];
    int at = count;
    while (at > 0 && found[at - 1] >= j) at--;
    if (at < count && found[at] == j) continue;
    for (int q = count++; q > at; q--) found[q] = found[q - 1];
    found[at] = j;
  }
  for (int k = 0; col && k < count; k++) col[k] = found[k], val[k] = spd_entry(r, i, found[k]);
  return count;
}

static void pair_up(int64_t n, const int32_t *order, int32_t *partner) {
  for (int64_t k = 0; k < n; k++) partner[order[k]] = order[(k ^ 1) < n ? k ^ 1 : k];
}

static int draw_rotations(kcl_context *ctx, spd_rotations *r, double power) {
  KCL_OWNED int32_t *order = NULL;
  double steps = r->n > 1 ? (double)(r->n - 1) : 1;
  KCL_CALL(kcl_alloc(ctx, r->n, sizeof *order, "a permutation", (void **)&order));
  KCL_CALL(kcl_alloc(ctx, r->n, sizeof *r->eigenvalue, "eigenvalues", (void **)&r->eigenvalue));
  for (uint64_t k = 0; k < 2; k++) {
    KCL_CALL(kcl_alloc(ctx, r->n, sizeof *order, "pairs", (void **)&r->partner[k]));
    shuffle(r->n, (k + 1) << 36, order);
    pair_up(r->n, order, r->partner[k]);
  }
  shuffle(r->n, UINT64_C(3) << 36, order);
  for (int64_t i = 0; i < r->n; i++) r->eigenvalue[i] = pow(10, -power * order[i] / steps);
  return KCL_OK;
}

static int spd_make(kcl_context *ctx, const int64_t *size, int n_sizes, kcl_csr **A,
                    kcl_dense **b) {
  KCL_OWNED_BY(free_rotations) spd_rotations r = {.n = size[0]};
  int64_t power = n_sizes == 1 ? 6 : size[1];
  if (n_sizes == 3 || power > 15)
    return kcl_fail(ctx, KCL_USAGE,
                    "spd takes N rows, or N x K for a condition number of 10^K, K at most 15");
  KCL_CALL(draw_rotations(ctx, &r, (double)power));
  kcl_rows rows = {r.n, KCL_D, KCL_SYMMETRIC, KCL_REAL, spd_row, &r};
  KCL_CALL(kcl_rows_matrix(ctx, &rows, A));
  KCL_CALL(kcl_rhs_zero(ctx, *A, b));
  for (int64_t i = 0; b && i < r.n; i++)
    (*b)->val[i] = 2 * kcl_uniform((UINT64_C(5) << 40) + (uint64_t)i) - 1;
  return KCL_OK;
}

const kcl_generator kcl_gen_spd = {
    .name = "spd",
    .example = "spd:10000x4",
    .summary =
        "random sparse SPD of condition number 10^K, SIZE N x K (K = 6), about 6 entries per row",
    .make = spd_make};
