/* Signals that end a run. */
#ifndef CLI_UI_INTERRUPT_H
#define CLI_UI_INTERRUPT_H

#include "cli/ui/options.h"
#include <stdbool.h>

void cli_interrupt_begin(
    const cli_options *o);          /* from now on SIGINT, SIGTERM and SIGHUP are handled */
void cli_interrupt_heed(int sig);   /* handles one more signal in the same way */
void cli_interrupt_computing(void); /* from now on the first one is only noted */
bool cli_interrupted(void);
int cli_exit_code(int rc); /* rc; for CLI_INTERRUPTED 128 + the signal */

/* Runs it in a thread; CLI_INTERRUPTED at an interrupt: the thread goes on, with all that it uses, and
 * the program must end by cli_leave. */
int cli_abandonable(int (*run)(void *), void *self);
void cli_leave(int code);

#endif
