/* The recorder: lays the verbs of core/program/program.h into stages, by the rules stated there. */
#include "core/program/program.h"
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- storage */

/* Room for one more element in a list of `count`; NULL and a sticky status when memory is out. */
static void *grow(kcl_program *k, void **list, int count, size_t size) {
  if ((count & (count - 1)) == 0) { /* full at every power of two */
    void *more = realloc(*list, size * (size_t)(count ? 2 * count : 1));
    if (!more) {
      k->status = kcl_fail(k->ctx, KCL_MEMORY, "out of memory while recording a method");
      return NULL;
    }
    *list = more;
  }
  return memset((char *)*list + size * (size_t)count, 0, size);
}

int kcl_program_create(kcl *ctx, kcl_type type, int64_t rows, int64_t cols, kcl_program **out) {
  int rc = kcl_alloc(ctx, 1, sizeof **out, "a program", (void **)out);
  if (rc) return rc;
  **out = (kcl_program){.ctx = ctx, .type = type, .n = rows, .nrhs = 1, .phase = KCL_START};
  (*out)->target = kcl_scalar(*out, "target");
  (*out)->rr = kcl_scalar(*out, "unset");
  (*out)->b = kcl_vector(*out, "b");
  (*out)->x = kcl_vector_of(*out, cols, "x");
  return (*out)->status;
}

void kcl_program_free(kcl_program **k) {
  if (!*k) return;
  for (int p = 0; p < KCL_PHASES; p++) {
    for (int s = 0; s < (*k)->stages[p]; s++)
      free((*k)->stage[p][s].scalar), free((*k)->stage[p][s].vector);
    free((*k)->stage[p]);
  }
  for (int v = 0; v < (*k)->vectors; v++) free((*k)->vector[v].values);
  free((*k)->vector), free((*k)->slot), free((*k)->op);
  free(*k);
  *k = NULL;
}

kcl_vec kcl_x(kcl_program *k) { return k->x; }
kcl_vec kcl_b(kcl_program *k) { return k->b; }
kcl_matrix *kcl_A(kcl_program *k) { return k->A; }
kcl_matrix *kcl_AH(kcl_program *k) { return k->AH; }
int kcl_restart(kcl_program *k) { return k->restart; }
bool kcl_resumes(kcl_program *k) { return k->resumes; }
/* ---------------------------------------------------------------- names, vectors, slots */

static bool taken(const kcl_program *k, bool slots, const char *name) {
  int count = slots ? k->slots : k->vectors;
  for (int i = 0; i < count; i++)
    if (!strcmp(name, slots ? k->slot[i].s : k->vector[i].name.s)) return true;
  return false;
}

/* The name as printf has it, with a number behind it where there is such a vector (or slot) already. */
static kcl_name new_name(const kcl_program *k, bool slots, const char *format, va_list args) {
  kcl_name base, name;
  vsnprintf(base.s, sizeof base.s - 6, format, args);
  name = base;
  for (int number = 2; taken(k, slots, name.s); number++)
    snprintf(name.s, sizeof name.s, "%.17s_%d", base.s, number % 10000);
  return name;
}

static kcl_vec new_vector(kcl_program *k, int64_t n, const char *format, va_list args) {
  kcl_name name = new_name(k, false, format, args);
  kcl_vector_info *v = grow(k, (void **)&k->vector, k->vectors, sizeof *v);
  if (!v) return 0;
  v->name = name, v->n = n, v->type = k->type;
  return k->vectors++;
}

kcl_vec kcl_vector(kcl_program *k, const char *name, ...) {
  va_list args;
  va_start(args, name);
  kcl_vec v = new_vector(k, k->n, name, args);
  va_end(args);
  return v;
}

kcl_vec kcl_vector_of(kcl_program *k, int64_t n, const char *name, ...) {
  va_list args;
  va_start(args, name);
  kcl_vec v = new_vector(k, n, name, args);
  va_end(args);
  return v;
}

kcl_vec kcl_vector_like(kcl_program *k, kcl_vec like, const char *name, ...) {
  va_list args;
  va_start(args, name);
  kcl_vec v = new_vector(k, k->vector[like].n, name, args);
  va_end(args);
  return v;
}

kcl_slot kcl_scalar(kcl_program *k, const char *format, ...) {
  va_list args;
  va_start(args, format);
  kcl_name name = new_name(k, true, format, args);
  va_end(args);
  kcl_name *s = grow(k, (void **)&k->slot, k->slots, sizeof *s);
  if (!s) return 0;
  *s = name;
  return k->slots++;
}

/* Calls make for each word of `names`. */
static void for_words(kcl_program *k, const char *names, int *const *out,
                      int (*make)(kcl_program *, const char *, ...)) {
  for (int length; *names; names += length + (names[length] == ' ')) {
    length = (int)strcspn(names, " ");
    **out++ = make(k, "%.*s", length, names);
  }
}
void kcl_vectors(kcl_program *k, const char *names, kcl_vec *const *out) {
  for_words(k, names, out, kcl_vector);
}
void kcl_scalars(kcl_program *k, const char *names, kcl_slot *const *out) {
  for_words(k, names, out, kcl_scalar);
}

bool kcl_vector_shared(const kcl_program *k, kcl_vec v) { return k->vector[v].values != NULL; }

int kcl_rhs_width(const kcl_program *k) {
  int width = 1;
  while (width < k->nrhs) width *= 2;
  return width;
}

kcl_vec kcl_constant(kcl_program *k, int64_t n, kcl_type type, const void *values, const char *name,
                     ...) {
  va_list args;
  va_start(args, name);
  kcl_vec v = new_vector(k, n, name, args);
  va_end(args);
  if (k->status) return v;
  k->vector[v].type = type;
  k->status = kcl_alloc(k->ctx, n, kcl_type_size(type), "a vector", &k->vector[v].values);
  if (!k->status) memcpy(k->vector[v].values, values, (size_t)n * kcl_type_size(type));
  return v;
}

/* ---------------------------------------------------------------- stages and their dependences */

static kcl_stage *new_stage(kcl_program *k) {
  kcl_stage *s = grow(k, (void **)&k->stage[k->phase], k->stages[k->phase], sizeof *s);
  if (s) k->stages[k->phase]++, s->closing = k->closing;
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

int kcl_stage_dots(const kcl_stage *s) {
  int dots = 0;
  for (int i = 0; i < s->vectors; i++) dots += s->vector[i].code == KCL_OP_DOT;
  return dots;
}

bool kcl_stage_writes_history(const kcl_stage *s) {
  bool notes = false;
  for (int i = 0; i < s->scalars; i++)
    notes = notes || s->scalar[i].code == KCL_OP_STEP || s->scalar[i].code == KCL_OP_RITZ;
  return notes;
}

bool kcl_stage_writes(const kcl_stage *s, kcl_vec v) {
  return (s->A && s->y == v) || kcl_stage_rewrites(s, v);
}

bool kcl_stage_rewrites(const kcl_stage *s, kcl_vec v) {
  for (int i = 0; i < s->vectors; i++)
    if (s->vector[i].code != KCL_OP_DOT && s->vector[i].y == v) return true;
  return false;
}

static void note(kcl_vec *list, int *count, int room, kcl_vec v) {
  for (int i = 0; i < *count; i++)
    if (list[i] == v) return;
  if (*count < room) list[(*count)++] = v;
}

int kcl_stage_vectors(const kcl_stage *s, kcl_vec *list, int room) {
  int count = 0;
  if (s->A) note(list, &count, room, s->y), note(list, &count, room, s->x);
  for (int i = 0; i < s->vectors; i++) {
    const kcl_op *o = &s->vector[i];
    note(list, &count, room, o->x);
    if (o->code != KCL_OP_DOT) note(list, &count, room, o->z);
    note(list, &count, room, o->y);
  }
  return count;
}

/* ---------------------------------------------------------------- verbs on vectors */

static void push(kcl_program *k, kcl_op **list, int *count, kcl_op op) {
  kcl_op *o = grow(k, (void **)list, *count, sizeof *o);
  if (o) *o = op, ++*count;
}

/* Has the stage no room for an operation on three more vectors? */
static bool full(const kcl_stage *s) {
  kcl_vec list[KCL_MOST_STAGE_VECTORS];
  return s->vectors == KCL_MOST_STAGE_OPS ||
         kcl_stage_vectors(s, list, KCL_MOST_STAGE_VECTORS) > KCL_MOST_STAGE_VECTORS - 3;
}

/* The stage an elementwise operation on n elements joins: the open one if it may. */
static void record_vector(kcl_program *k, kcl_op op, int64_t n) {
  kcl_stage *s = open_stage(k);
  if (!s) return;
  bool joins = (s->n == 0 || s->n == n) && !pending(s, op.a.slot) && !pending(s, op.b.slot) &&
               !full(s) && !(s->A && kcl_matrix_scatters(s->A)) &&
               !(s->A && op.code != KCL_OP_DOT && op.y == s->x); /* others still gather from it */
  if (!joins && !(s = new_stage(k))) return;
  s->n = n;
  push(k, &s->vector, &s->vectors, op);
}

const kcl_operator *kcl_operator_of(const kcl_program *k, const kcl_matrix *A) {
  for (int i = 0; i < k->ops; i++)
    if (k->op[i].matrix == A) return &k->op[i];
  return NULL;
}

static void register_operator(kcl_program *k, kcl_matrix *A) {
  if (kcl_operator_of(k, A)) return;
  kcl_operator *op = grow(k, (void **)&k->op, k->ops, sizeof *op);
  if (!op) return;
  op->matrix = A;
  if (A == k->A || A == k->AH)
    snprintf(op->name.s, sizeof op->name.s, "%s", A == k->A ? "A" : "AH");
  else
    snprintf(op->name.s, sizeof op->name.s, "M%d", k->ops);
  k->ops++;
}

void kcl_apply(kcl_program *k, kcl_vec y, kcl_matrix *A, kcl_vec x) {
  kcl_stage *s = open_stage(k);
  if (s && (s->A || s->vectors)) s = new_stage(k);
  if (!s) return;
  register_operator(k, A);
  s->A = A, s->y = y, s->x = x;
  s->n = k->vector[y].n;
}

static bool is_zero(kcl_coef c) { return c.slot < 0 && c.constant == 0; }

/* A term whose coefficient is the constant 0 comes last, and its operand is not read. */
void kcl_lincomb(kcl_program *k, kcl_vec y, kcl_coef a, kcl_vec x, kcl_coef b, kcl_vec z) {
  if (is_zero(a)) a = b, x = z, b = KCL_ZERO;
  if (is_zero(b)) z = x;
  record_vector(k, (kcl_op){.code = KCL_OP_LINCOMB, .y = y, .x = x, .z = z, .a = a, .b = b},
                k->vector[y].n);
}

void kcl_times(kcl_program *k, kcl_vec y, kcl_vec d, kcl_vec x, bool conjugate_d) {
  kcl_op op = {.code = KCL_OP_TIMES,
               .y = y,
               .x = d,
               .z = x,
               .a = KCL_ONE,
               .b = KCL_ONE,
               .conjugate = conjugate_d};
  record_vector(k, op, k->vector[y].n);
}

/* The same dot twice in one stage is summed once. */
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
  record_vector(k, op, k->vector[x].n);
}

void kcl_dot(kcl_program *k, kcl_slot s, kcl_vec x, kcl_vec y) { record_dot(k, s, x, y, false); }
void kcl_dotu(kcl_program *k, kcl_slot s, kcl_vec x, kcl_vec y) { record_dot(k, s, x, y, true); }

void kcl_residual(kcl_program *k, kcl_vec r, kcl_slot rr) {
  kcl_apply(k, r, k->A, k->x);                    /* r = A x     */
  kcl_lincomb(k, r, KCL_ONE, k->b, KCL_MINUS, r); /* r = b - A x */
  kcl_dot(k, rr, r, r);                           /* rr = r^H r  */
  k->rr = rr, k->residual = r;
}

kcl_vec kcl_preconditioned(kcl_program *k, kcl_vec r, const char *name, ...) {
  va_list args;
  if (!k->precondition) return r;
  va_start(args, name);
  kcl_vec v = new_vector(k, k->vector[r].n, name, args);
  va_end(args);
  return v;
}

void kcl_precondition(kcl_program *k, kcl_vec z, kcl_vec r, bool adjoint) {
  if (k->precondition) k->precondition(k, z, r, adjoint);
}

/* ---------------------------------------------------------------- verbs on scalars */

/* Joins the open stage if that stage neither sums an operand nor uses the old value of the result. */
static void record_scalar(kcl_program *k, kcl_op op) {
  kcl_stage *s = open_stage(k);
  if (!s) return;
  bool test = op.code >= KCL_OP_POSITIVE; /* a test's slot is its operand */
  bool joins = !pending(s, op.a.slot) && !pending(s, op.b.slot) && !pending(s, op.slot) &&
               (test || !used_as_coefficient(s, op.slot));
  if (op.code == KCL_OP_STEP) joins = joins && !s->vectors && !s->A;
  if (!joins && !(s = new_stage(k))) return;
  push(k, &s->scalar, &s->scalars, op);
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

static void test(kcl_program *k, kcl_opcode code, kcl_slot s, kcl_reason reason) {
  record_scalar(k, (kcl_op){.code = code, .slot = s, .reason = reason, .a = KCL_ONE, .b = KCL_ONE});
}
void kcl_need_positive(kcl_program *k, kcl_slot s, kcl_reason r) { test(k, KCL_OP_POSITIVE, s, r); }
void kcl_need_nonzero(kcl_program *k, kcl_slot s, kcl_reason r) { test(k, KCL_OP_NONZERO, s, r); }
void kcl_step(kcl_program *k, kcl_slot rr) {
  test(k, KCL_OP_STEP, rr, KCL_CONVERGED);
  k->steps += k->phase == KCL_LOOP;
}
void kcl_step_inside(kcl_program *k, kcl_slot rr) {
  kcl_op op = {.code = KCL_OP_STEP, .slot = rr, .inside = true, .a = KCL_ONE, .b = KCL_ONE};
  record_scalar(k, op);
  k->steps += k->phase == KCL_LOOP;
}
void kcl_closing(kcl_program *k) {
  k->closing = true;
  new_stage(k);
}
void kcl_closed(kcl_program *k) {
  test(k, KCL_OP_CLOSED, k->target, KCL_CONVERGED);
  k->closing = false;
  new_stage(k);
}
void kcl_history_ritz(kcl_program *k, kcl_slot alpha, kcl_slot beta) {
  k->has_ritz = true;
  record_scalar(k, (kcl_op){.code = KCL_OP_RITZ, .slot = alpha, .a = plus(alpha), .b = plus(beta)});
}

/* ---------------------------------------------------------------- phases and cost */

static kcl_stage *last_stage(const kcl_program *k, kcl_phase phase) {
  int n = k->stages[phase];
  return n ? &k->stage[phase][n - 1] : NULL;
}

/* Dots still being summed at the end of a phase are folded by a stage of scalars alone; those of LOOP
 * by its first stage, which also runs after the others. */
static void close_phase(kcl_program *k) {
  const kcl_stage *last = last_stage(k, k->phase);
  if (k->phase != KCL_LOOP && last && kcl_stage_dots(last)) new_stage(k);
}

void kcl_begin(kcl_program *k, kcl_phase phase) {
  close_phase(k);
  k->phase = phase;
}

int kcl_program_end(kcl_program *k) {
  const kcl_stage *last = last_stage(k, KCL_LOOP);
  close_phase(k);
  k->carried = last && kcl_stage_dots(last);
  for (k->phase = 0; k->carried && k->phase < KCL_PHASES; k->phase++) {
    const kcl_stage *s = last_stage(k, k->phase);
    if (k->phase == KCL_START ? !s || s->n : k->phase == KCL_REPLACE && s && s->n) new_stage(k);
  }
  return k->status;
}

/* Rounding errors of recurrences grow with every iteration: measured on pipelined CG, these keep them
 * below what matters at the usual tolerances. */
int kcl_replacement_interval(const kcl_program *k) {
  bool single = k->type == KCL_S || k->type == KCL_C;
  if (!k->stages[KCL_REPLACE]) return INT_MAX;
  return ((single ? 16 : 64) + k->steps - 1) / k->steps;
}

const kcl_stage *kcl_stage_previous(const kcl_program *k, kcl_phase phase, int i) {
  if (i) return &k->stage[phase][i - 1];
  return phase == KCL_LOOP && k->carried ? last_stage(k, KCL_LOOP) : NULL;
}

const kcl_stage *kcl_stage_seeds(const kcl_program *k, kcl_phase phase, int i) {
  bool hands = k->carried && phase != KCL_LOOP && i == k->stages[phase] - 1;
  return hands ? last_stage(k, KCL_LOOP) : NULL;
}

static bool op_reads(const kcl_op *o, kcl_vec v) {
  if (o->code == KCL_OP_DOT) return o->x == v || o->y == v;
  return (o->x == v && !is_zero(o->a)) || (o->z == v && !is_zero(o->b));
}

/* Does a stage read the vector from memory? Not when it has written it before. */
static bool stage_reads(const kcl_stage *s, kcl_vec v) {
  if (s->A && s->x == v) return true;
  if (s->A && s->y == v) return false;
  for (int i = 0; i < s->vectors; i++) {
    if (op_reads(&s->vector[i], v)) return true;
    if (s->vector[i].code != KCL_OP_DOT && s->vector[i].y == v) return false;
  }
  return false;
}

/* Each vector of a stage is read at most once, and written at most once. */
double kcl_stage_bytes(const kcl_program *k, const kcl_stage *s, int nrhs) {
  enum { MOST = 64 };
  kcl_vec list[MOST];
  int count = kcl_stage_vectors(s, list, MOST);
  double bytes = s->A ? kcl_matrix_bytes(s->A) + kcl_matrix_prepared_bytes(s->A) : 0;
  for (int v = 0; v < count; v++) {
    int times = kcl_vector_shared(k, list[v]) ? 1 : nrhs;
    bytes += times * (double)kcl_type_size(k->type) * (double)k->vector[list[v]].n *
             (kcl_stage_writes(s, list[v]) + stage_reads(s, list[v]));
  }
  return bytes;
}

double kcl_program_bytes(const kcl_program *k, kcl_phase phase, int nrhs) {
  double bytes = 0;
  for (int i = 0; i < k->stages[phase]; i++) bytes += kcl_stage_bytes(k, &k->stage[phase][i], nrhs);
  return bytes;
}

int kcl_program_dots(const kcl_program *k) {
  int most = 1;
  for (int p = 0; p < KCL_PHASES; p++)
    for (int i = 0; i < k->stages[p]; i++) {
      int d = kcl_stage_dots(&k->stage[p][i]);
      if (d > most) most = d;
    }
  return most;
}
