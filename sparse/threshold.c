/* ILUT(p, tau) (Saad 1994): row by row, the fill of a row is made, small entries are left out, and the p largest are kept.
 * Compiled per scalar type; called with double and complex double (sparse/factor.c).
 */
#include "core/base/scalar.h"
#include "sparse/eliminate.h"
#include <stdlib.h>

static const double VANISHED = 1e-12; /* a pivot, of the largest modulus of its row before */

typedef struct row {
  kcl_threshold *e;
  int64_t i;
  int32_t *heap, *above; /* columns before the diagonal, the least first; those behind it */
  int64_t heaped, behind;
  double least; /* below it, entries are left out */
} row;

static double modulus(scalar a) { return (double)s_re(s_modulus(a)); }

/* ---------------------------------------------------------------- the columns of a row */

static void push(row *r, int32_t col) {
  int64_t at = r->heaped++;
  for (; at && col < r->heap[(at - 1) / 2]; at = (at - 1) / 2) r->heap[at] = r->heap[(at - 1) / 2];
  r->heap[at] = col;
}

static int32_t pop(row *r) {
  const int32_t top = r->heap[0], last = r->heap[--r->heaped];
  int64_t at = 0;
  for (int64_t child; (child = 2 * at + 1) < r->heaped; at = child) {
    if (child + 1 < r->heaped && r->heap[child + 1] < r->heap[child]) child++;
    if (r->heap[child] >= last) break;
    r->heap[at] = r->heap[child];
  }
  r->heap[at] = last;
  return top;
}

static void add(row *r, int32_t col, scalar value) {
  scalar *w = r->e->work;
  if (r->e->there[col]) {
    w[col] = s_add(w[col], value);
    return;
  }
  r->e->there[col] = true, w[col] = value;
  if (col < r->i) push(r, col);
  if (col > r->i) r->above[r->behind++] = col;
}

/* ---------------------------------------------------------------- the entries kept */

static int by_size(const void *a, const void *b) {
  const struct kcl_sized *x = a, *y = b;
  return x->size > y->size ? -1 : x->size < y->size ? 1 : (x->col > y->col) - (x->col < y->col);
}

static int by_column(const void *a, const void *b) {
  const struct kcl_sized *x = a, *y = b;
  return (x->col > y->col) - (x->col < y->col);
}

static bool reserve(kcl_growing *g, int64_t count) {
  if (count <= g->room) return true;
  const int64_t room = 2 * count + 1024;
  int32_t *col = realloc(g->col, (size_t)room * sizeof *col);
  if (col) g->col = col;
  void *val = realloc(g->val, (size_t)room * sizeof(scalar));
  if (val) g->val = val;
  if (col && val) g->room = room;
  return col && val;
}

/* The p largest of `count` columns in e->order become row i of g, times `factor` each of their values. */
static void keep(row *r, kcl_growing *g, int64_t count, const scalar *w, scalar factor) {
  kcl_threshold *e = r->e;
  const int64_t at = g->row_ptr[r->i];
  if (count > e->p) {
    qsort(e->order, (size_t)count, sizeof *e->order, by_size);
    count = e->p;
  }
  qsort(e->order, (size_t)count, sizeof *e->order, by_column);
  g->row_ptr[r->i + 1] = at + count;
  if (!reserve(g, at + count)) {
    e->failed = true;
    return;
  }
  for (int64_t k = 0; k < count; k++) {
    g->col[at + k] = e->order[k].col;
    ((scalar *)g->val)[at + k] = s_mul(factor, w[e->order[k].col]);
  }
}

/* ---------------------------------------------------------------- one row */

static void load(row *r) {
  const kcl_csr *B = r->e->B;
  const scalar *b = B->val;
  double most = 0;
  for (int64_t k = B->row_ptr[r->i]; k < B->row_ptr[r->i + 1]; k++) {
    add(r, B->col[k], b[k]);
    most = fmax(most, modulus(b[k]));
  }
  r->least = r->e->tau * most;
}

/* Row i less multiples of the rows of U before; the entries kept of L are in w and e->order; returns their number. */
static int64_t reduce(row *r) {
  kcl_threshold *e = r->e;
  const kcl_growing *U = &e->U;
  scalar *w = e->work;
  const scalar *d = e->d, *u = U->val;
  int64_t count = 0;
  while (r->heaped) {
    const int32_t k = pop(r);
    e->there[k] = false;
    if (modulus(w[k]) <= r->least) continue;
    for (int64_t m = U->row_ptr[k]; m < U->row_ptr[k + 1]; m++)
      add(r, U->col[m], s_neg(s_mul(w[k], u[m])));
    w[k] = s_mul(w[k], d[k]);
    e->order[count++] = (struct kcl_sized){modulus(w[k]), k};
  }
  return count;
}

static int64_t choose_above(row *r) {
  kcl_threshold *e = r->e;
  const scalar *w = e->work;
  int64_t count = 0;
  for (int64_t k = 0; k < r->behind; k++) {
    const double size = modulus(w[r->above[k]]);
    e->there[r->above[k]] = false;
    if (size > r->least) e->order[count++] = (struct kcl_sized){size, r->above[k]};
  }
  return count;
}

/* False: the pivot vanishes. */
static bool make_row(kcl_threshold *e, int64_t i) {
  row r = {.e = e, .i = i, .heap = e->list, .above = e->list + e->B->rows};
  scalar *w = e->work, *d = e->d;
  load(&r);
  const double most = e->tau > 0 ? r.least / e->tau : 0;
  keep(&r, &e->L, reduce(&r), w, s_make(1));
  const scalar pivot = w[i];
  e->there[i] = false;
  d[i] = s_div(s_make(1), pivot);
  if (!(modulus(pivot) > VANISHED * most && modulus(d[i]) < INFINITY)) return false;
  keep(&r, &e->U, choose_above(&r), w, d[i]);
  return true;
}

int64_t KCL_TYPED(kcl_threshold)(kcl_threshold *e) {
  for (int64_t i = 0; i < e->B->rows && !e->failed; i++)
    if (!make_row(e, i)) return i;
  return -1;
}
