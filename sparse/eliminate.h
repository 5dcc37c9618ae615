/* Between sparse/factor.c and sparse/eliminate.c, threshold.c, cholesky.c: elimination, per scalar type. */
#ifndef KCL_ELIMINATE_H
#define KCL_ELIMINATE_H

#include "sparse/factor.h"

typedef struct kcl_elimination {
  kcl_csr *B;              /* becomes L below the diagonal, U on it and above */
  const int64_t *diagonal; /* [n] entries */
  int64_t *place;          /* [n] scratch, zero */
  void *d;                 /* [n] 1 / u_ii */
} kcl_elimination;

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

/* ILUT; the same. */
int64_t kcl_threshold_s(kcl_threshold *e);
int64_t kcl_threshold_d(kcl_threshold *e);
int64_t kcl_threshold_c(kcl_threshold *e);
int64_t kcl_threshold_z(kcl_threshold *e);
/* IC(0); d: 1 / the pivot. */
int64_t kcl_cholesky_s(const kcl_elimination *e);
int64_t kcl_cholesky_d(const kcl_elimination *e);
int64_t kcl_cholesky_c(const kcl_elimination *e);
int64_t kcl_cholesky_z(const kcl_elimination *e);
/* ILU(0); the first row whose pivot vanishes, or -1. */
int64_t kcl_eliminate_s(const kcl_elimination *e);
int64_t kcl_eliminate_d(const kcl_elimination *e);
int64_t kcl_eliminate_c(const kcl_elimination *e);
int64_t kcl_eliminate_z(const kcl_elimination *e);

#endif
