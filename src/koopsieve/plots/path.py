"""Size against error along a path, the chosen dictionary marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from koopsieve.plots.figure import new_axes
from koopsieve.sieve import SievePath

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CEILING = 1e4  # errors beyond this only say that the model diverged


def plot_path(path: SievePath, axes: Axes | None = None) -> Axes:
    """Draw the validation NMSE of every dictionary of a path against its size, one line per horizon.

    Bars are one standard error; the chosen dictionary is marked.

    Parameters
    ----------
    path : SievePath
    axes : matplotlib axes, optional
        Left out, a new figure.
    """
    ax = new_axes(6.4, 4.0) if axes is None else axes
    error = np.minimum(np.nan_to_num(path.error, nan=np.inf), _CEILING)
    spread = np.nan_to_num(path.standard_error, nan=0.0, posinf=0.0)
    for column, horizon in enumerate(path.horizons):
        y, down = error[:, column], np.minimum(spread[:, column], 0.9 * error[:, column])  # a bar may not reach zero
        lines = ax.errorbar(
            path.sizes, y, [down, spread[:, column]], marker="o", markersize=3, capsize=2, linewidth=1.2
        )
        lines.set_label(f"{horizon} step{'s' if horizon > 1 else ''} ahead")
        ax.plot(path.choice.size, y[path.chosen], "o", markersize=10, fillstyle="none", color=lines[0].get_color())
    ax.axvline(path.choice.size, color="0.5", linewidth=0.8, linestyle="--")
    ax.annotate(
        f"chosen: {path.choice.size} of {path.dictionary.size}",
        (path.choice.size, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(4, -12),
        textcoords="offset points",
        fontsize=8,
    )
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("observables kept")
    ax.set_ylabel("NMSE on validation windows")
    ax.grid(alpha=0.25, which="major")
    ax.legend(fontsize=8, frameon=False)
    return ax
