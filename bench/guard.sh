#!/bin/sh
# Checks of indices under --guard: processor time of a pass without and with them, bench/guard.c, natively with one thread.
# usage: bench/guard.sh [BUILD]   PASSES=200; SYSTEMS: lines "system method preconditioner format" in place of those below
set -eu
cd "$(dirname "$0")/.."
build=${1:-build} folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export KRYLOCL_CACHE=
# shellcheck disable=SC2046 # lists of words
${CC:-cc} -std=c11 -O2 -D_GNU_SOURCE -I. -Iinclude bench/guard.c -o "$folder/guard" "$build/libkrylocl.a" $(tr ' ' '\n' <"$build/flags" | grep '^-[lL]') -lm -pthread

echo '| system | solve | us per pass | with --guard | ratio |'
echo '| --- | --- | --- | --- | --- |'
echo "${SYSTEMS:-poisson3d:64 cg jacobi csr-scalar
poisson3d:64 cg jacobi csr-vector
poisson3d:64 cg jacobi csr-split
poisson3d:64 cg jacobi sell
poisson3d:64 cg jacobi ell
poisson3d:64 cg jacobi pattern
poisson3d:64 cg jacobi pair
poisson3d:64 cg ic csr-scalar
poisson3d:64 cg amg csr-scalar
poisson3d:64 cg amg sell
poisson3d:64 bicgstab jacobi csr-scalar
convection:300 bicgstab ilut csr-scalar
convection:300 bicgstab amg csr-scalar
convection:300 idr jacobi csr-scalar
convection:300 idr ilut csr-scalar
convection:300 idr amg csr-scalar
convection:300 gmres jacobi csr-scalar
convection:300 gmres ilut csr-scalar
convection:300 gmres amg csr-scalar}" | while read -r A method precond format; do
  "$folder/guard" "${PASSES:-200}" "$A" "$method" "$precond" "$format"
done
