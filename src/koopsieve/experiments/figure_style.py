"""How the figures look: legible in grey (line styles and markers tell methods apart), sized for a paper's column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from koopsieve._types import FloatArray
from koopsieve._written import written_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# marks of equal height stay visible because later ones are smaller and none is filled
METHODS: dict[str, dict[str, Any]] = {
    "I": {"color": "#000000", "marker": "o", "linestyle": "-", "markersize": 9},
    "II": {"color": "#d55e00", "marker": "s", "linestyle": "--", "markersize": 7},
    "III": {"color": "#0072b2", "marker": "^", "linestyle": "-.", "markersize": 5.5},
    "IV": {"color": "#009e73", "marker": "D", "linestyle": ":", "markersize": 3.5},
    "IV*": {"color": "#cc79a7", "marker": "v", "linestyle": (0, (5, 1, 1, 1, 1, 1)), "markersize": 2.5},
}
_BEYOND = "beyond"
OTHERS = list(METHODS.values())
_STYLE: Any = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.grid": True,
    "grid.color": "0.88",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "lines.linewidth": 1.2,
    "lines.markersize": 4.5,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "svg.hashsalt": "koopsieve",
    "svg.fonttype": "none",
}


@contextmanager
def styled() -> Iterator[None]:
    """Draw and save in the style of this module, leaving the user's own settings alone."""
    from matplotlib import rc_context

    with rc_context(_STYLE):
        yield


def panels(rows: int, columns: int, width: float, height: float, **sharing: Any) -> tuple[Figure, Any]:
    """Return a figure and its array of axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **sharing)


def save(figure: Figure, folder: Path, name: str) -> None:
    """Write the figure as PNG and SVG; the same figure gives the same bytes."""
    for kind, metadata in (("png", {"Software": None}), ("svg", {"Date": None})):
        with written_whole(folder / f"{name}.{kind}") as stream:
            figure.savefig(stream, format=kind, dpi=160, metadata=metadata)


def curve(axes: Axes, x: Sequence[float], mean: FloatArray, half: FloatArray, ceiling: float, **look: Any) -> None:
    """Draw means with their interval; what diverged or lies above `ceiling` is a mark on the upper edge."""
    where = np.asarray(x, dtype=float)
    seen = np.isfinite(mean) & (mean < ceiling)
    axes.plot(where[seen], mean[seen], markerfacecolor="none", **look)
    half = np.where(seen & np.isfinite(half) & (half < mean), half, np.nan)
    axes.fill_between(where, mean - half, mean + half, color=look["color"], alpha=0.15, linewidth=0)
    beyond = ~seen
    if beyond.any():
        edge = {**look, "linestyle": "none", "label": None, "markerfacecolor": "none", "clip_on": False, "zorder": 5}
        marks = axes.plot(where[beyond], np.full(beyond.sum(), ceiling), **edge)
        marks[0].set_in_layout(False)
        marks[0].set_gid(_BEYOND)


def close_above(axes: Iterable[Axes], ceiling: float) -> None:
    """End the axes at `ceiling` if some curve left a mark there, and say what such marks are."""
    drawn = list(axes)
    marked = [each for each in drawn if any(line.get_gid() == _BEYOND for line in each.lines)]
    for each in drawn if marked else []:
        each.set_ylim(top=ceiling)
    for each in marked:
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        each.text(
            0.98, 0.9, "on this edge: beyond", ha="right", va="top", fontsize=7, transform=each.transAxes, bbox=box
        )


def name_panels(axes: Sequence[Axes]) -> None:
    """Put (a), (b), … before the titles."""
    for letter, each in zip("abcdefghij", axes, strict=False):
        title = each.get_title()
        each.set_title("")
        each.set_title(f"({letter}) {title}", loc="left")


def legend_above(figure: Figure, axes: Axes, **options: Any) -> None:
    """Put one legend above all panels."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), **options)
