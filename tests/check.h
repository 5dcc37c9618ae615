/* Counting for test programs: CHECK prints "FAIL file:line" and the condition, skip prints the reason, and
 * check_report prints the totals and returns the exit code. Also repeatable random numbers.
 */
#ifndef KCL_CHECK_H
#define KCL_CHECK_H
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int passed, failed, skipped;

/* Seconds after which a wait counts as endless, however busy the machine is. */
enum { HANG = 1000 };

enum { MAX_LINES = 60 }; /* failures printed; all are counted */

__attribute__((format(printf, 4, 5))) static inline bool check_at(bool good, const char *file,
                                                                  int line, const char *format,
                                                                  ...) {
  if (good) return passed++, true;
  va_list args;
  va_start(args, format);
  if (failed++ < MAX_LINES) {
    printf("FAIL %s:%d: ", file, line);
    vprintf(format, args);
    printf("\n");
  }
  va_end(args);
  return false;
}
#define CHECK(c) check_at((c), __FILE__, __LINE__, "%s", #c)
#define CHECKF(c, ...) check_at((c), __FILE__, __LINE__, __VA_ARGS__)

__attribute__((format(printf, 1, 2))) static inline void skip(const char *format, ...) {
  va_list args;
  va_start(args, format);
  skipped++;
  printf("skipped: ");
  vprintf(format, args);
  printf("\n");
  va_end(args);
}

static inline int check_report(void) {
  printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
  return failed > 0;
}

static uint64_t random_state = 88172645463325252u;
static inline uint64_t random_bits(void) { /* xorshift64, Marsaglia 2003 */
  random_state ^= random_state << 13, random_state ^= random_state >> 7;
  return random_state ^= random_state << 17;
}
/* A multiple of 1/64 in [-2, 2): every type holds it, and short sums of products, exactly. */
static inline double random_number(void) { return (double)(random_bits() >> 56) / 64 - 2; }
#endif
