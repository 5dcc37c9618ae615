/* Parameters of preconditioners, of the option --parameters: the library has their table and checks values. */
#include "cli/input/input.h"
#include "cli/ui/say.h"
#include "cli/ui/text.h"

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

/* Sets name=value. */
static int set_parameter_term(void *o, const char *term) {
  char name[160];
  const char *equals = strchr(term, '=');
  snprintf(name, sizeof name, "%.*s", (int)strcspn(term, "="), term);
  if (!*term) return 0;
  int rc = check_parameter(name);
  if (!rc && !equals) rc = cli_fail(KCL_USAGE, "--parameters: %s needs a value: %s=V", name, name);
  return rc ? rc : cli_lib(kcl_options_set(o, name, equals + 1));
}

int cli_parameters_set(const char *list, kcl_options *o) {
  return cli_each_word(list, set_parameter_term, o);
}
