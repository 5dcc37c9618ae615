/* Fortran edit descriptors as they stand in Harwell-Boeing headings, and one field read by them.
 *
 *   (16I5)  (4E20.12)  (1P,5D16.9)  (1P5E16.8E3)  (5(1PE16.8))       n F|E|D|G|ES|EN w . d
 *
 * A field is `w` characters wide whether or not blanks part it from the next. D, Q, E and a bare sign
 * begin an exponent (1.5-103); a point that is not written stands d places from the right; kP
 * divides numbers without an exponent by 10^k. ISO/IEC 1539-1, input editing.
 *
 * Fortran ignores blanks within a field. Here a digit behind a blank is refused: it belongs to the
 * next number, of a file whose fields are wider than its heading says. */
#include "data/files/hb.h"
#include "core/base/number.h"
#include <float.h>
#include <stdio.h>

enum { WIDEST = 60, MOST_FIELDS = 1000 };

static const char *parse_whole(const char *p, const char *end, int *v) {
  bool minus = p < end && *p == '-';
  const char *first = p += minus || (p < end && *p == '+');
  for (*v = 0; p < end && *p >= '0' && *p <= '9'; p++)
    if (*v < 100000) *v = 10 * *v + (*p - '0');
  if (minus) *v = -*v;
  return p == first ? NULL : p;
}

/* w[.d][Ee] after the letter. */
static bool parse_edit_size(const char *p, const char *end, hb_edit *e) {
  int digits;
  if (!(p = parse_whole(p, end, &e->width))) return false;
  if (p < end && *p == '.' && !(p = parse_whole(p + 1, end, &e->decimals))) return false;
  if (p < end && *p == 'E' && !(p = parse_whole(p + 1, end, &digits))) return false;
  for (; p < end; p++)
    if (*p != ')') return false;
  return e->width > 0 && e->width <= WIDEST && e->decimals >= 0 && e->decimals <= 400;
}

/* The text without blanks, in capitals. */
static int squeeze_blanks(const char *s, const char *end, char *out, int capacity) {
  int n = 0;
  for (; s < end && n < capacity; s++)
    if (!mm_is_blank(*s)) out[n++] = *s >= 'a' && *s <= 'z' ? (char)(*s - 32) : *s;
  return n;
}

bool hb_edit_parse(const char *s, const char *end, hb_edit *e) {
  char text[WIDEST];
  int n = squeeze_blanks(s, end, text, sizeof text), count;
  const char *p = text, *stop = text + n;
  *e = (hb_edit){.per_line = 1};
  if (n == 0 || *p != '(') return false;
  for (; p < stop; p++) {
    if (*p == '(' || *p == ',') continue;
    const char *after = parse_whole(p, stop, &count);
    if (after && after < stop && *after == 'P') {
      e->scale = count, p = after;
      continue;
    }
    if (after && (count < 1 || count > MOST_FIELDS)) return false;
    if (after) e->per_line *= count, p = after;
    if (e->per_line > MOST_FIELDS) return false;
    if (p < stop && *p == '(' && after) continue;
    if (p == stop || !strchr("IFEDG", *p)) return false;
    e->integer = *p == 'I';
    if (p + 1 < stop && *p == 'E' && (p[1] == 'S' || p[1] == 'N')) p++;
    return parse_edit_size(p + 1, stop, e) && abs(e->scale) < 400;
  }
  return false;
}

bool hb_field_integer(const char *at, const char *end, int64_t *v) {
  while (at < end && mm_is_blank(*at)) at++;
  while (at < end && mm_is_blank(end[-1])) end--;
  bool minus = at < end && *at == '-';
  at += minus || (at < end && *at == '+');
  if (at == end || end - at > 18) return false;
  for (*v = 0; at < end && *at >= '0' && *at <= '9'; at++) *v = 10 * *v + (*at - '0');
  if (minus) *v = -*v;
  return at == end;
}

static const char *skip(const char *p, const char *end) {
  while (p < end && mm_is_blank(*p)) p++;
  return p;
}

/* The exponent at p up to the end of the field: a letter, a sign or both, at most three digits that count. gap: blanks
 * stand before it. */
static bool parse_exponent(const char *p, const char *end, bool gap, int *power) {
  bool letter = strchr("EDQedq", *p) != NULL;
  if (letter) p = skip(p + 1, end);
  bool minus = p < end && *p == '-', sign = minus || (p < end && *p == '+');
  if (!sign && !letter) return false;
  if (gap && !letter) return false;
  p = skip(p + sign, end);
  const char *first = p;
  for (*power = 0; p < end && *p >= '0' && *p <= '9' && *power < 1000; p++)
    *power = 10 * *power + (*p - '0');
  if (minus) *power = -*power;
  return p > first && abs(*power) < 1000 && skip(p, end) == end;
}

/* sign, digits and point go to text; *rest is what follows. Returns the length, or -1. */
static int mantissa(const char *at, const char *end, char *text, bool *point, bool *gap,
                    const char **rest) {
  int n = 0;
  bool digits = false;
  for (; at < end; at++) {
    if (mm_is_blank(*at)) {
      *gap = digits || *point;
      continue;
    }
    bool digit = *at >= '0' && *at <= '9', sign = *at == '-' || *at == '+';
    if (!digit && !(*at == '.' && !*point) && !(sign && n == 0)) break;
    if (*gap) return -1;
    digits = digits || digit, *point = *point || *at == '.';
    text[n++] = *at;
  }
  *rest = at;
  return digits ? n : -1;
}

const char *hb_field_second(const char *at, const char *end) {
  bool digits = false, gap = false;
  for (; at < end; at++) {
    bool digit = *at >= '0' && *at <= '9';
    if (gap && digit) return at;
    gap = digits && (gap || mm_is_blank(*at)) && !strchr("EDQedq", *at);
    digits = digits || digit || *at == '.';
  }
  return NULL;
}

bool hb_field_number(const hb_edit *e, const char *at, const char *end, double *v) {
  char text[WIDEST + 40] = {0};
  const char *rest = end;
  bool point = false, gap = false;
  int power = 0, n = end - at > WIDEST ? -1 : mantissa(at, end, text, &point, &gap, &rest);
  if (n < 0 || (rest < end && !parse_exponent(rest, end, gap, &power))) return false;
  if (rest == end) power -= e->scale;
  if (!point) power -= e->decimals;
  if (power) n += snprintf(text + n, 16, "e%d", power);
  const char *stop = kcl_parse_number(text, v);
  return stop == text + n && fabs(*v) <= DBL_MAX;
}
