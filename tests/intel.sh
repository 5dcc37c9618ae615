#!/bin/sh
# The conformance programs on a second driver, Intel's for CPUs (.ci/intel.sh), which runs work-groups at once, one per core:
# in the CPU layout, in the GPU layout, and the persistent kernel with one group per core that exchange sums and halos.
# In CI, not in `make check`: it downloads 300 MB. Without the driver it is skipped; with `must` it fails.
# usage: [BUILD=build] tests/intel.sh [must]
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
logs=$BUILD/tests/logs-intel cores=$(getconf _NPROCESSORS_ONLN)

one() { # layout persistent program
  log=$logs/$1-$2 shown=$(echo "$1 $2" | sed 's/ 0$//; s/ / persistent /')
  mkdir -p "$log"
  KRYLOCL_LAYOUT=$1 KRYLOCL_PERSISTENT=$2 LOGS=$log sh tests/run.sh --one "$BUILD/tests/$3" | sed "1s/^/$(printf '%-14s' "$shown")/"
  grep -qE 'everything on opencl|does not run two work-groups' "$log/$3.log" || return
  [ "$cores" = 1 ] || echo "FAIL tests/intel.sh: $3: not the expected driver" | tee "$log/$3.log.failed"
}
if [ "$1" = --one ]; then shift; one "$@"; exit 0; fi

if ! driver=$(sh .ci/intel.sh 2>"$BUILD/intel.log"); then
  if [ "$1" = must ]; then
    echo "FAILED tests/intel.sh: $(tail -1 "$BUILD/intel.log")" && echo "0 passed, 1 failed, 0 skipped" && exit 1
  fi
  echo "skipped: $(tail -1 "$BUILD/intel.log")" && echo "0 passed, 0 failed, 1 skipped" && exit 0
fi
eval "$driver"
# Not optimised, which would take this driver five times as long. Waiting threads of ours leave the cores to the driver.
XDG_CACHE_HOME=$(cd "$BUILD" && pwd)/cache
LIMIT=300 # groups that do not run at once wait for ever; the longest of these programs takes 15 s
export BUILD XDG_CACHE_HOME LIMIT KRYLOCL_CACHE='' KRYLOCL_OPTIONS=-cl-opt-disable
rm -rf "$logs" && mkdir -p "$logs" || exit 1
for program in spmv multi_rhs solver reasons least mixed exec choose control upload programs; do echo "cpu 0 conform_$program"; done >"$logs/list"
for program in multi_rhs exec; do echo "gpu 0 conform_$program"; done >>"$logs/list"
xargs -L 1 -P "$cores" sh "$0" --one <"$logs/list"
# Groups that wait for each other need the cores to themselves.
one gpu 1 conform_groups
for program in solver reasons; do one "gpu:$cores" 1 conform_$program; done
# The two other forms take every second method each: a method records the same program in all.
for way in 2 3; do
  KRYLOCL_SOLVERS=$(sed -n 's/^KCL_METHOD(\(.*\))/\1/p' solver/methods/list.def | tr _ - | awk -v way=$way 'NR % 2 == way % 2' | paste -sd,)
  export KRYLOCL_SOLVERS
  for program in solver reasons; do one "gpu:$cores" $way conform_$program; done
done
unset KRYLOCL_SOLVERS
one "gpu:$cores" 1 conform_control
cat "$logs"/*/*.failed 2>/dev/null
cat "$logs"/*/*.count | awk -v more="$(cat "$logs"/*/*.failed 2>/dev/null | grep -c '^FAIL tests/intel.sh')" '{ p += $1; f += $2; s += $3 }
  END { f += more; print p " passed, " f " failed, " s " skipped"; exit f > 0 || !p }'
