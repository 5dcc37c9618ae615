/* Options of a set-up by name and text: one table, from which programs list, describe and set them. Words are constant
 * texts of this table and of the registries, so a kcl_options that was set owns nothing. */
#include "core/base/number.h"
#include "solver/solver.h"

const kcl_options kcl_defaults = {.solver = "auto",
                                  .precond = "auto",
                                  .format = "auto",
                                  .precision = KCL_D,
                                  .tol = -1,
                                  .atol = 0};

/* All zero, as by memset, means nothing was asked for: in float with no tolerance nothing could be. */
kcl_options kcl_options_of(const kcl_options *o) {
  static const kcl_options zero;
  return o && memcmp(o, &zero, sizeof zero) != 0 ? *o : kcl_defaults;
}

/* The type of a field of kcl_options. */
typedef enum option_field {
  FIELD_NAME, /* a word, or a name of a registry; NULL is the first word */
  FIELD_ENUM, /* the number of a word */
  FIELD_BOOL,
  FIELD_INT,
  FIELD_INT64,
  FIELD_DOUBLE
} option_field;

enum { OWN_WORDS = 4, NO_NAMES = -1 };

typedef struct option_row {
  kcl_option option;
  option_field field;
  size_t offset;
  int registry; /* of the names that follow the words; NO_NAMES: none do */
  const char *words[OWN_WORDS + 1];
} option_row;

/* The field that has the option, and the words that it takes; NULL: a number. */
#define NAME_IN(field, registry, ...)                                                              \
  FIELD_NAME, offsetof(kcl_options, field), registry, { __VA_ARGS__ }
#define VALUE_IN(type, field, ...)                                                                 \
  type, offsetof(kcl_options, field), NO_NAMES, { __VA_ARGS__ }
static const option_row option_table[] = {
    {{"solver", "auto",
      "method; auto: those that fit, one after another; direct: a factorisation by SuiteSparse",
      KCL_OPTION_WORD, 0, 0},
     NAME_IN(solver, KCL_SOLVERS, "auto", "direct")},
    {{"precond", "auto", "preconditioner", KCL_OPTION_WORD, 0, 0},
     NAME_IN(precond, KCL_PRECONDS, "auto")},
    {{"format", "auto", "storage format, or auto, measure, model", KCL_OPTION_WORD, 0, 0},
     NAME_IN(format, KCL_FORMATS, "auto", "measure", "model")},
    {{"precision", "d", "float, double, complex float, complex double", KCL_OPTION_WORD, 0, 0},
     VALUE_IN(FIELD_ENUM, precision, "s", "d", "c", "z")},
    {{"symmetry", "rounding", "A = A^H up to rounding, exact, or assume: without looking",
      KCL_OPTION_WORD, 0, 0},
     VALUE_IN(FIELD_ENUM, symmetry, "rounding", "exact", "assume")},
    {{"scale", "auto", "rows and columns by powers of two: auto, where rows differ much, or none",
      KCL_OPTION_WORD, 0, 0},
     VALUE_IN(FIELD_ENUM, scale, "auto", "none")},
    {{"no-direct", "no", "solver auto: no direct solution, even where no method converges",
      KCL_OPTION_FLAG, 0, 0},
     VALUE_IN(FIELD_BOOL, no_direct, "no", "yes")},
    {{"mixed", "no", "mixed precision: iterate in float, correct in double (precision d or z)",
      KCL_OPTION_FLAG, 0, 0},
     VALUE_IN(FIELD_BOOL, mixed, "no", "yes")},
    {{"guard", "no", "memory errors during a solve are found and undone", KCL_OPTION_FLAG, 0, 0},
     VALUE_IN(FIELD_BOOL, guard, "no", "yes")},
    {{"fallback", "none",
      "where the OpenCL device is lost during a solve: cpu continues there from the last x that "
      "was read back",
      KCL_OPTION_WORD, 0, 0},
     VALUE_IN(FIELD_ENUM, fallback, "none", "cpu")},
    {{"tol", "1e-8; 1e-5 for s and c", "relative residual to reach", KCL_OPTION_REAL, 0, 1e300},
     VALUE_IN(FIELD_DOUBLE, tol, NULL)},
    {{"atol", "0", "or absolute residual norm to reach", KCL_OPTION_REAL, 0, 1e300},
     VALUE_IN(FIELD_DOUBLE, atol, NULL)},
    {{"max-iter", "10 per row, 10,000 to 100,000", "iteration limit", KCL_OPTION_WHOLE, 1, 1e15},
     VALUE_IN(FIELD_INT64, max_iter, NULL)},
    {{"restart", "20",
      "cycle length of gmres, 1 to 1000, on OpenCL devices 50; ignored by other methods",
      KCL_OPTION_WHOLE, 1, KCL_MAX_RESTART},
     VALUE_IN(FIELD_INT, restart, NULL)},
    {{"nrhs", "1", "right-hand sides at once, 1 to 8", KCL_OPTION_WHOLE, 1, KCL_MAX_NRHS},
     VALUE_IN(FIELD_INT, nrhs, NULL)},
};
enum { OPTIONS = sizeof option_table / sizeof *option_table };

/* The parameters of preconditioners follow the rows of the table. */
int kcl_option_count(void) {
  int count = OPTIONS;
  while (kcl_parameter_at(count - OPTIONS)) count++;
  return count;
}

kcl_option kcl_option_at(int i) {
  if (i >= 0 && i < OPTIONS) return option_table[i].option;
  const kcl_option *p = kcl_parameter_at(i - OPTIONS);
  return p ? *p : (kcl_option){0};
}

const char *kcl_option_word(int i, int k) {
  if (i < 0 || i >= OPTIONS || k < 0) return NULL;
  const option_row *r = &option_table[i];
  int own = 0;
  while (own < k && r->words[own]) own++;
  if (r->words[own] || r->registry == NO_NAMES) return r->words[own];
  return kcl_list((kcl_registry)r->registry, k - own).name;
}

static const char *option_name(int i) { return kcl_option_at(i).name; }

/* ---------------------------------------------------------------- values */

static int refuse_option_word(int i, const char *value) {
  enum { MOST = 128 };
  const char *words[MOST];
  int count = 0;
  while (count < MOST - 1 && (words[count] = kcl_option_word(i, count))) count++;
  words[count++] = "default";
  return kcl_refuse_name(NULL, option_name(i), value, words, count);
}

static int set_word(int i, const char *value, void *field) {
  const char *word;
  int k = 0;
  while ((word = kcl_option_word(i, k)) && strcmp(word, value)) k++;
  if (!word) return refuse_option_word(i, value);
  switch (option_table[i].field) {
  case FIELD_NAME: *(const char **)field = word; break;
  case FIELD_BOOL: *(bool *)field = k; break;
  default: *(int *)field = k;
  }
  return KCL_OK;
}

static int read_in_range(const kcl_option *o, const char *value, double *v) {
  const bool whole = o->kind == KCL_OPTION_WHOLE;
  if (kcl_read_number(value, v) && *v >= o->min && *v <= o->max && !(whole && *v != floor(*v)))
    return KCL_OK;
  return kcl_fail(NULL, KCL_USAGE,
                  "%s is '%s', it must be a %snumber from %.15g to %.15g, or default", o->name,
                  value, whole ? "whole " : "", o->min, o->max);
}

static int set_number(int i, const char *value, void *field) {
  const kcl_option o = kcl_option_at(i);
  double v;
  KCL_CALL(read_in_range(&o, value, &v));
  switch (option_table[i].field) {
  case FIELD_INT: *(int *)field = (int)v; break;
  case FIELD_INT64: *(int64_t *)field = (int64_t)v; break;
  default: *(double *)field = v;
  }
  return KCL_OK;
}

static void set_default(const option_row *r, kcl_options *o) {
  static const size_t sizes[] = {[FIELD_NAME] = sizeof(char *),   [FIELD_ENUM] = sizeof(int),
                                 [FIELD_BOOL] = sizeof(bool),     [FIELD_INT] = sizeof(int),
                                 [FIELD_INT64] = sizeof(int64_t), [FIELD_DOUBLE] = sizeof(double)};
  memcpy((char *)o + r->offset, (const char *)&kcl_defaults + r->offset, sizes[r->field]);
}

static bool is_default(const kcl_option *p, const char *value) {
  double v, standard;
  return !strcmp(value, "default") ||
         (kcl_read_number(value, &v) && kcl_read_number(p->default_text, &standard) &&
          v == standard);
}

/* A parameter at its default is no term of the text. */
static int set_parameter(const kcl_option *p, const char *value, kcl_options *o) {
  double v;
  const bool unset = is_default(p, value);
  int rc = unset ? KCL_OK : read_in_range(p, value, &v);
  if (rc || kcl_parameters_put(o->parameters, p->name, unset ? "" : value)) return rc;
  return kcl_fail(NULL, KCL_USAGE, "%s: the parameters of kcl_options take more than %d bytes",
                  p->name, KCL_PARAMETERS);
}

static int set_row(int i, const char *value, kcl_options *o) {
  const option_row *r = &option_table[i];
  void *field = (char *)o + r->offset;
  if (strcmp(value, "default"))
    return kcl_option_word(i, 0) ? set_word(i, value, field) : set_number(i, value, field);
  set_default(r, o);
  return KCL_OK;
}

int kcl_options_set(kcl_options *o, const char *name, const char *value) {
  int i;
  KCL_CALL(kcl_need(NULL, "o", o));
  KCL_CALL(kcl_need(NULL, "name", name));
  KCL_CALL(kcl_need(NULL, "value", value));
  KCL_CALL(kcl_find_name(NULL, "option", name, kcl_option_count(), option_name, &i));
  kcl_options changed = kcl_options_of(o);
  int rc = i < OPTIONS ? set_row(i, value, &changed)
                       : set_parameter(kcl_parameter_at(i - OPTIONS), value, &changed);
  if (!rc) *o = changed;
  return rc;
}

void kcl_options_init(kcl_options *o) {
  if (o) *o = kcl_defaults;
}

int kcl_options_create(kcl_options **out) {
  int rc = kcl_need(NULL, "out", out);
  if (!rc) rc = kcl_alloc(NULL, 1, sizeof **out, "options", (void **)out);
  if (!rc) **out = kcl_defaults;
  return rc;
}

void kcl_options_free(kcl_options **o) {
  if (!o) return;
  free(*o);
  *o = NULL;
}

int kcl_options_set_number(kcl_options *o, const char *name, double value) {
  char text[32] = "";
  if (isfinite(value))
    kcl_number_print(value, text);
  else
    strcpy(text, isnan(value) ? "NaN" : "infinity");
  return kcl_options_set(o, name, text);
}

/* ---------------------------------------------------------------- reading them back */

static double option_number(const option_row *r, const void *field) {
  switch (r->field) {
  case FIELD_ENUM:
  case FIELD_INT: return *(const int *)field;
  case FIELD_BOOL: return *(const bool *)field;
  case FIELD_INT64: return (double)*(const int64_t *)field;
  default: return *(const double *)field;
  }
}

static const char *get_row(int i, const kcl_options *o, char text[32]) {
  const option_row *r = &option_table[i];
  const void *field = (const char *)o + r->offset,
             *standard = (const char *)&kcl_defaults + r->offset;
  if (r->field == FIELD_NAME) {
    const char *word = *(const char *const *)field, *usual = *(const char *const *)standard;
    return !word || !strcmp(word, usual) ? "default" : word;
  }
  const double v = option_number(r, field);
  if (v == option_number(r, standard)) return "default";
  if (kcl_option_word(i, 0)) return kcl_option_word(i, (int)v);
  kcl_number_print(v, text);
  return text;
}

/* The value of a term `name=value` of the text. */
static const char *get_parameter(const kcl_option *p, const kcl_options *o, char text[32]) {
  const size_t length = strlen(p->name);
  for (const char *s = o->parameters; *(s += strspn(s, " "));) {
    const size_t end = strcspn(s, " ");
    if (end > length && s[length] == '=' && !memcmp(s, p->name, length) && end - length < 32) {
      memcpy(text, s + length + 1, end - length - 1);
      text[end - length - 1] = 0;
      return text;
    }
    s += end;
  }
  return "default";
}

const char *kcl_options_get(const kcl_options *o, const char *name) {
  static _Thread_local char text[32];
  if (!o || !name) return "";
  const kcl_options set = kcl_options_of(o);
  for (int i = 0; i < kcl_option_count(); i++)
    if (!strcmp(option_name(i), name))
      return i < OPTIONS ? get_row(i, &set, text)
                         : get_parameter(kcl_parameter_at(i - OPTIONS), &set, text);
  return "";
}
