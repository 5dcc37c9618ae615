/* Functions below the handles of krylocl.h (solver/interface): set-up from a host matrix, solves for arrays, solvers of an operator's
 * matrix. Tests use these directly. */
#ifndef KCL_CALLS_H
#define KCL_CALLS_H

#include "core/base/base.h"

/* kcl_options_init. */
extern const kcl_options kcl_defaults;

/* Chooses method and format, converts and uploads the matrix, compiles the kernels.
 *
 * The arrays of A must stay alive and unchanged until the solver is freed: native CSR formats use them, and
 * kcl_solve compares their checksums with those of the set-up before it certifies an answer. A
 * must be square, except for least-squares methods (cgls, lsqr). options may be NULL: kcl_defaults.
 *
 * KCL_USAGE: an unknown name, a method that does not fit A (cg and a matrix that is not Hermitian), or
 * a declared symmetry that A does not have. KCL_INPUT: A is rectangular, empty or not finite. KCL_DEVICE: the device has no double
 * precision. KCL_REFUSED: the format refuses A. */
int kcl_setup(kcl_context *ctx, const kcl_csr *A, const kcl_options *options, kcl_solver **out);

/* Defaults: format "auto", precision D, y = A x. */
extern const kcl_operator_options kcl_operator_defaults;

/* kcl_setup for the matrix of an operator, whose arrays on the device the solver shares. options may
 * be NULL: kcl_defaults with the operator's precision, which options->precision must be otherwise;
 * options->format must be "auto" (NULL) or the operator's.
 *
 * The answers are those of a solver that was set up by kcl_setup in the same format. What the
 * operator lacks, such as A^H, is built for the solver; so is all of it where the solver scales A
 * (kcl_options.scale). The operator may be freed before the solver. */
int kcl_operator_setup(kcl_operator *op, const kcl_options *options, kcl_solver **out);

/* Replaces the values of the matrix; reuses everything that depends on the pattern only. A has the pattern and the type of the
 * matrix that s was set up for; it may be that matrix with other values written to it. A takes its place, and A's `symmetry`
 * holds for the new values.
 *
 * Reused: the choices of "auto", where they suit the new values; compiled kernels; with KCL_KEEP_HIERARCHY the interpolation of
 * multigrid, whose coarse systems alone are computed again (kcl_setup is better for values that differ much). Checked again: that A is
 * finite, and that its symmetry, declared or found, holds. Where rows that were equal are equal again, distinct rows alone are looked
 * at. Until the function returns, both systems need memory, but for arrays of a format that can be refilled (kcl_format.refill), whose
 * old values are lost last. After a failure s is as it was: it solves only if its own matrix was not written to.
 *
 * KCL_KEEP_PRECOND: for values that change little or seldom matter, the old preconditioner costs nothing and takes more iterations. It
 * serves where A is no longer what it needs, such as Hermitian for ic, too. Where rows are scaled (kcl_options.scale), those of the new
 * A are as the old ones were.
 *
 * A preconditioner given to kcl_setup_with is not changed: KCL_KEEP_PRECOND leaves s with what it had, the others take what
 * kcl_precond_update has made of it since.
 *
 * KCL_USAGE: another pattern or type; s comes from kcl_operator_setup; no such `keep`. KCL_CHANGED: KCL_KEEP_PRECOND of multigrid or
 * chebyshev, which multiply by the A that they were set up for, when its values have been written over: give the new ones in another
 * array. Otherwise as kcl_setup. */
int kcl_update(kcl_solver *s, const kcl_csr *A, int keep);

/* As kcl_setup, with a preconditioner that is there: of A, of earlier values, or of any matrix of as many rows. options->precond is
 * ignored, and A is not scaled (kcl_options.scale). "auto" chooses among the methods that M suits: not Hermitian, no cg; nothing is
 * remembered of these solves.
 *
 * KCL_USAGE: M is of another size, precision or context; options->mixed; a method that M does not suit, such as least squares.
 * Otherwise as kcl_setup. */
int kcl_setup_with(kcl_context *ctx, const kcl_csr *A, kcl_precond *M, const kcl_options *options,
                   kcl_solver **out);

/* kcl_precond_create_shell. */
int kcl_precond_of_function(kcl_context *ctx, int64_t rows, kcl_type type, kcl_apply_function apply,
                            void *user, int place, unsigned properties, kcl_precond **out);
/* kcl_precond_create and kcl_precond_update for a host matrix, whose arrays may go when the function returns. */
int kcl_precond_make(kcl_context *ctx, const kcl_csr *A, const kcl_options *options,
                     kcl_precond **out);
int kcl_precond_renew(kcl_precond *M, const kcl_csr *A);

/* Solves A x = b for the columns of B, options.nrhs of them at once, with settings of this call; call NULL: those of the solver. B has
 * A's rows and X A's columns, both on the same place, of A's type and with as many columns. X holds the initial guess on entry. On
 * return x is finite, and 0 where A has columns of zeros. reports: [B->cols] or NULL. Columns without gaps between their numbers
 * (inc 1) are used in place; others are copied.
 *
 * The solves are independent: convergence or breakdown of one does not affect the others. If any number of B is not finite, all are
 * refused (KCL_INPUT) before the first is solved. KCL_CHANGED: A or x changed in memory meanwhile. KCL_USAGE: more columns than memory
 * can hold; a field of call is out of range, or size is that of a newer header and a field that this library does not know is set. On
 * several ranks call is the same on all.
 *
 * KCL_OPENCL: the buffers are used by the context's queue (kcl_opencl_handles), and all is done on return. No vector passes
 * through the host, unless its numbers are needed there: for a certificate that is asked for; where the solve fails and the nearest
 * of several x, or a direct solution, is to be found; where A is scaled (kcl_setup_info.scaled) or has columns of zeros; and
 * where the device has no double precision and A has. Then b and x are downloaded once, and x is written back. Not on several ranks. */
int kcl_solve_vectors(kcl_solver *s, const kcl_call *call, const kcl_vectors *B, kcl_vectors *X,
                      kcl_report *reports);
/* The number of columns that kcl_solve_vectors will solve for; 0: it will refuse these vectors. */
int64_t kcl_count_columns(kcl_solver *s, const kcl_vectors *B, const kcl_vectors *X);

/* kcl_operator_apply for vectors anywhere: y = alpha A x + beta y, or with A^H where `adjoint` is not 0. alpha, beta: one number of the
 * operator's precision each, NULL: 1 and 0. x and y are on the same place and have as many columns; type 0 is the operator's
 * precision. In buffers the product is enqueued only; an offset or an increment costs a launch that copies on the device. Arrays
 * whose inc is not 1 are copied on the host. KCL_MEMORY: there is no room for that. */
int kcl_operator_multiply(kcl_operator *op, int adjoint, const void *alpha, const kcl_vectors *x,
                          const void *beta, kcl_vectors *y);

#endif
