/* Fuzz target: .kcl files. Checksums keep nearly every change of a byte from the reader, so they are made to fit; and by
 * the last bit of the input the layout too, so that the arrays themselves are reached. */
#include "data/files/kcl_file.h"
#include "core/base/sum64.h"
#include "tests/fuzz/fuzz.h"

static void fit_layout(kcl_file_head *h) {
  const uint64_t rows = (uint64_t)h->rows, cols = (uint64_t)h->cols, nnz = (uint64_t)h->nnz;
  const uint64_t count[] = {rows + 1, nnz, nnz, rows * (uint64_t)h->b_cols,
                            cols * (uint64_t)h->x_cols};
  const uint64_t size[] = {8, 4, h->type == KCL_Z ? 16 : 8, h->dense_complex & 1 ? 16 : 8,
                           h->dense_complex & 2 ? 16 : 8};
  uint64_t at = KCL_FILE_HEAD;
  for (int k = 0; k < KCL_FILE_PARTS; k++) {
    h->part[k] = (kcl_file_part){at, count[k] * size[k]};
    at = (at + h->part[k].bytes + 63) / 64 * 64;
  }
}

static void fit_sums(uint8_t *file, size_t size, kcl_file_head *h) {
  h->sum = 0;
  for (int k = 0; k < KCL_FILE_PARTS; k++)
    if (h->part[k].offset <= size && h->part[k].bytes <= size - h->part[k].offset)
      h->sum = kcl_sum64(file + h->part[k].offset, h->part[k].bytes, h->sum);
  h->head_sum = kcl_sum64(h, offsetof(kcl_file_head, head_sum), 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  kcl_file_head h;
  if (size < KCL_FILE_HEAD) return fuzz_matrix(data, size, "t.kcl");
  uint8_t *file = malloc(size);
  FUZZ_REQUIRE(file);
  memcpy(file, data, size), memcpy(&h, file, sizeof h);
  memcpy(h.magic, kcl_file_magic, sizeof h.magic);
  h.version = KCL_FILE_VERSION, h.order = KCL_FILE_ORDER, h.size = size;
  if (data[size - 1] & 1) fit_layout(&h);
  fit_sums(file, size, &h);
  memcpy(file, &h, sizeof h);
  fuzz_matrix(file, size, "t.kcl");
  free(file);
  return 0;
}
