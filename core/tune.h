/* Numbers that change the time and never the meaning: what a work-group is, how a loop is cut. Built in where
 * 0; else from the device's own file of lines "name = value" in the cache folder (or from $KRYLOCL_TUNE), which
 * `krylocl tune` writes. */
#ifndef KCL_TUNE_H
#define KCL_TUNE_H
#include <stddef.h>

typedef struct kcl_tune {
  int group;  /* work-items a group, GPUs */
  int groups; /* most groups a compute unit, OpenCL */
  int block;  /* bytes of each vector that a fused loop goes over again, CPUs */
  int lanes;  /* work-items a row of csr-vector, GPUs */
  int slice;  /* rows a slice of sell */
} kcl_tune;

struct kcl;
int kcl_tune_load(struct kcl *ctx); /* of the device selected; an error names file and line */
/* What is not as built in and matters to a format here, behind `text`: ", block 16384". */
void kcl_tune_say(struct kcl *ctx, const char *format, char *text, size_t room);

#endif
