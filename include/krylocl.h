/** @file
 * krylocl: Krylov methods on OpenCL. The public interface of the library.
 *
 * Solves A x = b for a sparse A on any OpenCL device or on the CPU, and measures how good x is.
 *
 *     kcl *ctx;  kcl_csr *A;  kcl_solver *s;  kcl_report report;
 *     kcl_create(&ctx);
 *     kcl_csr_read(ctx, "A.mtx", &A);         or a kcl_csr filled with your own arrays
 *     kcl_setup(ctx, A, &options, &s);        chooses the format, converts, uploads, compiles
 *     kcl_solve(s, b, x, &report);            x: initial guess on entry, solution on return
 *
 * Products alone, y = alpha A x + beta y, are made by an operator: kcl_operator_create.
 *
 * Conventions
 *
 * - A function that can fail returns a kcl_status as int, 0 on success, and leaves a message in
 *   kcl_error(ctx). A solve that does not converge has not failed: see kcl_report.reason.
 * - Any thread may use a context and what was made with it: one at a time is inside, the others wait. A
 *   callback may not use the context of the call that it is called by: KCL_BUSY. Different contexts are independent. After
 *   fork() the child makes contexts of its own; one of the native executor may be used on in the child.
 * - A NULL pointer where an object is needed gives KCL_USAGE, and the message names the argument
 *   (without a context or solver there is no message); functions without a status return 0, "" or
 *   nothing. An unknown value of an enum gives KCL_USAGE too; its name is "unknown".
 * - Results are returned through the last pointer argument. After a failure they are NULL, and
 *   reports are zero.
 * - Functions named _free and _destroy take the address of a pointer, accept NULL in it and set it
 *   to NULL.
 * - Arrays are written with their shape, slowest index first: [cols, rows] is column-major. Complex
 *   numbers are pairs (re, im).
 * - Sizes are in bytes, times in seconds, rates in bytes per second.
 * - |v| is the 2-norm, |v|_inf the largest modulus, |A|_F the Frobenius norm, A^H the conjugate
 *   transpose.
 */
#ifndef KRYLOCL_H
#define KRYLOCL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The library is compiled with -fvisibility=hidden: it exports what this header declares. */
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/** Version of this header, "major.minor.patch". */
#define KCL_VERSION "0.1.0"

/** Version of the library that is linked: KCL_VERSION as it was when the library was compiled. */
const char *kcl_version(void);

/** @defgroup basics Status codes and scalar types
 * @{ */

/** What a function returns. The values are also exit codes of the program krylocl. */
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

/** Scalar types. */
typedef enum kcl_type {
  KCL_S, /**< float */
  KCL_D, /**< double */
  KCL_C, /**< complex float */
  KCL_Z  /**< complex double */
} kcl_type;

/** Size of one element: 4, 8, 8 or 16 bytes. */
size_t kcl_type_size(kcl_type t);
/** True for KCL_C and KCL_Z. */
bool kcl_type_complex(kcl_type t);
/** The character of the type: 's', 'd', 'c' or 'z'. */
char kcl_type_letter(kcl_type t);

/** @} */
/** @defgroup context Contexts and devices
 * @{ */

/** A context: the selected device and the tunables. */
typedef struct kcl kcl;

/** Creates a context without a device. *ctx is NULL only if memory is exhausted (KCL_MEMORY). */
int kcl_create(kcl **ctx);
/** Gives a context back. Solvers and operators made with it stay valid; it is freed with the last of them. */
void kcl_destroy(kcl **ctx);
/** Message of the calling thread's last failure, if that was with this context, else "": one sentence or a few lines, never NULL.
 * Owned by the thread, valid until its next failure. */
const char *kcl_error(const kcl *ctx);

/** A step that may take seconds and cannot report progress while it runs. */
typedef struct kcl_activity {
  const char *what; /**< "compiling kernels", "factorising"; NULL: the step has ended */
  int part;         /**< part of parts, from 1; 0: the step has one */
  int parts;        /**< number of parts, as far as known */
  double flops;     /**< predicted operations; 0: not known */
} kcl_activity;
/** Sets a function that is called before such a step and after it, by the thread that uses the
 * context. NULL: none. In it, functions that use the context return KCL_BUSY. */
void kcl_watch(kcl *ctx, void (*callback)(void *user, const kcl_activity *a), void *user);

/** The largest number of threads. */
enum { KCL_MAX_THREADS = 4096 };
/** Sets the number of threads of all that the library computes on the CPU for the calling thread: reading, set-up,
 * the native executor of devices that are selected later, certificates, writing. It has no influence on results. 0,
 * the default: as many processors as this process may use (affinity mask, quota of control groups), or
 * OMP_NUM_THREADS. KCL_USAGE: negative or above KCL_MAX_THREADS. */
int kcl_set_threads(int threads);
/** The number of threads of the calling thread, at least 1. */
int kcl_threads(void);

/** Selects the device.
 *
 * device: "auto" (a GPU if there is one, else cpu), "cpu" (the native executor), "opencl"
 * (the first OpenCL device, a GPU before a CPU), "gpu", "gpu:N" (GPU number N, from 0), "P:D" (platform and device number), or a
 * part of a device's name. NULL: the environment variable KRYLOCL_DEVICE, or "auto" if it is not
 * set.
 *
 * threads: of the native executor; not 0: kcl_set_threads(threads) is called too. 0: kcl_threads().
 *
 * kcl_setup selects NULL if no device was selected. A second call replaces the device. KCL_USAGE: a
 * solver or an operator still uses the present one. KCL_DEVICE: no device matches (the message lists them). */
int kcl_select(kcl *ctx, const char *device, int threads);

/** As kcl_select, with a command queue of the caller's: a cl_command_queue, in order. Products and
 * solves are enqueued to it, on its device and in its context. The library keeps a reference to it
 * until another device is selected or the context is destroyed.
 *
 * KCL_USAGE: the queue is out of order. KCL_DEVICE: a driver error, or a build without OpenCL. */
int kcl_select_queue(kcl *ctx, void *queue);
/** The cl_context and the cl_command_queue of the selected device, for buffers to give to
 * kcl_operator_apply. They are the library's: valid until another device is selected or the context
 * is destroyed. KCL_USAGE: the selected device is the native executor. */
int kcl_opencl_handles(kcl *ctx, void **context, void **queue);

/** A device. */
typedef struct kcl_device {
  int platform;            /**< number of the OpenCL platform; -1: the native executor */
  int device;              /**< number of the device in its platform; -1: the native executor */
  char platform_name[128]; /**< name of the platform */
  char name[128];          /**< name of the device */
  char version[128];       /**< version of OpenCL that the device supports */
  char driver[128];        /**< version of the driver */
  const char *kind;        /**< "gpu", "cpu", "accelerator" or "native" */
  int compute_units;       /**< compute units; threads of the native executor */
  uint64_t memory;         /**< memory of the device, bytes */
  uint64_t max_alloc;      /**< largest buffer, bytes; 0: not limited */
  bool has_double;         /**< double precision is supported */
  char vendor[128];        /**< vendor of the device; empty: the native executor, as what follows */
  char c_version[64];      /**< version of OpenCL C */
  int clock_mhz;           /**< highest clock rate, MHz; 0: not known */
  int max_group;           /**< work-items of a work-group, at most */
  uint64_t local_memory;   /**< local memory per work-group, bytes */
  uint64_t cache;          /**< cache of global memory, bytes; 0: none, or not known */
  bool has_images;         /**< images are supported */
} kcl_device;

/** The selected device; selects NULL if there is none. */
int kcl_device_current(kcl *ctx, kcl_device *out);
/** All devices, the native executor first. *list is [*count], to be freed with free(). */
int kcl_device_list(kcl *ctx, kcl_device **list, int *count);
/** The extensions of an OpenCL device, separated by blanks, malloc'd: free it with free(). Empty for the native
 * executor. KCL_DEVICE: d is no device of this machine. */
int kcl_device_extensions(kcl *ctx, const kcl_device *d, char **out);
/** The properties of a device that OpenCL offers, as lines of a name and its value: "max_work_item_sizes 1024 1024 64". The names are
 * those of clGetDeviceInfo. malloc'd and empty as above. KCL_DEVICE: d is no device of this machine. */
int kcl_device_properties(kcl *ctx, const kcl_device *d, char **out);
/** Rates of the triad z = a x + y on a device (McCalpin 1995, STREAM). One measurement is the median of several
 * passes over vectors of at least four times the last-level cache, as far as a quarter of the memory allows. The last five
 * measurements are on record in the user's cache folder, by device, driver and threads. */
typedef struct kcl_stream {
  double rate; /**< bytes/s: the median of the measurements on record */
  double low;  /**< bytes/s of the slowest pass on record */
  double high; /**< bytes/s of the fastest pass on record */
  double
      cache_rate; /**< bytes/s with vectors that fit into the last-level cache; 0: not measured, as on GPUs */
  int64_t cache_bytes;  /**< the last-level cache, of all threads; 0: not known */
  int64_t vector_bytes; /**< each of the three vectors */
  int measurements;     /**< on record */
  int64_t date;         /**< of the newest measurement, seconds since 1970 */
} kcl_stream;
/** The rates of the selected device: those on record, else measured now, which takes about a second. They are measured again, too,
 * where a solve of this context moved its data four times as fast and the record has fewer than five measurements. */
int kcl_stream_get(kcl *ctx, kcl_stream *out);
/** kcl_stream_get's rate alone. */
int kcl_stream_rate(kcl *ctx, double *bytes_per_second);
/** Measures once more and adds that to the record; *bytes_per_second is of this measurement alone. */
int kcl_stream_measure(kcl *ctx, double *bytes_per_second);

/** Commands of one kind and name on an OpenCL device, by event times (CL_PROFILING_COMMAND_START and _END). */
typedef struct kcl_profile_entry {
  char name[48];          /**< of a kernel its function; else empty */
  const char *kind;       /**< "kernel", "write", "read", "copy", "fill" or "map"; constant text */
  int64_t count;          /**< commands */
  double seconds;         /**< sum of their times on the device */
  double bytes;           /**< moved between host and device, copied or filled; 0 of kernels */
  int group;              /**< kernels: work-items per work-group; 0: the driver's choice */
  int largest_group;      /**< kernels: most work-items per work-group */
  int preferred_multiple; /**< kernels: preferred multiple of the work-group size */
  uint64_t private_bytes; /**< kernels: private memory per work-item, as the driver says */
  uint64_t local_bytes;   /**< kernels: local memory per work-group */
  int registers; /**< kernels: per work-item, by the driver's build log (NVIDIA); 0: not known */
  int64_t
      spill_bytes; /**< kernels: stored and loaded by a work-item where registers do not suffice, if they are known */
  int instructions; /**< kernels: of PTX, which the driver assembles (NVIDIA); 0: not known */
} kcl_profile_entry;

/** Event times of a stretch of work. */
typedef struct kcl_profile {
  int count;                /**< number of entries */
  kcl_profile_entry *entry; /**< [count], in the order of their first command */
  double seconds;           /**< with a command or in a gap, from the first command to the last */
  double gaps;              /**< of these without any command on the device */
} kcl_profile;

/** Devices that are selected after this call record the event times of all commands. Recording costs time: not for
 * benchmarks. */
void kcl_profile_enable(kcl *ctx, bool on);
/** What was recorded since the last call, or since the device was selected. Nothing on the native executor. Waits until
 * the device is done. out->entry is to be freed with free(). */
int kcl_profile_take(kcl *ctx, kcl_profile *out);

/** Hardware counters of a stretch of work on the host's processors, sums over all threads of the process. Negative: not
 * counted, because the system or the processor has or allows no such counter. */
typedef struct kcl_counters {
  double cycles;       /**< processor cycles */
  double instructions; /**< instructions */
  double cache_misses; /**< misses of the last cache */
  double memory_bytes; /**< bytes between memory and processors, of all processes */
  bool
      memory_from_misses; /**< memory_bytes is cache_misses by the length of a line, of this process */
} kcl_counters;

/** @} */
/** @defgroup tunables Tunables
 * Integers that change the speed of an iteration on the selected device; results change by rounding
 * at most. kcl_select reads them from the file $KRYLOCL_TUNE, or else from the device's own file
 * in the user's cache folder, which `krylocl tune` writes: lines "name = value", comments after #.
 * An error in the file is KCL_INPUT with file and line.
 * @{ */

/** A tunable. */
typedef struct kcl_tunable {
  const char *name;   /**< its name, such as "sell.slice" */
  const char *help;   /**< what it is, one phrase */
  const char *format; /**< the format that it applies to; NULL: all */
  int value;          /**< as set; 0: the default */
  int default_value;  /**< the default; 0: it depends on the matrix */
  int min;            /**< smallest value; all values are powers of two */
  int max;            /**< largest value */
  bool applies;       /**< the selected device uses it */
} kcl_tunable;

/** Number of tunables. */
int kcl_tunable_count(void);
/** Tunable i, 0 <= i < kcl_tunable_count(). */
int kcl_tunable_get(kcl *ctx, int i, kcl_tunable *out);
/** Sets a tunable for the set-ups that follow; 0: the default. */
int kcl_tunable_set(kcl *ctx, const char *name, int value);
/** Writes the path of the selected device's own file to path [size]. Returns -1 if there is no
 * cache folder or the path does not fit, else 0. */
int kcl_tune_path(kcl *ctx, char *path, size_t size);
/** Sets the tunables that a file lists. */
int kcl_tune_read(kcl *ctx, const char *path);
/** Writes all tunables of the selected device to a file. remark: lines for its head, or NULL. */
int kcl_tune_write(kcl *ctx, const char *path, const char *remark);

/** @} */
/** @defgroup matrices Matrices and vectors on the host
 * @{ */

/** Symmetry of a matrix, as in the Matrix Market format. */
typedef enum kcl_symmetry {
  KCL_GENERAL,   /**< none, or not known */
  KCL_SYMMETRIC, /**< A = A^T */
  KCL_SKEW,      /**< A = -A^T */
  KCL_HERMITIAN  /**< A = A^H */
} kcl_symmetry;

/** Field of the values of a file, as in the Matrix Market format. */
typedef enum kcl_field {
  KCL_REAL,    /**< real numbers */
  KCL_INTEGER, /**< whole numbers */
  KCL_COMPLEX, /**< complex numbers */
  KCL_PATTERN  /**< no values: every entry is 1 */
} kcl_field;

/** "general", "symmetric", "skew-symmetric" or "hermitian". */
const char *kcl_symmetry_name(kcl_symmetry s);
/** "real", "integer", "complex" or "pattern". */
const char *kcl_field_name(kcl_field f);

/** A matrix in compressed sparse rows: all entries (both triangles of a symmetric matrix), no
 * duplicates, columns ascending within each row.
 *
 * May be filled with your own arrays. They are not copied where the type and the format allow it; the
 * struct itself is, and may go once a set-up has returned. kcl_setup checks the structure and the
 * declared symmetry (KCL_USAGE, with the row); other functions assume the structure. */
typedef struct kcl_csr {
  int64_t rows;          /**< number of rows */
  int64_t cols;          /**< number of columns */
  int64_t nnz;           /**< number of entries */
  int64_t *row_ptr;      /**< [rows + 1] start of each row in col and val; row_ptr[rows] = nnz */
  int32_t *col;          /**< [nnz] column indices from 0 */
  void *val;             /**< [nnz] values of type `type` */
  kcl_type type;         /**< scalar type of val */
  kcl_symmetry symmetry; /**< as far as known, else KCL_GENERAL; it is checked: KCL_USAGE where it
                            does not hold up to rounding */
  kcl_field field;       /**< field of the file */
  int64_t stored;        /**< entries in the file: before half storage is expanded and duplicates
                            are summed */
  void *mapped;          /**< private: the mapped .kcl file that holds the arrays, or NULL */
  size_t mapped_size;    /**< private: size of the mapping, bytes */
} kcl_csr;

/** Allocates a matrix with arrays for nnz entries, zeroed. At most 2^31 rows and columns. */
int kcl_csr_create(kcl *ctx, int64_t rows, int64_t cols, int64_t nnz, kcl_type type, kcl_csr **out);
/** Frees a matrix that this library allocated, with its arrays. */
void kcl_csr_free(kcl_csr **A);

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
  const void *val;  /**< [nnz] values of type `type` */
  int32_t layout;   /**< KCL_CSR, KCL_CSC or KCL_COO */
  int32_t row_bits; /**< 32 or 64: signed integers of `row` */
  int32_t col_bits; /**< 32 or 64: signed integers of `col` */
  int32_t base;     /**< 0 or 1: the first index, and the first start */
  int32_t type;     /**< letter of the scalar type: 's', 'd', 'c' or 'z' */
  int32_t symmetry; /**< a kcl_symmetry; set-up checks it, as that of kcl_csr; 0: general */
  int32_t
      half; /**< KCL_LOWER or KCL_UPPER: the other half follows from `symmetry`; 0: all entries are there */
} kcl_entries;

/** Makes a matrix from the caller's arrays, which are copied: columns ascend, duplicates are summed in their order (in double),
 * halves are expanded. The caller may free or change the arrays when the function returns. For kcl_refresh, a matrix
 * is made from the new values. Free with kcl_csr_free.
 *
 * KCL_USAGE: an invalid field; starts that do not ascend; an index outside the matrix, or outside the half that is given; a
 * half of a general or a rectangular matrix; a diagonal that contradicts the symmetry of a half. KCL_INPUT: a value, or the
 * sum of duplicates, is not finite. The message names the entry. KCL_MEMORY: out of memory; 16 to 24 bytes per entry
 * are needed beside the matrix until the function returns. */
int kcl_csr_from_entries(kcl *ctx, const kcl_entries *entries, kcl_csr **out);

/** Columns of numbers, dense and column-major: right-hand sides, initial guesses, solutions. */
typedef struct kcl_dense {
  int64_t rows;  /**< number of rows */
  int64_t cols;  /**< number of columns */
  kcl_type type; /**< KCL_D or KCL_Z */
  double *val;   /**< [cols, rows], pairs if complex */
} kcl_dense;

/** Allocates dense columns, zeroed. type: KCL_D or KCL_Z. */
int kcl_dense_create(kcl *ctx, int64_t rows, int64_t cols, kcl_type type, kcl_dense **out);
/** Frees dense columns that this library allocated. */
void kcl_dense_free(kcl_dense **B);

/** Where the numbers of kcl_vectors are. */
enum {
  KCL_HOST,  /**< in an array */
  KCL_OPENCL /**< in an OpenCL buffer (cl_mem) of the context's cl_context */
};

/** Columns of numbers in the caller's memory, as vectors go to and from solves, products and callbacks. Number i of column j is
 * element offset + i inc + j ld. Zero has the meaning that each field states; size and data are needed. */
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

/** Reads a matrix as type D, or Z if its field is complex.
 *
 * Formats: Matrix Market (coordinate or array; coordinates also without its banner), Harwell-Boeing,
 * Rutherford-Boeing, row lists and the binary .kcl, recognised by content; all but .kcl may be packed by gzip. "-" is standard
 * input. Duplicates are summed and half storage is expanded. */
int kcl_csr_read(kcl *ctx, const char *path, kcl_csr **out);
/** The number of the first row and column in coordinate files that are read from now on: 1, as in the Matrix Market
 * format, or 0. Files of other formats state it. KCL_USAGE: base is neither. */
int kcl_set_index_base(kcl *ctx, int base);
/** As kcl_csr_read, with the right-hand sides and initial guesses that the file holds: columns of
 * A's type, or NULL if it holds none. b and x0 may be NULL pointers. */
int kcl_csr_read_system(kcl *ctx, const char *path, kcl_csr **A, kcl_dense **b, kcl_dense **x0);
/** As kcl_csr_read_system, through a cache: the parsed file is kept as .kcl in the user's cache
 * folder ($KRYLOCL_CACHE, else $XDG_CACHE_HOME/krylocl, else ~/.cache/krylocl) under the size, time
 * and checksum of the source. */
int kcl_csr_read_cached(kcl *ctx, const char *path, kcl_csr **A, kcl_dense **b, kcl_dense **x0);
/** Why the user's cache folder is not used: it, or a file in it, belongs to another user or can be written by others, who
 * could put programs and matrices there. One sentence; NULL as long as nothing was refused in this process. */
const char *kcl_cache_refused(void);
/** Finds a matrix of the SuiteSparse collection (Davis & Hu 2011) by its name "Group/Name" and
 * writes the path of its Matrix Market file in the user's cache folder to path [size].
 *
 * fetch: download it with the program curl if it is not there; else KCL_INPUT. A right-hand side
 * that comes with the matrix is the file Name_b.mtx in the same folder. */
int kcl_collection_get(kcl *ctx, const char *group_name, bool fetch, char *path, size_t size);
/** The matrices of the collection that are in the user's cache folder: *names is text to be freed with
 * free(), a line "Group/Name" for each, sorted; "" if there are none. */
int kcl_collection_kept(kcl *ctx, char **names);
/** Writes a matrix in the format of the file name's ending: .rb, .rows, .kcl, otherwise Matrix
 * Market. All but .kcl are packed if .gz follows. Symmetric matrices are written as their lower
 * half (not in .rows and .kcl). "-" is standard output. */
int kcl_csr_write(kcl *ctx, const char *path, const kcl_csr *A);
/** As kcl_csr_write, with right-hand sides and initial guesses, which only .kcl keeps. b and x0 may
 * be NULL. */
int kcl_csr_write_system(kcl *ctx, const char *path, const kcl_csr *A, const kcl_dense *b,
                         const kcl_dense *x0);
/** Copies a matrix into another scalar type. Complex to real is KCL_USAGE. */
int kcl_csr_convert(kcl *ctx, const kcl_csr *A, kcl_type type, kcl_csr **out);
/** The conjugate transpose A^H. */
int kcl_csr_adjoint(kcl *ctx, const kcl_csr *A, kcl_csr **out);
/** y = A x, or y = b - A x if b is not NULL, on the host in double precision with compensated sums
 * (Ogita, Rump & Oishi 2005, Dot2). A may be of any type; x [cols], b and y [rows] are of type D,
 * or Z if A is complex. x NULL: all ones. Does nothing if A or y is NULL. */
void kcl_csr_product(const kcl_csr *A, const double *x, const double *b, double *y);

/** Reads dense columns: Matrix Market (array or coordinate), or plain numbers as one column;
 * recognised by content, gzip too. "-" is standard input. */
int kcl_dense_read(kcl *ctx, const char *path, kcl_dense **out);
/** Writes dense columns as a Matrix Market array, packed if the name ends in .gz. */
int kcl_dense_write(kcl *ctx, const char *path, const kcl_dense *B);
/** Writes bytes to a file that appears under its name only when it is complete, as all files that
 * this library writes: beside it first, then renamed. Devices and pipes are written in place; "-" is
 * standard output. KCL_INPUT: it cannot be written. */
int kcl_file_write(kcl *ctx, const char *path, const void *data, size_t size);
/** The file that is written as `path`, to target [size]: symbolic links are followed, also to a file that
 * does not exist yet. KCL_USAGE: too many links, or no room. */
int kcl_file_target(const char *path, char *target, size_t size);
/** Copies D columns into type Z. Z to D is KCL_USAGE. */
int kcl_dense_convert(kcl *ctx, const kcl_dense *B, kcl_type type, kcl_dense **out);

/** Generates a system. kind_size: "KIND:SIZE", such as "heatsink:40" or "poisson2d:100"; the kinds
 * are kcl_list(KCL_GENERATORS, i). b may be a NULL pointer; it receives the right-hand side of the
 * problem, or A*1 if the problem has none. */
int kcl_generate(kcl *ctx, const char *kind_size, kcl_csr **A, kcl_dense **b);

/** @} */
/** @defgroup statistics Statistics of a matrix
 * @{ */

/** Structure and values of a matrix, as the choice of methods and formats sees them.
 *
 * A slice is 32 consecutive rows. Counts of repeated rows, pairs and values stop at 65,536: 65,537
 * means more. */
typedef struct kcl_stats {
  int64_t rows;             /**< number of rows */
  int64_t cols;             /**< number of columns */
  int64_t nnz;              /**< number of entries */
  int64_t stored;           /**< entries in the file, see kcl_csr */
  int64_t row_min;          /**< entries of the shortest row */
  int64_t row_max;          /**< entries of the longest row */
  double row_mean;          /**< mean entries per row */
  double row_deviation;     /**< mean absolute deviation of the row length, percent of the mean */
  int64_t empty_rows;       /**< rows without an entry */
  int64_t explicit_zeros;   /**< entries whose value is 0 */
  int64_t zero_diagonal;    /**< rows whose diagonal entry is absent or 0 */
  int64_t diagonal_entries; /**< entries of the diagonal, explicit zeros included */
  int64_t bandwidth;        /**< max |i - j| */
  int64_t diagonals;        /**< diagonals with at least one entry */
  bool hermitian;           /**< A = A^H in values */
  bool symmetric;           /**< A = A^T in values */
  bool shifted_skew;        /**< A = c I + S with S = -S^H and c real, perhaps 0 */
  double asymmetry;         /**< max |a_ij - conj(a_ji)| relative to the largest modulus of rows
                                 i and j, in units of the rounding of A's type (2^-52, or 2^-23
                                 in float); a lower bound from 1e6 on; infinite if A is rectangular
                                 or declared skew-symmetric */
  bool positive_diagonal;   /**< every diagonal entry is real and positive */
  double diagonal_ratio;    /**< largest modulus on the diagonal by the smallest; infinite if one
                                 is 0 */
  double dominant_rows;     /**< fraction of rows with |a_ii| >= sum of the other moduli */
  double norm_inf;          /**< largest row sum of moduli */
  double row_ratio;         /**< largest modulus of the matrix by the least of the largest moduli of
                                 its rows; infinite if a row is 0 or not finite */
  int64_t sell_padded;      /**< entries of SELL: every row of a slice padded to its longest */
  int64_t sell_padded2;     /**< the same, row lengths rounded up to multiples of 2 */
  int64_t sell_padded4;     /**< the same, row lengths rounded up to multiples of 4 */
  int64_t sell_sorted_padded; /**< sell_padded after each window of 8192 rows is sorted by length */
  int64_t hyb_width;          /**< ELL width of HYB: a third of the rows are at least this long */
  int64_t hyb_overflow;       /**< entries that overflow that width */
  int64_t bcsr_blocks[9]; /**< [b]: b x b blocks with an entry, b = 2, 3, 4, 6, 8; 0: not counted */
  int64_t row_patterns;   /**< distinct rows, as sequences of (column - row, value) pairs */
  int64_t pattern_entries; /**< entries of the distinct rows */
  int64_t pattern_runs;    /**< runs of consecutive equal rows; 0 if row_patterns is 65,537 */
  int64_t distinct_pairs;  /**< distinct (column - row, value) pairs */
  int64_t distinct_values; /**< distinct values */
  bool values_fit_float;   /**< every value (both parts) is exactly a float */
  int64_t slice_span;      /**< largest difference of two column indices within a slice */
  int64_t zero_rows;       /**< rows of zeros: without an entry, or with explicit zeros alone */
  int64_t first_zero_row;  /**< the first of them, from 0; -1: none */
  int64_t zero_cols;       /**< columns of zeros, likewise */
  int64_t first_zero_col;  /**< the first of them, from 0; -1: none */
} kcl_stats;

/** Computes all statistics on the host. */
int kcl_csr_stats(kcl *ctx, const kcl_csr *A, kcl_stats *out);

/** @} */
/** @defgroup registries Names of formats, methods, preconditioners and generators
 * @{ */

/** A list of names. */
typedef enum kcl_registry {
  KCL_FORMATS,   /**< storage formats */
  KCL_SOLVERS,   /**< Krylov methods */
  KCL_PRECONDS,  /**< preconditioners */
  KCL_GENERATORS /**< generators of matrices */
} kcl_registry;

/** An entry of a list. The texts are constant. */
typedef struct kcl_entry {
  const char *name;    /**< the name that options take */
  const char *summary; /**< one line about it */
  const char
      *example; /**< of a generator: a name with its size, such as "poisson2d:300"; else NULL */
  bool study;   /**< a format that exists to repeat a published study: "auto" never takes it */
} kcl_entry;

/** Number of entries. */
int kcl_list_size(kcl_registry which);
/** Entry i, 0 <= i < kcl_list_size(which); otherwise its texts are NULL. */
kcl_entry kcl_list(kcl_registry which, int i);
/** The one of names [count] that is most like word, for messages about misspelt names; NULL if none
 * is close. */
const char *kcl_nearest(const char *word, const char *const *names, int count);
/** The method that solver "auto" begins with, chosen by shape, symmetry and sign of the
 * diagonal. */
const char *kcl_auto_solver(const kcl_stats *s);

/** Predicted cost of a format for one matrix on the selected device. */
typedef struct kcl_cost {
  double bytes_stored;  /**< size of the matrix on the device, bytes */
  double bytes_product; /**< bytes moved by one product y = A x, vectors included */
  const char *refusal; /**< why the format refuses the matrix, or NULL; valid until the next call */
  /** An earlier format of the list that is the same loop over the same arrays for this matrix on the
   * selected device (variants for GPUs on a CPU), or NULL; constant text. */
  const char *same_as;
} kcl_cost;

/** Predicts the cost of a format from statistics. KCL_USAGE: no such format. */
int kcl_format_cost(kcl *ctx, const kcl_stats *stats, kcl_type type, const char *format,
                    kcl_cost *out);
/** true: formats that pad to more than ten times the bytes of CSR are not refused for that, only
 * where the memory does not suffice. Initially false. */
void kcl_allow_padding(kcl *ctx, bool allowed);

/** An array of a matrix in a storage format, as the kernels of the format read it. */
typedef struct kcl_storage_array {
  const char *name; /**< constant text */
  const char *type; /**< of an element: int32, uint8, double, complex float ...; constant text */
  int64_t count;    /**< elements */
  bool complex;     /**< value holds pairs: real and imaginary part */
  double *value;    /**< [count]; NULL: written on the device before each product */
  int64_t
      *entry; /**< [count] number of the entry of A that the element holds, from 0 in the order of
                       kcl_csr; -1: padding. NULL: integers, or not known */
} kcl_storage_array;

/** An integer of a storage format, beside its arrays. */
typedef struct kcl_storage_integer {
  const char *name; /**< constant text */
  int64_t value;    /**< its value */
} kcl_storage_integer;

/** Most arrays and most integers of a format. */
#define KCL_STORAGE_PARTS 8

/** The arrays of a matrix in a storage format, for teaching and for tests of formats. */
typedef struct kcl_storage {
  const char *format;                             /**< constant text */
  int arrays;                                     /**< number of arrays */
  int integers;                                   /**< number of integers */
  kcl_storage_array array[KCL_STORAGE_PARTS];     /**< in the order of the kernel's arguments */
  kcl_storage_integer integer[KCL_STORAGE_PARTS]; /**< such as the width of ELL */
} kcl_storage;

/** Stores A in a format, in this scalar type and for the selected device, and copies the arrays to numbers: 8 bytes per element,
 * 16 with their entries. KCL_REFUSED: the format refuses the matrix. */
int kcl_storage_create(kcl *ctx, const kcl_csr *A, kcl_type type, const char *format,
                       kcl_storage **out);
/** Frees what kcl_storage_create allocated. */
void kcl_storage_free(kcl_storage **s);

/** @} */
/** @defgroup solving Solving
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
  KCL_LEAST_SQUARES    /**< x minimises |b - A x|, which does not meet the stopping criterion */
} kcl_reason;

/** A phrase such as "matrix is not positive definite". */
const char *kcl_reason_text(kcl_reason r);

/** State of a running solve, for the progress callback. */
typedef struct kcl_progress {
  int64_t iteration;        /**< iterations so far */
  int64_t max_iter;         /**< iteration limit */
  double relative_residual; /**< |r| / |b| by the recurrence; the largest of the active solves */
  double target;            /**< relative residual to reach */
  double seconds;           /**< since the solve began */
  int running;              /**< right-hand sides that still iterate */
} kcl_progress;

/** Limits. */
enum {
  KCL_MAX_NRHS = 8,      /**< right-hand sides that iterate at once */
  KCL_MAX_RESTART = 50,  /**< cycle length of a restarted method */
  KCL_MAX_ASYMMETRY = 64 /**< largest kcl_stats.asymmetry that counts as rounding */
};

/** When a method for Hermitian (or symmetric) matrices may be used. */
typedef enum kcl_symmetry_rule {
  KCL_SYMMETRY_ROUNDING, /**< if A = A^H up to rounding: asymmetry <= KCL_MAX_ASYMMETRY */
  KCL_SYMMETRY_EXACT,    /**< if A = A^H in every bit */
  KCL_SYMMETRY_ASSUME    /**< always: the caller knows; square matrices only */
} kcl_symmetry_rule;

/** When rows and columns are scaled by powers of two, so that the stopping test sees every row. */
typedef enum kcl_scale_rule {
  /** If the relative residual of a row may exceed 0.01 when |b - A x| <= tol |b|: tol row_ratio > 0.01.
   * Not: rectangular A, a row of zeros, a least-squares method that is named, atol > 0, a format that
   * is named and refuses the scaled matrix. */
  KCL_SCALE_AUTO,
  KCL_SCALE_NONE /**< never */
} kcl_scale_rule;

/** Size of kcl_options.parameters, bytes. */
enum { KCL_PARAMETERS = 512 };

/** Options of a set-up. Start from kcl_defaults; all zero means the same as kcl_defaults. */
typedef struct kcl_options {
  /** Method; NULL: "auto", chosen by shape, symmetry and diagonal (kcl_auto_solver). If the method
   * breaks down, diverges or makes too little progress, the next suitable one continues from the
   * best x; if none converges, and the library was built with SuiteSparse, and a factorisation is
   * affordable, the system is solved directly. Limits: max_iter, see there. */
  const char *solver;
  /** Preconditioner; NULL: "auto", the one that suits the method and the diagonal of A, or none. */
  const char *precond;
  /** Storage format; NULL: "auto".
   *
   * "auto": the fastest format on record for this device and structure, else the one whose
   * predicted time per iteration is the least; a long solve also times the next candidates and
   * continues with the fastest. "measure": times the candidates in kcl_setup. "model": the least
   * predicted time, nothing timed or remembered, the same in every run. "auto" and "measure" record what they measured in the user's cache folder
   * (KRYLOCL_CACHE set but empty: nothing is recorded). */
  const char *format;
  kcl_type precision; /**< scalar type of all arithmetic and storage on the device */
  /** For the preconditioner "sa": [rows, 1 to 12] real vectors that A nearly annihilates, such as rigid body modes
   * (kcl_rigid_modes); its numbers are the caller's, for as long as A's arrays. NULL: a constant for each unknown of a node. */
  const kcl_dense *near_null;
  /** Relative tolerance: a solve stops at |b - A x| <= max(tol |b|, atol). Negative: 1e-8, or 1e-5
   * in float. Least-squares methods also stop at normal_residual <= max(tol, atol / |b|). */
  double tol;
  double atol; /**< absolute tolerance, see tol */
  /** Iterations at most. 0: of each method that "auto" tries 10 max(rows, cols), at least 10,000 and
   * at most 100,000. A limit set by the caller counts the iterations of all methods together, and a
   * solve that reaches it ends. */
  int64_t max_iter;
  kcl_symmetry_rule symmetry; /**< which matrices count as Hermitian; 0: up to rounding */
  /** Scaling; 0: auto. A scaled system R A C y = R b, x = C y, is solved until |R (b - A x)| <=
   * tol |R b| and |b - A x| <= tol |b|. A itself is not changed. */
  kcl_scale_rule scale;
  bool no_direct; /**< "auto" does not end with a direct solution */
  int restart; /**< cycle length of gmres, 1 to KCL_MAX_RESTART; 0: 20; ignored by other methods */
  /** Right-hand sides that kcl_solve_many iterates at once, sharing each pass over the matrix: 1 to
   * KCL_MAX_NRHS; 0: 1. Vectors of all of them are kept on the device. A format or method that
   * cannot share a pass solves them one after another (kcl_setup_info.nrhs). */
  int nrhs;
  /** Mixed precision, for precision D and Z: iterates in float, computes the residual and corrects
   * x in double (iterative refinement), continues in double if float makes no progress. A is stored
   * twice. With format "auto" it is used only where an iteration is at least a fifth faster. One
   * right-hand side at a time. KCL_USAGE: not for least-squares methods, cg-single,
   * cg-pipelined. */
  bool mixed;
  /** Called from time to time during a solve, or NULL. Non-zero stops it: iterations already
   * enqueued are finished, and the report describes the x after them. A compilation or a factorisation
   * is abandoned; its thread ends with it, and exit() waits for that. It must not use the context: functions that
   * compute return KCL_USAGE, and a solver that is freed meanwhile is freed when its solve ends. */
  int (*progress)(void *user, const kcl_progress *p);
  void *user; /**< first argument of progress */
  /** Parameters of preconditioners, "amg.theta=0.5 ilut.fill=40"; empty: their defaults. kcl_options_set sets each by its
   * name. Those of a preconditioner that is not used have no influence. */
  char parameters[KCL_PARAMETERS];
} kcl_options;

/** Defaults: method, preconditioner and format "auto", precision D, tol 1e-8. */
extern const kcl_options kcl_defaults;

/** The values that an option takes. */
typedef enum kcl_option_kind {
  KCL_OPTION_WORD,  /**< one of its words: kcl_option_word */
  KCL_OPTION_FLAG,  /**< no or yes; in a text its name alone means yes */
  KCL_OPTION_WHOLE, /**< a whole number from min to max */
  KCL_OPTION_REAL   /**< a number from min to max */
} kcl_option_kind;

/** A field of kcl_options by name, or a parameter of a preconditioner: its name is "chebyshev.degree", the preconditioner before
 * the point. All texts are constant. */
typedef struct kcl_option {
  const char *name;         /**< "max-iter": the field of kcl_options, with - for _; a parameter */
  const char *default_text; /**< its default, for people */
  const char *help;         /**< one line about it */
  kcl_option_kind kind;     /**< the values that it takes */
  double min;               /**< smallest number */
  double max;               /**< largest number */
} kcl_option;

/** Number of options that have names: the fields of kcl_options except pointers to vectors and functions, then the parameters of
 * the preconditioners. */
int kcl_option_count(void);
/** Option i, 0 <= i < kcl_option_count(); otherwise its texts are NULL. */
kcl_option kcl_option_at(int i);
/** Word k that option i takes, from 0; NULL beyond the last one, and for numbers. The text is constant. */
const char *kcl_option_word(int i, int k);

/** Sets an option from text: kcl_options_set(ctx, &o, "tol", "1e-10"). The value "default" restores that of kcl_defaults.
 *
 * This function and those below start from *o; all zero means kcl_defaults. A later value replaces an earlier one. Nothing of
 * the texts is kept: words in *o are constant texts of the library, so *o owns nothing and may be copied. On failure *o
 * remains as it was. ctx receives the message; it may be NULL. KCL_USAGE: no such option or word, with the nearest one in the
 * message; a value that is not a number or is out of range, with the range. Decimal numbers have a point in every locale. */
int kcl_options_set(kcl *ctx, kcl_options *o, const char *name, const char *value);
/** Sets options from a text such as "solver=cg precond=amg tol=1e-10 mixed": terms separated by blanks or line ends; # begins a
 * comment, up to the end of the line. KCL_USAGE: see kcl_options_set; the message begins with line and column of the term,
 * "options:1:11: ...". */
int kcl_options_parse(kcl *ctx, kcl_options *o, const char *text);
/** Sets options from a text file in the form of kcl_options_parse, usually one option per line. KCL_INPUT: it cannot be read,
 * is not text, or has a faulty term; the message begins with file, line and column. */
int kcl_options_read(kcl *ctx, kcl_options *o, const char *path);
/** Sets options from an environment variable in the form of kcl_options_parse; NULL: KRYLOCL_SOLVE. A variable that is not set
 * changes nothing. No other function reads this variable. KCL_USAGE: see kcl_options_parse; the message begins with its name. */
int kcl_options_read_variable(kcl *ctx, kcl_options *o, const char *variable);

/** Result of one solve. */
typedef struct kcl_report {
  kcl_reason reason;             /**< why it ended */
  bool converged;                /**< reason is KCL_CONVERGED */
  int64_t iterations;            /**< iterations, in mixed precision those of float and double */
  int64_t x_iteration;           /**< iteration that x is of: the last one; of a solve that failed
                                    the one with the least true residual known, 0 if that is the
                                    initial guess or 0. Failed: neither converged nor ended by the
                                    callback or by max_iter */
  int residual_restarts;         /**< restarts from the true residual, because the recurrence
                                    claimed convergence and the true residual did not agree */
  bool mixed;                    /**< float was used */
  int64_t inner_iterations;      /**< iterations in float */
  int outer_iterations;          /**< corrections of x in double */
  char mixed_end[200];           /**< why the solve continued in double, or empty */
  double relative_residual;      /**< what the method tests, by the recurrence, at its last
                                    iteration: |r| / |b|, r = b - A x; of a scaled system
                                    |R r| / |R b|; of least-squares methods the smaller of it and the
                                    normal residual. -1: x is a direct solution */
  double tested_residual;        /**< the same quantity, recomputed on the host */
  double true_relative_residual; /**< |b - A x| / |b|, recomputed on the host in double */
  double normal_residual;        /**< least-squares methods: max(|A^H r| / |A^H b|,
                                    |A^H r| / (|A|_F |r|)), r = b - A x, recomputed; others: -1 */
  bool least_squares;            /**< reason is KCL_LEAST_SQUARES */
  double backward_error; /**< |b - A x|_inf / (|A|_inf |x|_inf + |b|_inf), Rigal & Gaches 1967 */
  double rowwise_error;  /**< as in kcl_certificate */
  double componentwise_error;   /**< as in kcl_certificate */
  double condition_estimate;    /**< ritz_max / ritz_min of CG, of M^-1 A; 0: not known */
  double ritz_min;              /**< smallest Ritz value */
  double ritz_max;              /**< largest Ritz value */
  double seconds_upload;        /**< upload of b and x; an equal share for solves side by side */
  double seconds_solve;         /**< iterations; an equal share for solves side by side */
  double seconds_download;      /**< download of x; an equal share for solves side by side */
  double seconds_certify;       /**< the certificate of x, and checksums of A and x */
  double seconds_per_iteration; /**< seconds_solve per iteration */
  double bytes_per_iteration;   /**< bytes moved per iteration: each stage's operands once */
  const char *changes;          /**< changes of format and method made by "auto", one line each, or
                                    empty; valid until the solver's next solve */
  const double *history;        /**< [history_size] relative_residual after each iteration, the
                                    initial one first; valid until the solver's next solve */
  int64_t history_size;         /**< length of history */
  uint64_t x_sum; /**< kcl_checksum of the x that the residuals are of, [cols] of A's type */
  /** Other x have this residual, as far as is known: A has columns of zeros or fewer rows than columns, a direct
   * factorisation found a smaller rank than columns, or x is a least-squares solution and A is square (all but singular). */
  bool not_unique;
  /** not_unique, and x is the smallest of them: from a direct factorisation, or from a least-squares method that began at 0
   * without a preconditioner. */
  bool least_norm;
} kcl_report;

/** Rigid body modes for kcl_options.near_null, from coordinates [nodes, 2 or 3] of type D: *out [2 nodes, 3] or
 * [3 nodes, 6]: translations, then rotations about the centre. Unknown c of node i is row 2 i + c or 3 i + c. Free with
 * kcl_dense_free. KCL_USAGE: another shape or type. */
int kcl_rigid_modes(kcl *ctx, const kcl_dense *coordinates, kcl_dense **out);

/** A matrix on the device, with its method, preconditioner and compiled kernels. */
typedef struct kcl_solver kcl_solver;

/** Chooses method and format, converts and uploads the matrix, compiles the kernels.
 *
 * The arrays of A must stay alive and unchanged until the solver is freed: native CSR formats use them, and
 * kcl_solve compares their checksums with those of the set-up before it certifies an answer. A
 * must be square, except for least-squares methods (cgls, lsqr). options may be NULL: kcl_defaults.
 *
 * KCL_USAGE: an unknown name, a method that does not fit A (cg and a matrix that is not Hermitian), or
 * a declared symmetry that A does not have. KCL_INPUT: A is rectangular, empty or not finite. KCL_DEVICE: the device has no double
 * precision. KCL_REFUSED: the format refuses A. */
int kcl_setup(kcl *ctx, const kcl_csr *A, const kcl_options *options, kcl_solver **out);
/** Replaces the values of the matrix; reuses everything that depends on the pattern only. A has the pattern and the type of the
 * matrix that s was set up for; it may be that matrix with other values written to it. A takes its place, and A's `symmetry`
 * holds for the new values.
 *
 * Reused: the choices of "auto", where they suit the new values; compiled kernels; the interpolation of multigrid, whose coarse
 * systems alone are computed again (kcl_setup is better for values that differ much). Checked again: that A is finite, and that
 * its symmetry, declared or found, holds. Where rows that were equal are equal again, distinct rows alone are looked at. Until the function returns, both systems
 * need memory. After a failure s is as it was: it solves only if its own matrix was not written to.
 *
 * KCL_USAGE: another pattern or type; s comes from kcl_operator_setup. Otherwise as kcl_setup. */
int kcl_refresh(kcl_solver *s, const kcl_csr *A);
/** Frees a solver. */
void kcl_solver_free(kcl_solver **s);
/** Solves A x = b. b [rows] and x [cols] are of A's type and do not overlap; x holds the initial
 * guess on entry. On return x is finite, and 0 where A has columns of zeros. report may be NULL. KCL_CHANGED: A or x changed in memory meanwhile. */
int kcl_solve(kcl_solver *s, const void *b, void *x, kcl_report *report);
/** Solves for k right-hand sides, options.nrhs of them at once. B is [k, rows] and X is [k, cols],
 * column-major; reports is [k] or NULL.
 *
 * The solves are independent: convergence or breakdown of one does not affect the others. If any
 * number of B is not finite, all are refused (KCL_INPUT) before the first is solved. KCL_USAGE: k is
 * not positive, or more than memory can hold. */
int kcl_solve_many(kcl_solver *s, int64_t k, const void *B, void *X, kcl_report *reports);
/** The certificate that a solve makes of its answer. */
enum {
  KCL_CERTIFY_FULL, /**< residuals recomputed in double with compensated sums, and that A is what was set up, by checksums */
  KCL_CERTIFY_RESIDUALS, /**< the residuals alone: what A has become is not noticed; x_sum is 0 */
  /** Nothing on the host: converged is what the method claims, after a residual recomputed on the device in working precision. The
   * recomputed residuals and errors of the report are -1, x_sum is 0. */
  KCL_CERTIFY_NOTHING
};

/** Settings of one call of kcl_solve_call. Zero is the default of every field but size: as at set-up. */
typedef struct kcl_call {
  size_t size;      /**< sizeof(kcl_call) */
  double tol;       /**< as kcl_options.tol; 0: that of the set-up */
  double atol;      /**< as kcl_options.atol; 0: that of the set-up */
  int64_t max_iter; /**< as kcl_options.max_iter; 0: that of the set-up */
  int64_t ldb; /**< numbers from one column of B to the next; 0: A's rows; not on several ranks */
  int64_t
      ldx; /**< numbers from one column of X to the next; 0: A's columns; not on several ranks */
  int32_t zero_guess; /**< 1: the guess is 0, X is not read */
  int32_t certify;    /**< KCL_CERTIFY_FULL, ... */
  /** As kcl_options.progress; NULL: that of the set-up. */
  int (*progress)(void *user, const kcl_progress *p);
  void *user; /**< first argument of progress */
} kcl_call;

/** As kcl_solve_many, with settings of this call; call NULL: as kcl_solve_many. KCL_USAGE also: a field is out of range, or size is that
 * of a newer header and a field that this library does not know is set. On several ranks call is the same on all. */
int kcl_solve_call(kcl_solver *s, const kcl_call *call, int64_t k, const void *B, void *X,
                   kcl_report *reports);
/** Ends the solve that runs, as a progress callback that asks to stop: its reason is KCL_INTERRUPTED. Any thread may call it, and a signal
 * handler. If no solve of the solver's context runs, nothing happens; s must not be freed meanwhile. */
void kcl_solver_stop(kcl_solver *s);

/** What a set-up chose. The texts live as long as the solver. */
typedef struct kcl_setup_info {
  const char *solver;        /**< method; after a solve, the one that finished it */
  const char *solver_reason; /**< why "auto" chose it, or empty */
  bool
      solver_remembered; /**< "auto" began with what solved a system of this structure before, and would
                                begin with something else without that record */
  const char *precond;       /**< preconditioner of that method */
  const char *format;        /**< storage format */
  const char *format_reason; /**< why, one sentence */
  bool scaled;               /**< rows and columns are scaled: see kcl_options.scale */
  const char *scale_reason;  /**< why they are, or are not although rows differ much; else empty */
  int row_powers[2];         /**< least and largest power of two that rows are scaled by */
  int col_powers[2];         /**< the same for columns */
  const char *kernel;        /**< the kernel: "csr-vector, 4 lanes", "native, 2 threads" */
  double bytes_stored;       /**< size of the matrix on the device, bytes */
  double seconds_check;      /**< check of A's structure, and its checksum */
  double seconds_stats;      /**< statistics of A, which formats and methods are chosen by */
  double seconds_convert;    /**< conversion to the format */
  double seconds_upload;     /**< upload of the matrix */
  double seconds_compile;    /**< compilation of the kernels */
  const char *mixed;         /**< if mixed precision was asked for: what it costs and gains, or why
                                it is not used; else empty */
  double bytes_float;        /**< size of the matrix in float beside bytes_stored; 0: not used */
  int stages;                /**< stages (fused passes over the vectors) per iteration */
  int programs_compiled;     /**< OpenCL programs that the driver compiled */
  int programs_cached;       /**< OpenCL programs that were taken from the user's cache folder */
  int nrhs;                  /**< right-hand sides at once: options.nrhs, or 1 if not possible */
  double seconds_measure;    /**< timing of formats and methods, set-ups included */
  int64_t expected_iterations; /**< iterations of the last solve of such a system; 0: not known */
  int timings; /**< number of timings that "auto" knows, from this run and earlier ones */
  double seconds_predicted;  /**< per iteration of one right-hand side, by the model that "auto"
                               chooses by */
  double seconds_precond;    /**< set-up of the preconditioner, its matrices' formats included */
  double bytes_precond;      /**< size of its vectors and matrices on the device, bytes */
  int precond_levels;        /**< its levels; 1 where there are none, 0 without a preconditioner */
  double precond_rows;       /**< rows of all levels */
  double precond_nonzeros;   /**< nonzeros of the systems of all levels */
  double precond_complexity; /**< precond_nonzeros over those of A */
  const char *precond_note;  /**< what set-up found, one line, or empty */
  int64_t zero_rows;      /**< as in kcl_stats, of A: x does not change these elements of b - A x */
  int64_t first_zero_row; /**< as in kcl_stats */
  int64_t zero_cols;      /**< as in kcl_stats: these elements of x are 0 */
  int64_t first_zero_col; /**< as in kcl_stats */
} kcl_setup_info;

/** Describes a set-up. */
void kcl_solver_info(const kcl_solver *s, kcl_setup_info *out);

/** A timing that "auto" or "measure" chooses by. */
typedef struct kcl_setup_timing {
  const char *solver;           /**< method */
  const char *precond;          /**< preconditioner */
  const char *format;           /**< storage format */
  double seconds_setup;         /**< conversion, upload and compilation */
  double seconds_per_iteration; /**< one iteration */
} kcl_setup_timing;

/** Timing i, 0 <= i < kcl_setup_info.timings. */
void kcl_solver_timing(const kcl_solver *s, int i, kcl_setup_timing *out);

/** A stage: one pass over memory of the recorded method, one kernel launch on OpenCL devices. */
typedef struct kcl_stage_info {
  const char *phase;      /**< "START", "LOOP", "REPLACE" or "RESUME" */
  const char *operations; /**< in the notation of the cited paper, separated by "; " */
  double bytes;           /**< moved by the stage, for all right-hand sides at once */
  int launches;    /**< kernels per pass; 0: on the CPU, or inside a kernel of several stages */
  bool persistent; /**< part of the persistent kernel, one launch for many iterations */
  bool product;    /**< has a product with A or A^H */
  int dots;        /**< inner products that it sums */
} kcl_stage_info;

/** Number of stages of all phases. */
int kcl_stage_count(const kcl_solver *s);
/** Stage i, 0 <= i < kcl_stage_count, phase by phase. The texts live until the next call. */
void kcl_solver_stage(const kcl_solver *s, int i, kcl_stage_info *out);
/** The OpenCL C source of all kernels, malloc'd: free it with free(). KCL_USAGE on the CPU, where
 * stages are interpreted and no source is generated. */
int kcl_solver_source(kcl_solver *s, char **source);

/** Bytes moved per iteration, for all right-hand sides at once. */
double kcl_bytes_per_iteration(const kcl_solver *s);

/** @} */
/** @defgroup products Products with a matrix
 *
 *     kcl_operator *op;
 *     kcl_operator_create(ctx, A, NULL, &op);                   converts, uploads, compiles
 *     kcl_operator_apply(op, &(kcl_product){.x = x, .y = y});   y = A x, as often as needed
 *
 * Like a solver, an operator belongs to the thread that uses its context. Any number of operators
 * and solvers may share a context.
 * @{ */

/** Which products an operator can make. A^H is stored as a matrix of its own; if A = A^H one serves
 * both, and both products are possible whatever is asked for. */
typedef enum kcl_products {
  KCL_PRODUCTS_PLAIN,   /**< y = A x */
  KCL_PRODUCTS_ADJOINT, /**< y = A^H x */
  KCL_PRODUCTS_BOTH     /**< both */
} kcl_products;

/** Options of an operator. All zero but precision: the defaults. */
typedef struct kcl_operator_options {
  /** Storage format; NULL, "auto" or "model": the one whose product is predicted to take the least time. */
  const char *format;
  kcl_type precision;    /**< scalar type of x, y and the stored matrix */
  kcl_products products; /**< which products; default: y = A x */
  /** Columns that share a pass over the matrix, 1 to KCL_MAX_NRHS; 0: 1. See
   * kcl_operator_info.nrhs. */
  int nrhs;
} kcl_operator_options;

/** Defaults: format "auto", precision D, y = A x. */
extern const kcl_operator_options kcl_operator_defaults;

/** A matrix on the device, in a storage format, with the kernels of its product. */
typedef struct kcl_operator kcl_operator;

/** Chooses the format, converts and uploads the matrix, compiles the kernels; selects the device
 * NULL if none was selected. A may be rectangular.
 *
 * The arrays of A must stay alive and unchanged until the operator, and every solver set up from it, is
 * freed: native CSR formats use them. options may be NULL: kcl_operator_defaults.
 *
 * KCL_USAGE: an unknown name or value, or A is complex and the precision is not. KCL_INPUT: A is
 * empty. KCL_DEVICE: the device has no double precision. KCL_REFUSED: the format refuses A. */
int kcl_operator_create(kcl *ctx, const kcl_csr *A, const kcl_operator_options *options,
                        kcl_operator **out);
/** Frees an operator, before or after the solvers that were set up from it. Waits for products under
 * way. */
void kcl_operator_free(kcl_operator **op);

/** A product y = alpha A x + beta y, for one or several columns. m x n: the shape of A; with adjoint,
 * of A^H. Start from zeros: (kcl_product){.x = x, .y = y} is y = A x.
 *
 * What is multiplied by zero is not read: y may hold anything, NaN too, if beta is 0, and x if alpha
 * is. x and y do not overlap. */
typedef struct kcl_product {
  const void *x;     /**< [cols, n], column-major, of the operator's precision */
  void *y;           /**< [cols, m], column-major, of the operator's precision */
  int64_t cols;      /**< number of columns; 0: 1 */
  const void *alpha; /**< one number of the operator's precision; NULL: 1 */
  const void *beta;  /**< one number of the operator's precision; NULL: 0 */
  bool adjoint;      /**< y = alpha A^H x + beta y */
  /** x and y are not arrays but OpenCL buffers (cl_mem) of the context of kcl_opencl_handles, of the
   * size of those arrays or larger. Then kcl_operator_apply enqueues the product, flushes the queue
   * and returns; nothing is copied to the host. The buffers must live until the queue has come to it.
   */
  bool buffers;
} kcl_product;

/** Computes a product. With arrays it returns when y is complete; on OpenCL devices x is uploaded and
 * y downloaded, the native executor works on the arrays themselves. No memory is allocated.
 *
 * Costs: y = A x of one column is one pass over the matrix, x and y, in one launch, with the kernel
 * that solves use. Any other alpha or beta adds one launch and one pass over y; several columns in
 * buffers are copied on the device to and from the layout of the kernels.
 *
 * KCL_USAGE: an argument that does not fit, such as buffers with the native executor or a buffer
 * that is too small. KCL_DEVICE: a driver error. */
int kcl_operator_apply(kcl_operator *op, const kcl_product *p);

/** What an operator is. The texts live as long as it. */
typedef struct kcl_operator_info {
  int64_t rows;              /**< rows of A */
  int64_t cols;              /**< columns of A */
  kcl_type precision;        /**< scalar type */
  const char *format;        /**< storage format of A, of A^H if that is alone */
  const char *format_reason; /**< why, one sentence */
  const char *kernel;        /**< the kernel, as in kcl_setup_info */
  double bytes_stored;       /**< size on the device, of A and A^H, bytes */
  double bytes_product;   /**< bytes moved by y = A x of one column (or A^H x, if that is alone) */
  int nrhs;               /**< columns per pass: the options' nrhs, or 1 if the format cannot */
  double seconds_check;   /**< check of A's structure, and its checksum */
  double seconds_stats;   /**< statistics of A, which the format is chosen by */
  double seconds_convert; /**< conversion to the format, and of A to A^H */
  double seconds_upload;  /**< upload of the matrix */
  double seconds_compile; /**< compilation of the kernels, or loading of compiled ones */
  int programs_compiled;  /**< OpenCL programs that the driver compiled */
  int programs_cached;    /**< OpenCL programs that were taken from the user's cache folder */
  int64_t products_timed; /**< products of the samples of the last kcl_operator_time */
} kcl_operator_info;

/** Describes an operator. */
void kcl_operator_describe(const kcl_operator *op, kcl_operator_info *out);

/** Times y = A x (adjoint: y = A^H x) of `cols` columns, 1 to kcl_operator_info.nrhs, with vectors
 * that stay on the device. seconds is [samples], each the mean over `products` products. */
int kcl_operator_time(kcl_operator *op, bool adjoint, int cols, int products, int samples,
                      double *seconds);

/** kcl_setup for the matrix of an operator, whose arrays on the device the solver shares. options may
 * be NULL: kcl_defaults with the operator's precision, which options->precision must be otherwise;
 * options->format must be "auto" (NULL) or the operator's.
 *
 * The answers are those of a solver that was set up by kcl_setup in the same format. What the
 * operator lacks, such as A^H, is built for the solver; so is all of it where the solver scales A
 * (kcl_options.scale). The operator may be freed before the solver. */
int kcl_operator_setup(kcl_operator *op, const kcl_options *options, kcl_solver **out);

/** Errors of a computed product. */
typedef struct kcl_product_error {
  /** Largest |y_i - z_i| / bound_i, z = A x in twice the precision; 0 / 0 is 0. At most 1: rounding
   * explains all. Infinite: y_i is not finite and z_i is, or the reverse. */
  double ratio;
  int64_t row;  /**< the first row that has it, from 0 */
  double error; /**< |y_i - z_i| in this row */
  double bound; /**< (k + 2) c u (|A| |x|)_i in this row, of k entries: Higham 2002, 3.1 and 3.6 */
} kcl_product_error;

/** Compares y with A x, one column, computed by kcl_csr_product. arithmetic: the scalar type that y
 * was computed in; u is its unit roundoff, and c = 1, or 2 sqrt(2) if it is complex. A (of any type)
 * and x are taken as exact. x [cols] and y [rows] are of type D, or Z if A is complex. */
int kcl_product_check(kcl *ctx, const kcl_csr *A, kcl_type arithmetic, const double *x,
                      const double *y, kcl_product_error *out);

/** The same of y = alpha A x + beta y0. alpha, beta: one number of the type of x; y0 [rows], not read where beta is 0. The
 * bound has 2 c u (|alpha A x|_i + |beta y0|_i) more. */
int kcl_update_check(kcl *ctx, const kcl_csr *A, kcl_type arithmetic, const double *alpha,
                     const double *x, const double *beta, const double *y0, const double *y,
                     kcl_product_error *out);

/** A computed product beside another one. */
typedef struct kcl_product_difference {
  double ratio;        /**< largest |y_i - other_i| / bound_i, as in kcl_product_error */
  int64_t row;         /**< the first row that has it, from 0 */
  double difference;   /**< |y_i - other_i| in this row */
  double bound;        /**< twice the bound of kcl_product_error: that of either product */
  double largest;      /**< largest |y_i - other_i| */
  int64_t largest_row; /**< the first row that has it, from 0 */
  int64_t beyond;      /**< rows whose difference exceeds their bound */
} kcl_product_difference;

/** Compares two computed y = alpha A x + beta y0, neither of which is taken as exact: `other` [rows] is of the type of x
 * and was computed in the same arithmetic or a better one. */
int kcl_product_compare(kcl *ctx, const kcl_csr *A, kcl_type arithmetic, const double *alpha,
                        const double *x, const double *beta, const double *y0, const double *y,
                        const double *other, kcl_product_difference *out);

/** @} */
/** @defgroup benchmarking Benchmarks
 * A row of a benchmark is one matrix in one format on the selected device: set up, validated, then
 * timed in samples, each the mean over several iterations.
 * @{ */

/** How a row is measured. 0 stands for the default in parentheses. */
typedef struct kcl_bench_plan {
  int iterations; /**< iterations (or products) per sample, at most (50) */
  int samples;    /**< samples, at most; 1 to 10,000 (15) */
  /** Seconds for all samples of the row (3). Where they do not fit, a sample gets fewer iterations,
   * down to one, then there are fewer samples, down to one. Set-up and validation are not in it. */
  double seconds;
  /** Samples scatter if their interval is wider than this fraction of the median (0.1). Then they
   * are taken a second time, in as many seconds again. Negative: never. */
  double noise;
  bool
      transfers; /**< time products with x from and y to the host as well, in as many seconds more (false) */
  int (*stop)(void *user); /**< asked between samples: non-zero ends them; or NULL */
  void *user;              /**< argument of stop */
} kcl_bench_plan;

/** Samples of a time. */
typedef struct kcl_samples {
  int count;       /**< number of samples; 0: none were taken */
  int iterations;  /**< iterations per sample */
  double *seconds; /**< [count] per iteration, in the order of measuring */
  int replaced_count; /**< number of samples that were replaced: they scattered more, or contradicted each other */
  double *replaced; /**< [replaced_count], or NULL */
  int threads; /**< of the native executor that took part at the end: all, or one where that is faster; 0: other devices */
} kcl_samples;

/** A measured row. Times and bytes are those of all right-hand sides at once. */
typedef struct kcl_bench_row {
  bool validated;       /**< the product agrees with kcl_csr_product; otherwise nothing was timed */
  char kernel[128];     /**< as in kcl_setup_info */
  int nrhs;             /**< right-hand sides at once */
  double bytes_stored;  /**< size of the matrix on the device, bytes */
  double bytes_product; /**< moved by one product */
  double bytes_iteration; /**< moved by one iteration; 0: a product alone */
  double seconds_convert; /**< conversion to the format */
  double seconds_upload;  /**< upload of the matrix */
  double seconds_compile; /**< compilation, or loading of compiled kernels */
  int compiled;           /**< OpenCL programs that the driver compiled; 0: all were cached */
  kcl_samples product;    /**< y = A x alone */
  kcl_samples iteration;  /**< one iteration with the convergence tests off */
  kcl_samples
      transfer; /**< y = A x with x from and y to the host: kcl_operator_apply; plan->transfers */
} kcl_bench_row;

/** Measures the iteration of a solver, convergence tests off, and its product y = A x alone, for all right-hand sides at
 * once: both once more where the product takes longer than the iteration that contains it. The product is first compared with
 * kcl_csr_product within a derived rounding bound. plan NULL: all defaults. *out is freed by kcl_bench_free. */
int kcl_bench_solver(kcl_solver *s, const kcl_bench_plan *plan, kcl_bench_row *out);
/** Sets up a solver and measures it as kcl_bench_solver does. o: as for kcl_setup, NULL: kcl_defaults; plan NULL: all
 * defaults. *out is freed by kcl_bench_free. Fails as kcl_setup does. */
int kcl_bench_method(kcl *ctx, const kcl_csr *A, const kcl_options *o, const kcl_bench_plan *plan,
                     kcl_bench_row *out);
/** Measures the product y = A x alone, of any shape of A: o->format (a name), o->precision and
 * o->nrhs are used. KCL_REFUSED: the format refuses A. */
int kcl_bench_product(kcl *ctx, const kcl_csr *A, const kcl_options *o, const kcl_bench_plan *plan,
                      kcl_bench_row *out);
/** Measures sequential C code, a loop of one thread on the host, as a reference. format: "dense", all
 * rows x cols elements, or NULL: CSR. KCL_MEMORY: they do not fit. */
int kcl_bench_sequential(kcl *ctx, const kcl_csr *A, const char *format, kcl_type precision,
                         const kcl_bench_plan *plan, kcl_bench_row *out);
/** Frees the samples of a row. */
void kcl_bench_free(kcl_bench_row *row);

/** Where the time and the bytes of a row go. */
typedef struct kcl_bench_profile {
  int iterations; /**< iterations, or products, in `run` */
  double seconds; /**< of `run`, by the clock of the host */
  double
      start_up; /**< of these, with nothing of the device's begun yet or all of it done; OpenCL devices */
  kcl_profile setup;   /**< conversion, upload of the matrix, compilation */
  kcl_profile write;   /**< upload of the vectors */
  kcl_profile run;     /**< the iterations alone */
  kcl_profile read;    /**< download of the result */
  double bytes_stored; /**< size of the matrix in its format: the least that `setup` writes */
  double
      bytes_in; /**< of the vectors that an iteration begins with: the least that `write` writes */
  double bytes_out;      /**< of the result: the least that `read` reads */
  kcl_counters counters; /**< of `run`, on CPU devices; else nothing is counted */
} kcl_bench_profile;

/** Profiles iterations of a method, or (`product`) products y = A x alone, after one that is not counted. Event times
 * are recorded if kcl_profile_enable was called before the device was selected; else the profiles are empty. iterations: at
 * least 1. *out is freed by kcl_bench_profile_free. Fails as kcl_bench_method and kcl_bench_product do. */
int kcl_bench_profiled(kcl *ctx, const kcl_csr *A, const kcl_options *o, bool product,
                       int iterations, kcl_bench_profile *out);
/** Frees the entries of its profiles. */
void kcl_bench_profile_free(kcl_bench_profile *p);

/** Median of samples, and the interval between the j-th smallest and the j-th largest, which
 * contains the true median with at least 95 % probability where there are 6 samples or more
 * (Le Boudec 2010, theorem 2.1): no distribution is assumed. */
typedef struct kcl_summary {
  int count;         /**< number of samples */
  double median;     /**< median */
  double low;        /**< lower end of the interval */
  double high;       /**< upper end of the interval */
  double confidence; /**< probability that it contains the true median; 0 for one sample */
  double min;        /**< least sample */
  double max;        /**< largest sample */
} kcl_summary;
/** Summarises samples [count]. KCL_USAGE: there are none. */
int kcl_summarise(const double *samples, int count, kcl_summary *out);

/** @} */
/** @defgroup checking Checking a solution
 * @{ */

/** How a direct solution was found. */
typedef struct kcl_direct_info {
  const char *method; /**< "CHOLMOD supernodal Cholesky", "UMFPACK" ...; constant text */
  double seconds;     /**< analysis, factorisation and solution */
  /** Condition number: an estimate in the infinity norm (Hager 1984, Higham 1988); by SuiteSparseQR
   * an estimate of |A|_F / the smallest non-zero singular value. 0: not known. */
  double condition;
  int64_t rank;    /**< numerical rank by SuiteSparseQR; -1: by the others */
  bool least_norm; /**< x is the smallest of all that have its residual */
  int corrections; /**< corrections of x with residuals of compensated sums, before they no longer shrank */
  /** Bound of the relative error of x: an estimate of | |A^-1| w |_inf / |x|_inf, w = |b - A x| + u (|A| |x| +
   * |b|), u the unit roundoff (Arioli, Demmel & Duff 1989). INFINITY: corrections do not converge. -1 by SuiteSparseQR:
   * see kcl_solution_check. */
  double error;
} kcl_direct_info;

/** The library was built with CHOLMOD and UMFPACK. */
bool kcl_direct_available(void);
/** The library was also built with SuiteSparseQR. */
bool kcl_direct_least_squares(void);
/** Solves directly: by CHOLMOD if A is Hermitian positive definite, by UMFPACK if it is otherwise
 * square, by SuiteSparseQR if it is rectangular or singular: least squares, of least norm if the
 * factorisation of A^H that this takes finds the same rank. x is refined with the same factors until that no longer improves it.
 * A, b [rows] and x [cols] are of type D or Z. KCL_USAGE: not built with it. */
int kcl_direct(kcl *ctx, const kcl_csr *A, const double *b, double *x, kcl_direct_info *info);

/** 64-bit checksum of an array, at memory bandwidth: any change of one word changes it. An x
 * kept after a solve is unchanged if its checksum is kcl_report.x_sum. */
uint64_t kcl_checksum(const void *data, size_t size);

/** Residuals of a solution, r = b - A x computed as by kcl_csr_product. They are infinite where x or r is not finite. */
typedef struct kcl_certificate {
  double relative_residual; /**< |r| / |b| */
  double backward_error;    /**< |r|_inf / (|A|_inf |x|_inf + |b|_inf), Rigal & Gaches 1967 */
  /** Backward error by rows: max |r_i| / (|a_i|_1 |x|_inf + |b_i|), a_i row i of A. Much larger than
   * backward_error where rows of A differ in size and the small ones are not solved. */
  double rowwise_error;
  /** Componentwise backward error: max |r_i| / (|A| |x| + |b|)_i, Oettli & Prager 1964. Also large
   * where x and b are much smaller than elsewhere. */
  double componentwise_error;
  double norm_b;          /**< |b| */
  double norm_x;          /**< |x| */
  double normal_residual; /**< max(|A^H r| / |A^H b|, |A^H r| / (|A|_F |r|)); -1 from kcl_certify */
} kcl_certificate;

/** Computes the residuals of x on the host: one product. b [rows] and x [cols] are of type D, or Z
 * if A is complex. */
int kcl_certify(kcl *ctx, const kcl_csr *A, const double *b, const double *x, kcl_certificate *out);
/** As kcl_certify, with the normal residual: two products more. */
int kcl_certify_least_squares(kcl *ctx, const kcl_csr *A, const double *b, const double *x,
                              kcl_certificate *out);

/** Verdict of kcl_solution_check. */
typedef enum kcl_verdict {
  KCL_PASSED,   /**< x is as right as was asked for */
  KCL_FAILED,   /**< it is not, or does not solve the system */
  KCL_UNDECIDED /**< the direct solution is not certain enough to tell */
} kcl_verdict;
/** "passed", "failed" or "undecided". */
const char *kcl_verdict_name(kcl_verdict v);

/** How x is compared with a direct solution. */
typedef struct kcl_check_plan {
  /** The direct method that is tried first, of "cholmod", "umfpack", "spqr": one that does not fit A is followed by the next.
   * NULL or "direct": the first. */
  const char *method;
  double
      tol; /**< x fails unless |b - A x| <= tol |b|, or its normal residual for least squares is at most tol, or: */
  double atol; /**< |b - A x| <= atol */
  double
      error; /**< the largest relative error of x that passes; 0: what its residual allows, and at most 0.1 */
} kcl_check_plan;

/** x beside a refined direct solution y. */
typedef struct kcl_solution_error {
  kcl_verdict verdict; /**< failed: x is not solved to tol, or difference - bound > allowed */
  /** |x - y|_inf / |y|_inf; by SuiteSparseQR |x - y| / |y|, or |A (x - y)| / |A y| where the solution is not unique. */
  double difference;
  double
      bound; /**< of the error of y, in the same norm: that of x is between difference -+ bound */
  double
      allowed; /**< the largest difference that passes: plan.error, or min(0.1, 10 max(tol, residual's)) */
  bool unique;            /**< the solution is unique; else the products A x are compared */
  kcl_direct_info direct; /**< how y was found */
  kcl_certificate of_x;   /**< residuals of x */
  kcl_certificate of_y;   /**< residuals of y */
  char reason[160];       /**< why it did not pass, or empty */
} kcl_solution_error;

/** Compares x with a direct solution, which is written to y [cols]. Types as for kcl_direct; fails as it does. */
int kcl_solution_check(kcl *ctx, const kcl_csr *A, const double *b, const double *x,
                       const kcl_check_plan *plan, double *y, kcl_solution_error *out);

/** @} */

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif
#endif
