"""Checkpoints: a solve that was stopped, or whose process was killed, goes on with the same bits; files that do not fit are refused."""
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import krylocl
from conftest import chain

FOLDER = str(Path(__file__).parent)
OPTIONS = {"precond": "none", "solver": "cg", "format": "csr-scalar", "tol": 1e-10}


def stop_at(iteration):
    return lambda p: p.iteration == iteration


def test_the_same_bits(system, device, tmp_path):
    A, b, _ = system
    whole = krylocl.Solver(A, device=device, **OPTIONS)
    x = whole.solve(b)
    first = krylocl.Solver(A, device=device, **OPTIONS)
    first.checkpoint(tmp_path / "x.kck")
    first.solve(b, every=1, callback=stop_at(5))
    assert first.report.reason == "interrupted" and first.report.numbers["checkpoints"] == 1
    second = krylocl.Solver(A, device=device, **OPTIONS)
    second.resume(str(tmp_path / "x.kck"))
    y = second.solve(b, x0=np.ones_like(b))
    assert second.report.numbers["resumed_at"] == 5 and second.report.iterations == whole.report.iterations
    assert np.array_equal(x, y) and np.array_equal(second.report.history, whole.report.history)
    second.solve(b, np.ones_like(b))
    assert second.report.numbers["resumed_at"] == 0


def test_save_and_no_more(system, tmp_path):
    A, b, _ = system
    s = krylocl.Solver(A, device="cpu", **OPTIONS)
    path = tmp_path / "x.kck"
    s.checkpoint(path, seconds=1e9)
    s.solve(b)
    assert not path.exists()
    s.solve(b, every=1, callback=lambda p: s.save() if p.iteration == 5 else None)
    assert path.exists() and s.report.converged and s.report.numbers["checkpoints"] == 1
    path.unlink()
    s.checkpoint(None)
    s.solve(b, every=1, callback=stop_at(5))
    assert not path.exists()


def test_what_is_refused(system, tmp_path):
    A, b, _ = system
    s = krylocl.Solver(A, device="cpu", **OPTIONS)
    with pytest.raises(krylocl.UsageError, match="seconds"):
        s.checkpoint(tmp_path / "x.kck", seconds=-1)
    with pytest.raises(krylocl.InputError, match="nosuch"):
        s.resume(tmp_path / "nosuch.kck")
    s.checkpoint(tmp_path / "x.kck")
    s.solve(b, every=1, callback=stop_at(5))
    with pytest.raises(krylocl.InputError, match="another matrix"):
        krylocl.Solver(2 * A, device="cpu", **OPTIONS).resume(tmp_path / "x.kck")
    s.resume(tmp_path / "x.kck")
    with pytest.raises(krylocl.InputError, match="another right-hand side"):
        s.solve(2 * b)


def test_a_killed_process(tmp_path):
    """SIGKILL after the second checkpoint: the first iterations are not computed again."""
    code = f"""
import sys; sys.path.insert(0, {FOLDER!r})
import krylocl
from test_checkpoint import OPTIONS
from conftest import chain
A, b = chain(200000)
s = krylocl.Solver(A, device="cpu", **OPTIONS)
s.checkpoint("x.kck", seconds=0.01)
s.solve(b, maxiter=10**9)
"""
    process = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path)
    deadline = time.monotonic() + 120
    while not (tmp_path / "x.kck.1").exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    A, b = chain(200000)
    s = krylocl.Solver(A, device="cpu", **OPTIONS)
    s.resume(tmp_path / "x.kck")
    s.solve(b, maxiter=1)
    at = s.report.numbers["resumed_at"]
    assert at > 0 and len(s.report.history) > at
