/* Options of krylocl from PETSc's database: one for each of kcl_names("option"), such as -pc_krylocl_precond amg. */
#include "plugin.h"

PetscErrorCode kcl_petsc_new_settings(kcl_petsc_settings *s) {
  const char type[] = {KCL_PETSC_TYPE, 0};
  PetscFunctionBegin;
  KCL_PETSC_CALL(kcl_options_create(&s->options));
  s->keep = KCL_KEEP_CHOICES;
  KCL_PETSC_CALL(kcl_options_set(s->options, "precision", type));
  PetscFunctionReturn(0);
}

/* PREFIX and the name, in which PETSc has "_" for "-" and ".": chebyshev.degree is -pc_krylocl_chebyshev_degree. */
static void name_key(const char *prefix, const char *name, char *key, size_t size) {
  PetscSNPrintf(key, size, "%s%s", prefix, name);
  for (char *c = key + strlen(prefix); *c; c++)
    if (*c == '-' || *c == '.') *c = '_';
}

static PetscBool is_among(const char *list, const char *name) {
  char word[64];
  PetscSNPrintf(word, sizeof word, " %s ", name);
  return (PetscBool)(strstr(list, word) != NULL);
}

/* A flag without a value means yes. */
static PetscErrorCode read_option(PetscOptionItems *PetscOptionsObject, const char *key,
                                  const char *name, kcl_options *o) {
  char value[256] = "", before[256], help[256];
  PetscBool set;
  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(before, sizeof before, "%s", kcl_options_get(o, name)));
  PetscCall(PetscSNPrintf(help, sizeof help, "%s", kcl_name_help("option", name, "summary")));
  PetscCall(PetscOptionsString(key, help, "docs/petsc.md", before, value, sizeof value, &set));
  if (set) KCL_PETSC_CALL(kcl_options_set(o, name, value[0] ? value : "yes"));
  PetscFunctionReturn(0);
}

/* A text of several options; those with an option of their own are set after it. */
static PetscErrorCode read_options_text(PetscOptionItems *PetscOptionsObject, const char *key,
                                        kcl_options *o) {
  char text[1024] = "";
  PetscBool set;
  PetscFunctionBegin;
  PetscCall(PetscOptionsString(key, "options of krylocl: \"solver=cg precond=amg\"",
                               "docs/petsc.md", text, text, sizeof text, &set));
  if (set) KCL_PETSC_CALL(kcl_options_parse(o, text));
  PetscFunctionReturn(0);
}

static PetscErrorCode read_device_options(PetscOptionItems *PetscOptionsObject, const char *prefix,
                                          kcl_petsc_settings *s) {
  static const char *const keeps[] = {"nothing", "choices", "hierarchy", "precond"};
  char key[128];
  PetscFunctionBegin;
  name_key(prefix, "device", key, sizeof key);
  PetscCall(PetscOptionsString(key, "cpu, opencl, gpu, gpu:N or a part of a name",
                               "kcl_context_create", s->device, s->device, sizeof s->device, NULL));
  name_key(prefix, "threads", key, sizeof key);
  PetscCall(PetscOptionsInt(key, "threads on the CPU", "kcl_context_create", s->threads,
                            &s->threads, NULL));
  name_key(prefix, "keep", key, sizeof key);
  PetscCall(PetscOptionsEList(key, "what changed values keep", "kcl_solver_update", keeps, 4,
                              keeps[s->keep], &s->keep, NULL));
  name_key(prefix, "copy", key, sizeof key);
  PetscCall(PetscOptionsBool(key, "copy entries that could be used in place", "kcl_matrix_create",
                             s->copy, &s->copy, NULL));
  PetscFunctionReturn(0);
}

PetscErrorCode kcl_petsc_read_settings(PetscOptionItems *PetscOptionsObject, const char *prefix,
                                       const char *none, kcl_petsc_settings *s) {
  char key[128];
  PetscFunctionBegin;
  PetscCall(read_device_options(PetscOptionsObject, prefix, s));
  name_key(prefix, "options", key, sizeof key);
  PetscCall(read_options_text(PetscOptionsObject, key, s->options));
  for (int i = 0; i < kcl_names("option"); i++) {
    const char *name = kcl_name("option", i);
    if (is_among(none, name)) continue;
    name_key(prefix, name, key, sizeof key);
    PetscCall(read_option(PetscOptionsObject, key, name, s->options));
  }
  PetscFunctionReturn(0);
}
