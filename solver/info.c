/* Information on a solver: kcl_solver_info and its companions. */
#include "solver/solver.h"

double kcl_bytes_per_iteration(const kcl_solver *s) {
  const kcl_engine *e = s ? s->selection.engine : NULL;
  if (!e) return 0;
  return kcl_engine_bytes(e, e->program->nrhs);
}

static void add_seconds(kcl_setup_info *out, const kcl_engine *e) {
  out->seconds_convert += e->seconds_convert;
  out->seconds_upload += e->executor.seconds_upload;
  out->seconds_compile += e->executor.seconds_compile;
  out->programs_compiled += e->executor.compiled;
  out->programs_cached += e->executor.from_cache;
}

static void add_precond(kcl_setup_info *out, const kcl_preconditioner *M) {
  out->precond_note = M ? M->note : "";
  if (!M) return;
  out->seconds_precond = M->seconds, out->bytes_precond = kcl_preconditioner_bytes(M);
  out->precond_levels = M->size.levels, out->precond_rows = M->size.rows;
  out->precond_nonzeros = M->size.nonzeros, out->precond_complexity = M->size.complexity;
}

static void describe_selection(const kcl_selection *c, kcl_setup_info *out) {
  const kcl_system *s = c->system;
  const kcl_engine *e = c->engine;
  const int steps = e->program->iterations;
  *out = (kcl_setup_info){.solver = e->method->name,
                          .solver_reason = c->why_method,
                          .solver_remembered = c->way_recalled,
                          .precond = e->precond->name,
                          .format = kcl_engine_format(e),
                          .format_reason = c->why_format,
                          .scaled = s->scaling.row,
                          .scale_reason = s->scale_reason,
                          .put_aside = s->ctx->put_aside,
                          .kernel = e->kernel,
                          .bytes_stored = kcl_engine_stored_bytes(e),
                          .mixed = "",
                          .seconds_check = s->seconds_check,
                          .seconds_stats = s->seconds_stats,
                          .seconds_convert = s->seconds_convert,
                          .seconds_measure = c->seconds,
                          .expected_iterations = c->expected,
                          .timings = c->remembered.count,
                          .stages = (e->program->stages[KCL_LOOP] + steps - 1) / steps,
                          .nrhs = e->program->nrhs,
                          .seconds_predicted = c->predicted,
                          .zero_rows = s->stats.zero_rows,
                          .first_zero_row = s->stats.first_zero_row,
                          .zero_cols = s->stats.zero_cols,
                          .first_zero_col = s->stats.first_zero_col};
  memcpy(out->row_powers, s->scaling.row_range, sizeof out->row_powers);
  memcpy(out->col_powers, s->scaling.col_range, sizeof out->col_powers);
  add_seconds(out, e);
  add_precond(out, e->M);
}

void kcl_solver_info(const kcl_solver *s, kcl_setup_info *out) {
  if (out) *out = (kcl_setup_info){0};
  if (!s || !out) return;
  if (s->standby) {
    kcl_solver_info(s->standby, out);
    return;
  }
  const kcl_mixed *m = s->mixed;
  describe_selection(&s->selection, out);
  if (s->system.distribution) s->system.distribution->describe(s->system.distribution, out);
  if (s->system.direct) out->solver = "direct", out->solver_reason = "asked for";
  if (s->direct) out->solver = s->direct;
  if (!m) return;
  out->mixed = m->why;
  out->seconds_convert += m->system.seconds_convert;
  out->seconds_stats += m->system.seconds_stats;
  if (!kcl_mixed_used(m)) return;
  out->bytes_float = kcl_engine_stored_bytes(m->selection.engine);
  add_seconds(out, m->selection.engine);
  if (m->selection.engine->M) out->seconds_precond += m->selection.engine->M->seconds;
  out->bytes_precond += kcl_preconditioner_bytes(m->selection.engine->M);
}

void kcl_solver_timing(const kcl_solver *s, int i, kcl_setup_timing *out) {
  if (out) *out = (kcl_setup_timing){0};
  if (!s || !out || i < 0 || i >= s->selection.remembered.count) return;
  const kcl_timing *t = &s->selection.remembered.timing[i];
  *out = (kcl_setup_timing){t->method, t->precond, t->format, t->setup, t->iteration};
}
