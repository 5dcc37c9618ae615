/* Operands and options as matrices, vectors, parameters and solvers. */
#ifndef CLI_INPUT_INPUT_H
#define CLI_INPUT_INPUT_H

#include "cli/ui/options.h"
#include "krylocl/explain.h"

/* ---------------------------------------------------------------- read.c: matrices by their names, columns of vectors */

/* Reads a matrix by its name: a file, one of the collection, or a generated system such as poisson2d:300. b and x0
 * may be NULL; *b and *x0 become NULL if the file has none. */
int cli_read(kcl_context *ctx, const cli_options *o, const char *path, kcl_csr **A, kcl_dense **b,
             kcl_dense **x0);
/* Column j of B. */
double *cli_column(const kcl_dense *B, int64_t j);
/* Largest |x_i - 1| in column j. */
double cli_error_from_ones(const kcl_dense *x, int64_t j);

/* ---------------------------------------------------------------- names.c: operands that are no files */

/* True for ones and random: vectors that are not read. random: numbers in [-1, 1), the same in every run. */
bool cli_is_word(const char *x);
/* True for a generated system such as poisson2d:9, unless there is such a file. */
bool cli_is_generated(const char *path);
/* True for a name such as HB/bcsstk16, unless there is such a file or a folder HB. */
bool cli_is_collection(const char *path);
/* Fetches a matrix of the collection unless it is cached, and writes its path. */
int cli_collection(kcl_context *ctx, const cli_options *o, const char *name, char *path,
                   size_t capacity);
/* Writes the path of Name_b.mtx beside Name.mtx; false if there is no such file. */
bool cli_collection_rhs(const char *matrix, char *path, size_t capacity);

/* ---------------------------------------------------------------- parameters.c: the library's options whose names have a point, such as amg.theta */

/* Parameter k, from 0; its name is NULL beyond the last one. */
kcl_option cli_parameter(int k);
/* Sets a list such as amg.theta=0.5,amg.degree=2; NULL: nothing. Faults are reported. */
int cli_parameters_set(const char *list, kcl_options *o);

/* ---------------------------------------------------------------- solver.c: solvers for matrices that the program has read */

/* A solver of A, whose arrays are used in place, with all fields of the options. */
int cli_solver_create(kcl_context *ctx, const kcl_csr *A, const kcl_options *o, kcl_solver **out);
/* New values of A, the matrix of the solver. */
int cli_solver_update(kcl_context *ctx, kcl_solver *s, const kcl_csr *A);
/* Solves for k columns, one after another in memory; NULL on a rank without vectors. report [k] or NULL. */
int cli_solver_solve(kcl_solver *s, int64_t k, const void *B, void *X, kcl_report *report);

#endif
