/* The handles of krylocl.h over what they stand for: kcl_context and kcl_solver are the library's own structs (core/base/context.h,
 * solver/solver.h), kcl_matrix keeps a host matrix and what was made from it. */
#ifndef KCL_HANDLES_H
#define KCL_HANDLES_H

#include "solver/operator.h"

struct kcl_matrix {
  _Atomic int references;
  kcl_context *ctx;
  kcl_csr *A;      /* solvers share it: new values are another one; of a shell without arrays */
  kcl_shell shell; /* apply NULL: A has entries */
  bool borrowed;   /* its arrays are the caller's */
  kcl_dense *near_null;    /* or NULL */
  kcl_stats *stats;        /* NULL: not asked for yet */
  kcl_operator *product;   /* NULL: not prepared */
  kcl_operator_info about; /* the product */
};

/* KCL_USAGE: A is a shell. */
int kcl_matrix_need_entries(const kcl_matrix *A);

/* A number or text of a struct by its name. */
typedef enum kcl_kind {
  KCL_IS_DOUBLE,
  KCL_IS_INT64,
  KCL_IS_UINT64,
  KCL_IS_INT, /* enums too */
  KCL_IS_BOOL,
  KCL_IS_TEXT, /* const char * */
  KCL_IS_CHARS /* char [] */
} kcl_kind;

typedef struct kcl_named {
  const char *name;
  kcl_kind kind;
  size_t offset;
} kcl_named;

/* Tables of kcl_stats, kcl_setup_info and kcl_report (members.c); the last entry has no name. */
extern const kcl_named kcl_stats_members[], kcl_setup_members[], kcl_report_members[];

/* Member `name` [length]; NULL: there is none. */
const kcl_named *kcl_named_find(const kcl_named *table, const char *name, size_t length);
double kcl_named_number(const kcl_named *m, const void *of);    /* NAN: it is none */
const char *kcl_named_text(const kcl_named *m, const void *of); /* NULL: it is none */
/* KCL_USAGE: there is no number `name`; the message has the nearest one. */
int kcl_named_refuse(kcl_context *ctx, const kcl_named *table, const char *name);

/* KCL_USAGE: `now` has not the pattern, type and symmetry of `then`. */
int kcl_matrix_check_pattern(kcl_context *ctx, const kcl_csr *then, const kcl_csr *now);

/* The options that a handle's function gets: a copy; NULL: the defaults. A real precision becomes the complex one where A is
 * complex. */
kcl_options kcl_options_for(const kcl_options *o, const kcl_csr *A);

#endif
