/* See team.h. Who waits spins for some microseconds, which is what a sleep and the waking cost, and then sleeps: on a busy
 * machine the other member may not run for milliseconds. */
#include "core/base/background.h"
#include "core/base/base.h"
#include "core/base/team.h"

enum { CACHE_LINE = 64 }; /* bytes */
static const double spin_seconds = 50e-6,
                    steal_seconds = 5e-6; /* of waiting, before parts of others are taken */

/* ---------------------------------------------------------------- a gate: a counter to wait for */

typedef struct gate {
  _Alignas(CACHE_LINE) _Atomic uint32_t opened; /* times */
  _Atomic int sleepers;
  pthread_mutex_t lock;
  pthread_cond_t changed;
} gate;

#define GATE                                                                                       \
  { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER }

/* A sleeper counts itself before it looks at `opened`, and here `opened` changes before sleepers are counted: one of the
 * two sees the other. */
static void gate_open(gate *g) {
  atomic_fetch_add(&g->opened, 1);
  if (!atomic_load(&g->sleepers)) return;
  pthread_mutex_lock(&g->lock);
  pthread_mutex_unlock(&g->lock);
  pthread_cond_broadcast(&g->changed);
}

static bool gate_spin(gate *g, uint32_t seen, double limit) {
  double start = 0;
  for (int i = 1; atomic_load_explicit(&g->opened, memory_order_acquire) == seen; i++) {
    kcl_pause();
    if (i % 32) continue;
    double now = kcl_now();
    if (!start) start = now;
    if (now - start > limit) return false;
  }
  return true;
}

static void gate_await(gate *g, uint32_t seen, bool spins) {
  if (spins && gate_spin(g, seen, spin_seconds)) return;
  pthread_mutex_lock(&g->lock);
  atomic_fetch_add(&g->sleepers, 1);
  while (atomic_load(&g->opened) == seen) pthread_cond_wait(&g->changed, &g->lock);
  atomic_fetch_sub(&g->sleepers, 1);
  pthread_mutex_unlock(&g->lock);
}

/* ---------------------------------------------------------------- the pool */

typedef struct worker {
  gate called, done;
  kcl_member me;
  struct worker *next; /* in the pool, or in the team */
} worker;

struct kcl_team {
  kcl_region *body;
  void *arg;
  bool spins; /* each member has a processor */
};

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static worker *pool;
static _Thread_local bool inside; /* a region */

static void before_fork(void) { pthread_mutex_lock(&pool_lock); }
static void after_fork(void) { pthread_mutex_unlock(&pool_lock); }
/* In the child, where its threads are gone. */
static void forget_pool(void) {
  for (worker *w = pool, *next; w; w = next) next = w->next, free(w);
  pool = NULL, pthread_mutex_unlock(&pool_lock);
}
static void watch_fork(void) { pthread_atfork(before_fork, after_fork, forget_pool); }

static void *run_worker(void *self) {
  worker *w = self;
  inside = true;
  bool spins = true; /* as in the region before: the caller may open the next one at once */
  for (uint32_t round = 0;; round++) {
    gate_await(&w->called, round, spins);
    spins = w->me.team->spins;
    w->me.team->body(w->me.team->arg, &w->me);
    gate_open(&w->done); /* the last access to the team */
  }
  return NULL;
}

static worker *hire(void) {
  worker *w = aligned_alloc(CACHE_LINE, (sizeof *w + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
  pthread_t thread;
  if (!w) return NULL;
  *w = (worker){.called = GATE, .done = GATE};
  if (!kcl_thread_start(&thread, run_worker, w)) {
    free(w);
    return NULL;
  }
  pthread_detach(thread);
  return w;
}

/* Up to `count` workers, as a list; *got: how many. */
static worker *take_workers(int count, int *got) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  worker *list = NULL, *w;
  pthread_once(&once, watch_fork);
  pthread_mutex_lock(&pool_lock);
  for (*got = 0; *got < count && (w = pool); ++*got) {
    pool = w->next;
    w->next = list;
    list = w;
  }
  pthread_mutex_unlock(&pool_lock);
  for (; *got < count && (w = hire()); ++*got) w->next = list, list = w;
  return list;
}

static void give_back(worker *list) {
  worker *last = list;
  if (!list) return;
  while (last->next) last = last->next;
  pthread_mutex_lock(&pool_lock);
  last->next = pool, pool = list;
  pthread_mutex_unlock(&pool_lock);
}

/* ---------------------------------------------------------------- regions */

void kcl_parallel(int threads, kcl_region *body, void *arg) {
  int others = 0;
  worker *list = threads > 1 && !inside ? take_workers(threads - 1, &others) : NULL;
  kcl_team t = {.body = body, .arg = arg, .spins = others < kcl_cpus()};
  bool outer = inside;
  inside = true;
  int number = 1;
  for (worker *w = list; w; w = w->next) {
    w->me = (kcl_member){&t, number++, others + 1};
    gate_open(&w->called);
  }
  body(arg, &(kcl_member){&t, 0, others + 1});
  for (worker *w = list; w; w = w->next)
    gate_await(&w->done, atomic_load(&w->called.opened) - 1, t.spins);
  inside = outer;
  give_back(list);
}

/* ---------------------------------------------------------------- steps */

/* Which parts of a member have been taken: taken = step * 2 KCL_PARTS_PER_THREAD + parts taken in this step. */
typedef struct cursor {
  _Alignas(CACHE_LINE) _Atomic uint64_t taken;
} cursor;

typedef struct team_steps {
  kcl_prepare *next;
  kcl_share *part;
  void *arg;
  cursor *cursor;    /* [threads] */
  atomic_bool ended; /* written before `step` is opened */
  gate step;
  _Alignas(CACHE_LINE) _Atomic int finished; /* parts of this step */
} team_steps;

/* Takes one of a member's parts; -1: all are taken, or the step is over. A cursor left from an earlier step counts as none
 * taken: a step is over when all its parts are finished. */
static int take_part(team_steps *s, int member, uint32_t step) {
  uint64_t begin = (uint64_t)step * 2 * KCL_PARTS_PER_THREAD,
           at = atomic_load(&s->cursor[member].taken), from;
  do from = at < begin ? begin : at;
  while (from < begin + KCL_PARTS_PER_THREAD &&
         !atomic_compare_exchange_weak(&s->cursor[member].taken, &at, from + 1));
  return from < begin + KCL_PARTS_PER_THREAD ? member * KCL_PARTS_PER_THREAD + (int)(from - begin)
                                             : -1;
}

static int run_parts(team_steps *s, int member, int threads, uint32_t step) {
  int count = 0;
  for (int p; (p = take_part(s, member, step)) >= 0; count++)
    s->part(s->arg, p, KCL_PARTS_PER_THREAD * threads);
  return count;
}

/* Counts finished parts; the thread that finishes the last one prepares the next step. */
static void finish_parts(team_steps *s, int count, int threads) {
  if (!count || atomic_fetch_add(&s->finished, count) + count < KCL_PARTS_PER_THREAD * threads)
    return;
  atomic_store_explicit(&s->finished, 0, memory_order_relaxed);
  s->ended = !s->next(s->arg);
  gate_open(&s->step);
}

static void run_steps(void *arg, const kcl_member *me) {
  team_steps *s = arg;
  const int n = me->threads;
  for (uint32_t step;;) {
    step = atomic_load(&s->step.opened);
    if (s->ended) return;
    finish_parts(s, run_parts(s, me->number, n, step), n);
    if (me->team->spins && gate_spin(&s->step, step, steal_seconds)) continue;
    int count = 0;
    for (int i = 1; i < n; i++) count += run_parts(s, (me->number + i) % n, n, step);
    finish_parts(s, count, n);
    gate_await(&s->step, step, me->team->spins);
  }
}

void kcl_while(int threads, kcl_prepare *next, kcl_share *part, void *arg) {
  cursor *c = threads > 1 ? aligned_alloc(CACHE_LINE, (size_t)threads * sizeof *c) : NULL;
  if (!c) {
    while (next(arg)) part(arg, 0, 1);
    return;
  }
  for (int i = 0; i < threads; i++) c[i].taken = 0;
  team_steps s = {.next = next, .part = part, .arg = arg, .cursor = c, .step = GATE};
  s.step.opened = 1;
  s.ended = !next(arg);
  kcl_parallel(threads, run_steps, &s);
  free(c);
}

/* ---------------------------------------------------------------- loops */

typedef struct parallel_loop {
  kcl_range *body;
  void *arg;
  int64_t n, grain;
  _Atomic int64_t next;
} parallel_loop;

static int threads_for(int64_t n, int64_t least) {
  int64_t worth = n / (least > 0 && !KCL_ALL_THREADS ? least : 1);
  return worth < 1 ? 1 : worth < kcl_threads() ? (int)worth : kcl_threads();
}

static void own_part(void *arg, const kcl_member *me) {
  parallel_loop *l = arg;
  int64_t per = l->n / me->threads, more = l->n % me->threads, i = me->number;
  int64_t from = per * i + (i < more ? i : more), to = from + per + (i < more);
  if (from < to) l->body(l->arg, from, to);
}

static void next_parts(void *arg, const kcl_member *me) {
  (void)me;
  parallel_loop *l = arg;
  for (int64_t at; (at = atomic_fetch_add(&l->next, l->grain)) < l->n;)
    l->body(l->arg, at, at + l->grain < l->n ? at + l->grain : l->n);
}

void kcl_for(int64_t n, int64_t least, kcl_range *body, void *arg) {
  parallel_loop l = {.body = body, .arg = arg, .n = n};
  kcl_parallel(threads_for(n, least), own_part, &l);
}

void kcl_for_each(int64_t n, int64_t grain, kcl_range *body, void *arg) {
  parallel_loop l = {.body = body, .arg = arg, .n = n, .grain = grain};
  kcl_parallel(threads_for((n + grain - 1) / grain, 1), next_parts, &l);
}

enum { REDUCTION_PARTS = 64 };
typedef struct reduction {
  kcl_part *part;
  const void *arg;
  int64_t per, n;
  double result[REDUCTION_PARTS];
} reduction;

static void reduce_parts(void *arg, int64_t from, int64_t to) {
  reduction *r = arg;
  for (int64_t k = from; k < to; k++) {
    int64_t lo = k * r->per, hi = lo + r->per < r->n ? lo + r->per : r->n;
    r->result[k] = lo < hi ? r->part(r->arg, lo, hi) : 0;
  }
}

static void reduce_all(reduction *r, int64_t least) {
  r->per = (r->n + REDUCTION_PARTS - 1) / REDUCTION_PARTS;
  kcl_for(REDUCTION_PARTS, r->per > 0 ? least / r->per + 1 : REDUCTION_PARTS, reduce_parts, r);
}

double kcl_sum(int64_t n, int64_t least, kcl_part *part, const void *arg) {
  reduction r = {.part = part, .arg = arg, .n = n};
  double sum = 0;
  reduce_all(&r, least);
  for (int k = 0; k < REDUCTION_PARTS; k++) sum += r.result[k];
  return sum;
}

double kcl_largest(int64_t n, int64_t least, kcl_part *part, const void *arg) {
  reduction r = {.part = part, .arg = arg, .n = n};
  double most = 0;
  reduce_all(&r, least);
  for (int k = 0; k < REDUCTION_PARTS; k++)
    if (r.result[k] > most || isnan(r.result[k])) most = r.result[k];
  return most;
}

void kcl_lower(_Atomic int64_t *least, int64_t value) {
  int64_t now = atomic_load(least);
  while (value < now && !atomic_compare_exchange_weak(least, &now, value)) continue;
}

void kcl_raise(_Atomic int64_t *most, int64_t value) {
  int64_t now = atomic_load(most);
  while (value > now && !atomic_compare_exchange_weak(most, &now, value)) continue;
}
