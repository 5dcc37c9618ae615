/* The classes of krylocl.hpp: results as those of C, types and layouts, moved objects, new values, failures. */
#include "check.hpp"

#include <memory>

using krylocl::context;
using krylocl::matrix;
using krylocl::options;
using krylocl::solver;

static const char *const settings = "solver=cg precond=jacobi format=csr-scalar tol=1e-9";

/* What C computes: x and iterations. */
static std::vector<double> solve_in_c(const context &c, const kcl_entries &e,
                                      const std::vector<double> &b, int64_t *iterations) {
  kcl_options *o = nullptr;
  kcl_matrix *A = nullptr;
  kcl_solver *s = nullptr;
  kcl_result r{};
  r.size = sizeof r;
  std::vector<double> x(b.size());
  CHECK(!kcl_options_create(&o) && !kcl_options_parse(o, settings));
  CHECK(!kcl_matrix_create(c.get(), &e, &A) && !kcl_solver_create(A, nullptr, o, &s));
  CHECK(!kcl_solve_array(s, b.data(), x.data(), &r));
  kcl_solver_free(&s), kcl_matrix_free(&A), kcl_options_free(&o);
  *iterations = r.iterations;
  return x;
}

static void test_as_in_c(const context &c) {
  const auto P = poisson<double>(30);
  const std::vector<double> b(900, 1.0);
  std::vector<double> x(900);
  int64_t iterations = 0;
  const auto reference = solve_in_c(c, entries_of(P), b, &iterations);
  const matrix A(c, entries_of(P));
  solver s(A, options(settings));
  const kcl_result r = s.solve(b, x);
  CHECK(r.converged && r.iterations == iterations && iterations > 10);
  CHECK(x == reference);
  CHECK(residual(P, b, x) <= 1e-9);
  CHECK(s.text("solver") == "cg" && s.text("precond") == "jacobi" && s.number("bytes_stored") > 0);
  CHECK(static_cast<int64_t>(s.history().size()) == iterations + 1);
  CHECK(s.describe().find("\"schema\"") != std::string::npos);
  CHECK(A.number("nnz") == static_cast<double>(P.val.size()) && c.number("threads") >= 1);
  CHECK(!c.text("device").empty());
}

template <class T, class I> static void test_type(const context &c, I base, double tol) {
  const auto P = poisson<T, I>(20, 0.1, base);
  const std::vector<T> b(400, T(1));
  std::vector<T> x(400), y(400);
  const matrix A(c, entries_of(P));
  options o("solver=cg precond=none");
  o.set("tol", tol);
  const kcl_result r = solver(A, o).solve(b, krylocl::view(x.data(), x.size()));
  CHECK(r.converged && residual(P, b, x) <= 2 * tol);
  A.apply(x, y);
  std::vector<T> expected(400);
  multiply(P, x, expected);
  double distance = 0;
  for (size_t i = 0; i < 400; i++)
    distance = std::max<double>(distance, std::abs(y[i] - expected[i]));
  CHECK(distance <= 400 * tol * std::abs(x[200]));
}

static void test_columns(const context &c) { /* two columns, in row-major order */
  const auto P = poisson<double>(10);
  const matrix A(c, entries_of(P));
  solver s(A, options("solver=cg tol=1e-10"));
  std::vector<double> b(200), x(200), one(100), two(100);
  for (size_t i = 0; i < 100; i++) b[2 * i] = 1, b[2 * i + 1] = double(i % 7);
  kcl_vectors vb = krylocl::vectors(b, 2), vx = krylocl::vectors(x, 2);
  vb.inc = vx.inc = 2, vb.ld = vx.ld = 1;
  const auto results = s.solve(vb, vx);
  CHECK(results.size() == 2 && results[0].converged && results[1].converged);
  std::vector<double> b1(100), b2(100);
  for (size_t i = 0; i < 100; i++)
    one[i] = x[2 * i], two[i] = x[2 * i + 1], b1[i] = b[2 * i], b2[i] = b[2 * i + 1];
  CHECK(residual(P, b1, one) <= 1e-10 && residual(P, b2, two) <= 1e-10);
}

static solver make_solver(const char *device) { /* its matrix, options and context end here */
  const context c(device);
  const auto P = poisson<double>(10);
  const matrix A(c, entries_of(P));
  return solver(A, options("solver=cg"));
}

static void test_moves(const context &) {
  const std::vector<double> b(100, 1.0);
  std::vector<double> x(100);
  std::vector<solver> all;
  for (int i = 0; i < 3; i++) all.push_back(make_solver(place.c_str()));
  solver moved = std::move(all[1]);
  CHECK(moved.solve(b, x).converged && residual(poisson<double>(10), b, x) <= 1e-8);
  CHECK(refuses(KCL_USAGE, "s", [&] { all[1].solve(b, x); }));
  moved = std::move(all[2]);
  CHECK(moved.solve(b, x).iterations == 0);
  static_assert(!std::is_copy_constructible_v<solver> &&
                std::is_nothrow_move_constructible_v<matrix>);
}

static void test_new_values(const context &c) {
  const auto before = poisson<double>(30), after = poisson<double>(30, 0.5);
  const std::vector<double> b(900, 1.0);
  std::vector<double> x(900);
  matrix A(c, entries_of(before));
  solver s(A, options("solver=cg precond=ic tol=1e-10"));
  CHECK(s.solve(b, x).converged && residual(before, b, x) <= 1e-10);
  A.update(entries_of(after));
  s.update(A);
  CHECK(s.solve(b, x).converged && residual(after, b, x) <= 1e-10);
  CHECK(refuses(KCL_USAGE, "pattern", [&] { A.update(entries_of(poisson<double>(31))); }));
  s.update(A, KCL_KEEP_PRECOND);
  krylocl::call how;
  how.zero_guess = true, how.tol = 1e-3;
  const kcl_result loose = s.solve(b, x, how);
  how.max_iter = 1;
  CHECK(loose.converged && residual(after, b, x) <= 1e-3 && residual(after, b, x) > 1e-10);
  CHECK(loose.iterations > 1 && s.solve(b, x, how).reason == KCL_ITERATION_LIMIT);
}

static void test_borrowed(const context &c) {
  auto P = poisson<double, int64_t>(12);
  const std::vector<int32_t> col(P.col.begin(), P.col.end());
  kcl_entries e = krylocl::entries(KCL_CSR, P.n, P.n, P.row, col, P.val);
  e.borrow = 1;
  matrix A(c, e);
  std::vector<double> x(144, 1.0), y(144), z(144);
  for (double &v : P.val) v *= 2;
  A.update();
  A.apply(x, y);
  multiply(P, x, z);
  CHECK(y == z);
}

static void test_failures(const context &c) {
  const auto P = poisson<double>(5);
  const matrix A(c, entries_of(P));
  solver s(A, options("solver=cg"));
  std::vector<double> b(25, 1.0), x(25), more(26), none;
  std::vector<float> floats(25);
  CHECK(refuses(KCL_USAGE, "did you mean solver?", [] { options("sover=cg"); }));
  CHECK(refuses(KCL_USAGE, "tol", [] { options().set("tol", -1); }));
  CHECK(refuses(KCL_DEVICE, "nosuch", [] { context("nosuch").number("memory"); }));
  CHECK(refuses(KCL_USAGE, "rows", [&] { s.solve(b, more); }));
  CHECK(refuses(KCL_USAGE, "type", [&] { s.solve(b, floats); }));
  CHECK(refuses(KCL_USAGE, "0 numbers", [&] { s.solve(none, x); }));
  CHECK(refuses(KCL_USAGE, "26 elements, 25 are needed",
                [&] { krylocl::entries(KCL_CSR, 24, 24, P.row, P.col, P.val); }));
  CHECK(refuses(KCL_USAGE, "nosuch", [&] { s.number("nosuch"); }));
  CHECK(refuses(KCL_USAGE, "column", [&] { s.history(3); }));
  b[7] = NAN;
  CHECK(refuses(KCL_INPUT, "right-hand side", [&] { s.solve(b, x); }));
  auto skew = P;
  skew.val[1] = 7;
  CHECK(
      refuses(KCL_USAGE, "cg", [&] { solver(matrix(c, entries_of(skew)), options("solver=cg")); }));
  auto wide = P;
  wide.col[3] = 99;
  CHECK(refuses(KCL_USAGE, "99", [&] { matrix(c, entries_of(wide)); }));
}

static void test_options(const context &) {
  options o;
  o.set("solver", "minres").set("tol", 1e-4).set("max-iter", 7);
  CHECK(o.value("solver") == "minres" && o.value("max-iter") == "7" &&
        o.value("precond") == "default");
  options other = std::move(o);
  CHECK(std::stod(other.value("tol")) == 1e-4 && other.value("nosuch").empty());
}

int main() {
  on_both(test_as_in_c);
  on_both([](const context &c) {
    test_type<float, int32_t>(c, 0, 1e-4);
    test_type<double, int64_t>(c, 1, 1e-9);
    test_type<std::complex<float>, int64_t>(c, 0, 1e-4);
    test_type<std::complex<double>, int32_t>(c, 1, 1e-9);
  });
  on_both(test_columns);
  on_both(test_moves);
  on_both(test_new_values);
  on_both(test_borrowed);
  on_both(test_failures);
  on_both(test_options);
  return report();
}
