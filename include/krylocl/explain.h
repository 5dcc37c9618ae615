/** @file
 * Names, options as a struct, statistics, costs, storage, reports: for programs that explain what the library chose and did,
 * beside krylocl.h. It may change with every release.
 */
#ifndef KRYLOCL_EXPLAIN_H
#define KRYLOCL_EXPLAIN_H

#include <krylocl/io.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

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

/** The continuation where the OpenCL device is lost during a solve: a call of its driver fails, or it does not answer. */
typedef enum kcl_fallback_rule {
  KCL_FALLBACK_NONE, /**< the solve ends: KCL_DEVICE_LOST */
  KCL_FALLBACK_CPU   /**< the native executor continues from the x that was read back last */
} kcl_fallback_rule;

/** Size of kcl_options.parameters, bytes. */
enum { KCL_PARAMETERS = 512 };

/** Options of a set-up as a struct: what the functions of krylocl.h set by name. Start from kcl_options_init. */
typedef struct kcl_options {
  /** Method; NULL: "auto", chosen by shape, symmetry and diagonal (kcl_auto_solver). If the method
   * breaks down, diverges or makes too little progress, the next suitable one continues from the
   * best x; if none converges, or a factorisation is predicted to be faster, and the library was built with SuiteSparse, the
   * system is solved directly. Limits: max_iter, see there. "direct": a factorisation alone, of a matrix with entries, on one rank,
   * without a preconditioner. */
  const char *solver;
  /** Preconditioner; NULL: "auto", the one that suits the method and the diagonal of A, or none. */
  const char *precond;
  /** Storage format; NULL: "auto".
   *
   * "auto": the fastest format on record for this device and structure, else the one whose
   * predicted time per iteration is the least; a long solve also times the next candidates and
   * continues with the fastest. "measure": times the candidates at set-up. "model": the least
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
  bool no_direct; /**< "auto" makes no direct solution */
  /** Memory errors during a solve are found and undone: arrays of A and of the preconditioner are compared with their checksums,
   * the method's residual with b - A x; after an error the solve goes on from the last state that passed. Report: guard_checks,
   * guard_errors, guard_rollbacks. KCL_USAGE: not with mixed, where A is a function, or on several ranks. */
  bool guard;
  /** 0: none. cpu: this solver and its later solves continue on the native executor, in a set-up of its own; other solvers of the
   * context are not touched. Once per second, and in at most a hundredth of the time, x is read back for it. Report: fell_back,
   * lost_at, lost_why. A preconditioner object is replaced by one of its kind for A. Not where vectors or functions are
   * on the device, or the object is a function: then as none.
   * KCL_USAGE: not on several ranks. */
  kcl_fallback_rule fallback;
  int restart; /**< cycle length of gmres and fgmres, 1 to KCL_MAX_RESTART; 0: 20; ignored by other methods */
  /** Right-hand sides that a solve iterates at once, sharing each pass over the matrix: 1 to
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

/** All options at their defaults: method, preconditioner and format "auto", precision D. */
void kcl_options_init(kcl_options *o);

/** Relative tolerance of a solve in this precision whose options have a negative tol. */
double kcl_default_tol(kcl_type precision);

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
int kcl_csr_stats(kcl_context *ctx, const kcl_csr *A, kcl_stats *out);

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
int kcl_format_cost(kcl_context *ctx, const kcl_stats *stats, kcl_type type, const char *format,
                    kcl_cost *out);

/** true: formats that pad to more than ten times the bytes of CSR are not refused for that, only
 * where the memory does not suffice. Initially false. */
void kcl_allow_padding(kcl_context *ctx, bool allowed);

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
int kcl_storage_create(kcl_context *ctx, const kcl_csr *A, kcl_type type, const char *format,
                       kcl_storage **out);

/** Frees what kcl_storage_create allocated. */
void kcl_storage_free(kcl_storage **s);

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
  double true_relative_residual; /**< |b - A x| / |b|, recomputed on the host in double; by the
                                    function, in its type, where A is one */
  double normal_residual;        /**< least-squares methods: max(|A^H r| / |A^H b|,
                                    |A^H r| / (|A|_F |r|)), r = b - A x, recomputed; others: -1.
                                    |A|_F of an A that is a function is an estimate */
  bool least_squares;            /**< reason is KCL_LEAST_SQUARES */
  /** |b - A x|_inf / (|A|_inf |x|_inf + |b|_inf), Rigal & Gaches 1967. -1, as the next two, where A is a function: its rows
   * are not known. */
  double backward_error;
  double rowwise_error;         /**< as in kcl_certificate */
  double componentwise_error;   /**< as in kcl_certificate */
  double condition_estimate;    /**< ritz_max / ritz_min of CG, of M^-1 A; 0: not known */
  double ritz_min;              /**< smallest Ritz value */
  double ritz_max;              /**< largest Ritz value */
  double seconds_upload;        /**< upload of b and x; an equal share for solves side by side */
  double seconds_solve;         /**< iterations; an equal share for solves side by side */
  double seconds_download;      /**< download of x; an equal share for solves side by side */
  double seconds_certify;       /**< the certificate of x, and checksums of A and x */
  double seconds_per_iteration; /**< seconds_solve per iteration */
  double bytes_per_iteration;   /**< bytes moved per iteration: each stage's operands once; of a
                                    function x and y alone */
  const char *changes;          /**< changes of format and method made by "auto", one line each, or
                                    empty; valid until the solver's next solve */
  const double *history;        /**< [history_size] relative_residual after each iteration, the
                                    initial one first; valid until the solver's next solve */
  int64_t history_size;         /**< length of history */
  int64_t checkpoints;          /**< that this solve wrote: kcl_solver_checkpoint */
  double bytes_checkpoint;      /**< size of the last one, bytes */
  double seconds_checkpoint;    /**< for all of them, not part of seconds_solve */
  int64_t
      resumed_at; /**< the iteration that it went on from: kcl_solver_resume; 0: it began anew */
  int64_t
      guard_checks; /**< checks of kcl_options.guard in this solve, all right-hand sides together */
  int64_t guard_errors;    /**< of them found an error in memory or arithmetic */
  int64_t guard_rollbacks; /**< returns to a state that had passed */
  bool
      fell_back; /**< the device was lost, and the native executor continued: kcl_options.fallback */
  int64_t
      lost_at; /**< then, or if reason is KCL_DEVICE_LOST: the iteration of the x that had been read back; 0: none had */
  char lost_why
      [300]; /**< the call that failed, its code and the device; empty: the device was not lost */
  uint64_t x_sum; /**< kcl_checksum of the x that the residuals are of, [cols] of A's type */
  /** Other x have this residual, as far as is known: A has columns of zeros or fewer rows than columns, a direct
   * factorisation found a smaller rank than columns, or x is a least-squares solution and A is square (all but singular). */
  bool not_unique;
  /** not_unique, and x is the smallest of them: from a direct factorisation, or from a least-squares method that began at 0
   * without a preconditioner. */
  bool least_norm;
} kcl_report;

/** Choices of a set-up. The texts live as long as the solver. */
typedef struct kcl_setup_info {
  const char *solver;        /**< method; after a solve, the one that finished it */
  const char *solver_reason; /**< why "auto" chose it, or empty */
  bool
      solver_remembered; /**< "auto" began with what solved a system of this structure before, and would
                                begin with something else without that record */
  const char *precond;       /**< preconditioner of that method */
  const char *format;        /**< storage format; "shell" where A is a function */
  const char *format_reason; /**< why, one sentence */
  bool scaled;               /**< rows and columns are scaled: see kcl_options.scale */
  const char *scale_reason;  /**< why they are, or are not although rows differ much; else empty */
  int row_powers[2];         /**< least and largest power of two that rows are scaled by */
  int col_powers[2];         /**< the same for columns */
  const char *
      put_aside; /**< kernels of this driver that failed the self-test at first use, by name, and are not used; or empty */
  const char *kernel;     /**< the kernel: "csr-vector, 4 lanes", "native, 2 threads" */
  double bytes_stored;    /**< size of the matrix on the device, bytes */
  double seconds_check;   /**< check of A's structure, and its checksum */
  double seconds_stats;   /**< statistics of A, which formats and methods are chosen by */
  double seconds_convert; /**< conversion to the format */
  double seconds_upload;  /**< upload of the matrix */
  double seconds_compile; /**< compilation of the kernels */
  const char *mixed;      /**< if mixed precision was asked for: what it costs and gains, or why
                                it is not used; else empty */
  double bytes_float;     /**< size of the matrix in float beside bytes_stored; 0: not used */
  int stages;             /**< stages (fused passes over the vectors) per iteration */
  int programs_compiled;  /**< OpenCL programs that the driver compiled */
  int programs_cached;    /**< OpenCL programs that were taken from the user's cache folder */
  int nrhs;               /**< right-hand sides at once: options.nrhs, or 1 if not possible */
  double seconds_measure; /**< timing of formats and methods, set-ups included */
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
/** The report of a column of the last solve; all zero if there is none. */
void kcl_solver_report(const kcl_solver *s, int64_t column, kcl_report *out);

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

/** A way to solve that "auto" compares by seconds. */
typedef struct kcl_candidate_info {
  const char *solver;   /**< method; "direct": a factorisation */
  const char *precond;  /**< preconditioner */
  double seconds_setup; /**< predicted set-up of the preconditioner */
  double iterations;    /**< predicted; -1: not known before the solve; 0: direct */
  double
      seconds_compile; /**< predicted compilation of kernels that were not in the cache folder before this set-up */
  double seconds; /**< predicted, of set-up, compilation and iterations; -1: not known */
  double
      seconds_taken; /**< by an earlier solve of such a system that it ended; -1: there was none */
  bool failed;       /**< it did not solve such a system, and another way did */
  bool begins;       /**< the next solve begins with it */
  const char *why;   /**< why so many iterations or seconds; constant text */
} kcl_candidate_info;

/** The ways of "auto" for this system on one thread or device, at most `most` of them into list [most], *count in all: predictions
 * from what A is, and what the file of choices remembers. Orders the structure of A to predict a direct solution; runs nothing.
 * None for a function in place of a matrix and on several ranks. Texts live as long as the solver. KCL_USAGE: an argument is
 * NULL. */
int kcl_solver_candidates(kcl_solver *s, int most, kcl_candidate_info *list, int *count);

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

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
