"""Eigenvalues beside the unit circle, and one figure with the results of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from koopsieve._types import BoolArray, ComplexArray
from koopsieve.forms.spectra import Spectrum, spectrum
from koopsieve.plots.dependency_plots import plot_inclusion
from koopsieve.plots.error_plots import plot_error_against_horizon, plot_path
from koopsieve.plots.figure import KEPT, REMOVED, figure_of, legend, new_axes, new_figure, tick_text
from koopsieve.plots.time_plots import plot_prediction
from koopsieve.sifting.judge import EVERYTHING
from koopsieve.sifting.result import Sifted, result_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_MAX_DRAWN_RADIUS = 1.15  # eigenvalues further out are drawn at the edge
_RESIDUALS = (1e-3, 1.0)  # ends of the scale of colours


def plot_eigenvalues(given: Sifted, axes: Axes | None = None) -> Axes:
    """Draw the eigenvalues; those far outside the unit circle sit on the edge as triangles.

    In the linear form they are those of A. In the other forms they are those of one step, linearised at the mean state,
    and the title says so. Where observables are carried, the colour of the sifted model's shows their residual on the
    judged data: dark where the eigenvalue belongs to the plant, light where its eigenfunction is off by its own
    size or more.

    Parameters
    ----------
    given : SieveResult or fitted KoopmanSieve
    axes : matplotlib axes, optional
        Left out, a new figure.
    """
    result = result_of(given)
    ax = new_axes(5.4, 4.6) if axes is None else axes
    turn = np.linspace(0, 2 * np.pi, 200)
    ax.axhline(0, color="0.9", linewidth=0.8, zorder=0)
    ax.axvline(0, color="0.9", linewidth=0.8, zorder=0)
    ax.plot(np.cos(turn), np.sin(turn), color="0.6", linewidth=0.8)
    styles: dict[str, dict[str, Any]] = {
        "everything": {"markerfacecolor": "none", "color": REMOVED, "markersize": 7.5, "linestyle": "none"},
        "sifted": {"color": KEPT, "markersize": 6.0, "linestyle": "none"},
    }
    everything = result.baselines[EVERYTHING].model
    for name, model in (("everything", everything), ("sifted", result.model)):
        found = spectrum(model, result.evaluation.data, residuals=name == "sifted")
        drawn, far = _at_the_edge(found.values)
        for marker, some in (("o", ~far), ("^", far)):
            label: dict[str, Any] = {"label": f"{name} ({len(found.values)})"} if marker == "o" else {}
            ax.plot(drawn[some].real, drawn[some].imag, marker=marker, **label, **styles[name])
    _colour_residuals(ax, found, drawn)
    if found.at_mean:
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


def _at_the_edge(values: ComplexArray) -> tuple[ComplexArray, BoolArray]:
    """Return where eigenvalues are drawn, and which of them lie further out than that; nan where one is not finite."""
    modulus = np.abs(values)
    far = modulus > _MAX_DRAWN_RADIUS
    drawn = np.where(far, values / np.where(far, modulus, 1.0) * _MAX_DRAWN_RADIUS, values)
    return np.where(np.isfinite(values), drawn, np.nan), far


def _colour_residuals(ax: Axes, found: Spectrum, drawn: ComplexArray) -> None:
    """Fill the sifted model's eigenvalues with a colour for their residual, and draw the scale beside the axes."""
    from matplotlib.colors import LogNorm

    if found.residuals is None:
        return
    known = np.isfinite(found.residuals) & np.isfinite(drawn)
    shade: dict[str, Any] = {"cmap": "viridis", "norm": LogNorm(*_RESIDUALS, clip=True), "edgecolors": "none"}
    at, residuals = drawn[known], np.maximum(found.residuals[known], _RESIDUALS[0])
    dots = ax.scatter(at.real, at.imag, s=16, c=residuals, zorder=3, **shade)
    bar = figure_of(ax).colorbar(dots, ax=ax, shrink=0.6, label="residual (sifted)", extend="both")
    bar.ax.yaxis.set_major_formatter(tick_text)


def plot_summary(given: Sifted, title: str | None = None) -> Figure:
    """Draw the choice of the size, errors beside the baselines, a prediction, what drives what, and the eigenvalues.

    Parameters
    ----------
    given : SieveResult or fitted KoopmanSieve
    title : str, optional
        By default the number of terms kept.

    Returns
    -------
    Figure
        Save it with `figure.savefig(…)`.
    """
    result = result_of(given)
    figure = new_figure(16.0, 9.5)
    grid = figure.add_gridspec(2, 3)
    titles = {
        "error against size": plot_path(result, figure.add_subplot(grid[0, 0])),
        "error against horizon": plot_error_against_horizon(result, figure.add_subplot(grid[0, 1])),
        "a typical prediction": plot_prediction(result, figure.add_subplot(grid[0, 2])),
        "what drives what": plot_inclusion(result, figure.add_subplot(grid[1, :2])),
        "eigenvalues": plot_eigenvalues(result, figure.add_subplot(grid[1, 2])),
    }
    for heading, axes in titles.items():
        of = f" of the {axes.get_title()}" if heading == "eigenvalues" and axes.get_title() else ""
        axes.set_title(f"{heading}{of}", fontsize=11)
        legend(axes, below=True)
    kept = f"{len(result.retained)} of {result.path.candidates} terms kept, {result.form} form"
    figure.suptitle(title or kept, fontsize=14)
    return figure
