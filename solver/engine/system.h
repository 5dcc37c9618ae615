/* A system to solve, as it was given, and what is known of it before anything is built. */
#ifndef KCL_SYSTEM_H
#define KCL_SYSTEM_H

#include "solver/methods/method.h"

typedef struct kcl_system {
  kcl *ctx;
  const kcl_csr *A;   /* the caller's */
  kcl_csr *converted; /* unit A in the precision of the options; NULL: that is A itself */
  double
      unit; /* a power of two; not 1 where A is so large or small that products of its products would overflow */
  kcl_stats stats;           /* of A */
  kcl_options options;       /* with every name filled in */
  bool hermitian, symmetric; /* A = A^H, A = A^T, by the rule of the options */
  struct {
    bool method, precond, format; /* "auto": to be chosen here */
    bool measure;                 /* formats are timed at set-up */
    bool model; /* formats are chosen by bytes alone: never timed, never remembered */
  } undecided;
  bool resumes;           /* corrections in mixed precision: programs get a phase RESUME */
  double seconds_convert; /* A to the precision of the options, and to single for mixed precision */
  double seconds_check, seconds_stats;
} kcl_system;

/* unit A in the precision of the options: the system on the device is (unit A) (x / unit) = b. */
static inline const kcl_csr *kcl_system_matrix(const kcl_system *s) {
  return s->converted ? s->converted : s->A;
}

/* The larger of A's rows and columns. */
static inline int64_t kcl_system_size(const kcl_system *s) {
  return s->A->rows > s->A->cols ? s->A->rows : s->A->cols;
}

#endif
