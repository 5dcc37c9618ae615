/* Where the time and the bytes of a benchmark's row go: a few iterations beside those that are timed, with event times on
 * OpenCL devices and hardware counters on CPU devices. */
#include "core/base/counters.h"
#include "solver/bench.h"

void kcl_bench_profile_free(kcl_bench_profile *p) {
  if (!p) return;
  free(p->setup.entry), free(p->write.entry), free(p->run.entry), free(p->read.entry);
  *p = (kcl_bench_profile){0};
}

typedef struct profiling {
  kcl_context *ctx;
  kcl_engine *e;
  int iterations;
  kcl_bench_profile *out;
} profiling;

static bool is_product(const profiling *p) { return p->e->program->product; }

/* b and x of a method, x of a product, as kcl_engine_time has them. */
static int write_vectors(profiling *p) {
  const kcl_program *k = p->e->program;
  kcl_executor *ex = &p->e->executor;
  const kcl_type wide = kcl_wide_type(k->type);
  const int64_t w = wide == KCL_Z ? 2 : 1, rows = k->vector[k->b].n, cols = k->vector[k->x].n;
  double *v;
  int rc = kcl_alloc(p->ctx, w * (rows > cols ? rows : cols), sizeof *v, "a vector", (void **)&v);
  for (int c = 0; c < k->nrhs && !rc; c++) {
    kcl_timing_vector(v, w * (is_product(p) ? cols : rows), c);
    rc = ex->put(ex, is_product(p) ? k->x : k->b, c, wide, v, 1.0);
    memset(v, 0, (size_t)(w * cols) * sizeof *v);
    if (!rc && !is_product(p)) rc = ex->put(ex, k->x, c, wide, v, 1.0);
  }
  free(v);
  const double scalar = (double)kcl_type_size(k->type) * k->nrhs;
  p->out->bytes_in = scalar * (double)(is_product(p) ? cols : rows + cols);
  p->out->bytes_out = scalar * (double)(is_product(p) ? rows : cols);
  return rc ? rc : kcl_profile_take(p->ctx, &p->out->write);
}

static int steps_of_batch(const profiling *p) {
  return is_product(p) ? 1 : p->e->program->iterations;
}

/* Passes in batches that the history holds. */
static int run_profiled(const profiling *p) {
  kcl_executor *ex = &p->e->executor;
  const int64_t most = KCL_HISTORY / 4 / steps_of_batch(p);
  int64_t since = 0, left = (p->iterations + steps_of_batch(p) - 1) / steps_of_batch(p);
  int rc = KCL_OK;
  for (; left > 0 && !rc; left -= most) {
    const int64_t passes = left < most ? left : most;
    rc = is_product(p) ? ex->run(ex, KCL_START, passes) : kcl_engine_advance(p->e, passes, &since);
  }
  return rc ? rc : ex->finish(ex);
}

/* Work of the first run alone, and START of a method, are not counted. */
static int warm(const profiling *p) {
  kcl_executor *ex = &p->e->executor;
  kcl_profile unused = {0};
  int rc = kcl_timing_state(ex, KCL_MAX_NRHS);
  if (!rc) rc = ex->run(ex, KCL_START, 1);
  if (!rc) rc = ex->finish(ex);
  if (!rc) rc = kcl_profile_take(p->ctx, &unused);
  free(unused.entry);
  return rc;
}

static int count_passes(profiling *p) {
  kcl_bench_profile *out = p->out;
  kcl_hardware *h = !strcmp(p->ctx->device.kind, "gpu") ? NULL : kcl_hardware_begin();
  const double begin = kcl_now();
  int rc = run_profiled(p);
  out->seconds = kcl_now() - begin,
  out->iterations = (p->iterations + steps_of_batch(p) - 1) / steps_of_batch(p) * steps_of_batch(p);
  kcl_hardware_end(&h, &out->counters);
  if (!rc) rc = kcl_profile_take(p->ctx, &out->run);
  if (out->run.count) out->start_up = out->seconds - out->run.seconds;
  return rc;
}

static int read_result(profiling *p) {
  const kcl_program *k = p->e->program;
  kcl_executor *ex = &p->e->executor;
  const kcl_vec v = is_product(p) ? k->b : k->x;
  void *y;
  int rc = kcl_alloc(p->ctx, k->vector[v].n, kcl_type_size(k->type), "a vector", &y);
  for (int c = 0; c < k->nrhs && !rc; c++) rc = ex->get(ex, v, c, k->type, y, 1.0);
  free(y);
  return rc ? rc : kcl_profile_take(p->ctx, &p->out->read);
}

static int check_profile(kcl_context *ctx, const kcl_csr *A, int iterations,
                         kcl_bench_profile *out) {
  KCL_CALL(kcl_need(ctx, "out", out));
  *out = (kcl_bench_profile){0};
  KCL_CALL(kcl_need(ctx, "A", A));
  if (iterations > 0) return KCL_OK;
  return kcl_fail(ctx, KCL_USAGE, "%d iterations: at least one", iterations);
}

int kcl_bench_profiled(kcl_context *ctx, const kcl_csr *A, const kcl_options *o, bool product,
                       int iterations, kcl_bench_profile *out) {
  KCL_ENTER(ctx);
  kcl_system system = {0};
  kcl_engine *alone = NULL;
  kcl_solver *s = NULL;
  kcl_profile before = {0};
  int rc = check_profile(ctx, A, iterations, out);
  if (rc) return rc;
  KCL_TRY(kcl_profile_take(ctx, &before));
  if (product)
    KCL_TRY(kcl_bench_engine(ctx, A, o, &system, &alone));
  else
    KCL_TRY(kcl_setup(ctx, A, o, &s));
  if (s) kcl_draft_compile(&s->selection);
  profiling p = {ctx, product ? alone : s->selection.engine, iterations, out};
  out->bytes_stored = kcl_engine_stored_bytes(p.e);
  KCL_TRY(kcl_profile_take(ctx, &out->setup));
  KCL_TRY(write_vectors(&p));
  KCL_TRY(warm(&p));
  KCL_TRY(count_passes(&p));
  KCL_TRY(read_result(&p));
done:
  free(before.entry);
  kcl_engine_free(&alone), kcl_solver_free(&s);
  kcl_csr_free(&system.converted);
  if (rc) kcl_bench_profile_free(out);
  return rc;
}
