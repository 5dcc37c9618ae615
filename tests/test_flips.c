/* One bit flips in memory during a solve with the option guard: in values and indices of A and of M, in vectors, scalars and
 * partial sums, before any iteration. What is reported as converged is solved, by a residual in long double with the A that was
 * given; nearly all solves converge, and none crashes. Without flips x has the bits of a solve without guard.
 *
 * FLIPS=n: so many, 200 without it. GUARD=0: without guard, to compare. FIRST=n: begins with number n. */
#include "solver/solver.h"
#include "tests/check.h"
#include "tests/options.h"
#include <math.h>
#include <string.h>
#include <time.h>

typedef struct system {
  const char *generator, *solver, *precond;
  kcl_csr *A, *given; /* given: a copy of A */
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
enum { VALUES, COLUMNS, STARTS, PRECOND, VECTORS, SCALARS, SUMS, TARGETS };
static const char *const target_names[] = {"values",  "columns", "row pointers", "preconditioner",
                                           "vectors", "scalars", "partial sums"};

/* ---------------------------------------------------------------- the flip */

static struct flip {
  int (*run)(kcl_executor *, kcl_phase, int64_t);
  kcl_engine *e;
  int target;
  int64_t pass, at; /* the flip comes before pass number `pass` over LOOP; at: passes so far */
  unsigned char *byte;
  unsigned char bit;
} flip;

static int64_t random_below(int64_t n) { return (int64_t)(random_bits() % (uint64_t)n); }

static void flip_memory(void *memory, size_t bytes) {
  flip.byte = (unsigned char *)memory + random_below((int64_t)bytes);
  flip.bit = (unsigned char)(1 << random_below(8));
  *flip.byte ^= flip.bit;
}

static void flip_array(const kcl_stored *m, int i) {
  flip_memory(m->array[i].data,
              (size_t)m->array[i].count * kcl_array_element(m->array[i].kind, m->type));
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
  if (matrices && (!constants || random_below(2))) {
    const kcl_stored *m = list[random_below(matrices)];
    flip_array(m, (int)random_below(m->arrays));
  } else if (constants) {
    const kcl_vec v = constant[random_below(constants)];
    flip_memory(ex->memory(ex, v), (size_t)k->vector[v].n * kcl_type_size(kcl_vector_stored(k, v)));
  }
}

static void flip_vector(const kcl_program *k, kcl_executor *ex) {
  kcl_vec v;
  do v = (kcl_vec)random_below(k->vectors);
  while (kcl_vector_shared(k, v));
  flip_memory(ex->memory(ex, v), (size_t)k->vector[v].n * kcl_type_size(kcl_vector_stored(k, v)));
  flip.byte = NULL; /* nothing to undo */
}

/* The state begins with 8 bytes of the executor's own. */
static void flip_state(const kcl_program *k, kcl_executor *ex, bool scalars) {
  const size_t head = 8, slots = (size_t)k->slots * kcl_type_size(k->type),
               all = ex->state_bytes(ex);
  char *state = malloc(all);
  ex->get_state(ex, state);
  if (scalars)
    flip_memory(state + head, slots);
  else
    flip_memory(state + head + slots, all - head - slots);
  ex->put_state(ex, state);
  flip.byte = NULL;
  free(state);
}

static void flip_now(void) {
  const kcl_program *k = flip.e->program;
  kcl_executor *ex = &flip.e->executor;
  switch (flip.target) {
  case VALUES: flip_array(k->A, 2); break;
  case COLUMNS: flip_array(k->A, 1); break;
  case STARTS: flip_array(k->A, 0); break;
  case PRECOND: flip_precond(k, ex); break;
  case VECTORS: flip_vector(k, ex); break;
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

static int solve(system_of *q, double *x, kcl_report *r) {
  memset(x, 0, (size_t)q->A->cols * sizeof *x);
  return kcl_solve_one(q->s, q->b->val, x, r);
}

static int set_up(kcl_context *ctx, system_of *q, bool guard) {
  kcl_options o = cg_options();
  o.solver = q->solver, o.precond = q->precond, o.format = "csr-scalar", o.guard = guard;
  int rc = kcl_setup(ctx, q->A, &o, &q->s);
  if (!rc) q->s->kept = kcl_csr_share(q->A); /* the library's: it may be restored */
  return rc;
}

/* Guard changes no bit. */
static bool open_system(kcl_context *ctx, system_of *q, bool guard) {
  kcl_report plain;
  if (!CHECKF(!kcl_generate(ctx, q->generator, &q->A, &q->b), "%s", kcl_error())) return false;
  const size_t bytes = (size_t)q->A->cols * sizeof *q->x;
  double *x = malloc(bytes);
  q->x = malloc(bytes);
  CHECK(!kcl_csr_convert(ctx, q->A, q->A->type, &q->given));
  CHECK(!set_up(ctx, q, false) && !solve(q, x, &plain));
  kcl_solver_free(&q->s);
  CHECKF(!set_up(ctx, q, guard) && !solve(q, q->x, &q->clean), "%s", kcl_error());
  CHECKF(q->clean.converged && !q->clean.guard_errors && !memcmp(x, q->x, bytes),
         "%s %s: %s, %lld iterations, not %lld, %lld errors, %lld returns", q->solver, q->precond,
         kcl_reason_text(q->clean.reason), (long long)q->clean.iterations,
         (long long)plain.iterations, (long long)q->clean.guard_errors,
         (long long)q->clean.guard_rollbacks);
  free(x);
  return q->clean.converged;
}

static void close_system(system_of *q) {
  kcl_solver_free(&q->s);
  kcl_csr_free(&q->A), kcl_csr_free(&q->given), kcl_dense_free(&q->b);
  free(q->x);
}

static int converged[TARGETS], tried[TARGETS], wrong, found, quietly;

static void try_flip(int number) {
  random_state = 88172645463325252u + 7919u * (uint64_t)number;
  for (int i = 0; i < 10; i++) random_bits();
  system_of *q = &systems[random_below(SYSTEMS)];
  kcl_engine *e = q->s->selection.engine;
  const int64_t passes = q->clean.iterations / e->program->iterations + 1;
  double *x = malloc((size_t)q->A->cols * sizeof *x);
  kcl_report r;
  flip = (struct flip){.run = e->executor.run,
                       .e = e,
                       .target = (int)random_below(TARGETS),
                       .pass = random_below(passes)};
  e->executor.run = run_with_flip;
  const int rc = solve(q, x, &r);
  const long double rr = residual(q, x);
  e->executor.run = flip.run;
  tried[flip.target]++;
  converged[flip.target] += !rc && r.converged;
  found += !rc && r.guard_errors > 0, quietly += !rc && r.converged && !r.guard_errors;
  if (!rc && r.converged && !(rr <= 1.0001e-8L)) wrong++;
  CHECKF(rc || !r.converged || rr <= 1.0001e-8L, "%d: %s %s, %s: residual %Lg", number, q->solver,
         q->precond, target_names[flip.target], rr);
  if (getenv("VERBOSE") && (rc || !r.converged))
    printf("%d: %s %s, %s at pass %lld of %lld: %s, %lld iterations, errors %lld, back %lld\n",
           number, q->solver, q->precond, target_names[flip.target], (long long)flip.pass,
           (long long)passes, rc ? kcl_error() : kcl_reason_text(r.reason), (long long)r.iterations,
           (long long)r.guard_errors, (long long)r.guard_rollbacks);
  /* Arrays that were not restored are restored here. */
  const size_t nnz = (size_t)q->A->nnz;
  memcpy(q->A->val, q->given->val, nnz * sizeof(double));
  memcpy(q->A->col, q->given->col, nnz * sizeof *q->A->col);
  memcpy(q->A->row_ptr, q->given->row_ptr, (size_t)(q->A->rows + 1) * sizeof *q->A->row_ptr);
  free(x);
}

static int number_of(const char *name, int standard) {
  const char *text = getenv(name);
  return text ? atoi(text) : standard;
}

int main(void) {
  kcl_context *ctx;
  const int count = number_of("FLIPS", 200), first = number_of("FIRST", 0);
  const bool guard = number_of("GUARD", 1);
  int all = 0;
  bool open = true;
  if (!CHECK(!kcl_context_create(NULL, 0, &ctx)) || !CHECK(!kcl_select(ctx, "cpu", 2)))
    return check_report();
  for (int i = 0; i < SYSTEMS; i++) open = open_system(ctx, &systems[i], guard) && open;
  for (int i = first; open && i < first + count; i++) try_flip(i);
  for (int t = 0; t < TARGETS; t++) {
    all += converged[t];
    printf("%-16s %d flips, %d converged\n", target_names[t], tried[t], converged[t]);
  }
  printf("%d of %d converged, %d errors found, %d flips did no harm, %d wrong\n", all, count, found,
         quietly, wrong);
  CHECKF(!guard || all >= count - count / 100, "%d of %d solves converged", all, count);
  for (int i = 0; i < SYSTEMS; i++) close_system(&systems[i]);
  kcl_context_free(&ctx);
  return check_report();
}
