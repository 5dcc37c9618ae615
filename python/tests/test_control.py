"""Ctrl-C, and threads beside a call: signals that a terminal sends end a solve, which keeps x; the GIL is released."""
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import krylocl
from conftest import chain

FOLDER = str(Path(__file__).parent)
INTERRUPTED = """
import os, signal, sys, threading
sys.path.insert(0, {folder!r})
import krylocl
from conftest import chain
A, b = chain(500000)
s = krylocl.Solver(A, "none", "cg", format="csr-scalar", tol=1e-12, device={device!r})
s.checkpoint("x.kck", seconds=1e9)
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    {call}
except KeyboardInterrupt as e:
    print(e.x.shape == b.shape, e.x @ (A @ e.x) / 2 < e.x @ b, s.report.reason, s.report.iterations > 0, os.path.exists("x.kck"))
"""


@pytest.mark.parametrize("call", ["s.solve(b)", "s.solve(b, callback=lambda p: None)"])
def test_interrupt_of_a_matrix_with_entries(device, call, tmp_path):
    """SIGINT during iterations that call no Python: x lies below 0 in the functional that cg minimises, and the checkpoint is there."""
    code = INTERRUPTED.format(folder=FOLDER, device=device, call=call)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert done.stdout == "True True interrupted True True\n", done.stderr


def test_interrupt_of_linalg(tmp_path):
    code = f"""
import os, signal, sys, threading
sys.path.insert(0, {FOLDER!r})
import krylocl
from conftest import chain
A, b = chain(500000)
krylocl.linalg.cg(A, b, maxiter=1)
threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    krylocl.linalg.cg(A, b, rtol=1e-12)
except KeyboardInterrupt as e:
    print(e.x @ (A @ e.x) / 2 < e.x @ b)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert done.stdout == "True\n", done.stderr


def test_the_gil_is_released():
    """While one thread is inside a call of the library, another one computes."""
    A, b = krylocl.generate("poisson2d:500")
    times = {}

    def call():
        times["begin"] = time.perf_counter()
        krylocl.Preconditioner(A, "amg", device="cpu")
        times["end"] = time.perf_counter()
    ticks = []
    thread = threading.Thread(target=call)
    thread.start()
    while thread.is_alive():
        ticks.append(time.perf_counter())
        time.sleep(0.001)
    length = times["end"] - times["begin"]
    inside = [t for t in ticks if 0.25 < (t - times["begin"]) / length < 0.75]
    assert len(inside) >= 3, f"{len(inside)} ticks in the middle half of {length:.3f} s"


def test_stop_from_another_thread(device):
    A, b = chain(500000)
    s = krylocl.Solver(A, "none", "cg", format="csr-scalar", tol=1e-12, device=device)
    timer = threading.Timer(0.3, s.stop)
    timer.start()
    x = s.solve(b)
    timer.join()
    assert s.report.reason == "interrupted" and np.isfinite(x).all()
