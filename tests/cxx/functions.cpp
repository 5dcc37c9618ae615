/* Functions given to the library: matrices, preconditioners and progress, their lifetimes, and the exceptions that leave them. */
#include "check.hpp"

#include <memory>

using krylocl::context;
using krylocl::matrix;
using krylocl::options;
using krylocl::precond;
using krylocl::solver;
using krylocl::view;

struct trouble {
  int number;
};

static const unsigned spd = KCL_SHELL_HERMITIAN | KCL_SHELL_POSITIVE;
static const std::vector<double> ones(400, 1.0);

/* The number in the trouble that f throws, -1 if it throws nothing. */
template <class F> static int trouble_of(F f) {
  try {
    f();
  } catch (const trouble &t) { return t.number; }
  return -1;
}

static matrix as_function(const context &c, std::shared_ptr<int> calls) {
  auto P = poisson<double>(20);
  return matrix::shell<double>(
      c, 400, 400, spd,
      [P, calls](view<const double> x, view<double> y, bool) { multiply(P, x, y), ++*calls; });
}

static solver make_solver(
    const context &c,
    std::shared_ptr<int> calls) { /* the matrix ends here, the function does not */
  const matrix A = as_function(c, std::move(calls));
  return solver(A, options("solver=cg tol=1e-9"));
}

static void test_matrix(const context &c) {
  const auto P = poisson<double>(20);
  const matrix A(c, entries_of(P));
  std::vector<double> x(400), y(400);
  const kcl_result with =
      solver(A, options("solver=cg precond=none tol=1e-9 scale=none")).solve(ones, x);
  auto calls = std::make_shared<int>(0);
  const std::weak_ptr<int> alive = calls;
  {
    solver first = make_solver(c, std::move(calls));
    solver s = std::move(first);
    const kcl_result r = s.solve(ones, y);
    CHECK(r.converged && residual(P, ones, y) <= 1e-9);
    CHECK(std::llabs(r.iterations - with.iterations) <= 1);
    CHECK(!alive.expired() && *alive.lock() >= r.iterations);
  }
  CHECK(alive.expired());
  A.apply(ones, x), as_function(c, std::make_shared<int>(0)).apply(ones, y);
  for (size_t i = 0; i < 400; i++) CHECK(std::abs(x[i] - y[i]) <= 1e-14);
}

/* Products of a second context on the queue of the first. */
static void test_matrix_on_opencl(const context &c) {
  const auto P = poisson<double>(20);
  void *queue = nullptr;
  if (c.text("kind") == "native") {
    CHECK(refuses(KCL_USAGE, "OpenCL", [&] {
      matrix::shell_opencl<double>(c, 4, 4, spd, [](void *, void *, bool, void *) {});
    }));
    return;
  }
  krylocl::detail::check(kcl_context_opencl(c.get(), nullptr, nullptr, &queue));
  const context other(nullptr, nullptr, queue);
  const matrix A(other, entries_of(P));
  int calls = 0;
  const auto apply = [&](void *x, void *y, bool, void *) {
    kcl_vectors from{}, to{};
    from.size = to.size = sizeof from, from.data = x, to.data = y,
    from.place = to.place = KCL_OPENCL;
    krylocl::detail::check(kcl_matrix_apply(A.get(), 0, nullptr, &from, nullptr, &to));
    if (++calls > 1000) throw trouble{1};
  };
  const matrix F = matrix::shell_opencl<double>(c, 400, 400, spd, apply);
  solver s(F, options("solver=cg tol=1e-9"));
  std::vector<double> x(400);
  CHECK(s.solve(ones, x).converged && residual(P, ones, x) <= 1e-9 && calls > 10);
  calls = 1000, x.assign(400, 0.0);
  CHECK(trouble_of([&] { s.solve(ones, x); }) == 1);
}

static void test_precond(const context &c) {
  const auto P = poisson<double>(20, 3);
  const matrix A(c, entries_of(P));
  const options o("solver=cg precond=jacobi tol=1e-9 scale=none");
  std::vector<double> x(400), y(400), z(400);
  solver own(A, o);
  const kcl_result theirs = own.solve(ones, x);
  int calls = 0;
  const auto divide = [&](view<const double> r, view<double> q, bool) {
    for (size_t i = 0; i < r.size(); i++) q[i] = r[i] / 7;
    if (++calls > 500) throw trouble{2};
  };
  std::unique_ptr<solver> s;
  {
    const precond M = precond::shell<double>(c, 400, KCL_PRECOND_HERMITIAN, divide);
    s = std::make_unique<solver>(A, M, options("solver=cg tol=1e-9"));
  }
  const kcl_result ours = s->solve(ones, y);
  CHECK(ours.converged && ours.iterations == theirs.iterations && calls >= ours.iterations);
  CHECK(residual(P, ones, y) <= 1e-9);
  calls = 500, y.assign(400, 0.0);
  CHECK(trouble_of([&] { s->solve(ones, y); }) == 2);
  calls = 0, y.assign(400, 0.0);
  CHECK(s->solve(ones, y).iterations == ours.iterations);

  precond J(A, options("precond=jacobi"));
  J.apply(ones, z);
  for (size_t i = 0; i < 400; i++)
    if (!(std::abs(z[i] * 7 - 1) < 1e-15)) CHECK(!"z = D^-1 r");
  const matrix B(c, entries_of(poisson<double>(20, 4)));
  J.update(B);
  J.apply(ones, z);
  CHECK(std::abs(z[0] * 8 - 1) < 1e-15);
  solver shared(A, J, options("solver=cg tol=1e-9"));
  CHECK(shared.solve(ones, x).converged);
}

static void test_exceptions(const context &c) {
  const auto P = poisson<double>(20);
  int left = 3;
  const matrix F =
      matrix::shell<double>(c, 400, 400, spd, [&](view<const double> x, view<double> y, bool) {
        if (left-- == 0) throw trouble{3};
        multiply(P, x, y);
      });
  std::vector<double> x(400);
  left = 1000;
  solver s(F, options("solver=cg tol=1e-9"));
  left = 3;
  CHECK(trouble_of([&] { s.solve(ones, x); }) == 3);
  left = 1000, x.assign(400, 0.0);
  CHECK(s.solve(ones, x).converged && residual(P, ones, x) <= 1e-9); /* it can be used again */
}

static void test_progress(const context &c) {
  const auto P = poisson<double>(200);
  const matrix A(c, entries_of(P));
  const std::vector<double> b(40000, 1.0);
  std::vector<double> x(40000);
  solver s(A, options("solver=cg precond=none tol=1e-9"));
  krylocl::call how;
  how.zero_guess = true;
  int calls = 0;
  how.progress = [&](const kcl_progress &p) {
    CHECK(p.max_iter > 0);
    return ++calls == 2;
  };
  CHECK(s.solve(b, x, how).reason == KCL_INTERRUPTED && calls >= 2);
  how.progress = [](const kcl_progress &) -> bool { throw trouble{4}; };
  CHECK(trouble_of([&] { s.solve(b, x, how); }) == 4);
  how.progress = [&](const kcl_progress &) { return s.solve(b, x).converged != 0; };
  CHECK(refuses(KCL_BUSY, "callback", [&] { s.solve(b, x, how); }));
  how.progress = [&](const kcl_progress &) { return s.stop(), false; };
  CHECK(s.solve(b, x, how).reason == KCL_INTERRUPTED);
  how.progress = nullptr;
  CHECK(s.solve(b, x, how).converged && residual(P, b, x) <= 1e-9);
}

int main() {
  on_both(test_matrix);
  on_both(test_matrix_on_opencl);
  on_both(test_precond);
  on_both(test_exceptions);
  on_both(test_progress);
  return report();
}
