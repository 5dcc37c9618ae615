/* Halo lists and renumbered columns: every entry is found again, lists ascend without duplicates, the limit holds. */
#include "core/matrix/row_blocks.h"
#include "tests/check.h"

static void same_entries(const kcl_csr *A, const kcl_row_blocks *p, int64_t block) {
  int64_t wrong = 0, most = 0;
  for (int64_t g = 0; g < p->count; g++) {
    const int32_t *column = p->column + p->from[g];
    const int64_t length = p->from[g + 1] - p->from[g];
    if (length > most) most = length;
    for (int64_t c = 1; c < length; c++) wrong += column[c - 1] >= column[c];
    for (int64_t i = g * block; i < A->rows && i < (g + 1) * block; i++)
      for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
        wrong += p->A.col[k] < 0 || p->A.col[k] >= length || column[p->A.col[k]] != A->col[k];
  }
  CHECKF(wrong == 0 && most == p->most && p->A.cols == most, "%lld wrong", (long long)wrong);
}

int main(void) {
  kcl_csr *A;
  kcl_row_blocks p;
  kcl_context *ctx;
  CHECK(!kcl_context_create(NULL, 0, &ctx));
  const char *kind[] = {"poisson2d:17", "cage:5", "powerlaw:500"};
  for (int i = 0; i < 3; i++) {
    if (!CHECKF(!kcl_generate(ctx, kind[i], &A, NULL), "%s", kcl_error())) continue;
    for (int64_t block = 1; block < 2 * A->rows; block = 3 * block + 1) {
      CHECK(!kcl_row_blocks_find(ctx, A, block, A->cols, &p) &&
            p.count == (A->rows + block - 1) / block);
      same_entries(A, &p, block);
      const int64_t most = p.most;
      kcl_row_blocks_free(&p);
      CHECK(!kcl_row_blocks_find(ctx, A, block, most, &p) && p.count && p.most == most);
      kcl_row_blocks_free(&p);
      CHECK(!kcl_row_blocks_find(ctx, A, block, most - 1, &p) && !p.count && !p.column);
      for (int64_t none = -165; none <= 0; none += 165)
        CHECKF(!kcl_row_blocks_find(ctx, A, block, none, &p) && !p.count, "%s", kcl_error());
    }
    CHECK(kcl_bandwidth(A) > 0 && kcl_bandwidth(A) < A->cols);
    A->row_ptr[1] = 0; /* row 0 is empty now, and row 1 has its entries too */
    CHECK(!kcl_row_blocks_find(ctx, A, 4, A->cols, &p) && !p.count);
    kcl_csr_free(&A);
  }
  kcl_context_free(&ctx);
  return check_report();
}
