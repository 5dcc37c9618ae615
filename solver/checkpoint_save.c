/* See checkpoint.h: a checkpoint between two batches. Nothing is enqueued ahead then; vectors pass through one array on the host. */
#include "core/base/context.h"
#include "solver/auto/auto.h"
#include "solver/checkpoint.h"
#include <stdlib.h>
#include <string.h>

/* By default a checkpoint per minute, and rarely enough that writing takes at most this share of the time. */
static const double MINUTE = 60, SHARE = 0.01;

/* Contents of a file, in its order: twice, first counted. */
typedef struct saving {
  const kcl_solver *s;
  kcl_loop *l;
  kcl_saved_head head;
  char *words;  /* [head.words] */
  char *buffer; /* of one vector, or of the state */
  kcl_checkpoint_writer writer;
} saving;

kcl_saved_rhs kcl_checkpoint_rhs(const kcl_loop *l, int i, uint64_t b_sum) {
  const kcl_rhs *v = &l->rhs[i];
  const kcl_control *c = &l->control[i];
  return (kcl_saved_rhs){.b_sum = b_sum,
                         .shift = v->b_norm.shift,
                         .stop = c->stop,
                         .iteration = c->iteration,
                         .limit = c->limit,
                         .cycle_open = c->cycle_open,
                         .active = v->active,
                         .from_zero = v->from_zero,
                         .given_up = v->given_up,
                         .reason = v->report->reason,
                         .restarts = v->report->residual_restarts,
                         .best_at = v->best_at,
                         .decade_at = v->decade_at,
                         .round_began = v->round_began,
                         .first_round = v->first_round,
                         .began = v->began,
                         .allowed = v->allowed,
                         .target = v->target,
                         .rr = l->rr[i],
                         .rr0 = v->rr0,
                         .claim = v->claim,
                         .rr_began = v->rr_began,
                         .best = v->best,
                         .decade = v->decade,
                         .history = v->history->size};
}

static void fill_head(saving *w, size_t words) {
  const kcl_solver *s = w->s;
  const kcl_loop *l = w->l;
  const kcl_engine *e = l->engine;
  const kcl_program *k = e->program;
  w->head = (kcl_saved_head){.row_ptr = s->sums.row_ptr,
                             .col = s->sums.col,
                             .val = s->sums.val,
                             .rows = s->system.A->rows,
                             .cols = s->system.A->cols,
                             .type = s->system.A->type,
                             .words = (int64_t)words,
                             .nrhs = l->nrhs,
                             .scaled = s->system.scaling.row != NULL,
                             .unit = s->system.scaling.unit,
                             .since = l->since,
                             .shared = l->shared,
                             .method_changed = l->method_changed,
                             .tried = s->selection.tried,
                             .state = (int64_t)e->executor.state_bytes(&e->executor)};
  strncpy(w->head.method, e->method->name, sizeof w->head.method - 1);
  strncpy(w->head.precond, e->precond->name, sizeof w->head.precond - 1);
  strncpy(w->head.format, kcl_engine_format(e), sizeof w->head.format - 1);
  for (kcl_vec v = 0; v < k->vectors; v++) w->head.vectors += kcl_vector_carried(k, v);
}

static int put_vector(saving *w, kcl_vec v) {
  kcl_executor *ex = &w->l->engine->executor;
  const kcl_program *k = w->l->engine->program;
  const kcl_type type = kcl_vector_stored(k, v);
  const size_t bytes = (size_t)k->vector[v].n * kcl_type_size(type);
  kcl_saved_vector head = {.n = k->vector[v].n, .type = type};
  memcpy(head.name, k->vector[v].name.s, sizeof head.name);
  int rc = kcl_checkpoint_put(&w->writer, &head, sizeof head);
  for (int i = 0; i < w->l->nrhs && !rc; i++) {
    if (!w->writer.counting) rc = ex->get(ex, v, i, type, w->buffer, 1.0);
    if (!rc) rc = kcl_checkpoint_put(&w->writer, w->buffer, bytes);
  }
  return rc;
}

static int put_state(saving *w) {
  kcl_executor *ex = &w->l->engine->executor;
  int rc = w->writer.counting ? KCL_OK : ex->get_state(ex, w->buffer);
  return rc ? rc : kcl_checkpoint_put(&w->writer, w->buffer, (size_t)w->head.state);
}

static int put_all(saving *w) {
  const kcl_loop *l = w->l;
  const kcl_program *k = l->engine->program;
  int rc = kcl_checkpoint_put(&w->writer, &w->head, sizeof w->head);
  if (!rc) rc = kcl_checkpoint_put(&w->writer, w->words, (size_t)w->head.words);
  for (int i = 0; i < l->nrhs && !rc; i++) {
    const kcl_saved_rhs v = kcl_checkpoint_rhs(l, i, w->s->checkpoints->b_sum[i]);
    rc = kcl_checkpoint_put(&w->writer, &v, sizeof v);
  }
  for (int i = 0; i < l->nrhs && !rc; i++) {
    const kcl_history *h = l->rhs[i].history;
    rc = kcl_checkpoint_put(&w->writer, h->entry,
                            (size_t)h->size * KCL_HISTORY_FIELDS * sizeof *h->entry);
  }
  if (!rc) rc = put_vector(w, k->x);
  for (kcl_vec v = 0; v < k->vectors && !rc; v++)
    if (v != k->x && kcl_vector_carried(k, v)) rc = put_vector(w, v);
  return rc ? rc : put_state(w);
}

static int allocate_buffer(saving *w) {
  const kcl_program *k = w->l->engine->program;
  int64_t most = w->head.state;
  for (kcl_vec v = 0; v < k->vectors; v++) {
    const int64_t bytes = k->vector[v].n * (int64_t)kcl_type_size(kcl_vector_stored(k, v));
    if (kcl_vector_carried(k, v) && bytes > most) most = bytes;
  }
  return kcl_alloc_unset(w->s->system.ctx, most, 1, "a checkpoint", (void **)&w->buffer);
}

/* The checksums of b are computed once per solve. */
static int sum_all_b(kcl_checkpoints *c, kcl_loop *l) {
  int rc = KCL_OK;
  for (int i = 0; i < l->nrhs && !rc && !c->summed; i++)
    rc = kcl_checkpoint_sum_b(l, i, &c->b_sum[i]);
  c->summed = !rc;
  return rc;
}

static int write_checkpoint(kcl_solver *s, kcl_loop *l) {
  kcl_checkpoints *c = s->checkpoints;
  saving w = {.s = s, .l = l, .writer = {.counting = true}};
  size_t words = 0;
  int rc;
  KCL_TRY(sum_all_b(c, l));
  KCL_TRY(kcl_checkpoint_words(s, l->engine, &w.words, &words));
  fill_head(&w, words);
  KCL_TRY(allocate_buffer(&w));
  KCL_TRY(put_all(&w));
  const uint64_t size = w.writer.size;
  rc = kcl_checkpoint_open(s->system.ctx, c->path, size, &w.writer);
  w.writer.replaces = c->replaces;
  if (!rc) rc = put_all(&w);
  rc = kcl_checkpoint_close(&w.writer, rc);
  if (!rc) c->replaces = false, c->bytes = (double)kcl_checkpoint_bytes(size);
done:
  free(w.words), free(w.buffer);
  return rc;
}

/* ---------------------------------------------------------------- when */

static bool checkpoint_due(kcl_checkpoints *c, const kcl_loop *l) {
  const bool asked = atomic_exchange(&c->asked, false);
  return asked || l->interrupted || kcl_now() >= c->next;
}

/* A checkpoint that fails leaves the one before, and the solve goes on. */
static void tell_checkpoint_failure(kcl_solver *s) {
  kcl_selection *c = &s->selection;
  if (!s->checkpoints->failed)
    kcl_auto_say(c->changes, sizeof c->changes, "%sno checkpoint was written: %s",
                 c->changes[0] ? "\n" : "", kcl_error());
  s->checkpoints->failed = true;
}

int kcl_checkpoint_when_due(void *owner, kcl_loop *l) {
  kcl_solver *s = owner;
  kcl_checkpoints *c = s->checkpoints;
  if (!kcl_loop_running(l) || !checkpoint_due(c, l)) return KCL_OK;
  const double start = kcl_now();
  int rc = l->enqueued ? kcl_loop_poll(l) : KCL_OK; /* the batch ahead */
  l->enqueued = false;
  if (rc || !kcl_loop_running(l)) return rc;
  const double begin = kcl_now(); /* iterations before are iterations */
  if (write_checkpoint(s, l))
    tell_checkpoint_failure(s);
  else
    c->count++;
  const double end = kcl_now();
  c->seconds += end - begin, l->start += end - begin;
  c->next = end + (c->interval > 0 ? c->interval : fmax(MINUTE, (end - start) / SHARE));
  return KCL_OK;
}

void kcl_checkpoints_begin(kcl_solver *s, kcl_loop *l) {
  kcl_checkpoints *c = s->checkpoints;
  if (!c) return;
  c->next = kcl_now() + (c->interval > 0 ? c->interval : MINUTE);
  c->summed = c->failed = c->replaces = false, c->count = c->resumed_at = 0,
  c->bytes = c->seconds = 0;
  c->asked = false;
  if (c->path) l->checkpoint = kcl_checkpoint_when_due, l->owner = s;
}

void kcl_checkpoints_report(const kcl_solver *s, const kcl_loop *l) {
  const kcl_checkpoints *c = s->checkpoints;
  for (int i = 0; c && i < l->nrhs; i++) {
    kcl_report *r = l->rhs[i].report;
    r->checkpoints = c->count, r->resumed_at = c->resumed_at;
    r->bytes_checkpoint = c->bytes, r->seconds_checkpoint = c->seconds;
  }
}

/* ---------------------------------------------------------------- settings */

int kcl_checkpoints_of(kcl_solver *s, kcl_checkpoints **out) {
  int rc = s->checkpoints
               ? KCL_OK
               : kcl_alloc(s->system.ctx, 1, sizeof **out, "checkpoints", (void **)&s->checkpoints);
  *out = s->checkpoints;
  return rc;
}

void kcl_checkpoints_free(kcl_checkpoints **c) {
  if (!*c) return;
  kcl_checkpoint_free(&(*c)->resume);
  free((*c)->path), free(*c);
  *c = NULL;
}

int kcl_checkpoints_check(const kcl_solver *s, int64_t k) {
  const kcl_checkpoints *c = s->checkpoints;
  const char *why = k > s->selection.engine->program->nrhs
                        ? "more right-hand sides than the option nrhs"
                    : kcl_mixed_used(s->mixed) ? "mixed precision"
                    : s->system.distribution   ? "several ranks"
                                               : NULL;
  if (!c || !(c->path || c->resume) || !why) return KCL_OK;
  return kcl_fail(s->system.ctx, KCL_USAGE, "checkpoints: not with %s", why);
}
