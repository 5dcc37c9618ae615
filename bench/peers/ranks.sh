#!/bin/sh
# Time per iteration of CG without preconditioner on several MPI ranks, one thread each: krylocl, PETSc and hypre on the same
# files, one after another in every round. Prints medians of the rounds in ms, and each peer's time over that of
# krylocl's csr-scalar, the median of the ratios within rounds (above 1: krylocl is faster).
# usage: ranks.sh A.mtx...   (plain files, symmetric positive definite; make, and make -C bench/peers first)
# Environment: RANKS ("1 2 4"), ROUNDS (5), ITERATIONS (100), FORMATS ("csr-scalar auto"), PARTITION (rows), KRYLOCL
# (build/krylocl), PEERS_BUILD (build/peers), SETTLE (the pause before each run, 1 s), RAW (a file for the samples).
root=$(cd "$(dirname "$0")/../.." && pwd)
krylocl=${KRYLOCL:-$root/build/krylocl} programs=${PEERS_BUILD:-$root/build/peers}
[ $# -gt 0 ] || { sed -n '2,8s/^# //p' "$0" >&2; exit 2; }
scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT
raw=${RAW:-$scratch/raw}
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMP_NUM_THREADS=1 KRYLOCL_CACHE=
OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_orte_execute_quiet=1 PEER_REPETITIONS=3
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe OMP_NUM_THREADS KRYLOCL_CACHE
export OMPI_MCA_hwloc_base_binding_policy OMPI_MCA_orte_execute_quiet PEER_REPETITIONS

# The number after a key of a JSON text.
number() { tr -d '\n\t' | sed -n "s/.*\"$1\": *\([0-9.e+-]*\).*/\1/p"; }
sample() { # MATRIX RANKS ROUND NAME SECONDS
  [ -z "$5" ] || printf '%s\t%s\t%s\t%s\t%s\n' "$(basename "$1" .mtx)" "$2" "$3" "$4" "$5" >>"$raw"
}
own() { # MATRIX RANKS ROUND FORMAT
  mpirun -n "$2" "$krylocl" solve "$1" --solver cg --precond none --format "$4" --partition "${PARTITION:-rows}" --device cpu \
    --max-iter "${ITERATIONS:-100}" --tol 0 --no-direct -q --json "$scratch/json" >/dev/null 2>&1
  sample "$1" "$2" "$3" "krylocl $4" "$(number seconds_per_iteration <"$scratch/json")"
}
peer() { # MATRIX RANKS ROUND NAME
  [ -x "$programs/$4" ] || return 0
  mpirun -n "$2" "$programs/$4" "$1" 2>/dev/null >"$scratch/json"
  sample "$1" "$2" "$3" "$4" "$(sed 's/.*"median": *//; s/,.*//' "$scratch/json")"
}

: >"$raw"
for matrix in "$@"; do
  for n in ${RANKS:-1 2 4}; do
    for round in $(seq "${ROUNDS:-5}"); do
      for format in ${FORMATS:-csr-scalar auto}; do sleep "${SETTLE:-1}"; own "$matrix" "$n" "$round" "$format"; done
      for name in petsc hypre; do sleep "${SETTLE:-1}"; peer "$matrix" "$n" "$round" $name; done
    done
  done
done
awk -F'\t' '
  function median(list, n,   a, i, j, t) {
    split(list, a, " ")
    for (i = 2; i <= n; i++) for (j = i; j > 1 && a[j] + 0 < a[j - 1] + 0; j--) { t = a[j]; a[j] = a[j - 1]; a[j - 1] = t }
    return n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2
  }
  { row = $1 "\t" $2 "\t" $4; if (!(row in count)) order[++rows] = row
    count[row]++; times[row] = times[row] " " $5
    if ($4 == "krylocl csr-scalar") base[$1, $2, $3] = $5
    if (base[$1, $2, $3]) { ratios[row] = ratios[row] " " $5 / base[$1, $2, $3]; shared[row]++ } }
  END { printf "%-20s %5s  %-20s %10s %6s\n", "matrix", "ranks", "program", "ms", "ratio"
        for (i = 1; i <= rows; i++) { r = order[i]; split(r, f, "\t")
          printf "%-20s %5d  %-20s %10.4f %6.2f\n", f[1], f[2], f[3], 1e3 * median(times[r], count[r]), median(ratios[r], shared[r]) } }' "$raw"
