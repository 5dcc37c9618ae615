#!/usr/bin/env bash
# Set-up and solve to 1e-8 (b = A 1) of krylocl's multigrid and of the peers that were built, on two processors,
# alternating; medians of the rounds, seconds, residuals recomputed by each program from b - A x.
# usage: multigrid.sh A.mtx...  (plain files, symmetric positive definite; make -C bench/peers first)
# Environment: KRYLOCL (build/krylocl), PEERS_BUILD (build/peers), ROUNDS (3), CPUS (0,1), LIMIT (120 seconds per run),
# PRECONDS (amg amg-aggressive sa), FORMATS (auto), PEERS (all).
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
krylocl=${KRYLOCL:-$root/build/krylocl}
programs=${PEERS_BUILD:-$root/build/peers}
limit=${LIMIT:-120}
two="taskset -c ${CPUS:-0,1} timeout $limit"
raw=$(mktemp)
trap 'rm -f "$raw"' EXIT
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=2
[ $# -gt 0 ] || { sed -n '2,7s/^# //p' "$0" >&2; exit 2; }

ours() { # matrix, preconditioner, format
  $two "$krylocl" solve "$1" --device cpu --threads 2 --solver cg --precond "$2" --format "$3" -q --json - |
    python3 -c 'import json, sys
d = json.load(sys.stdin)
s = d["seconds"]
print(json.dumps({"matrix": sys.argv[1].split("/")[-1], "program": "krylocl " + sys.argv[2] + ", " + sys.argv[3],
  "setup": s["precondition"] + s.get("convert", 0), "solve": s["solve"], "iterations": d["iterations"],
  "residual": d["relative_residual"]}))' "$1" "$2" "$3"
}

peer() { # matrix, peer
  case $2 in
  hypre) $two mpirun --allow-run-as-root --bind-to none -n 2 "$programs/hypre" "$1" amg ;;
  petsc) $two mpirun --allow-run-as-root --bind-to none -n 2 "$programs/petsc" "$1" amg ;;
  amgcl-sa) OMP_NUM_THREADS=2 $two "$programs/amgcl" "$1" sa ;;
  amgcl-rs) OMP_NUM_THREADS=2 $two "$programs/amgcl" "$1" rs ;;
  cholmod) $two "$programs/cholmod" "$1" ;;
  esac
}

for ((round = 0; round < ${ROUNDS:-3}; round++)); do
  for matrix; do
    for p in ${PRECONDS:-amg amg-aggressive sa}; do
      for f in ${FORMATS:-auto}; do ours "$matrix" "$p" "$f"; done
    done
    for p in ${PEERS:-hypre petsc amgcl-sa amgcl-rs cholmod}; do
      [ ! -x "$programs/${p%%-*}" ] || peer "$matrix" "$p" || echo "$matrix, $p: failed" >&2
    done
  done
done >"$raw"
python3 - "$raw" <<'END'
import json, sys
from statistics import median
runs = {}
for line in open(sys.argv[1]):
    if line.startswith("{"):
        d = json.loads(line)
        runs.setdefault(d["matrix"], {}).setdefault(d["program"], []).append(d)
for matrix, programs in runs.items():
    print(matrix)
    for name, all in programs.items():
        s, t = median(d["setup"] for d in all), median(d["solve"] for d in all)
        total = median(d["setup"] + d["solve"] for d in all)
        print(f"  {name:<32}{s:8.3f} + {t:6.3f} = {total:6.3f} s{all[0]['iterations']:5d} its  "
              f"residual {max(d['residual'] for d in all):.1e}, {len(all)} runs")
END
