/* The state of the loop and of its method, kept in memory: what a checkpoint has in a file (solver/checkpoint.h). */
#ifndef KCL_GUARD_STATE_H
#define KCL_GUARD_STATE_H

#include "solver/loop/loop.h"

typedef struct kcl_kept_state {
  bool known;
  kcl_loop loop; /* but for what is reached through pointers: */
  kcl_reason reason[KCL_MAX_NRHS];
  int restarts[KCL_MAX_NRHS];
  int64_t history[KCL_MAX_NRHS]; /* their sizes */
  char *values; /* the vectors that LOOP goes on from, right-hand side by right-hand side; owned */
  size_t bytes;
  void *state; /* of the executor, owned */
  size_t state_bytes;
} kcl_kept_state;

/* Between two batches, nothing enqueued. */
int kcl_state_keep(kcl_kept_state *s, kcl_loop *l);
int kcl_state_return(kcl_kept_state *s, kcl_loop *l);
/* x alone, and START from there. */
int kcl_state_return_x(kcl_kept_state *s, kcl_loop *l);
void kcl_state_free(kcl_kept_state *s);

#endif
