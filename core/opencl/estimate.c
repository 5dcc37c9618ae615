/* The time of a pass over LOOP, predicted from a recorded program whose matrices may be outlines. Constants: an NVIDIA
 * H200, and PoCL on two cores (docs/lab/2026-11-23-model.md).
 */
#include "core/opencl/executor.h"
#include "core/opencl/persistent/persistent.h"

static const double LAUNCH_GPU = 3.6e-6,
                    LAUNCH_CPU = 8e-6;   /* seconds between two launches, at least */
static const double ARGUMENT = 0.25e-6;  /* more for each buffer of a launch, on a GPU */
static const double LATENCY = 1.5e-6;    /* of a kernel on a GPU, beside its bytes */
static const double MEETING = 1.3e-6;    /* of the work-groups of a series, between two stages */
static const double FAR_ENTRY = 0.15e-6; /* per entry of a chain whose loads miss the L1 cache */
/* The interpreter: seconds of an operation (measured with 40,000 rows); its time for operands from memory, as a multiple of what a compiled
 * stage takes for as many bytes (assumed). */
static const double INTERPRETED = 0.3e-6, INTERPRETED_BYTES = 3;
static const double RATE_GPU = 3.8e12, RATE_CPU = 1e10; /* bytes per second */

enum {
  MATRIX_ARRAYS = 3, /* of most formats */
  ROW_START = 6      /* entries that take as long as to begin another row */
};

/* Seconds between two launches, without their buffers: measured with three of them, or built in. */
static double launch_of(const kcl_context *ctx) {
  const bool gpu = ctx->layout == KCL_LAYOUT_GPU;
  if (ctx->launch > 0) return fmax(ctx->launch - (gpu ? 3 * ARGUMENT : 0), ARGUMENT);
  return gpu ? LAUNCH_GPU : LAUNCH_CPU;
}

static double rate_of(const kcl_program *k) {
  const kcl_context *ctx = k->ctx;
  return kcl_program_rate(k, ctx->layout == KCL_LAYOUT_GPU ? RATE_GPU
                                                           : RATE_CPU * ctx->device.compute_units);
}

/* The entries that the busiest work-item handles one after another, of all its rows. */
static double chain(const kcl_stored *A, const kcl_geometry *g) {
  double items = (double)(A->kernel.tasks ? A->kernel.tasks : A->rows) * A->kernel.lanes,
         all = g->groups_max * (double)g->group;
  return A->cost.chain + (items > all ? (items / all - 1) * (A->cost.mean + ROW_START) : 0);
}

/* Seconds of a stage with its launch, which on a GPU overlaps the kernel before it. */
static double stage_seconds(const kcl_run *r, const kcl_stage *s, double rate, bool in_series) {
  const kcl_program *k = r->k;
  double stream = kcl_stage_streamed(k, s) / rate, far = 0, launches = 1;
  kcl_vec list[KCL_MOST_STAGE_VECTORS];
  int arguments = kcl_stage_vectors(s, list, KCL_MOST_STAGE_VECTORS);
  if (k->ctx->layout != KCL_LAYOUT_GPU) return launch_of(k->ctx) + stream;
  if (in_series) return MEETING + LATENCY + fmax(stream, FAR_ENTRY * s->A->cost.chain);
  if (s->A) arguments += MATRIX_ARRAYS, far = FAR_ENTRY * chain(s->A, &r->geometry);
  if (s->A && s->A->kernel.prepare_items) launches = 1 + (s->A->steps ? (double)s->A->steps : 1);
  return fmax(launches * launch_of(k->ctx) + arguments * ARGUMENT, LATENCY + fmax(stream, far));
}

/* A vector operation reads two operands from memory and writes a third. */
static double interpreted_seconds(const kcl_run *r, const kcl_stage *s, double rate) {
  const double operands = 3.0 * s->vectors * (double)s->n * (double)r->scalar_bytes,
               bytes = operands + (s->A ? kcl_stage_streamed(r->k, s) : 0);
  return stage_seconds(r, s, rate, false) + INTERPRETED * (s->vectors + s->scalars) +
         INTERPRETED_BYTES * bytes / rate;
}

double kcl_opencl_estimate(kcl_program *k) {
  kcl_run r = {.k = k, .width = kcl_rhs_width(k), .scalar_bytes = kcl_type_size(k->type)};
  double seconds = 0;
  r.geometry = kcl_choose_geometry(k), r.group = (size_t)r.geometry.group;
  if (kcl_persistent_kernel.wanted(&r)) return kcl_persistent_kernel.estimate(&r);
  const double rate = rate_of(k);
  for (int i = 0; i < k->stages[KCL_LOOP]; i++)
    seconds += k->fusion == KCL_INTERPRETED_STAGES
                   ? interpreted_seconds(&r, &k->stage[KCL_LOOP][i], rate)
                   : stage_seconds(&r, &k->stage[KCL_LOOP][i], rate,
                                   kcl_stage_in_series(k, &r.geometry, KCL_LOOP, i));
  return seconds;
}
