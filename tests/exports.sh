#!/bin/sh
# The shared libraries export what the public headers declare and nothing else, by a version: libkrylocl krylocl.h and krylocl/*.h,
# libkrylocl_mpi also krylocl_mpi.h. Every header compiles alone, in C and in C++. The version function agrees with the version
# macro. usage: exports.sh build/krylocl
cd "$(dirname "$0")/.." || exit 1
program=${1:?path of the program}
build=$(dirname "$program")
library=$build/libkrylocl.so.0
[ -f "$library" ] || library=$build/libkrylocl.0.dylib
[ -z "$SAN" ] || { echo "skipped: exported symbols: a sanitizer build"; exit 0; }
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0
verdict() { if [ "$1" -eq 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL $2"; fi; }

# Without comments, directives and bodies, a declaration ends at a semicolon: `type name(...)` or `extern type name`.
declared() { # HEADER
  sed '/^#/d; s|/\*[^*]*\*/||' "$1" | awk '/\/\*/ { c = 1 } !c; /\*\// { c = 0 }' | tr '\n' ' ' |
    sed 's/extern "C" {//' | awk 'BEGIN { RS = ";" }
      { open = gsub(/{/, "{"); close_ = gsub(/}/, "}"); inside = depth; depth += open - close_ }
      inside || open || close_ || $1 == "typedef" { next }
      $1 == "extern" { print $NF; next }
      match($0, /kcl_[a-z0-9_]+\(/) { print substr($0, RSTART, RLENGTH - 1) }'
}
# Defined symbols; a leading dot marks the compiler's own. -D: those of the dynamic table, which is all on macOS.
symbols() { nm -gP "$@" 2>/dev/null | awk '$2 ~ /^[TDRBVW]$/ && $1 !~ /^\./ { sub(/^_kcl/, "kcl", $1); sub(/@.*/, "", $1); print $1 }' | sort; }
compare() { # LIBRARY HEADER...
  [ -f "$1" ] || { echo "skipped: there is no $1"; return; }
  each=$1
  shift
  for header; do declared "$header"; done | sort >"$scratch/declared"
  symbols -D "$each" >"$scratch/exported"
  [ -s "$scratch/exported" ] || symbols "$each" >"$scratch/exported"
  [ "$(wc -l <"$scratch/declared")" -gt 40 ]; verdict $? "only $(wc -l <"$scratch/declared") declarations were found in $*"
  missing=$(comm -23 "$scratch/declared" "$scratch/exported" | tr '\n' ' ')
  [ -z "$missing" ]; verdict $? "$each: declared and not exported: $missing"
  extra=$(comm -13 "$scratch/declared" "$scratch/exported" | tr '\n' ' ')
  [ -z "$extra" ]; verdict $? "$each: exported and not declared: $extra"
}
compare "$library" include/krylocl.h include/krylocl/*.h
compare "$(dirname "$library")/$(basename "$library" | sed s/krylocl/krylocl_mpi/)" include/krylocl.h include/krylocl/*.h include/krylocl_mpi.h

compile_alone() { # HEADER COMPILER...
  header=$1
  shift
  command -v "$1" >/dev/null || { echo "skipped: $header: $1 is not installed"; return; }
  echo "#include <$header>" | "$@" -Wall -Wextra -Werror -Iinclude -fsyntax-only - 2>"$scratch/log"
  verdict $? "$header alone, $*: $(head -1 "$scratch/log")"
}
for header in krylocl.h $(cd include && ls krylocl/*.h); do
  compile_alone "$header" ${CC:-cc} -x c -std=c11 -pedantic
  compile_alone "$header" ${CXX:-c++} -x c++ -std=c++11 -pedantic
done
compile_alone krylocl_mpi.h "${MPICC:-mpicc}" -x c -std=c11
compile_alone krylocl_mpi.h "${MPICXX:-mpicxx}" -x c++ -std=c++11 -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX

if [ "${library%.0}" != "$library" ] && command -v readelf >/dev/null; then # of the version that goes with the library's name
  for each in "$library" "$build"/libkrylocl_mpi.so.0; do
    [ -f "$each" ] || continue
    readelf -W --dyn-syms "$each" | awk '$7 != "UND" && $8 ~ /^kcl_/ { print $8 }' >"$scratch/versions"
    [ -s "$scratch/versions" ] && ! grep -v '@@KRYLOCL_0$' "$scratch/versions"
    verdict $? "functions of $each without the version KRYLOCL_0"
  done
fi

macro=$(sed -n 's/.define KCL_VERSION "\(.*\)"/\1/p' include/krylocl.h)
[ ! -x "$program" ] || [ "$("$program" --version | head -1)" = "krylocl $macro" ]; verdict $? "krylocl --version is not $macro"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
