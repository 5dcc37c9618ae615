/* The kernels of stages: builds a program from its source, gives each stage its kernel and the arguments that do not change. */
#include "core/opencl/executor.h"
#include "core/opencl/persistent/persistent.h"
#include "core/opencl/series/series.h"

/* ---------------------------------------------------------------- building */

static int compose_program(kcl_run *r, const kcl_geometry *g, int part, kcl_composed *c) {
  const char *word = getenv("KRYLOCL_OPTIONS"); /* for kernel authors: -D tunables */
  int n = 0;
  if (g->registers) n = sprintf(c->options, "-cl-nv-maxrregcount=%d ", g->registers);
  snprintf(c->options + n, sizeof c->options - (size_t)n, "%s", word ? word : "");
  if (g->sum_block)
    kcl_put_rounding_options(run_context(r)->opencl, r->k->type, c->options, sizeof c->options);
  return kcl_program_source(r->k, g, &r->parts, part, &c->source);
}

static void forget_composed(kcl_run *r) {
  for (int i = 0; r->composed && i < kcl_run_programs(r); i++) free(r->composed[i].source);
  free(r->composed), r->composed = NULL;
}

void kcl_run_close_parts(kcl_run *r) {
  forget_composed(r);
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

int kcl_run_plan_kernels(kcl_run *r, bool persistent) {
  r->geometry.without_loop = persistent;
  kcl_run_close_parts(r);
  kcl_series_plan(r);
  if (r->geometry.interpreted)
    r->parts.count = 1;
  else
    KCL_CALL(kcl_parts_find(r->k, &r->geometry, &r->parts));
  KCL_CALL(kcl_alloc(run_context(r), kcl_run_programs(r), sizeof *r->composed, "kernels",
                     (void **)&r->composed));
  for (int i = 0; i < kcl_run_programs(r); i++)
    KCL_CALL(compose_program(r, kcl_run_geometry(r, i), i, &r->composed[i]));
  return KCL_OK;
}

static void list_composed(const kcl_run *r, kcl_build list[KCL_MOST_BUILDS]) {
  for (int i = 0; i < kcl_run_programs(r); i++)
    list[i] = (kcl_build){.source = r->composed[i].source,
                          .options = r->composed[i].options,
                          .few_headers = r->geometry.interpreted};
}

double kcl_opencl_expected(const kcl_executor *ex) {
  const kcl_run *r = ex->data;
  kcl_build list[KCL_MOST_BUILDS];
  if (!r->composed) return 0;
  list_composed(r, list);
  return kcl_compile_seconds(run_context(r), list, kcl_run_programs(r));
}

kcl_ahead *kcl_opencl_ahead(const kcl_executor *ex) {
  const kcl_run *r = ex->data;
  kcl_build list[KCL_MOST_BUILDS];
  if (!r->composed) return NULL;
  list_composed(r, list);
  return kcl_ahead_create(run_context(r), list, kcl_run_programs(r));
}

/* The programs of the stages, and of the persistent kernel or of series, if there is one. */
static int build_programs(kcl_run *r) {
  kcl_build list[KCL_MOST_BUILDS];
  const int parts = r->parts.count, all = kcl_run_programs(r);
  const double begin = kcl_now();
  list_composed(r, list);
  KCL_CALL(kcl_opencl_build(run_context(r), list, all));
  kcl_compile_note(run_context(r), list, all, kcl_now() - begin);
  for (int i = 0; i < parts; i++) r->part[i] = list[i].program;
  if (all > parts)
    *(r->geometry.without_loop ? &r->persistent.program : &r->series.program) = list[parts].program;
  forget_composed(r);
  return KCL_OK;
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

static cl_int set_turns(cl_kernel kernel, cl_uint *i, const kcl_turns_arguments *turns) {
  cl_int code = clSetKernelArg(kernel, (*i)++, sizeof turns->turns, &turns->turns);
  code |= clSetKernelArg(kernel, (*i)++, sizeof turns->turns_before, &turns->turns_before);
  return code |
         clSetKernelArg(kernel, (*i)++, sizeof(short) * (size_t)(turns->slots ? turns->slots : 1),
                        turns->slot);
}

/* All but number 1, the launch's: states, n, groups before, sums over ranks, history, matrix, vectors. A buffer costs 0.25 us a
 * launch (NVIDIA H200), so no stage is given the history that does not write it. */
static cl_int set_stage_arguments(kcl_run *r, const kcl_stage *s, const kcl_emit *owner,
                                  kcl_launch *l, size_t groups_before,
                                  const kcl_turns_arguments *turns) {
  cl_int code = CL_SUCCESS, groups = (cl_int)groups_before;
  cl_uint i = 2;
  code |= clSetKernelArg(l->kernel, 0, sizeof(cl_mem), &r->states);
  code |= kcl_run_set_index(r, l->kernel, i++,
                            s->A && s->A->format->scatter ? s->A->kernel.scatter_items : s->n);
  code |= clSetKernelArg(l->kernel, i++, sizeof groups, &groups);
  if (kcl_sums_are_argument(r->k)) code |= kcl_run_set_sums(r, l->kernel), i++;
  if (kcl_stage_writes_history(s))
    code |= clSetKernelArg(l->kernel, i++, sizeof(cl_mem), &r->history);
  if (s->A) code |= kcl_run_set_matrix(r, l->kernel, &i, s->A);
  if (kcl_lanes_are_argument(owner))
    code |= clSetKernelArg(l->kernel, i++, sizeof s->A->kernel.lanes, &s->A->kernel.lanes);
  kcl_vec list[KCL_MOST_STAGE_VECTORS];
  const int count = turns ? turns->vectors : kcl_stage_vectors(s, list, KCL_MOST_STAGE_VECTORS);
  for (int v = 0; v < count; v++)
    code |=
        clSetKernelArg(l->kernel, i++, sizeof(cl_mem), &r->vec[turns ? turns->vector[v] : list[v]]);
  if (turns) code |= set_turns(l->kernel, &i, turns);
  if (owner->passes_state) code |= kcl_run_set_state_sizes(r, l->kernel, &i);
  const int64_t scratch = kcl_stage_scratch(owner, s->A);
  if (scratch) code |= clSetKernelArg(l->kernel, i, (size_t)scratch * r->scalar_bytes, NULL);
  return code;
}

static int make_prepare(kcl_run *r, cl_program of, const kcl_stage *s, kcl_launch *l,
                        const char *stage_name) {
  char name[48];
  cl_int code;
  cl_uint i = 0;
  snprintf(name, sizeof name, "prepare%s", stage_name + strlen("stage"));
  l->prepare = clCreateKernel(of, name, &code);
  KCL_CALL(kcl_cl_check(run_context(r), code, "clCreateKernel", name));
  l->prepare_groups = kcl_run_groups_for(r, s->A->kernel.prepare_items);
  code |= kcl_run_set_index(r, l->prepare, i++, s->A->kernel.prepare_items);
  code |= clSetKernelArg(l->prepare, i++, sizeof(cl_mem), &r->vec[s->x]);
  code |= kcl_run_set_matrix(r, l->prepare, &i, s->A);
  l->prepare_first = i, l->steps = s->A->steps ? s->A : NULL;
  code |= kcl_run_set_index(r, l->prepare, i, 0);
  return kcl_cl_check(run_context(r), code, "clSetKernelArg", name);
}

static int make_kernel(kcl_run *r, kcl_phase phase, int number) {
  const kcl_stage *s = &r->k->stage[phase][number];
  kcl_launch *l = &r->launch[phase][number];
  if (r->geometry.interpreted) return kcl_interpreter_launch(r, phase, number, l);
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
  KCL_CALL(kcl_cl_check(run_context(r), code, "clCreateKernel", name));
  l->groups = kcl_run_groups(r, s), l->group = r->group;
  l->calls = s->called ? s : NULL;
  if (s->A && s->A->kernel.prepare_items) KCL_CALL(make_prepare(r, of, s, l, name));
  if (s->A && s->A->format->scatter)
    l->zeroed = r->vec[s->y], l->zeroed_bytes = (size_t)s->n * r->scalar_bytes;
  const kcl_stage *before = kcl_stage_previous(r->k, phase, number);
  l->given_sums = kcl_sums_are_argument(r->k) && before && kcl_stage_dots(before);
  size_t groups_before = before && !kcl_program_ranks(r->k) ? kcl_run_groups(r, before) : 1;
  kcl_turns_arguments turns;
  const bool counts = kcl_stage_counts_turns(r->k, &r->geometry, phase, number) &&
                      kcl_stage_serves(r->k, phase, at->number, number, &turns);
  const kcl_emit owner = kcl_emit_owner(r->k, &r->geometry, at);
  return kcl_cl_check(run_context(r),
                      set_stage_arguments(r, s, &owner, l, groups_before, counts ? &turns : NULL),
                      "clSetKernelArg", name);
}

int kcl_run_stage_kernels(kcl_run *r, bool persistent) {
  if (!r->composed) KCL_CALL(kcl_run_plan_kernels(r, persistent));
  KCL_CALL(build_programs(r));
  KCL_CALL(kcl_series_open(r));
  if (r->geometry.interpreted) KCL_CALL(kcl_interpreter_open(r));
  for (int phase = 0; phase < KCL_PHASES; phase++) {
    if (r->launch[phase] || (kcl_phase_persistent(phase) && persistent)) continue;
    KCL_CALL(kcl_alloc(run_context(r), r->k->stages[phase], sizeof(kcl_launch), "kernels",
                       (void **)&r->launch[phase]));
    for (int i = 0; i < r->k->stages[phase]; i += r->launch[phase][i].stages)
      KCL_CALL(make_kernel(r, phase, i));
  }
  return KCL_OK;
}
