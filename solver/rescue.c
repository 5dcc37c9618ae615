/* The last resort of "auto": where no method converged, the system is solved directly, if the library was built with
 * SuiteSparse and the factorisation is affordable. Its answer counts where its true residual is smaller; the certificate
 * judges it like any other. A least-squares solution of a square system is put to the same test: A may only be
 * ill-conditioned. */
#include "solver/direct/direct.h"
#include "solver/engine/given.h"
#include "solver/solver.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double AFFORDABLE =
    2e11;                       /* floating-point operations: ten seconds or so, by upper bounds */
static const double RATE = 2e9; /* of them per second, at least */
static const double ANALYSIS = 1e-6; /* seconds per entry to predict them */

typedef struct rescue {
  kcl_solver *solver;
  kcl_loop *loop;
  const kcl_csr *A;          /* in double */
  kcl_csr *converted;        /* owned; NULL: A is the caller's */
  int rhs[KCL_MAX_NRHS];     /* [k] */
  double left[KCL_MAX_NRHS]; /* relative residuals */
  double *b[KCL_MAX_NRHS], *x[KCL_MAX_NRHS];
  int k;
} rescue;

static bool allowed(const kcl_system *s, const kcl_loop *l) {
  return s->undecided.method && !s->options.no_direct && !s->options.max_iter && !l->interrupted &&
         !s->options.mixed && kcl_direct_available() &&
         (s->A->rows == s->A->cols || kcl_direct_least_squares());
}

/* Its best x, and how far that is from a solution: further than the target, or solved by the normal residual alone. */
static int unsolved(rescue *w, int i, bool *out) {
  const kcl_system *s = w->loop->system;
  const kcl_rhs *v = &w->loop->rhs[i];
  const bool least = w->solver->selection.way.method->least_squares;
  *out = false;
  if (v->b_norm.norm == 0) return KCL_OK;
  bool claimed = v->report->reason == KCL_CONVERGED;
  if (claimed && (!least || s->A->rows != s->A->cols)) return KCL_OK;
  int rc = kcl_answer(w->loop, i);
  if (!rc) rc = kcl_residual_of(s, v->b, v->x, &w->left[w->k], NULL);
  *out = !rc && !(w->left[w->k] <= v->allowed);
  return rc;
}

static int add(rescue *w, int i) {
  const kcl_csr *A = w->loop->system->A;
  const kcl_type wide = kcl_type_complex(A->type) ? KCL_Z : KCL_D;
  int k = w->k++, rc;
  w->rhs[k] = i;
  rc = kcl_alloc(w->loop->system->ctx, A->rows, kcl_type_size(wide), "a vector", (void **)&w->b[k]);
  if (!rc)
    rc = kcl_alloc(w->loop->system->ctx, A->cols, kcl_type_size(wide), "a vector",
                   (void **)&w->x[k]);
  if (!rc) kcl_copy(wide, w->b[k], A->type, w->loop->rhs[i].b, A->rows, 1);
  return rc;
}

static int prepare(rescue *w) {
  const kcl_system *s = w->loop->system;
  const kcl_type wide = kcl_type_complex(s->A->type) ? KCL_Z : KCL_D;
  int rc = KCL_OK;
  for (int i = 0; i < w->loop->nrhs && !rc; i++) {
    bool out;
    rc = unsolved(w, i, &out);
    if (!rc && out) rc = add(w, i);
  }
  w->A = s->A;
  if (rc || !w->k || s->A->type == wide) return rc;
  rc = kcl_csr_convert(s->ctx, s->A, wide, &w->converted);
  w->A = w->converted;
  return rc;
}

/* Answers that are nearer than those of the methods. */
static int accept(rescue *w, const kcl_direct_info *info) {
  const kcl_csr *A = w->loop->system->A;
  bool any = false;
  for (int k = 0; k < w->k; k++) {
    kcl_rhs *v = &w->loop->rhs[w->rhs[k]];
    double residual;
    void *x = NULL;
    int rc = kcl_alloc(w->loop->system->ctx, A->cols, kcl_type_size(A->type), "the answer", &x);
    if (rc) return rc;
    kcl_copy(A->type, x, w->A->type, w->x[k], A->cols, 1);
    rc = kcl_residual_of(w->loop->system, v->b, x, &residual, NULL);
    if (!rc && residual < w->left[k]) {
      memcpy(v->x, x, (size_t)A->cols * kcl_type_size(A->type));
      v->report->reason = KCL_CONVERGED, v->answered = any = true;
      v->report->relative_residual = -1;
      v->report->x_iteration = w->loop->control[w->rhs[k]].iteration;
    }
    free(x);
    if (rc) return rc;
  }
  if (any) w->solver->direct = info->method;
  return KCL_OK;
}

static void explain(rescue *w, const kcl_direct_info *info) {
  kcl_selection *c = &w->solver->selection;
  kcl_auto_say(c->changes, sizeof c->changes, "%s%s did not reach the tolerance%s; %s in %.2g s",
               c->changes[0] ? "\n" : "", c->way.method->name,
               c->way.method->least_squares ? " but for least squares" : "",
               w->solver->direct ? w->solver->direct : "a direct solution came no nearer",
               info->seconds);
}

/* A factorisation that fails, or is too large, leaves things as they are. */
int kcl_rescue(void *owner, kcl_loop *l, double seconds) {
  kcl_solver *s = owner;
  rescue w = {.solver = s, .loop = l};
  kcl_direct_info info;
  int rc = KCL_OK;
  if (!allowed(&s->system, l) || s->factored || seconds < ANALYSIS * (double)s->system.A->nnz)
    return KCL_OK;
  KCL_TRY(prepare(&w));
  const kcl_direct_task t = {.k = w.k,
                             .b = (const double *const *)w.b,
                             .x = w.x,
                             .flops = fmin(AFFORDABLE, RATE * seconds)};
  if (!w.k || kcl_direct_many(s->system.ctx, w.A, &t, &info)) goto done;
  s->factored = true;
  KCL_TRY(accept(&w, &info));
  explain(&w, &info);
done:
  for (int k = 0; k < w.k; k++) free(w.b[k]), free(w.x[k]);
  kcl_csr_free(&w.converted);
  return rc;
}
