/* Powers of ten for number.h, the slow path of reading, and printing of numbers.
 *
 * Bound: t is 10^q truncated, from 128-bit steps that each lose less than 2 units in 2^127; after
 * 330 of them 10^q < (t + 1 + 2^-50) 2^e. So w 2^zeros t / 2^64 is too small by less than 1 + 2^-50, and its
 * integer part u by less than 2 + 2^-50: only for low = half - 2, half - 1 and half is the rounding
 * uncertain.
 */
#include "core/base/number.h"
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

kcl_power kcl_powers[KCL_POWER_MAX - KCL_POWER_MIN + 1];

typedef unsigned __int128 uint128;

static void fill_powers(void) {
  uint128 p = (uint128)1 << 127;
  int64_t e = -63;
  for (int q = 0; q <= KCL_POWER_MAX; q++) {
    kcl_powers[q - KCL_POWER_MIN] = (kcl_power){(uint64_t)(p >> 64), e};
    bool room = p < ~(uint128)0 / 5 * 4;
    p = room ? p + (p >> 2) : (p >> 1) + (p >> 3); /* 5 p / 4 or 5 p / 8 */
    e += room ? 3 : 4;
  }
  p = (uint128)1 << 127, e = -63;
  for (int q = 0; q >= KCL_POWER_MIN; q--) {
    kcl_powers[q - KCL_POWER_MIN] = (kcl_power){(uint64_t)(p >> 64), e};
    uint128 fifth = p / 5, rest = p % 5;
    int s = fifth >> 125 ? 2 : 3; /* 4 p / 5 or 8 p / 5 */
    p = (fifth << s) + (rest << s) / 5;
    e -= s + 1;
  }
}

void kcl_number_init(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, fill_powers);
}

/* p is known to be a decimal number, so strtod does not meet hexadecimal or nan. */
const char *kcl_number_slow(const char *p, double *v) {
  locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  char *end = NULL;
  *v = c ? strtod_l(p, &end, c) : strtod(p, &end);
  if (c) freelocale(c);
  return end;
}

/* Leading zeros do not count. With more than 19 digits the number is between w and w + 1: if both round to
 * the same double, that is the result. */
const char *kcl_number_long(const char *start, double *v) {
  const char *p = start;
  uint64_t w = 0;
  int64_t q = 0;
  int digits = 0;
  bool minus = *p == '-', dot = false;
  double next;
  p += minus || *p == '+';
  for (; (*p >= '0' && *p <= '9') || (*p == '.' && !dot); p++) {
    if (*p == '.') {
      dot = true;
      continue;
    }
    bool take = digits < 19;
    if (take) w = w * 10 + (uint64_t)(*p - '0');
    digits += digits > 0 || *p != '0';
    q += !take - (int)dot;
  }
  if ((*p | 32) == 'e') p = kcl_exponent(p + 1, &q);
  if (!kcl_decimal(w, q, v) || !kcl_decimal(w + 1, q, &next) || (digits > 19 && *v != next))
    return kcl_number_slow(start, v);
  if (minus) *v = -*v;
  return p;
}

/* n = v 10^-k rounded to 17 digits (up to a unit), 10^16 <= n < 10^17; v normal and positive. */
static bool seventeen(double v, uint64_t *n, int *k) {
  uint64_t bits;
  memcpy(&bits, &v, 8);
  int e = (int)(bits >> 52) - 1075;
  if (e == -1075) return false;
  uint64_t m = ((bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52) << 11;
  *k = (int)((double)(e + 52) * 0.30102999566398120 + 400) - 400 - 16;
  for (;; ++*k) {
    if (-*k < KCL_POWER_MIN || -*k > KCL_POWER_MAX) return false;
    kcl_power p = kcl_powers[-*k - KCL_POWER_MIN];
    uint64_t u = (uint64_t)((uint128)m * p.t >> 64);
    int shift = (int)-(64 + p.e + e - 11);
    if (shift < 1 || shift > 63) return false;
    *n = (u + (UINT64_C(1) << (shift - 1))) >> shift;
    if (*n < UINT64_C(100000000000000000)) return *n >= UINT64_C(10000000000000000);
  }
}

/* Prints n 10^k, ended by 0, without trailing zeros, the decimal point placed as by %g. */
static int place_point(char *out, uint64_t n, int k, bool minus) {
  char d[24], *o = out;
  while (n % 10 == 0) n /= 10, k++;
  int len = 0;
  for (uint64_t m = n; m; m /= 10) len++;
  for (int i = len; i-- > 0; n /= 10) d[i] = (char)('0' + n % 10);
  int e = k + len - 1; /* d.ddd x 10^e */
  if (minus) *o++ = '-';
  if (e < -5 || e > 17) {
    *o++ = d[0];
    if (len > 1) {
      *o++ = '.';
      memcpy(o, d + 1, (size_t)(len - 1));
      o += len - 1;
    }
    *o++ = 'e';
    if (e < 0) *o++ = '-', e = -e;
    if (e > 99) *o++ = (char)('0' + e / 100);
    if (e > 9) *o++ = (char)('0' + e / 10 % 10);
    *o++ = (char)('0' + e % 10);
    *o = 0;
    return (int)(o - out);
  }
  if (e < 0) *o++ = '0', *o++ = '.';
  for (int i = e; i < -1; i++) *o++ = '0';
  for (int i = 0; i < len || i <= e; i++) {
    if (i == e + 1 && e >= 0) *o++ = '.';
    *o++ = i < len ? d[i] : '0';
  }
  *o = 0;
  return (int)(o - out);
}

static int by_printf(double v, char out[32]) {
  locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0), old = uselocale(c);
  double back = 0;
  int len = 0;
  for (int digits = 15; digits <= 17 && (len == 0 || back != v); digits++) {
    len = snprintf(out, 32, "%.*g", digits, v);
    back = strtod(out, NULL);
  }
  uselocale(old);
  if (c) freelocale(c);
  return len;
}

int kcl_number_print(double v, char out[32]) {
  uint64_t n, unit;
  int k;
  double a = v < 0 ? -v : v, back;
  if (a < 1e15 && a == (double)(int64_t)a && !(a == 0 && 1 / v < 0)) {
    if (a == 0) return strcpy(out, "0"), 1;
    return place_point(out, (uint64_t)a, 0, v < 0);
  }
  if (a == 0 || !seventeen(a, &n, &k)) return by_printf(v, out);
  for (unit = 100; unit; unit /= 10) {
    uint64_t m = (n + unit / 2) / unit * unit;
    if ((kcl_decimal(m, k, &back) || kcl_decimal(m / unit, k + (unit > 1) + (unit > 10), &back)) &&
        back == a)
      return place_point(out, m, k, v < 0);
  }
  return by_printf(v, out);
}

bool kcl_read_number(const char *text, double *v) {
  char room[64 + 16] = ""; /* kcl_parse_number reads 16 bytes beyond */
  const size_t length = strlen(text);
  if (length >= 64) return false;
  memcpy(room, text, length);
  kcl_number_init();
  const char *end = kcl_parse_number(room, v);
  return end && end == room + length;
}
