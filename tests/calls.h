/* Solves and updates as tests call them: for arrays without gaps, on the host. */
#ifndef KCL_TEST_CALLS_H
#define KCL_TEST_CALLS_H

#include "solver/calls.h"

/* kcl_solve_vectors for B [k, rows] and X [k, cols]. NULL: on a rank without a part. */
static inline int kcl_solve_call(kcl_solver *s, const kcl_call *call, int64_t k, const void *B,
                                 void *X, kcl_report *reports) {
  const kcl_vectors b = {.size = sizeof b, .data = (void *)(uintptr_t)B, .cols = k};
  kcl_vectors x = {.size = sizeof x, .data = X, .cols = k};
  return kcl_solve_vectors(s, call, &b, &x, reports);
}

static inline int kcl_solve_many(kcl_solver *s, int64_t k, const void *B, void *X,
                                 kcl_report *reports) {
  return kcl_solve_call(s, NULL, k, B, X, reports);
}

static inline int kcl_solve_one(kcl_solver *s, const void *b, void *x, kcl_report *report) {
  return kcl_solve_many(s, 1, b, x, report);
}

static inline int update_hierarchy(kcl_solver *s, const kcl_csr *A) {
  return kcl_update(s, A, KCL_KEEP_HIERARCHY);
}

#endif
