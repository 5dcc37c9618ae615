"""Files, generated systems, devices and statistics."""
from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ._arrays import TYPES
from ._library import check, encode_path, ffi, lib, string
from .context import Context
from .matrix import Matrix, as_matrix


class System(NamedTuple):
    """A, and the right-hand sides and initial guesses that its file has, or None."""

    A: Any
    b: Any
    x0: Any


def _copy(pointer: Any, count: int, dtype: Any) -> Any:
    return np.frombuffer(ffi.buffer(ffi.cast("char *", pointer), count * np.dtype(dtype).itemsize), dtype).copy() \
        if count else np.empty(0, dtype)


def _sparse(out: Any) -> Any:
    """A kcl_csr ** as a CSR array; it is freed."""
    A = out[0]
    try:
        dtype = TYPES[chr(ord(lib.kcl_type_letter(A.type)))]
        starts = _copy(A.row_ptr, A.rows + 1, "i8")
        starts = starts.astype("i4") if A.nnz < 2**31 else starts  # scipy wants indices of one type
        parts = _copy(A.val, A.nnz, dtype), _copy(A.col, A.nnz, "i4"), starts
        return sp.csr_array(parts, shape=(A.rows, A.cols))
    finally:
        lib.kcl_csr_free(out)


def _dense(out: Any) -> Any:
    """A kcl_dense ** as an array: one column [rows], several [rows, columns]; freed. None where it is NULL."""
    B = out[0]
    if not B:
        return None
    try:
        a = _copy(B.val, B.rows * B.cols, "c16" if B.type == lib.KCL_Z else "f8")
        return a if B.cols == 1 else a.reshape((B.rows, B.cols), order="F")
    finally:
        lib.kcl_dense_free(out)


def read(path: str | PathLike[str]) -> System:
    """Reads a matrix (Matrix Market, Harwell-Boeing, Rutherford-Boeing, row lists, .kcl; packed by gzip or not)."""
    A, b, x0 = ffi.new("kcl_csr **"), ffi.new("kcl_dense **"), ffi.new("kcl_dense **")
    check(lib.kcl_csr_read_system(Context.default().handle, encode_path(path), A, b, x0))
    return System(_sparse(A), _dense(b), _dense(x0))


def read_vectors(path: str | PathLike[str]) -> Any:
    """Reads dense columns: a Matrix Market array, or plain numbers: [rows] or [rows, columns]."""
    out = ffi.new("kcl_dense **")
    check(lib.kcl_dense_read(Context.default().handle, encode_path(path), out))
    return _dense(out)


def write(path: str | PathLike[str], A: Any) -> None:
    """Writes a sparse array in the format of the file name's ending (.mtx, .rb, .rows, .kcl, .gz behind it), or dense columns."""
    context = Context.default()
    if sp.issparse(A) or isinstance(A, Matrix):
        matrix = as_matrix(A, context)
        check(lib.kcl_csr_write(matrix.context.handle, encode_path(path), matrix.entries()))
        return
    a = np.asarray(A)
    a = np.asfortranarray(a.reshape((a.shape[0], -1)), np.dtype("c16" if a.dtype.kind == "c" else "f8"))
    B = ffi.new("kcl_dense *")
    B.rows, B.cols = a.shape
    B.type = lib.KCL_Z if a.dtype.kind == "c" else lib.KCL_D
    B.val = ffi.cast("double *", a.ctypes.data)
    check(lib.kcl_dense_write(context.handle, encode_path(path), B))


def generate(kind_size: str) -> tuple[Any, Any]:
    """A and b of a generated system, such as "poisson2d:100"; ``krylocl.names("generator")`` lists the kinds.

    >>> A, b = generate("poisson2d:10")
    >>> A.shape, b.shape
    ((100, 100), (100,))
    """
    A, b = ffi.new("kcl_csr **"), ffi.new("kcl_dense **")
    check(lib.kcl_generate(Context.default().handle, kind_size.encode(), A, b))
    return _sparse(A), _dense(b)


def info(A: Any) -> dict[str, float]:
    """The statistics of a matrix by their names, such as nnz, row_max, bandwidth, hermitian.

    >>> info(generate("poisson2d:10")[0])["nnz"]
    460.0
    """
    matrix = as_matrix(A, Context.default())
    numbers = [name for name, field in ffi.typeof("kcl_stats").fields if field.type.kind == "primitive"]
    return {name: matrix.number(name) for name in numbers}


@dataclass(frozen=True)
class Device:
    """A device; ``name`` and ``number`` ("P:D", or "cpu") select it."""

    number: str
    name: str
    platform: str
    kind: str
    driver: str
    compute_units: int
    memory: int
    has_double: bool


def devices() -> list[Device]:
    """All devices, the native executor of the CPU first.

    >>> devices()[0].kind
    'native'
    """
    found, count = ffi.new("kcl_device **"), ffi.new("int *")
    check(lib.kcl_device_list(Context.default("cpu").handle, found, count))
    try:
        return [Device("cpu" if d.platform < 0 else f"{d.platform}:{d.device}", string(d.name), string(d.platform_name),
                       string(d.kind), string(d.driver), d.compute_units, d.memory, bool(d.has_double))
                for d in found[0][0:count[0]]]
    finally:
        lib.kcl_free(found[0])
