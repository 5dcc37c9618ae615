/* What `auto` decides: format and method.
 *
 * First by what is known without running anything: bytes (core/matrix.c) and symmetry. Then by the clock,
 * where that costs little beside the solve: at most a tenth of the seconds it is known or seen to take. The
 * candidates are the MOST best formats that the byte model puts within NEAR of the first; each is
 * converted, uploaded and compiled, and its loop is timed. A faster one takes over at once: between two
 * passes over LOOP all vectors and scalars are carried along, and no step of the method is lost. What was
 * measured, and how many iterations the solve took, is remembered (core/choices.h); the next solve of such a
 * structure begins with the least of  setup + iterations x each.
 */
#include "core/context.h"
#include "core/opencl.h"
#include "solver/solver.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4, LEAST = 8 /* iterations to time one */, USUAL_ITERATIONS = 1000 };
static const double NEAR = 1.6;  /* of the model; it has been wrong by as much */
static const double SHARE = 0.1; /* of the solve that timing may take */
static const double WORTH =
    0.01; /* seconds a solve must take for its iterations to be remembered */
static const double ENTRY = 20e-9; /* seconds to convert an entry, about (two cores of 2026) */
static const double COMPILE = 0.5; /* seconds a driver takes for a program it has not seen, about */
static const double SAMPLE = 0.025; /* seconds a candidate is run for, at most */

static void add(char *text, size_t room, const char *format, ...) KCL_PRINTF(3, 4);
static void add(char *text, size_t room, const char *format, ...) {
  size_t used = strlen(text);
  va_list args;
  va_start(args, format);
  vsnprintf(text + used, room - used, format, args);
  va_end(args);
}

/* ---------------------------------------------------------------- methods by structure */

/* In the order in which they are tried. A = c I + S, S = -S^H: x^H S x = 0 breaks the others down, and lsqr loses
 * nothing by A^H A (docs/methods.md). In mixed precision there are no least squares. */
static const char *const *methods_for(const kcl_stats *s, bool mixed) {
  static const char *const rectangular[] = {"cgls", "lsqr", NULL},
                           *const positive[] = {"cg", "minres", "gmres", "lsqr", NULL},
                           *const hermitian[] = {"minres", "gmres", "lsqr", NULL},
                           *const symmetric[] = {"cocg", "cocr", "idr", "gmres", "lsqr", NULL},
                           *const skew[] = {"lsqr", "gmres", NULL},
                           *const general[] = {"idr", "bicgstab-l", "gmres", "lsqr", NULL};
  if (s->rows != s->cols) return rectangular;
  if (s->hermitian) return s->positive_diagonal ? positive : hermitian;
  if (s->symmetric) return symmetric;
  return s->shifted_skew && !mixed ? skew : general;
}

const char *kcl_auto_solver(const kcl_stats *s) { return methods_for(s, false)[0]; }

static const char *const *methods_of(const kcl_solver *s) {
  return methods_for(&s->stats, s->options.mixed);
}

static const char *structure_words(const kcl_stats *s) {
  if (s->rows != s->cols) return "the matrix is not square";
  if (s->hermitian)
    return s->positive_diagonal ? "A = A^H with a positive diagonal"
                                : "A = A^H, its diagonal is not positive";
  if (s->symmetric) return "A = A^T, not Hermitian";
  return s->shifted_skew ? "A = c I + S, S = -S^H" : "A is neither Hermitian nor symmetric";
}

/* Forms of cg with fewer barriers; replacing residuals keeps them accurate to this. Not in mixed precision. */
static const char *const variants[] = {"cg-single", "cg-pipelined"};

static bool is_variant(const char *name) {
  return !strcmp(name, variants[0]) || !strcmp(name, variants[1]);
}

static bool accuracy_holds(const kcl_options *o) {
  bool single = o->precision == KCL_S || o->precision == KCL_C;
  return !o->mixed && (o->tol < 0 || o->tol >= (single ? 1e-5 : 1e-9));
}

static bool listed(const char *const *list, const char *name) {
  for (; *list; list++)
    if (!strcmp(*list, name)) return true;
  return false;
}

static const char *next_name(const kcl_solver *s, kcl_reason reason) {
  const char *const *list = methods_of(s), *name = s->method->name;
  if (is_variant(name) && reason != KCL_INDEFINITE) return "cg";
  if (is_variant(name)) name = "cg";
  while (*list && strcmp(*list, name)) list++;
  return *list ? list[1] : NULL;
}

/* ---------------------------------------------------------------- what is remembered */

static bool remembers(const kcl_solver *s) {
  return !s->open.model && (s->open.format || s->open.method);
}

static bool usable(const kcl_solver *s, const kcl_timing *t) {
  kcl_cost cost;
  if (s->open.method && !listed(methods_of(s), t->method) &&
      !(is_variant(t->method) && listed(methods_of(s), "cg") && accuracy_holds(&s->options)))
    return false;
  if (!s->open.method && strcmp(t->method, s->options.solver)) return false;
  if (!s->open.format) return !strcmp(t->format, s->options.format);
  return !kcl_format_cost(s->ctx, &s->stats, s->options.precision, t->format, &cost) &&
         !cost.refusal;
}

/* The least of setup + iterations x each, or NULL. */
static const kcl_timing *best_known(const kcl_solver *s) {
  const kcl_choice *c = &s->open.known;
  const kcl_timing *best = NULL;
  double n = c->iterations ? (double)c->iterations : USUAL_ITERATIONS, least = INFINITY;
  for (int i = 0; i < c->count; i++) {
    double cost = c->timing[i].setup + n * c->timing[i].iteration;
    if (cost < least && usable(s, &c->timing[i])) best = &c->timing[i], least = cost;
  }
  return best;
}

/* "0.41 ms an iteration; sell16 0.52 ms": what was timed, `first` first. */
static void say_timings(const kcl_solver *s, const kcl_timing *first, char *text, size_t room) {
  const kcl_choice *c = &s->open.known;
  add(text, room, "%.3g us an iteration", 1e6 * first->iteration);
  for (int i = 0; i < c->count; i++) {
    const kcl_timing *t = &c->timing[i];
    if (t == first) continue;
    bool other = strcmp(t->method, first->method);
    add(text, room, ", %s%s%s %.3g", other ? t->method : "", other ? " in " : "", t->format,
        1e6 * t->iteration);
  }
}

/* ---------------------------------------------------------------- before anything has run */

int kcl_choose_method(kcl_solver *s) {
  const char *name = s->options.solver;
  if (remembers(s)) {
    kcl_choice_key(s->ctx, s->A, &s->stats, &s->options, s->open.key);
    s->open.recalled = kcl_choice_recall(s->open.key, &s->open.known);
    s->open.expected = s->open.known.iterations;
  }
  if (!s->open.method) return KCL_OK;
  const kcl_timing *known = best_known(s);
  name = known ? known->method : methods_of(s)[0];
  snprintf(s->why_method, sizeof s->why_method, "%s", structure_words(&s->stats));
  if (known && strcmp(name, methods_of(s)[0]))
    add(s->why_method, sizeof s->why_method, "; %s",
        is_variant(name) ? "measured as the fastest form of cg" : "what converged the last time");
  return kcl_method_find(s->ctx, name, &s->method);
}

int kcl_choose_format(kcl_solver *s, const kcl_format **f) {
  kcl_type type = s->options.precision;
  const kcl_timing *known = s->open.measure ? NULL : best_known(s);
  if (!known || strcmp(known->method, s->method->name))
    return kcl_format_choose(s->ctx, &s->stats, type, f, s->why, sizeof s->why);
  snprintf(s->why, sizeof s->why, "remembered: ");
  say_timings(s, known, s->why, sizeof s->why);
  if (s->open.known.iterations)
    add(s->why, sizeof s->why, ", %lld iterations expected", (long long)s->open.known.iterations);
  return kcl_format_find(s->ctx, known->format, type, f);
}

/* ---------------------------------------------------------------- candidates */

/* On CPUs many formats for GPUs come down to the same loop over the same arrays. */
static bool alike(const kcl_solver *s, const kcl_format *a, const kcl_format *b) {
  kcl_type type = s->options.precision;
  bool same = s->ctx->opencl ? !strcmp(a->kernel, b->kernel) && !kcl_opencl_neighbours(s->ctx)
                             : a->rows == b->rows;
  return a == b || (same && a->size(&s->stats, type).total == b->size(&s->stats, type).total);
}

static bool timed(const kcl_solver *s, const char *format) {
  const kcl_choice *c = &s->open.known;
  for (int i = 0; i < c->count; i++)
    if (!strcmp(c->timing[i].method, s->method->name) && !strcmp(c->timing[i].format, format))
      return true;
  return false;
}

/* Formats worth timing beside that of s, which have not been; under way only those whose program has the same
 * stages. */
static int candidates(const kcl_solver *s, bool under_way, kcl_rank list[MOST]) {
  kcl_rank all[KCL_MOST_FORMATS];
  const kcl_format *mine = s->matrix->format;
  int count, n = 0, distinct = 0;
  if (!s->open.format || kcl_format_rank(s->ctx, &s->stats, s->options.precision, all, &count))
    return 0;
  for (int i = 0; i < count && distinct < MOST && all[i].moved <= NEAR * all[0].moved; i++) {
    const kcl_format *f = all[i].format;
    bool again = false;
    for (int j = 0; j < i && !again; j++) again = alike(s, f, all[j].format);
    if (again) continue;
    distinct++;
    if (alike(s, f, mine) || timed(s, f->name)) continue;
    if (!under_way || f->scatter == mine->scatter) list[n++] = all[i];
  }
  return n;
}

static bool timed_variants(const kcl_solver *s) {
  const kcl_choice *c = &s->open.known;
  for (int i = 0; i < c->count; i++)
    if (is_variant(c->timing[i].method)) return true;
  return false;
}

/* Other forms of the method worth timing. */
static int variants_of(const kcl_solver *s) {
  return s->open.method && !strcmp(s->method->name, "cg") && accuracy_holds(&s->options) &&
                 !timed_variants(s)
             ? 2
             : 0;
}

static double own_setup(const kcl_solver *s) {
  return s->seconds_convert + s->executor.seconds_upload + s->executor.seconds_compile;
}

/* Seconds to set up another format. A program that came from the cache folder says nothing of the driver's
 * work on one that is not there: what it took when it was new may be remembered. */
static double estimate(kcl_solver *s) {
  const kcl_executor *ex = &s->executor;
  const kcl_timing *t =
      timed(s, s->matrix->format->name)
          ? kcl_choice_timing(&s->open.known, s->method->name, s->matrix->format->name)
          : NULL;
  double convert = ENTRY * (double)s->stats.nnz * (s->method->adjoint ? 2 : 1);
  double compile = ex->seconds_compile;
  if (ex->from_cache) compile = fmax(COMPILE, t ? t->setup : 0);
  return convert + ex->seconds_upload + compile;
}

/* ---------------------------------------------------------------- timing */

/* Seconds an iteration of a column: the least of three samples, in about `budget` seconds; of one where an
 * iteration takes as long as that. */
static int sample(kcl_solver *s, double budget, double *each) {
  double t[3];
  int rc = kcl_time_loop(s, 1, 1, each), n = 0;
  if (!rc) n = (int)fmin(1000, budget / (4 * *each));
  if (!rc && n) rc = kcl_time_loop(s, n, 3, t);
  if (!rc && n) *each = fmin(t[0], fmin(t[1], t[2]));
  *each /= s->program->columns;
  return rc;
}

static void note(kcl_solver *s, const kcl_solver *of, double setup, double each) {
  kcl_timing *t = kcl_choice_timing(&s->open.known, of->method->name, of->matrix->format->name);
  if (t) t->setup = setup, t->iteration = each;
}

#define SWAP(type, field)                                                                          \
  do {                                                                                             \
    type kept = s->field;                                                                          \
    s->field = t->field, t->field = kept;                                                          \
  } while (0)

/* s goes on as t, and t is what s was. */
static void exchange(kcl_solver *s, kcl_solver *t) {
  SWAP(kcl_matrix *, matrix);
  SWAP(kcl_matrix *, adjoint);
  SWAP(kcl_program *, program);
  SWAP(kcl_executor, executor);
  SWAP(const kcl_method *, method);
  SWAP(double, seconds_convert);
  memcpy(s->kernel, t->kernel, sizeof s->kernel);
}

static bool same_shape(const kcl_program *a, const kcl_program *b) {
  if (a->vectors != b->vectors || a->slots != b->slots || a->columns != b->columns) return false;
  if (kcl_program_dots(a) != kcl_program_dots(b)) return false;
  for (int p = 0; p < KCL_PHASES; p++)
    if (a->stages[p] != b->stages[p]) return false;
  return true;
}

/* s once more: what other programs did to the first timing is not to count. */
static int again(kcl_solver *s, double budget, double *least) {
  kcl_timing *t = kcl_choice_timing(&s->open.known, s->method->name, s->matrix->format->name);
  double each;
  int rc = sample(s, budget, &each);
  if (!rc && each < *least) *least = each;
  if (!rc && t && each < t->iteration) t->iteration = each;
  return rc;
}

/* Times one more; where it is faster than `least`, s becomes it. That it cannot be had is no error. */
static int try_one(kcl_solver *s, const kcl_method *m, const kcl_format *f, double budget,
                   bool under_way, double *least) {
  kcl_solver *t = NULL;
  double start = kcl_now(), each, setup;
  int rc = KCL_OK;
  if (kcl_setup_like(s, m, f, &t)) goto done;
  setup = kcl_now() - start;
  if (sample(t, budget / 2, &each)) goto done;
  note(s, t, setup, each);
  if (!under_way) KCL_TRY(again(s, budget / 2, least));
  if (each >= *least || (under_way && !same_shape(s->program, t->program))) goto done;
  if (under_way) KCL_TRY(t->executor.carry(&t->executor, &s->executor));
  exchange(s, t);
  *least = each;
done:
  kcl_solver_free(&t);
  return rc;
}

/* All candidates, as long as `budget` lasts. `each`: seconds an iteration of s, as it is. */
static int try_all(kcl_solver *s, double budget, bool under_way, double each) {
  kcl_rank list[MOST];
  double start = kcl_now();
  int count = candidates(s, under_way, list), rc = KCL_OK;
  int others =
      !under_way && s->open.method && !strcmp(s->method->name, "cg") && accuracy_holds(&s->options)
          ? 2
          : 0;
  double share = fmin(SAMPLE, budget / (2.0 * (count + others) + 1));
  for (int i = 0; i < count + others && !rc; i++) {
    const kcl_method *m = s->method;
    if (kcl_now() - start + s->open.cost > budget) break;
    if (i >= count) rc = kcl_method_find(s->ctx, variants[i - count], &m);
    if (!rc)
      rc = try_one(s, m, i < count ? list[i].format : s->matrix->format, share, under_way, &each);
  }
  s->open.settled = s->open.changed = true;
  return rc;
}

/* After timing: why it is what it is now. */
static void explain(kcl_solver *s, const char *word) {
  const kcl_timing *mine =
      kcl_choice_timing(&s->open.known, s->method->name, s->matrix->format->name);
  snprintf(s->why, sizeof s->why, "%s: ", word);
  if (mine) say_timings(s, mine, s->why, sizeof s->why);
  if (is_variant(s->method->name))
    snprintf(s->why_method, sizeof s->why_method, "%s, measured as the fastest form of cg",
             structure_words(&s->stats));
}

/* Seconds that set-up and timing of one more take. */
static double price(const kcl_solver *s, double each) { return s->open.cost + LEAST * each; }

static bool settle(kcl_solver *s) {
  kcl_rank list[MOST];
  s->open.settled = true;
  if (!remembers(s)) return true;
  if (s->open.measure) s->open.known.count = 0;
  s->open.others = candidates(s, false, list), s->open.cost = estimate(s);
  s->open.settled = !s->open.others && !variants_of(s);
  return s->open.settled;
}

int kcl_choose_ahead(kcl_solver *s) {
  kcl_choice *c = &s->open.known;
  double start = kcl_now(), each, budget = INFINITY;
  int rc;
  if (settle(s)) return KCL_OK;
  if (!s->open.measure) {
    const kcl_timing *mine = best_known(s);
    if (!mine || !c->iterations) return KCL_OK;
    budget = SHARE * (double)c->iterations * mine->iteration;
    if (price(s, mine->iteration) > budget) return KCL_OK;
  }
  KCL_TRY(sample(s, fmin(SAMPLE, budget / 4), &each));
  note(s, s, own_setup(s), each);
  KCL_TRY(try_all(s, budget, false, each));
  explain(s, "measured");
  kcl_choice_remember(s->open.key, c);
done:
  s->open.seconds += kcl_now() - start;
  return rc;
}

/* ---------------------------------------------------------------- under way */

bool kcl_choose_pays(const kcl_solver *s, double seconds, double each) {
  return !s->open.settled && s->open.format && s->open.others && SHARE * seconds > price(s, each);
}

int kcl_choose_under_way(kcl_solver *s, double seconds, double each, int64_t iteration) {
  const char *before = s->matrix->format->name;
  double start = kcl_now();
  each /= s->program->columns;
  note(s, s, own_setup(s), each);
  int rc = try_all(s, SHARE * seconds, true, each);
  if (strcmp(before, s->matrix->format->name)) {
    add(s->changes, sizeof s->changes, "%sformat %s after %lld iterations, for the rest %s; ",
        s->changes[0] ? "\n" : "", before, (long long)iteration, s->matrix->format->name);
    explain(s, "measured");
    add(s->changes, sizeof s->changes, "%s", s->why);
  } else {
    explain(s, "measured");
  }
  s->open.seconds += kcl_now() - start;
  return rc;
}

/* ---------------------------------------------------------------- a method that gave up */

bool kcl_gave_up(kcl_reason reason) {
  return reason != KCL_CONVERGED && reason != KCL_ITERATION_LIMIT && reason != KCL_INTERRUPTED;
}

/* b and x of every column, as they are on the device. */
static int give_system(kcl_solver *from, kcl_solver *to) {
  const kcl_program *k = from->program, *l = to->program;
  const kcl_vec out[] = {k->b, k->x}, in[] = {l->b, l->x};
  int rc = KCL_OK;
  for (int i = 0; i < 2 * k->columns && !rc; i++) {
    void *v;
    rc = kcl_alloc(from->ctx, k->vector[out[i % 2]].n, kcl_type_size(k->type), "a vector", &v);
    if (!rc) rc = from->executor.get(&from->executor, out[i % 2], i / 2, k->type, v, 1.0);
    if (!rc) rc = to->executor.put(&to->executor, in[i % 2], i / 2, k->type, v, 1.0);
    free(v);
  }
  return rc;
}

int kcl_choose_next(kcl_solver *s, kcl_reason reason, int64_t iteration, bool *another) {
  kcl_solver *t = NULL;
  const kcl_method *m;
  const char *name = NULL;
  int rc = KCL_OK;
  *another = false;
  if (!s->open.method || !(name = next_name(s, reason))) return KCL_OK;
  KCL_TRY(kcl_method_find(s->ctx, name, &m));
  if (s->options.mixed && m->least_squares) goto done;
  if (kcl_setup_like(s, m, s->matrix->format, &t)) goto done; /* such as A^H that does not fit */
  if (t->program->columns != s->program->columns)
    goto done; /* more scalars than a device has room for */
  KCL_TRY(give_system(s, t));
  add(s->changes, sizeof s->changes, "%s%s gave up after %lld iterations: %s; %s goes on",
      s->changes[0] ? "\n" : "", s->method->name, (long long)iteration, kcl_reason_text(reason),
      name);
  exchange(s, t);
  s->open.known.count = 0, s->open.changed = s->open.settled = *another = true;
done:
  kcl_solver_free(&t);
  return rc;
}

/* ---------------------------------------------------------------- afterwards */

void kcl_choose_done(kcl_solver *s, int64_t iterations, double seconds) {
  kcl_choice *c = &s->open.known;
  if (!remembers(s) || !iterations) return;
  double change = (double)iterations / (double)(c->iterations ? c->iterations : 1);
  if (!s->open.changed && (seconds < WORTH || (!s->open.others && c->count < 2))) return;
  if (!s->open.changed && s->open.recalled && change > 0.75 && change < 1.33) return;
  kcl_timing *t = kcl_choice_timing(c, s->method->name, s->matrix->format->name);
  if (t && !(t->iteration > 0))
    t->setup = own_setup(s), t->iteration = seconds / (double)iterations;
  c->iterations = iterations;
  kcl_choice_remember(s->open.key, c);
  s->open.changed = false, s->open.recalled = true;
}
