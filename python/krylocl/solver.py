"""Solvers: set up once, solved with many times."""
from __future__ import annotations

import warnings
from collections.abc import Callable
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ._arrays import LETTERS, Vectors, as_array, as_output, on_device
from ._library import check, encode_path, ffi, keep_exception, lib, make_options, owned, pending, string
from .context import Context, find_context
from .matrix import Matrix, as_matrix, as_operator, empty_like, read_entries
from .precond import Preconditioner
from .report import NotConverged, NotConvergedWarning, Progress, Report, explain, read_reports

KEEP = {"nothing": lib.KCL_KEEP_NOTHING, "choices": lib.KCL_KEEP_CHOICES, "hierarchy": lib.KCL_KEEP_HIERARCHY,
        "precond": lib.KCL_KEEP_PRECOND}
CERTIFY = {None: lib.KCL_CERTIFY_DEFAULT, "full": lib.KCL_CERTIFY_FULL, "residuals": lib.KCL_CERTIFY_RESIDUALS,
           "nothing": lib.KCL_CERTIFY_NOTHING}
HERMITIAN = ("cg", "cg-single", "cg-pipelined", "minres")  # methods for A = A^H, with M = M^H
WITH_ADJOINT = ("bicg", "cgls", "lsqr")  # methods that multiply by A^H

Callback = Callable[[Progress], Any]


class _Monitor:
    """Data of the progress callback: the caller's function, and the type of x."""

    def __init__(self, callback: Callback, columns: int, dtype: Any):
        self.callback, self.columns, self.dtype = callback, columns, dtype

    def show(self, p: Any) -> int:
        x = None
        if p.x:
            x = np.frombuffer(ffi.buffer(ffi.cast("char *", p.x), self.columns * self.dtype.itemsize), self.dtype).copy()
        return int(self.callback(Progress(p.iteration, p.max_iter, p.relative_residual, p.target, p.seconds,
                                          p.running, x)) is True)


@ffi.callback("int(void *, const kcl_progress *)", error=1, onerror=keep_exception)  # type: ignore[untyped-decorator]
def call_monitor(user: Any, p: Any) -> int:
    """Python handles its signals while this runs: Ctrl-C ends the solve."""
    return int(ffi.from_handle(user).show(p)) if user else 0


def _declared(solver: str, A: Any) -> dict[str, bool]:
    """Properties of a function A, as methods see them."""
    return {"hermitian": solver in HERMITIAN, "positive": solver in HERMITIAN and solver != "minres",
            "adjoint": solver in WITH_ADJOINT or A.shape[0] != A.shape[1]}


def _make_call(tol: float | None, atol: float | None, maxiter: int | None, zero_guess: bool, certify: str | None,
               monitor: Any = ffi.NULL, every: int = 0) -> Any:
    if certify not in CERTIFY:
        raise ValueError(f"certify is {certify!r}: 'full', 'residuals', 'nothing' or None is needed")
    return ffi.new("kcl_call *", {
        "size": ffi.sizeof("kcl_call"), "tol": tol or 0, "atol": atol or 0, "max_iter": maxiter or 0, "zero_guess": zero_guess,
        "certify": CERTIFY[certify], "progress": call_monitor, "user": monitor, "every": every})


def _call_solve(handle: Any, b: Vectors, x: Vectors, call: Any) -> Any:
    """The kcl_result of each column; an exception of the callback has the x so far."""
    results = ffi.new("kcl_result[]", b.columns)
    results[0].size = ffi.sizeof("kcl_result")
    status = lib.kcl_solve(handle, b.struct, x.struct, call, results)
    if pending.exception is not None:
        pending.exception.x = x.array  # type: ignore[attr-defined]
    check(status)
    return results


def solve_once(A: Any, b: Any, x0: Any, dtype: np.dtype[Any], options: Any, certify: str) -> tuple[Any, Any]:
    """x, and the kcl_result of its one column, for a sparse or dense matrix and kcl_options.

    It makes no Matrix and no Solver: these take longer than a small solve.
    """
    b = as_array(b, dtype, "b")
    x = np.empty_like(b) if x0 is None else np.array(x0, dtype)
    entries, _arrays, _ = read_entries(A, dtype)
    call = _make_call(None, None, None, x0 is None, certify)
    matrix, solver = ffi.new("kcl_matrix **"), ffi.new("kcl_solver **")
    try:
        check(lib.kcl_matrix_create(Context.default().handle, entries, matrix))
        check(lib.kcl_solver_create(matrix[0], ffi.NULL, options, solver))
        return x, _call_solve(solver[0], Vectors(b, name="b"), Vectors(x, name="x"), call)
    finally:
        lib.kcl_solver_free(solver)
        lib.kcl_matrix_free(matrix)


class Solver:
    """Solves A x = b for many b.

    A: a sparse or dense matrix, a krylocl.Matrix, a LinearOperator, or a function with ``n``, the number of unknowns.
    precond: a name, a Preconditioner, or M with M @ r about A^-1 r: a LinearOperator, a matrix, a function. solver: a name.
    tol, atol: relative and absolute residual norm to reach. maxiter: iteration limit. Other options as in docs/options.md, such
    as format, restart, mixed, nrhs; their names with "_" for "-". parameters: of preconditioners, such as {"ilut.drop": 1e-3}.

    >>> import krylocl
    >>> A, b = krylocl.generate("poisson2d:30")
    >>> s = Solver(A, precond="amg", solver="cg", tol=1e-10, device="cpu")
    >>> x = s.solve(b)
    >>> s.report.converged
    True
    """

    def __init__(self, A: Any, precond: Any = None, solver: str = "auto", *, tol: float | None = None,
                 atol: float | None = None, maxiter: int | None = None, dtype: DTypeLike | None = None, n: int | None = None,
                 parameters: dict[str, Any] | None = None, context: Context | None = None, device: str | None = None,
                 **options: Any):
        if isinstance(A, Matrix) and context is None and device is None:
            context = A.context
        self.context = find_context(context, device)
        if callable(A) and not hasattr(A, "shape"):
            A = as_operator(A, n, dtype)
        declared = _declared(solver, A) if not isinstance(A, Matrix) and hasattr(A, "matvec") else {}
        self.matrix = as_matrix(A, self.context, dtype, **declared)
        self.dtype, self.shape = self.matrix.dtype, self.matrix.shape
        name, self.precond = self._find_precond(precond, solver)
        if "precision" not in options:
            options["precision"] = LETTERS[self.dtype]
        o = make_options({"precond": name, "solver": solver, "tol": tol, "atol": atol, "max-iter": maxiter,
                          **options, **(parameters or {})})
        M = self.precond.handle if self.precond is not None else ffi.NULL
        self.handle = owned("solver", lambda *a: lib.kcl_solver_create(self.matrix.handle, M, o, *a))
        self.has_limit = maxiter is not None

    def _find_precond(self, precond: Any, solver: str) -> tuple[str | None, Preconditioner | None]:
        """A name for the options, or an object."""
        if precond is None or isinstance(precond, str):
            return ("none" if precond is None and self.matrix.is_function else precond), None
        if isinstance(precond, Preconditioner):
            return None, precond
        M = Preconditioner.from_operator(precond, hermitian=solver in HERMITIAN, adjoint=solver in WITH_ADJOINT,
                                         dtype=self.dtype, n=self.shape[0], context=self.context)
        return None, M

    def solve(self, b: Any, x0: Any = None, *, tol: float | None = None, atol: float | None = None,
              maxiter: int | None = None, callback: Callback | None = None, every: int = 0, out: Any = None,
              certify: str | None = None) -> Any:
        """x with A x = b: b [rows] or [rows, columns] of numpy, or of pyopencl, where all stays on the device.

        x0: the initial guess; 0 without it. tol, atol, maxiter: of this call. callback(progress): called from time to time, or at
        each ``every`` iterations with progress.x; True ends the solve. out: the array that receives x. certify: "full", "residuals"
        or "nothing".

        A solve that does not converge gives a NotConvergedWarning, but for an iteration limit that was asked for. Ctrl-C ends a
        solve: KeyboardInterrupt has the x so far as its attribute x.
        """
        x, results = self.run(b, x0, tol=tol, atol=atol, maxiter=maxiter, callback=callback, every=every, out=out,
                              certify=certify)
        self._warn(results, maxiter)
        return x

    def run(self, b: Any, x0: Any = None, *, tol: float | None = None, atol: float | None = None, maxiter: int | None = None,
            callback: Callback | None = None, every: int = 0, out: Any = None, certify: str | None = None) -> tuple[Any, Any]:
        """solve without warnings: x, and a kcl_result of cffi per column."""
        given = Vectors(as_array(b, self.dtype, "b"), name="b")
        x = self._first_guess(given.array, x0, out)
        result = Vectors(x, name="out")
        if result.array is not x:
            raise ValueError(f"out: the strides {x.strides} are not supported")
        monitor = ffi.NULL
        if callback is not None:
            monitor = ffi.new_handle(_Monitor(callback, self.shape[1], self.dtype))
        call = _make_call(tol, atol, maxiter, x0 is None, certify, monitor, every)
        results = _call_solve(self.handle, given, result, call)
        return (x if out is None else out), results

    def _first_guess(self, b: Any, x0: Any, out: Any) -> Any:
        """The array that receives x, with the guess in it."""
        x = empty_like(b, self.shape[1]) if out is None else as_output(out)
        if x.dtype != self.dtype or x.shape != (self.shape[1],) + tuple(b.shape[1:]) or on_device(x) != on_device(b):
            raise ValueError(f"out is {x.dtype} {x.shape}: {self.dtype} {(self.shape[1],) + tuple(b.shape[1:])} is needed, "
                             "on the same side as b")
        if x0 is None or x0 is out:
            return x
        guess = as_array(x0, self.dtype, "x0")
        if guess.shape != x.shape:
            raise ValueError(f"x0 has the shape {guess.shape}: {x.shape} is needed")
        x[...] = guess
        return x

    def _warn(self, results: Any, maxiter: int | None) -> None:
        """The reason of the first column that did not converge."""
        asked = {lib.KCL_INTERRUPTED, lib.KCL_LEAST_SQUARES}
        if maxiter is not None or self.has_limit:
            asked.add(lib.KCL_ITERATION_LIMIT)
        for j, r in enumerate(results):
            if not r.converged and r.reason not in asked:
                text = string(lib.kcl_reason_text(r.reason))
                warnings.warn(f"column {j}: {text} after {r.iterations} iterations, residual {r.relative_residual:.2e}",
                              NotConvergedWarning, stacklevel=3)
                return

    def update(self, A: Any, keep: str = "hierarchy") -> None:
        """Takes the values of A, in the same pattern.

        keep: "nothing" (then any pattern), "choices" (method, format), "hierarchy" (and the interpolation of multigrid) or
        "precond" (and the old preconditioner as it is).
        """
        if keep not in KEEP:
            raise ValueError(f"keep is {keep!r}: one of {', '.join(KEEP)} is needed")
        matrix = as_matrix(A, self.context, self.dtype)
        check(lib.kcl_solver_update(self.handle, matrix.handle, KEEP[keep]))
        self.matrix = matrix

    def checkpoint(self, path: str | PathLike[str] | None, seconds: float = 0) -> None:
        """Has the solves from here on write checkpoints to ``path``: every so many seconds, when ``save`` asks for one, and when a solve is
        stopped, by Ctrl-C, too.

        seconds 0: every minute, and rarely enough that they take at most a hundredth of the time. The checkpoint before is PATH.1.
        path None: no more checkpoints. ``report.numbers`` counts them ("checkpoints"); one that cannot be written ends no solve:
        ``report.changes`` says why.
        """
        check(lib.kcl_solver_checkpoint(self.handle, ffi.NULL if path is None else encode_path(path), seconds))

    def save(self) -> None:
        """Has the solve that runs write a checkpoint soon. Callbacks, other threads and signal handlers may call it."""
        lib.kcl_solver_save(self.handle)

    def resume(self, path: str | PathLike[str]) -> None:
        """Has the next solve go on from a checkpoint of the same A and b, or from PATH.1 where it is damaged; the guess is not used.

        With the same version, options, device and format x has the bits of a solve that was not interrupted; else it continues from
        the x of the checkpoint, and ``report.changes`` says what differs.

        >>> import krylocl, tempfile
        >>> A, b = krylocl.generate("poisson2d:30")
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = folder.name + "/x.kck"
        >>> s = Solver(A, "none", "cg", format="csr-scalar", device="cpu")
        >>> s.checkpoint(path)
        >>> x = s.solve(b, every=1, callback=lambda p: p.iteration == 20)  # stopped
        >>> s.resume(path)
        >>> x = s.solve(b)
        >>> s.report.converged, s.report.numbers["resumed_at"]
        (True, 20)
        """
        check(lib.kcl_solver_resume(self.handle, encode_path(path)))

    def stop(self) -> None:
        """Ends the solve that runs in another thread; its x is that of the last iteration."""
        lib.kcl_solver_stop(self.handle)

    @property
    def reports(self) -> list[Report]:
        """The reports of the last solve, one per column."""
        return read_reports(self.handle)

    @property
    def report(self) -> Report:
        """The report of the last solve, of its first column."""
        reports = self.reports
        if not reports:
            raise RuntimeError("there is no report: no solve has ended yet, or the last one failed")
        return reports[0]

    def explain(self) -> str:
        """The choices and their reasons, and the stages of an iteration with their bytes."""
        return explain(self.handle)

    def __repr__(self) -> str:
        about = [string(lib.kcl_solver_text(self.handle, t)) for t in (b"solver", b"precond", b"format")]
        return f"<Solver {self.shape[0]} x {self.shape[1]} {self.dtype}: {', '.join(about)}>"

    def __reduce__(self) -> Any:
        raise TypeError("a solver belongs to its process and cannot be pickled")


def solve(A: Any, b: Any, precond: Any = None, solver: str = "auto", **options: Any) -> Any:
    """x with A x = b, by a Solver made for this call. NotConverged, with x and report, where the tolerance is not met.

    >>> import numpy as np
    >>> solve(np.diag([2.0, 4.0]), np.ones(2), device="cpu")
    array([0.5 , 0.25])
    """
    s = Solver(A, precond, solver, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        x = s.solve(b)
    for report in s.reports:
        if not report.converged:
            raise NotConverged(f"{report.reason} after {report.iterations} iterations, residual "
                               f"{report.relative_residual:.2e}", x, report)
    return x
