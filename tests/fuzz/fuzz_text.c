/* Fuzz target: options by text, from a string and from a file. Numbers are in their ranges, and what was set, as a text,
 * sets the same again. */
#include "tests/fuzz/fuzz.h"

static void check_range(const char *name, double v) {
  for (int i = 0; i < kcl_option_count(); i++) {
    const kcl_option o = kcl_option_at(i);
    if (!strcmp(o.name, name)) FUZZ_REQUIRE(v >= o.min && v <= o.max);
  }
}

static void write_options(const kcl_options *o, char *text, size_t capacity) {
  snprintf(text, capacity,
           "solver=%s precond=%s format=%s precision=%c tol=%.17g atol=%.17g max-iter=%lld "
           "symmetry=%s scale=%s restart=%d nrhs=%d no-direct=%s mixed=%s %s",
           o->solver, o->precond, o->format, kcl_type_letter(o->precision), o->tol, o->atol,
           (long long)o->max_iter, (const char *[]){"rounding", "exact", "assume"}[o->symmetry],
           (const char *[]){"auto", "none"}[o->scale], o->restart, o->nrhs,
           o->no_direct ? "yes" : "no", o->mixed ? "yes" : "no", o->parameters);
}

/* Numbers at their defaults are outside the ranges and are replaced. */
static void check_options(kcl_options o) {
  char text[400 + KCL_PARAMETERS], again[sizeof text];
  kcl_options copy = kcl_defaults;
  if (o.tol < 0) o.tol = 1;
  if (!o.max_iter) o.max_iter = 1;
  if (!o.restart) o.restart = 1;
  if (!o.nrhs) o.nrhs = 1;
  check_range("tol", o.tol), check_range("atol", o.atol);
  check_range("max-iter", (double)o.max_iter);
  check_range("restart", o.restart), check_range("nrhs", o.nrhs);
  write_options(&o, text, sizeof text);
  FUZZ_REQUIRE(!kcl_options_parse(&copy, text));
  write_options(&copy, again, sizeof again);
  FUZZ_REQUIRE(!strcmp(text, again));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *path = fuzz_put(data, size);
  kcl_options o = kcl_defaults, from_file = kcl_defaults;
  char *text = calloc(size + 1, 1);
  FUZZ_REQUIRE(text);
  memcpy(text, data, size);
  int rc = kcl_options_parse(&o, text);
  FUZZ_REQUIRE(!rc || (rc == KCL_USAGE && strlen(kcl_error()) > 10));
  memset(text, 'x', size);
  free(text);
  check_options(o);
  const int of_file = kcl_options_read(&from_file, path);
  FUZZ_REQUIRE(memchr(data, 0, size) ? of_file == KCL_INPUT : of_file == (rc ? KCL_INPUT : KCL_OK));
  FUZZ_REQUIRE(of_file || !memcmp(&o, &from_file, sizeof o));
  return 0;
}
