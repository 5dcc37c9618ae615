/* The engine of a first solve. Where kernels of the engine that is predicted to iterate fastest are not compiled yet, others are drafted
 * beside it: the forms of cg, a few formats, one launch per stage in place of a persistent kernel. The one is built that takes
 * least in all:
 *
 *   seconds to compile what is neither in this context nor in the cache folder   (core/opencl/device/compile_cost.c)
 *   + iterations that are expected * seconds of one                              (solver/engine/predict.c)
 *
 * So with an empty cache a short solve takes plain cg, and with a full one nothing is drafted but the fastest. A method or format that was
 * named stays. What such an engine takes is not remembered as the best.
 *
 * The fastest then is compiled beside the iterations. It is in the cache for the next solve, and goes on with this one where that pays
 * (solver/auto/adapt.c), if its method is the one that iterates.
 */
#include "core/base/context.h"
#include "core/base/text.h"
#include "core/device/device.h"
#include "solver/auto/auto.h"
#include <string.h>

enum {
  USUAL = 1000, /* iterations, where nothing is known of them */
  SOLVES = 100  /* for so many the fastest is compiled, where another is there already */
};
static const double LITTLE = 0.05; /* seconds of compilation that nobody waits for */
static const double LESS =
    0.7; /* times the seconds of the fastest: the end of the process waits for that */
static const double EFFORT = 0.1; /* of the seconds of the first, for drafts */

/* Seconds to open another engine, to draft one, and for both per entry of A (two cores of 2026); times as long that it must save. */
static const double OPENING = 0.02, DRAFT = 3e-3, ENTRY = 20e-9, WORTH = 2;

typedef struct drafted {
  kcl_engine *engine; /* a draft; owned */
  double compile, iterations, each;
} drafted;

static double seconds_in_all(const drafted *d) { return d->compile + d->iterations * d->each; }

/* Is the engine ours to choose, and is it known what is compiled? Not where ranks must choose alike, nor where memory has decided. */
static bool may_hurry(const kcl_selection *c) {
  const kcl_system *s = c->system;
  return s->ctx->opencl && kcl_auto_remembers(c) && !s->undecided.measure && !s->options.mixed &&
         !s->lender && !s->halo && !kcl_on_ranks(s->ctx) && !kcl_auto_best(c);
}

static double iterations_expected(kcl_selection *c) {
  if (!c->diffusion.known) c->diffusion = kcl_elliptic_of(kcl_system_matrix(c->system));
  const double known = kcl_remaining_first(c);
  return known > 0 ? known : USUAL;
}

/* Keeps the draft if it takes less than the best, and much less than the first, which is kept in any case. */
static void keep_faster(const kcl_selection *c, drafted *best, drafted *d) {
  const double least =
      best->engine == c->later ? LESS * seconds_in_all(best) : seconds_in_all(best);
  if (seconds_in_all(d) < least) {
    if (best->engine != c->later) kcl_engine_free(&best->engine);
    *best = *d, d->engine = NULL;
  }
  kcl_engine_free(&d->engine);
}

/* Drafts for all: what they keep, and how many formats of each method they try. */
typedef struct drafting {
  const kcl_selection *c;
  int formats;
  drafted *best;
} drafting;

/* As many as take a share of the seconds of the first; by counting, so that the clock does not choose. */
static int formats_worth(const kcl_selection *c, const drafted *first) {
  const double one = DRAFT + ENTRY * (double)c->system->stats.nnz;
  return (int)fmin(fmax(EFFORT * seconds_in_all(first) / one / (1 + KCL_CG_FORMS), 1),
                   KCL_MOST_FORMATS);
}

/* One that cannot be drafted is left out. */
static void draft_format(const drafting *all, const kcl_system *s, const kcl_method *m,
                         const kcl_rank *r) {
  const kcl_selection *c = all->c;
  drafted d = {NULL, 0, all->best->iterations, r->seconds};
  if (seconds_in_all(&d) >= seconds_in_all(all->best)) return;
  if (kcl_engine_draft(s, m, c->way.precond, r->format, &d.engine)) return;
  d.compile = kcl_engine_compilation(d.engine);
  keep_faster(c, all->best, &d);
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
  int count, singles, taken = 0;
  stages.fusion = KCL_FUSED_STAGES;
  if (kcl_engine_predict(s, m, all->c->way.precond, list, &count) ||
      kcl_engine_predict(&stages, m, all->c->way.precond, single, &singles))
    return;
  for (int i = 0; i < count && taken < all->formats; i++) {
    const kcl_rank staged = {.format = list[i].format,
                             .seconds = seconds_of_format(single, singles, list[i].format)};
    if (!s->undecided.format && strcmp(list[i].format->name, s->options.format)) continue;
    taken++;
    draft_format(all, &stages, m, &staged);
    if (staged.seconds != list[i].seconds) draft_format(all, s, m, &list[i]);
  }
}

/* The method of the way, and those that may stand for it. */
static void draft_methods(const drafting *all) {
  const kcl_selection *c = all->c;
  const kcl_system *s = c->system;
  const kcl_method *m = c->way.method;
  const bool forms = s->undecided.method && kcl_auto_cg_forms_fit(&s->options) &&
                     (!strcmp(m->name, "cg") || kcl_auto_is_cg_form(m->name));
  if (!forms || !kcl_method_find(s->ctx, "cg", &m)) draft_method(all, m);
  for (int i = 0; i < KCL_CG_FORMS && forms; i++)
    if (!kcl_choice_has_failed(&c->remembered, kcl_cg_forms[i]) &&
        !kcl_method_find(s->ctx, kcl_cg_forms[i], &m))
      draft_method(all, m);
}

static const char *stages_text(const kcl_engine *e) {
  return e->program->fusion == KCL_FUSED_STAGES ? ", a launch per stage" : "";
}

static void explain_hurry(kcl_selection *c, const drafted *fastest, const char *name,
                          const char *format, const drafted *best) {
  char *why = c->why_format;
  const size_t room = sizeof c->why_format;
  why[0] = 0;
  kcl_auto_say(why, room, "%s in %s%s: %s to compile and %s per iteration predicted; ",
               best->engine->method->name, kcl_engine_format(best->engine),
               stages_text(best->engine), kcl_seconds_text(best->compile).s,
               kcl_seconds_text(best->each).s);
  kcl_auto_say(why, room, "%s in %s: %s and %s, for %.0f iterations", name, format,
               kcl_seconds_text(fastest->compile).s, kcl_seconds_text(fastest->each).s,
               best->iterations);
}

/* Is the fastest to be compiled beside the iterations? In a new cache always; else predictions that change a little would each time ask
 * for another. */
static bool is_worth_later(const drafted *fastest, const drafted *best) {
  const double saved = best->iterations * (best->each - fastest->each);
  return best->compile > LITTLE || SOLVES * saved > fastest->compile;
}

int kcl_choose_draft(kcl_selection *c, const kcl_format *format, kcl_engine **out) {
  const kcl_system *s = c->system;
  drafted best = {.compile = 0}, fastest;
  c->hurried = false;
  KCL_CALL(kcl_engine_draft(s, c->way.method, c->way.precond, format, out));
  c->compilation = kcl_engine_compilation(*out);
  if (c->compilation <= LITTLE || !may_hurry(c)) return KCL_OK;
  const kcl_method *m = c->way.method;
  best = (drafted){*out, c->compilation, iterations_expected(c), INFINITY};
  const int rc = kcl_engine_predicted(s, m, c->way.precond, format->name, &best.each);
  if (rc) return kcl_engine_free(out), rc;
  fastest = best;
  c->later = *out;
  draft_methods(&(drafting){c, formats_worth(c, &best), &best});
  *out = best.engine;
  if (best.engine == c->later) return c->later = NULL, KCL_OK;
  explain_hurry(c, &fastest, m->name, format->name, &best);
  c->hurried = true, c->way.method = best.engine->method;
  c->compilation = best.compile, c->predicted = best.each;
  c->gain = 1 - fastest.each / best.each;
  if (!is_worth_later(&fastest, &best)) kcl_engine_free(&c->later);
  return KCL_OK;
}

void kcl_draft_later(kcl_selection *c) {
  if (!c->later) return;
  c->wanted = c->later->operators[0]->format;
  c->wants = c->later->method;
  kcl_executor_compile_later(c->later->program, &c->later->executor);
  kcl_engine_free(&c->later);
}

/* Seconds to convert and upload A. */
static double seconds_to_open(const kcl_selection *c) {
  return OPENING + ENTRY * (double)c->system->stats.nnz + c->engine->executor.seconds_upload;
}

bool kcl_draft_pays(const kcl_selection *c, const kcl_loop *l) {
  const double each = (kcl_now() - l->start) / fmax((double)kcl_loop_iterations(l), 1);
  if (!c->hurried || c->wants != c->engine->method || !kcl_later_ended(c->system->ctx))
    return false;
  return kcl_remaining_here(c, l) * each * c->gain > WORTH * seconds_to_open(c);
}
