/** @file
 * krylocl as a solver of Eigen's: the interface of Eigen::ConjugateGradient and its like, for programs that have Eigen 3.3 or later.
 *
 *     krylocl::eigen_solver<Eigen::SparseMatrix<double>> s;
 *     s.options().set("precond", "amg");
 *     s.compute(A);
 *     x = s.solve(b);
 */
#ifndef KRYLOCL_EIGEN_HPP
#define KRYLOCL_EIGEN_HPP

#include <krylocl.hpp>

#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>

#include <algorithm>
#include <memory>
#include <optional>

namespace krylocl {

/** Solves with an Eigen::SparseMatrix, column- or row-major, of float, double or their complex types, with indices of 32 or 64 bits.
 * It is copied: Eigen's starts are as wide as its columns, those of krylocl are not. All entries are needed, of a symmetric matrix
 * too: A.selfadjointView<Eigen::Lower>() is both halves of one.
 *
 * Errors are exceptions of krylocl.hpp. info() says why the last solve did not converge: NumericalIssue (a breakdown, an infinity)
 * or NoConvergence. x and b of a solve do not overlap. */
template <class Matrix> class eigen_solver : public Eigen::SparseSolverBase<eigen_solver<Matrix>> {
  using base = Eigen::SparseSolverBase<eigen_solver<Matrix>>;
  using base::m_isInitialized;

public:
  /** The matrix. */
  using MatrixType = Matrix;
  /** Numbers of the matrix. */
  using Scalar = typename Matrix::Scalar;
  /** Absolute values of them. */
  using RealScalar = typename Matrix::RealScalar;
  /** Indices of the matrix. */
  using StorageIndex = typename Matrix::StorageIndex;
  enum {
    ColsAtCompileTime = Matrix::ColsAtCompileTime,
    MaxColsAtCompileTime = Matrix::MaxColsAtCompileTime
  };

  /** On $KRYLOCL_DEVICE, or "auto". */
  eigen_solver() : eigen_solver(std::make_shared<context>()) {}
  /** In a context, which solvers may share. */
  explicit eigen_solver(std::shared_ptr<context> c) : context_(std::move(c)) {}
  /** With a solver for A. */
  explicit eigen_solver(const Matrix &A) : eigen_solver() { compute(A); }

  /** Options of the next set-up: compute, or factorize after analyzePattern. */
  krylocl::options &options() { return options_; }
  /** Relative residual of the next solves; 0: that of the options. */
  eigen_solver &setTolerance(RealScalar tolerance) {
    call_.tol = static_cast<double>(tolerance);
    return *this;
  }
  /** Iteration limit of the next solves; 0: that of the options. */
  eigen_solver &setMaxIterations(Eigen::Index iterations) {
    call_.max_iter = iterations;
    return *this;
  }

  /** Sets up a solver for A. */
  eigen_solver &compute(const Matrix &A) { return analyzePattern(A).factorize(A); }
  /** Declares another pattern: the next factorize sets up anew. */
  eigen_solver &analyzePattern(const Matrix &) {
    m_isInitialized = false;
    solver_.reset(), matrix_.reset();
    return *this;
  }
  /** Takes the values of A, which has the pattern of the last A. keep: KCL_KEEP_... of kcl_solver_update. */
  eigen_solver &factorize(const Matrix &A, int keep = KCL_KEEP_CHOICES) {
    if (!A.isCompressed()) {
      Matrix compressed(A);
      compressed.makeCompressed();
      return factorize(compressed, keep);
    }
    const kcl_entries e = entries_of(A);
    if (!matrix_) {
      matrix_.emplace(*context_, e);
      solver_.reset();
    } else {
      matrix_->update(e);
    }
    if (solver_)
      solver_->update(*matrix_, keep);
    else
      solver_.emplace(*matrix_, options_);
    rows_ = A.rows(), cols_ = A.cols(), m_isInitialized = true;
    return *this;
  }

  /** Rows of the last matrix. */
  Eigen::Index rows() const { return rows_; }
  /** Columns of the last matrix. */
  Eigen::Index cols() const { return cols_; }
  /** Iterations of the last solve: the largest number of its columns. */
  Eigen::Index iterations() const { return iterations_; }
  /** Relative residual of the last solve, recomputed: the largest of its columns. */
  RealScalar error() const { return static_cast<RealScalar>(error_); }
  /** Success, or why the last solve did not converge. */
  Eigen::ComputationInfo info() const { return info_; }
  /** The solver, for its numbers and texts; only after compute. */
  const krylocl::solver &get() const { return *solver_; }

  /** An expression of the solution that begins with the guess x0. */
  template <class B, class Guess>
  Eigen::SolveWithGuess<eigen_solver, B, Guess> solveWithGuess(const Eigen::MatrixBase<B> &b,
                                                               const Guess &x0) const {
    eigen_assert(m_isInitialized && rows() == b.rows());
    return Eigen::SolveWithGuess<eigen_solver, B, Guess>(*this, b.derived(), x0);
  }

  using base::_solve_impl;
  /** x = A^-1 b, which Eigen calls to evaluate solve(b). */
  template <class B, class X>
  void _solve_impl(const Eigen::MatrixBase<B> &b, Eigen::MatrixBase<X> &x) const {
    solve_columns(b.derived(), x.derived(), true);
  }
  /** x = A^-1 b from the guess in x, which Eigen calls to evaluate solveWithGuess(b, x). */
  template <class B, class X>
  void _solve_with_guess_impl(const B &b, Eigen::MatrixBase<X> &x) const {
    solve_columns(b.derived(), x.derived(), false);
  }

private:
  static kcl_entries entries_of(const Matrix &A) {
    const auto outer = view(A.outerIndexPtr(), static_cast<size_t>(A.outerSize() + 1));
    const auto inner = view(A.innerIndexPtr(), static_cast<size_t>(A.nonZeros()));
    const auto val = view(A.valuePtr(), static_cast<size_t>(A.nonZeros()));
    if constexpr (Matrix::IsRowMajor)
      return entries(KCL_CSR, A.rows(), A.cols(), outer, inner, val);
    return entries(KCL_CSC, A.rows(), A.cols(), inner, outer, val);
  }

  /* A dense object with strides, in place. */
  template <class D> static kcl_vectors vectors_of(const D &d) {
    kcl_vectors v{};
    v.size = sizeof v, v.data = const_cast<Scalar *>(d.data()), v.type = letter<Scalar>;
    v.rows = d.rows(), v.cols = d.cols(), v.inc = d.rowStride(), v.ld = d.colStride();
    return v;
  }

  /* Expressions without strides pass through a plain matrix. */
  template <class B, class X> void solve_columns(const B &b, X &x, bool zero_guess) const {
    using plain = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
    if constexpr (!(B::Flags & Eigen::DirectAccessBit)) {
      solve_columns(plain(b), x, zero_guess);
    } else if constexpr (!(X::Flags & Eigen::DirectAccessBit)) {
      plain copy = x;
      solve_columns(b, copy, zero_guess);
      x = copy;
    } else {
      solve_in_place(vectors_of(b), vectors_of(x), zero_guess);
    }
  }

  void solve_in_place(const kcl_vectors &b, const kcl_vectors &x, bool zero_guess) const {
    info_ = Eigen::Success, iterations_ = 0, error_ = 0;
    if (!b.cols) return;
    call how = call_;
    how.zero_guess = zero_guess;
    for (const kcl_result &r : solver_->solve(b, x, how)) {
      iterations_ = std::max<Eigen::Index>(iterations_, r.iterations);
      error_ = std::max(error_, r.true_relative_residual);
      info_ = std::max(info_, info_of(r.reason));
    }
  }

  /* Success < NumericalIssue < NoConvergence */
  static Eigen::ComputationInfo info_of(int reason) {
    if (reason == KCL_CONVERGED || reason == KCL_LEAST_SQUARES) return Eigen::Success;
    const bool limit =
        reason == KCL_ITERATION_LIMIT || reason == KCL_STAGNATED || reason == KCL_INTERRUPTED;
    return limit ? Eigen::NoConvergence : Eigen::NumericalIssue;
  }

  std::shared_ptr<context> context_;
  krylocl::options options_;
  call call_;
  std::optional<matrix> matrix_;
  mutable std::optional<solver> solver_;
  Eigen::Index rows_ = 0, cols_ = 0;
  mutable Eigen::Index iterations_ = 0;
  mutable double error_ = 0;
  mutable Eigen::ComputationInfo info_ = Eigen::Success;
};

} // namespace krylocl
#endif
