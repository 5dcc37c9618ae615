#!/bin/sh
# Ratios of an update and a set-up, bench/update.c, for each preconditioner and size: the table of docs/lab. Natively, with one thread.
# usage: bench/update.sh [BUILD]   POINTS="300 1000" ROUNDS=21 PRECONDS="none jacobi auto ic sa amg" KEEP=2
set -eu
cd "$(dirname "$0")/.."
build=${1:-build} folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export KRYLOCL_CACHE= OMP_NUM_THREADS="${THREADS:-1}"
# shellcheck disable=SC2046 # lists of words
${CC:-cc} -std=c11 -O2 -Iinclude bench/update.c -o "$folder/update" "$build/libkrylocl.a" $(tr ' ' '\n' <"$build/flags" | grep '^-[lL]') -lm -pthread

echo '| rows | options | took | set-up, ms | update, ms | ratio | page faults of the set-up | of the update |'
echo '| --- | --- | --- | --- | --- | --- | --- | --- |'
for points in ${POINTS:-300 1000}; do
  for precond in ${PRECONDS:-none jacobi auto ic sa amg}; do
    solver=cg
    [ "$precond" != auto ] || solver=auto
    "$folder/update" "$points" "${ROUNDS:-21}" "solver=$solver precond=$precond max-iter=5 no-direct=yes" "${KEEP:-2}"
  done
done
