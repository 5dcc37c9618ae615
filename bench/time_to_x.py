#!/usr/bin/env python3
"""Time to x: the default of `krylocl solve` beside named methods with preconditioners and a direct solution.

Every figure is that of a whole process. "First": the memory of auto is empty (a cache folder with the rates of the device
alone). "Again": the next solve with the memory that the first has left. Each named way begins with an empty memory, too.
The ratios are of user + system CPU seconds, so that other programs disturb them little: run it with one thread, its default.
On a GPU take --clock wall, and --warm-kernels: all ways are run before any is timed, and their compiled programs are there.
`krylocl check` recomputes the residual of every x of the default; an answer that is not solved to the tolerance has no time.

    bench/time_to_x.py --some 6                    # a short run: systems evenly from the list
    KRYLOCL_MATRICES=DIR bench/time_to_x.py --csv out.csv
"""
import argparse
import csv
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time

SYMMETRIC = ["cg none", "cg jacobi", "cg ic", "cg amg", "cg sa", "minres jacobi"]
UNSYMMETRIC = ["idr none", "idr jacobi", "idr ilu", "idr ilut", "idr amg", "gmres ilu"]

# Generated systems, then names of matrix files; NAME_b is the right-hand side of a file, where there is one.
SYSTEMS = [(name, SYMMETRIC) for name in
           "poisson2d:300 poisson2d:1000 poisson3d:50 hpcg:40 heatsink:80 jump2d:300 jump3d:60 aniso2d:300 aniso3d:30 "
           "elasticity:20x10x10 wathen:100 spd:10000x4 powerlaw:20000 trefethen-minor:20000 "
           "1138_bus nos7 bcsstk13 bcsstk16 bcsstk18 Dubcova1 t2dah_e G2_circuit parabolic_fem".split()]
SYSTEMS += [(name, UNSYMMETRIC) for name in
            "convection:100 convection:300 convection:30x30x30 cage:10 "
            "steam1 west0479 e05r0000 sherman5 circuit_2 cavity10 memplus wang4 GT01R cage12".split()]

# Systems of a size for a GPU: --large.
LARGE = [(name, SYMMETRIC) for name in
         "poisson2d:1500 poisson3d:100 hpcg:128 jump2d:1000 jump3d:80 aniso2d:1000 heatsink:160 elasticity:40x40x40 "
         "G2_circuit parabolic_fem".split()]
LARGE += [(name, UNSYMMETRIC) for name in "convection:1000 convection:80x80x80 memplus GT01R cage12".split()]

SOLVES = ("first", "again", "third")  # of the default, one after another with one memory
CLOCKS = {"cpu": 0, "wall": 1}  # of a pair of seconds
FAILED = (math.inf, math.inf)


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--krylocl", default="build/krylocl", help="the program (build/krylocl)")
    p.add_argument("--matrices", default=os.environ.get("KRYLOCL_MATRICES"), help="folder of NAME.mtx.gz ($KRYLOCL_MATRICES)")
    p.add_argument("--names", nargs="+", help="these systems of the list alone")
    p.add_argument("--some", type=int, help="so many systems, evenly from the list")
    p.add_argument("--large", action="store_true", help="the list of a size for a GPU")
    p.add_argument("--device", default="cpu")
    p.add_argument("--threads", default="1")
    p.add_argument("--clock", choices=["cpu", "wall"], default="cpu", help="seconds that are compared (cpu)")
    p.add_argument("--warm-kernels", action="store_true", help="run all ways once before any is timed")
    p.add_argument("--time-limit", type=float, default=30, help="wall seconds of a process (30)")
    p.add_argument("--default-only", action="store_true", help="leave the named ways out")
    p.add_argument("--csv", help="write all figures to this file")
    return p.parse_args()


class Runner:
    """Runs the program, each time with the cache folder that the caller names."""

    def __init__(self, args, folder):
        self.args, self.folder, self.clock = args, folder, CLOCKS[args.clock]
        self.rates = os.path.join(folder, "rates")
        self.x = os.path.join(folder, "x.mtx")
        code, _ = self.run(["solve", "poisson2d:100", *self.place()], self.rates)
        if code != 0:
            sys.exit(f"{args.krylocl} does not solve poisson2d:100 on device {args.device}")
        shutil.rmtree(os.path.join(self.rates, "tune"), ignore_errors=True)

    def place(self):
        return ["-d", self.args.device, "-t", self.args.threads]

    def run(self, words, cache):
        """(exit code, (CPU seconds, wall seconds)); exit code None: over the time limit."""
        env = dict(os.environ, KRYLOCL_CACHE=cache, OPENBLAS_NUM_THREADS=self.args.threads)
        begin = time.monotonic()
        p = subprocess.Popen([self.args.krylocl, *words], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while True:
            pid, status, usage = os.wait4(p.pid, os.WNOHANG)
            seconds = time.monotonic() - begin
            if pid:
                p.returncode = os.waitstatus_to_exitcode(status)
                return p.returncode, (usage.ru_utime + usage.ru_stime, seconds)
            if seconds > self.args.time_limit:
                p.kill()
                os.wait4(p.pid, 0)
                p.returncode = -9
                return None, FAILED
            time.sleep(0.002)

    def fresh(self):
        """A cache folder with the rates of the device alone, and with the compiled programs."""
        cache = tempfile.mkdtemp(dir=self.folder)
        shutil.copytree(self.rates, cache, dirs_exist_ok=True)
        return cache

    def warm(self, system, names):
        """Leaves the programs that one solve compiles, not its memory, to the next ones."""
        if not self.args.warm_kernels:
            return
        cache = self.fresh()
        for _ in SOLVES if names == "auto" else [names]:
            self.solve(system, names, cache)
        programs = os.path.join(cache, "programs")
        if os.path.isdir(programs):
            shutil.copytree(programs, os.path.join(self.rates, "programs"), dirs_exist_ok=True)
        shutil.rmtree(cache)

    def solve(self, system, names, cache):
        """CPU and wall seconds of one solve; FAILED unless its x is a solution."""
        words = ["solve", *system, *self.place(), "-o", self.x]
        for option, name in zip(("-s", "-p"), names.split()):
            words += [option, name]
        if os.path.exists(self.x):
            os.remove(self.x)
        code, seconds = self.run(words, cache)
        if code != 0 or self.run(["check", *system, self.x, "--check", "none"], self.rates)[0] != 0:
            return FAILED
        return seconds


def operands(name, folder):
    """A and b for the program, or None: there is no such file."""
    if ":" in name:
        return [name, "random"]
    a, b = (os.path.join(folder or "", name + end) for end in (".mtx.gz", "_b.mtx.gz"))
    if not folder or not os.path.exists(a):
        return None
    return [a, b if os.path.exists(b) else "random"]


def measure(run, name, ways, system):
    """One row: seconds of the default, first and again, and of every named way."""
    row = {"system": name, "named": {}}
    for way in ["auto"] if run.args.default_only else [*ways, "direct", "auto"]:
        run.warm(system, way)
    cache = run.fresh()
    row["first"] = run.solve(system, "auto", cache)
    row["again"] = run.solve(system, "auto", cache)
    row["third"] = run.solve(system, "auto", cache)
    for way in [] if run.args.default_only else [*ways, "direct"]:
        row["named"][way] = run.solve(system, way, run.fresh())
    row["best"] = min(row["named"], key=lambda w: row["named"][w][run.clock], default="")
    return row


def ratio(row, which, clock):
    """Default / best of all. The default may be the best itself."""
    best = min([row["named"][row["best"]][clock] if row["best"] else math.inf, *(row[w][clock] for w in SOLVES)])
    return row[which][clock] / best if best < math.inf else math.inf


def show(seconds, clock):
    return f"{seconds[clock]:8.3f}" if seconds[clock] < math.inf else "       -"


def print_row(row, clock):
    named = show(row["named"].get(row["best"], FAILED), clock)
    print(f"{row['system']:24}" + "".join(show(row[w], clock) for w in SOLVES) + f"{named}  {row['best']:14}" +
          "".join(f"{ratio(row, w, clock):7.2f}" for w in SOLVES), flush=True)


def print_summary(rows, clock):
    for text, ways in (("symmetric", SYMMETRIC), ("unsymmetric", UNSYMMETRIC), ("all", None)):
        chosen = [r for r in rows if ways is None or r["ways"] is ways]
        for which in SOLVES:
            ratios = [ratio(r, which, clock) for r in chosen]
            good = [x for x in ratios if x < math.inf]
            if good:
                mean = math.exp(sum(map(math.log, good)) / len(good))
                print(f"{text:12} {which:6} geometric mean {mean:5.2f}, worst {max(good):6.2f}, {len(good)} systems, "
                      f"{len(ratios) - len(good)} not solved")


def write_csv(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as f:
        out = csv.writer(f)
        out.writerow(["system", "way", "cpu_seconds", "wall_seconds"])
        for row in rows:
            for way, seconds in [(w, row[w]) for w in SOLVES] + list(row["named"].items()):
                out.writerow([row["system"], way, *(f"{s:.4f}" for s in seconds)])


def main():
    args = arguments()
    chosen = [(n, w) for n, w in (LARGE if args.large else SYSTEMS) if not args.names or n in args.names]
    if args.some:
        chosen = [chosen[i * len(chosen) // args.some] for i in range(min(args.some, len(chosen)))]
    rows = []
    print(f"{args.clock} seconds, {args.threads} thread\n{'system':24}   first   again   third    best  {'':14}  first  again  third")
    with tempfile.TemporaryDirectory() as folder:
        run = Runner(args, folder)
        for name, ways in chosen:
            system = operands(name, args.matrices)
            if not system:
                print(f"{name:24} left out: no such file")
                continue
            rows.append(dict(measure(run, name, ways, system), ways=ways))
            print_row(rows[-1], run.clock)
    print_summary(rows, CLOCKS[args.clock])
    if args.csv:
        write_csv(args.csv, rows)


if __name__ == "__main__":
    main()
