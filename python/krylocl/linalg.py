"""scipy.sparse.linalg's iterative methods by their names and arguments, computed by krylocl.

A and M as there: sparse or dense matrices, or LinearOperators; M may also be a krylocl.Preconditioner or the name of one, such as "amg".
The computing type is that of A, b and x0 together. The device is this thread's default: $KRYLOCL_DEVICE, else a GPU if there is one.
info is 0 after convergence, the number of iterations where that was not reached, and negative after a breakdown: minus the kcl_reason.
Convergence is that of the recomputed residual: |b - A x| <= max(rtol |b|, atol). minres uses that criterion, too.
"""
from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from ._arrays import LETTERS, as_numpy, common_dtype
from ._library import lib, make_options
from .context import Context
from .precond import Preconditioner
from .solver import Solver, solve_once

__all__ = ["bicg", "bicgstab", "cg", "cgs", "gmres", "minres"]

SMALL = 1000  # rows, for which a choice of format takes longer than it saves
MAX_TOL = 1e300  # of the options tol and atol


def _preconditioner(A: Any, M: Any) -> Any:
    """M, or the functions psolve and rpsolve that A has in its place; None for the identity."""
    if M is None and hasattr(A, "psolve"):
        M = LinearOperator(A.shape, matvec=A.psolve, rmatvec=getattr(A, "rpsolve", None), dtype=A.dtype)
    if M is None or isinstance(M, (str, Preconditioner)):
        return M
    M = aslinearoperator(M)
    if M.shape != A.shape:
        raise ValueError(f"A has the shape {A.shape} and M {M.shape}: they must be equal")
    return None if type(M).__name__ == "IdentityOperator" else M


def _right_hand_side(A: Any, b: Any) -> Any:
    shape = A.shape
    if len(shape) != 2:
        raise ValueError(f"expected 2-D A, but got shape={shape}")
    if shape[0] != shape[1]:
        raise ValueError(f"expected square matrix, but got shape={shape}")
    if b.shape not in ((shape[0],), (shape[0], 1)):
        raise ValueError(f"shapes of A {shape} and b {b.shape} are incompatible")
    return b.ravel()


def _guess(x0: Any, M: Any, b: Any) -> Any:
    if isinstance(x0, str) and x0 == "Mb":
        return b if M is None else M.matvec(b)
    if x0 is None:
        return None
    x = as_numpy(x0)
    if x.shape not in ((len(b),), (len(b), 1)):
        raise ValueError(f"shapes of A {(len(b), len(b))} and x0 {x.shape} are incompatible")
    return x.ravel()


def _check_tolerance(name: str, atol: Any) -> None:
    if atol is None or isinstance(atol, str) or not atol >= 0:
        raise ValueError(f"'{name}' called with invalid `atol`={atol}; if set, `atol` must be a real, non-negative number.")


def _info(result: Any) -> int:
    if result.converged:
        return 0
    if result.reason in (lib.KCL_ITERATION_LIMIT, lib.KCL_STAGNATED):
        return max(1, int(result.iterations))
    return -int(result.reason)


@functools.lru_cache(64)
def _find_options(**options: Any) -> Any:
    """make_options, which takes longer than to find those of the last calls."""
    return make_options(options)


def _solve(name: str, A: Any, b: Any, x0: Any, rtol: float, atol: float, maxiter: int, M: Any,
           callback: Callable[[Any], Any] | None, report: bool = False, **options: Any) -> tuple[Any, int, Solver | None]:
    """x, info, and with ``report`` the solver, which has the history. callback(x) at each iteration, or cycle."""
    if not hasattr(A, "shape"):
        A = as_numpy(A)
    b = _right_hand_side(A, b)
    _check_tolerance(name, atol)
    M = _preconditioner(A, M)
    guess = _guess(x0, M, b)
    operator = hasattr(A, "matvec") and not sp.issparse(A)
    kind = A.dtype if A.dtype is not None else A.matvec(b).dtype
    dtype = common_dtype(kind, b.dtype, *([] if guess is None else [guess.dtype]))
    if not np.count_nonzero(b):
        return np.zeros(len(b), dtype), 0, None
    if not operator:
        options["scale"] = "none"
        if len(b) < SMALL:
            options["format"] = "csr-scalar"
    rtol, atol = min(rtol, MAX_TOL), min(atol, MAX_TOL)
    if not operator and not report and callback is None and (M is None or isinstance(M, str)):
        o = _find_options(precond=M or "none", solver=name, precision=LETTERS[dtype], tol=float(rtol), atol=float(atol),
                          max_iter=maxiter, **options)
        x, results = solve_once(A, b, guess, dtype, o, "residuals")
        return x, _info(results[0]), None
    s = Solver(A, "none" if M is None else M, name, tol=rtol, atol=atol, maxiter=maxiter, dtype=dtype, **options)
    shown = None if callback is None else lambda progress: callback(progress.x) and None
    x, results = s.run(b, guess, callback=shown, every=int(callback is not None),
                       certify="nothing" if operator else "residuals")  # of a function it would be two products more
    return x, _info(results[0]), s


def _make(name: str) -> Callable[..., tuple[Any, int]]:
    def method(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0, maxiter: int | None = None,
               M: Any = None, callback: Callable[[Any], Any] | None = None) -> tuple[Any, int]:
        b = as_numpy(b)
        limit = 10 * len(b) if maxiter is None else maxiter
        return _solve(name, A, b, x0, rtol, atol, limit, M, callback)[:2]
    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"""{name}, as scipy.sparse.linalg.{name}: x, info. callback(xk) after each iteration.

    >>> import numpy as np
    >>> x, info = {name}(np.diag([1.0, 2.0]), np.ones(2))
    >>> print(x.round(6), info)
    [1.  0.5] 0
    """
    return method


bicg = _make("bicg")
bicgstab = _make("bicgstab")
cg = _make("cg")
cgs = _make("cgs")


def gmres(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0, restart: int | None = None,
          maxiter: int | None = None, M: Any = None, callback: Callable[[Any], Any] | None = None,
          callback_type: str | None = None) -> tuple[Any, int]:
    """gmres, as scipy.sparse.linalg.gmres: x, info; preconditioned from the right, so residuals are the true ones.

    restart: 20; at most 1000, on OpenCL devices 50: more is taken as that. maxiter, and info where it is positive: cycles; with a callback and no callback_type or "legacy":
    iterations. callback(xk) after each cycle with callback_type "x"; callback(|r| / |b|) of each iteration with "pr_norm" and "legacy",
    called after the solve.
    """
    if callback is not None and callback_type is None:
        warnings.warn("scipy.sparse.linalg.gmres called without specifying `callback_type`. The default value will be changed in "
                      "a future release. For compatibility, specify a value for `callback_type` explicitly, e.g., "
                      "``gmres(..., callback_type='pr_norm')``, or to retain the old behavior ``gmres(..., "
                      "callback_type='legacy')``", DeprecationWarning, stacklevel=2)
    kind = callback_type or "legacy"
    if kind not in ("x", "pr_norm", "legacy"):
        raise ValueError(f"Unknown callback_type: {kind!r}")
    b = as_numpy(b)
    n = len(b)
    cycle = min(restart or 20, n, int(Context.default().number("max_restart")))
    limit = 10 * n if maxiter is None else maxiter
    per_cycle = 1 if callback is not None and kind == "legacy" else cycle
    shown = callback if kind == "x" else None
    x, info, s = _solve("gmres", A, b, x0, rtol, atol, limit * per_cycle, M, shown, report=callback is not None,
                        restart=cycle)
    if callback is not None and kind != "x" and s is not None:
        for norm in s.report.history[1:]:
            callback(norm)
    return x, -(-info // per_cycle) if info > 0 else info


def minres(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, shift: float = 0.0, maxiter: int | None = None, M: Any = None,
           callback: Callable[[Any], Any] | None = None, show: bool = False, check: bool = False) -> tuple[Any, int]:
    """minres, as scipy.sparse.linalg.minres: x, info with (A - shift I) x = b. A = A^H is checked, unless A is a function.

    show: prints the report. check: checks that A and M are Hermitian by a product with b.
    """
    b = as_numpy(b)
    if check:
        _check_hermitian(A, M, b)
    if shift:
        n = A.shape[0]
        operator = hasattr(A, "matvec") and not sp.issparse(A)
        A = aslinearoperator(A) - shift * aslinearoperator(sp.eye_array(n)) if operator else A - shift * sp.eye_array(n)
    limit = 5 * len(b) if maxiter is None else maxiter
    x, info, s = _solve("minres", A, b, x0, rtol, 0.0, limit, M, callback, report=show)
    if show and s is not None:
        print(s.report)
    return x, info


def _check_hermitian(A: Any, M: Any, b: Any) -> None:
    """scipy's test: (y, y) = (w, A y) for w = A b and y = A w, up to the cube root of the rounding."""
    b = b.ravel()
    for name, operator in (("non-symmetric matrix", A), ("non-symmetric preconditioner", M)):
        if operator is None or isinstance(operator, str):
            continue
        product = aslinearoperator(operator).matvec
        w = product(b)
        y = product(w)
        s, t, eps = np.vdot(w, w), np.vdot(b, y), np.finfo(np.float64).eps
        if abs(s - t) > (abs(s) + eps) * eps ** (1 / 3):
            raise ValueError(name)
