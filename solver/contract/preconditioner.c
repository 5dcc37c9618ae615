/* The possessions of a preconditioner: vectors, matrices in formats; its end; binding it to a program. */
#include "solver/contract/precond.h"
#include "core/matrix/structure.h"
#include <stdio.h>

/* ---------------------------------------------------------------- what it owns */

static bool grow_owned_list(kcl_preconditioner *M, void **list, int count, size_t size) {
  void *more = realloc(*list, (size_t)(count + 1) * size);
  if (more) *list = more;
  if (!more) kcl_fail(M->ctx, KCL_MEMORY, "out of memory: a preconditioner");
  return more;
}

static void free_vector(kcl_context *ctx, kcl_precond_vector *v) {
  free(v->values);
  if (v->device) v->free_device(ctx, v->device);
}

static int add_vector(kcl_preconditioner *M, const char *name, kcl_precond_vector v) {
  if (!grow_owned_list(M, (void **)&M->vector, M->vectors, sizeof *M->vector)) {
    free_vector(M->ctx, &v);
    return KCL_MEMORY;
  }
  snprintf(v.name, sizeof v.name, "%s", name);
  M->vector[M->vectors++] = v;
  return KCL_OK;
}

int kcl_precond_add_vector(kcl_preconditioner *M, const char *name, int64_t n, kcl_type type,
                           void *values) {
  return add_vector(M, name, (kcl_precond_vector){.n = n, .type = type, .values = values});
}

int kcl_precond_adopt_vector(kcl_preconditioner *M, const char *name, int64_t n, void *buffer,
                             void (*free_buffer)(kcl_context *ctx, void *buffer)) {
  return add_vector(
      M, name,
      (kcl_precond_vector){.n = n, .type = M->type, .device = buffer, .free_device = free_buffer});
}

/* One of few. Natively CSR as it is, without conversion. */
int kcl_precond_level_format(const kcl_preconditioner *M, int64_t rows, int64_t nnz,
                             const kcl_format **out) {
  enum { SHORT = 8 };
  const char *name = M->ctx->layout != KCL_LAYOUT_GPU ? "csr-scalar"
                     : nnz > SHORT * rows             ? "csr-vector"
                                                      : "sell";
  return kcl_format_find(M->ctx, name, M->type, out);
}

static kcl_stats shape_of_matrix(int64_t rows, int64_t cols, int64_t nnz) {
  return (kcl_stats){.rows = rows,
                     .cols = cols,
                     .nnz = nnz,
                     .stored = nnz,
                     .row_mean = rows ? (double)nnz / (double)rows : 0};
}

/* The lengths of rows alone. */
static void count_matrix_rows(const kcl_csr *C, kcl_stats *s) {
  *s = shape_of_matrix(C->rows, C->cols, C->nnz);
  for (int64_t i = 0; i < C->rows; i++) {
    const int64_t length = C->row_ptr[i + 1] - C->row_ptr[i];
    if (length > s->row_max) s->row_max = length;
  }
}

/* Predictions read a matrix by its outline. */
static void outline_of_matrix(kcl_stored *m, const kcl_stats *s) {
  kcl_stored o;
  kcl_stored_outline(m->ctx, m->format, s, m->type, &o);
  m->cost = o.cost;
  m->cost.streamed = kcl_stored_bytes(m);
}

static int convert_matrix(kcl_context *ctx, kcl_type type, kcl_csr **C) {
  kcl_csr *to = NULL;
  if ((*C)->type == type) return KCL_OK;
  int rc = kcl_csr_convert(ctx, *C, type, &to);
  if (!rc) kcl_csr_free(C), *C = to;
  return rc;
}

/* In the format of fewest bytes among those that serve several right-hand sides at once. Statistics estimate what repeats in A, so a format
 * may still refuse it: then in the next one. */
static int build_by_bytes(const kcl_preconditioner *M, const kcl_stats *s, const kcl_csr *C,
                          kcl_stored **out) {
  kcl_rank list[KCL_MOST_FORMATS];
  int count, rc = KCL_REFUSED;
  KCL_CALL(kcl_format_rank(M->ctx, s, M->type, list, &count));
  for (int i = 0; i < count && rc == KCL_REFUSED; i++)
    if (list[i].format->multi_rhs && !list[i].format->scatter)
      rc = kcl_stored_build(M->ctx, list[i].format, C, out);
  return rc;
}

/* *C in a format, which then owns it: *C is NULL. */
static int build_preconditioner(kcl_preconditioner *M, kcl_csr **C, bool common, bool narrow,
                                kcl_stored **out) {
  const kcl_format *f;
  kcl_stats stats;
  KCL_OWNED_BY(kcl_stored_free) kcl_stored *m = *out = NULL;
  if (common) {
    count_matrix_rows(*C, &stats);
    KCL_CALL(kcl_precond_level_format(M, (*C)->rows, (*C)->nnz, &f));
    KCL_CALL(kcl_stored_build(M->ctx, f, *C, &m));
  } else {
    KCL_CALL(kcl_csr_structure(M->ctx, *C, &stats));
    KCL_CALL(build_by_bytes(M, &stats, *C, &m));
  }
  kcl_stored_adopt(m, *C), *C = NULL;
  if (narrow) KCL_CALL(kcl_stored_narrow(m));
  m->uneven = common;
  outline_of_matrix(m, &stats);
  *out = m, m = NULL;
  return KCL_OK;
}

static kcl_precond_matrix *one_more(kcl_preconditioner *M) {
  if (!grow_owned_list(M, (void **)&M->matrix, M->matrices, sizeof *M->matrix)) return NULL;
  kcl_precond_matrix *to = &M->matrix[M->matrices++];
  *to = (kcl_precond_matrix){NULL, NULL};
  return to;
}

static int add_matrix(kcl_preconditioner *M, kcl_csr *given, bool adjoint, bool common,
                      bool narrow) {
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *C = given, *CH = NULL;
  kcl_precond_matrix *to;
  KCL_CALL(convert_matrix(M->ctx, M->type, &C));
  if (adjoint) KCL_CALL(kcl_csr_adjoint(M->ctx, C, &CH));
  if (!(to = one_more(M))) return KCL_MEMORY;
  KCL_CALL(build_preconditioner(M, &C, common, narrow, &to->C));
  return CH ? build_preconditioner(M, &CH, common, narrow, &to->CH) : KCL_OK;
}

int kcl_precond_add_matrix(kcl_preconditioner *M, kcl_csr *C, bool adjoint) {
  return add_matrix(M, C, adjoint, false, false);
}

int kcl_precond_add_level(kcl_preconditioner *M, kcl_csr *C, bool narrow) {
  return add_matrix(M, C, false, true, narrow && M->type == KCL_D);
}

int kcl_precond_adopt(kcl_preconditioner *M, kcl_stored *C, int64_t longest) {
  kcl_stats s = shape_of_matrix(C->rows, C->cols, C->nnz);
  kcl_precond_matrix *to = one_more(M);
  if (!to) {
    kcl_stored_free(&C);
    return KCL_MEMORY;
  }
  s.row_max = longest;
  outline_of_matrix(C, &s);
  to->C = C;
  return KCL_OK;
}

int kcl_precond_add_matrix_slot(kcl_preconditioner *M) { return one_more(M) ? KCL_OK : KCL_MEMORY; }

int kcl_precond_share_matrix(kcl_preconditioner *M, const kcl_preconditioner *from, int i) {
  kcl_precond_matrix *to = one_more(M);
  if (!to) return KCL_MEMORY;
  to->C = kcl_stored_share(from->matrix[i].C), to->CH = kcl_stored_share(from->matrix[i].CH);
  return KCL_OK;
}

double kcl_preconditioner_bytes(const kcl_preconditioner *M) {
  double bytes = M && M->A ? kcl_stored_bytes(M->A) : 0;
  for (int i = 0; M && i < M->vectors; i++)
    bytes += (double)M->vector[i].n * (double)kcl_type_size(M->vector[i].narrow ? KCL_S : M->type);
  for (int i = 0; M && i < M->matrices; i++) {
    bytes += kcl_stored_bytes(M->matrix[i].C);
    if (M->matrix[i].CH) bytes += kcl_stored_bytes(M->matrix[i].CH);
  }
  return bytes;
}

/* ---------------------------------------------------------------- sharing, binding */

kcl_preconditioner *kcl_preconditioner_share(kcl_preconditioner *M) {
  if (M) M->sharers++;
  return M;
}

static int add_sample(kcl_preconditioner *M, int64_t nnz, bool narrow) {
  static const double one[2] = {1, 0};
  static const int64_t row_ptr[] = {0, 1};
  static const int32_t col[] = {0};
  const kcl_csr C = {.rows = 1,
                     .cols = 1,
                     .nnz = 1,
                     .row_ptr = (int64_t *)(uintptr_t)row_ptr,
                     .col = (int32_t *)(uintptr_t)col,
                     .val = (void *)(uintptr_t)one,
                     .type = M->type};
  const kcl_format *f;
  KCL_OWNED_BY(kcl_stored_free) kcl_stored *m = NULL;
  KCL_CALL(kcl_precond_level_format(M, 1, nnz, &f));
  KCL_CALL(kcl_stored_build(M->ctx, f, &C, &m));
  if (narrow) KCL_CALL(kcl_stored_narrow(m));
  M->sample[M->samples++] = m, m = NULL;
  return KCL_OK;
}

int kcl_precond_add_samples(kcl_preconditioner *M, bool narrow) {
  enum { LONG = 1000 };
  if (M->ctx->layout != KCL_LAYOUT_GPU) return KCL_OK;
  KCL_CALL(add_sample(M, LONG, narrow));
  KCL_CALL(add_sample(M, 1, narrow));
  if (narrow) KCL_CALL(add_sample(M, LONG, false)); /* the dense inverse, */
  return narrow ? add_sample(M, 1, false) : KCL_OK; /* also of a few rows */
}

void kcl_preconditioner_clear(kcl_preconditioner *m) {
  while (m->samples) kcl_stored_free(&m->sample[--m->samples]);
  for (int i = 0; i < m->vectors; i++) free_vector(m->ctx, &m->vector[i]);
  for (int i = 0; i < m->matrices; i++)
    kcl_stored_free(&m->matrix[i].C), kcl_stored_free(&m->matrix[i].CH);
  free(m->vector), free(m->matrix);
  m->vector = NULL, m->matrix = NULL, m->vectors = m->matrices = 0;
}

void kcl_preconditioner_free(kcl_preconditioner **M) {
  kcl_preconditioner *m = *M;
  *M = NULL;
  if (!m || m->sharers-- > 0) return;
  kcl_preconditioner_clear(m);
  kcl_stored_free(&m->A);
  free(m->data), free(m);
}

void kcl_preconditioner_bind(const kcl_preconditioner *M, kcl_program *k) {
  if (!M) return;
  k->preconditioner = M, k->precondition = M->kind->apply, k->own_block = !M->kind->whole;
  k->precond_first = k->vectors;
  for (int i = 0; i < M->vectors; i++) {
    const kcl_precond_vector *v = &M->vector[i];
    if (v->device)
      kcl_constant_on_device(k, v->n, v->device, v->narrow, v->name);
    else
      kcl_constant_in_place(k, v->n, v->type, v->values, v->narrow, v->name);
  }
}
