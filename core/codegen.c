/* From recorded stages to OpenCL text: every stage becomes one kernel.
 *
 * kernels/scalar.clh and stage.clh hold what all stages share; the file of the matrix's format is
 * included once for each product, with EMIT meaning "what this stage does with the sum of row i".
 * GPUs do all of it in registers as the sum appears. On CPU devices EMIT only stores the sum, and the
 * stage goes over each block of rows again with wide registers while it is in the first-level cache.
 * Of several columns an element is a wide register itself, and CPU devices do as GPUs; `width` is their number
 * there, 1, 2, 4 or 8. The text of one column does not show that there could be more.
 */
#include "core/codegen.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void kcl_put(kcl_text *t, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, format, args);
  va_end(args);
  if (t->length + (size_t)n + 1 > t->room) {
    size_t room = 2 * (t->length + (size_t)n + 1);
    char *more = realloc(t->data, room);
    if (more)
      t->data = more, t->room = room;
    else
      t->failed = true;
  }
  if (!t->failed)
    t->length += (size_t)vsnprintf(t->data + t->length, t->room - t->length, format, again);
  va_end(again);
}

static void put_file(kcl_text *t, const char *name) {
  const char *body = kcl_kernel_text(name);
  if (body)
    kcl_put(t, "%s", body);
  else
    kcl_put(t, "#error no kernel file %s\n", name);
}

/* ---------------------------------------------------------------- scalars */

static void constant(kcl_text *t, double c) {
  if (c == (double)(long)c)
    kcl_put(t, "s_make(%ld)", (long)c);
  else
    kcl_put(t, "s_make((real)%.17g)", c);
}

/* A slot of column c while the stage's scalars are in local memory as s[]. */
typedef struct cell {
  char s[24];
} cell;
static cell at(int width, kcl_slot slot) {
  cell p;
  snprintf(p.s, sizeof p.s, width > 1 ? "s[%d + c]" : "s[%d]", slot * width);
  return p;
}

/* A coefficient of operations on scalars. */
static void coefficient(kcl_text *t, int width, kcl_coef c) {
  if (c.slot < 0) {
    constant(t, c.constant);
    return;
  }
  kcl_put(t, "%s%s%s%s%s", c.negate ? "s_neg(" : "", c.conjugate ? "s_conj(" : "",
          at(width, c.slot).s, c.conjugate ? ")" : "", c.negate ? ")" : "");
}

/* Of operations on vectors. */
static void vector_coefficient(kcl_text *t, int width, kcl_coef c) {
  if (width == 1)
    coefficient(t, 1, c);
  else if (c.slot < 0)
    kcl_put(t, "e_spread("), constant(t, c.constant), kcl_put(t, ")");
  else
    kcl_put(t, "%s%se_slot(s + %d)%s%s", c.negate ? "e_neg(" : "", c.conjugate ? "e_conj(" : "",
            c.slot * width, c.conjugate ? ")" : "", c.negate ? ")" : "");
}

void kcl_put_scalar_op(kcl_text *t, int width, const kcl_op *o, kcl_slot target) {
  static const char *const function[] = {
      [KCL_OP_DIVIDE] = "s_div", [KCL_OP_MULTIPLY] = "s_mul",    [KCL_OP_ADD] = "s_add",
      [KCL_OP_ROOT] = "s_root",  [KCL_OP_MODULUS] = "s_modulus", [KCL_OP_LEAST] = "s_least"};
  const char *head = width > 1 ? "head + c * HEAD" : "head";
  const char *history = width > 1 ? "history + c * (HISTORY * LOG)" : "history";
  const cell slot = at(width, o->slot);
  kcl_put(t, "    ");
  switch (o->code) {
  case KCL_OP_ASSIGN:
    kcl_put(t, "%s = ", slot.s), coefficient(t, width, o->a), kcl_put(t, ";\n");
    break;
  case KCL_OP_POSITIVE:
    kcl_put(t, "stop_when(s_re(%s) <= 0, %d, %s); stop_when(!(s_re(%s) > 0), %d, %s);\n", slot.s,
            o->reason, head, slot.s, KCL_NOT_FINITE, head);
    break;
  case KCL_OP_NONZERO:
    kcl_put(t, "stop_when(s_zero(%s), %d, %s);\n", slot.s, o->reason, head);
    break;
  case KCL_OP_STEP:
    kcl_put(t, "step(%s, s_re(%s), %s, %s);", slot.s, at(width, target).s, head, history);
    if (o->inside) kcl_put(t, " leave_open(%s);", head);
    kcl_put(t, "\n");
    break;
  case KCL_OP_CLOSED: kcl_put(t, "(%s)[OPEN] = 0;\n", head); break;
  case KCL_OP_RITZ:
    kcl_put(t, "if (get_group_id(0) == 0) log_ritz(%s, %s, %s, %s);\n", at(width, o->a.slot).s,
            at(width, o->b.slot).s, head, history);
    break;
  case KCL_OP_ROOT:
  case KCL_OP_MODULUS:
    kcl_put(t, "%s = %s(", slot.s, function[o->code]);
    coefficient(t, width, o->a), kcl_put(t, ");\n");
    break;
  default:
    kcl_put(t, "%s = %s(", slot.s, function[o->code]);
    coefficient(t, width, o->a), kcl_put(t, ", "), coefficient(t, width, o->b), kcl_put(t, ");\n");
  }
}

enum { AT_ONCE = 4 }; /* dots summed with common barriers (kernels/stage.clh) */

int kcl_most_dots(const kcl_program *k) {
  int dots = kcl_program_dots(k);
  return dots < AT_ONCE ? AT_ONCE : dots;
}

int kcl_at_once(int dots) { return dots < 1 ? 1 : dots < AT_ONCE ? dots : AT_ONCE; }

/* Last stage's dots, added to their slots. */
void kcl_put_fold(kcl_text *t, const kcl_stage *before) {
  int dots = kcl_stage_dots(before), d = 0;
  for (int i = 0; i < before->vectors; i++) {
    if (before->vector[i].code != KCL_OP_DOT) continue;
    if (d % AT_ONCE == 0)
      kcl_put(
          t,
          "  fold(IN, %d, %d, groups_before, total, tree);\n  if (get_local_id(0) == 0 && went) {",
          d, kcl_at_once(dots - d));
    kcl_put(t, " s[%d] = total[%d];", before->vector[i].slot, d % AT_ONCE);
    d++;
    if (d % AT_ONCE == 0 || d == dots) kcl_put(t, " }\n  SYNC();\n");
  }
}

/* Of several columns: a dot is as many sums. */
static void fold_columns(kcl_text *t, int width, const kcl_stage *before) {
  for (int i = 0, d = 0; i < before->vectors; i++) {
    if (before->vector[i].code != KCL_OP_DOT) continue;
    for (int c = 0; c < width; c += AT_ONCE)
      kcl_put(t,
              "  fold(IN, %d, %d, groups_before, total, tree);\n  if (get_local_id(0) == 0) "
              "keep(s + %d, total, %d, went >> %d);\n  SYNC();\n",
              d * width + c, kcl_at_once(width - c), before->vector[i].slot * width + c,
              kcl_at_once(width - c), c);
    d++;
  }
}

static void write_partials(kcl_text *t, int width, const kcl_stage *s) {
  int dots = kcl_stage_dots(s);
  for (int d = 0; width == 1 && d < dots; d += AT_ONCE) {
    kcl_put(t, " ");
    for (int q = 0; q < kcl_at_once(dots - d); q++)
      kcl_put(t, " total[%d] = p_total(sum%d);", q, d + q);
    kcl_put(t, "\n  write_partials(OUT, %d, %d, total, tree);\n", d, kcl_at_once(dots - d));
  }
  for (int d = 0; width > 1 && d < dots; d++) {
    kcl_put(t, "  e_split(sum%d, total);\n", d);
    for (int c = 0; c < width; c += AT_ONCE)
      kcl_put(t, "  write_partials(OUT, %d, %d, total + %d, tree);\n", d * width + c,
              kcl_at_once(width - c), c);
  }
}

/* All scalars of the stage: last stage's dots folded, operations by one work-item a column, then shared. */
static void prologue(kcl_text *t, int width, const kcl_stage *s, const kcl_stage *before,
                     kcl_slot target) {
  int before_dots = before ? kcl_stage_dots(before) : 0, dots = kcl_stage_dots(s);
  int sums = width * (dots > before_dots ? dots : before_dots);
  bool late = s->closing && !(before && before->closing); /* the one before went only if running */
  kcl_put(
      t,
      "  local scalar s[SLOTS * COLUMNS], tree[WG * %d + %d];\n  scalar total[%d];\n  local int "
      "head[HEAD * COLUMNS];\n  load_state(IN, s, head);\n",
      kcl_at_once(sums), s->A ? s->A->tree : 0, width > AT_ONCE ? width : AT_ONCE);
  if (width == 1)
    kcl_put(t, "  const bool goes = !head[STOP]%s, went = %s;\n",
            s->closing ? " || head[OPEN]" : "", late ? "!head[STOP]" : "goes");
  else
    kcl_put(t, "  const int goes = going(head, %d), went = going(head, %d);\n", s->closing,
            s->closing && !late);
  kcl_put(t, "  const idx n = goes ? size : 0;\n  SYNC();\n");
  if (before && width == 1) kcl_put_fold(t, before);
  if (before && width > 1) fold_columns(t, width, before);
  if (s->scalars) {
    if (width == 1)
      kcl_put(t, "  if (get_local_id(0) == 0 && goes) {\n");
    else
      kcl_put(t, "  for (int c = get_local_id(0); c < COLUMNS; c += WG) if (goes >> c & 1) {\n");
    for (int i = 0; i < s->scalars; i++) kcl_put_scalar_op(t, width, &s->scalar[i], target);
    kcl_put(t, "  }\n  SYNC();\n");
  }
  kcl_put(t, "  store_state(OUT, s, head);\n");
}

/* START ends with the dots that LOOP begins by folding. */
void kcl_put_hand_over(kcl_text *t, int width, const kcl_stage *last) {
  for (int i = 0, d = 0; i < last->vectors; i++) {
    if (last->vector[i].code != KCL_OP_DOT) continue;
    for (int c = 0; c < width; c++)
      kcl_put(t, "  hand_over(OUT, %d, s[%d]);\n", d * width + c, last->vector[i].slot * width + c);
    d++;
  }
}

/* ---------------------------------------------------------------- elements */

static bool is(kcl_coef c, double v) { return c.slot < 0 && c.constant == v; }
/* emit_c0, emit_c1 ... in the text? */
static bool has_name(kcl_coef c) { return !is(c, 0) && !is(c, 1); }

/* One array for several columns? */
static bool shared(const kcl_program *k, kcl_vec v) {
  return kcl_width(k) > 1 && kcl_vector_shared(k, v);
}

/* Does operation i of the stage see vector v as computed before it in this stage? */
static void load(kcl_text *t, const kcl_program *k, bool *loaded, kcl_vec v,
                 const kcl_staying *stay) {
  if (!loaded[v])
    kcl_put(t,
            kcl_holds(k, stay, v) ? " pack emit_e%d = v%d[turn];"
            : shared(k, v)        ? " pack emit_e%d = p_shared(v%d, i);"
                                  : " pack emit_e%d = p_load(v%d, i);",
            v, v);
  loaded[v] = true;
}

static void term(kcl_text *t, kcl_coef c, int number, kcl_vec v) {
  if (is(c, 1))
    kcl_put(t, "emit_e%d", v);
  else if (is(c, -1))
    kcl_put(t, "p_neg(emit_e%d)", v);
  else
    kcl_put(t, "p_scale(emit_c%d, emit_e%d)", number, v);
}

/* a x + b z; an operand whose coefficient is the constant 0 is not read. */
static void lincomb(kcl_text *t, const kcl_op *o, int i) {
  if (is(o->a, 0))
    kcl_put(t, "p_zero()");
  else if (is(o->b, 0))
    term(t, o->a, 2 * i, o->x);
  else if (is(o->a, 1) && is(o->b, -1))
    kcl_put(t, "p_sub(emit_e%d, emit_e%d)", o->x, o->z);
  else if (is(o->a, 1) && is(o->b, 1))
    kcl_put(t, "p_add(emit_e%d, emit_e%d)", o->x, o->z);
  else if (is(o->b, 1))
    kcl_put(t, "p_fma(emit_c%d, emit_e%d, emit_e%d)", 2 * i, o->x, o->z);
  else
    kcl_put(t, "p_fma(emit_c%d, emit_e%d, ", 2 * i + 1, o->z), term(t, o->a, 2 * i, o->x),
        kcl_put(t, ")");
}

/* One element (or pack) through all operations; emit_e3 is vector 3's. sum: how a dot's sum is named. */
static void elements(kcl_text *t, const kcl_program *k, const kcl_stage *s, const char *sum,
                     bool y_given, const kcl_staying *stay) {
  bool *loaded = calloc((size_t)k->vectors, sizeof *loaded);
  if (!loaded) {
    t->failed = true;
    return;
  }
  if (y_given) loaded[s->y] = true;
  for (int i = 0, d = 0; i < s->vectors; i++) {
    const kcl_op *o = &s->vector[i];
    bool reads_z = o->code == KCL_OP_TIMES || (o->code == KCL_OP_LINCOMB && !is(o->b, 0));
    if (o->code != KCL_OP_LINCOMB || !is(o->a, 0)) load(t, k, loaded, o->x, stay);
    if (reads_z) load(t, k, loaded, o->z, stay);
    if (o->code == KCL_OP_DOT) {
      load(t, k, loaded, o->y, stay);
      kcl_put(t, " %s%d = %s(%s%d, emit_e%d, emit_e%d);", sum, d, o->plain ? "p_dotu" : "p_dot",
              sum, d, o->x, o->y);
      d++;
      continue;
    }
    kcl_put(t, " %semit_e%d = ", loaded[o->y] ? "" : "pack ", o->y);
    loaded[o->y] = true;
    if (o->code == KCL_OP_LINCOMB)
      lincomb(t, o, i);
    else
      kcl_put(t, o->conjugate ? "p_mul(p_conj(emit_e%d), emit_e%d)" : "p_mul(emit_e%d, emit_e%d)",
              o->x, o->z);
    kcl_put(t, ";");
  }
  free(loaded);
  for (kcl_vec v = 0; v < k->vectors; v++)
    if (kcl_stage_writes(s, v) && !(s->A && v == s->y && !y_given && !kcl_stage_rewrites(s, v)))
      kcl_put(t,
              kcl_holds(k, stay, v) ? " v%d[turn] = emit_e%d;"
              : kcl_width(k) > 1    ? " p_store(v%d, i, emit_e%d, goes);"
                                    : " p_store(v%d, i, emit_e%d);",
              v, v);
  for (kcl_vec v = 0; v < k->vectors; v++)
    if (kcl_shows(k, stay, s, v)) kcl_put(t, " show(to%d + i, now, emit_e%d);", v, v);
}

/* ---------------------------------------------------------------- one kernel */

static const char *element_of(const kcl_program *k, kcl_vec v) {
  return kcl_width(k) > 1 && !shared(k, v) ? "element" : "scalar";
}

static void vectors(kcl_text *t, const kcl_program *k, const kcl_stage *s, const char *before,
                    const kcl_staying *stay, bool typed) {
  kcl_vec list[KCL_MOST_STAGE_VECTORS];
  int count = kcl_stage_vectors(s, list, KCL_MOST_STAGE_VECTORS);
  for (int i = 0; i < count; i++) {
    kcl_put(t, "%s", before);
    const char *constant = kcl_stage_writes(s, list[i]) ? "" : "const ";
    if (typed && kcl_holds(k, stay, list[i]))
      kcl_put(t, "%sscalar *", constant);
    else if (typed)
      kcl_put(t, "global %s%s *restrict ", constant, element_of(k, list[i]));
    kcl_put(t, "v%d", list[i]);
  }
}

/* Parameters (typed) or arguments of the coefficients and sums that EMIT needs inside visit_rows. */
static void emit_extras(kcl_text *t, const kcl_program *k, const kcl_stage *s,
                        const kcl_staying *stay, bool typed) {
  if (kcl_width(k) > 1) kcl_put(t, typed ? ", const int goes" : ", goes");
  for (int i = 0, d = 0; i < s->vectors; i++) {
    const kcl_op *o = &s->vector[i];
    if (o->code == KCL_OP_DOT) kcl_put(t, typed ? ", pack *sum%d" : ", &sum%d", d++);
    if (o->code != KCL_OP_LINCOMB) continue;
    if (has_name(o->a)) kcl_put(t, typed ? ", factor emit_c%d" : ", emit_c%d", 2 * i);
    if (has_name(o->b)) kcl_put(t, typed ? ", factor emit_c%d" : ", emit_c%d", 2 * i + 1);
  }
  if (!stay) return;
  for (kcl_vec v = 0; v < k->vectors; v++)
    if (kcl_shows(k, stay, s, v)) kcl_put(t, typed ? ", global shown *to%d" : ", to%d", v);
  kcl_put(t, typed ? ", const uint now" : ", now");
}

static const char *kind_name(kcl_array_kind kind) {
  return (const char *const[]){
      [KCL_INT32] = "int",   [KCL_INT64] = "long",    [KCL_SCALAR] = "scalar",
      [KCL_UINT8] = "uchar", [KCL_UINT16] = "ushort", [KCL_SINGLE] = "single"}[kind];
}

/* prefix: before every name, in kernels, where they meet others. */
void kcl_put_arrays(kcl_text *t, const kcl_matrix *m, int typed, const char *prefix) {
  const char *comma = "";
  for (int i = 0; i < m->arrays; i++, comma = ", ") {
    const kcl_array *a = &m->array[i];
    kcl_put(t, "%s", comma);
    if (!typed)
      kcl_put(t, "%s%s", prefix, a->name);
    else if (a->kind == KCL_IMAGE)
      kcl_put(t, "%s image2d_t %s%s", typed == KCL_NAMES_WRITTEN ? "write_only" : "read_only",
              prefix, a->name);
    else if (typed == KCL_NAMES_WRITTEN && a->scratch)
      kcl_put(t, "global %s *restrict %s%s", kind_name(a->kind), prefix, a->name);
    else if (a->kind == KCL_INT64)
      kcl_put(t, "global const %s_t *restrict %s%s", a->name, prefix, a->name);
    else
      kcl_put(t, "global const %s *restrict %s%s", kind_name(a->kind), prefix, a->name);
  }
  for (int i = 0; i < m->params; i++)
    kcl_put(t, typed ? ", const idx %s%s" : ", %s%s", prefix, m->param[i].name);
}

/* The format's own text, its function renamed for this stage. */
void kcl_put_format(kcl_text *t, const kcl_program *k, const kcl_stage *s, const char *id,
                    const kcl_staying *stay, bool cpu) {
  const kcl_matrix *m = kcl_matrix_of(s, stay);
  bool fused = !cpu || kcl_width(k) > 1;
  char file[64];
  snprintf(file, sizeof file, "%s.cl", m->format->kernel);
  kcl_put(t, "#define MATRIX "), kcl_put_arrays(t, m, KCL_NAMES_TYPED, "");
  if (m->letters) kcl_put(t, ", global volatile letter *letters, const uint launch");
  kcl_put(t, "\n#define PREPARED "), kcl_put_arrays(t, m, KCL_NAMES_WRITTEN, "");
  kcl_put(t, "\n#define LANES %d\n#define VARIANT %d\n#define TREE %d\n", m->lanes, m->variant,
          stay ? 0 : m->tree);
  for (int i = 0; i < m->arrays; i++)
    if (m->array[i].kind == KCL_INT64)
      kcl_put(t, "#define %s_t %s\n", m->array[i].name, m->nnz < INT32_MAX ? "int" : "long");
  kcl_put(t, "#define visit_rows visit_%s\n#define scatter scatter_%s\n#define prepare fill_%s\n",
          id, id, id);
  if (!m->format->scatter && !fused) {
    kcl_put(t,
            "#define EMIT_PARAMS , global scalar *restrict v%d\n#define EMIT(i, value) v%d[i] = "
            "(value)\n",
            s->y, s->y);
  } else if (kcl_comes_early(k, s, stay)) {
    kcl_put(t, "#define EMIT_PARAMS , scalar *row\n#define EMIT(i, value) row[turn] = (value)\n");
  } else if (!m->format->scatter) {
    kcl_put(t, "#define EMIT_PARAMS ");
    vectors(t, k, s, ", ", stay, true);
    emit_extras(t, k, s, stay, true);
    kcl_put(t, "\n#define EMIT(i, value) {pack emit_e%d = (value);", s->y);
    elements(t, k, s, "*sum", true, stay);
    kcl_put(t, "}\n");
  }
  put_file(t, file);
  kcl_put(t, "#undef MATRIX\n#undef PREPARED\n#undef prepare\n#undef LANES\n#undef VARIANT\n#undef "
             "TREE\n#undef visit_rows\n#undef "
             "scatter\n#undef EMIT\n#undef "
             "EMIT_PARAMS\n");
}

/* What the format does before the product, in a kernel of its own. */
static void prepare_kernel(kcl_text *t, const kcl_stage *s, const char *id) {
  kcl_put(t,
          "kernel OF_WG\nvoid prepare_%s(const idx items, "
          "global const scalar *restrict x, ",
          id);
  kcl_put_arrays(t, s->A, KCL_NAMES_WRITTEN, "a_");
  kcl_put(t, ")\n{\n  local scalar tree[WG + %d];\n  PIECE(items)\n  fill_%s(", s->A->tree, id);
  kcl_put_arrays(t, s->A, KCL_NAMES, "a_");
  kcl_put(t, ", x, lo, hi, tree);\n}\n\n");
}

void kcl_put_product(kcl_text *t, const kcl_program *k, const kcl_stage *s, const char *id,
                     const char *prefix, const kcl_staying *stay, bool cpu) {
  const kcl_matrix *m = kcl_matrix_of(s, stay);
  kcl_put(t, "visit_%s(", id), kcl_put_arrays(t, m, KCL_NAMES, prefix);
  if (m->letters) kcl_put(t, ", LETTERS, launch");
  kcl_put(t,
          cpu    ? ", v%d, base, min(end, n), tree"
          : stay ? ", x%d, lo, hi, tree"
                 : ", v%d, 0, n, tree",
          s->x);
  if (cpu && kcl_width(k) == 1)
    kcl_put(t, ", v%d", s->y);
  else if (kcl_comes_early(k, s, stay))
    kcl_put(t, ", row");
  else
    vectors(t, k, s, ", ", stay, false), emit_extras(t, k, s, stay, false);
  kcl_put(t, ");\n");
}

/* Over this work-item's elements, cut as rows are: where several share a row, the first of them has it. */
void kcl_put_own_elements(kcl_text *t, const kcl_staying *stay) {
  if (!stay) kcl_put(t, "  const idx lo = 0, hi = n;\n");
  if (stay && stay->lanes > 1)
    kcl_put(
        t,
        "  if (get_local_id(0) %% %d == 0)\n  for (idx turn = 0, i = lo + get_local_id(0) / %d; "
        "turn < "
        "ROUNDS; turn++, i += WG / %d) if (i < hi)",
        stay->lanes, stay->lanes, stay->lanes);
  else
    kcl_put(t, "  for EACH(i)");
}

static void body(kcl_text *t, const kcl_program *k, const kcl_stage *s, const char *id,
                 const char *prefix, const kcl_staying *stay, bool cpu) {
  if (s->A && s->A->format->scatter) {
    kcl_put(t, "  PIECE(n)\n  scatter_%s(", id), kcl_put_arrays(t, s->A, KCL_NAMES, prefix);
    kcl_put(t, ", v%d, lo, hi, v%d, tree);\n", s->x, s->y);
  } else if (cpu) {
    kcl_put(t, "  PIECE(n)\n  for (idx base = lo; base < hi; base += BLOCK) {\n    const idx end = "
               "min((idx)(base + BLOCK), hi);\n    ");
    if (s->A) kcl_put_product(t, k, s, id, prefix, NULL, true);
    if (s->vectors && !(s->A && kcl_width(k) > 1))
      kcl_put(t, "    for (idx i = base; i < end; i += PACK) {"),
          elements(t, k, s, "sum", false, NULL), kcl_put(t, " }\n");
    kcl_put(t, "  }\n");
  } else if (s->A && !kcl_comes_early(k, s, stay)) {
    kcl_put(t, "  "), kcl_put_product(t, k, s, id, prefix, stay, false);
  } else {
    kcl_put_own_elements(t, stay);
    if (s->A) kcl_put(t, " { pack emit_e%d = row[turn];", s->y);
    kcl_put(t, s->A ? "" : " {"), elements(t, k, s, "sum", s->A, stay), kcl_put(t, " }\n");
  }
}

/* The stage's coefficients, sums and loop. */
void kcl_put_elementwise(kcl_text *t, const kcl_program *k, const kcl_stage *s, const char *id,
                         const char *prefix, const kcl_staying *stay, bool cpu) {
  for (int i = 0; i < s->vectors; i++) {
    const kcl_op *o = &s->vector[i];
    const kcl_coef coef[] = {o->a, o->b};
    for (int j = 0; j < 2 && o->code == KCL_OP_LINCOMB; j++)
      if (has_name(coef[j]))
        kcl_put(t, "  const factor emit_c%d = ", 2 * i + j),
            vector_coefficient(t, kcl_width(k), coef[j]), kcl_put(t, ";\n");
  }
  for (int d = 0; d < kcl_stage_dots(s); d++) kcl_put(t, "  pack sum%d = p_zero();\n", d);
  if (s->n) body(t, k, s, id, prefix, stay, cpu);
}

static void kernel_text(kcl_text *t, const kcl_program *k, kcl_phase phase, int number, bool cpu) {
  const kcl_stage *s = &k->stage[phase][number], *handed = kcl_stage_handed(k, phase, number);
  char id[32];
  snprintf(id, sizeof id, "%d_%d", phase, number);
  if (s->A) kcl_put_format(t, k, s, id, NULL, cpu);
  if (s->A && s->A->prepare) prepare_kernel(t, s, id);
  kcl_put(
      t,
      "kernel OF_WG\nvoid stage_%s(global int *restrict states, const uint launch, const idx size, "
      "const int groups_before%s",
      id, kcl_stage_notes(s) ? ", global real *restrict history" : "");
  if (s->A) kcl_put(t, ", "), kcl_put_arrays(t, s->A, KCL_NAMES_TYPED, "a_");
  vectors(t, k, s, ", ", NULL, true);
  kcl_put(t, ")\n{\n");
  prologue(t, kcl_width(k), s, kcl_stage_before(k, phase, number), k->target);
  if (handed) kcl_put_hand_over(t, kcl_width(k), handed);
  kcl_put_elementwise(t, k, s, id, "a_", NULL, cpu);
  write_partials(t, kcl_width(k), s);
  kcl_put(t, "}\n\n");
  for (int i = 0; s->A && i < s->A->arrays; i++)
    if (s->A->array[i].kind == KCL_INT64) kcl_put(t, "#undef %s_t\n", s->A->array[i].name);
}

size_t kcl_look_bytes(const kcl_program *k) {
  return (size_t)kcl_width(k) * (sizeof(kcl_head) + (size_t)k->slots * kcl_type_size(k->type));
}

/* With partial sums (kernels/stage.clh), and whole lines of memory. */
size_t kcl_state_bytes(const kcl_program *k, const kcl_geometry *g) {
  size_t sums = (size_t)kcl_program_dots(k) * (size_t)g->groups_max * (size_t)kcl_width(k);
  return (kcl_look_bytes(k) + sums * kcl_type_size(k->type) + 127) / 128 * 128;
}

int kcl_codegen(const kcl_program *k, const kcl_geometry *g, char **source) {
  kcl_text t = {0};
  bool cpu = g->group == 1;
  int width = kcl_width(k);
  kcl_put(&t, "#define KCL_TYPE %d\n#define IDX %s\n#define KCL_CPU %d\n#define NVIDIA_PTX %d\n",
          k->type, g->wide_index ? "long" : "int", cpu, k->ctx->opencl->is_nvidia);
  kcl_put(&t, "#define REGISTERS %d\n#define STREAMED %d\n", g->registers, g->streamed);
  kcl_put(
      &t,
      "#define WG %d\n#define GROUPS_MAX %d\n#define SLOTS %d\n#define STATE %d\n#define HISTORY "
      "%d\n#define BLOCK %d\n#define COLUMNS %d\n#define REALS %d\n",
      g->group, g->groups_max, k->slots, (int)(kcl_state_bytes(k, g) / sizeof(cl_int)), KCL_HISTORY,
      g->block, width, width * (kcl_type_complex(k->type) ? 2 : 1));
  kcl_put(
      &t,
      "#define STAYS %d\n#define ADDING %d\n#define WINDOW %d\n#define LISTED %d\n#define NEAR_X "
      "%d\n#define ROUNDS %d\n",
      g->stays, g->adding, g->window, g->near != NULL, g->cached, g->rounds);
  kcl_put(&t, "#define MOST_DOTS %d\n#define GROUPS_A_LANE %d\n", kcl_most_dots(k),
          (k->ctx->opencl->units + 31) / 32);
  kcl_put(&t, "#define CONVERGED %d\n#define NOT_FINITE %d\n#define ITERATION_LIMIT %d\n",
          KCL_CONVERGED, KCL_NOT_FINITE, KCL_ITERATION_LIMIT);
  put_file(&t, "scalar.clh"), put_file(&t, "once.clh"), put_file(&t, "lanes.clh");
  put_file(&t, "stage.clh"), put_file(&t, "letters.clh");
  if (g->stays) put_file(&t, "grid.clh");
  put_file(&t, "rows.clh"), put_file(&t, "atomic.clh");
  if (width > 1) put_file(&t, "columns.clh");
  if (k->A && k->A->format->image) {
    kcl_put(&t, "#define TEXEL %d\n#define IMAGE_BITS %d\n", kcl_opencl_texel(k->ctx, k->type),
            KCL_IMAGE_BITS);
    put_file(&t, "image.clh");
  }
  if (g->stays)
    kcl_put_staying_kernel(&t, k, g);
  else
    for (int phase = 0; phase < KCL_PHASES; phase++)
      for (int i = 0; i < k->stages[phase] && !(kcl_phase_stays(phase) && g->without_loop); i++)
        kernel_text(&t, k, phase, i, cpu);
  *source = t.data;
  return t.failed ? kcl_fail(k->ctx, KCL_MEMORY, "out of memory while composing kernels") : KCL_OK;
}
