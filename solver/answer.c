/* Answers, from the device to the caller: the last x of a solve that ended as asked, if it is finite; otherwise the x with the
 * least true residual among the last iterate, the best copy kept on the device (solver/loop/snapshot.c), the initial guess and
 * 0. Residuals are recomputed on the host, one product each; that of an x that is not finite is infinite. */
#include "solver/engine/given.h"
#include "solver/solver.h"

/* A copy counts where it is clearly better: which iterates are kept depends on the right-hand sides beside it. */
static const double CLEARLY = 0.5;

typedef struct answer {
  const kcl_system *system;
  const kcl_rhs *v;
  void *next;   /* [cols] a candidate */
  double least; /* relative residual of v->x */
} answer;

static int get_x(kcl_loop *l, int i, void *x) {
  return kcl_take_x(l->system, l->engine, i, x, l->rhs[i].b_norm.shift);
}

/* Takes a->next as the answer where it is nearer: its residual is less than `fraction` of the least. */
static int consider_candidate(answer *a, double fraction, int64_t iteration) {
  const kcl_csr *A = a->system->A;
  double residual;
  int rc = kcl_residual_of(a->system, a->v->b, a->next, &residual, NULL);
  if (rc || !(residual < fraction * a->least)) return rc;
  a->least = residual, a->v->report->x_iteration = iteration;
  memcpy(a->v->x, a->next, (size_t)A->cols * kcl_type_size(A->type));
  return KCL_OK;
}

/* The initial guess, or what was the nearest when this was last asked; 0 where that is nearer. */
static int consider_guess(answer *a) {
  const kcl_csr *A = a->system->A;
  int rc = kcl_residual_of(a->system, a->v->b, a->v->x, &a->least, NULL);
  if (rc || a->least <= 1) return rc;
  a->least = 1, a->v->report->x_iteration = 0;
  memset(a->v->x, 0, (size_t)A->cols * kcl_type_size(A->type));
  return KCL_OK;
}

/* a->next is the last x. */
static int take_nearest_x(kcl_loop *l, int i, answer *a) {
  kcl_executor *ex = &l->engine->executor;
  int rc = consider_guess(a);
  if (!rc) rc = consider_candidate(a, 1, l->control[i].iteration);
  if (rc || l->snapshots.best < 0) return rc;
  KCL_CALL(ex->load(ex, l->snapshots.best, i));
  KCL_CALL(get_x(l, i, a->next));
  return consider_candidate(a, CLEARLY, l->snapshots.iteration[i]);
}

int kcl_answer_without_device(kcl_loop *l, int rhs, const void *x, int64_t iteration) {
  const kcl_csr *A = l->system->A;
  answer a = {.system = l->system, .v = &l->rhs[rhs]};
  int rc = consider_guess(&a);
  if (rc || !x) return rc;
  KCL_CALL(kcl_alloc(l->system->ctx, A->cols, kcl_type_size(A->type), "the answer", &a.next));
  memcpy(a.next, x, (size_t)A->cols * kcl_type_size(A->type));
  rc = consider_candidate(&a, 1, iteration);
  free(a.next);
  return rc;
}

bool kcl_solve_failed(const kcl_system *s, kcl_reason reason) {
  bool solved = reason == KCL_CONVERGED || reason == KCL_LEAST_SQUARES;
  bool told = reason == KCL_INTERRUPTED || reason == KCL_DEVICE_LOST ||
              (reason == KCL_ITERATION_LIMIT && s->options.max_iter);
  return !solved && !told;
}

static bool is_finite(const kcl_system *s, const void *x) {
  kcl_ranks *ranks = kcl_system_ranks(s);
  const double own = kcl_norm_inf(s->A->type, x, s->A->cols);
  return (ranks ? ranks->largest(ranks, own) : own) < INFINITY;
}

/* The last x of a right-hand side that stays on the device; *taken: it is the answer. */
static int take_on_device(kcl_loop *l, int rhs, bool *taken) {
  kcl_rhs *v = &l->rhs[rhs];
  int rc = kcl_x_is_finite(l->system, l->engine, rhs, v->b_norm.shift, taken);
  if (rc || !*taken) return rc;
  v->report->x_iteration = l->control[rhs].iteration;
  return kcl_take_x_column(l->system, l->engine, rhs, &v->x_column, v->b_norm.shift);
}

int kcl_answer(kcl_loop *l, int rhs) {
  const kcl_csr *A = l->system->A;
  const size_t size = kcl_type_size(A->type);
  kcl_rhs *v = &l->rhs[rhs];
  kcl_report *report = v->report;
  bool nearest = (l->stopped_between && report->reason == KCL_INTERRUPTED) ||
                 kcl_solve_failed(l->system, report->reason);
  answer a = {.system = l->system, .v = v};
  int rc;
  if (v->b_norm.norm == 0 || v->answered) return KCL_OK;
  bool taken = false;
  if (!v->b && !nearest && ((rc = take_on_device(l, rhs, &taken)) || taken)) return rc;
  if ((rc = kcl_loop_fetch(l, rhs))) return rc;
  rc = kcl_alloc(l->system->ctx, A->cols, size, "the answer", &a.next);
  KCL_TRY(kcl_ranks_agree(kcl_system_ranks(l->system), rc));
  KCL_TRY(get_x(l, rhs, a.next));
  const bool finite = is_finite(l->system, a.next);
  if (!finite && report->reason == KCL_CONVERGED) report->reason = KCL_NOT_FINITE;
  if (nearest || !finite) {
    rc = take_nearest_x(l, rhs, &a);
  } else {
    report->x_iteration = l->control[rhs].iteration;
    memcpy(v->x, a.next, (size_t)A->cols * size);
  }
done:
  free(a.next);
  return rc;
}
