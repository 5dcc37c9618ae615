/* Numbers in lines of fixed fields: the starts of lines are found once, then lines are parsed in parallel by
 * their format. Cost: 8 bytes per line and one more pass over the text. */
#include "data/files/hb.h"
#include "core/base/number.h"

enum { LEAST_LINES = 2048 }; /* lines that are worth a thread */

int hb_cards_cut(kcl_context *ctx, const kcl_text *t, hb_cards *c) {
  const char *end = t->data + t->size;
  int64_t capacity = 0;
  *c = (hb_cards){.t = t};
  for (const char *p = t->data; p < end; p = mm_next_line(p, end)) capacity++;
  KCL_CALL(kcl_alloc(ctx, capacity + 1, sizeof *c->line, "the lines of a file", (void **)&c->line));
  for (const char *p = t->data; p < end; p = mm_next_line(p, end)) c->line[c->count++] = p;
  c->line[c->count] = end;
  return KCL_OK;
}

typedef struct card_part {
  const hb_cards *c;
  const hb_edit *e;
  int64_t count, *integers;
  double *numbers;
  _Atomic int64_t bad; /* the first such line */
} card_part;

/* Parses line k of the part. NULL, or the position of what is not a number, or is one too many: a number behind the
 * last field of a line, or in the field behind the last number of the part. Beyond a blank field, files of the
 * collection keep what the card before held. */
static const char *read_card(const card_part *p, int64_t k) {
  const char *at = p->c->line[p->c->next + k], *end = p->c->line[p->c->next + k + 1];
  int64_t first = k * p->e->per_line, last = first + p->e->per_line;
  while (end > at && (end[-1] == '\n' || end[-1] == '\r')) end--;
  if (last > p->count) last = p->count;
  for (int64_t i = first; i < last; i++, at += p->e->width) {
    const char *stop = end - at < p->e->width ? end : at + p->e->width;
    if (at >= end) return end;
    bool good = p->integers ? hb_field_integer(at, stop, &p->integers[i])
                            : hb_field_number(p->e, at, stop, &p->numbers[i]);
    if (!good) return at;
  }
  if (last < first + p->e->per_line && end - at > p->e->width) end = at + p->e->width;
  while (at < end && mm_is_blank(*at)) at++;
  return at < end ? at : NULL;
}

/* Describes how the text at `at` differs from what the format declares. */
static void explain_field(const card_part *p, const char *line, const char *at, const char *end,
                          bool after, const char *what, mm_error *bad) {
  int width = p->e->width;
  int64_t column = at - line + 1;
  const char *stop = end - at < width ? end : at + width, *second = hb_field_second(at, stop);
  if (after)
    mm_error_set(bad, line, at,
                 "the end of the line: its format declares %d fields of %d columns: %s",
                 p->e->per_line, width, what);
  else if (second)
    mm_error_set(bad, line, second,
                 "one number in columns %lld to %lld, as the width of %d declares: %s",
                 (long long)column, (long long)column + width - 1, width, what);
  else
    mm_error_set(bad, line, mm_skip(at), "%s in %d columns from %lld: %s",
                 p->integers ? "a whole number" : "a number within the range of double", width,
                 (long long)column, what);
}

static void read_cards(void *arg, int64_t from, int64_t to) {
  card_part *p = arg;
  for (int64_t k = from; k < to; k++)
    if (read_card(p, k)) {
      kcl_lower(&p->bad, k);
      return;
    }
}

static int report_card_field(kcl_context *ctx, const card_part *p, int64_t k, const char *what) {
  const int64_t number = p->c->next + k, fields = p->count - k * p->e->per_line;
  const char *line = p->c->line[number], *end = p->c->line[number + 1], *at = read_card(p, k);
  const int64_t last = fields < p->e->per_line ? fields : p->e->per_line;
  mm_error bad = {.line = number + 1};
  while (end > line && (end[-1] == '\n' || end[-1] == '\r')) end--;
  explain_field(p, line, at, end, at - line >= last * p->e->width, what, &bad);
  return mm_error_report(ctx, p->c->t->name, &bad);
}

int hb_cards_read(kcl_context *ctx, hb_cards *c, const hb_edit *e, int64_t count, const char *what,
                  int64_t *integers, double *numbers) {
  card_part p = {c, e, count, integers, numbers, INT64_MAX};
  int64_t lines = hb_cards_needed(e, count);
  if (lines > c->count - c->next)
    return kcl_fail(
        ctx, KCL_INPUT, "%s:%lld: the file ends here, expected %lld lines from line %lld: %s",
        c->t->name, (long long)c->count, (long long)lines, (long long)c->next + 1, what);
  kcl_for(lines, LEAST_LINES, read_cards, &p);
  if (p.bad < INT64_MAX) return report_card_field(ctx, &p, p.bad, what);
  c->next += lines;
  return KCL_OK;
}
