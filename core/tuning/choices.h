/* The memory of `auto`: for each structure on a device the iterations of its last solve, and the seconds per iteration in
 * each format that was timed. Lines of text in the user's cache folder, newest first:
 *
 *   device | driver | krylocl version | structure | type method precond nrhs | iterations missed |
 *   method precond format setup each; ...
 *
 * missed, setup and each in seconds. In format none setup is the time of a whole solve by a direct solution, or by the way that a
 * solve switched to, and each the time predicted without it. The first five fields are the key, with method and precond as requested. Lines that do not parse are skipped, and a file
 * that cannot be read or written is no error. The file is written aside and renamed, so that readers see a whole one; of two
 * concurrent writers the later wins. */
#ifndef KCL_CHOICES_H
#define KCL_CHOICES_H

#include "core/base/base.h"

/* Room for whole solves is left beside timings of formats. */
enum { KCL_MOST_TIMINGS = 16, KCL_WHOLE_SOLVES = 6, KCL_NAME = 24, KCL_KEY = 800 };

typedef struct kcl_timing {
  char method[KCL_NAME], precond[KCL_NAME], format[KCL_NAME];
  double setup; /* seconds to convert and upload, and to load compiled programs */
  double
      iteration; /* seconds per iteration; INFINITY: this way did not solve the system, and another did */
} kcl_timing;

typedef struct kcl_choice {
  int64_t iterations; /* 0: not known */
  double
      missed; /* seconds that multigrid would have saved in all solves, had its programs been compiled */
  int count;
  kcl_timing timing[KCL_MOST_TIMINGS];
} kcl_choice;

/* The key of a structure on a device; options enter with precision, solver, precond, parameters and nrhs. */
void kcl_choice_key(const kcl_context *ctx, const kcl_csr *A, const kcl_stats *s,
                    const kcl_options *o, char key[KCL_KEY]);
/* Records that this method did not solve the system, in this format and so in any. */
void kcl_choice_failed(kcl_choice *c, const char *method, const char *precond, const char *format);
/* Has the method failed in any format? With this preconditioner? */
bool kcl_choice_has_failed(const kcl_choice *c, const char *method);
bool kcl_choice_way_failed(const kcl_choice *c, const char *method, const char *precond);
/* Forgets timings, which are made anew, but keeps the methods that failed. */
void kcl_choice_keep_failed(kcl_choice *c);
bool kcl_choice_recall(const char *key, kcl_choice *out);
void kcl_choice_remember(const char *key, const kcl_choice *c);
/* The timing of these: a new one where there is none and there is room, else NULL. */
kcl_timing *kcl_choice_timing(kcl_choice *c, const char *method, const char *precond,
                              const char *format);
#endif
