"""The table of run.sh from its raw lines: matrix, program, ms per iteration, ratio to krylocl's CSR.

Median: of the rounds' medians. Min, max: over all rounds. Ratio: the median over the rounds of
(program / krylocl csr) within one round, so that a disturbance affects both. Above 1: krylocl is faster.
Residual: true, relative, after the timed iterations (equal residuals: equal work).
Below each matrix: median of the best peer / median of the best krylocl format; at the end the geometric mean.
usage: table.py RAW
"""
import json
import math
import sys
from statistics import median


def problem(item):
    status = item.get("status", "ok")
    return status if status != "ok" else "the product was not validated"


def measurements(path):
    """(matrix, round, program, {median, min, max, residual}) or (..., an error text)."""
    for line in open(path, encoding="utf-8"):
        matrix, round_, name, state, text = line.rstrip("\n").split("\t", 4)
        try:
            items = json.loads(text) if state == "ok" else None
        except ValueError:
            items, text = None, "its output is not JSON"
        if state == "ok" and items is not None and not isinstance(items, dict):
            items, text = None, "its output is no JSON object"
        if items is None:
            yield matrix, round_, name, text.strip() or "failed without a message"
            continue
        rows = items.get("rows")  # of krylocl bench a list; of a peer the rows of its matrix, a number
        for item in rows if isinstance(rows, list) else [items]:
            program = item.get("program") or f"{name} {item.get('format', '?')}"
            seconds = item.get("seconds_per_iteration")
            if item.get("status", "ok") != "ok" or item.get("validated") is False:
                yield matrix, round_, program, problem(item)
            elif not isinstance(seconds, dict) or not seconds.get("median"):
                yield matrix, round_, program, "no time in its output"
            else:
                yield matrix, round_, program, seconds | {"residual": item.get("relative_residual")}


def ratio(runs, base):
    shared = [runs[r]["median"] / base[r]["median"] for r in runs if r in base]
    return f"{median(shared):7.2f}" if shared else f"{'-':>7}"


def row(program, rounds, base):
    runs = {r: m for r, m in rounds.items() if isinstance(m, dict)}
    if not runs:
        return f"  {program:<20} not measured: {next(iter(rounds.values()))[:70]}"
    ms = [median(m["median"] for m in runs.values()), min(m["min"] for m in runs.values()),
          max(m["max"] for m in runs.values())]
    residual = next(iter(runs.values()))["residual"]
    known = isinstance(residual, float) and math.isfinite(residual)
    return (f"  {program:<20}" + "".join(f"{1e3 * v:10.4f}" for v in ms)
            + "  " + ratio(runs, base) + "  " + (f"{residual:10.3e}" if known else f"{'-':>10}"))


def best(programs, ours):
    """(median of its rounds' medians, program) of the fastest krylocl format (ours) or peer, or None."""
    known = [(median(m["median"] for m in rounds.values() if isinstance(m, dict)), program)
             for program, rounds in programs.items()
             if program.startswith("krylocl") == ours
             and any(isinstance(m, dict) for m in rounds.values())]
    return min(known, default=None)


def main():
    table = {}
    for matrix, round_, program, m in measurements(sys.argv[1]):
        table.setdefault(matrix, {}).setdefault(program, {})[round_] = m
    print(f"{'ms per iteration':<22}{'median':>10}{'min':>10}{'max':>10}  "
          f"{'ratio':>7}  {'residual':>10}")
    ahead = {}
    for matrix, programs in table.items():
        print(matrix)
        csr = next((p for p in programs if p.startswith("krylocl csr")), None)
        base = {r: m for r, m in programs.get(csr, {}).items() if isinstance(m, dict)}
        for program, rounds in programs.items():
            print(row(program, rounds, base))
        peer, mine = best(programs, False), best(programs, True)
        if peer and mine:
            ahead[matrix] = peer[0] / mine[0]
            print(f"  {peer[1]} / {mine[1]} = {ahead[matrix]:.2f}")
    if len(ahead) > 1:
        mean = math.exp(sum(map(math.log, ahead.values())) / len(ahead))
        worst = min(ahead, key=ahead.get)
        print(f"best peer / best krylocl: geometric mean {mean:.2f}, min {ahead[worst]:.2f} ({worst})")


main()
