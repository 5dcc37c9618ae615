/* Predicted times (solver/engine/predict.c): outlines agree with what build makes; every method and format has a time;
 * what `auto` takes for systems whose best method and format on an NVIDIA H200 are known from measurements. */
#include "core/opencl/executor.h"
#include "solver/solver.h"
#include "tests/conform.h"

static const char *const kinds[] = {"poisson2d:20", "heatsink:40", "elasticity:3x3x3",
                                    "powerlaw:400", "spd:300x4",   "trefethen:200",
                                    "magnetic:12",  "wathen:6x6"};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---------------------------------------------------------------- outlines */

static void compare(kcl_context *ctx, const kcl_format *f, const kcl_csr *A, const kcl_stats *s,
                    const char *kind) {
  kcl_stored outline, *built = NULL;
  kcl_stored_outline(ctx, f, s, A->type, &outline);
  if (!CHECKF(!kcl_stored_build(ctx, f, A, &built), "%s: %s", f->name, kcl_error())) return;
  CHECKF(outline.kernel.lanes == built->kernel.lanes, "%s of %s: %d lanes, %d built", f->name, kind,
         outline.kernel.lanes, built->kernel.lanes);
  CHECKF(outline.kernel.rows_match_elements == built->kernel.rows_match_elements, "%s of %s",
         f->name, kind);
  CHECKF(outline.cost.chain >= outline.cost.mean && outline.cost.mean > 0, "%s of %s: %g, %g",
         f->name, kind, outline.cost.chain, outline.cost.mean);
  double bytes = kcl_stored_bytes(built), told = kcl_stored_bytes(&outline);
  CHECKF(f->size_is_bound ? told >= bytes : fabs(told - bytes) <= 8 * (double)A->rows + 1000,
         "%s of %s: %g bytes, %g built", f->name, kind, told, bytes);
  kcl_stored_free(&built);
}

/* As build makes them for a GPU. */
static void test_outlines(void) {
  kcl_context *ctx = NULL;
  kcl_cost cost;
  if (!CHECK(!kcl_context_create(NULL, 0, &ctx) && !kcl_select(ctx, "cpu", 0))) return;
  for (int i = 0; i < KINDS; i++) {
    kcl_csr *A = NULL;
    kcl_stats s;
    if (!CHECK(!kcl_generate(ctx, kinds[i], &A, NULL) && !kcl_csr_stats(ctx, A, &s))) continue;
    ctx->layout = KCL_LAYOUT_GPU;
    for (int f = 0; f < kcl_format_count; f++) {
      const kcl_format *format = kcl_format_at(f, A->type);
      CHECK(!kcl_format_cost(ctx, &s, A->type, format->name, &cost));
      if (!cost.refusal) compare(ctx, format, A, &s, kinds[i]);
    }
    ctx->layout = KCL_LAYOUT_NATIVE;
    kcl_csr_free(&A);
  }
  kcl_context_free(&ctx);
}

/* ---------------------------------------------------------------- predictions */

static void system_of(kcl_context *ctx, const kcl_csr *A, kcl_system *s) {
  *s = (kcl_system){.ctx = ctx, .A = A, .options = kcl_defaults};
  s->options.precision = A->type;
  s->undecided.method = s->undecided.precond = s->undecided.format = s->undecided.model = true;
  CHECK(!kcl_csr_stats(ctx, A, &s->stats));
  CHECK(!kcl_alloc(ctx, 1, sizeof *s->preconds, "preconditioners", (void **)&s->preconds));
  s->hermitian = s->stats.hermitian, s->symmetric = s->stats.symmetric;
}

static double predicted(const kcl_system *s, const kcl_method *m, const kcl_precond_kind *c,
                        const char *format) {
  double seconds = 0;
  CHECK(!kcl_engine_predicted(s, m, c, format, &seconds));
  return seconds;
}

static bool suits(const kcl_system *s, const kcl_method *m, const kcl_precond_kind *c) {
  const kcl_precond_request q = kcl_system_request(s);
  kcl_preconditioner *M = NULL;
  const bool has = !kcl_precond_check(&q, c, m) && !kcl_system_preconditioner(s, c, m, &M);
  kcl_preconditioner_free(&M);
  return has;
}

/* As many sweeps as a test at set-up asks for. */
static bool sweeps(const kcl_precond_kind *c) {
  return !strcmp(c->name, "ilu") || !strcmp(c->name, "ilut") || !strcmp(c->name, "ic");
}

/* Times are finite and in order, whatever the method; more work takes longer, or on a GPU, where launches may take longer than
 * either, not much less: a stage in a series and one with a launch of its own are predicted apart. */
static void test_every_method(kcl_context *ctx, const char *where) {
  const double least = ctx->layout == KCL_LAYOUT_GPU ? 0.9 : 1;
  kcl_csr *A = NULL, *B = NULL;
  kcl_system s, t;
  if (!CHECK(!kcl_generate(ctx, "poisson2d:30", &A, NULL) &&
             !kcl_generate(ctx, "poisson2d:100", &B, NULL)))
    return;
  system_of(ctx, A, &s), system_of(ctx, B, &t);
  for (int m = 0; m < kcl_method_count; m++)
    for (int c = 0; c < kcl_precond_count; c++) {
      const kcl_method *method = kcl_method_at(m);
      const kcl_precond_kind *precond = kcl_precond_at(c);
      kcl_rank list[KCL_MOST_FORMATS];
      int count, last = 0;
      if (!suits(&s, method, precond) || !suits(&t, method, precond)) continue;
      if (!CHECK(!kcl_engine_predict(&s, method, precond, list, &count))) continue;
      for (int i = 1; i < count; i++)
        if (list[i].seconds >= list[i - 1].seconds && list[i].seconds < 1) last = i;
      CHECKF(list[0].seconds > 0 && last == count - 1, "%s on %s", method->name, where);
      const double few = predicted(&s, method, precond, "csr-scalar"),
                   more = predicted(&t, method, precond, "csr-scalar");
      CHECKF(more > least * few || (least < 1 && sweeps(precond)),
             "%s + %s on %s: %g s for 900 rows, %g s for 10000", method->name, precond->name, where,
             few, more);
    }
  CHECK(isinf(predicted(&s, kcl_method_at(0), kcl_precond_at(0), "no-such-format")));
  kcl_system_forget_kept(&s), kcl_system_forget_kept(&t);
  kcl_csr_free(&A), kcl_csr_free(&B);
}

#ifndef KCL_NO_OPENCL
/* An NVIDIA H200, as far as predictions look. */
static void pretend(kcl_context *ctx) {
  ctx->opencl->is_nvidia = true, ctx->opencl->is_cpu = ctx->opencl->small_groups = false;
  ctx->opencl->units = ctx->opencl->concurrent = 132;
  ctx->opencl->local_bytes = 49152;
  ctx->device.kind = "gpu", ctx->layout = KCL_LAYOUT_GPU, ctx->stream.rate = 3.9e12;
  ctx->device.memory = ctx->device.max_alloc = INT64_C(150) << 30;
}

/* Is it one of these words? */
static bool among(const char *words, const char *name) {
  const size_t n = strlen(name);
  for (const char *at = strstr(words, name); at; at = strstr(at + 1, name))
    if ((at == words || at[-1] == ' ') && (!at[n] || at[n] == ' ')) return true;
  return false;
}

/* Measured there: the least us per iteration of all methods of the family of cg and all formats, and the pairs within
 * 1.25 of it among which `auto` must choose. With sanitizers the smaller systems: the code is the same. */
static void test_gpu(void) {
  enum { SMALLER = 6 };
  static const struct {
    const char *kind, *methods, *formats;
  } known[] = {
      {"poisson2d:100", "cg-pipelined",
       "cds sell ell sell16 csr-scalar pattern ellr csr-unrolled csr-vector sell-dict"},
      {"poisson3d:30", "cg-pipelined", "cds ell pattern sell-dict sell sell16 ellr pair"},
      {"hpcg:24", "cg-pipelined", "sell16 sell-dict pattern cds"},
      {"elasticity:12x12x12", "cg-pipelined", "csr-lanes csr-vector"},
      {"jump3d:40", "cg-pipelined", "sell sell16 ell ellr csr-scalar csr-unrolled sell-dict"},
      {"powerlaw:20000", "cg-pipelined cg", "csr-vector csr-split"},
      {"poisson3d:64", "cg-single cg-pipelined", "cds sell16 pattern sell-dict"},
      {"hpcg:64", "cg-single cg", "pattern"},
      {"powerlaw:200000", "cg-single cg-pipelined cg", "csr-split"},
      {"poisson2d:1000", "cg cg-single", "pattern"},
      {"poisson3d:100", "cg cg-single", "pattern"},
  };
  kcl_context *ctx = NULL;
  if (kcl_context_create(NULL, 0, &ctx) || kcl_select(ctx, "opencl", 0)) {
    skip("choices of an NVIDIA H200: %s", kcl_error());
    return kcl_context_free(&ctx);
  }
  pretend(ctx);
  test_every_method(ctx, "an NVIDIA H200");
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    kcl_csr *A = NULL;
    kcl_system s;
    kcl_selection c = {.system = &s};
    const kcl_format *f = NULL;
    if (i >= SMALLER && sanitized()) break;
    if (!CHECK(!kcl_generate(ctx, known[i].kind, &A, NULL))) continue;
    system_of(ctx, A, &s);
    if (CHECKF(!kcl_choose_plan(&c) && !kcl_choose_way(&c, NULL) &&
                   !kcl_choose_format(&c, NULL, &f),
               "%s", kcl_error()))
      CHECKF(among(known[i].methods, c.way.method->name) && among(known[i].formats, f->name),
             "%s: %s in %s, %s", known[i].kind, c.way.method->name, f->name, c.why_format);
    kcl_system_forget_kept(&s), kcl_csr_free(&A);
  }
  kcl_context_free(&ctx);
}
#endif

/* Formats that exist for studies stand last, and "auto" never meets one. */
static void test_studies(const place *p) {
  kcl_rank list[KCL_MOST_FORMATS];
  kcl_csr *A = NULL;
  kcl_stats s;
  int count = 0;
  CHECK(kcl_format_auto_count < kcl_format_count);
  for (int i = 0; i < kcl_list_size(KCL_FORMATS); i++)
    CHECK(kcl_list(KCL_FORMATS, i).study == (i >= kcl_format_auto_count));
  if (!CHECK(!kcl_generate(p->ctx, "poisson2d:20", &A, NULL))) return;
  CHECK(!kcl_csr_stats(p->ctx, A, &s) && !kcl_format_rank(p->ctx, &s, KCL_D, list, &count));
  CHECKF(count > 5, "%s: %d formats", p->name, count);
  for (int i = 0; i < count; i++)
    for (int f = kcl_format_auto_count; f < kcl_format_count; f++)
      CHECKF(list[i].format != kcl_format_at(f, KCL_D), "%s: auto ranks %s", p->name,
             list[i].format->name);
  kcl_csr_free(&A);
}

int main(void) {
  open_places();
  for (int i = 0; i < place_count; i++) test_studies(&places[i]);
  test_outlines();
  for (int i = 0; i < place_count; i++) test_every_method(places[i].ctx, places[i].name);
#ifndef KCL_NO_OPENCL
  test_gpu();
#endif
  close_places();
  return check_report();
}
