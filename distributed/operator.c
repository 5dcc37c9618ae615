/* kcl_mpi_operator_create: products alone on several ranks. The engine of one product (solver/engine/product.c) multiplies by
 * a matrix with a halo, so its executor exchanges elements of x as in a solve. */
#include "distributed/distributed.h"
#include "solver/operator.h"

static int check_shared_product(const kcl_distributed *m, const kcl_product *p) {
  kcl_context *ctx = m->comm->ctx;
  int rc = KCL_OK;
  if (p->adjoint || p->alpha || p->beta || p->buffers)
    return kcl_fail(ctx, KCL_USAGE, "on several ranks products are y = A x of arrays");
  if (p->cols < 1) return kcl_fail(ctx, KCL_USAGE, "%lld columns: at least 1", (long long)p->cols);
  if (!m->calls.without_vectors && !(rc = kcl_need(ctx, "x", p->x))) rc = kcl_need(ctx, "y", p->y);
  return rc;
}

/* own: memory for the larger of the parts of x and y of this rank. */
static int multiply_column(const kcl_distributed *m, kcl_engine *e, const void *x, void *y,
                           void *own) {
  kcl_executor *ex = &e->executor;
  const kcl_program *k = e->program;
  int rc = kcl_take_vector(m, m->comm->column, k->type, x, own);
  if (!rc) rc = ex->put(ex, k->x, 0, k->type, own, 1);
  if (!rc) rc = kcl_timing_state(ex, KCL_MAX_NRHS); /* no test stops the product */
  if (!rc) rc = ex->run(ex, KCL_START, 1);
  if (!rc) rc = ex->get(ex, k->b, 0, k->type, own, 1);
  return rc ? rc : kcl_return_vector(m, m->comm->first, k->type, own, y);
}

static int multiply_shared_product(kcl_distribution *self, kcl_engine *e, const kcl_product *p) {
  kcl_distributed *m = (kcl_distributed *)self;
  const int64_t rows = m->system->A->rows, cols = m->domain->columns;
  const size_t size = kcl_type_size(e->program->type);
  KCL_OWNED char *own = NULL;
  int rc = check_shared_product(m, p);
  if (!rc)
    rc = kcl_alloc(m->comm->ctx, rows > cols ? rows : cols, size, "a part of x and y",
                   (void **)&own);
  KCL_CALL(kcl_distributed_agree(self, rc, p->cols));
  for (int64_t j = 0; j < p->cols && !rc; j++)
    rc = multiply_column(m, e, (const char *)p->x + (size_t)(j * m->held_x) * size,
                         (char *)p->y + (size_t)(j * m->held) * size, own);
  return rc;
}

static int read_operator_options(kcl_system *s, const kcl_operator_options *o) {
  s->options = kcl_defaults;
  s->options.scale = KCL_SCALE_NONE, s->options.nrhs = 1;
  if (o->products != KCL_PRODUCTS_PLAIN)
    return kcl_fail(s->ctx, KCL_USAGE, "products with A^H: not on several ranks");
  const int rc = kcl_operator_read_options(s, o);
  return rc ? rc : kcl_check_ranks(s);
}

/* The rows of this rank in a format of their own, and the engine of their product. */
static int build_operator_on_rank(const kcl_distributed *m, kcl_operator *op) {
  kcl_system *s = m->system;
  const kcl_format *f;
  const double start = kcl_now();
  int rc = kcl_operator_choose_format(op, &f);
  if (!rc) rc = kcl_domain_matrix(m->domain, f, &s->shared[0]);
  s->seconds_convert += kcl_now() - start;
  return rc ? rc : kcl_engine_product(s->shared[0], 1, &op->side[0].one);
}

static int convert_rows_of_rank(kcl_distributed *m) {
  kcl_system *s = m->system;
  double start = kcl_now();
  int rc = kcl_domain_stats(m->domain, &m->domain->given, &s->stats);
  s->A = m->domain->given.interior, s->halo = &m->domain->halo, s->known = true;
  s->seconds_stats = kcl_now() - start;
  start = kcl_now();
  if (!rc) rc = kcl_distributed_convert(&m->calls);
  s->seconds_convert = kcl_now() - start;
  return rc ? rc : kcl_domain_open(m->domain, 1);
}

static int set_up_operator(kcl_distributed *m, kcl_operator *op, const kcl_csr *A,
                           const kcl_operator_options *o) {
  kcl_comm *c = m->comm;
  KCL_CALL(kcl_comm_agree(c, read_operator_options(m->system, o)));
  KCL_CALL(kcl_comm_same_options(c, m->layout, &m->system->options));
  KCL_CALL(kcl_distribute_rows(m, A));
  KCL_CALL(convert_rows_of_rank(m));
  KCL_CALL(kcl_comm_agree(c, build_operator_on_rank(m, op)));
  KCL_CALL(kcl_distribute_executor(c, &op->side[0].one->executor));
  kcl_distributed_add_sizes(m, op->side[0].one);
  op->nrhs = 1;
  return KCL_OK;
}

static int create_shared_operator(kcl_context *ctx, kcl_mpi_layout layout, kcl_operator **out,
                                  kcl_distributed **m) {
  KCL_OWNED kcl_operator *op = NULL;
  KCL_CALL(kcl_alloc(ctx, 1, sizeof *op, "an operator", (void **)&op));
  KCL_CALL(kcl_distributed_create(ctx, layout, NULL, &op->system, m));
  (*m)->calls.multiply = multiply_shared_product;
  *out = op, op = NULL;
  return KCL_OK;
}

int kcl_mpi_operator_create(kcl_context *ctx, MPI_Comm comm, const kcl_csr *A,
                            kcl_mpi_layout layout, const kcl_operator_options *options,
                            kcl_operator **out) {
  const kcl_operator_options *o = options ? options : &kcl_operator_defaults;
  KCL_OWNED_BY(kcl_operator_free) kcl_operator *op = NULL;
  kcl_distributed *m = NULL;
  int count;
  KCL_ENTER(ctx);
  MPI_Comm_size(comm, &count);
  if (count == 1) return kcl_operator_create(ctx, A, o, out);
  int rc = kcl_need(ctx, "out", out);
  if (!rc) *out = NULL;
  if (!rc && (unsigned)layout > KCL_MPI_ROWS)
    rc = kcl_fail(ctx, KCL_USAGE, "layout %d: no such layout", (int)layout);
  if (!rc) rc = create_shared_operator(ctx, layout, &op, &m);
  KCL_CALL(kcl_mpi_agree(ctx, comm, rc));
  KCL_CALL(kcl_distributed_begin(m, comm));
  KCL_CALL(set_up_operator(m, op, A, o));
  *out = op, op = NULL;
  return KCL_OK;
}
