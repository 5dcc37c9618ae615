/* An executor whose calls fail on all ranks or on none: each ends with an agreement, so no rank goes on alone. What happens
 * inside of run is in step by itself (core/program/ranks.h). */
#include "distributed/distributed.h"

typedef struct shared {
  kcl_executor inner;
  kcl_comm *comm;
} shared;

static kcl_executor *ranks_inner(kcl_executor *ex) { return &((shared *)ex->data)->inner; }

static int together(kcl_executor *ex, int rc) {
  return kcl_ranks_agree(&((shared *)ex->data)->comm->ranks, rc);
}

static int ranks_put(kcl_executor *ex, kcl_vec v, int rhs, kcl_type type, const void *values,
                     double scale) {
  return together(ex, ranks_inner(ex)->put(ranks_inner(ex), v, rhs, type, values, scale));
}

static int ranks_get(kcl_executor *ex, kcl_vec v, int rhs, kcl_type type, void *values,
                     double scale) {
  return together(ex, ranks_inner(ex)->get(ranks_inner(ex), v, rhs, type, values, scale));
}

static int ranks_set_state(kcl_executor *ex, const kcl_control *control, const double *target) {
  return together(ex, ranks_inner(ex)->set_state(ranks_inner(ex), control, target));
}

static int ranks_run(kcl_executor *ex, kcl_phase phase, int64_t times) {
  return together(ex, ranks_inner(ex)->run(ranks_inner(ex), phase, times));
}

static int ranks_poll(kcl_executor *ex, kcl_control *control, double *rr) {
  return together(ex, ranks_inner(ex)->poll(ranks_inner(ex), control, rr));
}

static int ranks_history(kcl_executor *ex, int rhs, int64_t from, int64_t to, double *out) {
  return together(ex, ranks_inner(ex)->history(ranks_inner(ex), rhs, from, to, out));
}

static int ranks_finish(kcl_executor *ex) {
  return together(ex, ranks_inner(ex)->finish(ranks_inner(ex)));
}

static int ranks_save(kcl_executor *ex, int snapshot) {
  return together(ex, ranks_inner(ex)->save(ranks_inner(ex), snapshot));
}

static int ranks_load(kcl_executor *ex, int snapshot, int rhs) {
  return together(ex, ranks_inner(ex)->load(ranks_inner(ex), snapshot, rhs));
}

static size_t ranks_state_bytes(const kcl_executor *ex) {
  const kcl_executor *inner = &((const shared *)ex->data)->inner;
  return inner->state_bytes(inner);
}

static int ranks_get_state(kcl_executor *ex, void *bytes) {
  return together(ex, ranks_inner(ex)->get_state(ranks_inner(ex), bytes));
}

static int ranks_put_state(kcl_executor *ex, const void *bytes) {
  return together(ex, ranks_inner(ex)->put_state(ranks_inner(ex), bytes));
}

static void *ranks_memory(kcl_executor *ex, kcl_vec v) {
  return ranks_inner(ex)->memory(ranks_inner(ex), v);
}

static int ranks_source(kcl_executor *ex, char **out) {
  return ranks_inner(ex)->source ? ranks_inner(ex)->source(ranks_inner(ex), out) : KCL_USAGE;
}

static void close_shared(kcl_executor *ex) {
  ranks_inner(ex)->close(ranks_inner(ex));
  free(ex->data);
}

/* carry and multiply are not called: formats are not exchanged here, and the program is a method's. */
int kcl_distribute_executor(kcl_comm *c, kcl_executor *ex) {
  shared *s;
  int rc = kcl_alloc(c->ctx, 1, sizeof *s, "the executor", (void **)&s);
  if ((rc = kcl_comm_agree(c, rc))) return free(s), rc;
  s->inner = *ex, s->comm = c;
  ex->data = s;
  ex->put = ranks_put, ex->get = ranks_get, ex->set_state = ranks_set_state, ex->run = ranks_run,
  ex->poll = ranks_poll;
  ex->history = ranks_history, ex->finish = ranks_finish, ex->save = ranks_save,
  ex->load = ranks_load;
  ex->state_bytes = ranks_state_bytes, ex->get_state = ranks_get_state;
  ex->put_state = ranks_put_state;
  ex->carry = NULL, ex->multiply = NULL, ex->memory = ranks_memory, ex->source = ranks_source;
  ex->close = close_shared;
  return KCL_OK;
}
