#!/bin/sh
# Who depends on whom, read from the symbols of the compiled library and program: every module uses only the modules that its
# line allows, neither modules nor source files need each other, and the program sees the public headers alone. For `make lint`.
# usage: modules.sh BUILD
build=${1:?the build folder}
failed=0 scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

# module: what it may use
cat >"$scratch/allowed" <<'MODULES'
core/base:
core/matrix: core/base
core/program: core/base core/matrix
core/cpu: core/base core/matrix core/program
core/opencl/device: core/base core/matrix kernels
core/opencl/codegen: core/base core/matrix core/program core/opencl/device kernels
core/opencl/run: core/base core/matrix core/program core/opencl/device core/opencl/codegen
core/opencl/persistent: core/base core/matrix core/program core/opencl/device core/opencl/codegen core/opencl/run
core/opencl/series: core/base core/program core/opencl/device core/opencl/codegen core/opencl/run
core/opencl: core/base core/program core/opencl/device core/opencl/codegen core/opencl/run core/opencl/persistent core/opencl/series
core/device: core/base core/matrix core/program core/cpu core/opencl
core/tuning: core/base core/matrix core/program core/device
spmv: core/base core/matrix
sparse: core/base core/matrix
solver/contract: core/base core/matrix core/program spmv
multigrid/opencl: core/base core/matrix core/opencl/device sparse kernels
multigrid: core/base core/matrix core/program sparse multigrid/opencl solver/contract
factors: core/base core/matrix core/program spmv sparse solver/contract
data/files: core/base core/matrix
data/generators: core/base core/matrix
data/collection: core/base data/files
solver/methods: core/base core/matrix core/program
solver/precond: core/base core/matrix core/program sparse multigrid factors solver/contract solver/methods
solver/direct: core/base core/matrix
solver/engine: core/base core/matrix core/program core/device spmv solver/contract solver/methods solver/precond
solver/loop: core/base core/program solver/engine
solver/auto: core/base core/tuning core/device spmv multigrid solver/contract solver/methods solver/precond solver/engine solver/loop
solver/checkpoint: core/base
solver/guard: core/base core/matrix core/program core/device solver/methods solver/engine solver/loop
solver/mixed: core/base core/program core/device solver/engine solver/loop solver/auto
solver: core/base core/matrix core/program core/device spmv data/generators solver/contract solver/methods solver/precond solver/direct solver/engine solver/loop solver/auto solver/mixed solver/guard solver/checkpoint
solver/interface: core/base core/matrix core/device core/tuning data/files solver solver/checkpoint
distributed: core/base core/matrix core/program core/tuning spmv solver solver/contract solver/methods solver/precond solver/engine solver/loop solver/auto core/device
distributed/files: core/base core/matrix data/files data/generators distributed
cli/ui:
cli/draw: cli/ui
cli/input: cli/ui
cli/ranks: cli/ui cli/input
cli/problem: cli/ui cli/input cli/ranks
cli/solve: cli/ui cli/input cli/problem cli/ranks
cli/spmv: cli/ui cli/input
cli/selftest: cli/ui
cli/tune: cli/ui cli/input cli/problem
cli/bench: cli/ui cli/draw cli/input cli/problem cli/ranks cli/solve
cli/report: cli/ui cli/draw cli/bench
cli: cli/ui cli/draw cli/input cli/ranks cli/problem cli/solve cli/spmv cli/selftest cli/tune cli/bench cli/report
MODULES

# object: symbols it defines (D) and needs (U), under the name of its source file
find "$build" -name '*.o' | grep -E "^$build/(cli|core|data|distributed|factors|kernels|multigrid|solver|sparse|spmv)" | while read -r o; do
  file=$(echo "${o#"$build"/}" | sed 's/\.[sdcz]\.o$//; s/\.o$//')
  [ -f "$file.c" ] || [ "$file" = kernels ] || continue # left over from a file that is gone
  nm -g "$o" | awk -v f="$file" '$(NF - 1) == "U" { print "U", f, $NF; next } { print "D", f, $NF }'
done | sort -u >"$scratch/symbols"
awk '$1 == "D" { home[$3] = $2; next } { need[NR] = $2 " " $3 }
  END { for (i in need) { split(need[i], n, " "); if (home[n[2]] && home[n[2]] != n[1]) print n[1], home[n[2]], n[2] } }' \
  "$scratch/symbols" | sort -u >"$scratch/uses"

awk 'function module(f) { if (f == "kernels") return f; sub(/\/[^\/]*$/, "", f); return f }
  FNR == NR { r = $1; sub(/:$/, "", r); for (i = 2; i <= NF; i++) may[r, $i] = 1; known[r] = 1; next }
  { a = module($1); b = module($2)
    if (a ~ /^cli/ && b !~ /^cli/) next # the public headers, which are checked below
    if (!known[a]) { print "no line for the module " a; bad = 1 }
    else if (a != b && !may[a, b]) { print $1 " uses " $3 " of " $2 ": " a " may not use " b; bad = 1 } }
  END { exit bad }' "$scratch/allowed" "$scratch/uses" || failed=1

awk '{ sub(/:$/, "", $1); for (i = 2; i <= NF; i++) print $1, $i }' "$scratch/allowed" | tsort >/dev/null 2>"$scratch/cycles" || {
  failed=1
  echo "modules that may need each other:"
  sed 's/^tsort: //' "$scratch/cycles"
}
cut -d' ' -f1,2 "$scratch/uses" | sort -u | tsort >"$scratch/order" 2>"$scratch/cycles" || {
  failed=1
  echo "source files that need each other:"
  sed 's/^tsort: //' "$scratch/cycles"
}
if grep -nE '#include "(core|data|distributed|factors|multigrid|solver|sparse|spmv)/' $(find cli -name '*.[ch]'); then
  failed=1
  echo "cli/ includes more than the public headers"
fi
exit $failed
