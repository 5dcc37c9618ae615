/* ViennaCL's pipelined conjugate gradients on its default OpenCL device (the first platform's;
 * OCL_ICD_VENDORS chooses another driver). usage: viennacl A.mtx [csr|ell|sell|hyb]
 */
#define VIENNACL_WITH_OPENCL
#include "peer.h"
#include <map>
#include <string>
#include <vector>
#include <viennacl/compressed_matrix.hpp>
#include <viennacl/ell_matrix.hpp>
#include <viennacl/hyb_matrix.hpp>
#include <viennacl/linalg/cg.hpp>
#include <viennacl/sliced_ell_matrix.hpp>
#include <viennacl/vector.hpp>

namespace vcl = viennacl;

template <class M> struct problem {
  M A;
  vcl::vector<double> b, x;
};

template <class M> static void solve(void *state, int iterations) {
  auto *p = static_cast<problem<M> *>(state);
  p->x = vcl::linalg::solve(p->A, p->b, vcl::linalg::cg_tag(0, static_cast<unsigned>(iterations)));
  vcl::backend::finish();
}

template <class M> static void run(const std::string &format, const char *path, const mtx &A) {
  std::vector<std::map<unsigned, double>> rows(static_cast<size_t>(A.rows));
  for (int i = 0; i < A.rows; i++)
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++)
      rows[i].emplace_hint(rows[i].end(), static_cast<unsigned>(A.col[k]), A.val[k]);
  problem<M> p;
  vcl::copy(rows, p.A);
  rows.clear();
  p.b = vcl::scalar_vector<double>(static_cast<size_t>(A.rows), 1.0);
  peer_samples s = peer_measure(solve<M>, &p);
  std::vector<double> x(p.x.size());
  vcl::copy(p.x, x);
  peer_print(("viennacl " + format).c_str(), path, &A, PEER_ITERATIONS, &s,
             peer_residual(&A, x.data()));
}

int main(int argc, char **argv) {
  const std::string format = argc > 2 ? argv[2] : "csr";
  peer_usage(argc == 2 || argc == 3, "viennacl A.mtx [csr|ell|sell|hyb]");
  mtx A = mtx_read(argv[1]);
  if (format == "csr")
    run<vcl::compressed_matrix<double>>(format, argv[1], A);
  else if (format == "ell")
    run<vcl::ell_matrix<double>>(format, argv[1], A);
  else if (format == "sell")
    run<vcl::sliced_ell_matrix<double>>(format, argv[1], A);
  else if (format == "hyb")
    run<vcl::hyb_matrix<double>>(format, argv[1], A);
  else
    peer_usage(0, "viennacl A.mtx [csr|ell|sell|hyb]");
  mtx_free(&A);
}
