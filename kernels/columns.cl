/* Columns of numbers in buffers of any spacing (core/opencl/device/columns.c). A column is a buffer of reals, the element of its
 * first number, the elements from one number to the next, and parts: 1, or 2 reals per complex number. n counts reals.
 * TO, FROM: float or double. DOUBLE: the device has double precision. */
#ifdef DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double wide;
#else
typedef float wide;
#endif

static inline long place(const long i, const int parts, const long first, const long step)
{
  return parts == 1 ? first + i * step : 2 * (first + (i >> 1) * step) + (i & 1);
}

/* y = scale x; x is not read where scale is 0. */
kernel void copy(global TO *y, const long y_first, const long y_step, global const FROM *x, const long x_first,
                 const long x_step, const int parts, const wide scale, const long n)
{
  const long i = get_global_id(0);
  if (i >= n) return;
  const wide a = scale == 0 ? 0 : scale * (wide)x[place(i, parts, x_first, x_step)];
  y[place(i, parts, y_first, y_step)] = (TO)a;
}

/* The largest |scale x_i| that is a number, and the sum of squares, per work-group of a power of two of work-items: [groups, 2]. */
kernel void measure(global wide *out, global const FROM *x, const long first, const long step, const int parts,
                    const wide scale, const long n, local wide *largest, local wide *sum)
{
  const size_t me = get_local_id(0);
  wide most = 0, squares = 0;
  for (long i = get_global_id(0); i < n; i += get_global_size(0)) {
    const wide a = scale * (wide)x[place(i, parts, first, step)];
    most = fmax(most, fabs(a)), squares += a * a;
  }
  largest[me] = most, sum[me] = squares;
  for (size_t width = get_local_size(0) / 2; width > 0; width /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me < width) largest[me] = fmax(largest[me], largest[me + width]), sum[me] += sum[me + width];
  }
  if (me == 0) out[2 * get_group_id(0)] = largest[0], out[2 * get_group_id(0) + 1] = sum[0];
}
