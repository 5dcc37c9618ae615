/* How a program is laid out on a device: the shape of launches, what compilers are told, which loads the matrix gets. */
#include "core/opencl/codegen/geometry.h"
#include "core/opencl/codegen/persistent_plan.h"
#include "core/opencl/device/device.h"
#include "core/program/ranks.h"

static bool has_wide_rows(const kcl_program *k) {
  int64_t most = 0;
  for (int v = 0; v < k->vectors; v++)
    if (k->vector[v].n > most) most = k->vector[v].n;
  for (int j = 0; j < k->ops; j++)
    for (int i = 0; i < k->op[j].matrix->arrays; i++)
      if (k->op[j].matrix->array[i].count > most) most = k->op[j].matrix->array[i].count;
  return most > INT32_MAX - 1000000; /* strides go beyond the end */
}

enum {
  REGISTERS_PER_UNIT = 65536, /* NVIDIA, since 2012 */
  L1_BYTES = 196608, /* per compute unit; an NVIDIA H200 has 256 KiB, including local memory */
  DEVICE_LINE = 128,
  /* Above this a pass no longer fits the L2 cache of an NVIDIA H200 (50 MiB): with streaming loads of the matrix a
   * pass over 52.6 MB was slower, one over 54.1 MB faster. */
  STREAMED_BYTES = 54000000
};

/* Distinct bytes that a pass reads or writes. */
static double footprint(const kcl_program *k) {
  const kcl_phase phase = k->stages[KCL_LOOP] ? KCL_LOOP : KCL_START;
  double bytes = 0;
  for (int i = 0; i < k->ops; i++) bytes += kcl_stored_bytes(k->op[i].matrix);
  for (kcl_vec v = 0; v < k->vectors; v++)
    if (kcl_phase_uses(k, phase, v))
      bytes += (double)k->vector[v].n * (double)kcl_type_size(kcl_vector_stored(k, v)) *
               kcl_rhs_width(k);
  return bytes;
}

/* Are matrices loaded by streaming loads, past the cache? KRYLOCL_STREAM=0 or 1 overrides. */
static bool streams(const kcl_program *k) {
  const char *word = getenv("KRYLOCL_STREAM");
  return k->ctx->opencl->is_nvidia && (word ? *word == '1' : footprint(k) > STREAMED_BYTES);
}

/* Limits the groups per compute unit where each work-item walks along a row of its own and so returns to its own cache lines of
 * columns and values: all of them must fit into the L1 cache. */
static int cached(const kcl_program *k, int group, int groups) {
  const kcl_stored *A = k->A;
  if (!k->ctx->opencl->is_nvidia || !A || !A->kernel.row_per_item || A->kernel.lanes > 1 ||
      !A->rows)
    return groups;
  double row = (double)A->nnz * (double)(4 + kcl_type_size(k->type)) / (double)A->rows;
  double lines = row < 2 * DEVICE_LINE ? row : 2 * DEVICE_LINE;
  while (groups > 1 && groups * group * lines > L1_BYTES) groups /= 2;
  return groups;
}

/* Work-groups of a stage on this rank where its sums have a fixed shape: one per row block; 0 otherwise. */
static int64_t fixed_groups(const kcl_program *k) {
  const int64_t block = kcl_program_sum_rows(k);
  return block ? (k->A->rows + block - 1) / block : 0;
}

/* Series (series.c). Where work-groups may wait for each other, one per compute unit; elsewhere one alone, for tiny stages. */
static void choose_series(const kcl_program *k, kcl_geometry *g) {
  enum { BYTES_TOGETHER = 8000000, BYTES_ALONE = 100000 }; /* bytes of a stage, at most */
  const kcl_opencl *o = k->ctx->opencl;
  const char *word = getenv("KRYLOCL_SERIES");
  const bool waits = o->small_groups || o->is_nvidia;
  if (g->group == 1 || !kcl_addresses_stay(k->ctx) || kcl_program_ranks(k) ||
      kcl_program_sum_rows(k) || k->fusion > KCL_FUSED_STAGES)
    return;
  g->series_groups = waits ? o->concurrent : 1;
  g->series_bytes = word ? atoi(word) : g->series_groups > 1 ? BYTES_TOGETHER : BYTES_ALONE;
  if (!g->series_bytes) g->series_groups = 0;
}

/* Sums over ranks are a kernel argument where the other arguments still fit into the 1,024 bytes that OpenCL guarantees. */
bool kcl_sums_are_argument(const kcl_program *k) {
  enum { GROUP_WORDS = 512 };
  const size_t sums = (size_t)kcl_program_dots(k) * (size_t)kcl_rhs_width(k);
  return kcl_program_ranks(k) && sums * kcl_type_size(k->type) <= GROUP_WORDS;
}

size_t kcl_poll_bytes(const kcl_program *k) {
  return (size_t)kcl_rhs_width(k) *
         (sizeof(kcl_control) + (size_t)k->slots * kcl_type_size(k->type));
}

/* Bytes of the state with its partial sums (kernels/stage.clh), in whole cache lines. */
size_t kcl_state_bytes(const kcl_program *k, const kcl_geometry *g) {
  size_t sums = (size_t)kcl_program_dots(k) * (size_t)g->partials_max * (size_t)kcl_rhs_width(k);
  return (kcl_poll_bytes(k) + sums * kcl_type_size(k->type) + 127) / 128 * 128;
}

/* Work-items per work-group. */
static int choose_group(const kcl_program *k) {
  const kcl_context *ctx = k->ctx;
  const bool gpu = !strcmp(ctx->device.kind, "gpu") && !ctx->opencl->small_groups;
  if (ctx->opencl->is_cpu) return 1;
  if (kcl_program_sum_rows(k)) return KCL_SUM_LANES;
  if (ctx->tune.group) return ctx->tune.group;
  return gpu ? 256 : 32;
}

/* GPU layout: eight groups of 256 per compute unit; fewer with several right-hand sides, whose sums each group reduces; and
 * as many as are resident where a format asks for registers. CPU layout: eight row blocks per core. */
kcl_geometry kcl_choose_geometry(const kcl_program *k) {
  const kcl_opencl *o = k->ctx->opencl;
  const kcl_tune *tune = &k->ctx->tune;
  int registers = o->is_nvidia && k->A ? k->A->kernel.registers : 0, width = kcl_rhs_width(k);
  int group = choose_group(k), groups = 8;
  if (registers) groups = REGISTERS_PER_UNIT / registers / group;
  if (tune->groups) groups = tune->groups;
  int block = tune->block ? tune->block / (int)kcl_type_size(k->type) : 1024;
  if (!o->is_cpu && width > 1) groups = groups > 4 ? groups / (width > 2 ? 4 : 2) : 1;
  if (!tune->groups) groups = cached(k, group, groups);
  const int64_t fixed = fixed_groups(k);
  const int most = fixed > groups * o->units ? (int)fixed : groups * o->units;
  if (width > 1) block = block > 64 * width ? block / (64 * width) * 64 : 64;
  kcl_geometry g = {.group = group,
                    .groups_max = most,
                    .partials_max = most + (kcl_program_ranks(k) ? KCL_HALO_GROUPS : 0),
                    .sum_block = (int)kcl_program_sum_rows(k),
                    .registers = registers,
                    .streamed = streams(k),
                    .block = block,
                    .wide_index = has_wide_rows(k)};
  choose_series(k, &g);
  g.interpreted = k->fusion == KCL_INTERPRETED_STAGES && kcl_interpreter_suits(k, &g);
  return g;
}
