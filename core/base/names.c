/* Look-up of names that users type; the error lists all names and the nearest. */
#include "core/base/base.h"
#include <stdio.h>
#include <string.h>

/* Insertions, deletions and substitutions that turn a into b (Levenshtein 1966); names here are short. */
static int edit_distance(const char *a, const char *b) {
  enum { MAX = 62 };
  int row[MAX + 1], n = (int)strlen(b);
  if (n > MAX) return n;
  for (int j = 0; j <= n; j++) row[j] = j;
  for (int i = 0; a[i]; i++) {
    int diagonal = row[0];
    row[0] = i + 1;
    for (int j = 1; j <= n; j++) {
      int best = diagonal + (a[i] != b[j - 1]);
      if (row[j] + 1 < best) best = row[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      diagonal = row[j], row[j] = best;
    }
  }
  return row[n];
}

const char *kcl_nearest(const char *word, const char *const *names, int count) {
  const char *best = NULL;
  int least = (int)strlen(word) / 2 + 1;
  for (int i = 0; i < count; i++) {
    int d = edit_distance(word, names[i]);
    if (d < least) least = d, best = names[i];
  }
  return best;
}

int kcl_find_name(kcl *ctx, const char *kind, const char *name, int count,
                  const char *(*name_of)(int), int *out) {
  enum { MAX = 64 };
  const char *names[MAX];
  char list[1024] = "";
  for (*out = 0; *out < count; ++*out) {
    const char *known = name_of(*out);
    if (!strcmp(known, name)) return KCL_OK;
    size_t used = strlen(list);
    snprintf(list + used, sizeof list - used, "%s%s", *out ? ", " : "", known);
    if (*out < MAX) names[*out] = known;
  }
  const char *best = kcl_nearest(name, names, count < MAX ? count : MAX);
  return kcl_fail(ctx, KCL_USAGE, "unknown %s '%s'%s%s%s; there are: %s", kind, name,
                  best ? " (did you mean " : "", best ? best : "", best ? "?)" : "", list);
}
