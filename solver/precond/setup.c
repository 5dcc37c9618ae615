/* The set-up of a preconditioner: does it suit A and the method? */
#include "solver/precond/setup.h"
#include <stdio.h>

static const char *asymmetric(const kcl_method *m) {
  return m->hermitian ? "is not Hermitian, as this method needs it"
                      : "is not symmetric, as this method needs it";
}

/* Why M does not suit the method, whatever A is; or NULL. */
static const char *given_unsuited(const kcl_preconditioner *M, const kcl_method *m) {
  const bool symmetric = M->kind->symmetric;
  if (M->varies && !m->flexible)
    return "varies between applications (KCL_PRECOND_VARIES), which fcg and fgmres alone allow";
  if (m->least_squares) return "stands for A, and least squares need A^H A";
  if (m->adjoint && !kcl_precond_has_adjoint(M)) return "has no M^-H, as this method needs it";
  if ((m->hermitian && !(symmetric && M->hermitian)) ||
      (m->symmetric && !(symmetric && M->symmetric)))
    return asymmetric(m);
  return NULL;
}

/* Why not, or NULL. */
static const char *unsuited(const kcl_precond_request *q, const kcl_precond_kind *p,
                            const kcl_method *m) {
  if (!p->apply) return NULL;
  if (q->given && q->given->kind == p) return given_unsuited(q->given, m);
  if (!q->A->row_ptr) return "needs the entries of A, which is a function";
  if (m->least_squares)
    return p->least_squares ? NULL : "has no form for least squares, which need A^H A";
  if (q->A->rows != q->A->cols) return "needs a square matrix";
  if ((p->needs & KCL_NEEDS_REAL) && kcl_type_complex(q->A->type)) return "needs a real matrix";
  if ((p->needs & KCL_NEEDS_HERMITIAN) && !q->hermitian) return "needs a Hermitian matrix";
  const bool positive =
      (p->needs & KCL_NEEDS_POSITIVE) || ((p->needs & KCL_NEEDS_DEFINITE) && q->hermitian);
  if (positive && !q->stats->positive_diagonal) return "needs a positive diagonal";
  if (m->adjoint && p->no_adjoint && !q->hermitian)
    return "has no adjoint of a matrix that is not Hermitian";
  return (m->hermitian || m->symmetric) && !p->symmetric ? asymmetric(m) : NULL;
}

/* Those that suit, for messages. */
static void fits_device(const kcl_precond_request *q, const kcl_method *m, char *text,
                        size_t room) {
  text[0] = 0;
  for (int i = 0; i < kcl_precond_count; i++) {
    const kcl_precond_kind *p = kcl_precond_at(i);
    size_t used = strlen(text);
    if (!unsuited(q, p, m)) snprintf(text + used, room - used, "%s%s", used ? ", " : "", p->name);
  }
}

int kcl_precond_check(const kcl_precond_request *q, const kcl_precond_kind *p,
                      const kcl_method *m) {
  const char *why = unsuited(q, p, m);
  char others[300];
  if (why) {
    fits_device(q, m, others, sizeof others);
    return kcl_fail(q->ctx, KCL_USAGE, "preconditioner %s %s; with %s these fit: %s", p->name, why,
                    m->name, others);
  }
  if (q->given && q->given->kind == p) return KCL_OK;
  const double bytes = p->bytes ? p->bytes(q) : 0, memory = (double)q->ctx->device.memory;
  if ((memory > 0 && bytes > memory) || !kcl_has_memory((size_t)bytes))
    return kcl_fail(q->ctx, KCL_REFUSED,
                    "preconditioner %s refused: it may need %.3g GB, more than there is", p->name,
                    bytes * 1e-9);
  return KCL_OK;
}

static int set_up_or_update(const kcl_precond_request *q, kcl_preconditioner *M) {
  const kcl_precond_kind *p = M->kind;
  if (q->before && p->update) return p->update(M, q);
  return p->setup ? p->setup(M, q) : KCL_OK;
}

static void note_blocks(const kcl_precond_request *q, kcl_preconditioner *M) {
  const size_t n = strlen(M->note);
  snprintf(M->note + n, sizeof M->note - n, "%sin %d blocks, one per rank", n ? ", " : "",
           q->halo->ranks->count);
}

/* Messages count the rows of the block. */
static int explain_rows(const kcl_precond_request *q, int rc) {
  char text[KCL_MESSAGE];
  if (!rc || !q->halo) return rc;
  snprintf(text, sizeof text, "%s", kcl_error());
  return kcl_fail(q->ctx, (kcl_status)rc,
                  "%.3900s (of the rows of this rank, whose first is row %lld)", text,
                  (long long)q->halo->ranks->first_row + 1);
}

static int set_up_preconditioner(const kcl_precond_request *q, const kcl_precond_kind *p,
                                 const kcl_method *m, kcl_preconditioner **out) {
  KCL_OWNED_BY(kcl_preconditioner_free) kcl_preconditioner *M = NULL;
  double start = kcl_now();
  KCL_CALL(kcl_alloc(q->ctx, 1, sizeof *M, "a preconditioner", (void **)&M));
  *M = (kcl_preconditioner){.ctx = q->ctx,
                            .kind = p,
                            .type = q->A->type,
                            .tol = q->tol,
                            .hermitian = q->hermitian,
                            .symmetric = q->symmetric,
                            .adjoint = m->adjoint && !m->least_squares,
                            .size = {.levels = 1, .complexity = 1}};
  M->size.rows = (double)q->A->rows, M->size.nonzeros = (double)q->A->nnz;
  if (m->least_squares) M->scale = kcl_scale_for(q->norm_F > 0 ? q->norm_F : kcl_norm_F(q->A));
  KCL_CALL(explain_rows(q, set_up_or_update(q, M)));
  if (q->halo && !p->whole) note_blocks(q, M);
  M->seconds = kcl_now() - start;
  *out = M, M = NULL;
  return KCL_OK;
}

int kcl_precond_setup(const kcl_precond_request *q, const kcl_precond_kind *p, const kcl_method *m,
                      kcl_preconditioner **out) {
  *out = NULL;
  int rc = kcl_precond_check(q, p, m);
  if (rc || !p->apply) return rc;
  kcl_activity_begin(q->ctx, (kcl_activity){.what = "setting up the preconditioner"});
  rc = set_up_preconditioner(q, p, m, out);
  kcl_activity_end(q->ctx);
  return rc;
}

bool kcl_precond_serves(const kcl_preconditioner *M, const kcl_precond_kind *p,
                        const kcl_method *m) {
  const bool adjoint = m->adjoint && !m->least_squares;
  return M->kind == p && (M->scale > 0) == m->least_squares && (M->adjoint || !adjoint);
}
