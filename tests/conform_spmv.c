/* Storage formats: every format of the registry on every executor, in all four types, on difficult matrix shapes.
 * y = A x, z = A^H v and fused operations on them, compared with long double within the bounds of tol.h; and the
 * identity v^H (A x) = conj(x^H (A^H v)).
 */
#include "tests/shapes.h"

/* ---------------------------------------------------------------- the reference */

/* y = A x or A^H x, with the sums of moduli and the numbers of terms for the bounds. */
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

/* Refusals by format and executor are counted and reported at the end. */
enum { MOST_FORMATS = 64 };
static int refusals[2][MOST_FORMATS];
static char refusal_text[2][MOST_FORMATS][200];

static void count_refusal(const place *p, int format, const char *text) {
  int i = (int)(p - places);
  if (!refusals[i][format]++)
    snprintf(refusal_text[i][format], sizeof refusal_text[i][format], "%s", text);
}

static void report_refusals(void) {
  for (int i = 0; i < place_count; i++)
    for (int f = 0; f < kcl_list_size(KCL_FORMATS); f++) {
      if (!refusals[i][f]) continue;
      skip("%s on %s: refused for %d combinations of shape and type, for example: %s",
           kcl_list(KCL_FORMATS, f).name, places[i].name, refusals[i][f], refusal_text[i][f]);
      skipped += refusals[i][f] - 1;
    }
}

typedef struct trial {
  const place *p;
  const kcl_csr *A;
  const shape *s;
  const kcl_format *f;
  kcl_stored *m, *mh;
  box *b;
  kcl_vec x, y, u, z, xx, dots, v; /* z = A^H v; xx = 2 z; y = A x; u = h^H e y + v, h^H e = -2.5 */
  kcl_vec e, h;       /* instead of vectors of one element: saves a stage and its kernel */
  kcl_stats stats[2]; /* of A, A^H */
  number *xv, *vv;
  sums ax, av; /* the references of A x and A^H v */
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

/* v^H (A x) = conj(x^H (A^H v)), within the error bounds of both products. */
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
  kcl_slot s = kcl_scalar(k, "s"), d = kcl_scalar(k, "d");
  k->A = r->m, k->AH = r->mh;
  r->x = kcl_vector_of(k, r->A->cols, "x"), r->z = kcl_vector_of(k, r->A->cols, "z"),
  r->xx = kcl_vector_of(k, r->A->cols, "xx");
  r->e = kcl_vector_of(k, r->A->cols, "e"), r->h = kcl_vector_of(k, r->A->cols, "h");
  r->y = kcl_vector(k, "y"), r->v = kcl_vector(k, "v"), r->u = kcl_vector(k, "u");
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

/* The bytes of build are those of size. The cpu executor keeps positions in 8 bytes, which size counts with 4. */
static void compare_bytes(const place *p, const kcl_stored *m, double predicted, const shape *s) {
  double bytes = kcl_stored_bytes(m);
  for (int i = 0; i < m->arrays && !p->ctx->opencl; i++)
    if (m->array[i].kind == KCL_INT64) bytes -= 4 * (double)m->array[i].count;
  CHECKF(m->format->size_is_bound ? bytes <= predicted : bytes == predicted,
         "bytes: %s, %s, %s, type %c: %g, predicted %g", m->format->name, s->name, p->name,
         kcl_type_letter(m->type), bytes, predicted);
}

/* The host's compensated product, the basis of certificates: correct to about the last bit. */
static void test_host_product(const kcl_csr *A, const shape *s, const number *xv,
                              const number *vv) {
  kcl_type t = kcl_wide_type(A->type);
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

static bool no_images(void) {
  const char *no = getenv("KRYLOCL_NO_IMAGES");
  return no && *no;
}

/* By default a format meets every third of the largest shapes, unless formats are named. */
static bool large_by_turns(void) {
  const char *formats = getenv("KRYLOCL_FORMATS");
  return !thorough() && !(formats && *formats);
}

static bool met[MOST_FORMATS];

static void test_formats(const place *p, trial r, const kcl_csr *AH) {
  const shape *s = r.s;
  kcl_type t = r.A->type;
  r.p = p;
  for (int f = 0; f < kcl_list_size(KCL_FORMATS); f++) {
    kcl_cost cost, cost_h;
    const char *name = kcl_list(KCL_FORMATS, f).name;
    if (!wanted_format(name)) continue;
    if (s->rows > 10000 && large_by_turns() && (f + (int)(s - shapes)) % 3) continue;
    CHECK(kcl_format_find(p->ctx, name, t, &r.f) == KCL_OK);
    if (r.f->image && no_images()) continue;  /* see tests/oclgrind.sh */
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
      count_refusal(p, f, cost.refusal);
      continue;
    }
    CHECK(kcl_format_cost(p->ctx, r.stats + 1, t, name, &cost_h) == KCL_OK);
    if (cost_h.refusal) {
      count_refusal(p, f, cost_h.refusal);
      continue;
    }
    met[f] = true;
    if (CHECKF(kcl_stored_build(p->ctx, r.f, r.A, &r.m) == KCL_OK &&
                   kcl_stored_build(p->ctx, r.f, AH, &r.mh) == KCL_OK,
               "%s, %s: %s", name, s->name, kcl_error())) {
      compare_bytes(p, r.m, cost.bytes_stored, s);
      compare_bytes(p, r.mh, cost_h.bytes_stored, s);
      run_trial(&r);
      r.m->uneven = r.mh->uneven = !p->ctx->opencl && strcmp(name, "csr-scalar") == 0;
      if (r.m->uneven) run_trial(&r);
    }
    kcl_stored_free(&r.m), kcl_stored_free(&r.mh);
  }
}

/* One matrix and one reference for all executors and formats. */
static void test_shape(const shape *s, kcl_type t) {
  kcl_context *ctx = places[0].ctx;
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

/* With sanitizers many rows in one type each: the host's code is the same for few. */
int main(void) {
  open_places();
  for (kcl_type t = KCL_S; t <= KCL_Z; t++)
    for (int s = 0; place_count && wanted(t) && s < (small() ? SMALL_SHAPES : SHAPES); s++)
      if (turn_of(t, s) || shapes[s].rows <= 2000 || !sanitized()) test_shape(&shapes[s], t);
  report_refusals();
  close_places();
  return check_report();
}
