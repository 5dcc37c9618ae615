/* krylocl completion: completion for bash, zsh and fish, from the program's own tables. */
#include "cli/help.h"
#include "cli/input/input.h"
#include "cli/ui/say.h"

/* Name k of a list of values: "@solvers" is a list of the program, "=precond" an option of the library; NULL: no more. */
static const char *name_of_values(const char *list, int n, int k) {
  char name[32];
  snprintf(name, sizeof name, "%.*s", n - 1, list + 1);
  if (*list == '=') return kcl_option_word(cli_library_option(name), k);
  if (!strcmp(name, "parameters")) return cli_parameter(k).name;
  for (const cli_names *l = cli_lists; l->word; l++)
    if (!strcmp(l->word, name)) return kcl_list(l->which, k).name;
  return NULL;
}

/* Prints the words of values: "auto @solvers" becomes auto cg ... */
static void print_words(const char *values) {
  const char *blank = "", *name;
  for (const char *s = values; *s; s += strspn(s, " ")) {
    int n = (int)strcspn(s, " ");
    if (!strchr("@=", *s)) printf("%s%.*s", blank, n, s), blank = " ";
    for (int k = 0; strchr("@=", *s) && (name = name_of_values(s, n, k)); k++, blank = " ")
      printf("%s%s", blank, name);
    s += n;
  }
}

/* The words that operands may be, "" if there are no operands, NULL if they are files. */
static const char *operand_words(const cli_command *c) {
  if (!strcmp(c->name, "list"))
    return "formats solvers preconds parameters generators devices collection";
  if (!strcmp(c->name, "completion")) return "bash zsh fish";
  if (!strcmp(c->name, "generate")) return "@generators";
  return c->max ? NULL : "";
}

static void command_names(const cli_command *const *commands) {
  for (int i = 0; commands[i]; i++) printf("%s%s", i ? " " : "", commands[i]->name);
}

/* ---------------------------------------------------------------- bash */

static void bash_values(const cli_command *c) {
  const cli_option *e;
  for (int i = 0; (e = cli_option_at(c, i)); i++) {
    if (!e->arg || !e->values) continue;
    printf("    %s:--%s", c->name, e->name);
    if (e->letter) printf(" | %s:-%c", c->name, e->letter);
    printf(") words='");
    print_words(e->values);
    puts("' ;;");
  }
}

static void bash_options(const cli_command *c) {
  const cli_option *e;
  printf("    %s) options='", c->name);
  for (int i = 0; (e = cli_option_at(c, i)); i++) printf("%s--%s", i ? " " : "", e->name);
  printf("'");
  if (operand_words(c)) {
    printf(" operands='");
    print_words(operand_words(c));
    printf("'");
  }
  puts(" ;;");
}

/* Prints the letters and names of options that take a value. */
static void bash_with_value(const cli_command *const *commands) {
  const cli_option *e;
  for (int i = 0; commands[i]; i++)
    for (int k = 0; (e = cli_option_at(commands[i], k)); k++) {
      if (!e->arg) continue;
      printf("|%s:--%s", commands[i]->name, e->name);
      if (e->letter) printf("|%s:-%c", commands[i]->name, e->letter);
    }
}

static void complete_bash(const cli_command *const *commands) {
  printf("# bash completion for krylocl %s, written by: krylocl completion bash\n"
         "_krylocl() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
         "  local command= words= options= operands=- i\n"
         "  COMPREPLY=()\n"
         "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
         "    case \" ",
         kcl_version());
  command_names(commands);
  puts(
      " \" in *\" ${COMP_WORDS[i]} \"*) command=${COMP_WORDS[i]}; break ;; esac\n"
      "  done\n"
      "  if [[ $before == = && COMP_CWORD -gt 1 ]]; then before=${COMP_WORDS[COMP_CWORD - 2]}; fi\n"
      "  if [[ $word == = ]]; then before=${COMP_WORDS[COMP_CWORD - 1]} word=; fi\n"
      "  if [[ -z $command ]]; then");
  printf("    COMPREPLY=($(compgen -W '");
  command_names(commands);
  puts(" --help --version' -- \"$word\"))\n    return\n  fi\n  case $command:$before in");
  for (int i = 0; commands[i]; i++) bash_values(commands[i]);
  puts("    *) words=- ;;\n  esac");
  puts("  if [[ $words != - ]]; then\n"
       "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n    return\n  fi");
  printf("  case '");
  bash_with_value(commands);
  puts("|' in *\"|$command:$before|\"*) COMPREPLY=($(compgen -f -- \"$word\")); return ;; esac\n"
       "  case $command in");
  for (int i = 0; commands[i]; i++) bash_options(commands[i]);
  puts("  esac\n"
       "  if [[ $word == -* ]]; then\n"
       "    COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
       "  elif [[ $operands == - ]]; then\n"
       "    COMPREPLY=($(compgen -f -- \"$word\"))\n"
       "  else\n"
       "    COMPREPLY=($(compgen -W \"$operands\" -- \"$word\"))\n"
       "  fi\n"
       "}\n"
       "complete -o filenames -F _krylocl krylocl");
}

/* ---------------------------------------------------------------- zsh */

/* Prints text for single quotes and _arguments: ' : [ ] and \ are escaped. */
static void zsh_text(const char *s) {
  for (; *s; s++) {
    if (*s == '\'')
      fputs("'\\''", stdout);
    else if (strchr(":[]\\", *s))
      printf("\\%c", *s);
    else
      putchar(*s);
  }
}

static void zsh_value(const char *what, const char *values) {
  printf(":%s:", what);
  if (!values)
    printf("_files");
  else if (*values) {
    putchar('(');
    print_words(values);
    putchar(')');
  } else
    putchar(' ');
}

static void zsh_option(const cli_command *c, const cli_option *e) {
  for (int letter = e->letter != 0; letter >= 0; letter--) {
    if (letter)
      printf(" \\\n        '-%c[", e->letter);
    else
      printf(" \\\n        '--%s%s[", e->name, e->arg ? "=" : "");
    zsh_text(cli_option_help(c, e).s);
    putchar(']');
    if (e->arg) zsh_value(e->arg, e->values);
    putchar('\'');
  }
}

static void zsh_command(const cli_command *c) {
  const cli_option *e;
  printf("      %s) _arguments -s", c->name);
  for (int i = 0; (e = cli_option_at(c, i)); i++) zsh_option(c, e);
  if (c->max) {
    printf(" \\\n        '*");
    zsh_value("operand", operand_words(c));
    putchar('\'');
  }
  puts(" ;;");
}

static void complete_zsh(const cli_command *const *commands) {
  printf("#compdef krylocl\n# zsh completion for krylocl %s, written by: krylocl completion zsh\n"
         "_krylocl() {\n"
         "  local context state state_descr line\n"
         "  typeset -A opt_args\n"
         "  _arguments -C '1:subcommand:->command' '*::operand:->rest'\n"
         "  case $state in\n"
         "  command)\n    local -a commands=(\n",
         kcl_version());
  for (int i = 0; commands[i]; i++) {
    printf("      '%s:", commands[i]->name);
    zsh_text(commands[i]->summary);
    puts("'");
  }
  puts("    )\n    _describe subcommand commands ;;\n  rest)\n    case $line[1] in");
  for (int i = 0; commands[i]; i++) zsh_command(commands[i]);
  puts("    esac ;;\n  esac\n}\n"
       "if [ \"$funcstack[1]\" = _krylocl ]; then _krylocl \"$@\"; else compdef _krylocl krylocl; "
       "fi");
}

/* ---------------------------------------------------------------- fish */

static void fish_text(const char *s) {
  for (; *s; s++) printf(*s == '\'' || *s == '\\' ? "\\%c" : "%c", *s);
}

static void fish_option(const cli_command *c, const cli_option *e) {
  printf("complete -c krylocl -n '__fish_seen_subcommand_from %s' -l %s", c->name, e->name);
  if (e->letter) printf(" -s %c", e->letter);
  if (e->arg) printf(e->values ? " -x" : " -r -F");
  if (e->arg && e->values && *e->values) {
    printf(" -a '");
    print_words(e->values);
    putchar('\'');
  }
  printf(" -d '");
  fish_text(cli_option_help(c, e).s);
  puts("'");
}

static void fish_command(const cli_command *c) {
  const cli_option *e;
  printf("complete -c krylocl -n __fish_use_subcommand -f -a %s -d '", c->name);
  fish_text(c->summary);
  puts("'");
  for (int i = 0; (e = cli_option_at(c, i)); i++) fish_option(c, e);
  if (!operand_words(c)) return;
  printf("complete -c krylocl -n '__fish_seen_subcommand_from %s' -f -a '", c->name);
  print_words(operand_words(c));
  puts("'");
}

static void complete_fish(const cli_command *const *commands) {
  printf("# fish completion for krylocl %s, written by: krylocl completion fish\n", kcl_version());
  for (int i = 0; commands[i]; i++) fish_command(commands[i]);
}

static const struct {
  const char *name;
  void (*print)(const cli_command *const *commands);
} shells[] = {{"bash", complete_bash}, {"zsh", complete_zsh}, {"fish", complete_fish}};
enum { SHELLS = sizeof shells / sizeof *shells };

static int run_completion(kcl_context *ctx, const cli_options *o) {
  const char *names[SHELLS];
  (void)ctx;
  for (int i = 0; i < SHELLS; i++) {
    names[i] = shells[i].name;
    if (strcmp(o->files[0], names[i])) continue;
    shells[i].print(o->commands);
    return 0;
  }
  return cli_unknown("shell", o->files[0], names, SHELLS);
}

const cli_command cli_completion = {.name = "completion",
                                    .operands = "bash|zsh|fish",
                                    .summary = "completion for a shell: make install installs it",
                                    .options = "",
                                    .min = 1,
                                    .max = 1,
                                    .for_install = true,
                                    .run = run_completion,
                                    .notes = "In this shell alone: eval \"$(krylocl completion "
                                             "bash)\", eval \"$(krylocl completion zsh)\" after "
                                             "compinit, or krylocl completion fish | source.\n"};
