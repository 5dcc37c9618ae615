#!/bin/sh
# Programs of tests/programs: uses of krylocl.h by C, C++ and Fortran, each a small one. They see the installed headers alone, and run on
# the native executor and on the first OpenCL device. usage: tests/programs.sh build/krylocl
cd "$(dirname "$0")/.." || exit 1
. tests/languages.inc

opencl= # of programs that call OpenCL themselves
for library in -lOpenCL '-framework OpenCL'; do
  [ -n "$opencl" ] || ! echo 'int main(void) { return 0; }' | ${CC:-cc} -x c - -o "$folder/probe" $library 2>/dev/null || opencl=$library
done
compile() { # SOURCE COMPILER...
  source=$1 program=$folder/$(basename "${1%.*}")
  case $source in */buffers.c) own=$opencl ;; *) own= ;; esac
  shift
  # shellcheck disable=SC2086 # lists of words
  "$@" -O1 -g1 -Wall -Wextra $san -Iinclude "$source" -o "$program" $libraries $own >"$folder/err" 2>&1
  check $? "$source does not compile: $(head -5 "$folder/err")"
}

case ${CC:-gcc} in *clang*) cxx=clang++ ;; *) cxx=g++ ;; esac
has() { command -v "$1" >/dev/null 2>&1; }
for source in tests/programs/*.c tests/programs/*.cpp tests/programs/*.f90; do
  case $source in
    */buffers.c)
      if [ -n "$opencl" ] && echo '#include <CL/cl.h>' | ${CC:-cc} -x c -fsyntax-only - 2>/dev/null; then compile "$source" ${CC:-cc} -std=c11 -Werror
      else skip "buffers: no OpenCL to link with"; fi ;;
    *.c) compile "$source" ${CC:-cc} -std=c11 -Wpedantic -Werror ;;
    *.cpp) if has $cxx; then compile "$source" $cxx -std=c++17 -Werror; else skip "no C++ compiler ($cxx)"; fi ;;
    *)
      if ! has gfortran; then skip "gfortran is not installed"
      elif case $SAN,$cxx in ?*,clang*) true ;; *) false ;; esac then skip "gfortran does not link with the sanitizers of clang"
      else compile "$source" gfortran -std=f2008 -Werror -J"$folder" -Wno-compare-reals -Wno-function-elimination -Wno-maybe-uninitialized include/krylocl.f90; fi ;;
  esac
done

try() { # DEVICE PROGRAM ARGUMENTS...
  [ -x "$folder/$2" ] || return
  device=$1 name=$2
  shift 2
  (cd "$folder" && KRYLOCL_DEVICE=$device "./$name" "$@") >"$folder/out" 2>&1
  check $? "$name $* on $device: $(tail -3 "$folder/out")"
}
opencl_device=
if [ -x "$1" ] && "$1" devices 2>/dev/null | grep -q '^0:0'; then opencl_device=opencl; else skip "no OpenCL device"; fi
for device in cpu $opencl_device; do
  for program in entries heat newton matrix_free preconditioner threads tolerances columns mistakes config objects poisson; do
    try $device $program
  done
  try $device config solver.cfg precond=ic # the command line above all
  for keep in -1 0 1 3; do try $device heat 40 5 'solver=cg precond=ic' $keep; done
done
[ -z "$opencl_device" ] || try opencl buffers
verdict
