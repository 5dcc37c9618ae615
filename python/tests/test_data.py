"""Files, statistics, measurements, arrays of pyopencl."""
import numpy as np
import pytest

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


def test_info_and_devices(system):
    A, _, _ = system
    about = krylocl.info(A)
    assert about["nnz"] == A.nnz and about["rows"] == A.shape[0] and about["hermitian"] == 1
    assert krylocl.devices()[0].number == "cpu"


def test_bench(system):
    A, _, _ = system
    rows = krylocl.bench(A, ["ell", "csr-scalar"], seconds=0.05, solver="cg")
    assert [r.format for r in rows] == ["ell", "csr-scalar"]
    assert all(r.seconds_product > 0 and r.bytes_iteration > r.bytes_product > 0 for r in rows)


def test_arrays_of_pyopencl(system):
    cl = pytest.importorskip("pyopencl")
    import pyopencl.array as cla
    A, b, x = system
    try:
        devices = [d for p in cl.get_platforms() for d in p.get_devices()]
    except cl.LogicError as e:
        pytest.skip(str(e))
    queue = cl.CommandQueue(cl.Context(devices[:1]))
    context = krylocl.Context.from_pyopencl(queue)
    s = krylocl.Solver(A, "jacobi", "cg", tol=1e-10, context=context)
    given = cla.to_device(queue, np.r_[np.zeros(3), b])[3:]  # with an offset
    y = s.solve(given)
    assert isinstance(y, cla.Array) and s.report.converged
    assert np.linalg.norm(y.get() - x) < 1e-7 * np.linalg.norm(x)
    assert np.linalg.norm(s.matrix.apply(y).get() - b) < 1e-9 * np.linalg.norm(b)
    with pytest.raises(ValueError, match="same side"):
        s.solve(given, out=np.empty_like(b))
