/* Values of the parameters of preconditioners: terms of kcl_options.parameters, "amg.theta=0.5 ilut.fill=40", with one blank
 * between them. */
#include "core/base/number.h"
#include "solver/contract/precond.h"
#include <stdio.h>

static size_t length_of_term(const char *term) { return strcspn(term, " "); }

static const char *next_term(const char *term) {
  term += length_of_term(term);
  return term + strspn(term, " ");
}

static bool term_sets(const char *term, const char *name) {
  const size_t n = strlen(name);
  return !strncmp(term, name, n) && term[n] == '=';
}

double kcl_precond_value(const kcl_precond_request *q, const kcl_option *p, double automatic) {
  char value[KCL_PARAMETERS];
  const char *term = q->parameters ? q->parameters : "";
  double v;
  while (*term && !term_sets(term, p->name)) term = next_term(term);
  snprintf(value, sizeof value, "%.*s", (int)length_of_term(term), term);
  const char *number = *value ? value + strlen(p->name) + 1 : p->default_text;
  return kcl_read_number(number, &v) ? v : automatic;
}

bool kcl_parameters_put(char text[KCL_PARAMETERS], const char *name, const char *value) {
  char terms[KCL_PARAMETERS] = "";
  size_t used = 0;
  if (!memchr(text, 0, KCL_PARAMETERS)) return false;
  for (const char *s = text; *s; s = next_term(s))
    if (!term_sets(s, name))
      used += (size_t)snprintf(terms + used, sizeof terms - used, "%s%.*s", used ? " " : "",
                               (int)length_of_term(s), s);
  if (*value)
    used += (size_t)snprintf(terms + used, sizeof terms - used, "%s%s=%s", used ? " " : "", name,
                             value);
  if (used >= sizeof terms) return false;
  memcpy(text, terms, sizeof terms);
  return true;
}
