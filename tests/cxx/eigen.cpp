/* krylocl::eigen_solver beside Eigen's own solvers: storage orders, index widths, types, layouts of right-hand sides. */
#include "check.hpp"

#include <krylocl/eigen.hpp>

using krylocl::context;
using krylocl::eigen_solver;

/* A 5-point matrix; with wind it is not symmetric, with phase complex and Hermitian. */
template <class Matrix> static Matrix grid(int m, double wind, double phase) {
  using T = typename Matrix::Scalar;
  using I = typename Matrix::StorageIndex;
  std::vector<Eigen::Triplet<T, I>> entries;
  const auto number = [](double re, double im) {
    if constexpr (Eigen::NumTraits<T>::IsComplex)
      return T(static_cast<typename T::value_type>(re), static_cast<typename T::value_type>(im));
    else
      return static_cast<T>(re + 0 * im);
  };
  const auto pair = [&](int i, int j) {
    entries.emplace_back(I(i), I(j), number(-1 - wind, phase));
    entries.emplace_back(I(j), I(i), number(-1 + wind, -phase));
  };
  for (int i = 0; i < m * m; i++) {
    entries.emplace_back(I(i), I(i), number(4.2, 0));
    if (i % m) pair(i, i - 1);
    if (i >= m) pair(i, i - m);
  }
  Matrix A(m * m, m * m);
  A.setFromTriplets(entries.begin(), entries.end());
  return A;
}

template <class Matrix, class B, class X>
static double residual_of(const Matrix &A, const B &b, const X &x) {
  return static_cast<double>((b - A * x).norm() / b.norm());
}

template <class Matrix>
static void test_matrix(std::shared_ptr<context> c, double wind, double phase, double tol) {
  using T = typename Matrix::Scalar;
  using vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
  const auto A = grid<Matrix>(20, wind, phase);
  const vector b = vector::Ones(400);
  eigen_solver<Matrix> s(c);
  s.setTolerance(static_cast<typename Eigen::NumTraits<T>::Real>(tol));
  s.options().set("precond", "jacobi").set("solver", wind != 0 ? "bicgstab" : "cg");
  const vector x = s.compute(A).solve(b);
  CHECK(s.info() == Eigen::Success && residual_of(A, b, x) <= 2 * tol);
  CHECK(s.rows() == 400 && s.cols() == 400 && double(s.error()) <= tol);
  const vector again = s.solveWithGuess(b, x);
  CHECK(s.iterations() == 0 && again == x);
}

template <class T, class I>
static void test_orders(std::shared_ptr<context> c, double wind, double phase, double tol) {
  test_matrix<Eigen::SparseMatrix<T, Eigen::ColMajor, I>>(c, wind, phase, tol);
  test_matrix<Eigen::SparseMatrix<T, Eigen::RowMajor, I>>(c, wind, phase, tol);
}

using sparse = Eigen::SparseMatrix<double>;

static void test_against_eigen(std::shared_ptr<context> c) {
  const auto A = grid<sparse>(40, 0, 0), W = grid<sparse>(40, 0.3, 0);
  const Eigen::VectorXd b = Eigen::VectorXd::Ones(1600);
  Eigen::ConjugateGradient<sparse, Eigen::Lower | Eigen::Upper> theirs;
  eigen_solver<sparse> ours(c);
  ours.options().parse("solver=cg precond=jacobi scale=none");
  const Eigen::VectorXd x = theirs.setTolerance(1e-10).compute(A).solve(b);
  const Eigen::VectorXd y = ours.setTolerance(1e-10).compute(A).solve(b);
  CHECK(theirs.info() == Eigen::Success && ours.info() == Eigen::Success);
  CHECK(std::abs(theirs.iterations() - ours.iterations()) <= 2 && ours.iterations() > 20);
  CHECK((x - y).norm() <= 2e-9 * x.norm()); /* condition number 10 at most */
  Eigen::BiCGSTAB<sparse> other;
  const Eigen::VectorXd u = other.setTolerance(1e-10).compute(W).solve(b);
  ours.options().set("solver", "bicgstab");
  const Eigen::VectorXd v = ours.compute(W).solve(b);
  CHECK(other.info() == Eigen::Success && ours.info() == Eigen::Success &&
        (u - v).norm() <= 2e-9 * u.norm());
}

static void test_right_hand_sides(std::shared_ptr<context> c) {
  const auto A = grid<sparse>(20, 0, 0);
  eigen_solver<sparse> s(c);
  s.options().parse("solver=cg tol=1e-10");
  s.compute(A);
  const Eigen::MatrixXd B = Eigen::MatrixXd::Random(400, 3);
  const Eigen::MatrixXd X = s.solve(B);
  CHECK(s.info() == Eigen::Success && residual_of(A, B, X) <= 1e-10);
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> R = B, Y(400, 3);
  Y = s.solve(R);
  CHECK(residual_of(A, B, Y) <= 1e-10);
  Eigen::MatrixXd block =
      Eigen::MatrixXd::Constant(402, 5, NAN); /* part of an array, an expression */
  block.block(1, 1, 400, 3) = s.solve(2 * B);
  CHECK(residual_of(A, 2 * B, block.block(1, 1, 400, 3)) <= 1e-10 && std::isnan(block(0, 1)));
  Eigen::VectorXd x(400);
  x.reverse() = s.solve(B.col(1));
  CHECK(residual_of(A, B.col(1), x.reverse()) <= 1e-10);
  const sparse S = B.sparseView(), Z = s.solve(S);
  CHECK(residual_of(A, B, Eigen::MatrixXd(Z)) <= 1e-9);
  Eigen::VectorXd same = B.col(0);
  CHECK(refuses(KCL_USAGE, "overlap", [&] { same = s.solve(same); }));
}

static void test_new_values(std::shared_ptr<context> c) {
  sparse A = grid<sparse>(20, 0, 0), half = A.triangularView<Eigen::Lower>();
  eigen_solver<sparse> s(c);
  s.options().parse("solver=cg precond=ic tol=1e-10");
  const Eigen::VectorXd b = Eigen::VectorXd::Ones(400);
  s.analyzePattern(A).factorize(A);
  CHECK(residual_of(A, b, Eigen::VectorXd(s.solve(b))) <= 1e-10);
  for (int i = 0; i < 400; i++) A.coeffRef(i, i) += 1;
  s.factorize(A);
  CHECK(residual_of(A, b, Eigen::VectorXd(s.solve(b))) <= 1e-10 && s.info() == Eigen::Success);
  s.factorize(3 * A, KCL_KEEP_PRECOND); /* an expression */
  CHECK(residual_of(sparse(3 * A), b, Eigen::VectorXd(s.solve(b))) <= 1e-10);
  CHECK(refuses(KCL_USAGE, "pattern", [&] { s.factorize(half); }));
  CHECK(residual_of(sparse(3 * A), b, Eigen::VectorXd(s.solve(b))) <= 1e-10); /* as before */
  s.compute(half.selfadjointView<Eigen::Lower>());
  A.insert(0, 399) = 0; /* not compressed */
  A.insert(399, 0) = 0;
  CHECK(!A.isCompressed() && s.compute(A).solve(b).cols() == 1);
  CHECK(residual_of(A, b, Eigen::VectorXd(s.solve(b))) <= 1e-10);
}

static void test_failures(std::shared_ptr<context> c) {
  const sparse A = grid<sparse>(30, 0, 0);
  const Eigen::VectorXd b = Eigen::VectorXd::Ones(900);
  eigen_solver<sparse> s(c);
  s.options().parse("solver=cg precond=none");
  Eigen::VectorXd x = s.compute(A).setMaxIterations(2).solve(b);
  CHECK(s.info() == Eigen::NoConvergence && s.iterations() == 2 && s.error() > 1e-8);
  CHECK(s.get().text("solver") == "cg");
  s.options().set("solver", "cgx");
}

int main() {
  const auto shared = [](auto test) {
    on_both([&](const context &) { test(std::make_shared<context>(place.c_str())); });
  };
  shared([](std::shared_ptr<context> c) {
    test_orders<double, int>(c, 0, 0, 1e-9), test_orders<double, int64_t>(c, 0.3, 0, 1e-9);
    test_orders<float, int>(c, 0.3, 0, 1e-4),
        test_orders<std::complex<float>, int64_t>(c, 0, 0.2, 1e-4);
    test_orders<std::complex<double>, int>(c, 0, 0.2, 1e-9);
  });
  shared(test_against_eigen);
  shared(test_right_hand_sides);
  shared(test_new_values);
  shared([](std::shared_ptr<context> c) {
    CHECK(refuses(KCL_USAGE, "did you mean cg", [&] { test_failures(c); }));
  });
  return report();
}
