/* See offset_runs.h. */
#include "core/matrix/offset_runs.h"
#include "core/matrix/structure.h"

enum { LEAST_ROWS = 8 }; /* of a run, on average */

typedef struct run_search {
  const kcl_csr *A;
  unsigned char *begins; /* [rows] does a run begin there? */
} run_search;

/* The number of runs that begin in these rows. */
static double mark_beginnings(const void *arg, int64_t from, int64_t to) {
  const run_search *s = arg;
  int64_t count = 0;
  for (int64_t i = from; i < to; i++)
    count += s->begins[i] = i == 0 || !kcl_rows_moved(s->A, 1, i, 1);
  return (double)count;
}

static int list_beginnings(kcl_context *ctx, const run_search *s, int64_t count,
                           kcl_offset_runs *r) {
  const int64_t rows = s->A->rows;
  KCL_CALL(kcl_alloc_unset(ctx, count + 1, sizeof *r->first, "runs of rows", (void **)&r->first));
  for (int64_t i = 0; i < rows; i++)
    if (s->begins[i]) r->first[r->count++] = i;
  r->first[r->count] = rows;
  return KCL_OK;
}

int kcl_offset_runs_find(kcl_context *ctx, const kcl_csr *A, kcl_offset_runs **out) {
  KCL_OWNED unsigned char *begins = NULL;
  KCL_OWNED_BY(kcl_offset_runs_free) kcl_offset_runs *r = NULL;
  *out = NULL;
  KCL_CALL(kcl_alloc(ctx, 1, sizeof *r, "runs of rows", (void **)&r));
  KCL_CALL(kcl_alloc_unset(ctx, A->rows, 1, "runs of rows", (void **)&begins));
  const run_search s = {A, begins};
  const int64_t count = (int64_t)kcl_sum(A->rows, KCL_FEW_ROWS, mark_beginnings, &s);
  if (count <= A->rows / LEAST_ROWS) KCL_CALL(list_beginnings(ctx, &s, count, r));
  *out = r, r = NULL;
  return KCL_OK;
}

kcl_offset_runs *kcl_offset_runs_share(kcl_offset_runs *r) {
  if (r) r->sharers++;
  return r;
}

void kcl_offset_runs_free(kcl_offset_runs **r) {
  kcl_offset_runs *runs = *r;
  *r = NULL;
  if (!runs || runs->sharers-- > 0) return;
  free(runs->first), free(runs);
}

int64_t kcl_offset_run_of(const kcl_offset_runs *r, int64_t i) {
  return kcl_first_offset_from(r->first, 0, r->count, i + 1) - 1;
}
