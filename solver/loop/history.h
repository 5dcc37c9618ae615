/* The history of one right-hand side: numbers that the device writes at each iteration, fetched by the host from time to
 * time; and what they tell of the spectrum. */
#ifndef KCL_HISTORY_H
#define KCL_HISTORY_H

#include "solver/engine/engine.h"

typedef struct kcl_history {
  double *entry;     /* [capacity, KCL_HISTORY_FIELDS]: squared residual norm, alpha, beta, spare */
  double *residuals; /* [size + 1] relative residuals, the first before any iteration */
  int64_t size, capacity;
} kcl_history;

void kcl_histories_free(kcl_history **list, int64_t count);

/* The squared residual norm after iteration i, from 0. */
static inline double kcl_history_rr(const kcl_history *h, int64_t i) {
  return h->entry[i * KCL_HISTORY_FIELDS];
}

/* Entries up to iteration `to` of right-hand side number rhs, from the device. */
int kcl_history_fetch(kcl_history *h, kcl_engine *e, int rhs, int64_t to);
/* The relative residuals: unit times the norms; rr0: the squared norm before the first iteration. */
int kcl_history_finish(kcl_history *h, kcl_context *ctx, double rr0, double unit);

/* Extreme eigenvalues of the Lanczos matrix of CG's alpha and beta in n entries; 0: not known. */
void kcl_ritz(const double *entry, int64_t n, double *min, double *max);

#endif
