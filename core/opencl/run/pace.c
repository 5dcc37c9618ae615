/* Predicted seconds of what is enqueued, for the limit of waits (core/opencl/device/watch.c): the bytes of its stages at the slowest
 * pace that batches of this program had so far; before the first one 1 GB/s and 0.2 ms per launch. */
#include "core/opencl/run/run.h"

static const double FIRST_PACE = 1e-9; /* seconds per byte */
static const double FIRST_LAUNCH = 2e-4;

static double seconds_at_pace(const kcl_run *r, kcl_phase phase, double bytes, double times) {
  if (r->pace.slowest > 0) return r->pace.slowest * bytes;
  return FIRST_PACE * bytes + FIRST_LAUNCH * times * (r->k->stages[phase] + 1);
}

void kcl_run_expect(kcl_run *r, kcl_phase phase, int64_t times) {
  const int slot = (r->first + r->polls) % KCL_MOST_POLLS;
  const double bytes = (double)times * kcl_program_bytes(r->k, phase, r->k->nrhs),
               seconds = seconds_at_pace(r, phase, bytes, (double)times);
  kcl_watch_expect(run_context(r)->opencl, r->pace.before + seconds);
  r->pace.before = phase == KCL_REPLACE ? r->pace.before + seconds : seconds;
  r->pace.bytes[slot] = phase == KCL_LOOP ? bytes : 0, r->pace.began[slot] = kcl_now();
}

/* A batch that had ended before anybody waited says nothing: the host was busy. */
void kcl_run_measure_pace(kcl_run *r, int slot, double waiting_since) {
  const double now = kcl_now(), bytes = r->pace.bytes[slot];
  const double seconds = now - fmax(r->pace.began[slot], r->pace.ended);
  if (bytes > 0 && now - waiting_since > 0.1 * seconds)
    r->pace.slowest = fmax(r->pace.slowest, seconds / bytes);
  r->pace.ended = now;
}
