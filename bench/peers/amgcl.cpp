/* AMGCL's conjugate gradients on its builtin (OpenMP) backend, without preconditioner.
 * usage: amgcl A.mtx [sa|rs]; sa, rs: CG with AMGCL's multigrid by smoothed aggregation or Ruge-Stueben, SPAI(0), once, to
 * 1e-8, b = A 1; threads by OMP_NUM_THREADS. Column indices are 32 bits, as in the other peers
 * (default: 64). Old versions need Boost's headers; later ones are compiled without.
 */
#define AMGCL_NO_BOOST
#include "peer.h"
#include <amgcl/backend/builtin.hpp>
#include <amgcl/amg.hpp>
#include <amgcl/coarsening/ruge_stuben.hpp>
#include <amgcl/coarsening/smoothed_aggregation.hpp>
#include <amgcl/make_solver.hpp>
#include <amgcl/relaxation/spai0.hpp>
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

#ifndef AMGCL_COARSENING /* what a coarsening is: a class, in later versions a template */
#define AMGCL_COARSENING template <class> class
#endif
template <AMGCL_COARSENING Coarsening>
static void run_multigrid(const char *name, const char *path, const mtx &A) {
  using amg = amgcl::amg<backend, Coarsening, amgcl::relaxation::spai0>;
  using multigrid = amgcl::make_solver<amg, amgcl::solver::cg<backend>>;
  const size_t n = static_cast<size_t>(A.rows);
  double *b = peer_row_sums(&A);
  matrix M(n, n, std::vector<int>(A.ptr, A.ptr + n + 1), std::vector<int>(A.col, A.col + A.nnz),
           std::vector<double>(A.val, A.val + A.nnz));
  std::vector<double> f(b, b + n), x(n, 0.0);
  typename multigrid::params prm;
  prm.solver.tol = 1e-8;
  prm.solver.maxiter = 1000;
  peer_run r;
  const double start = peer_now();
  multigrid cycle(M, prm);
  const double ready = peer_now();
  using std::get; /* or that of Boost's tuples */
  r.iterations = static_cast<int>(get<0>(cycle(f, x)));
  r.setup = ready - start, r.solve = peer_now() - ready;
  peer_print_run(name, path, &r, peer_residual(&A, b, x.data()));
  free(b);
}

int main(int argc, char **argv) {
  const char *amg = argc == 3 ? argv[2] : "";
  peer_usage(argc == 2 || !strcmp(amg, "sa") || !strcmp(amg, "rs"), "amgcl A.mtx [sa|rs]");
  mtx A = mtx_read(argv[1]);
  if (!strcmp(amg, "sa"))
    return run_multigrid<amgcl::coarsening::smoothed_aggregation>("AMGCL SA", argv[1], A), 0;
  if (!strcmp(amg, "rs"))
    return run_multigrid<amgcl::coarsening::ruge_stuben>("AMGCL RS", argv[1], A), 0;
  problem p(A, static_cast<size_t>(A.rows));
  peer_samples s = peer_measure(solve, &p);
  peer_print("amgcl", argv[1], &A, PEER_ITERATIONS, &s, peer_residual(&A, NULL, p.x.data()));
  mtx_free(&A);
}
