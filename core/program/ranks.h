/* A program on several ranks: processes that own blocks of consecutive rows of A and of every vector, and run the same
 * stages in step. What executors ask of the others (distributed/ answers, on MPI):
 *
 *   sums    the dots of a stage are added over the ranks, once, right after the stage
 *   halo    a product whose matrix has one is a stage of its own: before it own elements of x are handed to the exchange,
 *           after it the entries whose columns other ranks own are added to y
 *
 * Everything else is local: methods, formats and preconditioners without other ranks' rows know nothing of it.
 */
#ifndef KCL_RANKS_H
#define KCL_RANKS_H

#include "core/program/program.h"

typedef struct kcl_ranks kcl_ranks;
struct kcl_ranks {
  int rank, count;
  int64_t first_row; /* of this rank */
  int64_t rows;      /* of all ranks */
  bool mixed;        /* executors of both kinds: a batch has the same exchanges on each, also where nothing is active */
  /* Adds values [n] over the ranks, in their order: the same bits on each. status: this rank's; returns that of the first
   * rank that is not KCL_OK. All ranks call it, and go on alike. */
  int (*sum)(kcl_ranks *, int status, int n, double *values);
  /* Rank 0's value: where ranks could decide apart. */
  int64_t (*decide)(kcl_ranks *, int64_t value);
};

/* The columns of A's rows that other ranks own. */
typedef struct kcl_halo kcl_halo;
struct kcl_halo {
  kcl_ranks *ranks;
  int64_t sends, count; /* elements of x sent and received per product */
  const int32_t *send;  /* [sends] their rows here, in the order of out */
  kcl_matrix
      *boundary;      /* the rows with such columns alone, columns are places in `in`; NULL: none */
  const int32_t *row; /* [boundary->rows] their rows here, ascending */
  void *out, *in, *sum; /* [sends], [count], [boundary->rows] of the program's type, on the host */
  void (*begin)(const kcl_halo *); /* out is filled */
  void (*end)(const kcl_halo *);   /* afterwards `in` is filled, and out may be written again */
};

/* NULL: the program runs alone. */
static inline kcl_ranks *kcl_program_ranks(const kcl_program *k) {
  return k->A && k->A->halo ? k->A->halo->ranks : NULL;
}

/* The status of the first rank that failed. */
static inline int kcl_ranks_agree(kcl_ranks *r, int rc) { return r ? r->sum(r, rc, 0, NULL) : rc; }

/* Rank 0's value. */
static inline int64_t kcl_ranks_decide(kcl_ranks *r, int64_t value) {
  return r ? r->decide(r, value) : value;
}

#endif
