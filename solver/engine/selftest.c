/* The self-test of a driver, at the first use of kernels on an OpenCL device: START and two passes over LOOP of the engine's method, in its
 * format, on a small system, against the native executor. Kernels are composed from the program, so those of the small system are mostly
 * those of the engine, compiled already. The source of a persistent kernel, and of guarded ones, has the sizes of its system instead: they run
 * on that system, if it is small, so that nothing is compiled for the test. The verdict is remembered in the context and in the cache folder:
 *
 *   platform | device | version | driver | krylocl version | type format method precond nrhs kernels guard | layout  ->  how x differs, or nothing
 *
 * Not tested: hierarchies of preconditioners (the method is, without one), preconditioners and products that are the caller's, several
 * ranks, contexts that record event times, loads past the cache of matrices beyond 54 MB.
 */
#include "core/base/cache.h"
#include "core/base/sum64.h"
#include "solver/engine/selftest_runs.h"

/* ---------------------------------------------------------------- memory of verdicts */

static const char folder[] = "selftest";

enum { MOST_KEY = 1200 };

static void make_key(const kcl_engine *e, kcl_fusion fusion, char key[MOST_KEY]) {
  const kcl_device *d = &e->ctx->device;
  snprintf(key, MOST_KEY, "selftest 3\n%s\n%s\n%s\n%s\n%s\n%c %s %s %s %d %d %d\n%d",
           d->platform_name, d->name, d->version, d->driver, kcl_version(),
           kcl_type_letter(e->program->type), kcl_engine_format(e), e->method->name,
           e->precond->name, e->program->nrhs, (int)fusion, (int)e->program->guarded,
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

/* Does the source have the sizes of the system? */
static bool has_sizes(const kcl_system *s, kcl_fusion fusion) {
  return fusion == KCL_FUSED_ITERATIONS || s->options.guard;
}

/* So small that set-up and passes on the host take some hundredths of a second. */
static bool is_small_system(const kcl_system *s, const kcl_engine *e) {
  enum { MOST_ENTRIES = 1 << 20 };
  return kcl_system_matrix(s)->nnz <= MOST_ENTRIES && !e->precond->hierarchy && !s->given &&
         !s->object;
}

/* KRYLOCL_SELFTEST=0: no test; 1: also where the small system's kernels would have to be compiled. */
static bool is_testable(const kcl_system *s, const kcl_engine *e, kcl_fusion fusion) {
  const char *word = getenv("KRYLOCL_SELFTEST");
  if (word && !strcmp(word, "0")) return false;
  if (has_sizes(s, fusion) && !is_small_system(s, e) && !(word && !strcmp(word, "1"))) return false;
  return !s->ctx->profiled && !s->shell && !s->halo && !kcl_on_ranks(s->ctx) &&
         s->A->rows == s->A->cols;
}

static int find_run_difference(const kcl_system *s, kcl_engine *e, kcl_fusion fusion,
                               double *difference) {
  if (has_sizes(s, fusion) && is_small_system(s, e)) return kcl_own_difference(s, e, difference);
  return kcl_small_difference(s, e, fusion, difference);
}

static kcl_fusion fusion_of_engine(const kcl_engine *e) {
  const kcl_executor *ex = &e->executor;
  if (e->program->fusion == KCL_INTERPRETED_STAGES) return KCL_INTERPRETED_STAGES;
  if (ex->replaces) return KCL_FUSED_ITERATIONS;
  for (int i = 0; i < e->program->stages[KCL_LOOP]; i++)
    if (!ex->launches(ex, KCL_LOOP, i)) return KCL_FUSED_STAGES;
  return KCL_SINGLE_STAGES;
}

/* How much x differs from the native executor's beyond rounding, relative to its largest element; 0: nothing, or there is no verdict. */
static double test_kernels(const kcl_system *s, kcl_engine *e) {
  char key[MOST_KEY];
  double difference = 0;
  if (!s->ctx->opencl) return 0;
  const kcl_fusion fusion = fusion_of_engine(e);
  if (!is_testable(s, e, fusion)) return 0;
  make_key(e, fusion, key);
  const uint64_t hash = kcl_sum64(key, strlen(key), 0);
  if (recall_verdict(s->ctx, key, hash, &difference)) return difference;
  if (find_run_difference(s, e, fusion, &difference)) return 0;
  remember_verdict(s->ctx, hash, difference);
  kcl_cache_put(folder, key, &difference, sizeof difference);
  return difference;
}

static void put_kernels_aside(const kcl_engine *e, double difference) {
  static const char *const kernels[] = {"persistent kernel", "kernels of several stages", "kernels",
                                        "interpreter"};
  char text[200];
  char *all = e->ctx->put_aside;
  const size_t used = strlen(all);
  snprintf(text, sizeof text, "%s of %s in format %s (x differs by %.1e)",
           kernels[fusion_of_engine(e)], e->method->name, kcl_engine_format(e), difference);
  if (!strstr(all, text))
    snprintf(all + used, sizeof e->ctx->put_aside - used, "%s%s", used ? "; " : "", text);
}

/* The kernels to try in place of these. */
static kcl_fusion other_kernels(kcl_fusion fusion) {
  return fusion == KCL_INTERPRETED_STAGES ? KCL_SINGLE_STAGES : fusion + 1;
}

/* Other kernels in place of those that fail the test. */
static int replace_kernels(const kcl_system *s, kcl_engine *e, double difference) {
  const kcl_fusion fusion = fusion_of_engine(e);
  put_kernels_aside(e, difference);
  if (fusion != KCL_SINGLE_STAGES) return kcl_engine_reopen(e, s, other_kernels(fusion));
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
