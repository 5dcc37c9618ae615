/* Width, colours and the status line of the terminal. */
#ifndef CLI_UI_TERMINAL_H
#define CLI_UI_TERMINAL_H

#include "cli/ui/options.h"
#include "cli/ui/say.h"
#include "krylocl.h"
#include <stdio.h>

/* Bold and colours, or "" where f is no terminal that has them or NO_COLOR is set. */
#define CLI_BOLD "\033[1m"
#define CLI_GREEN "\033[32m"
#define CLI_RED "\033[1;31m"
#define CLI_YELLOW "\033[33m"
#define CLI_PLAIN "\033[0m"
const char *cli_style(FILE *f, const char *code);
void cli_silence(void); /* from now on no messages, report and status line: rank 0 prints */
bool cli_silent(void);
int cli_columns(FILE *f); /* width of the terminal: its own, else $COLUMNS, else 80 */

enum { CLI_PARTS = 5 };

typedef struct cli_status { /* the status line, on standard error */
  char part[CLI_PARTS][96]; /* the most important first; the last are left out if they do not fit */
  bool timed;               /* the seconds that part 0 has lasted are added to it */
} cli_status;
bool cli_shows(const cli_options *o); /* a terminal, or --verbose */
void cli_show(const cli_options *o, const cli_status *s);
void cli_busy(const cli_options *o, const char *format, ...) CLI_PRINTF(2, 3); /* a step, timed */
void cli_watch(void *o, const kcl_activity *a); /* steps of the library, for kcl_watch */
void cli_idle(void);                            /* removes the status line */

/* Around every other output. */
void cli_output_begin(void);
void cli_output_end(void);
void cli_terminal_end(void); /* before the program ends */

#endif
