/* The correction loop: an engine iterates on up to KCL_MAX_NRHS right-hand sides, batch by batch, and no claim of
 * convergence is believed unchecked (solver/loop/loop.c).
 *
 *   kcl_loop_begin      residuals of the first guesses
 *   kcl_loop_advance    one batch of iterations; once all have stopped, the check of their claims
 *   kcl_loop_end        reports and histories, once the state is KCL_LOOP_ENDED
 *
 * The loop is driven by its caller, who may look at it, time it and exchange its engine between two calls.
 */
#ifndef KCL_LOOP_H
#define KCL_LOOP_H

#include "solver/loop/history.h"

static inline double kcl_square(double a) { return a * a; }

typedef enum kcl_loop_state {
  KCL_LOOP_READY,     /* residuals are known, nothing is enqueued: the next step begins a round */
  KCL_LOOP_ITERATING, /* between two batches of a round, some still iterate */
  KCL_LOOP_ENDED      /* every right-hand side has its reason */
} kcl_loop_state;

/* One right-hand side. A round is the iterations between two checks of claims. */
typedef struct kcl_rhs {
  const void *b; /* on the host, of A's type; NULL: in b_column, x_column alone */
  void *x;
  kcl_column b_column,
      x_column; /* the caller's, on the device; no buffer: b and x are on the host */
  kcl_report *report;
  kcl_history *history;
  kcl_scaled_norm b_norm; /* of b on the device (solver/engine/scale.h); 0: b = 0 */
  double allowed;         /* |b - A x| / |b| to reach, of the system as given */
  double target;          /* norm of the residual to reach, on the device */
  double rr0;          /* squared residual norm of the first guess, scaled like all that follow */
  double claim;        /* the same when a claim of convergence last did not hold */
  double rr_began;     /* of the x that the method in use began with */
  double best;         /* the least so far of this method */
  int64_t best_at;     /* iteration of best */
  double decade;       /* best when it last was a tenth of the decade before, in norms */
  int64_t decade_at;   /* iteration of that */
  int64_t round_began; /* iteration at which this round began */
  int64_t first_round; /* iterations before the first restart: one Lanczos process; 0: all */
  int64_t began;       /* iteration at which the method in use began */
  bool active;         /* iterates in this round */
  bool from_zero;      /* the guess is 0, and no other method began */
  bool answered;       /* x is the caller's already: a direct solution */
  int32_t given_up;    /* 1 + kcl_reason: the method will not get further; 0: it goes on */
} kcl_rhs;

/* Copies of x on the device (solver/loop/snapshot.c). */
typedef struct kcl_snapshots {
  int best, newest;        /* their numbers; -1: none */
  bool full;               /* there is no room for copies */
  int saves;               /* so far */
  int64_t interval;        /* iterations between two, at least; on several ranks that of rank 0 */
  int64_t at;              /* iterations when the last one was saved */
  double distance;         /* of the best, from its targets */
  double rr[KCL_MAX_NRHS]; /* its squared residual norms */
  int64_t iteration[KCL_MAX_NRHS];
} kcl_snapshots;

typedef struct kcl_loop kcl_loop;

/* A guard of the loop: called before and after each step; after may put the loop back to an earlier state. */
typedef struct kcl_loop_guard kcl_loop_guard;
struct kcl_loop_guard {
  int (*before)(kcl_loop_guard *, kcl_loop *);
  int (*after)(kcl_loop_guard *, kcl_loop *);
};

struct kcl_loop {
  const kcl_system *system;
  kcl_engine *engine; /* the caller's; may be exchanged between two steps */
  kcl_loop_state state;
  kcl_rhs rhs[KCL_MAX_NRHS];
  int nrhs;                          /* of these in use; the program may have room for more */
  kcl_control control[KCL_MAX_NRHS]; /* as last polled */
  double rr[KCL_MAX_NRHS];           /* squared residual norms, likewise */
  kcl_snapshots snapshots;           /* the best x so far */
  double start;       /* of the solve, by kcl_now(); later by the seconds that were no iterations */
  int64_t max_iter;   /* of the solve; of each method where the caller set no limit */
  int64_t since;      /* passes over LOOP since the last REPLACE or START */
  int64_t resumed_at; /* iterations that were made before `start` */
  int64_t shared;     /* iterations that active right-hand sides made together */
  bool enqueued;      /* one batch is enqueued and not yet polled */
  bool interrupted;   /* by the progress callback */
  bool stopped_between;                        /* and while no method ran: x is the nearest known */
  kcl_progress shown;                          /* what the callback was last told */
  int (*checkpoint)(void *owner, kcl_loop *l); /* after each batch; NULL: none */
  void *owner;                                 /* its first argument */
  int64_t every;         /* iterations between two calls of it, with x; 0: from time to time */
  void *observed;        /* [cols] that x, of the one right-hand side there is then */
  kcl_loop_guard *guard; /* NULL: none */
  bool impatient;        /* there are other methods: one without much progress is given up early */
  bool method_changed;   /* by kcl_loop_restart */
};

int kcl_loop_begin(kcl_loop *l);
int kcl_loop_advance(kcl_loop *l);
int kcl_loop_end(kcl_loop *l);

/* b and x of a right-hand side (solver/loop/place.c): to the engine, from where they are. */
int kcl_loop_put_b(kcl_loop *l, int rhs);
int kcl_loop_put_x(kcl_loop *l, int rhs);
/* To the host, where their numbers are needed: v->b and v->x are there afterwards. */
int kcl_loop_fetch(kcl_loop *l, int rhs);
/* Returns what was fetched: x back to the device, if rc is KCL_OK; memory is freed. Returns the first failure. */
int kcl_loop_return(kcl_loop *l, int rc);

/* From here on long calls of other libraries ask the user's callback as well; until kcl_loop_quiet. */
void kcl_loop_ask(kcl_loop *l);
void kcl_loop_quiet(kcl_loop *l);

/* Between two steps. */
bool kcl_loop_running(const kcl_loop *l); /* does any right-hand side still iterate? */
/* The iterations of the right-hand side that has made most. */
static inline int64_t kcl_loop_iterations(const kcl_loop *l) {
  int64_t most = 0;
  for (int i = 0; i < l->nrhs; i++)
    if (l->control[i].iteration > most) most = l->control[i].iteration;
  return most;
}
/* Polls what is enqueued and times some iterations with nothing else enqueued; afterwards nothing is. *each: seconds per
 * iteration, estimated, then measured. Measured only while kcl_loop_running. */
int kcl_loop_measure(kcl_loop *l, double *each);
/* After KCL_LOOP_ENDED, with an engine of another method that holds b and x of the one before: the active right-hand sides
 * start again from that x, or from the caller's where it is nearer. */
int kcl_loop_restart(kcl_loop *l);
/* The active right-hand sides start again from x, in a round of their own. */
int kcl_loop_start_again(kcl_loop *l);

/* The norm on the device that stands for v->allowed: a hair below, for the sums of the host differ. */
double kcl_loop_target(const kcl_rhs *v);

/* From norms on the device to norms relative to that of b there. */
static inline double kcl_unit(const kcl_rhs *v) { return 1 / v->b_norm.norm; }

/* Another engine that continues where this one stands, between two steps. */
void kcl_loop_exchange(kcl_loop *l, kcl_engine *e);

/* The best x so far (solver/loop/snapshot.c). */
void kcl_snapshots_forget(kcl_loop *l); /* those of another engine */
void kcl_snapshot_begin(kcl_loop *l);   /* with x and the residuals as they are */
void kcl_snapshot_save(kcl_loop *l);    /* before a batch, where it is time */
void kcl_snapshot_judge(kcl_loop *l);   /* after the poll of the batch before the copy */
bool kcl_snapshot_better(const kcl_loop *l, int rhs); /* than x by its residual as last polled */

/* Between loop.c and batch.c. */
int kcl_loop_enqueue(kcl_loop *l);              /* the next batch */
int kcl_loop_poll(kcl_loop *l);                 /* the oldest batch that was not polled */
bool kcl_loop_runs(const kcl_loop *l, int rhs); /* does this one iterate? */
int kcl_loop_observe(kcl_loop *l);              /* x, polled and with nothing ahead */
int kcl_loop_progress(kcl_loop *l);             /* the user's callback; non-zero: stop */
int kcl_loop_set_state(kcl_loop *l);            /* the control blocks and targets, to the device */
int kcl_loop_set_targets(
    kcl_loop *l, bool *lowered); /* of a scaled system, after START (solver/loop/claims.c) */

#endif
