/* kcl_mpi_solve_many: right-hand sides to the ranks, as many at a time as the engine takes, the correction loop on all of them in
 * step, the certificates of the whole system. */
#include "core/base/context.h"
#include "distributed/distributed.h"
#include "solver/engine/given.h"
#include <float.h>
#include <stdlib.h>
#include <string.h>

/* One solve on one rank, of some right-hand sides. */
typedef struct solve {
  kcl_mpi_solver *m;
  kcl_loop loop;
  char *b, *x;             /* own parts, of A's type: [nrhs] each */
  size_t b_bytes, x_bytes; /* of one */
} solve;

static char *b_of(const solve *s, int i) { return s->b + (size_t)i * s->b_bytes; }
static char *x_of(const solve *s, int i) { return s->x + (size_t)i * s->x_bytes; }

/* ---------------------------------------------------------------- b and x */

/* What callers give, or take back: whole on rank 0, or own parts; [k] columns. */
typedef struct columns {
  int64_t k;
  const char *b;
  char *x;
  kcl_report *report; /* [k] */
} columns;

static int check_columns(const kcl_mpi_solver *m, const columns *g) {
  int rc;
  if (g->k < 1)
    return kcl_fail(m->ctx, KCL_USAGE, "%lld right-hand sides: at least 1", (long long)g->k);
  if (m->layout == KCL_MPI_ROOT && m->comm->ranks.rank) return KCL_OK;
  if ((rc = kcl_need(m->ctx, "b", g->b)) || (rc = kcl_need(m->ctx, "x", g->x))) return rc;
  return g->b == g->x ? kcl_fail(m->ctx, KCL_USAGE, "b and x are one array: x needs its own")
                      : KCL_OK;
}

/* All ranks have as many. */
static int check_arguments(const kcl_mpi_solver *m, const columns *g) {
  kcl_comm *c = m->comm;
  int rc = check_columns(m, g);
  if (kcl_comm_differs(c, (double)g->k) && !rc)
    rc = kcl_fail(m->ctx, KCL_USAGE, "the ranks have different numbers of right-hand sides");
  return kcl_comm_agree(c, rc);
}

static int take_columns(solve *s, const columns *g, int64_t from) {
  const kcl_mpi_solver *m = s->m;
  const size_t size = kcl_type_size(m->type);
  const int64_t *row = m->comm->first, *column = m->comm->column;
  int rc = KCL_OK;
  for (int i = 0; i < s->loop.nrhs && !rc; i++) {
    const size_t j = (size_t)(from + i) * size;
    rc = kcl_take_vector(m, row, m->type, g->b + j * (size_t)m->held, b_of(s, i));
    if (!rc) rc = kcl_take_vector(m, column, m->type, g->x + j * (size_t)m->held_x, x_of(s, i));
  }
  return rc;
}

static int return_column(solve *s, const columns *g, int64_t j, int i) {
  const kcl_mpi_solver *m = s->m;
  const size_t held = (size_t)m->held_x * kcl_type_size(m->type);
  char *x = g->x + (size_t)j * held;
  int rc = kcl_return_vector(m, m->comm->column, m->type, x_of(s, i), x);
  if (held) s->loop.rhs[i].report->x_sum = kcl_checksum(x, held);
  return rc;
}

/* ---------------------------------------------------------------- before the iterations */

static int begin_rhs(solve *s, int i) {
  const kcl_mpi_solver *m = s->m;
  const kcl_options *o = &m->system.options;
  kcl_rhs *v = &s->loop.rhs[i];
  const int64_t n = m->system.A->rows;
  const int *power = m->system.scaling.row;
  const double norm = kcl_comm_norm(m->comm, m->type, b_of(s, i), n);
  int rc = KCL_OK;
  if (!(norm < INFINITY)) return kcl_fail(m->ctx, KCL_INPUT, "a right-hand side is not finite");
  v->b = b_of(s, i), v->x = x_of(s, i), v->active = norm > 0;
  v->b_norm.shift = kcl_norm_exponent(norm) - 1;
  v->b_norm.norm = ldexp(norm, v->b_norm.shift);
  if (power) rc = kcl_comm_norm_scaled(m->comm, m->type, v->b, n, power, &v->b_norm);
  if (rc) return rc;
  v->allowed = kcl_system_tol(&m->system);
  if (o->atol > 0 && v->active) v->allowed = fmax(v->allowed, fmin(o->atol / norm, DBL_MAX));
  v->target = kcl_loop_target(v);
  *v->report = (kcl_report){.converged = !v->active, .changes = m->selection.changes};
  v->report->normal_residual = m->selection.engine->method->least_squares ? 0 : -1;
  if (!v->active) memset(v->x, 0, s->x_bytes); /* x = 0 is the answer to b = 0 */
  kcl_clear_zero_columns(&m->system, v->x);
  v->from_zero = kcl_comm_norm(m->comm, m->type, v->x, m->system.A->cols) == 0;
  return KCL_OK;
}

static void begin_loop(solve *s, int nrhs) {
  kcl_mpi_solver *m = s->m;
  const kcl_options *o = &m->system.options;
  const int64_t limit = o->max_iter ? o->max_iter : kcl_default_limit(kcl_system_size(&m->system));
  s->loop = (kcl_loop){.system = &m->system,
                       .engine = m->selection.engine,
                       .nrhs = nrhs,
                       .kept = {.best = -1, .newest = -1},
                       .max_iter = limit < INT32_MAX ? limit : INT32_MAX - 1};
  for (int i = 0; i < KCL_MAX_NRHS; i++)
    s->loop.control[i] = (kcl_control){.stop = 1, .limit = (int32_t)s->loop.max_iter};
}

/* ---------------------------------------------------------------- the solve */

/* kcl_loop_share with the bytes of all ranks. */
static void share(solve *s, double upload, double iterations, double download) {
  kcl_loop *l = &s->loop;
  kcl_comm *c = s->m->comm;
  const double matrix = kcl_comm_total(c, kcl_engine_bytes(l->engine, 0)),
               vectors = kcl_comm_total(c, kcl_engine_bytes(l->engine, 1)) - matrix;
  for (int i = 0; i < l->nrhs; i++) l->rhs[i].report->bytes_per_iteration = matrix + vectors;
  kcl_loop_share(l, matrix, vectors, (const double[]){upload, iterations, download});
}

static int iterate(solve *s) {
  kcl_mpi_solver *m = s->m;
  kcl_loop *l = &s->loop;
  const double before = kcl_now();
  int rc = kcl_loop_put_system(l);
  if (rc) return rc;
  m->domain->seconds = m->comm->seconds = 0;
  if (m->adjoint) m->adjoint->seconds = 0;
  const double start = l->start = kcl_now();
  rc = kcl_adapt_run(&m->selection, l);
  const double end = kcl_now();
  m->seconds_solve = end - l->start, m->seconds_sum = m->comm->seconds;
  m->seconds_halo = m->domain->seconds + (m->adjoint ? m->adjoint->seconds : 0);
  for (int i = 0; i < l->nrhs && !rc; i++) rc = kcl_answer(l, i);
  if (rc) return rc;
  share(s, start - before, end - l->start, kcl_now() - end);
  if (l->engine->program->has_ritz && !l->method_changed) kcl_report_spectrum(l);
  return KCL_OK;
}

static int certify_x(solve *s, int i) {
  kcl_mpi_solver *m = s->m;
  const kcl_rhs *v = &s->loop.rhs[i];
  kcl_report *report = v->report;
  const bool least = s->loop.engine->method->least_squares;
  kcl_certificate c;
  double start = kcl_now(), given;
  kcl_report_uniqueness(&m->system, s->loop.engine, v);
  if (v->b_norm.norm == 0) return KCL_OK;
  int rc = kcl_domain_certify(m->domain, least ? m->adjoint : NULL, m->norm_F, v->b, v->x, &c);
  if (rc) return rc;
  report->true_relative_residual = report->tested_residual = c.relative_residual;
  report->normal_residual = c.normal_residual;
  if (m->system.scaling.row)
    rc = kcl_mpi_residual(&m->system, v->b, v->x, &given, &report->tested_residual);
  if (rc) return rc;
  if (least) report->tested_residual = fmin(report->tested_residual, c.normal_residual);
  report->backward_error = c.backward_error;
  report->rowwise_error = c.rowwise_error, report->componentwise_error = c.componentwise_error;
  kcl_judge(report, &c, least, v->allowed);
  kcl_report_uniqueness(&m->system, s->loop.engine, v);
  report->seconds_certify = kcl_now() - start;
  return KCL_OK;
}

/* Where the certificate refutes a claim, the nearest x known is the answer. */
static int certify(solve *s, int i) {
  const kcl_report *report = s->loop.rhs[i].report;
  const bool claimed = report->reason == KCL_CONVERGED;
  int rc = certify_x(s, i);
  if (rc || !claimed || !kcl_solve_failed(&s->m->system, report->reason)) return rc;
  rc = kcl_answer(&s->loop, i);
  return rc ? rc : certify_x(s, i);
}

/* Columns [from, from + nrhs). */
static int solve_some(solve *s, const columns *g, int64_t from, int nrhs) {
  kcl_mpi_solver *m = s->m;
  kcl_comm *c = m->comm;
  bool any = false;
  begin_loop(s, nrhs);
  int rc = take_columns(s, g, from);
  for (int i = 0; i < nrhs && !rc; i++) {
    s->loop.rhs[i].report = &g->report[from + i], s->loop.rhs[i].history = &m->history[from + i];
    rc = begin_rhs(s, i);
    any = any || s->loop.rhs[i].active;
  }
  if ((rc = kcl_comm_agree(c, rc))) return rc;
  if (any && (rc = kcl_comm_agree(c, iterate(s)))) return rc;
  for (int i = 0; i < nrhs && !rc; i++) rc = certify(s, i);
  if ((rc = kcl_comm_agree(c, rc))) return rc;
  for (int i = 0; i < nrhs && !rc; i++) rc = return_column(s, g, from + i, i);
  return rc;
}

static int new_histories(kcl_mpi_solver *m, int64_t count) {
  kcl_histories_free(&m->history, m->histories);
  m->histories = 0;
  int rc = kcl_histories_create(m->ctx, count, &m->history);
  if (!rc) m->histories = count;
  return rc;
}

static int solve_shared(solve *s, const columns *g) {
  kcl_mpi_solver *m = s->m;
  const int at_once = m->selection.engine->program->nrhs;
  const size_t size = kcl_type_size(m->type);
  int rc = check_arguments(m, g);
  if (rc) return rc;
  s->b_bytes = (size_t)m->system.A->rows * size, s->x_bytes = (size_t)m->system.A->cols * size;
  rc = new_histories(m, g->k);
  if (!rc) rc = kcl_alloc(m->ctx, at_once, s->b_bytes, "b", (void **)&s->b);
  if (!rc) rc = kcl_alloc(m->ctx, at_once, s->x_bytes, "x", (void **)&s->x);
  rc = kcl_comm_agree(m->comm, rc);
  m->selection.changes[0] = 0;
  for (int64_t j = 0; j < g->k && !rc; j += at_once)
    rc = solve_some(s, g, j, g->k - j < at_once ? (int)(g->k - j) : at_once);
  if (!rc && m->selection.changes[0]) kcl_mpi_add_sizes(m); /* another engine */
  return rc;
}

static int solve_alone(kcl_mpi_solver *m, const columns *g) {
  int rc = kcl_solve_many(m->alone, g->k, g->b, g->x, g->report);
  m->seconds_solve = 0;
  for (int64_t j = 0; j < g->k && !rc; j++) m->seconds_solve += g->report[j].seconds_solve;
  return rc;
}

int kcl_mpi_solve_many(kcl_mpi_solver *m, int64_t k, const void *B, void *X, kcl_report *reports) {
  kcl_report *unasked = NULL;
  if (!m) return KCL_USAGE;
  columns g = {.k = k, .b = B, .x = X, .report = reports};
  int rc = kcl_need_idle(m->ctx); /* of one rank's callback alone: without the others */
  if (rc) {
    if (reports && k > 0) memset(reports, 0, (size_t)k * sizeof *reports);
    return rc;
  }
  if (!reports && k > 0) rc = kcl_alloc(m->ctx, k, sizeof *unasked, "reports", (void **)&unasked);
  if (!m->alone) rc = kcl_comm_agree(m->comm, rc);
  if (rc) return rc;
  if (!reports) g.report = unasked;
  solve s = {.m = m};
  if (m->alone) {
    rc = solve_alone(m, &g);
  } else {
    m->ctx->solving = true;
    rc = solve_shared(&s, &g);
    m->ctx->solving = false;
  }
  if (rc && reports && k > 0) memset(reports, 0, (size_t)k * sizeof *reports);
  free(s.b), free(s.x), free(unasked);
  return rc;
}

int kcl_mpi_solve(kcl_mpi_solver *m, const void *b, void *x, kcl_report *report) {
  return kcl_mpi_solve_many(m, 1, b, x, report);
}
