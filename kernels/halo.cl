/* Elements of x that other ranks need, in the order in which they are sent; and what completes a product: y = y + B h, B the
 * rows with columns that other ranks own, row i of it belonging to row row[i] of y (core/opencl/run/ranks.c). */
kernel OF_WG void halo_pack(const idx n, global element *restrict out, global const int *restrict send,
                            global const element *restrict x)
{
  ROW_BLOCK(n)
  for EACH(i) out[i] = x[send[i]];
}

enum {
  AHEAD = KCL_CPU ? 1 : 8 / NRHS,
  TOTALS = NRHS < AT_ONCE ? NRHS : AT_ONCE, /* reduced with common barriers */
  CYCLE_END = 1, SHARED = 2                 /* flags: of the stage; u is one vector for all right-hand sides */
};

#if NRHS == 1
static inline element other(global const scalar *u, const int i, const int flags) { return u[i]; }
static inline element add_dot(element a, element b, element sum) { return s_fma(a, b, sum); }
static inline void keep(global element *restrict y, const int i, element a, const int active) { y[i] = a; }
static inline int active_in(global const int *state, const int flags, local int *control) { return 1; }
#else
static inline element other(global const scalar *u, const int i, const int flags)
{
  return flags & SHARED ? e_spread(u[i]) : ((global const element *)u)[i];
}
static inline element add_dot(element a, element b, element sum) { return e_mul(a, b) + sum; }
static inline void keep(global element *restrict y, const int i, element a, const int active) { p_store(y, i, a, active); }
/* The right-hand sides that were active in the stage, whose input was this state. */
static inline int active_in(global const int *state, const int flags, local int *control)
{
  for (int i = get_local_id(0); i < CONTROL * NRHS; i += WG) control[i] = state[i];
  SYNC();
  return active_rhs(control, flags & CYCLE_END);
}
#endif

/* dot: 0: none, 1: u^H y, 2: y^H u, 3: u^T y, in which B h has a share. */
static inline element share(const int dot, const element u, const element y, const element sum)
{
  const element a = dot == 2 ? y : u, b = dot == 2 ? u : y;
  return add_dot(dot == 3 ? a : e_conj(a), b, sum);
}

/* Row i of B times h. Entries are read some at a time, before they are needed: what the kernel takes is their latency. */
static inline element boundary_row(global const int *restrict row_ptr, global const int *restrict col,
                                   global const scalar *restrict val, global const element *restrict h, const idx i)
{
#if SUM_BLOCK
  return row_in_order(val, col, h, 0, row_ptr[i], row_ptr[i + 1]); /* not guarded: no bound */
#else
  const int end = row_ptr[i + 1];
  element sum = e_zero();
  for (int k = row_ptr[i]; k < end; k += AHEAD) {
    scalar a[AHEAD];
    element b[AHEAD];
    for (int q = 0; q < AHEAD; q++) {
      const int at = k + q < end ? k + q : end - 1;
      a[q] = val[at], b[q] = h[col[at]];
    }
    for (int q = 0; q < AHEAD; q++)
      if (k + q < end) sum = e_fma(a[q], b[q], sum);
  }
  return sum;
#endif
}

/* The sum over the work-group, one per right-hand side, unless nothing is asked for: partial sums are PARTIALS_MAX apart. */
static inline void write_shares(const int dot, global scalar *partial, const element sum, local scalar *scratch)
{
  scalar total[NRHS];
  e_split(sum, total);
#pragma unroll
  for (int c = 0; c < NRHS; c += TOTALS) group_sums(total + c, TOTALS, scratch);
  if (dot && get_local_id(0) == 0)
    for (int c = 0; c < NRHS; c++) partial[c * PARTIALS_MAX + get_group_id(0)] = total[c];
}

/* at: of the first partial sum, in scalars of states; launch: the number of the stage's launch. */
kernel OF_WG void halo_add(const idx n, global element *restrict y, global const element *restrict h,
                           global const int *restrict row, const int dot, global const scalar *u,
                           global int *restrict states, const int at, const uint launch, const int flags,
                           global const int *restrict row_ptr, global const int *restrict col,
                           global const scalar *restrict val)
{
  local scalar scratch[WG * TOTALS];
  local int control[CONTROL * NRHS];
  const int active = active_in(IN, flags, control);
  element total = e_zero();
  ROW_BLOCK(n)
  for EACH(i) {
    const int to = row[i];
    const element before = y[to], with = dot ? other(u, to, flags) : before,
                  sum = boundary_row(row_ptr, col, val, h, i);
    keep(y, to, before + sum, active);
    if (dot) total = share(dot, with, sum, total);
  }
  write_shares(dot, (global scalar *)states + at, total, scratch);
}
