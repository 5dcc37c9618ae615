/* CSR in tiles of at most TILE entries; plan, from WORDS t on: its rows and its entries, first and end, then a bit an
 * entry, set where it is its row's last (Merrill & Garland 2016; Greathouse & Daga 2014). A strip is what 32 work-items
 * take at once, SHARE entries each, all of which are under way before the first is needed. Products go into local memory
 * behind the group's own WG scalars; then each work-item adds up SHARE neighbours, a row's sum lies where its last product
 * was, and a sum left open is carried on. Strips begin at whole lines of memory, so that no read of theirs lies in two
 * lines for one; in place of what a tile's first line holds of the row before there are zeros, not read.
 * Longer rows come in pieces, summed first; a letter a piece (kernels/letters.clh) tells the sum to the group
 * that has the row, under the number of the launch. A group that gets no answer, since
 * the other has not begun, adds up the pieces itself, in the same order. VARIANT: there are such rows. All
 * loops with barriers run alike for the whole group. CPU devices: a work-item a row. */
#if !KCL_CPU
#ifndef SHARE
#define SHARE 7
#define STRIPS 8
#define STRIP (32 * SHARE)
#define TILE (STRIPS * STRIP)
#define WORDS (4 + 8 * STRIPS) /* of plan a tile: a byte a share */
#define NOWHERE 65535          /* the last entry of an empty row */
#define TURNS ((32 * STRIPS + WG - 1) / WG)
#define TRIES 2048 /* reads of a letter before its piece is added up here: a millisecond */
#define LEAD(k) ((int)((k) & 31)) /* entries of a line before entry k: 128 bytes of columns */
#define AMONG(k, count) ((uint)(k) < (uint)(count))
#define LAST(i) ((uint)plan[last_at + (i) / 2] >> (i) % 2 * 16 & 65535)
/* Columns and values of the strip that begins at entry from + first, which may lie before `from`; -1 and 0 of what is
 * not among the `count` entries from there on. */
INLINE void fetch(global const int *col, global const scalar *val, const plan_t from, const int first,
                  const int count, int *j, scalar *a)
{
  const int k = first + get_local_id(0) % 32;
#pragma unroll
  for (int q = 0; q < SHARE; q++) j[q] = once_column(AMONG(k + q * 32, count), col + from + k + q * 32);
#pragma unroll
  for (int q = 0; q < SHARE; q++) a[q] = once_value(AMONG(k + q * 32, count), val + from + k + q * 32);
}
INLINE void multiply(global const scalar *x, const int *j, scalar *a)
{
#pragma unroll
  for (int q = 0; q < SHARE; q++)
    if (j[q] >= 0) a[q] = s_mul(a[q], x[j[q]]);
}
/* Known to the whole group. */
INLINE scalar piece_sum(global const int *col, global const scalar *val,
                        global const scalar *x, const plan_t from, const plan_t to, local scalar *tree)
{
  scalar sum = s_make(0), a[SHARE];
  int j[SHARE];
  for (int strip = get_local_id(0) / 32; strip < STRIPS; strip += WG / 32) {
    fetch(col, val, from, strip * STRIP - LEAD(from), to - from, j, a);
    multiply(x, j, a);
#pragma unroll
    for (int q = 0; q < SHARE; q++) sum = s_add(sum, a[q]);
  }
  group_sums(&sum, 1, tree);
  return sum;
}
#endif
#endif

static inline void visit_rows(MATRIX, global const scalar *restrict x, idx lo, idx hi,
                              local scalar *tree EMIT_PARAMS)
{
#if KCL_CPU
  for EACH(i) {
    scalar sum = s_make(0);
    for (row_ptr_t k = row_ptr[i]; k < row_ptr[i + 1]; k++) sum = s_fma(val[k], x[col[k]], sum);
    EMIT(i, sum);
  }
#else
  const int l = get_local_id(0);
  const idx groups = get_num_groups(0), tasks = hi > 0 ? pieces + tiles : 0;
  local scalar *product = tree + WG;
  idx task = get_group_id(0);
#if VARIANT
  for (; task < min(pieces, tasks); task += groups) {
    const scalar sum = piece_sum(col, val, x, plan[piece_at + 2 * task], plan[piece_at + 2 * task + 1], tree);
    if (l == 0) post(letters + task, launch, sum);
  }
#endif
  plan_t at = (task - pieces) * (plan_t)WORDS, from = 0;
  int count = 0;
  if (task < tasks) from = plan[at + 2], count = plan[at + 3] - from;
  for (; task < tasks; task += groups) {
    /* Of the next tile, and where this one's sums will lie: read early, so that nothing waits for it. */
    const plan_t next_at = at + groups * (plan_t)WORDS;
    const bool more = task + groups < tasks;
    const plan_t next = more ? plan[next_at + 2] : 0;
    const int next_count = more ? plan[next_at + 3] - next : 0;
    const idx row = plan[at], end_row = plan[at + 1];
    uint last = row + l < end_row ? LAST(row + l) : NOWHERE;
    scalar into = s_make(0), a[SHARE];
    int j[SHARE];
    for (int turn = 0; turn < TURNS; turn++) {
      const int share = turn * WG + l, strip = share / 32, first = share * SHARE;
      const uint end = strip < STRIPS ? (uint)plan[at + 4 + share / 4] >> share % 4 * 8 & 255 : 0;
      const bool ends = team_has(end != 0);
      scalar sum = s_make(0);
      fetch(col, val, from, strip * STRIP - LEAD(from), count, j, a);
      multiply(x, j, a);
#pragma unroll
      for (int q = 0; q < SHARE; q++) {
        if (!ends) sum = s_add(sum, a[q]);
        else if (strip < STRIPS) product[strip * STRIP + q * 32 + share % 32] = a[q];
      }
      if (ends) {
        TEAM_SYNC();
#pragma unroll
        for (int q = 0; q < SHARE; q++) {
          if (strip < STRIPS) sum = s_add(sum, product[first + q]);
          if (end >> q & 1) product[first + q] = sum, sum = s_make(0);
        }
      }
      const scalar before = carried(sum, end != 0, &into, turn + 1 < TURNS, tree);
      if (end) {
        const int q = first + 31 - (int)clz(end & (0 - end));
        product[q] = s_add(before, product[q]);
      }
    }
    SYNC();
    for (idx i = row; i < end_row; i += WG) {
      const scalar sum = i + l < end_row && last != NOWHERE ? product[last] : s_make(0);
      if (i + WG >= end_row) SYNC(); /* the next tile's products may come */
      else if (i + WG + l < end_row) last = LAST(i + WG + l);
      if (i + l < end_row) EMIT(i + l, sum);
    }
    at = next_at, from = next, count = next_count;
  }
#if VARIANT
  for (idx w = get_group_id(0); w < (hi > 0 ? wholes : 0); w += groups) {
    const idx first = plan[whole_at + 3 * w + 1], after = plan[whole_at + 3 * w + 2];
    scalar sum = s_make(0);
    bool missed = false;
    for (idx p = first + l; p < after; p += WG) {
      scalar one;
      uint late = 1;
      for (int tries = 0; late && tries < TRIES; tries++) late = 0, one = receive(letters + p, launch, &late);
      missed = missed || late;
      sum = s_add(sum, one);
    }
    const idx again = group_has(missed, tree) ? after : first; /* all of the pieces, or none */
    if (again > first) sum = s_make(0);
    for (idx p = first; p < again; p++) {
      const scalar one = piece_sum(col, val, x, plan[piece_at + 2 * p], plan[piece_at + 2 * p + 1], tree);
      if ((p - first) % WG == l) sum = s_add(sum, one);
    }
    group_sums(&sum, 1, tree);
    if (l == 0) EMIT((idx)plan[whole_at + 3 * w], sum);
  }
#endif
#endif
}
