/* The program krylocl: finds the subcommand, validates the command line, runs it. Exit codes: 0
 * success, 1 not converged or slower, 2 usage, 3 input file, 4 device, 5 memory or a format that refuses the
 * matrix, 6 the check failed, 7 it is undecided, 128 + the signal if interrupted (130: Ctrl-C). */
#include "cli/commands.h"
#include "cli/drivers.h"
#include "cli/help.h"
#include "cli/ranks/launch.h"
#include "cli/ranks/ranks.h"
#include "cli/ranks/shares.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/output.h"
#include "cli/ui/terminal.h"
#include "cli/ui/truncation.h"
#include "cli/validate.h"
#include "cli/version.h"
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

static int refuse_command(const char *name) {
  const char *names[64];
  int count = 0;
  if (access(name, F_OK) == 0)
    return cli_fail(KCL_USAGE, "a subcommand comes first, such as krylocl solve %s", name);
  for (; cli_commands[count]; count++) names[count] = cli_commands[count]->name;
  return cli_unknown("subcommand", name, names, count);
}

static void warn_of_cache(const cli_options *o) {
  if (kcl_cache_refused() && !o->quiet && !cli_rank())
    fprintf(stderr, "krylocl: %s\n", kcl_cache_refused());
}

static int run_command(const cli_command *c, cli_options *o) {
  kcl_context *ctx = NULL;
  cli_rename_format(c, o);
  int rc = cli_rank() ? 0 : cli_validate(c, o); /* other ranks may run where the files are not */
  if (cli_ranks() > 1 && !c->ranks)
    return cli_fail(KCL_USAGE, "%s runs in one process: solve, spmv and bench make use of %d ranks",
                    c->name, cli_ranks());
  if (!rc) rc = cli_ranks_check(o);
  if (rc && cli_ranks() == 1) return rc;
  if (cli_ranks() == 1 && cli_device_count(o) > 1) return cli_launch(o);
  if (kcl_context_create(NULL, 0, &ctx)) return cli_fail(KCL_MEMORY, "out of memory");
  rc = cli_ranks_agree(ctx, rc);
  if (!cli_rank()) kcl_context_watch(ctx, cli_watch, o);
  kcl_set_threads((int)o->threads);
  kcl_files_synchronise(o->durable);
  if (!rc) rc = c->run(ctx, o);
  cli_idle();
  warn_of_cache(o);
  kcl_context_free(&ctx);
  return rc;
}

/* `krylocl help NAME` is `krylocl NAME --help`. */
static int dispatch_command(cli_options *o) {
  bool help = o->command && !strcmp(o->command, "help");
  const char *name = !help ? o->command : o->count ? o->files[0] : NULL;
  const cli_command *c = name ? cli_command_named(cli_commands, name) : NULL;
  if (o->version) return cli_print_version();
  if (name && !c) return refuse_command(name);
  if (help || o->help) return cli_help(c, cli_commands, !o->brief);
  if (!c) return cli_fail(KCL_USAGE, "a subcommand is missing: krylocl -h lists them");
  return run_command(c, o);
}

/* Keeps freed memory in the process: in a set-up the first touch of a page costs more than the work on it, above
 * all on virtual machines. */
static void keep_memory(void) {
#ifdef __GLIBC__
  mallopt(M_MMAP_MAX, 0), mallopt(M_TRIM_THRESHOLD, INT_MAX);
#endif
}

/* True if the reader of a pipe has closed it, as in `krylocl list | head`. */
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
  setvbuf(stdout, NULL, _IOLBF, 0); /* logs are current, and complete if the program is killed */
  cli_configure_drivers();
  cli_truncation_begin();
  int rc = cli_ranks_same(&o, cli_parse(cli_commands, argc, argv, operands, &o));
  if (!rc) rc = dispatch_command(&o);
  cli_terminal_end();
  free(operands);
  if ((fflush(stdout) | ferror(stdout)) && !rc && !reader_left())
    rc = cli_fail(KCL_INPUT, "standard output cannot be written");
  return cli_ranks_end(cli_exit_code(rc));
}
