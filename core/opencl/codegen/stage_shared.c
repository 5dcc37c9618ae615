/* Stages that share a kernel. The levels of a multigrid cycle, and the cycles of two phases, repeat the same few stages with
 * other vectors and matrices. Their source has no names of its own, so one kernel, compiled once, is given the arguments of
 * each.
 */
#include "core/opencl/codegen/codegen.h"
#include "core/opencl/codegen/persistent_plan.h"
#include <stdio.h>

static bool same_lanes(const kcl_program *k, const kcl_stored *a, const kcl_stored *b,
                       bool in_series) {
  if (kcl_lanes_vary(k, a) && kcl_lanes_vary(k, b)) return true;
  return in_series ? kcl_series_lanes(k, a) == kcl_series_lanes(k, b)
                   : a->kernel.lanes == b->kernel.lanes;
}

/* Kernels of guarded matrices have their sizes as constants. */
static bool same_sizes(const kcl_stored *a, const kcl_stored *b) {
  bool same = a->rows == b->rows && a->cols == b->cols;
  for (int i = 0; i < a->arrays && i < b->arrays; i++)
    same = same && a->array[i].count == b->array[i].count;
  return same;
}

static bool same_matrices(const kcl_stored *a, const kcl_stored *b) {
  if (a->format != b->format || a->kernel.variant != b->kernel.variant ||
      !a->kernel.local_scalars != !b->kernel.local_scalars || a->arrays != b->arrays ||
      a->params != b->params || !a->kernel.message_slots != !b->kernel.message_slots ||
      !a->kernel.prepare_items != !b->kernel.prepare_items ||
      (a->nnz < INT32_MAX) != (b->nnz < INT32_MAX))
    return false;
  for (int i = 0; i < a->arrays; i++)
    if (strcmp(a->array[i].name, b->array[i].name) || a->array[i].kind != b->array[i].kind)
      return false;
  for (int i = 0; i < a->params; i++)
    if (strcmp(a->param[i].name, b->param[i].name)) return false;
  return true;
}

static bool same_coefficients(kcl_coef a, kcl_coef b) {
  return a.slot == b.slot && a.negate == b.negate && a.conjugate == b.conjugate &&
         (a.slot >= 0 || a.constant == b.constant);
}

static int place_in_list(const kcl_vec *list, int count, kcl_vec v) {
  int i = 0;
  while (i < count && list[i] != v) i++;
  return i;
}

/* The vectors of a stage in the order of its arguments. */
typedef struct used {
  kcl_vec list[KCL_MOST_STAGE_VECTORS];
  int count;
} used;

static used used_by(const kcl_stage *s) {
  used u;
  u.count = kcl_stage_vectors(s, u.list, KCL_MOST_STAGE_VECTORS);
  return u;
}

static bool same_vector_place(const used *u, kcl_vec a, const used *v, kcl_vec b) {
  return place_in_list(u->list, u->count, a) == place_in_list(v->list, v->count, b);
}

static bool stages_alike(const kcl_program *k, const kcl_stage *s, const kcl_stage *t,
                         bool in_series) {
  const used u = used_by(s), v = used_by(t);
  if (s->vectors != t->vectors || s->cycle_end != t->cycle_end || u.count != v.count ||
      !same_matrices(s->A, t->A) || (k->guarded && !same_sizes(s->A, t->A)) ||
      !same_lanes(k, s->A, t->A, in_series) || !same_vector_place(&u, s->y, &v, t->y) ||
      !same_vector_place(&u, s->x, &v, t->x))
    return false;
  for (int i = 0; i < u.count; i++)
    if (kcl_vector_shared(k, u.list[i]) != kcl_vector_shared(k, v.list[i]) ||
        k->vector[u.list[i]].narrow != k->vector[v.list[i]].narrow ||
        (kcl_stage_temporary(s, u.list[i]) < 0) != (kcl_stage_temporary(t, v.list[i]) < 0))
      return false;
  for (int i = 0; i < s->vectors; i++) {
    const kcl_op *o = &s->vector[i], *p = &t->vector[i];
    if (o->code != p->code || o->conjugate != p->conjugate || !same_coefficients(o->a, p->a) ||
        !same_coefficients(o->b, p->b) || !same_vector_place(&u, o->y, &v, p->y) ||
        !same_vector_place(&u, o->x, &v, p->x) || !same_vector_place(&u, o->z, &v, p->z))
      return false;
  }
  return true;
}

void kcl_stage_shared(const kcl_program *k, const kcl_geometry *g, int *phase, int *number) {
  const kcl_stage *s = &k->stage[*phase][*number];
  if (!kcl_stage_can_share(k, *phase, *number)) return;
  const bool in_series = kcl_stage_in_series(k, g, *phase, *number);
  for (int p = 0; p < KCL_PHASES; p++)
    for (int i = 0; i < k->stages[p] && !(kcl_phase_persistent(p) && g->without_loop); i++) {
      const kcl_stage *t = &k->stage[p][i];
      if (t != s && !(kcl_stage_can_share(k, p, i) && stages_alike(k, s, t, in_series) &&
                      kcl_stage_in_series(k, g, p, i) == in_series))
        continue;
      *phase = p, *number = i;
      return;
    }
}

const char *kcl_emit_vec(const kcl_emit *e, kcl_vec v) {
  static const char *const names[] = {"v0",  "v1",  "v2",  "v3",  "v4",  "v5",  "v6",  "v7",
                                      "v8",  "v9",  "v10", "v11", "v12", "v13", "v14", "v15",
                                      "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23",
                                      "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31"};
  if (!e->unnamed) return kcl_vec_name(e->k, v);
  const used u = used_by(e->s);
  return names[place_in_list(u.list, u.count, v)];
}
