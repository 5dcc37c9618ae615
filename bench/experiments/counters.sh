#!/bin/sh
# The hardware-counter study: time of write, kernel and read, bytes beside the least of CSR, counters of the processor,
# and other libraries. Options: common.sh.
# shellcheck disable=SC2086 # lists of words, throughout
. "$(dirname "$0")/common.sh"
systems=$(choose piston std1_Jac2_db rim lhr71c tmt_sym bcsstk16 Dubcova1 G2_circuit)
if [ -n "$quick" ]; then systems=poisson2d:20; fi
describe_matrices $systems

# Products with profiles: the time of a row on the device by write, kernels, read; counters of CPU devices. The GPU layout, in
# which the kernels differ on CPU devices too.
bench profile $systems -s none -d "$devices" -t "$threads" --layout gpu \
  -f "$(listed csr-scalar csr-global csr-split ell sell cds coo)" --profile

{
  published table1-matrices -v across=study+quantity
  measured matrices -v across= -v heading="krylocl: rows" -v cell=rows
  measured matrices -v across= -v heading="krylocl: columns" -v cell=cols
  measured matrices -v across= -v heading="krylocl: nonzeros" -v cell=nnz
  table "Table 1, matrices"
  published table2-devices -v down=quantity+unit
  measured_devices "clock MHz=clock_mhz;memory GiB=memory_bytes*9.3132e-10;cache thousand bytes=cache_bytes*0.001;platform version text=version"
  table "Table 2, devices" -v corner=property
  published figures3-4-least-bytes -v across=study+quantity
  measured profile -v only='format=csr-scalar;kind~^[cg]pu' -v across=place -v cell=bytes_to_device_least -v heading='krylocl, csr-scalar, least to device '
  measured profile -v only='format=csr-scalar;kind~^[cg]pu' -v across=place -v cell=bytes_to_device -v heading='krylocl, csr-scalar, to device '
  measured profile -v only='format=csr-scalar;kind~^[cg]pu' -v across=place -v cell=bytes_back -v heading='krylocl, csr-scalar, read from device '
  table "Figures 3 and 4, bytes written to the device and read from it in CSR, and the least by the formula of the study"
  awk -f "$here/csv.awk" -f "$here/counters.awk" "$out/counters-profile.csv" || failed "no tables of $out/counters-profile.csv"
  published text -v only='quantity~gain' -v down=device+quantity -v across=study+unit
  measured profile -v cell=seconds_per_product -v only='format~^csr-(scalar|global)$;device~.' -v base=format=csr-global \
    -v same=matrix+place -v heading='krylocl, time of csr-scalar / time of csr-global: '
  table "The gain of the kernel that keeps row bounds and sum in registers" -v corner="kernel or matrix"
} >"$out/counters-tables.md"

# Other libraries: those that make peers found.
if [ -n "$(find "${PEERS_BUILD:-$root/build/peers}" -type f -perm -100 2>/dev/null)" ]; then
  files=''
  for system in $systems; do
    file=$work/$(short_name "$system" | tr : _).mtx
    "$K" convert "$system" -q -o "$file" 2>"$work/message" || "$K" generate "$system" -q -o "$file" || failed "$system"
    files="$files $file"
  done
  KRYLOCL=$K ROUNDS=${quick:+1} RAW=$work/peers bash "$root/bench/peers/run.sh" $files >"$out/counters-peers.txt" || failed "peers"
else
  echo "No other library was built: make peers builds those that are installed." >"$out/counters-peers.txt"
fi
finish
