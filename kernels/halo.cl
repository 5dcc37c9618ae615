/* Elements of x that other ranks need, in the order in which they are sent; and what completes a product: y = y + B h, B the
 * rows with columns that other ranks own, row i of it belonging to row row[i] of y (core/opencl/ranks.c). */
kernel OF_WG void halo_pack(const idx n, global scalar *restrict out, global const int *restrict send,
                            global const scalar *restrict x)
{
  ROW_BLOCK(n)
  for EACH(i) out[i] = x[send[i]];
}

/* dot: 0: none, 1: u^H y, 2: y^H u, 3: u^T y, in which B h has a share: partial[at + group]. */
static inline scalar share(const int dot, const scalar u, const scalar y, const scalar sum)
{
  const scalar a = dot == 2 ? y : u, b = dot == 2 ? u : y;
  return s_fma(dot == 3 ? a : s_conj(a), b, sum);
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
    scalar sum = s_make(0);
    for (int k = row_ptr[i]; k < row_ptr[i + 1]; k++) sum = s_fma(val[k], h[col[k]], sum);
    y[row[i]] = s_add(y[row[i]], sum);
    if (dot) total[0] = share(dot, u[row[i]], sum, total[0]);
  }
  group_sums(total, 1, scratch);
  if (dot && get_local_id(0) == 0) partial[at + get_group_id(0)] = total[0];
}
