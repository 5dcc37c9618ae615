/* Reads one matrix by its name, with the vectors that its file holds. */
#include "cli/input/input.h"
#include "cli/ui/terminal.h"
#include "cli/ui/text.h"

double *cli_column(const kcl_dense *B, int64_t j) {
  return B->val + j * B->rows * (kcl_type_complex(B->type) ? 2 : 1);
}

double cli_error_from_ones(const kcl_dense *x, int64_t j) {
  const double *v = cli_column(x, j);
  double worst = 0;
  for (int64_t i = 0; i < x->rows; i++) {
    double e = x->type == KCL_Z ? hypot(v[2 * i] - 1, v[2 * i + 1]) : fabs(v[i] - 1);
    if (e > worst || isnan(e)) worst = e;
  }
  return worst;
}

int cli_read(kcl_context *ctx, const cli_options *o, const char *path, kcl_csr **A, kcl_dense **b,
             kcl_dense **x0) {
  char kept[4096], rhs[4096];
  bool collection = cli_is_collection(path);
  if (cli_is_generated(path)) {
    cli_busy(o, "generating %s", path);
    if (x0) *x0 = NULL;
    return cli_lib(kcl_generate(ctx, path, A, b));
  }
  cli_busy(o, "reading %s", cli_base(path));
  CLI_CALL(cli_lib(kcl_set_index_base(ctx, o->index_base && *o->index_base == '0' ? 0 : 1)));
  if (collection) CLI_CALL(cli_collection(ctx, o, path, kept, sizeof kept));
  CLI_CALL(cli_lib((o->cache ? kcl_csr_read_cached
                             : kcl_csr_read_system)(ctx, collection ? kept : path, A, b, x0)));
  if (collection && b && !*b && cli_collection_rhs(kept, rhs, sizeof rhs))
    CLI_CALL(cli_lib(kcl_dense_read(ctx, rhs, b)));
  if (b && *b && (*b)->rows != (*A)->rows) kcl_dense_free(b); /* it is of another system */
  return 0;
}
