/* Between sparse/factor.c, waves.c and sparse/eliminate.c, threshold.c, cholesky.c: elimination, per scalar type. */
#ifndef KCL_ELIMINATE_H
#define KCL_ELIMINATE_H

#include "sparse/factor.h"

typedef struct kcl_elimination {
  kcl_csr *B;              /* becomes L below the diagonal, U on it and above */
  const int64_t *diagonal; /* [n] entries */
  void *d;                 /* [n] 1 / u_ii */
} kcl_elimination;
/* Row i, after those that it needs; place: [n] scratch, zero before and after. False: its pivot vanishes. */
typedef bool kcl_eliminating_row(const kcl_elimination *e, int32_t *place, int64_t i);
/* All rows, by all threads (waves.c). *zero: the first row whose pivot vanishes, or -1. */
int kcl_eliminate_rows(kcl *ctx, const kcl_elimination *e, kcl_eliminating_row *eliminate,
                       int64_t *zero);

/* A factor that grows by rows. */
typedef struct kcl_growing {
  int64_t *row_ptr; /* [n + 1] */
  int32_t *col;     /* [room] */
  void *val;        /* [room] */
  int64_t room;
} kcl_growing;
typedef struct kcl_threshold {
  const kcl_csr *B;
  int p;
  double tau;
  kcl_growing L, U; /* U: D^-1 times it */
  void *d, *work;   /* [n] 1 / u_ii; the row that is being made */
  int32_t *list;    /* [2 n] its columns: a heap below the diagonal, then a list */
  bool *there;      /* [n] is the column in the row? */
  struct kcl_sized {
    double size;
    int32_t col;
  } * order;   /* [n] for choosing the largest */
  bool failed; /* memory ran out */
} kcl_threshold;

/* ILUT; the first row whose pivot vanishes, or -1. */
int64_t kcl_threshold_s(kcl_threshold *e);
int64_t kcl_threshold_d(kcl_threshold *e);
int64_t kcl_threshold_c(kcl_threshold *e);
int64_t kcl_threshold_z(kcl_threshold *e);
/* IC(0); d: 1 / the pivot. */
kcl_eliminating_row kcl_cholesky_s, kcl_cholesky_d, kcl_cholesky_c, kcl_cholesky_z;
/* ILU(0). */
kcl_eliminating_row kcl_eliminate_s, kcl_eliminate_d, kcl_eliminate_c, kcl_eliminate_z;

#endif
