/* A row as sums by column: an open-addressed table that grows; entries are put by ascending column. */
#include "sparse/sparse.h"
#include <math.h>
#include <stdlib.h>

enum { FIRST = 128 };

/* At most half full. */
bool kcl_table_grow(kcl_rows *r) {
  kcl_table *old = &r->table, t = {.size = old->size ? 2 * old->size : FIRST};
  t.at = malloc((size_t)t.size * sizeof *t.at), t.list = malloc((size_t)t.size * sizeof *t.list);
  r->failed = r->failed || !t.at || !t.list;
  for (int64_t i = 0; !r->failed && i < t.size; i++) t.at[i].col = KCL_NO_COLUMN;
  for (int64_t i = 0; !r->failed && i < old->count; i++) {
    const kcl_cell s = old->at[(uint32_t)old->list[i]];
    const int64_t at = kcl_table_find(&t, s.col);
    t.at[at] = s, t.list[t.count++] = (uint64_t)(uint32_t)s.col << 32 | (uint64_t)at;
  }
  if (r->failed) {
    free(t.at), free(t.list);
    return false;
  }
  free(old->at), free(old->list);
  *old = t;
  return true;
}

static int by_column(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static void sort(uint64_t *list, int64_t count) {
  enum { SHORT = 64 };
  if (count > SHORT) {
    qsort(list, (size_t)count, sizeof *list, by_column);
    return;
  }
  for (int64_t i = 1; i < count; i++) {
    const uint64_t c = list[i];
    int64_t at = i;
    for (; at && list[at - 1] > c; at--) list[at] = list[at - 1];
    list[at] = c;
  }
}

static double sum_of(const kcl_table *t, uint64_t listed) { return t->at[(uint32_t)listed].sum; }

/* The first `count` of the list, which is sorted. */
static void put(kcl_rows *r, int64_t count, double scale) {
  const kcl_table *t = &r->table;
  if (!kcl_rows_reserve(r, count)) return;
  for (int64_t i = 0; i < count; i++) {
    r->col[r->count] = (int32_t)(t->list[i] >> 32);
    r->val[r->count++] = sum_of(t, t->list[i]) * scale;
  }
}

static void empty(kcl_table *t) {
  for (int64_t i = 0; i < t->count; i++) t->at[(uint32_t)t->list[i]].col = KCL_NO_COLUMN;
  t->count = 0;
}

void kcl_row_put(kcl_rows *r) {
  if (r->failed) return;
  sort(r->table.list, r->table.count);
  put(r, r->table.count, 1);
  empty(&r->table);
}

/* The first `most` of the sorted list become the largest; among equals the first columns. */
static void select_largest(kcl_table *t, int most) {
  for (int k = 0; k < most; k++) {
    int64_t best = k;
    double largest = fabs(sum_of(t, t->list[k]));
    for (int64_t i = k + 1; i < t->count; i++) {
      const double size = fabs(sum_of(t, t->list[i]));
      if (size > largest || (size == largest && t->list[i] < t->list[best]))
        best = i, largest = size;
    }
    const uint64_t c = t->list[k];
    t->list[k] = t->list[best], t->list[best] = c;
  }
}

void kcl_row_put_largest(kcl_rows *r, int most) {
  kcl_table *t = &r->table;
  double all = 0, kept = 0;
  if (r->failed || t->count <= most) {
    kcl_row_put(r);
    return;
  }
  sort(t->list, t->count); /* sums in an order of their own */
  for (int64_t i = 0; i < t->count; i++) all += sum_of(t, t->list[i]);
  select_largest(t, most);
  sort(t->list, most);
  for (int64_t i = 0; i < most; i++) kept += sum_of(t, t->list[i]);
  put(r, most, kept != 0 ? all / kept : 1);
  empty(t);
}
