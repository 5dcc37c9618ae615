#!/bin/sh
# The experiments of docs/experiments.md in their quick mode: no script fails, and every table has its rows.
[ "${KRYLOCL_THOROUGH:-0}" -gt 0 ] || { echo "skipped: the experiments take a minute: KRYLOCL_THOROUGH=1" && echo "0 passed, 0 failed" && exit 0; }
[ -z "$SAN" ] || { echo "skipped: with sanitizers: the other tests run the same code" && echo "0 passed, 0 failed, 1 skipped" && exit 0; }
K=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
check() { # what, command...
  what=$1
  shift
  if "$@" >message 2>&1; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL $what"; head -12 message; fi
}
places=$("$K" devices -q --json - | tr -d ' \t"' | sed -n 's/^place:\(.*[^,]\),*$/\1/p')
devices=$(echo "$places" | wc -l) opencl=$(echo "$places" | grep -c :)
export KRYLOCL="$K" ATOMICS="${ATOMICS:-$(dirname "$K")/bench/experiments/atomics}"

statuses() { # CSV, rows: so many of krylocl bench, none failed, and at least one that was measured and validated
  awk -v rows="$2" -v quote='"' '/^matrix,/ { next } /failed/ { bad = 1 } /,sequential,/ { next } { n++ } /,ok,.*,true$|,ok,.*,true,/ { ok++ }
    END { if (bad || n != rows || !ok) { print n " rows, expected " rows; exit 1 } }' "$1"
}
lines() { # file, lines
  [ "$(wc -l <"$1")" -eq "$2" ] || { echo "$(wc -l <"$1") lines, expected $2"; cat "$1"; false; }
}
tables() { # file: no table without cells
  [ -s "$1" ] && awk '/^\|/ { rows++ } !/^\|/ { if (rows && rows < 3) bad = 1; rows = 0 } END { exit bad || (rows && rows < 3) }' "$1"
}

if [ "$opencl" -gt 0 ] && [ ! -x "$ATOMICS" ]; then check "make atomics" make -C "$root" BUILD="$(dirname "$K")" atomics; fi
if [ "$opencl" -gt 0 ]; then scripts='kuresson counters arm losada fraga'; else scripts='counters losada fraga'; fi
for script in $scripts; do
  check "$script" sh "$root/bench/experiments/$script.sh" --quick -o out
  check "the tables of $script" tables out/$script-tables.md
done
case $scripts in kuresson*)
  check "devices" grep -q '"place"' out/kuresson-devices.json
  check "matrices" lines out/kuresson-matrices.csv 3
  check "products" statuses out/kuresson-products.csv $((2 * 7 * devices))
  check "full storage" statuses out/kuresson-full.csv $((2 * devices))
  check "two devices" grep -q 'One against two devices: not measured' out/kuresson-tables.md
  check "variants" statuses out/arm-variants.csv 5
  for run in lanes-4 lanes-8; do check "$run" statuses out/arm-$run.csv 1; done
  for run in group-64 group-256; do check "$run" statuses out/arm-$run.csv 3; done
  for place in $(echo "$places" | grep : | tr : -); do
    check "atomics on $place" lines out/kuresson-atomics-"$place".csv 17
    check "sums on $place" sh -c "! grep 'wrong' out/kuresson-atomics-$place.csv"
    check "some sums on $place" sh -c "[ \$(grep -c ,ok, out/kuresson-atomics-$place.csv) -ge 12 ]"
  done ;;
esac
check "profiles" statuses out/counters-profile.csv $((6 * devices))
check "libraries" test -s out/counters-peers.txt
check "kernels 1 and 2" statuses out/losada-kernels.csv $((4 * 2 * devices))
check "files" lines out/losada-files.csv 4
check "files are the same" sh -c "! grep different out/losada-files.csv"
check "threads" statuses out/fraga-threads.csv $((2 * 2 * 5))
check "row lengths" lines out/fraga-matrices.csv 3
formats=$("$K" list formats | grep -c '^  [a-z]')
check "every format" lines out/fraga-correct.csv $((1 + 2 * formats * devices))
check "right" sh -c "! grep wrong out/fraga-correct.csv"
check "at least once" sh -c "[ \$(grep ,ok, out/fraga-correct.csv | cut -d, -f3 | sort -u | wc -l) -ge $((formats - 4)) ]"
printf 'matrix,format,rate\n/far/away/m.mtx.gz,ell,2\nm,coo,1\n' >paths.csv
check "matrices without folders and endings" sh -c "awk -v down=matrix -v across=format -v cell=rate -f '$root/bench/experiments/csv.awk' -f '$root/bench/experiments/table.awk' paths.csv | grep -q '^| m | 2 | 1 |'"
check "an option that does not exist" sh -c "! sh '$root/bench/experiments/fraga.sh' --nothing"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
