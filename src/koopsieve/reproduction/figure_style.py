"""The frame of the paper's figures, sized for a column; the style of each method stands in `koopsieve.plots.figure`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.plots.figure import DIVERGED, draw_errors, legend_mark, marks_of, new_figure, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
    figure = new_figure(width, height)
    return figure, figure.subplots(rows, columns, squeeze=False, **sharing)


def save(figure: Figure, folder: Path, name: str) -> None:
    """Write the figure as PNG and SVG; the same figure gives the same bytes."""
    for kind in ("png", "svg"):
        save_figure(figure.axes[0], folder / f"{name}.{kind}", dpi=160)


def curve(axes: Axes, x: Sequence[float], mean: FloatArray, half: FloatArray, ceiling: float, **style: Any) -> None:
    """Draw means with their interval; what diverged or lies above `ceiling` is a mark at the upper edge."""
    draw_errors(axes, x, mean, ceiling=ceiling, **style)
    seen = np.isfinite(mean) & (mean < ceiling)
    half = np.where(seen & np.isfinite(half) & (half < mean), half, np.nan)
    axes.fill_between(np.asarray(x, float), mean - half, mean + half, color=style["color"], alpha=0.15, linewidth=0)


def close_above(axes: Iterable[Axes], ceiling: float) -> None:
    """End the axes at `ceiling` if some curve left a mark there."""
    drawn = list(axes)
    if any(marks_of(each, DIVERGED) for each in drawn):
        for each in drawn:
            each.set_ylim(top=ceiling)


def name_panels(axes: Sequence[Axes]) -> None:
    """Put (a), (b), … before the titles."""
    for letter, each in zip("abcdefghij", axes, strict=False):
        title = each.get_title()
        each.set_title("")
        each.set_title(f"({letter}) {title}", loc="left")


def legend_above(figure: Figure, axes: Axes, **options: Any) -> None:
    """Put one legend above all panels; it explains the marks, if there are any."""
    handles, labels = axes.get_legend_handles_labels()
    marked = any(marks_of(each, DIVERGED) for each in figure.axes)
    extra = [(legend_mark("^"), "diverged, or beyond this edge")] if marked else []
    handles, labels = [*handles, *(mark for mark, _ in extra)], [*labels, *(words for _, words in extra)]
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), **options)
