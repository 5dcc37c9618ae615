/* Prefix sums, transposes and truncated rows on a device: kernels/sparse_rows.cl. */
#include "sparse/opencl/launch.h"

enum { BLOCK = 2048 /* of prefix sums, as in the kernel */ };

int kcl_setup_team(const kcl_device_csr *A) {
  int team = 1;
  while (team < 32 && 4 * team * A->rows < A->nnz) team *= 2;
  return team;
}

int kcl_setup_scan(kcl_device_setup *s, const void *in, int64_t n, void *out, int *note) {
  const int64_t blocks = n ? (n + BLOCK - 1) / BLOCK : 1;
  const void *sums;
  int rc;
  KCL_TRY(kcl_setup_notes(s, 3, note));
  KCL_TRY(kcl_setup_messages(s, blocks, &sums));
  rc = EACH(s, "scan", blocks * KCL_SETUP_GROUP, BUFFER(in), INT(n), BUFFER(out), BUFFER(sums),
            NOTE(s, *note));
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
  KCL_TRY(EACH(s, "count_columns", A->rows, PATTERN(A), INT(A->rows), BUFFER(T->ptr)));
  KCL_TRY(kcl_setup_shape_within(s, T, A->nnz));
  KCL_TRY(EACH(s, "scatter_columns", A->rows, PATTERN(A), INT(A->rows), BUFFER(T->ptr),
               BUFFER(taken), BUFFER(row), BUFFER(entry)));
  KCL_TRY(EACH(s, "place_columns", T->rows * kcl_setup_team(T), BUFFER(T->ptr), INT(T->rows),
               INT(kcl_setup_team(T)), BUFFER(row), BUFFER(entry), BUFFER(A->val), BUFFER(T->col),
               BUFFER(T->val)));
  kcl_setup_drop(s, taken), kcl_setup_drop(s, row), kcl_setup_drop(s, entry);
done:
  return rc;
}

int kcl_setup_truncate(kcl_device_setup *s, const kcl_device_csr *A, int most, kcl_device_csr *C) {
  int rc;
  *C = (kcl_device_csr){.rows = A->rows, .cols = A->cols};
  KCL_TRY(kcl_setup_memory(s, C->rows, sizeof(cl_int), &C->ptr));
  KCL_TRY(EACH(s, "count_largest", A->rows, BUFFER(A->ptr), ENDS(A), INT(A->rows), INT(most),
               BUFFER(C->ptr)));
  KCL_TRY(kcl_setup_shape_within(s, C, A->nnz < most * A->rows ? A->nnz : most * A->rows));
  KCL_TRY(EACH(s, "keep_largest", A->rows, CSR(A), ENDS(A), INT(A->rows), INT(most), CSR(C)));
done:
  return rc;
}

int kcl_setup_round(kcl_device_setup *s, const kcl_device_csr *A) {
  return EACH(s, "round_values", A->nnz, BUFFER(A->val), INT(A->nnz));
}

int kcl_setup_convert(kcl_device_setup *s, const void *from, int64_t n, double factor, bool narrow,
                      void *to) {
  return EACH(s, narrow ? "narrow" : "convert", n, BUFFER(from), INT(n), REAL(factor), BUFFER(to));
}
