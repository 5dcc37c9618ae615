/* A series: consecutive small stages, carried out one after another by one launch, with a grid barrier between them. A
 * skeleton: core/opencl/series/series_source.c fills the holes. Each stage is a product, then operations on its rows.
 *
 *   elements      a function per list of operations
 *   operations    the calls of these
 *   products      a function per kind of matrix and of vectors
 *   cases         the calls of these
 *   *_words       arrays and integers of a matrix, vectors of a stage, and sizes of a guarded matrix, at most
 */
/* The words of a stage in the table (core/opencl/series/series.h); addresses of buffers, and integers. */
enum {
  WORD_PRODUCT,    /* its number */
  WORD_OPERATIONS, /* their number */
  WORD_ELEMENTS,
  WORD_GROUPS, /* work-groups that have elements */
  WORD_X,
  WORD_LANES, /* work-items per row */
  WORD_MATRIX,
  WORD_VECTOR = WORD_MATRIX + @matrix_words@,
  WORD_SIZES = WORD_VECTOR + @vector_words@, /* of a guarded matrix: rows, columns, elements of each array */
  WORDS = WORD_SIZES + @size_words@
};
@elements@
/* Row i of the product, by the operations of the stage. */
INLINE void finish(const idx i, const pack value, const int active, local const scalar *s, local const ulong *w)
{
  switch ((int)w[WORD_OPERATIONS]) {
    @operations@
  }
}
@products@
/* A stage's words, by the work-items that have the fewest rows. Beyond the last stage: no work-groups. */
static inline void fetch(global const ulong *table, const int stage, const int stages, local ulong *words)
{
  for (int i = WG - 1 - get_local_id(0); i < WORDS; i += WG) words[i] = stage < stages ? table[stage * WORDS + i] : 0;
}

/* Stages [first, first + stages) of the table. */
kernel OF_WG
void series(global int *restrict states, const uint launch, global const ulong *table, global volatile uint *flags,
            const int first, const int stages, const int state_words, const int slots)
{
  local scalar s[SLOTS * NRHS + WG], *scratch = s + SLOTS * NRHS;
  local int control[CONTROL * NRHS], lost;
  local ulong words[2][WORDS];
  pass_state(IN, OUT, slots, s, control);
  const int active = active_rhs(control, false), count = active ? stages : 0;
  if (get_local_id(0) == 0) lost = control[GROUP_LOST];
  table += first * WORDS;
  fetch(table, 0, count, words[0]);
  SYNC();
  for (int i = 0; i < count; i++) {
    local ulong *w = words[i & 1], *next = words[~i & 1];
    const idx n = (int)get_group_id(0) < (int)w[WORD_GROUPS] && !lost ? (idx)w[WORD_ELEMENTS] : 0;
    fetch(table, i + 1, count, next);
    switch ((int)w[WORD_PRODUCT]) {
      @cases@
    }
    series_barrier(flags, launch * MOST_STAGES + i, w + WORD_GROUPS, next + WORD_GROUPS, &lost);
  }
  if (!active) { /* so that a first launch without work shows whether all groups meet */
    if (get_local_id(0) == 0) words[0][WORD_GROUPS] = get_num_groups(0);
    series_barrier(flags, launch * MOST_STAGES, words[0] + WORD_GROUPS, words[0] + WORD_GROUPS, &lost);
  }
  if (get_local_id(0) == 0 && lost)
    atomic_or((global volatile uint *)OUT + GROUP_LOST, 1u);
}
