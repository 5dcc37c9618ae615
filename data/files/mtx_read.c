/* Matrix Market to CSR: text, header, entries, CSR. Peak memory beyond the result: 8 to 24 bytes per
 * stored entry (coordinates; 16 when real), and for .gz the unpacked text.
 */
#include "core/base/context.h"
#include "data/files/file.h"

int mm_read_body(kcl_context *ctx, kcl_text *t, mm_head *h, kcl_csr **out) {
  KCL_OWNED_BY(mm_entries_free) mm_entries entries = {0};
  KCL_CALL(mm_read_entries(ctx, t, h, &entries));
  kcl_text_close(t);
  return (h->coordinate ? mm_build_csr : mm_build_array)(ctx, h, &entries, out);
}

static int read_mtx_head(kcl_context *ctx, const kcl_text *t, mm_head *h) {
  int rc = mm_read_banner(ctx, t, h);
  return rc ? rc : mm_read_size(ctx, t, h);
}

int kcl_set_index_base(kcl_context *ctx, int base) {
  KCL_CALL(kcl_need(ctx, "ctx", ctx));
  if (base != 0 && base != 1)
    return kcl_fail(ctx, KCL_USAGE, "rows and columns count from 0 or 1, not %d", base);
  ctx->zero_based = base == 0;
  return KCL_OK;
}

const kcl_file kcl_file_mtx = {.name = "mtx",
                               .expected = "%%MatrixMarket",
                               .knows = mm_has_banner,
                               .head = read_mtx_head,
                               .write = mtx_write};
