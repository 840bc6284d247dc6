"""Size against error along a path, the chosen size marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from koopsieve._words import steps
from koopsieve.plots.figure import CEILING, legend, log_axis, mark_diverged, new_axes
from koopsieve.sieve import SievePath
from koopsieve.sieve.views import Sifted, result_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKERS = "osD^vPX*"
_WIDE = 12  # sizes that differ by more than this factor are drawn on a logarithmic axis


def plot_path(given: Sifted | SievePath, axes: Axes | None = None) -> Axes:
    """Draw the validation NMSE of every set of a path against its size, one line per horizon.

    Bars are one standard error; the chosen size is marked. Sets whose models diverged have a triangle at the upper edge
    instead of a point.

    Parameters
    ----------
    given : SieveResult, fitted KoopmanSieve or SievePath
    axes : matplotlib axes, optional
        Left out, a new figure.
    """
    path = given if isinstance(given, SievePath) else result_of(given).path
    ax = new_axes(6.4, 4.0) if axes is None else axes
    sizes = path.sizes.astype(float)
    for column, horizon in enumerate(path.horizons):
        error = np.nan_to_num(path.error[:, column], nan=np.inf)
        seen = error < CEILING
        spread = np.nan_to_num(path.standard_error[:, column], nan=0.0, posinf=0.0)
        y = np.where(seen, error, np.nan)
        down = np.where(seen, np.minimum(spread, 0.9 * error), 0.0)  # a bar may not reach zero
        lines = ax.errorbar(
            sizes,
            y,
            [down, np.where(seen, spread, 0.0)],
            marker=_MARKERS[column % len(_MARKERS)],
            markersize=3.5,
            elinewidth=0.8,
            linewidth=1.3,
            label=f"{steps(horizon)} ahead",
        )
        mark_diverged(ax, sizes[~seen], lines[0].get_color())
    ax.axvline(path.choice.size, color="0.4", linewidth=1.0, linestyle="--", zorder=1)
    if sizes.max() > _WIDE * sizes.min():
        log_axis(ax, "x", path.sizes.tolist())
    else:
        ax.set_xlim(sizes.min() - 1, sizes.max() + 1)
        ax.locator_params(axis="x", integer=True)
    log_axis(ax, "y")
    ax.set_title(f"chosen: {path.choice.size} of {path.candidates} terms", fontsize=10)
    ax.set_xlabel("terms kept")
    ax.set_ylabel("NMSE on validation windows")
    ax.grid(alpha=0.25, which="major")
    legend(ax)
    return ax
