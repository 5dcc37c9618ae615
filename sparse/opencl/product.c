/* A B on a device: kernels/sparse_product.cl. Rows are counted by a bound on their length, then filled by their length: each
 * class of blocks of rows by the kernel and the local memory that suit it. */
#include "sparse/opencl/launch.h"

enum { ROWS = 32 /* per block */, GROUP = 64, ENDLESS = INT32_MAX };

/* Blocks with least < bound <= most: short rows have room for `most` columns each; long ones tables of `size`. */
typedef struct class {
  int least, most, size;
} class;
static const class counted[] = {{0, 16, 0},
                                {16, 32, 0},
                                {32, 96, 128},
                                {96, 384, 512},
                                {384, ENDLESS, 2048}},
                   filled[] = {{0, 8, 0},     {8, 16, 0},     {16, 32, 0},
                               {32, 96, 128}, {96, 192, 256}, {192, 1536, 2048}};
enum {
  COUNTED = sizeof counted / sizeof *counted,
  FILLED = sizeof filled / sizeof *filled,
  LONGEST = 1536
};

typedef struct product {
  kcl_device_setup *s;
  const kcl_device_csr *A, *B;
  kcl_device_csr *C;
  void *bound, *failed;
} product;

/* How long rows can be; *most: the longest. */
static int find_bounds(const product *p, int64_t *most) {
  void *largest;
  cl_int found;
  int rc;
  KCL_TRY(kcl_setup_zeros(p->s, 1, &largest));
  KCL_TRY(LAUNCH(p->s, "bound_products", p->A->rows, ROWS, PATTERN(p->A), BUFFER(p->B->ptr),
                 INT(p->A->rows), BUFFER(p->bound), BUFFER(largest)));
  KCL_TRY(kcl_setup_read(p->s, largest, 0, sizeof found, &found));
  *most = found;
  kcl_setup_drop(p->s, largest);
done:
  return rc;
}

static int count_class(const product *p, const class *c) {
  const kcl_device_csr *A = p->A, *B = p->B;
  if (!c->size)
    return LAUNCH(p->s, "count_short", A->rows, ROWS, PATTERN(A), PATTERN(B), INT(A->rows),
                  BUFFER(p->bound), INT(c->least), INT(c->most), BUFFER(p->C->ptr),
                  LOCAL(4 * ROWS * c->most));
  return LAUNCH(p->s, "count_long", A->rows * GROUP, GROUP, PATTERN(A), PATTERN(B),
                BUFFER(p->bound), INT(c->least), INT(c->most), BUFFER(p->C->ptr), BUFFER(p->failed),
                INT(c->size), INT(3 * c->size / 4), LOCAL(4 * c->size));
}

static int fill_class(const product *p, const class *c) {
  const kcl_device_csr *A = p->A, *B = p->B, *C = p->C;
  if (!c->size)
    return LAUNCH(p->s, "fill_short", A->rows, ROWS, CSR(A), CSR(B), INT(A->rows), BUFFER(p->bound),
                  INT(c->least), INT(c->most), CSR(C), LOCAL(4 * ROWS * c->most),
                  LOCAL(8 * ROWS * c->most));
  return LAUNCH(p->s, "fill_long", A->rows * GROUP, GROUP, CSR(A), CSR(B), BUFFER(p->bound),
                INT(c->least), INT(c->most), CSR(C), INT(c->size), LOCAL(4 * c->size),
                LOCAL(8 * c->size), LOCAL(3 * c->size));
}

static int count(const product *p) {
  int64_t most;
  cl_int failed;
  int rc;
  KCL_TRY(find_bounds(p, &most));
  for (int i = 0; i < COUNTED; i++)
    if (most > counted[i].least) KCL_TRY(count_class(p, &counted[i]));
  if (most > LONGEST) {
    KCL_TRY(kcl_setup_read(p->s, p->failed, 0, sizeof failed, &failed));
    if (failed) rc = KCL_UNSUITED;
  }
done:
  return rc;
}

int kcl_setup_product(kcl_device_setup *s, const kcl_device_csr *A, const kcl_device_csr *B,
                      kcl_device_csr *C) {
  product p = {.s = s, .A = A, .B = B, .C = C};
  int rc;
  *C = (kcl_device_csr){.rows = A->rows, .cols = B->cols};
  KCL_TRY(kcl_setup_zeros(s, C->rows, &C->ptr)); /* blocks of empty rows are in no class */
  KCL_TRY(kcl_setup_memory(s, C->rows / ROWS + 1, sizeof(cl_int), &p.bound));
  KCL_TRY(kcl_setup_zeros(s, 1, &p.failed));
  KCL_TRY(count(&p));
  KCL_TRY(kcl_setup_shape(s, C));
  KCL_TRY(LAUNCH(s, "bound_counts", C->rows, ROWS, BUFFER(C->ptr), INT(C->rows), BUFFER(p.bound)));
  for (int i = 0; i < FILLED; i++)
    if (C->longest > filled[i].least) KCL_TRY(fill_class(&p, &filled[i]));
  kcl_setup_drop(s, p.bound), kcl_setup_drop(s, p.failed);
done:
  return rc;
}
