/* An operator: products with a matrix that is resident on the device. distributed/ makes those of several ranks. */
#ifndef KCL_OPERATOR_H
#define KCL_OPERATOR_H

#include "solver/solver.h"

struct kcl_operator {
  kcl_csr given;     /* the caller's struct may go, its arrays stay */
  kcl_shell shell;   /* likewise, in place of entries; apply NULL: there are entries */
  kcl_system system; /* shared: A and A^H in the format, as far as asked for */
  kcl_sums sums;     /* of A when the operator was created */
  int nrhs;          /* columns per pass */
  struct {
    kcl_engine *one, *several; /* of one column; of nrhs of them. NULL: not needed */
  } side[2];                   /* of A, of A^H */
  double seconds_timed;        /* products of the last kcl_operator_time */
  int64_t products_timed;
  char why[400];
};

/* The engine that multiplies so many columns by A or A^H. KCL_USAGE: the operator was made without. */
int kcl_operator_engine(const kcl_operator *op, bool adjoint, int64_t columns, kcl_engine **out);
/* Products with a function: of one column, of A^H where it is declared. */
int kcl_operator_of_shell(kcl_context *ctx, const kcl_shell *A, kcl_operator **out);
/* Engines of op->system.shared, of so many columns. */
int kcl_operator_open(kcl_operator *op, int nrhs);
/* Fills in the options of s from those of an operator. */
int kcl_operator_read_options(kcl_system *s, const kcl_operator_options *o);
/* The format that the options name, unless it refuses A, else the one whose product is predicted to take the least time. */
int kcl_operator_choose_format(kcl_operator *op, const kcl_format **f);

#endif
