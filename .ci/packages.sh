#!/bin/sh
# Packages for `make demo`, `make check`, CI and lint. On Debian and Ubuntu missing ones are installed, with sudo if not root, and
# what each part weighs is printed; elsewhere, and without root, the list is printed. Never an error: the build continues with
# what is installed and names what is missing.
# usage: [MINIMAL=1] packages.sh demo|check|ci|lint|intel     MINIMAL: a compiler and cJSON alone
# shellcheck disable=SC2086 # lists of words
what=${1:?demo, check, ci, lint or intel}
has() { command -v "$1" >/dev/null 2>&1; }
has_package() { dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null | grep -qx installed; }
end() { printf '%s\n' "$@" "Continuing with what is installed."; exit 0; }

compiler=${CC:-gcc} compiler=${compiler##* } # without a word such as ccache
if ! has apt-get || ! has dpkg-query; then
  if has "$compiler" && has pkg-config && pkg-config --exists libcjson; then exit 0; fi
  end "Packages of this project, to be installed by hand on this system (gcc, make and cJSON are enough to begin with):" \
    "  Fedora  gcc make cjson-devel ocl-icd opencl-headers pocl libdeflate-devel suitesparse-devel openblas-devel" \
    "  Arch    gcc make pkgconf cjson ocl-icd opencl-headers pocl libdeflate suitesparse openblas" \
    "  macOS   brew install cjson libdeflate suite-sparse"
fi

# Missing packages, and a line for each part: what for, and its packages.
need='' parts=''
want() { # WHAT-FOR PACKAGE...
  missing='' what_for=$1
  shift
  for p; do has_package "$p" || missing="$missing $p"; done
  [ -z "$missing" ] || need="$need$missing" parts="$parts$what_for:$missing
"
}
want_command() { has "$2" || want "$1" "$3"; } # WHAT-FOR COMMAND PACKAGE
want_program() {
  set -- libc6-dev libcjson-dev
  has "$compiler" || set -- "$(basename "$compiler" | sed 's/^cc$/gcc/')" "$@"
  want 'the compiler and the program' "$@"
  case $compiler in *clang*) want 'sanitizers, libFuzzer and a linker' libclang-rt-dev lld ;; esac
}
want_parts() {
  want 'files that end in .gz' libdeflate-dev
  want 'OpenCL' ocl-icd-libopencl1 opencl-headers
  # A driver of a GPU will do as well.
  [ -n "$(find -L /etc/OpenCL/vendors -name '*.icd' 2>/dev/null)" ] || want 'OpenCL on the CPU' pocl-opencl-icd
  want 'direct solutions for --check' libsuitesparse-dev libopenblas0-pthread
}
want_tests() {
  want 'programs that call OpenCL themselves' ocl-icd-opencl-dev
  want 'ranks' libopenmpi-dev openmpi-bin libmetis-dev
  want_command 'C++' g++ g++
  want 'a solver of Eigen' libeigen3-dev
  want_command 'Fortran' gfortran gfortran
  python3 -c 'import html.parser, http.server, json, pty, termios' 2>/dev/null || want 'scripts of tests' python3
  # Its tests need scipy 1.12.
  case $(apt-cache policy python3-scipy 2>/dev/null | sed -n 's/^ *Candidate: //p') in
    '' | '(none)' | 0.* | 1.[0-9].* | 1.1[01].*) ;;
    *) python3 -c 'import cffi, numpy, pytest, scipy' 2>/dev/null || want 'the Python package' python3-cffi python3-numpy python3-scipy python3-pytest ;;
  esac
  want_command 'downloads' curl curl
  want_command 'pictures' gnuplot gnuplot-nox
}
case $what in
  demo | check | ci) want_program ;;
  intel) python3 -m pip --version >/dev/null 2>&1 || want "Intel's driver" python3-pip ;;
  lint)
    for c in clang-format clang-tidy cppcheck doxygen; do want_command 'lint' $c $c; done
    python3 -c 'import ensurepip' 2>/dev/null || want 'the site' python3-venv
    ;;
esac
if [ -z "$MINIMAL" ]; then
  case $what in demo | check | ci) want_parts ;; esac
  case $what in check | ci) want_tests ;; esac
  if [ "$what" = ci ]; then
    want_command 'races in kernels' oclgrind oclgrind
    want_command 'PNG' rsvg-convert librsvg2-bin
    want_command 'a project of CMake' cmake cmake
  fi
fi
[ -n "$need" ] || exit 0

# Whom to install as: root, or sudo, which may ask for a password on a terminal, before a line is redrawn.
root=
if [ "$(id -u)" != 0 ]; then
  root=sudo
  if ! has sudo || ! { sudo -n true 2>/dev/null || { [ -t 0 ] && sudo true; }; }; then
    end "Missing packages:$need" "Only root may install them:  apt-get install --no-install-recommends$need"
  fi
fi

log=$(mktemp) && trap 'rm -f "$log"' EXIT
busy() { # WHAT COMMAND...: its output is kept in $log
  line=$1
  shift
  LC_ALL=C sh "$(dirname "$0")/busy.sh" "$line" sh -c 'exec >"$0" 2>&1; exec "$@"' "$log" "$@"
}
once="-o Acquire::Retries=0 -o Acquire::http::Timeout=15 -o Acquire::https::Timeout=15 -o DPkg::Lock::Timeout=60"
busy "reading the package lists" $root apt-get $once update
grep -Eq '^(Hit|Get):' "$log" || end "Missing packages:$need" "The package lists could not be read (no network?): nothing was installed."

# --no-remove: another OpenCL loader is kept. What cannot be installed beside what is there is left out.
options="--no-remove --no-install-recommends"
plan() { LC_ALL=C apt-get install -o Debug::NoLocking=1 $options --assume-no "$@" 2>/dev/null; }
can() { LC_ALL=C apt-get install -s -o Debug::NoLocking=1 $options "$@" >/dev/null 2>&1; }
if ! can $need; then
  able='' unable=''
  for p in $need; do if can $able $p; then able="$able $p"; else unable="$unable $p"; fi; done
  need=$able
  echo "Not available here, or in conflict with what is installed:$unable"
  [ -n "$need" ] || end
fi

# One line per part: its packages, how many with those they need, and how much they weigh beside those of the lines above.
weight() { plan "$@" | awk '/newly installed/ { n = $3 }
  /additional disk space/ { gsub(",", "", $4); mb = $4 * ($5 == "GB" ? 1000 : $5 == "kB" ? 0.001 : 1) } END { printf "%d %.0f", n, mb }'; }
list='' before='0 0'
echo "Installing:"
while IFS=: read -r what_for packages; do
  now=
  for p in $packages; do case " $need " in *" $p "*) now="$now $p" ;; esac; done
  [ -n "$now" ] || continue
  list="$list$now" after=$(weight $list)
  echo "$before $after" | awk -v p="${now# }" -v f="$what_for" '{ printf "  %-46s %3d packages %4d MB  %s\n", p, $3 - $1, $4 - $2, f }'
  before=$after
done <<PARTS
$parts
PARTS
echo "$before" | awk '{ printf "  %-46s %3d packages %4d MB\n", "together", $1, $2 }'
[ "$what" != demo ] || [ -n "$MINIMAL" ] || echo "(make demo MINIMAL=1 installs a compiler and cJSON alone)"
begin=$(date +%s)
if busy "installing$need" $root env DEBIAN_FRONTEND=noninteractive apt-get $once install -y -qq $options $need; then
  echo "Installed in $(($(date +%s) - begin)) s."
else
  end "apt-get failed: $(grep -m 1 '^E:' "$log" || tail -n 1 "$log")"
fi
