#!/bin/sh
# The C++ interface: programs of tests/cxx and the listings of docs/cxx.md, by each C++ compiler that is installed; what needs Eigen
# or deal.II where these are. usage: tests/cxx.sh build/krylocl
cd "$(dirname "$0")/.." || exit 1
. tests/languages.inc

# With sanitizers the compiler of the library alone, whose run-time library it needs.
case ${CC:-gcc} in *clang*) own=clang++ ;; *) own=g++ ;; esac
compilers=$own
[ -n "$SAN" ] || compilers="g++ clang++"
has() { echo "#include <$1>" | $compiler -x c++ -std=c++17 -fsyntax-only $flags - 2>/dev/null; }
compile() { # SOURCE PROGRAM OPTIONS...
  source=$1 program=$2
  shift 2
  # shellcheck disable=SC2086 # lists of words
  $compiler -std=c++17 -O1 -g1 -Wall -Wextra -Wshadow -Werror $san -Iinclude -Itests/cxx $flags "$source" -o "$program" $libraries "$@" >"$folder/err" 2>&1
  check $? "$compiler: $source: $(head -5 "$folder/err")"
}

found=
for compiler in $compilers; do
  command -v $compiler >/dev/null 2>&1 || continue
  found=1 flags=
  for f in /usr/include/eigen3 /usr/local/include/eigen3 /opt/homebrew/include/eigen3; do [ ! -d $f ] || flags="-isystem $f"; done
  for test in objects functions eigen; do
    if [ $test = eigen ] && ! has Eigen/SparseCore; then skip "Eigen is not installed (libeigen3-dev)"; continue; fi
    compile tests/cxx/$test.cpp "$folder/$test" && [ -x "$folder/$test" ] && run "$test, $compiler" "$folder/$test"
  done
  for example in heat operators; do
    listing cxx $example >"$folder/$example.cpp"
    compile "$folder/$example.cpp" "$folder/$example"
    [ ! -x "$folder/$example" ] || { KRYLOCL_DEVICE=cpu "$folder/$example" >"$folder/out" 2>&1; check $? "docs/cxx.md, $example: $(cat "$folder/out")"; }
  done
  if has Eigen/SparseCore; then
    listing cxx eigen >"$folder/page.cpp"
    compile "$folder/page.cpp" "$folder/page"
    [ ! -x "$folder/page" ] || { KRYLOCL_DEVICE=cpu "$folder/page" >"$folder/out" 2>&1; check $? "docs/cxx.md, eigen: $(cat "$folder/out")"; }
  fi
done
[ -n "$found" ] || skip "no C++ compiler ($compilers)"

# deal.II brings 1.6 GB: never installed for a test. Its headers are not free of warnings.
compiler=$own flags="$(pkg-config --cflags --libs mpi-cxx 2>/dev/null) -isystem /usr/include/trilinos"
if [ -n "$SAN" ] || ! command -v $compiler >/dev/null 2>&1 || ! has deal.II/lac/solver_cg.h; then
  skip "deal.II is not installed (libdeal.ii-dev), or a sanitizer build"
else
  listing cxx dealii >"$folder/dealii.cpp"
  # shellcheck disable=SC2086 # lists of words
  $compiler -std=c++17 -O1 -Iinclude "$folder/dealii.cpp" -o "$folder/dealii" $libraries -Wl,--copy-dt-needed-entries -ldeal.ii -ltbb $flags >"$folder/err" 2>&1
  check $? "deal.II: $(grep -m 5 -E 'error|undefined' "$folder/err")"
  [ ! -x "$folder/dealii" ] || { KRYLOCL_DEVICE=cpu "$folder/dealii" >"$folder/out" 2>&1; check $? "docs/cxx.md, dealii: $(cat "$folder/out")"; cat "$folder/out"; }
fi
verdict
