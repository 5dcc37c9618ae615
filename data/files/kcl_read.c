/* Reads .kcl files (kcl_file.h): the header is checked, the checksum of the mapped arrays is computed by all
 * threads, and their structure is checked, so that no index of a file is out of range. The matrix
 * then keeps the mapping, which is private: changes never reach the file. Cost: one pass over the file,
 * a second over indices. */
#include "core/base/sum64.h"
#include "data/files/file.h"
#include "data/files/parts.h"

static bool kcl_file_knows(const kcl_text *t) {
  return t->size >= 8 && memcmp(t->data, kcl_file_magic, 8) == 0;
}

int kcl_binary_refuse(kcl_context *ctx, const char *path, const char *found) {
  return kcl_fail(ctx, KCL_INPUT, "%s: %s, expected a whole .kcl file of version %d: make it again",
                  path, found, KCL_FILE_VERSION);
}

static int refuse_file(kcl_context *ctx, const kcl_text *t, const char *found) {
  return kcl_binary_refuse(ctx, t->name, found);
}

/* Size of a part by the counts in the header. */
static uint64_t part_bytes(const kcl_file_head *h, int part) {
  uint64_t rows = (uint64_t)h->rows, cols = (uint64_t)h->cols, nnz = (uint64_t)h->nnz;
  uint64_t b = h->dense_complex & 1 ? 16 : 8, x = h->dense_complex & 2 ? 16 : 8;
  const uint64_t count[] = {rows + 1, nnz, nnz, rows * (uint64_t)h->b_cols,
                            cols * (uint64_t)h->x_cols};
  const uint64_t size[] = {8, 4, kcl_type_size((kcl_type)h->type), b, x};
  return count[part] * size[part];
}

static bool sizes_good(const kcl_file_head *h) {
  const int64_t limit = INT64_C(1) << 31, columns = 1 << 24;
  if (h->rows < 0 || h->cols < 0 || h->nnz < 0 || h->rows > limit || h->cols > limit) return false;
  if (h->nnz > INT64_MAX / 64 || h->b_cols < 0 || h->x_cols < 0) return false;
  if (h->b_cols > columns || h->x_cols > columns) return false;
  return (h->type == KCL_D || h->type == KCL_Z) && (unsigned)h->symmetry <= KCL_HERMITIAN &&
         (unsigned)h->field <= KCL_PATTERN && (unsigned)h->dense_complex <= 3;
}

static bool layout_good(const kcl_file_head *h) {
  uint64_t at = KCL_FILE_HEAD;
  for (int k = 0; k < KCL_FILE_PARTS; k++) {
    if (h->part[k].offset != at || h->part[k].bytes != part_bytes(h, k)) return false;
    at = (at + h->part[k].bytes + 63) / 64 * 64;
    if (at > h->size) return false;
  }
  return at == h->size;
}

static int check_head(kcl_context *ctx, const kcl_text *t, kcl_file_head *h) {
  if (t->size < KCL_FILE_HEAD) return refuse_file(ctx, t, "the file is cut short");
  memcpy(h, t->data, sizeof *h);
  if (h->order != KCL_FILE_ORDER)
    return refuse_file(ctx, t, "the file comes from a machine of other byte order");
  if (h->version != KCL_FILE_VERSION)
    return kcl_fail(ctx, KCL_INPUT, "%s: found version %u, expected version %d: make it again",
                    t->name, h->version, KCL_FILE_VERSION);
  if (h->head_sum != kcl_sum64(h, offsetof(kcl_file_head, head_sum), 0))
    return refuse_file(ctx, t, "the header is damaged");
  if (t->size < h->size) return refuse_file(ctx, t, "the file is cut short");
  if (t->size > h->size) return refuse_file(ctx, t, "bytes follow the end of the data");
  if (!sizes_good(h) || !layout_good(h)) return refuse_file(ctx, t, "the header makes no sense");
  return KCL_OK;
}

static int check_file_sum(kcl_context *ctx, const kcl_text *t, const kcl_file_head *h) {
  uint64_t sum = 0;
  for (int k = 0; k < KCL_FILE_PARTS; k++)
    sum = kcl_sum64(t->data + h->part[k].offset, h->part[k].bytes, sum);
  return sum == h->sum ? KCL_OK
                       : refuse_file(ctx, t, "the checksum does not hold: the data is damaged");
}

typedef struct csr_structure {
  int64_t cols;
  const int64_t *ptr;
  const int32_t *col;
} csr_structure;

static double count_bad_pointers(const void *arg, int64_t from, int64_t to) {
  const csr_structure *s = arg;
  int64_t bad = 0;
  for (int64_t r = from; r < to; r++) bad += s->ptr[r] > s->ptr[r + 1];
  return (double)bad;
}

static double count_bad_columns(const void *arg, int64_t from, int64_t to) {
  const csr_structure *s = arg;
  const int32_t *col = s->col;
  int64_t bad = 0;
  for (int64_t r = from; r < to; r++) {
    int64_t first = s->ptr[r], last = s->ptr[r + 1];
    if (first == last) continue;
    bad += col[first] < 0 || col[last - 1] >= s->cols;
    for (int64_t k = first + 1; k < last; k++) bad += col[k - 1] >= col[k];
  }
  return (double)bad;
}

bool kcl_binary_rows_good(int64_t rows, int64_t cols, const int64_t *ptr, const int32_t *col) {
  const csr_structure s = {cols, ptr, col};
  return ptr[0] == 0 && kcl_sum(rows, KCL_FEW, count_bad_pointers, &s) == 0 &&
         kcl_sum(rows, KCL_FEW_ROWS, count_bad_columns, &s) == 0;
}

/* The pointers end at nnz, too. */
static bool structure_good(const kcl_file_head *h, const int64_t *ptr, const int32_t *col) {
  return ptr[h->rows] == h->nnz && kcl_binary_rows_good(h->rows, h->cols, ptr, col);
}

static int read_dense(kcl_context *ctx, const kcl_text *t, const kcl_file_head *h, int part,
                      kcl_dense **out) {
  int64_t cols = part == KCL_PART_B ? h->b_cols : h->x_cols;
  bool complex = h->dense_complex >> (part - KCL_PART_B) & 1;
  if (!cols) return KCL_OK;
  int rc = kcl_dense_create(ctx, part == KCL_PART_B ? h->rows : h->cols, cols,
                            complex ? KCL_Z : KCL_D, out);
  if (!rc) memcpy((*out)->val, t->data + h->part[part].offset, h->part[part].bytes);
  return rc;
}

/* Moves the mapping from t to A. */
static int borrow(kcl_context *ctx, kcl_text *t, const kcl_file_head *h, kcl_csr **out) {
  kcl_csr *A;
  KCL_CALL(kcl_alloc(ctx, 1, sizeof *A, "a matrix", (void **)&A));
  (void)!mprotect(t->data, t->mapped, PROT_READ | PROT_WRITE);
  *A = (kcl_csr){.rows = h->rows, .cols = h->cols, .nnz = h->nnz, .stored = h->stored};
  A->row_ptr = (int64_t *)(void *)(t->data + h->part[KCL_PART_PTR].offset);
  A->col = (int32_t *)(void *)(t->data + h->part[KCL_PART_COL].offset);
  A->val = t->data + h->part[KCL_PART_VAL].offset;
  A->type = (kcl_type)h->type, A->symmetry = (kcl_symmetry)h->symmetry;
  A->field = (kcl_field)h->field;
  A->mapped = t->data, A->mapped_size = t->mapped;
  t->data = NULL, t->size = t->mapped = 0;
  *out = A;
  return KCL_OK;
}

static int read_kcl(kcl_context *ctx, kcl_text *t, kcl_file_system *out) {
  kcl_file_head h;
  KCL_CALL(check_head(ctx, t, &h));
  KCL_CALL(check_file_sum(ctx, t, &h));
  if (!structure_good(&h, (const int64_t *)(const void *)(t->data + h.part[KCL_PART_PTR].offset),
                      (const int32_t *)(const void *)(t->data + h.part[KCL_PART_COL].offset)))
    KCL_CALL(refuse_file(ctx, t, "rows or columns are out of order"));
  KCL_CALL(read_dense(ctx, t, &h, KCL_PART_B, &out->b));
  KCL_CALL(read_dense(ctx, t, &h, KCL_PART_X, &out->x0));
  return borrow(ctx, t, &h, &out->A);
}

int kcl_binary_head(kcl_context *ctx, const char *path, int64_t size, kcl_file_head *h) {
  char first[KCL_FILE_HEAD] = "";
  const int64_t there = size < KCL_FILE_HEAD ? size : KCL_FILE_HEAD;
  int rc = kcl_binary_copy(ctx, path, 0, (uint64_t)there, first);
  return rc ? rc : check_head(ctx, &(kcl_text){path, first, (size_t)size, 0, 0}, h);
}

/* Calls use(self, data, bytes) for consecutive blocks of bytes [from, from + bytes) of the file, so that few pages are mapped. */
typedef void kcl_use(void *self, const char *data, size_t bytes);

static int by_pieces(kcl_context *ctx, const char *path, uint64_t from, uint64_t bytes,
                     kcl_use *use, void *self) {
  const uint64_t piece = 16 * KCL_SUM64_CHUNK;
  int rc = KCL_OK;
  for (uint64_t at = 0; at < bytes && !rc; at += piece) {
    const uint64_t size = bytes - at < piece ? bytes - at : piece;
    kcl_text t;
    KCL_CALL(kcl_text_open_part(ctx, path, (int64_t)(from + at), (int64_t)(from + at + size), &t));
    use(self, t.data, size);
    kcl_text_close(&t);
  }
  return rc;
}

static void copy_part(void *self, const char *data, size_t bytes) {
  char **to = self;
  memcpy(*to, data, bytes);
  *to += bytes;
}

int kcl_binary_copy(kcl_context *ctx, const char *path, uint64_t from, uint64_t bytes, void *to) {
  return by_pieces(ctx, path, from, bytes, copy_part, &to);
}

static void sum_piece(void *self, const char *data, size_t bytes) {
  uint64_t **sum = self;
  kcl_sum64_chunks(data, bytes, *sum);
  *sum += (bytes + KCL_SUM64_CHUNK - 1) / KCL_SUM64_CHUNK;
}

int kcl_binary_sums(kcl_context *ctx, const char *path, const kcl_file_part *part, int64_t first,
                    int64_t last, uint64_t *sum) {
  const uint64_t from = (uint64_t)first * KCL_SUM64_CHUNK, to = (uint64_t)last * KCL_SUM64_CHUNK,
                 end = to < part->bytes ? to : part->bytes;
  return by_pieces(ctx, path, part->offset + from, end - from, sum_piece, &sum);
}

const kcl_file kcl_file_kcl = {.name = "kcl",
                               .expected = "a .kcl header",
                               .knows = kcl_file_knows,
                               .read = read_kcl,
                               .write = kcl_binary_write};
