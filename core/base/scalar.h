/* The four scalar types on the host. Files that include this are compiled four times, with -DKCL_T=s, d, c, z and
 * -DKCL_T_s ...; KCL_TYPED(name) is name_s ... there. Operations have the names of kernels/scalar.clh: s_ of scalars, e_ of
 * the elements of vectors. These are scalars, too, but for type m, in which formats (spmv/narrow.h) are compiled once more:
 * scalars in double, elements and sums in float. */
#ifndef KCL_SCALAR_H
#define KCL_SCALAR_H

#include "core/base/base.h"
#include "core/base/shape.h"

#define KCL_PASTE2(a, b) a##_##b
#define KCL_PASTE(a, b) KCL_PASTE2(a, b)
#define KCL_TYPED(name) KCL_PASTE(name, KCL_T)

#if defined KCL_T_s || defined KCL_T_c
typedef float real;
#else
typedef double real;
#endif

/* a b + c, rounded once where the processor can. Explicit, since in a b - c d a compiler fuses either product, depending on where
 * it inlines; and a right-hand side must have the same bits alone and beside others, and on other devices (core/base/shape.h). */
static inline real r_fma(real a, real b, real c) {
#if KCL_HAS_FMA
  return sizeof(real) == sizeof(float) ? (real)__builtin_fmaf((float)a, (float)b, (float)c)
                                       : (real)__builtin_fma((double)a, (double)b, (double)c);
#else
  return a * b + c;
#endif
}

#if defined KCL_T_s || defined KCL_T_d || defined KCL_T_m
typedef real scalar;
#define KCL_PARTS 1
static inline scalar s_make(double re) { return (real)re; }
static inline real s_re(scalar a) { return a; }
static inline scalar s_conj(scalar a) { return a; }
static inline scalar s_neg(scalar a) { return -a; }
static inline scalar s_add(scalar a, scalar b) { return a + b; }
static inline scalar s_mul(scalar a, scalar b) { return a * b; }
static inline scalar s_fma(scalar a, scalar b, scalar c) { return r_fma(a, b, c); }
static inline bool s_zero(scalar a) { return a == 0; }
static inline bool s_one(scalar a) { return a == 1; }
static inline scalar s_div(scalar a, scalar b) { return b == 0 ? 0 : a / b; }
#else
typedef struct scalar {
  real re, im;
} scalar;
#define KCL_PARTS 2
static inline scalar s_make(double re) { return (scalar){(real)re, 0}; }
static inline real s_re(scalar a) { return a.re; }
static inline scalar s_conj(scalar a) { return (scalar){a.re, -a.im}; }
static inline scalar s_neg(scalar a) { return (scalar){-a.re, -a.im}; }
static inline scalar s_add(scalar a, scalar b) { return (scalar){a.re + b.re, a.im + b.im}; }
static inline scalar s_mul(scalar a, scalar b) {
  return (scalar){r_fma(a.re, b.re, -(a.im * b.im)), r_fma(a.re, b.im, a.im * b.re)};
}
static inline scalar s_fma(scalar a, scalar b, scalar c) {
  return (scalar){r_fma(-a.im, b.im, r_fma(a.re, b.re, c.re)),
                  r_fma(a.im, b.re, r_fma(a.re, b.im, c.im))};
}
static inline bool s_zero(scalar a) { return a.re == 0 && a.im == 0; }
static inline bool s_one(scalar a) { return a.re == 1 && a.im == 0; }
/* Scaled by the larger part of b (Smith 1962), so that |b|^2 neither overflows nor underflows. */
static inline scalar s_div(scalar a, scalar b) {
  if (s_zero(b)) return s_make(0);
  real m = (real)fmax(fabs((double)b.re), fabs((double)b.im));
  scalar c = {b.re / m, b.im / m}, q = s_mul(a, s_conj(c));
  real d = r_fma(c.re, c.re, c.im * c.im);
  return (scalar){q.re / d / m, q.im / d / m};
}
#endif
#if KCL_PARTS == 1
typedef float single; /* a matrix value stored as float */
static inline scalar s_of_single(single a) { return a; }
#else
typedef struct single {
  float re, im;
} single;
static inline scalar s_of_single(single a) { return (scalar){a.re, a.im}; }
#endif
#ifdef KCL_T_m
typedef float element;
static inline element e_zero(void) { return 0; }
static inline element e_add(element a, element b) { return a + b; }
static inline element e_scale(scalar a, element x) { return (element)a * x; }
static inline element e_fma(scalar a, element x, element sum) { return (element)a * x + sum; }
#else
typedef scalar element;
static inline element e_zero(void) { return s_make(0); }
static inline element e_add(element a, element b) { return s_add(a, b); }
static inline element e_scale(scalar a, element x) { return s_mul(a, x); }
static inline element e_fma(scalar a, element x, element sum) { return s_fma(a, x, sum); }
#endif
static inline scalar s_root(scalar a) { return s_make(s_re(a) > 0 ? sqrt((double)s_re(a)) : 0); }
#if KCL_PARTS == 1
static inline scalar s_modulus(scalar a) { return a < 0 ? -a : a; }
#else
/* Divides by the larger part, as kernels do: library functions differ. NaN if a part is. */
static inline scalar s_modulus(scalar a) {
  const real x = a.re < 0 ? -a.re : a.re, y = a.im < 0 ? -a.im : a.im, m = x > y ? x : y,
             t = (x > y ? y : x) / m;
  return s_make(m > 0 && m < INFINITY ? (double)(m * (real)sqrt((double)r_fma(t, t, 1)))
                                      : (double)(x + y));
}
#endif
/* Stands before a loop over scalars. clang does not vectorise loops over complex ones, and would warn. */
#if defined __clang__ && KCL_PARTS == 2
#define KCL_SIMD
#else
#define KCL_SIMD _Pragma("omp simd")
#endif
#endif
