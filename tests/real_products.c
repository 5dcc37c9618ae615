/* Real matrices (real.h): the product of every one, and of its adjoint, in every format that fits, in double and
 * in single precision, on every executor, against the compensated product on the CPU within tol.h's bound. */
#include "tests/real.h"

typedef struct product {
  const kcl_csr *A; /* in the type of the product */
  number *x;
  double *y, *size; /* what A x is, pairs where A is complex; (|A| |x|)_i */
} product_;

static product_ reference(const kcl_csr *A) {
  bool pairs = kcl_type_complex(A->type);
  size_t bytes = pairs ? sizeof(number) : sizeof(double);
  product_ r = {A, random_vector(A->type, A->cols), calloc((size_t)A->rows + 1, bytes),
                calloc((size_t)A->rows + 1, sizeof(double))};
  double *x = calloc((size_t)A->cols + 1, bytes);
  for (int64_t j = 0; j < A->cols; j++) r.x[j] += random_of(A->type) / 4096; /* still a float */
  kcl_copy(pairs ? KCL_Z : KCL_D, x, KCL_Z, r.x, A->cols, 1);
  kcl_csr_product(A, x, NULL, r.y);
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      r.size[i] += kcl_abs(A->type, A->val, k) * cabs(r.x[A->col[k]]);
  free(x);
  return r;
}

static void release(product_ *r) { free(r->x), free(r->y), free(r->size); }

/* The largest share of its bound that an element is wrong by. The compensated product is rounded once. */
static double share(const product_ *r, const number *y) {
  double most = 0;
  for (int64_t i = 0; i < r->A->rows; i++) {
    double z[2], bound = tol_product(r->A->type, (double)(r->A->row_ptr[i + 1] - r->A->row_ptr[i]),
                                     r->size[i]);
    kcl_element(kcl_wide_type(r->A->type), r->y, i, z);
    bound += tol_u(KCL_D) * hypot(z[0], z[1]);
    double error = cabs(y[i] - CMPLX(z[0], z[1])), part = bound > 0 ? error / bound : error;
    if (part > most || isnan(part)) most = part;
  }
  return most;
}

/* That share of A x in a format; negative where it is refused. */
static double multiply(const place *p, const product_ *r, const kcl_stats *stats,
                       const char *name) {
  const kcl_format *f;
  kcl_stored *m = NULL;
  kcl_cost cost;
  double worst = NAN;
  if (!CHECK(!kcl_format_find(p->ctx, name, r->A->type, &f) &&
             !kcl_format_cost(p->ctx, stats, r->A->type, name, &cost)))
    return NAN;
  if (cost.refusal) return -1;
  if (!CHECKF(!kcl_stored_build(p->ctx, f, r->A, &m), "%s: %s", name, kcl_error())) return NAN;
  box *b = box_new(p, r->A->type, r->A->rows);
  kcl_vec x = kcl_vector_of(b->k, r->A->cols, "x"), y = kcl_vector(b->k, "y");
  b->k->A = m;
  kcl_apply(b->k, y, m, x);
  if (box_ready(b)) {
    number *nan = filled(r->A->rows, NAN), *got;
    give(b, x, r->x), give(b, y, nan), go_start(b);
    got = take(b, y);
    worst = share(r, got);
    free(nan), free(got);
  }
  box_free(b), kcl_stored_free(&m);
  return worst;
}

/* One line: A or A^H in all formats. */
static void in_formats(const place *p, const entry *e, const kcl_csr *A, const char *what) {
  product_ r = reference(A);
  kcl_stats stats;
  char refused[600] = "";
  double worst = 0;
  int done = 0;
  CHECK(!kcl_csr_stats(p->ctx, A, &stats));
  for (int f = 0; f < kcl_list_size(KCL_FORMATS); f++) {
    const char *name = kcl_list(KCL_FORMATS, f).name;
    if (p->ctx->opencl && !everything && (f + e->rows) % (thorough() ? 3 : 9))
      continue; /* compiled */
    double part = multiply(p, &r, &stats, name);
    size_t used = strlen(refused);
    if (part < 0) snprintf(refused + used, sizeof refused - used, " %s", name);
    if (part < 0) continue;
    CHECKF(part <= 1, "%s: %s in %s, type %c, %s: %g of the bound", e->name, what, name,
           kcl_type_letter(A->type), p->name, part);
    worst = fmax(worst, part), done++;
  }
  printf("%-18s %8lld %8lld %9lld %-6s %c %-3s %2d formats, %.2f of the bound%s%s\n", e->name,
         (long long)e->rows, (long long)e->cols, (long long)e->nnz, p->name,
         kcl_type_letter(A->type), what, done, worst, refused[0] ? "; refused:" : "", refused);
  fflush(stdout);
  release(&r);
}

static void test_type(const place *p, const entry *e, const kcl_csr *A, kcl_type t) {
  kcl_csr *T = NULL, *H = NULL;
  if (CHECKF(!kcl_csr_convert(p->ctx, A, t, &T) && !kcl_csr_adjoint(p->ctx, T, &H), "%s: %s",
             e->name, kcl_error()))
    in_formats(p, e, T, "A"), in_formats(p, e, H, "A^H");
  kcl_csr_free(&T), kcl_csr_free(&H);
}

static void test_matrix(const entry *e) {
  kcl_csr *A = NULL;
  if (CHECKF(!kcl_csr_read(places[0].ctx, path_of(e->name, ".mtx.gz"), &A), "%s", kcl_error()))
    for (int p = 0; p < place_count; p++)
      for (int single = 0; single < 2; single++) {
        kcl_type t =
            kcl_type_complex(A->type) ? (single ? KCL_C : KCL_Z) : (single ? KCL_S : KCL_D);
        if (can(&places[p], t) && half_of(&places[p], t, (int)(e->rows / 2)))
          test_type(&places[p], e, A, t);
      }
  kcl_csr_free(&A);
}

int main(int argc, char **argv) { return for_each_matrix(argc, argv, test_matrix); }
