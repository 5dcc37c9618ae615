/* kcl_mpi_setup: rows to the ranks, what is known of the whole matrix, a way to solve it, an engine on each rank. */
#include "distributed/distributed.h"
#include "solver/engine/given.h"

/* ---------------------------------------------------------------- what several ranks cannot do */

int kcl_check_ranks(const kcl_system *s) {
  const int threads = s->ctx->opencl ? 1 : s->ctx->threads;
  int provided;
  MPI_Query_thread(&provided);
  if (threads > 1 && provided < MPI_THREAD_SERIALIZED)
    return kcl_fail(s->ctx, KCL_USAGE,
                    "MPI was started for one thread and the executor has %d: MPI_Init_thread with "
                    "MPI_THREAD_SERIALIZED, or one thread",
                    threads);
  if (s->ctx->metis && s->ctx->shares == KCL_SHARES_ROWS)
    return kcl_fail(s->ctx, KCL_USAGE, "partition metis: its parts share nonzeros, not rows");
  if (s->ctx->metis && s->ctx->reproducible)
    return kcl_fail(
        s->ctx, KCL_USAGE,
        "partition metis: not with reproducible sums, whose blocks are of consecutive rows");
  return KCL_OK;
}

static int check_asked(const kcl_system *s) {
  if (s->options.mixed)
    return kcl_refuse_on_ranks(s->ctx, "mixed precision", "the second engine is not distributed");
  if (s->undecided.measure)
    return kcl_refuse_on_ranks(s->ctx, "format measure",
                               "ranks would time one after another; auto predicts");
  return kcl_check_ranks(s);
}

/* ---------------------------------------------------------------- the whole matrix */

/* Counts rows and columns of zeros of all ranks. The first has a number where rows are in the order of the whole matrix. */
static void count_zeros(kcl_distributed *m) {
  kcl_stats *s = &m->system->stats;
  kcl_comm *c = m->comm;
  const int me = c->ranks.rank;
  const double none = INFINITY,
               row = s->first_zero_row < 0 ? none : (double)(c->first[me] + s->first_zero_row),
               col = m->system->zero_cols ? (double)(c->column[me] + m->system->zero_col[0]) : none,
               first_row = -kcl_comm_largest(c, -row), first_col = -kcl_comm_largest(c, -col);
  s->zero_rows = (int64_t)kcl_comm_total(c, (double)s->zero_rows);
  s->zero_cols = (int64_t)kcl_comm_total(c, (double)m->system->zero_cols);
  s->first_zero_row = s->zero_rows && !m->order ? (int64_t)first_row : -1;
  s->first_zero_col = s->zero_cols && !m->order ? (int64_t)first_col : -1;
}

static int know(kcl_distributed *m) {
  kcl_system *s = m->system;
  const double start = kcl_now();
  KCL_CALL(kcl_domain_stats(m->domain, &m->domain->given, &s->stats));
  s->A = m->domain->given.interior, s->halo = &m->domain->halo;
  kcl_apply_symmetry(s);
  KCL_CALL(kcl_distributed_give_precond(m));
  KCL_CALL(kcl_keep_precond(m));
  KCL_CALL(kcl_find_zero_columns(s));
  KCL_CALL(kcl_system_scale(s));
  KCL_CALL(kcl_system_convert(s));
  s->scale_as = NULL;
  count_zeros(m);
  s->seconds_stats = kcl_now() - start;
  return KCL_OK;
}

/* ---------------------------------------------------------------- in steps */

/* Can they be solved? */
static int check_shape(kcl_comm *c, int64_t columns) {
  const char *what = columns == c->ranks.rows ? NULL
                     : c->ctx->metis          ? "partition metis"
                     : c->ctx->reproducible   ? "reproducible sums"
                                              : NULL;
  int rc = KCL_OK;
  if (what)
    rc = kcl_fail(c->ctx, KCL_USAGE, "%s: the matrix is %lld by %lld, and it needs a square one",
                  what, (long long)c->ranks.rows, (long long)columns);
  return kcl_comm_agree(c, rc);
}

/* Own rows: *given, or NULL: they are A's. */
static int spread_rows(kcl_distributed *m, const kcl_csr *A, kcl_csr **given) {
  kcl_comm *c = m->comm;
  kcl_csr held;
  const bool root = m->layout == KCL_MPI_ROOT;
  const int me = c->ranks.rank;
  KCL_CALL(root ? kcl_hold_rows(c, A, &held) : kcl_take_rows(c, A));
  if (!root) held = *A;
  KCL_CALL(check_shape(c, held.cols));
  if (m->comm->ctx->metis)
    KCL_CALL(kcl_order_rows(c, &held, &m->order, given));
  else if (root)
    KCL_CALL(kcl_give_rows(c, &held, given));
  KCL_CALL(kcl_comm_agree(c, kcl_cut_columns(c, held.cols)));
  m->held = held.rows;
  m->held_x = root && me ? 0
              : root     ? held.cols
              : m->order ? held.rows
                         : c->column[me + 1] - c->column[me];
  return KCL_OK;
}

/* Right-hand sides: what rank 0 asks for; beside native ranks OpenCL devices take one, as their sums differ in number. */
static int columns_at_once(const kcl_distributed *m) {
  kcl_ranks *r = &m->comm->ranks;
  const int asked = (int)kcl_ranks_decide(r, m->system->options.nrhs);
  return asked && !r->unlike ? asked : 1;
}

/* The engine of the first way. A preconditioner that was chosen here and turns out not to exist is left out. */
static int first_engine(kcl_distributed *m) {
  kcl_selection *c = m->selection;
  int rc = kcl_ways_engine(m, &c->way, &c->engine);
  if (rc == KCL_USAGE && m->system->undecided.precond && c->way.precond->apply) {
    rc = kcl_precond_find(m->comm->ctx, "none", &c->way.precond);
    if (!rc) rc = kcl_ways_engine(m, &c->way, &c->engine);
  }
  if (rc) return rc;
  c->build = kcl_ways_engine, c->owner = m;
  c->decided = true; /* formats are not timed */
  kcl_choose_explain_adjoint(c);
  return KCL_OK;
}

int kcl_distribute_rows(kcl_distributed *m, const kcl_csr *A) {
  kcl_comm *c = m->comm;
  KCL_OWNED_BY(kcl_csr_free) kcl_csr *given = NULL;
  kcl_csr **taken = m->taken;
  double start = kcl_now();
  KCL_CALL(kcl_blocks_begin(c));
  m->seconds_partition = -kcl_now();
  KCL_CALL(spread_rows(m, A, &given));
  m->seconds_partition += kcl_now();
  m->system->seconds_check += kcl_now() - start;
  if (given) {
    if (taken) kcl_csr_free(taken);
    A = given, taken = &given;
  }
  m->type = A->type;
  KCL_CALL(kcl_blocks_open(c, kcl_width_of(m->system->options.nrhs)));
  KCL_CALL(kcl_domain_create(c, A, taken, c->column, &m->domain));
  if (m->taken) kcl_csr_free(m->taken);
  return KCL_OK;
}

static int know_rows(kcl_distributed *m, const kcl_csr *A) {
  kcl_options *o = &m->system->options;
  KCL_CALL(kcl_distribute_rows(m, A));
  o->precision = kcl_precision_for(o->precision, m->type);
  KCL_CALL(know(m));
  return kcl_distribute_near_null(m);
}

static int set_up_on_ranks(kcl_distributed *m, const kcl_shared_input *in) {
  kcl_comm *c = m->comm;
  kcl_system *s = m->system;
  int rc;
  double start = kcl_now();
  s->options = in->own.shell ? kcl_options_for_shell(in->own.options, in->own.shell)
                             : kcl_options_of(in->own.options);
  s->options.no_direct = true;
  if (m->M) s->options.precond = NULL;
  kcl_read_options(s);
  rc = kcl_check_options(s);
  if (kcl_comm_differs(c, in->own.shell != NULL) && !rc)
    rc = kcl_fail(c->ctx, KCL_USAGE, "A is a function on some ranks, and has entries on others");
  if (!rc) rc = kcl_alloc(c->ctx, 1, sizeof *s->preconds, "preconditioners", (void **)&s->preconds);
  if (!rc) rc = check_asked(s);
  if (!rc && in->own.shell) rc = kcl_check_shell_options(c->ctx, in->own.shell, &s->options);
  KCL_CALL(kcl_comm_agree(c, rc));
  KCL_CALL(kcl_comm_same_options(c, m->layout, &s->options));
  s->options.nrhs = columns_at_once(m);
  s->seconds_check = kcl_now() - start;
  if (in->own.shell)
    KCL_CALL(kcl_distribute_shell(m, in->own.shell));
  else
    KCL_CALL(know_rows(m, in->own.A));
  KCL_CALL(kcl_ways_plan(m));
  KCL_CALL(kcl_keep_hierarchy(m));
  KCL_CALL(first_engine(m));
  kcl_distributed_add_sizes(m, m->selection->engine);
  return KCL_OK;
}

/* ---------------------------------------------------------------- the public functions */

/* Everything but the solver, which goes after its matrices on devices have gone. */
static void free_distributed(kcl_distribution *self) {
  kcl_distributed *m = (kcl_distributed *)self;
  if (m->comm) kcl_comm_meet(m->comm->comm);
  kcl_domain_free(&m->domain), kcl_domain_free(&m->adjoint);
  kcl_dense_free(&m->near_null);
  kcl_order_free(&m->order);
  free(m->b), free(m->x);
  kcl_comm_free(&m->comm);
  free(m);
}

static void move_distributed(kcl_distribution *self, kcl_solver *to) {
  kcl_distributed *m = (kcl_distributed *)self;
  m->system = &to->system, m->selection = &to->selection;
}

int kcl_distributed_create(kcl_context *ctx, kcl_mpi_layout layout, kcl_csr **taken, kcl_system *s,
                           kcl_distributed **out) {
  kcl_distributed *m;
  KCL_CALL(kcl_alloc(ctx, 1, sizeof *m, "what ranks share", (void **)&m));
  *m = (kcl_distributed){.calls = {.convert = kcl_distributed_convert,
                                   .count = kcl_distributed_count,
                                   .agree = kcl_distributed_agree,
                                   .take = kcl_distributed_take,
                                   .give_back = kcl_distributed_give_back,
                                   .time = kcl_distributed_time,
                                   .collect = kcl_distributed_collect,
                                   .deal = kcl_distributed_deal,
                                   .tell = kcl_distributed_tell,
                                   .fingerprint = kcl_distributed_fingerprint,
                                   .reorders = ctx->metis,
                                   .describe = kcl_distributed_describe,
                                   .move = move_distributed,
                                   .free = free_distributed},
                         .system = s,
                         .layout = layout,
                         .taken = taken};
  *s = (kcl_system){.ctx = ctx, .distribution = &m->calls};
  kcl_context_retain(ctx);
  *out = m;
  return KCL_OK;
}

int kcl_distributed_begin(kcl_distributed *m, MPI_Comm comm) {
  kcl_context *ctx = m->system->ctx;
  const double device = ctx->opencl != NULL;
  KCL_CALL(kcl_comm_create(ctx, comm, &m->comm));
  m->calls.without_vectors = m->layout == KCL_MPI_ROOT && m->comm->ranks.rank;
  m->comm->ranks.unlike = kcl_comm_differs(m->comm, device);
  return KCL_OK;
}

static int new_solver(kcl_context *ctx, const kcl_shared_input *in, kcl_solver **out,
                      kcl_distributed **m) {
  KCL_OWNED kcl_solver *s = NULL;
  KCL_CALL(kcl_alloc(ctx, 1, sizeof *s, "a solver", (void **)&s));
  KCL_CALL(kcl_distributed_create(ctx, in->layout, in->taken, &s->system, m));
  (*m)->selection = &s->selection;
  s->selection.resume = kcl_resume, s->selection.solver = s;
  *out = s, s = NULL;
  return KCL_OK;
}

/* An ordinary solver, bit for bit. */
static int set_up_alone(kcl_context *ctx, const kcl_shared_input *in, kcl_solver **out) {
  kcl_options o = kcl_options_of(in->own.options);
  if (in->own.shell) return kcl_setup_shell(ctx, in->own.shell, in->own.M, in->own.options, out);
  if (in->own.A) o.precision = kcl_precision_for(o.precision, in->own.A->type);
  return in->own.M ? kcl_setup_with(ctx, in->own.A, in->own.M, &o, out)
                   : kcl_setup(ctx, in->own.A, &o, out);
}

int kcl_distributed_setup(kcl_context *ctx, MPI_Comm comm, const kcl_shared_input *in,
                          kcl_solver **out) {
  KCL_OWNED_BY(kcl_solver_free) kcl_solver *s = NULL;
  kcl_distributed *m = NULL;
  int count;
  KCL_ENTER(ctx);
  MPI_Comm_size(comm, &count);
  int rc = kcl_need(ctx, "out", out);
  if (!rc) *out = NULL;
  if (!rc && (unsigned)in->layout > KCL_MPI_ROWS)
    rc = kcl_fail(ctx, KCL_USAGE, "layout %d: no such layout", (int)in->layout);
  const bool alone = count == 1;
  if (!rc && !alone) rc = new_solver(ctx, in, &s, &m);
  KCL_CALL(kcl_mpi_agree(ctx, comm, rc));
  if (alone) return set_up_alone(ctx, in, out);
  m->M = in->own.M, m->before = in->own.before, m->keep = in->own.keep;
  KCL_CALL(kcl_distributed_begin(m, comm));
  KCL_CALL(set_up_on_ranks(m, in));
  m->taken = NULL, m->before = NULL;
  *out = s, s = NULL;
  return KCL_OK;
}

int kcl_mpi_setup(kcl_context *ctx, MPI_Comm comm, const kcl_csr *A, kcl_mpi_layout layout,
                  const kcl_options *options, kcl_solver **out) {
  const kcl_shared_input in = {.own = {.A = A, .options = options}, .layout = layout};
  return kcl_distributed_setup(ctx, comm, &in, out);
}

int kcl_mpi_setup_part(kcl_context *ctx, MPI_Comm comm, kcl_mpi_part *part,
                       const kcl_options *options, kcl_solver **out) {
  const kcl_shared_input in = {.own = {.A = part ? part->A : NULL, .options = options},
                               .taken = part ? &part->A : NULL,
                               .layout = KCL_MPI_ROWS};
  return kcl_distributed_setup(ctx, comm, &in, out);
}
