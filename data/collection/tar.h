/* The members of a tar archive (POSIX.1-1988 ustar) in memory. */
#ifndef KCL_TAR_H
#define KCL_TAR_H
#include "data/files/text.h"

typedef struct kcl_tar_member {
  const char *name; /* last part of its path; not terminated by 0 if it has 100 characters */
  int name_length;
  const char *data;
  size_t size;
} kcl_tar_member;
/* Finds the next regular file at or after *at and moves *at behind it: 1 found, 0 end, -1 damaged. */
int kcl_tar_next(const kcl_text *t, size_t *at, kcl_tar_member *out);
#endif
