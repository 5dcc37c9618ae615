"""scipy's own tests of its iterative methods (test_iterative.py and test_minres.py of the scipy that is installed), with krylocl's functions in place.

usage: python python/tests/scipy_suite.py [arguments of pytest]
Its last line is "N passed, N failed, N skipped"; a test in EXCEPTIONS has to fail, and counts as skipped with its reason.
"""
from __future__ import annotations

import re
import sys
from typing import Any

import pytest
import scipy._lib._array_api
import scipy.sparse.linalg
from scipy.sparse.linalg import _isolve

import krylocl

METHODS = ("bicg", "bicgstab", "cg", "cgs", "gmres", "minres")
OTHERS = ("gcrotmk", "lgmres", "qmr", "tfqmr")

# A test -> why krylocl differs, on purpose.
EXCEPTIONS = {
    "test_precond_inverse": "the residual is recomputed from b - A x before convergence is reported: one product more",
    "test_singular": "A is not symmetric: minres refuses it",
    "TestGMRES::test_callback": "residuals of the callback are the true ones: M is applied from the right, in scipy from the left",
    "TestGMRES::test_defective_precond_breakdown": "M is singular: applied from the right it breaks down at once, and x is 0",
}


class Counts:
    """Counts of a run; a failure that is expected is a skip."""

    def __init__(self) -> None:
        self.passed, self.failed, self.skipped = 0, [], []  # type: ignore[var-annotated]
        self.excepted: set[str] = set()
        self.as_scipy: set[str] = set()  # in the list of exceptions, and passed

    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
        """Without the tests of methods that are scipy's here, too."""
        others = [item for item in items if any(re.search(rf"[\[-]{name}\b", item.name) for name in OTHERS)]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if item not in set(others)]

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when != "call" and not report.failed and not report.skipped:
            return
        name = report.nodeid.split("::", 1)[-1]
        why = EXCEPTIONS.get(name.split("[")[0])
        if report.skipped:
            self.skipped.append(name)
        elif report.failed and why:
            self.excepted.add(name)
        elif report.failed:
            self.failed.append(name)
        elif why:
            self.as_scipy.add(name)
        else:
            self.passed += 1


    def settle(self) -> None:
        """An exception is one while it fails with any parameter."""
        needed = {name.split("[")[0] for name in self.excepted}
        for name in sorted(self.as_scipy):
            if name.split("[")[0] in needed:
                self.passed += 1
            else:
                self.failed.append(f"{name}: is in the list of exceptions and passes")


def replace_function(name: str) -> None:
    """Puts ours in scipy's place; and into its table of functions by array library, where it has one (from 1.18 on)."""
    theirs, ours = getattr(scipy.sparse.linalg, name), getattr(krylocl.linalg, name)
    table = getattr(scipy._lib._array_api, "xp_capabilities_table", {})
    if theirs in table:
        table[ours] = table[theirs]
    setattr(scipy.sparse.linalg, name, ours)
    setattr(_isolve, name, ours)


def main(arguments: list[str]) -> int:
    for name in METHODS:
        replace_function(name)
    counts = Counts()
    pytest.main(["--pyargs", "scipy.sparse.linalg._isolve.tests.test_iterative",
                 "scipy.sparse.linalg._isolve.tests.test_minres", "-q", "-p", "no:cacheprovider", "--no-header",
                 "--tb=short", "-o", "addopts=", *arguments], plugins=[counts])
    counts.settle()
    for name in counts.failed:
        print("FAIL", name)
    for name in sorted(counts.excepted):
        print(f"skipped: {name}: {EXCEPTIONS[name.split('[')[0]]}")
    print(f"{counts.passed} passed, {len(counts.failed)} failed, {len(counts.excepted) + len(counts.skipped)} skipped")
    return bool(counts.failed) or not counts.passed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
