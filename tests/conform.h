/* Shared by the conformance programs: the executors to test, and small recorded programs ("boxes") whose vectors and
 * scalars are read and written as complex doubles, whatever the type they compute in. What is tested: filter.h.
 */
#ifndef KCL_CONFORM_H
#define KCL_CONFORM_H
#include "core/base/context.h"
#include "core/device/device.h"
#include "core/matrix/stored.h"
#include "solver/calls.h"
#ifndef KCL_NO_OPENCL
#include "core/opencl/device/cl.h"
#endif
#include "tests/check.h"
#include "tests/filter.h"
#include "tests/tol.h"
#include <complex.h>
#ifndef CMPLX /* clang 14 knows C11's macro by another name */
#define CMPLX(re, im) __builtin_complex((double)(re), (double)(im))
#endif
#include <float.h>
#include <string.h>

typedef double complex number;     /* in and out: pairs, as of type KCL_Z */
typedef long double complex exact; /* the reference */
typedef struct place {
  const char *name;
  kcl_context *ctx;
} place;
static place places[2];
static int place_count;

/* Does this executor compile, so that by default and with KRYLOCL_THOROUGH=1 not everything is crossed? */
static inline bool by_turns(const place *p) { return p->ctx->opencl && thorough() < 2; }
static inline bool quick(const place *p) {
  return p->ctx->opencl && !thorough();
} /* by default only */

/* On a device number i of a table meets one of the real and one of the complex types, in turn. */
static inline bool half_of(const place *p, kcl_type t, int i) {
  return small() || !by_turns(p) || i % 2 == (int)t % 2;
}

/* |z|, where hypot's care costs: squares of doubles stay within a long double. */
static inline long double modulus(exact z) {
  return sqrtl(creall(z) * creall(z) + cimagl(z) * cimagl(z));
}

/* ---------------------------------------------------------------- for Oclgrind
 * Oclgrind 21.10 takes a buffer for uninitialised that was filled, and all of one that was written in part.
 * So when small sizes are asked for, fills and writes to buffers filled before become writes of the whole
 * buffer here, in front of the driver's functions. What a buffer holds is the same. */
#ifndef KCL_NO_OPENCL
static __typeof__(clEnqueueWriteBuffer) driver_write;
enum { MOST_FILLED = 65536 };
static cl_mem filled_buffer[MOST_FILLED];

/* Where a buffer stands in the table of filled ones, or would. Released ones stay: their numbers come again. */
static inline cl_mem *filled_at(cl_mem buffer) {
  size_t i = ((uintptr_t)buffer >> 4) % MOST_FILLED;
  for (int n = 0; n < MOST_FILLED && filled_buffer[i] && filled_buffer[i] != buffer; n++)
    i = (i + 1) % MOST_FILLED;
  return &filled_buffer[i];
}

static inline cl_int write_whole(cl_command_queue queue, cl_mem buffer, size_t offset, size_t bytes,
                                 const void *part, size_t period) {
  size_t size = 0;
  clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof size, &size, NULL);
  char *all = malloc(size + 1);
  cl_int code = clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, size, all, 0, NULL, NULL);
  for (size_t i = 0; i < bytes; i++) all[offset + i] = ((const char *)part)[i % period];
  code |= driver_write(queue, buffer, CL_TRUE, 0, size, all, 0, NULL, NULL);
  free(all);
  return code;
}

static inline cl_int fill_by_write(cl_command_queue queue, cl_mem buffer, const void *pattern,
                                   size_t size, size_t offset, size_t bytes, cl_uint waits,
                                   const cl_event *list, cl_event *event) {
  (void)waits, (void)list, (void)event;
  *filled_at(buffer) = buffer;
  return write_whole(queue, buffer, offset, bytes, pattern, size);
}

static inline cl_int write_filled(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                  size_t offset, size_t bytes, const void *data, cl_uint waits,
                                  const cl_event *list, cl_event *event) {
  if (*filled_at(buffer) != buffer)
    return driver_write(queue, buffer, blocking, offset, bytes, data, waits, list, event);
  return write_whole(queue, buffer, offset, bytes, data, bytes ? bytes : 1);
}

static inline void replace_writes(void) {
  kcl_cl_load(), driver_write = clEnqueueWriteBuffer;
  clEnqueueFillBuffer = fill_by_write, clEnqueueWriteBuffer = write_filled;
}
#else
static inline void replace_writes(void) {}
#endif

/* ---------------------------------------------------------------- executors */

/* The native executor and, where there is one, the first OpenCL device. Only that one when small. */
static inline void open_places(void) {
  static const char *const name[] = {"cpu", "opencl"};
  check_filters();
  if (small()) replace_writes();
  for (int i = small(); i < 2; i++) {
    place *p = &places[place_count];
    p->name = name[i];
    if (kcl_context_create(NULL, 0, &p->ctx) == KCL_OK &&
        kcl_select(p->ctx, name[i], 0) == KCL_OK) {
      place_count++;
      continue;
    }
    skip("everything on %s: %s", name[i], kcl_error());
    kcl_context_free(&p->ctx);
  }
}

static inline void close_places(void) {
  for (int i = 0; i < place_count; i++) kcl_context_free(&places[i].ctx);
}

static inline bool can(const place *p, kcl_type t) {
  if (!wanted(t)) return false;
  if (t == KCL_S || t == KCL_C || p->ctx->device.has_double) return true;
  skip("type %c: %s has no double precision", kcl_type_letter(t), p->ctx->device.name);
  return false;
}

/* Does the format add atomically, in no fixed order, and not finish rows? */
static inline bool scatters(kcl_context *ctx, const char *format) {
  const kcl_format *f;
  return kcl_format_find(ctx, format, KCL_D, &f) == KCL_OK && f->scatter;
}

static inline number random_of(kcl_type t) {
  double re = random_number(), im = random_number();
  return kcl_type_complex(t) ? CMPLX(re, im) : re;
}

/* A GPU as it is; on other devices its layout, from here on. */
static inline void as_gpu(void (*test)(const place *p)) {
  place p = {.name = "gpu"};
  if (kcl_context_create(NULL, 0, &p.ctx)) exit(1);
  if (kcl_select(p.ctx, p.name, 0)) p.name = "opencl", setenv("KRYLOCL_LAYOUT", "gpu", 1);
  if (kcl_select(p.ctx, p.name, 0))
    skip("the layout of GPUs: %s", kcl_error());
  else if (can(&p, KCL_D))
    test(&p);
  kcl_context_free(&p.ctx);
}

static inline number *random_vector(kcl_type t, int64_t n) {
  number *v = malloc((size_t)n * sizeof *v);
  for (int64_t i = 0; i < n; i++) v[i] = random_of(t);
  return v;
}

static inline number *filled(int64_t n, number value) {
  number *v = malloc((size_t)n * sizeof *v);
  for (int64_t i = 0; i < n; i++) v[i] = value;
  return v;
}

/* |b - A x| / |b| in long double, from the matrix as the caller has it. *doubt: what rounding may have
 * done to it, (k_i + 2) 2^-64 (|A| |x| + |b|)_i per row, also relative to |b| (tol_product with u = 2^-64). */
static inline double residual(const kcl_csr *A, const void *b, const void *x, double *doubt) {
  long double rr = 0, bb = 0, dd = 0;
  for (int64_t i = 0; i < A->rows; i++) {
    double z[2], a[2], v[2];
    kcl_element(A->type, b, i, z);
    long double re = z[0], im = z[1], size = hypot(z[0], z[1]);
    bb += re * re + im * im;
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
      kcl_element(A->type, A->val, k, a), kcl_element(A->type, x, A->col[k], v);
      re -= (long double)a[0] * v[0] - (long double)a[1] * v[1];
      im -= (long double)a[0] * v[1] + (long double)a[1] * v[0];
      size += (fabsl(a[0]) + fabsl(a[1])) * (fabsl(v[0]) + fabsl(v[1]));
    }
    long double d =
        (long double)(A->row_ptr[i + 1] - A->row_ptr[i] + 2) * ldexpl(size, 1 - LDBL_MANT_DIG);
    rr += re * re + im * im, dd += d * d;
  }
  *doubt = (double)sqrtl(dd / (bb > 0 ? bb : 1));
  return (double)sqrtl(rr / (bb > 0 ? bb : 1));
}

/* max(|A^H r| / |A^H b|, |A^H r| / (|A|_F |r|)), r = b - A x, in long double; *gradient: |A^H r|. */
static inline double normal_residual(const kcl_csr *A, const void *b, const void *x,
                                     double *gradient) {
  exact *s = calloc((size_t)A->cols, sizeof *s), *h = calloc((size_t)A->cols, sizeof *h);
  long double ss = 0, hh = 0, rr = 0, aa = 0;
  for (int64_t i = 0; i < A->rows; i++) {
    double a[2], v[2], z[2];
    kcl_element(A->type, b, i, z);
    exact bi = CMPLX(z[0], z[1]), r = bi;
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
      kcl_element(A->type, A->val, k, a), kcl_element(A->type, x, A->col[k], v);
      r -= (exact)CMPLX(a[0], a[1]) * CMPLX(v[0], v[1]);
      aa += (long double)a[0] * a[0] + (long double)a[1] * a[1];
    }
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
      kcl_element(A->type, A->val, k, a);
      s[A->col[k]] += CMPLX(a[0], -a[1]) * r, h[A->col[k]] += CMPLX(a[0], -a[1]) * bi;
    }
    rr += creall(r * conjl(r));
  }
  for (int64_t j = 0; j < A->cols; j++)
    ss += creall(s[j] * conjl(s[j])), hh += creall(h[j] * conjl(h[j]));
  free(s), free(h);
  *gradient = (double)sqrtl(ss);
  return ss == 0 ? 0 : (double)sqrtl(ss / fminl(hh, aa * rr));
}

/* ---------------------------------------------------------------- a recorded program in a box */

enum { MOST_GIVEN = 32 };
typedef struct box {
  kcl_program *k;
  kcl_executor ex;
  kcl_vec one, dummy; /* of one element: 1, and anything */
  struct {
    kcl_vec v;
    number value;
  } given[MOST_GIVEN];
  int givens;
} box;

/* A vector of one element that holds `value` when the program starts. */
static inline kcl_vec single(box *b, number value) {
  kcl_vec v = kcl_vector_of(b->k, 1, "one");
  b->given[b->givens].v = v;
  b->given[b->givens++].value = value;
  return v;
}

static inline box *box_new(const place *p, kcl_type t, int64_t n) {
  box *b = calloc(1, sizeof *b);
  if (kcl_program_create(p->ctx, t, n, n, &b->k)) exit(1);
  b->one = single(b, 1), b->dummy = single(b, 0);
  kcl_begin(b->k, KCL_START);
  return b;
}

/* A new slot with this value, complex or not: the dot product of 1 and it. */
static inline kcl_slot slot_of(box *b, number value) {
  kcl_slot s = kcl_scalar(b->k, "s");
  kcl_dot(b->k, s, b->one, single(b, value));
  return s;
}

/* A vector of one element that will hold the slot's value at this point. */
static inline kcl_vec show(box *b, kcl_slot s) {
  kcl_vec v = kcl_vector_of(b->k, 1, "one");
  kcl_lincomb(b->k, v, plus(s), b->one, KCL_ZERO, b->one);
  return v;
}

/* Ends the open stage, for an operation of another length cannot join it (unless n is 1: then the
 * recorder must end a stage that is full). */
static inline void cut(box *b) { kcl_copy_vector(b->k, b->dummy, b->one); }

static inline bool box_ready(box *b) {
  int rc = kcl_program_end(b->k);
  if (!rc) rc = kcl_executor_open(b->k, &b->ex);
  for (int i = 0; i < b->givens && !rc; i++)
    rc = b->ex.put(&b->ex, b->given[i].v, 0, KCL_Z, &b->given[i].value, 1.0);
  return CHECKF(!rc, "the program opens: %.600s", kcl_error());
}

static inline void give(box *b, kcl_vec v, const number *values) {
  CHECK(b->ex.put(&b->ex, v, 0, KCL_Z, values, 1.0) == KCL_OK);
}

static inline number *take(box *b, kcl_vec v) {
  number *out = filled(b->k->vector[v].n, NAN);
  CHECK(b->ex.get(&b->ex, v, 0, KCL_Z, out, 1.0) == KCL_OK);
  return out;
}

static inline number take_one(box *b, kcl_vec v) {
  number *all = take(b, v), first = all[0];
  free(all);
  return first;
}

/* Runs a phase and waits for it. */
static inline kcl_control go(box *b, kcl_phase phase, int64_t times) {
  kcl_control head = {0};
  double rr;
  CHECK(b->ex.run(&b->ex, phase, times) == KCL_OK);
  CHECK(b->ex.poll(&b->ex, &head, &rr) == KCL_OK);
  return head;
}

static inline kcl_control go_start(box *b) {
  kcl_control head = {.limit = 1};
  CHECK(b->ex.set_state(&b->ex, &head, &(double){0}) == KCL_OK);
  return go(b, KCL_START, 1);
}

static inline void box_free(box *b) {
  if (b->ex.close) b->ex.close(&b->ex);
  kcl_program_free(&b->k);
  free(b);
}
#endif
