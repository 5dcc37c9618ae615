/* A row as sums by column: an open-addressed table that grows; entries are put by ascending column. */
#include "sparse/sparse.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST = 64, EMPTY = -1 };

static bool set_size(kcl_table *t, int64_t size) {
  *t = (kcl_table){.key = malloc((size_t)size * sizeof *t->key),
                   .list = malloc((size_t)size * sizeof *t->list),
                   .place = malloc((size_t)size * sizeof *t->place),
                   .sum = malloc((size_t)size * sizeof *t->sum),
                   .size = size};
  if (t->key) memset(t->key, 0xff, (size_t)size * sizeof *t->key);
  return t->key && t->list && t->place && t->sum;
}

static void free_table(kcl_table *t) {
  free(t->key), free(t->list), free(t->place), free(t->sum);
  *t = (kcl_table){.size = 0};
}

/* The place of the column, or where it belongs. */
static int64_t find(const kcl_table *t, int32_t col) {
  uint32_t at = (uint32_t)col * 2654435761u;
  int64_t i = (int64_t)(at >> 7) & (t->size - 1);
  while (t->key[i] != EMPTY && t->key[i] != col) i = (i + 1) & (t->size - 1);
  return i;
}

static void add(kcl_table *t, int32_t col, double value) {
  const int64_t i = find(t, col);
  if (t->key[i] == EMPTY) {
    t->key[i] = col, t->sum[i] = 0;
    t->list[t->count++] = col, t->place[t->used++] = (int32_t)i;
  }
  t->sum[i] += value;
}

/* At most half full. */
static bool grow(kcl_table *t) {
  kcl_table more;
  const bool fits = set_size(&more, t->size ? 2 * t->size : FIRST);
  for (int64_t i = 0; fits && i < t->count; i++)
    add(&more, t->list[i], t->sum[find(t, t->list[i])]);
  free_table(fits ? t : &more);
  if (fits) *t = more;
  return fits;
}

void kcl_row_add(kcl_rows *r, int32_t col, double value) {
  kcl_table *t = &r->table;
  if (2 * t->count >= t->size && !grow(t)) r->failed = true;
  if (!r->failed) add(t, col, value);
}

static int by_column(const void *a, const void *b) {
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

static void sort(int32_t *list, int64_t count) {
  enum { SHORT = 48 };
  if (count > SHORT) {
    qsort(list, (size_t)count, sizeof *list, by_column);
    return;
  }
  for (int64_t i = 1; i < count; i++) {
    const int32_t c = list[i];
    int64_t at = i;
    for (; at && list[at - 1] > c; at--) list[at] = list[at - 1];
    list[at] = c;
  }
}

static void put(kcl_rows *r, double scale) {
  kcl_table *t = &r->table;
  sort(t->list, t->count);
  for (int64_t i = 0; i < t->count; i++) {
    const double value = t->sum[find(t, t->list[i])] * scale;
    kcl_rows_put(r, t->list[i], &value);
  }
}

static void empty(kcl_table *t) {
  for (int64_t i = 0; i < t->used; i++) t->key[t->place[i]] = EMPTY;
  t->count = t->used = 0;
}

void kcl_row_put(kcl_rows *r) {
  if (r->failed || !r->table.count) return;
  put(r, 1);
  empty(&r->table);
}

/* Does column a come before column b? */
static bool before(const kcl_table *t, int32_t a, int32_t b) {
  const double x = fabs(t->sum[find(t, a)]), y = fabs(t->sum[find(t, b)]);
  return x > y || (x == y && a < b);
}

/* The first `most` of the list become those that come first. */
static void select_largest(kcl_table *t, int most) {
  for (int k = 0; k < most; k++) {
    int64_t best = k;
    for (int64_t i = k + 1; i < t->count; i++)
      if (before(t, t->list[i], t->list[best])) best = i;
    const int32_t c = t->list[k];
    t->list[k] = t->list[best], t->list[best] = c;
  }
}

void kcl_row_put_largest(kcl_rows *r, int most) {
  kcl_table *t = &r->table;
  double all = 0, kept = 0;
  if (r->failed || !t->count) return;
  if (t->count <= most) {
    kcl_row_put(r);
    return;
  }
  sort(t->list, t->count); /* sums in an order of their own */
  for (int64_t i = 0; i < t->count; i++) all += t->sum[find(t, t->list[i])];
  select_largest(t, most);
  t->count = most;
  sort(t->list, most);
  for (int64_t i = 0; i < most; i++) kept += t->sum[find(t, t->list[i])];
  put(r, kept != 0 ? all / kept : 1);
  empty(t);
}
