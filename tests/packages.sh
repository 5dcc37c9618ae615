#!/bin/sh
# The two commands on machines that lack something, with an apt-get, a sudo and an id of this test: without a network one
# attempt and one message, without root what to run, without a compiler its name; a build without GPL parts; and of a build for
# other machines (make check ARCH=portable) which library the program loads.
cd "$(dirname "$0")/.." || exit 1
program=${1:-build/krylocl}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
passed=0 failed=0
verdict() { if [ "$1" -eq 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL $2"; fi; }
says() { grep -q -e "$1" "$dir/out"; verdict $? "$2: no '$1' in: $(cat "$dir/out")"; }
silent() { ! grep -q -e "$1" "$dir/out"; verdict $? "$2: '$1' in: $(cat "$dir/out")"; }
fake() { cat >"$dir/$1"; chmod +x "$dir/$1"; } # NAME: a program of that name, from standard input

export HERE="$dir"
echo 'exit 1' | fake dpkg-query # nothing is installed
echo 'exit 1' | fake sudo       # an ordinary user who may not
# shellcheck disable=SC2016 # for the program to expand
echo 'echo "$USER_NUMBER"' | fake id
fake apt-get <<'APT'
echo "$*" >>"$HERE/calls"
case $* in
  *update*) echo "$APT_UPDATE:1 http://a stable InRelease" ;;
  *--assume-no*) echo "0 upgraded, 5 newly installed, 0 to remove and 0 not upgraded."
    echo "After this operation, 1,234 MB of additional disk space will be used." ;;
  *" -s "*) case $* in *libcjson-dev*) exit 100 ;; esac ;;
  *) [ -z "$APT_FAILS" ] || { echo "E: Unable to fetch some archives" >&2; exit 100; } ;;
esac
APT
packages() { # USER UPDATE FAILS: packages.sh demo there; $calls: how often apt-get looked up lists or installed
  : >"$dir/calls"
  MINIMAL='' USER_NUMBER=$1 APT_UPDATE=$2 APT_FAILS=$3 PATH="$dir:$PATH" sh .ci/packages.sh demo >"$dir/out" 2>&1 </dev/null
  verdict $? "packages.sh $* ends with $?"
  calls=$(grep -c -e update -e '-y' "$dir/calls")
}
packages 0 Err ''
[ "$calls" = 1 ]; verdict $? "without a network: $calls attempts"
[ "$(wc -l <"$dir/out")" -le 3 ]; verdict $? "without a network: $(cat "$dir/out")"
says 'no network' "without a network"; silent Installing "without a network"
packages 1000 Hit ''
[ "$calls" = 0 ]; verdict $? "without sudo: $calls attempts"
says 'apt-get install .*libcjson-dev' "without sudo"; silent Installing "without sudo"
packages 0 Hit ''
[ "$calls" = 2 ]; verdict $? "with all: $calls attempts"
says 'conflict.*libcjson-dev' "a package that is not available"; says 'libsuitesparse-dev' "weights"; says 'together.*1234 MB' "weights"; says 'MINIMAL=1' "weights"
grep -e '-y' "$dir/calls" | grep -q libcjson-dev; [ $? = 1 ]; verdict $? "a package that is not available is asked for"
packages 0 Hit yes
[ "$calls" = 2 ]; verdict $? "a failure: $calls attempts"
says 'Unable to fetch' "a failure"; silent 'Installed' "a failure"

# Under `make check` MAKEFLAGS has options that are not for this make.
MAKEFLAGS='' make CC="$dir/no-such-compiler" BUILD="$dir/build" >"$dir/out" 2>&1
[ $? = 2 ]; verdict $? "make without a compiler"
says 'no C compiler' "make without a compiler"; silent OpenCL "make without a compiler"
MAKEFLAGS='' make info GPL=no BUILD="$dir/build" >"$dir/out" 2>&1
silent cholmod "make GPL=no"; silent umfpack "make GPL=no"; silent 'no CHOLMOD' "make GPL=no"

level=x86-64-v4 copy=$(dirname "$program")/glibc-hwcaps
if [ ! -d "$copy/$level" ]; then
  echo "skipped: a build for other machines: not ARCH=portable"
else
  [ "$(objdump -d "$(dirname "$program")/libkrylocl.so.0" | grep -c -e '%ymm' -e '%zmm')" = 0 ]
  verdict $? "the first library has instructions that not every processor has"
  objdump -d "$copy/$level/libkrylocl.so.0" | grep -q '%zmm'; verdict $? "the second library does without AVX-512"
  ldd "$program" >"$dir/out"
  if grep -qw avx512vl /proc/cpuinfo; then says "$level/libkrylocl" "on this processor"; else silent "$level/libkrylocl" "on this processor"; fi
  "$program" solve poisson2d:20 -q; verdict $? "a solve by $level"
  (GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F && export GLIBC_TUNABLES && ldd "$program" >"$dir/out" && "$program" solve poisson2d:20 -q)
  verdict $? "a solve without AVX-512"
  silent "$level/libkrylocl" "without AVX-512"
fi
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
