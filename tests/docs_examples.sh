#!/bin/sh
# The examples of the pages below, run on each device. The worked examples of docs/add-method.md,
# docs/add-preconditioner.md and docs/add-command.md: their code is taken from the pages, compiled, linked in front of the
# library, and runs. Blocks marked "```c PATH" are files; those of a list are added to it.
# The row of docs/add-method.md is compared with what tests/test_methods.c counts.
# usage: [BUILD=build] tests/docs_examples.sh build/krylocl
root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
build=$(cd "${BUILD:-$root/build}" && pwd) || exit 1
cd "$root" && . tests/program.inc
export KRYLOCL_DEVICE=

mkdir -p solver/methods solver/precond cli docs
cp "$root"/solver/methods/list.def solver/methods && cp "$root"/solver/precond/list.def solver/precond
cp "$root"/cli/list.def cli && cp "$root"/docs/methods.md docs
for page in add-method add-preconditioner add-command; do # the blocks to their files
  awk '/^```c / { file = $2; next } /^```/ { file = ""; next } file != "" { print >>file }' "$root/docs/$page.md"
done

cmp -s solver/precond/block_jacobi.c "$root"/solver/precond/block_jacobi.c
verdict $? "docs/add-preconditioner.md has solver/precond/block_jacobi.c as it is"

# As the build compiled its objects: $build/flags is the compiler with all options, then the libraries.
flags=$(tr ' ' '\n' <"$build/flags" | grep -v '^-[lL]' | tr '\n' ' ')
libraries=$(tr ' ' '\n' <"$build/flags" | grep '^-[lL]' | tr '\n' ' ')
: >out
here=$PWD
compile() { # SOURCE...: from this folder, else from the tree, which reads the lists of this folder; compiled: their objects
  compiled=
  for source; do
    object=$(echo "${source%.c}" | tr / _).o
    compiled="$compiled $here/$object"
    [ ! -f "$source" ] || source=$here/$source
    (cd "$root" && $flags -Werror -iquote "$here" -c "$source" -o "$here/$object") >out 2>err
    verdict $? "compiles: $(basename "$source")"
  done
}
compile solver/methods/*.c solver/precond/*.c $(cd "$root" && grep -l '/list.def"' solver/*/*.c solver/*.c)
objects=$compiled
compile cli/transpose.c cli/commands.c
program=$compiled
for o in "$build"/cli/*.o "$build"/cli/*/*.o; do
  f=${o#"$build"/}
  [ ! -f "$root/${f%.o}.c" ] || [ "$f" = cli/commands.o ] || program="$program $o"
done
library=$build/libkrylocl_mpi.a # as the program was linked
[ -f "$library" ] || library=$build/libkrylocl.a
(cd "$root" && $flags -o "$here/krylocl" $objects $program "$build"/commit.o "$library" -lcjson $libraries) >out 2>err
verdict $? "links: krylocl"
(cd "$root" && $flags -o "$here/counted" $objects "$build"/tests/test_methods.o "$library" $libraries) >out 2>err
verdict $? "links: test_methods"
prog=$here/krylocl

"$here"/counted --write >out 2>err
verdict $? "costs of the example are counted"
grep '^| `cr`' "$root"/docs/add-method.md >said
grep '^| `cr`' docs/methods.md >counted_row
cmp -s said counted_row
verdict $? "docs/add-method.md has the row as counted: $(cat counted_row)"

run 0 "systems" generate poisson2d:30 -q -o real.mtx
run 0 "systems" generate magnetic:20 -q -o complex.mtx
for device in cpu opencl; do
  [ $device = cpu ] || "$prog" devices 2>/dev/null | grep -q '^0:0' || { echo "skipped: no OpenCL device"; continue; }
  for system in real complex; do
    for both in cr:none cr:jacobi cr:block-jacobi cg:block-jacobi; do
      solver=${both%:*} precond=${both#*:}
      run 0 "$solver, $precond, $system, $device" solve $system.mtx --solver $solver --precond $precond \
        --device $device --json $solver.json -q
      json $solver.json 'd["converged"] and d["true_relative_residual"] <= 1e-8'
    done
  done
done
run 0 "transpose" generate convection:10 -q -o general.mtx
run 0 "transpose" transpose general.mtx -q -o once.mtx
run 0 "transpose, twice" transpose once.mtx -q -o twice.mtx
! cmp -s general.mtx once.mtx && cmp -s general.mtx twice.mtx
verdict $? "the transpose differs, and its transpose is the matrix"
run 2 "transpose without an output" transpose general.mtx
run 2 "block-jacobi, least squares" solve real.mtx --solver cgls --precond block-jacobi -q

mkdir -p examples
opencl= # of programs that call OpenCL themselves
for library in -lOpenCL '-framework OpenCL'; do
  [ -n "$opencl" ] || ! echo 'int main(void) { return 0; }' | ${CC:-cc} -x c - -o probe $library 2>/dev/null || opencl=$library
done
awk '/^```c / { file = "examples/" $2; next } /^```/ { file = ""; next } file != "" { print >>file }' \
  "$root"/docs/operator.md "$root"/docs/vectors.md "$root"/docs/matrices.md "$root"/docs/options.md "$root"/docs/own_preconditioner.md "$root"/docs/matrix_free.md
for example in power springs choices sharing laplace buffers heat stencil; do
  own=
  case $example in buffers | heat | stencil) # they call OpenCL
    case $flags in *KCL_NO_OPENCL*) echo "skipped: docs, $example: a build without OpenCL"; continue ;; esac
    own=$opencl
    [ -n "$own" ] || { echo "skipped: docs, $example: no OpenCL to link with"; continue; } ;;
  esac
  (cd "$root" && $flags -Werror -o "$here/examples/$example" "$here/examples/$example.c" "$build"/libkrylocl.a $own $libraries) >out 2>err
  verdict $? "docs, $example compiles: $(head -3 err)"
done
for device in cpu opencl; do
  [ $device = cpu ] || "$prog" devices 2>/dev/null | grep -q '^0:0' || { echo "skipped: no OpenCL device"; continue; }
  for example in power springs choices sharing laplace; do
    KRYLOCL_DEVICE=$device examples/$example >out 2>err
    verdict $? "docs, $example on $device: $(cat out err)"
  done
  for example in buffers heat stencil; do
    [ $device = cpu ] || [ ! -x examples/$example ] || { examples/$example >out 2>err; verdict $? "docs, $example: $(cat out err)"; }
  done
done
if [ -z "$SAN" ] && command -v mpicc >/dev/null 2>&1 && command -v mpirun >/dev/null 2>&1 && [ -f "$build"/libkrylocl_mpi.so.0 ]; then
  mpicc -std=c11 -I"$root"/include -Wall -Werror -o examples/laplace_ranks examples/laplace_ranks.c "$build"/libkrylocl_mpi.so.0 -Wl,-rpath,"$build" >out 2>err
  verdict $? "docs, laplace_ranks compiles: $(head -3 err)"
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe \
    mpirun -n 3 examples/laplace_ranks >out 2>err
  verdict $? "docs, laplace_ranks on 3 ranks: $(cat out err)"
else
  echo "skipped: docs, laplace_ranks: no MPI"
fi
KRYLOCL_DEVICE=cpu KRYLOCL_SOLVE='solver=minres tol=1e-4' examples/choices precond=jacobi >out 2>err
verdict $? "docs, choices: $(cat err)"
[ "$(cat out)" = "minres, jacobi, 0.0001" ]; verdict $? "docs, choices above the variable above the program: $(cat out)"
! KRYLOCL_SOLVE=sover=cg examples/choices >out 2>err && grep -q '^KRYLOCL_SOLVE:1:1: .*did you mean solver?' err &&
  grep -q '^  restart .*1 to 1000' err
verdict $? "docs, choices with a fault: $(head -1 err)"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
