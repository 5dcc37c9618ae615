/* Operators: y = alpha A x + beta y in every format, on every executor and layout, in all four types, for A and A^H, one column
 * and several, arrays and OpenCL buffers, alpha and beta 0, 1, -1 and others. Compared with long double within the bounds of
 * tol.h. What must not be read is NaN: y if beta is 0, x if alpha is, and what lies behind x. Then the operator as an
 * object: several at once, orders of freeing, queues of the caller, solvers that share its matrix.
 */
#include "solver/solver.h"
#include "tests/calls.h"
#include "tests/shapes.h"
#include <time.h>

enum { GUARD = 70, MOST_COLUMNS = 3 }; /* numbers behind x and y, more than a pack holds */

static place spots[3];
static int spot_count;

/* The native executor, the first OpenCL device, and that in the layout for GPUs. */
static void open_spots(void) {
  open_places();
  for (int i = 0; i < place_count; i++) spots[spot_count++] = places[i];
  if (place_count < 2) return;
  place *p = &spots[spot_count];
  p->name = "opencl, layout for GPUs";
  setenv("KRYLOCL_LAYOUT", "gpu", 1);
  if (CHECK(!kcl_context_create(NULL, 0, &p->ctx)) && CHECK(!kcl_select(p->ctx, "opencl", 0)))
    spot_count++;
  unsetenv("KRYLOCL_LAYOUT");
}

static void close_spots(void) {
  if (spot_count > 2) kcl_context_free(&spots[2].ctx);
  close_places();
}

/* ---------------------------------------------------------------- one product */

typedef struct problem {
  const place *p;
  const char *format, *shape;
  kcl_csr *A;
  kcl_type t;
  kcl_operator *op;
} problem;

typedef struct call {
  bool adjoint, buffers;
  int64_t cols;
  number alpha, beta;
} call;

/* An array of a type, with NaN behind its numbers. */
static void *pack(kcl_type t, const number *v, int64_t n) {
  char *a = malloc((size_t)(n + GUARD) * kcl_type_size(t));
  number *nan = filled(GUARD, CMPLX(NAN, NAN));
  kcl_copy(t, a, KCL_Z, v, n, 1.0);
  kcl_copy(t, a + (size_t)n * kcl_type_size(t), KCL_Z, nan, GUARD, 1.0);
  free(nan);
  return a;
}

/* y, packed, by the operator. Through buffers: of x and y with their guards. */
static int apply(const problem *q, const call *c, void *x, int64_t xn, void *y, int64_t yn) {
  const size_t size = kcl_type_size(q->t);
  char alpha[16], beta[16];
  kcl_copy(q->t, alpha, KCL_Z, &c->alpha, 1, 1.0), kcl_copy(q->t, beta, KCL_Z, &c->beta, 1, 1.0);
  kcl_product p = {.x = x, .y = y, .cols = c->cols, .adjoint = c->adjoint, .buffers = c->buffers};
  if (c->alpha != 1) p.alpha = alpha;
  if (c->beta != 0) p.beta = beta;
  if (!c->buffers) return kcl_operator_apply(q->op, &p);
#ifndef KCL_NO_OPENCL
  void *context, *queue;
  cl_int code;
  const size_t xs = (size_t)(xn + GUARD) * size, ys = (size_t)(yn + GUARD) * size;
  if (!CHECK(!kcl_context_opencl(q->p->ctx, &context, NULL, &queue))) return KCL_DEVICE;
  cl_mem bx = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, xs, x, &code),
         by = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, ys, y, &code);
  p.x = bx, p.y = by;
  int rc = kcl_operator_apply(q->op, &p);
  CHECK(!clEnqueueReadBuffer(queue, by, CL_TRUE, 0, ys, y, 0, NULL, NULL));
  clReleaseMemObject(bx), clReleaseMemObject(by);
  return rc;
#else
  return (void)xn, (void)yn, (void)size, KCL_DEVICE;
#endif
}

/* One row: alpha q + beta y, and what rounding may do to it. */
typedef struct row {
  exact q;
  long double size;
  int64_t terms;
} row;

static row *reference(const kcl_csr *A, const number *x, bool adjoint) {
  row *r = calloc((size_t)(adjoint ? A->cols : A->rows), sizeof *r);
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
      int64_t to = adjoint ? A->col[k] : i, from = adjoint ? i : A->col[k];
      exact a = value_at(A, k);
      r[to].q += (adjoint ? conjl(a) : a) * x[from];
      r[to].size += modulus(a) * modulus(x[from]), r[to].terms++;
    }
  return r;
}

static bool row_agrees(const problem *q, const call *c, const row *r, number old, number got) {
  exact want = 0;
  double bound = 0;
  if (c->alpha != 0) {
    want = c->alpha * r->q;
    bound = (double)modulus(c->alpha) * tol_product(q->t, (double)r->terms, (double)r->size);
  }
  if (c->beta != 0) want += (exact)c->beta * old;
  if (c->alpha != 1 || c->beta != 0)
    bound += tol_lincomb(q->t, (double)(modulus(c->alpha * r->q) +
                                        (c->beta != 0 ? modulus((exact)c->beta * old) : 0)));
  return modulus(got - want) <= bound;
}

static void test_call(const problem *q, const call *c) {
  const int64_t m = c->adjoint ? q->A->cols : q->A->rows, n = c->adjoint ? q->A->rows : q->A->cols;
  number *x = random_vector(q->t, n * c->cols), *old = random_vector(q->t, m * c->cols),
         *nan = filled((m > n ? m : n) * c->cols, CMPLX(NAN, NAN)),
         *got = filled(m * c->cols + GUARD, 0);
  void *px = pack(q->t, c->alpha != 0 ? x : nan, n * c->cols),
       *py = pack(q->t, c->beta != 0 ? old : nan, m * c->cols);
  int rc = apply(q, c, px, n * c->cols, py, m * c->cols);
  kcl_copy(KCL_Z, got, q->t, py, m * c->cols + GUARD, 1.0);
  int64_t bad = rc ? 0 : -1;
  for (int64_t j = 0; j < c->cols && bad < 0; j++) {
    row *r = reference(q->A, x + j * n, c->adjoint);
    for (int64_t i = 0; i < m && bad < 0; i++)
      if (!row_agrees(q, c, &r[i], old[j * m + i], got[j * m + i])) bad = j * m + i;
    free(r);
  }
  for (int64_t i = m * c->cols; i < m * c->cols + GUARD && bad < 0; i++)
    if (creal(got[i]) == creal(got[i])) bad = i; /* no longer NaN */
  CHECKF(
      bad < 0,
      "%s, %s, %s, type %c%s%s, %d columns, alpha %g%+gi, beta %g%+gi: %s %lld of %lld is %g%+gi",
      q->p->name, q->format, q->shape, kcl_type_letter(q->t), c->adjoint ? ", adjoint" : "",
      c->buffers ? ", buffers" : "", (int)c->cols, creal(c->alpha), cimag(c->alpha), creal(c->beta),
      cimag(c->beta), rc ? kcl_error() : "element", (long long)bad, (long long)(m * c->cols),
      bad < 0 ? 0 : creal(got[bad]), bad < 0 ? 0 : cimag(got[bad]));
  free(x), free(old), free(nan), free(got), free(px), free(py);
}

/* ---------------------------------------------------------------- all products of an operator */

static void test_calls(const problem *q) {
  const number some = kcl_type_complex(q->t) ? CMPLX(0.75, -1.25) : 0.75,
               other = kcl_type_complex(q->t) ? CMPLX(-0.5, 1.5) : -0.625,
               alphas[] = {1, 0, -1, some}, betas[] = {0, 1, -1, other};
  for (int i = 0; i < 16 * 2 * 2 * 2; i++) {
    call c = {.alpha = alphas[i % 4],
              .beta = betas[i / 4 % 4],
              .adjoint = i / 16 % 2,
              .cols = i / 32 % 2 ? MOST_COLUMNS : 1,
              .buffers = i / 64};
    if (!c.buffers || q->p->ctx->opencl) test_call(q, &c);
  }
}

static int refused;

static void test_format(problem q, int nrhs) {
  const kcl_operator_options o = {
      .format = q.format, .precision = q.t, .products = KCL_PRODUCTS_BOTH, .nrhs = nrhs};
  kcl_operator_info info;
  int rc = kcl_operator_create(q.p->ctx, q.A, &o, &q.op);
  if (rc == KCL_REFUSED && strstr(kcl_error(), "refused")) {
    refused++;
    return;
  }
  if (!CHECKF(!rc, "%s, %s, %s: %s", q.p->name, q.format, q.shape, kcl_error())) return;
  kcl_operator_describe(q.op, &info);
  CHECKF(!strcmp(info.format, q.format) && info.rows == q.A->rows && info.bytes_stored > 0 &&
             (info.nrhs == 1 || info.nrhs == nrhs) && (q.p->ctx->opencl || info.nrhs == nrhs),
         "%s: %s, %lld rows, %g bytes, %d columns", q.format, info.format, (long long)info.rows,
         info.bytes_stored, info.nrhs);
  test_calls(&q);
  kcl_operator_free(&q.op);
}

/* Shapes of tests/shapes.h: empty rows, rectangles, Hermitian, 1 x 1. */
static const int chosen[] = {0, 1, 6, 7, 9, 16};
enum { CHOSEN = sizeof chosen / sizeof *chosen };

/* Types take turns, so that every format meets all of them, and on a device, which compiles what it meets, formats take turns
 * as well. So do one and several columns per pass. Optimised, which no CPU device has in the layout for GPUs but here, each format
 * meets one of both there. */
static void test_shape(int n, kcl_type t) {
  const shape *s = &shapes[chosen[n]];
  kcl_csr *A = make(spots[0].ctx, s, t);
  for (int i = 0; i < spot_count; i++)
    for (int f = 0; can(&spots[i], t) && f < kcl_list_size(KCL_FORMATS); f++) {
      problem q = {&spots[i], kcl_list(KCL_FORMATS, f).name, s->name, A, t, NULL};
      if (!wanted_format(q.format) || !turn_of(t, f + n + i)) continue;
      const int every = thorough() > 1 ? 1 : thorough() || optimised() ? 3 : 6;
      if (spots[i].ctx->opencl && (f + n) % every) continue;
      if (i == 2 && optimised() && n / 3 != f / 3 % 2) continue;
      test_format(q, (f + n / 3) % 2 ? MOST_COLUMNS : 1);
    }
  kcl_csr_free(&A);
}

/* ---------------------------------------------------------------- operators as objects */

/* y = A x of the operator alone, or of one more; the same numbers in the same order. */
static void *product_of(kcl_operator *op, const kcl_csr *A, const void *x) {
  void *y = malloc((size_t)A->rows * kcl_type_size(A->type));
  CHECK(!kcl_operator_apply(op, &(kcl_product){.x = x, .y = y}));
  return y;
}

static bool equal(const kcl_csr *A, const void *x, const void *y) {
  return !memcmp(x, y, (size_t)A->rows * kcl_type_size(A->type));
}

static void test_several(const place *p) {
  static const char *const format[] = {"csr-scalar", "ell", "csr-scalar"};
  kcl_csr *A = NULL;
  kcl_dense *b = NULL;
  kcl_operator *op[3] = {NULL};
  void *y[3], *again[3];
  if (!CHECK(!kcl_generate(p->ctx, "convection:20", &A, &b))) return;
  for (int i = 0; i < 3; i++) {
    const kcl_operator_options o = {.format = format[i], .precision = KCL_D, .nrhs = 1 + i};
    if (!CHECK(!kcl_operator_create(p->ctx, A, &o, &op[i]))) return;
    y[i] = product_of(op[i], A, b->val);
  }
  for (int i = 2; i >= 0; i--) again[i] = product_of(op[i], A, b->val);
  kcl_operator_free(&op[1]);
  CHECK(!op[1] && equal(A, y[0], y[2]));
  for (int i = 0; i < 3; i++) CHECKF(equal(A, y[i], again[i]), "%s: operator %d", p->name, i);
  void *last = product_of(op[2], A, b->val);
  CHECK(equal(A, y[2], last));
  for (int i = 0; i < 3; i++) kcl_operator_free(&op[i]), free(y[i]), free(again[i]);
  free(last), kcl_csr_free(&A), kcl_dense_free(&b);
}

typedef struct sharing {
  const char *method;
  kcl_products products;
  kcl_type t;
  bool operator_first; /* it is freed before the solver */
  bool uneven;         /* rows of sizes so different that the solver scales them */
} sharing;

/* x has the bits of that of a solver with a matrix of its own. */
static void test_solver(const place *p, sharing w) {
  kcl_csr *A = NULL;
  kcl_dense *b = NULL;
  kcl_operator *op = NULL;
  kcl_solver *own = NULL, *s = NULL;
  kcl_report r[2];
  kcl_options o = kcl_defaults;
  const kcl_operator_options oo = {.format = "ell", .precision = w.t, .products = w.products};
  o.solver = w.method, o.precond = "none", o.format = "ell", o.precision = w.t, o.tol = 1e-4;
  if (!CHECK(!kcl_generate(p->ctx, "convection:12", &A, &b))) return;
  for (int64_t k = A->nnz / 2; w.uneven && k < A->nnz; k++) ((double *)A->val)[k] *= ldexp(1, -30);
  double *x = calloc((size_t)A->cols, sizeof *x), *y = calloc((size_t)A->cols, sizeof *y);
  const bool made =
      CHECKF(!kcl_setup(p->ctx, A, &o, &own) && !kcl_operator_create(p->ctx, A, &oo, &op), "%s",
             kcl_error());
  o.format = "auto";
  if (made && CHECKF(!kcl_operator_setup(op, &o, &s), "%s", kcl_error())) {
    const kcl_stored *used = s->selection.engine->operators[0];
    CHECKF(!strcmp(used->format->name, "ell") &&
               (used->sharers > 0) == (w.products != KCL_PRODUCTS_ADJOINT && !w.uneven),
           "%s, %d owners more", used->format->name, used->sharers);
    if (w.operator_first) kcl_operator_free(&op);
    CHECK(!kcl_solve_one(own, b->val, x, &r[0]) && !kcl_solve_one(s, b->val, y, &r[1]));
    CHECKF((r[0].converged || w.uneven) && r[0].iterations == r[1].iterations &&
               !memcmp(x, y, (size_t)A->cols * sizeof *x),
           "%s, %s, type %c: %lld and %lld iterations", p->name, w.method, kcl_type_letter(w.t),
           (long long)r[0].iterations, (long long)r[1].iterations);
    kcl_solver_free(&s);
    if (op && w.t == KCL_D && w.products == KCL_PRODUCTS_PLAIN) free(product_of(op, A, b->val));
  }
  kcl_solver_free(&s), kcl_solver_free(&own), kcl_operator_free(&op);
  kcl_csr_free(&A), kcl_dense_free(&b), free(x), free(y);
}

/* A was changed since: the operator's copy of it is of another matrix. And what does not fit the operator. */
static void test_setup_refused(const place *p) {
  kcl_csr *A = NULL;
  kcl_operator *op = NULL;
  kcl_solver *s = NULL;
  kcl_options o = kcl_defaults;
  const kcl_operator_options oo = {.format = "ell", .precision = KCL_D};
  if (!CHECK(!kcl_generate(p->ctx, "poisson2d:5", &A, NULL) &&
             !kcl_operator_create(p->ctx, A, &oo, &op)))
    return;
  o.precision = KCL_S;
  CHECK(kcl_operator_setup(op, &o, &s) == KCL_USAGE && strstr(kcl_error(), "precision s"));
  o = kcl_defaults, o.format = "sell";
  CHECK(kcl_operator_setup(op, &o, &s) == KCL_USAGE && strstr(kcl_error(), "in ell"));
  ((double *)A->val)[3] += 1;
  CHECK(kcl_operator_setup(op, NULL, &s) == KCL_CHANGED && !s);
  kcl_operator_free(&op), kcl_csr_free(&A);
}

static void test_timing(const place *p) {
  kcl_csr *A = NULL;
  kcl_operator *op = NULL;
  double seconds[2] = {0}, alpha = 1;
  const kcl_operator_options oo = {.format = "ell", .precision = KCL_D, .nrhs = MOST_COLUMNS};
  if (!CHECK(!kcl_generate(p->ctx, "poisson2d:30", &A, NULL) &&
             !kcl_operator_create(p->ctx, A, &oo, &op)))
    return;
  for (int cols = 1; cols <= MOST_COLUMNS; cols++)
    CHECK(!kcl_operator_time(op, false, cols, 3, 2, seconds) && seconds[0] > 0 && seconds[1] > 0);
  /* Timing leaves nothing behind: all columns are computed again. */
  double *x = malloc((size_t)(3 * A->cols) * sizeof *x),
         *y = calloc((size_t)(3 * A->rows), sizeof *y);
  for (int64_t i = 0; i < 3 * A->cols; i++) x[i] = 1;
  CHECK(!kcl_operator_apply(op, &(kcl_product){.x = x, .y = y, .cols = 3, .alpha = &alpha}));
  for (int c = 0; c < 3; c++) CHECK(y[c * A->rows] == 2);
  free(x), free(y), kcl_operator_free(&op), kcl_csr_free(&A);
}

static void test_error(void) {
  kcl_context *ctx = spots[0].ctx;
  kcl_csr *A = NULL;
  kcl_dense *b = NULL;
  kcl_product_error e;
  if (!CHECK(!kcl_generate(ctx, "convection:9", &A, &b))) return;
  double *y = malloc((size_t)A->rows * sizeof *y);
  kcl_csr_product(A, b->val, NULL, y);
  CHECK(!kcl_product_check(ctx, A, KCL_D, b->val, y, &e) && e.ratio == 0 && e.error == 0);
  double was = y[17];
  y[17] *= 1 + 1e-9;
  CHECK(!kcl_product_check(ctx, A, KCL_S, b->val, y, &e) && e.ratio > 0 && e.ratio < 1 &&
        e.row == 17);
  CHECK(!kcl_product_check(ctx, A, KCL_D, b->val, y, &e) && e.ratio > 1 && e.row == 17 &&
        fabs(e.error - fabs(y[17] - was)) <= 1e-16 && e.bound > 0);
  y[17] = NAN;
  CHECK(!kcl_product_check(ctx, A, KCL_D, b->val, y, &e) && e.ratio == INFINITY && e.row == 17);
  free(y), kcl_csr_free(&A), kcl_dense_free(&b);
}

/* Two computed products: rows 3, 17 and 40 of `other` are one bound, three bounds and nothing finite away from y. */
static void test_difference(void) {
  static const double one = 1, zero = 0;
  kcl_context *ctx = spots[0].ctx;
  kcl_csr *A = NULL;
  kcl_product_difference d;
  if (!CHECK(!kcl_generate(ctx, "convection:9", &A, NULL))) return;
  double *x = malloc((size_t)A->cols * sizeof *x);
  double *y = malloc((size_t)A->rows * sizeof *y), *other = malloc((size_t)A->rows * sizeof *y);
  for (int64_t j = 0; j < A->cols; j++) x[j] = 1;
  kcl_csr_product(A, x, NULL, y), memcpy(other, y, (size_t)A->rows * sizeof *y);
  CHECK(!kcl_product_compare(ctx, A, KCL_D, &one, x, &zero, NULL, y, other, &d));
  CHECK(d.ratio == 0 && d.largest == 0 && d.beyond == 0);
  other[3] += kcl_product_bound(A, KCL_D, x, 3);
  CHECK(!kcl_product_compare(ctx, A, KCL_D, &one, x, &zero, NULL, y, other, &d));
  CHECK(d.ratio > 0.1 && d.ratio <= 1 && d.row == 3 && d.largest_row == 3 && d.beyond == 0 &&
        d.largest == fabs(other[3] - y[3]) && d.difference == d.largest &&
        d.bound == 2 * kcl_product_bound(A, KCL_D, x, 3));
  other[17] += 3 * kcl_product_bound(A, KCL_D, x, 17);
  CHECK(!kcl_product_compare(ctx, A, KCL_D, &one, x, &zero, NULL, y, other, &d));
  CHECK(d.ratio > 1 && d.ratio < 2 && d.row == 17 && d.largest_row == 17 && d.beyond == 1);
  other[40] = NAN;
  CHECK(!kcl_product_compare(ctx, A, KCL_D, &one, x, &zero, NULL, y, other, &d));
  CHECK(d.ratio == INFINITY && d.row == 40 && d.largest == INFINITY && d.beyond == 2);
  free(x), free(y), free(other), kcl_csr_free(&A);
}

/* ---------------------------------------------------------------- buffers and queues of the caller */

#ifndef KCL_NO_OPENCL
/* The call returns although the queue stands still, and so does a second one. */
static void test_asynchronous(kcl_context *ctx) {
  kcl_csr *A = NULL;
  kcl_dense *b = NULL;
  kcl_operator *op = NULL;
  void *context, *queue;
  cl_int code;
  const kcl_operator_options o = {.format = "sell", .precision = KCL_D};
  if (!CHECK(!kcl_generate(ctx, "convection:30", &A, &b) && !kcl_operator_create(ctx, A, &o, &op) &&
             !kcl_context_opencl(ctx, &context, NULL, &queue)))
    return;
  const size_t bytes = (size_t)A->rows * sizeof(double);
  double *want = product_of(op, A, b->val), *got = calloc(1, bytes), beta = 3;
  cl_mem x = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes, b->val, &code),
         y = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &code);
  __typeof__(clCreateUserEvent) *create_gate;
  __typeof__(clSetUserEventStatus) *open_gate;
  *(void **)&create_gate = kcl_cl_find("clCreateUserEvent");
  *(void **)&open_gate = kcl_cl_find("clSetUserEventStatus");
  cl_event gate = create_gate(context, &code);
  CHECK(!clEnqueueMarkerWithWaitList(queue, 1, &gate, NULL));
  CHECK(!kcl_operator_apply(op, &(kcl_product){.x = x, .y = y, .buffers = true}));
  CHECK(!kcl_operator_apply(op, &(kcl_product){.x = x, .y = y, .beta = &beta, .buffers = true}));
  CHECK(!open_gate(gate, CL_COMPLETE));
  CHECK(!clEnqueueReadBuffer(queue, y, CL_TRUE, 0, bytes, got, 0, NULL, NULL));
  int64_t bad = -1;
  for (int64_t i = 0; i < A->rows; i++)
    if (fabs(got[i] - 4 * want[i]) > 1e-14 * fabs(want[i])) bad = i;
  CHECKF(bad < 0, "row %lld: %g, want 4 times %g", (long long)bad, got[bad < 0 ? 0 : bad],
         want[bad < 0 ? 0 : bad]);
  clReleaseEvent(gate), clReleaseMemObject(x), clReleaseMemObject(y);
  free(want), free(got), kcl_operator_free(&op), kcl_csr_free(&A), kcl_dense_free(&b);
}

static void test_bad_buffers(kcl_context *ctx) {
  kcl_csr *A = NULL;
  kcl_operator *op = NULL;
  void *context, *queue, *other;
  kcl_context *elsewhere = NULL;
  cl_int code;
  const kcl_operator_options o = {.format = "ell", .precision = KCL_D};
  if (!CHECK(!kcl_generate(ctx, "poisson2d:5", &A, NULL) && !kcl_operator_create(ctx, A, &o, &op) &&
             !kcl_context_opencl(ctx, &context, NULL, &queue) &&
             !kcl_context_create(NULL, 0, &elsewhere) && !kcl_select(elsewhere, "opencl", 0) &&
             !kcl_context_opencl(elsewhere, &other, NULL, &queue)))
    return;
  cl_mem x = clCreateBuffer(context, CL_MEM_READ_WRITE, 25 * 8, NULL, &code),
         small_one = clCreateBuffer(context, CL_MEM_READ_WRITE, 24 * 8, NULL, &code),
         foreign = clCreateBuffer(other, CL_MEM_READ_WRITE, 25 * 8, NULL, &code);
  const struct {
    cl_mem x, y;
    int64_t cols;
    const char *word;
  } bad[] = {{x, small_one, 1, "192 bytes"},
             {x, x, 1, "overlap"},
             {x, foreign, 1, "another OpenCL context"},
             {x, small_one, 2, "need 400"}};
  for (int i = 0; i < 4; i++)
    CHECKF(kcl_operator_apply(op, &(kcl_product){.x = bad[i].x,
                                                 .y = bad[i].y,
                                                 .cols = bad[i].cols,
                                                 .buffers = true}) == KCL_USAGE &&
               strstr(kcl_error(), bad[i].word),
           "%s: %s", bad[i].word, kcl_error());
  clReleaseMemObject(x), clReleaseMemObject(small_one), clReleaseMemObject(foreign);
  kcl_operator_free(&op), kcl_csr_free(&A), kcl_context_free(&elsewhere);
}

/* References to the queue, once drivers have let go of what has run in threads of their own. */
static cl_uint references_of(cl_command_queue queue) {
  cl_uint count = 0;
  clFinish(queue);
  for (int i = 0; i < 100 * HANG && count != 1; i++) {
    if (i) nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    if (clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof count, &count, NULL)) break;
  }
  return count;
}

/* On the device of `ctx`, a queue of ours: products and a solve go through it, and it is ours afterwards. */
static void test_queue(kcl_context *ctx) {
  cl_device_id device;
  cl_context context;
  void *theirs, *queue_of_theirs, *back, *queue_back;
  kcl_context *mine = NULL;
  kcl_device described;
  cl_int code;
  if (!CHECK(!kcl_context_opencl(ctx, &theirs, NULL, &queue_of_theirs))) return;
  CHECK(!clGetCommandQueueInfo(queue_of_theirs, CL_QUEUE_DEVICE, sizeof device, &device, NULL));
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
  if (!CHECK(!kcl_context_create(NULL, 0, &mine)) ||
      !CHECKF(!kcl_select_opencl(mine, NULL, NULL, queue), "%s", kcl_error()))
    return;
  CHECK(!kcl_device_current(mine, &described) && !strcmp(described.name, ctx->device.name) &&
        described.platform == ctx->device.platform && described.device == ctx->device.device);
  CHECK(!kcl_context_opencl(mine, &back, NULL, &queue_back) && back == context &&
        queue_back == queue);
  const place p = {"a queue of the caller", mine};
  test_several(&p), test_solver(&p, (sharing){"bicgstab", KCL_PRODUCTS_PLAIN, KCL_D, true, false});
  test_asynchronous(mine);
  kcl_context_free(&mine);
  CHECK(references_of(queue) == 1);
  clReleaseCommandQueue(queue);
  queue = clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code);
  if (queue && CHECK(!kcl_context_create(NULL, 0, &mine)))
    CHECKF(kcl_select_opencl(mine, NULL, NULL, queue) == KCL_USAGE &&
               strstr(kcl_error(), "out of order"),
           "%s", kcl_error());
  kcl_context_free(&mine);
  if (queue) clReleaseCommandQueue(queue);
  clReleaseContext(context);
}
#endif

static void test_objects(const place *p) {
  if (!can(p, KCL_D)) return;
  test_several(p), test_setup_refused(p), test_timing(p);
  test_solver(p, (sharing){"bicgstab", KCL_PRODUCTS_PLAIN, KCL_D, false, false});
  test_solver(p, (sharing){"bicgstab", KCL_PRODUCTS_BOTH, KCL_S, true, false});
  test_solver(p, (sharing){"bicg", KCL_PRODUCTS_BOTH, KCL_D, true, false});
  test_solver(p, (sharing){"bicg", KCL_PRODUCTS_PLAIN, KCL_S, true, false});
  test_solver(p, (sharing){"bicgstab", KCL_PRODUCTS_PLAIN, KCL_D, false, true});
  test_solver(p, (sharing){"cgls", KCL_PRODUCTS_ADJOINT, KCL_D, false, false});
#ifndef KCL_NO_OPENCL
  if (p->ctx->opencl) test_asynchronous(p->ctx), test_bad_buffers(p->ctx), test_queue(p->ctx);
#endif
}

int main(void) {
  open_spots();
  for (kcl_type t = KCL_S; t <= KCL_Z; t++)
    for (int n = 0; spot_count && wanted(t) && n < CHOSEN; n++) test_shape(n, t);
  for (int i = 0; i < spot_count; i++) test_objects(&spots[i]);
  if (spot_count) test_error(), test_difference();
  if (refused) skip("%d combinations of format and shape: refused", refused);
  close_spots();
  return check_report();
}
