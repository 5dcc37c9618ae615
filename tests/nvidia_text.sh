#!/bin/sh
# The kernel source for NVIDIA's devices, which a machine without one never compiles: the source for any GPU with this vendor's
# macros set, compiled by clang for its target. Every format in four types, one launch per stage and the persistent kernel.
# Types and operands are checked, instructions within asm are not. The driver here would compile all of it as well, ten times
# as long: tests/no_compiler.c stands before it. A minute: in CI, not in `make check`.
# usage: [BUILD=build] tests/nvidia_text.sh
cd "$(dirname "$0")/.." || exit 1
skip() { echo "skipped: $1" && echo "0 passed, 0 failed, 1 skipped" && exit 0; }
krylocl=${BUILD:-build}/krylocl target=nvptx64-nvidia-nvcl
folder=$(mktemp -d) && trap 'rm -r "$folder"' EXIT || exit 1
compile() { clang -x cl -cl-std=CL1.2 -O0 -target $target -Xclang -finclude-default-header -Werror -S -o /dev/null "$1"; }
echo 'kernel void k(global double *x) { x[get_global_id(0)] = 0; }' >"$folder/probe.cl"
compile "$folder/probe.cl" >/dev/null 2>&1 || skip "no clang that compiles OpenCL C for $target"

clang -shared -fPIC -o "$folder/no_compiler.so" tests/no_compiler.c -Wl,--no-as-needed -l:libOpenCL.so.1 2>"$folder/log" || skip "$(head -1 "$folder/log")"

one() { # name matrix arguments of explain: its sources, compiled, each once
  name=$1 matrix=$2
  shift 2
  LD_PRELOAD="$folder/no_compiler.so" KRYLOCL_LAYOUT=gpu "$krylocl" explain "$folder/$matrix" --device opencl --source \
    "$@" >"$folder/$name" 2>"$folder/$name.log"
  if [ ! -s "$folder/$name" ]; then
    echo "FAIL tests/nvidia_text.sh: $name: no source" && cat "$folder/$name.log" && return
  fi
  awk -v to="$folder/$name" '/^#define IDX / { part++ } part { print > (to "-" part ".cl") }' "$folder/$name"
  for text in "$folder/$name"-*.cl; do
    sum=$folder/$(cksum <"$text" | tr ' ' -)
    [ ! -e "$sum" ] || { rm "$text" && continue; } # compiled before under another name
    : >"$sum"
    sed -i 's/^#define NVIDIA_PTX 0/#define NVIDIA_PTX 1/; s/^#define STREAMED 0/#define STREAMED 1/
      s/^#define WG [0-9]*/#define WG 256/; s/\<asm\>/__asm__/' "$text"
    for macro in 'NVIDIA_PTX 1' 'STREAMED 1' 'REDUCING_GROUP 0'; do
      grep -q "^#define $macro" "$text" || echo "FAIL tests/nvidia_text.sh: the source does not define $macro"
    done
    grep -q '^#define PERSISTENT 1' "$text" &&
      sed 's/^#define REDUCING_GROUP 0/#define REDUCING_GROUP 1/' "$text" >"${text%.cl}-reducing.cl"
  done
  for text in "$folder/$name"-*.cl; do
    [ -e "$text" ] || continue
    if compile "$text" >"$text.log" 2>&1; then echo "compiled: $name"; else
      echo "FAIL tests/nvidia_text.sh: $name" && grep -m3 -A3 'error' "$text.log"
    fi
  done
}
types() { # of these all formats
  for type; do
    for format in $(sed -n 's/^KCL_FORMAT(\(.*\))/\1/p' spmv/list.def spmv/studies.def | tr _ -); do
      for KRYLOCL_PERSISTENT in 0 1; do
        export KRYLOCL_PERSISTENT
        one "$format-$type-$KRYLOCL_PERSISTENT" mesh.mtx --format "$format" --precision "$type" --solver cg-single
      done
    done
    one "row-blocks-$type" long.mtx --format csr-split --precision "$type" --solver cgls
    one "series-$type" mesh.mtx --format csr-scalar --precision "$type" --solver cg --precond chebyshev
    one "nrhs-$type" mesh.mtx --format sell --precision "$type" --solver cg --nrhs 4
  done
}

"$krylocl" generate poisson2d:9 -o "$folder/mesh.mtx" -q || exit 1
{ # a row longer than a tile of csr-split
  echo '%%MatrixMarket matrix coordinate real general' && echo '2 1800 1801' && echo '2 1 1'
  awk 'BEGIN { for (j = 1; j <= 1800; j++) print 1, j, 1 }'
} >"$folder/long.mtx"
export KRYLOCL_OPTIONS=-cl-opt-disable KRYLOCL_CACHE=
types s c >"$folder/a" &
types d z >"$folder/b"
wait
cat "$folder/a" "$folder/b" >"$folder/all"
grep -v '^compiled' "$folder/all"
passed=$(grep -c '^compiled' "$folder/all") failed=$(grep -c '^FAIL' "$folder/all")
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
