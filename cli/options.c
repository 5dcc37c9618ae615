/* The table of all options of all subcommands, parsed by getopt_long. Options may stand anywhere,
 * before the subcommand too, so the whole line is parsed with all options; those that the
 * subcommand does not take are refused afterwards. Numbers are checked here, names in
 * validate.c. */
#include "cli/cli.h"
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef enum kind { FLAG, TEXT, COUNT, REAL } kind;

typedef struct entry {
  const char *name;
  char letter; /* 0: none */
  kind kind;
  const char *arg; /* the argument's name in the help */
  size_t offset;   /* in cli_options */
  double min, max; /* of numbers */
  const char *help;
} entry;

#define AT(field) offsetof(cli_options, field)
static const entry table[] = {
    {"output", 'o', TEXT, "FILE", AT(output), 0, 0, "write the result to FILE"},
    {"rhs", 0, TEXT, "FILE", AT(rhs), 0, 0, "write the right-hand side to FILE"},
    {"solver", 's', TEXT, "NAME", AT(solver), 0, 0,
     "method, listed below, or auto: chosen by shape and symmetry (solve: cg)"},
    {"precond", 'p', TEXT, "NAME", AT(precond), 0, 0, "preconditioner, listed below (none)"},
    {"format", 'f', TEXT, "NAME", AT(format), 0, 0,
     "storage format, listed below, or auto, measure, model, see below (auto)"},
    {"formats", 0, TEXT, "A,B", AT(formats), 0, 0, "formats to compare, or all (all)"},
    {"device", 'd', TEXT, "WORD", AT(device), 0, 0,
     "auto, cpu, opencl, gpu, P:D or part of a name ($KRYLOCL_DEVICE, else auto)"},
    {"threads", 't', COUNT, "N", AT(threads), 0, 4096, "threads of the cpu device, 0: all (0)"},
    {"precision", 0, TEXT, "s|d|c|z", AT(precision), 0, 0,
     "float, double, complex float, complex double (d, or z for complex data)"},
    {"mixed", 0, FLAG, NULL, AT(mixed), 0, 0,
     "mixed precision: iterate in float, correct in double (precision d or z)"},
    {"tol", 0, REAL, "T", AT(tol), 0, 1e300, "relative residual to reach (1e-8; 1e-5 for s and c)"},
    {"atol", 0, REAL, "T", AT(atol), 0, 1e300, "or absolute residual norm to reach (0)"},
    {"max-iter", 0, COUNT, "N", AT(max_iter), 1, 1e15,
     "iteration limit (10 per row, 10,000 to 100,000)"},
    {"restart", 0, COUNT, "N", AT(restart), 1, 1000,
     "cycle length of gmres, 1 to 50 (20); ignored by other methods"},
    {"nrhs", 0, COUNT, "K", AT(nrhs), 1, KCL_MAX_NRHS,
     "right-hand sides at once, 1 to 8 (solve: as many as b has; bench: 1)"},
    {"iterations", 0, COUNT, "N", AT(iterations), 1, 1e6, "iterations per sample (50)"},
    {"seconds", 0, COUNT, "N", AT(seconds), 1, 86400, "approximate time for tunables (30)"},
    {"x0", 0, TEXT, "FILE", AT(x0), 0, 0, "initial guess (zeros)"},
    {"check", 0, TEXT, "METHOD", AT(check), 0, 0,
     "compare with a direct solution: cholmod (UMFPACK or SPQR if CHOLMOD does not fit), or none"},
    {"json", 'j', TEXT, "FILE", AT(json), 0, 0, "write the results as JSON; -: standard output"},
    {"csv", 0, TEXT, "FILE", AT(csv), 0, 0, "write the table as CSV"},
    {"history", 0, TEXT, "FILE", AT(history), 0, 0,
     "write the residual after each iteration as CSV"},
    {"plot", 0, TEXT, "FILE", AT(plot), 0, 0, "draw a picture (.svg or .png, by gnuplot)"},
    {"cache", 0, FLAG, NULL, AT(cache), 0, 0,
     "keep parsed files as .kcl in the user's cache folder ($KRYLOCL_CACHE)"},
    {"quiet", 'q', FLAG, NULL, AT(quiet), 0, 0, "errors only, no progress and no report"},
    {"source", 0, FLAG, NULL, AT(source), 0, 0, "print the OpenCL C source of the kernels"},
    {"verbose", 'v', FLAG, NULL, AT(verbose), 0, 0,
     "also drivers, programs, and progress once per second if not on a terminal"},
    {"help", 'h', FLAG, NULL, AT(help), 0, 0, "this help"},
    {"version", 'V', FLAG, NULL, AT(version), 0, 0, "the version"},
};
enum { ENTRIES = sizeof table / sizeof *table };
_Static_assert(ENTRIES <= 64, "one bit per option in cli_options.given");

static int set_count(const entry *e, const char *value, int64_t *out) {
  char *end;
  errno = 0;
  long long n = strtoll(value, &end, 10);
  if (end == value || *end)
    return cli_fail(KCL_USAGE, "--%s: '%s' is not a whole number", e->name, value);
  if (errno || (double)n < e->min || (double)n > e->max)
    return cli_fail(KCL_USAGE, "--%s: %s is out of range, %s to %s", e->name, value,
                    cli_count((int64_t)e->min).s, cli_count((int64_t)e->max).s);
  *out = n;
  return 0;
}

static int set_real(const entry *e, const char *value, double *out) {
  char *end;
  double v = strtod(value, &end);
  if (end == value || *end)
    return cli_fail(KCL_USAGE, "--%s: '%s' is not a number", e->name, value);
  if (!isfinite(v) || v < e->min || v > e->max)
    return cli_fail(KCL_USAGE, "--%s: %s is out of range, it must be finite and at least %g",
                    e->name, value, e->min);
  *out = v;
  return 0;
}

static int set(const entry *e, const char *value, cli_options *o) {
  char *field = (char *)o + e->offset;
  o->given |= UINT64_C(1) << (e - table);
  switch (e->kind) {
  case FLAG: *(bool *)field = true; return 0;
  case COUNT: return set_count(e, value, (int64_t *)field);
  case REAL: return set_real(e, value, (double *)field);
  default: break;
  }
  if (!*value) return cli_fail(KCL_USAGE, "--%s needs a value that is not empty", e->name);
  *(const char **)field = value;
  return 0;
}

/* The tables of getopt_long. Leading "-": operands are returned in order; ":": no messages. */
static void tables(struct option *longs, char *letters) {
  *letters++ = '-', *letters++ = ':';
  for (int i = 0; i < ENTRIES; i++) {
    bool arg = table[i].kind != FLAG;
    longs[i] = (struct option){table[i].name, arg ? required_argument : no_argument, NULL, 256 + i};
    if (!table[i].letter) continue;
    *letters++ = table[i].letter;
    if (arg) *letters++ = ':';
  }
  longs[ENTRIES] = (struct option){0};
  *letters = 0;
}

static const entry *find(int c) {
  if (c >= 256) return &table[c - 256];
  for (int i = 0; i < ENTRIES; i++)
    if (table[i].letter && table[i].letter == c) return &table[i];
  return NULL;
}

/* Reports an unknown letter, or `word`, an unknown long option. */
static int refuse(const char *word) {
  char name[64], text[ENTRIES][24];
  const char *names[ENTRIES];
  if (optopt > 0 && optopt < 256)
    return cli_fail(KCL_USAGE, "unknown option '-%c' (see --help)", optopt);
  snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
  for (int i = 0; i < ENTRIES; i++) {
    snprintf(text[i], sizeof text[i], "--%s", table[i].name), names[i] = text[i];
    if (strcmp(names[i], name) == 0) return cli_fail(KCL_USAGE, "%s takes no value", name);
  }
  return cli_unknown("option", name, names, ENTRIES);
}

int cli_parse(int argc, char **argv, char **operands, cli_options *o) {
  struct option longs[ENTRIES + 1];
  char letters[2 * ENTRIES + 3];
  int c, rc, count = 0;
  *o = (cli_options){.tol = -1, .iterations = 50, .seconds = 30};
  tables(longs, letters);
  opterr = 0;
  while ((c = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
    const entry *e = find(c);
    if (c == 1)
      operands[count++] = optarg;
    else if (c == ':')
      return cli_fail(KCL_USAGE, "%s needs a value", argv[optind - 1]);
    else if (!e)
      return refuse(argv[optind - 1]);
    else if ((rc = set(e, optarg, o)))
      return rc;
  }
  while (optind < argc) operands[count++] = argv[optind++];
  if (count) o->command = operands[0], o->files = operands + 1, o->count = count - 1;
  return 0;
}

static bool takes(const cli_command *c, const char *name) {
  size_t n = strlen(name);
  for (const char *s = c->options; (s = strstr(s, name)); s += n)
    if ((s == c->options || s[-1] == ' ') && (s[n] == ' ' || !s[n])) return true;
  return false;
}

int cli_options_belong(const cli_command *c, const cli_options *o) {
  for (int i = 0; i < ENTRIES; i++)
    if (o->given >> i & 1 && !takes(c, table[i].name) && table[i].offset != AT(help) &&
        table[i].offset != AT(version))
      return cli_fail(KCL_USAGE, "'%s' does not take --%s; it takes: %s", c->name, table[i].name,
                      c->options);
  return 0;
}

void cli_print_options(const cli_command *c, FILE *f) {
  for (int i = 0; i < ENTRIES; i++) {
    const entry *e = &table[i];
    char left[48], letter[5] = "    ";
    if (!takes(c, e->name) && strcmp(e->name, "help")) continue;
    if (e->letter) snprintf(letter, sizeof letter, "-%c, ", e->letter);
    snprintf(left, sizeof left, "%s--%s%s%s", letter, e->name, e->arg ? " " : "",
             e->arg ? e->arg : "");
    fprintf(f, "  %-25s  %s\n", left, e->help);
  }
}
