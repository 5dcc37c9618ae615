#!/bin/sh
# Output of the program and its place: closed standard streams, full disks, limits of size, outputs that are inputs or each
# other under another name, an interrupt at every moment. Usage: tests/files.sh build/krylocl.
. "$(dirname "$0")/program.inc"
export KRYLOCL_CACHE=

same() { cmp -s "$1" "$2"; verdict $? "  $1 is right"; }
untouched() { printf 'OLD\n' | cmp -s - "$1"; verdict $? "  $1 is what it was"; }
no_rest() { ls -A . | grep -q '\.tmp'; [ $? -ne 0 ]; verdict $? "  no temporary file is left"; }
exits() { [ "$2" -eq "$1" ]; verdict $? "$3 (exit $1, got $2)"; }

"$prog" generate poisson2d:12 -q -o A.mtx --rhs b.rhs
"$prog" solve A.mtx b.rhs -q -o x.mtx --history h.csv
"$prog" convert A.mtx -q -o A.rows

# ------------------------------------------------------------------ closed standard streams
# The first file that is opened would get the number of a closed stream, and what is printed there.
for closed in '>&-' '<&-' '2>&-' '<&- >&-' '<&- >&- 2>&-'; do
  eval '"$prog" solve A.mtx b.rhs -o y.mtx --history g.csv >out 2>err '"$closed"; exits 0 $? "solve $closed"; same y.mtx x.mtx; same g.csv h.csv
  eval '"$prog" convert A.mtx -o B.rows >out 2>err '"$closed"; exits 0 $? "convert $closed"; same B.rows A.rows
  eval '"$prog" generate poisson2d:12 -o B.mtx --rhs c.rhs >out 2>err '"$closed"; exits 0 $? "generate $closed"; same B.mtx A.mtx; same c.rhs b.rhs
  rm -f y.mtx g.csv B.rows B.mtx c.rhs
done
"$prog" solve A.mtx b.rhs -o - 2>err >&-; exits 3 $? "the result to a closed standard output"
grep -q "standard output (-) is closed" err; verdict $? "  says so"
"$prog" solve A.mtx b.rhs -q -o y.mtx 2>&-; exits 0 $? "quiet, without standard error"; same y.mtx x.mtx
cp A.mtx twice.mtx
"$prog" convert A.mtx -q -o - >>twice.mtx; cat A.mtx A.mtx | cmp -s - twice.mtx; verdict $? "appended to a file by the shell"

# ------------------------------------------------------------------ full disks
# Every result, to a device that is full and under a limit of size: exit 3, and the file of before stays.
gnuplot --version >/dev/null 2>&1 && plot=yes || echo "skip pictures of points: no gnuplot"
full() { # WHAT ARGUMENTS...
  result=$1 option=$2 name=$3
  shift 3
  [ -c /dev/full ] && run 3 "$result to a full disk" "$@" "$option" full.link/$name
  printf 'OLD\n' >limited.$name
  said=$(ulimit -f 0; exec "$prog" "$@" "$option" limited.$name 2>&1 </dev/null)
  got=$?
  untouched limited.$name
  if [ $got -ne 3 ] && [ -z "$said" ] && [ "$1" = devices ] && "$prog" devices 2>/dev/null | grep -q ' gpu '; then
    echo "skip $result beyond the limit of size: an OpenCL driver that cannot write files ends the program ($got)"
    return
  fi
  exits 3 $got "$result beyond the limit of size"
  printf '%s\n' "$said" >err
  says "cannot write"
}
mkdir full.link
for name in x.mtx x.rb x.kcl b.rhs s.json h.csv t.csv p.svg p.png tune.txt; do ln -s /dev/full full.link/$name; done
full "x" -o x.mtx solve A.mtx b.rhs -q
full "the JSON of solve" --json s.json solve A.mtx b.rhs -q
full "the history" --history h.csv solve A.mtx b.rhs -q
full "a matrix" -o x.rb convert A.mtx -q
full "a binary matrix" -o x.kcl convert A.mtx -q
full "a generated matrix" -o x.mtx generate poisson2d:12 -q
full "its right-hand side" --rhs b.rhs generate poisson2d:12 -q -o C.mtx
full "the JSON of bench" --json s.json bench A.mtx --formats ell --iterations 1 -q
full "the CSV of bench" --csv t.csv bench A.mtx --formats ell --iterations 1 -q
full "the JSON of info" --json s.json info A.mtx -q
full "the JSON of check" --json s.json check A.mtx b.rhs x.mtx -q
full "the JSON of devices" --json s.json devices -q
full "the tunables" -o tune.txt tune A.mtx --seconds 1 -q
full "a picture" --plot p.svg solve A.mtx b.rhs -q
full "a picture of the structure" --plot p.svg info A.mtx -q
run 0 "a picture" solve A.mtx b.rhs -q --plot good.svg; grep -q '</svg>' good.svg; verdict $? "  is complete"
if [ "$plot" ]; then full "a picture of points" --plot p.png solve A.mtx b.rhs -q; fi
if [ -c /dev/full ]; then
  "$prog" solve A.mtx b.rhs >/dev/full 2>err; exits 3 $? "the report to a full disk"
  "$prog" info A.mtx >/dev/full 2>err; exits 3 $? "the report of info to a full disk"
  "$prog" --help >/dev/full 2>err; exits 3 $? "the help to a full disk"
  "$prog" solve A.mtx b.rhs -q -o - >/dev/full 2>err; exits 3 $? "x to standard output that is full"
  run 3 "x to a full disk, the rest" solve A.mtx b.rhs -q -o full.link/x.mtx --history kept.csv --json kept.json
  same kept.csv h.csv; [ -s kept.json ]; verdict $? "  the JSON is written"
fi
no_rest

# ------------------------------------------------------------------ outputs that are inputs, or each other
cp A.mtx z.mtx; ln z.mtx hard.mtx; ln -s z.mtx soft.mtx; mkdir sub; cp x.mtx x0.mtx
for name in ./z.mtx sub/../z.mtx "$PWD/z.mtx" hard.mtx soft.mtx; do
  run 2 "x over A as $name" solve z.mtx b.rhs -o "$name"; says "is an input file"
done
same z.mtx A.mtx
run 2 "x over the right-hand side" solve A.mtx b.rhs -o ./b.rhs; says "is an input file"
run 2 "x over the initial guess" solve A.mtx b.rhs --x0 x0.mtx -o ./x0.mtx; says "is an input file"
run 2 "the history over A" solve z.mtx b.rhs --history ./z.mtx; says "is an input file"
run 2 "JSON of info over A" info z.mtx --json ./z.mtx; says "is an input file"
run 2 "CSV of bench over A" bench A.mtx z.mtx --csv ./z.mtx; says "is an input file"
run 2 "JSON of check over x" check A.mtx b.rhs x0.mtx --json ./x0.mtx; says "is an input file"
run 2 "convert onto itself" convert z.mtx -o hard.mtx; says "is an input file"
run 2 "the tunables over A" tune z.mtx -o soft.mtx; says "is an input file"
"$prog" solve - b.rhs -o z.mtx <z.mtx >out 2>err; exits 2 $? "x over standard input"; same z.mtx A.mtx
run 2 "two results, not there yet" solve A.mtx b.rhs -o new.mtx --json sub/../new.mtx; says "are one file"
run 2 "two results, by another folder" solve A.mtx b.rhs -o new.mtx --json "$PWD/new.mtx"; says "are one file"
run 2 "two results, by a link" solve A.mtx b.rhs -o hard.mtx --json z.mtx; says "are one file"
run 2 "matrix and right-hand side" generate poisson2d:12 -o new.mtx --rhs ./new.mtx; says "are one file"
"$prog" solve A.mtx b.rhs -o report >report 2>err; exits 2 $? "x where the report goes"
run 0 "two results to /dev/null" solve A.mtx b.rhs -o /dev/null --json /dev/null
run 0 "two results with one name in two folders" solve A.mtx b.rhs -q -o new.mtx --json sub/new.mtx
run 0 "through a link" solve A.mtx b.rhs -q -o soft.mtx; [ -L soft.mtx ]; verdict $? "  which stays one"; same z.mtx x.mtx
ln -s later.mtx dangling.mtx; ln -s ../dangling.mtx sub/second.mtx; ln -s nowhere/x.mtx lost.mtx; ln -s loop.mtx loop.mtx
run 2 "two results, by a link to what is not there" solve A.mtx b.rhs -o sub/second.mtx --json later.mtx; says "are one file"
run 0 "through links to a file that is not there" solve A.mtx b.rhs -q -o sub/second.mtx
[ -L sub/second.mtx ] && [ -L dangling.mtx ] && [ -f later.mtx ]; verdict $? "  which stay links"; same later.mtx x.mtx
run 3 "through a link into no folder" solve A.mtx b.rhs -q -o lost.mtx; says "cannot write: No such file"; [ -L lost.mtx ]; verdict $? "  which stays"
run 3 "through a link to itself" solve A.mtx b.rhs -q -o loop.mtx; says "Too many levels"; [ -L loop.mtx ]; verdict $? "  which stays"
no_rest

# ------------------------------------------------------------------ an interrupt at every moment
# x is the old one or whole; once it was computed, it is written.
"$prog" generate poisson2d:200 -q -o M.mtx --rhs M.rhs
lines=$("$prog" solve M.mtx M.rhs -q -o - | wc -l)
bad=0 written=0
for delay in 0.02 0.05 0.08 0.11 0.14 0.17 0.2 0.23 0.26 0.3 0.35 0.4; do
  echo OLD >m.mtx
  "$prog" solve M.mtx M.rhs -d cpu -t 1 -f measure -o m.mtx >report 2>err &
  pid=$!
  sleep $delay
  kill -INT $pid 2>/dev/null
  wait $pid
  got=$?
  case $got in 0 | 130) ;; *) bad=1; echo "  exit $got after $delay s" ;; esac
  if grep -q OLD m.mtx; then
    if grep -q '^iterations\|^residual\|converged' report; then bad=1; echo "  x is lost after $delay s"; fi
  else
    written=1
    [ "$(wc -l <m.mtx)" = "$lines" ] || { bad=1; echo "  x is cut after $delay s"; }
  fi
done
verdict $bad "interrupts at twelve moments"; no_rest
# The process pid, begun after `before`, computes no more than a second of processors' time after the signal: other work beside does
# not count, nor does what this script did since `before`, some hundredths.
interrupt() { spent=$(processor_time $pid) && kill -INT $pid 2>/dev/null; wait $pid; got=$?; }
at_once() { spent=$(($(children_time) - before - spent)); [ $spent -le 100 ]; verdict $? "  it ends at once: $spent hundredths of a second"; }
if "$prog" info A.mtx -d opencl -q 2>err; then
  # while kernels are compiled, cold; a shell's background job ignores the signal until the program asks for it
  at_once=
  if env --default-signal=INT true 2>/dev/null; then at_once="env --default-signal=INT"; fi
  before=$(children_time)
  # shellcheck disable=SC2086 # two words
  POCL_CACHE_DIR=$dir/cold $at_once "$prog" solve A.mtx b.rhs -d opencl -s gmres -f sell -o c.mtx >report 2>err &
  pid=$!
  sleep 1
  interrupt
  [ $got -eq 130 ] || [ $got -eq 0 ]; verdict $? "interrupted while compiling (exit 130, or 0 where it was done; got $got)"
  at_once
  [ $got -eq 0 ] || [ ! -e c.mtx ]; verdict $? "  no x is written that was not computed"
else
  echo "skip an interrupt while compiling: $(head -1 err)"
fi
if "$prog" --version | grep -q CHOLMOD; then
  # a factorisation of many seconds, abandoned
  "$prog" generate poisson3d:50 -q -o F.mtx --rhs F.rhs
  before=$(children_time)
  "$prog" solve F.mtx F.rhs -d cpu --check cholmod -o f.mtx --json f.json >report 2>err &
  pid=$!
  while [ ! -s f.mtx ] && kill -0 $pid 2>/dev/null; do sleep 0.05; done
  sleep 0.3
  interrupt
  exits 130 $got "interrupted while factorising"
  at_once
  grep -q converged report && [ -s f.json ]; verdict $? "  report and JSON are written"
fi

# ------------------------------------------------------------------ inputs that become shorter
# Another program truncates a mapped matrix during a solve: exit 3 and its name, no x, the file of before.
if [ -r /proc/self/maps ]; then
  "$prog" generate poisson3d:30 -q -o big.kcl
  printf 'OLD\n' >cut.mtx
  "$prog" solve big.kcl ones -d cpu -s cg --tol 1e-300 --max-iter 100000000 -q -o cut.mtx >out 2>err &
  pid=$!
  until grep -q big.kcl /proc/$pid/maps 2>/dev/null || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
  dd if=/dev/null of=big.kcl bs=4096 seek=1 2>/dev/null
  wait $pid; exits 3 $? "a matrix is truncated during the solve"
  says "big.kcl: cannot be read: it became shorter"; untouched cut.mtx; no_rest
else
  echo "skip truncated inputs: no list of mappings"
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
