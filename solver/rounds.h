/* For solver/solve.c and solver/rounds.c: right-hand sides on their way, as many as a program has columns. */
#ifndef KCL_ROUNDS_H
#define KCL_ROUNDS_H
#include "solver/solver.h"

typedef struct kcl_column {
  const void *b;
  void *x;
  kcl_report *report;
  kcl_history *history;
  double norm_b, scale; /* scale: power of two applied to b and x */
  double target;        /* norm to reach, scaled */
  double rr0, claim;    /* squared residuals, at the beginning and at the last claim */
  double best;          /* the least so far, and where */
  int64_t best_at;
  int64_t from;    /* where this round began */
  int64_t lanczos; /* iterations before the first replacement: one Lanczos process */
  bool active;     /* iterates in this round */
  bool plateau;    /* has got nowhere for long: nobody waits for it */
} kcl_column;

typedef struct kcl_rounds {
  kcl_solver *s;
  kcl_executor *ex;
  kcl_column column[KCL_MOST_COLUMNS];
  kcl_head head[KCL_MOST_COLUMNS]; /* as last seen */
  double rr[KCL_MOST_COLUMNS];
  int columns; /* with a right-hand side; the program may have more */
  double start;
  int64_t max_iter;
  int64_t since;  /* passes over LOOP since vectors were replaced */
  int64_t shared; /* iterations that active columns made together */
  bool interrupted;
  bool changed; /* another method went on */
} kcl_rounds;

/* Relative to b, of a scaled norm. */
static inline double kcl_unit(const kcl_column *c) { return 1 / (c->norm_b * c->scale); }

static inline int64_t kcl_longer(const kcl_csr *A) { return A->rows > A->cols ? A->rows : A->cols; }

/* From vectors b and x on the device to reports with reasons, residuals and histories. */
int kcl_rounds_run(kcl_rounds *r);
/* The same of one column, float first (solver/mixed.c); and what its report says of that. */
int kcl_mixed_run(kcl_rounds *r);
void kcl_mixed_report(kcl_rounds *r);

#endif
