/* Matrices on a device in the formats of multigrid's levels, filled there: kernels/sparse_rows.cl. They have no host arrays. */
#include "core/matrix/structure.h"
#include "sparse/opencl/launch.h"
#include <string.h>

static int reserve(kcl_matrix *m, int i) {
  const kcl_array *a = &m->array[i];
  const size_t element = a->kind == KCL_INT64 ? 4 : kcl_array_element(a->kind, m->type);
  cl_int code;
  m->device[i] = clCreateBuffer(m->ctx->opencl->context, CL_MEM_READ_WRITE,
                                (size_t)a->count * element + 64, NULL, &code);
  return kcl_cl_check(m->ctx, code, "clCreateBuffer", "a matrix of a preconditioner");
}

static int reserve_all(kcl_matrix *m) {
  int rc = KCL_OK;
  for (int i = 0; i < m->arrays && !rc; i++) rc = reserve(m, i);
  return rc;
}

/* The arrays are those of A. */
static int fill_csr(kcl_device_setup *s, const kcl_device_csr *A, kcl_matrix *m) {
  const kcl_csr shape = {.rows = A->rows, .cols = A->cols, .nnz = A->nnz, .type = m->type};
  int rc = m->format->build(m, &shape);
  if (!rc) rc = reserve_all(m);
  return rc ? rc
            : EACH(s, "copy_rows", A->rows + 1, CSR(A), INT(A->rows), BUFFER(m->device[0]),
                   BUFFER(m->device[1]), BUFFER(m->device[2]));
}

/* As build of spmv/sell.c makes it, not sorted. */
static int fill_sell(kcl_device_setup *s, const kcl_device_csr *A, kcl_matrix *m) {
  const int C = kcl_matrix_tune(m)->slice ? kcl_matrix_tune(m)->slice : KCL_SLICE;
  const int64_t slices = (A->rows + C - 1) / C;
  void *width;
  int64_t columns;
  int rc;
  KCL_TRY(kcl_setup_memory(s, slices, sizeof(cl_int), &width));
  KCL_TRY(EACH(s, "slice_widths", slices, BUFFER(A->ptr), INT(A->rows), INT(C), BUFFER(width)));
  KCL_TRY(kcl_setup_scan(s, width, slices, &columns));
  if (columns * C >= INT32_MAX) KCL_TRY(KCL_UNSUITED);
  m->variant = C, m->rows_match_elements = true;
  kcl_matrix_borrow(m, "slice", KCL_INT32, slices + 1, NULL);
  kcl_matrix_borrow(m, "col", KCL_INT32, columns * C, NULL);
  kcl_matrix_borrow(m, "val", KCL_SCALAR, columns * C, NULL);
  kcl_matrix_borrow(m, "order", KCL_INT32, 0, NULL);
  kcl_matrix_param(m, "sorted", 0);
  KCL_TRY(reserve_all(m));
  KCL_TRY(kcl_cl_check(m->ctx,
                       clEnqueueCopyBuffer(m->ctx->opencl->queue, width, m->device[0], 0, 0,
                                           (size_t)(slices + 1) * sizeof(cl_int), 0, NULL, NULL),
                       "clEnqueueCopyBuffer", "a matrix of a preconditioner"));
  KCL_TRY(EACH(s, "fill_slices", slices * C, CSR(A), INT(A->rows), INT(A->cols), INT(C),
               BUFFER(m->device[0]), BUFFER(m->device[1]), BUFFER(m->device[2])));
  kcl_setup_drop(s, width);
done:
  return rc;
}

int kcl_setup_matrix(kcl_device_setup *s, const kcl_device_csr *A, const kcl_format *f,
                     int64_t *longest, kcl_matrix **out) {
  kcl *ctx = kcl_setup_context(s);
  kcl_matrix *m = *out = NULL;
  void *blocks;
  int rc;
  KCL_TRY(kcl_setup_memory(s, A->rows / KCL_BLOCK_ROWS + 1, sizeof(cl_int), &blocks));
  KCL_TRY(kcl_setup_longest(s, A, blocks, longest));
  kcl_setup_drop(s, blocks);
  KCL_TRY(kcl_alloc(ctx, 1, sizeof *m, "a matrix", (void **)&m));
  *m = (kcl_matrix){.ctx = ctx,
                    .format = f,
                    .type = kcl_setup_single(s) ? KCL_S : KCL_D,
                    .rows = A->rows,
                    .cols = A->cols,
                    .nnz = A->nnz,
                    .lanes = 1,
                    .scatter_items = A->nnz};
  kcl_opencl_adopt(m);
  KCL_TRY((strcmp(f->name, "sell") ? fill_csr : fill_sell)(s, A, m));
  *out = m, m = NULL;
done:
  kcl_matrix_free(&m);
  return rc;
}
