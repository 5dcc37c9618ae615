/* A B on a device: kernels/sparse_product.cl. Rows are counted by a bound on their length, then filled by their length: each
 * class of blocks of rows with the tables and teams that suit it. */
#include "sparse/opencl/launch.h"
#include <string.h>

/* As in the kernels. Tables are half full at most, but the largest. */
enum {
  ROWS = 32 /* per block */,
  LISTERS = 256,
  CLASSES = KCL_GALERKIN_CLASSES,
  LONGEST = 1792,
  SMALL = 64
};
enum { FEW = 64 /* blocks */, LITTLE = 1 << 22 /* entries */ };
static int room(int c) { return c < CLASSES - 1 ? 8 << c : LONGEST; }
static int table(int c) { return c < CLASSES - 1 ? 16 << c : 2048; }

typedef struct product {
  kcl_device_setup *s;
  const kcl_device_csr *A;
  kcl_device_csr B, *C;
  bool sorted;
  void *list;         /* [CLASSES, blocks] */
  int astray;         /* the note of whether a product has no place in the pattern */
  int found[CLASSES]; /* blocks of each class, when C was filled */
} product;

/* Classes that are launched as one, with the tables of the last. */
typedef struct range {
  int notes; /* of the blocks in each class */
  int first, last;
  int64_t blocks;
} range;

static int block_of(const kcl_device_csr *B) { return B->block > 1 ? B->block : 1; }
static int64_t blocks(const product *p) { return (p->A->rows + ROWS - 1) / ROWS; }

/* Work-items per row: the power of two nearest to the keys of a row of B, columns or blocks of v, so that few are idle, and enough
 * that the tables of a group of 32 fit into its local memory. */
static int team(const product *p, int v, int c, int most) {
  const int64_t entries = p->B.filled ? p->B.filled : p->B.nnz;
  const double mean = (double)entries / (double)(p->B.rows + 1) / v;
  int t = table(c) / 32 < 1 ? 1 : table(c) / 32;
  if (t > 32) t = 32;
  while (t < most && 1.41 * t <= mean) t *= 2;
  return t;
}

static int count_range(const product *p, const range *r, int failed) {
  const kcl_device_csr *A = p->A, *B = &p->B;
  const int v = block_of(B), c = r->last, width = team(p, v, 0, 8), t = 2 * team(p, v, c, 16),
            group = t < 64 ? 64 : t;
  return LAUNCH(p->s, v > 1 ? "count_rows_blocks" : "count_rows", r->blocks * ROWS * t, group,
                PATTERN(A), ENDS(A), PATTERN(B), ENDS(B), INT(A->rows), INT(v), BUFFER(p->list),
                INT(r->notes), INT(r->first), INT(table(c)), INT(room(c)), INT(t),
                INT(width < t ? width : t), BUFFER(p->C->ptr), NOTE(p->s, failed),
                LOCAL(4 * group / t * table(c)));
}

static int fill_range(const product *p, const range *r) {
  const kcl_device_csr *A = p->A, *B = &p->B, *C = p->C;
  const int c = r->last, t = team(p, 1, c, 128), group = t < 32 ? 32 : t, rows = group / t;
  return LAUNCH(p->s, "fill_rows", r->blocks * ROWS * t, group, CSR(A), ENDS(A), CSR(B), ENDS(B),
                INT(A->rows), BUFFER(p->list), NOTE(p->s, r->notes), INT(r->first), INT(table(c)),
                INT(room(c)), INT(t), INT(p->sorted), CSR(C), BUFFER(C->end),
                LOCAL(4 * rows * table(c)), LOCAL(8 * rows * table(c)), LOCAL(4 * rows * room(c)),
                LOCAL(2 * rows * room(c)));
}

static int refill_range(const product *p, const range *r) {
  const kcl_device_csr *A = p->A, *B = &p->B, *C = p->C;
  const int c = r->last, t = team(p, 1, c, 128), group = t < 32 ? 32 : t, rows = group / t;
  return LAUNCH(p->s, "refill_rows", r->blocks * ROWS * t, group, CSR(A), ENDS(A), CSR(B), ENDS(B),
                INT(A->rows), BUFFER(p->list), INT(r->notes), INT(r->first), INT(table(c)),
                INT(room(c)), INT(t), CSR(C), NOTE(p->s, p->astray), LOCAL(4 * rows * table(c)),
                LOCAL(8 * rows * table(c)), LOCAL(2 * rows * room(c)));
}

/* The next range from class r->first on; false: there is none. A few blocks run with those of larger classes, beside which they
 * take no time. */
static bool next_range(const product *p, const cl_int *found, range *r) {
  const int64_t few = blocks(p) / 16 > FEW ? blocks(p) / 16 : FEW;
  r->blocks = 0;
  for (int c = r->first; c < CLASSES; c++) {
    if (r->blocks > few && found[c]) break;
    if (found[c]) r->blocks += found[c], r->last = c;
  }
  return r->blocks > 0;
}

/* bound [rows] of C's; classes, by keys of v columns: the note of the blocks in each. */
static int list_bounds(const product *p, int v, void *bound, int *classes) {
  int rc = kcl_setup_notes(p->s, CLASSES, classes);
  if (rc) return rc;
  return LAUNCH(p->s, "list_by_bound", blocks(p) * LISTERS, LISTERS, PATTERN(p->A), ENDS(p->A),
                BUFFER(p->B.ptr), ENDS(&p->B), INT(p->A->rows), INT(v), BUFFER(bound),
                BUFFER(p->list), NOTE(p->s, *classes));
}

static int list_lengths(const product *p, int *classes) {
  int rc = kcl_setup_notes(p->s, CLASSES, classes);
  if (rc) return rc;
  return LAUNCH(p->s, "list_by_length", blocks(p) * ROWS, ROWS, BUFFER(p->C->ptr), INT(p->A->rows),
                BUFFER(p->list), NOTE(p->s, *classes));
}

/* Blocks in each class; waits for all notes, B's too. */
static int read_classes(product *p, int classes, cl_int *found) {
  int rc = kcl_setup_read_notes(p->s, classes, CLASSES, found);
  return rc ? rc : kcl_setup_measure(p->s, &p->B);
}

/* C's rows are counted; *failed: the note of whether one is too long. */
static int count(product *p, int *failed) {
  range r = {0};
  cl_int found[CLASSES];
  int rc;
  KCL_TRY(list_bounds(p, block_of(&p->B), p->C->ptr, &r.notes));
  KCL_TRY(read_classes(p, r.notes, found));
  KCL_TRY(kcl_setup_notes(p->s, 1, failed));
  for (; next_range(p, found, &r); r.first = r.last + 1) KCL_TRY(count_range(p, &r, *failed));
done:
  return rc;
}

static int fill(product *p, int classes) {
  range r = {.notes = classes};
  int rc;
  KCL_TRY(read_classes(p, classes, p->found));
  for (; next_range(p, p->found, &r); r.first = r.last + 1) KCL_TRY(fill_range(p, &r));
done:
  return rc;
}

static int open_list(product *p) {
  return kcl_setup_memory(p->s, CLASSES * blocks(p), sizeof(cl_int), &p->list);
}

static int open(product *p) {
  kcl_device_csr *C = p->C;
  *C = (kcl_device_csr){.rows = p->A->rows, .cols = p->B.cols, .block = p->sorted ? p->B.block : 0};
  int rc = kcl_setup_memory(p->s, C->rows, sizeof(cl_int), &C->ptr);
  return rc ? rc : open_list(p);
}

static int multiply(product *p) {
  kcl_device_csr *C = p->C;
  int failed, classes, rc;
  cl_int too_long;
  KCL_TRY(open(p));
  KCL_TRY(count(p, &failed));
  KCL_TRY(kcl_setup_scan(p->s, C->ptr, C->rows, C->ptr, &C->note));
  KCL_TRY(list_lengths(p, &classes));
  KCL_TRY(kcl_setup_room(p->s, C)); /* waits for all of these notes */
  KCL_TRY(kcl_setup_read_notes(p->s, failed, 1, &too_long));
  KCL_TRY(too_long || C->longest > LONGEST ? KCL_UNSUITED : fill(p, classes));
  kcl_setup_drop(p->s, p->list);
done:
  return rc;
}

static int multiply_loosely(product *p) {
  kcl_device_csr *C = p->C;
  int classes, rc;
  KCL_TRY(open(p));
  KCL_TRY(kcl_setup_memory(p->s, C->rows, sizeof(cl_int), &C->end));
  KCL_TRY(list_bounds(p, 1, C->ptr, &classes));
  KCL_TRY(kcl_setup_scan(p->s, C->ptr, C->rows, C->ptr, &C->note));
  KCL_TRY(kcl_setup_measure(p->s, C));
  KCL_TRY(C->longest > SMALL || C->nnz > kcl_setup_loose_most(p->s) ? KCL_UNSUITED : KCL_OK);
  KCL_TRY(kcl_setup_room(p->s, C));
  C->filled = C->nnz / 2;
  rc = fill(p, classes);
done:
  kcl_setup_drop(p->s, p->list);
  if (rc == KCL_UNSUITED) kcl_setup_drop_matrix(p->s, C);
  return rc;
}

/* Rows of C have room for `longest` entries, which none exceeds. No wait. */
static int multiply_within(product *p, int longest) {
  kcl_device_csr *C = p->C;
  range r = {.blocks = blocks(p)};
  int rc;
  KCL_TRY(open(p));
  KCL_TRY(kcl_setup_memory(p->s, C->rows, sizeof(cl_int), &C->end));
  KCL_TRY(EACH(p->s, "space_rows", C->rows + 1, INT(C->rows), INT(longest), BUFFER(C->ptr)));
  C->nnz = C->rows * longest, C->filled = C->nnz / 2, C->longest = longest;
  KCL_TRY(kcl_setup_room(p->s, C));
  KCL_TRY(list_lengths(p, &r.notes));
  while (room(r.first) < longest) r.first++;
  r.last = r.first;
  KCL_TRY(fill_range(p, &r));
  kcl_setup_drop(p->s, p->list);
done:
  return rc;
}

/* C has the pattern, in which all products are expected to have a place; entries without products are zero. No wait. */
static int multiply_like(product *p, const kcl_device_csr *pattern,
                         const kcl_galerkin_shape *shape) {
  kcl_device_csr *C = p->C;
  range r = {0};
  int rc;
  *C = (kcl_device_csr){.rows = p->A->rows,
                        .cols = p->B.cols,
                        .nnz = pattern->nnz,
                        .longest = shape->longest,
                        .ptr = pattern->ptr,
                        .col = pattern->col,
                        .block = p->B.block};
  KCL_TRY(open_list(p));
  KCL_TRY(kcl_setup_memory(p->s, C->nnz, sizeof(cl_double), &C->val));
  KCL_TRY(list_lengths(p, &r.notes));
  KCL_TRY(kcl_setup_notes(p->s, 1, &p->astray));
  for (; next_range(p, shape->blocks, &r); r.first = r.last + 1) KCL_TRY(refill_range(p, &r));
  KCL_TRY(kcl_setup_expect_none(p->s, p->astray));
  kcl_setup_drop(p->s, p->list);
done:
  return rc;
}

int kcl_setup_product(kcl_device_setup *s, const kcl_device_csr *A, const kcl_device_csr *B,
                      kcl_device_csr *C) {
  return multiply(&(product){.s = s, .A = A, .B = *B, .C = C, .sorted = true});
}

int kcl_setup_loose_product(kcl_device_setup *s, const kcl_device_csr *A, const kcl_device_csr *B,
                            bool sorted, kcl_device_csr *C) {
  product p = {.s = s, .A = A, .B = *B, .C = C, .sorted = sorted};
  int rc = multiply_loosely(&p);
  return rc == KCL_UNSUITED ? multiply(&p) : rc;
}

/* Is room for the longest row in each row not much, or not much more than what A B takes? */
static bool even(const kcl_device_setup *s, const kcl_device_csr *C) {
  const int64_t all = C->rows * C->longest;
  return C->longest <= LONGEST && all < INT32_MAX && all <= kcl_setup_loose_most(s) &&
         (all <= LITTLE || all <= 2 * C->nnz);
}

/* A P is sorted where R (A P) is counted by its blocks. */
int kcl_setup_galerkin(kcl_device_setup *s, const kcl_device_csr *R, const kcl_device_csr *A,
                       const kcl_device_csr *P, const kcl_device_csr *pattern,
                       kcl_galerkin_shape *shape, kcl_device_csr *out) {
  kcl_device_csr AP;
  product last = {.s = s, .A = R, .C = out, .sorted = true};
  int rc = pattern && shape->between
               ? multiply_within(&(product){.s = s, .A = A, .B = *P, .C = &AP}, shape->between)
               : kcl_setup_loose_product(s, A, P, P->block > 1, &AP);
  if (rc) return rc;
  last.B = AP;
  if (pattern) {
    rc = multiply_like(&last, pattern, shape);
  } else if (!(rc = multiply(&last))) {
    *shape = (kcl_galerkin_shape){
        .known = true, .between = even(s, &AP) ? (int)AP.longest : 0, .longest = (int)out->longest};
    memcpy(shape->blocks, last.found, sizeof shape->blocks);
  }
  if (!rc) kcl_setup_drop_matrix(s, &AP);
  return rc;
}
