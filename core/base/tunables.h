/* Tunables: sizes of work-groups and loops, which change the time but never the meaning of a result. They come from the
 * device's file of lines "name = value", which `krylocl tune` writes to the cache folder, or from $KRYLOCL_TUNE; 0: the
 * built-in value. */
#ifndef KCL_TUNABLES_H
#define KCL_TUNABLES_H
#include "krylocl/device.h"

typedef struct kcl_tune {
  int group;  /* work-items per group, GPUs */
  int groups; /* most groups per compute unit, OpenCL */
  int block;  /* bytes of each vector per block of a fused loop, CPUs */
  int lanes;  /* work-items per row of csr-vector, GPUs */
  int slice;  /* rows per slice of sell */
} kcl_tune;

/* ---- the tunables of the selected device */
int kcl_tune_load(kcl_context *ctx); /* from its file; an error names file and line */
int kcl_tune_own_path(kcl_context *ctx, char *path,
                      size_t capacity); /* that file; -1: no cache folder */
int kcl_tune_get(kcl_context *ctx, int i, kcl_tunable *out);
int kcl_tune_set(kcl_context *ctx, const char *name, int value);
/* Appends the values that are not built in and apply to the format and device, as ", block 16384". */
void kcl_tune_say(kcl_context *ctx, const char *format, char *text, size_t capacity);

#endif
