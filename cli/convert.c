/* krylocl convert: a matrix file in another format, named by the ending of the output. */
#include "cli/input/input.h"
#include "cli/ui/terminal.h"
#include "cli/ui/text.h"

static const char *const endings[] = {"mtx", "rb", "rows", "kcl"};
enum { ENDINGS = sizeof endings / sizeof *endings };

/* The ending that selects the format of an output, without .gz; NULL if there is none. "-" is Matrix Market. */
static const char *format_ending(const char *path) {
  size_t n = strlen(path);
  if (strcmp(path, "-") == 0) return endings[0];
  if (n > 3 && strcmp(path + n - 3, ".gz") == 0) n -= 3;
  for (int i = 0; i < ENDINGS; i++) {
    size_t e = strlen(endings[i]);
    if (n > e && path[n - e - 1] == '.' && strncmp(path + n - e, endings[i], e) == 0)
      return endings[i];
  }
  return NULL;
}

static int check_outputs(const cli_options *o) {
  if (!o->output) return cli_fail(KCL_USAGE, "convert needs -o FILE (- for standard output)");
  if (format_ending(o->output)) return 0;
  return cli_fail(KCL_USAGE,
                  "%s: the name must end in .mtx, .rb, .rows (each with .gz or without) or .kcl",
                  o->output);
}

/* Refuses data that the output format cannot store. */
static void say_losses(const cli_options *o, const kcl_csr *A, const kcl_dense *b) {
  const char *kind = format_ending(o->output);
  if (b && !o->rhs && strcmp(kind, "kcl"))
    cli_say(o, "note        the right-hand side is left out: --rhs FILE writes it\n");
  if (A->symmetry != KCL_GENERAL && strcmp(kind, "rows") == 0)
    cli_say(o, "note        row lists store both triangles and not the symmetry (%s)\n",
            kcl_symmetry_name(A->symmetry));
}

static int run_convert(kcl_context *ctx, const cli_options *o) {
  CLI_OWNED_BY(kcl_csr_free) kcl_csr *A = NULL;
  CLI_OWNED_BY(kcl_dense_free) kcl_dense *b = NULL, *x = NULL;
  double begin = cli_now();
  CLI_CALL(check_outputs(o));
  CLI_CALL(cli_read(ctx, o, o->files[0], &A, &b, &x));
  if (o->rhs && !b) CLI_CALL(cli_fail(KCL_INPUT, "%s holds no right-hand side", o->files[0]));
  double read = cli_now();
  cli_busy(o, "writing %s", cli_base(o->output));
  CLI_CALL(cli_lib(kcl_csr_write_system(ctx, o->output, A, b, x)));
  if (o->rhs) CLI_CALL(cli_lib(kcl_dense_write(ctx, o->rhs, b)));
  cli_say(o, "%s: %s x %s, %s nonzeros, %s %s, read in %s", cli_base(o->files[0]),
          cli_count(A->rows).s, cli_count(A->cols).s, cli_count(A->nnz).s, kcl_field_name(A->field),
          kcl_symmetry_name(A->symmetry), cli_seconds(read - begin).s);
  cli_say(o, ", written to %s%s%s in %s\n", o->output, o->rhs ? " and " : "", o->rhs ? o->rhs : "",
          cli_seconds(cli_now() - read).s);
  say_losses(o, A, b);
  return 0;
}

const cli_command cli_convert = {
    .name = "convert",
    .operands = "A.any|poisson2d:300 -o B.kcl",
    .summary = "write a matrix in another file format",
    .options = "output rhs cache quiet threads | index-base durable",
    .min = 1,
    .max = 1,
    .run = run_convert,
    .notes =
        "Reads, by content: Matrix Market, Harwell-Boeing, Rutherford-Boeing, row lists, .kcl.\n"
        "\n"
        "Writes, by ending: .mtx Matrix Market, .rb Rutherford-Boeing, .rows row lists (each also "
        ".gz), .kcl krylocl's binary format: checksummed, mapped when read, the only one that "
        "stores right-hand sides.\n"};
