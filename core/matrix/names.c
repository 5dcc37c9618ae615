/* Which names a format can give to its arrays and integers: they become parameters of its OpenCL functions, beside those
 * that the composed source adds (core/opencl/codegen/product.c, elements.c). docs/kernels.md lists them. */
#include "core/base/context.h"
#include "core/matrix/stored.h"
#include <ctype.h>

/* Other parameters and the variables of EMIT and EACH; types that follow in a list of parameters. */
static const char *const reserved[] = {
    "x",       "lo",        "hi",      "scratch", "messages",    "launch",       "active",   "row",
    "version", "local_row", "scalar",  "element", "pack",        "single",       "narrow",   "real",
    "factor",  "idx",       "message", "turns",   "slot_values", "series_words", "row_lanes"};
/* Vectors, coefficients, sums and published copies of the stage. */
static const char *const prefixes[] = {"v_", "f_", "sum_", "to_"};
/* NAME_t is defined for a KCL_INT64 array; these are types of OpenCL C. */
static const char *const typed[] = {"size", "ptrdiff", "intptr", "uintptr", "event", "sampler"};

enum {
  RESERVED = sizeof reserved / sizeof *reserved,
  PREFIXES = sizeof prefixes / sizeof *prefixes,
  TYPED = sizeof typed / sizeof *typed
};

static bool is_listed(const char *name, const char *const *list, int count) {
  for (int i = 0; i < count; i++)
    if (!strcmp(name, list[i])) return true;
  return false;
}

/* Is the name in lower case? Macros are in capitals. */
static bool well_formed(const char *name) {
  if (!islower((unsigned char)*name)) return false;
  for (; *name; name++)
    if (!islower((unsigned char)*name) && !isdigit((unsigned char)*name) && *name != '_')
      return false;
  return true;
}

const char *kcl_name_refused(const kcl_stored *m, const char *name, kcl_array_kind kind) {
  if (!well_formed(name)) return "is not of lower-case letters, digits and _";
  if (!strcmp(name, "row") && !m->kernel.rows_match_elements) return NULL;
  if (is_listed(name, reserved, RESERVED)) return "is used by the composed OpenCL source";
  if (kind == KCL_INT64 && is_listed(name, typed, TYPED))
    return "would redefine a type of OpenCL C";
  for (int i = 0; i < PREFIXES; i++)
    if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
      return "begins as names of the composed OpenCL source do";
  return NULL;
}

static const char *argument_name(const kcl_stored *m, int i) {
  return i < m->arrays ? m->array[i].name : m->param[i - m->arrays].name;
}

static const char *refused(const kcl_stored *m, int i) {
  for (int j = 0; j < i; j++)
    if (!strcmp(argument_name(m, i), argument_name(m, j))) return "is there twice";
  return kcl_name_refused(m, argument_name(m, i), i < m->arrays ? m->array[i].kind : KCL_INT32);
}

int kcl_stored_check_names(const kcl_stored *m) {
  for (int i = 0; i < m->arrays + m->params; i++)
    if (refused(m, i))
      return kcl_fail(m->ctx, KCL_USAGE,
                      "format %s: the name '%s' of an array or integer %s (docs/kernels.md)",
                      m->format->name, argument_name(m, i), refused(m, i));
  return KCL_OK;
}
