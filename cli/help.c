/* Help texts for the program and for each subcommand: one screen (-h) or all (--help). */
#include "cli/help.h"
#include "cli/input/input.h"
#include "cli/ui/terminal.h"
#include "cli/ui/text.h"

static const char about[] =
    "solves sparse A x = b on OpenCL devices and on the CPU, checks the solution, "
    "and compares storage formats";
static const char files[] =
    "Options may stand anywhere, -- ends them, and the file - is standard input or output. Files "
    "are Matrix Market, Harwell-Boeing, Rutherford-Boeing, row lists or .kcl, .gz too; right-hand "
    "sides may also be plain numbers. In place of a matrix file HB/bcsstk16 names one of the "
    "SuiteSparse collection, poisson2d:300 a generated one; in place of a vector file stands ones "
    "or random.";
static const char exits[] =
    "0 success, 1 not converged (report --compare: slower), 2 usage, 3 file that cannot be read "
    "or written, 4 device or driver, 5 out of memory, 6 the check failed, 7 the check is "
    "undecided, 9 a format refuses the matrix, 10 an array changed in memory, 130 interrupted, "
    "143 ended by SIGTERM, 129 by SIGHUP";

const cli_names cli_lists[] = {{"formats", "formats", KCL_FORMATS},
                               {"solvers", "solvers", KCL_SOLVERS},
                               {"preconds", "preconditioners", KCL_PRECONDS},
                               {"generators", "generators", KCL_GENERATORS},
                               {NULL, NULL, KCL_FORMATS}};

const char *cli_exits(void) { return exits; }
const char *cli_about(void) { return about; }
const char *cli_files(void) { return files; }

static void print_heading(const char *word) {
  printf("%s%s%s\n", cli_style(stdout, CLI_BOLD), word, cli_style(stdout, CLI_PLAIN));
}

/* Prints text with one paragraph per line. Lines that begin with blanks are indented. */
static void print_paragraphs(const char *text) {
  for (const char *s = text; *s;) {
    int n = (int)strcspn(s, "\n"), indent = (int)strspn(s, " ");
    printf("%*s", indent, "");
    cli_wrap(stdout, indent, indent ? indent + 2 : 0, s + indent, n - indent);
    s += n + (s[n] == '\n');
  }
}

static void print_option(const cli_command *c, const cli_option *e) {
  const cli_option_text help = cli_option_help(c, e);
  char left[48], letter[5] = "    ";
  if (e->letter) snprintf(letter, sizeof letter, "-%c, ", e->letter);
  snprintf(left, sizeof left, "%s--%s%s%s", letter, e->name, e->arg ? " " : "",
           e->arg ? e->arg : "");
  int at = printf("  %-23s  ", left);
  cli_wrap(stdout, at, at, help.s, (int)strlen(help.s));
}

void cli_print_list(const cli_names *l) {
  print_heading(l->title);
  for (int i = 0; i < kcl_list_size(l->which); i++) {
    kcl_entry e = kcl_list(l->which, i);
    char text[200];
    int at = printf("  %-15s  ", e.name);
    snprintf(text, sizeof text, "%s%s%s%s", e.summary, e.example ? ": " : "",
             e.example ? e.example : "", e.study ? " (study: not for auto)" : "");
    cli_wrap(stdout, at, at, text, (int)strlen(text));
  }
}

void cli_print_parameters(void) {
  kcl_option p;
  print_heading("parameters");
  for (int i = 0; (p = cli_parameter(i)).name; i++) {
    char text[200];
    int at = printf("  %-18s  ", p.name);
    snprintf(text, sizeof text, "%s (%s)", p.help, p.default_text);
    cli_wrap(stdout, at, at, text, (int)strlen(text));
  }
}

static void print_commands(const cli_command *const *commands, bool everything) {
  const cli_command *c;
  for (int i = 0; (c = commands[i]); i++) {
    if (c->for_install && !everything) continue;
    int at = printf("  %-10s  ", c->name);
    cli_wrap(stdout, at, at, c->summary, (int)strlen(c->summary));
  }
}

static void print_usage(const cli_command *c) {
  printf("%skrylocl %s%s", cli_style(stdout, CLI_BOLD), c->name, cli_style(stdout, CLI_PLAIN));
  cli_wrap(stdout, 9 + (int)strlen(c->name), 2, c->operands, (int)strlen(c->operands));
  print_paragraphs(c->summary);
  putchar('\n');
}

/* Prints an example of each generated system. */
static void print_kinds(void) {
  char text[1000] = "kinds:";
  for (int i = 0; i < kcl_list_size(KCL_GENERATORS); i++)
    cli_append(text, sizeof text, " %s", kcl_list(KCL_GENERATORS, i).example);
  putchar('\n');
  cli_wrap(stdout, 0, 2, text, (int)strlen(text));
}

static int print_brief_help(const cli_command *c) {
  const cli_option *e;
  print_usage(c);
  for (int i = 0; (e = cli_option_at(c, i)); i++)
    if (cli_option_common(c, e)) print_option(c, e);
  if (c->generates) print_kinds();
  printf("\nkrylocl %-7s --help  all options%s, exit codes\n", c->name,
         strstr(c->options, "json") ? ", JSON fields" : "");
  if (c->lists) puts("krylocl list           formats, solvers, preconditioners");
  return 0;
}

static int print_full_help(const cli_command *c) {
  const cli_option *e;
  print_usage(c);
  print_heading("options");
  for (int i = 0; (e = cli_option_at(c, i)); i++) print_option(c, e);
  if (c->notes) putchar('\n'), print_paragraphs(c->notes);
  for (int i = 0; c->generates && cli_lists[i].word; i++)
    if (cli_lists[i].which == KCL_GENERATORS) putchar('\n'), cli_print_list(&cli_lists[i]);
  if (c->lists)
    puts("\nkrylocl list  prints all formats, solvers, preconditioners and generators.");
  putchar('\n');
  print_heading("exit codes");
  print_paragraphs(exits);
  return 0;
}

int cli_help(const cli_command *c, const cli_command *const *commands, bool everything) {
  if (c) return everything ? print_full_help(c) : print_brief_help(c);
  printf("%skrylocl%s " KCL_VERSION ":", cli_style(stdout, CLI_BOLD), cli_style(stdout, CLI_PLAIN));
  cli_wrap(stdout, 9 + (int)strlen(KCL_VERSION), 0, about, (int)strlen(about));
  putchar('\n');
  print_commands(commands, everything);
  print_paragraphs(
      "\nkrylocl solve A.mtx b.rhs -o x.mtx  solves a system.\n"
      "krylocl SUBCOMMAND -h: short help, --help: all. krylocl list: words of options.\n");
  if (!everything) return 0;
  putchar('\n');
  print_paragraphs(files);
  for (int i = 0; cli_lists[i].word; i++) putchar('\n'), cli_print_list(&cli_lists[i]);
  putchar('\n');
  print_heading("exit codes");
  print_paragraphs(exits);
  return 0;
}
