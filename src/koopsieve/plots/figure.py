"""The one place that imports matplotlib: new axes, and figures saved whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from koopsieve._types import KoopsieveError, written_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# distinguishable in grey: every method has its own line and its own marker
STYLES: dict[str, dict[str, Any]] = {
    "I": {"color": "#1b4965", "linestyle": "-", "marker": "o"},
    "II": {"color": "#bc6c25", "linestyle": "--", "marker": "s"},
    "III": {"color": "#2a7f62", "linestyle": "-.", "marker": "^"},
    "IV": {"color": "#9d2449", "linestyle": ":", "marker": "D"},
    "path": {"color": "#0b6e99", "linestyle": "-", "marker": "P"},
    "IV*": {"color": "#6d597a", "linestyle": (0, (5, 1, 1, 1)), "marker": "v"},
}


KEPT, FULL = "#0b6e99", "#9aa3af"  # what was kept, and what there was before


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure, not tied to any window.

    Raises
    ------
    KoopsieveError
        If matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise KoopsieveError("Figures need matplotlib: pip install 'koopsieve[plots]'.") from error
    return Figure(figsize=(width, height), layout="constrained")


def new_axes(width: float = 6.0, height: float = 4.0) -> Axes:
    """Return axes on a figure of its own; see `new_figure`."""
    return new_figure(width, height).add_subplot()


def as_text(name: str) -> str:
    """Return a user's name so that matplotlib does not take dollars in it for mathematics."""
    return name.replace("$", r"\$")


def figure_of(axes: Axes) -> Figure:
    """Return the figure that axes are on."""
    return cast("Figure", axes.get_figure())


def save_figure(axes: Axes, path: str | os.PathLike[str], dpi: int = 150) -> None:
    """Save the figure of `axes`; the suffix of `path` says the format (png, svg, pdf)."""
    target = Path(path)
    fixed = {"Date": None} if target.suffix == ".svg" else None  # the same figure gives the same file
    with written_whole(target) as stream:
        figure_of(axes).savefig(stream, format=target.suffix.lstrip("."), dpi=dpi, metadata=fixed)
