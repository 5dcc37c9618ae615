"""Hook of hatchling: `make` builds the library into the package, for x86-64 at two levels, and the wheel gets its tag.

The source tree is the folder around this one, or `tree` beside this file in a source distribution, which carries the headers of OpenCL.
No library is bundled: the OpenCL loader is loaded at run time, and parts that need other libraries than those of manylinux are left out.
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
# The levels by their instructions, since gcc knows the names from version 11 on.
V2 = "-mcx16 -msahf -mpopcnt -mssse3 -msse4.2"
V3 = f"{V2} -mavx2 -mbmi -mbmi2 -mf16c -mfma -mlzcnt -mmovbe"
LEVELS = {"libkrylocl-v2.so": V2, "libkrylocl-v3.so": V3}
LEFT_OUT = ("GPL=no", "HAVE_MPI=", "HAVE_LIBDEFLATE=", "HAVE_CJSON=", "LEVELS=")


def source_tree() -> Path:
    inside = HERE / "tree"
    return inside if inside.is_dir() else HERE.parent


def opencl_headers() -> list[Path]:
    """CL/cl.h of this system, and what it includes."""
    done = subprocess.run([os.environ.get("CC", "cc"), "-M", "-x", "c", "-"], input="#include <CL/cl.h>\n", text=True, capture_output=True)
    if done.returncode:
        raise RuntimeError("a source distribution carries the headers of OpenCL, which are not installed (opencl-headers)")
    return [Path(word) for word in done.stdout.split() if Path(word).parent.name == "CL"]


def build(arch: str, name: str) -> Path:
    """The library for an architecture, as krylocl/NAME."""
    tree = source_tree()
    folder = f"build-{Path(name).stem}"
    carried = ["HAVE_OPENCL=1"] if (tree / "include" / "CL").is_dir() else []
    flags = f"CFLAGS={os.environ.get('CFLAGS', '')} -include '{HERE / 'glibc.h'}'"
    subprocess.run(["make", f"-j{os.cpu_count() or 1}", f"ARCH={arch}", f"BUILD={folder}", flags, *LEFT_OUT, *carried,
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
        if self.target_name == "sdist":
            build_data["force_include"].update({str(header): f"tree/include/CL/{header.name}" for header in opencl_headers()})
        elif version != "editable":
            self.make_wheel(build_data)

    def make_wheel(self, build_data: dict[str, Any]) -> None:
        machine = platform.machine()
        libraries = [build(arch, name) for name, arch in (LEVELS if machine == "x86_64" else {"libkrylocl.so": "portable"}).items()]
        shutil.copytree(source_tree() / "include", HERE / "krylocl" / "include", dirs_exist_ok=True,
                        ignore=shutil.ignore_patterns("CL", "*.hpp", "*.f90"))
        write_declarations = runpy.run_path(str(HERE / "krylocl" / "_headers.py"))["write_declarations"]
        write_declarations(source_tree() / "include", DECLARATIONS)
        major, minor = newest_glibc(libraries)
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-manylinux_{major}_{minor}_{machine}"
        build_data["force_include"][str(source_tree() / "LICENSE")] = "krylocl/LICENSE"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """The source tree uses its own library and headers again."""
        for library in (HERE / "krylocl").glob("libkrylocl*.so"):
            library.unlink()
        DECLARATIONS.unlink(missing_ok=True)
        shutil.rmtree(HERE / "krylocl" / "include", ignore_errors=True)
