#!/usr/bin/env python3
"""Processor time per iteration with and without --guard, natively on one thread: least of several runs by turns.

    python3 bench/guard.py [runs] [krylocl] [krylocl ...]

Time is that of the process for 4 + n iterations less that for 4, so that set-up and certificates do not count. A further program, such as an
older one, adds columns."""
import os
import subprocess
import sys

SYSTEMS = [
    ("poisson3d:64", "cg", "jacobi", "sell", 200),
    ("poisson3d:64", "cg", "jacobi", "csr-scalar", 200),
    ("poisson3d:64", "bicgstab", "jacobi", "csr-scalar", 120),
    ("poisson3d:64", "cg", "amg", "csr-scalar", 14),
    ("convection:300", "idr", "jacobi", "csr-scalar", 400),
    ("convection:300", "idr", "ilu", "csr-scalar", 200),
    ("convection:300", "gmres", "none", "csr-scalar", 300),
    ("poisson3d:64", "cg", "jacobi", "pattern", 200),
    ("poisson3d:64", "cg", "jacobi", "pair", 200),
]
BEFORE = 4


def seconds(program, system, iterations, guard):
    A, solver, precond, form, _ = system
    command = [program, "solve", A, "-d", "cpu", "--threads", "1", "--solver", solver, "--precond", precond, "--format", form,
               "--tol", "1e-300", "--max-iter", str(iterations)] + (["--guard"] if guard else [])
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(child.pid, 0)
    return usage.ru_utime + usage.ru_stime


def measure(programs, system, runs):
    """{(program, guard): microseconds per iteration}"""
    cases = [(p, g) for p in programs for g in (False, True)]
    least = {c: [1e9, 1e9] for c in cases}
    for _ in range(runs):
        for c in cases:
            for k, n in enumerate((BEFORE, BEFORE + system[4])):
                least[c][k] = min(least[c][k], seconds(c[0], system, n, c[1]))
    return {c: 1e6 * (least[c][1] - least[c][0]) / system[4] for c in cases}


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    programs = sys.argv[2:] or ["build/krylocl"]
    print("system, solve: us per iteration without, with --guard, ratio" + "; the same of each further program" * (len(programs) > 1))
    for system in SYSTEMS:
        us = measure(programs, system, runs)
        text = "; ".join(f"{us[p, False]:8.0f} {us[p, True]:8.0f} {us[p, True] / us[p, False]:.2f}" for p in programs)
        print(f"{system[0]:14} {system[1]} {system[2]} {system[3]}: {text}", flush=True)


main()
