/* The rows of one rank: the interior, whose columns are its own, and the boundary, whose columns are elements of x that other
 * ranks own, the halo. The halo is received in order of its columns, so each owner's part is consecutive. Elements are
 * exchanged while the interior is multiplied: through memory that the ranks of a host share, else by persistent requests. */
#include "core/base/context.h"
#include "distributed/distributed.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { TAG = 11, TAG_ONCE = 12, PAGE = 4096 };

/* ---------------------------------------------------------------- which columns */

static int by_number(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* Of the columns, this rank's first. */
static int64_t first_column(const kcl_domain *d) { return d->first[d->comm->ranks.rank]; }

static bool is_own(const kcl_domain *d, int64_t column) {
  return column >= first_column(d) && column < first_column(d) + d->columns;
}

/* d->column: the columns of `own` that other ranks own, ascending, each once. */
static int find_columns(kcl_domain *d, const kcl_csr *own) {
  int64_t count = 0, unique = 0;
  for (int64_t k = 0; k < own->nnz; k++) count += !is_own(d, own->col[k]);
  int rc = kcl_alloc(d->comm->ctx, count, sizeof *d->column, "the halo", (void **)&d->column);
  if (rc) return rc;
  count = 0;
  for (int64_t k = 0; k < own->nnz; k++)
    if (!is_own(d, own->col[k])) d->column[count++] = own->col[k];
  qsort(d->column, (size_t)count, sizeof *d->column, by_number);
  for (int64_t i = 0; i < count; i++)
    if (!unique || d->column[unique - 1] != d->column[i]) d->column[unique++] = d->column[i];
  d->halo.count = unique;
  return KCL_OK;
}

static int64_t place(const kcl_domain *d, int64_t column) {
  const int64_t *at = bsearch(&column, d->column, (size_t)d->halo.count, sizeof column, by_number);
  return at - d->column;
}

/* ---------------------------------------------------------------- who sends what */

/* Counts of elements received from each rank and sent to it become the lists of neighbours. */
static int list_neighbours(kcl_domain *d, const int64_t *from, const int64_t *to) {
  const int count = d->comm->ranks.count;
  kcl *ctx = d->comm->ctx;
  int n = 0, rc;
  for (int p = 0; p < count; p++) n += from[p] || to[p];
  KCL_TRY(kcl_alloc(ctx, n, sizeof *d->rank, "neighbours", (void **)&d->rank));
  KCL_TRY(kcl_alloc(ctx, n + 1, sizeof *d->in, "neighbours", (void **)&d->in));
  KCL_TRY(kcl_alloc(ctx, n + 1, sizeof *d->out, "neighbours", (void **)&d->out));
  KCL_TRY(kcl_alloc(ctx, 4 * n, sizeof(MPI_Request), "neighbours", (void **)&d->request));
  for (int p = 0; p < count; p++) {
    if (!from[p] && !to[p]) continue;
    const int i = d->neighbours++;
    d->rank[i] = p, d->in[i + 1] = d->in[i] + from[p], d->out[i + 1] = d->out[i] + to[p];
  }
  d->halo.sends = d->out[n];
  KCL_TRY(kcl_alloc(ctx, d->halo.sends, sizeof *d->send, "the halo", (void **)&d->send));
done:
  return rc;
}

/* Every rank tells the owners which columns it needs; they answer with nothing but the elements, product by product. */
static void ask_owners(kcl_domain *d, int64_t *asked) {
  kcl_comm *c = d->comm;
  const int64_t first = first_column(d);
  const int n = d->neighbours;
  for (int i = 0; i < n; i++) {
    MPI_Irecv(asked + d->out[i], (int)(d->out[i + 1] - d->out[i]), MPI_INT64_T, d->rank[i],
              TAG_ONCE, c->comm, &d->request[i]);
    MPI_Isend(d->column + d->in[i], (int)(d->in[i + 1] - d->in[i]), MPI_INT64_T, d->rank[i],
              TAG_ONCE, c->comm, &d->request[n + i]);
  }
  kcl_comm_wait(2 * n, d->request);
  for (int64_t i = 0; i < d->halo.sends; i++) d->send[i] = (int32_t)(asked[i] - first);
}

static int plan(kcl_domain *d, const kcl_csr *own) {
  kcl_comm *c = d->comm;
  const int count = c->ranks.count;
  int64_t *from = NULL, *to = NULL, *asked = NULL;
  MPI_Request request;
  int rc = find_columns(d, own);
  if (!rc) rc = kcl_alloc(c->ctx, count, sizeof *from, "the halo", (void **)&from);
  if (!rc) rc = kcl_alloc(c->ctx, count, sizeof *to, "the halo", (void **)&to);
  KCL_TRY(kcl_comm_agree(c, rc));
  for (int64_t i = 0, p = 0; i < d->halo.count; i++) {
    while (d->column[i] >= d->first[p + 1]) p++;
    from[p]++;
  }
  MPI_Ialltoall(from, 1, MPI_INT64_T, to, 1, MPI_INT64_T, c->comm, &request);
  kcl_comm_wait(1, &request);
  rc = list_neighbours(d, from, to);
  if (!rc) rc = kcl_alloc(c->ctx, d->halo.sends, sizeof *asked, "the halo", (void **)&asked);
  KCL_TRY(kcl_comm_agree(c, rc));
  ask_owners(d, asked);
done:
  free(from), free(to), free(asked);
  return rc;
}

/* ---------------------------------------------------------------- the rows, split */

static void put(kcl_csr *to, int64_t *at, int64_t column, const kcl_csr *from, int64_t k) {
  const size_t size = kcl_type_size(from->type);
  to->col[*at] = (int32_t)column;
  memcpy((char *)to->val + (size_t)*at * size, (const char *)from->val + (size_t)k * size, size);
  ++*at;
}

/* Row i has columns of other ranks. */
static bool reaches_out(const kcl_domain *d, const kcl_csr *own, int64_t i) {
  for (int64_t k = own->row_ptr[i]; k < own->row_ptr[i + 1]; k++)
    if (!is_own(d, own->col[k])) return true;
  return false;
}

static void end_boundary_row(kcl_domain *d, int64_t i, int64_t at) {
  d->row[d->outside->rows] = (int32_t)i;
  d->outside->row_ptr[++d->outside->rows] = at;
}

/* Row i of the three matrices; at: entries so far of each. */
static void split_row(kcl_domain *d, const kcl_csr *own, int64_t i, int64_t at[3]) {
  const int64_t first = first_column(d), n = d->columns, before = at[2];
  for (int64_t k = own->row_ptr[i]; k < own->row_ptr[i + 1]; k++) {
    if (!is_own(d, own->col[k])) continue;
    put(d->rows, &at[0], own->col[k] - first, own, k);
    put(d->interior, &at[1], own->col[k] - first, own, k);
  }
  for (int64_t k = own->row_ptr[i]; k < own->row_ptr[i + 1]; k++) {
    if (is_own(d, own->col[k])) continue;
    const int64_t column = place(d, own->col[k]);
    put(d->rows, &at[0], n + column, own, k);
    if (!d->inner) put(d->outside, &at[2], column, own, k);
  }
  d->rows->row_ptr[i + 1] = at[0], d->interior->row_ptr[i + 1] = at[1];
  if (at[2] != before && !d->inner) end_boundary_row(d, i, at[2]);
}

/* Row i as a whole, its entries in their order: that of inner or of the boundary. at: entries so far of each; taken [rows]:
 * 1 + the place of an own element in d->take. */
static void split_whole(kcl_domain *d, const kcl_csr *own, int64_t i, int64_t at[2],
                        const int32_t *taken) {
  const int64_t first = first_column(d);
  const bool out = reaches_out(d, own, i);
  for (int64_t k = own->row_ptr[i]; k < own->row_ptr[i + 1]; k++) {
    const int64_t j = own->col[k] - first;
    if (!out)
      put(d->inner, &at[0], j, own, k);
    else
      put(d->outside, &at[1],
          is_own(d, own->col[k]) ? taken[j] - 1 : d->halo.own + place(d, own->col[k]), own, k);
  }
  d->inner->row_ptr[i + 1] = at[0];
  if (out) end_boundary_row(d, i, at[1]);
}

/* d->take: own elements of x that rows of the boundary need. */
static int take_elements(kcl_domain *d, const kcl_csr *own, int32_t *taken) {
  const int64_t n = d->columns, first = first_column(d);
  for (int64_t i = 0; i < own->rows; i++)
    for (int64_t k = own->row_ptr[i]; reaches_out(d, own, i) && k < own->row_ptr[i + 1]; k++)
      if (is_own(d, own->col[k])) taken[own->col[k] - first] = 1;
  for (int64_t j = 0; j < n; j++)
    if (taken[j]) taken[j] = (int32_t)++d->halo.own;
  int rc = kcl_alloc(d->comm->ctx, d->halo.own, sizeof *d->take, "the halo", (void **)&d->take);
  for (int64_t j = 0; j < n && !rc; j++)
    if (taken[j]) d->take[taken[j] - 1] = (int32_t)j;
  return rc;
}

/* The same order of a row's sum wherever the matrix is divided: no row is in two matrices. */
static int split_in_order(kcl_domain *d, const kcl_csr *own, int64_t boundary, int64_t outside) {
  kcl *ctx = d->comm->ctx;
  const int64_t n = own->rows;
  int64_t at[2] = {0};
  int32_t *taken = NULL;
  int rc;
  KCL_TRY(kcl_alloc(ctx, d->columns, sizeof *taken, "the boundary", (void **)&taken));
  KCL_TRY(take_elements(d, own, taken));
  kcl_csr_free(&d->outside);
  KCL_TRY(
      kcl_csr_create(ctx, boundary, d->halo.own + d->halo.count, outside, own->type, &d->outside));
  d->outside->rows = 0;
  for (int64_t i = 0; i < n; i++) split_whole(d, own, i, at, taken);
done:
  free(taken);
  return rc;
}

static int convert(kcl *ctx, kcl_csr **A, kcl_type type) {
  kcl_csr *to = NULL;
  if ((*A)->type == type) return KCL_OK;
  int rc = kcl_csr_convert(ctx, *A, type, &to);
  if (!rc) kcl_csr_free(A), *A = to;
  return rc;
}

static int split(kcl_domain *d, const kcl_csr *own, kcl_type precision) {
  kcl *ctx = d->comm->ctx;
  const int64_t n = own->rows, columns = d->columns;
  int64_t outside = 0, boundary = 0, whole = 0, at[3] = {0}; /* whole: entries of boundary rows */
  int rc;
  for (int64_t i = 0; i < n; i++) {
    const int64_t before = outside;
    for (int64_t k = own->row_ptr[i]; k < own->row_ptr[i + 1]; k++)
      outside += !is_own(d, own->col[k]);
    boundary += outside > before;
    whole += outside > before ? own->row_ptr[i + 1] - own->row_ptr[i] : 0;
  }
  if (columns + d->halo.count > INT32_MAX)
    return kcl_fail(ctx, KCL_USAGE, "a rank's rows and its halo are more than 2^31 - 1");
  KCL_TRY(kcl_csr_create(ctx, n, columns + d->halo.count, own->nnz, own->type, &d->rows));
  KCL_TRY(kcl_csr_create(ctx, n, columns, own->nnz - outside, own->type, &d->interior));
  KCL_TRY(kcl_csr_create(ctx, boundary, d->halo.count, outside, own->type, &d->outside));
  KCL_TRY(kcl_alloc(ctx, boundary, sizeof *d->row, "the boundary", (void **)&d->row));
  d->outside->rows = 0;
  if (d->comm->ranks.block)
    KCL_TRY(kcl_csr_create(ctx, n, columns, own->nnz - whole, own->type, &d->inner));
  for (int64_t i = 0; i < n; i++) split_row(d, own, i, at);
  if (d->inner) KCL_TRY(split_in_order(d, own, boundary, whole));
  d->interior->field = d->outside->field = own->field;
  if (d->inner) d->inner->field = own->field;
  KCL_TRY(convert(ctx, &d->interior, precision));
  KCL_TRY(convert(ctx, &d->outside, precision));
  if (d->inner) KCL_TRY(convert(ctx, &d->inner, precision));
done:
  return rc;
}

/* ---------------------------------------------------------------- exchange */

/* The number of exchanges that a rank has begun, in its window. */
static _Atomic uint64_t *begun(const kcl_domain *d, int rank) {
  return (_Atomic uint64_t *)(void *)d->window.of[rank];
}

/* From the `out` of this exchange. */
static MPI_Request *requests(const kcl_domain *d) {
  return d->request + d->exchanges % 2 * 2 * (uint64_t)d->far;
}

static size_t element_size(const kcl_domain *d) {
  return kcl_type_size(d->interior->type) * (size_t)d->halo.width;
}

static bool is_near(const kcl_domain *d, int rank) { return d->window.of[rank] != NULL; }

static char *out_of(const kcl_domain *d, uint64_t exchange) {
  return (char *)d->pinned[0].data + exchange % 2 * d->slot;
}

static void begin(const kcl_halo *h) {
  kcl_domain *d = (kcl_domain *)(uintptr_t)h;
  d->exchanges++;
  if (d->far) MPI_Startall(2 * d->far, requests(d));
  if (d->window.open)
    atomic_store_explicit(begun(d, d->comm->ranks.rank), d->exchanges, memory_order_release);
}

static bool all_begun(void *arg) {
  const kcl_domain *d = arg;
  for (int i = 0; i < d->neighbours; i++)
    if (is_near(d, d->rank[i]) &&
        atomic_load_explicit(begun(d, d->rank[i]), memory_order_acquire) < d->exchanges)
      return false;
  return true;
}

/* Where neighbour i's elements are: in its window, or received. */
static const char *elements_of(const kcl_domain *d, int i) {
  const size_t size = element_size(d);
  if (!is_near(d, d->rank[i])) return (char *)d->halo.in + (size_t)(d->halo.own + d->in[i]) * size;
  return d->window.of[d->rank[i]] + PAGE + d->exchanges % 2 * (uint64_t)d->at[i][1] +
         (size_t)d->at[i][0] * size;
}

/* The other `out` may be written next: who reads it has begun this exchange, and so is done with the one before. */
static void end(const kcl_halo *h) {
  kcl_domain *d = (kcl_domain *)(uintptr_t)h;
  double start = kcl_now();
  if (d->window.open) kcl_comm_wait_until(all_begun, d);
  if (d->far) kcl_comm_wait(2 * d->far, requests(d));
  for (int i = 0, k = 0; i < d->neighbours; i++)
    if (d->in[i + 1] > d->in[i]) d->halo.received[k++].from = elements_of(d, i);
  d->halo.out = out_of(d, d->exchanges + 1);
  d->seconds += kcl_now() - start;
}

void kcl_domain_exchange(kcl_domain *d, kcl_type type, void *x) {
  const size_t size = kcl_type_size(type);
  char *own = x, *halo = own + (size_t)d->columns * size;
  const int n = d->neighbours;
  MPI_Request request[2];
  for (int i = 0; i < n;
       i++) { /* pair by pair, in the order of ranks: seldom, and without buffers of its own */
    const int64_t from = d->out[i], count = d->out[i + 1] - from;
    char *out = malloc((size_t)(count ? count : 1) * size);
    if (!out) MPI_Abort(d->comm->comm, KCL_MEMORY);
    for (int64_t j = 0; j < count; j++)
      memcpy(out + (size_t)j * size, own + (size_t)d->send[from + j] * size, size);
    MPI_Irecv(halo + (size_t)d->in[i] * size, (int)((size_t)(d->in[i + 1] - d->in[i]) * size),
              MPI_BYTE, d->rank[i], TAG_ONCE, d->comm->comm, &request[0]);
    MPI_Isend(out, (int)((size_t)count * size), MPI_BYTE, d->rank[i], TAG_ONCE, d->comm->comm,
              &request[1]);
    kcl_comm_wait(2, request);
    free(out);
  }
}

static void exchange(const kcl_halo *h, kcl_type type, void *x) {
  kcl_domain_exchange((kcl_domain *)(uintptr_t)h, type, x);
}

/* ---------------------------------------------------------------- opening and closing */

static void free_requests(kcl_domain *d) {
  for (int i = 0; d->opened && i < 4 * d->far; i++) MPI_Request_free(&d->request[i]);
}

/* With neighbours on other hosts: sends from both `out`, and as many receives. */
static void make_requests(kcl_domain *d) {
  const int size = (int)element_size(d);
  char *in = (char *)d->halo.in + d->halo.own * size;
  MPI_Request *r = d->request;
  for (int turn = 0; turn < 2; turn++, r += 2 * d->far)
    for (int i = 0, k = 0; i < d->neighbours; i++) {
      if (is_near(d, d->rank[i])) continue;
      MPI_Recv_init(in + d->in[i] * size, (int)(d->in[i + 1] - d->in[i]) * size, MPI_BYTE,
                    d->rank[i], TAG, d->comm->comm, &r[k]);
      MPI_Send_init(out_of(d, (uint64_t)turn) + d->out[i] * size,
                    (int)(d->out[i + 1] - d->out[i]) * size, MPI_BYTE, d->rank[i], TAG,
                    d->comm->comm, &r[d->far + k++]);
    }
}

/* Which neighbours own elements of the halo, and which are on other hosts. */
static int list_owners(kcl_domain *d) {
  kcl_halo *h = &d->halo;
  int rc = kcl_alloc(d->comm->ctx, d->neighbours, sizeof *h->received, "the halo",
                     (void **)&h->received);
  for (int i = 0; i < d->neighbours && !rc; i++) {
    d->far += !is_near(d, d->rank[i]);
    if (d->in[i + 1] > d->in[i])
      h->received[h->owners++] =
          (kcl_received){.first = d->in[i], .count = d->in[i + 1] - d->in[i]};
  }
  return rc;
}

/* Neighbours learn where their elements are. */
static void tell_places(kcl_domain *d, int64_t (*own)[2]) {
  MPI_Request request[2];
  for (int i = 0; i < d->neighbours; i++) {
    own[i][0] = d->out[i], own[i][1] = (int64_t)d->slot;
    MPI_Irecv(d->at[i], 2, MPI_INT64_T, d->rank[i], TAG_ONCE, d->comm->comm, &request[0]);
    MPI_Isend(own[i], 2, MPI_INT64_T, d->rank[i], TAG_ONCE, d->comm->comm, &request[1]);
    kcl_comm_wait(2, request);
  }
}

/* The host's memory for elements that are sent: in the window, else of this rank alone. */
static int open_out(kcl_domain *d) {
  const size_t bytes = (size_t)d->halo.sends * element_size(d);
  int64_t(*own)[2] = NULL;
  kcl_comm *c = d->comm;
  int rc;
  d->slot = (bytes + PAGE - 1) / PAGE * PAGE;
  KCL_TRY(kcl_window_open(c, PAGE + 2 * d->slot, &d->window));
  if (!d->window.open) {
    d->slot = 0;
    rc = kcl_pin(c->ctx, d->halo.sends, element_size(d), "the halo", &d->pinned[0]);
    goto done;
  }
  kcl_register(c->ctx, d->window.of[c->ranks.rank] + PAGE, 2 * d->slot, &d->pinned[0]);
  rc = kcl_alloc(c->ctx, d->neighbours, sizeof *own, "the halo", (void **)&own);
  if (!rc) rc = kcl_alloc(c->ctx, d->neighbours, sizeof *d->at, "the halo", (void **)&d->at);
  if (!rc) rc = kcl_alloc(c->ctx, d->neighbours, sizeof *d->lent, "the halo", (void **)&d->lent);
  KCL_TRY(kcl_comm_agree(c, rc));
  tell_places(d, own);
  for (int i = 0; i < d->neighbours; i++)
    if (is_near(d, d->rank[i]))
      kcl_register(c->ctx, d->window.of[d->rank[i]] + PAGE, 2 * (size_t)d->at[i][1], &d->lent[i]);
done:
  free(own);
  return rc;
}

/* csr-scalar has the rows one after another on every device. */
static int open_boundary(kcl_domain *d) {
  kcl_halo *h = &d->halo;
  const kcl_type type = d->interior->type;
  const size_t size = kcl_type_size(type);
  const kcl_format *f;
  kcl *ctx = d->comm->ctx;
  int rc;
  KCL_TRY(list_owners(d));
  KCL_TRY(kcl_pin(ctx, h->own + h->count, element_size(d), "the halo", &d->pinned[1]));
  h->out = out_of(d, 1), h->in = d->pinned[1].data;
  KCL_TRY(kcl_alloc(ctx, h->width > 1 ? h->own + h->count : 0, size, "the halo", &h->one));
  KCL_TRY(kcl_alloc(ctx, d->outside->rows, size, "the boundary", &h->sum));
  KCL_TRY(kcl_format_find(ctx, "csr-scalar", type, &f));
  if (d->outside->rows) rc = kcl_matrix_build(ctx, f, d->outside, &h->boundary);
done:
  return rc;
}

int kcl_domain_open(kcl_domain *d, int width) {
  if (d->opened) return KCL_OK;
  d->halo.width = width;
  int rc = kcl_comm_agree(d->comm, open_out(d));
  if (rc || (rc = kcl_comm_agree(d->comm, open_boundary(d)))) return rc;
  make_requests(d);
  d->opened = true;
  return KCL_OK;
}

void kcl_domain_narrow(kcl_domain *d, int width) {
  if (!d || !d->opened || width == d->halo.width) return;
  free_requests(d);
  d->halo.width = width;
  make_requests(d);
}

int kcl_domain_create(kcl_comm *c, const kcl_csr *own, const int64_t *first, kcl_type precision,
                      kcl_domain **out) {
  kcl_domain *d = NULL;
  int rc = kcl_alloc(c->ctx, 1, sizeof *d, "the rows of a rank", (void **)&d);
  KCL_TRY(kcl_comm_agree(c, rc));
  d->comm = c, d->first = first;
  d->columns = first[c->ranks.rank + 1] - first[c->ranks.rank];
  KCL_TRY(plan(d, own));
  KCL_TRY(kcl_comm_agree(c, split(d, own, precision)));
  d->halo.ranks = &c->ranks, d->halo.send = d->send, d->halo.row = d->row, d->halo.take = d->take;
  d->halo.begin = begin, d->halo.end = end, d->halo.exchange = exchange;
  d->halo.outside = d->outside;
  *out = d, d = NULL;
done:
  kcl_domain_free(&d);
  return rc;
}

void kcl_domain_free(kcl_domain **d) {
  kcl_domain *o = *d;
  *d = NULL;
  if (!o) return;
  free_requests(o);
  kcl_matrix_free(&o->halo.boundary);
  kcl_csr_free(&o->rows), kcl_csr_free(&o->interior), kcl_csr_free(&o->outside);
  kcl_csr_free(&o->inner);
  if (o->window.open)
    kcl_unregister(o->comm->ctx, &o->pinned[0]);
  else
    kcl_unpin(o->comm->ctx, &o->pinned[0]);
  kcl_unpin(o->comm->ctx, &o->pinned[1]);
  for (int i = 0; o->lent && i < o->neighbours; i++) kcl_unregister(o->comm->ctx, &o->lent[i]);
  kcl_window_close(&o->window);
  free(o->at), free(o->lent), free(o->halo.received);
  free(o->halo.one), free(o->halo.sum), free(o->take);
  free(o->send), free(o->row), free(o->column), free(o->rank), free(o->in), free(o->out);
  free(o->request), free(o);
}
