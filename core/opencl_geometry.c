/* How a program is laid out on a device: the shape of launches, what compilers are told, which loads the matrix gets. */
#include "core/opencl.h"
#include "core/program.h"
#include <stdlib.h>
#include <string.h>

static bool wide(const kcl_program *k) {
  int64_t most = 0;
  for (int v = 0; v < k->vectors; v++)
    if (k->vector[v].n > most) most = k->vector[v].n;
  const kcl_matrix *both[] = {k->A, k->AH};
  for (int j = 0; j < 2; j++)
    for (int i = 0; both[j] && i < both[j]->arrays; i++)
      if (both[j]->array[i].count > most) most = both[j]->array[i].count;
  return most > INT32_MAX - 1000000; /* strides go beyond the end */
}

enum {
  REGISTERS_A_UNIT = 65536, /* NVIDIA, since 2012 */
  FIRST_LEVEL = 196608,     /* bytes; an H200 has 256 KiB, local memory among them */
  LINE = 128,
  /* What an H200's second-level cache does not hold (50 MiB): with the matrix streamed a pass over 52.6 MB was
   * slower, one over 54.1 faster. */
  STREAMED_BYTES = 54000000
};

/* Bytes of all that a pass touches. */
static double footprint(const kcl_program *k) {
  const kcl_phase phase = k->stages[KCL_LOOP] ? KCL_LOOP : KCL_START;
  double bytes = (k->A ? kcl_matrix_bytes(k->A) : 0) + (k->AH ? kcl_matrix_bytes(k->AH) : 0);
  for (kcl_vec v = 0; v < k->vectors; v++)
    if (kcl_phase_uses(k, phase, v))
      bytes += (double)k->vector[v].n * (double)kcl_type_size(k->type) * kcl_width(k);
  return bytes;
}

/* KRYLOCL_STREAM=0 or 1 decides instead. */
static bool streams(const kcl_program *k) {
  const char *word = getenv("KRYLOCL_STREAM");
  return k->ctx->opencl->is_nvidia && (word ? *word == '1' : footprint(k) > STREAMED_BYTES);
}

/* Work-items that go along rows come back to their own lines of columns and values: no more groups than there is room
 * for these in a unit's first-level cache. */
static int cached(const kcl_program *k, int group, int groups) {
  const kcl_matrix *A = k->A;
  if (!k->ctx->opencl->is_nvidia || !A || !A->along || A->lanes > 1 || !A->rows) return groups;
  double row = (double)A->nnz * (double)(4 + kcl_type_size(k->type)) / (double)A->rows;
  double lines = row < 2 * LINE ? row : 2 * LINE;
  while (groups > 1 && groups * group * lines > FIRST_LEVEL) groups /= 2;
  return groups;
}

/* Eight groups of 256 a compute unit on GPUs, fewer of wide elements, whose sums each group adds up, and no more than
 * are there together where each work-item has many registers; on CPU devices eight contiguous pieces a core. */
kcl_geometry kcl_choose_geometry(const kcl_program *k) {
  const kcl_opencl *o = k->ctx->opencl;
  bool gpu = !strcmp(k->ctx->device.kind, "gpu") && !o->small_groups;
  const kcl_tune *tune = &k->ctx->tune;
  int registers = o->is_nvidia && k->A ? k->A->registers : 0, width = kcl_width(k);
  int group = o->is_cpu ? 1 : tune->group ? tune->group : gpu ? 256 : 32;
  int groups = tune->groups ? tune->groups : registers ? REGISTERS_A_UNIT / registers / group : 8;
  int block = tune->block ? tune->block / (int)kcl_type_size(k->type) : 1024;
  if (!o->is_cpu && width > 1) groups = groups > 4 ? groups / (width > 2 ? 4 : 2) : 1;
  if (!tune->groups) groups = cached(k, group, groups);
  if (width > 1) block = block > 64 * width ? block / (64 * width) * 64 : 64;
  return (kcl_geometry){.group = group,
                        .groups_max = groups * o->units,
                        .registers = registers,
                        .streamed = streams(k),
                        .block = block,
                        .wide_index = wide(k)};
}
