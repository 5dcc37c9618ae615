/* Eigen's conjugate gradients: row-major, both triangles (the parallel product), no preconditioner.
 * usage: eigen A.mtx; threads by OMP_NUM_THREADS. Tolerance 0: stops at the iteration limit.
 */
#include "peer.h"
#include <Eigen/IterativeLinearSolvers>

using matrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;
using cg =
    Eigen::ConjugateGradient<matrix, Eigen::Lower | Eigen::Upper, Eigen::IdentityPreconditioner>;

struct problem {
  matrix A;
  Eigen::VectorXd b, x;
  cg solver;
};

static void solve(void *state, int iterations) {
  problem *p = static_cast<problem *>(state);
  p->solver.setMaxIterations(iterations);
  p->x = p->solver.solve(p->b);
}

int main(int argc, char **argv) {
  peer_usage(argc == 2, "eigen A.mtx");
  mtx A = mtx_read(argv[1]);
  problem p;
  p.A = Eigen::Map<matrix>(A.rows, A.rows, A.nnz, A.ptr, A.col, A.val);
  p.b = Eigen::VectorXd::Ones(A.rows);
  p.solver.setTolerance(0);
  p.solver.compute(p.A);
  peer_samples s = peer_measure(solve, &p);
  peer_print("eigen", argv[1], &A, PEER_ITERATIONS, &s, peer_residual(&A, NULL, p.x.data()));
  mtx_free(&A);
}
