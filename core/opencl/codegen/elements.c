/* OpenCL source for the vector operations of a stage: the function elements_ID, which takes element i (or a pack of
 * elements) through all of them. Its text reads as the method's file does:
 *
 *   x_i = x_i + alpha * p_i;      real numbers
 *   x_i = p_fma(alpha, p_i, x_i); complex ones, and several right-hand sides
 *
 * On GPUs a format calls it for each row that it has summed; y_i, the sum, is then given and never read from memory. On
 * CPU devices it goes over each block of rows once more, in wide registers, while the block is in the L1 cache.
 */
#include "core/opencl/codegen/codegen.h"
#include <limits.h>

static bool several(const kcl_emit *e) { return kcl_rhs_width(e->k) > 1; }

/* Have sums the shape of core/base/shape.h? Then a dot adds to an array of lanes, and all that is rounded is a function. */
static bool by_lanes(const kcl_emit *e) { return e->g->sum_block > 0; }

/* Are operations written as operators? Only for real numbers and one right-hand side; otherwise as functions. */
static bool by_operators(const kcl_emit *e) {
  return !several(e) && !kcl_type_complex(e->k->type) && !by_lanes(e);
}

/* Does a pack hold one element? Then it is v[i]. */
static bool one_by_one(const kcl_emit *e) { return !e->cpu || several(e); }

/* Is y_i passed in a register? So it is on GPUs, and where an element is wide itself. */
static bool y_given(const kcl_emit *e) {
  return e->s->A && one_by_one(e) && !kcl_stored_scatters(e->s->A);
}

/* ---------------------------------------------------------------- parameters and arguments */

typedef enum target {
  OWN,
  FORMAT,
  PASS
} target; /* of elements_ID; of a format's function; passed on */

static const char *element_of(const kcl_emit *e, kcl_vec v) {
  const bool wide = several(e) && !kcl_vector_shared(e->k, v);
  if (kcl_emit_narrow(e, v)) return wide ? "narrow" : "single";
  return wide ? "element" : "scalar";
}

static void put_vectors(kcl_source *t, const kcl_emit *e, target to) {
  kcl_vec list[KCL_MOST_STAGE_VECTORS];
  int count = kcl_stage_vectors(e->s, list, KCL_MOST_STAGE_VECTORS);
  for (int i = 0; i < count; i++) {
    const char *constant = kcl_stage_writes(e->s, list[i]) ? "" : "const ";
    kcl_put(t, ", ");
    if (to != PASS && kcl_in_registers(e, list[i]))
      kcl_put(t, "%sscalar *", constant);
    else if (to != PASS)
      kcl_put(t, "global %s%s *%s", constant, element_of(e, list[i]), to == OWN ? "" : "restrict ");
    kcl_put(t, "%s%s", to == OWN ? "" : "v_", kcl_emit_vec(e, list[i]));
  }
}

static void put_factors(kcl_source *t, const kcl_emit *e, target to) {
  kcl_coef list[2 * KCL_MOST_STAGE_OPS];
  int count = kcl_stage_factors(e->s, list);
  for (int i = 0; i < count; i++) {
    kcl_put(t, to == OWN ? ", const factor " : to == FORMAT ? ", const factor f_" : ", f_");
    kcl_put_factor_name(t, e, list[i]);
  }
}

/* address: "&" in a kernel, where sums are variables; "" in a format's function, which got pointers. */
static void put_extras(kcl_source *t, const kcl_emit *e, target to, const char *address) {
  if (several(e)) kcl_put(t, to == PASS ? ", active" : ", const int active");
  put_factors(t, e, to);
  if (e->turns) kcl_put(t, to == PASS ? ", turns" : ", const int turns");
  for (int i = 0; i < e->s->vectors; i++)
    if (e->s->vector[i].code == KCL_OP_DOT)
      kcl_put(t, to == PASS ? ", %ssum_%s" : ", pack *%ssum_%s", to == PASS ? address : "",
              kcl_slot_name(e->k, e->s->vector[i].slot));
  if (!e->persistent) return;
  for (kcl_vec v = 0; v < e->k->vectors; v++)
    if (kcl_publishes(e, v))
      kcl_put(t, to == PASS ? ", to_%s" : ", global published *to_%s", kcl_emit_vec(e, v));
  kcl_put(t, to == PASS ? ", version" : ", const uint version");
}

void kcl_put_vectors(kcl_source *t, const kcl_emit *e, bool typed) {
  put_vectors(t, e, typed ? FORMAT : PASS);
}

void kcl_put_extras(kcl_source *t, const kcl_emit *e, bool typed) {
  put_extras(t, e, typed ? FORMAT : PASS, by_lanes(e) ? "" : "&");
}

static void put_call(kcl_source *t, const kcl_emit *e, const char *value, const char *address) {
  kcl_put(t, "elements_%s(i", e->id);
  if (e->persistent) kcl_put(t, ", local_row");
  if (value) kcl_put(t, ", %s", value);
  put_vectors(t, e, PASS), put_extras(t, e, PASS, address);
  kcl_put(t, ")");
}

void kcl_put_call(kcl_source *t, const kcl_emit *e, const char *value) {
  put_call(t, e, value, by_lanes(e) ? "" : "&");
}

/* Defines EMIT, which formats call with the sum of row i. */
void kcl_put_emit_macro(kcl_source *t, const kcl_emit *e) {
  kcl_put(t, "#define EMIT_PARAMS ");
  kcl_put_vectors(t, e, true);
  kcl_put_extras(t, e, true);
  kcl_put(t, "\n#define EMIT(i, value) ");
  put_call(t, e, "value", "");
  kcl_put(t, "\n");
}

void kcl_put_sums(kcl_source *t, const kcl_emit *e) {
  for (int i = 0; i < e->s->vectors; i++)
    if (e->s->vector[i].code == KCL_OP_DOT)
      kcl_put(t,
              by_lanes(e) ? "pack sum_%1$s[SUM_PACKS];\nclear_lanes(sum_%1$s);\n"
                          : "pack sum_%1$s = p_zero();\n",
              kcl_slot_name(e->k, e->s->vector[i].slot));
}

/* ---------------------------------------------------------------- one operation */

static void put_factor(kcl_source *t, const kcl_emit *e, kcl_coef c, bool sign) {
  if (sign && c.negate) kcl_put(t, "-");
  kcl_put_factor_name(t, e, c);
}

/* c v, for a coefficient that is not 0. */
static void put_term(kcl_source *t, const kcl_emit *e, kcl_coef c, kcl_vec v) {
  const char *name = kcl_emit_vec(e, v);
  if (is_constant(c, 1) || is_constant(c, -1)) {
    kcl_put(t, "%s%s_i", is_constant(c, 1) ? "" : "-", name);
  } else if (by_operators(e)) {
    put_factor(t, e, c, true), kcl_put(t, " * %s_i", name);
  } else {
    kcl_put(t, "p_scale(");
    put_factor(t, e, c, true);
    kcl_put(t, ", %s_i)", name);
  }
}

/* v + c w by operators: the sign of c becomes the operator. */
static void put_sum(kcl_source *t, const kcl_emit *e, kcl_vec v, kcl_coef c, kcl_vec w) {
  kcl_put(t, "%s_i %s ", kcl_emit_vec(e, v), c.negate ? "-" : "+");
  put_factor(t, e, c, false), kcl_put(t, " * %s_i", kcl_emit_vec(e, w));
}

/* a x + b z with coefficients that are not 0. The product with a is rounded first; the one with b is fused with the addition,
 * or the other way round where the bits are those of the native executor. */
static void put_two_terms(kcl_source *t, const kcl_emit *e, const kcl_op *o) {
  const char *x = kcl_emit_vec(e, o->x), *z = kcl_emit_vec(e, o->z);
  const bool operators = by_operators(e);
  if (is_constant(o->a, 1) && (is_constant(o->b, 1) || is_constant(o->b, -1))) {
    kcl_put(t, by_lanes(e) ? "p_add(%s_i, %s%s_i)" : "%s_i %s %s_i", x,
            is_constant(o->b, -1) ? "-"
            : by_lanes(e)         ? ""
                                  : "+",
            z);
  } else if (is_constant(o->b, 1) && operators) {
    put_sum(t, e, o->z, o->a, o->x);
  } else if (is_constant(o->a, 1) && operators) {
    put_sum(t, e, o->x, o->b, o->z);
  } else if (operators) {
    put_factor(t, e, o->b, true);
    kcl_put(t, " * %s_i + ", z);
    put_term(t, e, o->a, o->x);
  } else {
    const bool first =
        is_constant(o->b, 1) || (by_lanes(e) && !is_constant(o->a, 1) && !is_constant(o->a, -1));
    kcl_put(t, "p_fma(");
    put_factor(t, e, first ? o->a : o->b, true);
    kcl_put(t, ", %s_i, ", first ? x : z);
    put_term(t, e, first ? o->b : o->a, first ? o->z : o->x);
    kcl_put(t, ")");
  }
}

static void put_lincomb(kcl_source *t, const kcl_emit *e, const kcl_op *o) {
  if (is_constant(o->a, 0))
    kcl_put(t, "p_zero()");
  else if (is_constant(o->b, 0))
    put_term(t, e, o->a, o->x);
  else
    put_two_terms(t, e, o);
}

static void put_dot(kcl_source *t, const kcl_emit *e, const kcl_op *o) {
  const char *sum = kcl_slot_name(e->k, o->slot), *x = kcl_emit_vec(e, o->x),
             *y = kcl_emit_vec(e, o->y);
  if (by_operators(e))
    kcl_put(t, "  *sum_%s = *sum_%s + %s_i * %s_i;\n", sum, sum, x, y);
  else if (by_lanes(e))
    kcl_put(t, "  sum_%s[SUM_LANE(i)] = %s(sum_%s[SUM_LANE(i)], %s_i, %s_i);\n", sum,
            o->plain ? "p_dotu" : "p_dot", sum, x, y);
  else
    kcl_put(t, "  *sum_%s = %s(*sum_%s, %s_i, %s_i);\n", sum, o->plain ? "p_dotu" : "p_dot", sum, x,
            y);
}

static void put_times(kcl_source *t, const kcl_emit *e, const kcl_op *o) {
  const char *d = kcl_emit_vec(e, o->x), *x = kcl_emit_vec(e, o->z);
  if (by_operators(e))
    kcl_put(t, "%s_i * %s_i", d, x);
  else
    kcl_put(t, o->conjugate ? "p_mul(p_conj(%s_i), %s_i)" : "p_mul(%s_i, %s_i)", d, x);
}

/* ---------------------------------------------------------------- loads, operations, stores */

typedef enum vector_use {
  UNREAD,
  READ,
  WRITTEN
} vector_use; /* of each vector, in order of the operations */

/* Marks what an operation needs: the vectors that must be loaded. */
static void note_reads(const kcl_op *o, vector_use *v) {
  bool x = o->code != KCL_OP_LINCOMB || !is_constant(o->a, 0),
       z = o->code == KCL_OP_TIMES || (o->code == KCL_OP_LINCOMB && !is_constant(o->b, 0));
  if (x && !v[o->x]) v[o->x] = READ;
  if (z && !v[o->z]) v[o->z] = READ;
  if (o->code == KCL_OP_DOT && !v[o->y]) v[o->y] = READ;
  if (o->code != KCL_OP_DOT && !v[o->y]) v[o->y] = WRITTEN;
}

/* The first turn that reads the vector; 0: so does an operation outside of the loop. */
static int first_turn(const kcl_emit *e, kcl_vec v) {
  int first = e->turns ? INT_MAX : 0;
  for (int i = 0; i < e->s->vectors; i++) {
    const kcl_op *o = &e->s->vector[i];
    if ((o->x == v || o->y == v || o->z == v) && o->turn < first) first = o->turn;
  }
  return first == INT_MAX ? 0 : first;
}

static void put_load(kcl_source *t, const kcl_emit *e, kcl_vec v) {
  const char *name = kcl_emit_vec(e, v);
  const char kind = kcl_emit_narrow(e, v) ? 'n' : 'p';
  const int turn = first_turn(e, v);
  if (turn)
    kcl_put(t, "  pack %s_i = p_zero();\n  if (turns >= %d) %s_i = ", name, turn, name);
  else
    kcl_put(t, "  pack %s_i = ", name);
  if (kcl_in_registers(e, v))
    kcl_put(t, "%s[local_row];\n", name);
  else if (several(e) && kcl_vector_shared(e->k, v))
    kcl_put(t, "%c_shared(%s, i);\n", kind, name);
  else if (one_by_one(e) && kind == 'p')
    kcl_put(t, "%s[i];\n", name);
  else
    kcl_put(t, "%c_load(%s, i);\n", kind, name);
}

static void put_store(kcl_source *t, const kcl_emit *e, kcl_vec v) {
  const char *name = kcl_emit_vec(e, v);
  const char kind = kcl_emit_narrow(e, v) ? 'n' : 'p';
  if (kcl_in_registers(e, v))
    kcl_put(t, "  %s[local_row] = %s_i;\n", name, name);
  else if (several(e))
    kcl_put(t, "  %c_store(%s, i, %s_i, active);\n", kind, name, name);
  else if (one_by_one(e) && kind == 'p')
    kcl_put(t, "  %s[i] = %s_i;\n", name, name);
  else
    kcl_put(t, "  %c_store(%s, i, %s_i);\n", kind, name, name);
}

static void put_operations(kcl_source *t, const kcl_emit *e, vector_use *v) {
  for (int i = 0; i < e->s->vectors; i++) {
    const kcl_op *o = &e->s->vector[i];
    if (e->turns && o->turn) kcl_put(t, "  if (turns >= %d)", o->turn);
    if (o->code == KCL_OP_DOT) {
      put_dot(t, e, o);
      continue;
    }
    kcl_put(t, "  %s%s_i = ", v[o->y] == WRITTEN ? "pack " : "", kcl_emit_vec(e, o->y));
    v[o->y] = READ;
    (o->code == KCL_OP_LINCOMB ? put_lincomb : put_times)(t, e, o);
    kcl_put(t, ";\n");
  }
}

static void put_body(kcl_source *t, const kcl_emit *e, vector_use *v) {
  const kcl_stage *s = e->s;
  const bool given = y_given(e);
  if (given) v[s->y] = WRITTEN;
  for (int i = 0; i < s->vectors; i++) note_reads(&s->vector[i], v);
  for (kcl_vec i = 0; i < e->k->vectors; i++)
    if (v[i] == READ) put_load(t, e, i);
  if (given) v[s->y] = READ;
  put_operations(t, e, v);
  for (kcl_vec i = 0; i < e->k->vectors; i++)
    if (kcl_stage_writes(s, i) && kcl_stage_temporary(s, i) < 0 &&
        !(s->A && i == s->y && !given && !kcl_stage_rewrites(s, i)))
      put_store(t, e, i);
  for (kcl_vec i = 0; i < e->k->vectors; i++)
    if (kcl_publishes(e, i))
      kcl_put(t, "  publish(to_%s + i, version, %s_i);\n", kcl_emit_vec(e, i), kcl_emit_vec(e, i));
}

void kcl_put_elements(kcl_source *t, const kcl_emit *e) {
  vector_use *v = calloc((size_t)e->k->vectors, sizeof *v);
  t->failed = t->failed || !v;
  if (!v || !e->s->n || (!e->s->vectors && !y_given(e))) {
    free(v);
    return;
  }
  kcl_put(t, "INLINE void elements_%s(const idx i%s", e->id,
          e->persistent ? ", const idx local_row" : "");
  if (y_given(e)) kcl_put(t, ", pack %s_i", kcl_emit_vec(e, e->s->y));
  put_vectors(t, e, OWN), put_extras(t, e, OWN, "");
  kcl_put(t, ")\n{\n");
  put_body(t, e, v);
  kcl_put(t, "}\n\n");
  free(v);
}
