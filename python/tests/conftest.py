"""Systems for the tests, and the devices that they run on: the native executor, and the first OpenCL device if there is one."""
from __future__ import annotations

import numpy as np
import pytest

import krylocl

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
