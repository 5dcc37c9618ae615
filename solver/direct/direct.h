/* Direct solutions for several right-hand sides, within a limit of work. */
#ifndef KCL_DIRECT_H
#define KCL_DIRECT_H
#include "core/base/base.h"

/* A factorisation, which also says what solves with it. */
typedef struct kcl_direct_factor kcl_direct_factor;
void kcl_direct_factor_free(kcl_direct_factor **f);

typedef struct kcl_direct_task {
  int k;                  /* right-hand sides */
  const double *const *b; /* [k] of [rows], of A's type */
  double *const *x;       /* [k] of [cols] */
  double flops;           /* at most, as predicted from the structure; INFINITY: any */
  const char *method;     /* the first that is tried, a name as in kcl_check_plan */
  bool refine; /* refine each x; bound the error of the last, and estimate the condition number */
  kcl_direct_factor **
      kept; /* *kept: a factorisation of this A, or NULL: then the one that is made, to be freed by the caller before A; or
                          NULL: none is kept */
} kcl_direct_task;

/* As kcl_direct. KCL_REFUSED: not within the limit, or the memory there is. */
int kcl_direct_many(kcl_context *ctx, const kcl_csr *A, const kcl_direct_task *t,
                    kcl_direct_info *info);
/* Seconds that kcl_direct_many will take for a square A of type D or Z: *seconds from an ordering of its structure, which takes
 * kcl_direct_predict_seconds itself. definite: Cholesky fits. INFINITY: not within `flops` operations, or the analysis failed. */
int kcl_direct_predict(kcl_context *ctx, const kcl_csr *A, bool definite, double flops,
                       double *seconds);
double kcl_direct_predict_seconds(const kcl_csr *A);
#endif
