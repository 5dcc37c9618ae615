/* Text for users: error messages, nearest names, counts, bytes, seconds. */
#include "cli/cli.h"
#include <math.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int cli_character(const char *text) {
  const unsigned char *s = (const unsigned char *)text;
  int n = *s < 0x80                 ? 1
          : *s >= 0xc2 && *s < 0xe0 ? 2
          : *s >= 0xe0 && *s < 0xf0 ? 3
          : *s >= 0xf0 && *s < 0xf5 ? 4
                                    : 0;
  if (n == 1) return *s >= 0x20 && *s != 0x7f;
  for (int i = 1; i < n; i++)
    if ((s[i] & 0xc0) != 0x80) return 0;
  if (n == 2 && *s == 0xc2 && s[1] < 0xa0) return 0;
  if (n == 3 && ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f))) return 0;
  if (n == 3 && *s == 0xef && s[1] == 0xbf && s[2] > 0xbd) return 0;
  if (n == 4 && ((*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f))) return 0;
  return n;
}

/* Bytes of a sequence of cli_style that begins at s, else 0. */
static size_t style_at(FILE *f, const char *s) {
  static const char *const styles[] = {CLI_BOLD, CLI_GREEN, CLI_RED, CLI_YELLOW, CLI_PLAIN};
  for (size_t i = 0; *s == '\033' && i < sizeof styles / sizeof *styles; i++) {
    const char *style = cli_style(f, styles[i]);
    if (*style && !strncmp(s, style, strlen(style))) return strlen(style);
  }
  return 0;
}

void cli_put(FILE *f, const char *s, size_t size) {
  for (const char *end = s + size; s < end;) {
    size_t n = *s == '\n' || *s == '\t' ? 1 : (size_t)cli_character(s);
    if (!n) n = style_at(f, s);
    if (n)
      fwrite(s, 1, n, f);
    else
      fprintf(f, "\\x%02x", (unsigned char)*s), n = 1;
    s += n;
  }
}

static char failure[8192];

const char *cli_failure(void) { return failure; }

int cli_fail(int code, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(failure, sizeof failure, format, args);
  va_end(args);
  if (cli_rank()) return code; /* rank 0 prints */
  cli_output_begin();
  fflush(stdout); /* the report so far comes first */
  fprintf(stderr, "%skrylocl:%s ", cli_style(stderr, CLI_RED), cli_style(stderr, CLI_PLAIN));
  cli_put(stderr, failure, strlen(failure));
  fputc('\n', stderr);
  cli_output_end();
  return code;
}

int cli_lib(const kcl *ctx, int rc) { return rc ? cli_fail(rc, "%s", kcl_error(ctx)) : 0; }

FILE *cli_out(const cli_options *o) {
  const char *files[] = {o->json,         o->csv,  o->output,   o->rhs,  o->history,
                         o->check_output, o->page, o->markdown, o->latex};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    if (files[i] && strcmp(files[i], "-") == 0) return stderr;
  return stdout;
}

/* Bytes of a line up to the last blank that lets it fit the columns, or all of them. Escape sequences have no width. */
static size_t fitting(const char *line, size_t length, int columns) {
  size_t blank = 0;
  int at = 0;
  for (size_t i = 0; i < length; i++) {
    if (line[i] == ' ' && strspn(line, " ") < i) blank = i;
    if (line[i] == '\033')
      i += strcspn(line + i, "m");
    else if (++at > columns && blank)
      return blank;
  }
  return length;
}

/* On a terminal, lines that do not fit are continued below the text of their beginning. */
static void print(FILE *f, const char *text) {
  enum { INDENT = 12 };
  const int columns = isatty(fileno(f)) ? cli_columns(f) : INT_MAX;
  for (const char *s = text, *end; *s; s = end) {
    end = s + strcspn(s, "\n") + 1;
    size_t left = (size_t)(end - s), n = fitting(s, left - 1, columns);
    for (int narrow = columns - INDENT; n < left - 1; n = fitting(s, left - 1, narrow)) {
      int shown = (int)n;
      for (; shown && s[shown - 1] == ' '; shown--) continue;
      cli_put(f, s, (size_t)shown), fprintf(f, "\n%*s", INDENT, "");
      for (; s[n] == ' '; n++) continue;
      s += n, left -= n;
    }
    cli_put(f, s, left);
  }
}

/* Lines are printed when they are complete: the status line would overwrite parts of them. */
void cli_say(const cli_options *o, const char *format, ...) {
  static char *text;
  static size_t size;
  static FILE *to; /* the memory, as long as a line is incomplete */
  va_list args;
  if (o->quiet || cli_rank()) return;
  if (!to) to = open_memstream(&text, &size);
  va_start(args, format);
  vfprintf(to ? to : cli_out(o), format, args);
  va_end(args);
  if (!to || fflush(to) || !size || text[size - 1] != '\n') return;
  fclose(to), to = NULL;
  cli_output_begin();
  print(cli_out(o), text);
  cli_output_end();
  free(text);
}

int cli_unknown(const char *kind, const char *name, const char *const *names, int count) {
  const char *best = kcl_nearest(name, names, count);
  char list[2048] = "";
  for (int i = 0, n = 0; i < count && n < (int)sizeof list - 40; i++)
    n += sprintf(list + n, "%s%s", i ? " " : "", names[i]);
  cli_fail(KCL_USAGE, "unknown %s '%s'%s%s%s", kind, name, best ? ", did you mean '" : "",
           best ? best : "", best ? "'?" : "");
  cli_wrap(stderr, fprintf(stderr, "  there %s:", count == 1 ? "is" : "are"), 4, list,
           (int)strlen(list));
  return KCL_USAGE;
}

int cli_known(const char *kind, const char *name, kcl_registry which, const char *const *extra) {
  const char *names[64];
  int count = 0;
  for (; extra && *extra; extra++) names[count++] = *extra;
  for (int i = 0; i < kcl_list_size(which) && count < 64; i++)
    names[count++] = kcl_list(which, i).name;
  for (int i = 0; i < count; i++)
    if (strcmp(names[i], name) == 0) return 0;
  return cli_unknown(kind, name, names, count);
}

cli_text cli_count(int64_t n) {
  char digits[24];
  cli_text t;
  int len = snprintf(digits, sizeof digits, "%" PRId64, n), q = 0;
  for (int i = 0; i < len; i++) {
    t.s[q++] = digits[i];
    if (digits[i] != '-' && i + 1 < len && (len - i - 1) % 3 == 0) t.s[q++] = ',';
  }
  t.s[q] = 0;
  return t;
}

cli_text cli_whole(double v) {
  cli_text t;
  if (fabs(v) < 9e15) return cli_count((int64_t)v);
  snprintf(t.s, sizeof t.s, "%.3g", v);
  return t;
}

void cli_zeros(char *text, size_t size, const char *what, int64_t count, int64_t first) {
  const bool one = count == 1;
  if (first >= 0 && one)
    snprintf(text, size, "%s %s of A is zero", what, cli_count(first + 1).s);
  else
    snprintf(text, size, "%s %s%s of A %s zero", cli_count(count).s, what, one ? "" : "s",
             one ? "is" : "are");
  const size_t used = strlen(text);
  if (first >= 0 && !one)
    snprintf(text + used, size - used, ", the first is %s %s", what, cli_count(first + 1).s);
}

cli_text cli_bytes(double bytes) {
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
  cli_text t;
  int u = 0;
  for (; bytes >= 999.5 && u < 4; u++) bytes /= 1000;
  snprintf(t.s, sizeof t.s, u == 0 || bytes >= 99.5 ? "%.0f %s" : "%.1f %s", bytes, units[u]);
  return t;
}

cli_text cli_seconds(double s) {
  cli_text t;
  if (s < 0.9995e-3)
    snprintf(t.s, sizeof t.s, "%.3g us", s * 1e6);
  else if (s < 0.9995)
    snprintf(t.s, sizeof t.s, "%.3g ms", s * 1e3);
  else if (s < 99.5)
    snprintf(t.s, sizeof t.s, "%.3g s", s);
  else if (s < 5940)
    snprintf(t.s, sizeof t.s, "%.0f min %02.0f s", floor(s / 60), fmod(s, 60));
  else
    snprintf(t.s, sizeof t.s, "%.0f h %02.0f min", floor(s / 3600), floor(fmod(s, 3600) / 60));
  return t;
}

cli_text cli_stream(const kcl_stream *s) {
  cli_text t;
  snprintf(t.s, sizeof t.s, "%.1f GB/s (%.1f to %.1f)", s->rate * 1e-9, s->low * 1e-9,
           s->high * 1e-9);
  return t;
}

void cli_say_stream(const cli_options *o, double rate, const kcl_stream *s) {
  if (!(s->rate > 0)) return;
  cli_say(o, " = %.0f %% of the stream rate, %.1f GB/s", 100 * rate / s->rate, s->rate * 1e-9);
  if (rate > s->rate) cli_say(o, " (part of the data stays in cache");
  if (rate > s->rate && s->cache_rate > 0) cli_say(o, ", %.1f GB/s", s->cache_rate * 1e-9);
  if (rate > s->rate) cli_say(o, ")");
}

cli_text cli_age(const kcl_stream *s) {
  const double age = difftime(time(NULL), (time_t)s->date), days = floor(age / 86400);
  cli_text t = {"now"};
  if (days >= 1)
    snprintf(t.s, sizeof t.s, "%.0f day%s ago", fmin(days, 1e6), days > 1 ? "s" : "");
  else if (age >= 3600)
    snprintf(t.s, sizeof t.s, "%.0f h ago", floor(age / 3600));
  else if (age >= 60)
    snprintf(t.s, sizeof t.s, "%.0f min ago", floor(age / 60));
  return t;
}

const char *cli_type_words(kcl_type t) {
  return (const char *[]){"single precision", "double precision", "complex single precision",
                          "complex double precision"}[t];
}

const char *cli_base(const char *path) {
  const char *slash = strrchr(path, '/');
  if (strcmp(path, "-") == 0) return "standard input";
  return slash ? slash + 1 : path;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double cli_median(double *v, int n) {
  qsort(v, (size_t)n, sizeof *v, ascending);
  return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

double cli_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
