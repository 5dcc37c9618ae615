/* Runs of the self-test: x after START and two passes over LOOP on the device and natively. See selftest_runs.h. */
#include "solver/engine/selftest_runs.h"
#include "core/matrix/structure.h"

enum { WIDTH = 24, HEIGHT = 25, UNKNOWNS = WIDTH * HEIGHT, PASSES = 2 };

/* ---------------------------------------------------------------- the small system */

/* Entry (i, j) of a five-point stencil with few values: Hermitian, or complex symmetric; strictly diagonally dominant, so that rounding is
 * not amplified. */
static void put_stencil_value(kcl_csr *A, int64_t k, int i, int j, bool symmetric) {
  const int lower = i < j ? i : j;
  const double re = i == j ? 6 + (i % 5) / 8.0 : -1 - (lower % 3) / 16.0,
               turn = i == j               ? 0
                      : symmetric || i < j ? 0.25
                                           : -0.25;
  float *s = A->val;
  double *d = A->val;
  switch (A->type) {
  case KCL_S: s[k] = (float)re; break;
  case KCL_D: d[k] = re; break;
  case KCL_C: s[2 * k] = (float)re, s[2 * k + 1] = (float)turn; break;
  case KCL_Z: d[2 * k] = re, d[2 * k + 1] = turn; break;
  }
}

static int make_small_matrix(kcl_context *ctx, kcl_type type, bool symmetric, kcl_csr **out) {
  const int64_t entries = 5 * UNKNOWNS - 2 * WIDTH - 2 * HEIGHT;
  const int rc = kcl_csr_create(ctx, UNKNOWNS, UNKNOWNS, entries, type, out);
  int64_t k = 0;
  for (int i = 0; i < UNKNOWNS && !rc; i++) {
    const bool there[] = {i >= WIDTH, i % WIDTH > 0, true, i % WIDTH < WIDTH - 1,
                          i < UNKNOWNS - WIDTH};
    const int column[] = {i - WIDTH, i - 1, i, i + 1, i + WIDTH};
    for (int n = 0; n < 5; n++) {
      if (!there[n]) continue;
      (*out)->col[k] = column[n];
      put_stencil_value(*out, k++, i, column[n], symmetric);
    }
    (*out)->row_ptr[i + 1] = k;
  }
  return rc;
}

/* x after the passes, [nrhs, reals], as the device or the native executor has it. */
typedef struct trial_run {
  kcl_csr *A; /* owned; NULL: the system's */
  kcl_engine *e;
  bool lent; /* e is the one that is tested */
  double *x;
} trial_run;

static int64_t count_reals(const kcl_program *k) {
  return k->vector[k->x].n * (kcl_type_complex(k->type) ? 2 : 1);
}

/* tilt: relative change of b, to see how much the method amplifies. */
static int run_passes(trial_run *r, double tilt) {
  kcl_executor *ex = &r->e->executor;
  const kcl_program *k = r->e->program;
  const kcl_type wide = kcl_wide_type(k->type);
  const int64_t reals = count_reals(k);
  if (!r->x)
    KCL_CALL(kcl_alloc(r->e->ctx, k->nrhs * reals, sizeof *r->x, "the self-test", (void **)&r->x));
  for (int c = 0; c < k->nrhs; c++) {
    double *v = r->x + c * reals;
    kcl_timing_vector(v, reals, c);
    KCL_CALL(ex->put(ex, k->x, c, wide, v, 0.5)); /* so that START multiplies by A */
    for (int64_t i = 0; i < reals; i++) v[i] *= i % 2 ? 1 + tilt : 1 - tilt;
    KCL_CALL(ex->put(ex, k->b, c, wide, v, 1.0));
  }
  KCL_CALL(kcl_timing_state(ex, KCL_MAX_NRHS));
  KCL_CALL(ex->run(ex, KCL_START, 1));
  KCL_CALL(ex->run(ex, KCL_LOOP, PASSES));
  KCL_CALL(ex->finish(ex));
  for (int c = 0; c < k->nrhs; c++) KCL_CALL(ex->get(ex, k->x, c, wide, r->x + c * reals, 1.0));
  return KCL_OK;
}

/* The method, preconditioner and format of `like` for the small system, in this context. */
static int run_small(kcl_context *ctx, const kcl_system *of, const kcl_engine *like,
                     kcl_fusion fusion, trial_run *r) {
  const kcl_type type = like->program->type;
  const kcl_format *format;
  const kcl_precond_kind *precond;
  kcl_system s = {.ctx = ctx, .options = of->options, .resumes = of->resumes};
  s.options.near_null = NULL, s.options.precision = type;
  s.fusion = fusion;
  const bool plain = like->precond->hierarchy || of->given || of->object;
  KCL_CALL(kcl_precond_find(ctx, plain ? "none" : like->precond->name, &precond));
  KCL_CALL(kcl_format_find(ctx, kcl_engine_format(like), type, &format));
  KCL_CALL(make_small_matrix(ctx, type, like->method->symmetric, &r->A));
  KCL_CALL(kcl_csr_stats(ctx, r->A, &s.stats));
  s.A = r->A, s.hermitian = s.stats.hermitian, s.symmetric = s.stats.symmetric;
  KCL_CALL(kcl_engine_build(&s, like->method, precond, format, &r->e));
  return run_passes(r, 0);
}

/* Runs the passes of `like` natively on the system itself. */
static int run_natively(kcl_context *native, const kcl_system *of, const kcl_engine *like,
                        double tilt, trial_run *r) {
  const kcl_format *format;
  const kcl_precond_kind *precond;
  kcl_system s = {.ctx = native,
                  .A = kcl_system_matrix(of),
                  .options = of->options,
                  .resumes = of->resumes,
                  .stats = of->stats,
                  .hermitian = of->hermitian,
                  .symmetric = of->symmetric};
  s.options.precision = like->program->type;
  KCL_CALL(kcl_precond_find(native, like->precond->name, &precond));
  KCL_CALL(kcl_format_find(native, "csr-scalar", like->program->type, &format));
  if (!r->e) KCL_CALL(kcl_engine_build(&s, like->method, precond, format, &r->e));
  return run_passes(r, tilt);
}

/* A native context for what `device` is compared with. */
static int create_reference(const kcl_context *device, kcl_context **out) {
  KCL_CALL(kcl_context_create("cpu", 0, out));
  (*out)->like_gpu = device->layout == KCL_LAYOUT_GPU;
  return KCL_OK;
}

static void free_trial_run(trial_run *r) {
  if (!r->lent) kcl_engine_free(&r->e);
  kcl_csr_free(&r->A);
  free(r->x);
}

/* ---------------------------------------------------------------- the verdict */

/* Largest difference relative to the largest element; infinite where the device alone has numbers that are not finite. */
static double compare_runs(const trial_run *device, const trial_run *native) {
  const kcl_program *k = native->e->program;
  const int64_t reals = k->nrhs * count_reals(k);
  double off = 0, size = 0;
  for (int64_t i = 0; i < reals; i++) {
    if (!isfinite(native->x[i])) return 0; /* the method breaks down on this system */
    const double d = fabs(device->x[i] - native->x[i]);
    off = isfinite(d) ? fmax(off, d) : INFINITY, size = fmax(size, fabs(native->x[i]));
  }
  return size > 0 ? off / size : off;
}

/* Rounding errors are amplified by the condition of the small system, below 10, and of the method's scalars: 2^20 units are far beyond. */
static double largest_difference(kcl_type t) {
  return t == KCL_S || t == KCL_C ? 0x1p-10 : 0x1p-32;
}

int kcl_small_difference(const kcl_system *s, const kcl_engine *e, kcl_fusion fusion,
                         double *difference) {
  KCL_OWNED_BY(kcl_context_free) kcl_context *native = NULL;
  KCL_OWNED_BY(free_trial_run) trial_run here = {.e = NULL}, there = {.e = NULL};
  KCL_CALL(create_reference(s->ctx, &native));
  KCL_CALL(run_small(s->ctx, s, e, fusion, &here));
  KCL_CALL(run_small(native, s, e, fusion, &there));
  if (here.e->program->nrhs == there.e->program->nrhs) *difference = compare_runs(&here, &there);
  if (*difference <= largest_difference(e->program->type)) *difference = 0;
  return KCL_OK;
}

/* It is not known that the system amplifies rounding little, so that b changes, too. */
int kcl_own_difference(const kcl_system *s, kcl_engine *e, double *difference) {
  const double bound = largest_difference(e->program->type), tilt = bound * 0x1p-12;
  KCL_OWNED_BY(kcl_context_free) kcl_context *native = NULL;
  KCL_OWNED_BY(free_trial_run)
  trial_run here = {.e = e, .lent = true}, there = {.e = NULL}, tilted = {.lent = true};
  KCL_CALL(create_reference(s->ctx, &native));
  KCL_CALL(run_passes(&here, 0));
  KCL_CALL(run_natively(native, s, e, 0, &there));
  tilted.e = there.e;
  KCL_CALL(run_natively(native, s, e, tilt, &tilted));
  if (compare_runs(&tilted, &there) > bound / 4)
    return kcl_fail(s->ctx, KCL_REFUSED, "the system amplifies rounding: no verdict");
  if (here.e->program->nrhs == there.e->program->nrhs) *difference = compare_runs(&here, &there);
  if (*difference <= bound) *difference = 0;
  return KCL_OK;
}
