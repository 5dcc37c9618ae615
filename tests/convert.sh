#!/bin/sh
# Files, seen from the program: conversion between all formats, right-hand sides in matrix files, the cache.
# Usage: tests/convert.sh build/krylocl. KRYLOCL_DEVICE chooses the device (cpu); real files come
# from KRYLOCL_MATRICES (../shared/matrices).
shared=$(cd "${KRYLOCL_MATRICES:-../shared/matrices}" 2>/dev/null && pwd)
. "$(dirname "$0")/program.inc"
XDG_CACHE_HOME=$dir/cache
unset KRYLOCL_CACHE
export XDG_CACHE_HOME
same() { cmp -s "$1" "$2"; verdict $? "  $1 is $2"; }
entries() { find cache/krylocl/matrices -name '*.kcl' 2>/dev/null | wc -l; }
count() { [ "$(entries)" -eq "$1" ]; verdict $? "  $1 entries in the cache"; }

# ------------------------------------------------------------------ convert
run 2 "convert without -o" convert A.mtx; says "needs -o"
run 2 "convert to an unknown kind" convert A.mtx -o B.mat; says "must end in .mtx, .rb, .rows"
run 3 "convert what is not there" convert none.mtx -o B.kcl; says "cannot open"
for kind in convection:9 poisson2d:12 helmholtz:7 magnetic:6 trefethen:40; do
  run 0 "$kind" generate $kind -o A.mtx
  for middle in B.rb B.kcl B.rb.gz; do
    run 0 "  to $middle" convert A.mtx -o $middle; says "written to $middle"
    run 0 "  and back" convert $middle -o C.mtx -q
    same A.mtx C.mtx
  done
done
run 0 "to row lists" convert A.mtx -o B.rows; says "and not the symmetry (symmetric)"
head -2 B.rows | tail -1 | grep -q '^row 1: (1, 2) (2, 1) (3, 1)'; verdict $? "  counted from 1"
run 0 "to standard output" convert B.kcl -o -; same out A.mtx
run 2 ".kcl is not packed" convert A.mtx -o B.kcl.gz; says "leave out .gz"
head -c 1000 B.kcl >cut.kcl
run 3 "a .kcl cut short" info cut.kcl; says "cut short"
"$prog" convert - -o D.kcl -q <B.kcl; verdict $? ".kcl from standard input"
same D.kcl B.kcl

# ------------------------------------------------------------------ coordinates without a banner, from 1 or 0
printf '# by hand\n3 3 4\n1 1 2.5\n1 3 -1\n2 2 3\n3 1 1\n' >one.coo
printf '3 3 4\n0 0 2.5\n0 2 -1\n1 1 3\n2 0 1\n' >zero.coo
{ echo '%%MatrixMarket matrix coordinate real general' && cat zero.coo; } >zero.mtx
run 0 "coordinates without a banner" convert one.coo -o one.mtx -q
run 0 "counted from 0" convert zero.coo --index-base 0 -o z.mtx -q; same z.mtx one.mtx
run 0 "  with the banner" convert zero.mtx --index-base 0 --cache -o z.mtx -q; same z.mtx one.mtx
run 3 "  and the cache keeps them apart" convert zero.mtx --cache -o z.mtx; says "zero.mtx:3:1: found \"0\""
says "index-base 0 reads files that count from 0"
rm -rf cache
run 2 "no other base" info zero.coo --index-base 2; says "there are: 0 1"
run 3 "a column too far" info zero.coo --index-base 1; says "zero.coo:2:1"
printf '2 2 2\n1 1\n2 1\n' >p.coo
run 0 "positions alone" info p.coo; says "pattern general"
printf '2 2 1\n1 1 3 -4\n' >c.coo
run 0 "complex values" info c.coo; says "complex general"
printf '2 2 3\n1 1 3\n' >short.coo
run 3 "fewer entries than stated" info short.coo; says "short.coo:1:1: found 1 entries, expected 3"
printf '2 2 1\n1 1 a\n' >word.coo
run 3 "a word" info word.coo; says "word.coo:1:1"

# ------------------------------------------------------------------ right-hand sides in the file
cat >own.rsa <<'EOF'
three unknowns, two right-hand sides, a guess                           OWN
             6             1             1             1             2
RSA                        3             3             5             0
(16I5)          (16I5)          (5F4.1)             (6F5.1)
FG                         2             0
    1    3    5    6
    1    2    2    3    3
  4. -1.  4. -1.  4.
  3.0  2.0  3.0  4.0 -1.0  0.0
  1.0  1.0  1.0  1.0  0.0  0.0
EOF
run 0 "solve with the file's own right-hand sides" solve own.rsa -o x.mtx; says "from the matrix file, 2 columns"
[ "$(sed -n '3,5p' x.mtx | tr '\n' ' ')" = "1 1 1 " ]; verdict $? "  x is right"
printf '4\n-1\n0\n' >b.txt
run 0 "or with another" solve own.rsa b.txt; says "b.txt, 1 column"
run 0 "kept in .kcl" convert own.rsa -o own.kcl
run 0 "  and used from there" solve own.kcl -o x2.mtx; same x2.mtx x.mtx
run 0 "left out of .mtx" convert own.rsa -o own.mtx; says "the right-hand side is left out"
run 0 "  or written apart" convert own.rsa -o own.mtx --rhs own_b.mtx
run 0 "  and used from there" solve own.mtx own_b.mtx --x0 b.txt -q
run 3 "no right-hand side to write" convert A.mtx -o B.kcl --rhs n.mtx; says "holds no right-hand side"

# ------------------------------------------------------------------ cache
run 0 "no cache unless asked for" info A.mtx; count 0
run 0 "--cache" info A.mtx --cache; count 1; cp out first
run 0 "  again" info A.mtx --cache; count 1
sed 's/read in.*//' first >one; sed 's/read in.*//' out >two; same one two
for f in cache/krylocl/matrices/*.kcl; do flip "$f" 500; cp "$f" damaged; done
run 0 "a damaged entry" info A.mtx --cache; sed 's/read in.*//' out >two; same one two
if cmp -s "$f" damaged; then fail "  is made again"; else ok "  is made again"; fi
run 0 "--cache of a system" solve own.rsa -o x2.mtx --cache -q; count 2
run 0 "  the second time" solve own.rsa -o x2.mtx --cache -q; same x2.mtx x.mtx
KRYLOCL_CACHE=moved "$prog" info A.mtx --cache -q; [ -n "$(ls moved/matrices/*.kcl)" ]; verdict $? "KRYLOCL_CACHE=folder"; count 2
"$prog" generate trefethen:41 -o A.mtx -q
run 0 "another content" info A.mtx --cache; says "41 x 41"; count 3
run 0 ".kcl itself is not kept" info B.kcl --cache; count 3
rm -rf cache
KRYLOCL_CACHE= "$prog" info A.mtx --cache -q; [ $? -eq 0 ] && [ ! -e cache/krylocl ]; verdict $? "KRYLOCL_CACHE= keeps nothing"
rm -rf cache && : >cache
run 0 "a cache that cannot be written" info A.mtx --cache
rm -f cache

# ------------------------------------------------------------------ real files
if [ -f "$shared/hb/west0479.rb.gz" ]; then
  for pair in west0479.rb:west0479 qc324.cua:qc324 illc1850.rra:illc1850; do
    run 0 "${pair%:*}" convert "$shared/hb/${pair%:*}.gz" -o H.kcl -q
    run 0 "  as Matrix Market" convert "$shared/${pair#*:}.mtx.gz" -o M.kcl -q
    run 0 "  the first again" convert H.kcl -o H.rows -q; run 0 "  and the second" convert M.kcl -o M.rows -q
    same H.rows M.rows
  done
else
  echo "skipped: real files (no ${KRYLOCL_MATRICES:-../shared/matrices}/hb; set KRYLOCL_MATRICES)"
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
