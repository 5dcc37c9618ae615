#!/bin/sh
# Kuresson, sparse matrix-vector product on OpenCL devices: the devices, the matrices, products in every format of the
# study in sequential code, on the CPU and on OpenCL devices, and atomic additions. Options: common.sh.
# shellcheck disable=SC2086 # lists of words, throughout
. "$(dirname "$0")/common.sh"

# The matrices of the study and small ones: every format may pad. Large ones: a format that pads too much is refused.
small=$(choose heart1 Trefethen_20000b TSOPF_RS_b162_c3 psmigr_1 spiral viscoplastic1 deter4 Maragal_2 fp nos4 west0479 bcsstk16 sherman5)
large=''
[ -n "$names" ] || large=$(choose memplus Dubcova1 wathen100 G2_circuit cage12)
precisions=s,d
if [ -n "$quick" ]; then small="poisson2d:20 cage:4" large='' precisions=s; fi
formats=$(listed coo ell ell-rows ell-image csr-scalar csr-image cds cds-image) runs=products

"$K" devices -v >"$work/devices" || failed "krylocl devices"
grep -vE '^(drivers|help|permission) ' "$work/devices" >"$out/kuresson-devices.txt" # paths of this machine
describe_matrices $small $large
bench products $small -s none -d "$devices" -t "$threads" --precision $precisions -f $formats --force
if [ -n "$large" ]; then
  bench large $large -s none -d "$devices" -t "$threads" --precision $precisions -f $formats
  runs="products large"
fi
bench full $small -s none -d "$devices" -t "$threads" --precision s -f dense --force

add_atomics() { # atomic additions on every OpenCL device, and their cells
  atomics=${ATOMICS:-$root/build/bench/experiments/atomics}
  places=$("$K" devices -q --json - | tr -d ' \t"' | sed -n 's/^place:\([0-9]*:[0-9]*\),*$/\1/p')
  [ -n "$places" ] || { echo "$self: no OpenCL device: no atomic additions" >&2; return; }
  [ -x "$atomics" ] || { failed "no program $atomics: make atomics"; return; }
  for place in $places; do
    "$atomics" "$place" "$here/atomics.cl" >>"$work/atomics.csv" || failed "atomics $place: exit code $?"
  done
  awk 'NR == 1 || !/^device,/' "$work/atomics.csv" >"$out/kuresson-atomics.csv"
  measured atomics -v down=device+type+addition+cells -v across=work_items -v cell=us_median -v heading="krylocl, us per launch: "
  measured atomics -v down=device+type+addition+cells -v across=work_items -v cell=us_median -v base=work_items=50 \
    -v same=device+type+addition+cells -v heading="time / that of 50: "
}

# Two devices together beside each alone, the rows divided equally as in the study. Two ranks of the CPU share its processors.
list_pairs() {
  gpus=$("$K" devices -q --json - | tr -d ' \t",' | awk -F: '/^place/ { place = substr($0, 7) } /^kind:gpu/ { print place }')
  echo cpu,cpu
  for gpu in $gpus; do echo "cpu,$gpu"; done
  echo "$gpus" | awk 'NR == 1 { first = $1 } NR == 2 { print first "," $1 }'
}

add_pairs() { # products on two devices, and their cells
  pairs=$out/kuresson-pairs.csv
  "$K" version | grep -q MPI || { echo "$self: krylocl was built without MPI: no products on two devices" >&2; return; }
  rm -f "$pairs"
  for pair in $(list_pairs); do
    status=0
    "$K" bench $small -s none --devices "$pair" --shares rows --precision s -f ell,ell-image,csr-scalar --force $effort -q \
      --csv "$work/pair.csv" 2>"$work/message" || status=$?
    [ $status = 0 ] || [ $status = 5 ] || failed "bench --devices $pair: $(cat "$work/message")"
    [ ! -s "$pairs" ] || sed -i 1d "$work/pair.csv"
    cat "$work/pair.csv" >>"$pairs"
  done
  measured pairs -v across=devices+format -v cell=mnnz_per_second_alone -v heading='krylocl, fastest alone: '
  measured pairs -v across=devices+format -v cell=mnnz_per_second -v heading='krylocl, together: '
}

compare_formats() { # caption, files of the study, formats as a pattern: rates of the study and of krylocl
  published "$2" -v across=study+device+format+precision -v only="quantity=nonzeros per second"
  measured "$runs" -v across=device+place+format+precision -v only="format~$3" -v cell=mnnz_per_second
  table "$1: million nonzeros per second"
}

{
  published table01-04-devices -v down=quantity -v only='table~[234]'
  measured_devices "device name=name;device vendor=vendor;device version=version;driver version=driver;compute units=compute_units;
clock=clock_mhz;global memory=memory_bytes"
  table "Tables 2 to 4, devices: clock in MHz, memory in bytes" -v corner=property

  published table05-matrices -v across=study+quantity -v only='quantity~^(rows|columns|nonzeros)$'
  measured matrices -v across= -v heading="krylocl: rows" -v cell=rows
  measured matrices -v across= -v heading="krylocl: columns" -v cell=cols
  measured matrices -v across= -v heading="krylocl: nonzeros" -v cell=nnz
  table "Table 5, matrices. Of symmetric files the study counts the stored half, krylocl all nonzeros"

  published table07-full -v across=study+device+quantity -v only='quantity~^time'
  measured full -v across=device+place+format -v cell=seconds_per_product -v scale=1e3
  table "Table 7, full storage: milliseconds per product"
  published table07-full -v across=study+device+quantity -v only='quantity~^speed-up of'
  measured full -v only='format=dense' -v cell=speedup
  measured full -v only='format=dense' -v cell=mnnz_per_second -v base=place=cpu -v same=matrix -v heading='krylocl, native CPU / '
  table "Table 7, full storage: speed-up over a sequential loop over full storage, C++ of the study, C of krylocl"

  compare_formats "Table 8, COO" table08-coo '^coo$'
  compare_formats "Table 10, ELL" table10-ell '^ell(-rows)?$'
  compare_formats "Table 11, ELL with x in an image" table11-ell-image '^ell'
  compare_formats "Table 12, CSR, and with x in an image" table12-csr '^csr'
  compare_formats "Table 13, CDS, and with x in an image" table13-cds '^cds'
  published "table08-coo table10-ell table11-ell-image table12-csr table13-cds" -v across=study+device+format \
    -v only="quantity=nonzeros per second" -v base=format=coo -v same=matrix+device
  measured "$runs" -v across=device+place+format -v only="precision=s" -v cell=mnnz_per_second \
    -v base=format=coo -v same=matrix+place
  table "Tables 8 to 13, float: rate of a format / rate of COO on the same device"
  measured "$runs" -v across=format+device+place+precision -v only="format~^[cd]" -v cell=speedup
  table "Speed-up over sequential code in CSR"

  published table09-atomics -v down=study+device -v across=threads -v only="quantity=time of the test" -v heading="Kuresson 2012, s: "
  published table09-atomics -v down=study+device -v across=threads -v only="quantity=time of the test" -v base=threads=50 \
    -v same=device -v heading="time / that of 50: "
  add_atomics
  table "Table 9, atomic additions by 50 and 50,000 work-items, to one cell and to cells of their own" -v corner=device

  published table14-two-devices -v across=study+device+format+devices -v only="quantity=nonzeros per second"
  add_pairs
  table "Table 14, one device and two, float: million nonzeros per second"
  published table14-two-devices -v across=study+device+format -v only="quantity=speed-up of two devices over one"
  measured pairs -v across=devices+format -v cell=speedup
  measured pairs -v across=devices+format -v cell=seconds_halo -v scale=1e6 -v heading='krylocl, us in the halo: '
  table "Table 14: speed-up of two devices over one, of krylocl over the fastest of the two"
} >"$out/kuresson-tables.md"
finish
