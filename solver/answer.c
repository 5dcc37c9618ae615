/* Answers, from the device to the caller: the last x of a solve that ended as asked; of one that failed the x with the least
 * true residual among the last iterate, the best copy kept on the device (solver/loop/snapshot.c), the initial guess and 0.
 * Residuals are recomputed on the host, one product each. */
#include "solver/engine/given.h"
#include "solver/solver.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
static int consider(answer *a, double fraction, int64_t iteration) {
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

static int best_answer(kcl_loop *l, int i) {
  kcl_executor *ex = &l->engine->executor;
  const kcl_csr *A = l->system->A;
  answer a = {.system = l->system, .v = &l->rhs[i]};
  int rc;
  KCL_TRY(kcl_alloc(l->system->ctx, A->cols, kcl_type_size(A->type), "the answer", &a.next));
  KCL_TRY(consider_guess(&a));
  KCL_TRY(get_x(l, i, a.next));
  KCL_TRY(consider(&a, 1, l->control[i].iteration));
  if (l->kept.best >= 0) {
    KCL_TRY(ex->load(ex, l->kept.best, i));
    KCL_TRY(get_x(l, i, a.next));
    KCL_TRY(consider(&a, CLEARLY, l->kept.iteration[i]));
  }
done:
  free(a.next);
  return rc;
}

bool kcl_solve_failed(const kcl_system *s, kcl_reason reason) {
  bool solved = reason == KCL_CONVERGED || reason == KCL_LEAST_SQUARES;
  bool told = reason == KCL_INTERRUPTED || (reason == KCL_ITERATION_LIMIT && s->options.max_iter);
  return !solved && !told;
}

int kcl_answer(kcl_loop *l, int rhs) {
  kcl_rhs *v = &l->rhs[rhs];
  bool between = l->stopped_between && v->report->reason == KCL_INTERRUPTED;
  if (v->b_norm.norm == 0 || v->answered) return KCL_OK;
  if (between || kcl_solve_failed(l->system, v->report->reason)) return best_answer(l, rhs);
  v->report->x_iteration = l->control[rhs].iteration;
  return get_x(l, rhs, v->x);
}
