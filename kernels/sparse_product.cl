/* C = A B by rows (Gustavson 1978). The columns of a row are a hash table in local memory, which a team of work-items shares: it
 * takes one row of B at a time, whose columns are all different, so that every sum is made in the order of A's entries and the
 * bits depend on nothing else.
 *
 * Rows come in blocks of ROWS. These are listed by class, the most keys that one of their rows can have or has; each class is launched
 * with tables and teams of its size, classes of few blocks together with the next. The order of a list means nothing. Rows are counted
 * before they are filled, or have room for as many columns as they can have. Keys are columns; where those of B come in blocks of v,
 * as near-null vectors do, with all of a block in a row or none, blocks are counted. */
#include "sparse.clh"
#define ROWS 32    /* per block */
#define LISTERS 256 /* work-items that list a block */
#define CLASSES 8
#define EMPTY 0x7fffffff

/* Up to 8 << c keys, and more. */
inline int class_of(const int keys)
{
  int c = 0;
  while (c < CLASSES - 1 && keys > 8 << c) c++;
  return c;
}

/* A matrix as kernels are given it. val: CSR's, or NULL where the values are not used. */
typedef struct csr {
  global const int *ptr, *col;
  global const double *val;
  global const int *end;
  int next;
} csr;
#define CSR_OF(name, val) ((csr){name##_ptr, name##_col, val, name##_end, name##_next})
inline int row_end(const csr A, const int i) { return A.end[i + A.next]; }

/* ---------------------------------------------------------------- classes of blocks: list [CLASSES, blocks], count [CLASSES] */

inline void list_block(const int keys, global int *list, global int *count)
{
  const int c = class_of(keys), blocks = get_num_groups(0);
  list[c * blocks + atomic_inc(&count[c])] = get_group_id(0);
}

/* By the rows of B that each row of A selects; bound [rows]. */
kernel void list_by_bound(PATTERN(A), ENDS(A), global const int *B_ptr, ENDS(B), const int rows, const int v, global int *bound,
                          global int *list, NOTES)
{
  local int columns[ROWS], most;
  const int l = get_local_id(0), i = get_group_id(0) * ROWS + l / (LISTERS / ROWS), lane = l % (LISTERS / ROWS);
  int sum = 0;
  if (l < ROWS) columns[l] = 0;
  if (l == 0) most = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = i < rows ? A_ptr[i] + lane : 0; k < (i < rows ? END(A, i) : 0); k += LISTERS / ROWS)
    sum += END(B, A_col[k]) - B_ptr[A_col[k]];
  if (sum) atomic_add(&columns[l / (LISTERS / ROWS)], sum);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l < ROWS) atomic_max(&most, columns[l]);
  if (l < ROWS && get_group_id(0) * ROWS + l < rows) bound[get_group_id(0) * ROWS + l] = columns[l];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0) list_block(most / v, list, notes + note);
}

/* By the lengths of C's rows. */
kernel void list_by_length(global const int *C_ptr, const int rows, global int *list, NOTES)
{
  local int most;
  const int l = get_local_id(0), i = get_group_id(0) * ROWS + l;
  if (l == 0) most = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < rows) atomic_max(&most, C_ptr[i + 1] - C_ptr[i]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0) list_block(most, list, notes + note);
}

/* ---------------------------------------------------------------- tables */

/* The row of this work-item's team. A group has whole teams, a block whole groups. The lists of classes from `first` on are taken as
 * one; count: of the blocks in each. */
inline int row_of_team(global const int *list, global const int *count, const int first, const int rows, const int team)
{
  const int blocks = (rows + ROWS - 1) / ROWS, group = get_local_size(0), l = get_local_id(0);
  const int at = (int)get_group_id(0) * (group / team) + l / team;
  int c = first, b = at / ROWS;
  while (b >= count[c]) b -= count[c++];
  return list[c * blocks + b] * ROWS + at % ROWS;
}

/* size: a multiple of four. */
inline void empty(local int4 *keys, const int size)
{
  for (int q = get_local_id(0); q < size / 4; q += get_local_size(0)) keys[q] = (int4)EMPTY;
}

/* Where the search for a key begins (Knuth 1973, multiplicative). */
inline uint hash_of(const int key) { return (uint)key * 2654435761u >> 7; }

/* The slot of the key; -1: the table is full. *fresh: it was not there before. */
inline int slot_of(volatile local int *keys, const int size, const int key, bool *fresh)
{
  uint at = hash_of(key);
  *fresh = false;
  for (int tries = 0; tries < size; tries++, at++) {
    const int slot = at & (size - 1), old = atomic_cmpxchg(&keys[slot], EMPTY, key);
    *fresh = old == EMPTY;
    if (*fresh || old == key) return slot;
  }
  return -1;
}

/* Keys of row i of A B, to all of its team. lost: a note of whether it has more than `room`. `width` work-items of a team share a
 * row of B. */
inline int count_keys(const csr A, const csr B, const int rows, const int v, const int i, const int size, const int room,
                      const int team, const int width, local int4 *all_keys, local int *found, global int *lost)
{
  const int l = get_local_id(0), group = get_local_size(0), lane = l % team;
  const int from = i < rows ? A.ptr[i] : 0, to = i < rows ? row_end(A, i) : 0;
  local int *keys = (local int *)all_keys + l / team * size;
  bool fresh, full = false;
  int n = 0;
  empty(all_keys, group / team * size);
  if (l < ROWS) found[l] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = from + lane / width; k < to && !full; k += team / width) {
    const int j = A.col[k], end = row_end(B, j);
    for (int m = B.ptr[j] + lane % width * v; m < end && !full; m += width * v) {
      full = slot_of(keys, size, B.col[m] / v, &fresh) < 0;
      n += fresh;
    }
  }
  if (n) atomic_add(&found[l / team], n);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (full || found[l / team] > room) *lost = 1;
  return found[l / team];
}

/* Entries of each row of A B, to count. classes: the notes of the blocks in each. keys [teams, size] */
kernel void count_rows(PATTERN(A), ENDS(A), PATTERN(B), ENDS(B), const int rows, const int block, global const int *list,
                       const int classes, const int first, const int size, const int room, const int team, const int width,
                       global int *count, NOTES, local int4 *keys)
{
  local int found[ROWS];
  const int i = row_of_team(list, notes + classes, first, rows, team);
  const int n = count_keys(CSR_OF(A, NULL), CSR_OF(B, NULL), rows, 1, i, size, room, team, width, keys, found, notes + note);
  if (get_local_id(0) % team == 0 && i < rows) count[i] = n;
}

/* As count_rows, where columns of B come in blocks. */
kernel void count_rows_blocks(PATTERN(A), ENDS(A), PATTERN(B), ENDS(B), const int rows, const int block, global const int *list,
                              const int classes, const int first, const int size, const int room, const int team, const int width,
                              global int *count, NOTES, local int4 *keys)
{
  local int found[ROWS];
  const int i = row_of_team(list, notes + classes, first, rows, team);
  const int n = count_keys(CSR_OF(A, NULL), CSR_OF(B, NULL), rows, block, i, size, room, team, width, keys, found, notes + note);
  if (get_local_id(0) % team == 0 && i < rows) count[i] = n * block;
}

/* The place of a column among `count` others; behind these, up to a multiple of four, is none that is smaller. */
inline int rank_of(const int col, local const int *cols, const int count)
{
  int4 smaller = 0;
  for (int p = 0; p < count; p += 4) smaller -= vload4(0, cols + p) < (int4)col;
  return smaller.x + smaller.y + smaller.z + smaller.w;
}

/* The slot of a column that is in the table; -1: it is not. */
inline int known_slot(local const int *keys, const int size, const int col)
{
  uint at = hash_of(col);
  for (int tries = 0; tries < size; tries++, at++) {
    const int slot = at & (size - 1), key = keys[slot];
    if (key == col) return slot;
    if (key == EMPTY) return -1;
  }
  return -1;
}

/* The table of a team: the columns of a row of C as keys, their sums, and those in use as they came. */
typedef struct row_table {
  int size;
  local int *keys;
  local double *sums;
  local int *listed, *cols;
  local ushort *slots;
} row_table;

/* A row of A, entries [from, from + length), times B, into the table of its team; most: the longest of the group's rows. known: the
 * table has all columns, else those that are new are listed. False: one is not there. What an entry needs of A and of B's row
 * pointers is read one and two entries before. */
inline bool sum_products(const csr A, const csr B, const int from, const int length, const int most, const int team,
                         const bool known, const row_table t)
{
  const int lane = get_local_id(0) % team;
  bool all = true, fresh = false;
  int start = 0, end = 0, next = length > 1 ? A.col[from + 1] : 0;
  double a = length ? A.val[from] : 0;
  if (length) start = B.ptr[A.col[from]], end = row_end(B, A.col[from]);
  for (int entry = 0; entry < most; entry++) {
    int next_start = 0, next_end = 0, after = 0;
    double next_a = 0;
    if (entry + 1 < length) next_start = B.ptr[next], next_end = row_end(B, next), next_a = A.val[from + entry + 1];
    if (entry + 2 < length) after = A.col[from + entry + 2];
    for (int m = start + lane; m < end; m += team) {
      const int col = B.col[m];
      const double product = a * B.val[m];
      const int slot = known ? known_slot(t.keys, t.size, col) : slot_of(t.keys, t.size, col, &fresh);
      all = all && slot >= 0;
      if (known && slot < 0) continue;
      t.sums[slot] = fresh ? product : t.sums[slot] + product;
      if (!fresh) continue;
      const int q = atomic_inc(t.listed);
      t.cols[q] = col, t.slots[q] = slot;
    }
    a = next_a, start = next_start, end = next_end, next = after;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  return all;
}

/* cols, slots [teams, room]: those in use, as they came. sorted: C's columns ascend. C_end: of rows with room; or NULL. */
kernel void fill_rows(CSR(A), ENDS(A), CSR(B), ENDS(B), const int rows, global const int *list, global const int *notes,
                      const int classes, const int first, const int size, const int room, const int team, const int sorted,
                      global const int *C_ptr, global int *C_col, global double *C_val, global int *C_end, local int4 *all_keys, local double *all_sums,
                      local int *all_cols, local ushort *all_slots)
{
  local int listed[ROWS], most;
  const int l = get_local_id(0), group = get_local_size(0), mine = l / team, lane = l % team;
  const int i = row_of_team(list, notes + classes, first, rows, team);
  const int from = i < rows ? A_ptr[i] : 0, length = i < rows ? END(A, i) - from : 0;
  local int *keys = (local int *)all_keys + mine * size, *cols = all_cols + mine * room;
  local double *sums = all_sums + mine * size;
  local ushort *slots = all_slots + mine * room;
  empty(all_keys, group / team * size);
  if (l < ROWS) listed[l] = 0;
  if (l == 0) most = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lane == 0) atomic_max(&most, length);
  barrier(CLK_LOCAL_MEM_FENCE);
  const row_table t = {size, keys, sums, &listed[mine], cols, slots};
  sum_products(CSR_OF(A, A_val), CSR_OF(B, B_val), from, length, most, team, false, t);
  const int n = listed[mine], to = i < rows ? C_ptr[i] : 0;
  for (int q = n + lane; q < min(n + 3, room); q += team) cols[q] = EMPTY;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i >= rows) return;
  for (int q = lane; q < n; q += team) {
    const int col = cols[q], at = to + (sorted ? rank_of(col, cols, n) : q);
    C_col[at] = col, C_val[at] = sums[slots[q]];
  }
  if (lane == 0 && C_end) C_end[i] = to + n;
}

/* The columns of C are known: nothing is listed, nothing sorted. The note: a product has none of them. Sums begin with -0, which leaves
 * every product as it is. slots [teams, room]: of the row's columns. */
kernel void refill_rows(CSR(A), ENDS(A), CSR(B), ENDS(B), const int rows, global const int *list, const int classes,
                        const int first, const int size, const int room, const int team, PATTERN(C), global double *C_val, NOTES,
                        local int4 *all_keys, local double *all_sums, local ushort *all_slots)
{
  local int most;
  const int l = get_local_id(0), group = get_local_size(0), mine = l / team, lane = l % team;
  const int i = row_of_team(list, notes + classes, first, rows, team);
  const int from = i < rows ? A_ptr[i] : 0, length = i < rows ? END(A, i) - from : 0;
  const int to = i < rows ? C_ptr[i] : 0, n = i < rows ? C_ptr[i + 1] - to : 0;
  local int *keys = (local int *)all_keys + mine * size;
  local double *sums = all_sums + mine * size;
  local ushort *slots = all_slots + mine * room;
  bool fresh;
  empty(all_keys, group / team * size);
  if (l == 0) most = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lane == 0) atomic_max(&most, length);
  for (int q = lane; q < n; q += team) {
    const int slot = slot_of(keys, size, C_col[to + q], &fresh);
    slots[q] = slot, sums[slot] = -0.0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const row_table t = {size, keys, sums, NULL, NULL, NULL};
  const bool all = sum_products(CSR_OF(A, A_val), CSR_OF(B, B_val), from, length, most, team, true, t);
  for (int q = lane; q < n; q += team) C_val[to + q] = sums[slots[q]];
  if (!all) notes[note] = 1;
}

/* Room for `length` entries in each row. */
kernel void space_rows(const int rows, const int length, global int *ptr)
{
  const int i = get_global_id(0);
  if (i <= rows) ptr[i] = i * length;
}
