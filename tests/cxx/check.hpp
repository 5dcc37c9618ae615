/* Counts checks, as tests/check.h does in C; systems that the tests of C++ share. */
#ifndef TESTS_CXX_CHECK_HPP
#define TESTS_CXX_CHECK_HPP

#include <krylocl.hpp>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

inline int passed = 0, failed = 0, skipped = 0;
inline std::string place; /* the device, for messages */

#define CHECK(condition) check_that((condition), #condition, __FILE__, __LINE__)
inline bool check_that(bool holds, const char *what, const char *file, int line) {
  ++(holds ? passed : failed);
  if (!holds) std::printf("FAIL %s:%d on %s: %s\n", file, line, place.c_str(), what);
  return holds;
}

/* True if f throws krylocl::error of this status whose message contains the text. */
template <class F> bool refuses(int status, const std::string &text, F f) {
  try {
    f();
  } catch (const krylocl::error &e) {
    if (e.status() == status && std::string(e.what()).find(text) != std::string::npos) return true;
    std::printf("status %d: %s\n", e.status(), e.what());
    return false;
  }
  std::printf("nothing was thrown\n");
  return false;
}

/* Compressed rows, counted from `base`. */
template <class T, class I> struct csr {
  int64_t n;
  std::vector<I> row, col;
  std::vector<T> val;
};

/* The 5-point matrix of an m x m grid, with `shift` added to its diagonal. */
template <class T, class I = int> csr<T, I> poisson(int m, double shift = 0, I base = 0) {
  csr<T, I> A{int64_t(m) * m, {base}, {}, {}};
  const auto put = [&](int i, int j, double value) {
    if (i < 0 || j < 0 || i >= m || j >= m) return;
    A.col.push_back(static_cast<I>(i * m + j + base));
    A.val.push_back(static_cast<T>(value));
  };
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++) {
      put(i - 1, j, -1), put(i, j - 1, -1), put(i, j, 4 + shift), put(i, j + 1, -1),
          put(i + 1, j, -1);
      A.row.push_back(static_cast<I>(static_cast<int64_t>(A.col.size()) + base));
    }
  return A;
}

template <class T, class I> kcl_entries entries_of(const csr<T, I> &A) {
  kcl_entries e = krylocl::entries(KCL_CSR, A.n, A.n, A.row, A.col, A.val);
  e.base = static_cast<int32_t>(A.row[0]);
  return e;
}

/* y = A x */
template <class T, class I, class X, class Y> void multiply(const csr<T, I> &A, const X &x, Y &&y) {
  for (size_t i = 0; i < size_t(A.n); i++) {
    T sum = 0;
    for (I k = A.row[i]; k < A.row[i + 1]; k++)
      sum += A.val[size_t(k - A.row[0])] * x[size_t(A.col[size_t(k - A.row[0])] - A.row[0])];
    y[i] = sum;
  }
}

/* |b - A x| / |b| */
template <class T, class I>
double residual(const csr<T, I> &A, const std::vector<T> &b, const std::vector<T> &x) {
  std::vector<T> y(b.size());
  multiply(A, x, y);
  double r = 0, of = 0;
  for (size_t i = 0; i < b.size(); i++) {
    r += std::norm(b[i] - y[i]);
    of += std::norm(b[i]);
  }
  return std::sqrt(r / of);
}

/* Runs a test on the native executor, and on the first OpenCL device if there is one. */
template <class F> void on_both(F test) {
  for (const char *device : {"cpu", "opencl"}) {
    place = device;
    try {
      krylocl::context c(device);
      test(c);
    } catch (const krylocl::error &e) {
      if (place == "opencl" && e.status() == KCL_DEVICE) {
        ++skipped;
        std::printf("skipped: %s\n", e.what());
      } else {
        CHECK(!"an exception left a test");
        std::printf("%s\n", e.what());
      }
    }
  }
}

inline int report() {
  std::printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
  return failed > 0;
}

#endif
