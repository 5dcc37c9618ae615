/* The native executor: runs stages with OpenMP, and so defines what every operation means.
 *
 * Fusion without generated code: the rows are cut into chunks, a chunk into blocks that fit the
 * first-level cache, and a stage's operations run one after another on a block. The memory traffic
 * is that of one fused loop; the extra passes are cache hits. The number of chunks, and with it the
 * order of every sum, does not depend on the number of threads: the same bits on 1 or 64.
 * Several columns share a block of the matrix where the format can, and each has the bits it has alone.
 * Compiled once for each scalar type.
 */
#include "core/context.h"
#include "core/executor.h"
#include "core/matrix.h"
#include "core/scalar.h"
#include <stdlib.h>
#include <string.h>

enum { CHUNKS = 64, BLOCK_BYTES = 8192, PAD = 64 };

typedef struct cpu {
  const kcl_program *k;
  int dots;           /* most of a stage */
  int block;          /* elements */
  scalar **vec;       /* [columns][vectors][padded n]; columns share constants */
  scalar *slot;       /* [columns][slots] */
  scalar *partial[2]; /* [columns][dots][CHUNKS], written by even and odd stages */
  kcl_head head[KCL_MOST_COLUMNS];
  int parity;        /* of the next stage */
  double *history;   /* [columns][KCL_HISTORY][KCL_LOG] */
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

static scalar *vector(const cpu *e, kcl_vec v, int column) {
  return e->vec[column * e->k->vectors + v];
}

/* Operations of one column, after its product, on the block [lo, hi). */
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

static void product(const cpu *e, const kcl_stage *s, const int *column, int count, int64_t lo,
                    int64_t hi) {
  const kcl_format *f = s->A->format;
  const void *x[KCL_MOST_COLUMNS];
  void *y[KCL_MOST_COLUMNS];
  for (int i = 0; i < count; i++)
    x[i] = vector(e, s->x, column[i]), y[i] = vector(e, s->y, column[i]);
  if (count > 1)
    f->rows_of_columns(s->A, count, x, y, lo, hi);
  else
    f->rows(s->A, x[0], y[0], lo, hi);
}

static int64_t rows_of_chunk(const kcl_stage *s) {
  return (s->n + CHUNKS * PAD - 1) / (CHUNKS * PAD) * PAD;
}

static int full_chunks(const kcl_stage *s) {
  return s->n ? (int)((s->n - 1) / rows_of_chunk(s)) + 1 : 0;
}

/* All columns that go share a block of the matrix where the format can; else each sweeps the chunk by itself, and
 * the next finds of the matrix what a cache has kept. */
static void run_chunk(const cpu *e, const kcl_stage *s, const scalar *slot, const bool *goes,
                      int chunk, scalar *partial) {
  enum { MOST_DOTS = 64 };
  scalar sum[KCL_MOST_COLUMNS][MOST_DOTS];
  int dots = kcl_stage_dots(s), count = 0, column[KCL_MOST_COLUMNS];
  int64_t per = rows_of_chunk(s);
  int64_t lo = chunk * per, hi = lo + per < s->n ? lo + per : s->n;
  for (int c = 0; c < e->k->columns; c++)
    if (goes[c]) column[count++] = c;
  for (int c = 0; c < count; c++)
    for (int d = 0; d < dots; d++) sum[c][d] = s_make(0);
  bool together = s->A && count > 1 && s->A->format->rows_of_columns;
  int64_t step = together ? e->block : per;
  for (int64_t from = lo; from < hi; from += step) {
    int64_t to = from + step < hi ? from + step : hi;
    if (together) product(e, s, column, count, from, to);
    for (int c = 0; c < count; c++)
      for (int64_t i = from; i < to; i += e->block) {
        int64_t end = i + e->block < to ? i + e->block : to;
        if (s->A && !together) product(e, s, &column[c], 1, i, end);
        run_block(s, e->vec + column[c] * e->k->vectors, slot + column[c] * e->k->slots, i, end,
                  sum[c]);
      }
  }
  for (int c = 0; c < count; c++)
    for (int d = 0; d < dots; d++) partial[(column[c] * e->dots + d) * CHUNKS + chunk] = sum[c][d];
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

static bool any(const bool *of, int columns) {
  for (int c = 0; c < columns; c++)
    if (of[c]) return true;
  return false;
}

static bool running(const kcl_head *head, int columns) {
  for (int c = 0; c < columns; c++)
    if (!head[c].stop) return true;
  return false;
}

/* Scalars of stage i, for each column that goes: all threads alike; the first notes the history. */
static void scalars_of_stage(cpu *e, kcl_phase phase, int i, int parity, scalar *slot,
                             kcl_head *head, bool *goes, bool first) {
  const kcl_program *k = e->k;
  const kcl_stage *s = &k->stage[phase][i], *before = kcl_stage_before(k, phase, i),
                  *handed = kcl_stage_handed(k, phase, i);
  for (int c = 0; c < k->columns; c++) {
    scalar *own = slot + c * k->slots;
    int64_t at = (int64_t)c * e->dots * CHUNKS;
    goes[c] = !head[c].stop || (head[c].open && s->closing);
    if (!goes[c]) continue;
    run_scalars(e, s, before, e->partial[parity ^ 1] + at, own, &head[c],
                first ? e->history + c * KCL_HISTORY * KCL_LOG : NULL);
    if (first && handed) hand_over(handed, own, e->partial[parity] + at);
  }
}

/* Every thread keeps its own copy of the scalars and works them out alike: one barrier a stage. A thread's
 * chunks lie side by side: what its rows want of x from another core's cache is then one edge, not one a chunk.
 * The last also does the empty chunks, whose sums are zero. */
static void run_team(cpu *e, kcl_phase phase, int64_t times_over, int team) {
  (void)team; /* without OpenMP */
  const kcl_program *k = e->k;
  const kcl_stage *stage = k->stage[phase];
  int stages = k->stages[phase];
  size_t slots = (size_t)k->columns * (size_t)k->slots;
#pragma omp parallel num_threads(team)
  {
    scalar slot[KCL_MOST_COLUMNS * KCL_MOST_SLOTS];
    kcl_head head[KCL_MOST_COLUMNS];
    bool goes[KCL_MOST_COLUMNS];
    memcpy(head, e->head, sizeof head);
    memcpy(slot, e->slot, slots * sizeof *slot);
    int me = kcl_thread(), threads = kcl_threads(), parity = e->parity;
#pragma omp barrier
    for (int64_t t = 0; t < times_over && running(head, k->columns); t++)
      for (int i = 0; i < stages; i++) {
        scalars_of_stage(e, phase, i, parity, slot, head, goes, me == 0);
        if (!any(goes, k->columns)) continue;
        int full = full_chunks(&stage[i]),
            end = me + 1 < threads ? full * (me + 1) / threads : CHUNKS;
        for (int c = full * me / threads; full && c < end; c++)
          run_chunk(e, &stage[i], slot, goes, c, e->partial[parity]);
        parity ^= 1;
#pragma omp barrier
      }
    if (me == 0) {
      e->parity = parity;
      memcpy(e->head, head, sizeof head);
      memcpy(e->slot, slot, slots * sizeof *slot);
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

static int put(kcl_executor *ex, kcl_vec v, int column, kcl_type type, const void *values,
               double scale) {
  cpu *e = ex->data;
  kcl_copy(e->k->type, vector(e, v, column), type, values, e->k->vector[v].n, scale);
  return KCL_OK;
}

static int get(kcl_executor *ex, kcl_vec v, int column, kcl_type type, void *values, double scale) {
  cpu *e = ex->data;
  kcl_copy(type, values, e->k->type, vector(e, v, column), e->k->vector[v].n, scale);
  return KCL_OK;
}

static int set_state(kcl_executor *ex, const kcl_head *head, const double *target) {
  cpu *e = ex->data;
  for (int c = 0; c < e->k->columns; c++) {
    e->head[c] = head[c];
    e->slot[c * e->k->slots + e->k->target] = s_make(target[c]);
  }
  return KCL_OK;
}

static int look(kcl_executor *ex, kcl_head *head, double *rr) {
  cpu *e = ex->data;
  for (int c = 0; c < e->k->columns; c++) {
    head[c] = e->head[c];
    rr[c] = (double)s_re(e->slot[c * e->k->slots + e->k->rr]);
  }
  return KCL_OK;
}

static int history(kcl_executor *ex, int column, int64_t from, int64_t to, double *out) {
  cpu *e = ex->data;
  const double *log = e->history + column * KCL_HISTORY * KCL_LOG;
  for (int64_t i = from; i < to; i++, out += KCL_LOG)
    memcpy(out, log + i % KCL_HISTORY * KCL_LOG, KCL_LOG * sizeof *out);
  return KCL_OK;
}

static int finish(kcl_executor *ex) { return (void)ex, KCL_OK; }

static int carry(kcl_executor *to, const kcl_executor *from) {
  cpu *e = to->data;
  const cpu *f = from->data;
  const kcl_program *k = e->k;
  size_t slots = (size_t)k->columns * (size_t)k->slots,
         sums = (size_t)(2 * k->columns * e->dots) * CHUNKS;
  for (int i = 0; i < k->columns * k->vectors; i++)
    memcpy(e->vec[i], f->vec[i], (size_t)k->vector[i % k->vectors].n * sizeof(scalar));
  memcpy(e->slot, f->slot, slots * sizeof(scalar));
  memcpy(e->partial[0], f->partial[0], sums * sizeof(scalar));
  memcpy(e->head, f->head, sizeof e->head);
  e->parity = f->parity;
  return KCL_OK;
}

static void *memory(kcl_executor *ex, kcl_vec v) { return ((cpu *)ex->data)->vec[v]; }

static void close_cpu(kcl_executor *ex) {
  cpu *e = ex->data;
  if (!e) return;
  for (int i = 0; e->vec && i < e->k->columns * e->k->vectors; i++)
    if (i < e->k->vectors || !kcl_vector_shared(e->k, i % e->k->vectors)) free(e->vec[i]);
  free(e->vec), free(e->slot), free(e->partial[0]), free(e->history);
  free(e);
}

/* A thread pays for its barriers from about 64 kB an iteration on. */
static int useful_threads(const kcl_program *k) {
  double bytes = kcl_program_bytes(k, k->stages[KCL_LOOP] ? KCL_LOOP : KCL_START, k->columns);
  double most = 1 + bytes / 65536;
  return most < k->ctx->threads ? (int)most : k->ctx->threads;
}

static int make_vector(kcl_executor *ex, kcl_vec v, int column) {
  cpu *e = ex->data;
  const kcl_program *k = e->k;
  scalar **at = &e->vec[column * k->vectors + v];
  bool shared = kcl_vector_shared(k, v);
  if (shared && column) return *at = e->vec[v], KCL_OK;
  int rc = kcl_alloc(k->ctx, k->vector[v].n + PAD, sizeof(scalar), "a vector", (void **)at);
  return rc || !shared ? rc : put(ex, v, 0, k->vector[v].type, k->vector[v].values, 1.0);
}

int KCL_TYPED(kcl_cpu_open)(kcl_program *k, kcl_executor *ex) {
  int rc, columns = k->columns;
  cpu *e;
  KCL_TRY(kcl_alloc(k->ctx, 1, sizeof *e, "the executor", &ex->data));
  e = ex->data, e->k = k, e->threads = e->team = useful_threads(k), e->until_trial = 4;
  e->dots = kcl_program_dots(k);
  e->block = (k->ctx->tune.block ? k->ctx->tune.block : BLOCK_BYTES) / (int)sizeof(scalar);
  *ex = (kcl_executor){.data = e,
                       .run = run,
                       .put = put,
                       .get = get,
                       .set_state = set_state,
                       .look = look,
                       .history = history,
                       .finish = finish,
                       .carry = carry,
                       .memory = memory,
                       .close = close_cpu};
  KCL_TRY(
      kcl_alloc(k->ctx, columns * k->vectors, sizeof *e->vec, "the executor", (void **)&e->vec));
  KCL_TRY(kcl_alloc(k->ctx, columns * k->slots, sizeof *e->slot, "scalars", (void **)&e->slot));
  KCL_TRY(kcl_alloc(k->ctx, 2 * columns * e->dots * CHUNKS, sizeof(scalar), "partial sums",
                    (void **)&e->partial[0]));
  e->partial[1] = e->partial[0] + columns * e->dots * CHUNKS;
  KCL_TRY(kcl_alloc(k->ctx, columns * KCL_HISTORY * KCL_LOG, sizeof(double), "the history",
                    (void **)&e->history));
  for (int c = 0; c < columns; c++)
    for (int v = 0; v < k->vectors; v++) KCL_TRY(make_vector(ex, v, c));
done:
  return rc;
}
