"""Prediction error against horizon, full and reduced dictionary side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.plots.figure import STYLES, new_axes
from koopsieve.workflow import SieveResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CEILING = 1e4  # errors beyond this only say that the model diverged


def plot_error_against_horizon(
    result: SieveResult, axes: Axes | None = None, beside: Mapping[str, FloatArray] | None = None
) -> Axes:
    """Draw the NMSE of linear predictions, averaged over the states: full dictionary pale, reduced strong.

    Parameters
    ----------
    result : SieveResult
    axes : matplotlib axes, optional
        Left out, a new figure.
    beside : mapping from label to array, optional
        Errors of other models at the same horizons.
    """
    ax = new_axes(7.2, 4.0) if axes is None else axes
    for fits, label, size, look in (
        (result.full, "all", result.dictionary.size, {"alpha": 0.45, "linewidth": 1.0, "markerfacecolor": "white"}),
        (result.reduced, "kept", len(result.retained), {"linewidth": 2.0}),
    ):
        for name, fit in fits.items():
            error = np.minimum(np.nan_to_num(fit.diagnostics.mean_error, nan=np.inf), _CEILING)
            style = STYLES.get(name, {}) | look
            ax.plot(result.horizons, error, label=f"{name}, {label} {size}", markersize=5, **style)
    for label, errors in (beside or {}).items():
        ax.plot(result.horizons, errors, label=label, color="black", marker="*", markersize=10, linewidth=2.5)
    ax.axhline(1.0, color="0.5", linewidth=0.8)
    ax.annotate("predicting the mean", (result.horizons[0], 1.0), fontsize=7, color="0.35", va="bottom")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xticks(result.horizons, [str(h) for h in result.horizons])
    ax.minorticks_off()
    ax.set_xlabel(f"prediction horizon / steps of {result.model.dt:g} s")
    ax.set_ylabel(f"NMSE on {result.judged_on} trajectories")
    ax.grid(alpha=0.25, which="major")
    ax.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5), title="observables")
    return ax
