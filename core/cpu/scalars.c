/* Scalars of the native executor: quotients, stop tests and the iteration count, after the sums of the stage before. Compiled once
 * per scalar type.
 */
#include "core/cpu/state.h"

static void stop_when(kcl_control *h, bool condition, int reason) {
  if (condition && !h->stop && !h->tests_off) h->stop = 1 + reason;
}

static void run_scalar(const kcl_cpu *e, const kcl_op *o, scalar *slot, kcl_control *h,
                       double *entry) {
  scalar a = coefficient_value(o->a, slot), b = coefficient_value(o->b, slot);
  real test = s_re(slot[o->slot]);
  switch (o->code) {
  case KCL_OP_ASSIGN: slot[o->slot] = a; break;
  case KCL_OP_DIVIDE: slot[o->slot] = s_div(a, b); break;
  case KCL_OP_MULTIPLY: slot[o->slot] = s_mul(a, b); break;
  case KCL_OP_ADD: slot[o->slot] = s_add(a, b); break;
  case KCL_OP_ROOT: slot[o->slot] = s_root(a); break;
  case KCL_OP_MODULUS: slot[o->slot] = s_modulus(a); break;
  case KCL_OP_LEAST: slot[o->slot] = s_re(a) > s_re(b) ? b : a; break;
  case KCL_OP_POSITIVE:
    stop_when(h, test <= 0, (int)o->reason), stop_when(h, !(test > 0), KCL_NOT_FINITE);
    break;
  case KCL_OP_NONZERO: stop_when(h, s_zero(slot[o->slot]), (int)o->reason); break;
  case KCL_OP_RITZ: entry[1] = (double)s_re(a), entry[2] = (double)s_re(b); break;
  case KCL_OP_END_ITERATION:
    entry[0] = (double)test;
    h->iteration++;
    stop_when(h, !(test < (real)INFINITY), KCL_NOT_FINITE);
    stop_when(h, test <= s_re(slot[e->k->target]), KCL_CONVERGED);
    stop_when(h, h->iteration >= h->limit, KCL_ITERATION_LIMIT);
    if (o->in_cycle) h->cycle_open = h->stop && h->stop != 1 + KCL_NOT_FINITE;
    break;
  case KCL_OP_CYCLE_END: h->cycle_open = 0; break;
  default: break;
  }
}

void KCL_TYPED(kcl_cpu_run_scalars)(kcl_cpu *e, const kcl_stage *s, const kcl_stage *before,
                                    const scalar *partial, int rhs) {
  scalar *slot = e->slot + rhs * e->k->slots;
  kcl_control *h = &e->control[rhs];
  double *history = e->history + rhs * KCL_HISTORY * KCL_HISTORY_FIELDS;
  bool ran = before && (!h->stop || before->cycle_end); /* the stage before was active */
  for (int i = 0, d = 0; ran && i < before->vectors; i++) {
    if (before->vector[i].code != KCL_OP_DOT) continue;
    slot[before->vector[i].slot] = total_of_chunks(e, partial + d * e->chunks);
    d++;
  }
  for (int i = 0; i < s->scalars; i++) {
    double *entry = history + h->iteration % KCL_HISTORY * KCL_HISTORY_FIELDS;
    run_scalar(e, &s->scalar[i], slot, h, entry);
  }
}

void KCL_TYPED(kcl_cpu_seed_partials)(const kcl_cpu *e, const kcl_stage *last, const scalar *slot,
                                      scalar *partial) {
  for (int i = 0, d = 0; i < last->vectors; i++) {
    if (last->vector[i].code != KCL_OP_DOT) continue;
    for (int c = 0; c < e->chunks; c++)
      partial[d * e->chunks + c] = c ? s_make(0) : slot[last->vector[i].slot];
    d++;
  }
}
