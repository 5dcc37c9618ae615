/* AMGCL's conjugate gradients on its builtin (OpenMP) backend, without preconditioner.
 * usage: amgcl A.mtx; threads by OMP_NUM_THREADS. Column indices are 32 bits, as in the other peers
 * (default: 64). Old versions need Boost's headers; later ones are compiled without.
 */
#define AMGCL_NO_BOOST
#include "peer.h"
#include <amgcl/backend/builtin.hpp>
#include <amgcl/solver/cg.hpp>
#include <vector>

using backend = amgcl::backend::builtin<double>;
using matrix = amgcl::backend::crs<double, int, int>;

struct identity { /* as preconditioner::dummy, without its copy of A */
  template <class V, class W> void apply(const V &r, W &s) const { amgcl::backend::copy(r, s); }
};

struct problem {
  matrix A;
  backend::vector b, x;
  amgcl::solver::cg<backend> solver;
  problem(const mtx &M, size_t n)
      : A(n, n, std::vector<int>(M.ptr, M.ptr + n + 1), std::vector<int>(M.col, M.col + M.nnz),
          std::vector<double>(M.val, M.val + M.nnz)),
        b(std::vector<double>(n, 1.0)), x(n), solver(n) {
    solver.prm.tol = 0;
  }
};

static void solve(void *state, int iterations) {
  problem *p = static_cast<problem *>(state);
  p->solver.prm.maxiter = static_cast<size_t>(iterations);
  amgcl::backend::clear(p->x);
  p->solver(p->A, identity(), p->b, p->x);
}

int main(int argc, char **argv) {
  peer_usage(argc == 2, "amgcl A.mtx");
  mtx A = mtx_read(argv[1]);
  problem p(A, static_cast<size_t>(A.rows));
  peer_samples s = peer_measure(solve, &p);
  peer_print("amgcl", argv[1], &A, PEER_ITERATIONS, &s, peer_residual(&A, p.x.data()));
  mtx_free(&A);
}
