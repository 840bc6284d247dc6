"""Prediction error against horizon: the sifted model, the baselines, further methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from koopsieve.plots.figure import as_text, draw_errors, legend, log_axis, looks_of, new_axes
from koopsieve.sieve.result import SIFTED
from koopsieve.sieve.views import Sifted, contenders, result_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_error_against_horizon(given: Sifted, axes: Axes | None = None) -> Axes:
    """Draw the NMSE of predictions on the judged data, averaged over the outputs, one line per model.

    Further methods are drawn pale with all terms and strong with those kept. Where a model diverged its line is cut,
    and a triangle at the upper edge marks the horizon.

    Parameters
    ----------
    given : SieveResult or fitted KoopmanSieve
    axes : matplotlib axes, optional
        Left out, a new figure.
    """
    result = result_of(given)
    ax = new_axes(7.2, 4.0) if axes is None else axes
    found = contenders(result)
    looks = looks_of([one.name for one in found])
    for one in found:
        own: dict[str, float] = {"zorder": 4} if one.name == SIFTED else {"zorder": 3 if one.of_kept else 2}
        if one.label != one.name and not one.of_kept:
            own["alpha"] = 0.45
        errors = np.nan_to_num(one.errors.mean, nan=np.inf)
        draw_errors(ax, result.horizons, errors, f"{as_text(one.label)} ({one.terms})", **{**looks[one.name], **own})
    log_axis(ax, "x", result.horizons)
    log_axis(ax, "y")
    low, high = ax.get_ylim()
    if low < 1 < high:
        ax.axhline(1.0, color="0.6", linewidth=0.8, zorder=1)
        ax.annotate("predicting the mean", (0.01, 1.0), xycoords=("axes fraction", "data"), fontsize=7.5, va="bottom")
    ax.set_xlabel(f"steps ahead, of {result.model.dt:g} s each")
    ax.set_ylabel(f"NMSE on {result.judged.on} data")
    ax.grid(alpha=0.25, which="major")
    legend(ax, "model (terms)")
    return ax
