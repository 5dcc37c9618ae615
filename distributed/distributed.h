/* A system on several ranks, on MPI. An ordinary solver solves it on every rank, in step; what is global goes through
 * core/program/ranks.h, and what else differs through kcl_distribution (solver/engine/system.h).
 *
 *   ranks.c      sums over ranks, agreement on failures      blocks.c     sums with the same bits on any number of ranks
 *   partition.c  whose rows: blocks, or the parts of METIS (metis.c)
 *   rows.c       blocks of rows and of vectors given out     order.c      rows of other parts, and vectors, moved
 *   window.c     memory that the ranks of a host share
 *   split.c      own rows: interior and boundary             halo.c       elements exchanged
 *   adjoint.c    rows of A^H                                 symmetry.c   statistics of the whole matrix
 *   scale.c      what devices get of the rows                ways.c       methods, formats, engines
 *   executor.c   an executor whose failures are everybody's
 *   select.c     a device for each rank                      share_report.c  what each rank has, and would take alone
 *   operator.c   products alone
 *   same.c       options that all ranks must have alike      wait.c       waits for other ranks
 *   setup.c      set-up                                      solve.c      b and x between the caller and the ranks
 *   parts.c      parts of a file that rank 0 has
 *   files/       systems read by all ranks, each its own rows, and x written by all
 */
#ifndef KCL_DISTRIBUTED_H
#define KCL_DISTRIBUTED_H

#include "krylocl_mpi.h"
#include "solver/solver.h"

typedef struct kcl_comm kcl_comm;

/* ---------------------------------------------------------------- wait.c */

void kcl_comm_wait(int count, MPI_Request *request);
void kcl_comm_wait_until(bool (*done)(void *), void *arg);
/* All ranks are here: before collective calls that MPI has in a blocking form alone, in which it polls without end. */
void kcl_comm_meet(MPI_Comm comm);

/* ---------------------------------------------------------------- window.c */

/* A part per rank of memory that the ranks of a host share. */
typedef struct kcl_window {
  bool open; /* false: there is none, and messages are used */
  MPI_Win win;
  char **of; /* [ranks] where their parts begin, at pages; NULL: on another host */
} kcl_window;

/* Which ranks are on this host: c->host, c->on_host. */
int kcl_window_hosts(kcl_comm *c);
/* This rank's part has so many bytes, zero. All ranks call it. */
int kcl_window_open(kcl_comm *c, size_t bytes, kcl_window *w);
/* Also of an empty one. All ranks call it. Where the device of one has failed, a transfer that was waited for in vain may still reach the
 * memory: it stays mapped until the process ends. */
void kcl_window_close(const kcl_comm *c, kcl_window *w);

/* ---------------------------------------------------------------- ranks.c */

struct kcl_comm {
  kcl_ranks ranks; /* the first member: what executors see */
  kcl_context *ctx;
  MPI_Comm comm;         /* a duplicate of the caller's */
  MPI_Comm host;         /* its ranks on this host; */
  int *on_host;          /* [count] their numbers there, or MPI_UNDEFINED */
  kcl_window window;     /* of records, where all ranks are on this host */
  uint64_t gathers;      /* through it */
  bool failed;           /* a sum has told of a failure since the last agreement, */
  bool told;             /* and it is another rank's */
  bool files;            /* failures of input name a file, and no rank */
  int64_t *first;        /* [count + 1] first rows of the ranks */
  int64_t *column;       /* [count + 1] likewise, of columns: elements of x */
  MPI_Request gathering; /* of records */
  double *records;       /* [count + 1, KCL_RECORD] of sums: this rank's, then all */
  double seconds;        /* waiting for sums */
  struct {
    int *count, *at;   /* [count of ranks] numbers of each one's message, and where they begin */
    double *own, *all; /* messages; behind one another, as the arrays above */
  } blocks;            /* blocks.c */
};

int kcl_comm_create(kcl_context *ctx, MPI_Comm comm, kcl_comm **out);
void kcl_comm_free(kcl_comm **c);
/* The failure of the first rank that has one, with its message. */
int kcl_comm_agree(kcl_comm *c, int status);
/* The largest of all, NaN if one is. */
double kcl_comm_largest(kcl_comm *c, double own);
double kcl_comm_total(kcl_comm *c, double own);
/* Ranks have different numbers. */
bool kcl_comm_differs(kcl_comm *c, double own);

/* ---------------------------------------------------------------- same.c */

/* Options of a solve, by kcl_mpi_same. */
int kcl_comm_same_options(kcl_comm *c, kcl_mpi_layout layout, const kcl_options *o);

/* ---------------------------------------------------------------- blocks.c */

/* Are sums to be reproducible, and do the devices allow it? */
int kcl_blocks_begin(kcl_comm *c);
/* c->ranks.sum_rows, for so many rows of all ranks; room for messages, when c->first is known, and c->ranks.norm. */
void kcl_blocks_choose(kcl_comm *c, int64_t rows);
int kcl_blocks_open(kcl_comm *c, int nrhs);
/* Moves first [ranks + 1] to multiples of the block. */
int kcl_blocks_align(kcl_comm *c, int64_t *first);

/* ---------------------------------------------------------------- partition.c, metis.c */

/* *weight [ranks], to be freed on failure too: of each rank's share. */
int kcl_weigh(kcl_comm *c, double **weight);
/* first [ranks + 1]: blocks of rows with nonzeros in proportion to the weights, at least one row. */
void kcl_partition(const int64_t *row_ptr, int64_t rows, int ranks, const double *weight,
                   int64_t *first);
/* first [ranks + 1]: equal numbers of rows. */
void kcl_partition_equally(int64_t rows, int ranks, int64_t *first);
/* The rule of kcl_mpi_set_shares. */
const char *kcl_shares_name(const kcl_context *ctx);
/* Its parts: the row where the running sum of nonzeros is nearest to this; the nonzeros that ranks before p are to have; first
 * [ranks + 1], so that each rank has a row. */
int64_t kcl_cut(const int64_t *row_ptr, int64_t rows, double want);
double kcl_want(double nonzeros, int ranks, const double *weight, int p);
void kcl_settle(int64_t rows, int ranks, int64_t *first);
/* part [held->rows]: the rank that is to own each of the rows here, of those that the ranks have by c->first. METIS gathers the
 * structure on rank 0; a partition of distributed rows has the same arguments. */
int kcl_metis_parts(kcl_comm *c, const kcl_csr *held, const double *weight, int32_t *part);

/* ---------------------------------------------------------------- rows.c */

/* Sends and receives, of any length. */
void kcl_comm_exchange(kcl_comm *c, int to, const void *out, size_t sends, int from, void *in,
                       size_t receives);
/* first [ranks + 1]: where each one's own begin, one after another. */
void kcl_comm_offsets(kcl_comm *c, int64_t own, int64_t *first);
void kcl_tell(kcl_comm *c, void *data, size_t bytes); /* rank 0's data */
int kcl_check_count(kcl_comm *c, int64_t rows);       /* enough for all ranks? */
/* The rows that each rank has where A is whole on rank 0: all of them there, none elsewhere. Its arrays are A's; c->first is of that. */
int kcl_hold_rows(kcl_comm *c, const kcl_csr *A, kcl_csr *held);
/* Own rows with columns of the whole matrix, and c->first: blocks of what rank 0 has. */
int kcl_give_rows(kcl_comm *c, const kcl_csr *held, kcl_csr **own);
/* c->column: rows' owners where there are as many columns; else about as many in proportion to the rows. */
int kcl_cut_columns(kcl_comm *c, int64_t columns);
/* c->first from the rows that each rank has; checks them. */
int kcl_take_rows(kcl_comm *c, const kcl_csr *own);
void kcl_take_counts(kcl_comm *c, int64_t rows); /* c->first alone */
/* Own elements [first[rank], first[rank + 1]) of so many bytes from the whole array on rank 0, and back. */
void kcl_comm_give(kcl_comm *c, const int64_t *first, size_t size, const void *whole, void *own);
void kcl_comm_collect(kcl_comm *c, const int64_t *first, size_t size, const void *own, void *whole);

/* ---------------------------------------------------------------- order.c */

/* Rows that went to the owners of their parts: the system that is solved is P A P^T. */
typedef struct kcl_order {
  kcl_comm *comm;
  int64_t *out,
      *in;      /* [ranks + 1] where each rank's begin, of rows held here and of rows owned here */
  int32_t *row; /* [out[ranks]] rows held here, by their owners, ascending */
} kcl_order;

/* The parts of held rows, and *own: their rows here, with columns of P A P^T; c->first is of that. */
int kcl_order_rows(kcl_comm *c, const kcl_csr *held, kcl_order **out, kcl_csr **own);
void kcl_order_free(kcl_order **o);
/* Elements of so many bytes from where rows were held to their owners, and back. */
int kcl_order_give(const kcl_order *o, size_t size, const void *held, void *own);
int kcl_order_return(const kcl_order *o, size_t size, const void *own, void *held);

/* ---------------------------------------------------------------- split.c, halo.c */

/* The rows of one rank: their own columns; and, of the rows that have others, those, which are places in the halo. */
typedef struct kcl_split {
  kcl_csr *interior, *outside; /* [own rows] x [own columns], [boundary] x [halo.count] */
} kcl_split;

typedef struct kcl_domain {
  kcl_halo halo; /* the first member: what executors see */
  kcl_comm *comm;
  const int64_t *first; /* [ranks + 1] of columns: which elements of x each rank owns */
  int64_t columns;      /* own ones */
  kcl_split given;
  kcl_split device; /* scaled, in the precision of the solve; or as given, the same matrices */
  /* Where sums are reproducible: the rows without other columns; those with them, whole. Else none. */
  kcl_split in_order;
  int32_t *send, *row, *take;
  int64_t *column;      /* [halo.count] numbers in the whole matrix */
  int neighbours;       /* ranks that send or receive */
  int *rank;            /* [neighbours] */
  int64_t *out, *in;    /* [neighbours + 1] where each one's elements begin */
  MPI_Request *request; /* [2, 2 far], persistent: from each `out`; receives first */
  int far;              /* neighbours on other hosts */
  bool opened;
  kcl_window window;  /* halo.out, in it: two, in turns; the others read them */
  uint64_t exchanges; /* so far; the first word of a window: those begun */
  size_t slot;        /* bytes from one `out` to the other */
  int64_t (*at)
      [2]; /* [neighbours] bytes of its window: to the first `out`'s elements for this rank, and between both */
  kcl_pinned pinned[2]; /* of halo.out and halo.in */
  kcl_pinned *lent;     /* [neighbours] their `out`s */
  double seconds;       /* waiting for elements */
} kcl_domain;

/* own: rows with columns of the whole matrix. taken: the same, and the domain's from then on, *taken NULL; or NULL: own is
 * copied. */
int kcl_domain_create(kcl_comm *c, const kcl_csr *own, kcl_csr **taken, const int64_t *first,
                      kcl_domain **out);
/* d->device; s->row [own rows], s->col [own columns + halo.count]. */
int kcl_domain_convert(kcl_domain *d, kcl_type type, const kcl_scaling *s);
int kcl_domain_order(kcl_domain *d); /* d->in_order, from d->device */
/* For kcl_domain_create: fills d->column, the columns of `own` that other ranks own, ascending, each once; d->given. */
int kcl_split_columns(kcl_domain *d, const kcl_csr *own);
int kcl_split_rows(kcl_domain *d, const kcl_csr *own, kcl_csr **taken);
void kcl_split_free(kcl_domain *d);
static inline int64_t kcl_domain_rows(const kcl_domain *d) { return d->given.interior->rows; }
static inline int64_t kcl_domain_nnz(const kcl_domain *d) {
  return d->given.interior->nnz + d->given.outside->nnz;
}
void kcl_domain_free(kcl_domain **d);
/* The boundary in a format of the selected device, and what elements travel through.
 * width: numbers of an element of x, at most; and in use. */
int kcl_domain_open(kcl_domain *d, int width);
void kcl_domain_narrow(kcl_domain *d, int width);
/* x [own columns + halo.count], elements of so many bytes: its halo from the owners. */
void kcl_domain_exchange(kcl_domain *d, size_t size, void *x);

/* ---------------------------------------------------------------- adjoint.c */

/* Own rows of A^H, as many as d has columns, with columns of the whole. */
int kcl_adjoint_rows(const kcl_domain *d, kcl_csr **out);

/* ---------------------------------------------------------------- symmetry.c, executor.c */

/* Statistics of the interior of A, d's as given or as devices have it; fields by which methods are chosen describe the whole matrix. */
int kcl_domain_stats(const kcl_domain *d, const kcl_split *A, kcl_stats *out);
/* ex, opened on every rank, becomes one whose calls fail on all ranks or on none. */
int kcl_distribute_executor(kcl_comm *c, kcl_executor *ex);
typedef struct kcl_distributed kcl_distributed;

/* ---------------------------------------------------------------- setup.c */

/* A system to be set up on all ranks. */
typedef struct kcl_shared_input {
  kcl_own_system own; /* or, in its A, what the layout says */
  kcl_csr **taken;    /* A, to be freed as soon as it is not needed; or NULL */
  kcl_mpi_layout layout;
} kcl_shared_input;

int kcl_distributed_setup(kcl_context *ctx, MPI_Comm comm, const kcl_shared_input *in,
                          kcl_solver **out);

/* ---------------------------------------------------------------- functions.c */

/* M that was given, for the system as it is known; on all ranks or on none. */
int kcl_distributed_give_precond(kcl_distributed *m);
/* A as a function: the domain of a matrix without entries, what was declared of it, its products. */
int kcl_distribute_shell(kcl_distributed *m, const kcl_shell *A);
int kcl_refuse_on_ranks(kcl_context *ctx, const char *what, const char *why);

/* ---------------------------------------------------------------- update.c */

/* Takes from m->before what is kept: its way is the first, before an engine is built; its formats; its preconditioner. */
void kcl_keep_way(kcl_distributed *m);
bool kcl_keep_format(const kcl_distributed *m, const kcl_format **f);
int kcl_keep_precond(kcl_distributed *m);
int kcl_keep_hierarchy(kcl_distributed *m);

/* ---------------------------------------------------------------- ways.c */

/* The plan, which is rank 0's, and its first way. */
int kcl_ways_plan(kcl_distributed *m);
/* An engine of this way on every rank, in the format of the first one. KCL_USAGE: it does not run on several ranks. */
int kcl_ways_engine(void *owner, const kcl_way *w, kcl_engine **out);

/* The interior in this format, with the halo. */
int kcl_domain_matrix(kcl_domain *d, const kcl_format *f, kcl_stored **out);

/* ---------------------------------------------------------------- what a solver or an operator on several ranks has beside */

struct kcl_distributed {
  kcl_distribution calls; /* the first member: what the solver calls */
  kcl_system *
      system; /* the owner's. A: the interior; shared: it and the interior of A^H, with their halos */
  kcl_selection *selection; /* the solver's: ways, in one format; NULL: an operator's */
  kcl_mpi_layout layout;
  kcl_csr **taken;          /* A of the caller, freed during the set-up; or NULL */
  kcl_precond *M;           /* given, for own rows; or NULL */
  kcl_shell shell;          /* in place of A's rows, where apply is not NULL */
  const kcl_solver *before; /* of earlier values, during the set-up; or NULL */
  int keep;                 /* KCL_KEEP_... */
  kcl_comm *comm;
  kcl_order *order; /* NULL: blocks of consecutive rows */
  kcl_domain *domain;
  kcl_domain *adjoint;  /* of A^H; NULL until a method multiplies by it */
  kcl_dense *near_null; /* own rows of options.near_null; or NULL */
  int64_t held, held_x; /* elements of b and of x that the caller has here */
  kcl_type type;        /* of A, b and x */
  char *b, *x;          /* [right-hand sides at once] own parts */
  /* Sums over the ranks: bytes of operators and of the preconditioner, whose levels are those of the rank that has most. */
  double bytes_stored, bytes_precond;
  kcl_precond_size precond;
  double seconds_partition, seconds_halo, seconds_sum;
};

/* kcl_distribution.convert and count (scale.c); the same for A^H. */
int kcl_distributed_convert(kcl_distribution *self);
int kcl_distributed_count(kcl_distribution *self, kcl_stats *out);
int kcl_distributed_convert_adjoint(kcl_distributed *m);
/* kcl_distribution.agree, take, give_back, time, describe (solve.c). */
int kcl_distributed_agree(kcl_distribution *self, int status, int64_t k);
int kcl_distributed_take(kcl_distribution *self, int64_t from, int nrhs, const void *B,
                         const void *X, kcl_rhs *list);
int kcl_distributed_give_back(kcl_distribution *self, int64_t from, int nrhs, const kcl_rhs *list,
                              void *X);
void kcl_distributed_time(kcl_distribution *self, bool running);
void kcl_distributed_describe(const kcl_distribution *self, kcl_setup_info *out);
/* kcl_distribution.collect, deal, tell, fingerprint (parts.c). */
int kcl_distributed_collect(kcl_distribution *self, const void *own, size_t size,
                            kcl_file_parts *to);
int kcl_distributed_deal(kcl_distribution *self, void *own, size_t size, kcl_file_parts *from);
void kcl_distributed_tell(kcl_distribution *self, void *data, size_t size);
void kcl_distributed_fingerprint(const kcl_distribution *self, kcl_fingerprint *f);
/* The sums above, for the engine in use. */
void kcl_distributed_add_sizes(kcl_distributed *m, const kcl_engine *e);
/* The part that a solver and an operator have in common (setup.c): the calls of the owner, and the rows of this rank with their domain.
 * layout: of A; taken: A, to be freed as soon as it is not needed, or NULL. Retains the context, which the owner releases. */
int kcl_distributed_create(kcl_context *ctx, kcl_mpi_layout layout, kcl_csr **taken, kcl_system *s,
                           kcl_distributed **out);
int kcl_distributed_begin(kcl_distributed *m, MPI_Comm comm);
int kcl_check_ranks(const kcl_system *s); /* Can its context take part? */
int kcl_distribute_rows(kcl_distributed *m, const kcl_csr *A);

/* Elements of any type from where the caller has them to their owners, and back (vectors.c); first: comm->first or comm->column. */
int kcl_take_vector(const kcl_distributed *m, const int64_t *first, kcl_type type, const void *held,
                    void *own);
int kcl_distribute_near_null(
    kcl_distributed *m); /* own rows of options.near_null, which has the layout of A */
int kcl_return_vector(const kcl_distributed *m, const int64_t *first, kcl_type type,
                      const void *own, void *held);

#endif
