/* Elimination by several threads: row i needs the rows of its columns before the diagonal, so rows are ordered in waves, the levels of the part
 * before the diagonal (Anderson & Saad 1989), and the rows of a wave are divided among the threads. Each row is
 * computed as in ascending order, so the bits are the same on any number of threads. */
#include "core/matrix/level_sets.h"
#include "factors/eliminate.h"

/* Threads that save no more than ordering takes; entries of a wave, in the mean, that are worth the threads. */
enum { FEW_ROWS = 2, WIDE_WAVE = 8192 };

typedef struct waves {
  const kcl_elimination *e;
  kcl_eliminating_row *eliminate;
  int64_t count, now;  /* waves; the one that is computed */
  int64_t *start;      /* [count + 1] of each in `row` */
  int32_t *row;        /* [n] ascending in a wave */
  int threads;         /* of which each has a place */
  int32_t *place;      /* [threads, n] zero between rows */
  atomic_bool *taken;  /* [threads] */
  _Atomic int64_t bad; /* the first row whose pivot vanishes, or n */
} waves;

static void free_waves(waves *w) { free(w->start), free(w->row), free(w->place), free(w->taken); }

/* No waves, threads = 1: all rows in ascending order. */
static int order_waves(kcl_context *ctx, waves *w) {
  const int64_t n = w->e->B->rows;
  KCL_OWNED int32_t *wave = NULL;
  w->threads = kcl_threads() > FEW_ROWS ? kcl_threads() : 1;
  if (w->threads == 1) return KCL_OK;
  KCL_CALL(kcl_alloc_unset(ctx, n, sizeof *wave, "waves", (void **)&wave));
  w->count = kcl_level_numbers(w->e->B, w->e->diagonal, false, wave);
  if (w->count * WIDE_WAVE > w->e->B->nnz) {
    w->threads = 1;
    return KCL_OK;
  }
  KCL_CALL(kcl_alloc(ctx, w->count + 1, sizeof *w->start, "waves", (void **)&w->start));
  KCL_CALL(kcl_alloc_unset(ctx, n, sizeof *w->row, "waves", (void **)&w->row));
  kcl_sparse_members(n, wave, w->count, w->start, w->row);
  return KCL_OK;
}

static void eliminate_one(waves *w, int32_t *place, int64_t i) {
  if (!w->eliminate(w->e, place, i)) kcl_lower(&w->bad, i);
}

static bool next(void *arg) {
  waves *w = arg;
  return ++w->now < w->count;
}

static int claim_place(waves *w) {
  for (int t = 0;; t = (t + 1) % w->threads)
    if (!atomic_exchange(&w->taken[t], true)) return t;
}

static void part_of_wave(void *arg, int part, int parts) {
  waves *w = arg;
  const int64_t first = w->start[w->now], rows = w->start[w->now + 1] - first;
  const int64_t from = first + rows * part / parts, to = first + rows * (part + 1) / parts;
  if (from == to) return;
  const int t = claim_place(w);
  for (int64_t k = from; k < to; k++) eliminate_one(w, w->place + t * w->e->B->rows, w->row[k]);
  w->taken[t] = false;
}

int kcl_eliminate_rows(kcl_context *ctx, const kcl_elimination *e, kcl_eliminating_row *eliminate,
                       int64_t *zero) {
  const int64_t n = e->B->rows;
  KCL_OWNED_BY(free_waves) waves w = {.e = e, .eliminate = eliminate, .now = -1, .bad = n};
  *zero = -1;
  KCL_CALL(order_waves(ctx, &w));
  KCL_CALL(kcl_alloc(ctx, w.threads * n, sizeof *w.place, "a factorisation", (void **)&w.place));
  KCL_CALL(kcl_alloc(ctx, w.threads, sizeof *w.taken, "a factorisation", (void **)&w.taken));
  if (w.threads > 1)
    kcl_while(w.threads, next, part_of_wave, &w);
  else
    for (int64_t i = 0; i < n && w.bad == n; i++) eliminate_one(&w, w.place, i);
  if (w.bad < n) *zero = w.bad;
  return KCL_OK;
}
