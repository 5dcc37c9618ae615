/* Checkpoints of a solver: what a solve needs to go on as if it had not been interrupted.
 *
 *   solver/checkpoint_save.c     between two batches, where it is time: the file (solver/checkpoint/file.h)
 *   solver/checkpoint_resume.c   at the beginning of a solve: the loop, the vectors and the executor as they were
 *   solver/checkpoint_engine.c   the engine of the checkpoint, or what differs
 *   solver/checkpoint_ranks.c    the file of several ranks, which rank 0 has
 *   solver/checkpoint_words.c    what decides the bits of an iteration; another device or format continues from x
 */
#ifndef KCL_CHECKPOINT_H
#define KCL_CHECKPOINT_H

#include "solver/checkpoint/file.h"
#include "solver/solver.h"

struct kcl_checkpoints {
  char *path;                    /* NULL: none are written */
  double interval;               /* seconds between two; 0: the default */
  _Atomic bool asked;            /* by kcl_solver_save */
  kcl_checkpoint_reader *resume; /* for the next solve, or NULL */
  /* of the solve that runs: */
  double next;   /* kcl_now() when one is due */
  bool replaces; /* `path` is damaged, and path.1 was used */
  bool summed;   /* b_sum and A are known */
  kcl_fingerprint A;
  uint64_t b_sum[KCL_MAX_NRHS];
  bool failed; /* one could not be written, which has been said */
  int64_t count, resumed_at;
  double bytes, seconds; /* of the last one; of all */
};

/* A solve that goes on. */
typedef struct kcl_resuming {
  kcl_solver *s;
  kcl_loop *l;
  kcl_checkpoint_reader *r;
  kcl_saved_rhs rhs[KCL_MAX_NRHS];
  char other[300]; /* what differs, so that it continues from x; empty: nothing */
} kcl_resuming;

/* The engine of the checkpoint, where the options leave that open; then w->other (solver/checkpoint_engine.c). */
int kcl_resume_engine(kcl_resuming *w);
int kcl_resume_compare(kcl_resuming *w);

/* The struct of s, made where there is none. */
int kcl_checkpoints_of(kcl_solver *s, kcl_checkpoints **out);
/* KCL_INPUT: the checkpoint is of another matrix. */
int kcl_resume_check(const kcl_solver *s, const kcl_checkpoint_reader *r);
/* Lines "word value" in one text, *size bytes with the NUL at its end, to be freed: two engines with the same lines, method,
 * preconditioner and format have the same bits. */
int kcl_checkpoint_words(const kcl_solver *s, const kcl_engine *e, char **out, size_t *size);
/* A right-hand side of the loop as a checkpoint has it. */
kcl_saved_rhs kcl_checkpoint_rhs(const kcl_loop *l, int i, uint64_t b_sum);
/* Fingerprint of b of a right-hand side, wherever it is. */
int kcl_checkpoint_sum_b(kcl_loop *l, int rhs, uint64_t *out);

/* ---- of all ranks, where there are several: all of them call these */
bool kcl_checkpoint_here(const kcl_system *s); /* does this rank have the file? */
uint64_t kcl_checkpoint_total(const kcl_system *s, uint64_t own); /* modulo 2^64 */
kcl_fingerprint kcl_checkpoint_fingerprint(const kcl_system *s);  /* of A; 0: it is a function */
/* Own bytes to the file, one rank's after another's, and from it; and bytes that all have alike. */
int kcl_checkpoint_put_parts(const kcl_system *s, kcl_checkpoint_writer *w, const void *own,
                             size_t size);
int kcl_checkpoint_get_parts(const kcl_system *s, kcl_checkpoint_reader *r, void *own, size_t size);
int kcl_checkpoint_get_shared(const kcl_system *s, kcl_checkpoint_reader *r, void *data,
                              size_t size);
/* kcl_checkpoint_read on rank 0; what it has read goes to all. */
int kcl_checkpoint_begin_reading(const kcl_system *s, const char *path,
                                 kcl_checkpoint_reader **out);

#endif
