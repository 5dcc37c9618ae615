/* Between factor.c, waves.c and eliminate.c, threshold.c, cholesky.c: elimination, per scalar type. */
#ifndef KCL_ELIMINATE_H
#define KCL_ELIMINATE_H

#include "factors/factor.h"

typedef struct kcl_elimination {
  kcl_csr *B;              /* becomes L below the diagonal, U on it and above */
  const int64_t *diagonal; /* [n] entries */
  void *d;                 /* [n] 1 / u_ii */
} kcl_elimination;
/* Row i, after those that it needs; place: [n] scratch, zero before and after. False: its pivot vanishes. */
typedef bool kcl_eliminating_row(const kcl_elimination *e, int32_t *place, int64_t i);
/* All rows, by all threads (waves.c). *zero: the first row whose pivot vanishes, or -1. */
int kcl_eliminate_rows(kcl_context *ctx, const kcl_elimination *e, kcl_eliminating_row *eliminate,
                       int64_t *zero);

/* ILUT: rows of the factors, in memory of the threads that made them. */
typedef struct kcl_kept_row {
  int64_t count;
  const int32_t *col; /* [count] ascending */
  const void *val;
} kcl_kept_row;
typedef struct kcl_memory_block {
  struct kcl_memory_block *next;
  int64_t used, capacity; /* entries; their values, then their columns, follow */
} kcl_memory_block;
typedef struct kcl_threshold {
  const kcl_csr *B;
  int p;
  double tau;
  kcl_kept_row *L, *U; /* [n] U: D^-1 times it */
  void *d;             /* [n] 1 / u_ii */
  atomic_bool *done;   /* [n] U and d have the row */
  int threads;
  kcl_memory_block **memory; /* [threads] */
  _Atomic int64_t next;      /* row to be made */
  _Atomic int64_t bad;       /* the first row whose pivot vanishes, or n */
  atomic_bool failed;        /* memory ran out */
} kcl_threshold;
/* Regions of a team; arg: a kcl_threshold. */
kcl_region kcl_threshold_d, kcl_threshold_z;

/* IC(0); d: 1 / the pivot. */
kcl_eliminating_row kcl_cholesky_d, kcl_cholesky_z;
/* ILU(0). */
kcl_eliminating_row kcl_eliminate_d, kcl_eliminate_z;

#endif
