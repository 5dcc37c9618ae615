#!/bin/sh
# The heat equation of tests/programs/heat.c, 90,000 rows, 100 steps with other values each: what a step pays for a new set-up and for
# each kind of update. Writes the table of docs/lab: milliseconds per step, by turns, the median of ROUNDS. On the native executor these
# are of processor time, with one thread. usage: bench/heat.sh [BUILD]   POINTS=300 STEPS=100 ROUNDS=3 DEVICE=cpu PRECONDS="none jacobi ic sa amg auto"
set -eu
cd "$(dirname "$0")/.."
build=${1:-build} folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export KRYLOCL_DEVICE="${DEVICE:-cpu}" OMP_NUM_THREADS="${THREADS:-1}"
clock=CLOCK_MONOTONIC
[ "$KRYLOCL_DEVICE" != cpu ] || clock=CLOCK_PROCESS_CPUTIME_ID
sed "s/CLOCK_MONOTONIC/$clock/" tests/programs/heat.c >"$folder/heat.c"
# shellcheck disable=SC2046 # lists of words
${CC:-cc} -std=c11 -O2 -Iinclude -Itests/programs "$folder/heat.c" -o "$folder/heat" "$build/libkrylocl.a" $(tr ' ' '\n' <"$build/flags" | grep '^-[lL]') -lm -pthread

for precond in ${PRECONDS:-none jacobi ic sa amg auto}; do
  solver=cg
  [ "$precond" != auto ] || solver=auto
  for round in $(seq "${ROUNDS:-3}"); do
    for keep in -1 0 1 2 3; do
      "$folder/heat" "${POINTS:-300}" "${STEPS:-100}" "solver=$solver precond=$precond tol=1e-8" $keep >"$folder/out"
      sed "s/^/$precond $keep /" "$folder/out" >>"$folder/all" # PRECOND KEEP update U ms, solve S ms, iterations I
    done
    echo "$precond, round $round" >&2
  done
done
awk '
  function median(key, n,  list, i, j, t) {
    n = split(values[key], list, " ")
    for (i = 2; i <= n; i++) for (j = i; j > 1 && list[j] + 0 < list[j - 1] + 0; j--) { t = list[j]; list[j] = list[j - 1]; list[j - 1] = t }
    return list[int((n + 1) / 2)]
  }
  { if (!seen[$1]++) order[++n] = $1; values[$1 " " $2 " u"] = values[$1 " " $2 " u"] " " $4; values[$1 " " $2 " s"] = values[$1 " " $2 " s"] " " $7; its[$1 " " $2] = $10 }
  END {
    split("-1 0 1 2 3", keep, " ")
    split("set-up nothing choices hierarchy precond", word, " ")
    print "| | | ms of the change | of a set-up | ms of the solve | iterations | ms per step |"
    print "| --- | --- | --- | --- | --- | --- | --- |"
    for (i = 1; i <= n; i++) for (k = 1; k <= 5; k++) {
      key = order[i] " " keep[k]
      printf "| %s | %s | %.2f | %.2f | %.1f | %.1f | %.1f |\n", k == 1 ? "`" order[i] "`" : "", word[k], median(key " u"), median(key " u") / median(order[i] " -1 u"), median(key " s"), its[key], median(key " u") + median(key " s")
    }
  }' "$folder/all"
