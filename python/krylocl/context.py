"""Contexts: a device, and the programs that were compiled for it."""
from __future__ import annotations

import os
import threading
from typing import Any

from ._library import check, ffi, lib, owned, string


class _Kept(threading.local):
    """The contexts of this thread, by process and device."""

    def __init__(self) -> None:
        self.contexts: dict[tuple[int, str], Context] = {}


_kept = _Kept()


class Context:
    """A device: "cpu", "opencl", "gpu", "gpu:N", "P:D", a part of a device's name, or "auto"; None: $KRYLOCL_DEVICE, else "auto".

    threads: of the computations on the CPU; 0: as many as there are processors.

    >>> Context("cpu").kind
    'native'
    """

    def __init__(self, device: str | None = None, threads: int = 0):
        name = ffi.NULL if device is None else device.encode()
        self.handle = owned("context", lib.kcl_context_create, name, threads)
        self.queue: Any = None

    @classmethod
    def from_pyopencl(cls, queue: Any) -> Context:
        """A context on the device of a pyopencl.CommandQueue, which products and solves are enqueued to."""
        self = cls.__new__(cls)
        pointer = ffi.cast("void *", queue.int_ptr)
        self.handle = owned("context", lib.kcl_context_create_opencl, ffi.NULL, ffi.NULL, pointer)
        self.queue = queue
        return self

    @classmethod
    def default(cls, device: str | None = None) -> Context:
        """The context that this thread keeps for the device; a child process makes its own."""
        key = os.getpid(), device or string(lib.getenv(b"KRYLOCL_DEVICE"))  # os.environ takes longer
        found: Context | None = _kept.contexts.get(key)
        if found is None:
            found = _kept.contexts[key] = cls(device)
        return found

    @property
    def device(self) -> str:
        """The name of the device."""
        return self.text("device")

    @property
    def kind(self) -> str:
        """ "gpu", "cpu", "accelerator" or "native"."""
        return self.text("kind")

    def text(self, name: str) -> str:
        """A property as text: "device", "kind", "platform", "driver" or "version"."""
        return string(lib.kcl_context_text(self.handle, name.encode()))

    def number(self, name: str) -> float:
        """A property as a number: "threads", "memory", "units", "double", "max_restart" or "stream_rate"."""
        out = ffi.new("double *")
        check(lib.kcl_context_number(self.handle, name.encode(), out))
        return float(out[0])

    def __repr__(self) -> str:
        return f"Context({self.device!r})"

    def __reduce__(self) -> Any:
        raise TypeError("a context belongs to its process and cannot be pickled")


def find_context(context: Context | None, device: str | None) -> Context:
    """The context that is given, or this thread's for the device."""
    if context is not None and device is not None:
        raise ValueError("context and device: one of them is enough")
    return context if context is not None else Context.default(device)
