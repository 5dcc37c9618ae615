#!/usr/bin/env bash
# Times krylocl and every peer that was built on the same files, alternating, and prints one table.
# usage: run.sh A.mtx...  (plain files, symmetric positive definite; make -C bench/peers first)
# Environment: KRYLOCL (build/krylocl), DEVICE (cpu), FORMATS (csr-scalar,cds), ROUNDS (3),
# PEER_REPETITIONS (5 per round), THREADS (all processors; also the ranks of PETSc and hypre), PEERS (all;
# names such as "eigen hypre petsc-sbaij viennacl-host-csr cuda-graph"), PEER_DEVICE (of ViennaCL: part of a
# name), RAW (a file for the JSON lines, kept: PEERS_BUILD/samples.tsv), LIMIT (300 seconds per run), PEERS_BUILD (build/peers),
# QUIET (at most 10 seconds of waiting for idle processors before each run), TRIES (3: a run is repeated if
# other processes used more than 5 % of a processor).
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
krylocl=${KRYLOCL:-$root/build/krylocl}
programs=${PEERS_BUILD:-$root/build/peers}
threads=${THREADS:-$(nproc)}
limit=${LIMIT:-300}
peers=${PEERS:-eigen amgcl petsc-aij petsc-sbaij hypre viennacl-csr viennacl-ell viennacl-sell
  viennacl-hyb viennacl-host-csr viennacl-host-ell viennacl-host-sell cuda-graph}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
raw=${RAW:-$programs/samples.tsv}
rounds=${ROUNDS:-3}

[ $# -gt 0 ] || { sed -n '2,8s/^# //p' "$0" >&2; exit 2; }
command -v python3 >/dev/null || { echo "peers: the table needs python3" >&2; exit 4; }

bench_krylocl() { # matrix
  OMP_NUM_THREADS=$threads timeout "$limit" "$krylocl" bench "$1" \
    --formats "${FORMATS:-csr-scalar,cds}" --device "${DEVICE:-cpu}" --iterations 60 --json -
}

# Waits until the processors are 90 % idle for half a second (Linux only).
quiet() {
  local end=$((SECONDS + ${QUIET:-10})) busy idle total before_idle before_total
  [ -r /proc/stat ] || return 0
  while [ $SECONDS -lt $end ]; do
    read -r before_idle before_total < <(awk '{print $5, $2+$3+$4+$5+$6+$7+$8+$9; exit}' /proc/stat)
    sleep 0.5
    read -r idle total < <(awk '{print $5, $2+$3+$4+$5+$6+$7+$8+$9; exit}' /proc/stat)
    busy=$((total - before_total - idle + before_idle))
    [ $((10 * busy)) -gt $((total - before_total)) ] || return 0
  done
}

# Writes to a file: uptime in seconds, and processor seconds used by processes other than our children.
others() { # file
  times >"$scratch/times"
  awk -v ticks="$(getconf CLK_TCK)" 'function seconds(t, p) { split(t, p, /[ms]/); return 60 * p[1] + p[2] }
    FILENAME ~ /uptime/ { up = $1 }
    FILENAME ~ /times/ && FNR == 2 { ours = seconds($1) + seconds($2) }
    $1 == "cpu" { print up, ($2 + $3 + $4 + $7 + $8 + $9) / ticks - ours }' \
    /proc/uptime "$scratch/times" /proc/stat >"$1"
}

# Runs the command, and repeats it if other processes were active meanwhile (Linux; elsewhere once).
undisturbed() { # command...
  local try state=0
  for ((try = 1; try <= ${TRIES:-3}; try++)); do
    quiet
    [ ! -r /proc/stat ] || others "$scratch/before"
    state=0
    "$@" >"$scratch/out" 2>"$scratch/err" || state=$?
    [ -r /proc/stat ] || break
    others "$scratch/after"
    ! paste "$scratch/before" "$scratch/after" | awk '{ exit $4 - $2 > 0.05 * ($3 - $1) }' || break
    [ "$try" != "${TRIES:-3}" ] || echo "peers: other processes were active during: $*" >&2
  done
  return $state
}

ranks() { # command...
  local root_flag=()
  [ "$(id -u)" != 0 ] || root_flag=(--allow-run-as-root)
  OMP_NUM_THREADS=1 timeout "$limit" mpirun "${root_flag[@]}" --oversubscribe -n "$threads" "$@"
}

peer() { # name matrix
  local program=$programs/${1%%-*}
  case $1 in
    petsc-*) ranks "$program" "$2" "${1#*-}" ;;
    hypre) ranks "$program" "$2" ;;
    *-*) OMP_NUM_THREADS=$threads timeout "$limit" "$program" "$2" "${1#*-}" ;;
    *) OMP_NUM_THREADS=$threads timeout "$limit" "$program" "$2" ;;
  esac
}

# peers: 7 of 24, 2 min: poisson2d:300, round 1, eigen
progress() { # name matrix round
  run=$((run + 1))
  printf 'peers: %d of %d, %d min: %s, round %d, %s\n' "$run" "$runs" $((SECONDS / 60)) "$2" "$3" "$1" >&2
}

# One raw line per run: matrix, round, name, "ok" or "failed", JSON or the first line of the error.
record() { # name matrix round command...
  local name=$1 matrix=$2 round=$3 state=ok
  progress "$1" "$(basename "$2" .mtx)" "$3"
  shift 3
  undisturbed "$@" || state=failed
  if [ $state = failed ]; then
    grep -m1 '[^ ]' "$scratch/err" >"$scratch/out" || echo "timed out or killed" >"$scratch/out"
  fi
  printf '%s\t%s\t%s\t%s\t%s\n' "$(basename "$matrix" .mtx)" "$round" "$name" $state \
    "$(tr '\n\t' '  ' <"$scratch/out")" >>"$raw"
}

mkdir -p "$(dirname "$raw")" && : >"$raw" || exit 3
run=0 runs=0
[ ! -x "$krylocl" ] || runs=1
for name in $peers; do [ ! -x "$programs/${name%%-*}" ] || runs=$((runs + 1)); done
runs=$((runs * rounds * $#))
echo "peers: the samples of each run are added to $raw; a table of them: python3 ${here#"$PWD"/}/table.py $raw" >&2
for matrix in "$@"; do
  for ((round = 1; round <= rounds; round++)); do
    if [ -x "$krylocl" ]; then
      record krylocl "$matrix" "$round" bench_krylocl "$matrix"
    elif [ "$round" = 1 ]; then
      echo "peers: no krylocl at ${krylocl#"$root"/}: no ratios" >&2
    fi
    for name in $peers; do
      [ ! -x "$programs/${name%%-*}" ] || record "$name" "$matrix" "$round" peer "$name" "$matrix"
    done
  done
done
python3 "$here/table.py" "$raw"
