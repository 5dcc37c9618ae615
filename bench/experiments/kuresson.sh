#!/bin/sh
# Kuresson, sparse matrix-vector product on OpenCL devices: the devices, the matrices, products in every format of the
# study in sequential code, on the CPU and on OpenCL devices, and atomic additions. Options: common.sh.
. "$(dirname "$0")/common.sh"

# Tables 2 to 4 and 5.
"$K" devices -v >"$out/kuresson-devices.txt" || failed "krylocl devices"
"$K" devices -q --json "$out/kuresson-devices.json" || failed "krylocl devices --json"
systems=$(choose nos4 west0479 bcsstk16 sherman5 memplus Dubcova1 wathen100 G2_circuit cage12)
small=$(choose nos4 west0479 bcsstk16 sherman5)
precisions=s,d
if [ -n "$quick" ]; then systems="poisson2d:20 cage:4" small=$systems precisions=d; fi
# shellcheck disable=SC2086
"$K" info $systems -q --csv "$out/kuresson-matrices.csv" || failed "krylocl info"

# Tables 7 to 14: every format on every device beside sequential code. The full format pads: it is forced where it fits.
# shellcheck disable=SC2086
bench products $systems -s none -d "$devices" -t "$threads" --precision $precisions \
  -f coo,ell,ell-image,csr-scalar,csr-image,cds,cds-image
# shellcheck disable=SC2086
bench full $small -s none -d "$devices" -t "$threads" --precision $precisions -f dense --force
{
  for run in full products; do
    for format in sequential dense coo ell ell-image csr-scalar csr-image cds cds-image; do
      grep -q ",$format," "$out/kuresson-$run.csv" || continue
      if [ $format$run = sequentialproducts ]; then across=precision; else across=kind+place+precision; fi
      [ $format$run != sequentialfull ] || continue
      table "$out/kuresson-$run.csv" -v only=format=$format -v down=matrix -v across=$across -v cell=seconds_per_product \
        -v scale=1e6 -v caption="$format: microseconds per product"
      [ $format = sequential ] || table "$out/kuresson-$run.csv" -v only=format=$format -v down=matrix -v across=$across \
        -v cell=speedup -v caption="$format: speed-up over sequential code"
    done
  done
  echo "One against two devices: not measured. A product of krylocl runs on one device."
} >"$out/kuresson-tables.md"

# Table 9: the first OpenCL device, and others if they are there.
atomics=${ATOMICS:-$root/build/bench/experiments/atomics}
places=$("$K" devices -q --json - | tr -d ' \t"' | sed -n 's/^place:\([0-9]*:[0-9]*\),*$/\1/p')
if [ ! -x "$atomics" ]; then
  failed "no program $atomics: make atomics"
elif [ -z "$places" ]; then
  echo "$self: no OpenCL device: no atomic additions" >&2
else
  for place in $places; do
    csv=$out/kuresson-atomics-$(echo "$place" | tr : -).csv
    "$atomics" "$place" "$here/atomics.cl" >"$csv" || failed "atomics $place: exit code $?"
    table "$csv" -v down=type+addition -v across=work_items+cells -v cell=us_median \
      -v caption="Atomic additions on device $place: microseconds per launch, by work-items and cells"
  done >"$out/kuresson-atomics.md"
fi
finish
