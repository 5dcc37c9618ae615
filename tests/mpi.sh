#!/bin/sh
# Several ranks: the conformance programs on 1, 2 and 4. Without MPI it is skipped. The program under mpirun: ranks.sh.
# Every run ends, a failure on one rank too: a rank that waits for ever would be killed and counted.
# By default natively on two ranks, beside a device and on it; KRYLOCL_THOROUGH=1: natively on one and four, more methods and counts.
# usage: tests/mpi.sh build/krylocl
. "$(dirname "$0")/mpi.inc"
types= # of the runs on four ranks

tally() { # STATUS WHAT: of a program that ran to $tmp/log
  grep -E '^FAIL' "$tmp/log" | head -20
  if [ -n "$SAN" ]; then grep -aE -A25 'WARNING: ThreadSanitizer|ERROR: AddressSanitizer|runtime error' "$tmp/log" | head -60; fi
  read -r p f _ <<TOTALS
$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed.*/\1 \2/p' "$tmp/log")
TOTALS
  passed=$((passed + ${p:-0})) failed=$((failed + ${f:-0}))
  check "$2: exit status $1" "$1"
}
conform() { # N DEVICE WHAT [PROGRAMS]: of tests/mpi/systems.h; none: all
  for program in ${4:-conform columns reproducible failures}; do
    ranks "$1" "$BUILD/tests/mpi/${program}_mpi" "$2" >"$tmp/log" 2>&1
    tally $? "${program}_mpi on $1 ranks, $3"
  done
}
native() { KRYLOCL_SOLVERS=${KRYLOCL_SOLVERS:-$2} conform "$1" cpu native; } # N METHODS; none: all
# With sanitizers, which see the host's code, one method of each kind.
kinds=${SAN:+cg,cg-pipelined,gmres,bicg,lsqr}
# One rank, and four natively: of other methods and formats the host's code that two ranks and two hosts of two run.
[ -n "$SAN" ] || [ "$thorough" -lt 1 ] || native 1 ''
native 2 "$kinds"
KRYLOCL_SOLVERS=cg,bicg KRYLOCL_MPI_SHARED=0 conform 2 cpu "native, by messages alone"
# Four ranks wait for each other on fewer processors: by default one method in one type, one column.
solvers=cg,bicg programs=
if [ "$thorough" -lt 1 ]; then solvers=cg types=z programs='conform reproducible failures'; fi
KRYLOCL_TYPES=${KRYLOCL_TYPES:-$types} KRYLOCL_SOLVERS=$solvers KRYLOCL_MPI_SHARED=2 conform 4 cpu "native, two hosts" "$programs"
if [ "$thorough" -gt 1 ]; then native 4 "$kinds"; elif [ -z "$SAN" ] && [ "$thorough" = 1 ]; then native 4 cg,cg-pipelined,gmres,idr,bicg,lsqr; fi
if [ "$opencl" ]; then
  # Most of the time is compiling: all methods with KRYLOCL_THOROUGH=2; below, the program runs three others there.
  case $KRYLOCL_THOROUGH$KRYLOCL_SOLVERS in
    '' | 0) export KRYLOCL_SOLVERS=cg ;;
    1) export KRYLOCL_SOLVERS=cg,bicg ;;
  esac
  some=
  if [ "$thorough" -lt 1 ]; then some=conform; fi
  # First where one rank compiles: two would compile the same kernels at once.
  KRYLOCL_SOLVERS=${KRYLOCL_SOLVERS:-cg,bicg,idr} conform 2 cpu,0:0 "native beside an OpenCL device"
  conform 2 0:0 "an OpenCL device" "$some"
  KRYLOCL_LAYOUT=gpu KRYLOCL_SOLVERS=cg conform 2 0:0 "an OpenCL device, layout of a GPU" "$some"
else
  echo "skipped: no OpenCL device"
fi

for n in 1 2 4; do
  # Fewer by default: most of the waiting of four ranks beside other programs was here.
  if [ "$thorough" -lt 1 ] && [ $n = 4 ]; then continue; fi
  ranks $n "$BUILD/tests/mpi/read_mpi" "$tmp" >"$tmp/log" 2>&1
  tally $? "read_mpi on $n ranks"
  if [ "$thorough" -lt 1 ] && [ $n = 1 ]; then continue; fi
  ranks $n "$BUILD/tests/mpi/scale_mpi" >"$tmp/log" 2>&1
  tally $? "scale_mpi on $n ranks"
  ranks $n "$BUILD/tests/mpi/context_mpi" cpu >"$tmp/log" 2>&1
  tally $? "context_mpi on $n ranks"
  for program in given shells update; do
    ranks $n "$BUILD/tests/mpi/${program}_mpi" cpu >"$tmp/log" 2>&1
    tally $? "${program}_mpi on $n ranks"
  done
  ranks $n "$BUILD/tests/mpi/rectangle_mpi" >"$tmp/log" 2>&1
  tally $? "rectangle_mpi on $n ranks"
done
ranks 2 "$BUILD/tests/mpi/reports_mpi" >"$tmp/log" 2>&1
tally $? "reports_mpi"
for n in 1 2 3; do
  if [ "$thorough" -lt 1 ] && [ $n = 1 ]; then continue; fi
  ranks $n "$BUILD/tests/mpi/checkpoint_mpi" >"$tmp/log" 2>&1
  tally $? "checkpoint_mpi on $n ranks"
done
KRYLOCL_MPI_SHARED=0 ranks 2 "$BUILD/tests/mpi/checkpoint_mpi" >"$tmp/log" 2>&1
tally $? "checkpoint_mpi on 2 ranks, by messages alone"
for n in 2 0; do # memory that ranks share, messages
  KRYLOCL_MPI_SHARED=$n ranks 2 "$BUILD/tests/mpi/waits_mpi" >"$tmp/log" 2>&1
  tally $? "waits_mpi, KRYLOCL_MPI_SHARED=$n"
done
if [ "$opencl" ] && [ "$thorough" -ge 1 ]; then
  ranks 2 "$BUILD/tests/mpi/rectangle_mpi" 0:0 >"$tmp/log" 2>&1
  tally $? "rectangle_mpi on 2 ranks, an OpenCL device"
  ranks 2 "$BUILD/tests/mpi/checkpoint_mpi" 0:0 >"$tmp/log" 2>&1
  tally $? "checkpoint_mpi on 2 ranks, an OpenCL device"
  ranks 2 "$BUILD/tests/mpi/checkpoint_mpi" cpu,0:0 >"$tmp/log" 2>&1
  tally $? "checkpoint_mpi on 2 ranks, native beside an OpenCL device"
fi
echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
