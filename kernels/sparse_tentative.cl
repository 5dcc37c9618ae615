/* Prolongation of smoothed aggregation, as multigrid/tentative.c defines it: T, its smoothing, and what P^T A P will take; in one
 * program with the aggregates. */
#include "sparse_aggregate.cl"
#define GROUP 32 /* work-items per aggregate */

/* ---------------------------------------------------------------- T: near-null vectors, orthonormal in each aggregate */

kernel void count_vectors(global const int *aggregate, const int rows, const int block, const int vectors, global int *count)
{
  const int i = get_global_id(0);
  if (i < rows) count[i] = aggregate[i / block] >= 0 ? vectors : 0;
}

/* Members of each aggregate, in any order. */
kernel void scatter_members(global const int *aggregate, const int nodes, global const int *start, global int *taken, global int *member)
{
  const int i = get_global_id(0);
  if (i < nodes && aggregate[i] >= 0) member[start[aggregate[i]] + atomic_inc(&taken[aggregate[i]])] = i;
}

/* place: where in T the members' rows begin, the members ascending. T is B. */
kernel void place_members(global const int *aggregate, const int nodes, const int block, const int vectors, global const int *start,
                          global const int *member, global const double *B, global int *place, global const int *T_ptr,
                          global int *T_col, global double *T_val)
{
  const int i = get_global_id(0), a = i < nodes ? aggregate[i] : -1;
  if (a < 0) return;
  int at = start[a];
  for (int q = start[a]; q < start[a + 1]; q++) at += member[q] < i;
  place[at] = T_ptr[i * block];
  for (int q = 0; q < block * vectors; q++) {
    T_col[place[at] + q] = a * vectors + q % vectors;
    T_val[place[at] + q] = B[i * block * vectors + q];
  }
}

/* The columns of T in one aggregate; each work-item has every GROUP-th row. */
typedef struct columns {
  global const int *place;
  global double *val;
  int block, vectors, rows;
  local double *part;
} columns;
inline global double *element(const columns *q, const int i, const int j)
{
  return q->val + q->place[i / q->block] + i % q->block * q->vectors + j;
}
#define FOR_ROWS(q, i) for (int i = get_local_id(0); i < (q)->rows; i += GROUP)

/* Column l times column j, added by ascending row; for every work-item. */
inline double column_product(const columns *q, const int l, const int j)
{
  double sum = 0;
  for (int first = 0; first < q->rows; first += GROUP) {
    const int i = first + get_local_id(0), count = min(GROUP, q->rows - first);
    q->part[get_local_id(0)] = i < q->rows ? *element(q, i, l) * *element(q, i, j) : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int p = 0; p < count; p++) sum += q->part[p];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  return sum;
}

/* Takes the parts along the columns before it from column j, twice. R: [vectors, vectors], its column j; or NULL. The norms of column j
 * before and after. One call of column_product, whose barriers take compilers long. */
inline double2 orthogonalise(const columns *q, const int j, global double *R)
{
  double before = 0, after = 0;
  for (int step = 0; step < 2 * j + 2; step++) {
    const int l = step == 0 || step > 2 * j ? j : (step - 1) % j;
    const double c = column_product(q, l, j);
    if (l == j) {
      before = after, after = c;
      continue;
    }
    FOR_ROWS(q, i) *element(q, i, j) -= c * *element(q, i, l);
    if (R && get_local_id(0) == 0) R[l * q->vectors + j] = step > j ? R[l * q->vectors + j] + c : c;
  }
  return (double2)(sqrt(before), sqrt(after));
}

/* Gram and Schmidt, a group per aggregate. coarse: R of each. A column that depends on those before becomes a unit vector that does not. */
kernel void orthonormalise(global const int *start, global const int *place, const int block, const int vectors, global double *T_val,
                           global double *coarse)
{
  local double part[GROUP];
  const int a = get_group_id(0), l = get_local_id(0);
  const columns q = {place + start[a], T_val, block, vectors, (start[a + 1] - start[a]) * block, part};
  global double *R = coarse + a * vectors * vectors;
  for (int j = 0; j < vectors; j++) {
    int unit = -1; /* none: the column itself */
    double2 norm;
    do {
      if (unit >= 0) FOR_ROWS(&q, i) *element(&q, i, j) = i == unit;
      norm = orthogonalise(&q, j, unit < 0 ? R : 0);
    } while (!(norm.y > (unit < 0 ? 1e-8 : 0.1) * norm.x) && ++unit < q.rows);
    FOR_ROWS(&q, i) *element(&q, i, j) /= norm.y;
    if (l >= j && l < vectors) R[l * vectors + j] = l == j && unit < 0 ? norm.y : 0;
  }
}

/* ---------------------------------------------------------------- the factor M of P = M T
 *
 *   row i: (i, 1 - omega), then (j, -omega / d a_ij) of A_F; where d is not positive, 1 and 0 for 1 - omega and omega
 *
 * A_F: the entries within nodes and between coupled ones; d: the diagonal with the sum of the others, 0 below an eighth of the diagonal. */

#define LEAST_FILTERED 0.125 /* kcl_least_filtered, multigrid/coarsen.h */

/* Walks a row of A along the row of its node in the graph S: is the next entry, in the columns of this node, one of A_F? */
typedef struct walk {
  int strong, end, node;
} walk;
inline bool is_kept(walk *w, global const int *S_col, const int other)
{
  while (w->strong < w->end && S_col[w->strong] < other) w->strong++;
  return other == w->node || (w->strong < w->end && S_col[w->strong] == other);
}

/* The walk to a column. */
inline walk walk_to(global const int *S_col, int from, const int end, const int node, const int least)
{
  for (int to = end; from < to;) {
    const int middle = (from + to) / 2;
    if (S_col[middle] < least) from = middle + 1;
    else to = middle;
  }
  const walk w = {from, end, node};
  return w;
}

/* The diagonal with the entries that are not kept, added in the row's order. */
inline double sum_others(CSR(A), const int i, const int block, walk w, global const int *S_col)
{
  double sum = 0;
  for (int k = A_ptr[i]; k < A_ptr[i + 1]; k++)
    if (!is_kept(&w, S_col, A_col[k] / block) || A_col[k] == i) sum += A_val[k];
  return sum;
}

/* Each work-item of a team has a part of the row of A. Most rows keep all of their entries. */
kernel void count_kept(CSR(A), const int n, const int team, const int block, global const int *S_col, global const int *S_end,
                       global double *d, global int *count)
{
  local double all[WG];
  const int i = get_global_id(0) / team, node = i / block;
  const int2 part = i < n ? team_part(A_ptr[i], A_ptr[i + 1], team) : (int2)0;
  walk w = {0, 0, node};
  if (part.x < part.y) w = walk_to(S_col, A_ptr[node * block], S_end[node], node, A_col[part.x] / block);
  double diagonal = 0, found = 0, kept = 0;
  for (int k = part.x; k < part.y; k++) {
    if (A_col[k] == i) diagonal = A_val[k], found = 1;
    else kept += is_kept(&w, S_col, A_col[k] / block);
  }
  diagonal = team_sum(diagonal, team, all), found = team_sum(found, team, all), kept = team_sum(kept, team, all);
  if (i >= n || get_local_id(0) % team) return;
  const walk whole = {A_ptr[node * block], S_end[node], node};
  const bool others = kept + found < A_ptr[i + 1] - A_ptr[i];
  const double sum = found != 0 && others ? sum_others(A_ptr, A_col, A_val, i, block, whole, S_col) : diagonal;
  d[i] = sum > LEAST_FILTERED * diagonal ? sum : 0;
  count[i] = 1 + (int)kept;
}

/* Each work-item of a team has a part of the row of A. */
kernel void fill_kept(CSR(A), const int n, const int team, const int block, global const int *S_col, global const int *S_end,
                      global const double *d, const double omega, global const int *M_ptr, global int *M_col, global double *M_val)
{
  local int all[WG];
  const int i = get_global_id(0) / team, node = i / block;
  const int2 part = i < n ? team_part(A_ptr[i], A_ptr[i + 1], team) : (int2)0;
  walk first = {0, 0, node};
  if (part.x < part.y) first = walk_to(S_col, A_ptr[node * block], S_end[node], node, A_col[part.x] / block);
  walk w = first;
  int mine = 0;
  for (int k = part.x; k < part.y; k++) mine += is_kept(&w, S_col, A_col[k] / block) && A_col[k] != i;
  int at = team_before(mine, team, all) + 1;
  if (i >= n) return;
  const double scale = d[i] > 0 ? omega / d[i] : 0;
  at += M_ptr[i], w = first;
  if (get_local_id(0) % team == 0) M_col[at - 1] = i, M_val[at - 1] = d[i] > 0 ? 1 - omega : 1;
  for (int k = part.x; k < part.y; k++)
    if (is_kept(&w, S_col, A_col[k] / block) && A_col[k] != i) M_col[at] = A_col[k], M_val[at++] = -scale * A_val[k];
}

/* ---------------------------------------------------------------- P at once, where nodes are rows and there is one vector
 * A row of P then has few columns, which a work-item keeps in registers: FEW of them, or, if wide, MOST; INT_MAX behind. */
#define FEW 8
#define MOST 16
typedef struct short_row {
  int col[MOST];
  double val[MOST];
  bool full; /* there are more */
} short_row;

/* In places [from, to). */
inline bool is_placed(short_row *r, const int from, const int to, const int column, const double value)
{
  bool placed = false;
#pragma unroll
  for (int q = from; q < to; q++)
    if (!placed && (r->col[q] == column || r->col[q] == INT_MAX)) r->col[q] = column, r->val[q] += value, placed = true;
  return placed;
}

/* column: -1 of a node without an aggregate. */
inline void add_row_of_T(short_row *r, const int wide, const int column, const double value)
{
  if (column < 0 || is_placed(r, 0, FEW, column, value)) return;
  if (!wide || !is_placed(r, FEW, MOST, column, value)) r->full = true;
}

inline void sort_columns(short_row *r, const int count)
{
#pragma unroll
  for (int last = count - 1; last > 0; last--)
#pragma unroll
    for (int q = 0; q < last; q++) {
      const bool swap = r->col[q] > r->col[q + 1];
      const int col = r->col[q];
      const double val = r->val[q];
      r->col[q] = swap ? r->col[q + 1] : col, r->val[q] = swap ? r->val[q + 1] : val;
      r->col[q + 1] = swap ? col : r->col[q + 1], r->val[q + 1] = swap ? val : r->val[q + 1];
    }
}

#define SMOOTHED CSR(A), const int n, global const int *S_col, global const int *S_end, global const int *aggregate, \
                 global const int *T_ptr, global const double *T_val, const double omega, const int wide
#define SMOOTHED_ROW(i) smoothed_row(A_ptr, A_col, A_val, n, S_col, S_end, aggregate, T_ptr, T_val, omega, wide, i)

/* Row i of M T. */
inline short_row smoothed_row(SMOOTHED, const int i)
{
  short_row r;
  const walk first = {A_ptr[i], S_end[i], i};
  walk w = first;
  double diagonal = 0, sum = 0;
  for (int k = A_ptr[i]; k < A_ptr[i + 1]; k++) {
    if (A_col[k] == i) diagonal = A_val[k];
    if (A_col[k] == i || !is_kept(&w, S_col, A_col[k])) sum += A_val[k];
  }
  const double d = sum > LEAST_FILTERED * diagonal ? sum : 0, scale = d > 0 ? omega / d : 0;
#pragma unroll
  for (int q = 0; q < MOST; q++) r.col[q] = INT_MAX, r.val[q] = 0;
  r.full = false, w = first;
  add_row_of_T(&r, wide, aggregate[i], (d > 0 ? 1 - omega : 1) * T_val[T_ptr[i]]);
  for (int k = A_ptr[i]; k < A_ptr[i + 1]; k++) {
    const int j = A_col[k];
    if (j != i && is_kept(&w, S_col, j)) add_row_of_T(&r, wide, aggregate[j], -scale * A_val[k] * T_val[T_ptr[j]]);
  }
  return r;
}

/* The note: a row is too long. */
kernel void count_smoothed(SMOOTHED, global int *count, NOTES)
{
  const int i = get_global_id(0);
  if (i >= n) return;
  const short_row r = SMOOTHED_ROW(i);
  int columns = 0;
#pragma unroll
  for (int q = 0; q < MOST; q++) columns += r.col[q] != INT_MAX;
  count[i] = columns;
  if (r.full) notes[note] = 1;
}

kernel void fill_smoothed(SMOOTHED, global const int *P_ptr, global int *P_col, global double *P_val)
{
  const int i = get_global_id(0);
  if (i >= n) return;
  short_row r = SMOOTHED_ROW(i);
  if (wide) sort_columns(&r, MOST);
  else sort_columns(&r, FEW);
#pragma unroll
  for (int q = 0; q < MOST; q++)
    if (r.col[q] != INT_MAX) P_col[P_ptr[i] + q] = r.col[q], P_val[P_ptr[i] + q] = r.val[q];
}

/* ---------------------------------------------------------------- what P^T A P will take, as multigrid/limit.c estimates it
 * Keys: the KEYS least random numbers of a set of columns. */
#define KEYS 4 /* as there; a float4 */

/* column: exponentially distributed, by hash; coarse: of empty sets. A work-item per key. */
kernel void draw_keys(const int cols, global float *column, global float *coarse)
{
  for (int key = get_global_id(0); key < cols * KEYS; key += get_global_size(0)) {
    const ulong h = hash(key);
    column[key] = (float)-log(((double)(h >> 12) + 1) / (double)(1ul << 52)), coarse[key] = INFINITY;
  }
}

/* A work-item per set from here on. */
kernel void join_columns(PATTERN(P), const int rows, global const float4 *restrict column, global float4 *restrict row)
{
  for (int i = get_global_id(0); i < rows; i += get_global_size(0)) {
    float4 least = INFINITY;
    for (int k = P_ptr[i]; k < P_ptr[i + 1]; k++) least = fmin(least, column[P_col[k]]);
    row[i] = least;
  }
}

inline void lower(global volatile int *key, const float least)
{
  if (as_int(least) < *key) atomic_min(key, as_int(least));
}

/* reached: by rows of A P, then by those of P^T A P. part: products of entries. */
kernel void join_rows(PATTERN(A), PATTERN(P), const int rows, global const float4 *restrict row, global volatile int *coarse,
                      global double *part)
{
  local double all[WG];
  double products = 0;
  for (int i = get_global_id(0); i < rows; i += get_global_size(0)) {
    float4 least = INFINITY;
    long sum = 0;
    for (int k = A_ptr[i]; k < A_ptr[i + 1]; k++) {
      const int j = A_col[k];
      least = fmin(least, row[j]), sum += P_ptr[j + 1] - P_ptr[j];
    }
    for (int k = P_ptr[i]; k < P_ptr[i + 1]; k++) {
      global volatile int *key = coarse + P_col[k] * KEYS;
      lower(key, least.x), lower(key + 1, least.y), lower(key + 2, least.z), lower(key + 3, least.w);
    }
    products += (double)(P_ptr[i + 1] - P_ptr[i]) * (double)sum;
  }
  products = team_sum(products, WG, all);
  if (get_local_id(0) == 0) part[get_group_id(0)] = products;
}

/* part, behind the products: entries of P^T A P. */
kernel void sum_entries(const int cols, global const float *coarse, global double *part)
{
  local double all[WG];
  double entries = 0;
  for (int j = get_global_id(0); j < cols; j += get_global_size(0)) {
    double sum = 0;
    for (int q = 0; q < KEYS; q++) sum += (double)coarse[j * KEYS + q];
    entries += sum > 0 ? (KEYS - 1) / sum : 0;
  }
  entries = team_sum(entries, WG, all);
  if (get_local_id(0) == 0) part[get_num_groups(0) + get_group_id(0)] = entries;
}
