/* The sums of a row by column (Gustavson 1978): the list of columns that were added to, and its order by a set of bits, whose
 * words are found by another one.
 */
#include "sparse/sparse.h"

static void release_accumulator(kcl_accumulator *s) {
  free(s->row);
  free(s->list);
  free(s->sum);
  free(s->value);
  free(s->set);
  free(s->words);
  *s = (kcl_accumulator){0};
}

static bool create_accumulator(kcl_accumulator *s, int64_t cols) {
  const size_t n = (size_t)cols + 1;
  *s = (kcl_accumulator){.row = calloc(n, sizeof *s->row),
                         .list = malloc(n * sizeof *s->list),
                         .sum = malloc(n * sizeof *s->sum),
                         .value = malloc(n * sizeof *s->value),
                         .set = calloc(n / 64 + 1, sizeof *s->set),
                         .words = calloc(n / 64 / 64 + 1, sizeof *s->words),
                         .cols = cols,
                         .now = 1};
  if (s->row && s->list && s->sum && s->value && s->set && s->words) return true;
  release_accumulator(s);
  return false;
}

void kcl_accumulator_clear(kcl_accumulator *s) {
  s->count = 0;
  if (++s->now) return;
  memset(s->row, 0, (size_t)s->cols * sizeof *s->row);
  s->now = 1;
}

typedef struct accumulator_parts {
  kcl_accumulator_range *body;
  void *arg;
  int64_t n, grain, cols[2];
  _Atomic int64_t next;
  atomic_bool failed;
} accumulator_parts;

static void run_accumulator_part(void *arg, const kcl_member *me) {
  accumulator_parts *p = arg;
  kcl_accumulator s[2] = {{0}};
  (void)me;
  p->failed = p->failed |
              (!create_accumulator(&s[0], p->cols[0]) || !create_accumulator(&s[1], p->cols[1]));
  for (int64_t at; !p->failed && (at = atomic_fetch_add(&p->next, p->grain)) < p->n;)
    p->body(p->arg, s, at, at + p->grain < p->n ? at + p->grain : p->n);
  release_accumulator(&s[0]), release_accumulator(&s[1]);
}

bool kcl_accumulator_for_each(int64_t n, int64_t grain, const int64_t cols[2],
                              kcl_accumulator_range *body, void *arg) {
  accumulator_parts p = {
      .body = body, .arg = arg, .n = n, .grain = grain, .cols = {cols[0], cols[1]}};
  const int64_t count = (n + grain - 1) / grain;
  kcl_parallel(count < kcl_threads() ? (int)count : kcl_threads(), run_accumulator_part, &p);
  return !p.failed;
}

static void insertion_sort(int32_t *list, int64_t count) {
  for (int64_t i = 1; i < count; i++) {
    const int32_t c = list[i];
    int64_t at = i;
    for (; at && list[at - 1] > c; at--) list[at] = list[at - 1];
    list[at] = c;
  }
}

/* The set bits of word i of `of`, as numbers, to list[count] on; the word becomes zero. */
static int64_t take_bits(uint64_t *of, int64_t i, int32_t *list, int64_t count) {
  for (uint64_t bits = of[i]; bits; bits &= bits - 1)
    list[count++] = (int32_t)(64 * i + __builtin_ctzll(bits));
  of[i] = 0;
  return count;
}

void kcl_accumulator_order(kcl_accumulator *s) {
  enum { SHORT_LIST = 16 };
  int32_t least = INT32_MAX, most = 0, word[64];
  if (s->count <= SHORT_LIST) {
    insertion_sort(s->list, s->count);
    return;
  }
  for (int64_t k = 0; k < s->count; k++) {
    const int32_t c = s->list[k];
    s->set[c / 64] |= UINT64_C(1) << c % 64, s->words[c / 4096] |= UINT64_C(1) << c / 64 % 64;
    least = c < least ? c : least, most = c > most ? c : most;
  }
  s->count = 0;
  for (int64_t i = least / 4096; i <= most / 4096; i++) {
    const int64_t words = take_bits(s->words, i, word, 0);
    for (int64_t k = 0; k < words; k++) s->count = take_bits(s->set, word[k], s->list, s->count);
  }
}
