/* Checksums of A and x: one flipped bit in an array that the device and the certificate share would otherwise be
 * certified, since the residual is recomputed from the same wrong number. A is summed at set-up and again before an
 * answer is certified, x before and after. Cost: one pass over the arrays at memory bandwidth each. */
#include "core/base/sum64.h"
#include "solver/solver.h"

static uint64_t sum_values(const kcl_csr *A) {
  return kcl_sum64(A->val, (size_t)A->nnz * kcl_type_size(A->type), 0);
}

kcl_sums kcl_sums_of(const kcl_csr *A) {
  return (kcl_sums){.row_ptr = kcl_sum64(A->row_ptr, (size_t)(A->rows + 1) * sizeof *A->row_ptr, 0),
                    .col = kcl_sum64(A->col, (size_t)A->nnz * sizeof *A->col, 0),
                    .val = sum_values(A)};
}

/* Does A have the very arrays of `then`, which the library owns and never writes to? Faulty memory is found by the sums, as in every
 * solve. */
static bool has_structure_of(const kcl_csr *A, const kcl_csr *then) {
  return A->structure_owners && A->row_ptr == then->row_ptr && A->col == then->col;
}

int kcl_sums_check(kcl_context *ctx, const kcl_csr *A, const kcl_sums *then) {
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

/* The columns of A are not looked at one by one: those of the set-up were, and their sums are the same. */
int kcl_check_pattern(kcl_context *ctx, const kcl_csr *then, const kcl_sums *sums, const kcl_csr *A,
                      kcl_sums *now) {
  KCL_CALL(kcl_csr_need(ctx, A));
  if (A->rows != then->rows || A->cols != then->cols || A->nnz != then->nnz)
    return kcl_fail(
        ctx, KCL_USAGE,
        "an update needs the pattern of the set-up: A is %lld x %lld with %lld entries, "
        "and was %lld x %lld with %lld",
        (long long)A->rows, (long long)A->cols, (long long)A->nnz, (long long)then->rows,
        (long long)then->cols, (long long)then->nnz);
  if (A->type != then->type)
    return kcl_fail(ctx, KCL_USAGE, "an update needs values of type %c, as at set-up, not %c",
                    kcl_type_letter(then->type), kcl_type_letter(A->type));
  *now = has_structure_of(A, then) ? (kcl_sums){sums->row_ptr, sums->col, sum_values(A)}
                                   : kcl_sums_of(A);
  if (now->row_ptr != sums->row_ptr || now->col != sums->col)
    return kcl_fail(ctx, KCL_USAGE, "an update needs the pattern of the set-up: the %s of A differ",
                    now->row_ptr != sums->row_ptr ? "row pointers" : "column indices");
  return KCL_OK;
}

uint64_t kcl_checksum(const void *data, size_t size) { return data ? kcl_sum64(data, size, 0) : 0; }
