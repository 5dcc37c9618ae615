/* Parameters of preconditioners, of the option --parameters: the library has their table and checks values. */
#include "cli/input/parameters.h"
#include "cli/ui/say.h"
#include <stdio.h>
#include <string.h>

kcl_option cli_parameter(int k) {
  for (int i = 0; i < kcl_option_count(); i++)
    if (strchr(kcl_option_at(i).name, '.') && k-- == 0) return kcl_option_at(i);
  return (kcl_option){0};
}

static int check_parameter(const char *name) {
  enum { MOST = 128 };
  const char *names[MOST], *one;
  int count = 0;
  for (; count < MOST && (one = cli_parameter(count).name); count++) {
    if (!strcmp(one, name)) return 0;
    names[count] = one;
  }
  return cli_unknown("parameter", name, names, count);
}

/* Sets name=value; the text is cut at the sign. */
static int set_parameter_term(char *term, kcl_options *o) {
  char *equals = strchr(term, '=');
  if (equals) *equals = 0;
  int rc = check_parameter(term);
  if (!rc && !equals) rc = cli_fail(KCL_USAGE, "--parameters: %s needs a value: %s=V", term, term);
  return rc ? rc : cli_lib(kcl_options_set(o, term, equals + 1));
}

int cli_parameters_set(const char *list, kcl_options *o) {
  int rc = 0;
  for (const char *s = list; s && *s && !rc; s += strspn(s, ",")) {
    char term[160];
    const size_t n = strcspn(s, ",");
    snprintf(term, sizeof term, "%.*s", (int)n, s);
    rc = set_parameter_term(term, o);
    s += n;
  }
  return rc;
}
