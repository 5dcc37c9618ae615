/* Stages of a solver in the notation of the method, their bytes and launches, and the OpenCL source. */
#include "core/program/formula.h"
#include "solver/solver.h"

int kcl_stage_count(const kcl_solver *s) {
  if (!s) return 0;
  const kcl_program *k = s->selection.engine->program;
  int count = 0;
  for (int p = 0; p < KCL_PHASES; p++) count += k->stages[p];
  return count;
}

void kcl_solver_stage(const kcl_solver *s, int i, kcl_stage_info *out) {
  static _Thread_local char text[4000];
  if (out) *out = (kcl_stage_info){0};
  if (!out || i < 0 || i >= kcl_stage_count(s)) return;
  const kcl_engine *e = s->selection.engine;
  const kcl_executor *ex = &e->executor;
  const kcl_program *k = e->program;
  int p = 0;
  while (p < KCL_PHASES - 1 && i >= k->stages[p]) i -= k->stages[p++];
  const kcl_stage *stage = &k->stage[p][i];
  const kcl_stored *A = kcl_stage_operator(stage);
  bool persistent = ex->replaces && (p == KCL_LOOP || p == KCL_REPLACE);
  kcl_stage_formula(k, stage, text, sizeof text);
  *out = (kcl_stage_info){.phase = kcl_phase_name(p),
                          .operations = text,
                          .bytes = kcl_stage_bytes(k, stage, k->nrhs),
                          .launches = ex->launches ? ex->launches(ex, (kcl_phase)p, i) : 0,
                          .persistent = persistent,
                          .product = A && (A == k->A || A == k->AH),
                          .dots = kcl_stage_dots(stage)};
}

int kcl_solver_source(kcl_solver *s, char **source) {
  if (source) *source = NULL;
  if (!s || !source) return KCL_USAGE;
  KCL_ENTER(s->system.ctx);
  kcl_executor *ex = &s->selection.engine->executor;
  if (ex->source) return ex->source(ex, source);
  return kcl_fail(
      s->system.ctx, KCL_USAGE,
      "the native executor interprets stages and has no source: select an OpenCL device");
}
