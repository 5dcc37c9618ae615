/* Sizes of launches, kernel arguments, building a program from its source, and the kernels of stages. */
#include "core/opencl/emit.h"
#include "core/opencl/executor.h"
#include "core/opencl/persistent_plan.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t at_most(const kcl_run *r, int64_t groups) {
  if (groups > r->geometry.groups_max) groups = r->geometry.groups_max;
  return groups < 1 ? 1 : (size_t)groups;
}

size_t kcl_run_groups_for(const kcl_run *r, int64_t items) {
  int64_t per_group = r->group == 1 ? 64 : (int64_t)r->group;
  return at_most(r, (items + per_group - 1) / per_group);
}

size_t kcl_run_groups(const kcl_run *r, const kcl_stage *s) {
  const kcl_matrix *A = s->A;
  const int block = r->geometry.sum_block;
  if (s->n == 0) return 1;
  if (block) return (size_t)((s->n + block - 1) / block);
  if (A && A->tasks) return at_most(r, A->tasks);
  return kcl_run_groups_for(r,
                            A && A->format->scatter ? A->scatter_items : s->n * (A ? A->lanes : 1));
}

cl_int kcl_run_set_index(const kcl_run *r, cl_kernel kernel, cl_uint i, int64_t value) {
  cl_long wide_value = value;
  cl_int narrow_value = (cl_int)value;
  return r->geometry.wide_index ? clSetKernelArg(kernel, i, sizeof wide_value, &wide_value)
                                : clSetKernelArg(kernel, i, sizeof narrow_value, &narrow_value);
}

cl_int kcl_run_set_matrix(const kcl_run *r, cl_kernel kernel, cl_uint *i, const kcl_matrix *A) {
  cl_int code = CL_SUCCESS;
  for (int a = 0; a < A->arrays; a++)
    code |= clSetKernelArg(kernel, (*i)++, sizeof(cl_mem), &A->device[a]);
  for (int p = 0; p < A->params; p++)
    code |= kcl_run_set_index(r, kernel, (*i)++, A->param[p].value);
  return code;
}

size_t kcl_run_state(const kcl_run *r) { return (r->number & 1) * r->state_bytes; }

cl_int kcl_run_number(kcl_run *r, cl_kernel kernel) {
  const cl_uint number = r->number++;
  return clSetKernelArg(kernel, 1, sizeof number, &number);
}

/* ---------------------------------------------------------------- building */

typedef struct composed_program {
  char options[512], *source;
} composed_program;

static int compose_program(kcl_run *r, const kcl_geometry *g, int part, composed_program *c) {
  const char *word = getenv("KRYLOCL_OPTIONS"); /* for kernel authors: -D tunables */
  int n = 0;
  if (g->registers) n = sprintf(c->options, "-cl-nv-maxrregcount=%d ", g->registers);
  snprintf(c->options + n, sizeof c->options - (size_t)n, "%s", word ? word : "");
  return kcl_program_source(r->k, g, &r->parts, part, &c->source);
}

void kcl_run_close_parts(kcl_run *r) {
  for (int i = 0; i < KCL_MOST_PARTS; i++)
    if (r->part[i]) clReleaseProgram(r->part[i]), r->part[i] = NULL;
  kcl_parts_free(&r->parts);
}

const kcl_geometry *kcl_run_geometry(const kcl_run *r, int program) {
  if (program < r->parts.count) return &r->geometry;
  return r->geometry.without_loop ? &r->persistent.geometry : &r->series.geometry;
}

int kcl_run_programs(const kcl_run *r) {
  return r->parts.count + (r->geometry.without_loop || r->series.geometry.series);
}

/* The programs of the stages, and of the persistent kernel or of series, if there is one. */
static int build_programs(kcl_run *r) {
  composed_program text[KCL_MOST_BUILDS] = {{.source = NULL}};
  kcl_build list[KCL_MOST_BUILDS];
  const int parts = r->parts.count, all = kcl_run_programs(r);
  int rc;
  for (int i = 0; i < all; i++) {
    KCL_TRY(compose_program(r, kcl_run_geometry(r, i), i, &text[i]));
    list[i] = (kcl_build){text[i].source, text[i].options, NULL};
  }
  KCL_TRY(kcl_opencl_build(run_context(r), list, all));
  for (int i = 0; i < parts; i++) r->part[i] = list[i].program;
  if (all > parts)
    *(r->geometry.without_loop ? &r->persistent.program : &r->series.program) = list[parts].program;
done:
  for (int i = 0; i < all; i++) free(text[i].source);
  return rc;
}

/* ---------------------------------------------------------------- the kernels of stages */

void kcl_run_close_launches(kcl_run *r) {
  for (int p = 0; p < KCL_PHASES; p++) {
    for (int i = 0; r->launch[p] && i < r->k->stages[p]; i++) {
      if (r->launch[p][i].kernel) clReleaseKernel(r->launch[p][i].kernel);
      if (r->launch[p][i].prepare) clReleaseKernel(r->launch[p][i].prepare);
    }
    free(r->launch[p]);
    r->launch[p] = NULL;
  }
}

size_t kcl_run_sums(const kcl_run *r) { return kcl_run_state(r) + kcl_poll_bytes(r->k); }

/* Arguments 3 and 4 of a stage of several ranks. */
static cl_int set_sums(const kcl_run *r, cl_kernel kernel) {
  static const double zero[2 * KCL_MAX_NRHS * KCL_MOST_STAGE_OPS];
  const cl_int groups = r->ranks.totals ? 0 : 1;
  const size_t bytes = (size_t)(kcl_program_dots(r->k) * r->width) * r->scalar_bytes;
  const cl_int code = clSetKernelArg(kernel, 3, sizeof groups, &groups);
  return code | clSetKernelArg(kernel, 4, bytes, r->ranks.totals ? r->ranks.total : (char *)zero);
}

/* All but number 1, the launch's: states, n, groups before, sums over ranks, history, matrix, vectors. A buffer costs 0.25 us a
 * launch (NVIDIA H200), so no stage is given the history that does not write it. */
static cl_int set_stage_arguments(kcl_run *r, const kcl_stage *s, kcl_launch *l,
                                  size_t groups_before) {
  cl_int code = CL_SUCCESS, groups = (cl_int)groups_before;
  cl_uint i = 2;
  code |= clSetKernelArg(l->kernel, 0, sizeof(cl_mem), &r->states);
  code |= kcl_run_set_index(r, l->kernel, i++,
                            s->A && s->A->format->scatter ? s->A->scatter_items : s->n);
  code |= clSetKernelArg(l->kernel, i++, sizeof groups, &groups);
  if (kcl_sums_are_argument(r->k)) code |= set_sums(r, l->kernel), i++;
  if (kcl_stage_writes_history(s))
    code |= clSetKernelArg(l->kernel, i++, sizeof(cl_mem), &r->history);
  if (s->A) code |= kcl_run_set_matrix(r, l->kernel, &i, s->A);
  kcl_vec list[KCL_MOST_STAGE_VECTORS];
  int count = kcl_stage_vectors(s, list, KCL_MOST_STAGE_VECTORS);
  for (int v = 0; v < count; v++)
    code |= clSetKernelArg(l->kernel, i++, sizeof(cl_mem), &r->vec[list[v]]);
  return code;
}

static int make_prepare(kcl_run *r, cl_program of, const kcl_stage *s, kcl_launch *l,
                        const char *stage_name) {
  char name[48];
  cl_int code;
  cl_uint i = 0;
  snprintf(name, sizeof name, "prepare%s", stage_name + strlen("stage"));
  l->prepare = clCreateKernel(of, name, &code);
  int rc = kcl_cl_check(run_context(r), code, "clCreateKernel", name);
  if (rc) return rc;
  l->prepare_groups = kcl_run_groups_for(r, s->A->prepare_items);
  code |= kcl_run_set_index(r, l->prepare, i++, s->A->prepare_items);
  code |= clSetKernelArg(l->prepare, i++, sizeof(cl_mem), &r->vec[s->x]);
  code |= kcl_run_set_matrix(r, l->prepare, &i, s->A);
  l->prepare_first = i, l->steps = s->A->steps ? s->A : NULL;
  code |= kcl_run_set_index(r, l->prepare, i, 0);
  return kcl_cl_check(run_context(r), code, "clSetKernelArg", name);
}

static int make_kernel(kcl_run *r, kcl_phase phase, int number) {
  const kcl_stage *s = &r->k->stage[phase][number];
  kcl_launch *l = &r->launch[phase][number];
  l->stages = kcl_series_length(r->k, &r->geometry, phase, number);
  if (l->stages) return kcl_series_launch(r, phase, number, l);
  l->stages = 1;
  char name[40], id[32];
  cl_int code;
  const kcl_stage_kernel *at = &r->parts.of[phase][number];
  cl_program of = r->part[at->part];
  kcl_stage_id(r->k, at->phase, at->number, id);
  snprintf(name, sizeof name, "stage_%s", id);
  if (at->alone) snprintf(name, sizeof name, "stage_shared");
  l->kernel = clCreateKernel(of, name, &code);
  int rc = kcl_cl_check(run_context(r), code, "clCreateKernel", name);
  if (rc) return rc;
  l->groups = kcl_run_groups(r, s), l->group = r->group;
  if (s->A && s->A->prepare_items && (rc = make_prepare(r, of, s, l, name))) return rc;
  if (s->A && s->A->format->scatter)
    l->zeroed = r->vec[s->y], l->zeroed_bytes = (size_t)s->n * r->scalar_bytes;
  const kcl_stage *before = kcl_stage_previous(r->k, phase, number);
  l->given_sums = kcl_sums_are_argument(r->k) && before && kcl_stage_dots(before);
  size_t groups_before = before && !kcl_program_ranks(r->k) ? kcl_run_groups(r, before) : 1;
  return kcl_cl_check(run_context(r), set_stage_arguments(r, s, l, groups_before), "clSetKernelArg",
                      name);
}

int kcl_run_stage_kernels(kcl_run *r, bool persistent) {
  int rc;
  r->geometry.without_loop = persistent;
  kcl_run_close_parts(r);
  kcl_series_plan(r);
  KCL_TRY(kcl_parts_find(r->k, &r->geometry, &r->parts));
  KCL_TRY(build_programs(r));
  KCL_TRY(kcl_series_open(r));
  for (int phase = 0; phase < KCL_PHASES; phase++) {
    if (r->launch[phase] || (kcl_phase_persistent(phase) && persistent)) continue;
    KCL_TRY(kcl_alloc(run_context(r), r->k->stages[phase], sizeof(kcl_launch), "kernels",
                      (void **)&r->launch[phase]));
    for (int i = 0; i < r->k->stages[phase]; i += r->launch[phase][i].stages)
      KCL_TRY(make_kernel(r, phase, i));
  }
done:
  return rc;
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
  if (l->given_sums && r->ranks.ready) code |= set_sums(r, l->kernel);
  return code ? code
              : clEnqueueNDRangeKernel(run_queue(r), l->kernel, 1, NULL, &global, &l->group, 0,
                                       NULL, kcl_profile_launch(o, l->kernel, l->group));
}
