/* Which kernel a stage has, and in which program it is compiled. Kernels that stages share are a program each: they depend
 * neither on the system nor on the other stages, so that a machine compiles each of them once. The others are
 * distributed evenly, since programs are compiled at once. On CPU devices all are one program: their drivers compile under
 * a lock.
 */
#include "core/opencl/codegen/codegen.h"
#include "core/opencl/codegen/persistent_plan.h"
#include "core/opencl/device/device.h"

enum { PART_OPS = 200 }; /* of CG 15, of 20 iterations of GMRES 3,300 */

bool kcl_stage_compiled(const kcl_program *k, const kcl_geometry *g, int phase, int number) {
  return !(kcl_phase_persistent(phase) && g->without_loop) &&
         !kcl_stage_in_series(k, g, phase, number);
}

void kcl_parts_free(kcl_parts *p) {
  for (int phase = 0; phase < KCL_PHASES; phase++) free(p->of[phase]);
  *p = (kcl_parts){.count = 0};
}

static kcl_stage_kernel *find_owners(const kcl_program *k, const kcl_geometry *g, int phase,
                                     int *rc) {
  kcl_stage_kernel *list = NULL;
  *rc = kcl_alloc(k->ctx, k->stages[phase] + 1, sizeof *list, "kernels", (void **)&list);
  for (int i = 0; !*rc && i < k->stages[phase]; i++) {
    list[i] = (kcl_stage_kernel){.phase = phase, .number = i};
    if (kcl_stage_compiled(k, g, phase, i)) {
      kcl_stage_shared(k, g, &list[i].phase, &list[i].number);
      if (list[i].phase == phase && list[i].number == i)
        list[i].number = kcl_stage_leader(k, g, phase, i);
    }
  }
  return list;
}

static bool owns(const kcl_parts *p, int phase, int i) {
  return p->of[phase][i].phase == phase && p->of[phase][i].number == i;
}

/* Totals over the compiled stages: operations, and shared kernels. */
static void add_up_parts(const kcl_program *k, const kcl_geometry *g, const kcl_parts *p, int *ops,
                         int *shared) {
  *ops = *shared = 0;
  for (int phase = 0; phase < KCL_PHASES; phase++)
    for (int i = 0; i < k->stages[phase]; i++) {
      const kcl_stage *s = &k->stage[phase][i];
      if (!kcl_stage_compiled(k, g, phase, i)) continue;
      if (!kcl_stage_can_share(k, phase, i))
        *ops += owns(p, phase, i) ? s->scalars + s->vectors : 0;
      else
        *shared += owns(p, phase, i);
    }
}

static void assign(const kcl_program *k, const kcl_geometry *g, kcl_parts *p, int ops, int base,
                   bool alone) {
  int before = 0, next = base;
  for (int phase = 0; phase < KCL_PHASES; phase++)
    for (int i = 0; i < k->stages[phase]; i++) {
      const kcl_stage *s = &k->stage[phase][i];
      kcl_stage_kernel *at = &p->of[phase][i];
      if (!kcl_stage_compiled(k, g, phase, i)) continue;
      const bool shared = kcl_stage_can_share(k, phase, i);
      const int part = ops ? before * base / ops : 0;
      if (!owns(p, phase, i)) continue;
      if (shared && alone)
        at->part = next++, at->alone = true;
      else
        at->part = part < base ? part : base - 1;
      if (!shared) before += s->scalars + s->vectors;
    }
  p->count = next;
  for (int phase = 0; phase < KCL_PHASES; phase++)
    for (int i = 0; i < k->stages[phase]; i++) {
      kcl_stage_kernel *at = &p->of[phase][i];
      if (!owns(p, phase, i)) *at = p->of[at->phase][at->number];
    }
}

int kcl_parts_find(const kcl_program *k, const kcl_geometry *g, kcl_parts *out) {
  enum { MOST_BASE = 16 };
  const bool several = !g->persistent && g->group != 1;
  int rc = KCL_OK, ops, shared;
  *out = (kcl_parts){.count = 0};
  for (int phase = 0; phase < KCL_PHASES && !rc; phase++)
    out->of[phase] = find_owners(k, g, phase, &rc);
  if (rc) {
    kcl_parts_free(out);
    return rc;
  }
  add_up_parts(k, g, out, &ops, &shared);
  const int wanted = several ? 1 + ops / PART_OPS : 1,
            base = wanted < MOST_BASE ? wanted : MOST_BASE;
  assign(k, g, out, ops, base, several && base + shared <= KCL_MOST_PARTS);
  return KCL_OK;
}
