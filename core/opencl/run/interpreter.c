/* The interpreter on the host: one kernel for all stages of any program (kernels/interpreter.cl), which reads what to do from a table. A
 * first solve begins with it, since nothing is compiled for a method or a system (solver/auto/draft.c). */
#include "core/opencl/run/run.h"

/* As in kernels/interpreter.cl. */
_Static_assert(KCL_MOST_STAGE_OPS == 64 && KCL_MOST_STAGE_VECTORS == 32, "of its local arrays");
enum { COEFFICIENT_WORDS = 4, NEGATED = 1, CONJUGATED = 2 };
enum { CLEAR, SCALE, COMBINE, TIMES, TIMES_CONJUGATED, DOT, DOT_PLAIN };
enum {
  ASSIGN,
  DIVIDE,
  MULTIPLY,
  ADD,
  ROOT,
  MODULUS,
  LEAST,
  POSITIVE,
  NONZERO,
  RITZ,
  END_ITERATION,
  END_IN_CYCLE,
  LEAVE_CYCLE
};

/* The table of a program, as it grows; without `word` its words are counted alone. */
typedef struct word_table {
  cl_int *word;
  int count;
} word_table;

static void put_word(word_table *t, int64_t value) {
  if (t->word) t->word[t->count] = (cl_int)value;
  t->count++;
}

/* ---------------------------------------------------------------- operations */

static void put_constant_bits(word_table *t, const kcl_program *k, double value) {
  const bool single = k->type == KCL_S || k->type == KCL_C;
  const float narrow = (float)value;
  cl_int word[2] = {0, 0};
  memcpy(word, single ? (const void *)&narrow : &value, single ? sizeof narrow : sizeof value);
  put_word(t, word[0]), put_word(t, word[1]);
}

static void put_coefficient(word_table *t, const kcl_program *k, kcl_coef c) {
  put_word(t, c.slot < 0 ? -1 : c.slot);
  put_word(t, (c.negate ? NEGATED : 0) | (c.conjugate ? CONJUGATED : 0));
  put_constant_bits(t, k, c.constant);
}

static int scalar_code(const kcl_op *o) {
  switch (o->code) {
  case KCL_OP_ASSIGN: return ASSIGN;
  case KCL_OP_DIVIDE: return DIVIDE;
  case KCL_OP_MULTIPLY: return MULTIPLY;
  case KCL_OP_ADD: return ADD;
  case KCL_OP_ROOT: return ROOT;
  case KCL_OP_MODULUS: return MODULUS;
  case KCL_OP_LEAST: return LEAST;
  case KCL_OP_POSITIVE: return POSITIVE;
  case KCL_OP_NONZERO: return NONZERO;
  case KCL_OP_RITZ: return RITZ;
  case KCL_OP_CYCLE_END: return LEAVE_CYCLE;
  default: return o->in_cycle ? END_IN_CYCLE : END_ITERATION;
  }
}

static void put_scalar_operation(word_table *t, const kcl_program *k, const kcl_op *o) {
  put_word(t, scalar_code(o)), put_word(t, o->slot), put_word(t, o->reason);
  put_coefficient(t, k, o->a), put_coefficient(t, k, o->b);
}

/* Where one coefficient is zero, its vector is not read. */
static kcl_op drop_zero(const kcl_op *o) {
  kcl_op p = *o;
  if (o->code == KCL_OP_LINCOMB && is_constant(o->a, 0)) p.a = o->b, p.x = o->z, p.b = KCL_ZERO;
  return p;
}

static int vector_code(const kcl_op *o) {
  if (o->code == KCL_OP_DOT) return o->plain ? DOT_PLAIN : DOT;
  if (o->code == KCL_OP_TIMES) return o->conjugate ? TIMES_CONJUGATED : TIMES;
  if (!is_constant(o->b, 0)) return COMBINE;
  return is_constant(o->a, 0) ? CLEAR : SCALE;
}

/* ---------------------------------------------------------------- stages */

/* The vectors of a stage: an operation names them by their places in the list. */
typedef struct vector_list {
  kcl_vec v[KCL_MOST_STAGE_VECTORS];
  int count;
} vector_list;

static int find_vector_place(const vector_list *list, kcl_vec v) {
  int i = 0;
  while (i < list->count - 1 && list->v[i] != v) i++;
  return i;
}

static void put_vector_operations(word_table *t, const kcl_program *k, const kcl_stage *s,
                                  const vector_list *list) {
  for (int i = 0; i < s->vectors; i++) {
    const kcl_op o = drop_zero(&s->vector[i]);
    put_word(t, vector_code(&o));
    put_word(t, find_vector_place(list, o.y)), put_word(t, find_vector_place(list, o.x));
    put_word(t, find_vector_place(list, o.z));
  }
  for (int i = 0; i < s->vectors; i++) {
    const kcl_op o = drop_zero(&s->vector[i]);
    put_coefficient(t, k, o.a), put_coefficient(t, k, o.b);
  }
}

static void put_dot_slots(word_table *t, const kcl_stage *s) {
  for (int i = 0; s && i < s->vectors; i++)
    if (s->vector[i].code == KCL_OP_DOT) put_word(t, s->vector[i].slot);
}

/* Work-items per row: a power of two, for four entries or more each. */
static int lanes_of(const kcl_stored *A) {
  const double mean = A->rows ? (double)A->nnz / (double)A->rows : 0;
  int lanes = 1;
  while (lanes < 32 && lanes * 8 <= mean) lanes *= 2;
  return lanes;
}

static void put_product(word_table *t, const kcl_program *k, const kcl_stage *s,
                        const vector_list *list) {
  put_word(t, s->A ? lanes_of(s->A) : 0);
  put_word(t, s->A ? kcl_address_of_matrix(k, s->A) : 0);
  put_word(t, s->A ? find_vector_place(list, s->y) : 0),
      put_word(t, s->A ? find_vector_place(list, s->x) : 0);
}

static void put_stage(word_table *t, const kcl_run *r, kcl_phase phase, int number) {
  const kcl_program *k = r->k;
  const kcl_stage *s = &k->stage[phase][number], *before = kcl_stage_previous(k, phase, number),
                  *seeds = kcl_stage_seeds(k, phase, number);
  vector_list list;
  list.count = kcl_stage_vectors(s, list.v, KCL_MOST_STAGE_VECTORS);
  put_word(t, s->n), put_word(t, before ? (int64_t)kcl_run_groups(r, before) : 0);
  put_word(t, s->cycle_end), put_word(t, s->cycle_end && before && before->cycle_end);
  put_word(t, before ? kcl_stage_dots(before) : 0), put_word(t, seeds ? kcl_stage_dots(seeds) : 0);
  put_word(t, list.count), put_word(t, s->vectors), put_word(t, s->scalars);
  put_product(t, k, s, &list);
  put_word(t, k->target);
  put_dot_slots(t, before), put_dot_slots(t, seeds);
  for (int i = 0; i < list.count; i++) put_word(t, kcl_address_of_vector(list.v[i]));
  put_vector_operations(t, k, s, &list);
  for (int i = 0; i < s->scalars; i++) put_scalar_operation(t, k, &s->scalar[i]);
}

/* All stages; at: where each begins, or NULL. */
static void put_table(word_table *t, const kcl_run *r, cl_int *at) {
  for (int p = 0; p < KCL_PHASES; p++)
    for (int i = 0; i < r->k->stages[p]; i++) {
      if (at) *at++ = t->count;
      put_stage(t, r, (kcl_phase)p, i);
    }
}

static int count_stages_before(const kcl_program *k, int phase) {
  int count = 0;
  for (int p = 0; p < phase; p++) count += k->stages[p];
  return count;
}

/* ---------------------------------------------------------------- opening, launching, closing */

int kcl_interpreter_open(kcl_run *r) {
  kcl_context *ctx = run_context(r);
  KCL_OWNED cl_int *word = NULL;
  word_table t = {NULL, 0};
  put_table(&t, r, NULL);
  const int count = t.count, stages = count_stages_before(r->k, KCL_PHASES);
  KCL_CALL(kcl_alloc(ctx, count, sizeof *word, "a table", (void **)&word));
  KCL_CALL(
      kcl_alloc(ctx, stages, sizeof *r->interpreter.at, "a table", (void **)&r->interpreter.at));
  t = (word_table){word, 0};
  put_table(&t, r, r->interpreter.at);
  KCL_CALL(kcl_run_find_addresses(r, r->part[0], &r->interpreter.address));
  KCL_CALL(kcl_opencl_buffer(ctx, (size_t)count * sizeof *word, "a table", &r->interpreter.table));
  const kcl_upload u = {sizeof *word, count, kcl_fill_bytes, word};
  return kcl_opencl_write(ctx, r->interpreter.table, &u, "a table");
}

int kcl_interpreter_launch(kcl_run *r, kcl_phase phase, int number, kcl_launch *l) {
  const kcl_program *k = r->k;
  const cl_int at = r->interpreter.at[count_stages_before(k, phase) + number],
               partials = r->geometry.partials_max;
  cl_uint i = 6;
  cl_int code;
  l->stages = 1;
  l->kernel = clCreateKernel(r->part[0], "interpreter", &code);
  KCL_CALL(kcl_cl_check(run_context(r), code, "clCreateKernel", "interpreter"));
  l->groups = kcl_run_groups(r, &k->stage[phase][number]), l->group = r->group;
  code = clSetKernelArg(l->kernel, 0, sizeof(cl_mem), &r->states);
  code |= clSetKernelArg(l->kernel, 2, sizeof(cl_mem), &r->interpreter.table);
  code |= clSetKernelArg(l->kernel, 3, sizeof at, &at);
  code |= clSetKernelArg(l->kernel, 4, sizeof(cl_mem), &r->interpreter.address);
  code |= clSetKernelArg(l->kernel, 5, sizeof(cl_mem), &r->history);
  code |= kcl_run_set_state_sizes(r, l->kernel, &i);
  code |= clSetKernelArg(l->kernel, i++, sizeof partials, &partials);
  code |= clSetKernelArg(l->kernel, i, kcl_interpreter_local_bytes(k, &r->geometry), NULL);
  return kcl_cl_check(run_context(r), code, "clSetKernelArg", "interpreter");
}

void kcl_interpreter_close(kcl_run *r) {
  if (r->interpreter.table) clReleaseMemObject(r->interpreter.table);
  if (r->interpreter.address) clReleaseMemObject(r->interpreter.address);
  free(r->interpreter.at);
  r->interpreter.table = r->interpreter.address = NULL, r->interpreter.at = NULL;
}
