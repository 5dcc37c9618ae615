// C++: objects that own, a helper that returns a solver, a moved one, and failures as exceptions. The containers keep their types.
#include <cmath>
#include <cstdio>
#include <krylocl.hpp>

namespace {

struct rows {
  std::vector<int> start{0}, col;
  std::vector<double> val;
};

// -u'' + u on n points.
rows rod(int n) {
  rows r;
  for (int i = 0; i < n; i++) {
    for (int j = i - 1; j <= i + 1; j++)
      if (j >= 0 && j < n) r.col.push_back(j), r.val.push_back(i == j ? 3 : -1);
    r.start.push_back(int(r.col.size()));
  }
  return r;
}

// Neither the arrays nor the matrix outlive this function. The solver does.
krylocl::solver rod_solver(const krylocl::context &c, int n) {
  const rows r = rod(n);
  const krylocl::matrix A(c, krylocl::entries(KCL_CSR, n, n, r.start, r.col, r.val));
  return krylocl::solver(A, krylocl::options("solver=cg precond=jacobi tol=1e-10"));
}

} // namespace

int main() {
  const int n = 5000;
  try {
    const krylocl::context c;
    std::vector<krylocl::solver> solvers;
    for (int i = 0; i < 3; i++) solvers.push_back(rod_solver(c, n)); // moved as the vector grows
    const std::vector<double> b(n, 1.0);
    for (auto &s : solvers) {
      std::vector<double> x(n);
      const kcl_result r = s.solve(b, x);
      std::printf("%s after %lld iterations\n", kcl_reason_text(r.reason), (long long)r.iterations);
      if (!r.converged || std::abs(x[n / 2] - 1) > 1e-8) return 1; // far from the ends u = 1
    }
    krylocl::options("sover=cg");
  } catch (const krylocl::error &e) {
    std::printf("%s\n", e.what());
    return e.status() != KCL_USAGE;
  }
  return 1;
}
