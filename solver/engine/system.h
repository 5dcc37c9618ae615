/* A system to solve, as it was given, and what is known of it before anything is built. */
#ifndef KCL_SYSTEM_H
#define KCL_SYSTEM_H

#include "core/matrix/fingerprint.h"
#include "core/matrix/repeats.h"
#include "solver/engine/scale.h"
#include "solver/precond/setup.h"
#include <float.h>

/* Preconditioners set up for a system's engines. */
enum { KCL_MOST_PRECONDS = 8 };
typedef struct kcl_preconds {
  kcl_preconditioner *made[KCL_MOST_PRECONDS];
  int count;
} kcl_preconds;

struct kcl_rhs;
typedef struct kcl_engine kcl_engine;

/* Products of a shell alone, for residuals. Of methods for least squares: y = A^H x, NULL where A = A^H, and an estimate of |A|_F. */
typedef struct kcl_products_of_shell {
  kcl_engine *of[2];
  double norm_F; /* 0: not estimated yet */
} kcl_products_of_shell;

/* A file of rank 0, from or to which parts of all ranks go in pieces. */
typedef struct kcl_file_parts {
  void *file;
  int (*put)(void *file, const void *data, size_t size);
  int (*get)(void *file, void *data, size_t size);
} kcl_file_parts;

/* The steps of a solver that differ where ranks share its system (distributed/). All ranks call each, but `describe`. */
typedef struct kcl_distribution kcl_distribution;
struct kcl_distribution {
  /* The rows become what devices get: scaled, in the precision of the options; system.converted. */
  int (*convert)(kcl_distribution *);
  /* Statistics of the whole matrix that was converted. */
  int (*count)(kcl_distribution *, kcl_stats *out);
  bool without_vectors; /* this rank's caller has no part of b and x */
  /* The status of the first rank that has one, or KCL_USAGE where the numbers of right-hand sides differ. */
  int (*agree)(kcl_distribution *, int status, int64_t k);
  /* Own parts of columns [from, from + nrhs) of b and of first guesses, to list [nrhs]; and of x, to where the caller has X. */
  int (*take)(kcl_distribution *, int64_t from, int nrhs, const void *B, const void *X,
              struct kcl_rhs *list);
  int (*give_back)(kcl_distribution *, int64_t from, int nrhs, const struct kcl_rhs *list, void *X);
  /* y = A x of an operator's engine: x and y where the caller has them. NULL: a solver's. */
  int (*multiply)(kcl_distribution *, kcl_engine *, const kcl_product *);
  void (*time)(kcl_distribution *, bool running); /* iterations begin; they have ended */
  /* Checkpoints: own bytes of all ranks, one rank's after another's, to rank 0's file; back from it; rank 0's bytes to all. The
   * first two fail on all ranks or on none. A solver's alone. */
  int (*collect)(kcl_distribution *, const void *own, size_t size, kcl_file_parts *to);
  int (*deal)(kcl_distribution *, void *own, size_t size, kcl_file_parts *from);
  void (*tell)(kcl_distribution *, void *data, size_t size);
  void (*fingerprint)(const kcl_distribution *, kcl_fingerprint *); /* adds own entries of A */
  bool reorders; /* rows have moved to other ranks (partition metis) */
  void (*describe)(const kcl_distribution *, kcl_setup_info *out); /* sizes of all ranks */
  /* The solver that this belongs to has moved there. */
  void (*move)(kcl_distribution *, struct kcl_solver *to);
  void (*free)(kcl_distribution *);
};

typedef struct kcl_system kcl_system;
struct kcl_system {
  kcl_context *ctx;
  const kcl_csr *A;                /* the caller's; of a shell rows, cols and type alone */
  const kcl_shell *shell;          /* A is a function of the caller's; NULL: it has entries */
  kcl_products_of_shell *products; /* owned, of a shell */
  kcl_csr *converted; /* scaled, in the precision of the options; NULL: that is A itself */
  kcl_scaling scaling;
  char scale_reason[256]; /* why it is scaled, or not although its rows differ; or empty */
  /* A and A^H as an operator or a shell has them, in the precision and format of the options and not scaled; NULL: to be
   * built. References of our own. */
  kcl_stored *shared[2];
  /* Where ranks share the system A has this rank's rows, own columns alone; NULL, 0: the system is here alone. The halo of A's
   * rows; for methods that multiply by A^H its rows as given, own columns alone, their halo, and |A|_F of all ranks as given and
   * as devices have A. */
  const kcl_halo *halo, *adjoint_halo;
  const kcl_csr *adjoint;
  double norm_F_given, norm_F;
  kcl_distribution *distribution;
  int32_t *zero_col; /* [zero_cols], owned: columns of zeros, of this rank */
  int64_t zero_cols;
  const kcl_engine *lender; /* while new values are set up: that of the earlier ones; else NULL */
  kcl_preconds *preconds;   /* owned; NULL: each engine sets up its own */
  /* M that is there already, the caller's or of earlier values, for all engines with its kind; owned. NULL: none. It is of a
   * system that was scaled as scale_as says, and so is this one; else NULL. */
  kcl_preconditioner *given;
  const kcl_scaling *scale_as;
  kcl_precond *object;         /* the caller's, owned: `given` is what it had at set-up; or NULL */
  kcl_distinct_rows *distinct; /* A's, while it is set up; NULL: each user finds its own */
  kcl_distinct_rows repeated;  /* owned: the same, for new values; A NULL: not worth keeping */
  kcl_offset_runs *runs; /* of A's rows, shared, from the first update on; NULL: not looked for */
  /* Three states of stats. known: complete. structure_known: complete but for the fields that depend on values. repeats_known: complete but for
   * the fields of kcl_compression, which are of earlier values and matter only to a choice of format. */
  bool known, structure_known, repeats_known;
  kcl_stats stats;           /* of A, scaled */
  kcl_options options;       /* with every name filled in */
  bool direct;               /* solver "direct": a factorisation alone */
  bool hermitian, symmetric; /* A = A^H, A = A^T, by the rule of the options */
  struct {
    bool method, precond, format; /* "auto": to be chosen here */
    bool measure;                 /* formats are timed at set-up */
    bool model; /* formats are chosen by bytes alone: never timed, never remembered */
  } undecided;
  kcl_fusion fusion;
  bool resumes;           /* corrections in mixed precision: programs get a phase RESUME */
  double seconds_convert; /* A to the precision of the options, and to single for mixed precision */
  double seconds_check, seconds_stats;
};

/* A as the device has it: scaled, in the precision of the options. */
static inline const kcl_csr *kcl_system_matrix(const kcl_system *s) {
  return s->shared[0] ? &s->shared[0]->origin.source : s->converted ? s->converted : s->A;
}

/* Can it be multiplied by A^H? */
static inline bool kcl_system_has_adjoint(const kcl_system *s) {
  return !s->shell || s->hermitian || (s->shell->properties & KCL_SHELL_ADJOINT);
}

/* The relative tolerance. */
static inline double kcl_system_tol(const kcl_system *s) {
  const kcl_options *o = &s->options;
  return o->tol >= 0 ? fmin(o->tol, DBL_MAX) : kcl_default_tol(o->precision);
}

/* The request for the set-up of a preconditioner. */
static inline kcl_precond_request kcl_system_request(const kcl_system *s) {
  return (kcl_precond_request){.ctx = s->ctx,
                               .A = kcl_system_matrix(s),
                               .stats = &s->stats,
                               .distinct = s->distinct,
                               .runs = s->runs,
                               .hermitian = s->hermitian,
                               .symmetric = s->symmetric,
                               .near_null = s->options.near_null,
                               .col_power = s->scaling.col,
                               .halo = s->halo,
                               .adjoint_halo = s->adjoint_halo,
                               .norm_F = s->norm_F,
                               .tol = kcl_system_tol(s),
                               .parameters = s->options.parameters,
                               .given = s->given};
}

/* The ranks that share the system; NULL: it is here alone. */
static inline kcl_ranks *kcl_system_ranks(const kcl_system *s) {
  return s->halo ? s->halo->ranks : NULL;
}

/* The larger of A's rows and columns, of all ranks. */
static inline int64_t kcl_system_size(const kcl_system *s) {
  const kcl_ranks *r = kcl_system_ranks(s);
  const int64_t rows = r ? r->rows : s->A->rows, cols = r ? r->columns : s->A->cols;
  return rows > cols ? rows : cols;
}

/* As many rows as columns, or more. */
static inline bool kcl_system_tall(const kcl_system *s) {
  const kcl_ranks *r = kcl_system_ranks(s);
  return r ? r->rows >= r->columns : s->A->rows >= s->A->cols;
}

#endif
