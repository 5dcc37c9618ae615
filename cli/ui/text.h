/* Numbers, times and names as words; the clock. */
#ifndef CLI_UI_TEXT_H
#define CLI_UI_TEXT_H

#include "cli/ui/codes.h"
#include "krylocl/device.h"
#include "krylocl/io.h"
#include <math.h>

/* Bytes of the character that begins at s in valid UTF-8; 0: none, or a control character. */
int cli_character(const char *s);

typedef struct cli_text {
  char s[40];
} cli_text;

/* Appends to a text, as far as it fits. */
void cli_append(char *text, size_t capacity, const char *format, ...) CLI_PRINTF(3, 4);
/* A checksum in 16 hexadecimal digits, "0x...". */
cli_text cli_checksum_text(unsigned long long sum);
/* 1,234,567 */
cli_text cli_count(int64_t n);
/* 1,234,567 without the fraction of v; from 9e15 on 1.23e+45. */
cli_text cli_whole(double v);
/* 12.3 MB */
cli_text cli_bytes(double bytes);
/* 12.3 ms */
cli_text cli_seconds(double s);
/* 21.3 GB/s (19.8 to 22.4) */
cli_text cli_stream(const kcl_stream *s);
/* Age of the measurement: now, 20 min ago, 3 days ago. */
cli_text cli_age(const kcl_stream *s);

/* Writes "row 2 of A is zero" or "3 columns of A are zero, the first is column 5". first counts from 0; -1: not
 * known. */
void cli_zeros(char *text, size_t size, const char *what, int64_t count, int64_t first);
const char *cli_type_words(kcl_type t);
/* The name without folders; "-": standard input. */
const char *cli_base(const char *path);
/* Calls each(self, word) for the words between the commas of a list, until one returns non-zero. list NULL: no words. */
int cli_each_word(const char *list, int (*each)(void *self, const char *word), void *self);
/* Seconds of a monotonic clock. */
double cli_now(void);
/* The median of v [n], which is sorted. */
double cli_median(double *v, int n);
/* "cpu" or "P:D". */
cli_text cli_device_place(const kcl_device *d);

#endif
