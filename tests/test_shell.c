/* Matrices without entries: their products alone, what auto chooses for them, functions that fail, what is refused. */
#include "solver/precond/setup.h"
#include "tests/calls.h"
#include "tests/shells.h"

/* ---------------------------------------------------------------- products alone */

/* y = alpha A x + beta y of two columns, in arrays: each number is exact in double. */
static void test_products(const place *p) {
  enum { N = 144, K = 2 };
  kcl_csr *A = generated(p->ctx, "poisson2d:12", KCL_D);
  const double alphas[] = {1, 0, 2}, betas[] = {0, 3, -1};
  double x[K * N], y[K * N], ax[K * N], was[K * N];
  operand f;
  kcl_stored *m = NULL;
  kcl_engine *e = NULL;
  if (operand_open(&f, p, A, p->ctx->opencl ? KCL_OPENCL : KCL_HOST)) {
    const kcl_shell shell = shell_of(&f, 0);
    CHECK(!kcl_stored_of_shell(p->ctx, &shell, false, &m) && !kcl_engine_product(m, 1, &e));
    for (int i = 0; i < K * N; i++) x[i] = random_number(), was[i] = random_number();
    for (int j = 0; j < K; j++) kcl_csr_product(A, x + j * N, NULL, ax + j * N);
    for (int c = 0; c < 9; c++) {
      const double alpha = alphas[c / 3], beta = betas[c % 3];
      memcpy(y, was, sizeof y);
      const kcl_vectors in = {sizeof in, x, 0, N, K, N, 1, 'd', KCL_HOST},
                        out = {sizeof out, y, 0, N, K, N, 1, 'd', KCL_HOST};
      const kcl_multiplication q = {&in, &out, &alpha, &beta};
      CHECKF(!e->executor.multiply(&e->executor, &q), "%s", kcl_error());
      for (int i = 0; i < K * N; i++)
        if (!CHECKF(y[i] == alpha * ax[i] + beta * was[i], "%s: y[%d] is %g", p->name, i, y[i]))
          break;
    }
  }
  kcl_engine_free(&e), kcl_stored_free(&m), operand_close(&f), kcl_csr_free(&A);
}

/* ---------------------------------------------------------------- what auto chooses */

typedef struct choice {
  unsigned properties;
  const char *solver; /* that it begins with */
} choice;

static void test_choices(const place *p) {
  static const choice choices[] = {{0, "idr"},
                                   {KCL_SHELL_ADJOINT, "idr"},
                                   {KCL_SHELL_HERMITIAN, "minres"},
                                   {KCL_SHELL_HERMITIAN | KCL_SHELL_POSITIVE, "cg"}};
  kcl_csr *A = generated(p->ctx, "poisson2d:12", KCL_D);
  void *b = random_b(A), *x = zeros(A);
  operand f;
  for (int i = 0; i < 4 && operand_open(&f, p, A, KCL_HOST); i++, operand_close(&f)) {
    const kcl_shell shell = shell_of(&f, choices[i].properties);
    kcl_solver *s = NULL;
    kcl_setup_info info;
    kcl_report r;
    if (!CHECKF(!kcl_setup_shell(p->ctx, &shell, NULL, NULL, &s), "%s", kcl_error())) continue;
    kcl_solver_info(s, &info);
    CHECKF(!strcmp(info.solver, choices[i].solver) && !strcmp(info.precond, "none") &&
               !strcmp(info.format, "shell") && !info.scaled && !info.bytes_stored,
           "properties %u: %s with %s in %s", choices[i].properties, info.solver, info.precond,
           info.format);
    CHECK(!kcl_solve_one(s, b, x, &r) && r.converged);
    CHECKF(f.calls <= 4 * r.iterations + 40, "%lld calls for %lld iterations", (long long)f.calls,
           (long long)r.iterations);
    CHECK(update_hierarchy(s, A) == KCL_USAGE && strstr(kcl_error(), "function"));
    memset(x, 0, (size_t)A->cols * sizeof(double)), kcl_solver_free(&s);
  }
  free(b), free(x), kcl_csr_free(&A);
}

/* An indefinite A that is declared definite: cg says so, auto goes on with minres. */
static void test_wrong_properties(const place *p) {
  kcl_csr *A = generated(p->ctx, "poisson2d:12", KCL_D);
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; k++)
      if (A->col[k] == i) ((double *)A->val)[k] -= 3;
  void *b = random_b(A), *x = zeros(A);
  operand f;
  for (int named_cg = 0; named_cg < 2 && operand_open(&f, p, A, KCL_HOST);
       named_cg++, operand_close(&f)) {
    const kcl_shell shell = shell_of(&f, KCL_SHELL_HERMITIAN | KCL_SHELL_POSITIVE);
    kcl_options o = kcl_defaults;
    kcl_solver *s = NULL;
    kcl_report r;
    if (named_cg) o.solver = "cg";
    if (!CHECK(!kcl_setup_shell(p->ctx, &shell, NULL, &o, &s) && !kcl_solve_one(s, b, x, &r)))
      continue;
    if (named_cg)
      CHECKF(r.reason == KCL_INDEFINITE, "cg: %s", kcl_reason_text(r.reason));
    else
      CHECKF(r.converged && strstr(r.changes, "cg") && strstr(r.changes, "minres"), "auto: %s; %s",
             kcl_reason_text(r.reason), r.changes);
    memset(x, 0, (size_t)A->cols * sizeof(double)), kcl_solver_free(&s);
  }
  free(b), free(x), kcl_csr_free(&A);
}

/* ---------------------------------------------------------------- several right-hand sides */

static void test_many(const place *p) {
  enum { K = 3 };
  kcl_csr *A = generated(p->ctx, "convection:12", KCL_D);
  const size_t n = (size_t)A->rows;
  double *B = malloc(K * n * sizeof *B), *X = calloc(K * n, sizeof *X), *x = calloc(n, sizeof *x);
  for (size_t i = 0; i < K * n; i++) B[i] = random_number();
  kcl_options o = kcl_defaults;
  o.solver = "bicgstab", o.nrhs = K;
  operand f;
  kcl_solver *s = NULL;
  kcl_report r[K], alone;
  if (operand_open(&f, p, A, KCL_HOST)) {
    const kcl_shell shell = shell_of(&f, 0);
    CHECK(!kcl_setup_shell(p->ctx, &shell, NULL, &o, &s) && !kcl_solve_many(s, K, B, X, r));
    for (int j = 0; j < K; j++) {
      memset(x, 0, n * sizeof *x);
      CHECK(r[j].converged && !kcl_solve_one(s, B + (size_t)j * n, x, &alone));
      CHECKF(!memcmp(x, X + (size_t)j * n, n * sizeof *x), "column %d differs from one alone", j);
    }
    CHECK(!f.elsewhere);
  }
  kcl_solver_free(&s), operand_close(&f), free(B), free(X), free(x), kcl_csr_free(&A);
}

/* ---------------------------------------------------------------- functions that fail */

static int stop_at_once(void *user, const kcl_progress *p) { return (void)p, ++*(int *)user > 0; }

/* Solves once with f as it stands, and once more after that without trouble. */
static int solve_in_trouble(const place *p, operand *f, kcl_report *r) {
  const kcl_shell shell = shell_of(f, KCL_SHELL_HERMITIAN | KCL_SHELL_POSITIVE);
  kcl_options o = cg_options();
  void *b = random_b(f->csr), *x = zeros(f->csr);
  kcl_solver *s = NULL;
  kcl_report again;
  char message[200] = "";
  CHECKF(!kcl_setup_shell(p->ctx, &shell, NULL, &o, &s), "%s", kcl_error());
  const int rc = kcl_solve_one(s, b, x, r);
  if (rc) snprintf(message, sizeof message, "%s", kcl_error());
  CHECKF(!rc || strstr(message, "the function that multiplies by A failed: it returned"), "%s",
         message);
  CHECKF(!rc || f->calls == f->trouble, "%lld calls, of which number %lld failed",
         (long long)f->calls, (long long)f->trouble);
  f->trouble = 0, f->busy = NULL, memset(x, 0, (size_t)f->csr->cols * kcl_type_size(f->csr->type));
  CHECKF(!kcl_solve_one(s, b, x, &again) && again.converged, "afterwards: %s", kcl_error());
  kcl_solver_free(&s), free(b), free(x);
  return rc;
}

static void test_trouble(const place *p) {
  kcl_csr *A = generated(p->ctx, "poisson2d:12", KCL_D);
  kcl_report r;
  operand f;
  if (!operand_open(&f, p, A, KCL_HOST)) goto done;
  for (int at = 1; at <= 16; at++) {
    f.trouble = at, f.calls = 0, f.status = KCL_MEMORY;
    CHECK(solve_in_trouble(p, &f, &r) == KCL_MEMORY && !r.iterations);
    f.trouble = at, f.calls = 0, f.status = 77; /* no status */
    CHECK(solve_in_trouble(p, &f, &r) == KCL_USAGE);
    f.trouble = at, f.calls = 0, f.status = 0; /* a NaN */
    CHECK(solve_in_trouble(p, &f, &r) == KCL_OK);
    CHECKF(r.reason == KCL_NOT_FINITE && !r.converged, "a NaN: %s", kcl_reason_text(r.reason));
  }
  f.busy = p->ctx, f.answer = 0;
  CHECK(solve_in_trouble(p, &f, &r) == KCL_OK && r.converged && f.answer == KCL_BUSY);
done:
  operand_close(&f), kcl_csr_free(&A);
}

static void test_stop(const place *p) {
  kcl_csr *A = generated(p->ctx, "poisson2d:30", KCL_D);
  void *b = random_b(A), *x = zeros(A);
  int asked = 0;
  kcl_options o = cg_options();
  o.progress = stop_at_once, o.user = &asked, o.tol = 1e-14;
  operand f;
  kcl_solver *s = NULL;
  kcl_report r;
  if (operand_open(&f, p, A, KCL_HOST)) {
    const kcl_shell shell = shell_of(&f, KCL_SHELL_HERMITIAN);
    CHECK(!kcl_setup_shell(p->ctx, &shell, NULL, &o, &s) && !kcl_solve_one(s, b, x, &r));
    CHECKF(r.reason == KCL_INTERRUPTED && asked == 1, "%s", kcl_reason_text(r.reason));
  }
  kcl_solver_free(&s), operand_close(&f), free(b), free(x), kcl_csr_free(&A);
}

/* ---------------------------------------------------------------- what is refused */

static void refuse(const place *p, const kcl_shell *A, const kcl_options *o, int status,
                   const char *says) {
  kcl_solver *s = NULL;
  const int rc = kcl_setup_shell(p->ctx, A, NULL, o, &s);
  CHECKF(rc == status && !s && strstr(kcl_error(), says), "status %d instead of %d: %s", rc, status,
         rc ? kcl_error() : "no error");
  kcl_solver_free(&s);
}

static void test_refused_options(const place *p, const kcl_shell *A) {
  kcl_options o = kcl_defaults;
  o.format = "ell", refuse(p, A, &o, KCL_USAGE, "format ell");
  o.format = NULL, o.mixed = true, refuse(p, A, &o, KCL_USAGE, "mixed");
  o.mixed = false, o.precision = KCL_S, refuse(p, A, &o, KCL_USAGE, "precision s");
  o.precision = KCL_D;
  for (int i = 0; i < kcl_precond_count; i++) {
    o.precond = kcl_precond_at(i)->name;
    if (kcl_precond_at(i)->apply) refuse(p, A, &o, KCL_USAGE, "needs the entries of A");
  }
  o.precond = NULL, o.solver = "lsqr", refuse(p, A, &o, KCL_USAGE, "KCL_SHELL_ADJOINT");
  o.solver = "cg", refuse(p, A, &o, KCL_USAGE, "Hermitian");
}

static void test_refused(const place *p) {
  kcl_csr *A = generated(p->ctx, "convection:12", KCL_D);
  operand f;
  if (operand_open(&f, p, A, KCL_HOST)) {
    const kcl_shell good = shell_of(&f, 0);
    kcl_shell bad = good;
    test_refused_options(p, &good);
    refuse(p, NULL, NULL, KCL_USAGE, "A");
    bad.apply = NULL, refuse(p, &bad, NULL, KCL_USAGE, "apply"), bad = good;
    bad.type = (kcl_type)9, refuse(p, &bad, NULL, KCL_USAGE, "type"), bad = good;
    bad.rows = 0, refuse(p, &bad, NULL, KCL_INPUT, "rows"), bad = good;
    bad.place = 5, refuse(p, &bad, NULL, KCL_USAGE, "place 5"), bad = good;
    bad.properties = 64, refuse(p, &bad, NULL, KCL_USAGE, "properties"), bad = good;
    bad.properties = KCL_SHELL_POSITIVE, refuse(p, &bad, NULL, KCL_USAGE, "KCL_SHELL_POSITIVE");
    bad.properties = KCL_SHELL_HERMITIAN, bad.cols++;
    refuse(p, &bad, NULL, KCL_USAGE, "Hermitian");
    bad.properties = 0, refuse(p, &bad, NULL, KCL_USAGE, "KCL_SHELL_ADJOINT"), bad = good;
    bad.place = KCL_OPENCL;
    if (!p->ctx->opencl) refuse(p, &bad, NULL, KCL_USAGE, "OpenCL device");
  }
  operand_close(&f), kcl_csr_free(&A);
}

int main(void) {
  open_places();
  for (int i = 0; i < place_count; i++) {
    const place *p = &places[i];
    if (!can(p, KCL_D)) continue;
    test_products(p), test_choices(p), test_wrong_properties(p), test_many(p);
    test_trouble(p), test_stop(p), test_refused(p);
  }
  close_places();
  return check_report();
}
