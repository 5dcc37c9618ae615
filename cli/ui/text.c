/* Numbers, times and names as words for users, and the clock. Prints nothing. */
#include "cli/ui/text.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

void cli_append(char *text, size_t capacity, const char *format, ...) {
  const size_t used = strlen(text);
  va_list args;
  va_start(args, format);
  vsnprintf(text + used, capacity - used, format, args);
  va_end(args);
}

/* Bytes of the character that this first byte announces; 0: none begins so. */
static int announced_bytes(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

int cli_character(const char *text) {
  const unsigned char *s = (const unsigned char *)text;
  int n = announced_bytes(*s);
  if (n == 1) return *s >= 0x20 && *s != 0x7f;
  for (int i = 1; i < n; i++)
    if ((s[i] & 0xc0) != 0x80) return 0;
  if (n == 2 && *s == 0xc2 && s[1] < 0xa0) return 0;
  if (n == 3 && ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f))) return 0;
  if (n == 3 && *s == 0xef && s[1] == 0xbf && s[2] > 0xbd) return 0;
  if (n == 4 && ((*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f))) return 0;
  return n;
}

cli_text cli_count(int64_t n) {
  char digits[24];
  cli_text t;
  int len = snprintf(digits, sizeof digits, "%" PRId64, n), q = 0;
  for (int i = 0; i < len; i++) {
    t.s[q++] = digits[i];
    if (digits[i] != '-' && i + 1 < len && (len - i - 1) % 3 == 0) t.s[q++] = ',';
  }
  t.s[q] = 0;
  return t;
}

cli_text cli_whole(double v) {
  cli_text t;
  if (fabs(v) < 9e15) return cli_count((int64_t)v);
  snprintf(t.s, sizeof t.s, "%.3g", v);
  return t;
}

void cli_zeros(char *text, size_t size, const char *what, int64_t count, int64_t first) {
  const bool one = count == 1;
  if (first >= 0 && one)
    snprintf(text, size, "%s %s of A is zero", what, cli_count(first + 1).s);
  else
    snprintf(text, size, "%s %s%s of A %s zero", cli_count(count).s, what, one ? "" : "s",
             one ? "is" : "are");
  if (first >= 0 && !one)
    cli_append(text, size, ", the first is %s %s", what, cli_count(first + 1).s);
}

cli_text cli_bytes(double bytes) {
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
  cli_text t;
  int u = 0;
  for (; bytes >= 999.5 && u < 4; u++) bytes /= 1000;
  snprintf(t.s, sizeof t.s, u == 0 || bytes >= 99.5 ? "%.0f %s" : "%.1f %s", bytes, units[u]);
  return t;
}

cli_text cli_seconds(double s) {
  cli_text t;
  if (s < 0.9995e-3)
    snprintf(t.s, sizeof t.s, "%.3g us", s * 1e6);
  else if (s < 0.9995)
    snprintf(t.s, sizeof t.s, "%.3g ms", s * 1e3);
  else if (s < 99.5)
    snprintf(t.s, sizeof t.s, "%.3g s", s);
  else if (s < 5940)
    snprintf(t.s, sizeof t.s, "%.0f min %02.0f s", floor(s / 60), fmod(s, 60));
  else
    snprintf(t.s, sizeof t.s, "%.0f h %02.0f min", floor(s / 3600), floor(fmod(s, 3600) / 60));
  return t;
}

cli_text cli_stream(const kcl_stream *s) {
  cli_text t;
  snprintf(t.s, sizeof t.s, "%.1f GB/s (%.1f to %.1f)", s->rate * 1e-9, s->low * 1e-9,
           s->high * 1e-9);
  return t;
}

cli_text cli_age(const kcl_stream *s) {
  const double age = difftime(time(NULL), (time_t)s->date), days = floor(age / 86400);
  cli_text t = {"now"};
  if (days >= 1)
    snprintf(t.s, sizeof t.s, "%.0f day%s ago", fmin(days, 1e6), days > 1 ? "s" : "");
  else if (age >= 3600)
    snprintf(t.s, sizeof t.s, "%.0f h ago", floor(age / 3600));
  else if (age >= 60)
    snprintf(t.s, sizeof t.s, "%.0f min ago", floor(age / 60));
  return t;
}

const char *cli_type_words(kcl_type t) {
  return (const char *[]){"single precision", "double precision", "complex single precision",
                          "complex double precision"}[t];
}

const char *cli_base(const char *path) {
  const char *slash = strrchr(path, '/');
  if (strcmp(path, "-") == 0) return "standard input";
  return slash ? slash + 1 : path;
}

int cli_each_word(const char *list, int (*each)(void *self, const char *word), void *self) {
  int rc = 0;
  for (const char *s = list; s && !rc; s = *s ? s + 1 : NULL) {
    char word[256];
    size_t n = strcspn(s, ",");
    snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word - 1), s);
    rc = each(self, word);
    s += n;
  }
  return rc;
}

static int order_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double cli_median(double *v, int n) {
  qsort(v, (size_t)n, sizeof *v, order_doubles);
  return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

double cli_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

cli_text cli_device_place(const kcl_device *d) {
  cli_text t = {"cpu"};
  if (d->platform >= 0) snprintf(t.s, sizeof t.s, "%d:%d", d->platform, d->device);
  return t;
}

cli_text cli_checksum_text(unsigned long long sum) {
  cli_text t;
  snprintf(t.s, sizeof t.s, "0x%016llx", sum);
  return t;
}
