/* One bit flips in memory during a solve with the option guard: in values and indices of A and of M, in vectors, scalars and
 * partial sums, before any iteration. What is reported as converged is solved, by a residual in long double with the A that was
 * given; nearly all solves converge, and none crashes. Without flips x has the bits of a solve without guard. Then bits of A's indices
 * flip in each storage format.
 *
 * FLIPS=n: so many, 200 without it, and a tenth of that per format. GUARD=0: without guard, to compare. FIRST=n: begins with number n.
 * DEVICE=opencl, FORMAT=name: instead of the native executor and csr-scalar. PICK=text: of the systems those with this text in "method
 * preconditioner"; FORMATS=text: of the other formats those with this text in their name. */
#include "core/base/context.h"
#include "core/device/device.h"
#include "solver/solver.h"
#include "tests/calls.h"
#include "tests/check.h"
#include "tests/options.h"
#include <math.h>
#include <string.h>
#include <time.h>

typedef struct system {
  const char *generator, *solver, *precond, *format; /* format NULL: FORMAT */
  kcl_csr *A, *given;                                /* given: a copy of A */
  kcl_dense *b;
  kcl_solver *s;
  kcl_report clean; /* of the solve without a flip */
  double *x;        /* its x */
} system_of;

static system_of systems[] = {
    {.generator = "poisson2d:40", .solver = "cg", .precond = "jacobi"},
    {.generator = "poisson2d:40", .solver = "cg", .precond = "amg"},
    {.generator = "poisson2d:40", .solver = "cg", .precond = "ic"},
    {.generator = "convection:40", .solver = "bicgstab", .precond = "jacobi"},
    {.generator = "convection:40", .solver = "bicgstab", .precond = "ilut"},
    {.generator = "convection:40", .solver = "bicgstab", .precond = "amg"},
    {.generator = "convection:40", .solver = "idr", .precond = "jacobi"},
    {.generator = "convection:40", .solver = "idr", .precond = "ilut"},
    {.generator = "convection:40", .solver = "idr", .precond = "amg"},
    {.generator = "convection:40", .solver = "gmres", .precond = "jacobi"},
    {.generator = "convection:40", .solver = "gmres", .precond = "ilut"},
    {.generator = "convection:40", .solver = "gmres", .precond = "amg"},
};
enum { SYSTEMS = sizeof systems / sizeof *systems };
enum { VALUES, INDICES, PRECOND, VECTORS, SCALARS, SUMS, TARGETS };
static const char *const target_names[] = {"values",  "indices", "preconditioner",
                                           "vectors", "scalars", "partial sums"};

/* ---------------------------------------------------------------- the flip */

static struct flip {
  int (*run)(kcl_executor *, kcl_phase, int64_t);
  kcl_engine *e;
  int target;
  int64_t pass, at; /* the flip comes before pass number `pass` over LOOP; at: passes so far */
  void *memory;     /* where the flip can be undone: bit `bit` of byte `byte`; or NULL */
  size_t byte;
  unsigned char bit, flipped; /* flipped: the byte afterwards */
} flip;

static int64_t random_below(int64_t n) { return (int64_t)(random_bits() % (uint64_t)n); }

/* Memory of the engine's executor. */
static unsigned char read_byte(void *memory, size_t at) {
  unsigned char byte = ((unsigned char *)memory)[flip.e->ctx->opencl ? 0 : at];
  if (flip.e->ctx->opencl) CHECK(!kcl_read_bytes(flip.e->ctx, memory, at, 1, &byte));
  return byte;
}

static void write_byte(void *memory, size_t at, unsigned char byte) {
  if (flip.e->ctx->opencl)
    CHECK(!kcl_write_bytes(flip.e->ctx, memory, at, 1, &byte));
  else
    ((unsigned char *)memory)[at] = byte;
}

static void choose_bit(size_t bytes) {
  flip.byte = (size_t)random_below((int64_t)bytes);
  flip.bit = (unsigned char)(1 << random_below(8));
}

static void flip_memory(void *memory, size_t bytes) {
  choose_bit(bytes);
  flip.memory = memory, flip.flipped = read_byte(memory, flip.byte) ^ flip.bit;
  write_byte(memory, flip.byte, flip.flipped);
}

/* Unless the guard has restored it. */
static void undo_flip(void) {
  if (flip.memory && read_byte(flip.memory, flip.byte) == flip.flipped)
    write_byte(flip.memory, flip.byte, flip.flipped ^ flip.bit);
}

static bool is_array(const kcl_array *a, bool indices) {
  return a->count && !a->prepared && (a->kind != KCL_SCALAR && a->kind != KCL_SINGLE) == indices;
}

/* Any of m's arrays of indices, or of the others. */
static void flip_array(const kcl_stored *m, bool indices) {
  kcl_buffer_place place;
  int list[KCL_MOST_ARRAYS], count = 0;
  for (int i = 0; i < m->arrays; i++)
    if (is_array(&m->array[i], indices)) list[count++] = i;
  if (!count) return;
  const int i = list[random_below(count)];
  const kcl_array *a = &m->array[i];
  place.bytes = (size_t)a->count * kcl_array_element(a->kind, m->type);
  if (m->device[i]) kcl_describe_buffer(m->ctx, m->device[i], &place);
  flip_memory(m->device[i] ? m->device[i] : a->data, place.bytes);
}

static void flip_vector(const kcl_program *k, kcl_executor *ex, kcl_vec v) {
  flip_memory(ex->memory(ex, v), (size_t)k->vector[v].n * kcl_type_size(kcl_vector_stored(k, v)));
}

/* An array of one of M's matrices, or, as likely, one of its vectors. */
static void flip_precond(const kcl_program *k, kcl_executor *ex) {
  const kcl_stored *list[64];
  kcl_vec constant[64];
  int matrices = 0, constants = 0;
  for (int i = 0; i < k->ops && matrices < 64; i++)
    if (k->op[i].matrix != k->A) list[matrices++] = k->op[i].matrix;
  for (kcl_vec v = 0; v < k->vectors && constants < 64; v++)
    if (kcl_vector_shared(k, v)) constant[constants++] = v;
  if (matrices && (!constants || random_below(2)))
    flip_array(list[random_below(matrices)], random_below(2));
  else if (constants)
    flip_vector(k, ex, constant[random_below(constants)]);
}

static void flip_any_vector(const kcl_program *k, kcl_executor *ex) {
  kcl_vec v;
  do v = (kcl_vec)random_below(k->vectors);
  while (kcl_vector_shared(k, v));
  flip_vector(k, ex, v);
  flip.memory = NULL; /* nothing to undo */
}

/* The state begins with 8 bytes of the executor's own, on a device also with control blocks. */
static void flip_state(const kcl_program *k, kcl_executor *ex, bool scalars) {
  const size_t head = 8 + (k->ctx->opencl ? sizeof(kcl_control) : 0),
               slots = (size_t)k->slots * kcl_type_size(k->type), all = ex->state_bytes(ex);
  unsigned char *state = malloc(all);
  CHECK(!ex->get_state(ex, state));
  choose_bit(scalars ? slots : all - head - slots);
  state[head + (scalars ? 0 : slots) + flip.byte] ^= flip.bit;
  CHECK(!ex->put_state(ex, state));
  free(state);
}

static void flip_now(void) {
  const kcl_program *k = flip.e->program;
  kcl_executor *ex = &flip.e->executor;
  switch (flip.target) {
  case VALUES: flip_array(k->A, false); break;
  case INDICES: flip_array(k->A, true); break;
  case PRECOND: flip_precond(k, ex); break;
  case VECTORS: flip_any_vector(k, ex); break;
  default: flip_state(k, ex, flip.target == SCALARS);
  }
}

static int run_with_flip(kcl_executor *ex, kcl_phase phase, int64_t times) {
  int rc = KCL_OK;
  for (int64_t i = 0; i < times && !rc; i++) {
    if (phase == KCL_LOOP && flip.at++ == flip.pass) flip_now();
    rc = flip.run(ex, phase, 1);
  }
  return rc;
}

/* ---------------------------------------------------------------- solves */

static long double residual(const system_of *q, const double *x) {
  const kcl_csr *A = q->given;
  const double *val = A->val, *b = q->b->val;
  long double rr = 0, bb = 0;
  for (int64_t i = 0; i < A->rows; i++) {
    long double r = b[i];
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      r -= (long double)val[k] * x[A->col[k]];
    rr += r * r, bb += (long double)b[i] * b[i];
  }
  return sqrtl(rr / bb);
}

static int solve_flipped(system_of *q, double *x, kcl_report *r) {
  memset(x, 0, (size_t)q->A->cols * sizeof *x);
  return kcl_solve_one(q->s, q->b->val, x, r);
}

static int set_up(kcl_context *ctx, system_of *q, bool guard) {
  kcl_options o = cg_options();
  o.solver = q->solver, o.precond = q->precond, o.format = q->format, o.guard = guard;
  int rc = kcl_setup(ctx, q->A, &o, &q->s);
  if (!rc) q->s->kept = kcl_csr_share(q->A); /* the library's: it may be restored */
  return rc;
}

/* Guard changes no bit. */
static void compare_clean(const system_of *q, const double *plain) {
  const bool scatters = q->s->selection.engine->operators[0]->format->scatter;
  CHECKF(q->clean.converged && !q->clean.guard_errors &&
             (scatters || !memcmp(plain, q->x, (size_t)q->A->cols * sizeof *plain)),
         "%s %s, %s: %s, %lld iterations, %lld errors, %lld returns", q->solver, q->precond,
         q->format, kcl_reason_text(q->clean.reason), (long long)q->clean.iterations,
         (long long)q->clean.guard_errors, (long long)q->clean.guard_rollbacks);
}

/* plain: solves without guard first, to compare x. */
static bool open_system(kcl_context *ctx, system_of *q, bool guard, bool plain) {
  kcl_report r;
  if (!q->format) q->format = getenv("FORMAT") ? getenv("FORMAT") : "csr-scalar";
  if (!CHECKF(!kcl_generate(ctx, q->generator, &q->A, &q->b), "%s", kcl_error())) return false;
  double *x = malloc((size_t)q->A->cols * sizeof *x);
  q->x = malloc((size_t)q->A->cols * sizeof *x);
  CHECK(!kcl_csr_convert(ctx, q->A, q->A->type, &q->given));
  int rc = plain ? set_up(ctx, q, false) : KCL_OK;
  if (plain && !rc) CHECK(!solve_flipped(q, x, &r));
  kcl_solver_free(&q->s);
  if (!rc) rc = set_up(ctx, q, guard);
  if (!rc) rc = solve_flipped(q, q->x, &q->clean);
  if (!rc) compare_clean(q, plain ? x : q->x);
  free(x);
  CHECKF(rc == KCL_OK || rc == KCL_REFUSED, "%s", kcl_error());
  return !rc && q->clean.converged;
}

static void close_system(system_of *q) {
  kcl_solver_free(&q->s);
  kcl_csr_free(&q->A), kcl_csr_free(&q->given), kcl_dense_free(&q->b);
  free(q->x);
}

static int converged[TARGETS], tried[TARGETS], wrong, found, quietly;

static void count_solve(const system_of *q, int number, int rc, const kcl_report *r,
                        long double rr) {
  const bool claims = !rc && r->converged;
  tried[flip.target]++;
  converged[flip.target] += claims;
  found += !rc && r->guard_errors > 0, quietly += claims && !r->guard_errors;
  wrong += claims && !(rr <= 1.0001e-8L);
  CHECKF(!claims || rr <= 1.0001e-8L, "%d: %s %s %s, %s: residual %Lg", number, q->solver,
         q->precond, q->format, target_names[flip.target], rr);
  if (getenv("VERBOSE") && !claims)
    printf("%d: %s %s %s, %s at pass %lld: %s, %lld iterations, errors %lld, back %lld\n", number,
           q->solver, q->precond, q->format, target_names[flip.target], (long long)flip.pass,
           rc ? kcl_error() : kcl_reason_text(r->reason), (long long)r->iterations,
           (long long)r->guard_errors, (long long)r->guard_rollbacks);
}

/* One of `count` systems, one of the targets from `first` to `last`. */
static void try_flip(int number, system_of *list, int count, int first, int last) {
  random_state = 88172645463325252u + 7919u * (uint64_t)number;
  for (int i = 0; i < 10; i++) random_bits();
  system_of *q = &list[random_below(count)];
  kcl_engine *e = q->s->selection.engine;
  const int64_t passes = q->clean.iterations / e->program->iterations + 1;
  double *x = malloc((size_t)q->A->cols * sizeof *x);
  kcl_report r;
  flip = (struct flip){.run = e->executor.run,
                       .e = e,
                       .target = first + (int)random_below(last - first + 1),
                       .pass = random_below(passes)};
  e->executor.run = run_with_flip;
  const int rc = solve_flipped(q, x, &r);
  e->executor.run = flip.run;
  undo_flip();
  count_solve(q, number, rc, &r, residual(q, x));
  free(x);
}

/* Indices of A in this format, symmetric or not. */
static void try_format(kcl_context *ctx, const char *name, bool guard, int first, int count) {
  const bool half = !strcmp(name, "csr-sym");
  system_of q = {.generator = half ? "poisson2d:40" : "convection:40",
                 .solver = half ? "cg" : "bicgstab",
                 .precond = "jacobi",
                 .format = name};
  const int before = converged[INDICES];
  const bool open = open_system(ctx, &q, guard, false);
  for (int i = first; open && i < first + count; i++) try_flip(i, &q, 1, INDICES, INDICES);
  if (open)
    printf("%-16s %d flips of indices, %d converged\n", name, count, converged[INDICES] - before);
  else
    printf("%-16s skipped: %s\n", name, kcl_error());
  close_system(&q);
}

/* Is the text of this variable in `in`, or is it not set? */
static bool is_picked(const char *variable, const char *in) {
  const char *text = getenv(variable);
  return !text || strstr(in, text);
}

/* Moves the systems that are picked to the front; returns their number. */
static int pick_systems(void) {
  int count = 0;
  for (int i = 0; i < SYSTEMS; i++) {
    char name[64];
    snprintf(name, sizeof name, "%s %s", systems[i].solver, systems[i].precond);
    if (is_picked("PICK", name)) systems[count++] = systems[i];
  }
  return count;
}

static int number_of(const char *name, int standard) {
  const char *text = getenv(name);
  return text ? atoi(text) : standard;
}

static bool open_device(kcl_context **ctx) {
  const char *device = getenv("DEVICE") ? getenv("DEVICE") : "cpu";
  return CHECK(!kcl_context_create(NULL, 0, ctx)) &&
         CHECKF(!kcl_select(*ctx, device, strcmp(device, "cpu") ? 0 : 2), "%s", kcl_error());
}

int main(void) {
  kcl_context *ctx;
  const int count = number_of("FLIPS", 200), first = number_of("FIRST", 0);
  const bool guard = number_of("GUARD", 1);
  const int picked = pick_systems();
  int all = 0, flips = 0;
  bool open = open_device(&ctx);
  if (!open) return check_report();
  for (int i = 0; i < picked; i++) open = open_system(ctx, &systems[i], guard, true) && open;
  for (int i = first; open && picked && i < first + count; i++)
    try_flip(i, systems, picked, 0, TARGETS - 1);
  for (int i = 0; open && i < kcl_format_count; i++)
    if (kcl_format_at(i, KCL_D)->bounded /* has it indices? */ &&
        is_picked("FORMATS", kcl_format_at(i, KCL_D)->name))
      try_format(ctx, kcl_format_at(i, KCL_D)->name, guard, first, count / 10);
  for (int t = 0; t < TARGETS; t++) {
    all += converged[t], flips += tried[t];
    printf("%-16s %d flips, %d converged\n", target_names[t], tried[t], converged[t]);
  }
  printf("%d of %d converged, %d errors found, %d flips did no harm, %d wrong\n", all, flips, found,
         quietly, wrong);
  CHECKF(!guard || all >= flips - flips / 100, "%d of %d solves converged", all, flips);
  for (int i = 0; i < picked; i++) close_system(&systems[i]);
  kcl_context_free(&ctx);
  return check_report();
}
