/* Prefix sums, transposes and truncated rows on a device: kernels/sparse_rows.cl. */
#include "sparse/opencl/launch.h"

enum { SCAN_BLOCK = 2048 /* of prefix sums, as in the kernel */ };

int kcl_setup_team(const kcl_device_csr *A) {
  int team = 1;
  while (team < 32 && 4 * team * A->rows < A->nnz) team *= 2;
  return team;
}

int kcl_setup_scan(kcl_device_setup *s, const void *in, int64_t n, void *out, int *note) {
  const int64_t blocks = n ? (n + SCAN_BLOCK - 1) / SCAN_BLOCK : 1;
  const void *sums;
  int rc;
  KCL_TRY(kcl_setup_notes(s, 3, note));
  KCL_TRY(kcl_setup_messages(s, blocks, &sums));
  rc = KCL_LAUNCH_EACH(s, "scan", blocks * KCL_SETUP_GROUP, KCL_ARG_BUFFER(in), KCL_ARG_INT(n),
                       KCL_ARG_BUFFER(out), KCL_ARG_BUFFER(sums), KCL_ARG_NOTE(s, *note));
done:
  return rc;
}

int kcl_setup_shape_within(kcl_device_setup *s, kcl_device_csr *C, int64_t most) {
  int rc = kcl_setup_scan(s, C->ptr, C->rows, C->ptr, &C->note);
  C->nnz = most;
  if (!rc) rc = kcl_setup_memory(s, most, sizeof(cl_int), &C->col);
  return rc ? rc : kcl_setup_memory(s, most, sizeof(cl_double), &C->val);
}

int kcl_setup_room(kcl_device_setup *s, kcl_device_csr *C) {
  int rc = kcl_setup_measure(s, C);
  if (!rc) rc = kcl_setup_memory(s, C->nnz, sizeof(cl_int), &C->col);
  return rc ? rc : kcl_setup_memory(s, C->nnz, sizeof(cl_double), &C->val);
}

int kcl_setup_transpose(kcl_device_setup *s, const kcl_device_csr *A, kcl_device_csr *T) {
  void *taken, *row, *entry;
  int rc;
  *T = (kcl_device_csr){.rows = A->cols, .cols = A->rows};
  KCL_TRY(kcl_setup_zeros(s, T->rows, &T->ptr));
  KCL_TRY(kcl_setup_zeros(s, T->rows, &taken));
  KCL_TRY(kcl_setup_memory(s, A->nnz, sizeof(cl_int), &row));
  KCL_TRY(kcl_setup_memory(s, A->nnz, sizeof(cl_int), &entry));
  KCL_TRY(KCL_LAUNCH_EACH(s, "count_columns", A->rows, KCL_ARG_PATTERN(A), KCL_ARG_INT(A->rows),
                          KCL_ARG_BUFFER(T->ptr)));
  KCL_TRY(kcl_setup_shape_within(s, T, A->nnz));
  KCL_TRY(KCL_LAUNCH_EACH(s, "scatter_columns", A->rows, KCL_ARG_PATTERN(A), KCL_ARG_INT(A->rows),
                          KCL_ARG_BUFFER(T->ptr), KCL_ARG_BUFFER(taken), KCL_ARG_BUFFER(row),
                          KCL_ARG_BUFFER(entry)));
  KCL_TRY(KCL_LAUNCH_EACH(s, "place_columns", T->rows * kcl_setup_team(T), KCL_ARG_BUFFER(T->ptr),
                          KCL_ARG_INT(T->rows), KCL_ARG_INT(kcl_setup_team(T)), KCL_ARG_BUFFER(row),
                          KCL_ARG_BUFFER(entry), KCL_ARG_BUFFER(A->val), KCL_ARG_BUFFER(T->col),
                          KCL_ARG_BUFFER(T->val)));
  kcl_setup_drop(s, taken);
  kcl_setup_drop(s, row);
  kcl_setup_drop(s, entry);
done:
  return rc;
}

int kcl_setup_truncate(kcl_device_setup *s, const kcl_device_csr *A, int most, kcl_device_csr *C) {
  int rc;
  *C = (kcl_device_csr){.rows = A->rows, .cols = A->cols};
  KCL_TRY(kcl_setup_memory(s, C->rows, sizeof(cl_int), &C->ptr));
  KCL_TRY(KCL_LAUNCH_EACH(s, "count_largest", A->rows, KCL_ARG_BUFFER(A->ptr), KCL_ARG_ENDS(A),
                          KCL_ARG_INT(A->rows), KCL_ARG_INT(most), KCL_ARG_BUFFER(C->ptr)));
  KCL_TRY(kcl_setup_shape_within(s, C, A->nnz < most * A->rows ? A->nnz : most * A->rows));
  KCL_TRY(KCL_LAUNCH_EACH(s, "keep_largest", A->rows, KCL_ARG_CSR(A), KCL_ARG_ENDS(A),
                          KCL_ARG_INT(A->rows), KCL_ARG_INT(most), KCL_ARG_CSR(C)));
done:
  return rc;
}

int kcl_setup_round(kcl_device_setup *s, const kcl_device_csr *A) {
  return KCL_LAUNCH_EACH(s, "round_values", A->nnz, KCL_ARG_BUFFER(A->val), KCL_ARG_INT(A->nnz));
}

int kcl_setup_convert(kcl_device_setup *s, const void *from, int64_t n, double factor, bool narrow,
                      void *to) {
  return KCL_LAUNCH_EACH(s, narrow ? "narrow" : "convert", n, KCL_ARG_BUFFER(from), KCL_ARG_INT(n),
                         KCL_ARG_REAL(factor), KCL_ARG_BUFFER(to));
}
