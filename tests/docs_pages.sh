#!/bin/sh
# The first pages, tutorials and how-to pages, followed literally with the installed library: every listing and command.
# PYTHON: an interpreter with cffi, numpy and scipy. usage: tests/docs_pages.sh build/krylocl
cd "$(dirname "$0")/.." || exit 1
[ -z "$SAN" ] || { echo "skipped: the installed library: a sanitizer build"; exit 0; }
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
passed=0 failed=0
verdict() { if [ "$1" -eq 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL $2"; fi; }
. tests/pages.inc

# Under `make check` MAKEFLAGS has options that are not for this make.
MAKEFLAGS= make -s install PREFIX="$dir/prefix" DESTDIR= ${BUILD:+BUILD="$BUILD"} ${CC:+CC="$CC"} >"$dir/log" 2>&1
verdict $? "make install: $(tail -3 "$dir/log")"
mkdir "$dir/bin"
tool() { printf '#!/bin/sh\nexec %s "$@"\n' "$2" >"$dir/bin/$1" && chmod +x "$dir/bin/$1"; }
tool cc "${CC:-gcc} -std=c11 -Wall -Wextra -Werror"
tool python3 "${PYTHON:=python3}"
python=
$PYTHON -c 'import cffi, numpy, scipy, sys; sys.exit(tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 12))' 2>/dev/null && python=1
absent() { # COMMAND: a tool that it needs is not there
  case $1 in
    *arrays.py) [ -z "$python" ] || ! $PYTHON -c 'import pyopencl; pyopencl.get_platforms()[0].get_devices()[0]' 2>/dev/null ;;
    python3* | *'| python3'*) [ -z "$python" ] ;;
    *pkg-config* | ./*) ! command -v pkg-config >/dev/null 2>&1 ;;
    *--check* | 'krylocl check'*) ! "$dir/prefix/bin/krylocl" version | grep -q CHOLMOD ;;
    cmake* | *'cmake --build'*) ! command -v cmake >/dev/null 2>&1 ;;
    *) false ;;
  esac
}
export PATH="$dir/bin:$dir/prefix/bin:$PATH" PKG_CONFIG_PATH="$dir/prefix/lib/pkgconfig" LD_LIBRARY_PATH="$dir/prefix/lib" \
  DYLD_LIBRARY_PATH="$dir/prefix/lib" CMAKE_PREFIX_PATH="$dir/prefix" PYTHONPATH="$PWD/python" KRYLOCL_LIBRARY="$dir/prefix/lib/libkrylocl.so.0" \
  PYTHONDONTWRITEBYTECODE=1 KRYLOCL_DEVICE=cpu KRYLOCL_CACHE=
for page in first coming cluster tutorial_c tutorial_python time_stepping own_preconditioner vectors devices output json cmake course check; do
  [ -z "$ONLY_PAGE" ] || [ "$ONLY_PAGE" = $page ] || continue
  session docs/$page.md
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
