/* y = A x as in a textbook: one loop over the rows of CSR, or of full storage, in one thread, nothing unrolled or prefetched,
 * compiled with the options of the library. The references of speed-ups (krylocl bench), apart from the formats so that no
 * change of theirs moves it.
 * Bytes: nnz (4 + s) + 8 (rows + 1), or rows cols s, and the vectors; 2 flops per entry.
 */
#include "core/matrix/stored.h"
#include "core/base/scalar.h"

void KCL_TYPED(kcl_sequential_product)(const kcl_csr *A, const void *x_, void *y_) {
  const scalar *x = x_, *val = A->val;
  scalar *y = y_;
  for (int64_t i = 0; i < A->rows; i++) {
    scalar sum = s_make(0);
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      sum = s_fma(val[k], x[A->col[k]], sum);
    y[i] = sum;
  }
}

void KCL_TYPED(kcl_sequential_dense)(int64_t rows, int64_t cols, const void *A_, const void *x_,
                                     void *y_) {
  const scalar *x = x_, *A = A_;
  scalar *y = y_;
  for (int64_t i = 0; i < rows; i++) {
    scalar sum = s_make(0);
    for (int64_t j = 0; j < cols; j++) sum = s_fma(A[i * cols + j], x[j], sum);
    y[i] = sum;
  }
}
