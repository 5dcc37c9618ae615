/* From recorded stages to OpenCL text: every stage becomes one kernel.
 *
 * kernels/scalar.clh and stage.clh hold what all stages share; the file of the matrix's format is
 * included once for each product, with EMIT meaning "what this stage does with the sum of row i".
 * GPUs do all of it in registers as the sum appears. On CPU devices EMIT only stores the sum, and the
 * stage goes over each block of rows again with wide registers while it is in the first-level cache.
 * Of several columns an element is a wide register itself, and CPU devices do as GPUs; `width` is their number
 * there, 1, 2, 4 or 8. The text of one column does not show that there could be more.
 */
#include "core/opencl.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct text {
  char *data;
  size_t length, room;
  bool failed;
} text;

static void put(text *t, const char *format, ...) KCL_PRINTF(2, 3);
static void put(text *t, const char *format, ...) {
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

static void put_file(text *t, const char *name) {
  const char *body = kcl_kernel_text(name);
  if (body)
    put(t, "%s", body);
  else
    put(t, "#error no kernel file %s\n", name);
}

/* ---------------------------------------------------------------- scalars */

static void constant(text *t, double c) {
  if (c == (double)(long)c)
    put(t, "s_make(%ld)", (long)c);
  else
    put(t, "s_make((real)%.17g)", c);
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
static void coefficient(text *t, int width, kcl_coef c) {
  if (c.slot < 0) {
    constant(t, c.constant);
    return;
  }
  put(t, "%s%s%s%s%s", c.negate ? "s_neg(" : "", c.conjugate ? "s_conj(" : "", at(width, c.slot).s,
      c.conjugate ? ")" : "", c.negate ? ")" : "");
}

/* Of operations on vectors. */
static void vector_coefficient(text *t, int width, kcl_coef c) {
  if (width == 1)
    coefficient(t, 1, c);
  else if (c.slot < 0)
    put(t, "e_spread("), constant(t, c.constant), put(t, ")");
  else
    put(t, "%s%se_slot(s + %d)%s%s", c.negate ? "e_neg(" : "", c.conjugate ? "e_conj(" : "",
        c.slot * width, c.conjugate ? ")" : "", c.negate ? ")" : "");
}

static void scalar_op(text *t, int width, const kcl_op *o, kcl_slot target) {
  static const char *const function[] = {
      [KCL_OP_DIVIDE] = "s_div", [KCL_OP_MULTIPLY] = "s_mul",    [KCL_OP_ADD] = "s_add",
      [KCL_OP_ROOT] = "s_root",  [KCL_OP_MODULUS] = "s_modulus", [KCL_OP_LEAST] = "s_least"};
  const char *head = width > 1 ? "head + c * HEAD" : "head";
  const char *history = width > 1 ? "history + c * (HISTORY * LOG)" : "history";
  const cell slot = at(width, o->slot);
  put(t, "    ");
  switch (o->code) {
  case KCL_OP_ASSIGN: put(t, "%s = ", slot.s), coefficient(t, width, o->a), put(t, ";\n"); break;
  case KCL_OP_POSITIVE:
    put(t, "stop_when(s_re(%s) <= 0, %d, %s); stop_when(!(s_re(%s) > 0), %d, %s);\n", slot.s,
        o->reason, head, slot.s, KCL_NOT_FINITE, head);
    break;
  case KCL_OP_NONZERO: put(t, "stop_when(s_zero(%s), %d, %s);\n", slot.s, o->reason, head); break;
  case KCL_OP_STEP:
    put(t, "step(%s, s_re(%s), %s, %s);", slot.s, at(width, target).s, head, history);
    if (o->inside) put(t, " leave_open(%s);", head);
    put(t, "\n");
    break;
  case KCL_OP_CLOSED: put(t, "(%s)[OPEN] = 0;\n", head); break;
  case KCL_OP_RITZ:
    put(t, "if (get_group_id(0) == 0) log_ritz(%s, %s, %s, %s);\n", at(width, o->a.slot).s,
        at(width, o->b.slot).s, head, history);
    break;
  case KCL_OP_ROOT:
  case KCL_OP_MODULUS:
    put(t, "%s = %s(", slot.s, function[o->code]);
    coefficient(t, width, o->a), put(t, ");\n");
    break;
  default:
    put(t, "%s = %s(", slot.s, function[o->code]);
    coefficient(t, width, o->a), put(t, ", "), coefficient(t, width, o->b), put(t, ");\n");
  }
}

enum { AT_ONCE = 4 }; /* dots summed with common barriers (kernels/stage.clh) */

int kcl_most_dots(const kcl_program *k) {
  int dots = kcl_program_dots(k);
  return dots < AT_ONCE ? AT_ONCE : dots;
}

static int at_once(int dots) { return dots < 1 ? 1 : dots < AT_ONCE ? dots : AT_ONCE; }

/* Last stage's dots, added to their slots. */
static void fold(text *t, const kcl_stage *before) {
  int dots = kcl_stage_dots(before), d = 0;
  for (int i = 0; i < before->vectors; i++) {
    if (before->vector[i].code != KCL_OP_DOT) continue;
    if (d % AT_ONCE == 0)
      put(t,
          "  fold(in, %d, %d, groups_before, total, tree);\n  if (get_local_id(0) == 0 && went) {",
          d, at_once(dots - d));
    put(t, " s[%d] = total[%d];", before->vector[i].slot, d % AT_ONCE);
    d++;
    if (d % AT_ONCE == 0 || d == dots) put(t, " }\n  SYNC();\n");
  }
}

/* Of several columns: a dot is as many sums. */
static void fold_columns(text *t, int width, const kcl_stage *before) {
  for (int i = 0, d = 0; i < before->vectors; i++) {
    if (before->vector[i].code != KCL_OP_DOT) continue;
    for (int c = 0; c < width; c += AT_ONCE)
      put(t,
          "  fold(in, %d, %d, groups_before, total, tree);\n  if (get_local_id(0) == 0) "
          "keep(s + %d, total, %d, went >> %d);\n  SYNC();\n",
          d * width + c, at_once(width - c), before->vector[i].slot * width + c, at_once(width - c),
          c);
    d++;
  }
}

static void write_partials(text *t, int width, const kcl_stage *s) {
  int dots = kcl_stage_dots(s);
  for (int d = 0; width == 1 && d < dots; d += AT_ONCE) {
    put(t, " ");
    for (int q = 0; q < at_once(dots - d); q++) put(t, " total[%d] = p_total(sum%d);", q, d + q);
    put(t, "\n  write_partials(out, %d, %d, total, tree);\n", d, at_once(dots - d));
  }
  for (int d = 0; width > 1 && d < dots; d++) {
    put(t, "  e_split(sum%d, total);\n", d);
    for (int c = 0; c < width; c += AT_ONCE)
      put(t, "  write_partials(out, %d, %d, total + %d, tree);\n", d * width + c,
          at_once(width - c), c);
  }
}

/* All scalars of the stage: last stage's dots folded, operations by one work-item a column, then shared. */
static void prologue(text *t, int width, const kcl_stage *s, const kcl_stage *before,
                     kcl_slot target) {
  int before_dots = before ? kcl_stage_dots(before) : 0, dots = kcl_stage_dots(s);
  int sums = width * (dots > before_dots ? dots : before_dots);
  bool late = s->closing && !(before && before->closing); /* the one before went only if running */
  put(t,
      "  local scalar s[SLOTS * COLUMNS], tree[WG * %d + %d];\n  scalar total[%d];\n  local int "
      "head[HEAD * COLUMNS];\n  load_state(in, s, head);\n",
      at_once(sums), s->A ? s->A->tree : 0, width > AT_ONCE ? width : AT_ONCE);
  if (width == 1)
    put(t, "  const bool goes = !head[STOP]%s, went = %s;\n", s->closing ? " || head[OPEN]" : "",
        late ? "!head[STOP]" : "goes");
  else
    put(t, "  const int goes = going(head, %d), went = going(head, %d);\n", s->closing,
        s->closing && !late);
  put(t, "  const idx n = goes ? size : 0;\n  SYNC();\n");
  if (before && width == 1) fold(t, before);
  if (before && width > 1) fold_columns(t, width, before);
  if (s->scalars) {
    if (width == 1)
      put(t, "  if (get_local_id(0) == 0 && goes) {\n");
    else
      put(t, "  for (int c = get_local_id(0); c < COLUMNS; c += WG) if (goes >> c & 1) {\n");
    for (int i = 0; i < s->scalars; i++) scalar_op(t, width, &s->scalar[i], target);
    put(t, "  }\n  SYNC();\n");
  }
  put(t, "  store_state(out, s, head);\n");
}

/* START ends with the dots that LOOP begins by folding. */
static void hand_over(text *t, int width, const kcl_stage *last) {
  for (int i = 0, d = 0; i < last->vectors; i++) {
    if (last->vector[i].code != KCL_OP_DOT) continue;
    for (int c = 0; c < width; c++)
      put(t, "  hand_over(out, %d, s[%d]);\n", d * width + c, last->vector[i].slot * width + c);
    d++;
  }
}

/* ---------------------------------------------------------------- elements */

/* What is different in a kernel that stays; NULL in one of a stage. */
typedef struct staying {
  int lanes;   /* work-items that share an element */
  bool window; /* what a group's rows gather fits in its local memory */
  bool held;   /* vectors are in registers: v[turn], turn counting a work-item's elements */
  bool
      *shown; /* [vectors]: other work-items gather it, so every writing is shown them (grid.clh) */
} staying;

static bool holds(const staying *stay) { return stay && stay->held; }

static bool shows(const staying *stay, const kcl_stage *s, kcl_vec v) {
  return stay && stay->shown[v] && kcl_stage_writes(s, v);
}

static bool is(kcl_coef c, double v) { return c.slot < 0 && c.constant == v; }
static bool has_name(kcl_coef c) { return !is(c, 0) && !is(c, 1); } /* c0, c1 ... in the text */

/* One array for several columns? */
static bool shared(const kcl_program *k, kcl_vec v) {
  return kcl_width(k) > 1 && kcl_vector_shared(k, v);
}

/* Does operation i of the stage see vector v as computed before it in this stage? */
static void load(text *t, const kcl_program *k, bool *loaded, kcl_vec v, const staying *stay) {
  if (!loaded[v])
    put(t,
        holds(stay)    ? " pack e%d = v%d[turn];"
        : shared(k, v) ? " pack e%d = p_shared(v%d, i);"
                       : " pack e%d = p_load(v%d, i);",
        v, v);
  loaded[v] = true;
}

static void term(text *t, kcl_coef c, int number, kcl_vec v) {
  if (is(c, 1))
    put(t, "e%d", v);
  else if (is(c, -1))
    put(t, "p_neg(e%d)", v);
  else
    put(t, "p_scale(c%d, e%d)", number, v);
}

/* a x + b z; an operand whose coefficient is the constant 0 is not read. */
static void lincomb(text *t, const kcl_op *o, int i) {
  if (is(o->a, 0))
    put(t, "p_zero()");
  else if (is(o->b, 0))
    term(t, o->a, 2 * i, o->x);
  else if (is(o->a, 1) && is(o->b, -1))
    put(t, "p_sub(e%d, e%d)", o->x, o->z);
  else if (is(o->a, 1) && is(o->b, 1))
    put(t, "p_add(e%d, e%d)", o->x, o->z);
  else if (is(o->b, 1))
    put(t, "p_fma(c%d, e%d, e%d)", 2 * i, o->x, o->z);
  else
    put(t, "p_fma(c%d, e%d, ", 2 * i + 1, o->z), term(t, o->a, 2 * i, o->x), put(t, ")");
}

/* One element (or pack) through all operations; e3 is vector 3's. sum: how a dot's sum is named. */
static void elements(text *t, const kcl_program *k, const kcl_stage *s, const char *sum,
                     bool y_given, const staying *stay) {
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
      put(t, " %s%d = %s(%s%d, e%d, e%d);", sum, d, o->plain ? "p_dotu" : "p_dot", sum, d, o->x,
          o->y);
      d++;
      continue;
    }
    put(t, " %se%d = ", loaded[o->y] ? "" : "pack ", o->y);
    loaded[o->y] = true;
    if (o->code == KCL_OP_LINCOMB)
      lincomb(t, o, i);
    else
      put(t, o->conjugate ? "p_mul(p_conj(e%d), e%d)" : "p_mul(e%d, e%d)", o->x, o->z);
    put(t, ";");
  }
  free(loaded);
  for (kcl_vec v = 0; v < k->vectors; v++)
    if (kcl_stage_writes(s, v) && !(s->A && v == s->y && !y_given && !kcl_stage_rewrites(s, v)))
      put(t,
          holds(stay)        ? " v%d[turn] = e%d;"
          : kcl_width(k) > 1 ? " p_store(v%d, i, e%d, goes);"
                             : " p_store(v%d, i, e%d);",
          v, v);
  for (kcl_vec v = 0; v < k->vectors; v++)
    if (shows(stay, s, v)) put(t, " show(to%d + i, now, e%d);", v, v);
}

/* ---------------------------------------------------------------- one kernel */

static const char *element_of(const kcl_program *k, kcl_vec v) {
  return kcl_width(k) > 1 && !shared(k, v) ? "element" : "scalar";
}

static void vectors(text *t, const kcl_program *k, const kcl_stage *s, const char *before,
                    const staying *stay, bool typed) {
  kcl_vec list[KCL_MOST_STAGE_VECTORS];
  int count = kcl_stage_vectors(s, list, KCL_MOST_STAGE_VECTORS);
  for (int i = 0; i < count; i++) {
    put(t, "%s", before);
    const char *constant = kcl_stage_writes(s, list[i]) ? "" : "const ";
    if (typed && holds(stay))
      put(t, "%sscalar *", constant);
    else if (typed)
      put(t, "global %s%s *restrict ", constant, element_of(k, list[i]));
    put(t, "v%d", list[i]);
  }
}

/* Parameters (typed) or arguments of the coefficients and sums that EMIT needs inside visit_rows. */
static void emit_extras(text *t, const kcl_program *k, const kcl_stage *s, const staying *stay,
                        bool typed) {
  if (kcl_width(k) > 1) put(t, typed ? ", const int goes" : ", goes");
  for (int i = 0, d = 0; i < s->vectors; i++) {
    const kcl_op *o = &s->vector[i];
    if (o->code == KCL_OP_DOT) put(t, typed ? ", pack *sum%d" : ", &sum%d", d++);
    if (o->code != KCL_OP_LINCOMB) continue;
    if (has_name(o->a)) put(t, typed ? ", factor c%d" : ", c%d", 2 * i);
    if (has_name(o->b)) put(t, typed ? ", factor c%d" : ", c%d", 2 * i + 1);
  }
  if (!stay) return;
  for (kcl_vec v = 0; v < k->vectors; v++)
    if (shows(stay, s, v)) put(t, typed ? ", global shown *to%d" : ", to%d", v);
  put(t, typed ? ", const uint now" : ", now");
}

static const char *kind_name(kcl_array_kind kind) {
  return (const char *const[]){
      [KCL_INT32] = "int",   [KCL_INT64] = "long",    [KCL_SCALAR] = "scalar",
      [KCL_UINT8] = "uchar", [KCL_UINT16] = "ushort", [KCL_SINGLE] = "single"}[kind];
}

enum { NAMES, TYPED, WRITTEN }; /* WRITTEN: typed, scratch as prepare() sees it */

/* prefix: before every name, where one kernel has two matrices. */
static void matrix_macros(text *t, const kcl_matrix *m, int typed, const char *prefix) {
  const char *comma = "";
  for (int i = 0; i < m->arrays; i++, comma = ", ") {
    const kcl_array *a = &m->array[i];
    put(t, "%s", comma);
    if (!typed)
      put(t, "%s%s", prefix, a->name);
    else if (a->kind == KCL_IMAGE)
      put(t, "%s image2d_t %s%s", typed == WRITTEN ? "write_only" : "read_only", prefix, a->name);
    else if (typed == WRITTEN && a->scratch)
      put(t, "global %s *restrict %s%s", kind_name(a->kind), prefix, a->name);
    else if (a->kind == KCL_INT64)
      put(t, "global const %s_t *restrict %s%s", a->name, prefix, a->name);
    else
      put(t, "global const %s *restrict %s%s", kind_name(a->kind), prefix, a->name);
  }
  for (int i = 0; i < m->params; i++)
    put(t, typed ? ", const idx %s%s" : ", %s%s", prefix, m->param[i].name);
}

/* The format's own text, its function renamed for this stage. */
static void include_format(text *t, const kcl_program *k, const kcl_stage *s, const char *id,
                           const staying *stay, bool cpu) {
  const kcl_matrix *m = s->A;
  bool fused = !cpu || kcl_width(k) > 1;
  char file[64];
  snprintf(file, sizeof file, "%s.cl", m->format->kernel);
  put(t, "#define MATRIX "), matrix_macros(t, m, TYPED, "");
  put(t, "\n#define PREPARED "), matrix_macros(t, m, WRITTEN, "");
  put(t, "\n#define LANES %d\n#define VARIANT %d\n#define TREE %d\n", m->lanes, m->variant,
      stay ? 0 : m->tree);
  for (int i = 0; i < m->arrays; i++)
    if (m->array[i].kind == KCL_INT64)
      put(t, "#define %s_t %s\n", m->array[i].name, m->nnz < INT32_MAX ? "int" : "long");
  put(t, "#define visit_rows visit_%s\n#define scatter scatter_%s\n#define prepare fill_%s\n", id,
      id, id);
  if (!m->format->scatter && !fused) {
    put(t,
        "#define EMIT_PARAMS , global scalar *restrict v%d\n#define EMIT(i, value) v%d[i] = "
        "(value)\n",
        s->y, s->y);
  } else if (!m->format->scatter) {
    put(t, "#define EMIT_PARAMS ");
    vectors(t, k, s, ", ", stay, true);
    emit_extras(t, k, s, stay, true);
    put(t, "\n#define EMIT(i, value) {pack e%d = (value);", s->y);
    elements(t, k, s, "*sum", true, stay);
    put(t, "}\n");
  }
  put_file(t, file);
  put(t, "#undef MATRIX\n#undef PREPARED\n#undef prepare\n#undef LANES\n#undef VARIANT\n#undef "
         "TREE\n#undef visit_rows\n#undef "
         "scatter\n#undef EMIT\n#undef "
         "EMIT_PARAMS\n");
}

/* What the format does before the product, in a kernel of its own. */
static void prepare_kernel(text *t, const kcl_stage *s, const char *id) {
  put(t,
      "kernel __attribute__((reqd_work_group_size(WG, 1, 1)))\nvoid prepare_%s(const idx items, "
      "global const scalar *restrict x, ",
      id);
  matrix_macros(t, s->A, WRITTEN, "");
  put(t, ")\n{\n  local scalar tree[WG + %d];\n  PIECE(items)\n  fill_%s(", s->A->tree, id);
  matrix_macros(t, s->A, NAMES, "");
  put(t, ", x, lo, hi, tree);\n}\n\n");
}

static void product_call(text *t, const kcl_program *k, const kcl_stage *s, const char *id,
                         const char *prefix, const staying *stay, bool cpu) {
  put(t, "visit_%s(", id), matrix_macros(t, s->A, NAMES, prefix);
  put(t,
      cpu    ? ", v%d, base, min(end, n), tree"
      : stay ? ", x%d, lo, hi, tree"
             : ", v%d, 0, n, tree",
      s->x);
  if (cpu && kcl_width(k) == 1)
    put(t, ", v%d", s->y);
  else
    vectors(t, k, s, ", ", stay, false), emit_extras(t, k, s, stay, false);
  put(t, ");\n");
}

/* Over this work-item's elements, cut as rows are: where several share a row, the first of them has it. */
static void own_elements(text *t, const staying *stay) {
  if (!stay) put(t, "  const idx lo = 0, hi = n;\n");
  if (stay && stay->lanes > 1)
    put(t,
        "  if (get_local_id(0) %% %d == 0)\n  for (idx turn = 0, i = lo + get_local_id(0) / %d; "
        "turn < "
        "ROUNDS; turn++, i += WG / %d) if (i < hi)",
        stay->lanes, stay->lanes, stay->lanes);
  else
    put(t, "  for EACH(i)");
}

static void body(text *t, const kcl_program *k, const kcl_stage *s, const char *id,
                 const char *prefix, const staying *stay, bool cpu) {
  if (s->A && s->A->format->scatter) {
    put(t, "  PIECE(n)\n  scatter_%s(", id), matrix_macros(t, s->A, NAMES, prefix);
    put(t, ", v%d, lo, hi, v%d, tree);\n", s->x, s->y);
  } else if (cpu) {
    put(t, "  PIECE(n)\n  for (idx base = lo; base < hi; base += BLOCK) {\n    const idx end = "
           "min((idx)(base + BLOCK), hi);\n    ");
    if (s->A) product_call(t, k, s, id, prefix, NULL, true);
    if (s->vectors && !(s->A && kcl_width(k) > 1))
      put(t, "    for (idx i = base; i < end; i += PACK) {"), elements(t, k, s, "sum", false, NULL),
          put(t, " }\n");
    put(t, "  }\n");
  } else if (s->A) {
    put(t, "  "), product_call(t, k, s, id, prefix, stay, false);
  } else {
    own_elements(t, stay);
    put(t, " {"), elements(t, k, s, "sum", false, stay), put(t, " }\n");
  }
}

/* The stage's coefficients, sums and loop. */
static void elementwise(text *t, const kcl_program *k, const kcl_stage *s, const char *id,
                        const char *prefix, const staying *stay, bool cpu) {
  for (int i = 0; i < s->vectors; i++) {
    const kcl_op *o = &s->vector[i];
    const kcl_coef coef[] = {o->a, o->b};
    for (int j = 0; j < 2 && o->code == KCL_OP_LINCOMB; j++)
      if (has_name(coef[j]))
        put(t, "  const factor c%d = ", 2 * i + j), vector_coefficient(t, kcl_width(k), coef[j]),
            put(t, ";\n");
  }
  for (int d = 0; d < kcl_stage_dots(s); d++) put(t, "  pack sum%d = p_zero();\n", d);
  if (s->n) body(t, k, s, id, prefix, stay, cpu);
}

static void kernel_text(text *t, const kcl_program *k, kcl_phase phase, int number, bool cpu) {
  const kcl_stage *s = &k->stage[phase][number], *handed = kcl_stage_handed(k, phase, number);
  char id[32];
  snprintf(id, sizeof id, "%d_%d", phase, number);
  if (s->A) include_format(t, k, s, id, NULL, cpu);
  if (s->A && s->A->prepare) prepare_kernel(t, s, id);
  put(t,
      "kernel __attribute__((reqd_work_group_size(WG, 1, 1)))\nvoid stage_%s(global const int "
      "*restrict in, "
      "global int *restrict out, global real *restrict history, const idx size, const int "
      "groups_before",
      id);
  if (s->A) put(t, ", "), matrix_macros(t, s->A, TYPED, "");
  vectors(t, k, s, ", ", NULL, true);
  put(t, ")\n{\n");
  prologue(t, kcl_width(k), s, kcl_stage_before(k, phase, number), k->target);
  if (handed) hand_over(t, kcl_width(k), handed);
  elementwise(t, k, s, id, "", NULL, cpu);
  write_partials(t, kcl_width(k), s);
  put(t, "}\n\n");
  for (int i = 0; s->A && i < s->A->arrays; i++)
    if (s->A->array[i].kind == KCL_INT64) put(t, "#undef %s_t\n", s->A->array[i].name);
}

/* ---------------------------------------------------------------- a kernel that stays */

/* Can all of LOOP be one kernel? Rows and elements have to be cut alike, so that a work-item alone touches
 * its elements. Formats that scatter need y cleared first, some a kernel before the product; cycles that
 * close late and stages of other lengths would only make the text longer. */
bool kcl_can_stay(const kcl_program *k) {
  const kcl_matrix *both[] = {k->A, k->AH};
  if (kcl_width(k) > 1) return false;
  for (int m = 0; k->A && m < 2; m++)
    if (both[m] && (!both[m]->aligned || both[m]->lanes != k->A->lanes ||
                    both[m]->format->scatter || both[m]->prepare))
      return false;
  for (int i = 0; i < k->stages[KCL_LOOP]; i++) {
    const kcl_stage *s = &k->stage[KCL_LOOP][i];
    if (s->closing || (s->n && s->n != k->n)) return false;
    for (int o = 0; o < s->scalars; o++)
      if (s->scalar[o].inside) return false;
  }
  return k->A && k->stages[KCL_LOOP] > 0;
}

/* The loop's vectors, each once. */
int kcl_loop_vectors(const kcl_program *k, kcl_vec *list) {
  int count = 0;
  for (kcl_vec v = 0; v < k->vectors; v++) {
    bool used = false;
    for (int i = 0; i < k->stages[KCL_LOOP] && !used; i++) {
      kcl_vec of_stage[KCL_MOST_STAGE_VECTORS];
      int n = kcl_stage_vectors(&k->stage[KCL_LOOP][i], of_stage, KCL_MOST_STAGE_VECTORS);
      for (int j = 0; j < n && !used; j++) used = of_stage[j] == v;
    }
    if (used) list[count++] = v;
  }
  return count;
}

/* Of these, what its products gather. */
bool kcl_loop_gathers(const kcl_program *k, kcl_vec v) {
  for (int i = 0; i < k->stages[KCL_LOOP]; i++)
    if (k->stage[KCL_LOOP][i].A && k->stage[KCL_LOOP][i].x == v) return true;
  return false;
}

/* Operations that only look at slots and say what follows: no other work-item waits for them. */
static bool only_looks(const kcl_op *o) {
  return o->code == KCL_OP_POSITIVE || o->code == KCL_OP_NONZERO || o->code == KCL_OP_RITZ ||
         o->code == KCL_OP_STEP;
}

/* May they all come last? Not when a slot they look at is assigned to afterwards. */
static bool may_look_later(const kcl_program *k, const kcl_stage *s) {
  for (int i = 0; i < s->scalars; i++) {
    const kcl_op *o = &s->scalar[i];
    if (!only_looks(o)) continue;
    for (int j = i + 1; j < s->scalars; j++) {
      const kcl_op *later = &s->scalar[j];
      if (only_looks(later)) continue;
      if (o->code == KCL_OP_RITZ ? later->slot == o->a.slot || later->slot == o->b.slot
                                 : later->slot == o->slot || later->slot == k->target)
        return false;
    }
  }
  return true;
}

/* Does this stage's vector loop use what its scalar operations assign to? */
static bool needs_scalars(const kcl_stage *s) {
  for (int i = 0; i < s->scalars; i++) {
    const kcl_op *o = &s->scalar[i];
    for (int j = 0; j < s->vectors && !only_looks(o); j++)
      if (s->vector[j].code == KCL_OP_LINCOMB &&
          (s->vector[j].a.slot == o->slot || s->vector[j].b.slot == o->slot))
        return true;
  }
  return false;
}

enum when { ALL_NOW, LOOKS_LATER, ALL_LATER };

static enum when when(const kcl_program *k, const kcl_stage *s) {
  return !needs_scalars(s) ? ALL_LATER : may_look_later(k, s) ? LOOKS_LATER : ALL_NOW;
}

static void scalars(text *t, const kcl_program *k, const kcl_stage *s, bool later) {
  const enum when w = when(k, s);
  for (int i = 0; i < s->scalars; i++)
    if ((w == ALL_LATER || (w == LOOKS_LATER && only_looks(&s->scalar[i]))) == later)
      scalar_op(t, 1, &s->scalar[i], k->target);
}

/* Does the first work-item still write down sums when the others have done with the stage? */
static bool ends_open(const kcl_stage *s) { return kcl_stage_dots(s) || s->A; }

/* The first work-item of each group does the scalars, all the same; then all share them. Tests and notes wait
 * for the time in which the stage's sums are on their way to all groups. Stages without dots need not meet,
 * except after a product: two writings later nobody may still be reading its x. */
static void staying_stage(text *t, const kcl_program *k, int number, const staying *stay) {
  const int stages = k->stages[KCL_LOOP];
  const kcl_stage *s = &k->stage[KCL_LOOP][number];
  const kcl_stage *before = &k->stage[KCL_LOOP][(number + stages - 1) % stages];
  const int dots = kcl_stage_dots(s);
  bool any = false;
  char id[32];
  snprintf(id, sizeof id, "stay_%d", number);
  if (when(k, s) != ALL_LATER || ends_open(before)) {
    put(t, "  if (goes) {\n    if (get_local_id(0) == 0) {\n      head[GOES] = !head[STOP] && "
           "!head[LOST];\n      if (head[GOES]) {\n");
    scalars(t, k, s, false);
    put(t, "      }\n    }\n    SYNC();\n    goes = head[GOES];\n  }\n");
  } else {
    put(t, "  goes = goes && !head[STOP] && !head[LOST];\n");
  }
  put(t, "  if (goes) {\n  now++;\n");
  for (kcl_vec v = 0; v < k->vectors; v++)
    if (shows(stay, s, v))
      put(t, "  at%d = n - at%d;\n  global shown *to%d = w%d + at%d;\n", v, v, v, v, v);
  if (s->A && stay->window)
    put(t,
        "  fetch(w%d + at%d, when%d, begin, end, window);\n  const gathered x%d = {window, "
        "begin};\n",
        s->x, s->x, s->x, s->x);
  else if (s->A)
    put(t,
        "  await_pieces(pieces, when%d, first, last, head);\n  const gathered x%d = w%d + at%d;\n",
        s->x, s->x, s->x, s->x);
  elementwise(t, k, s, id, s->A == k->A ? "a_" : "h_", stay, false);
  for (kcl_vec v = 0; v < k->vectors; v++)
    if (shows(stay, s, v)) put(t, "  when%d = now;\n", v), any = true;
  if (any && !stay->window) put(t, "  complete(pieces, now);\n");
  for (int d = 0; d < dots; d++) put(t, "    total[%d] = p_total(sum%d);\n", d, d);
  if (ends_open(s)) put(t, "    send_sums(box, ++number, %d, total, tree);\n", dots);
  put(t, "    if (get_local_id(0) == 0) {\n"), scalars(t, k, s, true), put(t, "    }\n");
  if (ends_open(s))
    put(t, "    await_sums(box, number, %d, 2, total, tree, head);\n", dots);
  else
    put(t, "    SYNC();\n");
  if (dots) {
    put(t, "    if (get_local_id(0) == 0 && !head[STOP]) {");
    for (int i = 0, d = 0; i < s->vectors; i++)
      if (s->vector[i].code == KCL_OP_DOT) put(t, " s[%d] = total[%d];", s->vector[i].slot, d++);
    put(t, " }\n");
  }
  put(t, "  }\n");
}

static bool loop_writes(const kcl_program *k, kcl_vec v) {
  for (int i = 0; i < k->stages[KCL_LOOP]; i++)
    if (kcl_stage_writes(&k->stage[KCL_LOOP][i], v)) return true;
  return false;
}

static void staying_kernel(text *t, const kcl_program *k, const kcl_geometry *g) {
  const kcl_stage *carried = kcl_stage_before(k, KCL_LOOP, 0);
  const kcl_matrix *matrix[] = {k->A, k->AH};
  int vectors = 0;
  kcl_vec *list = calloc((size_t)k->vectors, sizeof *list);
  staying stay = {.lanes = k->A->lanes,
                  .window = g->window,
                  .held = g->held,
                  .shown = calloc((size_t)k->vectors, sizeof *stay.shown)};
  if (!list || !stay.shown) {
    t->failed = true;
    goto done;
  }
  vectors = kcl_loop_vectors(k, list);
  for (int v = 0; v < vectors; v++) stay.shown[list[v]] = kcl_loop_gathers(k, list[v]);
  for (int i = 0; i < k->stages[KCL_LOOP]; i++) {
    const kcl_stage *s = &k->stage[KCL_LOOP][i];
    char id[32];
    snprintf(id, sizeof id, "stay_%d", i);
    if (s->A) include_format(t, k, s, id, &stay, false);
  }
  put(t, "kernel __attribute__((reqd_work_group_size(WG, 1, 1)))\nvoid stay(global const int "
         "*restrict in, global int *restrict out, global real *restrict history, const idx n, "
         "const int groups_before, global volatile letter *box, uint number, const int times, "
         "const idx piece");
  for (int i = 0; i < 2; i++)
    if (matrix[i]) put(t, ", "), matrix_macros(t, matrix[i], TYPED, i ? "h_" : "a_");
  for (int v = 0; v < vectors; v++)
    put(t, ", global scalar *restrict %s%d", g->held ? "m" : "v", list[v]);
  for (int v = 0; v < vectors; v++)
    if (stay.shown[list[v]]) put(t, ", global shown *w%d", list[v]);
  put(t, g->window ? ", const idx reach, local scalar *window" : ", const idx reach");
  put(t, ")\n{\n  local scalar s[SLOTS], tree[WG * %d];\n  scalar total[%d];\n",
      at_once(kcl_program_dots(k)), kcl_most_dots(k));
  put(t, "  local int head[HEAD];\n  load_state(in, s, head);\n  const bool went = !head[STOP];\n");
  if (carried) fold(t, carried);
  put(t, "  uint now = number + 1;\n  const idx lo = min((idx)get_group_id(0) * piece, n), hi = "
         "min((idx)(lo + piece), n);\n");
  put(t, "  const idx begin = max((idx)(lo - reach), (idx)0), end = min((idx)(hi + reach), n);\n");
  if (!g->window)
    put(t, "  const int first = (int)(begin / piece), last = (int)((end - 1) / piece);\n  global "
           "volatile uint *pieces = PIECES;\n");
  for (int v = 0; v < vectors && g->held; v++) {
    put(t, "  scalar v%d[ROUNDS];\n", list[v]);
    own_elements(t, &stay), put(t, " v%d[turn] = m%d[i];\n", list[v], list[v]);
  }
  for (int v = 0; v < vectors; v++)
    if (stay.shown[list[v]]) {
      put(t, "  idx at%d = 0;\n  uint when%d = now;\n", list[v], list[v]);
      own_elements(t, &stay);
      put(t, " show(w%d + i, now, v%d[%s]);\n", list[v], list[v], g->held ? "turn" : "i");
    }
  if (!g->window) put(t, "  complete(pieces, now);\n");
  put(t, "  /* nothing is touched until all groups are known to be here, and to know it */\n"
         "  for (int greeting = 0; greeting < 2 && !head[LOST]; greeting++) {\n"
         "    SYNC();\n    send_sums(box, ++number, 0, total, tree);\n"
         "    await_sums(box, number, 0, 1, total, tree, head);\n    SYNC();\n  }\n"
         "  bool goes = !head[STOP] && !head[LOST];\n  SYNC();\n"
         "  for (int time = 0; time < times && goes; time++) {\n");
  for (int i = 0; i < k->stages[KCL_LOOP]; i++) staying_stage(t, k, i, &stay);
  put(t, "  }\n");
  for (int v = 0; v < vectors && g->held; v++)
    if (loop_writes(k, list[v]))
      own_elements(t, &stay), put(t, " m%d[i] = v%d[turn];\n", list[v], list[v]);
  put(t, "  SYNC();\n  store_state(out, s, head);\n");
  if (carried) hand_over(t, 1, carried);
  put(t, "}\n\n");
done:
  free(list), free(stay.shown);
}

int kcl_codegen(const kcl_program *k, const kcl_geometry *g, char **source) {
  text t = {0};
  bool cpu = g->group == 1;
  int width = kcl_width(k);
  put(&t, "#define KCL_TYPE %d\n#define IDX %s\n#define KCL_CPU %d\n#define NVIDIA_PTX %d\n",
      k->type, g->wide_index ? "long" : "int", cpu, k->ctx->opencl->is_nvidia);
  put(&t,
      "#define WG %d\n#define GROUPS_MAX %d\n#define SLOTS %d\n#define HISTORY %d\n#define BLOCK "
      "%d\n#define COLUMNS %d\n#define REALS %d\n",
      g->group, g->groups_max, k->slots, KCL_HISTORY, g->block, width,
      width * (kcl_type_complex(k->type) ? 2 : 1));
  put(&t, "#define STAYS %d\n#define WINDOW %d\n#define NEAR_X %d\n#define ROUNDS %d\n", g->stays,
      g->window, g->near, g->rounds);
  put(&t, "#define MOST_DOTS %d\n#define GROUPS_A_LANE %d\n", kcl_most_dots(k),
      (k->ctx->opencl->units + 31) / 32);
  put(&t, "#define CONVERGED %d\n#define NOT_FINITE %d\n#define ITERATION_LIMIT %d\n",
      KCL_CONVERGED, KCL_NOT_FINITE, KCL_ITERATION_LIMIT);
  put_file(&t, "scalar.clh"), put_file(&t, "lanes.clh"), put_file(&t, "stage.clh");
  if (g->stays) put_file(&t, "grid.clh");
  put_file(&t, "rows.clh"), put_file(&t, "atomic.clh");
  if (width > 1) put_file(&t, "columns.clh");
  if (k->A && k->A->format->image) {
    put(&t, "#define TEXEL %d\n#define IMAGE_BITS %d\n", kcl_opencl_texel(k->ctx, k->type),
        KCL_IMAGE_BITS);
    put_file(&t, "image.clh");
  }
  if (g->stays)
    staying_kernel(&t, k, g);
  else
    for (int phase = 0; phase < KCL_PHASES; phase++)
      for (int i = 0; i < k->stages[phase] && !(phase == KCL_LOOP && g->without_loop); i++)
        kernel_text(&t, k, phase, i, cpu);
  *source = t.data;
  return t.failed ? kcl_fail(k->ctx, KCL_MEMORY, "out of memory while composing kernels") : KCL_OK;
}
