#!/bin/sh
# False alarms of the guard: solves with --guard of all matrices given, on a machine whose memory is sound. One line per matrix: solves that
# ran, that converged, that ended early (memory or time), findings that were counted as errors, returns to a state that had passed
# (a breakdown is looked at twice, so that returns without errors are no alarm). Fails if there is a finding.
#
#   sh tests/guard_alarms.sh build/krylocl A.mtx B.mtx ...
#
# Environment: METHODS, PRECONDS; DEVICE, cpu without it; ITERATIONS, 300 at most; SECONDS_EACH, 20 of processor time.
krylocl=$1
shift
json=$(mktemp)
trap 'rm -f "$json"' EXIT
found=0 solves=0

# number NAME: this field of the report
number() { sed -n "s/.*\"$1\":[^0-9]*\([0-9]*\).*/\1/p" "$json" | head -n 1; }

# solve FILE METHOD PRECOND: its counts are added to those of the matrix
solve() {
  (
    ulimit -t "${SECONDS_EACH:-20}"
    exec "$krylocl" solve "$1" -q -d "${DEVICE:-cpu}" --guard --solver "$2" --precond "$3" --max-iter "${ITERATIONS:-300}" \
      --json "$json"
  ) >/dev/null 2>&1
  case $? in
  0 | 1) ;;
  2 | 3 | 9) return ;; # a method that is not for this matrix
  *) ended=$((ended + 1)) && return ;;
  esac
  ran=$((ran + 1))
  grep -q '"converged":[^t]*true' "$json" && converged=$((converged + 1))
  errors=$((errors + $(number guard_errors)))
  returns=$((returns + $(number guard_rollbacks)))
  [ "$(number guard_errors)" = 0 ] || echo "  $2 $3: $(number guard_errors) findings"
}

echo 'matrix: solves, converged, ended early, findings, returns'
for file; do
  ran=0 converged=0 ended=0 errors=0 returns=0
  for method in ${METHODS:-cg bicgstab idr gmres}; do
    for precond in ${PRECONDS:-jacobi ilut amg}; do solve "$file" "$method" "$precond"; done
  done
  echo "$(basename "$file"): $ran, $converged, $ended, $errors, $returns"
  found=$((found + errors)) solves=$((solves + ran))
done
echo "$solves solves, $found findings"
[ "$found" = 0 ]
