/* Strong connections, and the split into C and F points of classical multigrid. */
#include "sparse/sparse.h"
#include <math.h>
#include <stdlib.h>

typedef struct strength {
  const kcl_csr *A;
  double theta;
} strength;

static double diagonal(const kcl_csr *A, int64_t i) {
  for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
    if (A->col[k] == i) return ((const double *)A->val)[k];
  return 0;
}

static void strong_row(void *arg, kcl_rows *r, int64_t i) {
  const strength *s = arg;
  const kcl_csr *A = s->A;
  const double *a = A->val, sign = diagonal(A, i) < 0 ? 1 : -1;
  double most = 0;
  for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
    if (A->col[k] != i) most = fmax(most, sign * a[k]);
  for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
    if (A->col[k] != i && most > 0 && sign * a[k] >= s->theta * most)
      kcl_rows_put(r, A->col[k], &a[k]);
}

int kcl_sparse_strong(kcl *ctx, const kcl_csr *A, double theta, kcl_csr **out) {
  strength s = {A, theta};
  return kcl_rows_make(ctx, A->rows, A->cols, KCL_D, strong_row, &s, NULL, out);
}

/* ---------------------------------------------------------------- the split */

enum { UNDECIDED, COARSE, FINE, NEW /* coarse, since this round */ };

typedef struct splitting {
  const kcl_csr *S, *T; /* T = S^T: who depends on i */
  double *priority;
  uint8_t *state;
  _Atomic int64_t left;
} splitting;

/* How many depend on i, and a fraction by hash, so that ties are rare. */
static void begin(void *arg, int64_t from, int64_t to) {
  splitting *s = arg;
  for (int64_t i = from; i < to; i++) {
    const int64_t depend = s->T->row_ptr[i + 1] - s->T->row_ptr[i];
    uint64_t h = ((uint64_t)i + 1) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 31) * 0xbf58476d1ce4e5b9u, h ^= h >> 27;
    s->priority[i] = (double)depend + (double)(h >> 12) / (double)(UINT64_C(1) << 52);
    s->state[i] = depend ? UNDECIDED : FINE;
  }
}

/* Does an undecided point of the row come before i? NEW ones were undecided when the round began. */
static bool beaten(const splitting *s, const kcl_csr *G, int64_t i) {
  const double mine = s->priority[i];
  for (int64_t k = G->row_ptr[i]; k < G->row_ptr[i + 1]; k++) {
    const int64_t j = G->col[k];
    const uint8_t state = __atomic_load_n(&s->state[j], __ATOMIC_RELAXED);
    if (state != UNDECIDED && state != NEW) continue;
    const double theirs = s->priority[j];
    if (theirs > mine || (theirs == mine && j > i)) return true;
  }
  return false;
}

static void choose(void *arg, int64_t from, int64_t to) {
  splitting *s = arg;
  for (int64_t i = from; i < to; i++)
    if (s->state[i] == UNDECIDED && !beaten(s, s->S, i) && !beaten(s, s->T, i))
      __atomic_store_n(&s->state[i], NEW, __ATOMIC_RELAXED);
}

static bool depends_on_new(const splitting *s, int64_t i) {
  for (int64_t k = s->S->row_ptr[i]; k < s->S->row_ptr[i + 1]; k++)
    if (__atomic_load_n(&s->state[s->S->col[k]], __ATOMIC_RELAXED) == NEW) return true;
  return false;
}

static void exclude(void *arg, int64_t from, int64_t to) {
  splitting *s = arg;
  int64_t left = 0;
  for (int64_t i = from; i < to; i++)
    if (__atomic_load_n(&s->state[i], __ATOMIC_RELAXED) == UNDECIDED) {
      if (depends_on_new(s, i)) __atomic_store_n(&s->state[i], FINE, __ATOMIC_RELAXED);
      left += s->state[i] == UNDECIDED;
    }
  s->left += left;
}

static void settle(void *arg, int64_t from, int64_t to) {
  splitting *s = arg;
  for (int64_t i = from; i < to; i++)
    if (s->state[i] == NEW) s->state[i] = COARSE;
}

static int64_t number(const splitting *s, int64_t n, int32_t *coarse) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; i++) coarse[i] = s->state[i] == COARSE ? (int32_t)count++ : -1;
  return count;
}

int kcl_sparse_split(kcl *ctx, const kcl_csr *S, int32_t **coarse, int64_t *count) {
  const int64_t n = S->rows;
  splitting s = {.S = S};
  kcl_csr *T = NULL;
  int rc;
  *coarse = NULL;
  KCL_TRY(kcl_sparse_transpose(ctx, S, &T));
  s.T = T;
  KCL_TRY(kcl_alloc(ctx, n, sizeof *s.priority, "priorities", (void **)&s.priority));
  KCL_TRY(kcl_alloc(ctx, n, 1, "the split", (void **)&s.state));
  KCL_TRY(kcl_alloc(ctx, n, sizeof **coarse, "the split", (void **)coarse));
  kcl_for(n, KCL_FEW_ROWS, begin, &s);
  do {
    s.left = 0;
    kcl_for(n, KCL_FEW_ROWS, choose, &s);
    kcl_for(n, KCL_FEW_ROWS, exclude, &s);
    kcl_for(n, KCL_FEW_ROWS, settle, &s);
  } while (s.left);
  *count = number(&s, n, *coarse);
done:
  free(s.priority), free(s.state), kcl_csr_free(&T);
  return rc;
}
