/* The OpenCL executor: one launch per stage, one in-order queue, no wait inside an iteration. Small systems on GPUs: one
 * launch for many iterations (persistent.c).
 *
 * Two copies of the state take turns as input and output (kernels/stage.clh). After every batch the control blocks, the
 * slots and the batch's part of the history are read without blocking into pinned host memory; poll() waits for the oldest
 * such read, while the next batch already runs. Right-hand sides that nobody asked for have stopped before they begin.
 */
#include "core/opencl/executor.h"
#include "core/opencl/persistent/persistent.h"
#include "core/opencl/series/series.h"

/* ---------------------------------------------------------------- running */

/* History entries [from, to) of a column's ring, which may wrap. */
static cl_int read_history(kcl_run *r, int column, int64_t from, int64_t to) {
  size_t entry = KCL_HISTORY_FIELDS * r->real_bytes, ring = (size_t)column * KCL_HISTORY * entry;
  cl_int code = CL_SUCCESS;
  while (from < to && !code) {
    int64_t at = from % KCL_HISTORY, count = to - from;
    if (count > KCL_HISTORY - at) count = KCL_HISTORY - at;
    size_t offset = ring + (size_t)at * entry;
    code = clEnqueueReadBuffer(
        run_queue(r), r->history, CL_FALSE, offset, (size_t)count * entry,
        r->history_mirror + offset, 0, NULL,
        kcl_profile_event(run_context(r)->opencl, "read", (size_t)count * entry));
    from += count;
  }
  return code;
}

static cl_int read_histories(kcl_run *r, int64_t iterations) {
  cl_int code = CL_SUCCESS;
  for (int c = 0; c < r->width && !code; c++) {
    int64_t from = r->enqueued[c];
    if (r->idle[c]) continue;
    r->enqueued[c] += iterations;
    code = read_history(r, c, from, r->enqueued[c]);
  }
  return code;
}

static cl_int await_poll(kcl_run *r) {
  cl_int code = clWaitForEvents(1, &r->ready[r->first]);
  clReleaseEvent(r->ready[r->first]);
  r->ready[r->first] = NULL;
  return code;
}

/* After a failure, too: functions may exchange elements with those of other ranks. */
static int call_on_ranks(kcl_run *r, const kcl_stage *s, int status) {
  const int rc = kcl_run_call_stage(r, s);
  return status ? status : rc;
}

/* Runs passes in step with the other ranks, to the last one, the one in which all have stopped, or a sum that reports a failure. */
static int run_on_ranks(kcl_run *r, kcl_phase phase, int64_t times, int status) {
  r->ranks.stopped = false;
  for (int64_t t = 0; t < times && !r->ranks.stopped; t++)
    for (int i = 0; i < r->k->stages[phase]; i++) {
      const kcl_stage *s = &r->k->stage[phase][i];
      if (s->called) status = call_on_ranks(r, s, status);
      status = kcl_run_stage_on_ranks(r, s, &r->launch[phase][i], status);
      if (status && kcl_stage_dots(s)) return status;
    }
  return kcl_run_leave_sums(r, status); /* the caller agrees on it (distributed/executor.c) */
}

/* Enqueues passes over a phase, stage by stage. */
static int run_stages(kcl_run *r, kcl_phase phase, int64_t times) {
  cl_int code = CL_SUCCESS;
  int rc = KCL_OK;
  for (int64_t t = 0; t < times && !rc && !code; t++)
    for (int i = 0; i < r->k->stages[phase] && !rc && !code; i += r->launch[phase][i].stages) {
      const kcl_launch *l = &r->launch[phase][i];
      if (l->calls) rc = kcl_run_call_stage(r, l->calls);
      if (!rc) code = kcl_run_enqueue(r, l);
    }
  return rc ? rc : kcl_cl_check(run_context(r), code, "clEnqueueNDRangeKernel", "iterating");
}

static int run_batch(kcl_executor *ex, kcl_phase phase, int64_t times) {
  kcl_run *r = ex->data;
  cl_int code = CL_SUCCESS;
  if (r->polls == KCL_MOST_POLLS) { /* nobody looked: the oldest is overwritten */
    code = await_poll(r);
    r->first = (r->first + 1) % KCL_MOST_POLLS, r->polls--;
  }
  bool persistent = phase == KCL_LOOP && r->persistent.kernel;
  if (phase == KCL_START) r->persistent.since_replace = 0;
  if (persistent && !code) code = kcl_persistent_kernel.enqueue(r, times);
  if (r->ranks.ready)
    KCL_CALL(
        run_on_ranks(r, phase, times, kcl_cl_check(run_context(r), code, "clFinish", "iterating")));
  else if (!code && !persistent)
    KCL_CALL(run_stages(r, phase, times));
  if (!code && phase == KCL_LOOP) code = read_histories(r, times * r->k->iterations);
  if (phase == KCL_REPLACE)
    return kcl_cl_check(run_context(r), code, "clEnqueueNDRangeKernel", "iterating");
  int slot = (r->first + r->polls) % KCL_MOST_POLLS;
  if (!code)
    code = clEnqueueReadBuffer(run_queue(r), r->states, CL_FALSE, kcl_run_state(r),
                               kcl_poll_bytes(r->k), r->mirror[slot], 0, NULL, &r->ready[slot]);
  if (!code) kcl_profile_keep(run_context(r)->opencl, r->ready[slot], "read", kcl_poll_bytes(r->k));
  if (!code) r->polls++, code = clFlush(run_queue(r));
  return kcl_cl_check(run_context(r), code, "clEnqueueNDRangeKernel", "iterating");
}

static int opencl_run(kcl_executor *ex, kcl_phase phase, int64_t times) {
  kcl_run_expect(ex->data, phase, times);
  return run_batch(ex, phase, times);
}

static int opencl_finish(kcl_executor *ex) {
  kcl_run *r = ex->data;
  cl_int code = clFinish(run_queue(r));
  while (r->polls) {
    clReleaseEvent(r->ready[r->first]);
    r->ready[r->first] = NULL;
    r->first = (r->first + 1) % KCL_MOST_POLLS, r->polls--;
  }
  int rc = kcl_cl_check(run_context(r), code, "clFinish", "iterating");
  bool lost = false;
  if (!rc) rc = kcl_persistent_kernel.check(r, &lost);
  if (!rc && !lost) {
    rc = kcl_run_check_series(r, &lost);
    if (lost) kcl_run_close_launches(r), kcl_series_close(r);
  }
  if (rc || !lost) return rc;
  ex->replaces = false, r->geometry.series_groups = 0;
  return kcl_run_stage_kernels(r, false);
}

static int next_poll(kcl_run *r) {
  const double begin = kcl_now();
  int rc = kcl_cl_check(run_context(r), await_poll(r), "clWaitForEvents", "iterating");
  if (!rc) kcl_run_measure_pace(r, r->first, begin);
  r->first = (r->first + 1) % KCL_MOST_POLLS, r->polls--;
  return rc;
}

/* The state after the oldest batch; on several ranks after the latest, as on the native executor. */
static int opencl_poll(kcl_executor *ex, kcl_control *control, double *rr) {
  kcl_run *r = ex->data;
  if (!r->polls) return KCL_OK;
  while (kcl_program_ranks(r->k) && r->polls > 1) KCL_CALL(next_poll(r));
  const int slot = r->first;
  KCL_CALL(next_poll(r));
  memcpy(control, r->mirror[slot], (size_t)r->k->nrhs * sizeof *control);
  for (int c = 0; c < r->k->nrhs; c++)
    rr[c] = run_real_at(r, r->mirror[slot] + kcl_run_slot(r, r->k->rr, c));
  if (!control->group_missing && !control->group_lost) return KCL_OK;
  control->group_missing = control->group_lost = 0;
  return opencl_finish(ex);
}

static double opencl_scalar(const kcl_executor *ex, kcl_slot slot, int rhs) {
  const kcl_run *r = ex->data;
  const int latest = (r->first + KCL_MOST_POLLS - 1) % KCL_MOST_POLLS;
  return run_real_at(r, r->mirror[latest] + kcl_run_slot(r, slot, rhs));
}

static int opencl_history(kcl_executor *ex, int column, int64_t from, int64_t to, double *out) {
  kcl_run *r = ex->data;
  const char *ring =
      r->history_mirror + (size_t)column * KCL_HISTORY * KCL_HISTORY_FIELDS * r->real_bytes;
  for (int64_t i = from; i < to; i++)
    for (int j = 0; j < KCL_HISTORY_FIELDS; j++)
      *out++ =
          run_real_at(r, ring + (size_t)(i % KCL_HISTORY * KCL_HISTORY_FIELDS + j) * r->real_bytes);
  return KCL_OK;
}

/* ---------------------------------------------------------------- vectors and state */

static int opencl_put(kcl_executor *ex, kcl_vec v, int rhs, kcl_type type, const void *values,
                      double scale) {
  return kcl_run_put(ex->data, v, rhs, type, values, scale);
}

static int opencl_get(kcl_executor *ex, kcl_vec v, int rhs, kcl_type type, void *values,
                      double scale) {
  return kcl_run_get(ex->data, v, rhs, type, values, scale);
}

static size_t opencl_state_bytes(const kcl_executor *ex) { return kcl_run_saved_bytes(ex->data); }

static void *opencl_memory(kcl_executor *ex, kcl_vec v) {
  const kcl_run *r = ex->data;
  cl_mem buffer = r->vec[v];
  return buffer;
}

static void *opencl_table(kcl_executor *ex) {
  const kcl_run *r = ex->data;
  return r->series.table;
}

/* ---------------------------------------------------------------- opening and closing */

static void close_run(kcl_executor *ex) {
  kcl_run *r = ex->data;
  if (!r) return;
  clFinish(run_queue(r));
  while (r->polls) {
    clReleaseEvent(r->ready[r->first]);
    r->first = (r->first + 1) % KCL_MOST_POLLS;
    r->polls--;
  }
  kcl_run_close_launches(r);
  kcl_run_close_parts(r);
  kcl_series_close(r);
  kcl_interpreter_close(r);
  kcl_persistent_kernel.close(r);
  kcl_run_close_ranks(r);
  kcl_run_close_vectors(r);
  if (r->states) clReleaseMemObject(r->states);
  if (r->history) clReleaseMemObject(r->history);
  kcl_opencl_unpin_host(run_context(r), &r->called);
  kcl_opencl_unpin_host(run_context(r), &r->pinned);
  free(r);
}

static int launches(const kcl_executor *ex, kcl_phase phase, int stage) {
  const kcl_run *r = ex->data;
  const kcl_launch *l = r->launch[phase] ? &r->launch[phase][stage] : NULL;
  if (!l || !l->kernel) return 0;
  return 1 + (l->prepare ? l->steps ? (int)l->steps->steps : 1 : 0);
}

static cl_program program_of_run(const kcl_run *r, int i) {
  if (i < r->parts.count) return r->part[i];
  return r->geometry.without_loop ? r->persistent.program : r->series.program;
}

/* The compiled source: the kernels of stages, then the persistent kernel or series, if there is one. */
static int opencl_source(kcl_executor *ex, char **out) {
  kcl_run *r = ex->data;
  char *text = NULL;
  size_t size;
  int rc = KCL_OK;
  FILE *f = open_memstream(out, &size);
  if (!f) return kcl_fail(run_context(r), KCL_MEMORY, "out of memory: source");
  for (int i = 0; i < kcl_run_programs(r) && !rc; i++) {
    rc = kcl_program_source(r->k, kcl_run_geometry(r, i), &r->parts, i, &text);
    if (!rc) fputs(text, f);
    if (!rc) kcl_opencl_put_usage(f, run_context(r)->opencl, program_of_run(r, i));
    free(text), text = NULL;
  }
  const bool lost = ferror(f);
  if ((fclose(f) || lost) && !rc)
    rc = kcl_fail(run_context(r), KCL_MEMORY, "out of memory: source");
  if (rc) free(*out), *out = NULL;
  return rc;
}

static int pin_mirrors(kcl_run *r) {
  size_t state = (kcl_poll_bytes(r->k) + 63) / 64 * 64;
  size_t bytes =
      KCL_MOST_POLLS * state + (size_t)r->width * KCL_HISTORY * KCL_HISTORY_FIELDS * r->real_bytes;
  KCL_CALL(kcl_opencl_pin_host(run_context(r), bytes, "pinning memory", &r->pinned));
  r->mirror[0] = r->pinned.data, r->mirror[1] = r->mirror[0] + state;
  r->history_mirror = r->mirror[0] + KCL_MOST_POLLS * state;
  return KCL_OK;
}

static int allocate_run(kcl_run *r) {
  kcl_context *ctx = run_context(r);
  kcl_program *k = r->k;
  int64_t messages = 0;
  r->state_bytes = kcl_state_bytes(k, &r->geometry);
  for (int i = 0; i < k->ops; i++)
    if (k->op[i].matrix->kernel.message_slots > messages)
      messages = k->op[i].matrix->kernel.message_slots;
  KCL_CALL(kcl_opencl_buffer(ctx, 2 * (r->state_bytes + (size_t)messages * r->scalar_bytes),
                             "the state", &r->states));
  r->number = 2; /* no message carries it yet */
  KCL_CALL(kcl_opencl_buffer(ctx,
                             (size_t)r->width * KCL_HISTORY * KCL_HISTORY_FIELDS * r->real_bytes,
                             "the history", &r->history));
  KCL_CALL(pin_mirrors(r));
  KCL_CALL(kcl_run_open_calls(r));
  return kcl_run_open_vectors(r);
}

/* Some drivers finish compiling at the first launch: do that now, with a state that says stop. */
static int first_launches(kcl_executor *ex) {
  kcl_control control[KCL_MAX_NRHS];
  const double target[KCL_MAX_NRHS] = {0};
  kcl_watch_expect(run_context(ex->data)->opencl, INFINITY);
  for (int c = 0; c < KCL_MAX_NRHS; c++) control[c] = (kcl_control){.stop = 1};
  int rc = kcl_run_set_state(ex, control, target);
  for (int phase = 0; phase < KCL_PHASES && !rc; phase++)
    if (!(phase == KCL_REPLACE && ex->replaces)) rc = run_batch(ex, phase, 1);
  return rc ? rc : opencl_finish(ex);
}

/* KRYLOCL_INTERPRETER=1: for all programs that it suits. */
static void prefer_interpreter(kcl_program *k) {
  const char *word = getenv("KRYLOCL_INTERPRETER");
  if (!word || strcmp(word, "1")) return;
  const kcl_geometry g = kcl_choose_geometry(k);
  if (kcl_interpreter_suits(k, &g)) k->fusion = KCL_INTERPRETED_STAGES;
}

static int plan_run(kcl_program *k, kcl_run *r) {
  r->k = k;
  r->width = kcl_rhs_width(k);
  prefer_interpreter(k);
  r->scalar_bytes = kcl_type_size(k->type);
  r->real_bytes = kcl_type_complex(k->type) ? r->scalar_bytes / 2 : r->scalar_bytes;
  r->geometry = kcl_choose_geometry(k), r->group = (size_t)r->geometry.group;
  if (r->geometry.sum_block) KCL_CALL(kcl_check_rounding(k->ctx, k->type));
  if (k->fusion == KCL_INTERPRETED_STAGES && !r->geometry.interpreted)
    return kcl_fail(k->ctx, KCL_REFUSED, "the interpreter does not suit this program");
  const bool persistent = kcl_persistent_kernel.wanted(r);
  if (persistent) KCL_CALL(kcl_persistent_kernel.prepare(r));
  return kcl_run_plan_kernels(r, persistent);
}

int kcl_opencl_plan(kcl_program *k, kcl_executor *ex) {
  const double begin = kcl_now();
  kcl_run *r;
  KCL_CALL(kcl_alloc(k->ctx, 1, sizeof *r, "the executor", &ex->data));
  r = ex->data;
  *ex = (kcl_executor){.data = r,
                       .run = opencl_run,
                       .put = opencl_put,
                       .get = opencl_get,
                       .set_state = kcl_run_set_state,
                       .poll = opencl_poll,
                       .scalar = opencl_scalar,
                       .history = opencl_history,
                       .finish = opencl_finish,
                       .save = kcl_run_save,
                       .load = kcl_run_load,
                       .carry = kcl_run_carry,
                       .state_bytes = opencl_state_bytes,
                       .get_state = kcl_run_read_state,
                       .put_state = kcl_run_write_state,
                       .multiply = kcl_run_multiply,
                       .memory = opencl_memory,
                       .table = opencl_table,
                       .column = kcl_run_column,
                       .launches = launches,
                       .source = opencl_source,
                       .close = close_run};
  const int rc = plan_run(k, r);
  ex->seconds_compile = kcl_now() - begin;
  return rc;
}

int kcl_opencl_open(kcl_program *k, kcl_executor *ex) {
  kcl_run *r = ex->data;
  const bool persistent = r->geometry.without_loop;
  double t = kcl_now();
  for (int i = 0; i < k->ops; i++) KCL_CALL(kcl_opencl_upload(k->op[i].matrix));
  KCL_CALL(allocate_run(r));
  KCL_CALL(opencl_finish(ex));
  ex->seconds_upload = kcl_now() - t;
  t = kcl_now();
  ex->compiled = -k->ctx->opencl->compiled, ex->from_cache = -k->ctx->opencl->from_cache;
  KCL_CALL(kcl_run_stage_kernels(r, persistent));
  if (r->width > 1 || k->product) KCL_CALL(kcl_run_column_kernels(r));
  if (kcl_program_ranks(k)) KCL_CALL(kcl_run_open_ranks(r));
  if (persistent) KCL_CALL(kcl_persistent_kernel.open(r));
  ex->replaces = r->persistent.kernel != NULL;
  kcl_activity_begin(k->ctx, (kcl_activity){.what = "starting kernels"});
  KCL_CALL(first_launches(ex));
  r->ranks.ready = kcl_program_ranks(k) != NULL;
  kcl_activity_end(k->ctx);
  ex->compiled += k->ctx->opencl->compiled, ex->from_cache += k->ctx->opencl->from_cache;
  ex->ends = r->ranks.ends;
  if (r->persistent.kernel) ex->least_iterations = kcl_persistent_kernel.least_iterations;
  ex->seconds_compile += kcl_now() - t;
  return KCL_OK;
}
