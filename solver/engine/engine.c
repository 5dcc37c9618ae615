/* Engines: their parts, their cost, and how state moves from one to another. */
#include "solver/engine/engine.h"
#include <stdio.h>

int kcl_engine_create(kcl_context *ctx, const kcl_method *method, const kcl_precond_kind *precond,
                      kcl_engine **out) {
  static atomic_uint_fast64_t engines;
  int rc = kcl_alloc(ctx, 1, sizeof **out, "an engine", (void **)out);
  if (!rc)
    (*out)->number = ++engines, (*out)->ctx = ctx, (*out)->method = method,
    (*out)->precond = precond;
  return rc;
}

static int grow_operators(kcl_engine *e) {
  kcl_stored **more = realloc(e->operators, (size_t)(e->operator_count + 1) * sizeof *more);
  if (!more) return kcl_fail(e->ctx, KCL_MEMORY, "out of memory: the operators of an engine");
  e->operators = more;
  return KCL_OK;
}

int kcl_engine_add(kcl_engine *e, const kcl_format *format, const kcl_system *s) {
  int rc = grow_operators(e);
  if (!rc)
    rc = kcl_stored_build_from(e->ctx, format, kcl_system_matrix(s), s->distinct,
                               &e->operators[e->operator_count]);
  if (!rc) e->operator_count++;
  return rc;
}

int kcl_engine_share(kcl_engine *e, kcl_stored *A) {
  int rc = grow_operators(e);
  if (!rc) e->operators[e->operator_count++] = kcl_stored_share(A);
  return rc;
}

void kcl_engine_refill(kcl_engine *e, const kcl_system *s) {
  if (e->stale) kcl_stored_refill(e->operators[0], kcl_system_matrix(s), s->runs);
  e->stale = false;
}

void kcl_engine_free(kcl_engine **e) {
  if (!*e) return;
  if ((*e)->executor.close) (*e)->executor.close(&(*e)->executor);
  kcl_program_free(&(*e)->program);
  kcl_preconditioner_free(&(*e)->M);
  for (int i = 0; i < (*e)->operator_count; i++) kcl_stored_free(&(*e)->operators[i]);
  free((*e)->operators);
  free(*e);
  *e = NULL;
}

/* ---------------------------------------------------------------- cost */

const char *kcl_engine_format(const kcl_engine *e) { return e->operators[0]->format->name; }

double kcl_engine_stored_bytes(const kcl_engine *e) {
  double bytes = 0;
  for (int i = 0; i < e->operator_count; i++)
    if (!i || e->operators[i] != e->operators[0]) bytes += kcl_stored_bytes(e->operators[i]);
  return bytes;
}

double kcl_engine_setup_seconds(const kcl_engine *e) {
  const kcl_executor *ex = &e->executor;
  return e->seconds_convert + ex->seconds_upload + (ex->compiled ? 0 : ex->seconds_compile);
}

double kcl_engine_bytes(const kcl_engine *e, int nrhs) {
  const kcl_program *k = e->program;
  double replacement = kcl_program_bytes(k, KCL_REPLACE, nrhs) / kcl_replacement_interval(k);
  return (kcl_program_bytes(k, KCL_LOOP, nrhs) + replacement) / k->iterations;
}

/* ---------------------------------------------------------------- what it is */

void kcl_engine_describe(kcl_engine *e, int asked_nrhs) {
  kcl_context *ctx = e->ctx;
  const kcl_stored *m = e->operators[0];
  char *text = e->kernel;
  size_t used, capacity = sizeof e->kernel;
  if (!ctx->opencl)
    snprintf(text, capacity, "native, %d thread%s", ctx->threads, ctx->threads > 1 ? "s" : "");
  else if (m->shell.apply)
    snprintf(text, capacity, "a function of the caller's");
  else if (m->format->scatter)
    snprintf(text, capacity, "%s, scatter", m->format->kernel);
  else
    snprintf(text, capacity, "%s, %d work-item%s per row", m->format->kernel, m->kernel.lanes,
             m->kernel.lanes > 1 ? "s" : "");
  used = strlen(text);
  if (m->note[0]) snprintf(text + used, capacity - used, ", %s", m->note);
  kcl_tune_say(ctx, m->format->name, text, capacity);
  used = strlen(text);
  if (e->program->nrhs > 1)
    snprintf(text + used, capacity - used, ", %d right-hand sides at once", e->program->nrhs);
  else if (asked_nrhs > 1)
    snprintf(text + used, capacity - used, ", one right-hand side at a time");
}

/* ---------------------------------------------------------------- running */

int64_t kcl_engine_until_replacement(const kcl_engine *e, int64_t since) {
  return e->executor.replaces ? INT64_MAX : kcl_replacement_interval(e->program) - since;
}

int kcl_engine_advance(kcl_engine *e, int64_t passes, int64_t *since) {
  kcl_executor *ex = &e->executor;
  int64_t every = kcl_engine_until_replacement(e, 0), batch;
  int rc = KCL_OK;
  for (; passes > 0 && !rc; passes -= batch) {
    batch = passes < every - *since ? passes : every - *since;
    rc = ex->run(ex, KCL_LOOP, batch);
    if ((*since += batch) < every) continue;
    *since = 0;
    if (!rc) rc = ex->run(ex, KCL_REPLACE, 1);
  }
  return rc;
}

/* ---------------------------------------------------------------- from one engine to another */

bool kcl_engine_same_program(const kcl_engine *a, const kcl_engine *b) {
  const kcl_program *k = a->program, *l = b->program;
  if (a->method != b->method || a->precond != b->precond) return false;
  if (k->vectors != l->vectors || k->slots != l->slots || k->nrhs != l->nrhs) return false;
  if (kcl_program_dots(k) != kcl_program_dots(l)) return false;
  for (int p = 0; p < KCL_PHASES; p++)
    if (k->stages[p] != l->stages[p]) return false;
  return true;
}

int kcl_engine_carry(kcl_engine *to, const kcl_engine *from) {
  return to->executor.carry(&to->executor, &from->executor);
}

int kcl_engine_copy_system(kcl_engine *to, kcl_engine *from) {
  const kcl_program *k = from->program, *l = to->program;
  const kcl_vec out[] = {k->b, k->x}, in[] = {l->b, l->x};
  int rc = KCL_OK;
  for (int i = 0; i < 2 * k->nrhs && !rc; i++) {
    void *v;
    rc = kcl_alloc(from->ctx, k->vector[out[i % 2]].n, kcl_type_size(k->type), "a vector", &v);
    if (!rc) rc = from->executor.get(&from->executor, out[i % 2], i / 2, k->type, v, 1.0);
    if (!rc) rc = to->executor.put(&to->executor, in[i % 2], i / 2, k->type, v, 1.0);
    free(v);
  }
  return rc;
}
