"""Arrays of numpy and pyopencl as kcl_vectors, and scalar types."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ._library import ffi, lib

LETTERS: dict[np.dtype[Any], str] = {np.dtype("f4"): "s", np.dtype("f8"): "d", np.dtype("c8"): "c", np.dtype("c16"): "z"}
TYPES: dict[str, np.dtype[Any]] = {letter: dtype for dtype, letter in LETTERS.items()}
CODES = {dtype: ord(letter) for dtype, letter in LETTERS.items()}
SIZE = ffi.sizeof("kcl_vectors")


def common_dtype(*dtypes: DTypeLike) -> np.dtype[Any]:
    """The type to compute in: that of numpy's arithmetic, double for numbers that are not floating-point or longer.

    >>> print(common_dtype("f4", "f4"), common_dtype("i4", "f4"), common_dtype("F", "d"))
    float32 float64 complex128
    """
    if dtypes[0] in LETTERS and dtypes.count(dtypes[0]) == len(dtypes):
        return np.dtype(dtypes[0])
    known = []
    for d in [np.dtype(given) for given in dtypes]:
        if d.kind not in "biufc":
            raise TypeError(f"numbers of type {d} cannot be computed with: real or complex numbers are needed")
        wide = np.dtype("c16" if d.kind == "c" else "f8")
        known.append(d if d in LETTERS else wide)
    return np.result_type(*known)


def on_device(a: Any) -> bool:
    """Is it an array of pyopencl?"""
    return not isinstance(a, np.ndarray) and hasattr(a, "base_data") and hasattr(a, "queue")


def _strides(a: Any) -> tuple[int, int] | None:
    """Elements from row to row and from column to column; None: kcl_vectors cannot describe them."""
    steps = []
    for extent, stride in zip(a.shape, a.strides):
        step, rest = divmod(stride, a.dtype.itemsize)
        if extent > 1 and (rest or step < 1):
            return None
        steps.append(step if extent > 1 else 1)
    inc = steps[0]
    if a.ndim == 1:
        return inc, max(1, a.shape[0] * inc)
    ld = steps[1] if a.shape[1] > 1 else max(1, a.shape[0] * inc)
    return inc, ld


class Vectors:
    """An array [rows] or [rows, columns] as kcl_vectors; ``array`` is the one that is used, a copy where its strides need it."""

    def __init__(self, array: Any, *, name: str):
        self.array, self.columns = array, 1
        if isinstance(array, np.ndarray) and array.ndim == 1 and array.flags.c_contiguous:
            self.struct = ffi.new("kcl_vectors *", {"size": SIZE, "data": ffi.from_buffer(array), "rows": len(array),
                                                    "type": CODES[array.dtype]})
        else:
            self._describe(array, name)

    def _describe(self, array: Any, name: str) -> None:
        """The struct of several columns, of strides, and of an array on the device."""
        if array.ndim not in (1, 2):
            raise ValueError(f"{name} has {array.ndim} dimensions: [rows] or [rows, columns] is needed")
        steps = _strides(array)
        if steps is None:
            if on_device(array):
                raise ValueError(f"{name}: the strides {array.strides} of an array on the device are not supported")
            self.array = array = np.array(array, order="C")
            steps = _strides(array)
        assert steps is not None
        self.columns = 1 if array.ndim == 1 else array.shape[1]
        v = self.struct = ffi.new("kcl_vectors *", {"size": SIZE, "rows": array.shape[0], "cols": self.columns, "inc": steps[0],
                                                    "ld": steps[1], "type": CODES[array.dtype]})
        if on_device(array):
            v.place = lib.KCL_OPENCL
            v.data = ffi.cast("void *", array.base_data.int_ptr)
            v.offset = array.offset // array.dtype.itemsize
        else:
            v.data = ffi.cast("void *", array.ctypes.data)


def as_numpy(a: Any) -> Any:
    """An array of numpy's, which shares the memory of other libraries' arrays on the host: those that have DLPack alone, too."""
    shared = hasattr(a, "__dlpack__") and not hasattr(a, "__array__")
    return np.from_dlpack(a) if shared else np.asarray(a)


def as_output(out: Any) -> Any:
    """The caller's array to write to: of pyopencl as it is, else as numpy's, without a copy."""
    if on_device(out):
        return out
    if not isinstance(out, np.ndarray):
        if not hasattr(out, "__dlpack__"):
            raise TypeError(f"out is of type {type(out).__name__}: an array is needed")
        out = np.from_dlpack(out)
    if not out.flags.writeable:
        raise ValueError("out is read-only")
    return out


def as_array(a: Any, dtype: np.dtype[Any], name: str) -> Any:
    """The array in this type: of pyopencl as it is, anything else as numpy's. Complex numbers are not made real."""
    if not on_device(a):
        a = as_numpy(a)
    if a.dtype == dtype:
        return a
    if np.dtype(a.dtype).kind == "c" and dtype.kind != "c":
        raise TypeError(f"{name} is complex and the matrix is real: make the matrix complex")
    return a.astype(dtype)


def view(v: Any, *, writable: bool = False) -> Any:
    """The column that the library hands to a callback, as an array without a copy; valid during the callback."""
    dtype = TYPES[chr(v.type)]
    first = int(ffi.cast("uintptr_t", v.data)) + v.offset * dtype.itemsize
    size = ((v.rows - 1) * v.inc + 1) * dtype.itemsize if v.rows else 0
    a = np.frombuffer(ffi.buffer(ffi.cast("char *", first), size), dtype)[:: v.inc]
    if not writable:
        a.flags.writeable = False
    return a
