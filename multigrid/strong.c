/* Strong connections, and the split into C and F points of classical multigrid. */
#include "multigrid/coarsen.h"

typedef struct strength {
  const kcl_csr *A;
  double theta;
  bool *strong; /* [entries of A] */
  kcl_csr *S;
} strength;

static double row_diagonal(const kcl_csr *A, int64_t i) {
  for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
    if (A->col[k] == i) return ((const double *)A->val)[k];
  return 0;
}

/* The entries of row i with sign a_ij >= the limit are strong, but the diagonal. */
static double strong_limit(const strength *s, int64_t i, double sign) {
  const kcl_csr *A = s->A;
  const double *a = A->val;
  double most = 0;
  for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
    if (A->col[k] != i && sign * a[k] > most) most = sign * a[k];
  return most > 0 ? kcl_rounded(s->theta * most) : INFINITY;
}

static int64_t mark_strong(const strength *s, int64_t i) {
  const kcl_csr *A = s->A;
  const double *a = A->val, sign = row_diagonal(A, i) < 0 ? 1 : -1,
               least = strong_limit(s, i, sign);
  int64_t count = 0;
  for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
    count += s->strong[k] = (A->col[k] != i) & (kcl_rounded(sign * a[k]) >= least);
  return count;
}

static void count_strong_entries(void *arg, int64_t from, int64_t to) {
  const strength *s = arg;
  for (int64_t i = from; i < to; i++) s->S->row_ptr[i + 1] = mark_strong(s, i);
}

static void fill_strong_entries(void *arg, int64_t from, int64_t to) {
  const strength *s = arg;
  const kcl_csr *A = s->A;
  const double *a = A->val;
  for (int64_t i = from; i < to; i++) {
    int64_t at = s->S->row_ptr[i];
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      if (s->strong[k]) s->S->col[at] = A->col[k], ((double *)s->S->val)[at++] = a[k];
  }
}

int kcl_amg_strong(kcl_context *ctx, const kcl_csr *A, double theta, kcl_csr **out) {
  const int64_t grain = kcl_row_list_grain(A->rows);
  KCL_OWNED bool *strong = NULL;
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *S = NULL;
  *out = NULL;
  KCL_CALL(kcl_alloc_unset(ctx, A->nnz, sizeof *strong, "couplings", (void **)&strong));
  KCL_CALL(kcl_csr_create(ctx, A->rows, A->cols, 0, KCL_D, &S));
  strength s = {A, theta, strong, S};
  kcl_for_each(A->rows, grain, count_strong_entries, &s);
  KCL_CALL(kcl_sparse_shape(ctx, S));
  kcl_for_each(A->rows, grain, fill_strong_entries, &s);
  *out = S, S = NULL;
  return KCL_OK;
}

/* ---------------------------------------------------------------- the split */

enum { STATE_UNDECIDED, STATE_COARSE, STATE_FINE };
static const double DECIDED = -1;

typedef struct point_splitting {
  const kcl_csr *S;
  int64_t *depend;         /* how many depend on a point */
  double *priority;        /* DECIDED: none any more */
  uint8_t *state, *beaten; /* beaten: by an undecided neighbour in this round */
  _Atomic int64_t left;
} point_splitting;

static void free_splitting(point_splitting *s) {
  free(s->depend), free(s->priority), free(s->state), free(s->beaten);
}

static void store(uint8_t *to, uint8_t value) { __atomic_store_n(to, value, __ATOMIC_RELAXED); }
static uint8_t load_relaxed(const uint8_t *from) { return __atomic_load_n(from, __ATOMIC_RELAXED); }

/* The priority of point i: how many points depend on it, plus a fraction from a hash, so that ties are rare. */
static void begin_splitting(void *arg, int64_t from, int64_t to) {
  point_splitting *s = arg;
  for (int64_t i = from; i < to; i++) {
    const uint64_t h = kcl_hash((uint64_t)i);
    const double priority = (double)s->depend[i] + (double)(h >> 12) / (double)(UINT64_C(1) << 52);
    s->priority[i] = s->depend[i] ? priority : DECIDED;
    s->state[i] = s->depend[i] ? STATE_UNDECIDED : STATE_FINE;
  }
}

/* Marks the neighbour of lower priority as beaten. Decided points have the lowest and beat none. S is walked by rows alone,
 * without branches. */
static void compare_neighbours(void *arg, int64_t from, int64_t to) {
  point_splitting *s = arg;
  const kcl_csr *S = s->S;
  for (int64_t i = from; i < to; i++) {
    if (s->state[i] != STATE_UNDECIDED) continue;
    const double mine = s->priority[i];
    for (int64_t k = S->row_ptr[i]; k < S->row_ptr[i + 1]; k++) {
      const int64_t j = S->col[k];
      const double theirs = s->priority[j];
      store(&s->beaten[(theirs > mine) | ((theirs == mine) & (j > i)) ? i : j], true);
    }
  }
}

static void choose_points(void *arg, int64_t from, int64_t to) {
  const point_splitting *s = arg;
  uint8_t *state = s->state, *beaten = s->beaten;
  double *priority = s->priority;
  for (int64_t i = from; i < to; i++) {
    if (state[i] == STATE_UNDECIDED && !beaten[i]) state[i] = STATE_COARSE, priority[i] = DECIDED;
    beaten[i] = false;
  }
}

static bool depends_on_coarse(const point_splitting *s, int64_t i) {
  bool any = false;
  for (int64_t k = s->S->row_ptr[i]; k < s->S->row_ptr[i + 1]; k++)
    any |= load_relaxed(&s->state[s->S->col[k]]) == STATE_COARSE;
  return any;
}

static void exclude(void *arg, int64_t from, int64_t to) {
  point_splitting *s = arg;
  int64_t left = 0;
  for (int64_t i = from; i < to; i++) {
    if (load_relaxed(&s->state[i]) != STATE_UNDECIDED) continue;
    const bool fine = depends_on_coarse(s, i);
    if (fine) store(&s->state[i], STATE_FINE), s->priority[i] = DECIDED;
    left += !fine;
  }
  s->left += left;
}

static int64_t number_coarse(const point_splitting *s, int64_t n, int32_t *coarse) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; i++) coarse[i] = s->state[i] == STATE_COARSE ? (int32_t)count++ : -1;
  return count;
}

int kcl_amg_split(kcl_context *ctx, const kcl_csr *S, int32_t **coarse, int64_t *count) {
  const int64_t n = S->rows;
  KCL_OWNED_BY(free_splitting) point_splitting s = {.S = S};
  *coarse = NULL;
  KCL_CALL(kcl_sparse_column_counts(ctx, S, &s.depend));
  KCL_CALL(kcl_alloc_unset(ctx, n, sizeof *s.priority, "priorities", (void **)&s.priority));
  KCL_CALL(kcl_alloc_unset(ctx, n, 1, "the split", (void **)&s.state));
  KCL_CALL(kcl_alloc(ctx, n, 1, "the split", (void **)&s.beaten));
  KCL_CALL(kcl_alloc_unset(ctx, n, sizeof **coarse, "the split", (void **)coarse));
  kcl_for(n, KCL_FEW_ROWS, begin_splitting, &s);
  do {
    s.left = 0;
    kcl_for(n, KCL_FEW_ROWS, compare_neighbours, &s);
    kcl_for(n, KCL_FEW, choose_points, &s);
    kcl_for(n, KCL_FEW_ROWS, exclude, &s);
  } while (s.left);
  *count = number_coarse(&s, n, *coarse);
  return KCL_OK;
}
