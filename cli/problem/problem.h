/* The system A x = b on the host, its device, and the comparison of x with a direct solution. */
#ifndef CLI_PROBLEM_PROBLEM_H
#define CLI_PROBLEM_PROBLEM_H

#include "cli/ui/options.h"
#include "krylocl/check.h"
#include "krylocl/device.h"

/* ---------------------------------------------------------------- problem.c */

typedef struct cli_problem {  /* A x = b on the host, all of type D or all of type Z */
  bool spread;                /* each rank has its own rows of A, b and x; the set-up frees A */
  int64_t columns, first_row; /* if spread: elements of x on this rank, and its first row */
  kcl_csr *A;
  kcl_csr whole; /* sizes, symmetry and field of all of A; no arrays */
  kcl_dense *b, *x;
  kcl_dense *near_null; /* kcl_options.near_null, or NULL */
  bool ones;            /* b = A*1, so x should be 1 */
  bool b_of_matrix;     /* b comes from the file of A */
  bool x_repeated;      /* the file of x has one column, b has several */
  kcl_type precision;   /* of the solve */
  double seconds_read;
} cli_problem;

/* Reads the system A x = b. b and x: a file, or a word of cli_is_word. b NULL: that of the file or generator of A,
 * else A*1. x NULL: the initial guess in the file of A if b comes from there too, else zeros. p->spread is input. */
int cli_problem_load(kcl_context *ctx, const cli_options *o, const char *A, const char *b,
                     const char *x, cli_problem *p);

/* Reads A, in the precision of the product, and x. */
int cli_product_load(kcl_context *ctx, const cli_options *o, const char *A, const char *x,
                     cli_problem *p);

/* Reads y for a product of p, with as many columns as x. */
int cli_addend_load(kcl_context *ctx, const cli_options *o, const char *y, const cli_problem *p,
                    kcl_dense **out);

/* Reads p->near_null from the files of --near-null or --coordinates. */
int cli_near_null_load(kcl_context *ctx, const cli_options *o, cli_problem *p);
void cli_problem_free(cli_problem *p);
/* Reads A alone and chooses the precision. */
int cli_matrix_load(kcl_context *ctx, const cli_options *o, const char *path, kcl_csr **A,
                    kcl_type *precision);
/* Prints the matrix and the time to read it. */
void cli_report_matrix(const cli_options *o, const char *path, const kcl_csr *A, double seconds);

/* ---------------------------------------------------------------- device.c: the device that the options name */

/* The word that names the device, by options or by the environment; NULL: none does. */
const char *cli_device_word(const cli_options *o);
/* Opens the device of the options and describes it in d. --source and --profile select an OpenCL device. */
int cli_device(kcl_context *ctx, const cli_options *o, kcl_device *d);
void cli_report_device(const cli_options *o, const kcl_device *d);

/* ---------------------------------------------------------------- compare.c: x and a direct solution */

/* The direct check that the options ask for; tol: of the solve. */
kcl_check_plan cli_check_plan(const cli_options *o, double tol);
void cli_compare_say(const cli_options *o, const kcl_solution_error *c);

/* CLI_CHECK_FAILED or CLI_CHECK_UNDECIDED after printing the reason; 0: passed. */
int cli_compare_code(const kcl_solution_error *c);

#endif
