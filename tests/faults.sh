#!/bin/sh
# Injected failures: the n-th OpenCL call, and the n-th allocation of the program, fail once or from then on, for n spread
# over the whole run (KRYLOCL_THOROUGH=1: more of them, 2: every one). The program must end, by an exit
# code that says what happened, with a message; and where it succeeds all the same, x is right. The n-th thread cannot be
# created: x has the same bits. Usage: tests/faults.sh build/krylocl
. "$(dirname "$0")/program.inc"
root=$(cd "$OLDPWD" && cd "$(dirname "$0")/.." && pwd)
KRYLOCL_CACHE=$dir/cache
export KRYLOCL_CACHE

case ${SAN:+asan}$(ldd "$prog" 2>/dev/null) in
*asan*) echo "skip injected failures: the sanitizer must be loaded first"; echo "0 passed, 0 failed, 1 skipped"; exit 0 ;;
'') echo "skip injected failures: no LD_PRELOAD here"; echo "0 passed, 0 failed, 1 skipped"; exit 0 ;;
esac
for shim in opencl alloc threads; do
  libraries=-ldl
  [ $shim != opencl ] || libraries="-pthread -ldl -Wl,--no-as-needed -l:libOpenCL.so.1" # which the library then finds loaded, behind it
  ${CC:-cc} -shared -fPIC -O1 -o $shim.so "$root/tests/faults/$shim.c" $libraries 2>log || { echo "skip $shim: $(head -1 log)"; rm -f $shim.so; }
done

"$prog" generate poisson2d:12 -q -o A.mtx --rhs b.rhs
"$prog" generate convection:8 -q -o U.mtx

hang=1000 # seconds after which a run counts as endless, however busy the machine is
# One run: EXIT CODES THAT ARE RIGHT, then the command. What failed is left in the file wrong.
attempt() {
  codes=$1
  shift
  rm -f x.mtx
  timeout $hang env LD_PRELOAD="$shim" $later "$@" >out 2>err
  got=$?
  case " $codes " in *" $got "*) ;; *) echo "  exit $got at $FAULT_AT: $(tail -1 err)" >>wrong; return ;; esac
  [ $got -eq 0 ] || [ -s err ] || echo "  exit $got at $FAULT_AT without a message" >>wrong
  if [ $got -eq 0 ] && [ -e x.mtx ]; then
    "$prog" check A.mtx b.rhs x.mtx -q --check none >/dev/null 2>&1 ||
      echo "  exit 0 at $FAULT_AT with a wrong x" >>wrong
  elif [ $got -ne 0 ] && [ $got -ne 1 ] && [ -e x.mtx ]; then
    tail -1 x.mtx | grep -q . || echo "  exit $got at $FAULT_AT with half an x" >>wrong
  fi
}

# SHIM RUNS CODES WHAT COMMAND...: counts the calls, then fails some of them.
inject() {
  shim=$dir/$1.so runs=$2 codes=$3 what=$4
  shift 4
  [ -e "$shim" ] || return
  : >wrong
  "$@" >/dev/null 2>&1 # what it keeps is there for all others
  env LD_PRELOAD="$shim" FAULT_COUNT="$dir/count" "$@" >/dev/null 2>&1
  calls=$(cat count) step=1 tried=0
  case ${KRYLOCL_THOROUGH:-0} in 0) ;; 1) runs=$((runs * 12)) ;; *) runs=$calls ;; esac
  [ "$calls" -le "$runs" ] || step=$((calls / runs))
  export FAULT_AT=1
  while [ "$FAULT_AT" -le "$calls" ]; do
    later='' && attempt "$codes" "$@"
    [ $((tried % 3)) -ne 0 ] || { later=FAULT_LAST=1 && attempt "$codes" "$@"; }
    tried=$((tried + 1)) FAULT_AT=$((FAULT_AT + step))
  done
  unset FAULT_AT
  head -5 wrong
  [ "$tried" -gt 3 ] && [ ! -s wrong ]
  verdict $? "$what: $tried of $calls calls fail"
}

if "$prog" info A.mtx -d opencl -q 2>err; then
  # 0: not needed, or tried again; 4: device or driver; 5: memory
  inject opencl 10 "0 4 5" "OpenCL, cg" "$prog" solve A.mtx b.rhs -d opencl -f ell -s cg -o x.mtx
  inject opencl 7 "0 4 5" "OpenCL, auto" "$prog" solve A.mtx b.rhs -d opencl -o x.mtx
  inject opencl 4 "0 4 5" "OpenCL, devices" "$prog" devices
else
  echo "skip OpenCL: $(head -1 err)"
fi

# Seven threads beside the first, from the reader on; with --threads 1 none.
teams() {
  "$prog" generate poisson3d:20 -q -o T.mtx
  solve="$prog solve T.mtx -d cpu -s cg -f csr-scalar -q"
  $solve --threads 1 -o one.mtx || return 1
  env LD_PRELOAD="$dir/threads.so" FAULT_COUNT="$dir/count" $solve --threads 1 -o x.mtx && [ "$(cat count)" -eq 0 ] || return 1
  env LD_PRELOAD="$dir/threads.so" FAULT_COUNT="$dir/count" $solve --threads 8 -o x.mtx && [ "$(cat count)" -eq 7 ] || return 1
  for at in 1 2 7; do
    for last in '' FAULT_LAST=1; do
      rm -f x.mtx
      env LD_PRELOAD="$dir/threads.so" FAULT_AT=$at $last timeout $hang $solve --threads 8 -o x.mtx && cmp x.mtx one.mtx || return 1
    done
  done
}
if [ -e threads.so ]; then
  teams
  verdict $? "threads that cannot be created, and --threads 1"
fi
inject alloc 13 "0 5" "allocations, solve" "$prog" solve A.mtx b.rhs -d cpu -o x.mtx --json j.json --history h.csv
inject alloc 10 "0 5" "allocations, lsqr in mixed company" "$prog" solve U.mtx -d cpu -s lsqr -p jacobi -f csr-scalar
inject alloc 7 "0 5" "allocations, amg" "$prog" solve A.mtx b.rhs -d cpu -s cg -p amg -o x.mtx
inject alloc 7 "0 5" "allocations, info" "$prog" info U.mtx -d cpu --json j.json
inject alloc 7 "0 5" "allocations, convert" "$prog" convert A.mtx -q -o C.rb
inject alloc 7 "0 5" "allocations, generate" "$prog" generate wathen:5 -q -o G.mtx --rhs g.rhs
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
