#!/bin/sh
# The program krylocl on several ranks: x, JSON and messages once, exit codes as ever (124: a run that did not end). Without MPI it is
# skipped. KRYLOCL_THOROUGH=1: more methods and counts.
# usage: tests/ranks.sh build/krylocl
. "$(dirname "$0")/mpi.inc"
if [ ! -x "$krylocl" ]; then
  echo "skipped: no program krylocl (cJSON)"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
fi

expect() { # WHAT CODE N ARGUMENT...: the exit code, and what is printed to $tmp/out and $tmp/err
  what=$1 code=$2 n=$3
  shift 3
  ranks "$n" "$krylocl" "$@" >"$tmp/out" 2>"$tmp/err"
  status=$?
  [ $status -eq "$code" ]
  check "$what: exit code $status, not $code: $(grep -a krylocl: "$tmp/err" | head -1)" $?
}
KRYLOCL_CACHE=
export KRYLOCL_CACHE
"$krylocl" generate poisson2d:23 -q -o "$tmp/A.mtx" && awk 'BEGIN { for (i = 0; i < 529; i++) print 1 + i % 3 }' >"$tmp/b"
set -- solve "$tmp/A.mtx" "$tmp/b" --device cpu -q --format csr-scalar
"$krylocl" "$@" -o "$tmp/plain.mtx" --json "$tmp/plain.json"
expect "one rank" 0 1 "$@" -o "$tmp/one.mtx"
cmp -s "$tmp/plain.mtx" "$tmp/one.mtx"
check "one rank has the bits of the plain program" $?
SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=0 "$krylocl" "$@" 2>"$tmp/err" && grep -q 'srun --mpi=pmix' "$tmp/err"
check "tasks of srun without MPI: a warning" $?
for task in "SLURM_PROCID=1" "PMIX_RANK=0" "OMPI_COMM_WORLD_SIZE=1"; do
  env SLURM_STEP_NUM_TASKS=2 SLURM_NTASKS=1 SLURM_PROCID=0 "$task" "$krylocl" "$@" 2>"$tmp/err" && ! grep -q srun "$tmp/err"
  check "no warning with $task" $?
done
for n in 2 4; do
  expect "$n ranks" 0 $n "$@" -o "$tmp/x.mtx" --json - --history "$tmp/history"
  "$krylocl" check "$tmp/A.mtx" "$tmp/b" "$tmp/x.mtx" --check none -q
  check "$n ranks: x solves the system" $?
  [ "$(grep -c '"ranks":' "$tmp/out")" -eq 1 ] && [ "$(grep -c '"seconds_halo":' "$tmp/out")" -eq "$n" ]
  check "$n ranks: JSON once, with $n shares" $?
  counts=$(sed -n 's/^[[:space:]]*"iterations":[[:space:]]*\([0-9]*\).*/\1/p' "$tmp/plain.json" "$tmp/out" | tr '\n' ' ')
  # shellcheck disable=SC2086 # two numbers
  set -- $counts "$@"
  [ $(($1 - $2)) -ge -1 ] && [ $(($1 - $2)) -le 1 ] && [ "$(wc -l <"$tmp/history")" -eq $(($2 + 2)) ]
  check "$n ranks: $2 iterations, one process $1" $?
  shift 2
done
awk 'BEGIN { print "%%MatrixMarket matrix array real general"; print 529, 5; for (i = 0; i < 2645; i++) print 1 + i % 7 }' >"$tmp/B.mtx"
expect "5 columns, 4 at once" 0 2 solve "$tmp/A.mtx" "$tmp/B.mtx" --device cpu -q --solver cg --nrhs 4 -o "$tmp/X.mtx" --json "$tmp/json"
"$krylocl" check "$tmp/A.mtx" "$tmp/B.mtx" "$tmp/X.mtx" --check none -q && grep -q '"nrhs_at_once":[[:space:]]*4' "$tmp/json"
check "5 columns, 4 at once: X solves the systems" $?
expect "words for vectors" 0 3 solve poisson2d:23 random --x0 ones --device cpu -q -o "$tmp/words"
"$krylocl" check "$tmp/A.mtx" random "$tmp/words" --check none -q
check "random numbers are those of one process" $?
# ---- --reproducible: the same file of x from any number of ranks and on every device
"$krylocl" generate convection:40 -q -o "$tmp/C.mtx"
# S: rows and columns of many sizes, which are scaled.
awk '/^%/ { print; next } !sizes { sizes = 1; print; next }
  { printf "%d %d %.17g\n", $1, $2, $3 * ($1 == $2 ? 4 : 1) * 10 ^ ($1 * 4 % 9 - 4) * 10 ^ ($2 * 5 % 9 - 4) }' "$tmp/C.mtx" >"$tmp/S.mtx"
devices=cpu
if [ "$opencl" ]; then devices="cpu 0:0"; fi
# --restart 4: a device compiles a kernel for each step of a cycle.
# Sanitizers, which do not change bits, see the host's code, the same for all of these: a system that is scaled and one that is not.
reproducible='cg:A minres:A bicgstab:C gmres:C gmres:S' counts='1 2 3 4'
if [ -n "$SAN" ] || [ "$thorough" -lt 1 ]; then reproducible='cg:A gmres:S' counts='1 3'; fi
for device in $devices; do
  for system in $reproducible; do
    solver=${system%:*} matrix=$tmp/${system#*:}.mtx
    for n in $counts; do
      expect "--reproducible $solver on $device, $n ranks" 0 $n solve "$matrix" --solver "$solver" --precond none \
        --restart 4 --device "$device" --reproducible -q -o "$tmp/same$n.mtx"
      cmp -s "$tmp/same1.mtx" "$tmp/same$n.mtx"
      check "--reproducible $solver on $device: bits of $n ranks and of 1" $?
      [ "$device" != cpu ] || [ "$n" -gt 1 ] || cp "$tmp/same1.mtx" "$tmp/native.$solver.${system#*:}"
      cmp -s "$tmp/same$n.mtx" "$tmp/native.$solver.${system#*:}"
      check "--reproducible $solver on $device, $n ranks: bits of the native executor" $?
    done
  done
done
alone_again() { "$krylocl" solve "$tmp/A.mtx" --solver cg --precond none --device cpu -q "$@"; }
alone_again --reproducible -o "$tmp/same1.mtx"
alone_again --devices cpu,cpu --shares 1,2 --reproducible -o "$tmp/same2.mtx" 2>"$tmp/err"
check "--reproducible with --devices and --device is refused: $(cat "$tmp/err")" $((!$?))
"$krylocl" solve "$tmp/A.mtx" --solver cg --precond none -q --devices cpu,cpu --shares 1,2 --reproducible -o "$tmp/same2.mtx"
cmp -s "$tmp/same1.mtx" "$tmp/same2.mtx"
check "--reproducible: bits of unequal shares" $?
expect "--reproducible with another format" 2 2 "$@" --reproducible --format sell
# ---- rectangular: every rank reads its rows of b and its columns of x, as rank 0 does for all
awk 'BEGIN { print "%%MatrixMarket matrix coordinate real general\n60 23 180"
  for (i = 0; i < 60; i++) for (j = 0; j < 3; j++) print i + 1, (i * 7 + j * (j + 4)) % 23 + 1, 1 + (i * j) % 5 + 3 * (j == 0) }' >"$tmp/R.mtx"
awk 'BEGIN { for (i = 0; i < 60; i++) print 1 + i % 3 }' >"$tmp/Rb"
for n in 1 3; do
  expect "least squares, $n ranks" 0 $n solve "$tmp/R.mtx" "$tmp/Rb" --solver lsqr --device cpu -q -o "$tmp/R$n.x"
  "$krylocl" check "$tmp/R.mtx" "$tmp/Rb" "$tmp/R$n.x" --check none -q
  check "least squares, $n ranks: x is the solution" $?
done
for read in all root; do
  KRYLOCL_READ=$read
  export KRYLOCL_READ
  expect "from the solution, read by $read" 0 3 solve "$tmp/R.mtx" "$tmp/Rb" --x0 "$tmp/R1.x" --solver lsqr --device cpu -q --json "$tmp/json"
  grep -q '"iterations":[[:space:]]*[01],' "$tmp/json"
  check "from the solution, read by $read: $(grep '"iterations"' "$tmp/json")" $?
done
unset KRYLOCL_READ
expect "a guess of b's length" 3 3 solve "$tmp/R.mtx" "$tmp/Rb" --x0 "$tmp/Rb" --solver lsqr --device cpu -q
# ---- parts of METIS: x in the numbers of the file
if "$krylocl" "$@" --partition metis -o "$tmp/x.mtx" 2>"$tmp/err"; then
  expect "--partition metis" 0 4 "$@" --partition metis -o "$tmp/x.mtx" --json "$tmp/json"
  "$krylocl" check "$tmp/A.mtx" "$tmp/b" "$tmp/x.mtx" --check none -q && grep -q '"partition":.*"metis"' "$tmp/json"
  check "--partition metis: x solves the system" $?
  expect "--partition metis with --reproducible" 2 2 "$@" --partition metis --reproducible
else
  echo "skipped: --partition metis: $(head -1 "$tmp/err")"
fi
expect "a file that is not there" 3 2 solve "$tmp/none.mtx" --device cpu
[ "$(grep -ac '^krylocl:' "$tmp/err")" -eq 1 ]
check "one message" $?
expect "no convergence" 1 2 "$@" --max-iter 3
expect "a method that multiplies by A^H" 0 2 "$@" --solver bicg
expect "mixed precision" 2 2 "$@" --mixed
[ "$(grep -ac 'mixed precision.*not on several ranks' "$tmp/err")" -eq 1 ]
check "the refusal names it, once" $?
expect "an unknown method" 2 2 "$@" --solver cgx
expect "another subcommand" 2 2 info "$tmp/A.mtx"

# ---- every rank reads and writes its own rows: x has the bytes of rank 0 reading all, errors are those of one process, once
for system in "$tmp/A.mtx $tmp/b" "$tmp/C.mtx" "poisson3d:7"; do
  # shellcheck disable=SC2086 # two operands
  set -- solve $system --device cpu -q --solver gmres
  expect "reading on all ranks: $system" 0 3 "$@" -o "$tmp/x.mtx" --json "$tmp/json"
  KRYLOCL_READ=root expect "reading on rank 0: $system" 0 3 "$@" -o "$tmp/y.mtx" --json "$tmp/json2"
  cmp -s "$tmp/x.mtx" "$tmp/y.mtx"
  check "the same x from both: $system" $?
  # Without times, and the checksum of x, which needs all of it on one rank.
  results() { sed '/"seconds":/,/}/d; /"stream":/,/}/d; /seconds\|stream\|gbytes\|x_checksum/d' "$1"; }
  [ "$(results "$tmp/json")" = "$(results "$tmp/json2")" ]
  check "the same JSON from both: $system" $?
done
set -- --device cpu -q
input() { # WHAT PATTERN ARGUMENT...: exit code 3, and one message that has it
  what=$1 pattern=$2
  shift 2
  expect "$what" 3 4 "$@"
  [ "$(grep -ac '^krylocl:' "$tmp/err")" -eq 1 ] && grep -aq "^krylocl:.*$pattern" "$tmp/err"
  check "$what: $(grep -a krylocl: "$tmp/err")" $?
}
sed '1000s/.*/3 x 1/; 1400s/.*/y/' "$tmp/A.mtx" >"$tmp/bad.mtx"
input "a bad line in rank 2's part" 'bad.mtx:1000:3: found "x"' solve "$tmp/bad.mtx" "$@"
input "an output folder that is not there" "cannot be written" solve "$tmp/A.mtx" "$tmp/b" "$@" -o "$tmp/none/x.mtx"
# Files of 8 MB at most: that of x, 10 MB, does not fit, and nothing of it is left.
small_files() { timeout $hang mpirun -n 4 sh -c "ulimit -f 16384; exec $krylocl solve $* --device cpu -q --solver cg --precond none --max-iter 2" 2>"$tmp/err"; }
small_files poisson2d:9
if [ $? -ne 153 ]; then # SIGXFSZ
  small_files magnetic:480 -o "$tmp/big.mtx"
  status=$?
  [ $status -eq 3 ] && [ "$(grep -ac '^krylocl:.*cannot write' "$tmp/err")" -eq 1 ] && [ -z "$(ls "$tmp"/big.mtx* 2>/dev/null)" ]
  check "a full disk: exit code $status, $(cat "$tmp/err")" $?
else
  echo "skipped: a full disk: this MPI has larger files of its own"
fi

# ---- ranks that differ: rank 1 has another folder, option or command line. An error on both, once; never a wait without end
# By a script of both ranks: mpirun of Open MPI 5.0.7 crashes where two command lines are joined by a colon.
program=$(cd "$(dirname "$krylocl")" && pwd)/$(basename "$krylocl")
cat >"$tmp/either" <<EITHER
case \${OMPI_COMM_WORLD_RANK:-\${PMI_RANK:-\$PMIX_RANK}} in
0) cd "$tmp" && exec "$program" solve A.mtx b --device cpu -q -o "$tmp/two.mtx" ;;
*) cd "\$1" && shift && exec "\$@" ;;
esac
EITHER
two_ranks() { # FOLDER OF RANK 1, THEN ITS COMMAND LINE...: beside: solve A.mtx b
  ranks 2 sh "$tmp/either" "$@" >"$tmp/out" 2>"$tmp/err"
  status=$?
}
differ() { # WHAT CODE PATTERN FOLDER COMMAND...
  what=$1 code=$2 pattern=$3
  shift 3
  two_ranks "$@"
  [ $status -eq "$code" ] && [ "$(grep -ac '^krylocl:' "$tmp/err")" -eq 1 ] && grep -aq "^krylocl:.*$pattern" "$tmp/err"
  check "$what: exit code $status, not $code: $(grep -a krylocl: "$tmp/err")" $?
}
alike="$program solve A.mtx b --device cpu -q -o $tmp/two.mtx"
other() { # FOLDER COMMAND-OF-SED: a folder with copies, of which A.mtx is edited
  mkdir -p "$tmp/$1" && cp "$tmp/b" "$tmp/$1" && sed "$2" "$tmp/A.mtx" >"$tmp/$1/A.mtx"
}
other copy '' && other value '5,$s/ 4$/ 5/' && other size '5,$s/ 4$/ 4.5/' && other rhs ''
sed '1s/1/2/' "$tmp/b" >"$tmp/rhs/b"
mkdir "$tmp/nothing"
for there in copy nothing; do
  # shellcheck disable=SC2086 # words
  two_ranks "$tmp/$there" $alike
  [ $status -eq 0 ] && "$krylocl" check "$tmp/A.mtx" "$tmp/b" "$tmp/two.mtx" --check none -q
  check "rank 1 has $there of the files: exit code $status, $(grep -a krylocl: "$tmp/err")" $?
done
# shellcheck disable=SC2086 # words
{
  differ "another value in A" 3 'A.mtx: rank 1 and rank 0 read different files.*contents' "$tmp/value" $alike
  differ "another size of A" 3 'A.mtx: rank 1 and rank 0 read different files.*bytes' "$tmp/size" $alike
  differ "another value in b" 3 'b: rank 1 and rank 0 read different files.*contents' "$tmp/rhs" $alike
  differ "another tolerance" 2 'rank 1: --tol is 0.5, and on rank 0 not given' "$tmp" $alike --tol 0.5
  differ "another method" 2 'rank 1: --solver is minres, and on rank 0 not given' "$tmp" $alike -s minres
  differ "no output" 2 'rank 1: --output is not given, and on rank 0 given' "$tmp" "$program" solve A.mtx b --device cpu -q
  differ "no b" 2 'rank 1: the number of operands is 1, and on rank 0 2' "$tmp" "$program" solve A.mtx --device cpu -q -o "$tmp/two.mtx"
  differ "another subcommand" 2 'rank 1: the subcommand is info, and on rank 0 solve' "$tmp" "$program" info A.mtx
  differ "an option that is none" 2 "rank 1: the command line is refused: .*--tolx.*on rank 0 accepted" "$tmp" "$program" solve A.mtx b --tolx 3
  differ "help" 2 'rank 1: .*, and on rank 0' "$tmp" "$program" --help
  two_ranks "$tmp" env KRYLOCL_READ=root $alike --threads 1 --json "$tmp/rank1.json"
  check "what each rank may have of its own: exit code $status, $(grep -a krylocl: "$tmp/err")" $status
}

# A system that does not fit one process fits the two ranks that share it. The limit, in kB, is of private writable memory: of
# address space, what MPI shares and reserves would count too, which differs by hundreds of MB between MPIs.
limited() { # WHAT CODE N
  timeout $hang mpirun -n "$3" sh -c "ulimit -d 475000; exec $krylocl solve poisson3d:130 --device cpu -q --solver cg --precond none --format sell --max-iter 1" 2>"$tmp/err"
  status=$?
  [ $status -eq "$2" ]
  check "$1: exit code $status, not $2: $(grep -a krylocl: "$tmp/err" | head -1)" $?
}
if [ -z "$SAN" ]; then
  limited "memory too small for one process" 5 1
  limited "the same memory for each of two ranks" 1 2
  KRYLOCL_READ=root limited "the same memory, rank 0 makes all rows" 5 2
fi

# ---- --devices: the program starts its ranks itself
alone() { # WHAT CODE ARGUMENT...
  what=$1 code=$2
  shift 2
  timeout $hang "$krylocl" "$@" >"$tmp/out" 2>"$tmp/err"
  status=$?
  [ $status -eq "$code" ]
  check "$what: exit code $status, not $code: $(grep -a krylocl: "$tmp/err" | head -1)" $?
}
said() { # WHAT PATTERN: one message, which has it
  [ "$(grep -ac '^krylocl:' "$tmp/err")" -eq 1 ] && grep -aq "^krylocl:.*$2" "$tmp/err"
  check "$1: $(cat "$tmp/err")" $?
}
set -- "$tmp/A.mtx" "$tmp/b" --solver cg --format csr-scalar
alone "two devices" 0 solve "$@" --devices cpu,cpu --shares 3,1 -o "$tmp/x.mtx" --json "$tmp/json"
grep -q '^ranks  *mpiexec -n 2 krylocl solve' "$tmp/err"
check "the line that was run" $?
"$krylocl" check "$tmp/A.mtx" "$tmp/b" "$tmp/x.mtx" --check none -q
check "two devices: x solves the system" $?
rows=$(sed -n 's/^[[:space:]]*"rows":[[:space:]]*\([0-9]*\).*/\1/p' "$tmp/json" | tail -2 | tr '\n' ' ')
[ "$rows" = "395 134 " ]
check "shares of 3 and 1: $rows" $?
# With equal shares it would be 1.50.
grep -q 'imbalance 1.00,' "$tmp/out" && grep -q '"share":[[:space:]]*0.75' "$tmp/json" && grep -q '"imbalance":[[:space:]]*1.00' "$tmp/json"
check "shares of 3 and 1 are balanced: $(grep -ao 'imbalance [0-9.]*' "$tmp/out"), $(grep '"imbalance"' "$tmp/json")" $?
if [ "$opencl" ]; then
  alone "native and OpenCL" 0 solve "$@" -q --devices cpu,0:0 -o "$tmp/x.mtx"
  "$krylocl" check "$tmp/A.mtx" "$tmp/b" "$tmp/x.mtx" --check none -q
  check "native and OpenCL: x solves the system" $?
  KRYLOCL_LAYOUT=gpu expect "layout of a GPU" 0 2 solve "$@" -q --device 0:0 --json "$tmp/json2"
  grep -q '"seconds_per_iteration_alone":' "$tmp/json2" && ! grep -q '"seconds_per_iteration_alone":' "$tmp/json"
  check "one GPU alone is predicted, a native executor is not" $?
  predicted() { # K: right-hand sides at once
    KRYLOCL_LAYOUT=gpu KRYLOCL_CACHE="$tmp/cache" ranks 2 "$krylocl" solve "$tmp/A.mtx" "$tmp/B.mtx" --solver cg --format csr-scalar --device 0:0 -q --nrhs "$1" --json "$tmp/json2" \
      2>"$tmp/err" && sed -n 's/.*"seconds_per_iteration_alone":[[:space:]]*\([0-9.e-]*\).*/\1/p' "$tmp/json2" | head -1
  }
  predicted 1 >"$tmp/out" # measures the rates, which the other two then share
  one=$(predicted 1) four=$(predicted 4)
  awk -v one="$one" -v four="$four" 'BEGIN { exit !(one > 0 && four > 1.2 * one) }'
  check "four right-hand sides at once are predicted to take longer than one: $four, $one s" $?
fi
alone "one device" 0 solve "$@" -q --devices cpu
alone "a device that is not there" 4 solve "$@" -q --devices cpu,gpu:77
said "names device and rank" "rank 1: no device matches 'gpu:77'"
env PATH="$tmp/none" "$krylocl" solve "$@" -q --devices cpu,cpu 2>"$tmp/err"
[ $? -eq 4 ]
check "no mpiexec" $?
said "names it" "none on PATH"
# Without the variables of this script: as root, who may be a user of a container, and with more devices than processors.
env -u OMPI_ALLOW_RUN_AS_ROOT -u OMPI_ALLOW_RUN_AS_ROOT_CONFIRM -u OMPI_MCA_rmaps_base_oversubscribe -u PRTE_MCA_rmaps_default_mapping_policy \
  "$krylocl" solve "$tmp/A.mtx" "$tmp/b" -q --devices "cpu$(yes ,cpu | head -n "$(getconf _NPROCESSORS_ONLN)" | tr -d '\n')" 2>"$tmp/err"
status=$?
check "more devices than processors, any user: exit code $status, $(cat "$tmp/err")" $status
# The status of a launcher that fails: 1 would be a solve that did not converge.
mkdir "$tmp/bin"
for code in 1 137; do
  printf '#!/bin/sh\nexit %s\n' $code >"$tmp/bin/mpiexec" && chmod +x "$tmp/bin/mpiexec"
  env PATH="$tmp/bin:$PATH" "$krylocl" solve "$@" -q --devices cpu,cpu 2>"$tmp/err"
  status=$?
  [ $status -eq 4 ] && [ "$(grep -ac '^krylocl:' "$tmp/err")" -eq 1 ]
  check "mpiexec ends with $code: exit code $status, $(cat "$tmp/err")" $?
done
alone "both options" 2 solve "$@" -q --devices cpu,cpu --device cpu
alone "a missing device" 2 solve "$@" -q --devices cpu,
said "is named" "--devices cpu,: a device is missing"
alone "shares without devices" 2 solve "$@" -q --shares 1,2
alone "one share for two" 2 solve "$@" -q --devices cpu,cpu --shares 1
alone "a share that is none" 2 solve "$@" -q --devices cpu,cpu --shares 1,x
expect "two devices for three ranks" 2 3 solve "$@" -q --devices cpu,cpu
said "counts" "--devices names 2 for 3 ranks"
# ---- spmv: y of all ranks is that of one process; each device alone and all together are timed; shares by a rule
alone "equal rows" 0 solve "$@" -q --devices cpu,cpu --shares rows --json "$tmp/json"
rows=$(sed -n 's/^[[:space:]]*"rows":[[:space:]]*\([0-9]*\).*/\1/p' "$tmp/json" | tail -2 | tr '\n' ' ')
[ "$rows" = "264 265 " ]
check "equal rows: $rows" $?
direct=none
if "$krylocl" version | grep -q CHOLMOD; then direct=direct; fi
expect "equal rows, read by rank 0" 0 2 solve "$@" -q --device cpu --shares rows --check $direct
alone "a rule without devices" 2 solve "$@" -q --shares rows
awk 'BEGIN { print "%%MatrixMarket matrix coordinate real general\n40 40 430"
  for (i = 1; i <= 10; i++) for (j = 1; j <= 40; j++) print i, j, i + j; for (i = 11; i <= 40; i++) print i, 41 - i, i }' >"$tmp/D.mtx"
places=cpu,cpu
[ -z "$opencl" ] || places="cpu,cpu cpu,0:0"
for devices in $places; do
  for format in csr-scalar ell; do
    for precision in s d; do
      set -- spmv "$tmp/D.mtx" random --format $format --precision $precision -q
      "$krylocl" "$@" --device cpu -o "$tmp/y1"
      alone "spmv $format $precision on $devices" 0 "$@" --devices "$devices" --shares rows -o "$tmp/y2" --json "$tmp/json"
      awk -v bound="$([ $precision = s ] && echo 1e-5 || echo 1e-13)" '/^%/ { next } { n[FILENAME]++; v[FILENAME, n[FILENAME]] = $1 }
        END { a = ARGV[1]; b = ARGV[2]; for (i = 1; i <= n[a]; i++) { d = v[a, i] - v[b, i]; if (d < 0) d = -d; if (!(d <= bound * 1e3)) exit 1 }
          exit n[a] != n[b] || n[a] != 41 }' "$tmp/y1" "$tmp/y2"
      check "spmv $format $precision on $devices: y is that of one process" $?
      [ "$(grep -c '"mnnz_per_second_alone":[[:space:]]*[0-9]' "$tmp/json")" -eq 2 ] &&
        grep -q '"speedup_over_one":[[:space:]]*[0-9]' "$tmp/json" && grep -q '"verdict":[[:space:]]*"passed"' "$tmp/json"
      check "spmv $format $precision on $devices: rates alone and together, after a check" $?
    done
  done
done
halves() { # RULE: nonzeros of the ranks
  alone "spmv --shares $1" 0 spmv "$tmp/D.mtx" --format csr-scalar -q --devices cpu,cpu --shares "$1" --json "$tmp/json"
  sed -n 's/^[[:space:]]*"nonzeros":[[:space:]]*\([0-9]*\).*/\1/p' "$tmp/json" | tr '\n' ' '
}
[ "$(halves rows)" = "410 20 " ]
check "spmv --shares rows: $(halves rows)" $?
[ "$(halves nonzeros)" = "200 230 " ]
check "spmv --shares nonzeros: $(halves nonzeros)" $?
# ---- bench --devices: rows of formats on all ranks together and on each device alone, as JSON and CSV
for devices in $places; do
  alone "bench on $devices" 0 bench "$tmp/D.mtx" poisson2d:17 --devices "$devices" --shares rows --formats csr-scalar,ell,cds,csr-image --precision s,d \
    --time-limit 0.02 --json "$tmp/json" --csv "$tmp/csv"
  grep -q "^matrix      D: 40 x 40, 430 nonzeros" "$tmp/out" && grep -q "^matrix      poisson2d:17: " "$tmp/out"
  check "bench on $devices: two matrices" $?
  awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { n++ }
    $at["status"] == "ok" { ok++; if (!($at["mnnz_per_second"] > 0 && $at["mnnz_per_second_alone"] > 0 && $at["seconds_halo"] >= 0)) bad = 1
      r = $at["speedup"] * $at["seconds_per_product"] / $at["seconds_alone"]; if (r < 0.999 || r > 1.001) bad = 1
      if ($at["precision"] $at["format"] $at["matrix"] == "dellD") known = $at["devices"] }
    END { gsub(/[+]/, ",", known); exit bad || n != 16 || ok < 8 || known != "'"$devices"'" }' "$tmp/csv"
  check "bench on $devices: rates and speed-ups of the formats that distribute" $?
  [ "$(grep -c '"mnnz_per_second_alone"' "$tmp/json")" -eq $((3 * $(grep -c ',ok,' "$tmp/csv"))) ] && grep -q '"rows":[[:space:]]*20,' "$tmp/json"
  check "bench on $devices: the JSON has the ranks of every row" $?
done
awk 'BEGIN { n = 900; print "%%MatrixMarket matrix coordinate real symmetric"; print n, n, 2 * n - 1
  for (i = 1; i <= n; i++) print i, i, n + 1; for (i = 2; i <= n; i++) print i, 1, -1 }' >"$tmp/R.mtx"
alone "bench on devices of a format that pads too much" 9 bench "$tmp/R.mtx" --devices cpu,cpu --formats dense --time-limit 0.02
grep -q "^  dense         refused: pads to" "$tmp/out"
check "bench on devices: the reason" $?
alone "bench on devices, padding allowed" 0 bench "$tmp/R.mtx" --devices cpu,cpu --formats dense,ell --force --time-limit 0.02 --samples 2 --csv "$tmp/csv" -q
[ "$(grep -c ",ok,[^,]*,[0-9]" "$tmp/csv")" -eq 2 ]
check "bench on devices, padding allowed: alone as well" $?
alone "bench on devices of what no device holds alone" 0 bench "$tmp/R.mtx" --devices cpu,cpu --formats ell --time-limit 0.02 --samples 2 --csv "$tmp/csv"
grep -q "^  ell  *- " "$tmp/out" && grep -q ",ok,[^,]*,,,[0-9]" "$tmp/csv"
check "bench on devices: no rate alone" $?
alone "bench -f on devices" 0 bench "$tmp/D.mtx" --devices cpu,cpu -f ell --time-limit 0.02 --samples 2 --csv "$tmp/csv" -q
alone "bench of a method on devices" 2 bench "$tmp/D.mtx" --devices cpu,cpu --solver cg
said "says what it times" "bench times products alone"
alone "bench on one of devices" 2 bench "$tmp/D.mtx" --devices cpu
alone "bench of a missing file and another on devices" 3 bench "$tmp/none.mtx" poisson2d:9 --devices cpu,cpu --formats ell --time-limit 0.02
grep -q "^matrix      poisson2d:9: " "$tmp/out"
check "bench on devices: the other file" $?
awk 'BEGIN { print "%%MatrixMarket matrix array real general\n529 3"; for (i = 0; i < 1587; i++) print i % 11 }' >"$tmp/X3"
expect "spmv under mpirun, three columns" 0 3 spmv poisson2d:23 "$tmp/X3" --device cpu -q
expect "spmv under mpirun, A^H" 2 2 spmv poisson2d:23 --adjoint --device cpu -q
# A signal ends the iterations, and what is known is written, as in one process.
for signal in INT:130 TERM:143 HUP:129; do
  rm -f "$tmp/x.mtx" "$tmp/json" "$tmp/err"
  "$krylocl" solve poisson2d:400 --devices cpu,cpu --tol 0 --solver cg --max-iter 100000000 --verbose -o "$tmp/x.mtx" --json "$tmp/json" >"$tmp/out" 2>"$tmp/err" &
  program=$!
  while ! grep -aqs iterations "$tmp/err" && kill -0 $program 2>/dev/null; do sleep 0.1; done
  kill -"${signal%:*}" $program
  wait $program
  status=$?
  [ $status -eq "${signal#*:}" ] && grep -q '"reason":.*"interrupted"' "$tmp/json" && [ -s "$tmp/x.mtx" ]
  check "ended by ${signal%:*}: exit code $status, not ${signal#*:}" $?
done
# One rank killed: the others end too.
if command -v ps >/dev/null 2>&1; then
  timeout $hang mpirun -n 2 "$krylocl" solve poisson2d:300 --device cpu --tol 0 --solver cg --max-iter 100000000 -q >"$tmp/out" 2>&1 &
  launcher=$!
  rank_below() { # PROCESS: a rank among its descendants (MPICH has a proxy between them)
    for child in $(ps -o pid= --ppid "$1" 2>/dev/null); do
      if [ "$(ps -o comm= -p "$child")" = krylocl ]; then echo "$child"; else rank_below "$child"; fi
    done | head -1
  }
  while kill -0 $launcher 2>/dev/null && [ -z "$(rank_below $launcher)" ]; do sleep 0.1; done
  sleep 1
  kill -KILL "$(rank_below $launcher)" 2>/dev/null
  wait $launcher
  status=$?
  [ $status -ne 0 ] && [ $status -ne 124 ]
  check "a rank that is killed ends the run: status $status" $?
else
  echo "skipped: a rank that is killed: no ps"
fi
echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
