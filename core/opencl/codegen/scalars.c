/* OpenCL source for the scalars of a stage: operations on slots, coefficients, and the reductions that fill slots. */
#include "core/opencl/codegen/codegen.h"

int kcl_at_once(int dots) { return dots < 1 ? 1 : dots < KCL_AT_ONCE ? dots : KCL_AT_ONCE; }

int kcl_most_dots(const kcl_program *k) {
  int dots = kcl_program_dots(k);
  return dots < KCL_AT_ONCE ? KCL_AT_ONCE : dots;
}

/* ---------------------------------------------------------------- operations on slots */

static void put_constant(kcl_source *t, double c) {
  if (c == (double)(long)c)
    kcl_put(t, "s_make(%ld)", (long)c);
  else
    kcl_put(t, "s_make((real)%.17g)", c);
}

static void put_operand(kcl_source *t, const kcl_program *k, kcl_coef c) {
  if (c.slot < 0)
    put_constant(t, c.constant);
  else
    kcl_put(t, "%s%sSLOT(%s)%s%s", c.negate ? "s_neg(" : "", c.conjugate ? "s_conj(" : "",
            kcl_slot_name(k, c.slot), c.conjugate ? ")" : "", c.negate ? ")" : "");
}

static void put_assignment(kcl_source *t, const kcl_program *k, const kcl_op *o,
                           const char *function, bool two) {
  kcl_put(t, "  SLOT(%s) = %s%s", kcl_slot_name(k, o->slot), function, *function ? "(" : "");
  put_operand(t, k, o->a);
  if (two) kcl_put(t, ", "), put_operand(t, k, o->b);
  kcl_put(t, "%s;\n", *function ? ")" : "");
}

/* Writes a test of a slot, or the values that go to the history. */
static void put_test(kcl_source *t, const kcl_program *k, const kcl_op *o) {
  const char *slot = kcl_slot_name(k, o->slot);
  switch (o->code) {
  case KCL_OP_POSITIVE:
    kcl_put(t, "  stop_when(s_re(SLOT(%s)) <= 0, %d, CONTROL_OF_RHS);\n", slot, o->reason);
    kcl_put(t, "  stop_when(!(s_re(SLOT(%s)) > 0), NOT_FINITE, CONTROL_OF_RHS);\n", slot);
    break;
  case KCL_OP_NONZERO:
    kcl_put(t, "  stop_when(s_zero(SLOT(%s)), %d, CONTROL_OF_RHS);\n", slot, o->reason);
    break;
  case KCL_OP_END_ITERATION:
    kcl_put(t, "  end_iteration(SLOT(%s), s_re(SLOT(target)), CONTROL_OF_RHS, HISTORY_OF_RHS);\n",
            slot);
    if (o->in_cycle) kcl_put(t, "  leave_cycle_open(CONTROL_OF_RHS);\n");
    break;
  case KCL_OP_CYCLE_END: kcl_put(t, "  (CONTROL_OF_RHS)[CYCLE_OPEN] = 0;\n"); break;
  default: /* KCL_OP_RITZ */
    kcl_put(t,
            "  if (get_group_id(0) == 0) store_ritz(SLOT(%s), SLOT(%s), CONTROL_OF_RHS, "
            "HISTORY_OF_RHS);\n",
            kcl_slot_name(k, o->a.slot), kcl_slot_name(k, o->b.slot));
  }
}

static void put_scalar_op(kcl_source *t, const kcl_program *k, const kcl_op *o) {
  switch (o->code) {
  case KCL_OP_ASSIGN: put_assignment(t, k, o, "", false); break;
  case KCL_OP_DIVIDE: put_assignment(t, k, o, "s_div", true); break;
  case KCL_OP_MULTIPLY: put_assignment(t, k, o, "s_mul", true); break;
  case KCL_OP_ADD: put_assignment(t, k, o, "s_add", true); break;
  case KCL_OP_ROOT: put_assignment(t, k, o, "s_root", false); break;
  case KCL_OP_MODULUS: put_assignment(t, k, o, "s_modulus", false); break;
  case KCL_OP_LEAST: put_assignment(t, k, o, "s_least", true); break;
  default: put_test(t, k, o);
  }
}

void kcl_put_scalar_ops(kcl_source *t, const kcl_emit *e, const bool *only, bool which) {
  int open = 0; /* the turn whose operations are being written */
  for (int i = 0; i < e->s->scalars; i++)
    if (!only || only[i] == which) {
      const int turn = e->turns ? e->s->scalar[i].turn : 0;
      if (turn && turn != open) kcl_put(t, "%sif (turns >= %d) {\n", open ? "}\n" : "", turn);
      if (!turn && open) kcl_put(t, "}\n");
      open = turn;
      put_scalar_op(t, e->k, &e->s->scalar[i]);
    }
  if (open) kcl_put(t, "}\n");
}

/* ---------------------------------------------------------------- coefficients of vector operations */

static bool same_coefficient(kcl_coef a, kcl_coef b) {
  return a.slot == b.slot && a.conjugate == b.conjugate &&
         (a.slot >= 0 || a.constant == b.constant);
}

/* Is coefficient a (or b) of y = a x + b z a name in the source? 0, 1 and, where it is only a sign, -1 are not. */
static bool named(const kcl_op *o, bool second) {
  const kcl_coef c = second ? o->b : o->a, other = second ? o->a : o->b;
  if (o->code != KCL_OP_LINCOMB || is_constant(c, 0) || is_constant(c, 1)) return false;
  return !is_constant(c, -1) || (second ? !is_constant(other, 1) : is_constant(other, 1));
}

int kcl_stage_factors(const kcl_stage *s, kcl_coef *list) {
  int count = 0;
  for (int i = 0; i < 2 * s->vectors; i++) {
    const kcl_op *o = &s->vector[i / 2];
    const kcl_coef c = i % 2 ? o->b : o->a;
    bool known = !named(o, i % 2);
    for (int j = 0; j < count && !known; j++) known = same_coefficient(list[j], c);
    if (!known) list[count++] = c;
  }
  return count;
}

void kcl_put_factor_name(kcl_source *t, const kcl_emit *e, kcl_coef c) {
  kcl_coef list[2 * KCL_MOST_STAGE_OPS];
  int count = kcl_stage_factors(e->s, list), i = 0;
  while (i < count && !same_coefficient(list[i], c)) i++;
  if (c.slot < 0)
    kcl_put(t, "constant_%d", i);
  else
    kcl_put(t, "%s%s", c.conjugate ? "conj_" : "", kcl_slot_name(e->k, c.slot));
}

/* Coefficients of vector operations are loaded into registers, since every element uses them. The operation has the sign. */
void kcl_put_factors(kcl_source *t, const kcl_emit *e) {
  kcl_coef list[2 * KCL_MOST_STAGE_OPS];
  int count = kcl_stage_factors(e->s, list);
  bool several = kcl_rhs_width(e->k) > 1;
  for (int i = 0; i < count; i++) {
    kcl_coef c = list[i];
    kcl_put(t, "const factor f_");
    kcl_put_factor_name(t, e, c);
    kcl_put(t, " = ");
    if (c.slot < 0) {
      kcl_put(t, several ? "e_spread(" : "");
      put_constant(t, c.constant);
      kcl_put(t, several ? ")" : "");
    } else
      kcl_put(t, several ? "%se_slot(s + slot_%s * NRHS)%s" : "%ss[slot_%s]%s",
              c.conjugate ? (several ? "e_conj(" : "s_conj(") : "", kcl_slot_name(e->k, c.slot),
              c.conjugate ? ")" : "");
    kcl_put(t, ";\n");
  }
}

/* ---------------------------------------------------------------- reductions */

/* total[0 .. count): sums dot, dot + 1, ... of the stage before. */
static void put_totals(kcl_source *t, const kcl_program *k, int dot, int count) {
  kcl_put(t, "reduce_partials(IN, %d, %d, groups_before, total, scratch);\n", dot, count);
  for (int q = 0; kcl_sums_are_argument(k) && q < count; q++)
    kcl_put(t, "total[%d] = s_add(total[%d], over_ranks.sum[%d]);\n", q, q, dot + q);
}

/* Begins what is done for dots of this turn and of later ones only where there are as many; true: kcl_put "}" afterwards. */
static bool begin_turn(kcl_source *t, bool turns, int turn, const char *limit) {
  if (turns && turn) kcl_put(t, "if (%s >= %d) {\n", limit, turn);
  return turns && turn;
}

static void reduce_one_rhs(kcl_source *t, const kcl_program *k, const kcl_stage *before,
                           bool turns) {
  bool open = false;
  int dots = kcl_stage_dots(before), d = 0;
  for (int i = 0; i < before->vectors; i++) {
    if (before->vector[i].code != KCL_OP_DOT) continue;
    if (d % KCL_AT_ONCE == 0) {
      open = begin_turn(t, turns, before->vector[i].turn, "turns_before");
      put_totals(t, k, d, kcl_at_once(dots - d));
      kcl_put(t, "if (get_local_id(0) == 0 && was_active) {\n");
    }
    if (turns && before->vector[i].turn)
      kcl_put(t, "  if (turns_before >= %d)", before->vector[i].turn);
    kcl_put(t, "  s[slot_%s] = total[%d];\n", kcl_slot_name(k, before->vector[i].slot),
            d % KCL_AT_ONCE);
    d++;
    if (d % KCL_AT_ONCE == 0 || d == dots) kcl_put(t, "}\nSYNC();\n%s", open ? "}\n" : "");
  }
}

/* As reduce_one_rhs for several right-hand sides: a dot is one sum per right-hand side. */
static void reduce_several(kcl_source *t, const kcl_program *k, const kcl_stage *before,
                           bool turns) {
  int width = kcl_rhs_width(k);
  for (int i = 0, d = 0; i < before->vectors; i++) {
    if (before->vector[i].code != KCL_OP_DOT) continue;
    const bool open = begin_turn(t, turns, before->vector[i].turn, "turns_before");
    for (int c = 0; c < width; c += KCL_AT_ONCE) {
      const int count = kcl_at_once(width - c);
      put_totals(t, k, d * width + c, count);
      kcl_put(t,
              "if (get_local_id(0) == 0) keep_sums(s + slot_%s * NRHS + %d, total, %d, was_active "
              ">> %d);\nSYNC();\n",
              kcl_slot_name(k, before->vector[i].slot), c, count, c);
    }
    if (open) kcl_put(t, "}\n");
    d++;
  }
}

void kcl_put_reduce(kcl_source *t, const kcl_program *k, const kcl_stage *before, bool turns) {
  if (!before) return;
  (kcl_rhs_width(k) > 1 ? reduce_several : reduce_one_rhs)(t, k, before, turns);
}

static const kcl_op *nth_dot(const kcl_stage *s, int n) {
  for (int i = 0; i < s->vectors; i++)
    if (s->vector[i].code == KCL_OP_DOT && n-- == 0) return &s->vector[i];
  return NULL;
}

void kcl_put_partials(kcl_source *t, const kcl_emit *e) {
  int dots = kcl_stage_dots(e->s), width = kcl_rhs_width(e->k);
  for (int d = 0; width == 1 && d < dots; d += KCL_AT_ONCE) {
    const bool open = begin_turn(t, e->turns, nth_dot(e->s, d)->turn, "turns");
    for (int q = 0; q < kcl_at_once(dots - d); q++)
      kcl_put(t, "total[%d] = %s(sum_%s);\n", q, e->g->sum_block ? "lanes_total" : "p_total",
              kcl_slot_name(e->k, nth_dot(e->s, d + q)->slot));
    kcl_put(t, "write_partials(OUT, %d, %d, total, scratch);\n", d, kcl_at_once(dots - d));
    if (open) kcl_put(t, "}\n");
  }
  for (int d = 0; width > 1 && d < dots; d++) {
    const bool open = begin_turn(t, e->turns, nth_dot(e->s, d)->turn, "turns");
    kcl_put(
        t, e->g->sum_block ? "e_split(lanes_total(sum_%s), total);\n" : "e_split(sum_%s, total);\n",
        kcl_slot_name(e->k, nth_dot(e->s, d)->slot));
    for (int c = 0; c < width; c += KCL_AT_ONCE)
      kcl_put(t, "write_partials(OUT, %d, %d, total + %d, scratch);\n", d * width + c,
              kcl_at_once(width - c), c);
    if (open) kcl_put(t, "}\n");
  }
}

/* At the end of START and REPLACE: seeds the partial sums that LOOP begins by reducing. */
void kcl_put_seed(kcl_source *t, const kcl_program *k, const kcl_stage *last) {
  int width = kcl_rhs_width(k), dots = last ? kcl_stage_dots(last) : 0;
  for (int d = 0; d < dots; d++)
    for (int c = 0; c < width; c++)
      kcl_put(t,
              width > 1 ? "seed_partials(OUT, %d, s[slot_%s * NRHS + %d]);\n"
                        : "seed_partials(OUT, %d, s[slot_%s]);\n",
              d * width + c, kcl_slot_name(k, nth_dot(last, d)->slot), c);
}
