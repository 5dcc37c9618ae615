#!/bin/sh
# Devices that are lost during a solve, seen from the program: a launch that fails, all calls from then on, a launch that never
# ends, and a launch and a read that end later than they are waited for. With --fallback cpu the exit code is 0 and x is checked; without it 4, and the x that had been read back is written with its
# residual. The process ends although the driver hangs. Usage: tests/fallback.sh build/krylocl
. "$(dirname "$0")/program.inc"
root=$(cd "$OLDPWD" && cd "$(dirname "$0")/.." && pwd)
KRYLOCL_CACHE= KRYLOCL_PERSISTENT=0 KRYLOCL_SERIES=0 # launches of their own for each stage: a GPU would need one or two
export KRYLOCL_CACHE KRYLOCL_PERSISTENT KRYLOCL_SERIES
skip_all() { echo "skipped: $1"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }
case ${SAN:+asan}$(ldd "$prog" 2>/dev/null) in
*asan*) skip_all "the sanitizer must be loaded first" ;;
'') skip_all "no LD_PRELOAD here" ;;
esac
${CC:-cc} -shared -fPIC -O1 -o shim.so "$root/tests/faults/opencl.c" -pthread -ldl -Wl,--no-as-needed -l:libOpenCL.so.1 2>log || skip_all "$(head -1 log)"
"$prog" generate poisson2d:100 -q -o A.mtx --rhs b.rhs
solve() { "$prog" solve A.mtx b.rhs -d opencl -s cg -p jacobi -f csr-scalar --tol 1e-10 --checkpoint c.kck --every 0.001s "$@"; }
solve -q 2>err || skip_all "$(head -1 err)"

FAULT_CALL=clEnqueueNDRangeKernel LD_PRELOAD=$dir/shim.so FAULT_COUNT=$dir/count solve -q
launches=$(cat count)
FAULT_CALL=clEnqueueReadBuffer LD_PRELOAD=$dir/shim.so FAULT_COUNT=$dir/count solve -q
reads=$(cat count)

# lost WHAT VARIABLES -- OPTIONS: in the middle of the solve; leaves the exit code in $got
lost() {
  what=$1 faults=$2
  shift 2
  rm -f x.mtx j.json h.csv
  # shellcheck disable=SC2086
  (
    export LD_PRELOAD="$dir/shim.so" FAULT_AT=$((launches * 3 / 4)) KRYLOCL_WATCHDOG=10 $faults
    solve "$@" -o x.mtx --json j.json --history h.csv
  ) >out 2>err </dev/null
  got=$?
}

# WHAT VARIABLES MESSAGE [LEAST]: and the least iteration of the x that was read back
each() {
  lost "$1" "$2" --fallback cpu
  [ "$got" -eq 0 ] && "$prog" check A.mtx b.rhs x.mtx -q --check none && grep -q 'device was lost' out && [ -s h.csv ]
  verdict $? "$1: continued on the CPU (exit $got)"
  json j.json 'd["fallback"]["to"] == "cpu" and '"${4:-1}"' <= d["fallback"]["at_iteration"] <= d["iterations"] and d["converged"]'
  lost "$1" "$2"
  [ "$got" -eq 4 ] && [ -s x.mtx ] && [ -s h.csv ] && grep -q "$3" err
  verdict $? "$1: ended with the x read back (exit $got)"
  json j.json 'd["fallback"]["to"] is None and d["fallback"]["at_iteration"] >= '"${4:-1}"' and not d["converged"]'
  # the residual of that x, or of the initial guess, which may be nearer
  json j.json 'd["true_relative_residual"] <= 1.000001 * min(1, dict(map(tuple, d["history"]))[d["fallback"]["at_iteration"]])'
}
each "a launch that fails" FAULT_CALL=clEnqueueNDRangeKernel clEnqueueNDRangeKernel
each "all later launches" "FAULT_CALL=clEnqueueNDRangeKernel FAULT_LAST=1" clEnqueueNDRangeKernel
each "a launch that never ends" "FAULT_CALL=clEnqueueNDRangeKernel FAULT_HANGS=1" "no answer"
each "a launch that ends late" "FAULT_CALL=clEnqueueNDRangeKernel FAULT_HANGS=1 FAULT_WAKES=10.2" "no answer"
# How many reads there are depends on the time they take: one that there is in any case.
each "a read that ends late" "FAULT_CALL=clEnqueueReadBuffer FAULT_AT=$((reads / 4)) FAULT_HANGS=1 FAULT_WAKES=10.2" "no answer" 0

# In the set-up: the CPU from the beginning.
(
  export LD_PRELOAD="$dir/shim.so" FAULT_CALL=clEnqueueNDRangeKernel FAULT_AT=1 FAULT_LAST=1
  solve --fallback cpu -o x.mtx --json j.json
) >out 2>err </dev/null
[ $? -eq 0 ] && "$prog" check A.mtx b.rhs x.mtx -q --check none
verdict $? "a set-up that fails: the CPU from the beginning"
json j.json 'd["fallback"]["to"] == "cpu" and d["fallback"]["at_iteration"] == 0'
"$prog" solve A.mtx -d cpu --fallback gpu -q >out 2>err
[ $? -eq 2 ] && grep -q "fallback" err
verdict $? "a word that is none"

# One of two ranks loses its device: all end with exit code 4 and its message.
cat >rank.sh <<END
[ "\$OMPI_COMM_WORLD_RANK\$PMI_RANK" != 1 ] || export LD_PRELOAD="$dir/shim.so" FAULT_AT=$launches KRYLOCL_WATCHDOG=10 FAULT_CALL=clEnqueueNDRangeKernel
exec "$prog" solve A.mtx b.rhs -d opencl -s cg -p jacobi -f csr-scalar -q -o r.mtx
END
if command -v mpirun >/dev/null 2>&1 && "$prog" version | grep -q MPI; then
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
  PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
  export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe PRTE_MCA_rmaps_default_mapping_policy \
    OMPI_MCA_mpi_yield_when_idle
  for fault in FAULT_LAST FAULT_HANGS; do
    rm -f r.mtx
    env $fault=1 timeout 1000 mpirun -n 2 sh rank.sh >out 2>err </dev/null
    got=$?
    [ "$got" -eq 4 ] && [ ! -e r.mtx ] && grep -q 'clEnqueueNDRangeKernel failed\|no answer' err
    verdict $? "ranks, $fault: all end (exit $got)"
  done
else
  echo "skipped: no MPI"
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
