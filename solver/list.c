/* The public listing of the four registries. */
#include "data/generators/generate.h"
#include "solver/precond/setup.h"

int kcl_list_size(kcl_registry which) {
  if ((unsigned)which > KCL_GENERATORS) return 0;
  return (int[]){kcl_format_count, kcl_method_count, kcl_precond_count, kcl_generator_count}[which];
}

kcl_entry kcl_list(kcl_registry which, int i) {
  if (i < 0 || i >= kcl_list_size(which)) return (kcl_entry){0};
  const kcl_format *f = which == KCL_FORMATS ? kcl_format_at(i, KCL_D) : NULL;
  const kcl_method *m = which == KCL_SOLVERS ? kcl_method_at(i) : NULL;
  const kcl_precond_kind *p = which == KCL_PRECONDS ? kcl_precond_at(i) : NULL;
  if (f) return (kcl_entry){f->name, f->summary, NULL, i >= kcl_format_auto_count};
  if (m) return (kcl_entry){m->name, m->summary, NULL, false};
  if (p) return (kcl_entry){p->name, p->summary, NULL, false};
  const kcl_generator *g = kcl_generators[i];
  return (kcl_entry){g->name, g->summary, g->example, false};
}
