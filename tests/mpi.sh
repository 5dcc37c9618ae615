#!/bin/sh
# Several ranks: the conformance program on 1, 2 and 4, and the program krylocl under mpirun. Without MPI it is skipped.
# Every run ends within its limit, a failure on one rank too: a rank that waits for ever would be killed and counted.
# usage: tests/mpi.sh build/krylocl
krylocl=$1
BUILD=${BUILD:-build}
conform=$BUILD/tests/mpi/conform_mpi
passed=0 failed=0
if ! command -v mpirun >/dev/null 2>&1 || [ ! -x "$conform" ]; then
  echo "skipped: no MPI (libopenmpi-dev openmpi-bin)"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
fi
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1
# More ranks than processors are allowed: by Open MPI 4 and 5; MPICH always does.
OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMP_NUM_THREADS OMPI_MCA_rmaps_base_oversubscribe PRTE_MCA_rmaps_default_mapping_policy
ranks() { # N COMMAND...
  n=$1
  shift
  timeout 300 mpirun -n "$n" "$@"
}
check() { # WHAT STATUS
  if [ "$2" -eq 0 ]; then passed=$((passed + 1)); else
    failed=$((failed + 1))
    echo "FAIL $1"
  fi
}

for n in 1 2 4; do
  ranks $n "$conform" cpu >"$tmp/log" 2>&1
  status=$?
  grep -E '^FAIL|^skipped: [^:]*: [^f]' "$tmp/log" | head -20
  read -r p f _ <<TOTALS
$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed.*/\1 \2/p' "$tmp/log")
TOTALS
  passed=$((passed + ${p:-0})) failed=$((failed + ${f:-0}))
  check "conform_mpi on $n ranks: exit status $status" $status
done
echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
