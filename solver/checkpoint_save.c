/* See checkpoint.h: a checkpoint between two batches. Nothing is enqueued ahead then; vectors pass through one array on the host. */
#include "solver/checkpoint.h"

/* By default a checkpoint per minute, and rarely enough that writing takes at most this share of the time. */
static const double MINUTE = 60, SHARE = 0.01;

/* Contents of a file, in its order: twice, first counted. */
typedef struct saving {
  const kcl_solver *s;
  kcl_loop *l;
  bool counting;
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
  const kcl_ranks *ranks = kcl_system_ranks(&s->system);
  const uint64_t state = e->executor.state_bytes(&e->executor);
  w->head = (kcl_saved_head){.structure = s->checkpoints->A.structure,
                             .values = s->checkpoints->A.values,
                             .ranks = ranks ? ranks->count : 1,
                             .rows = ranks ? ranks->rows : s->system.A->rows,
                             .cols = ranks ? ranks->columns : s->system.A->cols,
                             .type = s->system.A->type,
                             .words = (int64_t)words,
                             .nrhs = l->nrhs,
                             .scaled = s->system.scaling.row != NULL,
                             .unit = s->system.scaling.unit,
                             .since = l->since,
                             .shared = l->shared,
                             .method_changed = l->method_changed,
                             .tried = s->selection.tried,
                             .state = (int64_t)kcl_checkpoint_total(&s->system, state)};
  strncpy(w->head.method, e->method->name, sizeof w->head.method - 1);
  strncpy(w->head.precond, e->precond->name, sizeof w->head.precond - 1);
  strncpy(w->head.format, kcl_engine_format(e), sizeof w->head.format - 1);
  for (kcl_vec v = 0; v < k->vectors; v++) w->head.vectors += kcl_vector_carried(k, v);
}

/* Own bytes of all ranks; so many in all. */
static int put_parts(saving *w, size_t own, uint64_t all) {
  if (w->counting) return kcl_checkpoint_put(&w->writer, NULL, (size_t)all);
  return kcl_checkpoint_put_parts(&w->s->system, &w->writer, w->buffer, own);
}

static int put_vector(saving *w, kcl_vec v) {
  kcl_executor *ex = &w->l->engine->executor;
  const kcl_program *k = w->l->engine->program;
  const kcl_type type = kcl_vector_stored(k, v);
  const size_t size = kcl_type_size(type);
  const uint64_t own = (uint64_t)k->vector[v].n, n = kcl_checkpoint_total(&w->s->system, own);
  kcl_saved_vector head = {.n = (int64_t)n, .type = type};
  memcpy(head.name, k->vector[v].name.s, sizeof head.name);
  int rc = kcl_ranks_agree(kcl_system_ranks(&w->s->system),
                           kcl_checkpoint_put(&w->writer, &head, sizeof head));
  for (int i = 0; i < w->l->nrhs && !rc; i++) {
    if (!w->counting) rc = ex->get(ex, v, i, type, w->buffer, 1.0);
    if (!rc) rc = put_parts(w, (size_t)own * size, n * size);
  }
  return rc;
}

static int put_state(saving *w) {
  kcl_executor *ex = &w->l->engine->executor;
  int rc = w->counting ? KCL_OK : ex->get_state(ex, w->buffer);
  return rc ? rc : put_parts(w, ex->state_bytes(ex), (uint64_t)w->head.state);
}

/* All that ranks have alike. */
static int put_beginning(saving *w) {
  const kcl_loop *l = w->l;
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
  return kcl_ranks_agree(kcl_system_ranks(&w->s->system), rc);
}

static int put_all(saving *w) {
  const kcl_program *k = w->l->engine->program;
  int rc = put_beginning(w);
  if (!rc) rc = put_vector(w, k->x);
  for (kcl_vec v = 0; v < k->vectors && !rc; v++)
    if (v != k->x && kcl_vector_carried(k, v)) rc = put_vector(w, v);
  return rc ? rc : put_state(w);
}

static int allocate_buffer(saving *w) {
  const kcl_engine *e = w->l->engine;
  const kcl_program *k = e->program;
  int64_t most = (int64_t)e->executor.state_bytes(&e->executor);
  for (kcl_vec v = 0; v < k->vectors; v++) {
    const int64_t bytes = k->vector[v].n * (int64_t)kcl_type_size(kcl_vector_stored(k, v));
    if (kcl_vector_carried(k, v) && bytes > most) most = bytes;
  }
  return kcl_ranks_agree(
      kcl_system_ranks(&w->s->system),
      kcl_alloc_unset(w->s->system.ctx, most, 1, "a checkpoint", (void **)&w->buffer));
}

/* The fingerprints of A and b are computed once per solve. */
static int sum_system(kcl_checkpoints *c, kcl_loop *l) {
  int rc = KCL_OK;
  if (!c->summed) c->A = kcl_checkpoint_fingerprint(l->system);
  for (int i = 0; i < l->nrhs && !rc && !c->summed; i++)
    rc = kcl_checkpoint_sum_b(l, i, &c->b_sum[i]);
  c->summed = !rc;
  return rc;
}

/* The file, which rank 0 has; the writers of the others go on counting. */
static int put_file(saving *w) {
  kcl_checkpoints *c = w->s->checkpoints;
  kcl_ranks *ranks = kcl_system_ranks(&w->s->system);
  const bool here = kcl_checkpoint_here(&w->s->system);
  const uint64_t size = w->writer.size;
  int rc = here ? kcl_checkpoint_open(w->s->system.ctx, c->path, size, &w->writer) : KCL_OK;
  w->counting = false, w->writer.replaces = c->replaces;
  if (!(rc = kcl_ranks_agree(ranks, rc))) rc = put_all(w);
  if (here) rc = kcl_checkpoint_close(&w->writer, rc);
  if (!(rc = kcl_ranks_agree(ranks, rc)))
    c->replaces = false, c->bytes = (double)kcl_checkpoint_bytes(size);
  return rc;
}

static int write_checkpoint(kcl_solver *s, kcl_loop *l) {
  kcl_distribution *d = s->system.distribution;
  saving w = {.s = s, .l = l, .counting = true, .writer = {.counting = true}};
  size_t words = 0;
  int rc;
  KCL_TRY(sum_system(s->checkpoints, l));
  KCL_TRY(kcl_checkpoint_words(s, l->engine, &w.words, &words));
  fill_head(&w, words);
  KCL_TRY(allocate_buffer(&w));
  KCL_TRY(put_all(&w));
  rc = put_file(&w);
done:
  free(w.words), free(w.buffer);
  return d ? d->agree(d, rc, 0) : rc;
}

/* ---------------------------------------------------------------- when */

/* On one rank: on all. */
static bool checkpoint_due(kcl_checkpoints *c, const kcl_loop *l) {
  const bool asked = atomic_exchange(&c->asked, false),
             due = asked || l->interrupted || kcl_now() >= c->next;
  return kcl_ranks_largest(kcl_system_ranks(l->system), due) > 0;
}

/* A checkpoint that fails leaves the one before, and the solve goes on. */
static void tell_checkpoint_failure(kcl_solver *s) {
  kcl_selection *c = &s->selection;
  if (!s->checkpoints->failed)
    kcl_append(c->changes, sizeof c->changes, "%sno checkpoint was written: %s",
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
  if (c->path) l->checkpoint = kcl_checkpoint_when_due, l->owner = s;
}

/* A request after the last batch is not for the next solve; one before the first batch is for this one. */
void kcl_checkpoints_report(const kcl_solver *s, const kcl_loop *l) {
  kcl_checkpoints *c = s->checkpoints;
  if (c) c->asked = false;
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
                    : s->system.distribution && s->system.distribution->reorders
                        ? "partition metis, where rows move to other ranks"
                        : NULL;
  if (!c || !(c->path || c->resume) || !why) return KCL_OK;
  return kcl_fail(s->system.ctx, KCL_USAGE, "checkpoints: not with %s", why);
}
