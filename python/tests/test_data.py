"""Files, statistics, measurements, arrays of pyopencl."""
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator

import krylocl


def test_files(tmp_path, system):
    A, b, _ = system
    for ending in ("mtx", "rb", "kcl", "mtx.gz"):
        krylocl.write(tmp_path / f"A.{ending}", A)
        B = krylocl.read(tmp_path / f"A.{ending}").A
        assert (A != B).nnz == 0
    for v in (b, np.column_stack([b, -b]), b + 1j):
        krylocl.write(tmp_path / "b.mtx", v)
        assert np.array_equal(krylocl.read_vectors(tmp_path / "b.mtx"), v)


def test_paths_with_a_NUL_byte(tmp_path, system):
    """C's texts end at a NUL: without a check the file before it would be read or written."""
    A, b, _ = system
    s = krylocl.Solver(A, device="cpu")
    krylocl.write(tmp_path / "A.mtx", A)
    krylocl.write(tmp_path / "b.mtx", b)
    before = sorted(tmp_path.iterdir())
    for use, name in ((krylocl.read, "A.mtx"), (krylocl.read_vectors, "b.mtx"), (lambda p: krylocl.write(p, A), "B.mtx"),
                      (lambda p: krylocl.write(p, b), "c.mtx"), (s.checkpoint, "x.kck"), (s.resume, "x.kck")):
        for ending in ("\0", "\0.gz"):
            for path in (f"{tmp_path}/{name}{ending}", tmp_path / (name + ending)):
                with pytest.raises(ValueError, match="NUL byte") as e:
                    use(path)
                assert name in str(e.value)
    assert sorted(tmp_path.iterdir()) == before


def test_info_and_devices(system):
    A, _, _ = system
    about = krylocl.info(A)
    assert about["nnz"] == A.nnz and about["rows"] == A.shape[0] and about["hermitian"] == 1
    assert krylocl.devices()[0].number == "cpu"


def test_bench(system):
    A, _, _ = system
    rows = krylocl.bench(A, ["ell", "csr-image", "csr-scalar"], seconds=0.05, solver="cg", context=krylocl.Context("cpu"))
    assert [r.format for r in rows] == ["ell", "csr-image", "csr-scalar"]
    for r in (rows[0], rows[2]):
        assert r.bytes_iteration > r.bytes_product > 0
        assert 0 < r.interval_product[0] <= r.seconds_product <= r.interval_product[1]
        assert 0 < r.interval_iteration[0] <= r.seconds_iteration <= r.interval_iteration[1]
    assert [r.format for r in krylocl.bench(A, "coo", seconds=0.05)] == ["coo"]
    for use in (krylocl.bench, lambda f: krylocl.write("f.mtx", krylocl.Matrix(f))):
        with pytest.raises(krylocl.UsageError, match="function"):
            use(aslinearoperator(A))
    assert not rows[1].timed and "image" in rows[1].reason and rows.ranking() == sorted(
        (rows[0], rows[2]), key=lambda m: m.seconds_iteration)


@pytest.fixture
def measured():
    """Rows as if they had been measured."""
    row = krylocl.Measurement("slow", 1e-4, 4e-3, 1e6, 2e6, 5e5, "", (0.9e-4, 1.1e-4), (3e-3, 5e-3))
    other = krylocl.Measurement("fast", 1e-4, 2e-4, 1e6, 2e6, 5e5, "", (1e-4, 1e-4), (2e-4, 2e-4))
    return krylocl.Bench([row, krylocl.Measurement("other", reason="it is <refused>"), other], "100 x 100", 2e10)


def test_report_of_a_bench(measured):
    fast, slow, other = measured.report().splitlines()[-3:]
    assert fast.split() == ["fast", "200", "us", "±0%", "10.0", "100", "us", "±0%", "10.0", "50%", "0.50"]
    assert slow.split()[:4] == ["slow", "4.00", "ms", "±25%"] and other.split(maxsplit=1) == ["other", "it is <refused>"]


def test_picture_of_a_bench(measured, tmp_path):
    """Bars as long as the times, the fastest on top; the slowest is 300 wide."""
    measured.plot().save(tmp_path / "bench.svg")
    page = ElementTree.fromstring((tmp_path / "bench.svg").read_text())
    assert [float(r.get("width")) for r in page.iterfind("{*}rect")] == [15, 7.5, 300, 7.5]
    assert [t.text for t in page.iterfind("{*}text")] == ["fast", "200 us", "slow", "4.00 ms"]
    assert "&lt;refused&gt;" in measured._repr_html_()
    ElementTree.fromstring(measured._repr_html_())
    ElementTree.fromstring(krylocl.Bench([], "", 1).plot().svg)


def test_bench_on_axes_of_matplotlib(measured):
    pyplot = pytest.importorskip("matplotlib.figure")
    ax = measured.plot(pyplot.Figure().subplots())
    assert [p.get_width() for p in ax.patches] == [2e-4, 4e-3, 1e-4, 1e-4]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["fast", "slow"] and ax.yaxis_inverted()


def test_interrupt_of_a_bench():
    code = """
import os, signal, threading, krylocl
A, _ = krylocl.generate("poisson2d:20")
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    krylocl.bench(A, ["csr-scalar"] * 1000, seconds=1, solver="cg")
except KeyboardInterrupt:
    print("interrupted")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "interrupted\n", done.stderr


def test_arrays_of_pyopencl(system):
    cl = pytest.importorskip("pyopencl")
    import pyopencl.array as cla
    from krylocl._arrays import Vectors
    from krylocl._library import ffi
    A, b, x = system
    try:
        devices = [d for p in cl.get_platforms() for d in p.get_devices()]
    except cl.LogicError as e:
        pytest.skip(str(e))
    queue = cl.CommandQueue(cl.Context(devices[:1]))
    context = krylocl.Context.from_pyopencl(queue)
    s = krylocl.Solver(A, "jacobi", "cg", tol=1e-10, context=context)
    given = cla.to_device(queue, np.r_[np.zeros(3), b])[3:]  # with an offset
    used = Vectors(given, name="b").struct
    assert int(ffi.cast("uintptr_t", used.data)) == given.base_data.int_ptr and used.offset == 3
    out = cla.zeros(queue, len(b), b.dtype)
    assert s.solve(given, out=out) is out and np.linalg.norm(out.get() - x) < 1e-7 * np.linalg.norm(x)
    y = s.solve(given)
    assert isinstance(y, cla.Array) and s.report.converged
    assert np.linalg.norm(y.get() - x) < 1e-7 * np.linalg.norm(x)
    assert np.linalg.norm(s.matrix.apply(y).get() - b) < 1e-9 * np.linalg.norm(b)
    with pytest.raises(ValueError, match="same side"):
        s.solve(given, out=np.empty_like(b))
