/* Checks before any file is read: operands, names, endings, outputs that collide. */
#include "cli/validate.h"
#include "cli/input/input.h"
#include "cli/ranks/shares.h"
#include "cli/same.h"
#include "cli/ui/say.h"
#include "cli/ui/text.h"
#include "krylocl/check.h"
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static int check_operands(const cli_command *c, const cli_options *o) {
  if (o->count < c->min && !o->resume && !o->kernels)
    return cli_fail(KCL_USAGE, "'%s' lacks an operand\n  krylocl %s %s", c->name, c->name,
                    c->operands);
  if (o->count > c->max)
    return cli_fail(KCL_USAGE, "'%s' is one operand too many\n  krylocl %s %s", o->files[c->max],
                    c->name, c->operands);
  return 0;
}

static int standard_input_once(const cli_options *o) {
  const char *also[CLI_INPUTS];
  int n = 0;
  cli_option_inputs(o, also);
  for (int i = 0; i < CLI_INPUTS; i++) n += also[i] && strcmp(also[i], "-") == 0;
  for (int i = 0; i < o->count; i++) n += strcmp(o->files[i], "-") == 0;
  return n > 1 ? cli_fail(KCL_USAGE, "standard input (-) can be one file only") : 0;
}

static const char *const all[] = {"all", NULL};
enum { MOST_WORDS = 128 };

static int check_among(const char *kind, const char *value, const char *const *words, int count) {
  for (int k = 0; k < count; k++)
    if (!strcmp(words[k], value)) return 0;
  return cli_unknown(kind, value, words, count);
}

/* Refuses a value that is neither a word of the library's option nor `also`, which may be NULL. */
static int check_library_word(const char *option, const char *value, const char *also) {
  const char *words[MOST_WORDS], *word;
  const int i = cli_library_option(option);
  int count = 0;
  if (also) words[count++] = also;
  for (int k = 0; count < MOST_WORDS && (word = kcl_option_word(i, k)); k++) words[count++] = word;
  return check_among(option, value, words, count);
}

/* Refuses a value that is none of the words of its option. */
static int check_word(const cli_option *e, const char *value) {
  char list[100], kind[32], *rest = NULL;
  const char *words[MOST_WORDS];
  int count = 0;
  if (*e->values == '=') return check_library_word(e->values + 1, value, NULL);
  snprintf(list, sizeof list, "%s", e->values);
  for (char *s = strtok_r(list, " ", &rest); s; s = strtok_r(NULL, " ", &rest)) words[count++] = s;
  snprintf(kind, sizeof kind, "%s", e->name);
  for (char *s = kind; (s = strchr(s, '-'));) *s = ' ';
  return check_among(kind, value, words, count);
}

static int check_words(const cli_command *c, const cli_options *o) {
  const cli_option *e;
  int rc = 0;
  for (int i = 0; (e = cli_option_at(c, i)) && !rc; i++)
    if (e->kind == CLI_WORD && cli_option_value(o, e)) rc = check_word(e, cli_option_value(o, e));
  return rc;
}

static int check_format(void *also, const char *word) {
  return cli_known("format", word, KCL_FORMATS, also);
}

static int check_solver(void *also, const char *word) {
  return check_library_word("solver", word, also);
}

static int check_precision(void *also, const char *word) {
  return check_library_word("precision", word, also);
}

/* Checks each name of a list, or the whole text if c takes no lists. */
static int check_each(const cli_command *c, const char *list,
                      int (*check)(void *also, const char *word), const char *also) {
  if (c->many) return cli_each_word(list, check, (void *)also);
  return list ? check((void *)also, list) : 0;
}

static int check_threads(const cli_command *c, const cli_options *o) {
  if (c->many || !o->threads_list || !strchr(o->threads_list, ',')) return 0;
  return cli_fail(KCL_USAGE, "--threads %s: one number; krylocl bench takes several",
                  o->threads_list);
}

/* Allows padding beyond the limit only for formats that were named. */
static int check_force(const cli_options *o) {
  if (!o->force || o->resume || (o->formats && strcmp(o->formats, "all"))) return 0;
  return cli_fail(KCL_USAGE, "--force is for formats that are named, such as --formats dense,cds");
}

static int check_mixed(const cli_options *o) {
  if (!o->mixed || !o->precision || strpbrk(o->precision, "dz")) return 0;
  return cli_fail(KCL_USAGE,
                  "--mixed iterates in float and corrects in double: it needs --precision "
                  "d or z, not %s",
                  o->precision);
}

/* A method of --check needs the library of its factorisation. */
static int check_method(const char *method) {
  if (!method || strcmp(method, "none") == 0) return 0;
  bool qr = strcmp(method, "spqr") == 0;
  if (qr ? kcl_direct_least_squares() : kcl_direct_available()) return 0;
  return cli_fail(KCL_USAGE,
                  "--check %s: this build is without SuiteSparse%s; install its "
                  "development package and build again",
                  method, qr ? "QR" : "");
}

static int check_picture(const char *path) {
  size_t n = path ? strlen(path) : 0;
  if (!path || (n > 4 && (!strcmp(path + n - 4, ".svg") || !strcmp(path + n - 4, ".png"))))
    return 0;
  return cli_fail(KCL_USAGE, "--plot %s: the name must end in .svg or .png", path);
}

/* Refuses .gz for tables. Only matrices and vectors are packed. */
static int check_unpacked(const char *path) {
  size_t n = path ? strlen(path) : 0;
  if (n < 3 || strcmp(path + n - 3, ".gz")) return 0;
  return cli_fail(KCL_USAGE, "%s: this output is plain text: leave out .gz", path);
}

static int check_writable(const char *path) {
  char folder[4096];
  struct stat info;
  const char *slash = path ? strrchr(path, '/') : NULL;
  if (!path || strcmp(path, "-") == 0) return 0;
  snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
  if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
    return cli_fail(KCL_INPUT, "%s cannot be written: it is a folder", path);
  if (access(access(path, F_OK) == 0 ? path : folder, W_OK) == 0) return 0;
  return cli_fail(KCL_INPUT, "%s cannot be written: %s", path, strerror(errno));
}

static int check_readable(const char *path) {
  if (!path || !strcmp(path, "-") || access(path, R_OK) == 0) return 0;
  return cli_fail(KCL_INPUT, "%s: cannot open: %s", path, strerror(errno));
}

/* Reports a matrix that does not exist, and suggests a generated system of a similar name. */
static int no_matrix(const char *name) {
  const char *names[64], *best;
  char kind[64];
  int count = kcl_list_size(KCL_GENERATORS), i;
  snprintf(kind, sizeof kind, "%.*s", (int)strcspn(name, ":"), name);
  for (i = 0; i < count; i++) names[i] = kcl_list(KCL_GENERATORS, i).name;
  best = kcl_nearest(kind, names, count);
  const char *size = name + strlen(kind);
  if (best && *size && strcmp(best, kind))
    return cli_fail(KCL_INPUT, "%s: cannot open: %s; did you mean %s%s?", name, strerror(errno),
                    best, size);
  for (i = 0; i < count && strcmp(name, names[i]);) i++;
  if (i == count) return check_readable(name);
  return cli_fail(KCL_INPUT, "%s: cannot open: %s; a generated system has a size: %s", name,
                  strerror(errno), kcl_list(KCL_GENERATORS, i).example);
}

static int check_matrix_operand(const char *name) {
  if (!strcmp(name, "-") || cli_is_collection(name) || cli_is_generated(name) ||
      access(name, R_OK) == 0)
    return 0;
  return errno == ENOENT ? no_matrix(name) : check_readable(name);
}

static int check_vector_operand(const char *name) {
  return name && cli_is_word(name) ? 0 : check_readable(name);
}

/* Checks inputs before a device is opened, which may take seconds. Commands that take many matrices skip missing
 * ones. */
static int check_inputs(const cli_command *c, const cli_options *o) {
  const char *also[CLI_INPUTS];
  int rc = check_readable(o->resume);
  cli_option_inputs(o, also);
  for (int i = 0; i < CLI_INPUTS && !rc; i++) rc = check_vector_operand(also[i]);
  for (int i = 0; c->reads && c->max < 100 && i < o->count && !rc; i++)
    rc = (i ? check_vector_operand : check_matrix_operand)(o->files[i]);
  return rc;
}

int cli_validate(const cli_command *c, cli_options *o) {
  kcl_options asked; /* for a check only */
  kcl_options_init(&asked);
  const char *outputs[] = {o->json, o->csv,          o->output, o->rhs,      o->history,
                           o->plot, o->check_output, o->page,   o->markdown, o->latex};
  CLI_CALL(cli_options_belong(c, o));
  CLI_CALL(check_operands(c, o));
  CLI_CALL(check_words(c, o));
  CLI_CALL(check_each(c, o->solver, check_solver, c->many ? "none" : NULL));
  CLI_CALL(cli_parameters_set(o->parameters, &asked));
  CLI_CALL(cli_each_word(o->formats, check_format,
                         (void *)(o->formats && strchr(o->formats, ',') ? all + 1 : all)));
  CLI_CALL(check_each(c, o->precision, check_precision, NULL));
  CLI_CALL(check_threads(c, o));
  CLI_CALL(cli_devices_check(o));
  CLI_CALL(check_force(o));
  CLI_CALL(check_mixed(o));
  if ((o->check_output || o->check_tol > 0) && !o->check) o->check = "direct";
  CLI_CALL(check_method(o->check));
  CLI_CALL(check_picture(o->plot));
  CLI_CALL(check_unpacked(o->history));
  CLI_CALL(check_unpacked(o->csv));
  CLI_CALL(check_unpacked(o->json));
  CLI_CALL(check_unpacked(o->page));
  CLI_CALL(standard_input_once(o));
  CLI_CALL(cli_files_apart(c, o, outputs, sizeof outputs / sizeof *outputs));
  for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
    CLI_CALL(check_writable(outputs[i]));
  return check_inputs(c, o);
}
