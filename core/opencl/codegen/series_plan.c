/* Which stages have kernels that others may share (stage_shared.c): they have neither dots nor operations on slots. And which of
 * these form a series: consecutive ones that are small, carried out by one launch (series.c).
 */
#include "core/opencl/codegen/codegen.h"
#include "core/opencl/device/device.h"
#include "core/program/ranks.h"

bool kcl_stage_can_share(const kcl_program *k, int phase, int number) {
  const kcl_stage *s = &k->stage[phase][number], *before = kcl_stage_previous(k, phase, number);
  return s->unnamed && s->A && !s->scalars && !kcl_stage_dots(s) && !s->A->format->scatter &&
         !(before && kcl_stage_dots(before)) && !kcl_stage_seeds(k, phase, number);
}

/* Can rows of A be added up without local memory, by warp shuffles or by one work-item each? The stages of a series are branches
 * of one loop, and barriers in them take some compilers minutes. */
static bool has_simple_rows(const kcl_program *k, const kcl_stored *A) {
  const kcl_format *f = A->format;
  const int lanes = k->ctx->opencl->is_nvidia ? 32 : 1;
  return f->multi_rhs && !A->kernel.local_scalars && !A->kernel.message_slots &&
         !A->kernel.prepare_items && (A->kernel.lanes <= lanes || !strcmp(f->kernel, "spmv_csr"));
}

int kcl_series_lanes(const kcl_program *k, const kcl_stored *A) {
  enum { SHORT_ROWS = 8, LONG_ROW = 32 };
  if (!k->ctx->opencl->is_nvidia || A->kernel.lanes == 1) return 1;
  return A->kernel.lanes <= SHORT_ROWS ? SHORT_ROWS : LONG_ROW;
}

/* Sums of lanes by warp shuffles take any number up to a warp, at the same speed. */
bool kcl_lanes_vary(const kcl_program *k, const kcl_stored *A) {
  enum { WARP = 32 };
  return k->ctx->opencl->is_nvidia && A->kernel.lanes > 1 && A->kernel.lanes <= WARP &&
         !strcmp(A->format->kernel, "spmv_csr");
}

bool kcl_lanes_are_argument(const kcl_emit *e) {
  return e->unnamed && e->s->A && kcl_lanes_vary(e->k, e->s->A);
}

/* Has a table room for the stage? */
static bool has_few_operands(const kcl_stage *s) {
  kcl_vec list[KCL_MOST_STAGE_VECTORS];
  return s->vectors <= KCL_SERIES_VECTORS && s->A->arrays + s->A->params <= KCL_SERIES_MATRIX &&
         kcl_stage_vectors(s, list, KCL_MOST_STAGE_VECTORS) <= KCL_SERIES_VECTORS;
}

bool kcl_series_suits(const kcl_program *k, int phase, int number) {
  const kcl_stage *s = &k->stage[phase][number];
  return kcl_stage_can_share(k, phase, number) && !s->cycle_end && has_simple_rows(k, s->A) &&
         has_few_operands(s);
}

static bool uses_slots(const kcl_stage *s) {
  for (int i = 0; i < s->vectors; i++)
    if (s->vector[i].code == KCL_OP_LINCOMB &&
        (s->vector[i].a.slot >= 0 || s->vector[i].b.slot >= 0))
      return true;
  return false;
}

bool kcl_stage_passes_state(const kcl_program *k, const kcl_stage_kernel *at) {
  return at->alone && !kcl_program_ranks(k) && !uses_slots(&k->stage[at->phase][at->number]);
}

bool kcl_series_uses_slots(const kcl_program *k) {
  for (int phase = 0; phase < KCL_PHASES; phase++)
    for (int i = 0; i < k->stages[phase]; i++)
      if (kcl_series_suits(k, phase, i) && uses_slots(&k->stage[phase][i])) return true;
  return false;
}

static bool fits_series(const kcl_program *k, const kcl_geometry *g, int phase, int i) {
  if (!g->series_groups || g->without_loop || i < 0 || i >= k->stages[phase]) return false;
  return kcl_series_suits(k, phase, i) &&
         kcl_stage_bytes(k, &k->stage[phase][i], kcl_rhs_width(k)) <= g->series_bytes;
}

bool kcl_stage_in_series(const kcl_program *k, const kcl_geometry *g, int phase, int number) {
  return fits_series(k, g, phase, number) &&
         (fits_series(k, g, phase, number - 1) || fits_series(k, g, phase, number + 1));
}

bool kcl_series_next(const kcl_program *k, const kcl_geometry *g, int *phase, int *number) {
  for (++*number; *phase < KCL_PHASES; ++*phase, *number = 0)
    for (; *number < k->stages[*phase]; ++*number)
      if (kcl_stage_in_series(k, g, *phase, *number)) return true;
  return false;
}

int kcl_series_length(const kcl_program *k, const kcl_geometry *g, int phase, int number) {
  int length = 0;
  if (fits_series(k, g, phase, number - 1)) return 0;
  while (fits_series(k, g, phase, number + length)) length++;
  return length < 2 ? 0 : length;
}
