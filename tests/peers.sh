#!/bin/sh
# bench/peers: the table from recorded samples, and run.sh with programs that print such samples in place of the peers.
# Usage: tests/peers.sh build/krylocl
root=$(cd "$(dirname "$0")/.." && pwd)
. "$(dirname "$0")/program.inc"
[ -n "$python" ] || { echo "skipped: peers: no python3"; exit 0; }
command -v bash >/dev/null || { echo "skipped: peers: no bash"; exit 0; }

# ------------------------------------------------------------------ the table
tab=$(printf '\t')
peer() { # PROGRAM MEDIAN: as bench/peers/peer.h prints it
  printf '{"matrix": "m.mtx", "program": "%s", "rows": 400, "nnz": 1920, "iterations": 60, "repetitions": 5, "seconds_per_iteration": {"median": %s, "min": %s, "max": 4e-3}, "relative_residual": 1.25e-3}' "$1" "$2" "$2"
}
ours() { # MEDIAN: as krylocl bench --json - does
  printf '{"schema": 1, "rows": [{"matrix": "m", "format": "csr-scalar", "status": "ok", "validated": true, "seconds_per_iteration": {"median": %s, "min": %s, "max": 4e-3}}, {"matrix": "m", "format": "cds", "status": "refused: pads to 9 GB"}]}' "$1" "$1"
}
{
  echo "m${tab}1${tab}krylocl${tab}ok${tab}$(ours 1e-3)"
  echo "m${tab}1${tab}eigen${tab}ok${tab}$(peer eigen 2e-3)"
  echo "m${tab}2${tab}krylocl${tab}ok${tab}$(ours 2e-3)"
  echo "m${tab}2${tab}eigen${tab}ok${tab}$(peer eigen 3e-3)"
  echo "m${tab}1${tab}hypre${tab}failed${tab}timed out or killed"
  echo "m${tab}1${tab}amgcl${tab}ok${tab}3"
  echo "m${tab}1${tab}petsc-aij${tab}ok${tab}no JSON"
} >samples.tsv
table() { "$python" -IS "$root/bench/peers/table.py" "$1" >out 2>err; verdict $? "$2"; }
table samples.tsv "the table of recorded samples"
says "^  krylocl csr-scalar  *1\\.5000 *1\\.0000 *4\\.0000 *1\\.00 "
says "^  eigen  *2\\.5000 *2\\.0000 *4\\.0000 *1\\.75 *1\\.250e-03"
says "^  krylocl cds  *not measured: refused: pads to 9 GB"
says "^  hypre  *not measured: timed out"
says "^  amgcl  *not measured: its output is no JSON object"
says "^  petsc-aij  *not measured: its output is not JSON"
says "^  eigen / krylocl csr-scalar = 1\\.67"

# ------------------------------------------------------------------ the run
mkdir programs
{ echo '#!/bin/sh'; echo "cat <<'END'"; peer eigen 2e-3; echo; echo END; } >programs/eigen
{ echo '#!/bin/sh'; echo "cat <<'END'"; ours 1e-3; echo; echo END; } >krylocl
printf '#!/bin/sh\necho no licence >&2\nexit 1\n' >programs/amgcl
chmod +x krylocl programs/*
: >a.mtx
KRYLOCL=$dir/krylocl PEERS_BUILD=$dir/programs PEERS="eigen amgcl viennacl-csr" ROUNDS=2 TRIES=1 QUIET=0 \
  bash "$root/bench/peers/run.sh" a.mtx >out 2>err
verdict $? "a run of two peers, one of which fails"
says "^  eigen  *2\\.0000"; says "^  amgcl  *not measured: no licence"; says "eigen / krylocl csr-scalar = 2\\.00"
says "^peers: 1 of 6, 0 min: a, round 1, krylocl"; says "^peers: 6 of 6, .*: a, round 2, amgcl"
[ "$(wc -l <programs/samples.tsv)" -eq 6 ]; verdict $? "  its samples are kept"
cp out first; table programs/samples.tsv "  and give the table again"; cmp -s out first; verdict $? "  which is equal"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
