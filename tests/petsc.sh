#!/bin/sh
# The plug-in of PETSc, loaded into programs that know nothing of it: tests/petsc/steps.c, PETSc's own tutorials ex2 and ex5 where they are
# installed, a script of petsc4py; on one to three ranks, on both executors, real and complex. Without the plug-in it is skipped.
# usage: tests/petsc.sh build/krylocl
# shellcheck disable=SC2086 # numbers of ranks
. "$(dirname "$0")/mpi.inc"
skipped=0
skip() {
  skipped=$((skipped + 1))
  echo "skipped: $*"
}
here=$PWD/$(dirname "$0")/petsc
# 1 percent above rtol: rounding of the residual that the program computes, some 1e-14 of |b|.
bound=1.01e-8

compile() { # SOURCE PROGRAM: for the PETSc in $petsc
  # shellcheck disable=SC2046 # words
  ${SAN:+env OMPI_CC="$CC"} mpicc -O1 ${SAN:+-fsanitize=$SAN} "$1" -o "$2" $(PKG_CONFIG_PATH=$petsc/lib/pkgconfig pkg-config --cflags --libs PETSc) -lm >"$tmp/log" 2>&1
}
run() { # N COMMAND...: with the plug-in
  n=$1
  shift
  ranks "$n" "$@" -dll_append "$plugin" >"$tmp/out" 2>&1
  status=$?
}
solved() { # WHAT STEPS: every step converged, and the residual is what was asked for
  awk -v steps="$2" -v bound=$bound '/^step/ { n++; bad += !($4 > 0 && $8 <= bound) } END { exit !(n == steps && !bad) }' "$tmp/out" && [ $status -eq 0 ]
  check "$1: status $status, $(head -c 600 "$tmp/out")" $?
}
steps() { # N STEPS OPTION...
  n=$1 count=$2
  shift 2
  run "$n" "$tmp/steps" -steps "$count" "$@"
  solved "$scalar, $n ranks: $*" "$count"
}
whole() { n=$1 count=$2; shift 2; steps "$n" "$count" -ksp_type krylocl -ksp_krylocl_device "$device" "$@"; }
part() { # of a method of PETSc
  n=$1 count=$2 method=$3
  shift 3
  steps "$n" "$count" -ksp_type "$method" -ksp_norm_type unpreconditioned -pc_type krylocl -pc_krylocl_device "$device" "$@"
}
iterations() { sed -n 's/^step 0 .*iterations \([0-9]*\).*/\1/p' "$tmp/out"; }
says() { # TEXT N OPTION...: whatever the status
  text=$1 n=$2
  shift 2
  run "$n" "$tmp/steps" "$@"
  grep -qa -e "$text" "$tmp/out"
  check "$scalar, $n ranks: $*: no '$text' in: $(head -c 600 "$tmp/out")" $?
}
refuses() {
  says "$@"
  [ $status -ne 0 ]
  check "$scalar: $*: status 0" $?
}

test_whole_solves() {
  whole 1 4 -new_pattern
  whole 1 4 -new_pattern -in_place -ksp_krylocl_precond $levels
  whole 1 3 -new_values -ksp_krylocl_options "solver=bicgstab precond=ilu" -ksp_krylocl_copy
  for keep in nothing choices hierarchy precond; do whole 1 3 -new_values -in_place -ksp_krylocl_precond $levels -ksp_krylocl_keep $keep; done
  for precond in ic $levels; do whole 1 4 -new_values -in_place -reuse -ksp_krylocl_precond "$precond"; done
  whole 1 4 -new_pattern -reuse -ksp_krylocl_precond ic
  whole 1 2 -guess
  [ "$(sed -n 's/^step 1 .*iterations \([0-9]*\).*/\1/p' "$tmp/out")" = 0 ]
  check "$scalar: the guess of the second step is its solution" $?
  for mat in baij sbaij nest dense; do whole 1 2 -mat $mat -new_values; done
  whole 1 1 -singular -ksp_krylocl_certify residuals
}
# The incomplete Cholesky of PETSc and of krylocl are the same M.
test_preconditioners() {
  whole 1 3 -new_values -pc_type icc -ksp_krylocl_solver cg
  theirs=$(iterations)
  whole 1 3 -new_values -pc_type krylocl -pc_krylocl_device "$device" -pc_krylocl_precond ic -ksp_krylocl_solver cg
  ours=$(iterations)
  [ "$theirs" -gt 20 ] && [ "$theirs" -lt 50 ] && [ "$ours" -ge $((theirs - 1)) ] && [ "$ours" -le $((theirs + 1)) ]
  check "$scalar: iterations with icc of PETSc $theirs, with ic $ours" $?
  part 1 4 cg -pc_krylocl_precond $levels -new_pattern
  [ "$(iterations)" -lt 30 ]
  check "$scalar: $(iterations) iterations with $levels" $?
  part 1 4 cg -pc_krylocl_precond ic -new_values -reuse -in_place
  part 1 2 bicg -pc_krylocl_precond ilu
  part 1 4 fgmres -pc_krylocl_solve "solver=cg tol=1e-2" -new_pattern
  [ "$(iterations)" -lt 10 ]
  check "$scalar: $(iterations) iterations with an inner solve" $?
  whole 1 2 -shell -shell_alone
  whole 1 3 -shell -unknown -new_values -pc_type jacobi
  whole 1 3 -shell -new_values -pc_type krylocl -pc_krylocl_precond $levels -pc_krylocl_device "$device"
}
test_reports() {
  says 'method cg' 1 -ksp_type krylocl -ksp_krylocl_solver cg -ksp_krylocl_device cpu -ksp_view
  says 'inner solve' 1 -ksp_type fgmres -pc_type krylocl -pc_krylocl_solve solver=cg -pc_krylocl_device cpu -ksp_view
  says 'ksp_krylocl_chebyshev_degree' 1 -ksp_type krylocl -help
  run 1 "$tmp/steps" -ksp_type krylocl -ksp_krylocl_device cpu -ksp_monitor
  [ "$(grep -c 'KSP Residual norm' "$tmp/out")" = $(($(iterations) + 1)) ]
  check "$scalar: monitors see every iteration" $?
  says 'step 0 reason -3 iterations 3 ' 1 -ksp_type krylocl -ksp_krylocl_device cpu -ksp_max_it 3
  says 'step 0 reason 3 ' 1 -ksp_type krylocl -ksp_krylocl_device cpu -ksp_rtol 0 -ksp_atol 1e-3
  says 'step 0 reason -9 ' 1 -ksp_type krylocl -ksp_krylocl_device cpu -not_finite
}
test_refusals() {
  refuses "did you mean gmres" 1 -ksp_type krylocl -ksp_krylocl_solver gmress
  refuses "options:1:11: unknown option" 1 -ksp_type krylocl -ksp_krylocl_options "solver=cg preconditioner=amg"
  refuses "no device matches" 1 -ksp_type krylocl -ksp_krylocl_device nowhere
  refuses "no solve with the transpose" 1 -ksp_type krylocl -ksp_krylocl_device cpu -transpose
  refuses "a preconditioner needs entries" 1 -ksp_type cg -pc_type krylocl -shell -shell_alone
  refuses "needs a flexible method" 1 -ksp_type krylocl -pc_type krylocl -pc_krylocl_device cpu -pc_krylocl_solve solver=cg
  refuses "x of the last one alone" 1 -ksp_type krylocl -ksp_krylocl_device cpu -ksp_monitor_true_residual
  refuses "sub_pc_type krylocl" 2 -ksp_type cg -pc_type krylocl
  refuses "takes no PC of PETSc" 2 -ksp_type krylocl -pc_type jacobi
  refuses "type shell has none" 2 -ksp_type krylocl -ksp_krylocl_device cpu -shell
}
test_ranks() {
  for n in 2 3; do
    whole $n 3 -new_pattern
    part $n 2 fgmres -pc_krylocl_solve "solver=cg tol=1e-2"
  done
  whole 2 2 -mat baij -new_values -ksp_krylocl_precond ic
  steps 2 3 -ksp_type cg -ksp_norm_type unpreconditioned -new_values -pc_type bjacobi -sub_pc_type krylocl -sub_pc_krylocl_precond ic -sub_pc_krylocl_device cpu
}
tutorials() {
  sources=$petsc/share/petsc/examples/src/ksp/ksp/tutorials
  [ -f "$sources/ex2.c" ] || { skip "no tutorials of PETSc (libpetsc3.18-dev-examples)"; return; }
  for n in 1 3; do
    for program in ex2 ex5; do
      compile "$sources/$program.c" "$tmp/tutorial"
      run $n "$tmp/tutorial" -m 30 -n 30 -ksp_type krylocl -ksp_krylocl_device cpu -ksp_rtol 1e-8 -ksp_converged_reason
      solves=1
      [ $program = ex2 ] || solves=2
      [ $status -eq 0 ] && [ "$(grep -ac 'converged due to CONVERGED_RTOL' "$tmp/out")" = $solves ]
      check "$scalar, $n ranks: $program: status $status, $(tail -3 "$tmp/out")" $?
    done
  done
}

# They multiply by the matrix that they were made for. amg is real.
device=cpu levels=amg
for scalar in real complex; do
  plugin=$BUILD/libpetsckrylocl.so
  [ $scalar = real ] || plugin=$BUILD/libpetsckrylocl_complex.so levels=chebyshev
  petsc=${PETSC_DIR:-/usr/lib/petscdir/petsc-$scalar}
  [ -f "$plugin" ] || { skip "no plug-in of $scalar PETSc (libpetsc-$scalar-dev, make petsc)"; continue; }
  compile "$here/steps.c" "$tmp/steps" || { skip "$scalar: mpicc cannot compile with PETSc: $(head -1 "$tmp/log")"; continue; }
  test_whole_solves
  test_preconditioners
  test_ranks
  [ $scalar = real ] || continue
  test_reports
  test_refusals
  tutorials
  if [ "$opencl" ]; then
    device=opencl
    whole 1 3 -new_pattern -ksp_krylocl_precond jacobi
    whole 1 2 -shell -new_values -pc_type jacobi
    part 1 2 cg -pc_krylocl_precond chebyshev -new_values
    whole 2 2 -new_values
    device=cpu
  else
    skip "no OpenCL device"
  fi
  python=
  for p in python3 /usr/bin/python3; do [ "$python" ] || [ "$SAN" ] || ! $p -c 'import petsc4py' 2>/dev/null || python=$p; done
  if [ "$python" ]; then
    run 1 "$python" "$here/solve.py" -ksp_type krylocl -ksp_krylocl_device cpu
    solved "petsc4py, a whole solve" 2
    run 2 "$python" "$here/solve.py" -ksp_type krylocl -ksp_krylocl_device cpu
    solved "petsc4py, a whole solve on 2 ranks" 2
    run 1 "$python" "$here/solve.py" -ksp_type cg -ksp_norm_type unpreconditioned -pc_type krylocl -pc_krylocl_precond ic -pc_krylocl_device cpu
    solved "petsc4py, a preconditioner" 2
  else
    skip "no petsc4py (python3-petsc4py), or sanitizers"
  fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
