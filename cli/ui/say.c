/* Messages and the report: errors with the nearest names, lines that are printed when they are complete and folded at the
 * width of the terminal. */
#include "cli/ui/say.h"
#include "cli/ui/terminal.h"
#include "cli/ui/text.h"
#include <limits.h>
#include <stdarg.h>

/* Length of the sequence of cli_style at s; 0: there is none. */
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
  if (cli_silent()) return code;
  cli_output_begin();
  fflush(stdout); /* the report so far comes first */
  fprintf(stderr, "%skrylocl:%s ", cli_style(stderr, CLI_RED), cli_style(stderr, CLI_PLAIN));
  cli_put(stderr, failure, strlen(failure));
  fputc('\n', stderr);
  cli_output_end();
  return code;
}

int cli_lib(int rc) { return rc ? cli_fail(rc, "%s", kcl_error()) : 0; }

FILE *cli_out(const cli_options *o) {
  const char *files[] = {o->json,         o->csv,  o->output,   o->rhs,  o->history,
                         o->check_output, o->page, o->markdown, o->latex};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    if (files[i] && strcmp(files[i], "-") == 0) return stderr;
  return stdout;
}

/* Number of bytes of a line that fit the columns, up to a blank, or its whole length. Escape sequences have no
 * width. */
static size_t fitting_bytes(const char *line, size_t length, int columns) {
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

/* Prints lines. On a terminal, lines that do not fit are continued with an indent. */
static void print_folded(FILE *f, const char *text) {
  enum { INDENT = 12 };
  const int columns = cli_is_terminal(f) ? cli_columns(f) : INT_MAX;
  for (const char *s = text, *end; *s; s = end) {
    end = s + strcspn(s, "\n") + 1;
    size_t left = (size_t)(end - s), n = fitting_bytes(s, left - 1, columns);
    for (int narrow = columns - INDENT; n < left - 1; n = fitting_bytes(s, left - 1, narrow)) {
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
  if (o->quiet || cli_silent()) return;
  if (!to) to = open_memstream(&text, &size);
  va_start(args, format);
  vfprintf(to ? to : cli_out(o), format, args);
  va_end(args);
  if (!to || fflush(to) || !size || text[size - 1] != '\n') return;
  fclose(to), to = NULL;
  cli_output_begin();
  print_folded(cli_out(o), text);
  cli_output_end();
  free(text);
}

/* The terminal's width, at least 50 and at most 100. */
static int text_width(FILE *f) {
  int n = cli_columns(f);
  return n < 50 ? 50 : n > 100 ? 100 : n;
}

void cli_wrap(FILE *f, int at, int indent, const char *text, int length) {
  const int most = text_width(f);
  bool blank = at > indent; /* before the next word */
  for (const char *s = text, *end = text + length; s < end; blank = true) {
    int n = (int)strcspn(s, " \n");
    if (n > end - s) n = (int)(end - s);
    if (blank && at + 1 + n > most) {
      fprintf(f, "\n%*s", indent, "");
      at = indent;
      blank = false;
    }
    at += fprintf(f, "%s%.*s", blank ? " " : "", n, s);
    s += n;
    s += strspn(s, " ");
  }
  fputc('\n', f);
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

void cli_say_stream(const cli_options *o, double rate, const kcl_stream *s) {
  if (!(s->rate > 0)) return;
  cli_say(o, " = %.0f %% of the stream rate, %.1f GB/s", 100 * rate / s->rate, s->rate * 1e-9);
  if (rate > s->rate) cli_say(o, " (part of the data stays in cache");
  if (rate > s->rate && s->cache_rate > 0) cli_say(o, ", %.1f GB/s", s->cache_rate * 1e-9);
  if (rate > s->rate) cli_say(o, ")");
}
