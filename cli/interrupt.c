/* SIGINT in `krylocl solve`. While nothing is computed yet it ends the program. Once the iteration runs, the first one
 * is noted: the iteration stops, a comparison with a direct solution is abandoned, and everything that is known is still
 * written. A second one ends the program at once; files are renamed when they are complete, so none is half written. */
#include "cli/cli.h"
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted, computing;
static bool quiet;

static void say(const char *text) {
  size_t n = strlen(text);
  while (n) {
    ssize_t k = write(STDERR_FILENO, text, n);
    if (k <= 0) break;
    text += k, n -= (size_t)k;
  }
}

static void note(int sig) {
  (void)sig;
  if (!computing) {
    say("krylocl: interrupted before the first iteration\n");
    _exit(CLI_INTERRUPTED);
  }
  interrupted = 1;
  if (!quiet) say("\nkrylocl: interrupted: what is known is written; a second time ends at once\n");
}

bool cli_interrupted(void) { return interrupted != 0; }

void cli_interrupt_begin(const cli_options *o) {
  quiet = o->quiet;
  struct sigaction act = {.sa_handler = note, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
  sigaction(SIGINT, &act, NULL);
  if (cli_ranks() == 1) return;
  sigaction(SIGTERM, &act, NULL), sigaction(SIGUSR1, &act, NULL); /* as launchers pass it on */
  cli_launched();
}

void cli_interrupt_computing(void) { computing = 1; }

/* ---------------------------------------------------------------- work that cannot be stopped */

typedef struct work {
  int (*run)(void *self);
  void *self;
  int threads, rc;
  volatile bool done;
} work;

static void *in_thread(void *self) {
  work *w = self;
  kcl_set_threads(w->threads);
  w->rc = w->run(w->self);
  __atomic_store_n(&w->done, true, __ATOMIC_RELEASE);
  return NULL;
}

/* The signal stays with this thread: the other inherits a mask without it. */
static bool start(pthread_t *thread, work *w) {
  sigset_t mask, before;
  sigemptyset(&mask), sigaddset(&mask, SIGINT);
  pthread_sigmask(SIG_BLOCK, &mask, &before);
  bool good = pthread_create(thread, NULL, in_thread, w) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return good;
}

void cli_leave(int code) {
  cli_idle();
  if (fflush(stdout) != 0) code = KCL_INPUT;
  _exit(code);
}

int cli_abandonable(int (*run)(void *), void *self) {
  static work w; /* outlives this call if it is abandoned */
  pthread_t thread;
  w = (work){.run = run, .self = self, .threads = kcl_threads()};
  if (interrupted) return CLI_INTERRUPTED;
  if (!start(&thread, &w)) return run(self);
  while (!__atomic_load_n(&w.done, __ATOMIC_ACQUIRE)) {
    if (interrupted) return pthread_detach(thread), CLI_INTERRUPTED;
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
  }
  pthread_join(thread, NULL);
  return w.rc;
}
