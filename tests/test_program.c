/* The recorder (core/program): which operations share a stage. Each case records a few operations and compares the
 * stages with a picture of them, stages apart by " | ". In a stage, in the order of execution:
 *
 *   = / * + ? @   assignment, quotient, product, sum, test and step on scalars
 *   q=Ap          the product, by a format that gathers (A) or scatters (S)
 *   r=            an operation that writes r;  .pq a dot product of p and q
 *   !             in front of a stage that is also carried out after a stop inside the cycle
 *
 * Then what depends on the executor, on each: reductions carried from LOOP's end to its beginning, seeded by START and
 * REPLACE, that REPLACE runs every kcl_replacement_interval passes, and one launch per stage, or one persistent kernel.
 */
#include "solver/engine/engine.h"
#include "tests/conform.h"

enum { N = 60, OTHER = 7 };
static kcl_context *ctx;
static kcl_format gathers = {.name = "A"}, scattering = {.name = "S", .scatter = true};
static kcl_stored A = {.format = &gathers, .rows = N, .cols = N, .kernel.lanes = 1},
                  S = {.format = &scattering, .rows = N, .cols = N, .kernel.lanes = 1},
                  W = {.format = &gathers, .rows = OTHER, .cols = N, .kernel.lanes = 1};

/* A program to record: vectors of N elements, one of OTHER, and slots. */
typedef struct parts {
  kcl_vec p, q, r, z, w; /* w: of OTHER elements */
  kcl_slot s, t, u;
} parts;
typedef void (*recording)(kcl_program *k, const parts *v);

static kcl_program *program(kcl_type t, parts *v) {
  kcl_program *k = NULL;
  if (kcl_program_create(ctx, t, N, N, &k)) exit(1);
  kcl_new_vectors(k, "p q r z", (kcl_vec *[]){&v->p, &v->q, &v->r, &v->z});
  v->w = kcl_vector_of(k, OTHER, "w");
  kcl_new_scalars(k, "s t u", (kcl_slot *[]){&v->s, &v->t, &v->u});
  return k;
}

/* ---------------------------------------------------------------- pictures */

typedef struct picture {
  char text[4000];
  int used;
} picture;

__attribute__((format(printf, 2, 3))) static void draw(picture *p, const char *format, ...) {
  va_list args;
  va_start(args, format);
  p->used += vsnprintf(p->text + p->used, sizeof p->text - (size_t)p->used, format, args);
  va_end(args);
}

static void draw_stage(picture *p, const kcl_program *k, const kcl_stage *s) {
  static const char scalar_name[] = {
      [KCL_OP_ASSIGN] = '=',        [KCL_OP_DIVIDE] = '/',   [KCL_OP_MULTIPLY] = '*',
      [KCL_OP_ADD] = '+',           [KCL_OP_POSITIVE] = '?', [KCL_OP_NONZERO] = '?',
      [KCL_OP_END_ITERATION] = '@', [KCL_OP_CYCLE_END] = ')'};
  const char *space = s->cycle_end ? "!" : "";
  for (int i = 0; i < s->scalars; i++, space = " ")
    draw(p, "%s%c", space, scalar_name[s->scalar[i].code]);
  if (s->A)
    draw(p, "%s%s=%s%s", space, k->vector[s->y].name.s, s->A->format->name, k->vector[s->x].name.s),
        space = " ";
  for (int i = 0; i < s->vectors; i++, space = " ") {
    const kcl_op *o = &s->vector[i];
    if (o->code == KCL_OP_DOT)
      draw(p, "%s.%s%s", space, k->vector[o->x].name.s, k->vector[o->y].name.s);
    else
      draw(p, "%s%s=", space, k->vector[o->y].name.s);
  }
}

static picture phase_picture(const kcl_program *k, kcl_phase phase) {
  picture p = {.used = 0};
  for (int i = 0; i < k->stages[phase]; i++) {
    if (i) draw(&p, " | ");
    draw_stage(&p, k, &k->stage[phase][i]);
  }
  return p;
}

/* ---------------------------------------------------------------- who joins the open stage */

/* A dot product that the stage is still summing is no coefficient in it, by whichever way it would come in. */
static void dot_then_vector(kcl_program *k, const parts *v) {
  kcl_dot(k, v->s, v->p, v->q);
  kcl_lincomb(k, v->r, KCL_ONE, v->r, plus(v->s), v->q);
}
static void dot_then_first(kcl_program *k, const parts *v) {
  kcl_dot(k, v->s, v->p, v->q);
  kcl_lincomb(k, v->r, conjugate(minus(v->s)), v->r, KCL_ONE, v->q);
}
static void dot_then_scalar(kcl_program *k, const parts *v) {
  kcl_dot(k, v->s, v->p, v->q);
  kcl_divide(k, v->t, plus(v->u), plus(v->s));
}
static void dot_then_test(kcl_program *k, const parts *v) {
  kcl_dot(k, v->s, v->p, v->q);
  kcl_need_positive(k, v->s, KCL_INDEFINITE);
}
static void dot_then_result(kcl_program *k, const parts *v) {
  kcl_dot(k, v->s, v->p, v->q);
  kcl_assign(k, v->s, KCL_ONE);
}
/* Scalars come before the vectors of their stage: they join when they have nothing to do with these. */
static void dot_then_others(kcl_program *k, const parts *v) {
  kcl_dot(k, v->s, v->p, v->q);
  kcl_divide(k, v->t, plus(v->u), plus(v->u));
  kcl_lincomb(k, v->r, KCL_ONE, v->r, plus(v->t), v->q);
}
static void old_coefficient(kcl_program *k, const parts *v) {
  kcl_lincomb(k, v->r, KCL_ONE, v->r, plus(v->t), v->q);
  kcl_assign(k, v->t, KCL_ONE);
}
static void second_coefficient(kcl_program *k, const parts *v) {
  kcl_lincomb(k, v->r, plus(v->t), v->r, plus(v->u), v->q);
  kcl_add(k, v->u, plus(v->u), KCL_ONE);
}
static void tested_coefficient(kcl_program *k, const parts *v) {
  kcl_lincomb(k, v->r, KCL_ONE, v->r, plus(v->t), v->q);
  kcl_need_nonzero(k, v->t, KCL_BREAKDOWN_RHO);
}
static void scalar_chain(kcl_program *k, const parts *v) {
  kcl_divide(k, v->s, plus(v->t), plus(v->u));
  kcl_multiply(k, v->t, plus(v->s), plus(v->s));
  kcl_lincomb(k, v->r, plus(v->t), v->r, plus(v->s), v->q);
}

/* A product is the first of its stage, and there is one. */
static void product_after_scalar(kcl_program *k, const parts *v) {
  kcl_divide(k, v->s, plus(v->t), plus(v->u));
  kcl_apply(k, v->q, &A, v->p);
}
static void product_after_vector(kcl_program *k, const parts *v) {
  kcl_lincomb(k, v->p, KCL_ONE, v->r, KCL_ONE, v->p);
  kcl_apply(k, v->q, &A, v->p);
}
static void two_products(kcl_program *k, const parts *v) {
  kcl_apply(k, v->q, &A, v->p);
  kcl_apply(k, v->z, &A, v->r);
}
static void product_and_vectors(kcl_program *k, const parts *v) {
  kcl_apply(k, v->q, &A, v->p);
  kcl_lincomb(k, v->q, KCL_ONE, v->r, KCL_MINUS, v->q);
  kcl_dot(k, v->s, v->p, v->q);
  kcl_lincomb(k, v->z, KCL_ONE, v->z, plus(v->t), v->p);
}
/* The operand of the product is read by all work-items: nothing writes it in that stage. */
static void gathered_lincomb(kcl_program *k, const parts *v) {
  kcl_apply(k, v->q, &A, v->p);
  kcl_lincomb(k, v->p, KCL_ONE, v->r, KCL_ONE, v->p);
  kcl_lincomb(k, v->r, KCL_ONE, v->r, KCL_ONE, v->q);
}
static void gathered_times(kcl_program *k, const parts *v) {
  kcl_apply(k, v->q, &A, v->p);
  kcl_times(k, v->p, v->r, v->q, false);
}
static void gathered_read(kcl_program *k, const parts *v) {
  kcl_apply(k, v->q, &A, v->p);
  kcl_dot(k, v->s, v->p, v->p);
  kcl_times(k, v->r, v->p, v->q, false);
}
/* Rows that other work-items still add to are not read. */
static void scattered(kcl_program *k, const parts *v) {
  kcl_apply(k, v->q, &S, v->p);
  kcl_lincomb(k, v->r, KCL_ONE, v->r, KCL_MINUS, v->z);
  kcl_dot(k, v->s, v->q, v->q);
}
/* A stage runs over one length. */
static void lengths(kcl_program *k, const parts *v) {
  kcl_dot(k, v->s, v->p, v->p);
  kcl_dot(k, v->t, v->w, v->w);
  kcl_lincomb(k, v->w, KCL_ONE, v->w, KCL_ONE, v->w);
  kcl_dot(k, v->u, v->q, v->q);
}
static void length_of_product(kcl_program *k, const parts *v) {
  kcl_apply(k, v->w, &W, v->p);
  kcl_dot(k, v->t, v->w, v->w);
  kcl_dot(k, v->s, v->p, v->p);
}
/* An iteration ends between stages: what follows its step is not carried out after a stop. */
static void step_after_vector(kcl_program *k, const parts *v) {
  kcl_lincomb(k, v->r, KCL_ONE, v->r, KCL_ONE, v->q);
  kcl_end_iteration(k, v->s);
  kcl_lincomb(k, v->p, KCL_ONE, v->r, KCL_ONE, v->p);
}
static void step_after_product(kcl_program *k, const parts *v) {
  kcl_apply(k, v->q, &A, v->p);
  kcl_end_iteration(k, v->s);
}
static void step_after_scalar(kcl_program *k, const parts *v) {
  kcl_divide(k, v->s, plus(v->t), plus(v->u));
  kcl_end_iteration(k, v->s);
  kcl_assign(k, v->t, plus(v->s));
}
/* A dot product of two vectors is summed once, unless an operand has changed. */
static void dot_twice(kcl_program *k, const parts *v) {
  kcl_dot(k, v->s, v->p, v->q);
  kcl_dot(k, v->t, v->p, v->q);
}
static void dot_of_changed(kcl_program *k, const parts *v) {
  kcl_dot(k, v->s, v->p, v->q);
  kcl_lincomb(k, v->q, KCL_ONE, v->q, KCL_ONE, v->r);
  kcl_dot(k, v->t, v->p, v->q);
}
/* The end of a cycle has stages of its own. */
static void cycle(kcl_program *k, const parts *v) {
  kcl_end_iteration_in_cycle(k, v->s);
  kcl_lincomb(k, v->p, KCL_ONE, v->r, KCL_ONE, v->p);
  kcl_enter_cycle_end(k);
  kcl_lincomb(k, v->q, KCL_ONE, v->q, KCL_ONE, v->p);
  kcl_leave_cycle_end(k);
  kcl_lincomb(k, v->r, KCL_ONE, v->r, KCL_ONE, v->q);
}
/* One iteration of CG, without its source: three stages. */
static void conjugate_gradients(kcl_program *k, const parts *v) {
  kcl_apply(k, v->q, &A, v->p);
  kcl_dot(k, v->s, v->p, v->q);
  kcl_need_positive(k, v->s, KCL_INDEFINITE);
  kcl_divide(k, v->t, plus(v->u), plus(v->s));
  kcl_lincomb(k, v->r, KCL_ONE, v->r, minus(v->t), v->q);
  kcl_dot(k, v->u, v->r, v->r);
  kcl_end_iteration(k, v->u);
  kcl_lincomb(k, kcl_x(k), KCL_ONE, kcl_x(k), plus(v->t), v->p);
  kcl_lincomb(k, v->p, KCL_ONE, v->r, plus(v->u), v->p);
}

static const struct {
  recording record;
  const char *name, *stages;
} rules[] = {
#define RULE(name, stages)                                                                         \
  { name, #name, stages }
    RULE(dot_then_vector, ".pq | r="),
    RULE(dot_then_first, ".pq | r="),
    RULE(dot_then_scalar, ".pq | /"),
    RULE(dot_then_test, ".pq | ?"),
    RULE(dot_then_result, ".pq | ="),
    RULE(dot_then_others, "/ .pq r="),
    RULE(old_coefficient, "r= | ="),
    RULE(second_coefficient, "r= | +"),
    RULE(tested_coefficient, "? r="),
    RULE(scalar_chain, "/ * r="),
    RULE(product_after_scalar, "/ q=Ap"),
    RULE(product_after_vector, "p= | q=Ap"),
    RULE(two_products, "q=Ap | z=Ar"),
    RULE(product_and_vectors, "q=Ap q= .pq z="),
    RULE(gathered_lincomb, "q=Ap | p= r="),
    RULE(gathered_times, "q=Ap | p="),
    RULE(gathered_read, "q=Ap .pp r="),
    RULE(scattered, "q=Sp | r= .qq"),
    RULE(lengths, ".pp | .ww w= | .qq"),
    RULE(length_of_product, "w=Ap .ww | .pp"),
    RULE(step_after_vector, "r= | @ p="),
    RULE(step_after_product, "q=Ap | @"),
    RULE(step_after_scalar, "/ @ ="),
    RULE(dot_twice, ".pq | ="),
    RULE(dot_of_changed, ".pq q= .pq"),
    RULE(cycle, "@ p= | !) q= | r="),
    RULE(conjugate_gradients, "q=Ap .pq | ? / r= .rr | @ x= p="),
};

static void test_rules(void) {
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
    parts v;
    kcl_program *k = program(KCL_D, &v);
    kcl_begin(k, KCL_LOOP);
    rules[i].record(k, &v);
    CHECK(kcl_program_end(k) == KCL_OK);
    picture p = phase_picture(k, KCL_LOOP);
    CHECKF(!strcmp(p.text, rules[i].stages), "%s: stages \"%s\", not \"%s\"", rules[i].name, p.text,
           rules[i].stages);
    kcl_program_free(&k);
  }
}

/* x^T y is x^H y for real types, another sum for complex ones. */
static void test_unconjugated(void) {
  for (kcl_type t = KCL_S; t <= KCL_Z; t++) {
    parts v;
    kcl_program *k = program(t, &v);
    kcl_begin(k, KCL_LOOP);
    kcl_dot(k, v.s, v.p, v.q);
    kcl_dotu(k, v.t, v.p, v.q);
    kcl_program_end(k);
    CHECK(kcl_stage_dots(&k->stage[KCL_LOOP][0]) == 1 + kcl_type_complex(t));
    kcl_program_free(&k);
  }
}

/* A stage that is full is ended: neither too late nor long before. */
static void test_full(void) {
  parts v;
  kcl_program *k = program(KCL_D, &v);
  kcl_begin(k, KCL_LOOP);
  for (int i = 0; i < 3 * KCL_MOST_STAGE_VECTORS; i++)
    kcl_lincomb(k, kcl_vector(k, "v%d", i), KCL_ONE, v.p, KCL_ONE, v.q);
  for (int i = 0; i < 3 * KCL_MOST_STAGE_OPS; i++) kcl_lincomb(k, v.r, KCL_ONE, v.r, KCL_ONE, v.q);
  CHECK(kcl_program_end(k) == KCL_OK);
  int ops = 0, stages = k->stages[KCL_LOOP];
  for (int i = 0; i < stages; i++) {
    enum { ALL = 200 };
    kcl_vec list[ALL];
    const kcl_stage *s = &k->stage[KCL_LOOP][i];
    int vectors = kcl_stage_vectors(s, list, ALL);
    CHECKF(vectors <= KCL_MOST_STAGE_VECTORS && s->vectors <= KCL_MOST_STAGE_OPS,
           "stage %d of %d vectors and %d operations", i, vectors, s->vectors);
    CHECKF(i == stages - 1 || vectors > KCL_MOST_STAGE_VECTORS - 3 ||
               s->vectors == KCL_MOST_STAGE_OPS,
           "stage %d is ended with %d vectors and %d operations", i, vectors, s->vectors);
    ops += s->vectors;
  }
  CHECK(ops == 3 * (KCL_MOST_STAGE_VECTORS + KCL_MOST_STAGE_OPS));
  kcl_program_free(&k);
}

/* An operand whose coefficient is the constant 0 is not part of the operation. */
static void test_zero(void) {
  parts v;
  kcl_program *k = program(KCL_D, &v);
  kcl_begin(k, KCL_LOOP);
  kcl_lincomb(k, v.r, KCL_ZERO, v.p, plus(v.s), v.q);
  kcl_lincomb(k, v.r, plus(v.s), v.q, KCL_ZERO, v.p);
  kcl_program_end(k);
  for (int i = 0; i < 2; i++) {
    const kcl_op *o = &k->stage[KCL_LOOP][0].vector[i];
    CHECK(o->x == v.q && o->z == v.q && o->a.slot == v.s && o->b.slot < 0 && o->b.constant == 0);
  }
  kcl_program_free(&k);
}

/* ---------------------------------------------------------------- reductions carried across the loop */

/* LOOP ends with a dot product, or (otherwise) with what needs it. */
static kcl_program *carrying(bool carried) {
  parts v;
  kcl_program *k = program(KCL_D, &v);
  kcl_begin(k, KCL_START);
  kcl_dot(k, v.s, v.p, v.p);
  kcl_begin(k, KCL_LOOP);
  kcl_lincomb(k, v.r, KCL_ONE, v.r, plus(v.s), v.q);
  kcl_dot(k, v.s, v.r, v.r);
  if (!carried) kcl_assign(k, v.t, plus(v.s));
  kcl_begin(k, KCL_REPLACE);
  kcl_lincomb(k, v.r, KCL_ONE, v.p, KCL_ONE, v.q);
  CHECK(kcl_program_end(k) == KCL_OK);
  return k;
}

static void test_carried(void) {
  kcl_program *k = carrying(true);
  const kcl_stage *last = &k->stage[KCL_LOOP][0];
  CHECK(k->carried && k->stages[KCL_LOOP] == 1);
  CHECKF(kcl_stage_previous(k, KCL_LOOP, 0) == last,
         "LOOP begins by reducing what its end has summed");
  CHECKF(!strcmp(phase_picture(k, KCL_START).text, ".pp | "), "START: \"%s\"",
         phase_picture(k, KCL_START).text);
  CHECKF(!strcmp(phase_picture(k, KCL_REPLACE).text, "r= | "), "REPLACE: \"%s\"",
         phase_picture(k, KCL_REPLACE).text);
  for (kcl_phase p = KCL_START; p <= KCL_REPLACE; p += 2)
    CHECKF(!kcl_stage_seeds(k, p, 0) && kcl_stage_seeds(k, p, 1) == last,
           "the last stage of phase %d seeds the partial sums of LOOP's", (int)p);
  CHECK(!kcl_stage_seeds(k, KCL_LOOP, 0) && !kcl_stage_previous(k, KCL_START, 0) &&
        kcl_stage_previous(k, KCL_START, 1) == &k->stage[KCL_START][0]);
  kcl_program_free(&k);
  k = carrying(false);
  CHECK(!k->carried && k->stages[KCL_LOOP] == 2 && !kcl_stage_previous(k, KCL_LOOP, 0) &&
        !kcl_stage_seeds(k, KCL_START, 1) && k->stages[KCL_REPLACE] == 1);
  kcl_program_free(&k);
}

/* s = 1 from START, then v = v + s e and s = first^H v: 1, 2, 4 ... After REPLACE, s = 1 and v = 0 again. */
static void test_carried_values(const place *p, kcl_type t) {
  enum { LENGTH = 33 };
  box *b = box_new(p, t, LENGTH);
  kcl_program *k = b->k;
  kcl_vec v = kcl_vector(k, "v"), e = kcl_vector(k, "e"), first = kcl_vector(k, "first");
  kcl_slot s = kcl_scalar(k, "s");
  kcl_dot(k, s, first, e);
  kcl_begin(k, KCL_LOOP);
  kcl_lincomb(k, v, KCL_ONE, v, plus(s), e);
  kcl_dot(k, s, first, v);
  k->iterations = 1;
  kcl_begin(k, KCL_REPLACE);
  kcl_lincomb(k, v, KCL_ZERO, e, KCL_ZERO, e);
  kcl_dot(k, s, first, e);
  if (box_ready(b)) {
    number *one = filled(LENGTH, 1), *unit = filled(LENGTH, 0);
    static const struct {
      kcl_phase phase;
      int times;
      double v;
    } course[] = {{KCL_START, 1, 0},
                  {KCL_LOOP, 3, 4},
                  {KCL_LOOP, 2, 16},
                  {KCL_REPLACE, 1, 0},
                  {KCL_LOOP, 4, 8}};
    unit[LENGTH - 1] = 1;
    give(b, e, one), give(b, first, unit);
    CHECK(b->ex.set_state(&b->ex, &(kcl_control){.limit = 100}, &(double){0}) == KCL_OK);
    for (size_t i = 0; i < sizeof course / sizeof *course; i++) {
      go(b, course[i].phase, course[i].times);
      number *got = take(b, v);
      CHECKF(got[3] == course[i].v && got[LENGTH - 1] == course[i].v,
             "carried sums, %s, type %c, step %d: %g, not %g", p->name, kcl_type_letter(t), (int)i,
             creal(got[3]), course[i].v);
      free(got);
    }
    free(one), free(unit);
  }
  box_free(b);
}

/* ---------------------------------------------------------------- residual replacement, and launches */

static int launches;
#ifndef KCL_NO_OPENCL
static __typeof__(clEnqueueNDRangeKernel) driver_launch;
static cl_int count_launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                           const size_t *offset, const size_t *global, const size_t *local,
                           cl_uint waits, const cl_event *list, cl_event *event) {
  launches++;
  return driver_launch(queue, kernel, dimensions, offset, global, local, waits, list, event);
}
#endif

static void count_launches(void) {
#ifndef KCL_NO_OPENCL
  driver_launch = clEnqueueNDRangeKernel, clEnqueueNDRangeKernel = count_launch;
#endif
}

/* c counts passes over LOOP; REPLACE counts itself in m and copies c to at. There is a product, as the persistent
 * kernel wants. */
static void test_replacement(const place *p, kcl_type t, kcl_csr *M, bool persistent) {
  const char *how = persistent ? "persistent kernel" : "one launch per stage";
  const kcl_format *f;
  box *b = box_new(p, t, M->rows);
  kcl_program *k = b->k;
  CHECK(kcl_format_find(p->ctx, "csr-scalar", t, &f) == KCL_OK);
  CHECK(kcl_stored_build(p->ctx, f, M, &k->A) == KCL_OK);
  kcl_vec c, m, at, one, q;
  kcl_slot d = kcl_scalar(k, "d");
  kcl_new_vectors(k, "c m at one q", (kcl_vec *[]){&c, &m, &at, &one, &q});
  kcl_begin(k, KCL_LOOP);
  kcl_apply(k, q, k->A, one);
  kcl_lincomb(k, c, KCL_ONE, c, KCL_ONE, one);
  kcl_dot(k, d, one, one);
  kcl_end_iteration(k, d);
  kcl_begin(k, KCL_REPLACE);
  kcl_lincomb(k, m, KCL_ONE, m, KCL_ONE, one);
  kcl_copy_vector(k, at, c);
  if (box_ready(b)) {
    static const int batch[] = {1, 15, 16, 40, 3, 64, 130};
    CHECKF(b->ex.replaces == persistent, "%s, %s", p->name, how);
    const int interval = t == KCL_S || t == KCL_C ? 16 : 64;
    number *ones = filled(M->rows, 1);
    int64_t since = 0, all = 0;
    kcl_engine engine = {.ctx = p->ctx};
    give(b, one, ones), free(ones);
    engine.program = k, engine.executor = b->ex;
    CHECK(kcl_replacement_interval(k) == interval);
    CHECK(b->ex.set_state(&b->ex, &(kcl_control){.limit = 100000, .tests_off = 1}, &(double){0}) ==
          KCL_OK);
    go(b, KCL_START, 1);
    for (size_t i = 0; i < sizeof batch / sizeof *batch; i++) {
      int64_t done = all / interval;
      launches = 0;
      CHECK(kcl_engine_advance(&engine, batch[i], &since) == KCL_OK);
      all += batch[i];
      int64_t expected = persistent ? 1
                                    : batch[i] * k->stages[KCL_LOOP] +
                                          (all / interval - done) * k->stages[KCL_REPLACE];
      CHECKF(launches == (p->ctx->opencl ? expected : 0), "%s, %s: %d launches for %d passes",
             p->name, how, launches, batch[i]);
      number *got[] = {take(b, c), take(b, m), take(b, at)};
      int64_t times = all / interval, last = M->rows - 1;
      CHECKF(creal(got[0][last]) == (double)all && creal(got[1][last]) == (double)times &&
                 creal(got[2][0]) == (double)(times * interval),
             "%s, %s, type %c: after %lld passes %g were made and %g replacements, the last at %g",
             p->name, how, kcl_type_letter(t), (long long)all, creal(got[0][last]),
             creal(got[1][last]), creal(got[2][0]));
      for (int j = 0; j < 3; j++) free(got[j]);
    }
    b->ex = engine.executor;
  }
  kcl_stored *mine = k->A;
  box_free(b);
  kcl_stored_free(&mine);
}

static void test_replacements(const place *p, kcl_type t) {
  kcl_csr *M = NULL, *T = NULL;
  CHECK(kcl_generate(p->ctx, "poisson2d:9", &M, NULL) == KCL_OK);
  CHECK(kcl_csr_convert(p->ctx, M, t, &T) == KCL_OK);
  setenv("KRYLOCL_PERSISTENT", "0", 1);
  test_replacement(p, t, T, false);
  setenv("KRYLOCL_PERSISTENT", "1", 1);
  if (p->ctx->opencl) test_replacement(p, t, T, true);
  unsetenv("KRYLOCL_PERSISTENT");
  kcl_csr_free(&M), kcl_csr_free(&T);
}

int main(void) {
  setenv("KRYLOCL_LAYOUT", "gpu", 1);
  if (kcl_context_create(NULL, 0, &ctx)) return 1;
  test_rules(), test_unconjugated(), test_full(), test_zero(), test_carried();
  kcl_context_free(&ctx);
  open_places(), count_launches();
  for (int p = 0; p < place_count; p++)
    for (kcl_type t = KCL_S; t <= KCL_Z; t++) {
      if (!can(&places[p], t)) continue;
      test_carried_values(&places[p], t);
      if (!by_turns(&places[p]) || t == KCL_S || t == KCL_D) test_replacements(&places[p], t);
    }
  close_places();
  return check_report();
}
