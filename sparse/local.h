/* Between sparse/inverse.c and sparse/local.c: rows of approximate inverses, per scalar type. */
#ifndef KCL_LOCAL_H
#define KCL_LOCAL_H

#include "sparse/sparse.h"

typedef struct kcl_local {
  const kcl_csr *A, *pattern;
} kcl_local;

/* Makers of rows (kcl_row_list_make); arg: a kcl_local whose A has this type. */
void kcl_fsai_row_d(void *arg, kcl_row_list *r, int64_t i);
void kcl_fsai_row_z(void *arg, kcl_row_list *r, int64_t i);
void kcl_spai_row_d(void *arg, kcl_row_list *r, int64_t i);
void kcl_spai_row_z(void *arg, kcl_row_list *r, int64_t i);

#endif
