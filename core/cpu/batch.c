/* Batches of passes of the native executor: what a thread does between two stages, and each thread in them.
 *
 * The rows of a stage are divided into chunks. Their number, and with it the order of every sum, does not depend on the
 * number of threads: the bits are the same on 1 or 64. Several right-hand sides share a block of the matrix if the format
 * can, and each has the bits of a solve alone. A product that is a function of the caller's stands between two parallel
 * regions, in the thread that called the library.
 * Compiled once per scalar type.
 */
#include "core/cpu/state.h"

static bool any(const bool *of, int nrhs) {
  for (int c = 0; c < nrhs; c++)
    if (of[c]) return true;
  return false;
}

static bool any_running(const kcl_control *control, int nrhs) {
  for (int c = 0; c < nrhs; c++)
    if (!control[c].stop) return true;
  return false;
}

void KCL_TYPED(kcl_cpu_add_scaled)(void *arg, int64_t first, int64_t end) {
  const kcl_cpu_axpby *s = arg;
  const bool q = !s_zero(s->alpha), y = !s_zero(s->beta), whole = s_one(s->alpha);
  for (int64_t i = first; i < end; i++) {
    scalar a = !q ? s_make(0) : whole ? s->q[i] : s_mul(s->alpha, s->q[i]);
    s->y[i] = y ? s_fma(s->beta, s->y[i], a) : a;
  }
}

enum { CALLING = -1 }; /* the product of the stage is a function of the caller's, to be called */

typedef struct cpu_batch {
  kcl_cpu *e;
  kcl_phase phase;
  int64_t passes; /* left */
  int stage;      /* the next */
  int64_t step;   /* of the stage that runs: of its product, then of its vectors; or CALLING */
  bool active[KCL_MAX_NRHS];
  const kcl_cpu_axpby
      *after; /* [nrhs] of each chunk of the product, while it is in the cache; NULL: none */
  const kcl_stage *ran;    /* the last one; NULL: none yet */
  const kcl_stage *summed; /* the one before, whose sums are on their way to all ranks; or NULL */
  int status;              /* of any rank, or of this process alone; the batch ends */
} cpu_batch;

/* Computes the scalars of stage i for each active right-hand side from the sums of the stage before it; own_sums: where a stage
 * that seeds sums leaves them. */
static void scalars_of_stage(cpu_batch *b, int i, const scalar *sums, scalar *own_sums) {
  kcl_cpu *e = b->e;
  const kcl_program *k = e->k;
  const kcl_stage *s = &k->stage[b->phase][i], *before = kcl_stage_previous(k, b->phase, i),
                  *seeds = kcl_stage_seeds(k, b->phase, i);
  for (int c = 0; c < k->nrhs; c++) {
    const kcl_control *control = &e->control[c];
    const int64_t at = (int64_t)c * e->dots * e->chunks;
    b->active[c] = !control->stop || (control->cycle_open && s->cycle_end);
    if (!b->active[c]) continue;
    KCL_TYPED(kcl_cpu_run_scalars)(e, s, before, sums + at, c);
    if (seeds) KCL_TYPED(kcl_cpu_seed_partials)(e, seeds, e->slot + c * k->slots, own_sums + at);
  }
}

static bool ranks_are_unlike(const kcl_cpu *e) {
  const kcl_ranks *ranks = kcl_program_ranks(e->k);
  return ranks && ranks->unlike;
}

static bool pass_is_last(cpu_batch *b) {
  return b->passes-- == 0 ||
         (!any_running(b->e->control, b->e->k->nrhs) && !ranks_are_unlike(b->e));
}

/* Steps of a stage: a product in steps has a barrier after each, and the vector operations follow in one more. */
static int64_t count_stage_steps(const kcl_stage *s) {
  return s->A && s->A->steps ? s->A->steps + (s->vectors > 0) : 1;
}

static void run_step(const cpu_batch *b, const kcl_stage *s, int part, int parts) {
  const kcl_cpu *e = b->e;
  for (int c = 0; c < e->k->nrhs; c++)
    if (b->active[c])
      s->A->format->step(s->A, vector_of(e, s->x, c), vector_of(e, s->y, c), b->step, part, parts);
}

/* Can the next stage run before the sums of the last one are added over the ranks? Not where executors of both kinds take part: an
 * OpenCL executor waits for each sum, and ends there if it fails. */
static bool next_runs_ahead(const cpu_batch *b) {
  const kcl_program *k = b->e->k;
  const kcl_ranks *ranks = kcl_program_ranks(k);
  const bool last = b->stage == k->stages[b->phase];
  if (!ranks || ranks->sum_rows || ranks->unlike || !kcl_stage_dots(b->ran)) return false;
  if (last && (!b->passes || !any_running(b->e->control, k->nrhs))) return false;
  for (int c = 0; c < k->nrhs; c++)
    if (b->active[c] == (b->e->control[c].stop != 0)) return false; /* its scalars stopped one */
  return kcl_stage_runs_ahead(&k->stage[b->phase][last ? 0 : b->stage], b->ran);
}

/* After a stage that ran ahead of sums: waits for the sums, and computes the stage's scalars from them. */
static void catch_up_scalars(cpu_batch *b) {
  kcl_cpu *e = b->e;
  scalar *sums = earlier_sums(e);
  b->status = KCL_TYPED(kcl_cpu_end_sum)(e, b->summed, b->active, sums);
  if (!b->status) scalars_of_stage(b, b->stage - 1, sums, latest_sums(e));
  b->summed = NULL;
}

static void end_stage(cpu_batch *b) {
  kcl_cpu *e = b->e;
  KCL_TYPED(kcl_cpu_end_halo)(e, b->ran, b->active);
  if (b->summed)
    catch_up_scalars(b);
  else if (next_runs_ahead(b))
    KCL_TYPED(kcl_cpu_begin_sum)(e, b->summed = b->ran, b->active);
  else
    b->status = KCL_TYPED(kcl_cpu_sum)(e, b->ran, b->active);
}

/* Finds the next stage that is active for a right-hand side, and computes its scalars. False: the batch has ended. */
static bool find_active_stage(cpu_batch *b) {
  kcl_cpu *e = b->e;
  for (;;) {
    if (b->stage == e->k->stages[b->phase]) b->stage = 0;
    if (b->status || (b->stage == 0 && pass_is_last(b))) return false;
    if (!b->summed) scalars_of_stage(b, b->stage, latest_sums(e), earlier_sums(e));
    b->stage++;
    if (any(b->active, e->k->nrhs)) return true;
    if (ranks_are_unlike(e))
      b->status = KCL_TYPED(kcl_cpu_idle)(e, &e->k->stage[b->phase][b->stage - 1]);
  }
}

/* The stage becomes the latest: its sums overwrite those of the stage before the last one. */
static void begin_stage(cpu_batch *b) {
  b->e->parity ^= 1;
  b->ran = &b->e->k->stage[b->phase][b->stage - 1];
  b->step = b->ran->called ? CALLING : 0;
  KCL_TYPED(kcl_cpu_begin_halo)(b->e, b->ran, b->active);
}

/* In the thread that called the library. On ranks a failure ends the batch at the next sum: until then this rank takes part in the
 * exchanges of stages, and calls functions, which may exchange as well. */
static void call_function(cpu_batch *b) {
  const kcl_stage *s = b->ran;
  int rc = KCL_OK;
  for (int c = 0; c < b->e->k->nrhs && !rc; c++)
    if (b->active[c])
      rc = kcl_shell_apply(s->called, vector_of(b->e, s->x, c), vector_of(b->e, s->y, c), NULL);
  if (!b->e->failed) b->e->failed = rc;
  if (!kcl_program_ranks(b->e->k)) b->status = rc;
}

/* Advances to the next step of the stage, or to the next active stage. False: the batch has ended, or the parallel region, for a
 * function of the caller's. */
static bool next_stage(void *arg) {
  cpu_batch *b = arg;
  if (b->ran && ++b->step < count_stage_steps(b->ran)) return true;
  if (b->ran) end_stage(b);
  if (!find_active_stage(b)) return false;
  begin_stage(b);
  return b->step != CALLING;
}

static void add_chunk(const cpu_batch *b, const kcl_stage *s, int chunk) {
  const int64_t per = rows_of_chunk(b->e, s), lo = chunk * per,
                hi = lo + per < s->n ? lo + per : s->n;
  for (int c = 0; c < b->e->k->nrhs && lo < hi; c++)
    if (b->active[c]) KCL_TYPED(kcl_cpu_add_scaled)((void *)(uintptr_t)&b->after[c], lo, hi);
}

/* Sets the sums of the chunks beyond the last row to zero. */
static void clear_empty_chunks(const cpu_batch *b, const kcl_stage *s, int full) {
  const kcl_cpu *e = b->e;
  const int dots = kcl_stage_dots(s);
  for (int c = 0; c < e->k->nrhs; c++)
    for (int d = 0; d < dots && b->active[c]; d++) {
      scalar *sums = latest_sums(e) + (c * e->dots + d) * e->chunks;
      memset(sums + full, 0, (size_t)(e->chunks - full) * sizeof *sums);
    }
}

/* Runs one part of a stage: its chunks of rows; the last part clears the sums of the empty ones. */
static void run_part(void *arg, int part, int parts) {
  const cpu_batch *b = arg;
  kcl_cpu *e = b->e;
  const kcl_stage *s = &e->k->stage[b->phase][b->stage - 1];
  if (s->A && b->step < s->A->steps) {
    run_step(b, s, part, parts);
    return;
  }
  const int full = full_chunks(e, s);
  for (int c = full * part / parts; c < full * (part + 1) / parts; c++) {
    KCL_TYPED(kcl_cpu_run_chunk)(e, s, b->active, part, c);
    if (b->after) add_chunk(b, s, c);
  }
  if (part + 1 == parts) clear_empty_chunks(b, s, full);
}

int KCL_TYPED(kcl_cpu_run_team)(kcl_cpu *e, kcl_phase phase, int64_t passes, int team,
                                const kcl_cpu_axpby *after) {
  cpu_batch b = {.e = e, .phase = phase, .passes = passes, .after = after};
  if (e->k->stages[phase]) kcl_while(team, next_stage, run_part, &b);
  while (!b.status && b.step == CALLING) {
    call_function(&b);
    if (!b.status) kcl_while(team, next_stage, run_part, &b);
  }
  return b.status;
}
