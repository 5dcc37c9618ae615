/* krylocl report --compare: which times of a new run are beyond those of an old one. A time is slower if both hold:
 *
 *   the ranks of the samples differ: p < 0.05 by Mann & Whitney (rank_test.c), adjusted by Holm for all times together
 *   the ratio of the least samples, new to old, is above a limit, and so is the typical one (Hodges & Lehmann)
 *
 * The first alone is not enough: samples of one run are not independent, so two equal runs on a busy machine differ in their
 * ranks. The least sample is what other work on the machine changes least, for it only adds time (Chen & Revels 2016). The
 * limit is what the user does not mind, or what the machine does to times that nobody changed: three times the spread of the
 * ratios around their median, by the median absolute deviation (Rousseeuw & Croux 1993). The sequential reference, which is
 * no part of what is measured, is a control: if it is slower by a factor, the machine is, and limits move by that factor.
 * Faster: likewise, the other way. */
#include "cli/report.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double LEVEL = 0.05; /* of all false alarms together */

typedef enum verdict { SAME, SLOWER, FASTER, FEW } verdict;

typedef struct pair {
  const bench_row *old, *new;
  bool product; /* the time of a product, else of an iteration */
  rank_test test;
  double least, drift; /* ratio of the least samples; that of the reference */
  verdict verdict;
} pair;

typedef struct comparison {
  report old, new;
  pair *list;
  double spread, limit;     /* of logarithms; that of ratios */
  int count, alone, broken; /* rows without a counterpart; rows that were measured and fail now */
} comparison;

static const kcl_samples *samples(const bench_row *row, bool product) {
  return product ? &row->measured.product : &row->measured.iteration;
}

/* ---------------------------------------------------------------- pairs */

static bool same_place(const report *a, const bench_row *x, const report *b, const bench_row *y) {
  if (x->place < 0 || y->place < 0) return x->place < 0 && y->place < 0;
  const bench_place *p = &a->run.places[x->place], *q = &b->run.places[y->place];
  const bool native = p->device.platform < 0;
  return !strcmp(p->place, q->place) && !strcmp(p->layout, q->layout) &&
         (!native || p->device.compute_units == q->device.compute_units);
}

static bool same_row(const report *a, const bench_row *x, const report *b, const bench_row *y) {
  const bench_matrix *A = &a->run.matrices[x->matrix], *B = &b->run.matrices[y->matrix];
  return !strcmp(A->name, B->name) && A->rows == B->rows && A->cols == B->cols &&
         A->nnz == B->nnz && x->type == y->type && x->nrhs == y->nrhs &&
         !strcmp(x->method, y->method) && bench_alone(x) == bench_alone(y) &&
         !strcmp(x->precond, y->precond) && !strcmp(x->format, y->format) && same_place(a, x, b, y);
}

static const bench_row *partner(const comparison *c, const bench_row *old) {
  for (int i = 0; i < c->new.run.row_count; i++)
    if (same_row(&c->old, old, &c->new, &c->new.run.rows[i])) return &c->new.run.rows[i];
  return NULL;
}

static double least_sample(const kcl_samples *s) {
  double v = INFINITY;
  for (int i = 0; i < s->count; i++) v = fmin(v, s->seconds[i]);
  return v;
}

static int compare(const bench_row *old, const bench_row *new, bool product, pair *p) {
  const kcl_samples *x = samples(old, product), *y = samples(new, product);
  *p = (pair){.old = old, .new = new, .product = product, .drift = 1};
  p->least = least_sample(y) / least_sample(x);
  return rank_compare(x->seconds, x->count, y->seconds, y->count, &p->test)
             ? cli_fail(KCL_MEMORY, "out of memory: the samples")
             : 0;
}

/* A row whose product and iteration are timed makes two. */
static int add(comparison *c, const bench_row *old) {
  const bench_row *new = partner(c, old);
  int rc = 0;
  if (old->state != BENCH_OK || old->place < 0) return 0;
  if (new &&new->state == BENCH_FAILED) c->broken++;
  if (!new || new->state != BENCH_OK) return c->alone++, 0;
  for (int product = 0; product < 2 && !rc; product++)
    if (samples(old, product)->count && samples(new, product)->count)
      rc = compare(old, new, product, &c->list[c->count++]);
  return rc;
}

/* ---------------------------------------------------------------- verdicts */

/* The ratio of the reference of the same matrix and type, if its samples differ at all. */
static int drift_of(const comparison *c, pair *p) {
  for (int i = 0; i < c->old.run.row_count; i++) {
    const bench_row *old = &c->old.run.rows[i], *new;
    pair reference;
    if (old->place >= 0 || old->state != BENCH_OK || old->matrix != p->old->matrix ||
        old->type != p->old->type)
      continue;
    new = partner(c, old);
    if (!new || new->state != BENCH_OK) continue;
    int rc = compare(old, new, true, &reference);
    if (!rc && (reference.test.low > 1 || reference.test.high < 1)) p->drift = reference.least;
    return rc;
  }
  return 0;
}

static void decide(pair *p, double adjusted, double limit) {
  const double up = (1 + limit) * fmax(1, p->drift), down = fmin(1, p->drift) / (1 + limit);
  const bool few = samples(p->old, p->product)->count < 6 || samples(p->new, p->product)->count < 6;
  const bool above = fmin(p->least, p->test.ratio) > up,
             below = fmax(p->least, p->test.ratio) < down;
  p->test.p = adjusted;
  if (above || below) p->verdict = adjusted < LEVEL ? above ? SLOWER : FASTER : few ? FEW : SAME;
}

/* Three standard deviations of the logarithms of the ratios of least samples, of a normal distribution with their median absolute
 * deviation: what this machine does to times that nobody changed. Few times do not tell. */
static int spread(const comparison *c, double *out) {
  double *v = calloc((size_t)c->count + 1, sizeof *v);
  *out = 0;
  if (!v) return cli_fail(KCL_MEMORY, "out of memory: the samples");
  for (int i = 0; i < c->count; i++) v[i] = log(c->list[i].least);
  const double middle = c->count ? cli_median(v, c->count) : 0;
  for (int i = 0; i < c->count; i++) v[i] = fabs(v[i] - middle);
  if (c->count >= 8) *out = 3 * 1.4826 * cli_median(v, c->count);
  free(v);
  return 0;
}

static int decide_all(comparison *c, double least) {
  double *p = calloc((size_t)c->count + 1, sizeof *p);
  int rc = p ? 0 : cli_fail(KCL_MEMORY, "out of memory: the samples");
  for (int i = 0; i < c->count && !rc; i++) p[i] = c->list[i].test.p, rc = drift_of(c, &c->list[i]);
  if (!rc) rank_holm(p, c->count);
  if (!rc) rc = spread(c, &c->spread);
  c->limit = fmax(least, expm1(c->spread));
  for (int i = 0; i < c->count && !rc; i++) decide(&c->list[i], p[i], c->limit);
  free(p);
  return rc;
}

/* ---------------------------------------------------------------- output */

static int slowest_first(const void *a, const void *b) {
  const pair *p = a, *q = b;
  return (p->least < q->least) - (p->least > q->least);
}

static void say_pair(const comparison *c, const pair *p) {
  static const char *const words[] = {"same", "SLOWER", "faster", "too few samples"};
  const kcl_summary *s = p->product ? &p->old->product : &p->old->iteration,
                    *t = p->product ? &p->new->product : &p->new->iteration;
  char what[80], range[90];
  snprintf(what, sizeof what, "%.30s %c", p->product ? "product" : p->old->method,
           kcl_type_letter(p->old->type));
  snprintf(range, sizeof range, "%s to %s", bench_factor(p->test.low).s,
           bench_factor(p->test.high).s);
  cli_say(c->old.o, "%-18.40s %-13s %-24s %-12s %9s %9s  %5s  %-13s  %5s  %s\n",
          c->old.run.matrices[p->old->matrix].name, p->old->format,
          report_place(&c->old, p->old->place, true).s, what, bench_us(s->median).s,
          bench_us(t->median).s, bench_factor(p->test.ratio).s, range, bench_factor(p->least).s,
          words[p->verdict]);
}

static void say_devices(const comparison *c) {
  for (int i = 0; i < c->old.run.place_count; i++)
    for (int k = 0; k < c->new.run.place_count; k++) {
      const bench_place *p = &c->old.run.places[i], *q = &c->new.run.places[k];
      if (strcmp(p->place, q->place) ||
          (!strcmp(p->device.name, q->device.name) && !strcmp(p->device.driver, q->device.driver)))
        continue;
      cli_say(c->old.o, "warning     %s is another device: %s %s, now %s %s\n", p->place,
              p->device.name, p->device.driver, q->device.name, q->device.driver);
    }
}

/* All times of short lists, else those that changed. */
static int say(const comparison *c) {
  const cli_options *o = c->old.o;
  int of[4] = {0};
  double drift = 1;
  for (int i = 0; i < c->count; i++) {
    of[c->list[i].verdict]++;
    if (fabs(log(c->list[i].drift)) > fabs(log(drift))) drift = c->list[i].drift;
  }
  say_devices(c);
  cli_say(o, "%-18s %-13s %-24s %-12s %9s %9s  %5s  %-13s  %5s\n", "matrix", "format", "device",
          "time of", "old us", "new us", "ratio", "interval", "least");
  for (int i = 0; i < c->count; i++)
    if (c->count <= 40 || c->list[i].verdict != SAME || o->verbose) say_pair(c, &c->list[i]);
  cli_say(o, "\n%d times: %d slower, %d faster, %d the same", c->count, of[SLOWER], of[FASTER],
          of[SAME]);
  if (of[FEW]) cli_say(o, ", %d with too few samples to tell", of[FEW]);
  cli_say(o, " (beyond %.3g %%, p < %g for all together)\n", 100 * c->limit, LEVEL);
  if (100 * c->limit > o->least * 1.001)
    cli_say(o,
            "the machine was not quiet: times scatter between the runs, so changes of less than "
            "%.3g %% do not count\n",
            100 * c->limit);
  if (fabs(drift - 1) > 0.01)
    cli_say(
        o, "the sequential reference takes up to %.2f times as long: limits moved by that factor\n",
        drift);
  if (c->alone)
    cli_say(o, "%d row%s measured in the new run\n", c->alone,
            c->alone == 1 ? " is not" : "s are not");
  if (c->broken)
    cli_say(o, "%d row%s in the new run\n", c->broken, c->broken == 1 ? " FAILS" : "s FAIL");
  return of[SLOWER] || c->broken ? CLI_SLOWER : 0;
}

int report_compare(const cli_options *o) {
  comparison c = {.old = {.o = o}, .new = {.o = o}};
  int rc = 0;
  if (o->count != 2) return cli_fail(KCL_USAGE, "--compare takes two files: old.json new.json");
  if (o->output || o->figures || o->markdown || o->latex || o->csv)
    return cli_fail(KCL_USAGE, "--compare writes no files");
  TRY(report_read(&c.old, o->files, 1, NULL));
  TRY(report_read(&c.new, o->files + 1, 1, NULL));
  c.list = calloc(2 * (size_t)c.old.run.row_count + 1, sizeof *c.list);
  TRY(c.list ? 0 : cli_fail(KCL_MEMORY, "out of memory: the rows"));
  for (int i = 0; i < c.old.run.row_count; i++) TRY(add(&c, &c.old.run.rows[i]));
  if (!c.count && !c.broken)
    TRY(cli_fail(KCL_INPUT, "%s and %s have no measured row in common", o->files[0], o->files[1]));
  TRY(decide_all(&c, o->least / 100));
  qsort(c.list, (size_t)c.count, sizeof *c.list, slowest_first);
  rc = say(&c);
done:
  free(c.list);
  report_free(&c.old), report_free(&c.new);
  return rc;
}
