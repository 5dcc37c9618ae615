"""Matrices: entries or a function on the C side, a scipy LinearOperator on this one."""
from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from ._arrays import CODES, LETTERS, Vectors, as_array, as_numpy, as_output, common_dtype, on_device, view
from ._library import UsageError, check, ffi, keep_exception, lib, make_options, owned
from .context import Context, find_context

LAYOUTS = {"csr": lib.KCL_CSR, "csc": lib.KCL_CSC, "coo": lib.KCL_COO}


@ffi.callback("int(void *, int, const kcl_vectors *, kcl_vectors *, void *)", error=lib.KCL_USAGE,
              onerror=keep_exception)  # type: ignore[untyped-decorator]
def call_operator(user: Any, adjoint: int, x: Any, y: Any, queue: Any) -> int:
    """y = A x by the LinearOperator that ``user`` is a handle of."""
    operator = ffi.from_handle(user)
    product = operator.rmatvec if adjoint else operator.matvec
    view(y, writable=True)[:] = np.asarray(product(view(x))).ravel()
    return 0


def as_operator(A: Any, n: int | None = None, dtype: DTypeLike | None = None) -> LinearOperator:
    """scipy's aslinearoperator; a function needs the size n and a type."""
    if callable(A) and not hasattr(A, "matvec") and not hasattr(A, "shape"):
        if n is None:
            raise ValueError("the size of a function is not known: make it a LinearOperator")
        return LinearOperator((n, n), matvec=A, dtype=dtype)
    return aslinearoperator(A)


def _entries(A: Any) -> tuple[Any, list[Any]]:
    """kcl_entries of a sparse array, and the arrays that it points to."""
    layout = A.format
    if layout == "coo":
        row, col = A.row, A.col
    else:
        row, col = (A.indptr, A.indices) if layout == "csr" else (A.indices, A.indptr)
    arrays = [np.ascontiguousarray(a) for a in (row, col, A.data)]
    row, col, val = arrays
    rows, cols = A.shape
    return ffi.new("kcl_entries *", {
        "size": ffi.sizeof("kcl_entries"), "rows": rows, "cols": cols, "nnz": len(val), "row": ffi.from_buffer(row),
        "col": ffi.from_buffer(col), "val": ffi.from_buffer(val), "layout": LAYOUTS[layout], "row_bits": 8 * row.itemsize,
        "col_bits": 8 * col.itemsize, "type": CODES[val.dtype]}), arrays


def _borrowed(A: Any) -> Any:
    """The sparse array with 64-bit starts and 32-bit columns, in place but for the starts."""
    if A.format != "csr" or not A.has_canonical_format or A.indices.dtype != np.int32:
        raise ValueError("copy=False: a CSR array with 32-bit indices in order and without duplicates is needed")
    out = sp.csr_array(A.shape, dtype=A.dtype)
    out.indptr, out.indices, out.data = A.indptr.astype(np.int64), A.indices, A.data
    return out


def read_entries(A: Any, dtype: DTypeLike | None, *, copy: bool = True) -> tuple[Any, list[Any], np.dtype[Any]]:
    """kcl_entries of a sparse or dense matrix, the arrays that it points to, and their type."""
    if not sp.issparse(A):
        A = sp.csr_array(np.atleast_2d(as_numpy(A)))
    elif A.format not in LAYOUTS:
        A = A.tocsr()
    dtype = common_dtype(A.dtype) if dtype is None else np.dtype(dtype)
    if A.dtype != dtype:
        A = A.astype(dtype)
    entries, arrays = _entries(A if copy else _borrowed(A))
    entries.borrow = not copy
    return entries, arrays, dtype


class Matrix(LinearOperator):  # type: ignore[misc]
    """A matrix of the library: ``A @ x`` and ``A.H @ x`` are computed on its device.

    A: a sparse or dense matrix; or a LinearOperator, used as a function that the library calls (it may choose fewer
    methods and preconditioners then). dtype: to convert to. copy=False: the arrays of a CSR array in canonical form are used
    in place, and must not change while the matrix is used but before ``update()``. hermitian, positive, adjoint: what a LinearOperator is
    declared to be: A = A^H, positive definite, rmatvec is there.

    >>> import numpy as np
    >>> Matrix(np.diag([1.0, 2.0]), device="cpu") @ np.ones(2)
    array([1., 2.])
    """

    _has_adjoint = False  # products with A^H are prepared

    def __init__(self, A: Any, *, dtype: DTypeLike | None = None, copy: bool = True, hermitian: bool = False,
                 positive: bool = False, adjoint: bool = False, context: Context | None = None,
                 device: str | None = None):
        self.context = find_context(context, device)
        self.copied = copy
        if not sp.issparse(A) and hasattr(A, "matvec"):
            self._make_shell(A, dtype, hermitian, positive, adjoint)
        else:
            self._make_entries(A, dtype)

    def _make_entries(self, A: Any, dtype: DTypeLike | None) -> None:
        entries = self._read(A, dtype)
        self.is_function = False
        self.handle = owned("matrix", lib.kcl_matrix_create, self.context.handle, entries)
        super().__init__(self._dtype, self._shape)

    def _make_shell(self, A: Any, dtype: DTypeLike | None, hermitian: bool, positive: bool, adjoint: bool) -> None:
        dtype = common_dtype(A.dtype if A.dtype is not None else "d") if dtype is None else np.dtype(dtype)
        properties = (lib.KCL_SHELL_HERMITIAN if hermitian or positive else 0) | \
            (lib.KCL_SHELL_POSITIVE if positive else 0) | (lib.KCL_SHELL_ADJOINT if adjoint else 0)
        self.is_function = True
        self._kept: Any = ffi.new_handle(A), A
        self.handle = owned("matrix", lib.kcl_matrix_create_shell, self.context.handle, *A.shape,
                            CODES[dtype], call_operator, self._kept[0], lib.KCL_HOST, properties)
        super().__init__(dtype, A.shape)

    def _read(self, A: Any, dtype: DTypeLike | None) -> Any:
        """kcl_entries of A; its arrays are kept where they are borrowed."""
        entries, self._kept, self._dtype = read_entries(A, dtype, copy=self.copied)
        self._shape = (entries.rows, entries.cols)
        return entries

    def update(self, A: Any = None) -> None:
        """New values in the same pattern; A None: the arrays that were lent (copy=False) have them."""
        self._has_adjoint = False
        if A is None:
            check(lib.kcl_matrix_update(self.handle, ffi.NULL))
            return
        kept = self._kept
        try:
            check(lib.kcl_matrix_update(self.handle, self._read(A, self.dtype)))
        except Exception:
            self._kept = kept
            raise

    def entries(self) -> Any:
        """The kcl_csr, the library's."""
        if self.is_function:
            raise UsageError("A is a function: a matrix with entries is needed")
        return lib.kcl_matrix_csr(self.handle)

    def number(self, name: str) -> float:
        """A statistic by its name, such as "nnz", "row_max", "bandwidth" or "hermitian"."""
        out = ffi.new("double *")
        check(lib.kcl_matrix_number(self.handle, name.encode(), out))
        return float(out[0])

    def apply(self, x: Any, *, adjoint: bool = False, out: Any = None) -> Any:
        """A x, or A^H x, of one or several columns; arrays of pyopencl stay on the device. out: the array to write to."""
        given = Vectors(as_array(x, self.dtype, "x"), name="x")
        if adjoint and not self._has_adjoint and not self.is_function:
            check(lib.kcl_matrix_prepare(self.handle, make_options({"precision": LETTERS[self.dtype]}), 1))
            self._has_adjoint = True
        rows = self.shape[1] if adjoint else self.shape[0]
        y = empty_like(given.array, rows) if out is None else as_output(out)
        if y.dtype != self.dtype:
            raise TypeError(f"out is of type {y.dtype}: {self.dtype} is needed")
        result = Vectors(y, name="out")
        check(lib.kcl_matrix_apply(self.handle, int(adjoint), ffi.NULL, given.struct, ffi.NULL, result.struct))
        if result.array is not y:
            y[...] = result.array
        return y if out is None else out

    def set_near_null(self, modes: Any) -> None:
        """Vectors that A nearly annihilates, [rows, 1 to 12], for the preconditioner sa."""
        check(lib.kcl_matrix_set_near_null(self.handle, Vectors(np.asarray(modes, "d"), name="modes").struct))

    def set_coordinates(self, nodes: Any) -> None:
        """Coordinates [nodes, 2 or 3], from which the rigid body modes for the preconditioner sa are computed."""
        check(lib.kcl_matrix_set_coordinates(self.handle, Vectors(np.asarray(nodes, "d"), name="nodes").struct))

    def _matvec(self, x: Any) -> Any:
        return self.apply(x)

    _matmat = _matvec

    def _rmatvec(self, x: Any) -> Any:
        return self.apply(x, adjoint=True)

    _rmatmat = _rmatvec

    def __reduce__(self) -> Any:
        raise TypeError("a krylocl.Matrix belongs to its context and cannot be pickled")


def empty_like(a: Any, rows: int) -> Any:
    """An array of the kind, type and order of ``a`` with so many rows."""
    shape = (rows,) + tuple(a.shape[1:])
    if on_device(a):
        return type(a)(a.queue, shape, a.dtype, order="C" if a.flags.c_contiguous else "F")
    return np.empty(shape, a.dtype, order="F" if a.flags.f_contiguous else "C")


def as_matrix(A: Any, context: Context, dtype: DTypeLike | None = None, **declared: Any) -> Matrix:
    """A itself where it is a Matrix of this context, else one made of it."""
    if not isinstance(A, Matrix):
        return Matrix(A, context=context, dtype=dtype, **declared)
    return A
