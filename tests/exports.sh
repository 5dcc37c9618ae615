#!/bin/sh
# The shared library exports what include/krylocl.h declares and nothing else; the version function agrees with the
# version macro. usage: exports.sh build/krylocl
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
sed '/^#/d; s|/\*[^*]*\*/||' include/krylocl.h | awk '/\/\*/ { c = 1 } !c; /\*\// { c = 0 }' | tr '\n' ' ' |
  sed 's/extern "C" {//' | awk 'BEGIN { RS = ";" }
    { open = gsub(/{/, "{"); close_ = gsub(/}/, "}"); inside = depth; depth += open - close_ }
    inside || open || close_ || $1 == "typedef" { next }
    $1 == "extern" { print $NF; next }
    match($0, /kcl_[a-z0-9_]+\(/) { print substr($0, RSTART, RLENGTH - 1) }' | sort >"$scratch/declared"
# Defined symbols; a leading dot marks the compiler's own. -D: those of the dynamic table, which is all on macOS.
symbols() { nm -gP "$@" 2>/dev/null | awk '$2 ~ /^[TDRBVW]$/ && $1 !~ /^\./ { sub(/^_kcl/, "kcl", $1); print $1 }' | sort; }
symbols -D "$library" >"$scratch/dynamic"
[ -s "$scratch/dynamic" ] || symbols "$library" >"$scratch/dynamic"

[ "$(wc -l <"$scratch/declared")" -gt 40 ]; verdict $? "only $(wc -l <"$scratch/declared") declarations were found in krylocl.h"
missing=$(comm -23 "$scratch/declared" "$scratch/dynamic" | tr '\n' ' ')
[ -z "$missing" ]; verdict $? "declared and not exported: $missing"
extra=$(comm -13 "$scratch/declared" "$scratch/dynamic" | tr '\n' ' ')
[ -z "$extra" ]; verdict $? "exported and not declared: $extra"

macro=$(sed -n 's/.define KCL_VERSION "\(.*\)"/\1/p' include/krylocl.h)
[ ! -x "$program" ] || [ "$("$program" --version | head -1)" = "krylocl $macro" ]; verdict $? "krylocl --version is not $macro"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
