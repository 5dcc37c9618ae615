/* Whose rows: blocks of consecutive rows, balanced by nonzeros and by the weights of the ranks. What rank 0 holds whole is given out, and vectors come back.
 * Counts of MPI are ints, so arrays travel in pieces. */
#include "core/base/context.h"
#include "distributed/distributed.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- blocks */

/* Where the running sum of nonzeros is nearest to this. */
static int64_t cut(const int64_t *row_ptr, int64_t rows, double want) {
  int64_t lo = 0, hi = rows;
  while (lo < hi) {
    const int64_t mid = lo + (hi - lo) / 2;
    if ((double)row_ptr[mid] < want)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo > 0 && want - (double)row_ptr[lo - 1] < (double)row_ptr[lo] - want ? lo - 1 : lo;
}

void kcl_partition(const int64_t *row_ptr, int64_t rows, int ranks, const double *weight,
                   int64_t *first) {
  double all = 0, before = 0;
  for (int p = 0; p < ranks; p++) all += weight[p];
  first[0] = 0, first[ranks] = rows;
  for (int p = 1; p < ranks; p++) {
    const int64_t least = first[p - 1] + 1, most = rows - (ranks - p);
    before += weight[p - 1];
    const int64_t at = cut(row_ptr, rows, (double)row_ptr[rows] * before / all);
    first[p] = at < least ? least : at > most ? most : at;
  }
}

/* ---------------------------------------------------------------- weights */

int kcl_mpi_set_weight(kcl *ctx, double weight) {
  if (!ctx) return KCL_USAGE;
  if (!(weight >= 0 && weight < INFINITY))
    return kcl_fail(ctx, KCL_USAGE, "weight %g of a rank: it is positive, or 0", weight);
  ctx->weight = weight;
  return KCL_OK;
}

typedef struct worth {
  double weight, rate;
  char device[sizeof((kcl_device *)0)->name];
} worth;

static void gather(kcl_comm *c, const worth *own, worth *all) {
  MPI_Request request;
  MPI_Iallgather(own, sizeof *own, MPI_BYTE, all, sizeof *own, MPI_BYTE, c->comm, &request);
  kcl_comm_wait(1, &request);
}

/* All have a weight; all have devices of one name. */
static void compare(const worth *all, int count, bool *told, bool *alike) {
  *told = *alike = true;
  for (int p = 0; p < count; p++) {
    *told = *told && all[p].weight > 0;
    *alike = *alike && !strcmp(all[p].device, all[0].device);
  }
}

/* weight [ranks] */
static int weigh(kcl_comm *c, double *weight) {
  const int count = c->ranks.count;
  worth own = {.weight = c->ctx->weight}, *all = NULL;
  bool told, alike;
  int rc = kcl_alloc(c->ctx, count, sizeof *all, "the ranks", (void **)&all);
  if ((rc = kcl_comm_agree(c, rc))) goto done;
  memcpy(own.device, c->ctx->device.name, sizeof own.device);
  gather(c, &own, all);
  compare(all, count, &told, &alike);
  if (!told && !alike) {
    KCL_TRY(kcl_comm_agree(c, kcl_stream_rate(c->ctx, &own.rate)));
    gather(c, &own, all);
  }
  for (int p = 0; p < count; p++) weight[p] = told ? all[p].weight : alike ? 1 : all[p].rate;
done:
  free(all);
  return rc;
}

/* ---------------------------------------------------------------- pieces */

enum { PIECE = 1 << 30, TAG = 7 };

static void transfer(kcl_comm *c, int rank, void *data, size_t bytes, bool sends) {
  MPI_Request request;
  for (size_t at = 0; at < bytes; at += PIECE) {
    const int count = (int)(bytes - at < PIECE ? bytes - at : PIECE);
    char *piece = (char *)data + at;
    if (sends)
      MPI_Isend(piece, count, MPI_BYTE, rank, TAG, c->comm, &request);
    else
      MPI_Irecv(piece, count, MPI_BYTE, rank, TAG, c->comm, &request);
    kcl_comm_wait(1, &request);
  }
}

static void send(kcl_comm *c, int to, const void *data, size_t bytes) {
  transfer(c, to, (void *)(uintptr_t)data, bytes, true);
}

static void receive(kcl_comm *c, int from, void *data, size_t bytes) {
  transfer(c, from, data, bytes, false);
}

static void tell(kcl_comm *c, void *data, size_t bytes) { /* rank 0's */
  MPI_Request request;
  MPI_Ibcast(data, (int)bytes, MPI_BYTE, 0, c->comm, &request);
  kcl_comm_wait(1, &request);
}

/* Rank p's part of an array on rank 0, elements [from, to). */
static void give(kcl_comm *c, int p, const void *array, size_t size, int64_t from, int64_t to,
                 void *own) {
  const char *part = c->ranks.rank ? NULL : (const char *)array + (size_t)from * size;
  const size_t bytes = (size_t)(to - from) * size;
  if (c->ranks.rank == 0 && p == 0)
    memcpy(own, part, bytes);
  else if (c->ranks.rank == 0)
    send(c, p, part, bytes);
  else if (c->ranks.rank == p)
    receive(c, 0, own, bytes);
}

void kcl_give_vector(kcl_comm *c, kcl_type type, const void *whole, void *own) {
  for (int p = 0; p < c->ranks.count; p++)
    give(c, p, whole, kcl_type_size(type), c->first[p], c->first[p + 1], own);
}

void kcl_collect_vector(kcl_comm *c, kcl_type type, const void *own, void *whole) {
  const size_t size = kcl_type_size(type);
  const int64_t *first = c->first;
  const int me = c->ranks.rank;
  if (me) {
    send(c, 0, own, (size_t)(first[me + 1] - first[me]) * size);
    return;
  }
  memcpy(whole, own, (size_t)first[1] * size);
  for (int p = 1; p < c->ranks.count; p++)
    receive(c, p, (char *)whole + (size_t)first[p] * size,
            (size_t)(first[p + 1] - first[p]) * size);
}

/* ---------------------------------------------------------------- rows */

typedef struct head {
  int64_t rows, cols, type, symmetry, field;
} head;

/* Is A, on rank 0, a matrix whose rows can be given out? */
static int check_whole(kcl_comm *c, const kcl_csr *A) {
  int rc = KCL_OK;
  if (c->ranks.rank == 0) rc = kcl_csr_check(c->ctx, A);
  if (!rc && c->ranks.rank == 0 && A->rows < c->ranks.count)
    rc = kcl_fail(c->ctx, KCL_USAGE, "%lld rows on %d ranks: each needs one at least",
                  (long long)A->rows, c->ranks.count);
  return kcl_comm_agree(c, rc);
}

int kcl_give_rows(kcl_comm *c, const kcl_csr *A, kcl_csr **own) {
  const int count = c->ranks.count, me = c->ranks.rank;
  int64_t nnz = 0;
  head h = {0};
  double *weight = NULL;
  int rc = check_whole(c, A);
  if (!rc)
    rc = kcl_comm_agree(c, kcl_alloc(c->ctx, count, sizeof *weight, "the ranks", (void **)&weight));
  if (!rc) rc = weigh(c, weight);
  if (!rc && me == 0) {
    h = (head){A->rows, A->cols, A->type, A->symmetry, A->field};
    kcl_blocks_choose(c, A->rows);
    kcl_partition(A->row_ptr, A->rows, count, weight, c->first);
    rc = kcl_blocks_align(c, c->first);
  }
  free(weight);
  if ((rc = kcl_comm_agree(c, rc))) return rc;
  tell(c, &h, sizeof h);
  tell(c, c->first, (size_t)(count + 1) * sizeof *c->first);
  c->ranks.rows = h.rows, c->ranks.first_row = c->first[me];
  kcl_blocks_choose(c, h.rows);
  for (int p = 0; p < count; p++) {
    int64_t n = me == 0 ? A->row_ptr[c->first[p + 1]] - A->row_ptr[c->first[p]] : 0;
    give(c, p, &n, sizeof n, 0, 1, &nnz);
  }
  rc = kcl_csr_create(c->ctx, c->first[me + 1] - c->first[me], h.cols, nnz, (kcl_type)h.type, own);
  if ((rc = kcl_comm_agree(c, rc))) return rc;
  kcl_csr *o = *own;
  o->symmetry = (kcl_symmetry)h.symmetry, o->field = (kcl_field)h.field;
  for (int p = 0; p < count; p++) {
    const int64_t from = c->first[p], to = c->first[p + 1];
    const int64_t lo = me ? 0 : A->row_ptr[from], hi = me ? nnz : A->row_ptr[to];
    give(c, p, me ? NULL : A->row_ptr, sizeof *o->row_ptr, from, to + 1, o->row_ptr);
    give(c, p, me ? NULL : A->col, sizeof *o->col, lo, hi, o->col);
    give(c, p, me ? NULL : A->val, kcl_type_size(o->type), lo, hi, o->val);
  }
  for (int64_t i = o->rows; i >= 0; i--) o->row_ptr[i] -= o->row_ptr[0];
  return KCL_OK;
}

/* The rows that the ranks have make one matrix. */
static int check_blocks(kcl_comm *c, const kcl_csr *own) {
  const int64_t rows = c->first[c->ranks.count];
  const double cols = (double)own->cols, type = own->type;
  if (kcl_comm_largest(c, cols) != -kcl_comm_largest(c, -cols) ||
      kcl_comm_largest(c, type) != -kcl_comm_largest(c, -type))
    return kcl_fail(c->ctx, KCL_USAGE, "the ranks' blocks have different columns or scalar types");
  if (own->rows < 1) return kcl_fail(c->ctx, KCL_USAGE, "no rows: each rank needs one at least");
  if (c->ranks.block && c->ranks.first_row % c->ranks.block)
    return kcl_fail(
        c->ctx, KCL_USAGE,
        "reproducible sums: the rows of a rank begin at a multiple of %lld, not at %lld",
        (long long)c->ranks.block, (long long)c->ranks.first_row);
  return rows <= INT32_MAX
             ? KCL_OK
             : kcl_fail(c->ctx, KCL_USAGE, "%lld rows: at most 2^31 - 1", (long long)rows);
}

int kcl_take_rows(kcl_comm *c, const kcl_csr *own) {
  MPI_Request request;
  int rc = kcl_comm_agree(c, kcl_csr_check(c->ctx, own));
  if (rc) return rc;
  MPI_Iallgather(&own->rows, 1, MPI_INT64_T, c->first + 1, 1, MPI_INT64_T, c->comm, &request);
  kcl_comm_wait(1, &request);
  c->first[0] = 0;
  for (int p = 0; p < c->ranks.count; p++) c->first[p + 1] += c->first[p];
  c->ranks.rows = c->first[c->ranks.count], c->ranks.first_row = c->first[c->ranks.rank];
  kcl_blocks_choose(c, c->ranks.rows);
  return kcl_comm_agree(c, check_blocks(c, own));
}
