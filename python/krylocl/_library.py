"""libkrylocl by cffi: the C headers are the binding. A wheel has their declarations as a module, the source tree reads them at import."""
from __future__ import annotations

import functools
import importlib
import os
import re
import threading
from pathlib import Path
from typing import Any

ABI = 1


class Error(RuntimeError):
    """A failure of the library; ``status`` is its kcl_status."""

    status = 1


class UsageError(Error, ValueError):
    """An argument or a name that is invalid or does not fit the others."""


class InputError(Error, ValueError):
    """A file that cannot be read, or a system that is not finite, empty, or not square."""


class DeviceError(Error):
    """No such device, or a driver error."""


class OutOfMemory(Error, MemoryError):
    """Out of memory, of the host or of the device."""


class BusyError(Error):
    """A callback used the context of the call that it was called by."""


class RefusedError(Error):
    """A format that refuses the matrix, or a factorisation that would be too large."""


class ChangedError(Error):
    """An array changed in memory between set-up and certificate."""


ERRORS: dict[int, type[Error]] = {2: UsageError, 3: InputError, 4: DeviceError, 5: OutOfMemory,
                                  8: BusyError, 9: RefusedError, 10: ChangedError}


def _folders() -> tuple[Path, Path]:
    """The folder of the headers, and the library: those of the wheel; of a package of a distribution, whose library the dynamic linker
    finds; else those of the source tree around."""
    here = Path(__file__).resolve().parent
    given = os.environ.get("KRYLOCL_LIBRARY")
    if (here / "include").is_dir():
        inside = here / _level()
        return here / "include", Path(given or (inside if inside.exists() else "libkrylocl.so.0"))
    tree = here.parent.parent
    return tree / "include", Path(given or tree / "build" / "libkrylocl.so.0")


def _level() -> str:
    """The library of the wheel that is for this processor."""
    needed = {"avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"}  # x86-64-v3
    here = Path(__file__).resolve().parent
    if not (here / "libkrylocl-v3.so").exists():
        return "libkrylocl.so"
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
    except OSError:
        return "libkrylocl-v2.so"
    flags = re.search(r"^flags\s*:(.*)$", text, re.M)
    return "libkrylocl-v3.so" if flags and needed <= set(flags[1].split()) else "libkrylocl-v2.so"


def _find_declarations(include: Path) -> Any:
    try:
        return importlib.import_module("krylocl._declarations").ffi
    except ModuleNotFoundError:
        from ._headers import read_declarations
        return read_declarations(include)


def _load() -> tuple[Any, Any, str, str]:
    include, path = _folders()
    wanted = re.search(r'#define KCL_VERSION "(.*)"', (include / "krylocl.h").read_text(encoding="utf-8"))
    if wanted is None:
        raise ImportError(f"{include}/krylocl.h has no KCL_VERSION")
    ffi = _find_declarations(include)
    library = ffi.dlopen(str(path))
    found = ffi.string(library.kcl_version()).decode()
    if found != wanted[1] or library.kcl_abi() != ABI:
        raise ImportError(f"{path} is version {found} with binary interface {library.kcl_abi()}; "
                          f"{wanted[1]} with {ABI} is needed")
    return ffi, library, found, str(path)


ffi, lib, version, path = _load()


def string(text: Any) -> str:
    """A char * as text; "" where it is NULL."""
    return str(ffi.string(text).decode("utf-8", "replace")) if text else ""


def encode_path(path: str | os.PathLike[str]) -> bytes:
    """A path as a char * has it; ValueError where it has a NUL byte, at which a char * ends."""
    raw = os.fsencode(path)
    if b"\0" in raw:
        raise ValueError(f"the path {path!r} has a NUL byte")
    return raw


class Pending(threading.local):
    """The exception that a callback of this thread ended with, until the call of the library returns."""

    exception: BaseException | None = None

    def take(self) -> BaseException | None:
        e, self.exception = self.exception, None
        return e


pending = Pending()


def keep_exception(kind: Any, exception: BaseException, trace: Any) -> None:
    """onerror of callbacks: C cannot pass exceptions on, also KeyboardInterrupt, which may come before a function's first line."""
    pending.exception = exception


def check(status: int) -> None:
    """Raises the exception of a callback, or the error that a status stands for."""
    if pending.exception is not None:
        e = pending.take()
        assert e is not None
        raise e
    if status:
        error = ERRORS.get(status, Error)(string(lib.kcl_error()))
        error.status = status
        raise error


def owned(kind: str, create: Any, *arguments: Any) -> Any:
    """The handle kcl_KIND * that ``create(arguments, &handle)`` makes, freed with the object that holds it."""
    out = ffi.new(f"kcl_{kind} **")
    check(create(*arguments, out))
    free = getattr(lib, f"kcl_{kind}_free")
    return ffi.gc(out[0], lambda _: free(out))


def names(kind: str) -> list[str]:
    """The names of a kind: "solver", "precond", "format", "generator", "option" or "device".

    >>> "amg" in names("precond")
    True
    """
    k = kind.encode()
    return [string(lib.kcl_name(k, i)) for i in range(lib.kcl_names(k))]


def describe_name(kind: str, name: str, what: str = "summary") -> str:
    """Facts about a name: its "summary"; of options also "default" and "values"; of generators "example"."""
    return string(lib.kcl_name_help(kind.encode(), name.encode(), what.encode()))


def make_options(options: dict[str, Any]) -> Any:
    """kcl_options from names and values; None leaves a default, "_" in a name stands for "-"."""
    return _options_of(tuple((name, "yes" if value is True else "no" if value is False else str(value))
                             for name, value in options.items() if value is not None))


@functools.lru_cache(64)
def _options_of(texts: tuple[tuple[str, str], ...]) -> Any:
    """kcl_options of these names and values, which nobody changes."""
    handle = owned("options", lib.kcl_options_create)
    for name, text in texts:
        check(lib.kcl_options_set(handle, name.replace("_", "-").encode(), text.encode()))
    return handle
