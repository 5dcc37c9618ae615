/* Reads options of a system: names that were not given, and which symmetry counts. */
#include "solver/solver.h"

static bool is(const char *word, const char *name) { return !strcmp(word, name); }

/* Defaults for names that were not given; which choices are left to us. */
void kcl_read_options(kcl_system *s) {
  kcl_options *o = &s->options;
  if (!o->solver) o->solver = kcl_defaults.solver;
  if (!o->precond) o->precond = kcl_defaults.precond;
  if (!o->format) o->format = kcl_defaults.format;
  s->direct = is(o->solver, "direct");
  if (s->direct && is(o->precond, "auto")) o->precond = "none";
  s->undecided.method = s->direct || is(o->solver, "auto");
  s->undecided.precond = is(o->precond, "auto");
  s->undecided.measure = is(o->format, "measure"), s->undecided.model = is(o->format, "model");
  s->undecided.format = is(o->format, "auto") || s->undecided.measure || s->undecided.model;
}

/* Hermitian and symmetric by the rule of the options. Real matrices are both or neither. */
void kcl_apply_symmetry(kcl_system *s) {
  const kcl_stats *t = &s->stats;
  bool assumed = s->options.symmetry == KCL_SYMMETRY_ASSUME && t->rows == t->cols,
       rounding = s->options.symmetry == KCL_SYMMETRY_ROUNDING && t->asymmetry <= KCL_MAX_ASYMMETRY;
  s->hermitian = t->hermitian || assumed || rounding;
  s->symmetric = t->symmetric || (s->hermitian && !kcl_type_complex(s->A->type)) || assumed;
}

int kcl_near_null_copy(kcl_options *o, kcl_dense *copy) {
  const kcl_dense *B = o->near_null;
  if (!B) return KCL_OK;
  *copy = *B, copy->val = NULL;
  o->near_null = copy;
  if (B->rows < 0 || B->cols < 0 || !B->val) return KCL_OK; /* kcl_check_options says why not */
  const int64_t count = B->rows * B->cols * (B->type == KCL_Z ? 2 : 1);
  int rc = kcl_alloc_unset(NULL, count, sizeof *B->val, "near-null vectors", (void **)&copy->val);
  if (!rc) memcpy(copy->val, B->val, (size_t)count * sizeof *B->val);
  return rc;
}

kcl_type kcl_precision_for(kcl_type asked, kcl_type of_A) {
  if (!kcl_type_complex(of_A) || kcl_type_complex(asked)) return asked;
  return asked == KCL_S ? KCL_C : KCL_Z;
}
