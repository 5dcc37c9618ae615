/* The plan of "auto": methods by structure, each with a preconditioner, in the order in which they are tried. */
#include "solver/auto/auto.h"
#include "solver/engine/reproducible.h"

/* ---------------------------------------------------------------- methods */

/* A = c I + S, S = -S^H: x^H S x = 0 breaks the others down, and lsqr loses nothing by A^H A (docs/methods.md). In
 * mixed precision there are no least squares. */
static const char *const *methods_for(const kcl_stats *s, bool is_hermitian, bool is_symmetric,
                                      bool mixed) {
  static const char *const rectangular[] = {"cgls", "lsqr", NULL},
                           *const positive[] = {"cg", "minres", "gmres", "lsqr", NULL},
                           *const hermitian[] = {"minres", "gmres", "lsqr", NULL},
                           *const symmetric[] = {"cocg", "cocr", "idr", "gmres", "lsqr", NULL},
                           *const skew[] = {"lsqr", "gmres", NULL},
                           *const general[] = {"idr", "bicgstab-l", "gmres", "lsqr", NULL};
  if (s->rows != s->cols) return rectangular;
  if (is_hermitian) return s->positive_diagonal ? positive : hermitian;
  if (is_symmetric) return symmetric;
  return s->shifted_skew && !mixed ? skew : general;
}

const char *kcl_auto_solver(const kcl_stats *s) {
  return methods_for(s, s->asymmetry <= KCL_MAX_ASYMMETRY, s->symmetric, false)[0];
}

/* Suitable methods whose M may vary. */
static const char *const *flexible_methods(bool is_hermitian, bool is_positive) {
  static const char *const positive[] = {"fcg", "fgmres", NULL}, *const general[] = {"fgmres",
                                                                                     NULL};
  return is_hermitian && is_positive ? positive : general;
}

static const char *const *methods_of(const kcl_system *s) {
  if (s->given && s->given->varies)
    return flexible_methods(s->hermitian && s->given->hermitian, s->stats.positive_diagonal);
  return methods_for(&s->stats, s->hermitian, s->symmetric, s->options.mixed);
}

static const char *declared_structure(const kcl_system *s) {
  if (!s->hermitian) return "A is a function, not declared Hermitian";
  return s->stats.positive_diagonal ? "A is a function, declared Hermitian positive definite"
                                    : "A is a function, declared Hermitian";
}

const char *kcl_auto_structure(const kcl_system *s) {
  const kcl_stats *t = &s->stats;
  if (t->rows != t->cols) return "the matrix is not square";
  if (s->shell) return declared_structure(s);
  if (s->hermitian && s->options.symmetry == KCL_SYMMETRY_ASSUME && !t->hermitian)
    return "A = A^H is assumed";
  if (s->hermitian && !t->hermitian)
    return t->positive_diagonal ? "A = A^H up to rounding, with a positive diagonal"
                                : "A = A^H up to rounding, its diagonal is not positive";
  if (s->hermitian)
    return t->positive_diagonal ? "A = A^H with a positive diagonal"
                                : "A = A^H, its diagonal is not positive";
  if (s->symmetric) return "A = A^T, not Hermitian";
  return t->shifted_skew ? "A = c I + S, S = -S^H" : "A is neither Hermitian nor symmetric";
}

/* ---------------------------------------------------------------- preconditioners */

/* Jacobi is a scaling of A: worth its bytes where the diagonal varies. minres needs a positive one. Least squares scale
 * columns: an underdetermined system would lose the solution of least norm. */
static const double VARIES = 3;

static bool jacobi_suits(const kcl_system *s, const kcl_method *m) {
  const kcl_stats *t = &s->stats;
  if (s->shell || t->shifted_skew) return false;
  if (m->least_squares) return kcl_system_tall(s);
  if (m->hermitian && !t->positive_diagonal) return false;
  return t->diagonal_ratio >= VARIES && t->diagonal_ratio < INFINITY;
}

/* A saddle point: a few rows without a diagonal entry, not coupled with each other. Their Schur complement is dense. */
enum { MOST_CONSTRAINTS = 500 };

static bool is_constraint(const kcl_csr *A, int64_t i) {
  double d[2] = {0, 0};
  kcl_find_entry(A, i, i, d);
  return d[0] == 0 && d[1] == 0;
}

static bool is_coupled(const kcl_csr *A, int64_t i) {
  double a[2];
  for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
    kcl_element(A->type, A->val, k, a);
    if (a[0] != 0 && is_constraint(A, A->col[k])) return true;
  }
  return false;
}

static bool has_constraints(const kcl_csr *A) {
  int64_t count = 0;
  for (int64_t i = 0; i < A->rows && count <= MOST_CONSTRAINTS; i++) {
    if (!is_constraint(A, i)) continue;
    if (is_coupled(A, i)) return false;
    count++;
  }
  return count && count <= MOST_CONSTRAINTS && 2 * count <= A->rows;
}

static bool schur_suits(const kcl_system *s, const kcl_method *m) {
  return !s->shell && m->hermitian && !m->least_squares && isinf(s->stats.diagonal_ratio) &&
         !kcl_type_complex(s->A->type) && has_constraints(kcl_system_matrix(s));
}

static const char *suitable_precond(const kcl_system *s, const kcl_method *m) {
  if (schur_suits(s, m)) return "schur";
  return jacobi_suits(s, m) ? "jacobi" : "none";
}

/* ---------------------------------------------------------------- the plan */

static void add_to_plan(const kcl_system *s, kcl_plan *p, const kcl_method *m,
                        const kcl_precond_kind *precond) {
  const char *name;
  if (kcl_reproducible_excludes(s, m, precond, &name)) return;
  for (int i = 0; i < p->count; i++)
    if (p->way[i].method == m && p->way[i].precond == precond) return;
  if (p->count < KCL_MOST_WAYS) p->way[p->count++] = (kcl_way){m, precond};
}

/* A method with the preconditioner that suits it, or with the one asked for, if that suits the method. */
static int add_method(const kcl_system *s, const char *name, bool plain, kcl_plan *p) {
  const kcl_precond_request q = kcl_system_request(s);
  const kcl_method *m;
  const kcl_precond_kind *precond;
  int rc = kcl_method_find(s->ctx, name, &m);
  if (rc) return rc;
  if (p->count && m->adjoint && !kcl_system_has_adjoint(s)) return KCL_OK;
  const char *suits = plain ? "none" : suitable_precond(s, m);
  rc = kcl_system_precond_kind(s, s->undecided.precond ? suits : s->options.precond, &precond);
  if (rc || (s->undecided.method && kcl_precond_check(&q, precond, m))) return rc;
  add_to_plan(s, p, m, precond);
  return KCL_OK;
}

/* Threshold factors often help the first method to solve systems that it did not solve without, where A is not Hermitian. */
static int add_factored(const kcl_system *s, const char *name, kcl_plan *p) {
  const kcl_precond_request q = kcl_system_request(s);
  const kcl_method *m;
  const kcl_precond_kind *precond;
  if (s->hermitian || !s->undecided.method || !s->undecided.precond) return KCL_OK;
  int rc = kcl_method_find(s->ctx, name, &m);
  if (!rc) rc = kcl_precond_find(s->ctx, "ilut", &precond);
  if (!rc && !kcl_precond_check(&q, precond, m)) add_to_plan(s, p, m, precond);
  return rc;
}

/* The preconditioner asked for suits no method: why not the first. */
static int none_suits(const kcl_system *s, const char *name) {
  const kcl_precond_request q = kcl_system_request(s);
  const kcl_method *m;
  const kcl_precond_kind *precond;
  int rc = kcl_method_find(s->ctx, name, &m);
  if (!rc) rc = kcl_system_precond_kind(s, s->options.precond, &precond);
  return rc ? rc : kcl_precond_check(&q, precond, m);
}

int kcl_auto_plan(const kcl_system *s, kcl_plan *p) {
  const char *named[] = {s->options.solver, NULL}, *const *list =
                                                       s->undecided.method ? methods_of(s) : named;
  int rc = KCL_OK;
  *p = (kcl_plan){.count = 0};
  for (int i = 0; list[i] && !rc; i++) {
    rc = add_method(s, list[i], false, p);
    if (!rc && !i) rc = add_factored(s, list[i], p);
    /* before the restarted and least-squares methods, which seldom help: the first without its preconditioner */
    if (!rc && (!list[i + 1] || !strcmp(list[i + 1], "gmres")))
      rc = add_method(s, list[0], true, p);
  }
  return rc || p->count ? rc : none_suits(s, list[0]);
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

int kcl_plan_find(const kcl_plan *p, const char *method, const char *precond) {
  for (int i = 0; i < p->count; i++) {
    const char *name = p->way[i].method->name;
    bool same = !strcmp(name, method) || (!strcmp(name, "cg") && kcl_auto_is_cg_form(method));
    if (same && !strcmp(p->way[i].precond->name, precond)) return i;
  }
  return -1;
}
