/* Harwell-Boeing and Rutherford-Boeing files to a system: compressed columns become entries, which
 * csr_build.c sorts into rows; right-hand sides and initial guesses are dense columns. Exact
 * solutions are parsed and discarded.
 *
 *   pointers [cols + 1]   indices [entries]   values [entries]   right-hand sides, guesses, solutions
 */
#include "data/files/hb.h"
#include "core/base/number.h"

typedef struct hb_reading {
  const hb_head *h;
  hb_cards cards;
  int parts; /* numbers per entry: 1, or 2 if complex */
} hb_reading;

/* Compressed columns: of the matrix, or of right-hand sides. */
typedef struct hb_columns {
  int64_t cols, entries;
  int64_t *pointer, *index; /* [cols + 1], [entries] from 1 */
  double *value;            /* [entries], pairs when complex; NULL for a pattern */
} hb_columns;

static void free_columns(hb_columns *c) { free(c->pointer), free(c->index), free(c->value); }

static int check_hb_pointers(kcl_context *ctx, const hb_reading *r, const hb_columns *c) {
  const int64_t *p = c->pointer, n = c->cols, entries = c->entries;
  bool good = p[0] == 1 && p[n] == entries + 1;
  for (int64_t j = 0; j < n; j++) good = good && p[j] <= p[j + 1];
  if (good) return KCL_OK;
  return kcl_fail(
      ctx, KCL_INPUT,
      "%s:%lld: found pointers from %lld to %lld, expected ones that rise from 1 to %lld",
      r->cards.t->name, (long long)r->h->lines + 1, (long long)p[0], (long long)p[n],
      (long long)entries + 1);
}

typedef struct index_checking {
  const int64_t *index;
  int64_t rows;
  _Atomic int64_t bad; /* the first */
} index_checking;

static void check_part(void *arg, int64_t from, int64_t to) {
  index_checking *c = arg;
  for (int64_t k = from; k < to; k++)
    if (c->index[k] < 1 || c->index[k] > c->rows) {
      kcl_lower(&c->bad, k);
      return;
    }
}

/* first: the line of the first index. */
static int check_indices(kcl_context *ctx, const hb_reading *r, const hb_columns *columns,
                         int64_t first) {
  const int64_t *index = columns->index, n = columns->entries;
  index_checking c = {.index = index, .rows = r->h->rows, .bad = n};
  kcl_for(n, KCL_FEW, check_part, &c);
  const int64_t bad = c.bad;
  if (bad == n) return KCL_OK;
  return kcl_fail(ctx, KCL_INPUT, "%s:%lld: found row %lld (entry %lld), expected 1 to %lld",
                  r->cards.t->name, (long long)(first + bad / r->h->edit[HB_INDICES].per_line) + 1,
                  (long long)index[bad], (long long)bad + 1, (long long)r->h->rows);
}

/* Names of the arrays of compressed columns in messages. */
typedef struct hb_names {
  const char *pointers, *indices, *values;
} hb_names;

/* Pointers, indices and, unless it is a pattern, values: the next lines, values by this part's format. */
static int read_compressed(kcl_context *ctx, hb_reading *r, int part, const hb_names *names,
                           hb_columns *c) {
  const hb_edit *edit = r->h->edit;
  const int64_t numbers = r->parts * c->entries;
  KCL_CALL(kcl_alloc(ctx, c->cols + 1, 8, names->pointers, (void **)&c->pointer));
  KCL_CALL(kcl_alloc(ctx, c->entries, 8, names->indices, (void **)&c->index));
  KCL_CALL(hb_cards_read(ctx, &r->cards, &edit[HB_POINTERS], c->cols + 1, names->pointers,
                         c->pointer, NULL));
  KCL_CALL(check_hb_pointers(ctx, r, c));
  int64_t first = r->cards.next;
  KCL_CALL(
      hb_cards_read(ctx, &r->cards, &edit[HB_INDICES], c->entries, names->indices, c->index, NULL));
  KCL_CALL(check_indices(ctx, r, c, first));
  if (part == HB_VALUES && r->h->field == KCL_PATTERN) return KCL_OK;
  KCL_CALL(kcl_alloc(ctx, numbers, 8, names->values, (void **)&c->value));
  return hb_cards_read(ctx, &r->cards, &edit[part], numbers, names->values, NULL, c->value);
}

/* Half storage must be one triangle, without a diagonal if skew-symmetric, with a real one if Hermitian. */
static int check_half(kcl_context *ctx, const hb_reading *r, const hb_columns *c) {
  const hb_head *h = r->h;
  int64_t lower = 0, upper = 0, diagonal = 0;
  for (int64_t j = 0; h->symmetry != KCL_GENERAL && j < h->cols; j++)
    for (int64_t k = c->pointer[j] - 1; k < c->pointer[j + 1] - 1; k++) {
      int64_t i = c->index[k] - 1;
      lower += i > j, upper += i < j;
      if (i != j) continue;
      diagonal +=
          h->symmetry == KCL_SKEW || (h->symmetry == KCL_HERMITIAN && c->value[2 * k + 1] != 0);
    }
  if ((lower && upper) || diagonal)
    return kcl_fail(ctx, KCL_INPUT, "%s: found %s in a %s matrix, expected %s", r->cards.t->name,
                    diagonal ? "an unfit diagonal entry" : "entries on both sides of the diagonal",
                    kcl_symmetry_name(h->symmetry),
                    !diagonal                 ? "one triangle"
                    : h->symmetry == KCL_SKEW ? "none on the diagonal"
                                              : "a real diagonal");
  return KCL_OK;
}

typedef struct spreading {
  const hb_columns *c;
  uint64_t *words;
  int64_t stride;
  int width;
} spreading;

static void spread_values(void *arg, int64_t from, int64_t to) {
  const spreading *s = arg;
  const hb_columns *c = s->c;
  for (int64_t j = from; j < to; j++)
    for (int64_t k = c->pointer[j] - 1; k < c->pointer[j + 1] - 1; k++) {
      uint64_t *w = s->words + s->stride * k;
      w[0] = (uint64_t)(c->index[k] - 1) | (uint64_t)j << 32;
      if (s->width) memcpy(w + 1, c->value + s->width * k, (size_t)s->width * sizeof *w);
    }
}

static int build_hb_matrix(kcl_context *ctx, const hb_reading *r, const hb_columns *c,
                           kcl_csr **A) {
  const hb_head *h = r->h;
  mm_head as = {.coordinate = true,
                .field = h->field,
                .symmetry = h->symmetry,
                .rows = h->rows,
                .cols = h->cols,
                .entries = h->entries,
                .name = r->cards.t->name};
  KCL_OWNED_BY(mm_entries_free) mm_entries e = {0};
  uint64_t *words;
  int width = c->value ? r->parts : 0;
  KCL_CALL(mm_entries_alloc(ctx, width, h->entries, &e, &words));
  kcl_for_each(h->cols, KCL_FEW_ROWS, spread_values, &(spreading){c, words, e.stride, width});
  return mm_build_csr(ctx, &as, &e, A);
}

/* Full columns follow each other without a break, or each begins on a new line, as the number of lines
 * shows. */
static int read_full_columns(kcl_context *ctx, hb_reading *r, int64_t rows, int64_t lines,
                             kcl_dense **out) {
  const hb_head *h = r->h;
  const hb_edit *e = &h->edit[HB_RHS];
  int64_t n = rows * r->parts, all = n * h->rhs_count;
  bool broken = lines != hb_cards_needed(e, all);
  if (all > (int64_t)r->cards.t->size || h->rhs_count > (int64_t)r->cards.t->size)
    return kcl_fail(ctx, KCL_INPUT,
                    "%s:5: found %lld right-hand sides, expected fewer in this text",
                    r->cards.t->name, (long long)h->rhs_count);
  KCL_CALL(kcl_dense_create(ctx, rows, h->rhs_count, r->parts == 2 ? KCL_Z : KCL_D, out));
  if (!broken)
    KCL_CALL(hb_cards_read(ctx, &r->cards, e, all, "right-hand sides", NULL, (*out)->val));
  for (int64_t j = 0; broken && j < h->rhs_count; j++)
    KCL_CALL(hb_cards_read(ctx, &r->cards, e, n, "right-hand sides", NULL, (*out)->val + j * n));
  return KCL_OK;
}

/* Right-hand sides in compressed columns, like the matrix. */
static int read_sparse(kcl_context *ctx, hb_reading *r, kcl_dense **out) {
  const hb_head *h = r->h;
  static const hb_names names = {"right-hand sides", "right-hand sides", "right-hand sides"};
  int64_t n = h->rhs_count, m = h->rhs_entries;
  KCL_OWNED_BY(free_columns) hb_columns c = {.cols = n, .entries = m};
  if (n + m > (int64_t)r->cards.t->size)
    return kcl_fail(ctx, KCL_INPUT,
                    "%s:5: found %lld right-hand sides, expected fewer in this text",
                    r->cards.t->name, (long long)n);
  KCL_CALL(read_compressed(ctx, r, HB_RHS, &names, &c));
  KCL_CALL(kcl_dense_create(ctx, h->rows, n, r->parts == 2 ? KCL_Z : KCL_D, out));
  for (int64_t j = 0; j < n; j++)
    for (int64_t k = c.pointer[j] - 1; k < c.pointer[j + 1] - 1; k++)
      for (int q = 0; q < r->parts; q++)
        (*out)->val[r->parts * (j * h->rows + c.index[k] - 1) + q] += c.value[r->parts * k + q];
  return KCL_OK;
}

static int read_right_hand_sides(kcl_context *ctx, hb_reading *r, kcl_file_system *out) {
  const hb_head *h = r->h;
  int groups = (h->rhs_kind == 'F') + h->guess + h->solution;
  KCL_OWNED_BY(kcl_dense_free) kcl_dense *solution = NULL;
  int64_t begin = r->cards.next, lines = h->cards[HB_RHS];
  if (h->rhs_kind == 'M') {
    KCL_CALL(read_sparse(ctx, r, &out->b));
    lines -= r->cards.next - begin;
  } else {
    KCL_CALL(read_full_columns(ctx, r, h->rows, lines / groups, &out->b));
  }
  if (h->guess) KCL_CALL(read_full_columns(ctx, r, h->cols, lines / groups, &out->x0));
  if (h->solution) KCL_CALL(read_full_columns(ctx, r, h->cols, lines / groups, &solution));
  return KCL_OK;
}

static void free_reading(hb_reading *r) { free(r->cards.line); }

static int read_hb(kcl_context *ctx, kcl_text *t, kcl_file_system *out) {
  static const hb_names names = {"column pointers", "row indices", "values"};
  hb_head h;
  KCL_OWNED_BY(free_reading) hb_reading r = {.h = &h};
  KCL_OWNED_BY(free_columns) hb_columns c = {0};
  kcl_number_init();
  KCL_CALL(hb_read_head(ctx, t, &h));
  r.parts = h.field == KCL_COMPLEX ? 2 : 1;
  KCL_CALL(hb_cards_cut(ctx, t, &r.cards));
  r.cards.next = h.lines;
  if (h.entries + h.cols > (int64_t)t->size)
    return kcl_fail(ctx, KCL_INPUT,
                    "%s:3: found %lld entries, expected fewer in a text of %zu bytes", t->name,
                    (long long)h.entries, t->size);
  c.cols = h.cols, c.entries = h.entries;
  KCL_CALL(read_compressed(ctx, &r, HB_VALUES, &names, &c));
  KCL_CALL(check_half(ctx, &r, &c));
  if (h.rhs_kind) KCL_CALL(read_right_hand_sides(ctx, &r, out));
  return build_hb_matrix(ctx, &r, &c, &out->A);
}

const kcl_file kcl_file_rb = {.name = "rb",
                              .expected = "a Harwell-Boeing heading",
                              .knows = hb_knows,
                              .read = read_hb,
                              .write = rb_write};
