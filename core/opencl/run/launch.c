/* Sizes of launches, their arguments, and one launch. */
#include "core/opencl/run/run.h"

static size_t at_most(const kcl_run *r, int64_t groups) {
  if (groups > r->geometry.groups_max) groups = r->geometry.groups_max;
  return groups < 1 ? 1 : (size_t)groups;
}

size_t kcl_run_groups_for(const kcl_run *r, int64_t items) {
  int64_t per_group = r->group == 1 ? 64 : (int64_t)r->group;
  return at_most(r, (items + per_group - 1) / per_group);
}

size_t kcl_run_groups(const kcl_run *r, const kcl_stage *s) {
  const kcl_stored *A = s->A;
  const int block = r->geometry.sum_block;
  if (s->n == 0) return 1;
  if (block) return (size_t)((s->n + block - 1) / block);
  if (A && A->kernel.tasks) return at_most(r, A->kernel.tasks);
  return kcl_run_groups_for(r, A && A->format->scatter ? A->kernel.scatter_items
                                                       : s->n * (A ? A->kernel.lanes : 1));
}

cl_int kcl_run_set_index(const kcl_run *r, cl_kernel kernel, cl_uint i, int64_t value) {
  cl_long wide_value = value;
  cl_int narrow_value = (cl_int)value;
  return r->geometry.wide_index ? clSetKernelArg(kernel, i, sizeof wide_value, &wide_value)
                                : clSetKernelArg(kernel, i, sizeof narrow_value, &narrow_value);
}

cl_int kcl_run_set_matrix(const kcl_run *r, cl_kernel kernel, cl_uint *i, const kcl_stored *A) {
  cl_int code = CL_SUCCESS;
  for (int a = 0; a < A->arrays; a++)
    code |= clSetKernelArg(kernel, (*i)++, sizeof(cl_mem), &A->device[a]);
  for (int p = 0; p < A->params; p++)
    code |= kcl_run_set_index(r, kernel, (*i)++, A->param[p].value);
  return code;
}

cl_int kcl_run_set_state_sizes(const kcl_run *r, cl_kernel kernel, cl_uint *i) {
  const cl_int words = (cl_int)(r->state_bytes / sizeof(cl_int)), slots = r->k->slots;
  const cl_int code = clSetKernelArg(kernel, (*i)++, sizeof words, &words);
  return code | clSetKernelArg(kernel, (*i)++, sizeof slots, &slots);
}

size_t kcl_run_state(const kcl_run *r) { return (r->number & 1) * r->state_bytes; }

cl_int kcl_run_number(kcl_run *r, cl_kernel kernel) {
  const cl_uint number = r->number++;
  return clSetKernelArg(kernel, 1, sizeof number, &number);
}

size_t kcl_run_sums(const kcl_run *r) { return kcl_run_state(r) + kcl_poll_bytes(r->k); }

/* Arguments 3 and 4 of a stage of several ranks. */
cl_int kcl_run_set_sums(const kcl_run *r, cl_kernel kernel) {
  static const double zero[2 * KCL_MAX_NRHS * KCL_MOST_STAGE_OPS];
  const cl_int groups = r->ranks.totals ? 0 : 1;
  const size_t bytes = (size_t)(kcl_program_dots(r->k) * r->width) * r->scalar_bytes;
  const cl_int code = clSetKernelArg(kernel, 3, sizeof groups, &groups);
  return code | clSetKernelArg(kernel, 4, bytes, r->ranks.totals ? r->ranks.total : (char *)zero);
}

static cl_int enqueue_prepare(kcl_run *r, const kcl_launch *l, size_t groups) {
  const size_t items = groups * r->group;
  return clEnqueueNDRangeKernel(run_queue(r), l->prepare, 1, NULL, &items, &r->group, 0, NULL,
                                kcl_profile_launch(run_context(r)->opencl, l->prepare, r->group));
}

static cl_int enqueue_steps(kcl_run *r, const kcl_launch *l) {
  const int64_t *step = l->steps->step;
  cl_int code = CL_SUCCESS;
  for (int64_t i = 0; i < l->steps->steps && !code; i++) {
    code |= kcl_run_set_index(r, l->prepare, 0, step[i + 1] - step[i]);
    code |= kcl_run_set_index(r, l->prepare, l->prepare_first, step[i]);
    code |= enqueue_prepare(r, l, kcl_run_groups_for(r, step[i + 1] - step[i]));
  }
  return code;
}

cl_int kcl_run_enqueue(kcl_run *r, const kcl_launch *l) {
  kcl_opencl *o = run_context(r)->opencl;
  const cl_uint zero = 0;
  cl_int code = CL_SUCCESS;
  size_t global = l->groups * l->group;
  if (l->zeroed)
    code = clEnqueueFillBuffer(run_queue(r), l->zeroed, &zero, sizeof zero, 0, l->zeroed_bytes, 0,
                               NULL, kcl_profile_event(o, "fill", l->zeroed_bytes));
  if (l->prepare) code |= l->steps ? enqueue_steps(r, l) : enqueue_prepare(r, l, l->prepare_groups);
  code |= kcl_run_number(r, l->kernel);
  if (l->given_sums && r->ranks.ready) code |= kcl_run_set_sums(r, l->kernel);
  return code ? code
              : clEnqueueNDRangeKernel(run_queue(r), l->kernel, 1, NULL, &global, &l->group, 0,
                                       NULL, kcl_profile_launch(o, l->kernel, l->group));
}
