"""Hook of hatchling: `make` builds the library into the package, for x86-64 at two levels, and the wheel gets its tag.

The source tree is the folder around this one, or `tree` beside this file in a source distribution. Nothing is bundled: the OpenCL loader is
loaded at run time, and parts that need other libraries than those of manylinux are left out.
"""
from __future__ import annotations

import os
import platform
import re
import runpy
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HERE = Path(__file__).resolve().parent
DECLARATIONS = HERE / "krylocl" / "_declarations.py"
LEFT_OUT = ("GPL=no", "HAVE_MPI=", "HAVE_LIBDEFLATE=", "HAVE_CJSON=", "LEVELS=")


def source_tree() -> Path:
    inside = HERE / "tree"
    return inside if inside.is_dir() else HERE.parent


def build(arch: str, name: str) -> Path:
    """The library for an architecture, as krylocl/NAME."""
    tree = source_tree()
    folder = f"build-{Path(name).stem}"
    subprocess.run(["make", f"-j{os.cpu_count() or 1}", f"ARCH={arch}", f"BUILD={folder}", *LEFT_OUT,
                    f"{folder}/libkrylocl.so.0"], cwd=tree, check=True)
    target = HERE / "krylocl" / name
    shutil.copy(tree / folder / "libkrylocl.so.0", target)
    subprocess.run(["strip", "--strip-unneeded", str(target)], check=True)
    return target


def newest_glibc(libraries: list[Path]) -> tuple[int, int]:
    """The newest version of glibc that a symbol needs."""
    found = [m for lib in libraries for m in re.findall(rb"GLIBC_(\d+)\.(\d+)", lib.read_bytes())]
    return max((int(a), int(b)) for a, b in found)


class BuildLibrary(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        machine = platform.machine()
        levels = {"libkrylocl-v2.so": "-march=x86-64-v2", "libkrylocl-v3.so": "-march=x86-64-v3"}
        libraries = [build(arch, name) for name, arch in (levels if machine == "x86_64" else {"libkrylocl.so": "portable"}).items()]
        shutil.copytree(source_tree() / "include", HERE / "krylocl" / "include", dirs_exist_ok=True)
        write_declarations = runpy.run_path(str(HERE / "krylocl" / "_headers.py"))["write_declarations"]
        write_declarations(source_tree() / "include", DECLARATIONS)
        major, minor = newest_glibc(libraries)
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-manylinux_{major}_{minor}_{machine}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """The source tree uses its own library and headers again."""
        for library in (HERE / "krylocl").glob("libkrylocl*.so"):
            library.unlink()
        DECLARATIONS.unlink(missing_ok=True)
        shutil.rmtree(HERE / "krylocl" / "include", ignore_errors=True)
