/* krylocl report --compare: which times became slower or faster between an old and a new state, of which there are one run
 * each or several. Compared (pairs.c) are the samples of single runs, or of several runs the typical and the least
 * sample of each. A time is slower
 *
 *   between single runs  if the ranks differ, p < 0.05 by Mann & Whitney (rank_test.c), adjusted by Holm for all times
 *                        together, and the typical ratio of new to old (Hodges & Lehmann) and that of the least samples are
 *                        above a limit
 *   between several      if of the two ratios, of their least samples and of their medians, one is above the limit with its
 *                        interval above 1, and the other agrees: it is above half of the limit
 *
 * Samples of one run are not independent: two equal runs on a busy machine differ in their ranks. Hence the limit, and the
 * least sample, which other work on the machine changes least, for it only adds time (Chen & Revels 2016). Several runs, in
 * turn, are independent: they tell what the machine does (Kalibera & Jones 2013). For single runs the limit is at least
 * three times the spread of all ratios of least samples, by the median absolute deviation (Rousseeuw & Croux 1993). The
 * sequential reference is a control: if it takes a factor longer, the machine does, and limits move by that factor.
 * Faster: likewise, the other way. */
#include "cli/report/compare.h"
#include "cli/ui/say.h"

static const double LEVEL = 0.05; /* probability of a false alarm among all times of single runs */

/* ---------------------------------------------------------------- verdicts */

/* Spread of the ratios of least samples on this machine: three standard deviations of their logarithms, estimated
 * from the median absolute deviation. Few times give none. */
static int ratio_spread(const cli_comparison *c, double *out) {
  double *v = calloc((size_t)c->count + 1, sizeof *v);
  *out = 0;
  if (!v) return cli_fail(KCL_MEMORY, "out of memory: the samples");
  for (int i = 0; i < c->count; i++) v[i] = log(c->list[i].least.ratio);
  const double middle = c->count ? cli_median(v, c->count) : 0;
  for (int i = 0; i < c->count; i++) v[i] = fabs(v[i] - middle);
  if (c->count >= 8) *out = 3 * 1.4826 * cli_median(v, c->count);
  free(v);
  return 0;
}

/* Ratios above 1 with the lower ends of their intervals, or the inverses of ratios below 1 with those of the upper
 * ends. */
typedef struct ratios {
  double least, least_end, typical, typical_end, drift;
} ratios;

static bool exceeds_limit(const cli_comparison *c, const cli_report_pair *p, ratios r) {
  const double moved = fmax(1, r.drift), limit = (1 + c->limit) * moved,
               half = (1 + c->limit / 2) * moved;
  if (c->runs == 1)
    return r.least > limit && r.typical > limit && (p->typical.p < LEVEL || p->samples < 6);
  return (r.least > limit && r.least_end > 1 && r.typical > half) ||
         (r.typical > limit && r.typical_end > 1 && r.least > half);
}

static void decide_pair(const cli_comparison *c, cli_report_pair *p) {
  const cli_rank_test *l = &p->least, *t = &p->typical;
  const bool slower = exceeds_limit(c, p, (ratios){l->ratio, l->low, t->ratio, t->low, p->drift});
  const bool faster = exceeds_limit(
      c, p, (ratios){1 / l->ratio, 1 / l->high, 1 / t->ratio, 1 / t->high, 1 / p->drift});
  if (!slower && !faster) return;
  p->verdict = slower ? CLI_PAIR_SLOWER : CLI_PAIR_FASTER;
  if (c->runs == 1 && p->samples < 6 && t->p >= LEVEL) p->verdict = CLI_PAIR_FEW;
}

static int decide_all(cli_comparison *c) {
  CLI_OWNED double *p = calloc((size_t)c->count + 1, sizeof *p);
  double found = 0;
  int rc = p ? 0 : cli_fail(KCL_MEMORY, "out of memory: the samples");
  for (int i = 0; i < c->count && !rc; i++) p[i] = c->list[i].typical.p;
  if (!rc) cli_rank_holm(p, c->count);
  for (int i = 0; i < c->count && !rc; i++) c->list[i].typical.p = p[i];
  if (!rc && c->runs == 1) rc = ratio_spread(c, &found);
  c->limit = fmax(c->o->least / 100, expm1(found));
  for (int i = 0; i < c->count && !rc; i++) decide_pair(c, &c->list[i]);
  return rc;
}

/* ---------------------------------------------------------------- output */

static int slowest_first(const void *a, const void *b) {
  const cli_report_pair *p = a, *q = b;
  return (p->least.ratio < q->least.ratio) - (p->least.ratio > q->least.ratio);
}

static void say_pair(const cli_comparison *c, const cli_report_pair *p) {
  static const char *const words[] = {"same", "SLOWER", "faster", "too few samples"};
  const cli_report_data *r = &c->file[0];
  char what[80], range[90];
  snprintf(what, sizeof what, "%.30s %c", p->product ? "product" : p->row->method,
           kcl_type_letter(p->row->type));
  snprintf(range, sizeof range, "%s to %s", cli_bench_factor(p->typical.low).s,
           cli_bench_factor(p->typical.high).s);
  cli_say(c->o, "%-18.40s %-13s %-24s %-12s %9s %9s  %5s  %-13s  %5s  %s\n",
          r->run.matrices[p->row->matrix].name, p->row->format,
          cli_report_place(r, p->row->place, true).s, what, cli_bench_us(p->old).s,
          cli_bench_us(p->new).s, cli_bench_factor(p->typical.ratio).s, range,
          cli_bench_factor(p->least.ratio).s, words[p->verdict]);
}

static void say_devices(const cli_comparison *c) {
  const cli_report_data *old = &c->file[0], *new = &c->file[c->runs];
  for (int i = 0; i < old->run.place_count; i++)
    for (int k = 0; k < new->run.place_count; k++) {
      const cli_bench_place *p = &old->run.places[i], *q = &new->run.places[k];
      if (strcmp(p->place, q->place) ||
          (!strcmp(p->device.name, q->device.name) && !strcmp(p->device.driver, q->device.driver)))
        continue;
      cli_say(c->o, "warning     %s is another device: %s %s, now %s %s\n", p->place,
              p->device.name, p->device.driver, q->device.name, q->device.driver);
    }
}

static void say_end(const cli_comparison *c, const int of[4], double drift) {
  const cli_options *o = c->o;
  cli_say(o, "\n%d times: %d slower, %d faster, %d the same", c->count, of[CLI_PAIR_SLOWER],
          of[CLI_PAIR_FASTER], of[CLI_PAIR_SAME]);
  if (of[CLI_PAIR_FEW]) cli_say(o, ", %d with too few samples to tell", of[CLI_PAIR_FEW]);
  if (c->runs > 1)
    cli_say(o, " (beyond %.3g %%, in %d runs each)\n", 100 * c->limit, c->runs);
  else
    cli_say(o, " (beyond %.3g %%, p < %g for all together)\n", 100 * c->limit, LEVEL);
  if (100 * c->limit > o->least * 1.001)
    cli_say(o,
            "the machine was not quiet: changes of less than %.3g %% do not count; several runs "
            "each tell more\n",
            100 * c->limit);
  if (fabs(drift - 1) > 0.01)
    cli_say(
        o, "the sequential reference takes up to %.2f times as long: limits moved by that factor\n",
        drift);
  if (c->alone)
    cli_say(o, "%d row%s not measured in every other run\n", c->alone,
            c->alone == 1 ? " is" : "s are");
  if (c->broken)
    cli_say(o, "%d row%s in a new run\n", c->broken, c->broken == 1 ? " FAILS" : "s FAIL");
}

/* Prints all times of a short list, else those that changed. */
static int say_comparison(const cli_comparison *c) {
  int of[4] = {0};
  double drift = 1;
  for (int i = 0; i < c->count; i++) {
    of[c->list[i].verdict]++;
    if (fabs(log(c->list[i].drift)) > fabs(log(drift))) drift = c->list[i].drift;
  }
  say_devices(c);
  cli_say(c->o, "%-18s %-13s %-24s %-12s %9s %9s  %5s  %-13s  %5s\n", "matrix", "format", "device",
          "time of", "old us", "new us", "ratio", "interval", "least");
  for (int i = 0; i < c->count; i++)
    if (c->count <= 40 || c->list[i].verdict != CLI_PAIR_SAME || c->o->verbose)
      say_pair(c, &c->list[i]);
  say_end(c, of, drift);
  return of[CLI_PAIR_SLOWER] || c->broken ? CLI_SLOWER : 0;
}

/* ---------------------------------------------------------------- */

static int check_compare_usage(const cli_options *o) {
  if (o->count != 2 && (o->count < 8 || o->count % 2))
    return cli_fail(KCL_USAGE, "--compare takes two files, old.json new.json, or four or more of "
                               "each, the old ones first");
  if (o->output || o->figures || o->markdown || o->latex || o->csv)
    return cli_fail(KCL_USAGE, "--compare writes no files");
  return 0;
}

int cli_report_compare(const cli_options *o) {
  cli_comparison c = {.o = o, .runs = o->count / 2};
  int rc = check_compare_usage(o);
  if (rc) return rc;
  c.file = calloc((size_t)o->count, sizeof *c.file);
  CLI_TRY(c.file ? 0 : cli_fail(KCL_MEMORY, "out of memory: the files"));
  for (int i = 0; i < o->count; i++) c.file[i].o = o;
  for (int i = 0; i < o->count; i++) CLI_TRY(cli_report_read(&c.file[i], o->files + i, 1, NULL));
  CLI_TRY(cli_report_pairs(&c));
  if (!c.count && !c.broken)
    CLI_TRY(cli_fail(KCL_INPUT, "%s and %s have no measured row in common", o->files[0],
                     o->files[c.runs]));
  CLI_TRY(decide_all(&c));
  qsort(c.list, (size_t)c.count, sizeof *c.list, slowest_first);
  rc = say_comparison(&c);
done:
  free(c.list);
  for (int i = 0; c.file && i < o->count; i++) cli_report_free(&c.file[i]);
  free(c.file);
  return rc;
}
