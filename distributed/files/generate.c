/* kcl_mpi_generate: every rank makes its own rows, where their generator can make any; what a rank counts to find the cuts are
 * the rows of an even share. Other systems are made whole on rank 0, which gives rows out. */
#include "data/generators/generate.h"
#include "distributed/files/files.h"
#include <stdio.h>

typedef struct share {
  const kcl_rows *rows;
  int64_t from, to;
} share;

/* Rows of blocks without a slot are not looked at. */
static void count_rows_of_kind(const void *self, const kcl_bins *b) {
  const share *s = self;
  for (int64_t i = s->from; i < s->to; i++)
    if (!b->slot || b->slot[i >> b->shift] >= 0)
      kcl_bin(b, i, s->rows->row(s->rows->self, i, NULL, NULL));
}

static int make_own_rows(kcl_comm *c, const kcl_formula *f, kcl_mpi_part *out) {
  const int64_t n = f->rows.rows, ranks = c->ranks.count, me = c->ranks.rank;
  const share s = {&f->rows, n * me / ranks, n * (me + 1) / ranks};
  int64_t stored;
  KCL_CALL(kcl_cut_rows(c, n, count_rows_of_kind, &s));
  KCL_CALL(kcl_cut_columns(c, n));
  const int64_t *first = &c->first[me];
  KCL_CALL(kcl_comm_agree(c, kcl_formula_rows(c->ctx, f, first[0], first[1], &out->A, &out->b)));
  (void)kcl_comm_before(c, out->A->stored, &stored);
  kcl_describe_part(c, stored, out);
  return KCL_OK;
}

static int make_whole_system(kcl_comm *c, const char *kind_size, kcl_mpi_part *out) {
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *A = NULL;
  KCL_OWNED_BY(kcl_dense_free) kcl_dense *b = NULL;
  int rc = c->ranks.rank ? KCL_OK : kcl_generate(c->ctx, kind_size, &A, &b);
  rc = kcl_comm_agree(c, rc);
  if (!rc) rc = kcl_give_part(c, A, b, NULL, out);
  return rc;
}

static int make_alone(kcl_context *ctx, const char *kind_size, kcl_mpi_part *out) {
  KCL_CALL(kcl_generate(ctx, kind_size, &out->A, &out->b));
  kcl_describe_whole(out);
  return KCL_OK;
}

int kcl_mpi_generate(kcl_context *ctx, MPI_Comm comm, const char *kind_size, kcl_mpi_part *out) {
  KCL_OWNED_BY(kcl_comm_free) kcl_comm *c = NULL;
  KCL_OWNED_BY(kcl_formula_free) kcl_formula f = {0};
  char system[300];
  int count, rc;
  if (!ctx) return kcl_need(NULL, "ctx", ctx);
  rc = kcl_need(ctx, "out", out);
  if (!rc) *out = (kcl_mpi_part){0};
  if (!rc) rc = kcl_generate_describe(ctx, kind_size, &f);
  KCL_CALL(kcl_mpi_agree(ctx, comm, rc));
  snprintf(system, sizeof system, "the generated system=%s\n", kind_size);
  KCL_CALL(kcl_mpi_same(ctx, comm, system));
  MPI_Comm_size(comm, &count);
  if (count == 1) return make_alone(ctx, kind_size, out);
  KCL_CALL(kcl_read_begin(ctx, comm, &c));
  rc = f.rows.self ? make_own_rows(c, &f, out) : make_whole_system(c, kind_size, out);
  if (rc) kcl_mpi_part_free(out);
  return rc;
}
