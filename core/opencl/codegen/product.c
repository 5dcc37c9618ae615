/* OpenCL source for the product of a stage: a format's file, included under names of this stage, and the stage's loop
 * over rows or elements.
 *
 * A format's file uses: MATRIX (its arrays and integers as parameters), LANES, VARIANT, LOCAL_SCALARS, and EMIT(i, sum)
 * with EMIT_PARAMS, what becomes of the sum of row i. docs/kernels.md lists them all.
 */
#include "core/opencl/codegen/codegen.h"
#include <stdio.h>

const kcl_stored *kcl_emit_matrix(const kcl_emit *e) {
  return e->persistent && e->g->renumbered && e->s->A == e->k->A ? e->g->renumbered : e->s->A;
}

const char *kcl_emit_prefix(const kcl_emit *e) {
  return e->unnamed ? "M" : kcl_applied_of(e->k, e->s->A)->name.s;
}

static const char *kind_name(kcl_array_kind kind) {
  return (const char *const[]){
      [KCL_INT32] = "int",   [KCL_INT64] = "long",    [KCL_SCALAR] = "scalar",
      [KCL_UINT8] = "uchar", [KCL_UINT16] = "ushort", [KCL_SINGLE] = "single"}[kind];
}

static void put_array_type(kcl_source *t, const kcl_array *a, bool written) {
  if (a->kind == KCL_IMAGE)
    kcl_put(t, "%s image2d_t ", written ? "write_only" : "read_only");
  else if (written && a->prepared)
    kcl_put(t, "global %s *restrict ", kind_name(a->kind));
  else if (a->kind == KCL_INT64)
    kcl_put(t, "global const %s_t *restrict ", a->name);
  else
    kcl_put(t, "global const %s *restrict ", kind_name(a->kind));
}

static void put_prefixed(kcl_source *t, const char *prefix, const char *name) {
  if (prefix) kcl_put(t, "%s_", prefix);
  kcl_put(t, "%s", name);
}

/* prefix: before every name, in kernels, where names of several matrices meet; NULL: none. */
void kcl_put_arrays(kcl_source *t, const kcl_stored *m, int typed, const char *prefix) {
  for (int i = 0; i < m->arrays; i++) {
    if (i) kcl_put(t, ", ");
    if (typed) put_array_type(t, &m->array[i], typed == KCL_ARRAYS_WRITTEN);
    put_prefixed(t, prefix, m->array[i].name);
  }
  for (int i = 0; i < m->params; i++) {
    if (m->arrays || i) kcl_put(t, ", ");
    if (typed) kcl_put(t, "const idx ");
    put_prefixed(t, prefix, m->param[i].name);
  }
}

/* ---------------------------------------------------------------- a format's file */

static void put_emit(kcl_source *t, const kcl_emit *e) {
  const char *y = kcl_emit_vec(e, e->s->y);
  if (e->s->A->format->scatter) return;
  if (e->g->series)
    kcl_put(t,
            "#define EMIT_PARAMS , const int active, local const scalar *slot_values, local const "
            "ulong *series_words\n"
            "#define EMIT(i, value) finish(i, value, active, slot_values, series_words)\n");
  else if (e->cpu && kcl_rhs_width(e->k) == 1)
    kcl_put(t,
            "#define EMIT_PARAMS , global scalar *restrict v_%s\n"
            "#define EMIT(i, value) v_%s[i] = (value)\n",
            y, y);
  else if (kcl_overlaps(e))
    kcl_put(t,
            "#define EMIT_PARAMS , scalar *row\n#define EMIT(i, value) row[local_row] = (value)\n");
  else
    kcl_put_emit_macro(t, e);
}

static int lanes(const kcl_emit *e) {
  if (kcl_lanes_are_argument(e)) return 0;
  return e->g->series ? kcl_series_lanes(e->k, e->s->A) : kcl_emit_matrix(e)->kernel.lanes;
}

/* Size number i of a guarded matrix, a constant. In a series it is a word of the stage: matrices of other sizes share its functions. */
static void put_size(kcl_source *t, const kcl_emit *e, int i, int64_t size) {
  if (e->g->series)
    kcl_put(t, " ((idx)series_words[WORD_SIZES + %d])\n", i);
  else
    kcl_put(t, " %lld\n", (long long)size);
}

/* Sizes of a guarded matrix, which bound its indices (kernels/rows.clh). */
static void put_sizes(kcl_source *t, const kcl_emit *e, const kcl_stored *m) {
  kcl_put(t, "#define A_ROWS"), put_size(t, e, 0, m->rows);
  kcl_put(t, "#define A_COLS"), put_size(t, e, 1, m->cols);
  for (int i = 0; i < m->arrays; i++)
    kcl_put(t, "#define COUNT_%s", m->array[i].name), put_size(t, e, 2 + i, m->array[i].count);
}

static void put_sizes_end(kcl_source *t, const kcl_stored *m) {
  kcl_put(t, "#undef A_ROWS\n#undef A_COLS\n");
  for (int i = 0; i < m->arrays; i++) kcl_put(t, "#undef COUNT_%s\n", m->array[i].name);
}

void kcl_put_format(kcl_source *t, const kcl_emit *e) {
  if (!e->s->A) return;
  const kcl_stored *m = kcl_emit_matrix(e);
  char file[64];
  snprintf(file, sizeof file, "%s.cl", m->format->kernel);
  kcl_put(t, "#define MATRIX "), kcl_put_arrays(t, m, KCL_ARRAYS_TYPED, NULL);
  if (m->kernel.message_slots) kcl_put(t, ", global volatile message *messages, const uint launch");
  if (kcl_lanes_are_argument(e)) kcl_put(t, ", const int row_lanes");
  kcl_put(t, "\n#define PREPARED "), kcl_put_arrays(t, m, KCL_ARRAYS_WRITTEN, NULL);
  kcl_put(t, "\n#define LANES %d\n#define VARIANT %d\n#define LOCAL_SCALARS %d\n", lanes(e),
          m->kernel.variant, !e->persistent && m->kernel.local_scalars);
  for (int i = 0; i < m->arrays; i++)
    if (m->array[i].kind == KCL_INT64)
      kcl_put(t, "#define %s_t %s\n", m->array[i].name, m->nnz < INT32_MAX ? "int" : "long");
  kcl_put(t, "#define visit_rows visit_%s\n#define scatter scatter_%s\n#define prepare fill_%s\n",
          e->id, e->id, e->id);
  kcl_put(t, kcl_emit_narrow(e, e->s->x) ? "#define STORED narrow\n#define OF_STORED of_narrow\n"
                                         : "#define STORED element\n#define OF_STORED\n");
  put_emit(t, e);
  if (e->k->guarded) put_sizes(t, e, m);
  kcl_put_file(t, file);
  if (e->k->guarded) put_sizes_end(t, m);
  kcl_put(
      t,
      "#undef STORED\n#undef OF_STORED\n#undef MATRIX\n#undef PREPARED\n#undef prepare\n#undef "
      "LANES\n#undef VARIANT\n"
      "#undef LOCAL_SCALARS\n#undef visit_rows\n#undef scatter\n#undef EMIT\n#undef EMIT_PARAMS\n");
}

/* ---------------------------------------------------------------- the loop of a stage */

/* The arguments of visit_rows after the matrix: x, first row, last row, local memory. */
static void put_product_arguments(kcl_source *t, const kcl_emit *e) {
  const char *x = kcl_emit_vec(e, e->s->x);
  if (e->cpu)
    kcl_put(t, ", v_%s, base, min(end, n), scratch", x);
  else if (e->persistent)
    kcl_put(t, ", x_%s, lo, hi, scratch", x);
  else if (e->g->sum_block)
    kcl_put(t, ", v_%s, lo, hi, scratch", x);
  else
    kcl_put(t, ", v_%s, 0, n, scratch", x);
}

void kcl_put_product(kcl_source *t, const kcl_emit *e) {
  const kcl_stored *m = kcl_emit_matrix(e);
  bool blocks = e->cpu && kcl_rhs_width(e->k) == 1;
  kcl_put(t, "visit_%s(", e->id), kcl_put_arrays(t, m, KCL_ARRAYS_NAMED, kcl_emit_prefix(e));
  if (m->kernel.message_slots) kcl_put(t, ", MESSAGES, launch");
  if (kcl_lanes_are_argument(e)) kcl_put(t, ", row_lanes");
  put_product_arguments(t, e);
  if (blocks)
    kcl_put(t, ", v_%s", kcl_emit_vec(e, e->s->y));
  else if (kcl_overlaps(e))
    kcl_put(t, ", row");
  else
    kcl_put_vectors(t, e, false), kcl_put_extras(t, e, false);
  kcl_put(t, ");\n");
}

/* The loop over a work-item's own elements; where several work-items share a row, the first of them has its element. */
void kcl_put_own_elements(kcl_source *t, const kcl_emit *e) {
  int lanes = e->persistent ? e->k->A->kernel.lanes : 1;
  if (lanes > 1)
    kcl_put(t,
            "if (get_local_id(0) %% %d == 0)\n  for (idx local_row = 0, i = lo + get_local_id(0) / "
            "%d; local_row < ROWS_PER_ITEM; local_row++, i += WG / %d) if (i < hi)",
            lanes, lanes, lanes);
  else
    kcl_put(t, "for EACH(i)");
}

static void put_cpu_loop(kcl_source *t, const kcl_emit *e) {
  kcl_put(t, "STAGE_BLOCK(n)\nfor (idx base = lo; base < hi; base += BLOCK) {\n"
             "  const idx end = min((idx)(base + BLOCK), hi);\n");
  if (e->s->A) kcl_put(t, "  "), kcl_put_product(t, e);
  if (e->s->vectors && !(e->s->A && kcl_rhs_width(e->k) > 1)) {
    kcl_put(t, "  for (idx i = base; i < end; i += PACK) ");
    kcl_put_call(t, e, NULL);
    kcl_put(t, ";\n");
  }
  kcl_put(t, "}\n");
}

void kcl_put_loop(kcl_source *t, const kcl_emit *e) {
  const kcl_stage *s = e->s;
  if (!s->n) return;
  if (s->A && s->A->format->scatter) {
    kcl_put(t, "ROW_BLOCK(n)\nscatter_%s(", e->id),
        kcl_put_arrays(t, s->A, KCL_ARRAYS_NAMED, kcl_emit_prefix(e));
    kcl_put(t, ", v_%s, lo, hi, v_%s, scratch);\n", kcl_emit_vec(e, s->x), kcl_emit_vec(e, s->y));
  } else if (e->cpu) {
    put_cpu_loop(t, e);
  } else if (s->A && !kcl_overlaps(e)) {
    if (e->g->sum_block) kcl_put(t, "STAGE_BLOCK(n)\n");
    kcl_put_product(t, e);
  } else {
    if (!e->persistent) kcl_put(t, "STAGE_BLOCK(n)\n");
    kcl_put_own_elements(t, e), kcl_put(t, " ");
    kcl_put_call(t, e, s->A ? "row[local_row]" : NULL), kcl_put(t, ";\n");
  }
}
