/* kcl_setup: from a host matrix to a program loaded on the device. */
#include "core/context.h"
#include "core/impl.h"
#include "core/pattern.h"
#include "solver/solver.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const kcl_options kcl_defaults = {
    .solver = "cg", .precond = "none", .format = "auto", .precision = KCL_D, .tol = -1, .atol = 0};

static int check_device(kcl *ctx, kcl_type type) {
  int rc = ctx->selected ? KCL_OK : kcl_select(ctx, NULL, 0);
  if (rc) return rc;
  if ((type == KCL_D || type == KCL_Z) && !ctx->device.has_double)
    return kcl_fail(ctx, KCL_DEVICE,
                    "%s has no double precision: use --precision %c, or another device",
                    ctx->device.name, type == KCL_D ? 's' : 'c');
  return KCL_OK;
}

/* Does a method's demand on A hold? */
bool kcl_method_fits(const kcl_method *m, const kcl_stats *stats) {
  return (stats->rows == stats->cols || m->least_squares) && (!m->hermitian || stats->hermitian) &&
         (!m->symmetric || stats->symmetric);
}

/* The methods that fit, for messages. */
static const char *fitting_methods(kcl *ctx, const kcl_stats *stats) {
  static _Thread_local char text[256];
  text[0] = 0;
  for (int i = 0; i < kcl_list_size(KCL_SOLVERS); i++) {
    const kcl_method *m;
    const char *name = kcl_list(KCL_SOLVERS, i).name;
    if (kcl_method_find(ctx, name, &m) || !kcl_method_fits(m, stats)) continue;
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", text[0] ? ", " : "", name);
  }
  return text;
}

static int check_fit(kcl_solver *s) {
  const kcl_stats *stats = &s->stats;
  if (stats->rows == 0 || stats->cols == 0)
    return kcl_fail(s->ctx, KCL_INPUT, "the matrix has no %s", stats->rows ? "columns" : "rows");
  if (stats->rows != stats->cols && !s->method->least_squares)
    return kcl_fail(s->ctx, KCL_INPUT,
                    "the matrix is %lld by %lld and %s needs a square one; for least squares: %s",
                    (long long)stats->rows, (long long)stats->cols, s->method->name,
                    fitting_methods(s->ctx, stats));
  if (!kcl_method_fits(s->method, stats))
    return kcl_fail(s->ctx, KCL_USAGE,
                    "%s needs a %s matrix and this one is not: solvers that fit: %s",
                    s->method->name, s->method->hermitian ? "Hermitian" : "symmetric (A = A^T)",
                    fitting_methods(s->ctx, stats));
  return KCL_OK;
}

static int check_restart(const kcl_solver *s) {
  const kcl_method *m = s->method;
  if (!m->restart || (s->options.restart >= 0 && s->options.restart <= m->most_restart))
    return KCL_OK;
  return kcl_fail(s->ctx, KCL_USAGE, "restart %d is out of range: %s takes 1 to %d, by default %d",
                  s->options.restart, m->name, m->most_restart, m->restart);
}

static int check_numbers(const kcl_solver *s) {
  const kcl_options *o = &s->options;
  if (isnan(o->tol) || !(o->atol >= 0))
    return kcl_fail(s->ctx, KCL_USAGE, "tol %g and atol %g: numbers, the second 0 or more", o->tol,
                    o->atol);
  if (o->max_iter < 0)
    return kcl_fail(s->ctx, KCL_USAGE, "max_iter %lld is negative", (long long)o->max_iter);
  return kcl_type_check(s->ctx, "precision", o->precision);
}

static int check_columns(const kcl_solver *s) {
  if (s->options.columns >= 0 && s->options.columns <= KCL_MOST_COLUMNS) return KCL_OK;
  return kcl_fail(s->ctx, KCL_USAGE, "%d columns at once are out of range: 1 to %d are possible",
                  s->options.columns, KCL_MOST_COLUMNS);
}

/* As asked for, but in mixed precision; on devices where the formats' kernels can, and while the scalars of all
 * fit into local memory. */
static void set_columns(const kcl_solver *s, kcl_program *k) {
  enum { LOCAL = 28 << 10 };
  size_t one = (size_t)k->slots * kcl_type_size(k->type);
  k->columns = s->options.columns ? s->options.columns : 1;
  if (s->options.mixed) k->columns = 1;
  if (!s->ctx->opencl) return;
  if (!s->matrix->format->columns || (s->adjoint && !s->adjoint->format->columns)) k->columns = 1;
  while (k->columns > 1 && (size_t)kcl_width(k) * one > LOCAL) k->columns = kcl_width(k) / 2;
}

/* The format of A as asked for, or as chosen. */
static int find_format(kcl_solver *s, const kcl_format **f) {
  kcl_type type = s->options.precision;
  kcl_cost cost;
  if (s->open.format) return kcl_choose_format(s, f);
  int rc = kcl_format_find(s->ctx, s->options.format, type, f);
  if (!rc) rc = kcl_format_cost(s->ctx, &s->stats, type, s->options.format, &cost);
  if (!rc && cost.refusal)
    rc = kcl_fail(s->ctx, KCL_MEMORY, "format %s refused: %s", s->options.format, cost.refusal);
  snprintf(s->why, sizeof s->why, "asked for");
  return rc;
}

/* A in the solver's precision: itself where it is that already. */
static int typed(kcl_solver *s) {
  bool same = s->A->type == s->options.precision;
  return same ? KCL_OK : kcl_csr_convert(s->ctx, s->A, s->options.precision, &s->typed);
}

/* That of A where it has the same pattern; else what suits the rows of A need not suit its columns. */
static int adjoint_format(kcl_solver *s, const kcl_csr *AH, const kcl_format **f) {
  kcl_stats stats;
  kcl_cost cost;
  char why[sizeof s->why];
  const bool mirrored = s->stats.hermitian || s->stats.symmetric || s->stats.shifted_skew;
  bool whole = (*f)->refuses || AH->rows != AH->cols;
  if (mirrored && !whole) return KCL_OK;
  int rc = whole ? kcl_csr_stats(s->ctx, AH, &stats) : kcl_csr_shape(s->ctx, AH, &stats);
  if (!rc) rc = kcl_format_cost(s->ctx, &stats, s->options.precision, (*f)->name, &cost);
  if (!rc && !s->open.format && cost.refusal)
    rc = kcl_fail(s->ctx, KCL_MEMORY, "format %s refused for the adjoint: %s", (*f)->name,
                  cost.refusal);
  if (!rc && s->open.format && cost.refusal && !whole)
    whole = true, rc = kcl_csr_stats(s->ctx, AH, &stats);
  if (!rc && s->open.format && whole)
    rc = kcl_format_choose(s->ctx, &stats, s->options.precision, f, why, sizeof why);
  if (rc) return rc;
  if (AH->rows == AH->cols && *f == s->matrix->format) return KCL_OK;
  size_t used = strlen(s->why);
  snprintf(s->why + used, sizeof s->why - used, "; its adjoint in %s", (*f)->name);
  return KCL_OK;
}

static int build_matrices(kcl_solver *s, const kcl_csr *A, const kcl_format *f) {
  kcl_csr *AH = NULL;
  int rc;
  KCL_TRY(kcl_matrix_build(s->ctx, f, A, &s->matrix));
  if (s->method->adjoint) {
    KCL_TRY(kcl_csr_adjoint(s->ctx, A, &AH));
    KCL_TRY(adjoint_format(s, AH, &f));
    KCL_TRY(kcl_matrix_build(s->ctx, f, AH, &s->adjoint));
    kcl_matrix_adopt(s->adjoint, AH); /* a format may use AH's arrays in place */
    AH = NULL;
  }
done:
  kcl_csr_free(&AH);
  return rc;
}

static int record(kcl_solver *s, const kcl_csr *A) {
  kcl_program *k;
  int rc = kcl_program_create(s->ctx, A->type, A->rows, A->cols, &s->program);
  if (rc) return rc;
  k = s->program;
  k->A = s->matrix, k->AH = s->adjoint, k->precondition = s->precond->apply;
  if (s->method->least_squares) {
    double norm = kcl_norm2(A->type, A->val, A->nnz);
    k->norm_F = norm > 0 && norm < INFINITY ? norm : 1;
  }
  k->resumes = s->inner;
  k->restart = s->options.restart ? s->options.restart : s->method->restart;
  if (s->precond->setup && (rc = s->precond->setup(k, A))) return rc;
  s->method->record(k);
  set_columns(s, k);
  return kcl_program_end(k);
}

static void describe(kcl_solver *s) {
  kcl *ctx = s->ctx;
  const kcl_matrix *m = s->matrix;
  size_t used;
  if (!ctx->opencl)
    snprintf(s->kernel, sizeof s->kernel, "native, %d thread%s", ctx->threads,
             ctx->threads > 1 ? "s" : "");
  else if (m->format->scatter)
    snprintf(s->kernel, sizeof s->kernel, "%s, scatter", m->format->kernel);
  else
    snprintf(s->kernel, sizeof s->kernel, "%s, %d work-item%s a row", m->format->kernel, m->lanes,
             m->lanes > 1 ? "s" : "");
  used = strlen(s->kernel);
  if (m->note[0]) snprintf(s->kernel + used, sizeof s->kernel - used, ", %s", m->note);
  kcl_tune_say(s->ctx, m->format->name, s->kernel, sizeof s->kernel);
  used = strlen(s->kernel);
  if (s->program->columns > 1)
    snprintf(s->kernel + used, sizeof s->kernel - used, ", %d columns at once",
             s->program->columns);
  else if (s->options.columns > 1)
    snprintf(s->kernel + used, sizeof s->kernel - used, ", column by column");
}

static int assemble(kcl_solver *s, const kcl_format *format) {
  const kcl_csr *T = kcl_solver_matrix(s);
  double start = kcl_now();
  int rc;
  KCL_TRY(build_matrices(s, T, format));
  s->seconds_convert += kcl_now() - start;
  KCL_TRY(record(s, T));
  KCL_TRY(kcl_executor_open(s->program, &s->executor));
  describe(s);
done:
  return rc;
}

const kcl_csr *kcl_solver_matrix(const kcl_solver *s) {
  return s->typed ? s->typed : s->shared ? s->shared : s->A;
}

int kcl_setup_like(const kcl_solver *s, const kcl_method *m, const kcl_format *f,
                   kcl_solver **out) {
  kcl_solver *t = *out = NULL;
  int rc;
  KCL_TRY(kcl_alloc(s->ctx, 1, sizeof *t, "a solver", (void **)&t));
  t->ctx = s->ctx, t->A = s->A, t->stats = s->stats, t->options = s->options;
  t->method = m, t->precond = s->precond, t->open.format = s->open.format, t->inner = s->inner;
  t->shared = kcl_solver_matrix(s);
  KCL_TRY(assemble(t, f));
  *out = t, t = NULL;
done:
  kcl_solver_free(&t);
  return rc;
}

static bool is(const char *word, const char *name) { return !strcmp(word, name); }

static void read_options(kcl_solver *s) {
  kcl_options *o = &s->options;
  if (!o->solver) o->solver = kcl_defaults.solver;
  if (!o->precond) o->precond = kcl_defaults.precond;
  if (!o->format) o->format = kcl_defaults.format;
  s->open.measure = is(o->format, "measure"), s->open.model = is(o->format, "model");
  s->open.format = is(o->format, "auto") || s->open.measure || s->open.model;
  s->open.method = is(o->solver, "auto");
}

static int setup(kcl *ctx, const kcl_csr *A, const kcl_options *options, bool inner,
                 kcl_solver **out) {
  kcl_solver *s = *out = NULL;
  const kcl_format *format;
  int rc;
  KCL_TRY(kcl_alloc(ctx, 1, sizeof *s, "a solver", (void **)&s));
  s->ctx = ctx, s->A = A, s->options = options ? *options : kcl_defaults;
  s->inner = inner;
  read_options(s);
  KCL_TRY(kcl_method_find(ctx, s->open.method ? "gmres" : s->options.solver, &s->method));
  KCL_TRY(kcl_precond_find(ctx, s->options.precond, &s->precond));
  KCL_TRY(check_restart(s)); /* "auto" may come to gmres */
  KCL_TRY(check_numbers(s));
  KCL_TRY(check_columns(s));
  KCL_TRY(check_device(ctx, s->options.precision));
  KCL_TRY(kcl_csr_check(ctx, A));
  KCL_TRY(kcl_csr_stats(ctx, A, &s->stats));
  KCL_TRY(kcl_choose_method(s));
  KCL_TRY(check_fit(s));
  double start = kcl_now();
  KCL_TRY(typed(s));
  s->seconds_convert = kcl_now() - start;
  KCL_TRY(find_format(s, &format));
  KCL_TRY(assemble(s, format));
  KCL_TRY(kcl_choose_ahead(s));
  if (s->options.mixed) KCL_TRY(kcl_mixed_setup(s));
  *out = s, s = NULL;
done:
  kcl_solver_free(&s);
  return rc;
}

int kcl_setup(kcl *ctx, const kcl_csr *A, const kcl_options *options, kcl_solver **out) {
  return setup(ctx, A, options, false, out);
}

int kcl_setup_inner(kcl *ctx, const kcl_csr *A, const kcl_options *options, kcl_solver **out) {
  return setup(ctx, A, options, true, out);
}

void kcl_solver_free(kcl_solver **s) {
  if (!*s) return;
  kcl_mixed_free(*s);
  if ((*s)->executor.close) (*s)->executor.close(&(*s)->executor);
  kcl_program_free(&(*s)->program);
  kcl_matrix_free(&(*s)->matrix);
  kcl_matrix_free(&(*s)->adjoint);
  kcl_csr_free(&(*s)->typed);
  kcl_histories_free(*s);
  free(*s);
  *s = NULL;
}

double kcl_iteration_bytes(const kcl_solver *s, int columns) {
  const kcl_program *k = s->program;
  double replacement = kcl_program_bytes(k, KCL_REPLACE, columns) / kcl_replacement_interval(k);
  return (kcl_program_bytes(k, KCL_LOOP, columns) + replacement) / k->steps;
}

double kcl_bytes_per_iteration(const kcl_solver *s) {
  return kcl_iteration_bytes(s, s->program->columns);
}

double kcl_stored_bytes(const kcl_solver *s) {
  return kcl_matrix_bytes(s->matrix) + (s->adjoint ? kcl_matrix_bytes(s->adjoint) : 0);
}

void kcl_solver_info(const kcl_solver *s, kcl_setup_info *out) {
  int steps = s->program->steps;
  const kcl_solver *inner = kcl_mixed_inner(s);
  *out = (kcl_setup_info){.solver = s->method->name,
                          .solver_reason = s->why_method,
                          .format = s->matrix->format->name,
                          .format_reason = s->why,
                          .kernel = s->kernel,
                          .bytes_stored = kcl_stored_bytes(s),
                          .bytes_float = inner ? kcl_stored_bytes(inner) : 0,
                          .mixed = kcl_mixed_why(s),
                          .seconds_convert = s->seconds_convert,
                          .seconds_upload = s->executor.seconds_upload,
                          .seconds_compile = s->executor.seconds_compile,
                          .programs_compiled = s->executor.compiled,
                          .programs_cached = s->executor.from_cache,
                          .seconds_measure = s->open.seconds,
                          .expected = s->open.expected,
                          .timings = s->open.known.count,
                          .stages = (s->program->stages[KCL_LOOP] + steps - 1) / steps,
                          .columns = s->program->columns};
  if (!inner) return;
  out->seconds_convert += inner->seconds_convert;
  out->seconds_upload += inner->executor.seconds_upload;
  out->seconds_compile += inner->executor.seconds_compile;
  out->programs_compiled += inner->executor.compiled;
  out->programs_cached += inner->executor.from_cache;
}

void kcl_solver_timing(const kcl_solver *s, int i, kcl_setup_timing *out) {
  const kcl_timing *t = &s->open.known.timing[i];
  *out = (kcl_setup_timing){t->method, t->format, t->setup, t->iteration};
}
