/* Between sparse/factor.c and sparse/eliminate.c: elimination, per scalar type. */
#ifndef KCL_ELIMINATE_H
#define KCL_ELIMINATE_H

#include "sparse/factor.h"

typedef struct kcl_elimination {
  kcl_csr *B;              /* becomes L below the diagonal, U on it and above */
  const int64_t *diagonal; /* [n] entries */
  int64_t *place;          /* [n] scratch, zero */
  void *d;                 /* [n] 1 / u_ii */
} kcl_elimination;

/* ILU(0); the first row whose pivot vanishes, or -1. */
int64_t kcl_eliminate_s(const kcl_elimination *e);
int64_t kcl_eliminate_d(const kcl_elimination *e);
int64_t kcl_eliminate_c(const kcl_elimination *e);
int64_t kcl_eliminate_z(const kcl_elimination *e);

#endif
