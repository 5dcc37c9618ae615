/* Matrices on a device in the formats of multigrid's levels, filled there: kernels/sparse_rows.cl. They have no host arrays. */
#include "core/matrix/structure.h"
#include "multigrid/opencl/launch.h"

/* Reserves memory for an array; one without elements shares the buffer of the array before it. */
static int reserve_array(kcl_stored *m, int i) {
  const kcl_array *a = &m->array[i];
  const size_t element = a->kind == KCL_INT64 ? 4 : kcl_array_element(a->kind, m->type);
  if (a->count || !i)
    return kcl_pool_take(m->ctx, (size_t)a->count * element + 64, false, &m->device[i]);
  m->device[i] = m->device[i - 1];
  return KCL_OK;
}

/* Reserves memory for all arrays that have none yet. */
static int reserve_all(kcl_stored *m) {
  int rc = KCL_OK;
  for (int i = 0; i < m->arrays && !rc; i++)
    if (!m->device[i]) rc = reserve_array(m, i);
  return rc;
}

static bool has_single_values(const kcl_stored *m) { return m->array[2].kind == KCL_SINGLE; }

/* A CSR matrix on the arrays of A. */
static int fill_csr(kcl_device_setup *s, kcl_device_csr *A, bool narrow, kcl_stored *m) {
  const kcl_csr shape = {.rows = A->rows, .cols = A->cols, .nnz = A->nnz, .type = m->type};
  KCL_CALL(m->format->build(m, &shape));
  if (narrow) KCL_CALL(kcl_stored_narrow(m));
  KCL_CALL(reserve_all(m));
  return KCL_LAUNCH_EACH(s, narrow ? KCL_KERNEL_store_rows_narrow : KCL_KERNEL_store_rows,
                         A->nnz > A->rows ? A->nnz : A->rows + 1, KCL_ARG_CSR(A),
                         KCL_ARG_INT(A->rows), KCL_ARG_INT(A->nnz), KCL_ARG_BUFFER(m->device[0]),
                         KCL_ARG_BUFFER(m->device[1]), KCL_ARG_BUFFER(m->device[2]));
}

static int slice_of(const kcl_context *ctx) {
  return ctx->tune.slice ? ctx->tune.slice : KCL_SLICE;
}

int kcl_amg_device_slices(kcl_device_setup *s, kcl_device_csr *A) {
  const int C = slice_of(kcl_amg_device_context(s));
  const int64_t slices = (A->rows + C - 1) / C;
  KCL_CALL(kcl_amg_device_memory(s, slices, sizeof(cl_int), &A->slice));
  KCL_CALL(KCL_LAUNCH_EACH(s, KCL_KERNEL_slice_widths, slices, KCL_ARG_BUFFER(A->ptr),
                           KCL_ARG_INT(A->rows), KCL_ARG_INT(C), KCL_ARG_BUFFER(A->slice)));
  return kcl_amg_device_scan(s, A->slice, slices, A->slice, &A->slice_note);
}

/* As build of spmv/sell.c makes it, not sorted. */
static int fill_sell(kcl_device_setup *s, kcl_device_csr *A, bool narrow, kcl_stored *m) {
  const int C = slice_of(m->ctx);
  const int64_t slices = (A->rows + C - 1) / C;
  cl_int found[2];
  int64_t columns;
  if (!A->slice) KCL_CALL(kcl_amg_device_slices(s, A));
  KCL_CALL(kcl_amg_device_read_notes(s, A->slice_note, 2, found));
  columns = found[0];
  if (columns * C >= INT32_MAX) KCL_CALL(KCL_UNSUITED);
  m->kernel.variant = C, m->kernel.rows_match_elements = true;
  kcl_stored_borrow(m, "slice", KCL_INT32, slices + 1, NULL);
  kcl_stored_borrow(m, "col", KCL_INT32, columns * C, NULL);
  kcl_stored_borrow(m, "val", narrow ? KCL_SINGLE : KCL_SCALAR, columns * C, NULL);
  kcl_stored_borrow(m, "order", KCL_INT32, 0, NULL);
  kcl_stored_param(m, "sorted", 0);
  KCL_CALL(reserve_all(m));
  return KCL_LAUNCH_EACH(s, narrow ? KCL_KERNEL_fill_slices_narrow : KCL_KERNEL_fill_slices,
                         slices * C, KCL_ARG_CSR(A), KCL_ARG_INT(A->rows), KCL_ARG_INT(A->cols),
                         KCL_ARG_INT(C), KCL_ARG_BUFFER(A->slice), KCL_ARG_BUFFER(m->device[0]),
                         KCL_ARG_BUFFER(m->device[1]), KCL_ARG_BUFFER(m->device[2]));
}

/* ---------------------------------------------------------------- and back */

static int widen(kcl_device_setup *s, const kcl_stored *m, void **out) {
  const int64_t n = m->array[2].count;
  int rc = kcl_amg_device_memory(s, n, sizeof(cl_double), out);
  return rc ? rc
            : KCL_LAUNCH_EACH(s, KCL_KERNEL_widen, n, KCL_ARG_BUFFER(m->device[2]), KCL_ARG_INT(n),
                              KCL_ARG_BUFFER(*out));
}

static int view_csr(kcl_device_setup *s, const kcl_stored *m, bool values, kcl_device_csr *out) {
  out->ptr = m->device[0];
  out->col = m->device[1];
  out->val = values ? m->device[2] : NULL;
  return values && (kcl_amg_device_single(s) || has_single_values(m)) ? widen(s, m, &out->val)
                                                                      : KCL_OK;
}

/* Rows have room behind them. */
static int view_sell(kcl_device_setup *s, const kcl_stored *m, kcl_device_csr *out) {
  out->nnz = m->array[1].count, out->filled = m->nnz;
  KCL_CALL(kcl_amg_device_memory(s, m->rows, sizeof(cl_int), &out->ptr));
  KCL_CALL(kcl_amg_device_memory(s, m->rows, sizeof(cl_int), &out->end));
  KCL_CALL(kcl_amg_device_memory(s, out->nnz, sizeof(cl_int), &out->col));
  KCL_CALL(kcl_amg_device_memory(s, out->nnz, sizeof(cl_double), &out->val));
  return KCL_LAUNCH_EACH(
      s, has_single_values(m) ? KCL_KERNEL_read_slices_narrow : KCL_KERNEL_read_slices, m->rows,
      KCL_ARG_INT(m->rows), KCL_ARG_INT(m->kernel.variant), KCL_ARG_BUFFER(m->device[0]),
      KCL_ARG_BUFFER(m->device[1]), KCL_ARG_BUFFER(m->device[2]), KCL_ARG_BUFFER(out->ptr),
      KCL_ARG_BUFFER(out->end), KCL_ARG_BUFFER(out->col), KCL_ARG_BUFFER(out->val));
}

static int view_sell_pattern(kcl_device_setup *s, const kcl_stored *m, kcl_device_csr *out) {
  int note;
  KCL_CALL(kcl_amg_device_memory(s, m->rows, sizeof(cl_int), &out->ptr));
  KCL_CALL(kcl_amg_device_memory(s, m->nnz, sizeof(cl_int), &out->col));
  KCL_CALL(KCL_LAUNCH_EACH(
      s, has_single_values(m) ? KCL_KERNEL_count_slices_narrow : KCL_KERNEL_count_slices, m->rows,
      KCL_ARG_INT(m->rows), KCL_ARG_INT(m->kernel.variant), KCL_ARG_BUFFER(m->device[0]),
      KCL_ARG_BUFFER(m->device[1]), KCL_ARG_BUFFER(m->device[2]), KCL_ARG_BUFFER(out->ptr)));
  KCL_CALL(kcl_amg_device_scan(s, out->ptr, m->rows, out->ptr, &note));
  return KCL_LAUNCH_EACH(s, KCL_KERNEL_read_columns, m->rows, KCL_ARG_INT(m->rows),
                         KCL_ARG_INT(m->kernel.variant), KCL_ARG_BUFFER(m->device[0]),
                         KCL_ARG_BUFFER(m->device[1]), KCL_ARG_PATTERN(out));
}

int kcl_amg_device_view(kcl_device_setup *s, const kcl_stored *m, bool values,
                        kcl_device_csr *out) {
  if (m->origin.source.row_ptr) return kcl_amg_device_upload(s, &m->origin.source, NULL, NULL, out);
  *out = (kcl_device_csr){.rows = m->rows, .cols = m->cols, .nnz = m->nnz};
  if (strcmp(m->format->name, "sell")) return view_csr(s, m, values, out);
  return values ? view_sell(s, m, out) : view_sell_pattern(s, m, out);
}

/* ---------------------------------------------------------------- in a format */

int kcl_amg_device_matrix(kcl_device_setup *s, kcl_device_csr *A, const kcl_format *f, bool narrow,
                          kcl_stored **out) {
  kcl_context *ctx = kcl_amg_device_context(s);
  KCL_OWNED_BY(kcl_stored_free) kcl_stored *m = *out = NULL;
  KCL_CALL(kcl_alloc(ctx, 1, sizeof *m, "a matrix", (void **)&m));
  *m = (kcl_stored){.ctx = ctx,
                    .format = f,
                    .type = kcl_amg_device_single(s) ? KCL_S : KCL_D,
                    .rows = A->rows,
                    .cols = A->cols,
                    .nnz = A->nnz,
                    .kernel.lanes = 1,
                    .kernel.scatter_items = A->nnz};
  kcl_opencl_adopt(m);
  narrow = narrow && !kcl_amg_device_single(s);
  KCL_CALL((strcmp(f->name, "sell") ? fill_csr : fill_sell)(s, A, narrow, m));
  *out = m, m = NULL;
  return KCL_OK;
}
