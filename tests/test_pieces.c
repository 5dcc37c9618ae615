/* Columns numbered anew in pieces: every entry found again, ascending, no column twice, refused where it has to be. */
#include "core/pieces.h"
#include "tests/check.h"

static void same_entries(const kcl_csr *A, const kcl_pieces *p, int64_t piece) {
  int64_t wrong = 0, most = 0;
  for (int64_t g = 0; g < p->count; g++) {
    const int32_t *column = p->column + p->from[g];
    const int64_t reached = p->from[g + 1] - p->from[g];
    if (reached > most) most = reached;
    for (int64_t c = 1; c < reached; c++) wrong += column[c - 1] >= column[c];
    for (int64_t i = g * piece; i < A->rows && i < (g + 1) * piece; i++)
      for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
        wrong += p->A.col[k] < 0 || p->A.col[k] >= reached || column[p->A.col[k]] != A->col[k];
  }
  CHECKF(wrong == 0 && most == p->most && p->A.cols == most, "%lld wrong", (long long)wrong);
}

int main(void) {
  kcl_csr *A;
  kcl_pieces p;
  kcl *ctx;
  CHECK(!kcl_create(&ctx));
  const char *kind[] = {"poisson2d:17", "cage:5", "powerlaw:500"};
  for (int i = 0; i < 3; i++) {
    if (!CHECKF(!kcl_generate(ctx, kind[i], &A, NULL), "%s", kcl_error(ctx))) continue;
    for (int64_t piece = 1; piece < 2 * A->rows; piece = 3 * piece + 1) {
      CHECK(!kcl_pieces_find(ctx, A, piece, A->cols, &p) &&
            p.count == (A->rows + piece - 1) / piece);
      same_entries(A, &p, piece);
      const int64_t most = p.most;
      kcl_pieces_free(&p);
      CHECK(!kcl_pieces_find(ctx, A, piece, most, &p) && p.count && p.most == most);
      kcl_pieces_free(&p);
      CHECK(!kcl_pieces_find(ctx, A, piece, most - 1, &p) && !p.count && !p.column);
    }
    CHECK(kcl_reach(A) > 0 && kcl_reach(A) < A->cols);
    A->row_ptr[1] = 0; /* row 0 is empty now, and row 1 has its entries too */
    CHECK(!kcl_pieces_find(ctx, A, 4, A->cols, &p) && !p.count);
    kcl_csr_free(&A);
  }
  kcl_destroy(&ctx);
  return check_report();
}
