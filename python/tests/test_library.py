"""The binding: sizes of structs as they are recorded, errors, names, contexts."""
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import krylocl
from krylocl._library import ffi

RECORDED = Path(__file__).resolve().parents[2] / "tests" / "abi.txt"


@pytest.mark.skipif(not RECORDED.exists(), reason="no record of the binary interface beside the package")
def test_structs_have_the_recorded_layout():
    found = 0
    for line in RECORDED.read_text().splitlines():
        field = re.fullmatch(r"(kcl_\w+)\.(\w+) (\d+) (\d+)", line)
        size = re.fullmatch(r"(kcl_(?:entries|vectors|call|result|progress|activity)) (\d+)", line)
        if size:
            assert ffi.sizeof(size[1]) == int(size[2]), line
            found += 1
        elif field and field[1] in ("kcl_entries", "kcl_vectors", "kcl_call", "kcl_result", "kcl_progress"):
            assert ffi.offsetof(field[1], field[2]) == int(field[3]), line
            found += 1
    assert found > 40


def test_errors_have_status_and_class():
    with pytest.raises(krylocl.DeviceError, match="nosuch") as e:
        krylocl.Context("nosuch device")
    assert e.value.status == 4
    with pytest.raises(krylocl.UsageError, match="did you mean gmres"):
        krylocl.Solver([[1.0]], solver="gmress", device="cpu")
    with pytest.raises(ValueError, match="tol"):
        krylocl.Solver([[1.0]], tol=-1, device="cpu")
    with pytest.raises(krylocl.InputError, match="cannot open"):
        krylocl.read("/nosuch.mtx")


def test_names():
    assert "cg" in krylocl.names("solver") and "poisson2d" in krylocl.names("generator")
    assert krylocl.describe_name("solver", "cg") and krylocl.names("nosuch") == []


def test_another_version_is_refused(tmp_path):
    import krylocl._library as library
    package = tmp_path / "krylocl"
    shutil.copytree(Path(krylocl.__file__).parent, package, ignore=shutil.ignore_patterns("*.so"))
    shutil.copytree(library._folders()[0], package / "include", dirs_exist_ok=True)
    header = package / "include" / "krylocl.h"
    header.write_text(re.sub(r'KCL_VERSION ".*"', 'KCL_VERSION "9.9.9"', header.read_text()))
    done = subprocess.run([sys.executable, "-c", "import krylocl"], capture_output=True, text=True,
                          env={"KRYLOCL_LIBRARY": library.path, "PYTHONPATH": str(tmp_path)})
    assert done.returncode == 1 and "9.9.9" in done.stderr and "ImportError" in done.stderr


def test_declarations_written_ahead_are_those_of_the_headers(tmp_path):
    """A wheel has the module: it is imported in place of the headers, without cffi's parser."""
    import krylocl._library as library
    from krylocl._headers import write_declarations
    package = tmp_path / "krylocl"
    shutil.copytree(Path(krylocl.__file__).parent, package, ignore=shutil.ignore_patterns("*.so"))
    shutil.copytree(library._folders()[0], package / "include", dirs_exist_ok=True)
    write_declarations(package / "include", package / "_declarations.py")
    code = ("import sys, krylocl; from krylocl._library import ffi; print(krylocl.solve([[2.0]], [1.0], device='cpu'));"
            "assert 'pycparser' not in sys.modules and ffi.sizeof('kcl_result') == " + str(ffi.sizeof("kcl_result")))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          env={"KRYLOCL_LIBRARY": library.path, "PYTHONPATH": str(tmp_path)})
    assert done.stdout == "[0.5]\n", done.stderr


def test_default_context_belongs_to_the_thread():
    import threading
    seen = []
    threads = [threading.Thread(target=lambda: seen.append(krylocl.Context.default("cpu"))) for _ in range(2)]
    for t in threads:
        t.start()
        t.join()
    assert krylocl.Context.default("cpu") is krylocl.Context.default("cpu")
    assert len({id(c) for c in seen}) == 2 and krylocl.Context.default("cpu") not in seen
