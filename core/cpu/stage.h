/* The state of the native executor and one stage on a part of its rows: the meaning of every operation, with which the
 * other executors must agree. For core/cpu/executor.c alone, in one translation unit so that rounding does not depend on
 * what the compiler inlines.
 *
 * Fusion without generated code: a chunk of rows is divided into blocks that fit the L1 cache, and the operations of a
 * stage run one after another on a block. The memory traffic equals one fused loop's; the other passes hit the cache.
 */
#ifndef KCL_CPU_STAGE_H
#define KCL_CPU_STAGE_H

#include "core/base/context.h"
#include "core/base/scalar.h"
#include "core/program/executor.h"
#include <string.h>

enum { KCL_CPU_CHUNKS = 64, KCL_CPU_PAD = 64 }; /* chunks per stage, a multiple of PAD rows each */

typedef struct kcl_cpu {
  const kcl_program *k;
  int dots;           /* maximum per stage */
  int block;          /* elements */
  int64_t chunk;      /* rows of a chunk fixed by several ranks; 0: by the number of rows */
  double *sums;       /* [nrhs][dots][parts][KCL_CPU_CHUNKS] of them on their way */
  void **vec;         /* [nrhs][vectors][padded n]; constants are shared */
  scalar *temporary;  /* [parts][nrhs][KCL_MOST_TEMPORARIES][block]; NULL: no stage has any */
  scalar *slot;       /* [nrhs][slots] */
  scalar *partial[2]; /* [nrhs][dots][KCL_CPU_CHUNKS], of two stages: latest_sums */
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
static scalar *latest_sums(const kcl_cpu *e) { return e->partial[e->parity]; }
static scalar *earlier_sums(const kcl_cpu *e) { return e->partial[e->parity ^ 1]; }

/* ---------------------------------------------------------------- one operation on one block */

static scalar coefficient_value(kcl_coef c, const scalar *slot) {
  if (c.slot < 0) return s_make(c.constant);
  scalar a = c.conjugate ? s_conj(slot[c.slot]) : slot[c.slot];
  return c.negate ? s_neg(a) : a;
}

/* y = a x + b z; an operand whose coefficient is the constant 0 is not read. */
static void run_lincomb(scalar *y, scalar a, const scalar *x, scalar b, const scalar *z,
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

static void multiply_elements(scalar *y, const scalar *d, const scalar *x, bool conjugated, int n) {
  if (conjugated)
    for (int i = 0; i < n; i++) y[i] = s_mul(s_conj(d[i]), x[i]);
  else
    for (int i = 0; i < n; i++) y[i] = s_mul(d[i], x[i]);
}

static scalar dot_elements(const scalar *x, const scalar *y, bool plain, int n) {
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

/* Any vector operation but a dot. */
static void run_elementwise(const kcl_op *o, scalar *y, scalar a, const scalar *x, scalar b,
                            const scalar *z, int n) {
  if (o->code == KCL_OP_LINCOMB)
    run_lincomb(y, a, x, b, z, o, n);
  else
    multiply_elements(y, x, z, o->conjugate, n);
}

/* ---------------------------------------------------------------- narrow vectors */

enum { KCL_CPU_CONVERTED = 512 };

static bool is_narrow_vector(const kcl_cpu *e, kcl_vec v) { return e->k->vector[v].narrow; }

static int64_t vector_element_bytes(const kcl_cpu *e, kcl_vec v) {
  return (int64_t)(is_narrow_vector(e, v) ? sizeof(float) : sizeof(scalar));
}

/* A stage on a row block for one right-hand side. */
typedef struct kcl_cpu_block {
  const kcl_cpu *e;
  const kcl_stage *s;
  void *const *vec;   /* of the right-hand side */
  const scalar *slot; /* the same */
  scalar *temporary;  /* the same, of this part: [KCL_MOST_TEMPORARIES][block] */
  int rhs;
  int64_t lo, hi;
} kcl_cpu_block;

/* Where element i of a vector is. A temporary vector has elements for the block alone. */
static void *element_address(const kcl_cpu_block *b, kcl_vec v, int64_t i) {
  const int t = kcl_stage_temporary(b->s, v);
  const int64_t bytes = vector_element_bytes(b->e, v);
  if (t < 0) return (char *)b->vec[v] + i * bytes;
  return (char *)(b->temporary + (int64_t)t * b->e->block) + (i - b->lo) * bytes;
}

/* n elements of a vector from i on, where they are, or in `capacity`. */
static scalar *widen_elements(const kcl_cpu_block *b, kcl_vec v, int64_t i, int n,
                              scalar *capacity) {
  const float *from = element_address(b, v, i);
  if (!is_narrow_vector(b->e, v)) return element_address(b, v, i);
  for (int l = 0; l < n; l++) capacity[l] = s_make((double)from[l]);
  return capacity;
}

static void narrow_elements(const scalar *from, float *to, int n) {
  for (int l = 0; l < n; l++) to[l] = (float)s_re(from[l]);
}

/* An operation with both narrow and wide vectors: converts KCL_CPU_CONVERTED elements of the narrow ones at a time. */
static void run_with_narrow(const kcl_cpu_block *b, const kcl_op *o, scalar *sum) {
  scalar capacity[3][KCL_CPU_CONVERTED];
  for (int64_t i = b->lo; i < b->hi; i += KCL_CPU_CONVERTED) {
    const int n = b->hi - i < KCL_CPU_CONVERTED ? (int)(b->hi - i) : KCL_CPU_CONVERTED;
    scalar *y = widen_elements(b, o->y, i, n, capacity[0]),
           *x = widen_elements(b, o->x, i, n, capacity[1]),
           *z = widen_elements(b, o->z, i, n, capacity[2]);
    if (o->code == KCL_OP_DOT)
      *sum = s_add(*sum, dot_elements(x, y, o->plain, n));
    else
      run_elementwise(o, y, coefficient_value(o->a, b->slot), x, coefficient_value(o->b, b->slot),
                      z, n);
    if (o->code != KCL_OP_DOT && is_narrow_vector(b->e, o->y))
      narrow_elements(y, element_address(b, o->y, i), n);
  }
}

/* ---------------------------------------------------------------- one chunk */

static void run_operation(const kcl_cpu_block *b, const kcl_op *o, scalar *sum) {
  const int n = (int)(b->hi - b->lo), narrow = is_narrow_vector(b->e, o->x) +
                                               is_narrow_vector(b->e, o->y) +
                                               is_narrow_vector(b->e, o->z);
  void *y = element_address(b, o->y, b->lo), *x = element_address(b, o->x, b->lo),
       *z = element_address(b, o->z, b->lo);
  const scalar c = coefficient_value(o->a, b->slot), d = coefficient_value(o->b, b->slot);
  if (narrow == 3 && o->code != KCL_OP_DOT)
    kcl_cpu_operation_s(o, y, (float)s_re(c), x, (float)s_re(d), z, n);
  else if (narrow)
    run_with_narrow(b, o, sum);
  else if (o->code == KCL_OP_DOT)
    *sum = s_add(*sum, dot_elements(x, y, o->plain, n));
  else
    run_elementwise(o, y, c, x, d, z, n);
}

/* The vector operations of a stage on one row block, after the product. */
static void run_row_block(const kcl_cpu_block *b, scalar *sum) {
  for (int i = 0, d = 0; i < b->s->vectors; i++) {
    run_operation(b, &b->s->vector[i], &sum[d]);
    d += b->s->vector[i].code == KCL_OP_DOT;
  }
}

static void *vector_of(const kcl_cpu *e, kcl_vec v, int rhs) {
  return e->vec[rhs * e->k->vectors + v];
}

/* The address of y's element 0, computed from element b->lo: a temporary vector stores the block's elements alone. */
static void *start_of_vector(const kcl_cpu_block *b, kcl_vec y) {
  return (void *)((uintptr_t)element_address(b, y, b->lo) -
                  (uintptr_t)(b->lo * vector_element_bytes(b->e, y)));
}

/* y = A x of `count` right-hand sides on the same rows. */
static void multiply_blocks(const kcl_cpu_block *b, int count) {
  const kcl_stage *s = b->s;
  const kcl_format *f = is_narrow_vector(b->e, s->x) ? s->A->format->narrow : s->A->format;
  const void *x[KCL_MAX_NRHS];
  void *y[KCL_MAX_NRHS];
  for (int c = 0; c < count; c++) x[c] = b[c].vec[s->x], y[c] = start_of_vector(&b[c], s->y);
  if (count > 1)
    f->rows_multi(s->A, count, x, y, b->lo, b->hi);
  else
    f->rows(s->A, x[0], y[0], b->lo, b->hi);
}

static int64_t rows_of_chunk(const kcl_cpu *e, const kcl_stage *s) {
  return e->chunk ? e->chunk
                  : (s->n + KCL_CPU_CHUNKS * KCL_CPU_PAD - 1) / (KCL_CPU_CHUNKS * KCL_CPU_PAD) *
                        KCL_CPU_PAD;
}

static int full_chunks(const kcl_cpu *e, const kcl_stage *s) {
  return s->n ? (int)((s->n - 1) / rows_of_chunk(e, s)) + 1 : 0;
}

/* Makes a block for each active right-hand side, for this part of the stage; returns their number. */
static int make_blocks(const kcl_cpu *e, const kcl_stage *s, const scalar *slot, const bool *active,
                       int part, kcl_cpu_block *b) {
  const int64_t temporaries = (int64_t)KCL_MOST_TEMPORARIES * e->block;
  int count = 0;
  for (int c = 0; c < e->k->nrhs; c++)
    if (active[c])
      b[count++] = (kcl_cpu_block){
          .e = e,
          .s = s,
          .vec = e->vec + c * e->k->vectors,
          .slot = slot + c * e->k->slots,
          .rhs = c,
          .temporary = e->temporary ? e->temporary + (part * e->k->nrhs + c) * temporaries : NULL};
  return count;
}

/* The active right-hand sides share a block of the matrix if the format can; otherwise they sweep the chunk one after
 * another and share what the caches keep of the matrix. */
static void run_chunk(const kcl_cpu *e, const kcl_stage *s, const scalar *slot, const bool *active,
                      int part, int chunk, scalar *partial) {
  enum { KCL_CPU_MOST_DOTS = 64 };
  scalar sum[KCL_MAX_NRHS][KCL_CPU_MOST_DOTS];
  kcl_cpu_block b[KCL_MAX_NRHS];
  const int dots = kcl_stage_dots(s), count = make_blocks(e, s, slot, active, part, b);
  const int64_t per = rows_of_chunk(e, s), lo = chunk * per, hi = lo + per < s->n ? lo + per : s->n;
  for (int c = 0; c < count; c++)
    for (int d = 0; d < dots; d++) sum[c][d] = s_make(0);
  const bool multiplies = s->A && !s->A->steps,
             together = multiplies && count > 1 && s->A->format->rows_multi;
  const int64_t step = together ? e->block : per;
  for (int64_t from = lo; from < hi; from += step) {
    const int64_t to = from + step < hi ? from + step : hi;
    for (int c = 0; c < count; c++) b[c].lo = from, b[c].hi = to;
    if (together) multiply_blocks(b, count);
    for (int c = 0; c < count; c++)
      for (int64_t i = from; i < to; i += e->block) {
        b[c].lo = i, b[c].hi = i + e->block < to ? i + e->block : to;
        if (multiplies && !together) multiply_blocks(&b[c], 1);
        run_row_block(&b[c], sum[c]);
      }
  }
  for (int c = 0; c < count; c++)
    for (int d = 0; d < dots; d++)
      partial[(b[c].rhs * e->dots + d) * KCL_CPU_CHUNKS + chunk] = sum[c][d];
}

/* ---------------------------------------------------------------- scalars, computed redundantly by every thread */

static void stop_when(kcl_control *h, bool condition, int reason) {
  if (condition && !h->stop && !h->tests_off) h->stop = 1 + reason;
}

static void run_scalar(const kcl_cpu *e, const kcl_op *o, scalar *slot, kcl_control *h,
                       double *entry) {
  scalar a = coefficient_value(o->a, slot), b = coefficient_value(o->b, slot);
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
  case KCL_OP_END_ITERATION:
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
 * [dots][KCL_CPU_CHUNKS]. history: of this right-hand side, or NULL. */
static void run_scalars(const kcl_cpu *e, const kcl_stage *s, const kcl_stage *before,
                        const scalar *partial, scalar *slot, kcl_control *h, double *history) {
  bool ran = before && (!h->stop || before->cycle_end); /* the stage before was active */
  for (int i = 0, d = 0; ran && i < before->vectors; i++) {
    if (before->vector[i].code != KCL_OP_DOT) continue;
    scalar total = s_make(0);
    for (int c = 0; c < KCL_CPU_CHUNKS; c++) total = s_add(total, partial[d * KCL_CPU_CHUNKS + c]);
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
    for (int c = 0; c < KCL_CPU_CHUNKS; c++)
      partial[d * KCL_CPU_CHUNKS + c] = c ? s_make(0) : slot[last->vector[i].slot];
    d++;
  }
}

#endif
