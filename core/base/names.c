/* Look-up of names that users type; the error lists all names and the nearest. */
#include "core/base/base.h"
#include <limits.h>
#include <stdio.h>

enum { LONGEST_NAME = 62, EDIT = 4 };

static int lesser_cost(int a, int b) { return a < b ? a : b; }

/* Cost to turn a into b: insertions, deletions, substitutions and transpositions of neighbours cost EDIT each (optimal
 * string alignment; Damerau 1964). Characters missing or added at the end cost 1 each, at most EDIT in all. */
static int edit_distance(const char *a, const char *b) {
  int table[3][LONGEST_NAME + 1], m = (int)strlen(a), n = (int)strlen(b);
  if (n > LONGEST_NAME || m > LONGEST_NAME) return EDIT * (m + n);
  int *before = table[0], *above = table[1], *row = table[2],
      best = EDIT * n + lesser_cost(m, EDIT);
  for (int j = 0; j <= n; j++) row[j] = EDIT * j;
  for (int i = 1; i <= m; i++) {
    int *oldest = before;
    before = above;
    above = row;
    row = oldest;
    row[0] = EDIT * i;
    for (int j = 1; j <= n; j++) {
      row[j] = lesser_cost(lesser_cost(above[j], row[j - 1]) + EDIT,
                           above[j - 1] + EDIT * (a[i - 1] != b[j - 1]));
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = lesser_cost(row[j], before[j - 2] + EDIT);
    }
    best = lesser_cost(best, row[n] + lesser_cost(m - i, EDIT));
  }
  for (int j = 0; j < n; j++) best = lesser_cost(best, row[j] + lesser_cost(n - j, EDIT));
  return best;
}

/* One edit per three characters of the shorter word is near. */
const char *kcl_nearest(const char *word, const char *const *names, int count) {
  const char *best = NULL;
  int nearest = INT_MAX;
  if (!word || !names) return NULL;
  for (int i = 0; i < count; i++) {
    int characters = lesser_cost((int)strlen(word), (int)strlen(names[i])),
        d = edit_distance(word, names[i]);
    if (d < nearest && d <= EDIT * ((characters + 1) / 3)) nearest = d, best = names[i];
  }
  return best;
}

int kcl_refuse_name(kcl_context *ctx, const char *kind, const char *name, const char *const *names,
                    int count) {
  const char *best = kcl_nearest(name, names, count);
  char list[1024] = "";
  for (int i = 0; i < count; i++) {
    size_t used = strlen(list);
    snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
  }
  return kcl_fail(ctx, KCL_USAGE, "unknown %s '%s'%s%s%s; there are: %s", kind, name,
                  best ? " (did you mean " : "", best ? best : "", best ? "?)" : "", list);
}

int kcl_find_name(kcl_context *ctx, const char *kind, const char *name, int count,
                  const char *(*name_of)(int), int *out) {
  enum { MAX = 128 };
  const char *names[MAX];
  for (*out = 0; *out < count; ++*out) {
    const char *known = name_of(*out);
    if (!strcmp(known, name)) return KCL_OK;
    if (*out < MAX) names[*out] = known;
  }
  return kcl_refuse_name(ctx, kind, name, names, count < MAX ? count : MAX);
}
