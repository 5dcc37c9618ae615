/* kcl_csr_from_entries: a matrix in every layout, width of indices, base, order, with and without duplicates, whole and as a half, is
 * the matrix of the same entries; what does not fit is refused with its place. */
#include "tests/calls.h"
#include "tests/check.h"
#include <math.h>
#include <stddef.h>
#include <string.h>

/* How the entries of a matrix are written to arrays. */
typedef struct form {
  int layout, row_bits, col_bits, base, half;
  bool reversed; /* each row (or column) from its end; coordinates from the last */
  bool twice;    /* each entry as two equal terms */
} form;

typedef struct entry {
  int64_t row, col;
  double value[2];
} entry;

static bool by_columns; /* the order of compare_places */

static int compare_places(const void *a, const void *b) {
  const entry *x = a, *y = b;
  int64_t rows = (x->row > y->row) - (x->row < y->row),
          cols = (x->col > y->col) - (x->col < y->col);
  return (int)(by_columns ? (cols ? cols : rows) : rows ? rows : cols);
}

static double number(const kcl_csr *A, int64_t k, int part) {
  const double *val = A->val;
  return A->type == KCL_D ? part ? 0 : val[k] : val[2 * k + part];
}

static bool in_half(int half, int64_t row, int64_t col) {
  return !half || (half == KCL_LOWER ? col <= row : row <= col);
}

/* The entries of A in the order of the form. */
static int64_t list_entries(const kcl_csr *A, const form *f, entry *list) {
  int64_t n = 0;
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      for (int term = 0; term < 1 + f->twice && in_half(f->half, i, A->col[k]); term++)
        list[n++] = (entry){
            i, A->col[k], {number(A, k, 0) / (1 + f->twice), number(A, k, 1) / (1 + f->twice)}};
  by_columns = f->layout == KCL_CSC;
  qsort(list, (size_t)n, sizeof *list, compare_places);
  return n;
}

static void put_index(void *array, int bits, int64_t k, int64_t index) {
  if (bits == 64)
    ((int64_t *)array)[k] = index;
  else
    ((int32_t *)array)[k] = (int32_t)index;
}

/* Indices of entries, or the starts of lines: how many entries have an index below i. */
static void *index_array(const entry *list, int64_t n, int64_t lines, const form *f, bool rows,
                         bool starts) {
  const int bits = rows ? f->row_bits : f->col_bits;
  void *array = malloc((size_t)((starts ? lines : n) + 1) * 8);
  for (int64_t k = 0; k < n && !starts; k++)
    put_index(array, bits, k, (rows ? list[k].row : list[k].col) + f->base);
  for (int64_t i = 0, k = 0; i <= lines && starts; i++) {
    while (k < n && (rows ? list[k].row : list[k].col) < i) k++;
    put_index(array, bits, i, k + f->base);
  }
  return array;
}

/* Reverses the parts of the list that have the same row (or column); of coordinates the whole. */
static void reverse_lines(entry *list, int64_t n, int layout) {
  for (int64_t from = 0, to; from < n; from = to) {
    for (to = from + 1; to < n; to++)
      if (layout == KCL_CSR ? list[to].row != list[from].row
                            : layout == KCL_CSC && list[to].col != list[from].col)
        break;
    for (int64_t a = from, b = to - 1; a < b; a++, b--) {
      entry t = list[a];
      list[a] = list[b], list[b] = t;
    }
  }
}

static void *value_array(const entry *list, int64_t n, kcl_type type) {
  const int width = kcl_type_complex(type) ? 2 : 1;
  const bool single = type == KCL_S || type == KCL_C;
  void *val = malloc((size_t)(n * width + 1) * sizeof(double));
  for (int64_t i = 0; i < n * width; i++) {
    double v = list[i / width].value[i % width];
    if (single)
      ((float *)val)[i] = (float)v;
    else
      ((double *)val)[i] = v;
  }
  return val;
}

static kcl_entries write_arrays(const kcl_csr *A, kcl_type type, const form *f) {
  entry *list = malloc((size_t)(2 * A->nnz + 1) * sizeof *list);
  const int64_t n = list_entries(A, f, list);
  if (f->reversed) reverse_lines(list, n, f->layout);
  kcl_entries e = {.size = sizeof e,
                   .rows = A->rows,
                   .cols = A->cols,
                   .nnz = n,
                   .row = index_array(list, n, A->rows, f, true, f->layout == KCL_CSR),
                   .col = index_array(list, n, A->cols, f, false, f->layout == KCL_CSC),
                   .val = value_array(list, n, type),
                   .layout = f->layout,
                   .row_bits = f->row_bits,
                   .col_bits = f->col_bits,
                   .base = f->base,
                   .type = kcl_type_letter(type),
                   .symmetry = A->symmetry,
                   .half = f->half};
  free(list);
  return e;
}

static void free_arrays(kcl_entries *e) {
  free((void *)e->row), free((void *)e->col), free((void *)e->val);
}

/* Part i of the values, a number. */
static double part_of(const kcl_csr *A, int64_t i) {
  const bool single = A->type == KCL_S || A->type == KCL_C;
  return single ? ((const float *)A->val)[i] : ((const double *)A->val)[i];
}

/* Zeros may differ in sign: the conjugate of a real number has the imaginary part -0. */
static bool equal_values(const kcl_csr *A, const kcl_csr *B) {
  const int64_t parts = A->nnz * (kcl_type_complex(A->type) ? 2 : 1);
  for (int64_t i = 0; i < parts; i++)
    if (part_of(A, i) != part_of(B, i)) return false;
  return true;
}

static bool equal(const kcl_csr *A, const kcl_csr *B) {
  return A->rows == B->rows && A->cols == B->cols && A->nnz == B->nnz && A->type == B->type &&
         A->symmetry == B->symmetry &&
         !memcmp(A->row_ptr, B->row_ptr, (size_t)(A->rows + 1) * sizeof *A->row_ptr) &&
         !memcmp(A->col, B->col, (size_t)A->nnz * sizeof *A->col) && equal_values(A, B);
}

/* The arrays are freed before the matrix is compared: it must not refer to them. */
static void test_form(kcl_context *ctx, const char *name, const kcl_csr *A, const kcl_csr *wanted,
                      const form *f) {
  kcl_csr *B = NULL;
  kcl_entries e = write_arrays(A, wanted->type, f);
  int rc = kcl_csr_from_entries(ctx, &e, &B);
  free_arrays(&e);
  CHECKF(!rc && B && B->stored == e.nnz && equal(wanted, B),
         "%s, type %c, layout %d, %d and %d bits, base %d, half %d%s%s: %s", name,
         kcl_type_letter(wanted->type), f->layout, f->row_bits, f->col_bits, f->base, f->half,
         f->reversed ? ", reversed" : "", f->twice ? ", duplicates" : "",
         rc ? kcl_error() : "another matrix");
  kcl_csr_free(&B);
}

/* All forms; halves of A where it has a symmetry. The choices are the bits of a number. */
static void test_forms(kcl_context *ctx, const char *name, const kcl_csr *A,
                       const kcl_csr *wanted) {
  const int halves = A->symmetry == KCL_GENERAL ? 1 : 3;
  for (int choice = 0; choice < 32; choice++)
    for (int layout = KCL_CSR; layout <= KCL_COO; layout++)
      for (int half = 0; half < halves; half++)
        test_form(ctx, name, A, wanted,
                  &(form){.layout = layout,
                          .row_bits = choice & 1 ? 64 : 32,
                          .col_bits = choice & 2 ? 64 : 32,
                          .base = choice >> 2 & 1,
                          .half = half,
                          .reversed = choice >> 3 & 1,
                          .twice = choice >> 4 & 1});
}

/* In both precisions. Values whose halves are exact in float: sums of duplicates then are, too. */
static void test_matrix(kcl_context *ctx, const char *name, kcl_csr *A) {
  kcl_csr *narrow = NULL;
  double *val = A->val;
  for (int64_t i = 0; i < A->nnz * (A->type == KCL_Z ? 2 : 1); i++) val[i] = (float)val[i];
  test_forms(ctx, name, A, A);
  if (CHECK(!kcl_csr_convert(ctx, A, A->type == KCL_Z ? KCL_C : KCL_S, &narrow)))
    test_forms(ctx, name, A, narrow);
  kcl_csr_free(&narrow);
}

static void test_generated(kcl_context *ctx) {
  static const char *const names[] = {"convection:4", "poisson2d:5", "magnetic:4", "helmholtz:4"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    kcl_csr *A;
    if (CHECKF(!kcl_generate(ctx, names[i], &A, NULL), "%s: %s", names[i], kcl_error()))
      test_matrix(ctx, names[i], A);
    kcl_csr_free(&A);
  }
}

/* | 0  2 -1 |   skew-symmetric, and its first two rows: rectangular, with an empty column
 * |-2  0  . |
 * | 1  .  0 | */
static void test_small(kcl_context *ctx) {
  kcl_csr skew = {.rows = 3,
                  .cols = 3,
                  .nnz = 4,
                  .row_ptr = (int64_t[]){0, 2, 3, 4},
                  .col = (int32_t[]){1, 2, 0, 0},
                  .val = (double[]){2, -1, -2, 1},
                  .type = KCL_D,
                  .symmetry = KCL_SKEW};
  kcl_csr flat = skew, empty = {.rows = 2,
                                .cols = 0,
                                .row_ptr = (int64_t[]){0, 0, 0},
                                .col = (int32_t[]){0},
                                .val = (double[]){0},
                                .type = KCL_D};
  flat.rows = 2, flat.nnz = 3, flat.cols = 5, flat.symmetry = KCL_GENERAL;
  test_matrix(ctx, "skew-symmetric", &skew);
  test_matrix(ctx, "rectangular", &flat);
  test_matrix(ctx, "empty", &empty);
}

/* Sizes at which the entries are divided into blocks and among threads. */
static void test_large(kcl_context *ctx) {
  kcl_csr *A = NULL;
  if (CHECK(!kcl_generate(ctx, "poisson2d:200", &A, NULL)))
    for (int layout = KCL_CSR; layout <= KCL_COO; layout++)
      test_form(ctx, "poisson2d:200", A, A,
                &(form){.layout = layout,
                        .row_bits = 64,
                        .col_bits = 32,
                        .base = 1,
                        .half = KCL_UPPER,
                        .twice = true});
  kcl_csr_free(&A);
}

/* The lower half of a system, given as its lower half, is solved as the whole. */
static void test_solve(kcl_context *ctx) {
  kcl_csr *A = NULL, *B = NULL;
  kcl_dense *b = NULL;
  kcl_solver *s = NULL;
  kcl_report r = {0};
  if (!CHECK(!kcl_generate(ctx, "poisson2d:20", &A, &b))) return;
  double *x = calloc((size_t)A->cols, sizeof *x), *residual = calloc((size_t)A->rows, sizeof *x),
         norm = 0;
  kcl_entries e = write_arrays(
      A, KCL_D,
      &(form){.layout = KCL_CSC, .row_bits = 64, .col_bits = 64, .base = 1, .half = KCL_LOWER});
  CHECK(!kcl_csr_from_entries(ctx, &e, &B));
  free_arrays(&e);
  CHECKF(!kcl_setup(ctx, B, NULL, &s) && !kcl_solve_one(s, b->val, x, &r) && r.converged, "%s",
         kcl_error());
  kcl_csr_product(A, x, b->val, residual);
  for (int64_t i = 0; i < A->rows; i++) norm = fmax(norm, fabs(residual[i]));
  CHECKF(norm < 1e-6 && r.iterations > 0, "|b - A x| %g", norm);
  free(x), free(residual);
  kcl_solver_free(&s), kcl_csr_free(&A), kcl_csr_free(&B), kcl_dense_free(&b);
}

/* ---------------------------------------------------------------- what is refused */

/* | 4 1 . |  the upper half of this matrix in compressed rows, for one error at a time
 * | 1 5 . |
 * | . . 6 | */
static kcl_entries upper_half(void) {
  static const int32_t starts[] = {0, 2, 3, 4}, cols[] = {0, 1, 1, 2};
  static const double val[] = {4, 1, 5, 6};
  return (kcl_entries){.size = sizeof(kcl_entries),
                       .rows = 3,
                       .cols = 3,
                       .nnz = 4,
                       .row = starts,
                       .col = cols,
                       .val = val,
                       .layout = KCL_CSR,
                       .row_bits = 32,
                       .col_bits = 32,
                       .type = 'd',
                       .symmetry = KCL_SYMMETRIC,
                       .half = KCL_UPPER};
}

static void expect_refusal(kcl_context *ctx, const kcl_entries *e, int status, const char *word) {
  kcl_csr *A = (kcl_csr *)ctx; /* set to NULL by a failure */
  int rc = kcl_csr_from_entries(ctx, e, &A);
  CHECKF(rc == status && !A && strstr(kcl_error(), word), "'%s': status %d, %s", word, rc,
         kcl_error());
}

static void test_fields(kcl_context *ctx) {
  static const struct {
    size_t field;
    int32_t value;
    const char *word;
  } bad[] = {
      {offsetof(kcl_entries, layout), 0, ".layout"},
      {offsetof(kcl_entries, row_bits), 0, ".row_bits"},
      {offsetof(kcl_entries, col_bits), 16, ".col_bits"},
      {offsetof(kcl_entries, base), 2, ".base"},
      {offsetof(kcl_entries, base), 1, "start 0 of the rows is 0"},
      {offsetof(kcl_entries, type), KCL_D, ".type"},
      {offsetof(kcl_entries, symmetry), 99, "symmetry"},
      {offsetof(kcl_entries, symmetry), KCL_GENERAL, "not known"},
      {offsetof(kcl_entries, symmetry), KCL_SKEW, "is not zero, on the diagonal"},
      {offsetof(kcl_entries, half), 3, ".half"},
      {offsetof(kcl_entries, half), KCL_LOWER, "entry 1 of the arrays, row 0 and column 1"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    kcl_entries e = upper_half();
    memcpy((char *)&e + bad[i].field, &bad[i].value, sizeof bad[i].value);
    expect_refusal(ctx, &e, KCL_USAGE, bad[i].word);
  }
}

static void test_arrays(kcl_context *ctx) {
  const kcl_entries good = upper_half();
  const int32_t descend[] = {0, 3, 2, 4}, beyond[] = {0, 3, 1, 2}, before[] = {0, -1, 1, 2},
                below[] = {0, 1, 0, 2};
  const int64_t least[] = {INT64_MIN, 0, 0, 0};
  const double nan[] = {4, 1, NAN, 6};
  const float imaginary[] = {4, 0, 1, 2, 5, 0, 6, 1};
  kcl_entries e = good;
  expect_refusal(ctx, NULL, KCL_USAGE, "entries");
  e.size = 8, expect_refusal(ctx, &e, KCL_USAGE, ".size"), e = good;
  e.rows = -1, expect_refusal(ctx, &e, KCL_USAGE, "negative"), e = good;
  e.cols = 4, expect_refusal(ctx, &e, KCL_USAGE, "3 x 4"), e = good;
  e.val = NULL, expect_refusal(ctx, &e, KCL_USAGE, ".val"), e = good;
  e.row = descend, expect_refusal(ctx, &e, KCL_USAGE, "start 2 of the rows is 2"), e = good;
  e.col = beyond, expect_refusal(ctx, &e, KCL_USAGE, "column 3"), e = good;
  e.col = below, expect_refusal(ctx, &e, KCL_USAGE, "lies below"), e = good;
  e.col = before, expect_refusal(ctx, &e, KCL_USAGE, "column -1"), e = good;
  e.val = nan, expect_refusal(ctx, &e, KCL_INPUT, "entry 2"), e = good;
  e.val = imaginary, e.type = 'c', e.symmetry = KCL_HERMITIAN;
  expect_refusal(ctx, &e, KCL_USAGE, "entry 3"), e = good;
  e.layout = KCL_COO, e.row = least, e.row_bits = 64, e.base = 1;
  expect_refusal(ctx, &e, KCL_USAGE, "row -9223372036854775808");
  e.layout = KCL_CSR, expect_refusal(ctx, &e, KCL_USAGE, "is -9223372036854775808");
}

/* Two finite terms of one entry, whose sum is not. */
static void test_overflow(kcl_context *ctx) {
  const int32_t zero[] = {0, 0};
  const double large[] = {1e308, 1e308};
  kcl_entries e = upper_half();
  e.layout = KCL_COO, e.nnz = 2, e.row = e.col = zero, e.val = large;
  expect_refusal(ctx, &e, KCL_INPUT, "infinity");
}

int main(void) {
  kcl_context *ctx = NULL;
  if (!CHECK(!kcl_context_create(NULL, 0, &ctx)) || !CHECK(!kcl_select(ctx, "cpu", 0)))
    return check_report();
  test_generated(ctx);
  test_small(ctx);
  test_large(ctx);
  test_solve(ctx);
  test_fields(ctx);
  test_arrays(ctx);
  test_overflow(ctx);
  kcl_context_free(&ctx);
  return check_report();
}
