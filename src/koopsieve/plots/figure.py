"""The one place that imports matplotlib: new axes, styles of models and methods, figures saved whole or not at all."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._display import number, superscript
from koopsieve._types import needed
from koopsieve._written import written_whole
from koopsieve.sifting.judge import EVERYTHING, LINEAR, PERSISTENCE, SIFTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Drawn = TypeVar("Drawn", "Figure", "Axes")
# distinct in grey too: every model and every method has its own line and its own marker; marks of equal height stay
# visible because later ones are smaller and none is filled
MODELS: dict[str, dict[str, Any]] = {
    SIFTED: {"color": "#0b6e99", "marker": "o", "linestyle": "-", "markersize": 6.5, "linewidth": 2.2},
    LINEAR: {"color": "#bc6c25", "marker": "s", "linestyle": "--", "markersize": 5.5, "linewidth": 1.4},
    EVERYTHING: {"color": "#5f6b7a", "marker": "^", "linestyle": "-.", "markersize": 5, "linewidth": 1.4},
    PERSISTENCE: {"color": "#8a94a3", "marker": "x", "linestyle": ":", "markersize": 5, "linewidth": 1.4},
}
METHODS: dict[str, dict[str, Any]] = {
    "least squares": {"color": "#000000", "marker": "o", "linestyle": "-", "markersize": 9},
    "thresholded least squares": {"color": "#d55e00", "marker": "s", "linestyle": "--", "markersize": 7},
    "sparse Bayes": {"color": "#0072b2", "marker": "^", "linestyle": "-.", "markersize": 5.5},
    "spike and slab": {"color": "#009e73", "marker": "D", "linestyle": ":", "markersize": 3.5},
    "spike and slab, flat prior": {
        "color": "#cc79a7",
        "marker": "v",
        "linestyle": (0, (5, 1, 1, 1, 1, 1)),
        "markersize": 2.5,
    },
}
NUMERALS = dict(zip(("I", "II", "III", "IV", "IV*"), METHODS, strict=True))  # as the paper counts the methods
KEPT, REMOVED = "#0b6e99", "#9aa3af"  # what was kept, and what was not
CEILING = 1e4  # an error beyond this only means that the model diverged
DIVERGED, LEFT = "diverged", "left the picture"  # meaning of the marks, for the legend
_MARK_WIDTH = 7.0  # points
_CELL_DPI = 110
_LEAST_RATIO = 1.35  # of ticks on a logarithmic axis


def style_of(name: str, place: int = 0) -> dict[str, Any]:
    """Return the line style of a model or a method; one that is not known gets the style of its place in a list."""
    known = MODELS | METHODS | {numeral: METHODS[method] for numeral, method in NUMERALS.items()}
    return known[name] if name in known else list(METHODS.values())[place % len(METHODS)]


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure, not tied to any window."""
    needed("matplotlib", "Drawing figures", "plots")
    from matplotlib.figure import Figure

    return shown_in_cells(Figure(figsize=(width, height), layout="constrained"))


def new_axes(width: float = 6.0, height: float = 4.0) -> Axes:
    """Return axes on a figure of its own; see `new_figure`."""
    return shown_in_cells(new_figure(width, height).add_subplot())


def shown_in_cells(drawn: Drawn) -> Drawn:
    """Return a figure or axes that show themselves as the value of a notebook's cell, without pyplot or a backend."""
    drawn._repr_png_ = partial(_png, drawn)  # type: ignore[attr-defined]  # found on instances too
    return drawn


def _png(drawn: Figure | Axes) -> bytes:
    stream = io.BytesIO()
    cast("Figure", drawn.get_figure()).savefig(stream, format="png", dpi=_CELL_DPI)
    return stream.getvalue()


def as_text(name: str) -> str:
    """Return a user's name so that matplotlib does not take dollars in it for mathematics."""
    return name.replace("$", r"\$")


def figure_of(axes: Axes) -> Figure:
    """Return the figure that axes are on."""
    return cast("Figure", axes.get_figure())


def save_figure(axes: Axes, path: str | os.PathLike[str], dpi: int = 150) -> None:
    """Save the figure of `axes`; the suffix of `path` is the format (png, svg, pdf)."""
    target = Path(path)
    fixed = {".svg": {"Date": None}, ".png": {"Software": None}}.get(target.suffix)  # the same figure, the same file
    with written_whole(target) as stream:
        figure_of(axes).savefig(stream, format=target.suffix.lstrip("."), dpi=dpi, metadata=fixed)


def tick_text(value: float, _: float | None = None) -> str:
    """Return the label of a tick on a logarithmic axis, as a plain number; matplotlib also gives its place.

    Examples
    --------
    >>> tick_text(0.01), tick_text(1e-7), tick_text(50.0)
    ('0.01', '10⁻⁷', '50')
    """
    power = round(np.log10(value)) if value > 0 else 0
    outside = value > 0 and not 1e-3 <= value <= 1e4
    return f"10{superscript(power)}" if outside and np.isclose(value, 10.0**power) else number(value)


def log_axis(ax: Axes, which: str, ticks: Sequence[float] | None = None) -> None:
    """Make an axis logarithmic with ticks that are plain numbers; those given, less those that would overlap."""
    axis = getattr(ax, f"{which}axis")
    getattr(ax, f"set_{which}scale")("log")
    if ticks is not None:
        shown = apart(sorted({float(t) for t in ticks}))
        axis.set_ticks(shown, [tick_text(t) for t in shown])
    else:
        axis.set_major_formatter(tick_text)
    axis.set_minor_formatter("")
    if ticks is not None:
        axis.set_minor_locator(_no_ticks())


def apart(ticks: Sequence[float]) -> list[float]:
    """Return ticks without those too near to the next, the last always among them.

    Examples
    --------
    >>> apart([1.0, 2.0, 10.0, 11.0, 12.0])
    [1.0, 2.0, 12.0]
    """
    kept: list[float] = []
    for tick in reversed(ticks):
        if not kept or tick * _LEAST_RATIO <= kept[-1]:
            kept.append(tick)
    return kept[::-1]


def legend(ax: Axes, title: str | None = None, below: bool = False) -> None:
    """Put the legend beside the axes, or below them, where it hides nothing; without labelled lines there is none."""
    handles, labels = ax.get_legend_handles_labels()
    if not handles:
        return
    for meaning, marker in ((DIVERGED, "^"), (LEFT, "x")):
        if marks_of(ax, meaning):
            handles, labels = [*handles, legend_mark(marker)], [*labels, meaning]
    known = ax.get_legend()
    heading = title if title is not None or known is None else known.get_title().get_text() or None
    place: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
    if below:
        place = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.14), "ncols": min(3, len(handles))}
    ax.legend(handles, labels, fontsize=8, title=heading, title_fontsize=8, frameon=False, **place)


def marks_of(ax: Axes, meaning: str) -> list[Any]:
    """Return the marks on axes that mean that a curve diverged or left the picture."""
    return [line for line in ax.lines if line.get_gid() == meaning]


def legend_mark(marker: str) -> Any:
    """Return a grey mark for a legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], linestyle="none", marker=marker, color="0.35")


def _no_ticks() -> Any:
    from matplotlib.ticker import NullLocator

    return NullLocator()


def draw_errors(
    ax: Axes, x: ArrayLike, errors: ArrayLike, label: str, *, ceiling: float = CEILING, **style: Any
) -> None:
    """Draw errors against x; above `ceiling` the line is cut, and a triangle marks it at the upper edge."""
    where, values = np.asarray(x, dtype=float), np.asarray(errors, dtype=float)
    seen = np.isfinite(values) & (values < ceiling)
    ax.plot(where, np.where(seen, values, np.nan), label=label, markerfacecolor="none", **style)
    mark_diverged(ax, where[~seen], style.get("color", "black"))


def mark_diverged(ax: Axes, x: ArrayLike, color: str) -> None:
    """Put triangles on the upper edge at `x`, each curve's beside those before it; the legend explains them."""
    from matplotlib.transforms import ScaledTranslation

    places = np.asarray(x, dtype=float)
    if not len(places):
        return
    before = len(marks_of(ax, DIVERGED))
    aside = ScaledTranslation(-before * _MARK_WIDTH / 72, 0, figure_of(ax).dpi_scale_trans)
    edge = ax.get_xaxis_transform() + aside
    marks: dict[str, Any] = {"linestyle": "none", "marker": "^", "zorder": 5, "gid": DIVERGED}
    ax.plot(places, np.full(len(places), 0.975), color=color, transform=edge, **marks)


def styles_of(names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return a style per name, those that are not known one after the other."""
    place = count()
    known = MODELS | METHODS | dict.fromkeys(NUMERALS)
    return {name: style_of(name, 0 if name in known else next(place)) for name in dict.fromkeys(names)}
