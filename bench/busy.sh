#!/bin/sh
# Time per iteration of CG with Jacobi and csr-scalar on the native executor while 0, 2, 4 and 8 other processes compute
# on the same processors, and under a quota of one processor (control groups, as in a container; as root). Medians of
# interleaved solves of a fixed number of iterations. The fair share of n processors beside k processes is 1 + k / n
# times the quiet time; of a quota of one it is the quiet time of one thread.
# usage: [BUILD=build] [SAMPLES=7] taskset -c 0,1 bench/busy.sh [A.mtx ...]       without matrices: generated ones
cd "$(dirname "$0")/.." || exit 1
krylocl=${BUILD:-build}/krylocl samples=${SAMPLES:-7} cores=$(nproc) busy='' group=''
dir=$(mktemp -d) || exit 1
[ -x "$krylocl" ] || { echo "busy: $krylocl was not built"; exit 1; }
unset OMP_NUM_THREADS
export KRYLOCL_CACHE=

rest() { # shellcheck disable=SC2086 # a list of processes
  [ -z "$busy" ] || kill $busy 2>/dev/null; wait; busy=''
}
trap 'rest; rm -rf "$dir"; [ -z "$group" ] || rmdir "$group"' EXIT
trap 'exit 130' INT TERM

work() { # COUNT processes that compute
  while [ "$1" -gt 0 ]; do
    sh -c 'while :; do :; done' &
    busy="$busy $!"
    set -- $(($1 - 1))
  done
}

# A group of processes that may use one processor: its folder, or nothing.
quota() {
  for root in /sys/fs/cgroup/cpu /sys/fs/cgroup; do
    group=$root/krylocl-busy-$$
    mkdir "$group" 2>/dev/null || continue
    { echo 100000 >"$group/cpu.cfs_quota_us" || echo '100000 100000' >"$group/cpu.max"; } 2>/dev/null && return
    rmdir "$group"
  done
  group=''
}

# ITERATIONS GROUP OPTIONS...: solves $file; prints microseconds per iteration
solve() {
  n=$1 in=$2
  shift 2
  # shellcheck disable=SC2016 # for the inner shell
  sh -c 'if [ -n "$1" ]; then echo $$ >"$1/cgroup.procs" || exit 3; fi; shift; exec "$@"' sh "$in" \
    "$krylocl" solve "$file" -d cpu -s cg -p jacobi -f csr-scalar --check none --tol 0 --max-iter "$n" \
    -q --json - "$@" 2>"$dir/log" >"$dir/json"
  sed -n 's/^\t"seconds_per_iteration":\t\([0-9.e+-]*\),*/\1/p' "$dir/json" | awk '{ print $1 * 1e6 }'
}

# CASE GROUP OPTIONS...: keeps the time of one solve
sample() {
  name="${file##*/} $1"
  shift
  echo "$name $(solve "$iterations" "$@")" >>"$dir/times"
}

median() { grep "^$1 " "$dir/times" | sort -k3g | awk '{ v[NR] = $3 } END { print NR ? (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 : 0 }'; }

# MATRIX CASE BASE SHARE: one row; SHARE: fair, of the time of the case BASE
row() {
  echo "$(median "$1 $2") $(median "$1 $3")" | awk -v m="$1" -v c="$2" -v share="$4" '$1 > 0 {
    printf "| %-18s | %-10s | %9.1f | %6.2f | %6.2f | %5.2f |\n", m, c, $1, $1 / $2, share, $1 / $2 / share }'
}

if [ $# -eq 0 ]; then
  "$krylocl" generate wathen:35 -q -o "$dir/wathen:35" && "$krylocl" generate poisson2d:390 -q -o "$dir/poisson2d:390" || exit 1
  set -- "$dir/wathen:35" "$dir/poisson2d:390"
fi
quota
for file in "$@"; do # a quarter of a second on one thread
  iterations=$(solve 50 '' --threads 1 | awk '{ n = int(250000 / ($1 + 1)); print n < 4000 ? n : 4000 }')
  [ -n "$iterations" ] || { cat "$dir/log"; exit 1; }
  i=0
  while [ $i -lt "$samples" ]; do
    sample one-thread '' --threads 1
    for k in 0 2 4 8; do
      work $k
      sample $k-busy ''
      rest
    done
    [ -z "$group" ] || sample quota-1 "$group"
    i=$((i + 1))
  done
done

printf '%s processors, %s, medians of %s\n\n' "$cores" "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)" "$samples"
echo '| matrix | case | us per iteration | times base | fair | of fair |'
echo '| --- | --- | --- | --- | --- | --- |'
for file in "$@"; do
  m=${file##*/}
  row "$m" one-thread one-thread 1
  for k in 0 2 4 8; do row "$m" $k-busy 0-busy "$(awk "BEGIN { print 1 + $k / $cores }")"; done
  row "$m" quota-1 one-thread 1
done
[ -n "$group" ] || echo 'No control groups that can be written: the quota was not tried.'
