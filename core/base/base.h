/* For all of the library: the five nouns, errors, memory, names, threads and elements.
 *
 *   executor   where work runs: cpu (core/cpu/executor.c) or opencl (core/opencl/executor.c)
 *   matrix     an operator in one storage format on one executor        (spmv/NAME.c)
 *   vector     device memory of one program; referred to by its number
 *   precond    z = M^-1 r                                               (solver/precond/NAME.c)
 *   solver     a Krylov method, recorded as a program                   (solver/methods/NAME.c)
 *
 * A plug-in (format, preconditioner, method, generator) is one C file that exports one constant descriptor, and one line in
 * its folder's list.def. No plug-in includes another.
 *
 * The standard headers that most files use come with this one and are not repeated.
 */
#ifndef KCL_BASE_H
#define KCL_BASE_H

#include "core/base/team.h"
#include "krylocl/bench.h"
#include "krylocl/check.h"
#include <stdlib.h>

/* ---------------------------------------------------------------- errors
 * KCL_CALL returns from the function with the status of a call that fails. What a function owns is a variable declared with KCL_OWNED
 * (an array of malloc) or KCL_OWNED_BY(release), which is freed on every path: it begins with a value such as NULL, and what the
 * caller gets is moved out of it. KCL_TRY is for functions that free otherwise: they declare rc, and their label done: frees. */
#define KCL_PRINTF(f, a) __attribute__((format(printf, f, a)))
enum { KCL_MESSAGE = 4096 }; /* bytes of the longest */
/* Returns status. The message belongs to the calling thread, not to ctx, which may be NULL; threads that the library starts write none. */
int kcl_fail(kcl_context *ctx, kcl_status status, const char *format, ...) KCL_PRINTF(3, 4);
/* Begin and end of an activity that may take seconds, for kcl_context_watch. */
void kcl_activity_begin(kcl_context *ctx, kcl_activity a);
void kcl_activity_end(kcl_context *ctx);
/* Is the solve to stop? Asks the caller's callback if this is the thread that may call it (core/base/stoppable.c). */
bool kcl_stopped(kcl_context *ctx);
/* Calls run(self), which takes long, and polls kcl_stopped meanwhile. True: run has ended. False: the solve is to stop; run continues in
 * a thread of its own, and release(self) follows it. */
bool kcl_run_stoppable(kcl_context *ctx, void (*run)(void *self), void (*release)(void *self),
                       void *self);
#define KCL_TRY(call)                                                                              \
  do {                                                                                             \
    if ((rc = (call)) != KCL_OK) goto done;                                                        \
  } while (0)

#define KCL_CALL(call)                                                                             \
  do {                                                                                             \
    const int failure = (call);                                                                    \
    if (failure != KCL_OK) return failure;                                                         \
  } while (0)
#define KCL_OWNED_BY(release) __attribute__((cleanup(release)))
#define KCL_OWNED KCL_OWNED_BY(kcl_free_owned)
static inline void kcl_free_owned(void *variable) {
  void *array;
  memcpy(&array, variable, sizeof array);
  free(array);
}

/* KCL_USAGE if p, the argument called `name`, is NULL. ctx may be NULL. */
int kcl_need(kcl_context *ctx, const char *name, const void *p);

/* One reference per solver and operator: the context lives as long as they do. */
void kcl_context_retain(kcl_context *ctx);
void kcl_context_release(kcl_context *ctx);

/* Are there OpenCL objects of the parent process? fork() copies none of a driver's threads, so calls of the driver may hang: entry is
 * refused, and nothing that belongs to the context is freed. */
bool kcl_opencl_inherited(const kcl_context *ctx);

/* ---------------------------------------------------------------- entry
 * A public function that uses a context's device or changes the context begins with KCL_ENTER(ctx), which waits for other threads and
 * returns KCL_BUSY in a callback; one without a status, or for a callback as well, with KCL_HOLD(ctx). Both end with the function,
 * and keep the context until then. ctx may be NULL: nothing is done. */
int kcl_enter(kcl_context *ctx, kcl_context **held);
kcl_context *kcl_hold(kcl_context *ctx);
void kcl_leave(kcl_context **held);
#define KCL_HOLD(ctx) kcl_context *held __attribute__((cleanup(kcl_leave), unused)) = kcl_hold(ctx)
#define KCL_ENTER(ctx)                                                                             \
  kcl_context *held __attribute__((cleanup(kcl_leave))) = NULL;                                    \
  const int entered = kcl_enter(ctx, &held);                                                       \
  if (entered) return entered

/* count * size bytes, zeroed, 64-byte aligned, to free with free(); on failure *out is NULL and the status KCL_MEMORY, with
 * `what` in the message. */
int kcl_alloc(kcl_context *ctx, int64_t count, size_t size, const char *what, void **out);
/* As kcl_alloc, but not zeroed: the thread that fills a page is the first to touch it. */
int kcl_alloc_unset(kcl_context *ctx, int64_t count, size_t size, const char *what, void **out);

/* Are `bytes` of memory available? Linux grants more than there is and ends the program that touches it. The limit of address
 * space (ulimit -v) counts, too. Checked from 1 GiB on; always true on systems without /proc/meminfo. */
bool kcl_has_memory(size_t bytes);

/* *out: the number of `name` among the `count` names of a registry; otherwise KCL_USAGE with a message that lists the names
 * and the nearest one. kind: the noun for the message. */
int kcl_find_name(kcl_context *ctx, const char *kind, const char *name, int count,
                  const char *(*name_of)(int), int *out);
/* KCL_USAGE with that message for a name that is none of names [count]. */
int kcl_refuse_name(kcl_context *ctx, const char *kind, const char *name, const char *const *names,
                    int count);

double kcl_now(void);            /* monotonic seconds */
double kcl_thread_seconds(void); /* that a processor has spent on this thread */

/* ---------------------------------------------------------------- types and elements */

void kcl_copy_bytes(void *to, const void *from, int64_t bytes); /* memcpy by all threads */

int kcl_type_of_letter(const char *name, int letter, kcl_type *out);   /* KCL_USAGE: it is none */
int kcl_type_check(kcl_context *ctx, const char *what, kcl_type type); /* KCL_USAGE: no such type */
int kcl_symmetry_check(kcl_context *ctx, kcl_symmetry s); /* KCL_USAGE: no such symmetry */
/* The double type of the field of t: real or complex. */
static inline kcl_type kcl_wide_type(kcl_type t) { return kcl_type_complex(t) ? KCL_Z : KCL_D; }
/* The first k in [from, to) with v[k] >= value, or `to`; v ascends: column indices; row pointers. */
static inline int64_t kcl_first_from(const int32_t *v, int64_t from, int64_t to, int64_t value) {
  while (from < to) {
    const int64_t middle = from + (to - from) / 2;
    if (v[middle] < value)
      from = middle + 1;
    else
      to = middle;
  }
  return from;
}

static inline int64_t kcl_first_offset_from(const int64_t *v, int64_t from, int64_t to,
                                            int64_t value) {
  while (from < to) {
    const int64_t middle = from + (to - from) / 2;
    if (v[middle] < value)
      from = middle + 1;
    else
      to = middle;
  }
  return from;
}

/* For qsort, ascending: double; uint64_t. */
static inline int kcl_compare_doubles(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}
static inline int kcl_compare_words(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* KCL_USAGE: an impossible size. Column indices have 32 bits, in A and in A^H. */
int kcl_csr_check_sizes(kcl_context *ctx, int64_t rows, int64_t cols, int64_t nnz);
/* KCL_USAGE: A or one of its arrays is NULL, a size or the type is impossible. Reads no array. */
int kcl_csr_need(kcl_context *ctx, const kcl_csr *A);
int64_t kcl_csr_row_from(const kcl_csr *A, int64_t k); /* the first row with row_ptr >= k */
int64_t kcl_csr_longest_row(const kcl_csr *A);         /* entries of it */
/* kcl_csr_product of rows in two parts: x [A->cols + B->cols]; B has further columns of the rows row [B->rows], which ascend. */
void kcl_split_product(const kcl_csr *A, const kcl_csr *B, const int32_t *row, const double *x,
                       const double *b, double *y);
/* r = b - A x of rows in two parts, of modulus no less than the bound of its rounding errors where those are not small against
 * b_inf. x_inf, b_inf: the largest moduli of x and b. Returns the largest |a_i|_1, |r_i| / (|a_i|_1 x_inf + |b_i|) and
 * |r_i| / (|A| |x| + |b|)_i; NaN where one of them is. */
typedef struct kcl_row_errors {
  double norm, rowwise, componentwise;
} kcl_row_errors;
kcl_row_errors kcl_split_residual(const kcl_csr *A, const kcl_csr *B, const int32_t *row,
                                  const double *x, double x_inf, const double *b, double b_inf,
                                  double *r);
int kcl_dense_need(kcl_context *ctx, const char *name, const kcl_dense *B);
/* Does A satisfy the conditions of kcl_csr in krylocl.h? Otherwise KCL_USAGE, naming the first row that does not. */
int kcl_csr_check(kcl_context *ctx, const kcl_csr *A);
/* A matrix of this size, type and symmetry, whose arrays are not zeroed; like: without arrays. */
int kcl_csr_create_unset(kcl_context *ctx, const kcl_csr *like, kcl_csr **out);
/* A copy of the caller's entries, as kcl_matrix_create makes it without borrow (data/files/arrays.c). */
int kcl_csr_from_entries(kcl_context *ctx, const kcl_entries *entries, kcl_csr **out);
/* A matrix with the arrays of A, which stay A's. One more owner of a matrix, who frees it too. */
int kcl_csr_lend(kcl_context *ctx, const kcl_csr *A, kcl_csr **out);
kcl_csr *kcl_csr_share(kcl_csr *A);
/* A's row pointers and columns, equal to those of `from`, become those of both, where both have arrays of their own. */
int kcl_csr_share_structure(kcl_context *ctx, kcl_csr *A, kcl_csr *from);
/* a_ij, with its real and imaginary part in z: false and 0 if it is not stored. */
bool kcl_find_entry(const kcl_csr *A, int64_t i, int64_t j, double z[2]);
double kcl_norm_inf(kcl_type t, const void *v, int64_t n); /* largest modulus; NaN if one is */
double kcl_norm2(kcl_type t, const void *v,
                 int64_t n); /* without underflow or overflow of squares; shape.c */
void kcl_copy(kcl_type to, void *y, kcl_type from, const void *x, int64_t n,
              double scale); /* y = scale x */

/* array[i] as re, im */
static inline void kcl_element(kcl_type t, const void *array, int64_t i, double z[2]) {
  const float *s = array;
  const double *d = array;
  z[0] = z[1] = 0;
  if (t == KCL_S) z[0] = s[i];
  if (t == KCL_D) z[0] = d[i];
  if (t == KCL_C) z[0] = s[2 * i], z[1] = s[2 * i + 1];
  if (t == KCL_Z) z[0] = d[2 * i], z[1] = d[2 * i + 1];
}

static inline void kcl_set_element(kcl_type t, void *array, int64_t i, const double z[2]) {
  float *s = array;
  double *d = array;
  if (t == KCL_S) s[i] = (float)z[0];
  if (t == KCL_D) d[i] = z[0];
  if (t == KCL_C) s[2 * i] = (float)z[0], s[2 * i + 1] = (float)z[1];
  if (t == KCL_Z) d[2 * i] = z[0], d[2 * i + 1] = z[1];
}

/* |array[i]| in double */
static inline double kcl_abs(kcl_type t, const void *array, int64_t i) {
  if (t == KCL_S) return fabs(((const float *)array)[i]);
  if (t == KCL_D) return fabs(((const double *)array)[i]);
  double z[2];
  kcl_element(t, array, i, z);
  return hypot(z[0], z[1]);
}

/* a / b with 0 / 0 = 0 and a / 0 = infinity. */
static inline double kcl_ratio(double a, double b) { return b != 0 ? a / b : a == 0 ? 0 : a / b; }

/* Host memory that a device copies to and from without a copy by its driver. */
typedef struct kcl_pinned {
  void *data;
  void *buffer; /* cl_mem; NULL: data is of malloc */
} kcl_pinned;

#endif
