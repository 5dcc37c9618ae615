/* See reproducible.h. Methods consist of operations that executors carry out alike, so all of them are admitted but those with sums
 * of their own. */
#include "solver/engine/reproducible.h"
#include "solver/engine/engine.h"

static const char sole_format[] = "csr-scalar";

const char *kcl_reproducible_excludes(const kcl_system *s, const kcl_method *m,
                                      const kcl_precond_kind *p, const char **name) {
  if (!s->ctx->reproducible) return NULL;
  *name = m ? m->name : "";
  if (m && m->least_squares) return "its test takes a norm of A that is a sum of another shape";
  if (!p || !p->apply || !strcmp(p->name, "jacobi")) return NULL;
  *name = p->name;
  return p->whole ? "its estimate of an eigenvalue is not"
                  : "its set-up depends on the device and on the rows of a rank";
}

static int refuse_reproducible(const kcl_system *s, const char *name, const char *why) {
  return kcl_fail(s->ctx, KCL_USAGE, "%s: not with reproducible sums: %s", name, why);
}

int kcl_reproducible_check(const kcl_system *s, const kcl_method *m, const kcl_precond_kind *p) {
  const kcl_ranks *r = kcl_system_ranks(s);
  const int64_t rows = r ? r->rows : s->A->rows, cols = r ? r->columns : s->A->cols;
  const char *name, *why = kcl_reproducible_excludes(s, m, p, &name);
  if (why) return refuse_reproducible(s, name, why);
  if (s->ctx->reproducible && rows != cols)
    return kcl_fail(s->ctx, KCL_USAGE,
                    "reproducible sums: the matrix is %lld by %lld, and it needs a square one",
                    (long long)rows, (long long)cols);
  return KCL_OK;
}

int kcl_reproducible_options(kcl_system *s) {
  kcl_options *o = &s->options;
  const kcl_method *m = NULL;
  const kcl_precond_kind *p = NULL;
  const char *name, *why;
  if (!s->ctx->reproducible) return KCL_OK;
  if (s->direct) return refuse_reproducible(s, "direct", "its sums are those of a library");
  if (o->mixed) return refuse_reproducible(s, "mixed precision", "when it ends depends on times");
  if (s->shell) return refuse_reproducible(s, "a function for A", "its sums are the caller's");
  if (s->given || s->object)
    return refuse_reproducible(s, "a preconditioner that is given", "its sums are the caller's");
  if (!s->undecided.method) KCL_CALL(kcl_method_find(s->ctx, o->solver, &m));
  if (!s->undecided.precond) KCL_CALL(kcl_precond_find(s->ctx, o->precond, &p));
  if ((why = kcl_reproducible_excludes(s, m, p, &name))) return refuse_reproducible(s, name, why);
  if (strcmp(o->format, "auto") && strcmp(o->format, sole_format))
    return refuse_reproducible(
        s, o->format, "only csr-scalar adds the entries of a row in one order on every device");
  o->format = sole_format, s->undecided.format = false;
  return KCL_OK;
}
