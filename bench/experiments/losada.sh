#!/bin/sh
# Rodriguez Losada 2010: kernel 1 (csr-unrolled) and kernel 2 (csr-group) in four precisions; files of row lists in and
# out; coordinate files without a banner, from 0. Options: common.sh.
. "$(dirname "$0")/common.sh"
systems=$(choose bcsstk16 Dubcova1 wathen100 G2_circuit)
if [ -n "$quick" ]; then systems=poisson2d:20; fi

# Kernels 1 and 2; GPU layout, in which they differ on CPU devices too.
# shellcheck disable=SC2086
bench kernels $systems -s none -d "$devices" -t "$threads" --layout gpu --precision s,d,c,z -f csr-unrolled,csr-group
{
  table "$out/losada-kernels.csv" -v down=matrix+precision -v across=format+kind+place -v cell=seconds_per_product -v scale=1e6 \
    -v caption="Kernel 1 is csr-unrolled, kernel 2 is csr-group: microseconds per product"
  table "$out/losada-kernels.csv" -v down=matrix+precision -v across=format+kind+place -v cell=gflops -v caption="GFlop/s"
} >"$out/losada-tables.md"

same() { # what, file, file: the two hold the same, comments apart
  grep -v '^%[^%]' "$2" >"$work/one"
  grep -v '^%[^%]' "$3" >"$work/two"
  if cmp -s "$work/one" "$work/two"; then echo "$name,$1,same" >>"$out/losada-files.csv"
  else echo "$name,$1,different" >>"$out/losada-files.csv"; failed "$name: $1: the matrix is not the same"; fi
}

# A file goes to another form and back; all entries are written, so that the symmetry is not part of it.
echo "matrix,file,result" >"$out/losada-files.csv"
for system in $systems; do
  name=$(basename "$system" .gz | sed 's/\.mtx$//')
  echo "$name" | grep -q : && "$K" generate "$system" -q -o "$work/A.rows" || "$K" convert "$system" -q -o "$work/A.rows" ||
    failed "$system: no row lists"
  "$K" convert "$work/A.rows" -q -o "$work/A.mtx" || failed "$name.rows cannot be read"
  "$K" convert "$work/A.mtx" -q -o "$work/B.rows" && same "row lists" "$work/A.rows" "$work/B.rows"
  # The same entries with the sizes alone as a heading, once from 1 and once from 0.
  grep -v '^%' "$work/A.mtx" >"$work/from1.txt"
  awk 'NR > 1 { $1--; $2-- } { print }' "$work/from1.txt" >"$work/from0.txt"
  for base in 1 0; do
    "$K" convert "$work/from$base.txt" --index-base $base -q -o "$work/C.mtx" &&
      same "coordinates from $base without a banner" "$work/A.mtx" "$work/C.mtx" || failed "$name: coordinates from $base"
  done
done
finish
