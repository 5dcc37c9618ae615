/* For tests of matrices without entries: functions that know the entries all the same. */
#ifndef KCL_TEST_SHELLS_H
#define KCL_TEST_SHELLS_H
#include "solver/solver.h"
#include "tests/conform.h"
#include "tests/options.h"
#include <pthread.h>

/* ---------------------------------------------------------------- a function that knows its matrix */

typedef struct operand {
  kcl_stored *A[2]; /* A and A^H on the host, csr-scalar */
  kcl_operator
      *device; /* the same on a device, on the queue of the context that is tested; or NULL */
  kcl_context *host, *queue; /* their contexts */
  const kcl_csr *csr;
  pthread_t caller;
  int place;
  bool elsewhere, wrong;  /* called by another thread; with other vectors than promised */
  int64_t calls, trouble; /* trouble: the call that behaves otherwise, from 1; 0: none */
  int status;             /* what it returns then; 0: a NaN in y */
  kcl_context *busy;      /* a context that it uses, */
  int answer;             /* and what it was told */
} operand;

static inline bool as_promised(const operand *f, const kcl_vectors *v, int64_t n) {
  return v->size == sizeof *v && v->data && !v->offset && v->rows == n && v->cols == 1 &&
         v->ld == n && v->inc == 1 && v->type == kcl_type_letter(f->csr->type) &&
         v->place == f->place;
}

static inline int use_context(const operand *f) {
  kcl_solver *s = NULL;
  const int rc = kcl_setup(f->busy, f->csr, NULL, &s);
  kcl_solver_free(&s);
  return rc;
}

/* The executor's thread may not use what belongs to the others, so nothing is CHECKed here. */
static inline int multiply(void *user, int adjoint, const kcl_vectors *x, kcl_vectors *y,
                           void *queue) {
  operand *f = user;
  const kcl_stored *A = f->A[adjoint];
  f->calls++;
  f->elsewhere = f->elsewhere || !pthread_equal(f->caller, pthread_self());
  f->wrong = f->wrong || !as_promised(f, x, A->cols) || !as_promised(f, y, A->rows) ||
             (queue != NULL) != (f->place == KCL_OPENCL);
  if (f->busy) f->answer = use_context(f);
  if (f->calls == f->trouble && f->status) return f->status;
  if (f->place == KCL_OPENCL)
    return kcl_operator_apply(
        f->device, &(kcl_product){.x = x->data, .y = y->data, .adjoint = adjoint, .buffers = true});
  A->format->rows(A, x->data, y->data, 0, A->rows);
  if (f->calls == f->trouble) kcl_set_element(A->type, y->data, 0, (double[]){NAN, NAN});
  return KCL_OK;
}

/* p: where it is called. */
static inline bool operand_open(operand *f, const place *p, const kcl_csr *A, int where) {
  const kcl_format *format;
  kcl_csr *AH = NULL;
  void *context, *queue;
  *f = (operand){.csr = A, .caller = pthread_self(), .place = where};
  int rc = kcl_context_create(NULL, 0, &f->host) || kcl_select(f->host, "cpu", 1) ||
           kcl_format_find(f->host, "csr-scalar", A->type, &format) ||
           kcl_stored_build(f->host, format, A, &f->A[0]) || kcl_csr_adjoint(f->host, A, &AH) ||
           kcl_stored_build(f->host, format, AH, &f->A[1]);
  if (!rc) kcl_stored_adopt(f->A[1], AH);
  const kcl_operator_options o = {
      .format = "csr-scalar", .precision = A->type, .products = KCL_PRODUCTS_BOTH};
  if (!rc && where == KCL_OPENCL)
    rc = kcl_context_opencl(p->ctx, &context, NULL, &queue) ||
         kcl_context_create(NULL, 0, &f->queue) || kcl_select_opencl(f->queue, NULL, NULL, queue) ||
         kcl_operator_create(f->queue, A, &o, &f->device);
  return CHECKF(!rc, "the operand: %s", kcl_error());
}

static inline void operand_close(operand *f) {
  kcl_operator_free(&f->device);
  for (int i = 0; i < 2; i++) kcl_stored_free(&f->A[i]);
  kcl_context_free(&f->queue), kcl_context_free(&f->host);
}

static inline kcl_shell shell_of(operand *f, unsigned properties) {
  return (kcl_shell){.rows = f->csr->rows,
                     .cols = f->csr->cols,
                     .type = f->csr->type,
                     .apply = multiply,
                     .user = f,
                     .place = f->place,
                     .properties = properties};
}

/* ---------------------------------------------------------------- vectors and matrices */

static inline void *zeros(const kcl_csr *A) {
  return calloc((size_t)A->cols, kcl_type_size(A->type));
}

/* A random right-hand side of A's type. */
static inline void *random_b(const kcl_csr *A) {
  number *v = random_vector(A->type, A->rows);
  void *b = malloc((size_t)A->rows * kcl_type_size(A->type));
  kcl_copy(A->type, b, KCL_Z, v, A->rows, 1);
  free(v);
  return b;
}

static inline kcl_csr *generated(kcl_context *ctx, const char *kind, kcl_type t) {
  kcl_csr *A = NULL, *typed = NULL;
  CHECKF(!kcl_generate(ctx, kind, &A, NULL) && !kcl_csr_convert(ctx, A, t, &typed), "%s: %s", kind,
         kcl_error());
  kcl_csr_free(&A);
  return typed;
}

/* The certificate of a shell is a residual in working precision: its rounding is that of `residual`, with another unit. */
static inline double shell_doubt(const kcl_csr *A, double doubt) {
  return doubt * tol_c(A->type) * 2 * tol_u(A->type) / (double)LDBL_EPSILON;
}

#endif
