/* CSR in tiles of at most TILE entries, one work-group per tile (Merrill & Garland 2016; Greathouse & Daga 2014).
 * plan, WORDS per tile: its rows and its entries, first and end, then one bit per entry, set at the last entry of a row.
 *
 *   strip   32 SHARE entries, loaded by 32 work-items, SHARE each; all loads are issued before the first is used
 *   share   SHARE consecutive entries, added up by one work-item
 *
 * Products are written to local memory behind the group's first WG scalars. Each work-item adds up its share; the sum
 * of a row is left where its last product was, and the sum of a row that does not end in the share is carried on by a
 * segmented scan. Strips begin at multiples of a cache line, so that a load of 32 work-items touches one line and not
 * two; entries of the first line that belong to an earlier tile are replaced by zeros without a load.
 *
 * VARIANT: there are rows longer than a tile. They are cut into segments, which are summed first. The sum of each
 * segment is sent as a message (messages.clh) under the launch number; the group that owns the row receives them. If one
 * does not arrive within TRIES polls, because its sender has not started, the owner adds up all segments of the row
 * itself in the same order: progress does not depend on which groups run at the same time, and the bits are the same.
 * Loops with barriers run equally often for all work-items of a group. CPU devices: one work-item per row. */
#if KCL_CPU
#include "spmv_csr.cl"
#else
#ifndef SHARE
#define SHARE 7
#define STRIPS 8
#define STRIP (32 * SHARE)
#define TILE (STRIPS * STRIP)
#define WORDS (4 + 8 * STRIPS) /* of plan per tile; the bits of a share are a byte */
#define NOWHERE 65535          /* the last entry of an empty row */
#define PASSES ((32 * STRIPS + WG - 1) / WG)
#define TRIES 2048 /* polls for a message before its segment is added up here: about a millisecond */
#define LEAD(k) ((int)((k) & 31)) /* entries before entry k in its cache line of 128 bytes of columns */
#define ENTRIES(from, end) max((int)(START(end, COUNT_col) - (from)), 0) /* where from is START of it */
#define INSIDE(k, count) ((uint)(k) < (uint)(count))
/* The position in its tile of the last entry of row i. */
#define LAST(i) ((uint)plan[last_at + (i) / 2] >> (i) % 2 * 16 & 65535)
/* Columns and values of the strip that begins at entry from + first; first may be negative. -1 and 0 outside the
 * `count` entries from `from` on. */
INLINE void fetch(global const int *col, global const scalar *val, const plan_t from, const int first,
                  const int count, int *j, scalar *a)
{
  const int k = first + get_local_id(0) % 32;
#pragma unroll
  for (int q = 0; q < SHARE; q++) j[q] = load_column_if(INSIDE(k + q * 32, count), col + from + k + q * 32);
#pragma unroll
  for (int q = 0; q < SHARE; q++) a[q] = load_value_if(INSIDE(k + q * 32, count), val + from + k + q * 32);
}
INLINE void multiply(global const scalar *x, const int cols, const int *j, scalar *a)
{
#pragma unroll
  for (int q = 0; q < SHARE; q++)
    if (j[q] >= 0) a[q] = s_mul(a[q], x[WITHIN(j[q], cols)]);
}
/* The sum of a segment, returned to the whole group. */
INLINE scalar segment_sum(global const int *col, global const scalar *val,
                        global const scalar *x, const int cols, const plan_t from, const int count, local scalar *scratch)
{
  scalar sum = s_make(0), a[SHARE];
  int j[SHARE];
  for (int strip = get_local_id(0) / 32; strip < STRIPS; strip += WG / 32) {
    fetch(col, val, from, strip * STRIP - LEAD(from), count, j, a);
    multiply(x, cols, j, a);
#pragma unroll
    for (int q = 0; q < SHARE; q++) sum = s_add(sum, a[q]);
  }
  group_sums(&sum, 1, scratch);
  return sum;
}
#endif

static inline void visit_rows(MATRIX, GATHERED x, idx lo, idx hi, local scalar *scratch EMIT_PARAMS)
{
  const int l = get_local_id(0);
  const idx groups = get_num_groups(0), tasks = hi > 0 ? segments + tiles : 0;
  local scalar *product = scratch + WG;
  idx task = get_group_id(0);
#if VARIANT
  for (; task < min(segments, tasks); task += groups) {
    const plan_t begin = START(plan[segment_at + 2 * task], COUNT_col);
    const scalar sum =
        segment_sum(col, val, x, A_COLS, begin, ENTRIES(begin, plan[segment_at + 2 * task + 1]), scratch);
    if (l == 0) send(messages + task, launch, sum);
  }
#endif
  plan_t at = (task - segments) * (plan_t)WORDS, from = 0;
  int count = 0;
  if (task < tasks) from = START(plan[at + 2], COUNT_col), count = ENTRIES(from, plan[at + 3]);
  for (; task < tasks; task += groups) {
    /* The next tile's plan and the positions of this one's sums are loaded early to hide their latency. */
    const plan_t next_at = at + groups * (plan_t)WORDS;
    const bool more = task + groups < tasks;
    const plan_t next = more ? START(plan[next_at + 2], COUNT_col) : 0;
    const int next_count = more ? ENTRIES(next, plan[next_at + 3]) : 0;
    const idx row = START(plan[at], A_ROWS), end_row = START(plan[at + 1], A_ROWS);
    uint last = row + l < end_row ? LAST(row + l) : NOWHERE;
    scalar into = s_make(0), a[SHARE];
    int j[SHARE];
    for (int pass = 0; pass < PASSES; pass++) {
      const int share = pass * WG + l, strip = share / 32, first = share * SHARE;
      const uint end = strip < STRIPS ? (uint)plan[at + 4 + share / 4] >> share % 4 * 8 & 255 : 0;
      const bool ends = warp_any(end != 0);
      scalar sum = s_make(0);
      fetch(col, val, from, strip * STRIP - LEAD(from), count, j, a);
      multiply(x, A_COLS, j, a);
#pragma unroll
      for (int q = 0; q < SHARE; q++) {
        if (!ends) sum = s_add(sum, a[q]);
        else if (strip < STRIPS) product[strip * STRIP + q * 32 + share % 32] = a[q];
      }
      if (ends) {
        WARP_SYNC();
#pragma unroll
        for (int q = 0; q < SHARE; q++) {
          if (strip < STRIPS) sum = s_add(sum, product[first + q]);
          if (end >> q & 1) product[first + q] = sum, sum = s_make(0);
        }
      }
      const scalar before = segment_carry(sum, end != 0, &into, pass + 1 < PASSES, scratch);
      if (end) {
        const int q = WITHIN(first + 31 - (int)clz(end & (0 - end)), TILE);
        product[q] = s_add(before, product[q]);
      }
    }
    SYNC();
    for (idx i = row; i < end_row; i += WG) {
      const scalar sum = i + l < end_row && last != NOWHERE ? product[WITHIN(last, TILE)] : s_make(0);
      if (i + WG >= end_row) SYNC(); /* the next tile may overwrite the products */
      else if (i + WG + l < end_row) last = LAST(i + WG + l);
      if (i + l < end_row) EMIT(i + l, sum);
    }
    at = next_at, from = next, count = next_count;
  }
#if VARIANT
  for (idx w = get_group_id(0); w < (hi > 0 ? long_rows : 0); w += groups) {
    const idx first = START(plan[long_row_at + 3 * w + 1], segments), after = START(plan[long_row_at + 3 * w + 2], segments);
    scalar sum = s_make(0);
    bool missed = false;
    for (idx p = first + l; p < after; p += WG) {
      scalar one;
      uint late = 1;
      for (int tries = 0; late && tries < TRIES; tries++) late = 0, one = receive(messages + p, launch, &late);
      missed = missed || late;
      sum = s_add(sum, one);
    }
    const idx again = group_has(missed, scratch) ? after : first; /* all segments or none */
    if (again > first) sum = s_make(0);
    for (idx p = first; p < again; p++) {
      const plan_t begin = START(plan[segment_at + 2 * p], COUNT_col);
      const scalar one = segment_sum(col, val, x, A_COLS, begin, ENTRIES(begin, plan[segment_at + 2 * p + 1]), scratch);
      if ((p - first) % WG == l) sum = s_add(sum, one);
    }
    group_sums(&sum, 1, scratch);
    if (l == 0) EMIT((idx)WITHIN(plan[long_row_at + 3 * w], A_ROWS), sum);
  }
#endif
}
#endif
