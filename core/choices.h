/* What was found out about a structure on a device: how many iterations its last solve took, and what an
 * iteration takes in each format that was timed. Lines of text in the user's cache folder, newest first:
 *
 *   device | driver | krylocl version | structure | type method precond columns | iterations | method format setup each; ...
 *
 * setup and each in seconds. The first five fields are the key. Lines that make no sense are skipped, and a
 * file that cannot be read or written is no error. It is written aside and renamed, so that readers see a
 * whole one; of two writers at once the later wins. */
#ifndef KCL_CHOICES_H
#define KCL_CHOICES_H

#include "core/impl.h"

enum { KCL_MOST_TIMINGS = 8, KCL_NAME = 24, KCL_KEY = 800 };

typedef struct kcl_timing {
  char method[KCL_NAME], format[KCL_NAME];
  double setup, iteration; /* seconds: to convert, upload and compile; an iteration */
} kcl_timing;

typedef struct kcl_choice {
  int64_t iterations; /* 0: not known */
  int count;
  kcl_timing timing[KCL_MOST_TIMINGS];
} kcl_choice;

/* Of the options: precision, solver, precond, columns. */
void kcl_choice_key(const kcl *ctx, const kcl_csr *A, const kcl_stats *s, const kcl_options *o,
                    char key[KCL_KEY]);
bool kcl_choice_recall(const char *key, kcl_choice *out);
void kcl_choice_remember(const char *key, const kcl_choice *c);
kcl_timing *kcl_choice_timing(kcl_choice *c, const char *method,
                              const char *format); /* a new one where there is room, or NULL */
#endif
