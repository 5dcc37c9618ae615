/* krylocl generate: a generated system as files. */
#include "cli/ui/terminal.h"
#include "cli/ui/text.h"

static int run_generate(kcl_context *ctx, const cli_options *o) {
  CLI_OWNED_BY(kcl_csr_free) kcl_csr *A = NULL;
  CLI_OWNED_BY(kcl_dense_free) kcl_dense *b = NULL;
  double begin = cli_now();
  if (!o->output) return cli_fail(KCL_USAGE, "generate needs -o FILE (- for standard output)");
  cli_busy(o, "generating %s", o->files[0]);
  CLI_CALL(cli_lib(kcl_generate(ctx, o->files[0], &A, o->rhs ? &b : NULL)));
  double made = cli_now() - begin;
  cli_busy(o, "writing %s", cli_base(o->output));
  CLI_CALL(cli_lib(kcl_csr_write(ctx, o->output, A)));
  if (o->rhs) CLI_CALL(cli_lib(kcl_dense_write(ctx, o->rhs, b)));
  cli_say(o, "%s: %s x %s, %s nonzeros, %s %s, generated in %s", o->files[0], cli_count(A->rows).s,
          cli_count(A->cols).s, cli_count(A->nnz).s, kcl_field_name(A->field),
          kcl_symmetry_name(A->symmetry), cli_seconds(made).s);
  cli_say(o, ", written to %s%s%s\n", o->output, o->rhs ? " and " : "", o->rhs ? o->rhs : "");
  return 0;
}

const cli_command cli_generate = {.name = "generate",
                                  .operands = "KIND:SIZE -o A.mtx",
                                  .summary = "write a generated system to files",
                                  .options = "output rhs quiet threads | durable",
                                  .min = 1,
                                  .max = 1,
                                  .generates = true,
                                  .run = run_generate,
                                  .notes = "The ending of the output names its format, as of "
                                           "krylocl convert. Other subcommands take KIND:SIZE in "
                                           "place of a file.\n"};
