/* "Use X": the fastest format for a question, over all numbers of threads, and how certain that is, by a rank test
 * of its samples against those of the next format (rank_test.c). */
#include "cli/draw/svg.h"
#include "cli/report/rank_test.h"
#include "cli/report/report.h"

static const double CLOSE = 1.02; /* a factor that does not matter in practice */

typedef struct candidates {
  const cli_bench_row *best, *next; /* next: the fastest of another format, or NULL */
} candidates;

static void offer_candidate(candidates *c, const cli_bench_row *row) {
  const cli_bench_row *old = c->best;
  if (!old || cli_bench_per_rhs(row) < cli_bench_per_rhs(old)) {
    c->best = row;
    if (old && strcmp(old->format, row->format)) c->next = old;
  } else if (strcmp(row->format, old->format) &&
             (!c->next || cli_bench_per_rhs(row) < cli_bench_per_rhs(c->next)))
    c->next = row;
}

static candidates find_candidates(const cli_report_data *r, const cli_report_group *g) {
  candidates c = {0};
  for (int i = 0; i < r->group_count; i++) {
    const cli_report_group *h = &r->groups[i];
    for (int k = 0; k < h->count && cli_report_same_question(r, h->key, g->key); k++)
      offer_candidate(&c, &r->run.rows[h->rows[k]]);
  }
  return c;
}

static void print_name(FILE *f, const char *text, bool html) {
  if (html) {
    fputs("<b>", f);
    cli_xml_text(f, text);
    fputs("</b>", f);
  } else
    fputs(text, f);
}

/* Writes how certain the answer is. An interval of 95 % needs four samples of each, or more of one if the other
 * has fewer. */
static void print_certainty(FILE *f, const candidates *c, bool html) {
  const kcl_samples *s = cli_bench_samples(c->best), *t = cli_bench_samples(c->next);
  const int fewer = s->count < t->count ? s->count : t->count;
  cli_rank_test test;
  if (cli_rank_compare(s->seconds, s->count, t->seconds, t->count, &test)) return;
  const bool known = fewer > 1 && test.confidence >= 0.95;
  const char *verdict = test.low > CLOSE ? "Sure" : test.low > 1 ? "Nearly a tie" : "A tie";
  if (!known) verdict = "Not known";
  fprintf(f, "%s: ", verdict);
  print_name(f, c->next->format, html);
  fprintf(f, " takes %s times as long", cli_bench_factor(test.ratio).s);
  if (known)
    fprintf(f, " (%.0f %% interval %s to %s)", 100 * test.confidence, cli_bench_factor(test.low).s,
            cli_bench_factor(test.high).s);
  if (fewer == 1)
    fprintf(f, " by one sample, which has no interval: take six or more");
  else if (fewer < 6)
    fprintf(f, ". %d samples only: take six or more", fewer);
  else if (cli_bench_inconsistent(c->best))
    fprintf(f,
            ". Its product alone took longer than the iteration that contains it: measure again");
  else if (cli_bench_noisy(c->best))
    fprintf(f, ". Its samples are noisy: measure again on an idle machine");
}

void cli_report_answer(FILE *f, const cli_report_data *r, const cli_report_group *g, bool html) {
  const candidates c = find_candidates(r, g);
  if (!c.best) return;
  fputs("Use ", f), print_name(f, c.best->format, html);
  fprintf(f, ": %s per %s, ", cli_exact_seconds(cli_bench_time(c.best)->median).s,
          cli_bench_alone(c.best) ? "product" : "iteration");
  const cli_report_name where = cli_report_where(r, c.best);
  if (html)
    cli_xml_text(f, where.s);
  else
    fputs(where.s, f);
  fputs(". ", f);
  if (c.next)
    print_certainty(f, &c, html);
  else
    fputs("No other format was measured", f);
  fputs(".", f);
}
