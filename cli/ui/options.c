/* The table of all options of all subcommands, parsed by getopt_long. Options may stand anywhere,
 * before the subcommand too, so the whole line is parsed with all options; those that the
 * subcommand does not take are refused afterwards. Numbers are checked here, names in
 * validate.c. */
#include "cli/ui/options.h"
#include "cli/ui/say.h"
#include "cli/ui/text.h"
#include <errno.h>
#include <getopt.h>

#define AT(field) offsetof(cli_options, field)
static const cli_option table[] = {
    {"output", 'o', CLI_TEXT, "FILE", AT(output), 0, 0, "write the result to FILE", NULL},
    {"rhs", 0, CLI_TEXT, "FILE", AT(rhs), 0, 0, "write the right-hand side to FILE", NULL},
    {"solver", 's', CLI_TEXT, "NAME", AT(solver), 0, 0, NULL, "=solver"},
    {"precond", 'p', CLI_WORD, "NAME", AT(precond), 0, 0, NULL, "=precond"},
    {"parameters", 0, CLI_TEXT, "P=V,Q=V", AT(parameters), 0, 0,
     "of preconditioners, such as ilut.drop=1e-4,ilut.fill=50: krylocl list parameters",
     "@parameters"},
    {"format", 'f', CLI_WORD, "NAME", AT(format), 0, 0, NULL, "=format"},
    {"formats", 'f', CLI_TEXT, "A,B", AT(formats), 0, 0, "these formats, or all (all)",
     "all @formats"},
    {"preconds", 0, CLI_TEXT, "A,B", AT(preconds), 0, 0,
     "compare whole solves with these preconditioners, or all", "all @preconds"},
    {"device", 'd', CLI_TEXT, "WORD", AT(device), 0, 0,
     "auto, cpu, opencl, gpu, gpu:N, P:D or part of a name ($KRYLOCL_DEVICE, else auto)",
     "auto cpu opencl gpu"},
    {"devices", 0, CLI_TEXT, "A,B", AT(devices), 0, 0,
     "several devices, each with a rank of its own that mpiexec starts", "cpu opencl gpu:0,gpu:1"},
    {"shares", 0, CLI_TEXT, "M,N", AT(shares), 0, 0,
     "of the nonzeros, one number per device; or nonzeros, rates, rows: equal nonzeros, by "
     "measured rates, equal rows (equal nonzeros on like devices, else by rates)",
     "nonzeros rates rows"},
    {"partition", 0, CLI_WORD, "RULE", AT(partition), 0, 0,
     "rows of the ranks: blocks of consecutive rows, or parts of METIS (rows)", "rows metis"},
    {"ranks", 0, CLI_COUNT, "N", AT(ranks), 1, 1000000,
     "predict an iteration on 1, 2, 4 ... N ranks as well", ""},
    {"reproducible", 0, CLI_FLAG, NULL, AT(reproducible), 0, 0,
     "the same bits of x on every device and any number of threads and ranks", NULL},
    {"threads", 't', CLI_COUNTS, "N", AT(threads_list), 0, KCL_MAX_THREADS,
     "threads on the CPU: device cpu, reading, set-up; 0 or max: all (0); bench: a list", ""},
    {"precision", 0, CLI_TEXT, "s|d|c|z", AT(precision), 0, 0, NULL, "=precision"},
    {"symmetry", 0, CLI_WORD, "RULE", AT(symmetry), 0, 0, NULL, "=symmetry"},
    {"scale", 0, CLI_WORD, "RULE", AT(scale), 0, 0, NULL, "=scale"},
    {"fallback", 0, CLI_WORD, "RULE", AT(fallback), 0, 0, NULL, "=fallback"},
    {"guard", 0, CLI_FLAG, NULL, AT(guard), 0, 0, NULL, NULL},
    {"no-direct", 0, CLI_FLAG, NULL, AT(no_direct), 0, 0, NULL, NULL},
    {"mixed", 0, CLI_FLAG, NULL, AT(mixed), 0, 0, NULL, NULL},
    {"tol", 0, CLI_REAL, "T", AT(tol), 0, 0, NULL, ""},
    {"atol", 0, CLI_REAL, "T", AT(atol), 0, 0, NULL, ""},
    {"max-iter", 0, CLI_COUNT, "N", AT(max_iter), 0, 0, NULL, ""},
    {"restart", 0, CLI_COUNT, "N", AT(restart), 0, 0, NULL, ""},
    {"nrhs", 0, CLI_COUNT, "K", AT(nrhs), 0, 0, NULL, ""},
    {"iterations", 0, CLI_COUNT, "N", AT(iterations), 1, 1e6, "iterations per sample, at most (50)",
     ""},
    {"samples", 0, CLI_COUNT, "N", AT(samples), 1, 1e4, "samples per row, at most (15)", ""},
    {"rounds", 0, CLI_COUNT, "N", AT(rounds), 1, 1000,
     "samples of a row in N rounds over all rows of a matrix (1)", ""},
    {"time-limit", 0, CLI_REAL, "S", AT(time_limit), 1e-3, 86400,
     "seconds for the samples of a row (3)", ""},
    {"with-transfer", 0, CLI_FLAG, NULL, AT(with_transfer), 0, 0,
     "also products with x from and y to the host, and with the matrix too", NULL},
    {"layout", 0, CLI_WORD, "WORD", AT(layout), 0, 0,
     "rows among work-items as on a cpu or a gpu, on any OpenCL device (its own)", "cpu gpu"},
    {"force", 0, CLI_FLAG, NULL, AT(force), 0, 0,
     "formats that pad to more than ten times CSR, too, as far as memory goes", NULL},
    {"index-base", 0, CLI_WORD, "0|1", AT(index_base), 0, 0,
     "number of the first row and column in coordinate files (1)", "0 1"},
    {"resume", 0, CLI_TEXT, "FILE", AT(resume), 0, 0,
     "go on with the run of this JSON file, and write it there without --json", NULL},
    {"resume", 0, CLI_TEXT, "FILE", AT(resumed), 0, 0, "go on from this checkpoint of a solve",
     NULL},
    {"checkpoint", 0, CLI_TEXT, "FILE", AT(checkpoint), 0, 0,
     "keep the state of the solve in FILE, and the one before in FILE.1, to --resume from", NULL},
    {"every", 0, CLI_TEXT, "T", AT(every), 0, 0,
     "time between checkpoints, such as 90s, 5m, 2h (1m, and at most 1 % of the time)", ""},
    {"kernels", 0, CLI_FLAG, NULL, AT(kernels), 0, 0,
     "compile kernels ahead instead, for the systems named or for a list of them", NULL},
    {"seconds", 0, CLI_COUNT, "N", AT(seconds), 1, 86400,
     "approximate time for tunables (30), or for --kernels (no limit)", ""},
    {"x0", 0, CLI_TEXT, "FILE", AT(x0), 0, 0, "initial guess (zeros)", NULL},
    {"near-null", 0, CLI_TEXT, "FILE", AT(near_null), 0, 0,
     "near-null vectors for the preconditioner sa, one per column", NULL},
    {"coordinates", 0, CLI_TEXT, "FILE", AT(coordinates), 0, 0,
     "of the nodes, 2 or 3 columns: rigid body modes for the preconditioner sa", NULL},
    {"check", 0, CLI_WORD, "METHOD", AT(check), 0, 0,
     "compare with a direct solution: direct (what fits), or first cholmod, umfpack, spqr; none",
     "direct cholmod umfpack spqr none"},
    {"check", 0, CLI_FLAG, NULL, AT(verify), 0, 0,
     "compare y with the host's product; exit code 6 beyond rounding", NULL},
    {"alpha", 0, CLI_REAL, "R", AT(alpha), -1e300, 1e300, "factor of A x, a real number (1)", ""},
    {"beta", 0, CLI_REAL, "R", AT(beta), -1e300, 1e300,
     "factor of y, a real number, where y is given (1, else 0)", ""},
    {"adjoint", 0, CLI_FLAG, NULL, AT(adjoint), 0, 0, "multiply by A^H", NULL},
    {"check-tol", 0, CLI_REAL, "R", AT(check_tol), 1e-300, 1,
     "largest relative error of x that passes --check (what its residual allows, and 0.1)", ""},
    {"check-output", 0, CLI_TEXT, "FILE", AT(check_output), 0, 0,
     "write the direct solution to FILE", NULL},
    {"json", 'j', CLI_TEXT, "FILE", AT(json), 0, 0, "write the results as JSON; -: standard output",
     NULL},
    {"csv", 0, CLI_TEXT, "FILE", AT(csv), 0, 0, "write the table as CSV", NULL},
    {"report", 0, CLI_TEXT, "FILE", AT(page), 0, 0, "write a page of the results as HTML", NULL},
    {"figures", 0, CLI_TEXT, "DIR", AT(figures), 0, 0, "write the figures as SVG and PNG", NULL},
    {"markdown", 0, CLI_TEXT, "FILE", AT(markdown), 0, 0, "write the tables as Markdown", NULL},
    {"latex", 0, CLI_TEXT, "FILE", AT(latex), 0, 0, "write the tables for LaTeX (booktabs)", NULL},
    {"compare", 0, CLI_FLAG, NULL, AT(compare), 0, 0,
     "compare two runs; exit code 1 if anything became slower", NULL},
    {"compare", 0, CLI_TEXT, "FILE", AT(other), 0, 0,
     "compare y with that of FILE, element by element; exit code 6 beyond rounding", NULL},
    {"least", 0, CLI_REAL, "P", AT(least), 0, 1000,
     "--compare: changes of less than P percent do not count (5)", ""},
    {"history", 0, CLI_TEXT, "FILE", AT(history), 0, 0,
     "write the residual after each iteration as CSV", NULL},
    {"plot", 0, CLI_TEXT, "FILE", AT(plot), 0, 0, "draw a picture (.svg; .png by gnuplot)", NULL},
    {"cache", 0, CLI_FLAG, NULL, AT(cache), 0, 0,
     "keep parsed files as .kcl in the user's cache folder ($KRYLOCL_CACHE)", NULL},
    {"durable", 0, CLI_FLAG, NULL, AT(durable), 0, 0,
     "files that are written are on the disk (fsync) before they appear under their names", NULL},
    {"quiet", 'q', CLI_FLAG, NULL, AT(quiet), 0, 0, "errors only, no progress and no report", NULL},
    {"profile", 0, CLI_FLAG, NULL, AT(profile), 0, 0,
     "event times of an OpenCL device: kernels by name, transfers, gaps; bench: and hardware "
     "counters",
     NULL},
    {"source", 0, CLI_FLAG, NULL, AT(source), 0, 0, "print the OpenCL C source of the kernels",
     NULL},
    {"arrays", 0, CLI_FLAG, NULL, AT(arrays), 0, 0,
     "print the arrays of a matrix of at most 8 rows and columns in its formats", NULL},
    {"verbose", 'v', CLI_FLAG, NULL, AT(verbose), 0, 0,
     "also drivers, programs, and progress once per second if not on a terminal", NULL},
    {"help", 'h', CLI_FLAG, NULL, AT(help), 0, 0, "-h: help on one screen; --help: all of it",
     NULL},
    {"version", 'V', CLI_FLAG, NULL, AT(version), 0, 0, "the version", NULL},
};
enum { ENTRIES = sizeof table / sizeof *table };
_Static_assert(sizeof table / sizeof *table <= CLI_MOST_OPTIONS,
               "cli_options.given has room for every option");

/* Defaults that differ from the library's: of a subcommand, or of all of them where command is NULL. */
static const struct {
  const char *command, *option, *text;
} own_defaults[] = {{NULL, "precision", "d, or z for complex data"},
                    {"bench", "precond", "none"},
                    {"explain", "format", "model"},
                    {"check", "tol", "1e-8"},
                    {"solve", "nrhs", "as many as b has"}};

int cli_library_option(const char *name) {
  for (int i = 0; i < kcl_option_count(); i++)
    if (!strcmp(kcl_option_at(i).name, name)) return i;
  return -1;
}

static const char *default_of(const cli_command *c, const kcl_option *o) {
  for (size_t i = 0; i < sizeof own_defaults / sizeof *own_defaults; i++)
    if ((!own_defaults[i].command || !strcmp(own_defaults[i].command, c->name)) &&
        !strcmp(own_defaults[i].option, o->name))
      return own_defaults[i].text;
  return o->default_text;
}

cli_option_text cli_option_help(const cli_command *c, const cli_option *e) {
  cli_option_text text;
  const kcl_option o = kcl_option_at(cli_library_option(e->name));
  if (e->help || e->kind == CLI_FLAG)
    snprintf(text.s, sizeof text.s, "%s", e->help ? e->help : o.help);
  else
    snprintf(text.s, sizeof text.s, "%s (%s)", o.help, default_of(c, &o));
  return text;
}

static void find_range(const cli_option *e, double *min, double *max) {
  const kcl_option o = kcl_option_at(cli_library_option(e->name));
  *min = e->help ? e->min : o.min;
  *max = e->help ? e->max : o.max;
}

static int set_count(const cli_option *e, const char *value, int64_t *out) {
  char *end;
  double min, max;
  find_range(e, &min, &max);
  errno = 0;
  long long n = strtoll(value, &end, 10);
  if (end == value || *end)
    return cli_fail(KCL_USAGE, "--%s: '%s' is not a whole number", e->name, value);
  if (errno || (double)n < min || (double)n > max)
    return cli_fail(KCL_USAGE, "--%s: %s is out of range, %s to %s", e->name, value,
                    cli_count((int64_t)min).s, cli_count((int64_t)max).s);
  *out = n;
  return 0;
}

/* Checks numbers between commas, and "max", which is 0. o->threads becomes the first. */
static int set_counts(const cli_option *e, const char *list, cli_options *o) {
  for (const char *s = list;; s++) {
    char word[32];
    int64_t n = 0;
    size_t length = strcspn(s, ",");
    snprintf(word, sizeof word, "%.*s", (int)(length < 31 ? length : 31), s);
    if (strcmp(word, "max")) CLI_CALL(set_count(e, word, &n));
    if (s == list) o->threads = n;
    if (!*(s += length)) break;
  }
  *(const char **)((char *)o + e->offset) = list;
  return 0;
}

static int set_real(const cli_option *e, const char *value, double *out) {
  char *end;
  double min, max, v = strtod(value, &end);
  find_range(e, &min, &max);
  if (end == value || *end)
    return cli_fail(KCL_USAGE, "--%s: '%s' is not a number", e->name, value);
  if (!isfinite(v) || v < min || v > max)
    return cli_fail(KCL_USAGE, "--%s: %s is out of range, it must be finite and at least %g",
                    e->name, value, min);
  *out = v;
  return 0;
}

static int set_option(const cli_option *e, const char *value, cli_options *o) {
  char *field = (char *)o + e->offset;
  o->given[e - table] = true;
  switch (e->kind) {
  case CLI_FLAG: *(bool *)field = true; return 0;
  case CLI_COUNT: return set_count(e, value, (int64_t *)field);
  case CLI_COUNTS: return set_counts(e, value, o);
  case CLI_REAL: return set_real(e, value, (double *)field);
  default: break;
  }
  if (!*value) return cli_fail(KCL_USAGE, "--%s needs a value that is not empty", e->name);
  *(const char **)field = value;
  return 0;
}

const cli_command *cli_command_named(const cli_command *const *commands, const char *name) {
  for (; *commands; commands++)
    if (strcmp((*commands)->name, name) == 0) return *commands;
  return NULL;
}

/* The subcommand, which may stand behind an option. */
static const cli_command *find_subcommand(const cli_options *o) {
  const cli_command *c = NULL;
  for (int i = 1; i < o->argc && !c; i++) c = cli_command_named(o->commands, o->argv[i]);
  return c;
}

/* True if entry k is the option of its name for c, which may be NULL: spmv has a --check and a --compare of its own,
 * solve a --resume. */
static bool is_meant(const cli_command *c, int k) {
  const bool spmv = c && !strcmp(c->name, "spmv"), solve = c && !strcmp(c->name, "solve");
  if (table[k].offset == AT(resume)) return !solve;
  if (table[k].offset == AT(resumed)) return solve;
  if (table[k].offset == AT(check) || table[k].offset == AT(compare)) return !spmv;
  return (table[k].offset != AT(verify) && table[k].offset != AT(other)) || spmv;
}

/* Fills the tables of getopt_long. Leading "-": operands are returned in order; ":": no messages. */
static void make_tables(const cli_command *c, struct option *longs, char *letters) {
  *letters++ = '-', *letters++ = ':';
  for (int i = 0; i < ENTRIES; i++) {
    bool arg = table[i].kind != CLI_FLAG;
    if (!is_meant(c, i)) continue;
    *longs++ = (struct option){table[i].name, arg ? required_argument : no_argument, NULL, 256 + i};
    if (!table[i].letter) continue;
    *letters++ = table[i].letter;
    if (arg) *letters++ = ':';
  }
  *longs = (struct option){0};
  *letters = 0;
}

static const cli_option *find_option(int c) {
  if (c >= 256) return &table[c - 256];
  for (int i = 0; i < ENTRIES; i++)
    if (table[i].letter && table[i].letter == c) return &table[i];
  return NULL;
}

static bool takes_option(const cli_command *c, const char *name) {
  size_t n = strlen(name);
  for (const char *s = c->options; n && (s = strstr(s, name)); s += n)
    if ((s == c->options || s[-1] == ' ') && (s[n] == ' ' || !s[n])) return true;
  return strcmp(name, "help") == 0;
}

const cli_option *cli_option_at(const cli_command *c, int i) {
  for (int k = 0; k < ENTRIES; k++)
    if (is_meant(c, k) && takes_option(c, table[k].name) && i-- == 0) return &table[k];
  return NULL;
}

const char *cli_option_value(const cli_options *o, const cli_option *e) {
  return *(const char *const *)(const void *)((const char *)o + e->offset);
}

void cli_library_options(const cli_options *o, kcl_options *out) {
  for (int i = 0; i < ENTRIES; i++) {
    const cli_option *e = &table[i];
    const void *field = (const char *)o + e->offset;
    if (!o->given[i] || cli_library_option(e->name) < 0) continue;
    if (e->kind == CLI_COUNT)
      kcl_options_set_number(out, e->name, (double)*(const int64_t *)field);
    else if (e->kind == CLI_REAL)
      kcl_options_set_number(out, e->name, *(const double *)field);
    else
      kcl_options_set(out, e->name, e->kind == CLI_FLAG ? "yes" : cli_option_value(o, e));
  }
}

bool cli_given(const cli_options *o, const char *name) {
  for (int i = 0; i < ENTRIES; i++)
    if (!strcmp(table[i].name, name)) return o->given[i];
  return false;
}

void cli_option_inputs(const cli_options *o, const char *files[CLI_INPUTS]) {
  const char *const list[CLI_INPUTS] = {o->x0, o->near_null, o->coordinates, o->other};
  memcpy(files, list, sizeof list);
}

bool cli_option_common(const cli_command *c, const cli_option *e) {
  const char *at = strstr(c->options, e->name), *bar = strchr(c->options, '|');
  return !at || !bar || at < bar;
}

static void print_option_value(FILE *f, const cli_option *e, const cli_options *o) {
  const char *field = (const char *)o + e->offset;
  const bool named =
      e->kind == CLI_COUNTS || e->kind == CLI_WORD || (e->kind == CLI_TEXT && e->values);
  if (!o->given[e - table])
    fputs("not given", f);
  else if (named)
    fputs(cli_option_value(o, e), f);
  else if (e->kind == CLI_COUNT)
    fprintf(f, "%lld", (long long)*(const int64_t *)(const void *)field);
  else if (e->kind == CLI_REAL)
    fprintf(f, "%.17g", *(const double *)(const void *)field);
  else
    fputs("given", f);
}

void cli_options_print(FILE *f, const cli_options *o) {
  static const cli_command own = {
      .options = "device threads quiet verbose json history plot"}; /* each rank may have its own */
  for (int i = 0; i < ENTRIES; i++) {
    if (takes_option(&own, table[i].name)) continue;
    fprintf(f, "--%s=", table[i].name);
    print_option_value(f, &table[i], o);
    fputc('\n', f);
  }
}

/* Lists the subcommands that take an option; false: there are none. */
static bool list_takers(const cli_command *const *commands, const char *name, char *list,
                        size_t capacity) {
  const cli_command *c;
  *list = 0;
  for (int i = 0; (c = commands[i]); i++)
    if (takes_option(c, name)) cli_append(list, capacity, "%s%s", *list ? ", " : "", c->name);
  return *list;
}

/* Reports an option that c does not take, with the nearest of those that it takes. c may be NULL. */
static int refuse_option(const cli_options *o, const cli_command *c, const char *name) {
  const char *names[ENTRIES], *best;
  char takers[200];
  int count = 0;
  while (c && (names[count] = cli_option_at(c, count) ? cli_option_at(c, count)->name : NULL))
    count++;
  if (!c) return cli_fail(KCL_USAGE, "unknown option '--%s' (see krylocl --help)", name);
  if (list_takers(o->commands, name, takers, sizeof takers))
    return cli_fail(KCL_USAGE, "'%s' does not take --%s, which is for %s", c->name, name, takers);
  best = kcl_nearest(name, names, count);
  return cli_fail(KCL_USAGE, "'%s' does not take --%s%s%s%s\n  krylocl %s -h  lists what it takes",
                  c->name, name, best ? ", did you mean --" : "", best ? best : "", best ? "?" : "",
                  c->name);
}

/* Reports an unknown letter or `word`, a long option that is unknown or takes no value. */
static int refuse_word(const cli_options *o, const char *word) {
  const cli_command *c = find_subcommand(o);
  char name[64];
  if (optopt > 0 && optopt < 256)
    return cli_fail(KCL_USAGE, "unknown option '-%c' (see krylocl %s -h)", optopt,
                    c ? c->name : "");
  word += strspn(word, "-");
  snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
  for (int i = 0; i < ENTRIES; i++)
    if (strcmp(table[i].name, name) == 0) return cli_fail(KCL_USAGE, "--%s takes no value", name);
  return refuse_option(o, c, name);
}

int cli_parse(const cli_command *const *commands, int argc, char **argv, char **operands,
              cli_options *o) {
  struct option longs[ENTRIES + 1];
  char letters[2 * ENTRIES + 3];
  int c, rc, count = 0;
  *o = (cli_options){.commands = commands,
                     .argc = argc,
                     .argv = argv,
                     .tol = -1,
                     .iterations = 50,
                     .seconds = 30,
                     .samples = 15,
                     .rounds = 1,
                     .time_limit = 3,
                     .least = 5};
  make_tables(find_subcommand(o), longs, letters);
  opterr = 0;
  while ((c = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
    const cli_option *e = find_option(c);
    o->brief |= c == 'h';
    if (c == 1)
      operands[count++] = optarg;
    else if (c == ':')
      return cli_fail(KCL_USAGE, "%s needs a value", argv[optind - 1]);
    else if (!e)
      return refuse_word(o, argv[optind - 1]);
    else if ((rc = set_option(e, optarg, o)))
      return rc;
  }
  while (optind < argc) operands[count++] = argv[optind++];
  if (count) {
    o->command = operands[0];
    o->files = operands + 1;
    o->count = count - 1;
  }
  return 0;
}

void cli_rename_format(const cli_command *c, cli_options *o) {
  if (!o->format || takes_option(c, "format") || !takes_option(c, "formats")) return;
  o->formats = o->format, o->format = NULL;
  for (int i = 0; i < ENTRIES; i++)
    if (table[i].offset == AT(format)) o->given[i] = false;
}

int cli_options_belong(const cli_command *c, cli_options *o) {
  for (int i = 0; i < ENTRIES; i++)
    if (o->given[i] && !takes_option(c, table[i].name) && table[i].offset != AT(version))
      return refuse_option(o, c, table[i].name);
  return 0;
}
