/* Options of a set-up from a text, a file and an environment variable, in one form:
 *
 *   solver=cg tol = 1e-10 mixed    # terms between blanks or line ends; a comment
 *
 * kcl_options_set (solver/options.c) takes each term; here its place is added to the message. */
#include "solver/solver.h"
#include <errno.h>
#include <stdio.h>

/* A text with options, and where it is from. */
typedef struct options_text {
  const char *origin; /* for messages: a file, a variable */
  const char *text;
  kcl_status status; /* of a fault in it */
  bool parameters;   /* it may set parameters of preconditioners alone */
} options_text;

/* Puts the place before the message of the context. */
static int refuse_term(const options_text *t, const char *term) {
  char message[KCL_MESSAGE];
  const char *begin = t->text;
  int line = 1;
  for (const char *s = begin; s < term; s++)
    if (*s == '\n') line++, begin = s + 1;
  snprintf(message, sizeof message, "%s", kcl_error());
  return kcl_fail(NULL, t->status, "%s:%d:%d: %s", t->origin, line, (int)(term - begin) + 1,
                  message);
}

static bool is_flag(const char *name) {
  for (int i = 0; i < kcl_option_count(); i++)
    if (kcl_option_at(i).kind == KCL_OPTION_FLAG && !strcmp(kcl_option_at(i).name, name))
      return true;
  return false;
}

/* The text before one of `ends`, and where that is. What is cut off at the capacity is longer than any name or number. */
static const char *take_word(const char *s, const char *ends, char *word, size_t capacity) {
  const size_t length = strcspn(s, ends);
  snprintf(word, capacity, "%.*s", (int)(length < capacity ? length : capacity - 1), s);
  return s + length;
}

/* Sets the option of one term, name = value, of a flag its name alone; *s moves to its end. */
static int set_term(kcl_options *o, const options_text *t, const char **s) {
  static const char blanks[] = " \t\r";
  char name[96], value[96];
  *s = take_word(*s, " \t\r\n#=", name, sizeof name);
  if (t->parameters && !strchr(name, '.'))
    return kcl_fail(NULL, KCL_USAGE, "'%s' is no parameter of a preconditioner", name);
  const char *equals = *s + strspn(*s, blanks);
  if (*equals != '=') return kcl_options_set(o, name, is_flag(name) ? "yes" : "");
  *s = take_word(equals + 1 + strspn(equals + 1, blanks), " \t\r\n#", value, sizeof value);
  return kcl_options_set(o, name, value);
}

static int set_terms(kcl_options *o, const options_text *t) {
  kcl_options changed = *o;
  for (const char *s = t->text; *(s += strspn(s, " \t\r\n"));) {
    const char *term = s;
    if (*s == '#')
      s += strcspn(s, "\n");
    else if (set_term(&changed, t, &s))
      return refuse_term(t, term);
  }
  *o = changed;
  return KCL_OK;
}

int kcl_options_parse(kcl_options *o, const char *text) {
  KCL_CALL(kcl_need(NULL, "o", o));
  KCL_CALL(kcl_need(NULL, "text", text));
  return set_terms(o, &(options_text){"options", text, KCL_USAGE, false});
}

int kcl_check_parameters(kcl_options *o) {
  kcl_options read = kcl_defaults;
  if (!memchr(o->parameters, 0, sizeof o->parameters))
    return kcl_fail(NULL, KCL_USAGE, "parameters of kcl_options is no text: it has no end");
  int rc = set_terms(&read, &(options_text){"parameters", o->parameters, KCL_USAGE, true});
  if (!rc) memcpy(o->parameters, read.parameters, sizeof read.parameters);
  return rc;
}

int kcl_options_read_variable(kcl_options *o, const char *variable) {
  const char *name = variable ? variable : "KRYLOCL_SOLVE", *text = getenv(name);
  int rc = kcl_need(NULL, "o", o);
  return rc || !text ? rc : set_terms(o, &(options_text){name, text, KCL_USAGE, false});
}

/* Reads a file up to its end into *text, which the caller frees. */
static int read_whole_text(const char *path, FILE *f, char **text) {
  size_t capacity = 0;
  const ssize_t length = getdelim(text, &capacity, 0, f); /* up to a zero byte, which no text has */
  if (!feof(f) && length >= 0)
    return kcl_fail(NULL, KCL_INPUT, "%s: not a text file: it has a zero byte", path);
  if (!feof(f)) return kcl_fail(NULL, KCL_INPUT, "%s: cannot read: %s", path, strerror(errno));
  if (length < 0 && *text) **text = 0;
  return KCL_OK;
}

int kcl_options_read(kcl_options *o, const char *path) {
  KCL_OWNED char *text = NULL;
  KCL_CALL(kcl_need(NULL, "o", o));
  KCL_CALL(kcl_need(NULL, "path", path));
  FILE *f = fopen(path, "r");
  if (!f) return kcl_fail(NULL, KCL_INPUT, "%s: cannot open: %s", path, strerror(errno));
  int rc = read_whole_text(path, f, &text);
  fclose(f);
  if (!rc) rc = set_terms(o, &(options_text){path, text ? text : "", KCL_INPUT, false});
  return rc;
}
