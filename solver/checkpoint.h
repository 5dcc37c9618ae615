/* Checkpoints of a solver: what a solve needs to go on as if it had not been interrupted.
 *
 *   solver/checkpoint_save.c     between two batches, where it is time: the file (solver/checkpoint/file.h)
 *   solver/checkpoint_resume.c   at the beginning of a solve: the loop, the vectors and the executor as they were
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
  bool summed;   /* b_sum is known */
  uint64_t b_sum[KCL_MAX_NRHS];
  bool failed; /* one could not be written, which has been said */
  int64_t count, resumed_at;
  double bytes, seconds; /* of the last one; of all */
};

/* The struct of s, made where there is none. */
int kcl_checkpoints_of(kcl_solver *s, kcl_checkpoints **out);
/* KCL_INPUT: the checkpoint is of another matrix. */
int kcl_resume_check(const kcl_solver *s, const kcl_checkpoint_reader *r);
/* Lines "word value" in one text, *size bytes with the NUL at its end, to be freed: two engines with the same lines, method,
 * preconditioner and format have the same bits. */
int kcl_checkpoint_words(const kcl_solver *s, const kcl_engine *e, char **out, size_t *size);
/* A right-hand side of the loop as a checkpoint has it. */
kcl_saved_rhs kcl_checkpoint_rhs(const kcl_loop *l, int i, uint64_t b_sum);
/* Checksum of b of a right-hand side, wherever it is. */
int kcl_checkpoint_sum_b(kcl_loop *l, int rhs, uint64_t *out);

#endif
