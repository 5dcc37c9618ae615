/* Rounding that reproducible sums rely on, for n triples of reals: a product, which may be denormal, a product added, a fused product, a
 * quotient, a root (core/opencl/run/rounding.c compares them with the host's). */
kernel void round_all(const int n, global const real *a, global const real *b, global const real *c, global real *out)
{
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) {
    out[5 * i] = s_mul(a[i], b[i]);
    out[5 * i + 1] = s_add(s_mul(a[i], b[i]), c[i]);
    out[5 * i + 2] = s_fma(a[i], b[i], c[i]);
    out[5 * i + 3] = s_div(a[i], b[i]);
    out[5 * i + 4] = s_root(a[i]);
  }
}
