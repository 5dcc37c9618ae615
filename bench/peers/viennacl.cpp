/* ViennaCL's conjugate gradients: pipelined on an OpenCL device, or with "host-" on the processors.
 * usage: viennacl A.mtx [[host-]csr|ell|sell|hyb]; threads of the host by OMP_NUM_THREADS.
 * The device is the first platform's, or the first one with the environment variable PEER_DEVICE in
 * its name, or in its platform's vendor or version. The pipelined loop has no OpenMP, so on the
 * processors the plain one runs, with an identity preconditioner.
 */
#define VIENNACL_WITH_OPENCL
#define VIENNACL_WITH_OPENMP
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

struct identity {
  template <class V> void apply(V &) const {}
};

template <class M> struct problem {
  M A;
  vcl::vector<double> b, x;
  bool host;
};

template <class M> static void solve(void *state, int iterations) {
  auto *p = static_cast<problem<M> *>(state);
  const vcl::linalg::cg_tag tag(0, static_cast<unsigned>(iterations));
  p->x = p->host ? vcl::linalg::solve(p->A, p->b, tag, identity())
                 : vcl::linalg::solve(p->A, p->b, tag);
  vcl::backend::finish();
}

template <class M> static void run(const std::string &name, const char *path, const mtx &A) {
  std::vector<std::map<unsigned, double>> rows(static_cast<size_t>(A.rows));
  for (int i = 0; i < A.rows; i++)
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++)
      rows[i].emplace_hint(rows[i].end(), static_cast<unsigned>(A.col[k]), A.val[k]);
  problem<M> p;
  p.host = vcl::backend::default_memory_type() == vcl::MAIN_MEMORY;
  vcl::copy(rows, p.A);
  rows.clear();
  p.b = vcl::scalar_vector<double>(static_cast<size_t>(A.rows), 1.0);
  peer_samples s = peer_measure(solve<M>, &p);
  std::vector<double> x(p.x.size());
  vcl::copy(p.x, x);
  peer_print(("viennacl " + name).c_str(), path, &A, PEER_ITERATIONS, &s,
             peer_residual(&A, NULL, x.data()));
}

static void choose_device(const char *wanted) {
  std::string found;
  for (auto &platform : vcl::ocl::get_platforms())
    for (auto &device : platform.devices(CL_DEVICE_TYPE_ALL)) {
      const std::string name = device.name() + " (" + platform.info() + ")";
      found += "\n  " + name;
      if (name.find(wanted) == std::string::npos) continue;
      vcl::ocl::setup_context(0, device);
      return;
    }
  fprintf(stderr, "viennacl: no device for PEER_DEVICE=%s among%s\n", wanted, found.c_str());
  exit(4);
}

int main(int argc, char **argv) {
  const char *usage = "viennacl A.mtx [[host-]csr|ell|sell|hyb]";
  const std::string name = argc > 2 ? argv[2] : "csr";
  const bool host = name.compare(0, 5, "host-") == 0;
  const std::string format = host ? name.substr(5) : name;
  peer_usage(argc == 2 || argc == 3, usage);
  if (host)
    vcl::backend::default_memory_type(vcl::MAIN_MEMORY);
  else if (getenv("PEER_DEVICE"))
    choose_device(getenv("PEER_DEVICE"));
  mtx A = mtx_read(argv[1]);
  if (format == "csr")
    run<vcl::compressed_matrix<double>>(name, argv[1], A);
  else if (format == "ell")
    run<vcl::ell_matrix<double>>(name, argv[1], A);
  else if (format == "sell")
    run<vcl::sliced_ell_matrix<double>>(name, argv[1], A);
  else if (format == "hyb")
    run<vcl::hyb_matrix<double>>(name, argv[1], A);
  else
    peer_usage(0, usage);
  mtx_free(&A);
}
