/* See state.h. */
#include "solver/guard/state.h"

/* Calls move for each vector that LOOP goes on from, of each right-hand side, with its place in s->values. */
typedef int move_vector(kcl_executor *ex, kcl_vec v, int rhs, kcl_type type, void *values);

static int put_kept(kcl_executor *ex, kcl_vec v, int rhs, kcl_type type, void *values) {
  return ex->put(ex, v, rhs, type, values, 1.0);
}

static int get_kept(kcl_executor *ex, kcl_vec v, int rhs, kcl_type type, void *values) {
  return ex->get(ex, v, rhs, type, values, 1.0);
}

static int move_vectors(const kcl_kept_state *s, kcl_loop *l, bool x_alone, move_vector *move) {
  const kcl_program *k = l->engine->program;
  char *at = s->values;
  int rc = KCL_OK;
  for (kcl_vec v = 0; v < k->vectors; v++) {
    const kcl_type type = kcl_vector_stored(k, v);
    for (int i = 0; i < l->nrhs && !rc && kcl_vector_carried(k, v); i++) {
      if (!x_alone || v == k->x) rc = move(&l->engine->executor, v, i, type, at);
      at += (size_t)k->vector[v].n * kcl_type_size(type);
    }
  }
  return rc;
}

static size_t count_bytes_of_state(const kcl_loop *l) {
  const kcl_program *k = l->engine->program;
  size_t bytes = 0;
  for (kcl_vec v = 0; v < k->vectors; v++)
    if (kcl_vector_carried(k, v))
      bytes += (size_t)l->nrhs * (size_t)k->vector[v].n * kcl_type_size(kcl_vector_stored(k, v));
  return bytes;
}

static int make_room_for_state(kcl_kept_state *s, const kcl_loop *l) {
  kcl_executor *ex = &l->engine->executor;
  const size_t bytes = count_bytes_of_state(l), state = ex->state_bytes(ex);
  if (s->values && s->bytes == bytes && s->state_bytes == state) return KCL_OK;
  kcl_state_free(s);
  int rc = kcl_alloc_unset(l->system->ctx, (int64_t)bytes, 1, "the state of a solve",
                           (void **)&s->values);
  if (!rc)
    rc = kcl_alloc_unset(l->system->ctx, (int64_t)state, 1, "the state of a solve", &s->state);
  s->bytes = bytes, s->state_bytes = state;
  return rc;
}

int kcl_state_keep(kcl_kept_state *s, kcl_loop *l) {
  kcl_executor *ex = &l->engine->executor;
  int rc = make_room_for_state(s, l);
  s->known = false;
  if (!rc) rc = move_vectors(s, l, false, get_kept);
  if (!rc) rc = ex->get_state(ex, s->state);
  if (rc) return rc;
  s->loop = *l, s->known = true;
  for (int i = 0; i < l->nrhs; i++) {
    const kcl_rhs *v = &l->rhs[i];
    s->reason[i] = v->report->reason, s->restarts[i] = v->report->residual_restarts;
    s->history[i] = v->history->size;
  }
  return KCL_OK;
}

/* The host's part. Where b and x of the caller are has not changed, nor the engine, nor when the solve began. */
static void return_loop(const kcl_kept_state *s, kcl_loop *l) {
  for (int i = 0; i < l->nrhs; i++) {
    kcl_rhs *v = &l->rhs[i];
    const void *b = v->b;
    void *x = v->x;
    *v = s->loop.rhs[i], v->b = b, v->x = x;
    v->report->reason = s->reason[i], v->report->residual_restarts = s->restarts[i];
    v->history->size = s->history[i];
    l->control[i] = s->loop.control[i], l->rr[i] = s->loop.rr[i];
  }
  l->state = s->loop.state, l->since = s->loop.since, l->shared = s->loop.shared;
  l->method_changed = s->loop.method_changed, l->enqueued = false;
}

/* b is the caller's again: the device's may have been damaged. */
static int put_all_b(kcl_loop *l) {
  int rc = KCL_OK;
  for (int i = 0; i < l->nrhs && !rc; i++)
    if (l->rhs[i].b_norm.norm > 0) rc = kcl_loop_put_b(l, i);
  return rc;
}

int kcl_state_return(kcl_kept_state *s, kcl_loop *l) {
  kcl_executor *ex = &l->engine->executor;
  return_loop(s, l);
  int rc = put_all_b(l);
  if (!rc) rc = move_vectors(s, l, false, put_kept);
  if (!rc) rc = ex->put_state(ex, s->state);
  if (!rc) rc = kcl_loop_set_state(l);
  if (!rc) kcl_snapshot_begin(l);
  return rc;
}

int kcl_state_return_x(kcl_kept_state *s, kcl_loop *l) {
  return_loop(s, l);
  int rc = put_all_b(l);
  if (!rc) rc = move_vectors(s, l, true, put_kept);
  if (!rc) rc = kcl_loop_start_again(l);
  return rc;
}

void kcl_state_free(kcl_kept_state *s) {
  free(s->values), free(s->state);
  *s = (kcl_kept_state){.known = false};
}
