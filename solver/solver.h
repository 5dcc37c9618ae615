/* A system made ready: what kcl_setup builds and kcl_solve runs. */
#ifndef KCL_SOLVER_H
#define KCL_SOLVER_H

#include "core/executor.h"
#include "core/matrix.h"
#include "solver/method.h"

typedef struct kcl_history { /* of one column */
  double *log;               /* [capacity, KCL_LOG] as logged: squared norms */
  double *residuals;         /* [size + 1] relative */
  int64_t size, capacity;
} kcl_history;

struct kcl_solver {
  kcl *ctx;
  const kcl_csr *A; /* the caller's */
  kcl_csr *typed;   /* A in the solver's precision, when that differs */
  kcl_matrix *matrix, *adjoint;
  kcl_program *program;
  kcl_executor executor;
  const kcl_method *method;
  const kcl_precond *precond;
  kcl_options options;
  double seconds_convert, seconds_upload, seconds_compile;
  kcl_history *history; /* [histories] of the last solve */
  int64_t histories;
  char why[256], kernel[128];
};

/* Enqueues passes over LOOP, and REPLACE after every so many where the method has that;
 * since: passes since the last. */
int kcl_advance(kcl_solver *s, int64_t passes, int64_t *since);
int kcl_replacement_interval(const kcl_program *k); /* in passes; INT_MAX: never */
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
