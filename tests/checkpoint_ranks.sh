#!/bin/sh
# Checkpoints of the program on several ranks: one rank or all are killed (SIGKILL) at random moments, and the run that is resumed has the x of one
# that was not killed, bit for bit; SIGUSR1 and SIGTERM to any one rank; another number of ranks. Without MPI it is skipped.
# Usage: [KILLS=N] tests/checkpoint_ranks.sh build/krylocl. KILLS: moments, over all methods in turn (4; 60 by hand).
. "$(dirname "$0")/mpi.inc"
if [ ! -x "$krylocl" ]; then
  echo "skipped: no program krylocl (cJSON)"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
fi
KILLS=${KILLS:-4}
KRYLOCL_CACHE=
export KRYLOCL_CACHE
krylocl=$(cd "$(dirname "$krylocl")" && pwd)/$(basename "$krylocl")
cd "$tmp" || exit 1

# name, ranks, system, options
cat >methods <<'METHODS'
cg 2 poisson2d:150 -s cg -p none -f csr-scalar
cg-pipelined 3 poisson2d:120 -s cg-pipelined -p jacobi -f csr-scalar
reproducible 2 poisson2d:120 -s cg -p jacobi --reproducible
gmres 2 convection:50 -s gmres -p none -f csr-scalar
idr 3 convection:100 -s idr -p jacobi -f ell
bicgstab 2 convection:100 -s bicgstab -p ilu -f csr-scalar
METHODS
count=$(wc -l <methods)
word() { sed -n "$(($1 % count + 1))p" methods | cut -d ' ' -f "$2"; } # NUMBER WHICH
options() { word "$1" 3-; }

# Each rank writes its process id to pid.RANK.
cat >named <<'NAMED'
echo $$ >pid.${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-$PMIX_RANK}}
exec "$@"
NAMED
forget() { rm -f pid.* out err c.kck c.kck.1 x.mtx; } # what the last run left
rank() { # N ARGUMENT...: in the background by the caller; output in out and err
  n=$1
  shift
  timeout $hang mpirun -n "$n" sh ./named "$krylocl" "$@" >out 2>err </dev/null
}
now() { date +%s%N; }

# ------------------------------------------------------------------ SIGKILL
kill_one() { # NUMBER: one rank, or all of them at every third
  at=$1 k=$(($1 % count)) what="$(word "$1" 1) on $(word "$1" 2) ranks" n=$(word "$1" 2)
  if [ ! -f "want.$k" ]; then
    begin=$(now)
    # shellcheck disable=SC2046
    rank "$n" solve $(options "$at" | sed 's/ / random /') -d cpu -q -o "want.$k"
    check "$what, not interrupted: $(head -1 err)" $?
    echo $((($(now) - begin) / 1000)) >"time.$k"
  fi
  forget
  # shellcheck disable=SC2046
  rank "$n" solve $(options "$at" | sed 's/ / random /') -d cpu -q -o x.mtx --checkpoint c.kck --every 0.005s &
  runs=$!
  for _ in $(seq 600); do [ -f c.kck ] && break; kill -0 $runs 2>/dev/null || break; sleep 0.02; done
  sleep "$(awk -v t="$(cat "time.$k")" -v s="$at" 'BEGIN { srand(s); printf "%.3f", t / 1e6 * 0.4 * rand() }')"
  victims=pid.$((at % n))
  [ $((at % 3)) -ne 2 ] || victims='pid.?'
  # shellcheck disable=SC2046,SC2086 # process ids
  kill -9 $(cat $victims) 2>/dev/null && killed=$((killed + 1))
  wait $runs
  if [ -f c.kck ] || [ -f c.kck.1 ]; then resumed=$((resumed + 1)); fi
  # shellcheck disable=SC2046
  rank "$n" solve $(options "$at" | sed 's/ / random /') -d cpu -o x.mtx --resume c.kck --checkpoint c.kck && cmp -s x.mtx "want.$k"
  check "$what, killed: $(grep -o 'resumed from.*' out || head -1 err)" $?
  ! grep -q 'from x alone' out
  check "$what: not from x alone" $?
}
killed=0 resumed=0 i=0
while [ $i -lt "$KILLS" ]; do
  kill_one $i
  i=$((i + 1))
done
echo "$killed of $KILLS were killed before their end, $resumed had a checkpoint"

# ------------------------------------------------------------------ signals to one rank
long="solve spd:40000x9 random -s cg -p none -f csr-scalar --tol 1e-6 --max-iter 3000000 -d cpu"
# WORD...: until that is true, or the run is over.
await() { while ! "$@" 2>/dev/null && kill -0 $runs 2>/dev/null; do sleep 0.1; done; }
for who in 0 1; do
  forget
  # shellcheck disable=SC2086
  rank 2 $long --checkpoint c.kck --every 1h --json r.json -o x.mtx &
  runs=$!
  await grep -q '^format' out
  kill -USR1 "$(cat pid.$who)"
  await [ -f c.kck ]
  [ -f c.kck ]
  check "SIGUSR1 to rank $who writes a checkpoint" $?
  kill -0 "$(cat pid.$who)"
  check "  and the solve goes on" $?
  cp c.kck first
  kill -TERM "$(cat pid.$who)"
  wait $runs
  status=$?
  [ $status -eq 143 ] && [ -f x.mtx ]
  check "SIGTERM to rank $who ends the solve: exit code $status" $?
  [ -f c.kck.1 ] && ! cmp -s c.kck first
  check "  after one more checkpoint" $?
  grep -q '"reason":.*interrupted' r.json
  check "  and says so" $?
done
# No rank waits for one that has left: under a launcher that ends nobody for another's exit code (Open MPI 4 with this setting, srun).
forget
# shellcheck disable=SC2086
OMPI_MCA_orte_abort_on_non_zero_status=0 hang=200 rank 2 $long -o x.mtx &
runs=$!
await grep -q '^format' out
kill -TERM "$(cat pid.0)"
wait $runs
[ $? -ne 124 ] && [ -f x.mtx ]
check "SIGTERM: all ranks end by themselves" $?
rm -f c.kck c.kck.1

# ------------------------------------------------------------------ other numbers of ranks
small="solve poisson2d:60 random -s cg -p none -f csr-scalar -d cpu"
resumes() { # WHAT CODE N ARGUMENT...
  what=$1 code=$2 n=$3
  shift 3
  rank "$n" "$@"
  status=$?
  [ $status -eq "$code" ]
  check "$what: exit code $status: $(grep -a krylocl: err | head -1)" $?
}
says() { grep -q "$1" out err; check "  says: $1" $?; }
# shellcheck disable=SC2086
{
  resumes "both, and there is none" 0 2 $small --checkpoint n.kck --resume n.kck --every 0.000001 --json r.json; says "a new solve begins"
  grep -q '"bytes_checkpoint"' r.json; check "  writes some" $?
  cp n.kck two.kck
  resumes "the same ranks" 0 2 $small --resume two.kck; says "as if it had not been interrupted"
  resumes "another number of ranks" 0 3 $small --resume two.kck -o x3.mtx; says "from x alone: the number of ranks is 3 and was 2"
  "$krylocl" check poisson2d:60 random x3.mtx --check none -q; check "  with a solution" $?
  "$krylocl" $small --resume two.kck -o x1.mtx >out 2>err; check "one process" $?; says "from x alone: the number of ranks is 1 and was 2"
  "$krylocl" check poisson2d:60 random x1.mtx --check none -q; check "  with a solution" $?
  "$krylocl" $small --checkpoint one.kck --every 0.000001 -q; check "one process writes" $?
  resumes "ranks after one process" 0 2 $small --resume one.kck -o x2.mtx; says "from x alone: the number of ranks is 2 and was 1"
  "$krylocl" check poisson2d:60 random x2.mtx --check none -q; check "  with a solution" $?
  resumes "another matrix" 3 2 solve poisson2d:61 random -s cg -p none -d cpu --resume two.kck; says "another matrix"
  resumes "another right-hand side" 3 2 solve poisson2d:60 ones -s cg -p none -d cpu --resume two.kck; says "another right-hand side"
  resumes "there is none" 3 2 $small --resume none.kck; says "none.kck: cannot open"
  KRYLOCL_READ=root; export KRYLOCL_READ
  resumes "read by rank 0" 0 2 $small --resume two.kck; says "as if it had not been interrupted"
  unset KRYLOCL_READ
}
if "$krylocl" $small --partition metis -q 2>err; then
  # shellcheck disable=SC2086
  resumes "partition metis" 2 2 $small --partition metis --checkpoint m.kck; says "not with partition metis"
fi
# ------------------------------------------------------------------ --devices: signals to the program that started the ranks
forget
# shellcheck disable=SC2086
"$krylocl" ${long% -d cpu} --devices cpu,cpu --checkpoint c.kck --every 1h >out 2>err </dev/null &
runs=$!
await grep -q '^format' out
kill -USR1 $runs
await [ -f c.kck ]
[ -f c.kck ]
check "--devices: SIGUSR1 writes a checkpoint" $?
kill -TERM $runs
wait $runs
status=$?
[ $status -eq 143 ] && [ -f c.kck.1 ]
check "--devices: SIGTERM ends it after one more: exit code $status" $?
echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
