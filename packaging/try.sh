#!/bin/sh
# In a bare Debian, as root: packages of krylocl in this folder are installed and used. The program without an OpenCL loader and with
# one; C programs by pkg-config and CMake, linked shared and static; ranks; Python. Then the tarball is built without the packages.
# usage: packaging/try.sh VERSION
# shellcheck disable=SC2046,SC1091 # lists of words; a file of the system
set -eux
export DEBIAN_FRONTEND=noninteractive
get() { apt-get install -y -qq --no-install-recommends "$@" >log 2>&1 || { cat log && exit 1; }; }
apt-get update -qq
get ./libkrylocl0_*.deb ./krylocl_*.deb
krylocl generate poisson2d:50 -q -o A.mtx
krylocl solve A.mtx --check direct
krylocl devices | grep 'libOpenCL.so.1 was not found'
get ocl-icd-libopencl1
krylocl devices | grep 'no driver is registered'

cat >example.c <<'C'
#include <krylocl/io.h>
#include <stdio.h>

int main(void) {
  static double b[2500], x[2500];
  kcl_context *c = NULL;
  kcl_csr *system = NULL;
  kcl_matrix *A = NULL;
  kcl_solver *s = NULL;
  kcl_result r = {.size = sizeof r};
  for (int i = 0; i < 2500; i++) b[i] = 1;
  int rc = kcl_context_create(NULL, 0, &c);
  if (!rc) rc = kcl_generate(c, "poisson2d:50", &system, NULL);
  if (!rc) rc = kcl_matrix_lend(c, system, &A);
  if (!rc) rc = kcl_solver_create(A, NULL, NULL, &s);
  if (!rc) rc = kcl_solve_array(s, b, x, &r);
  if (rc) fprintf(stderr, "%s\n", kcl_error());
  kcl_solver_free(&s), kcl_matrix_free(&A), kcl_csr_free(&system), kcl_context_free(&c);
  return rc || !r.converged;
}
C
cat >ranks.c <<'C'
#include <krylocl_mpi.h>
#include <stdio.h>

enum { ROWS = 1000 }; /* of each rank, of the matrix -1, 3, -1 */

int main(int argc, char **argv) {
  static int32_t start[ROWS + 1], col[3 * ROWS];
  static double val[3 * ROWS], b[ROWS], x[ROWS];
  int rank, ranks, provided, k = 0;
  kcl_context *c = NULL;
  kcl_matrix *A = NULL;
  kcl_solver *s = NULL;
  kcl_result r = {.size = sizeof r};
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < ROWS; i++) {
    const int row = rank * ROWS + i;
    for (int j = row - 1; j <= row + 1; j++)
      if (j >= 0 && j < ranks * ROWS) col[k] = j, val[k++] = j == row ? 3 : -1;
    start[i + 1] = k, b[i] = 1;
  }
  kcl_entries e = {.size = sizeof e, .rows = ROWS, .cols = ranks * ROWS, .nnz = k, .row = start, .col = col, .val = val,
                   .layout = KCL_CSR, .row_bits = 32, .col_bits = 32, .type = 'd'};
  int rc = kcl_context_create_mpi(MPI_COMM_WORLD, "cpu", 1, &c);
  if (!rc) rc = kcl_matrix_create(c, &e, &A);
  if (!rc) rc = kcl_solver_create(A, NULL, NULL, &s);
  if (!rc) rc = kcl_solve_array(s, b, x, &r);
  if (rc) fprintf(stderr, "%s\n", kcl_error());
  kcl_solver_free(&s), kcl_matrix_free(&A), kcl_context_free(&c);
  MPI_Finalize();
  return rc || !r.converged;
}
C
cat >CMakeLists.txt <<CMAKE
cmake_minimum_required(VERSION 3.13)
project(example C)
find_package(krylocl ${1%.*} REQUIRED)
foreach(kind krylocl static)
  add_executable(with_\${kind} example.c)
  target_link_libraries(with_\${kind} krylocl::\${kind})
endforeach()
CMAKE
get ./libkrylocl-dev_*.deb gcc libc6-dev pkg-config cmake make libdeflate-dev libsuitesparse-dev
gcc example.c -o shared $(pkg-config --cflags --libs krylocl)
cmake -S . -B cmake >log
cmake --build cmake >log
for program in shared cmake/with_krylocl cmake/with_static; do "./$program"; done
if ldd cmake/with_static | grep libkrylocl; then exit 1; fi

get ./libkrylocl-mpi0_*.deb ./libkrylocl-mpi-dev_*.deb mpi-default-bin
gcc ranks.c -o ranks $(pkg-config --cflags --libs krylocl_mpi)
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n 2 ./ranks

get ./python3-krylocl_*.deb
python3 -c '
import krylocl, numpy, scipy.sparse, sys
assert "pycparser" not in sys.modules
A, b = krylocl.generate("poisson2d:50")
x, info = krylocl.linalg.cg(A, b, rtol=1e-10)
assert info == 0 and numpy.linalg.norm(b - A @ x) <= 1.01e-10 * numpy.linalg.norm(b)
print("Python", krylocl.__version__)'

apt-get purge -y -qq '*krylocl*' >log
get libcjson-dev opencl-headers
tar xf "krylocl_$1.orig.tar.gz"
cd "krylocl-$1"
make -s -j"$(nproc)"
make -s install >/dev/null
cd ..
ldconfig
/usr/local/bin/krylocl solve A.mtx --check direct
gcc example.c -o own $(PKG_CONFIG_PATH=/usr/local/lib/pkgconfig pkg-config --cflags --libs krylocl)
./own
echo "krylocl works on $(. /etc/os-release && echo "$PRETTY_NAME")"
