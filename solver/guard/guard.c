/* See guard.h. */
#include "solver/guard/guard.h"
#include "core/base/sum64.h"
#include "solver/guard/arrays.h"
#include "solver/guard/state.h"

static const double GUARD_SHARE = 0.02; /* of the time, for checks */
static const double GROWTH = 1e12;      /* of a squared norm, from one check to the next */
enum { MOST_RETURNS = 5 /* to one state */ };

/* Errors that a replay confirms or refutes. */
typedef struct doubt {
  bool known;
  bool counted;   /* as an error: no replay has refuted it yet */
  bool restarted; /* the solve started again from x after one that was refuted */
  int64_t iteration[KCL_MAX_NRHS];
  double rr[KCL_MAX_NRHS];
} doubt;

struct kcl_guard {
  kcl_loop_guard calls; /* first */
  bool writable;
  kcl_engine *engine; /* that the following is of; NULL: none */
  uint64_t number;    /* of it: its address may be another's */
  kcl_guarded_arrays arrays;
  double norm; /* |A|_F */
  int sizes;   /* vectors that LOOP goes on from */
  void *b;     /* room for one, owned */
  uint64_t b_sum[KCL_MAX_NRHS];
  void *scratch; /* [state_bytes] of the executor, owned */
  kcl_kept_state kept;
  double *size,
      *size_now; /* [nrhs, sizes] squared norms in the kept state, and in the latest check; owned */
  double slack;  /* factor on the bound of the gap, 1 or more */
  double ratio;  /* gap of the latest check over its bound */
  doubt doubt;
  int returns; /* to the kept state */
  double next; /* time of the next check */
  int64_t checks, errors, rollbacks;
};

/* ---------------------------------------------------------------- checks */

static int sum_b(const kcl_guard *g, kcl_loop *l, int rhs, uint64_t *sum) {
  kcl_executor *ex = &l->engine->executor;
  const kcl_program *k = l->engine->program;
  const int rc = ex->get(ex, k->b, rhs, k->type, g->b, 1.0);
  *sum = rc ? 0 : kcl_sum64(g->b, (size_t)k->vector[k->b].n * kcl_type_size(k->type), 0);
  return rc;
}

static int find_damaged_arrays(kcl_guard *g, kcl_loop *l, bool *damaged) {
  int count, rc = kcl_guarded_check(&g->arrays, &count);
  *damaged = count > 0;
  for (int i = 0; i < l->nrhs && !rc; i++) {
    uint64_t sum;
    rc = sum_b(g, l, i, &sum);
    *damaged = *damaged || sum != g->b_sum[i];
  }
  return rc;
}

/* ---------------------------------------------------------------- beginning */

static void forget_engine(kcl_guard *g) {
  kcl_guarded_free(&g->arrays);
  kcl_state_free(&g->kept);
  free(g->b), free(g->scratch), free(g->size), free(g->size_now);
  g->b = g->scratch = NULL, g->size = g->size_now = NULL, g->engine = NULL;
}

static int know_engine(kcl_guard *g, kcl_loop *l) {
  kcl_engine *e = l->engine;
  const kcl_program *k = e->program;
  int rc;
  forget_engine(g);
  g->sizes = 0, g->slack = 1, g->doubt = (doubt){.known = false};
  for (kcl_vec v = 0; v < k->vectors; v++) g->sizes += kcl_vector_carried(k, v);
  KCL_TRY(kcl_guarded_engine(&g->arrays, e, g->writable));
  KCL_TRY(kcl_alloc_unset(e->ctx, k->vector[k->b].n, kcl_type_size(k->type), "b", &g->b));
  KCL_TRY(kcl_alloc_unset(e->ctx, (int64_t)e->executor.state_bytes(&e->executor), 1,
                          "the state of a solve", &g->scratch));
  KCL_TRY(kcl_alloc(e->ctx, l->nrhs * g->sizes, sizeof *g->size, "norms", (void **)&g->size));
  KCL_TRY(kcl_alloc(e->ctx, l->nrhs * g->sizes, sizeof *g->size, "norms", (void **)&g->size_now));
  for (int i = 0; i < l->nrhs; i++) KCL_TRY(sum_b(g, l, i, &g->b_sum[i]));
  g->norm = kcl_norm_F(kcl_system_matrix(l->system));
  g->engine = e, g->number = e->number;
done:
  return rc;
}

static int bring_to_rest(kcl_loop *l) {
  const int rc = l->enqueued ? kcl_loop_poll(l) : KCL_OK;
  l->enqueued = false;
  return rc;
}

static int before_step(kcl_loop_guard *calls, kcl_loop *l) {
  kcl_guard *g = (kcl_guard *)calls;
  const bool same = g->engine == l->engine && g->number == l->engine->number;
  if (same && g->kept.known) return KCL_OK;
  int rc = bring_to_rest(l);
  if (!rc && !same) rc = know_engine(g, l);
  if (!rc) rc = kcl_state_keep(&g->kept, l);
  if (!rc) memset(g->size, 0, (size_t)(l->nrhs * g->sizes) * sizeof *g->size);
  g->returns = 0;
  return rc;
}

/* ---------------------------------------------------------------- checks */

typedef enum verdict { PASSED, DAMAGED, APART, DOUBTED } verdict;

/* Bound of the rounding errors in the residual since START: each product and each sum of an iteration adds its unit roundoff. */
static double gap_bound(const kcl_guard *g, const kcl_loop *l, int i, double x) {
  const kcl_program *k = g->engine->program;
  const kcl_rhs *v = &l->rhs[i];
  const double unit = k->type == KCL_S || k->type == KCL_C ? FLT_EPSILON : DBL_EPSILON,
               row = l->system->stats.row_mean + 10,
               done = (double)(l->control[i].iteration - v->round_began + 10);
  double most = v->rr0;
  for (int64_t j = 0; j < v->history->size; j++) most = fmax(most, kcl_history_rr(v->history, j));
  return 4 * g->slack * unit * row * done * (g->norm * x + sqrt(most) + v->b_norm.norm);
}

/* Norms of right-hand side i after VERIFY. */
static bool verified(kcl_guard *g, const kcl_loop *l, int i) {
  const kcl_program *k = g->engine->program;
  const kcl_executor *ex = &g->engine->executor;
  bool grown = false;
  double x = 0;
  for (int j = 0, v = 0; v < k->vectors; v++) {
    if (!kcl_vector_carried(k, v)) continue;
    const double now = ex->scalar(ex, k->sizes + j, i), then = g->size[i * g->sizes + j];
    grown = grown || !(now < INFINITY) || (then > 0 && now > GROWTH * then);
    if (v == k->x) x = sqrt(fmax(now, then));
    g->size_now[i * g->sizes + j++] = now;
  }
  if (k->gap < 0) return !grown;
  const double ratio = sqrt(ex->scalar(ex, k->gap, i)) / gap_bound(g, l, i, x);
  g->ratio = fmax(g->ratio, ratio);
  return !grown && ratio <= 1;
}

/* VERIFY overwrites slots and partial sums; they are put back. */
static int run_verification(kcl_guard *g, kcl_loop *l) {
  kcl_executor *ex = &l->engine->executor;
  kcl_control control[KCL_MAX_NRHS];
  double rr[KCL_MAX_NRHS];
  int rc = ex->get_state(ex, g->scratch);
  if (!rc) rc = ex->run(ex, KCL_VERIFY, 1);
  if (!rc) rc = ex->poll(ex, control, rr);
  return rc ? rc : ex->put_state(ex, g->scratch);
}

static int check_iteration(kcl_guard *g, kcl_loop *l, verdict *out) {
  int rc = run_verification(g, l);
  for (int i = 0; i < l->nrhs && !rc; i++)
    if (kcl_loop_runs(l, i) && !verified(g, l, i)) *out = APART;
  return rc;
}

/* START has recomputed the residuals of claims that do not hold. */
static verdict check_refuted(kcl_guard *g, const kcl_loop *l) {
  verdict out = PASSED;
  for (int i = 0; i < l->nrhs; i++) {
    const kcl_rhs *v = &l->rhs[i];
    const double claimed = v->report->relative_residual * v->b_norm.norm;
    if (!v->active) continue;
    const double ratio =
        (sqrt(l->rr[i]) - claimed) / gap_bound(g, l, i, sqrt(g->size[i * g->sizes]));
    g->ratio = fmax(g->ratio, ratio);
    if (!(ratio <= 1)) out = APART;
  }
  return out;
}

/* Reasons other than convergence and the limit. */
static verdict check_reasons(const kcl_guard *g, const kcl_loop *l) {
  for (int i = 0; i < l->nrhs; i++) {
    const kcl_reason r = l->rhs[i].report->reason;
    if (g->kept.loop.rhs[i].active && r != KCL_CONVERGED && r != KCL_ITERATION_LIMIT)
      return DOUBTED;
  }
  return PASSED;
}

static int check_all(kcl_guard *g, kcl_loop *l, verdict *out) {
  bool damaged;
  int rc = find_damaged_arrays(g, l, &damaged);
  g->checks++, g->ratio = 0;
  *out = damaged ? DAMAGED : PASSED;
  if (rc || damaged) return rc;
  if (l->state == KCL_LOOP_ITERATING) return check_iteration(g, l, out);
  *out = l->state == KCL_LOOP_READY ? check_refuted(g, l) : check_reasons(g, l);
  return KCL_OK;
}

/* ---------------------------------------------------------------- verdicts */

static int64_t last_entry(const kcl_loop *l, int i) { return l->rhs[i].history->size - 1; }

static void remember_doubt(kcl_guard *g, const kcl_loop *l) {
  g->doubt.known = g->doubt.counted = true;
  for (int i = 0; i < l->nrhs; i++) {
    const int64_t j = g->doubt.iteration[i] = last_entry(l, i);
    g->doubt.rr[i] = j < 0 ? 0 : kcl_history_rr(l->rhs[i].history, j);
  }
}

/* Had the replay the residuals of the doubted iterations, bit for bit? Formats that scatter have other bits each time. */
static bool replay_agrees(const kcl_guard *g, const kcl_loop *l) {
  if (g->doubt.known && l->engine->operators[0]->format->scatter) return true;
  for (int i = 0; i < l->nrhs; i++) {
    const int64_t j = g->doubt.iteration[i];
    const double rr = j < 0 || j > last_entry(l, i) ? 0 : kcl_history_rr(l->rhs[i].history, j);
    if (memcmp(&rr, &g->doubt.rr[i], sizeof rr)) return false;
  }
  return g->doubt.known;
}

/* It was no error. */
static void refute_doubt(kcl_guard *g) {
  g->errors -= g->doubt.counted;
  g->doubt.counted = false;
}

static int pass_check(kcl_guard *g, kcl_loop *l) {
  g->returns = 0;
  if (replay_agrees(g, l)) refute_doubt(g);
  if (l->state == KCL_LOOP_ENDED) { /* another method may go on */
    g->kept.known = false;
    return KCL_OK;
  }
  if (l->state == KCL_LOOP_ITERATING)
    memcpy(g->size, g->size_now, (size_t)(l->nrhs * g->sizes) * sizeof *g->size);
  return kcl_state_keep(&g->kept, l);
}

/* The last return starts from x alone: the state may have an error that its check did not find. */
static int go_back(kcl_guard *g, kcl_loop *l) {
  g->errors++, g->rollbacks++;
  if (++g->returns < MOST_RETURNS) return kcl_state_return(&g->kept, l);
  if (g->returns == MOST_RETURNS) return kcl_state_return_x(&g->kept, l);
  l->system->ctx->device_failed = true;
  return kcl_fail(
      l->system->ctx, KCL_DEVICE,
      "the device or its memory is broken: after iteration %lld errors came %d times in "
      "a row",
      (long long)kcl_loop_iterations(&g->kept.loop), MOST_RETURNS);
}

/* A finding that a replay confirms is no error: a gap is rounding; a reason to end counts, once a start from x has not helped. */
static int accept_doubt(kcl_guard *g, kcl_loop *l, verdict v) {
  refute_doubt(g);
  if (v == APART) g->slack *= fmax(1, 4 * g->ratio);
  if (v == APART) return pass_check(g, l);
  g->doubt.restarted = true, g->rollbacks++;
  return kcl_state_return_x(&g->kept, l);
}

static int judge(kcl_guard *g, kcl_loop *l, verdict v) {
  if (v == PASSED || (v == DOUBTED && g->doubt.restarted)) return pass_check(g, l);
  if (v != DAMAGED && replay_agrees(g, l)) return accept_doubt(g, l, v);
  if (v == DAMAGED) g->doubt.known = g->doubt.counted = false;
  if (v != DAMAGED) remember_doubt(g, l);
  return go_back(g, l);
}

static bool check_is_due(const kcl_guard *g, const kcl_loop *l) {
  if (l->interrupted) return false;
  return l->state != KCL_LOOP_ITERATING || kcl_now() >= g->next;
}

static int after_step(kcl_loop_guard *calls, kcl_loop *l) {
  kcl_guard *g = (kcl_guard *)calls;
  verdict v;
  if (!check_is_due(g, l)) return KCL_OK;
  const double start = kcl_now();
  int rc = bring_to_rest(l);
  if (rc || (l->state == KCL_LOOP_ITERATING && !kcl_loop_running(l))) return rc;
  rc = check_all(g, l, &v);
  if (!rc) rc = judge(g, l, v);
  const double end = kcl_now();
  g->next = end + (end - start) / GUARD_SHARE;
  return rc;
}

/* ---------------------------------------------------------------- of a solve */

int kcl_guard_create(kcl_loop *l, bool writable, kcl_guard **out) {
  int rc = kcl_alloc(l->system->ctx, 1, sizeof **out, "a guard", (void **)out);
  if (rc) return rc;
  (*out)->calls = (kcl_loop_guard){before_step, after_step}, (*out)->writable = writable;
  l->guard = &(*out)->calls;
  return KCL_OK;
}

void kcl_guard_report(const kcl_guard *g, const kcl_loop *l) {
  for (int i = 0; g && i < l->nrhs; i++) {
    kcl_report *r = l->rhs[i].report;
    r->guard_checks = g->checks, r->guard_errors = g->errors, r->guard_rollbacks = g->rollbacks;
  }
}

void kcl_guard_free(kcl_guard **g) {
  if (!*g) return;
  forget_engine(*g);
  free(*g);
  *g = NULL;
}
