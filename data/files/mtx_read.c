/* Matrix Market to CSR: text, header, entries, CSR. Peak memory beyond the result: 8 to 24 bytes per
 * stored entry (coordinates; 16 when real), and for .gz the unpacked text.
 */
#include "data/files/file.h"

static int read_mtx(kcl *ctx, kcl_text *t, kcl_system *out) {
  mm_head head;
  mm_entries entries = {0};
  int rc;
  KCL_TRY(mm_read_banner(ctx, t, &head));
  KCL_TRY(mm_read_size(ctx, t, &head));
  KCL_TRY(mm_read_entries(ctx, t, &head, &entries));
  kcl_text_close(t);
  KCL_TRY((head.coordinate ? mm_build_csr : mm_build_array)(ctx, &head, &entries, &out->A));
  out->A->symmetry = head.symmetry, out->A->field = head.field, out->A->stored = head.entries;
done:
  mm_entries_free(&entries);
  return rc;
}

const kcl_file kcl_file_mtx = {.name = "mtx",
                               .expected = "%%MatrixMarket",
                               .knows = mm_has_banner,
                               .read = read_mtx,
                               .write = mtx_write};
