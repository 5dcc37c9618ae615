#!/bin/sh
# The ARM tutorial (Lokhmotov 2011): its worked example, variants of the product on an OpenCL device, and its group sizes. CPU
# devices get the GPU layout, in which the variants differ. Options: common.sh; of several devices the first OpenCL device counts.
# shellcheck disable=SC2086 # lists of words, throughout
. "$(dirname "$0")/common.sh"
variants=csr-scalar,csr-unrolled,csr-lanes,csr-image,ell,ell-image,coo
opencl=$("$K" devices -q --json - | sed -n 's/.*"place":.*"\([0-9]*:[0-9]*\)".*/\1/p' | head -n 1)
[ "$devices" != all ] || devices=opencl
devices=$(echo "$devices" | tr , '\n' | grep -vx cpu | head -n 1)
if [ -z "$opencl" ] || [ -z "$devices" ]; then devices=cpu; fi

# The worked example: y = A x in every format of the tutorial. The last element is 47; the slides print 57.
example() { # name of a vector or matrix and its sizes as Matrix Market from the published entries
  awk -v name="$1" -f "$here/csv.awk" -f "$here/example.awk" "$here/published/arm-example.csv"
}

multiply_example() { # the cells of its table; every y has to be A x
  example A >"$work/A.mtx"
  example x >"$work/x.mtx"
  published example -v only='quantity~^y' -v down=quantity -v across=study
  awk 'FNR == 1 { file++ } /^%/ || !seen[file]++ { next } file == 1 { x[++k] = $1; next } { y[$1] += $3 * x[$2] }
    END { for (i = 1; i <= k; i++) print y[i] }' "$work/x.mtx" "$work/A.mtx" >"$work/exact"
  awk '{ print "y(" NR - 1 ")\tA x\t" $1 }' "$work/exact" >>"$work/cells"
  for format in $(echo $variants | tr , ' '); do
    if ! "$K" spmv "$work/A.mtx" "$work/x.mtx" -f "$format" -d "$devices" -q -o "$work/y.mtx" 2>"$work/message"; then
      grep -q "format $format refused" "$work/message" || failed "the example in $format: $(cat "$work/message")"
      continue
    fi
    grep -v '^%' "$work/y.mtx" | sed 1d >"$work/y"
    paste "$work/exact" "$work/y" | awk '$1 != $2 { exit 1 }' || failed "the example in $format is wrong"
    awk -v format="$format" '{ print "y(" NR - 1 ")\tkrylocl: " format "\t" $1 }' "$work/y" >>"$work/cells"
  done
  table "The worked example: y = A x. The last element printed in the slides is a misprint" -v corner=element
}

if [ "$devices" = cpu ]; then
  multiply_example >"$out/arm-tables.md"
  echo "$self: no OpenCL device: nothing was measured"
  finish
  exit
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
  bench "$run" $systems -s none -d "$devices" --precision s --layout gpu "$@"
  unset KRYLOCL_TUNE
}

gather() { # tunable, its values, bench options: a run per value, all in arm-NAME.csv with the value before each row
  name=${1##*.} tunable=$1 values=$2
  shift 2
  for value in $values; do
    tuned "$tunable" "$value" "$name" "$@"
    awk -v name="$name" -v value="$value" '{ print (FNR == 1 ? name : value) "," $0 }' "$work/rows.csv"
  done >"$work/all.csv"
  awk 'NR == 1 || !/,matrix,/ && !/,sequential,/' "$work/all.csv" >"$work/gathered.csv"
  shorten "$work/gathered.csv" "$out/arm-$name.csv"
}

# Scalar, unrolled by four, 8 work-items per row with vector loads, images, ELL, COO; then 4 and 8 work-items per row.
bench variants $systems -s none -d "$devices" --precision s --layout gpu -f $variants
gather csr-vector.lanes "$lanes_list" -f csr-vector
gather group "$groups" -f csr-scalar,csr-vector,ell
{
  multiply_example
  measured variants -v across=format+device -v cell=seconds_per_product -v scale=1e6
  table "Variants, float: microseconds per product (the tutorial has no times)"
  measured variants -v only='device~.' -v across=format -v cell=mnnz_per_second -v base=format=csr-scalar -v same=matrix
  table "Variants, float: rate / rate of csr-scalar"
  measured lanes -v down=matrix+format -v across=lanes -v heading= -v cell=seconds_per_product -v scale=1e6
  table "Work-items per row (csr-vector), float: microseconds per product"
  measured group -v down=matrix+format -v across=group -v heading= -v cell=seconds_per_product -v scale=1e6
  table "Group sizes, float: microseconds per product"
} >"$out/arm-tables.md"
finish
