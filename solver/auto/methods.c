/* Methods by structure: which fit a matrix, and in which order they are tried. */
#include "solver/auto/auto.h"
#include <string.h>

/* A = c I + S, S = -S^H: x^H S x = 0 breaks the others down, and lsqr loses nothing by A^H A (docs/methods.md). In
 * mixed precision there are no least squares. */
static const char *const *methods_for(const kcl_stats *s, bool mixed) {
  static const char *const rectangular[] = {"cgls", "lsqr", NULL},
                           *const positive[] = {"cg", "minres", "gmres", "lsqr", NULL},
                           *const hermitian[] = {"minres", "gmres", "lsqr", NULL},
                           *const symmetric[] = {"cocg", "cocr", "idr", "gmres", "lsqr", NULL},
                           *const skew[] = {"lsqr", "gmres", NULL},
                           *const general[] = {"idr", "bicgstab-l", "gmres", "lsqr", NULL};
  if (s->rows != s->cols) return rectangular;
  if (s->hermitian) return s->positive_diagonal ? positive : hermitian;
  if (s->symmetric) return symmetric;
  return s->shifted_skew && !mixed ? skew : general;
}

const char *kcl_auto_solver(const kcl_stats *s) { return methods_for(s, false)[0]; }

const char *const *kcl_auto_methods(const kcl_system *s) {
  return methods_for(&s->stats, s->options.mixed);
}

const char *kcl_auto_structure(const kcl_stats *s) {
  if (s->rows != s->cols) return "the matrix is not square";
  if (s->hermitian)
    return s->positive_diagonal ? "A = A^H with a positive diagonal"
                                : "A = A^H, its diagonal is not positive";
  if (s->symmetric) return "A = A^T, not Hermitian";
  return s->shifted_skew ? "A = c I + S, S = -S^H" : "A is neither Hermitian nor symmetric";
}

/* ---------------------------------------------------------------- forms of cg */

const char *const kcl_cg_forms[KCL_CG_FORMS] = {"cg-single", "cg-pipelined"};

bool kcl_auto_is_cg_form(const char *name) {
  return !strcmp(name, kcl_cg_forms[0]) || !strcmp(name, kcl_cg_forms[1]);
}

/* Replaced residuals keep them accurate to these tolerances; not in mixed precision. */
bool kcl_auto_cg_forms_fit(const kcl_options *o) {
  bool single = o->precision == KCL_S || o->precision == KCL_C;
  return !o->mixed && (o->tol < 0 || o->tol >= (single ? 1e-5 : 1e-9));
}

static bool listed(const char *const *list, const char *name) {
  while (*list && strcmp(*list, name)) list++;
  return *list;
}

bool kcl_auto_has_method(const kcl_system *s, const char *name) {
  const char *const *list = kcl_auto_methods(s);
  return listed(list, name) ||
         (kcl_auto_is_cg_form(name) && listed(list, "cg") && kcl_auto_cg_forms_fit(&s->options));
}

/* ---------------------------------------------------------------- after one that gave up */

const char *kcl_auto_next_method(const kcl_system *s, const char *name, kcl_reason reason) {
  const char *const *list = kcl_auto_methods(s);
  if (kcl_auto_is_cg_form(name) && reason != KCL_INDEFINITE) return "cg";
  if (kcl_auto_is_cg_form(name)) name = "cg";
  while (*list && strcmp(*list, name)) list++;
  return *list ? list[1] : NULL;
}
