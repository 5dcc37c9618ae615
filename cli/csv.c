/* Comma-separated values (RFC 4180), numbers as %.17g. */
#include "cli/cli.h"
#include <errno.h>
#include <math.h>
#include <string.h>

int csv_open(const char *path, FILE **f) {
  *f = strcmp(path, "-") ? fopen(path, "w") : stdout;
  return *f ? 0 : cli_fail(KCL_INPUT, "%s cannot be written: %s", path, strerror(errno));
}

int csv_close(const char *path, FILE **f) {
  bool bad = fflush(*f) != 0 || ferror(*f);
  if (*f != stdout) bad |= fclose(*f) != 0;
  *f = NULL;
  return bad ? cli_fail(KCL_INPUT, "%s cannot be written: %s", path, strerror(errno)) : 0;
}

void csv_text(FILE *f, const char *v) {
  if (!strpbrk(v, ",\"\n\r")) {
    fputs(v, f);
    return;
  }
  fputc('"', f);
  for (; *v; v++) {
    if (*v == '"') fputc('"', f);
    fputc(*v, f);
  }
  fputc('"', f);
}

void csv_number(FILE *f, double v) {
  fputc(',', f);
  if (isfinite(v)) fprintf(f, "%.17g", v); /* else an empty field */
}
