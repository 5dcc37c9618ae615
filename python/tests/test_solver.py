"""Solver, Matrix, Preconditioner: answers against the x that b was made from; what is refused; callbacks and Ctrl-C."""
import pickle
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator, cg

import krylocl

EXACT = 1e-12
NEAR = 1e-7  # condition below 100, residual 1e-10


def relative(x, y):
    return np.linalg.norm(x - y) / np.linalg.norm(y)


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array, sp.coo_array, sp.bsr_array, lambda A: A.toarray(), sp.csr_matrix])
def test_matrices_of_scipy(system, device, kind):
    A, b, x = system
    s = krylocl.Solver(kind(A), tol=1e-10, device=device)
    assert relative(s.solve(b), x) < NEAR and s.report.converged
    assert relative(s.matrix @ x, b) < EXACT


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
def test_types(system, device, dtype):
    A, b, x = system
    s = krylocl.Solver(A.astype(dtype), device=device)
    y = s.solve(b.astype(dtype))
    assert y.dtype == dtype and s.report.converged and relative(y, x) < 1e-2


def test_complex_numbers_are_not_made_real(system):
    A, b, _ = system
    s = krylocl.Solver(A, device="cpu")
    with pytest.raises(TypeError, match="b is complex"):
        s.solve(b * 1j)


@pytest.mark.parametrize("order", ["C", "F"])
def test_columns(system, device, order):
    A, b, x = system
    B = np.asarray(np.column_stack([b, 2 * b, -b]), order=order)
    s = krylocl.Solver(A, tol=1e-10, nrhs=2, device=device)
    X = s.solve(B)
    assert X.shape == B.shape and X.flags[order + "_CONTIGUOUS"] and len(s.reports) == 3
    assert relative(X, np.column_stack([x, 2 * x, -x])) < NEAR
    assert relative(s.solve(B[::-1][::-1][:, 0]), x) < NEAR


def test_guess_limits_and_out(system, device):
    A, b, x = system
    s = krylocl.Solver(A, "none", "cg", device=device)
    s.solve(b)
    usual = s.report.iterations
    out = np.empty_like(b)
    assert s.solve(b, x, out=out) is out and s.report.iterations == 0 and relative(out, x) < EXACT
    s.solve(b, tol=1e-3)
    assert 0 < s.report.iterations < usual
    s.solve(b, maxiter=3)
    assert s.report.iterations == 3 and not s.report.converged and len(s.report.history) == 4
    with pytest.raises(ValueError, match="x0 has the shape"):
        s.solve(b, x[:-1])
    with pytest.raises(ValueError, match="out is"):
        s.solve(b, out=np.empty(3))
    with pytest.raises(ValueError, match="certify"):
        s.solve(b, certify="yes")


def test_without_convergence(system):
    A, b, _ = system
    singular = sp.diags_array(np.r_[0.0, np.ones(9)])
    with pytest.raises(krylocl.NotConverged) as e:
        krylocl.solve(singular, np.ones(10), "none", "cg", device="cpu")
    assert not e.value.report.converged and e.value.x.shape == (10,)
    with pytest.warns(krylocl.NotConvergedWarning):
        krylocl.Solver(singular, "none", "cg", device="cpu").solve(np.ones(10))


def test_update(system, device):
    A, b, x = system
    s = krylocl.Solver(A, "jacobi", "cg", tol=1e-10, device=device)
    s.solve(b)
    for keep in ("choices", "precond", "hierarchy"):
        s.update(2 * A, keep=keep)
        assert relative(s.solve(b), x / 2) < NEAR
        s.update(A, keep=keep)
    with pytest.raises(ValueError, match="pattern"):
        s.update(sp.eye_array(A.shape[0], format="csr"))
    s.update(sp.eye_array(A.shape[0], format="csr"), keep="nothing")
    assert relative(s.solve(b), b) < NEAR
    with pytest.raises(ValueError, match="keep"):
        s.update(A, keep="all")


def test_borrowed_arrays(system):
    A, b, x = system
    M = krylocl.Matrix(A, copy=False, device="cpu")
    assert relative(M @ x, b) < EXACT
    A.data *= 2
    M.update()
    assert relative(M @ x, 2 * b) < EXACT
    with pytest.raises(ValueError, match="copy=False"):
        krylocl.Matrix(A.tocsc(), copy=False, device="cpu")
    with pytest.raises(krylocl.UsageError):
        krylocl.Matrix(A, device="cpu").update()


def test_products(device):
    A = sp.random_array((7, 4), density=0.6, rng=3, format="csr") + 1j * sp.random_array((7, 4), density=0.6, rng=4)
    M = krylocl.Matrix(A, device=device)
    rng = np.random.default_rng(0)
    x, Y = rng.random(4) + 1j, rng.random((7, 3)) + 0j
    assert relative(M @ x, A @ x) < EXACT
    assert relative(M.H @ Y, A.conj().T @ Y) < EXACT
    assert M.number("rows") == 7


def test_functions_as_A_and_M(system, device):
    A, b, x = system
    diagonal = A.diagonal()
    s = krylocl.Solver(aslinearoperator(A), lambda r: r / diagonal, "cg", tol=1e-10, device=device)
    assert relative(s.solve(b), x) < NEAR
    for solver in ("auto", "bicg", "gmres", "minres"):
        f = LinearOperator(A.shape, matvec=lambda v: A @ v, rmatvec=lambda v: A.T @ v, dtype="f8")
        assert relative(krylocl.Solver(f, solver=solver, tol=1e-10, device=device).solve(b), x) < NEAR
    assert relative(krylocl.Solver(lambda v: A @ v, solver="gmres", n=len(b), tol=1e-10, device=device).solve(b), x) < NEAR
    with pytest.raises(ValueError, match="size of a function"):
        krylocl.Solver(lambda v: v, device=device)


def test_exception_of_a_function(system, device):
    A, b, _ = system

    def fail(v):
        raise ZeroDivisionError("mine")
    s = krylocl.Solver(LinearOperator(A.shape, matvec=fail, dtype="f8"), solver="gmres", device=device)
    with pytest.raises(ZeroDivisionError, match="mine"):
        s.solve(b)


def test_preconditioners(system, device):
    A, b, x = system
    M = krylocl.Preconditioner(A, "amg", device=device)
    s = krylocl.Solver(A, M, "cg", tol=1e-10, context=M.context)
    assert relative(s.solve(b), x) < NEAR
    plain = krylocl.Solver(A, "none", "cg", tol=1e-10, context=M.context)
    plain.solve(b)
    assert s.report.iterations < plain.report.iterations
    y, info = cg(A, b, rtol=1e-10, M=M)
    assert info == 0 and relative(y, x) < NEAR
    assert relative(krylocl.Preconditioner(A, "jacobi", device=device) @ b, b / A.diagonal()) < EXACT
    M.update(2 * A)
    assert M @ b == pytest.approx((krylocl.Preconditioner(2 * A, "amg", device=device) @ b), rel=1e-6)
    loose = krylocl.Preconditioner(A, "ilut", parameters={"ilut.drop": 0.5}, device="cpu")
    tight = krylocl.Preconditioner(A, "ilut", parameters={"ilut.drop": 1e-8}, device="cpu")
    assert relative(tight @ b, x) < relative(loose @ b, x)


@pytest.mark.parametrize("solver", ["cg", "cg-single", "cg-pipelined", "minres", "bicg", "bicgstab", "bicgstab-l", "cgs", "idr",
                                    "gmres", "cocg", "cocr", "cgls", "lsqr"])
def test_x_in_callbacks(system, device, solver):
    """x of each call has the residual that is reported with it."""
    A, b, _ = system
    seen = []
    s = krylocl.Solver(A, "none", solver, device=device, scale="none")
    s.solve(b, every=1, callback=lambda p: seen.append((p.iteration, p.relative_residual, p.x)))
    assert s.report.converged and seen[-1][0] == s.report.iterations
    iterations = [i for i, _, _ in seen]
    assert iterations == sorted(set(iterations))
    if solver not in ("cgls", "lsqr"):  # whose residual is that of the normal equations
        for _, residual, x in seen:
            assert abs(np.linalg.norm(b - A @ x) / np.linalg.norm(b) - residual) < 1e-10


def test_callback_stops_and_raises(system, device):
    A, b, _ = system
    s = krylocl.Solver(A, "none", "cg", device=device)
    s.solve(b, every=1, callback=lambda p: p.iteration == 5)
    assert s.report.reason == "interrupted" and s.report.iterations == 5

    def fail(p):
        raise KeyError("mine")
    with pytest.raises(KeyError) as e:
        s.solve(b, every=1, callback=fail)
    assert e.value.x.shape == b.shape
    with pytest.raises(krylocl.BusyError):
        s.solve(b, every=1, callback=lambda p: s.solve(b))


def test_interrupt_keeps_x():
    code = """
import _thread, threading, numpy as np, krylocl
A, b = krylocl.generate("poisson2d:40")
s = krylocl.Solver(lambda v: (begun.set(), A @ v)[1], solver="cg", n=len(b), dtype="f8", tol=1e-300, maxiter=10**9, device="cpu")
begun = threading.Event()
threading.Thread(target=lambda: (begun.wait(), _thread.interrupt_main()), daemon=True).start()
try:
    s.solve(b)
except KeyboardInterrupt as e:
    print("interrupted", e.x.shape == b.shape)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.stdout.strip() == "interrupted True", done.stderr


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array, sp.coo_array, sp.dia_array, lambda A: A.toarray(),
                                  lambda A: A.astype("f4"), lambda A: A.astype(complex)])
def test_linalg_with_and_without_objects(system, make):
    """A callback needs a Solver; without one the library is called directly. x and info are those of each other."""
    A, b, x = system
    A = make(A)
    for options in ({}, {"x0": 0.9 * x}, {"M": "jacobi"}, {"maxiter": 2}):
        for right in (b, np.repeat(b, 2)[::2], b[:, None]):
            y, info = krylocl.linalg.cg(A, right, rtol=1e-5, **options)
            z, same = krylocl.linalg.cg(A, right, rtol=1e-5, callback=lambda x: None, **options)
            assert y.dtype == z.dtype and info == same == options.get("maxiter", 0) and relative(y, z) < 1e-4
    with pytest.raises(krylocl.UsageError, match="did you mean jacobi"):
        krylocl.linalg.cg(A, b, M="jacobo")


def test_threads_share_a_solver(system, device):
    A, b, x = system
    s = krylocl.Solver(A, tol=1e-10, device=device)
    answers = [None] * 8

    def work(i):
        answers[i] = s.solve((i + 1) * b)
    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all(relative(y, (i + 1) * x) < NEAR for i, y in enumerate(answers))


def test_objects_cannot_be_pickled(system):
    A, _, _ = system
    s = krylocl.Solver(A, device="cpu")
    for o in (s, s.matrix, s.context, krylocl.Preconditioner(A, "jacobi", device="cpu")):
        with pytest.raises(TypeError, match="pickled"):
            pickle.dumps(o)


def test_explain_and_repr(system):
    A, b, _ = system
    s = krylocl.Solver(A, "jacobi", "cg", device="cpu")
    assert "alpha" in s.explain() and "jacobi" in repr(s)
    with pytest.raises(RuntimeError, match="no report"):
        s.report
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
