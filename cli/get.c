/* krylocl get: a matrix of the SuiteSparse collection, from the user's cache folder or the network. */
#include "cli/input/input.h"
#include "cli/ui/say.h"
#include "cli/ui/text.h"

static int run_get(kcl_context *ctx, const cli_options *o) {
  char path[4096], b[4096];
  CLI_OWNED_BY(kcl_csr_free) kcl_csr *A = NULL;
  CLI_OWNED_BY(kcl_dense_free) kcl_dense *v = NULL;
  CLI_CALL(cli_collection(ctx, o, o->files[0], path, sizeof path));
  bool rhs = cli_collection_rhs(path, b, sizeof b);
  CLI_CALL(cli_lib(kcl_csr_read(ctx, path, &A)));
  cli_say(o, "%s: %s x %s, %s nonzeros, %s %s\n%s\n", o->files[0], cli_count(A->rows).s,
          cli_count(A->cols).s, cli_count(A->nnz).s, kcl_field_name(A->field),
          kcl_symmetry_name(A->symmetry), path);
  if (rhs) cli_say(o, "%s\n", b);
  if (o->output) CLI_CALL(cli_lib(kcl_csr_write(ctx, o->output, A)));
  if (o->rhs && !rhs)
    CLI_CALL(cli_fail(KCL_INPUT, "%s comes without a right-hand side", o->files[0]));
  if (o->rhs) CLI_CALL(cli_lib(kcl_dense_read(ctx, b, &v)));
  if (o->rhs) CLI_CALL(cli_lib(kcl_dense_write(ctx, o->rhs, v)));
  return 0;
}

const cli_command cli_get = {
    .name = "get",
    .operands = "Group/Name",
    .summary = "fetch a matrix of the SuiteSparse collection",
    .options = "output rhs quiet | durable",
    .min = 1,
    .max = 1,
    .run = run_get,
    .notes = "The matrix is kept in collection/ of the user's cache folder; -o and --rhs write "
             "copies. Other subcommands take such names too: krylocl solve HB/bcsstk16. The server "
             "is $KRYLOCL_COLLECTION or https://sparse.tamu.edu/MM. Needs the program curl.\n"};
