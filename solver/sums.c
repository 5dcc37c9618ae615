/* Checksums of A and x: one flipped bit in an array that the device and the certificate share would otherwise be
 * certified, since the residual is recomputed from the same wrong number. A is summed at set-up and again before an
 * answer is certified, x before and after. Cost: one pass over the arrays at memory bandwidth each. */
#include "core/base/sum64.h"
#include "solver/solver.h"

kcl_sums kcl_sums_of(const kcl_csr *A) {
  const size_t nnz = (size_t)A->nnz;
  return (kcl_sums){.row_ptr = kcl_sum64(A->row_ptr, (size_t)(A->rows + 1) * sizeof *A->row_ptr, 0),
                    .col = kcl_sum64(A->col, nnz * sizeof *A->col, 0),
                    .val = kcl_sum64(A->val, nnz * kcl_type_size(A->type), 0)};
}

int kcl_sums_check(kcl *ctx, const kcl_csr *A, const kcl_sums *then) {
  const kcl_sums now = kcl_sums_of(A);
  const char *changed = now.row_ptr != then->row_ptr ? "row pointers"
                        : now.col != then->col       ? "column indices"
                        : now.val != then->val       ? "values"
                                                     : NULL;
  if (!changed) return KCL_OK;
  return kcl_fail(ctx, KCL_CHANGED,
                  "the %s of A are not those that were set up: the program wrote to them, or the "
                  "memory is faulty; no answer is certified",
                  changed);
}

uint64_t kcl_checksum(const void *data, size_t size) { return data ? kcl_sum64(data, size, 0) : 0; }
