/* Fuzz target: the command line, one argument per line, parsed and checked as the program does before it reads a file. */
#include "cli/commands.h"
#include "cli/ui/options.h"
#include "cli/validate.h"
#include "tests/fuzz/fuzz.h"

enum { ARGUMENTS = 40 };

static int split(char *text, char **argv) {
  int n = 0;
  argv[n++] = "krylocl";
  for (char *s = text, *end; s && n < ARGUMENTS; s = end ? end + 1 : NULL) {
    end = strchr(s, '\n');
    if (end) *end = 0;
    argv[n++] = s;
  }
  argv[n] = NULL;
  return n;
}

/* Numbers are in their ranges, and no option is taken that the subcommand does not have. */
static void check(const cli_command *c, cli_options *o) {
  int rc = cli_validate(c, o);
  FUZZ_REQUIRE(rc == 0 || rc == KCL_USAGE || rc == KCL_INPUT);
  FUZZ_REQUIRE(!(o->tol >= 0) || isfinite(o->tol));
  FUZZ_REQUIRE(isfinite(o->atol) && o->atol >= 0 && o->threads >= 0 && o->threads <= 4096);
  FUZZ_REQUIRE(o->nrhs >= 0 && o->nrhs <= KCL_MAX_NRHS && o->max_iter >= 0 && o->count >= 0);
  if (rc == 0) FUZZ_REQUIRE(o->count >= c->min && o->count <= c->max);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *argv[ARGUMENTS + 1], *operands[ARGUMENTS + 1], *text = malloc(size + 1);
  cli_options o;
  fuzz_begin();
  FUZZ_REQUIRE(text);
  memcpy(text, data, size), text[size] = 0;
  optind = 0; /* getopt begins anew */
  if (!cli_parse(cli_commands, split(text, argv), argv, operands, &o)) {
    const cli_command *c = o.command ? cli_command_named(cli_commands, o.command) : NULL;
    if (c) check(c, &o);
  }
  free(text);
  return 0;
}
