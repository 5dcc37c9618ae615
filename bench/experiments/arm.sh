#!/bin/sh
# The ARM tutorial (Lokhmotov 2011): variants of the product on an OpenCL device, and its group sizes. CPU devices get the
# GPU layout, in which the variants differ. Options: common.sh; -d is opencl here, the first OpenCL device.
. "$(dirname "$0")/common.sh"
[ "$devices" != all ] || devices=opencl
if ! "$K" devices -q --json - | grep -q '"place":.*[0-9]:[0-9]'; then
  echo "$self: no OpenCL device: nothing was measured"
  exit 0
fi
systems=$(choose Dubcova1 G2_circuit cage12)
lanes_list='4 8' groups='32 64 128 256 512 1024'
if [ -n "$quick" ]; then systems=poisson2d:20 groups='64 256'; fi

tuned() { # tunable, value, name of the run, bench options: the run under this one tunable
  echo "$1 = $2" >"$work/tune"
  run=$3
  shift 3
  KRYLOCL_TUNE=$work/tune
  export KRYLOCL_TUNE
  # shellcheck disable=SC2086
  bench "$run" $systems -s none -d "$devices" --precision s --layout gpu "$@"
  unset KRYLOCL_TUNE
}

gather() { # title, column, prefix, values: a table of several runs, one column per value
  title=$1 name=$2 prefix=$3
  shift 3
  for value in "$@"; do
    awk -v name="$name" -v value="$value" -v first="$1" '
      NR == 1 { if (value == first) print name "," $0; next } { print value "," $0 }' "$out/$self-$prefix$value.csv"
  done | grep -v ',sequential,' >"$work/gathered.csv"
  table "$work/gathered.csv" -v down=matrix+format -v across="$name" -v cell=seconds_per_product -v scale=1e6 -v caption="$title"
}

# Scalar, unrolled by four, images; then 4 and 8 work-items per row.
# shellcheck disable=SC2086
bench variants $systems -s none -d "$devices" --precision s --layout gpu -f csr-scalar,csr-unrolled,csr-image,ell,ell-image
for lanes in $lanes_list; do tuned csr-vector.lanes "$lanes" "lanes-$lanes" -f csr-vector; done
for group in $groups; do tuned group "$group" "group-$group" -f csr-scalar,csr-vector,ell; done
{
  table "$out/arm-variants.csv" -v down=matrix -v across=format -v cell=seconds_per_product -v scale=1e6 \
    -v caption="Variants, float: microseconds per product"
  # shellcheck disable=SC2086
  gather "Work-items per row (csr-vector), float: microseconds per product" lanes lanes- $lanes_list
  # shellcheck disable=SC2086
  gather "Group sizes, float: microseconds per product" group group- $groups
} >"$out/arm-tables.md"
finish
