/* Operations of a recorded program in the words of the paper: see formula.h. */
#include "core/program/formula.h"
#include "core/base/text.h"

static const char *vec(const kcl_program *k, kcl_vec v) { return k->vector[v].name.s; }
static const char *slot(const kcl_program *k, kcl_slot s) { return k->slot[s].s; }

static void operand(const kcl_program *k, kcl_coef c, char *text, size_t capacity) {
  if (c.slot < 0)
    kcl_append(text, capacity, "%g", c.constant);
  else
    kcl_append(text, capacity, "%s%s%s", c.negate ? "-" : "", c.conjugate ? "conj " : "",
               slot(k, c.slot));
}

/* sign: "" for the first term, else " + "; a negative coefficient changes it. */
static void term(const kcl_program *k, const char *sign, kcl_coef c, kcl_vec v, char *text,
                 size_t capacity) {
  bool minus = c.slot < 0 ? c.constant < 0 : c.negate;
  kcl_append(text, capacity, "%s", minus ? *sign ? " - " : "-" : sign);
  c.negate = false;
  if (c.slot < 0 && c.constant < 0) c.constant = -c.constant;
  if (!is_constant(c, 1)) operand(k, c, text, capacity), kcl_append(text, capacity, " ");
  kcl_append(text, capacity, "%s", vec(k, v));
}

static void print_lincomb(const kcl_program *k, const kcl_op *o, char *text, size_t capacity) {
  kcl_append(text, capacity, "%s = ", vec(k, o->y));
  if (is_constant(o->a, 0)) {
    kcl_append(text, capacity, "0");
    return;
  }
  term(k, "", o->a, o->x, text, capacity);
  if (!is_constant(o->b, 0)) term(k, " + ", o->b, o->z, text, capacity);
}

/* function: of the operands, or NULL where `between` stands between them. */
static void print_scalar(const kcl_program *k, const kcl_op *o, const char *function,
                         const char *between, char *text, size_t capacity) {
  kcl_append(text, capacity, "%s = %s", slot(k, o->slot), function ? function : "");
  operand(k, o->a, text, capacity);
  if (*between) kcl_append(text, capacity, "%s", between), operand(k, o->b, text, capacity);
  kcl_append(text, capacity, "%s", function && *function ? ")" : "");
}

static void print_operation(const kcl_program *k, const kcl_op *o, char *text, size_t capacity) {
  const bool complex = kcl_type_complex(k->type);
  text[0] = 0;
  switch (o->code) {
  case KCL_OP_LINCOMB: print_lincomb(k, o, text, capacity); break;
  case KCL_OP_TIMES:
    kcl_append(text, capacity, "%s = %s%s .* %s", vec(k, o->y),
               o->conjugate && complex ? "conj " : "", vec(k, o->x), vec(k, o->z));
    break;
  case KCL_OP_DOT:
    kcl_append(text, capacity, "%s = %s^%s %s", slot(k, o->slot), vec(k, o->x),
               o->plain ? "T" : "H", vec(k, o->y));
    break;
  case KCL_OP_ASSIGN: print_scalar(k, o, NULL, "", text, capacity); break;
  case KCL_OP_DIVIDE: print_scalar(k, o, NULL, " / ", text, capacity); break;
  case KCL_OP_MULTIPLY: print_scalar(k, o, NULL, " * ", text, capacity); break;
  case KCL_OP_ADD: print_scalar(k, o, NULL, " + ", text, capacity); break;
  case KCL_OP_ROOT: print_scalar(k, o, "sqrt(", "", text, capacity); break;
  case KCL_OP_MODULUS: print_scalar(k, o, "abs(", "", text, capacity); break;
  case KCL_OP_LEAST: print_scalar(k, o, "min(", ", ", text, capacity); break;
  case KCL_OP_POSITIVE: kcl_append(text, capacity, "%s > 0?", slot(k, o->slot)); break;
  case KCL_OP_NONZERO: kcl_append(text, capacity, "%s != 0?", slot(k, o->slot)); break;
  case KCL_OP_RITZ:
    kcl_append(text, capacity, "history: %s, %s", slot(k, o->a.slot), slot(k, o->b.slot));
    break;
  case KCL_OP_END_ITERATION: kcl_append(text, capacity, "%s <= target?", slot(k, o->slot)); break;
  case KCL_OP_CYCLE_END: kcl_append(text, capacity, "the cycle ends"); break;
  }
}

const char *kcl_phase_name(kcl_phase phase) {
  return (const char *const[]){[KCL_START] = "START",
                               [KCL_LOOP] = "LOOP",
                               [KCL_REPLACE] = "REPLACE",
                               [KCL_RESUME] = "RESUME",
                               [KCL_VERIFY] = "VERIFY"}[phase];
}

void kcl_stage_formula(const kcl_program *k, const kcl_stage *s, char *text, size_t capacity) {
  char one[200];
  text[0] = 0;
  for (int i = 0; i < s->scalars; i++)
    print_operation(k, &s->scalar[i], one, sizeof one),
        kcl_append(text, capacity, "%s%s", text[0] ? "; " : "", one);
  if (kcl_stage_operator(s))
    kcl_append(text, capacity, "%s%s = %s %s", text[0] ? "; " : "", vec(k, s->y),
               kcl_applied_of(k, kcl_stage_operator(s))->name.s, vec(k, s->x));
  for (int i = 0; i < s->vectors; i++)
    print_operation(k, &s->vector[i], one, sizeof one),
        kcl_append(text, capacity, "%s%s", text[0] ? "; " : "", one);
  if (!text[0]) kcl_append(text, capacity, "the dots before are added up");
}
