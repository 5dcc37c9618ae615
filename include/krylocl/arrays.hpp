/** @file
 * Errors, arrays and functions of the caller's in C++: what the classes of krylocl.hpp share, which includes this file.
 */
#ifndef KRYLOCL_ARRAYS_HPP
#define KRYLOCL_ARRAYS_HPP

#include <krylocl.h>

#include <complex>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace krylocl {

/** A failure: what() is the message of kcl_error, status() a kcl_status. */
class error : public std::runtime_error {
public:
  /** status: a kcl_status; message: what() later. */
  error(int status, const std::string &message) : std::runtime_error(message), status_(status) {}
  /** The kcl_status. */
  int status() const noexcept { return status_; }

private:
  int status_;
};

/** Letter of a scalar type: 's', 'd', 'c' or 'z'. */
template <class T> inline constexpr char letter = 0;
/** float */
template <> inline constexpr char letter<float> = 's';
/** double */
template <> inline constexpr char letter<double> = 'd';
/** two floats */
template <> inline constexpr char letter<std::complex<float>> = 'c';
/** two doubles */
template <> inline constexpr char letter<std::complex<double>> = 'z';

/** An array as a container: [size] elements at data, which stay the caller's. */
template <class T> class view {
public:
  /** [size] elements at data. */
  view(T *data, size_t size) : data_(data), size_(size) {}
  /** The first element. */
  T *data() const { return data_; }
  /** Number of elements. */
  size_t size() const { return size_; }
  /** The first element. */
  T *begin() const { return data_; }
  /** Behind the last element. */
  T *end() const { return data_ + size_; }
  /** Element i, from 0; it is not checked. */
  T &operator[](size_t i) const { return data_[i]; }

private:
  T *data_;
  size_t size_;
};

namespace detail {

template <auto Free> struct free_with {
  template <class H> void operator()(H *handle) const { Free(&handle); }
};
/* The one owner of an object of the library. */
template <class H, auto Free> using owner = std::unique_ptr<H, free_with<Free>>;

/* The exception that left a function of the caller's during the call that runs in this thread. */
inline thread_local std::exception_ptr thrown;

/* Runs a function of the caller's within the library: true if it was left by an exception, which check throws again. */
template <class F> bool caught(F &&f) noexcept {
  try {
    f();
    return false;
  } catch (...) {
    if (!thrown) thrown = std::current_exception();
    return true;
  }
}

inline void check(int status) {
  if (thrown) std::rethrow_exception(std::exchange(thrown, nullptr));
  if (status) throw error(status, kcl_error());
}

/* The owner of what create(&handle) makes, a function that returns a status. */
template <class Owner, class F> Owner made(F create) {
  typename Owner::pointer handle = nullptr;
  const int status = create(&handle);
  Owner owner(handle);
  check(status);
  return owner;
}

template <class C>
using element = std::remove_reference_t<decltype(*std::data(std::declval<C &>()))>;
template <class C> using scalar = std::remove_const_t<element<C>>;

/* Both vectors on the place of the object; see kcl_apply_function. */
using function =
    std::function<void(bool adjoint, const kcl_vectors &x, kcl_vectors &y, void *queue)>;

inline int apply(void *user, int adjoint, const kcl_vectors *x, kcl_vectors *y, void *queue) {
  return caught([&] { (*static_cast<function *>(user))(adjoint != 0, *x, *y, queue); }) ? KCL_USAGE
                                                                                        : KCL_OK;
}

/* Arguments of kcl_matrix_create_shell and kcl_precond_create_shell; the function stays where it is, also when objects move. */
struct shell {
  int64_t rows, cols;
  unsigned properties;
  char type;
  int place;
  std::shared_ptr<function> apply;
};

/* f(x, y, adjoint) on arrays. */
template <class T, class F> shell on_host(int64_t rows, int64_t cols, unsigned properties, F f) {
  static_assert(letter<T> != 0, "float, double, std::complex<float> or std::complex<double>");
  auto apply = [f = std::move(f)](bool adjoint, const kcl_vectors &x, kcl_vectors &y,
                                  void *) mutable {
    f(view<const T>(static_cast<const T *>(x.data), static_cast<size_t>(x.rows)),
      view<T>(static_cast<T *>(y.data), static_cast<size_t>(y.rows)), adjoint);
  };
  return {rows,      cols,     properties,
          letter<T>, KCL_HOST, std::make_shared<function>(std::move(apply))};
}

/* f(x, y, adjoint, queue) on cl_mem. */
template <class T, class F> shell on_opencl(int64_t rows, int64_t cols, unsigned properties, F f) {
  static_assert(letter<T> != 0, "float, double, std::complex<float> or std::complex<double>");
  auto apply = [f = std::move(f)](bool adjoint, const kcl_vectors &x, kcl_vectors &y,
                                  void *queue) mutable { f(x.data, y.data, adjoint, queue); };
  return {rows,      cols,       properties,
          letter<T>, KCL_OPENCL, std::make_shared<function>(std::move(apply))};
}

} // namespace detail

/** Columns of a container as kcl_vectors: `cols` columns, one after another. The container stays the caller's, and what is const is
 * only read. Other layouts: fill kcl_vectors, and letter<T>. Throws KCL_USAGE: no numbers, or no multiple of cols. */
template <class C> kcl_vectors vectors(C &container, int64_t cols = 1) {
  using T = detail::scalar<C>;
  static_assert(letter<T> != 0, "float, double, std::complex<float> or std::complex<double>");
  const auto size = static_cast<int64_t>(std::size(container));
  if (size < 1 || cols < 1 || size % cols)
    throw error(KCL_USAGE, "vectors: " + std::to_string(size) + " numbers in " +
                               std::to_string(cols) + " columns");
  kcl_vectors v{};
  v.size = sizeof v, v.data = const_cast<T *>(std::data(container)), v.type = letter<T>;
  v.rows = size / cols, v.cols = cols;
  return v;
}

/** Arrays of a matrix as kcl_entries: containers of 32- or 64-bit signed indices and of values, in the layout KCL_CSR, KCL_CSC or
 * KCL_COO; nnz is the size of val. Further fields, such as base, symmetry, half and borrow, may be set in what is returned. The
 * arrays stay the caller's. Throws KCL_USAGE: a size that does not fit the layout. */
template <class R, class C, class V>
kcl_entries entries(int layout, int64_t rows, int64_t cols, const R &row, const C &col,
                    const V &val) {
  using row_index = detail::scalar<const R>;
  using col_index = detail::scalar<const C>;
  using T = detail::scalar<const V>;
  static_assert(std::is_integral_v<row_index> && std::is_signed_v<row_index> &&
                    std::is_integral_v<col_index> && std::is_signed_v<col_index>,
                "indices are signed integers");
  static_assert(letter<T> != 0, "float, double, std::complex<float> or std::complex<double>");
  const auto nnz = static_cast<int64_t>(std::size(val));
  const auto fits = [](const char *name, size_t size, int64_t need) {
    if (static_cast<int64_t>(size) != need)
      throw error(KCL_USAGE, std::string("entries: ") + name + " has " + std::to_string(size) +
                                 " elements, " + std::to_string(need) + " are needed");
  };
  fits("row", std::size(row), layout == KCL_CSR ? rows + 1 : nnz);
  fits("col", std::size(col), layout == KCL_CSC ? cols + 1 : nnz);
  kcl_entries e{};
  e.size = sizeof e, e.rows = rows, e.cols = cols, e.nnz = nnz;
  e.row = std::data(row), e.col = std::data(col), e.val = std::data(val);
  e.layout = layout, e.row_bits = 8 * sizeof(row_index), e.col_bits = 8 * sizeof(col_index),
  e.type = letter<T>;
  return e;
}

} // namespace krylocl
#endif
