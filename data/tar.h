/* The members of a tar archive (POSIX.1-1988 ustar) in memory. */
#ifndef KCL_TAR_H
#define KCL_TAR_H
#include "data/data.h"

typedef struct kcl_tar_member {
  const char *name; /* the last part of its path; not ended by 0 when 100 long */
  int name_length;
  const char *data;
  size_t size;
} kcl_tar_member;
/* The plain file at or after *at, which moves behind it: 1 found, 0 the end, -1 damaged. */
int kcl_tar_next(const kcl_text *t, size_t *at, kcl_tar_member *out);
#endif
