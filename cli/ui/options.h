/* The command line: the options as values, the table of them, and what a subcommand is. A
 * subcommand is one file that exports one cli_command, and a line in cli/list.def (docs/add-command.md). */
#ifndef CLI_UI_OPTIONS_H
#define CLI_UI_OPTIONS_H

#include "cli/ui/codes.h"
#include "krylocl.h"
#include <stdbool.h>
#include <stdio.h>

enum { CLI_MOST_OPTIONS = 96 };

typedef struct cli_options {
  const char *command;
  const struct cli_command *const *commands; /* all subcommands, ended by NULL */
  int argc;                                  /* the whole line */
  char **argv;
  char **files; /* [count] operands after the subcommand */
  int count;
  const char *output, *rhs, *x0, *json, *csv, *history, *plot; /* NULL: not asked for */
  const char *near_null, *coordinates, *preconds, *devices, *shares,
      *other; /* other: --compare of spmv */
  const char *solver, *precond, *parameters, *format, *formats, *device, *precision, *check,
      *check_output, *symmetry, *scale, *partition, *threads_list, *layout, *resume, *index_base,
      *resumed, *fallback, *checkpoint, *every, *figures, *markdown, *latex, *page;
  int64_t max_iter, iterations, seconds, threads, restart, nrhs, ranks, samples,
      rounds;                                           /* threads: the first */
  double least;                                         /* percent */
  double tol, atol, check_tol, time_limit, alpha, beta; /* tol < 0: not given */
  bool adjoint, verify, compare, arrays;                /* verify: --check of spmv */
  bool cache, durable, guard, mixed, no_direct, reproducible, quiet, verbose, source, force,
      profile, with_transfer, kernels, help, brief, version; /* brief: -h */
  bool given[CLI_MOST_OPTIONS]; /* is it on the command line? In the order of options.c */
} cli_options;

typedef struct cli_command {
  const char *name, *operands, *summary;
  const char *options; /* long names, separated by spaces; -h shows those before "|" */
  const char *notes;   /* of its help: one paragraph per line, indented if it begins with blanks */
  int min, max;        /* number of operands */
  bool lists;          /* takes names that krylocl list prints */
  bool generates;      /* its operand is a kind of generated system and its size */
  bool many;           /* takes lists of devices, numbers of threads, methods and precisions */
  bool reads;          /* its operands are files that must exist */
  bool ranks;          /* runs on several ranks, too */
  bool for_install;    /* what it prints is installed: `krylocl -h` leaves it out */
  int (*run)(kcl_context *ctx, const cli_options *o);
} cli_command;

/* CLI_WORD: one of its values; CLI_TEXT: these and others. */
typedef enum cli_kind { CLI_FLAG, CLI_TEXT, CLI_WORD, CLI_COUNT, CLI_COUNTS, CLI_REAL } cli_kind;

typedef struct cli_option {
  const char *name;
  char letter; /* 0: none */
  cli_kind kind;
  const char *arg; /* the argument's name in the help */
  size_t offset;   /* in cli_options */
  double min, max; /* of numbers */
  /* NULL: help, default and range are those of the library's option of this name */
  const char *help;
  /* Words it takes, "@solvers": those of the list, "=precond": those of the library's option; NULL: a file; "": a
   * number. */
  const char *values;
} cli_option;

typedef struct cli_option_text {
  char s[256];
} cli_option_text;

/* Parses the whole command line. operands [argc] is filled; o->files points into it. */
int cli_parse(const cli_command *const *commands, int argc, char **argv, char **operands,
              cli_options *o);
/* The subcommand of this name, or NULL. */
const cli_command *cli_command_named(const cli_command *const *commands, const char *name);

/* Turns -f into --formats for a subcommand that takes that: on every rank, before anything reads them. */
void cli_rename_format(const cli_command *c, cli_options *o);

/* Refuses given options that c does not take. */
int cli_options_belong(const cli_command *c, cli_options *o);
/* Option i of those that c takes, or NULL. */
const cli_option *cli_option_at(const cli_command *c, int i);
/* The help of an option of c, with its default. */
cli_option_text cli_option_help(const cli_command *c, const cli_option *e);
/* The number of the library's option of this name, for kcl_option_at; -1: there is none. */
int cli_library_option(const char *name);
/* Sets those of the library's options that stand on the command line, checked. */
void cli_library_options(const cli_options *o, kcl_options *out);
/* The files that options name as inputs; NULL where an option is not given. */
enum { CLI_INPUTS = 4 };
void cli_option_inputs(const cli_options *o, const char *files[CLI_INPUTS]);
/* The value of a CLI_TEXT or CLI_WORD; NULL: not given. */
const char *cli_option_value(const cli_options *o, const cli_option *e);
/* True if the option stands on the command line. */
bool cli_given(const cli_options *o, const char *name);

/* Prints a line "--name=value" for each option that all ranks of a run must share. For files: whether one is
 * given. */
void cli_options_print(FILE *f, const cli_options *o);
/* True if -h shows the option. */
bool cli_option_common(const cli_command *c, const cli_option *e);

#endif
