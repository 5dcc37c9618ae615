/* Axes of pictures: where a value is, round ticks, their labels. */
#include "cli/draw/svg.h"

static const double LARGEST = 1e300; /* so that ranges and ticks are finite */

double cli_axis_at(const cli_axis *a, double v) {
  double t = a->log ? log(v / a->lo) / log(a->hi / a->lo) : (v - a->lo) / (a->hi - a->lo);
  return a->from + t * (a->to - a->from);
}

/* A logarithm as a whole number; 0 where it is out of range, as numbers from any JSON file may be. */
static int whole_exponent(double logarithm) { return fabs(logarithm) < 400 ? (int)logarithm : 0; }

/* A step between ticks: 1, 2 or 5 times a power of ten, about a fifth of the range. */
static double step_of(double range) {
  double unit = pow(10, floor(log10(range / 5))), n = range / 5 / unit;
  if (n < 1.5) return unit;
  if (n < 3.5) return unit * 2;
  return unit * (n < 7.5 ? 5 : 10);
}

static bool spans_decades(const cli_axis *a) { return a->hi / a->lo > 200; }

/* The nearest of 1, 2 and 5 times a power of ten that is not above v; up: not below. */
static double round_log(double v, bool up) {
  const double unit = pow(10, floor(log10(v) + 1e-9)), m = v / unit;
  if (!up) return unit * (m >= 5 - 1e-9 ? 5 : m >= 2 - 1e-9 ? 2 : 1);
  if (m <= 1 + 1e-9) return unit;
  if (m <= 2 + 1e-9) return unit * 2;
  return unit * (m <= 5 + 1e-9 ? 5 : 10);
}

cli_axis cli_axis_round(cli_axis a) {
  a.lo = fmax(fmin(a.lo, LARGEST), -LARGEST), a.hi = fmax(fmin(a.hi, LARGEST), -LARGEST);
  if (!a.log) {
    if (!(a.hi > a.lo)) a.hi = a.lo + 1;
    double step = step_of(a.hi - a.lo);
    a.lo = floor(a.lo / step + 1e-9) * step, a.hi = ceil(a.hi / step - 1e-9) * step;
    return a;
  }
  if (!(a.lo > 0)) a.lo = 1e-300;
  if (!(a.hi > a.lo)) a.hi = a.lo;
  a.lo = round_log(a.lo / 1.1, false), a.hi = round_log(a.hi * 1.1, true);
  return a;
}

/* Ticks at powers of ten, at most ten. */
static int decade_ticks(const cli_axis *a, double ticks[CLI_AXIS_TICKS]) {
  int first = whole_exponent(ceil(log10(a->lo) - 1e-9)),
      last = whole_exponent(floor(log10(a->hi) + 1e-9)), n = 0;
  int step = (last - first) / 10 + 1;
  for (int e = first; e <= last && n < CLI_AXIS_TICKS; e += step) ticks[n++] = pow(10, e);
  return n;
}

/* Ticks at 1, 2 and 5 times powers of ten; where those are few, at 1, 1.5, 2, 3, 4 ... */
static int fine_ticks(const cli_axis *a, double ticks[CLI_AXIS_TICKS]) {
  static const double few[] = {1, 2, 5}, many[] = {1, 1.5, 2, 2.5, 3, 4, 5, 6, 8};
  const double *m = a->hi / a->lo < 4 ? many : few;
  const int each = m == many ? 9 : 3;
  int n = 0;
  for (int e = whole_exponent(floor(log10(a->lo))); e <= whole_exponent(ceil(log10(a->hi))); e++)
    for (int i = 0; i < each && n < CLI_AXIS_TICKS; i++) {
      double v = m[i] * pow(10, e);
      if (v >= a->lo * (1 - 1e-9) && v <= a->hi * (1 + 1e-9)) ticks[n++] = v;
    }
  return n;
}

/* Writes the values of the ticks and returns their number. */
static int list_ticks(const cli_axis *a, double ticks[CLI_AXIS_TICKS]) {
  int n = 0;
  for (; n < a->mark_count; n++) ticks[n] = a->marks[n];
  if (n) return n;
  if (a->log) return spans_decades(a) ? decade_ticks(a, ticks) : fine_ticks(a, ticks);
  double step = step_of(a->hi - a->lo);
  for (double v = ceil(a->lo / step - 1e-9) * step; v <= a->hi + 1e-9 * step && n < CLI_AXIS_TICKS;
       v += step)
    ticks[n++] = fabs(v) < 1e-9 * step ? 0 : v;
  return n;
}

void cli_axis_below(FILE *f, const cli_axis *a, double y, double top, cli_axis_label text,
                    const char *title) {
  double ticks[CLI_AXIS_TICKS], last = -1e9;
  int n = list_ticks(a, ticks);
  for (int i = 0; i < n; i++) {
    double x = cli_axis_at(a, ticks[i]);
    cli_text t = text(ticks[i]);
    cli_svg_line(f, x, top, x, y, "rule");
    if (x - cli_svg_width(t.s) / 2 < last + 6) continue;
    cli_svg_text(f, x, y + 16, "mute c", t.s);
    last = x + cli_svg_width(t.s) / 2;
  }
  cli_svg_text(f, (a->from + a->to) / 2, y + 34, "mute c", title);
}

void cli_axis_left(FILE *f, const cli_axis *a, double x, double right, cli_axis_label text,
                   const char *title) {
  double ticks[CLI_AXIS_TICKS];
  int n = list_ticks(a, ticks);
  for (int i = 0; i < n; i++) {
    double y = cli_axis_at(a, ticks[i]);
    cli_svg_line(f, x, y, right, y, "rule");
    cli_svg_text(f, x - 6, y + 4, "mute e", text(ticks[i]).s);
  }
  cli_svg_text(f, 4, 13, "mute", title);
}

cli_text cli_axis_number(double v) {
  cli_text t;
  if (fabs(v) >= 999.5 && fabs(v) < 1e15) return cli_count((int64_t)round(v));
  snprintf(t.s, sizeof t.s, "%.4g", v);
  return t;
}

cli_text cli_exact_seconds(double v) {
  static const struct {
    double below, per_second;
    const char *name;
  } units[] = {{0.9995e-6, 1e9, "ns"},
               {0.9995e-3, 1e6, "\xc2\xb5s"},
               {0.9995, 1e3, "ms"},
               {INFINITY, 1, "s"}};
  cli_text t;
  int i = 0;
  while (i < 3 && !(v < units[i].below)) i++;
  const double u = v * units[i].per_second;
  snprintf(t.s, sizeof t.s, "%.*f %s", u < 9.995 ? 2 : u < 99.95 ? 1 : 0, u, units[i].name);
  return t;
}

/* Up to three digits, with the sign for micro. */
cli_text cli_axis_seconds(double v) {
  cli_text t;
  if (v == 0) return (cli_text){"0"};
  if (v < 0.9995e-6)
    snprintf(t.s, sizeof t.s, "%.3g ns", v * 1e9);
  else if (v < 0.9995e-3)
    snprintf(t.s, sizeof t.s, "%.3g \xc2\xb5s", v * 1e6);
  else if (v < 0.9995)
    snprintf(t.s, sizeof t.s, "%.3g ms", v * 1e3);
  else
    snprintf(t.s, sizeof t.s, "%.3g s", v);
  return t;
}

cli_text cli_axis_bytes(double v) {
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
  cli_text t;
  int u = 0;
  for (; v >= 999.5 && u < 4; u++) v /= 1000;
  snprintf(t.s, sizeof t.s, "%.3g %s", v, units[u]);
  return t;
}

/* Powers of ten as 10 with an exponent of raised digits and a real minus. */
cli_text cli_axis_power(double v) {
  static const char *const raised[] = {
      "\xe2\x81\xb0", "\xc2\xb9",     "\xc2\xb2",     "\xc2\xb3",     "\xe2\x81\xb4",
      "\xe2\x81\xb5", "\xe2\x81\xb6", "\xe2\x81\xb7", "\xe2\x81\xb8", "\xe2\x81\xb9"};
  cli_text t;
  char digits[8];
  int e = whole_exponent(round(log10(v)));
  if (fabs(v / pow(10, e) - 1) > 1e-6 || (e >= 0 && e < 4)) return cli_axis_number(v);
  snprintf(t.s, sizeof t.s, "10%s", e < 0 ? "\xe2\x81\xbb" : "");
  snprintf(digits, sizeof digits, "%d", abs(e) % 1000);
  for (const char *d = digits; *d; d++) cli_append(t.s, sizeof t.s, "%s", raised[*d - '0']);
  return t;
}
