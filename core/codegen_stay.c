/* The kernel that stays: all of LOOP, and REPLACE every so many passes, in one launch. Its groups send each other sums
 * and shares of x (kernels/grid.clh). The text is a straight line of stages without a branch around a barrier: after
 * a stop groups go on meeting, but own no elements any more (some compilers take a time that doubles with every such
 * branch).
 */
#include "core/codegen.h"
#include <stdio.h>

/* In a kernel that stays. */
static const kcl_stage *stage_before(const kcl_program *k, const kcl_stage *s) {
  const bool first = s == k->stage[KCL_LOOP] || s == k->stage[KCL_REPLACE];
  return first ? &k->stage[KCL_LOOP][k->stages[KCL_LOOP] - 1] : s - 1;
}

/* Does a stage of it end with sums on their way? A product does, since two writings later nobody may still be
 * reading its x. */
static bool ends_open(const kcl_stage *s) { return kcl_stage_dots(s) || s->A; }

static bool may_come_early(const kcl_program *k, const kcl_stage *s) {
  return s->A && ends_open(stage_before(k, s));
}

bool kcl_comes_early(const kcl_program *k, const kcl_stage *s, const kcl_staying *stay) {
  return stay && stay->g->early && may_come_early(k, s);
}

bool kcl_holds(const kcl_program *k, const kcl_staying *stay, kcl_vec v) {
  return stay && stay->g->held && kcl_phase_uses(k, KCL_LOOP, v);
}

bool kcl_shows(const kcl_program *k, const kcl_staying *stay, const kcl_stage *s, kcl_vec v) {
  return stay && kcl_stage_writes(s, v) &&
         (kcl_phase_gathers(k, KCL_LOOP, v) ||
          (stay->replaces && kcl_phase_gathers(k, KCL_REPLACE, v)));
}

/* Can all of LOOP be one kernel, and REPLACE a part of it? Rows and elements have to be cut alike, so that a
 * work-item alone touches its elements. Formats that scatter need y cleared first, some a kernel before the
 * product; cycles that close late and stages of other lengths would only make the text longer. */
bool kcl_can_stay(const kcl_program *k) {
  const kcl_matrix *both[] = {k->A, k->AH};
  const int stages = k->stages[KCL_LOOP], replacing = k->stages[KCL_REPLACE];
  if (kcl_width(k) > 1) return false;
  for (int m = 0; k->A && m < 2; m++)
    if (both[m] && (!both[m]->aligned || both[m]->lanes != k->A->lanes ||
                    both[m]->format->scatter || both[m]->prepare))
      return false;
  for (int i = 0; i < stages + replacing; i++) {
    const kcl_stage *s = i < stages ? &k->stage[KCL_LOOP][i] : &k->stage[KCL_REPLACE][i - stages];
    if (s->closing || (s->n && s->n != k->n)) return false;
    for (int o = 0; o < s->scalars; o++)
      if (s->scalar[o].inside) return false;
  }
  return k->A && stages && !(replacing && ends_open(&k->stage[KCL_REPLACE][replacing - 1]));
}

bool kcl_loop_comes_early(const kcl_program *k) {
  bool early = false;
  for (int i = 0; i < k->stages[KCL_LOOP]; i++)
    early = early || may_come_early(k, &k->stage[KCL_LOOP][i]);
  return early;
}

bool kcl_phase_uses(const kcl_program *k, kcl_phase phase, kcl_vec v) {
  for (int i = 0; i < k->stages[phase]; i++) {
    kcl_vec list[KCL_MOST_STAGE_VECTORS];
    int count = kcl_stage_vectors(&k->stage[phase][i], list, KCL_MOST_STAGE_VECTORS);
    for (int j = 0; j < count; j++)
      if (list[j] == v) return true;
  }
  return false;
}

bool kcl_phase_gathers(const kcl_program *k, kcl_phase phase, kcl_vec v) {
  for (int i = 0; i < k->stages[phase]; i++)
    if (k->stage[phase][i].A && k->stage[phase][i].x == v) return true;
  return false;
}

bool kcl_stay_uses(const kcl_program *k, kcl_vec v) {
  return kcl_phase_uses(k, KCL_LOOP, v) || kcl_phase_uses(k, KCL_REPLACE, v);
}

bool kcl_stay_gathers(const kcl_program *k, kcl_vec v) {
  return kcl_phase_gathers(k, KCL_LOOP, v) || kcl_phase_gathers(k, KCL_REPLACE, v);
}

/* Operations that only look at slots. */
static bool only_looks(const kcl_op *o) {
  return o->code == KCL_OP_POSITIVE || o->code == KCL_OP_NONZERO || o->code == KCL_OP_RITZ ||
         o->code == KCL_OP_STEP;
}

static bool reads(const kcl_program *k, const kcl_op *o, kcl_slot slot) {
  if (only_looks(o) && o->code != KCL_OP_RITZ)
    return o->slot == slot || (o->code == KCL_OP_STEP && k->target == slot);
  return o->a.slot == slot || o->b.slot == slot;
}

/* May operation `first` come after operation `then`, recorded later? */
static bool may_swap(const kcl_program *k, const kcl_op *first, const kcl_op *then) {
  const bool assigns = !only_looks(first), later = !only_looks(then);
  return !(assigns && reads(k, then, first->slot)) && !(later && reads(k, first, then->slot)) &&
         !(assigns && later && first->slot == then->slot);
}

/* Which of the stage's operations on scalars can wait until its sums are under way: what neither its vectors nor
 * operations that cannot wait depend on. wait: [KCL_MOST_STAGE_OPS]. True if some cannot. */
static bool split_scalars(const kcl_program *k, const kcl_stage *s, bool *wait) {
  bool urgent = false;
  for (int i = s->scalars - 1; i >= 0; i--) {
    const kcl_op *o = &s->scalar[i];
    wait[i] = true;
    for (int j = 0; j < s->vectors && !only_looks(o); j++)
      if (s->vector[j].code == KCL_OP_LINCOMB && reads(k, &s->vector[j], o->slot)) wait[i] = false;
    for (int j = i + 1; j < s->scalars; j++)
      if (!wait[j] && !may_swap(k, o, &s->scalar[j])) wait[i] = false;
    urgent = urgent || !wait[i];
  }
  return urgent;
}

static void scalars(kcl_text *t, const kcl_program *k, const kcl_stage *s, const bool *wait,
                    bool now) {
  for (int i = 0; i < s->scalars; i++)
    if (wait[i] != now) kcl_put_scalar_op(t, 1, &s->scalar[i], k->target);
}

/* The sums that stage s left under way. */
static void receive_sums(kcl_text *t, const kcl_stage *s) {
  int dots = kcl_stage_dots(s);
  kcl_put(t, "  await_sums(box, number, %d, 2, total, tree, head);\n", dots);
  if (!dots) return;
  kcl_put(t, "  if (get_local_id(0) == 0 && !head[STOP]) {");
  for (int i = 0, d = 0; i < s->vectors; i++)
    if (s->vector[i].code == KCL_OP_DOT) kcl_put(t, " s[%d] = total[%d];", s->vector[i].slot, d++);
  kcl_put(t, " }\n");
}

static void gather(kcl_text *t, const kcl_stage *s, const kcl_staying *stay) {
  const int x = s->x;
  if (stay->g->window)
    kcl_put(t, "  fetch(w%d + at%d, when%d, list, begin, end, window);\n", x, x, x);
  else
    kcl_put(t, "  await_pieces(pieces, when%d, first, last, head);\n", x);
  kcl_put(t,
          stay->g->window ? "  const gathered x%d = {window, begin};\n"
                          : "  const gathered x%d = w%d + at%d;\n",
          x, x, x);
}

/* The first work-item of each group does the scalars, all the same; then all share them. Tests, notes and what
 * is for later wait for the time in which the stage's sums are on their way to all groups; so does the product
 * of the next stage, when it comes early. Stages that do not end open need not meet. */
static void staying_stage(kcl_text *t, const kcl_program *k, kcl_phase phase, int number,
                          const kcl_staying *stay) {
  const kcl_stage *s = &k->stage[phase][number], *before = stage_before(k, s);
  const char *prefix = s->A == k->A ? "a_" : "h_";
  const int dots = kcl_stage_dots(s);
  const bool early = kcl_comes_early(k, s, stay);
  bool any = false, wait[KCL_MOST_STAGE_OPS];
  char id[32];
  snprintf(id, sizeof id, "stay_%d_%d", phase, number);
  if (early)
    kcl_put(t, "  {\n"), gather(t, s, stay), kcl_put_product(t, k, s, id, prefix, stay, false),
        kcl_put(t, "  }\n");
  if (ends_open(before)) receive_sums(t, before);
  if (split_scalars(k, s, wait) || ends_open(before)) {
    kcl_put(t,
            "  if (get_local_id(0) == 0) {\n    head[GOES] = goes && !head[STOP] && !head[LOST];\n"
            "    if (head[GOES]) {\n");
    scalars(t, k, s, wait, true);
    kcl_put(t, "    }\n  }\n  SYNC();\n  goes = head[GOES];\n");
  } else {
    kcl_put(t, "  goes = goes && !head[STOP] && !head[LOST];\n");
  }
  kcl_put(t, "  if (!goes) hi = lo, end = begin;\n  {\n  now++;\n");
  for (kcl_vec v = 0; v < k->vectors; v++)
    if (kcl_shows(k, stay, s, v))
      kcl_put(t, "  at%d = n - at%d;\n  global shown *to%d = w%d + at%d;\n", v, v, v, v, v);
  if (s->A && !early) gather(t, s, stay);
  kcl_put_elementwise(t, k, s, id, prefix, stay, false);
  for (kcl_vec v = 0; v < k->vectors; v++)
    if (kcl_shows(k, stay, s, v)) kcl_put(t, "  when%d = now;\n", v), any = true;
  if (any && !stay->g->window) kcl_put(t, "  complete(pieces, now);\n");
  for (int d = 0; d < dots; d++) kcl_put(t, "  total[%d] = p_total(sum%d);\n", d, d);
  if (ends_open(s)) kcl_put(t, "  send_sums(box, ++number, %d, total, tree);\n", dots);
  kcl_put(t, "  if (get_local_id(0) == 0 && goes) {\n"), scalars(t, k, s, wait, false),
      kcl_put(t, "  }\n");
  if (!ends_open(s)) kcl_put(t, "  SYNC();\n");
  kcl_put(t, "  }\n");
}

/* What REPLACE gathers before it writes it: shown now, as it is not in LOOP. */
static void show_for_replacing(kcl_text *t, const kcl_program *k, const kcl_staying *stay) {
  bool any = false;
  kcl_put(t, "  now++;\n");
  for (int i = 0; i < k->stages[KCL_REPLACE]; i++) {
    const kcl_stage *s = &k->stage[KCL_REPLACE][i];
    const int v = s->x;
    bool shown = !s->A || kcl_phase_gathers(k, KCL_LOOP, v);
    for (const kcl_stage *e = k->stage[KCL_REPLACE]; e < s && !shown; e++)
      shown = (e->A && e->x == v) || kcl_stage_writes(e, v);
    if (shown) continue;
    any = true;
    kcl_put(t, "  at%d = n - at%d, when%d = now;\n", v, v, v);
    kcl_put_own_elements(t, stay);
    kcl_put(t, " show(w%d + at%d + i, now, v%d[%s]);\n", v, v, v,
            kcl_holds(k, stay, v) ? "turn" : "i");
  }
  if (any && !stay->g->window) kcl_put(t, "  complete(pieces, now);\n");
}

/* What LOOP begins by receiving, where there was no pass before. */
static void send_known(kcl_text *t, const kcl_stage *last) {
  for (int i = 0, d = 0; i < last->vectors; i++)
    if (last->vector[i].code == KCL_OP_DOT)
      kcl_put(t, "  total[%d] = get_global_id(0) == 0 ? s[%d] : s_make(0);\n", d++,
              last->vector[i].slot);
  if (ends_open(last))
    kcl_put(t, "  send_sums(box, ++number, %d, total, tree);\n", kcl_stage_dots(last));
}

static bool stays_written(const kcl_program *k, kcl_vec v) {
  for (kcl_phase phase = KCL_LOOP; phase <= KCL_REPLACE; phase++)
    for (int i = 0; i < k->stages[phase]; i++)
      if (kcl_stage_writes(&k->stage[phase][i], v)) return true;
  return false;
}

static void parameters(kcl_text *t, const kcl_program *k, const kcl_staying *stay) {
  const kcl_geometry *g = stay->g;
  const kcl_matrix *matrix[] = {g->near ? g->near : k->A, k->AH};
  kcl_put(t, "kernel OF_WG\nvoid stay(global int *restrict states, const uint launch, global real "
             "*restrict "
             "history, const idx n, const int groups_before, global volatile letter *box, uint "
             "number, const int times, int "
             "since, const idx piece");
  for (int i = 0; i < 2; i++)
    if (matrix[i]) kcl_put(t, ", "), kcl_put_arrays(t, matrix[i], KCL_NAMES_TYPED, i ? "h_" : "a_");
  for (kcl_vec v = 0; v < k->vectors; v++)
    if (kcl_stay_uses(k, v))
      kcl_put(t, ", global scalar *restrict %s%d", kcl_holds(k, stay, v) ? "m" : "v", v);
  for (kcl_vec v = 0; v < k->vectors; v++)
    if (kcl_stay_gathers(k, v)) kcl_put(t, ", global shown *w%d", v);
  kcl_put(t, ", const idx reach%s%s", g->window ? ", local scalar *window" : "",
          g->near ? ", global const int *list, global const int *from" : "");
  kcl_put(t, ")\n{\n");
}

/* The group's piece, what it reaches, vectors to registers, and what LOOP gathers shown for the first time. */
static void opening(kcl_text *t, const kcl_program *k, const kcl_staying *stay) {
  const kcl_geometry *g = stay->g;
  kcl_put(t, "  uint now = number + 1;\n  const idx lo = min((idx)get_group_id(0) * piece, n);\n");
  if (g->near)
    kcl_put(t, "  const idx begin = 0;\n  idx hi = min((idx)(lo + piece), n), end = 0;\n"
               "  if (!ADDS) list += from[get_group_id(0)], end = from[get_group_id(0) + 1] - "
               "from[get_group_id(0)];\n");
  else
    kcl_put(
        t, "  const idx begin = max((idx)(lo - reach), (idx)0);\n  idx hi = min((idx)(lo + piece), "
           "n), end = ADDS ? begin : min((idx)(hi + reach), n);\n  global const int *list = 0;\n");
  if (!g->window)
    kcl_put(t, "  const int first = (int)(begin / piece), last = ADDS ? -1 : (int)((end - 1) / "
               "piece);\n  global volatile uint *pieces = PIECES;\n");
  if (g->early) kcl_put(t, "  scalar row[ROUNDS];\n");
  for (kcl_vec v = 0; v < k->vectors; v++)
    if (kcl_holds(k, stay, v))
      kcl_put(t, "  scalar v%d[ROUNDS];\n", v), kcl_put_own_elements(t, stay),
          kcl_put(t, " v%d[turn] = m%d[i];\n", v, v);
  for (kcl_vec v = 0; v < k->vectors; v++) {
    if (kcl_stay_gathers(k, v)) kcl_put(t, "  idx at%d = 0;\n  uint when%d = now;\n", v, v);
    if (!kcl_phase_gathers(k, KCL_LOOP, v)) continue;
    kcl_put_own_elements(t, stay);
    kcl_put(t, " show(w%d + i, now, v%d[%s]);\n", v, v, g->held ? "turn" : "i");
  }
  if (!g->window) kcl_put(t, "  complete(pieces, now);\n");
}

void kcl_put_staying_kernel(kcl_text *t, const kcl_program *k, const kcl_geometry *g) {
  const kcl_stage *carried = kcl_stage_before(k, KCL_LOOP, 0);
  const kcl_stage *last = &k->stage[KCL_LOOP][k->stages[KCL_LOOP] - 1];
  const kcl_staying stay = {g, .lanes = k->A->lanes},
                    replacing = {g, .lanes = k->A->lanes, .replaces = true};
  for (kcl_phase phase = KCL_LOOP; phase <= KCL_REPLACE; phase++)
    for (int i = 0; i < k->stages[phase]; i++) {
      const kcl_stage *s = &k->stage[phase][i];
      char id[32];
      snprintf(id, sizeof id, "stay_%d_%d", phase, i);
      if (s->A) kcl_put_format(t, k, s, id, phase == KCL_LOOP ? &stay : &replacing, false);
    }
  parameters(t, k, &stay);
  kcl_put(t, "  local scalar s[SLOTS], tree[WG * %d];\n  scalar total[%d];\n",
          kcl_at_once(kcl_program_dots(k)), kcl_most_dots(k));
  kcl_put(
      t, "  local int head[HEAD];\n  load_state(IN, s, head);\n  const bool went = !head[STOP];\n");
  if (carried) kcl_put_fold(t, carried);
  opening(t, k, &stay);
  kcl_put(
      t,
      "  /* nothing is touched until all groups are known to be here, and to know it */\n"
      "  for (int greeting = 0; greeting < 2 && !head[LOST]; greeting++) {\n"
      "    SYNC();\n    send_sums(box, ++number, 0, total, tree);\n"
      "    await_sums(box, number, 0, 1, total, tree, head);\n    SYNC();\n  }\n"
      "  bool goes = !head[STOP] && !head[LOST];\n  if (!goes) hi = lo, end = begin;\n  SYNC();\n");
  send_known(t, last);
  kcl_put(t, "  for (int time = 0; time < times && goes; time++) {\n");
  for (int i = 0; i < k->stages[KCL_LOOP]; i++) staying_stage(t, k, KCL_LOOP, i, &stay);
  if (k->stages[KCL_REPLACE]) {
    kcl_put(t, "  if (++since == %d) {\n  since = 0;\n", kcl_replacement_interval(k));
    show_for_replacing(t, k, &replacing);
    for (int i = 0; i < k->stages[KCL_REPLACE]; i++)
      staying_stage(t, k, KCL_REPLACE, i, &replacing);
    send_known(t, last);
    kcl_put(t, "  }\n");
  }
  kcl_put(t, "  }\n");
  if (ends_open(last)) receive_sums(t, last);
  kcl_put(t, "  hi = min((idx)(lo + piece), n);\n");
  for (kcl_vec v = 0; v < k->vectors; v++)
    if (kcl_holds(k, &stay, v) && stays_written(k, v))
      kcl_put_own_elements(t, &stay), kcl_put(t, " m%d[i] = v%d[turn];\n", v, v);
  kcl_put(t, "  SYNC();\n  store_state(OUT, s, head);\n");
  if (carried) kcl_put_hand_over(t, 1, carried);
  kcl_put(t, "}\n\n");
}
