/* The binary format .kcl: a header of 192 bytes, then arrays at multiples of 64 bytes in the order of
 * `part`, padded with zeros. Little-endian. Files are mapped, and the matrix uses the arrays in place.
 *
 *   header | row_ptr [rows + 1] i64 | col [nnz] i32 | val [nnz] type | b, x0 [cols, rows] D or Z
 */
#ifndef KCL_KCL_FILE_H
#define KCL_KCL_FILE_H
#include "core/base/base.h"

enum { KCL_FILE_VERSION = 1, KCL_FILE_ORDER = 0x01020304 };
enum { KCL_PART_PTR, KCL_PART_COL, KCL_PART_VAL, KCL_PART_B, KCL_PART_X, KCL_FILE_PARTS };
typedef struct kcl_file_part {
  uint64_t offset, bytes;
} kcl_file_part;
typedef struct kcl_file_head {
  char magic[8];           /* not valid as text, and damaged by a transfer as text */
  uint32_t version, order; /* order: KCL_FILE_ORDER in the writer's byte order */
  int64_t rows, cols, nnz, stored;
  int32_t type, symmetry, field, dense_complex; /* bit 0: b is complex; bit 1: x0 is */
  kcl_file_part part[KCL_FILE_PARTS];
  int64_t b_cols, x_cols;
  uint64_t size;          /* of the whole file */
  uint64_t sum, head_sum; /* checksums of the arrays; of the header up to here */
} kcl_file_head;
_Static_assert(sizeof(kcl_file_head) == 184, "the header has no gaps");
enum { KCL_FILE_HEAD = 192 };
extern const char kcl_file_magic[8];
#endif
