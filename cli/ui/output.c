/* Files of the program. Text is collected in memory and written as the library writes files: under another name,
 * then renamed, so that a full disk or an interrupt leaves the old file or none. */
#include "cli/ui/output.h"
#include "cli/ui/say.h"
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static bool missing; /* standard output was closed */

/* Uses a context of its own: another thread may use that of the solve. */
int cli_write(const char *path, const void *data, size_t size) {
  kcl_context *ctx = NULL;
  int rc = kcl_context_create(NULL, 0, &ctx);
  if (rc) return cli_fail(rc, "out of memory");
  rc = cli_lib(kcl_file_write(ctx, path, data, size));
  kcl_context_free(&ctx);
  return rc;
}

int cli_buffer_open(cli_buffer *b) {
  *b = (cli_buffer){0};
  b->f = open_memstream(&b->data, &b->size);
  return b->f ? 0 : cli_fail(KCL_MEMORY, "out of memory: the text of a file");
}

int cli_buffer_close(cli_buffer *b) {
  bool bad = ferror(b->f) != 0;
  bad |= fclose(b->f) != 0;
  b->f = NULL;
  return bad ? cli_fail(KCL_MEMORY, "out of memory: the text of a file") : 0;
}

void cli_buffer_free(cli_buffer *b) {
  if (b->f) fclose(b->f);
  free(b->data);
  *b = (cli_buffer){0};
}

int cli_buffer_write(cli_buffer *b, const char *path) {
  int rc = cli_buffer_close(b);
  if (!rc) rc = cli_write(path, b->data, b->size);
  cli_buffer_free(b);
  return rc;
}

/* Otherwise the next file that is opened would get the number of a closed descriptor, and messages would go into
 * it. */
void cli_open_standard(void) {
  for (int fd = 0; fd <= STDERR_FILENO; fd++) {
    if (fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
    missing = missing || fd == STDOUT_FILENO;
    if (open("/dev/null", fd ? O_WRONLY : O_RDONLY) != fd) _exit(KCL_INPUT);
  }
}

bool cli_standard_output(void) { return !missing; }

int cli_contents(const char *path, cli_buffer *b) {
  char part[65536];
  *b = (cli_buffer){0};
  FILE *f = strcmp(path, "-") ? fopen(path, "rb") : stdin;
  if (!f) return cli_fail(KCL_INPUT, "%s: cannot open: %s", path, strerror(errno));
  int rc = cli_buffer_open(b);
  for (size_t n; !rc && (n = fread(part, 1, sizeof part, f)) > 0;) fwrite(part, 1, n, b->f);
  if (!rc && ferror(f)) rc = cli_fail(KCL_INPUT, "%s: cannot be read: %s", path, strerror(errno));
  if (f != stdin) fclose(f);
  if (!rc) rc = cli_buffer_close(b);
  if (rc) cli_buffer_free(b);
  return rc;
}
