/* A B on a device: kernels/sparse_product.cl. Rows are counted by a bound on their length, then filled by their length: each
 * class of blocks of rows with the tables and teams that suit it. */
#include "multigrid/opencl/launch.h"

/* As in the kernels. Tables are half full at most, but the largest. */
enum {
  ROWS_PER_BLOCK = 32 /* per block */,
  LISTERS = 256,
  CLASSES = KCL_GALERKIN_CLASSES,
  LONGEST_PRODUCT_ROW = 1792,
  SMALL_TABLE = 64
};
enum { FEW_BLOCKS = 64 /* blocks */, LITTLE = 1 << 22 /* entries */ };
static int class_capacity(int c) { return c < CLASSES - 1 ? 8 << c : LONGEST_PRODUCT_ROW; }
static int class_table(int c) { return c < CLASSES - 1 ? 16 << c : 2048; }

typedef struct device_product {
  kcl_device_setup *s;
  const kcl_device_csr *A;
  kcl_device_csr B, *C;
  bool sorted;
  void *list;         /* [CLASSES, blocks] */
  int astray;         /* the note of whether a product has no place in the pattern */
  int found[CLASSES]; /* blocks of each class, when C was filled */
} device_product;

/* Classes that are launched as one, with the tables of the last. */
typedef struct class_range {
  int notes; /* of the blocks in each class */
  int first, last;
  int64_t blocks;
} class_range;

static int columns_per_block(const kcl_device_csr *B) { return B->block > 1 ? B->block : 1; }
static int64_t count_row_groups(const device_product *p) {
  return (p->A->rows + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK;
}

/* Work-items per row: the power of two nearest to the keys of a row of B, columns or blocks of v, so that few are idle, and enough
 * that the tables of a group of 32 fit into its local memory. */
static int team(const device_product *p, int v, int c, int most) {
  const int64_t entries = p->B.filled ? p->B.filled : p->B.nnz;
  const double mean = (double)entries / (double)(p->B.rows + 1) / v;
  int t = class_table(c) / 32 < 1 ? 1 : class_table(c) / 32;
  if (t > 32) t = 32;
  while (t < most && 1.41 * t <= mean) t *= 2;
  return t;
}

static int count_range(const device_product *p, const class_range *r, int failed) {
  const kcl_device_csr *A = p->A, *B = &p->B;
  const int v = columns_per_block(B), c = r->last, width = team(p, v, 0, 8),
            t = 2 * team(p, v, c, 16), group = t < 64 ? 64 : t;
  return KCL_LAUNCH(p->s, v > 1 ? KCL_KERNEL_count_rows_blocks : KCL_KERNEL_count_rows,
                    r->blocks * ROWS_PER_BLOCK * t, group, KCL_ARG_PATTERN(A), KCL_ARG_ENDS(A),
                    KCL_ARG_PATTERN(B), KCL_ARG_ENDS(B), KCL_ARG_INT(A->rows), KCL_ARG_INT(v),
                    KCL_ARG_BUFFER(p->list), KCL_ARG_INT(r->notes), KCL_ARG_INT(r->first),
                    KCL_ARG_INT(class_table(c)), KCL_ARG_INT(class_capacity(c)), KCL_ARG_INT(t),
                    KCL_ARG_INT(width < t ? width : t), KCL_ARG_BUFFER(p->C->ptr),
                    KCL_ARG_NOTE(p->s, failed), KCL_ARG_LOCAL(4 * group / t * class_table(c)));
}

static int fill_range(const device_product *p, const class_range *r) {
  const kcl_device_csr *A = p->A, *B = &p->B, *C = p->C;
  const int c = r->last, t = team(p, 1, c, 128), group = t < 32 ? 32 : t, rows = group / t;
  return KCL_LAUNCH(
      p->s, KCL_KERNEL_fill_rows, r->blocks * ROWS_PER_BLOCK * t, group, KCL_ARG_CSR(A),
      KCL_ARG_ENDS(A), KCL_ARG_CSR(B), KCL_ARG_ENDS(B), KCL_ARG_INT(A->rows),
      KCL_ARG_BUFFER(p->list), KCL_ARG_NOTE(p->s, r->notes), KCL_ARG_INT(r->first),
      KCL_ARG_INT(class_table(c)), KCL_ARG_INT(class_capacity(c)), KCL_ARG_INT(t),
      KCL_ARG_INT(p->sorted), KCL_ARG_CSR(C), KCL_ARG_BUFFER(C->end),
      KCL_ARG_LOCAL(4 * rows * class_table(c)), KCL_ARG_LOCAL(8 * rows * class_table(c)),
      KCL_ARG_LOCAL(4 * rows * class_capacity(c)), KCL_ARG_LOCAL(2 * rows * class_capacity(c)));
}

static int refill_range(const device_product *p, const class_range *r) {
  const kcl_device_csr *A = p->A, *B = &p->B, *C = p->C;
  const int c = r->last, t = team(p, 1, c, 128), group = t < 32 ? 32 : t, rows = group / t;
  return KCL_LAUNCH(
      p->s, KCL_KERNEL_refill_rows, r->blocks * ROWS_PER_BLOCK * t, group, KCL_ARG_CSR(A),
      KCL_ARG_ENDS(A), KCL_ARG_CSR(B), KCL_ARG_ENDS(B), KCL_ARG_INT(A->rows),
      KCL_ARG_BUFFER(p->list), KCL_ARG_INT(r->notes), KCL_ARG_INT(r->first),
      KCL_ARG_INT(class_table(c)), KCL_ARG_INT(class_capacity(c)), KCL_ARG_INT(t), KCL_ARG_CSR(C),
      KCL_ARG_NOTE(p->s, p->astray), KCL_ARG_LOCAL(4 * rows * class_table(c)),
      KCL_ARG_LOCAL(8 * rows * class_table(c)), KCL_ARG_LOCAL(2 * rows * class_capacity(c)));
}

/* The next range from class r->first on; false: there is none. Classes of few blocks run with larger classes, beside which they
 * take no time. */
static bool next_range(const device_product *p, const cl_int *found, class_range *r) {
  const int64_t few = count_row_groups(p) / 16 > FEW_BLOCKS ? count_row_groups(p) / 16 : FEW_BLOCKS;
  r->blocks = 0;
  for (int c = r->first; c < CLASSES; c++) {
    if (r->blocks > few && found[c]) break;
    if (found[c]) r->blocks += found[c], r->last = c;
  }
  return r->blocks > 0;
}

/* bound [rows] of C's; classes, by keys of v columns: the note of the blocks in each. */
static int list_bounds(const device_product *p, int v, void *bound, int *classes) {
  KCL_CALL(kcl_amg_device_notes(p->s, CLASSES, classes));
  return KCL_LAUNCH(p->s, KCL_KERNEL_list_by_bound, count_row_groups(p) * LISTERS, LISTERS,
                    KCL_ARG_PATTERN(p->A), KCL_ARG_ENDS(p->A), KCL_ARG_BUFFER(p->B.ptr),
                    KCL_ARG_ENDS(&p->B), KCL_ARG_INT(p->A->rows), KCL_ARG_INT(v),
                    KCL_ARG_BUFFER(bound), KCL_ARG_BUFFER(p->list), KCL_ARG_NOTE(p->s, *classes));
}

static int list_lengths(const device_product *p, int *classes) {
  KCL_CALL(kcl_amg_device_notes(p->s, CLASSES, classes));
  return KCL_LAUNCH(p->s, KCL_KERNEL_list_by_length, count_row_groups(p) * ROWS_PER_BLOCK,
                    ROWS_PER_BLOCK, KCL_ARG_BUFFER(p->C->ptr), KCL_ARG_INT(p->A->rows),
                    KCL_ARG_BUFFER(p->list), KCL_ARG_NOTE(p->s, *classes));
}

/* Blocks in each class; waits for all notes, B's too. */
static int read_classes(device_product *p, int classes, cl_int *found) {
  int rc = kcl_amg_device_read_notes(p->s, classes, CLASSES, found);
  return rc ? rc : kcl_amg_device_measure(p->s, &p->B);
}

/* Counts the entries of C's rows; *failed: the note of whether a row is too long. */
static int count_products_of_rows(device_product *p, int *failed) {
  class_range r = {0};
  cl_int found[CLASSES];
  KCL_CALL(list_bounds(p, columns_per_block(&p->B), p->C->ptr, &r.notes));
  KCL_CALL(read_classes(p, r.notes, found));
  KCL_CALL(kcl_amg_device_notes(p->s, 1, failed));
  for (; next_range(p, found, &r); r.first = r.last + 1) KCL_CALL(count_range(p, &r, *failed));
  return KCL_OK;
}

static int fill_product(device_product *p, int classes) {
  class_range r = {.notes = classes};
  KCL_CALL(read_classes(p, classes, p->found));
  for (; next_range(p, p->found, &r); r.first = r.last + 1) KCL_CALL(fill_range(p, &r));
  return KCL_OK;
}

static int open_list(device_product *p) {
  return kcl_amg_device_memory(p->s, CLASSES * count_row_groups(p), sizeof(cl_int), &p->list);
}

static int open_product(device_product *p) {
  kcl_device_csr *C = p->C;
  *C = (kcl_device_csr){.rows = p->A->rows, .cols = p->B.cols, .block = p->sorted ? p->B.block : 0};
  int rc = kcl_amg_device_memory(p->s, C->rows, sizeof(cl_int), &C->ptr);
  return rc ? rc : open_list(p);
}

static int multiply_in_classes(device_product *p) {
  kcl_device_csr *C = p->C;
  int failed, classes;
  cl_int too_long;
  KCL_CALL(open_product(p));
  KCL_CALL(count_products_of_rows(p, &failed));
  KCL_CALL(kcl_amg_device_scan(p->s, C->ptr, C->rows, C->ptr, &C->note));
  KCL_CALL(list_lengths(p, &classes));
  KCL_CALL(kcl_amg_device_shape(p->s, C)); /* waits for all of these notes */
  KCL_CALL(kcl_amg_device_read_notes(p->s, failed, 1, &too_long));
  KCL_CALL(too_long || C->longest > LONGEST_PRODUCT_ROW ? KCL_UNSUITED : fill_product(p, classes));
  kcl_amg_device_drop(p->s, p->list);
  return KCL_OK;
}

static int multiply_loosely(device_product *p) {
  kcl_device_csr *C = p->C;
  int classes, rc;
  KCL_TRY(open_product(p));
  KCL_TRY(kcl_amg_device_memory(p->s, C->rows, sizeof(cl_int), &C->end));
  KCL_TRY(list_bounds(p, 1, C->ptr, &classes));
  KCL_TRY(kcl_amg_device_scan(p->s, C->ptr, C->rows, C->ptr, &C->note));
  KCL_TRY(kcl_amg_device_measure(p->s, C));
  KCL_TRY(C->longest > SMALL_TABLE || C->nnz > kcl_amg_device_loose_most(p->s) ? KCL_UNSUITED
                                                                               : KCL_OK);
  KCL_TRY(kcl_amg_device_shape(p->s, C));
  C->filled = C->nnz / 2;
  rc = fill_product(p, classes);
done:
  kcl_amg_device_drop(p->s, p->list);
  if (rc == KCL_UNSUITED) kcl_amg_device_drop_matrix(p->s, C);
  return rc;
}

/* A B in rows of `longest` entries, which no row exceeds. No wait. */
static int multiply_within(device_product *p, int longest) {
  kcl_device_csr *C = p->C;
  class_range r = {.blocks = count_row_groups(p)};
  KCL_CALL(open_product(p));
  KCL_CALL(kcl_amg_device_memory(p->s, C->rows, sizeof(cl_int), &C->end));
  KCL_CALL(KCL_LAUNCH_EACH(p->s, KCL_KERNEL_space_rows, C->rows + 1, KCL_ARG_INT(C->rows),
                           KCL_ARG_INT(longest), KCL_ARG_BUFFER(C->ptr)));
  C->nnz = C->rows * longest;
  C->filled = C->nnz / 2;
  C->longest = longest;
  KCL_CALL(kcl_amg_device_shape(p->s, C));
  KCL_CALL(list_lengths(p, &r.notes));
  while (class_capacity(r.first) < longest) r.first++;
  r.last = r.first;
  KCL_CALL(fill_range(p, &r));
  kcl_amg_device_drop(p->s, p->list);
  return KCL_OK;
}

/* A B in the given pattern, in which every product is expected to have a place; entries without products are zero. No wait. */
static int multiply_like(device_product *p, const kcl_device_csr *pattern,
                         const kcl_galerkin_shape *shape) {
  kcl_device_csr *C = p->C;
  class_range r = {0};
  *C = (kcl_device_csr){.rows = p->A->rows,
                        .cols = p->B.cols,
                        .nnz = pattern->nnz,
                        .longest = shape->longest,
                        .ptr = pattern->ptr,
                        .col = pattern->col,
                        .block = p->B.block};
  KCL_CALL(open_list(p));
  KCL_CALL(kcl_amg_device_memory(p->s, C->nnz, sizeof(cl_double), &C->val));
  KCL_CALL(list_lengths(p, &r.notes));
  KCL_CALL(kcl_amg_device_notes(p->s, 1, &p->astray));
  for (; next_range(p, shape->blocks, &r); r.first = r.last + 1) KCL_CALL(refill_range(p, &r));
  KCL_CALL(kcl_amg_device_expect_none(p->s, p->astray));
  kcl_amg_device_drop(p->s, p->list);
  return KCL_OK;
}

int kcl_amg_device_product(kcl_device_setup *s, const kcl_device_csr *A, const kcl_device_csr *B,
                           kcl_device_csr *C) {
  return multiply_in_classes(&(device_product){.s = s, .A = A, .B = *B, .C = C, .sorted = true});
}

int kcl_amg_device_loose_product(kcl_device_setup *s, const kcl_device_csr *A,
                                 const kcl_device_csr *B, bool sorted, kcl_device_csr *C) {
  device_product p = {.s = s, .A = A, .B = *B, .C = C, .sorted = sorted};
  int rc = multiply_loosely(&p);
  return rc == KCL_UNSUITED ? multiply_in_classes(&p) : rc;
}

/* Are rows so even that room for the longest one in each row takes little memory, or little more than A B does? */
static bool rows_are_even(const kcl_device_setup *s, const kcl_device_csr *C) {
  const int64_t all = C->rows * C->longest;
  return C->longest <= LONGEST_PRODUCT_ROW && all < INT32_MAX &&
         all <= kcl_amg_device_loose_most(s) && (all <= LITTLE || all <= 2 * C->nnz);
}

/* A P is sorted where R (A P) is counted by its blocks. */
int kcl_amg_device_galerkin(kcl_device_setup *s, const kcl_device_csr *R, const kcl_device_csr *A,
                            const kcl_device_csr *P, const kcl_device_csr *pattern,
                            kcl_galerkin_shape *shape, kcl_device_csr *out) {
  kcl_device_csr AP;
  device_product last = {.s = s, .A = R, .C = out, .sorted = true};
  int rc =
      pattern && shape->between
          ? multiply_within(&(device_product){.s = s, .A = A, .B = *P, .C = &AP}, shape->between)
          : kcl_amg_device_loose_product(s, A, P, P->block > 1, &AP);
  if (rc) return rc;
  last.B = AP;
  if (pattern) {
    rc = multiply_like(&last, pattern, shape);
  } else if (!(rc = multiply_in_classes(&last))) {
    *shape = (kcl_galerkin_shape){.known = true,
                                  .between = rows_are_even(s, &AP) ? (int)AP.longest : 0,
                                  .longest = (int)out->longest};
    memcpy(shape->blocks, last.found, sizeof shape->blocks);
  }
  if (!rc) kcl_amg_device_drop_matrix(s, &AP);
  return rc;
}
