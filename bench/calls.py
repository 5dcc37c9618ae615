#!/usr/bin/env python3
"""Microseconds that one call from Python takes: s.solve(b) beside kcl_solve with the same arguments, and krylocl's cg(A, b) beside scipy's.

Medians over rounds in which the two of a pair take turns. The installed package krylocl, on the native executor.
usage: bench/calls.py [ROUNDS]
"""
import os
import statistics
import sys
import time

os.environ["KRYLOCL_DEVICE"] = "cpu"

import numpy as np  # noqa: E402
import scipy.sparse as sp
import scipy.sparse.linalg

import krylocl
import krylocl.linalg
from krylocl import solver as calls
from krylocl._arrays import Vectors


def laplacian(n):
    return sp.diags_array([-1.0, 2.5, -1.0], offsets=[-1, 0, 1], shape=(n, n), format="csr")


def compare(rounds, first, second):
    """The medians of two calls, in microseconds, and of their differences."""
    times = [[], []]
    for f in (first, second):
        for _ in range(20):
            f()
    for _ in range(rounds):
        for f, t in zip((first, second), times):
            begin = time.perf_counter_ns()
            f()
            t.append((time.perf_counter_ns() - begin) / 1e3)
    return [statistics.median(t) for t in times] + [statistics.median(a - b for a, b in zip(*times))]


rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
print(f"{'rows':>6} {'s.solve(b)':>12} {'kcl_solve':>12} {'difference':>12}")
for n in (10, 1000, 10000):
    A, b = laplacian(n), np.ones(n)
    s = krylocl.Solver(A, "jacobi", "cg", tol=1e-8)
    x = s.solve(b)
    given, result = Vectors(b, name="b"), Vectors(x, name="x")
    call = calls._make_call(None, None, None, True, None)
    print("{:6} {:12.1f} {:12.1f} {:12.1f}".format(
        n, *compare(rounds, lambda: s.solve(b), lambda: calls._call_solve(s.handle, given, result, call))))
print(f"\n{'rows':>6} {'our cg(A, b)':>12} {'scipys':>12} {'difference':>12}")
for n in (10, 100, 1000):
    A, b = laplacian(n), np.ones(n)
    print("{:6} {:12.1f} {:12.1f} {:12.1f}".format(
        n, *compare(rounds, lambda: krylocl.linalg.cg(A, b), lambda: scipy.sparse.linalg.cg(A, b))))
