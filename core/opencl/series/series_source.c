/* The source of series: fills the skeletons kernels/series.cl and series_stage.cl. Stages that are alike are one function.
 */
#include "core/opencl/series/series.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void describe_kind(const kcl_program *k, kcl_series_kind *of) {
  const kcl_stage *s = &k->stage[of->phase][of->number];
  int n =
      snprintf(of->key, sizeof of->key, "%s %02d", s->A->format->name, kcl_series_lanes(k, s->A));
  for (int a = 0; a < s->A->arrays; a++)
    n += snprintf(of->key + n, sizeof of->key - (size_t)n, " %d", s->A->array[a].kind);
  for (int i = 0; i < s->vectors && n < (int)sizeof of->key; i++)
    n += snprintf(of->key + n, sizeof of->key - (size_t)n, " %d %g %g", s->vector[i].code,
                  s->vector[i].a.constant, s->vector[i].b.constant);
}

static int by_key(const void *a_, const void *b_) {
  const kcl_series_kind *a = a_, *b = b_;
  const int keys = strcmp(a->key, b->key);
  return keys ? keys : a->phase != b->phase ? a->phase - b->phase : a->number - b->number;
}

int kcl_series_kinds(const kcl_program *k, const kcl_geometry *g,
                     kcl_series_kind list[KCL_MOST_KINDS]) {
  int count = 0;
  for (int phase = 0, i = -1; count < KCL_MOST_KINDS && kcl_series_next(k, g, &phase, &i);) {
    int p = phase, number = i;
    kcl_stage_shared(k, g, &p, &number);
    if (p != phase || number != i) continue;
    list[count] = (kcl_series_kind){.phase = phase, .number = i};
    describe_kind(k, &list[count++]);
  }
  qsort(list, (size_t)count, sizeof *list, by_key);
  return count;
}

static int count_arguments(const kcl_stage *s) {
  kcl_vec list[KCL_MOST_STAGE_VECTORS];
  return s->A->arrays + s->A->params + kcl_stage_vectors(s, list, KCL_MOST_STAGE_VECTORS);
}

int kcl_series_words(const kcl_program *k, const kcl_geometry *g) {
  int most = 0;
  for (int phase = 0, i = -1; kcl_series_next(k, g, &phase, &i);) {
    const int count = count_arguments(&k->stage[phase][i]);
    if (count > most) most = count;
  }
  return KCL_SERIES_ARGUMENTS + most;
}

/* ---------------------------------------------------------------- holes */

typedef struct composed_series {
  const kcl_program *k;
  const kcl_geometry *g;
  kcl_series_kind kind[KCL_MOST_KINDS];
  int kinds;
} composed_series;

static void put_series_functions(kcl_source *t, const void *of) {
  const composed_series *c = of;
  for (int i = 0; i < c->kinds; i++)
    kcl_put_stage_function(t, c->k, c->g, (kcl_phase)c->kind[i].phase, c->kind[i].number, i);
}

/* Words are cast: integers to idx, addresses to pointers of any type. */
static void put_case(kcl_source *t, int number, const kcl_stage *s) {
  kcl_put(t, "case %d: stage_%d(n, active, s, scratch", number, number);
  for (int a = 0, all = count_arguments(s), params = s->A->arrays + s->A->params; a < all; a++)
    kcl_put(t, ", (%s)w[%d]", a >= s->A->arrays && a < params ? "idx" : "global void *",
            KCL_SERIES_ARGUMENTS + a);
  kcl_put(t, "); break;\n");
}

static void cases(kcl_source *t, const void *of) {
  const composed_series *c = of;
  for (int i = 0; i < c->kinds; i++)
    put_case(t, i, &c->k->stage[c->kind[i].phase][c->kind[i].number]);
}

static void put_series_words(kcl_source *t, const void *of) {
  const composed_series *c = of;
  kcl_put(t, "%d", kcl_series_words(c->k, c->g));
}

void kcl_put_series(kcl_source *t, const kcl_program *k, const kcl_geometry *g) {
  static const kcl_hole holes[] = {
      {"functions", put_series_functions}, {"words", put_series_words}, {"cases", cases}};
  composed_series c = {.k = k, .g = g};
  c.kinds = kcl_series_kinds(k, g, c.kind);
  kcl_put_skeleton(t, "series.cl", holes, sizeof holes / sizeof *holes, &c);
}
