"""Reports of solves."""
from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._library import check, ffi, lib, string


class NotConvergedWarning(RuntimeWarning):
    """A solve ended before it met its tolerance; the report says why."""


class NotConverged(RuntimeError):
    """A solve ended before it met its tolerance: ``x`` and ``report`` are what it came to."""

    def __init__(self, text: str, x: Any, report: Report):
        super().__init__(text)
        self.x, self.report = x, report


@dataclass(frozen=True)
class Progress:
    """A running solve, as its callback sees it. x: a copy, where the callback is called with ``every``."""

    iteration: int
    max_iter: int
    relative_residual: float
    target: float
    seconds: float
    running: int
    x: Any = None


@dataclass(frozen=True)
class Report:
    """The result of a solve for one right-hand side. Numbers that are not known are nan.

    ``numbers`` has all that the library knows of this column, ``setup`` of the set-up, by the names of the C interface.
    """

    converged: bool
    reason: str
    iterations: int
    relative_residual: float  # by the recurrence
    true_relative_residual: float  # |b - A x| / |b|, recomputed on the host
    backward_error: float
    condition_estimate: float
    seconds: float
    solver: str
    precond: str
    format: str
    changes: str
    history: NDArray[np.float64] = field(repr=False)
    numbers: dict[str, Any] = field(repr=False)
    setup: dict[str, Any] = field(repr=False)

    def _repr_html_(self) -> str:
        """Notebooks show the numbers beside the residual norm by iteration, on a logarithmic axis."""
        rows = (("reason", self.reason), ("iterations", self.iterations), ("|b - A x| / |b|", f"{self.true_relative_residual:.3g}"),
                ("backward error", f"{self.backward_error:.3g}"), ("seconds", f"{self.seconds:.3g}"),
                ("method", f"{self.solver}, {self.precond}"), ("format", self.format))
        cells = "".join(f"<tr><th>{escape(name)}</th><td>{escape(str(value))}</td></tr>" for name, value in rows)
        return f'<div style="display: flex; gap: 2em"><table>{cells}</table>{_plot(self.history)}</div>'


def _plot(history: NDArray[np.float64]) -> str:
    """The history as a picture of SVG: a line, and the first and last value as text."""
    norms = history[history > 0]
    if len(norms) < 2:
        return ""
    x = np.linspace(10, 310, len(norms))
    logs = np.log10(norms)
    y = 20 + 120 * (logs.max() - logs) / max(float(np.ptp(logs)), 1e-3)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y))
    return ('<svg xmlns="http://www.w3.org/2000/svg" width="320" height="160" role="img" fill="currentColor" font-size="11">'
            "<title>residual norm by iteration, logarithmic</title>"
            f'<polyline points="{points}" fill="none" stroke="currentColor"/>'
            f'<text x="10" y="12">{norms[0]:.1e}</text><text x="310" y="155" text-anchor="end">{norms[-1]:.1e}</text></svg>')


def _number(v: Any) -> float:
    """-1 and null of the library stand for numbers that are not known."""
    return math.nan if v is None or v == -1 else float(v)


def _make_report(column: dict[str, Any], setup: dict[str, Any]) -> Report:
    history = np.array([math.nan if v is None else v for v in column.pop("history")], np.float64)
    seconds = sum(_number(column[f"seconds_{part}"]) for part in ("upload", "solve", "download", "certify"))
    return Report(converged=column["converged"], reason=column["reason_text"], iterations=int(column["iterations"]),
                  relative_residual=_number(column["relative_residual"]),
                  true_relative_residual=_number(column["true_relative_residual"]),
                  backward_error=_number(column["backward_error"]),
                  condition_estimate=_number(column["condition_estimate"] or None), seconds=seconds,
                  solver=setup["solver"], precond=setup["precond"], format=setup["format"],
                  changes=column["changes"], history=history, numbers=column, setup=setup)


def describe(solver: Any) -> dict[str, Any]:
    """kcl_solver_describe of a handle."""
    out = ffi.new("char **")
    check(lib.kcl_solver_describe(solver, out))
    try:
        text: dict[str, Any] = json.loads(string(out[0]))
    finally:
        lib.kcl_free(out[0])
    return text


def read_reports(solver: Any) -> list[Report]:
    """The reports of a handle's last solve, one per column."""
    about = describe(solver)
    return [_make_report(column, about["setup"]) for column in about["columns"]]


def explain(solver: Any) -> str:
    """The choices of a set-up and the stages of an iteration, as text."""
    about = describe(solver)
    s = about["setup"]
    lines = [f"device   {about['device']}",
             f"method   {s['solver']}, preconditioner {s['precond']}: {s.get('solver_reason', '')}".rstrip(": "),
             f"format   {s['format']}, {s['bytes_stored']:.0f} bytes: {s['format_reason']}".rstrip(": ")]
    stage = ffi.new("kcl_stage_info *")
    phase = ""
    for i in range(lib.kcl_stage_count(solver)):
        lib.kcl_solver_stage(solver, i, stage)
        if string(stage.phase) != phase:
            phase = string(stage.phase)
            lines.append(phase)
        first, *rest = string(stage.operations).split("; ")
        lines.append(f"  {i + 1:3d}  {first:44s} {stage.bytes:12.0f} bytes")
        lines += [f"       {line}" for line in rest]
    return "\n".join(lines)
