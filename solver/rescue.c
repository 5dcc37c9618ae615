/* Direct solutions in a solve: solver "direct"; of "auto", where that is predicted to be faster than to iterate on
 * (solver/auto/direct.c), and as the last resort, where no method converged. The library must have been built with
 * SuiteSparse, and the factorisation be affordable. The answer counts where its true residual is smaller, or where x is not
 * unique and its x is; the certificate
 * judges it like any other. A least-squares solution of a square system is put to the same test: A may only be
 * ill-conditioned.
 *
 * The factorisation has copies of all that it uses: it goes on by itself where the caller stops the solve. */
#include "solver/engine/given.h"
#include "solver/solver.h"
#include <stdio.h>

static const double AFFORDABLE = 2e11; /* floating-point operations: ten seconds or so */
static const double ANALYSES =
    0.5; /* a solve has taken as many times the seconds of an analysis before one is made */

static const double AS_NEAR = 1 + 1e-9; /* residuals that tell least-squares solutions not apart */

typedef struct factorisation {
  kcl_context ctx;           /* of its own */
  kcl_csr *A;                /* in double */
  bool scaled;               /* A, b and x are those of the scaled system */
  kcl_direct_factor *factor; /* NULL: there is none yet; while this runs it is not the solver's */
  double *b[KCL_MAX_NRHS], *x[KCL_MAX_NRHS]; /* [k] of A's type */
  int rhs[KCL_MAX_NRHS], k;                  /* their numbers */
  double flops;
  kcl_direct_info info;
  int rc;
  char message[KCL_MESSAGE]; /* why not */
} factorisation;

static void run_rescue(void *self) {
  factorisation *f = self;
  const kcl_direct_task t = {.k = f->k,
                             .b = (const double *const *)f->b,
                             .x = f->x,
                             .flops = f->flops,
                             .kept = &f->factor};
  f->rc = kcl_direct_many(&f->ctx, f->A, &t, &f->info);
  if (f->rc) snprintf(f->message, sizeof f->message, "%s", kcl_error());
}

static void release_rescue(void *self) {
  factorisation *f = self;
  for (int k = 0; k < f->k; k++) free(f->b[k]), free(f->x[k]);
  kcl_direct_factor_free(&f->factor);
  kcl_csr_free(&f->A);
  free(f);
}

/* ---------------------------------------------------------------- before */

static bool direct_is_candidate(const kcl_system *s) {
  return s->undecided.method && !s->options.no_direct && !s->options.max_iter &&
         !s->options.mixed && kcl_direct_available() &&
         (s->A->rows == s->A->cols || kcl_direct_least_squares());
}

static bool direct_allowed(const kcl_system *s, const kcl_loop *l) {
  return !l->interrupted && (s->direct || direct_is_candidate(s));
}

/* Further from a solution than the target: given up, or solved by the normal residual alone. */
static int unsolved(kcl_solver *s, kcl_loop *l, int i, bool *out) {
  const kcl_csr *A = s->system.A;
  const kcl_rhs *v = &l->rhs[i];
  const bool least = s->selection.way.method->least_squares, square = A->rows == A->cols;
  double relative;
  KCL_OWNED void *x = NULL;
  *out = v->b_norm.norm > 0 && v->report->reason != KCL_CONVERGED;
  if (v->b_norm.norm == 0 || *out || !least || !square) return KCL_OK;
  KCL_CALL(kcl_loop_fetch(l, i));
  KCL_CALL(kcl_alloc(s->system.ctx, A->cols, kcl_type_size(A->type), "x", &x));
  KCL_CALL(kcl_take_x(&s->system, l->engine, i, x, v->b_norm.shift));
  KCL_CALL(kcl_residual_of(&s->system, v->b, x, &relative, NULL));
  *out = !(relative <= v->allowed);
  return KCL_OK;
}

static int add_answer(const kcl_system *s, kcl_loop *l, int i, factorisation *f) {
  const kcl_csr *A = s->A;
  const kcl_type wide = kcl_wide_type(A->type);
  const size_t size = kcl_type_size(wide);
  const int k = f->k++;
  f->rhs[k] = i;
  KCL_CALL(kcl_loop_fetch(l, i));
  KCL_CALL(kcl_alloc(s->ctx, A->rows, size, "a vector", (void **)&f->b[k]));
  KCL_CALL(kcl_alloc(s->ctx, A->cols, size, "a vector", (void **)&f->x[k]));
  kcl_copy(wide, f->b[k], A->type, l->rhs[i].b, A->rows, 1);
  if (f->scaled)
    kcl_scale_vector(wide, f->b[k], A->rows, s->scaling.row, 1, l->rhs[i].b_norm.shift);
  return KCL_OK;
}

static int copy_matrix(const kcl_system *s, factorisation *f) {
  int rc = kcl_csr_convert(s->ctx, s->A, kcl_wide_type(s->A->type), &f->A);
  if (!rc && f->scaled) kcl_scale_values(&s->scaling, s->A, f->A->type, f->A->val);
  return rc;
}

/* f->k is 0 where all are solved. */
static int prepare_rescue(kcl_solver *s, kcl_loop *l, factorisation *f) {
  if (s->factored_A) f->scaled = s->factored_scaled;
  for (int i = 0; i < l->nrhs; i++) {
    bool out;
    KCL_CALL(unsolved(s, l, i, &out));
    if (out) KCL_CALL(add_answer(&s->system, l, i, f));
  }
  if (!f->k) return KCL_OK;
  f->A = s->factored_A, f->factor = s->factor;
  s->factored_A = NULL, s->factor = NULL;
  return f->A ? KCL_OK : copy_matrix(&s->system, f);
}

/* A solver that was asked for a direct solution is likely to be asked again. */
static void keep_factor(kcl_solver *s, factorisation *f) {
  if (!s->system.direct || !f->factor) return;
  s->factored_A = f->A, s->factored_scaled = f->scaled, s->factor = f->factor;
  f->A = NULL, f->factor = NULL;
}

void kcl_rescue_forget(kcl_solver *s) {
  kcl_direct_factor_free(&s->factor);
  kcl_csr_free(&s->factored_A);
}

/* ---------------------------------------------------------------- after */

/* The larger of both residuals where the system is scaled. */
static int claimed_residual(const kcl_system *s, const kcl_rhs *v, const void *x, double *out) {
  double given, tested;
  int rc = kcl_residual_of(s, v->b, x, &given, &tested);
  *out = fmax(given, tested);
  return rc;
}

static void unscale_answer(const kcl_system *s, const kcl_rhs *v, const factorisation *f,
                           double *x) {
  if (f->scaled)
    kcl_scale_vector(f->A->type, x, f->A->cols, s->scaling.col, 1,
                     s->scaling.unit - v->b_norm.shift);
}

/* An answer that is nearer than that of the methods, or as near and smaller. */
static int accept(kcl_solver *s, kcl_loop *l, const factorisation *f, int k) {
  const kcl_csr *A = s->system.A;
  const size_t size = kcl_type_size(A->type);
  kcl_rhs *v = &l->rhs[f->rhs[k]];
  const bool unique = f->info.rank < 0 || f->info.rank == A->cols;
  double ours, theirs;
  KCL_OWNED void *x = NULL;
  KCL_CALL(kcl_alloc(s->system.ctx, A->cols, size, "the answer", &x));
  unscale_answer(&s->system, v, f, f->x[k]);
  kcl_copy(A->type, x, f->A->type, f->x[k], A->cols, 1);
  kcl_clear_zero_columns(&s->system, x);
  KCL_CALL(claimed_residual(&s->system, v, x, &theirs));
  KCL_CALL(kcl_answer(l, f->rhs[k]));
  KCL_CALL(claimed_residual(&s->system, v, v->x, &ours));
  const bool smaller = f->info.least_norm && theirs <= AS_NEAR * ours &&
                       kcl_norm2(A->type, x, A->cols) < kcl_norm2(A->type, v->x, A->cols);
  const bool racing = s->selection.direct && !s->system.direct; /* the methods may come nearer */
  if ((!(theirs < ours) && !smaller) || (racing && theirs > v->allowed)) return KCL_OK;
  v->report->not_unique = !unique, v->report->least_norm = !unique && f->info.least_norm;
  memcpy(v->x, x, (size_t)A->cols * size);
  v->report->reason = KCL_CONVERGED, v->answered = true;
  v->report->relative_residual = -1;
  v->report->x_iteration = l->control[f->rhs[k]].iteration;
  s->direct = f->info.method;
  return KCL_OK;
}

/* Says how a direct solution followed the methods, and in a last resort why they were left. */
static void explain_rescue(kcl_solver *s, const factorisation *f) {
  kcl_selection *c = &s->selection;
  if (!c->direct)
    kcl_append(c->changes, sizeof c->changes, "%s%s did not reach the tolerance%s",
               c->changes[0] ? "\n" : "", c->way.method->name,
               c->way.method->least_squares ? " but for least squares" : "");
  kcl_append(c->changes, sizeof c->changes, "; %s in %s",
             s->direct ? s->direct : "a direct solution came no nearer",
             kcl_seconds_text(f->info.seconds).s);
}

static bool is_definite(const kcl_system *s) {
  return s->stats.hermitian && s->stats.positive_diagonal;
}

/* s->direct_seconds of a square system. */
static void predict_seconds(kcl_solver *s) {
  const kcl_csr *A = s->system.A;
  kcl_csr *wide = NULL;
  int rc = kcl_csr_convert(s->system.ctx, A, kcl_wide_type(A->type), &wide);
  if (!rc)
    rc = kcl_direct_predict(s->system.ctx, wide, is_definite(&s->system), AFFORDABLE,
                            &s->direct_seconds);
  kcl_csr_free(&wide);
  if (rc) s->direct_seconds = INFINITY;
}

double kcl_rescue_predict(kcl_solver *s) {
  const kcl_csr *A = s->system.A;
  if (!direct_is_candidate(&s->system) || A->rows != A->cols) return INFINITY;
  if (!s->direct_seconds) predict_seconds(s);
  return s->direct_seconds;
}

double kcl_rescue_price(void *owner, const kcl_loop *l, double spent) {
  kcl_solver *s = owner;
  const kcl_csr *A = s->system.A;
  if (!direct_allowed(&s->system, l) || s->factored || A->rows != A->cols) return INFINITY;
  if (!s->direct_seconds && spent < ANALYSES * kcl_direct_predict_seconds(A)) return INFINITY;
  return kcl_rescue_predict(s);
}

/* Is a direct solution allowed, and within so many seconds? */
static bool within(kcl_solver *s, const kcl_loop *l, double seconds) {
  const bool square = s->system.A->rows == s->system.A->cols;
  if (!direct_allowed(&s->system, l) || s->factored) return false;
  return seconds == INFINITY || (square && kcl_rescue_price(s, l, seconds) <= seconds);
}

/* *out NULL: all are solved, or the caller stopped it. */
static int solve_directly(kcl_solver *s, kcl_loop *l, bool scaled, factorisation **out) {
  kcl_context *ctx = s->system.ctx;
  factorisation *f = NULL;
  int rc;
  KCL_TRY(kcl_alloc(ctx, 1, sizeof *f, "a direct solution", (void **)&f));
  f->ctx.threads = ctx->threads ? ctx->threads : kcl_threads(); /* of this thread */
  f->flops = s->system.direct ? INFINITY : AFFORDABLE, f->scaled = scaled;
  KCL_TRY(prepare_rescue(s, l, f));
  if (!f->k) goto done;
  kcl_activity_begin(ctx, (kcl_activity){.what = "factorising"});
  if (kcl_run_stoppable(ctx, run_rescue, release_rescue, f)) *out = f;
  kcl_activity_end(ctx);
  f = NULL;
done:
  if (f) keep_factor(s, f), release_rescue(f);
  return rc;
}

/* Least-squares and least-norm solutions of the scaled system are not those of the system as given. */
static bool is_other_problem(const factorisation *f) {
  return f && f->scaled && !f->rc && f->info.rank >= 0;
}

/* A factorisation that fails, or is too large, leaves things as they are; of solver "direct" that is an error. */
int kcl_rescue(void *owner, kcl_loop *l, double seconds) {
  kcl_solver *s = owner;
  factorisation *f = NULL;
  int rc;
  if (!within(s, l, seconds)) return KCL_OK;
  KCL_TRY(solve_directly(s, l, s->system.scaling.row, &f));
  if (is_other_problem(f)) {
    release_rescue(f), f = NULL;
    KCL_TRY(solve_directly(s, l, false, &f));
  }
  if (!f) goto done;
  s->factored = true;
  if (f->rc && s->system.direct)
    rc = kcl_fail(s->system.ctx, f->rc, "solver direct: %s", f->message);
  if (f->rc) goto done;
  for (int k = 0; k < f->k; k++) KCL_TRY(accept(s, l, f, k));
  if (!s->direct) s->factored = !s->selection.direct; /* as a last resort it may be near enough */
  s->direct_took = f->info.seconds;
  if (!s->system.direct) explain_rescue(s, f);
done:
  if (f) keep_factor(s, f), release_rescue(f);
  return rc;
}
