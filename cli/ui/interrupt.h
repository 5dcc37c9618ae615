/* Signals that end a run, and work beside the main thread, to which they go. */
#ifndef CLI_UI_INTERRUPT_H
#define CLI_UI_INTERRUPT_H

#include "cli/ui/options.h"
#include <pthread.h>

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

/* run(self) in a thread, until its end is awaited: its exit code. Where no thread can be created it runs before the first call returns. */
typedef struct cli_beside {
  int (*run)(void *self);
  void *self;
  int threads, rc;
  volatile bool done;
  bool started;
  pthread_t thread;
} cli_beside;
void cli_beside_begin(cli_beside *b, int (*run)(void *), void *self);
int cli_beside_end(cli_beside *b);

/* Runs run(self) in a thread. Returns CLI_INTERRUPTED at an interrupt: the thread continues with all that it uses,
 * and the program must end by cli_leave. */
int cli_abandonable(int (*run)(void *), void *self);
/* Ends the program at once, whatever other threads do. */
void cli_leave(int code);

#endif
