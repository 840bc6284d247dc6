"""The paper's figures: sizes, errors, conditioning of simulated systems (5.1, 5.2); heat maps of the circuit (5.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from koopsieve._types import FloatArray
from koopsieve._written import json_number
from koopsieve.plots.dependency_plots import STRENGTHS, draw_strengths
from koopsieve.plots.figure import (
    DIVERGED,
    METHODS,
    draw_errors,
    legend_mark,
    log_axis,
    marks_of,
    new_figure,
    save_figure,
    style_of,
    tick_text,
)
from koopsieve.reproduction.study_tables import FULL, REDUCED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Summary = Mapping[str, Any]
_SNR = "signal-to-noise ratio (dB)"
_NO_CEILING = float("inf")
_ONE_STEP_TOP, _HORIZON_TOP, _KAPPA_TOP = 100.0, 100.0, 1e30  # what lies above is marked on the upper edge
_CIRCUIT_TOP = 1e3  # errors of the circuit above are marked on the upper edge
_STYLE: Any = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.grid": True,
    "grid.color": "0.88",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "lines.linewidth": 1.2,
    "lines.markersize": 4.5,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "svg.hashsalt": "koopsieve",
    "svg.fonttype": "none",
}


@contextmanager
def styled() -> Iterator[None]:
    """Draw and save in the style of this module, leaving the user's own settings alone."""
    from matplotlib import rc_context

    with rc_context(_STYLE):
        yield


def panels(rows: int, columns: int, width: float, height: float, **sharing: Any) -> tuple[Figure, Any]:
    """Return a figure and its array of axes."""
    figure = new_figure(width, height)
    return figure, figure.subplots(rows, columns, squeeze=False, **sharing)


def save(figure: Figure, folder: Path, name: str) -> None:
    """Write the figure as PNG and SVG; the same figure gives the same bytes."""
    for kind in ("png", "svg"):
        save_figure(figure.axes[0], folder / f"{name}.{kind}", dpi=160)


def curve(axes: Axes, x: Sequence[float], mean: FloatArray, half: FloatArray, ceiling: float, **style: Any) -> None:
    """Draw means with their interval; what diverged or lies above `ceiling` is a mark at the upper edge."""
    draw_errors(axes, x, mean, ceiling=ceiling, **style)
    seen = np.isfinite(mean) & (mean < ceiling)
    half = np.where(seen & np.isfinite(half) & (half < mean), half, np.nan)
    axes.fill_between(np.asarray(x, float), mean - half, mean + half, color=style["color"], alpha=0.15, linewidth=0)


def close_above(axes: Iterable[Axes], ceiling: float) -> None:
    """End the axes at `ceiling` if some curve left a mark there."""
    drawn = list(axes)
    if any(marks_of(each, DIVERGED) for each in drawn):
        for each in drawn:
            each.set_ylim(top=ceiling)


def name_panels(axes: Sequence[Axes]) -> None:
    """Put (a), (b), … before the titles."""
    for letter, each in zip("abcdefghij", axes, strict=False):
        title = each.get_title()
        each.set_title("")
        each.set_title(f"({letter}) {title}", loc="left")


def legend_above(figure: Figure, axes: Axes, **options: Any) -> None:
    """Put one legend above all panels; it explains the marks, if there are any."""
    handles, labels = axes.get_legend_handles_labels()
    marked = any(marks_of(each, DIVERGED) for each in figure.axes)
    extra = [(legend_mark("^"), "diverged, or beyond this edge")] if marked else []
    handles, labels = [*handles, *(mark for mark, _ in extra)], [*labels, *(words for _, words in extra)]
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), **options)


def draw_noise_study(summary: Summary, folder: Path) -> None:
    """Draw and write all figures of a simulated system."""
    with styled():
        save(draw_sizes(summary), folder, "reduced_size")
        save(draw_one_step(summary), folder, "one_step")
        save(draw_horizons(summary), folder, "long_term")
        save(draw_condition_numbers(summary), folder, "condition_number")


def draw_sizes(summary: Summary) -> Figure:
    """Draw the number of observables kept at each level of noise, for every threshold."""
    figure, axes = panels(1, 1, 3.6, 2.7)
    one = axes[0, 0]
    for threshold, style in zip(summary["reduced_size"], METHODS.values(), strict=False):
        mean, half = (_numbers(summary[key][threshold]) for key in ("reduced_size", "reduced_size_ci95"))
        curve(one, summary["snr_db"], mean, half, _NO_CEILING, label=f"ε = {threshold}", **style)
    one.axhline(summary["full_size"], color="0.4", linewidth=0.8)
    one.annotate(
        "full dictionary",
        (0.02, summary["full_size"]),
        xycoords=("axes fraction", "data"),
        va="bottom",
        fontsize=8,
        color="0.3",
    )
    one.set(xlabel=_SNR, ylabel="observables kept", ylim=(0, 1.12 * summary["full_size"]))
    one.legend()
    return figure


def draw_one_step(summary: Summary) -> Figure:
    """Draw one-step errors against the level of noise: training above, test below, full left, reduced right."""
    figure, axes = panels(2, 2, 6.8, 4.8, sharex=True, sharey=True)
    for row, part in enumerate(("train", "test")):
        for column, size in enumerate((FULL, REDUCED)):
            values, half = (summary[key][size] for key in ("one_step", "one_step_ci95"))
            _methods(axes[row, column], summary["snr_db"], values, half, itemgetter(part), ceiling=_ONE_STEP_TOP)
            axes[row, column].set_title(f"{size} dictionary, {'training' if part == 'train' else 'test'} data")
        axes[row, 0].set_ylabel(f"one-step NMSE of {summary['state']}")
    close_above(axes.ravel(), _ONE_STEP_TOP)
    for one in axes[1]:
        one.set_xlabel(_SNR)
    legend_above(figure, axes[0, 0])
    name_panels(axes.ravel())
    return figure


def draw_horizons(summary: Summary) -> Figure:
    """Draw errors against the prediction horizon, full left and reduced right."""
    title = f", {summary['horizon_snr_db']:g} dB"
    return draw_method_errors(
        summary["horizons"], summary["long_term"], summary["state"], summary["long_term_ci95"], title
    )


def draw_method_errors(
    horizons: Sequence[int],
    errors: Mapping[str, Mapping[str, Any]],
    output: str,
    half: Mapping[str, Mapping[str, Any]] | None = None,
    title: str = "",
) -> Figure:
    """Draw every method's errors against the horizon, full left and reduced right, with intervals if given."""
    figure, axes = panels(1, 2, 6.8, 2.9, sharey=True)
    for one, size in zip(axes[0], (FULL, REDUCED), strict=True):
        values = errors[size]
        widths = {name: [np.nan] * len(horizons) for name in values} if half is None else half[size]
        if all(len(each) for each in values.values()):
            _methods(one, horizons, values, widths, lambda entry: entry, ceiling=_HORIZON_TOP)
        log_axis(one, "x", horizons)
        one.margins(x=0.12)  # marks of several methods lie side by side
        one.axhline(1.0, color="0.4", linewidth=0.8)
        one.set(title=f"{size} dictionary{title}", xlabel="prediction horizon (samples)")
    axes[0, 0].set_ylabel(f"NMSE of {output}, test data")
    close_above(axes[0], _HORIZON_TOP)
    legend_above(figure, axes[0, 1])
    name_panels(axes[0])
    return figure


def draw_condition_numbers(summary: Summary) -> Figure:
    """Draw the mean condition numbers against the level of noise, full left and reduced right."""
    figure, axes = panels(1, 2, 6.8, 2.9, sharey=True)
    for one, size in zip(axes[0], (FULL, REDUCED), strict=True):
        values, half = (summary[key][size] for key in ("condition_number", "condition_number_ci95"))
        _methods(one, summary["snr_db"], values, half, lambda entry: entry, ceiling=_KAPPA_TOP)
        one.set(title=f"{size} dictionary", xlabel=_SNR)
    axes[0, 0].set_ylabel("mean condition number of Aᵀ")
    close_above(axes[0], _KAPPA_TOP)
    legend_above(figure, axes[0, 0])
    name_panels(axes[0])
    return figure


def _methods(
    axes: Axes,
    x: Sequence[float],
    values: Mapping[str, Any],
    half: Mapping[str, Any],
    pick: Callable[[Any], Sequence[float]],
    ceiling: float,
) -> None:
    log_axis(axes, "y")
    for method, entry in values.items():
        mean, width = _numbers(pick(entry)), _numbers(pick(half[method]))
        curve(axes, x, mean, width, ceiling, label=method, **style_of(method))


def _numbers(values: Sequence[float]) -> FloatArray:
    return np.array(values, dtype=float)


def draw_circuit(summary: Summary, coefficients: Mapping[str, Any], folder: Path) -> None:
    """Draw and write all figures of the Wiener–Hammerstein system."""
    with styled():
        for size in (FULL, REDUCED):
            save(draw_heat_maps(summary, coefficients[size], size), folder, f"heat_maps_{size}")
        save(draw_circuit_errors(summary), folder, "long_term")


def draw_heat_maps(summary: Summary, coefficients: Mapping[str, Any], size: str) -> Figure:
    """Draw |K| of every method: rows are regressors (the last is the input), columns targets, grey means zero."""
    figure, axes = panels(1, len(coefficients), 1.75 * len(coefficients) + 0.9, 2.6, sharey=True)
    for one, (method, rows) in zip(axes[0], coefficients.items(), strict=True):
        K = np.abs([[json_number(value) for value in row] for row in rows])
        image = draw_strengths(one, K)
        image.set_extent((0.5, K.shape[1] + 0.5, K.shape[0] + 0.5, 0.5))
        one.set(title=method, xlabel="target")
        one.grid(visible=False)
        _whole_numbers(one, K.shape)
    axes[0, 0].set_ylabel("regressor (last: input)")
    bar = figure.colorbar(image, ax=axes, extend="both")
    bar.set_ticks(STRENGTHS, labels=[tick_text(strength) for strength in STRENGTHS])
    bar.set_label("|K|")
    figure.suptitle(f"{summary['title']}: {size} dictionary\n{summary['source']}", fontsize=9)
    return figure


def draw_circuit_errors(summary: Summary) -> Figure:
    """Draw our errors as lines with open marks and the paper's as filled marks, full left and reduced right."""
    figure, axes = panels(1, 2, 6.8, 3.3, sharey=True)
    for one, size in zip(axes[0], (FULL, REDUCED), strict=True):
        one.set(xlabel="prediction horizon (samples)", title=f"{size} dictionary")
        _draw_beside_paper(one, summary, size)
        one.axhline(1.0, color="0.4", linewidth=0.8)
        log_axis(one, "x", summary["horizons"])
        log_axis(one, "y")
        one.set_ylim(bottom=1e-2)
    close_above(axes[0], _CIRCUIT_TOP)
    axes[0, 0].set_ylabel("NMSE of y, test multisine")
    legend_above(
        figure,
        axes[0, 1],
        title=f"lines, open marks: {summary['source']}\nfilled marks, to the right: the paper",
    )
    name_panels(axes[0])
    return figure


def _draw_beside_paper(axes: Axes, summary: Summary, size: str) -> None:
    horizons = np.array(summary["horizons"])
    for method, values in summary["long_term"][size].items():
        mean = np.array(values, dtype=float)
        curve(
            axes, summary["horizons"], mean, np.full(len(mean), np.nan), _CIRCUIT_TOP, label=method, **style_of(method)
        )
        paper = np.array(summary["paper"]["long_term"][size].get(method, [np.nan] * len(mean)), dtype=float)
        style = {key: style_of(method)[key] for key in ("color", "marker")}
        axes.plot(
            1.14 * horizons, np.where(paper < _CIRCUIT_TOP, paper, np.nan), linestyle="none", markersize=3.5, **style
        )


def _whole_numbers(axes: Any, shape: tuple[int, int]) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(nbins=4, integer=True, min_n_ticks=1))
    axes.yaxis.set_major_locator(MaxNLocator(nbins=6, integer=True, min_n_ticks=1))
    axes.set(xlim=(0.5, shape[1] + 0.5), ylim=(shape[0] + 0.5, 0.5))
