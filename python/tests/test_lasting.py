"""Other people's objects in and out, and what a long-lived program needs: fork, no growth, a page of a notebook."""
import os
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import krylocl

NEAR = 1e-7


def relative(x, y):
    return np.linalg.norm(x - y) / np.linalg.norm(y)


def test_hierarchy_of_pyamg_as_M():
    pyamg = pytest.importorskip("pyamg")
    A, b = krylocl.generate("poisson2d:40")
    M = pyamg.smoothed_aggregation_solver(A).aspreconditioner()
    seen, plain = [], []
    x, info = krylocl.linalg.cg(A, b, rtol=1e-9, M=M, callback=seen.append)
    krylocl.linalg.cg(A, b, rtol=1e-9, callback=plain.append)
    assert info == 0 and relative(A @ x, b) < 1e-9 and 2 * len(seen) < len(plain)


class OnlyDLPack:
    """An array of another library that shares its memory by DLPack alone."""

    def __init__(self, a):
        self._a = a

    def __dlpack__(self, **options):
        return self._a.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._a.__dlpack_device__()


def test_dlpack(system):
    A, b, x = system
    s = krylocl.Solver(A, tol=1e-10, device="cpu")
    y = s.solve(OnlyDLPack(b))
    assert relative(y, x) < NEAR
    assert np.shares_memory(np.from_dlpack(y), y)
    out = np.zeros_like(b)
    given = OnlyDLPack(out)
    assert s.solve(b, OnlyDLPack(x), out=given) is given and relative(out, x) < NEAR and s.report.iterations == 0
    assert s.matrix.apply(OnlyDLPack(x), out=given) is given and relative(out, b) < NEAR
    assert relative(krylocl.linalg.cg(A, OnlyDLPack(b), OnlyDLPack(x))[0], x) < NEAR
    assert relative(krylocl.Matrix(OnlyDLPack(A.toarray()), device="cpu") @ x, b) < NEAR


def test_dlpack_without_a_copy(system):
    """The library reads and writes the memory that is shared."""
    from krylocl._arrays import Vectors, as_array, as_output
    from krylocl._library import ffi
    b = system[1]
    address = b.ctypes.data
    for array in (as_array(OnlyDLPack(b), b.dtype, "b"), as_output(OnlyDLPack(b))):
        assert int(ffi.cast("uintptr_t", Vectors(array, name="b").struct.data)) == address


def test_outputs_that_cannot_be_written(system):
    A, b, _ = system
    s = krylocl.Solver(A, device="cpu")
    out = np.zeros_like(b)
    out.flags.writeable = False
    for use in (lambda o: s.solve(b, out=o), lambda o: s.matrix.apply(b, out=o)):
        with pytest.raises(ValueError, match="read-only"):
            use(out)
        with pytest.raises(TypeError, match="list"):
            use([0.0] * len(b))
    with pytest.raises(TypeError, match="float32"):
        s.matrix.apply(b, out=np.zeros(len(b), "f4"))
    assert not out.any()


def memory():
    """Bytes of this process in memory."""
    with open("/proc/self/statm", encoding="ascii") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc/self/statm is needed")
def test_objects_are_freed(device):
    """10,000 matrices and solvers, each a few kilobytes: a leak of one part of them would be 10 MB or more."""
    A, b = krylocl.generate("poisson2d:5")

    def use(times):
        for _ in range(times):
            s = krylocl.Solver(A, "jacobi", "cg", format="csr-scalar", device=device)
            s.solve(b)
            krylocl.linalg.cg(A, b)
            with pytest.raises(krylocl.UsageError):
                krylocl.linalg.cg(A, b, M="nosuch")
    use(1000)
    before = memory()
    use(10000)
    assert memory() - before < 4 << 20


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_child_process_solves(system, device):
    """A child of fork makes a context of its own. OpenCL that its parent has used it does not use: drivers would hang."""
    A, b, x = system
    s = krylocl.Solver(A, tol=1e-10, device=device)
    assert relative(s.solve(b), x) < NEAR
    child = os.fork()
    if child == 0:
        good = False
        try:
            good = relative(krylocl.Solver(A, tol=1e-10, device="cpu").solve(b), x) < NEAR
            if device == "opencl":
                for use in (lambda: s.solve(b), lambda: krylocl.Solver(A, device=device)):
                    with pytest.raises(krylocl.DeviceError, match="fork"):
                        use()
                del s
        finally:
            os._exit(0 if good else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_report_in_a_notebook(system):
    A, b, _ = system
    s = krylocl.Solver(A, "none", "cg", device="cpu")
    s.solve(b)
    page = ElementTree.fromstring(s.report._repr_html_())
    points = page.find(".//{*}polyline").get("points").split()
    heights = [float(p.split(",")[1]) for p in points]
    assert len(points) == s.report.iterations + 1 and heights[-1] == max(heights) and heights[0] < heights[-1]
    assert "converged" in "".join(page.itertext())
    s.solve(0 * b)
    ElementTree.fromstring(s.report._repr_html_())
