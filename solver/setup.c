/* kcl_setup: from a host matrix to an engine that is ready to run; for mixed precision to two engines. */
#include "core/matrix/structure.h"
#include "solver/engine/given.h"
#include "solver/engine/reproducible.h"
#include "solver/precond_object.h"
#include <stdio.h>

/* After a failed self-test of the driver: the first of a few formats whose kernels pass it. */
static int build_in_other_format(kcl_selection *c, const kcl_format *failed) {
  enum { FEW = 4 };
  const kcl_system *s = c->system;
  kcl_rank list[KCL_MOST_FORMATS];
  int count, rc = kcl_engine_predict(s, c->way.method, c->way.precond, list, &count);
  if (rc) return rc;
  rc = KCL_DEVICE; /* and the message is there */
  for (int i = 0; i < count && i < FEW && rc && s->ctx->wrong_kernels; i++)
    if (list[i].format != failed)
      rc = kcl_engine_build_tested(s, c->way.method, c->way.precond, list[i].format, &c->engine);
  if (!rc)
    snprintf(c->why_format, sizeof c->why_format,
             "the driver fails the self-test with the kernels of %s", failed->name);
  return rc;
}

/* The engine of the way and format chosen. A preconditioner that was chosen here and turns out not to exist, such as one
 * that divides by a diagonal which is 0 in float, is left out. */
static int build_engine(kcl_selection *c, const kcl_selection *before, const kcl_format *format) {
  const kcl_system *s = c->system;
  s->ctx->wrong_kernels = false;
  int rc = kcl_choose_draft(c, before, format, &c->engine);
  if (!rc) rc = kcl_engine_complete_tested(s, &c->engine);
  if (rc) kcl_draft_forget(c);
  kcl_draft_begin(c);
  if (rc && s->ctx->wrong_kernels) return build_in_other_format(c, format);
  if (rc != KCL_USAGE || !s->undecided.precond || !c->way.precond->apply) return rc;
  rc = kcl_precond_find(s->ctx, "none", &c->way.precond);
  return rc ? rc : kcl_engine_build_tested(s, c->way.method, c->way.precond, format, &c->engine);
}

static void forget_shared(kcl_system *s) {
  for (int i = 0; i < 2; i++) kcl_stored_free(&s->shared[i]);
}

/* A preconditioner that was named gets what it can be given before A is known. */
static void begin_ahead(const kcl_system *s) {
  const kcl_precond_kind *p;
  if (s->undecided.precond || kcl_precond_find(s->ctx, s->options.precond, &p)) return;
  if (p->ahead) p->ahead(s->ctx, s->A, s->options.precision);
}

/* Parts that a set-up of new values in an earlier pattern may keep; none in a set-up from scratch. */
typedef struct predecessor {
  const kcl_selection *selection;
  const kcl_preconds *preconds;      /* of the same unknowns */
  const kcl_distinct_rows *repeated; /* of its A */
  kcl_offset_runs *runs;             /* of its A; NULL: not looked for */
  bool hierarchy;                    /* with interpolations */
} predecessor;

/* Do rows that were equal have equal values again? Then much less is to be counted. */
static int renew_distinct_rows(kcl_system *s, const kcl_distinct_rows *before) {
  bool same;
  if (!before || !before->A) return KCL_OK;
  int rc = kcl_distinct_rows_renew(s->ctx, s->distinct, before, &same);
  if (!rc && !same) s->repeats_known = false;
  return rc;
}

/* For passes over new values: looked for in the first update, and only where rows are not equal in their values as well. */
static int find_offset_runs(kcl_system *s, const predecessor *before) {
  if (!s->runs) s->runs = kcl_offset_runs_share(before->runs);
  if (s->runs || !before->selection || kcl_distinct_rows_listed(s->distinct, s->A)) return KCL_OK;
  return kcl_offset_runs_find(s->ctx, s->A, &s->runs);
}

static int count_statistics(kcl_system *s, const predecessor *before) {
  const double start = kcl_now();
  int rc = KCL_OK;
  if (!s->known && !s->structure_known) rc = kcl_csr_structure(s->ctx, s->A, &s->stats);
  if (!rc && !s->known) rc = renew_distinct_rows(s, before->repeated);
  if (!rc && !s->known) rc = find_offset_runs(s, before);
  if (!rc && !s->known) rc = kcl_csr_values(s->ctx, s->A, s->distinct, s->runs, &s->stats);
  if (!rc && !s->known && !s->repeats_known)
    rc = kcl_compression(s->ctx, s->A, s->distinct, &s->stats);
  if (!rc) rc = kcl_check_entries(s);
  if (!rc) kcl_apply_symmetry(s);
  s->seconds_stats = kcl_now() - start;
  return rc;
}

/* The preconditioner of the way, from that of the earlier values; the engines then find it among the system's. One that does not
 * exist is left to build_engine. */
static int update_preconditioner(const kcl_selection *c, const predecessor *before) {
  kcl_preconditioner *M;
  if (c->way.precond->hierarchy && !before->hierarchy) return KCL_OK;
  int rc = kcl_system_update_preconditioner(c->system, before->preconds, c->way.precond,
                                            c->way.method, &M);
  kcl_preconditioner_free(&M);
  return rc == KCL_USAGE && c->system->undecided.precond ? KCL_OK : rc;
}

/* Counts that a choice of format needs, where the choice for earlier values cannot stay. */
static int complete_repeats(kcl_system *s) {
  s->repeats_known = false;
  return kcl_compression(s->ctx, s->scaling.row ? s->converted : s->A, s->distinct, &s->stats);
}

/* From a system and its options to an engine: checks, statistics, method, format, engine, trials. */
static int prepare_steps(kcl_system *s, kcl_selection *c, const predecessor *before) {
  const kcl_format *format;
  int rc;
  c->system = s;
  kcl_read_options(s);
  KCL_CALL(kcl_check_options(s));
  begin_ahead(s);
  if ((rc = kcl_alloc(s->ctx, 1, sizeof *s->preconds, "preconditioners", (void **)&s->preconds)))
    return rc;
  if (s->given && !s->object) /* for the update after this one */
    s->preconds->made[s->preconds->count++] = kcl_preconditioner_share(s->given);
  KCL_CALL(count_statistics(s, before));
  KCL_CALL(kcl_system_scale(s));
  if (s->scaling.row || s->scaling.unit) forget_shared(s);
  KCL_CALL(kcl_reproducible_check(s, NULL, NULL));
  KCL_CALL(kcl_choose_plan(c));
  KCL_CALL(kcl_check_fit(s, c->way.method));
  const double start = kcl_now();
  KCL_CALL(kcl_system_convert(s));
  s->seconds_convert += kcl_now() - start;
  if (s->repeats_known && !kcl_choice_stays(c, before->selection) && (rc = complete_repeats(s)))
    return rc;
  KCL_CALL(kcl_choose_way(c, before->selection));
  if (before->preconds && !s->scaling.row) KCL_CALL(update_preconditioner(c, before));
  KCL_CALL(kcl_choose_format(c, before->selection, &format));
  KCL_CALL(build_engine(c, before->selection, format));
  kcl_choose_explain_adjoint(c);
  if (!before->selection) KCL_CALL(kcl_choose_by_time(c));
  const kcl_engine *e = c->engine;
  if (c->hurried) return KCL_OK; /* and c->predicted is there */
  return kcl_engine_predicted(s, e->method, e->precond, kcl_engine_format(e), &c->predicted);
}

/* From a shell and its options to an engine. */
static int prepare_shell(kcl_system *s, kcl_selection *c) {
  c->system = s, c->decided = true;
  kcl_read_options(s);
  KCL_CALL(kcl_check_options(s));
  KCL_CALL(kcl_shell_check(s->ctx, s->shell));
  s->stats = kcl_shell_stats(s->shell);
  kcl_apply_symmetry(s);
  KCL_CALL(kcl_choose_plan(c));
  KCL_CALL(kcl_check_fit(s, c->way.method));
  KCL_CALL(kcl_choose_way(c, NULL));
  KCL_CALL(kcl_shell_make_products(s));
  KCL_CALL(
      kcl_engine_build_tested(s, c->way.method, c->way.precond, s->shared[0]->format, &c->engine));
  snprintf(c->why_format, sizeof c->why_format, "A is a function of the caller's");
  return KCL_OK;
}

static int prepare_engine(kcl_system *s, kcl_selection *c, const predecessor *before) {
  bool few = false;
  if (s->shell) return prepare_shell(s, c);
  s->repeated.A = s->A;
  s->distinct = &s->repeated, s->lender = before->selection ? before->selection->engine : NULL;
  int rc = prepare_steps(s, c, before);
  s->distinct = NULL, s->lender = NULL, s->scale_as = NULL;
  if (!rc) rc = kcl_distinct_rows_list_runs(s->ctx, &s->repeated, &few);
  if (rc || !few) kcl_distinct_rows_free(&s->repeated);
  return rc;
}

/* Prepares the system in float, with an engine of its own. It may be refused there, such as a diagonal with zeros in float:
 * then double is used alone. */
static int prepare_mixed(kcl_selection *wide, const kcl_mixed *before, int keep, kcl_mixed **out) {
  KCL_CALL(kcl_mixed_create(wide, out));
  kcl_mixed *m = *out;
  m->system.runs = kcl_offset_runs_share(wide->system->runs);
  const kcl_engine *e = before ? before->selection.engine : NULL;
  if (e && keep == KCL_KEEP_PRECOND) {
    m->system.given = kcl_preconditioner_share(e->M);
    m->system.scale_as = &before->system.scaling;
  }
  int rc = prepare_engine(&m->system, &m->selection,
                          &(predecessor){.preconds = before ? before->system.preconds : NULL,
                                         .hierarchy = keep == KCL_KEEP_HIERARCHY});
  if (rc == KCL_USAGE) return kcl_mixed_refused(m), KCL_OK;
  return rc ? rc : kcl_mixed_judge(m, wide);
}

/* Was the device lost, and may the set-up go on without it? */
static bool loses_device(const kcl_system *s) {
  return s->options.fallback == KCL_FALLBACK_CPU && s->ctx->device_failed;
}

/* After a set-up of which the driver failed all self-tests, or that lost its device: the native executor becomes the device, unless
 * others use the context. */
static bool takes_cpu(const kcl_system *s) {
  kcl_context *ctx = s->ctx;
  char put_aside[sizeof ctx->put_aside];
  if (!ctx->opencl || ctx->objects_given || !(ctx->wrong_kernels || loses_device(s)) || s->given ||
      s->object || s->shared[0])
    return false;
  memcpy(put_aside, ctx->put_aside, sizeof put_aside);
  if (kcl_select(ctx, "cpu", 0)) return false;
  memcpy(ctx->put_aside, put_aside, sizeof put_aside);
  ctx->wrong_kernels = false;
  return true;
}

/* After a set-up that failed. */
static int set_up_on_cpu(const kcl_system *system, kcl_sums sums, int failed, kcl_solver **out) {
  char why[KCL_LOST_WHY] = "";
  if (loses_device(system)) snprintf(why, sizeof why, "%s", kcl_error());
  if (!takes_cpu(system)) return failed;
  const int rc = kcl_setup_system(system, sums, NULL, KCL_KEEP_NOTHING, out);
  if (!rc) memcpy((*out)->lost_why, why, sizeof why);
  return rc;
}

int kcl_setup_values(kcl_system *system, kcl_solver **out) {
  const double start = kcl_now();
  KCL_CALL(kcl_csr_check(system->ctx, system->A));
  const kcl_sums sums = kcl_sums_of(system->A);
  system->seconds_check = kcl_now() - start;
  system->ctx->device_failed = false;
  const int failed = kcl_setup_system(system, sums, NULL, KCL_KEEP_NOTHING, out);
  return failed ? set_up_on_cpu(system, sums, failed, out) : KCL_OK;
}

/* M NULL: by the options. */
static int set_up_solver(kcl_context *ctx, const kcl_csr *A, kcl_precond *M,
                         const kcl_options *options, kcl_solver **out) {
  if (out) *out = NULL;
  KCL_ENTER(ctx);
  KCL_CALL(kcl_need(ctx, "out", out));
  kcl_system system = {.ctx = ctx, .A = A, .options = kcl_options_of(options)};
  if (M) KCL_CALL(kcl_csr_need(ctx, A));
  if (M) KCL_CALL(kcl_precond_give(M, &system));
  return kcl_setup_values(&system, out);
}

int kcl_setup(kcl_context *ctx, const kcl_csr *A, const kcl_options *options, kcl_solver **out) {
  return set_up_solver(ctx, A, NULL, options, out);
}

int kcl_setup_with(kcl_context *ctx, const kcl_csr *A, kcl_precond *M, const kcl_options *options,
                   kcl_solver **out) {
  if (out) *out = NULL;
  return M ? set_up_solver(ctx, A, M, options, out) : kcl_need(ctx, "M", M);
}

static int copy_given(kcl_solver *s) {
  kcl_system *system = &s->system;
  KCL_CALL(kcl_alloc(system->ctx, 1, sizeof *s->given, "a solver", (void **)&s->given));
  s->given->A = *system->A, system->A = &s->given->A;
  if (system->shell) s->given->shell = *system->shell, system->shell = &s->given->shell;
  return kcl_near_null_copy(&system->options, &s->given->near_null);
}

static predecessor predecessor_of(const kcl_solver *before, int keep) {
  return (predecessor){.hierarchy = keep == KCL_KEEP_HIERARCHY,
                       .selection = before ? &before->selection : NULL,
                       .preconds =
                           before && !before->system.scaling.row ? before->system.preconds : NULL,
                       .repeated = before ? &before->system.repeated : NULL,
                       .runs = before ? before->system.runs : NULL};
}

int kcl_setup_system(const kcl_system *system, kcl_sums sums, const kcl_solver *before, int keep,
                     kcl_solver **out) {
  const predecessor earlier = predecessor_of(before, keep);
  KCL_OWNED_BY(kcl_solver_free) kcl_solver *s = *out = NULL;
  KCL_CALL(kcl_alloc(system->ctx, 1, sizeof *s, "a solver", (void **)&s));
  s->system = *system, s->sums = sums;
  kcl_context_retain(system->ctx);
  for (int i = 0; i < 2; i++) kcl_stored_share(s->system.shared[i]);
  kcl_preconditioner_share(s->system.given), kcl_precond_share(s->system.object);
  KCL_CALL(copy_given(s));
  KCL_CALL(prepare_engine(&s->system, &s->selection, &earlier));
  if (s->system.stats.zero_cols) KCL_CALL(kcl_find_zero_columns(&s->system));
  if (!system->ctx->reproducible)
    s->selection.rescue = kcl_rescue, s->selection.rescue_price = kcl_rescue_price;
  s->selection.resume = kcl_resume, s->selection.owner = s->selection.solver = s;
  if (s->system.options.mixed)
    KCL_CALL(prepare_mixed(&s->selection, before ? before->mixed : NULL, keep, &s->mixed));
  kcl_engine_refill(s->selection.engine, &s->system); /* last: before's values are lost */
  *out = s, s = NULL;
  return KCL_OK;
}

void kcl_solver_free(kcl_solver **s) {
  if (!s || !*s) return;
  if (kcl_opencl_inherited((*s)->system.ctx)) *s = NULL;
  if (!*s) return;
  KCL_HOLD((*s)->system.ctx);
  if ((*s)->running) { /* by a callback: the solve frees it at its end */
    (*s)->freed = true, *s = NULL;
    return;
  }
  kcl_context *ctx = (*s)->system.ctx;
  kcl_solver_free(&(*s)->standby);
  kcl_mixed_free(&(*s)->mixed);
  kcl_draft_forget(&(*s)->selection);
  kcl_engine_free(&(*s)->selection.engine);
  kcl_system_forget_kept(&(*s)->system);
  kcl_system_forget_converted(&(*s)->system);
  kcl_scaling_free(&(*s)->system.scaling);
  free((*s)->system.zero_col);
  kcl_shell_free_products(&(*s)->system);
  forget_shared(&(*s)->system);
  kcl_histories_free(&(*s)->history, (*s)->histories);
  kcl_checkpoints_free(&(*s)->checkpoints);
  kcl_readback_free(&(*s)->readback);
  kcl_rescue_forget(*s);
  kcl_distribution *d = (*s)->system.distribution;
  if (d) d->free(d);
  if ((*s)->given) free((*s)->given->near_null.val);
  free((*s)->given), free((*s)->report);
  kcl_csr_free(&(*s)->kept);
  kcl_precond_free(&(*s)->system.object);
  free(*s);
  kcl_context_release(ctx);
  *s = NULL;
}
