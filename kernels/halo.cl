/* Elements of x that other ranks need, in the order in which they are sent; and what completes a product: y = y + B h, B the
 * rows with columns that other ranks own, row i of it belonging to row row[i] of y (core/opencl/ranks.c). */
kernel OF_WG void halo_pack(const idx n, global scalar *restrict out, global const int *restrict send,
                            global const scalar *restrict x)
{
  ROW_BLOCK(n)
  for EACH(i) out[i] = x[send[i]];
}

enum { AHEAD = KCL_CPU ? 1 : 8 };

/* dot: 0: none, 1: u^H y, 2: y^H u, 3: u^T y, in which B h has a share: partial[at + group]. */
static inline scalar share(const int dot, const scalar u, const scalar y, const scalar sum)
{
  const scalar a = dot == 2 ? y : u, b = dot == 2 ? u : y;
  return s_fma(dot == 3 ? a : s_conj(a), b, sum);
}

/* Row i of B times h. Entries are read some at a time, before they are needed: what the kernel takes is their latency. */
static inline scalar boundary_row(global const int *restrict row_ptr, global const int *restrict col,
                                  global const scalar *restrict val, global const scalar *restrict h, const idx i)
{
  const int end = row_ptr[i + 1];
  scalar sum = s_make(0);
  for (int k = row_ptr[i]; k < end; k += AHEAD) {
    scalar a[AHEAD], b[AHEAD];
    for (int q = 0; q < AHEAD; q++) {
      const int at = k + q < end ? k + q : end - 1;
      a[q] = val[at], b[q] = h[col[at]];
    }
    for (int q = 0; q < AHEAD; q++)
      if (k + q < end) sum = s_fma(a[q], b[q], sum);
  }
  return sum;
}

kernel OF_WG void halo_add(const idx n, global scalar *restrict y, global const scalar *restrict h,
                           global const int *restrict row, const int dot, global const scalar *u,
                           global scalar *restrict partial, const int at, global const int *restrict row_ptr,
                           global const int *restrict col, global const scalar *restrict val)
{
  local scalar scratch[WG];
  scalar total[1] = {s_make(0)};
  ROW_BLOCK(n)
  for EACH(i) {
    const int to = row[i];
    const scalar before = y[to], with = dot ? u[to] : before, sum = boundary_row(row_ptr, col, val, h, i);
    y[to] = s_add(before, sum);
    if (dot) total[0] = share(dot, with, sum, total[0]);
  }
  group_sums(total, 1, scratch);
  if (dot && get_local_id(0) == 0) partial[at + get_group_id(0)] = total[0];
}
