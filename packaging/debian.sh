#!/bin/sh
# Debian packages of the last commit: libkrylocl0, libkrylocl-dev and krylocl, from the tarball of `make dist` and packaging/debian,
# in FOLDER, with lintian. For each SUITE (bookworm, trixie) they are then installed into a bare system of that suite, FOLDER/SUITE,
# as root: a solve without a loader of OpenCL and with one, and programs by pkg-config and CMake, linked shared and static.
# usage: packaging/debian.sh FOLDER [SUITE...]      needs debhelper, lintian, the Build-Depends of packaging/debian/control; debootstrap
set -eu
[ $# -gt 0 ] || { sed -n '2,5s/^# //p' "$0" && exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")/.."

version=$(sed -n 's/.define KCL_VERSION "\(.*\)"/\1/p' include/krylocl.h)
make -s dist
mv "krylocl-$version.tar.gz" "$folder/krylocl_$version.orig.tar.gz"
rm -rf "$folder/krylocl-$version"
tar xf "$folder/krylocl_$version.orig.tar.gz" -C "$folder"
cp -r "$folder/krylocl-$version/packaging/debian" "$folder/krylocl-$version"
(cd "$folder/krylocl-$version" && dpkg-buildpackage -us -uc)
lintian --allow-root --fail-on error "$folder"/krylocl_"$version"-*.changes

cat >"$folder/example.c" <<'C'
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
cat >"$folder/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.13)
project(example C)
find_package(krylocl ${version%.*} REQUIRED)
foreach(kind krylocl static)
  add_executable(with_\${kind} example.c)
  target_link_libraries(with_\${kind} krylocl::\${kind})
endforeach()
CMAKE
cat >"$folder/try.sh" <<'TRY'
set -eux
export DEBIAN_FRONTEND=noninteractive
cd /packages
apt-get update -qq
apt-get install -y -qq --no-install-recommends ./libkrylocl0_*.deb ./krylocl_*.deb >log
krylocl generate poisson2d:50 -q -o A.mtx
krylocl solve A.mtx --check direct
krylocl devices | grep 'libOpenCL.so.1 was not found'
apt-get install -y -qq --no-install-recommends ocl-icd-libopencl1 >log
krylocl devices | grep 'no driver is registered'
apt-get install -y -qq --no-install-recommends ./libkrylocl-dev_*.deb gcc libc6-dev pkg-config cmake make libdeflate-dev libsuitesparse-dev >log
gcc example.c -o shared $(pkg-config --cflags --libs krylocl)
cmake -S . -B cmake >log
cmake --build cmake >log
for program in shared cmake/with_krylocl cmake/with_static; do "./$program"; done
if ldd cmake/with_static | grep libkrylocl; then exit 1; fi
echo "krylocl works on $(. /etc/os-release && echo "$PRETTY_NAME")"
TRY
for suite; do
  system=$folder/$suite
  rm -rf --one-file-system "$system"
  debootstrap --variant=minbase "$suite" "$system" >"$folder/$suite.log"
  mkdir "$system/packages"
  cp "$folder"/*_"$version"-*.deb "$folder/example.c" "$folder/CMakeLists.txt" "$folder/try.sh" "$system/packages"
  cp /etc/resolv.conf "$system/etc"
  chroot "$system" sh /packages/try.sh
done
