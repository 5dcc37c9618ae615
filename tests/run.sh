#!/bin/sh
# Runs the tests (all but tests/bits.sh, tests/nvidia_text.sh, tests/intel.sh and tests/mutants.sh), one more at a time than there are processors: one
# line per test with its time and that of processors, what failed or was skipped, all failures again, and the sum as the last line.
# Exit status 1 when anything failed.
# usage: [BUILD=build] [ONLY="NAME..."] [FORMATS=F,...] [SOLVERS=S,...] [TYPES=sdcz] [LIMIT=SECONDS] tests/run.sh
#   ONLY     the tests of these names alone, such as conform_spmv or cli.sh (cli will do)
#   FORMATS  conform_spmv with these formats alone
#   SOLVERS  conform_solver and conform_reasons with these methods alone
#   TYPES    conformance tests in these scalar types alone
#   LIMIT    a test that takes longer has failed: it ends what hangs, not what is slow beside other work (7200)
# By make: make check ONLY=conform_spmv FORMATS=ell TYPES=d
# A test is a program in $BUILD/tests or a script here that is given the path of krylocl. Its last
# line is "N passed, N failed"; its exit status counts as well. A line "skipped: REASON" tells what it did not test.
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
logs=${LOGS:-$BUILD/tests/logs}

one() { # program: runs it, keeps LOG and its three counts in LOG.count
  name=$(basename "$1") log=$logs/$(basename "$1").log begin=$(date +%s)
  case $1 in *.sh) set -- sh "$1" "$BUILD/krylocl" ;; esac
  # Most of a first run is compiling kernels: not optimised here; KRYLOCL_OPTIONS= (set, empty) is as users have it.
  export KRYLOCL_OPTIONS="${KRYLOCL_OPTIONS--cl-opt-disable}"
  if command -v timeout >/dev/null 2>&1; then set -- timeout -k 10 "${LIMIT:-7200}" "$@"; fi
  "$@" >"$log" 2>&1 </dev/null
  status=$?
  # The search for leaks may itself crash where a driver's thread ends under it (seen once, gcc 12): it is made again.
  if [ $status != 0 ] && grep -q 'LeakSanitizer has encountered a fatal error' "$log"; then
    "$@" >"$log" 2>&1 </dev/null
    status=$?
  fi
  [ $status != 124 ] || echo "FAIL tests/run.sh: $name did not end within ${LIMIT:-7200} s" >>"$log"
  times >"$log.times"
  used=$(awk -F '[ms ]+' 'END { print int(60 * ($1 + $3) + $2 + $4 + 0.5) }' "$log.times")
  # A reason to skip counts once, however many formats or types meet it.
  awk -v status=$status '
    /^skip(ped)?[: ]/ { s += !reason[$0]++ }
    /^[0-9]+ passed, [0-9]+ failed/ { p = $1; f = $3; said = 1 }
    END { if (!said) p = status == 0; if (status && !f) f = 1; print p + 0, f + 0, s + 0 }' "$log" >"$log.count"
  read -r p f s <"$log.count"
  printf '%s%-22s %6d passed %4d failed %4d skipped %4d s, of processors %4d s\n' "$ERASE" "$name" "$p" "$f" "$s" $(($(date +%s) - begin)) "$used"
  grep -E '^skip(ped)?[: ]' "$log" | sort | uniq -c | awk '{ n = $1; sub(/^ *[0-9]+ /, "    "); print (n > 1 ? $0 " (" n " times)" : $0) }' |
    awk -v where="$log" 'NR <= 5 { print substr($0, 1, 160) } END { if (NR > 5) print "    ... and " NR - 5 " kinds more in " where }'
  [ "$f" -eq 0 ] && return
  { grep -A12 '^FAIL' "$log" || tail -40 "$log"; } | head -80 | sed 's/^/  | /'
  { echo "FAILED $name: exit status $status, $p passed, $f failed"; grep -A3 '^FAIL' "$log" || tail -15 "$log"; } |
    head -16 | sed '2,$s/^/  | /' >"$log.failed"
}
if [ "$1" = --one ]; then one "$2"; exit 0; fi

umask 022 # cache folders that a group can write are refused, and Ubuntu's users have 002
rm -rf "$logs" && mkdir -p "$logs" || exit 1
# Compiled kernels stay in the build folder, in the driver's cache alone: PoCL compiles 1.3 times as long for binaries
# of ours, more than they save when all is compiled once.
KRYLOCL_CACHE=
kept=${KRYLOCL_TEST_CACHE:-$(cd "$BUILD" && pwd)/cache}
# While tests run, in memory, if there is room and programs may run from there: PoCL waits for the disk twice per kernel, an
# eighth of the time.
mkdir -p "$kept/pocl"
memory=
if [ "$(df -Pk /dev/shm 2>/dev/null | awk 'END { print $4 + 0 }')" -gt 2000000 ] && memory=$(mktemp -d -p /dev/shm); then
  echo '#!/bin/sh' >"$memory/probe" && chmod +x "$memory/probe"
  if ! { "$memory/probe" 2>/dev/null && rm "$memory/probe" && cp -r "$kept/." "$memory"; }; then
    rm -rf "$memory"
    memory=
  fi
fi
leave() {
  [ -z "$watcher" ] || { kill "$watcher"; printf '%s' "$ERASE"; }
  [ -z "$memory" ] || { cp -r "$memory/." "$kept"; rm -rf "$memory"; }
  watcher='' memory=
}
trap leave EXIT
trap 'exit 130' INT TERM
XDG_CACHE_HOME=${memory:-$kept}
POCL_CACHE_DIR=$XDG_CACHE_HOME/pocl
COMPILER_PATH=$PWD/tests/linker # of kernels
# Every bench and every list of devices measures the stream rate, which takes a second with vectors beyond the caches.
KRYLOCL_RATE_ROOM=${KRYLOCL_RATE_ROOM-12000000}
# Without a cache of ours each context would test the driver's kernels again (test_selftest).
KRYLOCL_SELFTEST=${KRYLOCL_SELFTEST-0}
# PoCL with fewer declarations and functions, if kernels run with it as well.
if vendors=$(sh tests/driver/pocl.sh "$BUILD/driver") && OCL_ICD_VENDORS=$vendors KRYLOCL_OPTIONS=-cl-opt-disable \
  "$BUILD/krylocl" solve poisson2d:3 -d opencl -q >/dev/null 2>&1; then
  export OCL_ICD_VENDORS="$vendors"
fi
LSAN_OPTIONS=suppressions=$PWD/tests/lsan.supp:print_suppressions=0
# PoCL's compiler (LLVM) gives the thread that first compiles a signal stack of its own; the sanitizer would unmap it.
ASAN_OPTIONS=use_sigaltstack=0
# Children of tests that fork have threads, too.
TSAN_OPTIONS=suppressions=$PWD/tests/tsan.supp:print_suppressions=0:history_size=5:die_after_fork=0
if [ -n "$FORMATS" ]; then export KRYLOCL_FORMATS="$FORMATS"; fi
if [ -n "$SOLVERS" ]; then export KRYLOCL_SOLVERS="$SOLVERS"; fi
if [ -n "$TYPES" ]; then export KRYLOCL_TYPES="$TYPES"; fi
wanted() { # a test's path: is it asked for?
  [ -n "$ONLY" ] || return 0
  for name in $ONLY; do
    case $1 in */"$name" | */"$name".sh) return 0 ;; esac
  done
  return 1
}
export KRYLOCL_RATE_ROOM KRYLOCL_SELFTEST BUILD XDG_CACHE_HOME POCL_CACHE_DIR COMPILER_PATH LSAN_OPTIONS ASAN_OPTIONS TSAN_OPTIONS KRYLOCL_CACHE
list() { # the tests asked for, the longest first, by processors' time
  for t in tests/mpi.sh tests/ranks.sh tests/oclgrind.sh "$BUILD"/tests/conform_groups "$BUILD"/tests/conform_multi_rhs tests/experiments.sh \
    "$BUILD"/tests/conform_choose tests/faults.sh "$BUILD"/tests/conform_solver "$BUILD"/tests/real "$BUILD"/tests/real_least \
    "$BUILD"/tests/conform_spmv "$BUILD"/tests/conform_operator "$BUILD"/tests/test_persistent "$BUILD"/tests/conform_alloc \
    "$BUILD"/tests/test_update_hierarchy tests/cli.sh tests/report.sh "$BUILD"/tests/conform_* tests/*.sh "$BUILD"/tests/real* "$BUILD"/tests/test_*; do
    wanted "$t" || continue
    case $t in
      *.o | *.d | tests/run.sh | tests/bits.sh | tests/nvidia_text.sh | tests/intel.sh | tests/mutants.sh) ;;
      tests/oclgrind.sh) [ -n "$SAN" ] || echo "$t" ;; # both want to be loaded first
      *) [ ! -f "$t" ] || echo "$t" ;;
    esac
  done | awk '!seen[$0]++'
}
[ -n "$(list)" ] || { echo "no test is called $ONLY"; exit 1; }
# On a terminal its last line shows how many tests are done, and which run.
status() {
  total=$(list | wc -l)
  while sleep 0.5; do
    running=
    for log in "$logs"/*.log; do
      [ ! -f "$log" ] || [ -f "$log.count" ] || running="$running $(basename "$log" .log)"
    done
    columns=$(stty size 2>/dev/null </dev/tty | cut -d' ' -f2)
    printf '%s%s' "$ERASE" "$(echo "$(find "$logs" -name '*.count' | wc -l | tr -d ' ') of $((total)) tests; running:$running" | cut -c 1-$((${columns:-80} - 1)))"
  done
}
if [ -t 1 ] && [ "${TERM:-dumb}" != dumb ]; then
  ERASE=$(printf '\r\033[K')
  export ERASE
  status &
  watcher=$!
fi
# One more than processors: mpi.sh and ranks.sh wait for half of their time, for mpirun to start and to end. And beside other
# programs one more per program that runs, up to twice as many again: else the tests' share of the processors is small.
processors=$(getconf _NPROCESSORS_ONLN)
others=$(awk '{ split($4, running, "/"); print running[1] - 1 }' /proc/loadavg 2>/dev/null)
[ "${others:-0}" -le $((2 * processors)) ] || others=$((2 * processors))
list | xargs -n 1 -P $((processors + 1 + ${others:-0})) sh "$0" --one
leave
cat "$logs"/*.failed 2>/dev/null
cat "$logs"/*.count | awk '{ p += $1; f += $2; s += $3 } END { print p + 0 " passed, " f + 0 " failed, " s + 0 " skipped"; exit f > 0 || !p }'
