/* kcl_mpi_read: every rank reads its own rows. Text is parsed in parts and its entries travel; .kcl files are read
 * from the offsets of the rows. Other files are read by rank 0, which gives rows out. */
#include "core/base/sum64.h"
#include "distributed/files/files.h"

/* ---------------------------------------------------------------- a part */

int kcl_files_begin(kcl_context *ctx, MPI_Comm comm, kcl_comm **out) {
  int rc = kcl_comm_create(ctx, comm, out);
  if (!rc) (*out)->files = true;
  return rc;
}

int kcl_read_begin(kcl_context *ctx, MPI_Comm comm, kcl_comm **out) {
  KCL_CALL(kcl_files_begin(ctx, comm, out));
  (*out)->ranks.unlike = kcl_comm_differs(*out, ctx->opencl != NULL);
  const int rc = kcl_blocks_begin(*out);
  if (rc) kcl_comm_free(out);
  return rc;
}

void kcl_describe_part(kcl_comm *c, int64_t stored, kcl_mpi_part *out) {
  (void)kcl_comm_before(c, out->A->nnz, &out->nonzeros);
  out->rows = c->ranks.rows, out->first_row = c->ranks.first_row, out->stored = stored;
  out->columns = c->column[c->ranks.rank + 1] - c->column[c->ranks.rank];
}

void kcl_describe_whole(kcl_mpi_part *out) {
  out->rows = out->A->rows, out->nonzeros = out->A->nnz, out->stored = out->A->stored;
  out->columns = out->A->cols;
}

void kcl_mpi_part_free(kcl_mpi_part *p) {
  if (!p) return;
  kcl_csr_free(&p->A), kcl_dense_free(&p->b), kcl_dense_free(&p->x0);
  *p = (kcl_mpi_part){0};
}

int kcl_give_dense(kcl_comm *c, const int64_t *first, const kcl_dense *whole, kcl_dense **own) {
  const int me = c->ranks.rank;
  const int64_t mine = first[me + 1] - first[me];
  struct {
    int64_t cols, type;
  } h = {0};
  if (!me && whole) h.cols = whole->cols, h.type = whole->type;
  kcl_tell(c, &h, sizeof h);
  if (!h.cols) return KCL_OK;
  int rc = kcl_comm_agree(c, kcl_dense_create(c->ctx, mine, h.cols, (kcl_type)h.type, own));
  const size_t size = kcl_type_size((kcl_type)h.type);
  for (int64_t j = 0; j < h.cols && !rc; j++)
    kcl_comm_give(c, first, size, me ? NULL : (char *)whole->val + (size_t)(j * whole->rows) * size,
                  (char *)(*own)->val + (size_t)(j * mine) * size);
  return rc;
}

int kcl_give_part(kcl_comm *c, const kcl_csr *A, const kcl_dense *b, const kcl_dense *x0,
                  kcl_mpi_part *out) {
  int64_t stored = A ? A->stored : 0;
  kcl_csr held;
  bool fits = !b || b->rows == A->rows; /* else it is of another system */
  KCL_CALL(kcl_hold_rows(c, A, &held));
  KCL_CALL(kcl_give_rows(c, &held, &out->A));
  KCL_CALL(kcl_comm_agree(c, kcl_cut_columns(c, held.cols)));
  kcl_tell(c, &stored, sizeof stored);
  kcl_describe_part(c, stored, out);
  KCL_CALL(kcl_give_dense(c, c->first, fits ? b : NULL, &out->b));
  fits = !x0 || x0->rows == A->cols;
  return kcl_give_dense(c, c->column, fits ? x0 : NULL, &out->x0);
}

static int read_whole_file(kcl_comm *c, const char *path, kcl_mpi_part *out) {
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *A = NULL;
  KCL_OWNED_BY(kcl_dense_free) kcl_dense *b = NULL, *x0 = NULL;
  int rc = c->ranks.rank ? KCL_OK : kcl_csr_read_system(c->ctx, path, &A, &b, &x0);
  rc = kcl_comm_agree(c, rc);
  if (!rc) rc = kcl_give_part(c, A, b, x0, out);
  return rc;
}

/* ---------------------------------------------------------------- text */

typedef struct lines {
  const mm_head *h;
  const mm_entries *e;
} lines;

static void count_lines(const void *self, const kcl_bins *b) {
  const lines *l = self;
  const bool half = l->h->symmetry != KCL_GENERAL;
  for (int64_t k = 0; k < l->e->blocks; k++) {
    const uint64_t *w = l->e->block[k].words;
    for (int64_t i = 0; i < l->e->block[k].count; i++, w += l->e->stride) {
      kcl_bin(b, mm_row(*w), 1);
      if (half && mm_row(*w) != mm_col(*w)) kcl_bin(b, mm_col(*w), 1);
    }
  }
}

static int parse_part(kcl_comm *c, const char *path, const kcl_look *look, kcl_text *held,
                      mm_entries *e) {
  kcl_text t;
  int64_t all, total;
  KCL_CALL(kcl_open_lines(c, path, look, held, &t));
  const int rc = kcl_comm_agree(c, mm_parse_lines(c->ctx, &look->head, t.data, t.data + t.size, e));
  kcl_text_close(&t);
  KCL_CALL(rc);
  KCL_CALL(kcl_agree_on_lines(c, path, look->head.lines, e->lines, e->bad, &all));
  (void)kcl_comm_before(c, e->total, &total);
  return kcl_comm_agree(c, mm_check_total(c->ctx, &look->head, total, all));
}

static int read_entry_lines(kcl_comm *c, const char *path, const kcl_look *look, kcl_text *held,
                            kcl_mpi_part *out) {
  const mm_head *h = &look->head;
  KCL_OWNED_BY(mm_entries_free) mm_entries parsed = {0}, own = {0};
  const bool half = h->symmetry != KCL_GENERAL;
  KCL_CALL(parse_part(c, path, look, held, &parsed));
  KCL_CALL(kcl_cut_rows(c, h->rows, count_lines, &(lines){h, &parsed}));
  KCL_CALL(kcl_comm_agree(c, kcl_cut_columns(c, h->cols)));
  KCL_CALL(kcl_exchange_entries(
      c, &(kcl_own_entries){.e = &parsed, .coordinate = true, .mirrored = half}, &own));
  mm_entries_free(&parsed);
  const int64_t *first = &c->first[c->ranks.rank];
  KCL_CALL(kcl_comm_agree(c, mm_build_rows(c->ctx, h, first[0], first[1], &own, &out->A)));
  out->A->stored = own.total;
  kcl_describe_part(c, h->entries, out);
  return KCL_OK;
}

/* ---------------------------------------------------------------- .kcl */

typedef struct binary {
  kcl_comm *c;
  const char *path;
  kcl_file_head h;
  int64_t from, to, *ptr; /* an even share of the row pointers, [to - from + 1] */
} binary;

static void close_binary(binary *f) { free(f->ptr); }

static int64_t even_share_start(int64_t n, int p, int ranks) {
  return n / ranks * p + n % ranks * p / ranks;
}

/* All ranks together sum the chunks of all arrays. */
static int check_sum_of_part(const binary *f) {
  kcl_comm *c = f->c;
  const int ranks = c->ranks.count, me = c->ranks.rank;
  uint64_t all = 0;
  MPI_Request request;
  for (int i = 0; i < KCL_FILE_PARTS; i++) {
    KCL_OWNED uint64_t *sum = NULL;
    const kcl_file_part *part = &f->h.part[i];
    const int64_t chunks = (int64_t)((part->bytes + KCL_SUM64_CHUNK - 1) / KCL_SUM64_CHUNK),
                  first = even_share_start(chunks, me, ranks),
                  last = even_share_start(chunks, me + 1, ranks);
    int rc = kcl_alloc(c->ctx, chunks, sizeof *sum, "checksums", (void **)&sum);
    if (!rc) rc = kcl_binary_sums(c->ctx, f->path, part, first, last, sum + first);
    KCL_CALL(kcl_comm_agree(c, rc));
    MPI_Iallreduce(MPI_IN_PLACE, sum, (int)chunks, MPI_UINT64_T, MPI_SUM, c->comm, &request);
    kcl_comm_wait(1, &request);
    all = kcl_sum64_end(kcl_sum64_join(all, sum, chunks), part->bytes);
  }
  if (all == f->h.sum) return KCL_OK;
  return kcl_comm_agree(
      c, kcl_binary_refuse(c->ctx, f->path, "the checksum does not hold: the data is damaged"));
}

static int read_pointers(binary *f) {
  kcl_comm *c = f->c;
  const int64_t rows = f->h.rows;
  f->from = even_share_start(rows, c->ranks.rank, c->ranks.count);
  f->to = even_share_start(rows, c->ranks.rank + 1, c->ranks.count);
  const int64_t n = f->to - f->from + 1;
  int rc = kcl_alloc(c->ctx, n, sizeof *f->ptr, "row pointers", (void **)&f->ptr);
  if (!rc)
    rc = kcl_binary_copy(c->ctx, f->path, f->h.part[KCL_PART_PTR].offset + 8 * (uint64_t)f->from,
                         8 * (uint64_t)n, f->ptr);
  bool good = !rc && f->ptr[0] >= 0 && f->ptr[n - 1] <= f->h.nnz;
  for (int64_t i = 0; good && i + 1 < n; i++) good = f->ptr[i] <= f->ptr[i + 1];
  if (!rc && f->from == 0) good = good && f->ptr[0] == 0;
  if (!rc && f->to == rows) good = good && f->ptr[n - 1] == f->h.nnz;
  if (!rc && !good) rc = kcl_binary_refuse(c->ctx, f->path, "rows or columns are out of order");
  return kcl_comm_agree(c, rc);
}

static void count_rows_of_file(const void *self, const kcl_bins *b) {
  const binary *f = self;
  for (int64_t i = f->from; i < f->to; i++)
    kcl_bin(b, i, f->ptr[i - f->from + 1] - f->ptr[i - f->from]);
}

/* Own elements of dense columns; begin: those of the ranks. */
static int read_column_numbers(const binary *f, int part, const int64_t *begin, int64_t cols,
                               kcl_dense **out) {
  const int64_t first = begin[f->c->ranks.rank], mine = begin[f->c->ranks.rank + 1] - first,
                rows = begin[f->c->ranks.count];
  const kcl_type type = f->h.dense_complex >> (part - KCL_PART_B) & 1 ? KCL_Z : KCL_D;
  const size_t size = kcl_type_size(type);
  if (!cols) return KCL_OK;
  int rc = kcl_dense_create(f->c->ctx, mine, cols, type, out);
  for (int64_t j = 0; j < cols && !rc; j++)
    rc = kcl_binary_copy(f->c->ctx, f->path,
                         f->h.part[part].offset + (uint64_t)(j * rows + first) * size,
                         (uint64_t)mine * size, (char *)(*out)->val + (size_t)(j * mine) * size);
  return rc;
}

static int read_own(const binary *f, kcl_mpi_part *out) {
  const kcl_file_head *h = &f->h;
  kcl_context *ctx = f->c->ctx;
  const int64_t first = f->c->ranks.first_row, mine = f->c->first[f->c->ranks.rank + 1] - first;
  const kcl_type type = (kcl_type)h->type;
  const uint64_t at = h->part[KCL_PART_PTR].offset + 8 * (uint64_t)first;
  int64_t ends[2];
  KCL_CALL(kcl_binary_copy(ctx, f->path, at, 8, &ends[0]));
  KCL_CALL(kcl_binary_copy(ctx, f->path, at + 8 * (uint64_t)mine, 8, &ends[1]));
  const uint64_t n = (uint64_t)(ends[1] - ends[0]), from = (uint64_t)ends[0];
  KCL_CALL(kcl_csr_create(ctx, mine, h->cols, (int64_t)n, type, &out->A));
  kcl_csr *A = out->A;
  KCL_CALL(kcl_binary_copy(ctx, f->path, at, 8 * (uint64_t)(mine + 1), A->row_ptr));
  for (int64_t i = mine; i >= 0; i--) A->row_ptr[i] -= A->row_ptr[0];
  KCL_CALL(kcl_binary_copy(ctx, f->path, h->part[KCL_PART_COL].offset + 4 * from, 4 * n, A->col));
  const uint64_t size = kcl_type_size(type);
  KCL_CALL(
      kcl_binary_copy(ctx, f->path, h->part[KCL_PART_VAL].offset + size * from, size * n, A->val));
  A->symmetry = (kcl_symmetry)h->symmetry, A->field = (kcl_field)h->field;
  if (!kcl_binary_rows_good(mine, h->cols, A->row_ptr, A->col))
    KCL_CALL(kcl_binary_refuse(ctx, f->path, "rows or columns are out of order"));
  KCL_CALL(read_column_numbers(f, KCL_PART_B, f->c->first, h->b_cols, &out->b));
  return read_column_numbers(f, KCL_PART_X, f->c->column, h->x_cols, &out->x0);
}

static int read_binary(kcl_comm *c, const char *path, const kcl_look *look, kcl_mpi_part *out) {
  KCL_OWNED_BY(close_binary) binary f = {.c = c, .path = path};
  KCL_CALL(kcl_comm_agree(c, kcl_binary_head(c->ctx, path, look->size, &f.h)));
  KCL_CALL(check_sum_of_part(&f));
  KCL_CALL(read_pointers(&f));
  KCL_CALL(kcl_cut_rows(c, f.h.rows, count_rows_of_file, &f));
  KCL_CALL(kcl_comm_agree(c, kcl_cut_columns(c, f.h.cols)));
  KCL_CALL(kcl_comm_agree(c, read_own(&f, out)));
  kcl_describe_part(c, f.h.stored, out);
  return KCL_OK;
}

/* ---------------------------------------------------------------- any file */

static int read_alone(kcl_context *ctx, const char *path, kcl_mpi_part *out) {
  KCL_CALL(kcl_csr_read_system(ctx, path, &out->A, &out->b, &out->x0));
  kcl_describe_whole(out);
  return KCL_OK;
}

int kcl_mpi_read(kcl_context *ctx, MPI_Comm comm, const char *path, kcl_mpi_part *out) {
  KCL_OWNED_BY(kcl_comm_free) kcl_comm *c = NULL;
  KCL_OWNED_BY(kcl_text_close) kcl_text held = {0};
  kcl_look look;
  int count, rc;
  if (!ctx) return kcl_need(NULL, "ctx", ctx);
  rc = kcl_need(ctx, "out", out);
  if (!rc) *out = (kcl_mpi_part){0};
  if (!rc) rc = kcl_need(ctx, "path", path);
  KCL_CALL(kcl_mpi_agree(ctx, comm, rc));
  MPI_Comm_size(comm, &count);
  if (count == 1) return read_alone(ctx, path, out);
  KCL_CALL(kcl_read_begin(ctx, comm, &c));
  KCL_CALL(kcl_look_together(c, path, kcl_look_for_matrix, &look, &held));
  if (look.layout == KCL_FILE_LINES)
    rc = read_entry_lines(c, path, &look, &held, out);
  else if (look.layout == KCL_FILE_BINARY)
    rc = read_binary(c, path, &look, out);
  else
    rc = read_whole_file(c, path, out);
  if (rc) kcl_mpi_part_free(out);
  return rc;
}
