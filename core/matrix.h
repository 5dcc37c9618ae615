/* A matrix in one storage format on one executor, and what a format's author writes.
 *
 * A format is spmv/NAME.c and kernels/spmv_NAME.cl and a line in spmv/list.def. Its `build` turns
 * host CSR into a few named arrays and integers. That list is all there is: the cpu executor hands
 * the arrays to `rows`; the opencl executor uploads them and passes them under the same names to
 * the function visit_rows of the .cl (or scatter, for formats that cannot finish a row at a time).
 * Plain products, products fused with dots and whole methods come from that one text.
 */
#ifndef KCL_MATRIX_H
#define KCL_MATRIX_H

#include "core/program.h"
#include "core/tune.h"

/* KCL_SINGLE: float, or pairs of floats in the complex types ("single" in kernels). KCL_IMAGE: scalars in a
 * 2D image (kernels/image.clh), scratch always. */
typedef enum kcl_array_kind {
  KCL_INT32,
  KCL_INT64,
  KCL_SCALAR,
  KCL_UINT8,
  KCL_UINT16,
  KCL_SINGLE,
  KCL_IMAGE
} kcl_array_kind;
size_t kcl_array_element(kcl_array_kind kind, kcl_type type); /* bytes */

typedef struct kcl_array {
  const char *name;    /* of the kernel's argument */
  kcl_array_kind kind; /* KCL_INT64 arrays are narrowed to int on the device when all values fit */
  int64_t count;
  void *data;    /* [count]; on a device NULL after the upload */
  bool borrowed; /* the caller's CSR, not ours */
  bool scratch; /* prepare() writes it before each product: made on the device, nothing to upload */
} kcl_array;

enum { KCL_MOST_ARRAYS = 8 };

typedef struct kcl_format kcl_format;
struct kcl_matrix {
  kcl *ctx;
  const kcl_format *format;
  kcl_type type;
  int64_t rows, cols, nnz;
  kcl_array array[KCL_MOST_ARRAYS];
  struct {
    const char *name;
    int64_t value;
  } param[KCL_MOST_ARRAYS];
  int arrays, params;
  int lanes;     /* work-items a row on a device; 1 unless build says otherwise */
  int tree;      /* scalars of local memory beyond one a work-item; 0 unless build says otherwise */
  int registers; /* that a work-item wants to have its loads under way together (of 32 bits, where
                    compilers can be told); 0: as many as the compiler likes */
  int variant;   /* the constant VARIANT of the .cl; 0 unless build says otherwise */
  bool
      along; /* where no lanes share a row, a work-item goes along its own, not beside its neighbours */
  /* On GPUs row i is emitted where EACH gives element i when LANES work-items share an element, and the
   * text reads x by AT (kernels/rows.clh); false unless build says otherwise. */
  bool aligned;
  char note[64];         /* for reports: what build decided, such as "27 patterns"; may be empty */
  const kcl_csr *source; /* what it was built from, for as long as executors are opened with it */
  int64_t tasks;         /* what a product divides among work-groups; 0: rows, times lanes */
  int64_t letters;       /* sums that groups tell each other in a product (kernels/letters.clh) */
  int64_t items;         /* what a scatter divides among its work-items */
  int64_t
      prepare; /* what prepare() does, a kernel of its own before each product; 0: there is none */
  void *device[KCL_MOST_ARRAYS]; /* cl_mem of each array */
  kcl_csr *adopted;              /* host CSR whose arrays are borrowed and which nobody else owns */
};

/* Stored bytes of an m x n matrix of this structure, and the largest single array among them. */
typedef struct kcl_size {
  double total, largest;
} kcl_size;

/* For `slowdown` where a row is a work-item's on GPUs: the longest holds up its group of 256. */
static inline double kcl_skew(const kcl_stats *s) {
  return s->row_mean > 0 ? (double)s->row_max / (256 * s->row_mean) : 0;
}

struct kcl_format {
  const char *name, *summary, *source;
  const char *kernel; /* kernels/KERNEL.cl */
  bool scatter;       /* the .cl holds scatter(), not visit_rows() */
  bool image;         /* x is read through an image: only OpenCL devices that have them */
  bool columns; /* the .cl is written over `element` for x and sums, so several columns may share
                         a product; without it they are solved one after another there */
  bool any_columns; /* columns are stored as numbers, one an entry: those of x may be numbered anew
                             (core/pieces.h) */
  kcl_size (*size)(const kcl_stats *s, kcl_type type);
  /* NULL (the function or its answer), or why no such matrix can be stored: a number and its limit,
   * in kcl_refusal_text. */
  const char *(*refuses)(const kcl_stats *s, kcl_type type);
  /* How many times slower than streaming its bytes a product is on such a device (1 when NULL). */
  double (*slowdown)(const kcl_stats *s, const kcl_device *device);
  /* Fill m with arrays (kcl_matrix_array), params and lanes. A has m's type. */
  int (*build)(kcl_matrix *m, const kcl_csr *A);
  /* y[lo .. hi) = (A x)[lo .. hi), sequentially; the executor divides the rows among threads. lo is a
   * multiple of 64, and so is hi where it is not the end; on CPU devices visit_rows may count on the
   * same. */
  void (*rows)(const kcl_matrix *m, const void *x, void *y, int64_t lo, int64_t hi);
  /* The same for k columns at once, 2 to KCL_MOST_COLUMNS, each with the bits that `rows` gives it; NULL: by `rows`,
   * one after another. */
  void (*rows_of_columns)(const kcl_matrix *m, int k, const void *const *x, void *const *y,
                          int64_t lo, int64_t hi);
};

/* For build: a new array, zeroed; or one of the caller's, used in place where possible. */
int kcl_matrix_array(kcl_matrix *m, const char *name, kcl_array_kind kind, int64_t count,
                     void **data);
void kcl_matrix_borrow(kcl_matrix *m, const char *name, kcl_array_kind kind, int64_t count,
                       void *data);
/* On a device: an array that prepare() fills with `items` of work before each product. */
void kcl_matrix_scratch(kcl_matrix *m, const char *name, kcl_array_kind kind, int64_t count,
                        int64_t items);
void kcl_matrix_image(kcl_matrix *m); /* x as an image, "xi", for formats that declare `image` */
void kcl_matrix_param(kcl_matrix *m, const char *name, int64_t value);

/* For refuses: the sentence in static memory of this thread. For build: the failure that says it. */
const char *kcl_refusal_text(const char *format, ...) KCL_PRINTF(1, 2);
int kcl_matrix_refused(const kcl_matrix *m, const char *why);

/* For build: will neighbouring work-items work side by side, as on GPUs? Otherwise rows come in
 * contiguous ranges, as for `rows`. And: are the arrays for a device at all? */
bool kcl_matrix_neighbours(const kcl_matrix *m);
bool kcl_matrix_on_device(const kcl_matrix *m);
const kcl_tune *kcl_matrix_tune(const kcl_matrix *m); /* 0: as built in */

bool kcl_matrix_scatters(const kcl_matrix *m);
double kcl_matrix_bytes(const kcl_matrix *m);         /* of all arrays, as stored on the executor */
double kcl_matrix_scratch_bytes(const kcl_matrix *m); /* of these, what prepare() writes */
int kcl_matrix_build(kcl *ctx, const kcl_format *f, const kcl_csr *A, kcl_matrix **out);
void kcl_matrix_adopt(kcl_matrix *m, kcl_csr *A); /* frees A with m */
void kcl_matrix_free(kcl_matrix **m);

int kcl_format_find(kcl *ctx, const char *name, kcl_type type, const kcl_format **out);
typedef struct kcl_rank {
  const kcl_format *format;
  double moved; /* size times slowdown, and the vectors of a product: bytes */
} kcl_rank;
enum { KCL_MOST_FORMATS = 64 };
/* All that are not refused, the cheapest first; at least one, or a failure. */
int kcl_format_rank(kcl *ctx, const kcl_stats *s, kcl_type type, kcl_rank list[KCL_MOST_FORMATS],
                    int *count);
/* The first of these; the sentence says why. */
int kcl_format_choose(kcl *ctx, const kcl_stats *s, kcl_type type, const kcl_format **out,
                      char *why, size_t room);

#endif
