/* The first bytes of a checkpoint, for its reader and its writer:
 *
 *   prefix | what was put ... | u64 checksum of all bytes before
 *
 * The checksum runs over blocks of BLOCK bytes, the last may be shorter: each is summed with the sum of those before as its start. */
#ifndef KCL_CHECKPOINT_FORMAT_H
#define KCL_CHECKPOINT_FORMAT_H

#include <stdint.h>

typedef struct prefix {
  unsigned char magic[8];
  uint32_t version, order; /* ORDER in the byte order of the writer */
  uint64_t size;           /* of the file */
} prefix;

enum { BLOCK = 1 << 20, ORDER = 0x01020304 };
#define MAGIC                                                                                      \
  { 0x89, 'k', 'c', 'k', '\r', '\n', 0x1a, '\n' }

#endif
