/* One solve, of as many right-hand sides as the engine takes at once: to the device, the correction loop there, answers back, and the
 * certificate of each.
 *
 * On the device the system is scaled by powers of two (solver/engine/scale.h): exact, and squares of tiny norms do not
 * vanish in single precision. What is reported is recomputed on the host, in double and with compensated sums, for each
 * right-hand side, of the system as given.
 */
#include "solver/engine/given.h"
#include "solver/guard/guard.h"
#include "solver/readback.h"

/* n iterations would do without rounding; with it some take ten times as many, or more. */
static int64_t default_limit(int64_t n) {
  int64_t limit = 10 * n;
  return limit < 10000 ? 10000 : limit > 100000 ? 100000 : limit;
}

static int put_system(kcl_loop *l) {
  kcl_executor *ex = &l->engine->executor;
  int rc = KCL_OK;
  for (int i = 0; i < l->nrhs && !rc; i++) {
    if (!l->rhs[i].active) continue;
    rc = kcl_loop_put_b(l, i);
    if (!rc) rc = kcl_loop_put_x(l, i);
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
  kcl_context *ctx = l->system->ctx;
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
  double t0 = kcl_now();
  KCL_CALL(put_system(l));
  kcl_distribution *d = s->system.distribution;
  if (d) d->time(d, true);
  const double start = l->start = kcl_now(); /* l->start moves on by what is no iteration */
  int rc = mixed ? kcl_mixed_run(s->mixed, &s->selection, l) : kcl_adapt_run(&s->selection, l);
  if (d) d->time(d, false);
  KCL_CALL(rc);
  double t1 = kcl_now();
  for (int i = 0; i < l->nrhs; i++) KCL_CALL(kcl_answer(l, i));
  s->seconds_solve += t1 - l->start;
  kcl_checkpoints_report(s, l);
  share_costs(l, (const double[]){start - t0, t1 - l->start, kcl_now() - t1});
  if (mixed)
    kcl_mixed_report(s->mixed, l);
  else if (l->engine->program->has_ritz && !l->method_changed)
    report_spectrum(l);
  return KCL_OK;
}

/* |b|, and whether b and x stay where they are. */
static int measure_b(kcl_loop *l, int i) {
  const kcl_system *system = l->system;
  kcl_rhs *v = &l->rhs[i];
  int rc = v->b || kcl_given_on_device(system) ? KCL_OK : kcl_loop_fetch(l, i);
  if (!rc)
    rc = v->b ? kcl_given_norm(system, v->b, &v->b_norm)
              : kcl_given_column_norm(system, &v->b_column, &v->b_norm);
  if (rc || v->b_norm.norm < INFINITY) return rc;
  return kcl_fail(system->ctx, KCL_INPUT, "a right-hand side is not finite");
}

/* x = 0 is the answer to b = 0, whatever the guess. */
static int read_guess(const kcl_system *system, kcl_rhs *v) {
  const kcl_csr *A = system->A;
  kcl_ranks *ranks = kcl_system_ranks(system);
  kcl_column_size size;
  int rc = KCL_OK;
  if (v->x) {
    if (!v->active) memset(v->x, 0, (size_t)A->cols * kcl_type_size(A->type));
    kcl_clear_zero_columns(system, v->x);
    v->from_zero = kcl_ranks_largest(ranks, kcl_norm_inf(A->type, v->x, A->cols)) == 0;
    return KCL_OK;
  }
  if (!v->active) return kcl_copy_column(system->ctx, &v->x_column, &v->x_column, A->cols, 0);
  rc = kcl_measure_column(system->ctx, &v->x_column, A->cols, &size);
  v->from_zero = !rc && size.norm == 0;
  return rc;
}

static double norm_as_given(const kcl_system *s, const kcl_rhs *v) {
  return v->b ? kcl_ranks_norm(kcl_system_ranks(s), s->A->type, v->b, s->A->rows)
              : ldexp(v->b_norm.norm, -v->b_norm.shift);
}

static int begin_rhs(const kcl_solver *s, kcl_loop *l, int i, double bytes) {
  const kcl_system *system = &s->system;
  kcl_rhs *v = &l->rhs[i];
  const double atol = system->options.atol;
  KCL_CALL(measure_b(l, i));
  v->active = v->b_norm.norm > 0;
  *v->report = (kcl_report){.bytes_per_iteration = bytes,
                            .converged = !v->active,
                            .normal_residual = s->selection.engine->method->least_squares ? 0 : -1,
                            .fell_back = s->lost_why[0] != 0,
                            .changes = s->selection.changes};
  memcpy(v->report->lost_why, s->lost_why, sizeof s->lost_why);
  KCL_CALL(read_guess(system, v));
  v->allowed = kcl_system_tol(system);
  if (atol > 0 && v->active)
    v->allowed = fmax(v->allowed, fmin(atol / norm_as_given(system, v), DBL_MAX));
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

/* Without a certificate the claim of a method is the answer. */
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
  if (s->call.certify == KCL_CERTIFY_NOTHING && !v->answered) return believe(v);
  const bool claimed = v->report->reason == KCL_CONVERGED;
  int rc = kcl_loop_fetch(l, i);
  if (!rc) rc = certify_x(s, v);
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
  const bool check_A = !s->system.distribution && !s->system.shell &&
                       s->call.certify == KCL_CERTIFY_FULL; /* A is the caller's and has entries */
  int rc = check_A ? kcl_sums_check(s->system.ctx, s->system.A, &s->sums) : KCL_OK;
  for (int i = 0; i < l->nrhs && !rc; i++, start = kcl_now()) {
    const kcl_rhs *v = &l->rhs[i];
    KCL_CALL(certify_one(s, l, i));
    v->report->seconds_certify = kcl_now() - start;
    if (v->b_norm.norm == 0) continue;
    any = true, all = all && (v->report->converged || v->report->least_squares);
    failed = failed || kcl_solve_failed(&s->system, v->report->reason);
    seconds += v->report->seconds_solve;
  }
  if (s->system.distribution) return rc; /* times of other ranks would differ */
  if (any && all && s->direct)
    kcl_direct_remember(&s->selection, s->direct_took);
  else if (any && all && !kcl_mixed_used(s->mixed))
    kcl_adapt_remember(&s->selection, l->shared, seconds);
  if (failed) kcl_adapt_forget(&s->selection);
  return rc;
}

static int begin_all(const kcl_solver *s, kcl_loop *l, const kcl_rhs *list, bool *any) {
  const iteration_bytes bytes = count_bytes(l);
  int rc = KCL_OK;
  *any = false;
  for (int i = 0; i < l->nrhs && !rc; i++) {
    l->rhs[i] = list[i];
    rc = begin_rhs(s, l, i, bytes.matrix + bytes.vectors);
    *any = *any || l->rhs[i].active;
  }
  return kcl_ranks_agree(kcl_system_ranks(&s->system), rc);
}

/* May arrays of A be written? Not the caller's, nor those of a mapped file. */
static bool may_restore(const kcl_solver *s) {
  return s->kept && !s->kept->lent && !s->kept->mapped;
}

static bool ends_without_device(const kcl_solver *s, const kcl_loop *l, int rc) {
  return kcl_device_lost(s, &l->rhs[0], rc) && !kcl_may_fall_back(s) && !s->system.shell;
}

/* Right-hand sides that begin_all did not reach have nothing that was fetched. */
int kcl_solve_some(kcl_solver *s, int nrhs, const kcl_rhs *list) {
  const kcl_options *o = &s->system.options;
  int64_t limit = o->max_iter ? o->max_iter : default_limit(kcl_system_size(&s->system));
  kcl_draft_adopt(&s->selection);
  kcl_loop l = {.system = &s->system,
                .engine = s->selection.engine,
                .nrhs = nrhs,
                .snapshots = {.best = -1, .newest = -1},
                .every = s->call.every,
                .max_iter = limit < INT32_MAX ? limit : INT32_MAX - 1};
  kcl_guard *guard = NULL;
  bool any;
  s->direct = NULL, s->factored = false;
  s->began = kcl_now(), s->system.ctx->device_failed = false;
  kcl_checkpoints_begin(s, &l);
  for (int i = 0; i < KCL_MAX_NRHS; i++)
    l.control[i] = (kcl_control){.stop = 1, .limit = (int32_t)l.max_iter};
  int rc = begin_all(s, &l, list, &any);
  if (!rc) rc = kcl_readback_begin(s, &l);
  if (!rc && l.every)
    rc = kcl_alloc(s->system.ctx, s->system.A->cols, kcl_type_size(s->system.A->type), "x to show",
                   &l.observed);
  if (!rc && o->guard) rc = kcl_guard_create(&l, may_restore(s), &guard);
  kcl_watch_device(s->system.ctx, true);
  if (!rc && any) rc = kcl_ranks_agree(kcl_system_ranks(&s->system), solve_nonzero(s, &l));
  kcl_watch_device(s->system.ctx, false);
  if (ends_without_device(s, &l, rc)) rc = kcl_end_without_device(s, &l);
  kcl_guard_report(guard, &l);
  if (!rc) rc = certify_all(s, &l);
  kcl_guard_free(&guard);
  free(l.observed);
  rc = kcl_loop_return(&l, rc);
  return rc || !list->b_column.buffer ? rc : l.engine->executor.finish(&l.engine->executor);
}
