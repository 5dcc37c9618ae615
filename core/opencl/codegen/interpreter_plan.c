/* Whether the interpreter can carry out a program (kernels/interpreter.cl). */
#include "core/opencl/codegen/codegen.h"
#include "core/opencl/device/device.h"
#include "core/program/ranks.h"

static bool suits_matrix(const kcl_stored *A) {
  return !strcmp(A->format->name, "csr-scalar") && A->arrays == 3 &&
         A->array[2].kind == KCL_SCALAR && !A->halo;
}

static bool suits_stages(const kcl_program *k) {
  for (int phase = 0; phase < KCL_PHASES; phase++)
    for (int i = 0; i < k->stages[phase]; i++) {
      const kcl_stage *s = &k->stage[phase][i];
      if (s->called || (s->A && !suits_matrix(s->A))) return false;
    }
  return true;
}

static bool has_narrow_vectors(const kcl_program *k) {
  for (kcl_vec v = 0; v < k->vectors; v++)
    if (k->vector[v].narrow) return true;
  return false;
}

size_t kcl_interpreter_local_bytes(const kcl_program *k, const kcl_geometry *g) {
  const int scalars = k->slots + 2 * KCL_MOST_STAGE_OPS + KCL_AT_ONCE * g->group;
  return (size_t)scalars * kcl_type_size(k->type);
}

bool kcl_interpreter_suits(const kcl_program *k, const kcl_geometry *g) {
  enum { FIXED = 4096 }; /* bytes of its local arrays */
  return g->group > 1 && kcl_addresses_stay(k->ctx) && k->nrhs == 1 && !k->product && !k->guarded &&
         !kcl_program_ranks(k) && !kcl_program_sum_rows(k) && !g->wide_index &&
         !has_narrow_vectors(k) && suits_stages(k) &&
         kcl_interpreter_local_bytes(k, g) + FIXED <= k->ctx->opencl->local_bytes;
}
