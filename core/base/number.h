/* Decimal text to double, correctly rounded, and back: the inlined part.
 *
 * w * 10^q with w of at most 19 digits is one 64 x 64 bit product with a truncated power of ten.
 * The result lies in an interval shorter than 3 units of the product's upper word. Unless half a unit of
 * the 53 bits is in it (1 in 700), the rounding is certain; otherwise strtod is called. After Clinger (1990)
 * and Lemire (2021); the bound is derived in number.c.
 */
#ifndef KCL_NUMBER_H
#define KCL_NUMBER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE4_1__
#include <smmintrin.h>
#endif

enum { KCL_POWER_MIN = -330, KCL_POWER_MAX = 308 };
typedef struct kcl_power {
  uint64_t t;
  int64_t e;
} kcl_power; /* 10^q = t 2^e (1 + d), 0 <= d < 2^-63 */
extern kcl_power kcl_powers[KCL_POWER_MAX - KCL_POWER_MIN + 1];

void kcl_number_init(void); /* must be called first; may be repeated */
/* Reads a decimal number that is the whole text, of fewer than 64 characters: false for others. */
bool kcl_read_number(const char *text, double *v);
const char *kcl_number_slow(const char *p, double *v); /* strtod in the C locale, decimal only */
const char *kcl_number_long(const char *p,
                            double *v); /* more than 19 digits, leading zeros included */
int kcl_number_print(
    double v,
    char out[32]); /* the shortest of 15, 16, 17 digits that reads back, ended by 0; its length */

/* *v = w 10^q; false if the rounding is not certain. */
static inline bool kcl_decimal(uint64_t w, int64_t q, double *v) {
  *v = 0;
  if (w == 0) return true;
  if (q < KCL_POWER_MIN || q > KCL_POWER_MAX) return false;
  kcl_power p = kcl_powers[q - KCL_POWER_MIN];
  int zeros = __builtin_clzll(w);
  uint64_t u = (uint64_t)((unsigned __int128)(w << zeros) * p.t >> 64);
  int cut = 10 + (int)(u >> 63);
  uint64_t half = UINT64_C(1) << (cut - 1), low = u & (2 * half - 1);
  int64_t exponent = 64 + p.e - zeros + cut + 1075;
  if (half - low <= 2 || exponent < 1 || exponent > 2045) return false;
  uint64_t bits = ((uint64_t)(exponent - 1) << 52) + (u >> cut) + (low > half);
  memcpy(v, &bits, sizeof bits);
  return true;
}

/* Eight characters at p, the first in the lowest byte, '0' to '9' as 0 to 9. */
static inline uint64_t kcl_eight(const char *p) {
  uint64_t x;
  memcpy(&x, p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  x = __builtin_bswap64(x);
#endif
  return x ^ UINT64_C(0x3030303030303030);
}

/* The lowest set bit is the top bit of the first byte that is not a digit; 0: all are digits. */
static inline uint64_t kcl_no_digits(uint64_t x) {
  return (x | (x + UINT64_C(0x7676767676767676))) & UINT64_C(0x8080808080808080);
}

/* Eight digits to a number: joined to pairs, fours, eight. */
static inline uint64_t kcl_join(uint64_t x) {
  x = x * 10 + (x >> 8);
  x = (x & UINT64_C(0x000000FF000000FF)) * (100 + (UINT64_C(1000000) << 32)) +
      ((x >> 16) & UINT64_C(0x000000FF000000FF)) * (1 + (UINT64_C(10000) << 32));
  return x >> 32;
}

#ifdef __SSE4_1__
/* Sixteen digits by the same steps; false if there are fewer. */
static inline bool kcl_sixteen(const char *p, uint64_t *w) {
  const __m128i nine = _mm_set1_epi8(9), ten = _mm_set1_epi16(1 << 8 | 10),
                hundred = _mm_set1_epi32(1 << 16 | 100), myriad = _mm_set1_epi32(1 << 16 | 10000);
  __m128i x = _mm_xor_si128(_mm_loadu_si128((const __m128i *)p), _mm_set1_epi8('0'));
  if (!_mm_test_all_zeros(_mm_subs_epu8(x, nine), _mm_set1_epi8(-1))) return false;
  x = _mm_madd_epi16(_mm_maddubs_epi16(x, ten), hundred);
  uint64_t y = (uint64_t)_mm_cvtsi128_si64(_mm_madd_epi16(_mm_packus_epi32(x, x), myriad));
  *w = *w * UINT64_C(10000000000000000) + (y & UINT32_MAX) * 100000000 + (y >> 32);
  return true;
}
#else
static inline bool kcl_sixteen(const char *p, uint64_t *w) { return (void)p, (void)w, false; }
#endif

/* Unsigned decimal of at most 8 + 10 digits; NULL if there is none or it is longer. */
static inline const char *kcl_parse_count(const char *p, uint64_t *v) {
  uint64_t x = kcl_eight(p), stop = kcl_no_digits(x);
  if (__builtin_expect(stop != 0, 1)) {
    int bit = __builtin_ctzll(stop); /* 8 digits + 7 */
    if (bit == 7) return NULL;
    *v = kcl_join(x << (71 - bit));
    return p + (bit >> 3);
  }
  *v = kcl_join(x), p += 8;
  for (int n = 0; (unsigned)(*p - '0') < 10; p++, n++) {
    if (n == 10) return NULL;
    *v = *v * 10 + (uint64_t)(*p - '0');
  }
  return p;
}

/* Appends all digits at p to w: sixteen, then eights, then the rest without a loop. */
static inline const char *kcl_digits(const char *p, uint64_t *w) {
  static const uint32_t power[8] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
  uint64_t x, stop;
  if (kcl_sixteen(p, w)) p += 16;
  for (; !(stop = kcl_no_digits(x = kcl_eight(p))); p += 8) *w = *w * 100000000 + kcl_join(x);
  int bit = __builtin_ctzll(stop), n = bit >> 3; /* bit = 8 n + 7 */
  *w = *w * power[n] + kcl_join(x << (63 - bit) << 8);
  return p + n;
}

/* The exponent after e, saturated far outside the range of double; NULL if there is none. */
static inline const char *kcl_exponent(const char *p, int64_t *q) {
  bool minus = *p == '-';
  p += minus || *p == '+';
  int64_t e = 0;
  const char *first = p;
  for (; (unsigned)(*p - '0') < 10; p++)
    if (e < 100000) e = e * 10 + (*p - '0');
  *q += minus ? -e : e;
  return p == first ? NULL : p;
}

/* [+-] digits [. digits] [e [+-] digits]: the first character after it, NULL if there is no such
 * number at p. The result may be infinite (1e999). 16 bytes after the number must be readable. */
static inline const char *kcl_parse_number(const char *p, double *v) {
  const char *start = p, *first, *dot;
  uint64_t w = 0;
  int64_t q = 0, digits;
  bool minus = *p == '-';
  p += minus || *p == '+';
  first = p;
  for (; (unsigned)(*p - '0') < 10; p++) w = w * 10 + (uint64_t)(*p - '0');
  digits = p - first;
  if (*p == '.') {
    dot = ++p;
    p = kcl_digits(p, &w);
    q = dot - p;
    digits -= q;
  }
  if (digits == 0) return NULL;
  if ((*p | 32) == 'e' && !(p = kcl_exponent(p + 1, &q))) return NULL;
  if (__builtin_expect(digits > 19, 0)) return kcl_number_long(start, v);
  if (__builtin_expect(!kcl_decimal(w, q, v), 0)) return kcl_number_slow(start, v);
  uint64_t bits; /* branchless: signs are not predictable */
  memcpy(&bits, v, sizeof bits);
  bits |= (uint64_t)minus << 63;
  memcpy(v, &bits, sizeof bits);
  return p;
}
#endif
