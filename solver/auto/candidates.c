/* Ways that a solve may switch to, each with its predicted seconds: set-up + iterations x seconds of one. An iteration takes as
 * long, relative to one of the engine in use, as it moves bytes. Iterations follow from what A is (solver/auto/elliptic.c):
 * multigrid needs few where A is elliptic and may need many elsewhere; incomplete factors save a part of those without.
 */
#include "multigrid/levels.h"
#include "solver/auto/auto.h"

/* Iterations by what A is. 0: not a candidate there. */
enum { SMOOTH, ELLIPTIC, NETWORK, OTHER, CLASSES };

typedef struct kind {
  const char *method, *precond;
  double entry; /* seconds of set-up per entry of A and thread, of at most MOST */
  double row;   /* the same, times the square of the mean entries of a row: fill */
  double iterations
      [CLASSES]; /* at most; where A is elliptic at least `root` times the root of its condition number */
  double root;
  double share;     /* of the iterations without it; 0: they do not matter */
  double passes;    /* over the entries of A, by an iteration */
  double vectors;   /* of A's rows, likewise */
  bool levels;      /* multigrid, which devices set up, too */
  double transport; /* kcl_elliptic.transport at most; 0: any */
} kind;

enum { MOST = 8 };

/* Smoothed aggregation with idr takes 20 iterations on convection:300, whose transport is 80; 78 on convection:400 with 107; and does
 * not converge on convection:600 with 160: its coarse levels are convection. */
#define TRANSPORT 90

/* Fitted to the systems of bench/time_to_x.py on a CPU of 2021 (docs/lab/2026-11-28-time-to-x-2.md). */
static const kind kinds[] = {
    {"cg", "sa", 1.15e-7, 0, {10, 25, 25, 100}, 0, 0, 6, 45, true, 0},
    {"cg", "amg", 2e-7, 0, {15, 15, 15, 150}, 0, 0, 6, 45, true, 0},
    {"idr", "sa", 1.3e-7, 0, {25, 0, 0, 0}, 0, 0, 8, 70, true, TRANSPORT},
    {"idr", "amg", 2e-7, 0, {30, 60, 0, 0}, 0, 0, 13, 115, true, 0},
    {"idr", "amg", 2e-7, 0, {0, 0, 12, 0}, 0, 0, 8, 60, true, 0},
    {"idr", "ilu", 3e-8, 5e-11, {250, 250, 0, 0}, 4.5, 0.25, 3.6, 30, false, 0},
    {"idr", "ilu", 3e-8, 5e-11, {0, 0, 0, 250}, 0, 0.15, 3.6, 30, false, 0},
    {"idr", "ilut", 3e-7, 1.2e-9, {45, 45, 45, 45}, 0.4, 0, 6, 25, false, 0},
};

/* Seconds of set-up per entry on a device, and of its launches (NVIDIA H200: 10 to 67 ms for 3.5 to 56 million entries). */
static const double DEVICE_ENTRY = 1e-9, DEVICE = 0.008;
/* Compilation of the kernels of a candidate: times the seconds of those of plain cg; seconds at least, on a GPU and on a CPU (NVIDIA
 * H200: 1.6 and 0.01 to 2.7; PoCL on two cores: 12). */
static const double COMPILE = 4, COLD_GPU = 4, COLD_CPU = 10;

static const double SLOWEST = 3;

/* Other programs share the processor: they slow a set-up and a factorisation down as they do the iterations. The native executor
 * keeps this thread busy, so that its processor time tells; for a device, iterations take `each` seconds and were predicted to take less. */
static double slowness(const kcl_selection *c, double each) {
  const double busy = kcl_thread_seconds() - c->began_busy, all = kcl_now() - c->began;
  double times = c->began > 0 && busy > 0 ? all / busy : 1;
  if (c->system->ctx->opencl) times = c->predicted > 0 ? each / c->predicted : 1;
  return fmin(fmax(times, 1), SLOWEST);
}

static int class_of(const kcl_selection *c) {
  if (!c->diffusion.holds) return OTHER;
  return c->diffusion.smooth ? SMOOTH : c->diffusion.network ? NETWORK : ELLIPTIC;
}

static bool set_up_on_device(const kcl_selection *c) {
  return kcl_levels_on_device(c->system->ctx, kcl_system_matrix(c->system));
}

/* Weak couplings are neither interpolated over nor do they leave fill: a share of the set-up depends on the strong ones. */
static const double WEAK = 0.25;

static double share_of_setup(const kcl_selection *c, const kind *k) {
  return k->share > 0 || !c->diffusion.holds ? 1 : WEAK + (1 - WEAK) * c->diffusion.strong;
}

static double setup_seconds(const kcl_selection *c, const kind *k) {
  const kcl_stats *t = &c->system->stats;
  const double mean = (double)t->nnz / (double)t->rows,
               entries = share_of_setup(c, k) * (double)t->nnz;
  const int threads = kcl_threads() < MOST ? kcl_threads() : MOST;
  if (k->levels && set_up_on_device(c)) return DEVICE + DEVICE_ENTRY * (double)t->nnz;
  return (k->levels ? k->entry / threads : k->entry + k->row * mean * mean) * entries;
}

/* Iterations, when `left` are left without it. */
static double expect_iterations(const kcl_selection *c, const kind *k, double left) {
  const double most = fmax(k->iterations[class_of(c)],
                           c->diffusion.holds ? k->root * c->diffusion.condition_root : 0);
  return k->share > 0 ? fmin(k->share * left, most) : most;
}

/* Seconds of one iteration, when one of the engine in use takes `each`. */
static double iteration_seconds(const kcl_selection *c, const kind *k, double each) {
  const kcl_stats *t = &c->system->stats;
  const kcl_engine *e = c->engine;
  const double scalar = (double)kcl_type_size(e->program->type),
               bytes = k->passes * (double)t->nnz * (4 + scalar) +
                       k->vectors * (double)t->rows * scalar;
  return each * bytes / kcl_engine_bytes(e, 1);
}

/* Are the kinds of this method for the system, and this preconditioner not in use? */
static bool suits(const kcl_selection *c, const kind *k, kcl_way *way) {
  const kcl_system *s = c->system;
  const kcl_precond_request q = kcl_system_request(s);
  const bool same = !strcmp(c->plan.way[0].method->name, k->method);
  return same && k->iterations[class_of(c)] > 0 && (!s->ctx->opencl || k->levels) &&
         !(k->transport > 0 && c->diffusion.transport > k->transport) &&
         !kcl_precond_find(s->ctx, k->precond, &way->precond) &&
         !kcl_method_find(s->ctx, k->method, &way->method) &&
         !kcl_precond_check(&q, way->precond, way->method) &&
         strcmp(c->way.precond->name, k->precond) != 0;
}

int kcl_candidates(const kcl_selection *c, double left, double each,
                   kcl_candidate list[KCL_MOST_CANDIDATES]) {
  int count = 0;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    const kind *k = &kinds[i];
    kcl_candidate *p = &list[count];
    if (!suits(c, k, &p->way)) continue;
    p->levels = k->levels, p->last = !k->levels && !(k->share > 0);
    p->setup = slowness(c, each) * setup_seconds(c, k);
    p->iterations = expect_iterations(c, k, left);
    p->predicted = p->setup + p->iterations * iteration_seconds(c, k, each);
    const kcl_timing *known = kcl_outcome_of(&c->remembered, k->method, k->precond);
    p->seconds = known ? known->setup : p->predicted;
    count++;
  }
  return count;
}

const char *kcl_candidate_reason(const kcl_selection *c, const kcl_candidate *p) {
  static const char *const multigrid[] = {
      [SMOOTH] = "A is elliptic with smooth coefficients: few iterations",
      [ELLIPTIC] = "A is elliptic, its coefficients jump or differ by direction",
      [NETWORK] = "A is elliptic and nearly symmetric, as of a circuit: few iterations",
      [OTHER] = "A is not elliptic: many iterations are possible"};
  if (p->levels) return multigrid[class_of(c)];
  return p->last ? "threshold factors: few iterations, a long set-up"
                 : "incomplete factors: a quarter of the iterations or less, 250 at most";
}

double kcl_candidate_seconds(const kcl_selection *c, const kcl_way *way, double each) {
  kcl_candidate list[KCL_MOST_CANDIDATES];
  for (int i = kcl_candidates(c, INFINITY, each, list); i-- > 0;)
    if (list[i].way.method == way->method && list[i].way.precond == way->precond)
      return list[i].seconds;
  return 0;
}

double kcl_candidate_compilation(const kcl_selection *c, const kcl_candidate *p) {
  const kcl_system *s = c->system;
  const bool aggregation = !strcmp(p->way.precond->name, "sa");
  if (!s->ctx->opencl) return 0;
  const bool there =
      set_up_on_device(c) && kcl_levels_compiled(s->ctx, kcl_system_matrix(s)->type, aggregation);
  const double cold = s->ctx->layout == KCL_LAYOUT_GPU ? COLD_GPU : COLD_CPU,
               all = fmax(cold, COMPILE * c->engine->executor.seconds_compile);
  return there ? 0 : fmax(all - c->remembered.missed, 0);
}

/* ---------------------------------------------------------------- a direct solution */

bool kcl_may_solve_directly(const kcl_selection *c) {
  return c->rescue_price && c->system->undecided.method && c->system->undecided.precond;
}

static const double ROW = 1e-6, ENTRY = 5e-8; /* seconds of an ordering (solver/direct/direct.c) */
static const double ORDERINGS =
    3; /* a direct solution takes as many times the seconds of an ordering at least */

double kcl_direct_least(const kcl_selection *c) {
  const kcl_stats *t = &c->system->stats;
  return ORDERINGS * (ROW * (double)t->rows + ENTRY * (double)t->nnz);
}

double kcl_direct_price(const kcl_selection *c, const kcl_loop *l, double spent) {
  const double done = fmax((double)kcl_loop_iterations(l), 1);
  const kcl_timing *t = kcl_outcome_of(&c->remembered, "direct", "none");
  if (!kcl_may_solve_directly(c) || (t && t->iteration == INFINITY)) return INFINITY;
  const double price = slowness(c, spent / done) * c->rescue_price(c->owner, l, spent);
  return t ? fmax(price, t->setup) : price;
}
