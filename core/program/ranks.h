/* A program on several ranks: processes that own blocks of consecutive rows of A and of every vector, and run the same
 * stages in step. Executors need two operations (distributed/ implements them on MPI):
 *
 *   sums    the dots of a stage are added over the ranks, once, right after the stage; where they are to be reproducible, as
 *           partial sums over fixed blocks of the rows of all ranks, in the shape of core/base/shape.h
 *   halo    of a product: before the stage own elements of x are handed to the exchange; after it the entries whose columns
 *           other ranks own are added to y, and their share to a dot of y (kcl_stage_halo_dot)
 *
 * Everything else is local. Methods and formats are unaware of ranks. Preconditioners belong to the diagonal block of each
 * rank: their products take own columns alone.
 */
#ifndef KCL_RANKS_H
#define KCL_RANKS_H

#include "core/base/context.h"
#include "core/base/shape.h"
#include "core/program/program.h"

typedef struct kcl_ranks kcl_ranks;
struct kcl_ranks {
  int rank, count;
  int64_t first_row; /* of this rank */
  int64_t rows;      /* of all ranks */
  int64_t columns;   /* likewise: elements of x. Every rank has as many as rows, or none has */
  int64_t sum_rows;  /* rows per partial sum, first_row is a multiple of it; 0: a sum per rank */
  /* Executors of both kinds take part: a batch has the same exchanges on each, also where nothing is active. */
  bool unlike;
  /* Adds values [n] over the ranks, in their order: the same bits on each. status: this rank's. Returns the first status that
   * is not KCL_OK, by rank. All ranks call it, and continue alike. */
  int (*sum)(kcl_ranks *, int status, int n, double *values);
  /* `sum` in two halves: begin_sum returns at once, end_sum returns the result. No other sum begins in between. */
  void (*begin_sum)(kcl_ranks *, int status, int n, const double *values);
  int (*end_sum)(kcl_ranks *, int n, double *values);
  /* `sum` for partial sums own [n, blocks], one per row block of this rank, which are added in the shape of core/base/shape.h;
   * single: they are floats. own NULL: values are 0. */
  int (*sum_blocks)(kcl_ranks *, int status, bool single, int n, int64_t blocks, const double *own,
                    double *values);
  /* Rank 0's value: where ranks could decide apart. */
  int64_t (*decide)(kcl_ranks *, int64_t value);
  double (*largest)(kcl_ranks *, double own); /* of all; NaN if one is */
  /* |v| of all from each rank's own v [n], without overflow. */
  double (*norm)(kcl_ranks *, kcl_type, const void *v, int64_t n);
};

/* Elements of a halo from one owner. */
typedef struct kcl_received {
  const void *from;     /* [count], on the host, from end() to the next begin() */
  int64_t first, count; /* places in `in`, behind the rank's own */
} kcl_received;

/* The columns of A's rows that other ranks own. */
typedef struct kcl_halo kcl_halo;
struct kcl_halo {
  kcl_ranks *ranks;
  int64_t sends, count; /* elements of x sent and received per product */
  int64_t own;          /* elements of this rank's x that stand before the received ones in `in` */
  int width;            /* numbers of an element: right-hand sides at once, as kcl_rhs_width */
  const int32_t *send;  /* [sends] their rows here, in the order of out */
  const int32_t *take;  /* [own] likewise */
  kcl_stored
      *boundary;      /* the rows with such columns alone, columns are places in `in`; NULL: none */
  const int32_t *row; /* [boundary->rows] their rows here, ascending */
  kcl_received *received; /* [owners] */
  int owners;
  /* On the host, of the program's type: [sends, width], [own + count, width]; a right-hand side's part of `in`, and the rows'
   * sums, [boundary->rows]. */
  void *out, *in, *one, *sum;
  void (*begin)(const kcl_halo *); /* out is filled */
  /* Afterwards elements have been received, and `out`, another one, may be written. */
  void (*end)(const kcl_halo *);
  /* For set-ups and residuals, on the host: `boundary` in CSR, as devices have it and as it was given; x [own columns + count]
   * of elements of any size gets what others own; or own elements become the largest that a rank has for them. */
  const kcl_csr *outside, *given;
  void (*exchange)(const kcl_halo *, size_t size, void *x);
  void (*largest)(const kcl_halo *, int *x);
};

/* The halo of the stage's product; NULL: none. */
static inline const kcl_halo *kcl_stage_halo(const kcl_stage *s) {
  return s->A && !s->own ? s->A->halo : NULL;
}

/* NULL: the program runs alone. */
static inline kcl_ranks *kcl_program_ranks(const kcl_program *k) {
  return k->A && k->A->halo ? k->A->halo->ranks : NULL;
}

/* Rows per partial sum, where sums are reproducible (core/base/shape.h); 0: any. A product alone, and a program without
 * a matrix, have none. */
static inline int64_t kcl_program_sum_rows(const kcl_program *k) {
  const kcl_ranks *ranks = kcl_program_ranks(k);
  return ranks                                         ? ranks->sum_rows
         : k->A && k->ctx->reproducible && !k->product ? kcl_sum_rows(k->n)
                                                       : 0;
}

/* The status of the first rank that failed. */
static inline int kcl_ranks_agree(kcl_ranks *r, int rc) { return r ? r->sum(r, rc, 0, NULL) : rc; }

/* The largest and the sum of all, the norm of a vector from own parts; r NULL: of this process alone. */
static inline double kcl_ranks_largest(kcl_ranks *r, double own) {
  return r ? r->largest(r, own) : own;
}
static inline double kcl_ranks_total(kcl_ranks *r, double own) {
  if (r) r->sum(r, KCL_OK, 1, &own);
  return own;
}
static inline double kcl_ranks_norm(kcl_ranks *r, kcl_type type, const void *v, int64_t n) {
  return r ? r->norm(r, type, v, n) : kcl_norm2(type, v, n);
}

/* Rank 0's value. */
static inline int64_t kcl_ranks_decide(kcl_ranks *r, int64_t value) {
  return r ? r->decide(r, value) : value;
}

#endif
