/* Arrays in memory that must not change, with what it takes to find a change and to undo it:
 *
 *   chunk 0 | chunk 1 | ... | chunk n - 1    of 1 MB
 *   sum 0     sum 1           sum n - 1      checksums (core/base/sum64.h)
 *   parity                                   exclusive or of all chunks (Patterson, Gibson & Katz 1988)
 *
 * A damaged chunk is the exclusive or of the parity and all others. So any number of errors in one chunk of an array is undone, and
 * the price is 1 MB per array, at most its own size. Cost: two passes over the arrays to begin, one per check. Buffers of an OpenCL
 * device come to the host for it.
 */
#ifndef KCL_GUARD_ARRAYS_H
#define KCL_GUARD_ARRAYS_H

#include "solver/engine/engine.h"

typedef struct kcl_guarded_array {
  const char *what; /* for messages */
  void *data;       /* on the host; NULL: */
  void *buffer;     /* cl_mem */
  size_t bytes;
  bool writable;         /* else an error can only be reported */
  uint64_t *sum;         /* [chunks], owned */
  unsigned char *parity; /* [bytes, at most 1 MB], owned */
} kcl_guarded_array;

typedef struct kcl_guarded_arrays {
  kcl_context *ctx;
  kcl_guarded_array *list; /* [count], owned */
  int count;
  unsigned char *chunk; /* room for one, owned */
} kcl_guarded_arrays;

/* Sums up one more array, unless it is there already. a: without sum and parity; bytes of a buffer: all it has. */
int kcl_guarded_add(kcl_guarded_arrays *g, kcl_guarded_array a);
/* *damaged: arrays that had changed; they are as they were afterwards. KCL_CHANGED: one cannot be restored. */
int kcl_guarded_check(kcl_guarded_arrays *g, int *damaged);
/* In place of what it has: the matrices of all stages of this engine, constant vectors, and the executor's table. writable: arrays of A may be restored in place. */
int kcl_guarded_engine(kcl_guarded_arrays *g, kcl_engine *e, bool writable);
void kcl_guarded_free(kcl_guarded_arrays *g);

#endif
