#!/bin/sh
# The loader of OpenCL, a library that is loaded at run time: nothing is linked with it, and the program says which one is missing,
# is no library, or lacks functions. usage: tests/loader.sh build/krylocl
. "$(dirname "$0")/program.inc"
build=$(dirname "$prog")
if ! "$prog" version | grep -q OpenCL; then
  echo "skipped: a build without OpenCL" && echo "0 passed, 0 failed, 1 skipped" && exit 0
fi

for file in "$prog" "$build"/lib*.so.0; do
  [ -e "$file" ] && command -v readelf >/dev/null || continue
  ! readelf -d "$file" | grep NEEDED | grep -qi opencl
  verdict $? "$(basename "$file") is not linked with OpenCL"
done

# WHAT TEXT: devices and the selection say so, and the native executor solves. KRYLOCL_OPENCL or LD_PRELOAD are set.
lacks() {
  run 0 "$1: the devices" devices
  says "no OpenCL device" && says "$2"
  ! grep -q '^[0-9]*:[0-9]' out; verdict $? "  no other device"
  run 4 "$1: OpenCL is asked for" solve poisson2d:20 -d opencl -q
  says "$2"
  run 0 "$1: the default" solve poisson2d:20 -d auto -q
}
KRYLOCL_OPENCL=/nonexistent
export KRYLOCL_OPENCL
lacks "no such file" "KRYLOCL_OPENCL is /nonexistent, .*: .*No such file"
echo text >text
KRYLOCL_OPENCL=$dir/text
lacks "no library" "KRYLOCL_OPENCL is $dir/text, which cannot be loaded"
echo 'int clGetPlatformIDs(void); int clGetPlatformIDs(void) { return 0; }' >few.c
if ${CC:-cc} -shared -fPIC -o few.so few.c 2>/dev/null; then
  KRYLOCL_OPENCL=$dir/few.so
  lacks "a library of one function" "few.so is no loader of OpenCL 1.2 .* lacks clBuildProgram, .* and [0-9]* more"
fi
unset KRYLOCL_OPENCL

# As on a machine without a loader: a dlopen that does not find it, which a sanitizer would have to precede.
cat >hide.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
void *dlopen(const char *name, int flags) {
  void *(*real)(const char *, int);
  *(void **)&real = dlsym(RTLD_NEXT, "dlopen");
  return real(name && strstr(name, "libOpenCL") ? "/nonexistent" : name, flags);
}
C
if [ -z "$SAN" ] && ${CC:-cc} -shared -fPIC -o hide.so hide.c -ldl 2>/dev/null; then
  LD_PRELOAD=$dir/hide.so
  export LD_PRELOAD
  lacks "no loader" "libOpenCL.so.1 was not found (.*): install .*ocl-icd-libopencl1"
  unset LD_PRELOAD
fi

if "$prog" info poisson2d:3 -d opencl -q 2>err; then
  KRYLOCL_OPENCL=libOpenCL.so.1 && export KRYLOCL_OPENCL
  run 0 "a loader by its name" solve poisson2d:20 -d opencl -q
else
  echo "skipped: a loader by its name: $(head -1 err)"
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
