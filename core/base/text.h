/* Reasons and messages of the library: texts that grow, numbers as people write them. */
#ifndef KCL_TEXT_H
#define KCL_TEXT_H

#include "core/base/base.h"

/* Appends to a text, as far as it fits. */
void kcl_append(char *text, size_t capacity, const char *format, ...) KCL_PRINTF(3, 4);

typedef struct kcl_short_text {
  char s[32];
} kcl_short_text;

kcl_short_text kcl_seconds_text(double seconds); /* 412 us, 1.72 ms, 38.1 s, 250 s */
kcl_short_text kcl_bytes_text(double bytes);     /* 412 B, 1.72 MB */
kcl_short_text kcl_factor_text(double factor);   /* 3.21, 250, 1.2e+07, more than 1e+308 */
#endif
