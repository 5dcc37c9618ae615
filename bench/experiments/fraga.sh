#!/bin/sh
# Fraga: GFlop/s against the number of threads beside the mean absolute deviation of the row lengths, and the test of
# correctness: y = A x of every format against the file of b, up to 1e-5. Options: common.sh.
. "$(dirname "$0")/common.sh"
systems=$(choose bcsstk16 Dubcova1 memplus G2_circuit boyd1 cage12)
steps=$(awk -v most="$(getconf _NPROCESSORS_ONLN)" 'BEGIN { for (t = 1; t < most; t *= 2) printf "%d,", t; print most }')
[ "$threads" = max ] || steps=$threads
if [ -n "$quick" ]; then systems="poisson2d:20 random-lognormal:300x6x5" steps=1,2; fi

# shellcheck disable=SC2086
"$K" info $systems -q --csv "$out/fraga-matrices.csv" || failed "krylocl info"
# shellcheck disable=SC2086
bench threads $systems -s none -d cpu -t "$steps" -f csr-scalar,csr-split,ellr,sell,coo
{
  table "$out/fraga-matrices.csv" -v down=matrix -v across=precision -v cell=row_deviation_percent \
    -v caption="Mean absolute deviation of the row lengths, percent of the mean"
  table "$out/fraga-threads.csv" -v down=matrix+format -v across=threads -v cell=gflops -v caption="GFlop/s by the number of threads"
} >"$out/fraga-tables.md"

# A, x and b as files, b by awk from the text of A and of x; every format has to give b on every device.
product() { # A.mtx x.mtx: b
  awk 'FNR == 1 { file++; if (file == 2) half = /symmetric/ } /^%/ { next } !sized[file]++ { rows = $1; next }
    file == 1 { x[++k] = $1; next }
    { y[$1] += $3 * x[$2]; if (half && $1 != $2) y[$2] += $3 * x[$1] }
    END { for (i = 1; i <= rows; i++) printf "%.17g\n", y[i] }' "$2" "$1"
}

compare() { # place, format: a line of the table
  grep -v '^%' "$work/y.mtx" | sed 1d | paste "$work/b.txt" - | awk -v row="$system,$1,$2" '
    { d = $1 - $2; if (d < 0) d = -d; if (!(d <= most)) most = d }
    END { right = NR > 0 && NF == 2 && most <= 1e-5; printf "%s,%s,%.3g\n", row, right ? "ok" : "wrong", most; exit !right }'
}

if [ -n "$quick" ]; then n=300 grid=15x20; else n=3000 grid=50x60; fi
case $devices in
  all) places="cpu $("$K" devices -q --json - | tr -d ' \t"' | sed -n 's/^place:\([0-9]*:[0-9]*\),*$/\1/p')" ;;
  *) places=$(echo "$devices" | tr , ' ') ;;
esac
"$K" generate random-normal:${n}x6x2 -q -o "$work/A.mtx" --rhs "$work/x.mtx" || failed "krylocl generate"
echo "matrix,device,format,status,largest_difference" >"$out/fraga-correct.csv"
for system in random-normal:${n}x6x2 poisson2d:$grid; do
  "$K" generate $system -q -o "$work/A.mtx" || failed "krylocl generate $system"
  product "$work/A.mtx" "$work/x.mtx" >"$work/b.txt"
  for place in $places; do
    for format in $("$K" list formats | awk '/^  [a-z]/ { print $1 }'); do
      if "$K" spmv "$work/A.mtx" "$work/x.mtx" -f "$format" -d "$place" -q -o "$work/y.mtx" 2>"$work/message"; then
        compare "$place" "$format" >>"$out/fraga-correct.csv" || failed "$system, $format on $place is wrong"
      elif grep -q "format $format refused" "$work/message"; then
        echo "$system,$place,$format,refused," >>"$out/fraga-correct.csv"
      else
        failed "$system, $format on $place: $(cat "$work/message")"
      fi
    done
  done
done
finish
