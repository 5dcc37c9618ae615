/* Rows whose parts are not consecutive: the system that is solved is P A P^T, in which the rows of each rank are consecutive, in
 * the order that they have in A. Rows and elements of vectors move to their owners, and x moves back: the caller sees his own
 * numbering alone. Rank by rank, me + 1 after me: memory for the largest part is enough. */
#include "distributed/distributed.h"

/* ---------------------------------------------------------------- elements */

/* Data that is moved: `size` bytes for each row, or for each of its entries. */
typedef struct array {
  size_t size;
  const int64_t *at, *own_at; /* where rows begin, held and owned; NULL: an element per row */
} array;

static int64_t begin_of(const int64_t *at, int64_t row) { return at ? at[row] : row; }

static size_t bytes_to(const kcl_order *o, const array *a, int p) {
  size_t elements = 0;
  for (int64_t i = o->out[p]; i < o->out[p + 1]; i++)
    elements += (size_t)(begin_of(a->at, o->row[i] + 1) - begin_of(a->at, o->row[i]));
  return elements * a->size;
}

/* The rows held here that rank p owns, to the buffer or from it. */
static void pack_rows(const kcl_order *o, const array *a, int p, char *held, char *buffer,
                      bool to) {
  for (int64_t i = o->out[p]; i < o->out[p + 1]; i++) {
    const int64_t from = begin_of(a->at, o->row[i]), end = begin_of(a->at, o->row[i] + 1);
    const size_t bytes = (size_t)(end - from) * a->size;
    char *own = held + (size_t)from * a->size;
    memcpy(to ? buffer : own, to ? own : buffer, bytes);
    buffer += bytes;
  }
}

static int allocate_message(const kcl_order *o, const array *a, char **buffer) {
  size_t most = 0;
  for (int p = 0; p < o->comm->ranks.count; p++) {
    const size_t bytes = bytes_to(o, a, p);
    most = bytes > most ? bytes : most;
  }
  return kcl_comm_agree(
      o->comm, kcl_alloc(o->comm->ctx, (int64_t)most, 1, "rows on their way", (void **)buffer));
}

/* To the owners, or back. */
static int send_rows_to_owners(const kcl_order *o, const array *a, char *held, char *own,
                               bool there) {
  const int count = o->comm->ranks.count, me = o->comm->ranks.rank;
  KCL_OWNED char *buffer = NULL;
  KCL_CALL(allocate_message(o, a, &buffer));
  for (int step = 0; step < count; step++) {
    const int p = (me + step) % count, q = (me + count - step) % count;
    const int owner = there ? p : q, holder = there ? q : p;
    const size_t bytes = bytes_to(o, a, owner);
    char *part = own + (size_t)begin_of(a->own_at, o->in[holder]) * a->size;
    const size_t part_bytes =
        (size_t)(begin_of(a->own_at, o->in[holder + 1]) - begin_of(a->own_at, o->in[holder])) *
        a->size;
    if (there) pack_rows(o, a, owner, held, buffer, true);
    if (there)
      kcl_comm_exchange(o->comm, p, buffer, bytes, q, part, part_bytes);
    else
      kcl_comm_exchange(o->comm, p, part, part_bytes, q, buffer, bytes);
    if (!there) pack_rows(o, a, owner, held, buffer, false);
  }
  return KCL_OK;
}

int kcl_order_give(const kcl_order *o, size_t size, const void *held, void *own) {
  return send_rows_to_owners(o, &(array){.size = size}, (char *)(uintptr_t)held, own, true);
}

int kcl_order_return(const kcl_order *o, size_t size, const void *own, void *held) {
  return send_rows_to_owners(o, &(array){.size = size}, held, (char *)(uintptr_t)own, false);
}

/* ---------------------------------------------------------------- rows */

typedef struct entry {
  int32_t column;
  int64_t at;
} entry;

static int by_column_number(const void *a, const void *b) {
  const int32_t x = ((const entry *)a)->column, y = ((const entry *)b)->column;
  return (x > y) - (x < y);
}

/* New columns, ascending in each row; number [A->cols]. row, val: room for the longest row. */
static void renumber_by_parts(kcl_csr *A, const int32_t *number, entry *row, char *val) {
  const size_t size = kcl_type_size(A->type);
  for (int64_t i = 0; i < A->rows; i++) {
    const int64_t from = A->row_ptr[i], n = A->row_ptr[i + 1] - from;
    char *own = (char *)A->val + (size_t)from * size;
    for (int64_t k = 0; k < n; k++) row[k] = (entry){number[A->col[from + k]], k};
    qsort(row, (size_t)n, sizeof *row, by_column_number);
    memcpy(val, own, (size_t)n * size);
    for (int64_t k = 0; k < n; k++) {
      A->col[from + k] = row[k].column;
      memcpy(own + (size_t)k * size, val + (size_t)row[k].at * size, size);
    }
  }
}

static int put_in_order(kcl_context *ctx, kcl_csr *A, const int32_t *number) {
  const int64_t most = kcl_csr_longest_row(A);
  KCL_OWNED entry *row = NULL;
  KCL_OWNED char *val = NULL;
  KCL_CALL(kcl_alloc(ctx, most, sizeof *row, "a row", (void **)&row));
  KCL_CALL(kcl_alloc(ctx, most, kcl_type_size(A->type), "a row", (void **)&val));
  renumber_by_parts(A, number, row, val);
  return KCL_OK;
}

/* own [o->in[ranks] + 1]: where the rows that come here begin. */
static int move_lengths(const kcl_order *o, const kcl_csr *held, int64_t *own) {
  KCL_OWNED int64_t *length = NULL;
  int rc = kcl_comm_agree(
      o->comm, kcl_alloc(o->comm->ctx, held->rows, sizeof *length, "rows", (void **)&length));
  for (int64_t i = 0; i < held->rows && !rc; i++)
    length[i] = held->row_ptr[i + 1] - held->row_ptr[i];
  if (!rc) rc = kcl_order_give(o, sizeof *length, length, own + 1);
  for (int64_t i = 0; i < o->in[o->comm->ranks.count]; i++) own[i + 1] += own[i];
  return rc;
}

static int move_rows(const kcl_order *o, const kcl_csr *held, const int32_t *number,
                     kcl_csr **out) {
  kcl_comm *c = o->comm;
  const int64_t rows = o->in[c->ranks.count];
  KCL_OWNED int64_t *at = NULL;
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *A = NULL;
  KCL_CALL(kcl_comm_agree(c, kcl_alloc(c->ctx, rows + 1, sizeof *at, "rows", (void **)&at)));
  KCL_CALL(move_lengths(o, held, at));
  KCL_CALL(kcl_comm_agree(c, kcl_csr_create(c->ctx, rows, held->cols, at[rows], held->type, &A)));
  A->symmetry = held->symmetry, A->field = held->field;
  memcpy(A->row_ptr, at, (size_t)(rows + 1) * sizeof *at);
  array entries = {sizeof *A->col, held->row_ptr, at};
  KCL_CALL(send_rows_to_owners(o, &entries, (char *)held->col, (char *)A->col, true));
  entries.size = kcl_type_size(A->type);
  KCL_CALL(send_rows_to_owners(o, &entries, held->val, A->val, true));
  KCL_CALL(kcl_comm_agree(c, put_in_order(c->ctx, A, number)));
  *out = A, A = NULL;
  return KCL_OK;
}

/* ---------------------------------------------------------------- who has what */

/* whose [rows of all]: the parts of all rows, from those of the rows held by each rank. */
static int share_parts(kcl_comm *c, const int32_t *part, int32_t *whose) {
  const int count = c->ranks.count;
  KCL_OWNED int *rows = NULL, *at = NULL;
  MPI_Request request;
  int rc = kcl_alloc(c->ctx, count, sizeof *rows, "the ranks", (void **)&rows);
  if (!rc) rc = kcl_alloc(c->ctx, count, sizeof *at, "the ranks", (void **)&at);
  KCL_CALL(kcl_comm_agree(c, rc));
  for (int p = 0; p < count; p++)
    at[p] = (int)c->first[p], rows[p] = (int)(c->first[p + 1] - c->first[p]);
  MPI_Iallgatherv(part, rows[c->ranks.rank], MPI_INT32_T, whose, rows, at, MPI_INT32_T, c->comm,
                  &request);
  kcl_comm_wait(1, &request);
  return KCL_OK;
}

/* The parts of n rows become their places, with those of part 0 first, in their order. first [parts + 1]: of each part. */
static void sort_by_part(int64_t n, int32_t *part, int parts, int64_t *first) {
  memset(first, 0, (size_t)(parts + 1) * sizeof *first);
  for (int64_t i = 0; i < n; i++) first[part[i]]++;
  for (int64_t p = 0, before = 0; p <= parts; p++) {
    const int64_t count = first[p];
    first[p] = before, before += count;
  }
  for (int64_t i = 0; i < n; i++) part[i] = (int32_t)first[part[i]]++;
  for (int p = parts; p > 0; p--) first[p] = first[p - 1];
  first[0] = 0;
}

/* part [rows held here] and whose become places. */
static void list_rows(kcl_order *o, int32_t *part, int32_t *whose) {
  kcl_comm *c = o->comm;
  const int count = c->ranks.count, me = c->ranks.rank;
  const int64_t held = c->first[me + 1] - c->first[me];
  for (int p = 0; p < count; p++) {
    o->in[p + 1] = o->in[p];
    for (int64_t i = c->first[p]; i < c->first[p + 1]; i++) o->in[p + 1] += whose[i] == me;
  }
  sort_by_part(held, part, count, o->out);
  for (int64_t i = 0; i < held; i++) o->row[part[i]] = (int32_t)i;
  sort_by_part(c->ranks.rows, whose, count, c->first);
  c->ranks.first_row = c->first[me];
}

static int create_order(kcl_comm *c, int64_t held, kcl_order **out) {
  const int count = c->ranks.count;
  KCL_CALL(kcl_alloc(c->ctx, 1, sizeof **out, "an order of rows", (void **)out));
  kcl_order *o = *out;
  o->comm = c;
  KCL_CALL(kcl_alloc(c->ctx, count + 1, sizeof *o->out, "an order of rows", (void **)&o->out));
  KCL_CALL(kcl_alloc(c->ctx, count + 1, sizeof *o->in, "an order of rows", (void **)&o->in));
  return kcl_alloc(c->ctx, held, sizeof *o->row, "an order of rows", (void **)&o->row);
}

void kcl_order_free(kcl_order **o) {
  if (!*o) return;
  free((*o)->out), free((*o)->in), free((*o)->row), free(*o);
  *o = NULL;
}

int kcl_order_rows(kcl_comm *c, const kcl_csr *held, kcl_order **out, kcl_csr **own) {
  KCL_OWNED int32_t *part = NULL, *whose = NULL;
  KCL_OWNED double *weight = NULL;
  KCL_OWNED_BY(kcl_order_free) kcl_order *o = NULL;
  int rc = create_order(c, held->rows, &o);
  if (!rc) rc = kcl_alloc(c->ctx, held->rows, sizeof *part, "parts of rows", (void **)&part);
  if (!rc) rc = kcl_alloc(c->ctx, c->ranks.rows, sizeof *whose, "parts of rows", (void **)&whose);
  KCL_CALL(kcl_comm_agree(c, rc));
  KCL_CALL(kcl_weigh(c, &weight));
  KCL_CALL(kcl_metis_parts(c, held, weight, part));
  KCL_CALL(share_parts(c, part, whose));
  list_rows(o, part, whose);
  KCL_CALL(move_rows(o, held, whose, own));
  *out = o, o = NULL;
  return KCL_OK;
}
