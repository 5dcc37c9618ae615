/* Properties of a program that the persistent kernel depends on. */
#ifndef KCL_PERSISTENT_PLAN_H
#define KCL_PERSISTENT_PLAN_H

#include "core/program/program.h"

/* Can all of LOOP be one kernel, and REPLACE a part of it? */
bool kcl_persistent_possible(const kcl_program *k);
/* Is the phase a part of the persistent kernel? */
static inline bool kcl_phase_persistent(int phase) {
  return phase == KCL_LOOP || phase == KCL_REPLACE;
}
/* Does a phase, or LOOP with REPLACE, use the vector? Does a product gather it? */
bool kcl_phase_uses(const kcl_program *k, kcl_phase phase, kcl_vec v);
bool kcl_phase_gathers(const kcl_program *k, kcl_phase phase, kcl_vec v);
bool kcl_persistent_uses(const kcl_program *k, kcl_vec v);
bool kcl_persistent_gathers(const kcl_program *k, kcl_vec v);
/* Has LOOP a product that can be computed while a reduction is in flight? */
bool kcl_loop_can_overlap(const kcl_program *k);
/* Which operations on scalars can wait until the stage's own reduction is in flight: those that neither its vectors nor
 * operations that cannot wait depend on. wait: [KCL_MOST_STAGE_OPS]. True if some cannot. */
bool kcl_split_scalars(const kcl_program *k, const kcl_stage *s, bool *wait);

#endif
