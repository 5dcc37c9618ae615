/* The program krylocl: finds the subcommand, validates the command line, runs it. Exit codes: 0
 * success, 1 not converged or slower, 2 usage, 3 input file, 4 device, 5 memory or a format that refuses the
 * matrix, 6 the check failed, 7 it is undecided, 128 + the signal if interrupted (130: Ctrl-C). */
#include "cli/cli.h"
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

extern const cli_command cli_solve, cli_spmv, cli_bench, cli_report, cli_info, cli_check,
    cli_devices, cli_generate, cli_convert, cli_get, cli_tune, cli_explain, cli_list, cli_man,
    cli_completion, cli_version_command;
static const cli_command *const commands[] = {
    &cli_solve,   &cli_spmv,       &cli_check,    &cli_info,           &cli_bench, &cli_report,
    &cli_tune,    &cli_explain,    &cli_generate, &cli_convert,        &cli_get,   &cli_list,
    &cli_devices, &cli_completion, &cli_man,      &cli_version_command};
enum { COMMANDS = sizeof commands / sizeof *commands };

const cli_command *cli_command_at(int i) { return i < COMMANDS ? commands[i] : NULL; }

const cli_command *cli_command_named(const char *name) {
  for (int i = 0; i < COMMANDS; i++)
    if (strcmp(commands[i]->name, name) == 0) return commands[i];
  return NULL;
}

static int unknown(const char *name) {
  const char *names[COMMANDS];
  if (access(name, F_OK) == 0)
    return cli_fail(KCL_USAGE, "a subcommand comes first, such as krylocl solve %s", name);
  for (int i = 0; i < COMMANDS; i++) names[i] = commands[i]->name;
  return cli_unknown("subcommand", name, names, COMMANDS);
}

static void warn_of_cache(const cli_options *o) {
  if (kcl_cache_refused() && !o->quiet && !cli_rank())
    fprintf(stderr, "krylocl: %s\n", kcl_cache_refused());
}

static int run(const cli_command *c, cli_options *o) {
  kcl *ctx = NULL;
  int rc = cli_rank() ? 0 : cli_validate(c, o); /* files need not be where other ranks run */
  if (cli_ranks() > 1 && c != &cli_solve)
    return cli_fail(KCL_USAGE, "%s runs in one process: of %d ranks only solve makes use", c->name,
                    cli_ranks());
  if (!rc) rc = cli_ranks_check(o);
  if (rc && cli_ranks() == 1) return rc;
  if (cli_ranks() == 1 && cli_device_count(o) > 1) return cli_launch(o);
  if (kcl_create(&ctx)) return cli_fail(KCL_MEMORY, "out of memory");
  rc = cli_ranks_agree(ctx, rc);
  if (!cli_rank()) kcl_watch(ctx, cli_watch, o);
  kcl_set_threads((int)o->threads);
  if (!rc) rc = c->run(ctx, o);
  cli_idle();
  warn_of_cache(o);
  kcl_destroy(&ctx);
  return rc;
}

/* `krylocl help NAME` is `krylocl NAME --help`. */
static int dispatch(cli_options *o) {
  bool help = o->command && !strcmp(o->command, "help");
  const char *name = !help ? o->command : o->count ? o->files[0] : NULL;
  const cli_command *c = name ? cli_command_named(name) : NULL;
  if (o->version) return cli_version();
  if (name && !c) return unknown(name);
  if (help || o->help) return cli_help(c, !o->brief);
  if (!c) return cli_fail(KCL_USAGE, "a subcommand is missing: krylocl -h lists them");
  return run(c, o);
}

/* Freed memory is used again, not given back: a first touch of a page costs a set-up more than the work on it, the more so
 * on virtual machines. */
static void keep_memory(void) {
#ifdef __GLIBC__
  mallopt(M_MMAP_MAX, 0), mallopt(M_TRIM_THRESHOLD, INT_MAX);
#endif
}

/* `krylocl list | head`: who reads a pipe may stop. */
static bool reader_left(void) {
  struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
  return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

int main(int argc, char **argv) {
  cli_options o;
  keep_memory();
  cli_open_standard();
  cli_ranks_begin(&argc, &argv);
  char **operands = calloc((size_t)argc + 1, sizeof *operands);
  if (!operands) return cli_ranks_end(cli_fail(KCL_MEMORY, "out of memory"));
  signal(SIGPIPE, SIG_IGN), signal(SIGXFSZ, SIG_IGN); /* failed writes are messages */
  setvbuf(stdout, NULL, _IOLBF, 0); /* a log is current, and whole where the program is ended */
  cli_configure_drivers();
  int rc = cli_ranks_same(&o, cli_parse(argc, argv, operands, &o));
  if (!rc) rc = dispatch(&o);
  cli_terminal_end();
  free(operands);
  if ((fflush(stdout) | ferror(stdout)) && !rc && !reader_left())
    rc = cli_fail(KCL_INPUT, "standard output cannot be written");
  return cli_ranks_end(cli_exit_code(rc));
}
