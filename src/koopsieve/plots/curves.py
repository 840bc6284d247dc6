"""Curves of models over time: drawn while they stay near the data, cut and marked where they leave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.plots.figure import LEFT, MODELS
from koopsieve.sieve.result import SIFTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROOM = 0.4  # above and below the measured values, in units of their range


def limits_around(measured: FloatArray) -> tuple[float, float]:
    """Return the limits of a picture of measured values, with room for models that are a little off."""
    room = _ROOM * (float(np.ptp(measured)) or 1.0)
    return float(measured.min()) - room, float(measured.max()) + room


def draw_model(
    ax: Axes, time: FloatArray, values: FloatArray, limits: tuple[float, float], name: str, label: str
) -> None:
    """Draw what a model says in its own look; where it leaves the limits it is cut, and a cross marks the place."""
    look: dict[str, Any] = {key: MODELS[name][key] for key in ("color", "linestyle", "linewidth")}
    low, high = limits
    inside = (values >= low) & (values <= high)
    last = len(values) if inside.all() else int(np.argmin(inside))
    ax.plot(time[:last], values[:last], label=label, zorder=4 if name == SIFTED else 2, **look)
    if last < len(values):
        edge = high if values[last] > high else low
        mark = {"color": look["color"], "marker": "x", "markersize": 8, "markeredgewidth": 2}
        ax.plot(time[last], edge, linestyle="none", clip_on=False, zorder=5, gid=LEFT, **mark)
