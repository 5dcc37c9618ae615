"""Preconditioners as objects: set up once, shared by solvers, or applied alone."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy.sparse.linalg import LinearOperator

from ._arrays import CODES, LETTERS, Vectors, as_array, common_dtype
from ._library import check, ffi, lib, make_options, owned
from .context import Context, find_context
from .matrix import Matrix, as_matrix, as_operator, call_operator, empty_like


class Preconditioner(LinearOperator):  # type: ignore[misc]
    """M^-1 r for A as a LinearOperator, which scipy's functions take as their M.

    name: of ``krylocl.names("precond")``, or "auto". options: of the preconditioner, such as tol; its parameters as a dictionary, such
    as {"ilut.drop": 1e-3}.

    >>> import numpy as np
    >>> M = Preconditioner(np.diag([1.0, 2.0]), "jacobi", device="cpu")
    >>> M @ np.ones(2)
    array([1. , 0.5])
    """

    def __init__(self, A: Any, name: str = "auto", *, parameters: dict[str, Any] | None = None,
                 context: Context | None = None, device: str | None = None, **options: Any):
        if isinstance(A, Matrix) and context is None and device is None:
            context = A.context
        self.context = find_context(context, device)
        A = as_matrix(A, self.context)
        if "precision" not in options:
            options["precision"] = LETTERS[A.dtype]
        self.name = name
        o = make_options({"precond": name, **options, **(parameters or {})})
        self.handle = owned("precond", lib.kcl_precond_create, A.handle, o)
        super().__init__(A.dtype, A.shape)

    @classmethod
    def from_operator(cls, M: Any, *, hermitian: bool = False, adjoint: bool = False, dtype: DTypeLike | None = None,
                      n: int | None = None, context: Context | None = None, device: str | None = None) -> Preconditioner:
        """A preconditioner of the caller's: M @ r is about A^-1 r, M a LinearOperator, a matrix or a function (of n numbers).

        hermitian: M = M^H, positive definite, as cg and minres need it. adjoint: M.rmatvec is there.
        """
        self = cls.__new__(cls)
        self.context = find_context(context, device)
        self.name = "function"
        operator = as_operator(M, n, dtype)
        t = common_dtype(operator.dtype if operator.dtype is not None else "d") if dtype is None else np.dtype(dtype)
        properties = (lib.KCL_PRECOND_HERMITIAN if hermitian else 0) | (lib.KCL_PRECOND_ADJOINT if adjoint else 0)
        self._kept = ffi.new_handle(operator), operator
        self.handle = owned("precond", lib.kcl_precond_create_shell, self.context.handle, operator.shape[0],
                            CODES[t], call_operator, self._kept[0], lib.KCL_HOST, properties)
        LinearOperator.__init__(self, t, operator.shape)
        return self

    def apply(self, r: Any, *, adjoint: bool = False) -> Any:
        """M^-1 r, or M^-H r, of one or several columns on the host."""
        given = Vectors(as_array(r, self.dtype, "r"), name="r")
        z = empty_like(given.array, self.shape[0])
        check(lib.kcl_precond_apply(self.handle, int(adjoint), given.struct, Vectors(z, name="z").struct))
        return z

    def update(self, A: Any) -> None:
        """Sets M up for new values in the same pattern. Solvers take it over with their next update."""
        check(lib.kcl_precond_update(self.handle, as_matrix(A, self.context, self.dtype).handle))

    def _matvec(self, r: Any) -> Any:
        return self.apply(r)

    _matmat = _matvec

    def _rmatvec(self, r: Any) -> Any:
        return self.apply(r, adjoint=True)

    _rmatmat = _rmatvec

    def __reduce__(self) -> Any:
        raise TypeError("a preconditioner belongs to its context and cannot be pickled")
