/* Prefix sums, transposes and truncated rows on a device: kernels/sparse_rows.cl. */
#include "sparse/opencl/launch.h"

enum { BLOCK = 2048 /* of prefix sums, as in the kernel */ };

int kcl_setup_scan(kcl_device_setup *s, void *counts, int64_t n, int64_t found[2]) {
  const int64_t blocks = (n + BLOCK - 1) / BLOCK;
  cl_long both[2];
  void *sums;
  int rc;
  KCL_TRY(kcl_setup_memory(s, 2 * blocks + 2, sizeof(cl_long), &sums));
  KCL_TRY(EACH(s, "scan_blocks", blocks * KCL_SETUP_GROUP, BUFFER(counts), INT(n), BUFFER(counts),
               BUFFER(sums)));
  KCL_TRY(EACH(s, "scan_sums", KCL_SETUP_GROUP, BUFFER(sums), INT(blocks)));
  KCL_TRY(EACH(s, "scan_add", n + 1, BUFFER(counts), INT(n), BUFFER(sums), INT(blocks)));
  KCL_TRY(kcl_setup_read(s, sums, (size_t)blocks * sizeof(cl_long), sizeof both, both));
  kcl_setup_drop(s, sums);
  found[0] = both[0], found[1] = both[1];
  if (found[0] >= INT32_MAX) rc = KCL_UNSUITED;
done:
  return rc;
}

int kcl_setup_shape(kcl_device_setup *s, kcl_device_csr *C) {
  int64_t found[2] = {0, 0};
  int rc = kcl_setup_scan(s, C->ptr, C->rows, found);
  C->nnz = found[0], C->longest = found[1];
  if (!rc) rc = kcl_setup_memory(s, C->nnz, sizeof(cl_int), &C->col);
  return rc ? rc : kcl_setup_memory(s, C->nnz, sizeof(cl_double), &C->val);
}

int kcl_setup_transpose(kcl_device_setup *s, const kcl_device_csr *A, kcl_device_csr *T) {
  void *taken, *row;
  int rc;
  *T = (kcl_device_csr){.rows = A->cols, .cols = A->rows, .nnz = A->nnz};
  KCL_TRY(kcl_setup_zeros(s, T->rows, &T->ptr));
  KCL_TRY(kcl_setup_zeros(s, T->rows, &taken));
  KCL_TRY(kcl_setup_memory(s, A->nnz, sizeof(cl_int), &row));
  KCL_TRY(EACH(s, "count_columns", A->rows, PATTERN(A), INT(A->rows), BUFFER(T->ptr)));
  KCL_TRY(kcl_setup_shape(s, T));
  KCL_TRY(EACH(s, "scatter_columns", A->rows, PATTERN(A), INT(A->rows), BUFFER(T->ptr),
               BUFFER(taken), BUFFER(row)));
  KCL_TRY(EACH(s, "place_columns", A->rows, CSR(A), INT(A->rows), BUFFER(T->ptr), BUFFER(row),
               BUFFER(T->col), BUFFER(T->val)));
  kcl_setup_drop(s, taken), kcl_setup_drop(s, row);
done:
  return rc;
}

int kcl_setup_truncate(kcl_device_setup *s, const kcl_device_csr *A, int most, kcl_device_csr *C) {
  int rc;
  *C = (kcl_device_csr){.rows = A->rows, .cols = A->cols};
  KCL_TRY(kcl_setup_memory(s, C->rows, sizeof(cl_int), &C->ptr));
  KCL_TRY(
      EACH(s, "count_largest", A->rows, BUFFER(A->ptr), INT(A->rows), INT(most), BUFFER(C->ptr)));
  KCL_TRY(kcl_setup_shape(s, C));
  KCL_TRY(EACH(s, "keep_largest", A->rows, CSR(A), INT(A->rows), INT(most), CSR(C)));
done:
  return rc;
}

int kcl_setup_convert(kcl_device_setup *s, const void *from, int64_t n, double factor, void *to) {
  return EACH(s, "convert", n, BUFFER(from), INT(n), REAL(factor), BUFFER(to));
}
