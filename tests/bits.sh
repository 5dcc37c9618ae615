#!/bin/sh
# The bits of results, to compare two versions: before a change of structure and after it, each by its own program. Not part of
# make check, nor of what auto chooses by measured times. A line per solve: what was asked for, the exit status, iterations, a checksum of x.
# usage: tests/bits.sh build/krylocl [DEVICE [RANKS]] >before      then, with the other program, >after, and diff before after
# Every method with every preconditioner natively; every method, preconditioner and format in turn elsewhere. All in both real
# and both complex types. JOBS=16: so many at a time.
if [ "$1" = --one ]; then # krylocl DEVICE RANKS SYSTEM TYPE SOLVER PRECOND FORMAT
  shift
  program=$1 device=$2 ranks=$3 what="$4 $5 $6 $7 $8" x=$(mktemp)
  run=
  [ "$ranks" = 1 ] || run="mpirun --oversubscribe -n $ranks"
  out=$($run "$program" solve "$4" --precision "$5" --solver "$6" --precond "$7" --format "$8" --device "$device" \
    --restart 6 --max-iter 60 --no-direct -q -o "$x" --json - 2>/dev/null)
  status=$?
  iterations=$(printf '%s\n' "$out" | sed -n 's/^[[:space:]]*"iterations":[[:space:]]*\([0-9]*\).*/\1/p' | head -1)
  echo "$what: exit $status, ${iterations:--} iterations, x $(cksum <"$x" | tr ' ' -)"
  rm -f "$x"
  exit 0
fi
program=$1 device=${2:-cpu} ranks=${3:-1}
export KRYLOCL_CACHE='' OMP_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 KRYLOCL_RATE_ROOM=12000000
names() { # formats, solvers, preconditioners
  "$program" list | awk -v part="$1" '!/^ / { at = $1 == part } at && /^  [a-z]/ { print $1 }'
}
systems() { # TYPE
  case $1 in s | d) echo poisson2d:21 convection:19 ;; *) echo magnetic:14 helmholtz:13 ;; esac
}
for type in s d c z; do
  for system in $(systems $type); do
    for solver in $(names solvers); do
      preconds="none jacobi"
      [ "$device$ranks" != cpu1 ] || preconds=$(names preconditioners)
      for precond in $preconds; do echo "$system $type $solver $precond csr-scalar"; done
    done
    case $system in poisson* | magnetic*) method=cg ;; *) method=bicg ;; esac
    for precond in $(names preconditioners) auto; do echo "$system $type $method $precond csr-scalar"; done
    for format in $(names formats); do echo "$system $type $method none $format"; done
  done
done | sort -u | xargs -P "${JOBS:-$(getconf _NPROCESSORS_ONLN)}" -L 1 sh "$0" --one "$program" "$device" "$ranks" | sort
