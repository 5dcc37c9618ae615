/* One stage of the native executor on a chunk of its rows: the meaning of every vector operation, with which the other executors
 * must agree. Compiled once per scalar type.
 *
 * Fusion without generated code: a chunk of rows is divided into blocks that fit the L1 cache, and the operations of a
 * stage run one after another on a block. The memory traffic equals one fused loop's; the other passes hit the cache.
 */
#include "core/cpu/state.h"

/* ---------------------------------------------------------------- one operation on one block */

/* y = x + z, or x - z. */
static void add_elements(scalar *y, const scalar *x, const scalar *z, bool subtracts, int n) {
  KCL_SIMD
  for (int i = 0; i < n; i++) y[i] = s_add(x[i], subtracts ? s_neg(z[i]) : z[i]);
}

/* y = a x + b z; an operand whose coefficient is the constant 0 is not read. The product with b is rounded first, that with a is fused
 * with the addition; the coefficients 1 and -1 are signs. */
static void run_lincomb(scalar *y, scalar a, const scalar *x, scalar b, const scalar *z,
                        const kcl_op *o, int n) {
  if (is_constant(o->b, 0) && is_constant(o->a, 0)) {
    memset(y, 0, (size_t)n * sizeof *y);
  } else if (is_constant(o->b, 0) && is_constant(o->a, 1)) {
    if (y != x) memcpy(y, x, (size_t)n * sizeof *y);
  } else if (is_constant(o->b, 0)) {
    const bool sign = is_constant(o->a, -1);
    KCL_SIMD
    for (int i = 0; i < n; i++) y[i] = sign ? s_neg(x[i]) : s_mul(a, x[i]);
  } else if (is_constant(o->a, 1) && (is_constant(o->b, 1) || is_constant(o->b, -1))) {
    add_elements(y, x, z, is_constant(o->b, -1), n);
  } else if (is_constant(o->a, 1)) {
    KCL_SIMD
    for (int i = 0; i < n; i++) y[i] = s_fma(b, z[i], x[i]);
  } else if (is_constant(o->b, 1)) {
    KCL_SIMD
    for (int i = 0; i < n; i++) y[i] = s_fma(a, x[i], z[i]);
  } else if (is_constant(o->a, -1)) {
    KCL_SIMD
    for (int i = 0; i < n; i++) y[i] = s_fma(b, z[i], s_neg(x[i]));
  } else {
    const bool sign = is_constant(o->b, -1);
    KCL_SIMD
    for (int i = 0; i < n; i++) y[i] = s_fma(a, x[i], sign ? s_neg(z[i]) : s_mul(b, z[i]));
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

/* Adds a dot to the sums of a block, in the shape of core/base/shape.h: the elements begin with one of lane 0. */
static void dot_in_lanes(scalar *lane, const scalar *x, const scalar *y, bool plain, int n) {
  for (int i = 0; i < n; i += KCL_SUM_LANES) {
    const int count = n - i < KCL_SUM_LANES ? n - i : KCL_SUM_LANES;
    const scalar *a = x + i, *b = y + i;
    if (plain)
      for (int l = 0; l < count; l++) lane[l] = s_fma(a[l], b[l], lane[l]);
    else
      for (int l = 0; l < count; l++) lane[l] = s_fma(s_conj(a[l]), b[l], lane[l]);
  }
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

static void add_dot(const kcl_cpu *e, scalar *sum, const scalar *x, const scalar *y, bool plain,
                    int n) {
  if (e->chunk)
    dot_in_lanes(sum, x, y, plain, n);
  else
    *sum = s_add(*sum, dot_elements(x, y, plain, n));
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
      add_dot(b->e, sum, x, y, o->plain, n);
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
    add_dot(b->e, sum, x, y, o->plain, n);
  else
    run_elementwise(o, y, c, x, d, z, n);
}

/* The vector operations of a stage on one row block, after the product. */
static void run_row_block(const kcl_cpu_block *b, scalar *sum) {
  for (int i = 0, d = 0; i < b->s->vectors; i++) {
    run_operation(b, &b->s->vector[i], &sum[d * lanes_of_sum(b->e)]);
    d += b->s->vector[i].code == KCL_OP_DOT;
  }
}

/* The address of y's element 0, computed from element b->lo: a temporary vector stores the block's elements alone. */
static void *start_of_vector(const kcl_cpu_block *b, kcl_vec y) {
  return (void *)((uintptr_t)element_address(b, y, b->lo) -
                  (uintptr_t)(b->lo * vector_element_bytes(b->e, y)));
}

/* y is NaN: the check of the residual finds it. */
static void spoil_rows(const kcl_cpu *e, const kcl_stage *s, void *const *y, int count, int64_t lo,
                       int64_t hi) {
  const int64_t bytes = vector_element_bytes(e, s->y);
  for (int c = 0; c < count; c++)
    memset((void *)((uintptr_t)y[c] + (uintptr_t)(lo * bytes)), 0xff, (size_t)((hi - lo) * bytes));
}

static void multiply_row_block(const kcl_cpu *e, const kcl_stage *s, const void *const *x,
                               void *const *y, int count, int64_t lo, int64_t hi) {
  const kcl_format *f = is_narrow_vector(e, s->x) ? s->A->format->narrow : s->A->format;
  if (count > 1)
    f->rows_multi(s->A, count, x, y, lo, hi);
  else
    f->rows(s->A, x[0], y[0], lo, hi);
}

/* Rows whose indices are looked at together: so few that the product finds them in the L1 cache, and its prefetches bring those of the next
 * part. Of csr 256 entries: with twice as many the product waits for memory, with half as many the calls take longer. */
static int64_t count_bounded_rows(const kcl_stored *m) {
  const kcl_format *f = m->format;
  const int64_t most = f->bounded_rows      ? f->bounded_rows
                       : f->bounded_entries ? 256
                                            : 64,
                unit = f->bounded_rows ? 64 : 8,
                rows = f->bounded_entries * m->rows / (m->nnz > 0 ? m->nnz : 1);
  if (!f->bounded_entries || rows > most) return most;
  return rows < unit ? unit : rows / unit * unit;
}

/* As multiply_row_block, where the indices of the rows exist. */
static void multiply_guarded(const kcl_cpu *e, const kcl_stage *s, const void *const *x,
                             void *const *y, int count, int64_t lo, int64_t hi) {
  const kcl_format *f = s->A->format;
  const int64_t rows = count_bounded_rows(s->A);
  for (int64_t i = lo, end; i < hi; i = end) {
    end = i + rows < hi ? i + rows : hi;
    if (f->bounded(s->A, i, end))
      multiply_row_block(e, s, x, y, count, i, end);
    else
      spoil_rows(e, s, y, count, i, end);
  }
}

/* y = A x of `count` right-hand sides on the same rows. */
static void multiply_blocks(const kcl_cpu_block *b, int count) {
  const kcl_stage *s = b->s;
  const void *x[KCL_MAX_NRHS];
  void *y[KCL_MAX_NRHS];
  for (int c = 0; c < count; c++) x[c] = b[c].vec[s->x], y[c] = start_of_vector(&b[c], s->y);
  if (b->e->k->guarded && s->A->format->bounded)
    multiply_guarded(b->e, s, x, y, count, b->lo, b->hi);
  else
    multiply_row_block(b->e, s, x, y, count, b->lo, b->hi);
}

/* Makes a block for each active right-hand side, for this part of the stage; returns their number. */
static int make_blocks(const kcl_cpu *e, const kcl_stage *s, const bool *active, int part,
                       kcl_cpu_block *b) {
  const int64_t temporaries = (int64_t)KCL_MOST_TEMPORARIES * e->block;
  int count = 0;
  for (int c = 0; c < e->k->nrhs; c++)
    if (active[c])
      b[count++] = (kcl_cpu_block){
          .e = e,
          .s = s,
          .vec = e->vec + c * e->k->vectors,
          .slot = e->slot + c * e->k->slots,
          .rhs = c,
          .temporary = e->temporary ? e->temporary + (part * e->k->nrhs + c) * temporaries : NULL};
  return count;
}

/* The active right-hand sides share a block of the matrix if the format can; otherwise they sweep the chunk one after
 * another and share what the caches keep of the matrix. */
void KCL_TYPED(kcl_cpu_run_chunk)(const kcl_cpu *e, const kcl_stage *s, const bool *active,
                                  int part, int chunk) {
  enum { KCL_CPU_MOST_DOTS = 64 };
  scalar few[KCL_MAX_NRHS * KCL_CPU_MOST_DOTS];
  kcl_cpu_block b[KCL_MAX_NRHS];
  const int dots = kcl_stage_dots(s), count = make_blocks(e, s, active, part, b);
  const int64_t per = rows_of_chunk(e, s), lo = chunk * per, hi = lo + per < s->n ? lo + per : s->n;
  const int each = e->dots * lanes_of_sum(e); /* of a right-hand side */
  scalar *sum = e->chunk ? e->sum + (int64_t)part * e->k->nrhs * each : few;
  const int lanes = e->chunk ? lanes_of_rows(hi - lo) : 1;
  for (int c = 0; c < count; c++)
    for (int d = 0; d < dots; d++)
      memset(sum + c * each + d * lanes_of_sum(e), 0, (size_t)lanes * sizeof *sum);
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
        run_row_block(&b[c], sum + c * each);
      }
  }
  scalar *partial = latest_sums(e);
  for (int c = 0; c < count; c++)
    for (int d = 0; d < dots; d++)
      partial[(b[c].rhs * e->dots + d) * e->chunks + chunk] =
          e->chunk ? add_up_lanes(sum + c * each + d * KCL_SUM_LANES, lanes) : sum[c * each + d];
}

#ifdef KCL_T_s
void kcl_cpu_operation_s(const kcl_op *o, float *y, float a, const float *x, float b,
                         const float *z, int n) {
  run_elementwise(o, y, a, x, b, z, n);
}
#endif
