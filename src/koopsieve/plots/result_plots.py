"""Errors against horizon and against size, the coverage of the bands, eigenvalues; and one figure with all of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from koopsieve._display import steps
from koopsieve._types import BoolArray, ComplexArray, KoopsieveError
from koopsieve.forms.path import SievePath
from koopsieve.forms.spectra import Spectrum, spectrum
from koopsieve.plots.dependency_plots import plot_inclusion
from koopsieve.plots.figure import (
    CEILING,
    KEPT,
    REMOVED,
    as_text,
    draw_errors,
    figure_of,
    legend,
    log_axis,
    mark_diverged,
    new_axes,
    new_figure,
    styles_of,
    tick_text,
)
from koopsieve.plots.time_plots import plot_prediction
from koopsieve.sifting.judge import EVERYTHING, SIFTED
from koopsieve.sifting.result import Sifted, result_of
from koopsieve.sifting.tables import contenders
from koopsieve.uncertainty import coverage_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_MARKERS = "osD^vPX*"
_MAX_LINEAR_RATIO = 12  # sizes that differ by more than this factor are drawn on a logarithmic axis
_TOLERANCE = 0.03  # either side of the diagonal, shaded


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
    styles = styles_of([one.name for one in found])
    for one in found:
        own: dict[str, float] = {"zorder": 4} if one.name == SIFTED else {"zorder": 3 if one.of_kept else 2}
        if one.label != one.name and not one.of_kept:
            own["alpha"] = 0.45
        errors = np.nan_to_num(one.errors.mean, nan=np.inf)
        draw_errors(ax, result.horizons, errors, f"{as_text(one.label)} ({one.terms})", **{**styles[one.name], **own})
    log_axis(ax, "x", result.horizons)
    log_axis(ax, "y")
    low, high = ax.get_ylim()
    if low < 1 < high:
        ax.axhline(1.0, color="0.6", linewidth=0.8, zorder=1)
        ax.annotate("predicting the mean", (0.01, 1.0), xycoords=("axes fraction", "data"), fontsize=7.5, va="bottom")
    ax.set_xlabel(f"steps ahead, of {result.model.dt:g} s each")
    ax.set_ylabel(f"NMSE on {result.evaluation.on} data")
    ax.grid(alpha=0.25, which="major")
    legend(ax, "model (terms)")
    return ax


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
    if sizes.max() > _MAX_LINEAR_RATIO * sizes.min():
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
        Numbers of steps; by default those of the result.

    Raises
    ------
    KoopsieveError
        If there are no data that the bands were not calibrated on.
    """
    result = result_of(given)
    if result.evaluation.on == "validation":
        raise KoopsieveError(
            "The bands were calibrated on the validation data, so their coverage there says nothing. Give sift test "
            "data, or a share of the data to hold out, such as test=0.2."
        )
    curve = coverage_curve(result.model, result.evaluation.data, horizons or result.horizons)
    ax = new_axes(4.8, 4.4) if axes is None else axes
    ends = np.array([0.0, 1.0])
    ax.fill_between(ends, ends - _TOLERANCE, ends + _TOLERANCE, color="0.9", linewidth=0, zorder=0)
    ax.plot(ends, ends, color="0.6", linewidth=0.8, zorder=1)
    shades = np.linspace(0.85, 0.15, len(curve.horizons))
    for i, horizon in enumerate(curve.horizons):
        (line,) = ax.plot(curve.levels, curve.share[:, i], color=_between(shades[i]), linewidth=1.3, zorder=2 + i)
        line.set(marker=_MARKERS[i % len(_MARKERS)], markersize=4.5, fillstyle="none")
        line.set_label(steps(int(horizon)))
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    ax.set_aspect("equal")
    ax.set_xlabel("level of the bands")
    ax.set_ylabel(f"share of {result.evaluation.on} data inside")
    ax.grid(alpha=0.25)
    legend(ax, "ahead")
    return ax


def _between(share: float) -> tuple[float, float, float]:
    """Return a colour between light and dark, distinct in grey too."""
    light, dark = np.array([0.62, 0.80, 0.88]), np.array([0.02, 0.20, 0.35])
    red, green, blue = (share * light + (1 - share) * dark).tolist()
    return red, green, blue


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


def plot_summary(given: Sifted) -> Figure:
    """Draw the choice of the size, errors beside the baselines, a prediction, what drives what, and the eigenvalues.

    Parameters
    ----------
    given : SieveResult or fitted KoopmanSieve

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
    figure.suptitle(kept, fontsize=14)
    return figure
