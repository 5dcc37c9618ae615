/* Properties of a program that the persistent kernel depends on: whether LOOP can be one kernel, which vectors other groups
 * gather, where reductions are in flight, and which scalars can wait for them. docs/persistent.md explains why. */
#include "core/opencl/codegen/codegen.h"
#include "core/opencl/codegen/persistent_plan.h"

bool kcl_phase_uses(const kcl_program *k, kcl_phase phase, kcl_vec v) {
  for (int i = 0; i < k->stages[phase]; i++) {
    kcl_vec list[KCL_MOST_STAGE_VECTORS];
    int count = kcl_stage_vectors(&k->stage[phase][i], list, KCL_MOST_STAGE_VECTORS);
    for (int j = 0; j < count; j++)
      if (list[j] == v) return true;
  }
  return false;
}

bool kcl_phase_gathers(const kcl_program *k, kcl_phase phase, kcl_vec v) {
  for (int i = 0; i < k->stages[phase]; i++)
    if (k->stage[phase][i].A && k->stage[phase][i].x == v) return true;
  return false;
}

bool kcl_persistent_uses(const kcl_program *k, kcl_vec v) {
  return kcl_phase_uses(k, KCL_LOOP, v) || kcl_phase_uses(k, KCL_REPLACE, v);
}

bool kcl_persistent_gathers(const kcl_program *k, kcl_vec v) {
  return kcl_phase_gathers(k, KCL_LOOP, v) || kcl_phase_gathers(k, KCL_REPLACE, v);
}

bool kcl_in_registers(const kcl_emit *e, kcl_vec v) {
  return e->persistent && e->g->in_registers && kcl_phase_uses(e->k, KCL_LOOP, v);
}

bool kcl_publishes(const kcl_emit *e, kcl_vec v) {
  return e->persistent && kcl_stage_writes(e->s, v) &&
         (kcl_phase_gathers(e->k, KCL_LOOP, v) ||
          (e->phase == KCL_REPLACE && kcl_phase_gathers(e->k, KCL_REPLACE, v)));
}

const kcl_stage *kcl_persistent_before(const kcl_program *k, const kcl_stage *s) {
  const bool first = s == k->stage[KCL_LOOP] || s == k->stage[KCL_REPLACE];
  return first ? &k->stage[KCL_LOOP][k->stages[KCL_LOOP] - 1] : s - 1;
}

/* A product ends so even without dots: two versions later no group may still be reading its x. */
bool kcl_ends_in_flight(const kcl_stage *s) { return kcl_stage_dots(s) || s->A; }

static bool can_overlap(const kcl_program *k, const kcl_stage *s) {
  return s->A && kcl_ends_in_flight(kcl_persistent_before(k, s));
}

bool kcl_overlaps(const kcl_emit *e) {
  return e->persistent && e->g->overlaps && can_overlap(e->k, e->s);
}

bool kcl_loop_can_overlap(const kcl_program *k) {
  for (int i = 0; i < k->stages[KCL_LOOP]; i++)
    if (can_overlap(k, &k->stage[KCL_LOOP][i])) return true;
  return false;
}

static bool operators_allow(const kcl_program *k) {
  for (int i = 0; i < k->ops; i++) {
    const kcl_stored *m = k->op[i].matrix;
    if (!m->kernel.rows_match_elements || m->kernel.lanes != k->A->kernel.lanes ||
        m->format->scatter || m->kernel.prepare_items || m->rows != k->n || m->cols != k->n)
      return false;
  }
  return true;
}

static bool stage_allows(const kcl_program *k, const kcl_stage *s) {
  if (s->cycle_end || (s->n && s->n != k->n)) return false;
  for (int o = 0; o < s->scalars; o++)
    if (s->scalar[o].in_cycle) return false;
  return true;
}

/* Rows and elements must be shared out alike, so that a work-item alone touches its elements. Formats that scatter need y
 * cleared first, some a launch before the product; cycles that close late and stages of other lengths would only make the
 * source longer. */
bool kcl_persistent_possible(const kcl_program *k) {
  const int loop = k->stages[KCL_LOOP], replace = k->stages[KCL_REPLACE];
  if (kcl_rhs_width(k) > 1 || !k->A || !loop || !operators_allow(k)) return false;
  for (int i = 0; i < loop; i++)
    if (!stage_allows(k, &k->stage[KCL_LOOP][i])) return false;
  for (int i = 0; i < replace; i++)
    if (!stage_allows(k, &k->stage[KCL_REPLACE][i])) return false;
  return !(replace && kcl_ends_in_flight(&k->stage[KCL_REPLACE][replace - 1]));
}

/* Does the operation only read slots? */
static bool only_reads(const kcl_op *o) {
  return o->code == KCL_OP_POSITIVE || o->code == KCL_OP_NONZERO || o->code == KCL_OP_RITZ ||
         o->code == KCL_OP_END_ITERATION;
}

static bool reads(const kcl_program *k, const kcl_op *o, kcl_slot slot) {
  if (only_reads(o) && o->code != KCL_OP_RITZ)
    return o->slot == slot || (o->code == KCL_OP_END_ITERATION && k->target == slot);
  return o->a.slot == slot || o->b.slot == slot;
}

/* May operation `first` be done after operation `then`, which was recorded later? */
static bool may_swap(const kcl_program *k, const kcl_op *first, const kcl_op *then) {
  const bool assigns = !only_reads(first), later = !only_reads(then);
  return !(assigns && reads(k, then, first->slot)) && !(later && reads(k, first, then->slot)) &&
         !(assigns && later && first->slot == then->slot);
}

/* Does a vector operation of the stage use what this operation assigns? */
static bool vectors_need(const kcl_program *k, const kcl_stage *s, const kcl_op *o) {
  for (int j = 0; j < s->vectors && !only_reads(o); j++)
    if (s->vector[j].code == KCL_OP_LINCOMB && reads(k, &s->vector[j], o->slot)) return true;
  return false;
}

bool kcl_split_scalars(const kcl_program *k, const kcl_stage *s, bool *wait) {
  bool urgent = false;
  for (int i = s->scalars - 1; i >= 0; i--) {
    const kcl_op *o = &s->scalar[i];
    wait[i] = !vectors_need(k, s, o);
    for (int j = i + 1; j < s->scalars; j++)
      if (!wait[j] && !may_swap(k, o, &s->scalar[j])) wait[i] = false;
    urgent = urgent || !wait[i];
  }
  return urgent;
}
