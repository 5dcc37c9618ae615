/* OpenCL C source as it grows, and skeletons whose holes are filled. */
#ifndef KCL_SOURCE_H
#define KCL_SOURCE_H

#include "core/base/base.h"

typedef struct kcl_source {
  char *data;
  size_t length, capacity;
  bool failed; /* memory ran out */
} kcl_source;

void kcl_put(kcl_source *t, const char *format, ...) KCL_PRINTF(2, 3);
void kcl_put_file(kcl_source *t, const char *name); /* a file of kernels/ */

/* A skeleton is a file of kernels/ in which @name@ marks a hole. A hole alone on its line takes any number of lines,
 * each indented as the hole is; where it is filled with nothing, the line goes. The skeleton's first comment, which is
 * for its readers, is left out. */
typedef struct kcl_hole {
  const char *name;
  void (*fill)(kcl_source *t, const void *of);
} kcl_hole;
void kcl_put_skeleton(kcl_source *t, const char *file, const kcl_hole *holes, int count,
                      const void *of);

#endif
