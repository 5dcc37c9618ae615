"""krylocl: Krylov methods on OpenCL. Solves A x = b for sparse A on any OpenCL device or on the CPU, and reports how good x is.

    x = krylocl.solve(A, b)                                    # chooses method, preconditioner and format
    s = krylocl.Solver(A, precond="amg"); x = s.solve(b)       # set up once, solve often
    x, info = krylocl.linalg.cg(A, b)                          # scipy's names and arguments
"""
from . import linalg
from ._library import (BusyError, ChangedError, DeviceError, Error, InputError, OutOfMemory, RefusedError, UsageError,
                       describe_name, names)
from ._library import version as __version__
from .context import Context
from .data import Device, System, devices, generate, info, read, read_vectors, write
from .matrix import Matrix
from .measure import Bench, Measurement, Picture, bench
from .precond import Preconditioner
from .report import NotConverged, NotConvergedWarning, Progress, Report
from .solver import Solver, solve

__all__ = ["Bench", "BusyError", "ChangedError", "Context", "Device", "DeviceError", "Error", "InputError", "Matrix", "Measurement",
           "NotConverged", "NotConvergedWarning", "OutOfMemory", "Picture", "Preconditioner", "Progress", "RefusedError", "Report", "Solver",
           "System", "UsageError", "__version__", "bench", "describe_name", "devices", "generate", "info", "linalg", "names",
           "read", "read_vectors", "solve", "write"]
