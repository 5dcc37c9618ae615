/* kcl_mpi_solve: b and x to the ranks, the correction loop on all of them in step, the certificate of the whole system. */
#include "core/base/context.h"
#include "distributed/distributed.h"
#include <stdlib.h>
#include <string.h>

/* One solve on one rank. */
typedef struct solve {
  kcl_mpi_solver *m;
  kcl_loop loop;
  char *b, *x, *next; /* [own rows] of A's type; next: another x */
  size_t bytes;       /* of each */
} solve;

static kcl_rhs *rhs(solve *s) { return &s->loop.rhs[0]; }

/* ---------------------------------------------------------------- b and x */

static int check_arguments(const kcl_mpi_solver *m, const void *b, const void *x) {
  int rc;
  if (m->layout == KCL_MPI_ROOT && m->comm->ranks.rank) return KCL_OK;
  if ((rc = kcl_need(m->ctx, "b", b)) || (rc = kcl_need(m->ctx, "x", x))) return rc;
  return b == x ? kcl_fail(m->ctx, KCL_USAGE, "b and x are one array: x needs its own") : KCL_OK;
}

static int take_vectors(solve *s, const void *b, const void *x) {
  const kcl_mpi_solver *m = s->m;
  const int64_t n = m->domain->rows->rows;
  const size_t size = kcl_type_size(m->type);
  int rc = check_arguments(m, b, x);
  if (!rc) rc = kcl_alloc(m->ctx, n, size, "b", (void **)&s->b);
  if (!rc) rc = kcl_alloc(m->ctx, n, size, "x", (void **)&s->x);
  if (!rc) rc = kcl_alloc(m->ctx, n, size, "x", (void **)&s->next);
  if ((rc = kcl_comm_agree(m->comm, rc))) return rc;
  s->bytes = (size_t)n * size;
  rc = kcl_take_vector(m, m->type, b, s->b);
  return rc ? rc : kcl_take_vector(m, m->type, x, s->x);
}

static int put_system(solve *s) {
  const kcl_mpi_solver *m = s->m;
  const kcl_program *k = m->selection.engine->program;
  kcl_executor *ex = &m->selection.engine->executor;
  const int shift = rhs(s)->b_norm.shift;
  int rc = ex->put(ex, k->b, 0, m->type, s->b, ldexp(1, shift));
  if (!rc) rc = ex->put(ex, k->x, 0, m->type, s->x, ldexp(1, shift - m->system.scaling.unit));
  return rc ? rc : ex->finish(ex);
}

static int get_x(solve *s, void *x) {
  const kcl_mpi_solver *m = s->m;
  kcl_executor *ex = &m->selection.engine->executor;
  const int shift = rhs(s)->b_norm.shift - m->system.scaling.unit;
  return ex->get(ex, m->selection.engine->program->x, 0, m->type, x, ldexp(1, -shift));
}

/* ---------------------------------------------------------------- before the iterations */

static int begin(solve *s, kcl_report *report) {
  kcl_mpi_solver *m = s->m;
  kcl_comm *c = m->comm;
  const kcl_options *o = &m->system.options;
  kcl_rhs *v = rhs(s);
  kcl_loop *l = &s->loop;
  const double norm = kcl_comm_norm(c, m->type, s->b, m->domain->rows->rows);
  int rc = KCL_OK;
  if (!(norm < INFINITY))
    return kcl_comm_agree(c, kcl_fail(m->ctx, KCL_INPUT, "the right-hand side is not finite"));
  kcl_histories_free(&m->history, 1);
  rc = kcl_comm_agree(c, kcl_histories_create(m->ctx, 1, &m->history));
  const int64_t limit = o->max_iter ? o->max_iter : kcl_default_limit(c->ranks.rows);
  *l = (kcl_loop){.system = &m->system,
                  .engine = m->selection.engine,
                  .nrhs = 1,
                  .kept = {.best = -1, .newest = -1},
                  .max_iter = limit < INT32_MAX ? limit : INT32_MAX - 1};
  for (int i = 0; i < KCL_MAX_NRHS; i++)
    l->control[i] = (kcl_control){.stop = 1, .limit = (int32_t)l->max_iter};
  *v = (kcl_rhs){.b = s->b, .x = s->x, .report = report, .history = m->history};
  v->active = norm > 0;
  if (norm > 0) v->b_norm.shift = norm < 1e-300 ? 997 : -ilogb(norm) - 1;
  v->b_norm.norm = ldexp(norm, v->b_norm.shift);
  v->allowed = kcl_system_tol(&m->system);
  if (o->atol > 0 && v->active) v->allowed = fmax(v->allowed, o->atol / norm);
  v->target = kcl_loop_target(v);
  *report = (kcl_report){.converged = !v->active, .changes = ""};
  report->normal_residual = m->selection.engine->method->least_squares ? 0 : -1;
  return rc;
}

/* ---------------------------------------------------------------- answers */

/* Takes s->next as x where its residual is less than a fraction of the least so far. */
static int consider(solve *s, double fraction, int64_t iteration, double *least) {
  double residual;
  int rc = kcl_domain_residual(s->m->domain, s->b, s->next, &residual);
  if (rc || !(residual < fraction * *least)) return rc;
  *least = residual, rhs(s)->report->x_iteration = iteration;
  memcpy(s->x, s->next, s->bytes);
  return KCL_OK;
}

/* Of a solve that failed: the nearest of the guess, 0, the last x and the best copy (as in solver/answer.c). */
static int best_answer(solve *s) {
  kcl_loop *l = &s->loop;
  kcl_executor *ex = &l->engine->executor;
  double least;
  int rc = kcl_domain_residual(s->m->domain, s->b, s->x, &least);
  if (!rc && !(least <= 1)) least = 1, memset(s->x, 0, s->bytes);
  if (!rc) rc = get_x(s, s->next);
  if (!rc) rc = consider(s, 1, l->control[0].iteration, &least);
  if (rc || l->kept.best < 0) return rc;
  if (!(rc = ex->load(ex, l->kept.best, 0)) && !(rc = get_x(s, s->next)))
    rc = consider(s, 0.5, l->kept.iteration[0], &least);
  return rc;
}

static int iterate(solve *s) {
  kcl_mpi_solver *m = s->m;
  kcl_loop *l = &s->loop;
  kcl_report *report = rhs(s)->report;
  double start = kcl_now();
  int rc = put_system(s);
  if (rc) return rc;
  report->seconds_upload = kcl_now() - start;
  m->domain->seconds = m->comm->seconds = 0;
  start = l->start = kcl_now();
  rc = kcl_loop_begin(l);
  while (!rc && l->state != KCL_LOOP_ENDED) rc = kcl_loop_step(l);
  if (!rc) rc = kcl_loop_end(l);
  m->seconds_solve = report->seconds_solve = kcl_now() - start;
  m->seconds_halo = m->domain->seconds, m->seconds_sum = m->comm->seconds;
  if (rc) return rc;
  start = kcl_now();
  report->x_iteration = report->iterations;
  rc = kcl_solve_failed(&m->system, report->reason) ? best_answer(s) : get_x(s, s->x);
  report->seconds_download = kcl_now() - start;
  if (l->engine->program->has_ritz) kcl_report_spectrum(l);
  return rc;
}

static int certify(solve *s) {
  kcl_mpi_solver *m = s->m;
  kcl_report *report = rhs(s)->report;
  kcl_certificate c;
  double start = kcl_now();
  const bool least = m->selection.engine->method->least_squares;
  int rc = kcl_domain_certify(m->domain, least ? m->adjoint : NULL, m->norm_F, s->b, s->x, &c);
  if (rc) return rc;
  report->true_relative_residual = report->tested_residual = c.relative_residual;
  report->normal_residual = c.normal_residual;
  if (least) report->tested_residual = fmin(c.relative_residual, c.normal_residual);
  report->backward_error = c.backward_error;
  report->rowwise_error = c.rowwise_error, report->componentwise_error = c.componentwise_error;
  kcl_judge(report, &c, least, rhs(s)->allowed);
  report->seconds_certify = kcl_now() - start;
  return KCL_OK;
}

static int give_x(solve *s, void *x) {
  const kcl_mpi_solver *m = s->m;
  int rc = kcl_return_vector(m, m->type, s->x, x);
  if (m->held) rhs(s)->report->x_sum = kcl_checksum(x, (size_t)m->held * kcl_type_size(m->type));
  return rc;
}

static int solve_shared(solve *s, const void *b, void *x, kcl_report *report) {
  kcl_mpi_solver *m = s->m;
  int rc = take_vectors(s, b, x);
  if (rc || (rc = begin(s, report))) return rc;
  const bool some = rhs(s)->b_norm.norm > 0;
  if (!some) memset(s->x, 0, s->bytes); /* x = 0 is the answer to b = 0 */
  if (some) rc = iterate(s);
  if ((rc = kcl_comm_agree(m->comm, rc))) return rc;
  if (some) rc = kcl_comm_agree(m->comm, certify(s));
  if (rc) return rc;
  report->bytes_per_iteration = kcl_comm_total(m->comm, kcl_engine_bytes(m->selection.engine, 1));
  if (report->iterations)
    report->seconds_per_iteration = report->seconds_solve / (double)report->iterations;
  return give_x(s, x);
}

static int solve_alone(kcl_mpi_solver *m, const void *b, void *x, kcl_report *report) {
  int rc = kcl_solve(m->alone, b, x, report);
  m->seconds_solve = report->seconds_solve;
  return rc;
}

int kcl_mpi_solve(kcl_mpi_solver *m, const void *b, void *x, kcl_report *report) {
  kcl_report unasked;
  if (!m) return KCL_USAGE;
  if (!report) report = &unasked;
  if (m->alone) return solve_alone(m, b, x, report);
  solve s = {.m = m};
  int rc = solve_shared(&s, b, x, report);
  if (rc) *report = (kcl_report){0};
  free(s.b), free(s.x), free(s.next);
  return rc;
}
