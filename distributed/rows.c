/* Blocks of consecutive rows: what rank 0 holds whole is given out, and vectors come back. Counts of MPI are ints, so arrays
 * travel in pieces. */
#include "distributed/distributed.h"
#include <limits.h>

/* ---------------------------------------------------------------- pieces */

enum { PIECE = 1 << 30, TAG = 7 };

static int piece(size_t bytes, size_t at) { return (int)(bytes - at < PIECE ? bytes - at : PIECE); }

void kcl_comm_exchange(kcl_comm *c, int to, const void *out, size_t sends, int from, void *in,
                       size_t receives) {
  for (size_t at = 0; at < sends || at < receives; at += PIECE) {
    MPI_Request request[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    if (at < receives)
      MPI_Irecv((char *)in + at, piece(receives, at), MPI_BYTE, from, TAG, c->comm, &request[0]);
    if (at < sends)
      MPI_Isend((const char *)out + at, piece(sends, at), MPI_BYTE, to, TAG, c->comm, &request[1]);
    kcl_comm_wait(2, request);
  }
}

static void send_rows(kcl_comm *c, int to, const void *data, size_t bytes) {
  kcl_comm_exchange(c, to, data, bytes, to, NULL, 0);
}

static void receive_rows(kcl_comm *c, int from, void *data, size_t bytes) {
  kcl_comm_exchange(c, from, NULL, 0, from, data, bytes);
}

void kcl_tell(kcl_comm *c, void *data, size_t bytes) {
  MPI_Request request;
  MPI_Ibcast(data, (int)bytes, MPI_BYTE, 0, c->comm, &request);
  kcl_comm_wait(1, &request);
}

/* Rank p's part of an array on rank 0, elements [from, to). */
static void give_rows(kcl_comm *c, int p, const void *array, size_t size, int64_t from, int64_t to,
                      void *own) {
  const char *part = c->ranks.rank ? NULL : (const char *)array + (size_t)from * size;
  const size_t bytes = (size_t)(to - from) * size;
  if (c->ranks.rank == 0 && p == 0)
    memcpy(own, part, bytes);
  else if (c->ranks.rank == 0)
    send_rows(c, p, part, bytes);
  else if (c->ranks.rank == p)
    receive_rows(c, 0, own, bytes);
}

void kcl_comm_give(kcl_comm *c, const int64_t *first, size_t size, const void *whole, void *own) {
  for (int p = 0; p < c->ranks.count; p++)
    give_rows(c, p, whole, size, first[p], first[p + 1], own);
}

void kcl_comm_collect(kcl_comm *c, const int64_t *first, size_t size, const void *own,
                      void *whole) {
  const int me = c->ranks.rank;
  if (me) {
    send_rows(c, 0, own, (size_t)(first[me + 1] - first[me]) * size);
    return;
  }
  memcpy(whole, own, (size_t)first[1] * size);
  for (int p = 1; p < c->ranks.count; p++)
    receive_rows(c, p, (char *)whole + (size_t)first[p] * size,
                 (size_t)(first[p + 1] - first[p]) * size);
}

/* ---------------------------------------------------------------- rows */

int kcl_check_count(kcl_comm *c, int64_t rows) {
  if (rows >= c->ranks.count) return KCL_OK;
  return kcl_fail(c->ctx, KCL_USAGE, "%lld rows on %d ranks: each needs one at least",
                  (long long)rows, c->ranks.count);
}

/* Is A, on rank 0, a matrix whose rows can be given out? */
static int check_whole(kcl_comm *c, const kcl_csr *A) {
  int rc = KCL_OK;
  if (c->ranks.rank == 0) rc = kcl_csr_check(c->ctx, A);
  if (!rc && c->ranks.rank == 0) rc = kcl_check_count(c, A->rows);
  return kcl_comm_agree(c, rc);
}

int kcl_hold_rows(kcl_comm *c, const kcl_csr *A, kcl_csr *held) {
  static int64_t none;
  const int me = c->ranks.rank;
  KCL_CALL(check_whole(c, A));
  if (me == 0) *held = *A;
  kcl_tell(c, held, sizeof *held);
  c->ranks.rows = held->rows;
  for (int p = 1; p <= c->ranks.count; p++) c->first[p] = held->rows;
  if (me)
    *held = (kcl_csr){.cols = held->cols,
                      .type = held->type,
                      .symmetry = held->symmetry,
                      .field = held->field,
                      .row_ptr = &none};
  return KCL_OK;
}

/* c->first of blocks. */
static int cut_blocks(kcl_comm *c, const kcl_csr *held) {
  const int count = c->ranks.count, me = c->ranks.rank;
  double *weight = NULL;
  int rc = kcl_weigh(c, &weight);
  kcl_blocks_choose(c, c->ranks.rows);
  if (!rc && me == 0) {
    if (c->ctx->shares == KCL_SHARES_ROWS)
      kcl_partition_equally(held->rows, count, c->first);
    else
      kcl_partition(held->row_ptr, held->rows, count, weight, c->first);
    rc = kcl_blocks_align(c, c->first);
  }
  free(weight);
  if ((rc = kcl_comm_agree(c, rc))) return rc;
  kcl_tell(c, c->first, (size_t)(count + 1) * sizeof *c->first);
  c->ranks.first_row = c->first[me];
  return KCL_OK;
}

int kcl_give_rows(kcl_comm *c, const kcl_csr *held, kcl_csr **own) {
  const int me = c->ranks.rank;
  int64_t nnz = 0;
  KCL_CALL(cut_blocks(c, held));
  for (int p = 0; p < c->ranks.count; p++) {
    int64_t n = me == 0 ? held->row_ptr[c->first[p + 1]] - held->row_ptr[c->first[p]] : 0;
    give_rows(c, p, &n, sizeof n, 0, 1, &nnz);
  }
  const int64_t rows = c->first[me + 1] - c->first[me];
  KCL_CALL(kcl_comm_agree(c, kcl_csr_create(c->ctx, rows, held->cols, nnz, held->type, own)));
  kcl_csr *o = *own;
  o->symmetry = held->symmetry, o->field = held->field;
  for (int p = 0; p < c->ranks.count; p++) {
    const int64_t from = c->first[p], to = c->first[p + 1];
    const int64_t lo = me ? 0 : held->row_ptr[from], hi = me ? nnz : held->row_ptr[to];
    give_rows(c, p, held->row_ptr, sizeof *o->row_ptr, from, to + 1, o->row_ptr);
    give_rows(c, p, held->col, sizeof *o->col, lo, hi, o->col);
    give_rows(c, p, held->val, kcl_type_size(o->type), lo, hi, o->val);
  }
  for (int64_t i = o->rows; i >= 0; i--) o->row_ptr[i] -= o->row_ptr[0];
  return KCL_OK;
}

/* ---------------------------------------------------------------- columns */

int kcl_cut_columns(kcl_comm *c, int64_t columns) {
  const int count = c->ranks.count;
  const int64_t rows = c->ranks.rows;
  c->ranks.columns = columns;
  for (int p = 0; p <= count; p++)
    c->column[p] = columns == rows ? c->first[p] : columns * c->first[p] / rows;
  if (columns == rows) return KCL_OK;
  if (columns < count)
    return kcl_fail(c->ctx, KCL_USAGE, "%lld columns on %d ranks: too few", (long long)columns,
                    count);
  kcl_settle(columns, count, c->column);
  return KCL_OK;
}

/* ---------------------------------------------------------------- rows that ranks have */

/* The rows that the ranks have make one matrix. */
static int check_row_blocks(kcl_comm *c, const kcl_csr *own) {
  const int64_t rows = c->first[c->ranks.count];
  const bool cols = kcl_comm_differs(c, (double)own->cols), type = kcl_comm_differs(c, own->type);
  if (cols || type)
    return kcl_fail(c->ctx, KCL_USAGE, "the ranks' blocks have different columns or scalar types");
  if (own->rows < 1) return kcl_fail(c->ctx, KCL_USAGE, "no rows: each rank needs one at least");
  if (c->ranks.sum_rows && c->ranks.first_row % c->ranks.sum_rows)
    return kcl_fail(
        c->ctx, KCL_USAGE,
        "reproducible sums: the rows of a rank begin at a multiple of %lld, not at %lld",
        (long long)c->ranks.sum_rows, (long long)c->ranks.first_row);
  return rows <= INT32_MAX
             ? KCL_OK
             : kcl_fail(c->ctx, KCL_USAGE, "%lld rows: at most 2^31 - 1", (long long)rows);
}

void kcl_comm_offsets(kcl_comm *c, int64_t own, int64_t *first) {
  MPI_Request request;
  MPI_Iallgather(&own, 1, MPI_INT64_T, first + 1, 1, MPI_INT64_T, c->comm, &request);
  kcl_comm_wait(1, &request);
  first[0] = 0;
  for (int p = 0; p < c->ranks.count; p++) first[p + 1] += first[p];
}

void kcl_take_counts(kcl_comm *c, int64_t rows) {
  kcl_comm_offsets(c, rows, c->first);
  c->ranks.rows = c->first[c->ranks.count], c->ranks.first_row = c->first[c->ranks.rank];
}

int kcl_take_rows(kcl_comm *c, const kcl_csr *own) {
  KCL_CALL(kcl_comm_agree(c, kcl_csr_check(c->ctx, own)));
  kcl_take_counts(c, own->rows);
  kcl_blocks_choose(c, c->ranks.rows);
  return kcl_comm_agree(c, check_row_blocks(c, own));
}
