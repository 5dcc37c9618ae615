/* Array files as CSR: every position is an entry (except the diagonal if skew-symmetric), so the index of
 * (i, j) is known in advance. The file is column by column; with a symmetry it holds the lower
 * triangle, with the diagonal unless skew-symmetric.
 */
#include "data/files/text.h"

static void put_array_entry(kcl_csr *A, bool skew, int64_t i, int64_t j, double re, double im) {
  int64_t q = skew ? i * (A->cols - 1) + j - (j > i) : i * A->cols + j;
  double *val = A->val;
  A->col[q] = (int32_t)j;
  if (A->type == KCL_Z)
    val[2 * q] = re, val[2 * q + 1] = im;
  else
    val[q] = re;
}

int mm_build_array(kcl_context *ctx, const mm_head *h, const mm_entries *e, kcl_csr **out) {
  kcl_symmetry s = h->symmetry;
  bool skew = s == KCL_SKEW, half = s != KCL_GENERAL;
  int64_t per_row = h->cols - skew, i = skew, j = 0;
  double conj = s == KCL_HERMITIAN || skew ? -1 : 1, sign = skew ? -1 : 1;
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *A = NULL;
  KCL_CALL(kcl_csr_create(ctx, h->rows, h->cols, h->rows ? h->rows * per_row : 0,
                          e->width == 2 ? KCL_Z : KCL_D, &A));
  for (int64_t r = 0; r < h->rows; r++) A->row_ptr[r + 1] = (r + 1) * per_row;
  for (int64_t k = 0; k < e->blocks; k++) {
    const double *v = (const double *)e->block[k].words;
    for (int64_t n = 0; n < e->block[k].count; n++, v += e->width) {
      double im = e->width == 2 ? v[1] : 0;
      if (s == KCL_HERMITIAN && i == j && im != 0)
        return kcl_fail(
            ctx, KCL_INPUT,
            "diagonal entry %lld of a hermitian matrix: found imaginary part %g, expected 0",
            (long long)i + 1, im);
      put_array_entry(A, skew, i, j, v[0], im);
      if (half && i != j) put_array_entry(A, skew, j, i, sign * v[0], conj * im);
      if (++i == h->rows) j++, i = half ? j + skew : 0;
    }
  }
  A->symmetry = s, A->field = h->field, A->stored = h->entries;
  *out = A, A = NULL;
  return KCL_OK;
}
