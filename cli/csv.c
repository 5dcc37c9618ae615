/* Comma-separated values (RFC 4180), numbers as %.17g. */
#include "cli/cli.h"
#include <math.h>
#include <string.h>

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
