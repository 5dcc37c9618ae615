/* Building an engine: the operators, the method recorded over them, an executor for the recorded program. */
#include "core/device/device.h"
#include "core/matrix/structure.h"
#include "solver/engine/engine.h"

/* ---------------------------------------------------------------- operators */

/* The format of A^H is that of A where both have the same structure. Elsewhere a format that suits the rows of A need not
 * suit its columns: one that was chosen here is chosen again, one that was asked for may be refused. */
int kcl_engine_adjoint_format(const kcl_system *s, const kcl_csr *AH, const kcl_format **f) {
  kcl_system adjoint = {.ctx = s->ctx, .options = s->options};
  kcl_stats *const stats = &adjoint.stats;
  kcl_cost cost;
  char why[400];
  const bool mirrored = s->stats.hermitian || s->stats.symmetric || s->stats.shifted_skew,
             chosen = s->undecided.format;
  bool whole = (*f)->refuses || AH->rows != AH->cols;
  if (mirrored && !whole) return KCL_OK;
  int rc = whole ? kcl_csr_stats(s->ctx, AH, stats) : kcl_csr_structure(s->ctx, AH, stats);
  if (!rc) rc = kcl_format_cost(s->ctx, stats, s->options.precision, (*f)->name, &cost);
  if (!rc && !chosen && cost.refusal)
    rc = kcl_fail(s->ctx, KCL_REFUSED, "format %s refused for the adjoint: %s", (*f)->name,
                  cost.refusal);
  if (!rc && chosen && cost.refusal && !whole) whole = true, rc = kcl_csr_stats(s->ctx, AH, stats);
  if (!rc && chosen && whole) rc = kcl_engine_choose(&adjoint, f, why, sizeof why);
  return rc;
}

int kcl_engine_adjoint(const kcl_system *s, const kcl_format *f, kcl_stored **out) {
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *AH = NULL;
  *out = NULL;
  KCL_CALL(kcl_csr_adjoint(s->ctx, kcl_system_matrix(s), &AH));
  KCL_CALL(kcl_engine_adjoint_format(s, AH, &f));
  KCL_CALL(kcl_stored_build(s->ctx, f, AH, out));
  kcl_stored_adopt(*out, AH); /* a format may use AH's arrays in place */
  AH = NULL;
  return KCL_OK;
}

/* The operator of earlier values in this format, if it can be given the new ones; or NULL. */
static kcl_stored *find_reusable(const kcl_system *s, const kcl_format *f) {
  kcl_stored *A = s->lender ? s->lender->operators[0] : NULL;
  return A && A->type == kcl_system_matrix(s)->type && kcl_stored_refills(A, f) ? A : NULL;
}

static int add_operators(kcl_engine *e, const kcl_system *s, const kcl_format *f) {
  KCL_OWNED_BY(kcl_stored_free) kcl_stored *AH = NULL;
  kcl_stored *const *shared = s->shared, *earlier = find_reusable(s, f);
  e->stale = !shared[0] && earlier;
  if (shared[0] || earlier)
    KCL_CALL(kcl_engine_share(e, shared[0] ? shared[0] : earlier));
  else
    KCL_CALL(kcl_engine_add(e, f, s));
  if (!e->method->adjoint) return KCL_OK;
  if (!shared[1]) KCL_CALL(kcl_engine_adjoint(s, f, &AH));
  return kcl_engine_share(e, AH ? AH : shared[1]);
}

/* ---------------------------------------------------------------- the program */

/* As many right-hand sides as asked for; one in mixed precision. On a device the formats' kernels limit them, and the
 * scalars of all fit into local memory. */
static void set_nrhs(const kcl_engine *e, const kcl_system *s) {
  enum { LOCAL = 28 << 10 };
  kcl_program *k = e->program;
  size_t one = (size_t)k->slots * kcl_type_size(k->type);
  k->nrhs = s->options.nrhs ? s->options.nrhs : 1;
  if (s->options.mixed) k->nrhs = 1;
  if (!s->ctx->opencl) return;
  for (int i = 0; i < k->ops; i++)
    if (!k->op[i].matrix->format->multi_rhs) k->nrhs = 1;
  while (k->nrhs > 1 && (size_t)kcl_rhs_width(k) * one > LOCAL) k->nrhs = kcl_rhs_width(k) / 2;
}

/* All ranks together; an estimate where A is a shell. */
static int find_norm_F(const kcl_system *s, double *out) {
  KCL_CALL(s->shell ? kcl_shell_prepare_least(s) : KCL_OK);
  *out = s->shell        ? s->products->norm_F
         : s->norm_F > 0 ? s->norm_F
                         : kcl_norm_F(kcl_system_matrix(s));
  return KCL_OK;
}

static int record_engine(kcl_engine *e, const kcl_system *s) {
  const kcl_csr *A = kcl_system_matrix(s);
  const kcl_method *m = e->method;
  KCL_CALL(kcl_program_create(s->ctx, A->type, A->rows, A->cols, &e->program));
  kcl_program *k = e->program;
  k->A = e->operators[0], k->AH = e->operator_count > 1 ? e->operators[1] : NULL;
  if (m->least_squares) KCL_CALL(find_norm_F(s, &k->norm_F));
  k->fusion = s->fusion;
  k->resumes = s->resumes, k->recurs_precond = m->recurs_precond;
  k->restart = s->options.restart ? s->options.restart : m->restart;
  kcl_preconditioner_bind(e->M, k);
  m->record(k);
  if (s->options.guard) kcl_record_verification(k, !m->parts_residual);
  k->guarded = s->options.guard;
  for (int i = 0; i < k->ops; i++) k->op[i].matrix->guarded |= k->guarded;
  set_nrhs(e, s);
  return kcl_program_end(k);
}

/* ---------------------------------------------------------------- building */

static int complete_executor(kcl_engine *e, const kcl_system *s) {
  e->program->lender = s->lender ? &s->lender->executor : NULL;
  const int rc = kcl_executor_complete(e->program, &e->executor);
  e->program->lender = NULL;
  if (!rc) kcl_engine_describe(e, s->options.nrhs);
  return rc;
}

int kcl_engine_reopen(kcl_engine *e, const kcl_system *s, kcl_fusion fusion) {
  e->executor.close(&e->executor), e->executor = (kcl_executor){.data = NULL};
  e->program->fusion = fusion;
  KCL_CALL(kcl_executor_plan(e->program, &e->executor));
  return complete_executor(e, s);
}

int kcl_engine_draft(const kcl_system *s, const kcl_method *method, const kcl_precond_kind *precond,
                     const kcl_format *format, kcl_engine **out) {
  KCL_OWNED_BY(kcl_engine_free) kcl_engine *e = *out = NULL;
  double start = kcl_now();
  if (s->ctx->stopped) return kcl_fail(s->ctx, KCL_DEVICE, "the solve was stopped");
  KCL_CALL(kcl_engine_create(s->ctx, method, precond, &e));
  KCL_CALL(kcl_system_preconditioner(s, precond, method, &e->M));
  start = kcl_now();
  KCL_CALL(add_operators(e, s, format));
  e->seconds_convert = kcl_now() - start;
  KCL_CALL(record_engine(e, s));
  KCL_CALL(kcl_executor_plan(e->program, &e->executor));
  *out = e, e = NULL;
  return KCL_OK;
}

double kcl_engine_compilation(const kcl_engine *draft) {
  return kcl_executor_expected(draft->program, &draft->executor);
}

int kcl_engine_complete(const kcl_system *s, kcl_engine **draft) {
  const int rc = complete_executor(*draft, s);
  if (rc) kcl_engine_free(draft);
  return rc;
}

int kcl_engine_build(const kcl_system *s, const kcl_method *method, const kcl_precond_kind *precond,
                     const kcl_format *format, kcl_engine **out) {
  KCL_CALL(kcl_engine_draft(s, method, precond, format, out));
  return kcl_engine_complete(s, out);
}
