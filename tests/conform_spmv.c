/* Storage formats: every format of the registry on every executor, in all four types, on shapes that break
 * products. y = A x, z = A^H y and what a fused stage makes of them, against long double within tol.h's
 * bound; and the identity y^H (A x) = conj(x^H (A^H y)).
 */
#include "tests/conform.h"

/* ---------------------------------------------------------------- shapes */

typedef struct shape {
  const char *name;
  int64_t rows, cols;
  int64_t (*row)(const struct shape *s, int64_t i, int32_t *col); /* columns of row i, ascending */
  int zeros;             /* every so many entries hold an explicit zero; 0: none; -n: n distinct
                            values, by the diagonal and the hundred of rows */
  kcl_symmetry symmetry; /* of the values, where that of the pattern allows it */
} shape;

static int64_t band(const shape *s, int64_t i, int32_t *col, int64_t reach, int64_t step) {
  int64_t n = 0;
  for (int64_t j = i - reach; j <= i + reach; j += step)
    if (j >= 0 && j < s->cols) col[n++] = (int32_t)j;
  return n;
}
static int64_t tridiagonal(const shape *s, int64_t i, int32_t *col) {
  return band(s, i, col, 1, 1);
}
static int64_t no_diagonal(const shape *s, int64_t i, int32_t *col) {
  return band(s, i, col, 1, 2);
}
static int64_t far_band(const shape *s, int64_t i, int32_t *col) { return band(s, i, col, 57, 19); }
static int64_t nothing(const shape *s, int64_t i, int32_t *col) {
  return (void)s, (void)i, (void)col, 0;
}
static int64_t every_third(const shape *s, int64_t i, int32_t *col) {
  return i % 3 == 1 ? tridiagonal(s, i, col) : 0;
}
static int64_t dense_row(const shape *s, int64_t i, int32_t *col) {
  if (i != s->rows / 2) return col[0] = (int32_t)(i % s->cols), 1;
  for (int64_t j = 0; j < s->cols; j++) col[j] = (int32_t)j;
  return s->cols;
}
static int64_t dense_column(const shape *s, int64_t i, int32_t *col) {
  int32_t j = (int32_t)(s->cols / 2), d = (int32_t)(i % s->cols);
  col[0] = j < d ? j : d, col[1] = j < d ? d : j;
  return j == d ? 1 : 2;
}
/* Each column with probability `share` of 256. */
static int64_t some(const shape *s, int32_t *col, uint64_t share) {
  int64_t n = 0;
  for (int64_t j = 0; j < s->cols; j++)
    if (random_bits() >> 56 < share) col[n++] = (int32_t)j;
  return n;
}
static int64_t random_row(const shape *s, int64_t i, int32_t *col) {
  return (void)i, some(s, col, 12);
}
static int64_t all_of_it(const shape *s, int64_t i, int32_t *col) {
  return (void)i, some(s, col, 256);
}
static int64_t powerlaw(const shape *s, int64_t i, int32_t *col) {
  return some(s, col, (uint64_t)(256 / (1 + i % 64)) / 2);
}

/* Patterns that are their own mirror images: a coin for each pair of row and column; one dense row and column. */
static int64_t pairs(const shape *s, int64_t i, int32_t *col) {
  int64_t n = 0;
  for (int64_t j = 0; j < s->cols; j++) {
    uint64_t a = (uint64_t)(i < j ? i : j), b = (uint64_t)(i < j ? j : i);
    if (((a * 1000003 + b) * 0x9E3779B97F4A7C15u) >> 56 < 20) col[n++] = (int32_t)j;
  }
  return n;
}
static int64_t arrow(const shape *s, int64_t i, int32_t *col) {
  return i == s->rows / 2 ? dense_row(s, i, col) : dense_column(s, i, col);
}

static const shape shapes[] = {{"empty rows", 100, 100, every_third, 0, KCL_GENERAL},
                               {"wide band", 50, 83, tridiagonal, 0, KCL_GENERAL},
                               {"explicit zeros", 90, 90, far_band, 3, KCL_GENERAL},
                               {"dense row", 70, 70, dense_row, 0, KCL_GENERAL},
                               {"full", 33, 33, all_of_it, 0, KCL_GENERAL},
                               {"symmetric pairs", 60, 60, pairs, 0, KCL_SYMMETRIC},
                               {"Hermitian band", 90, 90, far_band, 3, KCL_HERMITIAN},
                               {"few values", 90, 83, far_band, -3, KCL_GENERAL},
                               {"one value", 70, 75, every_third, -1, KCL_GENERAL},
                               /* the rest is too much for a simulator */
                               {"1 x 1", 1, 1, tridiagonal, 0, KCL_GENERAL},
                               {"no entries", 40, 40, nothing, 0, KCL_GENERAL},
                               {"tridiagonal", 129, 129, tridiagonal, 0, KCL_GENERAL},
                               {"zero diagonal", 65, 65, no_diagonal, 0, KCL_GENERAL},
                               {"dense column", 150, 150, dense_column, 0, KCL_GENERAL},
                               {"random", 300, 300, random_row, 0, KCL_GENERAL},
                               {"wide", 37, 260, random_row, 0, KCL_GENERAL},
                               {"tall", 260, 37, random_row, 0, KCL_GENERAL},
                               {"power law", 256, 256, powerlaw, 0, KCL_GENERAL},
                               {"long dense row", 3000, 3000, dense_row, 0, KCL_GENERAL},
                               {"one long row", 1, 5000, dense_row, 0, KCL_GENERAL},
                               {"one long column", 5000, 1, dense_row, 0, KCL_GENERAL},
                               {"large power law", 2048, 2048, powerlaw, 0, KCL_GENERAL},
                               {"Hermitian pairs", 331, 331, pairs, 0, KCL_HERMITIAN},
                               {"symmetric arrow", 700, 700, arrow, 5, KCL_SYMMETRIC},
                               {"symmetric band", 70001, 70001, far_band, 0, KCL_SYMMETRIC},
                               {"300 values", 2048, 2048, powerlaw, -300, KCL_GENERAL},
                               {"few values, random places", 300, 310, random_row, -2, KCL_GENERAL},
                               {"stencil", 70001, 70003, far_band, -2, KCL_GENERAL},
                               {"70001 rows", 70001, 70001, tridiagonal, 0, KCL_GENERAL},
                               {"70001 rows, far band", 70001, 70003, far_band, 7, KCL_GENERAL}};
enum { SHAPES = sizeof shapes / sizeof *shapes, SMALL_SHAPES = 9 };

static number value_at(const kcl_csr *A, int64_t k) {
  double z[2];
  kcl_element(A->type, A->val, k, z);
  return CMPLX(z[0], z[1]);
}

/* The part beyond the diagonal becomes the mirror image of that before it. */
static void mirror(const kcl_csr *A, number *v, bool conjugated) {
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
      int64_t m = A->row_ptr[A->col[k]];
      while (A->col[m] != i) m++;
      if (m == k && conjugated) v[k] = creal(v[k]);
      if (A->col[k] < i) v[m] = conjugated ? conj(v[k]) : v[k];
    }
}

/* Few values repeat along diagonals. In every other shape they are no floats. */
static void fill_values(kcl_csr *A, const shape *s) {
  number *v = random_vector(A->type, A->nnz);
  for (int64_t k = 0; (s - shapes) % 2 && k < A->nnz; k++) v[k] += ldexp(1, -30);
  for (int64_t i = 0; s->zeros < 0 && i < A->rows; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      v[k] = v[(A->col[k] - i + i / 100 + A->rows) % -s->zeros % A->nnz];
  for (int64_t k = 0; s->zeros > 0 && k < A->nnz; k += s->zeros) v[k] = 0;
  if (s->symmetry) mirror(A, v, s->symmetry == KCL_HERMITIAN);
  kcl_copy(A->type, A->val, KCL_Z, v, A->nnz, 1.0);
  free(v);
}

/* Twice over the rows, for their lengths and for their columns, with the same random numbers. */
static kcl_csr *make(kcl *ctx, const shape *s, kcl_type t) {
  int32_t *col = malloc((size_t)(s->cols + 8) * sizeof *col);
  kcl_csr *A = NULL;
  uint64_t before = random_state;
  int64_t nnz = 0;
  for (int64_t i = 0; i < s->rows; i++) nnz += s->row(s, i, col);
  if (kcl_csr_create(ctx, s->rows, s->cols, nnz, t, &A)) exit(1);
  random_state = before;
  for (int64_t i = 0; i < s->rows; i++) {
    int64_t n = s->row(s, i, col);
    memcpy(A->col + A->row_ptr[i], col, (size_t)n * sizeof *col);
    A->row_ptr[i + 1] = A->row_ptr[i] + n;
  }
  fill_values(A, s);
  free(col);
  return A;
}

/* ---------------------------------------------------------------- the reference */

/* y = A x or A^H x, with the sums of moduli and the number of terms that the bounds need. */
typedef struct sums {
  exact *y;
  long double *size; /* (|A| |x|)_i */
  int64_t *terms;
} sums;

static sums reference(const kcl_csr *A, const number *x, bool adjoint) {
  size_t n = (size_t)(adjoint ? A->cols : A->rows);
  sums r = {calloc(n, sizeof *r.y), calloc(n, sizeof *r.size), calloc(n, sizeof *r.terms)};
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
      int64_t to = adjoint ? A->col[k] : i, from = adjoint ? i : A->col[k];
      exact a = value_at(A, k), term = (adjoint ? conjl(a) : a) * x[from];
      r.y[to] += term, r.size[to] += modulus(a) * modulus(x[from]), r.terms[to]++;
    }
  return r;
}

static void sums_free(sums *r) { free(r->y), free(r->size), free(r->terms); }

/* ---------------------------------------------------------------- one format on one matrix */

/* Refusals by format and executor are counted, and said once in the end. */
enum { MOST_FORMATS = 64 };
static int refusals[2][MOST_FORMATS];
static char refusal_text[2][MOST_FORMATS][200];

static void note_refusal(const place *p, int format, const char *text) {
  int i = (int)(p - places);
  if (!refusals[i][format]++)
    snprintf(refusal_text[i][format], sizeof refusal_text[i][format], "%s", text);
}

static void say_refusals(void) {
  for (int i = 0; i < place_count; i++)
    for (int f = 0; f < kcl_list_size(KCL_FORMATS); f++) {
      if (!refusals[i][f]) continue;
      skip("%s on %s: refused for %d combinations of shape and type, as one %s",
           kcl_list(KCL_FORMATS, f).name, places[i].name, refusals[i][f], refusal_text[i][f]);
      skipped += refusals[i][f] - 1;
    }
}

typedef struct trial {
  const place *p;
  const kcl_csr *A;
  const shape *s;
  const kcl_format *f;
  kcl_matrix *m, *mh;
  box *b;
  kcl_vec x, y, u, z, xx, dots, v; /* z = A^H v; xx = 2 z; y = A x; u = h^H e y + v, h^H e = -2.5 */
  kcl_vec e, h;       /* one stage less than with a vector of one element: one kernel */
  kcl_stats stats[2]; /* of A, A^H */
  number *xv, *vv;
  sums ax, av; /* what A x and A^H v should be */
} trial;

static void compare(const trial *r, kcl_vec v, const sums *want, double factor,
                    const number *plus_v, double shift, const char *what) {
  kcl_type t = r->A->type;
  number *got = take(r->b, v);
  int64_t bad = -1, n = r->b->k->vector[v].n;
  for (int64_t i = 0; i < n && bad < 0; i++) {
    exact w = factor * want->y[i] + (plus_v ? shift * (exact)plus_v[i] : 0);
    double bound = fabs(factor) * tol_product(t, (double)want->terms[i], (double)want->size[i]);
    if (factor != 1)
      bound += tol_lincomb(t, fabs(factor) * (double)modulus(want->y[i]) +
                                  (plus_v ? modulus(plus_v[i]) : 0));
    if (!(modulus(got[i] - w) <= bound)) bad = i;
  }
  CHECKF(bad < 0, "%s: %s, %s, %s, type %c: element %lld is %g %+gi", what, r->f->name, r->s->name,
         r->p->name, kcl_type_letter(t), (long long)bad, bad < 0 ? 0 : creal(got[bad]),
         bad < 0 ? 0 : cimag(got[bad]));
  free(got);
}

/* v^H (A x) = conj(x^H (A^H v)), within what both products may be wrong. */
static void compare_adjoint(const trial *r, const sums *y, const sums *z) {
  kcl_type t = r->A->type;
  number *ax = take(r->b, r->y), *av = take(r->b, r->z);
  exact left = 0, right = 0;
  double bound = 0;
  for (int64_t i = 0; i < r->A->rows; i++) {
    left += conjl(r->vv[i]) * ax[i];
    bound += modulus(r->vv[i]) * tol_product(t, (double)y->terms[i], (double)y->size[i]);
  }
  for (int64_t j = 0; j < r->A->cols; j++) {
    right += conjl(r->xv[j]) * av[j];
    bound += modulus(r->xv[j]) * tol_product(t, (double)z->terms[j], (double)z->size[j]);
  }
  CHECKF(modulus(left - conjl(right)) <= bound, "adjoint: %s, %s, %s, type %c", r->f->name,
         r->s->name, r->p->name, kcl_type_letter(t));
  free(ax), free(av);
}

static void compare_dot(const trial *r) {
  number *y = take(r->b, r->y), got = take_one(r->b, r->dots);
  exact want = 0;
  long double size = 0;
  for (int64_t i = 0; i < r->A->rows; i++)
    want += conjl(y[i]) * r->vv[i], size += modulus(y[i]) * modulus(r->vv[i]);
  CHECKF(modulus(got - want) <= tol_dot(r->A->type, (double)r->A->rows, (double)size),
         "fused dot: %s, %s, %s, type %c: %g %+gi", r->f->name, r->s->name, r->p->name,
         kcl_type_letter(r->A->type), creal(got), cimag(got));
  free(y);
}

static void record(trial *r) {
  kcl_program *k = r->b->k;
  kcl_slot s = kcl_scalar(k), d = kcl_scalar(k);
  k->A = r->m, k->AH = r->mh;
  r->x = kcl_vector_of(k, r->A->cols), r->z = kcl_vector_of(k, r->A->cols),
  r->xx = kcl_vector_of(k, r->A->cols);
  r->e = kcl_vector_of(k, r->A->cols), r->h = kcl_vector_of(k, r->A->cols);
  r->y = kcl_vector(k), r->v = kcl_vector(k), r->u = kcl_vector(k);
  kcl_apply(k, r->z, r->mh, r->v);
  kcl_lincomb(k, r->xx, (kcl_coef){.constant = 2, .slot = -1}, r->z, KCL_ZERO, r->z);
  kcl_dot(k, s, r->h, r->e);
  kcl_apply(k, r->y, r->m, r->x);
  kcl_lincomb(k, r->u, plus(s), r->y, KCL_ONE, r->v);
  kcl_dot(k, d, r->y, r->v);
  r->dots = show(r->b, d);
}

static void run_trial(trial *r) {
  number *nan_y = filled(r->A->rows, NAN), *nan_z = filled(r->A->cols, NAN);
  number *e = filled(r->A->cols, 0);
  r->b = box_new(r->p, r->A->type, r->A->rows);
  record(r);
  if (box_ready(r->b)) {
    give(r->b, r->x, r->xv), give(r->b, r->v, r->vv), give(r->b, r->y, nan_y),
        give(r->b, r->z, nan_z);
    e[r->A->cols - 1] = 1, give(r->b, r->h, e);
    e[r->A->cols - 1] = -2.5, give(r->b, r->e, e);
    go_start(r->b);
    compare(r, r->y, &r->ax, 1, NULL, 0, "A x");
    compare(r, r->z, &r->av, 1, NULL, 0, "A^H v");
    compare(r, r->u, &r->ax, -2.5, r->vv, 1, "fused -2.5 A x + v");
    compare(r, r->xx, &r->av, 2, NULL, 0, "fused 2 A^H v");
    compare_dot(r);
    compare_adjoint(r, &r->ax, &r->av);
  }
  box_free(r->b), free(nan_y), free(nan_z), free(e);
}

/* The host's own product, which certificates rest on: correct to the last bit or so. */
static void test_host_product(const kcl_csr *A, const shape *s, const number *xv,
                              const number *vv) {
  kcl_type t = kcl_type_complex(A->type) ? KCL_Z : KCL_D;
  sums y = reference(A, xv, false);
  double *x = malloc((size_t)A->cols * sizeof *xv), *b = malloc((size_t)A->rows * sizeof *xv);
  double *got = malloc((size_t)A->rows * sizeof *xv);
  kcl_copy(t, x, KCL_Z, xv, A->cols, 1.0), kcl_copy(t, b, KCL_Z, vv, A->rows, 1.0);
  kcl_csr_product(A, x, b, got);
  int64_t bad = -1;
  for (int64_t i = 0; i < A->rows && bad < 0; i++) {
    double pair[2];
    kcl_element(t, got, i, pair);
    exact want = vv[i] - y.y[i]; /* exact: multiples of 2^-12 below 2^16 */
    if (!(modulus(CMPLX(pair[0], pair[1]) - want) <= 2 * ldexp(1, -53) * modulus(want))) bad = i;
  }
  CHECKF(bad < 0, "kcl_csr_product: %s, type %c: row %lld", s->name, kcl_type_letter(A->type),
         (long long)bad);
  sums_free(&y), free(x), free(b), free(got);
}

/* KRYLOCL_FORMATS=ell,sell: these only. */
static bool asked_for(const char *format) {
  const char *list = getenv("KRYLOCL_FORMATS"), *at = list ? strstr(list, format) : NULL;
  size_t n = strlen(format);
  while (at && !((at == list || at[-1] == ',') && (!at[n] || at[n] == ',')))
    at = strstr(at + 1, format);
  return !list || at;
}

/* A name among them that is none would test nothing. */
static void check_names(void) {
  const char *list = getenv("KRYLOCL_FORMATS");
  for (const char *s = list; s && *s; s += strcspn(s, ","), s += *s == ',') {
    const size_t n = strcspn(s, ",");
    bool there = false;
    for (int f = 0; f < kcl_list_size(KCL_FORMATS); f++) {
      const char *name = kcl_list(KCL_FORMATS, f).name;
      there = there || (strlen(name) == n && !strncmp(name, s, n));
    }
    CHECKF(there, "KRYLOCL_FORMATS: there is no format '%.*s'", (int)n, s);
  }
}

static bool no_images(void) {
  const char *no = getenv("KRYLOCL_NO_IMAGES");
  return no && *no;
}

static bool met[MOST_FORMATS];

static void test_formats(const place *p, trial r, const kcl_csr *AH) {
  const shape *s = r.s;
  kcl_type t = r.A->type;
  r.p = p;
  for (int f = 0; f < kcl_list_size(KCL_FORMATS); f++) {
    kcl_cost cost, cost_h;
    const char *name = kcl_list(KCL_FORMATS, f).name;
    if (!asked_for(name)) continue;
    CHECK(kcl_format_find(p->ctx, name, t, &r.f) == KCL_OK);
    if (r.f->image && no_images()) continue;  /* tests/oclgrind.sh says why */
    bool picky = r.f->refuses && s->symmetry; /* few shapes fit it: all types */
    if (p->ctx->opencl && !picky && !turn_of(t, f % 2 + 2 * (int)(s - shapes))) continue;
    if (s->rows > 10000 && !p->ctx->opencl && !turn_of(t, f + (int)(s - shapes))) continue;
    if (few() ? met[f] || s - shapes < f % 4
              : small() && !picky && (s->symmetry || (f + (s - shapes)) % 3))
      continue;
    CHECK(kcl_format_cost(p->ctx, r.stats, t, name, &cost) == KCL_OK);
    CHECKF(!cost.refusal || cost.bytes_stored > 1e6 || !strstr(cost.refusal, "pads"),
           "%s, %s: refused %g bytes", name, s->name, cost.bytes_stored);
    CHECKF(!s->symmetry || !cost.refusal || !strstr(name, "-sym"), "%s, %s: %s", name, s->name,
           cost.refusal);
    if (cost.refusal) {
      note_refusal(p, f, cost.refusal);
      continue;
    }
    CHECK(kcl_format_cost(p->ctx, r.stats + 1, t, name, &cost_h) == KCL_OK);
    if (cost_h.refusal) {
      note_refusal(p, f, cost_h.refusal);
      continue;
    }
    met[f] = true;
    if (CHECKF(kcl_matrix_build(p->ctx, r.f, r.A, &r.m) == KCL_OK &&
                   kcl_matrix_build(p->ctx, r.f, AH, &r.mh) == KCL_OK,
               "%s, %s: %s", name, s->name, kcl_error(p->ctx)))
      run_trial(&r);
    kcl_matrix_free(&r.m), kcl_matrix_free(&r.mh);
  }
}

/* One matrix and one reference for all executors and formats. */
static void test_shape(const shape *s, kcl_type t) {
  kcl *ctx = places[0].ctx;
  kcl_csr *A = make(ctx, s, t), *AH = NULL;
  trial r = {.A = A, .s = s, .xv = random_vector(t, s->cols), .vv = random_vector(t, s->rows)};
  CHECK(kcl_csr_adjoint(ctx, A, &AH) == KCL_OK && kcl_csr_stats(ctx, A, r.stats) == KCL_OK &&
        kcl_csr_stats(ctx, AH, r.stats + 1) == KCL_OK);
  r.ax = reference(A, r.xv, false), r.av = reference(A, r.vv, true);
  test_host_product(A, s, r.xv, r.vv);
  for (int p = 0; p < place_count; p++)
    if (can(&places[p], t)) test_formats(&places[p], r, AH);
  free(r.xv), free(r.vv), sums_free(&r.ax), sums_free(&r.av);
  kcl_csr_free(&A), kcl_csr_free(&AH);
}

int main(void) {
  open_places(), check_names();
  for (kcl_type t = KCL_S; t <= KCL_Z; t++)
    for (int s = 0; place_count && wanted(t) && s < (small() ? SMALL_SHAPES : SHAPES); s++)
      test_shape(&shapes[s], t);
  say_refusals();
  close_places();
  return check_report();
}
