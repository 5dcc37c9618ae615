/* Vectors from double to float and back (core/device/device.h); n counts real numbers. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

kernel void narrow(global float *restrict y, global const double *restrict x, const double scale, const long n)
{
  const long i = get_global_id(0);
  if (i < n) y[i] = (float)(scale * x[i]);
}

kernel void collect(global double *restrict y, global const float *restrict x, const double scale, const long n)
{
  const long i = get_global_id(0);
  if (i < n) y[i] += scale * x[i];
}
