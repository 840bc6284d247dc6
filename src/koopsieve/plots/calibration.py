"""Do the bands hold: the share of measured outputs inside against the share that should be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from koopsieve._types import KoopsieveError
from koopsieve.evaluate import coverage_curve
from koopsieve.plots.figure import legend, new_axes
from koopsieve.sieve.views import Sifted, result_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKERS = "osD^vP*X"
_TOLERANCE = 0.03  # either side of the diagonal, shaded


def plot_coverage(given: Sifted, axes: Axes | None = None, *, horizons: Sequence[int] | None = None) -> Axes:
    """Draw the share of test outputs inside the bands against the level of the bands, one line per horizon.

    On the diagonal the bands hold exactly; above it they are wider than they need be, below it they promise too much.
    The shade is three per cent either side.

    Parameters
    ----------
    given : SieveResult or fitted KoopmanSieve
        Judged on test data or on data held out.
    axes : matplotlib axes, optional
        Left out, a new figure.
    horizons : sequence of int, optional
        Steps ahead; by default those of the result.

    Raises
    ------
    KoopsieveError
        If there are no data that the bands were not calibrated on.
    """
    result = result_of(given)
    if result.judged.on == "validation":
        raise KoopsieveError(
            "The bands were calibrated on the validation data, so their coverage there says nothing. Give sift test "
            "data, or a share of the data to hold out, such as test=0.2."
        )
    curve = coverage_curve(result.model, result.judged.data, horizons or result.horizons)
    ax = new_axes(4.8, 4.4) if axes is None else axes
    ends = np.array([0.0, 1.0])
    ax.fill_between(ends, ends - _TOLERANCE, ends + _TOLERANCE, color="0.9", linewidth=0, zorder=0)
    ax.plot(ends, ends, color="0.6", linewidth=0.8, zorder=1)
    shades = np.linspace(0.85, 0.15, len(curve.horizons))
    for i, horizon in enumerate(curve.horizons):
        (line,) = ax.plot(curve.levels, curve.share[:, i], color=_between(shades[i]), linewidth=1.3, zorder=2 + i)
        line.set(marker=_MARKERS[i % len(_MARKERS)], markersize=4.5, fillstyle="none")
        line.set_label(f"{horizon} step{'s' if horizon > 1 else ''}")
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    ax.set_aspect("equal")
    ax.set_xlabel("level of the bands")
    ax.set_ylabel(f"share of {result.judged.on} data inside")
    ax.grid(alpha=0.25)
    legend(ax, "ahead")
    return ax


def _between(share: float) -> tuple[float, float, float]:
    """Return a colour between light and dark, told apart in grey too."""
    light, dark = np.array([0.62, 0.80, 0.88]), np.array([0.02, 0.20, 0.35])
    red, green, blue = (share * light + (1 - share) * dark).tolist()
    return red, green, blue
