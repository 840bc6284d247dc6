"""Eigenvalues of the model with all observables and of the model with those kept, beside the unit circle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from koopsieve.plots.figure import FULL, KEPT, new_axes
from koopsieve.workflow import SieveResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_REACH = 1.15  # eigenvalues further out are drawn at the edge


def plot_eigenvalues(result: SieveResult, axes: Axes | None = None) -> Axes:
    """Draw the eigenvalues of the best method's models; those far outside the circle sit on the edge as triangles.

    Parameters
    ----------
    result : SieveResult
    axes : matplotlib axes, optional
        Left out, a new figure.
    """
    ax = new_axes(4.2, 4.2) if axes is None else axes
    turn = np.linspace(0, 2 * np.pi, 200)
    ax.plot(np.cos(turn), np.sin(turn), color="0.6", linewidth=0.8)
    looks: dict[str, dict[str, Any]] = {
        "all": {"markerfacecolor": "none", "color": FULL, "markersize": 7},
        "kept": {"color": KEPT, "markersize": 5},
    }
    for fits, word in ((result.full, "all"), (result.reduced, "kept")):
        model = fits[result.best].model
        values = model.eigenvalues
        values = values[np.isfinite(values)]
        far = np.abs(values) > _REACH
        near, edge = values[~far], values[far] / np.abs(values[far]) * _REACH
        ax.plot(near.real, near.imag, "o", label=f"{word} {len(model.A)}", **looks[word])
        ax.plot(edge.real, edge.imag, "^", **looks[word])
    ax.set_aspect("equal")
    ax.set_xlim(-1.25, 1.25)
    ax.set_ylim(-1.25, 1.25)
    ax.axhline(0, color="0.85", linewidth=0.8, zorder=0)
    ax.axvline(0, color="0.85", linewidth=0.8, zorder=0)
    ax.set_xlabel("real part")
    ax.set_ylabel("imaginary part")
    ax.legend(fontsize=8, frameon=False, loc="lower left", title="observables", title_fontsize=8)
    return ax
