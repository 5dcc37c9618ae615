#!/bin/sh
# The installed PoCL with fewer declarations, in FOLDER: links to its files, and its header for kernels without the functions
# whose names do not occur in the source of kernels. PoCL parses the 17,000 lines of that header for every program, which takes
# up to half of the time to compile it. What kernels call is declared as ever; a name that were missing would be a
# compiler's error. And with fewer functions in its library (library.c), 0.8 instead of 9 MB that every process reads: a fifth
# of the time. Prints what OCL_ICD_VENDORS is to be. Status 1 where PoCL is not the only driver or has no such header.
# usage: pocl.sh FOLDER
cd "$(dirname "$0")/../.." || exit 1
[ -z "$OCL_ICD_VENDORS$OCL_ICD_FILENAMES" ] || exit 1
driver=$(cat /etc/OpenCL/vendors/*.icd 2>/dev/null)
case $driver in *libpocl.so*) ;; *) exit 1 ;; esac
case $driver in *[!a-zA-Z0-9_./-]*) exit 1 ;; esac # of several lines, too
[ -e "$driver" ] || driver=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null | sed -n 's/.*=> \(.*\/libpocl\.so.*\)/\1/p' | head -1)
# It finds its files from where its library lies, links not followed.
here=$(dirname "$driver") folder=$1
header=$here/../../share/pocl/include/opencl-c.h
[ -e "$driver" ] && [ -e "$header" ] || exit 1
rm -rf "$folder" && mkdir -p "$folder/lib/here" "$folder/share/pocl/include" "$folder/vendors" && folder=$(cd "$folder" && pwd) || exit 1
ln -s "$driver" "$folder/lib/here" && ln -s "$here/pocl" "$folder/lib/here" && ln -s "$here"/../../share/pocl/*.bc "$folder/share/pocl" &&
  ln -s "$here"/../../share/pocl/include/* "$folder/share/pocl/include" && rm "$folder/share/pocl/include/opencl-c.h" || exit 1
cat kernels/*.cl kernels/*.clh $(find core/opencl -name "*.c") multigrid/opencl/*.c tests/test_persistent.c | grep -oE '[a-z_][a-zA-Z_0-9]*' | sort -u >"$folder/words"
# A line per declaration, but for a few, which stay. A name without its digits, too: macros add the width of vectors.
awk 'FNR == NR { word[$1] = 1; next }
  !/__ovld.*\(.*;[ \t]*$/ { print; next }
  { match($0, /[a-z_0-9]+\(/); name = stem = substr($0, RSTART, RLENGTH - 1); sub(/[0-9]+$/, "", stem) }
  name in word || stem in word' "$folder/words" "$header" >"$folder/share/pocl/include/opencl-c.h" || exit 1
# The library for this processor; where that is another, or there is no compiler, it stays whole.
for kind in avx512 avx2; do
  grep -qs "^flags.* $kind" /proc/cpuinfo || continue
  library=$(ls "$folder/share/pocl"/*-$kind.bc 2>/dev/null)
  if [ -n "$library" ] && ${CC:-cc} -std=c11 -D_GNU_SOURCE -o "$folder/library" tests/driver/library.c -ldl 2>/dev/null &&
    "$folder/library" "$driver" "$library" "$folder/words" "$folder/smaller.bc" 2>/dev/null; then
    mv -f "$folder/smaller.bc" "$library"
  fi
  break
done
echo "$folder/lib/here/$(basename "$driver")" >"$folder/vendors/pocl.icd" && echo "$folder/vendors"
