/* kcl_mpi_dense_read: right-hand sides and guesses, each rank its own rows. Numbers are parsed where they are read and travel as
 * entries do, row and column beside each. */
#include "distributed/files/files.h"

static int check_vector_rows(kcl_comm *c, const char *path, int64_t rows, int64_t cols) {
  if (rows == c->ranks.rows && cols > 0) return KCL_OK;
  return kcl_fail(c->ctx, KCL_INPUT, "%s holds %lld x %lld numbers, and not %lld rows", path,
                  (long long)rows, (long long)cols, (long long)c->ranks.rows);
}

/* Parsed numbers to the owners of their rows; of an array the first is number `index`. */
static int distribute(kcl_comm *c, mm_entries *parsed, bool coordinate, int64_t index, int64_t cols,
                      kcl_dense **out) {
  const int64_t *first = &c->first[c->ranks.rank];
  KCL_OWNED_BY(mm_entries_free) mm_entries own = {0};
  KCL_CALL(kcl_exchange_entries(
      c, &(kcl_own_entries){.e = parsed, .coordinate = coordinate, .index = index}, &own));
  KCL_CALL(kcl_comm_agree(c, kcl_dense_create(c->ctx, first[1] - first[0], cols,
                                              parsed->width == 2 ? KCL_Z : KCL_D, out)));
  mm_place_entries(&own, c->ranks.first_row, coordinate, *out);
  return KCL_OK;
}

static int read_vector_lines(kcl_comm *c, const char *path, const kcl_look *look, kcl_text *held,
                             kcl_dense **out) {
  const mm_head *h = &look->head;
  KCL_OWNED_BY(mm_entries_free) mm_entries e = {0};
  kcl_text t;
  int64_t all, total;
  int rc;
  KCL_CALL(kcl_open_lines(c, path, look, held, &t));
  rc = kcl_comm_agree(c, mm_parse_lines(c->ctx, h, t.data, t.data + t.size, &e));
  kcl_text_close(&t);
  KCL_CALL(rc);
  KCL_CALL(kcl_agree_on_lines(c, path, h->lines, e.lines, e.bad, &all));
  const int64_t before = kcl_comm_before(c, e.total, &total);
  rc = mm_check_total(c->ctx, h, total, all);
  if (!rc) rc = check_vector_rows(c, path, h->rows, h->cols);
  KCL_CALL(kcl_comm_agree(c, rc));
  return distribute(c, &e, h->coordinate, before, h->cols, out);
}

/* Numbers in memory, as blocks of entries. */
static int list_numbers(kcl_context *ctx, const kcl_numbers *n, mm_entries *e) {
  enum { BLOCK = 1 << 16 };
  *e = (mm_entries){.width = 1, .stride = 1, .blocks = n->count / BLOCK + 1, .total = n->count};
  int rc = kcl_alloc(ctx, e->blocks, sizeof *e->block, "numbers", (void **)&e->block);
  for (int64_t k = 0; k < e->blocks && !rc; k++) {
    const int64_t left = n->count - k * BLOCK;
    e->block[k] = (mm_block){.words = (uint64_t *)(void *)(n->val + k * BLOCK),
                             .count = left < BLOCK ? left : BLOCK};
  }
  return rc;
}

static int read_numbers(kcl_comm *c, const char *path, const kcl_look *look, kcl_text *held,
                        kcl_dense **out) {
  KCL_OWNED_BY(kcl_numbers_free) kcl_numbers n = {0};
  KCL_OWNED_BY(mm_entries_free) mm_entries e = {0};
  kcl_text t;
  int64_t all, total;
  KCL_CALL(kcl_open_lines(c, path, look, held, &t));
  int rc = kcl_comm_agree(c, kcl_parse_numbers(c->ctx, t.data, t.data + t.size, &n));
  kcl_text_close(&t);
  KCL_CALL(rc);
  KCL_CALL(kcl_agree_on_lines(c, path, 0, n.lines, n.failed ? &n.bad : NULL, &all));
  const int64_t before = kcl_comm_before(c, n.count, &total);
  rc = check_vector_rows(c, path, total, 1);
  if (!rc) rc = list_numbers(c->ctx, &n, &e);
  KCL_CALL(kcl_comm_agree(c, rc));
  return distribute(c, &e, false, before, 1, out);
}

static int read_whole_vector(kcl_comm *c, const char *path, kcl_dense **out) {
  KCL_OWNED_BY(kcl_dense_free) kcl_dense *whole = NULL;
  int rc = c->ranks.rank ? KCL_OK : kcl_dense_read(c->ctx, path, &whole);
  if (!rc && !c->ranks.rank) rc = check_vector_rows(c, path, whole->rows, whole->cols);
  rc = kcl_comm_agree(c, rc);
  if (!rc) rc = kcl_give_dense(c, c->first, whole, out);
  return rc;
}

static int check_vector_arguments(kcl_context *ctx, const char *path, int64_t own_rows,
                                  kcl_dense **out) {
  int rc = kcl_need(ctx, "out", out);
  if (!rc) *out = NULL;
  if (!rc) rc = kcl_need(ctx, "path", path);
  if (!rc && own_rows < 0) rc = kcl_fail(ctx, KCL_USAGE, "%lld own rows", (long long)own_rows);
  return rc;
}

int kcl_mpi_dense_read(kcl_context *ctx, MPI_Comm comm, const char *path, int64_t own_rows,
                       kcl_dense **out) {
  KCL_OWNED_BY(kcl_comm_free) kcl_comm *c = NULL;
  KCL_OWNED_BY(kcl_text_close) kcl_text held = {0};
  kcl_look look;
  int rc;
  if (!ctx) return kcl_need(NULL, "ctx", ctx);
  KCL_CALL(kcl_mpi_agree(ctx, comm, check_vector_arguments(ctx, path, own_rows, out)));
  KCL_CALL(kcl_files_begin(ctx, comm, &c));
  kcl_take_counts(c, own_rows);
  KCL_CALL(kcl_look_together(c, path, kcl_look_for_dense, &look, &held));
  if (look.layout == KCL_FILE_LINES)
    rc = read_vector_lines(c, path, &look, &held, out);
  else if (look.layout == KCL_FILE_NUMBERS)
    rc = read_numbers(c, path, &look, &held, out);
  else
    rc = read_whole_vector(c, path, out);
  if (rc) kcl_dense_free(out);
  return rc;
}
