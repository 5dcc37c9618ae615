"""Measurements of storage formats: times with their intervals, as text and as a picture."""
from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

from ._arrays import LETTERS
from ._library import check, ffi, keep_exception, lib, make_options, names, string
from .context import Context
from .matrix import Matrix, as_matrix

NAN = math.nan


@dataclass(frozen=True)
class Measurement:
    """A format: medians of the seconds of a product y = A x and of an iteration, with intervals that contain the true medians with at
    least 95 % probability (of 6 samples or more), and their bytes. nan: it was not timed, for ``reason``."""

    format: str
    seconds_product: float = NAN
    seconds_iteration: float = NAN
    bytes_product: float = NAN
    bytes_iteration: float = NAN
    bytes_stored: float = NAN
    reason: str = ""
    interval_product: tuple[float, float] = (NAN, NAN)
    interval_iteration: tuple[float, float] = (NAN, NAN)

    @property
    def timed(self) -> bool:
        """Were products and iterations timed?"""
        return not math.isnan(self.seconds_product + self.seconds_iteration)


class Picture:
    """A picture in SVG, which notebooks show."""

    def __init__(self, svg: str):
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | PathLike[str]) -> None:
        """Writes it to a file."""
        Path(path).write_text(self.svg, encoding="utf-8")


class Bench(list[Measurement]):
    """The measurements of a matrix, in the order of the formats. ``about`` is the matrix and the device, as text; ``stream_rate`` the
    bytes per second of z = a x + y on the device."""

    def __init__(self, rows: Iterable[Measurement], about: str, stream_rate: float):
        super().__init__(rows)
        self.about, self.stream_rate = about, stream_rate

    def ranking(self) -> list[Measurement]:
        """Those that were timed, the fastest iteration first."""
        return sorted((m for m in self if m.timed), key=lambda m: m.seconds_iteration)

    def report(self) -> str:
        """A table, the fastest iteration first: median times with half the width of their intervals, rates, and the rates relative to
        the stream rate; then what was not timed, and why."""
        lines = [self.about, f"stream rate {self.stream_rate / 1e9:.1f} GB/s", "",
                 f"{'format':14s} {'iteration':>10s} {'':>6s} {'GB/s':>6s} {'product':>10s} {'':>6s} {'GB/s':>6s} {'of stream':>9s} {'MB':>9s}"]
        for m in self.ranking():
            rates = m.bytes_iteration / m.seconds_iteration, m.bytes_product / m.seconds_product
            lines.append(f"{m.format:14s} {_time(m.seconds_iteration):>10s} {_spread(m.seconds_iteration, m.interval_iteration):>6s} "
                         f"{rates[0] / 1e9:6.1f} {_time(m.seconds_product):>10s} {_spread(m.seconds_product, m.interval_product):>6s} "
                         f"{rates[1] / 1e9:6.1f} {rates[1] / self.stream_rate:9.0%} {m.bytes_stored / 1e6:9.2f}")
        return "\n".join(lines + [f"{m.format:14s} {m.reason}" for m in self if not m.timed])

    def plot(self, ax: Any = None) -> Any:
        """Bars of the time of an iteration, and in them of its product, the fastest format on top.

        A Picture; or drawn onto ``ax``, Axes of matplotlib, which is returned.
        """
        rows = self.ranking()
        if ax is None:
            return Picture(_draw_bars(rows))
        for seconds, label, alpha in (([m.seconds_iteration for m in rows], "iteration", 0.4),
                                      ([m.seconds_product for m in rows], "product", 1.0)):
            ax.barh([m.format for m in rows], seconds, color="C0", alpha=alpha, label=label)
        ax.invert_yaxis()
        ax.set_xlabel("seconds")
        ax.legend()
        return ax

    def _repr_html_(self) -> str:
        return f"<div><pre>{escape(self.report())}</pre>{_draw_bars(self.ranking())}</div>"


def _time(seconds: float) -> str:
    """With three digits and a unit."""
    unit, name = next((u for u in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")) if seconds >= u[0]), (1e-9, "ns"))
    return f"{seconds / unit:#.3g}".rstrip(".") + f" {name}"


def _spread(median: float, interval: tuple[float, float]) -> str:
    return f"±{(interval[1] - interval[0]) / 2 / median:.0%}"


def _draw_bars(rows: list[Measurement]) -> str:
    """A bar per row, 300 wide for the slowest: the iteration pale, the product dark."""
    scale = 300 / max([m.seconds_iteration for m in rows], default=1)
    parts = []
    for i, m in enumerate(rows):
        y = 8 + 18 * i
        whole, product = m.seconds_iteration * scale, min(m.seconds_product, m.seconds_iteration) * scale
        parts.append(f'<text x="110" y="{y + 11}" text-anchor="end">{escape(m.format)}</text>'
                     f'<rect x="116" y="{y}" width="{whole:.1f}" height="14" opacity="0.4"/>'
                     f'<rect x="116" y="{y}" width="{product:.1f}" height="14"/>'
                     f'<text x="{120 + whole:.1f}" y="{y + 11}">{_time(m.seconds_iteration)}</text>')
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="500" height="{18 * len(rows) + 12}" role="img" fill="currentColor" '
            'font-family="sans-serif" font-size="11"><title>time of an iteration, and dark of its product, by format</title>'
            f'{"".join(parts)}</svg>')


@ffi.callback("int(void *)", error=1, onerror=keep_exception)  # type: ignore[untyped-decorator]
def call_stop(user: Any) -> int:
    """Python handles its signals while this runs: Ctrl-C ends a measurement."""
    return 0


def _summary(s: Any) -> tuple[float, tuple[float, float]]:
    """The median of kcl_samples and its interval."""
    if not s.count:
        return NAN, (NAN, NAN)
    out = ffi.new("kcl_summary *")
    check(lib.kcl_summarise(s.seconds, s.count, out))
    return out.median, (out.low, out.high)


def _read_row(name: str, row: Any) -> Measurement:
    if not row.validated:
        return Measurement(name, reason="its product is wrong on this device")
    product, around_product = _summary(row.product)
    iteration, around_iteration = _summary(row.iteration)
    return Measurement(name, product, iteration, row.bytes_product, row.bytes_iteration, row.bytes_stored, "",
                       around_product, around_iteration)


def _measure(matrix: Matrix, name: str, options: dict[str, Any], plan: Any) -> Measurement:
    row = ffi.new("kcl_bench_row *")
    o = make_options({"precision": LETTERS[matrix.dtype], **options, "format": name})
    status = lib.kcl_bench_method(matrix.context.handle, matrix.entries(), o, plan, row)
    if status == lib.KCL_REFUSED:
        return Measurement(name, reason=string(lib.kcl_error()))
    try:
        check(status)
        return _read_row(name, row)
    finally:
        lib.kcl_bench_free(row)


def bench(A: Any, formats: str | list[str] | None = None, *, seconds: float = 1, context: Context | None = None,
          **options: Any) -> Bench:
    """Times products and iterations in these storage formats, or one, or all, for so many seconds each; every product is validated first.

    options: as of a Solver, such as solver="cg". ``krylocl.names("format")`` lists the formats.

    >>> import krylocl
    >>> A, b = krylocl.generate("poisson2d:30")
    >>> rows = krylocl.bench(A, ["ell", "csr-scalar"], seconds=0.05, solver="cg")
    >>> [row.format for row in rows]
    ['ell', 'csr-scalar']
    >>> print(rows.report())                  # doctest: +SKIP
    >>> rows.plot().save("formats.svg")       # doctest: +SKIP
    """
    plan = ffi.new("kcl_bench_plan *", {"seconds": seconds, "stop": call_stop})
    matrix = as_matrix(A, context or Context.default())
    chosen = names("format") if formats is None else [formats] if isinstance(formats, str) else formats
    rows = [_measure(matrix, name, options, plan) for name in chosen]
    about = f"{matrix.shape[0]} x {matrix.shape[1]}, {matrix.number('nnz'):.0f} entries, {matrix.dtype}, on {matrix.context.device}"
    return Bench(rows, about, matrix.context.number("stream_rate"))
