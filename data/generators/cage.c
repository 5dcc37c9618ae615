/* DNA electrophoresis by the cage model (van Heukelum, Barkema & Bisseling 2002): a polymer of SIZE
 * monomers creeps through a gel in an electric field along (1, 1, 1).
 *
 *   a polymer:  a walk of SIZE - 1 steps, each along one of 3 edges up the field or 3 down, on the tree
 *               of all such walks: the polymer can neither cross itself nor leave its path
 *   a move:     a monomer is drawn (1 / SIZE); an end, or the tip between two steps that retrace each
 *               other, moves to one of the 6 sites around its base, each one up the field with
 *               probability e^F / 3 (e^F + e^-F), each one down with e^-F ..., F = 0.1
 *   a state:    walks that are equal up to the numbering of edges and the direction of reading
 *
 * a_ij is the probability of j -> i in one step: columns sum to 1, and 1 is an eigenvalue whose vector is
 * the stationary distribution. States are ordered by the smaller of their two keys (reading()). Values
 * are rounded to 15 digits. cage:3 ... cage:15 are vanHeukelum/cage3 ... of the SuiteSparse collection,
 * except for some sums on the diagonal of the larger ones, which differ by a unit of the 15th digit
 * because rounding depends on the order of summation. b = A 1. */
#include "data/generators/generate.h"

enum { MAX_SIZE = 15 };
typedef struct cage_walk {
  int steps;
  uint8_t node[MAX_SIZE + 1]; /* [steps + 1] places on the tree */
  uint8_t down[MAX_SIZE];     /* [steps] */
} cage_walk;

typedef struct states {
  int steps;
  int64_t count, capacity;
  uint64_t *key; /* [count] ascending */
} states;

static void free_states(states *s) { free(s->key); }

/* ---------------------------------------------------------------- keys of states */

/* The key of a walk: one bit per pair (i, i + d), d = 2, 4, ..., set if both are the same node, the last i of
 * d = 2 lowest; below them one bit per step, 0 up, 1 down. Reversed: read from the far end, with up and
 * down exchanged. */
static uint64_t read_walk(const cage_walk *w, bool reversed) {
  int n = w->steps;
  uint64_t key = 0;
  for (int d = n / 2 * 2; d >= 2; d -= 2)
    for (int i = 0; i + d <= n; i++) {
      int a = reversed ? n - i : i, b = reversed ? n - i - d : i + d;
      key = key << 1 | (w->node[a] == w->node[b]);
    }
  for (int k = 0; k < n; k++)
    key = key << 1 | (uint64_t)(reversed ? !w->down[n - 1 - k] : w->down[k]);
  return key;
}

static uint64_t key_of(const cage_walk *w) {
  uint64_t a = read_walk(w, false), b = read_walk(w, true);
  return a < b ? a : b;
}

/* The walk of a key; nodes are numbered by first visit. */
static void walk_of(uint64_t key, int n, cage_walk *w) {
  int first[MAX_SIZE + 1], next = 0; /* first visit of the node of step k */
  w->steps = n;
  for (int k = n - 1; k >= 0; k--, key >>= 1) w->down[k] = (uint8_t)(key & 1);
  for (int k = 0; k <= n; k++) first[k] = k;
  for (int d = 2; d <= n; d += 2)
    for (int i = n - d; i >= 0; i--, key >>= 1)
      if (key & 1) first[i + d] = i; /* of several i the smallest: the largest d comes last */
  for (int k = 0; k <= n; k++) w->node[k] = first[k] == k ? (uint8_t)next++ : w->node[first[k]];
}

/* Keys have 63 bits at most. */
static int64_t find_state(const states *s, uint64_t key) {
  return kcl_first_offset_from((const int64_t *)s->key, 0, s->count - 1, (int64_t)key);
}

/* ---------------------------------------------------------------- sites around a base */

typedef struct site {
  int node, down, ways; /* ways: number of equivalent sites that this one stands for */
} site;

/* Sites of a tip around `base`, the steps skip .. skip + skipped - 1 removed from the walk. */
static int sites(const cage_walk *w, int base, int skip, int skipped, site *out) {
  int count = 0, used[2] = {0, 0};
  for (int k = 0; k < w->steps; k++) {
    int removed = k - skip;
    if (removed >= 0 && removed < skipped) continue;
    int a = w->node[k], b = w->node[k + 1], down = w->down[k], other = a == base ? b : a;
    if (a != base && b != base) continue;
    if (b == base) down = !down;
    bool seen = false;
    for (int q = 0; q < count; q++) seen = seen || out[q].node == other;
    if (!seen) out[count++] = (site){other, down, 1}, used[down]++;
  }
  for (int down = 0; down < 2; down++)
    if (used[down] < 3) out[count++] = (site){MAX_SIZE + 1 + down, down, 3 - used[down]};
  return count;
}

/* Sites that monomer m can move to; 0 if it cannot move. */
static int tips(const cage_walk *w, int m, site *out) {
  int n = w->steps;
  if (m == 0) return sites(w, w->node[1], 0, 1, out);
  if (m == n) return sites(w, w->node[n - 1], n - 1, 1, out);
  if (w->node[m - 1] != w->node[m + 1]) return 0;
  return sites(w, w->node[m - 1], m - 1, 2, out);
}

/* Moves monomer m to a site. */
static void put_monomer(cage_walk *w, int m, const site *s) {
  w->node[m] = (uint8_t)s->node;
  if (m > 0) w->down[m - 1] = (uint8_t)s->down;
  if (m < w->steps) w->down[m] = (uint8_t)!s->down;
}

/* ---------------------------------------------------------------- all states */

static int store_state(kcl_context *ctx, states *s, uint64_t key) {
  if (s->count == s->capacity) {
    int64_t capacity = s->capacity ? 2 * s->capacity : 1 << 16;
    uint64_t *more = realloc(s->key, (size_t)capacity * sizeof *more);
    if (!more) return kcl_fail(ctx, KCL_MEMORY, "out of memory: %lld states", (long long)capacity);
    s->key = more, s->capacity = capacity;
  }
  s->key[s->count++] = key;
  return KCL_OK;
}

/* Extends w, of fewer than s->steps steps, by every possible step, recursively. */
static int extend(kcl_context *ctx, states *s, cage_walk *w, int next) {
  site at[2 * MAX_SIZE];
  int rc = KCL_OK;
  if (w->steps == s->steps) {
    uint64_t key = read_walk(w, false);
    return key <= read_walk(w, true) ? store_state(ctx, s, key) : KCL_OK;
  }
  int n = w->steps, count = sites(w, w->node[n], n, 0, at);
  for (int q = 0; q < count && !rc; q++) {
    bool fresh = at[q].node > MAX_SIZE;
    w->steps = n + 1;
    w->node[n + 1] = (uint8_t)(fresh ? next : at[q].node), w->down[n] = (uint8_t)at[q].down;
    rc = extend(ctx, s, w, next + fresh);
    w->steps = n;
  }
  return rc;
}

/* ---------------------------------------------------------------- the matrix */

/* (ways[0] U + ways[1] (1 - U) + 3 ways[2]) / 3 monomers to 15 digits, in integer arithmetic and so the same
 * on every machine: U = e^F / (e^F + e^-F) is `up` / 2^64. */
static double probability(const int ways[3], int monomers) {
  const uint64_t up = UINT64_C(0x8cc1ebbcafa09cee); /* F = 0.1 */
  typedef unsigned __int128 uint128_type;
  uint128_type v = ((uint128_type)(ways[1] + 3 * ways[2]) << 64) + (uint128_type)ways[0] * up -
                   (uint128_type)ways[1] * up;
  uint128_type of = (uint128_type)(3 * monomers) << 64;
  uint64_t scale = UINT64_C(1000000000000000), least = scale / 10, power = scale;
  while (v * power / of < least) power *= 10;
  return (double)(uint64_t)((v * power + of / 2) / of) / (double)power;
}

/* The transitions of state j: row j of the transpose. */
static int cage_row(const void *self, int64_t j, int32_t *col, double *val) {
  const states *s = self;
  int64_t to[(MAX_SIZE + 1) * 8] = {0};
  int ways[(MAX_SIZE + 1) * 8][3], count = 0; /* up, down, stay */
  cage_walk w = {0}, v;
  walk_of(s->key[j], s->steps, &w);
  for (int m = 0; m <= s->steps; m++) {
    site at[2 * MAX_SIZE];
    int n = tips(&w, m, at);
    for (int q = 0; q < n + (n == 0); q++) {
      v = w;
      if (n) put_monomer(&v, m, &at[q]);
      int64_t i = n ? find_state(s, key_of(&v)) : j;
      int k = count;
      while (k > 0 && to[k - 1] >= i) k--;
      if (k == count || to[k] != i) {
        memmove(to + k + 1, to + k, (size_t)(count - k) * sizeof *to);
        memmove(ways + k + 1, ways + k, (size_t)(count++ - k) * sizeof *ways);
        to[k] = i, ways[k][0] = ways[k][1] = ways[k][2] = 0;
      }
      ways[k][n ? at[q].down : 2] += n ? at[q].ways : 1;
    }
  }
  for (int k = 0; col && k < count; k++) {
    col[k] = (int32_t)to[k];
    val[k] = probability(ways[k], s->steps + 1);
  }
  return count;
}

static int cage_make(kcl_context *ctx, const int64_t *size, int n_sizes, kcl_csr **A,
                     kcl_dense **b) {
  KCL_OWNED_BY(free_states) states s = {.steps = (int)size[0] - 1};
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *T = NULL;
  cage_walk w = {.steps = 0};
  if (n_sizes != 1 || size[0] < 3 || size[0] > MAX_SIZE)
    return kcl_fail(ctx, KCL_USAGE,
                    "cage takes one number, the monomers, at least 3 and at most %d: cage:10",
                    MAX_SIZE);
  KCL_CALL(extend(ctx, &s, &w, 1));
  qsort(s.key, (size_t)s.count, sizeof *s.key, kcl_compare_words);
  kcl_rows rows = {s.count, KCL_D, KCL_GENERAL, KCL_REAL, cage_row, &s};
  KCL_CALL(kcl_rows_matrix(ctx, &rows, &T));
  KCL_CALL(kcl_csr_adjoint(ctx, T, A));
  return kcl_rhs_image(ctx, *A, b);
}

const kcl_generator kcl_gen_cage = {
    .name = "cage",
    .example = "cage:9",
    .summary = "DNA electrophoresis, SIZE monomers: vanHeukelum/cage3 ... cage15, unsymmetric",
    .make = cage_make};
