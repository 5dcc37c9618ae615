#!/bin/sh
# In a bare Debian, as root: the wheel of krylocl in this folder is installed for an interpreter and used. Without an OpenCL loader,
# on a processor without AVX2, with PoCL; its tests, types and examples. Then the source distribution is built without a network.
# No test is skipped but, where there is no loader, for want of an OpenCL device. The results: lines of the file "results".
# usage: packaging/try_wheel.sh PYTHON
# shellcheck disable=SC1091 # a file of the system
set -eux
export DEBIAN_FRONTEND=noninteractive PYTHONDONTWRITEBYTECODE=1
get() { apt-get install -y -qq --no-install-recommends "$@" >log 2>&1 || { cat log && exit 1; }; }
apt-get update -qq
command -v "$1" || get python3 python3-venv
"$1" -m venv /venv
PATH=/venv/bin:$PATH
pip install -q krylocl-*.whl
tar xf krylocl-*.tar.gz
tests=$PWD/$(echo krylocl-*/tests)

cat >use.py <<'PYTHON'
from typing import Any

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import cg

import krylocl


def use(A: Any, b: Any) -> krylocl.Report:
    """A solution and its certificate; M of ours in scipy's cg."""
    s = krylocl.Solver(A, tol=1e-10)
    x = s.solve(b)
    residual = float(np.linalg.norm(b - A @ x) / np.linalg.norm(b))
    assert s.report.converged and residual <= 1.01e-10 and abs(s.report.true_relative_residual - residual) <= 1e-15
    y, info = cg(A, b, rtol=1e-10, M=krylocl.Preconditioner(A, "amg"))
    assert info == 0 and np.allclose(x, y)
    return s.report


n = 2500
A = scipy.sparse.diags_array([-1.0, 2.01, -1.0], offsets=[-1, 0, 1], shape=(n, n), format="csr")
report = use(A, np.ones(n))
print(krylocl.__version__, [d.name for d in krylocl.devices()], report.backward_error)
PYTHON
python use.py
python -c 'import krylocl; assert [d.kind for d in krylocl.devices()] == ["native"]'
grep -qw avx2 /proc/cpuinfo && python -c 'import krylocl._library as k; print(k.path); assert k.path.endswith("/krylocl/libkrylocl-v3.so")'
sed s/avx2//g /proc/cpuinfo >cpuinfo
mount --bind cpuinfo /proc/cpuinfo
python -c 'import krylocl._library as k; print(k.path); assert k.path.endswith("/krylocl/libkrylocl-v2.so")'
python use.py
umount /proc/cpuinfo

pip install -q pytest hypothesis mypy auditwheel
pip install -q --only-binary :all: pyamg pyopencl matplotlib
tag=$(echo krylocl-*.whl | sed 's/.*-\(manylinux.*\)\.whl/\1/')
auditwheel show krylocl-*.whl | tee log
grep -F "\"$tag\"" log
[ "$(python -m zipfile -l krylocl-*.whl | grep -c '\.so')" -eq 2 ]
mypy --strict --ignore-missing-imports use.py
mypy --strict --ignore-missing-imports -p krylocl
if mypy --strict -c 'import krylocl; krylocl.devices(1)'; then exit 1; fi

run_tests() { # WHAT ARGUMENT...: of pytest; its last line is a result
  what=$1
  shift
  python -m pytest -v -rs -p no:cacheprovider "$@" >log 2>&1 || { cat log && exit 1; }
  cat log
  echo "  $what: $(tail -n 1 log | tr -d =)" >>results
}
{
  echo "$(python --version) on $(. /etc/os-release && echo "$PRETTY_NAME"), wheel $tag"
  echo "  $(pip list --format=freeze | grep -E '^(numpy|scipy|cffi|pyamg|pyopencl|mypy|pip)==' | tr '\n' ' ')"
} >results
run_tests "without an OpenCL loader" "$tests"
if grep '^SKIPPED' log | grep -v -e ': no OpenCL device$' -e PLATFORM_NOT_FOUND; then exit 1; fi
get ocl-icd-libopencl1 pocl-opencl-icd
python -c 'import krylocl; assert "native" not in krylocl.Context("opencl").kind'
python use.py
run_tests "with PoCL" "$tests"
if grep '^SKIPPED' log; then exit 1; fi
for name in test_matrices_of_scipy test_hierarchy_of_pyamg_as_M test_preconditioners test_arrays_of_pyopencl test_threads_share_a_solver \
  test_interrupt_of_a_matrix_with_entries test_child_process_solves test_objects_are_freed; do
  grep -E "::$name(\[.*opencl.*\])? +PASSED" log
done
run_tests "doctests" --doctest-modules --pyargs krylocl
run_tests "docs/python.md" --doctest-glob='*.md' python.md
KRYLOCL_DEVICE=cpu python "$tests/scipy_suite.py" >log 2>&1 || { cat log && exit 1; }
echo "  scipy's own tests: $(tail -n 1 log)" >>results

get gcc libc6-dev make
pip uninstall -q -y krylocl
pip install -q hatchling
unshare --net pip install -q --no-build-isolation --no-index krylocl-*.tar.gz
python use.py
python -c 'import krylocl; assert "native" not in krylocl.Context("opencl").kind'
echo "  source distribution: built without a network, used with PoCL" >>results
