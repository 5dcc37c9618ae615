/* One stage as one kernel: fills the skeleton kernels/stage.cl. */
#include "core/opencl/codegen/codegen.h"
#include "core/program/formula.h"
#include <stdio.h>

void kcl_stage_id(const kcl_program *k, int phase, int number, char id[32]) {
  const bool own = kcl_stage_can_share(k, phase, number);
  int before = 0;
  for (int i = 0; i < number; i++) before += kcl_stage_can_share(k, phase, i) == own;
  snprintf(id, 32, own ? "%d_own_%d" : "%d_%d", phase, before);
}

kcl_emit kcl_emit_stage(const kcl_program *k, const kcl_geometry *g, kcl_phase phase, int number) {
  kcl_emit e = {.k = k,
                .g = g,
                .s = &k->stage[phase][number],
                .phase = phase,
                .number = number,
                .cpu = g->group == 1,
                .unnamed = !g->persistent && kcl_stage_can_share(k, phase, number),
                .persistent = g->persistent,
                .turns = kcl_stage_counts_turns(k, g, phase, number)};
  kcl_stage_id(k, phase, number, e.id);
  return e;
}

static const kcl_stage *before(const kcl_emit *e) {
  return kcl_stage_previous(e->k, e->phase, e->number);
}

static void id(kcl_source *t, const void *of) { kcl_put(t, "%s", ((const kcl_emit *)of)->id); }

void kcl_put_stage_comment(kcl_source *t, const kcl_emit *e) {
  char text[4000];
  if (e->unnamed) {
    kcl_put(t, "/* of the preconditioner */\n");
    return;
  }
  kcl_stage_formula(e->k, e->s, text, sizeof text);
  kcl_put(t, "/* %s, stage_%s:", kcl_phase_name(e->phase), e->id);
  for (const char *at = text; *at;) {
    size_t n = strcspn(at, ";");
    kcl_put(t, "\n *   %.*s", (int)n, at);
    at += n;
    at += strspn(at, "; ");
  }
  kcl_put(t, " */\n");
}

static void put_slots_type(kcl_source *t, const kcl_emit *e) {
  kcl_turns_arguments a;
  if (!e->turns || !kcl_stage_serves(e->k, e->phase, e->number, e->number, &a)) return;
  kcl_put(t, "typedef struct {\n  short at[%d];\n} slots_%s;\n", a.slots ? a.slots : 1, e->id);
}

static void elements(kcl_source *t, const void *of) {
  put_slots_type(t, of);
  kcl_put_stage_comment(t, of), kcl_put_elements(t, of);
}

static void format(kcl_source *t, const void *of) { kcl_put_format(t, of); }

static void sums_parameter(kcl_source *t, const void *of) {
  const kcl_emit *e = of;
  if (kcl_sums_are_argument(e->k)) kcl_put(t, ", const sums_of_ranks over_ranks");
}

static void history_parameter(kcl_source *t, const void *of) {
  const kcl_emit *e = of;
  if (kcl_stage_writes_history(e->s)) kcl_put(t, ", global real *restrict history");
}

static void put_stage_matrix(kcl_source *t, const void *of) {
  const kcl_emit *e = of;
  if (e->s->A) kcl_put(t, ", "), kcl_put_arrays(t, e->s->A, KCL_ARRAYS_TYPED, kcl_emit_prefix(e));
  if (kcl_lanes_are_argument(e)) kcl_put(t, ", const int row_lanes");
}

static void put_stage_vectors(kcl_source *t, const void *of) { kcl_put_vectors(t, of, true); }

static void prepared_parameters(kcl_source *t, const void *of) {
  const kcl_emit *e = of;
  kcl_put(t, ", "), kcl_put_arrays(t, e->s->A, KCL_ARRAYS_WRITTEN, kcl_emit_prefix(e));
}

static void prepared_arguments(kcl_source *t, const void *of) {
  const kcl_emit *e = of;
  kcl_put_arrays(t, e->s->A, KCL_ARRAYS_NAMED, kcl_emit_prefix(e));
}

static int sums_at_once(const kcl_emit *e) {
  const int dots = kcl_stage_dots(e->s), previous = before(e) ? kcl_stage_dots(before(e)) : 0;
  return kcl_at_once(kcl_rhs_width(e->k) * (dots > previous ? dots : previous));
}

static bool scratch_is_argument(const kcl_emit *e) {
  return e->s->A && e->s->A->kernel.local_scalars;
}

int64_t kcl_stage_scratch(const kcl_emit *e, const kcl_stored *A) {
  return scratch_is_argument(e) ? (int64_t)e->g->group * sums_at_once(e) + A->kernel.local_scalars
                                : 0;
}

static void state_parameters(kcl_source *t, const void *of) {
  if (((const kcl_emit *)of)->passes_state) kcl_put(t, ", const int state_words, const int slots");
}

static void put_load_state(kcl_source *t, const void *of) {
  kcl_put(t, ((const kcl_emit *)of)->passes_state ? "pass_state(IN, OUT, slots, s, control);\n"
                                                  : "load_state(IN, s, control);\n");
}

static void put_store_state(kcl_source *t, const void *of) {
  if (!((const kcl_emit *)of)->passes_state) kcl_put(t, "store_state(OUT, s, control);\n");
}

static void scratch_parameter(kcl_source *t, const void *of) {
  if (scratch_is_argument(of)) kcl_put(t, ", local scalar *scratch");
}

static void scratch_arrays(kcl_source *t, const void *of) {
  if (scratch_is_argument(of))
    kcl_put(t, "local scalar s[SLOTS * NRHS];\n");
  else
    kcl_put(t, "local scalar s[SLOTS * NRHS + WG * %d], *scratch = s + SLOTS * NRHS;\n",
            sums_at_once(of));
}

static void put_stage_totals(kcl_source *t, const void *of) {
  int width = kcl_rhs_width(((const kcl_emit *)of)->k);
  kcl_put(t, "%d", width > KCL_AT_ONCE ? width : KCL_AT_ONCE);
}

static void cycle_end(kcl_source *t, const void *of) {
  kcl_put(t, "%s", ((const kcl_emit *)of)->s->cycle_end ? "true" : "false");
}

/* Was the stage before carried out for a stop inside the cycle, too? */
static void cycle_end_before(kcl_source *t, const void *of) {
  const kcl_emit *e = of;
  kcl_put(t, "%s", e->s->cycle_end && before(e) && before(e)->cycle_end ? "true" : "false");
}

static void put_stage_reduce(kcl_source *t, const void *of) {
  const kcl_emit *e = of;
  kcl_put_reduce(t, e->k, before(e), e->turns);
}

/* The slots of a kernel that is told its turns are arguments. Their names hide those of the program's slots. */
static void turns_parameters(kcl_source *t, const void *of) {
  const kcl_emit *e = of;
  if (e->turns)
    kcl_put(t, ", const int turns, const int turns_before, const slots_%s slots", e->id);
}

static void slots_of_turns(kcl_source *t, const void *of) {
  const kcl_emit *e = of;
  kcl_turns_arguments a;
  if (!e->turns || !kcl_stage_serves(e->k, e->phase, e->number, e->number, &a)) return;
  for (int i = 0; i < a.slots; i++)
    kcl_put(t, "const int slot_%s = slots.at[%d];\n", kcl_slot_name(e->k, a.slot[i]), i);
}

static void scalars(kcl_source *t, const void *of) {
  const kcl_emit *e = of;
  if (!e->s->scalars) return;
  kcl_put(t, "FOR_ACTIVE_RHS {\n");
  kcl_put_scalar_ops(t, e, NULL, true);
  kcl_put(t, "}\nSYNC();\n");
}

static void put_stage_seed(kcl_source *t, const void *of) {
  const kcl_emit *e = of;
  kcl_put_seed(t, e->k, kcl_stage_seeds(e->k, e->phase, e->number));
}

static void put_stage_factors(kcl_source *t, const void *of) { kcl_put_factors(t, of); }
static void put_stage_sums(kcl_source *t, const void *of) { kcl_put_sums(t, of); }
static void put_stage_loop(kcl_source *t, const void *of) { kcl_put_loop(t, of); }
static void put_stage_partials(kcl_source *t, const void *of) { kcl_put_partials(t, of); }
static void put_prepare_kernel(kcl_source *t, const void *of);

static const kcl_hole holes[] = {{"id", id},
                                 {"elements", elements},
                                 {"format", format},
                                 {"prepare", put_prepare_kernel},
                                 {"sums_parameter", sums_parameter},
                                 {"history_parameter", history_parameter},
                                 {"matrix_parameters", put_stage_matrix},
                                 {"vector_parameters", put_stage_vectors},
                                 {"turns_parameters", turns_parameters},
                                 {"slots_of_turns", slots_of_turns},
                                 {"prepared_parameters", prepared_parameters},
                                 {"prepared_arguments", prepared_arguments},
                                 {"state_parameters", state_parameters},
                                 {"load_state", put_load_state},
                                 {"store_state", put_store_state},
                                 {"scratch_parameter", scratch_parameter},
                                 {"scratch_arrays", scratch_arrays},
                                 {"totals", put_stage_totals},
                                 {"cycle_end", cycle_end},
                                 {"cycle_end_before", cycle_end_before},
                                 {"reduce", put_stage_reduce},
                                 {"scalars", scalars},
                                 {"seed", put_stage_seed},
                                 {"factors", put_stage_factors},
                                 {"sums", put_stage_sums},
                                 {"loop", put_stage_loop},
                                 {"partials", put_stage_partials}};
enum { HOLES = sizeof holes / sizeof *holes };

static void put_prepare_kernel(kcl_source *t, const void *of) {
  const kcl_emit *e = of;
  if (e->s->A && e->s->A->kernel.prepare_items) kcl_put_skeleton(t, "prepare.cl", holes, HOLES, e);
}

kcl_emit kcl_emit_owner(const kcl_program *k, const kcl_geometry *g, const kcl_stage_kernel *at) {
  kcl_emit e = kcl_emit_stage(k, g, (kcl_phase)at->phase, at->number);
  if (at->alone) snprintf(e.id, sizeof e.id, "shared");
  e.passes_state = kcl_stage_passes_state(k, at);
  return e;
}

/* Types of the format's arrays end with its text. */
void kcl_put_stage_kernel(kcl_source *t, const kcl_program *k, const kcl_geometry *g,
                          const kcl_stage_kernel *at) {
  const kcl_emit e = kcl_emit_owner(k, g, at);
  const kcl_stored *A = e.s->A;
  kcl_put_skeleton(t, "stage.cl", holes, HOLES, &e);
  for (int i = 0; A && i < A->arrays; i++)
    if (A->array[i].kind == KCL_INT64) kcl_put(t, "#undef %s_t\n", A->array[i].name);
}
