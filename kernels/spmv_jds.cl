/* JDS: entry k of the row at position p at start[k] + p, while that is below start[k + 1]. order: the
 * row at each position; on CPU devices the position of each row. */
static inline void visit_rows(MATRIX, global const element *restrict x, idx lo, idx hi,
                              local scalar *tree EMIT_PARAMS)
{
  for EACH(at) {
#if KCL_CPU
    const idx i = at, p = order[at];
#else
    const idx i = order[at], p = at;
#endif
    element sum = e_zero();
    for (idx k = 0; k < width && start[k] + p < start[k + 1]; k++)
      sum = e_fma(once(val + start[k] + p), x[once(col + start[k] + p)], sum);
    EMIT(i, sum);
  }
}
