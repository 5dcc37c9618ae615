/** @file
 * krylocl for C++17: the objects of krylocl.h as classes. Header only; link with libkrylocl.
 *
 *     krylocl::context c("opencl");
 *     krylocl::matrix A(c, krylocl::entries(KCL_CSR, n, n, row, col, val));   std::vectors of yours
 *     krylocl::solver s(A, krylocl::options("solver=cg precond=amg"));
 *     kcl_result r = s.solve(b, x);                                           x: initial guess, then solution
 *
 * Conventions
 *
 * - Each class owns one object of krylocl.h, which get() returns for functions that have no member here. Classes move and do not
 *   copy. As in C the objects keep alive what they were made from: they may end in any order, functions that were given to them, too.
 * - Failures throw krylocl::error. A solve that does not converge has not failed: see kcl_result.reason.
 * - An exception that leaves a function given to the library ends the call that needed it and is thrown again by that call.
 * - Containers are what std::data and std::size take (std::vector, std::array, std::span, Eigen vectors), without gaps, and
 *   krylocl::view of a pointer. Element types: float, double, std::complex<float>, std::complex<double>.
 */
#ifndef KRYLOCL_HPP
#define KRYLOCL_HPP

#include <krylocl/arrays.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace krylocl {

/** Options by name: see docs/options.md. */
class options {
  using handle = detail::owner<kcl_options, kcl_options_free>;

public:
  options() : handle_(detail::made<handle>(kcl_options_create)) {}
  /** Options of a text, such as "solver=cg precond=amg tol=1e-10". */
  explicit options(const std::string &text) : options() { parse(text); }
  /** Sets an option from text: see kcl_options_set. */
  options &set(const std::string &name, const std::string &value) {
    detail::check(kcl_options_set(get(), name.c_str(), value.c_str()));
    return *this;
  }
  /** Sets an option that is a number: see kcl_options_set_number. */
  options &set(const std::string &name, double value) {
    detail::check(kcl_options_set_number(get(), name.c_str(), value));
    return *this;
  }
  /** Sets options from a text, such as "solver=cg precond=amg tol=1e-10". */
  options &parse(const std::string &text) {
    detail::check(kcl_options_parse(get(), text.c_str()));
    return *this;
  }
  /** Sets options from an environment variable; nullptr: KRYLOCL_SOLVE. */
  options &read_variable(const char *variable = nullptr) {
    detail::check(kcl_options_read_variable(get(), variable));
    return *this;
  }
  /** The value as text; "" if there is no such option. */
  std::string value(const std::string &name) const { return kcl_options_get(get(), name.c_str()); }
  /** The object of C; it stays this object's. */
  kcl_options *get() const { return handle_.get(); }

private:
  handle handle_;
};

/** A device. Numbers and texts by their names: see kcl_context_number, kcl_context_text; so in the other classes. */
class context {
  using handle = detail::owner<kcl_context, kcl_context_free>;

public:
  /** device and threads: see kcl_context_create; nullptr: $KRYLOCL_DEVICE, or "auto". */
  explicit context(const char *device = nullptr, int threads = 0)
      : handle_(detail::made<handle>(
            [&](kcl_context **c) { return kcl_context_create(device, threads, c); })) {}
  /** In a cl_context of the caller's: see kcl_context_create_opencl. */
  context(void *cl_context, void *cl_device_id, void *cl_command_queue)
      : handle_(detail::made<handle>([&](kcl_context **c) {
          return kcl_context_create_opencl(cl_context, cl_device_id, cl_command_queue, c);
        })) {}
  /** The number of this name: see kcl_names. */
  double number(const std::string &name) const {
    double value = 0;
    detail::check(kcl_context_number(get(), name.c_str(), &value));
    return value;
  }
  /** The text of this name: see kcl_names. */
  std::string text(const std::string &name) const { return kcl_context_text(get(), name.c_str()); }
  /** The object of C; it stays this object's. */
  kcl_context *get() const { return handle_.get(); }

private:
  handle handle_;
};

/** A matrix: entries, or a function. */
class matrix {
  using handle = detail::owner<kcl_matrix, kcl_matrix_free>;

public:
  /** Copies the arrays, unless e.borrow is set: see kcl_matrix_create. */
  matrix(const context &c, const kcl_entries &e)
      : handle_(detail::made<handle>(
            [&](kcl_matrix **A) { return kcl_matrix_create(c.get(), &e, A); })) {}
  /** A matrix without entries of type T: f(view<const T> x, view<T> y, bool adjoint) computes y = A x, or A^H x, of all elements
   * of y. It is kept as long as it is needed. properties: KCL_SHELL_... bits. */
  template <class T, class F>
  static matrix shell(const context &c, int64_t rows, int64_t cols, unsigned properties, F f) {
    return matrix(c, detail::on_host<T>(rows, cols, properties, std::move(f)));
  }
  /** On OpenCL buffers: f(void *x, void *y, bool adjoint, void *queue) enqueues the product of the cl_mem x to the
   * cl_command_queue; it need not wait. */
  template <class T, class F>
  static matrix shell_opencl(const context &c, int64_t rows, int64_t cols, unsigned properties,
                             F f) {
    return matrix(c, detail::on_opencl<T>(rows, cols, properties, std::move(f)));
  }
  /** New values in the pattern of the matrix; solvers take them by solver::update. */
  void update(const kcl_entries &e) { detail::check(kcl_matrix_update(get(), &e)); }
  /** Borrowed arrays were written to. */
  void update() { detail::check(kcl_matrix_update(get(), nullptr)); }
  /** y = A x, or A^H x: x and y of A's type and sizes. */
  template <class X, class Y> void apply(const X &x, Y &&y, bool adjoint = false) const {
    const kcl_vectors from = vectors(x);
    kcl_vectors to = vectors(y);
    static_assert(!std::is_const_v<detail::element<Y>>, "y is written");
    detail::check(kcl_matrix_apply(get(), adjoint, nullptr, &from, nullptr, &to));
  }
  /** The number of this name: see kcl_names. */
  double number(const std::string &name) const {
    double value = 0;
    detail::check(kcl_matrix_number(get(), name.c_str(), &value));
    return value;
  }
  /** The text of this name: see kcl_names. */
  std::string text(const std::string &name) const { return kcl_matrix_text(get(), name.c_str()); }
  /** The object of C; it stays this object's. */
  kcl_matrix *get() const { return handle_.get(); }

private:
  friend class solver;
  matrix(const context &c, const detail::shell &f)
      : function_(f.apply), handle_(detail::made<handle>([&](kcl_matrix **A) {
          return kcl_matrix_create_shell(c.get(), f.rows, f.cols, f.type, detail::apply,
                                         f.apply.get(), f.place, f.properties, A);
        })) {}
  std::shared_ptr<detail::function> function_; /* outlives handle_, which calls it */
  handle handle_;
};

/** A preconditioner: M close to A, or a function. */
class precond {
  using handle = detail::owner<kcl_precond, kcl_precond_free>;

public:
  /** See kcl_precond_create. */
  explicit precond(const matrix &A, const options &o = options())
      : handle_(detail::made<handle>(
            [&](kcl_precond **M) { return kcl_precond_create(A.get(), o.get(), M); })) {}
  /** A function of the caller's: f(view<const T> r, view<T> z, bool adjoint) computes z = M^-1 r, or M^-H r. properties:
   * KCL_PRECOND_... bits. */
  template <class T, class F>
  static precond shell(const context &c, int64_t rows, unsigned properties, F f) {
    return precond(c, detail::on_host<T>(rows, rows, properties, std::move(f)));
  }
  /** On OpenCL buffers: see matrix::shell_opencl. */
  template <class T, class F>
  static precond shell_opencl(const context &c, int64_t rows, unsigned properties, F f) {
    return precond(c, detail::on_opencl<T>(rows, rows, properties, std::move(f)));
  }
  /** z = M^-1 r, or M^-H r, on the host. */
  template <class R, class Z> void apply(const R &r, Z &&z, bool adjoint = false) const {
    const kcl_vectors from = vectors(r);
    kcl_vectors to = vectors(z);
    static_assert(!std::is_const_v<detail::element<Z>>, "z is written");
    detail::check(kcl_precond_apply(get(), adjoint, &from, &to));
  }
  /** M for the values that A has now. */
  void update(const matrix &A) { detail::check(kcl_precond_update(get(), A.get())); }
  /** The object of C; it stays this object's. */
  kcl_precond *get() const { return handle_.get(); }

private:
  friend class solver;
  precond(const context &c, const detail::shell &f)
      : function_(f.apply), handle_(detail::made<handle>([&](kcl_precond **M) {
          return kcl_precond_create_shell(c.get(), f.rows, f.type, detail::apply, f.apply.get(),
                                          f.place, f.properties, M);
        })) {}
  std::shared_ptr<detail::function> function_;
  handle handle_;
};

/** Settings of one solve: the fields of kcl_call. */
struct call {
  double tol = 0;                    /**< relative residual; 0: that of the options */
  double atol = 0;                   /**< absolute residual; 0: that of the options */
  int64_t max_iter = 0;              /**< iteration limit; 0: that of the options */
  bool zero_guess = false;           /**< x need not be set on entry */
  int certify = KCL_CERTIFY_DEFAULT; /**< KCL_CERTIFY_... */
  std::function<bool(const kcl_progress &)> progress = {}; /**< true stops the solve */
  int64_t every =
      0; /**< progress is called at each so many iterations, with x; 0: from time to time, without */
};

/** A solver of one matrix. */
class solver {
  using handle = detail::owner<kcl_solver, kcl_solver_free>;

public:
  /** See kcl_solver_create. */
  explicit solver(const matrix &A, const options &o = options()) : solver(A, nullptr, nullptr, o) {}
  /** With a preconditioner that is there. */
  solver(const matrix &A, const precond &M, const options &o = options())
      : solver(A, M.get(), M.function_, o) {}

  /** Solves A x = b for one column: b has A's rows, x A's columns, in A's type; x holds the initial guess on entry. */
  template <class B, class X> kcl_result solve(const B &b, X &&x, const call &how = {}) {
    static_assert(!std::is_const_v<detail::element<X>>, "x is written");
    return solve(vectors(b), vectors(x), how).front();
  }
  /** Solves for the columns of b, in any layout: a result per column. See kcl_solve. */
  std::vector<kcl_result> solve(const kcl_vectors &b, kcl_vectors x, const call &how = {}) {
    std::vector<kcl_result> results(static_cast<size_t>(b.cols > 1 ? b.cols : 1), kcl_result{});
    results.front().size = sizeof(kcl_result);
    const kcl_call c{sizeof c,
                     how.tol,
                     how.atol,
                     how.max_iter,
                     how.zero_guess,
                     how.certify,
                     how.progress ? report : nullptr,
                     const_cast<call *>(&how),
                     how.every};
    detail::check(kcl_solve(get(), &b, &x, &c, results.data()));
    return results;
  }
  /** Takes over the values of A: see kcl_solver_update. keep: KCL_KEEP_... */
  void update(const matrix &A, int keep = KCL_KEEP_CHOICES) {
    detail::check(kcl_solver_update(get(), A.get(), keep));
    function_ = A.function_;
  }
  /** Ends the solve that runs; any thread may call it. */
  void stop() const noexcept { kcl_solver_stop(get()); }
  /** Later solves write checkpoints to this file: see kcl_solver_checkpoint. */
  void checkpoint(const std::string &path, double seconds = 0) {
    detail::check(kcl_solver_checkpoint(get(), path.c_str(), seconds));
  }
  /** The solve that runs writes a checkpoint; any thread may call it. */
  void save() const noexcept { kcl_solver_save(get()); }
  /** The next solve goes on from a checkpoint: see kcl_solver_resume. */
  void resume(const std::string &path) { detail::check(kcl_solver_resume(get(), path.c_str())); }
  /** The number of this name: see kcl_names. */
  double number(const std::string &name) const {
    double value = 0;
    detail::check(kcl_solver_number(get(), name.c_str(), &value));
    return value;
  }
  /** The text of this name: see kcl_names. */
  std::string text(const std::string &name) const { return kcl_solver_text(get(), name.c_str()); }
  /** Relative residuals of a column of the last solve, the initial one first. */
  std::vector<double> history(int64_t column = 0) const {
    const double *values = nullptr;
    int64_t count = 0;
    detail::check(kcl_solver_history(get(), column, &values, &count));
    return std::vector<double>(values, values + count);
  }
  /** Numbers and texts of the set-up and of the last solve as JSON. */
  std::string describe() const {
    char *json = nullptr;
    detail::check(kcl_solver_describe(get(), &json));
    const std::unique_ptr<char, void (*)(void *)> text(json, [](void *p) { kcl_free(p); });
    return text.get();
  }
  /** The object of C; it stays this object's. */
  kcl_solver *get() const { return handle_.get(); }

private:
  solver(const matrix &A, kcl_precond *M, std::shared_ptr<detail::function> inverse,
         const options &o)
      : function_(A.function_), inverse_(std::move(inverse)),
        handle_(detail::made<handle>(
            [&](kcl_solver **s) { return kcl_solver_create(A.get(), M, o.get(), s); })) {}
  static int report(void *user, const kcl_progress *p) {
    bool stop = false;
    return detail::caught([&] { stop = static_cast<const call *>(user)->progress(*p); }) || stop;
  }
  std::shared_ptr<detail::function> function_, inverse_;
  handle handle_;
};

} // namespace krylocl
#endif
