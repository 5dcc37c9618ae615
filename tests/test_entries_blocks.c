/* Matrices in dense blocks (kcl_entries.block): that of the same numbers one by one, in every layout, width of indices, base and type,
 * with duplicates; what does not fit is refused. */
#include "krylocl/io.h"
#include "tests/check.h"
#include <math.h>
#include <string.h>

enum { BLOCK_ROWS = 6, BLOCK_COLS = 5, BLOCKS = 14, MOST = 3, NUMBERS = BLOCKS * MOST * MOST };

static kcl_context *ctx;

/* Blocks at random places, sorted by row or column; two may be at one place. */
typedef struct blocks {
  int64_t row[BLOCKS], col[BLOCKS];
  double val[2 * NUMBERS];
  float single[2 * NUMBERS];
} blocks;

static void fill_blocks(blocks *b, bool by_columns) {
  for (int k = 0; k < BLOCKS; k++) {
    b->row[k] = (int64_t)(random_bits() % BLOCK_ROWS);
    b->col[k] = (int64_t)(random_bits() % BLOCK_COLS);
    int64_t *key = by_columns ? b->col : b->row, *other = by_columns ? b->row : b->col;
    for (int j = k; j > 0 && key[j] < key[j - 1]; j--) {
      const int64_t t[] = {key[j], other[j]};
      key[j] = key[j - 1], other[j] = other[j - 1], key[j - 1] = t[0], other[j - 1] = t[1];
    }
  }
  for (int i = 0; i < 2 * NUMBERS; i++)
    b->val[i] = random_number(), b->single[i] = (float)b->val[i];
}

/* Indices from `base`, or the starts of `lines` of them, in 32 or 64 bits. */
static void put_indices(const int64_t *index, int count, int lines, int bits, int base, void *out) {
  for (int i = 0; i < (lines ? lines + 1 : count); i++) {
    int64_t v = lines ? 0 : index[i];
    for (int k = 0; k < count && lines; k++) v += index[k] < i;
    v += base;
    if (bits == 64)
      ((int64_t *)out)[i] = v;
    else
      ((int32_t *)out)[i] = (int32_t)v;
  }
}

/* Coordinates with these numbers, in the order of the arrays. */
static kcl_csr *one_by_one(const blocks *b, int n, int type) {
  int64_t row[NUMBERS], col[NUMBERS], nnz = 0;
  for (int k = 0; k < BLOCKS; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++, nnz++) row[nnz] = b->row[k] * n + i, col[nnz] = b->col[k] * n + j;
  const bool single = type == 's' || type == 'c';
  const kcl_entries e = {.size = sizeof e,
                         .rows = BLOCK_ROWS * n,
                         .cols = BLOCK_COLS * n,
                         .nnz = nnz,
                         .row = row,
                         .col = col,
                         .val = single ? (const void *)b->single : b->val,
                         .layout = KCL_COO,
                         .row_bits = 64,
                         .col_bits = 64,
                         .type = type};
  kcl_matrix *A = NULL;
  kcl_csr *out = NULL;
  CHECKF(!kcl_matrix_create(ctx, &e, &A) &&
             !kcl_csr_convert(ctx, kcl_matrix_csr(A), kcl_matrix_csr(A)->type, &out),
         "%s", kcl_error());
  kcl_matrix_free(&A);
  return out;
}

static bool same_matrix(const kcl_csr *A, const kcl_csr *B) {
  return A && B && A->rows == B->rows && A->cols == B->cols && A->nnz == B->nnz &&
         !memcmp(A->row_ptr, B->row_ptr, (size_t)(A->rows + 1) * sizeof *A->row_ptr) &&
         !memcmp(A->col, B->col, (size_t)A->nnz * sizeof *A->col) &&
         !memcmp(A->val, B->val, (size_t)A->nnz * kcl_type_size(A->type));
}

static void test_form(int layout, int n, int bits, int base, int type) {
  blocks b;
  int64_t rows[BLOCKS + 1], cols[BLOCKS + 1];
  kcl_matrix *A = NULL;
  fill_blocks(&b, layout == KCL_CSC);
  put_indices(b.row, BLOCKS, layout == KCL_CSR ? BLOCK_ROWS : 0, bits, base, rows);
  put_indices(b.col, BLOCKS, layout == KCL_CSC ? BLOCK_COLS : 0, bits, base, cols);
  const bool single = type == 's' || type == 'c';
  const kcl_entries e = {.size = sizeof e,
                         .rows = BLOCK_ROWS * n,
                         .cols = BLOCK_COLS * n,
                         .nnz = BLOCKS,
                         .row = rows,
                         .col = cols,
                         .val = single ? (const void *)b.single : b.val,
                         .layout = layout,
                         .row_bits = bits,
                         .col_bits = bits,
                         .base = base,
                         .type = type,
                         .block = n};
  kcl_csr *expected = one_by_one(&b, n, type);
  CHECKF(!kcl_matrix_create(ctx, &e, &A) && same_matrix(kcl_matrix_csr(A), expected),
         "layout %d, block %d, %d bits, base %d, type %c: %s", layout, n, bits, base, type,
         kcl_error());
  CHECKF(!A || !kcl_matrix_update(A, &e), "%s", kcl_error());
  kcl_matrix_free(&A), kcl_csr_free(&expected);
}

static void test_refused(void) {
  static const int64_t starts[] = {0, 1, 2}, cols[] = {1, 0}, beyond[] = {1, 2},
                       far[] = {1, INT64_MAX};
  static const double val[] = {1, 2, 3, 4, 5, 6, 7, 8}, bad[] = {1, 2, 3, 4, 5, 6, INFINITY, 8};
  const kcl_entries good = {.size = sizeof good,
                            .rows = 4,
                            .cols = 4,
                            .nnz = 2,
                            .row = starts,
                            .col = cols,
                            .val = val,
                            .layout = KCL_CSR,
                            .row_bits = 64,
                            .col_bits = 64,
                            .type = 'd',
                            .block = 2};
  kcl_entries e[9] = {good, good, good, good, good, good, good, good, good};
  static const char *const words[] = {"block",
                                      "does not divide 3 x 4",
                                      "half",
                                      "borrow",
                                      "row 1 and column 2 in blocks",
                                      "row 1",
                                      "is infinite or not a number",
                                      "nonzeros: none may",
                                      NULL};
  e[0].block = -2, e[1].rows = 3, e[2].half = KCL_LOWER, e[2].symmetry = KCL_SYMMETRIC;
  e[3].borrow = 1, e[3].col_bits = 32, e[4].col = beyond, e[5].col = far, e[6].val = bad;
  e[7].nnz = INT64_MAX / 2;
  for (int i = 0; i < 9; i++) {
    kcl_matrix *A = NULL;
    const int rc = kcl_matrix_create(ctx, &e[i], &A), status = !words[i] ? KCL_OK
                                                               : i == 6  ? KCL_INPUT
                                                                         : KCL_USAGE;
    CHECKF(rc == status && (!rc || (!A && strstr(kcl_error(), words[i]))), "case %d: %d, %s", i, rc,
           kcl_error());
    kcl_matrix_free(&A);
  }
}

int main(void) {
  CHECK(!kcl_context_create("cpu", 0, &ctx));
  for (int layout = KCL_CSR; layout <= KCL_COO; layout++)
    for (int n = 1; n <= MOST; n++)
      for (int bits = 32; bits <= 64; bits += 32)
        for (int base = 0; base < 2; base++)
          for (int t = 0; t < 4; t++) test_form(layout, n, bits, base, "sdcz"[t]);
  test_refused();
  kcl_context_free(&ctx);
  return check_report();
}
