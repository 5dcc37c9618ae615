#!/bin/sh
# Times per iteration on several ranks with latency added to every message (bench/delay.c), beside docs/scaling.md's model:
# the difference of solves of 100 and of 400 iterations, without the sums that begin and end a solve.
# usage: delay.sh [SYSTEM]    (poisson2d:30)
# Environment: KRYLOCL (build/krylocl), RANKS ("2 4"), DELAYS ("0 50 200 1000", us), SOLVERS, ROUNDS (5; the least counts).
system=${1:-poisson2d:30}
root=$(cd "$(dirname "$0")/.." && pwd)
krylocl=${KRYLOCL:-$root/build/krylocl}
scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMP_NUM_THREADS=1 KRYLOCL_CACHE=
OMPI_MCA_orte_execute_quiet=1 KRYLOCL_MPI_SHARED=0 # by messages, which can be delayed
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe OMP_NUM_THREADS KRYLOCL_CACHE
export OMPI_MCA_orte_execute_quiet KRYLOCL_MPI_SHARED
mpicc -shared -fPIC -O2 "$root/bench/delay.c" -o "$scratch/delay.so" -lm || exit 4

seconds() { # RANKS DELAY SOLVER ITERATIONS: of one solve
  DELAY_US=$2 mpirun -n "$1" -x DELAY_US -x LD_PRELOAD="$scratch/delay.so" "$krylocl" solve "$system" --solver "$3" --precond none \
    --format csr-scalar --device cpu --tol 0 --max-iter "$4" --no-direct -q --json "$scratch/json" >/dev/null 2>&1
  tr -d '\n\t' <"$scratch/json" | sed -n 's/.*"solve": *\([0-9.e+-]*\).*/\1/p'
}
printf '%5s %-14s' ranks method
for d in ${DELAYS:-0 50 200 1000}; do printf ' %8s' "$d us"; done
echo
for n in ${RANKS:-2 4}; do
  for solver in ${SOLVERS:-cg cg-single cg-pipelined}; do
    printf '%5d %-14s' "$n" "$solver"
    for d in ${DELAYS:-0 50 200 1000}; do
      for _ in $(seq "${ROUNDS:-5}"); do echo "$(seconds "$n" "$d" "$solver" 100) $(seconds "$n" "$d" "$solver" 400)"; done |
        awk 'NR == 1 || $1 < few { few = $1 } NR == 1 || $2 < many { many = $2 } END { printf " %8.1f", 1e6 * (many - few) / 300 }'
    done
    echo
  done
done
