/* What smoothers need: diagonals, and Lanczos's method for the largest eigenvalue of D^-1 A (sparse/largest.c), whose
 * scalars stay here: scalars[k] is alpha_k, scalars[STEPS + k] beta_k. Sums are made by PARTS groups; the next kernel
 * adds their parts. Behind the scalars: Gershgorin's radii, and whether a diagonal entry is not positive. */
#include "sparse.clh"
#define WG 256
#define PARTS 256
#define STEPS 5

kernel void invert_diagonal(CSR(A), const int n, global double *d, global double *scalars)
{
  const int i = get_global_id(0);
  if (i >= n) return;
  double a = 0;
  for (int k = A_ptr[i]; k < A_ptr[i + 1]; k++)
    if (A_col[k] == i) a = A_val[k];
  d[i] = 1 / a;
  if (!(d[i] > 0)) scalars[2 * STEPS + PARTS] = 1;
}

/* SPAI(0): a_ii / sum_j a_ij^2. */
kernel void spai0(CSR(A), const int n, global double *d)
{
  const int i = get_global_id(0);
  if (i >= n) return;
  double a = 0, squares = 0;
  for (int k = A_ptr[i]; k < A_ptr[i + 1]; k++) {
    squares += A_val[k] * A_val[k];
    if (A_col[k] == i) a = A_val[k];
  }
  d[i] = squares > 0 ? a / squares : 0;
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
  group_sum(part[get_local_id(0)], all);
  barrier(CLK_LOCAL_MEM_FENCE);
  const double sum = all[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  return sum;
}

/* No symmetry: a hash of the number, in [-1/2, 1/2). */
kernel void lanczos_start(const int n, global const double *d, global double *u, global double *part)
{
  local double all[WG];
  double sum = 0;
  for (int i = get_global_id(0); i < n; i += WG * PARTS) {
    ulong h = ((ulong)i + 1) * 0x9e3779b97f4a7c15ul;
    h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9ul;
    const double x = (double)(h >> 12) / (double)(1ul << 52) - 0.5;
    u[i] = x, sum += x * x / d[i];
  }
  sum = group_sum(sum, all);
  if (get_local_id(0) == 0) part[get_group_id(0)] = sum;
}

/* v becomes `before`, u / beta becomes v. */
kernel void lanczos_step(const int n, const int k, global const double *u, global double *v, global double *before, global const double *part,
                         global double *scalars)
{
  local double all[WG];
  const double beta = sqrt(sum_parts(part, all));
  if (get_global_id(0) == 0) scalars[STEPS + k] = beta;
  for (int i = get_global_id(0); i < n; i += WG * PARTS) {
    before[i] = k ? v[i] : 0;
    v[i] = beta > 0 ? u[i] / beta : 0;
  }
}

/* u = D^-1 A v; part: v^H D u. */
kernel void lanczos_multiply(CSR(A), const int n, global const double *d, global const double *v, global double *u, global double *part)
{
  local double all[WG];
  double sum = 0;
  for (int i = get_global_id(0); i < n; i += WG * PARTS) {
    double row = 0;
    for (int k = A_ptr[i]; k < A_ptr[i + 1]; k++) row += A_val[k] * v[A_col[k]];
    u[i] = row * d[i], sum += row * v[i];
  }
  sum = group_sum(sum, all);
  if (get_local_id(0) == 0) part[get_group_id(0)] = sum;
}

/* u = u - alpha v - beta before; part: u^H D u. */
kernel void lanczos_orthogonalise(const int n, const int k, global const double *d, global double *u, global const double *v,
                                  global const double *before, global const double *alpha_part, global double *part, global double *scalars)
{
  local double all[WG];
  const double alpha = sum_parts(alpha_part, all), beta = k ? scalars[STEPS + k] : 0;
  if (get_global_id(0) == 0) scalars[k] = alpha;
  double sum = 0;
  for (int i = get_global_id(0); i < n; i += WG * PARTS) {
    const double w = u[i] - (alpha * v[i] + beta * before[i]);
    u[i] = w, sum += w * w / d[i];
  }
  sum = group_sum(sum, all);
  if (get_local_id(0) == 0) part[get_group_id(0)] = sum;
}

/* The largest of each group. */
kernel void largest_radius(CSR(A), const int n, global const double *d, global double *scalars)
{
  local double all[WG];
  double most = 0;
  for (int i = get_global_id(0); i < n; i += WG * PARTS) {
    double sum = 0;
    for (int k = A_ptr[i]; k < A_ptr[i + 1]; k++) sum += fabs(A_val[k]);
    most = fmax(most, sum * fabs(d[i]));
  }
  all[get_local_id(0)] = most;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0)) return;
  for (int q = 1; q < WG; q++) most = fmax(most, all[q]);
  scalars[2 * STEPS + get_group_id(0)] = most;
}
