/* ILUT(p, tau) (Saad 1994): row by row, the fill of a row is made, small entries are left out, and the p largest are kept. Threads take
 * rows in ascending order, and wait for the row that they need next: each is computed as by one thread, so the bits are the same on any
 * number. The part of U, for which others wait, is done before the part of L.
 * Compiled per scalar type; called with double and complex double (factors/factor.c).
 */
#include "core/base/scalar.h"
#include "factors/eliminate.h"
#include <sched.h>

enum { SPINS = 200, MEMORY_BLOCK = 1 << 13 /* entries that memory is taken for at once */ };
static const double VANISHED = 1e-12; /* a pivot, of the largest modulus of its row before */

/* An entry among those that may be kept. */
typedef struct candidate {
  double size;
  int32_t col, at; /* of maker.value */
} candidate;

/* The working memory of one thread, which makes rows. */
typedef struct maker {
  kcl_threshold *e;
  int64_t i;
  double least;     /* entries of row i below it are left out */
  int32_t *place;   /* [n] 1 + where a column's entry is; 0: it has none */
  int32_t *col;     /* [n] the row's columns as they came, and their values */
  scalar *value;    /* [n] */
  int64_t count;    /* of them */
  int32_t *heap;    /* [n] columns before the diagonal, the least first */
  candidate *lower; /* [n] */
  candidate *upper; /* [n] */
  int64_t heaped;
  kcl_memory_block *memory; /* for finished rows */
} maker;

static double scalar_modulus(scalar a) { return (double)s_re(s_modulus(a)); }

/* ---------------------------------------------------------------- the columns of a row */

static void push_column(maker *m, int32_t col) {
  int64_t at = m->heaped++;
  for (; at && col < m->heap[(at - 1) / 2]; at = (at - 1) / 2) m->heap[at] = m->heap[(at - 1) / 2];
  m->heap[at] = col;
}

static int32_t pop(maker *m) {
  const int32_t top = m->heap[0], last = m->heap[--m->heaped];
  int64_t at = 0;
  for (int64_t child; (child = 2 * at + 1) < m->heaped; at = child) {
    if (child + 1 < m->heaped && m->heap[child + 1] < m->heap[child]) child++;
    if (m->heap[child] >= last) break;
    m->heap[at] = m->heap[child];
  }
  m->heap[at] = last;
  return top;
}

static void add_to_column(maker *m, int32_t col, scalar value) {
  if (m->place[col]) {
    scalar *v = m->value + m->place[col] - 1;
    *v = s_add(*v, value);
    return;
  }
  m->col[m->count] = col, m->value[m->count] = value;
  m->place[col] = (int32_t)++m->count;
  if (col < m->i) push_column(m, col);
}

static void forget_row(maker *m) {
  for (int64_t k = 0; k < m->count; k++) m->place[m->col[k]] = 0;
  m->count = m->heaped = 0;
}

/* ---------------------------------------------------------------- the entries kept */

static bool larger(const candidate *a, const candidate *b) {
  return a->size > b->size || (a->size == b->size && a->col < b->col);
}

/* The `most` largest come first, in any order (Hoare 1961). */
static void select_largest(candidate *c, int64_t count, int64_t most) {
  for (int64_t from = 0, to = count - 1; from < to;) {
    const candidate pivot = c[from + (to - from) / 2];
    int64_t i = from, j = to;
    while (i <= j) {
      while (larger(&c[i], &pivot)) i++;
      while (larger(&pivot, &c[j])) j--;
      if (i > j) break;
      const candidate other = c[i];
      c[i++] = c[j], c[j--] = other;
    }
    if (most <= j)
      to = j;
    else if (most > i)
      from = i;
    else
      break;
  }
}

static int compare_columns(const void *a, const void *b) {
  const candidate *x = a, *y = b;
  return (x->col > y->col) - (x->col < y->col);
}

/* Takes memory for `count` entries, at an address that does not change. */
static bool take_memory(maker *m, int64_t count, int32_t **col, scalar **val) {
  kcl_memory_block *b = m->memory;
  if (!b || b->used + count > b->capacity) {
    const int64_t capacity = count > MEMORY_BLOCK ? count : MEMORY_BLOCK;
    b = malloc(sizeof *b + (size_t)capacity * (sizeof **val + sizeof **col));
    if (!b) return false;
    *b = (kcl_memory_block){m->memory, 0, capacity}, m->memory = b;
  }
  *val = (scalar *)(b + 1) + b->used;
  *col = (int32_t *)((scalar *)(b + 1) + b->capacity) + b->used;
  b->used += count;
  return true;
}

/* Makes a row of the p largest candidates times `factor`. False: memory ran out. */
static bool keep_largest(maker *m, kcl_kept_row *out, candidate *c, int64_t count, scalar factor) {
  int32_t *col;
  scalar *val;
  if (count > m->e->p) select_largest(c, count, m->e->p), count = m->e->p;
  qsort(c, (size_t)count, sizeof *c, compare_columns);
  if (!take_memory(m, count, &col, &val)) return false;
  for (int64_t k = 0; k < count; k++) col[k] = c[k].col, val[k] = s_mul(factor, m->value[c[k].at]);
  *out = (kcl_kept_row){count, col, val};
  return true;
}

/* ---------------------------------------------------------------- one row */

static void load_row(maker *m) {
  const kcl_csr *B = m->e->B;
  const scalar *b = B->val;
  double most = 0;
  for (int64_t k = B->row_ptr[m->i]; k < B->row_ptr[m->i + 1]; k++) {
    add_to_column(m, B->col[k], b[k]);
    most = fmax(most, scalar_modulus(b[k]));
  }
  m->least = m->e->tau * most;
}

/* Waits for row k. False: row k will not be made, and so row i need not be. */
static bool await_row(const maker *m, int64_t k) {
  const kcl_threshold *e = m->e;
  for (int spins = 0; !atomic_load_explicit(&e->done[k], memory_order_acquire); spins++) {
    if (k >= e->bad || e->failed) return false;
    if (spins < SPINS)
      kcl_pause();
    else
      sched_yield();
  }
  return true;
}

/* Subtracts multiples of earlier rows of U from row i. Returns the number of candidates of L; -1: row i need not be made. */
static int64_t eliminate_row(maker *m) {
  const scalar *d = m->e->d;
  int64_t count = 0;
  while (m->heaped) {
    const int32_t k = pop(m), at = m->place[k] - 1;
    const scalar a = m->value[at];
    if (scalar_modulus(a) <= m->least) continue;
    if (!await_row(m, k)) return -1;
    const kcl_kept_row u = m->e->U[k];
    for (int64_t q = 0; q < u.count; q++)
      add_to_column(m, u.col[q], s_neg(s_mul(a, ((const scalar *)u.val)[q])));
    m->value[at] = s_mul(a, d[k]);
    m->lower[count++] = (candidate){scalar_modulus(m->value[at]), k, at};
  }
  return count;
}

static int64_t list_above(maker *m) {
  int64_t count = 0;
  for (int32_t k = 0; k < m->count; k++) {
    const double size = scalar_modulus(m->value[k]);
    if (m->col[k] > m->i && size > m->least) m->upper[count++] = (candidate){size, m->col[k], k};
  }
  return count;
}

static void make_row(maker *m) {
  kcl_threshold *e = m->e;
  scalar *d = e->d;
  load_row(m);
  const double most = e->tau > 0 ? m->least / e->tau : 0;
  const int64_t below = eliminate_row(m);
  if (below < 0) return;
  const scalar pivot = m->value[m->place[m->i] - 1];
  d[m->i] = s_div(s_make(1), pivot);
  if (!(scalar_modulus(pivot) > VANISHED * most && scalar_modulus(d[m->i]) < INFINITY)) {
    kcl_lower(&e->bad, m->i);
    return;
  }
  if (!keep_largest(m, &e->U[m->i], m->upper, list_above(m), d[m->i])) e->failed = true;
  if (e->failed) return;
  atomic_store_explicit(&e->done[m->i], true, memory_order_release);
  if (!keep_largest(m, &e->L[m->i], m->lower, below, s_make(1))) e->failed = true;
}

/* ---------------------------------------------------------------- all rows, by one thread of several */

static bool open_maker(maker *m) {
  const size_t n = (size_t)m->e->B->rows;
  m->place = calloc(n, sizeof *m->place);
  m->col = malloc(n * sizeof *m->col), m->value = malloc(n * sizeof *m->value);
  m->heap = malloc(n * sizeof *m->heap);
  m->lower = malloc(n * sizeof *m->lower), m->upper = malloc(n * sizeof *m->upper);
  return m->place && m->col && m->value && m->heap && m->lower && m->upper;
}

static void close_maker(maker *m) {
  free(m->place);
  free(m->col);
  free(m->value);
  free(m->heap);
  free(m->lower);
  free(m->upper);
}

void KCL_TYPED(kcl_threshold)(void *arg, const kcl_member *me) {
  kcl_threshold *e = arg;
  maker m = {.e = e};
  if (!open_maker(&m)) e->failed = true;
  while (!e->failed && (m.i = e->next++) < e->bad) make_row(&m), forget_row(&m);
  close_maker(&m);
  e->memory[me->number] = m.memory;
}
