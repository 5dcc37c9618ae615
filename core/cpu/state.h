/* The state of the native executor, for its own files, which are compiled once per scalar type. */
#ifndef KCL_CPU_STATE_H
#define KCL_CPU_STATE_H

#include "core/base/scalar.h"
#include "core/cpu/cpu.h"
#include "core/program/ranks.h"

/* Chunks per stage, a multiple of PAD rows each; blocks of reproducible sums take the place of chunks. */
enum { KCL_CPU_CHUNKS = 64, KCL_CPU_PAD = 64 };

typedef struct kcl_cpu {
  const kcl_program *k;
  int dots;  /* maximum per stage */
  int block; /* elements */
  int64_t
      chunk;  /* rows of a block of reproducible sums (core/base/shape.h); 0: sums have any shape */
  int chunks; /* at most, per stage */
  double *sums; /* [nrhs][dots][parts][chunks] of them on their way to other ranks */
  scalar *
      sum; /* [parts][nrhs][dots][lanes] of the block that a part of the team sums; NULL: any shape */
  void **vec;         /* [nrhs][vectors][padded n]; constants are shared */
  scalar *temporary;  /* [parts][nrhs][KCL_MOST_TEMPORARIES][block]; NULL: no stage has any */
  scalar *slot;       /* [nrhs][slots] */
  scalar *partial[2]; /* [nrhs][dots][chunks], of two stages: latest_sums */
  kcl_control control[KCL_MAX_NRHS];
  scalar *snapshot[KCL_SNAPSHOTS]; /* [nrhs][n] copies of x; NULL until they are needed */
  int parity;                      /* of the latest stage: latest_sums */
  double *history;                 /* [nrhs][KCL_HISTORY][KCL_HISTORY_FIELDS] */
  int threads, team;               /* maximum, and in use */
  int until_trial;                 /* batches until the other team size is timed */
  double seconds;                  /* per iteration, in the last batch */
  int failed; /* of a function of the caller's in this run; on ranks the next sum reports it to all */
} kcl_cpu;

/* Partial sums alternate between two buffers: one has those of the latest stage, the other those of the stage before. */
static inline scalar *latest_sums(const kcl_cpu *e) { return e->partial[e->parity]; }
static inline scalar *earlier_sums(const kcl_cpu *e) { return e->partial[e->parity ^ 1]; }

static inline scalar coefficient_value(kcl_coef c, const scalar *slot) {
  if (c.slot < 0) return s_make(c.constant);
  scalar a = c.conjugate ? s_conj(slot[c.slot]) : slot[c.slot];
  return c.negate ? s_neg(a) : a;
}

static inline void *vector_of(const kcl_cpu *e, kcl_vec v, int rhs) {
  return e->vec[rhs * e->k->vectors + v];
}

static inline int64_t rows_of_chunk(const kcl_cpu *e, const kcl_stage *s) {
  return e->chunk ? e->chunk
                  : (s->n + KCL_CPU_CHUNKS * KCL_CPU_PAD - 1) / (KCL_CPU_CHUNKS * KCL_CPU_PAD) *
                        KCL_CPU_PAD;
}

static inline int full_chunks(const kcl_cpu *e, const kcl_stage *s) {
  return s->n ? (int)((s->n - 1) / rows_of_chunk(e, s)) + 1 : 0;
}

/* Scalars that a dot adds to within a chunk. */
static inline int lanes_of_sum(const kcl_cpu *e) { return e->chunk ? KCL_SUM_LANES : 1; }

/* The lanes of a sum that so many rows add to, with others, which are zero, up to a power of two. */
static inline int lanes_of_rows(int64_t rows) {
  int lanes = 8;
  while (lanes < rows && lanes < KCL_SUM_LANES) lanes *= 2;
  return lanes;
}

/* The tree of core/base/shape.h; lanes beyond these are zero. */
static inline scalar add_up_lanes(scalar *lane, int lanes) {
  for (int reach = lanes / 2; reach > 0; reach /= 2) {
    KCL_SIMD
    for (int l = 0; l < reach; l++) lane[l] = s_add(lane[l], lane[l + reach]);
  }
  return lane[0];
}

/* The sum of the partial sums of all chunks. */
static inline scalar total_of_chunks(const kcl_cpu *e, const scalar *partial) {
  scalar lane[KCL_SUM_LANES], total = s_make(0);
  const int lanes = lanes_of_rows(e->chunks);
  for (int c = 0; !e->chunk && c < e->chunks; c++) total = s_add(total, partial[c]);
  if (!e->chunk) return total;
  for (int l = 0; l < lanes; l++) lane[l] = s_make(0);
  for (int c = 0; c < e->chunks; c++)
    lane[c % KCL_SUM_LANES] = s_add(lane[c % KCL_SUM_LANES], partial[c]);
  return add_up_lanes(lane, lanes);
}

/* ---------------------------------------------------------------- one stage (stage.c, scalars.c) */

/* Runs a stage on a chunk of its rows, for the active right-hand sides: the product, then the vector operations. part: of the team. */
void KCL_TYPED(kcl_cpu_run_chunk)(const kcl_cpu *e, const kcl_stage *s, const bool *active,
                                  int part, int chunk);
/* Computes the scalars of stage s for one right-hand side after the dots of the stage before, which it reduces from partial:
 * [dots][chunks]. */
void KCL_TYPED(kcl_cpu_run_scalars)(kcl_cpu *e, const kcl_stage *s, const kcl_stage *before,
                                    const scalar *partial, int rhs);
/* Seeds the partial sums of stage `last` with known sums; the first stage of LOOP reduces them. */
void KCL_TYPED(kcl_cpu_seed_partials)(const kcl_cpu *e, const kcl_stage *last, const scalar *slot,
                                      scalar *partial);

/* ---------------------------------------------------------------- batches of passes (batch.c) */

/* y = alpha q + beta y; an operand whose coefficient is zero is not read. */
typedef struct kcl_cpu_axpby {
  scalar alpha, beta, *y;
  const scalar *q;
} kcl_cpu_axpby;
/* For kcl_for: the elements [first, end) of a kcl_cpu_axpby. */
void KCL_TYPED(kcl_cpu_add_scaled)(void *axpby, int64_t first, int64_t end);
/* Runs a phase so many times, or until all right-hand sides stopped, on a team of so many threads. after [nrhs]: added to each chunk of the
 * product while it is in the cache; NULL: none. */
int KCL_TYPED(kcl_cpu_run_team)(kcl_cpu *e, kcl_phase phase, int64_t passes, int team,
                                const kcl_cpu_axpby *after);

/* ---------------------------------------------------------------- several ranks (ranks.c) */

/* Begins the halo exchange of a stage, before its threads begin. */
void KCL_TYPED(kcl_cpu_begin_halo)(const kcl_cpu *e, const kcl_stage *s, const bool *active);
/* Ends it, after its threads have ended. */
void KCL_TYPED(kcl_cpu_end_halo)(const kcl_cpu *e, const kcl_stage *s, const bool *active);
/* Adds the sums of a stage over the ranks, after its threads have ended. */
int KCL_TYPED(kcl_cpu_sum)(const kcl_cpu *e, const kcl_stage *s, const bool *active);
/* Begins to add this rank's sums of a stage over the ranks, and reports its failure; end_sum waits for the result and stores it in partial. */
void KCL_TYPED(kcl_cpu_begin_sum)(const kcl_cpu *e, const kcl_stage *s, const bool *active);
int KCL_TYPED(kcl_cpu_end_sum)(const kcl_cpu *e, const kcl_stage *s, const bool *active,
                               scalar *partial);
/* Takes part in the exchanges of a stage in which no right-hand side of this rank is active. */
int KCL_TYPED(kcl_cpu_idle)(const kcl_cpu *e, const kcl_stage *s);

#endif
