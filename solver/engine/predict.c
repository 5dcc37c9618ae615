/* Seconds per iteration, predicted before anything is built: the method is recorded over outlines of A and A^H, and the
 * executor estimates the program. The preconditioner is set up before. A product alone is an iteration of one operation.
 */
#include "core/base/text.h"
#include "core/device/device.h"
#include "solver/engine/engine.h"
#include <stdio.h>

typedef struct outline { /* a program whose matrices are not built */
  kcl_stored A, AH;
  kcl_preconditioner *M;
  kcl_program *program;
} outline;

static int record_method(const kcl_system *s, const kcl_method *m, const kcl_precond_kind *p,
                         outline *o) {
  kcl_program *k = o->program;
  k->AH = m->adjoint ? &o->AH : NULL;
  k->norm_F = m->least_squares;
  k->restart = s->options.restart ? s->options.restart : m->restart;
  k->fusion = s->fusion;
  int rc = kcl_system_preconditioner(s, p, m, &o->M);
  if (rc && !(rc == KCL_USAGE && s->undecided.precond)) return rc; /* it will be left out */
  kcl_preconditioner_bind(o->M, k);
  m->record(k);
  return KCL_OK;
}

static void record_product(kcl_program *k, kcl_stored *A) {
  k->product = true, k->iterations = 1;
  kcl_begin(k, KCL_LOOP);
  kcl_apply(k, kcl_b(k), A, kcl_x(k)); /* b = A x */
}

/* m NULL: a product alone. */
static int record_prediction(const kcl_system *s, const kcl_method *m, const kcl_precond_kind *p,
                             const kcl_format *f, outline *o) {
  const kcl_stats *t = &s->stats;
  KCL_CALL(kcl_program_create(s->ctx, s->options.precision, t->rows, t->cols, &o->program));
  kcl_program *k = o->program;
  kcl_stored_outline(s->ctx, f, t, s->options.precision, &o->A);
  o->AH = o->A;
  k->A = &o->A;
  if (!m) record_product(k, &o->A);
  if (m) KCL_CALL(record_method(s, m, p, o));
  k->nrhs = f->multi_rhs && !s->options.mixed && s->options.nrhs ? s->options.nrhs : 1;
  return kcl_program_end(k);
}

/* Seconds of the program with A in another format that scatters as this one does. */
static double predicted_seconds(const kcl_system *s, outline *o, const kcl_rank *r) {
  const kcl_stats *t = &s->stats;
  kcl_program *k = o->program;
  kcl_stored_outline(s->ctx, r->format, t, s->options.precision, &o->A);
  o->A.cost.streamed = r->moved - (double)(t->rows + t->cols) * (double)kcl_type_size(k->type);
  o->AH = o->A, o->AH.rows = t->cols, o->AH.cols = t->rows;
  return kcl_executor_estimate(k) / k->iterations / k->nrhs;
}

static void sort_ranks(kcl_rank *list, int count) {
  for (int i = 1; i < count; i++) {
    kcl_rank r = list[i];
    int at = i;
    for (; at && r.seconds < list[at - 1].seconds; at--) list[at] = list[at - 1];
    list[at] = r;
  }
}

/* only: the one format that is asked for, the others get no time; NULL: all. */
static int predict(const kcl_system *s, const kcl_method *m, const kcl_precond_kind *p,
                   const char *only, kcl_rank list[KCL_MOST_FORMATS], int *count) {
  outline programs[4] = {{.program = NULL}}; /* by what the recorder asks of a format */
  int rc = kcl_format_rank(s->ctx, &s->stats, s->options.precision, list, count);
  for (int i = 0; i < *count && !rc; i++) {
    const kcl_format *f = list[i].format;
    outline *o = &programs[2 * f->scatter + f->multi_rhs];
    list[i].seconds = INFINITY;
    if (only && strcmp(only, f->name)) continue;
    if (!o->program) rc = record_prediction(s, m, p, f, o);
    if (!rc) list[i].seconds = predicted_seconds(s, o, &list[i]);
  }
  sort_ranks(list, *count);
  for (int i = 0; i < 4; i++)
    kcl_program_free(&programs[i].program), kcl_preconditioner_free(&programs[i].M);
  return rc;
}

int kcl_engine_predict(const kcl_system *s, const kcl_method *m, const kcl_precond_kind *p,
                       kcl_rank list[KCL_MOST_FORMATS], int *count) {
  return predict(s, m, p, NULL, list, count);
}

int kcl_engine_choose(const kcl_system *s, const kcl_format **f, char *why, size_t room) {
  kcl_rank list[KCL_MOST_FORMATS];
  int count, rc = predict(s, NULL, NULL, NULL, list, &count);
  if (rc) return rc;
  int n =
      snprintf(why, room, "predicted to take %s per product", kcl_seconds_text(list[0].seconds).s);
  if (count > 1 && n >= 0 && (size_t)n < room)
    snprintf(why + n, room - (size_t)n, ", next %s with %s", list[1].format->name,
             kcl_seconds_text(list[1].seconds).s);
  *f = list[0].format;
  return KCL_OK;
}

int kcl_engine_predicted(const kcl_system *s, const kcl_method *m, const kcl_precond_kind *p,
                         const char *format, double *seconds) {
  kcl_rank list[KCL_MOST_FORMATS];
  int count, rc = predict(s, m, p, format, list, &count);
  *seconds = rc ? INFINITY : list[0].seconds;
  return rc;
}
