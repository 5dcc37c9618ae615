/* The state of the native executor and one stage on a part of its rows: the meaning of every operation, with which the
 * other executors must agree. For core/cpu/executor.c alone, in one translation unit so that rounding does not depend on
 * what the compiler inlines.
 *
 * Fusion without generated code: a chunk of rows is divided into blocks that fit the L1 cache, and the operations of a
 * stage run one after another on a block. The memory traffic is that of one fused loop; the other passes hit the cache.
 */
#ifndef KCL_CPU_STAGE_H
#define KCL_CPU_STAGE_H

#include "core/base/context.h"
#include "core/base/scalar.h"
#include "core/program/executor.h"
#include <string.h>

enum { CHUNKS = 64, PAD = 64 }; /* chunks per stage, a multiple of PAD rows each */

typedef struct cpu {
  const kcl_program *k;
  int dots;           /* maximum per stage */
  int block;          /* elements */
  int64_t chunk;      /* rows of a chunk fixed by several ranks; 0: by the number of rows */
  double *sums;       /* [nrhs][dots][parts][CHUNKS] of them on their way */
  scalar **vec;       /* [nrhs][vectors][padded n]; constants are shared */
  scalar *slot;       /* [nrhs][slots] */
  scalar *partial[2]; /* [nrhs][dots][CHUNKS], written by even and odd stages */
  kcl_control control[KCL_MAX_NRHS];
  scalar *snapshot[KCL_SNAPSHOTS]; /* [nrhs][n] copies of x; NULL until they are needed */
  int parity;                      /* of the last stage */
  double *history;                 /* [nrhs][KCL_HISTORY][KCL_HISTORY_FIELDS] */
  int threads, team;               /* maximum, and in use */
  int until_trial;                 /* batches until the other team size is timed */
  double seconds;                  /* per iteration, in the last batch */
} cpu;

/* ---------------------------------------------------------------- one operation on one block */

static scalar value(kcl_coef c, const scalar *slot) {
  if (c.slot < 0) return s_make(c.constant);
  scalar a = c.conjugate ? s_conj(slot[c.slot]) : slot[c.slot];
  return c.negate ? s_neg(a) : a;
}

/* y = a x + b z; an operand whose coefficient is the constant 0 is not read. */
static void lincomb(scalar *y, scalar a, const scalar *x, scalar b, const scalar *z,
                    const kcl_op *o, int n) {
  if (is_constant(o->b, 0) && is_constant(o->a, 0)) {
    memset(y, 0, (size_t)n * sizeof *y);
  } else if (is_constant(o->b, 0) && is_constant(o->a, 1)) {
    if (y != x) memcpy(y, x, (size_t)n * sizeof *y);
  } else if (is_constant(o->b, 0)) {
    KCL_SIMD
    for (int i = 0; i < n; i++) y[i] = s_mul(a, x[i]);
  } else if (is_constant(o->a, 1)) {
    KCL_SIMD
    for (int i = 0; i < n; i++) y[i] = s_fma(b, z[i], x[i]);
  } else if (is_constant(o->b, 1)) {
    KCL_SIMD
    for (int i = 0; i < n; i++) y[i] = s_fma(a, x[i], z[i]);
  } else {
    KCL_SIMD
    for (int i = 0; i < n; i++) y[i] = s_fma(a, x[i], s_mul(b, z[i]));
  }
}

static void times(scalar *y, const scalar *d, const scalar *x, bool conjugated, int n) {
  if (conjugated)
    for (int i = 0; i < n; i++) y[i] = s_mul(s_conj(d[i]), x[i]);
  else
    for (int i = 0; i < n; i++) y[i] = s_mul(d[i], x[i]);
}

static scalar dot(const scalar *x, const scalar *y, bool plain, int n) {
  real re = 0;
#if KCL_PARTS == 1
  (void)plain;
#pragma omp simd reduction(+ : re)
  for (int i = 0; i < n; i++) re += x[i] * y[i];
  return re;
#else
  real im = 0, sign = plain ? -1 : 1;
#pragma omp simd reduction(+ : re, im)
  for (int i = 0; i < n; i++) {
    re += x[i].re * y[i].re + sign * x[i].im * y[i].im;
    im += x[i].re * y[i].im - sign * x[i].im * y[i].re;
  }
  return (scalar){re, im};
#endif
}

/* ---------------------------------------------------------------- one chunk */

/* The vector operations for one right-hand side, after its product, on the block [lo, hi). */
static void run_block(const kcl_stage *s, scalar **vec, const scalar *slot, int64_t lo, int64_t hi,
                      scalar *sum) {
  int n = (int)(hi - lo), d = 0;
  for (int i = 0; i < s->vectors; i++) {
    const kcl_op *o = &s->vector[i];
    scalar *y = vec[o->y] + lo, *x = vec[o->x] + lo, *z = vec[o->z] + lo;
    if (o->code == KCL_OP_LINCOMB) lincomb(y, value(o->a, slot), x, value(o->b, slot), z, o, n);
    if (o->code == KCL_OP_TIMES) times(y, x, z, o->conjugate, n);
    if (o->code == KCL_OP_DOT) sum[d] = s_add(sum[d], dot(x, y, o->plain, n)), d++;
  }
}

static scalar *vector(const cpu *e, kcl_vec v, int rhs) { return e->vec[rhs * e->k->vectors + v]; }

static void product(const cpu *e, const kcl_stage *s, const int *rhs, int count, int64_t lo,
                    int64_t hi) {
  const kcl_format *f = s->A->format;
  const void *x[KCL_MAX_NRHS];
  void *y[KCL_MAX_NRHS];
  for (int i = 0; i < count; i++) x[i] = vector(e, s->x, rhs[i]), y[i] = vector(e, s->y, rhs[i]);
  if (count > 1)
    f->rows_multi(s->A, count, x, y, lo, hi);
  else
    f->rows(s->A, x[0], y[0], lo, hi);
}

static int64_t rows_of_chunk(const cpu *e, const kcl_stage *s) {
  return e->chunk ? e->chunk : (s->n + CHUNKS * PAD - 1) / (CHUNKS * PAD) * PAD;
}

static int full_chunks(const cpu *e, const kcl_stage *s) {
  return s->n ? (int)((s->n - 1) / rows_of_chunk(e, s)) + 1 : 0;
}

/* The active right-hand sides share a block of the matrix if the format can; otherwise they sweep the chunk one after
 * another and share what the caches keep of the matrix. */
static void run_chunk(const cpu *e, const kcl_stage *s, const scalar *slot, const bool *active,
                      int chunk, scalar *partial) {
  enum { MOST_DOTS = 64 };
  scalar sum[KCL_MAX_NRHS][MOST_DOTS];
  int dots = kcl_stage_dots(s), count = 0, rhs[KCL_MAX_NRHS];
  int64_t per = rows_of_chunk(e, s);
  int64_t lo = chunk * per, hi = lo + per < s->n ? lo + per : s->n;
  for (int c = 0; c < e->k->nrhs; c++)
    if (active[c]) rhs[count++] = c;
  for (int c = 0; c < count; c++)
    for (int d = 0; d < dots; d++) sum[c][d] = s_make(0);
  const bool multiplies = s->A && !s->A->steps;
  bool together = multiplies && count > 1 && s->A->format->rows_multi;
  int64_t step = together ? e->block : per;
  for (int64_t from = lo; from < hi; from += step) {
    int64_t to = from + step < hi ? from + step : hi;
    if (together) product(e, s, rhs, count, from, to);
    for (int c = 0; c < count; c++)
      for (int64_t i = from; i < to; i += e->block) {
        int64_t end = i + e->block < to ? i + e->block : to;
        if (multiplies && !together) product(e, s, &rhs[c], 1, i, end);
        run_block(s, e->vec + rhs[c] * e->k->vectors, slot + rhs[c] * e->k->slots, i, end, sum[c]);
      }
  }
  for (int c = 0; c < count; c++)
    for (int d = 0; d < dots; d++) partial[(rhs[c] * e->dots + d) * CHUNKS + chunk] = sum[c][d];
}

/* ---------------------------------------------------------------- scalars, computed redundantly by every thread */

static void stop_when(kcl_control *h, bool condition, int reason) {
  if (condition && !h->stop && !h->tests_off) h->stop = 1 + reason;
}

static void run_scalar(const cpu *e, const kcl_op *o, scalar *slot, kcl_control *h, double *entry) {
  scalar a = value(o->a, slot), b = value(o->b, slot);
  real test = s_re(slot[o->slot]);
  switch (o->code) {
  case KCL_OP_ASSIGN: slot[o->slot] = a; break;
  case KCL_OP_DIVIDE: slot[o->slot] = s_div(a, b); break;
  case KCL_OP_MULTIPLY: slot[o->slot] = s_mul(a, b); break;
  case KCL_OP_ADD: slot[o->slot] = s_add(a, b); break;
  case KCL_OP_ROOT: slot[o->slot] = s_root(a); break;
  case KCL_OP_MODULUS: slot[o->slot] = s_modulus(a); break;
  case KCL_OP_LEAST: slot[o->slot] = s_re(a) > s_re(b) ? b : a; break;
  case KCL_OP_POSITIVE:
    stop_when(h, test <= 0, (int)o->reason), stop_when(h, !(test > 0), KCL_NOT_FINITE);
    break;
  case KCL_OP_NONZERO: stop_when(h, s_zero(slot[o->slot]), (int)o->reason); break;
  case KCL_OP_RITZ:
    if (entry) entry[1] = (double)s_re(a), entry[2] = (double)s_re(b);
    break;
  case KCL_OP_STEP:
    if (entry) entry[0] = (double)test;
    h->iteration++;
    stop_when(h, !(test < (real)INFINITY), KCL_NOT_FINITE);
    stop_when(h, test <= s_re(slot[e->k->target]), KCL_CONVERGED);
    stop_when(h, h->iteration >= h->limit, KCL_ITERATION_LIMIT);
    if (o->in_cycle) h->cycle_open = h->stop && h->stop != 1 + KCL_NOT_FINITE;
    break;
  case KCL_OP_CYCLE_END: h->cycle_open = 0; break;
  default: break;
  }
}

/* The scalars of stage s for one right-hand side, after the dot products of the stage before, reduced from partial:
 * [dots][CHUNKS]. history: of this right-hand side, or NULL. */
static void run_scalars(const cpu *e, const kcl_stage *s, const kcl_stage *before,
                        const scalar *partial, scalar *slot, kcl_control *h, double *history) {
  bool ran = before && (!h->stop || before->cycle_end); /* the stage before was active */
  for (int i = 0, d = 0; ran && i < before->vectors; i++) {
    if (before->vector[i].code != KCL_OP_DOT) continue;
    scalar total = s_make(0);
    for (int c = 0; c < CHUNKS; c++) total = s_add(total, partial[d * CHUNKS + c]);
    slot[before->vector[i].slot] = total;
    d++;
  }
  for (int i = 0; i < s->scalars; i++) {
    double *entry = history ? history + h->iteration % KCL_HISTORY * KCL_HISTORY_FIELDS : NULL;
    run_scalar(e, &s->scalar[i], slot, h, entry);
  }
}

/* Seeds the partial sums of stage `last` with known sums; the first stage of LOOP reduces them. */
static void seed_partials(const kcl_stage *last, const scalar *slot, scalar *partial) {
  for (int i = 0, d = 0; i < last->vectors; i++) {
    if (last->vector[i].code != KCL_OP_DOT) continue;
    for (int c = 0; c < CHUNKS; c++)
      partial[d * CHUNKS + c] = c ? s_make(0) : slot[last->vector[i].slot];
    d++;
  }
}

#endif
