/* The four registries: tables made from the list.def files, look-up by name, nearest names. */
#include "core/matrix.h"
#include "data/generate.h"
#include "solver/method.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KCL_FORMAT(name)                                                                           \
  extern const kcl_format kcl_format_##name##_s, kcl_format_##name##_d, kcl_format_##name##_c,     \
      kcl_format_##name##_z;
#include "spmv/list.def"
#undef KCL_FORMAT
#define KCL_METHOD(name) extern const kcl_method kcl_method_##name;
#include "solver/list.def"
#undef KCL_METHOD
#define KCL_PRECOND(name) extern const kcl_precond kcl_precond_##name;
#include "solver/precond/list.def"
#undef KCL_PRECOND

static const kcl_format *const formats[][4] = {
#define KCL_FORMAT(name)                                                                           \
  {&kcl_format_##name##_s, &kcl_format_##name##_d, &kcl_format_##name##_c, &kcl_format_##name##_z},
#include "spmv/list.def"
#undef KCL_FORMAT
};
static const kcl_method *const methods[] = {
#define KCL_METHOD(name) &kcl_method_##name,
#include "solver/list.def"
};
static const kcl_precond *const preconds[] = {
#define KCL_PRECOND(name) &kcl_precond_##name,
#include "solver/precond/list.def"
};
#define COUNT(table) ((int)(sizeof table / sizeof *table))

int kcl_list_size(kcl_registry which) {
  return (int[]){COUNT(formats), COUNT(methods), COUNT(preconds), kcl_generator_count}[which];
}

kcl_entry kcl_list(kcl_registry which, int i) {
  if (which == KCL_FORMATS) return (kcl_entry){formats[i][0]->name, formats[i][0]->summary};
  if (which == KCL_SOLVERS) return (kcl_entry){methods[i]->name, methods[i]->summary};
  if (which == KCL_PRECONDS) return (kcl_entry){preconds[i]->name, preconds[i]->summary};
  return (kcl_entry){kcl_generators[i]->name, kcl_generators[i]->summary};
}

/* Number of single-letter edits from a to b (Levenshtein 1966); names here are short. */
static int distance(const char *a, const char *b) {
  enum { MOST = 40 };
  int row[MOST + 1], n = (int)strlen(b);
  if (n > MOST) return MOST;
  for (int j = 0; j <= n; j++) row[j] = j;
  for (int i = 1; a[i - 1]; i++) {
    int diagonal = row[0];
    row[0] = i;
    for (int j = 1; j <= n; j++) {
      int best = diagonal + (a[i - 1] != b[j - 1]);
      if (row[j] + 1 < best) best = row[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      diagonal = row[j], row[j] = best;
    }
  }
  return row[n];
}

int kcl_unknown(kcl *ctx, const char *kind, const char *name, kcl_registry which) {
  char list[1024] = "";
  const char *nearest = NULL;
  int least = 3;
  for (int i = 0; i < kcl_list_size(which); i++) {
    const char *known = kcl_list(which, i).name;
    size_t used = strlen(list);
    snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", known);
    int d = distance(name, known);
    if (d < least) least = d, nearest = known;
  }
  return kcl_fail(ctx, KCL_USAGE, "unknown %s '%s'%s%s%s; there are: %s", kind, name,
                  nearest ? " (did you mean " : "", nearest ? nearest : "", nearest ? "?)" : "",
                  list);
}

static int find(const char *name, kcl_registry which) {
  for (int i = 0; i < kcl_list_size(which); i++)
    if (!strcmp(kcl_list(which, i).name, name)) return i;
  return -1;
}

int kcl_format_find(kcl *ctx, const char *name, kcl_type type, const kcl_format **out) {
  int i = find(name, KCL_FORMATS);
  if (i < 0) return kcl_unknown(ctx, "format", name, KCL_FORMATS);
  *out = formats[i][type];
  return KCL_OK;
}

int kcl_method_find(kcl *ctx, const char *name, const kcl_method **out) {
  int i = find(name, KCL_SOLVERS);
  if (i < 0) return kcl_unknown(ctx, "solver", name, KCL_SOLVERS);
  *out = methods[i];
  return KCL_OK;
}

int kcl_precond_find(kcl *ctx, const char *name, const kcl_precond **out) {
  int i = find(name, KCL_PRECONDS);
  if (i < 0) return kcl_unknown(ctx, "preconditioner", name, KCL_PRECONDS);
  *out = preconds[i];
  return KCL_OK;
}
