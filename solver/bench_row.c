/* Rows of a benchmark: set-up, validation and samples of a method, of a product alone, and of the sequential reference.
 * A row that is not validated has no samples.
 */
#include "solver/bench.h"
#include <stdio.h>

static const kcl_bench_plan defaults = {
    .iterations = 50, .samples = 15, .seconds = 3, .noise = 0.1};

static int checked(kcl_context *ctx, const kcl_csr *A, const kcl_bench_plan *given,
                   kcl_bench_plan *plan, kcl_bench_row *out) {
  KCL_CALL(kcl_need(ctx, "out", out));
  *out = (kcl_bench_row){0};
  KCL_CALL(kcl_need(ctx, "A", A));
  *plan = given ? *given : defaults;
  if (!plan->iterations) plan->iterations = defaults.iterations;
  if (!plan->samples) plan->samples = defaults.samples;
  if (!plan->seconds) plan->seconds = defaults.seconds;
  if (!plan->noise) plan->noise = defaults.noise;
  if (plan->iterations > 0 && plan->samples > 0 && plan->samples <= 10000 && plan->seconds > 0)
    return KCL_OK;
  return kcl_fail(ctx, KCL_USAGE,
                  "%d samples of %d iterations in %g s: 1 to 10,000 of at least one in more than 0",
                  plan->samples, plan->iterations, plan->seconds);
}

void kcl_bench_free(kcl_bench_row *row) {
  if (!row) return;
  kcl_samples_free(&row->iteration);
  kcl_samples_free(&row->product);
  kcl_samples_free(&row->transfer);
  *row = (kcl_bench_row){0};
}

static int failed(kcl_bench_row *row, int rc) {
  if (rc) kcl_bench_free(row);
  return rc;
}

/* ---------------------------------------------------------------- what is timed */

static int time_product(void *engine, int iterations, int repeats, double *seconds) {
  kcl_engine *e = engine;
  double warm;
  int rc = kcl_timing_state(&e->executor, KCL_MAX_NRHS);
  for (int i = -1; i < repeats && !rc; i++)
    rc = kcl_engine_time_product(e, iterations, i < 0 ? &warm : &seconds[i]);
  return rc;
}

static int time_row_iterations(void *engine, int iterations, int repeats, double *seconds) {
  return kcl_engine_time(engine, iterations, repeats, seconds);
}

typedef struct kcl_carrying { /* a product of arrays of the host */
  kcl_engine *e;
  kcl_multiplication product;
} kcl_carrying;

static int time_carried_products(void *self, int iterations, int repeats, double *seconds) {
  kcl_carrying *c = self;
  kcl_executor *ex = &c->e->executor;
  int rc = ex->multiply(ex, &c->product);
  for (int i = 0; i < repeats && !rc; i++) {
    const double start = kcl_now();
    for (int k = 0; k < iterations && !rc; k++) rc = ex->multiply(ex, &c->product);
    seconds[i] = (kcl_now() - start) / iterations;
  }
  return rc;
}

/* The numbers of kcl_timing_vector in the type of the program, a column after another. */
static int fill_timing_columns(kcl_context *ctx, const kcl_program *k, char *x) {
  const kcl_type wide = kcl_wide_type(k->type);
  const int64_t n = k->vector[k->x].n;
  KCL_OWNED double *column = NULL;
  int rc = kcl_alloc(ctx, n, kcl_type_size(wide), "a vector", (void **)&column);
  for (int c = 0; c < k->nrhs && !rc; c++) {
    kcl_timing_vector(column, n * (wide == KCL_Z ? 2 : 1), c);
    kcl_copy(k->type, x + (size_t)(n * c) * kcl_type_size(k->type), wide, column, n, 1);
  }
  return rc;
}

static int sample_transfers(kcl_context *ctx, const kcl_bench_plan *plan, kcl_engine *e,
                            kcl_samples *out) {
  const kcl_program *k = e->program;
  const size_t size = kcl_type_size(k->type);
  KCL_OWNED void *x = NULL, *y = NULL;
  if (!plan->transfers) return KCL_OK;
  KCL_CALL(kcl_alloc(ctx, k->vector[k->x].n * k->nrhs, size, "a vector", &x));
  KCL_CALL(kcl_alloc(ctx, k->vector[k->b].n * k->nrhs, size, "a vector", &y));
  KCL_CALL(fill_timing_columns(ctx, k, x));
  kcl_vectors of_x = {.data = x, .cols = k->nrhs, .ld = k->vector[k->x].n, .inc = 1},
              of_y = {.data = y, .cols = k->nrhs, .ld = k->vector[k->b].n, .inc = 1};
  kcl_carrying c = {.e = e, .product = {.x = &of_x, .y = &of_y}};
  return kcl_sample(ctx, plan, (kcl_probe){time_carried_products, &c}, plan->seconds, out);
}

/* ---------------------------------------------------------------- a method */

static void describe_row(const kcl_solver *s, kcl_bench_row *out) {
  kcl_setup_info info;
  kcl_solver_info(s, &info);
  const kcl_stored *A = s->selection.engine->operators[0];
  const double vectors = (double)(A->rows + A->cols) * (double)kcl_type_size(A->type);
  snprintf(out->kernel, sizeof out->kernel, "%s", info.kernel);
  out->nrhs = info.nrhs, out->bytes_stored = info.bytes_stored;
  out->bytes_iteration = kcl_bytes_per_iteration(s);
  out->bytes_product = kcl_stored_bytes(A) + vectors * info.nrhs;
  out->seconds_convert = info.seconds_convert, out->seconds_upload = info.seconds_upload;
  out->seconds_compile = info.seconds_compile, out->compiled = info.programs_compiled;
}

int kcl_bench_solver(kcl_solver *s, const kcl_bench_plan *given, kcl_bench_row *out) {
  kcl_bench_plan plan;
  kcl_engine *product = NULL;
  if (!s) return kcl_need(NULL, "s", s);
  kcl_context *ctx = s->system.ctx;
  KCL_ENTER(ctx);
  kcl_engine *e = s->selection.engine;
  if (s->system.shell)
    return kcl_fail(ctx, KCL_USAGE,
                    "a benchmark validates the product, and A is a function of the caller's");
  int rc = checked(ctx, s->system.A, given, &plan, out);
  if (rc) return rc;
  describe_row(s, out);
  KCL_TRY(kcl_engine_product(e->operators[0], e->program->nrhs, &product));
  KCL_TRY(kcl_product_validate(&s->system, product, &out->validated));
  if (!out->validated) goto done;
  KCL_TRY(kcl_sample_pair(ctx, &plan, (kcl_probe){time_product, product},
                          (kcl_probe){time_row_iterations, e}, &out->product, &out->iteration));
  out->product.threads = product->executor.team, out->iteration.threads = e->executor.team;
  rc = sample_transfers(ctx, &plan, product, &out->transfer);
done:
  kcl_engine_free(&product);
  return failed(out, rc);
}

int kcl_bench_method(kcl_context *ctx, const kcl_csr *A, const kcl_options *o,
                     const kcl_bench_plan *given, kcl_bench_row *out) {
  KCL_ENTER(ctx);
  kcl_bench_plan plan;
  KCL_OWNED_BY(kcl_solver_free) kcl_solver *s = NULL;
  KCL_CALL(checked(ctx, A, given, &plan, out));
  KCL_CALL(kcl_setup(ctx, A, o, &s));
  kcl_draft_compile(&s->selection);
  return kcl_bench_solver(s, &plan, out);
}

/* ---------------------------------------------------------------- a product alone */

static int make_system(kcl_context *ctx, const kcl_csr *A, const kcl_options *o, kcl_system *s) {
  *s = (kcl_system){.ctx = ctx, .A = A, .options = kcl_options_of(o)};
  int rc = kcl_csr_check(ctx, A);
  if (!rc && A->type != s->options.precision)
    rc = kcl_csr_convert(ctx, A, s->options.precision, &s->converted);
  return rc;
}

/* The format that was named, unless it refuses A. */
static int find_named_format(kcl_system *s, const kcl_format **f) {
  const kcl_options *o = &s->options;
  KCL_CALL(kcl_need(s->ctx, "options->format", o->format));
  KCL_CALL(kcl_csr_stats(s->ctx, s->A, &s->stats));
  return kcl_format_named(s->ctx, &s->stats, o->precision, o->format, f);
}

static int product_engine(const kcl_system *s, const kcl_format *f, kcl_engine **e) {
  KCL_OWNED_BY(kcl_stored_free) kcl_stored *A = NULL;
  double start = kcl_now();
  KCL_CALL(kcl_stored_build(s->ctx, f, kcl_system_matrix(s), &A));
  double seconds = kcl_now() - start;
  int rc = kcl_engine_product(A, s->options.nrhs ? s->options.nrhs : 1, e);
  if (!rc) (*e)->seconds_convert = seconds;
  return rc;
}

int kcl_bench_engine(kcl_context *ctx, const kcl_csr *A, const kcl_options *o, kcl_system *s,
                     kcl_engine **e) {
  const kcl_format *f;
  int rc = ctx->selected ? KCL_OK : kcl_select(ctx, NULL, 0);
  if (!rc) rc = make_system(ctx, A, o, s);
  if (!rc) rc = find_named_format(s, &f);
  return rc ? rc : product_engine(s, f, e);
}

static void describe_product(const kcl_engine *e, kcl_bench_row *out) {
  const kcl_stored *A = e->operators[0];
  const kcl_executor *ex = &e->executor;
  const double vectors = (double)(A->rows + A->cols) * (double)kcl_type_size(A->type);
  snprintf(out->kernel, sizeof out->kernel, "%s", e->kernel);
  out->nrhs = e->program->nrhs, out->bytes_stored = kcl_engine_stored_bytes(e);
  out->bytes_product = out->bytes_stored + vectors * out->nrhs;
  out->seconds_convert = e->seconds_convert, out->seconds_upload = ex->seconds_upload;
  out->seconds_compile = ex->seconds_compile, out->compiled = ex->compiled;
}

int kcl_bench_product(kcl_context *ctx, const kcl_csr *A, const kcl_options *o,
                      const kcl_bench_plan *given, kcl_bench_row *out) {
  KCL_ENTER(ctx);
  kcl_bench_plan plan;
  kcl_system s = {0};
  kcl_engine *e = NULL;
  int rc = checked(ctx, A, given, &plan, out);
  if (rc) return rc;
  KCL_TRY(kcl_bench_engine(ctx, A, o, &s, &e));
  describe_product(e, out);
  KCL_TRY(kcl_product_validate(&s, e, &out->validated));
  if (out->validated)
    KCL_TRY(kcl_sample(ctx, &plan, (kcl_probe){time_product, e}, plan.seconds, &out->product));
  out->product.threads = e->executor.team;
  if (out->validated) rc = sample_transfers(ctx, &plan, e, &out->transfer);
done:
  kcl_engine_free(&e);
  kcl_csr_free(&s.converted);
  return failed(out, rc);
}

/* ---------------------------------------------------------------- the sequential reference */

typedef struct sequential {
  const kcl_csr *A; /* in the precision of the product */
  void *elements;   /* [rows, cols]; NULL: those of A in CSR */
  void *x, *y;
} sequential;

static void multiply_once(const sequential *p) {
  void (*const sparse[])(const kcl_csr *, const void *,
                         void *) = {kcl_sequential_product_s, kcl_sequential_product_d,
                                    kcl_sequential_product_c, kcl_sequential_product_z};
  void (*const dense[])(int64_t, int64_t, const void *, const void *,
                        void *) = {kcl_sequential_dense_s, kcl_sequential_dense_d,
                                   kcl_sequential_dense_c, kcl_sequential_dense_z};
  const kcl_csr *A = p->A;
  if (p->elements)
    dense[A->type](A->rows, A->cols, p->elements, p->x, p->y);
  else
    sparse[A->type](A, p->x, p->y);
}

static int time_sequential(void *self, int iterations, int repeats, double *seconds) {
  multiply_once(self);
  for (int i = 0; i < repeats; i++) {
    double t = kcl_now();
    for (int k = 0; k < iterations; k++) multiply_once(self);
    seconds[i] = (kcl_now() - t) / iterations;
  }
  return KCL_OK;
}

/* x, y and the reference in double; the products' own x and y beside them. */
static int validate_sequential(const kcl_system *s, sequential *p, bool *good) {
  const kcl_csr *A = s->A;
  kcl_type wide = kcl_wide_type(A->type), type = s->options.precision;
  const int64_t w = wide == KCL_Z ? 2 : 1;
  KCL_OWNED double *x = NULL, *y = NULL, *ref = NULL;
  KCL_CALL(kcl_alloc(s->ctx, A->cols * w, sizeof *x, "a vector", (void **)&x));
  KCL_CALL(kcl_alloc(s->ctx, A->rows * w, sizeof *y, "a vector", (void **)&y));
  KCL_CALL(kcl_alloc(s->ctx, A->rows * w, sizeof *ref, "a vector", (void **)&ref));
  kcl_timing_vector(x, A->cols * w, 0);
  kcl_copy(type, p->x, wide, x, A->cols, 1);
  multiply_once(p);
  kcl_copy(wide, y, type, p->y, A->rows, 1);
  kcl_csr_product(A, x, NULL, ref);
  *good = true;
  for (int64_t i = 0; i < A->rows && *good; i++) *good = kcl_product_row_agrees(s, i, x, y, ref);
  return KCL_OK;
}

/* A has one entry per row and column at most. */
static int expand_elements(kcl_context *ctx, sequential *p) {
  const kcl_csr *A = p->A;
  const size_t size = kcl_type_size(A->type);
  char *to;
  int rc = KCL_OK;
  if (A->cols && A->rows > INT64_MAX / (int64_t)size / A->cols)
    return kcl_fail(ctx, KCL_MEMORY, "full storage of %lld by %lld elements", (long long)A->rows,
                    (long long)A->cols);
  rc = kcl_alloc(ctx, A->rows * A->cols, size, "full storage", &p->elements);
  to = p->elements;
  for (int64_t i = 0; i < A->rows && !rc; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      memcpy(to + (size_t)(i * A->cols + A->col[k]) * size, (char *)A->val + (size_t)k * size,
             size);
  return rc;
}

static void describe_sequential(const sequential *p, kcl_bench_row *out) {
  const kcl_csr *A = p->A;
  const double size = (double)kcl_type_size(A->type);
  snprintf(out->kernel, sizeof out->kernel, "sequential C, %s", p->elements ? "dense" : "CSR");
  out->nrhs = 1;
  out->bytes_stored = (double)A->nnz * (4.0 + size) + 8.0 * ((double)A->rows + 1);
  if (p->elements) out->bytes_stored = (double)A->rows * (double)A->cols * size;
  out->bytes_product = out->bytes_stored + (double)(A->rows + A->cols) * size;
}

int kcl_bench_sequential(kcl_context *ctx, const kcl_csr *A, const char *format, kcl_type precision,
                         const kcl_bench_plan *given, kcl_bench_row *out) {
  kcl_bench_plan plan;
  kcl_system s = {0};
  sequential p = {0};
  kcl_options o = kcl_defaults;
  int rc = checked(ctx, A, given, &plan, out);
  if (!rc) rc = kcl_type_check(ctx, "precision", precision);
  if (!rc && format && strcmp(format, "dense"))
    rc = kcl_fail(ctx, KCL_USAGE, "format %s: sequential code is for dense and, NULL, CSR", format);
  if (rc) return rc;
  o.precision = precision;
  KCL_TRY(make_system(ctx, A, &o, &s));
  p.A = kcl_system_matrix(&s);
  if (format) KCL_TRY(expand_elements(ctx, &p));
  KCL_TRY(kcl_alloc(ctx, A->cols, kcl_type_size(precision), "a vector", &p.x));
  KCL_TRY(kcl_alloc(ctx, A->rows, kcl_type_size(precision), "a vector", &p.y));
  KCL_TRY(validate_sequential(&s, &p, &out->validated));
  describe_sequential(&p, out);
  if (out->validated)
    KCL_TRY(kcl_sample(ctx, &plan, (kcl_probe){time_sequential, &p}, plan.seconds, &out->product));
done:
  free(p.x), free(p.y), free(p.elements);
  kcl_csr_free(&s.converted);
  return failed(out, rc);
}
