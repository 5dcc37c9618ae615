/* Sums on the host in the shape of reproducible sums (shape.h), and the norm of a vector, whose squares are summed in that shape. */
#include "core/base/shape.h"
#include "core/base/base.h"

/* a b + c, rounded once where the processor can. */
static inline double multiply_add(double a, double b, double c) {
#if KCL_HAS_FMA
  return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}

static double reduce_lanes(bool single, double *lane) {
  for (int reach = KCL_SUM_LANES / 2; reach > 0; reach /= 2)
    for (int l = 0; l < reach; l++) {
      const double sum = lane[l] + lane[l + reach];
      lane[l] = single ? (double)(float)sum : sum;
    }
  return lane[0];
}

/* A sum of two floats that is rounded to double and then to float is rounded once (Figueroa 1995). */
double kcl_sum_total(bool single, const double *sum, int64_t blocks) {
  double lane[KCL_SUM_LANES] = {0};
  for (int64_t i = 0; i < blocks; i++) {
    const double more = lane[i % KCL_SUM_LANES] + sum[i];
    lane[i % KCL_SUM_LANES] = single ? (double)(float)more : more;
  }
  return reduce_lanes(single, lane);
}

typedef struct squares {
  kcl_type type;
  const void *v;
  int64_t n, block;
  double scale, *out;
} squares;

static double block_squares(const squares *s, int64_t from, int64_t end) {
  double lane[KCL_SUM_LANES] = {0}, z[2];
  for (int64_t i = from; i < end; i++) {
    double *to = &lane[(i - from) % KCL_SUM_LANES];
    kcl_element(s->type, s->v, i, z);
    z[0] *= s->scale, z[1] *= s->scale;
    *to = multiply_add(z[1], z[1], multiply_add(z[0], z[0], *to));
  }
  return reduce_lanes(false, lane);
}

static void squares_of_blocks(void *arg, int64_t first, int64_t end) {
  const squares *s = arg;
  for (int64_t b = first; b < end; b++) {
    const int64_t from = b * s->block, to = from + s->block;
    s->out[b] = block_squares(s, from, to < s->n ? to : s->n);
  }
}

void kcl_sum_squares(kcl_type type, const void *v, int64_t n, int64_t block, int exponent,
                     double *out) {
  squares s = {type, v, n, block, ldexp(1, -exponent), out};
  kcl_for((n + block - 1) / block, 1 + KCL_FEW / block, squares_of_blocks, &s);
}

/* Powers of two from 2^-1024 to 2^1000 are exact, and no product with a larger one is needed. */
int kcl_sum_exponent(double largest) {
  int e;
  frexp(largest, &e);
  return e < -1000 ? -1000 : e;
}

static double largest_of_parts(const void *arg, int64_t from, int64_t to) {
  const squares *s = arg;
  double largest = 0, z[2];
  for (int64_t i = from; i < to; i++) {
    kcl_element(s->type, s->v, i, z);
    for (int p = 0; p < 2; p++)
      if (fabs(z[p]) > largest || isnan(z[p])) largest = fabs(z[p]);
  }
  return largest;
}

double kcl_largest_part(kcl_type type, const void *v, int64_t n) {
  return kcl_largest(n, KCL_FEW, largest_of_parts, &(squares){.type = type, .v = v});
}

double kcl_norm2(kcl_type t, const void *v, int64_t n) {
  double sum[KCL_SUM_BLOCKS];
  const double largest = kcl_largest_part(t, v, n);
  const int64_t block = kcl_sum_rows(n);
  if (!(largest > 0 && largest < INFINITY)) return largest;
  const int exponent = kcl_sum_exponent(largest);
  kcl_sum_squares(t, v, n, block, exponent, sum);
  return ldexp(sqrt(kcl_sum_total(false, sum, (n + block - 1) / block)), exponent);
}
