/* The program krylocl: finds the subcommand, validates the command line, runs it. Exit codes: 0
 * success, 1 not converged, 2 usage, 3 input file, 4 device, 5 memory or a format that refuses the
 * matrix, 6 the check failed, 130 interrupted. */
#include "cli/cli.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>

extern const cli_command cli_solve, cli_bench, cli_info, cli_check, cli_devices, cli_generate,
    cli_convert, cli_get, cli_tune, cli_explain;
static const cli_command *const commands[] = {&cli_solve,   &cli_bench,    &cli_info,    &cli_check,
                                              &cli_devices, &cli_generate, &cli_convert, &cli_get,
                                              &cli_tune,    &cli_explain};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void list(const char *title, kcl_registry which) {
  printf("\n%s:\n", title);
  for (int i = 0; i < kcl_list_size(which); i++)
    printf("  %-15s  %s\n", kcl_list(which, i).name, kcl_list(which, i).summary);
}

static void lists(void) {
  list("formats", KCL_FORMATS);
  list("solvers", KCL_SOLVERS);
  list("preconditioners", KCL_PRECONDS);
}

static const char exits[] =
    "\nexit codes: 0 success, 1 not converged, 2 usage, 3 input file, 4 device or driver,\n"
    "  5 out of memory or a format that refuses the matrix, 6 the check failed, 130 interrupted\n";

static int help(void) {
  puts("krylocl " KCL_VERSION
       ": solves sparse A x = b on OpenCL devices and on the CPU, checks the\n"
       "solution, and compares storage formats.\n");
  for (int i = 0; i < COMMANDS; i++)
    printf("  krylocl %-9s %-32s %s\n", commands[i]->name, commands[i]->operands,
           commands[i]->summary);
  puts(
      "\nkrylocl SUBCOMMAND --help lists its options and JSON fields. Options may stand anywhere,\n"
      "-- ends them, and the file - is standard input or output. Files are Matrix Market, "
      "Harwell-\n"
      "Boeing, Rutherford-Boeing, row lists or .kcl, .gz too; right-hand sides may also be plain\n"
      "numbers.");
  lists();
  list("generators", KCL_GENERATORS);
  fputs(exits, stdout);
  return 0;
}

static int command_help(const cli_command *c) {
  printf("krylocl %s %s\n%s.\n\n", c->name, c->operands, c->summary);
  cli_print_options(c, stdout);
  if (c->notes) printf("\n%s", c->notes);
  if (c->lists) lists();
  if (c == &cli_generate) list("kinds", KCL_GENERATORS);
  fputs(exits, stdout);
  return 0;
}

static int version(void) {
  printf("krylocl %s\n", kcl_version());
  printf("direct solutions for checking: %s\n", kcl_direct_least_squares()
                                                    ? "CHOLMOD, UMFPACK and SPQR"
                                                : kcl_direct_available() ? "CHOLMOD and UMFPACK"
                                                                         : "not in this build");
  lists();
  return 0;
}

static const cli_command *find(const char *name) {
  for (int i = 0; i < COMMANDS; i++)
    if (strcmp(commands[i]->name, name) == 0) return commands[i];
  return NULL;
}

static int unknown(const char *name) {
  const char *names[COMMANDS];
  for (int i = 0; i < COMMANDS; i++) names[i] = commands[i]->name;
  return cli_unknown("subcommand", name, names, COMMANDS);
}

static int run(const cli_command *c, const cli_options *o) {
  kcl *ctx = NULL;
  int rc = cli_validate(c, o);
  if (rc) return rc;
  if ((rc = kcl_create(&ctx))) return cli_fail(rc, "out of memory");
  rc = c->run(ctx, o);
  kcl_destroy(&ctx);
  return rc;
}

static int dispatch(const cli_options *o) {
  const cli_command *c = o->command ? find(o->command) : NULL;
  if (o->version) return version();
  if (o->command && !strcmp(o->command, "help"))
    return o->count && find(o->files[0]) ? command_help(find(o->files[0])) : help();
  if (o->command && !c) return unknown(o->command);
  if (o->help) return c ? command_help(c) : help();
  if (!c)
    return cli_fail(KCL_USAGE, "a subcommand is missing: solve, bench, info, check, devices, "
                               "generate, convert, get, tune or explain (see krylocl --help)");
  return run(c, o);
}

/* Makes PoCL run the kernels that it puts into program binaries, which are for any work-group size,
 * instead of compiling each kernel a second time for the size in use. They are as fast. */
static void configure_drivers(void) { setenv("POCL_WORK_GROUP_SPECIALIZATION", "0", 0); }

int main(int argc, char **argv) {
  cli_options o;
  cli_open_standard();
  char **operands = calloc((size_t)argc + 1, sizeof *operands);
  if (!operands) return cli_fail(KCL_MEMORY, "out of memory");
  signal(SIGPIPE, SIG_IGN), signal(SIGXFSZ, SIG_IGN); /* failed writes are messages */
  configure_drivers();
  int rc = cli_parse(argc, argv, operands, &o);
  if (!rc) rc = dispatch(&o);
  free(operands);
  if ((fflush(stdout) | ferror(stdout)) && !rc)
    rc = cli_fail(KCL_INPUT, "standard output cannot be written");
  return rc;
}
