/* Preconditioners as objects: set up for a matrix alone, updated, applied, shared by solvers.
 *
 * Solvers share kcl_precond.M, which their engines own too. An update replaces it: engines go on with theirs until they are
 * built anew. M keeps nothing of the caller's: kinds that multiply by A get it in a format with arrays of its own.
 */
#include "solver/precond_object.h"
#include "core/matrix/structure.h"
#include "solver/vectors.h"

static const kcl_scaling unscaled = {.row = NULL};

/* For kcl_precond_setup: M is to serve any method for square matrices. */
static const kcl_method any = {.name = "any method"},
                        any_with_adjoint = {.name = "any method", .adjoint = true};

/* ---------------------------------------------------------------- set-up */

/* Statistics of s->A; before: of other values in its pattern are known. */
static int study_values(kcl_system *s, bool before) {
  int rc = before ? KCL_OK : kcl_csr_structure(s->ctx, s->A, &s->stats);
  if (!rc) rc = kcl_csr_values(s->ctx, s->A, NULL, NULL, &s->stats);
  if (!rc) rc = kcl_check_entries(s);
  if (!rc) kcl_apply_symmetry(s);
  return rc;
}

/* The kind that the options name, or the one that "auto" would begin with. */
static int find_kind(const kcl_system *s, const kcl_precond_kind **out) {
  kcl_plan plan;
  if (!s->undecided.precond) return kcl_precond_find(s->ctx, s->options.precond, out);
  int rc = kcl_auto_plan(s, &plan);
  if (!rc) *out = plan.way[0].precond;
  return rc;
}

static int choose_own_format(kcl_system *s, const kcl_stored *before, const kcl_format **f) {
  const kcl_type type = s->options.precision;
  char why[400];
  if (before && !before->format->counts_repeats) return *f = before->format, KCL_OK;
  KCL_CALL(kcl_compression(s->ctx, kcl_system_matrix(s), NULL, &s->stats));
  if (s->undecided.format) return kcl_engine_choose(s, f, why, sizeof why);
  return kcl_format_named(s->ctx, &s->stats, type, s->options.format, f);
}

/* M gets the matrix that it multiplies by. */
static int add_own_matrix(kcl_system *s, const kcl_stored *before, kcl_preconditioner *M) {
  const kcl_format *f;
  KCL_CALL(choose_own_format(s, before, &f));
  KCL_CALL(kcl_stored_build(s->ctx, f, kcl_system_matrix(s), &M->A));
  if (s->converted) kcl_stored_adopt(M->A, s->converted), s->converted = NULL;
  return kcl_stored_own(M->A);
}

/* M of the system, of which all but A's statistics is known. before: of earlier values, or NULL. */
static int set_up_object(kcl_system *s, const kcl_precond_kind *kind,
                         const kcl_preconditioner *before, kcl_preconditioner **out) {
  KCL_OWNED_BY(kcl_preconditioner_free) kcl_preconditioner *M = *out = NULL;
  KCL_CALL(kcl_system_convert(s));
  kcl_precond_request q = kcl_system_request(s);
  q.before = before;
  const bool adjoint = !kind->no_adjoint && !(s->hermitian && kind->symmetric);
  KCL_CALL(kcl_precond_setup(&q, kind, adjoint ? &any_with_adjoint : &any, &M));
  if (M && kind->multiplies) KCL_CALL(add_own_matrix(s, before ? before->A : NULL, M));
  *out = M, M = NULL;
  return KCL_OK;
}

/* The system goes without A. */
static void forget_arrays(kcl_precond *p, const kcl_csr *A, const kcl_sums *sums) {
  kcl_system_forget_converted(&p->system);
  p->shape = (kcl_csr){.rows = A->rows, .cols = A->cols, .nnz = A->nnz, .type = A->type};
  p->system.A = &p->shape, p->sums = *sums;
}

static int check_square(kcl_context *ctx, const kcl_csr *A) {
  if (!A->rows || !A->cols)
    return kcl_fail(ctx, KCL_INPUT, "the matrix has no %s", A->rows ? "columns" : "rows");
  if (A->rows == A->cols) return KCL_OK;
  return kcl_fail(ctx, KCL_INPUT,
                  "the matrix is %lld by %lld and a preconditioner needs a square one",
                  (long long)A->rows, (long long)A->cols);
}

int kcl_precond_new(kcl_context *ctx, kcl_precond **out) {
  KCL_CALL(kcl_alloc(ctx, 1, sizeof **out, "a preconditioner", (void **)out));
  (*out)->system.ctx = ctx;
  kcl_context_retain(ctx);
  return KCL_OK;
}

static int take_options(kcl_precond *p, const kcl_options *options) {
  kcl_options *o = &p->system.options;
  *o = kcl_options_of(options), o->mixed = false;
  return kcl_near_null_copy(o, &p->near_null);
}

int kcl_precond_make(kcl_context *ctx, const kcl_csr *A, const kcl_options *options,
                     kcl_precond **out) {
  KCL_OWNED_BY(kcl_precond_free) kcl_precond *p = NULL;
  if (out) *out = NULL;
  KCL_ENTER(ctx);
  KCL_CALL(kcl_need(ctx, "out", out));
  KCL_CALL(kcl_csr_check(ctx, A));
  KCL_CALL(check_square(ctx, A));
  KCL_CALL(kcl_precond_new(ctx, &p));
  kcl_system *s = &p->system;
  const kcl_sums sums = kcl_sums_of(A);
  s->A = A;
  KCL_CALL(take_options(p, options));
  kcl_read_options(s);
  KCL_CALL(kcl_check_options(s));
  KCL_CALL(study_values(s, false));
  KCL_CALL(find_kind(s, &p->kind));
  KCL_CALL(set_up_object(s, p->kind, NULL, &p->M));
  forget_arrays(p, A, &sums);
  *out = p, p = NULL;
  return KCL_OK;
}

static void close_sides(kcl_precond *p) {
  for (int i = 0; i < 2; i++) kcl_engine_free(&p->side[i]);
}

int kcl_precond_renew(kcl_precond *p, const kcl_csr *A) {
  if (!p) return kcl_need(NULL, "M", p);
  kcl_context *ctx = p->system.ctx;
  KCL_ENTER(ctx);
  kcl_system s = p->system;
  kcl_preconditioner *M = NULL;
  kcl_sums sums;
  if (p->kind == &kcl_precond_shell)
    return kcl_fail(ctx, KCL_USAGE,
                    "the preconditioner is a function of the caller's, which has no values to "
                    "update");
  KCL_CALL(kcl_check_pattern(ctx, &p->shape, &p->sums, A, &sums));
  s.A = A;
  KCL_CALL(study_values(&s, true));
  const int rc = set_up_object(&s, p->kind, p->M, &M);
  if (!rc) {
    close_sides(p);
    kcl_preconditioner_free(&p->M);
    p->M = M, p->system = s;
    forget_arrays(p, A, &sums);
  } else {
    kcl_system_forget_converted(&s);
  }
  return rc;
}

kcl_precond *kcl_precond_share(kcl_precond *p) {
  if (p) p->sharers++;
  return p;
}

void kcl_precond_free(kcl_precond **M) {
  if (!M || !*M) return;
  kcl_precond *p = *M;
  kcl_context *ctx = p->system.ctx;
  *M = NULL;
  if (kcl_opencl_inherited(ctx)) return;
  KCL_HOLD(ctx);
  if (p->sharers-- > 0) return;
  close_sides(p);
  kcl_preconditioner_free(&p->M);
  kcl_system_forget_converted(&p->system);
  free(p->near_null.val), free(p);
  kcl_context_release(ctx);
}

/* ---------------------------------------------------------------- for solvers */

int kcl_precond_give(kcl_precond *p, kcl_system *s) {
  const kcl_type type = p->system.options.precision, wanted = s->options.precision;
  const int64_t n = p->shape.rows;
  if (p->system.ctx != s->ctx)
    return kcl_fail(s->ctx, KCL_USAGE, "the preconditioner was created with another context");
  if (s->A->rows != n || s->A->cols != n)
    return kcl_fail(s->ctx, KCL_USAGE, "the preconditioner is of %lld rows, and A is %lld by %lld",
                    (long long)n, (long long)s->A->rows, (long long)s->A->cols);
  if (type != wanted)
    return kcl_fail(s->ctx, KCL_USAGE, "precision %c: the preconditioner's is %c",
                    kcl_type_letter(wanted), kcl_type_letter(type));
  if (s->options.mixed)
    return kcl_fail(s->ctx, KCL_USAGE,
                    "mixed precision: not with a preconditioner that is given, which is in one");
  s->object = p, s->given = p->M, s->scale_as = &unscaled;
  s->options.precond = p->kind->name;
  return KCL_OK;
}

/* ---------------------------------------------------------------- application */

static int open_object_side(kcl_precond *p, bool adjoint) {
  const kcl_preconditioner *M = p->M;
  kcl_engine **e = &p->side[adjoint];
  if (*e) return KCL_OK;
  if (adjoint && M && !kcl_precond_has_adjoint(M))
    return kcl_fail(p->system.ctx, KCL_USAGE,
                    "preconditioner %s has no M^-H here: A is not Hermitian", p->kind->name);
  return kcl_engine_application(p->system.ctx, p->M, p->system.options.precision, p->shape.rows,
                                adjoint, e);
}

/* Vectors, read, and their type. */
typedef struct typed_vectors {
  kcl_vectors v;
  kcl_type type;
} typed_vectors;

/* One column between the caller's vectors and the engine's: scratch [rows] for arrays with gaps. */
static int put_column(kcl_engine *e, const typed_vectors *r, int64_t j, void *scratch) {
  const kcl_program *k = e->program;
  kcl_executor *ex = &e->executor;
  const size_t size = kcl_type_size(r->type);
  if (r->v.place == KCL_OPENCL) {
    const kcl_column to = ex->column(ex, k->x, 0), from = kcl_vectors_column(&r->v, j, r->type);
    return kcl_copy_column(e->ctx, &to, &from, r->v.rows, 1);
  }
  if (r->v.inc > 1) kcl_vectors_gather(&r->v, j, size, scratch);
  return ex->put(ex, k->x, 0, r->type, r->v.inc > 1 ? scratch : kcl_vectors_at(&r->v, j, size), 1);
}

static int get_column(kcl_engine *e, const typed_vectors *z, int64_t j, void *scratch) {
  const kcl_program *k = e->program;
  kcl_executor *ex = &e->executor;
  const size_t size = kcl_type_size(z->type);
  if (z->v.place == KCL_OPENCL) {
    const kcl_column to = kcl_vectors_column(&z->v, j, z->type), from = ex->column(ex, k->b, 0);
    return kcl_copy_column(e->ctx, &to, &from, z->v.rows, 1);
  }
  void *at = z->v.inc > 1 ? scratch : kcl_vectors_at(&z->v, j, size);
  int rc = ex->get(ex, k->b, 0, z->type, at, 1);
  if (!rc && z->v.inc > 1) kcl_vectors_scatter(&z->v, j, size, scratch);
  return rc;
}

static int apply_to_columns(kcl_engine *e, const typed_vectors *r, const typed_vectors *z) {
  KCL_OWNED void *scratch = NULL;
  int rc = KCL_OK;
  if (r->v.inc > 1 || z->v.inc > 1)
    rc = kcl_alloc_unset(e->ctx, r->v.rows, kcl_type_size(KCL_Z), "a vector", &scratch);
  for (int64_t j = 0; j < r->v.cols && !rc; j++) {
    rc = put_column(e, r, j, scratch);
    if (!rc) rc = e->executor.run(&e->executor, KCL_START, 1);
    if (!rc) rc = get_column(e, z, j, scratch);
  }
  return rc;
}

/* In single or double, real or complex as M. */
static int read_typed(const kcl_precond *p, const char *name, bool written,
                      const kcl_vectors *given, typed_vectors *out) {
  const kcl_type own = p->system.options.precision;
  kcl_type t = own;
  if (given && given->type) KCL_CALL(kcl_type_of_letter(name, given->type, &t));
  out->type = kcl_type_complex(t) == kcl_type_complex(own) ? t : own;
  const kcl_vectors_need need = {
      .name = name, .type = out->type, .rows = p->shape.rows, .reads = !written, .writes = written};
  return kcl_vectors_read(p->system.ctx, given, &need, &out->v);
}

int kcl_precond_apply(kcl_precond *p, int adjoint, const kcl_vectors *r, kcl_vectors *z) {
  if (!p) return kcl_need(NULL, "M", p);
  kcl_context *ctx = p->system.ctx;
  KCL_ENTER(ctx);
  typed_vectors from, to;
  KCL_CALL(read_typed(p, "r", false, r, &from));
  KCL_CALL(read_typed(p, "z", true, z, &to));
  if (from.v.cols != to.v.cols || from.v.place != to.v.place)
    return kcl_fail(ctx, KCL_USAGE, "r has %lld columns and z %lld, or one of them is in a buffer",
                    (long long)from.v.cols, (long long)to.v.cols);
  KCL_CALL(open_object_side(p, adjoint != 0));
  p = kcl_precond_share(p); /* a shell may give it back */
  int rc = apply_to_columns(p->side[adjoint != 0], &from, &to);
  kcl_precond_free(&p);
  return rc;
}
