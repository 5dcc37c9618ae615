/* Matrices without entries: every method of the registry, on every executor, multiplying by a function, beside the same matrix in CSR.
 * Natively the function adds as the format csr-scalar does, so that every bit is the same; on a device it is an operator on the same
 * queue, or the host's loop. */
#include "solver/precond/setup.h"
#include "tests/calls.h"
#include "tests/shells.h"

/* ---------------------------------------------------------------- every method, beside CSR */

typedef struct trial {
  const place *p;
  const kcl_csr *A;
  kcl_options o;
  unsigned properties;
  int where;
} trial;

static const char *named(const trial *c) {
  static char text[200];
  snprintf(text, sizeof text, "%s, type %c, %lld x %lld, %s, %s", c->o.solver,
           kcl_type_letter(c->A->type), (long long)c->A->rows, (long long)c->A->cols, c->p->name,
           c->where == KCL_OPENCL ? "on buffers" : "on the host");
  return text;
}

static bool solve_stored(const trial *c, const void *b, void *x, kcl_report *r) {
  kcl_solver *s = NULL;
  kcl_options o = c->o;
  o.format = "csr-scalar", o.scale = KCL_SCALE_NONE, o.no_direct = true;
  const bool ok = CHECKF(!kcl_setup(c->p->ctx, c->A, &o, &s) && !kcl_solve_one(s, b, x, r),
                         "%s, stored: %s", named(c), kcl_error());
  kcl_solver_free(&s);
  return ok;
}

static void check_shell_report(const trial *c, const void *b, const void *x, const kcl_report *r) {
  const kcl_csr *A = c->A;
  double doubt, res = residual(A, b, x, &doubt);
  doubt = shell_doubt(A, doubt);
  CHECKF(fabs(res - r->true_relative_residual) <= tol_certificate(res, doubt),
         "%s: certificate says %g, it is %g", named(c), r->true_relative_residual, res);
  CHECKF(!r->converged || res <= tol_claim(c->o.tol, doubt), "%s: claims %g, has %g", named(c),
         c->o.tol, res);
  CHECK(r->backward_error == -1 && r->rowwise_error == -1 && r->componentwise_error == -1);
  CHECK(r->x_sum == kcl_checksum(x, (size_t)A->cols * kcl_type_size(A->type)));
  CHECK(r->history_size == r->iterations + 1 && r->bytes_per_iteration > 0);
}

static bool is_least(const trial *c) {
  return !strcmp(c->o.solver, "cgls") || !strcmp(c->o.solver, "lsqr");
}

/* Is the product that of the stored matrix in every bit? The host and a device round differently, and on GPUs a persistent kernel
 * adds in another order. */
static bool is_exact(const trial *c) {
  const kcl_context *ctx = c->p->ctx;
  return !ctx->opencl || (c->where == KCL_OPENCL && !kcl_is_gpu(&ctx->device));
}

/* |A|_F, by which methods for least squares stop, is an estimate. */
static void compare_reports(const trial *c, const kcl_report *shell, const kcl_report *stored) {
  const int64_t more = llabs(shell->iterations - stored->iterations),
                most = is_least(c) ? 1 + stored->iterations / 10 : 0;
  CHECKF(shell->reason == stored->reason, "%s: %s, stored: %s", named(c),
         kcl_reason_text(shell->reason), kcl_reason_text(stored->reason));
  CHECKF(!is_exact(c) || more <= most, "%s: %lld iterations, stored %lld", named(c),
         (long long)shell->iterations, (long long)stored->iterations);
}

static void compare_solves(const trial *c, const void *b) {
  const size_t bytes = (size_t)c->A->cols * kcl_type_size(c->A->type);
  void *x = zeros(c->A), *y = zeros(c->A);
  kcl_solver *s = NULL;
  kcl_report shell = {0}, stored = {0};
  operand f;
  if (!operand_open(&f, c->p, c->A, c->where)) goto done;
  const kcl_shell A = shell_of(&f, c->properties);
  if (!CHECKF(!kcl_setup_shell(c->p->ctx, &A, NULL, &c->o, &s), "%s: %s", named(c), kcl_error()))
    goto done;
  CHECKF(f.calls == (is_least(c) ? 3 : 0), "%s: %lld calls in the set-up", named(c),
         (long long)f.calls);
  if (!CHECKF(!kcl_solve_one(s, b, x, &shell), "%s: %s", named(c), kcl_error())) goto done;
  CHECK(!f.elsewhere && !f.wrong && f.calls > 0);
  check_shell_report(c, b, x, &shell);
  if (!solve_stored(c, b, y, &stored)) goto done;
  compare_reports(c, &shell, &stored);
  if (is_exact(c) && shell.iterations == stored.iterations)
    CHECKF(!memcmp(x, y, bytes), "%s: x differs from that of the stored matrix", named(c));
done:
  kcl_solver_free(&s), operand_close(&f), free(x), free(y);
}

/* Complex symmetric matrices have no property that says so. */
static const char *kind_for(const kcl_method *m, kcl_type t) {
  const bool pairs = kcl_type_complex(t);
  if (m->symmetric && pairs) return NULL;
  if (m->symmetric) return "poisson2d:12";
  if (m->hermitian) return pairs ? "magnetic:9" : "poisson2d:12";
  return pairs ? "helmholtz:12" : "convection:12";
}

static unsigned properties_for(const kcl_method *m) {
  if (m->hermitian || m->symmetric) return KCL_SHELL_HERMITIAN | KCL_SHELL_POSITIVE;
  return m->adjoint ? KCL_SHELL_ADJOINT : 0;
}

static void test_method(const place *p, const kcl_method *m, kcl_type t) {
  const char *kind = kind_for(m, t);
  trial c = {.p = p, .o = cg_options(), .properties = properties_for(m)};
  if (!kind || !wanted_solver(m->name)) return;
  c.o.solver = m->name, c.o.precision = t, c.o.tol = t == KCL_S || t == KCL_C ? 1e-4 : 1e-8;
  c.o.restart = 5;
  kcl_csr *A = generated(p->ctx, kind, t);
  void *b = random_b(A);
  c.A = A;
  for (c.where = KCL_HOST; c.where <= (p->ctx->opencl ? KCL_OPENCL : KCL_HOST); c.where++)
    compare_solves(&c, b);
  free(b), kcl_csr_free(&A);
}

static void test_methods(const place *p) {
  for (int i = 0; i < kcl_method_count; i++)
    for (kcl_type t = KCL_S; t <= KCL_Z; t++)
      if ((!by_turns(p) || turn_of(t, i)) && can(p, t)) test_method(p, kcl_method_at(i), t);
}

static void test_layout(const place *p) {
  for (int i = 0; i < kcl_method_count; i++)
    if (!quick(p) || i % 3 == 0) test_method(p, kcl_method_at(i), KCL_D);
}

/* Large enough for several threads: the bits are those of one. */
static void test_threads(void) {
  static const char *const method[] = {"cg", "bicgstab-l", "gmres"};
  for (int threads = 1; threads <= 4; threads += 3) {
    place p = {.name = threads == 1 ? "cpu, 1 thread" : "cpu, 4 threads"};
    if (kcl_context_create(NULL, 0, &p.ctx) || !CHECK(!kcl_select(p.ctx, "cpu", threads))) exit(1);
    kcl_csr *A = generated(p.ctx, sanitized() ? "poisson2d:60" : "poisson2d:150", KCL_D);
    void *b = random_b(A);
    for (int i = 0; i < 3; i++) {
      trial c = {.p = &p, .A = A, .o = cg_options()};
      c.o.solver = method[i], c.o.max_iter = 60, c.o.tol = 1e-8;
      c.properties = KCL_SHELL_HERMITIAN | KCL_SHELL_POSITIVE;
      compare_solves(&c, b);
    }
    free(b), kcl_csr_free(&A), kcl_context_free(&p.ctx);
  }
  kcl_set_threads(0);
}

/* ---------------------------------------------------------------- rectangular, least squares */

/* |A^H (b - A x)| / |A^H b| */
static double gradient_ratio(const kcl_csr *A, const void *b, const void *x) {
  void *zero = zeros(A);
  double of_x, of_b;
  normal_residual(A, b, x, &of_x), normal_residual(A, b, zero, &of_b);
  free(zero);
  return of_x / of_b;
}

static void test_least_squares(const place *p, kcl_type t) {
  kcl_csr *square = generated(p->ctx, kcl_type_complex(t) ? "helmholtz:12" : "convection:12", t),
          *tall = NULL;
  kcl_csr wide = *square;
  wide.rows = 100, wide.nnz = wide.row_ptr[100];
  CHECK(!kcl_csr_adjoint(p->ctx, &wide, &tall));
  void *b = random_b(tall), *x = zeros(tall);
  operand f;
  for (int i = 0; i < 3 && operand_open(&f, p, tall, KCL_HOST); i++, operand_close(&f)) {
    const kcl_shell shell = shell_of(&f, KCL_SHELL_ADJOINT);
    kcl_options o = kcl_defaults;
    kcl_solver *s = NULL;
    kcl_report r;
    o.solver = i == 0 ? NULL : i == 1 ? "cgls" : "lsqr", o.precision = t;
    o.tol = t == KCL_S || t == KCL_C ? 1e-4 : 1e-8;
    if (!CHECKF(!kcl_setup_shell(p->ctx, &shell, NULL, &o, &s) && !kcl_solve_one(s, b, x, &r), "%s",
                kcl_error()))
      continue;
    const double ratio = gradient_ratio(tall, b, x);
    CHECKF(r.reason == KCL_LEAST_SQUARES && r.least_squares, "%s", kcl_reason_text(r.reason));
    CHECKF(ratio <= 2 * o.tol && fabs(ratio - r.normal_residual) <= 0.01 * o.tol,
           "normal residual %g, reported %g", ratio, r.normal_residual);
    memset(x, 0, (size_t)tall->cols * kcl_type_size(t)), kcl_solver_free(&s);
  }
  free(b), free(x), kcl_csr_free(&tall), kcl_csr_free(&square);
}

int main(void) {
  open_places();
  for (int i = 0; i < place_count; i++) {
    const place *p = &places[i];
    test_methods(p);
    if (few() || !can(p, KCL_D)) continue;
    test_least_squares(p, KCL_D);
    if (!by_turns(p)) test_least_squares(p, KCL_S), test_least_squares(p, KCL_Z);
  }
  if (!small()) test_threads();
  as_gpu(test_layout);
  close_places();
  return check_report();
}
