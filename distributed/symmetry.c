/* Statistics of a whole matrix whose rows are spread over ranks, as far as methods are chosen by them. A = A^H and A = A^T:
 * the interior of each rank is compared with itself, and every entry of a boundary is sent to the owner of its column, which
 * compares it with its own. */
#include "core/matrix/structure.h"
#include "distributed/distributed.h"
#include <limits.h>

/* An entry of the boundary on its way, with the largest modulus of its row. */
typedef struct entry {
  int64_t row, column;
  double value[2], largest;
} entry;

enum { MOST = INT_MAX / (int)sizeof(entry) }; /* of a message: MPI counts bytes by int */

typedef struct mirror {
  double hermitian, symmetric, skew; /* entries that are not */
  double asymmetry;                  /* as in kcl_stats */
} mirror;

static double largest_of_row(const kcl_csr *A, int64_t i) {
  double most = 0;
  for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
    most = fmax(most, kcl_abs(A->type, A->val, k));
  return most;
}

/* The largest |a_ij| of row b of the boundary, own columns included. */
static double largest_of_both(const kcl_domain *d, const kcl_split *A, int64_t b) {
  return fmax(largest_of_row(A->interior, d->row[b]), largest_of_row(A->outside, b));
}

/* Elements per neighbour of the boundary's entries; then the entries themselves, in that order. */
static void list_entries(const kcl_domain *d, const kcl_split *s, int64_t *at, entry *list) {
  const kcl_csr *A = s->outside;
  const int64_t first = d->comm->ranks.first_row;
  for (int64_t b = 0; b < A->rows; b++) {
    const double largest = list ? largest_of_both(d, s, b) : 0;
    int p = 0;
    for (int64_t k = A->row_ptr[b]; k < A->row_ptr[b + 1]; k++) {
      const int64_t h = A->col[k];
      while (h >= d->in[p + 1]) p++;
      if (!list) {
        at[p]++;
        continue;
      }
      entry *e = &list[at[p]++];
      *e = (entry){.row = first + d->row[b], .column = d->column[h], .largest = largest};
      kcl_element(A->type, A->val, k, e->value);
    }
  }
}

static int by_row(const void *a, const void *b) {
  return *(const int32_t *)a - *(const int32_t *)b; /* neither is negative */
}

/* The own entry (e.column, e.row), which mirrors e. */
static void compare_with_mirror(const kcl_domain *d, const kcl_split *s, const entry *e,
                                mirror *m) {
  const kcl_csr *A = s->outside;
  const int32_t i = (int32_t)(e->column - d->comm->ranks.first_row);
  const int32_t *row = bsearch(&i, d->row, (size_t)A->rows, sizeof i, by_row);
  const double eps = A->type == KCL_S || A->type == KCL_C ? FLT_EPSILON : DBL_EPSILON;
  double a[2] = {0, 0}, own = row ? 0 : largest_of_row(s->interior, i);
  bool found = false;
  if (row) {
    const int64_t b = row - d->row;
    own = largest_of_both(d, s, b);
    for (int64_t k = A->row_ptr[b]; k < A->row_ptr[b + 1] && !found; k++)
      if ((found = d->column[A->col[k]] == e->row)) kcl_element(A->type, A->val, k, a);
  }
  const double real = a[0] - e->value[0];
  const double size = fmax(e->largest, own);
  m->symmetric += !found || a[0] != e->value[0] || a[1] != e->value[1];
  m->hermitian += !found || a[0] != e->value[0] || a[1] != -e->value[1];
  m->skew += !found || a[0] != -e->value[0] || a[1] != e->value[1];
  if (size > 0) m->asymmetry = fmax(m->asymmetry, hypot(real, a[1] + e->value[1]) / size / eps);
}

static int compare_boundaries(const kcl_domain *d, const kcl_split *s, mirror *m) {
  kcl_comm *c = d->comm;
  const int n = d->neighbours;
  KCL_OWNED int64_t *from = NULL, *to = NULL, *at = NULL;
  KCL_OWNED entry *mine = NULL, *theirs = NULL;
  KCL_OWNED MPI_Request *request = NULL;
  int rc = kcl_alloc(c->ctx, n + 1, sizeof *to, "symmetry", (void **)&to);
  if (!rc) rc = kcl_alloc(c->ctx, n + 1, sizeof *from, "symmetry", (void **)&from);
  if (!rc) rc = kcl_alloc(c->ctx, n + 1, sizeof *at, "symmetry", (void **)&at);
  if (!rc) rc = kcl_alloc(c->ctx, 2 * n, sizeof *request, "symmetry", (void **)&request);
  KCL_CALL(kcl_comm_agree(c, rc));
  list_entries(d, s, to + 1, NULL);
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
  KCL_CALL(kcl_comm_agree(c, rc));
  list_entries(d, s, at, mine);
  for (int i = 0; i < n; i++) {
    MPI_Irecv(theirs + from[i], (int)((from[i + 1] - from[i]) * (int64_t)sizeof *mine), MPI_BYTE,
              d->rank[i], 14, c->comm, &request[i]);
    MPI_Isend(mine + to[i], (int)((to[i + 1] - to[i]) * (int64_t)sizeof *mine), MPI_BYTE,
              d->rank[i], 14, c->comm, &request[n + i]);
  }
  kcl_comm_wait(2 * n, request);
  for (int64_t i = 0; i < from[n]; i++) compare_with_mirror(d, s, &theirs[i], m);
  return KCL_OK;
}

static double least_of_ranks(kcl_comm *c, double own) { return -kcl_comm_largest(c, -own); }

/* Moduli of the diagonal [0] and the largest of rows [1], as the bits of doubles: these ascend as the doubles do. */
typedef struct extremes {
  const kcl_domain *d;
  const kcl_split *A;
  _Atomic int64_t most[2], least[2];
  _Atomic int64_t zero_rows, first_zero_row;
} extremes;

static void find_extremes(void *arg, int64_t from, int64_t to) {
  extremes *e = arg;
  const kcl_csr *A = e->A->interior, *outside = e->A->outside;
  double most[2] = {0, 0}, least[2] = {INFINITY, INFINITY};
  for (int64_t i = from, b = kcl_first_from(e->d->row, 0, outside->rows, from); i < to; i++) {
    double diagonal = 0, row = largest_of_row(A, i);
    if (b < outside->rows && e->d->row[b] == i) row = fmax(row, largest_of_row(outside, b++));
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      if (A->col[k] == i) diagonal = kcl_abs(A->type, A->val, k);
    most[0] = fmax(most[0], diagonal), least[0] = fmin(least[0], diagonal);
    most[1] = fmax(most[1], row), least[1] = fmin(least[1], row);
    if (row != 0) continue;
    e->zero_rows++;
    kcl_lower(&e->first_zero_row, i);
  }
  for (int i = 0; i < 2; i++)
    kcl_raise(&e->most[i], kcl_bits(most[i])), kcl_lower(&e->least[i], kcl_bits(least[i]));
}

static double ratio(kcl_comm *c, int64_t most, int64_t few) {
  const double upper = kcl_comm_largest(c, kcl_of_bits(most)),
               lower = least_of_ranks(c, kcl_of_bits(few));
  return lower > 0 ? upper / lower : INFINITY;
}

/* max / min of the diagonal's moduli, and of the rows' largest moduli: the whole matrix has only the extremes of all. */
static void find_ratios(const kcl_domain *d, const kcl_split *both, kcl_stats *s) {
  const int64_t none = kcl_bits(INFINITY);
  extremes e = {.d = d, .A = both, .least = {none, none}, .first_zero_row = INT64_MAX};
  kcl_for(both->interior->rows, KCL_FEW_ROWS, find_extremes, &e);
  s->diagonal_ratio = ratio(d->comm, e.most[0], e.least[0]);
  s->row_ratio = ratio(d->comm, e.most[1], e.least[1]);
  s->zero_rows = e.zero_rows, s->first_zero_row = e.zero_rows ? e.first_zero_row : -1; /* own */
}

/* The c of c I + S, where the interior is that. */
static double first_diagonal(const kcl_csr *A) {
  double z[2] = {0, 0};
  if (A->row_ptr[1] > 0 && A->col[0] == 0) kcl_element(A->type, A->val, 0, z);
  return z[0];
}

int kcl_domain_stats(const kcl_domain *d, const kcl_split *A, kcl_stats *out) {
  kcl_comm *c = d->comm;
  mirror m = {0};
  KCL_CALL(kcl_comm_agree(c, kcl_csr_stats(c->ctx, A->interior, out)));
  if (c->ranks.rows == c->ranks.columns) KCL_CALL(compare_boundaries(d, A, &m));
  out->hermitian = kcl_comm_total(c, m.hermitian + !out->hermitian) == 0;
  out->symmetric = kcl_comm_total(c, m.symmetric + !out->symmetric) == 0;
  out->asymmetry = kcl_comm_largest(c, fmax(m.asymmetry, out->asymmetry));
  out->positive_diagonal = kcl_comm_total(c, !out->positive_diagonal) == 0;
  out->norm_inf = kcl_comm_largest(c, out->norm_inf);
  m.skew += !out->shifted_skew + kcl_comm_differs(c, first_diagonal(A->interior));
  out->shifted_skew = kcl_comm_total(c, m.skew) == 0;
  find_ratios(d, A, out);
  const kcl_symmetry s = A->interior->symmetry;
  const bool declared = s && !(s == KCL_SKEW && kcl_type_complex(A->interior->type));
  return kcl_comm_agree(c, declared ? kcl_check_declared(c->ctx, A->interior, out) : KCL_OK);
}
