/* The native executor: runs stages with OpenMP, and so defines what every operation means.
 *
 * Fusion without generated code: the rows are cut into chunks, a chunk into blocks that fit the
 * first-level cache, and a stage's operations run one after another on a block. The memory traffic
 * is that of one fused loop; the extra passes are cache hits. The number of chunks, and with it the
 * order of every sum, does not depend on the number of threads: the same bits on 1 or 64.
 * Compiled once for each scalar type.
 */
#include "core/context.h"
#include "core/executor.h"
#include "core/matrix.h"
#include "core/scalar.h"
#include <stdlib.h>
#include <string.h>

enum { CHUNKS = 64, BLOCK_BYTES = 8192, PAD = 64 };
enum { BLOCK = BLOCK_BYTES / sizeof(scalar) };

typedef struct cpu {
  const kcl_program *k;
  scalar **vec;       /* [vectors][padded n] */
  scalar *slot;       /* [slots] */
  scalar *partial[2]; /* [most dots][CHUNKS], written by even and odd stages */
  kcl_head head;
  int parity;        /* of the next stage */
  double *history;   /* [KCL_HISTORY][KCL_LOG] */
  int threads, team; /* most threads, and how many run now */
  int until_trial;   /* batches until the other size of team is tried */
  double seconds;    /* an iteration of the last batch */
} cpu;

/* ---------------------------------------------------------------- one operation on one block */

static scalar value(kcl_coef c, const scalar *slot) {
  if (c.slot < 0) return s_make(c.constant);
  scalar a = c.conjugate ? s_conj(slot[c.slot]) : slot[c.slot];
  return c.negate ? s_neg(a) : a;
}

static bool is(kcl_coef c, double constant) { return c.slot < 0 && c.constant == constant; }

/* y = a x + b z; an operand whose coefficient is the constant 0 is not read. */
static void lincomb(scalar *y, scalar a, const scalar *x, scalar b, const scalar *z,
                    const kcl_op *o, int n) {
  if (is(o->b, 0) && is(o->a, 0)) {
    memset(y, 0, (size_t)n * sizeof *y);
  } else if (is(o->b, 0) && is(o->a, 1)) {
    if (y != x) memcpy(y, x, (size_t)n * sizeof *y);
  } else if (is(o->b, 0)) {
#pragma omp simd
    for (int i = 0; i < n; i++) y[i] = s_mul(a, x[i]);
  } else if (is(o->a, 1)) {
#pragma omp simd
    for (int i = 0; i < n; i++) y[i] = s_fma(b, z[i], x[i]);
  } else if (is(o->b, 1)) {
#pragma omp simd
    for (int i = 0; i < n; i++) y[i] = s_fma(a, x[i], z[i]);
  } else {
#pragma omp simd
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

/* ---------------------------------------------------------------- one stage */

static void run_block(const cpu *e, const kcl_stage *s, const scalar *slot, int64_t lo, int64_t hi,
                      scalar *sum) {
  int n = (int)(hi - lo), d = 0;
  if (s->A) s->A->format->rows(s->A, e->vec[s->x], e->vec[s->y], lo, hi);
  for (int i = 0; i < s->vectors; i++) {
    const kcl_op *o = &s->vector[i];
    scalar *y = e->vec[o->y] + lo, *x = e->vec[o->x] + lo, *z = e->vec[o->z] + lo;
    if (o->code == KCL_OP_LINCOMB) lincomb(y, value(o->a, slot), x, value(o->b, slot), z, o, n);
    if (o->code == KCL_OP_TIMES) times(y, x, z, o->conjugate, n);
    if (o->code == KCL_OP_DOT) sum[d] = s_add(sum[d], dot(x, y, o->plain, n)), d++;
  }
}

static void run_chunk(const cpu *e, const kcl_stage *s, const scalar *slot, int chunk,
                      scalar *partial) {
  enum { MOST_DOTS = 64 };
  scalar sum[MOST_DOTS];
  int dots = kcl_stage_dots(s);
  int64_t per = (s->n + CHUNKS * PAD - 1) / (CHUNKS * PAD) * PAD;
  int64_t lo = chunk * per, hi = lo + per < s->n ? lo + per : s->n;
  for (int d = 0; d < dots; d++) sum[d] = s_make(0);
  for (int64_t i = lo; i < hi; i += BLOCK)
    run_block(e, s, slot, i, i + BLOCK < hi ? i + BLOCK : hi, sum);
  for (int d = 0; d < dots; d++) partial[d * CHUNKS + chunk] = sum[d];
}

/* ---------------------------------------------------------------- scalars: by every thread alike */

static void stop_when(kcl_head *h, bool condition, int reason) {
  if (condition && !h->stop && !h->untested) h->stop = 1 + reason;
}

static void run_scalar(const cpu *e, const kcl_op *o, scalar *slot, kcl_head *h, double *log) {
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
    if (log) log[1] = (double)s_re(a), log[2] = (double)s_re(b);
    break;
  case KCL_OP_STEP:
    if (log) log[0] = (double)test;
    h->iteration++;
    stop_when(h, !(test < (real)INFINITY), KCL_NOT_FINITE);
    stop_when(h, test <= s_re(slot[e->k->target]), KCL_CONVERGED);
    stop_when(h, h->iteration >= h->limit, KCL_ITERATION_LIMIT);
    if (o->inside) h->open = h->stop && h->stop != 1 + KCL_NOT_FINITE;
    break;
  case KCL_OP_CLOSED: h->open = 0; break;
  default: break;
  }
}

static void run_scalars(const cpu *e, const kcl_stage *s, const kcl_stage *before,
                        const scalar *partial, scalar *slot, kcl_head *h, double *history) {
  bool ran = before && (!h->stop || before->closing); /* the stage before, too */
  for (int i = 0, d = 0; ran && i < before->vectors; i++) {
    if (before->vector[i].code != KCL_OP_DOT) continue;
    scalar total = s_make(0);
    for (int c = 0; c < CHUNKS; c++) total = s_add(total, partial[d * CHUNKS + c]);
    slot[before->vector[i].slot] = total;
    d++;
  }
  for (int i = 0; i < s->scalars; i++) {
    double *log = history ? history + h->iteration % KCL_HISTORY * KCL_LOG : NULL;
    run_scalar(e, &s->scalar[i], slot, h, log);
  }
}

/* Sums known already, left as if they had been summed here: LOOP begins by folding them. */
static void hand_over(const kcl_stage *last, const scalar *slot, scalar *partial) {
  for (int i = 0, d = 0; i < last->vectors; i++) {
    if (last->vector[i].code != KCL_OP_DOT) continue;
    for (int c = 0; c < CHUNKS; c++)
      partial[d * CHUNKS + c] = c ? s_make(0) : slot[last->vector[i].slot];
    d++;
  }
}

/* Every thread keeps its own copy of the scalars and works them out alike: one barrier a stage. */
static void run_team(cpu *e, kcl_phase phase, int64_t times_over, int team) {
  (void)team; /* without OpenMP */
  const kcl_program *k = e->k;
  const kcl_stage *stage = k->stage[phase];
  int stages = k->stages[phase];
#pragma omp parallel num_threads(team)
  {
    scalar slot[KCL_MOST_SLOTS];
    kcl_head head = e->head;
    memcpy(slot, e->slot, (size_t)k->slots * sizeof *slot);
    int me = kcl_thread(), threads = kcl_threads(), parity = e->parity;
#pragma omp barrier
    for (int64_t t = 0; t < times_over && !head.stop; t++)
      for (int i = 0; i < stages; i++) {
        if (head.stop && !(head.open && stage[i].closing)) continue;
        const kcl_stage *handed = kcl_stage_handed(k, phase, i);
        run_scalars(e, &stage[i], kcl_stage_before(k, phase, i), e->partial[parity ^ 1], slot,
                    &head, me == 0 ? e->history : NULL);
        if (me == 0 && handed) hand_over(handed, slot, e->partial[parity]);
        for (int c = me; stage[i].n && c < CHUNKS; c += threads)
          run_chunk(e, &stage[i], slot, c, e->partial[parity]);
        parity ^= 1;
#pragma omp barrier
      }
    if (me == 0) {
      e->head = head, e->parity = parity;
      memcpy(e->slot, slot, (size_t)k->slots * sizeof *slot);
    }
  }
}

/* Barriers are only quick while every thread has a core to itself. So now and then one iteration is
 * tried with the other size of team, one thread or all, and the faster goes on: the bits of the
 * result do not depend on it. */
static int run(kcl_executor *ex, kcl_phase phase, int64_t times_over) {
  cpu *e = ex->data;
  double start = kcl_now();
  if (e->threads > 1 && phase == KCL_LOOP && times_over > 1 && --e->until_trial <= 0) {
    int other = e->team == 1 ? e->threads : 1;
    run_team(e, phase, 1, other);
    double seconds = kcl_now() - start;
    if (e->seconds > 0 && seconds < 0.7 * e->seconds) e->team = other;
    e->until_trial = 16;
    times_over--, start += seconds;
  }
  run_team(e, phase, times_over, e->team);
  e->seconds = (kcl_now() - start) / (double)times_over;
  return KCL_OK;
}

/* ---------------------------------------------------------------- the executor's other duties */

static int put(kcl_executor *ex, kcl_vec v, kcl_type type, const void *values, double scale) {
  cpu *e = ex->data;
  kcl_copy(e->k->type, e->vec[v], type, values, e->k->vector[v].n, scale);
  return KCL_OK;
}

static int get(kcl_executor *ex, kcl_vec v, kcl_type type, void *values, double scale) {
  cpu *e = ex->data;
  kcl_copy(type, values, e->k->type, e->vec[v], e->k->vector[v].n, scale);
  return KCL_OK;
}

static int set_state(kcl_executor *ex, const kcl_head *head, double target) {
  cpu *e = ex->data;
  e->head = *head;
  e->slot[e->k->target] = s_make(target);
  return KCL_OK;
}

static int look(kcl_executor *ex, kcl_head *head, double *rr) {
  cpu *e = ex->data;
  *head = e->head;
  *rr = (double)s_re(e->slot[e->k->rr]);
  return KCL_OK;
}

static int history(kcl_executor *ex, int64_t from, int64_t to, double *out) {
  cpu *e = ex->data;
  for (int64_t i = from; i < to; i++, out += KCL_LOG)
    memcpy(out, e->history + i % KCL_HISTORY * KCL_LOG, KCL_LOG * sizeof *out);
  return KCL_OK;
}

static int finish(kcl_executor *ex) { return (void)ex, KCL_OK; }

static void close_cpu(kcl_executor *ex) {
  cpu *e = ex->data;
  if (!e) return;
  for (int v = 0; e->vec && v < e->k->vectors; v++) free(e->vec[v]);
  free(e->vec), free(e->slot), free(e->partial[0]), free(e->history);
  free(e);
}

/* A thread pays for its barriers from about 64 kB an iteration on. */
static int useful_threads(const kcl_program *k) {
  double bytes = kcl_program_bytes(k, k->stages[KCL_LOOP] ? KCL_LOOP : KCL_START);
  double most = 1 + bytes / 65536;
  return most < k->ctx->threads ? (int)most : k->ctx->threads;
}

int KCL_TYPED(kcl_cpu_open)(kcl_program *k, kcl_executor *ex) {
  int rc, dots = kcl_program_dots(k);
  cpu *e;
  KCL_TRY(kcl_alloc(k->ctx, 1, sizeof *e, "the executor", &ex->data));
  e = ex->data, e->k = k, e->threads = e->team = useful_threads(k), e->until_trial = 4;
  *ex = (kcl_executor){.data = e,
                       .run = run,
                       .put = put,
                       .get = get,
                       .set_state = set_state,
                       .look = look,
                       .history = history,
                       .finish = finish,
                       .close = close_cpu};
  KCL_TRY(kcl_alloc(k->ctx, k->vectors, sizeof *e->vec, "the executor", (void **)&e->vec));
  KCL_TRY(kcl_alloc(k->ctx, k->slots, sizeof *e->slot, "scalars", (void **)&e->slot));
  KCL_TRY(kcl_alloc(k->ctx, 2 * dots * CHUNKS, sizeof(scalar), "partial sums",
                    (void **)&e->partial[0]));
  e->partial[1] = e->partial[0] + dots * CHUNKS;
  KCL_TRY(kcl_alloc(k->ctx, KCL_HISTORY * KCL_LOG, sizeof(double), "the history",
                    (void **)&e->history));
  for (int v = 0; v < k->vectors; v++) {
    KCL_TRY(
        kcl_alloc(k->ctx, k->vector[v].n + PAD, sizeof(scalar), "a vector", (void **)&e->vec[v]));
    if (k->vector[v].values) put(ex, v, k->vector[v].type, k->vector[v].values, 1.0);
  }
done:
  return rc;
}
