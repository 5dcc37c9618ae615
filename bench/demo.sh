#!/bin/sh
# `make demo`: writes a physical system to files, solves it on the best device and checks the solution,
# compares the storage formats, and draws two pictures, all in demo/.
# usage: [BUILD=build] [SIZE=120] [KRYLOCL_DEVICE=...] bench/demo.sh
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
SIZE=${SIZE:-120} # cells along the 90 mm of the sink; 120 has 250,560 unknowns
begin=$(date +%s)
krylocl=$BUILD/krylocl
[ -x "$krylocl" ] || { echo "demo: $krylocl was not built: it needs cJSON (libcjson-dev)"; exit 1; }
mkdir -p demo || exit 1

bold='' plain=''
if [ -t 1 ] && [ -z "$NO_COLOR" ] && [ "${TERM:-dumb}" != dumb ]; then bold=$(printf '\033[1m') plain=$(printf '\033[0m'); fi
step() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
show() { printf '%s$ %s%s\n' "$bold" "$*" "$plain" && "$@"; }

step "1. The devices of this machine and their memory rates"
devices=$("$krylocl" devices) || exit 1
echo "$devices"

step "2. A system as files: an aluminium heat sink of 90 mm on a chip of 65 W"
show "$krylocl" generate heatsink:"$SIZE" -o demo/A.mtx --rhs demo/b.rhs || exit 1

step "3. Its structure and the predicted bytes of each storage format"
show "$krylocl" info demo/A.mtx || exit 1

check=''
if "$krylocl" version | grep -q CHOLMOD; then check='--check cholmod'; fi
step "4. The solution${check:+, compared with a direct one}"
# shellcheck disable=SC2086 # words
show "$krylocl" solve demo/A.mtx demo/b.rhs -o demo/x.mtx --precond jacobi $check --plot demo/convergence.svg || exit 1

formats=csr-scalar,csr-vector,csr-sym,ell,sell,cds,pattern,coo
step "5. Time per iteration in eight storage formats (without -f: in all)"
show "$krylocl" bench demo/A.mtx -f $formats --iterations 10 --device cpu || exit 1
if echo "$devices" | grep -q '^[0-9]*:[0-9]'; then
  echo
  show "$krylocl" bench demo/A.mtx -f $formats --iterations 10 --device opencl || exit 1
else
  echo "No OpenCL device here: PoCL or the driver of a GPU provides one."
fi

step "6. The temperature in a cut through the heat sink"
show "$BUILD/heatsink-picture" "$SIZE" demo/x.mtx demo/temperature.svg || exit 1

step "Done in $(($(date +%s) - begin)) s, without packages and compilation. The files are in demo/:"
ls demo
