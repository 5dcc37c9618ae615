#!/bin/sh
# Fraga: GFlop/s against the number of threads beside the mean absolute deviation of the row lengths, and the test of
# correctness: y = A x of every format against the file of b, up to 1e-5. Options: common.sh.
# shellcheck disable=SC2086 # lists of words, throughout
. "$(dirname "$0")/common.sh"
systems=$(choose ML_Laplace cant webbase-1M dc1 cage4 bcsstk16 Dubcova1 memplus G2_circuit boyd1 cage12)
steps=$(awk -v most="$(getconf _NPROCESSORS_ONLN)" 'BEGIN { for (t = 1; t < most; t *= 2) printf "%d,", t; print most }')
[ "$threads" = max ] || steps=$threads
if [ -n "$quick" ]; then systems="poisson2d:20 random-lognormal:300x6x5" steps=1,2; fi
case $devices in
  all) places="cpu $("$K" devices -q --json - | tr -d ' \t"' | sed -n 's/^place:\([0-9]*:[0-9]*\),*$/\1/p')" ;;
  *) places=$(echo "$devices" | tr , ' ') ;;
esac
opencl=$(echo " $places " | sed 's/ cpu / /; s/^ *//; s/ *$//' | tr ' ' ,)

# Threads on the CPU; on OpenCL devices the kernels of the study's figures 7 and 8 (one work-item or several per row, ELL).
describe_matrices $systems
bench threads $systems -s none -d cpu -t "$steps" -f csr-scalar,csr-split,ell,ellr,sell,coo
runs=threads
if [ -n "$opencl" ]; then
  bench devices $systems -s none -d "$opencl" --layout gpu -f csr-scalar,csr-vector,csr-group,ell,ellr
  runs="threads devices"
fi

# The row lengths of dc1, the matrix that ELL cannot hold: one long row, the others of one entry.
if [ -n "$quick" ]; then n=1000 longest=900; else n=116835 longest=114190; fi
awk -v n=$n -v longest=$longest 'BEGIN { print "%%MatrixMarket matrix coordinate pattern general"; print n, n, n - 1 + longest
  for (j = 1; j <= longest; j++) print 1, j; for (i = 2; i <= n; i++) print i, i }' >"$work/dc1-rows.mtx"
bench refused "$work/dc1-rows.mtx" -s none -d cpu -f csr-scalar,ell
{
  published text -v across=study+quantity -v only='quantity~^mean absolute'
  measured matrices -v across= -v heading="krylocl: deviation, percent" -v cell=row_deviation_percent
  measured "$runs" -v across=device+place+format -v cell=gflops
  table "Figures 2 to 8: mean absolute deviation of the row lengths, percent of the mean, and GFlop/s, on the CPU with the best number \
of threads" -v most=1
  published text -v down=device -v across=study+quantity -v only='table=figure 6'
  measured threads -v only='device~.' -v down=device -v across=format -v heading="krylocl, best of all matrices: " -v cell=speedup
  table "Figure 6: sequential time / least time over the numbers of threads" -v most=1 -v corner=device
  measured threads -v only='device~.' -v across=format -v cell=speedup
  table "Figure 6 by matrix: sequential time / least time over the numbers of threads" -v most=1
  measured threads -v down=matrix+format -v across=threads -v heading='threads: ' -v cell=gflops
  table "Figures 2 to 5: GFlop/s by the number of threads"
  published text -v across=study+quantity+unit -v only='matrix=dc1;quantity~^(rows|longest|values)'
  measured refused -v across=format+device+place -v cell=bytes_stored -v scale=1e-9 -v heading="krylocl, GB: "
  table "dc1 in ELL, values and columns"
  grep ',ell,' "$work/rows.csv" | tr , '\n' | sed -n 's/^"*refused: /krylocl refuses ELL: /p; s/^refused/&/p' | head -n 1
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
