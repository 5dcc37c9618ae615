"""Systems for the tests, and the devices that they run on: the native executor, and the first OpenCL device if there is one."""
from __future__ import annotations

import signal

import numpy as np
import pytest
import scipy.sparse as sp

import krylocl

# Jobs that a shell started in the background ignore Ctrl-C, and so would the processes of the tests.
signal.signal(signal.SIGINT, signal.default_int_handler)

OPENCL = any(d.kind != "native" for d in krylocl.devices())


@pytest.fixture(params=["cpu", pytest.param("opencl", marks=pytest.mark.skipif(not OPENCL, reason="no OpenCL device"))])
def device(request):
    return request.param


@pytest.fixture
def system():
    """A, b and the x that b was made from."""
    A, _ = krylocl.generate("poisson2d:12")
    x = np.random.default_rng(1).standard_normal(A.shape[0])
    return A, A @ x, x


def chain(n):
    """A system on which cg takes n / 2 iterations: with large n a solve lasts for minutes on any processor."""
    return sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n), format="csr"), np.ones(n)
