/* Comma-separated values (RFC 4180), numbers as %.17g. Names of files are always text: control characters are
 * printed as by cli_put, and a text that a spreadsheet would take for a formula gets an apostrophe in front. */
#include "cli/ui/csv.h"
#include "cli/ui/say.h"
#include <math.h>

static bool is_formula(const char *v) {
  char *end;
  if (!*v || !strchr("=+-@", *v)) return false;
  strtod(v, &end);
  return *end || end == v;
}

void cli_csv_text(FILE *f, const char *v) {
  const char *mark = is_formula(v) ? "'" : "";
  if (!strpbrk(v, ",\"\n\r")) {
    fputs(mark, f), cli_put(f, v, strlen(v));
    return;
  }
  fprintf(f, "\"%s", mark);
  for (size_t n; *v; v += n) {
    n = strcspn(v, "\"");
    cli_put(f, v, n);
    if (v[n]) fputs("\"\"", f), n++;
  }
  fputc('"', f);
}

void cli_csv_number(FILE *f, double v) {
  fputc(',', f);
  if (isfinite(v)) fprintf(f, "%.17g", v); /* else an empty field */
}
