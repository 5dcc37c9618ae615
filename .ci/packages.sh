#!/bin/sh
# Packages for `make demo`, `make check` and lint. On Debian and Ubuntu missing ones are installed (with sudo if
# not root); elsewhere the list is printed. Never an error: the build names what is missing.
# usage: packages.sh demo|check|lint|intel
what=${1:?demo, check, lint or intel}
has() { command -v "$1" >/dev/null 2>&1; }

if ! has apt-get || ! has dpkg-query; then
  if ! has gnuplot || ! has pkg-config; then
    cat <<'LIST'
Packages of this project, to be installed by hand on this system:
  Fedora  gcc make 'pkgconfig(OpenCL)' pocl zlib-devel libdeflate-devel cjson-devel suitesparse-devel gnuplot
  Arch    gcc make opencl-headers ocl-icd pocl zlib libdeflate cjson suitesparse openblas gnuplot
  macOS   brew install libdeflate cjson suite-sparse gnuplot
Continuing with what is installed.
LIST
  fi
  exit 0
fi

# Commands are looked up in the path, libraries by package.
need=
compiler=${CC:-gcc} compiler=${compiler##* } # without a word such as ccache
for pair in "$compiler:$(basename "$compiler" | sed 's/^cc$/gcc/')" gnuplot:gnuplot-nox; do
  has "${pair%%:*}" || need="$need ${pair#*:}"
done
libraries="libc6-dev ocl-icd-opencl-dev opencl-headers pocl-opencl-icd zlib1g-dev libdeflate-dev
  libcjson-dev libsuitesparse-dev libopenblas0"
case $compiler in *clang*) libraries="$libraries libclang-rt-dev lld" ;; esac # sanitizers, libFuzzer; a linker
case $what in
  check)
    has oclgrind || need="$need oclgrind"
    has rsvg-convert || need="$need librsvg2-bin"
    libraries="$libraries libopenmpi-dev openmpi-bin libmetis-dev"
    ;;
  intel) python3 -m pip --version >/dev/null 2>&1 || need="$need python3-pip"; libraries= ;;
  lint) for c in clang-format clang-tidy cppcheck doxygen; do has $c || need="$need $c"; done; libraries= ;;
esac
for p in $libraries; do
  dpkg-query -W -f='${db:Status-Status}' "$p" 2>/dev/null | grep -qx installed || need="$need $p"
done
[ -n "$need" ] || exit 0

root=
[ "$(id -u)" = 0 ] || root=sudo
echo "Installing missing packages:$need"
if [ -n "$root" ] && ! has sudo; then
  echo "Neither root nor sudo: run  apt-get install$need  as root. Continuing with what is installed."
  exit 0
fi
# --no-remove: another OpenCL loader is kept, and the other packages are installed one by one.
busy() { sh "$(dirname "$0")/busy.sh" "$@"; }
get() { busy "installing $*" $root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-remove --no-install-recommends "$@" >/dev/null; }
[ -z "$root" ] || sudo true # the password, before a line is redrawn
busy "reading the package lists" $root apt-get update -qq || echo "The package lists could not be updated."
# shellcheck disable=SC2086 # a list of words
get $need || for p in $need; do get "$p" || echo "Not installed: $p"; done
exit 0
