/* kcl_operator_multiply and kcl_operator_apply: the checks, and copies of arrays with gaps between the numbers of a column. */
#include "solver/operator.h"
#include "solver/vectors.h"

typedef struct product {
  kcl_operator *op;
  bool adjoint;
  kcl_vectors x, y; /* the caller's */
  const void *alpha, *beta;
} product;

/* y = ... + beta y */
static bool adds_y(const product *p) {
  double beta[2] = {0, 0};
  if (p->beta) kcl_element(p->op->system.options.precision, p->beta, 0, beta);
  return beta[0] != 0 || beta[1] != 0;
}

static int read_product(product *p, const kcl_vectors *x, const kcl_vectors *y) {
  static const char *const names[] = {"x", "y"};
  const kcl_csr *A = p->op->system.A;
  const kcl_type t = p->op->system.options.precision;
  kcl_distribution *d = p->op->system.distribution;
  kcl_context *ctx = p->op->system.ctx;
  const bool shared = d, absent = d && d->without_vectors;
  const int64_t n = p->adjoint ? A->rows : A->cols, m = p->adjoint ? A->cols : A->rows;
  const kcl_vectors_need of_x = {names[0], t, n, true, false, shared, absent},
                         of_y = {names[1], t, m, adds_y(p), true, shared, absent};
  int rc = kcl_vectors_read(ctx, x, &of_x, &p->x);
  if (!rc) rc = kcl_vectors_read(ctx, y, &of_y, &p->y);
  return rc || shared ? rc : kcl_vectors_check_pair(ctx, &p->x, &p->y, names);
}

/* A copy without gaps, *own; what was given where it has none. */
static int copy_without_gaps(const product *p, const kcl_vectors *v, void **own, kcl_vectors *out) {
  const size_t size = kcl_type_size(p->op->system.options.precision);
  *own = NULL, *out = *v;
  if (v->place == KCL_OPENCL || v->inc == 1) return KCL_OK;
  int rc = kcl_alloc(p->op->system.ctx, v->rows * v->cols, size, "a vector", own);
  out->data = *own, out->offset = 0, out->inc = 1, out->ld = v->rows;
  for (int64_t j = 0; j < v->cols && !rc; j++)
    kcl_vectors_gather(v, j, size, kcl_vectors_at(out, j, size));
  return rc;
}

static int multiply_here(const product *p) {
  const size_t size = kcl_type_size(p->op->system.options.precision);
  kcl_vectors x, y;
  KCL_OWNED void *own_x = NULL, *own_y = NULL;
  kcl_engine *e;
  KCL_CALL(kcl_operator_engine(p->op, p->adjoint, p->x.cols, &e));
  KCL_CALL(copy_without_gaps(p, &p->x, &own_x, &x));
  KCL_CALL(copy_without_gaps(p, &p->y, &own_y, &y));
  const kcl_multiplication m = {.x = &x, .y = &y, .alpha = p->alpha, .beta = p->beta};
  KCL_CALL(e->executor.multiply(&e->executor, &m));
  for (int64_t j = 0; j < y.cols && own_y; j++)
    kcl_vectors_scatter(&p->y, j, size, kcl_vectors_at(&y, j, size));
  return KCL_OK;
}

/* On several ranks all learn of a failure before the product. */
static int multiply_together(const product *p, int rc) {
  kcl_distribution *d = p->op->system.distribution;
  const kcl_product shared = {.x = p->x.data,
                              .y = p->y.data,
                              .cols = p->x.cols,
                              .alpha = p->alpha,
                              .beta = p->beta,
                              .adjoint = p->adjoint};
  return rc ? d->agree(d, rc, p->x.cols) : d->multiply(d, p->op->side[0].one, &shared);
}

static int multiply(product *p, const kcl_vectors *x, const kcl_vectors *y) {
  KCL_ENTER(p->op->system.ctx);
  kcl_engine *e;
  kcl_distribution *d = p->op->system.distribution;
  int rc = d ? KCL_OK : kcl_operator_engine(p->op, p->adjoint, 1, &e);
  if (!rc) rc = read_product(p, x, y);
  if (d) return multiply_together(p, rc);
  return rc ? rc : multiply_here(p);
}

int kcl_operator_multiply(kcl_operator *op, int adjoint, const void *alpha, const kcl_vectors *x,
                          const void *beta, kcl_vectors *y) {
  if (!op) return kcl_need(NULL, "op", op);
  return multiply(&(product){.op = op, .adjoint = adjoint != 0, .alpha = alpha, .beta = beta}, x,
                  y);
}

int kcl_operator_apply(kcl_operator *op, const kcl_product *p) {
  if (!op) return kcl_need(NULL, "op", op);
  kcl_context *ctx = op->system.ctx;
  KCL_CALL(kcl_need(ctx, "p", p));
  if (!op->system.distribution) KCL_CALL(kcl_need(ctx, "x", p->x));
  if (!op->system.distribution) KCL_CALL(kcl_need(ctx, "y", p->y));
  const int32_t place = p->buffers ? KCL_OPENCL : KCL_HOST;
  const kcl_vectors x = {.size = sizeof x,
                         .data = (void *)(uintptr_t)p->x,
                         .cols = p->cols,
                         .place = place},
                    y = {.size = sizeof y, .data = p->y, .cols = p->cols, .place = place};
  product of = {.op = op, .adjoint = p->adjoint, .alpha = p->alpha, .beta = p->beta};
  return multiply(&of, &x, &y);
}
