#!/bin/sh
# The kernels under Oclgrind, a simulated device that sees accesses out of bounds, data races, barriers not
# reached by all and uninitialised values: the conformance tests on small sizes, with the source for CPU devices
# (one work-item per group) and with the source for GPUs (KRYLOCL_LAYOUT=gpu). Every format in both, with one matrix, by
# KRYLOCL_THOROUGH=1 with several, each in one type, in turn; with KRYLOCL_THOROUGH=2 in both types. From `make check` with
# KRYLOCL_THOROUGH alone.
# usage: [BUILD=build] tests/oclgrind.sh [PROGRAM...]      default: conform_control conform_spmv
#        conform_solver conform_multi_rhs
# KRYLOCL_SOLVERS=gmres,idr tests/oclgrind.sh conform_solver: these methods in place of cg and bicg, on 16 unknowns.
# Oclgrind's exit status is that of the program, so the log decides. --uninitialized needs optimisation off.
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
case $1 in
  */krylocl) # tests/run.sh gives the path of the program
    shift
    case $KRYLOCL_THOROUGH in '' | 0)
      echo "skipped: the simulated device takes a minute: tests/oclgrind.sh, or KRYLOCL_THOROUGH=1"
      echo "0 passed, 0 failed, 1 skipped"
      exit 0 ;;
    esac ;;
esac
if ! command -v oclgrind >/dev/null 2>&1; then
  echo "skipped: oclgrind is not installed"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
fi
[ $# -gt 0 ] || set -- conform_control conform_spmv conform_solver conform_multi_rhs
KRYLOCL_SMALL=1
KRYLOCL_CACHE= # the simulator's own build options are in no key
export KRYLOCL_SMALL KRYLOCL_CACHE
all= # empty: each source once
[ "${KRYLOCL_THOROUGH:-0}" -lt 2 ] || all=1
folder=$(mktemp -d) || exit 1
trap 'rm -r "$folder"' EXIT
# Checks by source and types. With real types everything. With complex types on CPU devices no uninitialised values:
# Oclgrind reports a vector whose even and odd halves are assigned (several right-hand sides are such vectors on every
# device). It also reports values read from an image that is a function's argument: formats with images have runs of their own.
one() { # layout types flags program
  name=$1-$2-$4
  images=1 # none
  [ -n "$3" ] || images=
  KRYLOCL_NO_IMAGES=$images KRYLOCL_LAYOUT=$1 KRYLOCL_TYPES=$2 oclgrind --data-races $3 --build-options -cl-opt-disable \
    --log "$folder/$name.log" "$BUILD/tests/$4" >"$folder/$name.out" 2>&1
  status=$?
  if [ $status != 0 ]; then
    echo "FAIL tests/oclgrind.sh: $4, source for a $1, types $2, failed on the simulated device:"
    grep -A3 FAIL "$folder/$name.out" | head -20
    tail -3 "$folder/$name.out"
  elif grep -qEi 'race|invalid|uninit|diverg' "$folder/$name.log"; then
    echo "FAIL tests/oclgrind.sh: $4, source for a $1, types $2:"
    grep -Ei -A8 'race|invalid|uninit|diverg' "$folder/$name.log" | head -40
  else
    echo "clean: $4, source for a $1, types $2: $(tail -1 "$folder/$name.out")"
  fi
}

for program; do # two at a time
  flags=--uninitialized
  [ "$program" != conform_multi_rhs ] || flags=
  types=d # conform_spmv by default: formats take turns
  [ "$program" != conform_spmv ] || [ -n "$all" ] || types=dc
  { one gpu $types --uninitialized "$program"; [ -z "$all" ] || one cpu d --uninitialized "$program"; } >"$folder/a" &
  { [ -z "$all" ] || one gpu c "$flags" "$program"; one cpu c '' "$program"; } >"$folder/b"
  wait
  cat "$folder/a" "$folder/b"
  if [ "$program" = conform_spmv ]; then
    (
      export KRYLOCL_FORMATS=csr-image,ell-image,cds-image
      one gpu dz '' "$program"
    )
  fi
  if [ "$program" != conform_spmv ] && [ "$program" != conform_multi_rhs ]; then # the persistent kernel, with one work-group
    modes=1 # halo in local memory; 2: x in global memory; 3: halo in local memory, columns renumbered
    [ -z "$all" ] || modes='1 2 3'
    [ "$program" != conform_control ] || modes=2 # no x in it but of one solve, cg, which conform_solver has in all modes
    for KRYLOCL_PERSISTENT in $modes; do
      export KRYLOCL_PERSISTENT
      one gpu "${all:+d}c" --uninitialized "$program"
    done
    unset KRYLOCL_PERSISTENT
  fi
done >"$folder/all"
cat "$folder/all"
passed=$(grep -c '^clean:' "$folder/all")
failed=$(grep -c '^FAIL' "$folder/all")
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
