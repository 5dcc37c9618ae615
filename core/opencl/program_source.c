/* From a recorded program to OpenCL source for one device: constants, the headers of kernels/, then one kernel per stage
 * or the persistent kernel. */
#include "core/opencl/executor.h"
#include "core/opencl/persistent/persistent.h"
#include "core/opencl/series/series.h"

static void define(kcl_source *t, const char *name, int value) {
  kcl_put(t, "#define %s %d\n", name, value);
}

/* Sizes of the state that the source of a program has as constants. Series, the interpreter, and kernels that are shared and alone, know no
 * sums and mostly no slots: they are told the sizes, so that methods have the same source. */
typedef struct known_state {
  bool sums, slots;
} known_state;

static known_state state_known(const kcl_program *k, const kcl_geometry *g, const kcl_parts *p,
                               int part) {
  if (g->series) return (known_state){false, kcl_series_uses_slots(k)};
  if (g->interpreted) return (known_state){false, false};
  for (int phase = 0; phase < KCL_PHASES && !g->persistent; phase++)
    for (int i = 0; i < k->stages[phase]; i++) {
      const kcl_stage_kernel *at = &p->of[phase][i];
      if (at->part == part && kcl_stage_compiled(k, g, phase, i) && kcl_stage_passes_state(k, at))
        return (known_state){false, false};
    }
  return (known_state){true, true};
}

static void put_state_constants(kcl_source *t, const kcl_program *k, const kcl_geometry *g,
                                known_state known) {
  define(t, "PARTIALS_MAX", known.sums ? g->partials_max : 1);
  define(t, "SLOTS", known.slots ? k->slots : 1);
  define(t, "MOST_DOTS", known.sums ? kcl_most_dots(k) : KCL_AT_ONCE);
  if (known.sums)
    define(t, "STATE", (int)(kcl_state_bytes(k, g) / sizeof(cl_int)));
  else
    kcl_put(t, "#define STATE state_words\n");
}

static void put_constants(kcl_source *t, const kcl_program *k, const kcl_geometry *g,
                          known_state known) {
  const int width = kcl_rhs_width(k);
  kcl_put(t, "#define IDX %s\n", g->wide_index ? "long" : "int");
  define(t, "KCL_TYPE", k->type);
  define(t, "KCL_CPU", g->group == 1);
  define(t, "NVIDIA_PTX", k->ctx->opencl->is_nvidia);
  define(t, "REGISTERS", g->registers);
  define(t, "STREAMED", g->streamed);
  define(t, "WG", g->group);
  put_state_constants(t, k, g, known);
  define(t, "HISTORY", KCL_HISTORY);
  define(t, "BLOCK", g->block);
  define(t, "SUM_BLOCK", g->sum_block);
  define(t, "SUM_LANES", KCL_SUM_LANES);
  define(t, "NRHS", width);
  define(t, "REALS", width * (kcl_type_complex(k->type) ? 2 : 1));
  if (kcl_sums_are_argument(k)) define(t, "SUMS_OF_RANKS", kcl_program_dots(k) * width);
  define(t, "CONVERGED", KCL_CONVERGED);
  define(t, "NOT_FINITE", KCL_NOT_FINITE);
  define(t, "ITERATION_LIMIT", KCL_ITERATION_LIMIT);
  define(t, "GUARDED", k->guarded);
  define(t, "PERSISTENT", g->persistent);
  define(t, "GROUPS_WAIT", g->persistent || g->series);
  define(t, "REDUCING_GROUP", g->reducing_group);
  define(t, "LOCAL_HALO", g->local_halo);
  define(t, "RENUMBERED", g->renumbered != NULL);
  define(t, "CACHED_X", g->cached_x);
  define(t, "ROWS_PER_ITEM", g->rows_per_item);
  define(t, "CPU_THREADS", !strcmp(k->ctx->device.kind, "cpu"));
  define(t, "GROUPS_PER_LANE", (k->ctx->opencl->units + 31) / 32);
}

static void put_slots(kcl_source *t, const kcl_program *k) {
  kcl_put(t, "enum {\n");
  for (kcl_slot s = 0; s < k->slots; s++) kcl_put(t, "  slot_%s,\n", kcl_slot_name(k, s));
  kcl_put(t, "};\n");
}

static bool has_image(const kcl_program *k) {
  for (int i = 0; i < k->ops; i++)
    if (k->op[i].matrix->format->image) return true;
  return false;
}

static void put_headers(kcl_source *t, const kcl_program *k, const kcl_geometry *g) {
  kcl_put_file(t, "scalar.clh");
  kcl_put_file(t, "lanes.clh"), kcl_put_file(t, "stage.clh");
  if (g->interpreted) return;
  kcl_put_file(t, "streaming.clh"), kcl_put_file(t, "messages.clh");
  if (g->persistent || g->series) kcl_put_file(t, "release.clh");
  if (g->persistent) kcl_put_file(t, "persistent.clh");
  if (g->series) kcl_put_file(t, "series.clh");
  kcl_put_file(t, "rows.clh"), kcl_put_file(t, "atomic.clh");
  if (g->series) return;
  if (kcl_rhs_width(k) > 1 || k->product) kcl_put_file(t, "multi_rhs.clh");
  if (!has_image(k)) return;
  define(t, "TEXEL", k->ctx->images.texel[k->type]);
  define(t, "IMAGE_BITS", KCL_IMAGE_BITS);
  kcl_put_file(t, "image.clh");
}

static bool has_kernel(const kcl_parts *p, int part, int phase, int i) {
  const kcl_stage_kernel *at = &p->of[phase][i];
  return at->part == part && at->phase == phase && at->number == i;
}

int kcl_program_source(const kcl_program *k, const kcl_geometry *g, const kcl_parts *parts,
                       int part, char **source) {
  kcl_source t = {0};
  int rc = KCL_OK;
  const known_state known = state_known(k, g, parts, part);
  put_constants(&t, k, g, known);
  if (known.slots) put_slots(&t, k);
  put_headers(&t, k, g);
  if (g->interpreted) kcl_put_file(&t, "interpreter.cl"), kcl_put_file(&t, "addresses.cl");
  if (g->persistent) kcl_put_persistent_kernel(&t, k, g);
  if (g->series) rc = kcl_put_series(&t, k, g);
  const bool stages = !g->interpreted && !g->persistent && !g->series;
  for (int phase = 0; phase < KCL_PHASES && stages; phase++)
    for (int i = 0; i < k->stages[phase]; i++)
      if (kcl_stage_compiled(k, g, phase, i) && has_kernel(parts, part, phase, i))
        kcl_put_stage_kernel(&t, k, g, &parts->of[phase][i]);
  if (part == 0 && kcl_program_ranks(k) && !g->persistent) kcl_put_file(&t, "halo.cl");
  *source = t.data;
  if (rc) return rc;
  return t.failed ? kcl_fail(k->ctx, KCL_MEMORY, "out of memory while composing kernels") : KCL_OK;
}
