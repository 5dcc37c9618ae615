/* Runs a program that draws. Its input and the picture pass through pipes, so the picture is written as every file
 * is. */
#include "cli/draw/gnuplot.h"
#include "cli/ui/say.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Executes the program in the child. It ignores interrupts, which krylocl handles: the picture is finished. */
static void exec_program(const char *const *program, int in, int out) {
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  signal(SIGPIPE, SIG_DFL);
  setenv("LC_ALL", "C.UTF-8", 1); /* names in UTF-8, whatever the locale */
  if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0)
    execvp(program[0], (char *const *)program);
  _exit(CLI_NO_PROGRAM);
}

static void send_all(int to, const char *p, size_t size) {
  while (size) {
    ssize_t n = write(to, p, size);
    if (n < 0 && errno != EINTR) break;
    if (n > 0) p += n, size -= (size_t)n;
  }
  close(to);
}

static void receive_all(int from, FILE *f) {
  char part[8192];
  for (ssize_t n; (n = read(from, part, sizeof part)) > 0 || (n < 0 && errno == EINTR);)
    if (n > 0) fwrite(part, 1, (size_t)n, f);
  close(from);
}

/* The program must read all of its input before it writes. */
int cli_filter(const char *const *program, const cli_buffer *commands, FILE *picture) {
  int in[2], out[2], status = -1;
  if (pipe(in)) return -1;
  if (pipe(out)) {
    close(in[0]);
    close(in[1]);
    return -1;
  }
  for (int i = 0; i < 2; i++) fcntl(in[i], F_SETFD, FD_CLOEXEC), fcntl(out[i], F_SETFD, FD_CLOEXEC);
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) exec_program(program, in[0], out[1]);
  close(in[0]), close(out[1]);
  if (child > 0)
    send_all(in[1], commands->data, commands->size);
  else
    close(in[1]);
  receive_all(out[0], picture);
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int cli_gnuplot(cli_buffer *commands, const char *path) {
  cli_buffer picture = {0};
  static const char *const program[] = {"gnuplot", NULL};
  int rc, code;
  CLI_TRY(cli_buffer_close(commands));
  CLI_TRY(cli_buffer_open(&picture));
  code = cli_filter(program, commands, picture.f);
  if (code == CLI_NO_PROGRAM)
    rc = cli_fail(KCL_INPUT, "%s was not drawn: gnuplot is not installed (.svg needs none)", path);
  else if (code)
    rc = cli_fail(KCL_INPUT, "gnuplot failed, so %s was not drawn", path);
  else
    rc = cli_buffer_write(&picture, path);
done:
  cli_buffer_free(commands), cli_buffer_free(&picture);
  return rc;
}
