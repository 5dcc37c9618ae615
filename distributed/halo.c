/* The halo of a rank's rows (split.c): elements of x that other ranks own, received in the order of their numbers, so that each
 * owner's part is consecutive. They are exchanged while the interior is multiplied: through memory that the ranks of a host
 * share, else by persistent requests. */
#include "distributed/distributed.h"

enum { TAG = 11, TAG_ONCE = 12, PAGE = 4096 };

/* ---------------------------------------------------------------- who sends what */

/* Counts of elements received from each rank and sent to it become the lists of neighbours. */
static int list_neighbours(kcl_domain *d, const int64_t *from, const int64_t *to) {
  const int count = d->comm->ranks.count;
  kcl_context *ctx = d->comm->ctx;
  int n = 0;
  for (int p = 0; p < count; p++) n += from[p] || to[p];
  KCL_CALL(kcl_alloc(ctx, n, sizeof *d->rank, "neighbours", (void **)&d->rank));
  KCL_CALL(kcl_alloc(ctx, n + 1, sizeof *d->in, "neighbours", (void **)&d->in));
  KCL_CALL(kcl_alloc(ctx, n + 1, sizeof *d->out, "neighbours", (void **)&d->out));
  KCL_CALL(kcl_alloc(ctx, 4 * n, sizeof(MPI_Request), "neighbours", (void **)&d->request));
  for (int p = 0; p < count; p++) {
    if (!from[p] && !to[p]) continue;
    const int i = d->neighbours++;
    d->rank[i] = p, d->in[i + 1] = d->in[i] + from[p], d->out[i + 1] = d->out[i] + to[p];
  }
  d->halo.sends = d->out[n];
  return kcl_alloc(ctx, d->halo.sends, sizeof *d->send, "the halo", (void **)&d->send);
}

/* Every rank tells the owners which columns it needs; they answer with nothing but the elements, product by product. */
static void ask_owners(kcl_domain *d, int64_t *asked) {
  kcl_comm *c = d->comm;
  const int64_t first = d->first[c->ranks.rank];
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
  KCL_OWNED int64_t *from = NULL, *to = NULL, *asked = NULL;
  MPI_Request request;
  int rc = kcl_split_columns(d, own);
  if (!rc) rc = kcl_alloc(c->ctx, count, sizeof *from, "the halo", (void **)&from);
  if (!rc) rc = kcl_alloc(c->ctx, count, sizeof *to, "the halo", (void **)&to);
  KCL_CALL(kcl_comm_agree(c, rc));
  for (int64_t i = 0, p = 0; i < d->halo.count; i++) {
    while (d->column[i] >= d->first[p + 1]) p++;
    from[p]++;
  }
  MPI_Ialltoall(from, 1, MPI_INT64_T, to, 1, MPI_INT64_T, c->comm, &request);
  kcl_comm_wait(1, &request);
  rc = list_neighbours(d, from, to);
  if (!rc) rc = kcl_alloc(c->ctx, d->halo.sends, sizeof *asked, "the halo", (void **)&asked);
  KCL_CALL(kcl_comm_agree(c, rc));
  ask_owners(d, asked);
  return KCL_OK;
}

/* ---------------------------------------------------------------- exchange */

/* The number of exchanges that a rank has begun, in its window. */
static _Atomic uint64_t *begun(const kcl_domain *d, int rank) {
  return (_Atomic uint64_t *)(void *)d->window.of[rank];
}

/* From the `out` of this exchange. */
static MPI_Request *halo_requests(const kcl_domain *d) {
  return d->request + d->exchanges % 2 * 2 * (uint64_t)d->far;
}

static size_t element_size(const kcl_domain *d) {
  return kcl_type_size(d->device.interior->type) * (size_t)d->halo.width;
}

static bool is_near(const kcl_domain *d, int rank) { return d->window.of[rank] != NULL; }

static char *out_of(const kcl_domain *d, uint64_t exchange) {
  return (char *)d->pinned[0].data + exchange % 2 * d->slot;
}

static void begin_exchange(const kcl_halo *h) {
  kcl_domain *d = (kcl_domain *)(uintptr_t)h;
  d->exchanges++;
  if (d->far) MPI_Startall(2 * d->far, halo_requests(d));
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
static void end_exchange(const kcl_halo *h) {
  kcl_domain *d = (kcl_domain *)(uintptr_t)h;
  double start = kcl_now();
  if (d->window.open) kcl_comm_wait_until(all_begun, d);
  if (d->far) kcl_comm_wait(2 * d->far, halo_requests(d));
  for (int i = 0, k = 0; i < d->neighbours; i++)
    if (d->in[i + 1] > d->in[i]) d->halo.received[k++].from = elements_of(d, i);
  d->halo.out = out_of(d, d->exchanges + 1);
  d->seconds += kcl_now() - start;
}

void kcl_domain_exchange(kcl_domain *d, size_t size, void *x) {
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

static void exchange_elements(const kcl_halo *h, size_t size, void *x) {
  kcl_domain_exchange((kcl_domain *)(uintptr_t)h, size, x);
}

/* The other way: elements of the halo to their owners. */
static void largest_over_owners(const kcl_halo *h, int *x) {
  kcl_domain *d = (kcl_domain *)(uintptr_t)h;
  for (int i = 0; i < d->neighbours; i++) {
    const int64_t from = d->out[i], count = d->out[i + 1] - from;
    int *theirs = malloc((size_t)(count ? count : 1) * sizeof *theirs);
    if (!theirs) MPI_Abort(d->comm->comm, KCL_MEMORY);
    kcl_comm_exchange(d->comm, d->rank[i], x + d->columns + d->in[i],
                      (size_t)(d->in[i + 1] - d->in[i]) * sizeof *x, d->rank[i], theirs,
                      (size_t)count * sizeof *theirs);
    for (int64_t j = 0; j < count; j++) {
      int *own = &x[d->send[from + j]];
      *own = theirs[j] > *own ? theirs[j] : *own;
    }
    free(theirs);
  }
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
  KCL_OWNED int64_t(*own)[2] = NULL;
  kcl_comm *c = d->comm;
  d->slot = (bytes + PAGE - 1) / PAGE * PAGE;
  KCL_CALL(kcl_window_open(c, PAGE + 2 * d->slot, &d->window));
  if (!d->window.open) {
    d->slot = 0;
    return kcl_pin(c->ctx, d->halo.sends, element_size(d), "the halo", &d->pinned[0]);
  }
  kcl_register(c->ctx, d->window.of[c->ranks.rank] + PAGE, 2 * d->slot, &d->pinned[0]);
  int rc = kcl_alloc(c->ctx, d->neighbours, sizeof *own, "the halo", (void **)&own);
  if (!rc) rc = kcl_alloc(c->ctx, d->neighbours, sizeof *d->at, "the halo", (void **)&d->at);
  if (!rc) rc = kcl_alloc(c->ctx, d->neighbours, sizeof *d->lent, "the halo", (void **)&d->lent);
  KCL_CALL(kcl_comm_agree(c, rc));
  tell_places(d, own);
  for (int i = 0; i < d->neighbours; i++)
    if (is_near(d, d->rank[i]))
      kcl_register(c->ctx, d->window.of[d->rank[i]] + PAGE, 2 * (size_t)d->at[i][1], &d->lent[i]);
  return KCL_OK;
}

/* csr-scalar has the rows one after another on every device. */
static int open_boundary(kcl_domain *d) {
  kcl_halo *h = &d->halo;
  const kcl_csr *rows = d->in_order.outside ? d->in_order.outside : d->device.outside;
  const kcl_type type = rows->type;
  const size_t size = kcl_type_size(type);
  const kcl_format *f;
  kcl_context *ctx = d->comm->ctx;
  KCL_CALL(list_owners(d));
  KCL_CALL(kcl_pin(ctx, h->own + h->count, element_size(d), "the halo", &d->pinned[1]));
  h->out = out_of(d, 1), h->in = d->pinned[1].data;
  KCL_CALL(kcl_alloc(ctx, h->width > 1 ? h->own + h->count : 0, size, "the halo", &h->one));
  KCL_CALL(kcl_alloc(ctx, rows->rows, size, "the boundary", &h->sum));
  KCL_CALL(kcl_format_find(ctx, "csr-scalar", type, &f));
  return rows->rows ? kcl_stored_build(ctx, f, rows, &h->boundary) : KCL_OK;
}

int kcl_domain_open(kcl_domain *d, int width) {
  if (d->opened) return KCL_OK;
  d->halo.width = width;
  KCL_CALL(kcl_comm_agree(d->comm, open_out(d)));
  KCL_CALL(kcl_comm_agree(d->comm, open_boundary(d)));
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

int kcl_domain_create(kcl_comm *c, const kcl_csr *own, kcl_csr **taken, const int64_t *first,
                      kcl_domain **out) {
  KCL_OWNED_BY(kcl_domain_free) kcl_domain *d = NULL;
  int rc = kcl_alloc(c->ctx, 1, sizeof *d, "the rows of a rank", (void **)&d);
  KCL_CALL(kcl_comm_agree(c, rc));
  d->comm = c, d->first = first;
  d->columns = first[c->ranks.rank + 1] - first[c->ranks.rank];
  KCL_CALL(plan(d, own));
  KCL_CALL(kcl_comm_agree(c, kcl_split_rows(d, own, taken)));
  d->halo.ranks = &c->ranks, d->halo.send = d->send, d->halo.row = d->row;
  d->halo.begin = begin_exchange, d->halo.end = end_exchange, d->halo.exchange = exchange_elements;
  d->halo.largest = largest_over_owners, d->halo.outside = d->halo.given = d->given.outside;
  *out = d, d = NULL;
  return KCL_OK;
}

void kcl_domain_free(kcl_domain **d) {
  kcl_domain *o = *d;
  *d = NULL;
  if (!o) return;
  free_requests(o);
  kcl_stored_free(&o->halo.boundary);
  kcl_split_free(o);
  if (o->window.open)
    kcl_unregister(o->comm->ctx, &o->pinned[0]);
  else
    kcl_unpin(o->comm->ctx, &o->pinned[0]);
  kcl_unpin(o->comm->ctx, &o->pinned[1]);
  for (int i = 0; o->lent && i < o->neighbours; i++) kcl_unregister(o->comm->ctx, &o->lent[i]);
  kcl_window_close(o->comm, &o->window);
  free(o->at), free(o->lent), free(o->halo.received);
  free(o->halo.one), free(o->halo.sum), free(o->take);
  free(o->send), free(o->row), free(o->column), free(o->rank), free(o->in), free(o->out);
  free(o->request), free(o);
}
