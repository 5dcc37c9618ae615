/** @file
 * krylocl: Krylov methods on OpenCL. The interface of the library, version 1.
 *
 * Solves A x = b for a sparse A on any OpenCL device or on the CPU, and measures how good x is.
 *
 *     kcl_context *c;  kcl_matrix *A;  kcl_solver *s;  kcl_result result = {.size = sizeof result};
 *     kcl_context_create(NULL, 0, &c);                  the device that $KRYLOCL_DEVICE names, else the best one
 *     kcl_matrix_create(c, &entries, &A);               from your own arrays
 *     kcl_solver_create(A, NULL, NULL, &s);             chooses method and format, converts, uploads, compiles
 *     kcl_solve_array(s, b, x, &result);                x: initial guess on entry, solution on return
 *
 * Conventions
 *
 * - A function that can fail returns a kcl_status as int, 0 on success, and leaves a message in kcl_error().
 *   A solve that does not converge has not failed: see kcl_result.reason.
 * - Objects are counted: each keeps alive what it was made from, so they may be freed in any order. No address of the caller's
 *   is kept but arrays that were lent (kcl_entries.borrow) and the functions and `user` of callbacks. Functions
 *   named _free take the address of a pointer, accept NULL in it and set it to NULL.
 * - Any thread may use a context and what was made with it: one at a time is inside, the others wait. A callback is called
 *   by the thread that called the library and may not use the context of its call: KCL_BUSY. Contexts are independent. After
 *   fork() the child makes contexts of its own; one of the native executor may be used on in the child.
 * - A NULL pointer where an object is needed gives KCL_USAGE, and the message names the argument; functions
 *   without a status return 0, "" or nothing.
 * - Results are returned through the last pointer argument. After a failure they are NULL or zero.
 * - A struct that the caller fills begins with its size, in bytes; zero is the default of every other field, or invalid where the
 *   field says so. A struct of an older program is smaller: the fields that it lacks are zero. Fields of a newer
 *   version that this library does not know have to be zero; in kcl_result they become zero.
 * - Complex numbers are pairs (re, im). Scalar types are letters: 's' float, 'd' double, 'c' complex float, 'z' complex double.
 * - Sizes are in bytes, times in seconds, rates in bytes per second.
 * - |v| is the 2-norm, |v|_inf the largest modulus, |A|_F the Frobenius norm, A^H the conjugate transpose.
 *
 * Headers of their own, which may change with every release: krylocl/io.h (files, generated systems), krylocl/device.h (devices,
 * rates, tunables), krylocl/explain.h (statistics, choices, reports), krylocl/bench.h, krylocl/check.h (certificates, direct
 * solutions), and krylocl_mpi.h for several ranks.
 */
#ifndef KRYLOCL_H
#define KRYLOCL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The library is compiled with -fvisibility=hidden: it exports what its headers declare. */
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/** @defgroup basics The library, status codes
 * @{ */

/** Version of this header, "major.minor.patch". */
#define KCL_VERSION "0.2.0"

/** Version of the library that is linked: KCL_VERSION as it was when the library was compiled. */
const char *kcl_version(void);
/** Version of the binary interface: programs that were compiled with another one do not run with this library. */
int kcl_abi(void);

/** Status of a function. The values are also exit codes of the program krylocl. */
typedef enum kcl_status {
  KCL_OK = 0,    /**< success */
  KCL_USAGE = 2, /**< an argument or a name that is invalid or does not fit the others */
  /** A file that cannot be read or written (the message names line, column and what was expected),
   * or a system without a solution: A or b not finite, A empty, or A rectangular for a method that needs
   * a square matrix. */
  KCL_INPUT = 3,
  KCL_DEVICE = 4, /**< no such device, or a driver error: the message names the call and its code */
  KCL_MEMORY = 5, /**< out of memory, of the host or of the device */
  KCL_BUSY = 8,   /**< a callback called a function that uses the context */
  /** A format that refuses the matrix, or a factorisation that would be larger than the limit. */
  KCL_REFUSED = 9,
  KCL_CHANGED = 10 /**< an array changed in memory between set-up and certificate */
} kcl_status;

/** A phrase for a kcl_status, such as "out of memory"; "unknown" for any other number. */
const char *kcl_status_text(int status);
/** Message of the calling thread's last failure: one sentence or a few lines, "" if there was none, never NULL. Owned by the
 * library, valid until the thread's next failure. */
const char *kcl_error(void);
/** Frees text that a function returned through a char **. */
void kcl_free(void *text);

/** @} */
/** @defgroup names Names
 * @{ */

/** Number of names of a kind: "format", "solver", "precond", "generator", "option", "device". 0: no such kind. Options are the names
 * for kcl_options_set, devices those for kcl_context_create. */
int kcl_names(const char *kind);
/** Name i of a kind, 0 <= i < kcl_names(kind), otherwise "". Constant text. */
const char *kcl_name(const char *kind, int i);
/** Help for a name. what: "summary", one line; of options also "default" and "values", the words or the range that it takes; of
 * generators "example". "" if there is none. Constant text, but "values" and all of devices, which the thread's next call replaces. */
const char *kcl_name_help(const char *kind, const char *name, const char *what);

/** @} */
/** @defgroup options Options of a set-up
 * @{ */

/** Options by name; docs/options.md lists them. */
typedef struct kcl_options kcl_options;

/** Makes options, all at their defaults. */
int kcl_options_create(kcl_options **out);
/** Frees options. Solvers keep copies of theirs. */
void kcl_options_free(kcl_options **o);
/** Sets an option from text: kcl_options_set(o, "tol", "1e-10"). The value "default" restores the default. A later value replaces an
 * earlier one; the texts are copied. On failure o remains as it was. KCL_USAGE: no such option or word, with the nearest one in
 * the message; a value that is not a number or is out of range, with the range. Decimal numbers have a point in every locale. */
int kcl_options_set(kcl_options *o, const char *name, const char *value);
/** Sets an option that takes a number. KCL_USAGE also: the option takes words. */
int kcl_options_set_number(kcl_options *o, const char *name, double value);
/** Sets options from a text such as "solver=cg precond=amg tol=1e-10 mixed": terms separated by blanks or line ends; # begins a
 * comment, up to the end of the line. KCL_USAGE: see kcl_options_set; the message begins with line and column of the term,
 * "options:1:11: ...". */
int kcl_options_parse(kcl_options *o, const char *text);
/** Sets options from a text file in the form of kcl_options_parse, usually one option per line. KCL_INPUT: it cannot be read,
 * is not text, or has a faulty term; the message begins with file, line and column. */
int kcl_options_read(kcl_options *o, const char *path);
/** Sets options from an environment variable in the form of kcl_options_parse; NULL: KRYLOCL_SOLVE. A variable that is not set
 * changes nothing. No other function reads this variable. KCL_USAGE: see kcl_options_parse; the message begins with its name. */
int kcl_options_read_variable(kcl_options *o, const char *variable);
/** The value of an option as text for kcl_options_set: "default" if it was not set; "" if there is no such option. Valid until the
 * thread's next call. */
const char *kcl_options_get(const kcl_options *o, const char *name);

/** @} */
/** @defgroup contexts Contexts
 * @{ */

/** A context: a device, and what was compiled for it. */
typedef struct kcl_context kcl_context;

/** The largest number of threads. */
enum { KCL_MAX_THREADS = 4096 };

/** Makes a context.
 *
 * device: "cpu" (the native executor), "opencl" (the first OpenCL device, a GPU before a CPU), "gpu", "gpu:N" (GPU number N,
 * from 0), "P:D" (platform and device number), a part of a device's name, or "auto" (a GPU if there is one, else cpu). NULL: the
 * environment variable KRYLOCL_DEVICE, or "auto" if it is not set; then the device is chosen when it is first needed.
 *
 * threads: of the native executor and of all that the library computes on the CPU for the calling thread. 0: as many processors as this
 * process may use (affinity mask, quota of control groups), or OMP_NUM_THREADS. The number has no influence on results.
 *
 * KCL_DEVICE: no device matches (the message lists them). KCL_USAGE: threads is negative or above KCL_MAX_THREADS. */
int kcl_context_create(const char *device, int threads, kcl_context **out);
/** Makes a context in the caller's cl_context, on its cl_device_id, with an in-order cl_command_queue of the caller's: products and
 * solves are enqueued to it. The library keeps references to all three. queue NULL: the library makes one. With a queue context and
 * device may be NULL: those of the queue.
 *
 * KCL_USAGE: the device or the queue is not of that context, or the queue is out of order. KCL_DEVICE: a driver error, or a build without
 * OpenCL. */
int kcl_context_create_opencl(void *context, void *device, void *queue, kcl_context **out);
/** Gives a context back. It is freed with the last object that was made with it. */
void kcl_context_free(kcl_context **c);
/** The cl_context, cl_device_id and cl_command_queue of a context, valid as long as it; any pointer may be NULL. KCL_USAGE: the
 * device is the native executor. */
int kcl_context_opencl(kcl_context *c, void **context, void **device, void **queue);
/** A property as a number: "threads", "memory" (of the device), "units" (compute units), "double" (1: double precision),
 * "max_restart" (longest cycle of gmres: KCL_MAX_RESTART, on OpenCL devices 50), "rank" and "ranks" (0 and 1 but on several ranks), "stream_rate" (bytes per second of z = a x + y, measured if need be),
 * "programs_compiled" and "programs_cached" (OpenCL programs of this context that the driver compiled, and that came from the user's
 * cache folder), "program_bytes" (of binaries written to that folder). KCL_USAGE: no such name. */
int kcl_context_number(kcl_context *c, const char *name, double *out);
/** A property as text: "device" (its name), "kind" ("gpu", "cpu", "accelerator" or "native"), "platform", "driver", "version"; "" if
 * there is no such name. Valid as long as the context. */
const char *kcl_context_text(kcl_context *c, const char *name);

/** A step that may take seconds and cannot report progress while it runs. */
typedef struct kcl_activity {
  const char *what; /**< "compiling kernels", "factorising"; NULL: the step has ended */
  int part;         /**< part of parts, from 1; 0: the step has one */
  int parts;        /**< number of parts, as far as known */
  double flops;     /**< predicted operations; 0: not known */
} kcl_activity;
/** Sets a function that is called before such a step and after it. NULL: none. */
int kcl_context_watch(kcl_context *c, void (*callback)(void *user, const kcl_activity *a),
                      void *user);
/** Whether solvers that are set up from now on give the same bits of x on every device, natively and on OpenCL, on any number of
 * threads and of ranks (initially not). Dots are sums of one fixed shape, rows are summed in one order, products are fused with
 * additions everywhere, and quotients and roots are correctly rounded; the matrix is stored as csr-scalar, and no choice depends
 * on a time. It costs speed (docs/reliability.md). b and x are to be on the host. On ranks: the same on all; rows are divided
 * between blocks alone. KCL_DEVICE: this build has no fused multiply-add.
 *
 * KCL_USAGE at the set-up: another format, preconditioners but jacobi, lsqr, cgls, "direct", mixed precision, a matrix that is not
 * square, functions in place of matrices, native ranks beside OpenCL ones, more ranks than blocks, rows of ranks that begin within
 * a block. KCL_DEVICE at the set-up: a device that does not round as IEEE 754 asks, which the message names. */
int kcl_context_set_reproducible(kcl_context *c, int on);

/** @} */
/** @defgroup matrices Matrices and vectors
 * @{ */

/** Symmetry of a matrix, as in the Matrix Market format. */
typedef enum kcl_symmetry {
  KCL_GENERAL,   /**< none, or not known */
  KCL_SYMMETRIC, /**< A = A^T */
  KCL_SKEW,      /**< A = -A^T */
  KCL_HERMITIAN  /**< A = A^H */
} kcl_symmetry;

/** How the arrays of kcl_entries place the entries of a matrix. */
enum {
  KCL_CSR = 1, /**< row: [rows + 1] starts of rows; col: [nnz] */
  KCL_CSC = 2, /**< row: [nnz]; col: [cols + 1] starts of columns */
  KCL_COO = 3  /**< row: [nnz]; col: [nnz] */
};
/** The half of a symmetric matrix, its diagonal included. */
enum {
  KCL_LOWER = 1, /**< on and below the diagonal */
  KCL_UPPER = 2  /**< on and above the diagonal */
};

/** A matrix in the caller's arrays: compressed rows or columns or coordinates, in any order, with duplicates or not, whole
 * or half, with indices of 32 or 64 bits that count from 0 or from 1. Integers have a fixed size, so that other languages
 * can fill it. A field of zero is invalid, or has the meaning that it states. */
typedef struct kcl_entries {
  size_t size;      /**< sizeof(kcl_entries) */
  int64_t rows;     /**< number of rows */
  int64_t cols;     /**< number of columns */
  int64_t nnz;      /**< number of entries in the arrays */
  const void *row;  /**< starts of rows in col and val, or row indices: see layout */
  const void *col;  /**< column indices, or starts of columns in row and val: see layout */
  const void *val;  /**< [nnz] values of type `type`; of blocks: see `block` */
  int32_t layout;   /**< KCL_CSR, KCL_CSC or KCL_COO */
  int32_t row_bits; /**< 32 or 64: signed integers of `row` */
  int32_t col_bits; /**< 32 or 64: signed integers of `col` */
  int32_t base;     /**< 0 or 1: the first index, and the first start */
  int32_t type;     /**< letter of the scalar type: 's', 'd', 'c' or 'z' */
  int32_t symmetry; /**< a kcl_symmetry, which set-up compares with the entries; 0: general */
  int32_t
      half; /**< KCL_LOWER or KCL_UPPER: the other half follows from `symmetry`; 0: all entries are there */
  int32_t borrow; /**< 1: the arrays are used in place: see kcl_matrix_create */
  /** Above 1: entries are dense blocks of block by block numbers. rows and cols are multiples of it; nnz, row and col are of blocks
   * (starts: of rows or columns of blocks); val is [nnz, block, block], each block in row-major order; half is 0. 0 or 1:
   * entries are numbers. */
  int32_t block;
} kcl_entries;

/** Where the numbers of kcl_vectors are. */
enum {
  KCL_HOST,  /**< in an array */
  KCL_OPENCL /**< in an OpenCL buffer (cl_mem) of the context's cl_context */
};

/** Columns of numbers in the caller's memory, as vectors go to and from solves, products and callbacks. Number i of column j is
 * element offset + i inc + j ld. Zero has the meaning that each field states; size and data are needed.
 *
 * KCL_USAGE, with the field in the message: a negative number; rows that are not the matrix's; numbers of columns that differ;
 * columns that overlap each other or those of the other vector; more than memory can hold; another type (the caller converts);
 * KCL_OPENCL on the native executor; a cl_mem that is no buffer, of another cl_context, too small, or that
 * kernels may not read or write as needed (CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY). On several ranks data and cols alone may be set: columns are arrays without gaps. */
typedef struct kcl_vectors {
  size_t size;    /**< sizeof(kcl_vectors) */
  void *data;     /**< the array, or the cl_mem */
  int64_t offset; /**< elements of data before the first number */
  int64_t rows;   /**< numbers per column; 0: as many as the matrix needs */
  int64_t cols;   /**< columns; 0: 1 */
  int64_t ld;     /**< elements from one column to the next; 0: rows * inc */
  int64_t
      inc; /**< elements from one number of a column to the next; 0: 1. [rows, cols] in row-major order has
                       ld 1 and inc cols */
  int32_t type;  /**< letter of the scalar type: 's', 'd', 'c' or 'z'; 0: the matrix's */
  int32_t place; /**< KCL_HOST or KCL_OPENCL */
} kcl_vectors;

/** y = A x, or y = A^H x if `adjoint` is not 0, computed by the caller: a matrix without entries, or a preconditioner z = M^-1 r. Both
 * vectors have all fields set and are on the place that the object was created for; user: as given there. On OpenCL `queue` is the
 * cl_command_queue, in order, to which the function enqueues its work; it need not wait. It is called by the thread that called the
 * library and may not use the context (KCL_BUSY). Not 0: the call that needed it fails with this status, or with KCL_USAGE if
 * it is none. */
typedef int (*kcl_apply_function)(void *user, int adjoint, const kcl_vectors *x, kcl_vectors *y,
                                  void *queue);

/** Declared properties of a matrix without entries; bits. They are not checked. */
enum {
  KCL_SHELL_HERMITIAN = 1, /**< A = A^H */
  KCL_SHELL_POSITIVE = 2,  /**< and positive definite */
  /** the function computes A^H x, too; of a Hermitian A that is not needed */
  KCL_SHELL_ADJOINT = 4
};

/** A matrix: entries on the host, and what products with it need on the device. */
typedef struct kcl_matrix kcl_matrix;

/** Makes a matrix from the caller's arrays, which are copied: columns ascend, duplicates are summed in their order (in double),
 * halves are expanded. Then the arrays may be freed or changed.
 *
 * With entries->borrow the arrays are used in place, where they are in the form of the library: layout KCL_CSR, row_bits 64, col_bits 32, base 0,
 * columns ascending, no duplicates, no half, no blocks. They must stay alive and unchanged while the matrix or anything made from it is
 * used: a solve compares checksums before it certifies an answer (KCL_CHANGED).
 *
 * KCL_USAGE: an invalid field; starts that do not ascend; an index outside the matrix, or outside the half that is given; a half of
 * a general or a rectangular matrix; a symmetry that the entries do not have; borrow in another form. KCL_INPUT: a value, or the
 * sum of duplicates, is not finite. The message names the entry. KCL_MEMORY: out of memory; 16 to 24 bytes per entry are needed
 * beside the matrix until the function returns. */
int kcl_matrix_create(kcl_context *c, const kcl_entries *entries, kcl_matrix **out);
/** Makes a matrix without entries: y = A x, and y = A^H x with KCL_SHELL_ADJOINT, is computed by the caller's function, of one column in `type`
 * (a letter), on this place (KCL_HOST, KCL_OPENCL). user stays the caller's. properties: KCL_SHELL_... bits. On an OpenCL device
 * KCL_HOST costs two transfers per product.
 *
 * A solver of it chooses the method by the properties, has no preconditioner but one that is given, does not scale, and certifies by
 * products in working precision; backward errors are -1. What needs entries is KCL_USAGE: kcl_matrix_update, kcl_matrix_number,
 * kcl_precond_create, kcl_solver_update, the options mixed and format.
 *
 * KCL_USAGE: apply is NULL, a negative size, KCL_OPENCL on the native executor. */
int kcl_matrix_create_shell(kcl_context *c, int64_t rows, int64_t cols, int type,
                            kcl_apply_function apply, void *user, int place, unsigned properties,
                            kcl_matrix **out);
/** Gives a matrix new values in its pattern. entries: as at creation, with other values; NULL: borrowed arrays were
 * written to. Solvers go on with the values that they were set up with until kcl_solver_update. Fails as
 * kcl_matrix_create; KCL_USAGE: another pattern, type or symmetry. After a failure A is as it was. */
int kcl_matrix_update(kcl_matrix *A, const kcl_entries *entries);
/** For the preconditioner sa: real vectors that A nearly annihilates, such as rigid body modes: 1 to 12 columns of type 'd' with a
 * number per row, on the host. They are copied. NULL: a constant for each unknown of a node, the default. */
int kcl_matrix_set_near_null(kcl_matrix *A, const kcl_vectors *modes);
/** Sets these vectors to rigid body modes, computed from coordinates: a row per node, 2 or 3 columns, of type 'd', on the host. A has 2 or 3
 * rows per node, unknown c of node i in row 2 i + c or 3 i + c. */
int kcl_matrix_set_coordinates(kcl_matrix *A, const kcl_vectors *nodes);
/** A property by its name: a number of kcl_stats (krylocl/explain.h), such as "nnz", "row_max", "bandwidth" or "hermitian" (1: it is);
 * computed when it is first asked for. KCL_USAGE: no such name. */
int kcl_matrix_number(kcl_matrix *A, const char *name, double *out);
/** Chooses a format for products, converts and uploads, compiles; else the first kcl_matrix_apply does it by default. Of the options
 * format, precision and nrhs are used; o may be NULL. adjoint: 1: products with A^H, too. A solver of A shares what is
 * prepared in its format and precision. Of a function the kernels that scale and add are compiled; options other than the defaults are
 * KCL_USAGE, and so is adjoint where A^H is not declared. KCL_REFUSED: the format refuses A. */
int kcl_matrix_prepare(kcl_matrix *A, const kcl_options *o, int adjoint);
/** y = alpha A x + beta y, or with A^H if adjoint is 1. alpha, beta: one number of A's type; NULL: 1 and 0. What is multiplied
 * by zero is not read. With host vectors it returns when y is complete; with cl_mem it is enqueued, and the buffers must live until
 * the queue has come to it. x and y do not overlap. A function is called once per column; it has A^H if it is declared Hermitian
 * or with KCL_SHELL_ADJOINT. KCL_USAGE: an argument that does not fit. KCL_DEVICE: a driver error. */
int kcl_matrix_apply(kcl_matrix *A, int adjoint, const void *alpha, const kcl_vectors *x,
                     const void *beta, kcl_vectors *y);
/** "format" of its products, "reason" for that, "kernel"; "" before they are prepared and for other names. Valid until the next
 * kcl_matrix_prepare or kcl_matrix_update. */
const char *kcl_matrix_text(const kcl_matrix *A, const char *name);
/** Gives a matrix back. It is freed with the last object that was made from it. */
void kcl_matrix_free(kcl_matrix **A);

/** @} */
/** @defgroup preconds Preconditioners
 * @{ */

/** A preconditioner: M, close to a matrix, and easy to solve with. Solvers share it, and z = M^-1 r can be computed alone. */
typedef struct kcl_precond kcl_precond;

/** Sets up a preconditioner for A, square, by the options precond (with its parameters) and precision, and A's near-null vectors. The
 * option tol: the least of the solves that will use it. precond "auto": what would suit A and the option solver; "none" gives M = I. Rows are not
 * scaled. Where M is not Hermitian M^-H is set up beside M^-1, if there is one. o NULL: the defaults.
 *
 * KCL_USAGE, KCL_INPUT, KCL_DEVICE, KCL_REFUSED: as kcl_solver_create. */
int kcl_precond_create(kcl_matrix *A, const kcl_options *o, kcl_precond **out);
/** Declared properties of a preconditioner of the caller's; bits. They are not checked. */
enum {
  KCL_PRECOND_HERMITIAN = 1, /**< M = M^H, positive definite as cg and minres need it */
  /** the function computes M^-H r, too; of a Hermitian M that is not needed */
  KCL_PRECOND_ADJOINT = 2,
  /** M may differ from one application to the next, such as an inner solve: for the methods fcg (M Hermitian, too) and fgmres
   * alone, one of which "auto" takes */
  KCL_PRECOND_VARIES = 4
};
/** A preconditioner of the caller's: apply(user, adjoint, r, z, queue) computes z = M^-1 r of one column in `type` (a letter), on this place
 * (KCL_HOST, KCL_OPENCL), in the thread that called the library, once per application. user stays the caller's, and lives as long as M.
 * The result of the function may change between solves. It does not know of a solver's matrix, which may have any entries.
 *
 * KCL_USAGE: apply is NULL, no such property, KCL_OPENCL on the native executor. KCL_INPUT: no rows. */
int kcl_precond_create_shell(kcl_context *c, int64_t rows, int type, kcl_apply_function apply,
                             void *user, int place, unsigned properties, kcl_precond **out);
/** z = M^-1 r, or M^-H r where `adjoint` is not 0, for each column. Both are on the same place, of M's rows, with as many columns, real
 * or complex as M; they may be the same vectors. type 0: the precision of M. In buffers it is enqueued only, as kcl_matrix_apply. KCL_USAGE: vectors that do not
 * fit; M^-H, where there is none: multigrid of a matrix that is not Hermitian. */
int kcl_precond_apply(kcl_precond *M, int adjoint, const kcl_vectors *r, kcl_vectors *z);
/** Sets M up for the values that A has now, in the pattern of the matrix that it was set up for, with the parts that remain valid. Solvers that use
 * M go on with what it was until their next kcl_solver_update. After a failure M is as it was. KCL_USAGE: another pattern or
 * type, or values that M does not suit; M is a function of the caller's. */
int kcl_precond_update(kcl_precond *M, kcl_matrix *A);
/** Gives a preconditioner back. Solvers that use it go on. */
void kcl_precond_free(kcl_precond **M);

/** @} */
/** @defgroup solvers Solvers
 * @{ */

/** Why a solve ended. */
typedef enum kcl_reason {
  KCL_CONVERGED,       /**< the stopping criterion holds for the recomputed residual */
  KCL_ITERATION_LIMIT, /**< max_iter iterations were made */
  KCL_INDEFINITE,      /**< p^H A p <= 0: A (or M) is not Hermitian positive definite */
  KCL_BREAKDOWN_RHO,   /**< the residual is orthogonal to the shadow residual */
  KCL_BREAKDOWN_SIGMA, /**< a search direction is A-orthogonal to its shadow */
  KCL_BREAKDOWN_OMEGA, /**< a minimising step of length zero: A r is orthogonal to r */
  KCL_NOT_FINITE,      /**< an infinity or NaN appeared */
  KCL_STAGNATED,       /**< the true residual stopped falling: attainable accuracy reached */
  KCL_INTERRUPTED,     /**< the progress callback or kcl_solver_stop asked to stop */
  KCL_DIVERGED,        /**< the residual grew to 1e10 times the first, or |b| */
  KCL_LEAST_SQUARES,   /**< x minimises |b - A x|, which does not meet the stopping criterion */
  KCL_DEVICE_LOST /**< the device failed or did not answer; x is the best that had been read back */
} kcl_reason;

/** A phrase such as "matrix is not positive definite". */
const char *kcl_reason_text(int reason);

/** State of a running solve, for the progress callback. */
typedef struct kcl_progress {
  int64_t iteration;        /**< iterations so far */
  int64_t max_iter;         /**< iteration limit */
  double relative_residual; /**< |r| / |b| by the recurrence; the largest of the active solves */
  double target;            /**< relative residual to reach */
  double seconds;           /**< since the solve began */
  int running;              /**< right-hand sides that still iterate */
  /** With kcl_call.every: x [cols] at this iteration, of A's type, on the host, valid until the callback returns; otherwise NULL. */
  const void *x;
} kcl_progress;

/** Limits. */
enum {
  KCL_MAX_NRHS = 8, /**< right-hand sides that iterate at once */
  /** cycle length of a restarted method; a device may have less: number "max_restart" of its context */
  KCL_MAX_RESTART = 1000,
  KCL_MAX_ASYMMETRY = 64 /**< largest kcl_stats.asymmetry that counts as rounding */
};

/** A matrix on the device, with its method, preconditioner and compiled kernels. */
typedef struct kcl_solver kcl_solver;

/** Sets up a solver: chooses method and format, converts and uploads the matrix, compiles the kernels. A must be square, except for
 * least-squares methods (cgls, lsqr). o may be NULL: the defaults.
 *
 * M: a preconditioner that is there: of A, of earlier values, or of any matrix of as many rows; the option precond is ignored, and A is not
 * scaled. "auto" chooses among the methods that M suits: not Hermitian, no cg; nothing is remembered of these solves.
 * NULL: the preconditioner that the options name.
 *
 * KCL_USAGE: an unknown name, a method that does not fit A (cg and a matrix that is not Hermitian) or M; M is of another size,
 * precision or context, or the option mixed is set beside it. KCL_INPUT: A is rectangular, empty or not finite. KCL_DEVICE: the
 * device has no double precision. KCL_REFUSED: the format refuses A. */
int kcl_solver_create(kcl_matrix *A, kcl_precond *M, const kcl_options *o, kcl_solver **out);
/** Parts of the set-up for earlier values that kcl_solver_update keeps. */
enum {
  KCL_KEEP_NOTHING, /**< a set-up anew, by the same options; A may have any pattern and type */
  KCL_KEEP_CHOICES, /**< method, format, kernels; multigrid is set up anew */
  KCL_KEEP_HIERARCHY, /**< and the interpolation of multigrid, whose coarse systems alone are computed again */
  KCL_KEEP_PRECOND /**< and the preconditioner, of earlier values, as it is */
};
/** Takes over the values of A, which has the pattern and the type of the matrix that s was set up for, such as that matrix after
 * kcl_matrix_update. keep: KCL_KEEP_...; the less the values change, the more is worth keeping. For values that change little or
 * seldom matter, the old preconditioner costs nothing and takes more iterations. It serves where A is no longer what it needs, such as
 * Hermitian for ic, too. Where rows are scaled, those of the new A are as the old ones were. A solver that shares a
 * prepared matrix (kcl_matrix_prepare) is set up anew.
 *
 * A preconditioner given to kcl_solver_create is not changed: KCL_KEEP_PRECOND leaves s with what it had, the others take what
 * kcl_precond_update has made of it since. Until the function returns, both systems need memory. After a failure s is as it was.
 *
 * KCL_USAGE: no such `keep`; another pattern or type; A is of another context. KCL_CHANGED: KCL_KEEP_PRECOND of multigrid or
 * chebyshev, which multiply by the A that they were set up for, when borrowed values have been written over. Otherwise as
 * kcl_solver_create. */
int kcl_solver_update(kcl_solver *s, kcl_matrix *A, int keep);
/** Frees a solver. */
void kcl_solver_free(kcl_solver **s);

/** The certificate that a solve makes of its answer. */
enum {
  KCL_CERTIFY_DEFAULT, /**< of arrays KCL_CERTIFY_FULL, of OpenCL buffers KCL_CERTIFY_NOTHING */
  KCL_CERTIFY_FULL, /**< residuals recomputed in double with compensated sums, and that A is what was set up, by checksums */
  KCL_CERTIFY_RESIDUALS, /**< the residuals alone: what A has become is not noticed; x_sum is 0 */
  /** Nothing on the host: converged is what the method claims, after a residual recomputed on the device in working precision. The
   * recomputed residuals and errors of the report are -1, x_sum is 0. A direct solution has its residuals. */
  KCL_CERTIFY_NOTHING
};

/** Settings of one call of kcl_solve. Zero is the default of every field but size: as at set-up. */
typedef struct kcl_call {
  size_t size;        /**< sizeof(kcl_call) */
  double tol;         /**< as the option; 0: that of the set-up */
  double atol;        /**< as the option; 0: that of the set-up */
  int64_t max_iter;   /**< as the option; 0: that of the set-up */
  int32_t zero_guess; /**< 1: the guess is 0, X is not read */
  int32_t certify;    /**< KCL_CERTIFY_DEFAULT, ... */
  /** Called from time to time, or NULL. Not 0 stops the solve: iterations already enqueued are finished, and the result is of the x after them; a compilation or a factorisation is abandoned, its thread ends with it, and exit() waits for that. */
  int (*progress)(void *user, const kcl_progress *p);
  void *user; /**< first argument of progress */
  /** Not 0: progress is called after each `every` iterations and after the last one, with x, which is fetched for it. Methods that work
   * in cycles (gmres, idr) have an x at the end of a cycle alone. Formats are not timed during such a solve. KCL_USAGE: it is negative; progress
   * is NULL; several right-hand sides at once, mixed precision, several ranks. */
  int64_t every;
} kcl_call;

/** Result of a solve, for one right-hand side. More is in kcl_solver_number. */
typedef struct kcl_result {
  size_t size;        /**< sizeof(kcl_result), set by the caller; of several also their distance */
  int64_t iterations; /**< iterations */
  int32_t reason;     /**< a kcl_reason: why it ended */
  int32_t converged;  /**< 1: reason is KCL_CONVERGED */
  double relative_residual; /**< |b - A x| / |b| by the method's recurrence */
  double
      true_relative_residual; /**< |b - A x| / |b|, recomputed on the host; -1 without a certificate */
  double
      backward_error; /**< |b - A x|_inf / (|A|_inf |x|_inf + |b|_inf), Rigal & Gaches 1967; -1 without a certificate */
  double
      seconds; /**< transfers, iterations and certificate; an equal share for solves side by side */
} kcl_result;

/** Solves A x = b for the columns of b, the option nrhs of them at once. b has A's rows, x A's columns, both on the same place and
 * with as many columns; x holds the initial guesses on entry and finite numbers on return. Columns without gaps between their numbers (inc 1)
 * are used in place; others are copied. The solves are independent: convergence or breakdown of one does not affect the
 * others. call: settings of this call, or NULL. results: one per column, of which the first has its size set, or NULL.
 *
 * KCL_OPENCL: the buffers are used by the context's queue (kcl_context_opencl), and all is done on return. No vector passes
 * through the host, unless its numbers are needed there: for a certificate that is asked for; where the solve fails and the nearest
 * of several x, or a direct solution, is to be found; where A is scaled or has columns of zeros; and where the device has no double
 * precision and A has. Then b and x are downloaded once, and x is written back. Not on several ranks.
 *
 * If any number of b is not finite, all are refused (KCL_INPUT) before the first is solved. KCL_USAGE: an argument that does not
 * fit. KCL_CHANGED: A or x changed in memory meanwhile. */
int kcl_solve(kcl_solver *s, const kcl_vectors *b, kcl_vectors *x, const kcl_call *call,
              kcl_result *results);
/** kcl_solve for one column in arrays: b [rows] and x [cols] of A's type. result may be NULL. */
int kcl_solve_array(kcl_solver *s, const void *b, void *x, kcl_result *result);
/** Ends the solve that runs, as a progress callback that asks to stop: its reason is KCL_INTERRUPTED. Any thread may call it, and a signal
 * handler. If no solve of the solver's context runs, nothing happens; s must not be freed meanwhile. */
void kcl_solver_stop(kcl_solver *s);
/** Has the solves of s write checkpoints, from which kcl_solver_resume goes on after the process, the machine or the time has come to
 * its end: every so many `seconds`, when kcl_solver_save asks for one, and when a solve is stopped (kcl_solver_stop, a progress callback).
 * 0: every minute, and rarely enough that they take at most a hundredth of the time. A checkpoint is written beside `path`,
 * synchronised and renamed; the one before becomes PATH.1. One that cannot be written ends no solve: text "changes". It has the vectors that the
 * method carries from one iteration to the next, at least x: number "bytes_checkpoint". path NULL: no more checkpoints.
 *
 * KCL_USAGE: seconds is negative or not finite; path is not a regular file. KCL_INPUT: it cannot be written. A later solve is refused
 * (KCL_USAGE) with more right-hand sides than the option nrhs, with the option mixed, and where rows have moved to other ranks
 * (partition metis).
 *
 * On several ranks all call it. There is one file for all, which rank 0 writes: the path of the others says only that there is
 * one. A rank that asks, or is stopped, is enough. */
int kcl_solver_checkpoint(kcl_solver *s, const char *path, double seconds);
/** Has the solve that runs write a checkpoint after the next iterations. While none runs, the next solve
 * does. Any thread may call it, and a signal handler; on several ranks one rank is enough. */
void kcl_solver_save(kcl_solver *s);
/** Has the next solve of s go on from a checkpoint, of the same A and b; the guess is not used. By the same version of the library, with
 * the same options, on the same device and format it goes on as if it had not been interrupted: x has the same bits, unless "auto" exchanges the
 * format or the method by their times. Tolerances and limits may be others. Method, preconditioner and format are those of the checkpoint, where the options say "auto". Otherwise it
 * continues from x; text "changes" says what differs. A preconditioner given to kcl_solver_create is taken to be the same.
 *
 * If `path` is missing or damaged PATH.1 is used. KCL_INPUT: neither can be read, is a checkpoint and is whole; it is of another matrix.
 * The solve returns KCL_INPUT if it is of another b or of a system that is scaled otherwise.
 *
 * On several ranks all call it, and rank 0 reads the file. By as many ranks with the same rows the solve goes on as if it had not
 * been interrupted; by another number, or by one process, it continues from x. */
int kcl_solver_resume(kcl_solver *s, const char *path);
/** A number by its name: a field of kcl_setup_info (krylocl/explain.h), such as "bytes_stored", or of kcl_report of the last solve, such
 * as "condition_estimate"; "condition_estimate[2]" is of column 2, from 0. KCL_USAGE: no such name or column. */
int kcl_solver_number(kcl_solver *s, const char *name, double *out);
/** A text by its name, as above: "solver", "precond", "format", "format_reason", "changes"; "" if there is none. Valid until the next solve
 * or update. */
const char *kcl_solver_text(kcl_solver *s, const char *name);
/** The relative residual after each iteration of a column of the last solve, the initial one first: *values [*count], valid until the
 * next solve. KCL_USAGE: no such column. */
int kcl_solver_history(kcl_solver *s, int64_t column, const double **values, int64_t *count);
/** All numbers and texts of the set-up and of the last solve as JSON, to be freed with kcl_free: {"schema": 1, "setup": {...},
 * "columns": [{...}, ...]}. */
int kcl_solver_describe(kcl_solver *s, char **json);

/** @} */

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif
#endif
