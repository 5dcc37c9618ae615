/* Decimal text to double and back, against strtod: known hard cases and millions of random ones. */
#include "tests/data_test.h"

static bool same(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

static bool number_agrees(const char *text) {
  char room[160] = {0}, *end;
  double v = 0;
  strcpy(room, text);
  const char *p = kcl_parse_number(room, &v);
  double want = strtod(room, &end);
  if (p == end && same(v, want)) return true;
  printf("  \"%s\": %a, expected %a\n", text, v, want);
  return false;
}

static void random_text(char *s, int kind) {
  double v;
  uint64_t bits = random_bits();
  memcpy(&v, &bits, sizeof v);
  if (!isfinite(v)) v = 1;
  if (kind == 0) sprintf(s, "%.*g", (int)(random_bits() % 21 + 1), v);
  if (kind == 1)
    sprintf(s, "%.17g", ldexp((double)(int64_t)random_bits(), -(int)(random_bits() % 80)));
  if (kind == 2)
    sprintf(s, "%.*f", (int)(random_bits() % 25),
            ldexp((double)(int64_t)random_bits(), -(int)(random_bits() % 90)));
  if (kind == 3)
    sprintf(s, "%llu%010llue%d", (unsigned long long)random_bits(),
            (unsigned long long)(random_bits() % 10000000000u), (int)(random_bits() % 700) - 370);
  if (kind == 4)
    sprintf(s, "%.*e", (int)(random_bits() % 30), ldexp(v, -1000 + (int)(random_bits() % 40)));
  if (kind == 5)
    sprintf(s, "%llu.%llue-%d", (unsigned long long)(random_bits() % 1000),
            (unsigned long long)(random_bits() % 1000000), (int)(random_bits() % 25));
}

/* Halfway between two doubles, and one unit of the 19th digit beside it. */
static void halfway_text(char *s) {
  uint64_t m = (random_bits() >> 11) | UINT64_C(1) << 53;
  sprintf(s, "%llue%d",
          (unsigned long long)(m | 1) * (1 + random_bits() % 500) + random_bits() % 3 - 1,
          (int)(random_bits() % 23));
}

static void test_numbers(void) {
  static const char *const hard[] = {"0",
                                     "-0",
                                     "+0.0",
                                     "-0.0e5",
                                     ".5",
                                     "5.",
                                     "-.5e1",
                                     "1e0",
                                     "1E5",
                                     "1e+05",
                                     "00012.5",
                                     "0.000000000000000000001",
                                     "9007199254740993",
                                     "9007199254740992.5",
                                     "9007199254740993.00000000000000000001",
                                     "1e308",
                                     "1.7976931348623157e308",
                                     "1.7976931348623158e308",
                                     "1.7976931348623159e308",
                                     "1e309",
                                     "-1e999",
                                     "2.2250738585072014e-308",
                                     "2.2250738585072011e-308",
                                     "4.9406564584124654e-324",
                                     "2.4703282292062327e-324",
                                     "2.4703282292062328e-324",
                                     "1e-400",
                                     "1e-99999999999",
                                     "1e99999999999",
                                     "123456789012345678901234567890",
                                     "0.1234567890123456789012345678901",
                                     "1.00000000000000011102230246251565404236316680908203125",
                                     "1.00000000000000011102230246251565404236316680908203124",
                                     "6.8985865317742005e-310",
                                     "18446744073709551615",
                                     "18446744073709551616",
                                     "9999999999999999999",
                                     "1e22",
                                     "1e23",
                                     "8.5e-27",
                                     "0e999",
                                     "3.0000000000000000000000000000001"};
  static const char *const none[] = {"",    "e5",  ".",   "-",    "+", "-.e1", "1e",
                                     "1e+", "nan", "inf", "-inf", "x", "--1",  "+-1"};
  int bad = 0;
  char s[160];
  kcl_number_init();
  for (size_t i = 0; i < sizeof hard / sizeof *hard; i++) CHECK(number_agrees(hard[i]));
  for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
    char room[80] = {0};
    double v;
    strcpy(room, none[i]);
    CHECK(kcl_parse_number(room, &v) == NULL);
  }
  for (int i = 0; i < 2400000 && bad < 10; i++) {
    if (i % 8 > 5)
      halfway_text(s);
    else
      random_text(s, i % 8);
    bad += !number_agrees(s);
  }
  CHECK(bad == 0);
}

static void test_printing(void) {
  int bad = 0, longer = 0;
  for (int i = 0; i < 1000000; i++) {
    uint64_t bits = random_bits();
    double v, back = 0;
    char s[96], t[40];
    memset(s, 'x', sizeof s), s[sizeof s - 1] = 0;
    memcpy(&v, &bits, 8);
    if (i % 4 == 1) v = (double)(int64_t)random_bits() * 0x1p-60;
    if (i % 4 == 2) v = (double)(random_bits() % 100000) / 1000;
    if (i % 4 == 3) v = (double)(int32_t)random_bits();
    if (!isfinite(v)) continue;
    int n = kcl_number_print(v, s);
    kcl_parse_number(s, &back);
    if (n > 25 || n != (int)strlen(s) || !same(v, back)) bad++;
    if (i % 4 == 2) snprintf(t, sizeof t, "%.15g", v), longer += strcmp(s, t) != 0;
  }
  CHECK(bad == 0);
  CHECK(longer == 0);
}

int main(void) {
  static const test tests[] = {{"numbers", test_numbers}, {"printing", test_printing}};
  return run_tests(tests, sizeof tests / sizeof *tests);
}
