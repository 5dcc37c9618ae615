/* Ways to solve on several ranks: which run, and an engine of one on every rank. All ranks take the plan of rank 0; each chooses a
 * format by its own rows. */
#include "distributed/distributed.h"
#include "solver/engine/reproducible.h"
#include <stdio.h>

/* ---------------------------------------------------------------- the plan */

static int check_way(const kcl_distributed *m, const kcl_way *w) {
  const kcl_system *s = m->system;
  KCL_CALL(kcl_reproducible_check(s, w->method, w->precond));
  return kcl_check_fit(s, w->method);
}

/* A way as a number, from 0, and back. Beyond the registry is the one preconditioner that is not in it, a function. */
static int64_t number_of_way(const kcl_way *w) {
  int i = 0, j = 0;
  while (i < kcl_method_count && kcl_method_at(i) != w->method) i++;
  while (j < kcl_precond_count && kcl_precond_at(j) != w->precond) j++;
  return (int64_t)i * (kcl_precond_count + 1) + j;
}

static kcl_way way_of(int64_t number) {
  const int j = (int)(number % (kcl_precond_count + 1));
  return (kcl_way){kcl_method_at((int)(number / (kcl_precond_count + 1))),
                   j < kcl_precond_count ? kcl_precond_at(j) : &kcl_precond_shell};
}

/* Memory that rank 0 has may be lacking elsewhere. */
static void take_plan(kcl_comm *c, kcl_plan *p) {
  p->count = (int)kcl_ranks_decide(&c->ranks, p->count);
  for (int i = 0; i < p->count; i++)
    p->way[i] = way_of(kcl_ranks_decide(&c->ranks, c->ranks.rank ? 0 : number_of_way(&p->way[i])));
}

int kcl_ways_plan(kcl_distributed *m) {
  kcl_selection *c = m->selection;
  c->system = m->system;
  KCL_CALL(kcl_comm_agree(m->comm, kcl_auto_plan(m->system, &c->plan)));
  take_plan(m->comm, &c->plan);
  kcl_keep_way(m);
  c->way = c->plan.way[0];
  if (m->system->undecided.method)
    snprintf(c->why_method, sizeof c->why_method, "%s", kcl_auto_structure(m->system));
  return KCL_OK;
}

/* ---------------------------------------------------------------- operators */

/* By the rows of this rank: others may take another format. */
static int choose_format_of_rows(kcl_distributed *m, const kcl_way *w, const kcl_format **f) {
  kcl_selection *c = m->selection;
  const kcl_system *s = m->system;
  kcl_rank list[KCL_MOST_FORMATS];
  int count, rc;
  snprintf(c->why_format, sizeof c->why_format, "%s",
           s->ctx->reproducible ? "reproducible sums" : "asked for");
  if (!s->undecided.format)
    return kcl_format_named(s->ctx, &s->stats, s->options.precision, s->options.format, f);
  snprintf(c->why_format, sizeof c->why_format, "as for the earlier values");
  if (kcl_keep_format(m, f)) return KCL_OK;
  rc = kcl_engine_predict(s, w->method, w->precond, list, &count);
  if (rc) return rc;
  *f = list[0].format;
  snprintf(c->why_format, sizeof c->why_format, "%s per iteration predicted for its rows",
           kcl_seconds_text(list[0].seconds).s);
  return KCL_OK;
}

int kcl_domain_matrix(kcl_domain *d, const kcl_format *f, kcl_stored **out) {
  const kcl_csr *in_order = d->in_order.interior;
  KCL_CALL(kcl_stored_build(d->comm->ctx, f, in_order ? in_order : d->device.interior, out));
  (*out)->halo = &d->halo;
  (*out)->origin.source = *d->device.interior; /* with all diagonal entries */
  return KCL_OK;
}

static int build_A(kcl_distributed *m, const kcl_way *w) {
  kcl_system *s = m->system;
  const kcl_format *f;
  double start = kcl_now();
  if (s->shared[0]) return KCL_OK;
  int rc = choose_format_of_rows(m, w, &f);
  if (!rc) rc = kcl_domain_matrix(m->domain, f, &s->shared[0]);
  s->seconds_convert += kcl_now() - start;
  return rc;
}

/* |A|_F of all ranks. */
static double norm_F(kcl_comm *c, const kcl_split *A) {
  const kcl_type type = A->interior->type;
  return hypot(kcl_ranks_norm(&c->ranks, type, A->interior->val, A->interior->nnz),
               kcl_ranks_norm(&c->ranks, type, A->outside->val, A->outside->nnz));
}

/* The rows of A^H, where the method needs them. */
static int distribute_adjoint(kcl_distributed *m, const kcl_way *w) {
  kcl_system *s = m->system;
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *AH = NULL;
  if (!w->method->adjoint || m->adjoint || s->shell) return KCL_OK;
  KCL_CALL(kcl_adjoint_rows(m->domain, &AH));
  KCL_CALL(kcl_domain_create(m->comm, AH, &AH, m->comm->first, &m->adjoint));
  KCL_CALL(kcl_distributed_convert_adjoint(m));
  s->adjoint = m->adjoint->given.interior, s->adjoint_halo = &m->adjoint->halo;
  if (m->comm->ranks.sum_rows) return KCL_OK; /* no method needs it */
  s->norm_F_given = norm_F(m->comm, &m->domain->given);
  s->norm_F = s->scaling.row ? norm_F(m->comm, &m->domain->device)
                             : ldexp(s->norm_F_given, s->scaling.unit);
  return KCL_OK;
}

static int build_AH(kcl_distributed *m, const kcl_way *w) {
  kcl_system *s = m->system;
  const kcl_format *f = s->shared[0]->format;
  if (!w->method->adjoint || s->shared[1]) return KCL_OK;
  int rc = m->comm->ranks.sum_rows ? KCL_OK
                                   : kcl_engine_adjoint_format(s, m->adjoint->device.interior, &f);
  return rc ? rc : kcl_domain_matrix(m->adjoint, f, &s->shared[1]);
}

/* ---------------------------------------------------------------- engines */

static int build_engine_of_way(kcl_distributed *m, const kcl_way *w, kcl_engine **out) {
  KCL_CALL(build_A(m, w));
  KCL_CALL(build_AH(m, w));
  return kcl_engine_build_tested(m->system, w->method, w->precond, m->system->shared[0]->format,
                                 out);
}

/* Right-hand sides at once: as many as every rank takes, and as the engine before, whose halo it shares. */
static int set_width(kcl_distributed *m, const kcl_way *w, kcl_engine **e) {
  const double own = (*e)->program->nrhs;
  const int least = -(int)kcl_comm_largest(m->comm, -own);
  const kcl_engine *before = m->selection->engine;
  int rc = KCL_OK;
  if (before && least != before->program->nrhs)
    return kcl_fail(m->comm->ctx, KCL_USAGE, "it takes fewer right-hand sides at once");
  if (kcl_comm_largest(m->comm, own) != least) {
    kcl_engine_free(e);
    m->system->options.nrhs = least;
    rc = kcl_comm_agree(m->comm, build_engine_of_way(m, w, e));
  }
  if (rc) return rc;
  kcl_domain_narrow(m->domain, kcl_width_of(least));
  kcl_domain_narrow(m->adjoint, kcl_width_of(least));
  return KCL_OK;
}

int kcl_ways_engine(void *owner, const kcl_way *w, kcl_engine **out) {
  kcl_distributed *m = owner;
  const int width = kcl_width_of(m->system->options.nrhs);
  int rc;
  *out = NULL;
  KCL_TRY(kcl_comm_agree(m->comm, check_way(m, w)));
  KCL_TRY(distribute_adjoint(m, w));
  KCL_TRY(kcl_domain_open(m->domain, width));
  if (m->adjoint) KCL_TRY(kcl_domain_open(m->adjoint, width));
  KCL_TRY(kcl_comm_agree(m->comm, build_engine_of_way(m, w, out)));
  KCL_TRY(set_width(m, w, out));
  KCL_TRY(kcl_distribute_executor(m->comm, &(*out)->executor));
done:
  if (rc) kcl_engine_free(out);
  return rc;
}
