/* CSR in tiles of at most TILE entries; plan, from WORDS t on: its rows and its entries, first and end, then a bit an
 * entry, set where it is its row's last (Merrill & Garland 2016; Greathouse & Daga 2014). A strip is what 32 work-items take at once, SHARE entries each, all of which are
 * under way before the first is needed. Products go into local memory behind the group's own WG scalars;
 * then each work-item adds up SHARE neighbours, a row's sum lies where its last product was, and a sum left open
 * is carried on.
 * Longer rows come in pieces, summed first; a letter a piece (kernels/letters.clh) tells the sum to the group
 * that has the row, and behind the letters stands how often each was read. A group that gets no answer, since
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
#define START(k) ((k) & ~7) /* whole sectors of memory: no two strips read the same one */
/* Of the strip that begins with entry `first`, those from lead to count; 0 for others. lead: at most 7. */
INLINE void products(global const int *col, global const scalar *val,
                     global const scalar *x, const int first, const int lead, const int count, scalar *a)
{
  const int k = first + get_local_id(0) % 32;
  int j[SHARE];
#pragma unroll
  for (int q = 0; q < SHARE; q++) {
    const bool in = k + q * 32 < count && (q > 0 || k >= lead);
    j[q] = in ? col[k + q * 32] : 0;
    a[q] = in ? val[k + q * 32] : s_make(0);
  }
#pragma unroll
  for (int q = 0; q < SHARE; q++)
    if (k + q * 32 < count && (q > 0 || k >= lead)) a[q] = s_mul(a[q], x[j[q]]);
}
/* Every row's sum to where its last product is. */
INLINE void add_up(global const int *col, global const scalar *val,
                   global const scalar *x, const int lead, const int count,
                   global const plan_t *ends, local scalar *product, local scalar *tree)
{
  scalar into = s_make(0);
  for (int turn = 0; turn < TURNS; turn++) {
    const int share = turn * WG + get_local_id(0), strip = share / 32, first = share * SHARE;
    const uint end = strip < STRIPS ? (uint)ends[share / 4] >> share % 4 * 8 & 255 : 0;
    scalar a[SHARE], sum = s_make(0);
    products(col, val, x, strip * STRIP, lead, count, a);
    if (team_has(end != 0)) {
#pragma unroll
      for (int q = 0; q < SHARE; q++)
        if (strip < STRIPS) product[strip * STRIP + q * 32 + share % 32] = a[q];
      TEAM_SYNC();
#pragma unroll
      for (int q = 0; q < SHARE; q++) {
        if (strip < STRIPS) sum = s_add(sum, product[first + q]);
        if (end >> q & 1) product[first + q] = sum, sum = s_make(0);
      }
    } else {
#pragma unroll
      for (int q = 0; q < SHARE; q++) sum = s_add(sum, a[q]);
    }
    const scalar before = carried(sum, end != 0, &into, turn + 1 < TURNS, tree);
    if (end) {
      const int q = first + 31 - (int)clz(end & (0 - end));
      product[q] = s_add(before, product[q]);
    }
  }
}
/* Known to the whole group. */
INLINE scalar piece_sum(global const int *col, global const scalar *val,
                        global const scalar *x, const int lead, const int count, local scalar *tree)
{
  scalar sum = s_make(0), a[SHARE];
  for (int strip = get_local_id(0) / 32; strip < STRIPS; strip += WG / 32) {
    products(col, val, x, strip * STRIP, lead, count, a);
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
  global volatile letter *told = (global volatile letter *)part;
  global volatile uint *heard = (global volatile uint *)(told + pieces);
  for (; task < min(pieces, tasks); task += groups) {
    const plan_t from = plan[piece_at + 2 * task], to = plan[piece_at + 2 * task + 1], start = START(from);
    const scalar sum = piece_sum(col + start, val + start, x, from - start, to - start, tree);
    if (l == 0) post(told + task, written(told + task) + 1, sum);
  }
#endif
  for (; task < tasks; task += groups) {
    global const plan_t *tile = plan + (plan_t)(task - pieces) * WORDS;
    const plan_t from = tile[2], start = START(from);
    const idx row = tile[0], end = tile[1];
    const int count = tile[3] - start;
    if (count > 0) add_up(col + start, val + start, x, from - start, count, tile + 4, product, tree);
    SYNC();
    for (idx i = row + l; i < end; i += WG) {
      const uint at = (uint)plan[last_at + i / 2] >> i % 2 * 16 & 65535;
      EMIT(i, at != NOWHERE ? product[at] : s_make(0));
    }
    SYNC();
  }
#if VARIANT
  for (idx w = get_group_id(0); w < (hi > 0 ? wholes : 0); w += groups) {
    const idx first = plan[whole_at + 3 * w + 1], after = plan[whole_at + 3 * w + 2];
    scalar sum = s_make(0), missed = s_make(0);
    for (idx p = first + l; p < after; p += WG) {
      const uint number = heard[p] + 1;
      scalar one;
      uint late = 1;
      for (int tries = 0; late && tries < TRIES; tries++) late = 0, one = receive(told + p, number, &late);
      heard[p] = number;
      if (late) missed = s_make(1);
      else sum = s_add(sum, one);
    }
    group_sums(&missed, 1, tree);
    if (!s_zero(missed)) {
      sum = s_make(0);
      for (idx p = first; p < after; p++) {
        const plan_t from = plan[piece_at + 2 * p], to = plan[piece_at + 2 * p + 1], start = START(from);
        const scalar one = piece_sum(col + start, val + start, x, from - start, to - start, tree);
        if ((p - first) % WG == l) sum = s_add(sum, one);
      }
    }
    group_sums(&sum, 1, tree);
    if (l == 0) EMIT((idx)plan[whole_at + 3 * w], sum);
  }
#endif
#endif
}
