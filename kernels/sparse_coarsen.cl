/* The coarsening of classical multigrid, as multigrid/strong.c and multigrid/interpolate.c define it. S: the strong entries of A. */
#include "sparse.clh"
#define WG 256
#define FOR_STRONG(i, k) for (int k = S_ptr[i]; k < S_ptr[(i) + 1]; k++)

/* limit: entry a is strong if sign(limit) a >= |limit|. */
inline bool is_strong(const double limit, const double a) { return rounded(copysign(1.0, limit) * a) >= fabs(limit); }

/* weak: the sum of what is not strong, with the diagonal. A team per row. */
kernel void count_strong(CSR(A), const int n, const int team, const double theta, global double *limit, global double *weak,
                         global int *count, global int *depend)
{
  local double all[WG];
  const int i = get_global_id(0) / team, lane = get_global_id(0) % team;
  const int from = i < n ? A_ptr[i] : 0, to = i < n ? A_ptr[i + 1] : 0;
  double diagonal = 0, most = 0, sum = 0, strong = 0;
  int mine = 0;
  FOR_TEAM(from, to, lane, team, k) if (A_col[k] == i) diagonal = A_val[k];
  const double sign = team_sum(diagonal, team, all) < 0 ? 1 : -1;
  FOR_TEAM(from, to, lane, team, k) {
    sum += A_val[k];
    if (A_col[k] != i) most = fmax(most, sign * A_val[k]);
  }
  most = team_largest(most, team, all);
  const double bound = sign * (most > 0 ? rounded(theta * most) : INFINITY);
  FOR_TEAM(from, to, lane, team, k)
    if (A_col[k] != i && is_strong(bound, A_val[k])) mine++, strong += A_val[k], atomic_inc(&depend[A_col[k]]);
  sum = team_sum(sum, team, all), strong = team_sum(strong, team, all), mine = (int)team_sum(mine, team, all);
  if (lane == 0 && i < n) limit[i] = bound, weak[i] = sum - strong, count[i] = mine;
}

/* Each work-item of a team has a part of the row. */
kernel void fill_strong(CSR(A), const int n, const int team, global const double *limit, global const int *S_ptr, global int *S_col,
                        global double *S_val)
{
  local int all[WG];
  const int i = get_global_id(0) / team;
  const int2 part = i < n ? team_part(A_ptr[i], A_ptr[i + 1], team) : (int2)0;
  const double bound = i < n ? limit[i] : INFINITY;
  int mine = 0;
  for (int k = part.x; k < part.y; k++) mine += A_col[k] != i && is_strong(bound, A_val[k]);
  int at = team_before(mine, team, all) + (i < n ? S_ptr[i] : 0);
  for (int k = part.x; k < part.y; k++)
    if (A_col[k] != i && is_strong(bound, A_val[k])) S_col[at] = A_col[k], S_val[at++] = A_val[k];
}

/* ---------------------------------------------------------------- the split (PMIS)
 * Two points are neighbours if one depends on the other. Of those the first by priority is decided first: a point that depends on a
 * coarse one is fine, and coarse if it does not and all neighbours before it are decided. That determines the split, whichever
 * points a kernel sees decided, so that the rounds of PMIS need not be kept apart. */

enum { FINE, COARSE, UNDECIDED };

/* How many depend on i, and a fraction by hash, so that ties are rare. */
inline double priority(global const int *depend, const int i)
{
  return (double)depend[i] + (double)(hash(i) >> 12) / (double)(1ul << 52);
}
inline bool is_before(const double a, const int i, const double b, const int j) { return a > b || (a == b && i > j); }

/* ahead [n], of zeros: how many undecided points before i depend on it. Those that it depends on are in its row. */
kernel void begin_split(PATTERN(S), const int n, global const int *depend, global double *first, global int *state, global int *ahead)
{
  const int i = get_global_id(0);
  if (i >= n) return;
  const double mine = priority(depend, i);
  first[i] = mine, state[i] = depend[i] ? UNDECIDED : FINE;
  if (depend[i]) FOR_STRONG(i, k)
    if (is_before(mine, i, priority(depend, S_col[k]), S_col[k])) atomic_inc(&ahead[S_col[k]]);
}

/* State of point i as far as it is decided. */
inline int decide(PATTERN(S), global const double *first, volatile global const int *state, volatile global const int *ahead, const int i)
{
  bool last = ahead[i] == 0;
  FOR_STRONG(i, k) {
    const int j = S_col[k], theirs = state[j];
    if (theirs == COARSE) return FINE;
    last = last && (theirs == FINE || is_before(first[i], i, first[j], j));
  }
  return last ? COARSE : UNDECIDED;
}

/* Each point is tried so many times. The note: some are still undecided. */
kernel void decide_points(PATTERN(S), const int n, const int tries, global const double *first, volatile global int *state,
                          volatile global int *ahead, NOTES)
{
  const int i = get_global_id(0);
  if (i >= n || state[i] != UNDECIDED) return;
  int now = UNDECIDED;
  for (int t = 0; t < tries && now == UNDECIDED; t++) now = decide(S_ptr, S_col, first, state, ahead, i);
  if (now == UNDECIDED) {
    notes[note] = 1;
    return;
  }
  state[i] = now;
  FOR_STRONG(i, k)
    if (is_before(first[i], i, first[S_col[k]], S_col[k])) atomic_dec(&ahead[S_col[k]]);
}

/* before[i]: coarse points before i. */
kernel void number_coarse(global const int *state, global const int *before, const int n, global int *coarse)
{
  const int i = get_global_id(0);
  if (i < n) coarse[i] = state[i] == COARSE ? before[i] : -1;
}

/* ---------------------------------------------------------------- interpolation: the factors of W = L B, before truncation
 *
 *   L   coarse rows (i, 1); others -1 / diagonal times: (i, 1), then a_ij / beta_j of the strong fine j
 *   B   coarse rows (number of i, 1); others a_ij of the strong coarse j */

kernel void sum_coarse(CSR(S), const int n, global const int *coarse, global double *beta)
{
  const int i = get_global_id(0);
  if (i >= n) return;
  double sum = 0;
  FOR_STRONG(i, k) if (coarse[S_col[k]] >= 0) sum += S_val[k];
  beta[i] = sum;
}

/* weak becomes the factor of the row. Also the lengths of the rows of both factors. */
kernel void sum_diagonal(CSR(S), const int n, global const int *coarse, global const double *beta, global double *weak,
                         global int *L_count, global int *B_count)
{
  const int i = get_global_id(0);
  if (i >= n) return;
  double diagonal = weak[i];
  int fine = 0, near = 0;
  FOR_STRONG(i, k) {
    if (coarse[S_col[k]] >= 0) near++;
    else if (beta[S_col[k]] != 0) fine++;
    else diagonal += S_val[k];
  }
  weak[i] = diagonal != 0 ? -1 / diagonal : 0;
  L_count[i] = coarse[i] >= 0 ? 1 : 1 + fine;
  B_count[i] = coarse[i] >= 0 ? 1 : near;
}

/* Each work-item of a team has a part of the row of S. The first entry of a row of L is that of the diagonal. */
kernel void fill_factors(CSR(S), const int n, const int team, global const int *coarse, global const double *beta,
                         global const double *scale, global const int *L_ptr, global int *L_col, global double *L_val,
                         global const int *B_ptr, global int *B_col, global double *B_val)
{
  local int all[WG];
  const int i = get_global_id(0) / team, lane = get_local_id(0) % team;
  const bool chosen = i < n && coarse[i] >= 0;
  const int2 part = i < n && !chosen ? team_part(S_ptr[i], S_ptr[i + 1], team) : (int2)0;
  int near = 0, fine = 0;
  for (int k = part.x; k < part.y; k++) {
    if (coarse[S_col[k]] >= 0) near++;
    else fine += beta[S_col[k]] != 0;
  }
  int b = team_before(near, team, all), l = team_before(fine, team, all) + 1;
  if (i >= n) return;
  b += B_ptr[i], l += L_ptr[i];
  if (lane == 0) L_col[l - 1] = i, L_val[l - 1] = chosen ? 1 : scale[i];
  if (lane == 0 && chosen) B_col[b] = coarse[i], B_val[b] = 1;
  for (int k = part.x; k < part.y; k++) {
    const int j = S_col[k];
    if (coarse[j] >= 0) B_col[b] = coarse[j], B_val[b++] = S_val[k];
    else if (beta[j] != 0) L_col[l] = j, L_val[l++] = scale[i] * S_val[k] / beta[j];
  }
}
