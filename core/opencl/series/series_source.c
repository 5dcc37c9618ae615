/* The source of series: fills the skeleton kernels/series.cl. Each product is a function, and all end their rows in one function
 * that carries out the operations of the stage, by their number.
 */
#include "core/opencl/series/series.h"

typedef struct composed_series {
  const kcl_program *k;
  const kcl_geometry *g;
  kcl_series_parts parts;
} composed_series;

static kcl_emit emit_of(const composed_series *c, const kcl_series_part *list, int number) {
  kcl_emit e = {.k = c->k, .g = c->g, .s = &list[number].stage, .unnamed = true};
  snprintf(e.id, sizeof e.id, "%d", number);
  return e;
}

static void put_elements_functions(kcl_source *t, const void *of) {
  const composed_series *c = of;
  for (int i = 0; i < c->parts.lists; i++) {
    const kcl_emit e = emit_of(c, c->parts.operations, i);
    kcl_put_elements(t, &e);
  }
}

/* Words are cast: addresses to pointers of any type. */
static void put_operations_case(kcl_source *t, const kcl_emit *e, int number) {
  kcl_vec list[KCL_MOST_STAGE_VECTORS];
  const int count = kcl_stage_vectors(e->s, list, KCL_MOST_STAGE_VECTORS);
  kcl_put(t, "case %d: {\n", number);
  for (int v = 0; v < count; v++)
    kcl_put(t, "global void *v_%s = (global void *)w[%d];\n", kcl_emit_vec(e, list[v]),
            KCL_WORD_VECTOR + v);
  kcl_put_factors(t, e);
  kcl_put_call(t, e, "value");
  kcl_put(t, ";\n} break;\n");
}

static void put_operations_cases(kcl_source *t, const void *of) {
  const composed_series *c = of;
  for (int i = 0; i < c->parts.lists; i++) {
    const kcl_emit e = emit_of(c, c->parts.operations, i);
    put_operations_case(t, &e, i);
  }
}

static void put_product_function(kcl_source *t, const kcl_emit *e) {
  const kcl_stored *A = e->s->A;
  kcl_put_format(t, e);
  kcl_put(
      t,
      "INLINE void product_%s(const idx n, const int active, local const scalar *s, local scalar "
      "*scratch, local const ulong *w)\n{\n  visit_%s(",
      e->id, e->id);
  for (int a = 0; a < A->arrays + A->params; a++)
    kcl_put(t, "(%s)w[%d], ", a < A->arrays ? "global void *" : "idx", KCL_WORD_MATRIX + a);
  if (kcl_lanes_are_argument(e)) kcl_put(t, "(int)w[%d], ", KCL_WORD_LANES);
  kcl_put(t, "(global void *)w[%d], 0, n, scratch, active, s, w);\n}\n", KCL_WORD_X);
  for (int a = 0; a < A->arrays; a++)
    if (A->array[a].kind == KCL_INT64) kcl_put(t, "#undef %s_t\n", A->array[a].name);
}

static void put_product_functions(kcl_source *t, const void *of) {
  const composed_series *c = of;
  for (int i = 0; i < c->parts.products; i++) {
    const kcl_emit e = emit_of(c, c->parts.product, i);
    put_product_function(t, &e);
  }
}

static void put_product_cases(kcl_source *t, const void *of) {
  const composed_series *c = of;
  for (int i = 0; i < c->parts.products; i++)
    kcl_put(t, "case %d: product_%d(n, active, s, scratch, w); break;\n", i, i);
}

static void put_matrix_words(kcl_source *t, const void *of) {
  (void)of;
  kcl_put(t, "%d", KCL_SERIES_MATRIX);
}

static void put_vector_words(kcl_source *t, const void *of) {
  (void)of;
  kcl_put(t, "%d", KCL_SERIES_VECTORS);
}

static void put_size_words(kcl_source *t, const void *of) {
  const composed_series *c = of;
  kcl_put(t, "%d", kcl_series_size_words(c->k));
}

int kcl_put_series(kcl_source *t, const kcl_program *k, const kcl_geometry *g) {
  static const kcl_hole holes[] = {
      {"elements", put_elements_functions}, {"operations", put_operations_cases},
      {"products", put_product_functions},  {"cases", put_product_cases},
      {"matrix_words", put_matrix_words},   {"vector_words", put_vector_words},
      {"size_words", put_size_words}};
  composed_series c = {.k = k, .g = g};
  int rc = kcl_series_parts_find(k, g, &c.parts);
  if (!rc) kcl_put_skeleton(t, "series.cl", holes, sizeof holes / sizeof *holes, &c);
  kcl_put_file(t, "addresses.cl");
  kcl_series_parts_free(&c.parts);
  return rc;
}
