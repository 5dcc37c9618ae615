/* The self-test of a driver, at the first use of kernels on an OpenCL device: START and two passes over LOOP of the engine's method, in its
 * format, on a small system, against the native executor. Kernels are composed from the program, so those of the small system are mostly
 * those of the engine, compiled already. The verdict is remembered in the context and in the cache folder:
 *
 *   platform | device | version | driver | krylocl version | type format method precond nrhs kernels | layout   ->   how x differs, or nothing
 *
 * Not tested: hierarchies of preconditioners (the method is, without one), preconditioners and products that are the caller's, several
 * ranks, contexts that record event times, loads past the cache of matrices beyond 54 MB.
 */
#include "core/base/cache.h"
#include "core/base/context.h"
#include "core/base/sum64.h"
#include "core/matrix/structure.h"
#include "solver/engine/engine.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 24, HEIGHT = 25, UNKNOWNS = WIDTH * HEIGHT, PASSES = 2 };
static const char folder[] = "selftest";

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

/* x after the passes, [nrhs, UNKNOWNS], as the device or the native executor has it. */
typedef struct trial_run {
  kcl_csr *A;
  kcl_engine *e;
  double *x;
} trial_run;

static int run_passes(const trial_run *r, int64_t reals) {
  kcl_executor *ex = &r->e->executor;
  const kcl_program *k = r->e->program;
  const kcl_type wide = kcl_wide_type(k->type);
  int rc = KCL_OK;
  for (int c = 0; c < k->nrhs; c++) {
    double *v = r->x + c * reals;
    kcl_timing_vector(v, reals, c);
    KCL_TRY(ex->put(ex, k->b, c, wide, v, 1.0));
    KCL_TRY(ex->put(ex, k->x, c, wide, v, 0.5)); /* so that START multiplies by A */
  }
  KCL_TRY(kcl_timing_state(ex));
  KCL_TRY(ex->run(ex, KCL_START, 1));
  KCL_TRY(ex->run(ex, KCL_LOOP, PASSES));
  KCL_TRY(ex->finish(ex));
  for (int c = 0; c < k->nrhs; c++) KCL_TRY(ex->get(ex, k->x, c, wide, r->x + c * reals, 1.0));
done:
  return rc;
}

/* The method, preconditioner and format of `like` for the small system, in this context. */
static int run_small(kcl_context *ctx, const kcl_system *of, const kcl_engine *like,
                     kcl_fusion fusion, trial_run *r) {
  const kcl_type type = like->program->type;
  const int64_t reals = UNKNOWNS * (kcl_type_complex(type) ? 2 : 1);
  const kcl_format *format;
  const kcl_precond_kind *precond;
  kcl_system s = {.ctx = ctx, .options = of->options, .resumes = of->resumes};
  int rc;
  s.options.near_null = NULL, s.options.precision = type;
  s.fusion = fusion;
  const bool plain = like->precond->hierarchy || of->given || of->object;
  KCL_TRY(kcl_precond_find(ctx, plain ? "none" : like->precond->name, &precond));
  KCL_TRY(kcl_format_find(ctx, kcl_engine_format(like), type, &format));
  KCL_TRY(make_small_matrix(ctx, type, like->method->symmetric, &r->A));
  KCL_TRY(kcl_csr_stats(ctx, r->A, &s.stats));
  s.A = r->A, s.hermitian = s.stats.hermitian, s.symmetric = s.stats.symmetric;
  KCL_TRY(kcl_engine_build(&s, like->method, precond, format, &r->e));
  KCL_TRY(
      kcl_alloc(ctx, r->e->program->nrhs * reals, sizeof *r->x, "the self-test", (void **)&r->x));
  KCL_TRY(run_passes(r, reals));
done:
  return rc;
}

static void free_trial_run(trial_run *r) {
  kcl_engine_free(&r->e), kcl_csr_free(&r->A);
  free(r->x);
}

/* ---------------------------------------------------------------- the verdict */

/* Largest difference relative to the largest element; infinite where the device alone has numbers that are not finite. */
static double compare_runs(const trial_run *device, const trial_run *native) {
  const kcl_program *k = native->e->program;
  const int64_t reals = k->nrhs * UNKNOWNS * (kcl_type_complex(k->type) ? 2 : 1);
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

/* *difference: beyond rounding, or 0. A failure: there is no verdict. */
static int find_run_difference(const kcl_system *s, const kcl_engine *e, kcl_fusion fusion,
                               double *difference) {
  kcl_context *native = NULL;
  trial_run here = {.e = NULL}, there = {.e = NULL};
  int rc;
  KCL_TRY(kcl_context_create("cpu", 0, &native));
  KCL_TRY(run_small(s->ctx, s, e, fusion, &here));
  KCL_TRY(run_small(native, s, e, fusion, &there));
  if (here.e->program->nrhs == there.e->program->nrhs) *difference = compare_runs(&here, &there);
  if (*difference <= largest_difference(e->program->type)) *difference = 0;
done:
  free_trial_run(&here), free_trial_run(&there);
  kcl_context_free(&native);
  return rc;
}

/* ---------------------------------------------------------------- memory of verdicts */

enum { MOST_KEY = 1200 };

static void make_key(const kcl_engine *e, kcl_fusion fusion, char key[MOST_KEY]) {
  const kcl_device *d = &e->ctx->device;
  snprintf(key, MOST_KEY, "selftest 1\n%s\n%s\n%s\n%s\n%s\n%c %s %s %s %d %d\n%d", d->platform_name,
           d->name, d->version, d->driver, kcl_version(), kcl_type_letter(e->program->type),
           kcl_engine_format(e), e->method->name, e->precond->name, e->program->nrhs, (int)fusion,
           (int)e->ctx->layout);
}

static kcl_tested *find_verdict(kcl_context *ctx, uint64_t key) {
  for (int i = 0; i < KCL_MOST_TESTED; i++)
    if (ctx->tested[i].key == key) return &ctx->tested[i];
  return NULL;
}

static void remember_verdict(kcl_context *ctx, uint64_t key, double difference) {
  ctx->tested[ctx->tested_count++ % KCL_MOST_TESTED] = (kcl_tested){key, difference};
}

static bool recall_verdict(kcl_context *ctx, const char *key, uint64_t hash, double *difference) {
  const kcl_tested *known = find_verdict(ctx, hash);
  size_t size = 0;
  if (known) {
    *difference = known->difference;
    return true;
  }
  double *kept = kcl_cache_get(folder, key, &size);
  const bool sound = kept && size == sizeof *kept && *kept >= 0;
  if (sound) remember_verdict(ctx, hash, *difference = *kept);
  free(kept);
  return sound;
}

/* ---------------------------------------------------------------- for engines */

/* The source of a persistent kernel, and of guarded ones, has the sizes of its system, so that of the small system would be compiled, too:
 * only where KRYLOCL_SELFTEST=1 asks for it. KRYLOCL_SELFTEST=0: no test. */
static bool is_testable(const kcl_system *s, kcl_fusion fusion) {
  const char *word = getenv("KRYLOCL_SELFTEST");
  if (word && !strcmp(word, "0")) return false;
  const bool sized = fusion == KCL_FUSED_ITERATIONS || s->options.guard;
  if (sized && !(word && !strcmp(word, "1"))) return false;
  return !s->ctx->profiled && !s->shell && !s->halo && !kcl_on_ranks(s->ctx) &&
         s->A->rows == s->A->cols;
}

static kcl_fusion fusion_of_engine(const kcl_engine *e) {
  const kcl_executor *ex = &e->executor;
  if (ex->replaces) return KCL_FUSED_ITERATIONS;
  for (int i = 0; i < e->program->stages[KCL_LOOP]; i++)
    if (!ex->launches(ex, KCL_LOOP, i)) return KCL_FUSED_STAGES;
  return KCL_SINGLE_STAGES;
}

/* How much x differs from the native executor's beyond rounding, relative to its largest element; 0: nothing, or there is no verdict. */
static double test_kernels(const kcl_system *s, const kcl_engine *e) {
  char key[MOST_KEY];
  double difference = 0;
  if (!s->ctx->opencl) return 0;
  const kcl_fusion fusion = fusion_of_engine(e);
  if (!is_testable(s, fusion)) return 0;
  make_key(e, fusion, key);
  const uint64_t hash = kcl_sum64(key, strlen(key), 0);
  if (recall_verdict(s->ctx, key, hash, &difference)) return difference;
  if (find_run_difference(s, e, fusion, &difference)) return 0;
  remember_verdict(s->ctx, hash, difference);
  kcl_cache_put(folder, key, &difference, sizeof difference);
  return difference;
}

static void put_kernels_aside(const kcl_engine *e, double difference) {
  static const char *const kernels[] = {"persistent kernel", "kernels of several stages",
                                        "kernels"};
  char text[200];
  char *all = e->ctx->put_aside;
  const size_t used = strlen(all);
  snprintf(text, sizeof text, "%s of %s in format %s (x differs by %.1e)",
           kernels[fusion_of_engine(e)], e->method->name, kcl_engine_format(e), difference);
  if (!strstr(all, text))
    snprintf(all + used, sizeof e->ctx->put_aside - used, "%s%s", used ? "; " : "", text);
}

/* Shorter kernels in place of those that fail the test. */
static int replace_kernels(const kcl_system *s, kcl_engine *e, double difference) {
  const kcl_fusion fusion = fusion_of_engine(e);
  put_kernels_aside(e, difference);
  if (fusion != KCL_SINGLE_STAGES) return kcl_engine_reopen(e, s, fusion + 1);
  s->ctx->wrong_kernels = true;
  return kcl_fail(
      s->ctx, KCL_DEVICE,
      "the driver of %s fails the self-test: %s; choose another device, as --device cpu",
      s->ctx->device.name, s->ctx->put_aside);
}

int kcl_engine_complete_tested(const kcl_system *s, kcl_engine **draft) {
  double difference;
  int rc = kcl_engine_complete(s, draft);
  s->ctx->wrong_kernels = false;
  while (!rc && (difference = test_kernels(s, *draft)) > 0)
    rc = replace_kernels(s, *draft, difference);
  if (rc) kcl_engine_free(draft);
  return rc;
}

int kcl_engine_build_tested(const kcl_system *s, const kcl_method *method,
                            const kcl_precond_kind *precond, const kcl_format *format,
                            kcl_engine **out) {
  s->ctx->wrong_kernels = false;
  KCL_CALL(kcl_engine_draft(s, method, precond, format, out));
  return kcl_engine_complete_tested(s, out);
}
