/* Operators: products with a matrix that is resident on the device, and solvers that share it. */
#include "solver/operator.h"

const kcl_operator_options kcl_operator_defaults = {.format = "auto", .precision = KCL_D};

enum { PLAIN, ADJOINT, SIDES };

/* ---------------------------------------------------------------- sides */

/* A = A^H has one side. */
static int side_of(const kcl_operator *op, bool adjoint) {
  return adjoint && op->system.shared[ADJOINT] != op->system.shared[PLAIN] ? ADJOINT : PLAIN;
}

/* The one that reports are about. */
static int main_side(const kcl_operator *op) { return op->system.shared[PLAIN] ? PLAIN : ADJOINT; }

static const char *format_of_operator(const kcl_operator *op) {
  return op->system.shared[main_side(op)]->format->name;
}

/* NULL: the operator has no such side. */
static kcl_engine *engine_of_operator(const kcl_operator *op, int side, int64_t columns) {
  kcl_engine *one = op->side[side].one, *several = op->side[side].several;
  return several && (columns > 1 || !one) ? several : one;
}

/* ---------------------------------------------------------------- set-up */

int kcl_operator_read_options(kcl_system *s, const kcl_operator_options *o) {
  KCL_CALL(kcl_type_check(s->ctx, "precision", o->precision));
  if ((unsigned)o->products > KCL_PRODUCTS_BOTH)
    return kcl_fail(s->ctx, KCL_USAGE, "products %d: no such value", (int)o->products);
  if (o->nrhs < 0 || o->nrhs > KCL_MAX_NRHS)
    return kcl_fail(s->ctx, KCL_USAGE, "%d columns per pass: 1 to %d are possible", o->nrhs,
                    KCL_MAX_NRHS);
  const char *name = o->format ? o->format : kcl_operator_defaults.format;
  if (!strcmp(name, "measure"))
    return kcl_fail(s->ctx, KCL_USAGE,
                    "format measure: an operator times nothing at set-up: kcl_operator_time does");
  s->options.format = name, s->options.precision = o->precision;
  s->undecided.format = !strcmp(name, "auto") || !strcmp(name, "model");
  return kcl_check_device(s->ctx, o->precision);
}

static int check_matrix(kcl_operator *op) {
  kcl_system *s = &op->system;
  double start = kcl_now();
  KCL_CALL(kcl_csr_check(s->ctx, s->A));
  if (!s->A->rows || !s->A->cols)
    return kcl_fail(s->ctx, KCL_INPUT, "the matrix has no %s", s->A->rows ? "columns" : "rows");
  op->sums = kcl_sums_of(s->A);
  s->seconds_check = kcl_now() - start;
  start = kcl_now();
  int rc = kcl_csr_stats(s->ctx, s->A, &s->stats);
  s->known = true, s->seconds_stats = kcl_now() - start;
  return rc;
}

int kcl_operator_choose_format(kcl_operator *op, const kcl_format **f) {
  const kcl_system *s = &op->system;
  const kcl_type type = s->options.precision;
  if (s->undecided.format) return kcl_engine_choose(s, f, op->why, sizeof op->why);
  strcpy(op->why, "asked for");
  return kcl_format_named(s->ctx, &s->stats, type, s->options.format, f);
}

static int convert_operator_values(kcl_system *s) {
  if (s->A->type == s->options.precision) return KCL_OK;
  return kcl_csr_convert(s->ctx, s->A, s->options.precision, &s->converted);
}

/* A takes over what was converted for it. If A = A^H one matrix serves both. */
static int build_operator_matrix(kcl_operator *op, const kcl_format *f, kcl_products which) {
  kcl_system *s = &op->system;
  kcl_stored **A = s->shared;
  int rc = KCL_OK;
  if (which != KCL_PRODUCTS_ADJOINT || s->stats.hermitian) {
    KCL_CALL(kcl_stored_build(s->ctx, f, kcl_system_matrix(s), &A[PLAIN]));
    if (s->converted) kcl_stored_adopt(A[PLAIN], s->converted);
    s->converted = NULL;
  }
  if (s->stats.hermitian)
    A[ADJOINT] = kcl_stored_share(A[PLAIN]);
  else if (which != KCL_PRODUCTS_PLAIN)
    rc = kcl_engine_adjoint(s, f, &A[ADJOINT]);
  kcl_csr_free(&s->converted);
  return rc;
}

/* The native executor serves any number of columns up to nrhs with one program. */
static int open_side(kcl_operator *op, int side, int nrhs) {
  kcl_stored *A = op->system.shared[side];
  const bool device = op->system.ctx->opencl != NULL;
  int rc = KCL_OK;
  if (!A) return KCL_OK;
  if (nrhs > 1 && (!device || A->format->multi_rhs))
    rc = kcl_engine_product(A, nrhs, &op->side[side].several);
  if (!rc && (device || !op->side[side].several))
    rc = kcl_engine_product(A, 1, &op->side[side].one);
  return rc;
}

int kcl_operator_open(kcl_operator *op, int nrhs) {
  int rc = KCL_OK;
  for (int i = 0; i < SIDES && !rc; i++)
    if (side_of(op, i) == i) rc = open_side(op, i, nrhs);
  if (!rc) op->nrhs = engine_of_operator(op, main_side(op), 2)->program->nrhs;
  return rc;
}

int kcl_operator_create(kcl_context *ctx, const kcl_csr *A, const kcl_operator_options *options,
                        kcl_operator **out) {
  const kcl_operator_options *o = options ? options : &kcl_operator_defaults;
  const kcl_format *format;
  if (out) *out = NULL;
  KCL_ENTER(ctx);
  KCL_CALL(kcl_need(ctx, "out", out));
  KCL_OWNED_BY(kcl_operator_free) kcl_operator *op = NULL;
  KCL_CALL(kcl_csr_need(ctx, A));
  KCL_CALL(kcl_alloc(ctx, 1, sizeof *op, "an operator", (void **)&op));
  op->given = *A;
  op->system = (kcl_system){.ctx = ctx, .A = &op->given};
  kcl_context_retain(ctx);
  KCL_CALL(kcl_operator_read_options(&op->system, o));
  KCL_CALL(check_matrix(op));
  KCL_CALL(kcl_operator_choose_format(op, &format));
  double start = kcl_now();
  KCL_CALL(convert_operator_values(&op->system));
  KCL_CALL(build_operator_matrix(op, format, o->products));
  op->system.seconds_convert = kcl_now() - start;
  KCL_CALL(kcl_operator_open(op, o->nrhs));
  *out = op, op = NULL;
  return KCL_OK;
}

void kcl_operator_free(kcl_operator **op) {
  if (!op || !*op) return;
  if (kcl_opencl_inherited((*op)->system.ctx)) *op = NULL;
  if (!*op) return;
  KCL_HOLD((*op)->system.ctx);
  for (int i = 0; i < SIDES; i++)
    kcl_engine_free(&(*op)->side[i].one), kcl_engine_free(&(*op)->side[i].several);
  for (int i = 0; i < SIDES; i++) kcl_stored_free(&(*op)->system.shared[i]);
  kcl_system_forget_converted(&(*op)->system);
  kcl_distribution *d = (*op)->system.distribution;
  if (d) d->free(d);
  kcl_context *ctx = (*op)->system.ctx;
  free(*op);
  kcl_context_release(ctx);
  *op = NULL;
}

/* ---------------------------------------------------------------- products */

int kcl_operator_engine(const kcl_operator *op, bool adjoint, int64_t columns, kcl_engine **out) {
  *out = engine_of_operator(op, side_of(op, adjoint), columns);
  if (*out) return KCL_OK;
  if (op->system.shell)
    return kcl_fail(op->system.ctx, KCL_USAGE,
                    "the function does not compute A^H x: KCL_SHELL_ADJOINT declares that it does");
  return kcl_fail(op->system.ctx, KCL_USAGE,
                  "the operator was created without %s: see kcl_operator_options.products",
                  adjoint ? "A^H" : "A");
}

static int check_timing(const kcl_operator *op, bool adjoint, int cols, int products, int samples) {
  kcl_engine *e;
  int rc = kcl_operator_engine(op, adjoint, 1, &e);
  if (rc || (cols > 0 && cols <= op->nrhs && products > 0 && samples > 0)) return rc;
  return kcl_fail(op->system.ctx, KCL_USAGE,
                  "%d samples of %d products with %d columns: at least one of one, and 1 to %d "
                  "columns",
                  samples, products, cols, op->nrhs);
}

static int put_columns(kcl_engine *e, int cols) {
  kcl_executor *ex = &e->executor;
  const kcl_program *k = e->program;
  const kcl_type wide = kcl_wide_type(k->type);
  const int64_t n = k->vector[k->x].n * (wide == KCL_Z ? 2 : 1);
  KCL_OWNED double *x = NULL;
  int rc = kcl_alloc(e->ctx, n, sizeof *x, "a vector", (void **)&x);
  for (int c = 0; c < cols && !rc; c++) {
    kcl_timing_vector(x, n, c);
    rc = ex->put(ex, k->x, c, wide, x, 1.0);
  }
  return rc;
}

/* The first sample, which warms the caches, is not counted. On ranks a sample is that of the slowest. */
static int take_samples(kcl_operator *op, kcl_engine *e, int products, int samples,
                        double *seconds) {
  kcl_distribution *d = op->system.distribution;
  double warm;
  int rc = kcl_engine_time_product(e, products, &warm);
  op->seconds_timed = 0, op->products_timed = (int64_t)products * samples;
  if (d) d->time(d, true);
  for (int i = 0; i < samples && !rc; i++) {
    rc = kcl_engine_time_product(e, products, &seconds[i]);
    if (rc) break;
    seconds[i] = kcl_ranks_largest(kcl_system_ranks(&op->system), seconds[i]);
    op->seconds_timed += seconds[i] * products;
  }
  if (d) d->time(d, false);
  return rc;
}

int kcl_operator_time(kcl_operator *op, bool adjoint, int cols, int products, int samples,
                      double *seconds) {
  if (!op) return kcl_need(NULL, "op", op);
  KCL_ENTER(op->system.ctx);
  KCL_CALL(kcl_need(op->system.ctx, "seconds", seconds));
  kcl_distribution *d = op->system.distribution;
  int rc = check_timing(op, adjoint, cols, products, samples);
  if (d) rc = d->agree(d, rc, (int64_t)products * samples);
  if (rc) return rc;
  kcl_engine *e = engine_of_operator(op, side_of(op, adjoint), cols);
  KCL_CALL(put_columns(e, cols));
  KCL_CALL(kcl_timing_state(&e->executor, cols));
  rc = take_samples(op, e, products, samples, seconds);
  return rc ? rc : kcl_timing_state(&e->executor, KCL_MAX_NRHS);
}

/* ---------------------------------------------------------------- what it is, and solvers */

static void add_engine(kcl_operator_info *out, const kcl_engine *e) {
  if (!e) return;
  out->seconds_upload += e->executor.seconds_upload;
  out->seconds_compile += e->executor.seconds_compile;
  out->programs_compiled += e->executor.compiled, out->programs_cached += e->executor.from_cache;
}

/* Sizes of all ranks. */
static void describe_ranks(const kcl_system *s, kcl_operator_info *out) {
  const kcl_ranks *ranks = kcl_system_ranks(s);
  kcl_setup_info all = {0};
  s->distribution->describe(s->distribution, &all);
  out->rows = ranks->rows, out->cols = ranks->columns, out->bytes_stored = all.bytes_stored;
  out->bytes_product = all.bytes_stored + (double)(out->rows + out->cols) *
                                              (double)kcl_type_size(s->options.precision);
}

void kcl_operator_describe(const kcl_operator *op, kcl_operator_info *out) {
  if (out) *out = (kcl_operator_info){0};
  if (!op || !out) return;
  const kcl_system *s = &op->system;
  const kcl_engine *one = engine_of_operator(op, main_side(op), 1);
  *out = (kcl_operator_info){.rows = s->A->rows,
                             .cols = s->A->cols,
                             .precision = s->options.precision,
                             .format = format_of_operator(op),
                             .format_reason = op->why,
                             .kernel = one->kernel,
                             .bytes_product = kcl_program_bytes(one->program, KCL_START, 1),
                             .nrhs = op->nrhs,
                             .products_timed = op->products_timed,
                             .seconds_check = s->seconds_check,
                             .seconds_stats = s->seconds_stats,
                             .seconds_convert = s->seconds_convert};
  for (int i = 0; i < SIDES; i++) {
    if (s->shared[i] && side_of(op, i) == i) out->bytes_stored += kcl_stored_bytes(s->shared[i]);
    add_engine(out, op->side[i].one), add_engine(out, op->side[i].several);
  }
  if (s->distribution) describe_ranks(s, out);
}

static int check_setup(const kcl_operator *op, const kcl_options *o) {
  const kcl_system *s = &op->system;
  if (o->precision != s->options.precision)
    return kcl_fail(s->ctx, KCL_USAGE, "precision %c: the operator's is %c",
                    kcl_type_letter(o->precision), kcl_type_letter(s->options.precision));
  if (!o->format || !strcmp(o->format, "auto") || !strcmp(o->format, format_of_operator(op)))
    return KCL_OK;
  return kcl_fail(s->ctx, KCL_USAGE, "format %s: the operator is in %s", o->format,
                  format_of_operator(op));
}

int kcl_operator_setup(kcl_operator *op, const kcl_options *options, kcl_solver **out) {
  if (out) *out = NULL;
  if (!op) return kcl_need(NULL, "op", op);
  KCL_ENTER(op->system.ctx);
  if (op->system.distribution)
    return kcl_fail(op->system.ctx, KCL_USAGE, "an operator of several ranks sets up no solver");
  kcl_system s = op->system; /* with A, its statistics and the matrices on the device */
  KCL_CALL(kcl_need(s.ctx, "out", out));
  s.options = kcl_options_of(options);
  if (!options) s.options.precision = op->system.options.precision;
  double start = kcl_now();
  KCL_CALL(check_setup(op, &s.options));
  KCL_CALL(kcl_sums_check(s.ctx, s.A, &op->sums));
  s.options.format = format_of_operator(op);
  s.seconds_check = kcl_now() - start, s.seconds_stats = s.seconds_convert = 0;
  return kcl_setup_system(&s, op->sums, NULL, KCL_KEEP_NOTHING, out);
}
