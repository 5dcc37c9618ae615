/* The engine of a first solve. Where kernels of the engine that is predicted to iterate fastest are not compiled yet, others are drafted
 * beside it: the interpreter, which needs no kernels of its own for a method or a system; the forms of cg, a few formats, one launch per
 * stage in place of a persistent kernel. The one is built that takes least in all:
 *
 *   seconds to compile what is neither in this context nor in the cache folder   (core/opencl/device/compile_cost.c)
 *   + iterations that are expected * seconds of one                              (solver/engine/predict.c)
 *
 * So with an empty cache a short solve is interpreted, and with a full one nothing is drafted but the fastest. A method or format that was
 * named stays. What such an engine takes is not remembered as the best.
 *
 * The fastest waits. It is compiled beside the iterations once engines in its place have lost as many seconds as that takes, in this and
 * earlier solves and processes (core/device/later.c). It is in the cache for the next solve, this solver begins its next solve with
 * it, and a solve under way goes on with it where that pays (solver/auto/adapt.c), if its method is the one that iterates.
 */
#include "core/base/context.h"
#include "core/device/device.h"
#include "solver/auto/auto.h"
#include <string.h>

enum { USUAL = 1000 };             /* iterations, where nothing is known of them */
static const double LITTLE = 0.05; /* seconds of compilation for which nothing is drafted */
static const double LESS = 0.7;    /* times the seconds of the first: predictions of both err */
static const double EFFORT =
    0.1; /* of the seconds of the first, for drafts; of compilation, for a search */

static const double COMMON =
    0.5; /* of the interpreter's compilation: solves of other systems and methods need none */

/* Seconds to open another engine, to draft one, and for both per entry of A (two cores of 2026); times as long that it must save. */
static const double OPENING = 0.02, DRAFT = 3e-3, ENTRY = 20e-9, WORTH = 2;

typedef struct drafted {
  kcl_engine *engine; /* a draft; owned */
  double compile, iterations, each;
  double share; /* of the compilation that counts for this solve */
} drafted;

static double seconds_in_all(const drafted *d) {
  return d->share * d->compile + d->iterations * d->each;
}

/* Is the engine ours to choose, and is it known what is compiled? Not where ranks must choose alike, nor where memory has decided. */
static bool may_hurry(const kcl_selection *c) {
  const kcl_system *s = c->system;
  return s->ctx->opencl && kcl_auto_remembers(c) && !s->undecided.measure && !s->options.mixed &&
         !s->resumes && !s->lender && !s->halo && !kcl_on_ranks(s->ctx) && !kcl_auto_best(c);
}

/* The graph is searched where that takes little beside compilation. */
static double iterations_expected(kcl_selection *c) {
  const kcl_csr *A = kcl_system_matrix(c->system);
  const double limit = (double)c->system->options.max_iter;
  if (kcl_elliptic_holds(c) && kcl_elliptic_search_seconds(A) < EFFORT * c->compilation)
    kcl_elliptic_search(A, &c->diffusion);
  const double known = kcl_remaining_first(c);
  const bool sure = c->diffusion.searched || c->remembered.iterations;
  const double expected = known > 0 && sure ? known : fmax(known, USUAL);
  return limit > 0 ? fmin(expected, limit) : expected;
}

/* Keeps the draft if it takes less than the best, and much less than the first, which is kept in any case. */
static void keep_faster(const drafted *first, drafted *best, drafted *d) {
  const bool none = best->engine == first->engine;
  if (seconds_in_all(d) < (none ? LESS : 1) * seconds_in_all(best)) {
    if (!none) kcl_engine_free(&best->engine);
    *best = *d, d->engine = NULL;
  }
  kcl_engine_free(&d->engine);
}

/* Drafts for all, and what they keep in place of the first. */
typedef struct drafting {
  const kcl_selection *c;
  const drafted *first;
  drafted *best;
} drafting;

/* Formats of a method that are tried: as many as take a share of the seconds of the best so far; by counting, so that the clock does
 * not choose. */
static int formats_worth(const drafting *all) {
  const double one = DRAFT + ENTRY * (double)all->c->system->stats.nnz;
  return (int)fmin(EFFORT * seconds_in_all(all->best) / one / (1 + KCL_CG_FORMS), KCL_MOST_FORMATS);
}

/* One that cannot be drafted is left out. */
static void draft_format(const drafting *all, const kcl_system *s, const kcl_method *m,
                         const kcl_rank *r) {
  const kcl_selection *c = all->c;
  const double share = s->fusion == KCL_INTERPRETED_STAGES ? COMMON : 1;
  drafted d = {NULL, 0, all->best->iterations, r->seconds, share};
  if (seconds_in_all(&d) >= seconds_in_all(all->best)) return;
  if (kcl_engine_draft(s, m, c->way.precond, r->format, &d.engine)) return;
  d.compile = kcl_engine_compilation(d.engine);
  keep_faster(all->first, all->best, &d);
}

static double seconds_of_format(const kcl_rank *list, int count, const kcl_format *f) {
  for (int i = 0; i < count; i++)
    if (list[i].format == f) return list[i].seconds;
  return INFINITY;
}

/* A method in the best formats: with a launch per stage, and with the persistent kernel where that makes a difference. */
static void draft_method(const drafting *all, const kcl_method *m) {
  const kcl_system *s = all->c->system;
  kcl_system stages = *s;
  kcl_rank list[KCL_MOST_FORMATS], single[KCL_MOST_FORMATS];
  const int formats = formats_worth(all);
  int count, singles, taken = 0;
  stages.fusion = KCL_FUSED_STAGES;
  if (!formats || kcl_engine_predict(s, m, all->c->way.precond, list, &count) ||
      kcl_engine_predict(&stages, m, all->c->way.precond, single, &singles))
    return;
  for (int i = 0; i < count && taken < formats; i++) {
    const kcl_rank staged = {.format = list[i].format,
                             .seconds = seconds_of_format(single, singles, list[i].format)};
    if (!s->undecided.format && strcmp(list[i].format->name, s->options.format)) continue;
    taken++;
    draft_format(all, &stages, m, &staged);
    if (staged.seconds != list[i].seconds) draft_format(all, s, m, &list[i]);
  }
}

/* By the interpreter, which serves all methods and systems once it is compiled. Of systems with millions of rows some took seconds longer
 * with it than without (docs/lab/2026-11-29-interpreter.md). */
static void draft_interpreted(const drafting *all, const kcl_method *m) {
  enum { MOST_ROWS = 250000 };
  static const char name[] = "csr-scalar";
  kcl_system s = *all->c->system;
  kcl_rank r;
  s.fusion = KCL_INTERPRETED_STAGES;
  if (s.stats.rows > MOST_ROWS || (!s.undecided.format && strcmp(name, s.options.format))) return;
  if (!kcl_format_named(s.ctx, &s.stats, s.options.precision, name, &r.format) &&
      !kcl_engine_predicted(&s, m, all->c->way.precond, name, &r.seconds))
    draft_format(all, &s, m, &r);
}

/* The method of the way, and those that may stand for it. */
static void draft_methods(const drafting *all) {
  const kcl_selection *c = all->c;
  const kcl_system *s = c->system;
  const kcl_method *m = c->way.method;
  const bool forms = s->undecided.method && kcl_auto_cg_forms_fit(&s->options) &&
                     (!strcmp(m->name, "cg") || kcl_auto_is_cg_form(m->name));
  if (!forms || !kcl_method_find(s->ctx, "cg", &m)) draft_interpreted(all, m), draft_method(all, m);
  for (int i = 0; i < KCL_CG_FORMS && forms; i++)
    if (!kcl_choice_has_failed(&c->remembered, kcl_cg_forms[i]) &&
        !kcl_method_find(s->ctx, kcl_cg_forms[i], &m))
      draft_method(all, m);
}

static const char *kernels_text(const kcl_engine *e) {
  const kcl_fusion f = e->program->fusion;
  return f == KCL_INTERPRETED_STAGES ? ", interpreted"
         : f == KCL_FUSED_STAGES     ? ", a launch per stage"
                                     : "";
}

static void explain_hurry(kcl_selection *c, const drafted *fastest, const drafted *best) {
  char *why = c->why_format;
  const size_t room = sizeof c->why_format;
  const char *name = c->wants->name, *format = c->wanted->name;
  why[0] = 0;
  kcl_append(why, room, "%s in %s%s: %s to compile and %s per iteration predicted; ",
             best->engine->method->name, kcl_engine_format(best->engine),
             kernels_text(best->engine), kcl_seconds_text(best->compile).s,
             kcl_seconds_text(best->each).s);
  kcl_append(why, room, "%s in %s: %s and %s, for %.0f iterations; %s lost without it so far", name,
             format, kcl_seconds_text(fastest->compile).s, kcl_seconds_text(fastest->each).s,
             best->iterations, kcl_seconds_text(kcl_later_lost(c->later)).s);
}

/* The first becomes the one to wait for, and the best the one to iterate with. */
static void hurry(kcl_selection *c, drafted *first, const drafted *best) {
  c->wants = first->engine->method, c->wanted = first->engine->operators[0]->format;
  c->later = kcl_later_create(first->engine->program, &first->engine->executor);
  explain_hurry(c, first, best);
  kcl_engine_free(&first->engine);
  c->hurried = true, c->way.method = best->engine->method;
  c->compilation = best->compile, c->predicted = best->each;
  c->gain = 1 - first->each / best->each;
}

/* New values go on with the engine of the earlier ones, and with what is waiting. */
static int draft_as_before(kcl_selection *c, const kcl_selection *b, const kcl_format *format,
                           kcl_engine **out) {
  kcl_system stages = *c->system;
  stages.fusion = b->engine->program->fusion;
  KCL_CALL(kcl_engine_draft(&stages, c->way.method, c->way.precond, format, out));
  c->hurried = true, c->compilation = kcl_engine_compilation(*out);
  c->wants = b->wants, c->wanted = b->wanted, c->later = kcl_later_share(b->later);
  c->predicted = b->predicted, c->gain = b->gain;
  return KCL_OK;
}

static bool goes_on(const kcl_selection *c, const kcl_selection *b, const kcl_format *format) {
  return b && b->hurried && b->engine->method == c->way.method &&
         b->engine->precond == c->way.precond &&
         !strcmp(kcl_engine_format(b->engine), format->name);
}

int kcl_choose_draft(kcl_selection *c, const kcl_selection *before, const kcl_format *format,
                     kcl_engine **out) {
  const kcl_method *m = c->way.method;
  drafted first = {.compile = 0}, best;
  c->hurried = false;
  if (goes_on(c, before, format)) return draft_as_before(c, before, format, out);
  KCL_CALL(kcl_engine_draft(c->system, m, c->way.precond, format, out));
  c->compilation = kcl_engine_compilation(*out);
  if (c->compilation <= LITTLE || !may_hurry(c)) return KCL_OK;
  first = (drafted){*out, c->compilation, iterations_expected(c), INFINITY, 1};
  const int rc = kcl_engine_predicted(c->system, m, c->way.precond, format->name, &first.each);
  if (rc) return kcl_engine_free(out), rc;
  best = first;
  draft_methods(&(drafting){c, &first, &best});
  *out = best.engine;
  if (best.engine != first.engine) hurry(c, &first, &best);
  return KCL_OK;
}

/* ---------------------------------------------------------------- the fastest, later */

/* Seconds that this solve loses, as predicted before it begins. */
static double predict_loss(kcl_selection *c) {
  return iterations_expected(c) * c->predicted * c->gain;
}

void kcl_draft_begin(kcl_selection *c) {
  if (c->hurried) kcl_later_begin(c->later, predict_loss(c));
}

/* From the engine that was there first to the fastest. One that cannot be built is no error. */
static void use_fastest(kcl_selection *c) {
  const kcl_method *m = c->wants;
  kcl_engine *e = NULL;
  c->wants = NULL; /* once */
  if (!kcl_engine_build_tested(c->system, m, c->way.precond, c->wanted, &e) &&
      e->program->nrhs == c->engine->program->nrhs) {
    c->predicted *= 1 - c->gain;
    kcl_selection_use(c, &e);
    kcl_append(c->why_format, sizeof c->why_format, "; compiled since");
  }
  kcl_engine_free(&e);
}

void kcl_draft_adopt(kcl_selection *c) {
  kcl_draft_begin(c);
  if (c->hurried && c->wants && kcl_later_ended(c->later)) use_fastest(c);
}

void kcl_draft_compile(kcl_selection *c) {
  if (c->hurried && c->wants) use_fastest(c);
}

void kcl_draft_forget(kcl_selection *c) {
  c->hurried = false;
  kcl_later_free(&c->later);
}

/* Seconds that this solve has lost so far. */
static double measure_loss(const kcl_selection *c, const kcl_loop *l) {
  return c->hurried ? (kcl_now() - l->start) * c->gain : 0;
}

void kcl_draft_watch(const kcl_selection *c, const kcl_loop *l) {
  if (c->hurried) kcl_later_begin(c->later, measure_loss(c, l));
}

void kcl_draft_account(const kcl_selection *c, const kcl_loop *l) {
  kcl_later_lose(c->later, measure_loss(c, l));
}

/* Seconds to convert and upload A. */
static double seconds_to_open(const kcl_selection *c) {
  return OPENING + ENTRY * (double)c->system->stats.nnz + c->engine->executor.seconds_upload;
}

bool kcl_draft_pays(const kcl_selection *c, const kcl_loop *l) {
  const double each = (kcl_now() - l->start) / fmax((double)kcl_loop_iterations(l), 1);
  if (!c->hurried || c->wants != c->engine->method || !kcl_later_ended(c->later)) return false;
  return kcl_remaining_here(c, l) * each * c->gain > WORTH * seconds_to_open(c);
}
