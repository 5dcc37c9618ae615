#!/bin/sh
# The Fortran module: tests/fortran/solve.f90 on both devices, and the listing of docs/fortran.md. usage: tests/fortran.sh build/krylocl
cd "$(dirname "$0")/.." || exit 1
. tests/languages.inc

if ! command -v gfortran >/dev/null 2>&1; then
  skip "gfortran is not installed"
elif case $SAN,$CC in ?*,*clang*) true ;; *) false ;; esac then
  skip "gfortran does not link with the sanitizers of clang"
else
  listing fortran poisson >"$folder/poisson.f90"
  ${CC:-cc} $san -Iinclude -c tests/fortran/sizes.c -o "$folder/sizes.o"
  check $? "sizes.c does not compile"
  for source in tests/fortran/solve.f90 "$folder/poisson.f90"; do
    program=$folder/$(basename "$source" .f90) functions=
    [ "$source" != tests/fortran/solve.f90 ] || functions=tests/fortran/operators.f90
    # shellcheck disable=SC2086 # lists of words
    gfortran -std=f2008 -Wall -Wextra -Werror -Wno-compare-reals -Wno-function-elimination -O1 $san -J"$folder" include/krylocl.f90 $functions "$source" "$folder/sizes.o" \
      -o "$program" $libraries >"$folder/err" 2>&1
    check $? "$source: $(grep -B4 -m 3 Error "$folder/err")"
  done
  [ ! -x "$folder/solve" ] || run "solve, cpu" "$folder/solve" cpu "$folder/solve.kck"
  if [ ! -x "$1" ] || ! "$1" devices 2>/dev/null | grep -q '^0:0'; then
    skip "no OpenCL device"
  else
    run "solve, opencl" "$folder/solve" opencl "$folder/solve.kck"
  fi
  KRYLOCL_DEVICE=cpu "$folder/poisson" >"$folder/out" 2>&1
  check $? "docs/fortran.md: $(cat "$folder/out")"
fi
verdict
