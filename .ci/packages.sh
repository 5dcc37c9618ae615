#!/bin/sh
# What `make demo` and `make check` need. On Debian and Ubuntu whatever is missing is installed (with
# sudo when not root); elsewhere the list is printed. Never an error: the build says what it lacks.
# usage: packages.sh demo|check|lint
what=${1:?demo, check or lint}
has() { command -v "$1" >/dev/null 2>&1; }

if ! has apt-get || ! has dpkg-query; then
  if ! has gnuplot || ! has pkg-config; then
    cat <<'LIST'
Packages of this project, to be installed by hand here:
  Fedora  gcc make 'pkgconfig(OpenCL)' pocl zlib-devel libdeflate-devel cjson-devel suitesparse-devel gnuplot
  Arch    gcc make opencl-headers ocl-icd pocl zlib libdeflate cjson suitesparse openblas gnuplot
  macOS   brew install libomp libdeflate cjson suite-sparse gnuplot
Going on with what is there.
LIST
  fi
  exit 0
fi

# Commands may come from anywhere; libraries are looked up by package.
need=
for pair in "${CC:-gcc}:$(basename "${CC:-gcc}" | sed 's/^cc$/gcc/')" gnuplot:gnuplot-nox; do
  has "${pair%%:*}" || need="$need ${pair#*:}"
done
libraries="libc6-dev ocl-icd-opencl-dev opencl-headers pocl-opencl-icd zlib1g-dev libdeflate-dev
  libcjson-dev libsuitesparse-dev libopenblas0"
case ${CC:-gcc} in *clang*) libraries="$libraries libomp-dev" ;; esac
case $what in
  check) has oclgrind || need="$need oclgrind" ;;
  lint) for c in clang-format clang-tidy cppcheck; do has $c || need="$need $c"; done ;;
esac
[ "$what" = lint ] || for p in $libraries; do
  dpkg-query -W -f='${db:Status-Status}' "$p" 2>/dev/null | grep -qx installed || need="$need $p"
done
[ -n "$need" ] || exit 0

root=
[ "$(id -u)" = 0 ] || root=sudo
echo "Installing what is missing:$need"
if [ -n "$root" ] && ! has sudo; then
  echo "Neither root nor sudo: run  apt-get install$need  as root. Going on with what is there."
  exit 0
fi
# --no-remove: a machine with another OpenCL loader keeps it, and the rest is installed one by one.
get() { $root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-remove --no-install-recommends "$@" >/dev/null; }
$root apt-get update -qq || echo "The package lists could not be renewed."
# shellcheck disable=SC2086 # a list of words
get $need || for p in $need; do get "$p" || echo "Not installed: $p"; done
exit 0
