/* Texts that grow, and numbers as people write them: three digits and a unit that fits. */
#include "core/base/text.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

void kcl_append(char *text, size_t capacity, const char *format, ...) {
  const size_t used = strlen(text);
  va_list args;
  va_start(args, format);
  vsnprintf(text + used, capacity - used, format, args);
  va_end(args);
}

static kcl_short_text digits(double v, const char *unit) {
  kcl_short_text t;
  snprintf(t.s, sizeof t.s, v < 999.5 ? "%.3g%s" : v < 1e6 ? "%.0f%s" : "%.1e%s", v, unit);
  return t;
}

kcl_short_text kcl_seconds_text(double s) {
  if (s < 0.9995e-3) return digits(s * 1e6, " us");
  return s < 0.9995 ? digits(s * 1e3, " ms") : digits(s, " s");
}

kcl_short_text kcl_bytes_text(double bytes) {
  static const char *const units[] = {" B", " kB", " MB", " GB", " TB"};
  int u = 0;
  for (; bytes >= 999.5 && u < 4; u++) bytes /= 1000;
  return digits(bytes, units[u]);
}

kcl_short_text kcl_factor_text(double v) {
  const kcl_short_text infinite = {"more than 1e+308"};
  return isinf(v) ? infinite : digits(v, "");
}
