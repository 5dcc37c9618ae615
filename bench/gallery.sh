#!/bin/sh
# The gallery of storage formats, docs/gallery.md and its pictures docs/img/format-*.svg, as `krylocl info --arrays` draws them
# (`make gallery`). Formats with the same arrays share a picture.
# usage: bench/gallery.sh build/krylocl [FOLDER]
krylocl=${1:?path of krylocl} folder=${2:-docs}
work=$(mktemp -d) && trap 'rm -r "$work"' EXIT || exit 1
mkdir -p "$folder/img" && rm -f "$folder"/img/format-*.svg || exit 1

# Value 24 is in row 2 and column 4, counted from 1.
cat >"$work/general.mtx" <<'MATRIX'
%%MatrixMarket matrix coordinate real general
6 6 15
1 1 11
1 3 13
2 2 22
3 1 31
3 2 32
3 3 33
3 5 35
4 3 43
4 4 44
5 2 52
5 5 55
5 6 56
6 1 61
6 5 65
6 6 66
MATRIX
cat >"$work/repeats.mtx" <<'MATRIX'
%%MatrixMarket matrix coordinate real symmetric
6 6 11
1 1 4
2 1 -1
2 2 4
3 2 -1
3 3 4
4 3 -1
4 4 4
5 4 -1
5 5 4
6 5 -1
6 6 4
MATRIX
matrix_of() { # format: those for symmetric matrices, diagonals and repeated rows or values have a matrix of these
  case $1 in csr-sym | cds | cds-image | pattern | pair | sell16 | sell-dict) echo repeats ;; *) echo general ;; esac
}
arrays() { # format, options
  format=$1
  shift
  "$krylocl" info "$work/$(matrix_of "$format").mtx" --device cpu --format "$format" --arrays -q "$@"
}
source_of() { # format: the file that has it
  grep -l "\.name = \"$1\"" "$(dirname "$0")"/../spmv/*.c | sed 's|.*/spmv/|spmv/|'
}
summary_of() { # format: its line of the list, which may be wrapped
  awk -v f="$1" '/^  [a-z]/ { on = $1 == f; $1 = "" } on { gsub(/^ +/, ""); printf "%s%s", sep, $0; sep = " " }' "$work/list" |
    sed 's/ (study: not for auto)//'
}

"$krylocl" list formats >"$work/list" || exit 1
formats=$(awk '/^  [a-z]/ { print $1 }' "$work/list")
for format in $formats; do
  arrays "$format" --json "$work/json" || exit 1
  ! grep -q '"refused"' "$work/json" || continue # x in an image: none natively
  sum=$(sed '/"format"/d; /"file"/d' "$work/json" | cksum | tr ' ' -)
  echo "$format" >>"$work/$sum.same"
  [ "$(wc -l <"$work/$sum.same")" -gt 1 ] && continue
  echo "$format $sum" >>"$work/order"
  arrays "$format" --plot "$folder/img/format-$format.svg" || exit 1
done
{
  cat <<'PAGE'
# Gallery of storage formats

A matrix of six rows in every storage format, as the CPU stores it. `make gallery` makes this page; do not edit. The
same for a matrix of yours, of at most eight rows and columns:

    krylocl info A.mtx --format ell --arrays
    krylocl info A.mtx --format ell --arrays --plot ell.svg

Each row has a colour; an element has the colour of the row whose entry it holds. Dashed: padding. Pale: pointers,
lengths and permutations, and elements that stand for several entries. On the left: the index of the first element of a
line. Rows and columns count from 0. `26 × 0` is padding in place of absent rows: some formats round the number of rows
up to a multiple of 32. On a GPU some formats store other arrays, such as the tiles of `csr-split` and the column
pointers of `csc` (`--layout gpu`, on any OpenCL device). `csr-image`, `ell-image` and `cds-image` have those of
`csr-scalar`, `ell` and `cds`, and x in an image.
PAGE
  while read -r format sum; do
    printf '\n## %s\n\n' "$format"
    printf '%s (`%s`)' "$(summary_of "$format")" "$(source_of "$format")"
    others=$(sed 1d "$work/$sum.same" | sed 's/.*/`&`/' | paste -sd , - | sed 's/,/, /g')
    [ -z "$others" ] || printf '; the same arrays: %s' "$others"
    printf '.\n\n![%s](img/format-%s.svg)\n' "$format" "$format"
  done <"$work/order"
} >"$folder/gallery.md"
