#!/bin/sh
# The Python package: its tests, the listing of docs/python.md, types, and scipy's own tests of its iterative methods with ours in place.
# PYTHON: an interpreter with cffi, numpy, scipy and pytest. Usage: tests/python.sh build/krylocl
tree=$(cd "$(dirname "$0")/.." && pwd) || exit 1
build=$(cd "$(dirname "$1")" && pwd) || exit 1
PYTHON=${PYTHON:-python3}
passed=0 failed=0 skipped=0

finish() {
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" -eq 0 ]
  exit
}
leave_out() {
  echo "skipped: $1"
  skipped=$((skipped + 1))
  finish
}
[ -z "$SAN" ] || leave_out "the sanitizer's library would have to be loaded before Python"
$PYTHON -c 'import cffi, numpy, pytest, scipy.sparse.linalg' 2>/dev/null || leave_out "$PYTHON has not all of cffi, numpy, scipy, pytest"
$PYTHON -c 'import scipy, sys; sys.exit(tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 12))' || leave_out "scipy is older than 1.12"

export KRYLOCL_LIBRARY="$build/libkrylocl.so.0" PYTHONPATH="$tree/python" PYTHONDONTWRITEBYTECODE=1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

# The counts of a run of pytest: its last line.
count() { # WHAT LOG
  n() { tail -n 1 "$2" | grep -oE "[0-9]+ $1" | cut -d' ' -f1 | head -n 1; }
  p=$(n passed "$2") f=$(n failed "$2") e=$(n error "$2") s=$(n skipped "$2")
  passed=$((passed + ${p:-0})) failed=$((failed + ${f:-0} + ${e:-0})) skipped=$((skipped + ${s:-0}))
  [ "$((${p:-0} + ${s:-0}))" -gt 0 ] && [ "$((${f:-0} + ${e:-0}))" -eq 0 ] && return
  [ "$((${f:-0} + ${e:-0}))" -gt 0 ] || failed=$((failed + 1))
  echo "FAIL $1"
  tail -n 40 "$2"
}
cd "$tmp" || exit 1
$PYTHON -m pytest -q -rs -p no:cacheprovider --doctest-modules --rootdir="$tree/python" -c "$tree/python/pyproject.toml" "$tree/python/tests" \
  "$tree/python/krylocl" >tests.log 2>&1
count "python/tests" tests.log
$PYTHON -m pytest -q -p no:cacheprovider --doctest-glob='*.md' --rootdir="$tree/docs" -c /dev/null "$tree/docs/python.md" >docs.log 2>&1
count "docs/python.md" docs.log
KRYLOCL_DEVICE=cpu $PYTHON "$tree/python/tests/scipy_suite.py" >suite.log 2>&1
grep '^skipped: ' suite.log
count "scipy's own tests" suite.log
if $PYTHON -m mypy --version >/dev/null 2>&1; then
  if (cd "$tree/python" && $PYTHON -m mypy --cache-dir="$tmp/mypy") >types.log 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL mypy --strict" && cat types.log
  fi
fi
finish
