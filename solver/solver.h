/* A solver: what kcl_setup makes and kcl_solve runs.
 *
 *   solver/setup.c    set-up, told on one page       solver/solve.c    right-hand sides in, answers out
 *   solver/vectors.h  vectors of callers             solver/call.c     all of a call's right-hand sides
 *   solver/engine     what runs                      solver/loop       the correction loop around it
 *   solver/auto       the choice around both         solver/mixed      a second engine, in float
 */
#ifndef KCL_SOLVER_H
#define KCL_SOLVER_H

#include "solver/calls.h"
#include "solver/direct/direct.h"
#include "solver/mixed/mixed.h"

typedef struct kcl_sums { /* checksums of A's arrays */
  uint64_t row_ptr, col, val;
} kcl_sums;

/* The caller's structs may go once the set-up returns. */
typedef struct kcl_given {
  kcl_csr A; /* its arrays stay */
  kcl_shell shell;
  kcl_dense near_null; /* its numbers are a copy */
} kcl_given;

typedef struct kcl_checkpoints kcl_checkpoints;
typedef struct kcl_readback kcl_readback;
enum { KCL_LOST_WHY = sizeof((kcl_report *)0)->lost_why };

struct kcl_solver {
  kcl_given *given;        /* owned: what system.A and its options point to */
  kcl_csr *kept;           /* one of the owners of A's arrays; NULL: they are the caller's */
  int running;             /* functions that a callback may interrupt are under way */
  bool freed;              /* kcl_solver_free was called meanwhile */
  kcl_system system;       /* to solve, as given */
  kcl_sums sums;           /* of its A at set-up */
  kcl_selection selection; /* the method, and the engine in use */
  kcl_mixed *mixed;        /* NULL: not asked for */
  kcl_history *history;    /* [histories] of the last solve */
  int64_t histories;
  kcl_report *report; /* [reports] of the last solve by kcl_solve */
  int64_t reports;
  kcl_call call;                /* settings of the solve that runs; sizes and limits are set */
  double seconds_solve;         /* iterations of the last solve */
  bool factored;                /* a direct solution was tried in the last solve */
  double direct_seconds;        /* predicted for one; 0: not yet; INFINITY: not affordable */
  double direct_took;           /* seconds of the last one */
  kcl_checkpoints *checkpoints; /* owned; NULL: never asked for */
  kcl_readback *readback;       /* owned; x of the solve that runs (solver/readback.h); or NULL */
  kcl_solver *standby;          /* owned: in place of this one once its device was lost; or NULL */
  char lost_why[KCL_LOST_WHY];  /* the device was lost: the failed call and its code; or empty */
  const struct kcl_read_x
      *continues;     /* of a standby: [right-hand sides] the x to go on from; or NULL */
  double began;       /* the latest solve, by kcl_now() */
  const char *direct; /* what finished it, where no method did; NULL */
  /* The factors of solver "direct", kept for the next solve, owned; NULL: nothing was factorised yet. */
  kcl_direct_factor *factor;
  kcl_csr *factored_A;  /* A in double, which the factor uses, */
  bool factored_scaled; /* scaled as the system is, or as given */
};

/* kcl_setup by a system of which A, options and perhaps statistics, matrices on the device and a given preconditioner are known; A
 * has the sums. before: a solver of other values in A's pattern, to go on with its choices and with what its preconditioners can
 * keep, as far as `keep` says (KCL_KEEP_...); or NULL. */
int kcl_setup_system(const kcl_system *s, kcl_sums sums, const kcl_solver *before, int keep,
                     kcl_solver **out);
int kcl_check_keep(kcl_context *ctx, int keep); /* KCL_USAGE: not KCL_KEEP_... */
/* s becomes what *fresh is, which is freed. */
void kcl_solver_replace(kcl_solver *s, kcl_solver **fresh);
/* kcl_setup_system from scratch: A is checked. */
int kcl_setup_values(kcl_system *s, kcl_solver **out);

/* Solves for as many right-hand sides as the engine takes at once, or fewer (solver/solve.c). */
int kcl_solve_some(kcl_solver *s, int nrhs, const kcl_rhs *list);
/* A matrix without entries (solver/shell.c). kcl_setup for one: its struct may go, user stays the caller's. The method is
 * chosen by its properties; options->precision is its type, NULL options have that. No preconditioner needs no entries but
 * none; format is auto, mixed is refused, auto solves nothing directly. KCL_USAGE also: what kcl_shell_check refuses. */
int kcl_setup_shell(kcl_context *ctx, const kcl_shell *A, kcl_precond *M,
                    const kcl_options *options, kcl_solver **out); /* M: given, or NULL */
/* Its parts: options of all, NULL: defaults; are they of a shell? */
kcl_options kcl_options_for_shell(const kcl_options *options, const kcl_shell *A);
int kcl_check_shell_options(kcl_context *ctx, const kcl_shell *A, const kcl_options *o);
/* The certificate of an answer by products in working precision. What needs the rows of A is -1; |A|_F is an
 * estimate. */
int kcl_certify_shell(const kcl_system *s, bool least, const kcl_rhs *v, kcl_certificate *out);

/* Direct solutions of the right-hand sides that are not solved, where that is allowed, affordable, and predicted to take
 * about so many seconds at most (solver/rescue.c). owner: a kcl_solver. */
int kcl_rescue(void *owner, kcl_loop *l, double seconds);
void kcl_rescue_forget(kcl_solver *s); /* the factorisation that is kept */
/* Predicted seconds of that. INFINITY: not allowed, not affordable, or not known after so few seconds. */
double kcl_rescue_price(void *owner, const kcl_loop *l, double spent);
double kcl_rescue_predict(kcl_solver *s); /* outside of a solve, after any number of seconds */

/* Checkpoints (solver/checkpoint.h). KCL_USAGE: not for k right-hand sides of this solver. Then, in a solve: its beginning; each
 * batch, by the loop; a solve that goes on from one, after START; the report of it. owner: a kcl_solver. */
int kcl_checkpoints_check(const kcl_solver *s, int64_t k);
void kcl_checkpoints_begin(kcl_solver *s, kcl_loop *l);
int kcl_checkpoint_when_due(void *owner, kcl_loop *l);
int kcl_resume(void *owner, kcl_loop *l);
void kcl_checkpoints_report(const kcl_solver *s, const kcl_loop *l);
void kcl_checkpoints_free(kcl_checkpoints **c);
void kcl_readback_free(kcl_readback **k); /* or of NULL */

/* x of a right-hand side whose device is lost: x [cols], of that iteration, or NULL; the guess or 0 where that is nearer
 * (solver/answer.c). */
int kcl_answer_without_device(kcl_loop *l, int rhs, const void *x, int64_t iteration);

/* Checks of what was asked for, before anything is computed; and of A for this method (solver/input_check.c). */
int kcl_check_options(kcl_system *s);
int kcl_check_device(kcl_context *ctx,
                     kcl_type type); /* selects one if none is; can it compute in this type? */
/* KCL_INPUT: an entry of A is not finite. A's statistics are known. */
int kcl_check_entries(const kcl_system *s);
int kcl_check_fit(const kcl_system *s, const kcl_method *m);

/* The scaling of A, after its statistics, where one is needed: statistics are then those of the scaled matrix (solver/scale.c).
 * And A as the device has it, if that is not A itself. */
int kcl_system_scale(kcl_system *s);
int kcl_system_convert(kcl_system *s);
void kcl_system_forget_converted(kcl_system *s);
/* From the device into the callers' x, and report.x_iteration (solver/answer.c). */
int kcl_answer(kcl_loop *l, int rhs);
/* Not solved, and not ended by the caller or the caller's limit. */
bool kcl_solve_failed(const kcl_system *s, kcl_reason reason);
/* The certificate of an answer into its report; the reason becomes what the certificate says. least: of least squares. */
int kcl_certify_rhs(const kcl_system *s, bool least, const kcl_rhs *v);

/* How far row i of the product A x may be from the exact one by rounding in this arithmetic (solver/product_check.c). x: of
 * type D or Z, as A. */
double kcl_product_bound(const kcl_csr *A, kcl_type arithmetic, const double *x, int64_t i);

/* KCL_USAGE: o->parameters has an unknown name or a value out of range. It becomes what kcl_options_set would write
 * (solver/options_text.c). */
int kcl_check_parameters(kcl_options *o);

/* Steps of a set-up that distributed/ shares: names that were not given; symmetry by the rule of the options. */
kcl_options kcl_options_of(const kcl_options *o); /* kcl_defaults where it is NULL or all zero */
/* A real precision becomes the complex one where A is complex. */
kcl_type kcl_precision_for(kcl_type asked, kcl_type of_A);
void kcl_read_options(kcl_system *s);
int kcl_near_null_copy(kcl_options *o,
                       kcl_dense *copy); /* o->near_null becomes copy, whose val is to be freed */
void kcl_apply_symmetry(kcl_system *s);
/* report.not_unique and least_norm, after the certificate. */
void kcl_report_uniqueness(const kcl_system *s, const kcl_engine *e, const kcl_rhs *v);

/* KCL_CHANGED: A is no longer what it was at set-up (solver/sums.c). */
kcl_sums kcl_sums_of(const kcl_csr *A);
int kcl_sums_check(kcl_context *ctx, const kcl_csr *A, const kcl_sums *then);
/* KCL_USAGE: A does not have the pattern and the type of `then`, which has the sums. *now: those of A. */
int kcl_check_pattern(kcl_context *ctx, const kcl_csr *then, const kcl_sums *sums, const kcl_csr *A,
                      kcl_sums *now);

#endif
