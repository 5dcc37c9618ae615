/* krylocl: Krylov methods on OpenCL. The public interface of the library.
 *
 * Solve A x = b for a sparse A on any OpenCL device or on the CPU, and know how good x is.
 *
 *   kcl *ctx;  kcl_csr *A;  kcl_solver *s;  kcl_report report;
 *   kcl_create(&ctx);                          one context per thread of use
 *   kcl_csr_read(ctx, "A.mtx", &A);            or fill a kcl_csr with your own arrays
 *   kcl_setup(ctx, A, &options, &s);           choose the format, convert, upload, compile
 *   kcl_solve(s, b, x, &report);               x in: the first guess; x out: the answer
 *
 * Every function that can fail returns a kcl_status (0 is good) and leaves a sentence for
 * people in kcl_error(ctx). Not converging is no failure: it is report.reason. Results come
 * through the last pointer and are NULL, reports zero, after a failure. Functions named _free and _destroy
 * take the address of the owner, accept NULL in it and set it to NULL.
 */
#ifndef KRYLOCL_H
#define KRYLOCL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KCL_VERSION "0.1.0"

/* The values are the exit codes of the program. */
typedef enum kcl_status {
  KCL_OK = 0,
  KCL_USAGE = 2, /* an argument or a name that does not exist or does not fit */
  /* A file: line, column and what was expected are in the message; and systems that none solves: b not finite, A
   * empty, or rectangular for a method that wants it square. */
  KCL_INPUT = 3,
  KCL_DEVICE = 4, /* no such device, or the driver failed: its call and code are in the message */
  KCL_MEMORY = 5  /* out of memory, or a format that refuses the matrix */
} kcl_status;

/* Scalar types: float, double and their complex forms (pairs re, im). */
typedef enum kcl_type { KCL_S, KCL_D, KCL_C, KCL_Z } kcl_type;
size_t kcl_type_size(kcl_type t);  /* 4, 8, 8, 16 bytes */
bool kcl_type_complex(kcl_type t); /* C and Z */
char kcl_type_letter(kcl_type t);  /* 's' 'd' 'c' 'z' */

/* ---------------------------------------------------------------- context and devices */

typedef struct kcl kcl;

int kcl_create(kcl **ctx); /* ctx is NULL only when memory is out */
void kcl_destroy(kcl **ctx);
const char *kcl_error(
    const kcl *ctx); /* the last failure, one sentence or a few lines; never NULL */

/* Choose where work runs: "auto" (a GPU, else cpu), "cpu" (native), "opencl" (a GPU before a
 * CPU), "gpu", "P:D" (platform and device number), or a part of a device's name. NULL reads
 * the environment variable KRYLOCL_DEVICE, and is "auto" without it. A context whose device
 * was never selected selects NULL at the first kcl_setup. A second call replaces the device:
 * free every solver first. threads: of the native executor, 0 for all, at most 4096. */
int kcl_select(kcl *ctx, const char *device, int threads);

typedef struct kcl_device {
  int platform, device; /* -1, -1: the native executor */
  char platform_name[128], name[128], version[128], driver[128];
  const char *kind; /* "gpu", "cpu", "accelerator" or "native" */
  int compute_units;
  uint64_t memory, max_alloc; /* bytes */
  bool has_double;
} kcl_device;

int kcl_device_current(kcl *ctx, kcl_device *out); /* the selected one */
/* All there are: the native executor first. *list is malloc'd, free it with free(). */
int kcl_device_list(kcl *ctx, kcl_device **list, int *count);
/* Rate of z = a x + y (triad, 3 vectors) on the selected device, bytes/s. McCalpin (1995).
 * kcl_stream_rate: the best that was measured on such a device with this driver, as the user's cache
 * folder remembers it; where it does not, measured at the first call. */
int kcl_stream_rate(kcl *ctx, double *bytes_per_second);
int kcl_stream_measure(kcl *ctx, double *bytes_per_second); /* now */

/* Tunables: numbers that change the time of an iteration on the selected device, never its meaning (the
 * last bits of sums they do). kcl_select reads the device's own file, lines "name = value" and comments
 * after #: $KRYLOCL_TUNE, else the one that `krylocl tune` wrote; what is wrong in it is KCL_INPUT with file
 * and line. */
typedef struct kcl_tunable {
  const char *name, *help;
  const char *format; /* the one it is for; NULL: all */
  int value;          /* 0: as built in */
  int standard;       /* built in; 0: depends on the matrix */
  int min, max;       /* a power of two between these */
  bool applies;       /* to the selected device */
} kcl_tunable;
int kcl_tunable_count(void);
int kcl_tunable_get(kcl *ctx, int i, kcl_tunable *out);     /* 0 <= i < count */
int kcl_tunable_set(kcl *ctx, const char *name, int value); /* for set-ups from now on */
/* -1: no cache folder, or no room for its name. */
int kcl_tune_path(kcl *ctx, char *path, size_t room);
int kcl_tune_read(kcl *ctx, const char *path);
int kcl_tune_write(kcl *ctx, const char *path, const char *remark); /* remark: lines, or NULL */

/* ---------------------------------------------------------------- matrices and vectors on the host */

typedef enum kcl_symmetry { KCL_GENERAL, KCL_SYMMETRIC, KCL_SKEW, KCL_HERMITIAN } kcl_symmetry;
typedef enum kcl_field { KCL_REAL, KCL_INTEGER, KCL_COMPLEX, KCL_PATTERN } kcl_field;
const char *kcl_symmetry_name(
    kcl_symmetry s);                     /* "general" "symmetric" "skew-symmetric" "hermitian" */
const char *kcl_field_name(kcl_field f); /* "real" "integer" "complex" "pattern" */

/* Compressed sparse rows: both triangles, no duplicates, columns ascending in each row.
 * Your own arrays serve as they are: fill the struct; nothing is copied that need not be. kcl_setup refuses, with the
 * row, what is not so; other functions rely on it. */
typedef struct kcl_csr {
  int64_t rows, cols, nnz;
  int64_t *row_ptr; /* [rows + 1] */
  int32_t *col;     /* [nnz] */
  void *val;        /* [nnz] of type */
  kcl_type type;
  kcl_symmetry symmetry; /* as known; KCL_GENERAL when not known */
  kcl_field field;       /* as the file said */
  int64_t stored;        /* entries in the file, before expansion and summing */
  void *mapped; /* NULL, or the .kcl file in memory that the arrays lie in: the library's */
  size_t mapped_size;
} kcl_csr;

int kcl_csr_create(kcl *ctx, int64_t rows, int64_t cols, int64_t nnz, kcl_type type, kcl_csr **out);
void kcl_csr_free(kcl_csr **A); /* one that this library made */

typedef struct kcl_dense kcl_dense;

/* Reads a file as type D, or Z when its field is complex: Matrix Market (coordinate or array),
 * Harwell-Boeing, Rutherford-Boeing, row lists, our binary .kcl; known by its content, .gz too,
 * "-" is standard input. Duplicates are summed, half storage expanded. */
int kcl_csr_read(kcl *ctx, const char *path, kcl_csr **out);
/* And what the file holds beside A: right-hand sides and first guesses, columns of A's type, or
 * NULL. b and x0 may be NULL pointers. */
int kcl_csr_read_system(kcl *ctx, const char *path, kcl_csr **A, kcl_dense **b, kcl_dense **x0);
/* The same, and what was parsed is kept as .kcl in the user's cache folder ($KRYLOCL_CACHE, else
 * $XDG_CACHE_HOME/krylocl, else ~/.cache/krylocl) under the size, time and checksum of the file, where the next
 * call finds it. */
int kcl_csr_read_cached(kcl *ctx, const char *path, kcl_csr **A, kcl_dense **b, kcl_dense **x0);
/* A matrix of the SuiteSparse collection by its name Group/Name: path receives that of its Matrix
 * Market file in the user's cache folder; fetch: download it (by the curl program) when it is not
 * there. Right-hand sides that come with it are Name_b.mtx beside it. */
int kcl_collection_get(kcl *ctx, const char *group_name, bool fetch, char *path, size_t room);
/* Writes the kind that the name ends in: .rb, .rows, .kcl, else Matrix Market; all but .kcl also
 * as .gz. Symmetric ones as lower half (not .rows and .kcl). b and x0, which may be NULL, are
 * kept by .kcl alone. */
int kcl_csr_write(kcl *ctx, const char *path, const kcl_csr *A);
int kcl_csr_write_system(kcl *ctx, const char *path, const kcl_csr *A, const kcl_dense *b,
                         const kcl_dense *x0);
/* Copy in another type; complex to real is KCL_USAGE, never a silent drop. */
int kcl_csr_convert(kcl *ctx, const kcl_csr *A, kcl_type type, kcl_csr **out);
int kcl_csr_adjoint(kcl *ctx, const kcl_csr *A, kcl_csr **out); /* conjugate transpose */
/* y = A x, or y = b - A x when b is given, in double precision with compensated sums (Ogita,
 * Rump & Oishi 2005, Dot2). Vectors are of type D or Z, as A is complex or not. */
void kcl_csr_product(const kcl_csr *A, const double *x, const double *b, double *y);

/* Dense, column-major: right-hand sides, guesses, solutions. Type D or Z. */
struct kcl_dense {
  int64_t rows, cols;
  kcl_type type;
  double *val; /* [cols, rows], pairs when complex */
};

int kcl_dense_create(kcl *ctx, int64_t rows, int64_t cols, kcl_type type, kcl_dense **out);
void kcl_dense_free(kcl_dense **B);
/* Matrix Market array or coordinate, or plain numbers: recognised by content; .gz and "-" too. */
int kcl_dense_read(kcl *ctx, const char *path, kcl_dense **out);
int kcl_dense_write(kcl *ctx, const char *path, const kcl_dense *B);
int kcl_dense_convert(kcl *ctx, const kcl_dense *B, kcl_type type,
                      kcl_dense **out); /* D to Z; Z to D is KCL_USAGE */

/* "heatsink:40", "poisson2d:100", "trefethen:2000" ...: kcl_list(KCL_GENERATORS) has them all.
 * b may be NULL; else it is a physical right-hand side, or A*1 where there is none. */
int kcl_generate(kcl *ctx, const char *kind_size, kcl_csr **A, kcl_dense **b);

/* Structure of a matrix, from one pass over it. */
typedef struct kcl_stats {
  int64_t rows, cols, nnz, stored;
  int64_t row_min, row_max;       /* entries in a row */
  double row_mean, row_deviation; /* deviation: mean absolute, in percent of the mean */
  int64_t empty_rows, explicit_zeros,
      zero_diagonal;            /* rows without a diagonal entry, or with zero there */
  int64_t bandwidth, diagonals; /* max |i - j|; number of diagonals that hold an entry */
  bool hermitian, symmetric;    /* of the values: A = A^H, A = A^T */
  bool shifted_skew;            /* A = c I + S, S = -S^H, c real and perhaps 0 */
  bool positive_diagonal;       /* real and > 0 everywhere */
  double dominant_rows;         /* share of rows with |a_ii| >= sum of the others */
  double norm_inf;              /* max row sum of |a_ij| */
  int64_t sliced,
      sliced_sorted; /* entries in slices of 32 rows, each padded to its longest row; the
                                    same when every 8192 rows are sorted by length before */
  int64_t row_third, beyond_third; /* a third of the rows have so many entries; those beyond that */
  int64_t
      blocks[9]; /* [b] b x b blocks with an entry, for b 2 3 4 6 8; 0 where not worth counting */
  int64_t sliced_even, sliced_fours; /* sliced, with the widths rounded up to multiples of 2, 4 */
  /* What repeats: distinct rows of (column - row, value) pairs, the entries of those rows, and runs
   * of equal neighbours; distinct pairs; distinct values. Beyond 65,536: 65,537, and no runs. */
  int64_t row_patterns, pattern_entries, pattern_runs, pairs, values;
  bool single_values; /* all are floats exactly, both parts */
  int64_t slice_span; /* largest difference of columns within 32 rows */
} kcl_stats;

int kcl_csr_stats(kcl *ctx, const kcl_csr *A, kcl_stats *out);

/* ---------------------------------------------------------------- registries */

typedef enum kcl_registry { KCL_FORMATS, KCL_SOLVERS, KCL_PRECONDS, KCL_GENERATORS } kcl_registry;
typedef struct kcl_entry {
  const char *name, *summary;
} kcl_entry;
int kcl_list_size(kcl_registry which);
kcl_entry kcl_list(kcl_registry which, int i); /* 0 <= i < size */
const char *kcl_auto_solver(
    const kcl_stats *s); /* what solver "auto" begins with, by structure alone */

/* What a format would cost for this matrix on the selected device. */
typedef struct kcl_cost {
  double bytes_stored;  /* of the matrix on the device */
  double bytes_product; /* moved by one product, vectors included */
  const char *refusal;  /* NULL, or why it will not be built */
} kcl_cost;
int kcl_format_cost(kcl *ctx, const kcl_stats *stats, kcl_type type, const char *format,
                    kcl_cost *out);

/* ---------------------------------------------------------------- solving */

typedef enum kcl_reason {
  KCL_CONVERGED,
  KCL_ITERATION_LIMIT,
  KCL_INDEFINITE,      /* p^H A p <= 0: A (or M) is not Hermitian positive definite */
  KCL_BREAKDOWN_RHO,   /* two residuals became orthogonal */
  KCL_BREAKDOWN_SIGMA, /* a search direction became A-orthogonal to its shadow */
  KCL_BREAKDOWN_OMEGA, /* a minimising step of length zero: A r is orthogonal to r */
  KCL_NOT_FINITE,      /* an infinity or NaN appeared */
  KCL_STAGNATED,       /* the true residual stopped falling: attainable accuracy reached */
  KCL_INTERRUPTED      /* the progress callback asked to stop */
} kcl_reason;
const char *kcl_reason_text(kcl_reason r); /* a phrase such as "matrix is not positive definite" */

typedef struct kcl_progress {
  int64_t iteration, max_iter;
  double relative_residual; /* recurrence, 2-norm, relative to b */
  double target;            /* relative residual to reach */
  double seconds;           /* since the solve began */
  int running;              /* right-hand sides that still iterate; this is the worst of them */
} kcl_progress;

enum { KCL_MOST_COLUMNS = 8 };

typedef struct kcl_options {
  /* NULL: "cg". "auto": by symmetry and sign of the diagonal; when the method gives up, the next that fits */
  const char *solver;
  const char *precond; /* NULL: "none" */
  /* NULL: "auto": what was measured before on this device for such a structure, else the least bytes; a long
   * solve times the next best and goes on with the fastest. "measure": times them in kcl_setup. "model": bytes
   * alone, the same at every run. "auto" and "measure" remember in the user's cache folder; without one
   * ($KRYLOCL_CACHE empty) they do not. */
  const char *format;
  kcl_type precision; /* of all arithmetic and storage on the device */
  double tol,
      atol; /* stop at |b - A x| <= max(tol |b|, atol), 2-norms; tol < 0: 1e-8, 1e-5 for S and C.
               Methods for least squares also stop where normal_residual <= max(tol, atol / |b|) */
  int64_t max_iter; /* 0: 10 x rows (or columns, if more), at least 10,000 and at most 100,000 */
  int restart;      /* iterations a cycle of a method that restarts (gmres: 1 to 50, by default 20);
                       0: its default; other methods ignore it */
  int columns; /* right-hand sides that kcl_solve_columns iterates at once, sharing each pass over
                       the matrix: 1 to KCL_MOST_COLUMNS, 0: 1. Each one's vectors are kept on the
                       device. Formats that cannot share a pass do one after another. */
  /* For precision D and Z: iterate in float, correct and check in double, go on in double where float
   * gets nowhere. A is stored twice. With a format left open only where an iteration is a fifth faster. Not
   * for methods of least squares, nor cg-single and cg-pipelined. One column at a time. */
  bool mixed;
  /* NULL, or called now and then; non-zero stops: iterations under way are still made, and the report is of the x
   * after them. */
  int (*progress)(void *user, const kcl_progress *p);
  void *user;
} kcl_options;
extern const kcl_options kcl_defaults; /* cg, none, auto, D, 1e-8 */

typedef struct kcl_report {
  kcl_reason reason;
  bool converged;
  int64_t iterations;
  int restarts;             /* residual replacements after a claim that did not hold */
  bool mixed;               /* float was used; iterations counts those in float and in double */
  int64_t inner_iterations; /* those in float */
  int outer_iterations;     /* corrections of x in double */
  char mixed_end[200];      /* why double went on, or empty */
  double relative_residual; /* recurrence; for least squares the lesser of it and normal_residual */
  double true_relative_residual; /* |b - A x| / |b|, recomputed on the host in double */
  double normal_residual; /* likewise max(|A^H r| / |A^H b|, |A^H r| / (|A|_F |r|)), r = b - A x, by
                             methods for least squares; else -1 */
  bool least_squares;     /* converged by that one: x minimises |b - A x|, which is not small */
  double backward_error;  /* |b - A x|_inf / (|A|_inf |x|_inf + |b|_inf) */
  double condition_estimate; /* from the Ritz values of CG (of M^-1 A); 0 when not known */
  double ritz_min, ritz_max;
  /* Of columns solved at once, a share: so they can be added up. */
  double seconds_upload, seconds_solve, seconds_download;
  double seconds_per_iteration;
  double bytes_per_iteration; /* matrix and vectors, each stage's operands once */
  const char *changes;        /* by "auto", under way: a line each; empty where there were none */
  const double *history; /* [history_size] relative residual by iteration; owned by the solver */
  int64_t history_size;  /* until its next solve */
} kcl_report;

typedef struct kcl_solver kcl_solver;

/* Choose the format, convert, upload and compile. A is only read, but must stay alive and
 * unchanged until the solver is freed (the native CSR formats use its arrays in place).
 * A must be square, but for methods of least squares (cgls, lsqr). Unknown names, a method that A does
 * not fit (CG and a matrix that is not Hermitian), a device without double: KCL_USAGE or KCL_DEVICE with
 * what would do; a rectangular A for another method: KCL_INPUT. */
int kcl_setup(kcl *ctx, const kcl_csr *A, const kcl_options *options, kcl_solver **out);
void kcl_solver_free(kcl_solver **s);
/* b is an array of A's rows, x one of A's columns, of A's type, apart from each other. x holds the first guess on
 * entry. report may be NULL. */
int kcl_solve(kcl_solver *s, const void *b, void *x, kcl_report *report);
/* k right-hand sides, options.columns at a time: B and X are column-major, [k, A's rows] and
 * [k, A's columns], one column behind the other; reports is [k]. Every column is a solve of its own, as by
 * kcl_solve: what one does, convergence or breakdown, does not touch the others; but a B with a number that is not
 * finite is refused as a whole, before any is solved. reports may be NULL. */
int kcl_solve_columns(kcl_solver *s, int64_t k, const void *B, void *X, kcl_report *reports);

typedef struct kcl_setup_info {
  const char *solver, *solver_reason; /* after kcl_solve: the one that ended it; why, for "auto" */
  const char *format, *format_reason; /* chosen, and why in one sentence */
  const char *kernel;                 /* what runs: "csr-vector, 4 lanes", "native, 2 threads" */
  double bytes_stored, seconds_convert, seconds_upload, seconds_compile;
  /* mixed: where asked for, what float takes and brings, or why it is not used; else empty. bytes_float:
   * of A in float, beside bytes_stored; 0 where it is not used. Seconds count both. */
  const char *mixed;
  double bytes_float;
  int stages; /* kernels (fused loops) an iteration */
  int programs_compiled,
      programs_cached; /* OpenCL programs: the driver's work; taken from the user's cache folder */
  int columns;         /* right-hand sides at once: as asked, or 1 where that cannot be */
  double seconds_measure; /* spent on timing formats and methods, all that this took */
  int64_t expected;       /* iterations, from the last solve of such a system; 0: not known */
  int timings;            /* what was timed, now or before, by "auto" */
} kcl_setup_info;
void kcl_solver_info(const kcl_solver *s, kcl_setup_info *out); /* texts live as long as s */
typedef struct kcl_setup_timing {
  const char *solver, *format;
  double seconds_setup, seconds_per_iteration; /* convert, upload and compile; an iteration */
} kcl_setup_timing;
void kcl_solver_timing(const kcl_solver *s, int i, kcl_setup_timing *out); /* 0 <= i < timings */

/* Time the loop with the stop tests off, after checking the product against kcl_csr_product
 * with a derived bound; not validated means nothing was timed. seconds_iteration receives
 * `repeats` samples, each the mean over `iterations`; seconds_product likewise. Of several columns
 * at once: the time of all. */
int kcl_bench(kcl_solver *s, int iterations, int repeats, double *seconds_iteration,
              double *seconds_product, bool *validated);
double kcl_bytes_per_iteration(const kcl_solver *s); /* of all columns at once */

/* ---------------------------------------------------------------- checking */

/* Direct solution with CHOLMOD (Hermitian positive definite), UMFPACK (other square ones) or
 * SuiteSparseQR (rectangular and singular ones: least squares, and where A has full row rank the x of
 * least norm), when the library was built with them; else KCL_USAGE. A's type: D or Z. */
typedef struct kcl_direct_info {
  const char *method; /* "CHOLMOD supernodal", "UMFPACK" ... */
  double seconds;     /* analysis, factorisation and solution */
  /* Infinity-norm estimate (Hager 1984, Higham 1988); by SuiteSparseQR |A|_F / the smallest singular
   * value that is not 0, estimated; 0 when not known. */
  double condition;
  int64_t rank; /* as SuiteSparseQR found it; -1: of the others' */
} kcl_direct_info;
bool kcl_direct_available(void);
bool kcl_direct_least_squares(void); /* with SuiteSparseQR */
int kcl_direct(kcl *ctx, const kcl_csr *A, const double *b, double *x, kcl_direct_info *info);

/* The certificate of x: residual b - A x by kcl_csr_product. Norms: 2 for relative, inf for backward. */
typedef struct kcl_certificate {
  double relative_residual, backward_error, norm_b, norm_x;
  double normal_residual; /* -1 from kcl_certify */
} kcl_certificate;
int kcl_certify(kcl *ctx, const kcl_csr *A, const double *b, const double *x, kcl_certificate *out);
/* And normal_residual = max(|A^H r| / |A^H b|, |A^H r| / (|A|_F |r|)), r = b - A x; two products more. */
int kcl_certify_least_squares(kcl *ctx, const kcl_csr *A, const double *b, const double *x,
                              kcl_certificate *out);

#ifdef __cplusplus
}
#endif
#endif
