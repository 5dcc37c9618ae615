/* An executor whose calls fail on all ranks or on none: each ends with an agreement, so no rank goes on alone. What happens
 * inside of run is in step by itself (core/program/ranks.h). */
#include "core/base/context.h"
#include "distributed/distributed.h"
#include <stdlib.h>

typedef struct shared {
  kcl_executor inner;
  kcl_comm *comm;
} shared;

static kcl_executor *inner(kcl_executor *ex) { return &((shared *)ex->data)->inner; }

static int together(kcl_executor *ex, int rc) {
  return kcl_ranks_agree(&((shared *)ex->data)->comm->ranks, rc);
}

static int put(kcl_executor *ex, kcl_vec v, int rhs, kcl_type type, const void *values,
               double scale) {
  return together(ex, inner(ex)->put(inner(ex), v, rhs, type, values, scale));
}

static int get(kcl_executor *ex, kcl_vec v, int rhs, kcl_type type, void *values, double scale) {
  return together(ex, inner(ex)->get(inner(ex), v, rhs, type, values, scale));
}

static int set_state(kcl_executor *ex, const kcl_control *control, const double *target) {
  return together(ex, inner(ex)->set_state(inner(ex), control, target));
}

static int run(kcl_executor *ex, kcl_phase phase, int64_t times) {
  return together(ex, inner(ex)->run(inner(ex), phase, times));
}

static int poll(kcl_executor *ex, kcl_control *control, double *rr) {
  return together(ex, inner(ex)->poll(inner(ex), control, rr));
}

static int history(kcl_executor *ex, int rhs, int64_t from, int64_t to, double *out) {
  return together(ex, inner(ex)->history(inner(ex), rhs, from, to, out));
}

static int finish(kcl_executor *ex) { return together(ex, inner(ex)->finish(inner(ex))); }

static int save(kcl_executor *ex, int snapshot) {
  return together(ex, inner(ex)->save(inner(ex), snapshot));
}

static int load(kcl_executor *ex, int snapshot, int rhs) {
  return together(ex, inner(ex)->load(inner(ex), snapshot, rhs));
}

static void *memory(kcl_executor *ex, kcl_vec v) { return inner(ex)->memory(inner(ex), v); }

static int source(kcl_executor *ex, char **out) {
  return inner(ex)->source ? inner(ex)->source(inner(ex), out) : KCL_USAGE;
}

static void close_shared(kcl_executor *ex) {
  inner(ex)->close(inner(ex));
  free(ex->data);
}

/* carry and multiply are not called: formats are not exchanged here, and the program is a method's. */
int kcl_distribute_executor(kcl_comm *c, kcl_executor *ex) {
  shared *s;
  int rc = kcl_alloc(c->ctx, 1, sizeof *s, "the executor", (void **)&s);
  if ((rc = kcl_comm_agree(c, rc))) return free(s), rc;
  s->inner = *ex, s->comm = c;
  ex->data = s;
  ex->put = put, ex->get = get, ex->set_state = set_state, ex->run = run, ex->poll = poll;
  ex->history = history, ex->finish = finish, ex->save = save, ex->load = load;
  ex->carry = NULL, ex->multiply = NULL, ex->memory = memory, ex->source = source;
  ex->close = close_shared;
  return KCL_OK;
}
