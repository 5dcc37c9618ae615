/* Mixed precision, before a solve: the system in float, scaled by powers of two so that its largest entries are near 1,
 * and whether iterations in float pay. */
#include "solver/mixed/mixed.h"
#include <stdio.h>

/* ---------------------------------------------------------------- the system in float */

/* Does r of START stay b - A x? */
static bool keeps_residual(const kcl_program *k) {
  int writes = 0;
  for (int i = 0; i < k->stages[KCL_START]; i++)
    for (int o = 0; o < k->stage[KCL_START][i].vectors; o++) {
      const kcl_op *op = &k->stage[KCL_START][i].vector[o];
      writes += op->code != KCL_OP_DOT && op->y == k->residual;
    }
  return writes == 1;
}

static int usable_in_float(const kcl_engine *e) {
  const char *name = e->method->name;
  kcl_type type = e->program->type;
  if (type != KCL_D && type != KCL_Z)
    return kcl_fail(e->ctx, KCL_USAGE,
                    "mixed precision computes in float and ends in double: it is asked for with "
                    "precision %c, not %c",
                    kcl_type_complex(type) ? 'z' : 'd', kcl_type_letter(type));
  if (e->method->least_squares)
    return kcl_fail(e->ctx, KCL_USAGE,
                    "%s has no mixed precision: it minimises |b - A x|, which need not become "
                    "small, and corrections are measured by it",
                    name);
  if (!keeps_residual(e->program))
    return kcl_fail(e->ctx, KCL_USAGE,
                    "%s has no mixed precision: after its start the residual b - A x, which "
                    "corrections begin with, is overwritten; cg keeps it",
                    name);
  return KCL_OK;
}

static int narrow_matrix(kcl_mixed *m, const kcl_system *s) {
  const kcl_csr *A = kcl_system_matrix(s);
  double norm = ldexp(s->stats.norm_inf, s->scaling.unit);
  int exponent = norm > 0 && norm < INFINITY ? ilogb(norm) : 0;
  m->unit = ldexp(1, exponent > 1000 ? -1000 : exponent < -1000 ? 1000 : -exponent);
  m->A = *A;
  m->A.type = s->options.precision == KCL_D ? KCL_S : KCL_C;
  m->A.val = NULL, m->A.mapped = NULL;
  int rc = kcl_alloc(s->ctx, A->nnz, kcl_type_size(m->A.type), "the matrix in single precision",
                     &m->A.val);
  if (!rc) kcl_copy(m->A.type, m->A.val, A->type, A->val, A->nnz, m->unit);
  return rc;
}

int kcl_mixed_create(const kcl_selection *wide, kcl_mixed **out) {
  const kcl_system *s = wide->system;
  KCL_OWNED_BY(kcl_mixed_free) kcl_mixed *m = *out = NULL;
  KCL_CALL(usable_in_float(wide->engine));
  double start = kcl_now();
  KCL_CALL(kcl_alloc(s->ctx, 1, sizeof *m, "mixed precision", (void **)&m));
  KCL_CALL(narrow_matrix(m, s));
  m->system = (kcl_system){.ctx = s->ctx,
                           .A = &m->A,
                           .options = s->options,
                           .structure_known = true,
                           .stats = s->stats,
                           .resumes = true,
                           .seconds_convert = kcl_now() - start};
  m->selection.system = &m->system;
  kcl_options *o = &m->system.options;
  o->precision = m->A.type, o->mixed = false, o->progress = NULL;
  o->solver = wide->way.method->name, o->precond = wide->way.precond->name, o->nrhs = 1;
  *out = m, m = NULL;
  return KCL_OK;
}

void kcl_mixed_free(kcl_mixed **m) {
  if (!*m) return;
  kcl_engine_free(&(*m)->selection.engine);
  kcl_system_forget_kept(&(*m)->system);
  free((*m)->A.val), free(*m);
  *m = NULL;
}

void kcl_mixed_refused(kcl_mixed *m) {
  snprintf(m->why, sizeof m->why, "not used: in float, %.200s", kcl_error());
}

/* ---------------------------------------------------------------- between the two engines */

/* Real numbers in a vector of A's rows. */
static int64_t reals(const kcl_engine *e) {
  return e->program->n * (kcl_type_complex(e->program->type) ? 2 : 1);
}

static void *memory_of_vector(kcl_engine *e, kcl_vec v) {
  return e->executor.memory(&e->executor, v);
}

int kcl_mixed_give(const kcl_mixed *m, kcl_engine *wide, double scale) {
  kcl_engine *e = m->selection.engine;
  return kcl_narrow(e->ctx, memory_of_vector(e, e->program->b),
                    memory_of_vector(wide, wide->program->residual), reals(e), scale);
}

int kcl_mixed_take(const kcl_mixed *m, kcl_engine *wide, double scale) {
  kcl_engine *e = m->selection.engine;
  return kcl_collect(e->ctx, memory_of_vector(wide, wide->program->x),
                     memory_of_vector(e, e->program->x), reals(e), scale);
}

int kcl_mixed_clear(const kcl_mixed *m, kcl_engine *wide) {
  kcl_engine *e = m->selection.engine;
  return kcl_narrow(e->ctx, memory_of_vector(e, e->program->x),
                    memory_of_vector(wide, wide->program->b), reals(e), 0);
}

/* ---------------------------------------------------------------- does it pay? */

/* Seconds per iteration, tests off; the least of three samples. */
static int sample_mixed(kcl_engine *e, double *each) {
  double t[3];
  int count = e->executor.least_iterations > 4 ? (int)e->executor.least_iterations : 4;
  int rc = kcl_engine_time(e, count, 3, t);
  if (!rc) *each = fmin(t[0], fmin(t[1], t[2]));
  return rc;
}

/* Seconds or bytes per iteration, in float and in double. */
static int compare_speeds(const kcl_mixed *m, kcl_selection *wide, bool by_time, double *single,
                          double *twice) {
  kcl_engine *narrow = m->selection.engine;
  double start = kcl_now();
  *single = kcl_engine_bytes(narrow, narrow->program->nrhs);
  *twice = kcl_engine_bytes(wide->engine, wide->engine->program->nrhs);
  if (!by_time) return KCL_OK;
  int rc = sample_mixed(wide->engine, twice);
  if (!rc) rc = sample_mixed(narrow, single);
  wide->seconds += kcl_now() - start;
  return rc;
}

/* Float takes more iterations, from hardly any to twice as many (docs/performance.md): where formats are chosen here, an
 * iteration must be a fifth faster, by the clock; with format "model" by its bytes. */
int kcl_mixed_judge(kcl_mixed *m, kcl_selection *wide) {
  static const double more_iterations = 1.2;
  const kcl_system *s = wide->system;
  const bool by_time = s->undecided.format && !s->undecided.model;
  kcl_short_text (*text)(double) = by_time ? kcl_seconds_text : kcl_bytes_text;
  double single, twice;
  KCL_CALL(compare_speeds(m, wide, by_time, &single, &twice));
  if (s->undecided.format && single * more_iterations > twice) {
    snprintf(m->why, sizeof m->why,
             "not used: an iteration in float takes %s, in double %s, and float takes more of them",
             text(single).s, text(twice).s);
    kcl_engine_free(&m->selection.engine);
    return KCL_OK;
  }
  snprintf(m->why, sizeof m->why, "float in %s, %s beside it; an iteration takes %s, in double %s",
           kcl_engine_format(m->selection.engine),
           kcl_bytes_text(kcl_engine_stored_bytes(m->selection.engine)).s, text(single).s,
           text(twice).s);
  KCL_CALL(kcl_mixed_clear(m, wide->engine)); /* the first launch of these kernels */
  KCL_CALL(kcl_mixed_take(m, wide->engine, 0));
  return wide->engine->executor.finish(&wide->engine->executor);
}
