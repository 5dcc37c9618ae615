#!/bin/sh
# The program: exit codes, messages, JSON fields, options anywhere, standard input, invalid input. Usage: tests/cli.sh build/krylocl. KRYLOCL_DEVICE chooses the device (cpu).
# JSON is checked with python3 when there is one, direct solutions when the build has them.
. "$(dirname "$0")/program.inc"
device=$KRYLOCL_DEVICE

absent() { [ ! -e "$1" ]; verdict $? "  $1 is not written"; }
command -v python3 >/dev/null 2>&1 || echo "skip JSON: no python3"

# ------------------------------------------------------------------ words
run 0 "--version" --version; says "^krylocl [0-9]"
grep -q "CHOLMOD.*UMFPACK" out; direct=$?
grep -q "SPQR" out; spqr=$?
run 0 "--help" --help
for word in csr-scalar csr-vector coo ell cds cg bicg none jacobi heatsink poisson2d poisson3d hpcg convection helmholtz trefethen; do
  says "^  $word "
done
fits() { awk 'length > 80 { wide = 1 } END { exit wide || NR > 23 }' out; verdict $? "  fits 24 lines of 80"; }
run 0 "-h" -h; says "^  solve "; fits
for c in solve spmv bench info check devices selftest generate convert get tune explain list version completion man; do
  run 0 "$c --help" $c --help; says "krylocl $c"; says "^exit codes"
  run 0 "$c -h" $c -h; says "krylocl $c"; fits
done
run 0 "solve --help tells the JSON fields" solve --help; says "true_relative_residual"
run 0 "help solve" help solve; says "true_relative_residual"; says "on several ranks: ranks"
run 0 "generate -h lists the kinds" generate -h
for kind in $("$prog" list generators | awk '/^  [a-z]/ { print $1 }'); do grep -q " $kind:[0-9]" out || echo "$kind"; done >err
[ ! -s err ]; verdict $? "  with an example each"
run 0 "help of the library's options" solve --help; says "preconditioner (auto)"; says "complex data)"; says "has)"; says "1 to 1000"
run 0 "a default of bench" bench --help; says "preconditioner (none)"; says "right-hand sides at once, 1 to 8 (1)"
run 0 "a default of explain" explain --help; says "measure, model (model)"
run 0 "a default of check" check --help; says "to reach (1e-8)"
run 0 "generate --help describes them" generate --help; says "^  trefethen  *primes on the diagonal"
for l in formats solvers preconds parameters generators devices; do
  run 0 "list $l" list $l --json l.json; [ ! -s out ]; verdict $? "  only JSON"
  json l.json "len(d['$l'])>0 and all(e['name'] and e['summary'] for e in d['$l'])"
  [ $l != generators ] || json l.json "all(e['example'].startswith(e['name']+':') for e in d['$l'])"
  run 0 "list $l" list $l
done
says "^  cpu "
run 0 "list" list; says "^formats"; says "^  csr-scalar "; says "^  heatsink "
run 0 "list in whole words" list preconditioners methods; says "^  jacobi "; says "^  bicgstab "
run 0 "list parameters" list parameters --json l.json
json l.json "[(p['default'],p['min'],p['max'],p['whole']) for p in d['parameters'] if p['name']=='chebyshev.degree']==[('4',1,8,True)]"
run 0 "parameters" solve -q poisson2d:9 -d cpu -s cg -p chebyshev --parameters chebyshev.degree=2,ilut.drop=1e-4 --json s.json
json s.json "d['precond_note']=='degree 2' and d['parameters']=='chebyshev.degree=2,ilut.drop=1e-4' and d['converged']"
run 2 "  unknown" solve poisson2d:9 --parameters ilut.dorp=1; says "did you mean 'ilut.drop'"
run 2 "  no parameter" solve poisson2d:9 --parameters tol=1; says "unknown parameter 'tol'"
run 2 "  out of range" solve poisson2d:9 --parameters ilut.drop=2; says "must be a number from 0 to 1"
run 2 "  without a value" solve poisson2d:9 --parameters amg.theta=0.5,ilut.drop; says "ilut.drop=V"
run 2 "list of what is none" list format; says "did you mean 'formats'"
run 0 "version" version; says "^krylocl [0-9]"; says "^compiler  "; says "^parts "; says "^licence   BSD-3-Clause"
if ldd "$prog" 2>/dev/null | grep -q libmpi; then says "^parts .*MPI.*[0-9]"; fi
run 0 "help after the rest" solve nowhere.mtx --help; says "krylocl solve"
run 2 "no subcommand"; says "subcommand is missing"
run 2 "unknown subcommand" sovle A.mtx; says "did you mean 'solve'"
run 2 "unknown option" solve A.mtx --presision d; says "did you mean --precision?"
run 2 "an option's long form" solve A.mtx --tolerance 1; says "did you mean --tol?"
run 2 "no option of another subcommand is proposed" solve A.mtx --secnds 1; grep -q -e --seconds err; [ $? -ne 0 ]; verdict $? "  none"
run 2 "letters exchanged" solve A.mtx -f slel; says "did you mean 'sell'"
run 2 "unknown letter" solve A.mtx -Z; says "unknown option '-Z'"
run 2 "unknown letter behind known ones" solve A.mtx --quiet -qZ; says "unknown option '-Z'"
run 2 "unknown format" solve A.mtx --format elll; says "did you mean 'ell'"
run 2 "unknown format in a list" bench A.mtx --formats ell,coa; says "did you mean 'coo'"
run 2 "all and others" bench A.mtx --formats all,coo; says "unknown format 'all'"
run 2 "unknown solver" solve A.mtx --solver nonesuch; says "bicg"
run 2 "unknown preconditioner" solve A.mtx --precond jacoby; says "did you mean 'jacobi'"
run 2 "unknown precision" solve A.mtx --precision x; says "s d c z"
run 2 "unknown check" solve A.mtx --check lapack; says "direct cholmod umfpack spqr none"
run 2 "not a number" solve A.mtx --tol small; says "'small' is not a number"
run 2 "negative tolerance" solve A.mtx --tol -1; says "out of range"
run 2 "nan tolerance" solve A.mtx --tol nan; says "out of range"
run 2 "not a whole number" solve A.mtx --max-iter 1.5; says "not a whole number"
run 2 "too few iterations" solve A.mtx --max-iter=0; says "out of range"
run 2 "huge number" solve A.mtx --max-iter 99999999999999999999; says "out of range"
run 2 "missing value" solve A.mtx --tol; says "needs a value"
run 2 "restart beyond 1,000" solve A.mtx --solver cg --restart 1001; says "out of range, 1 to 1,000"
run 2 "unknown symmetry" solve A.mtx --symmetry exakt; says "unknown symmetry 'exakt', did you mean 'exact'"
run 2 "restart 0" solve A.mtx --solver gmres --restart 0; says "out of range"
run 2 "value too many" solve A.mtx --quiet=1; says "takes no value"
run 2 "a table packed" solve A.mtx --history h.csv.gz; says "leave out .gz"
run 2 "option of another subcommand, at its default" solve A.mtx --iterations 50; says "does not take --iterations"
run 2 "option of another subcommand" solve A.mtx --csv x.csv; says "does not take --csv, which is for info, bench"
run 2 "an option without a name" tune A.mtx --=; says "does not take --"
run 3 "a folder as output" solve A.mtx -o .; says "is a folder"; grep -q device out; [ $? -ne 0 ]; verdict $? "  before anything is read"
run 2 "operand too many" solve a b c; says "one operand too many"
run 2 "operand missing" solve; says "krylocl solve A.mtx"
run 2 "operand missing" check A.mtx b.rhs; says "krylocl check"
run 2 "standard input twice" solve - -; says "one file only"
run 2 "standard output twice" solve A.mtx -o - --json -; says "one result only"
run 2 "two results in one file" solve A.mtx -o x --json x; says "x can take one result only"
run 2 "result in place of the matrix" solve A.mtx -o A.mtx; says "A.mtx is an input file"
run 2 "picture of unknown kind" solve A.mtx --plot x.jpg; says ".svg or .png"
run 3 "output folder missing" solve A.mtx -o no/such/x.mtx; says "cannot be written"

# ------------------------------------------------------------------ generate, solve
run 2 "generate without -o" generate poisson2d:10; says "needs -o"
run 2 "generate of unknown kind" generate poison2d:10 -o A.mtx; says "poisson2d"; absent A.mtx
run 2 "generate without size" generate poisson2d -o A.mtx; absent A.mtx
run 0 "generate" generate poisson2d:20 -o A.mtx --rhs b.rhs; says "400 x 400"
run 0 "generate to standard output" generate poisson2d:20 -o -
cmp -s out A.mtx; verdict $? "  the same matrix"
run 0 "generate unsymmetric" generate convection:12 -o U.mtx -q
run 0 "generate complex" generate helmholtz:12 -o H.mtx -q
run 0 "generate Hermitian" generate magnetic:8 -o M.mtx -q

run 0 "solve" solve A.mtx b.rhs -o x.mtx --json s.json --history h.csv
says "converged"; says "device"; says "backward error"
json s.json "d['matrix']['rows']==400 and d['matrix']['cols']==400 and d['matrix']['nnz']==1920"
json s.json "d['matrix']['symmetry']=='symmetric' and d['matrix']['field']=='real'"
json s.json "d['converged'] is True and d['reason']=='converged' and d['solver']=='cg' and d['precond']=='none' and d['precision']=='d'"
json s.json "0<d['true_relative_residual']<=1e-8 and d['relative_residual']<=1e-8 and 0<d['backward_error']<1e-8"
json s.json "all(k in d for k in 'format device condition_estimate seconds_per_iteration bytes_per_iteration gbytes_per_second stream_fraction'.split())"
json s.json "all(d['seconds'][k]>=0 for k in 'read convert upload solve download total'.split())"
json s.json "'forward_error' not in d"
json s.json "[int(i) for i,_ in d['history']]==list(range(d['iterations']+1)) and d['history'][-1][1]<=1e-8"
json s.json "len(open('h.csv').read().split())==d['iterations']+2 and open('h.csv').readline()=='iteration,relative_residual\n'"
run 0 "its check" check A.mtx b.rhs x.mtx --json c.json
json c.json "d['verdict']=='passed' and d['relative_residual']<=1e-8"
run 6 "its check, too strict" check A.mtx b.rhs x.mtx --tol 1e-15; says "the check failed"
if "$prog" solve A.mtx --device opencl --format csr-scalar -q 2>err; then
  run 0 "programs, compiled or kept" solve A.mtx --device opencl --format csr-scalar --verbose; says "^programs .* compiled, .* from the cache"
else
  echo "skip programs: $(head -1 err)"
fi
run 0 "solve without b" solve A.mtx --json s.json; says "forward error"
json s.json "d['forward_error']<1e-6"
run 0 "options before the subcommand" --json s.json solve --quiet A.mtx
[ ! -s out ] && [ ! -s err ]; verdict $? "  quiet is silent"
json s.json "d['converged']"
run 0 "JSON to standard output" solve A.mtx b.rhs --json -; cp out o.json
json o.json "d['converged']"
run 0 "x to standard output" solve A.mtx b.rhs -o -; cp out x2.mtx
cmp -s x.mtx x2.mtx; verdict $? "  is the same x"
cp A.mtx ./-odd.mtx
run 0 "-- ends options" solve -q -- -odd.mtx
"$prog" solve - b.rhs -q <A.mtx >out 2>err; verdict $? "matrix from standard input"
"$prog" solve A.mtx - -q <b.rhs >out 2>err; verdict $? "right-hand side from standard input"
if command -v gzip >/dev/null 2>&1; then gzip -k A.mtx; run 0 ".gz" solve A.mtx.gz b.rhs -q; fi
sed 1,2d b.rhs >plain.txt
run 0 "plain numbers" solve A.mtx plain.txt --x0 x.mtx --json s.json
json s.json "d['iterations']==0"
run 0 "preconditioners compared" bench A.mtx --preconds jacobi,amg -s cg -d cpu --samples 2 --csv p.csv --json p.json; says "pays after"
json p.json "[r['precond'] for r in d['preconds']]==['none','jacobi','amg'] and all(r['converged'] and r['seconds_solve']>0 for r in d['preconds'])"
test "$(wc -l <p.csv)" = 4; verdict $? "  a line each"
run 0 "  with what does not suit" bench A.mtx --preconds spai -s cg -d cpu --samples 1; says "spai is not Hermitian"
run 2 "  unknown" bench A.mtx --preconds jacobbi -d cpu; says "jacobi"
{ echo "%%MatrixMarket matrix array real general"; echo "400 1"; yes 1 | head -400; } >ones.mtx
run 0 "near-null vectors" solve A.mtx b.rhs -s cg -p sa --near-null ones.mtx
run 2 "  and coordinates" solve A.mtx b.rhs -p sa --near-null ones.mtx --coordinates ones.mtx; says "one of them"
run 2 "  of one column" solve A.mtx b.rhs -p sa --coordinates ones.mtx; says "2 or 3 real columns: these are 400 by 1"
run 3 "  that are not there" solve A.mtx b.rhs -p sa --coordinates none.mtx
{ echo "%%MatrixMarket matrix array real general"; echo "400 2"; cat plain.txt plain.txt; } >b2.mtx
run 0 "two columns" solve A.mtx b2.mtx -o x2.mtx --json s.json; says "column 2"
json s.json "d['nrhs']==2 and len(d['solves'])==2 and all(s['converged'] for s in d['solves'])"
json s.json "d['nrhs_at_once']==2"
run 1 "two columns, neither solved" solve A.mtx b2.mtx --max-iter 3 --nrhs 1 -q --json t.json
json t.json "d['true_relative_residual']==max(s['true_relative_residual'] for s in d['solves'])"
run 0 "an absolute tolerance" solve A.mtx b.rhs --atol 1e10; says "converged to a residual norm of 1e+10"
{ echo "%%MatrixMarket matrix coordinate real general"; echo "1 1 2"; echo "1 1 1.7e308"; echo "1 1 1.7e308"; } >over.mtx
run 3 "entries that add up to infinity" info over.mtx; says "over.mtx: entries of one row and column"
run 0 "two columns checked" check A.mtx b2.mtx x2.mtx
run 3 "two columns, one x" check A.mtx b2.mtx x.mtx; says "x.mtx has 1 column, the right-hand side 2"
run 0 "one after the other" solve A.mtx b2.mtx --nrhs 1 --json t.json
json t.json "d['nrhs_at_once']==1 and all(s['converged'] for s in d['solves'])"
run 2 "nine columns at once" solve A.mtx b2.mtx --nrhs 9; says "1 to 8"
run 0 "candidates" explain poisson2d:40 --device cpu --json t.json; says "^  \\* cg none .*"; says "cg sa .*smooth"
json t.json "sum(c['begins'] for c in d['candidates'])==1 and all(c['why'] for c in d['candidates'])"
run 0 "explain" explain A.mtx --solver cg --format ell; says "q = A p"; says "p = r + beta p"; says "^LOOP"
if [ "${device:-cpu}" = cpu ]; then
  run 2 "the cpu has no source" explain A.mtx --source; says "add --device opencl"
else
  run 0 "explain --source" explain A.mtx --solver cg --source; says "p_i = r_i + beta \\* p_i"
fi
if "$prog" devices -q --json d.json && grep -q '"place":.*0:0' d.json; then
  KRYLOCL_DEVICE= run 0 "the source without a device named" explain A.mtx --solver cg --source; says "^// A.mtx for device [0-9]*:[0-9]*: "; says "p_i = r_i + beta \\* p_i"
  cp out source.cpu
  KRYLOCL_DEVICE= run 0 "  as for a GPU" explain A.mtx --solver cg --source --layout gpu -o source.gpu; grep -q "^// A.mtx for .*, layout gpu$" source.gpu; verdict $? "  says so"
  ! cmp -s source.cpu source.gpu; verdict $? "  is another one"
  KRYLOCL_DEVICE= run 0 "event times without a device named" solve A.mtx --profile --solver cg; says "^profile  *solve: "
else
  echo "skipped: sources: no OpenCL device"
fi
run 2 "explain without a matrix" explain
run 0 "explain --ranks" explain poisson2d:20 --solver cg --format csr-scalar --device cpu --ranks 6
says "2 sums and 1 product with"; says "^ *2 *1.0. *20 *1 "; says "^ *6 *1.*  2 "
run 2 "more ranks than rows" explain poisson2d:20 --device cpu --ranks 401; says "as many rows"
# ------------------------------------------------------------------ names in place of files
run 0 "a generated system, its own b" solve poisson2d:20 --json s.json; says "right side  from the generator"
run 0 "a generated system, ones" solve poisson2d:20 ones --x0 random -o words.x; says "right side  ones, 1 column"
run 0 "  checked" check poisson2d:20 ones words.x; says "poisson2d:20: 400 x 400"
run 0 "  the same from files" check A.mtx ones.mtx words.x
run 6 "  and other numbers are not" check poisson2d:20 random words.x --check none
run 0 "random numbers" solve helmholtz:12 random -o words.x -q
run 0 "  the same in every run" check helmholtz:12 random words.x
run 0 "a generated system to a file" convert poisson2d:20 -o words.mtx; cmp -s words.mtx A.mtx; verdict $? "  the same matrix"
run 3 "no file of this name" solve A.mtx twos; says "twos: cannot open"
run 3 "a system without its size" solve poisson2d; says "a generated system has a size: poisson2d:300"
run 3 "a system of another name" solve poison2d:30; says "did you mean poisson2d:30?"
run 2 "a file in place of a subcommand" A.mtx; says "krylocl solve A.mtx"
run 2 "a system with half a size" info poisson2d:4x; says "whole numbers"
run 3 "x of another length" check poisson2d:9 ones words.x; says "holds 144 x 1 numbers, the matrix has 81"
run 0 "bench -f" bench A.mtx -f coo,ell --iterations 2 --json s.json
json s.json "[e['format'] for e in d['rows']]==['coo','ell']"
run 0 "bench, columns" bench A.mtx --nrhs 3 --formats csr-scalar --iterations 5 --json s.json; says "us/rhs"
json s.json "d['rows'][0]['nrhs']==3 and abs(d['rows'][0]['seconds_per_rhs']*3-d['rows'][0]['seconds_per_iteration']['median'])<1e-9"
for t in s d c z; do
  run 0 "precision $t" solve A.mtx --precision $t --json s.json
  json s.json "d['precision']=='$t' and d['converged']"
done
run 2 "mixed in float" solve A.mtx --mixed --precision s; says "corrects in double"
run 2 "mixed in complex float" solve A.mtx --mixed --precision c; says "corrects in double"
run 2 "mixed least squares" solve A.mtx --mixed --solver lsqr; says "lsqr has no mixed precision"
run 0 "mixed" solve A.mtx b.rhs --mixed --format cds --json s.json --history h.csv; says "in float with"
json s.json "d['mixed'] and d['outer_iterations']>0 and 0<d['inner_iterations']<=d['iterations'] and d['mixed_end']==''"
json s.json "d['precision']=='d' and d['true_relative_residual']<=1e-8 and 'float in cds' in d['mixed_reason']"
json s.json "len(open('h.csv').read().split())==d['iterations']+2"
run 0 "mixed, complex" solve H.mtx --mixed --format ell --solver bicgstab --json s.json
json s.json "d['mixed'] and d['precision']=='z' and d['true_relative_residual']<=1e-8"
run 0 "not mixed" solve A.mtx --json s.json
json s.json "not d['mixed'] and 'outer_iterations' not in d and 'mixed_reason' not in d"
for f in csr-scalar csr-vector coo ell cds; do
  run 0 "format $f" solve A.mtx b.rhs --format $f --precond jacobi --json s.json
  json s.json "d['format']=='$f' and d['true_relative_residual']<=1e-8"
done
if [ $direct -eq 0 ]; then
  run 0 "--check" solve A.mtx b.rhs --check cholmod --json s.json; says "CHOLMOD"; says "passed"
  json s.json "d['check']['verdict']=='passed' and d['check']['reason']=='' and d['check']['relative_difference']<1e-7"
  run 0 "--check-output" solve A.mtx b.rhs --check-output y.mtx; says "passed"; says "the direct solution to y.mtx"
  run 0 "  is a solution" check A.mtx b.rhs y.mtx --tol 1e-14 --check-output y2.mtx
  cmp -s y.mtx y2.mtx; verdict $? "  the same by check"
  run 1 "--check of an x that did not converge" solve A.mtx b.rhs --max-iter 30 --check cholmod --json s.json; says "FAILED.*: x did not converge"
  json s.json "d['check']['verdict']=='failed' and d['check']['reason']=='x did not converge'"
  json s.json "d['check']['direct_corrections']>0 and 0<d['check']['direct_error']<1e-12"
  run 0 "--check direct" solve A.mtx b.rhs --check direct; says "CHOLMOD"; says "passed: x differs from the refined direct solution by .*, which is itself within .*; allowed "
  run 0 "--check umfpack" solve A.mtx b.rhs --check umfpack; says "UMFPACK"; says "passed"
  run 0 "--check-tol" solve A.mtx b.rhs --check-tol 1e-3 --json s.json; says "allowed 1.00e-03"
  json s.json "d['check']['verdict']=='passed' and d['check']['allowed_difference']==1e-3"
  run 6 "--check-tol that x misses" solve A.mtx b.rhs --check-tol 1e-12 --json s.json -o far.mtx; says "the check failed: the error of x is at least"
  json s.json "d['converged'] and d['check']['verdict']=='failed' and d['check']['relative_difference']-d['check']['direct_error']>1e-12"
  run 6 "  and by check" check A.mtx b.rhs far.mtx --check-tol 1e-12 --json c.json; says "the check failed: the error of x is at least"
  json c.json "d['verdict']=='failed' and d['check']['verdict']=='failed' and d['relative_residual']<=1e-8"
  run 0 "  which passes without" check A.mtx b.rhs far.mtx
  run 2 "--check-tol 0" solve A.mtx b.rhs --check-tol 0; says "check-tol"
  # Hilbert matrices, and residuals of 1e-8: of 9 rows, condition 1e12, x has digits, which the refined direct solution proves;
  # of 14 rows there is no direct solution in double precision.
  hilbert() { awk -v n="$1" 'BEGIN { print "%%MatrixMarket matrix coordinate real symmetric"; print n, n, n * (n + 1) / 2
    for (j = 1; j <= n; j++) for (i = j; i <= n; i++) printf "%d %d %.17g\n", i, j, 1 / (i + j - 1) }'; }
  hilbert 9 >I.mtx
  hilbert 14 >J.mtx
  run 0 "--check of an ill-conditioned system" solve I.mtx -s cg -p none --check cholmod --json s.json; says "passed"
  json s.json "d['check']['condition']>1e11 and d['check']['direct_error']<1e-3 and abs(d['check']['relative_difference']-d['forward_error'])<1e-3"
  run 7 "--check undecided" solve J.mtx -s cg -p none --check cholmod --json s.json; says "the check is undecided: the direct solution itself is not certain enough"
  json s.json "d['converged'] and d['check']['verdict']=='undecided'"
  # 1 on the diagonal and 2 above it: an error of x in one row is doubled in the row above, and residuals of 1e-6 leave no digit.
  doubling() { awk -v n="$1" 'BEGIN { print "%%MatrixMarket matrix coordinate real general"; print n, n, 2 * n - 1
    for (i = 1; i <= n; i++) { print i, i, 1; if (i < n) print i, i + 1, 2 } }'; }
  doubling 30 >N.mtx
  awk 'BEGIN { for (i = 1; i < 30; i++) print 3; print 1 }' >N.rhs
  run 6 "--check of an x without a digit" solve N.mtx N.rhs -s idr -p none --no-direct --tol 1e-6 --check cholmod --json s.json -o N.x; says "FAILED.*: x has no correct digit"
  json s.json "d['converged'] and d['check']['verdict']=='failed' and d['check']['direct_error']<1e-5 and d['check']['relative_difference']>0.1"
  run 6 "  and by check" check N.mtx N.rhs N.x --tol 1e-6; says "the check failed: x has no correct digit"
  tol=$(sed -n 's/.*"reason":.*a tolerance of \([^ ]*\) would give one.*/\1/p' s.json)
  run 0 "  which --tol $tol gives" solve N.mtx N.rhs -s idr -p none --no-direct --check cholmod --tol "$tol"; says "passed"
  run 0 "--check unsymmetric" solve U.mtx --solver bicg --check cholmod; says "UMFPACK"; says "passed"
  run 0 "--check complex" solve H.mtx --solver bicg --check cholmod; says "UMFPACK"; says "passed"
  run 0 "--check Hermitian" solve M.mtx --check cholmod; says "CHOLMOD"; says "passed"
  file S.mtx "%%MatrixMarket matrix coordinate real general" "2 2 2" "1 1 1" "1 2 0"
  if [ $spqr -eq 0 ]; then
    run 0 "--check singular" solve S.mtx --solver bicg --check cholmod; says "rank 1"; says "products A x"
    run 0 "--check spqr" solve A.mtx b.rhs --check spqr; says "SuiteSparseQR"; says "passed"
  else
    run 3 "--check singular" solve S.mtx --solver bicg --check cholmod; says "singular"
  fi
else
  run 2 "--check without SuiteSparse" solve A.mtx --check cholmod; says "SuiteSparse"
fi
# .svg is drawn by the program, whatever is installed; what cannot be drawn is a failure
whole() { grep -q '</svg>' "$1" && grep -q "$2" "$1"; verdict $? "  $1 is a whole picture"; }
file bare '#!/bin/sh' "PATH= exec '$prog' \"\$@\""
chmod +x bare
without() { # run, without the programs of PATH
  all=$prog prog=$dir/bare
  run "$@"
  prog=$all
}
without 0 "a picture of residuals" solve A.mtx --plot h.svg; whole h.svg 'class="s0"'
without 0 "a picture of a structure" info A.mtx --plot p.svg; whole p.svg 'class="cell"'
without 3 "a picture in points without gnuplot" solve A.mtx -o drawn.mtx --plot h.png; says "h.png was not drawn: gnuplot is not installed"
[ -s drawn.mtx ] && [ ! -e h.png ]; verdict $? "  x is written, the picture is not"
if command -v gnuplot >/dev/null 2>&1; then
  run 0 "a picture in points" info A.mtx --plot p.png; [ -s p.png ]; verdict $? "  is there"
fi

# ------------------------------------------------------------------ least squares
file L.mtx "%%MatrixMarket matrix coordinate real general" "3 2 5" "1 1 1" "2 1 1" "2 2 1" "3 1 1" "3 2 2"
file line.rhs 1 0 2
file exact.rhs 1 3 5
for s in cgls lsqr; do
  run 0 "$s, no solution" solve L.mtx line.rhs -s $s --json s.json; says "least-squares solution"; says "normal residual"
  json s.json "not d['converged'] and d['least_squares'] and d['normal_residual']<=1e-8 and d['true_relative_residual']>0.1"
  run 0 "$s, a solution" solve L.mtx exact.rhs -s $s --precond jacobi --json s.json
  json s.json "d['converged'] and not d['least_squares'] and d['true_relative_residual']<=1e-8"
done
run 0 "cgls on a square matrix" solve U.mtx -s cgls --json s.json --history h.csv; says "tested residual .* by the recurrence, .* recomputed: the smaller of"
json s.json "d['relative_residual'] is None and abs(d['tested_residual']/d['true_tested_residual']-1)<0.1"
json s.json "d['true_tested_residual']==min(d['true_relative_residual'],d['normal_residual'])"
json s.json "open('h.csv').readline()=='iteration,tested_residual\n'"
run 0 "bench chooses cgls" bench L.mtx --formats csr-scalar --iterations 2 --json b.json
json b.json "d['rows'][0]['solver']=='cgls'"
file half.x 0.5 0.5
file near.x 0.5 0.500001
run 0 "check of least squares" check L.mtx line.rhs half.x --check none; says "NOT within 1.0e-08$"; says "within .*: least-squares solution"
run 6 "check of nearly least squares" check L.mtx line.rhs near.x --json c.json; says "the normal residual exceed"
json c.json "d['verdict']=='failed' and 1.6e-6<d['normal_residual']<1.8e-6 and 0.5<d['relative_residual']<0.6"
run 0 "check with a tolerance" check L.mtx line.rhs near.x --tol 1e-5 --json c.json
run 6 "check of a solution that is none" check L.mtx exact.rhs half.x
if [ $direct -eq 0 ] && [ $spqr -eq 0 ]; then
  json c.json "d['check']['rank']==2 and d['check']['compared']=='x' and 1.3e-6<d['check']['relative_difference']<1.5e-6"
  json c.json "d['check']['direct_normal_residual']<1e-14 and abs(d['check']['condition']-3.09025)<0.1" # |A|_F^2 = 8, s^2 = (8 - sqrt 40)/2
  run 0 "--check of least squares" solve L.mtx line.rhs -s lsqr --check cholmod --json s.json; says "SuiteSparseQR"; says "passed: x differs"
  json s.json "d['check']['verdict']=='passed' and d['check']['reason']=='' and d['check']['relative_difference']<1e-7"
  doubling 200 >D.mtx # no method solves it, and a change of b in its last digit changes every digit of x
  run 7 "--check of a direct solution" solve D.mtx --check cholmod --json s.json; says "solved directly"; says "the direct solution itself is not certain enough"
  json s.json "d['check']['verdict']=='undecided' and d['check']['relative_difference']==0"
  file W.mtx "%%MatrixMarket matrix coordinate complex general" "2 3 3" "1 1 1 1" "1 2 0 2" "2 3 3 0"
  run 0 "--check of a wide system" solve W.mtx -s cgls --check cholmod --json s.json; says "products A x"
  json s.json "d['check']['rank']==2 and abs(d['check']['direct_norm_x']-d['check']['norm_x'])<1e-7"
elif [ $direct -eq 0 ]; then
  run 2 "--check of a rectangular system" solve L.mtx line.rhs -s lsqr --check cholmod -o x.ls; says "SuiteSparseQR"; says "|A^H r|"
  [ -s x.ls ]; verdict $? "  x is written"
fi

# ------------------------------------------------------------------ event times
"$prog" generate poisson2d:40 -o E.mtx -q
run 0 "selftest" selftest --device cpu --precision s,z --json st.json; says "^products  s  *[0-9]* right  *0 wrong"; says "^preconds  z "
json st.json "[(g['group'],g['precision'],g['wrong'],g['right']>=6) for g in d[0]['groups']]==[(g,p,0,True) for p in 'sz' for g in ('products','methods','preconds','bits')]"
run 2 "selftest of a precision that is none" selftest --precision q; says "unknown precision"
run 4 "selftest of a device that is not there" selftest --device nowhere; says "no device matches"
run 2 "event times of the cpu device" solve E.mtx --device cpu --profile; says "add --device opencl"
"$prog" list devices >places
if grep -q '^ *0:0 ' places; then
  run 0 "reproducible, natively" solve E.mtx --device cpu --reproducible --json cpu.json; says "checksum of x 0x"
  run 0 "reproducible, on a device" solve E.mtx --device 0:0 --reproducible --json device.json
  json cpu.json "len(d['x_checksum'])==18 and d['format']=='csr-scalar' and d['x_checksum']==json.load(open('device.json'))['x_checksum']"
  KRYLOCL_OPTIONS=-cl-denorms-are-zero run 4 "reproducible, where denormals are lost" solve E.mtx --device 0:0 --reproducible --precision s --solver cg --precond none
  says "reproducible sums: not on .*a denormal product is not kept"
  run 0 "event times" solve E.mtx --device 0:0 --profile -s cg -f ell --json s.json; says "^profile  *set-up: "; says "^profile  *solve: "; says "kernel stage_1_0"; says "^bytes  *to the device "
  json s.json "all(e['seconds']>0 and e['count']>0 for k in ('setup','solve') for e in d['profile'][k]['commands'])"
  json s.json "max(e['count'] for e in d['profile']['solve']['commands'] if e.get('name')=='stage_1_0')>=d['iterations']"
  json s.json "[e['bytes']>=d['bytes_stored'] for e in d['profile']['setup']['commands'] if e['kind']=='write']==[True]"
  json s.json "[e['bytes']>=1600*8 for e in d['profile']['solve']['commands'] if e['kind']=='read']==[True]"
  json s.json "all(e['largest_group']>0 for e in d['profile']['solve']['commands'] if e['kind']=='kernel')"
  json s.json "(lambda p: 0<=p['gaps']<p['seconds'] and abs(p['seconds']-p['gaps']-sum(e['seconds'] for e in p['commands']))<0.2*p['seconds']+1e-3)(d['profile']['solve'])"
  json s.json "sum(e['seconds'] for e in d['profile']['solve']['commands'])<=d['seconds']['total']*1.05"
  run 0 "event times of many launches" solve E.mtx --device 0:0 --profile -s gmres --tol 1e-12 --restart 5 -f ell --json s.json
  json s.json "sum(e['count'] for e in d['profile']['solve']['commands'])>4096 and all(e['seconds']>0 for e in d['profile']['solve']['commands'])" # beyond those that are kept
  run 0 "no event times" solve E.mtx --device 0:0 -s cg -f ell --json s.json; json s.json "'profile' not in d"
else
  echo "skipped: event times: no OpenCL device"
fi

# ------------------------------------------------------------------ other ends
run 1 "iteration limit" solve A.mtx b.rhs --max-iter 2 -o part.mtx --json s.json; says "NOT CONVERGED"
json s.json "not d['converged'] and 'limit' in d['reason'] and d['iterations']==2"
[ -s part.mtx ]; verdict $? "  x is written all the same"
run 1 "quiet tells the reason" solve A.mtx --max-iter 2 -q; says "not converged"
run 6 "check of a poor x" check A.mtx b.rhs part.mtx --check none
file N.mtx "%%MatrixMarket matrix coordinate real symmetric" "3 3 3" "1 1 -1" "2 2 -1" "3 3 -2"
run 1 "negative definite" solve N.mtx -s cg; says "positive definite"
run 1 "a tolerance of zero" solve poisson2d:30 --tol 0 --max-iter 100; says "no convergence was predicted, "
run 0 "negative definite by auto" solve N.mtx; says "minres"
run 2 "cg on an unsymmetric matrix" solve U.mtx -s cg; says "auto, bicg"
run 0 "cg is told to assume" solve A.mtx -s cg --symmetry assume; run 2 "no such rule" solve A.mtx --symmetry none; says "rounding"
file B.mtx "%%MatrixMarket matrix coordinate real general" "3 3 4" "1 1 3e12" "1 2 1e12" "2 2 2" "3 3 1"
run 0 "rows that differ" solve B.mtx --json s.json --history h.csv; says "scale       rows by 2^-41 to 2^0, columns by 2^0 to 2^0"; says "of the scaled system"
json s.json "d['scaled'] and d['scale_rows']==[-41,0] and d['scale_columns']==[0,0] and d['relative_residual'] is None"
json s.json "d['true_tested_residual']<=1e-8 and open('h.csv').readline()=='iteration,tested_residual\n'"
run 0 "as given" solve B.mtx --scale none --json s.json; ! grep -q "^scale" out; verdict $? "  says nothing of a scale"
json s.json "not d['scaled'] and d['scale_reason']=='' and 'scale_rows' not in d and d['relative_residual']<=1e-8"
run 2 "no such rule of scaling" solve B.mtx --scale always; says "auto none"
run 0 "lsqr stays as it is" solve B.mtx -s lsqr; says "scale       none"
run 0 "info tells the ratio" info B.mtx --json s.json; json s.json "d['row_ratio']==3e12"
file S.mtx "%%MatrixMarket matrix coordinate real general" "2 2 1" "1 1 1"
file s.rhs 1 1
file nan.x 1 nan
run 1 "auto, singular, no solution" solve S.mtx s.rhs -o s.x --json s.json; says "least-squares solution"
json s.json "not d['converged'] and d['least_squares'] and abs(d['true_relative_residual']-0.5**0.5)<1e-7"
says "warning     row 2 of A is zero$"; says "column 2 of A is zero, and x is 0 there"; says "x is not unique"; says "^wrote       x to s.x$"
json s.json "d['zero_rows']==1 and d['first_zero_row']==2 and d['zero_columns']==1 and d['first_zero_column']==2 and d['not_unique']"
run 3 "x in a folder that is not there" solve S.mtx s.rhs -o nowhere/s.x; ! grep -q "^wrote" out; verdict $? "  says nothing of a file"
run 0 "info of a singular matrix" info S.mtx --json s.json; says "row 2 of A is zero: the matrix is singular"
json s.json "d['zero_rows']==1 and d['first_zero_column']==2"
run 3 "check of an x that is not a number" check S.mtx s.rhs nan.x --check none
file Z.mtx "%%MatrixMarket matrix coordinate real general" "2 2 0"
run 1 "auto, a matrix of zeros" solve Z.mtx s.rhs --json s.json; says "least-squares solution"
run 0 "bicg" solve U.mtx --solver bicg
run 0 "gmres with a short cycle" solve U.mtx --solver gmres --restart 5
run 2 "gmres with too long a cycle" solve U.mtx --solver gmres --restart 1001; says "1 to 1,000"
run 0 "bench gmres" bench U.mtx --solver gmres --restart 3 --formats csr-scalar --iterations 2
run 2 "complex as real" solve H.mtx --solver bicg --precision d; says "complex"
run 4 "unknown device" solve A.mtx --device no-such-device; says "cpu"
KRYLOCL_DEVICE=no-such-device; run 4 "unknown device in the environment" solve A.mtx; KRYLOCL_DEVICE=$device
run 0 "devices" devices --json d.json; says "stream"
json d.json "all('properties' not in x for x in d)"
run 0 "devices with all properties" devices --verbose --json d.json
json d.json "all(x['properties']['max_work_group_size']>0 and x['properties']['min_data_type_align_size']>0 and 'inf_nan' in x['properties']['single_fp_config'] and x['properties']['global_mem_size']==x['memory_bytes'] and x['properties']['max_work_item_dimensions']==len(x['properties']['max_work_item_sizes'].split()) and len(x['properties'])>40 for x in d if x['place']!='cpu')"
[ "$(grep -c '  max_work_item_sizes ' out)" -eq "$("$prog" list devices | grep -c '^ *[0-9]*:[0-9]')" ]; verdict $? "  and as lines"
mkdir -p vendors
export OCL_ICD_VENDORS="$dir/vendors"
run 0 "devices without a driver" devices
if ! grep -q "^0:0" out; then says "vendors is empty: no driver is registered"; says "docs/troubleshooting.md"; fi
echo libnone.so.7 >vendors/none.icd
run 0 "devices with a driver that is not there" devices --verbose; says "libnone.so.7 cannot be loaded"
unset OCL_ICD_VENDORS
json d.json "any(e['place']=='cpu' and e['stream_bytes_per_second']>0 for e in d)"
json d.json "all(e['vendor'] and e['opencl_c_version'].startswith('OpenCL C') and e['max_work_group']>0 and e['local_memory_bytes']>=16384 and 'cl_khr_' in e['extensions'] and e['images'] in (True,False) for e in d if e['place']!='cpu')"

# ------------------------------------------------------------------ spmv
run 0 "spmv" spmv A.mtx --check --json p.json -o y.mtx; says "check       passed"; says "wrote       y to y.mtx"
json p.json "d['check']['verdict']=='passed' and 0<=d['check']['ratio']<=1 and d['seconds_per_product']['samples']==7 and d['columns']==1 and d['x']=='ones' and d['bytes_per_product']>0 and set(d['seconds'])=={'device','read','check','statistics','convert','upload','compile','apply','write'}"
run 0 "spmv, the numbers" spmv poisson2d:3 ones -o - -q; tail -9 out | tr '\n' ' ' | grep -q '^2 1 2 1 0 1 2 1 2 $'; verdict $? "  sums of rows"
printf '%%%%MatrixMarket matrix coordinate real general\n2 3 4\n1 1 1\n1 2 2\n2 2 3\n2 3 4\n' >W.mtx
printf '%%%%MatrixMarket matrix array real general\n2 2\n1\n10\n0\n-1\n' >w.mtx
run 0 "spmv, adjoint, two columns" spmv W.mtx w.mtx --adjoint --check -o - -q; tail -6 out | tr '\n' ' ' | grep -q '^1 32 40 0 -3 -4 $'; verdict $? "  A^H x"
run 3 "spmv, x of another length" spmv W.mtx w.mtx; says "holds 2 x 2 numbers, the matrix has 3 columns"
printf '%%%%MatrixMarket matrix array real general\n2 2\n1\n10\n100\n1000\n' >v.mtx
run 0 "spmv, alpha and beta" spmv W.mtx random ones --alpha 0 --beta 3 --check -o - -q; tail -2 out | tr '\n' ' ' | grep -q '^3 3 $'; verdict $? "  beta y"
printf '%%%%MatrixMarket matrix array real general\n3 2\n1\n0\n0\n0\n1\n1\n' >w3.mtx
run 0 "spmv, y from a file" spmv W.mtx w3.mtx v.mtx --alpha 2 --beta -1 --check -o - --json p.json; says "y = 2 A x -1 y"; says "check       passed"
json p.json "d['alpha']==2 and d['beta']==-1 and d['y']=='v.mtx' and d['check']['ratio']<=1"
run 0 "spmv, the numbers of alpha and beta" spmv W.mtx w3.mtx v.mtx --alpha 2 --beta -1 -o - -q; tail -4 out | tr '\n' ' ' | grep -q '^1 -10 -96 -986 $'; verdict $? "  alpha A x + beta y"
run 3 "spmv, y of another length" spmv W.mtx w3.mtx w3.mtx; says "the matrix has 2 rows"
run 3 "spmv, y of other columns" spmv W.mtx ones v.mtx; says "v.mtx has 2 columns, x has 1"
run 2 "spmv, beta without y" spmv W.mtx ones --beta 2; says "third operand"
for precision in s d c z; do
  run 0 "spmv, alpha and beta in $precision" spmv convection:20 random random --alpha 0.1 --beta -0.7 --check --precision $precision --format ell
  run 0 "spmv, precision $precision" spmv convection:20 random --check --precision $precision --format ell --adjoint --json p.json
  json p.json "d['precision']=='$precision' and d['format']=='ell' and d['adjoint'] and 0<d['check']['ratio']<=1"
done
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 1e30\n' >H.mtx
printf '1\n1e20\n' >h.rhs
run 0 "spmv, large numbers" spmv H.mtx h.rhs --check -q
run 6 "spmv, beyond the range of float" spmv H.mtx h.rhs --check --precision s --json p.json; says "FAILED"; says "row 2 of column 1"
json p.json "d['check']['verdict']=='failed' and d['check']['row']==2 and d['check']['ratio'] is None"
run 2 "spmv, an infinity in y.mtx" spmv H.mtx h.rhs --precision s -o y.mtx; says "not finite"; says "GB/s"
run 0 "spmv --compare" spmv A.mtx random -o other.mtx -q
run 0 "spmv --compare, another format" spmv A.mtx random --format ell --compare other.mtx --json p.json; says "compare     passed"; says "0 of .* elements beyond"
json p.json "d['compare']['verdict']=='passed' and 0<=d['compare']['ratio']<=1 and d['compare']['file']=='other.mtx' and d['compare']['beyond']==0 and 'check' not in d"
run 0 "spmv --compare, single precision" spmv A.mtx random --precision s --compare other.mtx; says "compare     passed"
run 0 "spmv, two columns to compare" spmv W.mtx w.mtx --adjoint -o other.mtx -q
awk 'NR > 1 && !/^%/ && ++n == 6 { $1 += 1e-3 } { print }' other.mtx >off.mtx # the second number of the second column
run 6 "spmv --compare, one element off" spmv W.mtx w.mtx --adjoint --check --compare off.mtx --json p.json; says "check       passed"; says "compare     FAILED"; says "1 elements by more"; says "row 2 of column 2"; says "1.000e-03 in row 2, column 2; 1 of 6 elements"
json p.json "d['compare']['verdict']=='failed' and d['compare']['row']==2 and d['compare']['column']==2 and d['compare']['largest_row']==2 and d['compare']['largest_column']==2 and abs(d['compare']['largest']-1e-3)<1e-12 and d['compare']['beyond']==1 and d['compare']['bound']>0"
run 3 "spmv --compare, another length" spmv W.mtx ones --compare off.mtx; says "off.mtx holds 3 x 2 numbers"
run 3 "spmv --compare, no such file" spmv A.mtx --compare nosuch.mtx; says "nosuch.mtx: cannot open"
run 2 "spmv --compare, the input as output" spmv W.mtx w.mtx --adjoint --compare other.mtx -o other.mtx; says "is an input file"
file T.mtx '%%MatrixMarket matrix coordinate real general' '3 3 5' '1 1 1' '1 3 2' '2 2 3' '3 1 4' '3 3 5'
run 0 "info --arrays" info T.mtx --arrays --format ell,csr-scalar --json t.json; says "^row_ptr     int64 .4.$"; says "^         0  0 2 3 5$"
says "^format      ell: width = 2, stride = 32$"; says "^        32  2 0 5  29 x 0$"; grep -q "^format      coo" out; [ $? -ne 0 ]; verdict $? "  no other format"
json t.json "[s['format'] for s in d['storage']]==['csr-scalar','ell'] and d['storage'][1]['integers']=={'width':2,'stride':32} and d['storage'][0]['arrays'][2]=={'name':'val','type':'double','count':5,'values':[1,2,3,4,5]}"
run 0 "info --arrays, all formats, floats" info T.mtx --arrays --precision s; says "^val         float .5.$"; says "^format      csr-sym refused: "; says "^format      bcsr: b = "
run 0 "info --arrays, complex" info T.mtx --arrays --precision c -f coo; says "^val         complex float .5.$"; says " 1+0i 2+0i 3+0i"
run 0 "info --arrays --plot" info T.mtx --arrays -f ell-rows --plot t.svg; grep -q ">ell-rows: " t.svg && [ "$(grep -c 'class="f[012]"' t.svg)" = 15 ] && [ "$(grep -c 'class="none"' t.svg)" = 2 ]; verdict $? "  15 cells of rows, 2 of padding"
run 2 "info --arrays of a larger matrix" info poisson2d:3 --arrays; says "at most 8 rows and columns, and poisson2d:3 is 9 x 9"
run 2 "info --arrays of two matrices" info T.mtx T.mtx --arrays; says "one matrix"
run 2 "info --formats without --arrays" info T.mtx --formats ell; says "with --arrays"
run 2 "info --arrays --plot, which format" info T.mtx --arrays --plot t.svg; says "of one format"
run 2 "info --arrays --plot, points" info T.mtx --arrays -f ell --plot t.png; says "drawn as .svg"
run 2 "info --arrays --csv" info T.mtx --arrays --csv t.csv; says "no CSV"
run 9 "info --arrays --plot, refused" info T.mtx --arrays -f csr-sym --plot never.svg; says "format csr-sym refused"; absent never.svg
run 2 "spmv --check takes no method" spmv A.mtx --check=host; says "takes no value"
run 2 "spmv, measured formats" spmv A.mtx --format measure; says "kcl_operator_time"
run 3 "spmv, no such x" spmv A.mtx twos; says "twos: cannot open"
run 9 "spmv, a refused format" spmv powerlaw:30000 --format dense; says "refused"
if "$prog" solve A.mtx --device opencl --format csr-scalar -q 2>err; then
  run 0 "spmv as on a GPU" spmv convection:20 random random --alpha 3 --check --device opencl --format csr-lanes --layout gpu; says "spmv_csr_lanes"; says "check       passed"
  KRYLOCL_OPTIONS=-Dget_group_id=no_such_function run 6 "selftest where no kernel compiles" selftest --device opencl --json st.json; says "wrong       products d: csr-scalar on poisson2d:20: the driver of"
  json st.json "[g['right'] for g in d[0]['groups']]==[0,0,0,0] and all(g['faults'][0]['reason'] for g in d[0]['groups'])"
  run 0 "spmv on a device" spmv convection:20 random --check --device opencl --format csr-vector; says "check       passed"
fi

# ------------------------------------------------------------------ bench, info
awk 'BEGIN { n = 3000; print "%%MatrixMarket matrix coordinate real symmetric"; print n, n, 2 * n - 1
  for (i = 1; i <= n; i++) print i, i, n + 1; for (i = 2; i <= n; i++) print i, 1, -1 }' >R.mtx
run 0 "bench" bench A.mtx --json b.json --csv b.csv --iterations 5; says "* fastest"
json b.json "len(d['rows'])>=5 and any(e['status']=='ok' for e in d['rows']) and all(e['validated'] for e in d['rows'] if e['status']=='ok')"
json b.json "all(k in d['rows'][0] for k in 'matrix format kernel solver precision device status seconds_per_iteration seconds_per_product bytes_stored bytes_per_iteration gbytes_per_second stream_fraction mnnz_per_second gflops validated'.split())"
json b.json "all(e['seconds_per_iteration']['min']<=e['seconds_per_iteration']['median']<=e['seconds_per_iteration']['max'] for e in d['rows'] if e['status']=='ok')"
json b.json "len(open('b.csv').readlines())==len(d['rows'])+len(d['references'])+1 and all(len(e['seconds_per_iteration']['samples'])>1 for e in d['rows'] if e['status']=='ok')"
"$prog" generate poisson2d:150 -o P.mtx -q
run 0 "bench, a long sample" bench P.mtx --device cpu --formats csr-scalar --iterations 10000 --samples 1 --time-limit 0.2 --json b.json; says " 1 sample "
json b.json "[len(d['rows'][0]['seconds_per_'+k]['samples']) for k in ('iteration','product')]==[1,1]"
json b.json "all(0<d['rows'][0]['seconds_per_'+k]['iterations_per_sample']<10000 for k in ('iteration','product'))" # as many as fit
run 0 "bench, mixed" bench A.mtx --mixed --formats cds,ell --iterations 5 --json b.json; says "times the iterations"
json b.json "[('in_mixed' in e) for e in d['rows']].count(True)==1"
json b.json "all(e[k]['converged'] and e[k]['seconds_solve']>0 for e in d['rows'] if 'in_mixed' in e for k in ('in_double','in_mixed'))"
json b.json "all(e['in_double']['outer_iterations']==0<e['in_mixed']['outer_iterations'] for e in d['rows'] if 'in_mixed' in e)"
run 2 "bench, mixed in float" bench A.mtx --mixed --precision s; says "corrects in double"
run 2 "bench, mixed least squares" bench A.mtx --mixed --solver cgls --formats cds --iterations 2; says "cgls has no mixed"
run 0 "bench chooses bicg" bench U.mtx --formats csr-scalar --iterations 2 --json b.json
json b.json "d['rows'][0]['solver']=='idr' and len(d['rows'])==1"
run 9 "a refused format alone" bench R.mtx --formats ell --iterations 2 --json b.json; says "refused"
json b.json "d['rows'][0]['status'].startswith('refused: ')"
run 0 "refused beside others" bench R.mtx --formats ell,csr-scalar --iterations 2
run 9 "solve in a refused format" solve R.mtx --format ell
run 0 "info" info R.mtx --json i.json; says "refused"
json i.json "d['hermitian'] and d['positive_diagonal'] and d['row_length']['max']==3000 and d['row_length']['deviation_percent']>0"
json i.json "len(d['formats'])>=5 and any('refused' in f for f in d['formats'])"

run 2 "info of several, one complex as real" info R.mtx M.mtx U.mtx --precision d; says "M.mtx is complex: --precision c or z"; says "^U.mtx "
run 0 "info of several" info R.mtx poisson2d:30 U.mtx --json i.json --csv i.csv; says "^poisson2d:30  *900  *900  *4,380 "
json i.json "[m['matrix']['rows'] for m in d]==[3000,900,d[2]['matrix']['rows']] and all(len(m['formats'])>5 for m in d)"
json i.json "(lambda t: len(t)==4 and all(len(l)==len(t[0]) for l in t) and t[2][:2]==['poisson2d:30','real'] and int(t[2][t[0].index('nnz')])==4380)([l.rstrip().split(',') for l in open('i.csv')])"
json i.json "(lambda t: t[1][t[0].index('bytes_ell')]=='' and float(t[2][t[0].index('bytes_ell')])==float([f['bytes_stored'] for f in d[1]['formats'] if f['format']=='ell'][0]))([l.rstrip().split(',') for l in open('i.csv')])"
run 3 "info, one is not there" info nothing.mtx R.mtx --csv i.csv; says "nothing.mtx"; says "^R.mtx "
run 3 "info of a file that is not there" info nothing.mtx --json never.json; absent never.json
run 2 "two pictures in one file" info R.mtx U.mtx --plot a.svg; says "one matrix"

# ------------------------------------------------------------------ bad input: exit 3, nothing written
bad() { n=$1; shift; run 3 "$n" solve "$@" -o never.mtx --json never.json; absent never.mtx; absent never.json; }
h="%%MatrixMarket matrix coordinate real"
file e.mtx "%MatrixMarket matrix coordinate real general" "1 1 1" "1 1 1"; bad "wrong banner" e.mtx; says "e.mtx:1"
file e.mtx "$h general" "2 2 3" "1 1 1" "2 2 1"; bad "too few entries" e.mtx
file e.mtx "$h general" "2 2 1" "1 1 1" "2 2 1"; bad "too many entries" e.mtx
file e.mtx "$h general" "2 2 2" "1 1 1" "3 2 1"; bad "index beyond the size" e.mtx; says "e.mtx:4"
file e.mtx "$h general" "2 2 2" "1 1 1" "0 2 1"; bad "index 0" e.mtx; says "e.mtx:4"
file e.mtx "$h general" "2 2 2" "1 1 one" "2 2 1"; bad "not a number" e.mtx; says "e.mtx:3"
file e.mtx "$h general" "2 2 2" "1 1" "2 2 1"; bad "missing field" e.mtx
file e.mtx "$h general" "2 2 2" "1 1 nan" "2 2 1"; bad "nan" e.mtx
file e.mtx "$h general" "2 2 2" "1 1 inf" "2 2 1"; bad "inf" e.mtx
file e.mtx "$h symmetric" "2 2 2" "1 1 1" "1 2 1"; bad "above the diagonal" e.mtx
file e.mtx "$h general" "99999999999999999999 2 2" "1 1 1" "2 2 1"; bad "size that overflows" e.mtx
file e.mtx "$h general" "2 3 2" "1 1 1" "2 3 1"; bad "rectangular" e.mtx -s cg; says "square"; says "cgls, lsqr"
run 3 "bench of a rectangular one by cg" bench e.mtx --solver cg --formats csr-scalar; says "cgls, lsqr"
: >e.mtx; bad "empty file" e.mtx
printf '\3757zXZ\0\0\0' >e.mtx; bad "packed by xz" e.mtx; says "e.mtx: is packed by xz: unpack it (xz -dk)"
printf 'BZh91AY&SY' >e.mtx; bad "packed by bzip2" e.mtx; says "bzip2 -dk"
printf '(\265/\375$-?k' >e.mtx; bad "packed by zstd" e.mtx; says "zstd -dk"
printf 'PK\3\4\24\0' >e.npz; bad "a zip archive" e.npz; says "e.npz: is a zip archive"
printf '\211HDF\r\n' >e.h5; bad "an HDF5 file" e.h5; says "mmwrite"
printf '\223NUMPY\1\0' >e.npy; bad "a NumPy array" A.mtx e.npy; says "e.npy: is a NumPy array"
printf '1,1,2.0\n2,2,3.0\n' >e.csv; bad "a table" e.csv; says "e.csv:1:1: found \"1,1,2.0\", expected"
mkdir -p folder; bad "directory" folder
bad "missing file" missing.mtx; says "missing.mtx"
if [ -f A.mtx.gz ]; then head -c 900 A.mtx.gz >t.mtx.gz; bad "truncated gz" t.mtx.gz; fi
file short.rhs 1 2 3
run 3 "b too short" solve A.mtx short.rhs -o never.mtx; absent never.mtx
run 3 "b missing" solve A.mtx missing.rhs; [ ! -s out ]; verdict $? "  before a device is opened"
run 0 "a generated system in place of a file" solve poisson2d:9; says "poisson2d:9: 81 x 81"
run 3 "no generated system" solve poisson2e:9; says "cannot open"

# ------------------------------------------------------------------ a cache that others can write
# The entry is another system, as somebody else might have put there: the file is solved.
"$prog" generate poisson2d:3 -q -o other.kcl
(umask 022; KRYLOCL_CACHE=$dir/cache "$prog" info A.mtx --cache -q)
cat other.kcl >"$(echo cache/matrices/*.kcl)"
KRYLOCL_CACHE=$dir/cache run 0 "the matrix of the cache" info A.mtx --cache; says ": 9 x 9"
chmod 777 cache/matrices
KRYLOCL_CACHE=$dir/cache run 0 "a cache that others can write" info A.mtx --cache; says "the cache is not used: other users can write"
grep -q ': 9 x 9' out; [ $? -ne 0 ]; verdict $? "  is not used"
chmod 700 cache/matrices; chmod 777 cache
KRYLOCL_CACHE=$dir/cache run 3 "nothing is fetched into it" get HB/never; says "no cache folder: the cache is not used"

# ------------------------------------------------------------------ no home folder
# An ordinary user without a folder that he can write: containers, services.
homeless() { # SETTING ARGUMENTS: krylocl as such a user
  env -u POCL_CACHE_DIR -u XDG_CACHE_HOME -u TMPDIR "$as" -s /bin/sh nobody -c "$1; TMPDIR=$dir/open exec $dir/open/krylocl $2" >out 2>err
}
as=$(command -v su)
if [ "$(id -u)" -ne 0 ] || [ -z "$as" ] || ! id nobody >/dev/null 2>&1; then
  echo "skip no home folder: only root can become another user"
elif ! "$prog" list devices | grep -q '0:0'; then
  echo "skip no home folder: no OpenCL device"
else
  chmod 711 "$dir"; mkdir -m 1777 open; cp "$prog" open/krylocl; chmod 755 open/krylocl
  for home in "HOME=/nonexistent" "unset HOME" "HOME=$dir"; do
    homeless "$home" "list devices"; grep -q '0:0' out; verdict $? "with $home the OpenCL device is found"
  done
  [ "$(stat -c %a:%U "open/krylocl-$(id -u nobody)")" = 700:nobody ]; verdict $? "  its cache is the user's alone"
  rm -rf "open/krylocl-$(id -u nobody)"; mkdir -m 777 "open/krylocl-$(id -u nobody)"
  if "$prog" devices | grep -q '^[0-9]*:[0-9]* *gpu '; then
    echo "skip PoCL without a cache: a GPU solves it"
  else
    homeless "HOME=/nonexistent" "solve poisson2d:3 -d opencl -q"; says "a cache that it can write, .* HOME, which is /nonexistent"
  fi
  [ -z "$(ls -A "open/krylocl-$(id -u nobody)")" ]; verdict $? "a folder of another user is not used"
fi

# ------------------------------------------------------------------ control characters
# Names and texts of files never reach the terminal as they are; the sequences here would change its title and its last line.
plain() { grep -q "$(printf '[\033\007\302\233]')" out err; [ $? -ne 0 ]; verdict $? "  without a control character"; }
escape=$(printf 'e\033]0;x\007.mtx') csi=$(printf 'c\302\2332K\233.mtx')
cp A.mtx "$escape"; cp A.mtx "$csi"
run 0 "a name that is a control sequence" info "$escape"; says 'e\\x1b]0;x\\x07.mtx'; plain
run 0 "a name with others" info "$csi"; says 'c\\xc2'; plain
run 3 "a missing file of such a name" info "no$escape"; says 'noe\\x1b]0;x\\x07.mtx'; plain
run 0 "such a name in CSV" info "$escape" --csv -; plain
run 2 "such a method" solve A.mtx -s "$escape"; plain
file wild.mtx "%%MatrixMarket matrix coordinate real general" "1 1 1" "1 1 $escape"
run 3 "a file that holds one" info wild.mtx; plain
file kind.mtx "%%MatrixMarket matrix coordinate $escape general" "1 1 1" "1 1 1"
run 3 "a heading that holds one" info kind.mtx; plain
# A spreadsheet computes what begins with these.
for name in =1+1.mtx +a.mtx @a.mtx; do
  cp A.mtx "$name"
  run 0 "$name in CSV" info "$name" --csv -; grep -q "^'$name," out; verdict $? "  is text"
done

# ------------------------------------------------------------------ a reader that stops
{ sleep 0.3; "$prog" list 2>err; echo $? >status; } | true
[ "$(cat status)" = 0 ] && [ ! -s err ]; verdict $? "list | head is no error"

# ------------------------------------------------------------------ signals
# gmres of one step a cycle would go on for minutes on any machine
"$prog" generate poisson2d:700 -o big.mtx -q
begin() { # COMMAND...: the solve, in the background, until it iterates
  rm -f late.mtx late.json out lines
  "$@" "$prog" solve big.mtx --solver gmres --restart 1 --max-iter 1000000000 --tol 1e-14 --verbose -o late.mtx --json late.json >out 2>lines &
  pid=$!
  while ! grep -qs iterations lines && kill -0 $pid 2>/dev/null; do sleep 0.1; done
}
for signal in INT:130 TERM:143 HUP:129; do
  begin env
  grep -q '^matrix' out; verdict $? "the report is in its file while the solve goes on"
  kill -"${signal%:*}" $pid 2>/dev/null
  if [ "$signal" != INT:130 ]; then kill -"${signal%:*}" $pid 2>/dev/null; fi # a second one changes nothing
  wait $pid; got=$?
  [ $got -eq "${signal#*:}" ]; verdict $? "ended by ${signal%:*} (exit ${signal#*:}, got $got)"
  [ -s late.mtx ] && [ -s late.json ] && grep -q interrupted out; verdict $? "  x, JSON and report are written"
done
# A factorisation of about a second; x is written before it.
if "$prog" solve poisson2d:20 --check cholmod -q 2>err; then
  rm -f late.mtx late.json
  "$prog" solve poisson3d:45 --check cholmod -o late.mtx --json late.json >out 2>lines &
  pid=$!
  while ! [ -s late.mtx ] && kill -0 $pid 2>/dev/null; do sleep 0.02; done
  kill -INT $pid 2>/dev/null; wait $pid; got=$?
  [ $got -eq 130 ] && grep -q '^check  *interrupted' out; verdict $? "interrupted during the check (exit 130, got $got)"
  json late.json "d['converged'] and d['check']=={'verdict':'interrupted'}"
fi
begin nohup
kill -HUP $pid 2>/dev/null; sleep 0.5; kill -0 $pid 2>/dev/null; verdict $? "under nohup a hangup changes nothing"
kill -TERM $pid 2>/dev/null; wait $pid; got=$?
[ $got -eq 143 ]; verdict $? "  and SIGTERM ends it (exit 143, got $got)"
# Libraries may take SIGHUP before main begins, as those of UCX and LLVM do.
cat >taker.c <<'TAKER'
#include <signal.h>
static void take(int signal) { (void)signal; }
__attribute__((constructor)) static void begin(void) { signal(SIGHUP, take); }
TAKER
if [ -z "$SAN" ] && [ "$(uname)" = Linux ] && ${CC:-cc} -shared -fPIC -o taker.so taker.c 2>/dev/null; then
  begin nohup env LD_PRELOAD="$PWD/taker.so"
  kill -HUP $pid 2>/dev/null; sleep 0.5; kill -0 $pid 2>/dev/null; verdict $? "  nor where a library has a handler of its own"
  kill -TERM $pid 2>/dev/null; wait $pid
fi

# ------------------------------------------------------------------ a matrix that changes in memory
# The format uses the mapped file itself. Its second half are values, of which one changes while the solve is stopped, after its first checkpoint.
if [ -r /proc/self/maps ]; then
  "$prog" generate poisson2d:300 -q -o flipped.kcl
  "$prog" solve flipped.kcl ones -d cpu -s cg -p none -f csr-scalar --no-direct --tol 1e-12 --checkpoint f.kck --every 0.01s -o f.mtx >out 2>err &
  pid=$!
  until [ -s f.kck ] || ! kill -0 $pid 2>/dev/null; do sleep 0.01; done
  kill -STOP $pid
  flip flipped.kcl $(($(wc -c <flipped.kcl) - 4000))
  kill -CONT $pid
  wait $pid; got=$?
  [ $got -eq 10 ]; verdict $? "a value of A changes during the solve (exit 10, got $got)"
  says "the values of A are not those that were set up"; absent f.mtx
else
  echo "skip a matrix that changes: no list of mappings"
fi

# ------------------------------------------------------------------ words and numbers
run 0 "help of solve" solve --help; says "on several ranks:"
! grep -q "onseveral" out; verdict $? "  words are apart"
run 0 "times of milliseconds" spmv poisson2d:700 --format auto
! cat out err | grep -qE "[0-9]e[+][0-9]+ (us|ms|s|MB|GB)"; verdict $? "  have a unit that fits"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
