/* See checkpoint.h: the engine of a checkpoint, or what of it differs, so that the solve goes on from x alone. */
#include "solver/checkpoint.h"
#include "solver/engine/given.h"

static bool texts_differ(const char *then, const char *now) { return strcmp(then, now) != 0; }

/* Ranks each keep their format. */
static int build_engine_of(const kcl_resuming *w, kcl_engine **out) {
  const kcl_saved_head *h = &w->r->head;
  const kcl_selection *c = &w->s->selection;
  const kcl_format *f;
  kcl_way way;
  if (kcl_method_find(c->system->ctx, h->method, &way.method) ||
      kcl_system_precond_kind(c->system, h->precond, &way.precond))
    return KCL_USAGE;
  if (c->build) return c->build(c->owner, &way, out);
  if (kcl_format_find(c->system->ctx, h->format, c->engine->program->type, &f)) return KCL_USAGE;
  return kcl_engine_build_tested(c->system, way.method, way.precond, f, out);
}

/* The engine of the checkpoint, where the options leave that open. A failure to build it is none. */
int kcl_resume_engine(kcl_resuming *w) {
  const kcl_saved_head *h = &w->r->head;
  kcl_selection *c = &w->s->selection;
  const kcl_system *s = c->system;
  const bool method = texts_differ(h->method, c->engine->method->name),
             precond = texts_differ(h->precond, c->engine->precond->name),
             format = !s->distribution && texts_differ(h->format, kcl_engine_format(c->engine));
  kcl_engine *e = NULL;
  if (!method && !precond && !format) return KCL_OK;
  if ((method && !s->undecided.method) || (precond && !s->undecided.precond) ||
      (format && !s->undecided.format))
    return KCL_OK;
  if (build_engine_of(w, &e)) return KCL_OK;
  int rc =
      e->program->nrhs == c->engine->program->nrhs ? kcl_engine_copy_system(e, c->engine) : KCL_OK;
  if (rc || e->program->nrhs != c->engine->program->nrhs) return kcl_engine_free(&e), rc;
  kcl_selection_use(c, &e);
  w->l->engine = c->engine;
  return KCL_OK;
}

static void tell_name(kcl_resuming *w, const char *kind, const char *then, const char *now) {
  if (!w->other[0] && texts_differ(then, now))
    snprintf(w->other, sizeof w->other, "%s is %s and was %s", kind, now, then);
}

/* The first line of the words that differs: its first word and both values. */
static void tell_words(kcl_resuming *w, const char *now) {
  const char *then = w->r->words;
  while (*then && *now) {
    const size_t n = strcspn(then, "\n"), m = strcspn(now, "\n"), word = strcspn(now, " \n");
    if (n != m || memcmp(then, now, n) != 0) {
      const size_t skip = n > word ? word + 1 : n;
      snprintf(w->other, sizeof w->other, "the %.*s is %.*s and was %.*s", (int)word, now,
               (int)(m > word ? m - word - 1 : 0), m > word ? now + word + 1 : "", (int)(n - skip),
               then + skip);
      return;
    }
    then += n + (then[n] != 0), now += m + (now[m] != 0);
  }
  if (*then || *now) snprintf(w->other, sizeof w->other, "the executor is another one");
}

static void tell_ranks(kcl_resuming *w) {
  const kcl_ranks *r = kcl_system_ranks(w->l->system);
  const long long now = r ? r->count : 1, then = w->r->head.ranks;
  if (now != then)
    snprintf(w->other, sizeof w->other, "the number of ranks is %lld and was %lld", now, then);
}

/* Ranks have what rank 0 finds; the words have a line for the parts of all. */
int kcl_resume_compare(kcl_resuming *w) {
  const kcl_engine *e = w->l->engine;
  const kcl_saved_head *h = &w->r->head;
  kcl_distribution *d = w->l->system->distribution;
  size_t size;
  char *now;
  tell_ranks(w);
  tell_name(w, "the method", h->method, e->method->name);
  tell_name(w, "the preconditioner", h->precond, e->precond->name);
  tell_name(w, "the format", h->format, kcl_engine_format(e));
  if (d) d->tell(d, w->other, sizeof w->other);
  int rc = w->other[0] ? KCL_OK : kcl_checkpoint_words(w->s, e, &now, &size);
  if (rc || w->other[0]) return rc;
  tell_words(w, now);
  free(now);
  const uint64_t state = e->executor.state_bytes(&e->executor);
  if ((uint64_t)h->state != kcl_checkpoint_total(w->l->system, state) && !w->other[0])
    snprintf(w->other, sizeof w->other, "the executor is laid out otherwise");
  return KCL_OK;
}
