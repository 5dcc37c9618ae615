/* The caller's preconditioners: SSOR of this test, the identity, sparse matrices on buffers, of any type. Called by the thread that called
 * the library, once per application, with whole vectors; a failure is the solve's; methods that it does not suit are refused.
 */
#include "solver/precond_object.h"
#include "tests/calls.h"
#include "tests/shells.h"

/* ---------------------------------------------------------------- functions */

typedef struct ssor {
  const kcl_csr *A; /* of type D or Z */
  pthread_t caller;
  int64_t calls, trouble; /* the call that fails, from 1; 0: none */
  int status;             /* what it returns then */
  bool elsewhere, wrong;
  kcl_context *ctx; /* that it tries to use; or NULL */
  int answer;
} ssor;

static number entry(const kcl_csr *A, int64_t k) {
  double a[2];
  kcl_element(A->type, A->val, k, a);
  return CMPLX(a[0], a[1]);
}

static number diagonal(const kcl_csr *A, int64_t i) {
  for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
    if (A->col[k] == i) return entry(A, k);
  return 1;
}

/* (D + L) D^-1 (D + U) z = r of A = A^H; z holds r. */
static void sweep(const kcl_csr *A, number *z) {
  for (int64_t i = 0; i < A->rows; i++) {
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      if (A->col[k] < i) z[i] -= entry(A, k) * z[A->col[k]];
    z[i] /= diagonal(A, i);
  }
  for (int64_t i = A->rows - 1; i >= 0; i--) {
    number sum = 0;
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      if (A->col[k] > i) sum += entry(A, k) * z[A->col[k]];
    z[i] -= sum / diagonal(A, i);
  }
}

static int apply_ssor(void *user, int adjoint, const kcl_vectors *r, kcl_vectors *z, void *queue) {
  ssor *f = user;
  const int64_t n = f->A->rows;
  (void)adjoint; /* Hermitian */
  f->calls++;
  f->elsewhere |= !pthread_equal(f->caller, pthread_self());
  f->wrong |= r->rows != n || z->rows != n || r->cols != 1 || r->inc != 1 || r->offset || queue ||
              r->place != KCL_HOST || r->type != kcl_type_letter(f->A->type) ||
              r->size != sizeof *r;
  if (f->ctx) f->answer = kcl_select(f->ctx, "cpu", 0);
  if (f->calls == f->trouble) return f->status;
  number *v = malloc((size_t)n * sizeof *v);
  kcl_copy(KCL_Z, v, f->A->type, r->data, n, 1);
  sweep(f->A, v);
  kcl_copy(f->A->type, z->data, KCL_Z, v, n, 1);
  free(v);
  return KCL_OK;
}

static int apply_identity(void *user, int adjoint, const kcl_vectors *r, kcl_vectors *z,
                          void *queue) {
  const kcl_csr *A = user;
  (void)adjoint, (void)queue;
  memcpy(z->data, r->data, (size_t)A->rows * kcl_type_size(A->type));
  return KCL_OK;
}

/* ---------------------------------------------------------------- solves */

static kcl_options options_for(const kcl_csr *A, const char *solver) {
  kcl_options o = cg_options();
  o.solver = solver, o.precision = A->type, o.format = "csr-scalar";
  return o;
}

typedef struct solved {
  int rc;
  kcl_report r;
  char method[24];
} solved;

/* M NULL: none. */
static solved solve_with(const place *p, const kcl_csr *A, kcl_precond *M, const char *solver) {
  const kcl_options o = options_for(A, solver);
  kcl_solver *s = NULL;
  kcl_setup_info info;
  solved out = {0};
  void *x = zeros(A), *b = calloc((size_t)A->rows, kcl_type_size(A->type));
  for (int64_t i = 0; i < A->rows; i++)
    kcl_set_element(A->type, b, i, (double[]){1 + (double)(i % 3), 0});
  out.rc = M ? kcl_setup_with(p->ctx, A, M, &o, &s) : kcl_setup(p->ctx, A, &o, &s);
  if (!out.rc) out.rc = kcl_solve_one(s, b, x, &out.r);
  if (s) kcl_solver_info(s, &info), snprintf(out.method, sizeof out.method, "%s", info.solver);
  kcl_solver_free(&s), free(x), free(b);
  return out;
}

static int64_t converges(const place *p, const kcl_csr *A, kcl_precond *M, const char *solver) {
  const solved s = solve_with(p, A, M, solver);
  CHECKF(!s.rc && s.r.converged, "%s on %s in %c: %d, %s, %s", solver, p->name,
         kcl_type_letter(A->type), s.rc, kcl_reason_text(s.r.reason), kcl_error());
  return s.r.iterations;
}

static kcl_precond *shell(const place *p, const kcl_csr *A, kcl_apply_function apply, void *user,
                          unsigned properties) {
  kcl_precond *M = NULL;
  CHECKF(!kcl_precond_of_function(p->ctx, A->rows, A->type, apply, user, KCL_HOST, properties, &M),
         "%s: %s", p->name, kcl_error());
  return M;
}

/* Iterations of a cg of this test by the same function. */
static int64_t cg_by_sweeps(const kcl_csr *A) {
  const int64_t n = A->rows;
  number *r = filled(n, 0), *z = filled(n, 0), *d = filled(n, 0), *q = filled(n, 0), rho = 0;
  double rr = 0, target = 0;
  int64_t count = 0;
  for (int64_t i = 0; i < n; i++) r[i] = 1 + (double)(i % 3), rr += creal(r[i] * conj(r[i]));
  for (target = 1e-16 * rr; rr > target && count < 1000; count++) {
    number now = 0, sigma = 0;
    memcpy(z, r, (size_t)n * sizeof *z), sweep(A, z);
    for (int64_t i = 0; i < n; i++) now += conj(r[i]) * z[i];
    for (int64_t i = 0; i < n; i++) d[i] = z[i] + (count ? now / rho : 0) * d[i];
    rho = now, rr = 0;
    for (int64_t i = 0; i < n; i++) {
      q[i] = 0;
      for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
        q[i] += entry(A, k) * d[A->col[k]];
      sigma += conj(d[i]) * q[i];
    }
    for (int64_t i = 0; i < n; i++) r[i] -= rho / sigma * q[i], rr += creal(r[i] * conj(r[i]));
  }
  free(r), free(z), free(d), free(q);
  return count;
}

/* ---------------------------------------------------------------- tests */

static void test_ssor(const place *p, const char *name, kcl_type t) {
  kcl_csr *A = generated(p->ctx, name, t);
  ssor f = {.A = A, .caller = pthread_self(), .ctx = p->ctx};
  kcl_precond *M = shell(p, A, apply_ssor, &f, KCL_PRECOND_HERMITIAN);
  if (!M) goto done;
  const int64_t expected = cg_by_sweeps(A), plain = converges(p, A, NULL, "cg");
  f.calls = 0;
  const int64_t count = converges(p, A, M, "cg");
  CHECKF(llabs(count - expected) <= 1 && 2 * count < plain,
         "%s on %s: %lld iterations, %lld expected, %lld without", name, p->name, (long long)count,
         (long long)expected, (long long)plain);
  CHECKF(f.calls >= count && f.calls <= count + 64 && !f.elsewhere && !f.wrong &&
             f.answer == KCL_BUSY,
         "%s on %s: %lld calls for %lld iterations, %d %d, answer %d", name, p->name,
         (long long)f.calls, (long long)count, f.elsewhere, f.wrong, f.answer);
  CHECK(converges(p, A, M, "minres") > 0);
  if (!kcl_type_complex(t)) CHECK(converges(p, A, M, "bicg") > 0);
  void *r = random_b(A), *z = zeros(A);
  const kcl_vectors from = {.size = sizeof from, .data = r};
  kcl_vectors to = {.size = sizeof to, .data = z};
  for (int adjoint = 0; adjoint < 2; adjoint++) {
    const int64_t before = f.calls;
    CHECKF(!kcl_precond_apply(M, adjoint, &from, &to), "%s", kcl_error());
    CHECK(f.calls == before + 1 && !f.wrong && !f.elsewhere);
  }
  number *v = filled(A->rows, 0), *w = filled(A->rows, 0);
  kcl_copy(KCL_Z, v, t, r, A->rows, 1), sweep(A, v), kcl_copy(KCL_Z, w, t, z, A->rows, 1);
  bool same = true;
  for (int64_t i = 0; i < A->rows; i++) same &= v[i] == w[i];
  CHECKF(same, "%s on %s: z is not what the function computed", name, p->name);
  free(r), free(z), free(v), free(w);
done:
  kcl_precond_free(&M), kcl_csr_free(&A);
}

/* As many iterations as without; on two threads; and several right-hand sides. */
static void test_identity(const place *p) {
  kcl_csr *A = generated(p->ctx, "poisson2d:30", KCL_D);
  kcl_precond *M = shell(p, A, apply_identity, A, KCL_PRECOND_HERMITIAN);
  if (M)
    CHECK(converges(p, A, M, "cg") == converges(p, A, NULL, "cg") &&
          converges(p, A, M, "gmres") == converges(p, A, NULL, "gmres"));
  kcl_options o = options_for(A, "cg");
  kcl_solver *s = NULL;
  double *B = calloc((size_t)(3 * A->rows), sizeof *B),
         *X = calloc((size_t)(3 * A->rows), sizeof *X);
  kcl_report report[3];
  o.nrhs = 3;
  for (int64_t i = 0; i < 3 * A->rows; i++) B[i] = random_number();
  if (M && CHECK(!kcl_setup_with(p->ctx, A, M, &o, &s))) {
    CHECKF(!kcl_solve_many(s, 3, B, X, report), "%s", kcl_error());
    for (int i = 0; i < 3; i++) CHECK(report[i].converged);
  }
  kcl_solver_free(&s), free(B), free(X);
  kcl_precond_free(&M), kcl_csr_free(&A);
}

static bool refused(const place *p, int rc, int status, const char *word) {
  return CHECKF(rc == status && strstr(kcl_error(), word), "%s: %d, '%s', not %d, '%s'", p->name,
                rc, kcl_error(), status, word);
}

/* The status of the function is the solve's, and the next solve is as if nothing had been. */
static void test_failing(const place *p) {
  kcl_csr *A = generated(p->ctx, "poisson2d:20", KCL_D);
  ssor f = {.A = A, .caller = pthread_self()};
  kcl_precond *M = shell(p, A, apply_ssor, &f, KCL_PRECOND_HERMITIAN), *N = NULL;
  if (!M) goto done;
  const int64_t calm = converges(p, A, M, "cg");
  static const int status[][2] = {{KCL_REFUSED, KCL_REFUSED}, {77, KCL_USAGE}, {-1, KCL_USAGE}};
  for (size_t i = 0; i < sizeof status / sizeof *status; i++) {
    f.calls = 0, f.trouble = 5, f.status = status[i][0];
    refused(p, solve_with(p, A, M, "cg").rc, status[i][1], "M^-1");
  }
  f.trouble = 0;
  CHECK(converges(p, A, M, "cg") == calm);
  kcl_vectors v = {.size = sizeof v, .data = zeros(A)};
  f.calls = 0, f.trouble = 1, f.status = KCL_MEMORY;
  refused(p, kcl_precond_apply(M, 0, &v, &v), KCL_MEMORY, "M^-1");
  free(v.data), f.trouble = 0;
  kcl_precond_free(&M);
  /* not declared Hermitian */
  M = shell(p, A, apply_ssor, &f, 0);
  refused(p, solve_with(p, A, M, "cg").rc, KCL_USAGE, "not Hermitian");
  refused(p, solve_with(p, A, M, "minres").rc, KCL_USAGE, "not Hermitian");
  refused(p, solve_with(p, A, M, "bicg").rc, KCL_USAGE, "M^-H");
  refused(p, solve_with(p, A, M, "lsqr").rc, KCL_USAGE, "least squares");
  const solved s = solve_with(p, A, M, "auto");
  CHECKF(s.r.converged && strncmp(s.method, "cg", 2) && strcmp(s.method, "minres"), "%s", s.method);
  refused(p, kcl_precond_renew(M, A), KCL_USAGE, "function");
  /* what cannot be created */
  kcl_context *ctx = p->ctx;
  const int64_t n = A->rows;
  refused(p, kcl_precond_of_function(ctx, n, KCL_D, NULL, &f, KCL_HOST, 0, &N), KCL_USAGE, "M^-1");
  refused(p, kcl_precond_of_function(ctx, 0, KCL_D, apply_ssor, &f, KCL_HOST, 0, &N), KCL_INPUT,
          "rows");
  refused(p, kcl_precond_of_function(ctx, n, (kcl_type)9, apply_ssor, &f, KCL_HOST, 0, &N),
          KCL_USAGE, "type");
  refused(p, kcl_precond_of_function(ctx, n, KCL_D, apply_ssor, &f, 5, 0, &N), KCL_USAGE, "place");
  refused(p, kcl_precond_of_function(ctx, n, KCL_D, apply_ssor, &f, KCL_HOST, 8, &N), KCL_USAGE,
          "properties");
  if (!p->ctx->opencl)
    refused(p, kcl_precond_of_function(ctx, n, KCL_D, apply_ssor, &f, KCL_OPENCL, 0, &N), KCL_USAGE,
            "OpenCL");
  refused(p, kcl_precond_of_function(ctx, n, KCL_D, apply_ssor, &f, KCL_HOST, 0, NULL), KCL_USAGE,
          "out");
  CHECK(!N);
done:
  kcl_precond_free(&M), kcl_csr_free(&A);
}

/* D^-1 - D^-1 L D^-1: Gauss and Seidel's, nearly. */
static kcl_csr *nearly_gauss_seidel(const place *p, const kcl_csr *A) {
  kcl_csr *C = NULL;
  if (kcl_csr_convert(p->ctx, A, A->type, &C)) exit(1);
  C->symmetry = KCL_GENERAL;
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++) {
      const int64_t j = A->col[k];
      const number d = diagonal(A, i), c = j == i  ? 1 / d
                                           : j < i ? -entry(A, k) / d / diagonal(A, j)
                                                   : 0;
      kcl_set_element(C->type, C->val, k, (double[]){creal(c), cimag(c)});
    }
  return C;
}

/* M^-H is asked for by bicg, on the host and in buffers. */
static void test_matrix(const place *p, const char *name, kcl_type t, int where) {
  kcl_csr *A = generated(p->ctx, name, t), *C = nearly_gauss_seidel(p, A);
  operand f;
  kcl_precond *M = NULL;
  if (!operand_open(&f, p, C, where)) goto done;
  if (!CHECKF(!kcl_precond_of_function(p->ctx, A->rows, t, multiply, &f, where, KCL_PRECOND_ADJOINT,
                                       &M),
              "%s", kcl_error()))
    goto done;
  const int64_t with = converges(p, A, M, "bicg");
  converges(p, A, M, "gmres");
  CHECKF(!f.elsewhere && !f.wrong && f.calls > with, "%s on %s: %d %d", name, p->name, f.elsewhere,
         f.wrong);
  void *r = random_b(A), *z = zeros(A), *y = random_b(A), *w = zeros(A);
  const kcl_vectors from = {.size = sizeof from, .data = r},
                    other = {.size = sizeof from, .data = y};
  kcl_vectors to = {.size = sizeof to, .data = z}, into = {.size = sizeof to, .data = w};
  CHECK(!kcl_precond_apply(M, 0, &from, &to) && !kcl_precond_apply(M, 1, &other, &into));
  number left = 0, right = 0;
  double size = 0;
  for (int64_t i = 0; i < A->rows; i++) {
    number v[4];
    void *const of[] = {r, z, y, w};
    for (int k = 0; k < 4; k++) {
      double a[2];
      kcl_element(t, of[k], i, a), v[k] = CMPLX(a[0], a[1]);
    }
    left += conj(v[1]) * v[2], right += conj(v[0]) * v[3], size += cabs(v[1]) * cabs(v[2]);
  }
  CHECKF(cabs(left - right) <= 1e-12 * size, "%s on %s: M^-H is not the adjoint", name, p->name);
  free(r), free(z), free(y), free(w);
done:
  kcl_precond_free(&M), operand_close(&f), kcl_csr_free(&A), kcl_csr_free(&C);
}

int main(void) {
  open_places();
  for (int i = 0; i < place_count; i++) {
    const place *p = &places[i];
    if (!can(p, KCL_D)) continue;
    test_ssor(p, "poisson2d:24", KCL_D);
    if (!quick(p)) test_ssor(p, "magnetic:10", KCL_Z);
    test_identity(p);
    test_failing(p);
    test_matrix(p, "convection:24", KCL_D, KCL_HOST);
    test_matrix(p, "helmholtz:24", KCL_Z, p->ctx->opencl ? KCL_OPENCL : KCL_HOST);
  }
  close_places();
  return check_report();
}
