/* The recorder: puts the operations of core/program/program.h into stages, by the rules stated there. */
#include "core/program/record.h"
#include "core/program/ranks.h"
#include <stdio.h>

enum { COLUMNS = -1 }; /* a space; the others are lengths */

/* ---------------------------------------------------------------- the stage that is being recorded */

static kcl_stage *new_stage(kcl_program *k) {
  kcl_stage *s = kcl_program_grow(k, (void **)&k->stage[k->phase], k->stages[k->phase], sizeof *s);
  if (s) k->stages[k->phase]++, s->cycle_end = k->cycle_end;
  return s;
}

static kcl_stage *open_stage(kcl_program *k) {
  int n = k->stages[k->phase];
  return n ? &k->stage[k->phase][n - 1] : new_stage(k);
}

/* Is the slot the result of a dot that this stage is still summing? */
static bool pending(const kcl_stage *s, kcl_slot slot) {
  for (int i = 0; slot >= 0 && i < s->vectors; i++)
    if (s->vector[i].code == KCL_OP_DOT && s->vector[i].slot == slot) return true;
  return false;
}

static bool used_as_coefficient(const kcl_stage *s, kcl_slot slot) {
  for (int i = 0; i < s->vectors; i++)
    if (s->vector[i].code == KCL_OP_LINCOMB &&
        (s->vector[i].a.slot == slot || s->vector[i].b.slot == slot))
      return true;
  return false;
}

/* ---------------------------------------------------------------- verbs on vectors */

void kcl_expect(kcl_program *k, kcl_stored *A) {
  for (int i = 0; i < k->expected; i++)
    if (k->expect[i] == A) return;
  if (k->expected < KCL_MOST_EXPECTED) k->expect[k->expected++] = A;
}

static void push_operation(kcl_program *k, kcl_op **list, int *count, kcl_op op) {
  kcl_op *o = kcl_program_grow(k, (void **)list, *count, sizeof *o);
  if (o) *o = op, o->turn = k->turn, ++*count;
}

/* Has the stage no room for an operation on three more vectors? */
static bool stage_is_full(const kcl_stage *s) {
  kcl_vec list[KCL_MOST_STAGE_VECTORS];
  return s->vectors == KCL_MOST_STAGE_OPS ||
         kcl_stage_vectors(s, list, KCL_MOST_STAGE_VECTORS) > KCL_MOST_STAGE_VECTORS - 3;
}

/* Does a loop begin anew, in a stage that has only later turns? They would be fewer, the more the stage has of these, and so no
 * kernel could serve the stages of several iterations. */
static bool begins_anew(const kcl_stage *s, int turn) {
  int first = 0;
  for (int i = 0; i < s->vectors; i++)
    if (s->vector[i].turn && (!first || s->vector[i].turn < first)) first = s->vector[i].turn;
  return turn && turn < first;
}

/* May an operation join a stage whose product is completed after the launch? With a halo it may not use the product, except in
 * one dot, to which the completion adds the boundary's share and whose operands must not change. */
static bool joins_product(const kcl_stage *s, const kcl_op *op) {
  const kcl_halo *h = kcl_stage_halo(s);
  if (s->A && kcl_stored_scatters(s->A)) return false;
  if (!h || h->ranks->sum_rows) return !h;
  const kcl_op *dot = kcl_stage_halo_dot(s, NULL);
  if (op->code == KCL_OP_DOT) return (op->x == s->y) + (op->y == s->y) <= !dot;
  return op->y != s->y && op->x != s->y && op->z != s->y &&
         !(dot && (op->y == dot->x || op->y == dot->y));
}

/* Vectors of one space have their elements side by side, on every rank. Where A is not square a rank may own as many rows as
 * columns, and another not: there the columns are a space of their own, so that all ranks record the same stages. */
static int64_t space_of(const kcl_program *k, kcl_vec v) {
  const kcl_ranks *r = kcl_program_ranks(k);
  return r && r->rows != r->columns && k->vector[v].of_columns ? COLUMNS : k->vector[v].n;
}

/* The stage an elementwise operation on vectors like v joins: the open one if it may. */
static void record_vector(kcl_program *k, kcl_op op, kcl_vec v) {
  const int64_t space = space_of(k, v);
  kcl_stage *s = open_stage(k);
  if (!s) return;
  bool joins = (s->n == 0 || s->space == space) && !pending(s, op.a.slot) &&
               !pending(s, op.b.slot) && !stage_is_full(s) && !begins_anew(s, k->turn) &&
               joins_product(s, &op) &&
               !(s->A && op.code != KCL_OP_DOT && op.y == s->x); /* others still gather from it */
  if (!joins && !(s = new_stage(k))) return;
  s->n = k->vector[v].n, s->space = space;
  push_operation(k, &s->vector, &s->vectors, op);
}

const kcl_applied *kcl_applied_of(const kcl_program *k, const kcl_stored *A) {
  for (int i = 0; i < k->ops; i++)
    if (k->op[i].matrix == A) return &k->op[i];
  return NULL;
}

static void register_operator(kcl_program *k, kcl_stored *A) {
  if (kcl_applied_of(k, A)) return;
  kcl_applied *op = kcl_program_grow(k, (void **)&k->op, k->ops, sizeof *op);
  if (!op) return;
  op->matrix = A;
  if (A == k->A || A == k->AH)
    snprintf(op->name.s, sizeof op->name.s, "%s", A == k->A ? "A" : "AH");
  else
    snprintf(op->name.s, sizeof op->name.s, "M%d", k->ops);
  k->ops++;
}

void kcl_apply(kcl_program *k, kcl_vec y, kcl_stored *A, kcl_vec x) {
  kcl_stage *s = open_stage(k);
  if (s && (kcl_stage_operator(s) || s->vectors)) s = new_stage(k);
  if (!s) return;
  register_operator(k, A);
  s->y = y;
  s->x = x;
  if (A->shell.apply)
    s->called = A;
  else
    s->A = A, s->n = k->vector[y].n, s->space = space_of(k, y);
  s->unnamed = k->preconditioning, s->own = k->preconditioning && k->own_block;
}

/* A term whose coefficient is the constant 0 comes last, and its operand is not read. */
void kcl_lincomb(kcl_program *k, kcl_vec y, kcl_coef a, kcl_vec x, kcl_coef b, kcl_vec z) {
  if (is_constant(a, 0)) {
    a = b;
    x = z;
    b = KCL_ZERO;
  }
  if (is_constant(b, 0)) z = x;
  record_vector(k, (kcl_op){.code = KCL_OP_LINCOMB, .y = y, .x = x, .z = z, .a = a, .b = b}, y);
}

void kcl_times(kcl_program *k, kcl_vec y, kcl_vec d, kcl_vec x, bool conjugate_d) {
  kcl_op op = {.code = KCL_OP_TIMES,
               .y = y,
               .x = d,
               .z = x,
               .a = KCL_ONE,
               .b = KCL_ONE,
               .conjugate = conjugate_d};
  record_vector(k, op, y);
}

/* Records a dot; a dot that the open stage has already is not summed twice. */
static void record_dot(kcl_program *k, kcl_slot slot, kcl_vec x, kcl_vec y, bool plain) {
  kcl_stage *s = open_stage(k);
  for (int i = s ? s->vectors - 1 : -1; i >= 0; i--) {
    const kcl_op *o = &s->vector[i];
    if (o->code == KCL_OP_DOT && o->x == x && o->y == y &&
        o->plain == (plain && kcl_type_complex(k->type))) {
      kcl_assign(k, slot, plus(o->slot));
      return;
    }
    if (o->code != KCL_OP_DOT && (o->y == x || o->y == y)) break;
  }
  kcl_op op = {
      .code = KCL_OP_DOT, .slot = slot, .x = x, .y = y, .z = x, .a = KCL_ONE, .b = KCL_ONE};
  op.plain = plain && kcl_type_complex(k->type);
  record_vector(k, op, x);
}

void kcl_dot(kcl_program *k, kcl_slot s, kcl_vec x, kcl_vec y) { record_dot(k, s, x, y, false); }
void kcl_dotu(kcl_program *k, kcl_slot s, kcl_vec x, kcl_vec y) { record_dot(k, s, x, y, true); }

void kcl_residual(kcl_program *k, kcl_vec r, kcl_slot rr) {
  kcl_apply(k, r, k->A, k->x);                    /* r = A x     */
  kcl_lincomb(k, r, KCL_ONE, k->b, KCL_MINUS, r); /* r = b - A x */
  kcl_dot(k, rr, r, r);                           /* rr = r^H r  */
  k->rr = rr, k->residual = r;
}

static void record_gap(kcl_program *k) {
  const kcl_vec t = kcl_work(k, k->vector[k->b].n, "t");
  k->gap = kcl_scalar(k, "gap");
  kcl_apply(k, t, k->A, k->x);                           /* t = A x                */
  kcl_lincomb(k, t, KCL_ONE, k->b, KCL_MINUS, t);        /* t = b - A x            */
  kcl_lincomb(k, t, KCL_ONE, t, KCL_MINUS, k->residual); /*     - r                */
  kcl_dot(k, k->gap, t, t);                              /* gap = t^H t            */
}

void kcl_record_verification(kcl_program *k, bool gap) {
  k->gap = -1, k->sizes = k->slots + gap;
  kcl_begin(k, KCL_VERIFY);
  if (gap) record_gap(k);
  for (kcl_vec v = 0; v < k->vectors; v++)
    if (kcl_vector_carried(k, v)) kcl_dot(k, kcl_scalar(k, "size"), v, v);
}

void kcl_precondition(kcl_program *k, kcl_vec z, kcl_vec r, bool adjoint) {
  if (!k->precondition) return;
  k->preconditioning = true;
  k->precondition(k, k->preconditioner, z, r, adjoint);
  k->preconditioning = false;
}

/* ---------------------------------------------------------------- verbs on scalars */

/* Joins the open stage if that stage neither sums an operand nor uses the old value of the result. */
static void record_scalar(kcl_program *k, kcl_op op) {
  kcl_stage *s = open_stage(k);
  if (!s) return;
  bool test = op.code >= KCL_OP_POSITIVE; /* a test's slot is its operand */
  bool joins = !pending(s, op.a.slot) && !pending(s, op.b.slot) && !pending(s, op.slot) &&
               (test || !used_as_coefficient(s, op.slot));
  if (op.code == KCL_OP_END_ITERATION) joins = joins && !s->vectors && !kcl_stage_operator(s);
  if (!joins && !(s = new_stage(k))) return;
  push_operation(k, &s->scalar, &s->scalars, op);
}

static void scalar_op(kcl_program *k, kcl_opcode code, kcl_slot s, kcl_coef a, kcl_coef b) {
  record_scalar(k, (kcl_op){.code = code, .slot = s, .a = a, .b = b});
}
void kcl_assign(kcl_program *k, kcl_slot s, kcl_coef a) {
  scalar_op(k, KCL_OP_ASSIGN, s, a, KCL_ONE);
}
void kcl_divide(kcl_program *k, kcl_slot s, kcl_coef a, kcl_coef b) {
  scalar_op(k, KCL_OP_DIVIDE, s, a, b);
}
void kcl_multiply(kcl_program *k, kcl_slot s, kcl_coef a, kcl_coef b) {
  scalar_op(k, KCL_OP_MULTIPLY, s, a, b);
}
void kcl_add(kcl_program *k, kcl_slot s, kcl_coef a, kcl_coef b) {
  scalar_op(k, KCL_OP_ADD, s, a, b);
}

void kcl_root(kcl_program *k, kcl_slot s, kcl_coef a) { scalar_op(k, KCL_OP_ROOT, s, a, KCL_ONE); }
void kcl_modulus(kcl_program *k, kcl_slot s, kcl_coef a) {
  scalar_op(k, KCL_OP_MODULUS, s, a, KCL_ONE);
}

void kcl_least(kcl_program *k, kcl_slot s, kcl_coef a, kcl_coef b) {
  scalar_op(k, KCL_OP_LEAST, s, a, b);
}

static void record_test(kcl_program *k, kcl_opcode code, kcl_slot s, kcl_reason reason) {
  record_scalar(k, (kcl_op){.code = code, .slot = s, .reason = reason, .a = KCL_ONE, .b = KCL_ONE});
}
void kcl_need_positive(kcl_program *k, kcl_slot s, kcl_reason r) {
  record_test(k, KCL_OP_POSITIVE, s, r);
}
void kcl_need_nonzero(kcl_program *k, kcl_slot s, kcl_reason r) {
  record_test(k, KCL_OP_NONZERO, s, r);
}
void kcl_end_iteration(kcl_program *k, kcl_slot rr) {
  record_test(k, KCL_OP_END_ITERATION, rr, KCL_CONVERGED);
  k->iterations += k->phase == KCL_LOOP;
}
void kcl_end_iteration_in_cycle(kcl_program *k, kcl_slot rr) {
  kcl_op op = {
      .code = KCL_OP_END_ITERATION, .slot = rr, .in_cycle = true, .a = KCL_ONE, .b = KCL_ONE};
  record_scalar(k, op);
  k->iterations += k->phase == KCL_LOOP;
}
void kcl_enter_cycle_end(kcl_program *k) {
  k->cycle_end = true;
  new_stage(k);
}
void kcl_leave_cycle_end(kcl_program *k) {
  record_test(k, KCL_OP_CYCLE_END, k->target, KCL_CONVERGED);
  k->cycle_end = false;
  new_stage(k);
}
void kcl_history_ritz(kcl_program *k, kcl_slot alpha, kcl_slot beta) {
  k->has_ritz = true;
  record_scalar(k, (kcl_op){.code = KCL_OP_RITZ, .slot = alpha, .a = plus(alpha), .b = plus(beta)});
}

void kcl_turn(kcl_program *k, int i) { k->turn = i + 1; }
void kcl_end_turns(kcl_program *k) { k->turn = 0; }

/* ---------------------------------------------------------------- phases */

static kcl_stage *last_stage(const kcl_program *k, kcl_phase phase) {
  int n = k->stages[phase];
  return n ? &k->stage[phase][n - 1] : NULL;
}

/* Dots of a phase's last stage are reduced by an added stage of scalars alone. LOOP needs none: its first stage, which also
 * runs after the last, reduces them. */
static void close_phase(kcl_program *k) {
  const kcl_stage *last = last_stage(k, k->phase);
  if (k->phase != KCL_LOOP && last && kcl_stage_dots(last)) new_stage(k);
}

void kcl_begin(kcl_program *k, kcl_phase phase) {
  close_phase(k);
  k->phase = phase;
}

/* Has START or REPLACE no stage of scalars alone at its end, in which the sums that LOOP begins by reducing are seeded? */
static bool needs_stage_of_seeds(const kcl_program *k, kcl_phase phase) {
  const kcl_stage *s = last_stage(k, phase);
  if (phase == KCL_START) return !s || s->n;
  return phase == KCL_REPLACE && s && s->n;
}

int kcl_program_end(kcl_program *k) {
  const kcl_stage *last = last_stage(k, KCL_LOOP);
  close_phase(k);
  k->carried = last && kcl_stage_dots(last);
  for (int phase = 0; k->carried && phase < KCL_PHASES; phase++) {
    k->phase = (kcl_phase)phase;
    if (needs_stage_of_seeds(k, k->phase)) new_stage(k);
  }
  if (!k->status) kcl_find_temporaries(k);
  return k->status;
}
