#!/bin/sh
# The experiments of docs/experiments.md in their quick mode: no script fails, every table has its rows, and figures of the studies
# stand beside ours, in columns of their own.
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
  awk -v rows="$2" -v quote='"' '/^matrix,/ { next } /failed/ { bad = 1 } /,sequential(-dense)?,/ { next } { n++ } /,ok,true,/ { ok++ }
    END { if (bad || n != rows || !ok) { print n " rows, expected " rows; exit 1 } }' "$1"
}
lines() { # file, lines
  [ "$(wc -l <"$1")" -eq "$2" ] || { echo "$(wc -l <"$1") lines, expected $2"; cat "$1"; false; }
}
tables() { # file: no table without cells
  [ -s "$1" ] && awk '/^\|/ { rows++ } !/^\|/ { if (rows && rows < 3) bad = 1; rows = 0 } END { exit bad || (rows && rows < 3) }' "$1"
}

has() { "$K" list formats | grep -c "^  $1 "; } # format: 1 if this krylocl has it

if [ "$opencl" -gt 0 ] && [ ! -x "$ATOMICS" ]; then check "make atomics" make -C "$root" BUILD="$(dirname "$K")" atomics; fi
if [ "$opencl" -gt 0 ]; then scripts='kuresson counters arm losada fraga'; else scripts='counters arm losada fraga'; fi
for script in $scripts; do
  check "$script" sh "$root/bench/experiments/$script.sh" --quick -o out
  check "the tables of $script" tables out/$script-tables.md
done
case $scripts in kuresson*)
  check "devices" grep -q '^| clock |.* 850 |' out/kuresson-tables.md
  check "matrices" lines out/kuresson-matrices.csv 3
  check "products" statuses out/kuresson-products.csv $((2 * (7 + $(has ell-rows)) * devices))
  check "the study's rates and ours" grep -q '^| matrix | Kuresson 2012 ATI Radeon HD5870 csr-scalar s |.*| krylocl: ' out/kuresson-tables.md
  check "a rate of the study" grep -q '^| heart1 | 347 | 158 | - |' out/kuresson-tables.md
  check "a ratio of the study's rates" grep -q '^| Maragal_2 | 3 | 15.4 |' out/kuresson-tables.md
  check "full storage" statuses out/kuresson-full.csv $((2 * devices))
  check "two devices of the study" grep -q '^| psmigr_1 | 16.9 | 32.6 | 47.6 | 81.3 |' out/kuresson-tables.md
  if "$K" version | grep -q MPI; then
    check "two devices together" sh -c "[ \$(grep -c ',cpu+cpu,ok,[0-9]' out/kuresson-pairs.csv) = 4 ]"
  fi
  check "variants" statuses out/arm-variants.csv 7
  check "4 and 8 work-items per row" lines out/arm-lanes.csv 3
  check "group sizes" lines out/arm-group.csv 7
  check "atomics" lines out/kuresson-atomics.csv $((16 * opencl + 1))
  check "sums" sh -c '! grep wrong out/kuresson-atomics.csv'
  check "some sums" sh -c "[ \$(grep -c ,ok, out/kuresson-atomics.csv) -ge $((12 * opencl)) ]" ;;
esac
check "the worked example" grep -q '^| y(3) | 57 | 47 | 47 | 47 | 47 |' out/arm-tables.md
check "profiles" statuses out/counters-profile.csv $(((6 + $(has csr-global)) * devices))
check "libraries" test -s out/counters-peers.txt
check "kernels 1 and 2, real" statuses out/losada-real.csv $((2 * 2 * devices))
check "kernels 1 and 2, complex" statuses out/losada-complex.csv $((2 * 2 * devices))
[ "$opencl" = 0 ] || check "the list of devices" awk -F' *[|] *' '/^The list/ { p = 1; next } !/^[|]/ && NF { p = 0 }
  p && NF > 4 { n++; if ($(NF - 1) == "-") missing++ } END { exit n < 30 || missing > 6 }' out/losada-tables.md
check "time of kernel 2 / time of kernel 1" grep -q '^| bfwa782 | 80.7 | 1.25 |' out/losada-tables.md
[ "$opencl" = 0 ] || check "time on the CPU / time on a device" grep -q '| krylocl, native CPU / ' out/losada-tables.md
check "files" lines out/losada-files.csv 7
check "files are the same" sh -c "! grep different out/losada-files.csv"
check "threads" statuses out/fraga-threads.csv $((2 * 2 * 6))
[ "$opencl" = 0 ] || check "devices" statuses out/fraga-devices.csv $((2 * 5 * opencl))
check "deviation beside GFlop/s" grep -q '^| matrix | Fraga 2018 mean.*deviation, percent |.* cpu ell |' out/fraga-tables.md
check "dc1 in ELL" grep -q 'refuses ELL: pads to 0.01' out/fraga-tables.md
check "row lengths" lines out/fraga-matrices.csv 3
formats=$("$K" list formats | grep -c '^  [a-z]')
check "every format" lines out/fraga-correct.csv $((1 + 2 * formats * devices))
check "right" sh -c "! grep wrong out/fraga-correct.csv"
check "at least once" sh -c "[ \$(grep ,ok, out/fraga-correct.csv | cut -d, -f3 | sort -u | wc -l) -ge $((formats - 4)) ]"
check "results without paths and samples" sh -c "! grep -rl -e '$root' -e '$work' out && [ ! -d out/samples ]"

pivot() { # options of cells.awk: the table of cells.csv
  awk "$@" -f "$root/bench/experiments/csv.awk" -f "$root/bench/experiments/cells.awk" cells.csv |
    awk -v caption=cells -f "$root/bench/experiments/csv.awk" -f "$root/bench/experiments/pivot.awk"
}
has_line() { # line of a table, options of cells.awk
  line=$1
  shift
  pivot "$@" | grep -qxF "$line"
}
printf 'matrix,format,status,rate\n/far/away/m.mtx.gz,ell,ok,6\nm,"a, b",ok,7000000000\nm,coo,ok,2\nm,cds,refused: pads,\n' >cells.csv
check "matrices without folders and endings" has_line '| m | 6 | 7000000000 | 2 | refused |' -v down=matrix -v across=format -v cell=rate
check "ratios" has_line '| m | 3 |' -v down=matrix -v across=format -v cell=rate -v only='format~^[ec]' -v base=format=coo -v same=matrix
check "a factor" has_line '| m ell | 60 |' -v down=matrix+format -v cell=rate -v scale=10 -v only='format=ell;rate=6'
check "a column that does not exist" sh -c "! awk -v down=nothing -f '$root/bench/experiments/csv.awk' -f '$root/bench/experiments/cells.awk' cells.csv"
check "an option that does not exist" sh -c "! sh '$root/bench/experiments/fraga.sh' --nothing"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
