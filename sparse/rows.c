/* Matrices made row by row: parts of rows are made side by side, each into a list of its own, then joined. */
#include "sparse/sparse.h"
#include <stdlib.h>
#include <string.h>

enum { GRAIN = 512 }; /* rows per part */

typedef struct making {
  kcl_row_maker *make;
  void *arg;
  kcl_rows *part; /* [(rows + GRAIN - 1) / GRAIN] */
  kcl_csr *C;
  int64_t *end; /* [rows + 1] entries of the part up to the end of row i - 1 */
  int width;
} making;

bool kcl_rows_reserve(kcl_rows *r, int64_t count) {
  int64_t room = r->room ? r->room : 16 * GRAIN;
  while (room < r->count + count) room *= 2;
  if (room == r->room || r->failed) return !r->failed;
  int32_t *col = realloc(r->col, (size_t)room * sizeof *col);
  if (col) r->col = col;
  double *val = realloc(r->val, (size_t)(room * r->width) * sizeof *val);
  if (val) r->val = val;
  r->failed = !col || !val;
  if (!r->failed) r->room = room;
  return !r->failed;
}

void kcl_rows_put(kcl_rows *r, int32_t col, const double *val) {
  if (!kcl_rows_reserve(r, 1)) return;
  r->col[r->count] = col;
  for (int q = 0; q < r->width; q++) r->val[r->count * r->width + q] = val[q];
  r->count++;
}

static void make_part(void *arg, int64_t from, int64_t to) {
  making *m = arg;
  kcl_rows *r = &m->part[from / GRAIN];
  *r = (kcl_rows){.width = m->width, .refused = -1};
  for (int64_t i = from; i < to && !r->failed; i++) {
    m->make(m->arg, r, i);
    m->end[i + 1] = r->count;
  }
  free(r->scratch), r->scratch = NULL;
  free(r->table.at), free(r->table.list);
}

static void join_part(void *arg, int64_t from, int64_t to) {
  const making *m = arg;
  const kcl_rows *r = &m->part[from / GRAIN];
  const int64_t at = r->first;
  for (int64_t i = from; i < to; i++) m->C->row_ptr[i + 1] = at + m->end[i + 1];
  if (!r->count) return;
  memcpy(m->C->col + at, r->col, (size_t)r->count * sizeof *r->col);
  memcpy((double *)m->C->val + at * r->width, r->val,
         (size_t)(r->count * r->width) * sizeof *r->val);
}

static int64_t place(const making *m, int64_t rows) {
  int64_t all = 0;
  for (int64_t p = 0; p * GRAIN < rows; p++) m->part[p].first = all, all += m->part[p].count;
  return all;
}

static bool failed(const making *m, int64_t rows) {
  bool any = false;
  for (int64_t p = 0; p * GRAIN < rows; p++) any = any || m->part[p].failed;
  return any;
}

static int64_t first_refused(const making *m, int64_t rows) {
  for (int64_t p = 0; p * GRAIN < rows; p++)
    if (m->part[p].refused >= 0) return m->part[p].refused;
  return -1;
}

int kcl_rows_make(kcl *ctx, int64_t rows, int64_t cols, kcl_type type, kcl_row_maker *make,
                  void *arg, int64_t *refused, kcl_csr **out) {
  const int64_t parts = (rows + GRAIN - 1) / GRAIN;
  making m = {.make = make, .arg = arg, .width = kcl_type_complex(type) ? 2 : 1};
  int rc;
  *out = NULL;
  KCL_TRY(kcl_alloc(ctx, parts, sizeof *m.part, "the parts of a matrix", (void **)&m.part));
  KCL_TRY(kcl_alloc(ctx, rows + 1, sizeof *m.end, "row pointers", (void **)&m.end));
  kcl_for_each(rows, GRAIN, make_part, &m);
  if (failed(&m, rows)) KCL_TRY(kcl_fail(ctx, KCL_MEMORY, "out of memory: rows of a matrix"));
  if (refused) *refused = first_refused(&m, rows);
  KCL_TRY(kcl_csr_create(ctx, rows, cols, place(&m, rows), type, &m.C));
  kcl_for_each(rows, GRAIN, join_part, &m);
  *out = m.C;
done:
  for (int64_t p = 0; m.part && p < parts; p++) free(m.part[p].col), free(m.part[p].val);
  free(m.part), free(m.end);
  return rc;
}

int kcl_sparse_wide(kcl *ctx, const kcl_csr *A, kcl_csr **owned, const kcl_csr **out) {
  const kcl_type type = kcl_type_complex(A->type) ? KCL_Z : KCL_D;
  *owned = NULL, *out = A;
  if (A->type == type) return KCL_OK;
  int rc = kcl_csr_convert(ctx, A, type, owned);
  if (!rc) *out = *owned;
  return rc;
}
