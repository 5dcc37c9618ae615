/* Prefix sums, transposes and truncated rows on a device: kernels/sparse_rows.cl. */
#include "multigrid/opencl/launch.h"

enum { SCAN_BLOCK = 2048 /* of prefix sums, as in the kernel */ };

int kcl_amg_device_team(const kcl_device_csr *A) {
  int team = 1;
  while (team < 32 && 4 * team * A->rows < A->nnz) team *= 2;
  return team;
}

int kcl_amg_device_scan(kcl_device_setup *s, const void *in, int64_t n, void *out, int *note) {
  const int64_t blocks = n ? (n + SCAN_BLOCK - 1) / SCAN_BLOCK : 1;
  const void *sums;
  KCL_CALL(kcl_amg_device_notes(s, 3, note));
  KCL_CALL(kcl_amg_device_messages(s, blocks, &sums));
  return KCL_LAUNCH_EACH(s, KCL_KERNEL_scan, blocks * KCL_AMG_DEVICE_GROUP, KCL_ARG_BUFFER(in),
                         KCL_ARG_INT(n), KCL_ARG_BUFFER(out), KCL_ARG_BUFFER(sums),
                         KCL_ARG_NOTE(s, *note));
}

int kcl_amg_device_shape_within(kcl_device_setup *s, kcl_device_csr *C, int64_t most) {
  int rc = kcl_amg_device_scan(s, C->ptr, C->rows, C->ptr, &C->note);
  C->nnz = most;
  if (!rc) rc = kcl_amg_device_memory(s, most, sizeof(cl_int), &C->col);
  return rc ? rc : kcl_amg_device_memory(s, most, sizeof(cl_double), &C->val);
}

int kcl_amg_device_shape(kcl_device_setup *s, kcl_device_csr *C) {
  int rc = kcl_amg_device_measure(s, C);
  if (!rc) rc = kcl_amg_device_memory(s, C->nnz, sizeof(cl_int), &C->col);
  return rc ? rc : kcl_amg_device_memory(s, C->nnz, sizeof(cl_double), &C->val);
}

int kcl_amg_device_transpose(kcl_device_setup *s, const kcl_device_csr *A, kcl_device_csr *T) {
  void *taken, *row, *entry;
  *T = (kcl_device_csr){.rows = A->cols, .cols = A->rows};
  KCL_CALL(kcl_amg_device_zeros(s, T->rows, &T->ptr));
  KCL_CALL(kcl_amg_device_zeros(s, T->rows, &taken));
  KCL_CALL(kcl_amg_device_memory(s, A->nnz, sizeof(cl_int), &row));
  KCL_CALL(kcl_amg_device_memory(s, A->nnz, sizeof(cl_int), &entry));
  KCL_CALL(KCL_LAUNCH_EACH(s, KCL_KERNEL_count_columns, A->rows, KCL_ARG_PATTERN(A),
                           KCL_ARG_INT(A->rows), KCL_ARG_BUFFER(T->ptr)));
  KCL_CALL(kcl_amg_device_shape_within(s, T, A->nnz));
  KCL_CALL(KCL_LAUNCH_EACH(s, KCL_KERNEL_scatter_columns, A->rows, KCL_ARG_PATTERN(A),
                           KCL_ARG_INT(A->rows), KCL_ARG_BUFFER(T->ptr), KCL_ARG_BUFFER(taken),
                           KCL_ARG_BUFFER(row), KCL_ARG_BUFFER(entry)));
  KCL_CALL(KCL_LAUNCH_EACH(s, KCL_KERNEL_place_columns, T->rows * kcl_amg_device_team(T),
                           KCL_ARG_BUFFER(T->ptr), KCL_ARG_INT(T->rows),
                           KCL_ARG_INT(kcl_amg_device_team(T)), KCL_ARG_BUFFER(row),
                           KCL_ARG_BUFFER(entry), KCL_ARG_BUFFER(A->val), KCL_ARG_BUFFER(T->col),
                           KCL_ARG_BUFFER(T->val)));
  kcl_amg_device_drop(s, taken);
  kcl_amg_device_drop(s, row);
  kcl_amg_device_drop(s, entry);
  return KCL_OK;
}

int kcl_amg_device_truncate(kcl_device_setup *s, const kcl_device_csr *A, int most,
                            kcl_device_csr *C) {
  *C = (kcl_device_csr){.rows = A->rows, .cols = A->cols};
  KCL_CALL(kcl_amg_device_memory(s, C->rows, sizeof(cl_int), &C->ptr));
  KCL_CALL(KCL_LAUNCH_EACH(s, KCL_KERNEL_count_largest, A->rows, KCL_ARG_BUFFER(A->ptr),
                           KCL_ARG_ENDS(A), KCL_ARG_INT(A->rows), KCL_ARG_INT(most),
                           KCL_ARG_BUFFER(C->ptr)));
  KCL_CALL(kcl_amg_device_shape_within(s, C, A->nnz < most * A->rows ? A->nnz : most * A->rows));
  return KCL_LAUNCH_EACH(s, KCL_KERNEL_keep_largest, A->rows, KCL_ARG_CSR(A), KCL_ARG_ENDS(A),
                         KCL_ARG_INT(A->rows), KCL_ARG_INT(most), KCL_ARG_CSR(C));
}

int kcl_amg_device_round(kcl_device_setup *s, const kcl_device_csr *A) {
  return KCL_LAUNCH_EACH(s, KCL_KERNEL_round_values, A->nnz, KCL_ARG_BUFFER(A->val),
                         KCL_ARG_INT(A->nnz));
}

int kcl_amg_device_convert(kcl_device_setup *s, const void *from, int64_t n, double factor,
                           bool narrow, void *to) {
  return KCL_LAUNCH_EACH(s, narrow ? KCL_KERNEL_narrow : KCL_KERNEL_convert, n,
                         KCL_ARG_BUFFER(from), KCL_ARG_INT(n), KCL_ARG_REAL(factor),
                         KCL_ARG_BUFFER(to));
}
