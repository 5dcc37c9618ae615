/* The state of a program on the device: control blocks, slots, partial sums (kernels/stage.clh). */
#include "core/opencl/run/run.h"

size_t kcl_run_slot(const kcl_run *r, kcl_slot slot, int rhs) {
  return (size_t)r->width * sizeof(kcl_control) + (size_t)(slot * r->width + rhs) * r->scalar_bytes;
}

int kcl_run_control(kcl_run *r, kcl_control *first) {
  const size_t bytes = sizeof *first;
  cl_int code =
      clEnqueueReadBuffer(run_queue(r), r->states, CL_TRUE, kcl_run_state(r), bytes, first, 0, NULL,
                          kcl_profile_event(run_context(r)->opencl, "read", bytes));
  return kcl_cl_check(run_context(r), code, "clEnqueueReadBuffer", "iterating");
}

int kcl_run_check_series(kcl_run *r, bool *missing) {
  kcl_control control;
  if (!r->series.program || r->geometry.series_groups == 1) return KCL_OK;
  int rc = kcl_run_control(r, &control);
  if (!rc && !control.group_lost) r->series.resident = true;
  if (rc || !control.group_lost) return rc;
  if (r->series.resident)
    return kcl_fail(run_context(r), KCL_DEVICE,
                    "%s: work-groups timed out at a grid barrier; KRYLOCL_SERIES=0 uses one launch "
                    "per stage instead",
                    run_context(r)->device.name);
  *missing = true;
  return KCL_OK;
}

int kcl_run_set_state(kcl_executor *ex, const kcl_control *control, const double *target) {
  kcl_run *r = ex->data;
  kcl_control all[KCL_MAX_NRHS];
  union {
    float single[2 * KCL_MAX_NRHS];
    double twice[2 * KCL_MAX_NRHS];
  } value = {{0}};
  kcl_opencl *o = run_context(r)->opencl;
  int parts = kcl_type_complex(r->k->type) ? 2 : 1;
  for (int c = 0; c < r->width; c++) {
    bool asked = c < r->k->nrhs;
    all[c] = asked ? control[c] : (kcl_control){.stop = 1};
    r->enqueued[c] = all[c].iteration, r->idle[c] = all[c].stop != 0;
    if (r->real_bytes == 4)
      value.single[c * parts] = asked ? (float)target[c] : 0;
    else
      value.twice[c * parts] = asked ? target[c] : 0;
  }
  cl_int code = r->group == 1 ? kcl_run_clear_padding(r) : CL_SUCCESS;
  code |= clEnqueueWriteBuffer(run_queue(r), r->states, CL_TRUE, kcl_run_state(r),
                               (size_t)r->width * sizeof *all, all, 0, NULL,
                               kcl_profile_event(o, "write", (size_t)r->width * sizeof *all));
  code |= clEnqueueWriteBuffer(run_queue(r), r->states, CL_TRUE,
                               kcl_run_state(r) + kcl_run_slot(r, r->k->target, 0),
                               (size_t)r->width * r->scalar_bytes, &value, 0, NULL,
                               kcl_profile_event(o, "write", (size_t)r->width * r->scalar_bytes));
  return kcl_cl_check(run_context(r), code, "clEnqueueWriteBuffer", "setting the state");
}

/* Carries the partial sums that LOOP begins by reducing to another program. The number of groups depends on the format, so the
 * first group gets the whole sum and the others zero. */
static void carry_sums(const kcl_run *r, const kcl_run *f, const char *old, char *state) {
  const kcl_stage *last = kcl_stage_previous(f->k, KCL_LOOP, 0);
  size_t groups = !last                     ? 0
                  : kcl_program_ranks(f->k) ? 1
                                            : kcl_run_groups(f, last),
         parts = r->scalar_bytes / r->real_bytes;
  const char *partial = old + kcl_poll_bytes(f->k);
  char *to = state + kcl_poll_bytes(r->k);
  int sums = last ? r->width * kcl_stage_dots(last) : 0;
  for (int d = 0; d < sums; d++) {
    double sum[2] = {0, 0};
    for (size_t i = 0; i < groups * parts; i++)
      sum[i % parts] += run_real_at(r, partial + i * r->real_bytes);
    for (size_t i = 0; i < parts; i++) {
      float narrow = (float)sum[i];
      if (r->real_bytes == 4)
        memcpy(to + 4 * i, &narrow, 4);
      else
        memcpy(to + 8 * i, &sum[i], 8);
    }
    partial += (size_t)f->geometry.partials_max * f->scalar_bytes;
    to += (size_t)r->geometry.partials_max * r->scalar_bytes;
  }
}

int kcl_run_carry(kcl_executor *to, const kcl_executor *from) {
  kcl_run *r = to->data;
  const kcl_run *f = from->data;
  kcl_opencl *o = run_context(r)->opencl;
  cl_int code = CL_SUCCESS;
  KCL_OWNED char *state = NULL, *old = NULL;
  KCL_CALL(kcl_alloc(run_context(r), (int64_t)r->state_bytes, 1, "the state", (void **)&state));
  KCL_CALL(kcl_alloc(run_context(r), (int64_t)f->state_bytes, 1, "the state", (void **)&old));
  for (int v = 0; v < r->k->vectors && !code; v++) {
    const size_t bytes = kcl_run_vector_bytes(r, v, r->k->vector[v].n);
    code = clEnqueueCopyBuffer(run_queue(r), f->vec[v], r->vec[v], 0, 0, bytes, 0, NULL,
                               kcl_profile_event(o, "copy", bytes));
  }
  if (!code)
    code = clEnqueueReadBuffer(run_queue(r), f->states, CL_TRUE, kcl_run_state(f), f->state_bytes,
                               old, 0, NULL, kcl_profile_event(o, "read", f->state_bytes));
  KCL_CALL(kcl_cl_check(run_context(r), code, "clEnqueueCopyBuffer", "changing the format"));
  memcpy(state, old, kcl_poll_bytes(r->k));
  carry_sums(r, f, old, state);
  memcpy(r->enqueued, f->enqueued, sizeof r->enqueued);
  memcpy(r->idle, f->idle, sizeof r->idle);
  r->persistent.since_replace = f->persistent.since_replace;
  code = clEnqueueWriteBuffer(run_queue(r), r->states, CL_TRUE, kcl_run_state(r), r->state_bytes,
                              state, 0, NULL, kcl_profile_event(o, "write", r->state_bytes));
  return kcl_cl_check(run_context(r), code, "clEnqueueWriteBuffer", "changing the format");
}

size_t kcl_run_saved_bytes(const kcl_run *r) { return sizeof(int64_t) + r->state_bytes; }

int kcl_run_read_state(kcl_executor *ex, void *bytes) {
  kcl_run *r = ex->data;
  const int64_t since = r->persistent.since_replace;
  memcpy(bytes, &since, sizeof since);
  cl_int code =
      clEnqueueReadBuffer(run_queue(r), r->states, CL_TRUE, kcl_run_state(r), r->state_bytes,
                          (char *)bytes + sizeof since, 0, NULL,
                          kcl_profile_event(run_context(r)->opencl, "read", r->state_bytes));
  return kcl_cl_check(run_context(r), code, "clEnqueueReadBuffer", "reading the state");
}

int kcl_run_write_state(kcl_executor *ex, const void *bytes) {
  kcl_run *r = ex->data;
  int64_t since;
  memcpy(&since, bytes, sizeof since);
  r->persistent.since_replace = (cl_int)since;
  cl_int code =
      clEnqueueWriteBuffer(run_queue(r), r->states, CL_TRUE, kcl_run_state(r), r->state_bytes,
                           (const char *)bytes + sizeof since, 0, NULL,
                           kcl_profile_event(run_context(r)->opencl, "write", r->state_bytes));
  return kcl_cl_check(run_context(r), code, "clEnqueueWriteBuffer", "setting the state");
}
