/* Matrices of multigrid on the host: coarsen.h, sparse/sparse.h. */
#include "multigrid/builder.h"
#include "multigrid/smooth.h"

static void host_free_built(kcl_builder *b, kcl_built *A) {
  (void)b, kcl_csr_free(&A->owned);
  *A = (kcl_built){0};
}

void kcl_built_on_host(kcl_csr *C, kcl_built *out) {
  *out = (kcl_built){.csr = C, .owned = C};
  if (C) out->rows = C->rows, out->cols = C->cols, out->nnz = C->nnz;
}

static int host_give(int rc, kcl_csr *C, kcl_built *out) {
  kcl_built_on_host(C, out);
  return rc;
}

static int host_take(kcl_builder *b, const kcl_csr *A, kcl_built *out) {
  kcl_csr *wide = NULL;
  const kcl_csr *used;
  int rc = kcl_sparse_wide(b->M->ctx, A, &wide, &used);
  host_give(rc, rc ? NULL : (kcl_csr *)used, out);
  out->owned = wide;
  return rc;
}

static int host_interpolation(kcl_builder *b, const kcl_built *A, const kcl_coarsening_rule *rule,
                              kcl_built *P, bool *made) {
  kcl_context *ctx = b->M->ctx;
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *S = NULL;
  kcl_csr *C = NULL;
  KCL_OWNED int32_t *coarse = NULL;
  int64_t count;
  KCL_CALL(kcl_amg_strong(ctx, A->csr, rule->theta, &S));
  KCL_CALL(kcl_amg_split(ctx, S, &coarse, &count));
  if (count && (double)count <= rule->enough)
    KCL_CALL(kcl_amg_interpolation(ctx, A->csr, S, coarse, count, rule->most, &C));
  *made = C != NULL;
  host_give(KCL_OK, C, P);
  return KCL_OK;
}

/* P and the next level's vectors. The graph is freed as soon as P is smoothed: what follows touches its pages instead of new ones. */
static int prolongate(kcl_builder *b, const kcl_csr *A, kcl_nodes *nodes, const kcl_aggregation *g,
                      const kcl_aggregation_rule *rule, kcl_csr **P) {
  kcl_context *ctx = b->M->ctx;
  kcl_near_null *v = &b->near_null;
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *T = NULL;
  KCL_OWNED double *coarse = NULL;
  KCL_CALL(kcl_amg_tentative(ctx, g, A->rows, v->B, &T, &coarse));
  if (rule->largest > 0) {
    KCL_CALL(kcl_amg_smoothed(ctx, A, nodes, rule->block, T, rule->largest, P));
    kcl_amg_nodes_free(nodes);
    KCL_CALL(kcl_amg_limit(ctx, A, T, rule->most_products, rule->most_entries, P));
  } else
    *P = T, T = NULL;
  free(v->owned);
  v->B = v->owned = coarse, v->block = v->vectors, coarse = NULL;
  return KCL_OK;
}

static int host_aggregation(kcl_builder *b, const kcl_built *A, const kcl_aggregation_rule *rule,
                            kcl_built *P, bool *made) {
  kcl_context *ctx = b->M->ctx;
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *C = NULL;
  KCL_OWNED_BY(kcl_amg_nodes_free) kcl_nodes nodes = {0};
  KCL_OWNED int32_t *aggregate = NULL;
  kcl_aggregation g = {.block = rule->block, .vectors = rule->vectors};
  *made = false;
  KCL_CALL(kcl_amg_nodes(ctx, A->csr, rule->block, rule->theta, &nodes));
  KCL_CALL(kcl_amg_aggregates(ctx, &nodes, rule->least, &aggregate, &g.count));
  g.aggregate = aggregate;
  if (!g.count || (double)(g.count * g.vectors) > rule->enough) return KCL_OK;
  KCL_CALL(prolongate(b, A->csr, &nodes, &g, rule, &C));
  host_give(KCL_OK, C, P), C = NULL, *made = true;
  return KCL_OK;
}

static int host_transpose(kcl_builder *b, kcl_built *A, kcl_built *out) {
  kcl_csr *T = NULL;
  int rc = kcl_sparse_transpose(b->M->ctx, A->csr, &T);
  return host_give(rc, T, out);
}

static int host_product(kcl_builder *b, const kcl_built *A, const kcl_built *B, kcl_built *out) {
  kcl_csr *C = NULL;
  int rc = kcl_sparse_product(b->M->ctx, A->csr, B->csr, &C);
  return host_give(rc, C, out);
}

static int host_galerkin(kcl_builder *b, const kcl_built *R, const kcl_built *A, const kcl_built *P,
                         kcl_built *pattern, kcl_galerkin_shape *shape, kcl_built *out) {
  kcl_csr *C = NULL;
  (void)shape;
  int rc =
      kcl_sparse_galerkin(b->M->ctx, R->csr, A->csr, P->csr, pattern ? pattern->csr : NULL, &C);
  return host_give(rc, C, out);
}

static int host_truncate_rows(kcl_builder *b, const kcl_built *A, int most, kcl_built *out) {
  kcl_csr *C = NULL;
  int rc = kcl_amg_truncate(b->M->ctx, A->csr, most, &C);
  return host_give(rc, C, out);
}

static void round_part(void *arg, int64_t from, int64_t to) {
  double *val = arg;
  for (int64_t k = from; k < to; k++) val[k] = (double)(float)val[k];
}

static int host_round_values(kcl_builder *b, kcl_built *A) {
  (void)b, kcl_for(A->nnz, KCL_FEW, round_part, A->csr->val);
  return KCL_OK;
}

static int host_smoother(kcl_builder *b, const kcl_built *A, kcl_smoother kind) {
  if (kind == KCL_CHEBYSHEV) return kcl_add_smoother(b->M, A->csr, NULL, "D", &b->largest);
  return kcl_add_diagonal(b->M, A->csr, "D", kind);
}

static int host_inverse(kcl_builder *b, const kcl_built *A, kcl_csr **out) {
  return kcl_dense_inverse(b->M->ctx, A->csr, b->M->hermitian, out);
}

static int host_keep(kcl_builder *b, kcl_built *A) {
  kcl_csr *given = A->owned;
  A->owned = NULL;
  host_free_built(b, A);
  return kcl_precond_add_level(b->M, given, b->narrow);
}

static int host_view(kcl_builder *b, const kcl_stored *C, bool values, kcl_built *out) {
  (void)values;
  return C->origin.source.row_ptr ? host_take(b, &C->origin.source, out) : KCL_UNSUITED;
}

static void host_close(kcl_builder *b) { (void)b; }

const kcl_builder_ops kcl_build_on_host = {.take = host_take,
                                           .free = host_free_built,
                                           .interpolation = host_interpolation,
                                           .aggregation = host_aggregation,
                                           .transpose = host_transpose,
                                           .product = host_product,
                                           .galerkin = host_galerkin,
                                           .truncate = host_truncate_rows,
                                           .round = host_round_values,
                                           .smoother = host_smoother,
                                           .inverse = host_inverse,
                                           .keep = host_keep,
                                           .view = host_view,
                                           .close = host_close};
