#!/bin/sh
# The hardware-counter study: time of write, kernel and read, bytes beside the least of CSR, counters of the processor,
# and other libraries. Options: common.sh.
. "$(dirname "$0")/common.sh"
systems=$(choose bcsstk16 Dubcova1 G2_circuit)
if [ -n "$quick" ]; then systems=poisson2d:20; fi

# Iterations of cg with profiles: a row's time on the device by write, kernels, read; counters of CPU devices.
# shellcheck disable=SC2086
bench profile $systems -s cg -d "$devices" -t "$threads" -f csr-scalar,csr-split,ell,sell,cds,coo --profile

awk -f "$here/csv.awk" -f "$here/counters.awk" "$out/counters-profile.csv" >"$out/counters-tables.md" ||
  failed "no tables of $out/counters-profile.csv"

# Other libraries: those that make peers found.
if [ -n "$(find "${PEERS_BUILD:-$root/build/peers}" -type f -perm -100 2>/dev/null)" ]; then
  files=''
  for system in $systems; do
    file=$work/$(basename "$system" .gz | tr : _ | sed 's/\.mtx$//').mtx
    "$K" convert "$system" -q -o "$file" 2>"$work/message" || "$K" generate "$system" -q -o "$file" || failed "$system"
    files="$files $file"
  done
  # shellcheck disable=SC2086
  KRYLOCL=$K ROUNDS=${quick:+1} RAW=$work/peers bash "$root/bench/peers/run.sh" $files >"$out/counters-peers.txt" || failed "peers"
else
  echo "No other library was built: make peers builds those that are installed." >"$out/counters-peers.txt"
fi
finish
