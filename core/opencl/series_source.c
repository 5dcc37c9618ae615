/* The source of series: fills the skeletons kernels/series.cl and series_stage.cl. Stages that are alike are one function.
 */
#include "core/opencl/emit.h"

/* The stage after this one that is the first of its kind; false: there is none. */
static bool next_kind(const kcl_program *k, const kcl_geometry *g, int *phase, int *number) {
  while (kcl_series_next(k, g, phase, number)) {
    int p = *phase, i = *number;
    kcl_stage_shared(k, g, &p, &i);
    if (p == *phase && i == *number) return true;
  }
  return false;
}

int kcl_series_function(const kcl_program *k, const kcl_geometry *g, int phase, int number) {
  int before = 0;
  kcl_stage_shared(k, g, &phase, &number);
  for (int p = 0, i = -1; next_kind(k, g, &p, &i) && !(p == phase && i == number);) before++;
  return before;
}

static int arguments(const kcl_stage *s) {
  kcl_vec list[KCL_MOST_STAGE_VECTORS];
  return s->A->arrays + s->A->params + kcl_stage_vectors(s, list, KCL_MOST_STAGE_VECTORS);
}

int kcl_series_words(const kcl_program *k, const kcl_geometry *g) {
  int most = 0;
  for (int phase = 0, i = -1; kcl_series_next(k, g, &phase, &i);) {
    const int count = arguments(&k->stage[phase][i]);
    if (count > most) most = count;
  }
  return KCL_SERIES_ARGUMENTS + most;
}

/* ---------------------------------------------------------------- holes */

typedef struct composed {
  const kcl_program *k;
  const kcl_geometry *g;
} composed;

static void functions(kcl_source *t, const void *of) {
  const composed *c = of;
  int number = 0;
  for (int phase = 0, i = -1; next_kind(c->k, c->g, &phase, &i);)
    kcl_put_stage_function(t, c->k, c->g, (kcl_phase)phase, i, number++);
}

/* Words are cast: those of integers to idx, addresses to pointers of any type. */
static void put_case(kcl_source *t, int number, const kcl_stage *s) {
  kcl_put(t, "case %d: stage_%d(n, active, s, scratch", number, number);
  for (int a = 0, all = arguments(s), params = s->A->arrays + s->A->params; a < all; a++)
    kcl_put(t, ", (%s)w[%d]", a >= s->A->arrays && a < params ? "idx" : "global void *",
            KCL_SERIES_ARGUMENTS + a);
  kcl_put(t, "); break;\n");
}

static void cases(kcl_source *t, const void *of) {
  const composed *c = of;
  int number = 0;
  for (int phase = 0, i = -1; next_kind(c->k, c->g, &phase, &i);)
    put_case(t, number++, &c->k->stage[phase][i]);
}

static void words(kcl_source *t, const void *of) {
  const composed *c = of;
  kcl_put(t, "%d", kcl_series_words(c->k, c->g));
}

void kcl_put_series(kcl_source *t, const kcl_program *k, const kcl_geometry *g) {
  static const kcl_hole holes[] = {{"functions", functions}, {"words", words}, {"cases", cases}};
  const composed c = {k, g};
  kcl_put_skeleton(t, "series.cl", holes, sizeof holes / sizeof *holes, &c);
}
