/* The rows of A^H, divided as A's columns are: each rank sends its entries to the owners of their columns, once. They arrive in
 * the order of ranks and, of each rank, in the order of its rows, so the rows of A^H are sorted. */
#include "distributed/distributed.h"
#include <limits.h>

/* An entry of A^H: row among the receiver's, column of the whole matrix. */
typedef struct entry {
  int32_t row, column;
  double value[2];
} entry;

/* Entries sent to each rank, or received: count, and where they begin, [ranks + 1]. */
typedef struct post {
  int *count, *at;
  entry *list;       /* [at[ranks]] */
  int64_t first_row; /* of this rank */
} post;

static int open_post(kcl_comm *c, post *p) {
  KCL_CALL(kcl_alloc(c->ctx, c->ranks.count, sizeof *p->count, "A^H", (void **)&p->count));
  return kcl_alloc(c->ctx, c->ranks.count + 1, sizeof *p->at, "A^H", (void **)&p->at);
}

static void close_post(post *p) { free(p->count), free(p->at), free(p->list); }

/* at from count, and the list. */
static int make_list(kcl_comm *c, post *p) {
  int64_t all = 0;
  for (int i = 0; i < c->ranks.count; i++) {
    p->at[i] = (int)all, all += p->count[i];
    if (all > INT_MAX)
      return kcl_fail(c->ctx, KCL_USAGE, "more than 2^31 - 1 entries of A^H on a rank");
  }
  p->at[c->ranks.count] = (int)all;
  return kcl_alloc(c->ctx, all, sizeof *p->list, "A^H", (void **)&p->list);
}

/* The last rank whose columns begin at this one or before. */
static int owner_of_column(const kcl_domain *d, int64_t column) {
  return (int)kcl_first_offset_from(d->first, 1, d->comm->ranks.count, column + 1) - 1;
}

/* Called for every entry k of a matrix whose row it is in the rank's rows, with the column's owner and number there. */
typedef void visitor(const kcl_csr *A, int64_t k, int64_t row, int to, int64_t column, post *p);

static void visit_interior(const kcl_domain *d, visitor *visit, post *p) {
  const kcl_csr *A = d->given.interior;
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      visit(A, k, i, d->comm->ranks.rank, A->col[k], p);
}

static void visit_outside(const kcl_domain *d, visitor *visit, post *p) {
  const kcl_csr *A = d->given.outside;
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
      const int64_t column = d->column[A->col[k]];
      const int to = owner_of_column(d, column);
      visit(A, k, d->row[i], to, column - d->first[to], p);
    }
}

static void count_entries(const kcl_csr *A, int64_t k, int64_t row, int to, int64_t column,
                          post *p) {
  (void)A, (void)k, (void)row, (void)column;
  p->count[to]++;
}

/* p->at moves on. */
static void list_entries_by_owner(const kcl_csr *A, int64_t k, int64_t row, int to, int64_t column,
                                  post *p) {
  entry *e = &p->list[p->at[to]++];
  *e = (entry){.row = (int32_t)column, .column = (int32_t)(p->first_row + row)};
  kcl_element(A->type, A->val, k, e->value);
  e->value[1] = -e->value[1];
}

static void fill_adjoint_rows(const kcl_domain *d, post *p) {
  p->first_row = d->comm->ranks.first_row;
  visit_interior(d, list_entries_by_owner, p), visit_outside(d, list_entries_by_owner, p);
  for (int i = 0; i < d->comm->ranks.count; i++) p->at[i] -= p->count[i];
}

static void exchange_entries(kcl_comm *c, const post *mine, const post *theirs) {
  MPI_Datatype type;
  MPI_Request request;
  MPI_Type_contiguous((int)sizeof(entry), MPI_BYTE, &type);
  MPI_Type_commit(&type);
  MPI_Ialltoallv(mine->list, mine->count, mine->at, type, theirs->list, theirs->count, theirs->at,
                 type, c->comm, &request);
  kcl_comm_wait(1, &request);
  MPI_Type_free(&type);
}

static int assemble(const kcl_domain *d, const post *p, int64_t columns, kcl_csr **out) {
  const kcl_comm *c = d->comm;
  const int64_t n = p->at[c->ranks.count];
  KCL_CALL(kcl_csr_create(c->ctx, d->columns, columns, n, d->given.interior->type, out));
  kcl_csr *AH = *out;
  for (int64_t k = 0; k < n; k++) AH->row_ptr[p->list[k].row + 1]++;
  for (int64_t j = 0; j < AH->rows; j++) AH->row_ptr[j + 1] += AH->row_ptr[j];
  for (int64_t k = 0; k < n; k++) {
    const entry *e = &p->list[k];
    const int64_t at = AH->row_ptr[e->row]++;
    AH->col[at] = e->column;
    kcl_set_element(AH->type, AH->val, at, e->value);
  }
  for (int64_t j = AH->rows; j > 0; j--) AH->row_ptr[j] = AH->row_ptr[j - 1];
  AH->row_ptr[0] = 0;
  return KCL_OK;
}

int kcl_adjoint_rows(const kcl_domain *d, kcl_csr **out) {
  kcl_comm *c = d->comm;
  KCL_OWNED_BY(close_post) post mine = {0}, theirs = {0};
  MPI_Request request;
  int rc = open_post(c, &mine);
  if (!rc) rc = open_post(c, &theirs);
  KCL_CALL(kcl_comm_agree(c, rc));
  visit_interior(d, count_entries, &mine), visit_outside(d, count_entries, &mine);
  MPI_Ialltoall(mine.count, 1, MPI_INT, theirs.count, 1, MPI_INT, c->comm, &request);
  kcl_comm_wait(1, &request);
  rc = make_list(c, &mine);
  if (!rc) rc = make_list(c, &theirs);
  KCL_CALL(kcl_comm_agree(c, rc));
  fill_adjoint_rows(d, &mine);
  exchange_entries(c, &mine, &theirs);
  return kcl_comm_agree(c, assemble(d, &theirs, c->ranks.rows, out));
}
