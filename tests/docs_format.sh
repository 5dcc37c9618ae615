#!/bin/sh
# The format of docs/add-format.md: its code blocks are extracted, compiled and linked in front of the library, and the
# conformance test of formats runs on it, native and on the OpenCL device in both layouts, each in two types; then its outline is
# compared with what it builds, and bits of its indices are flipped.
# usage: [BUILD=build] tests/docs_format.sh
cd "$(dirname "$0")/.." || exit 1
BUILD=$(cd "${BUILD:-build}" && pwd) name=ell8
tests='conform_spmv test_predict test_flips'
for need in libkrylocl.a flags $(printf 'tests/%s.o ' $tests); do
  need=$BUILD/$need
  [ -f "$need" ] || { echo "skipped: no $need (make tests)" && echo "0 passed, 0 failed, 1 skipped" && exit 0; }
done
compile=$(sed 's/ -l[A-Za-z].*//' "$BUILD/flags") libraries=$(grep -o ' -l[A-Za-z].*' "$BUILD/flags")
folder=$(mktemp -d) && trap 'rm -r "$folder"' EXIT || exit 1
cp -r include core kernels spmv "$folder"

# A block that begins ```c PATH is appended to PATH.
awk -v to="$folder/" '/^```/ { file = $2 == "" ? "" : to $2; next } file != "" { print >>file }' docs/add-format.md

cd "$folder" || exit 1
set -e
for t in s d c z; do $compile -DKCL_T=$t -DKCL_T_$t -c spmv/$name.c -o $name.$t.o; done
sh kernels/embed.sh kernels/*.cl kernels/*.clh >kernels.c
$compile -c kernels.c -o kernels.o
$compile -c spmv/registry.c -o registry.o
# shellcheck disable=SC2086
for test in $tests; do $compile -o $test "$BUILD/tests/$test.o" ./*.o "$BUILD/libkrylocl.a" $libraries; done
set +e
export KRYLOCL_FORMATS=$name
KRYLOCL_TYPES=dc ./conform_spmv >log
KRYLOCL_TYPES=sz KRYLOCL_LAYOUT=gpu ./conform_spmv >log.gpu
OCL_ICD_VENDORS=/dev/null ./test_predict >log.outline # outlines need no device
FORMATS=$name PICK=none ./test_flips >log.flips
grep -hE '^(FAIL|skip)' log log.gpu log.outline log.flips
awk '/^[0-9]+ passed, [0-9]+ failed/ { p += $1; f += $3; n++ }
  END { if (n < 4) f++; print p + 0 " passed, " f + 0 " failed"; exit f > 0 }' log log.gpu log.outline log.flips
