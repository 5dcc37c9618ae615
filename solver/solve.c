/* kcl_solve, kcl_solve_many and kcl_solve_call: right-hand sides to the device, as many at a time as the engine takes, the correction loop
 * there, answers back, and the certificate of each.
 *
 * On the device the system is scaled by powers of two (solver/engine/scale.h): exact, and squares of tiny norms do not
 * vanish in single precision. What is reported is recomputed on the host, in double and with compensated sums, for each
 * right-hand side, of the system as given.
 */
#include "core/base/context.h"
#include "solver/engine/given.h"
#include "solver/solver.h"
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- one solve, of some right-hand sides */

/* n iterations would do without rounding; with it some take ten times as many, or more. */
static int64_t default_limit(int64_t n) {
  int64_t limit = 10 * n;
  return limit < 10000 ? 10000 : limit > 100000 ? 100000 : limit;
}

static int put_system(kcl_loop *l) {
  kcl_executor *ex = &l->engine->executor;
  int rc = KCL_OK;
  for (int i = 0; i < l->nrhs && !rc; i++) {
    const kcl_rhs *v = &l->rhs[i];
    if (!v->active) continue;
    rc = kcl_give_b(l->system, l->engine, i, v->b, v->b_norm.shift);
    if (!rc) rc = kcl_give_x(l->system, l->engine, i, v->x, v->b_norm.shift);
  }
  return rc ? rc : ex->finish(ex);
}

/* Bytes of an iteration of one right-hand side, of all ranks: those of A, of which some share a pass, and those of vectors. */
typedef struct iteration_bytes {
  double matrix, vectors;
} iteration_bytes;

static iteration_bytes count_bytes(const kcl_loop *l) {
  kcl_ranks *ranks = kcl_system_ranks(l->system);
  const double matrix = kcl_ranks_total(ranks, kcl_engine_bytes(l->engine, 0)),
               all = kcl_ranks_total(ranks, kcl_engine_bytes(l->engine, 1));
  return (iteration_bytes){matrix, all - matrix};
}

/* Right-hand sides that were solved side by side share the seconds of upload, iterations and download in equal parts. Seconds per
 * iteration are the mean over all of them. */
static void share_costs(kcl_loop *l, const double seconds[3]) {
  kcl *ctx = l->system->ctx;
  const iteration_bytes bytes = count_bytes(l);
  int nonzero = 0;
  int64_t all = 0;
  for (int i = 0; i < l->nrhs; i++)
    nonzero += l->rhs[i].b_norm.norm > 0, all += l->control[i].iteration;
  for (int i = 0; i < l->nrhs; i++) {
    kcl_report *report = l->rhs[i].report;
    if (l->rhs[i].b_norm.norm == 0) continue;
    report->seconds_upload = seconds[0] / nonzero;
    report->seconds_solve = seconds[1] / nonzero;
    report->seconds_download = seconds[2] / nonzero;
    report->bytes_per_iteration = bytes.matrix + bytes.vectors;
    if (!report->iterations) continue;
    report->seconds_per_iteration = seconds[1] / (double)all;
    report->bytes_per_iteration = bytes.matrix * (double)l->shared / (double)all + bytes.vectors;
    const double moved = report->bytes_per_iteration / report->seconds_per_iteration;
    if (!l->system->distribution && moved < INFINITY) ctx->moved = fmax(ctx->moved, moved);
  }
}

static void report_spectrum(const kcl_loop *l) {
  for (int i = 0; i < l->nrhs; i++) {
    const kcl_rhs *v = &l->rhs[i];
    kcl_report *report = v->report;
    if (v->b_norm.norm == 0) continue;
    kcl_ritz(v->history->entry, v->first_round ? v->first_round : v->history->size,
             &report->ritz_min, &report->ritz_max);
    double unit = l->engine->precond->apply
                      ? 1
                      : ldexp(1, l->system->scaling.unit); /* of M^-1 A it cancels */
    report->ritz_min /= unit, report->ritz_max /= unit;
    if (report->ritz_min > 0) report->condition_estimate = report->ritz_max / report->ritz_min;
  }
}

static int solve_nonzero(kcl_solver *s, kcl_loop *l) {
  bool mixed = kcl_mixed_used(s->mixed);
  int rc;
  double t0 = kcl_now();
  if ((rc = put_system(l))) return rc;
  kcl_distribution *d = s->system.distribution;
  if (d) d->time(d, true);
  const double start = l->start = kcl_now(); /* l->start moves on by what is no iteration */
  rc = mixed ? kcl_mixed_run(s->mixed, &s->selection, l) : kcl_adapt_run(&s->selection, l);
  if (d) d->time(d, false);
  if (rc) return rc;
  double t1 = kcl_now();
  for (int i = 0; i < l->nrhs; i++)
    if ((rc = kcl_answer(l, i))) return rc;
  s->seconds_solve += t1 - l->start;
  share_costs(l, (const double[]){start - t0, t1 - l->start, kcl_now() - t1});
  if (mixed)
    kcl_mixed_report(s->mixed, l);
  else if (l->engine->program->has_ritz && !l->method_changed)
    report_spectrum(l);
  return KCL_OK;
}

/* x = 0 is the answer to b = 0, whatever the guess. */
static int begin_rhs(const kcl_solver *s, kcl_rhs *v, double bytes) {
  const kcl_system *system = &s->system;
  const kcl_csr *A = system->A;
  kcl_ranks *ranks = kcl_system_ranks(system);
  const double atol = system->options.atol;
  int rc = kcl_given_norm(system, v->b, &v->b_norm);
  if (rc) return rc;
  if (!(v->b_norm.norm < INFINITY))
    return kcl_fail(system->ctx, KCL_INPUT, "a right-hand side is not finite");
  v->active = v->b_norm.norm > 0;
  *v->report = (kcl_report){.bytes_per_iteration = bytes,
                            .converged = !v->active,
                            .normal_residual = s->selection.engine->method->least_squares ? 0 : -1,
                            .changes = s->selection.changes};
  if (!v->active) memset(v->x, 0, (size_t)A->cols * kcl_type_size(A->type));
  kcl_clear_zero_columns(system, v->x);
  v->from_zero = kcl_ranks_largest(ranks, kcl_norm_inf(A->type, v->x, A->cols)) == 0;
  v->allowed = kcl_system_tol(system);
  if (atol > 0 && v->active) {
    const double norm = kcl_ranks_norm(ranks, A->type, v->b, A->rows);
    v->allowed = fmax(v->allowed, fmin(atol / norm, DBL_MAX));
  }
  v->target = kcl_loop_target(v);
  return KCL_OK;
}

/* The certificate of one answer, and the checksum of the x that it is of. */
static int certify_x(const kcl_solver *s, const kcl_rhs *v) {
  const bool least = s->selection.engine->method->least_squares || v->answered;
  const size_t size = (size_t)s->system.A->cols * kcl_type_size(s->system.A->type);
  const bool full = s->call.certify == KCL_CERTIFY_FULL;
  if (full) v->report->x_sum = kcl_checksum(v->x, size);
  int rc = v->b_norm.norm > 0 ? kcl_certify_rhs(&s->system, least, v) : KCL_OK;
  kcl_report_uniqueness(&s->system, s->selection.engine, v);
  if (full && !rc && kcl_checksum(v->x, size) != v->report->x_sum)
    rc = kcl_fail(s->system.ctx, KCL_CHANGED, "x changed in memory while it was certified");
  return kcl_ranks_agree(kcl_system_ranks(&s->system), rc);
}

/* Without a certificate the claim is the answer. */
static int believe(const kcl_rhs *v) {
  kcl_report *r = v->report;
  if (v->b_norm.norm == 0) return KCL_OK;
  r->converged = r->reason == KCL_CONVERGED;
  r->tested_residual = r->true_relative_residual = r->normal_residual = -1;
  r->backward_error = r->rowwise_error = r->componentwise_error = -1;
  return KCL_OK;
}

/* Where the certificate refutes a claim, the nearest x known is the answer; in place of a direct solution 0, if that is nearer. */
static int certify_one(const kcl_solver *s, kcl_loop *l, int i) {
  const kcl_csr *A = s->system.A;
  const kcl_rhs *v = &l->rhs[i];
  if (s->call.certify == KCL_CERTIFY_NOTHING) return believe(v);
  const bool claimed = v->report->reason == KCL_CONVERGED;
  int rc = certify_x(s, v);
  if (rc || !claimed || !kcl_solve_failed(&s->system, v->report->reason)) return rc;
  if (v->answered && v->report->true_relative_residual <= 1) return rc;
  if (v->answered) {
    memset(v->x, 0, (size_t)A->cols * kcl_type_size(A->type));
    v->report->x_iteration = 0;
  } else {
    rc = kcl_answer(l, i);
  }
  return rc ? rc : certify_x(s, v);
}

/* Certificates; and what the solve took is remembered where all converged. */
static int certify_all(kcl_solver *s, kcl_loop *l) {
  bool all = true, any = false, failed = false;
  double seconds = 0;
  double start = kcl_now();
  int rc = s->system.distribution || s->call.certify /* A is ours, or not of interest */
               ? KCL_OK
               : kcl_sums_check(s->system.ctx, s->system.A, &s->sums);
  for (int i = 0; i < l->nrhs && !rc; i++, start = kcl_now()) {
    const kcl_rhs *v = &l->rhs[i];
    if ((rc = certify_one(s, l, i))) return rc;
    v->report->seconds_certify = kcl_now() - start;
    if (v->b_norm.norm == 0) continue;
    any = true, all = all && (v->report->converged || v->report->least_squares);
    failed = failed || kcl_solve_failed(&s->system, v->report->reason);
    seconds += v->report->seconds_solve;
  }
  if (s->system.distribution) return rc; /* times of other ranks would differ */
  if (any && all && !kcl_mixed_used(s->mixed) && !s->direct)
    kcl_adapt_remember(&s->selection, l->shared, seconds);
  if (failed) kcl_adapt_forget(&s->selection);
  return rc;
}

/* As many right-hand sides as the engine takes at once, or fewer. */
static int solve_some(kcl_solver *s, int nrhs, const kcl_rhs *list) {
  const kcl_options *o = &s->system.options;
  int64_t limit = o->max_iter ? o->max_iter : default_limit(kcl_system_size(&s->system));
  kcl_loop l = {.system = &s->system,
                .engine = s->selection.engine,
                .nrhs = nrhs,
                .snapshots = {.best = -1, .newest = -1},
                .max_iter = limit < INT32_MAX ? limit : INT32_MAX - 1};
  const iteration_bytes bytes = count_bytes(&l);
  kcl_ranks *ranks = kcl_system_ranks(&s->system);
  bool any = false;
  int rc = KCL_OK;
  s->direct = NULL, s->factored = false;
  for (int i = 0; i < KCL_MAX_NRHS; i++)
    l.control[i] = (kcl_control){.stop = 1, .limit = (int32_t)l.max_iter};
  for (int i = 0; i < nrhs && !rc; i++) {
    l.rhs[i] = list[i];
    rc = begin_rhs(s, &l.rhs[i], bytes.matrix + bytes.vectors);
    any = any || l.rhs[i].active;
  }
  if ((rc = kcl_ranks_agree(ranks, rc))) return rc;
  if (any && (rc = kcl_ranks_agree(ranks, solve_nonzero(s, &l)))) return rc;
  return certify_all(s, &l);
}

/* ---------------------------------------------------------------- all right-hand sides */

static int check_finite(const kcl_system *s, int64_t k, const char *B, int64_t ld) {
  const size_t size = kcl_type_size(s->A->type);
  for (int64_t j = 0; j < k; j++) {
    if (kcl_norm2(s->A->type, B + (size_t)(j * ld) * size, s->A->rows) < INFINITY) continue;
    if (k == 1) return kcl_fail(s->ctx, KCL_INPUT, "the right-hand side is not finite");
    return kcl_fail(s->ctx, KCL_INPUT, "column %lld of the right-hand side is not finite",
                    (long long)j + 1);
  }
  return KCL_OK;
}

/* Columns that b and x could have in memory, and reports. */
static int64_t most_columns(const kcl_solver *s) {
  const int64_t n = s ? kcl_system_size(&s->system) : 1,
                size = s ? (int64_t)kcl_type_size(s->system.A->type) : 1;
  const int64_t bytes = n * size;
  return PTRDIFF_MAX / (bytes > (int64_t)sizeof(kcl_report) ? bytes : (int64_t)sizeof(kcl_report));
}

static int check_solve_arguments(const kcl_solver *s, int64_t k, const void *B, const void *X) {
  kcl *ctx = s->system.ctx;
  kcl_distribution *d = s->system.distribution;
  int rc = KCL_OK;
  if (k < 1 || k > most_columns(s))
    rc =
        kcl_fail(ctx, KCL_USAGE,
                 "%lld right-hand sides: at least 1, and as many as memory can hold", (long long)k);
  if (!rc && !(d && d->without_vectors)) {
    rc = kcl_need(ctx, "b", B);
    if (!rc) rc = kcl_need(ctx, "x", X);
    if (!rc && B == X) rc = kcl_fail(ctx, KCL_USAGE, "b and x are one array: x needs its own");
  }
  return d ? d->agree(d, rc, k) : rc;
}

static int new_histories(kcl_solver *s, int64_t count) {
  kcl_histories_free(&s->history, s->histories);
  s->histories = 0;
  int rc = kcl_histories_create(s->system.ctx, count, &s->history);
  if (!rc) s->histories = count;
  return rc;
}

/* Columns [from, from + nrhs) of what the caller gave; on several ranks own parts. */
static int take_columns(kcl_solver *s, int64_t from, int nrhs, const void *B, void *X,
                        kcl_rhs *list) {
  const kcl_csr *A = s->system.A;
  kcl_distribution *d = s->system.distribution;
  const size_t size = kcl_type_size(A->type);
  if (d) return d->take(d, from, nrhs, B, X, list);
  for (int i = 0; i < nrhs; i++) {
    list[i].b = (const char *)B + (size_t)((from + i) * s->call.ldb) * size;
    list[i].x = (char *)X + (size_t)((from + i) * s->call.ldx) * size;
  }
  return KCL_OK;
}

static int solve_all_columns(kcl_solver *s, int64_t k, const void *B, void *X,
                             kcl_report *reports) {
  const kcl_csr *A = s->system.A;
  kcl_distribution *d = s->system.distribution;
  int at_once = s->selection.engine->program->nrhs;
  int rc = d ? KCL_OK : check_finite(&s->system, k, B, s->call.ldb);
  if (!rc) rc = kcl_ranks_agree(kcl_system_ranks(&s->system), new_histories(s, k));
  s->selection.changes[0] = 0, s->seconds_solve = 0;
  for (int64_t j = 0; j < k && !rc; j += at_once) {
    kcl_rhs list[KCL_MAX_NRHS] = {{0}};
    kcl_report unasked[KCL_MAX_NRHS];
    int nrhs = k - j < at_once ? (int)(k - j) : at_once;
    rc = take_columns(s, j, nrhs, B, X, list);
    for (int i = 0; i < nrhs; i++) {
      list[i].report = reports ? &reports[j + i] : &unasked[i];
      list[i].history = &s->history[j + i];
      if (!rc && s->call.zero_guess) memset(list[i].x, 0, (size_t)A->cols * kcl_type_size(A->type));
    }
    if (!rc) rc = solve_some(s, nrhs, list);
    if (!rc && d) rc = d->give_back(d, j, nrhs, list, X);
  }
  return rc;
}

static void zero_reports(int64_t k, kcl_report *reports) {
  if (reports) memset(reports, 0, (size_t)k * sizeof *reports);
}

/* ---------------------------------------------------------------- settings of one call */

/* The fields of *call that this library knows, *out; those of a newer one are to be 0. */
static int read_call(kcl *ctx, const kcl_call *call, kcl_call *out) {
  const char *bytes = (const char *)call;
  *out = (kcl_call){.size = sizeof *out};
  if (!call) return KCL_OK;
  if (call->size < offsetof(kcl_call, ldb))
    return kcl_fail(ctx, KCL_USAGE, "kcl_call.size is %zu: sizeof(kcl_call) is needed, %zu here",
                    call->size, sizeof *out);
  for (size_t i = sizeof *out; i < call->size; i++)
    if (bytes[i])
      return kcl_fail(ctx, KCL_USAGE, "kcl_call of a newer version: byte %zu is set", i);
  memcpy(out, call, call->size < sizeof *out ? call->size : sizeof *out);
  return KCL_OK;
}

static int check_leading(const kcl_solver *s, const char *name, int64_t *ld, int64_t least,
                         int64_t k) {
  kcl *ctx = s->system.ctx;
  if (!*ld) *ld = least;
  if (*ld == least) return KCL_OK;
  if (s->system.distribution)
    return kcl_fail(ctx, KCL_USAGE, "kcl_call.%s: not on several ranks", name);
  if (*ld < least)
    return kcl_fail(ctx, KCL_USAGE, "kcl_call.%s is %lld: at least %lld", name, (long long)*ld,
                    (long long)least);
  if (*ld > PTRDIFF_MAX / (int64_t)kcl_type_size(s->system.A->type) / k)
    return kcl_fail(ctx, KCL_USAGE, "kcl_call.%s is %lld: more than memory can hold", name,
                    (long long)*ld);
  return KCL_OK;
}

static int check_call(const kcl_solver *s, const kcl_call *given, int64_t k, kcl_call *out) {
  const kcl_csr *A = s->system.A;
  kcl *ctx = s->system.ctx;
  int rc = read_call(ctx, given, out);
  if (!rc) rc = check_leading(s, "ldb", &out->ldb, A->rows, k);
  if (!rc) rc = check_leading(s, "ldx", &out->ldx, A->cols, k);
  if (rc) return rc;
  if (!(out->tol >= 0) || !(out->atol >= 0) || out->max_iter < 0)
    return kcl_fail(ctx, KCL_USAGE, "tol %g, atol %g and max_iter %lld of a call: 0 or more",
                    out->tol, out->atol, (long long)out->max_iter);
  if (out->certify < KCL_CERTIFY_FULL || out->certify > KCL_CERTIFY_NOTHING)
    return kcl_fail(ctx, KCL_USAGE, "certify %d: no such certificate", (int)out->certify);
  if (out->zero_guess != 0 && out->zero_guess != 1)
    return kcl_fail(ctx, KCL_USAGE, "zero_guess %d: 0 or 1", (int)out->zero_guess);
  return KCL_OK;
}

static void use_call(kcl_options *o, const kcl_call *c) {
  if (c->tol > 0) o->tol = c->tol;
  if (c->atol > 0) o->atol = c->atol;
  if (c->max_iter) o->max_iter = c->max_iter;
  if (c->progress) o->progress = c->progress, o->user = c->user;
}

/* Callbacks see the context as it is during a solve; a solver that one of them freed is freed at the end. */
int kcl_solve_call(kcl_solver *s, const kcl_call *call, int64_t k, const void *B, void *X,
                   kcl_report *reports) {
  if (k > 0 && k <= most_columns(s)) zero_reports(k, reports);
  if (!s) return KCL_USAGE;
  kcl *ctx = s->system.ctx;
  KCL_ENTER(ctx);
  kcl_distribution *d = s->system.distribution;
  int rc = check_solve_arguments(s, k, B, X);
  if (rc) return rc;
  rc = check_call(s, call, k, &s->call);
  if ((rc = d ? d->agree(d, rc, k) : rc)) return rc;
  const kcl_options given = s->system.options;
  use_call(&s->system.options, &s->call);
  ctx->stop = false;
  s->running = ctx->solving = true;
  rc = solve_all_columns(s, k, B, X, reports);
  s->running = ctx->solving = false;
  s->system.options = given;
  if (rc) zero_reports(k, reports);
  if (s->freed) kcl_solver_free(&s);
  return rc;
}

int kcl_solve_many(kcl_solver *s, int64_t k, const void *B, void *X, kcl_report *reports) {
  return kcl_solve_call(s, NULL, k, B, X, reports);
}

void kcl_solver_stop(kcl_solver *s) {
  if (s) s->system.ctx->stop = true;
}

int kcl_solve(kcl_solver *s, const void *b, void *x, kcl_report *report) {
  return kcl_solve_many(s, 1, b, x, report);
}
