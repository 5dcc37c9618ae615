/* Our binary file .kcl: a header of 192 bytes, then arrays that begin at multiples of 64 bytes, in
 * the order of `part`, gaps of zeros between them. Little-endian. Read by mapping: a matrix of
 * the file borrows its arrays.
 *
 *   header | row_ptr [rows + 1] i64 | col [nnz] i32 | val [nnz] type | b, x0 [cols, rows] D or Z
 */
#ifndef KCL_KCL_FILE_H
#define KCL_KCL_FILE_H
#include "data/file.h"

enum { KCL_FILE_VERSION = 1, KCL_FILE_ORDER = 0x01020304 };
enum { KCL_PART_PTR, KCL_PART_COL, KCL_PART_VAL, KCL_PART_B, KCL_PART_X, KCL_FILE_PARTS };
typedef struct kcl_file_part {
  uint64_t offset, bytes;
} kcl_file_part;
typedef struct kcl_file_head {
  char magic[8];           /* no text begins like it, and a transfer as text damages it */
  uint32_t version, order; /* order: KCL_FILE_ORDER as this machine writes it */
  int64_t rows, cols, nnz, stored;
  int32_t type, symmetry, field, dense_complex; /* bit 0: b is complex; bit 1: x0 is */
  kcl_file_part part[KCL_FILE_PARTS];
  int64_t b_cols, x_cols;
  uint64_t size;          /* of the whole file */
  uint64_t sum, head_sum; /* of the bytes from the first part on; of the header before itself */
} kcl_file_head;
_Static_assert(sizeof(kcl_file_head) == 184, "the header has no gaps");
enum { KCL_FILE_HEAD = 192 };
extern const char kcl_file_magic[8];
#endif
