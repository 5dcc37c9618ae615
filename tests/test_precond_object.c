/* Preconditioners as objects: M applied alone in a cg of this test takes as many iterations as the solver's cg; M outlives its matrix
 * and is shared by solvers and threads, in any order of frees; updated, given, refused.
 */
#include "solver/precond_object.h"
#include "tests/calls.h"
#include "tests/conform.h"
#include "tests/numbers.h"
#include "tests/options.h"
#include <pthread.h>

typedef struct problem {
  const place *p;
  const char *name; /* of the system */
  kcl_type type;
  kcl_csr *A;        /* in that type */
  number *b;         /* [rows] */
  char *b_typed, *x; /* the same in that type, and room */
} problem;

static bool open_problem(const place *p, const char *name, kcl_type type, problem *q) {
  kcl_csr *A = NULL;
  *q = (problem){.p = p, .name = name, .type = type};
  if (!CHECKF(!kcl_generate(p->ctx, name, &A, NULL) && !kcl_csr_convert(p->ctx, A, type, &q->A),
              "%s: %s", name, kcl_error()))
    return kcl_csr_free(&A), false;
  const size_t n = (size_t)A->rows;
  kcl_csr_free(&A);
  q->b = random_vector(type, (int64_t)n);
  q->b_typed = calloc(n, sizeof(number)), q->x = calloc(n, sizeof(number));
  kcl_copy(type, q->b_typed, KCL_Z, q->b, (int64_t)n, 1);
  return true;
}

static void close_problem(problem *q) {
  free(q->b), free(q->b_typed), free(q->x);
  kcl_csr_free(&q->A);
}

static double tol_of(kcl_type t) { return t == KCL_S || t == KCL_C ? 1e-4 : 1e-8; }

static kcl_options options_of(const problem *q, const char *solver, const char *precond) {
  kcl_options o = cg_options();
  o.solver = solver, o.precond = precond, o.precision = q->type, o.tol = tol_of(q->type);
  o.scale = KCL_SCALE_NONE;
  return o;
}

static int64_t solve_problem(const problem *q, kcl_solver *s, const char *what) {
  kcl_report r = {0};
  memset(q->x, 0, (size_t)q->A->rows * sizeof(number));
  const int rc = kcl_solve_one(s, q->b_typed, q->x, &r);
  CHECKF(!rc && r.converged, "%s, %s on %s in %c: %d, %s, %g, %s", what, q->name, q->p->name,
         kcl_type_letter(q->type), rc, kcl_reason_text(r.reason), r.relative_residual, kcl_error());
  return r.iterations;
}

/* ---------------------------------------------------------------- a cg of this test */

/* z = M^-1 r, through numbers of the type of M or of twice its precision. */
static int apply(const problem *q, kcl_precond *M, int adjoint, bool wide, const number *r,
                 number *z) {
  const int64_t n = q->A->rows;
  const kcl_type t = wide ? kcl_wide_type(q->type) : q->type;
  char *from = calloc((size_t)n, sizeof(number)), *to = calloc((size_t)n, sizeof(number));
  const kcl_vectors in = {.size = sizeof in, .data = from, .type = kcl_type_letter(t)};
  kcl_vectors out = {.size = sizeof out, .data = to, .type = kcl_type_letter(t)};
  kcl_copy(t, from, KCL_Z, r, n, 1);
  const int rc = kcl_precond_apply(M, adjoint, &in, &out);
  CHECKF(!rc, "%s on %s: %s", q->name, q->p->name, kcl_error());
  kcl_copy(KCL_Z, z, t, to, n, 1);
  free(from), free(to);
  return rc;
}

static int64_t cg_alone(const problem *q, kcl_precond *M) {
  enum { MOST = 500 };
  const int64_t n = q->A->rows;
  const double target = tol_of(q->type) * sqrt(creal(dot(q->b, q->b, n)));
  number *r = filled(n, 0), *z = filled(n, 0), *p = filled(n, 0), *v = filled(n, 0), rho = 0;
  int64_t count = 0;
  memcpy(r, q->b, (size_t)n * sizeof *r);
  for (; count < MOST && sqrt(creal(dot(r, r, n))) > target; count++) {
    if (apply(q, M, 0, count % 2, r, z)) break;
    const number now = dot(r, z, n), beta = count ? now / rho : 0;
    for (int64_t i = 0; i < n; i++) p[i] = z[i] + beta * p[i];
    multiply_pairs(q->A, p, v);
    const number alpha = now / dot(p, v, n);
    for (int64_t i = 0; i < n; i++) r[i] -= alpha * v[i];
    rho = now;
  }
  free(r), free(z), free(p), free(v);
  return count;
}

/* ---------------------------------------------------------------- each kind */

/* The matrix is gone when M is used. */
static bool create(const problem *q, const kcl_options *o, kcl_precond **M) {
  kcl_csr *copy = NULL;
  if (kcl_csr_convert(q->p->ctx, q->A, q->type, &copy)) exit(1);
  const bool good = CHECKF(!kcl_precond_make(q->p->ctx, copy, o, M), "%s of %s on %s: %s",
                           o->precond, q->name, q->p->name, kcl_error());
  memset(copy->val, 0xff, (size_t)copy->nnz * kcl_type_size(copy->type));
  kcl_csr_free(&copy);
  return good;
}

/* x^H M^-H y = (M^-1 x)^H y */
static void check_adjoint(const problem *q, kcl_precond *M, const char *precond) {
  const int64_t n = q->A->rows;
  number *y = random_vector(q->type, n), *Mx = filled(n, 0), *MHy = filled(n, 0);
  if (!apply(q, M, 0, false, q->b, Mx) && !apply(q, M, 1, false, y, MHy)) {
    const double size = sqrt(creal(dot(Mx, Mx, n)) * creal(dot(y, y, n)));
    const bool narrow = M->M && M->M->narrow;
    CHECKF(cabs(dot(q->b, MHy, n) - dot(Mx, y, n)) <= 4000 * tol_u(narrow ? KCL_S : q->type) * size,
           "%s of %s on %s: M^-H is not the adjoint", precond, q->name, q->p->name);
  }
  free(y), free(Mx), free(MHy);
}

static bool takes(const problem *q, const char *solver, const char *precond) {
  const kcl_options o = options_of(q, solver, precond);
  kcl_solver *s = NULL;
  const bool good = !kcl_setup(q->p->ctx, q->A, &o, &s);
  kcl_solver_free(&s);
  return good;
}

/* As many iterations as the solver's own: alone in cg, and given to a solver. */
static void test_kind(const problem *q, const char *precond) {
  const char *solver = takes(q, "cg", precond) ? "cg" : "gmres";
  const kcl_options o = options_of(q, solver, precond);
  kcl_solver *own = NULL, *with = NULL;
  kcl_precond *M = NULL;
  if (!takes(q, solver, precond)) return;
  if (!create(q, &o, &M)) return;
  if (!CHECKF(!kcl_setup(q->p->ctx, q->A, &o, &own) &&
                  !kcl_setup_with(q->p->ctx, q->A, M, &o, &with),
              "%s of %s on %s: %s", precond, q->name, q->p->name, kcl_error()))
    goto done;
  const int64_t mine = solve_problem(q, own, precond), given = solve_problem(q, with, precond);
  CHECKF(llabs(mine - given) <= 1, "%s of %s on %s in %c: %lld iterations, given %lld", precond,
         q->name, q->p->name, kcl_type_letter(q->type), (long long)mine, (long long)given);
  if (!strcmp(solver, "cg")) {
    const int64_t alone = cg_alone(q, M);
    CHECKF(llabs(mine - alone) <= 1, "%s of %s on %s in %c: %lld iterations, in a cg here %lld",
           precond, q->name, q->p->name, kcl_type_letter(q->type), (long long)mine,
           (long long)alone);
  }
  if (!M->M || kcl_precond_has_adjoint(M->M)) check_adjoint(q, M, precond);
done:
  kcl_solver_free(&own), kcl_precond_free(&M), kcl_solver_free(&with);
}

static void test_kinds(const place *p) {
  static const struct {
    const char *name;
    kcl_type type;
  } system[] = {{"poisson2d:40", KCL_D},
                {"poisson2d:40", KCL_S},
                {"convection:24", KCL_D},
                {"magnetic:16", KCL_Z},
                {"magnetic:16", KCL_C}};
  for (size_t i = 0; i < sizeof system / sizeof *system; i++) {
    problem q;
    if (!can(p, system[i].type)) continue;
    if (quick(p) && i % 3) continue;
    if (open_problem(p, system[i].name, system[i].type, &q))
      for (int k = 0; k < kcl_precond_count; k++)
        if (!quick(p) || k % 4 == (int)i % 4) test_kind(&q, kcl_precond_at(k)->name);
    close_problem(&q);
  }
}

/* ---------------------------------------------------------------- sharing */

typedef struct sharer {
  const problem *q;
  kcl_precond *M;
  int64_t iterations;
} sharer;

/* A solver of its own with the M of both. */
static void *solve_shared(void *arg) {
  sharer *a = arg;
  const problem *q = a->q;
  const kcl_options o = options_of(q, "cg", NULL);
  kcl_solver *s = NULL;
  kcl_report r = {0};
  char *x = calloc((size_t)q->A->rows, sizeof(number));
  number *z = filled(q->A->rows, 0);
  if (!kcl_setup_with(q->p->ctx, q->A, a->M, &o, &s) && !kcl_solve_one(s, q->b_typed, x, &r) &&
      r.converged)
    a->iterations = r.iterations;
  const kcl_vectors in = {.size = sizeof in, .data = q->b_typed};
  kcl_vectors out = {.size = sizeof out, .data = z};
  if (kcl_precond_apply(a->M, 0, &in, &out)) a->iterations = -1;
  kcl_solver_free(&s), free(x), free(z);
  return NULL;
}

static void test_threads(const problem *q, kcl_precond *M, int64_t expected) {
  sharer a[2] = {{q, M, 0}, {q, M, 0}};
  pthread_t thread;
  if (pthread_create(&thread, NULL, solve_shared, &a[0])) exit(1);
  solve_shared(&a[1]);
  pthread_join(thread, NULL);
  for (int i = 0; i < 2; i++)
    CHECKF(a[i].iterations == expected, "%s, thread %d: %lld iterations, not %lld", q->p->name, i,
           (long long)a[i].iterations, (long long)expected);
}

/* Three solvers by three methods; M goes before the last two, the context's device stays. */
static void test_shared(const place *p) {
  static const char *const method[] = {"cg", "minres", "gmres"};
  problem q;
  kcl_precond *M = NULL;
  kcl_solver *s[3] = {NULL};
  if (!can(p, KCL_D) || !open_problem(p, "poisson2d:40", KCL_D, &q)) return;
  kcl_options o = options_of(&q, "auto", "amg");
  if (!create(&q, &o, &M)) goto done;
  o.precond = "no such thing"; /* it is ignored */
  for (int i = 0; i < 3; i++) {
    o.solver = method[i];
    if (!CHECKF(!kcl_setup_with(p->ctx, q.A, M, &o, &s[i]), "%s", kcl_error())) goto done;
  }
  kcl_setup_info info;
  kcl_solver_info(s[0], &info);
  CHECK(!strcmp(info.precond, "amg") && info.precond_levels > 1);
  const int64_t first = solve_problem(&q, s[0], "shared");
  test_threads(&q, M, first);
  kcl_solver_free(&s[0]);
  kcl_precond_free(&M);
  CHECK(!M && kcl_select(p->ctx, "cpu", 0) == KCL_USAGE); /* solvers still use it */
  solve_problem(&q, s[1], "minres"), solve_problem(&q, s[2], "gmres");
done:
  for (int i = 0; i < 3; i++) kcl_solver_free(&s[i]);
  kcl_precond_free(&M), close_problem(&q);
}

/* ---------------------------------------------------------------- new values */

/* factor A, and more on the diagonal */
static kcl_csr *others(const problem *q, double factor) {
  kcl_csr *B = NULL;
  if (kcl_csr_convert(q->p->ctx, q->A, q->type, &B)) exit(1);
  double *v = B->val;
  for (int64_t i = 0; i < B->rows; i++)
    for (int64_t k = B->row_ptr[i]; k < B->row_ptr[i + 1]; k++)
      v[k] *= factor * (B->col[k] == i ? 1.01 : 1);
  return B;
}

static bool same_bits(const problem *q, kcl_precond *M, kcl_precond *other) {
  const int64_t n = q->A->rows;
  number *z = filled(n, 0), *y = filled(n, 0);
  apply(q, M, 0, false, q->b, z), apply(q, other, 0, false, q->b, y);
  const bool same = !memcmp(z, y, (size_t)n * sizeof *z);
  free(z), free(y);
  return same;
}

/* M of other values is the old M, to the bit, until it is updated; then it is as set up for them. A solver sees it when it is updated. */
static void test_update_of(const problem *q, const char *precond) {
  const kcl_options o = options_of(q, "cg", precond);
  kcl_precond *M = NULL, *then = NULL, *fresh = NULL;
  kcl_solver *s = NULL;
  kcl_csr *B = others(q, 100);
  if (!create(q, &o, &M) || !create(q, &o, &then)) goto done;
  if (!CHECKF(!kcl_setup_with(q->p->ctx, B, M, &o, &s), "%s", kcl_error())) goto done;
  solve_problem(q, s, precond);
  CHECKF(same_bits(q, M, then), "%s on %s: M changed", precond, q->p->name);
  CHECKF(!kcl_precond_renew(M, B), "%s: %s", precond, kcl_error());
  CHECKF(!kcl_precond_make(q->p->ctx, B, &o, &fresh), "%s", kcl_error());
  CHECKF(!same_bits(q, M, then), "%s on %s: M was not updated", precond, q->p->name);
  if (!M->kind->hierarchy)
    CHECKF(same_bits(q, M, fresh), "%s on %s: M is not that of new values", precond, q->p->name);
  CHECK(s->selection.engine->M != M->M);
  const int64_t old = solve_problem(q, s, precond);
  CHECKF(!update_hierarchy(s, B), "%s", kcl_error());
  CHECK(s->selection.engine->M == M->M);
  CHECKF(solve_problem(q, s, precond) <= old + 1, "%s on %s", precond, q->p->name);
done:
  kcl_precond_free(&then), kcl_precond_free(&fresh), kcl_precond_free(&M), kcl_solver_free(&s);
  kcl_csr_free(&B);
}

static void test_update(const place *p) {
  static const char *const precond[] = {"chebyshev", "amg", "jacobi", "ic", "fsai", "sa"};
  problem q;
  if (!can(p, KCL_D) || !open_problem(p, "poisson2d:40", KCL_D, &q)) return;
  for (size_t i = 0; i < (quick(p) ? 2 : sizeof precond / sizeof *precond); i++)
    test_update_of(&q, precond[i]);
  close_problem(&q);
}

/* ---------------------------------------------------------------- refused */

static bool refuses(const place *p, int rc, int status, const char *word) {
  return CHECKF(rc == status && strstr(kcl_error(), word), "%s: status %d, '%s', not %d, '%s'",
                p->name, rc, kcl_error(), status, word);
}

static void test_vectors(const problem *q, kcl_precond *M) {
  const place *p = q->p;
  const int64_t n = q->A->rows;
  double *r = calloc((size_t)(3 * n + 2), sizeof *r), *z = calloc((size_t)(3 * n + 2), sizeof *z);
  const kcl_vectors good = {.size = sizeof good, .data = r};
  kcl_vectors to = {.size = sizeof to, .data = z};
#define REFUSED(field, value, word)                                                                \
  do {                                                                                             \
    kcl_vectors v = good;                                                                          \
    v.field = value;                                                                               \
    refuses(p, kcl_precond_apply(M, 0, &v, &to), KCL_USAGE, word);                                 \
  } while (0)
  REFUSED(size, 8, "size is 8");
  REFUSED(data, NULL, "r.data is NULL");
  REFUSED(rows, n + 1, "rows");
  REFUSED(cols, 2, "2 columns");
  REFUSED(cols, -1, "r.cols is -1");
  REFUSED(inc, -1, "r.inc is -1");
  REFUSED(offset, -1, "r.offset is -1");
  REFUSED(type, 'z', "'d' or 0");
  REFUSED(type, 7, "is 7");
  if (!p->ctx->opencl) REFUSED(place, KCL_OPENCL, "no buffers");
  REFUSED(inc, INT64_MAX, "more than memory can hold");
#undef REFUSED
  const kcl_vectors overlap = {.size = sizeof good, .data = r, .cols = 2, .ld = 3};
  refuses(p, kcl_precond_apply(M, 0, &overlap, &to), KCL_USAGE, "overlap");
  refuses(p, kcl_precond_apply(M, 0, NULL, &to), KCL_USAGE, "r");
  CHECK(kcl_precond_apply(NULL, 0, &good, &to) == KCL_USAGE);

  /* three columns in row-major order from element 2 on, in place, are three applications */
  for (int64_t i = 0; i < 3 * n; i++) r[2 + i] = random_number();
  for (int j = 0; j < 3; j++) {
    const kcl_vectors from = {.size = sizeof from, .data = r, .offset = 2 + j, .inc = 3};
    kcl_vectors column = {.size = sizeof column, .data = z, .offset = 1 + j * n};
    CHECKF(!kcl_precond_apply(M, 0, &from, &column), "%s", kcl_error());
  }
  kcl_vectors all = {.size = sizeof all, .data = r, .offset = 2, .cols = 3, .ld = 1, .inc = 3};
  CHECKF(!kcl_precond_apply(M, 0, &all, &all), "%s", kcl_error());
  bool same = true;
  for (int64_t i = 0; i < n; i++)
    for (int j = 0; j < 3; j++) same &= r[2 + 3 * i + j] == z[1 + j * n + i];
  CHECKF(same, "%s: columns of rows differ from columns", p->name);
  free(r), free(z);
}

static void test_refused(const place *p) {
  problem q, small, skew;
  kcl_context *other = NULL;
  kcl_precond *M = NULL, *N = NULL, *float_M = NULL, *ilu = NULL;
  kcl_solver *s = NULL;
  if (!can(p, KCL_D) || !open_problem(p, "poisson2d:12", KCL_D, &q)) return;
  open_problem(p, "poisson2d:8", KCL_D, &small), open_problem(p, "convection:12", KCL_D, &skew);
  kcl_options o = options_of(&q, "cg", "ic");
  if (!create(&q, &o, &M)) goto done;
  o.precond = "ilu";
  if (!create(&q, &o, &ilu)) goto done;
  o.precision = KCL_S;
  CHECK(!kcl_precond_make(p->ctx, q.A, &o, &float_M));
  o.precision = KCL_D;
  refuses(p, kcl_setup_with(p->ctx, small.A, M, &o, &s), KCL_USAGE, "144 rows");
  refuses(p, kcl_setup_with(p->ctx, q.A, float_M, &o, &s), KCL_USAGE, "precision d");
  refuses(p, kcl_setup_with(p->ctx, q.A, NULL, &o, &s), KCL_USAGE, "M");
  refuses(p, kcl_setup_with(p->ctx, NULL, M, &o, &s), KCL_USAGE, "A");
  refuses(p, kcl_setup_with(p->ctx, q.A, ilu, &o, &s), KCL_USAGE, "not Hermitian");
  o.solver = "lsqr";
  refuses(p, kcl_setup_with(p->ctx, q.A, M, &o, &s), KCL_USAGE, "least squares");
  o.solver = "cg", o.mixed = true;
  refuses(p, kcl_setup_with(p->ctx, q.A, M, &o, &s), KCL_USAGE, "mixed");
  o.mixed = false, o.precond = "ic";
  CHECK(!kcl_context_create(NULL, 0, &other) && !kcl_select(other, "cpu", 0));
  CHECK(kcl_setup_with(other, q.A, M, &o, &s) == KCL_USAGE &&
        strstr(kcl_error(), "another context"));
  refuses(p, kcl_precond_make(p->ctx, skew.A, &o, &N), KCL_USAGE, "Hermitian");
  refuses(p, kcl_precond_make(p->ctx, NULL, &o, &N), KCL_USAGE, "A");
  refuses(p, kcl_precond_make(p->ctx, q.A, &o, NULL), KCL_USAGE, "out");
  o.precond = "ick";
  refuses(p, kcl_precond_make(p->ctx, q.A, &o, &N), KCL_USAGE, "ick");
  refuses(p, kcl_precond_renew(M, small.A), KCL_USAGE, "pattern");
  CHECK(kcl_precond_renew(NULL, q.A) == KCL_USAGE && !s && !N);
  test_vectors(&q, M);
  o = options_of(&skew, "gmres", "amg");
  if (create(&skew, &o, &N)) {
    const kcl_vectors r = {.size = sizeof r, .data = skew.b_typed};
    kcl_vectors z = {.size = sizeof z, .data = skew.x};
    refuses(p, kcl_precond_apply(N, 1, &r, &z), KCL_USAGE, "M^-H");
    o.solver = "bicg";
    refuses(p, kcl_setup_with(p->ctx, skew.A, N, &o, &s), KCL_USAGE, "M^-H");
  }
done:
  kcl_precond_free(&M), kcl_precond_free(&N), kcl_precond_free(&float_M), kcl_precond_free(&ilu);
  kcl_context_free(&other);
  close_problem(&q), close_problem(&small), close_problem(&skew);
}

/* "auto": the diagonal where it varies, else M = I; with a given M that is not Hermitian, no cg; and what is given is used on a matrix
 * that it could not have been set up for. */
static void test_choices(const place *p) {
  problem q, jump, skew;
  kcl_precond *M = NULL;
  kcl_solver *s = NULL;
  kcl_setup_info info;
  if (!can(p, KCL_D) || !open_problem(p, "poisson2d:24", KCL_D, &q)) return;
  open_problem(p, "jump2d:24", KCL_D, &jump), open_problem(p, "convection:24", KCL_D, &skew);
  kcl_options o = options_of(&q, "auto", "auto");
  if (create(&q, &o, &M)) CHECKF(!M->M && !strcmp(M->kind->name, "none"), "%s", M->kind->name);
  kcl_precond_free(&M);
  if (create(&jump, &o, &M)) CHECKF(!strcmp(M->kind->name, "jacobi"), "%s", M->kind->name);
  kcl_precond_free(&M);
  o.precond = "ilu";
  if (create(&q, &o, &M) && CHECK(!kcl_setup_with(p->ctx, q.A, M, &o, &s))) {
    kcl_solver_info(s, &info);
    CHECKF(!strcmp(info.solver, "gmres") && !strcmp(info.precond, "ilu"), "%s with %s", info.solver,
           info.precond);
    solve_problem(&q, s, "auto with ilu");
  }
  kcl_solver_free(&s), kcl_precond_free(&M);
  o.precond = "ic";
  if (create(&q, &o, &M) && CHECKF(!kcl_setup_with(p->ctx, skew.A, M, &o, &s), "%s", kcl_error()))
    solve_problem(&skew, s, "ic of another matrix");
  kcl_solver_free(&s), kcl_precond_free(&M);
  close_problem(&q), close_problem(&jump), close_problem(&skew);
}

int main(void) {
  open_places();
  for (int i = 0; i < place_count; i++) {
    test_kinds(&places[i]);
    test_shared(&places[i]);
    test_update(&places[i]);
    test_refused(&places[i]);
    test_choices(&places[i]);
  }
  close_places();
  return check_report();
}
