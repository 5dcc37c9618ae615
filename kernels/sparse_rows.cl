/* Operations of set-ups on rows: prefix sums, the transpose, fewer entries, storage formats. */
#include "sparse.clh"
#define WG 256
#define SHARE 8 /* of a work-item in a block of prefix sums */
#define BLOCK (WG * SHARE)

/* ---------------------------------------------------------------- prefix sums (Blelloch 1990), in one launch
 * A group takes the next block, sends the block's sum to all others and adds the sums of the blocks before its own. It waits for
 * groups alone that have begun before it, and none waits before it has sent: whichever run, one of them can go on. */

/* out[i] = the sum of in[.. i), out[n] that of all; sums end at INT_MAX. The notes: the sum of all, the largest element, blocks taken.
 * sums: messages, a sum below the number of its scan, `note`, which tells it from those of earlier ones. */
kernel void scan(global const int *in, const int n, global int *out, volatile global ulong *sums, NOTES)
{
  local int part[WG], block, largest;
  const int l = get_local_id(0);
  if (l == 0) block = atomic_inc(&notes[note + 2]), largest = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  const int own = block, first = own * BLOCK + l * SHARE, end = min(first + SHARE, n);
  int sum = 0, most = 0, earlier = 0;
  for (int i = first; i < end; i++) sum = add_sat(sum, in[i]), most = max(most, in[i]);
  atomic_max(&largest, most);
  part[l] = sum;
  for (int d = 1; d < WG; d *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    const int below = l >= d ? part[l - d] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    part[l] = add_sat(part[l], below);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const int before = l ? part[l - 1] : 0, all = part[WG - 1];
  if (l == 0) sums[own] = (ulong)note << 32 | (ulong)all, atomic_max(&notes[note + 1], largest);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int b = l; b < own; b += WG) {
    ulong message = sums[b];
    while (message >> 32 != (ulong)note) message = sums[b];
    earlier = add_sat(earlier, (int)(uint)message);
  }
  part[l] = earlier;
  for (int d = WG / 2; d; d /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < d) part[l] = add_sat(part[l], part[l + d]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  int at = add_sat(part[0], before);
  for (int i = first; i < end; i++) {
    const int one = in[i]; /* out may be in */
    out[i] = at, at = add_sat(at, one);
  }
  if (own == (int)get_num_groups(0) - 1 && l == 0) out[n] = notes[note] = add_sat(part[0], all);
}

/* ---------------------------------------------------------------- the transpose
 * Counted, scattered in any order, then each entry finds its place among those of its column. */

kernel void count_columns(PATTERN(A), const int rows, global int *count)
{
  const int i = get_global_id(0);
  if (i >= rows) return;
  for (int k = A_ptr[i]; k < A_ptr[i + 1]; k++) atomic_inc(&count[A_col[k]]);
}

/* row, entry: of A's columns, one after another. */
kernel void scatter_columns(PATTERN(A), const int rows, global const int *T_ptr, global int *taken, global int *row, global int *entry)
{
  const int i = get_global_id(0);
  if (i >= rows) return;
  for (int k = A_ptr[i]; k < A_ptr[i + 1]; k++) {
    const int at = T_ptr[A_col[k]] + atomic_inc(&taken[A_col[k]]);
    row[at] = i, entry[at] = k;
  }
}

/* A team per column. */
kernel void place_columns(global const int *T_ptr, const int cols, const int team, global const int *row, global const int *entry,
                          global const double *A_val, global int *T_col, global double *T_val)
{
  const int j = get_global_id(0) / team, lane = get_global_id(0) % team;
  if (j >= cols) return;
  FOR_TEAM(T_ptr[j], T_ptr[j + 1], lane, team, q) {
    const int i = row[q];
    int at = T_ptr[j];
    for (int p = T_ptr[j]; p < T_ptr[j + 1]; p++) at += row[p] < i;
    T_col[at] = i, T_val[at] = A_val[entry[q]];
  }
}

/* ---------------------------------------------------------------- the `most` largest moduli of each row, row sums kept */

kernel void count_largest(global const int *A_ptr, ENDS(A), const int rows, const int most, global int *count)
{
  const int i = get_global_id(0);
  if (i < rows) count[i] = min(END(A, i) - A_ptr[i], most);
}

/* Number q of the row by modulus, among equals by column: after the entry `last`, which has the modulus `size`. */
inline int next_largest(global const double *val, const int from, const int to, const int last, const double size)
{
  int best = -1;
  double largest = -1;
  for (int k = from; k < to; k++) {
    const double a = rounded(fabs(val[k]));
    if ((a < size || (a == size && k > last)) && a > largest) best = k, largest = a;
  }
  return best;
}

kernel void keep_largest(CSR(A), ENDS(A), const int rows, const int most, global const int *C_ptr, global int *C_col, global double *C_val)
{
  const int i = get_global_id(0);
  if (i >= rows) return;
  const int from = A_ptr[i], to = END(A, i), first = C_ptr[i], count = C_ptr[i + 1] - first;
  if (to - from == count) {
    for (int k = 0; k < count; k++) C_col[first + k] = A_col[from + k], C_val[first + k] = A_val[from + k];
    return;
  }
  int last = -1;
  double size = INFINITY, all = 0, kept = 0;
  for (int q = 0; q < count; q++) { /* C_col: places in A, ascending */
    last = next_largest(A_val, from, to, last, size), size = rounded(fabs(A_val[last]));
    int at = first + q;
    for (; at > first && C_col[at - 1] > last; at--) C_col[at] = C_col[at - 1];
    C_col[at] = last;
  }
  for (int k = from; k < to; k++) all += A_val[k];
  for (int q = first; q < first + count; q++) kept += A_val[C_col[q]];
  const double scale = kept != 0 ? all / kept : 1;
  for (int q = first; q < first + count; q++) {
    const int k = C_col[q];
    C_val[q] = A_val[k] * scale, C_col[q] = A_col[k];
  }
}

/* ---------------------------------------------------------------- storage formats; VALUE: double or float */
#ifndef VALUE
#define VALUE double
#endif

kernel void convert(global const double *from, const int n, const double factor, global VALUE *to)
{
  const int k = get_global_id(0);
  if (k < n) to[k] = (VALUE)(from[k] * factor);
}

kernel void round_values(global double *val, const int n)
{
  const int k = get_global_id(0);
  if (k < n) val[k] = (double)(float)val[k];
}

kernel void narrow(global const double *from, const int n, const double factor, global float *to)
{
  const int k = get_global_id(0);
  if (k < n) to[k] = (float)(from[k] * factor);
}

/* CSR: a work-item per entry, and per row pointer. */
#define STORE_ROWS(name, REAL) \
  kernel void name(CSR(A), const int rows, const int entries, global int *ptr, global int *col, global REAL *val) \
  { \
    const int k = get_global_id(0); \
    if (k <= rows) ptr[k] = A_ptr[k]; \
    if (k < entries) col[k] = A_col[k], val[k] = (REAL)A_val[k]; \
  }
STORE_ROWS(store_rows, VALUE)
STORE_ROWS(store_rows_narrow, float)

/* SELL (spmv/sell.c): the longest row of each slice of C, then the entries, and where slices begin. */
kernel void slice_widths(global const int *A_ptr, const int rows, const int C, global int *width)
{
  const int s = get_global_id(0);
  if (s * C >= rows) return;
  int most = 0;
  for (int i = s * C; i < min((s + 1) * C, rows); i++) most = max(most, A_ptr[i + 1] - A_ptr[i]);
  width[s] = most;
}

/* Padding: 0 at the last column of the row. */
inline int slice_entry(PATTERN(A), const int rows, const int cols, const int p, const int first, const int k, int *from)
{
  const int i = p < rows ? p : first; /* incomplete slices repeat their first row */
  const int length = A_ptr[i + 1] - A_ptr[i];
  *from = p < rows && k < length ? A_ptr[i] + k : -1;
  return *from >= 0 ? A_col[*from] : length ? A_col[A_ptr[i] + length - 1] : i < cols ? i : 0;
}
#define FILL_SLICES(name, REAL) \
  kernel void name(CSR(A), const int rows, const int cols, const int C, global const int *slice, global int *first, global int *col, \
                   global REAL *val) \
  { \
    const int p = get_global_id(0), s = p / C; \
    if (s * C >= rows) return; \
    if (p == 0) first[0] = 0; \
    if (p % C == 0) first[s + 1] = slice[s + 1]; \
    for (int k = 0; k < slice[s + 1] - slice[s]; k++) { \
      const int at = (slice[s] + k) * C + p % C; \
      int from; \
      col[at] = slice_entry(A_ptr, A_col, rows, cols, p, s * C, k, &from); \
      val[at] = from >= 0 ? (REAL)A_val[from] : 0; \
    } \
  }
FILL_SLICES(fill_slices, VALUE)
FILL_SLICES(fill_slices_narrow, float)

/* ---------------------------------------------------------------- what was uploaded in fewer bytes */

/* col = row + distance; a team per row. */
kernel void restore_columns(global const int *A_ptr, const int rows, const int team, global const short *distance, global int *A_col)
{
  const int i = get_global_id(0) / team, lane = get_global_id(0) % team;
  if (i >= rows) return;
  FOR_TEAM(A_ptr[i], A_ptr[i + 1], lane, team, k) A_col[k] = i + distance[k];
}

/* Row i is a copy of distinct row code[i]. */
kernel void count_repeats(const int rows, global const ushort *code, global const int *start, global int *count)
{
  const int i = get_global_id(0);
  if (i < rows) count[i] = start[code[i] + 1] - start[code[i]];
}

/* A team per row. */
kernel void restore_rows(global const int *A_ptr, const int rows, const int team, global const ushort *code, global const int *start,
                         global const int *distance, global const double *val, global int *A_col, global double *A_val)
{
  const int i = get_global_id(0) / team, lane = get_global_id(0) % team;
  if (i >= rows) return;
  const int first = A_ptr[i], from = start[code[i]];
  FOR_TEAM(first, A_ptr[i + 1], lane, team, k) A_col[k] = i + distance[from + k - first], A_val[k] = val[from + k - first];
}

/* ---------------------------------------------------------------- and back */

kernel void widen(global const float *from, const int n, global double *to)
{
  const int k = get_global_id(0);
  if (k < n) to[k] = from[k];
}

/* Entries of row i in a slice of SELL, columns [first, last) of entries. Padding repeats the last column; a row of nothing has zeros
 * alone. */
#define SLICE_LENGTH(name, REAL) \
  inline int name(const int C, const int i, const int first, const int last, global const int *col, global const REAL *val) \
  { \
    const int at = i % C; \
    int k = first; \
    if (k == last || (val[k * C + at] == 0 && (k + 1 == last || col[(k + 1) * C + at] == col[k * C + at]))) return 0; \
    for (k++; k < last && col[k * C + at] > col[(k - 1) * C + at];) k++; \
    return k - first; \
  }
SLICE_LENGTH(slice_length, VALUE)
SLICE_LENGTH(slice_length_narrow, float)

/* The pattern. */
#define COUNT_SLICES(name, REAL, length_of) \
  kernel void name(const int rows, const int C, global const int *slice, global const int *col, global const REAL *val, \
                   global int *count) \
  { \
    const int i = get_global_id(0), s = i / C; \
    if (i < rows) count[i] = length_of(C, i, slice[s], slice[s + 1], col, val); \
  }
COUNT_SLICES(count_slices, VALUE, slice_length)
COUNT_SLICES(count_slices_narrow, float, slice_length_narrow)

kernel void read_columns(const int rows, const int C, global const int *slice, global const int *col, global const int *A_ptr,
                         global int *A_col)
{
  const int i = get_global_id(0), s = i / C;
  if (i >= rows) return;
  for (int k = A_ptr[i], from = slice[s] * C + i % C; k < A_ptr[i + 1]; k++, from += C) A_col[k] = col[from];
}

/* Rows with room for the longest of their slice. */
#define READ_SLICES(name, REAL, length_of) \
  kernel void name(const int rows, const int C, global const int *slice, global const int *col, global const REAL *val, \
                   global int *A_ptr, global int *A_end, global int *A_col, global double *A_val) \
  { \
    const int i = get_global_id(0), s = i / C; \
    if (i >= rows) return; \
    const int first = slice[s], last = slice[s + 1], to = first * C + i % C * (last - first); \
    const int n = length_of(C, i, first, last, col, val); \
    for (int k = 0; k < n; k++) { \
      const int from = (first + k) * C + i % C; \
      A_col[to + k] = col[from], A_val[to + k] = val[from]; \
    } \
    A_ptr[i] = to, A_end[i] = to + n; \
  }
READ_SLICES(read_slices, VALUE, slice_length)
READ_SLICES(read_slices_narrow, float, slice_length_narrow)
