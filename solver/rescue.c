/* The last resort of "auto": where no method converged, the system is solved directly, if the library was built with
 * SuiteSparse and the factorisation is affordable. Its answer counts where its true residual is smaller, or where x is not
 * unique and its x is; the certificate
 * judges it like any other. A least-squares solution of a square system is put to the same test: A may only be
 * ill-conditioned.
 *
 * The factorisation has copies of all that it uses: it goes on by itself where the caller stops the solve. */
#include "core/base/context.h"
#include "core/base/text.h"
#include "solver/direct/direct.h"
#include "solver/engine/given.h"
#include "solver/solver.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double AFFORDABLE =
    2e11;                       /* floating-point operations: ten seconds or so, by upper bounds */
static const double RATE = 2e9; /* of them per second, at least */
static const double ANALYSIS = 1e-6; /* seconds per entry to predict them */
static const double WORTH =
    4; /* times as much must be affordable before they are predicted again */

static const double AS_NEAR = 1 + 1e-9; /* residuals that tell least-squares solutions not apart */

typedef struct factorisation {
  kcl_context ctx;                           /* of its own */
  kcl_csr *A;                                /* in double */
  double *b[KCL_MAX_NRHS], *x[KCL_MAX_NRHS]; /* [k] of A's type */
  int rhs[KCL_MAX_NRHS], k;                  /* their numbers */
  double flops;
  kcl_direct_info info;
  int rc;
} factorisation;

static void run_rescue(void *self) {
  factorisation *f = self;
  const kcl_direct_task t = {
      .k = f->k, .b = (const double *const *)f->b, .x = f->x, .flops = f->flops};
  f->rc = kcl_direct_many(&f->ctx, f->A, &t, &f->info);
}

static void release_rescue(void *self) {
  factorisation *f = self;
  for (int k = 0; k < f->k; k++) free(f->b[k]), free(f->x[k]);
  kcl_csr_free(&f->A);
  free(f);
}

/* ---------------------------------------------------------------- before */

static bool direct_allowed(const kcl_system *s, const kcl_loop *l) {
  return s->undecided.method && !s->options.no_direct && !s->options.max_iter && !l->interrupted &&
         !s->options.mixed && kcl_direct_available() &&
         (s->A->rows == s->A->cols || kcl_direct_least_squares());
}

/* Further from a solution than the target: given up, or solved by the normal residual alone. */
static int unsolved(kcl_solver *s, kcl_loop *l, int i, bool *out) {
  const kcl_csr *A = s->system.A;
  const kcl_rhs *v = &l->rhs[i];
  const bool least = s->selection.way.method->least_squares, square = A->rows == A->cols;
  double relative;
  void *x = NULL;
  int rc;
  *out = v->b_norm.norm > 0 && v->report->reason != KCL_CONVERGED;
  if (v->b_norm.norm == 0 || *out || !least || !square) return KCL_OK;
  KCL_TRY(kcl_loop_fetch(l, i));
  KCL_TRY(kcl_alloc(s->system.ctx, A->cols, kcl_type_size(A->type), "x", &x));
  KCL_TRY(kcl_take_x(&s->system, l->engine, i, x, v->b_norm.shift));
  KCL_TRY(kcl_residual_of(&s->system, v->b, x, &relative, NULL));
  *out = !(relative <= v->allowed);
done:
  free(x);
  return rc;
}

static int add_answer(const kcl_system *s, kcl_loop *l, int i, factorisation *f) {
  const kcl_csr *A = s->A;
  const kcl_type wide = kcl_wide_type(A->type);
  const size_t size = kcl_type_size(wide);
  int k = f->k++, rc;
  f->rhs[k] = i;
  if ((rc = kcl_loop_fetch(l, i))) return rc;
  if ((rc = kcl_alloc(s->ctx, A->rows, size, "a vector", (void **)&f->b[k]))) return rc;
  if ((rc = kcl_alloc(s->ctx, A->cols, size, "a vector", (void **)&f->x[k]))) return rc;
  kcl_copy(wide, f->b[k], A->type, l->rhs[i].b, A->rows, 1);
  return KCL_OK;
}

/* f->k is 0 where all are solved. */
static int prepare_rescue(kcl_solver *s, kcl_loop *l, factorisation *f) {
  const kcl_system *system = &s->system;
  const kcl_type wide = kcl_wide_type(system->A->type);
  for (int i = 0; i < l->nrhs; i++) {
    bool out;
    int rc = unsolved(s, l, i, &out);
    if (!rc && out) rc = add_answer(system, l, i, f);
    if (rc) return rc;
  }
  return f->k ? kcl_csr_convert(system->ctx, system->A, wide, &f->A) : KCL_OK;
}

/* ---------------------------------------------------------------- after */

/* An answer that is nearer than that of the methods, or as near and smaller. */
static int accept(kcl_solver *s, kcl_loop *l, const factorisation *f, int k) {
  const kcl_csr *A = s->system.A;
  const size_t size = kcl_type_size(A->type);
  kcl_rhs *v = &l->rhs[f->rhs[k]];
  const bool unique = f->info.rank < 0 || f->info.rank == A->cols;
  double ours, theirs;
  void *x = NULL;
  int rc;
  KCL_TRY(kcl_alloc(s->system.ctx, A->cols, size, "the answer", &x));
  kcl_copy(A->type, x, f->A->type, f->x[k], A->cols, 1);
  kcl_clear_zero_columns(&s->system, x);
  KCL_TRY(kcl_residual_of(&s->system, v->b, x, &theirs, NULL));
  KCL_TRY(kcl_answer(l, f->rhs[k]));
  KCL_TRY(kcl_residual_of(&s->system, v->b, v->x, &ours, NULL));
  const bool smaller = f->info.least_norm && theirs <= AS_NEAR * ours &&
                       kcl_norm2(A->type, x, A->cols) < kcl_norm2(A->type, v->x, A->cols);
  if (!(theirs < ours) && !smaller) goto done;
  v->report->not_unique = !unique, v->report->least_norm = !unique && f->info.least_norm;
  memcpy(v->x, x, (size_t)A->cols * size);
  v->report->reason = KCL_CONVERGED, v->answered = true;
  v->report->relative_residual = -1;
  v->report->x_iteration = l->control[f->rhs[k]].iteration;
  s->direct = f->info.method;
done:
  free(x);
  return rc;
}

static void explain_refusal(kcl_solver *s, const factorisation *f) {
  kcl_selection *c = &s->selection;
  kcl_auto_say(c->changes, sizeof c->changes, "%s%s did not reach the tolerance%s; %s in %s",
               c->changes[0] ? "\n" : "", c->way.method->name,
               c->way.method->least_squares ? " but for least squares" : "",
               s->direct ? s->direct : "a direct solution came no nearer",
               kcl_seconds_text(f->info.seconds).s);
}

/* A factorisation that fails, or is too large, leaves things as they are. */
int kcl_rescue(void *owner, kcl_loop *l, double seconds) {
  kcl_solver *s = owner;
  kcl_context *ctx = s->system.ctx;
  const double flops = fmin(AFFORDABLE, RATE * seconds);
  factorisation *f = NULL;
  int rc;
  if (!direct_allowed(&s->system, l) || s->factored ||
      seconds < ANALYSIS * (double)s->system.A->nnz)
    return KCL_OK;
  if (seconds < INFINITY && flops < WORTH * s->refused) return KCL_OK;
  KCL_TRY(kcl_alloc(ctx, 1, sizeof *f, "a direct solution", (void **)&f));
  f->flops = flops;
  KCL_TRY(prepare_rescue(s, l, f));
  if (!f->k) goto done;
  kcl_activity_begin(ctx, (kcl_activity){.what = "factorising"});
  if (!kcl_run_stoppable(ctx, run_rescue, release_rescue, f)) f = NULL;
  kcl_activity_end(ctx);
  if (!f) goto done;
  s->factored = !f->rc;
  if (f->rc) s->refused = flops;
  if (f->rc) goto done;
  for (int k = 0; k < f->k; k++) KCL_TRY(accept(s, l, f, k));
  explain_refusal(s, f);
done:
  if (f) release_rescue(f);
  return rc;
}
