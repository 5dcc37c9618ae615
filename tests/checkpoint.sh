#!/bin/sh
# Checkpoints, seen from the program: solves that are killed at random moments (SIGKILL, also while a checkpoint is written) and resumed have the x
# of one that was not, bit for bit; SIGTERM and SIGUSR1; files and lines that are refused.
# Usage: [KILLS=N] [DEVICES="cpu opencl"] tests/checkpoint.sh build/krylocl. KILLS: moments, over all methods in turn (6; 100 by hand).
. "$(dirname "$0")/program.inc"
KILLS=${KILLS:-6}
KRYLOCL_CACHE= # choices that a run remembers would be those of the next
export KRYLOCL_CACHE
devices=
for d in ${DEVICES:-cpu opencl}; do
  "$prog" solve poisson2d:3 -d "$d" -q >out 2>err </dev/null && devices="$devices $d" || echo "skipped: no device $d"
done

# name, system, options
cat >methods <<'EOF'
cg poisson2d:150 -s cg -p none -f csr-scalar
cg-jacobi-ell poisson2d:150 -s cg -p jacobi -f ell
cg-pipelined poisson2d:120 -s cg-pipelined -p none -f csr-scalar
cg-ic poisson2d:150 -s cg -p ic -f csr-scalar --tol 1e-12
cg-amg poisson2d:150 -s cg -p amg -f csr-scalar --tol 1e-14 --max-iter 60
gmres convection:50 -s gmres -p none -f csr-scalar
idr convection:120 -s idr -p jacobi -f csr-scalar
bicgstab convection:120 -s bicgstab -p none -f model
auto poisson2d:120 -f model
EOF
count=$(wc -l <methods)

# The options of method number $1, without its name.
options() { sed -n "$(($1 % count + 1))s/^[^ ]* //p" methods; }
name() { sed -n "$(($1 % count + 1))s/ .*//p" methods; }

# solve DEVICE NUMBER MORE...: of the method of that number, to its end; 1, not converged, is an end, too
solve() {
  d=$1 n=$2
  shift 2
  # shellcheck disable=SC2046
  "$prog" solve $(options "$n" | sed 's/ / random /') -d "$d" --no-direct "$@" >out 2>err </dev/null
  [ $? -le 1 ]
}
now() { date +%s%N; }

# ------------------------------------------------------------------ SIGKILL
kill_one() { # DEVICE NUMBER: killed at a random moment of its run, and resumed
  d=$1 n=$2 what="$(name "$2") on $1"
  if ! [ -f "want.$d.$((n % count))" ]; then
    begin=$(now)
    solve "$d" "$n" -o "want.$d.$((n % count))"; verdict $? "$what, not interrupted"
    echo $((($(now) - begin) / 1000)) >"time.$d.$((n % count))"
  fi
  rm -f c.kck c.kck.1 x.mtx
  wait_for=$(awk -v t="$(cat "time.$d.$((n % count))")" -v s="$n" 'BEGIN { srand(s); printf "%.3f", t / 1e6 * (0.3 + 0.65 * rand()) }')
  # shellcheck disable=SC2046
  "$prog" solve $(options "$n" | sed 's/ / random /') -d "$d" --no-direct -q -o x.mtx --checkpoint c.kck --every 0.005s >out 2>err </dev/null &
  pid=$!
  sleep "$wait_for"
  kill -9 $pid 2>/dev/null && killed=$((killed + 1))
  wait $pid 2>/dev/null
  if [ -f c.kck ] || [ -f c.kck.1 ]; then resumed=$((resumed + 1)); fi
  solve "$d" "$n" -o x.mtx --resume c.kck --checkpoint c.kck && cmp -s x.mtx "want.$d.$((n % count))"
  verdict $? "$what, killed after $wait_for s: $(grep -o 'resumed from.*' out || echo 'begun anew')"
  ! grep -q 'from x alone' out; verdict $? "  not from x alone"
}
killed=0 resumed=0 i=0
while [ $i -lt "$KILLS" ]; do
  for d in $devices; do
    kill_one "$d" $i
    i=$((i + 1))
  done
done
echo "$killed of $i were killed before their end, $resumed had a checkpoint"

# ------------------------------------------------------------------ signals
# A condition number of 10^9: minutes, if nothing ends it.
long="solve spd:100000x9 random -s cg -p none -f csr-scalar --tol 1e-6 --max-iter 3000000 -d cpu"
begun() { # a first checkpoint is there, or the machine is very slow
  for _ in $(seq 600); do [ -f c.kck ] && return; sleep 0.05; done
}
rm -f c.kck c.kck.1
# shellcheck disable=SC2086
"$prog" $long --checkpoint c.kck --every 1h --json r.json >out 2>err </dev/null &
pid=$!
for _ in $(seq 600); do grep -q '^format' out && break; sleep 0.1; done # it is about to iterate
kill -USR1 $pid
for _ in $(seq 600); do [ -f c.kck ] && break; sleep 0.1; done
[ -f c.kck ]; verdict $? "SIGUSR1 writes a checkpoint"
kill -0 $pid; verdict $? "  and the solve goes on"
cp c.kck first
kill -TERM $pid
wait $pid
[ $? -eq 143 ]; verdict $? "SIGTERM ends it with 143"
! cmp -s c.kck first && cmp -s c.kck.1 first; verdict $? "  after one more checkpoint"
json r.json 'd["checkpoints"] == 2 and d["bytes_checkpoint"] > 0 and d["reason"] == "interrupted"'
# shellcheck disable=SC2086
run 1 "resumed" $long --max-iter 1 --resume c.kck --json r.json; says "resumed from c.kck"
json r.json 'd["resumed_at"] == d["iterations"] and d["resumed_at"] > 1'

# ------------------------------------------------------------------ lines and files
small="solve poisson2d:60 random -s cg -p none -d cpu"
rm -f n.kck
# shellcheck disable=SC2086
{
  run 0 "both, and there is none" $small --checkpoint n.kck --resume n.kck; says "a new solve begins"; says "0 written"
  run 3 "there is none" $small --resume n.kck; says "n.kck: cannot open"
  run 2 "--every alone" $small --every 5s; says "needs --checkpoint"
  run 2 "no duration" $small --checkpoint n.kck --every soon; says "is no duration"
  run 2 "nothing" $small --checkpoint n.kck --every 0s; says "is no duration"
  run 3 "no such folder" $small --checkpoint none/n.kck; says "none/n.kck: cannot write"
  run 2 "packed" $small --checkpoint n.gz; says "not packed"
  run 3 "another matrix" $small --resume c.kck; says "another matrix"
  run 0 "often" $small --checkpoint n.kck --every 0.000001 --json r.json; json r.json 'd["checkpoints"] > 3'
  cp n.kck good.kck && cp n.kck.1 good.kck.1
  run 3 "another right-hand side" solve poisson2d:60 ones -s cg -p none -d cpu --resume n.kck; says "another right-hand side"
  flip n.kck 5000
  run 0 "damaged" $small --resume n.kck; says "n.kck: the checkpoint is damaged: its checksum is wrong; the checkpoint before it is used"
  rm n.kck.1
  run 3 "  and there is no other" $small --resume n.kck; says "its checksum is wrong"
  head -c 3000 good.kck >n.kck
  run 3 "cut short" $small --resume n.kck; says "cut short"
  run 3 "foreign" $small --resume methods; says "methods: not a checkpoint of krylocl"
  run 0 "another format" $small -f ell --resume good.kck; says "from x alone: the format is ell and was"
  run 0 "another precision" $small --precision s --resume good.kck; says "from x alone: the precision is s and was d"
  case $devices in *opencl*)
    run 0 "another device" solve poisson2d:60 random -s cg -p none -f csr-scalar -d opencl --resume good.kck; says "from x alone" ;;
  esac
  run 2 "in mixed precision" solve poisson2d:60 random -s cg -p none -f csr-scalar -d cpu --mixed --checkpoint n.kck; says "not with mixed precision"
  run 2 "bench has another" bench poisson2d:9 --checkpoint n.kck; says "which is for solve"
}
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
