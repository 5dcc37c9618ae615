/* Stages of a method's loop whose length grows from one iteration of a cycle to the next: GMRES's step j has dots, sums and rotations of
 * j + 1 vectors. Such stages differ in the number of turns, and in which vectors and slots stand where. A stage can so be carried
 * out by the kernel of another one with more turns, its leader, which is told the number of turns, the slots and the vectors:
 *
 *   if (turns >= 3) *sum_d2 = *sum_d2 + v2_i * w_i;
 *
 * Leaders are the largest of up to KCL_TURNS_PER_LEADER consecutive numbers of turns: a launch pays for the vectors and dots of the
 * leader, not only for its own. On a GPU that is a fifth of an iteration of GMRES on a small system, for good; so the stages of shorter
 * programs, which are compiled in less than a minute, have kernels of their own there.
 */
#include "core/opencl/codegen/codegen.h"
#include "core/program/ranks.h"

enum { KCL_TURNS_PER_LEADER = 8, KCL_MOST_STAGES_APART = 100 };

static bool kernels_are_shared(const kcl_program *k, const kcl_geometry *g) {
  return g->group == 1 || k->stages[KCL_LOOP] > KCL_MOST_STAGES_APART;
}

bool kcl_stage_counts_turns(const kcl_program *k, const kcl_geometry *g, int phase, int number) {
  return kernels_are_shared(k, g) && !g->persistent && !g->series && !kcl_program_ranks(k) &&
         kcl_stage_turns(&k->stage[phase][number]) > 0;
}

/* ---------------------------------------------------------------- what stands for the leader's vectors and slots */

/* For each of a list of numbers, in order of first use, the number that stands for it; -1: none does. */
typedef struct names {
  int from[KCL_MOST_LEADER_SLOTS], to[KCL_MOST_LEADER_SLOTS], count;
} names;
typedef struct binding {
  names vectors, slots;
} binding;

/* from is bound to `to`, or, where to is -1, listed. False: it is bound to another one, or there is no room. */
static bool bind(names *n, int from, int to) {
  int i = 0;
  while (i < n->count && n->from[i] != from) i++;
  if (i == KCL_MOST_LEADER_SLOTS) return false;
  if (i == n->count) n->from[i] = from, n->to[i] = -1, n->count++;
  if (to >= 0 && n->to[i] < 0) n->to[i] = to;
  return to < 0 || n->to[i] == to;
}

static bool bind_coefficient(binding *b, kcl_coef c, const kcl_coef *d) {
  if (d && (c.negate != d->negate || c.conjugate != d->conjugate || (c.slot < 0) != (d->slot < 0) ||
            (c.slot < 0 && c.constant != d->constant)))
    return false;
  return c.slot < 0 || bind(&b->slots, c.slot, d ? d->slot : -1);
}

static bool has_slot(const kcl_op *o) { return o->code >= KCL_OP_DOT; }

/* Operation o of the leader, for which p stands in the stage; NULL: the stage has none. */
static bool bind_operation(binding *b, const kcl_op *o, const kcl_op *p) {
  if (p && (o->code != p->code || o->turn != p->turn || o->conjugate != p->conjugate ||
            o->plain != p->plain || o->in_cycle != p->in_cycle || o->reason != p->reason))
    return false;
  return (!has_slot(o) || bind(&b->slots, o->slot, p ? p->slot : -1)) &&
         bind_coefficient(b, o->a, p ? &p->a : NULL) && bind_coefficient(b, o->b, p ? &p->b : NULL);
}

static bool bind_vectors(binding *b, const kcl_op *o, const kcl_op *p) {
  return bind(&b->vectors, o->x, p ? p->x : -1) && bind(&b->vectors, o->y, p ? p->y : -1) &&
         (o->code == KCL_OP_DOT || bind(&b->vectors, o->z, p ? p->z : -1));
}

/* The leader's operations up to `turns` are those of the stage, one after another. */
static bool bind_operations(binding *b, const kcl_op *o, int count, const kcl_op *p, int others,
                            int turns, bool vectors) {
  int next = 0;
  for (int i = 0; i < count; i++) {
    const kcl_op *q = o[i].turn > turns ? NULL : next < others ? &p[next++] : NULL;
    if ((!q && o[i].turn <= turns) || !bind_operation(b, &o[i], q) ||
        (vectors && !bind_vectors(b, &o[i], q)))
      return false;
  }
  return next == others;
}

/* Dots keep their numbers: no dot of the leader that the stage lacks comes before one that it has. */
static bool dots_are_first(const kcl_stage *leader, int turns) {
  bool lacks = false;
  for (int i = 0; i < leader->vectors; i++) {
    const kcl_op *o = &leader->vector[i];
    if (o->code == KCL_OP_DOT && lacks && o->turn <= turns) return false;
    lacks = lacks || (o->code == KCL_OP_DOT && o->turn > turns);
  }
  return true;
}

static bool bind_dots(binding *b, const kcl_stage *leader, const kcl_stage *s) {
  int next = 0;
  if (!leader != !s) return false;
  if (!leader) return true;
  const int turns = kcl_stage_turns(s);
  for (int i = 0; i < leader->vectors; i++) {
    const kcl_op *o = &leader->vector[i];
    if (o->code != KCL_OP_DOT) continue;
    while (o->turn <= turns && next < s->vectors && s->vector[next].code != KCL_OP_DOT) next++;
    if (o->turn <= turns && next == s->vectors) return false;
    if (!bind(&b->slots, o->slot, o->turn <= turns ? s->vector[next++].slot : -1)) return false;
  }
  while (next < s->vectors && s->vector[next].code != KCL_OP_DOT) next++;
  return next == s->vectors && s->cycle_end == leader->cycle_end && dots_are_first(leader, turns);
}

/* ---------------------------------------------------------------- may they stand for them? */

/* A vector that is written is no other one of the kernel, and all are stored as the leader's. */
static bool vectors_fit(const kcl_program *k, const kcl_stage *leader, const names *n) {
  for (int i = 0; i < n->count; i++) {
    if (n->to[i] < 0) continue;
    if (k->vector[n->from[i]].narrow != k->vector[n->to[i]].narrow ||
        kcl_vector_shared(k, n->from[i]) != kcl_vector_shared(k, n->to[i]))
      return false;
    for (int j = 0; kcl_stage_writes(leader, n->from[i]) && j < n->count; j++)
      if (j != i && n->to[j] == n->to[i]) return false;
  }
  return true;
}

static bool same_stage_kind(const kcl_stage *a, const kcl_stage *b) {
  return a->A == b->A && a->n == b->n && a->space == b->space && a->cycle_end == b->cycle_end &&
         a->unnamed == b->unnamed && a->temporaries == b->temporaries;
}

static bool bind_stage(const kcl_program *k, int phase, int leader, int number, binding *b) {
  const kcl_stage *s = &k->stage[phase][leader], *t = &k->stage[phase][number];
  const int turns = kcl_stage_turns(t);
  if (!same_stage_kind(s, t) || !dots_are_first(s, turns)) return false;
  if (s->A && !(bind(&b->vectors, s->y, t->y) && bind(&b->vectors, s->x, t->x))) return false;
  for (int i = 0; i < s->temporaries; i++)
    if (!bind(&b->vectors, s->temporary[i], t->temporary[i])) return false;
  return bind_dots(b, kcl_stage_previous(k, phase, leader), kcl_stage_previous(k, phase, number)) &&
         bind_operations(b, s->scalar, s->scalars, t->scalar, t->scalars, turns, false) &&
         bind_operations(b, s->vector, s->vectors, t->vector, t->vectors, turns, true) &&
         vectors_fit(k, s, &b->vectors);
}

static kcl_vec vector_bound(const names *n, kcl_vec v) {
  for (int i = 0; i < n->count; i++)
    if (n->from[i] == v) return n->to[i];
  return -1;
}

/* The vector that is read in place of v, which the stage lacks: one that its kernel reads anyway and does not write. */
static kcl_vec stand_in(const kcl_program *k, const kcl_stage *leader, const names *n, kcl_vec v) {
  for (int i = 0; i < n->count; i++)
    if (n->to[i] >= 0 && !kcl_stage_writes(leader, n->from[i]) &&
        k->vector[n->from[i]].narrow == k->vector[v].narrow &&
        kcl_vector_shared(k, n->from[i]) == kcl_vector_shared(k, v) &&
        k->vector[n->to[i]].n == k->vector[v].n)
      return n->to[i];
  return k->b;
}

bool kcl_stage_serves(const kcl_program *k, int phase, int leader, int number,
                      kcl_turns_arguments *out) {
  const kcl_stage *s = &k->stage[phase][leader], *t = &k->stage[phase][number],
                  *before = kcl_stage_previous(k, phase, number);
  binding *b = calloc(1, sizeof *b);
  const bool serves = b && bind_stage(k, phase, leader, number, b);
  kcl_vec list[KCL_MOST_STAGE_VECTORS];
  if (serves) {
    out->turns = kcl_stage_turns(t), out->turns_before = before ? kcl_stage_turns(before) : 0;
    out->vectors = kcl_stage_vectors(s, list, KCL_MOST_STAGE_VECTORS);
    for (int i = 0; i < out->vectors; i++) {
      const kcl_vec v = vector_bound(&b->vectors, list[i]);
      out->vector[i] = v >= 0 ? v : stand_in(k, s, &b->vectors, list[i]);
    }
    out->slots = b->slots.count;
    for (int i = 0; i < out->slots; i++)
      out->slot[i] = (short)(b->slots.to[i] < 0 ? 0 : b->slots.to[i]);
  }
  free(b);
  return serves;
}

static int group_of_turns(int turns) {
  return (turns + KCL_TURNS_PER_LEADER - 1) / KCL_TURNS_PER_LEADER;
}

int kcl_stage_leader(const kcl_program *k, const kcl_geometry *g, int phase, int number) {
  kcl_turns_arguments unused;
  if (!kcl_stage_counts_turns(k, g, phase, number)) return number;
  const int turns = kcl_stage_turns(&k->stage[phase][number]);
  int leader = number;
  for (int i = number + 1; i < k->stages[phase]; i++) {
    const int more = kcl_stage_turns(&k->stage[phase][i]);
    if (more >= turns && group_of_turns(more) == group_of_turns(turns) &&
        kcl_stage_serves(k, phase, i, number, &unused))
      leader = i;
  }
  return leader;
}
