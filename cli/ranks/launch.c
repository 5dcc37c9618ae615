/* krylocl solve --devices: one rank per device. The program starts itself again under mpiexec and waits. Rank 0
 * sends it SIGUSR1, whose sender is the process id of rank 0. A signal (../ui/interrupt.c) reaches this process
 * alone, which passes it on to rank 0; a later SIGUSR1, which asks for a checkpoint, as SIGUSR2. Rank 0 ends the solve
 * on all ranks and writes the results so far. The exit code is that of a single process. */
#include "cli/ranks/launch.h"
#include "cli/ranks/shares.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/say.h"
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const PARENT = "KRYLOCL_PARENT";    /* in the environment of ranks */
static volatile sig_atomic_t launcher, rank_0, passed; /* passed: the first signal */
static volatile sig_atomic_t saves;                    /* with --checkpoint */

static void pass_on(int sig) {
  if (!passed) passed = sig;
  if (rank_0) kill((pid_t)rank_0, SIGUSR1);
  if (!rank_0 && launcher) kill((pid_t)launcher, sig);
}

static void note_rank_0(int sig, siginfo_t *info, void *unused) {
  (void)sig, (void)unused;
  if (!rank_0)
    rank_0 = info->si_pid;
  else if (saves)
    kill((pid_t)rank_0, SIGUSR2);
}

void cli_launched(bool checkpoints) {
  const char *parent = getenv(PARENT);
  const int pid = parent ? atoi(parent) : 0;
  if (pid > 1 || !checkpoints) cli_interrupt_heed(SIGUSR1); /* as launchers pass it on */
  if (pid > 1) kill((pid_t)pid, SIGUSR1);
}

static void handle_signals(void) {
  struct sigaction act = {.sa_handler = pass_on}, from = {.sa_flags = SA_SIGINFO};
  char pid[32];
  from.sa_sigaction = note_rank_0;
  sigaction(SIGINT, &act, NULL);
  sigaction(SIGTERM, &act, NULL);
  sigaction(SIGUSR1, &from, NULL);
  if (!cli_hangup_ignored()) sigaction(SIGHUP, &act, NULL);
  snprintf(pid, sizeof pid, "%ld", (long)getpid());
  setenv(PARENT, pid, 1);
}

/* Variables of Open MPI 4 and 5 that the user has not set: ranks are not bound to one processor each; there may be more ranks than
 * processors, as many as devices were named; messages are left to the ranks; and root, as in a container, may start ranks as
 * well as this program. */
static void set_launcher(void) {
  static const char *const list[][2] = {{"OMPI_MCA_hwloc_base_binding_policy", "none"},
                                        {"PRTE_MCA_hwloc_default_binding_policy", "none"},
                                        {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
                                        {"PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"},
                                        {"OMPI_MCA_orte_execute_quiet", "1"},
                                        {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                        {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                                        {"PRTE_ALLOW_RUN_AS_ROOT", "1"},
                                        {"PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) setenv(list[i][0], list[i][1], 0);
}

/* Executes the launcher in a process group of its own, which the terminal does not interrupt. */
static void exec_launcher(char **line) {
  setpgid(0, 0);
  set_launcher();
  execvp(line[0], line);
  _exit(errno == ENOENT ? 127 : 126);
}

/* Turns the exit code of mpiexec into the program's. mpiexec returns 1 if it fails itself; the program returns 1
 * only after a solve, when rank 0 has sent its signal. */
static int check_exit(int code) {
  if (code == 127)
    return cli_fail(KCL_DEVICE, "--devices starts ranks by mpiexec, and there is none on PATH "
                                "(openmpi-bin or mpich)");
  if (code == 126) return cli_fail(KCL_DEVICE, "mpiexec cannot be run");
  if (code == 1 && !rank_0)
    return cli_fail(KCL_DEVICE, "mpiexec did not start the ranks: `mpiexec -n 2 true` says why");
  if (code == CLI_INTERRUPTED && passed) return 128 + passed;
  if (code > KCL_CHANGED && code != CLI_INTERRUPTED && !passed)
    return cli_fail(KCL_DEVICE, "a rank ended too early (exit code %d of mpiexec)", code);
  return code;
}

static int wait_for_launcher(pid_t pid) {
  int status;
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return cli_fail(KCL_DEVICE, "mpiexec: %s", strerror(errno));
  if (WIFSIGNALED(status))
    return cli_fail(KCL_DEVICE, "mpiexec was ended by signal %d", WTERMSIG(status));
  return check_exit(WEXITSTATUS(status));
}

static void say_line(char *const *line, int from) {
  fprintf(stderr, "ranks      ");
  for (int i = 0; line[i]; i++) {
    const char *word = i == from ? "krylocl" : line[i];
    fputc(' ', stderr), cli_put(stderr, word, strlen(word));
  }
  fputc('\n', stderr);
}

int cli_launch(const cli_options *o) {
  enum { BEFORE = 4 };
  char self[4096], count[16];
  const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  CLI_OWNED char **line = calloc((size_t)o->argc + BEFORE, sizeof *line);
  if (!line) return cli_fail(KCL_MEMORY, "out of memory");
  snprintf(count, sizeof count, "%d", cli_device_count(o));
  self[n > 0 ? n : 0] = 0;
  line[0] = "mpiexec";
  line[1] = "-n";
  line[2] = count;
  line[3] = n > 0 ? self : o->argv[0];
  for (int i = 1; i < o->argc; i++) line[BEFORE + i - 1] = o->argv[i];
  if (!o->quiet) say_line(line, BEFORE - 1);
  fflush(stdout), fflush(stderr);
  saves = o->checkpoint != NULL;
  handle_signals();
  const pid_t pid = fork();
  if (pid == 0) exec_launcher(line);
  launcher = pid;
  return pid < 0 ? cli_fail(KCL_MEMORY, "fork: %s", strerror(errno)) : wait_for_launcher(pid);
}
