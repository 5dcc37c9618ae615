/* Statistics of a whole matrix whose rows are spread over ranks, as far as methods are chosen by them. A = A^H and A = A^T:
 * the interior of each rank is compared with itself, and every entry of a boundary is sent to the owner of its column, which
 * compares it with its own. */
#include "core/base/context.h"
#include "distributed/distributed.h"
#include <float.h>
#include <limits.h>
#include <stdlib.h>

/* An entry of the boundary on its way, with the largest modulus of its row. */
typedef struct entry {
  int64_t row, column;
  double value[2], largest;
} entry;

enum { MOST = INT_MAX / (int)sizeof(entry) }; /* of a message: MPI counts bytes by int */

typedef struct mirror {
  double hermitian, symmetric; /* entries that are not */
  double asymmetry;            /* as in kcl_stats */
} mirror;

static double largest_of_row(const kcl_csr *A, int64_t i) {
  double most = 0;
  for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
    most = fmax(most, kcl_abs(A->type, A->val, k));
  return most;
}

/* Elements per neighbour of the boundary's entries; then the entries themselves, in that order. */
static void list_entries(const kcl_domain *d, int64_t *at, entry *list) {
  const kcl_csr *A = d->rows;
  const int64_t n = A->rows, first = d->comm->first[d->comm->ranks.rank];
  for (int64_t i = 0; i < n; i++) {
    const double largest = list ? largest_of_row(A, i) : 0;
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
      const int64_t h = A->col[k] - n;
      int p = 0;
      if (h < 0) continue;
      while (h >= d->in[p + 1]) p++;
      if (!list) {
        at[p]++;
        continue;
      }
      entry *e = &list[at[p]++];
      *e = (entry){.row = first + i, .column = d->column[h], .largest = largest};
      kcl_element(A->type, A->val, k, e->value);
    }
  }
}

/* The own entry (e.column, e.row), which mirrors e. */
static void compare(const kcl_domain *d, const entry *e, mirror *m) {
  const kcl_csr *A = d->rows;
  const int64_t i = e->column - d->comm->first[d->comm->ranks.rank];
  const double eps = A->type == KCL_S || A->type == KCL_C ? FLT_EPSILON : DBL_EPSILON;
  double a[2] = {0, 0};
  bool found = false;
  for (int64_t k = A->row_ptr[i + 1] - 1; k >= A->row_ptr[i] && A->col[k] >= A->rows && !found; k--)
    if ((found = d->column[A->col[k] - A->rows] == e->row)) kcl_element(A->type, A->val, k, a);
  const double real = a[0] - e->value[0];
  const double size = fmax(e->largest, largest_of_row(A, i));
  m->symmetric += !found || a[0] != e->value[0] || a[1] != e->value[1];
  m->hermitian += !found || a[0] != e->value[0] || a[1] != -e->value[1];
  if (size > 0) m->asymmetry = fmax(m->asymmetry, hypot(real, a[1] + e->value[1]) / size / eps);
}

static int compare_boundaries(kcl_domain *d, mirror *m) {
  kcl_comm *c = d->comm;
  const int n = d->neighbours;
  int64_t *from = NULL, *to = NULL, *at = NULL;
  entry *mine = NULL, *theirs = NULL;
  MPI_Request *request = NULL;
  int rc = kcl_alloc(c->ctx, n + 1, sizeof *to, "symmetry", (void **)&to);
  if (!rc) rc = kcl_alloc(c->ctx, n + 1, sizeof *from, "symmetry", (void **)&from);
  if (!rc) rc = kcl_alloc(c->ctx, n + 1, sizeof *at, "symmetry", (void **)&at);
  if (!rc) rc = kcl_alloc(c->ctx, 2 * n, sizeof *request, "symmetry", (void **)&request);
  KCL_TRY(kcl_comm_agree(c, rc));
  list_entries(d, to + 1, NULL);
  for (int i = 0; i < n; i++) {
    MPI_Irecv(&from[i + 1], 1, MPI_INT64_T, d->rank[i], 13, c->comm, &request[i]);
    MPI_Isend(&to[i + 1], 1, MPI_INT64_T, d->rank[i], 13, c->comm, &request[n + i]);
  }
  kcl_comm_wait(2 * n, request);
  for (int i = 0; i < n; i++) from[i + 1] += from[i], to[i + 1] += to[i], at[i + 1] = to[i + 1];
  for (int i = 0; i < n; i++)
    if (from[i + 1] - from[i] > MOST || to[i + 1] - to[i] > MOST)
      rc = kcl_fail(c->ctx, KCL_USAGE, "more than %d entries couple two ranks", (int)MOST);
  if (!rc) rc = kcl_alloc(c->ctx, to[n], sizeof *mine, "symmetry", (void **)&mine);
  if (!rc) rc = kcl_alloc(c->ctx, from[n], sizeof *theirs, "symmetry", (void **)&theirs);
  KCL_TRY(kcl_comm_agree(c, rc));
  list_entries(d, at, mine);
  for (int i = 0; i < n; i++) {
    MPI_Irecv(theirs + from[i], (int)((from[i + 1] - from[i]) * (int64_t)sizeof *mine), MPI_BYTE,
              d->rank[i], 14, c->comm, &request[i]);
    MPI_Isend(mine + to[i], (int)((to[i + 1] - to[i]) * (int64_t)sizeof *mine), MPI_BYTE,
              d->rank[i], 14, c->comm, &request[n + i]);
  }
  kcl_comm_wait(2 * n, request);
  for (int64_t i = 0; i < from[n]; i++) compare(d, &theirs[i], m);
done:
  free(from), free(to), free(at), free(mine), free(theirs), free(request);
  return rc;
}

static double least(kcl_comm *c, double own) { return -kcl_comm_largest(c, -own); }

/* max / min of the diagonal's moduli, and of the rows' largest moduli: the whole matrix has only the extremes of all. */
static void ratios(kcl_domain *d, kcl_stats *s) {
  const kcl_csr *A = d->rows;
  double most[2] = {0, 0}, few[2] = {INFINITY, INFINITY};
  for (int64_t i = 0; i < A->rows; i++) {
    double diagonal = 0, row = largest_of_row(A, i);
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      if (A->col[k] == i) diagonal = kcl_abs(A->type, A->val, k);
    most[0] = fmax(most[0], diagonal), few[0] = fmin(few[0], diagonal);
    most[1] = fmax(most[1], row), few[1] = fmin(few[1], row);
  }
  for (int i = 0; i < 2; i++)
    most[i] = kcl_comm_largest(d->comm, most[i]), few[i] = least(d->comm, few[i]);
  s->diagonal_ratio = few[0] > 0 ? most[0] / few[0] : INFINITY;
  s->row_ratio = few[1] > 0 ? most[1] / few[1] : INFINITY;
}

int kcl_domain_stats(kcl_domain *d, kcl_stats *out) {
  kcl_comm *c = d->comm;
  mirror m = {0};
  int rc = kcl_comm_agree(c, kcl_csr_stats(c->ctx, d->interior, out));
  if (!rc) rc = compare_boundaries(d, &m);
  if (rc) return rc;
  out->hermitian = kcl_comm_total(c, m.hermitian + !out->hermitian) == 0;
  out->symmetric = kcl_comm_total(c, m.symmetric + !out->symmetric) == 0;
  out->asymmetry = kcl_comm_largest(c, fmax(m.asymmetry, out->asymmetry));
  out->positive_diagonal = kcl_comm_total(c, !out->positive_diagonal) == 0;
  out->norm_inf = kcl_comm_largest(c, out->norm_inf);
  out->shifted_skew = false;
  ratios(d, out);
  return KCL_OK;
}
