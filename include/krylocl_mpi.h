/** @file
 * krylocl on several ranks: processes of an MPI communicator that share one system, each with its own rows and its own
 * device. The library libkrylocl_mpi holds these functions and all of libkrylocl: link it instead.
 *
 *     MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
 *     kcl_context_create_mpi(comm, NULL, 0, &c);     a device for each rank
 *     kcl_matrix_create(c, &entries, &A);            own rows
 *     kcl_solver_create(A, NULL, NULL, &s);
 *     kcl_solve_array(s, b, x, &result);             own elements of b and x
 *
 * From then on the functions of krylocl.h are those of one process. The functions below that take a communicator are for programs that
 * read files on all ranks, or that have a matrix whole on rank 0; like krylocl/io.h they may change with every release.
 *
 * All functions but those that describe are collective: every rank of the communicator calls them in the same order. A
 * failure on one rank is the failure of all: each returns its status, and kcl_error says on which rank it happened.
 * Arguments that are not of one rank alone are compared: ranks with different options, or that read different files of one
 * name, are refused, with both in the message.
 */
#ifndef KRYLOCL_MPI_H
#define KRYLOCL_MPI_H

#include "krylocl/bench.h"
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/** Makes a context of all ranks of comm, which is duplicated; MPI_Finalize comes after it and all that was made with it are freed. device
 * and threads: as for kcl_context_create. Where the device leaves a choice between GPUs ("auto", "gpu", "opencl", NULL), rank r of a host
 * takes GPU number r modulo their number. Ranks of a host that may use the same processors divide them, unless
 * OMP_NUM_THREADS or threads says how many a rank has.
 *
 * A matrix then has this rank's rows, at least one: the next block of consecutive rows of the whole matrix, kcl_entries.rows of them, with
 * columns of the whole, kcl_entries.cols. b and x have own rows, or of a rectangular A own columns (kcl_mpi_share.columns). A preconditioner
 * that is given computes z = M^-1 r of this rank's rows, one on each rank, all of one kind and with equal properties. A function that fails
 * on one rank ends the solve on all with its status and message; until then all are called, so exchanges inside them stay in step. A
 * matrix that is a function has own rows and own elements of x as rows and cols of kcl_matrix_create_shell, and gets elements of
 * other ranks by itself. Refused of matrices with entries are products with A^H, alpha and beta. kcl_solver_update distributes the rows
 * anew and keeps what it is asked to of each rank's own; but for KCL_KEEP_PRECOND chebyshev, and M of scaled rows, are set up anew.
 * All ranks call kcl_matrix_prepare, kcl_matrix_apply, kcl_solver_create, kcl_solver_update, kcl_solve and kcl_solver_free in the same
 * order.
 *
 * KCL_DEVICE, KCL_USAGE: as kcl_context_create, on any rank. */
int kcl_context_create_mpi(MPI_Comm comm, const char *device, int threads, kcl_context **out);
/** kcl_context_create_mpi for a communicator of Fortran. */
int kcl_context_create_mpi_f(int comm, const char *device, int threads, kcl_context **out);
/** The status of the first rank of the context whose own is not KCL_OK, with its message on every rank. For what a rank does alone
 * between two collective calls, such as reading a file. */
int kcl_context_agree(kcl_context *c, int status);

/** Where A, b and x are. */
typedef enum kcl_mpi_layout {
  /** Whole on rank 0, NULL elsewhere. The rows are given out in blocks of about as many nonzeros. */
  KCL_MPI_ROOT,
  /** Each rank has the next block of consecutive rows, at least one: A->rows is the number of its own rows, A->cols that of
   * the whole matrix, columns are those of the whole matrix. b and x are [own rows]; x of a rectangular A is
   * [kcl_mpi_share.columns]. */
  KCL_MPI_ROWS
} kcl_mpi_layout;

/** One rank's rows of a system A x = b, for KCL_MPI_ROWS, and the sizes of the whole. */
typedef struct kcl_mpi_part {
  kcl_csr *A;        /**< own rows, at least one, with columns of the whole matrix */
  kcl_dense *b;      /**< own elements of right-hand sides that came with A, or NULL */
  kcl_dense *x0;     /**< own elements of first guesses that came with A, or NULL */
  int64_t first_row; /**< number of the first own row, from 0 */
  int64_t rows;      /**< of the whole matrix */
  int64_t nonzeros;  /**< of the whole matrix */
  int64_t stored;    /**< entries in the file of the whole matrix, as kcl_csr.stored */
  int64_t columns;   /**< own elements of x: as many as own rows where A is square */
} kcl_mpi_part;

/** kcl_context_agree for any communicator. */
int kcl_mpi_agree(kcl_context *ctx, MPI_Comm comm, int status);

/** KCL_USAGE where the ranks differ in what must be the same on all. lines: "name=value\n" for each of it, in the same order on
 * all ranks, 4,095 bytes at most. The message has the first name with the values of a rank that differs and of rank 0. */
int kcl_mpi_same(kcl_context *ctx, MPI_Comm comm, const char *lines);

/** Selects a device on each rank. device as in kcl_select. Where it leaves a choice between GPUs ("auto", "gpu", "opencl",
 * NULL), rank r of a host takes GPU number r modulo their number. Ranks of a host that may use the same processors divide
 * them, unless OMP_NUM_THREADS or kcl_set_threads says how many threads a rank has. */
int kcl_mpi_select(kcl_context *ctx, MPI_Comm comm, const char *device);

/** The weight of this rank's share of the nonzeros with KCL_MPI_ROOT, against those of the other ranks: positive, or 0, the
 * initial value. Unless every rank has one, shares are equal where all devices have one name, else in proportion
 * to kcl_stream_rate, which is measured if need be. Not collective. KCL_USAGE: negative or not finite. */
int kcl_mpi_set_weight(kcl_context *ctx, double weight);

/** How ranks share the rows of what is set up or read from now on. "auto" (also NULL; initially): nonzeros by the weights of
 * kcl_mpi_set_weight, else equal nonzeros where all devices have one name, else by kcl_stream_rate. "nonzeros": equal
 * nonzeros. "rates": nonzeros by kcl_stream_rate, which is measured if need be. "rows": equal numbers of rows, whatever their
 * nonzeros. Not collective, but the same on all ranks. KCL_USAGE: another name; at the set-up, rows with partition metis. */
int kcl_mpi_set_shares(kcl_context *ctx, const char *rule);

/** How solvers that are set up from now on divide the rows. "rows" (also NULL; initially): consecutive blocks of about as many
 * nonzeros with KCL_MPI_ROOT, with KCL_MPI_ROWS as they are. "metis": parts of the graph of A + A^T, between which few elements of
 * x are exchanged; rows and vectors move to their owners and x comes back, so A, b and x keep the caller's numbers. What a
 * message says of a diagonal entry or a block names its row on the rank. Rank 0 needs memory for that graph. Not collective, but the same on all ranks.
 *
 * KCL_USAGE: another name; at the set-up, metis on some ranks alone or with reproducible sums. KCL_DEVICE: a library built without
 * METIS. */
int kcl_mpi_set_partition(kcl_context *ctx, const char *name);

/** Reads a system on all ranks, each its own rows: blocks of about as many entries as the weights say, those of KCL_MPI_ROOT
 * if the file has no duplicates. Bytes of Matrix Market and coordinate files are parsed by all ranks, and
 * entries are sent to the owners of their rows; of .kcl files each rank reads its rows. No rank holds more than its share,
 * 16 to 24 bytes for each entry of the file at most while reading; but of text that is packed, or that some ranks do not see,
 * rank 0 has all, before it gives it out. Other files (Harwell-Boeing, row lists, array files, .kcl.gz, standard input) are read
 * by rank 0, which gives rows out. A device is to be
 * selected before.
 *
 * Errors are those of kcl_csr_read_system, with the line in the file; KCL_INPUT: ranks see different files of this name (copies
 * with the same contents are one file); KCL_USAGE: fewer rows than ranks. *out is to be freed
 * with kcl_mpi_part_free. */
int kcl_mpi_read(kcl_context *ctx, MPI_Comm comm, const char *path, kcl_mpi_part *out);
/** As kcl_generate, on all ranks: each makes its own rows of systems whose rows can be made one by one (on grids, and
 * random ones); others are made whole on rank 0, which gives rows out. */
int kcl_mpi_generate(kcl_context *ctx, MPI_Comm comm, const char *kind_size, kcl_mpi_part *out);
/** Frees what is in a part. */
void kcl_mpi_part_free(kcl_mpi_part *p);

/** As kcl_dense_read, on all ranks: *out has the own_rows rows of this rank, those behind the ranks before it. Numbers and
 * Matrix Market files are parsed by all ranks, from standard input by rank 0. KCL_INPUT: another number of rows, or different
 * files of this name. */
int kcl_mpi_dense_read(kcl_context *ctx, MPI_Comm comm, const char *path, int64_t own_rows,
                       kcl_dense **out);
/** As kcl_dense_write, of columns of which every rank has some rows: the same file, written by all ranks at once. Where they do
 * not share its folder, or it is no ordinary file or packed, rank 0 collects and writes. */
int kcl_mpi_dense_write(kcl_context *ctx, MPI_Comm comm, const char *path, const kcl_dense *own);

/** As kcl_solver_create, on the ranks of comm, which is duplicated. With one rank it is that. The solver is one like any other, but
 * all ranks call each of these in the same order: kcl_solve and kcl_solve_array, with b and x in the layout of the set-up (NULL
 * where a rank has none) and as many columns on all ranks, which exchange the elements and sums of options.nrhs right-hand sides
 * in one message each; kcl_solver_free. Results are the same on every rank but for times; kcl_report.x_sum is that of the x this
 * rank holds, 0 where it holds none. Of the numbers of the set-up sizes are sums over the ranks, times are this rank's. The progress
 * callback is called on each rank that has one; a rank that asks to stop ends the solve on all. kcl_solver_update is refused.
 *
 * A may be freed after the call on more than one rank; on one it must live, and stay unchanged, as long as the solver.
 *
 * KCL_USAGE, beyond what kcl_solver_create refuses: options that differ between ranks (but nrhs, which is that of rank 0, progress, and
 * with KCL_MPI_ROOT near_null), mixed precision, formats timed at set-up ("measure"), fewer rows or columns
 * than ranks, a matrix that is not square with partition metis or reproducible sums, or an MPI library that was started for one thread while the executor has several. Preconditioners but jacobi and chebyshev are
 * block diagonal: each rank sets up its own, for the entries in the rows and columns that it owns. "auto" goes on to other
 * methods, but not to a direct solution; where native and OpenCL devices share a system, right-hand sides are solved one after another. options.near_null has the layout of A. */
int kcl_mpi_setup(kcl_context *ctx, MPI_Comm comm, const kcl_csr *A, kcl_mpi_layout layout,
                  const kcl_options *options, kcl_solver **out);
/** As kcl_mpi_setup with KCL_MPI_ROWS. On more than one rank part->A is freed, and NULL, early: its rows
 * stay in its arrays, which become the solver's, or move. */
int kcl_mpi_setup_part(kcl_context *ctx, MPI_Comm comm, kcl_mpi_part *part,
                       const kcl_options *options, kcl_solver **out);
/** As kcl_operator_create, on the ranks of comm: products y = A x alone, each rank with its rows in a format of its own device.
 * With one rank it is kcl_operator_create. The operator is one like any other, but all ranks call each of these in the same
 * order: kcl_operator_apply, with x and y in the layout of A (rows and x whole on rank 0, NULL elsewhere; or own parts) and cols
 * the same on all ranks, column by column; kcl_operator_time, with equal arguments, whose samples are those of the slowest rank,
 * the same on each; kcl_operator_free. Of kcl_operator_info rows, columns and bytes are those of all ranks, times are this rank's.
 *
 * A may be freed after the call on more than one rank. KCL_USAGE, beyond what kcl_operator_create and kcl_mpi_setup refuse:
 * products with A^H; in a product alpha, beta, adjoint, and vectors that are not arrays without gaps. */
int kcl_mpi_operator_create(kcl_context *ctx, MPI_Comm comm, const kcl_csr *A,
                            kcl_mpi_layout layout, const kcl_operator_options *options,
                            kcl_operator **out);

/** One rank's share. */
typedef struct kcl_mpi_share {
  int rank;                 /**< its number in the communicator */
  int threads;              /**< of its native executor */
  int neighbours;           /**< ranks it exchanges elements of x with */
  int64_t first_row;        /**< number of its first row, from 0, in the order of the ranks */
  int64_t rows;             /**< number of its rows */
  int64_t first_column;     /**< number of its first element of x, from 0, likewise */
  int64_t columns;          /**< number of its elements of x; its rows where A is square */
  int64_t nonzeros;         /**< entries of its rows */
  double share;             /**< of all nonzeros that it was to have: by weights, else by rates */
  int64_t boundary_rows;    /**< rows with entries in columns of other ranks */
  int64_t halo;             /**< elements of x that it receives per product */
  int64_t sends;            /**< elements of x that it sends per product */
  double seconds_partition; /**< dividing the rows and moving them */
  double seconds_solve;     /**< of the last solve: iterations; of an operator: timed products */
  double seconds_halo;      /**< of these: waiting for elements of other ranks */
  double seconds_sum;       /**< of these: waiting for sums over the ranks */
  /** Predicted: an iteration of the whole system on its device alone, of all right-hand sides that iterate at once; 0: not a
   * GPU, its memory is too small, or kcl_stream_rate was not called. */
  double seconds_alone;
  char format[32];  /**< storage format of its rows */
  char device[128]; /**< name of its device */
} kcl_mpi_share;

/** The shares of all ranks, on every rank: *list is [*count], to be freed with free(). */
int kcl_mpi_shares(kcl_solver *s, kcl_mpi_share **list, int *count);
/** As kcl_mpi_shares, of an operator: seconds_solve and seconds_halo are those of the products that the last kcl_operator_time
 * counted, seconds_alone is 0. */
int kcl_mpi_operator_shares(kcl_operator *op, kcl_mpi_share **list, int *count);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
