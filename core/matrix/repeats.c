/* Distinct values, pairs and rows by hashing with open addressing. Every thread has a table for its own rows; the tables
 * are merged in row order, so the numbers do not depend on the number of threads. A row is first compared with the row
 * before, which makes table look-ups rare for stencils. */
#include "core/base/context.h"
#include "core/matrix/repeats.h"
#include "core/matrix/structure.h"

enum { MOST_TABLES = 16 };

/* ---------------------------------------------------------------- hashes and equality */

static uint64_t finalise_hash(
    uint64_t h) { /* the finaliser of SplitMix64, Steele, Lea & Flood 2014 */
  h = (h ^ (h >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  h = (h ^ (h >> 27)) * UINT64_C(0x94d049bb133111eb);
  return h ^ (h >> 31);
}

static inline uint64_t rotated(uint64_t h) { return h << 29 | h >> 35; }

/* The bits of a value as a number; for KCL_Z the bits of both parts combined. */
static inline uint64_t value_bits(const kcl_csr *A, int64_t k) {
  uint64_t bits[2] = {0, 0};
  switch (A->type) {
  case KCL_S: memcpy(bits, (const float *)A->val + k, sizeof(float)); break;
  case KCL_D: memcpy(bits, (const double *)A->val + k, sizeof(double)); break;
  case KCL_C: memcpy(bits, (const float *)A->val + 2 * k, 2 * sizeof(float)); break;
  case KCL_Z: memcpy(bits, (const double *)A->val + 2 * k, 2 * sizeof(double)); break;
  }
  return bits[0] ^ rotated(bits[1] * UINT64_C(0x94d049bb133111eb));
}

/* One multiplication per entry: mix makes the hash of what comes last even. */
static inline uint64_t add_entry(uint64_t h, const kcl_csr *A, int64_t i, int64_t k, bool offset) {
  const uint64_t at = offset ? (uint64_t)(A->col[k] - i) * UINT64_C(0xbf58476d1ce4e5b9) : 0;
  return rotated((h ^ value_bits(A, k) ^ at) * UINT64_C(0x9e3779b97f4a7c15));
}

static uint64_t hash_of(const kcl_csr *A, kcl_repeats_kind kind, int64_t i, int64_t k) {
  uint64_t h = 0;
  if (kind != KCL_ROWS) return finalise_hash(add_entry(h, A, i, k, kind == KCL_PAIRS));
  for (k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) h = add_entry(h, A, i, k, true);
  return finalise_hash(h);
}

static bool same_rows(const kcl_csr *A, int64_t i, int64_t j) {
  const size_t size = kcl_type_size(A->type);
  const char *val = A->val;
  return kcl_rows_moved(A, 1, i, (int)(i - j)) &&
         !memcmp(val + (size_t)A->row_ptr[i] * size, val + (size_t)A->row_ptr[j] * size,
                 (size_t)kcl_row_length(A, i) * size);
}

static bool same_repeat(const kcl_csr *A, kcl_repeats_kind kind, int64_t i, int64_t k, int64_t j,
                        int64_t l) {
  if (kind == KCL_ROWS) return same_rows(A, i, j);
  size_t size = kcl_type_size(A->type);
  const char *val = A->val;
  return !memcmp(val + (size_t)k * size, val + (size_t)l * size, size) &&
         (kind == KCL_VALUES || A->col[k] - i == A->col[l] - j);
}

/* ---------------------------------------------------------------- one table */

static int out_of_memory(kcl_context *ctx) {
  return kcl_fail(ctx, KCL_MEMORY, "out of memory: a table of repeats");
}

/* Changes the size of the table: rows and entries stay, numbers are inserted anew. */
static bool resize(kcl_repeats *r, int64_t capacity) {
  enum { SLOTS = 4 /* per item */ };
  int64_t *row = realloc(r->row, (size_t)capacity * sizeof *row);
  if (row) r->row = row;
  int64_t *entry = realloc(r->entry, (size_t)capacity * sizeof *entry);
  if (entry) r->entry = entry;
  uint64_t *hash = calloc((size_t)(SLOTS * capacity), sizeof *hash);
  int32_t *number = calloc((size_t)(SLOTS * capacity), sizeof *number);
  if (!row || !entry || !hash || !number) {
    free(hash);
    free(number);
    return false;
  }
  const int64_t mask = SLOTS * capacity - 1;
  for (int64_t old = 0; old < r->slots; old++) {
    if (!r->number[old]) continue;
    int64_t at = (int64_t)r->hash[old] & mask;
    while (number[at]) at = (at + 1) & mask;
    hash[at] = r->hash[old], number[at] = r->number[old];
  }
  free(r->hash);
  free(r->number);
  r->hash = hash;
  r->number = number;
  r->capacity = capacity;
  r->slots = SLOTS * capacity;
  return true;
}

static int allocate_repeats(kcl_context *ctx, kcl_repeats *r, const kcl_csr *A,
                            kcl_repeats_kind kind) {
  enum { FIRST_SLOTS = 256 };
  *r = (kcl_repeats){.A = A, .kind = kind};
  return resize(r, FIRST_SLOTS) ? KCL_OK : out_of_memory(ctx);
}

void kcl_repeats_free(kcl_repeats *r) {
  if (!r->shared) {
    free(r->row);
    free(r->entry);
    free(r->code);
    free(r->hash);
    free(r->number);
  }
  *r = (kcl_repeats){0};
}

/* The slot of an item, or the free slot to store it in. */
static int64_t slot_of(const kcl_repeats *r, uint64_t h, int64_t i, int64_t k) {
  int64_t at = (int64_t)(h & (uint64_t)(r->slots - 1));
  for (; r->number[at]; at = (at + 1) & (r->slots - 1)) {
    int64_t n = r->number[at] - 1;
    if (r->hash[at] == h && same_repeat(r->A, r->kind, i, k, r->row[n], r->entry[n])) break;
  }
  return at;
}

/* The number of an item, which is added if it is new. Beyond KCL_MOST_REPEATS, or without memory, items are only counted. */
static int64_t number_repeat(kcl_repeats *r, int64_t i, int64_t k) {
  uint64_t h = hash_of(r->A, r->kind, i, k);
  int64_t at = slot_of(r, h, i, k);
  if (r->number[at]) return r->number[at] - 1;
  if (r->count == KCL_MOST_REPEATS) return r->count++;
  if (r->count == r->capacity) {
    r->failed = !resize(r, 2 * r->capacity);
    if (r->failed) return r->count = KCL_MOST_REPEATS + 1;
    at = slot_of(r, h, i, k);
  }
  r->hash[at] = h;
  r->row[r->count] = i;
  r->entry[r->count] = k;
  r->number[at] = (int32_t)++r->count;
  return r->count - 1;
}

int64_t kcl_repeats_number(const kcl_repeats *r, int64_t i, int64_t k) {
  return r->number[slot_of(r, hash_of(r->A, r->kind, i, k), i, k)] - 1;
}

static void scan_row(kcl_repeats *r, int64_t i) {
  for (int64_t k = r->A->row_ptr[i]; k < r->A->row_ptr[i + 1] && kcl_repeats_fit(r); k++)
    number_repeat(r, i, k);
}

/* ---------------------------------------------------------------- one table per thread, merged */

typedef struct scanning {
  const kcl_csr *A;
  kcl_repeats *table; /* [tables], each of `per` rows */
  int tables, apart;  /* apart: of two tables that are merged now */
  int64_t per;
  uint16_t *code; /* of all rows, or NULL */
  uint16_t *map;  /* [tables][KCL_MOST_REPEATS]: from numbers of a table to numbers of the whole */
  int64_t own[MOST_TABLES]; /* items of each, before others were merged into it */
  atomic_bool full;
} scanning;

/* Adds rows [lo, hi) to a table. Ends early if any table overflows. */
static void scan(scanning *s, kcl_repeats *r, int64_t lo, int64_t hi) {
  int64_t number = 0;
  for (int64_t i = lo; i < hi && !atomic_load_explicit(&s->full, memory_order_relaxed); i++) {
    if (r->kind == KCL_ROWS) {
      bool differs = i == 0 || !same_rows(r->A, i, i - 1);
      r->runs += differs;
      if (differs || i == lo) number = number_repeat(r, i, r->A->row_ptr[i]);
      if (s->code) s->code[i] = (uint16_t)number;
    } else {
      scan_row(r, i);
    }
    if (!kcl_repeats_fit(r)) s->full = true;
  }
}

static void scan_tables(void *arg, int64_t first, int64_t end) {
  scanning *s = arg;
  for (int64_t t = first; t < end; t++)
    scan(s, &s->table[t], t * s->per,
         (t + 1) * s->per < s->A->rows ? (t + 1) * s->per : s->A->rows);
}

static void merge_repeats(kcl_repeats *into, const kcl_repeats *r) {
  into->runs += r->runs;
  for (int64_t n = 0; n < r->count && kcl_repeats_fit(into); n++)
    number_repeat(into, r->row[n], r->entry[n]);
}

static void merge_pairs(void *arg, int64_t first, int64_t end) {
  scanning *s = arg;
  for (int64_t p = first; p < end; p++) {
    const int64_t t = 2 * s->apart * p;
    if (t + s->apart < s->tables) merge_repeats(&s->table[t], &s->table[t + s->apart]);
    if (!kcl_repeats_fit(&s->table[t])) s->full = true;
  }
}

/* Merges all tables into the first, each with its neighbour, so that items keep the order of the rows. */
static void merge_tables(scanning *s) {
  for (int t = 0; t < s->tables; t++) s->own[t] = s->table[t].count;
  for (s->apart = 1; s->apart < s->tables && !s->full; s->apart *= 2)
    kcl_for_each((s->tables - 1) / (2 * s->apart) + 1, 1, merge_pairs, s);
}

static void map_tables(void *arg, int64_t first, int64_t end) {
  const scanning *s = arg;
  for (int64_t t = first; t < end; t++)
    for (int64_t n = 0; n < s->own[t]; n++)
      s->map[t * KCL_MOST_REPEATS + n] =
          (uint16_t)kcl_repeats_number(&s->table[0], s->table[t].row[n], s->table[t].entry[n]);
}

static void renumber_codes(void *arg, int64_t first, int64_t end) {
  const scanning *s = arg;
  for (int64_t i = first; i < end; i++)
    s->code[i] = s->map[i / s->per * KCL_MOST_REPEATS + s->code[i]];
}

/* Renumbers `code` from the numbers of each table to the numbers of the whole. */
static int number_rows(kcl_context *ctx, scanning *s) {
  KCL_CALL(kcl_alloc_unset(ctx, KCL_MOST_REPEATS, s->tables * sizeof *s->map, "a table of repeats",
                           (void **)&s->map));
  kcl_for_each(s->tables, 1, map_tables, s);
  kcl_for(s->A->rows, KCL_FEW, renumber_codes, s);
  free(s->map);
  return KCL_OK;
}

static int scan_all(kcl_context *ctx, const kcl_csr *A, kcl_repeats_kind kind, bool codes,
                    kcl_repeats *out) {
  kcl_repeats table[MOST_TABLES] = {0};
  uint16_t *code = NULL;
  int rc, tables = kcl_threads() < MOST_TABLES ? kcl_threads() : MOST_TABLES;
  if (A->rows < KCL_FEW_ROWS) tables = 1;
  for (int t = 0; t < tables; t++) KCL_TRY(allocate_repeats(ctx, &table[t], A, kind));
  if (codes) KCL_TRY(kcl_alloc_unset(ctx, A->rows, sizeof *code, "row codes", (void **)&code));
  scanning s = {.A = A,
                .table = table,
                .tables = tables,
                .per = (A->rows + tables - 1) / tables,
                .code = code};
  kcl_for_each(tables, 1, scan_tables, &s);
  merge_tables(&s);
  for (int t = 0; t < tables; t++)
    if (table[t].failed) KCL_TRY(out_of_memory(ctx));
  if (s.full) table[0].count = KCL_MOST_REPEATS + 1;
  if (codes && tables > 1 && !s.full) KCL_TRY(number_rows(ctx, &s));
  *out = table[0], table[0] = (kcl_repeats){0};
  out->code = code, code = NULL;
done:
  for (int t = 0; t < tables; t++) kcl_repeats_free(&table[t]);
  free(code);
  return rc;
}

int kcl_repeats_find(kcl_context *ctx, const kcl_csr *A, kcl_repeats_kind kind,
                     const kcl_repeats *from, kcl_repeats *out) {
  KCL_OWNED_BY(kcl_repeats_free) kcl_repeats r = {0};
  if (!kcl_repeats_fit(from)) return scan_all(ctx, A, kind, false, out);
  KCL_CALL(allocate_repeats(ctx, &r, A, kind));
  for (int64_t n = 0; n < from->count && kcl_repeats_fit(&r); n++)
    if (from->kind == KCL_ROWS)
      scan_row(&r, from->row[n]);
    else
      number_repeat(&r, from->row[n], from->entry[n]);
  if (r.failed) return out_of_memory(ctx);
  *out = r, r = (kcl_repeats){0};
  return KCL_OK;
}

/* ---------------------------------------------------------------- distinct rows */

bool kcl_distinct_rows_found(const kcl_distinct_rows *d, const kcl_csr *A) {
  return d && d->A == A && d->found.A;
}

bool kcl_distinct_rows_listed(const kcl_distinct_rows *d, const kcl_csr *A) {
  return d && d->A == A && d->run;
}

void kcl_distinct_rows_free(kcl_distinct_rows *d) {
  kcl_repeats_free(&d->found);
  free(d->run);
  *d = (kcl_distinct_rows){0};
}

int kcl_distinct_rows_list_runs(kcl_context *ctx, kcl_distinct_rows *d, bool *few) {
  enum { RUN_ROWS = 8 }; /* rows of a run, on average, that make it worth listing */
  kcl_repeats *r = &d->found;
  *few = d->run;
  if (*few || !r->A || !kcl_repeats_fit(r) || RUN_ROWS * r->runs > r->A->rows) return KCL_OK;
  KCL_CALL(kcl_alloc_unset(ctx, r->runs + 1, sizeof *d->run, "runs of rows", (void **)&d->run));
  int64_t n = 0;
  for (int64_t i = 0; i < r->A->rows; i++)
    if (i == 0 || r->code[i] != r->code[i - 1]) d->run[n++] = i;
  d->run[n] = r->A->rows;
  free(r->hash);
  free(r->number);
  r->hash = NULL;
  r->number = NULL;
  r->slots = 0;
  *few = true;
  return KCL_OK;
}

typedef struct renewing {
  const kcl_csr *A;
  const kcl_distinct_rows *before;
  atomic_bool differs;
} renewing;

/* The first row of a run equals the first row with its code, and the others the row before them. */
static void compare_in_runs(void *arg, int64_t first, int64_t end) {
  renewing *q = arg;
  const kcl_csr *A = q->A;
  const kcl_repeats *r = &q->before->found;
  const int64_t *run = q->before->run;
  const size_t size = kcl_type_size(A->type);
  for (int64_t n = first; n < end && !q->differs; n++) {
    const char *val = (const char *)A->val + (size_t)A->row_ptr[run[n]] * size,
               *model = (const char *)A->val + (size_t)A->row_ptr[r->row[r->code[run[n]]]] * size;
    const size_t row = (size_t)kcl_row_length(A, run[n]) * size;
    if (memcmp(val, model, row) || memcmp(val + row, val, (size_t)(run[n + 1] - run[n] - 1) * row))
      q->differs = true;
  }
}

static int copy_found(kcl_context *ctx, kcl_distinct_rows *d, const kcl_distinct_rows *before) {
  const kcl_repeats *from = &before->found;
  kcl_repeats *to = &d->found;
  const int64_t rows = d->A->rows;
  *to = (kcl_repeats){.A = d->A,
                      .kind = KCL_ROWS,
                      .count = from->count,
                      .runs = from->runs,
                      .capacity = from->count};
  KCL_CALL(kcl_alloc_unset(ctx, to->count, sizeof *to->row, "distinct rows", (void **)&to->row));
  KCL_CALL(
      kcl_alloc_unset(ctx, to->count, sizeof *to->entry, "distinct rows", (void **)&to->entry));
  KCL_CALL(kcl_alloc_unset(ctx, rows, sizeof *to->code, "row codes", (void **)&to->code));
  KCL_CALL(kcl_alloc_unset(ctx, to->runs + 1, sizeof *d->run, "runs of rows", (void **)&d->run));
  memcpy(to->row, from->row, (size_t)to->count * sizeof *to->row);
  memcpy(to->entry, from->entry, (size_t)to->count * sizeof *to->entry);
  memcpy(to->code, from->code, (size_t)rows * sizeof *to->code);
  memcpy(d->run, before->run, (size_t)(to->runs + 1) * sizeof *d->run);
  return KCL_OK;
}

int kcl_distinct_rows_renew(kcl_context *ctx, kcl_distinct_rows *d, const kcl_distinct_rows *before,
                            bool *same) {
  renewing q = {.A = d->A, .before = before};
  const int64_t runs = before->found.runs;
  kcl_for(runs, KCL_FEW_ROWS * runs / (d->A->rows + 1) + 1, compare_in_runs, &q);
  *same = !q.differs;
  return *same ? copy_found(ctx, d, before) : KCL_OK;
}

int kcl_repeats_find_rows(kcl_context *ctx, const kcl_csr *A, kcl_distinct_rows *distinct,
                          bool codes, kcl_repeats *out) {
  if (!distinct || distinct->A != A) return scan_all(ctx, A, KCL_ROWS, codes, out);
  KCL_CALL(distinct->found.A ? KCL_OK : scan_all(ctx, A, KCL_ROWS, true, &distinct->found));
  *out = distinct->found;
  out->shared = true;
  return KCL_OK;
}

int64_t kcl_repeats_entries(const kcl_repeats *r) {
  int64_t entries = 0;
  for (int64_t p = 0; p < r->count; p++) entries += kcl_row_length(r->A, r->row[p]);
  return entries;
}

void kcl_repeats_rows(const kcl_repeats *r, kcl_type type, int32_t *start, int32_t *offset,
                      void *val) {
  const kcl_csr *A = r->A;
  const size_t to = kcl_type_size(type), from = kcl_type_size(A->type);
  int64_t at = 0;
  for (int64_t p = 0; p < r->count; p++) {
    const int64_t i = r->row[p], first = A->row_ptr[i], length = kcl_row_length(A, i);
    start[p] = (int32_t)at;
    kcl_copy(type, (char *)val + (size_t)at * to, A->type,
             (const char *)A->val + (size_t)first * from, length, 1);
    for (int64_t k = 0; k < length; k++) offset[at++] = (int32_t)(A->col[first + k] - i);
  }
  start[r->count] = (int32_t)at;
}
