/* The parts of series (series.h): products and lists of operations, each once, in an order that systems share. */
#include "core/opencl/series/series.h"
#include <stdarg.h>

typedef struct series_key {
  char *text;
  size_t used;
} series_key;

static void add_to_key(series_key *key, const char *format, ...) KCL_PRINTF(2, 3);
static void add_to_key(series_key *key, const char *format, ...) {
  const size_t left = KCL_SERIES_KEY - key->used;
  va_list args;
  va_start(args, format);
  const int n = vsnprintf(key->text + key->used, left, format, args);
  va_end(args);
  key->used += n < 0 ? 0 : (size_t)n < left ? (size_t)n : left - 1;
}

/* The key of a product: all that its source depends on. */
static void put_product_key(const kcl_program *k, const kcl_stage *s, char *text) {
  const kcl_stored *A = s->A;
  series_key key = {.text = text};
  add_to_key(&key, "%s %d %d %d", A->format->name, A->kernel.variant,
             kcl_lanes_vary(k, A) ? 0 : kcl_series_lanes(k, A), A->nnz < INT32_MAX);
  for (int a = 0; a < A->arrays; a++)
    add_to_key(&key, " %s %d", A->array[a].name, A->array[a].kind);
  for (int p = 0; p < A->params; p++) add_to_key(&key, " %s", A->param[p].name);
  add_to_key(&key, " %d", k->vector[s->x].narrow);
}

static void put_coefficient_key(series_key *key, kcl_coef c) {
  add_to_key(key, " %.17g %d%s%s", c.constant, c.slot, c.negate ? "-" : "", c.conjugate ? "*" : "");
}

static int place_of(const kcl_vec *list, kcl_vec v) {
  int i = 0;
  while (list[i] != v) i++;
  return i;
}

/* The key of the operations of a stage: all that their source depends on. */
static void put_operations_key(const kcl_program *k, const kcl_stage *s, char *text) {
  kcl_vec list[KCL_MOST_STAGE_VECTORS];
  const int count = kcl_stage_vectors(s, list, KCL_MOST_STAGE_VECTORS);
  series_key key = {.text = text};
  for (int v = 0; v < count; v++)
    add_to_key(&key, " %d%d%d", k->vector[list[v]].narrow, kcl_vector_shared(k, list[v]),
               kcl_stage_temporary(s, list[v]) >= 0);
  for (int i = 0; i < s->vectors; i++) {
    const kcl_op *o = &s->vector[i];
    add_to_key(&key, ", %d %d", o->code, o->conjugate);
    put_coefficient_key(&key, o->a), put_coefficient_key(&key, o->b);
    add_to_key(&key, " %d %d %d", place_of(list, o->y), place_of(list, o->x), place_of(list, o->z));
  }
}

typedef void put_key(const kcl_program *k, const kcl_stage *s, char *key);

static int part_with(const kcl_series_part *list, int count, const char *key) {
  int i = 0;
  while (i < count && strcmp(list[i].key, key)) i++;
  return i;
}

static void add_part(const kcl_program *k, kcl_series_part *list, int *count, const kcl_stage *s,
                     put_key *put) {
  char key[KCL_SERIES_KEY];
  put(k, s, key);
  if (*count == KCL_MOST_SERIES_PARTS || part_with(list, *count, key) < *count) return;
  list[*count].stage = *s;
  strcpy(list[(*count)++].key, key);
}

static int by_key(const void *a, const void *b) {
  return strcmp(((const kcl_series_part *)a)->key, ((const kcl_series_part *)b)->key);
}

static void find_products(const kcl_program *k, const kcl_geometry *g, kcl_series_parts *p) {
  const kcl_stage *like = NULL;
  for (int phase = 0, i = -1; kcl_series_next(k, g, &phase, &i);) {
    const kcl_stage *s = &k->stage[phase][i];
    if (s->A != k->A || !like) like = s;
    add_part(k, p->product, &p->products, s, put_product_key);
  }
  for (int e = 0; like && e < k->expected; e++) {
    kcl_stage s = *like;
    s.A = k->expect[e];
    add_part(k, p->product, &p->products, &s, put_product_key);
  }
}

static void find_operations(const kcl_program *k, kcl_series_parts *p) {
  for (int phase = 0; phase < KCL_PHASES; phase++)
    for (int i = 0; i < k->stages[phase]; i++)
      if (kcl_series_suits(k, phase, i))
        add_part(k, p->operations, &p->lists, &k->stage[phase][i], put_operations_key);
}

int kcl_series_parts_find(const kcl_program *k, const kcl_geometry *g, kcl_series_parts *out) {
  *out = (kcl_series_parts){.products = 0};
  KCL_CALL(kcl_alloc(k->ctx, KCL_MOST_SERIES_PARTS, sizeof *out->product, "kernels",
                     (void **)&out->product));
  KCL_CALL(kcl_alloc(k->ctx, KCL_MOST_SERIES_PARTS, sizeof *out->operations, "kernels",
                     (void **)&out->operations));
  find_products(k, g, out), find_operations(k, out);
  qsort(out->product, (size_t)out->products, sizeof *out->product, by_key);
  qsort(out->operations, (size_t)out->lists, sizeof *out->operations, by_key);
  return KCL_OK;
}

void kcl_series_parts_free(kcl_series_parts *p) {
  free(p->product), free(p->operations);
  *p = (kcl_series_parts){.products = 0};
}

int kcl_series_product(const kcl_program *k, const kcl_series_parts *p, const kcl_stage *s) {
  char key[KCL_SERIES_KEY];
  put_product_key(k, s, key);
  return part_with(p->product, p->products, key);
}

int kcl_series_operations(const kcl_program *k, const kcl_series_parts *p, const kcl_stage *s) {
  char key[KCL_SERIES_KEY];
  put_operations_key(k, s, key);
  return part_with(p->operations, p->lists, key);
}
