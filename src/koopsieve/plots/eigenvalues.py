"""Eigenvalues of the sifted model, and of the one with everything, beside the unit circle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from koopsieve.evaluate.spectra import spectrum
from koopsieve.plots.figure import KEPT, REMOVED, legend, new_axes
from koopsieve.sieve.result import EVERYTHING
from koopsieve.sieve.views import Sifted, result_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_REACH = 1.15  # eigenvalues further out are drawn at the edge


def plot_eigenvalues(given: Sifted, axes: Axes | None = None) -> Axes:
    """Draw the eigenvalues; those far outside the unit circle sit on the edge as triangles.

    In the linear form they are those of A. In the other forms they are those of one step, linearised at the mean state,
    and the title says so.

    Parameters
    ----------
    given : SieveResult or fitted KoopmanSieve
    axes : matplotlib axes, optional
        Left out, a new figure.
    """
    result = result_of(given)
    ax = new_axes(4.6, 4.6) if axes is None else axes
    turn = np.linspace(0, 2 * np.pi, 200)
    ax.axhline(0, color="0.9", linewidth=0.8, zorder=0)
    ax.axvline(0, color="0.9", linewidth=0.8, zorder=0)
    ax.plot(np.cos(turn), np.sin(turn), color="0.6", linewidth=0.8)
    looks: dict[str, dict[str, Any]] = {
        "everything": {"markerfacecolor": "none", "color": REMOVED, "markersize": 7.5, "linestyle": "none"},
        "sifted": {"color": KEPT, "markersize": 4.5, "linestyle": "none"},
    }
    everything = result.baselines[EVERYTHING].model
    for name, model in (("everything", everything), ("sifted", result.model)):
        found = spectrum(model, result.judged.data)
        values = found.values[np.isfinite(found.values)]
        far = np.abs(values) > _REACH
        near, edge = values[~far], values[far] / np.abs(values[far]) * _REACH
        ax.plot(near.real, near.imag, marker="o", label=f"{name} ({len(found.values)})", **looks[name])
        ax.plot(edge.real, edge.imag, marker="^", **looks[name])
    if result.form != "linear":
        ax.set_title(found.of, fontsize=10)
    ax.set_aspect("equal")
    ax.set_xlim(-1.25, 1.25)
    ax.set_ylim(-1.25, 1.25)
    ax.set_xticks([-1, 0, 1])
    ax.set_yticks([-1, 0, 1])
    ax.set_xlabel("real part")
    ax.set_ylabel("imaginary part")
    legend(ax, below=True)
    return ax
