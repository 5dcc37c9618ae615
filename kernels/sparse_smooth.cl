/* Data of smoothers: diagonals for one step, and Lanczos's method for the largest eigenvalue of D^-1 A (sparse/largest.c), whose
 * scalars stay here: scalars[k] is alpha_k, scalars[STEPS + k] beta_k. Sums are made by PARTS groups; the next kernel
 * adds their parts. Behind the scalars: Gershgorin's radii, and whether a diagonal entry is not positive. */
#include "sparse.clh"
#define WG 256
#define PARTS 1024
#define TURNS 4 /* rows per team at a time */
#define STEPS 5 /* KCL_LANCZOS_STEPS */

/* For one step: l1 ? 1 / sum_j |a_ij| : a_ii / sum_j a_ij^2 (multigrid/diagonal.c). A team per row. The note: of l1, n if a diagonal entry
 * is not positive. */
kernel void step_diagonal(CSR(A), const int n, const int team, const int l1, global double *d, NOTES)
{
  local double all[WG];
  const int i = get_global_id(0) / team, lane = get_local_id(0) % team;
  double a = 0, sum = 0;
  FOR_TEAM(i < n ? A_ptr[i] : 0, i < n ? A_ptr[i + 1] : 0, lane, team, k) {
    sum += l1 ? fabs(A_val[k]) : A_val[k] * A_val[k];
    if (A_col[k] == i) a = A_val[k];
  }
  sum = team_sum(sum, team, all), a = team_sum(a, team, all);
  if (lane || i >= n) return;
  d[i] = !(sum > 0) ? 0 : l1 ? 1 / sum : a / sum;
  if (l1 && !(a > 0)) notes[note] = n;
}

/* The sum of what the work-items of a group give; returned to the first one alone. */
inline double group_sum(const double mine, local double *all)
{
  const int l = get_local_id(0);
  all[l] = mine;
  for (int d = WG / 2; d; d /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < d) all[l] += all[l + d];
  }
  return all[l];
}

inline double sum_parts(global const double *part, local double *all)
{
  double mine = 0;
  for (int q = get_local_id(0); q < PARTS; q += WG) mine += part[q];
  group_sum(mine, all);
  barrier(CLK_LOCAL_MEM_FENCE);
  const double sum = all[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  return sum;
}

/* d = 1 / a_ii, Gershgorin's radii, and u: no symmetry, a hash of the number, in [-1/2, 1/2). part: u^H D u. Teams of a group take
 * rows in turn. */
kernel void lanczos_start(CSR(A), const int n, const int team, global double *d, global double *u, global double *part,
                          global double *scalars)
{
  local double all[WG];
  const int lane = get_local_id(0) % team, step = PARTS * WG / team;
  double sum = 0, radius = 0;
  for (int first = get_group_id(0) * (WG / team); first < n; first += step) {
    const int i = first + get_local_id(0) / team;
    double a = 0, moduli = 0;
    FOR_TEAM(i < n ? A_ptr[i] : 0, i < n ? A_ptr[i + 1] : 0, lane, team, k) {
      moduli += fabs(A_val[k]);
      if (A_col[k] == i) a = A_val[k];
    }
    a = team_sum(a, team, all), moduli = team_sum(moduli, team, all);
    if (lane || i >= n) continue;
    ulong h = ((ulong)i + 1) * 0x9e3779b97f4a7c15ul;
    h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9ul;
    const double x = (double)(h >> 12) / (double)(1ul << 52) - 0.5, inverse = 1 / a;
    d[i] = inverse, u[i] = x, sum += x * x / inverse, radius = fmax(radius, moduli * fabs(inverse));
    if (!(inverse > 0)) scalars[2 * STEPS + PARTS] = 1;
  }
  radius = team_largest(radius, WG, all), sum = team_sum(sum, WG, all);
  if (get_local_id(0) == 0) part[get_group_id(0)] = sum, scalars[2 * STEPS + get_group_id(0)] = radius;
}

/* v = u / beta, w = D^-1 A v; part: v^H D w. The teams of a group sum its rows; then there is a work-item per row. */
kernel void lanczos_multiply(CSR(A), const int n, const int team, const int k, global const double *d, global const double *u,
                             global double *v, global double *w, global const double *beta_part, global double *part,
                             global double *scalars)
{
  local double all[WG], sums[TURNS * WG + 32]; /* [team, rows + 1] */
  const int l = get_local_id(0), lane = l % team, rows = TURNS * WG / team;
  const double beta = sqrt(sum_parts(beta_part, all)), factor = beta > 0 ? 1 / beta : 0;
  double sum = 0;
  if (get_global_id(0) == 0) scalars[STEPS + k] = beta;
  for (int first = get_group_id(0) * rows; first < n; first += PARTS * rows) {
    for (int turn = 0; turn < TURNS; turn++) {
      const int row = turn * (WG / team) + l / team, i = first + row;
      double mine = 0;
      FOR_TEAM(i < n ? A_ptr[i] : 0, i < n ? A_ptr[i + 1] : 0, lane, team, q) mine += A_val[q] * (u[A_col[q]] * factor);
      sums[lane * (rows + 1) + row] = mine;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int row = l; row < rows && first + row < n; row += WG) {
      const int i = first + row;
      double mine = 0;
      for (int t = 0; t < team; t++) mine += sums[t * (rows + 1) + row];
      v[i] = u[i] * factor, w[i] = mine * d[i], sum += mine * v[i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  sum = team_sum(sum, WG, all);
  if (l == 0) part[get_group_id(0)] = sum;
}

/* u = w - alpha v - beta before; part: u^H D u. */
kernel void lanczos_orthogonalise(const int n, const int k, global const double *d, global double *u, global const double *w,
                                  global const double *v, global const double *before, global const double *alpha_part,
                                  global double *part, global double *scalars)
{
  local double all[WG];
  const double alpha = sum_parts(alpha_part, all), beta = k ? scalars[STEPS + k] : 0;
  if (get_global_id(0) == 0) scalars[k] = alpha;
  double sum = 0;
  for (int i = get_global_id(0); i < n; i += WG * PARTS) {
    const double x = w[i] - (alpha * v[i] + (k ? beta * before[i] : 0));
    u[i] = x, sum += x * x / d[i];
  }
  sum = team_sum(sum, WG, all);
  if (get_local_id(0) == 0) part[get_group_id(0)] = sum;
}
