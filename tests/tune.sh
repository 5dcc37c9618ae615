#!/bin/sh
# The record of `auto` and the tunables, seen from the program: a second process uses them, damaged files do no
# harm, invalid tunables are refused with their line. Usage: tests/tune.sh build/krylocl.
. "$(dirname "$0")/program.inc"
KRYLOCL_CACHE=$dir/cache
export KRYLOCL_CACHE
memory=$dir/cache/tune/choices.txt
command -v python3 >/dev/null 2>&1 || echo "skip JSON: no python3"

"$prog" generate wathen:14 -o W.mtx -q
"$prog" generate convection:12 -o U.mtx -q
"$prog" generate helmholtz:12 -o H.mtx -q

# ------------------------------------------------------------------ formats: measured, recorded
run 0 "the first solve" solve W.mtx --json s.json; says "per iteration predicted"
json s.json "d['expected_iterations']==0 and (d['seconds']['measure']>0)==(len(d['timed'])>1)"
run 0 "measured" solve W.mtx --format measure --json m.json; says "measured: "; says "measure "
json m.json "len(d['timed'])>1 and d['seconds']['measure']>0"
json m.json "[t['seconds_per_iteration'] for t in d['timed'] if t['format']==d['format'] and t['solver']==d['solver']]==[min(t['seconds_per_iteration'] for t in d['timed'])]"
run 0 "by another process" solve W.mtx --json s.json; says "remembered: "
json s.json "d['expected_iterations']==d['iterations'] and len(d['timed'])>1 and d['seconds']['measure']==0"
json s.json "min(d['timed'],key=lambda t:t['seconds_setup']+d['iterations']*t['seconds_per_iteration'])['format']==d['format']"
run 0 "by the model alone" solve W.mtx --format model --json s.json; says "per iteration predicted"
json s.json "d['timed']==[]"
run 0 "another method" solve W.mtx --solver minres --json s.json; says "per iteration predicted"
run 0 "other threads" solve W.mtx --threads 1 --device cpu --json s.json
[ "$KRYLOCL_DEVICE" != cpu ] || [ "$(getconf _NPROCESSORS_ONLN)" = 1 ] || says "per iteration predicted"
for text in '' 'nonsense' '|||||||||' "$(head -c 60 "$memory")"; do
  printf '%s\n' "$text" >"$memory"
  run 0 "a damaged memory" solve W.mtx; says "per iteration predicted"
done
head -c 3000 /dev/urandom >"$memory"
run 0 "noise for a memory" solve W.mtx --format measure; run 0 "  is replaced" solve W.mtx; says "remembered: "
# two processes at once, many times: complete lines of both
for _ in 1 2 3 4; do
  "$prog" solve W.mtx --format measure -q & "$prog" solve U.mtx --solver bicg --format measure -q; wait $!
done
grep -c ' | ' "$memory" | grep -qx '[12]'; verdict $? "two writers: one or both lines"
run 0 "  of which one" solve W.mtx; cp out both
run 0 "  is used" solve U.mtx --solver bicg; cat both >>out; says "remembered: "
KRYLOCL_CACHE='' "$prog" solve W.mtx --format measure >out 2>err; verdict $? "without a cache folder"; says "measured: "

# ------------------------------------------------------------------ methods
auto() { # MATRIX METHOD
  run 0 "auto on $1" solve "$1" --solver auto --no-direct --json s.json
  json s.json "d['solver'] in ('$2','$2-single','$2-pipelined') and d['converged'] and d['solver_reason']!=''"
}
auto W.mtx cg; says "positive diagonal"
auto U.mtx idr; says "neither Hermitian nor symmetric"
auto H.mtx cocg; says "A = A^T"
awk 'BEGIN { n = 60; print "%%MatrixMarket matrix coordinate real symmetric"; print n, n, n + n / 2
  for (i = 1; i <= n; i++) print i, i, 1 + i / 60; for (i = 1; i <= n; i += 2) print i + 1, i, 3 }' >I.mtx
auto I.mtx minres; says "cg gave up at iteration"; says "continued with minres"
json s.json "'cg gave up' in d['changes'] and len(d['changes'].splitlines())==1"
auto I.mtx minres; says "remembered, since it solved a system of this structure before"; says "KRYLOCL_CACHE= leaves the record out"
json s.json "d['changes']==''"
sed 's/^\([0-9]* [0-9]*\) \([0-9.]*\)$/\1 -\2/; 2s/-//' I.mtx >J.mtx
auto J.mtx minres; says "diagonal is not positive"
file L.mtx "%%MatrixMarket matrix coordinate real general" "3 2 5" "1 1 1" "2 1 1" "2 2 1" "3 1 1" "3 2 2"
auto L.mtx cgls; says "not square"
{ echo "%%MatrixMarket matrix array real general"; echo "60 2"; awk 'BEGIN { for (i = 0; i < 120; i++) print i % 7 - 3 }'; } >b2.mtx
rm "$memory"
run 0 "two columns, both change" solve I.mtx b2.mtx --solver auto --no-direct --json s.json; says "cg gave up"
json s.json "d['solver']=='minres' and all(s['converged'] for s in d['solves'])"
run 1 "out of iterations is no reason" solve U.mtx --solver auto --max-iter 2 --json s.json
json s.json "d['solver']=='idr' and d['changes']==''"
run 2 "restart beyond 1,000" solve U.mtx --solver auto --restart 1001; says "1 to 1,000"

# ------------------------------------------------------------------ multigrid
# Seconds that it would have saved are added up, until it is worth its compilation.
if ! "$prog" solve W.mtx --device opencl >out 2>err; then
  echo "skip multigrid on opencl: $(head -1 err)"
elif cat out err | grep -q '(gpu, '; then
  echo "skip multigrid on opencl: a GPU solves so small a system in a millisecond without it"
else
  rm "$memory"
  missed() { sed -n '1s/.*| [0-9]* \([0-9.e+-]*\) |.*/\1/p' "$memory"; }
  again() { run 0 "$1" solve jump2d:60 --device opencl --json s.json; }
  again "plain cg at first"; json s.json "'amg' not in d['changes']"
  first=$(missed)
  again "  and again"
  awk "BEGIN { exit !(0$first > 0 && 0$(missed) > 0$first) }"; verdict $? "  what was missed: $first s, then $(missed)"
  sed -i '1s/| \([0-9]*\) [0-9.e+-]* |/| \1 1000 |/' "$memory"
  again "  multigrid once that is enough"; json s.json "'cg with amg' in d['changes']"
  # On a busy machine the set-up may have taken longer than plain iterations: recorded are a short set-up and long iterations.
  sed -i '1s/\( amg [a-z0-9-]* \)[0-9.e+-]* [0-9.e+-]*;/\11e-6 1000;/' "$memory"
  again "  and from then on"; json s.json "'as remembered' in d['changes'] and d['iterations'] < 60"; says "^method .*; remembered"
fi

# ------------------------------------------------------------------ kernels ahead
run 2 "the cpu has no kernels" tune --kernels --device cpu; says "the cpu has no kernels to compile\|this is the cpu"
run 2 "a matrix is needed without it" tune; says "lacks an operand"
if "$prog" solve W.mtx --device opencl --format csr-scalar -q >out 2>err; then
  KRYLOCL_OPTIONS=-cl-opt-disable KRYLOCL_CACHE=$dir/ahead
  export KRYLOCL_OPTIONS KRYLOCL_CACHE
  for layout in cpu gpu; do
    KRYLOCL_LAYOUT=$layout; export KRYLOCL_LAYOUT
    run 0 "tune --kernels, $layout layout" tune --kernels poisson2d:20 -s cg -p jacobi -f csr-scalar --device opencl
    says "^systems  *1 set-ups"; says "^programs  *[1-9][0-9]* compiled, .* written"
    run 0 "  another system then compiles nothing" solve poisson2d:31 -s cg -p jacobi -f csr-scalar --device opencl --verbose
    says "^programs  *0 compiled, [1-9]"
    run 0 "  nor does it, once more" tune --kernels poisson2d:20 -s cg -p jacobi -f csr-scalar --device opencl
    says "^programs  *0 compiled, "
  done
  run 0 "a method that does not suit" tune --kernels convection:9 -s cg -p none -f csr-scalar --device opencl
  KRYLOCL_CACHE='' "$prog" tune --kernels poisson2d:9 -s cg -p none -f csr-scalar --device opencl >out 2>err
  says "nothing was kept"
  unset KRYLOCL_OPTIONS KRYLOCL_LAYOUT
  KRYLOCL_CACHE=$dir/cache
else
  echo "skip kernels ahead: no OpenCL device"
fi

# ------------------------------------------------------------------ tunables
run 0 "tune --help" tune --help; says "KRYLOCL_TUNE"
run 2 "no seconds" tune W.mtx --seconds 0; says "out of range"
begin=$(children_time)
run 0 "tune" tune W.mtx --seconds 2; says "chosen"; says "wrote"; says "^undo  *delete that file"
[ $(($(children_time) - begin)) -lt 6000 ]; verdict $? "  ends when it should, by processors' time"
own=$(sed -n 's/^wrote .* to \(.*\)$/\1/p' out)
[ -s "$own" ] && ! grep -vE '^#|^[a-z.-]+ = [0-9]+ #' "$own"; verdict $? "  its file: name = value, comments"
run 0 "  its choice is remembered" solve W.mtx; says "remembered: "
run 0 "tune to a file" tune W.mtx --seconds 1 -o mine.txt; [ -s mine.txt ]; verdict $? "  is written"
line="block = 4096" knob=block
[ "$KRYLOCL_DEVICE" = cpu ] || line="groups-per-unit = 4" knob=groups-per-unit
file "$own" "# by hand" "" "$line # small" "  sell.slice  =  16"
run 0 "the device's file is read" solve W.mtx --format sell --json s.json; says "$knob "
json s.json "', $knob ' in d['kernel']"
KRYLOCL_TUNE='' "$prog" solve W.mtx --format sell >out 2>err
! grep -q "$knob " out; verdict $? "  and is not when none is wanted"
KRYLOCL_TUNE=hand.txt; export KRYLOCL_TUNE
run 3 "no such file" solve W.mtx; says "hand.txt: cannot open"
wrong() { # LINE WHAT
  file hand.txt "# two lines" "$1"
  run 3 "wrong: $1" solve W.mtx; says "hand.txt:2: "; says "$2"
}
wrong "blocks = 8192" "unknown tunable 'blocks'; there are: group, groups-per-unit, block"
wrong "block 8192" "expected name = value, found 'block 8192'"
wrong "block = large" "block is 'large', it must be a whole number"
wrong "block = 8192 4096" "must be a whole number"
wrong "block = 8191" "must be a power of two from 2048 to 131072"
wrong "block = 1048576" "must be a power of two from 2048 to 131072"
wrong "group = -64" "must be a power of two from 32 to 1024"
wrong "sell.slice = 99999999999999999999" "whole number"
wrong "= 4" "unknown tunable ''"
awk 'BEGIN { print "# two lines"; for (i = 0; i < 400; i++) printf "x"; print "" }' >hand.txt
run 3 "a long line" solve W.mtx; says "hand.txt:2: the line is too long"
for place in cpu opencl; do
  KRYLOCL_TUNE='' "$prog" solve W.mtx -q --device $place >out 2>err || { echo "skip sell.slice on $place: $(head -1 err)"; continue; }
  for slice in 8 16 64; do
    file hand.txt "sell.slice = $slice"
    run 0 "slices of $slice on $place" bench W.mtx --device $place --formats sell --iterations 2 --json b.json; says "sell.slice $slice"
    json b.json "d['rows'][0]['validated'] and d['rows'][0]['status']=='ok'"
  done
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
