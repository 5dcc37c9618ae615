/* See checkpoint.h: a solve goes on from a checkpoint, after START from its own guess. */
#include "solver/checkpoint.h"
#include "solver/engine/given.h"
#include "solver/readback.h"

/* ---------------------------------------------------------------- is it of this system? */

int kcl_resume_check(const kcl_solver *s, const kcl_checkpoint_reader *r) {
  const kcl_csr *A = s->system.A;
  const kcl_ranks *ranks = kcl_system_ranks(&s->system);
  const kcl_saved_head *h = &r->head;
  const kcl_fingerprint f = kcl_checkpoint_fingerprint(&s->system);
  if (h->rows != (ranks ? ranks->rows : A->rows) || h->cols != (ranks ? ranks->columns : A->cols) ||
      h->type != (int64_t)A->type)
    return kcl_fail(
        s->system.ctx, KCL_INPUT, "%s: the checkpoint is of another matrix: %lld x %lld of type %c",
        r->path, (long long)h->rows, (long long)h->cols, kcl_type_letter((kcl_type)(h->type & 3)));
  if (h->structure == f.structure && h->values == f.values) return KCL_OK;
  return kcl_fail(s->system.ctx, KCL_INPUT,
                  "%s: the checkpoint is of another matrix: the %s differ", r->path,
                  h->structure != f.structure ? "places of its entries" : "values");
}

static int refuse(const kcl_resuming *w, const char *what) {
  return kcl_fail(w->s->system.ctx, KCL_INPUT, "%s: the checkpoint is of %s", w->r->path, what);
}

static bool in_range(int64_t v, int64_t most) { return v >= 0 && v <= most; }

static bool plausible(const kcl_saved_rhs *v) {
  const int64_t reasons = 1 + KCL_LEAST_SQUARES, at = v->iteration;
  return in_range(at, INT32_MAX - 1) && in_range(v->limit, INT32_MAX - 1) &&
         in_range(v->stop, reasons) && in_range(v->given_up, reasons) &&
         in_range(v->reason, KCL_LEAST_SQUARES) && in_range(v->restarts, INT32_MAX) &&
         in_range(v->history, at) && in_range(v->best_at, at) && in_range(v->decade_at, at) &&
         in_range(v->round_began, at) && in_range(v->first_round, at) && in_range(v->began, at);
}

static int read_rhs(kcl_resuming *w) {
  int rc = KCL_OK;
  if (!in_range(w->r->head.since, INT32_MAX) || !in_range(w->r->head.shared, INT64_MAX / 2))
    return kcl_checkpoint_damaged(w->r);
  if (w->r->head.nrhs != w->l->nrhs) return refuse(w, "another number of right-hand sides");
  for (int i = 0; i < w->l->nrhs && !rc; i++) {
    uint64_t sum = 0;
    kcl_saved_rhs *v = &w->rhs[i];
    rc = kcl_checkpoint_get_shared(w->l->system, w->r, v, sizeof *v);
    if (!rc && !plausible(v)) rc = kcl_checkpoint_damaged(w->r);
    if (!rc) rc = kcl_checkpoint_sum_b(w->l, i, &sum);
    if (!rc && sum != v->b_sum) rc = refuse(w, "another right-hand side");
    w->s->checkpoints->b_sum[i] = sum;
  }
  w->s->checkpoints->A = (kcl_fingerprint){w->r->head.structure, w->r->head.values};
  w->s->checkpoints->summed = !rc;
  return rc;
}

static int check_scaling(const kcl_resuming *w) {
  const kcl_scaling *c = &w->l->system->scaling;
  bool same = w->r->head.scaled == (c->row != NULL) && w->r->head.unit == c->unit;
  for (int i = 0; i < w->l->nrhs; i++) same = same && w->rhs[i].shift == w->l->rhs[i].b_norm.shift;
  return same ? KCL_OK
              : refuse(w, "a system that is scaled otherwise (options scale, tol, precision)");
}

static int read_saved_history(kcl_resuming *w, int i) {
  kcl_history *h = w->l->rhs[i].history;
  const int64_t count = w->rhs[i].history;
  const size_t bytes = (size_t)count * KCL_HISTORY_FIELDS * sizeof *h->entry;
  if (bytes > w->r->size) return kcl_checkpoint_damaged(w->r);
  free(h->entry), h->entry = NULL, h->size = h->capacity = 0;
  int rc = kcl_alloc(w->s->system.ctx, count + 1, KCL_HISTORY_FIELDS * sizeof *h->entry,
                     "the history", (void **)&h->entry);
  rc = kcl_ranks_agree(kcl_system_ranks(w->l->system), rc);
  if (!rc) rc = kcl_checkpoint_get_shared(w->l->system, w->r, h->entry, bytes);
  if (!rc) h->size = count, h->capacity = count + 1;
  return rc;
}

/* ---------------------------------------------------------------- the loop as it was */

static int32_t limit_of(const kcl_loop *l, const kcl_saved_rhs *v) {
  return (int32_t)(l->system->options.max_iter ? l->max_iter : v->limit);
}

static void restore_rhs(const kcl_resuming *w, int i) {
  kcl_loop *l = w->l;
  kcl_rhs *v = &l->rhs[i];
  const kcl_saved_rhs *from = &w->rhs[i];
  const int32_t limit = limit_of(l, from);
  l->control[i] = (kcl_control){.stop = (int32_t)from->stop,
                                .iteration = (int32_t)from->iteration,
                                .limit = limit,
                                .cycle_open = (int32_t)from->cycle_open};
  if (!from->stop && from->iteration >= limit) l->control[i].stop = 1 + KCL_ITERATION_LIMIT;
  l->rr[i] = from->rr;
  v->active = from->active, v->from_zero = from->from_zero, v->given_up = (int32_t)from->given_up;
  v->report->reason = (kcl_reason)from->reason;
  v->report->residual_restarts = (int)from->restarts;
  v->best_at = from->best_at, v->decade_at = from->decade_at, v->began = from->began;
  v->round_began = from->round_began, v->first_round = from->first_round;
  v->rr0 = from->rr0, v->claim = from->claim, v->rr_began = from->rr_began;
  v->best = from->best, v->decade = from->decade;
  v->target = from->allowed == v->allowed ? from->target : kcl_loop_target(v);
}

/* One vector of the checkpoint, to v of the engine. */
static int read_vector(const kcl_resuming *w, kcl_vec v) {
  kcl_executor *ex = &w->l->engine->executor;
  const kcl_program *k = w->l->engine->program;
  const kcl_system *s = w->l->system;
  const int64_t own = k->vector[v].n;
  kcl_saved_vector head;
  KCL_OWNED void *values = NULL;
  KCL_CALL(kcl_checkpoint_get_shared(s, w->r, &head, sizeof head));
  if ((uint64_t)head.n != kcl_checkpoint_total(s, (uint64_t)own) || head.type < KCL_S ||
      head.type > KCL_Z || kcl_type_complex((kcl_type)head.type) != kcl_type_complex(k->type))
    KCL_CALL(kcl_checkpoint_damaged(w->r));
  const kcl_type type = (kcl_type)head.type;
  int rc = kcl_alloc_unset(k->ctx, own, kcl_type_size(type), "a vector", &values);
  KCL_CALL(kcl_ranks_agree(kcl_system_ranks(s), rc));
  for (int i = 0; i < w->l->nrhs; i++) {
    KCL_CALL(kcl_checkpoint_get_parts(s, w->r, values, (size_t)own * kcl_type_size(type)));
    KCL_CALL(ex->put(ex, v, i, type, values, 1.0));
  }
  return KCL_OK;
}

static int read_state(const kcl_resuming *w) {
  kcl_executor *ex = &w->l->engine->executor;
  const kcl_system *s = w->l->system;
  const size_t bytes = ex->state_bytes(ex);
  KCL_OWNED void *state = NULL;
  int rc = kcl_alloc(s->ctx, (int64_t)bytes, 1, "the state", &state);
  KCL_CALL(kcl_ranks_agree(kcl_system_ranks(s), rc));
  KCL_CALL(kcl_checkpoint_get_parts(s, w->r, state, bytes));
  return ex->put_state(ex, state);
}

static int go_on(const kcl_resuming *w) {
  kcl_loop *l = w->l;
  kcl_executor *ex = &l->engine->executor;
  const kcl_program *k = l->engine->program;
  double target[KCL_MAX_NRHS] = {0};
  KCL_CALL(read_vector(w, k->x));
  for (kcl_vec v = 0; v < k->vectors; v++)
    if (v != k->x && kcl_vector_carried(k, v)) KCL_CALL(read_vector(w, v));
  KCL_CALL(read_state(w));
  for (int i = 0; i < l->nrhs; i++) target[i] = kcl_square(l->rhs[i].target);
  KCL_CALL(ex->set_state(ex, l->control, target));
  if (w->r->head.since > kcl_replacement_interval(k)) return kcl_checkpoint_damaged(w->r);
  l->since = w->r->head.since, l->state = KCL_LOOP_ITERATING;
  kcl_snapshot_begin(l);
  return KCL_OK;
}

static int go_on_from_x(const kcl_resuming *w) {
  kcl_loop *l = w->l;
  int rc = read_vector(w, l->engine->program->x);
  for (int i = 0; i < l->nrhs; i++)
    if (l->rhs[i].active) l->rhs[i].report->reason = KCL_CONVERGED;
  return rc ? rc : kcl_loop_restart(l);
}

static void tell_resumption(const kcl_resuming *w) {
  kcl_selection *c = &w->s->selection;
  const kcl_checkpoint_reader *r = w->r;
  if (r->predecessor)
    kcl_append(c->changes, sizeof c->changes, "%s; the checkpoint before it is used\n", r->why);
  kcl_append(c->changes, sizeof c->changes, "resumed from %s at iteration %lld%s%s", r->path,
             (long long)w->s->checkpoints->resumed_at,
             w->other[0] ? ", from x alone: " : ", as if it had not been interrupted", w->other);
}

static int resume_loop(kcl_resuming *w) {
  kcl_loop *l = w->l;
  const kcl_saved_head *h = &w->r->head;
  KCL_CALL(read_rhs(w));
  KCL_CALL(check_scaling(w));
  for (int i = 0; i < l->nrhs; i++) KCL_CALL(read_saved_history(w, i));
  KCL_CALL(kcl_resume_engine(w));
  KCL_CALL(kcl_resume_compare(w));
  for (int i = 0; i < l->nrhs; i++) restore_rhs(w, i);
  l->shared = h->shared, l->method_changed = h->method_changed != 0;
  w->s->checkpoints->resumed_at = l->resumed_at = kcl_loop_iterations(l);
  if (!w->other[0]) w->s->selection.tried |= (unsigned)h->tried;
  w->s->selection.decided = true;
  tell_resumption(w);
  return w->other[0] ? go_on_from_x(w) : go_on(w);
}

/* ---------------------------------------------------------------- after another device */

/* Norms of this device stay: those of the other differ by rounding. */
static int continue_rhs(const kcl_resuming *w, int i, const kcl_read_x *k) {
  kcl_loop *l = w->l;
  kcl_rhs *v = &l->rhs[i];
  const double rr0 = v->rr0, target = v->target;
  v->history->size = k->known ? k->at.history : 0;
  if (!k->known) return KCL_OK;
  restore_rhs(w, i);
  v->rr0 = rr0, v->target = target;
  if (v->active) v->report->reason = KCL_CONVERGED;
  return kcl_give_x(l->system, l->engine, i, k->x, v->b_norm.shift);
}

/* From x that was read back (solver/readback.h); nothing is known where the device was lost before. */
static int continue_from_read_x(kcl_solver *s, kcl_loop *l) {
  kcl_resuming w = {.s = s, .l = l};
  bool any = false;
  int rc = KCL_OK;
  for (int i = 0; i < l->nrhs && !rc; i++) {
    if (l->rhs[i].b_norm.norm == 0) continue;
    w.rhs[i] = s->continues[i].at, any = any || s->continues[i].known;
    rc = continue_rhs(&w, i, &s->continues[i]);
  }
  l->shared = l->resumed_at = kcl_loop_iterations(l);
  return rc || !any ? rc : kcl_loop_restart(l);
}

int kcl_resume(void *owner, kcl_loop *l) {
  kcl_solver *s = owner;
  kcl_checkpoints *c = s->checkpoints;
  if (!c || !c->resume) return s->continues ? continue_from_read_x(s, l) : KCL_OK;
  kcl_resuming w = {.s = s, .l = l, .r = c->resume};
  c->replaces = c->path && c->resume->predecessor &&
                !strncmp(c->path, c->resume->path, strlen(c->path)) &&
                strlen(c->resume->path) == strlen(c->path) + 2;
  kcl_distribution *d = l->system->distribution;
  const int rc = resume_loop(&w);
  kcl_checkpoint_free(&c->resume);
  return d ? d->agree(d, rc, 0) : rc;
}
