/* A system made ready: what kcl_setup builds and kcl_solve runs. */
#ifndef KCL_SOLVER_H
#define KCL_SOLVER_H

#include "core/choices.h"
#include "core/executor.h"
#include "core/matrix.h"
#include "solver/method.h"

typedef struct kcl_history { /* of one column */
  double *log;               /* [capacity, KCL_LOG] as logged: squared norms */
  double *residuals;         /* [size + 1] relative */
  int64_t size, capacity;
} kcl_history;

/* What is left to us of a solver's options (solver/choose.c). */
typedef struct kcl_open {
  bool format, method;    /* "auto" */
  bool measure, model;    /* formats: timed at once; never timed and never remembered */
  bool recalled, settled; /* known was found in the cache; nothing more is to be timed */
  bool changed;           /* known is worth writing down */
  char key[KCL_KEY];
  kcl_choice known;
  int64_t expected; /* iterations, as remembered at set-up */
  int others;       /* formats that would be timed */
  double cost;      /* seconds to set up one of them, estimated */
  double seconds;   /* spent on timing */
} kcl_open;

struct kcl_solver {
  kcl *ctx;
  const kcl_csr *A; /* the caller's */
  kcl_stats stats;  /* of A */
  kcl_open open;
  kcl_csr *typed;        /* A in the solver's precision, when that differs */
  const kcl_csr *shared; /* the same, of the solver that this one is like */
  kcl_matrix *matrix, *adjoint;
  kcl_program *program;
  kcl_executor executor;
  const kcl_method *method;
  const kcl_precond *precond;
  kcl_options options;
  bool inner;              /* of a kcl_mixed: its program resumes where the method can */
  struct kcl_mixed *mixed; /* NULL: not asked for */
  double seconds_convert, seconds_upload, seconds_compile;
  kcl_history *history; /* [histories] of the last solve */
  int64_t histories;
  char why[400], why_method[200], changes[600], kernel[128];
};

/* A in the solver's precision; a solver like s, for its A and options, with another method or format. */
const kcl_csr *kcl_solver_matrix(const kcl_solver *s);
int kcl_setup_like(const kcl_solver *s, const kcl_method *m, const kcl_format *f, kcl_solver **out);

/* The method and the format, by what is remembered, else by structure and bytes. */
int kcl_choose_method(kcl_solver *s);
int kcl_choose_format(kcl_solver *s, const kcl_format **f);
int kcl_choose_ahead(kcl_solver *s); /* times others where that was asked for or is known to pay */
/* Does it pay to time others now that so many seconds went into iterations? Then do, in a tenth of those, and
 * go on with the fastest; `each`: seconds an iteration of s. */
bool kcl_choose_pays(const kcl_solver *s, double seconds, double each);
int kcl_choose_under_way(kcl_solver *s, double seconds, double each, int64_t iteration);
/* For this reason another method may do better. */
bool kcl_gave_up(kcl_reason reason);
/* After a method that gave up: the next that fits, with b and x of all columns; or KCL_OK and false. */
int kcl_choose_next(kcl_solver *s, kcl_reason reason, int64_t iteration, bool *another);
/* Remembers what a solve that converged took: iterations, and seconds for all of them. */
void kcl_choose_done(kcl_solver *s, int64_t iterations, double seconds);
bool kcl_method_fits(const kcl_method *m, const kcl_stats *stats);

/* Seconds an iteration, tests off, from a vector without structure; [repeats]. */
int kcl_time_loop(kcl_solver *s, int iterations, int repeats, double *seconds);
/* Mixed precision (solver/mixed.c): a second solver in float, whose x are corrections. */
int kcl_setup_inner(kcl *ctx, const kcl_csr *A, const kcl_options *options, kcl_solver **out);
int kcl_mixed_setup(kcl_solver *s);
void kcl_mixed_free(kcl_solver *s);
const kcl_solver *kcl_mixed_inner(const kcl_solver *s); /* NULL: not used */
const char *kcl_mixed_why(const kcl_solver *s);

/* Enqueues passes over LOOP, and REPLACE after every so many where the method has that;
 * since: passes since the last. */
int kcl_advance(kcl_solver *s, int64_t passes, int64_t *since);
double kcl_stored_bytes(const kcl_solver *s); /* of A, and A^H, on the device */
/* Bytes of an iteration while so many columns run; 0: only what they share. */
double kcl_iteration_bytes(const kcl_solver *s, int columns);

int kcl_histories_create(kcl_solver *s, int64_t count); /* empty ones; the last solve's are freed */
void kcl_histories_free(kcl_solver *s);
/* The log up to iteration `to`; afterwards the relative residuals, rr0 before the first iteration. */
int kcl_history_fetch(kcl_solver *s, kcl_history *h, int column, int64_t to);
int kcl_history_finish(kcl_solver *s, kcl_history *h, double rr0, double unit);

double kcl_norm2(kcl_type t, const void *v, int64_t n); /* no square vanishes or overflows */

/* Extreme eigenvalues of the Lanczos matrix of CG's alpha and beta (log[i][1], log[i][2]). */
void kcl_ritz(const double *log, int64_t n, double *min, double *max);

#endif
