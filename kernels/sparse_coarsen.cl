/* The coarsening of classical multigrid, as sparse/strong.c and sparse/interpolate.c define it.
 *
 * limit[i]: entry a of row i is strong if sign(limit) a >= |limit|. No matrix of the strong entries is made. */
#include "sparse.clh"

inline bool is_strong(const double limit, const double a) { return rounded(copysign(1.0, limit) * a) >= fabs(limit); }
#define FOR_STRONG(i, k) \
  for (int k = A_ptr[i]; k < A_ptr[(i) + 1]; k++) \
    if (A_col[k] != (i) && is_strong(limit[i], A_val[k]))

/* Also how many rows depend on each. */
kernel void find_strong(CSR(A), const int n, const double theta, global double *limit, global int *depend)
{
  const int i = get_global_id(0);
  if (i >= n) return;
  double sign = -1, most = 0;
  for (int k = A_ptr[i]; k < A_ptr[i + 1]; k++)
    if (A_col[k] == i && A_val[k] < 0) sign = 1;
  for (int k = A_ptr[i]; k < A_ptr[i + 1]; k++)
    if (A_col[k] != i) most = fmax(most, sign * A_val[k]);
  limit[i] = sign * (most > 0 ? rounded(theta * most) : INFINITY);
  FOR_STRONG(i, k) atomic_inc(&depend[A_col[k]]);
}

/* ---------------------------------------------------------------- the split (PMIS) */

enum { UNDECIDED, COARSE, FINE, NEW /* coarse, since this round */ };

/* How many depend on i, and a fraction by hash, so that ties are rare. */
kernel void begin_split(global const int *depend, const int n, global double *priority, global int *state, global int *beaten)
{
  const int i = get_global_id(0);
  if (i >= n) return;
  ulong h = ((ulong)i + 1) * 0x9e3779b97f4a7c15ul;
  h = (h ^ h >> 31) * 0xbf58476d1ce4e5b9ul, h ^= h >> 27;
  priority[i] = (double)depend[i] + (double)(h >> 12) / (double)(1ul << 52);
  state[i] = depend[i] ? UNDECIDED : FINE;
  beaten[i] = 0;
}

/* Of two undecided points, one of which depends on the other, the first by priority beats the other. */
kernel void compare_points(CSR(A), const int n, global const double *limit, global const double *priority, global int *state,
                           global int *beaten)
{
  const int i = get_global_id(0);
  if (i >= n) return;
  if (state[i] == NEW) state[i] = COARSE;
  if (state[i] != UNDECIDED) return;
  const double mine = priority[i];
  FOR_STRONG(i, k) {
    const int j = A_col[k];
    if (state[j] != UNDECIDED) continue;
    const double theirs = priority[j];
    beaten[theirs > mine || (theirs == mine && j > i) ? i : j] = 1;
  }
}

kernel void choose_points(const int n, global int *state, global int *beaten)
{
  const int i = get_global_id(0);
  if (i >= n) return;
  if (state[i] == UNDECIDED && !beaten[i]) state[i] = NEW;
  beaten[i] = 0;
}

/* What depends on a new point is fine. *left: some are still undecided. */
kernel void exclude_points(CSR(A), const int n, global const double *limit, global int *state, global int *left)
{
  const int i = get_global_id(0);
  if (i >= n || state[i] != UNDECIDED) return;
  bool fine = false;
  FOR_STRONG(i, k) fine = fine || state[A_col[k]] == NEW;
  if (fine) state[i] = FINE;
  else *left = 1;
}

kernel void mark_coarse(global const int *state, const int n, global int *flag)
{
  const int i = get_global_id(0);
  if (i < n) flag[i] = state[i] == COARSE || state[i] == NEW;
}

/* before[i]: coarse points before i. */
kernel void number_coarse(global const int *state, global const int *before, const int n, global int *coarse)
{
  const int i = get_global_id(0);
  if (i < n) coarse[i] = state[i] == COARSE || state[i] == NEW ? before[i] : -1;
}

/* ---------------------------------------------------------------- interpolation: the factors of W = L B, before truncation
 *
 *   L   coarse rows (i, 1); others -1 / diagonal times: (i, 1), then a_ij / beta_j of the strong fine j
 *   B   coarse rows (number of i, 1); others a_ij of the strong coarse j */

kernel void sum_coarse(CSR(A), const int n, global const double *limit, global const int *coarse, global double *beta)
{
  const int i = get_global_id(0);
  if (i >= n) return;
  double sum = 0;
  FOR_STRONG(i, k) if (coarse[A_col[k]] >= 0) sum += A_val[k];
  beta[i] = sum;
}

/* Also the lengths of the rows of both factors. */
kernel void sum_diagonal(CSR(A), const int n, global const double *limit, global const int *coarse, global const double *beta,
                         global double *scale, global int *L_count, global int *B_count)
{
  const int i = get_global_id(0);
  if (i >= n) return;
  double all = 0, strong = 0;
  int fine = 0, near = 0;
  for (int k = A_ptr[i]; k < A_ptr[i + 1]; k++) all += A_val[k];
  FOR_STRONG(i, k) {
    strong += A_val[k];
    if (coarse[A_col[k]] >= 0) near++;
    else if (beta[A_col[k]] != 0) fine++;
  }
  double diagonal = all - strong;
  FOR_STRONG(i, k) if (coarse[A_col[k]] < 0 && beta[A_col[k]] == 0) diagonal += A_val[k];
  scale[i] = diagonal != 0 ? -1 / diagonal : 0;
  L_count[i] = coarse[i] >= 0 ? 1 : 1 + fine;
  B_count[i] = coarse[i] >= 0 ? 1 : near;
}

kernel void fill_factors(CSR(A), const int n, global const double *limit, global const int *coarse, global const double *beta,
                         global const double *scale, global const int *L_ptr, global int *L_col, global double *L_val,
                         global const int *B_ptr, global int *B_col, global double *B_val)
{
  const int i = get_global_id(0);
  if (i >= n) return;
  int l = L_ptr[i], b = B_ptr[i];
  const bool chosen = coarse[i] >= 0;
  L_col[l] = i, L_val[l++] = chosen ? 1 : scale[i];
  if (chosen) {
    B_col[b] = coarse[i], B_val[b] = 1;
    return;
  }
  FOR_STRONG(i, k) {
    const int j = A_col[k];
    if (coarse[j] >= 0) B_col[b] = coarse[j], B_val[b++] = A_val[k];
    else if (beta[j] != 0) L_col[l] = j, L_val[l++] = scale[i] * A_val[k] / beta[j];
  }
}
