/* No wrong claim: random systems of many kinds, solved through the public interface with random options; each answer is judged
 * by residuals in twice the precision of long double, whose exponents hold products of doubles.
 *
 *   x is finite, and 0 in columns of zeros                          whatever the reason
 *   converged            |r| <= max(tol |b|, atol)                  r = b - A x
 *   least squares        normal residual <= max(tol, atol / |b|)
 *   otherwise            |r| <= |b|, unless the caller's limit ended the solve
 *   the residual that is reported is the true one, and A is as it was
 *
 * SYSTEMS=100000 for a long run, FIRST=n to begin with system n, DEVICE=opencl for another device. */
#include "tests/calls.h"
#include "tests/check.h"
#include <complex.h>
#include <float.h>
#include <math.h>
#include <string.h>
#include <time.h>

enum { MOST = 64, COLUMNS = 3 };
typedef double complex number;

typedef struct matrix {
  int rows, cols;
  bool pairs, narrow; /* complex; float: exponents are an eighth */
  number a[MOST * MOST];
} matrix;

/* ---------------------------------------------------------------- random numbers */

static int below(int n) { return (int)(random_bits() % (uint64_t)n); }
static bool chance(double p) { return (double)(random_bits() >> 11) < p * 0x1p53; }
static double uniform(double from, double to) {
  return from + (to - from) * ((double)(random_bits() >> 11) * 0x1p-53);
}
static double normal(void) { /* Box & Muller 1958 */
  return sqrt(-2 * log(uniform(1e-300, 1))) * cos(uniform(0, 6.283185307179586));
}
static double pick(int count, const double *of) { return of[below(count)]; }
#define PICK(...)                                                                                  \
  pick((int)(sizeof(double[]){__VA_ARGS__} / sizeof(double)), (double[]){__VA_ARGS__})

static number element(const matrix *m) {
  const double re = normal(), im = normal();
  return m->pairs ? re + im * I : re;
}
/* 10^e, within the range of the type. */
static double ten(const matrix *m, double e) { return pow(10, m->narrow ? e / 8 : e); }

/* ---------------------------------------------------------------- kinds of matrices */

static number *at(matrix *m, int i, int j) { return &m->a[i * m->cols + j]; }

static void scatter(matrix *m) {
  const double density = PICK(0.05, 0.2, 0.5, 1);
  for (int k = 0; k < m->rows * m->cols; k++)
    if (chance(density)) m->a[k] = element(m);
}
static void add_diagonal(matrix *m, double d) {
  for (int i = 0; i < m->rows; i++)
    if (i < m->cols) *at(m, i, i) += d;
}
static void multiply_all(matrix *m, double by) {
  for (int k = 0; k < m->rows * m->cols; k++) m->a[k] *= by;
}
static void add_mirror(matrix *m, double sign, bool conjugate) {
  static matrix t;
  t = *m;
  for (int i = 0; i < m->rows; i++)
    for (int j = 0; j < m->cols; j++) {
      const number z = *at(&t, j, i);
      *at(m, i, j) += sign * (conjugate ? conj(z) : z);
    }
}
/* A = A A^H */
static void square(matrix *m) {
  static matrix t;
  t = *m;
  for (int i = 0; i < m->rows; i++)
    for (int j = 0; j < m->rows; j++) {
      number s = 0;
      for (int k = 0; k < m->cols; k++) s += *at(&t, i, k) * conj(*at(&t, j, k));
      *at(m, i, j) = s;
    }
}
/* A = (I - 2 v v^H / |v|^2) A, or from the right */
static void reflect(matrix *m, const number *v, bool right) {
  const int n = m->rows;
  double size = 0;
  for (int i = 0; i < n; i++) size += creal(v[i] * conj(v[i]));
  for (int i = 0; i < n; i++) {
    number s = 0;
    for (int j = 0; j < n; j++) s += right ? *at(m, i, j) * v[j] : conj(v[j]) * *at(m, j, i);
    for (int j = 0; j < n; j++)
      *(right ? at(m, i, j) : at(m, j, i)) -= 2 / size * s * (right ? conj(v[j]) : v[j]);
  }
}
static void rotate(matrix *m, bool mirrored) {
  number v[MOST] = {0}, w[MOST] = {0};
  for (int turn = 0; turn < 2; turn++) {
    for (int i = 0; i < m->rows; i++) v[i] = element(m), w[i] = element(m);
    reflect(m, v, false), reflect(m, mirrored ? v : w, true);
  }
}
static void low_rank(matrix *m, int rank) {
  for (int k = 0; k < rank; k++) {
    number u[MOST] = {0}, v[MOST] = {0};
    for (int i = 0; i < m->rows; i++) u[i] = element(m);
    for (int j = 0; j < m->cols; j++) v[j] = element(m);
    for (int i = 0; i < m->rows; i++)
      for (int j = 0; j < m->cols; j++) *at(m, i, j) += u[i] * v[j];
  }
}
static void dominant(matrix *m) { scatter(m), add_diagonal(m, m->cols); }

static void general(matrix *m) { scatter(m), add_diagonal(m, PICK(0, 1, m->cols)); }
static void positive(matrix *m) {
  scatter(m), square(m), add_diagonal(m, PICK(1e-12, 1e-6, 1, 10));
}
static void negative(matrix *m) {
  scatter(m), square(m), multiply_all(m, -1), add_diagonal(m, -1e-3);
}
static void hermitian(matrix *m) {
  scatter(m), add_mirror(m, 1, true), add_diagonal(m, PICK(0, m->cols));
}
static void skew(matrix *m) { scatter(m), add_mirror(m, -1, true); }
static void shifted(matrix *m) { skew(m), add_diagonal(m, PICK(1e-10, 1e-3, 1, 100)); }
static void symmetric(matrix *m) {
  scatter(m), add_mirror(m, 1, false), add_diagonal(m, PICK(0, 1, m->cols));
}
static void singular(matrix *m) {
  const int lost = 1 + below(2);
  low_rank(m, m->cols > lost ? m->cols - lost : 0);
  if (chance(0.5)) square(m);
  if (chance(0.3))
    for (int k = 0; k < m->rows * m->cols; k++) m->a[k] = rint(creal(m->a[k]));
}
static void near_singular(matrix *m) {
  const double decades = uniform(5, 20);
  for (int i = 0; i < m->rows; i++) *at(m, i, i) = pow(10, -decades * i / m->rows);
  rotate(m, chance(0.5));
}
static void indefinite(matrix *m) {
  for (int i = 0; i < m->rows; i++) *at(m, i, i) = PICK(-1, 1) * ten(m, uniform(-6, 6));
  rotate(m, true), add_mirror(m, 1, true), multiply_all(m, 0.5);
}
static void diagonal(matrix *m) {
  for (int i = 0; i < m->rows; i++) *at(m, i, i) = PICK(-1, 1) * ten(m, uniform(-10, 10));
}
static void zero_rows(matrix *m) {
  dominant(m);
  for (int count = 0; count < 1 + below(3); count++) {
    const int i = below(m->rows);
    for (int j = 0; j < m->cols; j++) *at(m, i, j) = 0;
  }
}
static void zero_columns(matrix *m) {
  chance(0.5) ? dominant(m) : general(m);
  for (int count = 0; count < 1 + below(3); count++) {
    const int j = below(m->cols);
    for (int i = 0; i < m->rows; i++) *at(m, i, j) = 0;
    if (chance(0.2))
      for (int k = 0; k < m->cols; k++) *at(m, j, k) = 0;
  }
}
static void scaled(matrix *m) {
  const double e = PICK(10, 100, 290);
  dominant(m);
  for (int k = 0; k < m->rows * m->cols; k++) m->a[k] *= ten(m, uniform(-e, e));
}
static void scaled_rows(matrix *m) {
  const double e = PICK(5, 100, 290);
  dominant(m);
  for (int i = 0; i < m->rows; i++) {
    const double by = ten(m, uniform(-e, e));
    for (int j = 0; j < m->cols; j++) *at(m, i, j) *= by;
  }
}
static void scaled_columns(matrix *m) {
  const double e = PICK(5, 100, 290);
  dominant(m);
  for (int j = 0; j < m->cols; j++) {
    const double by = ten(m, uniform(-e, e));
    for (int i = 0; i < m->rows; i++) *at(m, i, j) *= by;
  }
}
static void arrow(matrix *m) {
  add_diagonal(m, PICK(1, 3, m->cols));
  for (int k = 0; k < m->rows; k++) *at(m, 0, k) = element(m), *at(m, k, 0) = element(m);
}
static void blocks(matrix *m) {
  for (int i = 0; i < m->rows; i++)
    for (int j = 0; j < m->cols; j++)
      if (i / 4 == j / 4) *at(m, i, j) = element(m);
}
static void denormal(matrix *m) {
  dominant(m), multiply_all(m, m->narrow ? PICK(1e-37, 1e-40, 1e-45)
                                         : PICK(1e-300, 1e-308, 1e-310, 1e-320, 5e-324));
}
static void huge(matrix *m) {
  dominant(m), multiply_all(m, m->narrow ? 1e34 : PICK(1e250, 1e300, 1e305));
}
static void nilpotent(matrix *m) {
  for (int i = 0; i < m->rows; i++)
    for (int j = i + 1; j < m->cols; j++) *at(m, i, j) = element(m);
}
static void triangular(matrix *m) { nilpotent(m), add_diagonal(m, PICK(0, 1e-8, 1, 3)); }
static void permutation(matrix *m) {
  const double size = PICK(1, -1, 1e-5);
  const int by = 1 + below(m->rows);
  for (int i = 0; i < m->rows; i++) *at(m, i, (i + by) % m->cols) = size;
}
static void hilbert(matrix *m) {
  for (int i = 0; i < m->rows; i++)
    for (int j = 0; j < m->cols; j++) *at(m, i, j) = 1.0 / (i + j + 1);
}
static void laplace(matrix *m) {
  const bool neumann = chance(0.5); /* singular */
  for (int i = 0; i < m->rows; i++) {
    *at(m, i, i) = neumann && (i == 0 || i + 1 == m->rows) ? m->rows > 1 : 2;
    if (i) *at(m, i, i - 1) = -1, *at(m, i - 1, i) = -1;
  }
}
/* Rows have the sum 0: x = 1 is in the null space. */
static void graph(matrix *m) {
  for (int i = 0; i < m->rows; i++)
    for (int j = 0; j < m->cols; j++)
      if (i != j && chance(0.3)) *at(m, i, j) = -1 - below(3), *at(m, i, i) -= *at(m, i, j);
}
static void wilkinson(matrix *m) {
  for (int i = 0; i < m->rows; i++)
    for (int j = 0; j < m->cols; j++)
      *at(m, i, j) = i == j || j + 1 == m->cols ? 1 : i > j ? -1 : 0;
}
static void ones(matrix *m) {
  for (int k = 0; k < m->rows * m->cols; k++) m->a[k] = 1;
}
static void rank_one(matrix *m) { low_rank(m, 1); }
static void tiny_diagonal(matrix *m) {
  scatter(m);
  for (int i = 0; i < m->rows; i++) *at(m, i, i) = PICK(1e-30, 1e-16, 0);
}
static void nothing(matrix *m) { (void)m; }
static void not_finite(matrix *m) {
  dominant(m), *at(m, below(m->rows), below(m->cols)) = PICK(INFINITY, -INFINITY, NAN);
}
static void rectangular(matrix *m) { chance(0.7) ? scatter(m) : low_rank(m, 1 + below(3)); }

typedef struct kind {
  const char *name;
  void (*fill)(matrix *m);
} kind;
static const kind kinds[] = {{"general", general},
                             {"positive definite", positive},
                             {"negative definite", negative},
                             {"Hermitian", hermitian},
                             {"skew", skew},
                             {"shifted skew", shifted},
                             {"symmetric", symmetric},
                             {"singular", singular},
                             {"nearly singular", near_singular},
                             {"indefinite", indefinite},
                             {"diagonal", diagonal},
                             {"zero rows", zero_rows},
                             {"zero columns", zero_columns},
                             {"scaled", scaled},
                             {"scaled rows", scaled_rows},
                             {"scaled columns", scaled_columns},
                             {"arrow", arrow},
                             {"blocks", blocks},
                             {"denormal", denormal},
                             {"huge", huge},
                             {"nilpotent", nilpotent},
                             {"triangular", triangular},
                             {"permutation", permutation},
                             {"hilbert", hilbert},
                             {"laplace", laplace},
                             {"graph", graph},
                             {"wilkinson", wilkinson},
                             {"ones", ones},
                             {"rank one", rank_one},
                             {"tiny diagonal", tiny_diagonal},
                             {"zero", nothing},
                             {"not finite", not_finite},
                             {"rectangular", rectangular},
                             {"rectangular", rectangular}};

static const kind *fill_matrix(matrix *m) {
  static const int sizes[] = {1, 1, 2, 3, 4, 5, 7, 8, 12, 16, 20, 31, 33, 40, MOST},
                   count = sizeof sizes / sizeof *sizes;
  const kind *k = &kinds[below(sizeof kinds / sizeof *kinds)];
  memset(m->a, 0, sizeof m->a);
  m->rows = m->cols = sizes[below(count)];
  if (k->fill == rectangular) m->rows = sizes[below(count)];
  k->fill(m);
  return k;
}

/* ---------------------------------------------------------------- systems */

typedef struct system {
  const kind *kind;
  kcl_csr A;
  int64_t row_ptr[MOST + 1];
  int32_t col[MOST * MOST];
  char val[MOST * MOST * sizeof(number)], before[MOST * MOST * sizeof(number)];
  char b[COLUMNS * MOST * sizeof(number)], x[COLUMNS * MOST * sizeof(number)];
  int columns;
  bool guess, finite;
} system_;

static void put(kcl_type t, char *array, int64_t i, number z) {
  const double part[2] = {creal(z), cimag(z)};
  for (int p = 0, w = kcl_type_complex(t) ? 2 : 1; p < w; p++)
    if (t == KCL_S || t == KCL_C)
      ((float *)(void *)array)[w * i + p] = (float)part[p];
    else
      ((double *)(void *)array)[w * i + p] = part[p];
}
static number get(kcl_type t, const char *array, int64_t i) {
  double part[2] = {0, 0};
  for (int p = 0, w = kcl_type_complex(t) ? 2 : 1; p < w; p++)
    part[p] = t == KCL_S || t == KCL_C ? (double)((const float *)(const void *)array)[w * i + p]
                                       : ((const double *)(const void *)array)[w * i + p];
  return part[0] + part[1] * I;
}
static bool finite_number(number z) { return isfinite(creal(z)) && isfinite(cimag(z)); }

/* Zeros are stored now and then. */
static void compress(const matrix *m, system_ *s) {
  const double stored = chance(0.15) ? 0.1 : 0;
  int64_t k = 0;
  for (int i = 0; i < m->rows; s->row_ptr[++i] = k)
    for (int j = 0; j < m->cols; j++) {
      const number z = m->a[i * m->cols + j];
      if (z == 0 && !chance(stored)) continue;
      s->col[k] = j, put(s->A.type, s->val, k, z);
      s->finite = s->finite && finite_number(get(s->A.type, s->val, k++));
    }
  s->A.rows = m->rows, s->A.cols = m->cols, s->A.nnz = s->A.stored = k;
  s->A.row_ptr = s->row_ptr, s->A.col = s->col, s->A.val = s->val;
  s->A.field = m->pairs ? KCL_COMPLEX : KCL_REAL;
  memcpy(s->before, s->val, sizeof s->val);
}

static void fill_b(const matrix *m, system_ *s, int column) {
  const int what = below(100);
  const double by = what < 72 ? 1
                    : what < 80
                        ? (m->narrow ? PICK(1e-30, 1e-40) : PICK(1e-160, 1e-300, 1e-310, 5e-324))
                    : what < 88 ? (m->narrow ? 1e30 : PICK(1e155, 1e300, 2e307))
                                : ten(m, uniform(-200, 200));
  for (int i = 0; i < m->rows; i++) {
    number z = what < 35 ? 0 : what < 38 ? 0 : what < 46 ? i == 0 : element(m);
    for (int j = 0; j < m->cols; j++)
      if (what < 35) z += m->a[i * m->cols + j] * (what < 25 ? 1 : 1 + j % 3);
    if (what == 99 && i == m->rows / 2) z = NAN;
    put(s->A.type, s->b, column * m->rows + i, z * by);
    s->finite = s->finite && finite_number(get(s->A.type, s->b, column * m->rows + i));
  }
}

static void fill_x(const matrix *m, system_ *s) {
  const double size = PICK(1, 1, 1e10, 1e-10);
  s->guess = chance(0.2);
  memset(s->x, 0, sizeof s->x);
  for (int k = 0; k < s->columns * m->cols; k++)
    if (s->guess) put(s->A.type, s->x, k, element(m) * size);
}

static void make_system(system_ *s, matrix *m) {
  static const kcl_type types[] = {KCL_S, KCL_D, KCL_D, KCL_D, KCL_D, KCL_C, KCL_Z, KCL_Z};
  memset(s, 0, sizeof *s);
  s->A.type = types[below(8)], s->finite = true;
  m->pairs = kcl_type_complex(s->A.type), m->narrow = s->A.type == KCL_S || s->A.type == KCL_C;
  s->kind = fill_matrix(m);
  compress(m, s);
  s->columns = chance(0.1) ? COLUMNS : 1;
  for (int j = 0; j < s->columns; j++) fill_b(m, s, j);
  fill_x(m, s);
}

/* ---------------------------------------------------------------- options */

static const char *named(kcl_registry which, double auto_) {
  return chance(auto_) ? NULL : kcl_list(which, below(kcl_list_size(which))).name;
}

static kcl_options random_options(const system_ *s) {
  kcl_options o = kcl_defaults;
  const kcl_type t = s->A.type;
  o.solver = named(KCL_SOLVERS, 0.4), o.precond = named(KCL_PRECONDS, 0.4);
  o.format = chance(0.3) ? "model" : named(KCL_FORMATS, 0.2);
  o.precision = chance(0.85) ? t : t == KCL_S || t == KCL_C ? t + 1 : t - 1;
  o.tol = PICK(-1, -1, 1e-4, 1e-10, 1e-13, 1e-3), o.atol = PICK(0, 0, 0, 0, 1e-10, 1e-3);
  o.max_iter = (int64_t)PICK(0, 0, 7, 50, 500), o.restart = (int)PICK(0, 0, 1, 50);
  o.symmetry = (kcl_symmetry_rule)PICK(0, 0, 0, 1, 2), o.scale = (kcl_scale_rule)PICK(0, 0, 1);
  o.no_direct = chance(0.3), o.mixed = chance(0.1),
  o.nrhs = s->columns > 1 ? (int)PICK(0, 2, 3) : 0;
  return o;
}

static double tolerance(const kcl_options *o) {
  return o->tol >= 0 ? o->tol : o->precision == KCL_S || o->precision == KCL_C ? 1e-5 : 1e-8;
}

/* ---------------------------------------------------------------- residuals */

typedef long double wide;
typedef struct sum {
  wide s, c;
} sum;

/* a b + (s, c) with the errors of product and sum (Dekker 1971; Ogita, Rump & Oishi 2005). */
static void accumulate(sum *q, wide a, wide b) {
  const wide factor = ldexpl(1, (LDBL_MANT_DIG + 1) / 2) + 1;
  const wide fa = factor * a, a1 = fa - (fa - a), a2 = a - a1, fb = factor * b, b1 = fb - (fb - b),
             b2 = b - b1;
  const wide p = a * b, e = ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2;
  const wide t = q->s + p, z = t - q->s;
  q->c += e + ((q->s - (t - z)) + (p - z));
  q->s = t;
}

typedef struct pair {
  wide re, im;
} pair;
static wide size2(pair z) { return z.re * z.re + z.im * z.im; }

typedef struct truth {
  wide r, b, normal;  /* |r|, |b|, the normal residual */
  wide product;       /* the largest |a_ij x_j|, parts of complex numbers added */
  bool finite, clear; /* x; and 0 in columns of zeros */
} truth;

static pair residual_of_row(const system_ *s, const char *b, const char *x, int64_t i) {
  const kcl_type t = s->A.type;
  sum re = {creal(get(t, b, i)), 0}, im = {cimag(get(t, b, i)), 0};
  for (int64_t k = s->row_ptr[i]; k < s->row_ptr[i + 1]; k++) {
    const number a = get(t, s->val, k), v = get(t, x, s->col[k]);
    accumulate(&re, -creal(a), creal(v)), accumulate(&re, cimag(a), cimag(v));
    accumulate(&im, -creal(a), cimag(v)), accumulate(&im, -cimag(a), creal(v));
  }
  return (pair){re.s + re.c, im.s + im.c};
}

static void add_adjoint(const system_ *s, int64_t i, pair r, pair *g) {
  for (int64_t k = s->row_ptr[i]; k < s->row_ptr[i + 1]; k++) {
    const number a = get(s->A.type, s->val, k);
    g[s->col[k]].re += creal(a) * r.re + cimag(a) * r.im;
    g[s->col[k]].im += creal(a) * r.im - cimag(a) * r.re;
  }
}

static wide sum_of_parts(number z) { return (wide)fabs(creal(z)) + (wide)fabs(cimag(z)); }

static truth find_truth(const system_ *s, const char *b, const char *x) {
  const kcl_type t = s->A.type;
  truth q = {.finite = true, .clear = true};
  pair g[MOST] = {{0, 0}}, h[MOST] = {{0, 0}};
  wide gg = 0, hh = 0, aa = 0;
  bool used[MOST] = {false};
  for (int64_t j = 0; j < s->A.cols; j++) q.finite = q.finite && finite_number(get(t, x, j));
  for (int64_t k = 0; k < s->A.nnz; k++) {
    const number a = get(t, s->val, k);
    aa += size2((pair){creal(a), cimag(a)}), used[s->col[k]] = used[s->col[k]] || a != 0;
  }
  for (int64_t i = 0; i < s->A.rows && q.finite; i++) {
    const pair r = residual_of_row(s, b, x, i), z = {creal(get(t, b, i)), cimag(get(t, b, i))};
    q.r += size2(r), q.b += size2(z);
    add_adjoint(s, i, r, g), add_adjoint(s, i, z, h);
  }
  for (int64_t j = 0; j < s->A.cols; j++) {
    gg += size2(g[j]), hh += size2(h[j]);
    q.clear = q.clear && (used[j] || get(t, x, j) == 0);
  }
  for (int64_t k = 0; k < s->A.nnz; k++)
    q.product =
        fmaxl(q.product, sum_of_parts(get(t, s->val, k)) * sum_of_parts(get(t, x, s->col[k])));
  const wide least = fminl(hh, aa * q.r);
  q.normal = gg == 0 ? 0 : sqrtl(gg / least);
  q.r = sqrtl(q.r), q.b = sqrtl(q.b);
  return q;
}

/* ---------------------------------------------------------------- claims */

static int64_t reasons[KCL_LEAST_SQUARES + 1], refused, wrong;
static int number_of_system;

static void words_of(const system_ *s, const kcl_options *o, char *text, size_t size) {
  snprintf(text, size,
           "system %d, %s %dx%d %c->%c, %s %s %s, tol %g atol %g max %d sym %d scale %d restart "
           "%d%s%s%s",
           number_of_system, s->kind->name, (int)s->A.rows, (int)s->A.cols,
           kcl_type_letter(s->A.type), kcl_type_letter(o->precision),
           o->solver ? o->solver : "auto", o->precond ? o->precond : "auto",
           o->format ? o->format : "auto", o->tol, o->atol, (int)o->max_iter, (int)o->symmetry,
           (int)o->scale, o->restart, o->no_direct ? ", no direct" : "", o->mixed ? ", mixed" : "",
           s->guess ? ", guess" : "");
}

/* How far residuals in twice the precision of double may be off (Ogita, Rump & Oishi 2005). */
static wide doubt(const truth *q) { return MOST * (MOST + 2) * 0x1p-104L * q->product; }

/* Infinite where products overflow, which are multiplied by 2^500 where b is tiny (solver/engine/scale.h). */
static bool reported_well(const truth *q, const kcl_report *r) {
  if (q->b == 0) return true;
  if (isinf(r->true_relative_residual) && q->product > 0x1p500L) return q->r > q->b;
  const wide relative = q->r / q->b, said = r->true_relative_residual;
  if (relative > (wide)DBL_MAX) return said > 1;
  return fabsl(relative - said) <= 0.01L * relative + 1e-300L + doubt(q) / q->b;
}

static void judge(const system_ *s, const kcl_options *o, int column, const kcl_report *r) {
  const size_t size = kcl_type_size(s->A.type);
  const truth q = find_truth(s, s->b + (size_t)column * (size_t)s->A.rows * size,
                             s->x + (size_t)column * (size_t)s->A.cols * size);
  const wide tol = tolerance(o), allowed = fmaxl(tol * q.b, o->atol),
             least = q.b > 0 ? fmaxl(tol, o->atol / q.b) : tol;
  const bool told =
      r->reason == KCL_INTERRUPTED || (r->reason == KCL_ITERATION_LIMIT && o->max_iter);
  const char *fault = NULL;
  char words[300];
  reasons[r->reason]++;
  if (!q.finite)
    fault = "x is not finite";
  else if (!q.clear)
    fault = "x is not 0 in a column of zeros";
  else if (!s->finite && (r->converged || r->least_squares))
    fault = "a claim for numbers that are not finite";
  else if (!s->finite)
    return;
  else if (r->converged && !(q.r <= 1.001L * allowed))
    fault = "has not converged";
  else if (r->least_squares && !(q.normal <= 1.001L * least))
    fault = "no least-squares solution";
  else if (!reported_well(&q, r))
    fault = "another residual is reported";
  else if (!r->converged && !r->least_squares && !told && q.r > 1.0000001L * q.b + doubt(&q))
    fault = "0 is nearer";
  wrong += fault != NULL;
  words_of(s, o, words, sizeof words);
  CHECKF(!fault, "%s: %s: %s, |r|/|b| %Lg, reported %g, normal %Lg, reported %g; %s", words,
         kcl_reason_text(r->reason), fault ? fault : "", q.r / q.b, r->true_relative_residual,
         q.normal, r->normal_residual, r->changes ? r->changes : "");
}

/* Other values first, now and then. */
static int set_up(kcl_context *ctx, system_ *s, const kcl_options *o, kcl_solver **solver) {
  const bool updated = s->finite && chance(0.1);
  if (updated)
    for (int k = 0; k < (int)s->A.nnz; k++)
      put(s->A.type, s->val, k, get(s->A.type, s->before, k) * (1 + k % 3));
  int rc = kcl_setup(ctx, &s->A, o, solver);
  memcpy(s->val, s->before, sizeof s->val);
  if (!rc && updated && (rc = update_hierarchy(*solver, &s->A))) kcl_solver_free(solver);
  return rc;
}

/* Names that do not suit A are left to "auto", the solver first. */
static int set_up_somehow(kcl_context *ctx, system_ *s, kcl_options *o, kcl_solver **solver) {
  int rc = set_up(ctx, s, o, solver);
  if (rc && s->finite) o->solver = NULL, rc = set_up(ctx, s, o, solver);
  if (rc && s->finite) o->precond = NULL, o->format = "model", rc = set_up(ctx, s, o, solver);
  return rc;
}

static void solve_one(kcl_context *ctx, system_ *s, kcl_options *o) {
  kcl_solver *solver = NULL;
  kcl_report report[COLUMNS];
  const int rc = set_up_somehow(ctx, s, o, &solver);
  const int64_t k = s->columns;
  if (rc || kcl_solve_many(solver, k, s->b, s->x, report))
    refused++;
  else
    for (int j = 0; j < (int)k; j++) judge(s, o, j, &report[j]);
  CHECKF(!memcmp(s->val, s->before, sizeof s->val), "system %d: A is no longer what it was",
         number_of_system);
  kcl_solver_free(&solver);
}

static int from_environment(const char *name, int otherwise) {
  const char *text = getenv(name);
  return text && *text ? atoi(text) : otherwise;
}

int main(void) {
  static system_ s;
  static matrix m;
  const int count = from_environment("SYSTEMS", 1000), first = from_environment("FIRST", 1);
  const char *device = getenv("DEVICE") ? getenv("DEVICE") : "cpu";
  kcl_context *ctx = NULL;
  if (!strcmp(device, "cpu"))
    setenv("KRYLOCL_CACHE", "", 1); /* nothing is remembered from one system to the next */
  if (kcl_context_create(NULL, 0, &ctx) || kcl_select(ctx, device, 1)) {
    skip("%s: %s", device, kcl_error());
    return check_report();
  }
  for (number_of_system = first; number_of_system < first + count; number_of_system++) {
    random_state = 88172645463325252u ^ ((uint64_t)number_of_system * 0x9E3779B97F4A7C15u);
    for (int i = 0; i < 8; i++) random_bits();
    make_system(&s, &m);
    kcl_options o = random_options(&s);
    const clock_t start = clock();
    solve_one(ctx, &s, &o);
    const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    if (getenv("VERBOSE") && seconds > 0.5) {
      char words[300];
      words_of(&s, &o, words, sizeof words);
      printf("%.2f s: %s\n", seconds, words);
    }
  }
  for (int i = 0; i < KCL_LEAST_SQUARES + 1; i++)
    printf("%8lld %s\n", (long long)reasons[i], kcl_reason_text((kcl_reason)i));
  printf("%8lld refused\n%8lld wrong claims\n", (long long)refused, (long long)wrong);
  kcl_context_free(&ctx);
  return check_report();
}
