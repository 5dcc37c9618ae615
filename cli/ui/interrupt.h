/* Signals that end a run. */
#ifndef CLI_UI_INTERRUPT_H
#define CLI_UI_INTERRUPT_H

#include "cli/ui/options.h"

/* Handles SIGINT, SIGTERM and SIGHUP from now on. */
void cli_interrupt_begin(const cli_options *o);
/* Handles one more signal in the same way. */
void cli_interrupt_heed(int sig);
/* The first signal no longer ends the program from now on: it is recorded. */
void cli_interrupt_computing(void);
/* Did nohup start the program, which goes on after a hangup then? */
bool cli_hangup_ignored(void);
/* A rank was interrupted: as if this one had been. */
void cli_interrupt_noted(void);
/* True after a signal. */
bool cli_interrupted(void);
/* rc, or 128 + the signal for CLI_INTERRUPTED. */
int cli_exit_code(int rc);

/* Runs run(self) in a thread. Returns CLI_INTERRUPTED at an interrupt: the thread continues with all that it uses,
 * and the program must end by cli_leave. */
int cli_abandonable(int (*run)(void *), void *self);
/* Ends the program at once, whatever other threads do. */
void cli_leave(int code);

#endif
