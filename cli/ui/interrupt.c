/* Signals that end a run: SIGINT (Ctrl-C), SIGTERM (a time limit: Slurm, timeout) and SIGHUP (the terminal was
 * closed). Before the iteration they end the program. During the iteration the first one is recorded: the
 * iteration stops, a comparison with a direct solution is abandoned, and all results so far are written. A second
 * Ctrl-C ends the program at once. The other signals may come twice (timeout sends two), so the second is ignored.
 * Files are renamed when they are complete, so none is half written. The exit code is 128 + the signal. */
#include "cli/ui/interrupt.h"
#include "cli/ui/terminal.h"
#include <signal.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted, computing; /* interrupted: the signal */
static bool quiet;

static void write_message(const char *text) {
  size_t n = strlen(text);
  while (n) {
    ssize_t k = write(STDERR_FILENO, text, n);
    if (k <= 0) break;
    text += k, n -= (size_t)k;
  }
}

/* SIGUSR1 is the signal that cli_launch passes on. */
static int code_of(int sig) { return sig == SIGUSR1 ? CLI_INTERRUPTED : 128 + sig; }

static void note_signal(int sig) {
  if (!computing) {
    write_message("krylocl: interrupted before the first iteration\n");
    _exit(code_of(sig));
  }
  if (sig == SIGINT) signal(sig, SIG_DFL);
  if (interrupted) return;
  interrupted = sig;
  if (!quiet)
    write_message(
        "\nkrylocl: interrupted: what is known is written; Ctrl-C a second time ends at once\n");
}

void cli_interrupt_noted(void) {
  if (!interrupted) note_signal(SIGTERM);
}

bool cli_interrupted(void) { return interrupted != 0; }

int cli_exit_code(int rc) {
  return rc == CLI_INTERRUPTED && interrupted ? code_of(interrupted) : rc;
}

/* Was SIGHUP ignored when the program began (nohup)? Libraries of compilers and of MPI install handlers of their own when they
 * are loaded, which is before main; what .preinit_array names runs before that. Neither a sanitizer nor the C library's
 * wrapper is ready then: a system call without either. */
#if defined(__linux__) && defined(__ELF__) && defined(__GLIBC__) && !defined(__mips__)
static bool ignored_at_start;

__attribute__((no_sanitize("address", "thread", "undefined"))) static void look_at_hangup(void) {
  unsigned long act[32] = {0}; /* of the kernel: the handler comes first */
  ignored_at_start = !syscall(SYS_rt_sigaction, SIGHUP, NULL, act, 8) && act[0] == 1; /* SIG_IGN */
}
__attribute__((section(".preinit_array"),
               used)) static void (*const at_start)(void) = look_at_hangup;
#else
enum { ignored_at_start = 0 };
#endif

bool cli_hangup_ignored(void) {
  struct sigaction now;
  return ignored_at_start || (!sigaction(SIGHUP, NULL, &now) && now.sa_handler == SIG_IGN);
}

/* A SIGHUP that nohup ignores stays ignored. A SIGINT that shells ignore for background jobs is handled all the
 * same. */
void cli_interrupt_heed(int sig) {
  struct sigaction act = {.sa_handler = note_signal, .sa_flags = SA_RESTART};
  if (sig == SIGHUP && cli_hangup_ignored()) act.sa_handler = SIG_IGN;
  sigaction(sig, &act, NULL);
}

void cli_interrupt_begin(const cli_options *o) {
  quiet = o->quiet;
  cli_interrupt_heed(SIGINT);
  cli_interrupt_heed(SIGTERM);
  cli_interrupt_heed(SIGHUP);
}

void cli_interrupt_computing(void) { computing = 1; }

static void *in_thread(void *self) {
  cli_beside *b = self;
  kcl_set_threads(b->threads);
  b->rc = b->run(b->self);
  __atomic_store_n(&b->done, true, __ATOMIC_RELEASE);
  return NULL;
}

/* The thread has all signals blocked, so that they go to this one. */
void cli_beside_begin(cli_beside *b, int (*run)(void *), void *self) {
  sigset_t mask, before;
  *b = (cli_beside){.run = run, .self = self, .threads = kcl_threads()};
  sigfillset(&mask);
  pthread_sigmask(SIG_BLOCK, &mask, &before);
  b->started = pthread_create(&b->thread, NULL, in_thread, b) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!b->started) b->rc = run(self);
}

int cli_beside_end(cli_beside *b) {
  if (b->started) pthread_join(b->thread, NULL);
  return b->rc;
}

void cli_leave(int code) {
  cli_idle();
  if (fflush(stdout) != 0 && !code) code = KCL_INPUT;
  _exit(cli_exit_code(code));
}

int cli_abandonable(int (*run)(void *), void *self) {
  static cli_beside b; /* outlives this call if it is abandoned */
  if (interrupted) return CLI_INTERRUPTED;
  cli_beside_begin(&b, run, self);
  while (b.started && !__atomic_load_n(&b.done, __ATOMIC_ACQUIRE)) {
    if (interrupted) {
      pthread_detach(b.thread);
      return CLI_INTERRUPTED;
    }
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
  }
  return cli_beside_end(&b);
}
