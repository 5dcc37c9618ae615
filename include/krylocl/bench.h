/** @file
 * Benchmarks: products in a named format, rows of a benchmark, their samples; errors of products. For programs that measure, beside
 * krylocl.h. It may change with every release.
 */
#ifndef KRYLOCL_BENCH_H
#define KRYLOCL_BENCH_H

#include <krylocl/device.h>
#include <krylocl/explain.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

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

/** A matrix on the device, in a storage format, with the kernels of its product. */
typedef struct kcl_operator kcl_operator;

/** Chooses the format, converts and uploads the matrix, compiles the kernels; selects the device
 * NULL if none was selected. A may be rectangular.
 *
 * The arrays of A must stay alive and unchanged until the operator, and every solver set up from it, is
 * freed: native CSR formats use them. options may be NULL: format "auto", precision D, y = A x.
 *
 * KCL_USAGE: an unknown name or value, or A is complex and the precision is not. KCL_INPUT: A is
 * empty. KCL_DEVICE: the device has no double precision. KCL_REFUSED: the format refuses A. */
int kcl_operator_create(kcl_context *ctx, const kcl_csr *A, const kcl_operator_options *options,
                        kcl_operator **out);

/** Frees an operator, before or after the solvers that were set up from it. Waits for products under
 * way. */
void kcl_operator_free(kcl_operator **op);

/** A product y = alpha A x + beta y, for one or several columns. m x n: the shape of A; with adjoint,
 * of A^H. Start from zeros: (kcl_product){.x = x, .y = y} is y = A x.
 *
 * An operand that is multiplied by zero is not read: y may hold anything, NaN too, if beta is 0, and x if alpha
 * is. x and y do not overlap. */
typedef struct kcl_product {
  const void *x;     /**< [cols, n], column-major, of the operator's precision */
  void *y;           /**< [cols, m], column-major, of the operator's precision */
  int64_t cols;      /**< number of columns; 0: 1 */
  const void *alpha; /**< one number of the operator's precision; NULL: 1 */
  const void *beta;  /**< one number of the operator's precision; NULL: 0 */
  bool adjoint;      /**< y = alpha A^H x + beta y */
  /** x and y are not arrays but OpenCL buffers (cl_mem) of the context of kcl_context_opencl, of the
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

/** Description of an operator. The texts live as long as it. */
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
int kcl_product_check(kcl_context *ctx, const kcl_csr *A, kcl_type arithmetic, const double *x,
                      const double *y, kcl_product_error *out);

/** As kcl_product_check, for y = alpha A x + beta y0. alpha, beta: one number of the type of x; y0 [rows], not read where beta is 0. The
 * bound has 2 c u (|alpha A x|_i + |beta y0|_i) more. */
int kcl_update_check(kcl_context *ctx, const kcl_csr *A, kcl_type arithmetic, const double *alpha,
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
int kcl_product_compare(kcl_context *ctx, const kcl_csr *A, kcl_type arithmetic,
                        const double *alpha, const double *x, const double *beta, const double *y0,
                        const double *y, const double *other, kcl_product_difference *out);

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

/** Sets up a solver and measures it as kcl_bench_solver does. o: as for kcl_solver_create; plan NULL: all defaults.
 * *out is freed by kcl_bench_free. Fails as kcl_solver_create does. */
int kcl_bench_method(kcl_context *ctx, const kcl_csr *A, const kcl_options *o,
                     const kcl_bench_plan *plan, kcl_bench_row *out);

/** Measures the product y = A x alone, of any shape of A: o->format (a name), o->precision and
 * o->nrhs are used. KCL_REFUSED: the format refuses A. */
int kcl_bench_product(kcl_context *ctx, const kcl_csr *A, const kcl_options *o,
                      const kcl_bench_plan *plan, kcl_bench_row *out);

/** Measures sequential C code, a loop of one thread on the host, as a reference. format: "dense", all
 * rows x cols elements, or NULL: CSR. KCL_MEMORY: they do not fit. */
int kcl_bench_sequential(kcl_context *ctx, const kcl_csr *A, const char *format, kcl_type precision,
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
int kcl_bench_profiled(kcl_context *ctx, const kcl_csr *A, const kcl_options *o, bool product,
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

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
