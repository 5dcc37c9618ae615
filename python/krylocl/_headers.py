"""The C headers as declarations of cffi: a module that is written when a wheel is built, and at import in the source tree."""
from __future__ import annotations

import re
import runpy
import tempfile
from pathlib import Path
from typing import Any

from cffi import FFI
from cffi.recompiler import make_py_source

HEADERS = ("krylocl.h", "krylocl/io.h", "krylocl/device.h", "krylocl/explain.h", "krylocl/bench.h")


def _strip_header(text: str) -> str:
    """A header as cffi takes it: without comments, C++, and directives but numbers."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"#ifdef __cplusplus.*?#endif", "", text, flags=re.S)
    return re.sub(r"^#(?!define \w+ \d+$).*$", "", text, flags=re.M)


def write_declarations(include: Path, target: Path) -> None:
    """Writes the module whose ``ffi`` declares the types and functions of the headers in ``include``, and getenv."""
    builder = FFI()
    builder.cdef("char *getenv(const char *name);")
    for name in HEADERS:
        builder.cdef(_strip_header((include / name).read_text(encoding="utf-8")))
    make_py_source(builder, "krylocl._declarations", str(target))


def read_declarations(include: Path) -> Any:
    """The ``ffi`` of that module, which is not kept."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "_declarations.py")
        write_declarations(include, target)
        return runpy.run_path(str(target))["ffi"]
