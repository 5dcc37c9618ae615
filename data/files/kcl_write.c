/* Writes .kcl files (kcl_file.h): the arrays as they are in memory, with their checksum. */
#include "data/files/file.h"
#include "data/files/kcl_file.h"
#include "core/base/sum64.h"

const char kcl_file_magic[8] = {'\x89', 'k', 'c', 'l', '\r', '\n', '\x1a', '\n'};

enum { ALIGN = 64, WRITE = 64 << 20 }; /* bytes */

typedef struct arrays {
  const void *data[KCL_FILE_PARTS];
} arrays;

static void lay_out_file(kcl_file_head *h, const kcl_file_system *s, arrays *a) {
  const kcl_csr *A = s->A;
  const kcl_dense *dense[2] = {s->b, s->x0};
  size_t bytes[KCL_FILE_PARTS] = {(size_t)(A->rows + 1) * 8, (size_t)A->nnz * 4,
                                  (size_t)A->nnz * kcl_type_size(A->type)};
  *a = (arrays){{A->row_ptr, A->col, A->val}};
  for (int k = 0; k < 2; k++)
    if (dense[k]) {
      a->data[KCL_PART_B + k] = dense[k]->val;
      bytes[KCL_PART_B + k] =
          (size_t)(dense[k]->rows * dense[k]->cols) * kcl_type_size(dense[k]->type);
    }
  uint64_t at = KCL_FILE_HEAD;
  for (int k = 0; k < KCL_FILE_PARTS; k++) {
    h->part[k] = (kcl_file_part){at, bytes[k]};
    at = (at + bytes[k] + ALIGN - 1) / ALIGN * ALIGN;
  }
  h->size = at;
}

/* The checksum of a file is chained over its arrays, so that no array has to be copied. */
static uint64_t sum_arrays(const kcl_file_head *h, const arrays *a) {
  uint64_t sum = 0;
  for (int k = 0; k < KCL_FILE_PARTS; k++) sum = kcl_sum64(a->data[k], h->part[k].bytes, sum);
  return sum;
}

static int write_array(kcl_context *ctx, kcl_output *o, const void *data, size_t bytes) {
  static const char zeros[ALIGN];
  int rc = KCL_OK;
  for (size_t at = 0; at < bytes && !rc; at += WRITE)
    rc = kcl_output_write(ctx, o, (const char *)data + at, bytes - at < WRITE ? bytes - at : WRITE);
  size_t gap = (ALIGN - bytes % ALIGN) % ALIGN;
  return rc ? rc : kcl_output_write(ctx, o, zeros, gap);
}

static int check_file_system(kcl_context *ctx, const char *path, const kcl_file_system *s) {
  const kcl_dense *d[2] = {s->b, s->x0};
  for (int k = 0; k < 2; k++)
    if (d[k] && (d[k]->rows != (k ? s->A->cols : s->A->rows) ||
                 (d[k]->type != KCL_D && d[k]->type != KCL_Z)))
      return kcl_fail(ctx, KCL_USAGE, "%s: %s does not fit the matrix", path,
                      k ? "the first guess" : "the right-hand side");
  return KCL_OK;
}

/* A is of type D or Z. */
static int write_wide(kcl_context *ctx, const char *path, const kcl_file_system *s) {
  const kcl_csr *A = s->A;
  kcl_file_head h = {.version = KCL_FILE_VERSION, .order = KCL_FILE_ORDER};
  kcl_output o = {.file = -1};
  arrays a;
  int rc = check_file_system(ctx, path, s);
  if (rc) return rc;
  memcpy(h.magic, kcl_file_magic, sizeof h.magic);
  h.rows = A->rows;
  h.cols = A->cols;
  h.nnz = A->nnz;
  h.stored = A->stored;
  h.type = A->type;
  h.symmetry = A->symmetry;
  h.field = A->field;
  if (s->b) h.b_cols = s->b->cols;
  if (s->x0) h.x_cols = s->x0->cols;
  h.dense_complex = (s->b && s->b->type == KCL_Z) | (s->x0 && s->x0->type == KCL_Z) << 1;
  lay_out_file(&h, s, &a);
  h.sum = sum_arrays(&h, &a);
  h.head_sum = kcl_sum64(&h, offsetof(kcl_file_head, head_sum), 0);
  KCL_CALL(kcl_output_open(ctx, path, &o));
  if (o.pack) {
    rc = kcl_fail(ctx, KCL_USAGE, "%s: a .kcl file is mapped, not unpacked: leave out .gz", path);
    return kcl_output_close(ctx, &o, rc);
  }
  rc = write_array(ctx, &o, &h, sizeof h);
  for (int k = 0; k < KCL_FILE_PARTS && !rc; k++)
    rc = write_array(ctx, &o, a.data[k], h.part[k].bytes);
  return kcl_output_close(ctx, &o, rc);
}

int kcl_binary_write(kcl_context *ctx, const char *path, const kcl_file_system *s) {
  kcl_type type = kcl_wide_type(s->A->type);
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *wide = NULL;
  if (s->A->type == type) return write_wide(ctx, path, s);
  KCL_CALL(kcl_csr_convert(ctx, s->A, type, &wide));
  return write_wide(ctx, path, &(kcl_file_system){wide, s->b, s->x0});
}
