/* Width, colours and the status line of the terminal. */
#ifndef CLI_UI_TERMINAL_H
#define CLI_UI_TERMINAL_H

#include "cli/ui/say.h"

/* Does f lead to a terminal? Open MPI gives ranks a pseudo-terminal as standard output wherever it goes: they ask for
 * that of their launcher. */
bool cli_is_terminal(FILE *f);
/* Bold and colours, or "" where f is no terminal that has them or NO_COLOR is set. */
#define CLI_BOLD "\033[1m"
#define CLI_GREEN "\033[32m"
#define CLI_RED "\033[1;31m"
#define CLI_YELLOW "\033[33m"
#define CLI_PLAIN "\033[0m"
/* The sequence code, or "" if f is no terminal that supports it or NO_COLOR is set. */
const char *cli_style(FILE *f, const char *code);
/* Ends all messages, reports and status lines of this process: rank 0 prints. */
void cli_silence(void);
/* True after cli_silence. */
bool cli_silent(void);
/* Width of the terminal: its own, else $COLUMNS, else 80. */
int cli_columns(FILE *f);

enum { CLI_PARTS = 5 };

typedef struct cli_status { /* the status line, on standard error */
  char part[CLI_PARTS][96]; /* the most important first; the last are left out if they do not fit */
  bool timed;               /* the seconds that part 0 has lasted are added to it */
} cli_status;
/* True if the status line is shown: on a terminal, or with --verbose. */
bool cli_shows(const cli_options *o);
void cli_show(const cli_options *o, const cli_status *s);
/* Shows an activity with the seconds that it has lasted. */
void cli_busy(const cli_options *o, const char *format, ...) CLI_PRINTF(2, 3);
/* Shows activities of the library; for kcl_context_watch. */
void cli_watch(void *o, const kcl_activity *a);
/* Removes the status line. */
void cli_idle(void);

/* Called before all other output: removes the status line and locks it. */
void cli_output_begin(void);
/* Called after all other output. */
void cli_output_end(void);
/* Called before the program ends. */
void cli_terminal_end(void);

#endif
