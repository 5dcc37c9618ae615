/* One stage in the persistent kernel: fills the skeleton kernels/persistent_stage.cl. */
#include "core/opencl/persistent/persistent.h"

void kcl_put_receive(kcl_source *t, const kcl_program *k, const kcl_stage *s) {
  int dots = kcl_stage_dots(s);
  kcl_put(t, "await_sums(mailbox, number, %d, 2, total, scratch, control);\n", dots);
  if (!dots) return;
  kcl_put(t, "if (get_local_id(0) == 0 && !control[STOP]) {\n");
  for (int i = 0, d = 0; i < s->vectors; i++)
    if (s->vector[i].code == KCL_OP_DOT)
      kcl_put(t, "  s[slot_%s] = total[%d];\n", kcl_slot_name(k, s->vector[i].slot), d++);
  kcl_put(t, "}\n");
}

static const kcl_stage *previous(const kcl_emit *e) { return kcl_persistent_before(e->k, e->s); }

static void comment(kcl_source *t, const void *of) { kcl_put_stage_comment(t, of); }

static void put_gather(kcl_source *t, const kcl_emit *e) {
  const char *x = kcl_vec_name(e->k, e->s->x);
  if (e->g->local_halo)
    kcl_put(t,
            "fetch_halo(p_%s, list, begin, end, halo, control);\n"
            "const gathered x_%s = {halo, begin%s};\n",
            x, x, e->k->guarded ? ", end - begin" : "");
  else
    kcl_put(t,
            "await_flags(flags, p_%s.version, first, last, control);\n"
            "const gathered x_%s = p_%s.copies + p_%s.current;\n",
            x, x, x, x);
}

static void overlapped(kcl_source *t, const void *of) {
  const kcl_emit *e = of;
  if (!kcl_overlaps(e)) return;
  kcl_put(t, "{\n");
  put_gather(t, e);
  kcl_put_product(t, e);
  kcl_put(t, "}\n");
}

static void put_received_totals(kcl_source *t, const void *of) {
  const kcl_emit *e = of;
  if (kcl_ends_in_flight(previous(e))) kcl_put_receive(t, e->k, previous(e));
}

static void urgent(kcl_source *t, const void *of) {
  const kcl_emit *e = of;
  bool wait[KCL_MOST_STAGE_OPS];
  if (!kcl_split_scalars(e->k, e->s, wait) && !kcl_ends_in_flight(previous(e))) {
    kcl_put(t, "active = active && !control[STOP] && !control[GROUP_MISSING];\n");
    return;
  }
  kcl_put(t, "if (get_local_id(0) == 0) {\n"
             "  control[WAS_ACTIVE] = active && !control[STOP] && !control[GROUP_MISSING];\n"
             "  if (control[WAS_ACTIVE]) {\n");
  kcl_put_scalar_ops(t, e, wait, false);
  kcl_put(t, "  }\n}\nSYNC();\nactive = control[WAS_ACTIVE];\n");
}

static void flip(kcl_source *t, const void *of) {
  const kcl_emit *e = of;
  for (kcl_vec v = 0; v < e->k->vectors; v++) {
    const char *name = kcl_vec_name(e->k, v);
    if (kcl_publishes(e, v))
      kcl_put(t,
              "p_%s.current = n - p_%s.current;\nglobal published *to_%s = p_%s.copies + "
              "p_%s.current;\n",
              name, name, name, name, name);
  }
}

static void put_gather_before(kcl_source *t, const void *of) {
  const kcl_emit *e = of;
  if (e->s->A && !kcl_overlaps(e)) put_gather(t, e);
}

static void put_persistent_factors(kcl_source *t, const void *of) { kcl_put_factors(t, of); }
static void put_persistent_sums(kcl_source *t, const void *of) { kcl_put_sums(t, of); }
static void put_persistent_loop(kcl_source *t, const void *of) { kcl_put_loop(t, of); }

static void published(kcl_source *t, const void *of) {
  const kcl_emit *e = of;
  bool any = false;
  for (kcl_vec v = 0; v < e->k->vectors; v++)
    if (kcl_publishes(e, v))
      kcl_put(t, "p_%s.version = version;\n", kcl_vec_name(e->k, v)), any = true;
  if (any && !e->g->local_halo) kcl_put(t, "set_flag(flags, version);\n");
}

static void put_sent_sums(kcl_source *t, const void *of) {
  const kcl_emit *e = of;
  for (int i = 0, d = 0; i < e->s->vectors; i++)
    if (e->s->vector[i].code == KCL_OP_DOT)
      kcl_put(t, "total[%d] = p_total(sum_%s);\n", d++, kcl_slot_name(e->k, e->s->vector[i].slot));
  if (kcl_ends_in_flight(e->s))
    kcl_put(t, "send_sums(mailbox, ++number, %d, total, scratch);\n", kcl_stage_dots(e->s));
}

static void waiting(kcl_source *t, const void *of) {
  const kcl_emit *e = of;
  bool wait[KCL_MOST_STAGE_OPS], any = false;
  kcl_split_scalars(e->k, e->s, wait);
  for (int i = 0; i < e->s->scalars; i++) any = any || wait[i];
  if (!any) return;
  kcl_put(t, "if (get_local_id(0) == 0 && active) {\n");
  kcl_put_scalar_ops(t, e, wait, true);
  kcl_put(t, "}\n");
}

static void barrier(kcl_source *t, const void *of) {
  if (!kcl_ends_in_flight(((const kcl_emit *)of)->s)) kcl_put(t, "SYNC();\n");
}

static const kcl_hole holes[] = {{"comment", comment},
                                 {"overlapped", overlapped},
                                 {"receive", put_received_totals},
                                 {"urgent", urgent},
                                 {"flip", flip},
                                 {"gather", put_gather_before},
                                 {"factors", put_persistent_factors},
                                 {"sums", put_persistent_sums},
                                 {"loop", put_persistent_loop},
                                 {"published", published},
                                 {"send", put_sent_sums},
                                 {"waiting", waiting},
                                 {"barrier", barrier}};

void kcl_put_persistent_stage(kcl_source *t, const kcl_program *k, const kcl_geometry *g,
                              kcl_phase phase, int number) {
  const kcl_emit e = kcl_emit_stage(k, g, phase, number);
  kcl_put_skeleton(t, "persistent_stage.cl", holes, sizeof holes / sizeof *holes, &e);
}
