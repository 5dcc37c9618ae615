/* C = A B by rows (Gustavson 1978), in two passes: rows are counted, then filled. The sums of a row are made in local
 * memory, each in the order of A's entries, so that the bits depend on nothing else:
 *
 *   short rows   one work-item per row; its columns are a sorted list
 *   long rows    a group per row; its columns are a hash table, and work-items take the entries of one row of B each time
 *
 * bound[b]: of the rows of block b, the most columns that any can have. A kernel takes the blocks with least < bound <=
 * most, so that `room` columns suffice. */
#include "sparse.clh"
#define ROWS 32 /* per block */
#define GROUP 64
#define TEAM 8 /* work-items that count a row of B */
#define EMPTY 0x7fffffff

/* ---------------------------------------------------------------- bounds */

/* The largest of a group; to its first work-item. */
inline int largest_of(int mine, local int *all)
{
  const int l = get_local_id(0);
  all[l] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int q = 0; l == 0 && q < ROWS; q++) mine = max(mine, all[q]);
  return mine;
}

/* From the rows of B that each row of A selects. */
kernel void bound_products(PATTERN(A), global const int *B_ptr, const int rows, global int *bound, global int *largest)
{
  local int all[ROWS];
  const int i = get_global_id(0);
  int sum = 0;
  for (int k = i < rows ? A_ptr[i] : 0; k < (i < rows ? A_ptr[i + 1] : 0); k++) sum += B_ptr[A_col[k] + 1] - B_ptr[A_col[k]];
  sum = largest_of(sum, all);
  if (get_local_id(0)) return;
  bound[get_group_id(0)] = sum;
  if (sum > *largest) atomic_max(largest, sum);
}

/* From the rows that were counted. */
kernel void bound_counts(global const int *C_ptr, const int rows, global int *bound)
{
  local int all[ROWS];
  const int i = get_global_id(0);
  const int most = largest_of(i < rows ? C_ptr[i + 1] - C_ptr[i] : 0, all);
  if (get_local_id(0) == 0) bound[get_group_id(0)] = most;
}

/* ---------------------------------------------------------------- short rows: column q of work-item l is cols[q ROWS + l] */

/* The first of the `count` sorted columns that is not below col. */
inline int place(local const int *cols, const int count, const int col)
{
  int lo = 0, hi = count;
  while (lo < hi) {
    const int middle = (lo + hi) / 2;
    if (cols[middle * ROWS] < col) lo = middle + 1;
    else hi = middle;
  }
  return lo;
}

kernel void count_short(PATTERN(A), PATTERN(B), const int rows, global const int *bound, const int least, const int most, global int *count,
                        local int *all)
{
  local int *cols = all + get_local_id(0);
  const int i = get_global_id(0), limit = bound[get_group_id(0)];
  if (limit <= least || limit > most || i >= rows) return;
  int n = 0;
  for (int k = A_ptr[i]; k < A_ptr[i + 1]; k++)
    for (int m = B_ptr[A_col[k]]; m < B_ptr[A_col[k] + 1]; m++) {
      const int col = B_col[m], at = place(cols, n, col);
      if (at < n && cols[at * ROWS] == col) continue;
      for (int q = n++; q > at; q--) cols[q * ROWS] = cols[(q - 1) * ROWS];
      cols[at * ROWS] = col;
    }
  count[i] = n;
}

kernel void fill_short(CSR(A), CSR(B), const int rows, global const int *bound, const int least, const int most, global const int *C_ptr,
                       global int *C_col, global double *C_val, local int *all, local double *all_sums)
{
  local int *cols = all + get_local_id(0);
  local double *sums = all_sums + get_local_id(0);
  const int i = get_global_id(0), limit = bound[get_group_id(0)];
  if (limit <= least || limit > most || i >= rows) return;
  int n = 0;
  for (int k = A_ptr[i]; k < A_ptr[i + 1]; k++) {
    const double a = A_val[k];
    for (int m = B_ptr[A_col[k]]; m < B_ptr[A_col[k] + 1]; m++) {
      const int col = B_col[m], at = place(cols, n, col);
      const double product = a * B_val[m];
      if (at < n && cols[at * ROWS] == col) {
        sums[at * ROWS] += product;
        continue;
      }
      for (int q = n++; q > at; q--) cols[q * ROWS] = cols[(q - 1) * ROWS], sums[q * ROWS] = sums[(q - 1) * ROWS];
      cols[at * ROWS] = col, sums[at * ROWS] = product;
    }
  }
  for (int q = 0; q < n; q++) C_col[C_ptr[i] + q] = cols[q * ROWS], C_val[C_ptr[i] + q] = sums[q * ROWS];
}

/* ---------------------------------------------------------------- long rows */

/* The slot of the column; -1: the table is full. *fresh: it was not there before. */
inline int slot_of(local int *keys, const int size, const int col, bool *fresh)
{
  uint at = (uint)col * 2654435761u >> 7;
  *fresh = false;
  for (int tries = 0; tries < size; tries++, at++) {
    const int slot = at & (size - 1), old = atomic_cmpxchg(&keys[slot], EMPTY, col);
    *fresh = old == EMPTY;
    if (old == EMPTY || old == col) return slot;
  }
  return -1;
}

inline bool selected(global const int *bound, const int i, const int least, const int most)
{
  return bound[i / ROWS] > least && bound[i / ROWS] <= most;
}

/* *failed: a row has more columns than room. */
kernel void count_long(PATTERN(A), PATTERN(B), global const int *bound, const int least, const int most, global int *count,
                       global int *failed, const int size, const int room, local int *keys)
{
  local int found;
  const int i = get_group_id(0), l = get_local_id(0), team = l / TEAM, lane = l % TEAM;
  const bool mine = selected(bound, i, least, most);
  const int from = mine ? A_ptr[i] : 0, to = mine ? A_ptr[i + 1] : 0;
  bool fresh, lost = false;
  int n = 0;
  for (int q = l; mine && q < size; q += GROUP) keys[q] = EMPTY;
  if (l == 0) found = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = from + team; k < to && !lost; k += GROUP / TEAM)
    for (int m = B_ptr[A_col[k]] + lane; m < B_ptr[A_col[k] + 1] && !lost; m += TEAM) {
      lost = slot_of(keys, size, B_col[m], &fresh) < 0;
      n += fresh && !lost;
    }
  if (n) atomic_add(&found, n);
  if (lost) *failed = 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0 && mine) {
    count[i] = found;
    if (found > room) *failed = 1;
  }
}

kernel void fill_long(CSR(A), CSR(B), global const int *bound, const int least, const int most, global const int *C_ptr, global int *C_col,
                      global double *C_val, const int size, local int *keys, local double *sums, local int *list)
{
  local int listed;
  const int i = get_group_id(0), l = get_local_id(0);
  const bool mine = selected(bound, i, least, most);
  const int from = mine ? A_ptr[i] : 0, to = mine ? A_ptr[i + 1] : 0, first = mine ? C_ptr[i] : 0;
  bool fresh;
  for (int q = l; mine && q < size; q += GROUP) keys[q] = EMPTY, sums[q] = 0;
  if (l == 0) listed = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = from; k < to; k++) { /* no two work-items have the same column */
    const double a = A_val[k];
    for (int m = B_ptr[A_col[k]] + l; m < B_ptr[A_col[k] + 1]; m += GROUP) {
      const int slot = slot_of(keys, size, B_col[m], &fresh);
      const double product = a * B_val[m];
      sums[slot] += product;
      if (fresh) list[atomic_inc(&listed)] = slot;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  const int n = mine ? listed : 0;
  for (int q = l; q < n; q += GROUP) {
    const int slot = list[q], col = keys[slot];
    int at = first;
    for (int p = 0; p < n; p++) at += keys[list[p]] < col;
    C_col[at] = col, C_val[at] = sums[slot];
  }
}
