/* Help texts, and the lists of names that options take. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "cli/ui/options.h"
#include "krylocl/explain.h"

typedef struct cli_names { /* a list that krylocl list prints */
  const char *word, *title;
  kcl_registry which;
} cli_names;
extern const cli_names cli_lists[]; /* ended by word NULL */

/* Prints the help of c, or of the program with its subcommands if c is NULL. everything: --help, else -h. */
int cli_help(const cli_command *c, const cli_command *const *commands, bool everything);
/* Prints the names of a list with their summaries. */
void cli_print_list(const cli_names *l);
void cli_print_parameters(void);
const char *cli_about(void), *cli_files(void), *cli_exits(void);

#endif
