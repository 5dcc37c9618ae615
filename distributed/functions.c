/* Functions of the caller's on several ranks: M, which every rank has for its own rows, and A in place of entries.
 *
 * A function computes own rows of y from own elements of x; elements of other ranks it gets by itself. To the executors A is a
 * matrix without a halo whose programs are in step with those of the other ranks. */
#include "distributed/distributed.h"
#include "solver/precond_object.h"
#include <stdio.h>

int kcl_refuse_on_ranks(kcl_context *ctx, const char *what, const char *why) {
  return kcl_fail(ctx, KCL_USAGE, "%s: not on several ranks: %s", what, why);
}

/* M as the ranks have it: all of one kind, or none. */
static int compare_precond(const kcl_distributed *m) {
  const kcl_preconditioner *M = m->M ? m->M->M : NULL;
  char lines[200];
  snprintf(lines, sizeof lines,
           "the given preconditioner=%s\nwhether it is Hermitian=%d\nwhether it has an adjoint=%d\n"
           "whether it varies=%d\n",
           m->M ? m->M->kind->name : "(none)", M && M->hermitian, M && M->adjoint, M && M->varies);
  return kcl_mpi_same(m->comm->ctx, m->comm->comm, lines);
}

int kcl_distributed_give_precond(kcl_distributed *m) {
  kcl_system *s = m->system;
  int rc = compare_precond(m);
  if (rc || !m->M) return rc;
  rc = m->order ? kcl_refuse_on_ranks(s->ctx, "a preconditioner that is given",
                                      "with partition metis rows move to other ranks")
                : kcl_precond_give(m->M, s);
  if (!rc) {
    kcl_preconditioner_share(s->given), kcl_precond_share(s->object);
    s->undecided.precond = false;
  }
  return kcl_comm_agree(m->comm, rc);
}

static int check_shell_on_rank(const kcl_distributed *m, const kcl_shell *A) {
  kcl_context *ctx = m->comm->ctx;
  if (ctx->metis)
    return kcl_refuse_on_ranks(ctx, "a matrix that is a function",
                               "with partition metis rows move to other ranks");
  if (ctx->reproducible)
    return kcl_refuse_on_ranks(ctx, "a matrix that is a function with reproducible sums",
                               "its own sums depend on the rows of a rank");
  return kcl_shell_check(ctx, A);
}

static int compare_shells(const kcl_comm *c, const kcl_shell *A) {
  char lines[200];
  snprintf(lines, sizeof lines,
           "the type of the function=%c\nwhether it is Hermitian=%d\nwhether it is positive "
           "definite=%d\n"
           "whether it has an adjoint=%d\n",
           kcl_type_letter(A->type), !!(A->properties & KCL_SHELL_HERMITIAN),
           !!(A->properties & KCL_SHELL_POSITIVE), !!(A->properties & KCL_SHELL_ADJOINT));
  return kcl_mpi_same(c->ctx, c->comm, lines);
}

/* Rows and columns of all. Where there are as many, each rank has as many of both. */
static int count_shapes(kcl_comm *c, const kcl_shell *A) {
  kcl_take_counts(c, A->rows);
  kcl_comm_offsets(c, A->cols, c->column);
  const int64_t rows = c->ranks.rows, columns = c->ranks.columns = c->column[c->ranks.count];
  if (rows > INT32_MAX || columns > INT32_MAX)
    return kcl_fail(c->ctx, KCL_USAGE, "%lld rows and %lld columns: at most 2^31 - 1 each",
                    (long long)rows, (long long)columns);
  if (rows == columns && A->rows != A->cols)
    return kcl_fail(c->ctx, KCL_USAGE,
                    "the matrix is square, and this rank has %lld rows and %lld elements of x: it "
                    "needs as many of both",
                    (long long)A->rows, (long long)A->cols);
  return KCL_OK;
}

/* Rows without entries: nothing is exchanged for them. */
static int make_domain(kcl_distributed *m) {
  kcl_comm *c = m->comm;
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *none = NULL;
  KCL_CALL(kcl_comm_agree(
      c, kcl_csr_create(c->ctx, m->shell.rows, c->ranks.columns, 0, m->shell.type, &none)));
  KCL_CALL(kcl_blocks_open(c, kcl_width_of(m->system->options.nrhs)));
  KCL_CALL(kcl_domain_create(c, none, &none, c->column, &m->domain));
  m->held = m->shell.rows, m->held_x = m->shell.cols, m->type = m->shell.type;
  return KCL_OK;
}

int kcl_distribute_shell(kcl_distributed *m, const kcl_shell *A) {
  kcl_comm *c = m->comm;
  kcl_system *s = m->system;
  KCL_CALL(kcl_comm_agree(c, check_shell_on_rank(m, A)));
  KCL_CALL(compare_shells(c, A));
  KCL_CALL(kcl_comm_agree(c, count_shapes(c, A)));
  m->shell = *A, s->shell = &m->shell;
  KCL_CALL(make_domain(m));
  s->A = m->domain->given.interior, s->halo = &m->domain->halo;
  s->stats = kcl_shell_stats(A);
  s->stats.rows = c->ranks.rows, s->stats.cols = c->ranks.columns;
  kcl_apply_symmetry(s);
  KCL_CALL(kcl_distributed_give_precond(m));
  KCL_CALL(kcl_distributed_convert(&m->calls));
  KCL_CALL(kcl_comm_agree(c, kcl_shell_make_products(s)));
  snprintf(m->selection->why_format, sizeof m->selection->why_format,
           "A is a function of the caller's");
  return KCL_OK;
}
