/* The native executor: runs batches of passes (batch.c) of stages (stage.c) on a team of threads, and has the memory for them.
 * Compiled once per scalar type. */
#include "core/cpu/state.h"

enum { BLOCK_BYTES = 8192 };

/* ---------------------------------------------------------------- batches, and the size of the team */

/* Is the phase run many times, as an iteration or a product alone? */
static bool pass_repeats(const kcl_program *k, kcl_phase phase) {
  return phase == KCL_LOOP || (phase == KCL_START && k->product);
}

/* Barriers are only fast while every thread has a core of its own. So every 16 batches one pass is timed with the
 * other team size, one thread or all, and the faster is used; the bits of the result do not depend on it. */
static int cpu_run(kcl_executor *ex, kcl_phase phase, int64_t passes) {
  kcl_cpu *e = ex->data;
  double start = kcl_now();
  e->failed = KCL_OK;
  if (e->threads > 1 && pass_repeats(e->k, phase) && passes > 1 && --e->until_trial <= 0) {
    int other = e->team == 1 ? e->threads : 1;
    KCL_CALL(KCL_TYPED(kcl_cpu_run_team)(e, phase, 1, other, NULL));
    double seconds = kcl_now() - start;
    if (e->seconds > 0 && seconds < 0.7 * e->seconds) e->team = other;
    e->until_trial = 16;
    passes--, start += seconds;
  }
  const int rc = KCL_TYPED(kcl_cpu_run_team)(e, phase, passes, e->team, NULL);
  e->seconds = (kcl_now() - start) / (double)passes, ex->team = e->team;
  return rc ? rc : e->failed;
}

/* ---------------------------------------------------------------- products on the caller's arrays */

static scalar *column_at(const kcl_vectors *v, int64_t j) {
  return (scalar *)v->data + v->offset + j * v->ld;
}

/* Runs the program on columns of the caller's from number j on. y NULL: results go to the program's own vectors, and `after`
 * adds them to the caller's. */
static int run_columns(kcl_cpu *e, const kcl_vectors *x, const kcl_vectors *y, int64_t j, int count,
                       const kcl_cpu_axpby *after) {
  const kcl_program *k = e->k;
  void *own[2 * KCL_MAX_NRHS];
  e->failed = KCL_OK;
  for (int c = 0; c < k->nrhs; c++) {
    void **at = e->vec + c * k->vectors;
    own[2 * c] = at[k->x], own[2 * c + 1] = at[k->b];
    e->control[c].stop = c >= count;
    if (c >= count) continue;
    at[k->x] = column_at(x, j + c);
    if (y) at[k->b] = column_at(y, j + c);
  }
  const int rc = KCL_TYPED(kcl_cpu_run_team)(e, KCL_START, 1, e->team, after);
  for (int c = 0; c < k->nrhs; c++) {
    void **at = e->vec + c * k->vectors;
    at[k->x] = own[2 * c], at[k->b] = own[2 * c + 1];
    e->control[c].stop = 0;
  }
  return rc ? rc : e->failed;
}

static int cpu_multiply(kcl_executor *ex, const kcl_multiplication *m) {
  kcl_cpu *e = ex->data;
  const kcl_program *k = e->k;
  const int64_t rows = k->vector[k->b].n, cols = m->x->cols;
  const scalar alpha = m->alpha ? *(const scalar *)m->alpha : s_make(1),
               beta = m->beta ? *(const scalar *)m->beta : s_make(0);
  const bool in_place = s_one(alpha) && s_zero(beta), called = k->stage[KCL_START]->called;
  int rc = KCL_OK;
  for (int64_t j = 0; j < cols && !rc; j += k->nrhs) {
    int count = (int)(cols - j < k->nrhs ? cols - j : k->nrhs);
    kcl_cpu_axpby after[KCL_MAX_NRHS];
    for (int c = 0; c < count; c++)
      after[c] = (kcl_cpu_axpby){alpha, beta, column_at(m->y, j + c), vector_of(e, k->b, c)};
    if (in_place)
      rc = run_columns(e, m->x, m->y, j, count, NULL);
    else if (!s_zero(alpha))
      rc = run_columns(e, m->x, NULL, j, count, called ? NULL : after);
    if (!rc && !in_place && (called || s_zero(alpha)))
      for (int c = 0; c < count; c++)
        kcl_for(rows, KCL_FEW, KCL_TYPED(kcl_cpu_add_scaled), &after[c]);
  }
  return rc;
}

/* ---------------------------------------------------------------- the other functions of the executor */

static int cpu_put(kcl_executor *ex, kcl_vec v, int rhs, kcl_type type, const void *values,
                   double scale) {
  kcl_cpu *e = ex->data;
  kcl_copy(kcl_vector_stored(e->k, v), vector_of(e, v, rhs), type, values, e->k->vector[v].n,
           scale);
  return KCL_OK;
}

static int cpu_get(kcl_executor *ex, kcl_vec v, int rhs, kcl_type type, void *values,
                   double scale) {
  kcl_cpu *e = ex->data;
  kcl_copy(type, values, kcl_vector_stored(e->k, v), vector_of(e, v, rhs), e->k->vector[v].n,
           scale);
  return KCL_OK;
}

static int cpu_set_state(kcl_executor *ex, const kcl_control *control, const double *target) {
  kcl_cpu *e = ex->data;
  for (int c = 0; c < e->k->nrhs; c++) {
    e->control[c] = control[c];
    e->slot[c * e->k->slots + e->k->target] = s_make(target[c]);
  }
  return KCL_OK;
}

static int cpu_poll(kcl_executor *ex, kcl_control *control, double *rr) {
  kcl_cpu *e = ex->data;
  for (int c = 0; c < e->k->nrhs; c++) {
    control[c] = e->control[c];
    rr[c] = (double)s_re(e->slot[c * e->k->slots + e->k->rr]);
  }
  return KCL_OK;
}

static double cpu_scalar(const kcl_executor *ex, kcl_slot slot, int rhs) {
  const kcl_cpu *e = ex->data;
  return (double)s_re(e->slot[rhs * e->k->slots + slot]);
}

static int cpu_history(kcl_executor *ex, int rhs, int64_t from, int64_t to, double *out) {
  kcl_cpu *e = ex->data;
  const double *own = e->history + rhs * KCL_HISTORY * KCL_HISTORY_FIELDS;
  for (int64_t i = from; i < to; i++, out += KCL_HISTORY_FIELDS)
    memcpy(out, own + i % KCL_HISTORY * KCL_HISTORY_FIELDS, KCL_HISTORY_FIELDS * sizeof *out);
  return KCL_OK;
}

static int cpu_finish(kcl_executor *ex) { return (void)ex, KCL_OK; }

/* [nrhs, n] */
static int cpu_save(kcl_executor *ex, int snapshot) {
  kcl_cpu *e = ex->data;
  const kcl_program *k = e->k;
  const int64_t n = k->vector[k->x].n;
  scalar **at = &e->snapshot[snapshot];
  int rc = *at ? KCL_OK : kcl_alloc(k->ctx, n * k->nrhs, sizeof **at, "a copy of x", (void **)at);
  for (int c = 0; c < k->nrhs && !rc; c++)
    kcl_copy(k->type, *at + c * n, k->type, vector_of(e, k->x, c), n, 1.0);
  return rc;
}

static int cpu_load(kcl_executor *ex, int snapshot, int rhs) {
  kcl_cpu *e = ex->data;
  const kcl_program *k = e->k;
  const int64_t n = k->vector[k->x].n;
  kcl_copy(k->type, vector_of(e, k->x, rhs), k->type, e->snapshot[snapshot] + rhs * n, n, 1.0);
  return KCL_OK;
}

static size_t slots_of(const kcl_cpu *e) { return (size_t)e->k->nrhs * (size_t)e->k->slots; }
static size_t sums_of(const kcl_cpu *e) { /* of both buffers */
  return 2 * (size_t)e->k->nrhs * (size_t)e->dots * (size_t)e->chunks;
}

static int cpu_carry(kcl_executor *to, const kcl_executor *from) {
  kcl_cpu *e = to->data;
  const kcl_cpu *f = from->data;
  const kcl_program *k = e->k;
  for (int i = 0; i < k->nrhs * k->vectors; i++)
    memcpy(e->vec[i], f->vec[i],
           (size_t)k->vector[i % k->vectors].n *
               kcl_type_size(kcl_vector_stored(k, i % k->vectors)));
  memcpy(e->slot, f->slot, slots_of(e) * sizeof(scalar));
  memcpy(e->partial[0], f->partial[0], sums_of(e) * sizeof(scalar));
  memcpy(e->control, f->control, sizeof e->control);
  e->parity = f->parity;
  return KCL_OK;
}

/* Parity, slots, both buffers of partial sums. */
static size_t cpu_state_bytes(const kcl_executor *ex) {
  const kcl_cpu *e = ex->data;
  return sizeof(int64_t) + (slots_of(e) + sums_of(e)) * sizeof(scalar);
}

static int cpu_get_state(kcl_executor *ex, void *bytes) {
  const kcl_cpu *e = ex->data;
  const int64_t parity = e->parity;
  char *to = bytes;
  memcpy(to, &parity, sizeof parity), to += sizeof parity;
  memcpy(to, e->slot, slots_of(e) * sizeof(scalar)), to += slots_of(e) * sizeof(scalar);
  memcpy(to, e->partial[0], sums_of(e) * sizeof(scalar));
  return KCL_OK;
}

static int cpu_put_state(kcl_executor *ex, const void *bytes) {
  kcl_cpu *e = ex->data;
  const char *from = bytes;
  int64_t parity;
  memcpy(&parity, from, sizeof parity), from += sizeof parity;
  e->parity = parity & 1;
  memcpy(e->slot, from, slots_of(e) * sizeof(scalar)), from += slots_of(e) * sizeof(scalar);
  memcpy(e->partial[0], from, sums_of(e) * sizeof(scalar));
  return KCL_OK;
}

static void *cpu_memory(kcl_executor *ex, kcl_vec v) { return ((kcl_cpu *)ex->data)->vec[v]; }

/* ---------------------------------------------------------------- vectors */

/* In front of a vector's elements; its size keeps their alignment. */
typedef union vector_head {
  int users; /* executors */
  char padding[64];
} vector_head;

static int allocate_vector(kcl_context *ctx, int64_t n, kcl_type type, void **out) {
  vector_head *head;
  const size_t bytes = (size_t)(n + KCL_CPU_PAD) * kcl_type_size(type);
  *out = NULL;
  KCL_CALL(kcl_alloc(ctx, (int64_t)(sizeof *head + bytes), 1, "a vector", (void **)&head));
  head->users = 1;
  *out = head + 1;
  return KCL_OK;
}

static void release_vector(void *v) {
  vector_head *head = v;
  if (v && --head[-1].users == 0) free(head - 1);
}

/* Constants of another owner, as they are stored here, are not copied. */
static bool used_in_place(const kcl_program *k, kcl_vec v) {
  const kcl_vector_info *u = &k->vector[v];
  return u->values && u->borrowed && u->type == kcl_vector_stored(k, v);
}

/* A constant is there once for all right-hand sides. */
static void release_vectors(const kcl_cpu *e) {
  const int vectors = e->k->vectors;
  for (int i = 0; e->vec && i < e->k->nrhs * vectors; i++)
    if (!used_in_place(e->k, i % vectors) && (i < vectors || !kcl_vector_shared(e->k, i % vectors)))
      release_vector(e->vec[i]);
}

static void close_cpu(kcl_executor *ex) {
  kcl_cpu *e = ex->data;
  if (!e) return;
  release_vectors(e);
  for (int i = 0; i < KCL_SNAPSHOTS; i++) free(e->snapshot[i]);
  free(e->vec);
  free(e->temporary);
  free(e->slot);
  free(e->partial[0]);
  free(e->sums), free(e->sum);
  free(e->history);
  free(e);
}

/* A thread is worth its barriers from 160 kB per iteration on. Measured on two cores, CG with csr-scalar in double, least of
 * 3,000 samples: two threads take 1.6 to 1.9 times as long as one at 10 to 40 kB (bcsstk01), 1.24 at 110, 1.00 at 166, 0.87 at
 * 260, 0.67 at 670. */
static int useful_threads(const kcl_program *k) {
  double bytes = kcl_program_bytes(k, k->stages[KCL_LOOP] ? KCL_LOOP : KCL_START, k->nrhs);
  double most = 1 + bytes / (KCL_ALL_THREADS ? 1 : 160e3);
  return most < k->ctx->threads ? (int)most : k->ctx->threads;
}

/* A vector like this one that another executor has and now shares, or NULL. */
static void *borrow_vector(const kcl_program *k, kcl_vec v, int rhs) {
  const kcl_executor *from = k->lender;
  if (!from || from->close != close_cpu || kcl_vector_shared(k, v)) return NULL;
  const kcl_cpu *f = from->data;
  const kcl_program *g = f->k;
  if (rhs >= g->nrhs || v >= g->vectors || kcl_vector_shared(g, v)) return NULL;
  if (g->vector[v].n != k->vector[v].n || kcl_vector_stored(g, v) != kcl_vector_stored(k, v))
    return NULL;
  vector_head *lent = f->vec[rhs * g->vectors + v];
  if (lent) lent[-1].users++;
  return lent;
}

static int make_vector(kcl_executor *ex, kcl_vec v, int rhs) {
  kcl_cpu *e = ex->data;
  const kcl_program *k = e->k;
  void **at = &e->vec[rhs * k->vectors + v];
  const bool shared = kcl_vector_shared(k, v);
  if (shared && rhs)
    *at = e->vec[v];
  else
    *at = used_in_place(k, v) ? k->vector[v].values : borrow_vector(k, v, rhs);
  if (*at) return KCL_OK;
  KCL_CALL(allocate_vector(k->ctx, k->vector[v].n, kcl_vector_stored(k, v), at));
  if (!shared) return KCL_OK;
  return cpu_put(ex, v, 0, k->vector[v].type, k->vector[v].values, 1.0);
}

static bool has_temporaries(const kcl_program *k) {
  for (int phase = 0; phase < KCL_PHASES; phase++)
    for (int i = 0; i < k->stages[phase]; i++)
      if (k->stage[phase][i].temporaries) return true;
  return false;
}

/* Elements of each vector per block of a fused loop; fixed: each block begins with an element of lane 0. */
static int elements_of_block(const kcl_program *k, bool fixed) {
  const int tuned = k->ctx->tune.block, count = (tuned ? tuned : BLOCK_BYTES) / (int)sizeof(scalar),
            least = fixed ? KCL_SUM_LANES : 1;
  return count < least ? least : count / least * least;
}

static int allocate_cpu(kcl_executor *ex) {
  kcl_cpu *e = ex->data;
  const kcl_program *k = e->k;
  const int nrhs = k->nrhs;
  KCL_CALL(kcl_alloc(k->ctx, nrhs * k->vectors, sizeof *e->vec, "the executor", (void **)&e->vec));
  if (has_temporaries(k))
    KCL_CALL(kcl_alloc(
        k->ctx, (int64_t)e->threads * KCL_PARTS_PER_THREAD * nrhs * KCL_MOST_TEMPORARIES * e->block,
        sizeof(scalar), "temporary vectors", (void **)&e->temporary));
  KCL_CALL(kcl_alloc(k->ctx, nrhs * k->slots, sizeof *e->slot, "scalars", (void **)&e->slot));
  KCL_CALL(kcl_alloc(k->ctx, 2 * nrhs * e->dots * e->chunks, sizeof(scalar), "partial sums",
                     (void **)&e->partial[0]));
  e->partial[1] = e->partial[0] + nrhs * e->dots * e->chunks;
  if (e->chunk)
    KCL_CALL(kcl_alloc(k->ctx,
                       (int64_t)e->threads * KCL_PARTS_PER_THREAD * nrhs * e->dots * KCL_SUM_LANES,
                       sizeof(scalar), "sums", (void **)&e->sum));
  if (e->chunk && kcl_program_ranks(k))
    KCL_CALL(kcl_alloc(k->ctx, nrhs * e->dots * e->chunks, KCL_PARTS * sizeof(double),
                       "partial sums", (void **)&e->sums));
  KCL_CALL(kcl_alloc(k->ctx, nrhs * KCL_HISTORY * KCL_HISTORY_FIELDS, sizeof(double), "the history",
                     (void **)&e->history));
  for (int c = 0; c < nrhs; c++)
    for (int v = 0; v < k->vectors; v++) KCL_CALL(make_vector(ex, v, c));
  return KCL_OK;
}

int KCL_TYPED(kcl_cpu_open)(kcl_program *k, kcl_executor *ex) {
  kcl_cpu *e;
  KCL_CALL(kcl_alloc(k->ctx, 1, sizeof *e, "the executor", (void **)&e));
  e->k = k;
  e->threads = e->team = useful_threads(k);
  e->until_trial = 4;
  e->dots = kcl_program_dots(k), e->chunk = kcl_program_sum_rows(k);
  e->chunks = e->chunk ? 1 + (int)(k->n / e->chunk) : KCL_CPU_CHUNKS;
  e->block = elements_of_block(k, e->chunk > 0);
  *ex = (kcl_executor){.data = e,
                       .run = cpu_run,
                       .ends = kcl_program_ranks(k) && !kcl_program_ranks(k)->unlike,
                       .put = cpu_put,
                       .get = cpu_get,
                       .set_state = cpu_set_state,
                       .poll = cpu_poll,
                       .scalar = cpu_scalar,
                       .history = cpu_history,
                       .finish = cpu_finish,
                       .save = cpu_save,
                       .load = cpu_load,
                       .carry = cpu_carry,
                       .state_bytes = cpu_state_bytes,
                       .get_state = cpu_get_state,
                       .put_state = cpu_put_state,
                       .multiply = cpu_multiply,
                       .memory = cpu_memory,
                       .close = close_cpu};
  return allocate_cpu(ex);
}
