#!/bin/sh
# The fuzz targets of tests/fuzz: each on its corpus and on small changes of it; or, where libFuzzer is linked in
# (make fuzz), for FUZZ_SECONDS each, with new inputs kept in the build folder. Usage: tests/fuzz.sh build/krylocl [TARGET...]
one=
[ "$1" != --one ] || { one=1 && shift; }
build=$(cd "$(dirname "${1:?path of the program}")" && pwd)
root=$(cd "$(dirname "$0")/.." && pwd)
shift
# The address sanitizer refuses large blocks as a machine without memory does: a few bytes can state millions of rows.
export ASAN_OPTIONS="allocator_may_return_null=1:max_allocation_size_mb=24:$ASAN_OPTIONS"
export KRYLOCL_CACHE=

verdict() { printf '%-4s %s\n' "$([ "$1" -eq 0 ] && echo ok || echo FAIL)" "$2"; }

fuzz() { # TARGET: libFuzzer
  new=$build/corpus/$1 log=$build/fuzz-$1.log
  mkdir -p "$new"
  "$build/tests/fuzz/fuzz_$1" -max_total_time="${FUZZ_SECONDS:-60}" -max_len=8192 -timeout=1000 -malloc_limit_mb=1000000 \
    -close_fd_mask="$([ "$1" = options ] && echo 2 || echo 0)" -artifact_prefix="$build/found-$1-" -print_final_stats=1 \
    "$new" "$root/tests/fuzz/corpus/$1" >"$log" 2>&1
  status=$?
  verdict $status "$1: $(awk '/number_of_executed_units/ { print $2 " executions" }' "$log"), log $log"
  [ $status -eq 0 ] || { grep -aE '^==|ERROR|SUMMARY|Test unit|fuzz\.h:' "$log" | head -8; ls "$build"/found-"$1"-*; }
}

corpus() { # TARGET: the program of tests/fuzz/corpus.c
  said=$("$build/tests/fuzz/fuzz_$1" "$root/tests/fuzz/corpus/$1" 2>&1)
  status=$?
  verdict $status "$1: $(printf '%s\n' "$said" | tail -1)"
  [ $status -eq 0 ] || printf '%s\n' "$said" | tail -5
}

if [ "$one" ]; then
  if [ ! -x "$build/tests/fuzz/fuzz_$1" ]; then
    echo "skip $1: not in this build"
  elif [ "$LIBFUZZER" ]; then
    fuzz "$1"
  else
    corpus "$1"
  fi
  exit 0
fi

[ $# -gt 0 ] || set -- mtx hb rows kcl dense tune choices text options checkpoint report
said=$(mktemp) && trap 'rm -f "$said"' EXIT || exit 1
printf '%s\n' "$@" | xargs -n 1 -P "$(getconf _NPROCESSORS_ONLN)" sh "$0" --one "$build/krylocl" | tee "$said"
failed=$(grep -c '^FAIL' "$said")
echo "$(grep -c '^ok' "$said") passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$(grep -cE '^(ok|FAIL|skip)' "$said")" -eq $# ]
