/* Elements of x that other ranks need, in the order in which they are sent; and the boundary, rows with columns that other
 * ranks own: y = y + B h, row i of B belonging to row row[i] of y (core/opencl/ranks.c). */
kernel OF_WG void halo_pack(const idx n, global scalar *restrict out, global const int *restrict send,
                            global const scalar *restrict x)
{
  ROW_BLOCK(n)
  for EACH(i) out[i] = x[send[i]];
}

kernel OF_WG void halo_add(const idx n, global scalar *restrict y, global const scalar *restrict h,
                           global const int *restrict row, global const int *restrict row_ptr,
                           global const int *restrict col, global const scalar *restrict val)
{
  ROW_BLOCK(n)
  for EACH(i) {
    scalar sum = s_make(0);
    for (int k = row_ptr[i]; k < row_ptr[i + 1]; k++) sum = s_fma(val[k], h[col[k]], sum);
    y[row[i]] = s_add(y[row[i]], sum);
  }
}
