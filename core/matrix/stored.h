/* A matrix in one storage format on one executor, and the interface of a storage format.
 *
 * A format is spmv/NAME.c, kernels/spmv_NAME.cl and a line in spmv/list.def. Its `build` converts host CSR into a few
 * named arrays and integers. The cpu executor passes the arrays to `rows`; the opencl executor uploads them and passes
 * them under the same names to the function visit_rows of the .cl (or scatter, for formats that cannot finish a row at
 * a time). Plain products, products fused with dot products and whole methods are all compiled from that function.
 */
#ifndef KCL_STORED_H
#define KCL_STORED_H

#include "core/base/tunables.h"
#include "core/matrix/offset_runs.h"
#include "core/matrix/shell.h"

/* ---------------------------------------------------------------- a built matrix */

typedef enum kcl_array_kind {
  KCL_INT32,
  KCL_INT64, /* on a device: int where all values fit */
  KCL_SCALAR,
  KCL_UINT8,
  KCL_UINT16,
  KCL_SINGLE, /* float, or pairs of floats in the complex types; "single" in kernels */
  KCL_IMAGE   /* scalars in a 2D image (kernels/image.clh); always prepared */
} kcl_array_kind;
size_t kcl_array_element(kcl_array_kind kind, kcl_type type); /* bytes */

typedef struct kcl_array {
  const char *name; /* of the kernel's argument */
  kcl_array_kind kind;
  int64_t count;
  void *data;    /* [count]; NULL after the upload to a device */
  bool borrowed; /* owned by the caller's CSR */
  bool prepared; /* written on the device by prepare() before each product; not uploaded */
} kcl_array;

enum { KCL_MOST_ARRAYS = 8 };

typedef struct kcl_format kcl_format;
typedef struct kcl_stored kcl_stored;

/* The source of a matrix, for build. */
typedef struct kcl_origin {
  kcl_csr source;   /* whose arrays are the caller's; row_ptr NULL: there is none */
  kcl_csr *adopted; /* host CSR whose arrays are borrowed; freed with the matrix, or NULL */
  /* For build, NULL afterwards: the distinct rows of the source (core/matrix/repeats.h), or NULL; one of the same pattern in this
   * format, or NULL. */
  struct kcl_distinct_rows *distinct;
  const kcl_stored *before;
} kcl_origin;

/* Set by build for the device's kernels; the defaults suit one work-item per row. */
typedef struct kcl_kernel_layout {
  int lanes;         /* work-items per row; default 1, always 1 on CPU devices */
  int variant;       /* the constant VARIANT of the .cl; default 0 */
  int local_scalars; /* scalars of local memory beyond one per work-item, an argument; default 0 */
  int registers;     /* per work-item, so that its loads overlap; default 0: the compiler's */
  /* A work-item reads consecutive entries of its own row, so the number of work-groups is limited to
   * what the L1 cache holds. Default false. */
  bool row_per_item;
  /* GPUs: row i is emitted by the work-item that EACH gives element i (with lanes, EACH_TEAM), and x is
   * read through AT (kernels/rows.clh): the format can be part of the persistent kernel. Default false. */
  bool rows_match_elements;
  int64_t tasks;         /* units of work that groups divide; default 0: rows times lanes */
  int64_t message_slots; /* messages between groups (kernels/messages.clh); default 0 */
  int64_t scatter_items; /* items of scatter(); default nnz */
  int64_t prepare_items; /* items of prepare(), a kernel before each product; default 0: none */
} kcl_kernel_layout;

/* Cost of an outline: a matrix that is not built, to predict the time of its products. */
typedef struct kcl_product_cost {
  double chain;      /* entries of a row that one work-item handles one after another, at most */
  double mean;       /* the same, of the mean row */
  double entry_ns;   /* per entry of the chain while A is in cache (NVIDIA H200) */
  double streamed;   /* bytes that take as long to stream as the product takes */
  int64_t bandwidth; /* max |i - j| */
} kcl_product_cost;

struct kcl_stored {
  kcl_context *ctx;
  const kcl_format *format;
  kcl_type type;
  int64_t rows, cols, nnz;
  /* Where shell.apply is not NULL the product is that function of the caller's, and there are no arrays. adjoint: it is asked for
   * A^H x. */
  kcl_shell shell;
  bool adjoint;
  kcl_array array[KCL_MOST_ARRAYS];
  struct {
    const char *name;
    int64_t value;
  } param[KCL_MOST_ARRAYS];
  int arrays, params;
  char note[64]; /* for reports: a result of build such as "27 patterns"; may be empty */
  kcl_origin origin;
  int sharers; /* owners beyond the first: the last one to free it frees it */
  bool
      guarded; /* natively: `step`, and `rows` of sell, look at indices before they use them, since a bit may flip in memory */
  bool uneven; /* natively: rows are short, of different lengths (spmv/csr_uneven.h) */
  const struct kcl_halo
      *halo; /* of rows spread over ranks (core/program/ranks.h); not owned; NULL: none */
  /* The product is carried out in steps, one after another, of rows step[i] to step[i + 1] in the format's order: natively
   * by the format's `step`, on a device by a launch of prepare() each. Default 0: at once. */
  int64_t steps;
  int64_t *step; /* [steps + 1], owned */
  kcl_kernel_layout kernel;
  kcl_product_cost cost;
  void *device[KCL_MOST_ARRAYS];         /* cl_mem of each array, once uploaded */
  void (*release)(struct kcl_stored *m); /* frees them; NULL before the upload */
};

/* ---------------------------------------------------------------- a format */

/* Stored bytes of a matrix of this structure, and of its largest single array. A KCL_INT64 counts 4 bytes, as on a device;
 * the cpu executor needs 8. */
typedef struct kcl_size {
  double total, largest;
} kcl_size;

struct kcl_format {
  const char *name, *summary, *source;
  const char *kernel; /* kernels/KERNEL.cl */
  /* The kernel whose text it is on CPU devices, where the .cl includes that; NULL: kernel. */
  const char *cpu_kernel;
  bool scatter; /* the .cl has scatter() and no visit_rows() */
  bool image;   /* x is read from an image "xi", added to the arrays */
  /* The .cl declares x and row sums as `element`: one pass can serve several right-hand sides. Without it
   * they are solved one after another. */
  bool multi_rhs;
  /* Column indices are stored one per entry: they may be renumbered within a row block
   * (core/matrix/row_blocks.h). */
  bool columns_renumberable;
  /* The bytes of the arrays that build makes, without the image. */
  kcl_size (*size)(const kcl_stats *s, kcl_type type);
  bool size_is_bound;  /* size may predict more than build makes */
  bool counts_repeats; /* size, refuses or slowdown depend on the fields of kcl_compression */
  /* NULL (function or result), or why no such matrix can be stored: a number and its limit, in
   * kcl_refusal_text. */
  const char *(*refuses)(const kcl_stats *s, kcl_type type);
  /* Time of a product over the time of streaming its bytes on such a device; NULL: 1. */
  double (*slowdown)(const kcl_stats *s, const kcl_device *device);
  /* For predictions on GPUs: lanes and rows_match_elements as build sets them there, chain, mean and entry_ns. NULL: one
   * work-item per row, rows that do not match elements, no padding, 20 ns per entry. */
  void (*outline)(kcl_stored *m, const kcl_stats *s);
  /* Fills m with arrays (kcl_stored_array), params and the fields above. A has m's type. */
  int (*build)(kcl_stored *m, const kcl_csr *A);
  /* Writes other values in the structure that m was built of, A's, to m's arrays on the host. runs: of A's rows, or NULL. It cannot
   * fail. NULL: a matrix of other values is built. */
  void (*refill)(kcl_stored *m, const kcl_csr *A, const kcl_offset_runs *runs);
  /* y[lo .. hi) = (A x)[lo .. hi), sequentially; the executor divides the rows among threads. lo is a multiple of
   * 64, and so is hi except at the end; the same holds for visit_rows on CPU devices. */
  void (*rows)(const kcl_stored *m, const void *x, void *y, int64_t lo, int64_t hi);
  /* `rows` for k right-hand sides at once, 2 to KCL_MAX_NRHS, each with the bits of `rows`. NULL: `rows` is called for one
   * after another. */
  void (*rows_multi)(const kcl_stored *m, int k, const void *const *x, void *const *y, int64_t lo,
                     int64_t hi);
  /* Natively, in guarded programs before `rows`: is all memory there that rows lo to hi read and write? They are multiplied only then.
   * NULL: the format has no indices, or `step` looks at them itself; of sell it is all memory but that of x. */
  bool (*bounded)(const kcl_stored *m, int64_t lo, int64_t hi);
  int bounded_rows; /* hi - lo of these calls, at most; 0: 64, a unit of all formats with slices */
  int bounded_entries; /* fewer rows instead, which have about so many entries: multiples of 64 if bounded_rows is given, else of 8 */
  /* This format for vectors of float, A's values being double: its rows and rows_multi read x and write y as float, and the
   * .cl reads x through AT on GPUs (spmv/narrow.h). NULL: there is none for such vectors, or the type is not double. */
  const kcl_format *narrow;
  /* In place of `rows`, for matrices in steps: part `part` of `parts` of a step. */
  void (*step)(const kcl_stored *m, const void *x, void *y, int64_t number, int part, int parts);
};

static inline bool kcl_is_gpu(const kcl_device *d) { return d->kind && d->kind[0] == 'g'; }
/* For slowdown with one work-item per row on a GPU, where the longest row delays its work-group of 256. */
static inline double kcl_skew(const kcl_stats *s) {
  return s->row_mean > 0 ? (double)s->row_max / (256 * s->row_mean) : 0;
}

/* For build: a new array, zeroed; one of the CSR's, used in place where possible; an array that prepare() fills on
 * the device, `items` work-items before each product; an integer. */
int kcl_stored_array(kcl_stored *m, const char *name, kcl_array_kind kind, int64_t count,
                     void **data);
void kcl_stored_borrow(kcl_stored *m, const char *name, kcl_array_kind kind, int64_t count,
                       void *data);
void kcl_stored_prepared(kcl_stored *m, const char *name, kcl_array_kind kind, int64_t count,
                         int64_t items);
void kcl_stored_param(kcl_stored *m, const char *name, int64_t value);

/* For build: is it the layout of a GPU, where neighbouring work-items take neighbouring rows (otherwise each takes a
 * contiguous range, as `rows` does)? Are the arrays for a device? The tunables; 0: as built in. */
bool kcl_stored_gpu_layout(const kcl_stored *m);
bool kcl_stored_on_device(const kcl_stored *m);
const kcl_tune *kcl_stored_tune(const kcl_stored *m);

/* For build: a table of so many bytes is copied into local memory by each work-group of a GPU, where it fits: sets local_scalars. */
void kcl_stored_local_table(kcl_stored *m, double bytes);

/* For refuses: the sentence, in static memory of this thread. For build: fails with that sentence. */
const char *kcl_refusal_text(const char *format, ...) KCL_PRINTF(1, 2);
int kcl_stored_refused(const kcl_stored *m, const char *why);

/* ---------------------------------------------------------------- names of arrays and integers (names.c) */

/* NULL, or why build cannot give this name. */
const char *kcl_name_refused(const kcl_stored *m, const char *name, kcl_array_kind kind);
int kcl_stored_check_names(const kcl_stored *m);

/* ---------------------------------------------------------------- using them */

int kcl_stored_build(kcl_context *ctx, const kcl_format *f, const kcl_csr *A, kcl_stored **out);
/* kcl_stored_build for an A whose distinct rows may be known already. */
int kcl_stored_build_from(kcl_context *ctx, const kcl_format *f, const kcl_csr *A,
                          struct kcl_distinct_rows *distinct, kcl_stored **out);
/* kcl_stored_build for an A with the pattern of the one that `before`, of the same format, was built from; or NULL. */
int kcl_stored_build_again(kcl_context *ctx, const kcl_format *f, const kcl_csr *A,
                           const kcl_stored *before, kcl_stored **out);
/* Can kcl_stored_refill give m, of this format, other values? Not on devices, and not while others use m. */
bool kcl_stored_refills(const kcl_stored *m, const kcl_format *f);
/* m becomes what f->build would make of A, which has the structure and the type of m's source; so A is the source from now on. runs: of
 * A's rows, or NULL. */
void kcl_stored_refill(kcl_stored *m, const kcl_csr *A, const kcl_offset_runs *runs);
/* A matrix of this structure in this format, not built: one array of as many bytes, without data. */
void kcl_stored_outline(kcl_context *ctx, const kcl_format *f, const kcl_stats *s, kcl_type type,
                        kcl_stored *out);
void kcl_stored_adopt(kcl_stored *m, kcl_csr *A); /* m frees A */
/* Does m use these values where they are? And: m gets copies of all arrays that are not its own; it has no source then. */
bool kcl_stored_borrows(const kcl_stored *m, const void *values);
int kcl_stored_own(kcl_stored *m);
/* Real values in double are stored as float from now on (KCL_SINGLE), and products computed in double as before; a row has half
 * as many lanes. For the formats of multigrid's levels, before the upload; or before arrays without data are filled. */
int kcl_stored_narrow(kcl_stored *m);
kcl_stored *kcl_stored_share(kcl_stored *m); /* m, to be freed once more; NULL of NULL */
void kcl_stored_free(kcl_stored **m);
bool kcl_stored_scatters(const kcl_stored *m);
/* May x and y of its product be of float, A's type being double? */
bool kcl_stored_takes_narrow(const kcl_stored *m);
/* Are rows of its product complete only after the launch? So it is for formats that scatter and matrices with a halo. */
bool kcl_stored_ends_stage(const kcl_stored *m);
double kcl_stored_bytes(const kcl_stored *m);          /* all arrays, as stored on the executor */
double kcl_stored_prepared_bytes(const kcl_stored *m); /* those that prepare() writes */

/* y = A x in one thread, the textbook's loop; x [cols] and y [rows] are of A's type (spmv/sequential.c). */
void kcl_sequential_product_s(const kcl_csr *A, const void *x, void *y);
void kcl_sequential_product_d(const kcl_csr *A, const void *x, void *y);
void kcl_sequential_product_c(const kcl_csr *A, const void *x, void *y);
void kcl_sequential_product_z(const kcl_csr *A, const void *x, void *y);
/* y = A x of rows by cols elements, row by row. */
void kcl_sequential_dense_s(int64_t rows, int64_t cols, const void *A, const void *x, void *y);
void kcl_sequential_dense_d(int64_t rows, int64_t cols, const void *A, const void *x, void *y);
void kcl_sequential_dense_c(int64_t rows, int64_t cols, const void *A, const void *x, void *y);
void kcl_sequential_dense_z(int64_t rows, int64_t cols, const void *A, const void *x, void *y);

/* The registry (spmv/registry.c). */
extern const int kcl_format_count;
extern const int kcl_format_auto_count; /* those after the first so many exist for studies */
const kcl_format *kcl_format_at(int i, kcl_type type); /* 0 <= i < count */
int kcl_format_find(kcl_context *ctx, const char *name, kcl_type type, const kcl_format **out);
/* A format outside the registry, for preconditioners: for N strictly triangular its product is y = (I + N)^-1 x. */
const kcl_format *kcl_format_triangular(kcl_type type);

/* Do two formats have the same arrays and loop on this device? Some differ on GPUs only. */
bool kcl_format_alike(const kcl_context *ctx, const kcl_stats *s, kcl_type type,
                      const kcl_format *a, const kcl_format *b);

/* The choice by bytes (spmv/rank.c). */
typedef struct kcl_rank {
  const kcl_format *format;
  double moved;   /* stored bytes times slowdown, plus the vectors of a product */
  double seconds; /* per iteration, predicted (solver/engine/predict.c) */
} kcl_rank;
enum { KCL_MOST_FORMATS = 64 };
/* All formats that accept the matrix, the cheapest first; a failure if there are none. */
int kcl_format_rank(kcl_context *ctx, const kcl_stats *s, kcl_type type,
                    kcl_rank list[KCL_MOST_FORMATS], int *count);
/* The format of this name. KCL_REFUSED: it refuses the matrix. */
int kcl_format_named(kcl_context *ctx, const kcl_stats *s, kcl_type type, const char *name,
                     const kcl_format **out);

#endif
