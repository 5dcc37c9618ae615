/* The storage formats: the table made from list.def, and look-up by name. */
#include "core/matrix/stored.h"

#define KCL_FORMAT(name)                                                                           \
  extern const kcl_format kcl_format_##name##_s, kcl_format_##name##_d, kcl_format_##name##_c,     \
      kcl_format_##name##_z;
#include "spmv/list.def"
#include "spmv/studies.def"
#undef KCL_FORMAT

static const kcl_format *const formats[][4] = {
#define KCL_FORMAT(name)                                                                           \
  {&kcl_format_##name##_s, &kcl_format_##name##_d, &kcl_format_##name##_c, &kcl_format_##name##_z},
#include "spmv/list.def"
#include "spmv/studies.def"
};
#undef KCL_FORMAT
enum {
  FORMATS = sizeof formats / sizeof *formats,
  STUDIES = 0
#define KCL_FORMAT(name) +1
#include "spmv/studies.def"
};
const int kcl_format_count = FORMATS, kcl_format_auto_count = FORMATS - STUDIES;

const kcl_format *kcl_format_at(int i, kcl_type type) { return formats[i][type]; }

extern const kcl_format kcl_format_triangular_s, kcl_format_triangular_d, kcl_format_triangular_c,
    kcl_format_triangular_z;
const kcl_format *kcl_format_triangular(kcl_type type) {
  static const kcl_format *const triangular[] = {&kcl_format_triangular_s, &kcl_format_triangular_d,
                                                 &kcl_format_triangular_c,
                                                 &kcl_format_triangular_z};
  return triangular[type];
}

static const char *registry_name_of(int i) { return formats[i][KCL_S]->name; }

int kcl_format_find(kcl_context *ctx, const char *name, kcl_type type, const kcl_format **out) {
  int i, rc = kcl_find_name(ctx, "format", name, kcl_format_count, registry_name_of, &i);
  if (!rc) *out = formats[i][type];
  return rc;
}
