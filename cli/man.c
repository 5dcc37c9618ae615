/* krylocl man: the manual page krylocl(1) in man(7), from the program's own tables. */
#include "cli/help.h"
#include <ctype.h>

/* Prints one line of text: hyphens as they are typed in options, and no line that looks like a request of troff. */
static void man_text(const char *s, int n) {
  if (n > 0 && (*s == '.' || *s == '\'')) fputs("\\&", stdout);
  for (int i = 0; i < n; i++) {
    if (s[i] == '\\')
      fputs("\\e", stdout);
    else if (s[i] == '-')
      fputs("\\-", stdout);
    else
      putchar(s[i]);
  }
}

static void man_line(const char *s) {
  man_text(s, (int)strlen(s));
  putchar('\n');
}

static void man_paragraphs(const char *s) {
  for (int n; *s; s += n + (s[n] == '\n')) {
    int indent = (int)strspn(s, " ");
    n = (int)strcspn(s, "\n");
    if (n == 0) continue;
    puts(indent ? ".IP \"\" 4" : ".PP");
    man_text(s + indent, n - indent);
    putchar('\n');
  }
}

static void man_option(const cli_command *c, const cli_option *e) {
  puts(".TP");
  if (e->letter) printf("\\fB\\-%c\\fR, ", e->letter);
  printf("\\fB\\-\\-");
  man_text(e->name, (int)strlen(e->name));
  printf("\\fR");
  if (e->arg) printf(" \\fI%s\\fR", e->arg);
  putchar('\n');
  man_line(cli_option_help(c, e).s);
}

static void man_command(const cli_command *c) {
  const cli_option *e;
  printf(".SS krylocl %s%s", c->name, *c->operands ? " " : "");
  man_line(c->operands);
  putchar(toupper((unsigned char)c->summary[0]));
  man_text(c->summary + 1, (int)strlen(c->summary) - 1);
  puts(".");
  for (int i = 0; (e = cli_option_at(c, i)); i++) man_option(c, e);
  if (c->notes) man_paragraphs(c->notes);
}

static void man_lists(void) {
  for (const cli_names *l = cli_lists; l->word; l++) {
    printf(".SS %s\n", l->title);
    for (int i = 0; i < kcl_list_size(l->which); i++) {
      puts(".TP 18");
      printf("\\fB");
      man_text(kcl_list(l->which, i).name, (int)strlen(kcl_list(l->which, i).name));
      puts("\\fR");
      man_line(kcl_list(l->which, i).summary);
    }
  }
}

static const char environment[] =
    "KRYLOCL_DEVICE the device, as of --device\n"
    "KRYLOCL_OPENCL the loader of OpenCL (else libOpenCL.so.1)\n"
    "KRYLOCL_CACHE the cache folder (else $XDG_CACHE_HOME/krylocl or ~/.cache/krylocl); set but "
    "empty: none\n"
    "KRYLOCL_TUNE the file of tunables; set but empty: none\n"
    "KRYLOCL_COLLECTION the server or folder of the SuiteSparse collection\n"
    "NO_COLOR not empty: neither bold nor colours\n"
    "OMP_NUM_THREADS threads of the cpu device\n";

static void man_variables(void) {
  for (const char *s = environment; *s; s += strcspn(s, "\n") + 1) {
    int name = (int)strcspn(s, " "), n = (int)strcspn(s, "\n");
    printf(".TP\n\\fB%.*s\\fR\n", name, s);
    man_text(s + name + 1, n - name - 1);
    putchar('\n');
  }
}

static int run_man(kcl_context *ctx, const cli_options *o) {
  const cli_command *c;
  (void)ctx;
  printf(".TH KRYLOCL 1 \"\" \"krylocl %s\" \"User Commands\"\n.SH NAME\nkrylocl \\- ",
         kcl_version());
  man_line(cli_about());
  puts(".SH SYNOPSIS");
  for (int i = 0; (c = o->commands[i]); i++) {
    printf("%s\\fBkrylocl %s\\fR", i ? ".br\n" : "", c->name);
    printf("%s%s", *c->options ? " [\\fIoptions\\fR]" : "", *c->operands ? " " : "");
    man_line(c->operands);
  }
  puts(".SH DESCRIPTION");
  man_line(cli_files());
  puts(".SH SUBCOMMANDS");
  for (int i = 0; (c = o->commands[i]); i++) man_command(c);
  puts(".SH NAMES");
  man_lists();
  puts(".SH EXIT STATUS");
  man_line(cli_exits());
  puts(".SH ENVIRONMENT");
  man_variables();
  return 0;
}

const cli_command cli_man = {.name = "man",
                             .operands = "",
                             .summary = "the manual page, in man(7): make install installs it",
                             .options = "",
                             .for_install = true,
                             .run = run_man};
