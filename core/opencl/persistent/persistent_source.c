/* The persistent kernel: fills the skeleton kernels/persistent.cl. Its stages: persistent_stage_source.c. */
#include "core/opencl/persistent/persistent.h"

/* The persistent kernel, with its first stage for functions that take a stage to ask about vectors. */
typedef struct whole_kernel {
  const kcl_program *k;
  const kcl_geometry *g;
  kcl_emit first;
} whole_kernel;

/* ---------------------------------------------------------------- parameters, functions */

static void put_kernel_functions(kcl_source *t, const void *of) {
  const whole_kernel *w = of;
  for (kcl_phase phase = KCL_LOOP; phase <= KCL_REPLACE; phase++)
    for (int i = 0; i < w->k->stages[phase]; i++) {
      const kcl_emit e = kcl_emit_stage(w->k, w->g, phase, i);
      kcl_put_elements(t, &e), kcl_put_format(t, &e);
    }
}

static void put_all_matrices(kcl_source *t, const void *of) {
  const whole_kernel *w = of;
  for (int i = 0; i < w->k->ops; i++) {
    const kcl_stored *m = w->k->op[i].matrix;
    kcl_put(t, ",\n                ");
    kcl_put_arrays(t, w->g->renumbered && m == w->k->A ? w->g->renumbered : m, KCL_ARRAYS_TYPED,
                   w->k->op[i].name.s);
  }
}

/* m_NAME: the memory of a vector that is kept in registers. */
static void put_kept_vectors(kcl_source *t, const void *of) {
  const whole_kernel *w = of;
  for (kcl_vec v = 0; v < w->k->vectors; v++)
    if (kcl_persistent_uses(w->k, v))
      kcl_put(t, ", global scalar *restrict %s%s", kcl_in_registers(&w->first, v) ? "m_" : "v_",
              kcl_vec_name(w->k, v));
}

static void copies_parameters(kcl_source *t, const void *of) {
  const whole_kernel *w = of;
  for (kcl_vec v = 0; v < w->k->vectors; v++)
    if (kcl_persistent_gathers(w->k, v))
      kcl_put(t, ", global published *copies_%s", kcl_vec_name(w->k, v));
}

static void halo_parameters(kcl_source *t, const void *of) {
  const kcl_geometry *g = ((const whole_kernel *)of)->g;
  if (g->local_halo) kcl_put(t, ", local scalar *halo");
  if (g->renumbered) kcl_put(t, ", global const int *list, global const int *from");
}

/* ---------------------------------------------------------------- before the first pass */

static void put_kernel_sums_at_once(kcl_source *t, const void *of) {
  kcl_put(t, "%d", kcl_at_once(kcl_program_dots(((const whole_kernel *)of)->k)));
}

static void put_kernel_totals(kcl_source *t, const void *of) {
  kcl_put(t, "%d", kcl_most_dots(((const whole_kernel *)of)->k));
}

static void put_last_reduce(kcl_source *t, const void *of) {
  const whole_kernel *w = of;
  kcl_put_reduce(t, w->k, kcl_stage_previous(w->k, KCL_LOOP, 0), false);
}

static void row_sums(kcl_source *t, const void *of) {
  if (((const whole_kernel *)of)->g->overlaps) kcl_put(t, "scalar row[ROWS_PER_ITEM];\n");
}

static void load_registers(kcl_source *t, const void *of) {
  const whole_kernel *w = of;
  for (kcl_vec v = 0; v < w->k->vectors; v++) {
    const char *name = kcl_vec_name(w->k, v);
    if (!kcl_in_registers(&w->first, v)) continue;
    kcl_put(t, "scalar v_%s[ROWS_PER_ITEM];\n", name);
    kcl_put_own_elements(t, &w->first);
    kcl_put(t, " v_%s[local_row] = m_%s[i];\n", name, name);
  }
}

/* v_NAME of a work-item's element i. */
static void put_element(kcl_source *t, const whole_kernel *w, kcl_vec v) {
  kcl_put(t, "v_%s[%s]", kcl_vec_name(w->k, v), kcl_in_registers(&w->first, v) ? "local_row" : "i");
}

static void put_publish(kcl_source *t, const whole_kernel *w, kcl_vec v) {
  const char *name = kcl_vec_name(w->k, v);
  kcl_put_own_elements(t, &w->first);
  kcl_put(t, " publish(p_%s.copies + p_%s.current + i, version, ", name, name);
  put_element(t, w, v), kcl_put(t, ");\n");
}

/* Publishes the vectors that LOOP gathers, for the first time. */
static void publish(kcl_source *t, const void *of) {
  const whole_kernel *w = of;
  for (kcl_vec v = 0; v < w->k->vectors; v++) {
    const char *name = kcl_vec_name(w->k, v);
    if (kcl_persistent_gathers(w->k, v))
      kcl_put(t, "publication p_%s = {copies_%s, 0, version};\n", name, name);
    if (kcl_phase_gathers(w->k, KCL_LOOP, v)) put_publish(t, w, v);
  }
}

/* Sends the sums that LOOP begins by receiving, where no pass came before. */
static void put_send_known(kcl_source *t, const kcl_program *k) {
  const kcl_stage *last = &k->stage[KCL_LOOP][k->stages[KCL_LOOP] - 1];
  for (int i = 0, d = 0; i < last->vectors; i++)
    if (last->vector[i].code == KCL_OP_DOT)
      kcl_put(t, "total[%d] = get_global_id(0) == 0 ? s[slot_%s] : s_make(0);\n", d++,
              kcl_slot_name(k, last->vector[i].slot));
  if (kcl_ends_in_flight(last))
    kcl_put(t, "send_sums(mailbox, ++number, %d, total, scratch);\n", kcl_stage_dots(last));
}

static void send_known(kcl_source *t, const void *of) {
  put_send_known(t, ((const whole_kernel *)of)->k);
}

/* ---------------------------------------------------------------- passes */

static void put_stages(kcl_source *t, const whole_kernel *w, kcl_phase phase) {
  for (int i = 0; i < w->k->stages[phase]; i++) kcl_put_persistent_stage(t, w->k, w->g, phase, i);
}

static void put_loop_stages(kcl_source *t, const void *of) { put_stages(t, of, KCL_LOOP); }

/* Publishes the vectors that REPLACE gathers before it writes them, unless LOOP publishes them. */
static void publish_for_replace(kcl_source *t, const whole_kernel *w) {
  const kcl_program *k = w->k;
  bool any = false;
  kcl_put(t, "  version++;\n");
  for (int i = 0; i < k->stages[KCL_REPLACE]; i++) {
    const kcl_stage *s = &k->stage[KCL_REPLACE][i];
    bool done = !s->A || kcl_phase_gathers(k, KCL_LOOP, s->x);
    for (const kcl_stage *e = k->stage[KCL_REPLACE]; e < s && !done; e++)
      done = (e->A && e->x == s->x) || kcl_stage_writes(e, s->x);
    if (done) continue;
    any = true;
    const char *name = kcl_vec_name(k, s->x);
    kcl_put(t, "p_%s.current = n - p_%s.current, p_%s.version = version;\n", name, name, name);
    put_publish(t, w, s->x);
  }
  if (any && !w->g->local_halo) kcl_put(t, "set_flag(flags, version);\n");
}

static void put_replace_stages(kcl_source *t, const void *of) {
  const whole_kernel *w = of;
  if (!w->k->stages[KCL_REPLACE]) return;
  kcl_put(t, "if (++since_replace == %d) {\nsince_replace = 0;\n", kcl_replacement_interval(w->k));
  publish_for_replace(t, w);
  put_stages(t, w, KCL_REPLACE);
  put_send_known(t, w->k);
  kcl_put(t, "}\n");
}

/* ---------------------------------------------------------------- after the last */

static void receive_last(kcl_source *t, const void *of) {
  const kcl_program *k = ((const whole_kernel *)of)->k;
  const kcl_stage *last = &k->stage[KCL_LOOP][k->stages[KCL_LOOP] - 1];
  if (kcl_ends_in_flight(last)) kcl_put_receive(t, k, last);
}

static bool is_written(const kcl_program *k, kcl_vec v) {
  for (kcl_phase phase = KCL_LOOP; phase <= KCL_REPLACE; phase++)
    for (int i = 0; i < k->stages[phase]; i++)
      if (kcl_stage_writes(&k->stage[phase][i], v)) return true;
  return false;
}

static void store_registers(kcl_source *t, const void *of) {
  const whole_kernel *w = of;
  for (kcl_vec v = 0; v < w->k->vectors; v++) {
    const char *name = kcl_vec_name(w->k, v);
    if (!kcl_in_registers(&w->first, v) || !is_written(w->k, v)) continue;
    kcl_put_own_elements(t, &w->first);
    kcl_put(t, " m_%s[i] = v_%s[local_row];\n", name, name);
  }
}

static void put_last_seed(kcl_source *t, const void *of) {
  const whole_kernel *w = of;
  kcl_put_seed(t, w->k, kcl_stage_previous(w->k, KCL_LOOP, 0));
}

static const kcl_hole holes[] = {{"functions", put_kernel_functions},
                                 {"matrix_parameters", put_all_matrices},
                                 {"vector_parameters", put_kept_vectors},
                                 {"copies_parameters", copies_parameters},
                                 {"halo_parameters", halo_parameters},
                                 {"sums_at_once", put_kernel_sums_at_once},
                                 {"totals", put_kernel_totals},
                                 {"reduce", put_last_reduce},
                                 {"row_sums", row_sums},
                                 {"load_registers", load_registers},
                                 {"publish", publish},
                                 {"send_known", send_known},
                                 {"loop", put_loop_stages},
                                 {"replace", put_replace_stages},
                                 {"receive_last", receive_last},
                                 {"store_registers", store_registers},
                                 {"seed", put_last_seed}};

void kcl_put_persistent_kernel(kcl_source *t, const kcl_program *k, const kcl_geometry *g) {
  const whole_kernel w = {k, g, kcl_emit_stage(k, g, KCL_LOOP, 0)};
  kcl_put_skeleton(t, "persistent.cl", holes, sizeof holes / sizeof *holes, &w);
}
